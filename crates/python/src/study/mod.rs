//! Studies of a model: equilibrium, small vibrations, periodic motions, gaits, curves, chaos, maps. Results are dictionaries of numbers and arrays.
//!
//! Names and options are those of `dalembert study`, and so are the numbers. The work is done in a thread of its own; the one that asked for it looks
//! after progress and signals a few times a second.

mod choice;
mod curves;
mod cycles;
mod forced;
mod item;
mod job;
mod maps;
mod shoot;
mod small;
mod walk;
mod work;

use crate::error;
use crate::model::Model;
use crate::watch::{attend, detached, goes_on};
use choice::Choice;
use item::{Items, to_python};
use job::{Follow, Job};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A study with its options.
type Work = Box<dyn Fn(&Job<'_>) -> Result<Items, String> + Send + Sync>;
/// Its name, what it tells, and how its options are read.
type Entry = (&'static str, &'static str, fn(&Choice<'_, '_>) -> PyResult<Work>);

const STUDIES: &[Entry] = &[
    ("equilibrium", "the static equilibrium near the start, and whether it is stable", small::equilibrium),
    ("linearise", "M, D, G, K, N, the state matrix and its eigenvalues about the equilibrium", small::linearise),
    ("modes", "frequencies, damping and shapes about the equilibrium", small::modes),
    ("transition", "transition matrices of small motions over a time", small::transition),
    ("frequency-response", "the response of coordinates to harmonic forces", forced::frequency_response),
    ("periodic-response", "the response of coordinates to periodic forces", forced::periodic_response),
    ("covariance", "standard deviations under white noise", forced::covariance),
    ("floquet", "multipliers of the motion over one period", cycles::floquet),
    ("limit-cycle", "a periodic motion or a gait, and its multipliers", cycles::limit_cycle),
    ("shoot", "a motion whose start and end meet conditions", shoot::shoot),
    (
        "continuation",
        "a curve of equilibria, periodic motions or gaits over a value of the scene",
        curves::continuation,
    ),
    ("lyapunov", "Lyapunov exponents with their errors", cycles::lyapunov),
    ("poincare", "points of the motion, one each period or where it passes a section", cycles::poincare),
    ("portrait", "the phase portrait: velocity over position", cycles::portrait),
    ("spectrum", "the power spectral density of a velocity", cycles::spectrum),
    ("bifurcation", "points of the motion, one each period, over a value of the scene", maps::bifurcation),
    ("chart", "the stability over two values of the scene", maps::chart),
    ("work-precision", "errors, work and times of integrators and their options", work::work_precision),
    ("basin", "where motions from a grid of two initial values come to", maps::basin),
];

/// The studies and what they tell.
#[pyfunction]
pub fn studies() -> Vec<(&'static str, &'static str)> {
    STUDIES.iter().map(|(name, about, _)| (*name, *about)).collect()
}

/// Runs a study of a model, with options by name. `progress(done, all)` is called a few times a second where steps are counted. Gives the results, and
/// whether they are whole: a study that was ended by Ctrl-C or by a progress function that answered `False` has what was computed, if it is of use.
#[pyfunction]
#[pyo3(signature = (model, kind, options, progress))]
pub fn study<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    kind: &str,
    options: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Option<Bound<'py, PyDict>>, bool)> {
    let Some((_, _, read)) = STUDIES.iter().find(|(name, _, _)| *name == kind) else {
        let known: Vec<&str> = STUDIES.iter().map(|(name, _, _)| *name).collect();
        return Err(error::value(format!("there is no study `{kind}`; there are {}", known.join(", "))));
    };
    let work = read(&Choice(options))?;
    let (this, follow) = (model.get(), Follow::default());
    let job = Job { model: this, follow: &follow };
    let work = || {
        let result = work(&job);
        job.keep_fault();
        result
    };
    let ask = |py: Python<'_>| match (&progress, follow.counts()) {
        (None, _) | (_, (_, 0)) => Ok(true),
        (Some(progress), counts) => goes_on(py, progress, counts),
    };
    let (result, raised) = detached(py, || attend(work, ask, || follow.end()));
    if let Some(raised) = raised {
        return Err(raised);
    }
    if let Some(fault) = follow.take_fault() {
        return Err(fault.into_exception(py));
    }
    match result {
        Ok(items) => Ok((Some(to_python(py, items)?), !follow.ending())),
        Err(_) if follow.ending() => Ok((None, false)),
        Err(message) => Err(error::plain(py, "StudyError", message)),
    }
}
