//! Derivatives of residuals by jets: rates, biases and gradients of a constraint from its one function.

use super::MOST_ROWS;
use crate::model::{Acceleration, Instant, Place, Wrench};
use dalembert_methods::Scalar;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Jet, Real};

/// Scratch for derivatives of constraints, reused from call to call.
#[derive(Clone, Debug, Default)]
pub struct Scratch<S: Scalar> {
    once: Vec<Place<Jet<S, 1>>>,
    twice: Vec<Place<Twice<S>>>,
    /// Places without derivatives, but for the one of the marker varied last.
    displaced: Vec<Place<Jet<S, 6>>>,
    varied: usize,
    parameters: Vec<Jet<S, 1>>,
    parameters2: Vec<Twice<S>>,
    parameters6: Vec<Jet<S, 6>>,
}

impl<S: Scalar> Scratch<S> {
    /// Room for elements on up to `markers` markers.
    pub(crate) fn with_capacity(markers: usize) -> Self {
        Self {
            once: Vec::with_capacity(markers),
            twice: Vec::with_capacity(markers),
            displaced: Vec::with_capacity(markers),
            ..Self::default()
        }
    }
}

fn lift<S: Scalar, R: Real>(from: &[S], to: &mut Vec<R>, up: impl Fn(S) -> R) {
    to.clear();
    to.extend(from.iter().map(|&p| up(p)));
}

/// First time derivatives of residuals between places that move as given.
pub(crate) fn rate<S: Scalar>(
    now: &Instant<'_, S>,
    moving: impl Iterator<Item = Place<Jet<S, 1>>>,
    scratch: &mut Scratch<S>,
    out: &mut [S],
    residual: impl Fn(&Instant<'_, Jet<S, 1>>, &[Place<Jet<S, 1>>], &mut [Jet<S, 1>]),
) {
    scratch.once.clear();
    scratch.once.extend(moving);
    lift(now.p, &mut scratch.parameters, Jet::constant);
    let now = Instant { t: Jet::new(now.t, S::one()), x: &[], p: &scratch.parameters, signals: &[] };
    let mut rows = [Jet::default(); MOST_ROWS];
    residual(&now, &scratch.once, &mut rows[..out.len()]);
    for (out, row) in out.iter_mut().zip(rows) {
        *out = row.eps[0];
    }
}

/// Second time derivatives of residuals at v̇ = 0.
pub(crate) fn bias<S: Scalar>(
    now: &Instant<'_, S>,
    at: &[Place<S>],
    accelerations: &[Acceleration<S>],
    scratch: &mut Scratch<S>,
    out: &mut [S],
    residual: impl Fn(&Instant<'_, Twice<S>>, &[Place<Twice<S>>], &mut [Twice<S>]),
) {
    scratch.twice.clear();
    scratch.twice.extend(at.iter().zip(accelerations).map(|(p, a)| p.in_time(a).in_time(&a.lift())));
    lift(now.p, &mut scratch.parameters2, |p| Jet::constant(Jet::constant(p)));
    let t = Jet::new(Jet::new(now.t, S::one()), Jet::constant(S::one()));
    let now = Instant { t, x: &[], p: &scratch.parameters2, signals: &[] };
    let mut rows = [Jet::default(); MOST_ROWS];
    residual(&now, &scratch.twice, &mut rows[..out.len()]);
    for (out, row) in out.iter_mut().zip(rows) {
        *out = row.eps[0].eps[0];
    }
}

/// A number with its first and second time derivative.
type Twice<S> = Jet<Jet<S, 1>, 1>;

/// Gradients of all rows with respect to one marker, varied by `vary`.
pub(crate) fn gradient<S: Scalar>(
    now: &Instant<'_, S>,
    at: &[Place<S>],
    marker: usize,
    scratch: &mut Scratch<S>,
    out: &mut [Wrench<S>],
    vary: impl Fn(&Place<S>) -> Place<Jet<S, 6>>,
    residual: impl Fn(&Instant<'_, Jet<S, 6>>, &[Place<Jet<S, 6>>], &mut [Jet<S, 6>]),
) {
    // Jets along six directions are long: they are written where they change.
    if let Some(place) = scratch.displaced.get_mut(scratch.varied) {
        *place = Place::default();
    }
    scratch.displaced.resize(at.len(), Place::default());
    for (i, (to, from)) in scratch.displaced.iter_mut().zip(at).enumerate() {
        if i == marker {
            *to = vary(from);
        } else {
            from.set_values(to);
        }
    }
    scratch.varied = marker;
    lift(now.p, &mut scratch.parameters6, Jet::constant);
    let now = Instant { t: Jet::constant(now.t), x: &[], p: &scratch.parameters6, signals: &[] };
    let mut rows = [Jet::default(); MOST_ROWS];
    residual(&now, &scratch.displaced, &mut rows[..out.len()]);
    for (out, row) in out.iter_mut().zip(rows) {
        let [a, b, c, d, e, f] = row.eps;
        *out = Wrench { force: Vec3([a, b, c]), torque: Vec3([d, e, f]) };
    }
}
