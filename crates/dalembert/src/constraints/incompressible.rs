//! Incompressibility of a homogeneously deforming body: det ∇p = det G (\[1\], sec. 3).
//!
//! The residual is vol (det G − det ∇p) in m³, so that in M v̇ = f − Gᵀλ the multiplier is the pressure π of (26) in Pa, positive if
//! it pushes outwards. Gradients are the columns of the cofactor matrix of ∇p.
//!
//! Reference: \[1\] Tatone, Di Egidio, Contento: Dynamics of a soft contractile body on a hard support.

use super::{Constraint, Quantity, Scratch};
use crate::element::About;
use crate::materials::{Contraction, cofactor, gradient_of};
use crate::model::{Acceleration, AffineFrame, Instant, Place, Wrench};
use crate::signals::SignalRef;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real, Scalar};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keeps the volume of a homogeneous deformation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incompressible {
    /// Volume of the reference shape.
    #[schemars(extend("unit" = "m³"))]
    pub volume: f64,
    /// The prescribed relaxed shape, if it changes its volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contraction: Option<Contraction>,
}

impl About for Incompressible {
    const KIND: &'static str = "incompressible";
    const SUMMARY: &'static str =
        "Keeps the volume of a body that deforms homogeneously; its multiplier is the pressure.";
    const REFERENCES: &'static [&'static str] =
        &["Tatone, Di Egidio, Contento, Dynamics of a soft contractile body on a hard support, eq. (26)"];

    fn sample() -> Self {
        Self { volume: 0.7, contraction: None }
    }
}

impl Incompressible {
    #[inline(always)]
    fn relaxed<R: Real>(&self, t: R) -> R {
        let relaxed = self.contraction.as_ref().and_then(|law| law.prescribed(t));
        relaxed.map_or(R::one(), Mat3::determinant)
    }
}

impl Constraint for Incompressible {
    type Markers = AffineFrame;

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Volume]
    }
    #[inline(always)]
    fn residual<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = (self.relaxed(now.t) - gradient_of(at).determinant()) * self.volume;
    }
    fn rate<S: Scalar>(&self, now: &Instant<'_, S>, at: &[Place<S>], _scratch: &mut Scratch<S>, out: &mut [S]) {
        let moving = |i: usize, j: usize| Jet::<S, 1>::new(at[j + 1].r[i] - at[0].r[i], at[j + 1].v[i] - at[0].v[i]);
        let volume = Mat3(std::array::from_fn(|i| std::array::from_fn(|j| moving(i, j)))).determinant();
        out[0] = (self.relaxed(Jet::new(now.t, S::one())) - volume).eps[0] * self.volume;
    }
    fn bias<S: Scalar>(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        accelerations: &[Acceleration<S>],
        _scratch: &mut Scratch<S>,
        out: &mut [S],
    ) {
        let moving = |i: usize, j: usize| {
            let (r, v) = (at[j + 1].r[i] - at[0].r[i], at[j + 1].v[i] - at[0].v[i]);
            let a = accelerations[j + 1].a[i] - accelerations[0].a[i];
            Jet::new(Jet::<S, 1>::new(r, v), Jet::<S, 1>::new(v, a))
        };
        let volume = Mat3(std::array::from_fn(|i| std::array::from_fn(|j| moving(i, j)))).determinant();
        let t = Jet::new(Jet::<S, 1>::new(now.t, S::one()), Jet::constant(S::one()));
        out[0] = (self.relaxed(t) - volume).eps[0].eps[0] * self.volume;
    }
    fn gradient<S: Scalar>(
        &self,
        _now: &Instant<'_, S>,
        at: &[Place<S>],
        marker: usize,
        _scratch: &mut Scratch<S>,
        out: &mut [Wrench<S>],
    ) {
        let (cofactor, _) = cofactor(&gradient_of(at));
        let force = match marker {
            0 => (0..3).fold(Vec3::zero(), |sum, j| sum + cofactor.column(j)),
            _ => -cofactor.column(marker - 1),
        };
        out[0] = Wrench::force(force * S::from(self.volume));
    }
    fn rheonomic(&self) -> bool {
        self.contraction.as_ref().is_some_and(|law| !law.is_isochoric())
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.contraction.as_mut().map_or_else(Vec::new, Contraction::signals)
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        vec![("volume", "m³")]
    }
    fn coordinate<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = gradient_of(at).determinant() * self.volume;
    }
    fn multipliers(&self) -> Vec<(&'static str, &'static str)> {
        vec![("pressure", "Pa")]
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        if !(self.volume > 0.0 && self.volume.is_finite()) {
            return Some(("volume", format!("a volume must be positive and finite, found {} m³", self.volume)));
        }
        let law = self.contraction.as_ref()?;
        if matches!(law, Contraction::Driven(_)) {
            let message =
                "only a prescribed relaxed shape sets the volume; leave a driven one out if it keeps its volume";
            return Some(("contraction", message.to_owned()));
        }
        Some(("contraction", law.defect()?))
    }
    fn defect_at(&self, now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        let volume = gradient_of(at).determinant();
        if !(volume > 0.0 && volume.is_finite()) {
            return Some(("on", format!("the body is turned inside out: the determinant of its gradient is {volume}")));
        }
        Some(("contraction", self.contraction.as_ref()?.defect_at(now.t)?))
    }
}
