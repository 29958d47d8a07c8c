//! Every joint: the motions it allows keep its residual at zero, all others do not.

use crate::support::*;
use dalembert::constraints::{AnyConstraint, Constraint, Distance, Holonomic};
use dalembert::element::About;
use dalembert::joints::{Axis, Cylindrical, Fixed, Planar, Prismatic, Revolute, Screw, Spherical, Universal};
use dalembert::methods::lie::Quat;
use dalembert::methods::vector::{Mat3, Vec3};
use dalembert::model::Place;
use std::f64::consts::TAU;

/// A turn and a shift in the frames of the joint axes, and the values of the free coordinates.
type Motion = (Mat3<f64>, Vec3<f64>, Vec<f64>);

struct Case {
    item: Box<dyn AnyConstraint>,
    axes: [Axis; 2],
    /// Degrees of freedom.
    free: usize,
    /// Which of three shifts along and three turns about (p, q, axis) of the first frame are free by themselves.
    allowed: [bool; 6],
    motion: Box<dyn Fn(&mut Random) -> Motion>,
}

fn case<C: Constraint>(
    item: C,
    axes: [Axis; 2],
    free: usize,
    allowed: [u8; 6],
    motion: impl Fn(&mut Random) -> Motion + 'static,
) -> Case {
    Case { item: Box::new(Holonomic(item)), axes, free, allowed: allowed.map(|x| x == 1), motion: Box::new(motion) }
}

fn cases() -> Vec<Case> {
    let z = Axis::default();
    let nowhere = Vec3([0.0; 3]);
    let along = |travel: f64| Vec3([0.0, 0.0, travel]);
    let (revolute, prismatic, cylindrical) = (Revolute::sample(), Prismatic::sample(), Cylindrical::sample());
    let (planar, screw, universal) = (Planar::sample(), Screw::sample(), Universal::sample());
    let pitch = screw.pitch;
    let pair = |a: Axis, b: Option<Axis>| [a, b.unwrap_or(a)];
    vec![
        case(Fixed {}, [z, z], 0, [0; 6], move |_| (Mat3::identity(), nowhere, vec![])),
        case(revolute.clone(), pair(revolute.axis, revolute.axis_b), 1, [0, 0, 0, 0, 0, 1], move |random| {
            let angle = 3.0 * random.number();
            (turn(angle), nowhere, vec![angle])
        }),
        case(prismatic.clone(), pair(prismatic.axis, prismatic.axis_b), 1, [0, 0, 1, 0, 0, 0], move |random| {
            let travel = random.number();
            (Mat3::identity(), along(travel), vec![travel])
        }),
        case(cylindrical.clone(), pair(cylindrical.axis, cylindrical.axis_b), 2, [0, 0, 1, 0, 0, 1], move |random| {
            let (angle, travel) = (3.0 * random.number(), random.number());
            (turn(angle), along(travel), vec![angle, travel])
        }),
        case(planar.clone(), pair(planar.axis, planar.axis_b), 3, [1, 1, 0, 0, 0, 1], move |random| {
            let (angle, x, y) = (3.0 * random.number(), random.number(), random.number());
            (turn(angle), Vec3([x, y, 0.0]), vec![x, y, angle])
        }),
        // A thread lets neither a shift nor a turn happen alone.
        case(screw.clone(), pair(screw.axis, screw.axis_b), 1, [0; 6], move |random| {
            let (angle, turns) = (3.0 * random.number(), (4.0 * random.number()).round());
            let travel = pitch * (angle / TAU + turns);
            (turn(angle), along(travel), vec![angle, travel])
        }),
        case(Spherical {}, [z, z], 3, [0, 0, 0, 1, 1, 1], move |random| (random.rotation(), nowhere, vec![])),
        // The cross: its third direction is the axis of the first frame, its first that of the second.
        case(universal.clone(), [universal.axis, universal.axis_b], 2, [0, 0, 0, 0, 0, 1], move |random| {
            let cross = Mat3([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]);
            let (angle, angle_b) = (3.0 * random.number(), 3.0 * random.number());
            (turn(angle) * cross * turn(angle_b), nowhere, vec![angle, angle_b])
        }),
    ]
}

/// Rounding of a few products of rotations and vectors of order one.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

#[test]
fn allowed_motions_keep_the_residual_at_zero() {
    let mut random = Random(1);
    for Case { item, axes: [a, b], motion, .. } in cases() {
        for _ in 0..50 {
            let first = random.place();
            let (turn, shift, coordinate) = motion(&mut random);
            let places = [first, moved(&first, &a, &b, turn, shift)];
            let zeros = vec![0.0; item.rows().len()];
            close(&residual(&*item, 0.0, &places), &zeros, ROUNDING);
            close(&coordinates(&*item, &places), &coordinate, ROUNDING);
        }
    }
}

#[test]
fn forbidden_motions_do_not() {
    let mut random = Random(2);
    for Case { item, axes: [a, b], motion, allowed, .. } in cases() {
        for step in 0..6 {
            let mut by = Vec3([0.0; 3]);
            // Not near a multiple of the pitch 0.15 of the screw.
            by.0[step % 3] = 0.37;
            let first = random.place();
            let (turn, shift, _) = motion(&mut random);
            let second = if step < 3 {
                moved(&first, &a, &b, turn, shift + by)
            } else {
                let extra = Quat::exp(by).matrix();
                moved(&first, &a, &b, extra * turn, extra * shift)
            };
            let largest = residual(&*item, 0.0, &[first, second]).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            if allowed[step] {
                assert!(largest < ROUNDING, "{} step {step}: {largest}", item.kind());
            } else {
                assert!(largest > 1e-3, "{} step {step}: {largest}", item.kind());
            }
        }
    }
}

/// At random consistent placements the rows are independent and leave as many motions as the joint has freedoms.
#[test]
fn rank_is_six_less_the_degrees_of_freedom() {
    let mut random = Random(3);
    for Case { item, axes: [a, b], motion, free, .. } in cases() {
        assert_eq!(item.rows().len(), 6 - free, "{}", item.kind());
        for _ in 0..20 {
            let first = random.place();
            let (turn, shift, _) = motion(&mut random);
            let places = [first, moved(&first, &a, &b, turn, shift)];
            for marker in 0..2 {
                assert_eq!(rank(matrix(&gradient(&*item, 0.0, &places, marker))), 6 - free, "{}", item.kind());
            }
        }
    }
}

/// Axes turned by half a turn, and frames turned by half a turn about anything, are not taken for solutions.
#[test]
fn opposite_orientations_are_no_solutions() {
    let mut random = Random(4);
    let halves = [Vec3([1.0, 0.0, 0.0]), Vec3([0.0, 1.0, 0.0]), Vec3([0.48, 0.64, 0.6]), Vec3([0.0, 0.0, 1.0])];
    for Case { item, axes: [a, b], free, allowed, .. } in cases() {
        if free == 3 && allowed[3] || item.kind() == "universal" {
            continue;
        }
        for half in halves {
            if half[2] == 1.0 && (allowed[5] || item.kind() == "screw") {
                continue;
            }
            let first = random.place();
            let flip = Quat::exp(half * std::f64::consts::PI).matrix();
            let places = [first, moved(&first, &a, &b, flip, Vec3([0.0; 3]))];
            let largest = residual(&*item, 0.0, &places).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            // A turn by π − δ gives 2 tan(φ/2) = 4/δ, and δ is at most of order 1 for the axes of these flips.
            assert!(largest > 1.0 && largest.is_finite(), "{}: {largest}", item.kind());
        }
    }
}

/// With the rows e·d and 2 (p·b)/(1 + a·b) the gradients follow from δe = δθ_A × e, δb = δθ_B × b.
#[test]
fn gradients_of_a_hinge_by_hand() {
    let mut random = Random(5);
    let hinge = Revolute::sample();
    let (a_local, b_local) = (hinge.axis, hinge.axis_b.unwrap());
    let item = Holonomic(hinge);
    for _ in 0..20 {
        // Not consistent on purpose: every term counts. Axes stay within a right angle.
        let first = random.place();
        let near = Quat::exp(random.vector() * 0.5).matrix();
        let second = moved(&first, &a_local, &b_local, near, random.vector());
        let places = [first, second];
        let (from_a, from_b) = (gradient(&item, 0.0, &places, 0), gradient(&item, 0.0, &places, 1));
        let d = second.r - first.r;
        for i in 0..3 {
            let e = first.rotation.column(i);
            close(&from_b[i].force.0, &e.0, 1e-14);
            close(&from_b[i].torque.0, &[0.0; 3], 1e-14);
            close(&from_a[i].force.0, &(-e).0, 1e-14);
            close(&from_a[i].torque.0, &e.cross(d).0, 1e-14);
        }
        let (a, b) = (first.rotation * a_local.unit(), second.rotation * b_local.unit());
        for (i, p) in a_local.across().into_iter().enumerate() {
            let p = first.rotation * p;
            let cosine = 1.0 + a.dot(b);
            let torque = b.cross(p) * (2.0 / cosine) - b.cross(a) * (2.0 * p.dot(b) / (cosine * cosine));
            close(&from_b[3 + i].torque.0, &torque.0, 1e-14);
            close(&from_a[3 + i].torque.0, &(-torque).0, 1e-14);
            close(&from_a[3 + i].force.0, &[0.0; 3], 0.0);
        }
    }
}

#[test]
fn gradients_of_a_ball_and_of_a_rod_by_hand() {
    let mut random = Random(6);
    for _ in 0..20 {
        let places: [Place<f64>; 2] = [random.place(), random.place()];
        let d = places[1].r - places[0].r;
        let rod = Holonomic(Distance { length: 1.3 });
        close(&gradient(&rod, 0.0, &places, 1)[0].force.0, &(d * (1.0 / 1.3)).0, 1e-14);
        close(&gradient(&rod, 0.0, &places, 0)[0].force.0, &(d * (-1.0 / 1.3)).0, 1e-14);
        let ball = Holonomic(Spherical {});
        for i in 0..3 {
            let e = places[0].rotation.column(i);
            let (from_a, from_b) = (gradient(&ball, 0.0, &places, 0)[i], gradient(&ball, 0.0, &places, 1)[i]);
            close(&[from_b.force.0, from_b.torque.0].concat(), &[e.0, [0.0; 3]].concat(), 1e-14);
            close(&[from_a.force.0, from_a.torque.0].concat(), &[(-e).0, e.cross(d).0].concat(), 1e-14);
        }
    }
}
