//! The tree of a scene: values that know where they were written.

use super::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// A value and its place. Equality looks at values and keys, never at places.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it is written: for a table its header, or its braces.
    pub span: Span,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// What a scene file can say.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number; infinite ones may be written, NaN may not.
    Float(f64),
    /// Text.
    String(String),
    /// Values in a row.
    Array(Vec<Node>),
    /// Values by name.
    Table(Table),
}

impl Value {
    /// The number for a computed result: whole numbers stay whole, so that counts can be computed.
    pub fn from_number(number: f64) -> Self {
        /// Every whole number up to here is exact, 2⁵³.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let negative_zero = number == 0.0 && number.is_sign_negative();
        if number.fract() == 0.0 && number.abs() <= EXACT && !negative_zero {
            Self::Integer(number as i64)
        } else {
            Self::Float(number)
        }
    }

    /// How an error calls it, with its value if that is short.
    pub fn describe(&self) -> String {
        match self {
            Self::Boolean(value) => format!("`{value}`"),
            Self::Integer(value) => format!("the number {value}"),
            Self::Float(value) => format!("the number {value:?}"),
            Self::String(text) if text.chars().count() <= 40 => format!("the text {text:?}"),
            Self::String(_) => "a long text".into(),
            Self::Array(items) => format!("an array of {}", items.len()),
            Self::Table(_) => "a table".into(),
        }
    }
}

impl Node {
    /// A value at a place.
    pub fn new(value: Value, span: Span) -> Self {
        Self { value, span }
    }

    /// The table, if it is one.
    pub fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The table to change, if it is one.
    pub fn as_table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, whole or not.
    pub fn as_number(&self) -> Option<f64> {
        match self.value {
            Value::Integer(value) => Some(value as f64),
            Value::Float(value) => Some(value),
            _ => None,
        }
    }

    /// The value under a key, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_table()?.get(key)
    }

    /// An estimate of the memory it fills, in bytes.
    pub(crate) fn cost(&self) -> usize {
        let inside = match &self.value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(Node::cost).sum(),
            Value::Table(table) => {
                table.iter().map(|(key, node)| size_of::<Key>() + key.name.len() + node.cost()).sum()
            }
            _ => 0,
        };
        size_of::<Self>() + inside
    }
}

/// A key and its place.
#[derive(Clone, Debug)]
pub struct Key {
    /// The name.
    pub name: Arc<str>,
    /// Where it is written.
    pub span: Span,
}

/// Values by name, in the order of the source.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Vec<(Key, Node)>,
    /// Where each name is, once there are too many to look through.
    index: HashMap<Arc<str>, usize>,
}

/// Tables up to this size are searched by looking through them.
const SMALL: usize = 12;

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other.iter()).all(|((a, x), (b, y))| a.name == b.name && x == y)
    }
}

impl Table {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Node)> {
        self.entries.iter().map(|(key, node)| (key, node))
    }

    /// Keys, and values to change.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&Key, &mut Node)> {
        self.entries.iter_mut().map(|(key, node)| (&*key, node))
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.name.as_ref())
    }

    fn position(&self, name: &str) -> Option<usize> {
        if self.entries.len() <= SMALL {
            self.entries.iter().position(|(key, _)| key.name.as_ref() == name)
        } else {
            self.index.get(name).copied()
        }
    }

    /// The value under a name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|(_, node)| node)
    }

    /// Key and value under a name.
    pub fn entry(&self, name: &str) -> Option<(&Key, &Node)> {
        self.position(name).map(|i| (&self.entries[i].0, &self.entries[i].1))
    }

    /// Key and value number `i`.
    pub(crate) fn at(&self, i: usize) -> Option<(&Key, &Node)> {
        self.entries.get(i).map(|(key, node)| (key, node))
    }

    /// The value under a name, to change.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        self.position(name).map(|i| &mut self.entries[i].1)
    }

    /// Puts a value under a key: at the end, or in the place of the one that had this name, which is returned.
    pub fn insert(&mut self, key: Key, node: Node) -> Option<Node> {
        if let Some(i) = self.position(&key.name) {
            self.entries[i].0 = key;
            return Some(std::mem::replace(&mut self.entries[i].1, node));
        }
        self.entries.push((key, node));
        let len = self.entries.len();
        // The index holds nothing while the table is small, and everything from then on.
        let first = if len == SMALL + 1 { 0 } else { len - 1 };
        if len > SMALL {
            for i in first..len {
                self.index.insert(self.entries[i].0.name.clone(), i);
            }
        }
        None
    }
}

impl IntoIterator for Table {
    type Item = (Key, Node);
    type IntoIter = std::vec::IntoIter<(Key, Node)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
