//! Dry friction of given size on one freedom between two frames: a block on a rail, a disc on a shaft, a brake.
//!
//! ```text
//! r = −F sign(ẋ) with slip,       |r| ≤ F without slip
//! ```
//!
//! on the angle or the travel x of the second frame against the first. It is a set-valued law like that of contacts: it sticks and slips at
//! located instants, and holds any load below F for good. Its force depends on all other forces, so it is not for `apply` to write: it is solved
//! with the accelerations, as a contact that is always closed and pressed by itself ([`dalembert_methods::nonsmooth::Contacts::own_press`]).

use super::{Force, Grip};
use crate::element::About;
use crate::joints::{Axis, Coordinate};
use crate::model::{Frame, Instant, Place, Wrench};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Dry friction between two frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DryFriction {
    /// What is resisted: `angle` or `travel`.
    pub of: Coordinate,
    /// The axis in the first frame.
    #[serde(default)]
    pub axis: Axis,
    /// The largest force on a travel, or the largest torque on an angle; positive.
    #[schemars(extend("unit" = "N or N m"))]
    pub size: f64,
}

impl About for DryFriction {
    const KIND: &'static str = "dry_friction";
    const SUMMARY: &'static str =
        "Dry friction of given size on the angle or the travel between two frames, which sticks and slips.";

    fn sample() -> Self {
        Self { of: Coordinate::Travel, axis: [1.0, -2.0, 2.0].into(), size: 3.0 }
    }
}

impl Force for DryFriction {
    type Markers = [Frame; 2];

    fn apply<R: Real>(&self, _now: &Instant<'_, R>, _at: &[Place<R>], out: &mut [Wrench<R>]) {
        out.fill(Wrench::default());
    }
    fn grip(&self) -> Option<Grip<'_>> {
        Some(Grip { of: self.of, axis: &self.axis, size: self.size })
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        let fine = self.size > 0.0 && self.size.is_finite();
        let wrong = (!fine).then(|| ("size", format!("must be positive and finite, not {}", self.size)));
        wrong.or_else(|| self.axis.defect("axis"))
    }
}
