//! A weld: two frames coincide.
//!
//! Rows: the offset d of the second marker in the first frame (3), the relative rotation C as the vector 2 tan(φ/2) n (3).
//! A weld in another relative pose is made by placing and turning the markers.

use super::primitives::{offset, rodrigues};
use crate::constraints::{Constraint, Quantity};
use crate::element::About;
use crate::model::{Frame, Instant, Place};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A weld.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fixed {}

impl About for Fixed {
    const KIND: &'static str = "fixed";
    const SUMMARY: &'static str = "A weld: two frames coincide in position and orientation.";

    fn sample() -> Self {
        Self {}
    }
}

impl Constraint for Fixed {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length, Quantity::Length, Quantity::Length, Quantity::Angle, Quantity::Angle, Quantity::Angle]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        offset(at).write(out);
        out[3..].copy_from_slice(&rodrigues(at[0].rotation.transposed() * at[1].rotation));
    }
}
