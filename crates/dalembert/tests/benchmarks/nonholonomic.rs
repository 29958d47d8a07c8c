//! Rolling disc and sleigh against closed forms.

use super::{completed, distance, within, worse};

/// The steady circle: the centre goes round with the heading rate P on a radius r|s|/P, at constant height.
#[test]
fn disc_rolls_in_a_steady_circle() {
    let (r, m, g, tilt, p) = (0.5_f64, 1.0, 9.81, 20.0_f64.to_radians(), 2.0);
    let (a, c) = (m * r * r / 4.0, m * r * r / 2.0);
    let spin = (a * p * p * tilt.cos() - m * g * r) * tilt.tan() / ((c + m * r * r) * p);
    let outcome = completed("rolling-disc", &["run.tolerance=1e-12", "output.every=2.5"]);
    let [x, y, z] =
        ["x", "y", "z"].map(|axis| outcome.trajectory.column(&format!("body.disc.position.{axis}")).unwrap());
    let radius = -r * spin / p;
    let mut worst = 0.0;
    for (row, &t) in outcome.trajectory.time().iter().enumerate() {
        let (sine, cosine) = (p * t).sin_cos();
        // The centre of the circle is at (0, −radius); at t = 0 the disc is at the origin above it.
        let exact = [-radius * sine, radius * (cosine - 1.0), r * tilt.cos()];
        worst = worse(worst, distance([x[row], y[row], z[row]], exact));
    }
    within("rolling disc, m", worst, 1e-9);
}

/// Chaplygin's sleigh: v = V tanh(λt + c), ω = (V/κ) sech(λt + c), κ² = (J + m a²)/m, λ = aV/κ².
/// Reference: Neimark, Fufaev: Dynamics of nonholonomic systems, 1972, chapter 2.
#[test]
fn sleigh_straightens_out() {
    let (ahead, mass, inertia, speed, turn) = (0.3_f64, 1.0_f64, 0.05_f64, 0.5_f64, 2.0_f64);
    let kappa = ((inertia + mass * ahead * ahead) / mass).sqrt();
    let top = (speed * speed + kappa * kappa * turn * turn).sqrt();
    let (lambda, c) = (ahead * top / (kappa * kappa), (speed / top).atanh());
    let outcome = completed("sleigh", &["run.tolerance=1e-12", "run.until=1.5", "output.every=0.25"]);
    let column = |name: &str| outcome.trajectory.column(&format!("body.sleigh.{name}")).unwrap();
    let (vx, vy, omega) = (column("velocity.x"), column("velocity.y"), column("angular_velocity.z"));
    let (mut fast, mut turned) = (0.0, 0.0);
    for (row, &t) in outcome.trajectory.time().iter().enumerate() {
        let phase = lambda * t + c;
        fast = worse(fast, (vx[row].hypot(vy[row]) - top * phase.tanh()).abs());
        turned = worse(turned, (omega[row] - top / kappa / phase.cosh()).abs());
    }
    within("sleigh, speed, m/s", fast, 1e-9);
    within("sleigh, turning, rad/s", turned, 1e-9);
    // No work is done by the blade.
    within("sleigh, ledger, J", outcome.summary.ledger.worst_imbalance, 1e-11);
}
