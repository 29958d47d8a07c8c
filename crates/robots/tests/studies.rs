//! Studies against motions that are known: targets that come from a configuration, forces of motions given by formulas.
#![allow(clippy::unwrap_used)]

use dalembert_methods::lie::Quat;
use dalembert_methods::vector::Vec3;
use dalembert_robots::studies::{StudyError, Target, inverse_dynamics, inverse_kinematics};
use dalembert_trees::samples::random;
use dalembert_trees::{
    Freedom, JointKind, JointSpec, LinkSpec, MassProperties, Pose, Tree, TreeBuilder, kinematics, passive, rnea,
};

/// An arm of six hinges with axes in turn along z, y and x, links of 0.3 m.
fn arm() -> Tree {
    let mut builder = TreeBuilder::new();
    for i in 0..6 {
        let axis = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]][i % 3];
        let freedom = Freedom { lower: -2.5, upper: 2.5, ..Freedom::default() };
        builder.link(LinkSpec {
            name: format!("l{i}"),
            parent: i.checked_sub(1).map(|p| format!("l{p}")),
            joint: JointSpec::new(format!("j{i}"), JointKind::Revolute { axis: Vec3(axis) }, Pose::at(0.0, 0.0, 0.3))
                .with(vec![freedom]),
            offset: Pose::default(),
            mass: MassProperties::principal(1.0, [0.0, 0.0, 0.15], [0.01, 0.01, 0.002]),
        });
    }
    builder.build().unwrap()
}

fn place(tree: &Tree, q: &[f64], link: &str) -> (Vec3<f64>, dalembert_methods::vector::Mat3<f64>) {
    let mut work = kinematics::Work::new(tree);
    kinematics::kinematics(tree, q, &vec![0.0; tree.velocities()], &mut work);
    let motion = work.link(tree.link(link).unwrap(), Vec3::zero());
    (motion.position, motion.rotation)
}

#[test]
fn the_hand_follows_a_path_of_positions_and_orientations() {
    let tree = arm();
    let truth = |k: usize| -> Vec<f64> {
        (0..6).map(|i| 0.4 + 0.2 * i as f64 / 6.0 + 0.3 * (0.1 * k as f64 + i as f64).sin()).collect()
    };
    let rows: Vec<Vec<Target>> = (0..30)
        .map(|k| {
            let (position, rotation) = place(&tree, &truth(k), "l5");
            let (position, rotation) = (Some(position), Some(rotation));
            vec![Target { link: "l5".into(), point: Vec3::zero(), position, rotation }]
        })
        .collect();
    let found = inverse_kinematics(&tree, &truth(0), &rows, 1e-10).unwrap();
    for (q, targets) in found.iter().zip(&rows) {
        let (position, rotation) = place(&tree, q, "l5");
        assert!((position - targets[0].position.unwrap()).norm() < 1e-10);
        let turned = Quat::from_matrix(targets[0].rotation.unwrap() * rotation.transposed()).log();
        assert!(turned.norm() < 1e-9, "{turned:?}");
        assert!(q.iter().all(|q| q.abs() <= 2.5), "the ranges hold");
    }
    let far = vec![vec![Target { position: Some(Vec3([9.0, 0.0, 0.0])), rotation: None, ..rows[0][0].clone() }]];
    match inverse_kinematics(&tree, &truth(0), &far, 1e-9) {
        // The arm is 1.5 m long from the first hinge, at 0.3 m height.
        Err(StudyError::OutOfReach { link, error, .. }) => {
            assert!(link == "l5" && error > 7.0 && error < 8.0, "{error}")
        }
        other => panic!("{other:?}"),
    }
    let nobody = vec![vec![Target { link: "thumb".into(), ..rows[0][0].clone() }]];
    assert!(inverse_kinematics(&tree, &truth(0), &nobody, 1e-9).unwrap_err().to_string().contains("`thumb`"));
}

/// Trees of every kind of joint move along q₀ ⊕ (w sin t): with constant directions w the velocity is w cos t for coordinates that add, and for
/// rotations about a fixed axis.
#[test]
fn forces_of_a_motion_are_those_of_its_exact_rates() {
    let h = 0.01;
    for seed in 1..12 {
        let tree = random(seed, 6);
        let n = tree.velocities();
        let mut numbers = dalembert_trees::samples::Numbers::new(seed);
        let mut w: Vec<f64> = (0..n).map(|_| numbers.vector().0[0]).collect();
        // A free body that turns has no constant velocity in its own axes: it only turns.
        for joint in tree.joints().iter().filter(|j| matches!(j.spec.kind, JointKind::Free)) {
            w[joint.velocity..joint.velocity + 3].fill(0.0);
        }
        let base = dalembert_trees::samples::state(&tree, seed).0;
        let times: Vec<f64> = (0..15).map(|k| k as f64 * h).collect();
        let motion: Vec<Vec<f64>> = times
            .iter()
            .map(|t| {
                let delta: Vec<f64> = w.iter().map(|w| w * t.sin()).collect();
                let mut q = base.clone();
                tree.retract(&base, &delta, &mut q);
                q
            })
            .collect();
        let found = inverse_dynamics(&tree, &times, &motion).unwrap();
        for (k, row) in found.iter().enumerate() {
            let (sine, cosine) = times[k].sin_cos();
            let v: Vec<f64> = w.iter().map(|w| w * cosine).collect();
            let a: Vec<f64> = w.iter().map(|w| -w * sine).collect();
            // Seven points: h⁶ in v and h⁵ in a (1e-10 and with constants below 10 1e-9); ε/h² = 2e-12 times weights of order 10.
            for i in 0..n {
                assert!((row.v[i] - v[i]).abs() < 1e-10, "row {k}: {} {}", row.v[i], v[i]);
                assert!((row.a[i] - a[i]).abs() < 1e-8, "row {k}: {} {}", row.a[i], a[i]);
            }
            let (mut tau, mut own) = (vec![0.0; n], vec![0.0; n]);
            rnea::rnea(&tree, &motion[k], &v, &a, &[], &mut rnea::Work::new(&tree), &mut tau);
            passive::forces(&tree, &motion[k], &v, &passive::Smoothing::default(), &mut own);
            let scale = tau.iter().chain(&own).fold(1.0f64, |m, x| m.max(x.abs()));
            for i in 0..n {
                assert!(
                    (row.tau[i] - (tau[i] - own[i])).abs() < 1e-6 * scale,
                    "row {k}: {} {}",
                    row.tau[i],
                    tau[i] - own[i]
                );
            }
        }
    }
    let tree = arm();
    let still = vec![tree.neutral(); 3];
    assert_eq!(inverse_dynamics(&tree, &[0.0, 1.0, 1.0], &still), Err(StudyError::Times { row: 2 }));
    assert_eq!(inverse_dynamics(&tree, &[0.0], &still[..1]), Err(StudyError::Times { row: 1 }));
}
