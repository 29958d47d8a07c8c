//! Fronts of problems of optimal control, against a closed form.

use dalembert_control::Options;
use dalembert_control::front::{Compromises, front};
use dalembert_control::study::{Source, Study, built_in};
use dalembert_optimise::pareto::{Method, Run};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

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
    // The last time with warm starts by sequences of quadratic programs.
    let sequences = Study::from_text("lift.toml", &format!("{LIFT}sequences = true\n"), &Source::BuiltIn).unwrap();
    let sequences = sequences.front().unwrap_or_else(|e| panic!("{e}")).unwrap().options.sequences;
    assert!(sequences.is_some() && wanted.options.sequences.is_none());
    let tries = [(Method::Reference, None), (Method::Constraint { primary: 0 }, None), (Method::Reference, sequences)];
    for (method, sequences) in tries {
        let options = dalembert_optimise::pareto::Options { method, sequences, ..wanted.options.clone() };
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

/// The front of the chain of four bodies on a coarse grid; with a limit the search stops after so many solves.
fn chain(study: &Study, threads: usize, journal: Option<&Path>, limit: Option<usize>) -> Compromises {
    let problem = study.problem().unwrap_or_else(|e| panic!("{e}"));
    let wanted = study.front().unwrap_or_else(|e| panic!("{e}")).unwrap();
    let stop = AtomicBool::new(false);
    let run = Run { threads, journal, stop: &stop };
    let found = front(&problem, &Options::default(), &wanted.options, &wanted.within, &run, &mut |p| {
        if limit.is_some_and(|limit| p.solved >= limit) {
            stop.store(true, Ordering::Relaxed);
        }
    });
    found.unwrap_or_else(|e| panic!("{e}"))
}

/// The study `pareto-chain` with few intervals and samples: nothing dominates what is told to be best, goals are those of the motions, kinds are apart as the study asks, and a search
/// that was stopped ends in the same bits.
#[test]
fn the_chain_has_a_front_with_kinds() {
    let apart = 0.05;
    let text = built_in::find("pareto-chain").unwrap().text;
    let mut text = text.to_owned();
    for (old, new) in [
        ("intervals = 14", "intervals = 4"),
        ("spacing = 0.08", "spacing = 0.3"),
        ("samples = 24", "samples = 6"),
        ("starts = 6", "starts = 3"),
        ("rounds = 2", "rounds = 1"),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let text = format!("{text}apart = {apart}\nattempts = 1\n");
    let study = Study::from_text("chain.toml", &text, &Source::BuiltIn).unwrap_or_else(|e| panic!("{e}"));
    let problem = study.problem().unwrap_or_else(|e| panic!("{e}"));
    let whole = chain(&study, 2, None, None);
    let f = &whole.front;
    println!(
        "{} points, {} best, {} kinds, {} parts, {} solves, {} failed",
        f.points.len(),
        f.best().len(),
        f.kinds(),
        f.parts(),
        f.solves,
        f.failed
    );
    assert!(f.complete && f.best().len() >= 3 && f.kinds() >= 2, "{}", f.csv());
    // Better in both goals by more than the tolerance of the solver, 1e-9 of the ranges over weights of 1e-4.
    let better = |a: &[f64], b: &[f64]| (0..2).all(|k| a[k] < b[k] - 1e-5 * f.scale[k]);
    for p in f.points.iter().filter(|p| p.global) {
        assert!(!f.points.iter().any(|q| better(&q.solution.goals, &p.solution.goals)), "{:?}", p.solution.goals);
    }
    // Kinds: chains of short links within, long ways between.
    let configurations: Vec<Vec<f64>> = (0..f.points.len())
        .map(|k| whole.solution(&problem, k).unwrap().instants.iter().flat_map(|i| i.q.clone()).collect())
        .collect();
    let far = |a: usize, b: usize| {
        let (a, b) = (&configurations[a], &configurations[b]);
        (a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / a.len() as f64).sqrt()
    };
    for (a, p) in f.points.iter().enumerate() {
        let of = |same: bool| f.points.iter().enumerate().filter(move |(b, q)| *b != a && (q.kind == p.kind) == same);
        assert!(of(false).all(|(b, _)| far(a, b) > apart), "{a}");
        assert!(of(true).count() == 0 || of(true).any(|(b, _)| far(a, b) <= apart), "{a}");
    }
    // Goals of the motion that stands for each kind: (t/N) Σ |τ|² and t.
    let shown = whole.representatives();
    assert_eq!(shown.len(), f.kinds());
    for (kind, point) in shown.into_iter().enumerate() {
        let solution = whole.solution(&problem, point).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(f.points[point].kind, kind);
        assert!(solution.report.violation < 1e-7, "{}", solution.report.violation);
        let intervals = solution.instants.len() - 1;
        let squares: f64 = solution.instants[..intervals].iter().flat_map(|i| &i.u).map(|u| u * u).sum();
        let exact = [solution.durations[0] / intervals as f64 * squares, solution.durations[0]];
        for (goal, exact) in f.points[point].solution.goals.iter().zip(exact) {
            // Rows y − J(x) = 0 are met to the tolerance of the solver.
            assert!((goal - exact).abs() < 1e-6 * exact, "{goal} {exact}");
        }
    }
    // Stopped twice and begun again, by one thread: the same bits.
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    for limit in [5, f.solves / 2] {
        assert!(!chain(&study, 1, Some(&journal), Some(limit)).front.complete);
    }
    let resumed = chain(&study, 1, Some(&journal), None);
    assert_eq!(resumed.front.json(), f.json());
    assert_eq!(resumed.front.csv(), f.csv());
}
