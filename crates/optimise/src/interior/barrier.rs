//! The barrier parameter: monotone, or adaptive by probing.
//!
//! References: \[1\] Wächter and Biegler (2006), eq. 7; S. Mehrotra, *On the implementation of a primal–dual interior point method*, SIAM J. Optim. 2
//! (1992) 575–601; J. Nocedal, A. Wächter, R. A. Waltz, *Adaptive barrier update strategies for nonlinear interior methods*, SIAM J. Optim. 19
//! (2009) 1674–1693.

use super::core::{Core, End, SOLVED};

/// μ ← min(κ_μ μ, μ^θ_μ).
const FALL: f64 = 0.2;
const POWER: f64 = 1.5;
/// Errors of the last iterations among which an adaptive one must be better than the worst.
const REMEMBERED: usize = 4;

/// Whether μ follows the iterates, or each barrier problem is solved.
#[derive(Clone, Debug)]
pub(super) struct Adaptive {
    pub free: bool,
    pub last: Vec<f64>,
    pub greatest: f64,
}

impl Core<'_> {
    pub fn set_mu(&mut self, mu: f64) {
        if mu != self.mu {
            self.mu = mu;
            self.filter.clear();
            if let Some(zeta) = self.zeta {
                zeta.set(mu.sqrt());
                self.f = self.problem.objective(&self.now.p[..self.shape.n]);
                self.problem.gradient(&self.now.p[..self.shape.n], &mut self.gradient);
            }
        }
    }

    /// Lets μ fall while barrier problems are solved (\[1\] eq. 7).
    pub fn monotone(&mut self) -> Result<(), End> {
        while self.errors(self.mu).largest() <= SOLVED * self.mu || self.tiny > 0 {
            let next = (FALL * self.mu).min(self.mu.powf(POWER)).max(self.least_mu);
            if next >= self.mu {
                // The last barrier problem, and no step moves anything.
                return if self.tiny > 1 { Err(End::NoProgress) } else { Ok(()) };
            }
            self.tiny = 0;
            self.set_mu(next);
        }
        Ok(())
    }

    /// The mean product of gaps and multipliers.
    fn complementarity(&self, at: impl Fn(usize) -> (f64, f64, f64)) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.shape.unknowns {
            let (p, low, high) = at(i);
            if self.shape.lower[i].is_finite() {
                sum += (p - self.shape.lower[i]) * low;
            }
            if self.shape.upper[i].is_finite() {
                sum += (self.shape.upper[i] - p) * high;
            }
        }
        sum / self.shape.bounds.max(1) as f64
    }

    /// Decides whether an adaptive μ may go on, by the errors of the last iterations.
    pub fn judge(&mut self) {
        let error = self.errors(0.0).largest();
        let mean = self.complementarity(|i| (self.now.p[i], self.now.lower[i], self.now.upper[i]));
        let Some(adaptive) = &mut self.adaptive else { return };
        if adaptive.greatest.is_infinite() {
            adaptive.greatest = (1e3 * mean).max(self.options.barrier_start);
        }
        let worst = adaptive.last.iter().copied().fold(0.0, f64::max);
        let better = adaptive.last.len() < REMEMBERED || error <= 0.9999 * worst;
        match (adaptive.free, better) {
            (_, true) => {
                adaptive.free = true;
                if adaptive.last.len() == REMEMBERED {
                    adaptive.last.remove(0);
                }
                adaptive.last.push(error);
            }
            (true, false) => self.bind(),
            (false, false) => {}
        }
    }

    /// μ from the step towards μ = 0: σ = (complementarity reached / present)³ of it (Mehrotra).
    pub fn probe(&mut self) {
        let mean = self.complementarity(|i| (self.now.p[i], self.now.lower[i], self.now.upper[i]));
        if self.shape.bounds == 0 || self.direction(0.0).is_err() {
            self.set_mu(self.least_mu);
            return;
        }
        let (primal, dual) = (self.primal_length(1.0), self.dual_length(1.0));
        let reached = self.complementarity(|i| {
            (
                self.now.p[i] + primal * self.step.p[i],
                self.now.lower[i] + dual * self.step.lower[i],
                self.now.upper[i] + dual * self.step.upper[i],
            )
        });
        let greatest = self.adaptive.as_ref().map_or(f64::INFINITY, |adaptive| adaptive.greatest);
        let mu = (reached / mean).powi(3).min(100.0) * mean;
        self.set_mu(mu.clamp(0.01 * self.least_mu, greatest));
        self.filter.clear();
    }

    /// Ends the freedom of an adaptive μ: the next barrier problems are solved.
    pub fn bind(&mut self) {
        let mean = self.complementarity(|i| (self.now.p[i], self.now.lower[i], self.now.upper[i]));
        let Some(adaptive) = &mut self.adaptive else { return };
        adaptive.free = false;
        let mu = (0.8 * mean).clamp(self.least_mu, adaptive.greatest);
        self.set_mu(mu);
    }
}
