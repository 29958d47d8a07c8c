//! The collection of Hock and Schittkowski, by both solvers.
#![allow(clippy::unwrap_used)]

use dalembert_optimise::interior::{self, Options};
use dalembert_optimise::problems::hock_schittkowski;
use dalembert_optimise::report::Control;

#[test]
fn interior_points_find_the_published_optima() {
    let mut table = String::new();
    let mut missed = Vec::new();
    for mut problem in hock_schittkowski() {
        let report = interior::solve(&mut problem.program, &Options::default(), &mut |_| Control::Continue);
        let error = (report.objective - problem.best) / problem.best.abs().max(1.0);
        let good = report.outcome.is_success() && error.abs() <= problem.digits;
        table += &format!(
            "{:4} {} {:4} it {:4} f {:3} restored? viol {:.1e} f {:.9e} best {:.9e} err {:.1e} {}\n",
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
    println!("{table}\nmissed {missed:?}");
}
