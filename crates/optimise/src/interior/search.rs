//! The filter line search with second-order corrections, and the call of restoration.
//!
//! Reference: \[1\] Wächter and Biegler (2006), algorithms A and section 3.3.

use super::core::{Core, End, Iterate, Peek, Verdict, Watch, barrier};
use super::filter::{GAMMA_PHI, GAMMA_THETA, at_most};
use super::options::{Barrier, Options};
use super::restore::{RHO, Restoration};
use super::shape::Shape;

/// The switching condition (−∇φᵀd)^s_φ α > δ θ^s_θ.
const S_PHI: f64 = 2.3;
const S_THETA: f64 = 1.1;
/// Armijo's part.
const ARMIJO: f64 = 1e-8;
/// The least step is this part of what the conditions could accept (γ_α).
const LEAST: f64 = 0.05;
/// Corrections go on while they bring the violation to this part (κ_soc).
const CORRECTED: f64 = 0.99;
/// Restoration must bring the violation to this part (κ_resto).
const RESTORED: f64 = 0.9;
/// No step may raise the barrier objective by more than this many orders of magnitude.
const RISE: f64 = 5.0;
/// Multipliers of bounds larger than this after a restoration are set to one.
const RESET: f64 = 1e3;
/// After this many shortened steps in a row, full ones are tried.
const PATIENCE: usize = 10;
/// So many full steps may be taken before one must be acceptable.
const TRIALS: usize = 3;

/// What a trial point is compared with.
#[derive(Copy, Clone, Debug)]
pub(super) struct Reference {
    theta: f64,
    phi: f64,
    slope: f64,
}

/// Where trials of full steps began (\[1\] section 3.2).
#[derive(Clone, Debug)]
pub(super) struct Watchdog {
    now: Iterate,
    step: Iterate,
    residual: Vec<f64>,
    f: f64,
    mu: f64,
    length: f64,
    reference: Reference,
    trials: usize,
}

/// The v⁻ that minimises ρ (v⁺ + v⁻) − μ ln v⁺ − μ ln v⁻ for v⁺ − v⁻ = r (\[1\] eq. 33).
fn balance(r: f64, mu: f64) -> f64 {
    let half = (mu - RHO * r) / (2.0 * RHO);
    let root = (half * half + mu * r / (2.0 * RHO)).sqrt();
    // The sum, or the product of the roots over their difference: whichever cancels nothing.
    if half >= 0.0 { half + root } else { mu * r / (2.0 * RHO) / (root - half) }
}

impl Core<'_> {
    /// f and the residual at now + α step; false where something has no value.
    fn try_step(&mut self, length: f64) -> Option<(f64, f64, f64)> {
        for i in 0..self.shape.unknowns {
            self.trial.p[i] = self.now.p[i] + length * self.step.p[i];
        }
        let n = self.shape.n;
        let f = self.problem.objective(&self.trial.p[..n]);
        self.problem.constraints(&self.trial.p[..n], &mut self.trial_residual);
        self.shape.residual(&self.trial.p, &mut self.trial_residual);
        let theta: f64 = self.trial_residual.iter().map(|r| r.abs()).sum();
        let phi = barrier(&self.shape, self.mu, &self.trial.p, f);
        (theta.is_finite() && phi.is_finite()).then_some((f, theta, phi))
    }

    /// Finds an acceptable step and takes it; false if there is none.
    pub fn search(&mut self) -> bool {
        let here = self.reference();
        let most = self.primal_length(self.boundary());
        let relative =
            (0..self.shape.unknowns).fold(0.0f64, |a, i| a.max(self.step.p[i].abs() / (1.0 + self.now.p[i].abs())));
        if relative < 10.0 * f64::EPSILON && here.theta < 1e-4 {
            // Nothing moves any more: take the step as it is.
            self.tiny += 1;
            if let Some((f, ..)) = self.try_step(most) {
                self.take(most, f);
                return true;
            }
        }
        self.tiny = 0;
        if self.watchdog.is_none() && self.shortened >= PATIENCE && here.theta > 0.0 {
            self.watchdog = Some(Box::new(Watchdog {
                now: self.now.clone(),
                step: self.step.clone(),
                residual: self.residual.clone(),
                f: self.f,
                mu: self.mu,
                length: most,
                reference: here,
                trials: 0,
            }));
        }
        if let Some(mut dog) = self.watchdog.take() {
            if dog.mu == self.mu {
                if let Some((f, theta, phi)) = self.try_step(most) {
                    if self.accept(dog.length, &dog.reference, theta, phi) {
                        self.shortened = 0;
                        self.take(most, f);
                        return true;
                    }
                    if dog.trials < TRIALS {
                        dog.trials += 1;
                        self.watchdog = Some(dog);
                        self.take(most, f);
                        return true;
                    }
                }
                // Back to where the trials began, and a shorter step from there.
                (self.now, self.step, self.residual, self.f) = (dog.now, dog.step, dog.residual, dog.f);
                self.shortened = 0;
                return self.backtrack(dog.length, &dog.reference, false);
            }
            self.shortened = 0;
        }
        self.backtrack(most, &here, true)
    }

    /// Violation, barrier objective and its slope along the step, at the present point.
    fn reference(&self) -> Reference {
        let n = self.shape.n;
        let slope = (0..self.shape.unknowns)
            .map(|i| (self.barrier_gradient(i, self.mu) + if i < n { self.gradient[i] } else { 0.0 }) * self.step.p[i])
            .sum();
        Reference { theta: self.theta(), phi: barrier(&self.shape, self.mu, &self.now.p, self.f), slope }
    }

    /// Halves the step until it is acceptable.
    fn backtrack(&mut self, most: f64, here: &Reference, correct: bool) -> bool {
        let least = self.least_length(here.theta, here.slope);
        let mut length = most;
        let mut first = true;
        while first || length >= least {
            let tried = self.try_step(length);
            if let Some((f, theta, phi)) = tried {
                if self.accept(length, here, theta, phi) {
                    self.shortened = if first { 0 } else { self.shortened + 1 };
                    self.take(length, f);
                    return true;
                }
                if first && correct && theta >= here.theta && self.correct(length, here, theta) {
                    self.shortened = 0;
                    return true;
                }
            }
            first = false;
            length *= 0.5;
        }
        false
    }

    /// The length below which neither condition can hold (\[1\] eq. 23).
    fn least_length(&self, theta: f64, slope: f64) -> f64 {
        let mut least = GAMMA_THETA;
        if slope < 0.0 {
            least = least.min(GAMMA_PHI * theta / -slope);
            if theta <= self.least_violation {
                least = least.min(theta.powf(S_THETA) / (-slope).powf(S_PHI));
            }
        }
        LEAST * least
    }

    /// Whether a trial point is acceptable; if it is not by Armijo's rule, the filter learns of the present point.
    fn accept(&mut self, length: f64, here: &Reference, trial_theta: f64, trial_phi: f64) -> bool {
        let &Reference { theta, phi, slope } = here;
        if trial_phi > phi {
            let base = if phi.abs() > 10.0 { phi.abs().log10() } else { 1.0 };
            if (trial_phi - phi).log10() > RISE + base {
                return false;
            }
        }
        if !self.filter.accepts(trial_theta, trial_phi) {
            return false;
        }
        let switching = slope < 0.0 && length * (-slope).powf(S_PHI) > theta.powf(S_THETA);
        let armijo = at_most(trial_phi - phi, ARMIJO * length * slope, phi);
        if theta <= self.least_violation && switching {
            if !armijo {
                return false;
            }
        } else if !at_most(trial_theta, (1.0 - GAMMA_THETA) * theta, theta)
            && !at_most(trial_phi - phi, -GAMMA_PHI * theta, phi)
        {
            return false;
        }
        if !(switching && armijo) {
            self.filter.add(theta, phi);
        }
        true
    }

    /// Second-order corrections of a full step that made the violation larger (\[1\] section 2.4).
    fn correct(&mut self, length: f64, here: &Reference, trial_theta: f64) -> bool {
        let old: Iterate = self.step.clone();
        let mut corrected: Vec<f64> =
            self.residual.iter().zip(&self.trial_residual).map(|(c, trial)| length * c + trial).collect();
        let mut last = trial_theta;
        for _ in 0..self.options.corrections {
            // Solve with the same matrix; the slope of the barrier problem is still in place.
            let Self { kkt, shape, slope: r, step, .. } = self;
            if kkt.solve(shape, r, &corrected, &mut step.p, &mut step.y).is_err() {
                break;
            }
            let most = self.primal_length(self.boundary());
            let Some((f, next_theta, next_phi)) = self.try_step(most) else { break };
            if self.accept(length, here, next_theta, next_phi) {
                self.dual_step(self.mu);
                self.take(most, f);
                return true;
            }
            if next_theta > CORRECTED * last {
                break;
            }
            last = next_theta;
            for (c, trial) in corrected.iter_mut().zip(&self.trial_residual) {
                *c = most * *c + trial;
            }
        }
        self.step = old;
        false
    }

    /// Moves to the trial point.
    fn take(&mut self, length: f64, f: f64) {
        let dual = self.dual_length(self.boundary());
        self.now.p.copy_from_slice(&self.trial.p);
        for (y, d) in self.now.y.iter_mut().zip(&self.step.y) {
            *y += length * d;
        }
        for i in 0..self.shape.unknowns {
            self.now.lower[i] += dual * self.step.lower[i];
            self.now.upper[i] += dual * self.step.upper[i];
        }
        self.residual.copy_from_slice(&self.trial_residual);
        self.f = f;
        self.length = length;
        self.stay_inside();
        self.keep_multipliers();
    }

    /// Rounding may put an unknown onto its bound; bounds are kept strictly, so it is moved back by the least amount.
    fn stay_inside(&mut self) {
        for i in 0..self.shape.unknowns {
            let (lower, upper) = (self.shape.lower[i], self.shape.upper[i]);
            if self.now.p[i] <= lower {
                self.now.p[i] = lower + lower.abs().max(1e-8) * f64::EPSILON;
            }
            if self.now.p[i] >= upper {
                self.now.p[i] = upper - upper.abs().max(1e-8) * f64::EPSILON;
            }
        }
    }

    /// Looks for a point of less violation that the filter accepts.
    pub fn restore(&mut self, watch: &mut Watch<'_>) -> Result<(), End> {
        let violation = self.residual.iter().fold(0.0f64, |a, r| a.max(r.abs()));
        if self.zeta.is_some() {
            return self.relax(violation);
        }
        if self.shape.m == 0 || violation <= 1e-2 * self.options.tolerance {
            return Err(End::NoProgress);
        }
        self.restorations += 1;
        (self.watchdog, self.shortened) = (None, 0);
        let (n, m, theta) = (self.shape.n, self.shape.m, self.theta());
        self.filter.add(theta, barrier(&self.shape, self.mu, &self.now.p, self.f));
        let mu = self.mu.max(violation);
        let (start, iterate) = self.elastic(mu);
        let restoration = Restoration::new(&mut *self.problem, &self.now.p[..n], start, mu);
        let mut program = &restoration;
        let shape = Shape::new(&program, &self.shape.wide);
        let options = Options {
            iterations: self.options.iterations.saturating_sub(self.iterations),
            barrier_start: mu,
            barrier: Barrier::Monotone,
            ..self.options.clone()
        };
        let (outer, filter, mu_outer) = (&self.shape, &self.filter, self.mu);
        let mut found = Iterate { p: vec![0.0; outer.unknowns], y: vec![0.0; m], ..Iterate::default() };
        let mut residual = vec![0.0; m];
        let mut first = true;
        let (end, used, factorisations) = {
            let mut inner = Core::from_iterate(&mut program, options, &self.rows, shape, iterate)?;
            inner.zeta = Some(&restoration.zeta);
            inner.first_multipliers();
            let mut inside = |peek: &Peek<'_>| {
                found.p[..n].copy_from_slice(&peek.now.p[..n]);
                found.p[n..].copy_from_slice(&peek.now.p[n + 2 * m..]);
                let f = restoration.original(&found.p[..n], &mut residual);
                outer.residual(&found.p, &mut residual);
                let verdict = watch(&Peek { restoring: true, now: &found, objective: f, residual: &residual, ..*peek });
                let less: f64 = residual.iter().map(|r| r.abs()).sum();
                let better = !first && less <= RESTORED * theta && f.is_finite();
                first = false;
                match verdict {
                    Verdict::Continue if better && filter.accepts(less, barrier(outer, mu_outer, &found.p, f)) => {
                        Verdict::Done
                    }
                    verdict => verdict,
                }
            };
            let end = inner.run(&mut inside);
            (end, inner.iterations, inner.kkt.factorisations)
        };
        self.iterations += used;
        self.kkt.factorisations += factorisations;
        let left = residual.iter().fold(0.0f64, |a, r| a.max(r.abs()));
        let feasible = left <= self.options.tolerance.max(1e-2 * violation);
        match end {
            End::Done => self.move_to(&found.p, &residual),
            End::Stopped | End::Limit | End::NotANumber => return Err(end),
            End::Solved | End::Acceptable if feasible && self.restorations < 20 => {
                // Feasible, but the filter remembers better objectives farther out: forget them.
                self.filter.clear();
                self.move_to(&found.p, &residual);
            }
            End::Solved | End::Acceptable if !feasible => {
                self.move_to(&found.p, &residual);
                return Err(End::Infeasible);
            }
            _ => {
                self.move_to(&found.p, &residual);
                return Err(End::NoProgress);
            }
        }
        Ok(())
    }

    /// Restoration within restoration: for fixed x the best v⁺ and v⁻ are known (\[1\] eq. 33).
    fn relax(&mut self, violation: f64) -> Result<(), End> {
        let (n, m) = (self.shape.n - 2 * self.shape.m, self.shape.m);
        if violation <= 1e-2 * self.options.tolerance || self.restorations >= 20 {
            return Err(End::NoProgress);
        }
        self.restorations += 1;
        (self.watchdog, self.shortened) = (None, 0);
        for i in 0..m {
            let r = self.residual[i] + self.now.p[n + i] - self.now.p[n + m + i];
            let minus = balance(r, self.mu);
            self.now.p[n + i] = r + minus;
            self.now.p[n + m + i] = minus;
            for j in [n + i, n + m + i] {
                self.now.lower[j] = self.mu / self.now.p[j];
            }
        }
        self.filter.clear();
        self.f = self.problem.objective(&self.now.p[..self.shape.n]);
        self.problem.constraints(&self.now.p[..self.shape.n], &mut self.residual);
        self.shape.residual(&self.now.p, &mut self.residual);
        Ok(())
    }

    /// The start of restoration: x, v⁺, v⁻, which solve the problem for fixed x (\[1\] eq. 33), and multipliers.
    fn elastic(&self, mu: f64) -> (Vec<f64>, Iterate) {
        let (n, m) = (self.shape.n, self.shape.m);
        let mut start = self.now.p[..n].to_vec();
        let minus: Vec<f64> = self.residual.iter().map(|&r| balance(r, mu)).collect();
        start.extend(self.residual.iter().zip(&minus).map(|(r, v)| r + v));
        start.extend(&minus);
        let mut iterate = Iterate { p: start.clone(), y: vec![0.0; m], ..Iterate::default() };
        iterate.p.extend_from_slice(&self.now.p[n..]);
        let (low, high) = (&self.now.lower, &self.now.upper);
        iterate.lower = low[..n].iter().map(|z| z.min(RHO)).collect();
        iterate.lower.extend(start[n..].iter().map(|v| mu / v));
        iterate.lower.extend(low[n..].iter().map(|z| z.min(RHO)));
        iterate.upper = high[..n].iter().map(|z| z.min(RHO)).collect();
        iterate.upper.extend(std::iter::repeat_n(0.0, 2 * m));
        iterate.upper.extend(high[n..].iter().map(|z| z.min(RHO)));
        (start, iterate)
    }

    /// Takes over a restored point with multipliers of bounds that follow it, and forgets those of constraints.
    fn move_to(&mut self, p: &[f64], residual: &[f64]) {
        for i in 0..self.shape.unknowns {
            self.step.p[i] = p[i] - self.now.p[i];
        }
        self.dual_step(self.mu);
        let dual = self.dual_length(self.boundary());
        for i in 0..self.shape.unknowns {
            self.now.lower[i] += dual * self.step.lower[i];
            self.now.upper[i] += dual * self.step.upper[i];
        }
        if self.now.lower.iter().chain(&self.now.upper).any(|z| *z > RESET) {
            let Self { now, shape, .. } = self;
            for (z, bound) in now.lower.iter_mut().zip(&shape.lower).chain(now.upper.iter_mut().zip(&shape.upper)) {
                *z = if bound.is_finite() { 1.0 } else { 0.0 };
            }
        }
        self.now.p.copy_from_slice(p);
        self.residual.copy_from_slice(residual);
        self.f = self.problem.objective(&self.now.p[..self.shape.n]);
        self.keep_multipliers();
        self.now.y.fill(0.0);
    }
}
