//! Work and precision of the scene `soft-bounce`: for each tolerance the height of the centre after one second and the CPU time of the steps.
//!
//! `cargo xtask soft` compares these lines with SciPy. Plain text: tolerance, height in m, seconds.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert::methods::integrate::{self, Settings};
use dalembert::model::Model;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;
use std::time::Instant;

/// Seconds of the processor, where the system tells them to the nanosecond; of the clock elsewhere.
fn seconds(began: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.as_deref().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| began.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

fn main() {
    let text = scenes::find("soft-bounce").unwrap().text;
    let document = Document::from_text("soft-bounce", text, &Overrides::none(), &Limits::default()).unwrap();
    let model = Scene::from_document(document).unwrap().model;
    let clock = Instant::now();
    for tolerance in [1e-5, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13] {
        let mut best = f64::INFINITY;
        let mut height = 0.0;
        for _ in 0..20 {
            let began = seconds(clock);
            let settings = Settings::default().with("tolerance", tolerance);
            let mut integrator = integrate::create::<Model>("dop853", &settings).unwrap();
            let mut state = model.initial_state();
            integrator.start(&model, &mut state).unwrap();
            while state.t < 1.0 {
                integrator.step(&model, &mut state, 1.0).unwrap();
            }
            best = best.min(seconds(clock) - began);
            height = state.q[1];
        }
        println!("{tolerance:e} {height:.17e} {best:e}");
    }
}
