//! The driver of a run: initial values, integrator, recording, audit, and the summary at the end.

use super::audit::Audit;
use super::channels::check_patterns;
use super::checkpoint::{Written, pack, unpack};
use super::figures::check_figures;
use super::recorder::{Kept, Recorder, describe_triggers, progress_of};
use super::start::{self, Method};
use super::triggers::ChannelTriggers;
use crate::callback::CallbackError;
use crate::model::{Model, ModelError};
use crate::picture::Film;
use crate::record::{Checkpoint, CheckpointError, FinalState, Setting, Status, Summary};
use crate::scene::{self, Problems, Scene, SceneError};
use dalembert_methods::integrate::{self, Beside, Company, Ending, IntegrateError, RungeKutta, Span, now};
use dalembert_methods::nonsmooth::{self, ContactError, Contacts, Hybrid};
use dalembert_methods::trajectory::{Event, Trajectory, TrajectoryError};
use std::collections::BTreeMap;
use std::fmt;

/// The number of rows when a scene does not say how often to record.
const ROWS: f64 = 1000.0;

/// Somebody who watches a run from outside: a progress bar, a key, a disk.
pub trait Watcher {
    /// After every step: the time reached and the number of steps. `false` ends the run here.
    fn step(&mut self, _t: f64, _steps: u64) -> bool {
        true
    }
    /// When an event has been located.
    fn event(&mut self, _event: &Event) {}
    /// After every row of output, which the film has just taken as its newest.
    fn frame(&mut self, _film: &Film) {}
    /// After every step: `pack` makes a checkpoint, which costs time; call it when one is due.
    fn checkpoint(&mut self, _pack: &dyn Fn() -> Checkpoint) {}
}

/// Nobody watches.
impl Watcher for () {}

/// Why a run did not start.
#[derive(Clone, Debug)]
pub enum RunError {
    /// The integrator refused, or the initial values are inconsistent.
    Start(IntegrateError),
    /// Elements that cannot start where they are.
    Elements(Vec<ModelError>),
    /// The integrator or its settings are not known.
    Integrator(String),
    /// An event watches a channel that does not exist.
    UnknownChannel {
        /// The event.
        event: String,
        /// The channel it names.
        channel: String,
        /// The channel perhaps meant.
        near: Option<String>,
    },
    /// A pattern of `output.channels` that no channel matches.
    UnmatchedPattern {
        /// Its position in the list.
        index: usize,
        /// The pattern.
        pattern: String,
        /// The channel perhaps meant.
        near: Option<String>,
    },
    /// No channel, or a channel twice.
    Channels(TrajectoryError),
    /// The checkpoint cannot be used.
    Checkpoint(String),
    /// The state to begin at has not the coordinates of the scene.
    State(String),
    /// A function from outside failed.
    Callback(CallbackError),
}

impl RunError {
    /// The same as a fault of the scene, at the entry that is to blame; none if no single entry is.
    pub fn place(&self, scene: &Scene) -> Option<SceneError> {
        let document = scene.document.as_ref()?;
        let find = |section: &str, name: &str| scene::maker(document, section, name);
        match self {
            Self::UnknownChannel { event, channel, near } => {
                let help = near.as_ref().map(|near| format!("did you mean `{near}`?"));
                Some(find("event", event)?.error(
                    "channel",
                    format!("there is no channel `{channel}`"),
                    help.as_deref(),
                ))
            }
            Self::UnmatchedPattern { index, pattern, near } => {
                let help = near.as_ref().map(|near| format!("did you mean `{near}`?"));
                let message = format!("no channel matches `{pattern}`");
                Some(document.table("output")?.error(&format!("channels.{index}"), message, help.as_deref()))
            }
            Self::Start(
                error @ (IntegrateError::Inconsistent { constraint, .. }
                | IntegrateError::Contradictory { constraint, .. }),
            ) => {
                let (section, name) = constraint.split_once('.')?;
                Some(find(section, name)?.error("", error.to_string(), None))
            }
            Self::Start(error @ IntegrateError::Contact(ContactError::Penetration { contact, .. })) => {
                let name = contact.split('.').nth(1)?;
                Some(find("contact", name)?.error("", error.to_string(), None))
            }
            Self::Elements(errors) => {
                let mut problems = Problems::default();
                errors.iter().for_each(|error| problems.push(scene::place(document, error)));
                problems.or(()).err()
            }
            _ => None,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => error.fmt(f),
            Self::Elements(errors) => {
                f.write_str(&errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            }
            Self::Integrator(message) | Self::Checkpoint(message) | Self::State(message) => f.write_str(message),
            Self::UnknownChannel { event, channel, near } => {
                write!(f, "event `{event}` watches `{channel}`, which is not a channel")?;
                near.as_ref().map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
            }
            Self::UnmatchedPattern { pattern, near, .. } => {
                write!(f, "no channel matches `{pattern}` of `output.channels`")?;
                near.as_ref().map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
            }
            Self::Channels(error) => error.fmt(f),
            Self::Callback(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl From<CheckpointError> for RunError {
    fn from(error: CheckpointError) -> Self {
        Self::Checkpoint(error.to_string())
    }
}

/// Why a run failed after it had started; its results up to there are kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The integrator could not go on.
    Integrate(IntegrateError),
    /// A function from outside failed.
    Callback(CallbackError),
    /// A force dissipates less than nothing, against the dissipation inequality.
    Gain {
        /// The force, as in `force.spring`.
        force: String,
        /// When, in s.
        time: f64,
        /// Its dissipation, in W.
        dissipation: f64,
    },
    /// The energy ledger does not close.
    Ledger {
        /// The largest imbalance, in J.
        imbalance: f64,
        /// When, in s.
        time: f64,
        /// What was allowed, in J.
        allowance: f64,
        /// What to try.
        advice: &'static str,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integrate(error) => error.fmt(f),
            Self::Callback(error) => error.fmt(f),
            Self::Gain { force, time, dissipation } => write!(
                f,
                "`{force}` creates energy: at t = {time} s its dissipation is {dissipation:.3e} W, below zero; check its coefficients \
                 and its signals"
            ),
            Self::Ledger { imbalance, time, allowance, advice } => write!(
                f,
                "the energy ledger does not close: at t = {time} s it is off by {imbalance:.3e} J, allowed are \
                 {allowance:.3e} J; {advice}"
            ),
        }
    }
}

/// What a run has brought.
pub struct Outcome {
    /// The summary; `wall_time` is left to whoever has a clock.
    pub summary: Summary,
    /// The recorded channels.
    pub trajectory: Trajectory,
    /// The motion, for pictures.
    pub film: Film,
    /// Start and size of every step, in s.
    pub steps: Vec<(f64, f64)>,
    /// The events.
    pub events: Vec<Event>,
    /// The scene as run.
    pub scene: String,
    /// What went wrong, if anything.
    pub failure: Option<Failure>,
    /// Where to continue, if the run was interrupted.
    pub checkpoint: Option<Checkpoint>,
}

/// Runs a scene, or continues it from a checkpoint.
pub fn run(
    scene: &Scene,
    name: &str,
    resume: Option<&Checkpoint>,
    watcher: &mut dyn Watcher,
) -> Result<Outcome, RunError> {
    now(drive_with_callbacks(scene, name, resume.map_or(Begin::Written, Begin::Resume), watcher, Manner::<()>::Whole))
}

/// Runs a scene for its figures alone, as one of many: without film, text and checkpoint. Where its integrator is an explicit Runge–Kutta method its rates are
/// computed in the company given; the future waits where the company does.
pub async fn run_one_of_many<'a>(
    scene: &'a Scene,
    name: &str,
    watcher: &mut dyn Watcher,
    company: Option<impl Company<Hybrid<'a, Model>>>,
) -> Result<Outcome, RunError> {
    drive_with_callbacks(scene, name, Begin::Written, watcher, Manner::Figures(company)).await
}

/// The same by itself.
pub fn run_figures(scene: &Scene, name: &str, watcher: &mut dyn Watcher) -> Result<Outcome, RunError> {
    now(run_one_of_many(scene, name, watcher, None::<()>))
}

/// What is kept of a run, and in which company it is made.
enum Manner<C> {
    /// Everything.
    Whole,
    /// Numbers only.
    Figures(Option<C>),
}

/// Runs a scene from where another run has ended, which may have had other parameters. Its own start is not used; energies are
/// accounted for from here on.
pub fn run_from(scene: &Scene, name: &str, from: &FinalState, watcher: &mut dyn Watcher) -> Result<Outcome, RunError> {
    now(drive_with_callbacks(scene, name, Begin::At(from), watcher, Manner::<()>::Whole))
}

/// Where a run begins.
#[derive(Copy, Clone)]
enum Begin<'a> {
    /// As the scene says.
    Written,
    /// At a given state.
    At(&'a FinalState),
    /// Where an earlier run of the same scene was interrupted.
    Resume(&'a Checkpoint),
}

/// Drives a run and names the callback that has ended it, if one has.
async fn drive_with_callbacks<'a>(
    scene: &'a Scene,
    name: &str,
    begin: Begin<'_>,
    watcher: &mut dyn Watcher,
    manner: Manner<impl Company<Hybrid<'a, Model>>>,
) -> Result<Outcome, RunError> {
    let faults = &scene.callbacks.faults;
    faults.take();
    let result = drive(scene, name, begin, watcher, manner).await;
    let Some(fault) = faults.take() else { return result };
    let mut outcome = result.map_err(|_| RunError::Callback(fault.clone()))?;
    outcome.summary.status = Status::Failed;
    outcome.summary.error = Some(fault.to_string());
    outcome.failure = Some(Failure::Callback(fault));
    Ok(outcome)
}

async fn drive<'a>(
    scene: &'a Scene,
    name: &str,
    begin: Begin<'_>,
    watcher: &mut dyn Watcher,
    manner: Manner<impl Company<Hybrid<'a, Model>>>,
) -> Result<Outcome, RunError> {
    let model = &scene.model;
    let settings = scene.run.integrator_settings();
    let mut y = Hybrid::new(model);
    let mut method = Method::of(scene)?;
    let about = method.about();
    let (whole, company) = match manner {
        Manner::Whole => (true, None),
        Manner::Figures(company) => (false, company),
    };
    let (channels, kept) = Kept::of(model, &scene.output.channels, whole);
    check_patterns(model, &scene.output.channels, channels.channels())?;
    check_figures(scene)?;
    let select = |places: &[usize]| places.iter().map(|&i| channels.channels()[i].clone()).collect::<Vec<_>>();
    let trajectory = Trajectory::new(select(&kept.recorded)).map_err(RunError::Channels)?;
    let film = Film::new(&select(&kept.filmed));
    let mut triggers = ChannelTriggers::new(model, &scene.events)?;
    let every = if scene.output.every > 0.0 { scene.output.every } else { (scene.run.until - scene.run.start) / ROWS };
    let start = if let Begin::At(from) = begin { from.time } else { scene.run.start };
    let span = Span::new(start, scene.run.until, every);
    let scene_text = if whole { scene.to_toml() } else { String::new() };
    let absolute = match settings.iter().find(|(name, _)| *name == "absolute") {
        Some((_, value)) if value > 0.0 => value,
        _ => scene.run.tolerance,
    };

    let mut state = y.state(start::written(scene));
    let options = scene.run.contacts.options(scene.run.tolerance);
    let mut observer = Recorder {
        model,
        contacts: Hybrid::new(model),
        all: vec![0.0; channels.channels().len()],
        row: vec![0.0; kept.recorded.len()],
        channels,
        kept,
        trajectory,
        film,
        steps: Vec::new(),
        events: Vec::new(),
        audit: Audit::new(model, scene.run.tolerance, absolute, scene.run.ledger_factor),
        names: describe_triggers(scene, &triggers),
        scene: &scene_text,
        error: None,
        watcher,
    };
    if about.parameters.iter().any(|p| p.name == "chord") {
        observer.audit.set_chord(settings.get(about, "chord"));
    }
    if let Begin::At(from) = begin {
        start::place(&mut state, from)?;
    }
    let progress = match begin {
        Begin::Written | Begin::At(_) => {
            start::prepare(scene, &mut state)?;
            // Methods without error control have no tolerance to allow for.
            let error = about.parameters.iter().any(|p| p.name == "absolute").then_some(0.0);
            observer.audit.observe(model, &state, error);
            None
        }
        Begin::Resume(checkpoint) => {
            let unpacked = unpack(
                checkpoint,
                &scene_text,
                &state,
                &observer.trajectory,
                &mut observer.film,
                &mut observer.audit,
                Contacts::contacts(model),
            )?;
            state = unpacked.state;
            observer.trajectory = unpacked.trajectory;
            observer.steps = unpacked.steps;
            observer.events = unpacked.events;
            Some(unpacked.progress)
        }
    };
    let own = company.and_then(|company| Some((RungeKutta::named(about.name, &settings)?.ok()?, company)));
    let beside = own.map(|(method, company)| Beside::new(method, company));
    let result = match (&mut method, &progress) {
        (Method::Located(integrator), None) => match beside {
            None => {
                let integrator = &mut **integrator;
                nonsmooth::simulate(&mut y, &mut state, integrator, &span, &options, &mut triggers, &mut observer)
            }
            Some(mut pace) => {
                let (triggers, observer) = (&mut triggers, &mut observer);
                nonsmooth::simulate_at(&mut y, &mut state, &mut pace, &span, &options, triggers, observer).await
            }
        },
        (Method::Located(integrator), Some(progress)) => nonsmooth::resume(
            &mut y,
            &mut state,
            &mut **integrator,
            &span,
            &options,
            &mut triggers,
            &mut observer,
            progress,
        ),
        (Method::Stepped(moreau), None) => stepped(model, moreau.simulate(model, &mut state, &span, &mut observer)),
        (Method::Stepped(moreau), Some(progress)) => {
            stepped(model, moreau.resume(model, &mut state, &span, &mut observer, &progress.run))
        }
    };
    let ending = match result.ending {
        // Nothing was computed yet: the scene is to blame, not the run.
        Err(error) if observer.steps.is_empty() => return Err(RunError::Start(error)),
        Err(error) => Err(Failure::Integrate(error)),
        Ok(ending) => match observer.error.take() {
            Some(error) => Err(Failure::Integrate(error)),
            None => match observer.audit.gain() {
                Some((force, time, dissipation)) => {
                    let force = &model.forces[force];
                    Err(Failure::Gain { force: format!("{}.{}", force.section, force.name), time, dissipation })
                }
                None => Ok(ending),
            },
        },
    };
    let interrupted = ending == Ok(Ending::Stopped);
    let written = Written {
        scene: &scene_text,
        trajectory: &observer.trajectory,
        film: &observer.film,
        steps: &observer.steps,
        events: &observer.events,
        audit: &observer.audit,
    };
    let checkpoint = (interrupted && whole).then(|| pack(&state, &result.progress, &written));
    let ledger = observer.audit.ledger();
    let failure = match ending {
        Err(failure) => Some(failure),
        Ok(_) if !ledger.closes => Some(Failure::Ledger {
            imbalance: ledger.worst_imbalance,
            time: ledger.worst_imbalance_time,
            allowance: ledger.allowance,
            advice: advice(about),
        }),
        Ok(_) => None,
    };
    let status = match (&failure, interrupted) {
        (Some(_), _) => Status::Failed,
        (None, true) => Status::Interrupted,
        (None, false) => Status::Completed,
    };
    let value = |p: &integrate::Parameter| (p.name.to_owned(), Setting::Number(settings.get(about, p.name)));
    let settings: BTreeMap<String, Setting> = about.parameters.iter().map(value).collect();
    let summary = Summary {
        name: name.to_owned(),
        title: scene.info.title.clone(),
        status,
        error: failure.as_ref().map(ToString::to_string),
        integrator: about.name.to_owned(),
        settings,
        tolerance: Some(scene.run.tolerance),
        start_time: start,
        end_time: state.t,
        counts: result.counts.named().map(|(name, count)| (name.to_owned(), count)).into(),
        ledger,
        final_state: FinalState { time: state.t, q: state.q, v: state.v, x: state.x },
        events: observer.events.len() as u64,
        rows: observer.trajectory.len() as u64,
        channels: observer.trajectory.channels().iter().map(Into::into).collect(),
        ..Summary::default()
    };
    let Recorder { trajectory, film, steps, events, .. } = observer;
    Ok(Outcome { summary, trajectory, film, steps, events, scene: scene_text, failure, checkpoint })
}

/// What to try where energies are not kept.
fn advice(about: &integrate::About) -> &'static str {
    let has = |name: &str| about.parameters.iter().any(|p| p.name == name);
    if has("micro_steps") {
        "macro steps near a multiple of half a period of the fast motion resonate: change `fixed_step`; or forces and energies of custom elements disagree"
    } else if has("absolute") {
        "try a tighter tolerance, and check that forces and energies of custom elements agree"
    } else {
        "try a smaller step, and check that forces and energies of custom elements agree"
    }
}

/// The end of time stepping, in the words of a run with located events.
fn stepped(model: &Model, run: integrate::Run) -> nonsmooth::Run {
    let progress = progress_of(model, run.progress);
    nonsmooth::Run { ending: run.ending, counts: run.counts, progress }
}
