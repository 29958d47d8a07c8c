//! Every registered integrator, by name, on every problem it is meant for.
#![allow(clippy::unwrap_used)]

use dalembert_methods::algebra::{Mass, MassBlock};
use dalembert_methods::check;
use dalembert_methods::integrate::{About, Counts, IntegrateError, Settings, SettingsError, create, methods};
use dalembert_methods::problems::{FreeBody, Kepler, Pendulum, Problem, ProtheroRobinson, Visitor, each};
use dalembert_methods::{Scalar, Shape, State, System};

/// Runs a check for every method on every problem that is stiff only if the method is meant for it, and that it does not refuse.
struct Fitting<F>(F);

trait Check {
    fn run<P: Problem>(&mut self, about: &About, problem: &P);
}

impl<C: Check> Visitor for Fitting<C> {
    fn visit<P: Problem>(&mut self, problem: &P) {
        for about in methods() {
            let start = create(about.name, &Settings::default()).unwrap().start(problem, &mut problem.initial());
            let refused = matches!(start, Err(IntegrateError::Refused { .. }));
            if (about.stiff || !problem.stiff()) && !refused {
                self.0.run(about, problem);
            }
        }
    }
}

fn has(about: &About, parameter: &str) -> bool {
    about.parameters.iter().any(|p| p.name == parameter)
}

/// Tight enough that projections leave nothing to see.
fn tight() -> Settings {
    Settings::default().with("tolerance", 1e-13)
}

/// Whether it chooses its steps by their errors.
fn controlled(about: &About) -> bool {
    has(about, "first_step")
}

#[test]
fn every_name_makes_its_method() {
    for about in methods() {
        let made = create::<Kepler>(about.name, &Settings::default()).unwrap();
        assert_eq!(made.about().name, about.name);
        for parameter in about.parameters {
            assert!(!parameter.meaning.is_empty() && !parameter.unit.is_empty());
            let [low, high] = parameter.range;
            assert!(low <= parameter.default && parameter.default <= high, "{} {}", about.name, parameter.name);
        }
        let wrong = create::<Kepler>(about.name, &Settings::default().with("colour", 1.0));
        assert!(matches!(wrong.err(), Some(SettingsError::Unknown { .. })));
    }
    let error = create::<Kepler>("dopri6", &Settings::default()).err().unwrap();
    assert!(error.to_string().contains("dopri5"), "{error}");
}

#[test]
fn explicit_orders_are_as_promised() {
    struct Order;
    impl Check for Order {
        fn run<P: Problem>(&mut self, about: &About, problem: &P) {
            if about.stiff || !has(about, "fixed_step") {
                return;
            }
            let measure = |steps: &[u32]| check::order(problem, about.name, &tight(), steps);
            // Methods of order 2 would need a hundred thousand steps for seven digits.
            let from = if about.order > 2 { 1e-7 } else { 1e-3 };
            let steps = check::ladder(from, |n| Ok(measure(&[n])?.points[0].1));
            let found = measure(&steps).unwrap();
            let promised = f64::from(about.order);
            assert!(found.exponent > promised - 0.5, "{} on {}: {found:?}", about.name, problem.name());
        }
    }
    each(&mut Fitting(Order));
}

/// One step from the exact solution has the error h^{p+1} of its continuous output; rk4 has p = 3, dopri5 p = 4, dop853 p = 7.
#[test]
fn continuous_outputs_have_their_order() {
    struct Dense;
    impl Check for Dense {
        fn run<P: Problem>(&mut self, about: &About, problem: &P) {
            let order = match about.name {
                "rk4" => 3.0,
                "dopri5" => 4.0,
                "dop853" => 7.0,
                _ => return,
            };
            let measure = |steps: &[u32]| check::dense_order(problem, about.name, &tight(), steps);
            let steps = check::ladder(1e-7, |n| Ok(measure(&[n])?.points[0].1));
            let found = measure(&steps).unwrap();
            assert!(found.exponent > order + 1.0 - 0.4, "{} on {}: {found:?}", about.name, problem.name());
        }
    }
    each(&mut Fitting(Dense));
}

/// Halving the tolerance halves the error: error per step control with exponent 1 within 25 %.
#[test]
fn explicit_errors_follow_the_tolerance_down_to_rounding() {
    struct Slope;
    impl Check for Slope {
        fn run<P: Problem>(&mut self, about: &About, problem: &P) {
            if about.stiff || !controlled(about) {
                return;
            }
            let tolerances = [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13];
            let found = check::tolerance_slope(problem, about.name, &Settings::default(), &tolerances).unwrap();
            let name = (about.name, problem.name());
            assert!((0.75..1.25).contains(&found.exponent), "{name:?}: {found:?}");
        }
    }
    each(&mut Fitting(Slope));
}

#[test]
fn explicit_invariants_drift_less_than_the_accepted_errors_add_up_to() {
    struct Invariants;
    impl Check for Invariants {
        fn run<P: Problem>(&mut self, about: &About, problem: &P) {
            if about.stiff || !controlled(about) {
                return;
            }
            for tolerance in [1e-6, 1e-10] {
                let found = check::drift(problem, about.name, tolerance, problem.until()).unwrap();
                let name = (about.name, problem.name());
                assert!(found.largest <= found.bound, "{name:?} at {tolerance}: {found:?}");
            }
        }
    }
    each(&mut Fitting(Invariants));
}

#[test]
fn a_run_cut_anywhere_goes_on_with_the_same_bits() {
    struct Cut;
    impl Check for Cut {
        fn run<P: Problem>(&mut self, about: &About, problem: &P) {
            for cut in [1, 2, 5] {
                let same = check::continuation(problem, about.name, &Settings::default(), cut).unwrap();
                assert!(same, "{} on {} cut at {cut}", about.name, problem.name());
            }
        }
    }
    each(&mut Fitting(Cut));
}

/// Work is part of the contract. dopri5: 6 evaluations for each attempt; dop853: 11, and one more for each accepted step;
/// both: one to check the start, one for its rates, one for the first step size.
#[test]
fn work_on_the_kepler_orbit() {
    let work = |name| check::end_error(&Kepler::default(), name, &Settings::default()).unwrap().1;
    assert_eq!(work("dopri5"), Counts { steps: 68, rejected: 5, forces: 73 * 6 + 3, ..Counts::default() });
    assert_eq!(work("dop853"), Counts { steps: 20, rejected: 3, forces: 23 * 11 + 20 + 3, ..Counts::default() });
}

/// Going back undoes going forth up to the error of both ways; the first half's error grows at most linearly on an orbit.
#[test]
fn orbits_return_after_time_reversal() {
    for method in ["rk4", "dopri5", "dop853"] {
        let settings = Settings::default().with("tolerance", 1e-10);
        let problem = Kepler::default();
        let (one_way, _) = check::end_error(&problem, method, &settings).unwrap();
        let found = check::reversal(&problem, method, &settings, problem.until()).unwrap();
        assert!(found < 4.0 * one_way, "{method}: {found:e}, one way {one_way:e}");
    }
}

/// Ten thousand turns of the free body (about 1.3 rad/s, so 5e4 s) at tolerance 1e-12: energy and spatial momentum to 1e-8.
#[test]
fn a_free_body_keeps_energy_and_momentum_for_ten_thousand_turns() {
    let body = FreeBody::default();
    let rate = (1.0_f64 + 0.81).sqrt();
    let until = 1e4 * std::f64::consts::TAU / rate;
    let mut integrator = create("dop853", &Settings::default().with("tolerance", 1e-12)).unwrap();
    let mut s = body.initial();
    integrator.start(&body, &mut s).unwrap();
    let first = body.invariants(&s);
    while s.t < until {
        integrator.step(&body, &mut s, until).unwrap();
    }
    for (now, first) in body.invariants(&s).iter().zip(&first) {
        assert!((now - first).abs() < 1e-8, "{now} {first}");
    }
}

#[test]
fn derivatives_of_all_problems_agree() {
    struct Derivatives;
    impl Visitor for Derivatives {
        fn visit<P: Problem>(&mut self, problem: &P) {
            let states = [Some(problem.initial()), problem.exact(0.37 * problem.until())];
            for s in states.into_iter().flatten() {
                let found = check::derivatives(problem, &s, 1e-5);
                assert!(found.exact() < 1e-14, "{}: {found:?}", problem.name());
                // Truncation h²/6·f''' with derivatives below 1e2 of the tangent's size, rounding ε/h.
                assert!(found.force < 1e-8, "{}: {found:?}", problem.name());
            }
        }
    }
    each(&mut Derivatives);
}

/// The exact solutions are solutions: one short step from one exact state must land on another.
#[test]
fn exact_solutions_meet_the_equations() {
    struct Exact;
    impl Visitor for Exact {
        fn visit<P: Problem>(&mut self, problem: &P) {
            let t = 0.61 * problem.until();
            let h = 1e-3;
            let (Some(mut s), Some(end), false) = (problem.exact(t), problem.exact(t + h), problem.stiff()) else {
                return;
            };
            let mut integrator = create("dop853", &tight().with("fixed_step", h)).unwrap();
            integrator.start(problem, &mut s).unwrap();
            integrator.step(problem, &mut s, t + h).unwrap();
            // Truncation h⁹ is nothing; rounding of states below 10 in size.
            assert!(problem.distance(&s, &end) < 40.0 * f64::EPSILON * 10.0, "{}", problem.name());
        }
    }
    each(&mut Exact);
}

#[test]
fn an_inconsistent_start_is_refused_by_name() {
    for method in ["rk4", "dopri5", "dop853"] {
        let problem = Pendulum::default();
        let mut integrator = create(method, &Settings::default()).unwrap();
        let mut s = problem.initial();
        s.q[1] *= 1.001;
        let error = integrator.start(&problem, &mut s).unwrap_err();
        let IntegrateError::Inconsistent { constraint, level, .. } = error else { panic!("{error}") };
        assert_eq!((constraint.as_str(), level), ("rod", "position"));
        s = problem.initial();
        s.v[1] += 0.01;
        let error = integrator.start(&problem, &mut s).unwrap_err();
        assert!(matches!(error, IntegrateError::Inconsistent { level: "velocity", .. }), "{error}");
    }
}

/// q̈ = 2q³ with q = 1/(1 − t): infinite at t = 1.
struct BlowUp;

impl System for BlowUp {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(1)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
        out.block_mut(0)[0] = S::one();
    }
    fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        out[0] = s.q[0] * s.q[0] * s.q[0] * 2.0;
    }
    fn velocity_name(&self, _velocity: usize) -> String {
        "runaway".to_owned()
    }
}

#[test]
fn a_singularity_ends_the_run_at_the_last_good_state() {
    for method in ["rk4", "dopri5", "dop853"] {
        let mut integrator = create(method, &Settings::default()).unwrap();
        let mut s = State { q: vec![1.0], v: vec![1.0], ..State::default() };
        integrator.start(&BlowUp, &mut s).unwrap();
        let error = loop {
            let before = s.clone();
            match integrator.step(&BlowUp, &mut s, 2.0) {
                Ok(step) => assert!(step.error.is_none_or(|error| error <= 1.0) && s.t > before.t),
                Err(error) => {
                    assert_eq!(s, before);
                    break error;
                }
            }
        };
        assert!(s.t > 0.999 && s.t < 1.001 && s.q[0].is_finite(), "{method} {s:?}");
        assert!(error.to_string().contains("runaway"), "{error}");
    }
}

/// A force that is not a number beyond q = 1: steps are halved towards it, then the error says what it met.
#[test]
fn a_force_that_is_no_number_is_named() {
    struct Wall;
    impl System for Wall {
        type Work<S: Scalar> = ();
        fn shape(&self) -> Shape {
            Shape { q: 1, v: 1, ..Shape::default() }
        }
        fn mass_blocks(&self) -> Vec<MassBlock> {
            vec![MassBlock::Diagonal(1)]
        }
        fn work<S: Scalar>(&self) {}
        fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
        fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
            out.block_mut(0)[0] = S::one();
        }
        fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
            out[0] = (S::one() - s.q[0]).sqrt();
        }
    }
    let mut integrator = create("dopri5", &Settings::default()).unwrap();
    let mut s = State { q: vec![0.0], v: vec![1.0], ..State::default() };
    integrator.start(&Wall, &mut s).unwrap();
    let error = loop {
        if let Err(error) = integrator.step(&Wall, &mut s, 10.0) {
            break error;
        }
    };
    assert!(matches!(&error, IntegrateError::NotFinite { what, .. } if what.contains("velocity 0")), "{error}");
    assert!(s.q[0] <= 1.0 && s.q[0] > 1.0 - 1e-6);
}

/// On a stiff spring an explicit method is held at its stability limit, not at the accuracy of the smooth motion; it still
/// gets there. Spring frequency 100 rad/s over 2 s.
#[test]
fn moderate_stiffness_costs_steps_but_not_accuracy() {
    let problem = ProtheroRobinson { frequency: 100.0, damping: 1.0 };
    for method in ["rk4", "dopri5", "dop853"] {
        let (error, counts) = check::end_error(&problem, method, &Settings::default()).unwrap();
        assert!(error < 1e-6 && counts.steps > 20, "{method} {error:e} {counts:?}");
    }
}
