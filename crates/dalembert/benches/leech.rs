//! Where the time of a leech goes: kinematics, forces, energies, Jacobian, factors and solve of the constraints, contacts.
//!
//! Three bodies: 21 segments with a volume each, the same with one volume, and the leech on its wall with four closed contacts.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use dalembert::methods::algebra::{Mass, Rows, Saddle};
use dalembert::methods::dynamics::{Dynamics, Rates};
use dalembert::methods::nonsmooth::{Contacts, Hybrid, Mode};
use dalembert::methods::tangent::Tangent;
use dalembert::methods::{State, System};
use dalembert::model::Model;
use dalembert::run::run;
use dalembert::scenes;
use std::hint::black_box;
use std::time::Duration;
use support::{leech, scene};

/// The parts of one evaluation.
fn parts<Y: System>(c: &mut Criterion, title: &str, y: &Y, s: &State<f64>) {
    let mut group = c.benchmark_group(title);
    let shape = y.shape();
    let mut work = y.work::<f64>();
    let mut mass = Mass::new(&y.mass_blocks());
    let mut rows = Rows::new(shape.rows(), shape.v, &y.row_blocks());
    let mut saddle = Saddle::new(&mass, &rows);
    let (mut force, mut residual) = (vec![0.0; shape.v], vec![0.0; shape.rows()]);
    let (mut integrals, multipliers) = (vec![0.0; shape.z], vec![1.0; shape.rows()]);
    y.prepare(s, &mut work);
    y.mass(s, &mut work, &mut mass);
    mass.factor();
    y.jacobian(s, &mut work, &mut rows);
    group.bench_function("kinematics", |b| b.iter(|| y.prepare(black_box(s), &mut work)));
    group.bench_function("force", |b| b.iter(|| y.force(s, &mut work, &mut force)));
    group.bench_function("energies", |b| b.iter(|| y.integrand(s, &multipliers, &mut work, &mut integrals)));
    group.bench_function("constraint", |b| b.iter(|| y.constraint(s, &mut work, &mut residual[..shape.g])));
    group.bench_function("constraint rate", |b| b.iter(|| y.constraint_rate(s, &mut work, &mut residual)));
    group.bench_function("constraint bias", |b| b.iter(|| y.constraint_bias(s, &mut work, &mut residual)));
    group.bench_function("jacobian", |b| b.iter(|| y.jacobian(s, &mut work, &mut rows)));
    group.bench_function("factor", |b| b.iter(|| saddle.factor(&mass, &rows)));
    group.bench_function("solve", |b| {
        b.iter(|| {
            y.force(s, &mut work, &mut force);
            residual.fill(0.0);
            saddle.solve_trial(&mass, &rows, &mut force, &mut residual).unwrap();
        });
    });
    let (mut dynamics, mut rates) = (Dynamics::new(y), Rates::zeros(shape));
    group.bench_function("all: accelerations", |b| b.iter(|| dynamics.evaluate(y, black_box(s), &mut rates).unwrap()));
    let mut tangent = Tangent::new(y);
    let still = vec![0.0; shape.v];
    group.bench_function("tangent", |b| b.iter(|| tangent.evaluate(y, black_box(s), &multipliers, &still)));
    group.finish();
}

fn evaluations(c: &mut Criterion) {
    for compartments in ["each", "whole"] {
        let model = leech(21, compartments).model;
        parts(c, &format!("21 segments, volume: {compartments}"), &model, &model.initial_state());
    }
}

/// The leech of the document with its front corners on the wall.
fn touching() -> (Model, Vec<Mode>) {
    let settings = ["assembly.leech.position=[0, 0, 0]".to_owned()];
    let model = scene("leech", scenes::find("leech").unwrap().text, &settings).model;
    let slide = Mode::Slide { direction: [-1.0, 0.0] };
    let modes = (0..Contacts::contacts(&model)).map(|i| if i < 4 { slide } else { Mode::Open }).collect();
    (model, modes)
}

fn contacts(c: &mut Criterion) {
    let (model, modes) = touching();
    let mut y = Hybrid::new(&model);
    y.set_modes(&modes);
    let s = y.state(model.initial_state());
    parts(c, "5 segments, four corners slide on a wall", &y, &s);
    let mut group = c.benchmark_group("contacts of 5 segments");
    let mut work = y.work::<f64>();
    y.prepare(&s, &mut work);
    let (mut gap, mut rate) = (vec![0.0; modes.len()], vec![0.0; y.start(modes.len())]);
    group.bench_function("gaps and rates", |b| b.iter(|| y.kinematics(&s, &mut work, &mut gap, &mut rate)));
    group.finish();
}

fn runs(c: &mut Criterion) {
    let mut group = c.benchmark_group("whole runs");
    group.sample_size(10);
    for name in ["leech", "leech-frictionless", "leech-free", "leech-21"] {
        let scene = scene(name, scenes::find(name).unwrap().text, &[]);
        group.bench_function(name, |b| b.iter(|| run(&scene, "bench", None, &mut ()).unwrap()));
    }
    group.finish();
}

fn config() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1))
}

criterion_group! { name = pieces; config = config(); targets = evaluations, contacts, runs }
criterion_main!(pieces);
