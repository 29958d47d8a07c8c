//! Charts over two values of a scene and basins over two initial values, on all cores.

use super::page::{Chart, Page, Style};
use super::walk::{Walk, come_back};
use super::{bar, failed, many, short, smooth, velocity, with};
use crate::args::{BasinOptions, ChartOptions, ModelOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::expression::Expression;
use dalembert::scene::Scene;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::field::Settings;
use dalembert_analysis::linearise::linearise;
use dalembert_analysis::motion::Motion;
use dalembert_analysis::refine::refined;
use dalembert_analysis::touching;
use dalembert_methods::nonsmooth::{Contacts, Hybrid};
use std::path::Path;

/// Rates of growth up to this, in 1/s, are none.
const STEADY: f64 = 1e-6;
/// Ends of motions that differ by less than this are the same.
const SAME: f64 = 1e-3;

/// An axis `NAME=FROM:TO`.
struct Axis {
    name: String,
    range: [f64; 2],
    count: usize,
}

impl Axis {
    fn read(text: &str, count: usize) -> Result<Self, Exit> {
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
    let point = |k: usize| -> Result<f64, Exit> {
        let values = [axes[0].value(k % axes[0].count), axes[1].value(k / axes[0].count)];
        let own = with(model, &[(&axes[0].name, values[0]), (&axes[1].name, values[1])]);
        match &period {
            None => {
                let scene = smooth(&own)?;
                let state = scene.model.initial_state();
                let matrix = linearise(&scene.model, &state).map_err(failed)?.state_matrix;
                let rates = eigenvalues(&matrix).map_err(failed)?;
                Ok(rates.iter().fold(f64::NEG_INFINITY, |max, z| max.max(z.re)))
            }
            Some(formula) => {
                let period = formula.value(&values).map_err(failed)?;
                let largest = multiplier(&robot::scene(&own)?, period, options.tolerance)?;
                Ok(largest.ln() / period)
            }
        }
    };
    let count = axes[0].count * axes[1].count;
    let bar = bar(count);
    let watched = |k: usize| {
        let value = point(k);
        bar.inc(1);
        value
    };
    let same = |a: f64, b: f64| (a <= STEADY) == (b <= STEADY);
    // With a coarse grid the bar shows how far the round at hand is.
    let round = |places: usize| {
        bar.set_position(0);
        bar.set_length(places as u64);
    };
    let found = refined([axes[0].count, axes[1].count], options.coarse, watched, same, round)?;
    bar.finish_and_clear();
    let growth = found.values;
    let mut page = Page::new(&format!("Stability of {} over {} and {}", model.model, axes[0].name, axes[1].name));
    if found.computed < count {
        page.say(&format!(
            "{} of {count} places were computed, the others lie between such as are alike",
            found.computed
        ));
    }
    let place = |k: usize| [axes[0].value(k % axes[0].count), axes[1].value(k / axes[0].count)];
    let stable: Vec<[f64; 2]> = (0..count).filter(|&k| growth[k] <= STEADY).map(place).collect();
    let unstable: Vec<[f64; 2]> = (0..count).filter(|&k| growth[k].is_nan() || growth[k] > STEADY).map(place).collect();
    page.say(&format!(
        "{} of {count} places stable, largest rate of growth {} 1/s",
        stable.len(),
        short(growth.iter().fold(f64::NEG_INFINITY, |max, g| max.max(*g)))
    ));
    let table: String = (0..count).map(|k| format!("{:?},{:?},{:?}\n", place(k)[0], place(k)[1], growth[k])).collect();
    page.file("chart.csv", format!("{},{},growth\n{table}", axes[0].name, axes[1].name).into_bytes());
    let curves = vec![("stable".to_owned(), stable), ("unstable".to_owned(), unstable)];
    let (title, across) = (format!("Stability: {} over", axes[1].name), axes[0].name.clone());
    let style = Style::Cells([axes[0].count, axes[1].count]);
    page.chart("chart", &Chart { title, across, log: [false; 2], style, curves });
    page.finish(out)
}

/// The largest modulus of the multipliers of a period.
fn multiplier(scene: &Scene, period: f64, tolerance: f64) -> Result<f64, Exit> {
    let (model, settings) = (&scene.model, Settings::within(tolerance));
    let map = if Contacts::contacts(model) > 0 {
        let state = Hybrid::new(model).state(model.initial_state());
        touching::monodromy(model, &state, period, &scene.run.contacts.options(tolerance), settings).map_err(failed)?.0
    } else {
        Motion::new(model, settings).monodromy(&model.initial_state(), period).map_err(failed)?.0
    };
    Ok(eigenvalues(&map).map_err(failed)?.first().map_or(0.0, |m| m.modulus()))
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
    let answers: Vec<Option<f64>> = if options.stride.strike.is_empty() {
        let (Some(period), Some(name)) = (options.period, &options.coordinate) else {
            return Err(Exit::Usage(
                "a basin needs `--period` and `--coordinate`, or the strikes of a stride".to_owned(),
            ));
        };
        let read = velocity(&scene.model, name)?;
        let run = |k: usize| end(&scene, [(*one, place(k)[0]), (*two, place(k)[1])], read, period, options).ok();
        many(count, run)
    } else {
        let walk = Walk::new(model, &options.stride, options.tolerance)?;
        let found = walk.gait(&options.stride, &mut page)?;
        page.say("values are disturbances of the gait; sorted by the strides until it is back");
        many(count, |k| {
            let change = [(*one, place(k)[0]), (*two, place(k)[1])];
            come_back(&walk, &found, &change, options.settle).map(|_| 0.0)
        })
    };
    // Ends that are the same make one attractor.
    let mut attractors: Vec<(f64, Vec<[f64; 2]>)> = Vec::new();
    let mut lost = Vec::new();
    for (k, answer) in answers.iter().enumerate() {
        let Some(value) = answer else {
            lost.push(place(k));
            continue;
        };
        match attractors.iter_mut().find(|(known, _)| (known - value).abs() <= SAME * (1.0 + known.abs())) {
            Some((_, places)) => places.push(place(k)),
            None => attractors.push((*value, vec![place(k)])),
        }
    }
    attractors.sort_by_key(|attractor| std::cmp::Reverse(attractor.1.len()));
    let mut rows = vec![["attractor", "places", "part"].map(str::to_owned).to_vec()];
    let part = |n: usize| format!("{:.4}", n as f64 / count as f64);
    for (value, places) in attractors.iter().take(8) {
        rows.push(vec![short(*value), places.len().to_string(), part(places.len())]);
    }
    rows.push(vec!["none".to_owned(), lost.len().to_string(), part(lost.len())]);
    page.table(&rows);
    let cell = |k: usize| answers[k].map_or(String::new(), |value| format!("{value:?}"));
    let table: String = (0..count).map(|k| format!("{:?},{:?},{}\n", place(k)[0], place(k)[1], cell(k))).collect();
    page.file("basin.csv", format!("{},{},end\n{table}", first.name, second.name).into_bytes());
    let mut curves: Vec<(String, Vec<[f64; 2]>)> =
        attractors.into_iter().take(5).map(|(value, places)| (short(value), places)).collect();
    curves.push(("none".to_owned(), lost));
    let (title, across) = (format!("Basins: {} over", second.name), first.name.clone());
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
) -> Result<f64, Exit> {
    let model = &scene.model;
    let mut s = Hybrid::new(model).state(model.initial_state());
    let n = s.v.len();
    let reference = s.clone();
    for (i, value) in values {
        if i < n { s.q[i] = value } else { s.v[i - n] = value }
    }
    let (choice, settings) = (scene.run.contacts.options(options.tolerance), Settings::within(options.tolerance));
    let rounds = options.settle + options.points;
    let all = touching::samples(model, &s, period, rounds, &choice, settings).map_err(failed)?;
    let motion = Motion::new(model, settings);
    let mut sum = 0.0;
    for at in all.iter().skip(options.settle) {
        sum += motion.difference(&reference, at).map_err(failed)?[read];
    }
    Ok(reference.q.get(read).copied().unwrap_or(0.0) + sum / options.points.max(1) as f64)
}
