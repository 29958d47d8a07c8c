//! Explicit steps with constraints: SHAKE within a macro step, RATTLE at its end.
//!
//! With the fastest forces at the ends of micro steps (α = 0) the discrete equations leave only multipliers to be solved for (\[1\], \[2\] section VII.1.4):
//!
//! ```text
//! v⁺ = v_k + h M⁻¹ F_k (half of it at both ends),   q_{k+1} = q_k + h v⁺ − M⁻¹ G_kᵀ μ,   g(q_{k+1}) = 0,   v_{k+1} = v⁺ − M⁻¹ G_kᵀ μ/h
//! ```
//!
//! Velocities need to meet G v = 0 at the end of the macro step only: what they have along M⁻¹Gᵀ between is taken up by μ. The matrix
//! S = G_k M⁻¹ G_kᵀ, factored with its structure where a macro step begins, serves for all iterations of all its micro steps as long as each shrinks the error fifty times, as it does
//! while constraints turn by small angles. Positions are those of the implicit equations to rounding.
//!
//! References: \[1\] Andersen: Rattle: a "velocity" version of the Shake algorithm, J. Comput. Phys. 52 (1983) 24–34; \[2\] Hairer, Lubich, Wanner: Geometric
//! Numerical Integration, 2nd ed., Springer 2006.

use super::mover::Mover;
use super::sizes::measure;
use super::solve::{LEFT, STALL, ULPS};
use crate::integrate::IntegrateError;
use crate::system::{State, System};

/// Contraction above which factors are made anew.
const SLOW: f64 = 0.02;
/// Contraction above which iterations have failed.
const FAILED: f64 = 0.5;

/// Scratch for steps with constraints.
pub(super) struct Links {
    /// Where the rows at hand were taken.
    at: Vec<f64>,
    /// Whether factors of this macro step are at hand.
    factored: bool,
    residual: Vec<f64>,
    change: Vec<f64>,
    /// The coordinates that rows hold, with the inverse of their size.
    held: Vec<(usize, f64)>,
    sizes: Vec<f64>,
    iterations: u32,
    pub factorisations: u64,
    pub solves: u64,
}

impl Links {
    pub fn new<Y: System>(y: &Y, iterations: u32) -> Self {
        let shape = y.shape();
        let blocks = y.row_blocks();
        let is_held = |k: &usize| blocks.iter().any(|b| (b.col..b.col + b.cols).contains(k));
        Self {
            held: (0..shape.v).filter(is_held).map(|k| (k, 0.0)).collect(),
            at: vec![f64::NAN; shape.q],
            factored: false,
            residual: vec![0.0; shape.rows()],
            change: vec![0.0; shape.v],
            sizes: vec![0.0; shape.v],
            iterations,
            factorisations: 0,
            solves: 0,
        }
    }

    /// Takes the sizes of coordinates, against which changes in steps of length `h` are measured.
    pub fn measure<Y: System>(&mut self, y: &Y, s: &State<f64>, h: f64) {
        measure(y, s, h, &mut self.sizes);
        self.held.iter_mut().for_each(|(k, inverse)| *inverse = 1.0 / self.sizes[*k]);
    }

    /// Velocities have just been projected at `q`: the rows and factors there are at hand.
    pub fn arrive(&mut self, q: &[f64]) {
        self.at.copy_from_slice(q);
        self.factored = true;
    }

    /// A macro step begins: unless it is where the last one ended there are no factors, so that a continued run has the same bits.
    pub fn begin(&mut self, q: &[f64]) {
        self.factored &= self.at == q;
    }

    /// q += h v, back onto the constraints along their rows at the beginning, and v with it. Masses are factored, coordinates measured.
    pub fn drift<Y: System>(
        &mut self,
        y: &Y,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        h: f64,
        what: &'static str,
    ) -> Result<(), IntegrateError> {
        let parts = mover.dynamics.parts();
        if self.at != s.q {
            y.prepare(s, parts.work);
            y.jacobian(s, parts.work, parts.rows);
            self.at.copy_from_slice(&s.q);
            if !self.factored {
                parts.saddle.factor(&mover.mass, parts.rows);
                self.factorisations += 1;
                self.factored = true;
            }
        }
        let (t, mut fresh) = (s.t, false);
        s.q.iter_mut().zip(&s.v).for_each(|(q, v)| *q += h * v);
        s.t += h;
        let (mut last, mut worst, inverse) = (f64::INFINITY, 0, 1.0 / h);
        for _ in 0..self.iterations {
            y.prepare(s, parts.work);
            y.constraint(s, parts.work, &mut self.residual);
            parts.saddle.push(&mover.mass, parts.rows, &mut self.change, &mut self.residual);
            self.solves += 1;
            let mut change = 0.0;
            for &(k, size) in &self.held {
                let d = self.change[k];
                s.q[k] -= d;
                // By what was added, not by Δq/h: the rounding of places would be divided by h, and it has momentum.
                s.v[k] -= d * inverse;
                let relative = d.abs() * size;
                if relative > change || !relative.is_finite() {
                    (change, worst) = (relative, k);
                }
            }
            let contraction = change / last;
            let left = if last.is_finite() { contraction / (1.0 - contraction).max(0.0) * change } else { change };
            if left <= LEFT || (contraction > FAILED && change <= ULPS) {
                return Ok(());
            }
            let failed = contraction > FAILED && change > STALL;
            if !change.is_finite() || failed && fresh {
                break;
            }
            if last.is_finite() && contraction > SLOW && !fresh {
                parts.saddle.factor(&mover.mass, parts.rows);
                self.factorisations += 1;
                fresh = true;
            }
            last = change;
        }
        Err(IntegrateError::NotConverged { t, h, what, residual: last / f64::EPSILON, worst: y.velocity_name(worst) })
    }
}
