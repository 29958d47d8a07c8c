//! Quantities written as text: arithmetic over channels, coordinates, rates, controls and parameters.
//!
//! Names are those of channels (`marker.tip.position.z`, `energy.kinetic`), of coordinates and their rates (`body.arm.elbow`, `body.arm.elbow.rate`), of controls and static
//! parameters, `time`, `duration`, and `effort`, the sum of the squares of all controls.

use super::file::File;
use super::squares;
use crate::difference::is_flat;
use crate::moment::{Function, Moment};
use dalembert::expression::{Expression, nearest};
use dalembert::model::Model;
use dalembert::run::Reading;
use dalembert_graph::Trace;
use dalembert_methods::System;

/// Where a name comes from.
#[derive(Clone, Debug)]
enum Origin {
    Time,
    Duration,
    Effort,
    Coordinate(usize),
    Velocity(usize),
    Control(usize),
    Static(usize),
    /// The reaction of a constraint that the phase does not have.
    Nothing,
    Channel(Box<Reading>),
}

/// A name that is an unknown by itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    Coordinate(usize),
    Velocity(usize),
}

/// The names that can be used.
pub(super) struct Names {
    velocities: Vec<String>,
    flat: bool,
    controls: Vec<String>,
    statics: Vec<String>,
}

/// The phase in which a quantity is read.
pub(super) struct Scope<'m> {
    /// The models of all phases.
    pub models: Vec<&'m Model>,
    /// Their names.
    pub phases: &'m [String],
    /// The phase.
    pub phase: usize,
    /// Whether the study names it; otherwise what is said holds for all phases, and constraints that one does not have press with nothing there.
    pub named: bool,
}

/// Why an integral over the motion is no quantity of an instant, and what to write.
fn integral(name: &str) -> Option<String> {
    let what = match name {
        "energy.supplied" => "write the power of what supplies it, `integral = \"push*body.x.rate\"` in a goal",
        "energy.dissipated" => "write the power that is lost, `integral = \"damping*body.x.rate^2\"` in a goal",
        "energy.total" => "write `energy.kinetic + energy.potential` for the mechanical energy",
        _ => return None,
    };
    Some(format!("`{name}` holds an integral over the motion, which an instant does not tell: {what}"))
}

/// An expression and where its variables come from.
#[derive(Clone, Debug)]
pub(super) struct Quantity {
    expression: Expression,
    origins: Vec<Origin>,
}

impl Names {
    pub fn new(model: &Model, file: &File, _parameters: &[(String, usize)], typical: &[f64]) -> Self {
        let velocities = (0..model.shape().v).map(|i| model.velocity_name(i).replace(", ", ".")).collect();
        Self {
            velocities,
            flat: is_flat(model, typical),
            controls: file.control.iter().map(|c| c.name.clone()).collect(),
            statics: file.fixed.iter().map(|c| c.name.clone()).collect(),
        }
    }

    /// The number of the velocity of this path.
    pub fn velocity(&self, path: &str) -> Result<usize, String> {
        self.velocities.iter().position(|own| own == path).ok_or_else(|| {
            let hint = nearest(path, self.velocities.iter().map(String::as_str));
            let hint = hint.map_or_else(
                || format!("there are {}", self.velocities.join(", ")),
                |n| format!("did you mean `{n}`?"),
            );
            format!("there is no velocity `{path}`, and it is neither `signal.NAME` nor a coefficient; {hint}")
        })
    }

    /// The unknown that a text names, if it is a single name.
    pub fn unknown(&self, text: &str) -> Option<Unknown> {
        let text = text.trim();
        match text.strip_suffix(".rate") {
            Some(path) => self.velocities.iter().position(|own| own == path).map(Unknown::Velocity),
            None if self.flat => self.velocities.iter().position(|own| own == text).map(Unknown::Coordinate),
            None => None,
        }
    }

    fn origin(&self, scope: &Scope<'_>, name: &str) -> Result<Origin, String> {
        match name {
            "time" => return Ok(Origin::Time),
            "duration" => return Ok(Origin::Duration),
            "effort" => return Ok(Origin::Effort),
            _ => {}
        }
        if let Some(i) = self.controls.iter().position(|own| own == name) {
            return Ok(Origin::Control(i));
        }
        if let Some(i) = self.statics.iter().position(|own| own == name) {
            return Ok(Origin::Static(i));
        }
        match self.unknown(name) {
            Some(Unknown::Coordinate(i)) => return Ok(Origin::Coordinate(i)),
            Some(Unknown::Velocity(i)) => return Ok(Origin::Velocity(i)),
            None => {}
        }
        if let Some(message) = integral(name) {
            return Err(message);
        }
        let error = match Reading::new(scope.models[scope.phase], name) {
            Ok(reading) => return Ok(Origin::Channel(Box::new(reading))),
            Err(error) => error,
        };
        let elsewhere = |&k: &usize| Reading::new(scope.models[k], name).ok().map(|r| (k, r.needs_multipliers()));
        let others: Vec<(usize, bool)> = (0..scope.models.len()).filter_map(|k| elsewhere(&k)).collect();
        match others.first() {
            None => {}
            Some((_, true)) if !scope.named => return Ok(Origin::Nothing),
            Some(_) => {
                let own = others.iter().map(|(k, _)| format!("`{}`", scope.phases[*k])).collect::<Vec<_>>().join(", ");
                let phase = &scope.phases[scope.phase];
                return Err(format!(
                    "there is no `{name}` in phase `{phase}`, which is without it; it is known in {own}"
                ));
            }
        }
        let own = self.controls.iter().chain(&self.statics).chain(&self.velocities).map(String::as_str);
        Err(match nearest(name, own) {
            Some(near) => format!("there is nothing called `{name}`; did you mean `{near}`?"),
            None => error.to_string(),
        })
    }

    /// Reads a quantity.
    pub fn quantity(&self, scope: &Scope<'_>, text: &str) -> Result<Quantity, String> {
        let (plain, names) = plain(text);
        // What is written without dots may be a function or a constant of arithmetic.
        let slots: Vec<String> = (0..names.len()).map(|k| format!("name_{k}_")).collect();
        let mut known: Vec<&str> = slots.iter().map(String::as_str).collect();
        let fixed = ["time", "duration", "effort"];
        let words: Vec<String> =
            fixed.iter().map(|s| (*s).to_owned()).chain(self.controls.clone()).chain(self.statics.clone()).collect();
        known.extend(words.iter().map(String::as_str));
        let told = |e: dalembert::expression::ExpressionError| match e.help() {
            Some(help) => format!("{e}; {help}"),
            None => e.to_string(),
        };
        let expression = Expression::parse_in(&plain, &known).map_err(told)?;
        let mut origins = Vec::new();
        for variable in expression.variables() {
            let name = match slots.iter().position(|slot| *slot == variable.name) {
                Some(k) => &names[k],
                None => &variable.name,
            };
            let unused = variable.range.is_empty();
            origins.push(if unused { Origin::Time } else { self.origin(scope, name)? });
        }
        Ok(Quantity { expression, origins })
    }
}

/// The text with dotted names replaced by plain ones, and the names.
fn plain(text: &str) -> (String, Vec<String>) {
    let (mut out, mut names) = (String::new(), Vec::<String>::new());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c.is_alphabetic() || c == '_' {
            let dotted = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let end = rest.find(|c: char| !dotted(c)).unwrap_or(rest.len());
            let word = &rest[..end];
            if word.contains('.') {
                let k = names.iter().position(|own| own == word).unwrap_or_else(|| {
                    names.push(word.to_owned());
                    names.len() - 1
                });
                out.push_str(&format!("name_{k}_"));
            } else {
                out.push_str(word);
            }
            rest = &rest[end..];
        } else if c.is_ascii_digit() {
            // A number with its exponent, so that 1e3 is no name.
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '.')).unwrap_or(rest.len());
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    (out, names)
}

impl Quantity {
    /// The value at a moment.
    pub fn value(&self, m: &mut Moment<'_, '_, Model>) -> Trace {
        let values: Vec<Trace> = self
            .origins
            .iter()
            .map(|origin| match origin {
                Origin::Time => m.time(),
                Origin::Duration => m.duration(),
                Origin::Effort => squares(m.controls()),
                Origin::Coordinate(i) => m.q()[*i],
                Origin::Velocity(i) => m.v()[*i],
                Origin::Control(i) => m.controls()[*i],
                Origin::Static(i) => m.statics()[*i],
                Origin::Nothing => Trace::from(0.0),
                Origin::Channel(reading) => {
                    let multipliers = if reading.needs_multipliers() { m.multipliers() } else { Vec::new() };
                    let (model, state, work) = m.prepared();
                    reading.value(model, state, work, &multipliers)
                }
            })
            .collect();
        self.expression.evaluate(&values)
    }

    /// As a function of a problem.
    pub fn function<'a>(&self) -> Function<'a, Model> {
        let own = self.clone();
        Box::new(move |m| own.value(m))
    }
}
