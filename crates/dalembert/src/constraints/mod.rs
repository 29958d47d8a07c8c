//! Constraints: relations between markers that always hold.
//!
//! An author writes a residual once: [`Constraint`] for positions, 0 = g(t, places), or [`Rolling`] for velocities,
//! 0 = A v + b. Its rate, its bias (second derivative at v̇ = 0) and its gradient with respect to the motion of each
//! marker come from jets of that one function. The gradient of a row is a wrench per marker: what the constraint pulls with for a unit
//! multiplier, with the sign of M v̇ = f − Gᵀλ.

mod cable_length;
mod coupling;
mod disc;
mod distance;
mod gear;
mod incompressible;
pub(crate) mod jets;
mod no_slip;
mod point_on_line;
mod point_on_plane;
mod prescribed;
mod rigidity;
mod sphere;
mod volume;

pub use cable_length::CableLength;
pub use coupling::{Coupling, CouplingTerm};
pub use disc::{DiscOnPlane, RollingDisc};
pub use distance::Distance;
pub use gear::{Gear, GearRatio};
pub use incompressible::Incompressible;
pub use jets::Scratch;
pub use no_slip::{FixedIn, KnifeEdge, NoSlip};
pub use point_on_line::PointOnLine;
pub use point_on_plane::PointOnPlane;
pub use prescribed::{CoordinateSpeed, PrescribedAngle, PrescribedDistance, PrescribedPosition};
pub use rigidity::Rigidity;
pub use sphere::{RollingSphere, SphereOnPlane};
pub use volume::{Cell, Volume};

pub use crate::joints::Coordinate;

use crate::element::{About, Describe, Kind, read_attached};
use crate::model::{Acceleration, Instant, Markers, Need, Place, Wrench};
use crate::signals::SignalRef;
use dalembert_methods::Real;
use dalembert_methods::scalar::{Dual, Dual2, Duals, Erased, Family, Lanes4, Scalar};
use dalembert_methods::trace::Trace;

/// The largest number of rows one constraint may have.
pub const MOST_ROWS: usize = 6;

/// The dimension of a residual row, for units in records.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A length: residual in m, multiplier in N.
    Length,
    /// An angle or the product of unit vectors: residual in rad, multiplier in N m.
    Angle,
    /// A velocity: residual in m/s, multiplier in N.
    Velocity,
    /// An angular velocity: residual in rad/s, multiplier in N m.
    AngularVelocity,
    /// A volume: residual in m³, multiplier in Pa.
    Volume,
    /// Anything else, given by the units of residual and multiplier.
    Other(&'static str, &'static str),
}

impl Quantity {
    /// The unit of the residual.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Length => "m",
            Self::Angle => "rad",
            Self::Velocity => "m/s",
            Self::AngularVelocity => "rad/s",
            Self::Volume => "m³",
            Self::Other(unit, _) => unit,
        }
    }

    /// The unit of the multiplier.
    pub fn multiplier_unit(self) -> &'static str {
        match self {
            Self::Length | Self::Velocity => "N",
            Self::Angle | Self::AngularVelocity => "N m",
            Self::Volume => "Pa",
            Self::Other(_, unit) => unit,
        }
    }
}

/// A kind of holonomic constraint: a relation between positions and orientations.
///
/// Only the residual must be written. Rate, bias and gradient come from jets of it; a constraint on very many markers may give
/// closed forms of them, which `dalembert::check` compares with the residual.
pub trait Constraint: About {
    /// What it is attached to.
    type Markers: Markers;
    /// The quantities of its rows.
    fn rows(&self) -> Vec<Quantity>;
    /// The residuals, zero when it holds.
    fn residual<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]);
    /// The time derivative of the residuals.
    fn rate<S: Scalar>(&self, now: &Instant<'_, S>, at: &[Place<S>], scratch: &mut Scratch<S>, out: &mut [S]) {
        let still = Acceleration::default();
        let moving = at.iter().map(|p| p.in_time(&still));
        jets::rate(now, moving, scratch, out, |now, at, rows| self.residual(now, at, rows));
    }
    /// The second time derivative of the residuals at v̇ = 0.
    fn bias<S: Scalar>(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        accelerations: &[Acceleration<S>],
        scratch: &mut Scratch<S>,
        out: &mut [S],
    ) {
        jets::bias(now, at, accelerations, scratch, out, |now, at, rows| self.residual(now, at, rows));
    }
    /// For every row the gradient with respect to the motion of marker `marker`.
    fn gradient<S: Scalar>(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        marker: usize,
        scratch: &mut Scratch<S>,
        out: &mut [Wrench<S>],
    ) {
        jets::gradient(now, at, marker, scratch, out, Place::displaced, |now, at, rows| self.residual(now, at, rows));
    }
    /// The gradients of its only row with respect to the motions of all markers, for constraints on many points that find them together;
    /// `false` if they are to be asked one after the other.
    fn gradients<S: Scalar>(&self, _at: &[Place<S>], _out: &mut [Wrench<S>]) -> bool {
        false
    }
    /// How many markers, counted from the first, then from the next one and so on, its gradients depend on together; all
    /// unless said otherwise. Rows are then a sum over such clusters: they are asked with the markers of one of them too, and with none.
    fn cluster(&self, markers: usize) -> usize {
        markers
    }
    /// Whether it depends on time.
    fn rheonomic(&self) -> bool {
        false
    }
    /// The signals it uses, to be resolved by name.
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        Vec::new()
    }
    /// Takes from the initial places what it was not told.
    fn settle(&mut self, _at: &[Place<f64>]) {}
    /// What is wrong with its data, if anything: the key, and what was expected.
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        None
    }
    /// What is wrong with it where and when a run starts, if anything: the key, and what was expected.
    fn defect_at(&self, _now: &Instant<'_, f64>, _at: &[Place<f64>]) -> Option<(&'static str, String)> {
        None
    }
    /// Coordinates that remain free (angle of a hinge, travel of a slider): name, unit.
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
    /// The values of those coordinates.
    fn coordinate<R: Real>(&self, _now: &Instant<'_, R>, _at: &[Place<R>], _out: &mut [R]) {}
    /// Names and units of the multipliers of its rows where they mean something by themselves (a pressure); records then show
    /// them instead of the force on the last marker.
    fn multipliers(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

/// A kind of velocity-level (nonholonomic) constraint: a residual linear in the velocities.
pub trait Rolling: About {
    /// What it is attached to.
    type Markers: Markers;
    /// The quantities of its rows.
    fn rows(&self) -> Vec<Quantity>;
    /// The residuals A v + b, zero when it holds.
    fn residual<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]);
    /// Whether b is not zero.
    fn rheonomic(&self) -> bool {
        false
    }
    /// The signals it uses, to be resolved by name.
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        Vec::new()
    }
    /// What is wrong with its data, if anything: the key, and what was expected.
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        None
    }
}

/// Rows of a constraint of either kind with the scalar fixed, so that it can be an object.
pub trait RowsOn<S: Scalar> {
    /// Position-level residuals (only holonomic constraints have them).
    fn residual(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]);
    /// Velocity-level residuals.
    fn rate(&self, now: &Instant<'_, S>, at: &[Place<S>], scratch: &mut Scratch<S>, out: &mut [S]);
    /// Time derivative of the velocity-level residuals at v̇ = 0.
    fn bias(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        accelerations: &[Acceleration<S>],
        scratch: &mut Scratch<S>,
        out: &mut [S],
    );
    /// For every row the gradient with respect to the motion of marker `marker`.
    fn gradient(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        marker: usize,
        scratch: &mut Scratch<S>,
        out: &mut [Wrench<S>],
    );
    /// The gradients of its only row with respect to the motions of all markers, if it finds them together.
    fn gradients(&self, _at: &[Place<S>], _out: &mut [Wrench<S>]) -> bool {
        false
    }
    /// The free coordinates.
    fn coordinate(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]);
}

/// A holonomic constraint as rows.
#[derive(Clone, Debug)]
pub struct Holonomic<C>(pub C);

impl<S: Scalar, C: Constraint> RowsOn<S> for Holonomic<C> {
    fn residual(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]) {
        self.0.residual(now, at, out);
    }
    fn rate(&self, now: &Instant<'_, S>, at: &[Place<S>], scratch: &mut Scratch<S>, out: &mut [S]) {
        self.0.rate(now, at, scratch, out);
    }
    fn bias(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        accelerations: &[Acceleration<S>],
        scratch: &mut Scratch<S>,
        out: &mut [S],
    ) {
        self.0.bias(now, at, accelerations, scratch, out);
    }
    fn gradient(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        marker: usize,
        scratch: &mut Scratch<S>,
        out: &mut [Wrench<S>],
    ) {
        self.0.gradient(now, at, marker, scratch, out);
    }
    fn gradients(&self, at: &[Place<S>], out: &mut [Wrench<S>]) -> bool {
        self.0.gradients(at, out)
    }
    fn coordinate(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]) {
        self.0.coordinate(now, at, out);
    }
}

/// A velocity-level constraint as rows.
#[derive(Clone, Debug)]
pub struct Nonholonomic<C>(pub C);

impl<S: Scalar, C: Rolling> RowsOn<S> for Nonholonomic<C> {
    fn residual(&self, _now: &Instant<'_, S>, _at: &[Place<S>], _out: &mut [S]) {}
    fn rate(&self, now: &Instant<'_, S>, at: &[Place<S>], _scratch: &mut Scratch<S>, out: &mut [S]) {
        self.0.residual(now, at, out);
    }
    fn bias(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        accelerations: &[Acceleration<S>],
        scratch: &mut Scratch<S>,
        out: &mut [S],
    ) {
        let moving = at.iter().zip(accelerations).map(|(p, a)| p.in_time(a));
        jets::rate(now, moving, scratch, out, |now, at, rows| self.0.residual(now, at, rows));
    }
    fn gradient(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        marker: usize,
        scratch: &mut Scratch<S>,
        out: &mut [Wrench<S>],
    ) {
        jets::gradient(now, at, marker, scratch, out, Place::quickened, |now, at, rows| self.0.residual(now, at, rows));
    }
    fn coordinate(&self, _now: &Instant<'_, S>, _at: &[Place<S>], _out: &mut [S]) {}
}

/// A constraint of any kind.
pub trait AnyConstraint:
    RowsOn<f64> + RowsOn<Dual> + RowsOn<Duals> + RowsOn<Dual2> + RowsOn<Lanes4> + RowsOn<Trace> + Describe + Send + Sync
{
    /// Whether it is holonomic (has position-level residuals).
    fn holonomic(&self) -> bool;
    /// What markers it asks for.
    fn need(&self) -> Need;
    /// The quantities of its rows.
    fn rows(&self) -> Vec<Quantity>;
    /// Whether it depends on time.
    fn rheonomic(&self) -> bool;
    /// The signals it uses.
    fn signals(&mut self) -> Vec<&mut SignalRef>;
    /// What is wrong with its data.
    fn defect(&self, markers: usize) -> Option<(&'static str, String)>;
    /// What is wrong with it where and when a run starts.
    fn defect_at(&self, now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)>;
    /// Takes from the initial places what it was not told.
    fn settle(&mut self, at: &[Place<f64>]);
    /// How many consecutive markers its gradients depend on together.
    fn cluster(&self, markers: usize) -> usize;
    /// The free coordinates: name, unit.
    fn coordinates(&self) -> Vec<(&'static str, &'static str)>;
    /// The multipliers that mean something by themselves: name, unit.
    fn multipliers(&self) -> Vec<(&'static str, &'static str)>;
}

impl<C: Constraint> AnyConstraint for Holonomic<C> {
    fn holonomic(&self) -> bool {
        true
    }
    fn need(&self) -> Need {
        C::Markers::NEED
    }
    fn rows(&self) -> Vec<Quantity> {
        self.0.rows()
    }
    fn rheonomic(&self) -> bool {
        self.0.rheonomic()
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.0.signals()
    }
    fn defect(&self, markers: usize) -> Option<(&'static str, String)> {
        self.0.defect(markers)
    }
    fn defect_at(&self, now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        self.0.defect_at(now, at)
    }
    fn settle(&mut self, at: &[Place<f64>]) {
        self.0.settle(at);
    }
    fn cluster(&self, markers: usize) -> usize {
        self.0.cluster(markers)
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        self.0.coordinates()
    }
    fn multipliers(&self) -> Vec<(&'static str, &'static str)> {
        self.0.multipliers()
    }
}

impl<C: Rolling> AnyConstraint for Nonholonomic<C> {
    fn holonomic(&self) -> bool {
        false
    }
    fn need(&self) -> Need {
        C::Markers::NEED
    }
    fn rows(&self) -> Vec<Quantity> {
        self.0.rows()
    }
    fn rheonomic(&self) -> bool {
        self.0.rheonomic()
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.0.signals()
    }
    fn defect(&self, markers: usize) -> Option<(&'static str, String)> {
        self.0.defect(markers)
    }
    fn defect_at(&self, _now: &Instant<'_, f64>, _at: &[Place<f64>]) -> Option<(&'static str, String)> {
        None
    }
    fn settle(&mut self, _at: &[Place<f64>]) {}
    fn cluster(&self, markers: usize) -> usize {
        markers
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
    fn multipliers(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}

impl<C: Constraint> Describe for Holonomic<C> {
    fn kind(&self) -> &'static str {
        C::KIND
    }
    fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
        self.0.parameters()
    }
}

impl<C: Rolling> Describe for Nonholonomic<C> {
    fn kind(&self) -> &'static str {
        C::KIND
    }
    fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
        self.0.parameters()
    }
}

/// The entry of a registry for a holonomic constraint.
pub(crate) fn holonomic<C: Constraint>() -> Kind<dyn AnyConstraint> {
    Kind::new::<C>(
        Some(C::Markers::NEED),
        |entry| Ok(Box::new(Holonomic(read_attached::<C, C::Markers>(entry)?))),
        || Box::new(Holonomic(C::sample())),
    )
}

/// The entry of a registry for a velocity-level constraint.
fn nonholonomic<C: Rolling>() -> Kind<dyn AnyConstraint> {
    Kind::new::<C>(
        Some(C::Markers::NEED),
        |entry| Ok(Box::new(Nonholonomic(read_attached::<C, C::Markers>(entry)?))),
        || Box::new(Nonholonomic(C::sample())),
    )
}

/// The kinds of constraints, by name. Joints have a registry of their own, [`crate::joints::kinds`].
pub fn kinds() -> Vec<Kind<dyn AnyConstraint>> {
    vec![
        holonomic::<CableLength>(),
        nonholonomic::<CoordinateSpeed>(),
        holonomic::<Coupling>(),
        holonomic::<DiscOnPlane>(),
        holonomic::<Distance>(),
        holonomic::<Gear>(),
        nonholonomic::<GearRatio>(),
        holonomic::<Incompressible>(),
        nonholonomic::<KnifeEdge>(),
        nonholonomic::<NoSlip>(),
        holonomic::<PointOnLine>(),
        holonomic::<PointOnPlane>(),
        holonomic::<PrescribedAngle>(),
        holonomic::<PrescribedDistance>(),
        holonomic::<PrescribedPosition>(),
        holonomic::<Rigidity>(),
        nonholonomic::<RollingDisc>(),
        nonholonomic::<RollingSphere>(),
        holonomic::<SphereOnPlane>(),
        holonomic::<Volume>(),
    ]
}

/// The family of constraints.
pub enum Constraints {}

impl Family for Constraints {
    type On<S: Scalar> = dyn RowsOn<S>;
}

impl Erased<Constraints> for dyn AnyConstraint {
    fn real(&self) -> &(dyn RowsOn<f64> + 'static) {
        self
    }
    fn dual(&self) -> &(dyn RowsOn<Dual> + 'static) {
        self
    }
    fn duals(&self) -> &(dyn RowsOn<Duals> + 'static) {
        self
    }
    fn dual2(&self) -> &(dyn RowsOn<Dual2> + 'static) {
        self
    }
    fn lanes(&self) -> &(dyn RowsOn<Lanes4> + 'static) {
        self
    }
    fn trace(&self) -> &(dyn RowsOn<Trace> + 'static) {
        self
    }
}
