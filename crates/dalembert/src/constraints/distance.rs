//! A massless rod: two points at a fixed distance.
//!
//! The residual is (|r₂ − r₁|² − l²)/(2 l): zero on the manifold, a length to first order, and smooth at zero distance.
//! The multiplier is the force in the rod, positive in tension.

use super::{Constraint, Quantity};
use crate::element::About;
use crate::model::{Instant, Place, Point};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two points kept at a distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Distance {
    /// The distance l, positive.
    #[schemars(extend("unit" = "m"))]
    pub length: f64,
}

impl About for Distance {
    const KIND: &'static str = "distance";
    const SUMMARY: &'static str = "A massless rod: keeps two points at a fixed distance.";

    fn sample() -> Self {
        Self { length: 1.3 }
    }
}

impl Constraint for Distance {
    type Markers = [Point; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length]
    }
    #[inline(always)]
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = ((at[1].r - at[0].r).norm_squared() - self.length * self.length) * (0.5 / self.length);
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        (!(self.length > 0.0 && self.length.is_finite())).then(|| {
            (
                "length",
                format!(
                    "a distance must be positive and finite, not {}; for coincident points use a `spherical` joint",
                    self.length
                ),
            )
        })
    }
}
