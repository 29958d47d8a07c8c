//! A study at work: its model, the same model with other values, how far it is, and whether it is to end.

use crate::model::{Fault, Model};
use dalembert::expression::Expression;
use dalembert::methods::System;
use dalembert::model::Model as Mechanics;
use dalembert::scene::Scene;
use dalembert_analysis::AnalysisError;
use dalembert_analysis::sweep::parallel;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far a study is, and whether it is to end; shared by its threads and the one that looks after it.
#[derive(Default)]
pub struct Follow {
    done: AtomicUsize,
    all: AtomicUsize,
    stop: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

impl Follow {
    /// Steps that are done, and all of them; zero where they are not counted.
    pub fn counts(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }

    /// Counts anew, up to a number of steps.
    pub fn begin(&self, all: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
    }

    /// So many steps are done.
    pub fn reached(&self, done: usize) {
        self.done.store(done, Ordering::Relaxed);
    }

    /// One step is done.
    pub fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Asks the study to end soon.
    pub fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it is to end.
    pub fn ending(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What a callback has done wrong, in whatever thread.
    pub fn take_fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A study of a model at work.
pub struct Job<'a> {
    pub model: &'a Model,
    pub follow: &'a Follow,
}

/// An error in the words of the user.
pub fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Job<'_> {
    /// The scene of the model.
    pub fn scene(&self) -> &Scene {
        &self.model.scene
    }

    /// The scene with other values of some of its entries.
    pub fn with(&self, values: &[(&str, f64)]) -> Result<Scene, String> {
        self.model.with_values(values)
    }

    /// The same for maps.
    pub fn made(&self, path: &str, value: f64) -> Result<Scene, AnalysisError> {
        if self.follow.ending() {
            return Err(AnalysisError::Invalid { reason: "interrupted".to_owned() });
        }
        self.with(&[(path, value)]).map_err(|reason| AnalysisError::Invalid { reason })
    }

    /// The same work for many places on all cores; `None` for those that were not begun before the study was to end.
    pub fn many<T: Send>(&self, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<Option<T>> {
        self.follow.begin(count);
        parallel(count, |k| self.place(|| work(k)))
    }

    /// The work of one place, if the study goes on.
    pub fn place<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        if self.follow.ending() {
            return None;
        }
        let result = work();
        self.keep_fault();
        self.follow.step();
        Some(result)
    }

    /// Keeps what callbacks have done wrong in this thread; nothing more need be computed then.
    pub fn keep_fault(&self) {
        if self.model.interrupted() {
            self.follow.end();
        }
        if let Some(fault) = self.model.take_fault() {
            self.follow.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
            self.follow.end();
        }
    }
}

/// A formula of the last part of the name of a value of the scene.
pub fn formula(text: &str, parameter: &str) -> Result<Expression, String> {
    let name = parameter.rsplit('.').next().unwrap_or(parameter);
    Expression::parse_in(text, &[name]).map_err(|error| format!("`{text}`: {error}"))
}

/// A period from its formula and a value of the scene.
pub fn period(formula: &Expression, text: &str, value: f64) -> Result<f64, String> {
    let found = formula.value(&[value]).ok().filter(|p| p.is_finite() && *p > 0.0);
    found.ok_or_else(|| format!("`{text}` is no period in seconds"))
}

/// The velocity with a name, or whose name contains it.
pub fn velocity(model: &Mechanics, name: &str) -> Result<usize, String> {
    let names: Vec<String> = (0..model.shape().v).map(|i| model.velocity_name(i)).collect();
    if let Some(i) = names.iter().position(|n| n == name) {
        return Ok(i);
    }
    let found: Vec<usize> = (0..names.len()).filter(|&i| names[i].contains(name)).collect();
    match found.as_slice() {
        [i] => Ok(*i),
        _ => Err(format!(
            "`{name}` names {} of the velocities; there are {}",
            if found.is_empty() { "none" } else { "several" },
            names.join("; ")
        )),
    }
}

/// Several velocities by their names.
pub fn velocities(model: &Mechanics, names: &[String]) -> Result<Vec<usize>, String> {
    names.iter().map(|name| velocity(model, name)).collect()
}
