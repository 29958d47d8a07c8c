//! A run: its channels as arrays that NumPy reads in place, its events, its record.

use crate::error;
use crate::model::Model;
use dalembert::methods::trajectory::{Channel, Event, Trajectory};
use dalembert::picture::{Animation, Film};
use dalembert::record::{self, Checkpoint, Contents, Summary};
use dalembert::report::plot::{Plot, Series};
use dalembert::report::theme::page_style;
use dalembert::report::{Form, ReportInput, View, page, svg_files};
use dalembert::run::{Figures, Outcome, figures, motion};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// An event: time, kind, element, marker, value, unit.
type Happening = (f64, String, String, String, f64, String);

/// What a run has brought.
#[pyclass(frozen, module = "dalembert._dalembert")]
pub struct Run {
    model: Py<Model>,
    summary: Summary,
    channels: Vec<Channel>,
    columns: Vec<Py<PyArray1<f64>>>,
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
    /// Takes an outcome over; its columns are moved.
    pub fn new(py: Python<'_>, model: Py<Model>, outcome: Outcome) -> Self {
        let Outcome { summary, trajectory, film, steps, events, scene, checkpoint, .. } = outcome;
        let channels = trajectory.channels().to_vec();
        let columns = trajectory.into_columns().into_iter().map(|values| column(py, values)).collect();
        let animation = OnceLock::new();
        Self { model, summary, channels, columns, steps, events, film: Some(film), animation, checkpoint, scene }
    }

    fn trajectory(&self, py: Python<'_>) -> PyResult<Trajectory> {
        let columns = self.columns.iter().map(|c| c.bind(py).to_vec()).collect::<Result<Vec<_>, _>>()?;
        Trajectory::from_columns(self.channels.clone(), columns).map_err(|e| error::value(e.to_string()))
    }

    fn animation_text(&self, model: &Model) -> Option<&str> {
        let title = if self.summary.title.is_empty() { &self.summary.name } else { &self.summary.title };
        let make = |film| Animation::new(&model.scene.model, title, film, &self.events).map(|a| a.to_json());
        self.animation.get_or_init(|| self.film.as_ref().and_then(make)).as_deref()
    }

    /// Does something with all that a report shows.
    fn with_report<T: Send>(&self, py: Python<'_>, with: impl FnOnce(&ReportInput<'_>) -> T + Send) -> PyResult<T> {
        let trajectory = self.trajectory(py)?;
        let model = self.model.get();
        Ok(py.detach(|| {
            let moved = motion(&model.scene.model, &trajectory);
            let view = self.animation_text(model).map(|animation| View { animation, script: viewer() });
            let Figures { panels, shapes } = figures(&model.scene, &trajectory, &self.events);
            let input = ReportInput {
                steps: &self.steps,
                events: &self.events,
                scene_text: &self.scene,
                motion: moved.as_ref(),
                view,
                figures: panels,
                shapes,
                ..ReportInput::new(&self.summary, &trajectory)
            };
            with(&input)
        }))
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
        self.columns.iter().map(|column| column.clone_ref(py)).collect()
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
        let page = self.with_report(py, page)?;
        let trajectory = self.trajectory(py)?;
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
        py.detach(|| record::write(&folder, &contents)).map_err(|error| error::record(py, &error))
    }

    /// The report as an HTML page that needs nothing else.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        self.with_report(py, page)
    }

    /// The pictures of the report: names and SVG texts.
    fn pictures(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        self.with_report(py, svg_files)
    }

    /// The motion as one SVG picture, if there is something to see.
    fn motion(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let trajectory = self.trajectory(py)?;
        let model = self.model.get();
        Ok(py.detach(|| motion(&model.scene.model, &trajectory).and_then(|motion| motion.draw(Form::File))))
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
        (py.detach(|| self.animation_text(model).map(str::to_owned)), viewer(), page_style())
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
    let run = Run {
        model,
        summary,
        channels,
        columns,
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
    let read = py.detach(|| record::read(&folder)).map_err(|error| error::record(py, &error))?;
    let channels = read.trajectory.channels().to_vec();
    let columns = read.trajectory.into_columns().into_iter().map(|values| column(py, values)).collect();
    let checkpoint = find(&folder).and_then(|path| Checkpoint::read(&path).ok());
    Ok(Run {
        model,
        summary: read.summary,
        channels,
        columns,
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
    py.detach(|| record::read(&folder)).map(|read| read.scene).map_err(|error| error::record(py, &error))
}

/// The checkpoint in or beside a run folder.
pub fn find(folder: &Path) -> Option<PathBuf> {
    record::find_checkpoint(folder)
}
