//! Curves of equilibria and periodic motions over a value of a scene.

use super::page::{Chart, Page, Style};
use super::walk::{Walk, WalkMap, modulus};
use super::{failed, short, smooth, with};
use crate::args::{ModelOptions, StrideOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::scene::Scene;
use dalembert_analysis::AnalysisError;
use dalembert_analysis::continuation::{Ending, Kind, Options, Point, follow};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::field::Settings;
use dalembert_analysis::map::{Image, Map, fixed_point};
use dalembert_analysis::motion::Motion;
use dalembert_analysis::touching;
use dalembert_analysis::variation::Variation;
use dalembert_methods::nonsmooth::{Contacts, Hybrid};
use dalembert_methods::statics::equilibrium;
use dalembert_methods::system::{Shape, System};
use std::path::Path;

/// The step of differences by the value of the scene, relative to one and its size.
const STEP: f64 = 1e-6;
/// The search for an equilibrium ends at this part of the size of the system, and points of curves at rates below this.
const BALANCE: f64 = 1e-12;
const NEAR: f64 = 1e-9;
/// The shortest and the longest step along a curve, as parts of the first.
const SHORTEST: f64 = 1e-6;
const LONGEST: f64 = 20.0;

/// One period of a scene as a map of its coordinates and velocities; the value of the scene is the parameter.
struct SceneMap<'a> {
    options: &'a ModelOptions,
    parameter: &'a str,
    period: f64,
    tolerance: f64,
    size: usize,
}

impl SceneMap<'_> {
    /// The state after a period and, if wanted, its derivatives by the state.
    fn run(&self, z: &[f64], parameter: f64, columns: &mut Matrix) -> Result<Vec<f64>, AnalysisError> {
        let invalid = |reason: String| AnalysisError::Invalid { reason };
        let scene = robot::scene(&with(self.options, &[(self.parameter, parameter)]))
            .map_err(|_| invalid(format!("the scene cannot take {} = {parameter}", self.parameter)))?;
        let touching = Contacts::contacts(&scene.model) > 0;
        let mut state = scene.model.initial_state();
        if touching {
            state = Hybrid::new(&scene.model).state(state);
        }
        let (q, v) = (state.q.len(), state.v.len());
        state.q.copy_from_slice(&z[..q]);
        state.v.copy_from_slice(&z[q..q + v]);
        state.x.copy_from_slice(&z[q + v..]);
        let (until, settings) = (state.t + self.period, Settings::within(self.tolerance));
        if touching {
            let choice = scene.run.contacts.options(self.tolerance);
            touching::flow(&scene.model, &mut state, columns, until, &choice, settings)?;
        } else {
            Motion::new(&scene.model, settings).advance(&mut state, columns, until)?;
        }
        Ok([&state.q[..], &state.v, &state.x].concat())
    }
}

impl Map for SceneMap<'_> {
    fn size(&self) -> usize {
        self.size
    }

    fn image(&self, z: &[f64], parameter: f64) -> Result<Image, AnalysisError> {
        let mut by_state = Matrix::unit(self.size);
        let value = self.run(z, parameter, &mut by_state)?;
        let step = STEP * (1.0 + parameter.abs());
        let none = || Matrix::zeros(self.size, 0);
        let up = self.run(z, parameter + step, &mut none())?;
        let down = self.run(z, parameter - step, &mut none())?;
        let by_parameter = up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * step)).collect();
        Ok(Image { value, by_state, by_parameter })
    }
}

/// The rates of a scene as a function of its coordinates, velocities and further states, whose zeros are its equilibria.
struct RateMap<'a> {
    options: &'a ModelOptions,
    parameter: &'a str,
    size: usize,
}

impl RateMap<'_> {
    fn rates(&self, z: &[f64], parameter: f64, by_state: Option<&mut Matrix>) -> Result<Vec<f64>, AnalysisError> {
        let invalid = |reason: String| AnalysisError::Invalid { reason };
        let scene = robot::scene(&with(self.options, &[(self.parameter, parameter)]))
            .map_err(|_| invalid(format!("the scene cannot take {} = {parameter}", self.parameter)))?;
        let mut state = scene.model.initial_state();
        let n = state.v.len();
        state.q.copy_from_slice(&z[..n]);
        state.v.copy_from_slice(&z[n..2 * n]);
        state.x.copy_from_slice(&z[2 * n..]);
        let mut variation = Variation::new(&scene.model);
        variation.motion(&scene.model, &state)?;
        if let Some(out) = by_state {
            variation.changes(&scene.model, &state, &Matrix::unit(self.size), out)?;
        }
        Ok([&state.v[..], &variation.rates.v, &variation.rates.x].concat())
    }
}

impl Map for RateMap<'_> {
    fn size(&self) -> usize {
        self.size
    }

    fn image(&self, z: &[f64], parameter: f64) -> Result<Image, AnalysisError> {
        let mut by_state = Matrix::zeros(self.size, self.size);
        let value = self.rates(z, parameter, Some(&mut by_state))?;
        let step = STEP * (1.0 + parameter.abs());
        let (up, down) = (self.rates(z, parameter + step, None)?, self.rates(z, parameter - step, None)?);
        let by_parameter = up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * step)).collect();
        Ok(Image { value, by_state, by_parameter })
    }
}

/// What is followed: an equilibrium, a motion with a given period after some periods, or a gait.
pub enum Followed<'a> {
    /// An equilibrium near the start.
    Equilibrium,
    /// The period in seconds and the number of periods.
    Period(f64, usize),
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

/// Follows an equilibrium, a periodic motion or a gait over a value of the scene.
pub fn continuation(
    options: &ModelOptions,
    parameter: &str,
    followed: &Followed<'_>,
    reach: Reach,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let range = reach.range;
    let what = if matches!(followed, Followed::Equilibrium) { "Equilibria" } else { "Periodic motions" };
    let mut page = Page::new(&format!("{what} of {} over {parameter}", options.model));
    let (period, settle) = match followed {
        Followed::Period(period, settle) => (*period, *settle),
        Followed::Equilibrium => {
            let scene = smooth(&with(options, &[(parameter, range[0])]))?;
            let shape = independent(&scene)?;
            let mut state = scene.model.initial_state();
            let found = equilibrium(&scene.model, &mut state, BALANCE).map_err(failed)?;
            page.say(&format!(
                "equilibrium at {parameter} = {} after {} steps, largest force left {:.1e}",
                range[0], found.iterations, found.residual
            ));
            let map = RateMap { options, parameter, size: 2 * shape.v + shape.x };
            let z = [&state.q[..], &vec![0.0; shape.v], &state.x].concat();
            return curve(&map, Kind::Equilibria, &z, parameter, reach, NEAR, page, out);
        }
        Followed::Gait(stride) => {
            let own = with(options, &[(parameter, range[0])]);
            let walk = Walk::new(&own, stride, tolerance)?;
            let found = walk.gait(stride, &mut page)?;
            page.say(&format!(
                "a gait at {parameter} = {}: {:.9} s, largest multiplier {}",
                range[0],
                found.time,
                modulus(&found.cycle.multipliers)
            ));
            let map = WalkMap { walk: &walk, model: options, parameter };
            let near = 1e3 * tolerance;
            return curve(&map, Kind::Cycles, &found.cycle.state, parameter, reach, near, page, out);
        }
    };
    let scene = robot::scene(options)?;
    let shape = independent(&scene)?;
    let map = SceneMap { options, parameter, period, tolerance, size: 2 * shape.v + shape.x };
    let state = scene.model.initial_state();
    let mut z = [&state.q[..], &state.v, &state.x].concat();
    for _ in 0..settle {
        z = map.run(&z, range[0], &mut Matrix::zeros(map.size, 0)).map_err(failed)?;
    }
    let near = 1e3 * tolerance;
    let cycle = fixed_point(&map, &z, range[0], near).map_err(failed)?;
    curve(&map, Kind::Cycles, &cycle.state, parameter, reach, near, page, out)
}

/// The shape of a scene whose coordinates are independent.
fn independent(scene: &Scene) -> Result<Shape, Exit> {
    let shape = scene.model.shape();
    if shape.rows() > 0 || shape.q != shape.v {
        let reason = "curves are followed in scenes without constraints whose coordinates are angles and lengths (trees of hinges and \
                      sliders); contacts are open at the beginning of a period";
        return Err(Exit::Usage(reason.to_owned()));
    }
    Ok(shape)
}

/// Follows a curve of solutions and tells of it.
fn curve(
    map: &dyn Map,
    kind: Kind,
    start: &[f64],
    parameter: &str,
    reach: Reach,
    near: f64,
    mut page: Page,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let Reach { range, points, step } = reach;
    let (low, high) = (range[0].min(range[1]), range[0].max(range[1]));
    let steps = [SHORTEST * step.abs(), LONGEST * step.abs()];
    let choice = Options { step, steps, range: [low, high], points, tolerance: near };
    let branch = follow(map, kind, start, range[0], &choice).map_err(failed)?;
    page.say(&match &branch.ending {
        Ending::Range => format!("{} points; the value left its range", branch.points.len()),
        Ending::Points => format!("{} points, as many as asked", branch.points.len()),
        Ending::Lost(error) => format!("{} points; then the curve was lost: {error}", branch.points.len()),
    });
    let value = |point: &Point| match kind {
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
        let kind = if last.stable { "stable" } else { "unstable" };
        page.say(&format!("last point: {parameter} = {:.9}, {kind}", last.parameter));
    }
    let of = |stable: bool| -> Vec<[f64; 2]> {
        branch.points.iter().filter(|p| p.stable == stable).map(|p| [p.parameter, p.state[0]]).collect()
    };
    let special = branch.special.iter().map(|(_, p)| [p.parameter, p.state[0]]).collect();
    let curves =
        vec![("stable".to_owned(), of(true)), ("unstable".to_owned(), of(false)), ("special".to_owned(), special)];
    let title = match kind {
        Kind::Cycles => "First coordinate at the beginning of the period",
        Kind::Equilibria => "First coordinate",
    };
    let (title, across) = (title.to_owned(), parameter.to_owned());
    page.chart("curve", &Chart { title, across, log: [false; 2], style: Style::Dots, curves });
    let table: String = branch
        .points
        .iter()
        .map(|p| format!("{:?},{},{}\n", p.parameter, p.stable, crate::eval::numbers(&p.state)))
        .collect();
    page.file("curve.csv", format!("{parameter},stable,state\n{table}").into_bytes());
    page.finish(out)
}
