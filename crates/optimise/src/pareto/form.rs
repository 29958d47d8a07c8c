//! Scalarisations: one program from several goals.
//!
//! Every form concerns only the goals y, which are variables of the program, and at most one further variable, the level t:
//!
//! ```text
//! minimise φ(y) + ω t   subject to   y_i / s_i − r_i t in a range, for some i, and whatever the program itself demands
//! ```
//!
//! | form | φ | ω | rows |
//! |---|---|---|---|
//! | [`Form::feasible`] | distance of x from the start | – | – |
//! | [`Form::weighted`] | Σ w_i y_i | – | – |
//! | [`Form::reference`] | Σ ((y_i − z_i) / s_i)² / 2ρ | – | – |
//! | [`Form::limited`] (ε-constraint) | y_p / s_p + α Σ y_i / s_i | – | y_i ≤ ε_i, i ≠ p |
//! | [`Form::attain`] (Pascoletti and Serafini; normal-boundary intersection) | α Σ y_i / s_i | 1 | y_i / s_i − r_i t ≤ a_i / s_i |
//!
//! Stationarity by y_i says w_i ∇J_i summed over i is balanced by the program's own constraints, with w_i = ∂φ/∂y_i + Σ (rows of i) μ / s_i. These
//! weights do not depend on the form by which a point was found, so that multipliers pass from one form to another (see [`Form::guess`]).
//!
//! References: K. Miettinen, *Nonlinear multiobjective optimization*, Kluwer 1999; I. Das, J. E. Dennis, SIAM J. Optim. 8 (1998) 631–657; G. Eichfelder,
//! *Adaptive scalarization methods in multiobjective optimization*, Springer 2008.

use crate::nlp::Bound;
use std::sync::Arc;

/// A smooth function of the goals, to be minimised.
pub trait Measure: Send + Sync + std::fmt::Debug {
    /// φ.
    fn value(&self, goals: &[f64]) -> f64;
    /// ∂φ/∂y.
    fn slope(&self, goals: &[f64], out: &mut [f64]);
    /// ∂²φ/∂y², the lower triangle by rows.
    fn curvature(&self, goals: &[f64], out: &mut [f64]);
}

/// Σ w_i y_i.
#[derive(Clone, Debug)]
pub struct Linear {
    /// w.
    pub weights: Vec<f64>,
}

impl Measure for Linear {
    fn value(&self, goals: &[f64]) -> f64 {
        goals.iter().zip(&self.weights).map(|(y, w)| y * w).sum()
    }
    fn slope(&self, _: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.weights);
    }
    fn curvature(&self, _: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
}

/// Σ ((y_i − z_i) / s_i)² / 2ρ: half the squared distance from a reference point, over a length.
#[derive(Clone, Debug)]
pub struct Distance {
    /// z.
    pub reference: Vec<f64>,
    /// s.
    pub scale: Vec<f64>,
    /// ρ.
    pub length: f64,
}

impl Measure for Distance {
    fn value(&self, goals: &[f64]) -> f64 {
        let part = |i: usize| ((goals[i] - self.reference[i]) / self.scale[i]).powi(2);
        (0..goals.len()).map(part).sum::<f64>() / (2.0 * self.length)
    }
    fn slope(&self, goals: &[f64], out: &mut [f64]) {
        for i in 0..goals.len() {
            out[i] = (goals[i] - self.reference[i]) / (self.scale[i].powi(2) * self.length);
        }
    }
    fn curvature(&self, goals: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for i in 0..goals.len() {
            out[i * (i + 1) / 2 + i] = 1.0 / (self.scale[i].powi(2) * self.length);
        }
    }
}

/// A condition on one goal: y / `scale` − `rise` t lies within `bound`.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Which goal.
    pub goal: usize,
    /// s.
    pub scale: f64,
    /// r: how fast the limit follows the level.
    pub rise: f64,
    /// The limits of y / s − r t.
    pub bound: Bound,
}

/// A scalarisation.
#[derive(Clone, Debug)]
pub struct Form {
    /// φ.
    pub measure: Arc<dyn Measure>,
    /// The weight ω of the level t; without one there is no level.
    pub level: Option<f64>,
    /// Conditions.
    pub rows: Vec<Row>,
    /// Whether the squared distance of x from the start is minimised as well, variables being measured in parts of their ranges.
    pub near: bool,
}

impl Form {
    /// The feasible point nearest to the start. (Were nothing minimised, barriers would lead all starts to the middle of the bounds.)
    pub fn feasible(goals: usize) -> Self {
        Self { near: true, ..Self::weighted(vec![0.0; goals]) }
    }

    /// Least Σ w_i y_i. Finds points of the convex hull only.
    pub fn weighted(weights: Vec<f64>) -> Self {
        Self { measure: Arc::new(Linear { weights }), level: None, rows: Vec::new(), near: false }
    }

    /// The feasible goals nearest to a reference point, goals being measured in `scale`. The slope is of the order of one at the distance `length`.
    pub fn reference(reference: Vec<f64>, scale: &[f64], length: f64) -> Self {
        let measure = Arc::new(Distance { reference, scale: scale.to_vec(), length });
        Self { measure, level: None, rows: Vec::new(), near: false }
    }

    /// The least of one goal while the others stay below limits (ε-constraint). A small weight `lean` on the others keeps those below their limits from staying
    /// larger than they need (Mavrotas, Appl. Math. Comput. 213 (2009) 455–465).
    pub fn limited(primary: usize, limits: &[f64], scale: &[f64], lean: f64) -> Self {
        let weights = (0..limits.len()).map(|i| if i == primary { 1.0 } else { lean } / scale[i]).collect();
        let rows = (0..limits.len()).filter(|&i| i != primary);
        let rows =
            rows.map(|i| Row { goal: i, scale: scale[i], rise: 0.0, bound: Bound::at_most(limits[i] / scale[i]) });
        Self { rows: rows.collect(), ..Self::weighted(weights) }
    }

    /// The least level t at which goals can be below `anchor` + t · `direction` (scaled). A small weight `lean` on the sum of the goals keeps
    /// those that the level does not press from staying larger than they need.
    pub fn attain(anchor: &[f64], direction: &[f64], scale: &[f64], lean: f64) -> Self {
        let row = |i: usize| Row {
            goal: i,
            scale: scale[i],
            rise: direction[i],
            bound: Bound::at_most(anchor[i] / scale[i]),
        };
        let weights = scale.iter().map(|s| lean / s).collect();
        Self { level: Some(1.0), rows: (0..anchor.len()).map(row).collect(), ..Self::weighted(weights) }
    }

    /// The level at which no row is violated by these goals.
    pub(super) fn first_level(&self, goals: &[f64]) -> f64 {
        let need = |row: &Row| (goals[row.goal] / row.scale - row.bound.upper) / row.rise;
        let most = self.rows.iter().filter(|row| row.rise > 0.0).map(need).fold(f64::NEG_INFINITY, f64::max);
        if most.is_finite() { most } else { 0.0 }
    }

    /// Multipliers of the rows, and the factor of the program's own multipliers, at a point of which the weights w of the goals are known.
    ///
    /// With W the factor, μ_i = s_i (W w_i − ∂φ/∂y_i) for goals with a row; goals without one, or the level, determine W.
    pub fn guess(&self, goals: &[f64], weights: &[f64]) -> (f64, Vec<f64>) {
        let mut slope = vec![0.0; goals.len()];
        self.measure.slope(goals, &mut slope);
        let sum = |by: &dyn Fn(usize) -> f64| -> f64 { (0..goals.len()).map(by).sum() };
        let (above, below) = match self.level {
            Some(level) => {
                let rows =
                    |by: &dyn Fn(&Row) -> f64| -> f64 { self.rows.iter().map(|r| by(r) * r.rise * r.scale).sum() };
                (level + rows(&|row| slope[row.goal]), rows(&|row| weights[row.goal]))
            }
            None => {
                let free = |i: usize| if self.rows.iter().any(|row| row.goal == i) { 0.0 } else { 1.0 };
                (sum(&|i| free(i) * slope[i].abs()), sum(&|i| free(i) * weights[i].abs()))
            }
        };
        let factor = if below > 0.0 && (above / below).is_finite() { above / below } else { 1.0 };
        let rows = self.rows.iter().map(|row| (row.scale * (factor * weights[row.goal] - slope[row.goal])).max(0.0));
        (factor, rows.collect())
    }

    /// The weights of the goals that belong to multipliers of the rows.
    pub fn weights(&self, goals: &[f64], rows: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; goals.len()];
        self.measure.slope(goals, &mut weights);
        for (row, multiplier) in self.rows.iter().zip(rows) {
            weights[row.goal] += multiplier / row.scale;
        }
        weights
    }
}
