//! Watching work from Python: progress, Ctrl-C, checkpoints. The interpreter is asked a few times a second only.
//!
//! Work in threads that nobody waits for must not come back to an interpreter that has ended, which would abort the process: whoever lets the interpreter go
//! is counted ([`detached`]), and the end of the process waits for them after it has told them to end ([`close`]). They sleep then, until the process is gone.

use crate::callback::Raised;
use dalembert::record::Checkpoint;
use dalembert::run::Watcher;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// The clock is read once in this many steps.
const LOOK: u64 = 4;
/// The interpreter is asked at most this often.
const TICK: Duration = Duration::from_millis(50);

/// The end of the process waits for work this long at most.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many threads are at work without the interpreter.
static BUSY: AtomicUsize = AtomicUsize::new(0);
/// The thread that ends the interpreter, when it does.
static CLOSER: OnceLock<ThreadId> = OnceLock::new();

struct Busy;

impl Drop for Busy {
    fn drop(&mut self) {
        // Not below zero: a process that was forked has begun to count anew.
        let _ = BUSY.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
    }
}

/// Does some work without the interpreter. The end of the process waits until it has the interpreter again, or sleeps.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    BUSY.fetch_add(1, Ordering::Relaxed);
    let (done, _busy) = py.detach(|| {
        let busy = rest(Busy);
        let done = work();
        (done, rest(busy))
    });
    done
}

/// Sleeps for good if the interpreter ends.
fn rest(busy: Busy) -> Busy {
    if !closing() {
        return busy;
    }
    drop(busy);
    loop {
        thread::park();
    }
}

/// Whether the work of this thread is to end, as the interpreter will. The thread that ends it may go on.
pub fn closing() -> bool {
    CLOSER.get().is_some_and(|closer| *closer != thread::current().id())
}

/// Tells all work to end, and waits for it: what Python calls before it ends. Gives whether all of it has ended.
#[pyfunction]
pub fn close(py: Python<'_>) -> bool {
    CLOSER.get_or_init(|| thread::current().id());
    let began = Instant::now();
    while BUSY.load(Ordering::Relaxed) > 0 && began.elapsed() < PATIENCE {
        py.detach(|| thread::sleep(Duration::from_millis(2)));
    }
    BUSY.load(Ordering::Relaxed) == 0
}

/// A process that was forked has none of the threads of its parent.
#[pyfunction]
pub fn forked() {
    BUSY.store(0, Ordering::Relaxed);
}

/// Looks for signals, a few times a second, in the thread that was asked for some work.
pub struct Look(Instant);

impl Look {
    /// Looks a moment from now on.
    pub fn new() -> Self {
        Self(Instant::now())
    }

    /// What ends the work, if anything: Ctrl-C, an exception of a signal handler, the end of the interpreter.
    pub fn look(&mut self) -> PyResult<()> {
        if self.0.elapsed() < TICK {
            return Ok(());
        }
        self.0 = Instant::now();
        if closing() {
            return Err(PyKeyboardInterrupt::new_err("the interpreter ends"));
        }
        Python::attach(|py| py.check_signals())
    }
}

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
    raised: Arc<Raised>,
    /// Why the run was ended.
    pub stop: Option<Stop>,
    /// A checkpoint that could not be written.
    pub trouble: Option<String>,
}

impl Watch {
    /// A watcher that calls `progress(t, steps)`, if there is one. `checkpoint` says where and how often; `raised` knows what callbacks have met.
    pub fn new(progress: Option<Py<PyAny>>, checkpoint: Option<(PathBuf, Duration)>, raised: Arc<Raised>) -> Self {
        let now = Instant::now();
        Self { progress, looked: now, steps: 0, checkpoint, saved: now, due: false, raised, stop: None, trouble: None }
    }

    fn ask(&self, t: f64) -> Option<Stop> {
        if closing() {
            return Some(Stop::Interrupted);
        }
        Python::attach(|py| {
            let answer = py.check_signals().and_then(|()| match &self.progress {
                None => Ok(true),
                Some(progress) => goes_on(py, progress, (t, self.steps)),
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
        if self.raised.interrupted() {
            self.stop = Some(Stop::Interrupted);
        } else if self.steps.is_multiple_of(LOOK) {
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

/// Does some work in a thread of its own, and looks after it from this one: `ask` says a few times a second whether to go on, `stop` tells the work to
/// end soon. Gives the answer, and the exception that asking has raised, if any. Ctrl-C ends the work and is no exception here.
pub fn attend<T: Send>(
    work: impl FnOnce() -> T + Send,
    mut ask: impl FnMut(Python<'_>) -> PyResult<bool>,
    stop: impl Fn(),
) -> (T, Option<PyErr>) {
    let (send, receive) = channel();
    let (mut raised, mut ended) = (None, false);
    let answer = thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let answer = work();
            // The other end waits until it has the answer.
            let _ = send.send(());
            answer
        });
        while let Err(RecvTimeoutError::Timeout) = receive.recv_timeout(TICK) {
            if ended {
                continue;
            }
            if closing() {
                ended = true;
                stop();
                continue;
            }
            let answer = Python::attach(|py| {
                py.check_signals().and_then(|()| ask(py)).map_err(|error| {
                    let interrupt = error.is_instance_of::<PyKeyboardInterrupt>(py);
                    (!interrupt).then_some(error)
                })
            });
            if answer.as_ref().is_ok_and(|go_on| *go_on) {
                continue;
            }
            raised = answer.err().flatten();
            ended = true;
            stop();
        }
        worker.join()
    });
    // A panic of the work is one here.
    (answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic)), raised)
}

/// Calls a progress function; whether to go on.
pub fn goes_on<'py>(py: Python<'py>, progress: &Py<PyAny>, news: impl pyo3::call::PyCallArgs<'py>) -> PyResult<bool> {
    let answer = progress.bind(py).call1(news)?;
    Ok(answer.is_none() || answer.is_truthy()?)
}
