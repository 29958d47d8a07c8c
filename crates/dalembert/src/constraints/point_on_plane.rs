//! A point that stays in a plane, as a particle on a table.
//!
//! Row: n·d, the distance of the second marker from the plane through the first with the normal n of the first frame.
//! The multiplier is the normal force on the point, with the opposite sign.

use super::{Constraint, Quantity};
use crate::element::About;
use crate::joints::Axis;
use crate::joints::primitives::{off_axis, travel};
use crate::model::{Frame, Instant, Place, Point};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point kept in a plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointOnPlane {
    /// The normal of the plane, in the frame of the first marker.
    #[serde(default)]
    pub normal: Axis,
}

impl About for PointOnPlane {
    const KIND: &'static str = "point_on_plane";
    const SUMMARY: &'static str = "Keeps the second marker in a plane through the first.";

    fn sample() -> Self {
        Self { normal: [1.0, 2.0, -2.0].into() }
    }
}

impl Constraint for PointOnPlane {
    type Markers = (Frame, Point);

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = travel(at, &self.normal);
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        self.normal.defect("normal")
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        vec![("x", "m"), ("y", "m")]
    }
    fn coordinate<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out.copy_from_slice(&off_axis(at, &self.normal));
    }
}
