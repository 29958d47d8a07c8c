//! Motions known in closed form, and the order of every method.

use crate::toys::{Masses, Pendulum, Sleigh};
use crate::{METHODS, options, rest_to_rest, solved};
use dalembert_control::{Acts, Condition, Control, Form, Method, Options, Phase, Problem, Static, solve};
use dalembert_methods::{Real, System};
use dalembert_optimise::{Bound, Control as Go, interior};

/// A mass lifted by d in time T: J = 12 m² d²/T³ + m² g² T, with the factor N²/(N² − 1) for the midpoint rule and DMOCC.
#[test]
fn a_lifted_mass_costs_what_it_must() {
    let (m, d, t, g) = (2.0, 0.7, 1.5, 9.81);
    let y = Masses::one(m, 0.0, g);
    for method in METHODS {
        for n in [4, 9] {
            let solution = solved(&rest_to_rest(&y, &[0.0], &[d], method, n, t));
            let square = (n * n) as f64;
            let factor = match method {
                Method::Dmocc | Method::Midpoint => square / (square - 1.0),
                // With the weights w = h (½, 1, …, 1, ½) positions at the end weigh forces by c = (N − ½, N − 1, …, 1, ½) h, so that the
                // least effort is d² m²/(h⁴ Σ w/h (c/h − N/2)²) = 12 m² d²/T³ · N³/((N − 1)(N² + N − 3)).
                Method::TRAPEZOIDAL | Method::LobattoExplicit { stages: 2 } => {
                    let n = n as f64;
                    n.powi(3) / ((n - 1.0) * (n * n + n - 3.0))
                }
                _ => 1.0,
            };
            let exact = 12.0 * (m * d).powi(2) / t.powi(3) * factor + (m * g).powi(2) * t;
            // The optimum is stationary: the solver's tolerance 1e-8 enters by its square; 1e-9 of the value is rounding and scaling.
            let error = (solution.report.objective / exact - 1.0).abs();
            assert!(error < 1e-9, "{method:?} {n}: {} {exact}", solution.report.objective);
        }
    }
}

/// Least ∫ u² that brings an oscillator to rest: zᵀ W⁻¹ z with the controllability Gramian W.
fn gramian(t: f64) -> f64 {
    let (z1, z2) = (t.cos(), -t.sin());
    let w = [0.5 * t - 0.25 * (2.0 * t).sin(), 0.5 * t.sin().powi(2), 0.5 * t + 0.25 * (2.0 * t).sin()];
    (w[2] * z1 * z1 - 2.0 * w[1] * z1 * z2 + w[0] * z2 * z2) / (w[0] * w[2] - w[1] * w[1])
}

/// The order of the optimal value, measured on an oscillator that is brought to rest.
#[test]
fn orders_are_those_of_the_methods() {
    let t = 2.0;
    let y = Masses::one(1.0, 1.0, 0.0);
    for method in METHODS.into_iter().chain([Method::Lobatto { stages: 5 }]) {
        let steps = if method.order() > 4 { [2, 4] } else { [6, 12] };
        let [coarse, fine] = steps.map(|n| {
            let problem = rest_to_rest(&y, &[1.0], &[0.0], method, n, t);
            let strict = interior::Options { tolerance: 1e-12, ..interior::Options::default() };
            let solution = solve(&problem, &options(), &strict, &mut |_| Go::Continue).unwrap();
            (solution.report.objective - gramian(t)).abs()
        });
        let order = (coarse / fine).log2();
        // Errors of the next even order change the measured one by about (h/2)² of itself.
        let expected = method.order() as f64;
        assert!((order - expected).abs() < 0.25, "{method:?}: {order:.3} of {expected}, {coarse:e} {fine:e}");
    }
}

/// Goals as unknowns give the same optimum, and goals are told in either case.
#[test]
fn goals_can_be_unknowns() {
    let y = Masses::one(1.0, 1.0, 0.0);
    for method in METHODS {
        let problem = rest_to_rest(&y, &[1.0], &[0.0], method, 5, 2.0);
        let plain = solved(&problem);
        let told = plain.goals[0].1;
        assert!((told - plain.report.objective).abs() < 1e-12 * told, "{method:?} {told}");
        let wide = Options { goal_variables: true, ..options() };
        let (mut program, plans) = dalembert_control::transcribe(&problem, &wide).unwrap();
        let goal = program.goals()[0].1.unwrap();
        // Any solver may now minimise the goal variable: here by bounding it from above at the optimum, which is just feasible.
        program.set_bound(goal, Bound::at_most(told * (1.0 + 1e-6)));
        let report = interior::solve(&mut program, &interior::Options::default(), &mut |_| Go::Continue);
        assert!(report.outcome.is_success(), "{method:?} {report}");
        let value = report.point.x[goal];
        assert!((value / told - 1.0).abs() < 2e-6, "{method:?} {value} {told}");
        assert_eq!(plans.len(), 1);
    }
}

fn swing<Y: System>(y: &Y, method: Method, n: usize) -> Problem<'_, Y> {
    let redundant = y.shape().g > 0;
    let at = |angle: f64| if redundant { vec![angle.sin(), -angle.cos()] } else { vec![angle] };
    let mut phase = Phase::new("swing", y, &at(0.0), method, n, 1.0);
    phase.from(Condition::Configuration(at(0.0))).from(Condition::Velocity(vec![0.0; y.shape().v]));
    phase.to(Condition::Configuration(at(1.0))).to(Condition::Velocity(vec![0.0; y.shape().v]));
    let mut problem = Problem { phases: vec![phase], ..Problem::default() };
    problem.controls = vec![Control::new("torque", Acts::Parameter(0))];
    problem.integral("effort", 1.0, |m| m.controls()[0].square());
    problem
}

/// A pendulum by its angle and by a point on a circle: the same optimum as h → 0, constraints met to 1e-10 at every node.
#[test]
fn redundant_coordinates_give_the_same_motion() {
    let fine = solved(&swing(&Pendulum { redundant: false }, Method::Lobatto { stages: 4 }, 20)).report.objective;
    let y = Pendulum { redundant: true };
    for method in
        [Method::Dmocc, Method::Midpoint, Method::TRAPEZOIDAL, Method::HERMITE_SIMPSON, Method::Shooting { steps: 1 }]
    {
        let errors = [10, 20].map(|n| {
            let solution = solved(&swing(&y, method, n));
            for instant in &solution.instants {
                let circle = (instant.q[0].hypot(instant.q[1]) - 1.0).abs();
                assert!(circle < 1e-10, "{method:?} {n} at {}: {circle:e}", instant.t);
                if method != Method::Dmocc {
                    let rate = instant.q[0] * instant.v[0] + instant.q[1] * instant.v[1];
                    assert!(rate.abs() < 1e-9, "{method:?} {n} at {}: {rate:e}", instant.t);
                }
            }
            (solution.report.objective / fine - 1.0).abs()
        });
        let order = (errors[0] / errors[1]).log2();
        // Pushing back to the circle keeps the order of the method.
        let least = if method.order() == 2 { 1.7 } else { 3.3 };
        assert!(order > least, "{method:?}: {errors:?}, order {order}");
    }
}

/// The discrete adjoint equations hold at the solution; the costate of the velocity of a lifted mass is the control: u = m⁻¹ y/2.
#[test]
fn adjoint_equations_hold() {
    for method in METHODS {
        let mut solution = solved(&swing(&Pendulum { redundant: false }, method, 8));
        let residual = solution.adjoint_residual();
        // The solver's tolerance times the size of the multipliers.
        assert!(residual.largest < 1e-7 * residual.multiplier.max(1.0), "{method:?} {residual:?}");
    }
}

/// Least time between two points with bounded force: T = 2 √(m d/u); control constant on intervals switches in the middle.
#[test]
fn the_least_time_is_found() {
    let (m, d, u) = (2.0, 0.9, 5.0);
    let y = Masses::one(m, 0.0, 0.0);
    for method in [Method::Dmocc, Method::Midpoint] {
        let mut problem = rest_to_rest(&y, &[0.0], &[d], method, 10, 1.0);
        problem.phases[0].free(0.1, 10.0);
        problem.controls[0].bound = Bound::between(-u, u);
        problem.goals.clear();
        problem.time("time", 1.0);
        let solution = solved(&problem);
        let exact = 2.0 * (m * d / u).sqrt();
        // Bounds are met to the barrier 1e-8 over multipliers of order one.
        assert!((solution.durations[0] / exact - 1.0).abs() < 1e-6, "{method:?} {} {exact}", solution.durations[0]);
    }
}

/// A static parameter: the spring that needs no effort at all swings by itself in half a period, k = m (π/T)².
#[test]
fn a_static_parameter_is_chosen() {
    let y = Masses { free_stiffness: true, ..Masses::one(1.5, 0.0, 0.0) };
    let t = 2.0;
    let mut problem = rest_to_rest(&y, &[1.0], &[-1.0], Method::Lobatto { stages: 4 }, 10, t);
    problem.statics =
        vec![Static { name: "stiffness".into(), parameter: Some(0), bound: Bound::between(0.1, 20.0), guess: 2.0 }];
    let solution = solved(&problem);
    let exact = 1.5 * (std::f64::consts::PI / t).powi(2);
    // The error of order 6 in the frequency, (h ω)⁶ / 1e4 with h ω = 0.31, is 1e-7; the objective is flat there.
    assert!((solution.statics[0] / exact - 1.0).abs() < 1e-5, "{} {exact}", solution.statics[0]);
}

/// Periodicity: an oscillator driven about a moving target repeats itself, and rests where the effort is least.
#[test]
fn motions_can_be_periodic() {
    let y = Masses::one(1.0, 4.0, 0.0);
    let t = 2.0 * std::f64::consts::PI;
    let mut phase = Phase::new("period", &y, &[0.0], Method::HERMITE_SIMPSON, 20, t);
    phase.always("position", Bound::between(-10.0, 10.0), |m| m.q()[0]);
    let mut problem = Problem { phases: vec![phase], ..Problem::default() };
    problem.controls = vec![Control::new("force", Acts::Velocity(0))];
    problem.periodic(&[(0, 0.0)], &[0], &[]);
    // min ∫ (q − cos t)² + u²: q = A cos t, u = (k − 1) A cos t with A = 1/(1 + (k − 1)²).
    problem.integral("error", 1.0, |m| (m.q()[0] - m.time().cos()).square());
    problem.integral("effort", 1.0, |m| m.controls()[0].square());
    let solution = solved(&problem);
    let amplitude = 1.0 / 10.0;
    let value = std::f64::consts::PI * ((amplitude - 1.0_f64).powi(2) + (3.0 * amplitude).powi(2));
    // Order 4 with h = 0.31: h⁴/180 is 5e-5 of the value.
    assert!((solution.report.objective / value - 1.0).abs() < 5e-5, "{} {value}", solution.report.objective);
    let (first, last) = (&solution.instants[0], solution.instants.last().unwrap());
    assert!((first.q[0] - last.q[0]).abs() < 1e-8 && (first.q[0] - amplitude).abs() < 1e-3, "{first:?} {last:?}");
}

/// A knife edge goes sideways by moving to and fro: the constraint on velocities holds at every node, and between nodes with DMOCC.
#[test]
fn a_sleigh_is_parked() {
    let park = |method: Method, form: Form, n: usize| {
        let mut problem = rest_to_rest(&Sleigh, &[0.0; 3], &[0.0, 0.3, 0.0], method, n, 2.0);
        problem.phases[0].form = form;
        problem.controls = vec![
            Control::new("push", Acts::Parameter(0)).between(-30.0, 30.0),
            Control::new("turn", Acts::Parameter(1)).between(-60.0, 60.0),
        ];
        // A guess that leaves the straight line, on which nothing can be gained.
        let at = |part: f64, x: f64, heading: f64| dalembert_control::GuessAt {
            part,
            q: vec![x, 0.3 * part, heading],
            v: vec![0.0; 3],
            x: Vec::new(),
            u: vec![0.0; 2],
        };
        problem.phases[0].guess =
            dalembert_control::Guess::Instants(vec![at(0.0, 0.0, 0.0), at(0.5, 0.5, 0.5), at(1.0, 0.0, 0.0)]);
        solved(&problem)
    };
    let mut fine = 0.0;
    for method in [Method::Midpoint, Method::HERMITE_SIMPSON] {
        let solution = park(method, Form::Multipliers, 16);
        for instant in &solution.instants {
            let (sine, cosine) = instant.q[2].sin_cos();
            assert!((cosine * instant.v[1] - sine * instant.v[0]).abs() < 1e-9, "{method:?} {instant:?}");
        }
        assert!(solution.report.objective > 1.0, "going sideways costs something: {}", solution.report.objective);
        fine = solution.report.objective;
    }
    let mut errors = Vec::new();
    for (form, n) in [(Form::Multipliers, 16), (Form::NullSpace, 16), (Form::NullSpace, 32)] {
        let solution = park(Method::Dmocc, form, n);
        for pair in solution.instants.windows(2) {
            let step: Vec<f64> = (0..2).map(|i| pair[1].q[i] - pair[0].q[i]).collect();
            let (sine, cosine) = (0.5 * (pair[0].q[2] + pair[1].q[2])).sin_cos();
            assert!((cosine * step[1] - sine * step[0]).abs() < 1e-9, "{form:?} {pair:?}");
        }
        errors.push(solution.report.objective - fine);
    }
    // The discrete Lagrange–d'Alembert principle with the constraint in the middle of intervals is symmetric: order 2. The two forms are the same motion.
    let order = (errors[1] / errors[2]).log2();
    assert!((order - 2.0).abs() < 0.3 && (errors[0] - errors[1]).abs() < 1e-6 * fine, "{errors:?} {order} {fine}");
}
