//! The program a solver sees: without fixed variables, objective and constraints scaled.
//!
//! Scaling by gradients at the start: f and each row of c are multiplied by min(1, g_max / ‖∇‖∞) with g_max = 100, so that no derivative there
//! is larger than that (\[1\] section 3.8). Variables can be divided by their sizes, too, rounded to powers of two: bounds are kept exactly.
//!
//! Reference: \[1\] A. Wächter, L. T. Biegler, *On the implementation of an interior-point filter line-search algorithm for large-scale
//! nonlinear programming*, Math. Program. 106 (2006) 25–57.

use crate::nlp::{Bound, Nlp, Point, Size};
use crate::report::{Counts, OBJECTIVE, OBJECTIVE_SLOPE, Outcome};
use crate::structure::contenders;

/// The largest gradient that is left as it is.
const LARGEST_GRADIENT: f64 = 100.0;
/// By how much pairs of inequalities without interior are widened, relative to max(1, |limit|).
const PAIRS: f64 = 1e-8;
/// How many contending equalities are named.
const NAMED: usize = 6;
/// The least factor of scaling.
const LEAST_SCALE: f64 = 1e-8;

pub(crate) struct Reduced<'a> {
    problem: &'a mut dyn Nlp,
    size: Size,
    /// The user's x, fixed variables in place.
    x: Vec<f64>,
    /// The user's numbers of the free variables.
    pub free: Vec<usize>,
    pub variables: Vec<Bound>,
    pub constraints: Vec<Bound>,
    pub objective_scale: f64,
    pub row_scale: Vec<f64>,
    /// What the free variables were divided by.
    pub sizes: Vec<f64>,
    jacobian: Vec<(usize, usize)>,
    jacobian_slots: Vec<usize>,
    jacobian_values: Vec<f64>,
    hessian: Vec<(usize, usize)>,
    hessian_slots: Vec<usize>,
    hessian_values: Vec<f64>,
    gradient: Vec<f64>,
    multipliers: Vec<f64>,
    pub counts: Counts,
}

impl<'a> Reduced<'a> {
    /// Reads sizes, bounds and patterns, and finds what can be told to be wrong without solving.
    pub fn new(problem: &'a mut dyn Nlp) -> Result<Self, Outcome> {
        let size = problem.size();
        let mut variables = vec![Bound::FREE; size.variables];
        let mut constraints = vec![Bound::FREE; size.constraints];
        problem.bounds(&mut variables, &mut constraints);
        let wrong = |bound: &Bound| {
            bound.lower.is_nan()
                || bound.upper.is_nan()
                || bound.lower > bound.upper
                || bound.lower == f64::INFINITY
                || bound.upper == f64::NEG_INFINITY
        };
        if let Some(i) = variables.iter().position(wrong) {
            let Bound { lower, upper } = variables[i];
            return Err(Outcome::ContradictoryBounds { name: problem.variable_name(i), lower, upper });
        }
        if let Some(i) = constraints.iter().position(wrong) {
            let Bound { lower, upper } = constraints[i];
            return Err(Outcome::ContradictoryBounds { name: problem.constraint_name(i), lower, upper });
        }
        let mut x = vec![0.0; size.variables];
        problem.start(&mut x);
        if let Some(i) = x.iter().position(|x| !x.is_finite()) {
            return Err(Outcome::NotANumber { what: format!("start of {}", problem.variable_name(i)) });
        }
        let free: Vec<usize> = (0..size.variables).filter(|&i| !variables[i].is_equality()).collect();
        let mut column = vec![usize::MAX; size.variables];
        for (k, &i) in free.iter().enumerate() {
            column[i] = k;
        }
        for (x, bound) in x.iter_mut().zip(&variables) {
            if bound.is_equality() {
                *x = bound.lower;
            }
        }
        let all = problem.jacobian_pattern();
        let jacobian_slots: Vec<usize> = (0..all.len()).filter(|&k| column[all[k].1] != usize::MAX).collect();
        let jacobian: Vec<(usize, usize)> = jacobian_slots.iter().map(|&k| (all[k].0, column[all[k].1])).collect();
        let jacobian_values = vec![0.0; all.len()];
        let all = problem.hessian_pattern();
        let inner = |&k: &usize| column[all[k].0] != usize::MAX && column[all[k].1] != usize::MAX;
        let hessian_slots: Vec<usize> = (0..all.len()).filter(inner).collect();
        let hessian = hessian_slots
            .iter()
            .map(|&k| (column[all[k].0], column[all[k].1]))
            .map(|(i, j)| (i.max(j), i.min(j)))
            .collect();
        let equalities = constraints.iter().filter(|bound| bound.is_equality()).count();
        if equalities > free.len() {
            let equal: Vec<bool> = constraints.iter().map(Bound::is_equality).collect();
            let found = contenders(&equal, free.len(), &jacobian).map_or_else(Vec::new, |found| found.rows);
            let contending = found.iter().take(NAMED).map(|&row| problem.constraint_name(row)).collect();
            let (variables, count) = (free.len(), found.len());
            return Err(Outcome::TooFewVariables { variables, equalities, contending, count });
        }
        Ok(Self {
            problem,
            size,
            x,
            objective_scale: 1.0,
            row_scale: vec![1.0; size.constraints],
            sizes: vec![1.0; free.len()],
            free,
            variables,
            constraints,
            jacobian,
            jacobian_slots,
            jacobian_values,
            hessian_values: vec![0.0; all.len()],
            hessian,
            hessian_slots,
            gradient: vec![0.0; size.variables],
            multipliers: vec![0.0; size.constraints],
            counts: Counts::default(),
        })
    }

    /// The user's program.
    pub fn problem(&mut self) -> &mut dyn Nlp {
        self.problem
    }

    /// Puts another start in place of the program's own.
    pub fn set_start(&mut self, x: &[f64]) {
        for &i in &self.free {
            self.x[i] = x[i];
        }
    }

    /// Divides variables by their sizes: that of the start, or half the range where the start is zero.
    pub fn scale_variables(&mut self) {
        for (size, &i) in self.sizes.iter_mut().zip(&self.free) {
            let (start, Bound { lower, upper }) = (self.x[i].abs(), self.variables[i]);
            let half = 0.5 * (upper - lower);
            let typical = if start > 0.0 { start } else { half };
            *size = if typical.is_finite() && typical.is_normal() { typical.log2().round().exp2() } else { 1.0 };
        }
    }

    /// All variables, fixed ones among them, at free variables `x`.
    pub fn whole(&mut self, x: &[f64]) -> Vec<f64> {
        self.put(x);
        self.x.clone()
    }

    /// Names the function that has no value at free variables `x`, if there is one.
    pub fn not_a_number(&mut self, x: &[f64]) -> Option<String> {
        self.put(x);
        let full = self.x.clone();
        if !self.problem.objective(&full).is_finite() {
            return Some(OBJECTIVE.into());
        }
        let mut values = vec![0.0; self.size.constraints];
        self.problem.constraints(&full, &mut values);
        if let Some(i) = values.iter().position(|value| !value.is_finite()) {
            return Some(format!("constraint {}", self.problem.constraint_name(i)));
        }
        self.problem.gradient(&full, &mut self.gradient);
        if let Some(i) = self.gradient.iter().position(|value| !value.is_finite()) {
            return Some(format!("{OBJECTIVE_SLOPE}{}", self.problem.variable_name(i)));
        }
        self.problem.jacobian(&full, &mut self.jacobian_values);
        if let Some(k) = self.jacobian_values.iter().position(|value| !value.is_finite()) {
            let (row, variable) = self.problem.jacobian_pattern()[k];
            let (row, variable) = (self.problem.constraint_name(row), self.problem.variable_name(variable));
            return Some(format!("derivative of {row} by {variable}"));
        }
        None
    }

    /// Scales by the gradients at free variables `x`.
    pub fn scale(&mut self, x: &[f64]) {
        let mut gradient = vec![0.0; self.free.len()];
        self.gradient(x, &mut gradient);
        let factor = |largest: f64| {
            let factor = if largest > LARGEST_GRADIENT { LARGEST_GRADIENT / largest } else { 1.0 };
            factor.max(LEAST_SCALE)
        };
        let largest = gradient.iter().fold(0.0f64, |a, g| a.max(g.abs()));
        let mut values = vec![0.0; self.jacobian.len()];
        self.jacobian(x, &mut values);
        let mut rows = vec![0.0f64; self.size.constraints];
        for (&(row, _), value) in self.jacobian.iter().zip(&values) {
            rows[row] = rows[row].max(value.abs());
        }
        self.objective_scale = factor(largest);
        self.row_scale = rows.into_iter().map(factor).collect();
    }

    /// By how much ranges of constraints are widened, scaled: all by `asked` of max(1, |limit|), and pairs of inequalities that meet, c ≥ b and c ≤ b, by a
    /// little. Rows are taken for the same function if values and derivatives at free variables `x` are the same to the bit.
    pub fn widening(&mut self, x: &[f64], asked: f64) -> Vec<f64> {
        let limit = |bound: &Bound| bound.lower.abs().min(bound.upper.abs()).max(1.0);
        let mut wide: Vec<f64> = self.constraints.iter().map(|bound| asked * limit(bound)).collect();
        let mut above: Vec<(u64, usize)> = Vec::new();
        for (i, bound) in self.constraints.iter().enumerate().filter(|(_, bound)| !bound.is_equality()) {
            above.extend(bound.lower.is_finite().then(|| ((bound.lower + 0.0).to_bits(), i)));
        }
        above.sort_unstable();
        let mut pairs = Vec::new();
        for (j, bound) in self.constraints.iter().enumerate().filter(|(_, bound)| !bound.is_equality()) {
            let bits = (bound.upper + 0.0).to_bits();
            let first = above.partition_point(|entry| entry.0 < bits);
            pairs.extend(above[first..].iter().take_while(|entry| entry.0 == bits).map(|entry| (entry.1, j)));
        }
        if !pairs.is_empty() {
            let mut values = vec![0.0; self.size.constraints];
            self.constraints(x, &mut values);
            let mut entries = vec![0.0; self.jacobian.len()];
            self.jacobian(x, &mut entries);
            let mut rows: Vec<Vec<(usize, u64)>> = vec![Vec::new(); self.size.constraints];
            for (&(row, column), entry) in self.jacobian.iter().zip(&entries) {
                rows[row].push((column, (entry / self.row_scale[row] + 0.0).to_bits()));
            }
            rows.iter_mut().for_each(|row| row.sort_unstable());
            for (i, j) in pairs {
                let value = |row: usize| values[row] / self.row_scale[row];
                if value(i) == value(j) && rows[i] == rows[j] {
                    [i, j].into_iter().for_each(|row| wide[row] = wide[row].max(PAIRS * limit(&self.constraints[row])));
                }
            }
        }
        wide.iter_mut().zip(&self.row_scale).for_each(|(wide, scale)| *wide *= scale);
        wide
    }

    fn put(&mut self, x: &[f64]) {
        for ((&i, &value), size) in self.free.iter().zip(x).zip(&self.sizes) {
            self.x[i] = value * size;
        }
    }

    /// The user's x for free variables `x`.
    pub fn full(&self, x: &[f64]) -> Vec<f64> {
        let mut full = self.x.clone();
        for ((&i, &value), size) in self.free.iter().zip(x).zip(&self.sizes) {
            full[i] = value * size;
        }
        full
    }

    /// A point of the user from free variables and scaled multipliers; multipliers of fixed variables make their row of the gradient vanish.
    pub fn point(&mut self, x: &[f64], y: &[f64], lower: &[f64], upper: &[f64]) -> Point {
        let n = self.size.variables;
        let mut point = Point {
            x: self.full(x),
            constraints: y.iter().zip(&self.row_scale).map(|(y, s)| y * s / self.objective_scale).collect(),
            lower: vec![0.0; n],
            upper: vec![0.0; n],
        };
        for (k, &i) in self.free.iter().enumerate() {
            point.lower[i] = lower[k] / (self.objective_scale * self.sizes[k]);
            point.upper[i] = upper[k] / (self.objective_scale * self.sizes[k]);
        }
        if self.free.len() < n {
            let mut slope = vec![0.0; n];
            self.problem.gradient(&point.x, &mut slope);
            self.problem.jacobian(&point.x, &mut self.jacobian_values);
            for (&(row, column), value) in self.problem.jacobian_pattern().iter().zip(&self.jacobian_values) {
                slope[column] += value * point.constraints[row];
            }
            for i in (0..n).filter(|&i| self.variables[i].is_equality()) {
                point.lower[i] = slope[i].max(0.0);
                point.upper[i] = (-slope[i]).max(0.0);
            }
        }
        point
    }
}

impl Nlp for Reduced<'_> {
    fn size(&self) -> Size {
        Size { variables: self.free.len(), constraints: self.size.constraints }
    }
    fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
        for ((out, &i), size) in variables.iter_mut().zip(&self.free).zip(&self.sizes) {
            let Bound { lower, upper } = self.variables[i];
            *out = Bound { lower: lower / size, upper: upper / size };
        }
        for ((out, bound), scale) in constraints.iter_mut().zip(&self.constraints).zip(&self.row_scale) {
            *out = Bound { lower: bound.lower * scale, upper: bound.upper * scale };
        }
    }
    fn start(&self, x: &mut [f64]) {
        for ((out, &i), size) in x.iter_mut().zip(&self.free).zip(&self.sizes) {
            *out = self.x[i] / size;
        }
    }
    fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        self.jacobian.clone()
    }
    fn hessian_pattern(&self) -> Vec<(usize, usize)> {
        self.hessian.clone()
    }
    fn objective(&mut self, x: &[f64]) -> f64 {
        self.put(x);
        self.counts.objective += 1;
        self.problem.objective(&self.x) * self.objective_scale
    }
    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        self.put(x);
        self.counts.gradient += 1;
        self.problem.gradient(&self.x, &mut self.gradient);
        for ((out, &i), size) in out.iter_mut().zip(&self.free).zip(&self.sizes) {
            *out = self.gradient[i] * self.objective_scale * size;
        }
    }
    fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
        self.put(x);
        self.counts.constraints += 1;
        self.problem.constraints(&self.x, out);
        for (out, scale) in out.iter_mut().zip(&self.row_scale) {
            *out *= scale;
        }
    }
    fn jacobian(&mut self, x: &[f64], out: &mut [f64]) {
        self.put(x);
        self.counts.jacobian += 1;
        self.problem.jacobian(&self.x, &mut self.jacobian_values);
        for ((out, &slot), &(row, column)) in out.iter_mut().zip(&self.jacobian_slots).zip(&self.jacobian) {
            *out = self.jacobian_values[slot] * self.row_scale[row] * self.sizes[column];
        }
    }
    fn hessian(&mut self, x: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]) {
        self.put(x);
        self.counts.hessian += 1;
        for ((out, y), scale) in self.multipliers.iter_mut().zip(multipliers).zip(&self.row_scale) {
            *out = y * scale;
        }
        self.problem.hessian(&self.x, weight * self.objective_scale, &self.multipliers, &mut self.hessian_values);
        for ((out, &slot), &(i, j)) in out.iter_mut().zip(&self.hessian_slots).zip(&self.hessian) {
            *out = self.hessian_values[slot] * self.sizes[i] * self.sizes[j];
        }
    }
}
