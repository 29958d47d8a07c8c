//! Momenta of DMOCC: given at ends, and consistent with controls; adjoint equations by a recursion of their own.

use crate::solved;
use crate::toys::{Masses, Pendulum};
use dalembert::model::Model;
use dalembert_control::study::{Source, Study};
use dalembert_control::{Acts, Condition, Control, Instant, Method, Options, Phase, Problem, solve};
use dalembert_methods::{Real, State, System};
use dalembert_optimise::{Control as Go, Nlp, interior};

/// Forces that are constant on intervals move a mass exactly as the discrete principle says: v₊ = v + h u/m, q₊ = q + h v + h² u/2m. Hence from (0, v₀) to (d, v₁) in T
/// J = m² (v₁ − v₀)²/T + 12 m² (d − T (v₀ + v₁)/2)²/T³ · N²/(N² − 1), and u falls linearly.
#[test]
fn momenta_at_ends_are_met() {
    let (m, d, t, v) = (2.0, 0.7, 1.5f64, [0.8, -0.3]);
    let y = Masses::one(m, 0.0, 0.0);
    for n in [4, 9] {
        let mut phase = Phase::new("throw", &y, &[0.0], Method::Dmocc, n, t);
        phase.from(Condition::Configuration(vec![0.0])).from(Condition::Momentum(vec![m * v[0]]));
        phase.to(Condition::Configuration(vec![d])).to(Condition::Momentum(vec![m * v[1]]));
        let mut problem = Problem { phases: vec![phase], ..Problem::default() };
        problem.controls = vec![Control::new("force", Acts::Velocity(0))];
        problem.integral("effort", 1.0, |m| m.controls()[0].square());
        let solution = solved(&problem);
        let square = (n * n) as f64;
        let miss = d - 0.5 * t * (v[0] + v[1]);
        let exact = (m * (v[1] - v[0])).powi(2) / t + 12.0 * (m * miss).powi(2) / t.powi(3) * square / (square - 1.0);
        assert!((solution.report.objective / exact - 1.0).abs() < 1e-9, "{n}: {} {exact}", solution.report.objective);
        let ends = [&solution.instants[0], solution.instants.last().unwrap()];
        for (end, v) in ends.iter().zip(v) {
            assert!((end.v[0] - v).abs() < 1e-9, "{end:?}");
        }
    }
}

/// A floating chain of four rods without gravity, thrown with a spin; its joints are driven to other angles, and what `more` says.
fn chain(more: &str, intervals: usize, velocity: &str) -> String {
    format!(
        r#"
[optimise]
scene = "four-body-chain.scene.toml"
set = ["world.gravity=[0, 0, 0]"]
method = "dmocc"
intervals = {intervals}
tolerance = 1e-12
[[control]]
name = "first_hinge"
on = "body.chain.second"
[[control]]
name = "ball_x"
on = "body.chain.third.wx"
[[control]]
name = "ball_y"
on = "body.chain.third.wy"
[[control]]
name = "ball_z"
on = "body.chain.third.wz"
[[control]]
name = "second_hinge"
on = "body.chain.fourth"
{more}
[[phase]]
duration = 0.6
[phase.start]
configuration = "scene"
velocity = {velocity}
[[goal]]
name = "effort"
integral = "effort"
"#
    )
}

/// Linear and angular momentum of the whole model.
fn momentum(model: &Model, instant: &Instant) -> [f64; 6] {
    let mut s: State<f64> = State::zeros(model.shape());
    s.q.copy_from_slice(&instant.q);
    s.v.copy_from_slice(&instant.v);
    let mut w = model.work();
    model.prepare(&s, &mut w);
    let found = model.momentum(&w);
    let (p, l) = (found.linear.0, found.angular.0);
    [p[0], p[1], p[2], l[0], l[1], l[2]]
}

fn flown(text: &str) -> (Study, Vec<Instant>, f64) {
    let study = Study::from_text("chain.toml", text, &Source::BuiltIn).unwrap_or_else(|e| panic!("{e}"));
    let mut problem = study.problem().unwrap_or_else(|e| panic!("{e}"));
    // The angles of the hinges stand after position and quaternion, and after the quaternion of the ball.
    for (coordinate, angle) in [(7, 0.4), (12, -0.3)] {
        problem.phases[0].to(Condition::Coordinate(coordinate, dalembert_optimise::Bound::equal(angle)));
    }
    let options = Options { evaluations: 1, ..Options::default() };
    let solution = solve(&problem, &options, study.solver(), &mut |_| Go::Continue).unwrap_or_else(|e| panic!("{e}"));
    assert!(solution.is_success(), "{}", solution.report);
    let (instants, effort) = (solution.instants, solution.goals[0].1);
    drop(problem);
    (study, instants, effort)
}

/// Torques in joints are inner forces: whatever they are, momenta of the whole chain are the same at both ends. The discrete Lagrangian and the virtual work of joints do not change when
/// the whole is moved or turned, so that this holds to rounding and the solver's violation, for any grid.
#[test]
fn torques_in_joints_keep_momenta() {
    for n in [4, 6] {
        let text = chain("", n, "[0.2, -0.1, 0.3, 0.3, 0.4, -0.8, 0, 0, 0, 0, 0]");
        let (study, instants, effort) = flown(&text);
        assert!(effort > 1e-4, "the joints are driven: {effort}");
        let [a, b] = [&instants[0], instants.last().unwrap()].map(|i| momentum(&study.scene().model, i));
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-9, "{n}: {a} {b}");
        }
    }
}

/// A torque on the first rod about the axis of a plane motion turns the whole: its angular momentum changes by Σ h τ, and the linear one is kept.
#[test]
fn outer_torques_change_momenta_by_their_impulse() {
    let outer = "[[control]]\nname = \"outer\"\non = \"body.chain.first.wz\"\n";
    let text = chain(outer, 5, "[0.2, -0.1, 0, 0, 0, -1.0, 0, 0, 0, 0, 0]");
    let (study, instants, _) = flown(&text);
    let [a, b] = [&instants[0], instants.last().unwrap()].map(|i| momentum(&study.scene().model, i));
    let impulse: f64 = instants.windows(2).map(|pair| (pair[1].t - pair[0].t) * pair[0].u[5]).sum();
    assert!(impulse.abs() > 1e-4, "{impulse}");
    for i in 0..3 {
        assert!((a[i] - b[i]).abs() < 1e-9, "{a:?} {b:?}");
    }
    assert!((b[5] - a[5] - impulse).abs() < 1e-9, "{} {impulse}", b[5] - a[5]);
}

/// The discrete adjoint equations of the midpoint rule, written out for the pendulum by hand and run backward from the last interval: with
/// c₁ = q₊ − q − h (v + v₊)/2 and c₂ = (v₊ − v)/h + g sin q̄ − τ and multipliers y₁, y₂
///
/// ```text
/// y₁⁻ − y₁ + g/2 (cos q̄⁻ y₂⁻ + cos q̄ y₂) = 0,   −h/2 (y₁⁻ + y₁) + (y₂⁻ − y₂)/h = 0,   2 h τ = y₂
/// ```
///
/// The controls of all earlier intervals follow from the two multipliers of the last one.
#[test]
fn adjoint_equations_run_backward_give_the_controls() {
    let (n, g) = (12, 9.81);
    let y = Pendulum { redundant: false };
    let mut phase = Phase::new("swing", &y, &[0.0], Method::Midpoint, n, 1.0);
    phase.from(Condition::Configuration(vec![0.0])).from(Condition::Velocity(vec![0.0]));
    phase.to(Condition::Configuration(vec![1.0])).to(Condition::Velocity(vec![0.0]));
    let mut problem = Problem { phases: vec![phase], ..Problem::default() };
    problem.controls = vec![Control::new("torque", Acts::Parameter(0))];
    problem.integral("effort", 1.0, |m| m.controls()[0].square());
    let strict = interior::Options { tolerance: 1e-12, ..interior::Options::default() };
    let found = solve(&problem, &crate::options(), &strict, &mut |_| Go::Continue).unwrap();
    assert!(found.is_success(), "{}", found.report);
    let rows = |what: &str| -> Vec<f64> {
        let own =
            (0..found.report.point.constraints.len()).filter(|&i| found.program.constraint_name(i).starts_with(what));
        own.map(|i| found.report.point.constraints[i]).collect()
    };
    let (steps, balance) = (rows("step of angle"), rows("equation of motion of angle"));
    assert_eq!((steps.len(), balance.len()), (n, n));
    let h = 1.0 / n as f64;
    let cosine = |k: usize| (0.5 * (found.instants[k].q[0] + found.instants[k + 1].q[0])).cos();
    let (mut y1, mut y2) = (steps[n - 1], balance[n - 1]);
    let size = balance.iter().fold(0.0f64, |m, y| m.max(y.abs()));
    for k in (0..n - 1).rev() {
        // Two linear equations for the multipliers of the interval before: y₂⁻ = y₂ + h²/2 (y₁⁻ + y₁) into the first.
        let (before, after) = (0.5 * g * cosine(k), 0.5 * g * cosine(k + 1));
        let b1 = (y1 - after * y2 - before * (y2 + 0.5 * h * h * y1)) / (1.0 + 0.5 * h * h * before);
        let b2 = y2 + 0.5 * h * h * (b1 + y1);
        (y1, y2) = (b1, b2);
        let torque = found.instants[k].u[0];
        // The tolerance 1e-12, scaled, once for each of twelve intervals, and a growth below ten on the way.
        assert!((y2 - 2.0 * h * torque).abs() < 1e-9 * size.max(1.0), "{k}: {y2} {}", 2.0 * h * torque);
        assert!((y2 - balance[k]).abs() < 1e-9 * size.max(1.0), "{k}: {y2} {}", balance[k]);
    }
}
