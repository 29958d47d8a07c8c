//! A harmonic oscillation: a₀ + a sin(ω t + φ).

use crate::element::About;
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// A sine about an offset. Either `frequency` or `angular_frequency` is given.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Harmonic {
    /// Amplitude a.
    #[schemars(extend("unit" = "of the quantity"))]
    pub amplitude: f64,
    /// Frequency ω/2π.
    #[schemars(extend("unit" = "Hz"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<f64>,
    /// Angular frequency ω.
    #[schemars(extend("unit" = "rad/s"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_frequency: Option<f64>,
    /// Phase φ at t = 0; π/2 makes a cosine.
    #[schemars(extend("unit" = "rad"))]
    #[serde(default)]
    pub phase: f64,
    /// Offset a₀: the mean value.
    #[schemars(extend("unit" = "of the quantity"))]
    #[serde(default)]
    pub offset: f64,
}

impl About for Harmonic {
    const KIND: &'static str = "harmonic";
    const SUMMARY: &'static str = "A sine with amplitude, frequency, phase and offset.";

    fn sample() -> Self {
        Self { amplitude: 1.3, frequency: Some(0.7), angular_frequency: None, phase: 0.4, offset: -0.2 }
    }
}

impl Harmonic {
    /// The angular frequency ω, in rad/s.
    pub fn rate(&self) -> f64 {
        self.angular_frequency.or(self.frequency.map(|f| TAU * f)).unwrap_or(0.0)
    }

    /// The value at time t, in s.
    #[inline]
    pub fn at<R: Real>(&self, t: R) -> R {
        (t * self.rate() + self.phase).sin() * self.amplitude + self.offset
    }

    /// What is wrong with its data, if anything: the key, and what was expected.
    pub fn defect(&self) -> Option<(&'static str, String)> {
        match (self.frequency, self.angular_frequency) {
            (None, None) => Some((
                "frequency",
                "give `frequency` in Hz or `angular_frequency` in rad/s; neither is given".to_owned(),
            )),
            (Some(_), Some(_)) => Some((
                "angular_frequency",
                "give `frequency` in Hz or `angular_frequency` in rad/s; both are given".to_owned(),
            )),
            _ => None,
        }
    }
}
