//! Where the time of soft bodies goes: boundary integrals, one force, one evaluation of a model, whole figures.
//!
//! `cargo bench -p dalembert --bench soft` runs them.
#![allow(clippy::unwrap_used, missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use dalembert::methods::System;
use dalembert::methods::dynamics::{Dynamics, Rates};
use dalembert::methods::vector::Vec3;
use dalembert::run::run;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;
use dalembert::shapes::{Ball, Brick, Disc, Form, Rectangle, Shape};
use std::f64::consts::TAU;
use std::hint::black_box;
use std::time::Duration;

/// Force and moment tensor need m₀ and m₁ of one power; all ten moments come together.
fn moments(c: &mut Criterion) {
    let mut group = c.benchmark_group("force and moment of a repulsion, power 8");
    let forms = [
        ("circle", Form::Disc(Disc { radius: 0.5, depth: 1.0 })),
        ("square", Form::Rectangle(Rectangle { size: [1.0, 1.0], depth: 1.0 })),
        ("sphere", Form::Sphere(Ball { radius: 0.5 })),
        ("box", Form::Box(Brick { size: [1.0; 3] })),
    ];
    for (name, form) in forms {
        let shape = Shape::try_from(form).unwrap();
        let a = Vec3([0.1, 0.0, 0.98]);
        let h = 0.002 - shape.nearest(0.0, a);
        group.bench_function(name, |b| b.iter(|| shape.moments(8, black_box(h), black_box(a))));
    }
    // What a fixed quadrature of 512 points costs for the circle (and it is off by 1e-9 at two millimetres).
    group.bench_function("circle by 512 points", |b| {
        b.iter(|| {
            let (h, a) = (black_box(0.502), black_box([0.1, 0.98]));
            let mut sums = [0.0; 3];
            for i in 0..512 {
                let (sin, cos) = (TAU * f64::from(i) / 512.0).sin_cos();
                let weight = (h + 0.5 * (a[0] * cos + a[1] * sin)).powi(-8);
                sums[0] += weight;
                sums[1] += weight * cos;
                sums[2] += weight * sin;
            }
            sums
        });
    });
    group.finish();
}

fn scene(name: &str, settings: &[&str]) -> Scene {
    let overrides: Overrides = settings.iter().map(|s| (*s).to_owned()).collect();
    let document = Document::from_text(name, scenes::find(name).unwrap().text, &overrides, &Limits::default());
    Scene::from_document(document.unwrap()).unwrap()
}

fn evaluation(c: &mut Criterion) {
    let mut group = c.benchmark_group("accelerations and multipliers");
    for name in ["cylinder-roll", "cube-rock", "soft-bounce", "soft-roll", "crawler", "soft-cube"] {
        let model = scene(name, &[]).model;
        let state = model.initial_state();
        let (mut dynamics, mut rates) = (Dynamics::new(&model), Rates::zeros(model.shape()));
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| dynamics.evaluate(&model, black_box(&state), &mut rates).unwrap());
        });
    }
    group.finish();
}

fn figures(c: &mut Criterion) {
    let mut group = c.benchmark_group("figures");
    group.sample_size(10);
    for name in ["cube-slide", "cube-rock", "cylinder-roll", "soft-bounce", "soft-roll", "jumper", "crawler"] {
        let scene = scene(name, &[]);
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter(|| run(&scene, "bench", None, &mut ()).unwrap());
        });
    }
    group.finish();
}

fn config() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2))
}

criterion_group! { name = soft; config = config(); targets = moments, evaluation, figures }
criterion_main!(soft);
