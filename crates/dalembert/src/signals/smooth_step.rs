//! A smooth step: from one value to another between two times, at rest before and after.
//!
//! With x = (t − t₀)/(t₁ − t₀) in [0, 1] the value is a₀ + (a₁ − a₀) x³ (10 − 15 x + 6 x²): the only quintic whose
//! first and second derivatives vanish at both ends, so that the signal is twice continuously differentiable.

use crate::element::About;
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A step with continuous velocity and acceleration.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmoothStep {
    /// The value a₀ until the start.
    #[schemars(extend("unit" = "of the quantity"))]
    #[serde(default)]
    pub from: f64,
    /// The value a₁ from the end on.
    #[schemars(extend("unit" = "of the quantity"))]
    pub to: f64,
    /// The time t₀ at which the step starts.
    #[schemars(extend("unit" = "s"))]
    #[serde(default)]
    pub start: f64,
    /// The time t₁ at which it ends, after the start.
    #[schemars(extend("unit" = "s"))]
    pub end: f64,
}

impl About for SmoothStep {
    const KIND: &'static str = "smooth_step";
    const SUMMARY: &'static str = "From one value to another with continuous velocity and acceleration (quintic).";

    fn sample() -> Self {
        Self { from: -0.5, to: 1.5, start: 0.25, end: 1.75 }
    }
}

impl SmoothStep {
    /// The value at time t, in s.
    #[inline]
    pub fn at<R: Real>(&self, t: R) -> R {
        let x = ((t - self.start) / (self.end - self.start)).max(R::zero()).min(R::one());
        let risen = x * x * x * ((x * 6.0 - 15.0) * x + 10.0);
        risen * (self.to - self.from) + self.from
    }

    /// What is wrong with its data, if anything: the key, and what was expected.
    pub fn defect(&self) -> Option<(&'static str, String)> {
        let forward = self.start < self.end;
        (!forward)
            .then(|| ("end", format!("a step must end after its start at {} s, found {} s", self.start, self.end)))
    }
}
