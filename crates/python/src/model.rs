//! A model, ready to run and to be asked.

use crate::callback::Raised;
use crate::error;
use crate::run::{self, Run};
use crate::scene::Source;
use crate::watch::{Stop, Watch, detached};
use dalembert::callback::CallbackError;
use dalembert::methods::nonsmooth::Contacts;
use dalembert::methods::{State, System};
use dalembert::record::{self, Checkpoint, FinalState};
use dalembert::run::{Failure, RunError, run as simulate, run_from};
use dalembert::scene::Scene;
use dalembert_analysis::beside::Beside;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Time, coordinates, velocities and extra states.
type Whole = (f64, Vec<f64>, Vec<f64>, Vec<f64>);
/// The functions from Python, for pickling: of signals, and of forces.
type Functions = (Py<PyDict>, Py<PyDict>);

/// A scene with everything computed, and the system it describes.
#[pyclass(frozen, module = "dalembert._dalembert")]
pub struct Model {
    pub scene: Scene,
    pub name: String,
    source: Source,
    functions: Functions,
    raised: Arc<Raised>,
    beside: OnceLock<Option<Beside>>,
}

impl Model {
    /// A model of a scene.
    pub fn new(scene: Scene, name: String, source: Source, functions: Functions, raised: Arc<Raised>) -> Self {
        Self { scene, name, source, functions, raised, beside: OnceLock::new() }
    }

    /// Its equations, recorded for derivatives of four states at once; none if they cannot be, as those that call Python.
    pub fn beside(&self) -> Option<&Beside> {
        let record = || if self.scene.callbacks.is_empty() { Beside::of(&self.scene.model) } else { None };
        self.beside.get_or_init(record).as_ref()
    }

    /// The scene read again, with other values of some of its entries.
    pub fn with_values(&self, values: &[(&str, f64)]) -> Result<Scene, String> {
        self.with_settings(&values.iter().map(|(path, value)| format!("{path}={value:?}")).collect::<Vec<_>>())
    }

    /// The scene read again, with further settings `path=value`.
    pub fn with_settings(&self, settings: &[String]) -> Result<Scene, String> {
        let wrong = |reason: String| format!("the scene cannot take {}: {reason}", settings.join(", "));
        // Nothing is computed from how a scene is run.
        if self.source.computed && settings.iter().any(|setting| !setting.starts_with("run.")) {
            return Err(wrong(
                "everything in this model is computed already, as in all that were pickled or read from a record; \
                              study the scene that it was made from"
                    .to_owned(),
            ));
        }
        let made = self.source.load(settings.iter().cloned(), self.scene.callbacks.clone());
        made.map_err(|error| wrong(error.plain()))
    }

    /// What a callback has raised or done wrong in this thread, as an exception.
    pub fn fault(&self, py: Python<'_>, error: &CallbackError) -> PyErr {
        match self.raised.take() {
            Some(raised) => raised,
            None => error::exception(py, "CallbackError", (error.to_string(), &error.name, error.time)),
        }
    }

    /// Whether Ctrl-C has met a callback in this thread; it is forgotten then.
    pub fn interrupted(&self) -> bool {
        self.raised.interrupted()
    }

    /// The fault of this thread, if there is one: for those who evaluate equations.
    pub fn take_fault(&self) -> Option<Fault> {
        let fault = self.scene.callbacks.faults.take()?;
        Some(Fault { raised: self.raised.take(), fault })
    }
}

/// A fault of a callback, on its way to another thread.
pub struct Fault {
    raised: Option<PyErr>,
    fault: CallbackError,
}

impl Fault {
    /// The exception that it is.
    pub fn into_exception(self, py: Python<'_>) -> PyErr {
        let Self { raised, fault } = self;
        raised.unwrap_or_else(|| error::exception(py, "CallbackError", (fault.to_string(), fault.name, fault.time)))
    }
}

/// Where a run begins.
enum Begin {
    Written,
    Checkpoint(Checkpoint),
    State(FinalState),
}

#[pymethods]
impl Model {
    /// The short name, which records carry.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The title of the scene.
    #[getter]
    fn title(&self) -> &str {
        &self.scene.info.title
    }

    /// The scene as run, as TOML.
    fn to_toml(&self) -> String {
        self.scene.to_toml()
    }

    /// Start and end of a run, in s.
    #[getter]
    fn span(&self) -> (f64, f64) {
        (self.scene.run.start, self.scene.run.until)
    }

    /// Numbers of coordinates, velocities, extra states, constraint rows and contacts.
    #[getter]
    fn shape(&self) -> (usize, usize, usize, usize, usize) {
        let shape = self.scene.model.shape();
        (shape.q, shape.v, shape.x, shape.rows(), Contacts::contacts(&self.scene.model))
    }

    /// The names of coordinates, velocities and constraint rows.
    fn names(&self) -> (Vec<String>, Vec<String>, Vec<String>) {
        let model = &self.scene.model;
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for body in model.bodies() {
            q.extend((1..=body.item.coordinates()).map(|k| format!("{}.{k}", body.name)));
            v.extend((0..body.item.velocities()).map(|k| format!("{}.{}", body.name, body.item.velocity_name(k))));
        }
        (q, v, (0..model.shape().rows()).map(|row| model.row_name(row)).collect())
    }

    /// Section, name and kind of every element, with the markers it is attached to.
    fn elements(&self) -> Vec<(&str, String, &'static str, Vec<String>)> {
        let model = &self.scene.model;
        let marked = |numbers: &[usize]| numbers.iter().map(|&m| model.markers()[m].name.clone()).collect();
        let mut out: Vec<_> =
            model.bodies().iter().map(|b| ("body", b.name.clone(), b.item.kind(), Vec::new())).collect();
        out.extend(model.signals().iter().map(|s| {
            let kind = dalembert::element::Describe::kind(&*s.item);
            ("signal", s.name.clone(), kind, Vec::new())
        }));
        out.extend(model.forces().iter().map(|f| (f.section, f.name.clone(), f.item.kind(), marked(&f.markers))));
        out.extend(model.constraints().iter().map(|c| (c.section, c.name.clone(), c.item.kind(), marked(&c.markers))));
        out.extend(model.contacts().iter().map(|c| (c.section, c.name.clone(), c.item.kind(), marked(&c.markers))));
        out
    }

    /// Time, coordinates, velocities and extra states at the start.
    fn initial(&self) -> Whole {
        let State { q, v, x, .. } = self.scene.model.initial_state();
        (self.scene.run.start, q, v, x)
    }

    /// Runs the model. Gives the run, how it ended, and what went wrong.
    #[pyo3(signature = (progress, resume, folder, start, out, every))]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        progress: Option<Py<PyAny>>,
        resume: Option<&Bound<'py, PyBytes>>,
        folder: Option<PathBuf>,
        start: Option<Whole>,
        out: Option<PathBuf>,
        every: f64,
    ) -> PyResult<(Run, String, Option<PyErr>)> {
        let (py, this) = (slf.py(), slf.get());
        let refused = |message: String| error::plain(py, "RunError", message);
        let every = Duration::try_from_secs_f64(every)
            .map_err(|_| error::value("the time between checkpoints is a number of seconds that is not negative"))?;
        if let Some(out) = &out {
            record::check_destination(out).map_err(|e| error::record(py, &e))?;
        }
        let begin = match (resume, folder, start) {
            (Some(bytes), _, _) => {
                Begin::Checkpoint(Checkpoint::from_bytes(bytes.as_bytes()).map_err(|e| refused(e.to_string()))?)
            }
            (None, Some(folder), _) => {
                let path = run::find(&folder).ok_or_else(|| {
                    refused(format!("there is no checkpoint in or beside `{}`; run without resume", folder.display()))
                })?;
                Begin::Checkpoint(Checkpoint::read(&path).map_err(|e| error::record(py, &e))?)
            }
            (None, None, Some((time, q, v, x))) => Begin::State(FinalState { time, q, v, x }),
            (None, None, None) => Begin::Written,
        };
        let place = out.filter(|_| !every.is_zero()).map(|out| (record::running_checkpoint(&out), every));
        let mut watch = Watch::new(progress, place, Arc::clone(&this.raised));
        this.raised.take();
        this.raised.interrupted();
        let (result, taken) = detached(py, || {
            let began = Instant::now();
            let result = match &begin {
                Begin::Written => simulate(&this.scene, &this.name, None, &mut watch),
                Begin::Checkpoint(checkpoint) => simulate(&this.scene, &this.name, Some(checkpoint), &mut watch),
                Begin::State(state) => run_from(&this.scene, &this.name, state, &mut watch),
            };
            (result, began.elapsed().as_secs_f64())
        });
        let mut outcome = result.map_err(|error| match &error {
            RunError::Callback(fault) => this.fault(py, fault),
            error => error::start(py, error, &this.scene),
        })?;
        outcome.summary.wall_time = taken;
        let failure = outcome.failure.take();
        let stopped = watch.stop.take();
        let run = Run::new(slf.clone().unbind(), outcome);
        let (how, error) = match (stopped, failure) {
            (Some(Stop::Raised(error)), _) => ("raised", Some(error)),
            (_, Some(Failure::Callback(fault))) => ("callback", Some(this.fault(py, &fault))),
            (_, Some(failure @ Failure::Integrate(_))) => ("failed", Some(refused(failure.to_string()))),
            (_, Some(failure)) => ("ledger", Some(refused(failure.to_string()))),
            (Some(Stop::Interrupted), None) => ("interrupted", None),
            (None, None) => ("completed", None),
        };
        if let Some(trouble) = watch.trouble {
            let text =
                std::ffi::CString::new(format!("a checkpoint could not be written: {trouble}")).unwrap_or_default();
            PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyRuntimeWarning>(), &text, 1)?;
        }
        Ok((run, how.to_owned(), error))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, this) = (slf.py(), slf.get());
        let build = py.import("dalembert._dalembert")?.getattr("build")?;
        // Everything computed, so that it is the same wherever it is read.
        let text =
            this.scene.document.as_ref().map_or_else(|| this.scene.to_toml(), dalembert::scene::Document::to_toml);
        let (signals, forces) = (this.functions.0.clone_ref(py), this.functions.1.clone_ref(py));
        let none: Vec<String> = Vec::new();
        let arguments = (text, &this.source.path, &this.name, none, signals, forces, false, true);
        Ok((build, arguments.into_pyobject(py)?))
    }
}
