//! Quadratic programs by a primal–dual active set on a sparse LDLᵀ whose plan is made once.
//!
//! ```text
//! minimise g·d + ½ d·(H + δI) d   subject to   l ≤ J d ≤ u,   a ≤ d ≤ b
//! ```
//!
//! Variables and rows are free, at their lower or at their upper bound. With the others fixed the rest is one linear system; then what lies outside its bounds is put onto
//! them and what pulls away from its bound is freed, all at once, later one at a time. From a good guess one or two systems are enough; where the
//! sets do not settle, the caller uses another method.
//!
//! Reference: M. Hintermüller, K. Ito, K. Kunisch, *The primal–dual active set strategy as a semismooth Newton method*, SIAM J. Optim. 13 (2002)
//! 865–888. Departure: after a few rounds only the worst offender changes, which keeps small degenerate programs from cycling.

use crate::linear::{Inertia, Ldl};
use crate::nlp::Bound;

/// Where a variable or row is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Free,
    Lower,
    Upper,
}

/// Rounds in all, and those in which everything may change at once.
const ROUNDS: usize = 60;
const AT_ONCE: usize = 12;
/// Regularisation of active rows that depend on each other; the first, least and greatest δ.
const DUAL: f64 = 1e-10;
const FIRST: f64 = 1e-4;
const LEAST: f64 = 1e-20;
const GREATEST: f64 = 1e12;
/// Outside by less than this counts as inside; multipliers of the wrong sign below this as zero.
const INSIDE: f64 = 1e-11;
/// Active rows are met to this, unless they contradict each other.
const MET: f64 = 1e-7;

/// A quadratic program: data of the present linearisation.
pub(super) struct Quadratic<'q> {
    pub gradient: &'q [f64],
    pub hessian: &'q [f64],
    pub jacobian: &'q [f64],
    pub variables: &'q [Bound],
    pub rows: &'q [Bound],
}

/// The active sets, the system and its last solution.
pub(super) struct Active {
    n: usize,
    m: usize,
    hessian: Vec<(usize, usize)>,
    jacobian: Vec<(usize, usize)>,
    ldl: Ldl,
    values: Vec<f64>,
    right: Vec<f64>,
    solution: Vec<f64>,
    residual: Vec<f64>,
    pub variables: Vec<Place>,
    pub rows: Vec<Place>,
    /// Multipliers of fixed variables: positive at lower bounds.
    pub pull: Vec<f64>,
    pub delta: f64,
    /// The last δ that was needed.
    last: f64,
    pub factorisations: usize,
}

impl Active {
    pub fn new(n: usize, m: usize, hessian: Vec<(usize, usize)>, jacobian: Vec<(usize, usize)>) -> Self {
        let mut places = hessian.clone();
        places.extend(jacobian.iter().map(|&(row, column)| (n + row, column)));
        places.extend((0..n + m).map(|i| (i, i)));
        let mut ldl = Ldl::new(n + m, &places, &[]);
        ldl.set_threshold(if n + m <= 200 { 0.1 } else { 1e-6 });
        Self {
            n,
            m,
            values: vec![0.0; places.len()],
            hessian,
            jacobian,
            ldl,
            right: vec![0.0; n + m],
            solution: vec![0.0; n + m],
            residual: vec![0.0; n + m],
            variables: vec![Place::Free; n],
            rows: vec![Place::Free; m],
            pull: vec![0.0; n],
            delta: 0.0,
            last: 0.0,
            factorisations: 0,
        }
    }

    /// The step and multipliers of the rows of the last solution.
    pub fn step(&self) -> (&[f64], &[f64]) {
        self.solution.split_at(self.n)
    }

    fn fixed(&self, data: &Quadratic<'_>, j: usize) -> Option<f64> {
        match self.variables[j] {
            Place::Free => None,
            Place::Lower => Some(data.variables[j].lower),
            Place::Upper => Some(data.variables[j].upper),
        }
    }

    /// Fills the matrix for the present sets.
    fn fill(&mut self, data: &Quadratic<'_>, dual: f64) {
        let (h, k) = (self.hessian.len(), self.jacobian.len());
        let free = |j: usize| self.variables[j] == Place::Free;
        for (slot, &(i, j)) in self.hessian.iter().enumerate() {
            self.values[slot] = if free(i) && free(j) { data.hessian[slot] } else { 0.0 };
        }
        for (slot, &(row, column)) in self.jacobian.iter().enumerate() {
            let on = self.rows[row] != Place::Free && free(column);
            self.values[h + slot] = if on { data.jacobian[slot] } else { 0.0 };
        }
        for j in 0..self.n {
            self.values[h + k + j] = if free(j) { self.delta } else { 1.0 };
        }
        for i in 0..self.m {
            self.values[h + k + self.n + i] = if self.rows[i] == Place::Free { -1.0 } else { -dual };
        }
    }

    /// Factorises for the present sets, with the least δ that makes the program convex on them.
    fn factor(&mut self, data: &Quadratic<'_>, least: f64) -> bool {
        let wanted = Inertia { positive: self.n, negative: self.m, zero: 0 };
        self.delta = least;
        let mut dual = 0.0;
        loop {
            self.fill(data, dual);
            self.factorisations += 1;
            match self.ldl.factor(&self.values) {
                Ok(inertia) if inertia == wanted => {
                    if self.delta > least {
                        self.last = self.delta;
                    }
                    return true;
                }
                Ok(inertia) if inertia.zero > 0 && dual == 0.0 => dual = DUAL,
                Ok(_) if self.delta < GREATEST => {
                    let first = if self.last == 0.0 { FIRST } else { (self.last / 3.0).max(LEAST) };
                    self.delta = first.max(8.0 * self.delta);
                }
                _ => return false,
            }
        }
    }

    /// Solves the system with rows required to have the values `rows` (of J d).
    fn solve_for(&mut self, data: &Quadratic<'_>, rows: impl Fn(usize) -> f64) -> bool {
        let n = self.n;
        for j in 0..n {
            self.right[j] = self.fixed(data, j).unwrap_or(-data.gradient[j]);
        }
        for i in 0..self.m {
            self.right[n + i] = if self.rows[i] == Place::Free { 0.0 } else { rows(i) };
        }
        // Fixed variables move to the right side.
        for (slot, &(i, j)) in self.hessian.iter().enumerate() {
            match (self.fixed(data, i), self.fixed(data, j)) {
                (Some(d), None) => self.right[j] -= data.hessian[slot] * d,
                (None, Some(d)) => self.right[i] -= data.hessian[slot] * d,
                _ => {}
            }
        }
        for (slot, &(row, column)) in self.jacobian.iter().enumerate() {
            if let (Some(d), true) = (self.fixed(data, column), self.rows[row] != Place::Free) {
                self.right[n + row] -= data.jacobian[slot] * d;
            }
        }
        self.solution.copy_from_slice(&self.right);
        self.ldl.solve(&mut self.solution);
        for _ in 0..3 {
            for (r, b) in self.residual.iter_mut().zip(&self.right) {
                *r = -b;
            }
            self.ldl.add_product(&self.solution, &mut self.residual);
            self.ldl.solve(&mut self.residual);
            for (x, r) in self.solution.iter_mut().zip(&self.residual) {
                *x -= r;
            }
        }
        for j in 0..n {
            if let Some(d) = self.fixed(data, j) {
                self.solution[j] = d;
            }
        }
        for i in 0..self.m {
            if self.rows[i] == Place::Free {
                self.solution[n + i] = 0.0;
            }
        }
        self.solution.iter().all(|x| x.is_finite())
    }

    /// Solves from the present sets; true if they settled on a solution. `least` is the least δ.
    pub fn solve(&mut self, data: &Quadratic<'_>, least: f64) -> bool {
        for i in 0..self.m {
            if data.rows[i].is_equality() {
                self.rows[i] = Place::Lower;
            }
        }
        for round in 0..ROUNDS {
            let at = |place: Place, bound: &Bound| if place == Place::Upper { bound.upper } else { bound.lower };
            let wanted: Vec<f64> = self.rows.iter().zip(data.rows).map(|(&place, bound)| at(place, bound)).collect();
            if !self.factor(data, least) || !self.solve_for(data, |i| wanted[i]) {
                return false;
            }
            if !self.change(data, round < AT_ONCE) {
                // Rows that contradict each other are met by none; the residual holds J d.
                let met = |i: usize| (self.residual[i] - wanted[i]).abs() <= MET * (1.0 + wanted[i].abs());
                return (0..self.m).all(|i| self.rows[i] == Place::Free || met(i));
            }
        }
        false
    }

    /// Solves again with the same sets and factor, rows shifted by `shift` (a second-order correction).
    pub fn corrected(&mut self, data: &Quadratic<'_>, shift: &[f64]) -> bool {
        let at = |place: Place, bound: &Bound| if place == Place::Upper { bound.upper } else { bound.lower };
        let wanted: Vec<f64> = (0..self.m).map(|i| at(self.rows[i], &data.rows[i]) - shift[i]).collect();
        self.solve_for(data, |i| wanted[i])
    }

    /// Where the sets are wrong: changes all of it, or only the worst; false if all is right.
    fn change(&mut self, data: &Quadratic<'_>, all: bool) -> bool {
        let n = self.n;
        let (d, y) = self.solution.split_at(n);
        // H d + g + Jᵀ y, and J d.
        self.pull.copy_from_slice(data.gradient);
        for (p, d) in self.pull.iter_mut().zip(d) {
            *p += self.delta * d;
        }
        for (slot, &(i, j)) in self.hessian.iter().enumerate() {
            self.pull[i] += data.hessian[slot] * d[j];
            if i != j {
                self.pull[j] += data.hessian[slot] * d[i];
            }
        }
        let reached = &mut self.residual[..self.m];
        reached.fill(0.0);
        for (slot, &(row, column)) in self.jacobian.iter().enumerate() {
            self.pull[column] += data.jacobian[slot] * y[row];
            reached[row] += data.jacobian[slot] * d[column];
        }
        let scale = 1.0 + data.gradient.iter().fold(0.0f64, |a, g| a.max(g.abs()));
        let judge = |place: Place, value: f64, bound: &Bound, pull: f64| -> (Place, f64) {
            let size = 1.0 + value.abs();
            match place {
                Place::Free if value < bound.lower - INSIDE * size => (Place::Lower, (bound.lower - value) / size),
                Place::Free if value > bound.upper + INSIDE * size => (Place::Upper, (value - bound.upper) / size),
                Place::Lower if pull < -INSIDE * scale && !bound.is_equality() => (Place::Free, -pull / scale),
                Place::Upper if pull > INSIDE * scale && !bound.is_equality() => (Place::Free, pull / scale),
                place => (place, 0.0),
            }
        };
        let (mut worst, mut most, mut changed) = (None, 0.0, false);
        for k in 0..n + self.m {
            let (old, (new, by)) = if k < n {
                (self.variables[k], judge(self.variables[k], d[k], &data.variables[k], self.pull[k]))
            } else {
                let i = k - n;
                (self.rows[i], judge(self.rows[i], reached[i], &data.rows[i], -y[i]))
            };
            if new == old {
                continue;
            }
            changed = true;
            if all {
                *(if k < n { &mut self.variables[k] } else { &mut self.rows[k - n] }) = new;
            } else if by > most {
                (most, worst) = (by, Some((k, new)));
            }
        }
        if let Some((k, new)) = worst {
            *(if k < n { &mut self.variables[k] } else { &mut self.rows[k - n] }) = new;
        }
        changed
    }
}
