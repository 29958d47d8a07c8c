//! The collection of Hock and Schittkowski, by both solvers.
#![allow(clippy::unwrap_used)]

use dalembert_optimise::{interior, sqp};
use dalembert_optimise::problems::{Problem, hock_schittkowski};
use dalembert_optimise::report::{Control, Report};


/// Solves all; returns a table and the numbers that were missed.
fn all(solve: impl Fn(&mut Problem) -> Report) -> (String, Vec<usize>) {
    let (mut table, mut missed) = (String::new(), Vec::new());
    for mut problem in hock_schittkowski() {
        let report = solve(&mut problem);
        let error = (report.objective - problem.best) / problem.best.abs().max(1.0);
        let good = report.outcome.is_success() && error.abs() <= problem.digits;
        table += &format!(
            "{:4} {} {:4} it {:4} f {:4} lu viol {:.1e} f {:.9e} best {:.9e} err {:.1e} {}\n",
            problem.number,
            if good { "  " } else { "✗ " },
            report.iterations,
            report.counts.objective,
            report.counts.factorisations,
            report.violation,
            report.objective,
            problem.best,
            error,
            report.outcome
        );
        if !good {
            missed.push(problem.number);
        }
    }
    (table, missed)
}

#[test]
fn interior_points_find_the_published_optima() {
    let (table, missed) = all(|p| interior::solve(&mut p.program, &interior::Options::default(), &mut |_| Control::Continue));
    println!("{table}\nmissed {missed:?}");
}
#[test]
fn adaptive() {
    let o = interior::Options { barrier: interior::Barrier::Adaptive, ..Default::default() };
    let (table, missed) = all(|p| interior::solve(&mut p.program, &o, &mut |_| Control::Continue));
    println!("{table}\nmissed {missed:?}");
}
#[test]
fn sequences() {
    let (table, missed) = all(|p| sqp::solve(&mut p.program, &sqp::Options::default(), &mut |_| Control::Continue));
    println!("{table}\nmissed {missed:?}");
}
