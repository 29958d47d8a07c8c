//! Laws of contacts.

use super::random::{later, pack_places};
use super::{Law, ROUNDING, Random, STEPS, Violation, agree, agree_slope, agree_vector, no_defect, same_bits};
use crate::contacts::{AnyContact, CONTACT_ROWS, ContactOn, Surfaces};
use crate::model::{Acceleration, Instant, Place, Wrench};
use dalembert_methods::scalar::{Dual, Lanes4, Scalar};
use dalembert_methods::{Jet, Real};

/// The laws every contact keeps.
pub const LAWS: &[Law<dyn AnyContact>] = &[
    Law { name: "sample", holds: sample },
    Law { name: "normal", holds: normal },
    Law { name: "gradient", holds: gradient },
    Law { name: "rate", holds: rate },
    Law { name: "friction", holds: friction },
    Law { name: "objectivity", holds: objectivity },
    Law { name: "lanes", holds: lanes },
];

/// A contact as laws see it.
type Object = dyn AnyContact;

/// Surfaces are tried where they are nearly touched, in m: the distance from a sphere has no gradient at its centre.
const NEAR: f64 = 0.25;
/// Far more draws than it takes to come that near.
const MOST_DRAWS: usize = 10_000;
/// Steps down the normal that reach a smooth surface to rounding.
const MOST_DESCENTS: usize = 50;

fn on<S: Scalar>(contact: &Object) -> &dyn ContactOn<S> {
    S::view::<Surfaces, _>(contact)
}

fn instant<S: Real>(t: S) -> Instant<'static, S> {
    Instant { t, x: &[], p: &[], signals: &[] }
}

fn rows(contact: &Object) -> usize {
    1 + contact.touch().friction.tangents()
}

/// A random state in which the point is near the surface.
fn setting(contact: &Object, random: &mut Random) -> (f64, Vec<Place<f64>>) {
    let t = 1.0 + random.number();
    let mut at = random.places(2);
    for _ in 0..MOST_DRAWS {
        if gap(contact, t, &at).abs() <= NEAR {
            break;
        }
        at = random.places(2);
    }
    (t, at)
}

fn gap<S: Scalar>(contact: &Object, t: S, at: &[Place<S>]) -> S {
    on::<S>(contact).gap(&instant(t), at)
}

/// The rate of the gap and the slips.
fn speed<S: Scalar>(contact: &Object, t: S, at: &[Place<S>]) -> Vec<S> {
    let mut out = vec![S::zero(); rows(contact)];
    on::<S>(contact).rate(&instant(t), at, &mut out);
    out
}

fn gradients(contact: &Object, t: f64, at: &[Place<f64>], marker: usize) -> Vec<Wrench<f64>> {
    let mut out = vec![Wrench::default(); rows(contact)];
    on::<f64>(contact).gradient(&instant(t), at, marker, &mut out);
    out
}

/// No defect, at most two tangents, and a right-handed frame of normal and tangents.
fn sample(contact: &Object, random: &mut Random) -> Result<(), Violation> {
    let count = rows(contact);
    if count > CONTACT_ROWS {
        return Err(Violation { message: format!("it has {count} rows, but at most {CONTACT_ROWS} are allowed") });
    }
    let (t, at) = setting(contact, random);
    let [normal, first, second] = on::<f64>(contact).directions(&instant(t), &at);
    agree("length of the normal", normal.norm(), 1.0, 1.0, ROUNDING)?;
    agree("length of the first tangent", first.norm(), 1.0, 1.0, ROUNDING)?;
    agree("frame of normal and tangents", normal.cross(first).dot(second), 1.0, 1.0, ROUNDING)?;
    no_defect(contact.defect())
}

/// On the surface itself the normal is the gradient of the distance.
fn normal(contact: &Object, random: &mut Random) -> Result<(), Violation> {
    let (t, mut at) = setting(contact, random);
    let radius = contact.touch().radius;
    let mut left = f64::INFINITY;
    for _ in 0..MOST_DESCENTS {
        left = gap(contact, t, &at) + radius;
        if left.abs() <= ROUNDING {
            break;
        }
        let [normal, ..] = on::<f64>(contact).directions(&instant(t), &at);
        at[1].r -= normal * left;
    }
    agree("distance after going down the normal", left, 0.0, 1.0, ROUNDING)?;
    let [normal, ..] = on::<f64>(contact).directions(&instant(t), &at);
    let gradient = gradients(contact, t, &at, 1)[0].force;
    // What is left of the distance turns the normal by its curvature.
    agree_vector("normal against the gradient of the distance", normal, gradient, 1.0 + 1.0 / NEAR, ROUNDING)
}

/// For both markers: the gradient of the gap along a random small motion against differences; and ∂(rates)/∂v against
/// what a change of velocities does, which is exact because rates are linear in them.
fn gradient(contact: &Object, random: &mut Random) -> Result<(), Violation> {
    let (t, at) = setting(contact, random);
    let rates = speed(contact, t, &at);
    for marker in 0..at.len() {
        let (shift, turn) = (random.vector(), random.vector());
        let gradients = gradients(contact, t, &at, marker);
        let along = |gradient: &Wrench<f64>| gradient.force.dot(shift) + gradient.torque.dot(turn);
        let moved = |h: f64| {
            let mut at = at.clone();
            at[marker] = later(&Place { v: shift, omega: turn, ..at[marker] }, &Acceleration::default(), h);
            gap(contact, t, &at)
        };
        let size = 1.0 + gradients[0].force.norm() + gradients[0].torque.norm();
        agree_slope(&format!("gradient of the gap at marker {marker}"), along(&gradients[0]), STEPS.map(moved), size)?;
        let mut quickened = at.clone();
        quickened[marker].v += shift;
        quickened[marker].omega += turn;
        for (row, (after, gradient)) in speed(contact, t, &quickened).iter().zip(&gradients).enumerate() {
            let size = 1.0 + gradient.force.norm() + gradient.torque.norm() + after.abs();
            let change = after - rates[row];
            agree(&format!("row {row}, gradient at marker {marker}"), along(gradient), change, size, ROUNDING)?;
        }
    }
    Ok(())
}

/// The first rate is dγ/dt; the bias is d(rates)/dt; each by duals and by differences. All rates are gradients times velocities,
/// and what they are at rest.
fn rate(contact: &Object, random: &mut Random) -> Result<(), Violation> {
    let (t, at) = setting(contact, random);
    let accelerations: Vec<_> = at.iter().map(|_| random.acceleration()).collect();
    let rates = speed(contact, t, &at);
    let still: Vec<_> = at.iter().map(Place::at_rest).collect();
    let explicit = speed(contact, t, &still);
    let mut bias = vec![0.0; rates.len()];
    on::<f64>(contact).bias(&instant(t), &at, &accelerations, &mut bias);

    let by_marker: Vec<_> = (0..at.len()).map(|marker| gradients(contact, t, &at, marker)).collect();
    let moving: Vec<Place<Dual>> = at.iter().zip(&accelerations).map(|(p, a)| p.in_time(a)).collect();
    let dual_gap = gap(contact, Jet::new(t, 1.0), &moving);
    let dual_rates = speed(contact, Jet::new(t, 1.0), &moving);
    let shifted = |h: f64| {
        let at: Vec<_> = at.iter().zip(&accelerations).map(|(p, a)| later(p, a, h)).collect();
        (gap(contact, t + h, &at), speed(contact, t + h, &at))
    };
    let around = STEPS.map(shifted);
    agree("rate of the gap by duals", rates[0], dual_gap.eps[0], 1.0, ROUNDING)?;
    agree_slope("rate of the gap by differences", rates[0], std::array::from_fn(|k| around[k].0), 1.0)?;
    for row in 0..rates.len() {
        let (mut virtual_rate, mut size) = (explicit[row], 1.0);
        for (gradients, at) in by_marker.iter().zip(&at) {
            virtual_rate += gradients[row].power(at);
            size += gradients[row].force.norm() + gradients[row].torque.norm();
        }
        agree(&format!("row {row}, rate against J v and the rate at rest"), rates[row], virtual_rate, size, ROUNDING)?;
        // Second derivatives of a distance grow like its curvature, which is below 1/NEAR.
        let size = size * (1.0 + 1.0 / NEAR);
        agree(&format!("row {row}, bias by duals"), bias[row], dual_rates[row].eps[0], size, ROUNDING)?;
        let near = std::array::from_fn(|k| around[k].1[row]);
        agree_slope(&format!("row {row}, bias by differences"), bias[row], near, size + rates[row].abs())?;
    }
    Ok(())
}

/// Sliding friction takes power from the slip and lies within the static cone, on which the grip without slip lies.
fn friction(contact: &Object, random: &mut Random) -> Result<(), Violation> {
    let friction = contact.touch().friction;
    let tangents = friction.tangents();
    if tangents == 0 {
        return Ok(());
    }
    let (sine, cosine) = (random.number() * std::f64::consts::PI).sin_cos();
    let direction = if tangents == 1 { [cosine.signum(), 0.0] } else { [cosine, sine] };
    let speed = 1.0 + random.number();
    let force = friction.resistance(direction, speed);
    let power = force[0] * direction[0] + force[1] * direction[1];
    let outside = friction.excess(force, 1.0);
    if !(power < 0.0 && outside <= ROUNDING) {
        let message = format!("sliding friction has the power {power:e} for unit press, {outside:e} outside its cone");
        return Err(Violation { message });
    }
    agree("grip on the static cone", friction.excess(friction.grip(direction), 1.0), 0.0, 1.0, ROUNDING)
}

/// Gap, rates and the components of friction do not change if surface and point are moved and turned together.
fn objectivity(contact: &Object, random: &mut Random) -> Result<(), Violation> {
    let ((t, at), motion) = (setting(contact, random), random.motion());
    let moved: Vec<_> = at.iter().map(|p| motion.carry(p)).collect();
    // Moved positions and velocities are sums of up to ten, and rates have the curvature of the surface.
    let size = 10.0 * (1.0 + 1.0 / NEAR);
    agree("gap under a rigid motion", gap(contact, t, &at), gap(contact, t, &moved), size, ROUNDING)?;
    for (row, (here, there)) in speed(contact, t, &at).iter().zip(speed(contact, t, &moved)).enumerate() {
        agree(&format!("row {row}, rate under a rigid motion"), *here, there, size, ROUNDING)?;
    }
    Ok(())
}

fn lanes(contact: &Object, random: &mut Random) -> Result<(), Violation> {
    let (t, first) = setting(contact, random);
    let places: [Vec<Place<f64>>; 4] =
        std::array::from_fn(|k| if k == 0 { first.clone() } else { random.places(first.len()) });
    let at: Vec<Place<Lanes4>> = (0..first.len()).map(|i| pack_places(&places, i)).collect();
    let (wide_gap, wide_rates) = (gap(contact, Lanes4::from(t), &at), speed(contact, Lanes4::from(t), &at));
    for (k, places) in places.iter().enumerate() {
        same_bits("gap", wide_gap, k, gap(contact, t, places))?;
        for (wide, narrow) in wide_rates.iter().zip(speed(contact, t, places)) {
            same_bits("rate", *wide, k, narrow)?;
        }
    }
    Ok(())
}
