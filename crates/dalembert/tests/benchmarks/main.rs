//! Built-in scenes against closed forms, published end values and hand-written minimal-coordinate models.
#![allow(clippy::unwrap_used, missing_docs)]

mod bari;
mod iftomm;
mod ledger;
mod minimal;
mod multirate;
mod nonholonomic;
mod orders;
mod pendulums;
mod tops;
mod variational;

use dalembert::record::Status;
use dalembert::run::{Outcome, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;

/// A built-in scene with settings.
fn scene(name: &str, settings: &[&str]) -> Scene {
    let overrides: Overrides = settings.iter().copied().collect();
    let text = scenes::find(name).unwrap().text;
    let document = Document::from_text(name, text, &overrides, &Limits::default());
    Scene::from_document(document.unwrap_or_else(|e| panic!("{}", e.plain())))
        .unwrap_or_else(|e| panic!("{}", e.plain()))
}

/// Runs a built-in scene to its end; the ledger must close.
fn completed(name: &str, settings: &[&str]) -> Outcome {
    let outcome = run(&scene(name, settings), name, None, &mut ()).unwrap();
    assert_eq!(outcome.summary.status, Status::Completed, "{name}: {:?}", outcome.summary.error);
    outcome
}

/// The last value of a channel.
fn last(outcome: &Outcome, channel: &str) -> f64 {
    *outcome.trajectory.column(channel).unwrap_or_else(|| panic!("no channel {channel}")).last().unwrap()
}

/// The last values of a vector channel.
fn last_vector(outcome: &Outcome, channel: &str) -> [f64; 3] {
    ["x", "y", "z"].map(|axis| last(outcome, &format!("{channel}.{axis}")))
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

/// The larger of two errors; what is not a number is worst.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

/// Prints what was measured and asserts that it is within its bound.
fn within(what: &str, error: f64, bound: f64) {
    println!("{what}: {error:.1e}, allowed {bound:.0e}");
    assert!(error < bound, "{what}: {error:e}, allowed {bound:e}");
}
