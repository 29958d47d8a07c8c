//! The iteration: errors, barrier parameter, step, line search, restoration.
//!
//! Names follow \[1\]: p are the bounded unknowns (x, s), y the multipliers of the constraints, `lower` and `upper` those of the bounds,
//! θ the violation ‖c‖₁, φ the barrier objective, τ the part of the way to the boundary.
//!
//! Reference: \[1\] Wächter and Biegler (2006).

use super::barrier::Adaptive;
use super::filter::Filter;
use super::kkt::{Kkt, NoStep};
use super::options::{Barrier, Options};
use super::search::Watchdog;
use super::shape::Shape;
use crate::nlp::Nlp;
use std::cell::Cell;

/// Scale of multipliers beyond which errors are divided by them (s_max).
const MULTIPLIERS: f64 = 100.0;
/// A barrier problem is solved when its error is below this multiple of μ (κ_ε).
pub(super) const SOLVED: f64 = 10.0;
/// τ ≥ this.
const BOUNDARY: f64 = 0.99;
/// Multipliers of bounds stay within this factor of μ / gap (κ_Σ).
const KEEP: f64 = 1e10;
/// Weight of gaps with one bound only, which keeps barrier problems bounded (κ_d).
pub(super) const DAMPING: f64 = 1e-5;
/// First multipliers larger than this are set to zero.
const FIRST_MULTIPLIERS: f64 = 1e3;

/// Unknowns and multipliers, or a step of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Iterate {
    pub p: Vec<f64>,
    pub y: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
}

/// How an iteration ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Solved,
    Acceptable,
    Infeasible,
    Unbounded,
    NotANumber,
    Stopped,
    Done,
    Limit,
    NoProgress,
}

/// What the watcher of iterations wants.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Continue,
    Stop,
    Done,
}

/// An iteration, as its watcher sees it.
pub(super) struct Peek<'p> {
    pub restoring: bool,
    pub now: &'p Iterate,
    pub objective: f64,
    /// Residuals of the constraints, scaled.
    pub residual: &'p [f64],
    pub stationarity: f64,
    pub complementarity: f64,
    pub mu: f64,
    pub regularisation: f64,
    pub step: f64,
}

/// A watcher of iterations.
pub(super) type Watch<'w> = dyn FnMut(&Peek<'_>) -> Verdict + 'w;

/// Errors of the first-order conditions.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Errors {
    pub stationarity: f64,
    pub violation: f64,
    pub complementarity: f64,
}

impl Errors {
    pub fn largest(&self) -> f64 {
        self.stationarity.max(self.violation).max(self.complementarity)
    }
}

/// A barrier method at work.
pub(super) struct Core<'a> {
    pub problem: &'a mut dyn Nlp,
    pub options: Options,
    pub shape: Shape,
    pub kkt: Kkt,
    pub now: Iterate,
    pub f: f64,
    pub residual: Vec<f64>,
    pub gradient: Vec<f64>,
    pub jacobian: Vec<f64>,
    pub hessian: Vec<f64>,
    pub step: Iterate,
    pub mu: f64,
    pub filter: Filter,
    /// Below this violation steps may have to reduce the objective.
    pub least_violation: f64,
    pub iterations: usize,
    pub errors: Errors,
    pub regularisation: f64,
    pub length: f64,
    /// Scales of the constraints, for the violation as the user sees it.
    pub rows: Vec<f64>,
    /// Told of √μ whenever it changes, because the objective depends on it.
    pub zeta: Option<&'a Cell<f64>>,
    pub tiny: usize,
    pub restorations: usize,
    pub adaptive: Option<Adaptive>,
    pub least_mu: f64,
    pub slope: Vec<f64>,
    pub sigma: Vec<f64>,
    pub trial: Iterate,
    pub trial_residual: Vec<f64>,
    /// Steps in a row that were shortened, and the trial of full ones.
    pub shortened: usize,
    pub watchdog: Option<Box<Watchdog>>,
}

/// φ = f − μ Σ ln gaps + κ_d μ Σ gaps of unknowns with one bound; not a number if a gap is not positive.
pub(super) fn barrier(shape: &Shape, mu: f64, p: &[f64], f: f64) -> f64 {
    let (mut logs, mut damped) = (0.0, 0.0);
    for i in 0..shape.unknowns {
        let (lower, upper) = (shape.lower[i], shape.upper[i]);
        match (lower.is_finite(), upper.is_finite()) {
            (true, true) => logs += (p[i] - lower).ln() + (upper - p[i]).ln(),
            (true, false) => {
                logs += (p[i] - lower).ln();
                damped += p[i] - lower;
            }
            (false, true) => {
                logs += (upper - p[i]).ln();
                damped += upper - p[i];
            }
            (false, false) => {}
        }
    }
    f - mu * logs + DAMPING * mu * damped
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0f64, |a, v| if v.is_nan() { f64::NAN } else { a.max(v.abs()) })
}

impl<'a> Core<'a> {
    /// Prepares from x, slacks being taken from the constraints; not a number where something has no value.
    pub fn new(problem: &'a mut dyn Nlp, options: Options, rows: &[f64], wide: &[f64]) -> Result<Self, End> {
        let shape = Shape::new(problem, wide);
        let mut p = vec![0.0; shape.unknowns];
        problem.start(&mut p[..shape.n]);
        shape.push_inside(&mut p, options.push);
        let mut c = vec![0.0; shape.m];
        problem.constraints(&p[..shape.n], &mut c);
        for i in 0..shape.m {
            if shape.slack[i] != usize::MAX {
                p[shape.slack[i]] = c[i];
            }
        }
        if p.iter().any(|p| !p.is_finite()) {
            return Err(End::NotANumber);
        }
        shape.push_inside(&mut p, options.push);
        let ones = |bounds: &[f64]| bounds.iter().map(|b| if b.is_finite() { 1.0 } else { 0.0 }).collect();
        let now = Iterate { p, y: vec![0.0; shape.m], lower: ones(&shape.lower), upper: ones(&shape.upper) };
        Self::from_iterate(problem, options, rows, shape, now)
    }

    /// Prepares from an iterate whose unknowns lie inside their bounds.
    pub fn from_iterate(
        problem: &'a mut dyn Nlp,
        options: Options,
        rows: &[f64],
        shape: Shape,
        now: Iterate,
    ) -> Result<Self, End> {
        let n = shape.n;
        let mut residual = vec![0.0; shape.m];
        let f = problem.objective(&now.p[..n]);
        problem.constraints(&now.p[..n], &mut residual);
        shape.residual(&now.p, &mut residual);
        let mut jacobian = vec![0.0; shape.jacobian.len()];
        problem.jacobian(&now.p[..n], &mut jacobian);
        let theta: f64 = residual.iter().map(|r| r.abs()).sum();
        if !f.is_finite() || !theta.is_finite() || jacobian.iter().any(|j| !j.is_finite()) {
            return Err(End::NotANumber);
        }
        let kkt = Kkt::new(&shape, &jacobian);
        let zero = Iterate {
            p: vec![0.0; shape.unknowns],
            y: vec![0.0; shape.m],
            lower: vec![0.0; shape.unknowns],
            upper: vec![0.0; shape.unknowns],
        };
        let adaptive = (options.barrier == Barrier::Adaptive).then(|| Adaptive {
            free: true,
            last: Vec::new(),
            greatest: f64::INFINITY,
        });
        Ok(Self {
            mu: options.barrier_start,
            least_mu: options.tolerance / (SOLVED + 1.0),
            filter: Filter::new(1e4 * theta.max(1.0)),
            least_violation: 1e-4 * theta.max(1.0),
            gradient: vec![0.0; n],
            hessian: vec![0.0; shape.hessian.len()],
            trial_residual: vec![0.0; shape.m],
            slope: vec![0.0; shape.unknowns],
            sigma: vec![0.0; shape.unknowns],
            shortened: 0,
            watchdog: None,
            rows: rows.to_vec(),
            step: zero.clone(),
            trial: zero,
            errors: Errors::default(),
            iterations: 0,
            regularisation: 0.0,
            length: 0.0,
            zeta: None,
            tiny: 0,
            restorations: 0,
            problem,
            options,
            shape,
            kkt,
            now,
            f,
            residual,
            jacobian,
            adaptive,
        })
    }

    /// Multipliers of the constraints by least squares, unless they are large.
    pub fn first_multipliers(&mut self) {
        if self.shape.m == 0 || self.evaluate_derivatives().is_err() {
            return;
        }
        let n = self.shape.n;
        for i in 0..self.shape.unknowns {
            self.slope[i] = self.now.upper[i] - self.now.lower[i] + if i < n { self.gradient[i] } else { 0.0 };
        }
        let Self { kkt, shape, jacobian, slope, step, trial, .. } = self;
        let found = kkt.least_squares(shape, jacobian, slope, &mut step.p, &mut trial.y);
        if found && largest(&trial.y) <= FIRST_MULTIPLIERS {
            self.now.y.copy_from_slice(&self.trial.y);
        } else {
            self.now.y.fill(0.0);
        }
    }

    fn evaluate_derivatives(&mut self) -> Result<(), End> {
        let x = &self.now.p[..self.shape.n];
        self.problem.gradient(x, &mut self.gradient);
        self.problem.jacobian(x, &mut self.jacobian);
        match self.gradient.iter().chain(&self.jacobian).all(|value| value.is_finite()) {
            true => Ok(()),
            false => Err(End::NotANumber),
        }
    }

    pub fn theta(&self) -> f64 {
        self.residual.iter().map(|r| r.abs()).sum()
    }

    pub fn gap(&self, i: usize) -> (f64, f64) {
        (self.now.p[i] - self.shape.lower[i], self.shape.upper[i] - self.now.p[i])
    }

    /// Errors of the first-order conditions with perturbed complementarity (\[1\] eq. 5).
    pub fn errors(&mut self, mu: f64) -> Errors {
        let n = self.shape.n;
        let (mut sum, mut worst) = (0.0, 0.0f64);
        for i in 0..self.shape.unknowns {
            let (low, high) = (self.now.lower[i], self.now.upper[i]);
            self.slope[i] = high - low + if i < n { self.gradient[i] } else { 0.0 };
            sum += low + high;
            let gap = self.gap(i);
            if gap.0.is_finite() {
                worst = worst.max((gap.0 * low - mu).abs());
            }
            if gap.1.is_finite() {
                worst = worst.max((gap.1 * high - mu).abs());
            }
        }
        self.shape.add_transposed(&self.jacobian, &self.now.y, &mut self.slope);
        let all: f64 = sum + self.now.y.iter().map(|y| y.abs()).sum::<f64>();
        let count = (self.shape.m + self.shape.bounds).max(1) as f64;
        let dual = (all / count).max(MULTIPLIERS) / MULTIPLIERS;
        let complement = (sum / self.shape.bounds.max(1) as f64).max(MULTIPLIERS) / MULTIPLIERS;
        Errors {
            stationarity: largest(&self.slope) / dual,
            violation: largest(&self.residual),
            complementarity: worst / complement,
        }
    }

    /// The largest residual as the user scales the constraints.
    fn user_violation(&self) -> f64 {
        self.residual.iter().zip(&self.rows).fold(0.0f64, |a, (r, s)| a.max((r / s).abs()))
    }

    /// Iterates to an end.
    pub fn run(&mut self, watch: &mut Watch<'_>) -> End {
        let mut acceptable = 0;
        loop {
            if let Err(end) = self.evaluate_derivatives() {
                return end;
            }
            self.errors = self.errors(0.0);
            let verdict = watch(&Peek {
                restoring: false,
                now: &self.now,
                objective: self.f,
                residual: &self.residual,
                stationarity: self.errors.stationarity,
                complementarity: self.errors.complementarity,
                mu: self.mu,
                regularisation: self.regularisation,
                step: self.length,
            });
            match verdict {
                Verdict::Stop => return End::Stopped,
                Verdict::Done => return End::Done,
                Verdict::Continue => {}
            }
            let user = self.user_violation();
            if self.errors.largest() <= self.options.tolerance && user <= self.options.violation {
                return End::Solved;
            }
            let good = self.errors.largest() <= self.options.acceptable
                && user <= self.options.violation.max(self.options.acceptable);
            acceptable = if good { acceptable + 1 } else { 0 };
            if acceptable >= self.options.acceptable_iterations {
                return End::Acceptable;
            }
            if self.f < -self.options.unbounded && self.errors.violation < 1e-4 {
                return End::Unbounded;
            }
            if self.iterations >= self.options.iterations {
                return End::Limit;
            }
            self.iterations += 1;
            if let Err(end) = self.iterate(watch) {
                return match end {
                    End::NoProgress | End::Infeasible if good => End::Acceptable,
                    end => end,
                };
            }
        }
    }

    /// One iteration: μ, step, line search.
    fn iterate(&mut self, watch: &mut Watch<'_>) -> Result<(), End> {
        if self.adaptive.as_ref().is_none_or(|adaptive| !adaptive.free) {
            self.monotone()?;
        }
        self.judge();
        let n = self.shape.n;
        self.problem.hessian(&self.now.p[..n], 1.0, &self.now.y, &mut self.hessian);
        if self.hessian.iter().any(|h| !h.is_finite()) {
            return Err(End::NotANumber);
        }
        for i in 0..self.shape.unknowns {
            let gap = self.gap(i);
            let low = if gap.0.is_finite() { self.now.lower[i] / gap.0 } else { 0.0 };
            let high = if gap.1.is_finite() { self.now.upper[i] / gap.1 } else { 0.0 };
            self.sigma[i] = low + high;
        }
        let Self { kkt, shape, hessian, jacobian, sigma, mu, .. } = self;
        let found = kkt.factor(shape, hessian, jacobian, sigma, *mu);
        self.regularisation = self.kkt.regularisation;
        if found.is_err() {
            return self.restore(watch);
        }
        if self.adaptive.as_ref().is_some_and(|adaptive| adaptive.free) {
            self.probe();
        }
        if self.direction(self.mu).is_err() {
            return self.restore(watch);
        }
        if self.search() {
            return Ok(());
        }
        if self.adaptive.as_ref().is_some_and(|adaptive| adaptive.free) {
            // Before restoration: the same system with the μ of a monotone barrier.
            self.bind();
            if self.direction(self.mu).is_ok() && self.search() {
                return Ok(());
            }
        }
        self.restore(watch)
    }

    /// The first-order conditions of the barrier problem, without multipliers of bounds.
    fn barrier_slope(&mut self, mu: f64) {
        let n = self.shape.n;
        for i in 0..self.shape.unknowns {
            self.slope[i] = self.barrier_gradient(i, mu) + if i < n { self.gradient[i] } else { 0.0 };
        }
        self.shape.add_transposed(&self.jacobian, &self.now.y, &mut self.slope);
    }

    /// The derivative of the barrier terms by unknown i.
    pub fn barrier_gradient(&self, i: usize, mu: f64) -> f64 {
        let gap = self.gap(i);
        let (low, high) = (gap.0.is_finite(), gap.1.is_finite());
        let mut slope = 0.0;
        if low {
            slope -= mu / gap.0;
        }
        if high {
            slope += mu / gap.1;
        }
        match (low, high) {
            (true, false) => slope + DAMPING * mu,
            (false, true) => slope - DAMPING * mu,
            _ => slope,
        }
    }

    /// The step for μ with the present factor.
    pub fn direction(&mut self, mu: f64) -> Result<(), NoStep> {
        self.barrier_slope(mu);
        let Self { kkt, shape, slope, residual, step, .. } = self;
        kkt.solve(shape, slope, residual, &mut step.p, &mut step.y)?;
        self.dual_step(mu);
        match self.step.p.iter().chain(&self.step.y).all(|d| d.is_finite()) {
            true => Ok(()),
            false => Err(NoStep),
        }
    }

    /// Steps of the multipliers of bounds that belong to the step of p (\[1\] eq. 12).
    pub fn dual_step(&mut self, mu: f64) {
        for i in 0..self.shape.unknowns {
            let gap = self.gap(i);
            let (low, high) = (self.now.lower[i], self.now.upper[i]);
            self.step.lower[i] = if gap.0.is_finite() { (mu - low * self.step.p[i]) / gap.0 - low } else { 0.0 };
            self.step.upper[i] = if gap.1.is_finite() { (mu + high * self.step.p[i]) / gap.1 - high } else { 0.0 };
        }
    }

    /// τ.
    pub fn boundary(&self) -> f64 {
        BOUNDARY.max(1.0 - self.mu)
    }

    /// The longest step of p that goes at most `tau` of the way to a bound (\[1\] eq. 15).
    pub fn primal_length(&self, tau: f64) -> f64 {
        let mut length = 1.0f64;
        for i in 0..self.shape.unknowns {
            let (gap, d) = (self.gap(i), self.step.p[i]);
            if d < 0.0 && gap.0.is_finite() {
                length = length.min(-tau * gap.0 / d);
            } else if d > 0.0 && gap.1.is_finite() {
                length = length.min(tau * gap.1 / d);
            }
        }
        length
    }

    /// The longest step of the multipliers of bounds that keeps 1 − `tau` of each.
    pub fn dual_length(&self, tau: f64) -> f64 {
        let pairs = self.now.lower.iter().zip(&self.step.lower).chain(self.now.upper.iter().zip(&self.step.upper));
        pairs.fold(1.0f64, |length, (z, d)| if *d < 0.0 { length.min(-tau * z / d) } else { length })
    }

    /// Keeps multipliers of bounds near μ / gap (\[1\] eq. 16).
    pub fn keep_multipliers(&mut self) {
        for i in 0..self.shape.unknowns {
            let gap = self.gap(i);
            if gap.0.is_finite() {
                self.now.lower[i] = self.now.lower[i].clamp(self.mu / (KEEP * gap.0), KEEP * self.mu / gap.0);
            }
            if gap.1.is_finite() {
                self.now.upper[i] = self.now.upper[i].clamp(self.mu / (KEEP * gap.1), KEEP * self.mu / gap.1);
            }
        }
    }
}
