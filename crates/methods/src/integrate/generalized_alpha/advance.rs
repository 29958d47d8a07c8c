//! One step of the generalised-α method: first guess, Newton's method, error estimate, continuous output.

use super::Alphas;
use crate::dynamics::Rates;
use crate::integrate::IntegrateError;
use crate::integrate::control::{Largest, Tolerance};
use crate::integrate::implicit::Frame;
use crate::integrate::newton::Newton;
use crate::system::{Shape, State, System};

/// Everything allocated at the start. Pairs of (v, x) are packed.
pub(super) struct Advance<Y: System> {
    pub frame: Frame<Y>,
    pub matrix: Newton<f64>,
    /// The step for which the matrix is factored; 0 for none.
    pub factored: f64,
    /// Whether pivots are to be chosen anew.
    anew: bool,
    /// The last contraction of Newton's method.
    pub contraction: f64,
    /// a at the beginning of the last step, at its end, for the step at hand, and at the end of that.
    pub past: Vec<f64>,
    pub last: Vec<f64>,
    begin: Vec<f64>,
    end: Vec<f64>,
    /// The length of the last step, and whether `past` is known.
    pub last_step: f64,
    pub past_step: f64,
    /// v̇ and ẋ at the end, and the multipliers.
    rates: Rates,
    /// The rates at the beginning of the last step, and those by accelerations at its end.
    begin_rates: Rates,
    exact: Rates,
    delta: Vec<f64>,
    /// δ̇ at both ends of the last step.
    slopes: [Vec<f64>; 2],
    unknown: Vec<f64>,
    raw: Vec<f64>,
    error: Vec<f64>,
    positions: Vec<f64>,
    middle: Vec<f64>,
    h: f64,
}

/// How Newton's method ended.
pub(super) enum Outcome {
    Converged,
    Failed {
        /// The last change in units of the tolerance.
        change: Largest,
    },
}

/// What Newton's method needs to know of the settings.
#[derive(Copy, Clone)]
pub(super) struct Rules {
    pub alphas: Alphas,
    /// 2 or 3.
    pub index: u32,
    pub tolerance: Tolerance,
    /// Where Newton's method stops, in units of the tolerance.
    pub goal: f64,
    /// Where it may stop if it no longer contracts.
    pub floor: f64,
    pub iterations: u32,
}

impl<Y: System> Advance<Y> {
    pub fn new(y: &Y) -> Self {
        let frame = Frame::new(y);
        let Shape { v, x, g, .. } = frame.shape;
        let (zeros, size) = (|n| vec![0.0; n], frame.size());
        Self {
            matrix: Newton::new(frame.shape, &frame.parts()),
            factored: 0.0,
            anew: true,
            contraction: 1.0,
            past: zeros(v + x),
            last: zeros(v + x),
            begin: zeros(v + x),
            end: zeros(v + x),
            last_step: 0.0,
            past_step: 0.0,
            rates: Rates::zeros(frame.shape),
            begin_rates: Rates::zeros(frame.shape),
            exact: Rates::zeros(frame.shape),
            delta: zeros(v),
            slopes: [zeros(v), zeros(v)],
            unknown: zeros(size),
            raw: zeros(v + x),
            error: zeros(2 * v + x),
            positions: zeros(g),
            middle: zeros(v),
            h: 0.0,
            frame,
        }
    }

    /// The rates at the base and a for a first step of about `h`: v̇ at t + Δh, by a short Taylor step.
    pub fn rewind(&mut self, y: &Y, rules: &Rules, h: f64) -> Result<(), IntegrateError> {
        self.frame.evaluate(y)?;
        let Shape { v, x, .. } = self.frame.shape;
        let tau = rules.alphas.shift[0] * h;
        let Frame { base, stage, rates, dynamics, .. } = &mut self.frame;
        stage.copy_from(base);
        stage.t += tau;
        for k in 0..v {
            self.delta[k] = tau * (base.v[k] + 0.5 * tau * rates.v[k]);
            stage.v[k] += tau * rates.v[k];
        }
        for k in 0..x {
            stage.x[k] += tau * rates.x[k];
        }
        y.retract(&base.q, &self.delta, &mut stage.q);
        let shifted = dynamics.evaluate(y, stage, &mut self.rates).is_ok();
        // Where accelerations change by more than themselves the Taylor step means nothing: v̇ itself is taken.
        let size = rates.v.iter().chain(&rates.x).fold(0.0, |max: f64, a| max.max(a.abs()));
        let mut changes = self.rates.v.iter().zip(&rates.v).chain(self.rates.x.iter().zip(&rates.x));
        let usable = shifted && changes.all(|(then, now)| (then - now).abs() <= size);
        for k in 0..v + x {
            let (now, then, part) = match k < v {
                true => (rates.v[k], self.rates.v[k], 1.0),
                false => (rates.x[k - v], self.rates.x[k - v], rules.alphas.shift[1] / rules.alphas.shift[0]),
            };
            self.last[k] = if usable && tau != 0.0 { now + part * (then - now) } else { now };
        }
        (self.last_step, self.past_step) = (h, 0.0);
        Ok(())
    }

    /// The factors of a run whose memory was taken over.
    pub fn restore(&mut self, y: &Y, rules: &Rules) {
        if self.frame.restore(y) && self.factored > 0.0 {
            let coefficients = |h| rules.alphas.coefficients(h, rules.index);
            let regular = self.matrix.restore(self.factored, coefficients, &self.frame.parts());
            self.factored = if regular { self.factored } else { 0.0 };
            self.anew = !regular;
        }
    }

    /// Takes the tangent at the base.
    pub fn refresh(&mut self, y: &Y) {
        self.frame.refresh(y);
        self.discard();
    }

    /// Gives up the factors, as when the rows that depend on others have changed.
    pub fn discard(&mut self) {
        (self.factored, self.anew) = (0.0, true);
    }

    /// a at the beginning of a step of length `h`, and the first guess of what is at its end.
    fn predict(&mut self, h: f64) {
        let v = self.frame.shape.v;
        let rates = &self.frame.rates;
        for (k, begin) in self.begin.iter_mut().enumerate() {
            let now = if k < v { rates.v[k] } else { rates.x[k - v] };
            *begin = now + h / self.last_step * (self.last[k] - now);
        }
        self.rates.v.copy_from_slice(&rates.v);
        self.rates.x.copy_from_slice(&rates.x);
        self.rates.multipliers.copy_from_slice(&rates.multipliers);
        for (multiplier, &held) in self.rates.multipliers.iter_mut().zip(&self.frame.held) {
            if held {
                *multiplier = 0.0;
            }
        }
    }

    /// The state at the end that belongs to the rates there.
    fn place(&mut self, y: &Y, a: &Alphas, h: f64, end: f64) {
        let Shape { v, x, .. } = self.frame.shape;
        let Frame { base, stage, rates, .. } = &mut self.frame;
        for k in 0..v + x {
            let (kind, then, now) = match k < v {
                true => (0, self.rates.v[k], rates.v[k]),
                false => (1, self.rates.x[k - v], rates.x[k - v]),
            };
            let (alpha, gamma, begin) = (a.mass[kind], a.gamma[kind], self.begin[k]);
            let after = ((1.0 - a.force) * then + a.force * now - alpha * begin) / (1.0 - alpha);
            self.end[k] = after;
            let change = h * ((1.0 - gamma) * begin + gamma * after);
            if k < v {
                stage.v[k] = base.v[k] + change;
                self.delta[k] = h * (base.v[k] + h * ((0.5 - a.beta) * begin + a.beta * after));
            } else {
                stage.x[k - v] = base.x[k - v] + change;
            }
        }
        stage.t = end;
        y.retract(&base.q, &self.delta, &mut stage.q);
        stage.p.copy_from_slice(&base.p);
    }

    /// One iteration of Newton's method; the largest change in units of the tolerance.
    fn iterate(&mut self, y: &Y, rules: &Rules, h: f64, end: f64) -> Largest {
        let (a, Shape { v, x, g, .. }) = (&rules.alphas, self.frame.shape);
        self.place(y, a, h, end);
        let Rates { v: acceleration, x: rate, multipliers, .. } = &mut self.rates;
        self.frame.residual(y, acceleration, rate, multipliers, &mut self.unknown);
        if rules.index == 3 {
            self.frame.position_residual(y, &mut self.positions);
            let scale = a.gamma[0] / (h * a.beta);
            for k in 0..g {
                self.unknown[v + x + k] = scale * self.positions[k];
            }
        }
        let first = h * a.gamma[0];
        for (k, r) in self.unknown.iter_mut().enumerate() {
            *r *= match k {
                _ if k < v => -first,
                _ if k < v + x => -h,
                _ if self.frame.held[k - v - x] => 0.0,
                _ => -1.0,
            };
        }
        self.matrix.solve(&mut self.unknown);
        self.frame.counts.solves += 1;
        for k in 0..v {
            acceleration[k] += a.ratio(0) / first * self.unknown[k];
            self.middle[k] = h * a.beta / a.gamma[0] * self.unknown[k];
        }
        for k in 0..x {
            rate[k] += a.ratio(1) / (h * a.gamma[1]) * self.unknown[v + k];
        }
        for (multiplier, change) in multipliers.iter_mut().zip(&self.unknown[v + x..]) {
            *multiplier += change / first;
        }
        self.frame.largest(rules.tolerance, self.middle.iter().chain(&self.unknown[..v + x]))
    }

    /// Factors, first guess and Newton's method for a step.
    pub fn attempt(&mut self, y: &Y, rules: &Rules, h: f64, end: f64) -> Outcome {
        if self.factored != h {
            self.frame.counts.factorisations += 1;
            let coefficients = |h| rules.alphas.coefficients(h, rules.index);
            let regular = self.matrix.factor(h, coefficients, &self.frame.parts(), self.anew);
            self.factored = if regular { h } else { 0.0 };
            self.anew = !regular;
            if !regular {
                return Outcome::Failed { change: Largest { value: f64::INFINITY, index: 0 } };
            }
        }
        self.predict(h);
        // Rounding of positions appears in the velocities of position-level constraints divided by h.
        let rounding = 20.0 * f64::EPSILON * rules.alphas.gamma[0] / (rules.alphas.beta * h * rules.tolerance.relative);
        let floor = if rules.index == 3 { rules.floor.max(rounding) } else { rules.floor };
        let mut last = Largest::default();
        for iteration in 1..=rules.iterations {
            let change = self.iterate(y, rules, h, end);
            if !change.value.is_finite() {
                return Outcome::Failed { change };
            }
            if iteration > 1 {
                self.contraction = change.value / last.value.max(f64::MIN_POSITIVE);
            }
            last = change;
            // What is left after this change is at most θ/(1 − θ) of it; a first change tells no θ.
            let theta = if iteration > 1 { self.contraction } else { 0.5 };
            let done = theta < 0.99 && theta / (1.0 - theta) * change.value <= rules.goal;
            if done || (theta >= 0.99 && change.value <= floor) {
                self.place(y, &rules.alphas, h, end);
                return Outcome::Converged;
            }
            if theta >= 2.0 {
                return Outcome::Failed { change: last };
            }
        }
        if last.value <= floor {
            self.place(y, &rules.alphas, h, end);
            return Outcome::Converged;
        }
        Outcome::Failed { change: last }
    }

    /// The filtered estimate of the error in units of the tolerance.
    pub fn estimate(&mut self, y: &Y, rules: &Rules, h: f64) -> Largest {
        let (a, Shape { v, x, .. }) = (&rules.alphas, self.frame.shape);
        let missed = a.beta + 0.5 * a.shift[0] - 1.0 / 6.0;
        for k in 0..v {
            self.raw[k] = h * h * missed * (self.end[k] - self.begin[k]);
        }
        self.raw[v..].fill(0.0);
        self.filter(y, a);
        self.error[..v].copy_from_slice(&self.unknown[..v]);
        for k in 0..v + x {
            let shift = a.shift[usize::from(k >= v)];
            // The a of the last step and of this one stand for times this far apart.
            let before = self.past_step + shift * (h - self.past_step);
            let slope = (self.end[k] - self.begin[k]) / h;
            let curve = match self.past_step > 0.0 && before > 0.0 {
                true => 2.0 * (slope - (self.begin[k] - self.past[k]) / before) / (h + before),
                false => 0.0,
            };
            self.raw[k] = (1.0 / 12.0 - 0.5 * shift * shift) * h.powi(3) * curve;
        }
        self.filter(y, a);
        self.error[v..].copy_from_slice(&self.unknown[..v + x]);
        self.frame.largest(rules.tolerance, &self.error)
    }

    /// unknown = Newton's matrix⁻¹ (c₀ M raw, e₀ raw, 0).
    fn filter(&mut self, y: &Y, a: &Alphas) {
        let Shape { v, x, .. } = self.frame.shape;
        self.frame.apply_mass(y, &self.raw[..v], &mut self.unknown[..v]);
        self.unknown[..v].iter_mut().for_each(|r| *r *= a.ratio(0));
        for k in 0..x {
            self.unknown[v + k] = a.ratio(1) / a.gamma[1] * self.raw[v + k];
        }
        self.unknown[v + x..].fill(0.0);
        self.matrix.solve(&mut self.unknown);
        self.frame.counts.solves += 1;
    }

    /// Completes an accepted step: projection, integrals, what the next step needs.
    pub fn finish(&mut self, y: &Y, rules: &Rules, h: f64) -> Result<(), IntegrateError> {
        self.frame.project(y, rules.tolerance.relative)?;
        if rules.index == 3 && self.frame.shape.z > 0 {
            // With projected velocities the multipliers of position-level constraints are of order 1 only.
            self.frame.dynamics.evaluate(y, &self.frame.stage, &mut self.exact)?;
            self.rates.z.copy_from_slice(&self.exact.z);
        } else {
            self.frame.integrand(y, &self.rates.multipliers, &mut self.rates.z);
        }
        let Frame { base, stage, end, rates, .. } = &mut self.frame;
        for (k, z) in stage.z.iter_mut().enumerate() {
            *z = base.z[k] + 0.5 * h * (rates.z[k] + self.rates.z[k]);
        }
        end.copy_from(stage);
        self.middle.fill(0.0);
        y.local_rate(&self.middle, &base.v, &mut self.slopes[0]);
        y.local_rate(&self.delta, &end.v, &mut self.slopes[1]);
        // The rates at the end become those of the next beginning.
        std::mem::swap(&mut self.begin_rates, rates);
        std::mem::swap(&mut self.rates, rates);
        self.past.copy_from_slice(&self.begin);
        self.last.copy_from_slice(&self.end);
        (self.past_step, self.last_step, self.h) = (h, h, h);
        Ok(())
    }

    /// The state at a time of the last step by cubic Hermite polynomials.
    pub fn dense(&mut self, y: &Y, out: &mut State<f64>) {
        let (t, h) = (out.t, self.h);
        let Frame { base, end, rates, .. } = &self.frame;
        if t == end.t || h == 0.0 {
            out.copy_from(end);
            return;
        }
        let theta = (t - base.t) / h;
        let rest = 1.0 - theta;
        let value = theta * theta * (1.0 + 2.0 * rest);
        let [first, second] = [theta * rest * rest * h, -theta * theta * rest * h];
        let hermite = |change: f64, begin: f64, end: f64| value * change + first * begin + second * end;
        for k in 0..self.middle.len() {
            self.middle[k] = hermite(self.delta[k], self.slopes[0][k], self.slopes[1][k]);
        }
        y.retract(&base.q, &self.middle, &mut out.q);
        for (out, base, end, begin_rate, end_rate) in [
            (&mut out.v, &base.v, &end.v, &self.begin_rates.v, &rates.v),
            (&mut out.x, &base.x, &end.x, &self.begin_rates.x, &rates.x),
            (&mut out.z, &base.z, &end.z, &self.begin_rates.z, &rates.z),
        ] {
            for k in 0..out.len() {
                out[k] = base[k] + hermite(end[k] - base[k], begin_rate[k], end_rate[k]);
            }
        }
        out.p.copy_from_slice(&base.p);
    }
}
