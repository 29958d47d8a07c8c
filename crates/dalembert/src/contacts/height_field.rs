//! Ground given by its height: z = h(x, y) in the frame of the first marker.
//!
//! The gap of a point is (z − h)/√(1 + h_x² + h_y²): its distance from the tangent plane below it, which is the distance
//! from the surface to first order. A ball is measured at its centre, so its radius must be small beside the radius of
//! curvature of the ground.

use super::{Friction, Surface, Touch, Touching, is_no_suction, no_suction, touch_defect};
use crate::element::About;
use crate::expression::{Expression, ExpressionError};
use crate::signals::SignalRef;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Jet, Real};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The height of the ground as an expression in x and y.
#[derive(Clone, Debug)]
pub struct Height {
    text: String,
    code: Expression,
}

impl Height {
    /// Parses the text.
    pub fn new(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self { text: text.to_owned(), code: Expression::parse_in(text, &["x", "y"])? })
    }

    /// The height and its slopes at a point.
    fn at<R: Real>(&self, x: R, y: R) -> [R; 3] {
        let mut variables = [Jet::<R, 2>::constant(x), Jet::constant(y)];
        variables[0].eps[0] = R::one();
        variables[1].eps[1] = R::one();
        let height = self.code.evaluate(&variables);
        [height.re, height.eps[0], height.eps[1]]
    }
}

impl PartialEq for Height {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Serialize for Height {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Height {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(|error| {
            let help = error.help().map_or(String::new(), |help| format!("; {help}"));
            serde::de::Error::custom(format!("in the height \"{text}\": {error}{help}"))
        })
    }
}

impl JsonSchema for Height {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Height".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "An expression in x and y, in m.", "unit": "m" })
    }
}

/// Ground of any smooth shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeightField {
    /// The height z of the ground over the x–y plane of the first marker, such as `"0.1*sin(2*pi*x)"`.
    pub height: Height,
    /// Radius of a ball around each of the points; 0 for the points themselves.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub radius: f64,
    /// Coefficient of restitution ε between 0 and 1.
    #[schemars(extend("unit" = "1"))]
    #[serde(default)]
    pub restitution: f64,
    /// Dry friction; none unless given.
    #[serde(default)]
    pub friction: Friction,
    /// Suction that pulls each closed point to the surface; none where it is negative.
    #[schemars(extend("unit" = "N"))]
    #[serde(default = "no_suction", skip_serializing_if = "is_no_suction")]
    pub suction: SignalRef,
}

impl About for HeightField {
    const KIND: &'static str = "height_field";
    const SUMMARY: &'static str = "Uneven ground z = h(x, y) that points, or small balls around them, cannot pass.";

    fn sample() -> Self {
        let height = Height::new("0.2*sin(2*x) + 0.1*x*y").expect("a sample is well formed");
        Self { height, radius: 0.05, restitution: 0.5, friction: Friction::coulomb(0.3), suction: 2.0.into() }
    }
}

impl Surface for HeightField {
    type Markers = Touching;

    fn distance<R: Real>(&self, _t: R, at: Vec3<R>) -> (R, Vec3<R>) {
        let [height, slope_x, slope_y] = self.height.at(at[0], at[1]);
        let scale = (slope_x * slope_x + slope_y * slope_y + 1.0).sqrt().recip();
        ((at[2] - height) * scale, Vec3([-slope_x * scale, -slope_y * scale, scale]))
    }
    fn touch(&self) -> Touch<'_> {
        Touch {
            radius: self.radius,
            restitution: self.restitution,
            friction: &self.friction,
            suction: &self.suction,
            hollow: 0.0,
        }
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.suction]
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        touch_defect(&self.touch())
    }
}
