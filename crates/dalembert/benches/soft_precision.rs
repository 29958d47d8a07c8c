//! Work and precision of the scene `soft-bounce`: for each tolerance the height of the centre after one second and the CPU time of the steps.
//!
//! `cargo xtask soft` compares these lines with SciPy. Plain text: integrator, tolerance, height in m, seconds.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use dalembert::scenes;
use support::{integrate, scene, seconds};

const TOLERANCES: [f64; 15] =
    [1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13];

fn main() {
    let model = scene("soft-bounce", scenes::find("soft-bounce").unwrap().text, &[]).model;
    for integrator in ["dop853", "dopri5"] {
        for tolerance in TOLERANCES {
            let height = integrate(&model, integrator, tolerance, 1.0).0.q[1];
            let time = seconds(|| drop(integrate(&model, integrator, tolerance, 1.0)));
            println!("{integrator} {tolerance:e} {height:.17e} {time:e}");
        }
    }
}
