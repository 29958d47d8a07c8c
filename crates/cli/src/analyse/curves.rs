//! Curves of periodic motions over a value of a scene.

use super::page::{Chart, Page, Style};
use super::walk::{Walk, WalkMap, modulus};
use super::{failed, with};
use crate::args::{ModelOptions, StrideOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert_analysis::AnalysisError;
use dalembert_analysis::continuation::{Ending, Kind, Options, follow};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::field::Settings;
use dalembert_analysis::map::{Image, Map, fixed_point};
use dalembert_analysis::motion::Motion;
use dalembert_analysis::touching;
use dalembert_methods::nonsmooth::{Contacts, Hybrid};
use dalembert_methods::system::System;
use std::path::Path;

/// The step of differences by the value of the scene, relative to one and its size.
const STEP: f64 = 1e-6;

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

/// What is followed: a motion with a given period after some periods, or a gait.
pub enum Followed<'a> {
    /// The period in seconds and the number of periods.
    Period(f64, usize),
    /// Strides.
    Gait(&'a StrideOptions),
}

/// Follows a periodic motion over a value of the scene, which goes from `range[0]` to `range[1]`.
pub fn continuation(
    options: &ModelOptions,
    parameter: &str,
    range: [f64; 2],
    followed: &Followed<'_>,
    points: usize,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Periodic motions of {} over {parameter}", options.model));
    let (period, settle) = match followed {
        Followed::Period(period, settle) => (*period, *settle),
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
            return curve(&map, &found.cycle.state, parameter, range, points, 1e3 * tolerance, page, out);
        }
    };
    let scene = robot::scene(options)?;
    let shape = scene.model.shape();
    if shape.rows() > 0 || shape.q != shape.v {
        let reason = "curves of cycles are followed in scenes without constraints whose coordinates are angles and lengths (trees of \
                      hinges and sliders); contacts are open at the beginning of a period";
        return Err(Exit::Usage(reason.to_owned()));
    }
    let map = SceneMap { options, parameter, period, tolerance, size: 2 * shape.v + shape.x };
    let state = scene.model.initial_state();
    let mut z = [&state.q[..], &state.v, &state.x].concat();
    for _ in 0..settle {
        z = map.run(&z, range[0], &mut Matrix::zeros(map.size, 0)).map_err(failed)?;
    }
    let near = 1e3 * tolerance;
    let cycle = fixed_point(&map, &z, range[0], near).map_err(failed)?;
    curve(&map, &cycle.state, parameter, range, points, near, page, out)
}

/// Follows a curve of fixed points and tells of it.
fn curve(
    map: &dyn Map,
    start: &[f64],
    parameter: &str,
    range: [f64; 2],
    points: usize,
    near: f64,
    mut page: Page,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let (low, high) = (range[0].min(range[1]), range[0].max(range[1]));
    let step = (range[1] - range[0]) / 40.0;
    let choice =
        Options { step, steps: [1e-6 * step.abs(), 4.0 * step.abs()], range: [low, high], points, tolerance: near };
    let branch = follow(map, Kind::Cycles, start, range[0], &choice).map_err(failed)?;
    page.say(&match &branch.ending {
        Ending::Range => format!("{} points; the value left its range", branch.points.len()),
        Ending::Points => format!("{} points, as many as asked", branch.points.len()),
        Ending::Lost(error) => format!("{} points; then the curve was lost: {error}", branch.points.len()),
    });
    let mut rows = vec![vec!["what".to_owned(), parameter.to_owned(), "largest multiplier".to_owned()]];
    for (what, point) in &branch.special {
        rows.push(vec![format!("{what:?}"), format!("{:.9}", point.parameter), modulus(&point.values)]);
    }
    page.table(&rows);
    if let Some(last) = branch.points.last() {
        let kind = if last.stable { "stable" } else { "unstable" };
        page.say(&format!("last point: {parameter} = {:.9}, {kind}", last.parameter));
    }
    let of = |stable: bool| -> Vec<[f64; 2]> {
        branch.points.iter().filter(|p| p.stable == stable).map(|p| [p.parameter, p.state[0]]).collect()
    };
    let curves = vec![("stable".to_owned(), of(true)), ("unstable".to_owned(), of(false))];
    let (title, across) = ("First coordinate at the beginning of the period".to_owned(), parameter.to_owned());
    page.chart("curve", &Chart { title, across, log: [false; 2], style: Style::Dots, curves });
    let table: String = branch
        .points
        .iter()
        .map(|p| format!("{:?},{},{}\n", p.parameter, p.stable, crate::eval::numbers(&p.state)))
        .collect();
    page.file("curve.csv", format!("{parameter},stable,state\n{table}").into_bytes());
    page.finish(out)
}
