//! What every kind of element says of itself: the table from which scenes, help, book and schema are made.

use crate::model::{Markers, Need};
use crate::scene::{Entry, SceneError};
use schemars::{JsonSchema, Schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// The description of a kind of element. Its parameters are the fields of the type itself: their names, units (in the
/// schema attribute `unit`), defaults and doc comments are what help, book and JSON Schema show.
pub trait About: Clone + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The word after `kind =` in a scene.
    const KIND: &'static str;
    /// One sentence: what it is.
    const SUMMARY: &'static str;
    /// Where its equations come from.
    const REFERENCES: &'static [&'static str] = &[];

    /// An instance with values of ordinary size in which no term vanishes: what [`crate::check`] tries the laws of
    /// mechanics on, and what documentation shows.
    fn sample() -> Self;
}

/// [`About`] of an element of unknown type.
pub trait Describe {
    /// The word after `kind =` in a scene.
    fn kind(&self) -> &'static str;
    /// Its parameters, as a scene writes them.
    fn parameters(&self) -> serde_json::Map<String, serde_json::Value>;
}

impl<T: About> Describe for T {
    fn kind(&self) -> &'static str {
        T::KIND
    }
    fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        }
    }
}

/// The JSON Schema of the parameters of a kind.
pub fn schema_of<T: About>() -> Schema {
    schemars::schema_for!(T)
}

/// A registered kind of element: everything that can be known of it without having one.
///
/// `T` is the object through which a model holds it, for instance `dyn AnyForce`.
pub struct Kind<T: ?Sized> {
    /// The word after `kind =` in a scene.
    pub kind: &'static str,
    /// One sentence: what it is.
    pub summary: &'static str,
    /// Where its equations come from.
    pub references: &'static [&'static str],
    /// What markers it asks for, if it is attached to markers.
    pub need: Option<Need>,
    /// The JSON Schema of its parameters.
    pub schema: fn() -> Schema,
    /// Reads it from a scene. The keys `kind` and `need.key` belong to the table but not to the parameters.
    pub read: fn(&Entry<'_>) -> Result<Box<T>, SceneError>,
    /// A representative instance, see [`About::sample`].
    pub sample: fn() -> Box<T>,
}

impl<T: ?Sized> Kind<T> {
    /// The entry of a registry for elements of type `E`.
    pub fn new<E: About>(
        need: Option<Need>,
        read: fn(&Entry<'_>) -> Result<Box<T>, SceneError>,
        sample: fn() -> Box<T>,
    ) -> Self {
        let (kind, summary, references) = (E::KIND, E::SUMMARY, E::REFERENCES);
        Self { kind, summary, references, need, schema: schema_of::<E>, read, sample }
    }
}

/// Reads the parameters of an element that is attached to markers of type `M`: what its table holds besides the key
/// that names the markers. Errors keep their places.
pub fn read_attached<E: About, M: Markers>(entry: &Entry<'_>) -> Result<E, SceneError> {
    entry.deserialize_element::<Besides<E, NeedKey<M>>>().map(|found| found.element)
}

/// A key of a table that is not a parameter of the element.
pub(crate) trait Foreign {
    /// The key.
    const KEY: &'static str;
}

struct NeedKey<M>(PhantomData<M>);

impl<M: Markers> Foreign for NeedKey<M> {
    const KEY: &'static str = M::NEED.key;
}

/// An element read from a table that also holds the key of `K`.
pub(crate) struct Besides<E, K> {
    pub(crate) element: E,
    key: PhantomData<K>,
}

impl<'de, E: About, K: Foreign> Deserialize<'de> for Besides<E, K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form<E, K>(PhantomData<(E, K)>);
        impl<'de, E: About, K: Foreign> Visitor<'de> for Form<E, K> {
            type Value = E;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<E, A::Error> {
                E::deserialize(MapAccessDeserializer::new(Without { map, key: K::KEY }))
            }
        }
        deserializer.deserialize_map(Form::<E, K>(PhantomData)).map(|element| Self { element, key: PhantomData })
    }
}

/// The entries of a map except those under one key.
struct Without<A> {
    map: A,
    key: &'static str,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Without<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let mut seed = Some(seed);
        loop {
            let skip = Skip { seed: &mut seed, key: self.key };
            match self.map.next_key_seed(skip)? {
                None => return Ok(None),
                Some(Some(found)) => return Ok(Some(found)),
                Some(None) => {
                    self.map.next_value::<IgnoredAny>()?;
                }
            }
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Reads a key by the seed, unless it is the one to leave out.
struct Skip<'s, S> {
    seed: &'s mut Option<S>,
    key: &'static str,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Skip<'_, S> {
    type Value = Option<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name == self.key {
            return Ok(None);
        }
        let seed = self.seed.take().expect("a seed reads one key, and reading stops at the first key not left out");
        seed.deserialize(serde::de::value::StringDeserializer::new(name)).map(Some)
    }
}
