//! The material of a homogeneously deforming body: elastic and viscous stress, and contraction (\[1\], sec. 3).
//!
//! Four markers show the deformation gradient ∇p. With the relaxed shape G, F = ∇p G⁻¹, J = det G and V = ĠG⁻¹ the stored energy is
//! U = vol J φ(F), and the stress
//!
//! ```text
//! S = ∂(Jφ)/∂∇p + μ sym(D) ∇p^−T,   D = ḞF⁻¹ = ∇ṗ∇p⁻¹ − F V F⁻¹                                  (22), (23)
//! ```
//!
//! acts on the body as −vol S against ∇ṗ. The couple Q = μ_γ V − FᵀSGᵀ + Jφ 1 (24) is what a prescribed contraction needs, or what
//! drives an evolving one; the energy account is
//!
//! ```text
//! dissipation = vol (μ |sym D|² + μ_γ |V|²) ≥ 0   (21),      supply = vol Q·V.
//! ```
//!
//! In an evolving contraction the viscous stress depends on V too, so that V = Σ y_k A_k solves the positive definite system
//!
//! ```text
//! Σ_l (μ_γ A_k·A_l + μ sym W_k·sym W_l) y_l = A_k·(FᵀS₀Gᵀ − Jφ 1 + Q),   W_k = F A_k F⁻¹,  S₀ = S at V = 0.
//! ```
//!
//! The pressure of an incompressible body is not part of S here: it adds a multiple of the identity to Q, which does no work in an isochoric
//! contraction.
//!
//! Reference: \[1\] Tatone, Di Egidio, Contento: Dynamics of a soft contractile body on a hard support; its text says (12)
//! where (24) is meant.

use super::Force;
use crate::element::About;
use crate::materials::{Contraction, Driven, Material, NeoHookean, Stretch, contract, extreme_stretches, inverse};
use crate::materials::{MOST_MODES, gradient_of, rate_of, spread_force};
use crate::model::{AffineFrame, Instant, Place, Wrench};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use dalembert_methods::vector::{Mat3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Elastic and viscous stress of a homogeneous deformation, with contraction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Elastic {
    /// Volume of the reference shape.
    #[schemars(extend("unit" = "m³"))]
    pub volume: f64,
    /// The energy density, for instance `{ neo_hookean = { modulus = 6e4 } }`.
    pub material: Material,
    /// Bulk modulus of a compressible body; without it the body should be incompressible.
    #[schemars(extend("unit" = "Pa"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bulk: Option<f64>,
    /// Viscosity μ, not negative.
    #[schemars(extend("unit" = "Pa s"))]
    #[serde(default)]
    pub viscosity: f64,
    /// How the relaxed shape changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contraction: Option<Contraction>,
    /// Resistance μ_γ to a prescribed contraction, not negative; a driven one has its own.
    #[schemars(extend("unit" = "Pa s"))]
    #[serde(default)]
    pub resistance: f64,
}

impl About for Elastic {
    const KIND: &'static str = "elastic";
    const SUMMARY: &'static str = "Elastic and viscous stress of a body that deforms homogeneously, with contraction.";
    const REFERENCES: &'static [&'static str] =
        &["Tatone, Di Egidio, Contento, Dynamics of a soft contractile body on a hard support, eq. (16)–(26)"];

    fn sample() -> Self {
        let pulse = Harmonic { amplitude: 0.2, frequency: Some(0.4), phase: 0.3, offset: 1.1, ..Harmonic::default() };
        let turn = Harmonic { amplitude: 0.9, frequency: Some(0.3), phase: 0.1, ..Harmonic::default() };
        Self {
            volume: 0.7,
            material: Material::NeoHookean(NeoHookean { modulus: 3.0 }),
            bulk: None,
            viscosity: 0.4,
            contraction: Some(Contraction::Stretch(Stretch {
                stretch: SignalRef::new("pulse", Signal::Harmonic(pulse)),
                axis: [0.3.into(), 0.1.into(), 1.0.into()],
                normal: Some([0.1, 1.0, 0.2]),
                angle: SignalRef::new("turn", Signal::Harmonic(turn)),
            })),
            resistance: 0.3,
        }
    }
}

/// Everything that energy, wrenches and accounts are made of, per unit of reference volume.
struct Stress<R> {
    /// G, V, and F.
    relaxed: Mat3<R>,
    contracting: Mat3<R>,
    elastic: Mat3<R>,
    /// Jφ.
    energy: R,
    /// S.
    stress: Mat3<R>,
    /// sym D.
    stretching: Mat3<R>,
}

#[inline(always)]
fn symmetric<R: Real>(a: &Mat3<R>) -> Mat3<R> {
    (*a + a.transposed()) * R::from(0.5)
}

impl Elastic {
    /// An elastic body without viscosity and contraction.
    pub fn new(volume: f64, material: Material) -> Self {
        Self { volume, material, bulk: None, viscosity: 0.0, contraction: None, resistance: 0.0 }
    }

    fn driven(&self) -> Option<&Driven> {
        match &self.contraction {
            Some(Contraction::Driven(driven)) => Some(driven),
            _ => None,
        }
    }

    /// μ_γ.
    fn resistance(&self) -> f64 {
        self.driven().map_or(self.resistance, |driven| driven.resistance)
    }

    fn state<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> Stress<R> {
        let (gradient, rate) = (gradient_of(at), rate_of(at));
        let still = Mat3::zero();
        let (relaxed, changing) = match &self.contraction {
            None => {
                let (energy, stress) = self.material.stress(&gradient, self.bulk);
                return self.with_viscosity(Mat3::identity(), still, gradient, energy, stress, &gradient, &rate);
            }
            Some(Contraction::Driven(_)) => {
                (Mat3(std::array::from_fn(|i| std::array::from_fn(|j| now.x[3 * i + j]))), None)
            }
            Some(law) => {
                let (relaxed, changing) = law.prescribed_rate(now.t).unwrap_or((Mat3::identity(), still));
                (relaxed, Some(changing))
            }
        };
        let back = inverse(&relaxed);
        let elastic = gradient * back;
        let (density, piola) = self.material.stress(&elastic, self.bulk);
        let swelling = relaxed.determinant();
        let swelling = R::select(R::zero().lt(swelling), swelling, R::from(f64::NAN));
        let (energy, stress) = (density * swelling, piola * back.transposed() * swelling);
        match changing {
            Some(changing) => self.with_viscosity(relaxed, changing * back, elastic, energy, stress, &gradient, &rate),
            None => {
                let without = self.with_viscosity(relaxed, still, elastic, energy, stress, &gradient, &rate);
                let contracting = self.driven().map_or(still, |driven| self.evolve(driven, now, &without));
                self.with_viscosity(relaxed, contracting, elastic, energy, stress, &gradient, &rate)
            }
        }
    }

    fn with_viscosity<R: Real>(
        &self,
        relaxed: Mat3<R>,
        contracting: Mat3<R>,
        elastic: Mat3<R>,
        energy: R,
        stress: Mat3<R>,
        gradient: &Mat3<R>,
        rate: &Mat3<R>,
    ) -> Stress<R> {
        if self.viscosity == 0.0 {
            return Stress { relaxed, contracting, elastic, energy, stress, stretching: Mat3::zero() };
        }
        let back = inverse(gradient);
        let mut inner = *rate * back;
        if self.contraction.is_some() {
            inner = inner + elastic * contracting * inverse(&elastic) * -R::one();
        }
        let stretching = symmetric(&inner);
        let viscous = stretching * back.transposed() * R::from(self.viscosity);
        Stress { relaxed, contracting, elastic, energy, stress: stress + viscous, stretching }
    }

    /// FᵀSGᵀ − Jφ 1.
    fn internal_couple<R: Real>(s: &Stress<R>) -> Mat3<R> {
        s.elastic.transposed() * s.stress * s.relaxed.transposed() + Mat3::identity() * -s.energy
    }

    /// V of an evolving contraction.
    fn evolve<R: Real>(&self, driven: &Driven, now: &Instant<'_, R>, s: &Stress<R>) -> Mat3<R> {
        let pull = Self::internal_couple(s) + driven.couple_at(now.t);
        let (modes, count) = driven.modes();
        let modes = &modes[..count];
        let back = inverse(&s.elastic);
        let mut moved = [Mat3::zero(); MOST_MODES];
        for (moved, mode) in moved.iter_mut().zip(modes) {
            *moved = symmetric(&(s.elastic * Mat3::constant(mode.0) * back));
        }
        let mut matrix = [[R::zero(); MOST_MODES]; MOST_MODES];
        let mut right = [R::zero(); MOST_MODES];
        for k in 0..count {
            right[k] = contract(&Mat3::constant(modes[k].0), &pull);
            for l in 0..=k {
                let resist = contract(&modes[k], &modes[l]) * driven.resistance;
                matrix[k][l] = contract(&moved[k], &moved[l]) * self.viscosity + resist;
            }
        }
        solve(&mut matrix, &mut right, count);
        let mut sum = Mat3::zero();
        for (mode, amount) in modes.iter().zip(right) {
            sum = sum + Mat3::constant(mode.0) * amount;
        }
        sum
    }

    /// vol (μ |sym D|² + μ_γ |V|²).
    fn heat<R: Real>(&self, s: &Stress<R>) -> R {
        let viscous = contract(&s.stretching, &s.stretching) * self.viscosity;
        let resisted = contract(&s.contracting, &s.contracting) * self.resistance();
        (viscous + resisted) * self.volume
    }

    /// Dissipation and supply.
    fn powers<R: Real>(&self, now: &Instant<'_, R>, s: &Stress<R>) -> (R, R) {
        if self.contraction.is_none() {
            return (self.heat(s), R::zero());
        }
        (self.heat(s), contract(&self.couple(now, s), &s.contracting) * self.volume)
    }

    /// Q.
    fn couple<R: Real>(&self, now: &Instant<'_, R>, s: &Stress<R>) -> Mat3<R> {
        match self.driven() {
            Some(driven) => driven.couple_at(now.t),
            None => s.contracting * R::from(self.resistance) + Self::internal_couple(s) * -R::one(),
        }
    }
}

/// Solves a symmetric positive definite system whose lower part is given, by Cholesky's method.
fn solve<R: Real>(matrix: &mut [[R; MOST_MODES]; MOST_MODES], right: &mut [R; MOST_MODES], n: usize) {
    for i in 0..n {
        for j in 0..=i {
            let mut sum = matrix[i][j];
            for k in 0..j {
                sum -= matrix[i][k] * matrix[j][k];
            }
            matrix[i][j] = if i == j { sum.sqrt() } else { sum / matrix[j][j] };
        }
    }
    for i in 0..n {
        let mut sum = right[i];
        for k in 0..i {
            sum -= matrix[i][k] * right[k];
        }
        right[i] = sum / matrix[i][i];
    }
    for i in (0..n).rev() {
        let mut sum = right[i];
        for k in i + 1..n {
            sum -= matrix[k][i] * right[k];
        }
        right[i] = sum / matrix[i][i];
    }
}

/// The channels of a deformation gradient.
pub(crate) const GRADIENT: [&str; 9] = [
    "gradient.xx",
    "gradient.xy",
    "gradient.xz",
    "gradient.yx",
    "gradient.yy",
    "gradient.yz",
    "gradient.zx",
    "gradient.zy",
    "gradient.zz",
];
const RELAXED: [&str; 9] = [
    "relaxed.xx",
    "relaxed.xy",
    "relaxed.xz",
    "relaxed.yx",
    "relaxed.yy",
    "relaxed.yz",
    "relaxed.zx",
    "relaxed.zy",
    "relaxed.zz",
];
const COUPLE: [&str; 9] = [
    "couple.xx",
    "couple.xy",
    "couple.xz",
    "couple.yx",
    "couple.yy",
    "couple.yz",
    "couple.zx",
    "couple.zy",
    "couple.zz",
];

impl Force for Elastic {
    type Markers = AffineFrame;

    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let stress = self.state(now, at).stress;
        spread_force(Vec3::zero(), stress * R::from(-self.volume), out);
    }
    fn energy<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let gradient = gradient_of(at);
        let density = match &self.contraction {
            None => self.material.energy(&gradient, self.bulk),
            Some(law) => {
                let relaxed = law
                    .prescribed(now.t)
                    .unwrap_or_else(|| Mat3(std::array::from_fn(|i| std::array::from_fn(|j| now.x[3 * i + j]))));
                self.material.energy(&(gradient * inverse(&relaxed)), self.bulk) * relaxed.determinant()
            }
        };
        density * self.volume
    }
    fn dissipation<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        if self.contraction.is_none() {
            if self.viscosity == 0.0 {
                return R::zero();
            }
            let stretching = symmetric(&(rate_of(at) * inverse(&gradient_of(at))));
            return contract(&stretching, &stretching) * (self.viscosity * self.volume);
        }
        self.heat(&self.state(now, at))
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        if self.contraction.is_none() {
            return R::zero();
        }
        let s = self.state(now, at);
        contract(&self.couple(now, &s), &s.contracting) * self.volume
    }
    /// Both from one state.
    fn account<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> (R, R) {
        if self.contraction.is_none() {
            return (self.dissipation(now, at), R::zero());
        }
        self.powers(now, &self.state(now, at))
    }
    fn apply_and_account<R: Real>(
        &self,
        now: &Instant<'_, R>,
        at: &[Place<R>],
        out: &mut [Wrench<R>],
        rates: &mut [R],
    ) -> Option<(R, R)> {
        let s = self.state(now, at);
        spread_force(Vec3::zero(), s.stress * R::from(-self.volume), out);
        if self.driven().is_some() {
            rates.copy_from_slice((s.contracting * s.relaxed).0.as_flattened());
        }
        Some(self.powers(now, &s))
    }
    fn states(&self) -> usize {
        if self.driven().is_some() { 9 } else { 0 }
    }
    fn initial(&self, x: &mut [f64]) {
        if self.driven().is_some() {
            x.copy_from_slice(Mat3::<f64>::identity().0.as_flattened());
        }
    }
    fn rate<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        if self.driven().is_some() {
            let s = self.state(now, at);
            out.copy_from_slice((s.contracting * s.relaxed).0.as_flattened());
        }
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.contraction.as_mut().map_or_else(Vec::new, Contraction::signals)
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        if !(self.volume > 0.0 && self.volume.is_finite()) {
            return Some(("volume", format!("a volume must be positive and finite, found {} m³", self.volume)));
        }
        for (key, value) in [("viscosity", self.viscosity), ("resistance", self.resistance)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Some((key, format!("`{key}` must not be negative, found {value} Pa s")));
            }
        }
        if let Some(bulk) = self.bulk.filter(|bulk| !(*bulk > 0.0 && bulk.is_finite())) {
            return Some(("bulk", format!("the bulk modulus must be positive and finite, found {bulk} Pa")));
        }
        if let Some(message) = self.material.defect() {
            return Some(("material", message));
        }
        Some(("contraction", self.contraction.as_ref()?.defect()?))
    }
    fn defect_at(&self, now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        let volume = gradient_of(at).determinant();
        if !(volume > 0.0 && volume.is_finite()) {
            return Some(("on", format!("the body is turned inside out: the determinant of its gradient is {volume}")));
        }
        Some(("contraction", self.contraction.as_ref()?.defect_at(now.t)?))
    }
    fn outputs(&self) -> Vec<(&'static str, &'static str)> {
        let mut outputs: Vec<_> = GRADIENT.map(|name| (name, "1")).to_vec();
        outputs.extend([("stretch.largest", "1"), ("stretch.smallest", "1"), ("volume_ratio", "1"), ("stored", "J")]);
        if self.contraction.is_some() {
            outputs.extend(RELAXED.map(|name| (name, "1")));
            outputs.extend(COUPLE.map(|name| (name, "Pa")));
        }
        outputs
    }
    fn output<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let gradient = gradient_of(at);
        let s = self.state(now, at);
        out[..9].copy_from_slice(gradient.0.as_flattened());
        out[9..11].copy_from_slice(&extreme_stretches(&gradient));
        out[11] = gradient.determinant();
        out[12] = s.energy * self.volume;
        if self.contraction.is_some() {
            out[13..22].copy_from_slice(s.relaxed.0.as_flattened());
            out[22..].copy_from_slice(self.couple(now, &s).0.as_flattened());
        }
    }
}
