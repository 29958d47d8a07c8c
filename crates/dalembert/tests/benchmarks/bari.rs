//! The test set for IVP solvers (Bari): Andrews' squeezing mechanism and the car axis, built from elements.
//! End values: Test Set for IVP Solvers, release 2.4, problems `andrews` and `caraxis`.

use super::{completed, last, last_vector, within};
use std::f64::consts::TAU;

/// Nine correct digits, relative for angles and velocities of order one and above.
const DIGITS: f64 = 1e-9;

#[test]
fn andrews_squeezing_mechanism() {
    let outcome = completed("andrews", &["run.tolerance=1e-13", "output.every=0.03"]);
    let [beta, theta, gamma, phi] =
        [15.810_771_196_299_04, -15.756_371_059_842_98, 0.040_822_240_130_731_01, -0.534_730_116_322_694_8];
    let [delta, omega, epsilon] = [0.524_409_965_880_530_5, 0.534_730_116_322_694_8, 1.048_080_741_042_263];
    let bodies = [
        ("k1", beta),
        ("k2", beta + theta),
        ("k3", gamma),
        ("k4", phi + delta),
        ("k5", delta),
        ("k6", omega + epsilon),
        ("k7", epsilon),
    ];
    for (body, expected) in bodies {
        let [w, z] = ["w", "z"].map(|part| last(&outcome, &format!("body.{body}.orientation.{part}")));
        let angle = 2.0 * z.atan2(w);
        let turns = ((expected - angle) / TAU).round();
        let error = (angle + turns * TAU - expected).abs();
        within(&format!("Andrews, angle of {body}"), error / expected.abs().max(1.0), DIGITS);
    }
    // Velocities of the reference are good to 5e-8 relative (an independent integration differs by that much).
    let rates = [("k1", 1_139.920_302_151_208), ("k3", 11.032_912_219_371_34), ("k5", 0.573_569_928_479_080_8)];
    for (body, expected) in rates {
        let rate = last_vector(&outcome, &format!("body.{body}.angular_velocity"))[2];
        assert!((rate - expected).abs() < 5e-8 * expected.abs().max(11.0), "{body}: {rate} {expected}");
    }
}

#[test]
fn car_axis() {
    let outcome = completed("car-axis", &["run.tolerance=1e-12", "output.every=3"]);
    let left = last_vector(&outcome, "body.left.position");
    let right = last_vector(&outcome, "body.right.position");
    let expected = [
        (left[0], 0.049_345_578_427_540_28),
        (left[1], 0.496_989_460_230_171_15),
        (right[0], 1.041_742_524_885_421_5),
        (right[1], 0.373_911_027_265_361_24),
    ];
    for (value, reference) in expected {
        within("car axis, position", (value - reference).abs() / reference.abs(), DIGITS);
    }
    let left = last_vector(&outcome, "body.left.velocity");
    let right = last_vector(&outcome, "body.right.velocity");
    let expected = [
        (left[0], -0.077_058_368_404_097_23),
        (left[1], 0.007_446_866_587_237_785),
        (right[0], 0.017_556_815_753_723_223),
        (right[1], 0.770_341_043_779_251_9),
    ];
    for (value, reference) in expected {
        within("car axis, velocity, m/s", (value - reference).abs(), 1e-8);
    }
}

/// The stiff method on the same mechanism.
#[test]
fn car_axis_with_radau() {
    let outcome = completed("car-axis", &["run.integrator=\"radau\"", "run.tolerance=1e-9", "output.every=3"]);
    let left = last_vector(&outcome, "body.left.position");
    assert!((left[0] - 0.049_345_578_427_540_28).abs() < 1e-7, "{}", left[0]);
}
