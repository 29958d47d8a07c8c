//! Explicit Runge–Kutta methods on manifolds, for systems that are not stiff.
//!
//! Each step is a Runge–Kutta–Munthe-Kaas step \[1\]: with q = q_n ⊕ δ the unknowns (δ, v, x, z) live in a vector space,
//!
//! ```text
//! δ̇ = local_rate(δ, v),   v̇ = M⁻¹(f − Gᵀλ),   ẋ = r,   ż = s,
//! ```
//!
//! and any classical method \[2\] applies; the order carries over to the manifold. Multipliers are eliminated on acceleration
//! level (index 1), so the constraints drift with the truncation error; after each accepted step the state is projected
//! to the position and velocity constraints, unless it is already on them. The projection is as small as the local
//! error and keeps the order (\[3\] section VII.2).
//!
//! Departures: the error is the largest weighted component, not the mean square (see [`super::control`]); the rates at
//! the end of a step are used again for the next one only if the projection left the state alone.
//!
//! The continuous output is the method's own and is *not* projected: its constraint residuals are those of its order.
//! `simulate` projects it where a caller asks for states that satisfy the constraints.
//!
//! References: \[1\] Munthe-Kaas: High order Runge–Kutta methods on manifolds, Appl. Numer. Math. 29 (1999) 115–127;
//! \[2\] Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993; \[3\] Hairer, Wanner:
//! Solving Ordinary Differential Equations II, 2nd ed., Springer 1996.

mod beside;
mod stages;

use super::control::{Controller, Largest, Tolerance, land, shortest_step};
use super::options::{ABSOLUTE, FIRST_STEP, FIXED_STEP, LARGEST_STEP, SAFETY, SMALLEST_STEP, TOLERANCE};
use super::tableau::{DOP853, DOPRI5, RK4, Tableau};
use super::{About, Company, Counts, IntegrateError, Integrator, Parameter, Settings, SettingsError, Step, Ways};
use crate::dynamics::Shelf;
use crate::system::{State, System};
use stages::Scratch;

/// Initial states are never asked to meet the constraints better than this, relative to the size of the system.
const CONSISTENT: f64 = 1e-12;

/// Steps between two looks for stiffness, as long as nothing is suspected.
const LOOK: u32 = 16;
/// Steps at the limit of stability, with few others between them, after which those that follow count as stiff.
const SUSPECTS: u32 = 15;
/// Steps within the limit in a row that clear all suspicion.
const CALM: u32 = 6;

/// The options of all these methods.
const PARAMETERS: &[Parameter] = &[TOLERANCE, ABSOLUTE, FIRST_STEP, LARGEST_STEP, SMALLEST_STEP, FIXED_STEP, SAFETY];

/// What `rk4` is.
pub const ABOUT_RK4: About = About {
    name: "rk4",
    title: "Explicit Runge–Kutta method of order 4 (Kutta)",
    summary: "The classical method, for low accuracy and for fixed steps. Four force evaluations for each step; of the explicit methods \
              it allows the longest steps for each evaluation where undamped oscillations set the limit, as in long chains. Error \
              control by an embedded method of order 3, continuous output of order 3 at no cost. Constraints are met by \
              projection after each step.",
    order: 4,
    stiff: false,
    parameters: PARAMETERS,
    references: &[
        "Kutta: Beitrag zur näherungsweisen Integration totaler Differentialgleichungen, Z. Math. Phys. 46 (1901) 435–453",
        "Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, section II.1",
        "Munthe-Kaas: High order Runge–Kutta methods on manifolds, Appl. Numer. Math. 29 (1999) 115–127",
    ],
};

/// What `dopri5` is.
pub const ABOUT_DOPRI5: About = About {
    name: "dopri5",
    title: "Explicit Runge–Kutta method of order 5 (Dormand–Prince)",
    summary: "A good first choice for smooth systems without stiff springs at moderate accuracy. Six force evaluations for each \
              step, error control by the embedded method of order 4, continuous output of order 4 at no cost. Constraints \
              are met by projection after each step.",
    order: 5,
    stiff: false,
    parameters: PARAMETERS,
    references: &[
        "Dormand, Prince: A family of embedded Runge–Kutta formulae, J. Comput. Appl. Math. 6 (1980) 19–26",
        "Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, section II.5",
        "Munthe-Kaas: High order Runge–Kutta methods on manifolds, Appl. Numer. Math. 29 (1999) 115–127",
    ],
};

/// What `dop853` is.
pub const ABOUT_DOP853: About = About {
    name: "dop853",
    title: "Explicit Runge–Kutta method of order 8 (Dormand–Prince, Hairer)",
    summary: "For smooth systems at high accuracy (tolerances of 1e-8 to 1e-13) and for long runs. Twelve force evaluations for \
              each step, error control by embedded methods of orders 5 and 3, continuous output of order 7 for three more \
              evaluations in steps where it is asked for. Constraints are met by projection after each step.",
    order: 8,
    stiff: false,
    parameters: PARAMETERS,
    references: &[
        "Prince, Dormand: High order embedded Runge–Kutta formulae, J. Comput. Appl. Math. 7 (1981) 67–75",
        "Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, section II.10",
        "Munthe-Kaas: High order Runge–Kutta methods on manifolds, Appl. Numer. Math. 29 (1999) 115–127",
    ],
};

/// An explicit Runge–Kutta method.
pub struct RungeKutta<Y: System> {
    about: &'static About,
    tableau: &'static Tableau,
    tolerance: Tolerance,
    first_step: f64,
    largest_step: f64,
    smallest_step: f64,
    fixed_step: f64,
    controller: Controller,
    proposal: f64,
    counts: Counts,
    watch: Watch,
    scratch: Option<Scratch<Y>>,
}

/// Looks for steps that stability keeps short, as the programs of \[2\] do.
#[derive(Copy, Clone, Debug, Default)]
struct Watch {
    /// Steps since the last look.
    unseen: u32,
    /// Steps at the limit of stability.
    suspects: u32,
    /// Steps within it since then.
    calm: u32,
}

impl Watch {
    /// Whether the step just taken is worth a look.
    fn looks(&mut self) -> bool {
        self.unseen += 1;
        let due = self.suspects > 0 || self.unseen >= LOOK;
        if due {
            self.unseen = 0;
        }
        due
    }

    /// Takes a verdict; says whether the step counts as stiff.
    fn judge(&mut self, at_limit: bool) -> bool {
        if at_limit {
            self.calm = 0;
            self.suspects += 1;
            return self.suspects >= SUSPECTS;
        }
        self.calm += 1;
        if self.calm >= CALM {
            self.suspects = 0;
        }
        false
    }
}

impl<Y: System> RungeKutta<Y> {
    /// The method of order 4.
    pub fn rk4(settings: &Settings) -> Result<Self, SettingsError> {
        Self::new(&ABOUT_RK4, &RK4, settings)
    }

    /// The method of order 5.
    pub fn dopri5(settings: &Settings) -> Result<Self, SettingsError> {
        Self::new(&ABOUT_DOPRI5, &DOPRI5, settings)
    }

    /// The method of order 8.
    pub fn dop853(settings: &Settings) -> Result<Self, SettingsError> {
        Self::new(&ABOUT_DOP853, &DOP853, settings)
    }

    /// The method of a name; none if it is not one of these.
    pub fn named(name: &str, settings: &Settings) -> Option<Result<Self, SettingsError>> {
        Some(match name {
            "rk4" => Self::rk4(settings),
            "dopri5" => Self::dopri5(settings),
            "dop853" => Self::dop853(settings),
            _ => return None,
        })
    }

    fn new(about: &'static About, tableau: &'static Tableau, settings: &Settings) -> Result<Self, SettingsError> {
        settings.check(about)?;
        let get = |name| settings.get(about, name);
        let largest_step = get("largest_step");
        Ok(Self {
            about,
            tableau,
            tolerance: Tolerance::new(get("tolerance"), get("absolute")),
            first_step: get("first_step"),
            largest_step: if largest_step > 0.0 { largest_step } else { f64::INFINITY },
            smallest_step: get("smallest_step"),
            fixed_step: get("fixed_step"),
            controller: Controller::new(tableau.error_power, tableau.beta, get("safety"), tableau.change),
            proposal: 0.0,
            counts: Counts::default(),
            watch: Watch::default(),
            scratch: None,
        })
    }
}

/// Where an attempt at a step ends, and how long it would be if nothing were in the way.
#[derive(Copy, Clone)]
struct Aim {
    end: f64,
    wanted: f64,
}

impl<Y: System> RungeKutta<Y> {
    fn unstarted(&self) -> IntegrateError {
        IntegrateError::Refused { reason: format!("`{}` was not started", self.about.name) }
    }

    /// Refuses a step that leads nowhere.
    fn refuse(&self, s: &State<f64>, until: f64) -> Result<(), IntegrateError> {
        let t = s.t;
        if until.is_nan() || until <= t {
            return Err(IntegrateError::Refused { reason: format!("a step from t = {t} s cannot end at {until} s") });
        }
        Ok(())
    }

    fn aim(&self, t: f64, until: f64) -> Aim {
        let wanted = self.proposal.min(self.largest_step);
        Aim { end: land(t, wanted, until), wanted }
    }

    /// Accepts an attempt and moves the state, gives up, or prepares the next attempt.
    fn judge(
        &mut self,
        y: &Y,
        s: &mut State<f64>,
        aim: Aim,
        attempt: Result<Largest, IntegrateError>,
        rejected: &mut u32,
    ) -> Option<Result<Step, IntegrateError>> {
        let Some(scratch) = &mut self.scratch else { return Some(Err(self.unstarted())) };
        let fixed = self.fixed_step > 0.0;
        let t = s.t;
        let h = aim.end - t;
        let shrink = match &attempt {
            Ok(error) if fixed || error.value <= 1.0 => {
                s.copy_from(scratch.end());
                if !fixed {
                    let next = h * self.controller.accept(h, error.value);
                    // A step cut short by `until` says little about the next one.
                    self.proposal = if h < aim.wanted { next.max(aim.wanted) } else { next };
                }
                self.counts.steps += 1;
                if self.watch.looks() {
                    let at_limit = scratch.stiffness(self.tolerance) > self.tableau.stability;
                    self.counts.stiff += u64::from(self.watch.judge(at_limit));
                }
                return Some(Ok(Step { t, h, error: Some(error.value), rejected: *rejected }));
            }
            Ok(error) => self.controller.reject(error.value),
            Err(_) => self.controller.reject(f64::INFINITY),
        };
        self.counts.rejected += 1;
        *rejected += 1;
        if fixed || h * shrink < self.smallest_step.max(shortest_step(t)) {
            return Some(Err(match attempt {
                Err(failure) => failure,
                Ok(error) => IntegrateError::StepTooSmall { t, h, worst: scratch.name(y, error.index) },
            }));
        }
        self.proposal = h * shrink;
        None
    }

    /// The rates (v̇, ẋ, ż) at the state of the last start.
    pub(super) fn first_rates(&self) -> &[f64] {
        self.scratch.as_ref().map_or(&[], Scratch::first_rates)
    }

    /// What leads to the continuous output of the last step at some times, its base, and the size of an increment; nothing before the first step.
    pub(super) fn ways(&mut self, y: &Y, times: &[f64], out: &mut Ways) -> Option<(&State<f64>, usize)> {
        Some(self.scratch.as_mut()?.ways(y, times, out))
    }

    /// The same step as [`Integrator::step`] makes, its rates computed in company.
    pub(super) async fn step_beside(
        &mut self,
        y: &Y,
        s: &mut State<f64>,
        until: f64,
        company: &mut impl Company<Y>,
        inside: impl Fn(f64) -> bool,
    ) -> Result<Step, IntegrateError> {
        self.refuse(s, until)?;
        let Some(scratch) = &mut self.scratch else { return Err(self.unstarted()) };
        scratch.rebase_beside(y, s, company).await?;
        scratch.measure(y);
        let mut rejected = 0;
        loop {
            let (tolerance, fixed) = (self.tolerance, self.fixed_step > 0.0);
            let aim = self.aim(s.t, until);
            let Some(scratch) = &mut self.scratch else { return Err(self.unstarted()) };
            let mut attempt = scratch.attempt_beside(y, tolerance, aim.end, company).await;
            if attempt.as_ref().is_ok_and(|error| fixed || error.value <= 1.0)
                && let Err(failure) = scratch.finish_beside(y, tolerance, aim.end, company).await
            {
                attempt = Err(failure);
            }
            if let Some(step) = self.judge(y, s, aim, attempt, &mut rejected) {
                if let (Ok(_), Some(scratch)) = (&step, &mut self.scratch)
                    && inside(s.t)
                {
                    scratch.complete_beside(y, company).await;
                }
                return step;
            }
        }
    }
}

impl<Y: System> Integrator<Y> for RungeKutta<Y> {
    fn about(&self) -> &'static About {
        self.about
    }

    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        self.start_again(y, s, &mut Shelf::default())
    }

    fn start_again(&mut self, y: &Y, s: &mut State<f64>, shelf: &mut Shelf<Y>) -> Result<(), IntegrateError> {
        if let Some(before) = self.scratch.take() {
            shelf.put(before.into_dynamics());
        }
        let mut scratch = Scratch::new(y, shelf.take(y), self.tableau);
        scratch.check(y, s, self.tolerance.relative.max(CONSISTENT))?;
        scratch.rebase(y, s)?;
        self.proposal = match (self.fixed_step, self.first_step) {
            (fixed, _) if fixed > 0.0 => fixed,
            (_, first) if first > 0.0 => first,
            _ => scratch.first_step(y, self.tolerance),
        };
        self.controller.reset();
        self.counts = Counts::default();
        self.watch = Watch::default();
        self.scratch = Some(scratch);
        Ok(())
    }

    fn step(&mut self, y: &Y, s: &mut State<f64>, until: f64) -> Result<Step, IntegrateError> {
        self.refuse(s, until)?;
        let Some(scratch) = &mut self.scratch else { return Err(self.unstarted()) };
        scratch.rebase(y, s)?;
        scratch.measure(y);
        let mut rejected = 0;
        loop {
            let (tolerance, fixed) = (self.tolerance, self.fixed_step > 0.0);
            let aim = self.aim(s.t, until);
            let Some(scratch) = &mut self.scratch else { return Err(self.unstarted()) };
            let attempt = scratch.attempt(y, tolerance, aim.end).and_then(|error| {
                if fixed || error.value <= 1.0 {
                    scratch.finish(y, tolerance, aim.end)?;
                }
                Ok(error)
            });
            if let Some(step) = self.judge(y, s, aim, attempt, &mut rejected) {
                return step;
            }
        }
    }

    fn dense(&mut self, y: &Y, out: &mut State<f64>) {
        if let Some(scratch) = &mut self.scratch {
            scratch.dense(y, out);
        }
    }

    fn counts(&self) -> Counts {
        let work = self.scratch.as_ref().map(|scratch| scratch.counts()).unwrap_or_default();
        let Counts { steps, rejected, stiff, .. } = self.counts;
        Counts { steps, rejected, stiff, ..work }
    }

    fn memory(&self) -> Vec<f64> {
        let [before, step, rejected] = self.controller.memory();
        let Watch { unseen, suspects, calm } = self.watch;
        let mut memory = vec![self.proposal, before, step, rejected, unseen.into(), suspects.into(), calm.into()];
        if let Some(scratch) = &self.scratch {
            scratch.memory(&mut memory);
        }
        memory
    }

    fn recall(&mut self, memory: &[f64]) {
        if let (Some(scratch), &[proposal, before, step, rejected, unseen, suspects, calm, ref rest @ ..]) =
            (&mut self.scratch, memory)
        {
            self.proposal = proposal;
            self.controller.recall([before, step, rejected]);
            let [unseen, suspects, calm] = [unseen, suspects, calm].map(|count| count as u32);
            self.watch = Watch { unseen, suspects, calm };
            scratch.recall(rest);
        }
    }
}
