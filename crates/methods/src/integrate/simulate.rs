//! The loop of a run: step, locate events on the continuous output, record, react.
//!
//! Within a step everything happens in order of time: outputs up to an event (its own time included) come before it. An
//! observer may answer an event by changing the state; the integrator is then started anew from there.
//!
//! A run can be cut anywhere between two steps and continued with the same bits: the state, the [`Progress`] and the
//! original [`Span`] are all there is.

use super::{Alone, Counts, IntegrateError, Integrator, Pace, Step, now};
use crate::dynamics::{Dynamics, Shelf};
use crate::events::{Hit, Locator, Sight, Triggers, group};
use crate::system::{State, System};

/// Continuous output is projected to the constraints until a correction is below this, relative to the magnitudes.
/// Newton's method then leaves about its square.
const PROJECTION: f64 = 1e-8;

/// From when to when, and how often to record.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Span {
    /// Where the run (not its continuation) starts, in seconds.
    pub from: f64,
    /// Where it ends, in seconds.
    pub until: f64,
    /// Output k is at `from` + k·`interval`, in seconds; 0 for no outputs.
    pub interval: f64,
    /// Whether outputs, and the states of events, are projected to the constraints. Without it their
    /// residuals are those of the method's continuous output. A projection that fails ends the run.
    pub project: bool,
}

impl Span {
    /// A run from one time to another with outputs at an interval.
    pub fn new(from: f64, until: f64, interval: f64) -> Self {
        Self { from, until, interval, project: true }
    }

    /// The time of output `k`, if there is one: computed without accumulation, and the last one is `until` itself if it
    /// differs from it by rounding only.
    pub fn output(&self, k: u64) -> Option<f64> {
        if self.interval.is_nan() || self.interval <= 0.0 {
            return None;
        }
        let t = self.from + k as f64 * self.interval;
        let rounding = 4.0 * f64::EPSILON * (self.from.abs() + self.until.abs());
        if (t - self.until).abs() <= rounding {
            return Some(self.until);
        }
        (t < self.until).then_some(t)
    }
}

/// Whether to go on after a step.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop here, with everything computed so far.
    Stop,
}

/// The answer to events.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Take note and go on; changes to the state are dropped.
    Continue,
    /// Go on from the state as the observer left it, with a new start of the integrator.
    Restart,
    /// Stop exactly there.
    Stop,
}

/// Between two steps: what an observer may look at.
pub struct Moment<'a> {
    /// The step just made (up to the event, if one cut it short).
    pub step: Step,
    /// The state at its end.
    pub state: &'a State<f64>,
    /// The work of the whole run so far.
    pub counts: Counts,
    progress: &'a dyn Fn() -> Progress,
}

impl Moment<'_> {
    /// All that a continuation needs besides the state: for checkpoints. Allocates.
    pub fn progress(&self) -> Progress {
        (self.progress)()
    }
}

/// Who watches a run.
pub trait Observer {
    /// A state at an output time.
    fn on_output(&mut self, _s: &State<f64>) {}
    /// The frequencies in rad/s with which an integrator has fitted the step at hand, one for each velocity; before its outputs. Only where it has any.
    fn on_frequencies(&mut self, _frequencies: &[f64]) {}
    /// After every step: progress, checkpoints, interruption.
    fn on_step(&mut self, _moment: &Moment<'_>) -> Flow {
        Flow::Continue
    }
    /// Events that happened together, and the state there.
    fn on_event(&mut self, _hits: &[Hit], _s: &mut State<f64>) -> Reaction {
        Reaction::Continue
    }
}

/// Nobody watches.
impl Observer for () {}

/// All that a run depends on besides the system, the state and the span: plain numbers, to be stored and taken back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// The index of the next output.
    pub next_output: u64,
    /// On which side of zero each event function is.
    pub sides: Vec<f64>,
    /// The memory of the integrator.
    pub integrator: Vec<f64>,
    /// The memory of the projection of outputs.
    pub projection: Vec<f64>,
    /// The work done so far.
    pub counts: Counts,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// It reached the end of the span.
    Reached,
    /// These events stopped it.
    Event(Vec<Hit>),
    /// The observer stopped it.
    Stopped,
}

/// A finished run. The state given to it is where it ended, also after an error.
#[derive(Clone, Debug)]
#[must_use]
pub struct Run {
    /// Why it ended.
    pub ending: Result<Ending, IntegrateError>,
    /// The work of the whole run, earlier parts of a continued one included.
    pub counts: Counts,
    /// From where it can be continued.
    pub progress: Progress,
}

/// Integrates from the state to the end of the span.
pub fn simulate<Y: System>(
    y: &Y,
    s: &mut State<f64>,
    integrator: &mut dyn Integrator<Y>,
    span: &Span,
    triggers: &mut dyn Triggers<Y>,
    observer: &mut dyn Observer,
) -> Run {
    now(proceed(y, s, &mut Alone::new(integrator), span, triggers, observer, &Onward::default()))
}

/// Where a run stands that goes on with a system whose shape has changed.
#[derive(Default)]
pub(crate) struct Onward {
    /// The index of the next output.
    pub next_output: u64,
    /// The work done so far.
    pub counts: Counts,
    /// On which side of zero event functions are to be taken; others, and those not listed, tell it by their value.
    pub sides: Vec<Option<f64>>,
}

/// Integrates from the state to the end of the span, as the next part of a run.
pub(crate) async fn proceed<Y: System>(
    y: &Y,
    s: &mut State<f64>,
    pace: &mut impl Pace<Y>,
    span: &Span,
    triggers: &mut dyn Triggers<Y>,
    observer: &mut dyn Observer,
    onward: &Onward,
) -> Run {
    let mut work = Work::new(y, s, span, triggers, pace.shelf());
    (work.next_output, work.earlier) = (onward.next_output, onward.counts);
    let started = pace.start(y, s);
    if started.is_ok() {
        work.evaluate(y, s, pace, triggers).await;
        work.locator.begin(&work.values, &[]);
        let mut sides = work.locator.sides().to_vec();
        for (side, given) in sides.iter_mut().zip(&onward.sides) {
            *side = given.unwrap_or(*side);
        }
        work.locator.recall(&work.values, &sides);
        tell(pace.integrator(), observer);
        while let Some(t) = span.output(work.next_output)
            && t <= s.t
        {
            observer.on_output(s);
            work.next_output += 1;
        }
    }
    let ending = match started {
        Ok(()) => work.drive(y, s, pace, span, triggers, observer).await,
        Err(error) => Err(error),
    };
    work.finish(ending, pace)
}

/// Continues a run from the state and progress at which it was cut; the result has the same bits as without the cut.
pub fn resume<Y: System>(
    y: &Y,
    s: &mut State<f64>,
    integrator: &mut dyn Integrator<Y>,
    span: &Span,
    triggers: &mut dyn Triggers<Y>,
    observer: &mut dyn Observer,
    progress: &Progress,
) -> Run {
    now(resume_at(y, s, &mut Alone::new(integrator), span, triggers, observer, progress))
}

/// The same with whoever makes the steps.
pub(crate) async fn resume_at<Y: System>(
    y: &Y,
    s: &mut State<f64>,
    pace: &mut impl Pace<Y>,
    span: &Span,
    triggers: &mut dyn Triggers<Y>,
    observer: &mut dyn Observer,
    progress: &Progress,
) -> Run {
    let mut work = Work::new(y, s, span, triggers, pace.shelf());
    let started = pace.start(y, s);
    if started.is_ok() {
        pace.integrator().recall(&progress.integrator);
        work.next_output = progress.next_output;
        work.evaluate(y, s, pace, triggers).await;
        work.locator.recall(&work.values, &progress.sides);
        if let Some(dynamics) = &mut work.dynamics {
            dynamics.recall(&progress.projection);
        }
        work.earlier = progress.counts;
        work.start = pace.integrator().counts();
    }
    let ending = match started {
        Ok(()) => work.drive(y, s, pace, span, triggers, observer).await,
        Err(error) => Err(error),
    };
    work.finish(ending, pace)
}

/// Tells an observer the frequencies of a step, if there are any.
fn tell<Y: System>(integrator: &dyn Integrator<Y>, observer: &mut dyn Observer) {
    let frequencies = integrator.frequencies();
    if !frequencies.is_empty() {
        observer.on_frequencies(frequencies);
    }
}

/// The scratch of a run.
struct Work<Y: System> {
    locator: Locator,
    values: Vec<f64>,
    /// A state between two steps.
    between: State<f64>,
    dynamics: Option<Dynamics<Y>>,
    next_output: u64,
    /// Work done before the last start of the integrator.
    earlier: Counts,
    /// What the integrator had counted when `earlier` was taken.
    start: Counts,
}

impl<Y: System> Work<Y> {
    fn new(y: &Y, s: &State<f64>, span: &Span, triggers: &dyn Triggers<Y>, shelf: &mut Shelf<Y>) -> Self {
        let list = triggers.list();
        Self {
            locator: Locator::new(list),
            values: vec![0.0; list.len()],
            between: s.clone(),
            dynamics: (span.project && y.shape().rows() > 0).then(|| shelf.take(y)),
            next_output: 0,
            earlier: Counts::default(),
            start: Counts::default(),
        }
    }

    async fn evaluate(&mut self, y: &Y, s: &State<f64>, pace: &mut impl Pace<Y>, triggers: &mut dyn Triggers<Y>) {
        values(y, s, pace, triggers, &mut self.values).await;
    }

    fn counts(&self, integrator: &dyn Integrator<Y>) -> Counts {
        let mut counts = self.earlier;
        counts += integrator.counts() - self.start;
        if let Some(dynamics) = &self.dynamics {
            counts += dynamics.counts();
        }
        counts
    }

    fn progress(&self, integrator: &dyn Integrator<Y>) -> Progress {
        let mut projection = Vec::new();
        if let Some(dynamics) = &self.dynamics {
            dynamics.memory(&mut projection);
        }
        Progress {
            next_output: self.next_output,
            sides: self.locator.sides().to_vec(),
            integrator: integrator.memory(),
            projection,
            counts: self.counts(integrator),
        }
    }

    fn finish(self, ending: Result<Ending, IntegrateError>, pace: &mut impl Pace<Y>) -> Run {
        let progress = self.progress(pace.integrator());
        self.dynamics.into_iter().for_each(|dynamics| pace.shelf().put(dynamics));
        Run { ending, counts: progress.counts, progress }
    }

    /// The steps from here to the end.
    async fn drive(
        &mut self,
        y: &Y,
        s: &mut State<f64>,
        pace: &mut impl Pace<Y>,
        span: &Span,
        triggers: &mut dyn Triggers<Y>,
        observer: &mut dyn Observer,
    ) -> Result<Ending, IntegrateError> {
        while s.t < span.until {
            let (watched, next) = (!triggers.list().is_empty(), span.output(self.next_output));
            let inside = |end: f64| watched || next.is_some_and(|output| output < end);
            let mut step = pace.step(y, s, span.until, inside).await?;
            tell(pace.integrator(), observer);
            let stopped = self.handle_step(y, s, &mut step, pace, span, triggers, observer).await?;
            let integrator = &*pace.integrator();
            let moment =
                Moment { step, state: s, counts: self.counts(integrator), progress: &|| self.progress(integrator) };
            let flow = observer.on_step(&moment);
            if let Some(hits) = stopped {
                return Ok(Ending::Event(hits));
            }
            if flow == Flow::Stop {
                return Ok(Ending::Stopped);
            }
        }
        Ok(Ending::Reached)
    }

    /// Outputs and events of one step, in order of time; the events that stop the run, if any.
    async fn handle_step(
        &mut self,
        y: &Y,
        s: &mut State<f64>,
        step: &mut Step,
        pace: &mut impl Pace<Y>,
        span: &Span,
        triggers: &mut dyn Triggers<Y>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Vec<Hit>>, IntegrateError> {
        self.evaluate(y, s, pace, triggers).await;
        let (between, dynamics) = (&mut self.between, &mut self.dynamics);
        let mut failure = None;
        let mut sample = async |times: &[f64], refine: bool, out: &mut [f64]| {
            let projected = if refine { dynamics.as_mut() } else { None };
            if let Err(error) = values_inside(y, times, pace, triggers, between, projected, out).await {
                failure.get_or_insert(error);
            }
        };
        let hits = self.locator.search_with(step.t, s.t, &self.values, &mut sample).await;
        if let Some(error) = failure {
            return Err(error);
        }
        let mut done = 0;
        while done < hits.len() {
            let together = group(&hits[done..]);
            let t = together[0].t.min(s.t);
            record(y, s, pace, span, &mut self.next_output, t, between, dynamics.as_mut(), observer).await?;
            if t == s.t {
                between.copy_from(s);
            } else {
                interpolate(y, pace, t, between, dynamics.as_mut()).await?;
            }
            let terminal = together.iter().any(|hit| triggers.list()[hit.trigger].terminal);
            let reaction = observer.on_event(together, between);
            if terminal || reaction != Reaction::Continue {
                s.copy_from(between);
                s.t = t;
                step.h = t - step.t;
                let together = together.to_vec();
                if terminal || reaction == Reaction::Stop {
                    self.evaluate(y, s, pace, triggers).await;
                    self.locator.begin(&self.values, &together);
                    return Ok(Some(together));
                }
                self.earlier += pace.integrator().counts() - self.start;
                self.start = Counts::default();
                pace.start(y, s)?;
                self.evaluate(y, s, pace, triggers).await;
                self.locator.begin(&self.values, &together);
                return Ok(None);
            }
            done += together.len();
        }
        let end = s.t;
        record(y, s, pace, span, &mut self.next_output, end, between, dynamics.as_mut(), observer).await?;
        Ok(None)
    }
}

/// The values of event functions at a state, from what others have computed of contacts where they can be had so.
async fn values<Y: System>(
    y: &Y,
    s: &State<f64>,
    pace: &mut impl Pace<Y>,
    triggers: &mut dyn Triggers<Y>,
    out: &mut [f64],
) {
    if triggers.sees()
        && let Some(sight) = pace.sight(s).await
    {
        return triggers.values_seen(y, s, sight, out);
    }
    triggers.values(y, s, out);
}

/// The values of event functions at times inside the last step, one row each.
async fn values_inside<Y: System>(
    y: &Y,
    times: &[f64],
    pace: &mut impl Pace<Y>,
    triggers: &mut dyn Triggers<Y>,
    between: &mut State<f64>,
    mut dynamics: Option<&mut Dynamics<Y>>,
    out: &mut [f64],
) -> Result<(), IntegrateError> {
    let (count, sees) = (triggers.list().len(), triggers.sees());
    let tell = |k: usize, s: &State<f64>, sight: &Sight| {
        let row = &mut out[k * count..(k + 1) * count];
        if sees { triggers.values_seen(y, s, sight, row) } else { triggers.values(y, s, row) }
    };
    if pace.look(y, times, dynamics.as_deref_mut().map(|dynamics| (dynamics, PROJECTION)), between, tell).await {
        return Ok(());
    }
    for (&t, row) in times.iter().zip(out.chunks_exact_mut(count)) {
        interpolate_alone(y, pace, t, between, dynamics.as_deref_mut()).await?;
        values(y, between, pace, triggers, row).await;
    }
    Ok(())
}

/// Gives out all outputs up to `t` that lie within the last step.
async fn record<Y: System>(
    y: &Y,
    s: &State<f64>,
    pace: &mut impl Pace<Y>,
    span: &Span,
    next: &mut u64,
    t: f64,
    between: &mut State<f64>,
    mut dynamics: Option<&mut Dynamics<Y>>,
    observer: &mut dyn Observer,
) -> Result<(), IntegrateError> {
    while let Some(output) = span.output(*next)
        && output <= t
    {
        *next += 1;
        if output == s.t {
            between.copy_from(s);
            project(y, between, pace, dynamics.as_deref_mut()).await?;
        } else {
            interpolate(y, pace, output, between, dynamics.as_deref_mut()).await?;
        }
        observer.on_output(between);
    }
    Ok(())
}

/// The state at a time within the last step, projected to the constraints if asked.
async fn interpolate<Y: System>(
    y: &Y,
    pace: &mut impl Pace<Y>,
    t: f64,
    out: &mut State<f64>,
    mut dynamics: Option<&mut Dynamics<Y>>,
) -> Result<(), IntegrateError> {
    let projected = dynamics.as_deref_mut().map(|dynamics| (dynamics, PROJECTION));
    if pace.look(y, &[t], projected, out, |_, _, _| ()).await {
        return Ok(());
    }
    interpolate_alone(y, pace, t, out, dynamics).await
}

/// The same where others do not find it.
async fn interpolate_alone<Y: System>(
    y: &Y,
    pace: &mut impl Pace<Y>,
    t: f64,
    out: &mut State<f64>,
    dynamics: Option<&mut Dynamics<Y>>,
) -> Result<(), IntegrateError> {
    out.t = t;
    pace.integrator().dense(y, out);
    project(y, out, pace, dynamics).await
}

/// Moves a state to the constraints if asked.
async fn project<Y: System>(
    y: &Y,
    s: &mut State<f64>,
    pace: &mut impl Pace<Y>,
    dynamics: Option<&mut Dynamics<Y>>,
) -> Result<(), IntegrateError> {
    let Some(dynamics) = dynamics else { return Ok(()) };
    if pace.project(y, s, dynamics, PROJECTION).await {
        return Ok(());
    }
    dynamics.project_position(y, s, PROJECTION)?;
    dynamics.project_velocity(y, s)
}
