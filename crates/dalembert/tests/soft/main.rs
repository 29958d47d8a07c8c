//! Soft contractile bodies: materials, bodies, fields and the statements of the document they come from.
#![allow(clippy::unwrap_used)]

mod attached;
mod bad;
mod figures;
mod material;
mod routes;

use dalembert::methods::{State, System};
use dalembert::model::Model;
use dalembert::run::{Outcome, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;

fn scene(text: &str, set: &[&str]) -> Result<Scene, String> {
    let mut overrides = Overrides::none();
    for setting in set {
        overrides.push(*setting);
    }
    let document = Document::from_text("scene.toml", text, &overrides, &Limits::default());
    document.and_then(Scene::from_document).map_err(|error| error.plain())
}

fn built_in(name: &str, set: &[&str]) -> Scene {
    scene(scenes::find(name).unwrap().text, set).unwrap()
}

fn completed(scene: &Scene) -> Outcome {
    let outcome = run(scene, "test", None, &mut ()).unwrap();
    assert!(outcome.failure.is_none(), "{}", outcome.failure.unwrap());
    outcome
}

fn channel<'o>(outcome: &'o Outcome, name: &str) -> &'o [f64] {
    outcome.trajectory.column(name).unwrap_or_else(|| panic!("there is no channel {name}"))
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(f64::NEG_INFINITY, |max, &x| max.max(x))
}

fn smallest(values: &[f64]) -> f64 {
    values.iter().fold(f64::INFINITY, |min, &x| min.min(x))
}

fn largest_size(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |max, &x| max.max(x.abs()))
}

/// The largest change of the energy account over a run, relative to the energies that are exchanged.
fn imbalance(outcome: &Outcome) -> f64 {
    let total = channel(outcome, "energy.total");
    let scale = largest_size(channel(outcome, "energy.kinetic"))
        .max(largest_size(channel(outcome, "energy.dissipated")))
        .max(largest_size(channel(outcome, "energy.potential")));
    total.iter().fold(0.0, |max: f64, e| max.max((e - total[0]).abs())) / scale
}

/// The generalised accelerations without constraints.
fn accelerations(model: &Model, s: &State<f64>) -> Vec<f64> {
    use dalembert::methods::dynamics::{Dynamics, Rates};
    let mut rates = Rates::zeros(model.shape());
    Dynamics::new(model).evaluate(model, s, &mut rates).unwrap();
    rates.v
}
