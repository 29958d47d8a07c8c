//! The quadratic program with elastic rows, which always has a solution; solved by interior points.
//!
//! ```text
//! minimise g·d + ½ d·(H + δI) d + ρ Σ (v⁺ + v⁻)   subject to   l ≤ J d − v⁺ + v⁻ ≤ u,   a ≤ d ≤ b,   v ≥ 0
//! ```

use super::active::Quadratic;
use crate::nlp::{Bound, Nlp, Size};

pub(super) struct Elastic<'e> {
    pub data: &'e Quadratic<'e>,
    pub hessian: &'e [(usize, usize)],
    pub jacobian: &'e [(usize, usize)],
    pub delta: f64,
    pub rho: f64,
}

impl Elastic<'_> {
    fn n(&self) -> usize {
        self.data.variables.len()
    }
    fn m(&self) -> usize {
        self.data.rows.len()
    }
}

impl Nlp for Elastic<'_> {
    fn size(&self) -> Size {
        Size { variables: self.n() + 2 * self.m(), constraints: self.m() }
    }
    fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
        variables[..self.n()].copy_from_slice(self.data.variables);
        variables[self.n()..].fill(Bound::at_least(0.0));
        constraints.copy_from_slice(self.data.rows);
    }
    fn start(&self, x: &mut [f64]) {
        x[..self.n()].fill(0.0);
        x[self.n()..].fill(1.0);
    }
    fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        let (n, m) = (self.n(), self.m());
        let mut pattern = self.jacobian.to_vec();
        pattern.extend((0..m).map(|i| (i, n + i)));
        pattern.extend((0..m).map(|i| (i, n + m + i)));
        pattern
    }
    fn hessian_pattern(&self) -> Vec<(usize, usize)> {
        let mut pattern = self.hessian.to_vec();
        pattern.extend((0..self.n()).map(|i| (i, i)));
        pattern
    }
    fn objective(&mut self, x: &[f64]) -> f64 {
        let n = self.n();
        let mut sum: f64 = self.rho * x[n..].iter().sum::<f64>();
        for (slot, &(i, j)) in self.hessian.iter().enumerate() {
            sum += if i == j { 0.5 } else { 1.0 } * self.data.hessian[slot] * x[i] * x[j];
        }
        sum + (0..n).map(|i| self.data.gradient[i] * x[i] + 0.5 * self.delta * x[i] * x[i]).sum::<f64>()
    }
    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        let n = self.n();
        out[n..].fill(self.rho);
        for i in 0..n {
            out[i] = self.data.gradient[i] + self.delta * x[i];
        }
        for (slot, &(i, j)) in self.hessian.iter().enumerate() {
            out[i] += self.data.hessian[slot] * x[j];
            if i != j {
                out[j] += self.data.hessian[slot] * x[i];
            }
        }
    }
    fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
        let (n, m) = (self.n(), self.m());
        for i in 0..m {
            out[i] = x[n + m + i] - x[n + i];
        }
        for (slot, &(row, column)) in self.jacobian.iter().enumerate() {
            out[row] += self.data.jacobian[slot] * x[column];
        }
    }
    fn jacobian(&mut self, _: &[f64], out: &mut [f64]) {
        let m = self.m();
        let own = out.len() - 2 * m;
        out[..own].copy_from_slice(self.data.jacobian);
        out[own..own + m].fill(-1.0);
        out[own + m..].fill(1.0);
    }
    fn hessian(&mut self, _: &[f64], weight: f64, _: &[f64], out: &mut [f64]) {
        let own = self.hessian.len();
        for (out, h) in out.iter_mut().zip(self.data.hessian) {
            *out = weight * h;
        }
        out[own..].fill(weight * self.delta);
    }
}
