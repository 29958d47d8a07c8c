//! A ball and socket: two points coincide.
//!
//! Rows: the offset d of the second marker in the first frame (3); in the world frame if the first is a mere point.

use super::primitives::offset;
use crate::constraints::{Constraint, Quantity};
use crate::element::About;
use crate::model::{Instant, Place, Point};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ball and socket.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spherical {}

impl About for Spherical {
    const KIND: &'static str = "spherical";
    const SUMMARY: &'static str = "A ball and socket: two points coincide, all rotations are free.";

    fn sample() -> Self {
        Self {}
    }
}

impl Constraint for Spherical {
    type Markers = [Point; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length, Quantity::Length, Quantity::Length]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        offset(at).write(out);
    }
}
