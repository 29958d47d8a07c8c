//! Orientations as people write them: a unit quaternion, or an axis and an angle.

use dalembert_methods::lie::Quat;
use dalembert_methods::vector::Vec3;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A rotation, kept in the form in which it was written.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Orientation {
    /// A quaternion (w, x, y, z), scalar first; it is normalised when used.
    Quaternion([f64; 4]),
    /// A turn by `angle` radians about `axis` (any length but zero).
    AxisAngle {
        /// The axis.
        axis: [f64; 3],
        /// The angle in rad.
        angle: f64,
    },
}

impl Default for Orientation {
    fn default() -> Self {
        Self::Quaternion([1.0, 0.0, 0.0, 0.0])
    }
}

impl Orientation {
    /// The unit quaternion.
    pub fn quaternion(&self) -> Quat<f64> {
        match *self {
            Self::Quaternion([1.0, 0.0, 0.0, 0.0]) => Quat::identity(),
            Self::Quaternion(q) => Quat(q).normalized(),
            Self::AxisAngle { axis, angle } => Quat::exp(Vec3(axis).normalized() * angle),
        }
    }
}

impl Serialize for Orientation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Quaternion(q) => q.serialize(serializer),
            Self::AxisAngle { axis, angle } => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("axis", axis)?;
                map.serialize_entry("angle", angle)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Orientation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = Orientation;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a quaternion [w, x, y, z] or { axis = [x, y, z], angle = … }")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Orientation, A::Error> {
                let q = <[f64; 4]>::deserialize(de::value::SeqAccessDeserializer::new(seq))?;
                let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
                if (norm - 1.0).abs() > 1e-6 {
                    return Err(de::Error::custom(format!(
                        "the length of this quaternion is {norm}, but a rotation needs length 1 (within 1e-6)"
                    )));
                }
                Ok(Orientation::Quaternion(q))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Orientation, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Turn {
                    axis: [f64; 3],
                    angle: f64,
                }
                let Turn { axis, angle } = Turn::deserialize(de::value::MapAccessDeserializer::new(map))?;
                if axis == [0.0; 3] {
                    return Err(de::Error::custom("the axis of a rotation must not be zero"));
                }
                Ok(Orientation::AxisAngle { axis, angle })
            }
        }
        deserializer.deserialize_any(Form)
    }
}

impl JsonSchema for Orientation {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Orientation".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let quaternion = <[f64; 4]>::json_schema(generator);
        let axis = <[f64; 3]>::json_schema(generator);
        let angle = f64::json_schema(generator);
        json_schema!({
            "description": "A unit quaternion [w, x, y, z], scalar first, or an axis and an angle in rad.",
            "anyOf": [
                quaternion,
                {
                    "type": "object",
                    "properties": { "axis": axis, "angle": angle },
                    "required": ["axis", "angle"],
                    "additionalProperties": false
                }
            ]
        })
    }
}
