//! Ends that are given wholly: what breaks the constraints of the system is refused by name, what meets them is taken.

use crate::toys::{Carried, Pendulum};
use crate::{options, solved};
use dalembert_control::study::{Source, Study, built_in};
use dalembert_control::{Acts, Condition, Control, ControlError, Method, Options, Phase, Problem, solve, transcribe};
use dalembert_methods::Real;
use dalembert_optimise::{Control as Go, interior};

/// A pendulum as a point on a circle, hanging at rest at both ends but for one condition.
fn hanging<'a>(
    y: &'a Pendulum,
    method: Method,
    end: usize,
    condition: Condition<'a, Pendulum>,
) -> Problem<'a, Pendulum> {
    let whole = matches!(condition, Condition::Configuration(_));
    let mut phase = Phase::new("swing", y, &[0.0, -1.0], method, 6, 1.0);
    let rest = || Condition::Velocity(vec![0.0; 2]);
    let down = || Condition::Configuration(vec![0.0, -1.0]);
    let sides = [&mut phase.start, &mut phase.end];
    let mut condition = Some(condition);
    for (side, conditions) in sides.into_iter().enumerate() {
        let own = if side == end { condition.take() } else { None };
        match own {
            Some(own) if whole => conditions.extend([own, rest()]),
            Some(own) => conditions.extend([down(), own]),
            None => conditions.extend([down(), rest()]),
        }
    }
    let mut problem = Problem { phases: vec![phase], ..Problem::default() };
    problem.controls = vec![Control::new("torque", Acts::Parameter(0))];
    problem.integral("effort", 1.0, |m| m.controls()[0].square());
    problem
}

/// g = (x² + y² − 1)/2 and its rate x vx + y vy, by hand, are the numbers that are told.
#[test]
fn ends_that_break_constraints_are_refused() {
    let y = Pendulum { redundant: true };
    for method in [Method::Dmocc, Method::Midpoint, Method::HERMITE_SIMPSON, Method::Shooting { steps: 1 }] {
        for (end, side) in ["start", "end"].into_iter().enumerate() {
            let given: [(Condition<'_, Pendulum>, &str, f64); 3] = [
                (Condition::Configuration(vec![0.3, -1.1]), "configuration", 0.5 * (0.09 + 1.21 - 1.0)),
                (Condition::Velocity(vec![0.2, 0.4]), "velocity", -0.4),
                (Condition::Momentum(vec![0.2, 0.4]), "momentum", -0.4),
            ];
            for (condition, word, value) in given {
                let problem = hanging(&y, method, end, condition);
                let error =
                    transcribe(&problem, &options()).err().unwrap_or_else(|| panic!("{method:?} {side} {word}"));
                assert!(matches!(error, ControlError::Statement { .. }), "{error}");
                let told = error.to_string();
                let place = format!("{side} of phase `swing`: the {word} ");
                assert!(told.starts_with(&place) && told.contains("`constraint.rod`"), "{told}");
                let number = told.split(" is ").nth(2).and_then(|rest| rest.split(',').next()).unwrap();
                let number: f64 = number.parse().unwrap_or_else(|_| panic!("{told}"));
                // Seven digits are told.
                assert!((number - value).abs() < 1e-6 * value.abs(), "{told}: {value}");
            }
        }
    }
}

/// Along the circle velocities and momenta (unit mass) may be given: the same motion either way, which has them.
#[test]
fn ends_that_meet_constraints_are_taken() {
    let y = Pendulum { redundant: true };
    for method in [Method::Dmocc, Method::Midpoint, Method::HERMITE_SIMPSON] {
        for end in [0, 1] {
            let [a, b] = [Condition::Velocity(vec![0.7, 0.0]), Condition::Momentum(vec![0.7, 0.0])].map(|condition| {
                let solution = solved(&hanging(&y, method, end, condition));
                let node =
                    if end == 0 { solution.instants[0].clone() } else { solution.instants.last().unwrap().clone() };
                assert!((node.v[0] - 0.7).abs() < 1e-8 && node.v[1].abs() < 1e-8, "{method:?} {end} {node:?}");
                solution.report.objective
            });
            assert!((a / b - 1.0).abs() < 1e-7, "{method:?} {end}: {a} {b}");
        }
    }
}

/// Velocity and momentum that do not belong together.
#[test]
fn contradicting_velocity_and_momentum_are_refused() {
    let y = Pendulum { redundant: false };
    let mut phase = Phase::new("swing", &y, &[0.0], Method::Midpoint, 4, 1.0);
    phase.from(Condition::Configuration(vec![0.0])).from(Condition::Velocity(vec![0.5]));
    phase.from(Condition::Momentum(vec![0.7]));
    let problem = Problem { phases: vec![phase], ..Problem::default() };
    let told = transcribe(&problem, &options()).err().unwrap().to_string();
    assert!(told.starts_with("start of phase `swing`") && told.contains("`angle`") && told.contains("-2.0"), "{told}");
}

/// A constraint that moves: which configuration it allows depends on the time, so that a given end tells the duration, T = d/speed.
#[test]
fn a_moving_constraint_tells_the_duration() {
    let (speed, d) = (0.4, 0.5);
    let y = Carried { speed };
    for method in [Method::Dmocc, Method::Midpoint, Method::HERMITE_SIMPSON] {
        let make = |low: f64, high: f64| {
            let mut phase = Phase::new("ride", &y, &[0.0; 2], method, 8, 1.0);
            phase.from(Condition::Configuration(vec![0.0; 2])).from(Condition::Velocity(vec![speed, 0.0]));
            phase.to(Condition::Configuration(vec![d, 0.3])).to(Condition::Velocity(vec![speed, 0.0]));
            phase.free(low, high);
            let mut problem = Problem { phases: vec![phase], ..Problem::default() };
            problem.controls = vec![Control::new("push", Acts::Velocity(1))];
            problem.integral("effort", 1.0, |m| m.controls()[0].square());
            problem
        };
        let solution = solved(&make(0.1, 5.0));
        assert!((solution.durations[0] - d / speed).abs() < 1e-8, "{method:?} {:?}", solution.durations);
        // A fixed duration that does not fit is refused, with the miss d − speed T.
        let told = transcribe(&make(1.0, 1.0), &options()).err().unwrap().to_string();
        assert!(told.contains("end of phase `ride`") && told.contains("1.000000e-1"), "{told}");
    }
}

/// The closed chain of five bars: numbers that open it, and a velocity that tears it, are refused, in both forms.
#[test]
fn a_chain_is_not_torn_open() {
    let text = built_in::find("five-bar").unwrap().text;
    let (head, tail) = text.split_once("[phase.end]").unwrap();
    let goal = &tail[tail.find("[[goal]]").unwrap()..];
    let text = format!("{head}END\n{goal}");
    for (end, told) in [
        ("[phase.end]\nconfiguration = [-0.5, 1.0, 0.3, -0.2]\nvelocity = \"rest\"", "the configuration "),
        ("[phase.end]\nconfiguration = \"scene\"\nvelocity = [1, 0, 0, 0]", "the velocity "),
        ("[phase.end]\nconfiguration = \"scene\"\nmomentum = [1, 0, 0, 0]", "the momentum "),
    ] {
        for form in ["null-space", "multipliers"] {
            let text = text.replace("END", end).replace("null-space", form);
            let study = Study::from_text("study.toml", &text, &Source::BuiltIn).unwrap_or_else(|e| panic!("{e}"));
            let problem = study.problem().unwrap_or_else(|e| panic!("{e}"));
            let quick = Options { evaluations: 1, ..Options::default() };
            let found = solve(&problem, &quick, &interior::Options::default(), &mut |_| Go::Continue);
            let error = found.err().unwrap_or_else(|| panic!("{form} {end}")).to_string();
            let place = format!("end of phase `carry`: {told}");
            assert!(error.starts_with(&place) && error.contains("`joint.hand`"), "{error}");
        }
    }
}
