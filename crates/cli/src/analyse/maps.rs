//! Charts over two values of a scene and basins over two initial values, on all cores.

use super::page::{Chart, Page, Style};
use super::walk::Walk;
use super::{Ear, bar, empty, failed, many, short, velocity, with};
use crate::args::{BasinOptions, ChartOptions, ModelOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::expression::Expression;
use dalembert::model::Model;
use dalembert::scene::Scene;
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::error::{AnalysisError, Tally};
use dalembert_analysis::field::Settings;
use dalembert_analysis::linearise::linearise;
use dalembert_analysis::motion::Motion;
use dalembert_analysis::place::Place;
use dalembert_analysis::recorded::monodromies;
use dalembert_analysis::refine::refined_blocks;
use dalembert_analysis::stride::come_back;
use dalembert_analysis::touching;
use dalembert_methods::nonsmooth::{Contacts, Hybrid};
use dalembert_methods::system::State;
use std::path::Path;

/// Rates of growth up to this, in 1/s, are none.
const STEADY: f64 = 1e-6;
/// Ends of motions that differ by less than this are the same.
const SAME: f64 = 1e-3;
/// Attractors, or classes of strides, that are listed and drawn at most.
const SHOWN: usize = 8;
const DRAWN: usize = 5;
/// Places of a chart that are computed together, four of them at a time in lanes.
const BLOCK: usize = 16;

/// An axis `NAME=FROM:TO`.
pub struct Axis {
    pub name: String,
    pub range: [f64; 2],
    count: usize,
}

impl Axis {
    pub fn read(text: &str, count: usize) -> Result<Self, Exit> {
        let parts = text.rsplit_once('=').and_then(|(name, range)| {
            let (from, to) = range.split_once(':')?;
            let range = [from.parse::<f64>().ok()?, to.parse::<f64>().ok()?];
            range.iter().all(|x| x.is_finite()).then(|| (name.to_owned(), range))
        });
        let (name, range) = parts.ok_or_else(|| Exit::Usage(format!("`{text}`: expected NAME=FROM:TO")))?;
        Ok(Self { name, range, count: count.max(2) })
    }

    fn value(&self, k: usize) -> f64 {
        let [from, to] = self.range;
        from + (to - from) * k as f64 / (self.count - 1) as f64
    }

    /// The last part of the name, for formulas.
    fn short(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// The rate of growth of small disturbances over two values of a scene: by multipliers of a period, which may be a formula of both, or without a
/// period by eigenvalues about the start.
pub fn chart(model: &ModelOptions, options: &ChartOptions, out: Option<&Path>) -> Result<(), Exit> {
    let axes = [Axis::read(&options.across, options.count)?, Axis::read(&options.up, options.count)?];
    let names = axes.each_ref().map(Axis::short);
    let period = options.period.as_ref().map(|text| Expression::parse_in(text, &names)).transpose().map_err(failed)?;
    let place = |k: usize| [axes[0].value(k % axes[0].count), axes[1].value(k / axes[0].count)];
    let at = |k: usize| {
        let [a, b] = place(k);
        with(model, &[(&axes[0].name, a), (&axes[1].name, b)])
    };
    let count = axes[0].count * axes[1].count;
    let bar = bar(count);
    let block = |places: &[usize]| -> Vec<Result<f64, Exit>> {
        let found = match &period {
            None => places.iter().map(|&k| rate(&robot::scene(&at(k))?, options.tolerance)).collect(),
            Some(formula) => {
                let scenes: Vec<Result<(Scene, f64), Exit>> = places
                    .iter()
                    .map(|&k| Ok((robot::scene(&at(k))?, formula.value(&place(k)).map_err(failed)?)))
                    .collect();
                growths(scenes, options.tolerance)
            }
        };
        bar.inc(places.len() as u64);
        found
    };
    let same = |a: f64, b: f64| (a <= STEADY) == (b <= STEADY);
    // With a coarse grid the bar shows how far the round at hand is.
    let round = |places: usize| {
        bar.set_position(0);
        bar.set_length(places as u64);
    };
    let ear = Ear::new();
    let counts = [axes[0].count, axes[1].count];
    let found = refined_blocks(counts, options.coarse, BLOCK, block, same, round, || ear.more());
    bar.finish_and_clear();
    let mut tally = Tally::default();
    found.failed.iter().for_each(|(_, exit)| tally.add(exit));
    let growth = found.values;
    let mut page = Page::new(&format!("Stability of {} over {} and {}", model.model, axes[0].name, axes[1].name));
    if !found.whole {
        page.interrupted(&format!("{} of {count} places were computed", found.computed));
    } else if found.computed < count {
        page.say(&format!(
            "{} of {count} places were computed, the others lie between such as are alike",
            found.computed
        ));
    }
    empty(&tally, "places", found.computed, &mut page)?;
    let stable: Vec<[f64; 2]> = (0..count).filter(|&k| growth[k] <= STEADY).map(place).collect();
    let known: Vec<usize> = (0..count).filter(|&k| !growth[k].is_nan()).collect();
    let unstable: Vec<[f64; 2]> = known.iter().copied().filter(|&k| growth[k] > STEADY).map(place).collect();
    page.say(&format!(
        "{} of {} places stable, largest rate of growth {} 1/s",
        stable.len(),
        known.len(),
        short(growth.iter().fold(f64::NEG_INFINITY, |max, g| max.max(*g)))
    ));
    let line = |&k: &usize| format!("{:?},{:?},{:?}\n", place(k)[0], place(k)[1], growth[k]);
    let table: String = known.iter().map(line).collect();
    page.file("chart.csv", format!("{},{},growth\n{table}", axes[0].name, axes[1].name).into_bytes());
    let curves = vec![("stable".to_owned(), stable), ("unstable".to_owned(), unstable)];
    let (title, across) = (format!("Stability: {} over {}", axes[1].name, axes[0].name), axes[0].name.clone());
    let style = Style::Cells([axes[0].count, axes[1].count]);
    page.chart("chart", &Chart { title, across, log: [false; 2], style, curves });
    page.finish(out)
}

/// The rate of growth about the start, by eigenvalues.
fn rate(scene: &Scene, tolerance: f64) -> Result<f64, Exit> {
    let model = &scene.model;
    let contacts = scene.run.contacts.options(tolerance);
    let place = Place::start(model, &model.initial_state(), &contacts).map_err(failed)?;
    let matrix = linearise(&place.system(model), &place.state).map_err(failed)?.state_matrix;
    let rates = eigenvalues(&matrix).map_err(failed)?;
    Ok(rates.iter().fold(f64::NEG_INFINITY, |max, z| max.max(z.re)))
}

/// The rates of growth over a period of several scenes, by the largest multiplier of each: side by side where scenes differ in numbers only.
fn growths(scenes: Vec<Result<(Scene, f64), Exit>>, tolerance: f64) -> Vec<Result<f64, Exit>> {
    let settings = Settings::within(tolerance);
    let smooth: Vec<(&Model, State<f64>, f64)> = scenes
        .iter()
        .flatten()
        .filter(|(scene, _)| Contacts::contacts(&scene.model) == 0)
        .map(|(scene, period)| (&scene.model, scene.model.initial_state(), *period))
        .collect();
    let mut matrices = monodromies(&smooth, settings).into_iter();
    let growth = |scene: &Scene, period: f64, of: &mut dyn Iterator<Item = Result<Matrix, AnalysisError>>| {
        let model = &scene.model;
        let map = if Contacts::contacts(model) > 0 {
            let state = Hybrid::new(model).state(model.initial_state());
            let contacts = scene.run.contacts.options(tolerance);
            touching::monodromy(model, &state, period, &contacts, settings).map_err(failed)?.0
        } else {
            of.next().ok_or_else(|| failed("a matrix is missing"))?.map_err(failed)?
        };
        let largest = eigenvalues(&map).map_err(failed)?.first().map_or(0.0, |m| m.modulus());
        Ok(largest.ln() / period)
    };
    let found: Vec<Option<Result<f64, Exit>>> = scenes
        .iter()
        .map(|scene| scene.as_ref().ok().map(|(scene, period)| growth(scene, *period, &mut matrices)))
        .collect();
    found.into_iter().zip(scenes).map(|(found, scene)| found.unwrap_or_else(|| scene.map(|_| f64::NAN))).collect()
}

/// Where motions from a grid of two initial values come to: sorted by the mean of a coordinate over the last periods; for gaits by the strides they need to come back.
pub fn basin(model: &ModelOptions, options: &BasinOptions, out: Option<&Path>) -> Result<(), Exit> {
    let scene = robot::scene(model)?;
    let mut axes = Vec::new();
    for (list, shift) in [(&options.over, 0), (&options.over_rate, scene.model.initial_state().v.len())] {
        for text in list {
            let axis = Axis::read(text, options.count)?;
            let index = velocity(&scene.model, &axis.name)? + shift;
            axes.push((axis, index));
        }
    }
    let [(first, one), (second, two)] = axes.as_slice() else {
        return Err(Exit::Usage(
            "a basin needs two of `--over NAME=FROM:TO` and `--over-rate NAME=FROM:TO`".to_owned(),
        ));
    };
    let count = first.count * second.count;
    let place = |k: usize| [first.value(k % first.count), second.value(k / first.count)];
    let mut page = Page::new(&format!("Basins of {} over {} and {}", model.model, first.name, second.name));
    let ear = Ear::new();
    let gaits = !options.stride.strike.is_empty();
    // Nothing for places that were not reached before Ctrl-C; no end for those from which motions are lost.
    let found: Vec<Option<Result<Option<f64>, Exit>>> = if !gaits {
        let (Some(period), Some(name)) = (options.period, &options.coordinate) else {
            return Err(Exit::Usage(
                "a basin needs `--period` and `--coordinate`, or the strikes of a stride".to_owned(),
            ));
        };
        let read = velocity(&scene.model, name)?;
        let run = |k: usize| end(&scene, [(*one, place(k)[0]), (*two, place(k)[1])], read, period, options);
        many(count, &ear, run)
    } else {
        let walk = Walk::new(model, &options.stride, options.tolerance)?;
        let found = walk.gait(&options.stride, &mut page)?;
        page.say("values are disturbances of the gait; sorted by the strides until it is back");
        let (stride, model) = (walk.stride(), &walk.scene.model);
        many(count, &ear, |k| {
            let change = [(*one, place(k)[0]), (*two, place(k)[1])];
            let strides = come_back(model, &stride, &found, &change, SAME, options.settle).map_err(failed)?;
            Ok(strides.map(|n| n as f64))
        })
    };
    let mut tally = Tally::default();
    let answers: Vec<Option<Option<f64>>> = found
        .into_iter()
        .map(|answer| {
            answer.map(|end| match end {
                Ok(end) => end.filter(|end| end.is_finite()),
                Err(exit) => {
                    tally.add(exit);
                    None
                }
            })
        })
        .collect();
    // Ends that are the same make one attractor.
    let mut attractors: Vec<(f64, Vec<[f64; 2]>)> = Vec::new();
    let mut lost = Vec::new();
    let known: Vec<usize> = (0..count).filter(|&k| answers[k].is_some()).collect();
    if known.len() < count {
        page.interrupted(&format!("{} of {count} places were computed", known.len()));
    }
    empty(&tally, "places", known.len(), &mut page)?;
    for &k in &known {
        let Some(value) = &answers[k].flatten() else {
            lost.push(place(k));
            continue;
        };
        // Numbers of strides are shown in classes, each of which begins at a power of two.
        let value = if gaits { value.max(0.5).log2().floor() } else { *value };
        match attractors.iter_mut().find(|(known, _)| (known - value).abs() <= SAME * (1.0 + known.abs())) {
            Some((_, places)) => places.push(place(k)),
            None => attractors.push((value, vec![place(k)])),
        }
    }
    if gaits {
        attractors.sort_by(|one, other| one.0.total_cmp(&other.0));
    } else {
        attractors.sort_by_key(|attractor| std::cmp::Reverse(attractor.1.len()));
    }
    let name = |value: f64| match (gaits, value) {
        (true, v) if v < 1.0 => if v < 0.0 { "0" } else { "1" }.to_owned(),
        (true, v) => format!("{} to {}", v.exp2(), (v + 1.0).exp2() - 1.0),
        (false, v) => short(v),
    };
    let what = if gaits { "strides" } else { "attractor" };
    let mut rows = vec![[what, "places", "part"].map(str::to_owned).to_vec()];
    let part = |n: usize| format!("{:.4}", n as f64 / known.len().max(1) as f64);
    for (value, places) in attractors.iter().take(SHOWN) {
        rows.push(vec![name(*value), places.len().to_string(), part(places.len())]);
    }
    rows.push(vec!["none".to_owned(), lost.len().to_string(), part(lost.len())]);
    page.table(&rows);
    let cell = |k: usize| answers[k].flatten().map_or(String::new(), |value| format!("{value:?}"));
    let table: String = known.iter().map(|&k| format!("{:?},{:?},{}\n", place(k)[0], place(k)[1], cell(k))).collect();
    let last = if gaits { "strides" } else { "end" };
    page.file("basin.csv", format!("{},{},{last}\n{table}", first.name, second.name).into_bytes());
    let mut curves: Vec<(String, Vec<[f64; 2]>)> =
        attractors.into_iter().take(DRAWN).map(|(value, places)| (name(value), places)).collect();
    curves.push(("none".to_owned(), lost));
    let (title, across) = (format!("Basins: {} over {}", second.name, first.name), first.name.clone());
    let style = Style::Cells([first.count, second.count]);
    page.chart("basin", &Chart { title, across, log: [false; 2], style, curves });
    page.finish(out)
}

/// The mean of a coordinate over the last periods of a motion with some initial values.
fn end(
    scene: &Scene,
    values: [(usize, f64); 2],
    read: usize,
    period: f64,
    options: &BasinOptions,
) -> Result<Option<f64>, Exit> {
    let model = &scene.model;
    let (choice, settings) = (scene.run.contacts.options(options.tolerance), Settings::within(options.tolerance));
    let mut s = Hybrid::new(model).state(model.initial_state());
    let reference = s.clone();
    Motion::new(model, settings).set_values(&mut s, &values).map_err(failed)?;
    let rounds = options.settle + options.points;
    let all = touching::samples(model, &s, period, rounds, &choice, settings).map_err(failed)?;
    let motion = Motion::new(model, settings);
    let mut sum = 0.0;
    for at in all.iter().skip(options.settle) {
        sum += motion.difference(&reference, at).map_err(failed)?[read];
    }
    // Of other coordinates than angles and lengths the way from the start is told.
    let from = if reference.q.len() == reference.v.len() { reference.q[read] } else { 0.0 };
    Ok(Some(from + sum / options.points.max(1) as f64))
}
