//! Signals: given functions of time, for applied forces and prescribed motions.

mod callback;
mod constant;
mod curve;
mod formula;
mod harmonic;
mod polynomial;
mod smooth_step;
mod table;

pub use callback::Callback;
pub use constant::Constant;
pub use curve::{Curve, Interpolation};
pub use formula::{Formula, Written};
pub use harmonic::Harmonic;
pub use polynomial::Polynomial;
pub use smooth_step::SmoothStep;
pub use table::{Outside, Points, Table};

use crate::element::{About, Describe, Kind};
use crate::expression::ExpressionError;
use dalembert_methods::Real;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A function of time. Derivatives come from evaluating it with jets.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // each kind is documented at its own type
pub enum Signal {
    Constant(Constant),
    Polynomial(Polynomial),
    Harmonic(Harmonic),
    Table(Table),
    SmoothStep(SmoothStep),
    Expression(Written),
    Callback(Callback),
}

impl Signal {
    /// A signal that is always `value`.
    pub fn constant(value: f64) -> Self {
        Self::Constant(Constant { value })
    }

    /// A signal given by an expression in t.
    pub fn expression(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self::Expression(Written { value: Formula::new(text)? }))
    }

    /// The value at time t, in s.
    #[inline]
    pub fn at<R: Real>(&self, t: R) -> R {
        match self {
            Self::Constant(signal) => signal.at(t),
            Self::Polynomial(signal) => signal.at(t),
            Self::Harmonic(signal) => signal.at(t),
            Self::Table(signal) => signal.at(t),
            Self::SmoothStep(signal) => signal.at(t),
            Self::Expression(signal) => signal.at(t),
            Self::Callback(signal) => signal.at(t),
        }
    }

    /// What is wrong with its data, if anything: the key, and what was expected.
    pub fn defect(&self) -> Option<(&'static str, String)> {
        match self {
            Self::Polynomial(signal) => signal.defect(),
            Self::Harmonic(signal) => signal.defect(),
            Self::SmoothStep(signal) => signal.defect(),
            Self::Constant(_) | Self::Table(_) | Self::Expression(_) | Self::Callback(_) => None,
        }
    }

    /// Reads the parameters of a signal of the kind named, or nothing if there is no such kind.
    pub fn read<'de, D: Deserializer<'de>>(kind: &str, from: D) -> Option<Result<Self, D::Error>> {
        Some(match kind {
            Constant::KIND => Constant::deserialize(from).map(Self::Constant),
            Polynomial::KIND => Polynomial::deserialize(from).map(Self::Polynomial),
            Harmonic::KIND => Harmonic::deserialize(from).map(Self::Harmonic),
            Table::KIND => Table::deserialize(from).map(Self::Table),
            SmoothStep::KIND => SmoothStep::deserialize(from).map(Self::SmoothStep),
            Written::KIND => Written::deserialize(from).map(Self::Expression),
            _ => return None,
        })
    }

    fn describe(&self) -> &dyn Describe {
        match self {
            Self::Constant(signal) => signal,
            Self::Polynomial(signal) => signal,
            Self::Harmonic(signal) => signal,
            Self::Table(signal) => signal,
            Self::SmoothStep(signal) => signal,
            Self::Expression(signal) => signal,
            Self::Callback(signal) => signal,
        }
    }
}

impl Describe for Signal {
    fn kind(&self) -> &'static str {
        self.describe().kind()
    }
    fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
        self.describe().parameters()
    }
}

/// A signal of one kind, as any signal.
trait Part: About {
    fn whole(self) -> Signal;
}

impl Part for Constant {
    fn whole(self) -> Signal {
        Signal::Constant(self)
    }
}
impl Part for Polynomial {
    fn whole(self) -> Signal {
        Signal::Polynomial(self)
    }
}
impl Part for Harmonic {
    fn whole(self) -> Signal {
        Signal::Harmonic(self)
    }
}
impl Part for Table {
    fn whole(self) -> Signal {
        Signal::Table(self)
    }
}
impl Part for SmoothStep {
    fn whole(self) -> Signal {
        Signal::SmoothStep(self)
    }
}
impl Part for Written {
    fn whole(self) -> Signal {
        Signal::Expression(self)
    }
}

fn kind_of<P: Part>() -> Kind<Signal> {
    Kind::new::<P>(
        None,
        |entry| Ok(Box::new(entry.deserialize_element::<P>()?.whole())),
        || Box::new(P::sample().whole()),
    )
}

/// The kinds of signals, by name.
pub fn kinds() -> Vec<Kind<Signal>> {
    vec![
        kind_of::<Constant>(),
        kind_of::<Written>(),
        kind_of::<Harmonic>(),
        kind_of::<Polynomial>(),
        kind_of::<SmoothStep>(),
        kind_of::<Table>(),
    ]
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
        /// Its number among the signals of the model, if it is one of them.
        slot: Option<usize>,
    },
}

impl SignalRef {
    /// A named signal that is resolved already.
    pub fn new(name: &str, signal: Signal) -> Self {
        Self::Named { name: name.to_owned(), signal: Some(Arc::new(signal)), slot: None }
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
                Ok(SignalRef::Named { name: name.to_owned(), signal: None, slot: None })
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
