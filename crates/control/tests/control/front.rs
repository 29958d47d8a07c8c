//! Fronts of problems of optimal control, against a closed form.

use dalembert_control::Options;
use dalembert_control::front::front;
use dalembert_control::study::{Source, Study};
use dalembert_optimise::pareto::{Method, Run};
use std::sync::atomic::AtomicBool;

/// A mass is lifted by d in time T, rest to rest.
const LIFT: &str = r#"
[optimise]
scene = "bouncing-ball"
method = "dmocc"
intervals = 12

[[control]]
name = "force"
on = "body.ball.velocity.z"

[[phase]]
duration = [0.3, 3.0]
without = ["contact.floor", "panel.height"]
start = { configuration = [0, 0, 0], velocity = "rest" }
end = { configuration = [0, 0, 0.5], velocity = "rest" }

[[goal]]
name = "effort"
integral = "effort"

[[goal]]
name = "time"
time = true

[front]
spacing = 0.1
samples = 6
"#;

/// J₁ = 12 m²d²/T³ · N²/(N² − 1) + m²g²T: the midpoint form of DMOC, whose best forces fall linearly about the weight. Goals meet it to the tolerance of the
/// solver, 1e-8 of the scaled conditions, along the whole front; constraint and reference methods alike.
#[test]
fn a_lifted_mass_has_the_front_of_the_closed_form() {
    let study = Study::from_text("lift.toml", LIFT, &Source::BuiltIn).unwrap_or_else(|e| panic!("{e}"));
    let problem = study.problem().unwrap_or_else(|e| panic!("{e}"));
    let wanted = study.front().unwrap_or_else(|e| panic!("{e}")).unwrap();
    let model = &study.scene().model;
    let mass = dalembert_control::solution::kinetic(
        model,
        &dalembert_control::Instant { q: vec![0.0; 3], v: vec![0.0, 0.0, 2f64.sqrt()], ..Default::default() },
    );
    let (d, g, n) = (0.5, 9.81, 12.0f64);
    for method in [Method::Reference, Method::Constraint { primary: 0 }] {
        let options = dalembert_optimise::pareto::Options { method, ..wanted.options.clone() };
        let stop = AtomicBool::new(false);
        let run = Run { threads: 2, journal: None, stop: &stop };
        let settings = Options { evaluations: 1, ..Options::default() };
        let found =
            front(&problem, &settings, &options, &wanted.within, &run, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
        let points = &found.front.points;
        assert!(points.len() >= 8, "{}", points.len());
        let mut times: Vec<f64> = Vec::new();
        for p in points.iter().filter(|p| p.global) {
            let (effort, t) = (p.solution.goals[0], p.solution.goals[1]);
            let exact = 12.0 * mass * mass * d * d / t.powi(3) * n * n / (n * n - 1.0) + mass * mass * g * g * t;
            assert!((effort - exact).abs() <= 1e-6 * exact, "{effort} {exact} at {t}");
            times.push(t);
        }
        // From the shortest time allowed to the time of least effort, where 36 d²/T⁴ · N²/(N² − 1) = g².
        let longest = (36.0 * d * d / (g * g) * n * n / (n * n - 1.0)).powf(0.25);
        let (low, high) = times.iter().fold((f64::MAX, 0.0f64), |(a, b), t| (a.min(*t), b.max(*t)));
        assert!((low - 0.3).abs() < 1e-3 && (high - longest).abs() < 2e-2, "{low} {high} {longest}");
        assert_eq!((found.front.parts(), found.front.kinds()), (1, 1));
        let middle = found.representatives()[0];
        let solution = found.solution(&problem, middle).unwrap_or_else(|e| panic!("{e}"));
        assert!(solution.report.violation < 1e-8 && solution.instants.len() == 13);
        assert!((solution.durations[0] - points[middle].solution.goals[1]).abs() < 1e-12);
    }
}

/// What is wrong with a front is told with line and column.
#[test]
fn wrong_fronts_are_named() {
    for (old, new, says) in [
        ("[front]\n", "[front]\nmethod = \"best\"\n", "reference, constraint, intersection or rays"),
        ("[front]\n", "[front]\nmethod = \"constraint\"\nleast = \"force\"\n", "effort, time"),
        ("[front]\n", "[front]\nspaces = 3\n", "spaces"),
    ] {
        let text = LIFT.replace(old, new);
        let error = match Study::from_text("lift.toml", &text, &Source::BuiltIn) {
            Ok(study) => study.front().err().unwrap().to_string(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(says) && error.starts_with("lift.toml:"), "{error}");
    }
}
