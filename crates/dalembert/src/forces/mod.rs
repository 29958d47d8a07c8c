//! Forces: what pulls and turns bodies at markers.
//!
//! An author writes [`Force`] once: the wrenches, and the account of energy. The account is not believed but checked:
//! power = −dU/dt − dissipation + supply must hold for every element (`dalembert::check`).

mod spring;

pub use spring::Spring;

use crate::element::{About, Describe};
use crate::model::{Instant, Markers, Need, Place, Wrench};
use crate::signals::SignalRef;
use dalembert_methods::Real;
use dalembert_methods::scalar::{Dual, Dual2, Duals, Erased, Family, Lanes4, Scalar};

/// A kind of force.
pub trait Force: About {
    /// What it is attached to.
    type Markers: Markers;

    /// Writes the wrench at each marker.
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]);
    /// The potential energy U, in J.
    fn energy<R: Real>(&self, _now: &Instant<'_, R>, _at: &[Place<R>]) -> R {
        R::zero()
    }
    /// The power turned to heat, in W, never negative.
    fn dissipation<R: Real>(&self, _now: &Instant<'_, R>, _at: &[Place<R>]) -> R {
        R::zero()
    }
    /// The power supplied from outside, in W.
    fn supply<R: Real>(&self, _now: &Instant<'_, R>, _at: &[Place<R>]) -> R {
        R::zero()
    }

    /// The number of extra states.
    fn states(&self) -> usize {
        0
    }
    /// The initial values of the extra states.
    fn initial(&self, _x: &mut [f64]) {}
    /// The rates of the extra states.
    fn rate<R: Real>(&self, _now: &Instant<'_, R>, _at: &[Place<R>], _out: &mut [R]) {}

    /// The signals it uses, to be resolved by name.
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        Vec::new()
    }
    /// What is wrong with its data, if anything, given the number of markers: the key, and what was expected.
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        None
    }
}

/// [`Force`] with the scalar fixed, so that it can be an object.
#[allow(missing_docs)] // each method is documented at `Force`
pub trait ForceOn<S: Scalar> {
    fn apply(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [Wrench<S>]);
    fn energy(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S;
    fn dissipation(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S;
    fn supply(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S;
    fn rate(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]);
}

impl<S: Scalar, F: Force> ForceOn<S> for F {
    fn apply(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [Wrench<S>]) {
        Force::apply(self, now, at, out);
    }
    fn energy(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S {
        Force::energy(self, now, at)
    }
    fn dissipation(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S {
        Force::dissipation(self, now, at)
    }
    fn supply(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S {
        Force::supply(self, now, at)
    }
    fn rate(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]) {
        Force::rate(self, now, at, out);
    }
}

/// A force of any kind.
#[allow(missing_docs)] // each method is documented at `Force`
pub trait AnyForce:
    ForceOn<f64> + ForceOn<Dual> + ForceOn<Duals> + ForceOn<Dual2> + ForceOn<Lanes4> + Describe + Send + Sync
{
    fn need(&self) -> Need;
    fn states(&self) -> usize;
    fn initial(&self, x: &mut [f64]);
    fn signals(&mut self) -> Vec<&mut SignalRef>;
    fn defect(&self, markers: usize) -> Option<(&'static str, String)>;
}

impl<F: Force> AnyForce for F {
    fn need(&self) -> Need {
        F::Markers::NEED
    }
    fn states(&self) -> usize {
        Force::states(self)
    }
    fn initial(&self, x: &mut [f64]) {
        Force::initial(self, x);
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        Force::signals(self)
    }
    fn defect(&self, markers: usize) -> Option<(&'static str, String)> {
        Force::defect(self, markers)
    }
}

/// The family of forces.
pub enum Forces {}

impl Family for Forces {
    type On<S: Scalar> = dyn ForceOn<S>;
}

impl Erased<Forces> for dyn AnyForce {
    fn real(&self) -> &(dyn ForceOn<f64> + 'static) {
        self
    }
    fn dual(&self) -> &(dyn ForceOn<Dual> + 'static) {
        self
    }
    fn duals(&self) -> &(dyn ForceOn<Duals> + 'static) {
        self
    }
    fn dual2(&self) -> &(dyn ForceOn<Dual2> + 'static) {
        self
    }
    fn lanes(&self) -> &(dyn ForceOn<Lanes4> + 'static) {
        self
    }
}
