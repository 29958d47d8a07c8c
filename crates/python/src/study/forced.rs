//! Forced vibrations: harmonic, periodic and random forces.

use super::Work;
use super::choice::{Choice, missing};
use super::item::{Item, Items, matrix};
use super::job::{Job, said, velocities, velocity};
use super::small::{Place, and};
use crate::error;
use dalembert::expression::Expression;
use dalembert_analysis::covariance::{stationary, stationary_sparse, transient};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::linearise::{Linearised, entries};
use dalembert_analysis::response::{Filter, StateSpace, logarithmic};
use pyo3::prelude::*;
use std::f64::consts::TAU;

/// Frequencies of spectral densities.
const DENSITIES: usize = 600;
/// Alternating directions of a sparse solve, at most.
const DIRECTIONS: usize = 600;

/// The linearised scene with forces on some velocities and the coordinates of others measured.
fn space(found: &Linearised, forces: &[usize], measures: &[usize]) -> StateSpace {
    let (f, n) = (found.independent.len(), found.state_matrix.rows());
    let input = Matrix::from_fn(n, forces.len(), |i, k| found.input[(i, forces[k])]);
    let output = Matrix::from_fn(measures.len(), n, |i, j| if j < f { found.basis[(measures[i], j)] } else { 0.0 });
    StateSpace { state: found.state_matrix.clone(), input, output }
}

/// The response to harmonic forces; an array over frequencies, then over measures and forces where lists of them were given.
pub fn frequency_response(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&and(&["force", "measure", "from", "to", "count"]))?;
    let band = [c.number("from", Some(0.1))?, c.number("to", Some(100.0))?];
    if !(band[0] > 0.0 && band[1] > band[0]) {
        return Err(error::value("frequencies must be positive and rising"));
    }
    let (force, measure, count) = (c.texts("force")?, c.texts("measure")?, c.count("count", 400)?);
    for (name, list) in [("force", &force), ("measure", &measure)] {
        if list.is_empty() {
            return Err(missing(name));
        }
    }
    let (place, plain) = (Place::read(c)?, c.single("force")? && c.single("measure")?);
    Ok(Box::new(move |job| -> Result<Items, String> {
        let (_, found) = place.about(job)?;
        let model = &job.scene().model;
        let system = space(&found, &velocities(model, &force)?, &velocities(model, &measure)?);
        let frequencies = logarithmic(band[0], band[1], count);
        let mut values = Vec::with_capacity(count * force.len() * measure.len());
        for frequency in &frequencies {
            let matrix = system.response(TAU * frequency).map_err(said)?;
            (0..measure.len()).for_each(|i| values.extend((0..force.len()).map(|j| matrix[(i, j)])));
        }
        let shape = if plain { vec![count] } else { vec![count, measure.len(), force.len()] };
        Ok(vec![("frequency", Item::Numbers(frequencies)), ("response", Item::ComplexArray(shape, values))])
    }))
}

/// A periodic force: a formula in t, or its values at equal distances over one period.
#[derive(FromPyObject)]
enum Wave {
    Formula(String),
    Samples(Vec<f64>),
}

/// The periodic response to periodic forces.
pub fn periodic_response(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&and(&["force", "measure", "period", "samples"]))?;
    let waves: Vec<(String, Wave)> = c.pairs("force")?;
    if waves.is_empty() {
        return Err(missing("force"));
    }
    // As many samples as there are values, where values are given.
    let given =
        waves.iter().find_map(|(_, wave)| if let Wave::Samples(values) = wave { Some(values.len()) } else { None });
    let (period, samples) = (c.positive("period", None)?, c.count("samples", given.unwrap_or(256))?);
    if !(2..=1 << 16).contains(&samples) {
        return Err(error::value(format!("option `samples` is {samples}; a period has 2 to 65536 samples")));
    }
    let mut inputs = Matrix::zeros(samples, waves.len());
    for (j, (name, wave)) in waves.iter().enumerate() {
        match wave {
            Wave::Formula(text) => {
                let wrong = |e: &dyn std::fmt::Display| error::value(format!("force on `{name}`: {e}"));
                let formula = Expression::parse_in(text, &["t"]).map_err(|e| wrong(&e))?;
                for k in 0..samples {
                    inputs[(k, j)] = formula.value(&[period * k as f64 / samples as f64]).map_err(|e| wrong(&e))?;
                }
            }
            Wave::Samples(values) => {
                if values.len() != samples {
                    let found = values.len();
                    return Err(error::value(format!("force on `{name}`: {found} values for {samples} samples")));
                }
                if let Some(k) = values.iter().position(|x| !x.is_finite()) {
                    return Err(error::value(format!("force on `{name}`: value {k} is {}", values[k])));
                }
                (0..samples).for_each(|k| inputs[(k, j)] = values[k]);
            }
        }
    }
    let (place, measure) = (Place::read(c)?, c.texts("measure")?);
    Ok(Box::new(move |job| -> Result<Items, String> {
        let (_, found) = place.about(job)?;
        let model = &job.scene().model;
        let names = if measure.is_empty() { found.names.clone() } else { measure.clone() };
        let forces = waves.iter().map(|(name, _)| velocity(model, name)).collect::<Result<Vec<_>, _>>()?;
        let system = space(&found, &forces, &velocities(model, &names)?);
        let outputs = system.periodic(period, &inputs).map_err(said)?;
        let times = (0..samples).map(|k| period * k as f64 / samples as f64).collect();
        Ok(vec![("time", Item::Numbers(times)), ("names", Item::Texts(names)), ("response", Item::Matrix(outputs))])
    }))
}

/// Numerator and denominator of a filter.
type Polynomials = (Vec<f64>, Vec<f64>);

/// The covariance under noise, and spectral densities of positions and velocities, one-sided and per Hz.
pub fn covariance(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&and(&["noise", "filter", "at", "from", "to", "sparse", "residual"]))?;
    let noise: Vec<(String, f64)> = c.pairs("noise")?;
    if noise.is_empty() {
        return Err(error::value("this study needs the option `noise`: {name: intensity}"));
    }
    if let Some((name, intensity)) = noise.iter().find(|(_, w)| !(*w >= 0.0 && w.is_finite())) {
        return Err(error::value(format!(
            "the intensity of `{name}` is {intensity}; it must be finite and not negative"
        )));
    }
    let shapes: Vec<(String, Polynomials)> = c.pairs("filter")?;
    if let Some((name, _)) = shapes.iter().find(|(name, _)| noise.iter().all(|(on, _)| on != name)) {
        return Err(error::value(format!(
            "`filter` of `{name}`: no noise of that name, so that there is nothing to filter"
        )));
    }
    let (place, at, band) = (Place::read(c)?, c.maybe("at")?, [c.maybe("from")?, c.maybe("to")?]);
    let residual = c.positive("residual", Some(1e-12))?;
    if c.flag("sparse")? {
        if at.is_some() {
            return Err(error::value("`sparse` and `at` exclude each other: the stationary covariance is found"));
        }
        if !shapes.is_empty() {
            return Err(error::value("`sparse` and `filter` exclude each other"));
        }
        if band.iter().any(Option::is_some) {
            return Err(error::value("`sparse` and a band exclude each other: it gives no spectral densities"));
        }
        return Ok(Box::new(move |job| sparse(job, &place, &noise, residual)));
    }
    Ok(Box::new(move |job| -> Result<Items, String> {
        let (_, found) = place.about(job)?;
        let model = &job.scene().model;
        let forces = noise.iter().map(|(name, _)| velocity(model, name)).collect::<Result<Vec<_>, _>>()?;
        let intensities: Vec<f64> = noise.iter().map(|(_, w)| *w).collect();
        let filter = |name: &String| {
            let shape = shapes.iter().find(|(on, _)| on == name)?;
            let (numerator, denominator) = shape.1.clone();
            Some(Filter { numerator, denominator })
        };
        let filters: Vec<Option<Filter>> = noise.iter().map(|(name, _)| filter(name)).collect();
        let (f, mut system) = (found.independent.len(), space(&found, &forces, &found.independent));
        // Velocities are measured too.
        system.output = Matrix::from_fn(2 * f, found.state_matrix.rows(), |i, j| f64::from(u8::from(i == j)));
        let system = system.shaped(&filters).map_err(said)?;
        let n = system.state.rows();
        let q = system.input.mul(&Matrix::diagonal(&intensities)).mul(&system.input.transpose());
        let p = match at {
            None => stationary(&system.state, &q).map_err(said)?,
            Some(t) => transient(&system.state, &q, &Matrix::zeros(n, n), t).map_err(said)?,
        };
        let deviations = (0..n).map(|i| p[(i, i)].max(0.0).sqrt()).collect();
        let own = system.band().map_err(said)?;
        let [low, high] = [0, 1].map(|end| band[end].unwrap_or(own[end]));
        if !(low > 0.0 && high > low) {
            return Err("frequencies must be positive and rising".to_owned());
        }
        let frequencies = logarithmic(low, high, DENSITIES);
        let rows = frequencies.iter().map(|hertz| system.density(&intensities, *hertz).map_err(said));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(vec![
            ("names", Item::Texts(found.names)),
            ("deviations", Item::Numbers(deviations)),
            ("covariance", Item::Matrix(p)),
            ("frequency", Item::Numbers(frequencies)),
            ("density", matrix(&rows, 2 * f)),
        ])
    }))
}

/// The stationary covariance of a large sparse system, P ≈ Z Zᵀ with a factor of few columns.
fn sparse(job: &Job<'_>, place: &Place, noise: &[(String, f64)], residual: f64) -> Result<Items, String> {
    let at = place.place(job)?;
    let model = &job.scene().model;
    let forces = noise.iter().map(|(name, _)| velocity(model, name)).collect::<Result<Vec<_>, _>>()?;
    let found = entries(&at.system(model), &at.state, &forces).map_err(said)?;
    let roots: Vec<f64> = noise.iter().map(|(_, w)| w.sqrt()).collect();
    let input = found.input.mul(&Matrix::diagonal(&roots));
    let low = stationary_sparse(found.size, &found.state, &input, residual, DIRECTIONS).map_err(said)?;
    let deviations = (0..found.size).map(|i| low.entry(i, i).max(0.0).sqrt()).collect();
    Ok(vec![
        ("names", Item::Texts(found.names)),
        ("deviations", Item::Numbers(deviations)),
        ("factor", Item::Matrix(low.factor)),
        ("residual", Item::Number(low.residual)),
    ])
}
