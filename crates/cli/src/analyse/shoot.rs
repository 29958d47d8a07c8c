//! Two-point problems of scenes: motions whose start and end meet conditions that are written as formulas.

use super::page::Page;
use super::walk::Walk;
use super::{failed, velocity};
use crate::args::{ModelOptions, ShotOptions, StrideOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::expression::Expression;
use dalembert::model::Model;
use dalembert_analysis::boundary::{Conditions, Flight, Met, Struck, Timed, Values, meet, seek};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::evolution;
use dalembert_analysis::field::Settings;
use dalembert_analysis::stride::{ROUGH, Stride};
use dalembert_methods::nonsmooth::Hybrid;
use dalembert_methods::scalar::Dual;
use dalembert_methods::system::{State, System};
use std::path::Path;

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
    fn read(model: &Model, text: &str, on_end: bool) -> Result<Self, Exit> {
        let (left, level) = match text.rsplit_once('=').filter(|(left, _)| !left.ends_with(['<', '>', '=', '!'])) {
            None => (text, 0.0),
            Some((left, right)) => {
                let level = Expression::parse_in(right, &[]).and_then(|value| value.value(&[]));
                (left, level.map_err(|error| Exit::Usage(format!("`{text}`: {error}")))?)
            }
        };
        let formula = Expression::parse(left).map_err(|error| Exit::Usage(format!("`{text}`: {error}")))?;
        let n = model.shape().v;
        let place = |name: &str| -> Result<usize, Exit> {
            // A name that is one as it stands comes before its endings.
            if let Ok(i) = velocity(model, name) {
                return Ok(i + if on_end { 2 * n } else { 0 });
            }
            let (name, rate) = name.strip_suffix("_rate").map_or((name, 0), |name| (name, n));
            let first = name.strip_suffix("_first").filter(|_| on_end);
            let i = velocity(model, first.unwrap_or(name)).map_err(|exit| match exit {
                Exit::Usage(reason) => Exit::Usage(format!("`{text}`: {reason}")),
                other => other,
            })?;
            Ok(i + rate + if on_end && first.is_none() { 2 * n } else { 0 })
        };
        let places = formula.variables().iter().map(|v| place(&v.name)).collect::<Result<_, Exit>>()?;
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

/// Finds a motion whose start and end meet conditions, and tells of it.
pub fn shoot(
    options: &ModelOptions,
    shot: &ShotOptions,
    stride: &StrideOptions,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let mut page = Page::new(&format!("A motion of {} between conditions", options.model));
    let scene = robot::scene(options)?;
    let model = &scene.model;
    let first = shot.first.iter().map(|text| Condition::read(model, text, false));
    let last = shot.last.iter().map(|text| Condition::read(model, text, true));
    let all = first.chain(last).collect::<Result<Vec<_>, Exit>>()?;
    let conditions = |first: &[f64], last: &[f64]| evaluate(&all, first, last);
    let near = (1e3 * tolerance).max(1e-11);
    let (exact, rough) = (Settings::within(tolerance), Settings::within(tolerance.max(ROUGH)));
    let met = if let Some(time) = shot.time {
        let contacts = scene.run.contacts.options(tolerance);
        let start = Hybrid::new(model).state(model.initial_state());
        let flight = |settings| Timed::new(model, &start, time, &contacts, settings).map_err(failed);
        find(&flight(exact)?, &flight(rough)?, &conditions, &start, stride, near, &mut page)?
    } else {
        let walk = Walk::new(options, stride, tolerance)?;
        let start = walk.section.lift(model, &vec![0.0; walk.section.size()]).map_err(failed)?;
        let flight = |settings| Struck { model, stride: Stride { settings, ..walk.stride() } };
        find(&flight(exact), &flight(rough), &conditions, &start, stride, near, &mut page)?
    };
    tell(model, &met, &mut page);
    super::cycles::turn(&mut page, &scene, &met.first, met.time, 1, tolerance)?;
    page.finish(out)
}

/// Newton's method from the start, or from where the evolution strategy leads.
fn find(
    exact: &dyn Flight,
    rough: &dyn Flight,
    conditions: &Conditions<'_>,
    start: &State<f64>,
    options: &StrideOptions,
    near: f64,
    page: &mut Page,
) -> Result<Met, Exit> {
    let Some(spread) = options.search else {
        return meet(exact, conditions, start, near).map_err(failed);
    };
    let population = POINTS * exact.basis(start).map_err(failed)?.cols().max(1);
    let mut last = None;
    for round in 0..options.tries.max(1) {
        let seed = options.seed + round as u64;
        let choice = evolution::Options { seed, population, generations: options.generations, goal: GOAL };
        let (begin, found) = seek(rough, conditions, start, spread, options.shortest, &choice).map_err(failed)?;
        page.say(&format!(
            "evolution strategy, seed {seed}: conditions are off by {:.1e} after {} generations of {population}",
            found.value.sqrt(),
            found.generations
        ));
        match meet(exact, conditions, &begin, near) {
            Ok(met) if met.time >= options.shortest => return Ok(met),
            Ok(met) => last = Some(failed(format!("the motion found takes {} s only", met.time))),
            Err(error) => last = Some(failed(error)),
        }
    }
    Err(last.unwrap_or_else(|| failed("nothing was tried")))
}

fn tell(model: &Model, met: &Met, page: &mut Page) {
    page.say(&format!(
        "{} conditions are met in {} directions after {} Newton steps: {:.9} s, largest condition left {:.1e}",
        met.conditions, met.unknowns, met.iterations, met.time, met.residual
    ));
    let head = ["coordinate", "at the start", "its rate", "at the end", "its rate"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut table = String::new();
    for i in 0..met.first.v.len() {
        let numbers = [met.first.q[i], met.first.v[i], met.last.q[i], met.last.v[i]];
        let cells = numbers.iter().map(|x| format!("{x:.12}"));
        rows.push(std::iter::once(model.velocity_name(i)).chain(cells).collect());
        table += &format!("{}\n", crate::eval::numbers(&numbers));
    }
    page.table(&rows);
    page.file("shot.csv", format!("first,first_rate,last,last_rate\n{table}").into_bytes());
}
