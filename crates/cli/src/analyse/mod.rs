//! Studies of how a model vibrates and moves: `dalembert study linearise`, `modes`, `transition`, `frequency-response`, `periodic-response`,
//! `covariance`, `floquet`, `limit-cycle`, `continuation`, `lyapunov`, `poincare`, `portrait`, `spectrum`, `bifurcation`, `chart`, `basin`.
//!
//! They run on any scene, with exact derivatives of its own equations of motion, through events where there are contacts; only small vibrations need a
//! scene without them.

mod curves;
mod cycles;
mod film;
mod forced;
mod maps;
mod modes;
pub mod page;
mod small;
mod walk;

pub use curves::{Followed, Reach, continuation};
pub use cycles::{bifurcation, lyapunov, multipliers, poincare, portrait, spectrum};
pub use forced::{covariance, frequency_response, periodic_response};
pub use maps::{basin, chart};
pub use modes::modes;
pub use small::{along, linearise, transition};
pub use walk::limit_cycle;

use crate::args::ModelOptions;
use crate::exit::Exit;
use crate::robot;
use dalembert::model::Model;
use dalembert::scene::Scene;
use dalembert_analysis::sweep::parallel;
use dalembert_methods::nonsmooth::Contacts;
use dalembert_methods::system::System;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

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

/// The scene of a model whose small vibrations are asked for: one without contacts.
fn smooth(options: &ModelOptions) -> Result<Scene, Exit> {
    let scene = robot::scene(options)?;
    if Contacts::contacts(&scene.model) > 0 {
        let reason = "small vibrations need a scene without contacts: impacts and changes between stick and slip are not part of its \
                      linearised equations";
        return Err(Exit::Usage(reason.to_owned()));
    }
    Ok(scene)
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

/// The results of the same work for many places, on all cores, with a bar.
fn many<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let bar = bar(count);
    let results = parallel(count, |k| {
        let result = work(k);
        bar.inc(1);
        result
    });
    bar.finish_and_clear();
    results
}

/// A number for tables.
fn short(x: f64) -> String {
    // Adding zero makes −0 a plain 0.
    let x = x + 0.0;
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.5e}") }
}
