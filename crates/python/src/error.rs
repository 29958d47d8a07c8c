//! Errors as Python exceptions. The classes are written in Python, in `dalembert.errors`, so that they can be pickled and subclassed.

use dalembert::record::RecordError;
use dalembert::run::RunError;
use dalembert::scene::{Scene, SceneError};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// An exception of `dalembert.errors`.
pub fn exception<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let made = py.import("dalembert.errors").and_then(|m| m.getattr(class)).and_then(|c| c.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The same with a message only.
pub fn plain(py: Python<'_>, class: &str, message: impl ToString) -> PyErr {
    exception(py, class, (message.to_string(),))
}

/// A problem as Python sees it: file, line, column, message, help.
type Problem = (Option<String>, Option<usize>, Option<usize>, String, Option<String>);

/// A scene that cannot be used: the lines that the command line prints, and every problem with its place.
pub fn scene(py: Python<'_>, error: &SceneError) -> PyErr {
    let problem = |p: &dalembert::scene::Problem| -> Problem {
        let place = p.place();
        let (file, position) = (place.map(|(file, _)| file.to_owned()), place.map(|(_, position)| position));
        let (line, column) = (position.map(|p| p.line), position.map(|p| p.column));
        (file, line, column, p.message().to_owned(), p.advice().map(str::to_owned))
    };
    let problems: Vec<Problem> = error.problems().iter().map(problem).collect();
    exception(py, "SceneError", (error.plain(), problems))
}

/// A run that did not start, with the place in the scene that is to blame if there is one.
pub fn start(py: Python<'_>, error: &RunError, of: &Scene) -> PyErr {
    error.place(of).map_or_else(|| plain(py, "RunError", error), |error| scene(py, &error))
}

/// A record that cannot be read or written.
pub fn record(py: Python<'_>, error: &RecordError) -> PyErr {
    plain(py, "RecordError", error)
}

/// A request that makes no sense.
pub fn value(message: impl ToString) -> PyErr {
    Python::attach(|py| plain(py, "ArgumentError", message))
}

/// Something of a type that cannot be used here.
pub fn kind(message: impl ToString) -> PyErr {
    Python::attach(|py| plain(py, "ArgumentTypeError", message))
}
