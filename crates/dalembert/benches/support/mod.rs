//! What the tables of `precision`, `soft_precision` and `scaling` share: scenes from text, processor time, plain integration.
#![allow(dead_code)] // each bench uses a part

use dalembert::methods::integrate::{Counts, Settings, create};
use dalembert::methods::nonsmooth::Hybrid;
use dalembert::methods::{State, System};
use dalembert::model::Model;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use std::time::Instant;

/// A scene from its text, with settings such as `run.until=1`.
pub fn scene(name: &str, text: &str, settings: &[String]) -> Scene {
    let overrides: Overrides = settings.iter().cloned().collect();
    let document = Document::from_text(name, text, &overrides, &Limits::default()).unwrap_or_else(|e| panic!("{e}"));
    Scene::from_document(document).unwrap_or_else(|e| panic!("{e}"))
}

/// A leech of any length whose segments all do the same work: a wave of contraction every ten segments.
pub fn leech(segments: usize, compartments: &str) -> Scene {
    let text = format!(
        r#"
        [assembly.leech]
        kind = "skeleton"
        segments = {segments}
        length = {length}
        half_widths = [0.39, 0.39]
        corner_mass = 0.01
        compartments = "{compartments}"
        volume = {volume}
        shape = "equilibrium"
        [assembly.leech.longitudinal]
        stiffness = 16
        rest_length = 1.7
        damping = 0.1
        activation = {{ expression = "0.8 + 0.1*sin(2*pi*(t - waves*s))", waves = {waves} }}
        [assembly.leech.circular]
        stiffness = 16
        rest_length = 0.3
        damping = 0.1
        activation = {{ expression = "0.7 - 0.1*sin(2*pi*(t - waves*s))", waves = {waves} }}
        [run]
        until = 1
        "#,
        length = 1.8 * segments as f64,
        volume = 1.1 * segments as f64,
        waves = segments as f64 / 10.0,
    );
    scene("leech", &text, &[])
}

/// Integrates a model from its initial state without recording anything; gives the end and the work done.
pub fn integrate(model: &Model, integrator: &str, tolerance: f64, until: f64) -> (State<f64>, Counts) {
    integrate_from(model, &model.initial_state(), integrator, tolerance, until)
}

/// The same from another state.
pub fn integrate_from(
    model: &Model,
    start: &State<f64>,
    integrator: &str,
    tolerance: f64,
    until: f64,
) -> (State<f64>, Counts) {
    let y = Hybrid::new(model);
    let settings = Settings::default().with("tolerance", tolerance);
    let mut method = create::<Hybrid<'_, Model>>(integrator, &settings).expect("a known method");
    let mut s = y.state(start.clone());
    method.start(&y, &mut s).unwrap_or_else(|e| panic!("{e}"));
    while s.t < until {
        method.step(&y, &mut s, until).unwrap_or_else(|e| panic!("{integrator} at {tolerance:e}: {e}"));
    }
    (s, method.counts())
}

/// Processor seconds of this thread where the system tells (Linux), else elapsed seconds.
pub struct Clock {
    began: Instant,
    used: Option<f64>,
}

impl Clock {
    /// Starts now.
    pub fn start() -> Self {
        Self { began: Instant::now(), used: used() }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        match (used(), self.used) {
            (Some(now), Some(then)) => now - then,
            _ => self.began.elapsed().as_secs_f64(),
        }
    }
}

fn used() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// The time of some work: the least of three means, each over as many repetitions as fit into about 0.1 s. Processor time comes in
/// ticks of some milliseconds, so single short runs cannot be timed; long ones are run once.
pub fn seconds(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let clock = Clock::start();
        let mut repetitions = 0.0;
        while clock.seconds() < 0.1 {
            work();
            repetitions += 1.0;
        }
        best = best.min(clock.seconds() / repetitions);
        if repetitions < 2.0 {
            break;
        }
    }
    best
}

/// The slope of the straight line through (ln x, ln y) by least squares, and the largest ratio of a value to it.
pub fn power_law(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = logs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (mut up, mut down) = (0.0, 0.0);
    for (x, y) in &logs {
        up += (x - mean.0) * (y - mean.1);
        down += (x - mean.0).powi(2);
    }
    let slope = up / down;
    let off = logs.iter().fold(0.0, |max: f64, (x, y)| max.max((y - mean.1 - slope * (x - mean.0)).abs()));
    (slope, off.exp())
}

/// The number of unknowns of a model: coordinates, velocities, multipliers.
pub fn unknowns(model: &Model) -> usize {
    let shape = model.shape();
    shape.q + shape.v + shape.rows()
}
