//! The tables of a study as TOML has them.

use dalembert_optimise::Bound;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub optimise: Optimise,
    #[serde(default)]
    pub control: Vec<ControlTable>,
    #[serde(default, rename = "static")]
    pub fixed: Vec<ControlTable>,
    #[serde(default)]
    pub phase: Vec<PhaseTable>,
    #[serde(default)]
    pub goal: Vec<GoalTable>,
    #[serde(default)]
    pub periodic: Vec<PeriodicTable>,
    pub front: Option<FrontTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Optimise {
    pub scene: Spanned<String>,
    #[serde(default)]
    pub set: Vec<String>,
    pub method: Spanned<String>,
    pub form: Option<Spanned<String>>,
    /// `interior` or `sqp`.
    pub solver: Option<Spanned<String>>,
    pub intervals: Option<usize>,
    pub tolerance: Option<f64>,
    pub iterations: Option<usize>,
    pub refine: Option<Refine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refine {
    pub tolerance: f64,
    #[serde(default = "three")]
    pub rounds: usize,
}

fn three() -> usize {
    3
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ControlTable {
    pub name: String,
    pub on: Spanned<String>,
    pub between: Option<Range>,
    #[serde(default)]
    pub guess: f64,
}

/// A number, whole or not.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Number {
    Integer(i64),
    Float(f64),
}

/// Two limits.
#[derive(Deserialize)]
pub(super) struct Range(pub [Number; 2]);

/// One number, or two limits.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Duration {
    One(f64),
    Two([f64; 2]),
}

impl Duration {
    pub fn limits(&self) -> (f64, f64) {
        match self {
            Self::One(t) => (*t, *t),
            Self::Two([a, b]) => (*a, *b),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PhaseTable {
    pub name: Option<String>,
    pub duration: Spanned<Duration>,
    pub guess_duration: Option<f64>,
    pub intervals: Option<usize>,
    pub method: Option<Spanned<String>>,
    pub form: Option<Spanned<String>>,
    #[serde(default)]
    pub without: Vec<String>,
    pub start: Option<Conditions>,
    pub end: Option<Conditions>,
    #[serde(default)]
    pub always: Vec<ConditionTable>,
    #[serde(default)]
    pub guess: Vec<GuessTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GuessTable {
    pub part: f64,
    pub configuration: Option<Spanned<Vec<f64>>>,
    #[serde(default)]
    pub controls: BTreeMap<String, f64>,
}

/// A whole configuration, velocity or momentum.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Whole {
    Word(String),
    Numbers(Vec<f64>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Conditions {
    pub configuration: Option<Spanned<Whole>>,
    pub velocity: Option<Spanned<Whole>>,
    pub momentum: Option<Spanned<Whole>>,
    /// Extra states as the scene has them at its start.
    pub extra: Option<Spanned<String>>,
    #[serde(default, rename = "where")]
    pub conditions: Vec<ConditionTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConditionTable {
    pub of: Spanned<String>,
    pub name: Option<String>,
    pub is: Option<f64>,
    pub between: Option<[f64; 2]>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}

impl ConditionTable {
    pub fn bound(&self) -> Result<Bound, String> {
        match (self.is, self.between, self.at_least, self.at_most) {
            (Some(value), None, None, None) => Ok(Bound::equal(value)),
            (None, Some([a, b]), None, None) if a <= b => Ok(Bound::between(a, b)),
            (None, Some([a, b]), None, None) => {
                Err(format!("`between` has its limits in the wrong order: {a} and {b}"))
            }
            (None, None, None, None) => Err("expected `is`, `between`, `at_least` or `at_most`".into()),
            (None, None, low, high) => {
                Ok(Bound::between(low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)))
            }
            _ => Err("`is`, `between` and `at_least` with `at_most` exclude each other".into()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoalTable {
    pub name: Spanned<String>,
    #[serde(default = "one")]
    pub weight: f64,
    pub phase: Option<Spanned<String>>,
    pub integral: Option<Spanned<String>>,
    pub end: Option<Spanned<String>>,
    #[serde(default)]
    pub time: bool,
    pub rates: Option<Spanned<String>>,
    /// The range that matters on a front.
    pub within: Option<Range>,
}

fn one() -> f64 {
    1.0
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PeriodicTable {
    pub of: Spanned<String>,
    #[serde(default)]
    pub shift: f64,
}

/// How the front of all goals is sought.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrontTable {
    pub method: Option<Spanned<String>>,
    pub least: Option<Spanned<String>>,
    pub spacing: Option<f64>,
    pub samples: Option<usize>,
    pub bend: Option<f64>,
    pub seed: Option<u64>,
    pub starts: Option<usize>,
    pub attempts: Option<usize>,
    pub rounds: Option<usize>,
    pub behind: Option<f64>,
    pub apart: Option<f64>,
    pub most: Option<usize>,
    /// Whether warm starts are solved by sequences of quadratic programs.
    #[serde(default)]
    pub sequences: bool,
}
