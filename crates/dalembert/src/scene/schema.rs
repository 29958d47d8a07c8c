//! The JSON Schema of scene files, and reference tables, both made from what elements say of themselves.

use super::assemble::MarkerSettings;
use super::comparison::{ComparisonSettings, MethodSettings};
use super::figures::{PanelSettings, ShapesSettings};
use super::settings::{ContactSettings, EventSettings, OutputSettings, RunSettings, SceneInfo, World};
use crate::element::Kind;
use crate::model::Need;
use crate::picture::{Look, Looks};
use crate::{assemblies, bodies, constraints, contacts, forces, joints, signals};
use dalembert_methods::nonsmooth::choices;
use schemars::{JsonSchema, Schema, schema_for};
use serde_json::{Map, Value, json};

/// What is known of a kind of element, for help and documentation.
#[derive(Clone, Debug)]
pub struct KindInfo {
    /// The section of a scene it belongs to.
    pub section: &'static str,
    /// The word after `kind =`.
    pub kind: &'static str,
    /// One sentence: what it is.
    pub summary: &'static str,
    /// Where its equations come from.
    pub references: &'static [&'static str],
    /// The markers it asks for.
    pub need: Option<Need>,
    /// The schema of its parameters.
    pub schema: Schema,
}

/// A parameter of a kind, as documentation shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldInfo {
    /// Its key.
    pub name: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// What it is when not given; none if it must be given.
    pub default: Option<String>,
    /// What it means.
    pub meaning: String,
}

/// Every kind of element of every section.
pub fn every_kind() -> Vec<KindInfo> {
    fn of<T: ?Sized>(section: &'static str, kinds: Vec<Kind<T>>) -> impl Iterator<Item = KindInfo> {
        kinds.into_iter().map(move |k| KindInfo {
            section,
            kind: k.kind,
            summary: k.summary,
            references: k.references,
            need: k.need,
            schema: (k.schema)(),
        })
    }
    of("body", bodies::kinds())
        .chain(of("joint", joints::kinds()))
        .chain(of("constraint", constraints::kinds()))
        .chain(of("contact", contacts::kinds()))
        .chain(of("force", forces::kinds()))
        .chain(of("signal", signals::kinds()))
        .chain(of("assembly", assemblies::kinds()))
        .collect()
}

/// The schemas of the sections that are no elements; each is described by its heading and what it is for.
pub fn every_section() -> Vec<Schema> {
    vec![
        schema_for!(SceneInfo),
        schema_for!(World),
        schema_for!(RunSettings),
        schema_for!(ContactSettings),
        schema_for!(OutputSettings),
        schema_for!(EventSettings),
        schema_for!(PanelSettings),
        schema_for!(ShapesSettings),
        schema_for!(ComparisonSettings),
        schema_for!(MethodSettings),
        schema_for!(Look),
    ]
}

/// The parameters in a schema, in the order of the source.
pub fn fields(schema: &Schema) -> Vec<FieldInfo> {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let field = |(name, value): (&String, &Value)| FieldInfo {
        name: name.clone(),
        unit: text(value, "unit"),
        default: (!required.contains(&name.as_str()))
            .then(|| value.get("default").map_or_else(|| "–".to_owned(), Value::to_string)),
        meaning: text(value, "description").replace('\n', " "),
    };
    properties.into_iter().flatten().map(field).collect()
}

/// The JSON Schema of scene files.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let mut properties = Map::new();
    let kinds = every_kind();
    for section in ["body", "joint", "constraint", "contact", "force", "signal", "assembly"] {
        let of_section: Vec<&KindInfo> = kinds.iter().filter(|k| k.section == section).collect();
        let choices: Vec<Value> = of_section.iter().map(|k| element(k, &mut definitions)).collect();
        let entry = if section == "body" {
            // `ground` exists already and may be given without a kind.
            json!({ "anyOf": choices, "description": "A body; `ground` may be given only to add markers and shapes to it." })
        } else {
            json!({ "oneOf": choices })
        };
        properties.insert(section.to_owned(), named(entry));
    }
    let marker = lenient(plain(schema_for!(MarkerSettings), &mut definitions));
    properties.insert("marker".to_owned(), named(marker));
    properties.insert("event".to_owned(), named(table::<EventSettings>(&mut definitions)));
    properties.insert("panel".to_owned(), named(table::<PanelSettings>(&mut definitions)));
    properties.insert("shapes".to_owned(), named(table::<ShapesSettings>(&mut definitions)));
    properties.insert("comparison".to_owned(), named(table::<ComparisonSettings>(&mut definitions)));
    properties.insert("scene".to_owned(), table::<SceneInfo>(&mut definitions));
    properties.insert("world".to_owned(), table::<World>(&mut definitions));
    properties.insert("run".to_owned(), run_table(&mut definitions));
    properties.insert("output".to_owned(), table::<OutputSettings>(&mut definitions));
    properties.insert(
        "include".to_owned(),
        json!({
            "description": "Other scene files to merge, relative to this one.",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
        }),
    );
    properties.insert(
        "parameters".to_owned(),
        json!({
            "description": "Numbers with names, for arithmetic: \"= 2*length\".",
            "type": "object",
            "additionalProperties": { "anyOf": [
                { "type": "number" }, { "type": "string", "pattern": "^=" },
                { "type": "object",
                  "properties": { "value": number(), "min": number(), "max": number(),
                                  "unit": { "type": "string" }, "about": { "type": "string" } },
                  "required": ["value"], "additionalProperties": false }
            ] }
        }),
    );
    properties.insert(
        "repeat".to_owned(),
        json!({
            "description": "Templates, expanded for each value of an index; {…} in names and texts is replaced.",
            "type": "array",
            "items": { "type": "object",
                       "properties": { "index": { "type": "string" }, "from": number(), "to": number() } }
        }),
    );
    properties.insert(
        "set".to_owned(),
        json!({
            "description": "Values on top of everything else, also of what repeats make, by their paths: \"body.link2.mass\" = 2.",
            "type": "object"
        }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dalembert scene",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "$defs": definitions,
    })
}

fn number() -> Value {
    json!({ "anyOf": [{ "type": "number" }, { "type": "string", "pattern": "^=" }] })
}

fn named(entry: Value) -> Value {
    json!({ "type": "object", "additionalProperties": entry })
}

fn table<T: JsonSchema>(definitions: &mut Map<String, Value>) -> Value {
    lenient(plain(schema_for!(T), definitions))
}

/// The `[run]` table with the settings of every integrator by name.
fn run_table(definitions: &mut Map<String, Value>) -> Value {
    let mut run = table::<RunSettings>(definitions);
    let methods = choices();
    let names: Vec<&str> = methods.iter().map(|about| about.name).collect();
    run["properties"]["integrator"] = json!({ "description": "The integrator.", "enum": names, "default": "dop853" });
    let mut settings = Map::new();
    for p in methods.iter().flat_map(|about| about.parameters) {
        let entry = json!({ "description": p.meaning, "unit": p.unit, "anyOf": number()["anyOf"] });
        settings.insert(p.name.to_owned(), entry);
    }
    run["properties"]["settings"] = json!({ "type": "object", "properties": settings, "additionalProperties": false });
    run
}

/// The table of one kind of element.
fn element(kind: &KindInfo, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = lenient(plain(kind.schema.clone(), definitions));
    let table = schema.as_object_mut().expect("elements are tables");
    table.insert("description".to_owned(), json!(kind.summary));
    let mut own = Map::from_iter([("kind".to_owned(), json!({ "const": kind.kind }))]);
    let mut required = vec![json!("kind")];
    if kind.section == "body" {
        let marker = lenient(plain(schema_for!(MarkerSettings), definitions));
        own.insert(bodies::MARKERS.to_owned(), named(marker));
    }
    if kind.section == "body" && bodies::takes_looks(kind.kind) {
        own.insert(Look::KEY.to_owned(), lenient(plain(schema_for!(Looks), definitions)));
    }
    if let Some(need) = kind.need {
        let name = json!({ "type": "string", "description": "A body, or a marker as `body.marker`." });
        let names = match need.count {
            Some(1) if need.affine => {
                json!({ "anyOf": [name, { "type": "array", "items": name, "minItems": 4, "maxItems": 4 }] })
            }
            Some(1) => name,
            Some(n) if need.affine => json!({ "type": "array", "items": name, "minItems": n, "maxItems": n + 3 }),
            Some(n) => json!({ "type": "array", "items": name, "minItems": n, "maxItems": n }),
            None => json!({ "type": "array", "items": name, "minItems": 2 }),
        };
        own.insert(need.key.to_owned(), names);
        required.push(json!(need.key));
    }
    if let Some(Value::Object(fields)) = table.remove("properties") {
        own.extend(fields);
    }
    if let Some(Value::Array(fields)) = table.remove("required") {
        required.extend(fields);
    }
    if kind.kind == "ground" {
        required.clear();
    }
    table.insert("properties".to_owned(), Value::Object(own));
    table.insert("required".to_owned(), Value::Array(required));
    table.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// Moves the definitions of a schema to the common ones and drops its header.
fn plain(schema: Schema, definitions: &mut Map<String, Value>) -> Value {
    let mut value = schema.to_value();
    if let Some(table) = value.as_object_mut() {
        table.remove("$schema");
        table.remove("title");
        if let Some(Value::Object(inner)) = table.remove("$defs") {
            definitions.extend(inner.into_iter().map(|(name, value)| (name, lenient(value))));
        }
    }
    value
}

/// Wherever a number may stand, arithmetic may stand too.
fn lenient(value: Value) -> Value {
    match value {
        Value::Object(mut table) => {
            let number = |kind: &Value| matches!(kind.as_str(), Some("number" | "integer"));
            let is_number = table.get("type").is_some_and(|kind| match kind {
                // An optional number.
                Value::Array(kinds) => kinds.iter().any(number),
                kind => number(kind),
            });
            if is_number {
                let mut exact = Map::new();
                for key in ["type", "format", "minimum", "maximum"] {
                    if let Some(value) = table.remove(key) {
                        exact.insert(key.to_owned(), value);
                    }
                }
                table.insert("anyOf".to_owned(), json!([exact, { "type": "string", "pattern": "^=" }]));
                return Value::Object(table);
            }
            Value::Object(table.into_iter().map(|(key, value)| (key, lenient(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(lenient).collect()),
        other => other,
    }
}
