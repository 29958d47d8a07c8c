//! The implicit methods on every test problem: error against tolerance, order, invariants, continuation.
#![allow(clippy::unwrap_used)]

use dalembert_methods::check::{continuation, drift, end_error, order};
use dalembert_methods::integrate::Settings;
use dalembert_methods::problems::{FreeBody, Oscillator, Pendulum, Problem, RotatingWire, Sleigh, Visitor, each};

const METHODS: [&str; 2] = ["radau", "generalized_alpha"];

struct Errors;

impl Visitor for Errors {
    fn visit<P: Problem>(&mut self, problem: &P) {
        if problem.exact(problem.until()).is_none() {
            return;
        }
        for tolerance in [1e-6, 1e-9, 1e-12] {
            let settings = Settings::default().with("tolerance", tolerance);
            let (error, counts) = end_error(problem, "radau", &settings).unwrap();
            println!("{} radau {tolerance:e}: {error:e} {counts:?}", problem.name());
            // The sum of local errors along customary ends, amplified by the conditioning of the problem.
            assert!(error < 200.0 * tolerance, "{}: error {error:e} at tolerance {tolerance:e}", problem.name());
        }
    }
}

#[test]
fn radau_meets_every_closed_form() {
    each(&mut Errors);
}

struct Continued;

impl Visitor for Continued {
    fn visit<P: Problem>(&mut self, problem: &P) {
        for method in METHODS {
            for cut in [1, 7] {
                let settings = Settings::default().with("tolerance", 1e-5);
                assert!(continuation(problem, method, &settings, cut).unwrap(), "{} {method} {cut}", problem.name());
            }
        }
    }
}

#[test]
fn runs_continue_with_the_same_bits() {
    each(&mut Continued);
}

fn measure(problem: &impl Problem, steps: u32) {
    let settings = Settings::default().with("tolerance", 1e-13).with("newton_iterations", 50.0);
    let radau = order(problem, "radau", &settings, &[steps, 2 * steps]).unwrap();
    println!("{} radau {radau:?}", problem.name());
    assert!((radau.exponent - 5.0).abs() < 0.3, "{}: {radau:?}", problem.name());
    let settings = Settings::default().with("tolerance", 1e-10).with("newton_iterations", 50.0);
    let alpha = order(problem, "generalized_alpha", &settings, &[8 * steps, 16 * steps]).unwrap();
    println!("{} alpha {alpha:?}", problem.name());
    assert!((alpha.exponent - 2.0).abs() < 0.2, "{}: {alpha:?}", problem.name());
}

#[test]
fn orders_on_closed_forms() {
    measure(&Oscillator::default(), 40);
    measure(&FreeBody::default(), 100);
    measure(&Pendulum::default(), 150);
    measure(&RotatingWire::default(), 60);
    measure(&Sleigh::default(), 60);
}

/// Invariants drift like the accumulated error, not more.
#[test]
fn invariants_are_kept_to_the_tolerance() {
    struct Drift;
    impl Visitor for Drift {
        fn visit<P: Problem>(&mut self, problem: &P) {
            let settings = Settings::default().with("tolerance", 1e-9);
            let (drift, counts) = drift(problem, "radau", &settings, problem.until()).unwrap();
            println!("{}: {drift:e} {counts:?}", problem.name());
            assert!(drift < 100.0 * 1e-9, "{}: {drift:e}", problem.name());
        }
    }
    each(&mut Drift);
}
