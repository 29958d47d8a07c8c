//! Screws, gears and prescribed angles through many turns: no jump at half a turn, nothing lost.

use crate::support::*;
use dalembert::constraints::{Gear, Holonomic, PrescribedAngle};
use dalembert::element::About;
use dalembert::joints::Screw;
use dalembert::methods::vector::Vec3;
use dalembert::model::{Acceleration, Place};
use dalembert::signals::{Polynomial, Signal, SignalRef};
use std::f64::consts::{PI, TAU};

/// Angles from −20 to 20 turns that hit half turns exactly as often as others.
fn angles() -> impl Iterator<Item = f64> {
    (-320..=320).map(|k| f64::from(k) * PI / 8.0)
}

/// A travel off by a little is off by just that in every turn, and the gradient never changes.
#[test]
fn screw() {
    let mut random = Random(21);
    let screw = Screw::sample();
    let (a, b, pitch) = (screw.axis, screw.axis_b.unwrap(), screw.pitch);
    let item = Holonomic(screw);
    let first = random.place().at_rest();
    let axis = first.rotation * a.unit();
    for angle in angles() {
        for off in [-0.01, 0.0, 0.01] {
            let travel = pitch * angle / TAU + off;
            let mut second = moved(&first, &a, &b, turn(angle), Vec3([0.0, 0.0, travel]));
            (second.v, second.omega) = (axis * 0.4, axis * 1.7);
            let places = [first, second];
            // The travel reaches 3 m, the angle is taken to within a few ε.
            close(&residual(&item, 0.0, &places), &[0.0, 0.0, 0.0, 0.0, off], 1e-14);
            close(&rate(&item, 0.0, &places), &[0.0, 0.0, 0.0, 0.0, 0.4 - pitch * 1.7 / TAU], 1e-14);
            close(&bias(&item, 0.0, &places, &[Acceleration::default(); 2]), &[0.0; 5], 1e-13);
            let gradient = gradient(&item, 0.0, &places, 1)[4];
            close(&gradient.force.0, &axis.0, 1e-14);
            close(&gradient.torque.0, &(axis * (-pitch / TAU)).0, 1e-14);
        }
    }
}

/// Wheels turned by z_A θ_A + z_B θ_B = offset mesh in every turn, and a wheel turned too far is off by just that angle.
#[test]
fn gear() {
    let mut random = Random(22);
    for teeth in [[17, -40], [12, 31], [-3, -2]] {
        let gear = Gear { teeth, ..Gear::sample() };
        let (axes, own, offset) = (gear.axes, gear.wheel_axes.unwrap(), gear.offset);
        let item = Holonomic(gear);
        let carrier = random.place().at_rest();
        let [z_a, z_b] = teeth.map(f64::from);
        for angle in angles() {
            for off in [-0.02, 0.0, 0.02] {
                let angle_b = (offset - z_a * angle) / z_b;
                let wheel_a = moved(&carrier, &axes[0], &own[0], turn(angle + off), Vec3([0.3, 0.0, 0.1]));
                let wheel_b = moved(&carrier, &axes[1], &own[1], turn(angle_b), Vec3([0.0, 0.2, 0.0]));
                let places = [carrier, wheel_a, wheel_b];
                // Angles to 400 rad lose 400 ε, times up to 40 teeth, over at least 3.
                close(&residual(&item, 0.0, &places), &[off], 2e-12);
                let (a, b) = (carrier.rotation * axes[0].unit(), carrier.rotation * axes[1].unit());
                close(&gradient(&item, 0.0, &places, 1)[0].torque.0, &a.0, 1e-13);
                close(&gradient(&item, 0.0, &places, 2)[0].torque.0, &(b * (z_b / z_a)).0, 1e-13);
            }
        }
    }
}

/// θ = 0.2 + 3 t + 0.5 t² over many turns: g = 0, ġ = ω − (3 + t), g̈ = −1 without acceleration.
#[test]
fn prescribed_angle() {
    let mut random = Random(23);
    let law = |t: f64| 0.2 + 3.0 * t + 0.5 * t * t;
    let signal = Signal::Polynomial(Polynomial { coefficients: vec![0.2, 3.0, 0.5], start: 0.0 });
    let sample = PrescribedAngle::sample();
    let (a, b) = (sample.axis, sample.axis_b.unwrap());
    let item = Holonomic(PrescribedAngle { angle: SignalRef::new("law", signal), ..sample });
    let first = random.place().at_rest();
    let axis = first.rotation * a.unit();
    for step in 0..2000 {
        let t = 0.01 * f64::from(step);
        let second = Place { omega: axis * 5.0, ..moved(&first, &a, &b, turn(law(t) + 0.1), Vec3([0.1, 0.2, 0.3])) };
        let places = [first, second];
        close(&residual(&item, t, &places), &[0.1], 1e-13);
        close(&rate(&item, t, &places), &[5.0 - (3.0 + t)], 1e-13);
        close(&bias(&item, t, &places, &[Acceleration::default(); 2]), &[-1.0], 1e-12);
    }
}
