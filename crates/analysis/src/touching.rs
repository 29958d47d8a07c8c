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
//! with the rates F of the motion before and after it, and the derivative R′ of the jump, which for an impact follows from
//!
//! ```text
//! M (v⁺ − v⁻) + Gᵀλ = 0,     G v⁺ + E G v⁻ = 0
//! ```
//!
//! over all rows that take part, E being the restitution of closing contacts. For other events R′ is the unit.
//!
//! Events of several contacts at once, impacts with sliding friction, accumulating impacts and slips with two tangents have no derivative here;
//! they are errors that say so. A contact that a latch holds takes part in all impacts, also in the one that releases it.
//!
//! Reference: Leine, Nijmeijer: Dynamics and Bifurcations of Non-Smooth Mechanical Systems, Springer 2004, chapters 7 and 8.

mod saltation;

use crate::dense::Matrix;
use crate::eigen::eigenvalues;
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::lyapunov::Spectrum;
use crate::motion::{ExponentOptions, Motion, Orbit, coordinates, not_repeated};
use dalembert_methods::integrate::{Flow, Integrator, RungeKutta, Settings as Tuning, Span};
use dalembert_methods::nonsmooth::{Contacts, Event, Hybrid, Kind, Mode, Moment, Observer, Options, simulate};
use dalembert_methods::system::{State, System};
use saltation::{Clock, pass};

/// Most Newton steps of a search.
const ITERATIONS: usize = 40;

/// A piece of a motion between two events.
struct Piece {
    modes: Vec<Mode>,
    latched: Vec<bool>,
    start: State<f64>,
    end: State<f64>,
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
    now: Option<(Vec<Mode>, Vec<bool>, State<f64>)>,
    pieces: Vec<Piece>,
    /// The events after each piece.
    events: Vec<Vec<Event>>,
    /// What is to happen, in this order, and how much of it has.
    goals: &'a [Goal],
    met: usize,
    /// A later goal that was met before its turn, and when.
    early: Option<(usize, f64)>,
    /// Modes and latches after the last event.
    after: (Vec<Mode>, Vec<bool>),
}

impl<'a> Recorder<'a> {
    fn new(start: &State<f64>, goals: &'a [Goal]) -> Self {
        let start = start.clone();
        Self {
            start,
            now: None,
            pieces: Vec::new(),
            events: Vec::new(),
            goals,
            met: 0,
            early: None,
            after: (Vec::new(), Vec::new()),
        }
    }

    fn cut(&mut self) {
        if let Some((modes, latched, end)) = self.now.take() {
            self.pieces.push(Piece { modes, latched, start: self.start.clone(), end });
            self.events.push(Vec::new());
        }
    }

    /// Whether there are goals and nothing is left of them.
    fn done(&self) -> bool {
        !self.goals.is_empty() && self.met == self.goals.len()
    }
}

impl<Y: Contacts> Observer<Y> for Recorder<'_> {
    fn on_step(&mut self, y: &Hybrid<'_, Y>, moment: &Moment<'_>) -> Flow {
        if self.done() || self.early.is_some() {
            return Flow::Stop;
        }
        self.now = Some((y.modes().to_vec(), y.latched().to_vec(), moment.state.clone()));
        Flow::Continue
    }
    fn on_event(&mut self, y: &Hybrid<'_, Y>, event: &Event, s: &State<f64>) {
        if self.done() && self.now.is_some() {
            return;
        }
        self.cut();
        self.start = s.clone();
        self.after = (y.modes().to_vec(), y.latched().to_vec());
        // What happens before any step belongs to the start.
        let Some(list) = self.events.last_mut() else { return };
        list.push(event.clone());
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
    let mut integrator = integrator(settings).map_err(|reason| AnalysisError::Invalid { reason })?;
    let mut recorder = Recorder::new(s, goals);
    let span = Span::new(s.t, until, 0.0);
    let integrator: &mut dyn Integrator<Hybrid<'_, Y>> = &mut integrator;
    simulate(&mut hybrid, s, integrator, &span, options, &mut (), &mut recorder).ending?;
    latched.copy_from_slice(hybrid.latched());
    if !recorder.done() {
        recorder.cut();
    }
    Ok(recorder)
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
    settings: Settings,
    every: f64,
    pause: &mut dyn FnMut(&mut Matrix),
) -> Result<(), AnalysisError> {
    let mut hybrid = Hybrid::new(model);
    let mut due = recorder.pieces.first().map_or(0.0, |piece| piece.start.t) + every;
    for (k, piece) in recorder.pieces.iter().enumerate() {
        hybrid.set_modes(&piece.modes);
        let mut motion = Motion::new(&hybrid, settings);
        let mut at = piece.start.clone();
        while piece.end.t > at.t {
            motion.advance(&mut at, columns, due.min(piece.end.t))?;
            if at.t >= due {
                pause(columns);
                due += every;
            }
        }
        if let Some(next) = recorder.pieces.get(k + 1) {
            pass(model, piece, next, &recorder.events[k], columns, Clock::Fixed)?;
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
        carry(model, &recorder, columns, settings, f64::INFINITY, &mut |_| ())?;
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
    if !recorder.done() {
        return Err(AnalysisError::NoEvent { t: until });
    }
    s.clone_from(&recorder.start);
    if columns.cols() > 0 {
        carry(model, &recorder, columns, settings, f64::INFINITY, &mut |_| ())?;
        let (modes, latched) = recorder.after.clone();
        let next = Piece { modes, latched, start: s.clone(), end: s.clone() };
        let (Some(last), Some(events)) = (recorder.pieces.last(), recorder.events.last()) else {
            return Err(AnalysisError::NoEvent { t: until });
        };
        pass(model, last, &next, events, columns, Clock::Own)?;
    }
    Ok(recorder.events.into_iter().flatten().collect())
}

/// Keeps the states at output times.
struct Keeper(Vec<State<f64>>);

impl<Y: Contacts> Observer<Y> for Keeper {
    fn on_output(&mut self, _y: &Hybrid<'_, Y>, s: &State<f64>) {
        self.0.push(s.clone());
    }
}

/// The states of a motion each `interval` seconds after its start, `count` of them, in one run through all events.
///
/// # Errors
/// Those of the run.
pub fn samples<Y: Contacts>(
    model: &Y,
    start: &State<f64>,
    interval: f64,
    count: usize,
    options: &Options,
    settings: Settings,
) -> Result<Vec<State<f64>>, AnalysisError> {
    let (mut hybrid, mut s) = (Hybrid::new(model), start.clone());
    let invalid = |reason: String| AnalysisError::Invalid { reason };
    let mut integrator = integrator(settings).map_err(invalid)?;
    let integrator: &mut dyn Integrator<Hybrid<'_, Y>> = &mut integrator;
    let mut keeper = Keeper(Vec::with_capacity(count + 1));
    let span = Span::new(s.t, s.t + interval * count as f64, interval);
    simulate(&mut hybrid, &mut s, integrator, &span, options, &mut (), &mut keeper).ending?;
    Ok(keeper.0.into_iter().skip(1).take(count).collect())
}

/// The integrator of runs.
fn integrator<Y: System>(settings: Settings) -> Result<RungeKutta<Y>, String> {
    let tolerance = settings.tolerance.relative.max(1e-13);
    let tuning = Tuning::default().with("tolerance", tolerance).with("absolute", settings.tolerance.absolute);
    RungeKutta::dop853(&tuning).map_err(|error| error.to_string())
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
    let invalid = |reason: String| AnalysisError::Invalid { reason };
    let mut integrator = RungeKutta::dop853(&Tuning::default()).map_err(|e| invalid(e.to_string()))?;
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

/// The matrix of one period of a motion with contacts, in a basis of changes; and where it is then.
///
/// # Errors
/// Those of [`flow`].
pub fn monodromy<Y: Contacts>(
    model: &Y,
    s: &State<f64>,
    period: f64,
    options: &Options,
    settings: Settings,
) -> Result<(Matrix, State<f64>), AnalysisError> {
    let hybrid = opening(model, s, options)?;
    let basis = Motion::new(&hybrid, settings).basis(s)?;
    let (mut end, mut columns) = (s.clone(), basis.clone());
    flow(model, &mut end, &mut columns, s.t + period, options, settings)?;
    Ok((coordinates(&basis, &columns)?, end))
}

/// The matrix of one period by central differences of fourth order of motions, with a step: an independent check of [`monodromy`].
///
/// # Errors
/// Those of [`flow`].
pub fn differences<Y: Contacts>(
    model: &Y,
    s: &State<f64>,
    period: f64,
    step: f64,
    options: &Options,
    settings: Settings,
) -> Result<Matrix, AnalysisError> {
    let hybrid = opening(model, s, options)?;
    let mut motion = Motion::new(&hybrid, settings);
    let basis = motion.basis(s)?;
    let mut none = Matrix::zeros(basis.rows(), 0);
    let mut reference = s.clone();
    flow(model, &mut reference, &mut none, s.t + period, options, settings)?;
    let mut out = Matrix::zeros(basis.rows(), basis.cols());
    for j in 0..basis.cols() {
        let mut moved = |times: f64| -> Result<Vec<f64>, AnalysisError> {
            let mut at = s.clone();
            let change: Vec<f64> = basis.column(j).iter().map(|c| times * step * c).collect();
            motion.shift(&mut at, &change)?;
            flow(model, &mut at, &mut none, s.t + period, options, settings)?;
            motion.difference(&reference, &at)
        };
        let [a, b, c, e] = [moved(-2.0)?, moved(-1.0)?, moved(1.0)?, moved(2.0)?];
        let column: Vec<f64> = (0..a.len()).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - e[i]) / (12.0 * step)).collect();
        out.set_column(j, &column);
    }
    coordinates(&basis, &out)
}

/// A periodic motion of a driven model with contacts near a state. Modes at its beginning are those of that state.
///
/// # Errors
/// Those of [`flow`], [`AnalysisError::NotIsolated`] and [`AnalysisError::NotConverged`].
pub fn orbit<Y: Contacts>(
    model: &Y,
    start: &State<f64>,
    period: f64,
    tolerance: f64,
    options: &Options,
    settings: Settings,
) -> Result<Orbit, AnalysisError> {
    let hybrid = opening(model, start, options)?;
    let mut motion = Motion::new(&hybrid, settings);
    if !motion.repeats(start, period)? {
        return Err(not_repeated(period));
    }
    let mut s = start.clone();
    let mut residual = f64::INFINITY;
    for iterations in 0..ITERATIONS {
        let basis = motion.basis(&s)?;
        let (map, end) = monodromy(model, &s, period, options, settings)?;
        let difference = motion.difference(&s, &end)?;
        residual = difference.iter().fold(0.0, |max: f64, d| max.max(d.abs()));
        if residual <= tolerance {
            let multipliers = eigenvalues(&map)?;
            return Ok(Orbit { state: s, period, multipliers, residual, iterations });
        }
        let gap = coordinates(&basis, &Matrix::from_rows(difference.len(), 1, difference))?;
        let matrix = Matrix::unit(map.rows()).plus(-1.0, &map);
        let step = matrix
            .solve_vector(gap.values(), "the equations of a cycle")
            .map_err(|_| AnalysisError::NotIsolated { what: "the cycle", ratio: f64::EPSILON })?;
        motion.shift(&mut s, &basis.apply(&step))?;
    }
    let advice = "start nearer to the cycle, for instance by letting the motion settle first";
    Err(AnalysisError::NotConverged { what: "the search for a cycle", iterations: ITERATIONS, residual, advice })
}

/// The Lyapunov exponents of a motion with contacts, through its events. For a driven model the phase of what drives it adds an exponent zero.
///
/// A contact that sticks, or closes for a while, forgets a direction: its exponent is −∞.
///
/// # Errors
/// Those of [`flow`]; [`AnalysisError::Invalid`] with fewer than two batches.
pub fn exponents<Y: Contacts>(
    model: &Y,
    start: &State<f64>,
    choice: &ExponentOptions,
    options: &Options,
    settings: Settings,
) -> Result<Spectrum, AnalysisError> {
    choice.check()?;
    let mut s = start.clone();
    let mut latched = latches(model);
    let until = s.t + choice.transient;
    record(model, &mut s, &mut latched, until, &[], options, settings)?;
    // The frame is taken with all contacts open; what is held at the beginning leaves it at once.
    let hybrid = Hybrid::new(model);
    let mut motion = Motion::new(&hybrid, settings);
    let driven = motion.driven(&s)?;
    let mut columns = motion.basis(&s)?;
    let mut means = Vec::with_capacity(choice.batches);
    for _ in 0..choice.batches {
        let until = s.t + choice.batch;
        let recorder = record(model, &mut s, &mut latched, until, &[], options, settings)?;
        let mut sums = vec![0.0; columns.cols()];
        let mut pause = |columns: &mut Matrix| {
            let mut left = vec![0.0; columns.cols()];
            columns.orthonormalise(&mut left);
            for (j, (sum, left)) in sums.iter_mut().zip(&left).enumerate() {
                let forgotten = columns.column(j).iter().all(|&c| c == 0.0);
                *sum += if forgotten { f64::NEG_INFINITY } else { left.ln() };
            }
        };
        carry(model, &recorder, &mut columns, settings, choice.interval, &mut pause)?;
        means.push(sums.iter().map(|s| s / choice.batch).chain(driven.then_some(0.0)).collect());
    }
    Ok(Spectrum::of_batches(&[means]))
}
