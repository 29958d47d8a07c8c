//! The double pendulum in joints and as particles with rods, against minimal coordinates.

use super::minimal::{DoublePendulum, solve};
use super::{completed, distance, last_vector, within};

const TIGHT: [&str; 2] = ["run.tolerance=1e-12", "output.every=1"];

/// With local errors below 1e-12 in about 500 steps and a moderate (not chaotic) amplification of at most a few tens over 10 s,
/// positions stay within 1e-9.
const BOUND: f64 = 1e-9;

fn angles() -> [f64; 2] {
    [30.0_f64.to_radians(), 20.0_f64.to_radians()]
}

#[test]
fn rods_on_hinges() {
    let model = DoublePendulum {
        mass: [1.0, 1.0],
        length: 1.0,
        centre: [0.5, 0.5],
        inertia: [1.0 / 12.0, 1.0 / 12.0],
        gravity: 9.81,
    };
    let s = solve(&model, &angles(), &[0.0, 0.0], 10.0);
    let (upper, lower) = (s.q[0].sin_cos(), s.q[1].sin_cos());
    let exact = [upper.0 + 0.5 * lower.0, 0.0, -upper.1 - 0.5 * lower.1];
    let outcome = completed("double-pendulum", &TIGHT);
    within("rods on hinges, m", distance(last_vector(&outcome, "body.lower.position"), exact), BOUND);
    // The rates of the angles: angular velocity about −y.
    let rates = ["upper", "lower"].map(|body| -last_vector(&outcome, &format!("body.{body}.angular_velocity"))[1]);
    for i in 0..2 {
        assert!((rates[i] - s.v[i]).abs() < 10.0 * BOUND, "{} {}", rates[i], s.v[i]);
    }
    // The energy ledger closes to the tolerance: relative to the energies of some 10 J.
    within("rods on hinges, ledger, J", outcome.summary.ledger.worst_imbalance, 1e-10);
    within("rods on hinges, residual, m", outcome.summary.ledger.worst_position_residual, 1e-12);
}

#[test]
fn particles_on_rods() {
    let model =
        DoublePendulum { mass: [1.0, 1.0], length: 1.0, centre: [1.0, 1.0], inertia: [0.0, 0.0], gravity: 9.81 };
    let s = solve(&model, &angles(), &[0.0, 0.0], 10.0);
    let (upper, lower) = (s.q[0].sin_cos(), s.q[1].sin_cos());
    let exact = [upper.0 + lower.0, 0.0, -upper.1 - lower.1];
    let outcome = completed("double-pendulum-rods", &TIGHT);
    within("particles on rods, m", distance(last_vector(&outcome, "body.lower.position"), exact), BOUND);
    within("particles on rods, ledger, J", outcome.summary.ledger.worst_imbalance, 1e-10);
}

/// The implicit method meets the same end.
#[test]
fn radau_agrees() {
    let explicit = completed("double-pendulum", &["run.tolerance=1e-10", "run.until=2", "output.every=1"]);
    let radau = completed(
        "double-pendulum",
        &["run.integrator=\"radau\"", "run.tolerance=1e-10", "run.until=2", "output.every=1"],
    );
    let [a, b] = [&explicit, &radau].map(|outcome| last_vector(outcome, "body.lower.position"));
    within("radau against dop853, m", distance(a, b), 1e-8);
}
