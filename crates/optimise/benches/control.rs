//! How the cost of optimal control grows with the number of nodes: time of an iteration and numbers stored.
//!
//! `cargo bench -p dalembert-optimise --bench control`

use dalembert_optimise::interior::{self, Options};
use dalembert_optimise::problems::control::CartPole;
use dalembert_optimise::report::Control;
use dalembert_optimise::sqp;
use std::time::Instant;

/// Seconds that this process has computed, where the system tells it; otherwise seconds since the start.
fn seconds(begun: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/self/schedstat").ok();
    let spent = told.and_then(|text| text.split_whitespace().next().and_then(|first| first.parse::<f64>().ok()));
    spent.map_or_else(|| begun.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

fn main() {
    let begun = Instant::now();
    println!("cart-pole, trapezoidal collocation, interior points from the straight line, best of five");
    println!(
        "{:>6} {:>10} {:>12} {:>12} {:>14} {:>14}",
        "nodes", "iterations", "objective", "solve / ms", "iteration / µs", "per node / µs"
    );
    for intervals in [50, 100, 200, 400, 800, 1000] {
        let mut best = f64::INFINITY;
        let mut report = None;
        for _ in 0..5 {
            let start = seconds(begun);
            let found = interior::solve(&mut CartPole::new(intervals), &Options::default(), &mut |_| Control::Continue);
            best = best.min(seconds(begun) - start);
            report = Some(found);
        }
        let Some(report) = report else { continue };
        let each = best / report.iterations.max(1) as f64 * 1e6;
        println!(
            "{intervals:>6} {:>10} {:>12.6} {:>12.3} {each:>14.1} {:>14.3}  {}",
            report.iterations,
            report.objective,
            best * 1e3,
            each / intervals as f64,
            report.outcome
        );
        // The neighbouring problem: the same swing with 1 % more distance, from this solution.
        let mut next = CartPole { distance: 1.01, ..CartPole::new(intervals) };
        let start = seconds(begun);
        let warm = sqp::solve_from(&mut next, &sqp::Options::default(), &report.point, &mut |_| Control::Continue);
        let (sequence, took) = (warm.iterations, seconds(begun) - start);
        let start = seconds(begun);
        let inner = interior::solve_from(&mut next, &Options::default(), &report.point, &mut |_| Control::Continue);
        println!(
            "       1 % farther, warm: sequence of quadratic programs {sequence} iterations {:.3} ms ({}), interior {} iterations {:.3} ms ({}), difference {:.1e}",
            took * 1e3,
            warm.outcome,
            inner.iterations,
            (seconds(begun) - start) * 1e3,
            inner.outcome,
            (warm.objective - inner.objective).abs()
        );
    }
}
