//! A nut on a thread: two frames share an axis; travel = pitch · angle/2π.
//!
//! Rows: the offset across the axis of the first frame (2), the axes parallel (2), and the travel less pitch · angle/2π,
//! brought to within half a pitch of zero (1). A full turn shifts the last row by just one pitch, so it is the same smooth
//! function through any number of turns; the travel, not the angle, counts them.

use super::Axis;
use super::primitives::{aligned, angle, axes_defect, off_axis, travel, wrapped};
use crate::constraints::{Constraint, Quantity};
use crate::element::About;
use crate::model::{Frame, Instant, Place};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// A nut on a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Screw {
    /// The joint axis in the frame of the first marker.
    #[serde(default)]
    pub axis: Axis,
    /// The joint axis in the frame of the second marker; the same numbers as `axis` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis_b: Option<Axis>,
    /// Travel in a full turn: positive for a right-handed thread, negative for a left-handed one, not zero.
    #[schemars(extend("unit" = "m"))]
    pub pitch: f64,
}

impl About for Screw {
    const KIND: &'static str = "screw";
    const SUMMARY: &'static str =
        "A nut on a thread: two frames share an axis, the travel along it follows the angle about it.";

    fn sample() -> Self {
        Self { axis: [2.0, -3.0, 6.0].into(), axis_b: Some([1.0, 2.0, 2.0].into()), pitch: 0.15 }
    }
}

impl Screw {
    /// The joint about an axis that has the same numbers in both frames, with a pitch in m.
    pub fn about(axis: [f64; 3], pitch: f64) -> Self {
        Self { axis: axis.into(), axis_b: None, pitch }
    }

    fn axes(&self) -> (&Axis, &Axis) {
        (&self.axis, self.axis_b.as_ref().unwrap_or(&self.axis))
    }
}

impl Constraint for Screw {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length, Quantity::Length, Quantity::Angle, Quantity::Angle, Quantity::Length]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (a, b) = self.axes();
        out[..2].copy_from_slice(&off_axis(at, a));
        out[2..4].copy_from_slice(&aligned(at, a, b));
        out[4] = wrapped(travel(at, a) - angle(&at[0], &at[1], a, b) * (self.pitch / TAU), self.pitch);
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        axes_defect(&self.axis, self.axis_b.as_ref()).or_else(|| {
            (self.pitch == 0.0 || !self.pitch.is_finite()).then(|| {
                (
                    "pitch",
                    format!(
                        "a pitch must be finite and not zero, not {}; for no travel use a `revolute` joint",
                        self.pitch
                    ),
                )
            })
        })
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
