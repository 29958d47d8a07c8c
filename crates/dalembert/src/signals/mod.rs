//! Signals: given functions of time, for applied forces and prescribed motions.

use dalembert_methods::Real;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A function of time. Derivatives come from evaluating it with jets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Signal {
    /// Always the same value.
    Constant {
        /// The value.
        value: f64,
    },
}

impl Signal {
    /// The value at time t, in s.
    #[inline]
    pub fn at<R: Real>(&self, _t: R) -> R {
        match self {
            Self::Constant { value } => R::from(*value),
        }
    }
}

/// A signal as an element refers to it: a plain number, or the name of an entry of `[signal]`.
#[derive(Clone, Debug, PartialEq)]
pub enum SignalRef {
    /// A constant.
    Number(f64),
    /// An entry of the scene; `signal` is set when the model is built.
    Named {
        /// Its name.
        name: String,
        /// The signal itself, once resolved.
        signal: Option<Arc<Signal>>,
    },
}

impl SignalRef {
    /// A named signal that is resolved already.
    pub fn new(name: &str, signal: Signal) -> Self {
        Self::Named { name: name.to_owned(), signal: Some(Arc::new(signal)) }
    }

    /// The value at time t, in s.
    ///
    /// # Panics
    /// If the name was never resolved; a model resolves every reference when an element is added.
    #[inline]
    pub fn at<R: Real>(&self, t: R) -> R {
        match self {
            Self::Number(value) => R::from(*value),
            Self::Named { signal, .. } => signal.as_ref().expect("resolved when the model was built").at(t),
        }
    }
}

impl From<f64> for SignalRef {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl Serialize for SignalRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(value) => value.serialize(serializer),
            Self::Named { name, .. } => name.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SignalRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl Visitor<'_> for Form {
            type Value = SignalRef;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or the name of a signal")
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<SignalRef, E> {
                Ok(SignalRef::Number(value))
            }
            #[allow(clippy::cast_precision_loss)]
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<SignalRef, E> {
                Ok(SignalRef::Number(value as f64))
            }
            #[allow(clippy::cast_precision_loss)]
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<SignalRef, E> {
                Ok(SignalRef::Number(value as f64))
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<SignalRef, E> {
                Ok(SignalRef::Named { name: name.to_owned(), signal: None })
            }
        }
        deserializer.deserialize_any(Form)
    }
}

impl JsonSchema for SignalRef {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SignalRef".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "A number, or the name of a signal.", "type": ["number", "string"] })
    }
}
