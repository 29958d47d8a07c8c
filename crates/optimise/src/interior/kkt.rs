//! The linear system of a step, its inertia and its regularisation.
//!
//! ```text
//! [ W + Σ_x + δ_w I     Jᵀ        ] [dx]     [ r_x                       ]
//! [ J                −(D + δ_c I) ] [dy] = − [ r_c + D r_s (ranges)      ],     D = (Σ_s + δ_w)⁻¹ for ranges, 0 for equalities
//! ds = J dx + r_c − δ_c dy
//! ```
//!
//! Slacks are eliminated by hand. With n positive and m negative eigenvalues the step is a descent direction; if there are others, δ_w grows until
//! it is so, and rows of J that depend on each other get δ_c (\[1\] algorithm IC). Solutions are refined; where that does not help, pivots are
//! chosen more carefully.
//!
//! Reference: \[1\] Wächter and Biegler (2006), section 3.1.

use super::shape::Shape;
use crate::linear::{Inertia, Ldl};

/// First, least and greatest δ_w, and the factors by which it grows the first time, later, and falls.
const FIRST: f64 = 1e-4;
const LEAST: f64 = 1e-20;
const GREATEST: f64 = 1e40;
const GROWTH_FIRST: f64 = 100.0;
const GROWTH: f64 = 8.0;
const DECAY: f64 = 1.0 / 3.0;
/// A slack without curvature has this D.
const LOOSE: f64 = 1e20;
/// Residuals below this part of the right side are left.
const REFINED: f64 = 1e-14;
/// Residuals above this part mean that the factor is useless.
const USELESS: f64 = 1e-5;
const REFINEMENTS: usize = 8;

/// No regularisation gives the inertia wanted, or an entry is not a number.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct NoStep;

/// The system of a step.
pub(super) struct Kkt {
    ldl: Ldl,
    n: usize,
    m: usize,
    /// Entries: Hessian, Jacobian, diagonal.
    values: Vec<f64>,
    /// Σ over all unknowns.
    sigma: Vec<f64>,
    /// D of each constraint.
    loose: Vec<f64>,
    last: f64,
    pub regularisation: f64,
    dual: f64,
    threshold: f64,
    right: Vec<f64>,
    solution: Vec<f64>,
    residual: Vec<f64>,
    pub factorisations: usize,
}

/// Equalities paired with the variables that they depend on most, each variable once.
fn pairs(shape: &Shape, jacobian: &[f64]) -> Vec<(usize, usize)> {
    let mut by_row: Vec<Vec<(f64, usize)>> = vec![Vec::new(); shape.m];
    for (&(row, column), value) in shape.jacobian.iter().zip(jacobian) {
        if shape.slack[row] == usize::MAX {
            by_row[row].push((value.abs(), column));
        }
    }
    let mut taken = vec![false; shape.n];
    let mut pairs = Vec::new();
    for (row, entries) in by_row.iter().enumerate() {
        let best = entries.iter().filter(|(size, column)| *size > 0.0 && !taken[*column]);
        if let Some(&(_, column)) = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) {
            taken[column] = true;
            pairs.push((column, shape.n + row));
        }
    }
    pairs
}

impl Kkt {
    /// Plans the system; the values of the Jacobian tell which rows belong together.
    pub fn new(shape: &Shape, jacobian: &[f64]) -> Self {
        let (n, m) = (shape.n, shape.m);
        let mut places = shape.hessian.clone();
        places.extend(shape.jacobian.iter().map(|&(row, column)| (n + row, column)));
        places.extend((0..n + m).map(|i| (i, i)));
        let ldl = Ldl::new(n + m, &places, &pairs(shape, jacobian));
        // Where everything is one front, careful pivots cost nothing.
        let threshold = if n + m <= 200 { 0.1 } else { 1e-6 };
        Self {
            values: vec![0.0; places.len()],
            ldl,
            n,
            m,
            sigma: vec![0.0; shape.unknowns],
            loose: vec![0.0; m],
            last: 0.0,
            regularisation: 0.0,
            dual: 0.0,
            threshold,
            right: vec![0.0; n + m],
            solution: vec![0.0; n + m],
            residual: vec![0.0; n + m],
            factorisations: 0,
        }
    }

    fn diagonal(&mut self, shape: &Shape) {
        let start = self.values.len() - self.n - self.m;
        for i in 0..self.n {
            self.values[start + i] = self.sigma[i] + self.regularisation;
        }
        for i in 0..self.m {
            self.loose[i] = match shape.slack[i] {
                usize::MAX => 0.0,
                s => (1.0 / (self.sigma[s] + self.regularisation)).min(LOOSE),
            };
            self.values[start + self.n + i] = -(self.loose[i] + self.dual);
        }
    }

    fn try_factor(&mut self, shape: &Shape) -> Result<Inertia, NoStep> {
        self.diagonal(shape);
        self.factorisations += 1;
        self.ldl.set_threshold(self.threshold);
        self.ldl.factor(&self.values).map_err(|_| NoStep)
    }

    /// Factorises with the least regularisation that makes steps descend.
    pub fn factor(
        &mut self,
        shape: &Shape,
        hessian: &[f64],
        jacobian: &[f64],
        sigma: &[f64],
        mu: f64,
    ) -> Result<(), NoStep> {
        let (h, j) = (hessian.len(), jacobian.len());
        self.values[..h].copy_from_slice(hessian);
        self.values[h..h + j].copy_from_slice(jacobian);
        self.sigma.copy_from_slice(sigma);
        (self.regularisation, self.dual) = (0.0, 0.0);
        let wanted = Inertia { positive: self.n, negative: self.m, zero: 0 };
        let mut inertia = self.try_factor(shape)?;
        if inertia == wanted {
            return Ok(());
        }
        if inertia.zero > 0 || inertia.negative < self.m {
            self.dual = 1e-8 * mu.powf(0.25);
            inertia = self.try_factor(shape)?;
            if inertia == wanted {
                return Ok(());
            }
        }
        self.regularisation = if self.last == 0.0 { FIRST } else { (DECAY * self.last).max(LEAST) };
        loop {
            inertia = self.try_factor(shape)?;
            if inertia == wanted {
                self.last = self.regularisation;
                return Ok(());
            }
            if inertia.zero > 0 && self.dual == 0.0 {
                self.dual = 1e-8 * mu.powf(0.25);
            }
            self.regularisation *= if self.last == 0.0 { GROWTH_FIRST } else { GROWTH };
            if self.regularisation > GREATEST {
                return Err(NoStep);
            }
        }
    }

    /// Solves for the step against residuals `r` of all unknowns and `r_c` of the constraints.
    pub fn solve(
        &mut self,
        shape: &Shape,
        r: &[f64],
        r_c: &[f64],
        dp: &mut [f64],
        dy: &mut [f64],
    ) -> Result<(), NoStep> {
        let n = self.n;
        loop {
            for i in 0..n {
                self.right[i] = -r[i];
            }
            for i in 0..self.m {
                let slack = shape.slack[i];
                self.right[n + i] = -r_c[i] - if slack == usize::MAX { 0.0 } else { self.loose[i] * r[slack] };
            }
            if self.refine() {
                break;
            }
            if self.threshold >= 0.5 {
                return Err(NoStep);
            }
            self.threshold = (self.threshold * 100.0).min(0.5);
            self.try_factor(shape)?;
        }
        dp[..n].copy_from_slice(&self.solution[..n]);
        dy.copy_from_slice(&self.solution[n..]);
        for i in 0..self.m {
            let slack = shape.slack[i];
            if slack != usize::MAX {
                dp[slack] = self.loose[i] * (dy[i] - r[slack]);
            }
        }
        Ok(())
    }

    /// Solves and refines; false if the residual stays large.
    fn refine(&mut self) -> bool {
        self.solution.copy_from_slice(&self.right);
        self.ldl.solve(&mut self.solution);
        let size =
            |values: &[f64]| values.iter().fold(0.0f64, |a, v| if v.is_nan() { f64::INFINITY } else { a.max(v.abs()) });
        let right = size(&self.right);
        let mut last = f64::INFINITY;
        for _ in 0..REFINEMENTS {
            for (r, b) in self.residual.iter_mut().zip(&self.right) {
                *r = -b;
            }
            self.ldl.add_product(&self.solution, &mut self.residual);
            let ratio = size(&self.residual) / (right + size(&self.solution).min(1e6 * right)).max(f64::MIN_POSITIVE);
            if ratio <= REFINED || ratio > 0.5 * last {
                return ratio <= USELESS || last <= USELESS;
            }
            last = ratio;
            self.ldl.solve(&mut self.residual);
            for (x, r) in self.solution.iter_mut().zip(&self.residual) {
                *x -= r;
            }
        }
        last <= USELESS
    }

    /// Multipliers y that make r + Jᵀy smallest, by [I Jᵀ; J 0] (\[1\] eq. 36).
    pub fn least_squares(&mut self, shape: &Shape, jacobian: &[f64], r: &[f64], dp: &mut [f64], y: &mut [f64]) -> bool {
        let (h, j) = (shape.hessian.len(), jacobian.len());
        self.values[..h].fill(0.0);
        self.values[h..h + j].copy_from_slice(jacobian);
        self.sigma.fill(1.0);
        (self.regularisation, self.dual) = (0.0, 0.0);
        match self.try_factor(shape) {
            Ok(inertia) if inertia.zero == 0 && inertia.negative == self.m => {}
            _ => return false,
        }
        let zero = vec![0.0; self.m];
        self.solve(shape, r, &zero, dp, y).is_ok() && y.iter().all(|y| y.is_finite())
    }
}
