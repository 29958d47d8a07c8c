//! Radau IIA with three stages, order 5: for stiff and for constrained systems.
//!
//! The method of RADAU5 (\[1\] section IV.8) in local coordinates q = q_n ⊕ δ, with the constraints on velocity level at every
//! stage (index 2, \[1\] section VII.4). With increments w = v − v_n, ξ = x − x_n and â = A⁻¹ of the tableau, the stages solve
//!
//! ```text
//! (1/h) Σ â_ij δ_j = local_rate(δ_i, v_i)                M(q_i) (1/h) Σ â_ij w_j = f_i − [G;A]ᵀλ_i
//! (1/h) Σ â_ij ξ_j = r_i                                0 = G v_i + g_t,   0 = A v_i + b
//! ```
//!
//! by simplified Newton iterations, split into a real and a complex system; δ is eliminated, so that the matrices have the
//! size of (v, x, λ). Residuals are exact. The tangent is taken at the beginning of a step and ∂`local_rate` is replaced by
//! the identity, an approximation of relative order h‖v‖ that costs iterations, not accuracy. After the step the state is
//! projected to the positions and velocities of the constraints. δ, v and x converge with order 5.
//!
//! Decisions and departures from RADAU5:
//! - Errors are weighted component by component and the largest counts. Multipliers of a stage converge with order 3 only; they
//!   are not part of the state and take no part in error control or in the stopping test of Newton's method.
//! - The estimate is of order 3. As in RADAU5, tolerances inside are 0.1·tolerance^{2/3}, so that the *error* is of the size of
//!   the tolerance asked for.
//! - Rates of integrals are evaluated with the multipliers of the accelerations at the stages, not with those of the
//!   stages, and so reach order 5 too.
//! - Rows that depend on others are left out of the matrices (see `newton.rs`).
//! - Start values extrapolate v, x and λ; δ follows from v by two sweeps of the quadrature, which needs no logarithm.
//! - Newton's method may stop short of its goal where it no longer contracts but is already below a tenth of the tolerance
//!   or at the level of rounding.
//!
//! The continuous output is of order 4: the integral of the cubic polynomial through the slopes at the start and at the stages. That is
//! the collocation polynomial, which is of order 3 inside a step, and a multiple of the error estimate. It is not projected.
//!
//! References: \[1\] Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., Springer 1996; \[2\] Gustafsson: Control
//! theoretic techniques for stepsize selection in implicit Runge–Kutta methods, ACM TOMS 20 (1994) 496–517.

mod collocation;
mod stages;

use super::control::{Tolerance, land, shortest_step};
use super::implicit::{Failure, patience};
use super::options::{
    ABSOLUTE, FIRST_STEP, FIXED_STEP, LARGEST_STEP, NEWTON_ITERATIONS, SAFETY, SMALLEST_STEP, TOLERANCE,
};
use super::{About, Counts, IntegrateError, Integrator, Parameter, Settings, SettingsError, Step};
use crate::system::{Shape, State, System};
use collocation::{REAL, slope_at_zero, through_zero};
use stages::{Outcome, Stages};

/// Contraction of Newton's method below which the tangent is kept for the next step.
const KEEP_TANGENT: f64 = 1e-3;
/// Changes of the step size by less than these factors are not worth new factors.
const KEEP_STEP: [f64; 2] = [1.0, 1.2];
/// Bounds of the factor between steps.
const CHANGE: [f64; 2] = [0.2, 8.0];
/// The relative residual at which an initial state counts as consistent.
const CONSISTENT: f64 = 1e-6;

/// What `radau` is.
pub const ABOUT_RADAU: About = About {
    name: "radau",
    title: "Implicit Runge–Kutta method of order 5 (Radau IIA)",
    summary: "For stiff systems and for systems with many constraints. L-stable: fast decaying or oscillating parts that are \
              smaller than the tolerance do not limit the step. Three stages are solved together by Newton's method with \
              exact tangents; constraints are met on velocity level at the stages and by projection after each step. \
              Continuous output of order 3.",
    order: 5,
    stiff: true,
    parameters: &[
        Parameter {
            range: [1e-14, 0.1],
            meaning: "error allowed, relative to the size of each coordinate, velocity and state",
            ..TOLERANCE
        },
        Parameter {
            meaning: "error allowed where a coordinate, velocity or state is zero; 0 takes the number of `tolerance`",
            ..ABSOLUTE
        },
        FIRST_STEP,
        LARGEST_STEP,
        Parameter {
            meaning: "the run fails when shorter steps would be needed; 0 stands for what time can resolve",
            ..SMALLEST_STEP
        },
        FIXED_STEP,
        SAFETY,
        NEWTON_ITERATIONS,
    ],
    references: &[
        "Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., Springer 1996, sections IV.8 and VII.4",
        "Gustafsson: Control theoretic techniques for stepsize selection in implicit Runge–Kutta methods, ACM TOMS 20 (1994)",
    ],
};

/// The Radau IIA method with three stages.
pub struct Radau<Y: System> {
    options: Options,
    control: Control,
    stages: Option<Stages<Y>>,
}

/// The settings in the form the method uses them.
#[derive(Copy, Clone)]
struct Options {
    /// The tolerance asked for.
    asked: f64,
    /// The tolerance of the estimate of order 3.
    tolerance: Tolerance,
    first_step: f64,
    largest_step: f64,
    smallest_step: f64,
    fixed_step: f64,
    safety: f64,
    iterations: u32,
    /// Where Newton's method stops, in units of the tolerance.
    goal: f64,
    /// Where it may stop if it no longer contracts.
    floor: f64,
}

/// What the choice of the next step depends on.
#[derive(Copy, Clone, Default)]
struct Control {
    /// The next step in seconds.
    proposal: f64,
    /// The last accepted step and its error, 0 at the start.
    step: f64,
    error: f64,
    /// θ/(1 − θ) and θ of the last Newton iterations.
    progress: f64,
    contraction: f64,
}

impl<Y: System> Radau<Y> {
    /// The method with given settings.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let about = &ABOUT_RADAU;
        settings.check(about)?;
        let get = |name| settings.get(about, name);
        let asked = get("tolerance");
        let relative = 0.1 * asked.powf(2.0 / 3.0);
        let absolute = relative * Tolerance::new(asked, get("absolute")).absolute / asked;
        let largest_step = get("largest_step");
        let goal = (10.0 * f64::EPSILON / relative).max(relative.sqrt().min(0.03));
        Ok(Self {
            options: Options {
                asked,
                tolerance: Tolerance::new(relative, absolute),
                first_step: get("first_step"),
                largest_step: if largest_step > 0.0 { largest_step } else { f64::INFINITY },
                smallest_step: get("smallest_step"),
                fixed_step: get("fixed_step"),
                safety: get("safety"),
                iterations: patience(get("newton_iterations") as u32, get("fixed_step")),
                goal,
                floor: goal.max(0.1 * asked / relative).max(100.0 * f64::EPSILON / relative),
            },
            control: Control::default(),
            stages: None,
        })
    }
}

impl<Y: System> Integrator<Y> for Radau<Y> {
    fn about(&self) -> &'static About {
        &ABOUT_RADAU
    }

    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        let mut stages = Stages::new(y);
        stages.frame.dynamics.check(y, s, CONSISTENT)?;
        stages.frame.begin(y, s);
        stages.frame.end.copy_from(s);
        stages.frame.evaluate(y)?;
        let Options { fixed_step, first_step, tolerance, .. } = self.options;
        let proposal = match (fixed_step, first_step) {
            (fixed, _) if fixed > 0.0 => fixed,
            (_, first) if first > 0.0 => first,
            _ => stages.frame.first_step(y, tolerance),
        };
        self.control = Control { proposal, contraction: 1.0, progress: 1.0, ..Control::default() };
        self.stages = Some(stages);
        Ok(())
    }

    fn step(&mut self, y: &Y, s: &mut State<f64>, until: f64) -> Result<Step, IntegrateError> {
        let Self { options, control, stages } = self;
        let Some(stages) = stages else {
            return Err(IntegrateError::Refused { reason: "`radau` was not started".to_owned() });
        };
        let t = s.t;
        if until <= t || until.is_nan() {
            return Err(IntegrateError::Refused { reason: format!("a step from t = {t} s cannot end at {until} s") });
        }
        let fixed = options.fixed_step > 0.0;
        let smallest = options.smallest_step.max(shortest_step(t));
        let same = stages.frame.begin(y, s);
        stages.frame.evaluate(y)?;
        stages.restore(y);
        let changed = stages.frame.update_held();
        if !same {
            // Someone moved the state, as an impact does: the past says nothing about what follows.
            stages.past_step = 0.0;
            control.step = 0.0;
        }
        if !same || control.contraction > KEEP_TANGENT {
            stages.refresh(y);
        } else if changed {
            stages.discard();
        }
        let mut rejected = 0;
        loop {
            let wanted = control.proposal.min(options.largest_step);
            let end = land(t, wanted, until);
            let h = end - t;
            let outcome = stages.attempt(y, options, control, h, end);
            let (shrink, failure) = match outcome {
                Outcome::Converged { iterations } => {
                    let first = control.step == 0.0 || rejected > 0;
                    let verdict = stages.integrate(y, h, end).and_then(|()| {
                        let error = stages.estimate(y, options.tolerance, h, first)?;
                        if fixed || error.value < 1.0 {
                            stages.finish(y, options.asked, h, end)?;
                        }
                        Ok(error)
                    });
                    match verdict {
                        Ok(error) if fixed || error.value < 1.0 => {
                            stages.keep();
                            stages.frame.counts.steps += 1;
                            s.copy_from(&stages.frame.end);
                            if !fixed {
                                options.choose(control, error.value, h, iterations, rejected);
                                // A step cut short by `until` says little about the next one.
                                if h < wanted {
                                    control.proposal = control.proposal.max(wanted);
                                }
                            }
                            return Ok(Step { t, h, error: Some(error.value), rejected });
                        }
                        Ok(error) => {
                            let shrink =
                                if control.step == 0.0 { 0.1 } else { options.factor(error.value, iterations) };
                            (shrink.min(0.9), Failure::Error(error))
                        }
                        Err(error) => (0.5, Failure::Other(error)),
                    }
                }
                Outcome::Failed { change, shrink } => (shrink, Failure::Newton(change)),
            };
            if !stages.frame.fresh {
                // Before the step is made shorter, the tangent is made new.
                stages.refresh(y);
                if matches!(failure, Failure::Newton(_)) {
                    continue;
                }
            }
            stages.frame.counts.rejected += 1;
            rejected += 1;
            if fixed || h * shrink < smallest {
                return Err(stages.frame.report(y, failure, h, "Newton's method of `radau`"));
            }
            control.proposal = h * shrink;
        }
    }

    fn dense(&mut self, y: &Y, out: &mut State<f64>) {
        let Some(stages) = &mut self.stages else { return };
        let (frame, t) = (&stages.frame, out.t);
        if t == frame.end.t || stages.h == 0.0 {
            out.copy_from(&frame.end);
            return;
        }
        let theta = (t - frame.base.t) / stages.h;
        let (weights, slope) = (through_zero(theta), REAL * slope_at_zero(theta));
        let (error, Shape { v, x, z, .. }) = (&stages.error, frame.shape);
        let sum = |of: &[Vec<f64>; 3], k: usize, at: usize| {
            (0..3).fold(slope * error[at], |sum, j| sum + weights[j] * of[j][k])
        };
        let delta = &mut stages.delta;
        (0..v).for_each(|k| delta[k] = sum(&stages.deltas, k, k));
        y.retract(&frame.base.q, delta, &mut out.q);
        (0..v).for_each(|k| out.v[k] = frame.base.v[k] + sum(&stages.stages, k, v + k));
        (0..x).for_each(|k| out.x[k] = frame.base.x[k] + sum(&stages.stages, v + k, 2 * v + k));
        (0..z).for_each(|k| out.z[k] = frame.base.z[k] + sum(&stages.integrals, k, 2 * v + x + k));
        out.p.copy_from_slice(&frame.base.p);
    }

    fn counts(&self) -> Counts {
        self.stages.as_ref().map(|stages| stages.frame.work()).unwrap_or_default()
    }

    fn memory(&self) -> Vec<f64> {
        let Control { proposal, step, error, progress, contraction } = self.control;
        let mut out = vec![proposal, step, error, progress, contraction];
        if let Some(stages) = &self.stages {
            out.extend([stages.past_step, stages.factored]);
            out.extend(stages.real.memory().into_iter().chain(stages.complex.memory()));
            stages.past.iter().for_each(|values| out.extend(values));
            stages.frame.memory(&mut out);
        }
        out
    }

    fn recall(&mut self, memory: &[f64]) {
        let (&[proposal, step, error, progress, contraction, past_step, factored, a, b, c, d], mut rest) =
            memory.split_first_chunk().expect("a memory of this method");
        self.control = Control { proposal, step, error, progress, contraction };
        if let Some(stages) = &mut self.stages {
            (stages.past_step, stages.factored) = (past_step, factored);
            stages.real.recall([a, b]);
            stages.complex.recall([c, d]);
            for values in &mut stages.past {
                let (own, others) = rest.split_at(values.len());
                values.copy_from_slice(own);
                rest = others;
            }
            stages.frame.recall(rest);
        }
    }
}

impl Options {
    /// The factor of the step size after an error and a number of Newton iterations.
    fn factor(&self, error: f64, iterations: u32) -> f64 {
        let most = f64::from(2 * self.iterations);
        let safety = self.safety * ((1.0 + most) / (f64::from(iterations) + most)).min(1.0);
        (safety / error.max(f64::MIN_POSITIVE).powf(0.25)).clamp(CHANGE[0], CHANGE[1])
    }

    /// The next step after an accepted one (\[1\] eq. IV.8.21, 8.25).
    fn choose(&self, control: &mut Control, error: f64, h: f64, iterations: u32, rejected: u32) {
        let mut factor = self.factor(error, iterations);
        if control.step > 0.0 {
            let change = (control.error / error.max(f64::MIN_POSITIVE).powi(2)).powf(0.25);
            factor = factor.min((self.safety * h / control.step * change).clamp(CHANGE[0], CHANGE[1]));
        }
        if rejected > 0 {
            factor = factor.min(1.0);
        }
        if control.contraction <= KEEP_TANGENT && (KEEP_STEP[0]..=KEEP_STEP[1]).contains(&factor) {
            factor = 1.0;
        }
        control.proposal = h * factor;
        (control.step, control.error) = (h, error.max(1e-2));
    }
}
