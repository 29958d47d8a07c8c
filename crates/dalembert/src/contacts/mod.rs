//! Contacts: surfaces on one marker that points of others cannot pass.
//!
//! An author writes one function, the signed distance of a point from the surface with its normal ([`Surface`]). Gap, slip
//! velocities, their rates and gradients come from it and its jets. With d, n the distance and normal at the
//! centre of a ball of radius ρ (0 for a point), all in the frame of the surface,
//!
//! ```text
//! γ = d − ρ                                        gap
//! c = r_B − ρ n                                    where it touches
//! u_k = t_k·(v_B + ω_B × (c − r_B) − v_A − ω_A × (c − r_A)) − b_k    slip, with b the speed of a belt
//! ```
//!
//! Seen from the surface (A), turned into its frame by Rᵀ, the centre of the ball is at p and moves, and with Ω = Rᵀ(ω_B − ω_A)
//!
//! ```text
//! p = Rᵀd,  ṗ = Rᵀu,  p̈ = Rᵀ(a_B − a_A − α_A × d − 2 ω_A × u − ω_A × (ω_A × d)),    d = r_B − r_A,  u = v_B − v_A − ω_A × d
//! Ω̇ = Rᵀ(α_B − α_A − ω_A × (ω_B − ω_A)),                                            u_k = t_k·(ṗ − ρ Ω × n) − b_k
//! ```
//!
//! A contact with `suction` is a sucker: while it is closed the surface pulls the point with A(t) ≥ 0 along −n, at the place
//! where they touch.
//!
//! A surface with a `hollow` lets a point pass while it is near to another one of the same entry that bears: as if each stood on a stone of its own. So a
//! stiff leg swings past the other.
//!
//! One entry of a scene makes a contact of its first marker with each of the others. How contacts close, open, stick and
//! slide is decided by [`dalembert_methods::nonsmooth`].

mod friction;
mod height_field;
mod plane;
mod round;

pub use friction::{CoefficientPoints, CoefficientTable, Friction, FrictionCurve};
pub use height_field::{Height, HeightField};
pub use plane::Plane;
pub use round::{Cylinder, Sphere};

use crate::element::{About, Describe, Kind, read_attached};
use crate::joints::primitives::along;
use crate::model::{Acceleration, Frame, Instant, Markers, Need, Place, Point, Wrench};
use crate::signals::SignalRef;
use dalembert_methods::scalar::{Dual, Dual2, Duals, Erased, Family, Lanes4, Scalar};
use dalembert_methods::trace::Trace;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Jet, Real};

/// The largest number of rows of a contact: the gap and two slips.
pub const CONTACT_ROWS: usize = 3;

/// The markers of a contact: the surface, and the points that touch it.
pub type Touching = (Frame, Vec<Point>);

impl Markers for Touching {
    const NEED: Need = Need { key: "between", count: None, oriented: 1, affine: false };
    fn indices(&self) -> Vec<usize> {
        std::iter::once(self.0.0).chain(self.1.iter().map(|m| m.0)).collect()
    }
}

impl Markers for (Point, Vec<Point>) {
    const NEED: Need = Need { key: "between", count: None, oriented: 0, affine: false };
    fn indices(&self) -> Vec<usize> {
        std::iter::once(self.0.0).chain(self.1.iter().map(|m| m.0)).collect()
    }
}

/// What all kinds of contacts have in common.
#[derive(Copy, Clone, Debug)]
pub struct Touch<'a> {
    /// Radius of the balls around the points, in m.
    pub radius: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Dry friction.
    pub friction: &'a Friction,
    /// Suction in N.
    pub suction: &'a SignalRef,
    /// Radius of the hollow around points that bear on the surface, in m; 0 for none.
    pub hollow: f64,
}

impl Touch<'_> {
    /// The suction at a time, in N; nothing if there never is any.
    pub fn suction_at<R: Real>(&self, t: R) -> Option<R> {
        if is_no_suction(self.suction) {
            return None;
        }
        let suction = self.suction.at(t);
        Some(R::select(suction.lt(R::zero()), R::zero(), suction))
    }
}

/// The suction of a contact that is no sucker.
fn no_suction() -> SignalRef {
    SignalRef::Number(0.0)
}

fn is_no_suction(suction: &SignalRef) -> bool {
    *suction == SignalRef::Number(0.0)
}

/// What is wrong with it, if anything.
fn touch_defect(touch: &Touch<'_>) -> Option<(&'static str, String)> {
    if !(touch.radius >= 0.0 && touch.radius.is_finite()) {
        return Some(("radius", format!("a radius must not be negative, found {}", touch.radius)));
    }
    if !(0.0..=1.0).contains(&touch.restitution) {
        let message = format!("a coefficient of restitution lies between 0 and 1, found {}", touch.restitution);
        return Some(("restitution", message));
    }
    if !(touch.hollow >= 0.0 && touch.hollow.is_finite()) {
        return Some(("hollow", format!("a radius must not be negative, found {}", touch.hollow)));
    }
    if let SignalRef::Number(suction) = touch.suction
        && !(*suction >= 0.0 && suction.is_finite())
    {
        return Some(("suction", format!("a suction must not be negative, found {suction}")));
    }
    touch.friction.defect()
}

/// A kind of surface that points cannot pass.
pub trait Surface: About {
    /// What it is attached to: the surface, and the points that touch it.
    type Markers: Markers;
    /// The signed distance of a point from the surface and the unit normal there, both in the frame of the surface.
    fn distance<R: Real>(&self, t: R, at: Vec3<R>) -> (R, Vec3<R>);
    /// The speed of the surface along its first tangent, in m/s.
    fn belt<R: Real>(&self, _t: R) -> R {
        R::zero()
    }
    /// What it has in common with other kinds.
    fn touch(&self) -> Touch<'_>;
    /// The signals it uses, to be resolved by name.
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        Vec::new()
    }
    /// What is wrong with its data, if anything: the key, and what was expected.
    fn defect(&self) -> Option<(&'static str, String)>;
}

/// Where the point is in the frame of the surface.
fn local<R: Real>(at: &[Place<R>]) -> Vec3<R> {
    at[0].rotation.transpose_mul(at[1].r - at[0].r)
}

/// The motion of a point as it is seen from the surface, in its frame.
struct Seen<R> {
    /// Position p, in m, and velocity ṗ, in m/s.
    place: Vec3<R>,
    velocity: Vec3<R>,
    /// Angular velocity Ω, in rad/s.
    turning: Vec3<R>,
}

impl<R: Real> Seen<R> {
    fn new(at: &[Place<R>]) -> Self {
        let (apart, frame) = (at[1].r - at[0].r, &at[0].rotation);
        let moving = at[1].v - at[0].v - at[0].omega.cross(apart);
        Self {
            place: frame.transpose_mul(apart),
            velocity: frame.transpose_mul(moving),
            turning: frame.transpose_mul(at[1].omega - at[0].omega),
        }
    }

    /// The same as a function of time, with p̈ and Ω̇ from the accelerations.
    fn in_time(self, at: &[Place<R>], accelerations: &[Acceleration<R>]) -> Seen<Jet<R, 1>> {
        let (frame, omega, apart) = (&at[0].rotation, at[0].omega, at[1].r - at[0].r);
        let spun = omega.cross(apart);
        let moving = at[1].v - at[0].v - spun;
        let [surface, point] = [&accelerations[0], &accelerations[1]];
        let bent = point.a - surface.a - surface.alpha.cross(apart) - omega.cross(moving * R::from(2.0) + spun);
        let spinning = point.alpha - surface.alpha - omega.cross(at[1].omega - omega);
        Seen {
            place: pair(self.place, self.velocity),
            velocity: pair(self.velocity, frame.transpose_mul(bent)),
            turning: pair(self.turning, frame.transpose_mul(spinning)),
        }
    }
}

/// Vectors with their derivatives.
fn pair<R: Real>(value: Vec3<R>, rate: Vec3<R>) -> Vec3<Jet<R, 1>> {
    Vec3(std::array::from_fn(|k| Jet { re: value[k], eps: [rate[k]] }))
}

/// The slip velocities, as many as there are tangents with friction.
fn slip<R: Real, C: Surface>(surface: &C, t: R, seen: &Seen<R>, out: &mut [R]) {
    let touch = surface.touch();
    let (_, normal) = surface.distance(t, seen.place);
    let mut velocity = seen.velocity;
    if touch.radius > 0.0 {
        velocity -= seen.turning.cross(normal) * R::from(touch.radius);
    }
    let (first, second) = tangents(touch.friction, normal);
    for (out, tangent) in out.iter_mut().zip([first, second]) {
        *out = tangent.dot(velocity);
    }
    if let Some(first) = out.first_mut() {
        *first -= surface.belt(t);
    }
}

/// The gradients of the slips: for both tangents a unit force along it on the point, where it touches, and the opposite one on the surface. The normal is in the frame of the
/// surface. Slips are the powers of these forces, less the speed of the belt, which the laws of contacts check.
fn grips<R: Real>(touch: Touch<'_>, normal: Vec3<R>, at: &[Place<R>]) -> [[Wrench<R>; 2]; 2] {
    // From the centre of the ball to where it touches.
    let arm = at[0].rotation * normal * R::from(-touch.radius);
    let from_surface = at[1].r + arm - at[0].r;
    let (first, second) = tangents(touch.friction, normal);
    [first, second].map(|tangent| {
        let force = at[0].rotation * tangent;
        let (here, there) = (arm.cross(force), from_surface.cross(force));
        [Wrench { force: -force, torque: -there }, Wrench { force, torque: here }]
    })
}

/// The gradient of the gap with respect to the motion of the surface (0) or the point (1): by the chain rule through the place of the point in the frame of the surface.
fn push<S: Scalar, C: Surface>(surface: &C, t: S, at: &[Place<S>], marker: usize) -> Wrench<S> {
    let place = local(at);
    let slope = |k: usize| {
        let varied = Vec3(std::array::from_fn(|j| Jet { re: place[j], eps: [S::from(f64::from(u8::from(j == k)))] }));
        surface.distance(Jet::constant(t), varied).0.eps[0]
    };
    let force = at[0].rotation * Vec3(std::array::from_fn(slope));
    if marker == 1 {
        return Wrench::force(force);
    }
    Wrench { force: -force, torque: -(at[1].r - at[0].r).cross(force) }
}

/// Two tangents: the first as near as possible to the direction asked for, the second a right angle from it about the normal.
fn tangents<R: Real>(friction: &Friction, normal: Vec3<R>) -> (Vec3<R>, Vec3<R>) {
    let (asked, spare) = match &friction.along {
        Some(axis) => (axis.unit(), axis.across()[0]),
        None => (Vec3([1.0, 0.0, 0.0]), Vec3([0.0, 1.0, 0.0])),
    };
    // Where the direction asked for is nearly normal to the surface another one stands in for it.
    let share = along(normal, asked);
    let steep = R::from(0.95).lt(share.abs());
    let wanted = Vec3(std::array::from_fn(|k| R::select(steep, R::from(spare[k]), R::from(asked[k]))));
    let across = normal.cross(wanted).normalized();
    (across.cross(normal), across)
}

/// A contact with the scalar fixed, so that it can be an object. `at` holds the surface and one point.
pub trait ContactOn<S: Scalar> {
    /// The gap in m.
    fn gap(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S;
    /// The rate of the gap and the slips, in m/s.
    fn rate(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]);
    /// Their time derivatives at v̇ = 0, in m/s².
    fn bias(&self, now: &Instant<'_, S>, at: &[Place<S>], accelerations: &[Acceleration<S>], out: &mut [S]);
    /// Their gradients with respect to the motion of the surface (0) or the point (1).
    fn gradient(&self, now: &Instant<'_, S>, at: &[Place<S>], marker: usize, out: &mut [Wrench<S>]);
    /// The normal and the tangents in the world frame, for records.
    fn directions(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> [Vec3<S>; 3];
}

impl<S: Scalar, C: Surface> ContactOn<S> for C {
    fn gap(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> S {
        self.distance(now.t, local(at)).0 - self.touch().radius
    }
    fn rate(&self, now: &Instant<'_, S>, at: &[Place<S>], out: &mut [S]) {
        let (normal, slips) = out.split_at_mut(1);
        let seen = Seen::new(at);
        normal[0] = self.distance(Jet::variable(now.t, 0), pair(seen.place, seen.velocity)).0.eps[0];
        if !slips.is_empty() {
            slip(self, now.t, &seen, slips);
        }
    }
    fn bias(&self, now: &Instant<'_, S>, at: &[Place<S>], accelerations: &[Acceleration<S>], out: &mut [S]) {
        let (normal, slips) = out.split_at_mut(1);
        let seen = Seen::new(at).in_time(at, accelerations);
        // The gap with its first and second derivative in time.
        let t = Jet::variable(now.t, 0);
        let twice = pair(seen.place, seen.velocity);
        normal[0] = self.distance(Jet::new(t, Jet::constant(S::one())), twice).0.eps[0].eps[0];
        if !slips.is_empty() {
            let mut rates = [Jet::default(); CONTACT_ROWS - 1];
            let rates = &mut rates[..slips.len()];
            slip(self, t, &seen, rates);
            slips.iter_mut().zip(rates).for_each(|(slip, rate)| *slip = rate.eps[0]);
        }
    }
    fn gradient(&self, now: &Instant<'_, S>, at: &[Place<S>], marker: usize, out: &mut [Wrench<S>]) {
        let (normal, slips) = out.split_at_mut(1);
        normal[0] = push(self, now.t, at, marker);
        if !slips.is_empty() {
            let (_, normal) = self.distance(now.t, local(at));
            let forces = grips(self.touch(), normal, at);
            slips.iter_mut().zip(&forces).for_each(|(slip, force)| *slip = force[marker]);
        }
    }
    fn directions(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> [Vec3<S>; 3] {
        let (_, normal) = self.distance(now.t, local(at));
        let (first, second) = tangents(self.touch().friction, normal);
        [normal, first, second].map(|direction| at[0].rotation * direction)
    }
}

/// A contact of any kind.
pub trait AnyContact:
    ContactOn<f64>
    + ContactOn<Dual>
    + ContactOn<Duals>
    + ContactOn<Dual2>
    + ContactOn<Lanes4>
    + ContactOn<Trace>
    + Describe
    + Send
    + Sync
{
    /// What markers it asks for.
    fn need(&self) -> Need;
    /// Radius, restitution and friction.
    fn touch(&self) -> Touch<'_>;
    /// The signals it uses.
    fn signals(&mut self) -> Vec<&mut SignalRef>;
    /// What is wrong with its data.
    fn defect(&self) -> Option<(&'static str, String)>;
}

impl<C: Surface> AnyContact for C {
    fn need(&self) -> Need {
        C::Markers::NEED
    }
    fn touch(&self) -> Touch<'_> {
        Surface::touch(self)
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        Surface::signals(self)
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        Surface::defect(self)
    }
}

fn kind_of<C: Surface>() -> Kind<dyn AnyContact> {
    Kind::new::<C>(
        Some(C::Markers::NEED),
        |entry| Ok(Box::new(read_attached::<C, C::Markers>(entry)?)),
        || Box::new(C::sample()),
    )
}

/// The kinds of contacts, by name.
pub fn kinds() -> Vec<Kind<dyn AnyContact>> {
    vec![kind_of::<Cylinder>(), kind_of::<HeightField>(), kind_of::<Plane>(), kind_of::<Sphere>()]
}

/// The family of contacts.
pub enum Surfaces {}

impl Family for Surfaces {
    type On<S: Scalar> = dyn ContactOn<S>;
}

impl Erased<Surfaces> for dyn AnyContact {
    fn real(&self) -> &(dyn ContactOn<f64> + 'static) {
        self
    }
    fn dual(&self) -> &(dyn ContactOn<Dual> + 'static) {
        self
    }
    fn duals(&self) -> &(dyn ContactOn<Duals> + 'static) {
        self
    }
    fn dual2(&self) -> &(dyn ContactOn<Dual2> + 'static) {
        self
    }
    fn lanes(&self) -> &(dyn ContactOn<Lanes4> + 'static) {
        self
    }
    fn trace(&self) -> &(dyn ContactOn<Trace> + 'static) {
        self
    }
}
