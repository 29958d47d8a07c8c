//! The generalised-α method on Lie groups: order 2, with numerical damping of high frequencies at choice.
//!
//! The method of \[1\] as extended to Lie groups and constraints by [2, 3]. From (q, v, v̇, a)_n with an auxiliary a,
//!
//! ```text
//! M(q) v̇ = f − [G;A]ᵀλ   at n+1                     δ = h v_n + h²(½ − β) a_n + h²β a_{n+1},   q_{n+1} = q_n ⊕ δ
//! (1 − α_m) a_{n+1} + α_m a_n = (1 − α_f) v̇_{n+1} + α_f v̇_n        v_{n+1} = v_n + h(1 − γ) a_n + hγ a_{n+1}
//! α_m = (2ρ − 1)/(ρ + 1),  α_f = ρ/(ρ + 1),  γ = ½ + α_f − α_m,  β = ¼(γ + ½)²
//! ```
//!
//! where ρ is the spectral radius at infinite frequency. Extra states follow ẋ = r by the first-order method of the same
//! family (\[4\]): α_m = (3ρ − 1)/(2ρ + 2), the same α_f, γ = ½ + α_f − α_m.
//!
//! - Constraints: `index = 2` meets them on velocity level in the step and projects positions afterwards, a splitting of the
//!   stabilised index-2 formulation of \[3\]; multipliers are of order 2. `index = 3` meets them on position level in the
//!   step, as the classical method does, and projects velocities afterwards, so that hidden constraints hold too; its
//!   multipliers are of order 1 then, and integrals take those of the accelerations instead.
//! - a_n stands for v̇ at t_n + Δh with Δ = α_m − α_f. At the start it is evaluated there; when the step changes,
//!   a_n ← v̇_n + (h/h_before)(a_n − v̇_n). Both keep order 2.
//! - Error estimate: the leading terms of what the formulas for δ and v miss (\[5\] for δ),
//!   e_δ = (β + Δ/2 − 1/6) h² (a_{n+1} − a_n) and e_v = (1/12 − Δ²/2) h³ v⃛ with v⃛ from three a, filtered by Newton's matrix
//!   so that fast modes below the tolerance do not limit the step.
//! - Newton's matrix is scaled so that it stays of order one for small steps (see `newton.rs`); the tangent is taken
//!   at the beginning of a step, residuals are exact. Rows that depend on others are left out.
//! - Integrals by the trapezoidal rule. Continuous output by cubic Hermite polynomials in δ, v, x and z; not projected.
//!
//! References: \[1\] Chung, Hulbert: A time integration algorithm for structural dynamics with improved numerical dissipation,
//! J. Appl. Mech. 60 (1993) 371–375; \[2\] Brüls, Cardona, Arnold: Lie group generalized-α time integration of constrained
//! flexible multibody systems, Mech. Mach. Theory 48 (2012) 121–137; \[3\] Arnold, Brüls: Convergence of the generalized-α scheme
//! for constrained mechanical systems, Multibody Syst. Dyn. 18 (2007) 185–202, and Arnold, Cardona, Brüls: A Lie algebra
//! approach to Lie group time integration of constrained systems, CISM 565, Springer 2016; \[4\] Jansen, Whiting, Hulbert: A
//! generalized-α method for integrating the filtered Navier–Stokes equations, CMAME 190 (2000) 305–319; \[5\] Zienkiewicz, Xie:
//! A simple error estimator and adaptive time stepping procedure for dynamic analysis, Earthq. Eng. 20 (1991) 871–887.

mod advance;

use super::control::{Controller, Tolerance, land, shortest_step};
use super::implicit::{Failure, patience};
use super::newton::Coefficients;
use super::options::{
    ABSOLUTE, FIRST_STEP, FIXED_STEP, LARGEST_STEP, NEWTON_ITERATIONS, SAFETY, SMALLEST_STEP, TOLERANCE,
};
use super::{About, Counts, IntegrateError, Integrator, Parameter, Settings, SettingsError, Step};
use crate::system::{State, System};
use advance::{Advance, Outcome, Rules};

/// Contraction of Newton's method below which the tangent is kept for the next step.
const KEEP_TANGENT: f64 = 0.02;
/// The relative residual at which an initial state counts as consistent.
const CONSISTENT: f64 = 1e-6;
/// Where Newton's method stops, in units of the tolerance.
const GOAL: f64 = 1e-3;

/// What `generalized_alpha` is.
pub const ABOUT_GENERALIZED_ALPHA: About = About {
    name: "generalized_alpha",
    title: "Generalised-α method of order 2 with chosen numerical damping",
    summary: "The method of structural dynamics: one implicit stage for each step, high frequencies damped by a chosen factor, \
              constraints met in positions and velocities. For flexible systems and moderate accuracy; `radau` is better \
              at tolerances below 1e-5.",
    order: 2,
    stiff: true,
    parameters: &[
        Parameter { default: 1e-5, range: [1e-13, 0.1], ..TOLERANCE },
        ABSOLUTE,
        FIRST_STEP,
        LARGEST_STEP,
        Parameter {
            meaning: "the run fails when shorter steps would be needed; 0 stands for what time can resolve",
            ..SMALLEST_STEP
        },
        Parameter { meaning: "steps of this length without error control; 0 controls the error", ..FIXED_STEP },
        SAFETY,
        Parameter { default: 10.0, ..NEWTON_ITERATIONS },
        Parameter {
            name: "spectral_radius",
            unit: "1",
            default: 0.8,
            range: [0.0, 1.0],
            meaning: "what is left of infinitely fast oscillations after one step: 1 damps nothing, 0 all at once",
        },
        Parameter {
            name: "index",
            unit: "1",
            default: 2.0,
            range: [2.0, 3.0],
            meaning: "2 meets constraints on velocity level in the step and projects positions, 3 the other way round",
        },
    ],
    references: &[
        "Chung, Hulbert: A time integration algorithm for structural dynamics, J. Appl. Mech. 60 (1993) 371–375",
        "Arnold, Brüls: Convergence of the generalized-α scheme for constrained mechanical systems, MUBO 18 (2007) 185–202",
        "Brüls, Cardona, Arnold: Lie group generalized-α time integration, Mech. Mach. Theory 48 (2012) 121–137",
    ],
};

/// The numbers of the method for one spectral radius.
#[derive(Copy, Clone, Debug)]
struct Alphas {
    /// α_m for v and for x.
    mass: [f64; 2],
    /// α_f.
    force: f64,
    /// γ for v and for x.
    gamma: [f64; 2],
    beta: f64,
    /// Δ = α_m − α_f for v and for x.
    shift: [f64; 2],
}

impl Alphas {
    fn new(radius: f64) -> Self {
        let force = radius / (radius + 1.0);
        let mass = [(2.0 * radius - 1.0) / (radius + 1.0), (3.0 * radius - 1.0) / (2.0 * radius + 2.0)];
        let shift = mass.map(|mass| mass - force);
        let gamma = shift.map(|shift| 0.5 - shift);
        Self { mass, force, gamma, beta: 0.25 * (gamma[0] + 0.5).powi(2), shift }
    }

    /// (1 − α_m)/(1 − α_f): the change of v̇ with a.
    fn ratio(&self, kind: usize) -> f64 {
        (1.0 - self.mass[kind]) / (1.0 - self.force)
    }

    /// The coefficients of Newton's matrix.
    fn coefficients(&self, h: f64, index: u32) -> Coefficients<f64> {
        Coefficients {
            mass: self.ratio(0),
            first: h * self.gamma[0],
            second: h * h * self.beta,
            change: if index == 2 { h * self.beta / self.gamma[0] } else { 0.0 },
            own: self.ratio(1) / self.gamma[1],
            rate: h,
        }
    }
}

/// The generalised-α method.
pub struct GeneralizedAlpha<Y: System> {
    rules: Rules,
    first_step: f64,
    largest_step: f64,
    smallest_step: f64,
    fixed_step: f64,
    controller: Controller,
    /// The next step in seconds.
    proposal: f64,
    advance: Option<Advance<Y>>,
}

impl<Y: System> GeneralizedAlpha<Y> {
    /// The method with given settings.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let about = &ABOUT_GENERALIZED_ALPHA;
        settings.check(about)?;
        let get = |name| settings.get(about, name);
        let tolerance = get("tolerance");
        let rounding = 10.0 * f64::EPSILON / tolerance;
        let largest_step = get("largest_step");
        Ok(Self {
            rules: Rules {
                alphas: Alphas::new(get("spectral_radius")),
                index: if get("index") < 2.5 { 2 } else { 3 },
                tolerance: Tolerance::new(tolerance, get("absolute")),
                goal: GOAL.max(rounding),
                floor: (10.0 * rounding).max(0.1),
                iterations: patience(get("newton_iterations") as u32, get("fixed_step")),
            },
            first_step: get("first_step"),
            largest_step: if largest_step > 0.0 { largest_step } else { f64::INFINITY },
            smallest_step: get("smallest_step"),
            fixed_step: get("fixed_step"),
            controller: Controller::new(3, 0.0, get("safety"), [0.2, 2.0]),
            proposal: 0.0,
            advance: None,
        })
    }
}

impl<Y: System> Integrator<Y> for GeneralizedAlpha<Y> {
    fn about(&self) -> &'static About {
        &ABOUT_GENERALIZED_ALPHA
    }

    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        let mut advance = Advance::new(y);
        advance.frame.dynamics.check(y, s, CONSISTENT)?;
        advance.frame.begin(y, s);
        advance.frame.evaluate(y)?;
        advance.frame.end.copy_from(s);
        self.proposal = match (self.fixed_step, self.first_step) {
            (fixed, _) if fixed > 0.0 => fixed,
            (_, first) if first > 0.0 => first,
            _ => advance.frame.first_step(y, self.rules.tolerance),
        };
        self.controller.reset();
        self.advance = Some(advance);
        Ok(())
    }

    fn step(&mut self, y: &Y, s: &mut State<f64>, until: f64) -> Result<Step, IntegrateError> {
        let Some(advance) = &mut self.advance else {
            return Err(IntegrateError::Refused { reason: "`generalized_alpha` was not started".to_owned() });
        };
        let t = s.t;
        if until <= t || until.is_nan() {
            return Err(IntegrateError::Refused { reason: format!("a step from t = {t} s cannot end at {until} s") });
        }
        let fixed = self.fixed_step > 0.0;
        let smallest = self.smallest_step.max(shortest_step(t));
        let same = advance.frame.begin(y, s) && advance.last_step > 0.0;
        if !same {
            // The first step, or someone moved the state, as an impact does.
            let h = land(t, self.proposal.min(self.largest_step), until) - t;
            advance.rewind(y, &self.rules, h)?;
        }
        advance.restore(y, &self.rules);
        let changed = advance.frame.update_held();
        if !same || advance.contraction > KEEP_TANGENT {
            advance.refresh(y);
        } else if changed {
            advance.discard();
        }
        let mut rejected = 0;
        loop {
            let wanted = self.proposal.min(self.largest_step);
            let end = land(t, wanted, until);
            let h = end - t;
            let (shrink, failure) = match advance.attempt(y, &self.rules, h, end) {
                Outcome::Converged => {
                    let error = advance.estimate(y, &self.rules, h);
                    let verdict = match fixed || error.value <= 1.0 {
                        true => advance.finish(y, &self.rules, h).map_err(Failure::Other),
                        false => Err(Failure::Error(error)),
                    };
                    match verdict {
                        Ok(()) => {
                            advance.frame.counts.steps += 1;
                            s.copy_from(&advance.frame.end);
                            if !fixed {
                                let next = h * self.controller.accept(h, error.value);
                                // A step cut short by `until` says little about the next one.
                                self.proposal = if h < wanted { next.max(wanted) } else { next };
                            }
                            return Ok(Step { t, h, error: Some(error.value), rejected });
                        }
                        Err(failure @ Failure::Error(_)) => (self.controller.reject(error.value), failure),
                        Err(failure) => (0.5, failure),
                    }
                }
                Outcome::Failed { change } => {
                    if !advance.frame.fresh {
                        // Before the step is made shorter, the tangent is made new.
                        advance.refresh(y);
                        continue;
                    }
                    (0.5, Failure::Newton(change))
                }
            };
            advance.frame.counts.rejected += 1;
            rejected += 1;
            if fixed || h * shrink < smallest {
                let what = "Newton's method of `generalized_alpha`";
                return Err(advance.frame.report(y, failure, h, what));
            }
            self.proposal = h * shrink;
        }
    }

    fn dense(&mut self, y: &Y, out: &mut State<f64>) {
        if let Some(advance) = &mut self.advance {
            advance.dense(y, out);
        }
    }

    fn counts(&self) -> Counts {
        self.advance.as_ref().map(|advance| advance.frame.work()).unwrap_or_default()
    }

    fn memory(&self) -> Vec<f64> {
        let mut out = vec![self.proposal];
        out.extend(self.controller.memory());
        if let Some(advance) = &self.advance {
            out.extend([advance.contraction, advance.last_step, advance.past_step, advance.factored]);
            out.extend(advance.matrix.memory());
            out.extend(advance.past.iter().chain(&advance.last));
            advance.frame.memory(&mut out);
        }
        out
    }

    fn recall(&mut self, memory: &[f64]) {
        let (
            &[proposal, before, step, rejected, contraction, last_step, past_step, factored, chosen, direct],
            mut rest,
        ) = memory.split_first_chunk().expect("a memory of this method");
        self.proposal = proposal;
        self.controller.recall([before, step, rejected]);
        if let Some(advance) = &mut self.advance {
            (advance.contraction, advance.last_step, advance.past_step) = (contraction, last_step, past_step);
            advance.factored = factored;
            advance.matrix.recall([chosen, direct]);
            for values in [&mut advance.past, &mut advance.last] {
                let (own, others) = rest.split_at(values.len());
                values.copy_from_slice(own);
                rest = others;
            }
            advance.frame.recall(rest);
        }
    }
}
