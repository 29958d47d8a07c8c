//! A Cardan joint: two frames share a point; an axis of the first stays at right angles to an axis of the second.
//!
//! Rows: the offset d of the second marker in the first frame (3), a·b (1). The two axes are the arms of the cross.
//! Free are the angle of the cross in the first frame about a, zero where b lies along the first perpendicular of a, and
//! the angle of the second frame against the cross about b, zero where a lies along the first perpendicular of b. For
//! the default axes, x and y, both are zero at equal orientation, and the shafts run along z.

use super::Axis;
use super::primitives::{along, axes_defect, offset, turned};
use crate::constraints::{Constraint, Quantity};
use crate::element::About;
use crate::model::{Frame, Instant, Place};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Cardan joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Universal {
    /// The arm of the cross that is fixed in the frame of the first marker.
    #[serde(default = "x_axis")]
    pub axis: Axis,
    /// The arm of the cross that is fixed in the frame of the second marker.
    #[serde(default = "y_axis")]
    pub axis_b: Axis,
}

impl About for Universal {
    const KIND: &'static str = "universal";
    const SUMMARY: &'static str =
        "A Cardan joint: two frames share a point, an axis of one stays at right angles to an axis of the other.";

    fn sample() -> Self {
        Self { axis: [2.0, 2.0, 1.0].into(), axis_b: [0.6, -0.8, 0.0].into() }
    }
}

fn x_axis() -> Axis {
    Axis::X.into()
}

fn y_axis() -> Axis {
    Axis::Y.into()
}

impl Default for Universal {
    fn default() -> Self {
        Self { axis: x_axis(), axis_b: y_axis() }
    }
}

impl Constraint for Universal {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length, Quantity::Length, Quantity::Length, Quantity::Angle]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        offset(at).write(out);
        out[3] = along(turned(&at[0], &at[1], self.axis_b.unit()), self.axis.unit());
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        axes_defect(&self.axis, Some(&self.axis_b))
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        vec![("angle", "rad"), ("angle_b", "rad")]
    }
    fn coordinate<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let ([p, q], [s, t]) = (self.axis.across(), self.axis_b.across());
        let b = turned(&at[0], &at[1], self.axis_b.unit());
        out[0] = along(b, q).atan2(along(b, p));
        // The cross turns against the second frame by the opposite angle.
        let a = turned(&at[1], &at[0], self.axis.unit());
        out[1] = (-along(a, t)).atan2(along(a, s));
    }
}
