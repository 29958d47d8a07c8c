//! Changes of a motion with contacts, through impacts, lift-off, stops and slips.
//!
//! The motion is run first, event by event ([`simulate`]). Between events changes obey the linearised equations of the modes of that piece
//! ([`crate::variation`]). At an event the change c moves it in time by σ = −g′/ġ, with g the gap, the slip or the excess over the cone of the
//! contact whose event it is, and
//!
//! ```text
//! c⁺ = R′(c + F⁻σ) − F⁺σ
//! ```
//!
//! with the rates F of the motion before and after it, and the derivative R′ of the jump, which for an impact follows from the law of restitution over all rows that take
//! part, phase by phase, with friction impulses where the run has them. For other events R′ is the unit.
//!
//! With two tangents the friction on a slip u turns with it, at a rate of the order of 1/|u|: changes across the slip die out as it stops, and grow no faster than the slip itself as it
//! starts, so that the linearised equations go to both ends.
//!
//! Events of several contacts at once, impacts that accumulate, of one contact or of several in turn, and slips with two tangents that stop and at once go on another way have no derivative; they are errors that say
//! so. A contact that a latch holds takes part in all impacts, also in the one that releases it.
//!
//! Reference: Leine, Nijmeijer: Dynamics and Bifurcations of Non-Smooth Mechanical Systems, Springer 2004, chapters 7 and 8.

mod cycle;
mod exponents;
mod graze;
mod jump;
mod saltation;
mod sampling;

pub use cycle::{differences, driven, monodromy, orbit};
pub use exponents::{exponents, exponents_while};
pub use graze::{Graze, nearest_graze};
pub use sampling::{crossings, samples, samples_while};

use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::motion::Motion;
use dalembert_methods::integrate::{Flow, Integrator, RungeKutta, Settings as Tuning, Span};
use dalembert_methods::nonsmooth::{Contacts, Event, Hybrid, Kind, Mode, Moment, Observer, Options, simulate};
use dalembert_methods::system::{State, System};
use saltation::{Clock, Pace, beside_hollow, lead, pass};

/// A piece of a motion between two events.
struct Piece {
    modes: Vec<Mode>,
    latched: Vec<bool>,
    /// For each contact the speed below which its slip is led in the direction of its mode.
    creep: Vec<f64>,
    start: State<f64>,
    end: State<f64>,
}

impl Piece {
    /// The model in the modes of the piece.
    fn hybrid<'m, Y: Contacts>(&self, model: &'m Y) -> Hybrid<'m, Y> {
        let mut hybrid = Hybrid::new(model);
        hybrid.set_modes(&self.modes);
        hybrid.set_creep(&self.creep);
        hybrid.set_latched(&self.latched);
        hybrid
    }
}

/// Something that is to happen to a contact.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// The contact.
    pub contact: usize,
    /// What.
    pub kind: Kind,
}

/// Collects the pieces of a run, which may end at the last of some events.
struct Recorder<'a> {
    start: State<f64>,
    now: Option<Piece>,
    pieces: Vec<Piece>,
    /// The events after each piece.
    events: Vec<Vec<Event>>,
    /// What is to happen, in this order, and how much of it has.
    goals: &'a [Goal],
    met: usize,
    /// A later goal that was met before its turn, and when.
    early: Option<(usize, f64)>,
    /// What begins after the last event.
    after: Option<Piece>,
    /// Whether time has passed since all of it happened.
    over: bool,
    /// When impacts accumulated before the last goal was met.
    rested: Option<f64>,
    /// The largest size of each velocity.
    fastest: Vec<f64>,
}

impl<'a> Recorder<'a> {
    fn new(start: &State<f64>, goals: &'a [Goal]) -> Self {
        let start = start.clone();
        Self {
            fastest: start.v.iter().map(|v| v.abs()).collect(),
            start,
            now: None,
            pieces: Vec::new(),
            events: Vec::new(),
            goals,
            met: 0,
            early: None,
            after: None,
            over: false,
            rested: None,
        }
    }

    fn cut(&mut self) {
        if let Some(piece) = self.now.take() {
            self.pieces.push(piece);
            self.events.push(Vec::new());
        }
    }

    /// A piece from the last start to a state.
    fn piece<Y: Contacts>(&self, y: &Hybrid<'_, Y>, end: &State<f64>) -> Piece {
        Piece {
            modes: y.modes().to_vec(),
            latched: y.latched().to_vec(),
            creep: y.creep().to_vec(),
            start: self.start.clone(),
            end: end.clone(),
        }
    }

    /// How fast the motion is, and to what it is known.
    fn pace(&self, settings: Settings) -> Pace<'_> {
        let events = self.events.iter().map(Vec::len).sum();
        Pace { fastest: &self.fastest, tolerance: settings.tolerance.relative, events }
    }

    /// Whether there are goals and nothing is left of them.
    fn done(&self) -> bool {
        !self.goals.is_empty() && self.met == self.goals.len()
    }
}

impl<Y: Contacts> Observer<Y> for Recorder<'_> {
    fn on_step(&mut self, y: &Hybrid<'_, Y>, moment: &Moment<'_>) -> Flow {
        self.over |= self.done() || self.early.is_some() || self.rested.is_some();
        if self.over {
            return Flow::Stop;
        }
        self.fastest.iter_mut().zip(&moment.state.v).for_each(|(fastest, v)| *fastest = fastest.max(v.abs()));
        match &mut self.now {
            Some(now) if now.modes == y.modes() => now.end.clone_from(moment.state),
            now => {
                // With two tangents the direction of a mode is renewed on the way, which is no event.
                if let Some(now) = now {
                    self.start = now.end.clone();
                    self.cut();
                }
                self.now = Some(self.piece(y, moment.state));
            }
        }
        Flow::Continue
    }
    fn on_event(&mut self, y: &Hybrid<'_, Y>, event: &Event, s: &State<f64>) {
        if self.over {
            return;
        }
        self.cut();
        self.start = s.clone();
        self.after = Some(self.piece(y, s));
        // What happens before any step belongs to the start.
        let Some(list) = self.events.last_mut() else { return };
        list.push(event.clone());
        // A motion that comes to rest has no derivative beyond, and goals are met again and again on the way there.
        if event.kind == Kind::Rest && !self.goals.is_empty() && !self.done() {
            self.rested = Some(event.t);
        }
        let meets = |goal: &Goal| event.kind == goal.kind && event.contacts.contains(&goal.contact);
        let left = &self.goals[self.met..];
        if left.first().is_some_and(meets) {
            self.met += 1;
        } else if let Some(k) = left.iter().position(meets) {
            self.early = Some((self.met + k, event.t));
        }
    }
}

/// Runs a motion and collects its pieces. Latches that hold are those given, and afterwards those of the end.
fn record<'a, Y: Contacts>(
    model: &Y,
    s: &mut State<f64>,
    latched: &mut [bool],
    until: f64,
    goals: &'a [Goal],
    options: &Options,
    settings: Settings,
) -> Result<Recorder<'a>, AnalysisError> {
    let mut hybrid = Hybrid::new(model);
    hybrid.set_latched(latched);
    let mut integrator = integrator(settings)?;
    let mut recorder = Recorder::new(s, goals);
    let span = Span::new(s.t, until, 0.0);
    let integrator: &mut dyn Integrator<Hybrid<'_, Y>> = &mut integrator;
    let options = Options { creep: creep(options, settings), ..options.clone() };
    simulate(&mut hybrid, s, integrator, &span, &options, &mut (), &mut recorder).ending?;
    latched.copy_from_slice(hybrid.latched());
    if !recorder.done() {
        recorder.cut();
    }
    Ok(recorder)
}

/// The speed up to which slips that start with two tangents are led in their first direction. Changes know that direction as constant, so that they are off by a part of the
/// order of this speed; it must exceed the error of velocities, and what counts as rest, by far.
fn creep(options: &Options, settings: Settings) -> f64 {
    options.creep.min((1e4 * settings.tolerance.relative).max(1e2 * options.rest))
}

/// How long before its end a piece is left by changes, in seconds: where a slip with two tangents stops, its direction is lost in rounding and the linearised equations with
/// it. That is when the slip has the speed of [`creep`], of which what changes do in this time is a part.
fn rest_of_slip<Y: Contacts>(
    model: &Y,
    piece: &Piece,
    events: &[Event],
    options: &Options,
    settings: Settings,
) -> Result<f64, AnalysisError> {
    let slowing = lead(&mut piece.hybrid(model), &piece.end, events)?;
    let all = piece.end.t - piece.start.t;
    Ok(slowing.map_or(0.0, |slowing| (creep(options, settings) / slowing).min(0.5 * all)))
}

/// The latches that hold at the beginning of a motion.
fn latches<Y: Contacts>(model: &Y) -> Vec<bool> {
    Hybrid::new(model).latched().to_vec()
}

/// Carries changes along the pieces of a motion and through all events between them. Each time `every` seconds have passed, and at the end,
/// `pause` sees them.
fn carry<Y: Contacts>(
    model: &Y,
    recorder: &Recorder<'_>,
    columns: &mut Matrix,
    options: &Options,
    settings: Settings,
    every: f64,
    pause: &mut dyn FnMut(&mut Matrix),
) -> Result<(), AnalysisError> {
    let mut pace = Pace { events: 0, ..recorder.pace(settings) };
    let mut due = recorder.pieces.first().map_or(0.0, |piece| piece.start.t) + every;
    for (k, piece) in recorder.pieces.iter().enumerate() {
        let hybrid = piece.hybrid(model);
        let mut motion = Motion::new(&hybrid, settings);
        let mut at = piece.start.clone();
        let end = piece.end.t - rest_of_slip(model, piece, &recorder.events[k], options, settings)?;
        while end > at.t {
            motion.advance(&mut at, columns, due.min(end))?;
            if at.t >= due {
                pause(columns);
                due += every;
            }
        }
        if piece.end.t > at.t {
            // The rest is so short that one step of first order is exact.
            let mut rates = Matrix::zeros(columns.rows(), columns.cols());
            motion.variation().motion(&hybrid, &at)?;
            motion.variation().changes(&hybrid, &at, columns, &mut rates)?;
            *columns = columns.plus(piece.end.t - at.t, &rates);
        }
        pace.events += recorder.events[k].len();
        if let Some(next) = recorder.pieces.get(k + 1) {
            pass(model, piece, next, &recorder.events[k], columns, Clock::Fixed, pace, options)?;
        }
    }
    pause(columns);
    Ok(())
}

/// Moves a state of a model with contacts (made by [`Hybrid::state`]), and changes of it (columns), to a later time. Returns the events.
///
/// # Errors
/// Those of the run, and [`AnalysisError::Invalid`] or [`AnalysisError::Grazing`] for events without a derivative.
pub fn flow<Y: Contacts>(
    model: &Y,
    s: &mut State<f64>,
    columns: &mut Matrix,
    until: f64,
    options: &Options,
    settings: Settings,
) -> Result<Vec<Event>, AnalysisError> {
    let recorder = record(model, s, &mut latches(model), until, &[], options, settings)?;
    if columns.cols() > 0 {
        carry(model, &recorder, columns, options, settings, f64::INFINITY, &mut |_| ())?;
    }
    Ok(recorder.events.into_iter().flatten().collect())
}

/// Moves a state, and changes of it, to the last of some events and through it. Each neighbour is carried to the event of its own: its
/// time changes with it. Returns the events.
///
/// # Errors
/// Those of [`flow`], [`AnalysisError::NoEvent`] if the events do not come in time, and [`AnalysisError::Invalid`] if they come in another order.
pub fn flow_to<Y: Contacts>(
    model: &Y,
    s: &mut State<f64>,
    columns: &mut Matrix,
    goals: &[Goal],
    until: f64,
    options: &Options,
    settings: Settings,
) -> Result<Vec<Event>, AnalysisError> {
    let recorder = record(model, s, &mut latches(model), until, goals, options, settings)?;
    let word = |goal: &Goal| format!("{} of `{}`", goal.kind.name(), model.contact_name(goal.contact));
    if let Some((k, t)) = recorder.early {
        let reason = format!("at t = {t} s {} came before {}", word(&goals[k]), word(&goals[recorder.met]));
        return Err(AnalysisError::Invalid { reason });
    }
    if let Some(t) = recorder.rested.filter(|_| !recorder.done()) {
        return Err(AnalysisError::TooManyEvents { t, events: recorder.events.iter().map(Vec::len).sum() });
    }
    if !recorder.done() {
        return Err(AnalysisError::NoEvent { t: until });
    }
    s.clone_from(&recorder.start);
    if columns.cols() > 0 {
        carry(model, &recorder, columns, options, settings, f64::INFINITY, &mut |_| ())?;
        let parts = (recorder.pieces.last(), &recorder.after, recorder.events.last());
        let (Some(last), Some(next), Some(events)) = parts else {
            return Err(AnalysisError::NoEvent { t: until });
        };
        pass(model, last, next, events, columns, Clock::Own, recorder.pace(settings), options)?;
    }
    Ok(recorder.events.into_iter().flatten().collect())
}

/// A sentence on a point that came down beside a hollow at the end of a motion to the last of some events; empty if there is none, or no such motion.
pub(crate) fn outside_hollow<Y: Contacts>(
    model: &Y,
    start: &State<f64>,
    goals: &[Goal],
    until: f64,
    options: &Options,
    settings: Settings,
) -> String {
    let recorder = record(model, &mut start.clone(), &mut latches(model), until, goals, options, settings);
    let Ok(Recorder { pieces, events, .. }) = recorder else { return String::new() };
    pieces.last().zip(events.last()).map_or(String::new(), |(piece, events)| beside_hollow(model, piece, events))
}

/// The integrator of runs.
fn integrator<Y: System>(settings: Settings) -> Result<RungeKutta<Y>, AnalysisError> {
    let tolerance = settings.tolerance.relative.max(1e-13);
    let tuning = Tuning::default().with("tolerance", tolerance).with("absolute", settings.tolerance.absolute);
    RungeKutta::dop853(&tuning).map_err(|error| AnalysisError::Invalid { reason: error.to_string() })
}

/// The modes in which a motion begins, and the contacts that latches hold then.
///
/// # Errors
/// Those of the beginning of a run: bodies inside each other, constraints that are not met.
pub fn beginning<Y: Contacts>(
    model: &Y,
    s: &State<f64>,
    options: &Options,
) -> Result<(Vec<Mode>, Vec<bool>), AnalysisError> {
    let mut hybrid = Hybrid::new(model);
    let mut integrator = integrator(Settings::default())?;
    let integrator: &mut dyn Integrator<Hybrid<'_, Y>> = &mut integrator;
    let mut at = s.clone();
    let span = Span::new(s.t, s.t, 0.0);
    simulate(&mut hybrid, &mut at, integrator, &span, options, &mut (), &mut ()).ending?;
    Ok((hybrid.modes().to_vec(), hybrid.latched().to_vec()))
}

/// The model in the modes in which a motion begins.
fn opening<'m, Y: Contacts>(model: &'m Y, s: &State<f64>, options: &Options) -> Result<Hybrid<'m, Y>, AnalysisError> {
    let (modes, _) = beginning(model, s, options)?;
    let mut hybrid = Hybrid::new(model);
    hybrid.set_modes(&modes);
    Ok(hybrid)
}
