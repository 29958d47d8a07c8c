//! Between the loop of a run with contacts and its observer: reports of events, and steps seen with their modes.

use super::contacts::Contacts;
use super::hybrid::Hybrid;
use super::run::{Event, Kind, Moment, Observer};
use super::simulate::Engine;
use crate::dynamics::Dynamics;
use crate::events::Hit;
use crate::integrate::{self, Flow, Reaction};
use crate::system::State;
use std::cell::RefCell;

/// Reports what happened.
pub(super) struct Report<'a, 'm, Y: Contacts> {
    pub y: &'a Hybrid<'m, Y>,
    pub s: &'a State<f64>,
    pub forces: &'a [f64],
    pub observer: &'a mut dyn Observer<Y>,
}

impl<Y: Contacts> Report<'_, '_, Y> {
    pub fn send(&mut self, t: f64, kind: Kind, contacts: Vec<usize>, lost: f64) {
        if contacts.is_empty() {
            return;
        }
        let value = |&i: &usize| {
            let own = &self.forces[self.y.start(i)..self.y.start(i + 1)];
            std::array::from_fn(|k| own.get(k).copied().unwrap_or(0.0))
        };
        let values = contacts.iter().map(value).collect();
        self.observer.on_event(self.y, &Event { t, kind, contacts, values, lost }, self.s);
    }
}

/// Stands between the loop of a smooth run and the observer of one with contacts.
pub(super) struct Adapter<'a, 'b, 'm, Y: Contacts> {
    pub y: &'a Hybrid<'m, Y>,
    pub observer: &'a mut dyn Observer<Y>,
    pub engine: &'a Engine<'b>,
    pub dynamics: &'a RefCell<Dynamics<Hybrid<'m, Y>>>,
    /// The number of switching functions; those of the user follow.
    pub own: usize,
    /// What the user answered to the last of his functions.
    pub reaction: Option<Reaction>,
    /// Whether an event has cut the last step short, and whether the user wanted to stop after it.
    pub cut: bool,
    pub stop: bool,
}

impl<Y: Contacts> integrate::Observer for Adapter<'_, '_, '_, Y> {
    fn on_output(&mut self, s: &State<f64>) {
        self.observer.on_output(self.y, s);
    }

    fn on_frequencies(&mut self, frequencies: &[f64]) {
        self.observer.on_frequencies(frequencies);
    }

    fn on_step(&mut self, moment: &integrate::Moment<'_>) -> Flow {
        let progress = || {
            let mut switching = Vec::new();
            self.dynamics.borrow().memory(&mut switching);
            self.engine.progress(self.y, moment.progress(), switching)
        };
        let (step, state, counts, cut) = (moment.step, moment.state, moment.counts, self.cut);
        let flow = self.observer.on_step(self.y, &Moment { step, state, counts, cut, progress: &progress });
        self.stop = flow == Flow::Stop;
        flow
    }

    fn on_event(&mut self, hits: &[Hit], s: &mut State<f64>) -> Reaction {
        let user: Vec<Hit> = hits
            .iter()
            .filter(|hit| hit.trigger >= self.own)
            .map(|hit| Hit { trigger: hit.trigger - self.own, ..*hit })
            .collect();
        self.reaction = (!user.is_empty()).then(|| self.observer.on_trigger(self.y, &user, s));
        let answer = match self.reaction {
            _ if user.len() < hits.len() => Reaction::Stop,
            None | Some(Reaction::Continue) => Reaction::Continue,
            Some(Reaction::Restart | Reaction::Stop) => Reaction::Stop,
        };
        self.cut = answer == Reaction::Stop;
        answer
    }
}
