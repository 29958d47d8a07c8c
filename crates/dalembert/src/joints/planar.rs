//! A plate on a table: the second marker stays in the plane through the first, across the axis, which both frames share.
//!
//! Rows: the offset along the axis (1), the axes parallel (2). Free are two shifts in the plane, along the perpendiculars
//! of the axis ([`Axis::across`]: x and y for the z axis), and the angle.

use super::Axis;
use super::primitives::{aligned, angle, axes_defect, off_axis, travel};
use crate::constraints::{Constraint, Quantity};
use crate::element::About;
use crate::model::{Frame, Instant, Place};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plate sliding and turning on a plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Planar {
    /// The joint axis in the frame of the first marker.
    #[serde(default)]
    pub axis: Axis,
    /// The joint axis in the frame of the second marker; the same numbers as `axis` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis_b: Option<Axis>,
}

impl About for Planar {
    const KIND: &'static str = "planar";
    const SUMMARY: &'static str = "A plate on a table: two shifts in a plane and the angle about its normal are free.";

    fn sample() -> Self {
        Self { axis: [3.0, 2.0, 6.0].into(), axis_b: Some([0.8, 0.6, 0.0].into()) }
    }
}

impl Planar {
    /// The joint across an axis that has the same numbers in both frames.
    pub fn across(axis: [f64; 3]) -> Self {
        Self { axis: axis.into(), axis_b: None }
    }

    fn axes(&self) -> (&Axis, &Axis) {
        (&self.axis, self.axis_b.as_ref().unwrap_or(&self.axis))
    }
}

impl Constraint for Planar {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length, Quantity::Angle, Quantity::Angle]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (a, b) = self.axes();
        out[0] = travel(at, a);
        out[1..].copy_from_slice(&aligned(at, a, b));
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        axes_defect(&self.axis, self.axis_b.as_ref())
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        vec![("x", "m"), ("y", "m"), ("angle", "rad")]
    }
    fn coordinate<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (a, b) = self.axes();
        out[..2].copy_from_slice(&off_axis(at, a));
        out[2] = angle(&at[0], &at[1], a, b);
    }
}
