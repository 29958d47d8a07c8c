//! A program with another objective over its goals: its own constraints, and the rows of a form.
//!
//! The objective of the program itself is not used. Patterns of derivatives are asked for once for each program, not for each solve.

use super::form::Form;
use crate::nlp::{Bound, Nlp, Point, Size};

/// A program with the patterns of its derivatives.
pub struct Base<'n> {
    nlp: Box<dyn Nlp + 'n>,
    size: Size,
    goals: Vec<usize>,
    limits: Vec<Bound>,
    names: Vec<String>,
    jacobian: Vec<(usize, usize)>,
    hessian: Vec<(usize, usize)>,
    /// One over the square of the range of each variable; zero for goals.
    pull: Vec<f64>,
}

impl<'n> Base<'n> {
    /// A program, the variables that are its goals, what each goal may be between, and their names.
    pub fn new(nlp: Box<dyn Nlp + 'n>, goals: Vec<usize>, limits: Vec<Bound>, names: Vec<String>) -> Self {
        let (size, jacobian, hessian) = (nlp.size(), nlp.jacobian_pattern(), nlp.hessian_pattern());
        let (mut variables, mut constraints) = (vec![Bound::FREE; size.variables], vec![Bound::FREE; size.constraints]);
        nlp.bounds(&mut variables, &mut constraints);
        let mut start = vec![0.0; size.variables];
        nlp.start(&mut start);
        let range = |(bound, x): (&Bound, &f64)| {
            let range = bound.upper - bound.lower;
            if range.is_finite() && range > 0.0 { range } else { x.abs().max(1.0) }
        };
        let mut pull: Vec<f64> = variables.iter().zip(&start).map(|both| range(both).powi(-2)).collect();
        goals.iter().for_each(|&i| pull[i] = 0.0);
        Self { nlp, size, goals, limits, names, jacobian, hessian, pull }
    }

    /// The numbers of variables and constraints of the program itself.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The program with a form as its objective, to begin at x.
    pub fn with<'b>(&'b mut self, form: &'b Form, x: &[f64]) -> Scalarised<'b, 'n> {
        let k = self.goals.len();
        let goals: Vec<f64> = self.goals.iter().map(|&i| x[i]).collect();
        let mut start = x[..self.size.variables].to_vec();
        if form.level.is_some() {
            start.push(form.first_level(&goals));
        }
        Scalarised { base: self, form, start, goals, slope: vec![0.0; k], curvature: vec![0.0; k * (k + 1) / 2] }
    }
}

/// A program with a form as its objective.
pub struct Scalarised<'b, 'n> {
    base: &'b mut Base<'n>,
    form: &'b Form,
    start: Vec<f64>,
    goals: Vec<f64>,
    slope: Vec<f64>,
    curvature: Vec<f64>,
}

impl Scalarised<'_, '_> {
    fn pick(&mut self, x: &[f64]) {
        for (y, &i) in self.goals.iter_mut().zip(&self.base.goals) {
            *y = x[i];
        }
    }

    /// A warm start from multipliers of the program itself, at goals whose weights are known.
    pub fn warm(&self, own: &Point, weights: &[f64]) -> Point {
        let goals: Vec<f64> = self.base.goals.iter().map(|&i| own.x[i]).collect();
        let (factor, rows) = self.form.guess(&goals, weights);
        let scaled = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| v * factor).collect() };
        let mut point = Point {
            x: self.start.clone(),
            constraints: scaled(&own.constraints),
            lower: scaled(&own.lower),
            upper: scaled(&own.upper),
        };
        point.constraints.extend(rows);
        if self.form.level.is_some() {
            point.lower.push(0.0);
            point.upper.push(0.0);
        }
        point
    }
}

impl Nlp for Scalarised<'_, '_> {
    fn size(&self) -> Size {
        let Size { variables, constraints } = self.base.size;
        Size {
            variables: variables + usize::from(self.form.level.is_some()),
            constraints: constraints + self.form.rows.len(),
        }
    }
    fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
        let Size { variables: n, constraints: m } = self.base.size;
        self.base.nlp.bounds(&mut variables[..n], &mut constraints[..m]);
        for (&i, limit) in self.base.goals.iter().zip(&self.base.limits) {
            let own = variables[i];
            variables[i] = Bound::between(own.lower.max(limit.lower), own.upper.min(limit.upper));
        }
        variables[n..].fill(Bound::FREE);
        for (out, row) in constraints[m..].iter_mut().zip(&self.form.rows) {
            *out = row.bound;
        }
    }
    fn start(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }
    fn variable_name(&self, index: usize) -> String {
        if index < self.base.size.variables { self.base.nlp.variable_name(index) } else { "level of the goals".into() }
    }
    fn constraint_name(&self, index: usize) -> String {
        match index.checked_sub(self.base.size.constraints) {
            None => self.base.nlp.constraint_name(index),
            Some(row) => format!("limit of goal {}", self.base.names[self.form.rows[row].goal]),
        }
    }
    fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        let Size { variables: n, constraints: m } = self.base.size;
        let mut pattern = self.base.jacobian.clone();
        for (j, row) in self.form.rows.iter().enumerate() {
            pattern.push((m + j, self.base.goals[row.goal]));
            if self.form.level.is_some() {
                pattern.push((m + j, n));
            }
        }
        pattern
    }
    fn hessian_pattern(&self) -> Vec<(usize, usize)> {
        let goals = &self.base.goals;
        let mut pattern = self.base.hessian.clone();
        pattern.extend((0..goals.len()).flat_map(|i| (0..=i).map(move |j| (goals[i], goals[j]))));
        if self.form.near {
            pattern.extend((0..self.base.size.variables).map(|i| (i, i)));
        }
        pattern
    }
    fn objective(&mut self, x: &[f64]) -> f64 {
        self.pick(x);
        let level = self.form.level.map_or(0.0, |w| w * x[self.base.size.variables]);
        let far = |(pull, (x, start)): (&f64, (&f64, &f64))| 0.5 * pull * (x - start).powi(2);
        let near = match self.form.near {
            true => self.base.pull.iter().zip(x.iter().zip(&self.start)).map(far).sum(),
            false => 0.0,
        };
        self.form.measure.value(&self.goals) + level + near
    }
    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        self.pick(x);
        self.form.measure.slope(&self.goals, &mut self.slope);
        out.fill(0.0);
        for (&i, slope) in self.base.goals.iter().zip(&self.slope) {
            out[i] = *slope;
        }
        if let Some(weight) = self.form.level {
            out[self.base.size.variables] = weight;
        }
        if self.form.near {
            for (i, pull) in self.base.pull.iter().enumerate() {
                out[i] += pull * (x[i] - self.start[i]);
            }
        }
    }
    fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
        let Size { variables: n, constraints: m } = self.base.size;
        self.base.nlp.constraints(&x[..n], &mut out[..m]);
        let level = x.get(n).copied().unwrap_or(0.0);
        for (out, row) in out[m..].iter_mut().zip(&self.form.rows) {
            *out = x[self.base.goals[row.goal]] / row.scale - row.rise * level;
        }
    }
    fn jacobian(&mut self, x: &[f64], out: &mut [f64]) {
        let own = self.base.jacobian.len();
        self.base.nlp.jacobian(&x[..self.base.size.variables], &mut out[..own]);
        let mut rest = out[own..].iter_mut();
        for row in &self.form.rows {
            let entries = [1.0 / row.scale, -row.rise];
            let count = if self.form.level.is_some() { 2 } else { 1 };
            rest.by_ref().take(count).zip(entries).for_each(|(out, entry)| *out = entry);
        }
    }
    fn hessian(&mut self, x: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]) {
        let Size { variables: n, constraints: m } = self.base.size;
        let own = self.base.hessian.len();
        self.base.nlp.hessian(&x[..n], 0.0, &multipliers[..m], &mut out[..own]);
        self.pick(x);
        self.form.measure.curvature(&self.goals, &mut self.curvature);
        let near: &[f64] = if self.form.near { &self.base.pull } else { &[] };
        for (out, curvature) in out[own..].iter_mut().zip(self.curvature.iter().chain(near)) {
            *out = weight * curvature;
        }
    }
}
