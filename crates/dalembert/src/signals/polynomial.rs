//! A polynomial in time: Σ cₖ (t − t₀)ᵏ.

use crate::element::About;
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A polynomial in the time since a start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Polynomial {
    /// Coefficients c₀, c₁, c₂, … of (t − t₀)⁰, (t − t₀)¹, (t − t₀)², …
    #[schemars(extend("unit" = "of the quantity, per s to the power k"))]
    pub coefficients: Vec<f64>,
    /// The time t₀ about which the polynomial is written.
    #[schemars(extend("unit" = "s"))]
    #[serde(default)]
    pub start: f64,
}

impl About for Polynomial {
    const KIND: &'static str = "polynomial";
    const SUMMARY: &'static str = "A polynomial in the time since a start.";

    fn sample() -> Self {
        Self { coefficients: vec![0.4, -1.1, 0.8, 0.3], start: 0.25 }
    }
}

impl Polynomial {
    /// The value at time t, in s.
    #[inline]
    pub fn at<R: Real>(&self, t: R) -> R {
        let since = t - self.start;
        self.coefficients.iter().rev().fold(R::zero(), |sum, &c| sum * since + c)
    }

    /// What is wrong with its data, if anything: the key, and what was expected.
    pub fn defect(&self) -> Option<(&'static str, String)> {
        self.coefficients.is_empty().then(|| ("coefficients", "a polynomial needs at least one coefficient".to_owned()))
    }
}
