//! Watching a run from Python: progress, Ctrl-C, checkpoints. The interpreter is asked a few times a second only.

use dalembert::record::Checkpoint;
use dalembert::run::Watcher;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The clock is read once in this many steps.
const LOOK: u64 = 4;
/// The interpreter is asked at most this often.
const TICK: Duration = Duration::from_millis(50);

/// What ended a run before its time.
pub enum Stop {
    /// Ctrl-C, or a progress function that answered `False`.
    Interrupted,
    /// An exception of the progress function or of a signal handler.
    Raised(PyErr),
}

/// A progress function, an ear for signals, and a hand for checkpoints.
pub struct Watch {
    progress: Option<Py<PyAny>>,
    looked: Instant,
    steps: u64,
    checkpoint: Option<(PathBuf, Duration)>,
    saved: Instant,
    due: bool,
    /// Why the run was ended.
    pub stop: Option<Stop>,
    /// A checkpoint that could not be written.
    pub trouble: Option<String>,
}

impl Watch {
    /// A watcher that calls `progress(t, steps)`, if there is one. `checkpoint` says where and how often.
    pub fn new(progress: Option<Py<PyAny>>, checkpoint: Option<(PathBuf, Duration)>) -> Self {
        let now = Instant::now();
        Self { progress, looked: now, steps: 0, checkpoint, saved: now, due: false, stop: None, trouble: None }
    }

    fn ask(&self, t: f64) -> Option<Stop> {
        Python::attach(|py| {
            let answer = py.check_signals().and_then(|()| match &self.progress {
                None => Ok(true),
                Some(progress) => {
                    let answer = progress.bind(py).call1((t, self.steps))?;
                    Ok(answer.is_none() || answer.is_truthy()?)
                }
            });
            match answer {
                Ok(true) => None,
                Ok(false) => Some(Stop::Interrupted),
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Some(Stop::Interrupted),
                Err(error) => Some(Stop::Raised(error)),
            }
        })
    }
}

impl Watcher for Watch {
    fn step(&mut self, t: f64, _steps: u64) -> bool {
        self.steps += 1;
        if self.steps.is_multiple_of(LOOK) {
            let now = Instant::now();
            if now - self.looked >= TICK {
                self.stop = self.ask(t);
                self.looked = Instant::now();
            }
            self.due = self.checkpoint.as_ref().is_some_and(|(_, every)| now - self.saved >= *every);
        }
        self.stop.is_none()
    }

    fn checkpoint(&mut self, pack: &dyn Fn() -> Checkpoint) {
        if !self.due {
            return;
        }
        self.due = false;
        if let Some((path, _)) = &self.checkpoint {
            if let Err(error) = pack().write(path) {
                self.trouble = Some(error.to_string());
            }
            self.saved = Instant::now();
        }
    }
}
