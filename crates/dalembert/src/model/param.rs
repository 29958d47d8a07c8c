//! Numbers of elements that a study may set free.

use super::place::Instant;
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A coefficient: fixed, or one of the free parameters p of a study.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Param {
    /// A plain number.
    Fixed(f64),
    /// Entry `index` of the free parameters; `value` is what a scene gives.
    Free {
        /// Which free parameter.
        index: usize,
        /// Its value in the scene.
        value: f64,
    },
}

impl Param {
    /// The number in the reading at hand.
    #[inline(always)]
    pub fn at<R: Real>(self, instant: &Instant<'_, R>) -> R {
        match self {
            Self::Fixed(value) => R::from(value),
            Self::Free { index, .. } => instant.p[index],
        }
    }

    /// The number a scene gives.
    pub fn value(self) -> f64 {
        match self {
            Self::Fixed(value) | Self::Free { value, .. } => value,
        }
    }
}

impl From<f64> for Param {
    fn from(value: f64) -> Self {
        Self::Fixed(value)
    }
}

impl Default for Param {
    fn default() -> Self {
        Self::Fixed(0.0)
    }
}

impl Serialize for Param {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Param {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::Fixed)
    }
}

impl JsonSchema for Param {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Param".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        f64::json_schema(generator)
    }
}
