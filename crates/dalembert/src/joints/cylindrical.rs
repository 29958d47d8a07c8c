//! A sleeve on a shaft: two frames share an axis; angle about it and travel along it are free.
//!
//! Rows: the offset across the axis of the first frame (2), the axes parallel (2).

use super::Axis;
use super::primitives::{aligned, angle, axes_defect, off_axis, travel};
use crate::constraints::{Constraint, Quantity};
use crate::element::About;
use crate::model::{Frame, Instant, Place};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sleeve on a shaft.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylindrical {
    /// The joint axis in the frame of the first marker.
    #[serde(default)]
    pub axis: Axis,
    /// The joint axis in the frame of the second marker; the same numbers as `axis` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis_b: Option<Axis>,
}

impl About for Cylindrical {
    const KIND: &'static str = "cylindrical";
    const SUMMARY: &'static str = "A sleeve on a shaft: two frames share an axis, angle and travel are free.";

    fn sample() -> Self {
        Self { axis: [-1.0, 2.0, 2.0].into(), axis_b: None }
    }
}

impl Cylindrical {
    /// The joint along an axis that has the same numbers in both frames.
    pub fn along(axis: [f64; 3]) -> Self {
        Self { axis: axis.into(), axis_b: None }
    }

    fn axes(&self) -> (&Axis, &Axis) {
        (&self.axis, self.axis_b.as_ref().unwrap_or(&self.axis))
    }
}

impl Constraint for Cylindrical {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length, Quantity::Length, Quantity::Angle, Quantity::Angle]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (a, b) = self.axes();
        out[..2].copy_from_slice(&off_axis(at, a));
        out[2..].copy_from_slice(&aligned(at, a, b));
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        axes_defect(&self.axis, self.axis_b.as_ref())
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        vec![("angle", "rad"), ("travel", "m")]
    }
    fn coordinate<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (a, b) = self.axes();
        out[0] = angle(&at[0], &at[1], a, b);
        out[1] = travel(at, a);
    }
}
