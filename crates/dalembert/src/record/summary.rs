//! The summary of a run: what `summary.json` holds.
//!
//! Keys are an interface; every one is described in `docs/src/run-record.md`. Numbers survive the trip through
//! JSON bit for bit. JSON knows no infinities, so a number that is not finite is written as the text `"NaN"`,
//! `"Infinity"` or `"-Infinity"`.

use std::collections::BTreeMap;
use std::fmt;

use dalembert_methods::trajectory::Channel;
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The end time was reached and the ledger closed.
    #[default]
    Completed,
    /// Somebody stopped the run; everything up to there is kept.
    Interrupted,
    /// The integrator gave up or the ledger does not close; everything up to there is kept.
    Failed,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        })
    }
}

/// The value of one setting of an integrator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// A switch.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(#[serde(with = "number")] f64),
    /// A word.
    Text(String),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(on) => f.write_str(if *on { "yes" } else { "no" }),
            Self::Count(n) => write!(f, "{n}"),
            Self::Number(x) if *x != 0.0 && !(1e-3..1e6).contains(&x.abs()) => write!(f, "{x:e}"),
            Self::Number(x) => write!(f, "{x}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Energies and momenta at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Balance {
    /// Kinetic energy, J.
    #[serde(with = "number")]
    pub kinetic: f64,
    /// Potential energy, J.
    #[serde(with = "number")]
    pub potential: f64,
    /// Energy dissipated since the start, J.
    #[serde(with = "number")]
    pub dissipated: f64,
    /// Energy supplied from outside since the start, J.
    #[serde(with = "number")]
    pub supplied: f64,
    /// kinetic + potential + dissipated − supplied, J: the sum that must not change.
    #[serde(with = "number")]
    pub total: f64,
    /// Linear momentum in the world frame, kg m/s.
    #[serde(with = "number::three")]
    pub linear_momentum: [f64; 3],
    /// Angular momentum about the world origin, kg m²/s.
    #[serde(with = "number::three")]
    pub angular_momentum: [f64; 3],
}

/// The account of a run: does what went in equal what came out and what stayed?
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// At the start.
    pub start: Balance,
    /// At the end.
    pub end: Balance,
    /// Largest change of the total from its start, J.
    #[serde(with = "number")]
    pub worst_imbalance: f64,
    /// When that was, s.
    #[serde(with = "number")]
    pub worst_imbalance_time: f64,
    /// How large that change may be for this tolerance, J.
    #[serde(with = "number")]
    pub allowance: f64,
    /// Whether the ledger closes.
    pub closes: bool,
    /// Largest residual of any position constraint, in the constraint's own unit (m or rad).
    #[serde(with = "number")]
    pub worst_position_residual: f64,
    /// Largest residual of any velocity constraint, in the constraint's own unit (m/s or rad/s).
    #[serde(with = "number")]
    pub worst_velocity_residual: f64,
    /// Energy lost in impacts, J; part of what was dissipated.
    #[serde(with = "number", default)]
    pub lost_in_impacts: f64,
    /// Heat of sliding contacts, J; part of what was dissipated.
    #[serde(with = "number", default)]
    pub lost_in_sliding: f64,
}

/// Where the run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalState {
    /// Time, s.
    #[serde(with = "number")]
    pub time: f64,
    /// Configuration.
    #[serde(with = "number::many")]
    pub q: Vec<f64>,
    /// Velocity.
    #[serde(with = "number::many")]
    pub v: Vec<f64>,
    /// Further states.
    #[serde(with = "number::many")]
    pub x: Vec<f64>,
}

/// One channel of the trajectory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelSummary {
    /// Name of the channel.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its frame, empty where no frame is involved.
    pub frame: String,
}

impl From<&Channel> for ChannelSummary {
    fn from(channel: &Channel) -> Self {
        let Channel { name, unit, frame } = channel.clone();
        Self { name, unit, frame }
    }
}

impl From<ChannelSummary> for Channel {
    fn from(channel: ChannelSummary) -> Self {
        Self { name: channel.name, unit: channel.unit, frame: channel.frame }
    }
}

/// Everything worth knowing about a run at a glance; the content of `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Always [`Summary::FORMAT`]; tells a run record from other JSON.
    pub format: String,
    /// Version of the record's layout, [`Summary::FORMAT_VERSION`].
    pub format_version: u32,
    /// Version of dalembert that made the run.
    pub dalembert_version: String,
    /// Name of the scene, such as `double-pendulum`.
    pub name: String,
    /// Title of the scene, for people.
    pub title: String,
    /// How the run ended.
    pub status: Status,
    /// What went wrong, if something did.
    pub error: Option<String>,
    /// Name of the integrator.
    pub integrator: String,
    /// Every setting of the integrator.
    pub settings: BTreeMap<String, Setting>,
    /// Tolerance asked for; none for a method of fixed step.
    pub tolerance: Option<f64>,
    /// Simulated time at which the run started, s.
    #[serde(with = "number")]
    pub start_time: f64,
    /// Simulated time at which the run ended, s.
    #[serde(with = "number")]
    pub end_time: f64,
    /// Seeds of random numbers by the name of their use.
    pub seeds: BTreeMap<String, u64>,
    /// Work done by name: steps, rejected steps, force evaluations, factorisations and so on.
    pub counts: BTreeMap<String, u64>,
    /// Time the run took on the clock on the wall, s.
    #[serde(with = "number")]
    pub wall_time: f64,
    /// Energies, momenta and residuals.
    pub ledger: Ledger,
    /// The state at the end.
    pub final_state: FinalState,
    /// Number of events.
    pub events: u64,
    /// Number of rows of the trajectory.
    pub rows: u64,
    /// Columns of the trajectory.
    pub channels: Vec<ChannelSummary>,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            format: Self::FORMAT.to_owned(),
            format_version: Self::FORMAT_VERSION,
            dalembert_version: env!("CARGO_PKG_VERSION").to_owned(),
            name: String::new(),
            title: String::new(),
            status: Status::default(),
            error: None,
            integrator: String::new(),
            settings: BTreeMap::new(),
            tolerance: None,
            start_time: 0.0,
            end_time: 0.0,
            seeds: BTreeMap::new(),
            counts: BTreeMap::new(),
            wall_time: 0.0,
            ledger: Ledger::default(),
            final_state: FinalState::default(),
            events: 0,
            rows: 0,
            channels: Vec::new(),
        }
    }
}

impl Summary {
    /// The value of the key `format`.
    pub const FORMAT: &'static str = "dalembert-run";
    /// The layout this version writes.
    pub const FORMAT_VERSION: u32 = 1;

    /// What to try so that the run takes less time, if its work tells.
    pub fn advice(&self) -> Option<String> {
        let count = |name: &str| self.counts.get(name).copied().unwrap_or(0);
        let (stiff, steps) = (count("stiff"), count("steps"));
        // A few such steps cost little.
        (20 * stiff > steps).then(|| {
            format!(
                "{stiff} of {steps} steps were as long as the stability of `{}` allows, not as its tolerance asks: the motion is \
                 stiff there; try `run.integrator = \"radau\"`",
                self.integrator
            )
        })
    }

    /// The text of `summary.json`: indented JSON with a line end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("maps have text keys and numbers are finite or text");
        text.push('\n');
        text
    }

    /// Reads the text of a `summary.json`.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// Numbers in JSON, with words for those that are not finite.
mod number {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Word(String),
    }

    impl From<f64> for Written {
        fn from(x: f64) -> Self {
            let word = |text: &str| Self::Word(text.to_owned());
            match x {
                x if x.is_finite() => Self::Number(x),
                x if x.is_nan() => word("NaN"),
                x if x > 0.0 => word("Infinity"),
                _ => word("-Infinity"),
            }
        }
    }

    impl Written {
        fn value<E: de::Error>(self) -> Result<f64, E> {
            match self {
                Self::Number(x) => Ok(x),
                Self::Word(word) => match word.as_str() {
                    "NaN" => Ok(f64::NAN),
                    "Infinity" => Ok(f64::INFINITY),
                    "-Infinity" => Ok(f64::NEG_INFINITY),
                    _ => Err(E::custom(format!("`{word}` is not a number"))),
                },
            }
        }
    }

    pub fn serialize<S: Serializer>(x: &f64, s: S) -> Result<S::Ok, S::Error> {
        Written::from(*x).serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
        Written::deserialize(d)?.value()
    }

    /// The same for a list.
    pub mod many {
        use super::{Deserialize, Deserializer, Serializer, Written};

        pub fn serialize<S: Serializer>(list: &[f64], s: S) -> Result<S::Ok, S::Error> {
            s.collect_seq(list.iter().map(|&x| Written::from(x)))
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<f64>, D::Error> {
            Vec::<Written>::deserialize(d)?.into_iter().map(Written::value).collect()
        }
    }

    /// The same for a vector in space.
    pub mod three {
        use super::{Deserializer, Serializer, de, many};

        pub fn serialize<S: Serializer>(vector: &[f64; 3], s: S) -> Result<S::Ok, S::Error> {
            many::serialize(vector, s)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<[f64; 3], D::Error> {
            let list = many::deserialize(d)?;
            list.try_into().map_err(|list: Vec<f64>| de::Error::invalid_length(list.len(), &"three numbers"))
        }
    }
}
