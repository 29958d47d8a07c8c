//! Tables of studies against closed forms: static parameters, periodicity, coefficients as controls, constraints left out of phases, units, remarks.

use dalembert_control::refine::{errors, largest, solve_refined};
use dalembert_control::study::{Source, Study, built_in, record};
use dalembert_control::{Options, Solution, solve};
use dalembert_optimise::Control as Go;
use std::f64::consts::PI;

/// A mass on a line and a spring to a wall one metre behind it.
const SCENE: &str = r#"
[marker.wall]
at = [-1, 0, 0]
[body.cart]
kind = "tree"
[[body.cart.links]]
name = "mass"
joint = { kind = "prismatic", axis = [1, 0, 0] }
mass = 1.5
[marker.hook]
body = "cart"
link = "mass"
[force.spring]
kind = "spring"
between = ["wall", "hook"]
stiffness = 6
rest_length = 1
[run]
until = 1
"#;

fn study(text: &str) -> Study {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scene.toml"), SCENE).unwrap();
    Study::from_text("study.toml", text, &Source::Disk(folder.path())).unwrap_or_else(|e| panic!("{e}"))
}

fn solved(study: &Study) -> Solution {
    let problem = study.problem().unwrap_or_else(|e| panic!("{e}"));
    let options = Options { evaluations: 1, ..Options::default() };
    let solution = solve(&problem, &options, study.solver(), &mut |_| Go::Continue).unwrap();
    assert!(solution.is_success(), "{}", solution.report);
    solution
}

/// The unit of a control in the record.
fn unit(study: &Study, solution: &Solution, name: &str) -> String {
    let problem = study.problem().unwrap();
    let outcome = record(study, &problem, solution, "study", 2).unwrap();
    let channel = outcome.trajectory.channels().iter().find(|c| c.name == format!("control.{name}")).cloned();
    channel.unwrap().unit
}

/// The spring that needs no effort swings the mass to the other side by itself: k = m (π/T)².
#[test]
fn a_static_coefficient_is_chosen() {
    let study = study(
        r#"
[optimise]
scene = "scene.toml"
method = "lobatto-4"
intervals = 10
[[control]]
name = "push"
on = "body.cart.mass"
[[static]]
name = "stiffness"
on = "force.spring.stiffness"
between = [0.1, 20]
guess = 2
[[phase]]
duration = 2.0
start = { configuration = [0.5], velocity = "rest" }
end = { configuration = [-0.5], velocity = "rest" }
[[goal]]
name = "effort"
integral = "push^2 + 0*stiffness"
"#,
    );
    let solution = solved(&study);
    let exact = 1.5 * (PI / 2.0).powi(2);
    // The error of order 6 in the frequency, (h ω)⁶ / 1e4 with h ω = 0.31, is 1e-7; the objective is flat there.
    assert!((solution.statics[0] / exact - 1.0).abs() < 1e-5, "{} {exact}", solution.statics[0]);
    assert_eq!(unit(&study, &solution, "push"), "N");
}

/// Least ∫ (q − cos t)² + u² of a motion that repeats: q = A cos t, u = (k − m) A cos t, A = 1/(1 + (k − m)²); with a shift it goes on by that.
#[test]
fn periodic_motions_repeat() {
    let study = study(
        r#"
[optimise]
scene = "scene.toml"
method = "hermite_simpson"
intervals = 20
[[control]]
name = "push"
on = "body.cart.mass"
[[phase]]
duration = 6.283185307179586
[[periodic]]
of = "body.cart.mass"
[[periodic]]
of = "body.cart.mass.rate"
[[goal]]
name = "error"
integral = "(body.cart.mass - 0.5*cos(time))^2 + push^2"
"#,
    );
    let solution = solved(&study);
    let k = 6.0 - 1.5;
    let amplitude = 0.5 / (1.0 + k * k);
    let value = PI * ((amplitude - 0.5f64).powi(2) + (k * amplitude).powi(2));
    // Order 4 with h = 0.31: h⁴/180 is 5e-5 of the value.
    assert!((solution.goals[0].1 / value - 1.0).abs() < 5e-5, "{} {value}", solution.goals[0].1);
    let (first, last) = (&solution.instants[0], solution.instants.last().unwrap());
    assert!((first.q[0] - last.q[0]).abs() < 1e-8 && (first.v[0] - last.v[0]).abs() < 1e-8, "{first:?} {last:?}");
}

/// The free length of the spring as a control: a force k (r − 1 − x) on the mass, so that ∫ (r − 1)² dt is the least effort of an oscillator over k², here from its Gramian.
#[test]
fn a_coefficient_is_a_control() {
    let study = study(
        r#"
[optimise]
scene = "scene.toml"
method = "lobatto-4"
intervals = 12
[[control]]
name = "length"
on = "force.spring.rest_length"
between = [0.2, 3]
guess = 1
[[phase]]
duration = 1.0
start = { configuration = [0.4], velocity = "rest" }
end = { configuration = [0.0], velocity = "rest" }
[[goal]]
name = "effort"
integral = "(length - 1)^2"
"#,
    );
    let solution = solved(&study);
    // With τ = ω t, ω = √(k/m): x'' + x = r − 1; effort ∫ u² dt = ω⁻¹ zᵀ W(τ)⁻¹ z for z = 0.4 (cos τ, −sin τ).
    let w = (6.0f64 / 1.5).sqrt();
    let t = w * 1.0;
    let z = [0.4 * t.cos(), -0.4 * t.sin()];
    let g = [0.5 * t - 0.25 * (2.0 * t).sin(), 0.5 * t.sin().powi(2), 0.5 * t + 0.25 * (2.0 * t).sin()];
    let exact = (g[2] * z[0] * z[0] - 2.0 * g[1] * z[0] * z[1] + g[0] * z[1] * z[1]) / (g[0] * g[2] - g[1] * g[1]) / w;
    // Order 6 with h ω = 0.17: (h ω)⁶ is 2e-5, with a small factor, and the solver's tolerance.
    assert!((solution.goals[0].1 / exact - 1.0).abs() < 1e-6, "{} {exact}", solution.goals[0].1);
    assert_eq!(unit(&study, &solution, "length"), "m");
}

/// A jumper flies as a parabola while its foot is let go, loses the momentum of the foot when it lands, and is never pulled by the ground.
#[test]
fn a_constraint_is_left_out_of_a_phase() {
    let text = built_in::find("jump").unwrap().text;
    let study = Study::from_text("jump.toml", text, &Source::BuiltIn).unwrap_or_else(|e| panic!("{e}"));
    let solution = solved(&study);
    let (push, flight, landing) = (solution.phase(0), solution.phase(1), solution.phase(2));
    for i in push.iter().chain(landing) {
        assert!(i.q[0].abs() < 1e-9 && i.multipliers.len() == 1, "{i:?}");
    }
    assert!(flight.iter().all(|i| i.multipliers.is_empty()) && flight[7].q[0] > 0.01);
    // Foot 1 kg, trunk 4 kg above it: the centre of mass.
    let centre = |x: &[f64]| x[0] + 0.8 * x[1];
    let (first, last, t) = (&flight[0], flight.last().unwrap(), solution.durations[1]);
    let fallen = centre(&first.q) + centre(&first.v) * t - 0.5 * 9.81 * t * t;
    // Exact for parabolas; the solver's tolerance remains.
    assert!(t >= 0.4 - 1e-7 && (centre(&last.q) - fallen).abs() < 1e-7, "{} {fallen}", centre(&last.q));
    // The trunk goes on: its velocity is that of the foot and that along the leg.
    let trunk = |v: &[f64]| v[0] + v[1];
    assert!(landing[0].v[0].abs() < 1e-8 && (trunk(&landing[0].v) - trunk(&last.v)).abs() < 1e-7);
    let problem = study.problem().unwrap();
    let outcome = record(&study, &problem, &solution, "jump", 1).unwrap();
    let column = outcome.trajectory.column("constraint.stand.force.z").unwrap();
    assert!(column.iter().all(|f| *f > -1e-5) && column.iter().any(|f| *f > 5.0 * 9.81), "{column:?}");
    assert_eq!(unit(&study, &solution, "leg"), "N");
}

/// Constraints of a closed chain hold to 1e-10 from the study file on, and the hand arrives.
#[test]
fn five_bars_carry_their_hand() {
    let text = built_in::find("five-bar").unwrap().text;
    let study = Study::from_text("five-bar.toml", text, &Source::BuiltIn).unwrap_or_else(|e| panic!("{e}"));
    let solution = solved(&study);
    let problem = study.problem().unwrap();
    let outcome = record(&study, &problem, &solution, "five-bar", 1).unwrap();
    let of = |name: &str| outcome.trajectory.column(name).unwrap_or_else(|| panic!("{name}")).to_vec();
    for axis in ["x", "y", "z"] {
        let (left, right) =
            (of(&format!("marker.left_hand.position.{axis}")), of(&format!("marker.right_hand.position.{axis}")));
        assert!(left.iter().zip(&right).all(|(l, r)| (l - r).abs() < 1e-10), "{axis}: {left:?} {right:?}");
    }
    let end = of("marker.left_hand.position.x").pop().unwrap();
    assert!((end - 0.15).abs() < 1e-9, "{end}");
    assert_eq!(unit(&study, &solution, "left_shoulder"), "N m");
    // The local error is that of a method of order 2 whose velocities are means, h² of an acceleration of some 10 rad/s² and below; twice as many intervals, a quarter of it.
    let coarse = largest(&errors(&problem, &solution).unwrap()).unwrap();
    let fine = {
        let text = text.replace("intervals = 20", "intervals = 40");
        let study = Study::from_text("five-bar.toml", &text, &Source::BuiltIn).unwrap();
        let solution = solved(&study);
        largest(&errors(&study.problem().unwrap(), &solution).unwrap()).unwrap()
    };
    assert!(coarse > 1e-6 && coarse < 0.03f64.powi(2) * 10.0, "{coarse:e}");
    assert!((coarse / fine).log2() > 1.5, "{coarse:e} {fine:e}");
    let wrong = text.replace("null-space", "nullspace");
    let study = Study::from_text("five-bar.toml", &wrong, &Source::BuiltIn).unwrap();
    let error = study.problem().err().unwrap().to_string();
    assert!(error.starts_with("five-bar.toml:6:8") && error.contains("multipliers or null-space"), "{error}");
}

/// Four turns of a pole in five intervals: some turn by more than half a turn, which a remark tells; a finer grid has none.
#[test]
fn turns_too_fast_for_the_grid_are_told() {
    let text = built_in::find("swing-up").unwrap().text.replace("3.141592653589793", "25.132741228718345");
    for (method, n, told) in [("midpoint", 5, true), ("dmocc", 5, true), ("midpoint", 30, false)] {
        let text = text.replace("hermite_simpson", method).replace("intervals = 40", &format!("intervals = {n}"));
        let text = text.replace("between = [-20, 20]", "").replace("between = [-2, 2]", "between = [-20, 20]");
        let study = Study::from_text("study.toml", &text, &Source::BuiltIn).unwrap_or_else(|e| panic!("{e}"));
        let solution = solved(&study);
        let remarks = study.remarks(&solution);
        assert_eq!(!remarks.is_empty(), told, "{method} {n}: {remarks:?}");
        assert!(remarks.iter().all(|r| r.contains("`body.cart_pole.pole`") && r.contains(" s to ")), "{remarks:?}");
    }
}

/// A finer grid begins where the coarse one ended: fewer iterations than with the barrier of a first solve.
#[test]
fn finer_grids_start_warm() {
    let text = built_in::find("swing-up").unwrap().text.replace("intervals = 40", "intervals = 12");
    let study = Study::from_text("study.toml", &text, &Source::BuiltIn).unwrap();
    let mut problem = study.problem().unwrap();
    let options = Options { evaluations: 1, ..Options::default() };
    let mut rounds: Vec<usize> = Vec::new();
    let mut watch = |p: &dalembert_optimise::Progress| {
        if p.iteration == 0 {
            rounds.push(0);
        }
        *rounds.last_mut().unwrap() = p.iteration;
        Go::Continue
    };
    solve_refined(&mut problem, &options, study.solver(), 1e-4, 3, &mut watch).unwrap();
    // The last round again, from the same guess but as a first solve is made.
    let cold = solve(&problem, &options, study.solver(), &mut |_| Go::Continue).unwrap().report.iterations;
    assert!(rounds.len() > 1 && rounds[rounds.len() - 1] < cold, "{rounds:?} {cold}");
}
