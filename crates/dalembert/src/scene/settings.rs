//! The tables of a scene that are not elements: what it is, the world, how to run it, what to write down.

use dalembert_methods::integrate::Settings;
use dalembert_methods::nonsmooth::{Options, Restitution};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `[scene]`: what the scene is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SceneInfo {
    /// The version of the format; always 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<u32>,
    /// A title, for reports.
    pub title: String,
    /// What it shows, in a few sentences.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// `[world]`: what surrounds the bodies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct World {
    /// Uniform gravitational acceleration in the world frame.
    #[schemars(extend("unit" = "m/s²"))]
    pub gravity: [f64; 3],
}

/// What to do with initial values that violate a constraint.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Initial {
    /// Refuse them, naming the constraint.
    #[default]
    Strict,
    /// Move positions, then velocities, to the nearest values that satisfy all constraints.
    Project,
}

/// `[run]`: how to simulate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunSettings {
    /// Time at which the run starts.
    #[schemars(extend("unit" = "s"))]
    pub start: f64,
    /// Time at which the run ends.
    #[schemars(extend("unit" = "s"))]
    pub until: f64,
    /// The integrator; `dalembert list integrators` shows all.
    pub integrator: String,
    /// Relative tolerance of the integrator.
    #[schemars(extend("unit" = "1"))]
    pub tolerance: f64,
    /// What to do with initial values that violate a constraint.
    pub initial: Initial,
    /// The energy ledger may be off by this factor times the sum of what the error control allows in each step.
    #[schemars(extend("unit" = "1"))]
    pub ledger_factor: f64,
    /// How contacts are treated.
    pub contacts: ContactSettings,
    /// Forces that belong to the fast potential, for `multirate`: names of forces, in which `*` stands for any text. Without any they are found from
    /// stiffness.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fast: Vec<String>,
    /// Bodies whose variables are fast, for `multirate`: names of bodies, in which `*` stands for any text. If no forces are named in `fast`, those that act on these
    /// bodies and on the ground alone are fast. A body on which no fast force acts is an error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fast_bodies: Vec<String>,
    /// Forces of a still higher rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faster: Vec<String>,
    /// Forces of the highest rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fastest: Vec<String>,
    /// Further settings of the integrator, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, f64>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            start: 0.0,
            until: 10.0,
            integrator: "dop853".to_owned(),
            tolerance: 1e-8,
            initial: Initial::default(),
            ledger_factor: 1.0,
            contacts: ContactSettings::default(),
            fast: Vec::new(),
            fast_bodies: Vec::new(),
            faster: Vec::new(),
            fastest: Vec::new(),
            settings: BTreeMap::new(),
        }
    }
}

impl RunSettings {
    /// The forces of all rates above zero, with their keys.
    pub(super) fn rates(&self) -> [(&'static str, &[String]); 3] {
        [("fast", &self.fast), ("faster", &self.faster), ("fastest", &self.fastest)]
    }

    /// The settings of the integrator, tolerance included.
    pub fn integrator_settings(&self) -> Settings {
        let mut settings = Settings::default().with("tolerance", self.tolerance);
        for (name, &value) in &self.settings {
            settings.set(name, value);
        }
        settings
    }
}

/// On what a coefficient of restitution acts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RestitutionLaw {
    /// On normal velocities (Newton).
    #[default]
    Newton,
    /// On normal impulses (Poisson).
    Poisson,
    /// On the work of normal impulses (Stronge).
    Energetic,
}

/// `[run.contacts]`: how contacts are treated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContactSettings {
    /// On what coefficients of restitution act.
    pub restitution: RestitutionLaw,
    /// Whether impacts have friction impulses.
    pub impact_friction: bool,
    /// Gaps up to this count as closed at an event, so that what touches together within the error of a run is one impact; 0 takes 1e-10 m,
    /// or a tenth of the tolerance if that is more.
    #[schemars(extend("unit" = "m"))]
    pub touch: f64,
    /// Speeds up to this count as zero at an event.
    #[schemars(extend("unit" = "m/s"))]
    pub rest: f64,
    /// Slips in two dimensions that start are led in their first direction up to this speed, as it is noise until then; 0 takes 1e-5 m/s,
    /// or 1e4 times the tolerance if that is more.
    #[schemars(extend("unit" = "m/s"))]
    pub creep: f64,
    /// When ever shorter bounces would come to rest within this time, the contact closes for good.
    #[schemars(extend("unit" = "s"))]
    pub settle: f64,
}

impl Default for ContactSettings {
    fn default() -> Self {
        let Options { rest, settle, .. } = Options::default();
        Self { restitution: RestitutionLaw::Newton, impact_friction: true, touch: 0.0, rest, creep: 0.0, settle }
    }
}

impl ContactSettings {
    /// The same in the words of the methods, for a run of some tolerance.
    pub fn options(&self, tolerance: f64) -> Options {
        let restitution = match self.restitution {
            RestitutionLaw::Newton => Restitution::Newton,
            RestitutionLaw::Poisson => Restitution::Poisson,
            RestitutionLaw::Energetic => Restitution::Energetic,
        };
        let Self { impact_friction, touch, rest, creep, settle, .. } = *self;
        let own = Options::default();
        let given = |value: f64, otherwise: f64| if value > 0.0 { value } else { otherwise };
        Options {
            touch: given(touch, own.touch.max(tolerance / 10.0)),
            rest,
            creep: given(creep, own.creep.max(1e4 * tolerance)),
            restitution,
            impact_friction,
            settle,
        }
    }
}

/// `[output]`: what to write down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutputSettings {
    /// Time between recorded rows; 0 records a thousand rows over the run.
    #[schemars(extend("unit" = "s"))]
    pub every: f64,
    /// Which channels to record: names in which `*` stands for any text; all if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
}

impl Default for OutputSettings {
    fn default() -> Self {
        Self { every: 0.0, channels: Vec::new() }
    }
}

/// The direction in which a channel crosses a level.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Crossing {
    /// From below to above.
    Rising,
    /// From above to below.
    Falling,
    /// Either way.
    #[default]
    Both,
}

/// `[event.NAME]`: an instant to be located, where a channel crosses a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventSettings {
    /// The channel to watch, for instance `body.bob.velocity.z`.
    pub channel: String,
    /// The level, in the unit of the channel.
    #[serde(default)]
    pub level: f64,
    /// The direction of the crossing.
    #[serde(default)]
    pub crossing: Crossing,
    /// Whether the run ends there.
    #[serde(default)]
    pub stop: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scene_says_of_contacts_is_not_changed_by_the_tolerance() {
        let small = ContactSettings { touch: 1e-14, creep: 1e-9, ..ContactSettings::default() }.options(1e-3);
        assert_eq!((small.touch, small.creep), (1e-14, 1e-9));
        let own = ContactSettings::default();
        assert_eq!((own.options(1e-12).touch, own.options(1e-12).creep), (1e-10, 1e-5));
        assert_eq!((own.options(1e-6).touch, own.options(1e-6).creep), (1e-6 / 10.0, 1e4 * 1e-6));
    }
}
