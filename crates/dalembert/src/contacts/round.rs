//! Spheres and cylinders, touched from outside or from inside.

use super::{Friction, Surface, Touch, Touching, is_no_suction, no_suction, touch_defect};
use crate::element::About;
use crate::joints::Axis;
use crate::joints::primitives::{along, positive};
use crate::model::Point;
use crate::signals::SignalRef;
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sphere around the first marker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Radius of the sphere.
    #[schemars(extend("unit" = "m"))]
    pub size: f64,
    /// Whether points stay inside the sphere instead of outside.
    #[serde(default)]
    pub inside: bool,
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

impl About for Sphere {
    const KIND: &'static str = "sphere";
    const SUMMARY: &'static str = "A sphere that points, or balls around them, cannot enter (or leave).";

    fn sample() -> Self {
        Self {
            size: 0.4,
            inside: false,
            radius: 0.1,
            restitution: 0.5,
            friction: Friction::coulomb(0.3),
            suction: 2.0.into(),
        }
    }
}

/// The distance from a round surface of given size, seen from outside or inside, and its normal.
fn round<R: Real>(from_axis: Vec3<R>, size: f64, inside: bool) -> (R, Vec3<R>) {
    let length = from_axis.norm();
    let normal = from_axis * length.recip();
    match inside {
        false => (length - size, normal),
        true => (-length + size, -normal),
    }
}

impl Surface for Sphere {
    type Markers = (Point, Vec<Point>);

    fn distance<R: Real>(&self, _t: R, at: Vec3<R>) -> (R, Vec3<R>) {
        round(at, self.size, self.inside)
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
        positive("size", "the radius of a sphere", self.size).or_else(|| touch_defect(&self.touch()))
    }
}

/// An endless cylinder around an axis through the first marker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// The axis in the frame of the first marker.
    #[serde(default)]
    pub axis: Axis,
    /// Radius of the cylinder.
    #[schemars(extend("unit" = "m"))]
    pub size: f64,
    /// Whether points stay inside the cylinder, as in a pipe, instead of outside.
    #[serde(default)]
    pub inside: bool,
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

impl About for Cylinder {
    const KIND: &'static str = "cylinder";
    const SUMMARY: &'static str = "A cylinder or pipe that points, or balls around them, cannot enter (or leave).";

    fn sample() -> Self {
        Self {
            axis: [0.2, 1.0, 0.5].into(),
            size: 0.9,
            inside: true,
            radius: 0.1,
            restitution: 0.5,
            friction: Friction::coulomb(0.3),
            suction: 2.0.into(),
        }
    }
}

impl Surface for Cylinder {
    type Markers = Touching;

    fn distance<R: Real>(&self, _t: R, at: Vec3<R>) -> (R, Vec3<R>) {
        let axis = self.axis.unit();
        let height = along(at, axis);
        round(Vec3(std::array::from_fn(|k| at[k] - height * axis[k])), self.size, self.inside)
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
        let size = || positive("size", "the radius of a cylinder", self.size);
        self.axis.defect("axis").or_else(size).or_else(|| touch_defect(&self.touch()))
    }
}
