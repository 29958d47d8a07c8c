//! Curves of equilibria, periodic motions and gaits over a value of the scene.

use super::Work;
use super::choice::Choice;
use super::item::{Item, Items, matrix};
use super::job::{Job, formula, period, said};
use super::small::BALANCE;
use super::walk::{Strides, Walk, WalkMap};
use crate::error;
use dalembert::methods::State;
use dalembert::methods::nonsmooth::{Contacts, Hybrid};
use dalembert::scene::Scene;
use dalembert_analysis::AnalysisError;
use dalembert_analysis::continuation::{Branch, Ending, Kind, Options, Point, Special, follow_on, follow_while};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::family::{Cycles, Equilibria, Number, Turn};
use dalembert_analysis::field::Settings;
use dalembert_analysis::motion::{Motion, orbit};
use dalembert_analysis::place::Place;
use dalembert_analysis::touching;
use pyo3::prelude::*;

/// Points of curves of equilibria end at rates below this.
const NEAR: f64 = 1e-9;
/// The shortest and the longest step along a curve, as parts of the first.
const SHORTEST: f64 = 1e-6;
const LONGEST: f64 = 20.0;

/// What is followed.
enum Followed {
    Equilibrium,
    /// A motion with a period, which may be a formula of the value, after a number of periods.
    Period(String, usize),
    Gait(Strides),
}

/// How far.
struct Reach {
    parameter: String,
    range: [f64; 2],
    points: usize,
    step: f64,
    tolerance: f64,
}

impl Reach {
    fn options(&self, tolerance: f64) -> Options {
        let Self { range, points, step, .. } = *self;
        let (low, high) = (range[0].min(range[1]), range[0].max(range[1]));
        let steps = [SHORTEST * step.abs(), LONGEST * step.abs()];
        Options { step, steps, range: [low, high], points, tolerance }
    }
}

/// Follows an equilibrium, with `period` a periodic motion, with `strike` a gait.
pub fn continuation(c: &Choice<'_, '_>) -> PyResult<Work> {
    let own = ["parameter", "from", "to", "period", "settle", "points", "step", "tolerance"];
    c.only(&[&own[..], &Strides::OPTIONS].concat())?;
    let range = [c.number("from", None)?, c.number("to", None)?];
    if range[0] == range[1] {
        return Err(error::value("`from` and `to` are the same"));
    }
    let span = range[1] - range[0];
    let reach = Reach {
        parameter: c.text("parameter")?,
        range,
        points: c.count("points", 200)?,
        step: c.maybe("step")?.unwrap_or(span.abs() / 40.0).abs() * span.signum(),
        tolerance: c.positive("tolerance", Some(1e-9))?,
    };
    let followed = match (c.has("period")?, c.has("strike")?) {
        (true, true) => return Err(error::value("`period` and `strike` exclude each other")),
        (true, false) => Followed::Period(c.formula("period")?.unwrap_or_default(), c.count("settle", 50)?),
        (false, true) => Followed::Gait(Strides::read(c)?),
        (false, false) => Followed::Equilibrium,
    };
    Ok(Box::new(move |job| {
        job.follow.begin(reach.points);
        match &followed {
            Followed::Equilibrium => equilibria(job, &reach),
            Followed::Period(period, settle) => cycles(job, &reach, period, *settle),
            Followed::Gait(strides) => gaits(job, &reach, strides),
        }
    }))
}

fn equilibria(job: &Job<'_>, reach: &Reach) -> Result<Items, String> {
    let first = reach.range[0];
    let scene = job.with(&[(&reach.parameter, first)])?;
    let (model, begin) = (&scene.model, scene.model.initial_state());
    if Motion::new(model, Settings::default()).driven(&begin).map_err(said)? {
        return Err(
            "something drives the scene, so that it has no equilibrium: give `period`, or take what drives it away"
                .to_owned(),
        );
    }
    let contacts = scene.run.contacts.options(reach.tolerance);
    let (place, _) = Place::equilibrium(model, &begin, BALANCE, &contacts).map_err(said)?;
    let member = |value: f64| job.made(&reach.parameter, value).map(|scene| scene.model);
    let family = Equilibria::new(&member, &place.modes, &contacts, NEAR);
    let state = place.state;
    let choice = reach.options(NEAR);
    let branch = follow_on(&family, Kind::Equilibria, &(state, first), first, &choice, &mut |_| keep_on(job));
    Ok(curve(&branch.map_err(said)?, Kind::Equilibria, reach, &|(s, _)| numbers(s)))
}

fn cycles(job: &Job<'_>, reach: &Reach, text: &str, settle: usize) -> Result<Items, String> {
    let first = reach.range[0];
    let formula = formula(text, &reach.parameter)?;
    let given = |value: f64| -> Result<f64, AnalysisError> {
        let wrong = |reason: String| format!("{reason} at {} = {value}", reach.parameter);
        period(&formula, text, value).map_err(|reason| AnalysisError::Invalid { reason: wrong(reason) })
    };
    let scene = job.with(&[(&reach.parameter, first)])?;
    let (start, driven) = start(&scene, first, given(first).map_err(said)?, settle, reach.tolerance)?;
    let contacts = scene.run.contacts.options(reach.tolerance);
    let member = |value: f64| job.made(&reach.parameter, value).map(|scene| scene.model);
    let by_drive: Option<&Number<'_>> = if driven { Some(&given) } else { None };
    let settings = Settings::within(reach.tolerance);
    let family = Cycles::new(&member, by_drive, &start, &contacts, settings).map_err(said)?;
    let choice = reach.options(1e3 * reach.tolerance);
    let branch = follow_on(&family, Kind::Cycles, &start, first, &choice, &mut |_| keep_on(job)).map_err(said)?;
    let mut items = curve(&branch, Kind::Cycles, reach, &|turn: &Turn| numbers(&turn.state));
    items.push(("period", Item::Numbers(branch.points.iter().map(|p| p.state.period).collect())));
    Ok(items)
}

/// The cycle at the beginning of a curve, after some periods in which the motion settles; and whether something drives the scene.
fn start(scene: &Scene, value: f64, period: f64, settle: usize, tolerance: f64) -> Result<(Turn, bool), String> {
    let (model, settings, near) = (&scene.model, Settings::within(tolerance), 1e3 * tolerance);
    let mut state = model.initial_state();
    let begin = state.t;
    let until = begin + settle as f64 * period;
    let driven = Motion::new(model, settings).driven(&state).map_err(said)?;
    let found = if Contacts::contacts(model) > 0 {
        state = Hybrid::new(model).state(state);
        let contacts = scene.run.contacts.options(tolerance);
        let mut none = Matrix::zeros(2 * state.v.len() + state.x.len(), 0);
        touching::flow(model, &mut state, &mut none, until, &contacts, settings).map_err(said)?;
        state.t = begin;
        touching::orbit(model, &state, period, near, &contacts, settings)
    } else {
        let mut motion = Motion::new(model, settings);
        let mut none = Matrix::zeros(motion.variation().size(), 0);
        motion.advance(&mut state, &mut none, until).map_err(said)?;
        state.t = begin;
        orbit(model, &state, period, near, settings)
    };
    let found = found.map_err(said)?;
    Ok((Turn { state: found.state, period: found.period, value }, driven))
}

fn gaits(job: &Job<'_>, reach: &Reach, strides: &Strides) -> Result<Items, String> {
    let first = reach.range[0];
    let scene = job.with(&[(&reach.parameter, first)])?;
    let walk = Walk::new(&scene, strides, reach.tolerance)?;
    let found = walk.gait(job, strides)?;
    let map = WalkMap { walk: &walk, job, parameter: &reach.parameter };
    let choice = reach.options(1e3 * reach.tolerance);
    job.follow.begin(reach.points);
    let start = &found.cycle.state;
    let branch = follow_while(&map, Kind::Cycles, start, first, &choice, &mut |_| keep_on(job)).map_err(said)?;
    Ok(curve(&branch, Kind::Cycles, reach, &Vec::clone))
}

/// Counts a point; whether to go on.
fn keep_on(job: &Job<'_>) -> bool {
    job.follow.step();
    !job.follow.ending()
}

fn numbers(s: &State<f64>) -> Vec<f64> {
    [&s.q[..], &s.v, &s.x].concat()
}

/// A curve of solutions as results.
fn curve<S>(branch: &Branch<S>, kind: Kind, reach: &Reach, numbers: &dyn Fn(&S) -> Vec<f64>) -> Items {
    let ending = match &branch.ending {
        Ending::Range => "the value left its range".to_owned(),
        Ending::Points => "as many points as asked".to_owned(),
        Ending::Lost(error) => format!("the curve was lost: {error}"),
        Ending::Stopped => "interrupted".to_owned(),
    };
    let largest = |p: &Point<S>| match kind {
        Kind::Cycles => p.values.first().map_or(0.0, |m| m.modulus()),
        Kind::Equilibria => p.values.iter().fold(f64::NEG_INFINITY, |max, z| max.max(z.re)),
    };
    let special = |(what, p): &(Special, Point<S>)| -> Items {
        vec![
            ("kind", Item::Text(format!("{what:?}"))),
            ("parameter", Item::Number(p.parameter)),
            ("state", Item::Numbers(numbers(&p.state))),
            ("eigenvalues", Item::Complexes(p.values.clone())),
        ]
    };
    let states: Vec<Vec<f64>> = branch.points.iter().map(|p| numbers(&p.state)).collect();
    let columns = states.first().map_or(0, Vec::len);
    let values: Vec<_> = branch.points.iter().flat_map(|p| p.values.iter().copied()).collect();
    let shape = vec![branch.points.len(), branch.points.first().map_or(0, |p| p.values.len())];
    vec![
        ("names", Item::Texts(vec![reach.parameter.clone()])),
        ("parameter", Item::Numbers(branch.points.iter().map(|p| p.parameter).collect())),
        ("states", matrix(&states, columns)),
        ("stable", Item::Flags(branch.points.iter().map(|p| p.stable).collect())),
        ("largest", Item::Numbers(branch.points.iter().map(largest).collect())),
        ("eigenvalues", Item::ComplexArray(shape, values)),
        ("special", Item::Rows(branch.special.iter().map(special).collect())),
        ("ending", Item::Text(ending)),
    ]
}
