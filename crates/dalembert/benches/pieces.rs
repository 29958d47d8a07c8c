//! Where the time goes: reading a scene, one evaluation of the equations, four states in lanes, tangents, whole runs.
//!
//! `cargo xtask bench` runs them. Timings depend on the machine; work counts are asserted in tests instead.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use dalembert::methods::dynamics::{Dynamics, Rates};
use dalembert::methods::scalar::Lanes4;
use dalembert::methods::tangent::Tangent;
use dalembert::methods::{Scalar, State, System};
use dalembert::model::Model;
use dalembert::run::run;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;
use std::hint::black_box;
use std::time::Duration;

const LINKS: [usize; 4] = [2, 8, 32, 64];

fn scene(name: &str, settings: &[String]) -> Scene {
    let overrides: Overrides = settings.iter().cloned().collect();
    let document = Document::from_text(name, scenes::find(name).unwrap().text, &overrides, &Limits::default());
    Scene::from_document(document.unwrap()).unwrap()
}

fn chain(links: usize) -> Scene {
    scene("chain", &[format!("parameters.n={links}")])
}

fn reading(c: &mut Criterion) {
    let mut group = c.benchmark_group("read a scene");
    for links in LINKS {
        group.bench_function(BenchmarkId::new("chain", links), |b| b.iter(|| black_box(chain(links))));
    }
    group.finish();
}

fn evaluation(c: &mut Criterion) {
    let mut group = c.benchmark_group("accelerations and multipliers");
    for links in LINKS {
        let model = chain(links).model;
        let state = model.initial_state();
        let (mut dynamics, mut rates) = (Dynamics::new(&model), Rates::zeros(model.shape()));
        group.bench_function(BenchmarkId::new("chain", links), |b| {
            b.iter(|| dynamics.evaluate(&model, black_box(&state), &mut rates).unwrap());
        });
    }
    group.finish();
}

fn forces<S: Scalar>(model: &Model, state: &State<S>, work: &mut <Model as System>::Work<S>, out: &mut [S]) {
    model.prepare(black_box(state), work);
    model.force(state, work, out);
}

fn lanes(c: &mut Criterion) {
    let model = chain(8).model;
    let plain = model.initial_state();
    let mut wide = State::<Lanes4>::zeros(model.shape());
    wide.lift(&plain);
    let mut group = c.benchmark_group("generalised forces of 8 links");
    let (mut work, mut out) = (model.work::<f64>(), vec![0.0; model.shape().v]);
    group.bench_function("one state", |b| b.iter(|| forces(&model, &plain, &mut work, &mut out)));
    let (mut work, mut out) = (model.work::<Lanes4>(), vec![Lanes4::default(); model.shape().v]);
    group.bench_function("four states in lanes", |b| b.iter(|| forces(&model, &wide, &mut work, &mut out)));
    group.finish();
}

fn tangents(c: &mut Criterion) {
    let mut group = c.benchmark_group("tangent by coloured duals");
    for links in [8, 64] {
        let model = chain(links).model;
        let (state, shape) = (model.initial_state(), model.shape());
        let (multipliers, acceleration) = (vec![1.0; shape.rows()], vec![0.0; shape.v]);
        let mut tangent = Tangent::new(&model);
        group.bench_function(BenchmarkId::new("chain", links), |b| {
            b.iter(|| tangent.evaluate(&model, black_box(&state), &multipliers, &acceleration));
        });
    }
    group.finish();
}

fn runs(c: &mut Criterion) {
    let mut group = c.benchmark_group("double pendulum, 10 s");
    group.sample_size(10);
    for (integrator, tolerance) in [("dopri5", 1e-8), ("dop853", 1e-8), ("radau", 1e-6), ("generalized_alpha", 1e-4)] {
        let settings = [format!("run.integrator={integrator:?}"), format!("run.tolerance={tolerance:?}")];
        let scene = scene("double-pendulum", &settings);
        group.bench_function(integrator, |b| b.iter(|| run(&scene, "bench", None, &mut ()).unwrap()));
    }
    group.finish();
}

fn config() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2))
}

criterion_group! { name = pieces; config = config(); targets = reading, evaluation, lanes, tangents, runs }
criterion_main!(pieces);
