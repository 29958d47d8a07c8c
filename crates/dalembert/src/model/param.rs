//! Numbers of elements that a study may set free.

use super::place::Instant;
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

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
        deserializer.deserialize_any(Either)
    }
}

/// Reads a number, or the table `{ parameter, value }` by which a study sets a coefficient free.
struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = Param;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Param, E> {
        Ok(Param::Fixed(value))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Param, E> {
        Ok(Param::Fixed(value as f64))
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Param, E> {
        Ok(Param::Fixed(value as f64))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Param, A::Error> {
        let (mut index, mut value) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "parameter" => index = Some(map.next_value::<usize>()?),
                "value" => value = Some(map.next_value::<f64>()?),
                other => return Err(de::Error::unknown_field(other, &["parameter", "value"])),
            }
        }
        match (index, value) {
            (Some(index), Some(value)) => Ok(Param::Free { index, value }),
            (None, _) => Err(de::Error::missing_field("parameter")),
            (_, None) => Err(de::Error::missing_field("value")),
        }
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
