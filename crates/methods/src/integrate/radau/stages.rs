//! The three stages of a step: start values, Newton's method, error estimate.

use super::collocation::{COMPLEX, ERROR, FROM_EIGEN, INVERSE, NODES, REAL, TO_EIGEN, WEIGHTS};
use super::collocation::{through_nodes, through_zero};
use super::{Control, Options};
use crate::algebra::Complex;
use crate::dynamics::Rates;
use crate::integrate::IntegrateError;
use crate::integrate::control::{Largest, Tolerance};
use crate::integrate::implicit::Frame;
use crate::integrate::newton::{Coefficients, Newton};
use crate::system::{Shape, System};

/// Everything allocated at the start. Vectors of a stage are packed as (v, x, rows).
pub(super) struct Stages<Y: System> {
    pub frame: Frame<Y>,
    pub real: Newton<f64>,
    pub complex: Newton<Complex>,
    /// The step for which the matrices are factored; 0 for none.
    pub factored: f64,
    /// Whether pivots are to be chosen anew.
    anew: bool,
    pub deltas: [Vec<f64>; 3],
    /// Increments of v and x, and multipliers.
    pub stages: [Vec<f64>; 3],
    pub integrals: [Vec<f64>; 3],
    /// Velocities, states and multipliers of the last accepted step at its beginning (but multipliers) and its stages.
    pub past: [Vec<f64>; 4],
    /// Its length; 0 for none.
    pub past_step: f64,
    slopes: [Vec<f64>; 3],
    residuals: [Vec<f64>; 3],
    /// K, ∂r/∂δ and C times the residuals of δ.
    carried: [Vec<f64>; 3],
    pair: Vec<Complex>,
    change: Vec<f64>,
    /// The estimate of the error: of δ, v, x and z. It is also h/γ times what the slope at the start of the step differs by from that
    /// of the collocation polynomial, freed from stiff parts.
    pub error: Vec<f64>,
    rates: Rates,
    /// An increment of the continuous output.
    pub delta: Vec<f64>,
    /// The length of the last step.
    pub h: f64,
}

/// How Newton's method ended.
pub(super) enum Outcome {
    Converged {
        iterations: u32,
    },
    Failed {
        /// The last change in units of the tolerance.
        change: Largest,
        /// By what the step should be multiplied.
        shrink: f64,
    },
}

impl<Y: System> Stages<Y> {
    pub fn new(y: &Y) -> Self {
        let frame = Frame::new(y);
        let Shape { v, z, .. } = frame.shape;
        let size = frame.size();
        let three = |n: usize| std::array::from_fn(|_| vec![0.0; n]);
        Self {
            real: Newton::new(frame.shape, &frame.parts()),
            complex: Newton::new(frame.shape, &frame.parts()),
            factored: 0.0,
            anew: true,
            deltas: three(v),
            stages: three(size),
            integrals: three(z),
            past: std::array::from_fn(|_| vec![0.0; size]),
            past_step: 0.0,
            slopes: three(v),
            residuals: three(size),
            carried: three(size),
            pair: vec![Complex::default(); size],
            change: vec![0.0; size],
            error: vec![0.0; v + size + z],
            rates: Rates::zeros(frame.shape),
            delta: vec![0.0; v],
            h: 0.0,
            frame,
        }
    }

    /// Factors both matrices for a step; false if one of them is singular.
    fn factor(&mut self, h: f64) -> bool {
        if self.factored == h {
            return true;
        }
        self.frame.counts.factorisations += 2;
        let (parts, anew) = (self.frame.parts(), self.anew);
        let regular = self.real.factor(h, real, &parts, anew) && self.complex.factor(h, complex, &parts, anew);
        self.factored = if regular { h } else { 0.0 };
        self.anew = !regular;
        regular
    }

    /// The factors of a run whose memory was taken over.
    pub fn restore(&mut self, y: &Y) {
        if self.frame.restore(y) && self.factored > 0.0 {
            let parts = self.frame.parts();
            let regular =
                self.real.restore(self.factored, real, &parts) && self.complex.restore(self.factored, complex, &parts);
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

    /// Start values: v, x and λ by extrapolation of the last step, δ by quadrature of v.
    fn predict(&mut self, y: &Y, h: f64) {
        let Shape { v, x, .. } = self.frame.shape;
        let known = self.past_step > 0.0 && h <= 4.0 * self.past_step;
        for i in 0..3 {
            let stage = &mut self.stages[i];
            if known {
                let theta = 1.0 + NODES[i] * h / self.past_step;
                let (cubic, square) = (through_zero(theta), through_nodes(theta));
                let [begin, rest @ ..] = &self.past;
                for k in 0..v + x {
                    let now = if k < v { self.frame.base.v[k] } else { self.frame.base.x[k - v] };
                    let moved: f64 = (0..3).map(|j| cubic[j] * (rest[j][k] - begin[k])).sum();
                    stage[k] = begin[k] + moved - now;
                }
                for k in v + x..stage.len() {
                    stage[k] = (0..3).map(|j| square[j] * rest[j][k]).sum();
                }
            } else {
                stage[..v + x].fill(0.0);
                stage[v + x..].copy_from_slice(&self.frame.rates.multipliers);
            }
            for (row, &held) in self.frame.held.iter().enumerate() {
                if held {
                    stage[v + x + row] = 0.0;
                }
            }
            self.deltas[i].fill(0.0);
        }
        for _ in 0..2 {
            for i in 0..3 {
                for k in 0..v {
                    self.change[k] = self.frame.base.v[k] + self.stages[i][k];
                }
                y.local_rate(&self.deltas[i], &self.change[..v], &mut self.slopes[i]);
            }
            for i in 0..3 {
                for k in 0..v {
                    self.deltas[i][k] = h * (0..3).map(|j| WEIGHTS[i][j] * self.slopes[j][k]).sum::<f64>();
                }
            }
        }
    }

    /// Moves the stage state of the frame to stage `i`.
    fn place(&mut self, y: &Y, i: usize, h: f64, end: f64) {
        let Shape { v, x, .. } = self.frame.shape;
        let Frame { base, stage, .. } = &mut self.frame;
        stage.t = if i == 2 { end } else { base.t + NODES[i] * h };
        y.retract(&base.q, &self.deltas[i], &mut stage.q);
        for k in 0..v {
            stage.v[k] = base.v[k] + self.stages[i][k];
        }
        for k in 0..x {
            stage.x[k] = base.x[k] + self.stages[i][v + k];
        }
        stage.p.copy_from_slice(&base.p);
    }

    /// One iteration of simplified Newton; the largest change of a stage in units of the tolerance.
    fn iterate(&mut self, y: &Y, tolerance: Tolerance, h: f64, end: f64) -> Largest {
        let Shape { v, x, .. } = self.frame.shape;
        for i in 0..3 {
            self.place(y, i, h, end);
            for k in 0..v + x {
                self.change[k] = (0..3).map(|j| INVERSE[i][j] * self.stages[j][k]).sum::<f64>() / h;
            }
            let (acceleration, rate) = self.change[..v + x].split_at(v);
            self.frame.residual(y, acceleration, rate, &self.stages[i][v + x..], &mut self.residuals[i]);
            y.local_rate(&self.deltas[i], &self.frame.stage.v, &mut self.slopes[i]);
            for k in 0..v {
                let rate = (0..3).map(|j| INVERSE[i][j] * self.deltas[j][k]).sum::<f64>() / h;
                self.slopes[i][k] = rate - self.slopes[i][k];
            }
        }
        combine(&TO_EIGEN, &mut self.residuals);
        combine(&TO_EIGEN, &mut self.slopes);
        for i in 0..3 {
            self.carry(i);
        }
        self.solve_real(h / REAL);
        self.solve_complex(Complex::from(h) / COMPLEX);
        self.frame.counts.solves += 2;
        combine(&FROM_EIGEN, &mut self.residuals);
        combine(&FROM_EIGEN, &mut self.slopes);
        let mut largest = Largest::default();
        for i in 0..3 {
            let change = self.frame.largest(tolerance, self.slopes[i].iter().chain(&self.residuals[i][..v + x]));
            if change.value > largest.value {
                largest = change;
            }
            for (delta, change) in self.deltas[i].iter_mut().zip(&self.slopes[i]) {
                *delta += change;
            }
            for (stage, change) in self.stages[i].iter_mut().zip(&self.residuals[i]) {
                *stage += change;
            }
        }
        largest
    }

    /// What the residuals of δ of one eigenvector bring to the other rows: K ρ, ∂r/∂δ ρ and −C ρ.
    fn carry(&mut self, i: usize) {
        let Shape { v, x, .. } = self.frame.shape;
        let (out, rho) = (&mut self.carried[i], &self.slopes[i]);
        out.fill(0.0);
        let tangent = &self.frame.tangent;
        tangent.stiffness().add_apply(rho, &mut out[..v]);
        for (out, row) in out[v..v + x].iter_mut().zip(tangent.rate_by_position().chunks_exact(v.max(1))) {
            *out = row.iter().zip(rho).map(|(r, rho)| r * rho).sum();
        }
        tangent.rows_by_position().add_apply(rho, &mut out[v + x..]);
    }

    /// The real eigenvector: residuals become changes.
    fn solve_real(&mut self, s: f64) {
        let Shape { v, x, .. } = self.frame.shape;
        let (r, carried, rho) = (&mut self.residuals[0], &self.carried[0], &mut self.slopes[0]);
        for k in 0..v + x {
            r[k] = -s * (r[k] + s * carried[k]);
        }
        for k in v + x..r.len() {
            r[k] = if self.frame.held[k - v - x] { 0.0 } else { s * carried[k] - r[k] };
        }
        self.real.solve(r);
        for k in 0..v {
            rho[k] = s * (r[k] - rho[k]);
        }
        for value in &mut r[v + x..] {
            *value /= s;
        }
    }

    /// The complex pair of eigenvectors.
    fn solve_complex(&mut self, s: Complex) {
        let Shape { v, x, .. } = self.frame.shape;
        let [_, re, im] = &mut self.residuals;
        let [_, carried_re, carried_im] = &self.carried;
        for k in 0..self.pair.len() {
            let (r, carried) = (Complex::new(re[k], im[k]), Complex::new(carried_re[k], carried_im[k]));
            self.pair[k] = if k < v + x {
                -s * (r + s * carried)
            } else if self.frame.held[k - v - x] {
                Complex::default()
            } else {
                s * carried - r
            };
        }
        self.complex.solve(&mut self.pair);
        let [_, rho_re, rho_im] = &mut self.slopes;
        for k in 0..v {
            let change = s * (self.pair[k] - Complex::new(rho_re[k], rho_im[k]));
            (rho_re[k], rho_im[k]) = (change.re, change.im);
        }
        for k in 0..self.pair.len() {
            let change = if k < v + x { self.pair[k] } else { self.pair[k] / s };
            (re[k], im[k]) = (change.re, change.im);
        }
    }

    /// Factors, start values and Newton's method for a step.
    pub fn attempt(&mut self, y: &Y, options: &Options, control: &mut Control, h: f64, end: f64) -> Outcome {
        if !self.factor(h) {
            let change = Largest { value: f64::INFINITY, index: 0 };
            return Outcome::Failed { change, shrink: 0.5 };
        }
        self.predict(y, h);
        self.newton(y, options, control, h, end)
    }

    /// Newton's method for all stages (\[1\] section IV.8, stopping test eq. 8.10).
    fn newton(&mut self, y: &Y, options: &Options, control: &mut Control, h: f64, end: f64) -> Outcome {
        control.progress = control.progress.max(f64::EPSILON).powf(0.8);
        let mut last = Largest::default();
        let mut ratio = 0.0;
        for iteration in 1..=options.iterations {
            let change = self.iterate(y, options.tolerance, h, end);
            if !change.value.is_finite() {
                return Outcome::Failed { change, shrink: 0.5 };
            }
            if iteration > 1 {
                let now = change.value / last.value.max(f64::MIN_POSITIVE);
                control.contraction = if iteration == 2 { now } else { (now * ratio).sqrt() };
                ratio = now;
                if control.contraction >= 0.99 {
                    if change.value <= options.floor {
                        return Outcome::Converged { iterations: iteration };
                    }
                    return Outcome::Failed { change, shrink: 0.5 };
                }
                control.progress = control.contraction / (1.0 - control.contraction);
                let left = f64::from(options.iterations - iteration);
                let foreseen = control.progress * change.value * control.contraction.powf(left) / options.goal;
                if foreseen >= 1.0 && change.value > options.floor {
                    let shrink = 0.8 * foreseen.clamp(1e-4, 20.0).powf(-1.0 / (4.0 + left));
                    return Outcome::Failed { change, shrink };
                }
            }
            last = change;
            if control.progress * change.value <= options.goal {
                return Outcome::Converged { iterations: iteration };
            }
        }
        if last.value <= options.floor {
            return Outcome::Converged { iterations: options.iterations };
        }
        Outcome::Failed { change: last, shrink: 0.5 }
    }

    /// The integrals at the stages, with the multipliers of the accelerations there.
    pub fn integrate(&mut self, y: &Y, h: f64, end: f64) -> Result<(), IntegrateError> {
        if self.frame.shape.z == 0 {
            return Ok(());
        }
        for i in 0..3 {
            self.place(y, i, h, end);
            self.frame.dynamics.evaluate(y, &self.frame.stage, &mut self.rates)?;
            self.integrals[i].copy_from_slice(&self.rates.z);
        }
        combine(&WEIGHTS, &mut self.integrals);
        self.integrals.iter_mut().flatten().for_each(|z| *z *= h);
        Ok(())
    }

    /// The filtered estimate of the error (\[1\] eq. IV.8.19 and 8.20) in units of the tolerance.
    ///
    /// A `refined` estimate is filtered twice, against overestimates in stiff transients.
    pub fn estimate(&mut self, y: &Y, tolerance: Tolerance, h: f64, refined: bool) -> Result<Largest, IntegrateError> {
        let Self { frame, rates, slopes, .. } = self;
        rates.v.copy_from_slice(&frame.rates.v);
        rates.x.copy_from_slice(&frame.rates.x);
        frame.stage.copy_from(&frame.base);
        self.change.fill(0.0);
        y.local_rate(&self.change[..frame.shape.v], &frame.base.v, &mut slopes[0]);
        let mut largest = self.filter(y, tolerance, h);
        if refined && largest.value >= 1.0 && largest.value.is_finite() {
            let Shape { v, x, .. } = self.frame.shape;
            let Self { frame, rates, slopes, error, .. } = self;
            y.retract(&frame.base.q, &error[..v], &mut frame.stage.q);
            for k in 0..v {
                frame.stage.v[k] = frame.base.v[k] + error[v + k];
            }
            for k in 0..x {
                frame.stage.x[k] = frame.base.x[k] + error[2 * v + k];
            }
            frame.dynamics.evaluate(y, &frame.stage, rates)?;
            y.local_rate(&error[..v], &frame.stage.v, &mut slopes[0]);
            largest = self.filter(y, tolerance, h);
        }
        let Shape { v, x, .. } = self.frame.shape;
        for (k, (rate, now)) in self.frame.rates.z.iter().zip(&self.frame.base.z).enumerate() {
            let sum: f64 = (0..3).map(|j| ERROR[j] * self.integrals[j][k]).sum();
            let end = now + self.integrals[2][k];
            self.error[2 * v + x + k] = (h * rate + sum) / REAL;
            let weight = tolerance.weight(now.abs().max(end.abs()));
            largest.see(2 * v + x + k, self.error[2 * v + x + k] / weight);
        }
        Ok(largest)
    }

    /// (γ/h M − J)⁻¹ applied to the rates in `slopes[0]` and `rates` plus the differences of the stages.
    fn filter(&mut self, y: &Y, tolerance: Tolerance, h: f64) -> Largest {
        let Shape { v, x, .. } = self.frame.shape;
        let s = h / REAL;
        for k in 0..v {
            self.slopes[0][k] += (0..3).map(|j| ERROR[j] * self.deltas[j][k]).sum::<f64>() / h;
        }
        for k in 0..v + x {
            let rate = if k < v { self.rates.v[k] } else { self.rates.x[k - v] };
            self.change[k] = rate + (0..3).map(|j| ERROR[j] * self.stages[j][k]).sum::<f64>() / h;
        }
        self.carry(0);
        let (r, carried) = (&mut self.residuals[0], &self.carried[0]);
        self.frame.apply_mass(y, &self.change[..v], &mut r[..v]);
        r[v..v + x].copy_from_slice(&self.change[v..v + x]);
        for k in 0..v + x {
            r[k] = s * (r[k] + s * carried[k]);
        }
        for k in v + x..r.len() {
            r[k] = if self.frame.held[k - v - x] { 0.0 } else { -s * carried[k] };
        }
        self.real.solve(r);
        self.frame.counts.solves += 1;
        for k in 0..v {
            self.error[k] = s * (r[k] + self.slopes[0][k]);
        }
        self.error[v..2 * v + x].copy_from_slice(&r[..v + x]);
        self.frame.largest(tolerance, &self.error[..2 * v + x])
    }

    /// The end of an accepted step in the frame's stage state, projected to the constraints.
    pub fn finish(&mut self, y: &Y, asked: f64, h: f64, end: f64) -> Result<(), IntegrateError> {
        self.place(y, 2, h, end);
        let Frame { base, stage, .. } = &mut self.frame;
        for (k, z) in stage.z.iter_mut().enumerate() {
            *z = base.z[k] + self.integrals[2][k];
        }
        self.frame.project(y, asked)?;
        self.frame.end.copy_from(&self.frame.stage);
        self.h = h;
        Ok(())
    }

    /// Keeps the stages for the start values of the next step.
    pub fn keep(&mut self) {
        let Shape { v, x, .. } = self.frame.shape;
        let base = &self.frame.base;
        for (i, past) in self.past.iter_mut().enumerate() {
            for k in 0..past.len() {
                let begin = if k < v {
                    base.v[k]
                } else if k < v + x {
                    base.x[k - v]
                } else {
                    0.0
                };
                past[k] = if i == 0 { begin } else { begin + self.stages[i - 1][k] };
            }
        }
        self.past_step = self.h;
    }
}

/// The coefficients of the real system: γ/h scaled to one.
fn real(h: f64) -> Coefficients<f64> {
    let s = h / REAL;
    Coefficients { mass: 1.0, first: s, second: s * s, change: s, own: 1.0, rate: s }
}

/// The coefficients of the complex system.
fn complex(h: f64) -> Coefficients<Complex> {
    let (s, one) = (Complex::from(h) / COMPLEX, Complex::from(1.0));
    Coefficients { mass: one, first: s, second: s * s, change: s, own: one, rate: s }
}

/// Replaces three vectors by their combinations with the rows of a matrix.
fn combine(matrix: &[[f64; 3]; 3], vectors: &mut [Vec<f64>; 3]) {
    let [a, b, c] = vectors;
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        let old = [*a, *b, *c];
        let new = matrix.map(|row| row[0] * old[0] + row[1] * old[1] + row[2] * old[2]);
        (*a, *b, *c) = (new[0], new[1], new[2]);
    }
}
