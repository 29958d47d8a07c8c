//! A cable of constant length through any number of points, straight between neighbours and always taut.
//!
//! ```text
//! 0 = Σ |r_{k+1} − r_k| − L
//! ```
//!
//! The multiplier is the tension, the same in all pieces.

use super::{Constraint, Quantity};
use crate::element::About;
use crate::joints::primitives::positive;
use crate::model::{Instant, Place, Point};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A taut cable of constant length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CableLength {
    /// The length; that at the start unless given.
    #[schemars(extend("unit" = "m"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
}

impl About for CableLength {
    const KIND: &'static str = "cable_length";
    const SUMMARY: &'static str = "A taut cable of constant length through points, straight between neighbours.";

    fn sample() -> Self {
        Self { length: Some(1.4) }
    }
}

fn length<R: Real>(at: &[Place<R>]) -> R {
    at.windows(2).fold(R::zero(), |sum, piece| sum + (piece[1].r - piece[0].r).norm())
}

impl Constraint for CableLength {
    type Markers = Vec<Point>;

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = length(at) - self.length.unwrap_or(0.0);
    }
    fn settle(&mut self, at: &[Place<f64>]) {
        self.length.get_or_insert_with(|| length(at));
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        positive("length", "a length", self.length?)
    }
    fn defect_at(&self, _now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        let short = at.windows(2).any(|piece| (piece[1].r - piece[0].r).norm() == 0.0);
        short.then(|| ("markers", "two neighbours coincide: the cable has no direction there".to_owned()))
    }
    fn multipliers(&self) -> Vec<(&'static str, &'static str)> {
        vec![("tension", "N")]
    }
}
