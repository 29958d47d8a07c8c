//! The collection of Hock and Schittkowski, by both solvers.
//!
//! A program counts as solved if the solver says so and the objective is the published one, to the published digits. What is missed is listed here with
//! the reason, and the lists are part of the test: a program that is newly missed, or newly solved, fails it.
#![allow(clippy::unwrap_used)]

use dalembert_optimise::problems::{Problem, hock_schittkowski};
use dalembert_optimise::report::{Control, Report};
use dalembert_optimise::second::second_order;
use dalembert_optimise::{interior, sqp};

/// Solves all; returns the numbers that were missed, and prints a table.
fn missed(name: &str, solve: impl Fn(&mut Problem) -> Report) -> Vec<usize> {
    let (mut missed, mut iterations, mut count) = (Vec::new(), 0, 0);
    for mut problem in hock_schittkowski() {
        let report = solve(&mut problem);
        let error = (report.objective - problem.best) / problem.best.abs().max(1.0);
        let good = report.outcome.is_success() && error.abs() <= problem.digits;
        println!(
            "{name} {:4} {} {:4} iterations {:5} factorisations, objective {:.9e}, published {:.9e}, error {error:.1e}, violation {:.1e}: {}",
            problem.number,
            if good { "solved" } else { "missed" },
            report.iterations,
            report.counts.factorisations,
            report.objective,
            problem.best,
            report.violation,
            report.outcome
        );
        if good {
            iterations += report.iterations;
        } else {
            missed.push(problem.number);
        }
        count += 1;
    }
    println!("{name}: {} of {count} solved with {iterations} iterations, missed {missed:?}", count - missed.len());
    missed
}

/// Other minima, where the published one is not nearest to the start, are found for 2 (4.9412), 16 (23.1447), 20 (40.1987), 44 (−13), 55 (6.6667), 57
/// (0.030648), 97 (4.0712) and 108 (−0.67498).
#[test]
fn interior_points_find_the_published_optima() {
    let found = missed("interior", |p| {
        interior::solve(&mut p.program, &interior::Options::default(), &mut |_| Control::Continue)
    });
    assert_eq!(found, [2, 16, 20, 44, 55, 57, 97, 108]);
}

/// Other minima: as above, and 59 (−6.7546) and 98 (4.0712).
#[test]
fn adaptive_barriers_find_them_too() {
    let options = interior::Options { barrier: interior::Barrier::Adaptive, ..Default::default() };
    let found = missed("adaptive", |p| interior::solve(&mut p.program, &options, &mut |_| Control::Continue));
    assert_eq!(found, [2, 16, 20, 44, 59, 97, 98, 108]);
}

/// Other minima: 2, 16, 20, 33 (−4), 55, 59, 97, 98. No progress: 13, where no multipliers exist. 92 ends at a stationary point of its violation.
#[test]
fn sequences_of_quadratic_programs_find_them_too() {
    let found = missed("sqp", |p| sqp::solve(&mut p.program, &sqp::Options::default(), &mut |_| Control::Continue));
    assert_eq!(found, [2, 13, 16, 20, 33, 55, 59, 92, 97, 98]);
}

/// What the other minima are: which meet the sufficient conditions of second order.
#[test]
fn other_minima_are_minima() {
    let mut found = Vec::new();
    let adaptive = interior::Options { barrier: interior::Barrier::Adaptive, ..Default::default() };
    for mut problem in hock_schittkowski() {
        let solves: [(&str, Report); 3] = [
            (
                "monotone",
                interior::solve(&mut problem.program, &interior::Options::default(), &mut |_| Control::Continue),
            ),
            ("adaptive", interior::solve(&mut problem.program, &adaptive, &mut |_| Control::Continue)),
            ("sqp", sqp::solve(&mut problem.program, &sqp::Options::default(), &mut |_| Control::Continue)),
        ];
        for (name, report) in solves {
            let error = (report.objective - problem.best) / problem.best.abs().max(1.0);
            if report.outcome.is_success() && error.abs() > problem.digits {
                let second = second_order(&mut problem.program, &report.point, 1e-6);
                println!("{} {name}: {:.6}, {second:?}", problem.number, report.objective);
                found.push((problem.number, name, second.is_minimum(1e-6)));
            }
        }
    }
    // 33 by sequences is a saddle point: along x₂ ≥ 0, active without a multiplier, the curvature is −1/2. At 57 the Hessian is singular, which decides nothing.
    let doubtful: Vec<_> =
        found.iter().filter(|(_, _, minimum)| !minimum).map(|(number, name, _)| (*number, *name)).collect();
    assert_eq!(doubtful, [(33, "sqp"), (57, "monotone")]);
    let mut numbers: Vec<usize> = found.iter().filter(|(_, _, minimum)| *minimum).map(|(number, ..)| *number).collect();
    numbers.dedup();
    assert_eq!(numbers, [2, 16, 20, 44, 55, 59, 97, 98, 108]);
}

/// Optima that are asked for with fewer digits than 1e-6, because published values and ours differ there: both solvers agree with each other, at a tighter tolerance, to
/// eleven digits, at points that meet the sufficient conditions of second order.
#[test]
fn optima_of_few_digits_are_confirmed() {
    let known = [(59, -7.804235953664), (67, -1162.026980059687), (105, 1138.410663672131), (116, 97.587509558082)];
    for (number, ours) in known {
        let mut problem = hock_schittkowski().into_iter().find(|p| p.number == number).unwrap();
        let tight = interior::Options { tolerance: 1e-11, ..Default::default() };
        let one = interior::solve(&mut problem.program, &tight, &mut |_| Control::Continue);
        let tight = sqp::Options { tolerance: 1e-11, ..Default::default() };
        let two = sqp::solve_from(&mut problem.program, &tight, &one.point, &mut |_| Control::Continue);
        let second = second_order(&mut problem.program, &two.point, 1e-6);
        println!("{number}: {:.12} and {:.12}, published {}, {second:?}", one.objective, two.objective, problem.best);
        assert!(one.outcome.is_success() && two.outcome.is_success() && second.is_minimum(1e-6), "{number}");
        for objective in [one.objective, two.objective] {
            assert!((objective / ours - 1.0).abs() < 1e-11, "{number}: {objective}");
        }
    }
}
