//! Sweeps: studies that travel, journals of finished rows, and their table; for `dalembert.sweeps` and for workers of a cluster.

use crate::error;
use crate::watch::{closing, detached};
use dalembert_sweeps::table::{self, Column};
use dalembert_sweeps::{Journal, Outcome, Progress, Shard, Study, SweepError};
use numpy::PyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The interpreter is asked this often.
const TICK: Duration = Duration::from_millis(50);

fn fault(py: Python<'_>, fault: &SweepError) -> PyErr {
    match fault {
        SweepError::File { .. } => error::plain(py, "FileError", fault),
        _ => error::plain(py, "SweepError", fault),
    }
}

/// Does some work in a thread of its own, without the interpreter, which is asked for signals meanwhile. An exception raises the flag that the work is
/// given.
fn attended<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
    tick: impl Fn(Python<'_>) -> PyResult<()> + Send + Sync,
) -> (Option<T>, Option<PyErr>) {
    let stop = AtomicBool::new(false);
    let mut raised = None;
    let done = detached(py, || {
        std::thread::scope(|scope| {
            let (send, receive) = channel();
            let stop = &stop;
            scope.spawn(move || send.send(work(stop)).is_ok());
            loop {
                match receive.recv_timeout(TICK) {
                    Ok(done) => return Some(done),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        raised = if closing() {
                            Some(PyKeyboardInterrupt::new_err("the interpreter ends"))
                        } else {
                            Python::attach(|py| py.check_signals().and_then(|()| tick(py))).err()
                        };
                        if raised.is_some() {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
            }
        })
    });
    (done, raised)
}

/// A sweep as its file says it, with everything that its rows need.
#[pyclass(frozen, module = "dalembert._dalembert")]
pub struct SweepStudy {
    study: Study,
}

#[pymethods]
impl SweepStudy {
    /// Reads a study from a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let study = detached(py, || Study::load(&path)).map_err(|e| fault(py, &e))?;
        Ok(Self { study })
    }

    /// Reads a study from a text; files are found beside `folder`. `scene` is the text of the scene that the study calls by its name.
    #[staticmethod]
    #[pyo3(signature = (name, text, folder, scene=None))]
    fn from_text(
        py: Python<'_>,
        name: &str,
        text: &str,
        folder: PathBuf,
        scene: Option<(String, String)>,
    ) -> PyResult<Self> {
        let study = match &scene {
            None => Study::from_text(name, text, &folder),
            Some((called, scene)) => Study::with_scene(name, text, &folder, (called, scene)),
        };
        Ok(Self { study: study.map_err(|e| fault(py, &e))? })
    }

    /// The study that a parcel holds.
    #[staticmethod]
    fn from_parcel(py: Python<'_>, text: &str) -> PyResult<Self> {
        let study = detached(py, || Study::from_parcel(text)).map_err(|e| fault(py, &e))?;
        Ok(Self { study })
    }

    /// The study with everything it needs, as one text.
    fn parcel(&self) -> String {
        self.study.parcel()
    }

    /// Raises what is wrong with the scene of every row that is tried.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.study.check()).map_err(|e| fault(py, &e))
    }

    /// The number of rows.
    #[getter]
    fn rows(&self) -> u64 {
        self.study.plan.rows()
    }

    /// The entries of the scene that vary.
    #[getter]
    fn varied(&self) -> Vec<String> {
        self.study.plan.names()
    }

    /// The names of what is kept.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.study.outputs.iter().map(|output| output.name.clone()).collect()
    }

    /// The settings of a row, as `--set` has them, without those that choose what is recorded.
    fn settings(&self, row: u64) -> PyResult<Vec<String>> {
        if row >= self.study.plan.rows() {
            return Err(error::value(format!("there is no row {row}, the sweep has {}", self.study.plan.rows())));
        }
        Ok(self.study.settings(row).into_iter().skip(1).collect())
    }

    /// Computes rows, and gives them as bytes.
    fn compute<'py>(&self, py: Python<'py>, rows: Vec<u64>) -> PyResult<Bound<'py, PyBytes>> {
        let all = self.study.plan.rows();
        if let Some(row) = rows.iter().find(|row| **row >= all) {
            return Err(error::value(format!("there is no row {row}, the sweep has {all}")));
        }
        let (done, raised) = attended(py, |stop| dalembert_sweeps::rows(&self.study, rows, stop), |_| Ok(()));
        match (done.flatten(), raised) {
            (_, Some(error)) => Err(error),
            (Some(bytes), None) => Ok(PyBytes::new(py, &bytes)),
            (None, None) => Err(error::value("the rows were given up")),
        }
    }
}

/// An open journal of a part of a study.
#[pyclass(frozen, module = "dalembert._dalembert")]
pub struct SweepJournal {
    study: Py<SweepStudy>,
    shard: Shard,
    /// None when it is closed.
    journal: Mutex<Option<Journal>>,
}

impl SweepJournal {
    fn lock(&self) -> MutexGuard<'_, Option<Journal>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the open journal, without the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Study, &mut Journal) -> Result<T, SweepError> + Send,
    ) -> PyResult<T> {
        let study = &self.study.get().study;
        let done = detached(py, || self.lock().as_mut().map(|journal| work(study, journal)));
        done.ok_or_else(|| error::value("the journal is closed"))?.map_err(|e| fault(py, &e))
    }

    fn part(&self, study: &Study) -> impl Iterator<Item = u64> + use<> {
        let shard = self.shard;
        (0..study.plan.rows()).filter(move |row| shard.has(*row))
    }
}

type Counts = (u64, u64, u64);

#[pymethods]
impl SweepJournal {
    /// Opens the journal of a part of a study, or begins it.
    #[new]
    #[pyo3(signature = (study, path, shard=None))]
    fn new(py: Python<'_>, study: Py<SweepStudy>, path: PathBuf, shard: Option<&str>) -> PyResult<Self> {
        let shard = match shard {
            None => Shard::WHOLE,
            Some(text) => Shard::parse(text)
                .ok_or_else(|| error::value(format!("a shard is i/n with i from 1 to n, not `{text}`")))?,
        };
        let own = &study.get().study;
        let journal =
            detached(py, || Journal::open(&path, own.mark(), own.outputs.len())).map_err(|e| fault(py, &e))?;
        Ok(Self { study, shard, journal: Mutex::new(Some(journal)) })
    }

    /// The rows that are not finished.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.with(py, |study, journal| Ok(self.part(study).filter(|row| !journal.rows().contains_key(row)).collect()))
    }

    /// How many rows this part has, how many are finished, and how many of those failed.
    fn counts(&self, py: Python<'_>) -> PyResult<Counts> {
        self.with(py, |study, journal| {
            let known: Vec<&Outcome> = self.part(study).filter_map(|row| journal.rows().get(&row)).collect();
            let failed = known.iter().filter(|outcome| matches!(outcome, Outcome::Failed(_))).count();
            Ok((self.part(study).count() as u64, known.len() as u64, failed as u64))
        })
    }

    /// Adds rows that were computed elsewhere; gives the number of new ones. The disk has them when this returns.
    fn take(&self, py: Python<'_>, rows: &[u8]) -> PyResult<u64> {
        self.with(py, |study, journal| {
            let new = journal.take(study, rows)?;
            journal.settle()?;
            Ok(new)
        })
    }

    /// Adds a row that failed where it was computed.
    fn fail(&self, py: Python<'_>, row: u64, reason: String) -> PyResult<()> {
        self.with(py, |study, journal| {
            if row < study.plan.rows() && !journal.rows().contains_key(&row) {
                journal.add(row, Outcome::Failed(reason))?;
            }
            journal.settle()
        })
    }

    /// What to know of the journal, if anything.
    fn remark(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |_, journal| Ok(journal.remark()))
    }

    /// Computes the missing rows with threads. `progress` hears of rows, finished and failed ones a few times a second; what it raises ends the
    /// sweep, as Ctrl-C does, and finished rows are kept.
    #[pyo3(signature = (jobs, progress=None))]
    fn sweep(&self, py: Python<'_>, jobs: usize, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let study = &self.study.get().study;
        let counts = [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)];
        let work = |stop: &AtomicBool| -> Option<Result<(), SweepError>> {
            let mut journal = self.lock();
            let journal = journal.as_mut()?;
            let mut follow = |p: Progress| {
                counts.iter().zip([p.rows, p.finished, p.failed]).for_each(|(c, x)| c.store(x, Ordering::Relaxed));
            };
            Some(dalembert_sweeps::sweep(study, self.shard, journal, jobs, stop, &mut follow).map(drop))
        };
        let tick = |py: Python<'_>| match &progress {
            None => Ok(()),
            Some(progress) => {
                let [rows, finished, failed] = counts.each_ref().map(|c| c.load(Ordering::Relaxed));
                if rows == 0 { Ok(()) } else { progress.bind(py).call1((rows, finished, failed)).map(drop) }
            }
        };
        let (done, raised) = attended(py, work, tick);
        if let Some(error) = raised {
            return Err(error);
        }
        done.flatten().ok_or_else(|| error::value("the journal is closed"))?.map_err(|e| fault(py, &e))
    }

    /// Writes the table of finished rows as a Parquet file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |study, journal| table::write(Path::new(&path), study, journal.rows()))
    }

    /// The table of finished rows: the bytes of its Parquet file, and its columns.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyDict>)> {
        let (bytes, columns) = self.with(py, |study, journal| {
            let mut bytes = Vec::new();
            let failed = |reason: String| SweepError::File { path: "results.parquet".into(), reason };
            table::write_to(&mut bytes, study, journal.rows()).map_err(|e| failed(e.to_string()))?;
            Ok((bytes, table::columns(study, journal.rows())))
        })?;
        let out = PyDict::new(py);
        for (name, column) in columns {
            match column {
                Column::Whole(values) => out.set_item(name, PyArray1::from_vec(py, values))?,
                Column::Number(values) => {
                    let values = values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect();
                    out.set_item(name, PyArray1::from_vec(py, values))?;
                }
                Column::Text(values) => out.set_item(name, PyList::new(py, values)?)?,
                Column::List(values) => {
                    let arrays = values.into_iter().map(|list| list.map(|list| PyArray1::from_vec(py, list)));
                    out.set_item(name, PyList::new(py, arrays.collect::<Vec<_>>())?)?;
                }
            }
        }
        Ok((PyBytes::new(py, &bytes), out))
    }

    /// Closes the journal, which others may then open.
    fn close(&self, py: Python<'_>) {
        detached(py, || drop(self.lock().take()));
    }
}
