//! Materials: energy densities of homogeneous deformations, written once and differentiated.
//!
//! φ(F) is the strain energy per unit of relaxed volume (\[1\], eq. (16)–(18)). The stress ∂φ/∂F comes from jets. Materials meant for
//! incompressible bodies have energies that are not at rest in F = 1 by themselves; for compressible use a bulk modulus K adds
//!
//! ```text
//! −p ln J + ½ K (J − 1)²,   J = det F,
//! ```
//!
//! with the p that makes F = 1 free of stress.
//!
//! Reference: \[1\] Tatone, Di Egidio, Contento: Dynamics of a soft contractile body on a hard support.

mod contraction;
mod power;

pub(crate) use contraction::MOST_MODES;
pub use contraction::{Contraction, Driven, Freedom, Stretch};

use crate::model::{Place, Wrench};
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real};
use power::trace_of_power;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An energy density, for instance `{ neo_hookean = { modulus = 6e4 } }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Material {
    /// φ = c₁ (tr C − 3).
    NeoHookean(NeoHookean),
    /// φ = c₁ (tr C − 3) + c₂ (½ (tr² C − tr C²) − 3).
    MooneyRivlin(MooneyRivlin),
    /// φ = Σ μ/α (tr C^(α/2) − 3), C^(1/2) having the principal stretches as eigenvalues.
    Ogden(Ogden),
    /// φ = ½ λ tr² E + μ tr E², E = ½ (C − 1).
    SaintVenantKirchhoff(SaintVenantKirchhoff),
}

/// The neo-Hookean material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeoHookean {
    /// Modulus c₁: half of the shear modulus.
    #[schemars(extend("unit" = "Pa"))]
    pub modulus: f64,
}

/// The Mooney–Rivlin material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MooneyRivlin {
    /// Modulus c₁ of the first invariant.
    #[schemars(extend("unit" = "Pa"))]
    pub first: f64,
    /// Modulus c₂ of the second invariant.
    #[schemars(extend("unit" = "Pa"))]
    pub second: f64,
}

/// The Ogden material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ogden {
    /// Pairs of a modulus μ and an exponent α.
    #[schemars(extend("unit" = "Pa, 1"))]
    pub terms: Vec<[f64; 2]>,
}

/// The material of Saint Venant and Kirchhoff.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaintVenantKirchhoff {
    /// Lamé's first modulus λ.
    #[schemars(extend("unit" = "Pa"))]
    pub lame: f64,
    /// Shear modulus μ.
    #[schemars(extend("unit" = "Pa"))]
    pub shear: f64,
}

/// F ↦ FᵀF.
#[inline(never)]
fn cauchy_green<R: Real>(f: &Mat3<R>) -> Mat3<R> {
    f.transposed() * *f
}

/// B = C − 1, twice the strain of Green.
#[inline(always)]
fn doubled_strain<R: Real>(f: &Mat3<R>) -> Mat3<R> {
    cauchy_green(f) + Mat3::identity() * -R::one()
}

#[inline(always)]
fn trace<R: Real>(a: &Mat3<R>) -> R {
    a.0[0][0] + a.0[1][1] + a.0[2][2]
}

/// The scalar product of two matrices.
#[inline(always)]
pub(crate) fn contract<R: Real>(a: &Mat3<R>, b: &Mat3<R>) -> R {
    let row = |i: usize| Vec3(a.0[i]).dot(Vec3(b.0[i]));
    row(0) + row(1) + row(2)
}

/// The cofactor matrix det(A) A^−T, and the determinant.
#[inline(always)]
pub(crate) fn cofactor<R: Real>(a: &Mat3<R>) -> (Mat3<R>, R) {
    let [x, y, z] = a.0;
    let (x, y, z) = (Vec3(x), Vec3(y), Vec3(z));
    let first = y.cross(z);
    (Mat3([first.0, z.cross(x).0, x.cross(y).0]), x.dot(first))
}

/// The inverse.
#[inline(always)]
pub(crate) fn inverse<R: Real>(a: &Mat3<R>) -> Mat3<R> {
    let (cofactor, determinant) = cofactor(a);
    cofactor.transposed() * determinant.recip()
}

impl Ogden {
    fn energy<R: Real>(&self, f: &Mat3<R>) -> R {
        let c = cauchy_green(f);
        self.terms.iter().fold(R::zero(), |sum, &[modulus, exponent]| {
            sum + (trace_of_power(&c, 0.5 * exponent) - 3.0) * (modulus / exponent)
        })
    }
}

impl Material {
    /// The energy density φ(F), in J/m³; `bulk` is the bulk modulus of compressible use, in Pa.
    pub fn energy<R: Real>(&self, f: &Mat3<R>, bulk: Option<f64>) -> R {
        let shape = match self {
            Self::Ogden(ogden) => ogden.energy(f),
            _ => {
                let [first, second] = self.invariants(f);
                self.energy_of(first, second)
            }
        };
        bulk.map_or(shape, |bulk| shape + self.energy_of_volume(f.determinant(), bulk))
    }

    /// The energy density, and the stress ∂φ/∂F in Pa. With ∂I₁/∂F = 2 F, ∂I₂/∂F = 2 (I₁ F − F B) and ∂J/∂F = cof F only derivatives by
    /// the invariants are left to jets; without invariants F varies row by row, which compiles to less code than all at once.
    pub fn stress<R: Real>(&self, f: &Mat3<R>, bulk: Option<f64>) -> (R, Mat3<R>) {
        let (mut density, mut stress) = (R::zero(), Mat3::zero());
        if let Self::Ogden(ogden) = self {
            for row in 0..3 {
                let mut varied = f.map(Jet::<R, 3>::constant);
                for j in 0..3 {
                    varied.0[row][j].eps[j] = R::one();
                }
                let energy = ogden.energy(&varied);
                density = energy.re;
                stress.0[row] = energy.eps;
            }
        } else {
            let [first, second] = self.invariants(f);
            let energy = self.energy_of(Jet::<R, 2>::variable(first, 0), Jet::variable(second, 1));
            let [by_first, by_second] = energy.eps;
            density = energy.re;
            stress = *f * (by_first + by_second * first) * R::from(2.0);
            if self.needs_second() {
                stress = stress + *f * doubled_strain(f) * (by_second * -2.0);
            }
        }
        if let Some(bulk) = bulk {
            let (slope, volume) = cofactor(f);
            let energy = self.energy_of_volume(Jet::<R, 1>::variable(volume, 0), bulk);
            density += energy.re;
            stress = stress + slope * energy.eps[0];
        }
        (density, stress)
    }

    /// I₁ = tr B and I₂ = ½ (tr² B − tr B²) of B = C − 1, which do not lose digits near F = 1; the second is zero if the energy does
    /// not depend on it.
    #[inline(always)]
    fn invariants<R: Real>(&self, f: &Mat3<R>) -> [R; 2] {
        let first = contract(f, f) - 3.0;
        if !self.needs_second() {
            return [first, R::zero()];
        }
        let b = doubled_strain(f);
        [first, (first * first - contract(&b, &b)) * 0.5]
    }

    #[inline(always)]
    fn needs_second(&self) -> bool {
        !matches!(self, Self::NeoHookean(_))
    }

    /// The energy density of the shape by its invariants; zero for materials that have none.
    #[inline(always)]
    fn energy_of<R: Real>(&self, one: R, two: R) -> R {
        match self {
            Self::NeoHookean(NeoHookean { modulus }) => one * *modulus,
            // The second invariant of C is that of B and 2 tr B + 3.
            Self::MooneyRivlin(MooneyRivlin { first, second }) => one * *first + (one * 2.0 + two) * *second,
            // tr E = ½ tr B, and tr E² = ¼ tr B².
            Self::SaintVenantKirchhoff(SaintVenantKirchhoff { lame, shear }) => {
                one * one * (0.125 * lame) + (one * one - two * 2.0) * (0.25 * shear)
            }
            Self::Ogden(_) => R::zero(),
        }
    }

    /// What compressible use adds.
    #[inline(always)]
    fn energy_of_volume<R: Real>(&self, j: R, bulk: f64) -> R {
        (j - 1.0).square() * (0.5 * bulk) - j.ln() * self.pressure()
    }

    /// The pressure that the shape part alone would have in F = 1.
    fn pressure(&self) -> f64 {
        match self {
            Self::NeoHookean(NeoHookean { modulus }) => 2.0 * modulus,
            Self::MooneyRivlin(MooneyRivlin { first, second }) => 2.0 * first + 4.0 * second,
            Self::Ogden(Ogden { terms }) => terms.iter().map(|[modulus, _]| modulus).sum(),
            Self::SaintVenantKirchhoff(_) => 0.0,
        }
    }

    /// The shear modulus of small strains, in Pa.
    pub fn shear_modulus(&self) -> f64 {
        match self {
            Self::NeoHookean(NeoHookean { modulus }) => 2.0 * modulus,
            Self::MooneyRivlin(MooneyRivlin { first, second }) => 2.0 * (first + second),
            Self::Ogden(Ogden { terms }) => terms.iter().map(|[modulus, exponent]| 0.5 * modulus * exponent).sum(),
            Self::SaintVenantKirchhoff(SaintVenantKirchhoff { shear, .. }) => *shear,
        }
    }

    /// What is wrong with it, if anything.
    pub fn defect(&self) -> Option<String> {
        if let Self::Ogden(Ogden { terms }) = self {
            if terms.is_empty() {
                return Some("an Ogden material needs at least one pair of modulus and exponent".to_owned());
            }
            if let Some([modulus, exponent]) = terms.iter().find(|[m, a]| !(m * a > 0.0 && (m * a).is_finite())) {
                return Some(format!(
                    "modulus and exponent must have the same sign, found {modulus} Pa and {exponent}"
                ));
            }
        }
        let (name, modulus) = match self {
            Self::NeoHookean(NeoHookean { modulus }) => ("modulus", *modulus),
            _ => ("shear modulus", self.shear_modulus()),
        };
        (!(modulus > 0.0 && modulus.is_finite()))
            .then(|| format!("the {name} must be positive and finite, found {modulus} Pa"))
    }
}

/// The largest and the smallest principal stretch of a gradient.
pub(crate) fn extreme_stretches<R: Real>(f: &Mat3<R>) -> [R; 2] {
    let c = cauchy_green(f);
    let mean = trace(&c) / 3.0;
    let spread = c + Mat3::identity() * -mean;
    let p2 = contract(&spread, &spread) / 6.0;
    let apart = (mean * mean * 1e-28).lt(p2);
    let p = R::select(apart, p2, R::one()).sqrt();
    let r = (spread * p.recip()).determinant() * 0.5;
    let angle = r.max(R::from(-1.0)).min(R::one()).acos() / 3.0;
    let third = std::f64::consts::TAU / 3.0;
    [angle, angle + third].map(|angle| {
        let square = R::select(apart, mean + p * angle.cos() * 2.0, mean);
        square.max(R::zero()).sqrt()
    })
}

/// The deformation gradient that four places show: the columns rᵢ − r₀.
#[inline(always)]
pub(crate) fn gradient_of<R: Real>(at: &[Place<R>]) -> Mat3<R> {
    let [x, y, z] = [at[1].r - at[0].r, at[2].r - at[0].r, at[3].r - at[0].r];
    Mat3([x.0, y.0, z.0]).transposed()
}

/// The rate of the deformation gradient that four places show.
#[inline(always)]
pub(crate) fn rate_of<R: Real>(at: &[Place<R>]) -> Mat3<R> {
    let [x, y, z] = [at[1].v - at[0].v, at[2].v - at[0].v, at[3].v - at[0].v];
    Mat3([x.0, y.0, z.0]).transposed()
}

/// The forces at four places that together are a force against ṙ₀ and a moment tensor against the rate of the gradient.
#[inline(always)]
pub(crate) fn spread_force<R: Real>(force: Vec3<R>, moment: Mat3<R>, out: &mut [Wrench<R>]) {
    let mut rest = force;
    for j in 0..3 {
        let column = moment.column(j);
        out[j + 1] = Wrench::force(column);
        rest -= column;
    }
    out[0] = Wrench::force(rest);
}
