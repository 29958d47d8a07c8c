//! The implicit methods on every test problem: error against tolerance, order, invariants, continuation.
#![allow(clippy::unwrap_used)]

use crate::support::{Auto, Chain, advance, distance};
use dalembert_methods::check::{continuation, drift, end_error, order};
use dalembert_methods::dynamics::Dynamics;
use dalembert_methods::integrate::{Settings, create};
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

/// Invariants drift no more than the accepted errors add up to.
#[test]
fn invariants_are_kept_to_the_tolerance() {
    struct Drift;
    impl Visitor for Drift {
        fn visit<P: Problem>(&mut self, problem: &P) {
            for method in METHODS {
                let found = drift(problem, method, 1e-7, problem.until()).unwrap();
                assert!(found.largest <= found.bound, "{} {method}: {found:?}", problem.name());
            }
        }
    }
    each(&mut Drift);
}

/// A chain large enough for sparse factors: both methods agree with an explicit one of high order, and a cut run
/// continues with the same bits although pivots were chosen long before the cut.
#[test]
fn sparse_factors_give_the_same_motion_and_the_same_bits() {
    let y = Auto(Chain { bodies: 16 });
    let mut start = y.0.state();
    let mut dynamics = Dynamics::new(&y);
    dynamics.project_position(&y, &mut start, 1e-12).unwrap();
    dynamics.project_velocity(&y, &mut start).unwrap();
    let run = |method: &str, settings: &Settings, until: f64| {
        let mut s = start.clone();
        let mut integrator = create::<Auto<Chain>>(method, settings).unwrap();
        integrator.start(&y, &mut s).unwrap();
        advance(&y, &mut s, &mut *integrator, until);
        (s, integrator.counts())
    };
    let until = start.t + 0.4;
    let (reference, _) = run("dop853", &Settings::default().with("tolerance", 1e-12), until);
    for (method, tolerance) in [("radau", 1e-9), ("generalized_alpha", 1e-8)] {
        let settings = Settings::default().with("tolerance", tolerance);
        let (end, counts) = run(method, &settings, until);
        let error = distance(&end, &reference);
        println!("{method}: {error:e} {counts:?}");
        // Order 2 sums local errors of the tolerance over some hundred steps.
        assert!(error < 100.0 * tolerance * if method == "radau" { 1.0 } else { 100.0 }, "{method}: {error:e}");

        let settings = Settings::default().with("tolerance", 1e-6);
        for cut in [2, 5, 9] {
            let mut s = start.clone();
            let mut first = create::<Auto<Chain>>(method, &settings).unwrap();
            first.start(&y, &mut s).unwrap();
            for _ in 0..cut {
                first.step(&y, &mut s, 9.0).unwrap();
            }
            let mut copy = s.clone();
            let mut second = create::<Auto<Chain>>(method, &settings).unwrap();
            second.start(&y, &mut copy).unwrap();
            second.recall(&first.memory());
            for _ in 0..5 {
                assert_eq!(first.step(&y, &mut s, 9.0), second.step(&y, &mut copy, 9.0));
                assert_eq!(s, copy);
            }
        }
    }
}
