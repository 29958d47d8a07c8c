//! Laws of joints and constraints.

use super::random::{later, pack_places};
use super::{Law, ROUNDING, Random, STEPS, Violation, agree, agree_slope, marker_count, no_defect, same_bits};
use crate::constraints::{AnyConstraint, Constraints, MOST_ROWS, Quantity, RowsOn, Scratch};
use crate::model::{Acceleration, Instant, Place, Wrench};
use dalembert_methods::scalar::{Dual, Lanes4, Scalar};
use dalembert_methods::{Jet, Real};
use std::f64::consts::PI;

/// The laws every constraint keeps.
pub const LAWS: &[Law<dyn AnyConstraint>] = &[
    Law { name: "sample", holds: sample },
    Law { name: "gradient", holds: gradient },
    Law { name: "rate", holds: rate },
    Law { name: "objectivity", holds: objectivity },
    Law { name: "lanes", holds: lanes },
];

/// A constraint as laws see it.
type Object = dyn AnyConstraint;

fn on<S: Scalar>(constraint: &Object) -> &dyn RowsOn<S> {
    S::view::<Constraints, _>(constraint)
}

fn instant<S: Real>(t: S) -> Instant<'static, S> {
    Instant { t, x: &[], p: &[], signals: &[] }
}

/// A random state. Residuals of relative rotations may be singular where a joint is half a turn away from holding, where
/// no joint is used, so states are drawn until no residual that is an angle exceeds π.
fn setting(constraint: &Object, random: &mut Random) -> (f64, Vec<Place<f64>>) {
    let markers = marker_count(constraint.need().markers(), |n| constraint.defect(n));
    let rows = constraint.rows();
    let t = 1.0 + random.number();
    let mut at = random.places(markers);
    for _ in 0..MOST_DRAWS {
        let far = |(residual, quantity): (f64, &Quantity)| *quantity == Quantity::Angle && residual.abs() > PI;
        if !residual(constraint, t, &at).into_iter().zip(&rows).any(far) {
            break;
        }
        at = random.places(markers);
    }
    (t, at)
}

/// Far more draws than a joint needs to come within half a turn of holding.
const MOST_DRAWS: usize = 1000;

/// Position-level residuals; none of a velocity-level constraint.
fn residual<S: Scalar>(constraint: &Object, t: S, at: &[Place<S>]) -> Vec<S> {
    let mut out = vec![S::zero(); if constraint.holonomic() { constraint.rows().len() } else { 0 }];
    on::<S>(constraint).residual(&instant(t), at, &mut out);
    out
}

/// Velocity-level residuals.
fn speed<S: Scalar>(constraint: &Object, t: S, at: &[Place<S>]) -> Vec<S> {
    let mut out = vec![S::zero(); constraint.rows().len()];
    on::<S>(constraint).rate(&instant(t), at, &mut Scratch::default(), &mut out);
    out
}

fn gradients(constraint: &Object, t: f64, at: &[Place<f64>], marker: usize) -> Vec<Wrench<f64>> {
    let mut out = vec![Wrench::default(); constraint.rows().len()];
    on::<f64>(constraint).gradient(&instant(t), at, marker, &mut Scratch::default(), &mut out);
    out
}

fn sample(constraint: &Object, random: &mut Random) -> Result<(), Violation> {
    let (_, at) = setting(constraint, random);
    let rows = constraint.rows().len();
    if rows == 0 || rows > MOST_ROWS {
        return Err(Violation { message: format!("it has {rows} rows, but must have 1 to {MOST_ROWS}") });
    }
    no_defect(constraint.defect(at.len()))
}

/// For every marker the gradient along a random small motion against the differenced residual.
fn gradient(constraint: &Object, random: &mut Random) -> Result<(), Violation> {
    let (t, at) = setting(constraint, random);
    for marker in 0..at.len() {
        let (shift, turn) = (random.vector(), random.vector());
        let moved = |h: f64| {
            let mut at = at.clone();
            if constraint.holonomic() {
                let still = Acceleration::default();
                let moving = Place { v: shift, omega: turn, ..at[marker] };
                at[marker] = later(&moving, &still, h);
                residual(constraint, t, &at)
            } else {
                at[marker].v += shift * h;
                at[marker].omega += turn * h;
                speed(constraint, t, &at)
            }
        };
        let around = STEPS.map(moved);
        for (row, gradient) in gradients(constraint, t, &at, marker).iter().enumerate() {
            let exact = gradient.force.dot(shift) + gradient.torque.dot(turn);
            let near = std::array::from_fn(|k| around[k][row]);
            let size = 1.0 + gradient.force.norm() + gradient.torque.norm() + near[0].abs();
            agree_slope(&format!("row {row}, gradient at marker {marker}"), exact, near, size)?;
        }
    }
    Ok(())
}

/// Rate = G v + ∂g/∂t = ġ, bias = d(rate)/dt, each by duals and by differences.
fn rate(constraint: &Object, random: &mut Random) -> Result<(), Violation> {
    let (t, at) = setting(constraint, random);
    let accelerations: Vec<_> = at.iter().map(|_| random.acceleration()).collect();
    let rates = speed(constraint, t, &at);
    let still: Vec<_> = at.iter().map(Place::at_rest).collect();
    let explicit = speed(constraint, t, &still);
    let mut bias = vec![0.0; rates.len()];
    let scratch = &mut Scratch::default();
    on::<f64>(constraint).bias(&instant(t), &at, &accelerations, scratch, &mut bias);

    let by_marker: Vec<_> = (0..at.len()).map(|marker| gradients(constraint, t, &at, marker)).collect();
    let moving: Vec<Place<Dual>> = at.iter().zip(&accelerations).map(|(p, a)| p.in_time(a)).collect();
    let dual_rates = speed(constraint, Jet::new(t, 1.0), &moving);
    let dual_residuals = residual(constraint, Jet::new(t, 1.0), &moving);
    let shifted = |h: f64| {
        let at: Vec<_> = at.iter().zip(&accelerations).map(|(p, a)| later(p, a, h)).collect();
        (residual(constraint, t + h, &at), speed(constraint, t + h, &at))
    };
    let around = STEPS.map(shifted);
    for row in 0..rates.len() {
        let mut virtual_rate = explicit[row];
        let mut size = 1.0;
        for (gradients, at) in by_marker.iter().zip(&at) {
            virtual_rate += gradients[row].power(at);
            size += gradients[row].force.norm() + gradients[row].torque.norm();
        }
        agree(&format!("row {row}, rate against G v + ∂g/∂t"), rates[row], virtual_rate, size, ROUNDING)?;
        if !constraint.rheonomic() {
            agree(
                &format!("row {row}, rate at rest of a constraint that does not move"),
                explicit[row],
                0.0,
                size,
                ROUNDING,
            )?;
        }
        agree(&format!("row {row}, bias by duals"), bias[row], dual_rates[row].eps[0], size, ROUNDING)?;
        let near = std::array::from_fn(|k| around[k].1[row]);
        agree_slope(&format!("row {row}, bias by differences"), bias[row], near, size + rates[row].abs())?;
        if let Some(dual) = dual_residuals.get(row) {
            agree(&format!("row {row}, rate by duals"), rates[row], dual.eps[0], size, ROUNDING)?;
            let near = std::array::from_fn(|k| around[k].0[row]);
            agree_slope(&format!("row {row}, rate by differences"), rates[row], near, size)?;
        }
    }
    Ok(())
}

/// Residuals and rates do not change under a superposed steady rigid motion; those that depend on time or hold a
/// single marker refer to something else and are left out.
fn objectivity(constraint: &Object, random: &mut Random) -> Result<(), Violation> {
    if constraint.rheonomic() || constraint.need().markers() == Some(1) {
        return Ok(());
    }
    let ((t, at), motion) = (setting(constraint, random), random.motion());
    let moved: Vec<_> = at.iter().map(|p| motion.carry(p)).collect();
    // Moved positions and velocities are sums of up to ten. Their rounding counts by the gradient of the residual; that of the
    // rate grows like its square where a residual comes near a singularity.
    let steep = 1.0
        + (0..at.len())
            .flat_map(|marker| gradients(constraint, t, &at, marker))
            .map(|gradient| gradient.force.norm() + gradient.torque.norm())
            .fold(0.0, f64::max);
    let pairs = [
        ("residual", residual(constraint, t, &at), residual(constraint, t, &moved), 10.0 * steep),
        ("rate", speed(constraint, t, &at), speed(constraint, t, &moved), 10.0 * steep * steep),
    ];
    for (what, here, there, size) in pairs {
        for (row, (here, there)) in here.iter().zip(&there).enumerate() {
            agree(&format!("row {row}, {what} under a rigid motion"), *here, *there, size, ROUNDING)?;
        }
    }
    Ok(())
}

fn lanes(constraint: &Object, random: &mut Random) -> Result<(), Violation> {
    let (t, first) = setting(constraint, random);
    let places: [Vec<Place<f64>>; 4] =
        std::array::from_fn(|k| if k == 0 { first.clone() } else { random.places(first.len()) });
    let at: Vec<Place<Lanes4>> = (0..first.len()).map(|i| pack_places(&places, i)).collect();
    let (residuals, rates) = (residual(constraint, Lanes4::from(t), &at), speed(constraint, Lanes4::from(t), &at));
    for (k, places) in places.iter().enumerate() {
        for (wide, narrow) in residuals.iter().zip(residual(constraint, t, places)) {
            same_bits("residual", *wide, k, narrow)?;
        }
        for (wide, narrow) in rates.iter().zip(speed(constraint, t, places)) {
            same_bits("rate", *wide, k, narrow)?;
        }
    }
    Ok(())
}
