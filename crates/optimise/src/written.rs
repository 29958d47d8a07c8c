//! Programs whose functions are written once, for any number: all derivatives come from jets.
//!
//! For small dense programs. Entry (i, j) of the Hessian of the Lagrangian is the mixed derivative along x_i and x_j, carried by a
//! jet of jets.

use crate::nlp::{Bound, Nlp, Size};
use dalembert_methods::Jet;

/// The number through which functions are read: value, two first derivatives, and the mixed second one.
pub type Second = Jet<Jet<f64, 1>, 1>;

/// Objective (returned) and constraints (written) of x: a function generic over the number, read with [`Second`].
pub type Function = dyn Fn(&[Second], &mut [Second]) -> Second + Send + Sync;

/// A program from a written function; all entries of its matrices may differ from zero.
pub struct Written {
    function: Box<Function>,
    start: Vec<f64>,
    variables: Vec<Bound>,
    constraints: Vec<Bound>,
    names: Option<(Vec<String>, Vec<String>)>,
    x: Vec<Second>,
    c: Vec<Second>,
}

impl Written {
    /// The program of a function, from where to begin and what variables and constraints may be between.
    pub fn new(
        function: impl Fn(&[Second], &mut [Second]) -> Second + Send + Sync + 'static,
        start: Vec<f64>,
        variables: Vec<Bound>,
        constraints: Vec<Bound>,
    ) -> Self {
        Self {
            function: Box::new(function),
            x: vec![Second::default(); start.len()],
            c: vec![Second::default(); constraints.len()],
            start,
            variables,
            constraints,
            names: None,
        }
    }

    /// Gives names to variables and constraints.
    pub fn named(mut self, variables: &[&str], constraints: &[&str]) -> Self {
        let own = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        self.names = Some((own(variables), own(constraints)));
        self
    }

    /// Where to begin, to be changed.
    pub fn start_mut(&mut self) -> &mut [f64] {
        &mut self.start
    }

    /// f with derivatives along x_i and x_j; those of c are left in place.
    fn along(&mut self, x: &[f64], i: usize, j: usize) -> Second {
        for (k, (out, &x)) in self.x.iter_mut().zip(x).enumerate() {
            let unit = |on: usize| if k == on { 1.0 } else { 0.0 };
            *out = Jet::new(Jet::new(x, unit(i)), Jet::new(unit(j), 0.0));
        }
        (self.function)(&self.x, &mut self.c)
    }
}

impl Nlp for Written {
    fn size(&self) -> Size {
        Size { variables: self.start.len(), constraints: self.constraints.len() }
    }
    fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
        variables.copy_from_slice(&self.variables);
        constraints.copy_from_slice(&self.constraints);
    }
    fn start(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }
    fn variable_name(&self, index: usize) -> String {
        self.names.as_ref().and_then(|names| names.0.get(index).cloned()).unwrap_or_else(|| format!("x[{index}]"))
    }
    fn constraint_name(&self, index: usize) -> String {
        self.names.as_ref().and_then(|names| names.1.get(index).cloned()).unwrap_or_else(|| format!("c[{index}]"))
    }
    fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        let Size { variables, constraints } = self.size();
        (0..variables).flat_map(|column| (0..constraints).map(move |row| (row, column))).collect()
    }
    fn hessian_pattern(&self) -> Vec<(usize, usize)> {
        (0..self.size().variables).flat_map(|i| (0..=i).map(move |j| (i, j))).collect()
    }
    fn objective(&mut self, x: &[f64]) -> f64 {
        self.along(x, usize::MAX, usize::MAX).re.re
    }
    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        for i in 0..out.len() {
            out[i] = self.along(x, i, usize::MAX).re.eps[0];
        }
    }
    fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
        self.along(x, usize::MAX, usize::MAX);
        for (out, c) in out.iter_mut().zip(&self.c) {
            *out = c.re.re;
        }
    }
    fn jacobian(&mut self, x: &[f64], out: &mut [f64]) {
        let m = self.c.len();
        for i in 0..self.x.len() {
            self.along(x, i, usize::MAX);
            for row in 0..m {
                out[i * m + row] = self.c[row].re.eps[0];
            }
        }
    }
    fn hessian(&mut self, x: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]) {
        let mut k = 0;
        for i in 0..self.x.len() {
            for j in 0..=i {
                let f = self.along(x, i, j);
                let bent: f64 = self.c.iter().zip(multipliers).map(|(c, y)| c.eps[0].eps[0] * y).sum();
                out[k] = weight * f.eps[0].eps[0] + bent;
                k += 1;
            }
        }
    }
}
