//! From a model back to a scene: every element says what it is, and the markers it is attached to.

use super::assemble::{MARKERS, MarkerSettings, Scene};
use super::{Key, Node, Span, Table, Value, to_toml};
use crate::element::Describe;
use crate::model::{Marker, Model, Need};
use crate::picture::{Look, Looks};
use serde::Serialize;

impl Scene {
    /// The scene as TOML with everything computed: reading it gives the same model and settings.
    pub fn to_toml(&self) -> String {
        let mut root = Table::default();
        put(&mut root, "scene", from_serde(&self.info));
        let world = super::settings::World { gravity: self.model.gravity() };
        put(&mut root, "world", from_serde(&world));
        describe_model(&self.model, &mut root);
        let events = self.events.iter().map(|(name, event)| (name.as_str(), from_serde(event)));
        put_section(&mut root, "event", events);
        let panels = self.panels.iter().map(|(name, panel)| (name.as_str(), from_serde(panel)));
        put_section(&mut root, "panel", panels);
        let shapes = self.shapes.iter().map(|(name, shapes)| (name.as_str(), from_serde(shapes)));
        put_section(&mut root, "shapes", shapes);
        let comparisons = self.comparisons.iter().map(|(name, comparison)| (name.as_str(), from_serde(comparison)));
        put_section(&mut root, "comparison", comparisons);
        put(&mut root, "run", from_serde(&self.run));
        put(&mut root, "output", from_serde(&self.output));
        to_toml(&root)
    }
}

/// Writes the sections of a model.
fn describe_model(model: &Model, root: &mut Table) {
    let bodies = model.bodies().iter().enumerate().filter_map(|(i, body)| {
        let mut table = element(&*body.item);
        let own = model.markers().iter().filter(|m| m.body == i);
        let markers: Vec<_> =
            own.filter_map(|m| Some((m.name.strip_prefix(&body.name)?.strip_prefix('.')?, m))).collect();
        if !markers.is_empty() {
            let mut inner = Table::default();
            for (name, marker) in &markers {
                put(&mut inner, name, from_serde(&settings(model, marker, None)));
            }
            put(&mut table, MARKERS, Value::Table(inner));
        }
        let looks: Vec<Look> = model.looks().iter().filter(|(owner, _)| *owner == i).map(|(_, l)| l.clone()).collect();
        let plain = looks.is_empty();
        if !plain {
            put(&mut table, Look::KEY, from_serde(&Looks(looks)));
        }
        let implied = i == 0 && markers.is_empty() && plain;
        (!implied).then_some((body.name.as_str(), Value::Table(table)))
    });
    put_section(root, "body", bodies);

    let free = model.markers().iter().filter(|m| !m.name.contains('.') && m.name != model.bodies()[m.body].name);
    let markers = free.map(|m| (m.name.as_str(), from_serde(&settings(model, m, Some(&model.bodies()[m.body].name)))));
    put_section(root, "marker", markers);
    let signals = model.signals().iter().map(|s| (s.name.as_str(), Value::Table(element(&*s.item))));
    put_section(root, "signal", signals);

    let forces = model.forces().iter().map(|f| (f.name.as_str(), attached(model, &*f.item, f.item.need(), &f.markers)));
    put_section(root, "force", forces);
    for section in ["joint", "constraint"] {
        let these = model.constraints().iter().filter(|c| c.section == section);
        let entries = these.map(|c| (c.name.as_str(), attached(model, &*c.item, c.item.need(), &c.markers)));
        put_section(root, section, entries);
    }
    let contacts =
        model.contacts().iter().map(|c| (c.name.as_str(), attached(model, &*c.item, c.item.need(), &c.markers)));
    put_section(root, "contact", contacts);
}

fn settings(model: &Model, marker: &Marker, body: Option<&str>) -> MarkerSettings {
    let item = &model.bodies()[marker.body].item;
    MarkerSettings {
        body: body.map(str::to_owned),
        link: item.part_name(marker.site.part).map(str::to_owned),
        at: marker.site.at,
        orientation: marker.orientation,
    }
}

/// The table of an element: kind, then parameters.
fn element(item: &(impl Describe + ?Sized)) -> Table {
    let mut table = Table::default();
    put(&mut table, "kind", Value::String(item.kind().to_owned()));
    for (name, value) in item.parameters() {
        if let Some(value) = from_json(value) {
            put(&mut table, &name, value);
        }
    }
    table
}

fn attached(model: &Model, item: &(impl Describe + ?Sized), need: Need, markers: &[usize]) -> Value {
    let mut names = markers.iter().map(|&m| Value::String(model.markers()[m].name.clone()));
    let names = match need.markers() {
        Some(1) => names.next().unwrap_or(Value::String(String::new())),
        _ => Value::Array(names.map(node).collect()),
    };
    let described = element(item);
    let mut table = Table::default();
    for (i, (key, value)) in described.into_iter().enumerate() {
        table.insert(key, value);
        if i == 0 {
            put(&mut table, need.key, names.clone());
        }
    }
    Value::Table(table)
}

fn put_section<'a>(root: &mut Table, section: &str, entries: impl Iterator<Item = (&'a str, Value)>) {
    let mut table = Table::default();
    for (name, value) in entries {
        put(&mut table, name, value);
    }
    if !table.is_empty() {
        put(root, section, Value::Table(table));
    }
}

/// What was not read from a file has no place in one.
const NOWHERE: Span = Span { file: 0, start: 0, end: 0 };

fn node(value: Value) -> Node {
    Node::new(value, NOWHERE)
}

fn put(table: &mut Table, name: &str, value: Value) {
    table.insert(Key { name: name.into(), span: NOWHERE }, node(value));
}

fn from_serde(item: &impl Serialize) -> Value {
    let json = serde_json::to_value(item).expect("settings are plain tables");
    from_json(json).expect("a table is not null")
}

/// JSON as a scene value; nothing for null.
fn from_json(json: serde_json::Value) -> Option<Value> {
    use serde_json::Value as Json;
    Some(match json {
        Json::Null => return None,
        Json::Bool(value) => Value::Boolean(value),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Integer(whole),
            None => Value::Float(number.as_f64()?),
        },
        Json::String(text) => Value::String(text),
        Json::Array(items) => Value::Array(items.into_iter().filter_map(from_json).map(node).collect()),
        Json::Object(map) => {
            let mut table = Table::default();
            for (name, value) in map {
                if let Some(value) = from_json(value) {
                    put(&mut table, &name, value);
                }
            }
            Value::Table(table)
        }
    })
}
