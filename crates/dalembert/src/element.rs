//! What every kind of element says of itself: the table from which scenes, help, book and schema are made.

use crate::model::{Markers, Need};
use crate::scene::{Entry, SceneError};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;

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
    entry.deserialize_besides(&[M::NEED.key])
}
