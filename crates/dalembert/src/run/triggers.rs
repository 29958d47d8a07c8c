//! Events of a scene: channels that cross a level.

use super::channels::Channels;
use super::driver::RunError;
use crate::model::Model;
use crate::scene::{Crossing, EventSettings, nearest};
use dalembert_methods::State;
use dalembert_methods::events::{Direction, Trigger, Triggers};
use dalembert_methods::nonsmooth::Hybrid;
use dalembert_methods::trajectory::Channel;

/// The watched channels of a scene.
pub(super) struct ChannelTriggers<'m> {
    list: Vec<Trigger>,
    watched: Vec<Watched>,
    row: Vec<f64>,
    channels: Channels<'m>,
}

struct Watched {
    /// The position of the channel in a row.
    column: usize,
    level: f64,
}

impl ChannelTriggers<'_> {
    pub fn new(model: &Model, events: &[(String, EventSettings)]) -> Result<Self, RunError> {
        let named = if events.is_empty() { vec![String::new()] } else { Vec::new() };
        let all = Channels::new(model, &named);
        for (name, event) in events {
            // Estimated frequencies belong to steps, not to states between them.
            let known = all.channels().iter().any(|c| c.name == event.channel);
            if !known || (model.fitted && event.channel.ends_with(".frequency")) {
                let near = nearest(&event.channel, all.channels().iter().map(|c| c.name.as_str())).map(str::to_owned);
                return Err(RunError::UnknownChannel { event: name.clone(), channel: event.channel.clone(), near });
            }
        }
        let names: Vec<String> = events.iter().map(|(_, event)| event.channel.clone()).collect();
        // Without events nothing is sampled; a pattern that matches no name keeps the time only.
        let patterns = if names.is_empty() { vec![String::new()] } else { names };
        let channels = Channels::new(model, &patterns);
        let column = |name: &str| channels.channels().iter().position(|c| c.name == name).unwrap_or(0);
        let watched = events.iter().map(|(_, e)| Watched { column: column(&e.channel), level: e.level }).collect();
        let list = events
            .iter()
            .map(|(name, event)| Trigger {
                name: name.clone(),
                direction: match event.crossing {
                    Crossing::Rising => Direction::Rising,
                    Crossing::Falling => Direction::Falling,
                    Crossing::Both => Direction::Both,
                },
                terminal: event.stop,
            })
            .collect();
        Ok(Self { list, watched, row: vec![0.0; channels.channels().len()], channels })
    }

    /// The watched channel of a trigger.
    pub fn channel(&self, trigger: usize) -> &Channel {
        &self.channels.channels()[self.watched[trigger].column]
    }

    /// The level of a trigger.
    pub fn level(&self, trigger: usize) -> f64 {
        self.watched[trigger].level
    }
}

impl<'m> Triggers<Hybrid<'m, Model>> for ChannelTriggers<'m> {
    fn list(&self) -> &[Trigger] {
        &self.list
    }
    fn values(&mut self, y: &Hybrid<'m, Model>, s: &State<f64>, out: &mut [f64]) {
        if self.watched.is_empty() {
            return;
        }
        if self.channels.sample(y, s, &mut self.row).is_err() {
            // A state at which the multipliers do not exist is reported by the integrator itself; here it is no event.
            self.row.fill(f64::NAN);
        }
        for (out, watched) in out.iter_mut().zip(&self.watched) {
            *out = self.row[watched.column] - watched.level;
        }
    }
}
