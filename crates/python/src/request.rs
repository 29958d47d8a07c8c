//! What a study is asked for: its name and its options, checked.

use crate::error;
use dalembert_analysis::motion::ExponentOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The options of a study, by name; each is taken once, and what is left over is an error.
pub struct Choice<'a, 'py>(pub &'a Bound<'py, PyDict>);

impl Choice<'_, '_> {
    fn find<T: for<'a> FromPyObject<'a, 'a, Error = PyErr>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.0.get_item(name)?.filter(|value| !value.is_none()) else { return Ok(None) };
        value.extract().map(Some).map_err(|error| error::value(format!("option `{name}`: {error}")))
    }
    fn number(&self, name: &str, default: Option<f64>) -> PyResult<f64> {
        let value: Option<f64> = self.find(name)?;
        let value = value.or(default).ok_or_else(|| error::value(format!("this study needs the option `{name}`")))?;
        if value.is_finite() { Ok(value) } else { Err(error::value(format!("option `{name}` is {value}"))) }
    }
    fn count(&self, name: &str, default: usize) -> PyResult<usize> {
        Ok(self.find(name)?.unwrap_or(default))
    }
    fn flag(&self, name: &str) -> PyResult<bool> {
        Ok(self.find(name)?.unwrap_or(false))
    }
    fn text(&self, name: &str) -> PyResult<String> {
        self.find(name)?.ok_or_else(|| error::value(format!("this study needs the option `{name}`")))
    }
    fn only(&self, known: &[&str]) -> PyResult<()> {
        for key in self.0.keys() {
            let key: String = key.extract()?;
            if !known.contains(&key.as_str()) {
                let known = known.join(", ");
                return Err(error::value(format!("this study has no option `{key}`; it takes {known}")));
            }
        }
        Ok(())
    }
}

/// What a study is asked for, in plain values.
pub enum Request {
    Equilibrium { here: bool },
    Linearise { here: bool },
    Modes { here: bool },
    Response { here: bool, force: String, measure: String, band: [f64; 2], count: usize },
    Covariance { here: bool, noise: Vec<(String, f64)>, at: Option<f64> },
    Multipliers { period: f64, settle: f64, tolerance: f64, search: bool },
    Lyapunov { choice: ExponentOptions, tolerance: f64 },
    Poincare { coordinate: String, period: f64, settle: usize, points: usize, tolerance: f64 },
    Spectrum { coordinate: String, interval: f64, samples: usize, segment: usize, settle: f64, tolerance: f64 },
}

/// The studies and what they tell.
#[pyfunction]
pub fn studies() -> Vec<(&'static str, &'static str)> {
    vec![
        ("equilibrium", "the static equilibrium near the start, and whether it is stable"),
        ("linearise", "M, D, G, K, N, the state matrix and its eigenvalues about the equilibrium"),
        ("modes", "frequencies, damping and shapes about the equilibrium"),
        ("frequency-response", "the response of a coordinate to a harmonic force"),
        ("covariance", "standard deviations under white noise"),
        ("floquet", "multipliers of the motion over one period"),
        ("limit-cycle", "a periodic motion and its multipliers"),
        ("lyapunov", "Lyapunov exponents with their errors"),
        ("poincare", "points of the motion, one each period"),
        ("spectrum", "the power spectral density of a velocity"),
    ]
}

/// What is asked for, from the options.
pub fn request(kind: &str, c: &Choice<'_, '_>) -> PyResult<Request> {
    Ok(match kind {
        "equilibrium" | "linearise" | "modes" => {
            c.only(&["here"])?;
            let here = c.flag("here")?;
            match kind {
                "equilibrium" => Request::Equilibrium { here },
                "linearise" => Request::Linearise { here },
                _ => Request::Modes { here },
            }
        }
        "frequency-response" => {
            c.only(&["here", "force", "measure", "from", "to", "count"])?;
            let band = [c.number("from", Some(0.1))?, c.number("to", Some(100.0))?];
            if !(band[0] > 0.0 && band[1] > band[0]) {
                return Err(error::value("frequencies must be positive and rising"));
            }
            let (force, measure, count) = (c.text("force")?, c.text("measure")?, c.count("count", 400)?);
            Request::Response { here: c.flag("here")?, force, measure, band, count }
        }
        "covariance" => {
            c.only(&["here", "noise", "at"])?;
            let noise: Option<std::collections::BTreeMap<String, f64>> = c.find("noise")?;
            let noise = noise.ok_or_else(|| error::value("this study needs the option `noise`: {name: intensity}"))?;
            let at: Option<f64> = c.find("at")?;
            Request::Covariance { here: c.flag("here")?, noise: noise.into_iter().collect(), at }
        }
        "floquet" | "limit-cycle" => {
            c.only(&["period", "settle", "tolerance"])?;
            let (period, settle) = (c.number("period", None)?, c.number("settle", Some(0.0))?);
            let (tolerance, search) = (c.number("tolerance", Some(1e-12))?, kind == "limit-cycle");
            Request::Multipliers { period, settle, tolerance, search }
        }
        "lyapunov" => {
            c.only(&["interval", "transient", "batch", "batches", "tolerance"])?;
            let choice = ExponentOptions {
                interval: c.number("interval", Some(1.0))?,
                transient: c.number("transient", Some(100.0))?,
                batch: c.number("batch", Some(100.0))?,
                batches: c.count("batches", 20)?,
            };
            Request::Lyapunov { choice, tolerance: c.number("tolerance", Some(1e-9))? }
        }
        "poincare" => {
            c.only(&["coordinate", "period", "settle", "points", "tolerance"])?;
            let (coordinate, period) = (c.text("coordinate")?, c.number("period", None)?);
            let (settle, points) = (c.count("settle", 100)?, c.count("points", 100)?);
            Request::Poincare { coordinate, period, settle, points, tolerance: c.number("tolerance", Some(1e-9))? }
        }
        "spectrum" => {
            c.only(&["coordinate", "interval", "samples", "segment", "settle", "tolerance"])?;
            Request::Spectrum {
                coordinate: c.text("coordinate")?,
                interval: c.number("interval", None)?,
                samples: c.count("samples", 16384)?,
                segment: c.count("segment", 2048)?,
                settle: c.number("settle", Some(0.0))?,
                tolerance: c.number("tolerance", Some(1e-9))?,
            }
        }
        _ => {
            let known: Vec<&str> = studies().into_iter().map(|(name, _)| name).collect();
            return Err(error::value(format!("there is no study `{kind}`; there are {}", known.join(", "))));
        }
    })
}
