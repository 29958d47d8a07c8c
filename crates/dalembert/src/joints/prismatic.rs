//! A slider: two frames keep their orientation and share an axis; the travel along it is free.
//!
//! Rows: the offset across the axis of the first frame (2), the relative rotation 2 tan(φ/2) n by its components across
//! and along the axis (3).

use super::Axis;
use super::primitives::{axes_defect, off_axis, same_orientation, travel};
use crate::constraints::{Constraint, Quantity};
use crate::element::About;
use crate::model::{Frame, Instant, Place};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A slider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prismatic {
    /// The joint axis in the frame of the first marker.
    #[serde(default)]
    pub axis: Axis,
    /// The joint axis in the frame of the second marker; the same numbers as `axis` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis_b: Option<Axis>,
}

impl About for Prismatic {
    const KIND: &'static str = "prismatic";
    const SUMMARY: &'static str =
        "A slider: two frames of fixed relative orientation share an axis, the travel along it is free.";

    fn sample() -> Self {
        Self { axis: [2.0, 1.0, -2.0].into(), axis_b: Some([0.0, -0.6, 0.8].into()) }
    }
}

impl Prismatic {
    /// The joint along an axis that has the same numbers in both frames.
    pub fn along(axis: [f64; 3]) -> Self {
        Self { axis: axis.into(), axis_b: None }
    }

    fn axes(&self) -> (&Axis, &Axis) {
        (&self.axis, self.axis_b.as_ref().unwrap_or(&self.axis))
    }
}

impl Constraint for Prismatic {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length, Quantity::Length, Quantity::Angle, Quantity::Angle, Quantity::Angle]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (a, b) = self.axes();
        out[..2].copy_from_slice(&off_axis(at, a));
        out[2..].copy_from_slice(&same_orientation(at, a, b));
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        axes_defect(&self.axis, self.axis_b.as_ref())
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        vec![("travel", "m")]
    }
    fn coordinate<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = travel(at, &self.axis);
    }
}
