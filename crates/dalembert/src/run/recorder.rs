//! Writing down what happens in a run: rows, frames, steps, events.

use super::audit::Audit;
use super::channels::{Channels, matches};
use super::checkpoint::{Written, pack};
use super::driver::Watcher;
use super::triggers::ChannelTriggers;
use crate::model::{Model, Pair};
use crate::picture::{Film, PATTERNS};
use crate::scene::Scene;
use dalembert_methods::State;
use dalembert_methods::events::{Crossing, Hit};
use dalembert_methods::integrate::{self, Counts, Flow, IntegrateError, Reaction, Step};
use dalembert_methods::nonsmooth::{self, Contacts, Hybrid, Kind, Mode, Moment, Observer, moreau};
use dalembert_methods::trajectory::{Event, Trajectory};

/// The progress of time stepping, which knows no modes.
pub(super) fn progress_of(model: &Model, run: integrate::Progress) -> nonsmooth::Progress {
    let count = Contacts::contacts(model);
    nonsmooth::Progress {
        run,
        modes: vec![Mode::Open; count],
        shared: vec![false; count],
        idle: vec![false; count],
        latched: vec![false; count],
        below: vec![0.0; count],
        creep: vec![nonsmooth::FAINT; count],
        impacts: vec![[f64::NAN; nonsmooth::KEPT]; count],
        ..nonsmooth::Progress::default()
    }
}

/// What an event is called in the record: name, channel, level, unit.
pub(super) struct Named {
    name: String,
    channel: String,
    level: f64,
    unit: String,
}

pub(super) fn describe_triggers(scene: &Scene, triggers: &ChannelTriggers) -> Vec<Named> {
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
pub(super) struct Kept {
    /// Those the scene asks for.
    pub recorded: Vec<usize>,
    /// Those a film needs.
    pub filmed: Vec<usize>,
}

impl Kept {
    /// The channels that a scene and a film, if there is one, need together, and the places of each in a row.
    pub fn of<'m>(model: &Model, wanted: &[String], filmed: bool) -> (Channels<'m>, Self) {
        // Where nothing is filmed a pattern that matches no name keeps the time only.
        let film = if filmed { PATTERNS.map(str::to_owned).to_vec() } else { vec![String::new()] };
        let all = if wanted.is_empty() { Vec::new() } else { [wanted, &film[..]].concat() };
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
pub(super) struct Recorder<'a> {
    pub model: &'a Model,
    /// The contacts in the modes of the state being recorded.
    pub contacts: Hybrid<'a, Model>,
    pub channels: Channels<'a>,
    /// The values of all channels, and of those that are recorded.
    pub all: Vec<f64>,
    pub row: Vec<f64>,
    pub kept: Kept,
    pub trajectory: Trajectory,
    pub film: Film,
    pub steps: Vec<(f64, f64)>,
    pub events: Vec<Event>,
    pub audit: Audit,
    pub names: Vec<Named>,
    pub scene: &'a str,
    pub error: Option<IntegrateError>,
    pub watcher: &'a mut dyn Watcher,
}

impl Recorder<'_> {
    /// Takes over the modes of the state being recorded.
    fn take_modes(&mut self, modes: &[Mode]) {
        if self.contacts.modes() != modes {
            self.contacts.set_modes(modes);
        }
    }

    /// Keeps the values just computed, in the trajectory and in the film.
    fn keep(&mut self) {
        for (out, &i) in self.row.iter_mut().zip(&self.kept.recorded) {
            *out = self.all[i];
        }
        self.trajectory.push(&self.row);
        self.film.push(self.kept.filmed.iter().map(|&i| self.all[i]));
        self.watcher.frame(&self.film);
    }

    /// Offers a checkpoint.
    fn offer(&mut self, s: &State<f64>, progress: &dyn Fn() -> nonsmooth::Progress) {
        let written = Written {
            scene: self.scene,
            trajectory: &self.trajectory,
            film: &self.film,
            steps: &self.steps,
            events: &self.events,
            audit: &self.audit,
        };
        self.watcher.checkpoint(&|| pack(s, &progress(), &written));
    }

    /// Notes a step, offers a checkpoint if a run can go on from there, and asks whether to go on.
    fn after_step(
        &mut self,
        step: Step,
        s: &State<f64>,
        counts: Counts,
        progress: Option<&dyn Fn() -> nonsmooth::Progress>,
    ) -> Flow {
        self.steps.push((step.t, step.h));
        if let Some(progress) = progress {
            self.offer(s, progress);
        }
        let go_on = self.watcher.step(s.t, counts.steps);
        if go_on && self.error.is_none() && self.audit.gain().is_none() { Flow::Continue } else { Flow::Stop }
    }
}

impl moreau::Watcher for Recorder<'_> {
    fn on_output(&mut self, s: &State<f64>, touches: &moreau::Touches<'_>) {
        self.take_modes(touches.modes);
        self.channels.sample_given(&self.contacts, s, touches.multipliers, touches.force, &mut self.all);
        self.keep();
    }

    fn on_step(&mut self, moment: &moreau::Moment<'_>) -> Flow {
        self.audit.observe_missed(self.model, moment.state, moment.missed);
        let model = self.model;
        let progress = || progress_of(model, moment.progress());
        self.after_step(moment.step, moment.state, moment.counts, Some(&progress))
    }
}

impl Observer<Model> for Recorder<'_> {
    fn on_output(&mut self, y: &Hybrid<'_, Model>, s: &State<f64>) {
        self.take_modes(y.modes());
        match self.channels.sample(&self.contacts, s, &mut self.all) {
            Ok(()) => self.keep(),
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
    }

    fn on_frequencies(&mut self, frequencies: &[f64]) {
        self.channels.take_frequencies(frequencies);
    }

    fn on_step(&mut self, _y: &Hybrid<'_, Model>, moment: &Moment<'_>) -> Flow {
        self.audit.observe(self.model, moment.state, moment.step.error);
        let progress = || moment.progress();
        let here: Option<&dyn Fn() -> nonsmooth::Progress> = if moment.cut { None } else { Some(&progress) };
        self.after_step(moment.step, moment.state, moment.counts, here)
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

    fn on_passed(&mut self, _y: &Hybrid<'_, Model>, s: &State<f64>, progress: &dyn Fn() -> nonsmooth::Progress) {
        self.offer(s, progress);
    }

    fn on_event(&mut self, _y: &Hybrid<'_, Model>, event: &nonsmooth::Event, _s: &State<f64>) {
        // What is left of accumulating impacts is an impact, too.
        let impact = matches!(event.kind, Kind::Impact | Kind::Rest);
        if impact {
            self.audit.part();
        }
        for (&contact, values) in event.contacts.iter().zip(&event.values) {
            let pair = self.model.layout.pairs.get(contact);
            let force = self.model.press_unit(contact);
            let element = |pair: &Pair| format!("contact.{}", self.model.contacts[pair.element].name);
            let event = Event {
                time: event.t,
                kind: event.kind.name().to_owned(),
                element: pair.map_or_else(|| self.model.contact_name(contact), element),
                marker: pair.map_or_else(String::new, |pair| self.model.markers[pair.markers[1]].name.clone()),
                value: values[0],
                unit: if impact { format!("{force} s") } else { force.to_owned() },
            };
            self.watcher.event(&event);
            self.events.push(event);
        }
        if event.kind == Kind::Impact || event.lost > 0.0 {
            // Contacts that collide together lose energy together.
            let loss = Event {
                time: event.t,
                kind: "loss".to_owned(),
                element: "energy.dissipated".to_owned(),
                marker: String::new(),
                value: event.lost,
                unit: "J".to_owned(),
            };
            self.watcher.event(&loss);
            self.events.push(loss);
        }
    }
}
