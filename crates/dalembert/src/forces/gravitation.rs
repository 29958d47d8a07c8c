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
    /// What attracts at each marker, and what their products are multiplied with to be G mᵢ mⱼ: masses and G, or parameters and 1/G.
    #[inline(always)]
    fn weights<R: Real>(&self, now: &Instant<'_, R>) -> (&[Param], R) {
        let constant = self.constant.at(now);
        if self.masses.is_empty() { (&self.parameters, constant.recip()) } else { (&self.masses, constant) }
    }
}

impl Force for Gravitation {
    type Markers = Vec<Point>;

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let softened = self.softening.at(now).square();
        let (weights, scale) = self.weights(now);
        for j in 0..at.len() {
            let (here, own) = (at[j].r.0, weights[j].at(now) * scale);
            let mut sums = [[R::zero(); 2]; 3];
            let (before, _) = out.split_at_mut(j);
            let (pairs, single) = before.as_chunks_mut::<2>();
            let (places, masses) = (at.as_chunks::<2>().0, weights.as_chunks::<2>().0);
            // Two at once, component by component: their roots and quotients are computed together.
            for ((pair, there), weights) in pairs.iter_mut().zip(places).zip(masses) {
                let apart: [[R; 2]; 3] =
                    std::array::from_fn(|k| [here[k] - there[0].r.0[k], here[k] - there[1].r.0[k]]);
                let squared: [R; 2] = std::array::from_fn(|l| {
                    apart[0][l] * apart[0][l] + apart[1][l] * apart[1][l] + apart[2][l] * apart[2][l] + softened
                });
                let roots = squared.map(R::sqrt);
                let pull: [R; 2] = std::array::from_fn(|l| own * weights[l].at(now) / (squared[l] * roots[l]));
                for k in 0..3 {
                    for l in 0..2 {
                        let force = apart[k][l] * pull[l];
                        pair[l].force.0[k] += force;
                        sums[k][l] += force;
                    }
                }
            }
            let mut sum = Vec3(sums.map(|[a, b]| a + b));
            if let Some(last) = single.first_mut() {
                let apart = Vec3(here) - at[j - 1].r;
                let squared = apart.norm_squared() + softened;
                let pull = apart * (own * weights[j - 1].at(now) / (squared * squared.sqrt()));
                last.force += pull;
                sum += pull;
            }
            out[j] = Wrench::force(-sum);
        }
    }
    fn still(&self) -> bool {
        true
    }
    fn energy<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let mut energy = R::zero();
        let (weights, scale) = self.weights(now);
        let softened = self.softening.at(now).square();
        for j in 1..at.len() {
            let (here, own) = (at[j].r, weights[j].at(now) * scale);
            let (places, masses) = (at[..j].as_chunks::<2>(), weights[..j].as_chunks::<2>());
            // Two at once, as in `apply`.
            let mut sums = [R::zero(); 2];
            for (there, weights) in places.0.iter().zip(masses.0) {
                let squared: [R; 2] = std::array::from_fn(|l| (here - there[l].r).norm_squared() + softened);
                let roots = squared.map(R::sqrt);
                for l in 0..2 {
                    sums[l] += weights[l].at(now) / roots[l];
                }
            }
            for (there, weight) in places.1.iter().zip(masses.1) {
                sums[0] += weight.at(now) / ((here - there.r).norm_squared() + softened).sqrt();
            }
            energy -= own * (sums[0] + sums[1]);
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
