//! Sharing the rows of a table out to threads: room for all of them, pieces that follow each other, and the first trouble by its row.
//!
//! No row sees another, so that the bits do not depend on the number of threads. Ctrl-C ends the work soon.

use crate::error;
use crate::model::Fault;
use crate::watch::Look;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The most threads, whatever is asked for: more than any machine has processors for, fewer than any refuses.
const THREADS: usize = 256;
/// Signals are looked for this often while threads are at work.
const TICK: Duration = Duration::from_millis(50);

/// Why a row has no answer.
pub enum Trouble {
    /// The equations have none.
    Equations(String),
    /// The same of a row of a group, counted from its first.
    Row(usize, String),
    /// A callback failed.
    Callback(Box<Fault>),
    /// Ctrl-C, or what a signal handler has raised.
    Stopped(PyErr),
}

/// A trouble with the number of its row.
type Failed = (usize, Trouble);

/// Turns the first trouble into an exception.
pub fn raised(py: Python<'_>, (row, trouble): Failed) -> PyErr {
    match trouble {
        Trouble::Equations(message) => error::plain(py, "EvaluationError", format!("row {row}: {message}")),
        Trouble::Row(lane, message) => error::plain(py, "EvaluationError", format!("row {}: {message}", row + lane)),
        Trouble::Callback(fault) => fault.into_exception(py),
        Trouble::Stopped(error) => error,
    }
}

/// Room for the numbers of all rows.
pub fn room(rows: usize, width: usize) -> PyResult<Vec<f64>> {
    let mut out = Vec::new();
    let fits = rows.checked_mul(width).is_some_and(|count| out.try_reserve_exact(count).is_ok());
    if !fits {
        let text = format!("there is no room for {rows} rows of {width} numbers; ask for fewer rows at a time");
        return Err(PyMemoryError::new_err(text));
    }
    out.resize(rows * width, 0.0);
    Ok(out)
}

/// Fills `out`, `width` numbers for each row, in groups of rows: `group` is how many are computed together.
pub fn share<W>(
    rows: usize,
    width: usize,
    group: usize,
    threads: usize,
    out: &mut [f64],
    make: impl Fn() -> W + Sync,
    compute: impl Fn(&mut W, usize, &mut [f64]) -> Result<(), Trouble> + Sync,
) -> Result<(), Failed> {
    if rows == 0 || width == 0 {
        return Ok(());
    }
    let stop = AtomicBool::new(false);
    let piece = |first: usize, out: &mut [f64], look: &mut dyn FnMut() -> Result<bool, Trouble>| {
        let mut work = make();
        for (k, out) in out.chunks_mut(group * width).enumerate() {
            let row = first + k * group;
            if !look().map_err(|trouble| (row, trouble))? {
                break;
            }
            compute(&mut work, row, out).map_err(|trouble| (row, trouble))?;
        }
        Ok(())
    };
    let groups = rows.div_ceil(group);
    let threads = threads.min(THREADS).clamp(1, groups);
    let mut look = Look::new();
    let mut asked = || look.look().map(|()| true).map_err(Trouble::Stopped);
    if threads == 1 {
        return piece(0, out, &mut asked);
    }
    let length = groups.div_ceil(threads) * group;
    let mut results: Vec<Result<(), Failed>> = Vec::new();
    std::thread::scope(|scope| {
        let (piece, stop) = (&piece, &stop);
        let (send, receive) = channel::<()>();
        let pieces = out.chunks_mut(length * width).enumerate();
        let handles: Vec<_> = pieces
            .map(|(k, out)| {
                let send = send.clone();
                scope.spawn(move || {
                    // Dropped at the end, however it comes.
                    let _ends = send;
                    piece(k * length, out, &mut || Ok(!stop.load(Ordering::Relaxed)))
                })
            })
            .collect();
        drop(send);
        while let Err(RecvTimeoutError::Timeout) = receive.recv_timeout(TICK) {
            if let (false, Err(trouble)) = (stop.load(Ordering::Relaxed), asked()) {
                stop.store(true, Ordering::Relaxed);
                results.push(Err((0, trouble)));
            }
        }
        for handle in handles {
            let lost = || Err((0, Trouble::Equations("a thread ended before its time".to_owned())));
            results.push(handle.join().unwrap_or_else(|_| lost()));
        }
    });
    results.into_iter().collect()
}

/// An array of rows of some shape.
pub fn shaped<'py>(py: Python<'py>, rows: usize, shape: &[usize], values: Vec<f64>) -> PyResult<Bound<'py, PyAny>> {
    let mut whole = vec![rows];
    whole.extend_from_slice(shape);
    Ok(PyArray1::from_vec(py, values).reshape(whole)?.into_any())
}
