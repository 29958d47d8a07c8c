//! Contact as fields of short-range forces between the boundary of a body and a plane support (\[1\], sec. 4 and 5).
//!
//! With d the distance of a boundary point from the support, n the normal of the support and w the velocity relative to it, the traction per
//! unit of reference area is
//!
//! ```text
//! q = α d^−ν n                          repulsion   (34), with the potential α d^(1−ν)/(ν−1)  (33)
//!   + (β_r d^−ν_r − β_a d^−ν_a) n       adhesion    (38)
//!   − β d^−ν (n⊗n) w                    damping     (35)
//!   − β d^−ν (1 − n⊗n) w                friction    (36)
//!   − α d^−ν μ(|w_t|) w_t/|w_t|         Coulomb     (37), regularised
//! ```
//!
//! d = h + a·X and w = w₀ + W X are affine in the material point X, so that force ∫q, moment tensor ∫q⊗X, potential and dissipation of all
//! laws but the last are linear in the moments m₀, m₁, m₂ of d^−ν, which shapes give in closed form ([`crate::shapes`]). Coulomb's law is
//! integrated adaptively. The body never touches: where any distance is not positive there is no force but NaN, so that
//! integrators reject the step. Each dissipation is not negative (32), which runs check at every step.
//!
//! A strength κ(t) multiplies all tractions; the account then supplies κ̇ times the potential at unit strength. A field that weakens as
//! κ = ρ₀/ρ(t) moves a body as a density that grows would, ρ(t) p̈ = ρ(t) g + f ⇔ ρ₀ p̈ = ρ₀ g + κ f, which is how \[1\] breaks a bond.
//!
//! The support is a plane in a marker frame, on any body that has an orientation, moving or not; it takes the reactions.
//!
//! Reference: \[1\] Tatone, Di Egidio, Contento: Dynamics of a soft contractile body on a hard support.

mod laws;

pub use laws::{Adhesion, Coulomb, Repulsion, Resistance, Strength};

use super::Force;
use crate::element::About;
use crate::materials::{contract, gradient_of, rate_of, spread_force};
use crate::model::{AffineFrame, Frame, Instant, Place, Wrench};
use crate::shapes::{Ball, Form, Moments, Shape};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real};
use laws::{Term, Terms, defect_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fields of short-range contact forces between a body and a plane support.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Given", into = "Given")]
#[schemars(with = "Given")]
pub struct ContactField {
    given: Given,
    terms: Terms,
}

/// Fields of short-range contact forces between a body and a plane support.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// Reference shape whose boundary feels the support, in the frame of the body.
    pub shape: Shape,
    /// Outer normal of the support, in the frame of its marker.
    #[serde(default = "up")]
    pub normal: [f64; 3],
    /// Distance of the support from its marker along the normal.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub offset: f64,
    /// Factor of all tractions, not negative: a number or the name of a signal.
    #[schemars(extend("unit" = "1"))]
    #[serde(default = "full")]
    pub strength: SignalRef,
    /// Repulsion along the normal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repulsion: Option<Repulsion>,
    /// Damping of the normal velocity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<Resistance>,
    /// Viscous friction against the tangential velocity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<Resistance>,
    /// Regularised Coulomb friction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coulomb: Option<Coulomb>,
    /// Adhesion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adhesion: Option<Adhesion>,
}

fn up() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

fn full() -> SignalRef {
    1.0.into()
}

impl Given {
    /// No laws yet, on a support with the normal z.
    pub fn new(shape: Shape) -> Self {
        let (repulsion, damping, friction, coulomb, adhesion) = (None, None, None, None, None);
        Self { shape, normal: up(), offset: 0.0, strength: full(), repulsion, damping, friction, coulomb, adhesion }
    }
}

impl From<Given> for ContactField {
    fn from(given: Given) -> Self {
        let terms = Terms::new(
            &given.shape,
            given.repulsion.as_ref(),
            given.damping.as_ref(),
            given.friction.as_ref(),
            given.coulomb.as_ref(),
            given.adhesion.as_ref(),
        );
        Self { given, terms }
    }
}

impl From<ContactField> for Given {
    fn from(field: ContactField) -> Self {
        field.given
    }
}

impl About for ContactField {
    const KIND: &'static str = "contact_field";
    const SUMMARY: &'static str =
        "Short-range fields between a body and a plane support: repulsion, damping, friction, adhesion.";
    const REFERENCES: &'static [&'static str] =
        &["Tatone, Di Egidio, Contento, Dynamics of a soft contractile body on a hard support, eq. (27)–(38)"];

    fn sample() -> Self {
        let shape = Shape::try_from(Form::Sphere(Ball { radius: 0.5 })).expect("a sphere of positive radius");
        let resist =
            |traction: f64, power: usize| Resistance { coefficient: Strength::Traction { traction, at: 10.0 }, power };
        let fading = Harmonic { amplitude: 0.3, frequency: Some(0.2), phase: 0.4, offset: 1.0, ..Harmonic::default() };
        // Far enough that random places are outside.
        Self::from(Given {
            strength: SignalRef::new("fading", Signal::Harmonic(fading)),
            normal: [0.2, -0.1, 1.0],
            offset: -14.0,
            repulsion: Some(Repulsion { coefficient: Strength::Traction { traction: 1.5, at: 10.0 }, power: 8 }),
            damping: Some(resist(0.8, 4)),
            friction: Some(resist(0.6, 6)),
            adhesion: Some(Adhesion {
                attraction: Strength::Relative { relative: 0.01 },
                power: 6,
                repulsion: Strength::Relative { relative: 0.3 },
                repulsion_power: None,
            }),
            ..Given::new(shape)
        })
    }
}

/// How the body lies and moves against the support.
struct Meeting<R> {
    normal: Vec3<R>,
    /// d = h + a·X.
    h: R,
    a: Vec3<R>,
    /// w = w₀ + W X.
    velocity: Vec3<R>,
    rate: Mat3<R>,
    gradient: Mat3<R>,
    /// From the support's marker to the origin of the body.
    arm: Vec3<R>,
}

impl<R: Real> Meeting<R> {
    fn new(field: &Given, at: &[Place<R>]) -> Self {
        let (support, body) = (&at[0], &at[1..]);
        let normal = support.axis(Vec3(field.normal).normalized().0);
        let (gradient, rate) = (gradient_of(body), rate_of(body));
        let arm = body[0].r - support.r;
        Self {
            normal,
            h: normal.dot(arm) - field.offset,
            a: gradient.transpose_mul(normal),
            velocity: body[0].v - support.v - support.omega.cross(arm),
            rate: rate + Mat3::skew(support.omega) * gradient * -R::one(),
            gradient,
            arm,
        }
    }

    /// The parts of w along the normal: c + b·X.
    #[inline(always)]
    fn normal_rate(&self) -> (R, Vec3<R>) {
        (self.normal.dot(self.velocity), self.rate.transpose_mul(self.normal))
    }

    /// The tangential part of a vector.
    #[inline(always)]
    fn tangential(&self, a: Vec3<R>) -> Vec3<R> {
        a - self.normal * self.normal.dot(a)
    }

    /// The tangential part of the columns of a matrix.
    #[inline(always)]
    fn tangential_columns(&self, a: &Mat3<R>) -> Mat3<R> {
        let along = a.transpose_mul(self.normal);
        *a + outer(self.normal, along) * -R::one()
    }

    fn moments(&self, shape: &Shape, power: usize) -> Moments<R> {
        shape.moments(power, self.h, self.a)
    }
}

/// x ⊗ y.
#[inline(always)]
fn outer<R: Real>(x: Vec3<R>, y: Vec3<R>) -> Mat3<R> {
    let [a, b, c] = x.0;
    Mat3([(y * a).0, (y * b).0, (y * c).0])
}

/// A force ∫q and a moment tensor ∫q⊗X on the body.
struct Load<R> {
    force: Vec3<R>,
    moment: Mat3<R>,
}

impl<R: Real> Load<R> {
    #[inline(always)]
    fn zero() -> Self {
        Self { force: Vec3::zero(), moment: Mat3::zero() }
    }
    #[inline(always)]
    fn add(&mut self, force: Vec3<R>, moment: Mat3<R>) {
        self.force += force;
        self.moment = self.moment + moment;
    }
    #[inline(always)]
    fn times(self, by: R) -> Self {
        Self { force: self.force * by, moment: self.moment * by }
    }
}

impl ContactField {
    /// The laws as they were given.
    pub fn given(&self) -> &Given {
        &self.given
    }

    /// Coefficient and power of every law with a potential, attraction negative.
    pub fn potential_terms(&self) -> Vec<(f64, usize)> {
        self.terms.potential.iter().map(|term| (term.coefficient, term.power)).collect()
    }

    /// κ(t).
    #[inline(always)]
    fn strength<R: Real>(&self, now: &Instant<'_, R>) -> R {
        self.given.strength.at(now.t)
    }

    /// The load at unit strength, and the dissipation by damping, friction and Coulomb's law, for those laws that are there.
    fn load<R: Real>(&self, m: &Meeting<R>) -> (Load<R>, [Option<R>; 3]) {
        let (shape, terms) = (&self.given.shape, &self.terms);
        let mut load = Load::zero();
        for term in &terms.potential {
            let moments = m.moments(shape, term.power);
            let push = m.normal * R::from(term.coefficient);
            load.add(push * moments.zeroth, outer(push, moments.first));
        }
        let damping = terms.damping.map(|Term { coefficient, power }| {
            let moments = m.moments(shape, power);
            let (c, b) = m.normal_rate();
            let push = m.normal * R::from(-coefficient);
            let along = moments.matrix() * b;
            load.add(push * (moments.zeroth * c + moments.first.dot(b)), outer(push, moments.first * c + along));
            (moments.zeroth * c * c + moments.first.dot(b) * c * 2.0 + b.dot(along)) * coefficient
        });
        let friction = terms.friction.map(|Term { coefficient, power }| {
            let moments = m.moments(shape, power);
            let (velocity, rate) = (m.tangential(m.velocity), m.tangential_columns(&m.rate));
            let (slope, bent) = (rate * moments.first, rate * moments.matrix());
            let scale = R::from(-coefficient);
            load.add((velocity * moments.zeroth + slope) * scale, (outer(velocity, moments.first) + bent) * scale);
            let plain = moments.zeroth * velocity.norm_squared();
            (plain + velocity.dot(slope) * 2.0 + contract(&rate, &bent)) * coefficient
        });
        let coulomb = terms.coulomb.is_some().then(|| {
            let (rubbing, heat) = self.rub(m);
            load.add(rubbing.force, rubbing.moment);
            heat
        });
        (load, [damping, friction, coulomb])
    }

    /// Load and dissipation of Coulomb's law at unit strength.
    fn rub<R: Real>(&self, m: &Meeting<R>) -> (Load<R>, R) {
        let Some((Term { coefficient, power }, law)) = &self.terms.coulomb else { return (Load::zero(), R::zero()) };
        let size = self.given.shape.size();
        let peak = law.static_friction.unwrap_or(0.0).max(law.friction).max(f64::MIN_POSITIVE);
        let values = self.given.shape.integrate(m.h, m.a, &|x: Vec3<R>, d: R| {
            let weight = d.powi(-(*power as i32));
            let slip = m.tangential(m.velocity + m.rate * x);
            let square = slip.norm_squared();
            let extra = law.static_friction.map_or(0.0, |top| top - law.friction);
            let fading = (-square / (law.static_speed * law.static_speed)).exp() * extra;
            let over = (square + law.regular_speed * law.regular_speed).sqrt().recip();
            let pull = slip * (-(weight * (fading + law.friction) * over) / peak);
            let mut out = [R::zero(); 14];
            out[0] = weight;
            for i in 0..3 {
                out[1 + i] = pull[i];
                for j in 0..3 {
                    out[4 + 3 * i + j] = pull[i] * x[j] / size;
                }
            }
            // The heat, in units of the largest force times a speed at which friction is fully there.
            let speed = R::from(law.regular_speed).max(m.velocity.norm_squared().sqrt() * 0.5);
            out[13] = -pull.dot(slip) / speed;
            out
        });
        let scale = R::from(coefficient * peak);
        let speed = R::from(law.regular_speed).max(m.velocity.norm_squared().sqrt() * 0.5);
        let moment = Mat3(std::array::from_fn(|i| std::array::from_fn(|j| values[4 + 3 * i + j] * size)));
        let load = Load { force: Vec3([values[1], values[2], values[3]]) * scale, moment: moment * scale };
        (load, values[13] * speed * scale)
    }

    /// Writes the wrenches of a load.
    fn push<R: Real>(m: &Meeting<R>, load: &Load<R>, out: &mut [Wrench<R>]) {
        let (first, body) = out.split_at_mut(1);
        spread_force(load.force, load.moment, body);
        let about =
            (0..3).fold(m.arm.cross(load.force), |sum, j| sum + m.gradient.column(j).cross(load.moment.column(j)));
        first[0] = Wrench { force: -load.force, torque: -about };
    }

    /// The power that a changing strength supplies.
    fn quickened<R: Real>(&self, now: &Instant<'_, R>, m: &Meeting<R>) -> R {
        if matches!(self.given.strength, SignalRef::Number(_)) {
            return R::zero();
        }
        self.potential(m) * self.given.strength.at(Jet::<R, 1>::variable(now.t, 0)).eps[0]
    }

    /// Potential energy of all fields at unit strength.
    fn potential<R: Real>(&self, m: &Meeting<R>) -> R {
        self.terms.potential.iter().fold(R::zero(), |sum, term| {
            let scale = term.coefficient / (term.power as f64 - 1.0);
            sum + self.given.shape.integral(term.power - 1, m.h, m.a) * scale
        })
    }
}

/// Names of power and heat of the laws that dissipate.
const HEATS: [[&str; 2]; 3] =
    [["power.damping", "heat.damping"], ["power.friction", "heat.friction"], ["power.coulomb", "heat.coulomb"]];

/// Extra states: the heat of each law that dissipates.
impl Force for ContactField {
    type Markers = (Frame, AffineFrame);

    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let m = Meeting::new(&self.given, at);
        Self::push(&m, &self.load(&m).0.times(self.strength(now)), out);
    }
    fn apply_and_account<R: Real>(
        &self,
        now: &Instant<'_, R>,
        at: &[Place<R>],
        out: &mut [Wrench<R>],
        rates: &mut [R],
    ) -> Option<(R, R)> {
        let (m, strength) = (Meeting::new(&self.given, at), self.strength(now));
        let (load, heat) = self.load(&m);
        Self::push(&m, &load.times(strength), out);
        let mut dissipated = R::zero();
        for (rate, power) in rates.iter_mut().zip(heat.into_iter().flatten()) {
            *rate = power * strength;
            dissipated += *rate;
        }
        Some((dissipated, self.quickened(now, &m)))
    }
    fn energy<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.potential(&Meeting::new(&self.given, at)) * self.strength(now)
    }
    fn dissipation<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (_, heat) = self.load(&Meeting::new(&self.given, at));
        heat.into_iter().flatten().fold(R::zero(), |sum, power| sum + power) * self.strength(now)
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.quickened(now, &Meeting::new(&self.given, at))
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.given.strength]
    }
    fn states(&self) -> usize {
        let Terms { damping, friction, coulomb, .. } = &self.terms;
        [damping.is_some(), friction.is_some(), coulomb.is_some()].into_iter().filter(|&there| there).count()
    }
    fn initial(&self, x: &mut [f64]) {
        x.fill(0.0);
    }
    fn rate<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let ((_, heat), strength) = (self.load(&Meeting::new(&self.given, at)), self.strength(now));
        for (out, power) in out.iter_mut().zip(heat.into_iter().flatten()) {
            *out = power * strength;
        }
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        let normal = Vec3(self.given.normal).norm();
        if !(normal > 0.0 && normal.is_finite()) {
            return Some(("normal", "the normal of a support must not be zero".to_owned()));
        }
        let Given { repulsion, adhesion, .. } = &self.given;
        if repulsion.is_none() && adhesion.is_none() && self.states() == 0 {
            return Some(("repulsion", "give at least one law".to_owned()));
        }
        let potential = &self.terms.potential;
        let main = repulsion.as_ref().and_then(|_| defect_of("repulsion", *potential.first()?));
        let sticking = adhesion.as_ref().and_then(|_| {
            let (last, others) = potential.split_last()?;
            let pull = Term { coefficient: -last.coefficient, power: last.power };
            let extra = others.get(usize::from(repulsion.is_some()));
            defect_of("adhesion", pull).or_else(|| defect_of("adhesion", *extra?))
        });
        main.or(sticking)
            .or_else(|| defect_of("damping", self.terms.damping?))
            .or_else(|| defect_of("friction", self.terms.friction?))
            .or_else(|| {
                let (term, law) = self.terms.coulomb.as_ref()?;
                defect_of("coulomb", *term).or_else(|| Some(("coulomb", law.defect()?)))
            })
    }
    fn defect_at(&self, now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        let strength = self.strength(now);
        if !(strength >= 0.0 && strength.is_finite()) {
            return Some(("strength", format!("the strength of a field must not be negative, found {strength}")));
        }
        let m = Meeting::new(&self.given, at);
        if self.given.shape.is_plane() && m.a[1].abs() > 1e-9 * m.a.norm() {
            let message = "a plane shape needs a support that contains its y axis".to_owned();
            return Some(("between", message));
        }
        let nearest = self.given.shape.nearest(m.h, m.a);
        (nearest.is_nan() || nearest <= 0.0).then(|| {
            let message =
                format!("the support is inside the body: its nearest point is at {nearest} m; move one of them");
            ("between", message)
        })
    }
    fn outputs(&self) -> Vec<(&'static str, &'static str)> {
        let mut outputs =
            vec![("distance", "m"), ("force.x", "N"), ("force.y", "N"), ("force.z", "N"), ("potential", "J")];
        if !matches!(self.given.strength, SignalRef::Number(_)) {
            outputs.push(("strength", "1"));
        }
        let Terms { damping, friction, coulomb, .. } = &self.terms;
        let there = [damping.is_some(), friction.is_some(), coulomb.is_some()];
        if self.given.shape.is_plane() {
            outputs.push(("angle", "rad"));
        }
        for ([power, heat], _) in HEATS.into_iter().zip(there).filter(|(_, there)| *there) {
            outputs.extend([(power, "W"), (heat, "J")]);
        }
        outputs
    }
    fn output<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let m = Meeting::new(&self.given, at);
        out[0] = self.given.shape.nearest(m.h, m.a);
        let strength = self.strength(now);
        self.load(&m).0.times(strength).force.write(&mut out[1..]);
        out[4] = self.potential(&m) * strength;
        let mut next = 5;
        if !matches!(self.given.strength, SignalRef::Number(_)) {
            out[next] = strength;
            next += 1;
        }
        if self.given.shape.is_plane() {
            // The rotation of the polar decomposition in the plane, against the support: zero if z of the body is along the normal.
            let [x, y, z] = [0, 1, 2].map(|j| m.gradient.column(j));
            let (up, along) = (m.normal, y.cross(m.normal));
            out[next] = (up.dot(x) - along.dot(z)).atan2(along.dot(x) + up.dot(z));
            next += 1;
        }
        let heats = self.load(&m).1.into_iter().flatten().zip(now.x);
        for (out, (power, &heat)) in out[next..].chunks_exact_mut(2).zip(heats) {
            out.copy_from_slice(&[power * strength, heat]);
        }
    }
}
