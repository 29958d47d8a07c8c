//! Work and precision of the integrators on constrained systems: Andrews' mechanism, the car axis, and the leech of 21
//! segments, once as its scene has it and once as an impact leaves it. For each tolerance one line: problem, integrator, tolerance,
//! processor seconds, steps, forces, factorisations, error. The error is the largest of positions (m) or angles (rad) at the
//! end, against the reference of the test set, or for the leech against `dop853` at 1e-13.
//!
//! `cargo bench -p dalembert --bench precision` runs it, with `-- --quick` for few tolerances, and with `-- --folder PATH` it writes
//! where leeches begin and end, for solvers outside. `cargo xtask dae` compares the lines with SUNDIALS IDA.
//!
//! Reference values: Test Set for IVP Solvers, release 2.4, problems `andrews` and `caraxis`.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use dalembert::methods::State;
use dalembert::methods::dynamics::Dynamics;
use dalembert::model::Model;
use dalembert::scenes;
use std::f64::consts::TAU;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use support::{integrate_from, scene, seconds};

const METHODS: [&str; 4] = ["mexx", "dop853", "dopri5", "radau"];

/// The state after an impact: the body flies with 10 m/s against a wall, which its front corners have just been stopped by.
fn stopped(model: &Model) -> State<f64> {
    let mut s = model.initial_state();
    for (i, v) in s.v.iter_mut().enumerate() {
        *v = if i % 3 == 1 || i == 0 || i == 3 || i == 6 || i == 9 { 0.0 } else { -10.0 };
    }
    Dynamics::new(model).project_velocity(model, &mut s).unwrap();
    s
}

/// Writes start and end of a leech.
fn export(file: &Path, until: f64, start: &State<f64>, end: &[f64]) {
    let mut text = format!("21 {until}\n");
    for value in start.q.iter().chain(&start.v).chain(end) {
        writeln!(text, "{value:e}").unwrap();
    }
    std::fs::write(file, text).unwrap();
}

/// The angle about z of a quaternion against a reference, whatever full turns.
fn turn(quaternion: &[f64], reference: f64) -> f64 {
    let angle = 2.0 * quaternion[3].atan2(quaternion[0]) - reference;
    (angle - TAU * (angle / TAU).round()).abs()
}

/// β, γ, δ and ε of Andrews' mechanism; bodies come in the order k1, k2, k3, k5, k4, k7, k6 with seven coordinates each.
fn andrews(s: &State<f64>) -> f64 {
    let references = [
        (0, 15.810_771_196_299_04),
        (2, 0.040_822_240_130_731_01),
        (3, 0.524_409_965_880_530_5),
        (5, 1.048_080_741_042_263),
    ];
    references.iter().fold(0.0, |max, &(body, angle)| max.max(turn(&s.q[7 * body + 3..], angle)))
}

/// Both masses of the car axis; the road comes first.
fn car_axis(s: &State<f64>) -> f64 {
    let references = [
        (7, 0.049_345_578_427_540_28),
        (8, 0.496_989_460_230_171_15),
        (10, 1.041_742_524_885_421_5),
        (11, 0.373_911_027_265_361_24),
    ];
    references.iter().fold(0.0, |max, &(i, value)| max.max((s.q[i] - value).abs()))
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let folder = arguments.iter().position(|argument| argument == "--folder").map(|i| PathBuf::from(&arguments[i + 1]));
    let exponents: Vec<i32> = if quick { vec![4, 7, 10] } else { (3..=12).collect() };
    println!("problem integrator tolerance seconds steps forces factorisations error");
    for (name, file) in
        [("andrews", "andrews"), ("car-axis", "car-axis"), ("leech-21", "leech-21"), ("impact", "leech-21")]
    {
        let scene = scene(file, scenes::find(file).unwrap().text, &[]);
        let model = &scene.model;
        let (start, until) = match name {
            "impact" => (stopped(model), 0.5),
            _ => (model.initial_state(), scene.run.until),
        };
        // For leeches, the end by a tolerance far below all others.
        let leech = file == "leech-21";
        let end = if leech { integrate_from(model, &start, "dop853", 1e-13, until).0.q } else { Vec::new() };
        if let Some(folder) = folder.as_ref().filter(|_| leech) {
            export(&folder.join(format!("{name}.txt")), until, &start, &end);
        }
        for method in METHODS {
            for &exponent in &exponents {
                let tolerance = 10f64.powi(-exponent);
                let (s, counts) = integrate_from(model, &start, method, tolerance, until);
                let error = match name {
                    "andrews" => andrews(&s),
                    "car-axis" => car_axis(&s),
                    _ => s.q.iter().zip(&end).fold(0.0, |max: f64, (a, b)| max.max((a - b).abs())),
                };
                let time = seconds(|| drop(integrate_from(model, &start, method, tolerance, until)));
                let (steps, forces, factors) = (counts.steps, counts.forces, counts.factorisations);
                println!("{name} {method} {tolerance:e} {time:.6} {steps} {forces} {factors} {error:.3e}");
                // Slow methods stop where they would keep the others waiting.
                if time > if quick { 0.5 } else { 5.0 } {
                    break;
                }
            }
        }
    }
}
