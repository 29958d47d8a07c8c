//! States of a motion with contacts at given times, and where it passes a surface, in one run through all events.

use super::integrator;
use crate::crossing::Watch;
use crate::error::AnalysisError;
use crate::field::Settings;
use dalembert_methods::events::{self, Direction, Hit, Trigger};
use dalembert_methods::integrate::{Flow, Integrator, Reaction, Span};
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Moment, Observer, Options, simulate};
use dalembert_methods::system::State;

/// Keeps the states at output times, or where a function passes zero, as long as it is wanted.
struct Keeper<'a> {
    states: Vec<State<f64>>,
    /// Passages that are not kept, and how many are.
    skipped: usize,
    kept: usize,
    keep_on: &'a mut dyn FnMut() -> bool,
    stopped: bool,
}

impl<Y: Contacts> Observer<Y> for Keeper<'_> {
    fn on_output(&mut self, _y: &Hybrid<'_, Y>, s: &State<f64>) {
        self.states.push(s.clone());
    }
    fn on_step(&mut self, _y: &Hybrid<'_, Y>, _moment: &Moment<'_>) -> Flow {
        self.stopped |= !(self.keep_on)();
        if self.stopped { Flow::Stop } else { Flow::Continue }
    }
    fn on_trigger(&mut self, _y: &Hybrid<'_, Y>, _hits: &[Hit], s: &mut State<f64>) -> Reaction {
        if self.skipped > 0 {
            self.skipped -= 1;
        } else {
            self.states.push(s.clone());
        }
        if self.states.len() < self.kept { Reaction::Continue } else { Reaction::Stop }
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
    samples_while(model, start, interval, count, options, settings, &mut || true)
}

/// The same, as long as `keep_on` says so: it is asked after every step, and the samples until then are kept.
///
/// # Errors
/// Those of the run.
pub fn samples_while<Y: Contacts>(
    model: &Y,
    start: &State<f64>,
    interval: f64,
    count: usize,
    options: &Options,
    settings: Settings,
    keep_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<State<f64>>, AnalysisError> {
    let (mut hybrid, mut s) = (Hybrid::new(model), start.clone());
    let mut integrator = integrator(settings)?;
    let integrator: &mut dyn Integrator<Hybrid<'_, Y>> = &mut integrator;
    let mut keeper = Keeper { states: Vec::new(), skipped: 0, kept: count, keep_on, stopped: false };
    let span = Span::new(s.t, s.t + interval * count as f64, interval);
    simulate(&mut hybrid, &mut s, integrator, &span, options, &mut (), &mut keeper).ending?;
    Ok(keeper.states.into_iter().skip(1).take(count).collect())
}

/// The states at which a motion passes a surface in the rising direction, through all events. They are located on the continuous output of each step
/// ([`events`]); of a [`Watch`] the interval is not used. A function that jumps over zero at an impact, as velocities do, does not pass it. As long as
/// `keep_on` says so: it is asked after every step, and the passages until then are kept.
///
/// # Errors
/// [`AnalysisError::NoEvent`] if there are not as many passages as wanted within the longest time, and those of the run.
pub fn crossings<Y: Contacts>(
    model: &Y,
    start: &State<f64>,
    function: impl Fn(&State<f64>) -> f64,
    watch: &Watch,
    options: &Options,
    settings: Settings,
    keep_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<State<f64>>, AnalysisError> {
    let (mut hybrid, mut s) = (Hybrid::new(model), start.clone());
    let mut integrator = integrator(settings)?;
    let integrator: &mut dyn Integrator<Hybrid<'_, Y>> = &mut integrator;
    let trigger = Trigger { name: "section".to_owned(), direction: Direction::Rising, terminal: false };
    let mut triggers = events::Watch::new(vec![trigger], |s: &State<f64>, out: &mut [f64]| out[0] = function(s));
    let (skipped, kept) = (watch.skipped, watch.kept);
    let mut keeper = Keeper { states: Vec::new(), skipped, kept, keep_on, stopped: false };
    let span = Span::new(s.t, s.t + watch.longest, 0.0);
    simulate(&mut hybrid, &mut s, integrator, &span, options, &mut triggers, &mut keeper).ending?;
    if keeper.states.len() < kept && !keeper.stopped {
        return Err(AnalysisError::NoEvent { t: s.t });
    }
    Ok(keeper.states)
}
