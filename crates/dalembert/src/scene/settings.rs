//! The tables of a scene that are not elements: what it is, the world, how to run it, what to write down.

use dalembert_methods::integrate::Settings;
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
            settings: BTreeMap::new(),
        }
    }
}

impl RunSettings {
    /// The settings of the integrator, tolerance included.
    pub fn integrator_settings(&self) -> Settings {
        let mut settings = Settings::default().with("tolerance", self.tolerance);
        for (name, &value) in &self.settings {
            settings.set(name, value);
        }
        settings
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
