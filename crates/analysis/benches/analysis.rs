//! Speed of exponents, charts and diagrams: lines `name value error seconds` for `cargo xtask analysis`.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert_analysis::floquet::{Grid, chart};
use dalembert_analysis::lyapunov::{Options, spectrum};
use dalembert_analysis::problems::{Duffing, Mathieu};
use dalembert_analysis::sweep::{Strobe, bifurcation};
use std::f64::consts::{PI, TAU};
use std::time::Instant;

/// The best of three, in seconds.
fn best(mut work: impl FnMut() -> (f64, f64)) -> (f64, f64, f64) {
    (0..3)
        .map(|_| {
            let start = Instant::now();
            let (value, error) = work();
            (value, error, start.elapsed().as_secs_f64())
        })
        .min_by(|a, b| a.2.total_cmp(&b.2))
        .unwrap()
}

fn exponents(batches: usize) -> (f64, f64) {
    let options =
        Options { step: TAU / 80.0, every: 10, transient: 200.0, batch: 500.0, batches, bundles: 2, spread: 0.1 };
    let found = spectrum(&Duffing, &[0.1, 0.0, 0.0], &Duffing::SET_B, &options).unwrap();
    (found.exponents[0], found.errors[0])
}

fn mathieu(count: usize) -> (f64, f64) {
    let grid = Grid::even((0, -2.0, 10.0, count), (1, 0.0, 5.0, count));
    let found = chart(&Mathieu, &[0.0, 0.0], PI, 100, &grid).unwrap();
    let stable = found.values().iter().filter(|r| **r < 1.0 + 1e-4).count();
    (stable as f64 / found.values().len() as f64, 0.0)
}

fn diagram(values: usize, points: usize) -> (f64, f64) {
    let forces: Vec<f64> = (0..values).map(|k| 0.2 + 0.2 * k as f64 / values as f64).collect();
    let strobe = Strobe { period: TAU, steps: 80, transient: 100, kept: points };
    let start = [1.0, 0.0, 0.0];
    let found = bifurcation(&Duffing, &start, &Duffing::SET_B, (3, &forces), 0, &strobe).unwrap();
    (found.values().iter().sum::<f64>() / found.values().len() as f64, 0.0)
}

fn main() {
    // Run by `cargo test` too, with `--test`: nothing to do then.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    for (name, work) in [
        ("duffing-exponents-160000s", &mut (|| exponents(40)) as &mut dyn FnMut() -> (f64, f64)),
        ("duffing-exponents-80000s", &mut || exponents(20)),
        ("duffing-exponents-8000s", &mut || exponents(2)),
        ("mathieu-chart-500", &mut || mathieu(500)),
        ("mathieu-chart-60", &mut || mathieu(60)),
        ("duffing-diagram-500x500", &mut || diagram(500, 500)),
    ] {
        let (value, error, seconds) = best(work);
        println!("{name} {value:.6} {error:.6} {seconds:.4}");
    }
}
