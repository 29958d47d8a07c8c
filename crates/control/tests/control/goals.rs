//! Goals against closed forms: work, jerk, values at ends, reactions over phases; and what is wrong with goals.

use crate::toys::Masses;
use crate::{options, rest_to_rest, solved};
use dalembert_control::study::{Source, Study, built_in};
use dalembert_control::{Condition, Goal, Method, Options, Problem, Rates, Solution, Term, solve};
use dalembert_methods::Real;
use dalembert_optimise::{Bound, Control as Go, Outcome, interior};

fn read(scene: &str, text: &str) -> Study {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scene.toml"), scene).unwrap();
    Study::from_text("study.toml", text, &Source::Disk(folder.path())).unwrap_or_else(|e| panic!("{e}"))
}

fn run(study: &Study) -> Solution {
    let problem = study.problem().unwrap_or_else(|e| panic!("{e}"));
    let options = Options { evaluations: 1, ..Options::default() };
    let solution = solve(&problem, &options, study.solver(), &mut |_| Go::Continue).unwrap_or_else(|e| panic!("{e}"));
    assert!(solution.is_success(), "{}", solution.report);
    solution
}

fn goal(solution: &Solution, name: &str) -> f64 {
    solution.goals.iter().find(|(own, _)| own == name).unwrap_or_else(|| panic!("{name}")).1
}

/// A cabin of 2 kg in a shaft.
const LIFT: &str = r#"
[world]
gravity = [0, 0, -9.81]
[body.lift]
kind = "tree"
[[body.lift.links]]
name = "cabin"
joint = { kind = "prismatic", axis = [0, 0, 1] }
mass = 2.0
[run]
until = 1
"#;

const LIFTED: &str = r#"
[optimise]
scene = "scene.toml"
method = "hermite_simpson"
intervals = 6
[[control]]
name = "pull"
on = "body.lift.cabin"
[[phase]]
duration = 1.5
start = { configuration = [0.0], velocity = "rest" }
END
[[goal]]
name = "effort"
integral = "pull^2"
[[goal]]
name = "other"
OTHER
"#;

/// The work of the rope is what the cabin gains, m g d. At the optimum the rope's force is linear and the speed quadratic in time: Simpson's rule is exact.
#[test]
fn work_is_what_is_gained() {
    let end = "end = { configuration = [0.7], velocity = \"rest\" }";
    let text = LIFTED.replace("END", end).replace("OTHER", "weight = 0\nintegral = \"pull*body.lift.cabin.rate\"");
    let solution = run(&read(LIFT, &text));
    let exact = 2.0 * 9.81 * 0.7;
    assert!((goal(&solution, "other") / exact - 1.0).abs() < 1e-9, "{:?} {exact}", solution.goals);
}

/// What is an integral over the motion is no quantity of an instant: refused, with what to write.
#[test]
fn integrals_in_goals_are_refused() {
    for (of, word) in [
        ("energy.supplied", "push*body.x.rate"),
        ("energy.dissipated", "rate^2"),
        ("energy.total", "energy.kinetic + energy.potential"),
    ] {
        for key in ["integral", "end"] {
            let text = LIFTED.replace("END", "").replace("OTHER", &format!("{key} = \"2*{of}\""));
            let told = read(LIFT, &text).problem().err().unwrap_or_else(|| panic!("{of}")).to_string();
            assert!(told.starts_with("study.toml:18:") && told.contains(of) && told.contains(word), "{told}");
        }
        let text = LIFTED.replace("OTHER", "time = true");
        let text = text.replace("END", &format!("[[phase.always]]\nof = \"{of}\"\nat_most = 1"));
        let told = read(LIFT, &text).problem().err().unwrap_or_else(|| panic!("{of}")).to_string();
        assert!(told.starts_with("study.toml:13:") && told.contains(of), "{told}");
    }
}

/// A value at the end: from rest to anywhere at any speed in T costs 3 m² s²/T³ without gravity, so that with the goal w (s − d)² the end is s = w d/(w + 3 m²/T³).
#[test]
fn values_at_ends_are_goals() {
    let (m, d, t, w) = (2.0, 0.7, 1.5f64, 4.0);
    let text = LIFTED.replace("END", "").replace("OTHER", "weight = 4\nend = \"(body.lift.cabin - 0.7)^2\"");
    let solution = run(&read(&LIFT.replace("-9.81", "0"), &text));
    let rate = 3.0 * m * m / t.powi(3);
    let s = w * d / (w + rate);
    let exact = rate * s * s + w * (s - d) * (s - d);
    assert!((solution.instants.last().unwrap().q[0] - s).abs() < 1e-7, "{:?} {s}", solution.instants.last());
    assert!((solution.report.objective / exact - 1.0).abs() < 1e-9, "{} {exact}", solution.report.objective);
}

/// The least ∫ jerk² from rest to rest is 120 d²/T⁵ with free accelerations at the ends (Euler's equation with the jerk zero there) and 720 d²/T⁵ with none. Accelerations are joined
/// by straight lines, within intervals, too: order 2 for all methods.
#[test]
fn the_least_jerk_is_found() {
    let (d, t) = (0.6, 1.2f64);
    let y = Masses::one(1.0, 0.0, 0.0);
    for method in [Method::TRAPEZOIDAL, Method::HERMITE_SIMPSON, Method::Lobatto { stages: 4 }] {
        for (still, factor) in [(false, 120.0), (true, 720.0)] {
            let errors = [8, 16].map(|n| {
                let mut problem = rest_to_rest(&y, &[0.0], &[d], method, n, t);
                let terms = vec![Term::Rates { phase: None, of: Rates::Accelerations }];
                problem.goals = vec![Goal { name: "jerk".into(), weight: 1.0, terms }];
                if still {
                    let none = || Condition::Of {
                        name: "acceleration".into(),
                        function: Box::new(|m: &mut dalembert_control::Moment<'_, '_, Masses>| m.acceleration()[0]),
                        bound: Bound::equal(0.0),
                    };
                    problem.phases[0].from(none()).to(none());
                }
                solved(&problem).report.objective / (factor * d * d / t.powi(5)) - 1.0
            });
            let order = (errors[0] / errors[1]).log2();
            assert!((order - 2.0).abs() < 0.25 && errors[1].abs() < 0.1, "{method:?} {factor}: {errors:?} {order}");
        }
    }
}

/// Controls cannot hide between nodes: the least ∫ u̇² of a lift with linear force, u = (6 − 12 t/T) m d/T², is known by collocation of every order.
#[test]
fn rates_of_controls_see_inner_stages() {
    let (d, t) = (0.6, 1.2f64);
    let y = Masses::one(1.0, 0.0, 0.0);
    // Rest to rest with least ∫ u̇² is the problem of the least jerk.
    for method in [Method::TRAPEZOIDAL, Method::HERMITE_SIMPSON, Method::LobattoExplicit { stages: 3 }] {
        let mut problem = rest_to_rest(&y, &[0.0], &[d], method, 16, t);
        let terms = vec![Term::Rates { phase: None, of: Rates::Controls }];
        problem.goals = vec![Goal { name: "rates".into(), weight: 1.0, terms }];
        let ratio = solved(&problem).report.objective / (120.0 * d * d / t.powi(5));
        assert!((ratio - 1.0).abs() < 0.1, "{method:?} {ratio}");
    }
}

/// A goal over all phases of a jump: the ground's force counts while the foot stands and is nothing in flight. The whole is the sum of the phases.
#[test]
fn reactions_count_where_constraints_are() {
    let text = built_in::find("jump").unwrap().text;
    let extra = |name: &str, more: &str| {
        format!(
            "\n[[goal]]\nname = \"{name}\"\nweight = 1e-3\nintegral = \"effort + constraint.stand.force.z^2\"\n{more}"
        )
    };
    let all = format!("{text}{}", extra("all", ""));
    let parts = format!(
        "{all}{}{}{}",
        extra("a", "phase = \"push\""),
        extra("c", "phase = \"landing\""),
        "\n[[goal]]\nname = \"b\"\nweight = 1e-3\nintegral = \"effort\"\nphase = \"flight\"\n"
    );
    let read = |text: &str| Study::from_text("jump.toml", text, &Source::BuiltIn).unwrap_or_else(|e| panic!("{e}"));
    run(&read(&all));
    let solution = run(&read(&parts));
    let sum = goal(&solution, "a") + goal(&solution, "b") + goal(&solution, "c");
    let whole = goal(&solution, "all");
    assert!((whole / sum - 1.0).abs() < 1e-12 && goal(&solution, "a") > 1.0, "{whole} {sum}");
    // Where the phase is named, what it does not have is an error.
    let wrong = format!("{text}{}", extra("wrong", "phase = \"flight\""));
    let told = read(&wrong).problem().err().unwrap().to_string();
    assert!(told.starts_with("jump.toml:") && told.contains("phase `flight`") && told.contains("`push`"), "{told}");
}

/// Two weights held up by planes; the first is let go in the second phase, where numbers of rows are others. The second plane carries m g all the time.
#[test]
fn constraints_are_found_by_name_in_every_phase() {
    let mut scene = String::from("[world]\ngravity = [0, 0, -9.81]\n");
    for (name, mass) in [("a", 2.0), ("b", 3.0)] {
        scene += &format!(
            "[body.{name}]\nkind = \"tree\"\n[[body.{name}.links]]\nname = \"z\"\njoint = {{ kind = \"prismatic\", axis = [0, 0, 1] }}\nmass = {mass}\n\
             [marker.{name}_foot]\nbody = \"{name}\"\nlink = \"z\"\n\
             [constraint.{name}]\nkind = \"point_on_plane\"\nbetween = [\"ground\", \"{name}_foot\"]\nnormal = [0, 0, 1]\n"
        );
    }
    scene += "[run]\nuntil = 1\n";
    let text = r#"
[optimise]
scene = "scene.toml"
method = "hermite_simpson"
intervals = 4
[[control]]
name = "lift"
on = "body.a.z"
[[phase]]
duration = 0.5
start = { configuration = "scene", velocity = "rest" }
[[phase]]
duration = 0.7
without = ["constraint.a"]
end = { configuration = [0.2, 0.0], velocity = "rest" }
[[goal]]
name = "effort"
integral = "effort"
[[goal]]
name = "load"
weight = 0
integral = "constraint.b.force.z"
"#;
    let solution = run(&read(&scene, text));
    let (load, exact) = (goal(&solution, "load"), 3.0 * 9.81 * 1.2);
    assert!((load.abs() / exact - 1.0).abs() < 1e-9, "{load} {exact}");
    // Periodicity reads both ends by their own rows: the load of the second plane repeats, that of the first does not.
    let same = run(&read(&scene, &format!("{text}[[periodic]]\nof = \"constraint.b.force.z\"\n")));
    assert!((goal(&same, "effort") / goal(&solution, "effort") - 1.0).abs() < 1e-7);
}

/// A muscle of constant strength F lifts a mass, driven by its activation: ∫ a² = (12 m² d²/T³ + m² g² T)/F².
#[test]
fn muscles_are_driven_by_activation() {
    let scene = format!(
        "{LIFT}[marker.roof]\nat = [0, 0, 3]\n[marker.hook]\nbody = \"lift\"\nlink = \"cabin\"\n[signal.nerve]\nkind = \"constant\"\nvalue = 0.2\n\
         [force.muscle]\nkind = \"muscle\"\nbetween = [\"roof\", \"hook\"]\nactivation = \"nerve\"\nactive = {{ energy = \"90*s\" }}\n"
    );
    let text = LIFTED.replace("body.lift.cabin\"", "signal.nerve\"\nbetween = [0, 1]\nguess = 0.2");
    let text = text
        .replace("END", "end = { configuration = [0.7], velocity = \"rest\" }")
        .replace("OTHER", "weight = 0\ntime = true");
    let solution = run(&read(&scene, &text));
    let exact = (12.0 * 1.4f64.powi(2) / 1.5f64.powi(3) + (2.0 * 9.81f64).powi(2) * 1.5) / 90.0f64.powi(2);
    // Bounds are far: the barrier 1e-9 over gaps of some tenths remains.
    assert!((goal(&solution, "effort") / exact - 1.0).abs() < 1e-7, "{:?} {exact}", solution.goals);
    assert!(solution.instants.iter().all(|i| i.u[0] > 0.0 && i.u[0] < 1.0));
}

fn tried(problem: &Problem<'_, Masses>) -> String {
    let found = solve(problem, &options(), &interior::Options::default(), &mut |_| Go::Continue).unwrap();
    let Outcome::NotANumber { what } = &found.report.outcome else { panic!("{}", found.report) };
    what.clone()
}

/// A goal without a value, or without a slope, is named with its time, for integrals at nodes, integrals over intervals and values at ends.
#[test]
fn goals_without_a_value_are_named() {
    let y = Masses::one(1.0, 0.0, 0.0);
    for (method, time) in [(Method::TRAPEZOIDAL, "0.0000 s"), (Method::Midpoint, "between 0.0000 s and 0.2500 s")] {
        let mut problem = rest_to_rest(&y, &[0.0], &[1.0], method, 4, 1.0);
        problem.integral("depth", 0.5, |m| (m.q()[0] - 2.0).ln());
        let told = tried(&problem);
        assert!(told.starts_with("goal `depth` ") && told.contains(time), "{method:?} {told}");
    }
    let mut problem = rest_to_rest(&y, &[0.0], &[1.0], Method::TRAPEZOIDAL, 4, 1.0);
    let function = Box::new(|m: &mut dalembert_control::Moment<'_, '_, Masses>| (m.v()[0] - 1.0).sqrt());
    problem.goals.push(Goal { name: "speed".into(), weight: 1.0, terms: vec![Term::End { phase: 0, function }] });
    assert_eq!(tried(&problem), "goal `speed` at 1.0000 s");
    // The square root has a value at zero, but no slope.
    let mut problem = rest_to_rest(&y, &[0.0], &[1.0], Method::TRAPEZOIDAL, 4, 1.0);
    problem.integral("root", 0.5, |m| m.q()[0].sqrt());
    let told = tried(&problem);
    assert!(told.starts_with("gradient of goal `root` at 0.0000 s, by body 0 at 0.0000 s"), "{told}");
}
