//! The heavy top against its solution by elliptic functions, and the free body over ten thousand turns.

use super::{completed, distance, within, worse};
use dalembert::methods::problems::elliptic::{jacobi, quarter_period};

/// The heavy symmetric top released without nutation or precession rate. With u = cos θ, a = I₃ω₃/I₁, β = 2mgh/I₁ (moments about
/// the tip): u̇² = β (u₀ − u)(u − u₁)(u₂ − u), so u = u₁ + (u₀ − u₁) sn²(κt + K), and φ̇ = a (u₀ − u)/(1 − u²).
/// Reference: Goldstein, Classical Mechanics, section 5.7.
pub(super) struct Top {
    a: f64,
    u0: f64,
    u1: f64,
    kappa: f64,
    m: f64,
}

impl Top {
    pub(super) fn new(mass: f64, height: f64, axial: f64, transverse: f64, spin: f64, tilt: f64) -> Self {
        let about_tip = transverse + mass * height * height;
        let (a, beta) = (axial * spin / about_tip, 2.0 * mass * 9.81 * height / about_tip);
        let u0 = tilt.cos();
        let root = (a.powi(4) - 4.0 * beta * a * a * u0 + 4.0 * beta * beta).sqrt();
        // The lower root without cancellation: u₁ u₂ = (a² u₀ − β)/β.
        let u2 = (a * a + root) / (2.0 * beta);
        let u1 = (a * a * u0 - beta) / (beta * u2);
        Self { a, u0, u1, kappa: 0.5 * (beta * (u2 - u1)).sqrt(), m: (u0 - u1) / (u2 - u1) }
    }

    pub(super) fn u(&self, t: f64) -> f64 {
        let (sn, _, _) = jacobi(self.kappa * t + quarter_period(self.m), self.m);
        self.u1 + (self.u0 - self.u1) * sn * sn
    }

    /// The precession angle by Simpson's rule; with 500 points in a nutation its error is below 1e-12.
    pub(super) fn phi(&self, t: f64) -> f64 {
        let rate = |t: f64| {
            let u = self.u(t);
            self.a * (self.u0 - u) / (1.0 - u * u)
        };
        let n = 2 * ((t * self.kappa * 500.0) as usize).max(500);
        let h = t / n as f64;
        let inner: f64 = (1..n).map(|i| rate(i as f64 * h) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
        (rate(0.0) + rate(t) + inner) * h / 3.0
    }
}

#[test]
fn heavy_top_precesses_and_nods_as_in_the_closed_form() {
    let outcome = completed(
        "heavy-top",
        &["run.integrator=\"dop853\"", "run.settings={}", "run.tolerance=1e-12", "output.every=0.25"],
    );
    let top = Top::new(1.0, 0.3, 0.01, 0.02, 200.0, 30.0_f64.to_radians());
    let columns =
        ["w", "x", "y", "z"].map(|c| outcome.trajectory.column(&format!("body.top.orientation.{c}")).unwrap());
    let mut worst = 0.0;
    for (row, &t) in outcome.trajectory.time().iter().enumerate() {
        let [w, x, y, z] = columns.map(|column| column[row]);
        // The symmetry axis is the third column of the rotation matrix.
        let axis = [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)];
        let u = top.u(t);
        let (sine, (s, c)) = ((1.0 - u * u).sqrt(), top.phi(t).sin_cos());
        worst = worse(worst, distance(axis, [sine * c, sine * s, u]));
    }
    within("heavy top, axis", worst, 1e-9);
    // The slow mean precession of a fast top is close to mgh/(I₃ω₃).
    let mean = top.phi(2.0) / 2.0;
    assert!((mean / (9.81 * 0.3 / (0.01 * 200.0)) - 1.0).abs() < 0.1);
}

#[test]
fn free_body_keeps_energy_and_momentum_over_ten_thousand_turns() {
    let settings = ["run.until=1e4", "run.tolerance=1e-12", "output.every=1000", "output.channels=[\"energy.*\"]"];
    let outcome = completed("free-body", &settings);
    let ledger = &outcome.summary.ledger;
    let energy = ledger.start.kinetic;
    within("free body, energy, relative", ledger.worst_imbalance / energy, 1e-8);
    let [before, after] = [ledger.start, ledger.end].map(|balance| balance.angular_momentum);
    let size = distance(before, [0.0; 3]);
    within("free body, angular momentum, relative", distance(before, after) / size, 1e-8);
}

/// A body thrown without gravity about any axis: its centre of mass moves on a straight line, whatever the frame's origin.
#[test]
fn the_centre_of_mass_moves_straight() {
    let outcome = completed(
        "free-body",
        &["body.wing.centre=[0.3, -0.2, 0.1]", "body.wing.velocity=[1.0, 2.0, 3.0]", "run.until=3", "output.every=3"],
    );
    let ledger = &outcome.summary.ledger;
    assert!(distance(ledger.start.linear_momentum, ledger.end.linear_momentum) < 1e-12);
    let turn = [0.001, std::f64::consts::TAU, 0.0];
    // v + ω × c at the start.
    let c = [0.3, -0.2, 0.1];
    let speed = [
        1.0 + turn[1] * c[2] - turn[2] * c[1],
        2.0 + turn[2] * c[0] - turn[0] * c[2],
        3.0 + turn[0] * c[1] - turn[1] * c[0],
    ];
    assert!(distance(ledger.start.linear_momentum, speed) < 1e-14 * 10.0);
    let q = &outcome.summary.final_state.q;
    let expected = [0, 1, 2].map(|i| c[i] + 3.0 * speed[i]);
    assert!(distance([q[0], q[1], q[2]], expected) < 1e-10);
}
