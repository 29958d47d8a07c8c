//! The program as barrier methods see it: slacks for ranges, and one list of bounded unknowns.
//!
//! ```text
//! unknowns p = (x, s):   c_i(x) − s_i = 0 for ranges,   c_i(x) − b_i = 0 for equalities,   p_L ≤ p ≤ p_U
//! ```

use crate::nlp::{Bound, Nlp};

/// Sizes, bounds and patterns.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Variables x, constraints, unknowns p.
    pub n: usize,
    pub m: usize,
    pub unknowns: usize,
    /// For each constraint its unknown s, or `usize::MAX` for equalities.
    pub slack: Vec<usize>,
    /// For each constraint b, or zero.
    pub right: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Bounds that exist.
    pub bounds: usize,
    pub jacobian: Vec<(usize, usize)>,
    pub hessian: Vec<(usize, usize)>,
    /// By how much ranges of constraints are wider than asked for.
    pub wide: Vec<f64>,
}

impl Shape {
    /// Ranges of constraints are made wider by `wide` (nothing where it ends).
    pub fn new(problem: &dyn Nlp, wide: &[f64]) -> Self {
        let size = problem.size();
        let (n, m) = (size.variables, size.constraints);
        let mut variables = vec![Bound::FREE; n];
        let mut constraints = vec![Bound::FREE; m];
        problem.bounds(&mut variables, &mut constraints);
        let mut lower: Vec<f64> = variables.iter().map(|bound| bound.lower).collect();
        let mut upper: Vec<f64> = variables.iter().map(|bound| bound.upper).collect();
        let (mut slack, mut right) = (Vec::with_capacity(m), Vec::with_capacity(m));
        for (i, bound) in constraints.iter().enumerate() {
            if bound.is_equality() {
                slack.push(usize::MAX);
                right.push(bound.lower);
            } else {
                slack.push(lower.len());
                right.push(0.0);
                let more = wide.get(i).copied().unwrap_or(0.0);
                lower.push(bound.lower - more);
                upper.push(bound.upper + more);
            }
        }
        let bounds = lower.iter().chain(&upper).filter(|bound| bound.is_finite()).count();
        Self {
            n,
            m,
            unknowns: lower.len(),
            slack,
            right,
            lower,
            upper,
            bounds,
            jacobian: problem.jacobian_pattern(),
            hessian: problem.hessian_pattern(),
            wide: wide.to_vec(),
        }
    }

    /// c(x) → c(x) − s or c(x) − b.
    pub fn residual(&self, p: &[f64], c: &mut [f64]) {
        for i in 0..self.m {
            c[i] -= if self.slack[i] == usize::MAX { self.right[i] } else { p[self.slack[i]] };
        }
    }

    /// Moves p inside its bounds by at least `push` of max(1, |bound|) or of the range, whichever is less (\[1\] section 3.6).
    pub fn push_inside(&self, p: &mut [f64], push: f64) {
        for i in 0..self.unknowns {
            let (lower, upper) = (self.lower[i], self.upper[i]);
            let range = upper - lower;
            let low = if lower.is_finite() { lower + (push * lower.abs().max(1.0)).min(push * range) } else { lower };
            let high = if upper.is_finite() { upper - (push * upper.abs().max(1.0)).min(push * range) } else { upper };
            p[i] = p[i].max(low).min(high);
        }
    }

    /// out ← out + Jᵀ y over x, and −y over slacks.
    pub fn add_transposed(&self, jacobian: &[f64], y: &[f64], out: &mut [f64]) {
        for (&(row, column), value) in self.jacobian.iter().zip(jacobian) {
            out[column] += value * y[row];
        }
        for i in 0..self.m {
            if self.slack[i] != usize::MAX {
                out[self.slack[i]] -= y[i];
            }
        }
    }
}
