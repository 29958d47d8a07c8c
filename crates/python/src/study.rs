//! Studies of a model: equilibrium, small vibrations, periodic motions, chaos. Results are dictionaries of numbers and arrays.

use crate::error;
use crate::model::Model;
use crate::request::{Choice, Request, request};
use dalembert::methods::algebra::Complex;
use dalembert::methods::nonsmooth::{Contacts, Hybrid};
use dalembert::methods::stability::stability;
use dalembert::methods::statics::equilibrium;
use dalembert::methods::{State, System};
use dalembert::model::Model as Mechanics;
use dalembert::scene::Scene;
use dalembert_analysis::covariance::{stationary, transient};
use dalembert_analysis::dense::{Dense, Matrix};
use dalembert_analysis::eigen::{eigenvalues, schur};
use dalembert_analysis::field::Settings;
use dalembert_analysis::linear::{Verdict, verdict};
use dalembert_analysis::linearise::{Linearised, linearise};
use dalembert_analysis::motion::{ExponentOptions, Motion, exponents, orbit};
use dalembert_analysis::response::logarithmic;
use dalembert_analysis::spectrum::{Window, welch};
use dalembert_analysis::touching;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The search for an equilibrium ends at this part of the size of the system.
const BALANCE: f64 = 1e-12;

/// A result on its way to Python.
enum Item {
    Text(String),
    Texts(Vec<String>),
    Number(f64),
    Count(usize),
    Flag(bool),
    Numbers(Vec<f64>),
    Complexes(Vec<Complex>),
    Matrix(Matrix),
}

type Items = Vec<(&'static str, Item)>;

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A complex array: pairs of real and imaginary parts are seen as complex numbers.
fn complexes<'py>(py: Python<'py>, values: &[Complex]) -> PyResult<Bound<'py, PyAny>> {
    let pairs: Vec<f64> = values.iter().flat_map(|z| [z.re, z.im]).collect();
    PyArray1::from_vec(py, pairs).call_method1("view", ("complex128",))
}

fn to_python<'py>(py: Python<'py>, items: Items) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (name, item) in items {
        match item {
            Item::Text(text) => out.set_item(name, text),
            Item::Texts(texts) => out.set_item(name, texts),
            Item::Number(x) => out.set_item(name, x),
            Item::Count(n) => out.set_item(name, n),
            Item::Flag(yes) => out.set_item(name, yes),
            Item::Numbers(values) => out.set_item(name, PyArray1::from_vec(py, values)),
            Item::Complexes(values) => out.set_item(name, complexes(py, &values)?),
            Item::Matrix(matrix) => {
                let shape = [matrix.rows(), matrix.cols()];
                out.set_item(name, PyArray1::from_slice(py, matrix.values()).reshape(shape)?)
            }
        }?;
    }
    Ok(out)
}

/// Runs a study of a model, with options by name.
#[pyfunction]
pub fn study<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    kind: &str,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let request = request(kind, &Choice(options))?;
    let this = model.get();
    let (result, fault) = py.detach(|| {
        let result = answer(&this.scene, &request);
        (result, this.take_fault())
    });
    if let Some(fault) = fault {
        return Err(fault.into_exception(py));
    }
    to_python(py, result.map_err(|message| error::plain(py, "StudyError", message))?)
}

fn answer(scene: &Scene, request: &Request) -> Result<Items, String> {
    match request {
        Request::Equilibrium { here } => balance(scene, *here),
        Request::Linearise { here } => linear(scene, *here),
        Request::Modes { here } => modes(scene, *here),
        Request::Response { here, force, measure, band, count } => {
            response(scene, *here, force, measure, *band, *count)
        }
        Request::Covariance { here, noise, at } => covariance(scene, *here, noise, *at),
        Request::Multipliers { period, settle, tolerance, search } => {
            multipliers(scene, *period, *settle, *tolerance, *search)
        }
        Request::Lyapunov { choice, tolerance } => lyapunov(scene, choice, *tolerance),
        Request::Poincare { coordinate, period, settle, points, tolerance } => {
            let index = velocity(&scene.model, coordinate)?;
            let (q, v) = strobe(scene, index, *period, *settle, *points, *tolerance)?;
            Ok(vec![("position", Item::Numbers(q)), ("velocity", Item::Numbers(v))])
        }
        Request::Spectrum { coordinate, interval, samples, segment, settle, tolerance } => {
            let index = velocity(&scene.model, coordinate)?;
            let before = (settle / interval).ceil() as usize;
            let (_, v) = strobe(scene, index, *interval, before, *samples, *tolerance)?;
            let found = welch(&v, *interval, *segment, Window::Hann).map_err(said)?;
            Ok(vec![
                ("frequency", Item::Numbers(found.frequencies)),
                ("density", Item::Numbers(found.density)),
                ("segments", Item::Count(found.segments)),
            ])
        }
    }
}

/// The velocity with a name, or whose name contains it.
fn velocity(model: &Mechanics, name: &str) -> Result<usize, String> {
    let names: Vec<String> = (0..model.shape().v).map(|i| model.velocity_name(i)).collect();
    if let Some(i) = names.iter().position(|n| n == name) {
        return Ok(i);
    }
    let found: Vec<usize> = (0..names.len()).filter(|&i| names[i].contains(name)).collect();
    match found.as_slice() {
        [i] => Ok(*i),
        _ => Err(format!(
            "`{name}` names {} of the velocities; there are {}",
            if found.is_empty() { "none" } else { "several" },
            names.join("; ")
        )),
    }
}

fn state_items(state: &State<f64>) -> Items {
    vec![
        ("q", Item::Numbers(state.q.clone())),
        ("v", Item::Numbers(state.v.clone())),
        ("x", Item::Numbers(state.x.clone())),
    ]
}

fn balance(scene: &Scene, here: bool) -> Result<Items, String> {
    let mut state = scene.model.initial_state();
    let mut items = Vec::new();
    if !here {
        let found = equilibrium(&scene.model, &mut state, BALANCE).map_err(said)?;
        items.push(("iterations", Item::Count(found.iterations as usize)));
        items.push(("residual", Item::Number(found.residual)));
    }
    let found = stability(&scene.model, &state).map_err(said)?;
    items.extend(state_items(&state));
    items.push(("stable", Item::Flag(found.stable())));
    items.push(("unstable", Item::Count(found.unstable())));
    items.push(("neutral", Item::Count(found.neutral())));
    items.push(("squared", Item::Numbers(found.squared)));
    Ok(items)
}

/// The scene linearised about its equilibrium, or about its start.
fn about(scene: &Scene, here: bool) -> Result<(State<f64>, Linearised), String> {
    if Contacts::contacts(&scene.model) > 0 {
        return Err("small vibrations need a scene without contacts: impacts and changes between stick and slip are not part of \
                    its linearised equations"
            .to_owned());
    }
    let mut state = scene.model.initial_state();
    if !here {
        equilibrium(&scene.model, &mut state, BALANCE).map_err(said)?;
    }
    let system = linearise(&scene.model, &state).map_err(said)?;
    Ok((state, system))
}

fn linear(scene: &Scene, here: bool) -> Result<Items, String> {
    let (state, found) = about(scene, here)?;
    let mut values = schur(&found.state_matrix.to_complex()).map_err(said)?.values();
    values.sort_by(|a, b| a.im.abs().total_cmp(&b.im.abs()).then(b.im.total_cmp(&a.im)));
    let text = match verdict(&values) {
        Verdict::AsymptoticallyStable => "asymptotically stable".to_owned(),
        Verdict::Marginal => "marginal".to_owned(),
        Verdict::Unstable(n) => format!("unstable: {n} independent small motions grow"),
    };
    let system = found.system;
    let mut items = state_items(&state);
    items.extend([
        ("names", Item::Texts(found.names)),
        ("mass", Item::Matrix(system.mass)),
        ("damping", Item::Matrix(system.damping)),
        ("gyroscopic", Item::Matrix(system.gyroscopic)),
        ("stiffness", Item::Matrix(system.stiffness)),
        ("circulatory", Item::Matrix(system.circulatory)),
        ("state_matrix", Item::Matrix(found.state_matrix)),
        ("basis", Item::Matrix(found.basis)),
        ("acceleration", Item::Number(found.acceleration)),
        ("eigenvalues", Item::Complexes(values)),
        ("verdict", Item::Text(text)),
    ]);
    Ok(items)
}

fn modes(scene: &Scene, here: bool) -> Result<Items, String> {
    let (state, found) = about(scene, here)?;
    let real = found.system.real_modes().map_err(said)?;
    let complex = found.system.complex_modes().map_err(said)?;
    let mut items = state_items(&state);
    items.extend([
        ("names", Item::Texts(found.names)),
        ("squared", Item::Numbers(real.squared.clone())),
        ("frequencies", Item::Numbers(real.frequencies())),
        ("all_shapes", Item::Matrix(found.basis.mul(&real.shapes))),
        ("shapes", Item::Matrix(real.shapes)),
        ("damping_ratios", Item::Numbers(complex.damping_ratios())),
        ("eigenvalues", Item::Complexes(complex.values)),
    ]);
    Ok(items)
}

/// The column of the state equation for a unit force on a velocity.
fn input(found: &Linearised, index: usize) -> Result<Vec<f64>, String> {
    let f = found.independent.len();
    let push = found.system.mass.solve_vector(found.basis.row(index), "the mass matrix").map_err(said)?;
    let mut column = vec![0.0; found.state_matrix.rows()];
    column[f..2 * f].copy_from_slice(&push);
    Ok(column)
}

fn response(
    scene: &Scene,
    here: bool,
    force: &str,
    measure: &str,
    band: [f64; 2],
    count: usize,
) -> Result<Items, String> {
    let (_, found) = about(scene, here)?;
    let (at, read) = (velocity(&scene.model, force)?, velocity(&scene.model, measure)?);
    let column: Vec<Complex> = input(&found, at)?.iter().map(|&b| b.into()).collect();
    let n = found.state_matrix.rows();
    let frequencies = logarithmic(band[0], band[1], count);
    let mut values = Vec::with_capacity(count);
    for frequency in &frequencies {
        let turn = std::f64::consts::TAU * frequency;
        let matrix =
            Dense::from_fn(n, n, |i, j| Complex::new(-found.state_matrix[(i, j)], if i == j { turn } else { 0.0 }));
        let x = matrix.solve_vector(&column, "the dynamic stiffness (an undamped resonance)").map_err(said)?;
        let reading = found.basis.row(read).iter().zip(&x);
        values.push(reading.fold(Complex::default(), |sum, (&c, &x)| sum + Complex::from(c) * x));
    }
    Ok(vec![("frequency", Item::Numbers(frequencies)), ("response", Item::Complexes(values))])
}

fn covariance(scene: &Scene, here: bool, noise: &[(String, f64)], at: Option<f64>) -> Result<Items, String> {
    let (_, found) = about(scene, here)?;
    let n = found.state_matrix.rows();
    let mut q = Matrix::zeros(n, n);
    for (name, intensity) in noise {
        if !(*intensity >= 0.0 && intensity.is_finite()) {
            return Err(format!("the intensity of `{name}` is {intensity}; it must be finite and not negative"));
        }
        let column = Matrix::from_rows(n, 1, input(&found, velocity(&scene.model, name)?)?);
        q = q.plus(*intensity, &column.mul(&column.transpose()));
    }
    let p = match at {
        None => stationary(&found.state_matrix, &q).map_err(said)?,
        Some(t) => transient(&found.state_matrix, &q, &Matrix::zeros(n, n), t).map_err(said)?,
    };
    let deviations = (0..n).map(|i| p[(i, i)].max(0.0).sqrt()).collect();
    let items = [("names", Item::Texts(found.names)), ("deviations", Item::Numbers(deviations))];
    Ok(items.into_iter().chain([("covariance", Item::Matrix(p))]).collect())
}

fn multipliers(scene: &Scene, period: f64, settle: f64, tolerance: f64, search: bool) -> Result<Items, String> {
    let model = &scene.model;
    let touches = Contacts::contacts(model) > 0;
    let (choice, settings) = (scene.run.contacts.options(scene.run.tolerance), Settings::within(tolerance));
    let start = model.initial_state();
    let mut state = if touches { Hybrid::new(model).state(start) } else { start };
    let begin = state.t;
    let mut none = Matrix::zeros(2 * state.v.len() + state.x.len(), 0);
    if touches {
        touching::flow(model, &mut state, &mut none, begin + settle * period, &choice, settings).map_err(said)?;
    } else {
        Motion::new(model, settings).advance(&mut state, &mut none, begin + settle * period).map_err(said)?;
    }
    state.t = begin;
    if search {
        let near = 1e3 * tolerance;
        let found = if touches {
            touching::orbit(model, &state, period, near, &choice, settings)
        } else {
            orbit(model, &state, period, near, settings)
        };
        let found = found.map_err(said)?;
        let mut items = state_items(&found.state);
        items.extend([
            ("period", Item::Number(found.period)),
            ("multipliers", Item::Complexes(found.multipliers)),
            ("residual", Item::Number(found.residual)),
            ("iterations", Item::Count(found.iterations)),
        ]);
        return Ok(items);
    }
    let (map, end) = if touches {
        touching::monodromy(model, &state, period, &choice, settings).map_err(said)?
    } else {
        Motion::new(model, settings).monodromy(&state, period).map_err(said)?
    };
    let difference = Motion::new(model, settings).difference(&state, &end).map_err(said)?;
    let apart = difference.iter().fold(0.0f64, |max, d| max.max(d.abs()));
    let mut items = state_items(&state);
    items.extend([
        ("period", Item::Number(period)),
        ("multipliers", Item::Complexes(eigenvalues(&map).map_err(said)?)),
        ("monodromy", Item::Matrix(map)),
        ("residual", Item::Number(apart)),
    ]);
    Ok(items)
}

fn lyapunov(scene: &Scene, choice: &ExponentOptions, tolerance: f64) -> Result<Items, String> {
    let (model, settings) = (&scene.model, Settings::within(tolerance));
    let state = model.initial_state();
    let found = if Contacts::contacts(model) > 0 {
        let state = Hybrid::new(model).state(state);
        touching::exponents(model, &state, choice, &scene.run.contacts.options(tolerance), settings)
    } else {
        exponents(model, &state, choice, settings)
    };
    let found = found.map_err(said)?;
    let (rows, cols) = (found.history.len(), found.exponents.len());
    Ok(vec![
        ("exponents", Item::Numbers(found.exponents)),
        ("errors", Item::Numbers(found.errors)),
        ("dimension", Item::Number(found.dimension)),
        ("dimension_error", Item::Number(found.dimension_error)),
        ("history", Item::Matrix(Matrix::from_rows(rows, cols, found.history.concat()))),
    ])
}

/// Position (from that of the start) and velocity of one coordinate, once a period, after a number of periods.
fn strobe(
    scene: &Scene,
    index: usize,
    period: f64,
    settle: usize,
    points: usize,
    tolerance: f64,
) -> Result<(Vec<f64>, Vec<f64>), String> {
    let (model, settings) = (&scene.model, Settings::within(tolerance));
    let start = model.initial_state();
    let mut motion = Motion::new(model, settings);
    let (mut places, mut speeds) = (Vec::with_capacity(points), Vec::with_capacity(points));
    if Contacts::contacts(model) > 0 {
        let begin = Hybrid::new(model).state(start.clone());
        let choice = scene.run.contacts.options(tolerance);
        let all = touching::samples(model, &begin, period, settle + points, &choice, settings).map_err(said)?;
        for at in all.iter().skip(settle) {
            places.push(motion.difference(&start, at).map_err(said)?[index]);
            speeds.push(at.v[index]);
        }
        return Ok((places, speeds));
    }
    let mut state = start.clone();
    let mut none = Matrix::zeros(motion.variation().size(), 0);
    for round in 1..=settle + points {
        motion.advance(&mut state, &mut none, start.t + round as f64 * period).map_err(said)?;
        if round > settle {
            places.push(motion.difference(&start, &state).map_err(said)?[index]);
            speeds.push(state.v[index]);
        }
    }
    Ok((places, speeds))
}
