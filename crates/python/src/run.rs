//! A run: its channels as arrays that NumPy reads in place, its events, its record.

use crate::error;
use crate::model::Model;
use crate::watch::detached;
use dalembert::methods::trajectory::{Channel, Event, Trajectory};
use dalembert::picture::{Animation, Film};
use dalembert::record::{self, Checkpoint, Contents, Summary};
use dalembert::report::plot::{Plot, Series};
use dalembert::report::theme::page_style;
use dalembert::report::{Form, ReportInput, View, page, svg_files};
use dalembert::run::{Figures, Outcome, figures, motion};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// An event: time, kind, element, marker, value, unit.
type Happening = (f64, String, String, String, f64, String);

/// What a run has brought.
#[pyclass(frozen, module = "dalembert._dalembert")]
pub struct Run {
    model: Py<Model>,
    summary: Summary,
    channels: Vec<Channel>,
    /// The numbers until somebody asks for arrays, which then are their memory.
    whole: Mutex<Option<Arc<Trajectory>>>,
    columns: PyOnceLock<Vec<Py<PyArray1<f64>>>>,
    steps: Vec<(f64, f64)>,
    events: Vec<Event>,
    film: Option<Film>,
    animation: OnceLock<Option<String>>,
    checkpoint: Option<Checkpoint>,
    scene: String,
}

/// A column becomes the memory of an array, without a copy, and cannot be written to.
fn column(py: Python<'_>, values: Vec<f64>) -> Py<PyArray1<f64>> {
    let array = PyArray1::from_vec(py, values);
    array.readwrite().make_nonwriteable();
    array.unbind()
}

/// The program of the viewer; none if the package was built without it.
fn viewer() -> Option<&'static str> {
    const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/viewer.js"));
    (!SCRIPT.is_empty()).then_some(SCRIPT)
}

impl Run {
    /// Takes an outcome over.
    pub fn new(model: Py<Model>, outcome: Outcome) -> Self {
        let Outcome { summary, trajectory, film, steps, events, scene, checkpoint, .. } = outcome;
        let (channels, columns) = (trajectory.channels().to_vec(), PyOnceLock::new());
        let (whole, animation) = (Mutex::new(Some(Arc::new(trajectory))), OnceLock::new());
        Self { model, summary, channels, whole, columns, steps, events, film: Some(film), animation, checkpoint, scene }
    }

    fn whole(&self) -> MutexGuard<'_, Option<Arc<Trajectory>>> {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The numbers as arrays: their memory is handed over, unless somebody reads it just now.
    fn arrays(&self, py: Python<'_>) -> &[Py<PyArray1<f64>>] {
        self.columns.get_or_init(py, || {
            let taken = self.whole().take();
            let columns = taken
                .map(|whole| Arc::try_unwrap(whole).map_or_else(|w| w.columns().to_vec(), Trajectory::into_columns));
            columns.unwrap_or_default().into_iter().map(|values| column(py, values)).collect()
        })
    }

    /// The numbers: without a copy as long as nobody has asked for arrays.
    fn trajectory(&self, py: Python<'_>) -> PyResult<Arc<Trajectory>> {
        let whole = self.whole().clone();
        if let Some(whole) = whole {
            return Ok(whole);
        }
        let columns = self.arrays(py).iter().map(|c| c.bind(py).to_vec()).collect::<Result<Vec<_>, _>>()?;
        let copied = Trajectory::from_columns(self.channels.clone(), columns);
        copied.map(Arc::new).map_err(|e| error::value(e.to_string()))
    }

    fn animation_text(&self, model: &Model) -> Option<&str> {
        let title = if self.summary.title.is_empty() { &self.summary.name } else { &self.summary.title };
        let make = |film| Animation::new(&model.scene.model, title, film, &self.events).map(|a| a.to_json());
        self.animation.get_or_init(|| self.film.as_ref().and_then(make)).as_deref()
    }

    /// Does something with all that a report shows.
    fn with_report<T: Send>(
        &self,
        py: Python<'_>,
        trajectory: &Trajectory,
        with: impl FnOnce(&ReportInput<'_>) -> T + Send,
    ) -> T {
        let model = self.model.get();
        detached(py, || {
            let moved = motion(&model.scene.model, trajectory);
            let view = self.animation_text(model).map(|animation| View { animation, script: viewer() });
            let Figures { panels, shapes } = figures(&model.scene, trajectory, &self.events);
            let input = ReportInput {
                steps: &self.steps,
                events: &self.events,
                scene_text: &self.scene,
                motion: moved.as_ref(),
                view,
                figures: panels,
                shapes,
                ..ReportInput::new(&self.summary, trajectory)
            };
            with(&input)
        })
    }
}

fn said(event: &Event) -> Happening {
    let Event { time, kind, element, marker, value, unit } = event.clone();
    (time, kind, element, marker, value, unit)
}

#[pymethods]
impl Run {
    /// The model that was run.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// The summary, as the text of `summary.json`.
    fn summary(&self) -> String {
        self.summary.to_json()
    }

    /// The scene as run.
    #[getter]
    fn scene(&self) -> &str {
        &self.scene
    }

    /// Name, unit and frame of every channel, time first.
    fn channels(&self) -> Vec<(String, String, String)> {
        self.channels.iter().map(|c| (c.name.clone(), c.unit.clone(), c.frame.clone())).collect()
    }

    /// The columns in the order of the channels: arrays that share their memory with the run.
    fn columns(&self, py: Python<'_>) -> Vec<Py<PyArray1<f64>>> {
        self.arrays(py).iter().map(|column| column.clone_ref(py)).collect()
    }

    /// The events in the order of time.
    fn events(&self) -> Vec<Happening> {
        self.events.iter().map(said).collect()
    }

    /// Start and size of every step, in s.
    fn steps(&self) -> Vec<(f64, f64)> {
        self.steps.clone()
    }

    /// Where to continue, if the run was interrupted.
    fn checkpoint<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.checkpoint.as_ref().map(|checkpoint| PyBytes::new(py, &checkpoint.to_bytes()))
    }

    /// Writes the folder that the command line writes.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let trajectory = self.trajectory(py)?;
        let page = self.with_report(py, &trajectory, page);
        let contents = Contents {
            scene: &self.scene,
            summary: &self.summary,
            trajectory: &trajectory,
            steps: &self.steps,
            events: &self.events,
            animation: self.animation_text(self.model.get()),
            report: Some(&page),
            checkpoint: self.checkpoint.as_ref(),
        };
        detached(py, || record::write(&folder, &contents)).map_err(|error| error::record(py, &error))
    }

    /// The report as an HTML page that needs nothing else.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.with_report(py, &*self.trajectory(py)?, page))
    }

    /// The pictures of the report: names and SVG texts.
    fn pictures(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        Ok(self.with_report(py, &*self.trajectory(py)?, svg_files))
    }

    /// The motion as one SVG picture, if there is something to see.
    fn motion(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let trajectory = self.trajectory(py)?;
        let model = self.model.get();
        Ok(detached(py, || motion(&model.scene.model, &trajectory).and_then(|motion| motion.draw(Form::File))))
    }

    /// Channels over time as one SVG picture; those of another unit than the first have their axis at the right.
    fn plot(&self, py: Python<'_>, names: Vec<String>) -> PyResult<String> {
        let trajectory = self.trajectory(py)?;
        let units: Vec<&str> = names
            .iter()
            .map(|name| trajectory.index(name).map(|i| trajectory.channels()[i].unit.as_str()))
            .map(|unit| unit.ok_or_else(|| error::value("there is no such channel")))
            .collect::<PyResult<_>>()?;
        let unit = units.first().copied().unwrap_or_default();
        let other = units.iter().copied().find(|other| *other != unit).unwrap_or_default();
        if units.iter().any(|one| *one != unit && *one != other) {
            return Err(error::value("channels of more than two units do not fit into one plot"));
        }
        let curve = |(name, own): (&String, &&str)| {
            let values = trajectory.column(name)?;
            Some(Series { name: name.clone(), time: trajectory.time(), values, right: *own != unit })
        };
        let series = names.iter().zip(&units).filter_map(curve).collect();
        let (title, unit, right_unit) = (String::new(), unit.to_owned(), other.to_owned());
        let plot = Plot { title, unit, right_unit, log: false, series, marks: &[], span: None, curve_bytes: 40_000 };
        Ok(plot.draw(Form::File))
    }

    /// The animation as JSON, the program that shows it, if the package has it, and its colours.
    fn animation(&self, py: Python<'_>) -> (Option<String>, Option<&'static str>, String) {
        let model = self.model.get();
        (detached(py, || self.animation_text(model).map(str::to_owned)), viewer(), page_style())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, run) = (slf.py(), slf.get());
        let restore = py.import("dalembert._dalembert")?.getattr("restore_run")?;
        let arguments = (
            run.model.clone_ref(py),
            run.summary(),
            run.channels(),
            run.columns(py),
            run.events(),
            run.steps(),
            run.scene.clone(),
            run.animation(py).0,
            run.checkpoint(py),
        );
        Ok((restore, arguments.into_pyobject(py)?))
    }
}

/// A run from its parts: what unpickling calls.
#[pyfunction]
pub fn restore_run(
    py: Python<'_>,
    model: Py<Model>,
    summary: &str,
    channels: Vec<(String, String, String)>,
    columns: Vec<Py<PyArray1<f64>>>,
    events: Vec<Happening>,
    steps: Vec<(f64, f64)>,
    scene: String,
    animation: Option<String>,
    checkpoint: Option<Vec<u8>>,
) -> PyResult<Run> {
    let wrong = |message: String| error::plain(py, "RecordError", message);
    let summary = Summary::from_json(summary).map_err(|error| wrong(error.to_string()))?;
    let checkpoint = checkpoint.map(|bytes| Checkpoint::from_bytes(&bytes)).transpose();
    let checkpoint = checkpoint.map_err(|error| wrong(error.to_string()))?;
    let channels: Vec<Channel> =
        channels.into_iter().map(|(name, unit, frame)| Channel::new(name, unit, frame)).collect();
    for column in &columns {
        let column = column.bind(py);
        if let Ok(array) = column.try_readwrite() {
            array.make_nonwriteable();
        }
    }
    let event = |(time, kind, element, marker, value, unit)| Event { time, kind, element, marker, value, unit };
    let events = events.into_iter().map(event).collect();
    let held = PyOnceLock::new();
    // It is new, so that there is nothing to be in the way.
    let _ = held.set(py, columns);
    let run = Run {
        model,
        summary,
        channels,
        whole: Mutex::new(None),
        columns: held,
        steps,
        events,
        film: None,
        animation: OnceLock::from(animation),
        checkpoint,
        scene,
    };
    run.trajectory(py)?;
    Ok(run)
}

/// Reads a run folder: the model of its scene, and the run.
#[pyfunction]
pub fn read_run(py: Python<'_>, folder: PathBuf, model: Py<Model>) -> PyResult<Run> {
    let read = detached(py, || record::read(&folder)).map_err(|error| error::record(py, &error))?;
    let checkpoint = find(&folder).and_then(|path| Checkpoint::read(&path).ok());
    Ok(Run {
        model,
        summary: read.summary,
        channels: read.trajectory.channels().to_vec(),
        whole: Mutex::new(Some(Arc::new(read.trajectory))),
        columns: PyOnceLock::new(),
        steps: read.steps,
        events: read.events,
        film: None,
        animation: OnceLock::from(read.animation),
        checkpoint,
        scene: read.scene,
    })
}

/// The scene of a run folder.
#[pyfunction]
pub fn scene_of_run(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    detached(py, || record::read(&folder)).map(|read| read.scene).map_err(|error| error::record(py, &error))
}

/// The checkpoint in or beside a run folder.
pub fn find(folder: &Path) -> Option<PathBuf> {
    record::find_checkpoint(folder)
}
