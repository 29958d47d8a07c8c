//! Forces: what pulls and turns bodies at markers.
//!
//! An author writes [`Force`] once: the wrenches, and the account of energy. The account is not believed but checked:
//! power = −dU/dt − dissipation + supply must hold for every element (`dalembert::check`).

mod actuator;
mod applied;
mod cable;
mod callback;
pub mod contact_field;
mod drag;
mod dry_friction;
mod edge_drag;
mod elastic;
mod gravitation;
mod joint_tendon;
mod line;
mod linear_motor;
mod motor;
mod muscle;
mod nonlinear_spring;
mod rotational_spring;
mod spring;

pub use actuator::Actuator;
pub use applied::{AppliedForce, AppliedTorque, Axes};
pub use cable::Cable;
pub use callback::Callback;
pub(crate) use callback::{MANY, ONE};
pub use contact_field::ContactField;
pub use drag::Drag;
pub use dry_friction::DryFriction;
pub use edge_drag::EdgeDrag;
pub use elastic::Elastic;
pub(crate) use elastic::GRADIENT;
pub use gravitation::{GRAVITATIONAL_CONSTANT, Gravitation};
pub use joint_tendon::{JointTendon, Pulley};
pub use linear_motor::LinearMotor;
pub use motor::Motor;
pub use muscle::{ForceVelocity, Muscle};
pub use nonlinear_spring::{Law, NonlinearSpring, TensionPoints, TensionTable};
pub use rotational_spring::RotationalSpring;
pub use spring::Spring;

use crate::element::{About, Describe, Kind, read_attached};
use crate::joints::{Axis, Coordinate};
use crate::model::{Instant, Markers, Need, Place, Wrench};
use crate::signals::SignalRef;
use dalembert_methods::Real;
use dalembert_methods::scalar::{Dual, Dual2, Duals, Erased, Family, Lanes4, Scalar};
use dalembert_methods::trace::Trace;

/// Dry friction of given size on one freedom between two frames; see [`DryFriction`].
#[derive(Copy, Clone, Debug)]
pub struct Grip<'a> {
    /// The freedom.
    pub of: Coordinate,
    /// Its axis in the first frame.
    pub axis: &'a Axis,
    /// The largest force in N, or torque in N m.
    pub size: f64,
}

/// A kind of force.
pub trait Force: About {
    /// What it is attached to.
    type Markers: Markers;
    /// Whether it acts between its markers only: then it has no resultant force and no resultant moment. A force on a
    /// single marker acts from outside, all others are taken to be internal.
    const INTERNAL: bool = matches!(<Self::Markers as Markers>::NEED, Need { affine: true, .. })
        || !matches!(<Self::Markers as Markers>::NEED.count, Some(1));

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

    /// Dissipation and supply together, for elements that find both on the same way.
    fn account<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> (R, R) {
        (self.dissipation(now, at), self.supply(now, at))
    }

    /// Wrenches, rates of the extra states, dissipation and supply together, for elements that are many or costly and find all of them
    /// on the same way; `None` if they are to be asked one after the other.
    fn apply_and_account<R: Real>(
        &self,
        _now: &Instant<'_, R>,
        _at: &[Place<R>],
        _out: &mut [Wrench<R>],
        _rates: &mut [R],
    ) -> Option<(R, R)> {
        None
    }

    /// Dry friction between its two frames, which is solved with the accelerations; none but for [`DryFriction`].
    fn grip(&self) -> Option<Grip<'_>> {
        None
    }
    /// Whether it refers to nothing but its markers, so that it turns with them under any superposed rigid motion.
    fn objective(&self) -> bool {
        Self::INTERNAL
    }
    /// Whether its wrenches depend on the positions of its markers alone, and it neither dissipates nor supplies power: methods may then use
    /// them again.
    fn still(&self) -> bool {
        false
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
    /// What is wrong with it where and when a run starts, if anything: the key, and what was expected.
    fn defect_at(&self, _now: &Instant<'_, f64>, _at: &[Place<f64>]) -> Option<(&'static str, String)> {
        None
    }
    /// What it has to show besides its wrenches (length, tension): name, unit.
    fn outputs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
    /// The values of those.
    fn output<R: Real>(&self, _now: &Instant<'_, R>, _at: &[Place<R>], _out: &mut [R]) {}
}

/// [`Force`] with the scalar fixed, so that it can be an object.
#[allow(missing_docs)] // each method is documented at `Force`
pub trait ForceOn<S: Scalar> {
    fn apply(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [Wrench<S>]);
    fn energy(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S;
    fn dissipation(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S;
    fn supply(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S;
    fn account(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> (S, S);
    fn apply_and_account(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        out: &mut [Wrench<S>],
        rates: &mut [S],
    ) -> Option<(S, S)>;
    fn rate(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]);
    fn output(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]);
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
    fn account(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> (S, S) {
        Force::account(self, now, at)
    }
    fn apply_and_account(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        out: &mut [Wrench<S>],
        rates: &mut [S],
    ) -> Option<(S, S)> {
        Force::apply_and_account(self, now, at, out, rates)
    }
    fn rate(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]) {
        Force::rate(self, now, at, out);
    }
    fn output(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]) {
        Force::output(self, now, at, out);
    }
}

/// A force of any kind.
#[allow(missing_docs)] // each method is documented at `Force`
pub trait AnyForce:
    ForceOn<f64>
    + ForceOn<Dual>
    + ForceOn<Duals>
    + ForceOn<Dual2>
    + ForceOn<Lanes4>
    + ForceOn<Trace>
    + Describe
    + Send
    + Sync
{
    fn need(&self) -> Need;
    fn internal(&self) -> bool;
    fn grip(&self) -> Option<Grip<'_>>;
    fn objective(&self) -> bool;
    fn still(&self) -> bool;
    fn states(&self) -> usize;
    fn initial(&self, x: &mut [f64]);
    fn signals(&mut self) -> Vec<&mut SignalRef>;
    fn defect(&self, markers: usize) -> Option<(&'static str, String)>;
    fn defect_at(&self, now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)>;
    fn outputs(&self) -> Vec<(&'static str, &'static str)>;
}

impl<F: Force> AnyForce for F {
    fn need(&self) -> Need {
        F::Markers::NEED
    }
    fn internal(&self) -> bool {
        F::INTERNAL
    }
    fn grip(&self) -> Option<Grip<'_>> {
        Force::grip(self)
    }
    fn objective(&self) -> bool {
        Force::objective(self)
    }
    fn still(&self) -> bool {
        Force::still(self)
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
    fn defect_at(&self, now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        Force::defect_at(self, now, at)
    }
    fn outputs(&self) -> Vec<(&'static str, &'static str)> {
        Force::outputs(self)
    }
}

fn kind_of<F: Force>() -> Kind<dyn AnyForce> {
    Kind::new::<F>(
        Some(F::Markers::NEED),
        |entry| Ok(Box::new(read_attached::<F, F::Markers>(entry)?)),
        || Box::new(F::sample()),
    )
}

/// The kinds of forces, by name.
pub fn kinds() -> Vec<Kind<dyn AnyForce>> {
    vec![
        kind_of::<Actuator>(),
        kind_of::<AppliedForce>(),
        kind_of::<AppliedTorque>(),
        kind_of::<Cable>(),
        kind_of::<ContactField>(),
        kind_of::<Drag>(),
        kind_of::<DryFriction>(),
        kind_of::<EdgeDrag>(),
        kind_of::<Elastic>(),
        kind_of::<Gravitation>(),
        kind_of::<JointTendon>(),
        kind_of::<LinearMotor>(),
        kind_of::<Motor>(),
        kind_of::<Muscle>(),
        kind_of::<NonlinearSpring>(),
        kind_of::<RotationalSpring>(),
        kind_of::<Spring>(),
    ]
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
    fn trace(&self) -> &(dyn ForceOn<Trace> + 'static) {
        self
    }
}
