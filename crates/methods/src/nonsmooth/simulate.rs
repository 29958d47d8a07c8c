//! The loop of a run with contacts: integrate in fixed modes, locate the zero of a switching function, decide, go on.
//!
//! At an event velocities jump if a contact closes ([`super::impact`]), complementarity of accelerations decides the new modes
//! ([`super::decide`]), positions and velocities are projected to the new constraints, and the integrator starts anew. Steps
//! between events allocate nothing; events do.
//!
//! Zeros within 2e-12 max(1, |t|) seconds of each other are one event, and contacts with gaps up to `touch` take part in each other's
//! impacts: what happens together stays together. Of each kind one [`super::Event`] is reported for all its contacts.

use super::clues::clues;
use super::contacts::{Contacts, Mode};
use super::decide::{Clue, decide, unit};
use super::desk::Desk;
use super::error::ContactError;
use super::hybrid::{FAINT, Hybrid};
use super::impact::{Outcome, impacts};
use super::observe::{Adapter, Report};
use super::run::{Kind, Observer, Options, Progress, Run};
use super::switching::{Switching, Watched};
use super::zeno::{Zeno, stop};
use crate::dynamics::Dynamics;
use crate::events::{Hit, Triggers, location};
use crate::integrate::{self, Alone, Ending, IntegrateError, Integrator, Onward, Pace, Reaction, Span};
use crate::system::{State, System};
use std::cell::RefCell;

/// Projections after an event stop at corrections below this, relative to the magnitudes; the square of it is left.
const PROJECTION: f64 = 1e-8;
/// Events without time passing after which `rest` is raised tenfold with each further one, and the largest speed it reaches so.
/// Bounces that fast are over in less than the time to which events are located.
const IMPATIENCE: u32 = 4;
const HIGHEST_REST: f64 = 1e-6;
/// The part of the speed of creep by which a slip that starts may run backwards before it counts as stopped.
const EARLY: f64 = 1e-3;
/// The relative residual at which an initial state counts as consistent.
const CONSISTENT: f64 = 1e-6;
/// Events without time passing after which a run gives up. Events that change nothing count if less than this passes, in seconds.
const PATIENCE: u32 = 60;
const HARDLY: f64 = 1e-7;

/// Integrates from the state to the end of the span. The modes are found from the state.
pub fn simulate<'m, Y: Contacts>(
    y: &mut Hybrid<'m, Y>,
    s: &mut State<f64>,
    integrator: &mut dyn Integrator<Hybrid<'m, Y>>,
    span: &Span,
    options: &Options,
    triggers: &mut dyn Triggers<Hybrid<'m, Y>>,
    observer: &mut dyn Observer<Y>,
) -> Run {
    integrate::now(simulate_at(y, s, &mut Alone::new(integrator), span, options, triggers, observer))
}

/// The same with whoever makes the steps: an integrator by itself, or one in company ([`integrate::Beside`]).
pub async fn simulate_at<'m, Y: Contacts>(
    y: &mut Hybrid<'m, Y>,
    s: &mut State<f64>,
    pace: &mut impl Pace<Hybrid<'m, Y>>,
    span: &Span,
    options: &Options,
    triggers: &mut dyn Triggers<Hybrid<'m, Y>>,
    observer: &mut dyn Observer<Y>,
) -> Run {
    let count = y.modes().len();
    let mut engine = Engine {
        options,
        shared: vec![false; count],
        idle: vec![false; count],
        below: vec![0.0; count],
        zeno: Zeno::new(count),
        last: (f64::NEG_INFINITY, 0),
        silent: false,
        run: integrate::Progress::default(),
        switching: Vec::new(),
        anew: false,
    };
    let mut desk = Desk::new(y);
    let ending = match engine.begin(&mut desk, y, s, observer) {
        Ok(()) => engine.drive(&mut desk, y, s, pace, span, triggers, observer, None).await,
        Err(error) => Err(error),
    };
    engine.finish(y, ending)
}

/// Continues a run from the state and progress at which it was cut; the result has the same bits as without the cut.
pub fn resume<'m, Y: Contacts>(
    y: &mut Hybrid<'m, Y>,
    s: &mut State<f64>,
    integrator: &mut dyn Integrator<Hybrid<'m, Y>>,
    span: &Span,
    options: &Options,
    triggers: &mut dyn Triggers<Hybrid<'m, Y>>,
    observer: &mut dyn Observer<Y>,
    progress: &Progress,
) -> Run {
    y.set_modes(&progress.modes);
    y.set_creep(&progress.creep);
    y.set_latched(&progress.latched);
    let mut engine = Engine {
        options,
        shared: progress.shared.clone(),
        idle: progress.idle.clone(),
        below: progress.below.clone(),
        zeno: Zeno { times: progress.impacts.clone() },
        last: progress.last,
        silent: progress.silent,
        run: progress.run.clone(),
        switching: progress.switching.clone(),
        anew: progress.anew,
    };
    let mut pace = Alone::new(integrator);
    let mut desk = Desk::new(y);
    let ending = integrate::now(engine.drive(&mut desk, y, s, &mut pace, span, triggers, observer, Some(progress)));
    engine.finish(y, ending)
}

/// What a run remembers between its parts.
pub(super) struct Engine<'a> {
    pub options: &'a Options,
    pub shared: Vec<bool>,
    pub idle: Vec<bool>,
    pub below: Vec<f64>,
    pub zeno: Zeno,
    pub last: (f64, u32),
    /// Whether the last event changed nothing.
    pub silent: bool,
    pub run: integrate::Progress,
    pub switching: Vec<f64>,
    /// Whether the integration begins anew from here.
    pub anew: bool,
}

impl Engine<'_> {
    fn finish<Y: Contacts>(self, y: &Hybrid<'_, Y>, ending: Result<Ending, IntegrateError>) -> Run {
        let progress = self.progress(y, self.run.clone(), self.switching.clone());
        Run { ending, counts: progress.run.counts, progress }
    }

    /// All that a continuation needs, with what the integration and the switching functions remember.
    pub fn progress<Y: Contacts>(&self, y: &Hybrid<'_, Y>, run: integrate::Progress, switching: Vec<f64>) -> Progress {
        Progress {
            run,
            modes: y.modes().to_vec(),
            shared: self.shared.clone(),
            idle: self.idle.clone(),
            below: self.below.clone(),
            creep: y.creep().to_vec(),
            latched: y.latched().to_vec(),
            switching,
            impacts: self.zeno.times.clone(),
            last: self.last,
            silent: self.silent,
            anew: self.anew,
        }
    }

    /// Checks the first state and finds its modes.
    fn begin<'m, Y: Contacts>(
        &mut self,
        desk: &mut Desk<'m, Y>,
        y: &mut Hybrid<'m, Y>,
        s: &mut State<f64>,
        observer: &mut dyn Observer<Y>,
    ) -> Result<(), IntegrateError> {
        let model = y.model();
        let count = model.contacts();
        for i in 0..count {
            let epsilon = model.restitution(i);
            if !(0.0..=1.0).contains(&epsilon) {
                let reason = format!("the coefficient of restitution is {epsilon}; it must lie in [0, 1]");
                return Err(ContactError::Law { contact: model.contact_name(i), reason }.into());
            }
        }
        y.set_modes(&vec![Mode::Open; count]);
        if count == 0 {
            // The integrator itself checks initial values.
            return Ok(());
        }
        if s.z.len() != y.shape().z {
            let reason = format!(
                "a state with contacts has {} integrals, not {}; make it with `Hybrid::state`",
                y.shape().z,
                s.z.len()
            );
            return Err(IntegrateError::Refused { reason });
        }
        // What follows moves the state to the constraints; it must be on them already.
        Dynamics::new(&*y).check(y, s, CONSISTENT)?;
        desk.see(y, s);
        // Those that touch make hollows for others, and latches hold those that rest.
        let touching: Vec<bool> = desk.gap.iter().map(|gap| gap.abs() <= self.options.touch).collect();
        y.set_bearing(&touching);
        desk.see(y, s);
        let (gap, rate) = (&desk.gap, &desk.rate);
        let rests = |i: usize| y.latched()[i] && touching[i] && rate[y.start(i)].abs() <= self.options.rest;
        let latched: Vec<bool> = (0..count).map(rests).collect();
        y.set_latched(&latched);
        let deepest = (0..count).min_by(|&i, &j| gap[i].total_cmp(&gap[j]));
        if let Some(i) = deepest
            && (gap[i] < -self.options.touch || gap[i].is_nan())
        {
            return Err(ContactError::Penetration { t: s.t, contact: model.contact_name(i), gap: gap[i] }.into());
        }
        let forces = vec![0.0; y.start(count)];
        self.settle(desk, y, s, &vec![Clue::default(); count], &forces, true, observer)
    }

    /// The parts of the run, from event to event.
    async fn drive<'m, Y: Contacts>(
        &mut self,
        desk: &mut Desk<'m, Y>,
        y: &mut Hybrid<'m, Y>,
        s: &mut State<f64>,
        pace: &mut impl Pace<Hybrid<'m, Y>>,
        span: &Span,
        triggers: &mut dyn Triggers<Hybrid<'m, Y>>,
        observer: &mut dyn Observer<Y>,
        mut resumed: Option<&Progress>,
    ) -> Result<Ending, IntegrateError> {
        let mut onward = Onward::default();
        if let Some(progress) = resumed.filter(|progress| progress.anew) {
            onward = onward_from(&progress.run);
            resumed = None;
        }
        loop {
            self.anew = false;
            let dynamics = RefCell::new(desk.take(y));
            let mut switching = Switching::new(y, &self.shared, &self.below, triggers, &dynamics, desk);
            let own = switching.functions().len();
            let users = switching.list().len() - own;
            onward.sides.splice(..onward.sides.len().saturating_sub(users), vec![Some(1.0); own]);
            let mut adapter = Adapter {
                y: &*y,
                observer: &mut *observer,
                engine: &*self,
                dynamics: &dynamics,
                own,
                reaction: None,
                cut: false,
                stop: false,
            };
            let run = match resumed.take() {
                None => integrate::proceed(&*y, s, pace, span, &mut switching, &mut adapter, &onward).await,
                Some(progress) => {
                    dynamics.borrow_mut().recall(&progress.switching);
                    integrate::resume_at(&*y, s, pace, span, &mut switching, &mut adapter, &progress.run).await
                }
            };
            let (reaction, stop) = (adapter.reaction, adapter.stop);
            self.run = run.progress;
            self.switching.clear();
            dynamics.borrow().memory(&mut self.switching);
            if let Some(failure) = switching.failure.take() {
                return Err(failure);
            }
            let hits = match run.ending? {
                Ending::Event(hits) => hits,
                ending => return Ok(ending),
            };
            let (contacts, user): (Vec<Hit>, Vec<Hit>) = hits.iter().partition(|hit| hit.trigger < own);
            let user: Vec<Hit> = user.iter().map(|hit| Hit { trigger: hit.trigger - own, ..*hit }).collect();
            onward = Onward { next_output: self.run.next_output, counts: self.run.counts, sides: vec![None; users] };
            for hit in &user {
                onward.sides[hit.trigger] = Some(0.0);
            }
            let terminal = user.iter().any(|hit| switching.list()[own + hit.trigger].terminal);
            if !contacts.is_empty() || reaction == Some(Reaction::Restart) {
                switching.evaluate(y, s)?;
                // A gap that closes at no speed and without time passing since the last event is of a contact that has just lifted off.
                let again = s.t - self.last.0 <= 2.0 * location(s.t);
                let closes = |i: usize| !(again && switching.grazes(y, i, self.options.rest));
                let clues = clues(y, &contacts, switching.functions(), switching.forces(), closes);
                let forces = switching.forces().to_vec();
                self.count(y, s.t, &contacts, switching.functions())?;
                drop(switching);
                desk.put(dynamics.into_inner());
                self.settle(desk, y, s, &clues, &forces, false, observer)?;
            }
            if terminal || reaction == Some(Reaction::Stop) {
                return Ok(Ending::Event(user));
            }
            if s.t >= span.until {
                return Ok(Ending::Reached);
            }
            self.begin_anew(&onward);
            observer.on_passed(y, s, &|| self.progress(y, self.run.clone(), Vec::new()));
            if stop {
                return Ok(Ending::Stopped);
            }
        }
    }

    /// Makes the progress that of a run which begins anew after an event.
    fn begin_anew(&mut self, onward: &Onward) {
        self.anew = true;
        self.switching.clear();
        self.run = integrate::Progress {
            next_output: onward.next_output,
            counts: onward.counts,
            sides: onward.sides.iter().map(|side| side.unwrap_or(f64::NAN)).collect(),
            ..integrate::Progress::default()
        };
    }

    /// Counts events that follow each other without time passing.
    fn count<Y: Contacts>(
        &mut self,
        y: &Hybrid<'_, Y>,
        t: f64,
        hits: &[Hit],
        functions: &[(usize, Watched)],
    ) -> Result<(), IntegrateError> {
        let again = t - self.last.0 <= if self.silent { HARDLY } else { 2.0 * location(t) };
        self.last = (t, if again { self.last.1 + 1 } else { 0 });
        if self.last.1 <= PATIENCE {
            return Ok(());
        }
        let contacts = hits.iter().map(|hit| y.model().contact_name(functions[hit.trigger].0)).collect();
        Err(ContactError::Chatter { t, contacts }.into())
    }

    /// Impact, decision, projection and reports at one instant.
    fn settle<'m, Y: Contacts>(
        &mut self,
        desk: &mut Desk<'m, Y>,
        y: &mut Hybrid<'m, Y>,
        s: &mut State<f64>,
        clues: &[Clue],
        forces: &[f64],
        first: bool,
        observer: &mut dyn Observer<Y>,
    ) -> Result<(), IntegrateError> {
        let old = y.modes().to_vec();
        let count = old.len();
        if let Some((i, gap)) = y.stubbed(s, desk.prepared(y, s), self.options.touch) {
            return Err(ContactError::Stubbed { t: s.t, contact: y.model().contact_name(i), gap }.into());
        }
        let closing = self.closing(desk, y, s);
        let resting = self.zeno.note(desk, y, s, &closing, self.options)?;
        let dead: Vec<bool> = (0..count).map(|i| resting.iter().any(|series| series.contacts.contains(&i))).collect();
        let outcome = impacts(desk, y, s, self.options, &dead)?;
        // Of several contacts in turn the last impact lifts others that are to stay.
        let stops =
            resting.iter().map(|series| stop(desk, y, s, series, self.options)).collect::<Result<Vec<_>, _>>()?;
        let clues: Vec<Clue> =
            clues.iter().zip(&dead).map(|(&clue, dead)| if *dead { Clue::default() } else { clue }).collect();
        // Latches catch what has been hit and does not rebound; what is hit releases others.
        desk.see(y, s);
        let (mut latched, after) = (y.latched().to_vec(), &desk.rate);
        let hit = |j: usize| struck(&outcome, j) && !old[j].closed();
        for (i, latched) in latched.iter_mut().enumerate() {
            let Some(latch) = y.model().latch(i) else { continue };
            *latched |= hit(i) && after[y.start(i)].abs() <= self.options.rest;
            *latched &= !latch.released_by.iter().any(|&j| hit(j));
        }
        y.set_latched(&latched);
        let raise = 10f64.powi(self.last.1.saturating_sub(IMPATIENCE) as i32);
        let rest = (self.options.rest * raise).min(HIGHEST_REST.max(self.options.rest));
        let mut decision = decide(desk, y, s, &Options { rest, ..self.options.clone() }, &clues)?;
        for i in 0..count {
            // Once forces are shared it is the decision that counts, until the contact moves.
            decision.shared[i] |= self.shared[i] && decision.modes[i] == Mode::Stick;
            // Idle, too, is a contact without press that opens and closes and opens: bodies that fall freely side by side.
            decision.idle[i] |= clues[i].lifting && !decision.modes[i].closed() && self.last.1 >= 2;
            // A leg that hung idle and is neither pressed nor lifted hangs on.
            let hangs = decision.force[y.start(i)] <= 0.0 && !struck(&outcome, i);
            if self.idle[i] && hangs {
                decision.modes[i] = Mode::Open;
                desk.see(y, s);
                decision.idle[i] = desk.gap[i] <= self.options.touch;
            }
        }
        self.idle = decision.idle;
        self.shared = decision.shared;
        // What closes is held from now on.
        if !first {
            for (i, latched) in latched.iter_mut().enumerate() {
                *latched |= y.model().latch(i).is_some() && !old[i].closed() && decision.modes[i].closed();
            }
        }
        // Contacts that start to slip do so from rest: their slip is removed like that of sticking ones.
        desk.see(y, s);
        let rates = &desk.rate;
        let still = |i: usize| unit(&rates[y.start(i) + 1..y.start(i + 1)]).0 <= rest;
        let starting: Vec<bool> =
            (0..count).map(|i| matches!(decision.modes[i], Mode::Slide { .. }) && still(i)).collect();
        let settled = (0..count).map(|i| if starting[i] { Mode::Stick } else { decision.modes[i] });
        let settled: Vec<Mode> = settled.collect();
        y.set_modes(&settled);
        let mut dynamics = desk.take(y);
        dynamics.project_position(y, s, PROJECTION)?;
        dynamics.project_velocity(y, s)?;
        desk.put(dynamics);
        y.set_modes(&decision.modes);
        y.set_latched(&latched);
        let creep: Vec<f64> = starting.iter().map(|&starts| if starts { self.options.creep } else { FAINT }).collect();
        y.set_creep(&creep);
        // What touches within the tolerance of others may be a little below zero, and a slip that starts may have rounding against
        // its direction; there they start from. With two tangents it has a direction only later.
        desk.see(y, s);
        let (gaps, rates) = (&desk.gap, &desk.rate);
        let below = |i: usize| match decision.modes[i] {
            Mode::Open => (-gaps[i]).max(0.0),
            Mode::Slide { .. } if starting[i] => {
                let least = if y.start(i + 1) - y.start(i) > 2 { EARLY * self.options.creep } else { 0.0 };
                least.max(2.0 * unit(&rates[y.start(i) + 1..y.start(i + 1)]).0)
            }
            _ => 0.0,
        };
        self.below = (0..count).map(below).collect();
        for i in (0..count).filter(|&i| self.idle[i]) {
            self.below[i] = self.below[i].max(0.5 * self.options.touch);
        }
        for Outcome { lost, driven, .. } in outcome.iter().chain(&stops) {
            let z = y.model().shape().z;
            s.z[z] += driven;
            s.z[z + 2] += lost;
        }
        let mut report = Report { y: &*y, s: &*s, forces, observer };
        if let Some(Outcome { contacts, impulse, lost, .. }) = &outcome {
            report.forces = impulse;
            report.send(s.t, Kind::Impact, contacts.clone(), *lost);
            report.forces = forces;
        }
        for (series, stopped) in resting.into_iter().zip(&stops) {
            report.forces = &stopped.impulse;
            report.send(series.end, Kind::Rest, series.contacts, stopped.lost);
            report.forces = forces;
        }
        let new = y.modes();
        let changed = |test: &dyn Fn(usize) -> bool| (0..count).filter(|&i| test(i)).collect::<Vec<_>>();
        let lifted = changed(&|i| old[i].closed() && !new[i].closed());
        let touched = changed(&|i| !old[i].closed() && new[i].closed() && !struck(&outcome, i) && !dead[i]);
        let stuck = changed(&|i| new[i] == Mode::Stick && old[i] != Mode::Stick);
        let slipped = changed(&|i| old[i] == Mode::Stick && matches!(new[i], Mode::Slide { .. }));
        let reversed = changed(&|i| match (old[i], new[i]) {
            (Mode::Slide { direction: a }, Mode::Slide { direction: b }) => a[0] * b[0] + a[1] * b[1] < 0.0,
            _ => false,
        });
        self.silent =
            outcome.is_none() && [&lifted, &touched, &stuck, &slipped, &reversed].iter().all(|list| list.is_empty());
        if first {
            return Ok(());
        }
        let kinds = [Kind::LiftOff, Kind::Touch, Kind::Stick, Kind::Slip, Kind::Reversal];
        for (kind, contacts) in kinds.into_iter().zip([lifted, touched, stuck, slipped, reversed]) {
            report.send(s.t, kind, contacts, 0.0);
        }
        Ok(())
    }

    /// The touching contacts that approach, with their speeds.
    fn closing<'m, Y: Contacts>(&self, desk: &mut Desk<'m, Y>, y: &Hybrid<'m, Y>, s: &State<f64>) -> Vec<(usize, f64)> {
        desk.see(y, s);
        let (gap, rate) = (&desk.gap, |i: usize| desk.rate[y.start(i)]);
        let meets = |i: usize| self.options.meets(s.t, gap[i], rate(i));
        let closing = |&i: &usize| meets(i) && rate(i) < -self.options.rest;
        (0..y.modes().len()).filter(closing).map(|i| (i, -rate(i))).collect()
    }
}

/// Where a run stands that begins anew after an event.
fn onward_from(run: &integrate::Progress) -> Onward {
    let sides = run.sides.iter().map(|&side| Some(side).filter(|side| !side.is_nan())).collect();
    Onward { next_output: run.next_output, counts: run.counts, sides }
}

/// Whether a contact took part in an impact.
fn struck(outcome: &Option<Outcome>, contact: usize) -> bool {
    outcome.as_ref().is_some_and(|outcome| outcome.contacts.contains(&contact))
}
