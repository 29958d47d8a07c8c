//! The given shape of a skeleton: faces of four corners along a straight axis, scaled by a taper.

use crate::constraints::Cell;
use crate::signals::{Curve, Formula, Interpolation};
use dalembert_methods::algebra::Lu;
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the section changes along the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a formula of the arclength s from 0 to 1, or { positions = […], factors = […] }"
)]
pub enum Taper {
    /// The factor as an expression in the arclength s from 0 at the front to 1 at the end.
    Formula(Formula<'s'>),
    /// The factor by a curve through given points.
    Table(TaperTable),
}

/// Points of a taper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaperTable {
    /// Arclengths, ascending from 0 to 1.
    #[schemars(extend("unit" = "1"))]
    pub positions: Vec<f64>,
    /// The factor at each of them.
    #[schemars(extend("unit" = "1"))]
    pub factors: Vec<f64>,
    /// How factors between are found.
    #[serde(default)]
    pub interpolation: Interpolation,
}

impl Taper {
    /// The factors at given arclengths, all positive.
    fn factors(&self, at: &[f64]) -> Result<Vec<f64>, String> {
        let factors: Vec<f64> = match self {
            Self::Formula(formula) => at.iter().map(|&s| formula.at(s)).collect(),
            Self::Table(table) => {
                let curve = Curve::new(&table.positions, &table.factors, table.interpolation, [0.0; 2])?;
                at.iter().map(|&s| curve.at(curve.within(s))).collect()
            }
        };
        match factors.iter().zip(at).find(|(factor, _)| !(**factor > 0.0 && factor.is_finite())) {
            Some((factor, s)) => Err(format!("the taper must be positive, but is {factor} at s = {s}")),
            None => Ok(factors),
        }
    }
}

/// Signs of the corners of a face in y and in z: Q1 = (−,−), Q2 = (−,+), Q3 = (+,−), Q4 = (+,+).
pub(super) const SIGNS: [[f64; 2]; 4] = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];

/// The ring around a face, 1-2-4-3.
pub(super) const RING: [[usize; 2]; 4] = [[0, 1], [1, 3], [3, 2], [2, 0]];

/// A body in its own frame: the front face at the origin, the others behind it along x.
pub(super) struct Shape {
    /// Arclength of each face, from 0 to 1.
    pub arclength: Vec<f64>,
    /// The corners, face by face.
    pub corners: Vec<Vec3<f64>>,
}

impl Shape {
    /// Faces with the given distances and a section that is scaled by the taper.
    pub fn new(lengths: &[f64], section: [[f64; 2]; 4], taper: Option<&Taper>) -> Result<Self, String> {
        let total: f64 = lengths.iter().sum();
        let mut behind = vec![0.0];
        for length in lengths {
            behind.push(behind[behind.len() - 1] + length);
        }
        let arclength: Vec<f64> = behind.iter().map(|x| x / total).collect();
        let factors = taper.map_or_else(|| Ok(vec![1.0; behind.len()]), |taper| taper.factors(&arclength))?;
        let face = |(&x, &factor): (&f64, &f64)| section.map(|[y, z]| Vec3([x, factor * y, factor * z]));
        Ok(Self { corners: behind.iter().zip(&factors).flat_map(face).collect(), arclength })
    }
}

/// The corners of a segment, counted from 0.
pub(super) fn cell(segment: usize) -> std::ops::Range<usize> {
    4 * segment..4 * segment + 8
}

/// The volumes of the segments, in m³.
pub(super) fn volumes(corners: &[Vec3<f64>]) -> Vec<f64> {
    let segments = corners.len() / 4 - 1;
    (0..segments).map(|j| Cell::Hexahedron.volume(|i| corners[cell(j)][i])).collect()
}

/// Turns a shape about its centre until it has no mean turn against another: Σ a × b = 0 over corners from their centres.
///
/// For a turn θ the sum changes by (Σ a·b − a bᵀ) θ to first order; for small turns three Newton steps reach rounding.
pub(super) fn turn_back(given: &[Vec3<f64>], found: &mut [Vec3<f64>]) {
    let centre =
        |corners: &[Vec3<f64>]| corners.iter().fold(Vec3::zero(), |sum, &r| sum + r) * (1.0 / corners.len() as f64);
    let (from, to) = (centre(found), centre(given));
    for _ in 0..3 {
        let mut turn = Vec3::zero();
        let mut matrix = Lu::new(3);
        for (&r, &goal) in found.iter().zip(given) {
            let (a, b) = (r - from, goal - to);
            turn += a.cross(b);
            for (k, entry) in matrix.values_mut().iter_mut().enumerate() {
                let (i, j) = (k / 3, k % 3);
                *entry += if i == j { a.dot(b) - a[i] * b[i] } else { -a[i] * b[j] };
            }
        }
        // Corners on one line have no turn about it to take back.
        if matrix.factor().is_err() {
            return;
        }
        matrix.solve(&mut turn.0);
        let rotation = Quat::exp(turn);
        for r in found.iter_mut() {
            *r = from + rotation.rotate(*r - from);
        }
    }
}
