//! The driver of a run: initial values, integrator, recording, audit, and the summary at the end.

use super::audit::Audit;
use super::channels::{Channels, check_patterns, matches};
use super::checkpoint::{Written, pack, unpack};
use super::figures::check_figures;
use super::start;
use super::triggers::ChannelTriggers;
use crate::model::{Model, ModelError};
use crate::picture::{Film, PATTERNS};
use crate::record::{Checkpoint, CheckpointError, FinalState, Setting, Status, Summary};
use crate::scene::{self, Problems, Scene, SceneError};
use dalembert_methods::State;
use dalembert_methods::events::{Crossing, Hit};
use dalembert_methods::integrate::{self, Ending, Flow, IntegrateError, Reaction, Span};
use dalembert_methods::nonsmooth::{self, ContactError, Contacts, Hybrid, Kind, Moment, Observer};
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
}

impl RunError {
    /// The same as a fault of the scene, at the entry that is to blame; none if no single entry is.
    pub fn place(&self, scene: &Scene) -> Option<SceneError> {
        let document = scene.document.as_ref()?;
        let find = |section: &str, name: &str| scene::maker(document, section, name).map(|(entry, _)| entry);
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
            Self::Integrator(message) | Self::Checkpoint(message) => f.write_str(message),
            Self::UnknownChannel { event, channel, near } => {
                write!(f, "event `{event}` watches `{channel}`, which is not a channel")?;
                near.as_ref().map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
            }
            Self::UnmatchedPattern { pattern, near, .. } => {
                write!(f, "no channel matches `{pattern}` of `output.channels`")?;
                near.as_ref().map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
            }
            Self::Channels(error) => error.fmt(f),
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
    /// The energy ledger does not close.
    Ledger {
        /// The largest imbalance, in J.
        imbalance: f64,
        /// When, in s.
        time: f64,
        /// What was allowed, in J.
        allowance: f64,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integrate(error) => error.fmt(f),
            Self::Ledger { imbalance, time, allowance } => write!(
                f,
                "the energy ledger does not close: at t = {time} s it is off by {imbalance:.3e} J, allowed are \
                 {allowance:.3e} J; try a tighter tolerance, and check that forces and energies of custom elements agree"
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
    let model = &scene.model;
    let settings = scene.run.integrator_settings();
    let mut y = Hybrid::new(model);
    let mut integrator = integrate::create::<Hybrid<'_, Model>>(&scene.run.integrator, &settings)
        .map_err(|error| RunError::Integrator(error.to_string()))?;
    let about = integrator.about();
    check_patterns(model, &scene.output.channels)?;
    check_figures(scene)?;
    let (channels, kept) = Kept::of(model, &scene.output.channels);
    let select = |places: &[usize]| places.iter().map(|&i| channels.channels()[i].clone()).collect::<Vec<_>>();
    let trajectory = Trajectory::new(select(&kept.recorded)).map_err(RunError::Channels)?;
    let film = Film::new(&select(&kept.filmed));
    let mut triggers = ChannelTriggers::new(model, &scene.events)?;
    let every = if scene.output.every > 0.0 { scene.output.every } else { (scene.run.until - scene.run.start) / ROWS };
    let span = Span::new(scene.run.start, scene.run.until, every);
    let scene_text = scene.to_toml();
    let absolute = match settings.iter().find(|(name, _)| *name == "absolute") {
        Some((_, value)) if value > 0.0 => value,
        _ => scene.run.tolerance,
    };

    let mut state = y.state(start::written(scene));
    let options = scene.run.contacts.options();
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
    let result = match resume {
        None => {
            start::prepare(scene, &mut state)?;
            observer.audit.observe(model, &state, 0.0);
            nonsmooth::simulate(&mut y, &mut state, &mut *integrator, &span, &options, &mut triggers, &mut observer)
        }
        Some(checkpoint) => {
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
            let progress = unpacked.progress;
            nonsmooth::resume(
                &mut y,
                &mut state,
                &mut *integrator,
                &span,
                &options,
                &mut triggers,
                &mut observer,
                &progress,
            )
        }
    };
    let ending = match result.ending {
        // Nothing was computed yet: the scene is to blame, not the run.
        Err(error) if observer.steps.is_empty() => return Err(RunError::Start(error)),
        Err(error) => Err(Failure::Integrate(error)),
        Ok(ending) => match observer.error.take() {
            Some(error) => Err(Failure::Integrate(error)),
            None => Ok(ending),
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
    let checkpoint = interrupted.then(|| pack(&state, &result.progress, &written));
    let ledger = observer.audit.ledger();
    let failure = match ending {
        Err(failure) => Some(failure),
        Ok(_) if !ledger.closes => Some(Failure::Ledger {
            imbalance: ledger.worst_imbalance,
            time: ledger.worst_imbalance_time,
            allowance: ledger.allowance,
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
        start_time: scene.run.start,
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

/// What an event is called in the record: name, channel, level, unit.
struct Named {
    name: String,
    channel: String,
    level: f64,
    unit: String,
}

fn describe_triggers(scene: &Scene, triggers: &ChannelTriggers) -> Vec<Named> {
    let describe = |(i, (name, _)): (usize, &(String, _))| {
        let channel = triggers.channel(i);
        Named {
            name: name.clone(),
            channel: channel.name.clone(),
            level: triggers.level(i),
            unit: channel.unit.clone(),
        }
    };
    scene.events.iter().enumerate().map(describe).collect()
}

/// Which of the computed channels go where.
struct Kept {
    /// Those the scene asks for.
    recorded: Vec<usize>,
    /// Those a film needs.
    filmed: Vec<usize>,
}

impl Kept {
    /// The channels that a scene and a film need together, and the places of each in a row.
    fn of<'m>(model: &Model, wanted: &[String]) -> (Channels<'m>, Self) {
        let film = PATTERNS.map(str::to_owned);
        let all = if wanted.is_empty() { Vec::new() } else { [wanted, &film].concat() };
        let channels = Channels::new(model, &all);
        // The time comes first, whatever the patterns.
        let pick = |patterns: &[String]| -> Vec<usize> {
            let any = |name: &str| patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, name));
            let names = channels.channels().iter().enumerate();
            names.filter(|(i, channel)| *i == 0 || any(&channel.name)).map(|(i, _)| i).collect()
        };
        let kept = Self { recorded: pick(wanted), filmed: pick(&film) };
        (channels, kept)
    }
}

/// Writes down what happens.
struct Recorder<'a> {
    model: &'a Model,
    /// The contacts in the modes of the state being recorded.
    contacts: Hybrid<'a, Model>,
    channels: Channels<'a>,
    /// The values of all channels, and of those that are recorded.
    all: Vec<f64>,
    row: Vec<f64>,
    kept: Kept,
    trajectory: Trajectory,
    film: Film,
    steps: Vec<(f64, f64)>,
    events: Vec<Event>,
    audit: Audit,
    names: Vec<Named>,
    scene: &'a str,
    error: Option<IntegrateError>,
    watcher: &'a mut dyn Watcher,
}

impl Observer<Model> for Recorder<'_> {
    fn on_output(&mut self, y: &Hybrid<'_, Model>, s: &State<f64>) {
        if self.contacts.modes() != y.modes() {
            self.contacts.set_modes(y.modes());
        }
        match self.channels.sample(&self.contacts, s, &mut self.all) {
            Ok(()) => {
                for (out, &i) in self.row.iter_mut().zip(&self.kept.recorded) {
                    *out = self.all[i];
                }
                self.trajectory.push(&self.row);
                self.film.push(self.kept.filmed.iter().map(|&i| self.all[i]));
                self.watcher.frame(&self.film);
            }
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
    }

    fn on_step(&mut self, _y: &Hybrid<'_, Model>, moment: &Moment<'_>) -> Flow {
        self.steps.push((moment.step.t, moment.step.h));
        self.audit.observe(self.model, moment.state, moment.step.error);
        let written = Written {
            scene: self.scene,
            trajectory: &self.trajectory,
            film: &self.film,
            steps: &self.steps,
            events: &self.events,
            audit: &self.audit,
        };
        self.watcher.checkpoint(&|| pack(moment.state, &moment.progress(), &written));
        let go_on = self.watcher.step(moment.state.t, moment.counts.steps);
        if go_on && self.error.is_none() { Flow::Continue } else { Flow::Stop }
    }

    fn on_trigger(&mut self, _y: &Hybrid<'_, Model>, hits: &[Hit], _s: &mut State<f64>) -> Reaction {
        for hit in hits {
            let named = &self.names[hit.trigger];
            let kind = match hit.crossing {
                Crossing::Rising => "rising",
                Crossing::Falling => "falling",
                Crossing::Touching => "touching",
            };
            let event = Event {
                time: hit.t,
                kind: kind.to_owned(),
                element: format!("event.{}", named.name),
                marker: named.channel.clone(),
                value: named.level,
                unit: named.unit.clone(),
            };
            self.watcher.event(&event);
            self.events.push(event);
        }
        Reaction::Continue
    }

    fn on_event(&mut self, _y: &Hybrid<'_, Model>, event: &nonsmooth::Event, _s: &State<f64>) {
        let unit = if event.kind == Kind::Impact { "N s" } else { "N" };
        for (&contact, values) in event.contacts.iter().zip(&event.values) {
            let pair = &self.model.layout.pairs[contact];
            let event = Event {
                time: event.t,
                kind: event.kind.name().to_owned(),
                element: format!("contact.{}", self.model.contacts[pair.element].name),
                marker: self.model.markers[pair.markers[1]].name.clone(),
                value: values[0],
                unit: unit.to_owned(),
            };
            self.watcher.event(&event);
            self.events.push(event);
        }
    }
}
