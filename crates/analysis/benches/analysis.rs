//! Speed of exponents, charts and diagrams: lines `name value error seconds processor-seconds` for `cargo xtask analysis`.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert_analysis::floquet::{Grid, chart};
use dalembert_analysis::lyapunov::{Options, spectrum};
use dalembert_analysis::problems::{Duffing, Mathieu};
use dalembert_analysis::sweep::{Strobe, basins, bifurcation};
use std::f64::consts::{PI, TAU};
use std::time::Instant;

/// Ticks of the processor's clock in a second, as Linux counts them for programs.
const TICKS: f64 = 100.0;
/// Work is repeated until it has taken this long: a hundred ticks.
const LONG: f64 = 1.0;

/// Seconds that all threads of this program have computed, also those that have ended, where the system tells.
fn computed() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in brackets: state and ten more, then the times in the program and in the system.
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    Some((fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?) / TICKS)
}

/// Value, error, the least time on the clock and the mean time of the processors, in seconds.
fn best(mut work: impl FnMut() -> (f64, f64)) -> (f64, f64, f64, f64) {
    let (begin, mut least, mut rounds) = (computed(), f64::INFINITY, 0.0);
    let beginning = Instant::now();
    loop {
        let start = Instant::now();
        let (value, error) = work();
        (least, rounds) = (least.min(start.elapsed().as_secs_f64()), rounds + 1.0);
        let all = begin.and_then(|begin| Some(computed()? - begin)).unwrap_or(beginning.elapsed().as_secs_f64());
        if rounds >= 3.0 && all >= LONG {
            return (value, error, least, all / rounds);
        }
    }
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

/// The share of starts that end in the right one of two wells, without a drive.
fn wells(count: usize) -> (f64, f64) {
    let line: Vec<f64> = (0..count).map(|k| -2.0 + 4.0 * (k as f64 + 0.5) / count as f64).collect();
    let mut p = Duffing::SET_B;
    p[3] = 0.0;
    let strobe = Strobe { period: TAU, steps: 80, transient: 12, kept: 3 };
    let found = basins(&Duffing, &[0.0; 3], &p, (0, &line), (1, &line), 0, &strobe);
    let right = found.values().iter().filter(|x| **x > 0.0).count();
    (right as f64 / found.values().len() as f64, 0.0)
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
        ("duffing-diagram-20x20", &mut || diagram(20, 20)),
        ("duffing-basins-500", &mut || wells(500)),
        ("duffing-basins-10", &mut || wells(10)),
    ] {
        let (value, error, seconds, processor) = best(work);
        println!("{name} {value:.6} {error:.6} {seconds:.4} {processor:.4}");
    }
}
