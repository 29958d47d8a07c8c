//! Functions written in Python as signals and laws of forces. The objects come from `dalembert.callbacks`, which gives them their shapes.

use dalembert::callback::{Callbacks, Function, Law, Samples};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

/// Exceptions that callbacks have raised, by thread: they come out of the call that asked for them.
///
/// Ctrl-C is none of them where it can wait: a function that was interrupted is asked once more, and whoever watches the work ends it at the next step,
/// with all that was computed.
#[derive(Default)]
pub struct Raised {
    errors: Mutex<HashMap<ThreadId, PyErr>>,
    /// Whether there has been an interrupt in any thread: asked at every step.
    any: AtomicBool,
    interrupts: Mutex<HashSet<ThreadId>>,
}

impl Raised {
    fn keep(&self, error: PyErr) {
        let mut all = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(thread::current().id()).or_insert(error);
    }

    /// The exception of this thread, taken away.
    pub fn take(&self) -> Option<PyErr> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).remove(&thread::current().id())
    }

    /// Keeps an interrupt; whether it is the first.
    fn interrupt(&self) -> bool {
        self.any.store(true, Ordering::Relaxed);
        self.interrupts.lock().unwrap_or_else(PoisonError::into_inner).insert(thread::current().id())
    }

    /// Whether a callback was interrupted in this thread; it is forgotten then.
    pub fn interrupted(&self) -> bool {
        self.any.load(Ordering::Relaxed)
            && self.interrupts.lock().unwrap_or_else(PoisonError::into_inner).remove(&thread::current().id())
    }
}

/// A Python object with the methods of a callback.
struct Callback {
    object: Py<PyAny>,
    raised: Arc<Raised>,
    /// The derivatives that a signal gives.
    orders: usize,
    /// The initial states that a law has.
    initial: Vec<f64>,
}

impl Callback {
    /// Runs a call; an exception is kept, and its text becomes the message.
    fn call<T>(&self, mut ask: impl FnMut(Python<'_>) -> PyResult<T>) -> Result<T, String> {
        Python::attach(|py| {
            let answer = match ask(py) {
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) && self.raised.interrupt() => ask(py),
                answer => answer,
            };
            answer.map_err(|error| self.keep(error, py))
        })
    }

    fn keep(&self, error: PyErr, py: Python<'_>) -> String {
        // What was wrong with an answer is told with the name of the element and the time; what the function has raised comes out as it is.
        let wrong = py.import("dalembert.errors").and_then(|errors| errors.getattr("WrongAnswer"));
        if wrong.is_ok_and(|wrong| error.matches(py, wrong).unwrap_or(false)) {
            return error.value(py).to_string();
        }
        let message = error.to_string();
        self.raised.keep(error.clone_ref(py));
        message
    }
}

/// Copies the answer of a callback.
fn take(answer: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<()> {
    let array: PyReadonlyArrayDyn<'_, f64> = answer.extract()?;
    if array.len() != out.len() {
        return Err(crate::error::value(format!("{} numbers where {} are expected", array.len(), out.len())));
    }
    out.copy_from_slice(array.as_slice()?);
    Ok(())
}

impl Function for Callback {
    fn values(&self, times: &[f64], out: &mut [f64]) -> Result<(), String> {
        self.call(|py| take(&self.object.bind(py).call_method1("values", (PyArray1::from_slice(py, times),))?, out))
    }

    fn derivative(&self, order: usize, time: f64) -> Option<Result<f64, String>> {
        if order > self.orders {
            return None;
        }
        Some(self.call(|py| self.object.bind(py).call_method1("derivative", (order, time))?.extract()))
    }
}

impl Law for Callback {
    fn initial(&self) -> Vec<f64> {
        self.initial.clone()
    }

    fn evaluate(&self, samples: &Samples<'_>, out: &mut [f64]) -> Result<(), String> {
        self.call(|py| {
            let data = PyArray1::from_slice(py, samples.data).reshape([samples.count, samples.width()])?;
            let data: Bound<'_, PyArray2<f64>> = data;
            let answer = self.object.bind(py).call_method1("evaluate", (data, samples.markers))?;
            take(&answer, out)
        })
    }
}

/// The callbacks of a scene, by the names of their entries.
pub fn collect(signals: &Bound<'_, PyDict>, forces: &Bound<'_, PyDict>, raised: &Arc<Raised>) -> PyResult<Callbacks> {
    let mut callbacks = Callbacks::none();
    for (name, object) in signals.iter() {
        let orders = object.getattr("orders")?.extract()?;
        let callback = Callback { object: object.unbind(), raised: Arc::clone(raised), orders, initial: Vec::new() };
        callbacks.signals.insert(name.extract()?, Arc::new(callback));
    }
    for (name, object) in forces.iter() {
        let initial = object.getattr("states")?.extract()?;
        let callback = Callback { object: object.unbind(), raised: Arc::clone(raised), orders: 0, initial };
        callbacks.forces.insert(name.extract()?, Arc::new(callback));
    }
    Ok(callbacks)
}
