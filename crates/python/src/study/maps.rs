//! Diagrams over one value, charts over two, basins over two initial values; on all cores.

use super::Work;
use super::choice::{Choice, few, missing};
use super::cycles::Points;
use super::item::{Item, Items, matrix};
use super::job::{Job, said, velocity};
use super::walk::{BACK, Strides, Walk};
use crate::error;
use dalembert::expression::Expression;
use dalembert::methods::State;
use dalembert::methods::nonsmooth::{Contacts, Hybrid};
use dalembert::model::Model as Mechanics;
use dalembert::scene::Scene;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::error::Tally;
use dalembert_analysis::field::Settings;
use dalembert_analysis::linearise::linearise;
use dalembert_analysis::motion::Motion;
use dalembert_analysis::place::Place as At;
use dalembert_analysis::recorded::monodromies;
use dalembert_analysis::refine::refined_blocks;
use dalembert_analysis::stride::come_back;
use dalembert_analysis::touching;
use pyo3::prelude::*;

/// Rates of growth up to this, in 1/s, are none.
const STEADY: f64 = 1e-6;

/// Places of a chart that are computed together, four of them at a time in lanes.
const BLOCK: usize = 16;

/// An axis: a name and values at equal distances.
struct Axis {
    name: String,
    values: Vec<f64>,
}

impl Axis {
    fn new(name: String, [from, to]: [f64; 2], count: usize) -> Self {
        let count = count.max(2);
        let values = (0..count).map(|k| from + (to - from) * k as f64 / (count - 1) as f64).collect();
        Self { name, values }
    }

    /// The last part of the name, for formulas.
    fn short(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// The values of two axes at a place.
fn place(axes: &[Axis; 2], k: usize) -> [f64; 2] {
    let columns = axes[0].values.len();
    [axes[0].values[k % columns], axes[1].values[k / columns]]
}

/// What a place has found; its failure is counted.
fn kept<T>(found: Option<Result<T, String>>, tally: &mut Tally) -> Option<T> {
    found?.map_err(|error| tally.add(error)).ok()
}

/// Results of a map with what is told of places that failed; that none is left is an error.
fn with_failures(mut items: Items, tally: &Tally, places: &str, all: usize) -> Result<Items, String> {
    let told = tally.told(places, all);
    if let (Some(told), true) = (&told, tally.count() == all) {
        return Err(told.clone());
    }
    items.push(("failed", Item::Count(tally.count())));
    items.extend(told.map(|told| ("failure", Item::Text(told))));
    Ok(items)
}

/// Points of the motion, once a period or on a section, over a value of the scene: arrays with one row for each value.
pub fn bifurcation(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&[&Points::OPTIONS[..], &["parameter", "from", "to", "count"]].concat())?;
    let (wanted, parameter) = (Points::read(c)?, c.text("parameter")?);
    let (from, to, count) = (c.number("from", None)?, c.number("to", None)?, c.count("count", 100)?);
    few("count", count.saturating_mul(wanted.points))?;
    let spacing = (to - from) / count.max(2).saturating_sub(1) as f64;
    let values: Vec<f64> = (0..count).map(|k| from + spacing * k as f64).collect();
    Ok(Box::new(move |job| -> Result<Items, String> {
        let run = |k: usize| {
            let scene = job.with(&[(&parameter, values[k])])?;
            wanted.run(&scene, Some((&parameter, values[k])), &mut || !job.follow.ending())
        };
        // Values that were not finished before the end have no points.
        let empty = vec![f64::NAN; wanted.points];
        let (mut places, mut speeds) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut tally, mut done) = (Tally::default(), 0);
        for row in job.many(count, run) {
            done += usize::from(row.is_some());
            let [_, x, v] = kept(row, &mut tally).unwrap_or_default();
            let whole = x.len() == wanted.points;
            places.push(if whole { x } else { empty.clone() });
            speeds.push(if whole { v } else { empty.clone() });
        }
        let items = vec![
            ("names", Item::Texts(vec![parameter.clone(), wanted.coordinate.clone()])),
            ("parameter", Item::Numbers(values.clone())),
            ("position", matrix(&places, wanted.points)),
            ("velocity", matrix(&speeds, wanted.points)),
        ];
        with_failures(items, &tally, "values", done)
    }))
}

/// The rate of growth of small disturbances over two values of a scene.
pub fn chart(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&["across", "up", "count", "coarse", "period", "tolerance"])?;
    let (count, coarse) = (c.count("count", 40)?, c.count("coarse", 1)?);
    few("count", count.saturating_mul(count))?;
    let axis = |name: &str| -> PyResult<Axis> {
        let mut found = c.ranges(name)?;
        match (found.pop(), found.is_empty()) {
            (Some((path, range)), true) => Ok(Axis::new(path, range, count)),
            (None, _) => Err(missing(name)),
            _ => Err(error::value(format!("option `{name}` has one entry: {{path: (from, to)}}"))),
        }
    };
    let axes = [axis("across")?, axis("up")?];
    let period = c.formula("period")?;
    let parse = |text: &String| Expression::parse_in(text, &axes.each_ref().map(Axis::short));
    let period = period.as_ref().map(parse).transpose().map_err(|e| error::value(format!("option `period`: {e}")))?;
    let tolerance = c.positive("tolerance", Some(1e-9))?;
    Ok(Box::new(move |job| -> Result<Items, String> {
        let at = |k: usize| {
            let [a, b] = place(&axes, k);
            job.with(&[(&axes[0].name, a), (&axes[1].name, b)])
        };
        let block = |places: &[usize]| -> Vec<Result<f64, String>> {
            let found = match &period {
                None => places.iter().map(|&k| rate(&at(k)?, tolerance)).collect(),
                Some(formula) => {
                    let timed = |&k: &usize| Ok((at(k)?, formula.value(&place(&axes, k)).map_err(said)?));
                    growths(places.iter().map(timed).collect(), tolerance)
                }
            };
            job.keep_fault();
            places.iter().for_each(|_| job.follow.step());
            found
        };
        let counts = axes.each_ref().map(|axis| axis.values.len());
        let same = |a: f64, b: f64| (a <= STEADY) == (b <= STEADY);
        let round = |places: usize| job.follow.begin(places);
        // Places that were not begun before the end have no value.
        let found = refined_blocks(counts, coarse, BLOCK, block, same, round, || !job.follow.ending());
        let mut tally = Tally::default();
        found.failed.iter().for_each(|(_, error)| tally.add(error));
        let rows: Vec<Vec<f64>> = found.values.chunks(counts[0]).map(<[f64]>::to_vec).collect();
        let stable = found.values.iter().filter(|g| **g <= STEADY).count();
        let items = vec![
            ("names", Item::Texts(axes.iter().map(|axis| axis.name.clone()).collect())),
            ("across", Item::Numbers(axes[0].values.clone())),
            ("up", Item::Numbers(axes[1].values.clone())),
            ("growth", matrix(&rows, counts[0])),
            ("stable", Item::Count(stable)),
            ("computed", Item::Count(found.computed)),
        ];
        with_failures(items, &tally, "places", found.computed)
    }))
}

/// The rate of growth about the start, by eigenvalues.
fn rate(scene: &Scene, tolerance: f64) -> Result<f64, String> {
    let model = &scene.model;
    let place = At::start(model, &model.initial_state(), &scene.run.contacts.options(tolerance)).map_err(said)?;
    let matrix = linearise(&place.system(model), &place.state).map_err(said)?.state_matrix;
    let rates = eigenvalues(&matrix).map_err(said)?;
    Ok(rates.iter().fold(f64::NEG_INFINITY, |max, z| max.max(z.re)))
}

/// The rates of growth over a period of several scenes, by the largest multiplier of each: side by side where scenes differ in numbers only.
fn growths(scenes: Vec<Result<(Scene, f64), String>>, tolerance: f64) -> Vec<Result<f64, String>> {
    let settings = Settings::within(tolerance);
    let touches = |scene: &Scene| Contacts::contacts(&scene.model) > 0;
    // Functions from Python cannot be recorded: such scenes are computed one by one.
    let together = |scene: &Scene| !touches(scene) && scene.callbacks.is_empty();
    let smooth: Vec<(&Mechanics, State<f64>, f64)> = scenes
        .iter()
        .flatten()
        .filter(|(scene, _)| together(scene))
        .map(|(scene, period)| (&scene.model, scene.model.initial_state(), *period))
        .collect();
    let mut matrices = monodromies(&smooth, settings).into_iter();
    let mut growth = |scene: &Scene, period: f64| -> Result<f64, String> {
        let model = &scene.model;
        let map = if touches(scene) {
            let state = Hybrid::new(model).state(model.initial_state());
            let contacts = scene.run.contacts.options(tolerance);
            touching::monodromy(model, &state, period, &contacts, settings).map_err(said)?.0
        } else if !together(scene) {
            Motion::new(model, settings).monodromy(&model.initial_state(), period).map_err(said)?.0
        } else {
            matrices.next().ok_or("a matrix is missing")?.map_err(said)?
        };
        let largest = eigenvalues(&map).map_err(said)?.first().map_or(0.0, |m| m.modulus());
        Ok(largest.ln() / period)
    };
    scenes.iter().map(|scene| scene.as_ref().map_err(Clone::clone).and_then(|(scene, t)| growth(scene, *t))).collect()
}

/// What motions of a basin are.
enum Basin {
    /// With a period: the coordinate whose mean is taken, periods to settle, periods of the mean.
    Period { period: f64, coordinate: String, settle: usize, points: usize },
    /// Strides, and how many there may be until the gait is back.
    Gait(Strides, usize),
}

/// Where motions from a grid of two initial values come to: the mean of a coordinate over the last periods; for gaits the strides until they are back.
pub fn basin(c: &Choice<'_, '_>) -> PyResult<Work> {
    let own = ["over", "over_rate", "count", "period", "coordinate", "settle", "points", "tolerance"];
    c.only(&[&own[..], &Strides::OPTIONS].concat())?;
    let (count, tolerance) = (c.count("count", 40)?, c.positive("tolerance", Some(1e-9))?);
    few("count", count.saturating_mul(count))?;
    let named = |name: &str, rate: bool| -> PyResult<Vec<(Axis, bool)>> {
        Ok(c.ranges(name)?.into_iter().map(|(path, range)| (Axis::new(path, range, count), rate)).collect())
    };
    let mut both = named("over", false)?;
    both.extend(named("over_rate", true)?);
    let found: Result<[(Axis, bool); 2], _> = both.try_into();
    let [(first, first_rate), (second, second_rate)] = found
        .map_err(|_| error::value("a basin needs two entries {name: (from, to)} in `over` and `over_rate` together"))?;
    let (axes, rates) = ([first, second], [first_rate, second_rate]);
    let settle = c.count("settle", 60)?;
    let kind = if c.has("strike")? {
        Basin::Gait(Strides::read(c)?, settle)
    } else {
        let (period, coordinate) = (c.positive("period", None)?, c.text("coordinate")?);
        Basin::Period { period, coordinate, settle, points: c.count("points", 12)? }
    };
    Ok(Box::new(move |job| -> Result<Items, String> {
        let model = &job.scene().model;
        let shift = model.initial_state().v.len();
        let mut indices = [0; 2];
        for i in 0..2 {
            indices[i] = velocity(model, &axes[i].name)? + if rates[i] { shift } else { 0 };
        }
        let change = |k: usize| {
            let values = place(&axes, k);
            [(indices[0], values[0]), (indices[1], values[1])]
        };
        let counts = axes.each_ref().map(|axis| axis.values.len());
        let (count, mut tally) = (counts[0] * counts[1], Tally::default());
        let all: Vec<Option<Result<Option<f64>, String>>> = match &kind {
            Basin::Period { period, coordinate, settle, points } => {
                let read = velocity(model, coordinate)?;
                job.many(count, |k| end(job, change(k), read, *period, [*settle, *points], tolerance).map(Some))
            }
            Basin::Gait(strides, most) => {
                let walk = Walk::new(job.scene(), strides, tolerance)?;
                let found = walk.gait(job, strides)?;
                let (stride, model) = (walk.stride(), &walk.scene.model);
                job.many(count, |k| {
                    let strides = come_back(model, &stride, &found, &change(k), BACK, *most).map_err(said)?;
                    Ok(strides.map(|n| n as f64))
                })
            }
        };
        let done = all.iter().flatten().count();
        let ends: Vec<f64> = all.into_iter().map(|end| kept(end, &mut tally).flatten().unwrap_or(f64::NAN)).collect();
        let rows: Vec<Vec<f64>> = ends.chunks(counts[0]).map(<[f64]>::to_vec).collect();
        let [first, second] = &axes;
        let named =
            |(axis, rate): (&Axis, bool)| if rate { format!("rate of {}", axis.name) } else { axis.name.clone() };
        let items = vec![
            ("names", Item::Texts(axes.iter().zip(rates).map(named).collect())),
            ("across", Item::Numbers(first.values.clone())),
            ("up", Item::Numbers(second.values.clone())),
            ("end", matrix(&rows, counts[0])),
        ];
        with_failures(items, &tally, "places", done)
    }))
}

/// The mean of a coordinate over the last periods of a motion with some initial values.
fn end(
    job: &Job<'_>,
    values: [(usize, f64); 2],
    read: usize,
    period: f64,
    [settle, points]: [usize; 2],
    tolerance: f64,
) -> Result<f64, String> {
    let scene = job.scene();
    let model = &scene.model;
    let (choice, settings) = (scene.run.contacts.options(tolerance), Settings::within(tolerance));
    let mut s = Hybrid::new(model).state(model.initial_state());
    let reference = s.clone();
    Motion::new(model, settings).set_values(&mut s, &values).map_err(said)?;
    let all = touching::samples(model, &s, period, settle + points, &choice, settings).map_err(said)?;
    let motion = Motion::new(model, settings);
    let mut sum = 0.0;
    for at in all.iter().skip(settle) {
        sum += motion.difference(&reference, at).map_err(said)?[read];
    }
    // Of other coordinates than angles and lengths the way from the start is told.
    let from = if reference.q.len() == reference.v.len() { reference.q[read] } else { 0.0 };
    Ok(from + sum / points.max(1) as f64)
}
