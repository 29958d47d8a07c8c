//! Newtonian gravitation between any number of points.
//!
//! With μᵢ = G mᵢ, d = rⱼ − rᵢ and a softening length ε the energy of a pair is −μᵢ μⱼ / (G √(d² + ε²)), and the force on
//! the first is μᵢ μⱼ d / (G (d² + ε²)^{3/2}), on the second its opposite \[1\]. With ε = 0 it is Newton's law.
//!
//! References: \[1\] Aarseth: Gravitational N-Body Simulations, Cambridge 2003, eq. (1.1) and sec. 1.2.

use super::Force;
use crate::element::About;
use crate::model::{Instant, Param, Place, Point, Wrench};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The constant of gravitation G, in m³/(kg s²): CODATA 2018.
pub const GRAVITATIONAL_CONSTANT: f64 = 6.67430e-11;

/// Mutual attraction of all its markers. Either `masses` or `parameters` is given, one entry for each marker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gravitation {
    /// Masses mᵢ that attract; they need not be those of the bodies.
    #[schemars(extend("unit" = "kg"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masses: Vec<Param>,
    /// Gravitational parameters μᵢ = G mᵢ, often known better than masses.
    #[schemars(extend("unit" = "m³/s²"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Param>,
    /// The constant of gravitation G, positive.
    #[schemars(extend("unit" = "m³/(kg s²)"))]
    #[serde(default = "constant")]
    pub constant: Param,
    /// Softening length ε: keeps close encounters finite. Zero is Newton's law.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub softening: Param,
}

fn constant() -> Param {
    GRAVITATIONAL_CONSTANT.into()
}

impl Default for Gravitation {
    fn default() -> Self {
        Self { masses: Vec::new(), parameters: Vec::new(), constant: constant(), softening: 0.0.into() }
    }
}

impl About for Gravitation {
    const KIND: &'static str = "gravitation";
    const SUMMARY: &'static str = "Newtonian attraction between all of its markers.";
    const REFERENCES: &'static [&'static str] =
        &["Aarseth, Gravitational N-Body Simulations, Cambridge 2003, sec. 1.2"];

    fn sample() -> Self {
        let masses = vec![1.5.into(), 0.7.into(), 2.2.into()];
        Self { masses, constant: 1.3.into(), softening: 0.2.into(), ..Self::default() }
    }
}

impl Gravitation {
    /// G mᵢ mⱼ.
    #[inline(always)]
    fn strength<R: Real>(&self, now: &Instant<'_, R>, i: usize, j: usize) -> R {
        let constant = self.constant.at(now);
        if self.masses.is_empty() {
            self.parameters[i].at(now) * self.parameters[j].at(now) / constant
        } else {
            self.masses[i].at(now) * self.masses[j].at(now) * constant
        }
    }

    /// √(d² + ε²).
    #[inline(always)]
    fn distance<R: Real>(&self, now: &Instant<'_, R>, a: &Place<R>, b: &Place<R>) -> R {
        ((b.r - a.r).norm_squared() + self.softening.at(now).square()).sqrt()
    }
}

impl Force for Gravitation {
    type Markers = Vec<Point>;

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let softened = self.softening.at(now).square();
        for j in 0..at.len() {
            let (here, mut sum) = (at[j].r, Vec3::zero());
            for i in 0..j {
                let apart = here - at[i].r;
                let squared = apart.norm_squared() + softened;
                let pull = apart * (self.strength(now, i, j) / (squared * squared.sqrt()));
                out[i].force += pull;
                sum -= pull;
            }
            out[j] = Wrench::force(sum);
        }
    }
    fn still(&self) -> bool {
        true
    }
    fn energy<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let mut energy = R::zero();
        for j in 1..at.len() {
            for i in 0..j {
                energy -= self.strength(now, i, j) / self.distance(now, &at[i], &at[j]);
            }
        }
        energy
    }
    fn defect(&self, markers: usize) -> Option<(&'static str, String)> {
        let (key, given) = match (self.masses.is_empty(), self.parameters.is_empty()) {
            (false, false) => {
                return Some(("parameters", "give `masses` or `parameters` (G times mass), not both".to_owned()));
            }
            (true, _) => ("parameters", &self.parameters),
            (false, true) => ("masses", &self.masses),
        };
        if given.is_empty() {
            return Some(("masses", format!("give {markers} `masses`, or as many `parameters` (G times mass)")));
        }
        if given.len() != markers {
            return Some((key, format!("needs one entry for each of the {markers} markers, found {}", given.len())));
        }
        if let Some(bad) = given.iter().find(|m| m.value() < 0.0) {
            return Some((key, format!("a mass must not be negative, found {}", bad.value())));
        }
        let positive = self.constant.value() > 0.0;
        if !positive {
            return Some(("constant", format!("must be positive, found {}", self.constant.value())));
        }
        (self.softening.value() < 0.0)
            .then(|| ("softening", format!("a length must not be negative, found {}", self.softening.value())))
    }
}
