//! What every kind of element says of itself: the table from which scenes, help, book and schema are made.

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
