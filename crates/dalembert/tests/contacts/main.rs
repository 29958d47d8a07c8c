//! Scenes with contacts against closed forms, and the laws of contact over all that is recorded.
#![allow(clippy::unwrap_used, missing_docs)]

mod balls;
mod blocks;
mod crawling;
mod laws;
mod leech;
mod moreau;
mod resume;
mod rocking;
mod suction;

use dalembert::record::Status;
use dalembert::run::{Outcome, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;

/// A scene from its text, with settings.
fn read(name: &str, text: &str, settings: &[&str]) -> Scene {
    let overrides: Overrides = settings.iter().copied().collect();
    let document = Document::from_text(name, text, &overrides, &Limits::default());
    Scene::from_document(document.unwrap_or_else(|e| panic!("{}", e.plain())))
        .unwrap_or_else(|e| panic!("{}", e.plain()))
}

/// Runs a scene to its end; the ledger must close.
fn finish(name: &str, text: &str, settings: &[&str]) -> Outcome {
    let outcome = run(&read(name, text, settings), name, None, &mut ()).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(outcome.summary.status, Status::Completed, "{name}: {:?}", outcome.summary.error);
    outcome
}

/// The same for a built-in scene.
fn completed(name: &str, settings: &[&str]) -> Outcome {
    finish(name, scenes::find(name).unwrap().text, settings)
}

/// The times of the events of a kind, with their markers.
fn events<'a>(outcome: &'a Outcome, kind: &str) -> Vec<(f64, &'a str)> {
    outcome.events.iter().filter(|e| e.kind == kind).map(|e| (e.time, e.marker.as_str())).collect()
}

/// The last value of a channel.
fn last(outcome: &Outcome, channel: &str) -> f64 {
    *outcome.trajectory.column(channel).unwrap_or_else(|| panic!("no channel {channel}")).last().unwrap()
}
