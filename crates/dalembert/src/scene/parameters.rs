//! The numbers of a scene by name, computed from one another in any order.

use super::error::{Problem, Problems, SceneError};
use super::limits::Limits;
use super::nearest;
use super::node::{Key, Node, Table, Value};
use super::scope::{self, Formula, Scope};
use super::source::{Sources, Span};
use crate::expression::{CONSTANTS, Expression, FUNCTIONS};
use std::collections::HashMap;

/// A parameter of a scene with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value, in the unit below.
    pub value: f64,
    /// The smallest value that makes sense.
    pub minimum: Option<f64>,
    /// The largest value that makes sense.
    pub maximum: Option<f64>,
    /// Its unit, for people.
    pub unit: Option<String>,
    /// What it is for.
    pub about: Option<String>,
    /// Whether it is written as a table, and so meant to be varied.
    pub adjustable: bool,
    /// Where its value is written.
    pub span: Span,
}

/// The keys of an adjustable parameter.
const KEYS: [&str; 5] = ["value", "min", "max", "unit", "about"];

/// Computes all parameters and writes their values into the table.
pub(super) fn resolve(
    table: &mut Table,
    sources: &Sources,
    limits: &Limits,
) -> Result<(Vec<Parameter>, Scope), SceneError> {
    let mut problems = Problems::default();
    let names: HashMap<String, usize> = table.names().enumerate().map(|(i, name)| (name.to_owned(), i)).collect();
    let mut items = Vec::with_capacity(table.len());
    for (key, node) in table.iter() {
        items.push(Item::read(key, node, &names, sources, limits, &mut problems));
    }
    problems.or(())?;
    let order = order(&items, sources)?;
    let scope = evaluate(&mut items, &order, sources)?;
    let mut problems = Problems::default();
    let mut parameters = Vec::with_capacity(items.len());
    for ((key, node), item) in table.iter_mut().zip(&items) {
        match finish(key, node, item, &scope, sources, limits) {
            Ok(parameter) => parameters.push(parameter),
            Err(error) => problems.extend(error),
        }
    }
    problems.or((parameters, scope))
}

/// A parameter before its value is known.
struct Item {
    name: String,
    span: Span,
    /// The value if it is a number, else the arithmetic and the parameters that it uses, in the order of its slots.
    value: f64,
    formula: Option<(String, Expression)>,
    uses: Vec<usize>,
}

impl Item {
    fn read(
        key: &Key,
        node: &Node,
        names: &HashMap<String, usize>,
        sources: &Sources,
        limits: &Limits,
        problems: &mut Problems,
    ) -> Self {
        let mut item =
            Self { name: key.name.as_ref().into(), span: node.span, value: 0.0, formula: None, uses: Vec::new() };
        if let Err(problem) = check_name(&key.name).map_err(|message| Problem::new(message).at(sources, key.span)) {
            problems.push(problem.help("choose another name"));
        }
        let value = match &node.value {
            Value::Table(table) => match table.get("value") {
                Some(value) => value,
                None => {
                    let problem = Problem::new(format!("the parameter `{}` has no `value`", key.name));
                    problems.push(problem.at(sources, node.span));
                    return item;
                }
            },
            _ => node,
        };
        item.span = value.span;
        match (&value.value, value.as_number()) {
            (_, Some(number)) if number.is_finite() => item.value = number,
            (Value::String(text), _) if text.starts_with('=') => {
                if let Err(error) = item.parse(text, names, sources, limits) {
                    problems.extend(error);
                }
            }
            (other, _) => {
                let message =
                    format!("the parameter `{}` must be a finite number, found {}", key.name, other.describe());
                problems.push(
                    Problem::new(message)
                        .at(sources, value.span)
                        .help("arithmetic starts with `=`, as in \"= 2*length\""),
                );
            }
        }
        item
    }

    fn parse(
        &mut self,
        text: &str,
        names: &HashMap<String, usize>,
        sources: &Sources,
        limits: &Limits,
    ) -> Result<(), SceneError> {
        let Some(formula) = Formula::of(text, self.span) else { return Ok(()) };
        let expression = formula.parse(sources, limits)?;
        let mut problems = Problems::default();
        for variable in expression.variables() {
            match names.get(&variable.name) {
                Some(index) => self.uses.push(*index),
                None => {
                    let mut known: Vec<_> = names.keys().map(String::as_str).collect();
                    known.sort_unstable();
                    let known = known.into_iter().chain(CONSTANTS.iter().map(|about| about.name));
                    let near = nearest(&variable.name, known).map(str::to_owned);
                    let place = formula.place(sources, variable.range.clone());
                    problems.push(scope::unknown(sources, &variable.name, place, near));
                }
            }
        }
        problems.or(())?;
        self.formula = Some((text.into(), expression));
        Ok(())
    }
}

/// A name must be readable in an expression and mean nothing else there.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let mut letters = name.chars();
    let word =
        letters.next().is_some_and(crate::expression::starts_name) && letters.all(crate::expression::continues_name);
    if !word || matches!(name, "and" | "or" | "not") {
        return Err(format!("`{name}` cannot be a name in arithmetic: it must be a word of letters, digits and `_`"));
    }
    if CONSTANTS.iter().chain(FUNCTIONS).any(|about| about.name == name) {
        return Err(format!("`{name}` already has a meaning in arithmetic"));
    }
    Ok(())
}

/// The order in which every parameter comes after those that it uses (Kahn's algorithm).
fn order(items: &[Item], sources: &Sources) -> Result<Vec<usize>, SceneError> {
    let mut users = vec![Vec::new(); items.len()];
    let mut waits: Vec<usize> = items.iter().map(|item| item.uses.len()).collect();
    for (i, item) in items.iter().enumerate() {
        for used in &item.uses {
            users[*used].push(i);
        }
    }
    let mut order: Vec<usize> = (0..items.len()).filter(|i| waits[*i] == 0).collect();
    let mut next = 0;
    while next < order.len() {
        for user in &users[order[next]] {
            waits[*user] -= 1;
            if waits[*user] == 0 {
                order.push(*user);
            }
        }
        next += 1;
    }
    if order.len() == items.len() {
        return Ok(order);
    }
    Err(circles(items, &waits, sources))
}

/// Names every circle among the parameters that still wait.
fn circles(items: &[Item], waits: &[usize], sources: &Sources) -> SceneError {
    // Following, from each waiting parameter, one that it waits for must run into a circle.
    let mut problems = Problems::default();
    let mut walk_of = vec![usize::MAX; items.len()];
    for start in (0..items.len()).filter(|i| waits[*i] > 0) {
        let mut walk = Vec::new();
        let mut at = start;
        while walk_of[at] == usize::MAX {
            walk_of[at] = start;
            walk.push(at);
            let Some(next) = items[at].uses.iter().copied().find(|used| waits[*used] > 0) else { break };
            at = next;
        }
        let Some(first) = walk.iter().position(|i| *i == at).filter(|_| walk_of[at] == start) else { continue };
        let circle: Vec<_> = walk[first..].iter().chain([&at]).map(|i| items[*i].name.as_str()).collect();
        let message = match circle.as_slice() {
            [name, _] => format!("the parameter `{name}` refers to itself"),
            _ => format!("parameters refer to each other in a circle: {}", circle.join(" → ")),
        };
        problems.push(Problem::new(message).at(sources, items[at].span));
    }
    match problems.or(()) {
        Err(error) => error,
        Ok(()) => Problem::new("parameters refer to each other in a circle").into(),
    }
}

/// Computes the values in order. What depends on a failed value is not reported again.
fn evaluate(items: &mut [Item], order: &[usize], sources: &Sources) -> Result<Scope, SceneError> {
    let mut problems = Problems::default();
    let mut failed = vec![false; items.len()];
    let mut scope = Scope::default();
    for &i in order {
        failed[i] = items[i].uses.iter().any(|used| failed[*used]);
        if let Some((text, expression)) = &items[i].formula
            && !failed[i]
        {
            let values: Vec<f64> = items[i].uses.iter().map(|used| items[*used].value).collect();
            match expression.value(&values) {
                Ok(value) => items[i].value = value,
                Err(error) => {
                    failed[i] = true;
                    if let Some(formula) = Formula::of(text, items[i].span) {
                        problems.push(formula.problem(sources, &error));
                    }
                }
            }
        }
        scope.set(&items[i].name, items[i].value);
    }
    problems.or(scope)
}

/// Writes the value into the table and reads what else is said about the parameter.
fn finish(
    key: &Key,
    node: &mut Node,
    item: &Item,
    scope: &Scope,
    sources: &Sources,
    limits: &Limits,
) -> Result<Parameter, SceneError> {
    let mut parameter = Parameter {
        name: key.name.as_ref().into(),
        value: item.value,
        minimum: None,
        maximum: None,
        unit: None,
        about: None,
        adjustable: false,
        span: item.span,
    };
    let Value::Table(table) = &mut node.value else {
        if item.formula.is_some() {
            node.value = Value::from_number(item.value);
        }
        return Ok(parameter);
    };
    parameter.adjustable = true;
    let mut problems = Problems::default();
    for (key, node) in table.iter_mut() {
        let name = key.name.as_ref();
        if item.formula.is_some() && name == "value" {
            node.value = Value::from_number(item.value);
        }
        if let Some(formula) = node.as_str().and_then(|text| Formula::of(text, node.span)) {
            match formula.value(sources, limits, scope) {
                Ok(value) => node.value = Value::from_number(value),
                Err(error) => {
                    problems.extend(error);
                    continue;
                }
            }
        }
        match name {
            "value" => {}
            "min" | "max" => {
                let Some(number) = node.as_number() else {
                    let message = format!("expected a number, found {}", node.value.describe());
                    problems.push(Problem::new(message).at(sources, node.span));
                    continue;
                };
                let (bound, outside) = if name == "min" {
                    (&mut parameter.minimum, item.value < number)
                } else {
                    (&mut parameter.maximum, item.value > number)
                };
                *bound = Some(number);
                if outside {
                    let message =
                        format!("the parameter `{}` is {}, beyond its {name} {number}", parameter.name, item.value);
                    problems.push(Problem::new(message).at(sources, item.span));
                }
            }
            "unit" | "about" => match &node.value {
                Value::String(text) if name == "unit" => parameter.unit = Some(text.clone()),
                Value::String(text) => parameter.about = Some(text.clone()),
                other => {
                    let message = format!("expected text, found {}", other.describe());
                    problems.push(Problem::new(message).at(sources, node.span));
                }
            },
            _ => {
                let help = match nearest(name, KEYS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("expected one of {}", KEYS.join(", ")),
                };
                problems.push(Problem::new(format!("unknown key `{name}`")).at(sources, key.span).help(help));
            }
        }
    }
    problems.or(parameter)
}
