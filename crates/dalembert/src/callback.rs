//! Functions from outside: signals and forces whose law a program gives, in Rust or in another language, and the library does not know.
//!
//! A scene names them by `kind = "callback"`; [`Callbacks`] brings the functions, by the names of the entries. Elements are read with many
//! kinds of numbers, a callback knows plain ones only. So its derivatives are differences, unless it gives them, all points of a stencil and all
//! lanes are asked for in one call, and what needs its formula (recording into a graph) is refused.
//!
//! A callback that fails, or gives a number that is not finite, cannot stop an equation in the middle. It leaves a [`CallbackError`] in
//! [`Faults`] and the number NaN in the equation, which ends any run; the run then reports the error instead of the NaN.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

/// The word after `kind =` of an entry whose function comes from outside.
pub const KIND: &str = "callback";

/// A function of time from outside.
pub trait Function: Send + Sync {
    /// The values at all these times, in s; the reason if there are none.
    fn values(&self, times: &[f64], out: &mut [f64]) -> Result<(), String>;
    /// The derivative of an order from 1 on, if it is known; otherwise it is a difference of values.
    fn derivative(&self, _order: usize, _time: f64) -> Option<Result<f64, String>> {
        None
    }
}

/// A law of forces from outside: wrenches on markers from their motion.
pub trait Law: Send + Sync {
    /// The initial values of its own states, as of a controller that integrates; none by default.
    fn initial(&self) -> Vec<f64> {
        Vec::new()
    }
    /// For every sample the wrenches on all markers and the rates of its states; the reason if there are none.
    fn evaluate(&self, samples: &Samples<'_>, out: &mut [f64]) -> Result<(), String>;
}

/// Situations in which a law is asked for, one after the other.
#[derive(Copy, Clone, Debug)]
pub struct Samples<'a> {
    /// How many.
    pub count: usize,
    /// How many markers there are.
    pub markers: usize,
    /// How many states the law has.
    pub states: usize,
    /// [`Samples::width`] numbers for each situation: time in s; the states; then for each marker position (m), velocity (m/s), rotation matrix by rows
    /// and angular velocity (rad/s), all in the world frame.
    pub data: &'a [f64],
}

impl Samples<'_> {
    /// Numbers of one marker.
    pub const MARKER: usize = 18;

    /// Numbers of one situation.
    pub fn width(&self) -> usize {
        1 + self.states + Self::MARKER * self.markers
    }

    /// Numbers of the answer to one situation: force (N) and torque (N m) on each marker in the world frame, then the rates of the states.
    pub fn answers(&self) -> usize {
        6 * self.markers + self.states
    }
}

/// What went wrong in a callback.
#[derive(Clone, Debug, PartialEq)]
pub struct CallbackError {
    /// The element, as in `signal.wave`.
    pub name: String,
    /// When, in s.
    pub time: f64,
    /// What.
    pub message: String,
}

impl fmt::Display for CallbackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the callback `{}` failed at t = {} s: {}", self.name, self.time, self.message)
    }
}

impl std::error::Error for CallbackError {}

/// The first fault of each thread, since runs in different threads may share a model.
#[derive(Debug, Default)]
pub struct Faults {
    any: AtomicBool,
    first: Mutex<HashMap<ThreadId, CallbackError>>,
}

impl Faults {
    /// Whether this thread has met a fault: then callbacks are not asked any more.
    pub fn is_set(&self) -> bool {
        self.any.load(Ordering::Relaxed) && self.lock().contains_key(&thread::current().id())
    }

    /// Keeps a fault, unless this thread has one already.
    pub fn set(&self, error: CallbackError) {
        self.lock().entry(thread::current().id()).or_insert(error);
        self.any.store(true, Ordering::Relaxed);
    }

    /// Takes the fault of this thread away.
    pub fn take(&self) -> Option<CallbackError> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        let mut first = self.lock();
        let own = first.remove(&thread::current().id());
        self.any.store(!first.is_empty(), Ordering::Relaxed);
        own
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ThreadId, CallbackError>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The functions that a scene asks for, by the names of their entries.
#[derive(Clone, Default)]
pub struct Callbacks {
    /// Of the entries of `[signal]`.
    pub signals: BTreeMap<String, Arc<dyn Function>>,
    /// Of the entries of `[force]`.
    pub forces: BTreeMap<String, Arc<dyn Law>>,
    /// What went wrong in them.
    pub faults: Arc<Faults>,
}

impl Callbacks {
    /// None.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.signals.is_empty() && self.forces.is_empty()
    }
}

/// A callback as an element has it: with its name for messages.
pub(crate) struct Held<T: ?Sized> {
    pub name: String,
    pub function: Arc<T>,
    pub faults: Arc<Faults>,
}

impl<T: ?Sized> Clone for Held<T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), function: Arc::clone(&self.function), faults: Arc::clone(&self.faults) }
    }
}

impl<T: ?Sized> fmt::Debug for Held<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Callback").field(&self.name).finish()
    }
}

impl<T: ?Sized> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.function, &other.function)
    }
}

impl<T: ?Sized> Held<T> {
    /// Calls the function, unless something went wrong before; `out` is NaN if there is no answer.
    pub fn ask(&self, time: f64, out: &mut [f64], call: impl FnOnce(&T, &mut [f64]) -> Result<(), String>) {
        out.fill(f64::NAN);
        if self.faults.is_set() {
            return;
        }
        let message = match call(&self.function, out) {
            Err(message) => message,
            Ok(()) => match out.iter().position(|x| !x.is_finite()) {
                None => return,
                Some(i) => format!("number {i} of its answer is {}", out[i]),
            },
        };
        self.fail(time, message);
        out.fill(f64::NAN);
    }

    /// Keeps a fault.
    pub fn fail(&self, time: f64, message: String) {
        self.faults.set(CallbackError { name: self.name.clone(), time, message });
    }
}

/// Why a callback cannot be recorded.
pub(crate) const NO_FORMULA: &str =
    "it is known by its values only; expression graphs and equations as text need a formula";
