//! A signal that never changes.

use crate::element::About;
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Always the same value.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The value.
    #[schemars(extend("unit" = "of the quantity"))]
    pub value: f64,
}

impl About for Constant {
    const KIND: &'static str = "constant";
    const SUMMARY: &'static str = "Always the same value.";

    fn sample() -> Self {
        Self { value: 1.7 }
    }
}

impl Constant {
    /// The value at time t, in s.
    #[inline]
    pub fn at<R: Real>(&self, _t: R) -> R {
        R::from(self.value)
    }
}
