//! Laws that hold for everything registered: residuals are objective, rates and biases are time derivatives.

use crate::support::*;
use dalembert::constraints::{AnyConstraint, Distance, Holonomic};
use dalembert::methods::lie::Quat;
use dalembert::methods::vector::{Mat3, Vec3};
use dalembert::model::{Acceleration, Place};
use dalembert::{constraints, joints};

/// A residual of time and places.
type Residual<'a> = dyn Fn(f64, &[Place<f64>]) -> Vec<f64> + 'a;

fn samples() -> impl Iterator<Item = Box<dyn AnyConstraint>> {
    joints::kinds().into_iter().chain(constraints::kinds()).map(|kind| (kind.sample)())
}

/// Random places and accelerations, away from singular placements: where axes are opposite the gradients are large, and
/// differences and rounding would be amplified with them.
fn scene(item: &dyn AnyConstraint, random: &mut Random) -> (Vec<Place<f64>>, Vec<Acceleration<f64>>) {
    // Any number of markers: a cell of eight corners.
    let count = item.need().markers().unwrap_or(8);
    loop {
        let places: Vec<_> = (0..count).map(|_| random.place()).collect();
        let gradients = (0..count).flat_map(|marker| matrix(&gradient(item, 0.3, &places, marker)));
        if gradients.flatten().all(|entry| entry.abs() < 2.0 * teeth(item)) {
            return (places, (0..count).map(|_| random.acceleration()).collect());
        }
    }
}

/// The largest gradient of a well placed gear is its ratio of teeth; of everything else, one.
fn teeth(item: &dyn AnyConstraint) -> f64 {
    if item.kind() == "gear" { 40.0 / 17.0 } else { 1.0 }
}

/// A rigid motion laid over everything, r → Q r + c with Q turning at W and c moving, changes no residual, rate or bias.
#[test]
fn residuals_rates_and_biases_are_objective() {
    let mut random = Random(11);
    for item in samples() {
        for _ in 0..20 {
            let (places, along) = scene(&*item, &mut random);
            let (q, spin) = (random.rotation(), random.vector());
            let (shift, drift, pull) = (random.vector(), random.vector(), random.vector());
            let seen: Vec<_> = places
                .iter()
                .map(|p| Place {
                    r: q * p.r + shift,
                    v: q * p.v + spin.cross(q * p.r) + drift,
                    rotation: q * p.rotation,
                    omega: q * p.omega + spin,
                })
                .collect();
            let seen_along: Vec<_> = places
                .iter()
                .zip(&along)
                .map(|(p, a)| Acceleration {
                    a: q * a.a + spin.cross(q * p.v) * 2.0 + spin.cross(spin.cross(q * p.r)) + pull,
                    alpha: q * a.alpha + spin.cross(q * p.omega),
                })
                .collect();
            // Second derivatives of quotients and angles amplify the rounding of places of order one.
            let rounding = 1e-12;
            if item.holonomic() {
                close(&residual(&*item, 0.3, &seen), &residual(&*item, 0.3, &places), rounding);
            }
            close(&rate(&*item, 0.3, &seen), &rate(&*item, 0.3, &places), rounding);
            close(&bias(&*item, 0.3, &seen, &seen_along), &bias(&*item, 0.3, &places, &along), rounding);
        }
    }
}

/// Places h later, to second order: r + v h + a h²/2, exp(ω h + α h²/2) R.
fn later(places: &[Place<f64>], along: &[Acceleration<f64>], h: f64) -> Vec<Place<f64>> {
    let step = |(p, a): (&Place<f64>, &Acceleration<f64>)| Place {
        r: p.r + p.v * h + a.a * (0.5 * h * h),
        v: p.v + a.a * h,
        rotation: Quat::exp(p.omega * h + a.alpha * (0.5 * h * h)).matrix() * p.rotation,
        omega: p.omega + a.alpha * h,
    };
    places.iter().zip(along).map(step).collect()
}

/// Rate and bias by jets against central differences of the residual in time.
#[test]
fn rates_and_biases_are_time_derivatives() {
    let mut random = Random(12);
    let (t, h) = (0.3, 1e-5);
    for item in samples() {
        for _ in 0..20 {
            let (places, along) = scene(&*item, &mut random);
            // Weights 8 and −1 at h and 2h cancel all errors of order h², those of `later` too. What is left is h⁴/30 · fifth derivative, below
            // 1e10 even for points as close as 0.05; rounding 2ε/h ≈ 4e-11 times values below a thousand.
            let slope = |of: &Residual<'_>| -> Vec<f64> {
                let [far_back, back, ahead, far] =
                    [-2.0, -1.0, 1.0, 2.0].map(|k| of(t + k * h, &later(&places, &along, k * h)));
                (0..back.len()).map(|i| (8.0 * (ahead[i] - back[i]) - (far[i] - far_back[i])) / (12.0 * h)).collect()
            };
            close(&bias(&*item, t, &places, &along), &slope(&|t, at| rate(&*item, t, at)), 1e-7);
            if item.holonomic() {
                close(&rate(&*item, t, &places), &slope(&|t, at| residual(&*item, t, at)), 1e-7);
            }
        }
    }
}

/// The rate is the gradient applied to the velocities, plus what the places at rest give.
#[test]
fn rates_are_linear_in_the_velocities() {
    let mut random = Random(13);
    for item in samples() {
        for _ in 0..20 {
            let (places, _) = scene(&*item, &mut random);
            let rest: Vec<_> = places.iter().map(Place::at_rest).collect();
            let mut sum = rate(&*item, 0.3, &rest);
            if !item.rheonomic() {
                close(&sum, &vec![0.0; sum.len()], 0.0);
            }
            for (marker, place) in places.iter().enumerate() {
                let gradients = gradient(&*item, 0.3, &places, marker);
                sum.iter_mut().zip(&gradients).for_each(|(sum, gradient)| *sum += gradient.power(place));
            }
            close(&rate(&*item, 0.3, &places), &sum, 1e-13);
        }
    }
}

/// A point circling at distance l with speed l ω: g = 0, ġ = 0 and, without acceleration, g̈ = l ω².
#[test]
fn rod_of_a_rotating_pendulum() {
    let (length, speed, angle) = (1.3, 2.5, 0.7_f64);
    let out = Vec3([angle.cos(), angle.sin(), 0.0]);
    let across = Vec3([-angle.sin(), angle.cos(), 0.0]);
    let places = [
        Place { rotation: Mat3::identity(), ..Place::default() },
        Place { r: out * length, v: across * (length * speed), ..Place::default() },
    ];
    let rod = Holonomic(Distance { length });
    let rounding = 16.0 * f64::EPSILON;
    close(&residual(&rod, 0.0, &places), &[0.0], rounding);
    close(&rate(&rod, 0.0, &places), &[0.0], rounding);
    close(&bias(&rod, 0.0, &places, &[Acceleration::default(); 2]), &[length * speed * speed], 4.0 * rounding);
}
