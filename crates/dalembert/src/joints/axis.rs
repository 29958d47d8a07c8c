//! Axes as people write them: three numbers of any length, kept as written.

use dalembert_methods::vector::Vec3;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A direction in the frame of a marker, with two directions across it.
///
/// The length of what is written does not matter. The perpendiculars are made from the axis alone
/// ([`Vec3::perpendiculars`]), so that angles about equal axes are zero at equal orientation.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 3]", into = "[f64; 3]")]
pub struct Axis {
    written: [f64; 3],
    unit: Vec3<f64>,
    across: [Vec3<f64>; 2],
}

impl Axis {
    /// The x axis.
    pub const X: [f64; 3] = [1.0, 0.0, 0.0];
    /// The y axis.
    pub const Y: [f64; 3] = [0.0, 1.0, 0.0];
    /// The z axis.
    pub const Z: [f64; 3] = [0.0, 0.0, 1.0];

    /// The unit vector.
    #[inline(always)]
    pub fn unit(&self) -> Vec3<f64> {
        self.unit
    }

    /// Two unit vectors that make a right-handed frame with the axis as its third direction.
    #[inline(always)]
    pub fn across(&self) -> [Vec3<f64>; 2] {
        self.across
    }

    /// What is wrong with the axis written under `key`, if anything.
    pub fn defect(&self, key: &'static str) -> Option<(&'static str, String)> {
        let [x, y, z] = self.written;
        let length = Vec3(self.written).norm();
        (!(length > 0.0 && length.is_finite())).then(|| {
            (key, format!("a direction needs a length that is finite and not zero, but [{x}, {y}, {z}] has {length}"))
        })
    }
}

impl From<[f64; 3]> for Axis {
    fn from(written: [f64; 3]) -> Self {
        let unit = Vec3(written).normalized();
        let (first, second) = unit.perpendiculars();
        Self { written, unit, across: [first, second] }
    }
}

impl From<Axis> for [f64; 3] {
    fn from(axis: Axis) -> Self {
        axis.written
    }
}

impl Default for Axis {
    fn default() -> Self {
        Self::Z.into()
    }
}

impl JsonSchema for Axis {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Axis".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let number = f64::json_schema(generator);
        json_schema!({
            "description": "A direction [x, y, z] of any length but zero.",
            "type": "array",
            "items": number,
            "minItems": 3,
            "maxItems": 3,
            "unit": "1"
        })
    }
}
