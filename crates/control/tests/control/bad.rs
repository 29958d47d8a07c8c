//! Problems that have no answer: the report says which condition, where and when.

use crate::toys::Masses;
use crate::{METHODS, options, rest_to_rest};
use dalembert_control::{Condition, ControlError, Method, Problem, Solution, solve};
use dalembert_methods::{Real, System};
use dalembert_optimise::{Bound, Control as Go, Outcome, interior};

fn tried<Y: System>(problem: &Problem<'_, Y>) -> Result<Solution, ControlError> {
    solve(problem, &options(), &interior::Options { iterations: 200, ..interior::Options::default() }, &mut |_| {
        Go::Continue
    })
}

#[test]
fn contradictory_conditions_are_named() {
    let y = Masses::one(1.0, 0.0, 0.0);
    let mut problem = rest_to_rest(&y, &[0.0], &[1.0], Method::Midpoint, 4, 1.0);
    problem.phases[0].to(Condition::Coordinate(0, Bound::at_least(2.0)));
    let error = tried(&problem).err().unwrap().to_string();
    assert!(
        error.contains("end of phase `move`") && error.contains("body 0") && error.contains("contradict"),
        "{error}"
    );
}

#[test]
fn unreachable_targets_are_named() {
    // One newton moves one kilogram by a quarter of a metre in a second, rest to rest; one metre is too far.
    let y = Masses::one(1.0, 0.0, 0.0);
    for method in [Method::Midpoint, Method::Dmocc, Method::HERMITE_SIMPSON] {
        let mut problem = rest_to_rest(&y, &[0.0], &[1.0], method, 6, 1.0);
        problem.controls[0].bound = Bound::between(-1.0, 1.0);
        let solution = tried(&problem).unwrap();
        assert_eq!(solution.report.outcome, Outcome::Infeasible, "{method:?} {}", solution.report);
        let worst = &solution.report.violated[0];
        assert!(worst.name.contains("body 0") && worst.name.ends_with(" s"), "{method:?} {worst}");
    }
}

/// Two path conditions on one coordinate: whatever the method, both are named, with a time.
#[test]
fn too_many_conditions_are_told() {
    let y = Masses::one(1.0, 0.0, 0.0);
    for method in METHODS {
        let mut problem = rest_to_rest(&y, &[0.0], &[1.0], method, 4, 1.0);
        problem.phases[0].always("stay", Bound::equal(0.0), |m| m.q()[0]);
        problem.phases[0].always("go", Bound::equal(1.0), |m| m.q()[0]);
        let solution = tried(&problem).unwrap();
        // What was refused before it was tried has no objective to tell.
        assert!(!solution.report.to_string().contains("NaN"), "{method:?} {}", solution.report);
        match &solution.report.outcome {
            Outcome::TooFewVariables { contending, count, .. } => {
                // With DMOCC a condition in the middle of an interval depends on two nodes, and those at the ends are fixed.
                assert!(*count >= 2 && contending.len() >= 2, "{method:?} {}", solution.report);
                let told = |name: &str| contending.iter().any(|c| c.starts_with(name) && c.ends_with(" s"));
                assert!(told("stay at") && told("go at"), "{method:?} {}", solution.report);
            }
            Outcome::Infeasible => {
                let worst = &solution.report.violated[0];
                let named = worst.name.contains("stay at") || worst.name.contains("go at");
                assert!(named && worst.name.ends_with(" s"), "{method:?} {worst}");
            }
            other => panic!("{method:?} {other}"),
        }
    }
}

#[test]
fn functions_without_a_value_are_named() {
    let y = Masses::one(1.0, 0.0, 0.0);
    let mut problem = rest_to_rest(&y, &[0.0], &[1.0], Method::TRAPEZOIDAL, 4, 1.0);
    problem.phases[0].always("logarithm of the height", Bound::at_most(10.0), |m| (m.q()[0] - 2.0).ln());
    let solution = tried(&problem).unwrap();
    let Outcome::NotANumber { what } = &solution.report.outcome else { panic!("{}", solution.report) };
    assert!(what.contains("logarithm of the height at 0.0000 s"), "{what}");
    assert!(!solution.report.to_string().contains("NaN"), "{}", solution.report);
}

#[test]
fn what_a_method_cannot_do_is_refused() {
    let y = Masses::one(1.0, 0.0, 0.0);
    let mut problem = rest_to_rest(&y, &[0.0], &[1.0], Method::Dmocc, 4, 1.0);
    problem.integral("jerky", 1.0, |m| m.acceleration()[0].square());
    let error = tried(&problem).err().unwrap();
    assert!(matches!(error, ControlError::Missing { what: "the acceleration", .. }), "{error}");
}
