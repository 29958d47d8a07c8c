//! Feasibility restoration: the program that makes the violation small near a given point.
//!
//! ```text
//! minimise ρ Σ (v⁺ + v⁻) + ζ/2 ‖D (x − x_R)‖²    subject to    c_L ≤ c(x) − v⁺ + v⁻ ≤ c_U,   x_L ≤ x ≤ x_U,   v⁺, v⁻ ≥ 0      \[1\] eq. 30
//! ```
//!
//! with ρ = 1000, ζ = √μ and D_ii = min(1, 1/|x_R,i|). It always has feasible points. Where it ends with v ≠ 0 the constraints contradict each
//! other nearby.
//!
//! Reference: \[1\] Wächter and Biegler (2006), section 3.3.

use crate::nlp::{Bound, Nlp, Size};
use std::cell::{Cell, RefCell};

/// The weight of the violation.
pub(super) const RHO: f64 = 1000.0;

/// The program of restoration, over the unknowns (x, v⁺, v⁻). Used by reference, so that its owner can look at the original program meanwhile.
pub(super) struct Restoration<'a> {
    problem: RefCell<&'a mut dyn Nlp>,
    size: Size,
    near: Vec<f64>,
    weight: Vec<f64>,
    start: Vec<f64>,
    /// ζ.
    pub zeta: Cell<f64>,
    hessian: usize,
}

impl<'a> Restoration<'a> {
    /// Restoration near `near`, started from x, v⁺, v⁻ in `start`.
    pub fn new(problem: &'a mut dyn Nlp, near: &[f64], start: Vec<f64>, mu: f64) -> Self {
        let hessian = problem.hessian_pattern().len();
        Self {
            size: problem.size(),
            problem: RefCell::new(problem),
            near: near.to_vec(),
            weight: near.iter().map(|x| 1.0f64.min(1.0 / x.abs())).collect(),
            start,
            zeta: Cell::new(mu.sqrt()),
            hessian,
        }
    }

    /// f and c of the original program.
    pub fn original(&self, x: &[f64], c: &mut [f64]) -> f64 {
        let mut problem = self.problem.borrow_mut();
        problem.constraints(x, c);
        problem.objective(x)
    }
}

impl Nlp for &Restoration<'_> {
    fn size(&self) -> Size {
        let Size { variables, constraints } = self.size;
        Size { variables: variables + 2 * constraints, constraints }
    }
    fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
        let n = self.size.variables;
        self.problem.borrow().bounds(&mut variables[..n], constraints);
        variables[n..].fill(Bound::at_least(0.0));
    }
    fn start(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }
    fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        let Size { variables: n, constraints: m } = self.size;
        let mut pattern = self.problem.borrow().jacobian_pattern();
        pattern.extend((0..m).map(|i| (i, n + i)));
        pattern.extend((0..m).map(|i| (i, n + m + i)));
        pattern
    }
    fn hessian_pattern(&self) -> Vec<(usize, usize)> {
        let mut pattern = self.problem.borrow().hessian_pattern();
        pattern.extend((0..self.size.variables).map(|i| (i, i)));
        pattern
    }
    fn objective(&mut self, x: &[f64]) -> f64 {
        let n = self.size.variables;
        let violation: f64 = x[n..].iter().sum();
        let distance: f64 = (0..n).map(|i| (self.weight[i] * (x[i] - self.near[i])).powi(2)).sum();
        RHO * violation + 0.5 * self.zeta.get() * distance
    }
    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        let n = self.size.variables;
        for i in 0..n {
            out[i] = self.zeta.get() * self.weight[i].powi(2) * (x[i] - self.near[i]);
        }
        out[n..].fill(RHO);
    }
    fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
        let Size { variables: n, constraints: m } = self.size;
        self.problem.borrow_mut().constraints(&x[..n], out);
        for i in 0..m {
            out[i] += x[n + m + i] - x[n + i];
        }
    }
    fn jacobian(&mut self, x: &[f64], out: &mut [f64]) {
        let Size { variables: n, constraints: m } = self.size;
        let own = out.len() - 2 * m;
        self.problem.borrow_mut().jacobian(&x[..n], &mut out[..own]);
        out[own..own + m].fill(-1.0);
        out[own + m..].fill(1.0);
    }
    fn hessian(&mut self, x: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]) {
        let n = self.size.variables;
        self.problem.borrow_mut().hessian(&x[..n], 0.0, multipliers, &mut out[..self.hessian]);
        for i in 0..n {
            out[self.hessian + i] = weight * self.zeta.get() * self.weight[i].powi(2);
        }
    }
}
