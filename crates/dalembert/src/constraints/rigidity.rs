//! Rigidity of a body that deforms homogeneously: ∇pᵀ∇p = C.
//!
//! The columns d₁, d₂, d₃ of ∇p are directors; their lengths and angles stay as they are, so that an affine body moves as a rigid one, in twelve coordinates with a
//! constant mass matrix and six constraints instead of a rotation (\[1\], sec. 3). The residuals are ½(d_i·d_i − C_ii) and d_i·d_j − C_ij, of the size of angles; the
//! multipliers are stresses times the volume, in N m. C is what it is at the start unless it is given; a body in its reference shape has C = 1.
//!
//! Reference: \[1\] Betsch, Leyendecker: The discrete null space method for the energy consistent integration of constrained mechanical systems, part II: multibody
//! dynamics, Int. J. Numer. Meth. Engng 67 (2006) 499–552.

use super::{Constraint, Quantity};
use crate::element::About;
use crate::materials::gradient_of;
use crate::model::{AffineFrame, Instant, Place};
use dalembert_methods::Real;
use dalembert_methods::vector::Mat3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The pairs of directors, each with itself first.
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1)];

/// Keeps the shape of a homogeneous deformation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rigidity {
    /// The tensor C = ∇pᵀ∇p to keep, symmetric and positive definite; by default that of the start.
    #[schemars(extend("unit" = "1"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<[[f64; 3]; 3]>,
}

impl About for Rigidity {
    const KIND: &'static str = "rigidity";
    const SUMMARY: &'static str = "Keeps lengths and angles of a body that deforms homogeneously: it moves as a rigid body, described by directors.";
    const REFERENCES: &'static [&'static str] = &[
        "Betsch, Leyendecker, The discrete null space method for the energy consistent integration of constrained mechanical systems, part II, \
         Int. J. Numer. Meth. Engng 67 (2006) 499–552",
    ];

    fn sample() -> Self {
        Self { metric: Some([[1.1, 0.1, 0.0], [0.1, 0.9, -0.2], [0.0, -0.2, 1.2]]) }
    }
}

impl Constraint for Rigidity {
    type Markers = AffineFrame;

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Angle; PAIRS.len()]
    }
    #[inline(always)]
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let gradient = gradient_of(at);
        let kept = self.metric.unwrap_or(Mat3::identity().0);
        for (out, (i, j)) in out.iter_mut().zip(PAIRS) {
            let product = gradient.column(i).dot(gradient.column(j)) - kept[i][j];
            *out = if i == j { product * 0.5 } else { product };
        }
    }
    fn settle(&mut self, at: &[Place<f64>]) {
        let gradient = gradient_of(at);
        let product = |i: usize, j: usize| gradient.column(i).dot(gradient.column(j));
        self.metric.get_or_insert_with(|| std::array::from_fn(|i| std::array::from_fn(|j| product(i, j))));
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        let kept = self.metric?;
        if (0..3).any(|i| (0..i).any(|j| kept[i][j] != kept[j][i])) {
            return Some(("metric", "expected a symmetric matrix, ∇pᵀ∇p of the shape to keep".to_owned()));
        }
        let [a, b] = [kept[0][0], kept[0][0] * kept[1][1] - kept[0][1] * kept[1][0]];
        // Sylvester's criterion; not a number is not positive.
        let definite = [a, b, Mat3(kept).determinant()].iter().all(|minor| *minor > 0.0 && minor.is_finite());
        (!definite).then(|| ("metric", "expected a positive definite matrix, such as the unit matrix".to_owned()))
    }
    fn defect_at(&self, _now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        let volume = gradient_of(at).determinant();
        (!(volume > 0.0 && volume.is_finite())).then(|| {
            ("on", format!("the body is turned inside out or flat: the determinant of its gradient is {volume}"))
        })
    }
}
