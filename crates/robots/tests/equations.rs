//! Equations in symbols against hand-written ones, and against the algorithms on random trees with every kind of joint.
#![allow(clippy::unwrap_used)]

use dalembert_methods::vector::Vec3;
use dalembert_robots::equations::Equations;
use dalembert_trees::samples::{random, state};
use dalembert_trees::{
    Freedom, JointKind, JointSpec, LinkSpec, MassProperties, Pose, Tree, TreeBuilder, crba, passive, rnea,
};

/// Two rods on hinges about y that hang along −z; both of length 1, with masses 2 and 3 in the middle.
fn double_pendulum() -> Tree {
    let mut builder = TreeBuilder::new();
    builder.gravity(Vec3([0.0, 0.0, -10.0]));
    let link = |name: &str, parent: Option<&str>, mass: f64, at: f64| LinkSpec {
        name: name.into(),
        parent: parent.map(Into::into),
        joint: JointSpec::new(name, JointKind::Revolute { axis: Vec3([0.0, 1.0, 0.0]) }, Pose::at(0.0, 0.0, at))
            .with(vec![Freedom { damping: 0.5, ..Freedom::default() }]),
        offset: Pose::default(),
        mass: MassProperties::principal(mass, [0.0, 0.0, -0.5], [0.25, 0.25, 0.01]),
    };
    builder.link(link("upper", None, 2.0, 0.0)).link(link("lower", Some("upper"), 3.0, -1.0));
    builder.build().unwrap()
}

/// With relative angles: M₁₁ = I₁ + I₂ + m₁c² + m₂(l² + c² + 2 l c cos y₂), M₂₁ = I₂ + m₂(c² + l c cos y₂), M₂₂ = I₂ + m₂c²; the Coriolis
/// forces have the one factor m₂ l c sin y₂ = 1.5 sin y₂.
#[test]
fn the_double_pendulum_reads_as_in_the_textbook() {
    let equations = Equations::of(&double_pendulum()).unwrap();
    let text = equations.to_text();
    for line in [
        "M1_1 = 4.75 + 3 c2",
        "M2_1 = 1 + 1.5 c2",
        "M2_2 = 1",
        "k1 = -3 s2 y1' y2' - 1.5 s2 y2'^2",
        "k2 = 1.5 s2 y1'^2",
        "y2 = lower",
        "s2 = sin y2",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
    }
    // Weight: −(m₁ c + m₂ l) g sin y₁ − m₂ c g sin(y₁ + y₂), the second in both.
    for line in ["p1 = s1 c2 + s2 c1", "q1 = -40 s1 - 0.5 y1' + tau1 - 15 p1", "q2 = -0.5 y2' + tau2 - 15 p1"] {
        assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
    }
    let latex = equations.to_latex();
    assert!(latex.contains("M_{2,1} &= 1 + 1.5 c_{2} \\\\"), "{latex}");
    assert!(latex.contains("\\dot{y}_{1}"), "{latex}");
}

#[test]
fn equations_have_the_values_of_the_algorithms() {
    let mut kinds = std::collections::BTreeSet::new();
    let trees = (1..40).map(|seed| random(seed, 1 + seed as usize % 2));
    for (i, tree) in trees.chain([double_pendulum()]).enumerate() {
        let Ok(equations) = Equations::of(&tree) else { continue };
        kinds.extend(tree.joints().iter().map(|j| format!("{:?}", std::mem::discriminant(&j.spec.kind))));
        let n = tree.velocities();
        let (q, v, _, drives) = state(&tree, i as u64);
        let found = equations.value(&q, &v, &drives);
        let mut mass = vec![0.0; n * n];
        crba::common(&tree, &q, &mut crba::Work::new(&tree), &mut mass);
        crba::symmetrise(n, &mut mass);
        close(&mass, &found.mass);
        let still = vec![0.0; n];
        let (mut bias, mut weight, mut own) = (still.clone(), still.clone(), still.clone());
        let mut work = rnea::Work::new(&tree);
        rnea::rnea(&tree, &q, &v, &still, &[], &mut work, &mut bias);
        rnea::rnea(&tree, &q, &still, &still, &[], &mut work, &mut weight);
        let k: Vec<f64> = bias.iter().zip(&weight).map(|(b, w)| b - w).collect();
        close(&k, &found.k);
        let smooth = passive::Smoothing { stop_stiffness: 0.0, stop_damping: 0.0, ..passive::Smoothing::default() };
        passive::forces(&tree, &q, &v, &smooth, &mut own);
        let dry = |k: usize| tree.freedoms()[k].friction * (v[k] / smooth.slip.unwrap()).tanh();
        let sum: Vec<f64> = (0..n).map(|k| own[k] + dry(k) - weight[k] + drives[k]).collect();
        close(&sum, &found.q);
    }
    assert!(kinds.len() >= 9, "only {} kinds of joints had equations", kinds.len());
}

/// Rounding of some hundred terms of order 1 to 100.
#[track_caller]
fn close(a: &[f64], b: &[f64]) {
    let scale = a.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() < 1e-12 * scale, "{x} against {y}, scale {scale}");
    }
}

#[test]
fn long_equations_are_refused() {
    let error = Equations::of(&random(7, 30)).unwrap_err();
    assert!(error.to_string().contains("small mechanisms"), "{error}");
}
