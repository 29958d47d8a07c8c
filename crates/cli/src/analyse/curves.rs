//! Curves of equilibria, periodic motions and gaits over a value of a scene.

use super::page::{Chart, Page, Style};
use super::small::tell_contacts;
use super::walk::{Walk, WalkMap, modulus};
use super::{Ear, failed, formula, short, with};
use crate::args::{ModelOptions, StrideOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::model::Model;
use dalembert::report::theme::CURVES;
use dalembert_analysis::AnalysisError;
use dalembert_analysis::continuation::{Branch, Ending, Kind, Options, Point, follow_on, follow_while};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::family::{Cycles, Equilibria, Turn};
use dalembert_analysis::field::Settings;
use dalembert_analysis::motion::{Motion, orbit};
use dalembert_analysis::place::Place;
use dalembert_analysis::touching;
use dalembert_methods::algebra::Complex;
use dalembert_methods::nonsmooth::{Contacts, Hybrid};
use dalembert_methods::system::{State, System};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;

/// The search for an equilibrium ends at this part of the size of the system, and points of curves at rates below this.
const BALANCE: f64 = 1e-12;
const NEAR: f64 = 1e-9;
/// Growth up to this, of a period or relative to the largest rate, is none.
const MARGINAL: f64 = 1e-6;
/// The shortest and the longest step along a curve, as parts of the first.
const SHORTEST: f64 = 1e-6;
const LONGEST: f64 = 20.0;

/// What is followed: an equilibrium, a motion with a period after some periods, or a gait.
pub enum Followed<'a> {
    /// An equilibrium near the start.
    Equilibrium,
    /// The period in seconds, a formula, and the number of periods.
    Period(&'a str, usize),
    /// Strides.
    Gait(&'a StrideOptions),
}

/// How far a curve is followed.
#[derive(Copy, Clone)]
pub struct Reach {
    /// From where to where the value goes.
    pub range: [f64; 2],
    /// Most points.
    pub points: usize,
    /// The first step of arc length, negative towards smaller values.
    pub step: f64,
}

impl Reach {
    fn options(&self, tolerance: f64) -> Options {
        let Self { range, points, step } = *self;
        let (low, high) = (range[0].min(range[1]), range[0].max(range[1]));
        let steps = [SHORTEST * step.abs(), LONGEST * step.abs()];
        Options { step, steps, range: [low, high], points, tolerance }
    }
}

/// Follows an equilibrium, a periodic motion or a gait over a value of the scene.
pub fn continuation(
    options: &ModelOptions,
    parameter: &str,
    followed: &Followed<'_>,
    reach: Reach,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let first = reach.range[0];
    let what = if matches!(followed, Followed::Equilibrium) { "Equilibria" } else { "Periodic motions" };
    let mut page = Page::new(&format!("{what} of {} over {parameter}", options.model));
    let member = |value: f64| -> Result<Model, AnalysisError> {
        let scene = robot::scene(&with(options, &[(parameter, value)]));
        let reason = || format!("the scene cannot take {parameter} = {value}");
        scene.map(|scene| scene.model).map_err(|_| AnalysisError::Invalid { reason: reason() })
    };
    let model = member(first).map_err(failed)?;
    let told = Told { parameter, range: reach.range, names: coordinates(&model) };
    let numbers = |s: &State<f64>| [&s.q[..], &s.v, &s.x].concat();
    match followed {
        Followed::Equilibrium => {
            let scene = robot::scene(&with(options, &[(parameter, first)]))?;
            let (model, start) = (&scene.model, scene.model.initial_state());
            if Motion::new(model, Settings::default()).driven(&start).map_err(failed)? {
                let reason = "something drives the scene, so that it has no equilibrium: give `--period`, or take what drives it away";
                return Err(Exit::Usage(reason.to_owned()));
            }
            let contacts = scene.run.contacts.options(tolerance);
            let (place, found) = Place::equilibrium(model, &start, BALANCE, &contacts).map_err(failed)?;
            page.say(&format!(
                "equilibrium at {parameter} = {first} after {} steps, largest force left {:.1e}",
                found.iterations, found.residual
            ));
            tell_contacts(model, &place, &mut page);
            let family = Equilibria::new(&member, &place.modes, &contacts, NEAR);
            let (choice, state) = (reach.options(NEAR), place.state);
            let mut guide = Guide::new(&told);
            let kind = Kind::Equilibria;
            let branch = follow_on(&family, kind, &(state, first), first, &choice, &mut |p| guide.see(p.parameter));
            guide.finish();
            tell(&branch.map_err(failed)?, kind, &told, &|p| Ok((numbers(&p.state.0), None)), &mut page)?;
        }
        Followed::Gait(stride) => {
            let walk = Walk::new(&with(options, &[(parameter, first)]), stride, tolerance)?;
            let found = walk.gait(stride, &mut page)?;
            page.say(&format!(
                "a gait at {parameter} = {first}: {:.9} s, largest multiplier {}",
                found.time,
                modulus(&found.cycle.multipliers)
            ));
            let map = WalkMap { walk: &walk, model: options, parameter };
            let (kind, choice) = (Kind::Cycles, reach.options(1e3 * tolerance));
            let mut guide = Guide::new(&told);
            let start = &found.cycle.state;
            let branch = follow_while(&map, kind, start, first, &choice, &mut |p| guide.see(p.parameter));
            guide.finish();
            let shown = |p: &Point| {
                let (state, time) = map.begin(&p.state, p.parameter).map_err(failed)?;
                Ok((numbers(&state), Some(time)))
            };
            tell(&branch.map_err(failed)?, kind, &told, &shown, &mut page)?;
        }
        Followed::Period(text, settle) => {
            let formula = formula(text, parameter)?;
            let period = |value: f64| -> Result<f64, AnalysisError> {
                let period = formula.value(&[value]).ok().filter(|p| p.is_finite() && *p > 0.0);
                let reason = || format!("`{text}` is no period in seconds at {parameter} = {value}");
                period.ok_or_else(|| AnalysisError::Invalid { reason: reason() })
            };
            let (start, driven) = cycle(options, parameter, first, period(first).map_err(failed)?, *settle, tolerance)?;
            let contacts = robot::scene(&with(options, &[(parameter, first)]))?.run.contacts.options(tolerance);
            page.say(&format!(
                "a periodic motion at {parameter} = {first} with the period {:.9} s{}",
                start.period,
                if driven { "" } else { ", which is free, as nothing drives the scene" }
            ));
            let given: Option<&dalembert_analysis::family::Number<'_>> = if driven { Some(&period) } else { None };
            let settings = Settings::within(tolerance);
            let family = Cycles::new(&member, given, &start, &contacts, settings).map_err(failed)?;
            let (kind, choice) = (Kind::Cycles, reach.options(1e3 * tolerance));
            let mut guide = Guide::new(&told);
            let branch = follow_on(&family, kind, &start, first, &choice, &mut |p| guide.see(p.parameter));
            guide.finish();
            let branch = branch.map_err(failed)?;
            if let (false, Some(last)) = (driven, branch.points.last()) {
                page.say(&format!("the period of the last point is {:.9} s", last.state.period));
            }
            let shown = |p: &Point<Turn>| Ok((numbers(&p.state.state), Some(p.state.period)));
            tell(&branch, kind, &told, &shown, &mut page)?;
        }
    }
    page.finish(out)
}

/// The cycle at the beginning of a curve, after some periods in which the motion settles; and whether something drives the scene.
fn cycle(
    options: &ModelOptions,
    parameter: &str,
    value: f64,
    period: f64,
    settle: usize,
    tolerance: f64,
) -> Result<(Turn, bool), Exit> {
    let scene = robot::scene(&with(options, &[(parameter, value)]))?;
    let (model, settings, near) = (&scene.model, Settings::within(tolerance), 1e3 * tolerance);
    let mut state = model.initial_state();
    let start = state.t;
    let until = start + settle as f64 * period;
    let driven = touching::driven(model, &state).map_err(failed)?;
    let found = if Contacts::contacts(model) > 0 {
        state = Hybrid::new(model).state(state);
        let contacts = scene.run.contacts.options(tolerance);
        let mut none = Matrix::zeros(2 * state.v.len() + state.x.len(), 0);
        touching::flow(model, &mut state, &mut none, until, &contacts, settings).map_err(failed)?;
        state.t = start;
        touching::orbit(model, &state, period, near, &contacts, settings)
    } else {
        let mut motion = Motion::new(model, settings);
        let mut none = Matrix::zeros(motion.variation().size(), 0);
        motion.advance(&mut state, &mut none, until).map_err(failed)?;
        state.t = start;
        orbit(model, &state, period, near, settings)
    };
    let found = found.map_err(failed)?;
    Ok((Turn { state: found.state, period: found.period, value }, driven))
}

/// Shows how far a curve is, and hears Ctrl-C.
struct Guide {
    ear: Ear,
    bar: ProgressBar,
    name: String,
    seen: usize,
}

impl Guide {
    fn new(told: &Told<'_>) -> Self {
        let bar = if std::io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.set_style(ProgressStyle::with_template("  {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner()));
        let name = format!("{} of {} to {}", told.parameter, told.range[0], told.range[1]);
        Self { ear: Ear::new(), bar, name, seen: 0 }
    }

    fn see(&mut self, value: f64) -> bool {
        self.seen += 1;
        self.bar.set_message(format!("{} points, {}: {value:.6}", self.seen, self.name));
        self.bar.tick();
        self.ear.more()
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The names of coordinates, velocities and states of forces of a model.
fn coordinates(model: &Model) -> Vec<String> {
    let shape = model.shape();
    let velocity = |i: usize| model.velocity_name(i);
    let place = |i: usize| if shape.q == shape.v { format!("position of {}", velocity(i)) } else { format!("q{i}") };
    let rates = (0..shape.v).map(|i| format!("velocity of {}", velocity(i)));
    (0..shape.q).map(place).chain(rates).chain((0..shape.x).map(|i| format!("x{i}"))).collect()
}

/// What a curve is told of.
struct Told<'a> {
    parameter: &'a str,
    range: [f64; 2],
    /// The names of the numbers of a state.
    names: Vec<String>,
}

/// The numbers of the state of a point, and the time of its period or stride.
type Shown<'a, S> = dyn Fn(&Point<S>) -> Result<(Vec<f64>, Option<f64>), Exit> + 'a;

/// A table of points: the value, whether they are stable, the state, the time and the eigenvalues, each column by name; `first` begins each line.
fn table<'p, S: 'p>(
    points: impl Iterator<Item = (String, &'p Point<S>)>,
    kind: Kind,
    told: &Told<'_>,
    shown: &Shown<'_, S>,
    first: &str,
) -> Result<String, Exit> {
    let (mut text, mut head) = (String::new(), String::new());
    let value = if kind == Kind::Cycles { "multiplier" } else { "eigenvalue" };
    // Names have commas in them.
    let quoted = |name: &String| format!("\"{name}\"");
    for (begin, point) in points {
        let (numbers, time) = shown(point)?;
        let values: Vec<f64> = point.values.iter().flat_map(|z| [z.re, z.im]).collect();
        if head.is_empty() {
            let names: Vec<String> = told.names.iter().take(numbers.len()).map(quoted).collect();
            let values = (1..=point.values.len()).map(|k| format!("{value}{k},{value}{k} imaginary"));
            let time = time.map(|_| "time".to_owned());
            let columns: Vec<String> = names.into_iter().chain(time).chain(values).collect();
            head = format!("{first}{},stable,{}\n", told.parameter, columns.join(","));
        }
        let all: Vec<f64> = numbers.into_iter().chain(time).chain(values).collect();
        text += &format!("{begin}{:?},{},{}\n", point.parameter, point.stable, crate::eval::numbers(&all));
    }
    if head.is_empty() {
        head = format!("{first}{},stable\n", told.parameter);
    }
    Ok(head + &text)
}

/// Tells of a curve of solutions.
fn tell<S>(branch: &Branch<S>, kind: Kind, told: &Told<'_>, shown: &Shown<'_, S>, page: &mut Page) -> Result<(), Exit> {
    let parameter = told.parameter;
    let count = branch.points.len();
    match &branch.ending {
        Ending::Range => page.say(&format!("{count} points; the value left its range")),
        Ending::Points => page.say(&format!("{count} points, as many as asked")),
        Ending::Lost(error) => page.say(&format!("{count} points; then the curve was lost: {error}")),
        Ending::Stopped => page.interrupted(&format!("{count} points of the curve")),
    }
    let value = |point: &Point<S>| match kind {
        Kind::Cycles => modulus(&point.values),
        Kind::Equilibria => short(point.values.iter().fold(f64::NEG_INFINITY, |max, z| max.max(z.re))),
    };
    let last = if kind == Kind::Cycles { "largest multiplier" } else { "largest real part [1/s]" };
    let mut rows = vec![vec!["what".to_owned(), parameter.to_owned(), last.to_owned()]];
    for (what, point) in &branch.special {
        rows.push(vec![format!("{what:?}"), format!("{:.9}", point.parameter), value(point)]);
    }
    page.table(&rows);
    let least = branch.points.iter().fold(f64::INFINITY, |least, p| least.min(p.parameter));
    let most = branch.points.iter().fold(f64::NEG_INFINITY, |most, p| most.max(p.parameter));
    page.say(&format!("the curve lies between {parameter} = {least:.9} and {most:.9}"));
    if let Some(last) = branch.points.last() {
        // Without losses disturbances neither grow nor decay, but for rounding.
        let size = last.values.iter().fold(1.0f64, |max, z| max.max(z.modulus()));
        let growth = last.values.iter().fold(f64::NEG_INFINITY, |max, z| match kind {
            Kind::Cycles => max.max(z.modulus() - 1.0),
            Kind::Equilibria => max.max(z.re / size),
        });
        let word = match last.stable {
            true => "stable",
            false if growth < MARGINAL => "marginal: disturbances neither grow nor decay",
            false => "unstable",
        };
        page.say(&format!("last point: {parameter} = {:.9}, {word}", last.parameter));
    }
    // The coordinate that changes most along the curve.
    let states = branch.points.iter().map(|p| Ok(shown(p)?.0)).collect::<Result<Vec<_>, Exit>>()?;
    let width = states.first().map_or(0, Vec::len);
    let range = |i: usize| {
        let values = states.iter().map(|s| s[i]);
        values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
    };
    let index = (0..width).rev().max_by(|&i, &j| range(i).total_cmp(&range(j))).unwrap_or(0);
    let of = |stable: bool| -> Vec<[f64; 2]> {
        let pairs = branch.points.iter().zip(&states).filter(|(p, _)| p.stable == stable);
        pairs.filter_map(|(p, s)| Some([p.parameter, *s.get(index)?])).collect()
    };
    let mut special = Vec::with_capacity(branch.special.len());
    for (_, point) in &branch.special {
        special.extend(shown(point)?.0.get(index).map(|&x| [point.parameter, x]));
    }
    let curves =
        vec![("stable".to_owned(), of(true)), ("unstable".to_owned(), of(false)), ("special".to_owned(), special)];
    let name = told.names.get(index).map_or("state", String::as_str);
    let title = match kind {
        Kind::Cycles => format!("At the beginning of the period: {name}"),
        Kind::Equilibria => format!("At rest: {name}"),
    };
    let across = parameter.to_owned();
    page.chart("curve", &Chart { title, across: across.clone(), log: [false; 2], style: Style::Dots, curves });
    let count = branch.points.iter().map(|p| p.values.len()).max().unwrap_or(0);
    let size = |z: &Complex| if kind == Kind::Cycles { z.modulus() } else { z.re };
    let sizes = |k: usize| branch.points.iter().filter_map(|p| Some([p.parameter, size(p.values.get(k)?)])).collect();
    let curves = (0..count.min(CURVES)).map(|k| (format!("{}", k + 1), sizes(k))).collect();
    let title = match kind {
        Kind::Cycles => "Moduli of the multipliers: stable where all are below one",
        Kind::Equilibria => "Real parts of the eigenvalues in 1/s: stable where all are below zero",
    };
    let title = title.to_owned();
    page.chart("multipliers", &Chart { title, across, log: [false; 2], style: Style::Dots, curves });
    let points = branch.points.iter().map(|p| (String::new(), p));
    page.file("curve.csv", table(points, kind, told, shown, "")?.into_bytes());
    let points = branch.special.iter().map(|(what, p)| (format!("{what:?},"), p));
    page.file("special.csv", table(points, kind, told, shown, "what,")?.into_bytes());
    Ok(())
}
