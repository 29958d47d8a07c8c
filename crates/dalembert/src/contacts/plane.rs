//! A plane wall or floor, which may move along its normal and carry a belt.

use super::{Friction, Surface, Touch, Touching, is_no_suction, no_suction, touch_defect};
use crate::element::About;
use crate::joints::{Axis, primitives::along};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A half-space: points stay on the side to which the normal points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// The normal in the frame of the first marker.
    #[serde(default)]
    pub normal: Axis,
    /// Height of the plane over the first marker along the normal.
    #[schemars(extend("unit" = "m"))]
    #[serde(default = "zero")]
    pub offset: SignalRef,
    /// Speed of the surface along the first tangent, as of a belt.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default = "zero")]
    pub belt: SignalRef,
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
    /// Within this distance of a point that bears on the plane other points of this contact may pass it; 0 for nowhere.
    #[schemars(extend("unit" = "m"))]
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hollow: f64,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

fn zero() -> SignalRef {
    SignalRef::Number(0.0)
}

impl Default for Plane {
    fn default() -> Self {
        Self {
            normal: Axis::default(),
            offset: zero(),
            belt: zero(),
            radius: 0.0,
            restitution: 0.0,
            friction: Friction::default(),
            suction: no_suction(),
            hollow: 0.0,
        }
    }
}

impl About for Plane {
    const KIND: &'static str = "plane";
    const SUMMARY: &'static str = "A plane that points, or balls around them, cannot pass.";

    fn sample() -> Self {
        let signal = |offset| SignalRef::new("wave", Signal::Harmonic(Harmonic { offset, ..Harmonic::sample() }));
        Self {
            normal: [1.0, 2.0, 2.0].into(),
            offset: signal(0.1),
            belt: signal(0.3),
            radius: 0.1,
            restitution: 0.5,
            friction: Friction { sliding: 0.3, along: Some([0.0, 1.0, 0.2].into()), ..Friction::default() },
            suction: signal(3.0),
            hollow: 0.0,
        }
    }
}

impl Surface for Plane {
    type Markers = Touching;

    fn distance<R: Real>(&self, t: R, at: Vec3<R>) -> (R, Vec3<R>) {
        let normal = self.normal.unit();
        (along(at, normal) - self.offset.at(t), Vec3::constant(normal.0))
    }
    fn belt<R: Real>(&self, t: R) -> R {
        self.belt.at(t)
    }
    fn touch(&self) -> Touch<'_> {
        let Self { radius, restitution, friction, suction, hollow, .. } = self;
        Touch { radius: *radius, restitution: *restitution, friction, suction, hollow: *hollow }
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.offset, &mut self.belt, &mut self.suction]
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        self.normal.defect("normal").or_else(|| touch_defect(&self.touch()))
    }
}
