//! Bodies: what moves.
//!
//! A body has coordinates q and velocities v of its own, places for markers, and inertia. An author writes [`Body`] once,
//! generic over the number; the rest of this file is the bridge that lets a model hold bodies of different kinds.

mod affine;
mod affine_plane;
mod ground;
mod isochoric_plane;
mod particle;
mod plane;
mod rigid;
mod tree;
mod tree_settings;

pub use affine::Affine;
pub use affine_plane::AffinePlane;
pub use ground::Ground;
pub use isochoric_plane::IsochoricPlane;
pub use particle::Particle;
pub use plane::Plane;
pub use rigid::{Inertia, Rigid};
pub use tree::Tree;
pub use tree_settings::{TreeCone, TreeEnd, TreeJoint, TreeLatch, TreeLink, TreeRepeat, TreeSettings};

use crate::element::{About, Describe, Kind};
use crate::joints::Coordinate;
use crate::model::{Acceleration, Place, Site, Wrench};
use crate::picture::Look;
use crate::run::matches;
use crate::scene::{Entry, SceneError};
use dalembert_methods::algebra::MassBlock;
use dalembert_methods::scalar::{Dual, Dual2, Duals, Erased, Family, Lanes4, Scalar};
use dalembert_methods::trace::Trace;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real};

/// A gap of a body itself.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnStop {
    /// Its name within the body.
    pub name: String,
    /// The first velocity that it depends on, and how many it does, at most three.
    pub velocities: std::ops::Range<usize>,
    /// What the gap is.
    pub of: Coordinate,
    /// The coefficient of restitution.
    pub restitution: f64,
    /// What holds it once it has closed, if anything does.
    pub latch: Option<OwnLatch>,
}

/// A latch on a gap of a body: once closed it stays closed until it is released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnLatch {
    /// The contacts that release it when they are hit, by name.
    pub release: Vec<String>,
    /// Whether it holds at the beginning, if the gap is closed there.
    pub holds: bool,
}

/// A kind of body.
///
/// `cache` is a flat array of [`Body::cache`] numbers filled by [`Body::kinematics`] and read by everything else.
pub trait Body: About {
    /// The number of configuration coordinates.
    fn coordinates(&self) -> usize;
    /// The number of velocities.
    fn velocities(&self) -> usize;
    /// The length of the kinematic cache.
    fn cache(&self) -> usize;
    /// Whether markers on it have an orientation.
    fn oriented(&self) -> bool;
    /// Whether it is a single point, with its position and velocity in the world frame for q and v, on which nothing acts but
    /// its weight and elements; its cache is q, then v. A model then need not ask it for places, nor give it wrenches: `dalembert::check` compares.
    fn point(&self) -> bool {
        false
    }
    /// Whether it has points besides its origin, for markers.
    fn extended(&self) -> bool {
        self.oriented()
    }
    /// The number of parts that markers can sit on.
    fn parts(&self) -> usize {
        1
    }
    /// The part of this name, for bodies of several parts.
    fn part(&self, _name: &str) -> Option<usize> {
        None
    }
    /// The name of a part, for bodies of several parts.
    fn part_name(&self, _part: usize) -> Option<&str> {
        None
    }
    /// Dry friction on velocities of its own, which can stick: the velocity, what it is the speed of, and the largest force in N or N m.
    fn dry_friction(&self) -> Vec<(usize, Coordinate, f64)> {
        Vec::new()
    }
    /// Gaps of its own, which it cannot pass: stops of joints.
    fn stops(&self) -> Vec<OwnStop> {
        Vec::new()
    }
    /// The gap of a stop, in m or rad, and its gradient by the velocities that it depends on.
    fn stop<R: Real>(&self, _stop: usize, _q: &[R]) -> (R, [R; 3]) {
        (R::zero(), [R::zero(); 3])
    }
    /// The initial configuration and velocity.
    fn initial(&self, q: &mut [f64], v: &mut [f64]);
    /// What is wrong with its data, if anything: the key, and what was expected.
    fn defect(&self) -> Option<(&'static str, String)> {
        None
    }

    /// Fills the cache.
    fn kinematics<R: Real>(&self, q: &[R], v: &[R], cache: &mut [R]);
    /// The motion of a marker.
    fn place<R: Real>(&self, site: &Site, cache: &[R]) -> Place<R>;
    /// Adds the generalised force of a wrench at a marker: the transpose of [`Body::place`].
    fn pull_back<R: Real>(&self, site: &Site, cache: &[R], wrench: &Wrench<R>, out: &mut [R]);

    /// The blocks of its mass matrix.
    fn mass_blocks(&self) -> Vec<MassBlock>;
    /// Writes the values of mass block `block`.
    fn mass<R: Real>(&self, block: usize, cache: &[R], out: &mut [R]);
    /// Whether the mass matrix is constant.
    fn mass_is_constant(&self) -> bool;
    /// Adds gyroscopic and internal forces.
    fn force<R: Real>(&self, cache: &[R], out: &mut [R]);
    /// Adds the weight in a uniform field of acceleration `gravity`.
    fn weight<R: Real>(&self, cache: &[R], gravity: Vec3<R>, out: &mut [R]);

    /// The mass, in kg.
    fn total_mass(&self) -> f64;
    /// The centre of mass in the world frame.
    fn centre<R: Real>(&self, cache: &[R]) -> Vec3<R>;
    /// The kinetic energy, in J.
    fn kinetic<R: Real>(&self, cache: &[R]) -> R;
    /// The energy stored inside, in springs of its own, in J.
    fn stored<R: Real>(&self, _cache: &[R]) -> R {
        R::zero()
    }
    /// The power turned to heat inside, in W; never negative.
    fn dissipation<R: Real>(&self, _cache: &[R]) -> R {
        R::zero()
    }
    /// Linear momentum and angular momentum about the world origin.
    fn momentum<R: Real>(&self, cache: &[R]) -> (Vec3<R>, Vec3<R>);

    /// out = q ⊕ δ.
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]);
    /// The rate of δ for which q₀ ⊕ δ moves with velocity v.
    fn local_rate<R: Real>(&self, delta: &[R], v: &[R], out: &mut [R]);
    /// The velocity of q₀ ⊕ δ when δ moves at a rate: the inverse of [`Body::local_rate`]. The default is for bodies with q̇ = v.
    fn local_velocity<R: Real>(&self, _delta: &[R], rate: &[R], out: &mut [R]) {
        out.copy_from_slice(rate);
    }
    /// The rate of δ that moves q₀ ⊕ δ as a moving base would: (q₀ ⊕ εη) ⊕ δ = q₀ ⊕ (δ + ε · rate). The default is for q̇ = v.
    fn local_shift<R: Real>(&self, _delta: &[R], base: &[R], out: &mut [R]) {
        out.copy_from_slice(base);
    }
    /// Typical sizes of the coordinate increments.
    fn magnitude(&self, q: &[f64], out: &mut [f64]);
    /// The name and unit of velocity `i`, for messages.
    fn velocity_name(&self, i: usize) -> String;
    /// Where joints of the body itself hold a part, in its frame, in m: for pictures.
    fn held(&self, _part: usize) -> Vec<[f64; 3]> {
        Vec::new()
    }
    /// Mass, centre of mass and inertia about it in the frame of a part that turns as a whole.
    fn inertia(&self, _part: usize) -> Option<(f64, [f64; 3], Mat3<f64>)> {
        None
    }

    /// The acceleration of a marker at v̇ = 0. By default the time derivative of its velocity by jets.
    fn bias<R: Real>(
        &self,
        site: &Site,
        q: &[R],
        v: &[R],
        _cache: &[R],
        scratch: &mut Vec<Jet<R, 1>>,
    ) -> Acceleration<R> {
        let (nq, nv, nc) = (self.coordinates(), self.velocities(), self.cache());
        scratch.clear();
        scratch.resize(2 * nq + 2 * nv + nc, Jet::default());
        let (q0, rest) = scratch.split_at_mut(nq);
        let (delta, rest) = rest.split_at_mut(nv);
        let (moved, rest) = rest.split_at_mut(nq);
        let (speed, cache) = rest.split_at_mut(nv);
        for i in 0..nq {
            q0[i] = Jet::constant(q[i]);
        }
        for i in 0..nv {
            delta[i] = Jet::new(R::zero(), v[i]);
            speed[i] = Jet::constant(v[i]);
        }
        self.retract(q0, delta, moved);
        self.kinematics(moved, speed, cache);
        let place = self.place(site, cache);
        Acceleration { a: place.v.map(|a| a.eps[0]), alpha: place.omega.map(|a| a.eps[0]) }
    }
}

/// [`Body`] with the scalar fixed, so that it can be an object.
#[allow(missing_docs)] // each method is documented at `Body`; `stop_bias` is the second time derivative of a gap at v̇ = 0
pub trait BodyOn<S: Scalar> {
    fn kinematics(&self, q: &[S], v: &[S], cache: &mut [S]);
    fn place(&self, site: &Site, cache: &[S]) -> Place<S>;
    /// Position and velocity of the place alone.
    fn travel(&self, site: &Site, cache: &[S]) -> (Vec3<S>, Vec3<S>);
    fn pull_back(&self, site: &Site, cache: &[S], wrench: &Wrench<S>, out: &mut [S]);
    fn mass(&self, block: usize, cache: &[S], out: &mut [S]);
    fn force(&self, cache: &[S], out: &mut [S]);
    fn weight(&self, cache: &[S], gravity: Vec3<S>, out: &mut [S]);
    fn centre(&self, cache: &[S]) -> Vec3<S>;
    fn kinetic(&self, cache: &[S]) -> S;
    fn stored(&self, cache: &[S]) -> S;
    fn dissipation(&self, cache: &[S]) -> S;
    fn momentum(&self, cache: &[S]) -> (Vec3<S>, Vec3<S>);
    fn retract(&self, q: &[S], delta: &[S], out: &mut [S]);
    fn local_rate(&self, delta: &[S], v: &[S], out: &mut [S]);
    fn local_velocity(&self, delta: &[S], rate: &[S], out: &mut [S]);
    fn local_shift(&self, delta: &[S], base: &[S], out: &mut [S]);
    fn bias(&self, site: &Site, q: &[S], v: &[S], cache: &[S], scratch: &mut Vec<Jet<S, 1>>) -> Acceleration<S>;
    fn stop(&self, stop: usize, q: &[S]) -> (S, [S; 3]);
    fn stop_bias(&self, stop: usize, first: usize, q: &[S], v: &[S], scratch: &mut Vec<Jet<S, 1>>) -> S;
}

impl<S: Scalar, B: Body> BodyOn<S> for B {
    fn kinematics(&self, q: &[S], v: &[S], cache: &mut [S]) {
        Body::kinematics(self, q, v, cache);
    }
    fn place(&self, site: &Site, cache: &[S]) -> Place<S> {
        Body::place(self, site, cache)
    }
    fn travel(&self, site: &Site, cache: &[S]) -> (Vec3<S>, Vec3<S>) {
        let place = Body::place(self, site, cache);
        (place.r, place.v)
    }
    fn pull_back(&self, site: &Site, cache: &[S], wrench: &Wrench<S>, out: &mut [S]) {
        Body::pull_back(self, site, cache, wrench, out);
    }
    fn mass(&self, block: usize, cache: &[S], out: &mut [S]) {
        Body::mass(self, block, cache, out);
    }
    fn force(&self, cache: &[S], out: &mut [S]) {
        Body::force(self, cache, out);
    }
    fn weight(&self, cache: &[S], gravity: Vec3<S>, out: &mut [S]) {
        Body::weight(self, cache, gravity, out);
    }
    fn centre(&self, cache: &[S]) -> Vec3<S> {
        Body::centre(self, cache)
    }
    fn kinetic(&self, cache: &[S]) -> S {
        Body::kinetic(self, cache)
    }
    fn stored(&self, cache: &[S]) -> S {
        Body::stored(self, cache)
    }
    fn dissipation(&self, cache: &[S]) -> S {
        Body::dissipation(self, cache)
    }
    fn momentum(&self, cache: &[S]) -> (Vec3<S>, Vec3<S>) {
        Body::momentum(self, cache)
    }
    fn retract(&self, q: &[S], delta: &[S], out: &mut [S]) {
        Body::retract(self, q, delta, out);
    }
    fn local_rate(&self, delta: &[S], v: &[S], out: &mut [S]) {
        Body::local_rate(self, delta, v, out);
    }
    fn local_velocity(&self, delta: &[S], rate: &[S], out: &mut [S]) {
        Body::local_velocity(self, delta, rate, out);
    }
    fn local_shift(&self, delta: &[S], base: &[S], out: &mut [S]) {
        Body::local_shift(self, delta, base, out);
    }
    fn bias(&self, site: &Site, q: &[S], v: &[S], cache: &[S], scratch: &mut Vec<Jet<S, 1>>) -> Acceleration<S> {
        Body::bias(self, site, q, v, cache, scratch)
    }
    fn stop(&self, stop: usize, q: &[S]) -> (S, [S; 3]) {
        Body::stop(self, stop, q)
    }
    fn stop_bias(&self, stop: usize, first: usize, q: &[S], v: &[S], scratch: &mut Vec<Jet<S, 1>>) -> S {
        // d/dt (e·v) along q ⊕ v t.
        let (nq, nv) = (q.len(), v.len());
        scratch.clear();
        scratch.resize(2 * nq + nv, Jet::default());
        let (start, rest) = scratch.split_at_mut(nq);
        let (delta, moved) = rest.split_at_mut(nv);
        start.iter_mut().zip(q).for_each(|(jet, &q)| *jet = Jet::constant(q));
        delta.iter_mut().zip(v).for_each(|(jet, &v)| *jet = Jet::new(S::zero(), v));
        Body::retract(self, start, delta, moved);
        let (_, gradient) = Body::stop(self, stop, moved);
        gradient.iter().zip(&v[first..]).fold(S::zero(), |sum, (e, &v)| sum + e.eps[0] * v)
    }
}

/// A body of any kind.
#[allow(missing_docs)] // each method is documented at `Body`
pub trait AnyBody:
    BodyOn<f64> + BodyOn<Dual> + BodyOn<Duals> + BodyOn<Dual2> + BodyOn<Lanes4> + BodyOn<Trace> + Describe + Send + Sync
{
    fn coordinates(&self) -> usize;
    fn velocities(&self) -> usize;
    fn cache(&self) -> usize;
    fn oriented(&self) -> bool;
    fn point(&self) -> bool;
    fn extended(&self) -> bool;
    fn parts(&self) -> usize;
    fn part(&self, name: &str) -> Option<usize>;
    fn part_name(&self, part: usize) -> Option<&str>;
    fn dry_friction(&self) -> Vec<(usize, Coordinate, f64)>;
    fn stops(&self) -> Vec<OwnStop>;
    fn initial(&self, q: &mut [f64], v: &mut [f64]);
    fn defect(&self) -> Option<(&'static str, String)>;
    fn mass_blocks(&self) -> Vec<MassBlock>;
    fn mass_is_constant(&self) -> bool;
    fn total_mass(&self) -> f64;
    fn magnitude(&self, q: &[f64], out: &mut [f64]);
    fn velocity_name(&self, i: usize) -> String;
    fn held(&self, part: usize) -> Vec<[f64; 3]>;
    fn inertia(&self, part: usize) -> Option<(f64, [f64; 3], Mat3<f64>)>;
}

impl<B: Body> AnyBody for B {
    fn coordinates(&self) -> usize {
        Body::coordinates(self)
    }
    fn velocities(&self) -> usize {
        Body::velocities(self)
    }
    fn cache(&self) -> usize {
        Body::cache(self)
    }
    fn oriented(&self) -> bool {
        Body::oriented(self)
    }
    fn point(&self) -> bool {
        Body::point(self)
    }
    fn extended(&self) -> bool {
        Body::extended(self)
    }
    fn parts(&self) -> usize {
        Body::parts(self)
    }
    fn part(&self, name: &str) -> Option<usize> {
        Body::part(self, name)
    }
    fn part_name(&self, part: usize) -> Option<&str> {
        Body::part_name(self, part)
    }
    fn dry_friction(&self) -> Vec<(usize, Coordinate, f64)> {
        Body::dry_friction(self)
    }
    fn stops(&self) -> Vec<OwnStop> {
        Body::stops(self)
    }
    fn initial(&self, q: &mut [f64], v: &mut [f64]) {
        Body::initial(self, q, v);
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        Body::defect(self)
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        Body::mass_blocks(self)
    }
    fn mass_is_constant(&self) -> bool {
        Body::mass_is_constant(self)
    }
    fn total_mass(&self) -> f64 {
        Body::total_mass(self)
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        Body::magnitude(self, q, out);
    }
    fn velocity_name(&self, i: usize) -> String {
        Body::velocity_name(self, i)
    }
    fn held(&self, part: usize) -> Vec<[f64; 3]> {
        Body::held(self, part)
    }
    fn inertia(&self, part: usize) -> Option<(f64, [f64; 3], Mat3<f64>)> {
        Body::inertia(self, part)
    }
}

impl dyn AnyBody + '_ {
    /// Whether the name of one of its parts matches a pattern in which `*` stands for any text.
    pub(crate) fn has_part(&self, pattern: &str) -> bool {
        (0..self.parts()).filter_map(|part| self.part_name(part)).any(|name| matches(pattern, name))
    }
}

/// The key under which the table of a body holds its markers.
pub const MARKERS: &str = "markers";

/// Whether bodies of a kind take shapes for looking at; those that deform have a shape of their own, which is drawn.
pub fn takes_looks(kind: &str) -> bool {
    ["ground", "particle", "rigid", "tree"].contains(&kind)
}

fn kind_of<B: Body>() -> Kind<dyn AnyBody> {
    let read = |entry: &Entry<'_>| -> Result<Box<dyn AnyBody>, SceneError> {
        let besides: &[&str] = if takes_looks(B::KIND) { &[MARKERS, Look::KEY] } else { &[MARKERS] };
        Ok(Box::new(entry.deserialize_besides::<B>(besides)?))
    };
    Kind::new::<B>(None, read, || Box::new(B::sample()))
}

/// The kinds of bodies that scenes can have, by name.
pub fn kinds() -> Vec<Kind<dyn AnyBody>> {
    vec![
        kind_of::<Affine>(),
        kind_of::<AffinePlane>(),
        kind_of::<Ground>(),
        kind_of::<IsochoricPlane>(),
        kind_of::<Particle>(),
        kind_of::<Rigid>(),
        kind_of::<Tree>(),
    ]
}

/// The family of bodies.
pub enum Bodies {}

impl Family for Bodies {
    type On<S: Scalar> = dyn BodyOn<S>;
}

impl Erased<Bodies> for dyn AnyBody {
    fn real(&self) -> &(dyn BodyOn<f64> + 'static) {
        self
    }
    fn dual(&self) -> &(dyn BodyOn<Dual> + 'static) {
        self
    }
    fn duals(&self) -> &(dyn BodyOn<Duals> + 'static) {
        self
    }
    fn dual2(&self) -> &(dyn BodyOn<Dual2> + 'static) {
        self
    }
    fn lanes(&self) -> &(dyn BodyOn<Lanes4> + 'static) {
        self
    }
    fn trace(&self) -> &(dyn BodyOn<Trace> + 'static) {
        self
    }
}

/// What is wrong with a mass, if anything.
fn mass_defect(mass: f64) -> Option<(&'static str, String)> {
    let expected = if mass.is_finite() { "positive" } else { "finite" };
    (!(mass > 0.0 && mass.is_finite())).then(|| ("mass", format!("a mass must be {expected}, not {mass}")))
}
