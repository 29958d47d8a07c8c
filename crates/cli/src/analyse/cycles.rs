//! Periodic and chaotic motions of a scene.

use super::page::{Chart, Page, Style};
use super::{failed, many, short, smooth, velocity, with};
use crate::args::{ModelOptions, SectionOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::model::Model;
use dalembert::report::theme::CURVES;
use dalembert::scene::Scene;
use dalembert_analysis::crossing::{Watch, crossings};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::field::Settings;
use dalembert_analysis::floquet::exponents as floquet_exponents;
use dalembert_analysis::motion::{ExponentOptions, Motion, Orbit, exponents, orbit};
use dalembert_analysis::spectrum::{Window, welch};
use dalembert_analysis::touching;
use dalembert_methods::algebra::Complex;
use dalembert_methods::nonsmooth::{Contacts, Hybrid};
use dalembert_methods::system::{State, System};
use std::path::Path;

/// The step of differences by the state.
pub const STATE_STEP: f64 = 1e-4;
/// Points of one turn of a cycle.
const TURN: usize = 200;
/// The longest mean time between two passages of a section in seconds.
const LONGEST_ROUND: f64 = 1e3;

/// The state of a model after a time in which it settles, and the clock set back to where it was.
fn settled(model: &Model, periods: f64, period: f64, tolerance: f64) -> Result<State<f64>, Exit> {
    let mut state = model.initial_state();
    let start = state.t;
    let mut motion = Motion::new(model, Settings::within(tolerance));
    let mut none = Matrix::zeros(motion.variation().size(), 0);
    motion.advance(&mut state, &mut none, start + periods * period).map_err(failed)?;
    state.t = start;
    Ok(state)
}

/// A table of multipliers, and where they are in the plane.
pub fn list(page: &mut Page, multipliers: &[Complex], period: f64) {
    let head = ["multiplier", "imaginary", "modulus", "exponent [1/s]", "imaginary [rad/s]"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (m, e) in multipliers.iter().zip(floquet_exponents(multipliers, period)) {
        rows.push(vec![short(m.re), short(m.im), short(m.modulus()), short(e.re), short(e.im)]);
    }
    page.table(&rows);
    let circle = (0..=180).map(|k| f64::from(k) * std::f64::consts::TAU / 180.0).map(|a| [a.cos(), a.sin()]).collect();
    let points = multipliers.iter().map(|m| [m.re, m.im]).collect();
    let curves = vec![("unit circle".to_owned(), circle), ("multipliers".to_owned(), points)];
    let (title, across) = ("Multipliers: imaginary part".to_owned(), "real part".to_owned());
    page.chart("multipliers", &Chart { title, across, log: [false; 2], style: Style::Dots, curves });
}

/// The multipliers of a periodic motion; with a search the motion is found first.
pub fn multipliers(
    options: &ModelOptions,
    period: f64,
    settle: f64,
    search: bool,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let scene = robot::scene(options)?;
    let model = &scene.model;
    let mut page = Page::new(&format!("Periodic motion of {}", options.model));
    let touches = Contacts::contacts(model) > 0;
    let (choice, settings) = (scene.run.contacts.options(scene.run.tolerance), Settings::within(tolerance));
    let state = if touches {
        let mut state = Hybrid::new(model).state(model.initial_state());
        let start = state.t;
        let mut none = Matrix::zeros(2 * state.v.len() + state.x.len(), 0);
        let events = touching::flow(model, &mut state, &mut none, start + settle * period, &choice, settings);
        page.say(&format!("{} events while the motion settled", events.map_err(failed)?.len()));
        state.t = start;
        state
    } else {
        settled(model, settle, period, tolerance)?
    };
    if search {
        let near = 1e3 * tolerance;
        let found = if touches {
            touching::orbit(model, &state, period, near, &choice, settings)
        } else {
            orbit(model, &state, period, near, settings)
        };
        let found = found.map_err(failed)?;
        tell(&mut page, &found);
        if touches {
            let (start, period) = (&found.state, found.period);
            let apart = touching::differences(model, start, period, STATE_STEP, &choice, settings)
                .and_then(|map| eigenvalues(&map))
                .map(|values| apart(&found.multipliers, &values));
            page.say(&match apart {
                Ok(apart) => format!("multipliers by differences of motions are these to {apart:.1e}"),
                Err(error) => format!("no differences of motions: {error}"),
            });
        }
        let start = if touches { found.state } else { Hybrid::new(model).state(found.state) };
        turn(&mut page, &scene, &start, found.period, tolerance)?;
        return page.finish(out);
    }
    let (map, end) = if touches {
        touching::monodromy(model, &state, period, &choice, settings).map_err(failed)?
    } else {
        Motion::new(model, settings).monodromy(&state, period).map_err(failed)?
    };
    let difference = Motion::new(model, settings).difference(&state, &end).map_err(failed)?;
    let apart = difference.iter().fold(0.0f64, |max, d| max.max(d.abs()));
    page.say(&format!("end and start of the period differ by {apart:.1e}"));
    if apart > 1e-6 {
        page.say("the motion is not periodic: these are multipliers of a piece of it; try `limit-cycle`");
    }
    list(&mut page, &eigenvalues(&map).map_err(failed)?, period);
    page.file("monodromy.csv", map.to_csv().into_bytes());
    page.finish(out)
}

/// By how much two lists of multipliers differ.
pub fn apart(one: &[Complex], other: &[Complex]) -> f64 {
    one.iter().zip(other).fold(0.0, |max: f64, (a, b)| max.max((*a - *b).modulus()))
}

/// One turn of a cycle in the planes of position and velocity of its coordinates.
pub fn turn(page: &mut Page, scene: &Scene, start: &State<f64>, period: f64, tolerance: f64) -> Result<(), Exit> {
    let (model, settings) = (&scene.model, Settings::within(tolerance));
    let choice = scene.run.contacts.options(tolerance);
    let all = touching::samples(model, start, period / TURN as f64, TURN, &choice, settings).map_err(failed)?;
    let motion = Motion::new(model, settings);
    let n = start.v.len();
    let mut curves: Vec<(String, Vec<[f64; 2]>)> =
        (0..n).take(CURVES).map(|i| (model.velocity_name(i), Vec::with_capacity(TURN + 1))).collect();
    let mut table = String::new();
    for s in std::iter::once(start).chain(&all) {
        let place = motion.difference(start, s).map_err(failed)?;
        let absolute: Vec<f64> = (0..n).map(|i| place[i] + if s.q.len() == n { start.q[i] } else { 0.0 }).collect();
        curves.iter_mut().enumerate().for_each(|(i, (_, points))| points.push([absolute[i], s.v[i]]));
        table += &format!("{:?},{},{}\n", s.t - start.t, crate::eval::numbers(&absolute), crate::eval::numbers(&s.v));
    }
    let names: Vec<String> = (0..n).map(|i| model.velocity_name(i)).collect();
    let head = names.iter().map(|x| format!("position of {x}")).chain(names.iter().map(|x| format!("velocity of {x}")));
    page.file("cycle.csv", format!("time,{}\n{table}", head.collect::<Vec<_>>().join(",")).into_bytes());
    let (title, across) = ("One turn: velocity over position".to_owned(), "position".to_owned());
    page.chart("cycle", &Chart { title, across, log: [false; 2], style: Style::Line, curves });
    Ok(())
}

/// A periodic motion in words.
fn tell(page: &mut Page, found: &Orbit) {
    page.say(&format!(
        "a periodic motion after {} Newton steps: period {} s, end and start differ by {:.1e}",
        found.iterations, found.period, found.residual
    ));
    list(page, &found.multipliers, found.period);
    page.say(&match found.multipliers.iter().filter(|m| m.modulus() > 1.0 + 1e-6).count() {
        0 => "no disturbance grows".to_owned(),
        n => format!("unstable: {n} multipliers lie outside the unit circle"),
    });
    let mut rows = vec![vec!["coordinate".to_owned(), "value".to_owned()]];
    for (kind, values) in [("q", &found.state.q), ("v", &found.state.v)] {
        rows.extend(values.iter().enumerate().map(|(i, x)| vec![format!("{kind}{i}"), format!("{x:.12}")]));
    }
    page.table(&rows);
}

/// The Lyapunov spectrum.
pub fn lyapunov(
    options: &ModelOptions,
    choice: &ExponentOptions,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let scene = robot::scene(options)?;
    let mut page = Page::new(&format!("Lyapunov exponents of {}", options.model));
    let (model, state, settings) = (&scene.model, scene.model.initial_state(), Settings::within(tolerance));
    let found = if Contacts::contacts(model) > 0 {
        let state = Hybrid::new(model).state(state);
        touching::exponents(model, &state, choice, &scene.run.contacts.options(tolerance), settings)
    } else {
        exponents(model, &state, choice, settings)
    };
    let found = found.map_err(failed)?;
    let mut rows = vec![["exponent [1/s]", "standard error"].map(str::to_owned).to_vec()];
    rows.extend(
        found.exponents.iter().zip(&found.errors).map(|(e, error)| vec![format!("{e:.5}"), format!("{error:.5}")]),
    );
    page.table(&rows);
    page.say(&format!("dimension of Kaplan and Yorke: {:.3} ± {:.3}", found.dimension, found.dimension_error));
    let curves = (0..found.exponents.len().min(6))
        .map(|i| {
            let points = found.history.iter().enumerate().map(|(b, h)| [(b + 1) as f64 * choice.batch, h[i]]).collect();
            (format!("σ{}", i + 1), points)
        })
        .collect();
    let (title, across) = ("Exponents as they converge [1/s]".to_owned(), "time in s".to_owned());
    page.chart("convergence", &Chart { title, across, log: [false; 2], style: Style::Line, curves });
    page.finish(out)
}

/// States once a period: (position and velocity of one coordinate), after a number of periods.
pub fn strobe(
    scene: &Scene,
    index: usize,
    period: f64,
    settle: usize,
    points: usize,
    tolerance: f64,
) -> Result<Vec<[f64; 2]>, Exit> {
    let model = &scene.model;
    let start = model.initial_state();
    let mut state = start.clone();
    let mut motion = Motion::new(model, Settings::within(tolerance));
    let mut out = Vec::with_capacity(points);
    if Contacts::contacts(model) > 0 {
        let begin = Hybrid::new(model).state(start.clone());
        let choice = scene.run.contacts.options(tolerance);
        let rounds = settle + points;
        let all = touching::samples(model, &begin, period, rounds, &choice, Settings::within(tolerance));
        for at in all.map_err(failed)?.iter().skip(settle) {
            let place = motion.difference(&start, at).map_err(failed)?;
            out.push([place[index], at.v[index]]);
        }
        return Ok(out);
    }
    let mut none = Matrix::zeros(motion.variation().size(), 0);
    for round in 1..=settle + points {
        motion.advance(&mut state, &mut none, start.t + round as f64 * period).map_err(failed)?;
        if round > settle {
            let place = motion.difference(&start, &state).map_err(failed)?;
            out.push([place[index], state.v[index]]);
        }
    }
    Ok(out)
}

/// A Poincaré section: once a period, or where a coordinate or a velocity passes a value.
pub fn poincare(
    options: &ModelOptions,
    section: &SectionOptions,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let counts = [section.settle, section.points];
    let drawn = ("Poincaré section", Style::Dots);
    if let Some(period) = section.period {
        return plane(options, &section.coordinate, period, counts, tolerance, drawn, out);
    }
    let scene = smooth(options)?;
    let model = &scene.model;
    let index = velocity(model, &section.coordinate)?;
    let (text, by_rate) = match (&section.section, &section.section_rate) {
        (Some(text), _) => (text, false),
        (None, Some(text)) => (text, true),
        (None, None) => {
            return Err(Exit::Usage("a section needs `--period`, `--section` or `--section-rate`".to_owned()));
        }
    };
    let found = text.rsplit_once('=').and_then(|(name, value)| Some((name, value.parse::<f64>().ok()?)));
    let (name, value) = found.ok_or_else(|| Exit::Usage(format!("`{text}`: expected NAME=VALUE")))?;
    let guard = velocity(model, name)?;
    let start = model.initial_state();
    if !by_rate && start.q.len() != start.v.len() {
        let reason = "a section of a coordinate needs coordinates that are angles and lengths (trees of hinges and sliders); \
                      take `--section-rate`";
        return Err(Exit::Usage(reason.to_owned()));
    }
    let function = |s: &State<f64>| if by_rate { s.v[guard] - value } else { s.q[guard] - value };
    let rounds = (section.settle + section.points) as f64;
    let longest = LONGEST_ROUND * rounds;
    let watch = Watch { interval: section.look, skipped: section.settle, kept: section.points, longest };
    let settings = Settings::within(tolerance);
    let states = crossings(model, &start, function, &watch, settings).map_err(failed)?;
    let motion = Motion::new(model, settings);
    let mut points = Vec::with_capacity(states.len());
    for s in &states {
        points.push([motion.difference(&start, s).map_err(failed)?[index], s.v[index]]);
    }
    let mut page = Page::new(&format!("Poincaré section of {}", options.model));
    let what = if by_rate { "rate of " } else { "" };
    let last = states.last().map_or(0.0, |s| s.t);
    page.say(&format!(
        "{} points, where {what}{name} passes {value} from below, after {} of them, until t = {} s",
        points.len(),
        section.settle,
        short(last)
    ));
    draw(&mut page, points, &section.coordinate, Style::Dots);
    page.finish(out)
}

/// A phase portrait.
pub fn portrait(
    options: &ModelOptions,
    coordinate: &str,
    interval: f64,
    counts: [usize; 2],
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    plane(options, coordinate, interval, counts, tolerance, ("Phase portrait", Style::Line), out)
}

/// Velocity over position.
fn plane(
    options: &ModelOptions,
    coordinate: &str,
    interval: f64,
    counts: [usize; 2],
    tolerance: f64,
    (name, style): (&str, Style),
    out: Option<&Path>,
) -> Result<(), Exit> {
    let scene = robot::scene(options)?;
    let index = velocity(&scene.model, coordinate)?;
    let points = strobe(&scene, index, interval, counts[0], counts[1], tolerance)?;
    let mut page = Page::new(&format!("{name} of {}", options.model));
    page.say(&format!("{} points, one each {interval} s, after {} of them", points.len(), counts[0]));
    draw(&mut page, points, coordinate, style);
    page.finish(out)
}

/// A plot of velocities over positions, and their table.
fn draw(page: &mut Page, points: Vec<[f64; 2]>, coordinate: &str, style: Style) {
    let table: String = points.iter().map(|[x, v]| format!("{x:?},{v:?}\n")).collect();
    page.file("section.csv", format!("position,velocity\n{table}").into_bytes());
    let curves = vec![(String::new(), points)];
    let title = format!("Velocity over position, {coordinate}");
    let across = "position, from that of the start".to_owned();
    page.chart("section", &Chart { title, across, log: [false; 2], style, curves });
}

/// The spectral density of a coordinate's velocity.
pub fn spectrum(
    options: &ModelOptions,
    coordinate: &str,
    interval: f64,
    counts: [usize; 2],
    window: &str,
    settle: f64,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let weight = match window {
        "rectangular" => Window::Rectangular,
        "hamming" => Window::Hamming,
        "blackman" => Window::Blackman,
        "flat-top" => Window::FlatTop,
        _ => Window::Hann,
    };
    let scene = robot::scene(options)?;
    let index = velocity(&scene.model, coordinate)?;
    let before = (settle / interval).ceil() as usize;
    let samples: Vec<f64> =
        strobe(&scene, index, interval, before, counts[0], tolerance)?.into_iter().map(|[_, v]| v).collect();
    let found = welch(&samples, interval, counts[1], weight).map_err(failed)?;
    let mut page = Page::new(&format!("Power spectral density of {}", options.model));
    let peak = (1..found.density.len()).max_by(|&i, &j| found.density[i].total_cmp(&found.density[j])).unwrap_or(0);
    page.say(&format!(
        "{} segments of {} samples, window {window}; largest at {} Hz",
        found.segments,
        counts[1],
        short(found.frequencies[peak])
    ));
    let points: Vec<[f64; 2]> = found.frequencies.iter().zip(&found.density).skip(1).map(|(f, d)| [*f, *d]).collect();
    let table: String = points.iter().map(|[f, d]| format!("{f:?},{d:?}\n")).collect();
    page.file("spectrum.csv", format!("frequency,density\n{table}").into_bytes());
    let curves = vec![(String::new(), points)];
    let (title, across) = (format!("Spectral density of the velocity, {coordinate}"), "frequency in Hz".to_owned());
    page.chart("spectrum", &Chart { title, across, log: [false, true], style: Style::Line, curves });
    page.finish(out)
}

/// A bifurcation diagram over a value of the scene; scenes run on all cores.
pub fn bifurcation(
    options: &ModelOptions,
    parameter: &str,
    values: &[f64],
    coordinate: &str,
    period: f64,
    counts: [usize; 2],
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let run = |k: usize| -> Result<Vec<[f64; 2]>, Exit> {
        let scene = robot::scene(&with(options, &[(parameter, values[k])]))?;
        let index = velocity(&scene.model, coordinate)?;
        let points = strobe(&scene, index, period, counts[0], counts[1], tolerance)?;
        Ok(points.into_iter().map(|[x, _]| [values[k], x]).collect())
    };
    let mut points = Vec::new();
    for line in many(values.len(), run) {
        points.extend(line?);
    }
    let mut page = Page::new(&format!("Bifurcation diagram of {} over {parameter}", options.model));
    page.say(&format!("{} values, {} points each, after {} periods of {period} s", values.len(), counts[1], counts[0]));
    let table: String = points.iter().map(|[p, x]| format!("{p:?},{x:?}\n")).collect();
    page.file("diagram.csv", format!("{parameter},position\n{table}").into_bytes());
    let curves = vec![(String::new(), points)];
    let (title, across) = (format!("Position once a period, {coordinate}"), parameter.to_owned());
    page.chart("diagram", &Chart { title, across, log: [false; 2], style: Style::Dots, curves });
    page.finish(out)
}
