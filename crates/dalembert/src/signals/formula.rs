//! A formula of one variable given as text: parsed once, evaluated over any number, written back as it was read.

use crate::element::About;
use crate::expression::{Expression, ExpressionError};
use dalembert_methods::Real;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An expression in the variable named `X`.
#[derive(Clone, Debug)]
pub struct Formula<const X: char> {
    text: String,
    code: Expression,
}

impl<const X: char> Formula<X> {
    /// Parses the text.
    pub fn new(text: &str) -> Result<Self, ExpressionError> {
        let code = Expression::parse_in(text, &[&X.to_string()])?.folded();
        Ok(Self { text: text.to_owned(), code })
    }

    /// The text it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value where the variable is x.
    #[inline]
    pub fn at<R: Real>(&self, x: R) -> R {
        self.code.evaluate(&[x])
    }
}

impl<const X: char> PartialEq for Formula<X> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<const X: char> Serialize for Formula<X> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de, const X: char> Deserialize<'de> for Formula<X> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(|error| {
            let column = text.get(..error.range.start).map_or(error.range.start, |before| before.chars().count()) + 1;
            let help = error.help().map_or(String::new(), |help| format!("; {help}"));
            serde::de::Error::custom(format!("in the formula \"{text}\", at character {column}: {error}{help}"))
        })
    }
}

impl<const X: char> JsonSchema for Formula<X> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Formula of {X}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": format!("An expression in {X}.") })
    }
}

/// A signal given by an expression in the time t.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// An expression in the time t in s, such as `"2*sin(3*t) + exp(-t)"`. Derivatives come from the text, so a signal that
    /// drives a motion must be twice differentiable where it is used.
    #[schemars(extend("unit" = "of the quantity"))]
    pub value: Formula<'t'>,
}

impl About for Written {
    const KIND: &'static str = "expression";
    const SUMMARY: &'static str = "An expression in the time t, given as text.";

    fn sample() -> Self {
        Self { value: Formula::new("0.3 + 2*sin(3*t)*exp(-t/2)").expect("a correct expression") }
    }
}

impl Written {
    /// The value at time t, in s.
    #[inline]
    pub fn at<R: Real>(&self, t: R) -> R {
        self.value.at(t)
    }
}
