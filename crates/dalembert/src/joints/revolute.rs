//! A hinge: two frames share a point and an axis; the angle about it is free.
//!
//! Rows: the offset d of the second marker in the first frame (3), the axes parallel (2).
//! The multipliers are the force on the hinge in the first frame and the two torques across its axis.

use super::Axis;
use super::primitives::{aligned, angle, axes_defect, offset};
use crate::constraints::{Constraint, Quantity};
use crate::element::About;
use crate::model::{Frame, Instant, Place};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A hinge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revolute {
    /// The joint axis in the frame of the first marker.
    #[serde(default)]
    pub axis: Axis,
    /// The joint axis in the frame of the second marker; the same numbers as `axis` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis_b: Option<Axis>,
}

impl About for Revolute {
    const KIND: &'static str = "revolute";
    const SUMMARY: &'static str = "A hinge: two frames share a point and an axis, the angle about it is free.";

    fn sample() -> Self {
        Self { axis: [1.0, -2.0, 2.0].into(), axis_b: Some([0.6, 0.0, 0.8].into()) }
    }
}

impl Revolute {
    /// The joint about an axis that has the same numbers in both frames.
    pub fn about(axis: [f64; 3]) -> Self {
        Self { axis: axis.into(), axis_b: None }
    }

    fn axes(&self) -> (&Axis, &Axis) {
        (&self.axis, self.axis_b.as_ref().unwrap_or(&self.axis))
    }
}

impl Constraint for Revolute {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length, Quantity::Length, Quantity::Length, Quantity::Angle, Quantity::Angle]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (a, b) = self.axes();
        offset(at).write(out);
        out[3..].copy_from_slice(&aligned(at, a, b));
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        axes_defect(&self.axis, self.axis_b.as_ref())
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        vec![("angle", "rad")]
    }
    fn coordinate<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (a, b) = self.axes();
        out[0] = angle(&at[0], &at[1], a, b);
    }
}
