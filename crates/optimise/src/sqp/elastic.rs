//! The quadratic program with elastic rows, which always has a solution; solved by interior points.
//!
//! ```text
//! minimise g·d + ½ d·(H + δI) d + ρ Σ (v⁺ + v⁻)   subject to   l ≤ J d − v⁺ + v⁻ ≤ u,   a ≤ d ≤ b,   v ≥ 0
//! ```

use super::active::{Place, Quadratic};
use super::{Step, Stuck, Work};
use crate::interior;
use crate::nlp::{Bound, Nlp, Size};
use crate::report::Control;

/// The greatest weight of violations, beside the gradient of the objective.
const GREATEST_RHO: f64 = 1e6;

struct Elastic<'e> {
    data: &'e Quadratic<'e>,
    hessian: &'e [(usize, usize)],
    jacobian: &'e [(usize, usize)],
    delta: f64,
    rho: f64,
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

impl Work<'_> {
    /// Solves the elastic program, with a weight that grows until it halves the violation or is very large.
    pub fn elastic(&mut self, room: &[Bound], rows: &[Bound]) -> Result<Step, Stuck> {
        let violation = self.violation(&self.c);
        let greatest = GREATEST_RHO * (1.0 + self.gradient.iter().fold(0.0f64, |a, g| a.max(g.abs())));
        let mut rho = self.rho.max(10.0).min(greatest);
        let curvature = self.hessian.iter().fold(0.0f64, |a, h| a.max(h.abs()));
        self.delta = self.least_delta;
        let options =
            interior::Options { tolerance: 1e-9, iterations: 200, widening: 1e-8, ..interior::Options::default() };
        for attempt in 0..14 {
            let data = Quadratic {
                gradient: &self.gradient,
                hessian: &self.hessian,
                jacobian: &self.jacobian,
                variables: room,
                rows,
            };
            let mut program = Elastic {
                data: &data,
                hessian: &self.hessian_places,
                jacobian: &self.jacobian_places,
                delta: self.delta,
                rho,
            };
            let report = interior::solve(&mut program, &options, &mut |_| Control::Continue);
            self.factorisations += report.counts.factorisations;
            if !report.outcome.is_success() {
                // Not convex enough to have a minimum.
                self.delta = (10.0 * self.delta).max(1e-3 * (1.0 + curvature));
                continue;
            }
            let d = report.point.x[..self.n].to_vec();
            let left: f64 = report.point.x[self.n..].iter().sum();
            if left > 0.5 * violation && left > 1e-10 && rho < greatest && attempt < 10 {
                rho = (100.0 * rho).min(greatest);
                continue;
            }
            if left > (1.0 - 1e-6) * violation && violation > self.options.tolerance && rho >= greatest {
                return Err(Stuck::Infeasible);
            }
            let y = report.point.constraints.clone();
            let z: Vec<f64> = (0..self.n).map(|j| report.point.lower[j] - report.point.upper[j]).collect();
            self.settle(&d, &y, &z, room, rows);
            let left = if left < 1e-7 * (1.0 + violation) { 0.0 } else { left };
            return Ok(Step { d, y, z, left, settled: false });
        }
        Err(Stuck::Short)
    }

    /// Active sets of an interior solution: what is nearer to its bound than its multiplier is to zero.
    fn settle(&mut self, d: &[f64], y: &[f64], z: &[f64], room: &[Bound], rows: &[Bound]) {
        let place = |value: f64, multiplier: f64, bound: &Bound| {
            if value - bound.lower < multiplier {
                Place::Lower
            } else if bound.upper - value < -multiplier {
                Place::Upper
            } else {
                Place::Free
            }
        };
        let mut reached = vec![0.0; self.m];
        for (&(row, column), value) in self.jacobian_places.iter().zip(&self.jacobian) {
            reached[row] += value * d[column];
        }
        for i in 0..self.m {
            self.active.rows[i] = place(reached[i], -y[i], &rows[i]);
        }
        for j in 0..self.n {
            self.active.variables[j] = place(d[j], z[j], &room[j]);
        }
    }
}
