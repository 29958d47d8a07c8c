//! What a run with contacts takes and gives: options, events, observers, progress.

use super::contacts::{Contacts, Mode};
use super::hybrid::Hybrid;
use super::impact::Restitution;
use super::zeno::KEPT;
use crate::events::{Hit, location};
use crate::integrate::{self, Counts, Ending, Flow, IntegrateError, Reaction, Step};
use crate::system::State;

/// How contacts are treated.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Gaps up to this count as closed at an event, in metres.
    pub touch: f64,
    /// Speeds up to this count as zero at an event, in m/s.
    pub rest: f64,
    /// Slips with two tangents that start are led in their first direction up to this speed, in m/s; it should exceed the error
    /// of velocities by far.
    pub creep: f64,
    /// The law of restitution.
    pub restitution: Restitution,
    /// Whether there are friction impulses.
    pub impact_friction: bool,
    /// The time left to an accumulation of impacts below which its contacts close for good, in seconds.
    pub settle: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            touch: 1e-10,
            rest: 1e-9,
            creep: 1e-5,
            restitution: Restitution::Newton,
            impact_friction: false,
            settle: 1e-4,
        }
    }
}

impl Options {
    /// Whether a contact with this gap and rate is met at an event at `t`: within what counts as closed, and within what it moves while events are located.
    pub(super) fn meets(&self, t: f64, gap: f64, rate: f64) -> bool {
        gap <= self.touch + 2.0 * location(t) * rate.abs()
    }
}

/// What happened at contacts.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Contacts closed with a jump of velocities.
    Impact,
    /// Contacts closed without one.
    Touch,
    /// Closed contacts opened.
    LiftOff,
    /// Contacts stopped slipping.
    Stick,
    /// Contacts started to slip.
    Slip,
    /// Contacts stopped and slipped back at once.
    Reversal,
    /// Infinitely many impacts of one contact, or of several in turn, came to their end; reported with the last impact, at the time they accumulate.
    Rest,
}

impl Kind {
    /// The word for it in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Impact => "impact",
            Self::Touch => "touch",
            Self::LiftOff => "lift-off",
            Self::Stick => "stick",
            Self::Slip => "slip",
            Self::Reversal => "reversal",
            Self::Rest => "rest",
        }
    }
}

/// One thing that happened to one or several contacts together.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, in seconds.
    pub t: f64,
    /// What.
    pub kind: Kind,
    /// To which contacts.
    pub contacts: Vec<usize>,
    /// For each contact the normal and tangential impulses in N s (impact, and rest, where they stand for the impulses still to come), or the forces before the event in N.
    pub values: Vec<[f64; 3]>,
    /// The energy lost, in J.
    pub lost: f64,
}

/// Between two steps: what an observer may look at.
pub struct Moment<'a> {
    /// The step just made (up to the event, if one cut it short).
    pub step: Step,
    /// The state at its end.
    pub state: &'a State<f64>,
    /// The work of the whole run so far.
    pub counts: Counts,
    /// Whether an event cut the step short. What follows from it has not happened yet, so that no run goes on from here: [`Observer::on_passed`] comes next.
    pub cut: bool,
    pub(super) progress: &'a dyn Fn() -> Progress,
}

impl Moment<'_> {
    /// All that a continuation needs besides the state: for checkpoints. Allocates.
    pub fn progress(&self) -> Progress {
        (self.progress)()
    }
}

/// Who watches a run with contacts.
pub trait Observer<Y: Contacts> {
    /// A state at an output time, with the modes it is in.
    fn on_output(&mut self, _y: &Hybrid<'_, Y>, _s: &State<f64>) {}
    /// The frequencies in rad/s with which an integrator has fitted the step at hand, one for each velocity; before its outputs. Only where it has any.
    fn on_frequencies(&mut self, _frequencies: &[f64]) {}
    /// After every step: progress, checkpoints, interruption. At the end of a step that an event cut short the modes are still
    /// those before it; a stop asked for there comes after the event.
    fn on_step(&mut self, _y: &Hybrid<'_, Y>, _moment: &Moment<'_>) -> Flow {
        Flow::Continue
    }
    /// Functions of the user that met zero together, and the state there.
    fn on_trigger(&mut self, _y: &Hybrid<'_, Y>, _hits: &[Hit], _s: &mut State<f64>) -> Reaction {
        Reaction::Continue
    }
    /// Something happened at contacts; the state and the modes are those after it.
    fn on_event(&mut self, _y: &Hybrid<'_, Y>, _event: &Event, _s: &State<f64>) {}
    /// After an event that cut a step short and all that followed from it: for checkpoints, as the run can go on from here.
    fn on_passed(&mut self, _y: &Hybrid<'_, Y>, _s: &State<f64>, _progress: &dyn Fn() -> Progress) {}
}

/// Nobody watches.
impl<Y: Contacts> Observer<Y> for () {}

/// All that a run depends on besides the model, the state and the span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// That of the integration in the present modes.
    pub run: integrate::Progress,
    /// The modes.
    pub modes: Vec<Mode>,
    /// Sticking contacts whose force others share.
    pub shared: Vec<bool>,
    /// Open contacts that others keep from leaving.
    pub idle: Vec<bool>,
    /// How far below zero the gap of each open contact is watched, in metres, and the slip of each sliding one, in m/s.
    pub below: Vec<f64>,
    /// The speed up to which each slip is led in its first direction, in m/s.
    pub creep: Vec<f64>,
    /// Contacts that latches hold.
    pub latched: Vec<bool>,
    /// The memory of the switching functions.
    pub switching: Vec<f64>,
    /// The last impacts of every contact, in seconds.
    pub impacts: Vec<[f64; KEPT]>,
    /// The time of the last event in seconds, and how many there were without time passing.
    pub last: (f64, u32),
    /// Whether the last event changed nothing.
    pub silent: bool,
    /// Whether the integration begins anew, just after an event: of its progress only the next output, the counts and the sides of the user's functions count.
    pub anew: bool,
}

/// A finished run. State and modes given to it are where it ended, also after an error.
#[derive(Clone, Debug)]
#[must_use]
pub struct Run {
    /// Why it ended; events are those of the user.
    pub ending: Result<Ending, IntegrateError>,
    /// The work of the whole run.
    pub counts: Counts,
    /// From where it can be continued.
    pub progress: Progress,
}
