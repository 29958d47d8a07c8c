//! Studies of how a model vibrates and moves: `dalembert study linearise`, `modes`, `transition`, `frequency-response`, `periodic-response`,
//! `covariance`, `floquet`, `limit-cycle`, `shoot`, `continuation`, `lyapunov`, `poincare`, `portrait`, `spectrum`, `bifurcation`, `chart`, `basin`; and of how it is computed:
//! `work-precision`.
//!
//! They run on any scene, with exact derivatives of its own equations of motion, through events where there are contacts; small vibrations hold the modes
//! that contacts have at their place. Ctrl-C ends long ones with what was computed until then.

mod curves;
mod cycles;
mod film;
mod forced;
mod maps;
mod modes;
pub mod page;
mod sections;
mod shoot;
mod small;
mod walk;
mod work;

pub use curves::{Followed, Reach, continuation};
pub use cycles::{lyapunov, multipliers};
pub use forced::{covariance, frequency_response, periodic_response, sparse_covariance};
pub use maps::{basin, chart};
pub use modes::modes;
pub use sections::{bifurcation, poincare, portrait, spectrum};
pub use shoot::shoot;
pub use small::{along, linearise, transition};
pub use walk::limit_cycle;
pub use work::work_precision;

use crate::args::ModelOptions;
use crate::exit::Exit;
use crate::watch;
use dalembert::expression::Expression;
use dalembert::model::Model;
use dalembert_analysis::error::Tally;
use dalembert_analysis::sweep::parallel_while;
use dalembert_methods::system::System;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A failure in the words of the user.
fn failed(error: impl std::fmt::Display) -> Exit {
    Exit::Usage(error.to_string())
}

/// The same model with some values set.
fn with(options: &ModelOptions, values: &[(&str, f64)]) -> ModelOptions {
    let ModelOptions { model, body, set, free } = options;
    let mut set = set.clone();
    set.extend(values.iter().map(|(path, value)| format!("{path}={value:?}")));
    ModelOptions { model: model.clone(), body: body.clone(), set, free: *free }
}

/// The velocity with a name, or whose name ends with it.
fn velocity(model: &Model, name: &str) -> Result<usize, Exit> {
    let names: Vec<String> = (0..model.shape().v).map(|i| model.velocity_name(i)).collect();
    if let Some(i) = names.iter().position(|n| n == name) {
        return Ok(i);
    }
    let found: Vec<usize> = (0..names.len()).filter(|&i| names[i].contains(name)).collect();
    match found.as_slice() {
        [i] => Ok(*i),
        _ => Err(Exit::Usage(format!(
            "`{name}` names {} of the velocities; there are {}",
            if found.is_empty() { "none" } else { "several" },
            names.join("; ")
        ))),
    }
}

/// A bar that shows how far work on many places is, with an estimate of the time left; hidden where nobody looks.
fn bar(count: usize) -> ProgressBar {
    let bar = if std::io::stderr().is_terminal() { ProgressBar::new(count as u64) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("  {bar:32} {percent:>3} %  {pos}/{len}  {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// An ear for Ctrl-C, which long work asks whether to go on; one for each study.
struct Ear(Arc<AtomicBool>);

impl Ear {
    fn new() -> Self {
        Self(watch::listen())
    }

    /// Whether nobody has pressed Ctrl-C yet.
    fn more(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// The results of the same work for many places, on all cores, with a bar; nothing for those that were not reached before Ctrl-C.
fn many<T: Send>(count: usize, ear: &Ear, work: impl Fn(usize) -> T + Sync) -> Vec<Option<T>> {
    let bar = bar(count);
    let results = parallel_while(
        count,
        || ear.more(),
        |k| {
            let result = work(k);
            bar.inc(1);
            result
        },
    );
    bar.finish_and_clear();
    results
}

/// Tells of places of a map that are left empty as they failed; that none is left is an error.
fn empty(tally: &Tally, places: &str, all: usize, page: &mut page::Page) -> Result<(), Exit> {
    let Some(told) = tally.told(places, all) else { return Ok(()) };
    if tally.count() == all {
        return Err(Exit::Usage(told));
    }
    page.say(&format!("{told}; they are left empty"));
    Ok(())
}

/// A number that may depend on a value of the scene: a formula of the last part of its name.
fn formula(text: &str, parameter: &str) -> Result<Expression, Exit> {
    let name = parameter.rsplit('.').next().unwrap_or(parameter);
    Expression::parse_in(text, &[name]).map_err(|error| Exit::Usage(format!("`{text}`: {error}")))
}

/// A number for tables.
fn short(x: f64) -> String {
    // Adding zero makes −0 a plain 0.
    let x = x + 0.0;
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.5e}") }
}
