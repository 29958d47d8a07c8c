//! Two-point problems: motions whose start and end meet conditions that are written as formulas.

use super::Work;
use super::choice::{Choice, missing};
use super::cycles::turn;
use super::item::{Item, Items};
use super::job::{Job, said, velocity};
use super::walk::{Strides, Walk};
use crate::error;
use dalembert::expression::Expression;
use dalembert::methods::nonsmooth::Hybrid;
use dalembert::methods::scalar::Dual;
use dalembert::methods::{State, System};
use dalembert::model::Model;
use dalembert_analysis::boundary::{Conditions, Flight, Met, Struck, Timed, Values, meet, seek};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::evolution;
use dalembert_analysis::field::Settings;
use dalembert_analysis::stride::{ROUGH, Stride};
use pyo3::prelude::*;

/// Points of a generation of the evolution strategy for each direction, and the goal at which it ends.
const POINTS: usize = 6;
const GOAL: f64 = 1e-7;

/// A condition: a formula that is to have a value, and where its variables are in (first, last), each as (q, v).
struct Condition {
    formula: Expression,
    level: f64,
    places: Vec<usize>,
}

impl Condition {
    /// A condition on the start, or on the end, which may refer to the start.
    fn read(model: &Model, text: &str, on_end: bool) -> Result<Self, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("`{text}`: {error}");
        let (left, level) = match text.rsplit_once('=').filter(|(left, _)| !left.ends_with(['<', '>', '=', '!'])) {
            None => (text, 0.0),
            Some((left, right)) => {
                let level = Expression::parse_in(right, &[]).and_then(|value| value.value(&[]));
                (left, level.map_err(|error| wrong(&error))?)
            }
        };
        let formula = Expression::parse(left).map_err(|error| wrong(&error))?;
        let n = model.shape().v;
        let place = |name: &str| -> Result<usize, String> {
            // A name that is one as it stands comes before its endings.
            if let Ok(i) = velocity(model, name) {
                return Ok(i + if on_end { 2 * n } else { 0 });
            }
            let (name, rate) = name.strip_suffix("_rate").map_or((name, 0), |name| (name, n));
            let first = name.strip_suffix("_first").filter(|_| on_end);
            let i = velocity(model, first.unwrap_or(name)).map_err(|reason| wrong(&reason))?;
            Ok(i + rate + if on_end && first.is_none() { 2 * n } else { 0 })
        };
        let places = formula.variables().iter().map(|v| place(&v.name)).collect::<Result<_, String>>()?;
        Ok(Self { formula, level, places })
    }

    /// The value and its derivatives by all variables.
    fn evaluate(&self, first: &[f64], last: &[f64]) -> (f64, Vec<f64>) {
        let number = |place: usize| first.get(place).copied().unwrap_or_else(|| last[place - first.len()]);
        let mut values: Vec<Dual> = self.places.iter().map(|&place| number(place).into()).collect();
        let plain = self.formula.evaluate(&values).re - self.level;
        let slopes = (0..values.len())
            .map(|k| {
                values[k].eps[0] = 1.0;
                let slope = self.formula.evaluate(&values).eps[0];
                values[k].eps[0] = 0.0;
                slope
            })
            .collect();
        (plain, slopes)
    }
}

/// All conditions with their derivatives.
fn evaluate(all: &[Condition], first: &[f64], last: &[f64]) -> Values {
    let (m, size) = (all.len(), first.len());
    let mut values =
        Values { value: Vec::with_capacity(m), by_first: Matrix::zeros(m, size), by_last: Matrix::zeros(m, size) };
    for (row, condition) in all.iter().enumerate() {
        let (value, slopes) = condition.evaluate(first, last);
        values.value.push(value);
        for (&place, slope) in condition.places.iter().zip(slopes) {
            if place < size {
                values.by_first[(row, place)] += slope;
            } else {
                values.by_last[(row, place - size)] += slope;
            }
        }
    }
    values
}

/// A motion whose start and end meet conditions, over a time or from strike to strike.
pub fn shoot(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&[&Strides::OPTIONS[..], &["time", "start", "end", "tolerance"]].concat())?;
    let (first, last) = (c.texts("start")?, c.texts("end")?);
    if last.is_empty() {
        return Err(missing("end"));
    }
    let (time, struck) = (c.maybe("time")?, c.has("strike")?);
    if time.is_some() == struck {
        return Err(error::value("this study needs one of the options `time` and `strike`"));
    }
    let strides = Strides::searched(c, struck)?;
    let tolerance = c.positive("tolerance", Some(1e-12))?;
    Ok(Box::new(move |job| -> Result<Items, String> {
        let scene = job.scene();
        let model = &scene.model;
        let first = first.iter().map(|text| Condition::read(model, text, false));
        let last = last.iter().map(|text| Condition::read(model, text, true));
        let all = first.chain(last).collect::<Result<Vec<_>, String>>()?;
        let conditions = |first: &[f64], last: &[f64]| evaluate(&all, first, last);
        let near = (1e3 * tolerance).max(1e-11);
        let (exact, rough) = (Settings::within(tolerance), Settings::within(tolerance.max(ROUGH)));
        let met = if let Some(time) = time {
            let contacts = scene.run.contacts.options(tolerance);
            let start = Hybrid::new(model).state(model.initial_state());
            let flight = |settings| Timed::new(model, &start, time, &contacts, settings).map_err(said);
            find(job, &flight(exact)?, &flight(rough)?, &conditions, &start, &strides, near)?
        } else {
            let walk = Walk::new(scene, &strides, tolerance)?;
            let start = walk.section.lift(model, &vec![0.0; walk.section.size()]).map_err(said)?;
            let flight = |settings| Struck { model, stride: Stride { settings, ..walk.stride() } };
            find(job, &flight(exact), &flight(rough), &conditions, &start, &strides, near)?
        };
        let mut items = vec![
            ("first_q", Item::Numbers(met.first.q.clone())),
            ("first_v", Item::Numbers(met.first.v.clone())),
            ("last_q", Item::Numbers(met.last.q.clone())),
            ("last_v", Item::Numbers(met.last.v.clone())),
            ("period", Item::Number(met.time)),
            ("residual", Item::Number(met.residual)),
            ("unknowns", Item::Count(met.unknowns)),
            ("conditions", Item::Count(met.conditions)),
            ("iterations", Item::Count(met.iterations)),
        ];
        items.extend(turn(scene, &met.first, met.time, tolerance)?);
        Ok(items)
    }))
}

/// Newton's method from the start, or from where the evolution strategy leads.
fn find(
    job: &Job<'_>,
    exact: &dyn Flight,
    rough: &dyn Flight,
    conditions: &Conditions<'_>,
    start: &State<f64>,
    strides: &Strides,
    near: f64,
) -> Result<Met, String> {
    let Some(spread) = strides.search else {
        return meet(exact, conditions, start, near).map_err(said);
    };
    let population = POINTS * exact.basis(start).map_err(said)?.cols().max(1);
    let mut last = "nothing was tried".to_owned();
    job.follow.begin(strides.tries.max(1));
    for round in 0..strides.tries.max(1) {
        if job.follow.ending() {
            break;
        }
        let seed = strides.seed + round as u64;
        let choice = evolution::Options { seed, population, generations: strides.generations, goal: GOAL };
        let (begin, _) = seek(rough, conditions, start, spread, strides.shortest, &choice).map_err(said)?;
        job.follow.step();
        match meet(exact, conditions, &begin, near) {
            Ok(met) if met.time >= strides.shortest => return Ok(met),
            Ok(met) => last = format!("the motion found takes {} s only", met.time),
            Err(error) => last = said(error),
        }
    }
    Err(last)
}
