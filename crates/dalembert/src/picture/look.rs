//! How bodies look when a scene says so: shapes under the key `shape` of a body. They are for the eye only; masses, inertias and contacts
//! never come from them.

use super::triangles::Triangles;
use crate::model::Orientation;
use crate::shapes::{Ball, Brick, Ellipsoid};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// `shape` in a body: a shape for looking at, or a list of them; one of the forms, where it is in the frame of the body, and its colour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Look {
    /// A box about its centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#box: Option<Brick>,
    /// A sphere about its centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sphere: Option<Ball>,
    /// A cylinder along z about its centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cylinder: Option<Tube>,
    /// A cylinder along z with half balls at its ends; the length is without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capsule: Option<Tube>,
    /// An ellipsoid about its centre.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ellipsoid: Option<Ellipsoid>,
    /// Triangles of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshFile>,
    /// The links of a tree that look so: a name in which `*` stands for any text; the first if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Position in the frame of the body or link.
    #[schemars(extend("unit" = "m"))]
    pub at: [f64; 3],
    /// Orientation in the frame of the body or link.
    pub orientation: Orientation,
    /// Colour as `"#rrggbb"`; that of the body in the picture if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
}

/// Radius and length of something long.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tube {
    /// Radius.
    #[schemars(extend("unit" = "m"))]
    pub radius: f64,
    /// Length along z.
    #[schemars(extend("unit" = "m"))]
    pub length: f64,
}

/// A mesh file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshFile {
    /// The file, `.stl` or `.obj`, relative to the scene file that names it.
    pub file: String,
    /// Factors along x, y and z; negative ones mirror.
    #[serde(default = "unscaled")]
    pub scale: [f64; 3],
    /// What is in the file, once it was read.
    #[serde(skip)]
    pub triangles: Option<Arc<Triangles>>,
}

fn unscaled() -> [f64; 3] {
    [1.0; 3]
}

impl Look {
    /// The key of the body under which looks are written.
    pub const KEY: &'static str = "shape";

    /// What is wrong with it, if anything: the path of the key, and what was expected.
    pub fn defect(&self) -> Option<(&'static str, String)> {
        let mut forms: Vec<(&'static str, &'static str, Vec<f64>)> = Vec::new();
        let mut form = |name, path, sizes: Option<Vec<f64>>| forms.extend(sizes.map(|sizes| (name, path, sizes)));
        form("box", "box.size", self.r#box.as_ref().map(|b| b.size.to_vec()));
        form("sphere", "sphere.radius", self.sphere.as_ref().map(|b| vec![b.radius]));
        form("cylinder", "cylinder", self.cylinder.map(|t| vec![t.radius, t.length]));
        form("capsule", "capsule", self.capsule.map(|t| vec![t.radius, t.length]));
        form("ellipsoid", "ellipsoid.radii", self.ellipsoid.as_ref().map(|e| e.radii.to_vec()));
        form("mesh", "mesh.scale", self.mesh.as_ref().map(|m| m.scale.map(f64::abs).to_vec()));
        let choice = "box, sphere, cylinder, capsule, ellipsoid, mesh";
        match forms.as_slice() {
            [] => return Some(("", format!("a shape needs a form: one of {choice}"))),
            [_, (second, ..), ..] => {
                let message = "a shape has one form; write a list of shapes for several".to_owned();
                return Some((second, message));
            }
            [(_, path, sizes)] => {
                if let Some(size) = sizes.iter().find(|size| !(**size > 0.0 && size.is_finite())) {
                    return Some((path, format!("sizes must be positive and finite, not {size}")));
                }
            }
        }
        let readable = |file: &str| [".stl", ".obj"].iter().any(|ending| file.to_ascii_lowercase().ends_with(ending));
        if let Some(mesh) = self.mesh.as_ref().filter(|mesh| !readable(&mesh.file)) {
            return Some(("mesh.file", format!("meshes are read from .stl and .obj files, not from `{}`", mesh.file)));
        }
        let hex = |text: &str| {
            text.strip_prefix('#').is_some_and(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()))
        };
        let colour = self.colour.as_deref().filter(|colour| !hex(colour))?;
        Some(("colour", format!("a colour is written like \"#d55e00\", not \"{colour}\"")))
    }
}

/// One shape or several, as a scene writes them: a table, or a list of tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looks(pub Vec<Look>);

impl Serialize for Looks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Looks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Looks;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a shape like { box = { size = [1, 1, 1] } }, or a list of them")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Looks, A::Error> {
                Look::deserialize(MapAccessDeserializer::new(map)).map(|look| Looks(vec![look]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Looks, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Looks)
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl JsonSchema for Looks {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Looks".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let look = generator.subschema_for::<Look>();
        json_schema!({
            "description": "How it looks: a shape or a list of shapes, for the eye only.",
            "anyOf": [look, { "type": "array", "items": look }]
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn look(json: &str) -> Look {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_shape_has_one_form_and_positive_sizes() {
        assert_eq!(look(r##"{"box": {"size": [1, 2, 3]}, "colour": "#00aaFF"}"##).defect(), None);
        assert_eq!(look("{}").defect().unwrap().0, "");
        assert_eq!(look(r#"{"sphere": {"radius": 1}, "box": {"size": [1, 1, 1]}}"#).defect().unwrap().0, "sphere");
        assert_eq!(look(r#"{"box": {"size": [1, 0, 3]}}"#).defect().unwrap().0, "box.size");
        assert_eq!(look(r#"{"capsule": {"radius": 1, "length": -1}}"#).defect().unwrap().0, "capsule");
        assert_eq!(look(r#"{"sphere": {"radius": 1}, "colour": "red"}"#).defect().unwrap().0, "colour");
        assert_eq!(look(r#"{"mesh": {"file": "a.dae"}}"#).defect().unwrap().0, "mesh.file");
        assert_eq!(look(r#"{"mesh": {"file": "a.STL", "scale": [1, -1, 1]}}"#).defect(), None);
    }

    #[test]
    fn one_or_several_come_back() {
        for text in [r#"{"sphere": {"radius": 1}}"#, r#"[{"sphere": {"radius": 1}}, {"box": {"size": [1, 1, 1]}}]"#] {
            let looks: Looks = serde_json::from_str(text).unwrap();
            let again: Looks = serde_json::from_str(&serde_json::to_string(&looks).unwrap()).unwrap();
            assert_eq!(looks, again);
        }
        assert!(serde_json::from_str::<Looks>("3").is_err());
    }
}
