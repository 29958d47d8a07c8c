//! A coupling of joint coordinates: a sum of polynomials of them is constant.
//!
//! ```text
//! Σ p(x) = o,      p(x) = c₁ x + c₂ x² + …
//! ```
//!
//! Each x is the angle or the travel between a pair of frames: two fingers of a gripper, a drive by belts, a rack and its pinion, cams. Places have no
//! memory of turns: angles are those in (−π, π]. If the first one has the coefficient 1 and no other, the sum is brought to [−π, π], so that it may
//! turn on; beyond half a turn of the others the coupling breaks, and the run ends with an error that names it.

use super::{Constraint, Quantity};
use crate::element::About;
use crate::joints::primitives::wrapped_angle;
use crate::joints::{Axis, Coordinate};
use crate::model::{Frame, Instant, Place};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A coordinate with its polynomial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CouplingTerm {
    /// What is coupled: `angle` or `travel`.
    pub of: Coordinate,
    /// The axis in the first frame of the pair; the same numbers are taken in the second.
    #[serde(default)]
    pub axis: Axis,
    /// The coefficients of x, x², x³ and so on.
    pub coefficients: Vec<f64>,
}

/// Joint coordinates of which a sum of polynomials is constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coupling {
    /// The coordinates, one for each pair of frames.
    pub terms: Vec<CouplingTerm>,
    /// The value of the sum.
    #[schemars(extend("unit" = "rad or m"))]
    #[serde(default)]
    pub offset: f64,
}

impl About for Coupling {
    const KIND: &'static str = "coupling";
    const SUMMARY: &'static str =
        "Angles and travels of joints of which a sum of polynomials is constant: mimic joints, cams, racks.";

    fn sample() -> Self {
        let term = |of, axis: [f64; 3], coefficients: &[f64]| CouplingTerm {
            of,
            axis: axis.into(),
            coefficients: coefficients.to_vec(),
        };
        Self {
            terms: vec![
                term(Coordinate::Travel, [1.0, 2.0, 2.0], &[1.0]),
                term(Coordinate::Angle, [0.6, 0.0, 0.8], &[-0.7, 0.2, 0.1]),
                term(Coordinate::Angle, [2.0, 1.0, 2.0], &[0.4]),
                term(Coordinate::Travel, [0.0, 0.6, 0.8], &[0.0, -0.5]),
            ],
            offset: 0.3,
        }
    }
}

impl CouplingTerm {
    /// The polynomial of the coordinate of two frames.
    fn value<R: Real>(&self, at: &[Place<R>]) -> R {
        let x = self.of.of(&self.axis, at);
        self.coefficients.iter().rev().fold(R::zero(), |sum, &c| (sum + c) * x)
    }
}

impl Constraint for Coupling {
    type Markers = Vec<Frame>;

    fn rows(&self) -> Vec<Quantity> {
        vec![match self.terms.first().map(|term| term.of) {
            Some(Coordinate::Travel) => Quantity::Length,
            _ => Quantity::Angle,
        }]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let terms = self.terms.iter().zip(at.chunks_exact(2));
        let sum = terms.fold(R::from(-self.offset), |sum, (term, at)| sum + term.value(at));
        let turns = self.terms.first().is_some_and(|t| t.of == Coordinate::Angle && t.coefficients == [1.0]);
        out[0] = if turns { wrapped_angle(sum) } else { sum };
    }
    fn defect(&self, markers: usize) -> Option<(&'static str, String)> {
        let (terms, wanted) = (self.terms.len(), 2 * self.terms.len());
        if markers != wanted {
            return Some(("terms", format!("{terms} terms need {wanted} frames, two for each, found {markers}")));
        }
        let finite = |term: &&CouplingTerm| term.coefficients.iter().all(|c| c.is_finite());
        let active = |term: &CouplingTerm| term.coefficients.iter().any(|&c| c != 0.0);
        if !self.terms.iter().all(|term| finite(&term)) || !self.offset.is_finite() {
            return Some(("terms", "coefficients and offset must be finite".to_owned()));
        }
        if !self.terms.iter().any(active) {
            return Some(("terms", "nothing is coupled: all coefficients are zero".to_owned()));
        }
        self.terms.iter().find_map(|term| term.axis.defect("terms"))
    }
    fn multipliers(&self) -> Vec<(&'static str, &'static str)> {
        match self.terms.first().map(|term| term.of) {
            Some(Coordinate::Travel) => vec![("load", "N")],
            _ => vec![("load", "N m")],
        }
    }
}
