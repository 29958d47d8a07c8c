//! An element written to a scene and read again is the same element.

use super::Violation;
use crate::element::{Describe, Kind};
use crate::scene::{Document, Limits, Overrides};
use serde_json::{Map, Value, json};

/// Writes the sample as a scene, reads that, and compares; every key must be in the schema.
pub fn description<T: Describe + ?Sized>(section: &str, kind: &Kind<T>) -> Result<(), Violation> {
    let broken = |message: String| Err(Violation { message });
    let sample = (kind.sample)();
    let parameters = sample.parameters();
    if sample.kind() != kind.kind {
        return broken(format!("the sample calls itself `{}`", sample.kind()));
    }

    let schema = (kind.schema)();
    let known = schema.get("properties").and_then(Value::as_object);
    if let Some(key) = parameters.keys().find(|key| !known.is_some_and(|known| known.contains_key(*key))) {
        return broken(format!("the schema does not know the key `{key}`"));
    }

    let mut table = Map::new();
    table.insert("kind".to_owned(), json!(kind.kind));
    if let Some(need) = kind.need {
        table.insert(need.key.to_owned(), json!(["a", "b"]));
    }
    table.extend(parameters.clone());
    let text = match toml::to_string(&json!({ section: { "sample": table } })) {
        Ok(text) => text,
        Err(error) => return broken(format!("cannot be written as TOML: {error}")),
    };
    let document = match Document::from_text("sample.toml", &text, &Overrides::none(), &Limits::default()) {
        Ok(document) => document,
        Err(error) => return broken(format!("cannot be read again: {}\n{text}", error.plain())),
    };
    let Some(entry) = document.section(section).next() else {
        return broken(format!("the scene has no section `{section}`:\n{text}"));
    };
    match (kind.read)(&entry) {
        Ok(read) if read.kind() == kind.kind && read.parameters() == parameters => Ok(()),
        Ok(read) => {
            let (was, is) = (Value::Object(parameters), Value::Object(read.parameters()));
            broken(format!("written {was}, read `{}` {is}", read.kind()))
        }
        Err(error) => broken(format!("cannot be read again: {}\n{text}", error.plain())),
    }
}
