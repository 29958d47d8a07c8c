//! Curves of equilibria and cycles of scenes with constraints, sections and two-point problems, against closed forms and against the same scene in
//! other coordinates.

use super::*;
use dalembert_analysis::continuation::{self, Kind, Options, Special};
use dalembert_analysis::field::{Field, Settings};
use dalembert_analysis::map::{Period, fixed_point};
use dalembert_methods::Real;
use std::f64::consts::PI;
use tempfile::tempdir;

/// A rod of 1 m with 1 kg at its end, upright, held by a spring from above; pushed and braked if wanted.
const UPRIGHT: &str = r#"
[scene]
title = "Upright pendulum"
[parameters]
angle = 0.0
side = 0.0
stiffness = 12.0
damping = 0.0
force = 0.0
pull = -9.81
[world]
gravity = [0, 0, "= pull"]
[marker.above]
at = ["= side", 0, 2]
[force.spring]
kind = "spring"
between = ["above", "tip"]
stiffness = "= stiffness"
rest_length = 0.5
[force.drag]
kind = "drag"
at = "tip"
linear = "= damping"
[signal.push]
kind = "harmonic"
amplitude = "= force"
angular_frequency = 2
[force.push]
kind = "applied_force"
at = "tip"
force = ["push", 0, 0]
[run]
until = 10
"#;

/// The rod in an angle, without constraints.
const ANGLE: &str = r#"
[body.bob]
kind = "tree"
[[body.bob.links]]
name = "rod"
joint = { kind = "revolute", axis = [0, 1, 0] }
coordinates = ["= angle"]
mass = 1
centre = [0, 0, 1]
inertia = [1e-3, 1e-3, 1e-3]
[marker.tip]
body = "bob"
link = "rod"
at = [0, 0, 1]
"#;

/// A rigid body on a hinge: seven coordinates, six velocities, five rows.
const RIGID: &str = r#"
[body.bob]
kind = "rigid"
mass = 1
inertia = [1e-3, 1e-3, 1e-3]
position = ["= sin(angle)", 0, "= cos(angle)"]
orientation = { axis = [0, 1, 0], angle = "= angle" }
markers.hinge.at = [0, 0, -1]
[marker.tip]
body = "bob"
[joint.hinge]
kind = "revolute"
between = ["ground", "bob.hinge"]
axis = [0, 1, 0]
"#;

/// A particle in Cartesian coordinates on a rod, in a plane; one row twice, so that rows are redundant.
const POINT: &str = r#"
[body.bob]
kind = "particle"
mass = 1
position = ["= sin(angle)", 0, "= cos(angle)"]
[marker.tip]
body = "bob"
[marker.plane]
at = [0, 0, 0]
[constraint.rod]
kind = "distance"
between = ["plane", "tip"]
length = 1
[constraint.plane]
kind = "point_on_plane"
between = ["plane", "tip"]
normal = [0, 1, 0]
[constraint.again]
kind = "point_on_plane"
between = ["plane", "tip"]
normal = [0, 2, 0]
"#;

fn write(folder: &Path) {
    for (name, body) in [("angle", ANGLE), ("rigid", RIGID), ("point", POINT)] {
        std::fs::write(folder.join(format!("{name}.toml")), format!("{UPRIGHT}{body}")).unwrap();
    }
}

/// The values at which something special happens.
fn special(out: &str, what: &str) -> Vec<f64> {
    let rows = out.lines().filter(|line| line.split_whitespace().next() == Some(what));
    rows.filter_map(|line| line.split_whitespace().nth(1)?.parse().ok()).collect()
}

fn follow(folder: &Path, scene: &str, more: &[&str]) -> String {
    let file = format!("{scene}.toml");
    dalembert(folder, &[&["study", "continuation", &file][..], more].concat()).with(0).out
}

/// The upright rod is stable while k (d − r) l h/d > m g l, with h = 2 m, d = h − l = 1 m, r = 0.5 m: a pitchfork at k = g d/(h (d − r)) = 9.81 N/m, in angles, in Cartesian
/// coordinates and as a rigid body. Nothing is lost, so no Hopf point is told of.
#[test]
fn a_pitchfork_is_the_same_in_all_coordinates() {
    let folder = tempdir().unwrap();
    write(folder.path());
    let range = ["--parameter", "parameters.stiffness", "--from", "12", "--to", "8", "--step", "0.3"];
    for scene in ["angle", "point", "rigid"] {
        let out = follow(folder.path(), scene, &range);
        let found = special(&out, "Branch");
        // Eigenvalues are square roots of the distance, and derivatives by the value differences: 1e-6 of the value.
        assert!(found.len() == 1 && (found[0] - 9.81).abs() < 1e-5, "{scene}: {out}");
        assert!(special(&out, "Hopf").is_empty() && special(&out, "Fold").is_empty(), "{scene}: {out}");
        assert!(out.contains("the value left its range"), "{scene}: {out}");
    }
}

/// The extreme of a function of one hump in an interval, by golden sections.
fn highest(of: impl Fn(f64) -> f64, [mut low, mut high]: [f64; 2]) -> f64 {
    let part = 0.5 * (5f64.sqrt() - 1.0);
    while high - low > 1e-9 {
        let (a, b) = (high - part * (high - low), low + part * (high - low));
        if of(a) > of(b) { high = b } else { low = a }
    }
    of(0.5 * (low + high))
}

/// With the spring hung 0.05 m aside the rod that leans the other way jumps at a fold: of all k(θ) that balance, k (d − r) d′ = g sin θ with
/// d² = (sin θ − 0.05)² + (cos θ − 2)², the largest one with θ < 0.
#[test]
fn a_fold_is_the_same_in_all_coordinates() {
    let folder = tempdir().unwrap();
    write(folder.path());
    let range = ["--parameter", "parameters.stiffness", "--from", "7", "--to", "14", "--step", "0.1", "--points", "60"];
    let aside = ["--set", "parameters.side=0.05", "--set", "parameters.angle=-0.9", "--set", "parameters.damping=0.2"];
    let stiffness = |t: f64| {
        let (x, z) = (t.sin() - 0.05, t.cos() - 2.0);
        let d = x.hypot(z);
        9.81 * t.sin() / ((d - 0.5) * (x * t.cos() - z * t.sin()) / d)
    };
    let expected = highest(stiffness, [-0.8, -0.05]);
    for scene in ["angle", "point", "rigid"] {
        let out = follow(folder.path(), scene, &[&range[..], &aside].concat());
        let found = special(&out, "Fold");
        // The top of k(θ) is flat: Newton's 1e-9 in rates is as much in k.
        assert!(found.len() == 1 && (found[0] - expected).abs() < 1e-7, "{scene} {expected}: {out}");
        assert!(out.contains("unstable"), "{scene}: {out}");
    }
}

/// ( m l² + J ) θ̈ = −g sin θ − c θ̇ + F sin(2t) cos θ.
struct Swing {
    inertia: f64,
}

impl Field<2> for Swing {
    fn rate<R: Real>(&self, t: R, z: &[R; 2], p: &[R]) -> [R; 2] {
        let (sin, cos) = z[0].sin_cos();
        [z[1], (p[0] * (t * 2.0).sin() * cos - sin * 5.3 - z[1] * 0.2) * (1.0 / (1.0 + self.inertia))]
    }
}

/// A pendulum driven below its frequency softens and jumps at a fold of its cycle: in an angle, in Cartesian coordinates and as a rigid body on a hinge at the force
/// at which the equation of its angle has it.
#[test]
fn a_cycle_with_constraints_folds_as_its_equation_does() {
    let folder = tempdir().unwrap();
    write(folder.path());
    let set = ["--set", "parameters.stiffness=0", "--set", "parameters.pull=5.3", "--set", "parameters.damping=0.2"];
    let range = ["--parameter", "parameters.force", "--from", "0.3", "--to", "1.2", "--step", "0.05", "--points", "14"];
    let rest = ["--period", "pi", "--settle", "12", "--tolerance", "1e-10"];
    let expected = |inertia: f64| {
        let settings = Settings::within(1e-11);
        let map = Period { field: Swing { inertia }, period: PI, parameters: vec![0.0], free: 0, settings };
        let start = fixed_point(&map, &[0.0, 0.0], 0.3, 1e-9).unwrap();
        let options = Options { step: 0.05, steps: [1e-6, 0.5], range: [0.3, 1.2], points: 40, tolerance: 1e-9 };
        let branch = continuation::follow(&map, Kind::Cycles, &start.state, 0.3, &options).unwrap();
        branch.special.iter().find(|(what, _)| *what == Special::Fold).unwrap().1.parameter
    };
    for (scene, inertia) in [("angle", 1e-3), ("rigid", 1e-3), ("point", 0.0)] {
        let out = follow(folder.path(), scene, &[&range[..], &set, &rest].concat());
        let (found, expected) = (special(&out, "Fold"), expected(inertia));
        assert!(!found.is_empty() && (found[0] - expected).abs() < 1e-6, "{scene} {expected}: {out}");
    }
}

/// Without force and damping the impact oscillator keeps its energy but for ε² at each impact: at its rest position it comes back with
/// v′² = ε² (v² − d²) + d². Its section through that position, and a diagram of such sections, have these speeds.
#[test]
fn sections_of_a_coordinate_pass_impacts() {
    let folder = tempdir().unwrap();
    let set = ["--set", "parameters.damping=0", "--set", "signal.drive.amplitude=0"];
    let set = [&set[..], &["--set", "body.slider.links[0].coordinates=[-2]"]].concat();
    let section = ["--coordinate", "mass", "--section", "mass=0", "--settle", "1", "--points", "4"];
    let arguments = [&["study", "poincare", "impact-oscillator"][..], &section, &set, &["--out", "section"]].concat();
    dalembert(folder.path(), &arguments).with(0);
    let speeds = |restitution: f64| {
        let mut square = 4.0;
        let mut next = || {
            square = restitution * restitution * (square - 0.09) + 0.09;
            f64::sqrt(square)
        };
        [next(), next(), next(), next()]
    };
    let rows = |file: &str| -> Vec<Vec<f64>> {
        let text = read(folder.path().join(file));
        text.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect()
    };
    let points = rows("section/section.csv");
    assert_eq!(points.len(), 4);
    for (point, speed) in points.iter().zip(speeds(0.7)) {
        // Positions are told from that of the start; the tolerance is 1e-9 in each step.
        assert!((point[0] - 2.0).abs() < 1e-8 && (point[1] - speed).abs() < 1e-7, "{point:?} {speed}");
    }
    let range = ["--parameter", "parameters.restitution", "--from", "0.5", "--to", "0.9", "--count", "3"];
    let arguments = [&["study", "bifurcation", "impact-oscillator"][..], &range, &section, &set, &["--out", "all"]];
    let out = dalembert(folder.path(), &arguments.concat()).with(0).out;
    assert!(out.contains("3 values, 4 points each, after 1 passages"), "{out}");
    let points = rows("all/diagram.csv");
    assert_eq!(points.len(), 12);
    for four in points.chunks(4) {
        for (point, speed) in four.iter().zip(speeds(four[0][0])) {
            assert!((point[2] - speed).abs() < 1e-7, "{point:?} {speed}");
        }
    }
    // Where a velocity passes zero from below the mass is at its left end, −v; that it jumps at the wall does not count.
    let rate = ["--coordinate", "mass", "--section-rate", "mass=0", "--settle", "0", "--points", "3", "--out", "rate"];
    dalembert(folder.path(), &[&["study", "poincare", "impact-oscillator"][..], &rate, &set].concat()).with(0);
    for (point, speed) in rows("rate/section.csv").iter().zip(speeds(0.7)) {
        assert!((point[0] - 2.0 + speed).abs() < 1e-7, "{point:?} {speed}");
    }
}

/// The table of a shot: start, its rate, end, its rate of each coordinate.
fn shot(folder: &Path, arguments: &[&str]) -> (String, Vec<Vec<f64>>) {
    let out = dalembert(folder, &[&["study", "shoot"][..], arguments, &["--out", "shot"]].concat()).with(0).out;
    let text = read(folder.join("shot/shot.csv"));
    (out, text.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect())
}

/// Conditions on start and end: a free rod turns evenly from one angle to another, in an angle and in Cartesian coordinates; a mass goes to the wall and back in the time
/// asin(d/v) + asin(d/v′).
#[test]
fn shots_meet_their_conditions() {
    let folder = tempdir().unwrap();
    write(folder.path());
    let free = ["--set", "parameters.stiffness=0", "--set", "parameters.pull=0", "--time", "2"];
    let rate = (PI / 6.0 - 0.2) / 2.0;
    let conditions = ["--start", "rod=0.2", "--end", "sin(rod)=0.5"];
    let (out, rows) = shot(folder.path(), &[&["angle.toml"][..], &free, &conditions].concat());
    assert!(out.contains("2 conditions are met in 2 directions"), "{out}");
    assert!((rows[0][0] - 0.2).abs() < 1e-9 && (rows[0][1] - rate).abs() < 1e-9, "{rows:?}");
    let near = ["--set", "parameters.angle=0.1", "--start", "x=sin(0.2)", "--end", "x=0.5"];
    let (_, rows) = shot(folder.path(), &[&["point.toml"][..], &free, &near].concat());
    assert!((rows[0][1] - rate * 0.2f64.cos()).abs() < 1e-9, "{rows:?}");
    // Through an impact, with speed 1 at the rest position.
    let back = (0.49 * (1.0 - 0.09) + 0.09f64).sqrt();
    let time = format!("{:?}", 0.3f64.asin() + (0.3 / back).asin());
    let set = ["--set", "parameters.damping=0", "--set", "signal.drive.amplitude=0", "--time", &time];
    let set = [&set[..], &["--set", "body.slider.links[0].velocities=[1.2]", "--start", "mass"]].concat();
    let (_, rows) = shot(folder.path(), &[&["impact-oscillator"][..], &set, &["--end", "mass"]].concat());
    assert!((rows[0][1] - 1.0).abs() < 1e-8 && (rows[0][3] + back).abs() < 1e-8, "{rows:?}");
    // Too few conditions are counted, and what is not a name is told.
    let few = [&["study", "shoot", "angle.toml"][..], &free, &["--end", "rod=1"]].concat();
    let error = dalembert(folder.path(), &few).with(2).err;
    assert!(error.contains("there are 1 conditions for 2 directions"), "{error}");
    let wrong = [&["study", "shoot", "angle.toml"][..], &free, &["--end", "pole=1"]].concat();
    let error = dalembert(folder.path(), &wrong).with(2).err;
    assert!(error.contains("`pole=1`") && error.contains("names none of the velocities"), "{error}");
}

/// The gait of the simplest walker by conditions on its end, as in the two-point problem of its limit cycle.
#[test]
fn a_gait_is_a_two_point_problem() {
    let folder = tempdir().unwrap();
    let stride = ["--strike", "floor.right_foot", "--exchange", "left=right", "--drift", "along"];
    let same =
        ["--end", "left-left_first", "--end", "left_rate-left_first_rate", "--end", "right_rate-right_first_rate"];
    let start = ["--set", "parameters.half=0.2", "--set", "parameters.stance=0.2"];
    let (_, rows) = shot(folder.path(), &[&["simplest-walker"][..], &stride, &same, &start].concat());
    // Garcia et al.; feet of a millionth of the mass make no more difference.
    assert!((rows[3][0] - 0.200_310_900_544).abs() < 1e-5, "{rows:?}");
}

/// Masses in a row between walls, each on a line; noise on the first. Low rank and the dense equation agree.
#[test]
fn a_large_covariance_is_that_of_the_dense_equation() {
    let folder = tempdir().unwrap();
    let text = r#"
[scene]
title = "Row of masses"
[parameters]
n = 24
[[repeat]]
index = "i"
from = 1
to = "= n"
[repeat.body."mass{i}"]
kind = "particle"
mass = 1
position = ["= i", 0, 0]
[repeat.constraint."line{i}"]
kind = "point_on_line"
between = ["left", "mass{i}"]
axis = [1, 0, 0]
[marker.left]
at = [0, 0, 0]
[marker.right]
at = ["= n + 1", 0, 0]
[force.first]
kind = "spring"
between = ["left", "mass1"]
stiffness = 40
damping = 1.5
rest_length = 0.5
[[repeat]]
index = "i"
from = 2
to = "= n"
[repeat.force."spring{i}"]
kind = "spring"
between = ["mass{i-1}", "mass{i}"]
stiffness = 40
damping = 1.5
rest_length = 0.5
[[repeat]]
index = "i"
from = "= n"
to = "= n"
[repeat.force.last]
kind = "spring"
between = ["mass{i}", "right"]
stiffness = 40
damping = 1.5
rest_length = 0.5
[run]
until = 1
"#;
    std::fs::write(folder.path().join("row.toml"), text).unwrap();
    let noise = ["study", "covariance", "row.toml", "--noise", "mass1, velocity.x=2"];
    dalembert(folder.path(), &[&noise[..], &["--out", "dense"]].concat()).with(0);
    let sparse = ["--sparse", "--residual", "1e-13", "--out", "sparse"];
    let out = dalembert(folder.path(), &[&noise[..], &sparse].concat()).with(0).out;
    assert!(out.contains("48 states") && out.contains("the covariance has rank"), "{out}");
    let dense: Vec<Vec<f64>> = read(folder.path().join("dense/covariance.csv"))
        .lines()
        .map(|line| line.split(',').filter_map(|x| x.parse().ok()).collect())
        .collect();
    let found: Vec<f64> = read(folder.path().join("sparse/deviations.csv"))
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(1)?.parse().ok())
        .collect();
    assert_eq!((dense.len(), found.len()), (48, 24));
    let largest = found.iter().fold(0.0f64, |max, d| max.max(*d));
    for (i, deviation) in found.iter().enumerate() {
        // The residual 1e-13 of the noise divided by the slowest decay, squared deviations being compared.
        let expected = dense[i][i].sqrt();
        assert!((deviation - expected).abs() < 1e-7 * largest, "{i}: {deviation} {expected}");
    }
}
