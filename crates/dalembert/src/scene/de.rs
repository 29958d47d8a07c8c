//! Reads nodes into types by serde, keeping places: every error points at the value or key that caused it.
//!
//! Whole numbers are accepted where numbers are expected, and numbers without a fraction where whole numbers are expected. Types that
//! serde buffers (untagged or internally tagged enums, flattened fields) work, but their errors point at the whole value.

use super::error::{Problem, SceneError};
use super::nearest;
use super::node::{Key, Node, Table, Value};
use super::source::{Sources, Span};
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess};
use serde::de::{SeqAccess, Unexpected, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;
use std::fmt;

/// The key that says what an element is.
pub(super) const KIND: &str = "kind";

/// Reads a node; the keys in `skip` are left out at its top level.
pub(super) fn from_node<'de, T: de::Deserialize<'de>>(node: &'de Node, skip: &'de [&'de str]) -> Result<T, Error> {
    T::deserialize(Reader { node, skip }).map_err(|error| error.at(node.span))
}

/// What serde found wrong, and where once that is known.
#[derive(Debug)]
pub(super) struct Error {
    message: String,
    help: Option<String>,
    span: Option<Span>,
}

impl Error {
    fn new(message: String, help: Option<String>) -> Self {
        Self { message, help, span: None }
    }

    /// Sets the place unless an inner one is known.
    fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    /// As an error of the scene; `fallback` is where it is if nobody knew better.
    pub(super) fn into_scene(self, sources: &Sources, fallback: Span) -> SceneError {
        let span = self.span.unwrap_or(fallback);
        Problem::new(self.message).at(sources, span).maybe_help(self.help).into()
    }

    fn unknown(what: &str, name: &str, expected: &'static [&'static str]) -> Self {
        let help = match (nearest(name, expected.iter().copied()), expected) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "nothing can be given here".into(),
            (None, _) => format!("expected one of {}", expected.join(", ")),
        };
        Self::new(format!("unknown {what} `{name}`"), Some(help))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string(), None)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = in_words(&expected.to_string());
        let quoted_number = matches!(found, Unexpected::Str(_)) && expected.contains("number");
        let help = quoted_number.then(|| "numbers stand without quotes; arithmetic starts with `=`".into());
        Self::new(format!("expected {expected}, found {}", found_words(found)), help)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new(format!("expected {}, found {length} elements", in_words(&expected.to_string())), None)
    }

    fn unknown_variant(name: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("choice", name, expected)
    }

    fn unknown_field(name: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("key", name, expected)
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(format!("missing key `{name}`"), None)
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new(format!("the key `{name}` is given twice"), None)
    }
}

/// What serde calls things, in the words of a scene.
fn in_words(expected: &str) -> String {
    match expected {
        "f64" | "f32" => "a number".into(),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number".into(),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number that is not negative".into(),
        "a string" | "string" => "text".into(),
        "a boolean" => "`true` or `false`".into(),
        "a sequence" => "an array".into(),
        "a map" => "a table".into(),
        _ if expected.starts_with("struct ") || expected.starts_with("internally tagged") => "a table".into(),
        _ => expected.replace("a tuple of size", "an array of length"),
    }
}

fn found_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => Value::Boolean(value).describe(),
        Unexpected::Signed(value) => Value::Integer(value).describe(),
        Unexpected::Float(value) => Value::Float(value).describe(),
        Unexpected::Str(text) => Value::String(text.into()).describe(),
        Unexpected::Seq => "an array".into(),
        Unexpected::Map => "a table".into(),
        other => other.to_string(),
    }
}

/// Reads one node.
struct Reader<'de> {
    node: &'de Node,
    /// Whether the key `kind` is left out.
    skip: &'de [&'de str],
}

impl<'de> Reader<'de> {
    fn plain(node: &'de Node) -> Self {
        Self { node, skip: &[] }
    }

    /// A number without a fraction is as good as a whole number.
    fn whole<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.value {
            Value::Float(value) if value.is_finite() => match Value::from_number(value) {
                Value::Integer(whole) => visitor.visit_i64(whole),
                _ => visitor.visit_f64(value),
            },
            _ => return self.deserialize_any(visitor),
        }
        .map_err(|error: Error| error.at(self.node.span))
    }
}

macro_rules! whole_numbers {
    ($($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.whole(visitor)
        }
    )* };
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let span = self.node.span;
        match &self.node.value {
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(value) if !value.is_finite() => {
                Err(Error::new(format!("expected a finite number, found {value}"), None))
            }
            Value::Float(value) => visitor.visit_f64(*value),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => visit_array(items, visitor),
            Value::Table(table) => visitor.visit_map(Entries::new(table, self.skip)),
        }
        .map_err(|error| error.at(span))
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        let span = self.node.span;
        visitor.visit_newtype_struct(self).map_err(|error| error.at(span))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let span = self.node.span;
        match &self.node.value {
            Value::String(name) => visitor.visit_enum(Choice { name, span, content: None }),
            Value::Table(table) => {
                let mut entries = Entries::new(table, self.skip);
                match (entries.take(), entries.take()) {
                    (Some((key, node)), None) => {
                        visitor.visit_enum(Choice { name: &key.name, span: key.span, content: Some(node) })
                    }
                    _ => Err(Error::new("expected a name, or a table with the name as its only key".into(), None)),
                }
            }
            other => Err(Error::new(format!("expected a name, found {}", other.describe()), None)),
        }
        .map_err(|error| error.at(span))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// Reads an array and makes sure that nothing is left over.
fn visit_array<'de, V: Visitor<'de>>(items: &'de [Node], visitor: V) -> Result<V::Value, Error> {
    let mut rest = Items { items: items.iter() };
    let value = visitor.visit_seq(&mut rest)?;
    match rest.items.len() {
        0 => Ok(value),
        left => Err(Error::new(format!("expected {} elements, found {}", items.len() - left, items.len()), None)),
    }
}

struct Items<'de> {
    items: std::slice::Iter<'de, Node>,
}

impl<'de> SeqAccess<'de> for &mut Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(node) = self.items.next() else { return Ok(None) };
        seed.deserialize(Reader::plain(node)).map(Some).map_err(|error| error.at(node.span))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The entries of a table, perhaps without its `kind`.
struct Entries<'de> {
    table: &'de Table,
    next: usize,
    skip: &'de [&'de str],
    value: Option<&'de Node>,
}

impl<'de> Entries<'de> {
    fn new(table: &'de Table, skip: &'de [&'de str]) -> Self {
        Self { table, next: 0, skip, value: None }
    }

    fn take(&mut self) -> Option<(&'de Key, &'de Node)> {
        loop {
            let entry = self.table.at(self.next)?;
            self.next += 1;
            if !self.skip.contains(&entry.0.name.as_ref()) {
                return Some(entry);
            }
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((key, node)) = self.take() else { return Ok(None) };
        self.value = Some(node);
        let name: StrDeserializer<'_, Error> = key.name.as_ref().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|error| error.at(key.span))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let Some(node) = self.value.take() else {
            return Err(Error::new("a value was asked for before its key".into(), None));
        };
        seed.deserialize(Reader::plain(node)).map_err(|error| error.at(node.span))
    }
}

/// A choice by name, perhaps with content.
struct Choice<'de> {
    name: &'de str,
    span: Span,
    content: Option<&'de Node>,
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        let name: StrDeserializer<'_, Error> = self.name.into_deserializer();
        let value = seed.deserialize(name).map_err(|error| error.at(self.span))?;
        Ok((value, self))
    }
}

impl<'de> Choice<'de> {
    fn content(&self) -> Result<Reader<'de>, Error> {
        match self.content {
            Some(node) => Ok(Reader::plain(node)),
            None => Err(Error::new(format!("the choice `{0}` needs a value: write {{ {0} = … }}", self.name), None)),
        }
    }
}

impl<'de> VariantAccess<'de> for Choice<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.content {
            None => Ok(()),
            Some(node) => Err(Error::new(format!("the choice `{}` has no value", self.name), None).at(node.span)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        let content = self.content()?;
        let span = content.node.span;
        seed.deserialize(content).map_err(|error| error.at(span))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.content()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.content()?.deserialize_any(visitor)
    }
}
