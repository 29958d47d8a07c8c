//! Periodic and chaotic motions of a scene.

use super::film::{moving, stills};
use super::page::{Chart, Page, Style};
use super::{Ear, bar, failed, short};
use crate::args::ModelOptions;
use crate::exit::Exit;
use crate::robot;
use dalembert::model::Model;
use dalembert::report::theme::CURVES;
use dalembert::scene::Scene;
use dalembert_analysis::AnalysisError;
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::field::Settings;
use dalembert_analysis::floquet::exponents as floquet_exponents;
use dalembert_analysis::motion::{ExponentOptions, Motion, Orbit, exponents_while, orbit};
use dalembert_analysis::recorded;
use dalembert_analysis::touching::{self, Graze};
use dalembert_methods::algebra::Complex;
use dalembert_methods::nonsmooth::{Contacts, Hybrid};
use dalembert_methods::system::{State, System};
use std::path::Path;

/// The step of differences by the state.
pub const STATE_STEP: f64 = 1e-4;
/// Multipliers by differences may differ by this part of one and their size.
const APART: f64 = 1e-3;
/// Points of one turn of a cycle.
const TURN: usize = 200;

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

/// A table of multipliers, and where they are in the plane; their files have a suffix to their names.
pub fn list(page: &mut Page, multipliers: &[Complex], period: f64, suffix: &str) {
    let head = ["multiplier", "imaginary", "modulus", "exponent [1/s]", "imaginary [rad/s]"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut table = String::from("multiplier,imaginary,modulus,exponent,exponent imaginary\n");
    for (m, e) in multipliers.iter().zip(floquet_exponents(multipliers, period)) {
        let numbers = [m.re, m.im, m.modulus(), e.re, e.im];
        rows.push(numbers.iter().map(|&x| short(x)).collect());
        table += &format!("{}\n", crate::eval::numbers(&numbers));
    }
    page.table(&rows);
    page.file(&format!("multipliers{suffix}.csv"), table.into_bytes());
    let circle = (0..=180).map(|k| f64::from(k) * std::f64::consts::TAU / 180.0).map(|a| [a.cos(), a.sin()]).collect();
    let points = multipliers.iter().map(|m| [m.re, m.im]).collect();
    let curves = vec![("unit circle".to_owned(), circle), ("multipliers".to_owned(), points)];
    let (title, across) = ("Multipliers: imaginary part".to_owned(), "real part".to_owned());
    let chart = Chart { title, across, log: [false; 2], style: Style::Plane, curves };
    page.chart(&format!("multipliers{suffix}"), &chart);
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
        tell(&mut page, model, &found);
        if touches {
            let (start, period) = (&found.state, found.period);
            let values = touching::differences(model, start, period, STATE_STEP, &choice, settings)
                .and_then(|map| eigenvalues(&map));
            let graze = touching::nearest_graze(model, start, period, &choice, settings).map_err(failed)?;
            compare(&mut page, "motions", &found.multipliers, values, graze.as_ref());
        }
        let start = if touches { found.state } else { Hybrid::new(model).state(found.state) };
        turn(&mut page, &scene, &start, found.period, 1, tolerance)?;
        return page.finish(out);
    }
    let (map, end) = if touches {
        touching::monodromy(model, &state, period, &choice, settings).map_err(failed)?
    } else {
        Motion::new(model, settings).monodromy(&state, period).map_err(failed)?
    };
    if touches {
        let graze = touching::nearest_graze(model, &state, period, &choice, settings).map_err(failed)?;
        graze.filter(Graze::is_near).iter().for_each(|graze| page.say(&format!("take care: {}", graze.told())));
    }
    let difference = Motion::new(model, settings).difference(&state, &end).map_err(failed)?;
    let apart = difference.iter().fold(0.0f64, |max, d| max.max(d.abs()));
    page.say(&format!("end and start of the period differ by {apart:.1e}"));
    if apart > 1e-6 {
        page.say("the motion is not periodic: these are multipliers of a piece of it; try `limit-cycle`");
    }
    list(&mut page, &eigenvalues(&map).map_err(failed)?, period, "");
    page.file("monodromy.csv", map.to_csv().into_bytes());
    page.finish(out)
}

/// Tells by how much multipliers differ from those by differences; where they do, what is almost grazed, if anything is.
pub fn compare(
    page: &mut Page,
    of: &str,
    multipliers: &[Complex],
    values: Result<Vec<Complex>, AnalysisError>,
    graze: Option<&Graze>,
) {
    let near = graze.filter(|graze| graze.is_near()).map(|graze| format!(": {}", graze.told())).unwrap_or_default();
    page.say(&match values {
        Ok(values) => {
            let pairs = multipliers.iter().zip(&values);
            let apart = pairs.clone().fold(0.0, |max: f64, (a, b)| max.max((*a - *b).modulus()));
            let part = pairs.fold(0.0, |max: f64, (a, b)| max.max((*a - *b).modulus() / (1.0 + a.modulus())));
            match part <= APART {
                true => format!("multipliers by differences of {of} are these to {apart:.1e}"),
                false => format!(
                    "take care: multipliers by differences of {of} differ from these by {apart:.1e}, which is too much for steps of \
                     {STATE_STEP:.0e}{near}"
                ),
            }
        }
        Err(error) => format!("no differences of {of}: {error}{near}"),
    });
}

/// One turn of a cycle in the planes of position and velocity of its coordinates, and some turns in motion.
pub fn turn(
    page: &mut Page,
    scene: &Scene,
    start: &State<f64>,
    period: f64,
    turns: usize,
    tolerance: f64,
) -> Result<(), Exit> {
    let (model, settings) = (&scene.model, Settings::within(tolerance));
    let choice = scene.run.contacts.options(tolerance);
    let interval = period / TURN as f64;
    let all = touching::samples(model, start, interval, turns * TURN, &choice, settings).map_err(failed)?;
    let states: Vec<State<f64>> = std::iter::once(start).chain(&all).cloned().collect();
    if let Some(animation) = moving(model, "One turn after another", &states)? {
        page.motions(&[animation.to_json()]);
        let parts = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map(|part| part / turns as f64);
        let picture = stills(&animation, "turn", &parts, &|_, _| String::new())?;
        page.picture("turn", |form| picture.draw(form));
    }
    let motion = Motion::new(model, settings);
    let n = start.v.len();
    let mut curves: Vec<(String, Vec<[f64; 2]>)> =
        (0..n).take(CURVES).map(|i| (model.velocity_name(i), Vec::with_capacity(TURN + 1))).collect();
    let mut table = String::new();
    for s in states.iter().take(TURN + 1) {
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
fn tell(page: &mut Page, model: &Model, found: &Orbit) {
    page.say(&format!(
        "a periodic motion after {} Newton steps: period {} s, end and start differ by {:.1e}",
        found.iterations, found.period, found.residual
    ));
    list(page, &found.multipliers, found.period, "");
    page.say(&match found.multipliers.iter().filter(|m| m.modulus() > 1.0 + 1e-6).count() {
        0 => "no disturbance grows".to_owned(),
        n => format!("unstable: {n} multipliers lie outside the unit circle"),
    });
    let mut rows = vec![vec!["coordinate".to_owned(), "value".to_owned()]];
    for (kind, values) in [("q", &found.state.q), ("v", &found.state.v)] {
        rows.extend(values.iter().enumerate().map(|(i, x)| vec![format!("{kind}{i}"), format!("{x:.12}")]));
    }
    page.table(&rows);
    let names: Vec<String> = (0..found.state.v.len()).map(|i| format!("v{i}: {}", model.velocity_name(i))).collect();
    page.say(&names.join("; "));
}

/// The Lyapunov spectrum.
pub fn lyapunov(
    options: &ModelOptions,
    choice: &ExponentOptions,
    motions: usize,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let scene = robot::scene(options)?;
    let mut page = Page::new(&format!("Lyapunov exponents of {}", options.model));
    let (model, state, settings) = (&scene.model, scene.model.initial_state(), Settings::within(tolerance));
    let motions = if motions > 1 { motions.next_multiple_of(4) } else { 1 };
    let (ear, bar) = (Ear::new(), bar(choice.batches * motions));
    let mut keep_on = |done: usize| {
        bar.set_position(done as u64);
        ear.more()
    };
    let found = if motions > 1 && Contacts::contacts(model) > 0 {
        return Err(failed("several motions side by side need a scene without contacts; follow one motion of it"));
    } else if motions > 1 {
        page.say(&format!("{motions} motions that start beside each other"));
        recorded::exponents_while(model, &state, motions, choice, settings, &keep_on)
    } else if Contacts::contacts(model) > 0 {
        let (state, contacts) = (Hybrid::new(model).state(state), scene.run.contacts.options(tolerance));
        touching::exponents_while(model, &state, choice, &contacts, settings, &mut keep_on)
    } else {
        exponents_while(model, &state, choice, settings, &mut keep_on)
    };
    bar.finish_and_clear();
    let found = match found {
        Err(AnalysisError::Stopped) => {
            eprintln!("interrupted before there were two batches: nothing is known yet");
            return Err(Exit::Interrupted);
        }
        other => other.map_err(failed)?,
    };
    if found.history.len() < choice.batches {
        page.interrupted(&format!(
            "{} of {} batches; error bars are those of these",
            found.history.len(),
            choice.batches
        ));
    }
    let mut rows = vec![["exponent [1/s]", "standard error"].map(str::to_owned).to_vec()];
    rows.extend(
        found.exponents.iter().zip(&found.errors).map(|(e, error)| vec![format!("{e:.5}"), format!("{error:.5}")]),
    );
    page.table(&rows);
    page.say(&format!("dimension of Kaplan and Yorke: {:.3} ± {:.3}", found.dimension, found.dimension_error));
    let table: String =
        found.exponents.iter().zip(&found.errors).map(|(e, error)| format!("{e:?},{error:?}\n")).collect();
    page.file("exponents.csv", format!("exponent,standard error\n{table}").into_bytes());
    let line =
        |(b, h): (usize, &Vec<f64>)| format!("{:?},{}\n", (b + 1) as f64 * choice.batch, crate::eval::numbers(h));
    let table: String = found.history.iter().enumerate().map(line).collect();
    let names: Vec<String> = (1..=found.exponents.len()).map(|k| format!("exponent{k}")).collect();
    page.file("convergence.csv", format!("time,{}\n{table}", names.join(",")).into_bytes());
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
