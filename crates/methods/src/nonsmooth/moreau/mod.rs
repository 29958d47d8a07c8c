//! Moreau–Jean time stepping: all contacts of a step at once, on velocity level, for many contacts.
//!
//! Moreau's midpoint rule \[1\], θ = ½ with forces at the midpoint:
//!
//! ```text
//! q_M = q ⊕ ½h v,    v_f = v + h a(t + ½h, q_M, v),   G v_f + g_t = 0
//! v⁺ = v_f + K Jᵀ P                       K as in the Delassus matrix, bilateral constraints eliminated by their factors
//! 0 ≤ γ̇⁺ + ε γ̇⁻ ⟂ P_n ≥ 0                 contacts with γ(q_M) ≤ 0
//! P_t in the section of sliding friction, of maximum dissipation against u⁺
//! q⁺ = q_M ⊕ ½h v⁺, projected to g = 0
//! ```
//!
//! Nothing is located: impacts, lift-off and stick are felt in the step in which they happen. The error is of order h, gaps may be
//! violated by O(h), Zeno needs no care, and Painlevé configurations end in an impulse. The impulses are found by nonsmooth
//! Gauss–Seidel sweeps \[2\], each contact solved exactly in its turn, from the impulses of the step before. Sweeps stop
//! when no impulse changes its own contact's velocity by more than `tolerance` times the largest velocity that contacts have or that
//! their impulses make; a step that needs more than `sweeps` is an error. Steps divide the intervals between outputs evenly.
//!
//! A closed sucker is pulled with the impulse h A(t + ½h), which its own impulse P counts as pressing. One that was pressed
//! without a rebound in the step before counts as closed also where rounding has moved it off the surface.
//!
//! A contact that can be stopped by an impulse within its static cone is; one that cannot slides with the coefficient of the speed
//! it had before the step.
//!
//! **Energy.** Impulses of contacts are booked exactly, with the mean of the rates before and after. What is left are the forces,
//! which are taken at one state instead of along the step. With R = M a of the free motion the ledger misses no more than about
//! h Σ |v̄ᵢ| |Rᵢ − Rᵢ⁻| in a step, where R⁻ is that of the step before; this is reported with each step.
//!
//! References: \[1\] J. J. Moreau: Unilateral contact and dry friction in finite freedom dynamics, CISM 302, Springer 1988, 1–82;
//! \[2\] M. Jean: The non-smooth contact dynamics method, Comput. Methods Appl. Mech. Engrg. 177 (1999) 235–257.

mod local;
mod stepper;

use super::contacts::{Contacts, Mode};
use super::error::ContactError;
use crate::dynamics::Dynamics;
use crate::integrate::{
    About, Counts, Ending, Flow, IntegrateError, Parameter, Progress, Run, Settings, SettingsError, Span, Step,
};
use crate::system::State;
use stepper::Stepper;

/// What `moreau` is.
pub const ABOUT_MOREAU: About = About {
    name: "moreau",
    title: "Moreau–Jean time stepping of order 1 for many contacts",
    summary: "Fixed steps; all contacts of a step are solved together on velocity level, and no event is located. For piles, \
              many contacts and configurations in which forces alone have no solution; its error, gaps included, is of the order \
              of the step. Restitution is Newton's, and impulses have friction.",
    order: 1,
    stiff: false,
    parameters: &[
        Parameter {
            name: "tolerance",
            unit: "1",
            default: 1e-10,
            range: [1e-14, 0.1],
            meaning: "sweeps over the contacts end when no velocity changes by more than this part of the largest",
        },
        Parameter {
            name: "step",
            unit: "s",
            default: 1e-3,
            range: [1e-12, 1e9],
            meaning: "length of the steps; they are shortened to divide the time between two rows evenly",
        },
        Parameter {
            name: "sweeps",
            unit: "1",
            default: 20_000.0,
            range: [1.0, 1e9],
            meaning: "most sweeps over the contacts in one step; a step that needs more fails",
        },
    ],
    references: &[
        "Moreau: Unilateral contact and dry friction in finite freedom dynamics, CISM 302, Springer 1988, 1–82",
        "Jean: The non-smooth contact dynamics method, Comput. Methods Appl. Mech. Engrg. 177 (1999) 235–257",
    ],
};

/// Gaps below this, in metres, are an initial penetration.
const PENETRATION: f64 = -1e-10;
/// The relative residual at which an initial state counts as consistent.
const CONSISTENT: f64 = 1e-6;

/// How steps are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Moreau {
    /// The longest step in seconds; steps divide the interval of outputs evenly.
    pub step: f64,
    /// The change of velocities, relative to the largest of contacts, at which sweeps stop.
    pub tolerance: f64,
    /// The most sweeps of one step.
    pub sweeps: u64,
}

impl Default for Moreau {
    fn default() -> Self {
        Self { step: 1e-3, tolerance: 1e-10, sweeps: 20_000 }
    }
}

/// What contacts do at the end of a step.
#[derive(Copy, Clone, Debug)]
pub struct Touches<'a> {
    /// Forces by rows of contacts in newtons: the impulses of the step over its length. Zero before the first step.
    pub force: &'a [f64],
    /// The modes; a sliding contact without its direction.
    pub modes: &'a [Mode],
    /// The multipliers of the model's own rows, as means over the step.
    pub multipliers: &'a [f64],
}

/// After a step: what a watcher may look at.
pub struct Moment<'a> {
    /// The step just made.
    pub step: Step,
    /// The state at its end.
    pub state: &'a State<f64>,
    /// About what the energy ledger may miss in it, in joules.
    pub missed: f64,
    /// The work of the whole run so far; sweeps count as solves.
    pub counts: Counts,
    progress: &'a dyn Fn() -> Progress,
}

impl Moment<'_> {
    /// All that a continuation needs besides the state: for checkpoints. Allocates.
    pub fn progress(&self) -> Progress {
        (self.progress)()
    }
}

/// Who watches.
pub trait Watcher {
    /// A state at an output time, with what contacts did in the step before it.
    fn on_output(&mut self, _s: &State<f64>, _touches: &Touches<'_>) {}
    /// After every step: progress, checkpoints, interruption.
    fn on_step(&mut self, _moment: &Moment<'_>) -> Flow {
        Flow::Continue
    }
}

/// Nobody watches.
impl Watcher for () {}

impl Moreau {
    /// Time stepping with settings from the table.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        settings.check(&ABOUT_MOREAU)?;
        let get = |name| settings.get(&ABOUT_MOREAU, name);
        Ok(Self { step: get("step"), tolerance: get("tolerance"), sweeps: get("sweeps") as u64 })
    }

    /// Steps from the state (made with [`super::Hybrid::state`]) at the start of the span to its end.
    pub fn simulate<Y: Contacts>(&self, model: &Y, s: &mut State<f64>, span: &Span, watcher: &mut dyn Watcher) -> Run {
        let mut drive = Drive::new(self, model);
        let ending = check(model, s).and_then(|()| {
            if span.output(0).is_some_and(|t| t <= s.t) {
                watcher.on_output(s, &drive.stepper.touches());
                drive.next = 1;
            }
            drive.run(model, s, span, watcher)
        });
        drive.finish(ending)
    }

    /// Continues a run from the state and progress at which it was cut; the result has the same bits as without the cut.
    pub fn resume<Y: Contacts>(
        &self,
        model: &Y,
        s: &mut State<f64>,
        span: &Span,
        watcher: &mut dyn Watcher,
        progress: &Progress,
    ) -> Run {
        let mut drive = Drive::new(self, model);
        let ending = match drive.recall(progress) {
            Some(()) => drive.run(model, s, span, watcher),
            None => Err(IntegrateError::Refused { reason: "the memory of `moreau` has another length".to_owned() }),
        };
        drive.finish(ending)
    }
}

/// Checks what is given: restitution, constraints, gaps.
fn check<Y: Contacts>(model: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
    let count = model.contacts();
    if let Some(i) = (0..count).find(|&i| model.latch(i).is_some()) {
        let reason = "time stepping knows no latches; use an integrator with events".to_owned();
        return Err(ContactError::Law { contact: model.contact_name(i), reason }.into());
    }
    for i in 0..count {
        let epsilon = model.restitution(i);
        if !(0.0..=1.0).contains(&epsilon) {
            let reason = format!("the coefficient of restitution is {epsilon}; it must lie in [0, 1]");
            return Err(ContactError::Law { contact: model.contact_name(i), reason }.into());
        }
    }
    Dynamics::new(model).check(model, s, CONSISTENT)?;
    let mut gap = vec![0.0; count];
    let mut work = model.work();
    model.prepare(s, &mut work);
    if model.contact_hollow(&vec![true; count], s, &mut work, &mut gap) {
        let reason = "time stepping knows no hollows; use an integrator with events".to_owned();
        return Err(ContactError::Law { contact: model.contact_name(0), reason }.into());
    }
    model.contact_gap(s, &mut work, &mut gap);
    match gap.iter().position(|gap| *gap < PENETRATION || gap.is_nan()) {
        Some(i) => Err(ContactError::Penetration { t: s.t, contact: model.contact_name(i), gap: gap[i] }.into()),
        None => Ok(()),
    }
}

/// A run between its steps.
struct Drive<'a, Y: Contacts> {
    options: &'a Moreau,
    stepper: Stepper<'a, Y>,
    /// The index of the next output.
    next: u64,
    /// Steps made since the last output.
    made: u64,
    steps: u64,
    sweeps: u64,
    /// The work before a continuation.
    earlier: Counts,
}

impl<'a, Y: Contacts> Drive<'a, Y> {
    fn new(options: &'a Moreau, model: &Y) -> Self {
        let stepper = Stepper::new(model, options);
        Self { options, stepper, next: 0, made: 0, steps: 0, sweeps: 0, earlier: Counts::default() }
    }

    fn run(
        &mut self,
        model: &Y,
        s: &mut State<f64>,
        span: &Span,
        watcher: &mut dyn Watcher,
    ) -> Result<Ending, IntegrateError> {
        if !(self.options.step > 0.0 && self.options.tolerance > 0.0) {
            let reason = "`step` and `tolerance` of `moreau` must be positive".to_owned();
            return Err(IntegrateError::Refused { reason });
        }
        while s.t < span.until {
            let output = span.output(self.next);
            let end = output.unwrap_or(span.until);
            let start = self.next.checked_sub(1).and_then(|last| span.output(last)).unwrap_or(span.from);
            let count = ((end - start) / self.options.step * (1.0 - 1e-12)).ceil().max(1.0);
            self.made += 1;
            let done = self.made as f64 >= count;
            let until = if done { end } else { start + (end - start) * (self.made as f64 / count) };
            let (t, h) = (s.t, until - s.t);
            let missed = {
                let (sweeps, missed) = self.stepper.step(model, s, until)?;
                self.sweeps += sweeps;
                missed
            };
            self.steps += 1;
            if done {
                self.made = 0;
                if output.is_some() {
                    self.next += 1;
                    watcher.on_output(s, &self.stepper.touches());
                }
            }
            let step = Step { t, h, error: None, rejected: 0 };
            let moment = Moment { step, state: s, missed, counts: self.counts(), progress: &|| self.progress() };
            if watcher.on_step(&moment) == Flow::Stop {
                return Ok(Ending::Stopped);
            }
        }
        Ok(Ending::Reached)
    }

    fn counts(&self) -> Counts {
        let mut counts = self.earlier;
        counts += self.stepper.counts();
        counts += Counts { steps: self.steps, solves: self.sweeps, ..Counts::default() };
        counts
    }

    fn progress(&self) -> Progress {
        let mut integrator = vec![self.made as f64];
        self.stepper.memory(&mut integrator);
        let mut projection = Vec::new();
        self.stepper.dynamics.memory(&mut projection);
        Progress { next_output: self.next, sides: Vec::new(), integrator, projection, counts: self.counts() }
    }

    fn recall(&mut self, progress: &Progress) -> Option<()> {
        let (made, memory) = progress.integrator.split_first()?;
        self.stepper.recall(memory)?;
        self.stepper.dynamics.recall(&progress.projection);
        (self.made, self.next, self.earlier) = (*made as u64, progress.next_output, progress.counts);
        Some(())
    }

    fn finish(&self, ending: Result<Ending, IntegrateError>) -> Run {
        let progress = self.progress();
        Run { ending, counts: progress.counts, progress }
    }
}
