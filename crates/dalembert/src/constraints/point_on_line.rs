//! A point that stays on a line, as a bead on a wire.
//!
//! Rows: the components of the offset across the line, which passes through the first marker along `axis` of its frame (2).

use super::{Constraint, Quantity};
use crate::element::About;
use crate::joints::Axis;
use crate::joints::primitives::{off_axis, travel};
use crate::model::{Frame, Instant, Place, Point};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point kept on a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointOnLine {
    /// The direction of the line, in the frame of the first marker.
    #[serde(default)]
    pub axis: Axis,
}

impl About for PointOnLine {
    const KIND: &'static str = "point_on_line";
    const SUMMARY: &'static str = "Keeps the second marker on a line through the first.";

    fn sample() -> Self {
        Self { axis: [-2.0, 1.0, 2.0].into() }
    }
}

impl Constraint for PointOnLine {
    type Markers = (Frame, Point);

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length, Quantity::Length]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out.copy_from_slice(&off_axis(at, &self.axis));
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        self.axis.defect("axis")
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        vec![("travel", "m")]
    }
    fn coordinate<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = travel(at, &self.axis);
    }
}
