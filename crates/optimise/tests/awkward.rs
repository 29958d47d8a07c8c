//! Programs that have no solution, no constraint qualification or no value, and what both solvers say of them.
#![allow(clippy::unwrap_used)]

use dalembert_methods::Real;
use dalembert_optimise::problems::hock_schittkowski;
use dalembert_optimise::report::{Control, Outcome, Progress, Report};
use dalembert_optimise::written::{Second, Written};
use dalembert_optimise::{Bound, Nlp, Point, Size, interior, sqp};

fn on(_: &Progress) -> Control {
    Control::Continue
}

/// Both solvers, with their names.
fn both(program: &mut dyn Nlp) -> [(&'static str, Report); 2] {
    [
        ("interior", interior::solve(program, &interior::Options::default(), &mut on)),
        ("sqp", sqp::solve(program, &sqp::Options::default(), &mut on)),
    ]
}

fn collection(number: usize) -> Written {
    hock_schittkowski().into_iter().find(|problem| problem.number == number).unwrap().program
}

/// The disc x² + y² ≤ 1 and the half-plane x + y ≥ 3 do not meet. The sum of violations is least where the disc comes nearest, at x = y = 1/√2
/// with 3 − √2 left: beyond, the disc's violation grows faster (4 t) than the line's falls (2).
#[test]
fn contradictory_constraints_are_named() {
    let function = |x: &[Second], c: &mut [Second]| {
        c[0] = x[0].square() + x[1].square();
        c[1] = x[0] + x[1];
        x[0] - x[1] * 2.0
    };
    let bounds = vec![Bound::at_most(1.0), Bound::at_least(3.0)];
    let program = Written::new(function, vec![4.0, -3.0], vec![Bound::FREE; 2], bounds);
    let mut program = program.named(&["along", "up"], &["stay in the disc", "reach the line at 0.5 s"]);
    for (name, report) in both(&mut program) {
        assert_eq!(report.outcome, Outcome::Infeasible, "{name}: {report}");
        let least = 3.0 - 2.0f64.sqrt();
        // The pull towards the start of restoration is below 1e-4 of the weight of violations.
        assert!((report.violation - least).abs() < 1e-3, "{name}: {report}");
        assert_eq!(report.violated[0].name, "reach the line at 0.5 s", "{name}");
        assert!(report.to_string().contains("reach the line at 0.5 s = 1.41"), "{name}: {report}");
    }
}

#[test]
fn contradictory_equalities_are_infeasible() {
    let function = |x: &[Second], c: &mut [Second]| {
        c[0] = x[0] + x[1];
        c[1] = x[0] + x[1];
        x[2].square() + x[0].square()
    };
    let bounds = vec![Bound::equal(0.0), Bound::equal(1.0)];
    let mut program = Written::new(function, vec![1.0; 3], vec![Bound::FREE; 3], bounds);
    for (name, report) in both(&mut program) {
        assert_eq!(report.outcome, Outcome::Infeasible, "{name}: {report}");
        assert!(report.violation >= 0.5, "{name}: whatever x is, one of the two is off by half");
    }
}

#[test]
fn unbounded_programs_name_what_runs_away() {
    let function = |x: &[Second], c: &mut [Second]| {
        c[0] = x[0] - x[1] * 2.0;
        -x[0] - x[2]
    };
    let variables = vec![Bound::FREE, Bound::FREE, Bound::between(0.0, 1.0)];
    let program = Written::new(function, vec![0.0; 3], variables, vec![Bound::equal(0.0)]);
    let mut program = program.named(&["speed", "half speed", "share"], &["ratio"]);
    for (name, report) in both(&mut program) {
        assert!(
            matches!(&report.outcome, Outcome::Unbounded { variable, value } if variable == "speed" && *value > 1e10),
            "{name}: {report}"
        );
    }
    let mut cube =
        Written::new(|x: &[Second], _: &mut [Second]| x[0].powi(3), vec![-1.0], vec![Bound::at_most(2.0)], vec![]);
    for (name, report) in both(&mut cube) {
        assert!(matches!(report.outcome, Outcome::Unbounded { .. }), "{name}: {report}");
    }
}

#[test]
fn what_can_be_told_at_once_is_told() {
    let function = |x: &[Second], c: &mut [Second]| {
        for i in 0..3 {
            c[i] = x[0] * (i as f64) + x[1];
        }
        x[0]
    };
    let equal = vec![Bound::equal(1.0); 3];
    let mut program =
        Written::new(function, vec![0.0; 3], vec![Bound::FREE, Bound::FREE, Bound::equal(1.0)], equal.clone());
    for (name, report) in both(&mut program) {
        let Outcome::TooFewVariables { variables: 2, equalities: 3, contending, count: 3 } = &report.outcome else {
            panic!("{name}: {report}");
        };
        assert_eq!(contending.len(), 3, "{name}");
    }
    let variables = vec![Bound::FREE, Bound::between(2.0, 1.0), Bound::FREE];
    let mut program = Written::new(function, vec![0.0; 3], variables, equal).named(&["a", "b", "c"], &["p", "q", "r"]);
    for (name, report) in both(&mut program) {
        let wrong = Outcome::ContradictoryBounds { name: "b".into(), lower: 2.0, upper: 1.0 };
        assert_eq!(report.outcome, wrong, "{name}");
    }
}

#[test]
fn functions_without_a_value_are_named() {
    let mut log = Written::new(|x: &[Second], _: &mut [Second]| x[0].ln(), vec![-1.0], vec![Bound::FREE], vec![]);
    for (name, report) in both(&mut log) {
        assert_eq!(report.outcome, Outcome::NotANumber { what: "objective".into() }, "{name}");
    }
    let function = |x: &[Second], c: &mut [Second]| {
        c[0] = x[0] + 3.0;
        c[1] = (x[0] - 1.0).sqrt();
        x[0].square()
    };
    let bounds = vec![Bound::at_least(0.0); 2];
    let program = Written::new(function, vec![0.5], vec![Bound::FREE], bounds.clone());
    let mut program = program.named(&["x"], &["sum", "root at 0.1 s"]);
    for (name, report) in both(&mut program) {
        assert_eq!(report.outcome, Outcome::NotANumber { what: "constraint root at 0.1 s".into() }, "{name}");
    }
    // At the branch point the value is there, its derivative is not.
    *program.start_mut().first_mut().unwrap() = 1.0;
    for (name, report) in both(&mut program) {
        assert_eq!(report.outcome, Outcome::NotANumber { what: "derivative of root at 0.1 s by x".into() }, "{name}");
    }
}

/// Newton's step for x − ln x from 3 is x² − x = 6 to the left, far beyond the logarithm's end.
#[test]
fn steps_go_back_where_there_is_no_value() {
    let function = |x: &[Second], _: &mut [Second]| x[0] - x[0].ln();
    let mut program = Written::new(function, vec![3.0], vec![Bound::FREE], vec![]);
    for (name, report) in both(&mut program) {
        assert_eq!(report.outcome, Outcome::Solved, "{name}: {report}");
        assert!((report.point.x[0] - 1.0).abs() < 1e-7, "{name}");
    }
}

/// A constraint written twice, and one whose gradient vanishes at the solution: no qualification holds.
#[test]
fn redundant_constraints_do_no_harm() {
    let function = |x: &[Second], c: &mut [Second]| {
        c[0] = x[0] + x[1];
        c[1] = (x[0] + x[1]) * 2.0;
        x[0].square() + x[1].square() * 3.0
    };
    let bounds = vec![Bound::equal(1.0), Bound::equal(2.0)];
    let mut program = Written::new(function, vec![5.0, -3.0], vec![Bound::FREE; 2], bounds);
    for (name, report) in both(&mut program) {
        assert!(report.outcome.is_success(), "{name}: {report}");
        assert!((report.point.x[0] - 0.75).abs() < 1e-7 && (report.point.x[1] - 0.25).abs() < 1e-7, "{name}: {report}");
    }
}

/// HS 71: multipliers as the tutorial of Ipopt prints them.
#[test]
fn multipliers_are_those_of_the_lagrangian() {
    for (name, report) in both(&mut collection(71)) {
        let Point { constraints, lower, .. } = &report.point;
        assert!((constraints[0] + 5.522936593964e-1).abs() < 1e-6, "{name}: {constraints:?}");
        assert!((constraints[1] - 1.614685641449e-1).abs() < 1e-6, "{name}: {constraints:?}");
        assert!((lower[0] - 1.087871).abs() < 1e-5, "{name}: {lower:?}");
    }
}

/// A fixed variable is taken out; its multiplier is that of the bound it stands for.
#[test]
fn fixed_variables_keep_their_multiplier() {
    struct Fixed(Written);
    impl Nlp for Fixed {
        fn size(&self) -> Size {
            self.0.size()
        }
        fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
            self.0.bounds(variables, constraints);
            variables[0] = Bound::equal(1.0);
        }
        fn start(&self, x: &mut [f64]) {
            self.0.start(x);
        }
        fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
            self.0.jacobian_pattern()
        }
        fn hessian_pattern(&self) -> Vec<(usize, usize)> {
            self.0.hessian_pattern()
        }
        fn objective(&mut self, x: &[f64]) -> f64 {
            assert_eq!(x[0], 1.0);
            self.0.objective(x)
        }
        fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
            self.0.gradient(x, out);
        }
        fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
            self.0.constraints(x, out);
        }
        fn jacobian(&mut self, x: &[f64], out: &mut [f64]) {
            self.0.jacobian(x, out);
        }
        fn hessian(&mut self, x: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]) {
            self.0.hessian(x, weight, multipliers, out);
        }
    }
    for (name, report) in both(&mut Fixed(collection(71))) {
        assert!((report.objective - 17.0140172895).abs() < 1e-7, "{name}: {report}");
        assert!((report.point.lower[0] - 1.087871).abs() < 1e-5, "{name}: {:?}", report.point.lower);
    }
}

/// Every point at which functions are evaluated lies inside the bounds: strictly for interior points, at least on them for sequences.
#[test]
fn bounds_are_kept_at_every_evaluation() {
    for number in [4, 23, 71, 95, 110, 112, 119] {
        let program = collection(number);
        let size = program.size();
        let (mut variables, mut constraints) = (vec![Bound::FREE; size.variables], vec![Bound::FREE; size.constraints]);
        program.bounds(&mut variables, &mut constraints);
        let mut start = vec![0.0; size.variables];
        program.start(&mut start);
        let inner = std::sync::Mutex::new(program);
        for strict in [true, false] {
            let within = variables.clone();
            let checked = |x: &[f64]| {
                for (x, bound) in x.iter().zip(&within) {
                    let inside = if strict { bound.lower < *x && *x < bound.upper } else { bound.violation(*x) == 0.0 };
                    assert!(inside, "{number}: {x} in {bound:?}");
                }
            };
            struct Guard<'g>(&'g std::sync::Mutex<Written>, &'g dyn Fn(&[f64]));
            impl Nlp for Guard<'_> {
                fn size(&self) -> Size {
                    self.0.lock().unwrap().size()
                }
                fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
                    self.0.lock().unwrap().bounds(variables, constraints);
                }
                fn start(&self, x: &mut [f64]) {
                    self.0.lock().unwrap().start(x);
                }
                fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
                    self.0.lock().unwrap().jacobian_pattern()
                }
                fn hessian_pattern(&self) -> Vec<(usize, usize)> {
                    self.0.lock().unwrap().hessian_pattern()
                }
                fn objective(&mut self, x: &[f64]) -> f64 {
                    (self.1)(x);
                    self.0.lock().unwrap().objective(x)
                }
                fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
                    (self.1)(x);
                    self.0.lock().unwrap().gradient(x, out);
                }
                fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
                    (self.1)(x);
                    self.0.lock().unwrap().constraints(x, out);
                }
                fn jacobian(&mut self, x: &[f64], out: &mut [f64]) {
                    (self.1)(x);
                    self.0.lock().unwrap().jacobian(x, out);
                }
                fn hessian(&mut self, x: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]) {
                    (self.1)(x);
                    self.0.lock().unwrap().hessian(x, weight, multipliers, out);
                }
            }
            let mut guard = Guard(&inner, &checked);
            let report = match strict {
                true => interior::solve(&mut guard, &interior::Options::default(), &mut on),
                false => sqp::solve(&mut guard, &sqp::Options::default(), &mut on),
            };
            assert!(report.outcome.is_success(), "{number}: {report}");
        }
    }
}

/// The watcher sees every iteration and may stop; the best point so far comes back.
#[test]
fn a_stopped_solve_returns_its_best_point() {
    let mut seen: Vec<Progress> = Vec::new();
    let report = interior::solve(&mut collection(118), &interior::Options::default(), &mut |progress| {
        seen.push(*progress);
        if seen.len() == 9 { Control::Stop } else { Control::Continue }
    });
    assert_eq!(report.outcome, Outcome::Stopped);
    assert_eq!(seen.iter().map(|progress| progress.iteration).collect::<Vec<_>>(), (0..9).collect::<Vec<_>>());
    let feasible = seen.iter().filter(|progress| progress.violation <= 1e-6).map(|progress| progress.objective);
    let best = feasible.fold(f64::INFINITY, f64::min);
    assert!(best.is_finite());
    assert!((report.objective - best).abs() <= 1e-12 * best.abs(), "{} {best}", report.objective);
    let report = sqp::solve(&mut collection(100), &sqp::Options::default(), &mut |_| Control::Stop);
    assert_eq!((report.outcome, report.iterations), (Outcome::Stopped, 0));
}

/// The same problem again from its solution, and a neighbouring one: how many iterations a warm start needs is part of the contract.
#[test]
fn warm_starts_take_few_iterations() {
    let shifted = |by: f64| {
        let function = move |x: &[Second], c: &mut [Second]| {
            c[0] = x[0] * x[1] * x[2] * x[3];
            c[1] = x[0].square() + x[1].square() + x[2].square() + x[3].square();
            x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]
        };
        let bounds = vec![Bound::at_least(25.0 + by), Bound::equal(40.0)];
        Written::new(function, vec![1.0, 5.0, 5.0, 1.0], vec![Bound::between(1.0, 5.0); 4], bounds)
    };
    let cold = interior::solve(&mut shifted(0.0), &interior::Options::default(), &mut on);
    assert_eq!(cold.iterations, 8, "{cold}");
    for (by, inner, sequence) in [(0.0, 2, 1), (0.1, 4, 3)] {
        let warm = interior::solve_from(&mut shifted(by), &interior::Options::default(), &cold.point, &mut on);
        let steps = sqp::solve_from(&mut shifted(by), &sqp::Options::default(), &cold.point, &mut on);
        assert!(warm.outcome.is_success() && steps.outcome.is_success());
        assert!((warm.objective - steps.objective).abs() < 1e-6, "{} {}", warm.objective, steps.objective);
        assert!(warm.iterations <= inner, "{by}: interior {}", warm.iterations);
        assert!(steps.iterations <= sequence, "{by}: sqp {}", steps.iterations);
        assert!(
            steps.counts.factorisations <= steps.iterations + 1,
            "{by}: one system a step once the active set is known"
        );
    }
}

/// HS 71 with variables in units that differ by twelve orders: sizes of the start undo it.
#[test]
fn sizes_of_variables_mend_bad_units() {
    let units = [1e-6, 1.0, 1e6, 1e3];
    let program = || {
        let function = move |x: &[Second], c: &mut [Second]| {
            let x: [Second; 4] = std::array::from_fn(|i| x[i] / units[i]);
            c[0] = x[0] * x[1] * x[2] * x[3];
            c[1] = x[0].square() + x[1].square() + x[2].square() + x[3].square();
            x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]
        };
        let bounds = vec![Bound::at_least(25.0), Bound::equal(40.0)];
        let start = [1.0, 5.0, 5.0, 1.0].iter().zip(units).map(|(x, u)| x * u).collect();
        let variables = units.iter().map(|u| Bound::between(1.0 * u, 5.0 * u)).collect();
        Written::new(function, start, variables, bounds)
    };
    for variables in [false, true] {
        let inner = interior::solve(&mut program(), &interior::Options { variables, ..Default::default() }, &mut on);
        let steps = sqp::solve(&mut program(), &sqp::Options { variables, ..Default::default() }, &mut on);
        for (name, report) in [("interior", inner), ("sqp", steps)] {
            if name == "interior" && !variables {
                // What is left of complementarity, 1e-8, is large in units in which the multiplier is 1e-6.
                assert!(report.iterations > 50 && report.objective > 17.0145, "{report}");
            }
            if variables {
                assert_eq!(report.outcome, Outcome::Solved, "{name}: {report}");
                assert!((report.objective - 17.0140172895).abs() < 1e-7, "{name}: {report}");
                // Multipliers are those of the user's units.
                assert!((report.point.lower[0] * units[0] - 1.087871).abs() < 1e-5, "{name}: {:?}", report.point.lower);
                assert!(report.iterations <= 10, "{name}: {report}");
            }
        }
    }
}

/// Pairs of inequalities that leave no interior: a line, a circle, and a point by three lines.
#[test]
fn constraints_without_interior_are_met() {
    let line = |x: &[Second], c: &mut [Second]| {
        (c[0], c[1]) = (x[0], x[0]);
        (x[0] - 1.0).square() + (x[1] - 2.0).square()
    };
    let circle = |x: &[Second], c: &mut [Second]| {
        let square = x[0].square() + x[1].square();
        (c[0], c[1]) = (square, square);
        x[0] + x[1] * 2.0
    };
    let corner = |x: &[Second], c: &mut [Second]| {
        (c[0], c[1], c[2]) = (x[0] + x[1], x[0], x[1]);
        (x[0] + 3.0).square() + x[1]
    };
    let (below, above) = (Bound::at_most, Bound::at_least);
    let cases = [
        ("line", Written::new(line, vec![0.7, 0.1], vec![Bound::FREE; 2], vec![above(0.0), below(0.0)]), 1.0),
        (
            "circle",
            Written::new(circle, vec![0.7, 0.1], vec![Bound::FREE; 2], vec![above(1.0), below(1.0)]),
            -(5.0f64.sqrt()),
        ),
        (
            "corner",
            Written::new(corner, vec![0.7, 0.1], vec![Bound::FREE; 2], vec![below(1.0), above(1.0), above(0.0)]),
            16.0,
        ),
    ];
    for (case, mut program, best) in cases {
        for (name, report) in both(&mut program) {
            assert!(report.outcome.is_success(), "{case} {name}: {report}");
            // Ranges are 1e-8 wider on each side, times a multiplier of at most 8.
            assert!((report.objective - best).abs() < 1e-7, "{case} {name}: {report}");
            assert!(report.violation < 1.1e-8, "{case} {name}: {report}");
        }
    }
}
