//! A family of muscles of a skeleton: what they have in common, and how their activations differ from place to place.

use super::shape::SIGNS;
use crate::expression::Expression;
use crate::forces::{ForceVelocity, Law, Muscle};
use crate::model::{Builder, Param};
use crate::signals::{Signal, SignalRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// The muscles of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Activation from 0 to 1: a number, the name of a signal, or { expression = "…" } in t, s, y, z.
    pub activation: Activation,
    /// Stiffness at full activation.
    #[schemars(extend("unit" = "N/m"))]
    #[serde(default)]
    pub stiffness: Param,
    /// Length without active tension, the same for all muscles of the family.
    #[schemars(extend("unit" = "m"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_length: Option<f64>,
    /// The same as a part of the length that each muscle has in the given shape; 1 if neither is given.
    #[schemars(extend("unit" = "1"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_factor: Option<f64>,
    /// Damping, not negative.
    #[schemars(extend("unit" = "N s/m"))]
    #[serde(default)]
    pub damping: Param,
    /// Active law in place of a stiffness, as of a `muscle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<Law>,
    /// Passive law, as of a `muscle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passive: Option<Law>,
    /// Force–velocity factor, as of a `muscle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_velocity: Option<ForceVelocity>,
}

/// How muscles of a family are activated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, the name of a signal, or { expression = \"…\" } in t, s, y and z")]
pub enum Activation {
    /// The same number always and everywhere.
    Number(f64),
    /// A signal, the same everywhere.
    Signal(String),
    /// A wave, for instance `{ expression = "0.5 + 0.3*z*sin(2*pi*(t - k*s))", k = 2 }`.
    Wave {
        /// An expression in the time t in s and the place of the muscle: arclength s of its middle from 0 at the front
        /// to 1 at the end, and the sides y and z on which it lies, from −1 to 1.
        expression: String,
        /// Numbers that the expression may use by these names.
        #[serde(flatten)]
        constants: BTreeMap<String, f64>,
    },
}

impl Activation {
    /// A wave given by an expression in t, s, y and z.
    pub fn wave(expression: &str) -> Self {
        Self::Wave { expression: expression.to_owned(), constants: BTreeMap::new() }
    }
}

/// Where the middle of a muscle lies.
#[derive(Copy, Clone, Debug)]
pub(super) struct Spot {
    pub s: f64,
    pub y: f64,
    pub z: f64,
}

impl Spot {
    /// Half way between two corners, of which `arclength` knows the faces.
    pub fn between(arclength: &[f64], corners: [usize; 2]) -> Self {
        let [a, b] = corners;
        let mean = |axis: usize| (SIGNS[a % 4][axis] + SIGNS[b % 4][axis]) / 2.0;
        Self { s: (arclength[a / 4] + arclength[b / 4]) / 2.0, y: mean(0), z: mean(1) }
    }
}

impl Family {
    /// Linear muscles: the law of the document.
    pub fn linear(stiffness: f64, rest_length: f64, damping: f64, activation: Activation) -> Self {
        Self {
            activation,
            stiffness: stiffness.into(),
            rest_length: Some(rest_length),
            rest_factor: None,
            damping: damping.into(),
            active: None,
            passive: None,
            force_velocity: None,
        }
    }

    /// What is wrong with the numbers that are not those of a single muscle.
    pub(super) fn defect(&self) -> Option<String> {
        match (self.rest_length, self.rest_factor) {
            (Some(_), Some(_)) => Some("give either `rest_length` or `rest_factor`, not both".to_owned()),
            (Some(length), _) if length < 0.0 => Some(format!("a length must not be negative, found {length}")),
            (_, Some(factor)) if factor < 0.0 => Some(format!("a factor must not be negative, found {factor}")),
            _ => None,
        }
    }

    /// The muscle of a given length in the given shape.
    pub(super) fn muscle(&self, activation: SignalRef, length: f64) -> Muscle {
        let rest = self.rest_length.unwrap_or_else(|| self.rest_factor.unwrap_or(1.0) * length);
        Muscle {
            activation,
            stiffness: self.stiffness,
            rest_length: rest.into(),
            damping: self.damping,
            active: self.active.clone(),
            passive: self.passive.clone(),
            force_velocity: self.force_velocity,
        }
    }
}

/// The signals that activations stand for; muscles with the same activation share one.
pub(super) struct Activations<'n> {
    name: &'n str,
    /// Signals made so far: name by text.
    made: HashMap<String, SignalRef>,
    /// The same in the order in which they were made.
    pub signals: Vec<(String, Signal)>,
}

impl<'n> Activations<'n> {
    pub fn new(name: &'n str) -> Self {
        Self { name, made: HashMap::new(), signals: Vec::new() }
    }

    /// The activation of one muscle.
    pub fn of(&mut self, activation: &Activation, spot: Spot, builder: &Builder) -> Result<SignalRef, String> {
        match activation {
            Activation::Number(value) => Ok(SignalRef::Number(*value)),
            Activation::Signal(name) => match builder.find_signal(name) {
                Some(signal) => Ok(SignalRef::Named { name: name.clone(), signal: Some(signal.clone()), slot: None }),
                None => Err(format!("there is no signal `{name}`")),
            },
            Activation::Wave { expression, constants } => {
                let faulty = |error| format!("in the expression \"{expression}\": {error}");
                let mut names = vec!["t", "s", "y", "z"];
                if let Some(name) = constants.keys().find(|name| names.contains(&name.as_str())) {
                    return Err(format!("`{name}` already has a meaning in the expression"));
                }
                names.extend(constants.keys().map(String::as_str));
                let mut wave = Expression::parse_in(expression, &names).map_err(faulty)?;
                for (slot, value) in [spot.s, spot.y, spot.z].into_iter().chain(constants.values().copied()).enumerate()
                {
                    wave = wave.with(slot + 1, value);
                }
                let text = wave.to_string();
                if let Some(known) = self.made.get(&text) {
                    return Ok(known.clone());
                }
                let name = format!("{}_activation{}", self.name, self.signals.len() + 1);
                let signal = Signal::expression(&text).map_err(faulty)?;
                self.signals.push((name.clone(), signal.clone()));
                Ok(self.made.entry(text).or_insert(SignalRef::new(&name, signal)).clone())
            }
        }
    }
}
