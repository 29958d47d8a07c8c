//! Exponents of scenes and where their motions lose stability: the document's values, pairs where nothing is lost, Hopf and Neimark–Sacker points in closed form.

use super::*;
use std::f64::consts::TAU;
use tempfile::tempdir;

/// A table of numbers with a header.
fn table(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// The exponents of a scene with their standard errors, and the dimension with its own.
fn exponents(scene: &str, more: &[&str]) -> (Vec<[f64; 2]>, [f64; 2]) {
    let folder = tempdir().unwrap();
    let arguments = [&["study", "lyapunov", scene][..], more, &["--out", "found"]].concat();
    let out = dalembert(folder.path(), &arguments).with(0).out;
    let rows = table(&folder.path().join("found/exponents.csv")).iter().map(|row| [row[0], row[1]]).collect();
    let words = out.split("Kaplan and Yorke:").nth(1).unwrap_or_default();
    let mut numbers = words.split_whitespace().filter_map(|word| word.parse().ok());
    (rows, [0, 1].map(|_| numbers.next().unwrap_or(f64::NAN)))
}

/// Set b: 0.17, 0, −0.37 and D = 2.46, printed to two digits: half of the last one, and what the error bars (three of them) leave open. The divergence is −0.2 whatever the motion.
#[test]
fn the_chaotic_duffing_scene_has_the_exponents_of_the_document() {
    let more = ["--batch", "1000", "--batches", "60", "--interval", "2", "--tolerance", "1e-7"];
    let (found, [dimension, error]) = exponents("duffing-b", &more);
    for ([value, error], known) in found.iter().zip([0.17, 0.0, -0.37]) {
        assert!(*error < 0.003 && (value - known).abs() < 0.005 + 3.0 * error, "{found:?}");
    }
    assert!((found.iter().map(|row| row[0]).sum::<f64>() + 0.2).abs() < 1e-5, "{found:?}");
    assert!(error < 0.01 && (dimension - 2.46).abs() < 0.005 + 3.0 * error, "{dimension} {error}");
}

/// The same by eight motions side by side, long enough for D = 2.46 within 0.003, as the document has it.
#[test]
fn several_motions_of_the_chaotic_duffing_scene_give_its_dimension() {
    let more = ["--motions", "8", "--batch", "500", "--batches", "100", "--interval", "4", "--tolerance", "1e-6"];
    let (found, [dimension, error]) = exponents("duffing-b", &more);
    for ([value, error], known) in found.iter().zip([0.17, 0.0, -0.37]) {
        assert!(*error < 0.001 && (value - known).abs() < 0.005, "{found:?}");
    }
    assert!((found.iter().map(|row| row[0]).sum::<f64>() + 0.2).abs() < 1e-4, "{found:?}");
    // Printed to two digits.
    assert!(error < 0.003 && (dimension - 2.46).abs() < 0.005, "{dimension} {error}");
    let folder = tempdir().unwrap();
    let refused = dalembert(folder.path(), &["study", "lyapunov", "impact-oscillator", "--motions", "4"]).with(2).err;
    assert!(refused.contains("need a scene without contacts"), "{refused}");
}

/// Set a: 0, −0.10, −0.10 and D = 1. The two that are not the phase's turn about each other: each batch knows them to 1/250 of a bounded angle's logarithm.
#[test]
fn the_periodic_duffing_scene_has_the_exponents_of_the_document() {
    let more = ["--transient", "200", "--batch", "250", "--batches", "8", "--interval", "2", "--tolerance", "1e-8"];
    let (found, [dimension, _]) = exponents("duffing-a", &more);
    for ([value, error], known) in found.iter().zip([0.0, -0.1, -0.1]) {
        assert!((value - known).abs() < 0.003 && *error < 0.003, "{found:?}");
    }
    assert!((dimension - 1.0).abs() < 0.003, "{dimension}");
}

/// Two rods that swing high: nothing is lost, so that exponents come in pairs ±σ. After a time T the frame of changes is still off by a bounded factor, which is ln(100)/T here.
#[test]
fn exponents_of_a_scene_that_loses_nothing_come_in_pairs() {
    let folder = tempdir().unwrap();
    let scene = COLUMN
        .replace("force = 1", "force = 0")
        .replace("damping = 0.1", "damping = 0")
        .replace("stiffness = 1", "stiffness = 0");
    let scene = scene
        .replace("gravity = [0, 0, 0]", "gravity = [0, 0, 9.81]")
        .replace("coordinates = [0]", "coordinates = [2]");
    std::fs::write(folder.path().join("rods.toml"), scene).unwrap();
    let path = folder.path().join("rods.toml");
    let time = 400.0;
    let more = ["--transient", "20", "--batch", "50", "--batches", "8", "--interval", "0.5", "--tolerance", "1e-9"];
    let (found, _) = exponents(path.to_str().unwrap(), &more);
    assert_eq!(found.len(), 4);
    let off = 100f64.ln() / time;
    assert!(found[0][0] > 0.3, "the motion is chaotic: {found:?}");
    assert!((found[0][0] + found[3][0]).abs() < off && (found[1][0] + found[2][0]).abs() < off, "{found:?}");
}

/// Ziegler's column: two rods of 1 m with 2 kg and 1 kg at their ends, springs and dampers at both joints, and a force at the tip that follows the second rod.
const COLUMN: &str = r#"
[scene]
title = "Ziegler's column"
[parameters]
force = 1
damping = 0.1
stiffness = 1
[world]
gravity = [0, 0, 0]
[body.column]
kind = "tree"
[[body.column.links]]
name = "lower"
joint = { kind = "revolute", axis = [0, 1, 0] }
coordinates = [0]
mass = 2
centre = [0, 0, 1]
[[body.column.links]]
name = "upper"
parent = "lower"
position = [0, 0, 1]
joint = { kind = "revolute", axis = [0, 1, 0] }
coordinates = [0]
mass = 1
centre = [0, 0, 1]
[marker.lower]
body = "column"
link = "lower"
[marker.upper]
body = "column"
link = "upper"
[marker.tip]
body = "column"
link = "upper"
at = [0, 0, 1]
[force.first]
kind = "rotational_spring"
between = ["ground", "lower"]
axis = [0, 1, 0]
stiffness = "= stiffness"
damping = "= damping"
[force.second]
kind = "rotational_spring"
between = ["lower", "upper"]
axis = [0, 1, 0]
stiffness = "= stiffness"
damping = "= damping"
[force.follower]
kind = "applied_force"
at = "tip"
force = [0, 0, "= -force"]
axes = "marker"
[run]
until = 10
"#;

/// What is driven beside it.
const SLIDER: &str = r#"
[body.slider]
kind = "tree"
[[body.slider.links]]
name = "slider"
joint = { kind = "prismatic", axis = [1, 0, 0] }
mass = 1
[marker.block]
body = "slider"
link = "slider"
[marker.wall]
at = [-3, 0, 0]
[force.held]
kind = "spring"
between = ["wall", "block"]
stiffness = 5
damping = 0.4
rest_length = 3
[signal.push]
kind = "harmonic"
amplitude = 0.1
angular_frequency = 2
[force.push]
kind = "applied_force"
at = "block"
force = ["push", 0, 0]
"#;

/// The force at which the column begins to flutter: a₂ = a₄a₁/a₃ + a₀a₃/a₁ (Routh) with a₄ = m₁m₂, a₃ = c (m₁ + 5m₂), a₁ = 2kc, a₀ = k² and
/// a₂ = (m₁ + 5m₂) k − 2m₂P + c², for rods of length one.
fn flutter() -> f64 {
    let (m1, m2, k, c) = (2.0, 1.0, 1.0, 0.1);
    let (a4, a3, a1, a0) = (m1 * m2, c * (m1 + 5.0 * m2), 2.0 * k * c, k * k);
    ((m1 + 5.0 * m2) * k + c * c - a4 * a1 / a3 - a0 * a3 / a1) / (2.0 * m2)
}

/// The values at which something special happens.
fn special(out: &str, what: &str) -> Vec<f64> {
    let rows = out.lines().filter(|line| line.split_whitespace().next() == Some(what));
    rows.filter_map(|line| line.split_whitespace().nth(1)?.parse().ok()).collect()
}

/// A Hopf point of an equilibrium, and the same force for the cycle that a driven slider beside the column makes of it: there a pair of multipliers leaves the unit circle.
#[test]
fn a_column_begins_to_flutter_where_routh_says() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("column.toml"), COLUMN).unwrap();
    std::fs::write(folder.path().join("driven.toml"), format!("{COLUMN}{SLIDER}")).unwrap();
    let range = ["--parameter", "parameters.force", "--from", "1", "--to", "1.8", "--step", "0.1"];
    let out = dalembert(folder.path(), &[&["study", "continuation", "column.toml"][..], &range].concat()).with(0).out;
    let (found, known) = (special(&out, "Hopf"), flutter());
    // Points of a curve are located to 1e-8 of its values.
    assert!(found.len() == 1 && (found[0] - known).abs() < 1e-6, "{out} {known}");
    let period = format!("{:?}", TAU / 2.0);
    let arguments = [&["study", "continuation", "driven.toml", "--period", &period][..], &range].concat();
    let out = dalembert(folder.path(), &arguments).with(0).out;
    let found = special(&out, "NeimarkSacker");
    assert!(found.len() == 1 && (found[0] - known).abs() < 1e-6, "{out} {known}");
    assert!(special(&out, "PeriodDoubling").is_empty() && special(&out, "Fold").is_empty(), "{out}");
}
