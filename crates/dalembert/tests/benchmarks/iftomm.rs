//! IFToMM benchmarks A01 and A02, and the Bricard mechanism.

use super::minimal::{Swing, solve};
use super::{completed, distance, last_vector, scene, within, worse};
use dalembert::methods::System;
use dalembert::methods::dynamics::Dynamics;
use dalembert::methods::problems::elliptic::{jacobi, quarter_period};

/// A01: the pendulum from the horizontal. With k = sin(θ₀/2) the angle from the vertical is sin(θ/2) = k sn(K − ω₀t).
#[test]
fn simple_pendulum() {
    let outcome = completed("simple-pendulum", &["run.tolerance=1e-12", "output.every=0.5"]);
    let (m, frequency) = (0.5, 9.81_f64.sqrt());
    let x = outcome.trajectory.column("body.bob.position.x").unwrap();
    let y = outcome.trajectory.column("body.bob.position.y").unwrap();
    let mut worst = 0.0;
    for (row, &t) in outcome.trajectory.time().iter().enumerate() {
        let (sn, _, dn) = jacobi(quarter_period(m) - frequency * t, m);
        let half = m.sqrt() * sn; // sin(θ/2), cos(θ/2) = dn
        let exact = [-2.0 * half * dn, -(1.0 - 2.0 * half * half), 0.0];
        worst = worse(worst, distance([x[row], y[row], 0.0], exact));
    }
    within("A01, m", worst, 1e-9);
    // The end value of the benchmark series (ten digits).
    assert!((x[x.len() - 1] + 0.275_087_462_6).abs() < 1e-9);
    assert!((y[y.len() - 1] + 0.961_419_205_1).abs() < 1e-9);
}

/// A02 with n windows has one degree of freedom. Cranks turn about their ends, couplers translate:
/// J = (n+1) m l²/3 + n m l², potential ((n+1)/2 + n) m g l cos θ with θ from the upright position. In 10 s it passes its singular
/// positions (all rods on one line) many times.
#[test]
fn four_bars_through_singular_positions() {
    for n in [1, 2, 5] {
        let count = f64::from(n);
        let swing = Swing { inertia: (count + 1.0) / 3.0 + count, couple: -((count + 1.0) / 2.0 + count) * 9.81 };
        let s = solve(&swing, &[0.0], &[1.0], 10.0);
        let exact = [s.q[0].sin(), s.q[0].cos(), 0.0];
        let outcome = completed("four-bar", &[&format!("parameters.n={n}"), "run.tolerance=1e-10", "output.every=5"]);
        let body = if n == 1 { "coupler1" } else { "coupler2" };
        let shift = if n == 1 { 0.0 } else { 1.0 };
        let [x, y, z] = last_vector(&outcome, &format!("body.{body}.position"));
        let error = distance([x - shift, y, z], exact);
        // Some 2000 stages at tolerance 1e-10; passing a singular position amplifies errors by less than 1e3.
        within(&format!("A02, {n} windows, m"), error, 1e-7);
        if n == 1 {
            // The benchmark's own series, ten digits.
            assert!(distance([x, y, 0.0], [0.478_385_057_8, 0.878_150_178_8, 0.0]) < 1e-7);
        }
    }
}

/// One of the thirty rows is redundant; the mechanism moves with one degree of freedom and keeps its energy.
#[test]
fn bricard_moves_though_overconstrained() {
    let model = scene("bricard", &[]).model;
    let mut dynamics = Dynamics::new(&model);
    let state = model.initial_state();
    dynamics.check(&model, &state, 1e-12).unwrap();
    assert_eq!(dynamics.dependent().len(), 1);
    assert_eq!(model.shape().v - (model.shape().rows() - 1), 1);

    let outcome = completed("bricard", &["run.tolerance=1e-11", "output.every=1"]);
    within("Bricard, ledger, J", outcome.summary.ledger.worst_imbalance, 1e-8);
    within("Bricard, residual, m", outcome.summary.ledger.worst_position_residual, 1e-9);
    let radau =
        completed("bricard", &["run.integrator=\"radau\"", "run.tolerance=1e-9", "run.until=3", "output.every=1"]);
    let there = |outcome: &dalembert::run::Outcome, row: usize| {
        ["x", "y", "z"].map(|axis| outcome.trajectory.column(&format!("body.rod3.position.{axis}")).unwrap()[row])
    };
    let error = distance(there(&outcome, 3), there(&radau, 3));
    // Tolerance 1e-9 and about 500 steps.
    within("Bricard, radau against dop853, m", error, 1e-6);
    assert!(distance(there(&outcome, 0), there(&outcome, 1)) > 0.1, "it does not move");
}
