//! Portraits, sections, bifurcation diagrams, charts and basins of scenes, small ones.

use super::*;
use dalembert_analysis::floquet::{Grid, chart};
use dalembert_analysis::problems::Mathieu;
use std::f64::consts::{PI, TAU};
use tempfile::tempdir;

/// A table of numbers without its header; empty cells are not numbers.
fn table(path: &Path) -> Vec<Vec<f64>> {
    let rows = read(path);
    rows.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().unwrap_or(f64::NAN)).collect()).collect()
}

/// Without drive and damping Duffing's oscillator keeps v²/2 − x²/2 + x⁴/4 along its portrait.
#[test]
fn a_portrait_keeps_the_energy() {
    let folder = tempdir().unwrap();
    let arguments = ["study", "portrait", "duffing-b", "--coordinate", "mass", "--period", "0.1", "--points", "60"];
    let free = ["--settle", "0", "--set", "parameters.force=0", "--set", "parameters.damping=0"];
    let start = ["--set", "body.slider.links[0].coordinates[0]=1.5", "--out", "portrait"];
    dalembert(folder.path(), &[&arguments[..], &free, &start].concat()).with(0);
    let points = table(&folder.path().join("portrait/section.csv"));
    assert_eq!(points.len(), 60);
    let energy = |x: f64, v: f64| 0.5 * v * v - 0.5 * x * x + 0.25 * x.powi(4);
    for point in &points {
        // Positions are told from that of the start; the tolerance is 1e-9 in each step.
        assert!((energy(1.5 + point[0], point[1]) - energy(1.5, 0.0)).abs() < 1e-7, "{point:?}");
    }
    assert!(folder.path().join("portrait/section.svg").exists());
}

/// Points of a section of the chaos pendulum are where its beam passes the given angle from below.
#[test]
fn a_section_is_where_it_should_be() {
    let folder = tempdir().unwrap();
    let arguments = ["study", "poincare", "chaos-pendulum", "--coordinate", "beam", "--section", "beam=0.2"];
    let few = ["--settle", "1", "--points", "4", "--out", "section"];
    dalembert(folder.path(), &[&arguments[..], &few].concat()).with(0);
    let points = table(&folder.path().join("section/section.csv"));
    assert_eq!(points.len(), 4);
    for point in &points {
        assert!((point[0] + PI / 3.0 - 0.2).abs() < 1e-9 && point[1] > 0.0, "{point:?}");
    }
    let error = dalembert(folder.path(), &["study", "poincare", "chaos-pendulum", "--coordinate", "beam"]).with(2).err;
    assert!(error.contains("--section"), "{error}");
}

/// Where the cycle of Duffing's oscillator attracts, all points of a value of the force are one.
#[test]
fn a_diagram_of_cycles_has_single_points() {
    let folder = tempdir().unwrap();
    let period = format!("{TAU:?}");
    let arguments = ["study", "bifurcation", "duffing-a", "--coordinate", "mass", "--period", &period, "--count", "3"];
    let range = ["--parameter", "parameters.force", "--from", "0.9", "--to", "1.1", "--settle", "40", "--points", "3"];
    dalembert(folder.path(), &[&arguments[..], &range, &["--out", "diagram"]].concat()).with(0);
    let points = table(&folder.path().join("diagram/diagram.csv"));
    assert_eq!(points.len(), 9);
    for three in points.chunks(3) {
        // e^{−0.1 · 40 · 2π} = 1e-11 is left of the beginning.
        assert!(three.iter().all(|p| p[0] == three[0][0] && (p[1] - three[0][1]).abs() < 1e-7), "{three:?}");
    }
    assert!((points[0][1] - points[8][1]).abs() > 1e-3, "{points:?}");
    assert!(folder.path().join("diagram/diagram.svg").exists());
}

/// The chart of the pendulum with a moving hinge is that of Mathieu's equation written by hand.
#[test]
fn a_chart_is_that_of_mathieus_equation() {
    let folder = tempdir().unwrap();
    let axes = ["--across", "parameters.a=0.5:2.5", "--up", "parameters.q=0.1:0.7", "--count", "5"];
    let rest = ["--period", "pi*sqrt(a/9.81)", "--set", "parameters.angle=0", "--out", "chart"];
    let arguments = [&["study", "chart", "mathieu"][..], &axes, &rest].concat();
    let out = dalembert(folder.path(), &arguments).with(0).out;
    let found = table(&folder.path().join("chart/chart.csv"));
    assert_eq!(found.len(), 25);
    let grid = Grid::even((0, 0.5, 2.5, 5), (1, 0.1, 0.7, 5));
    let radius = chart(&Mathieu, &[0.0, 0.0], PI, 400, &grid).unwrap();
    let mut stable = 0;
    for (k, row) in found.iter().enumerate() {
        let period = PI * (row[0] / 9.81).sqrt();
        // Rates of growth; on stable places both are rounding about zero: square roots of the errors of the map.
        let expected = radius[(k / 5, k % 5)].ln() / period;
        assert!((row[2] - expected).abs() < 1e-5, "{row:?} {expected}");
        stable += usize::from(expected < 1e-6);
    }
    assert!(out.contains(&format!("{stable} of 25 places stable")), "{out} {stable}");
    assert!(stable > 3 && stable < 22);
    assert!(folder.path().join("chart/chart.svg").exists());
}

/// Two wells without drive: places that mirror each other come to wells that do, and nothing is lost.
#[test]
fn basins_of_two_wells_mirror_each_other() {
    let folder = tempdir().unwrap();
    let axes = ["--over", "mass=-1.9:1.9", "--over-rate", "mass=-1.7:1.7", "--count", "6", "--coordinate", "mass"];
    let rest = ["--set", "parameters.force=0", "--period", "6", "--settle", "12", "--points", "2", "--out", "basin"];
    let arguments = [&["study", "basin", "duffing-b"][..], &axes, &rest].concat();
    dalembert(folder.path(), &arguments).with(0);
    let found = table(&folder.path().join("basin/basin.csv"));
    assert_eq!(found.len(), 36);
    for (k, row) in found.iter().enumerate() {
        let mirrored = &found[35 - k];
        assert!((row[2] + mirrored[2]).abs() < 1e-3 && (row[2].abs() - 1.0).abs() < 0.01, "{row:?} {mirrored:?}");
    }
    assert!(folder.path().join("basin/basin.svg").exists());
}

/// A rimless wheel off its rate by d, not so slow that it falls back, loses the square of it by c² at each stride: the strides until it is back to 1e-3 are counted.
#[test]
fn a_basin_of_a_gait_counts_strides() {
    let folder = tempdir().unwrap();
    let turn = format!("hub={:?}", -0.25 * PI);
    let stride = ["--strike", "floor.spoke7", "--turn", &turn, "--drift", "along"];
    let axes = ["--over", "hub=0:0", "--over-rate", "hub=-0.1:0.3", "--count", "5", "--settle", "40", "--out", "basin"];
    let out =
        dalembert(folder.path(), &[&["study", "basin", "rimless-wheel"][..], &stride, &axes].concat()).with(0).out;
    let kept = ((0.2 + (0.25 * PI).cos()) / 1.2).powi(2);
    let rate = (4.0 * 9.81 * (PI / 8.0).sin() * 0.08f64.sin() / 1.2 * kept / (1.0 - kept)).sqrt();
    let text = read(folder.path().join("basin/basin.csv"));
    assert!(text.starts_with("hub,hub,strides\n"), "{text}");
    for row in table(&folder.path().join("basin/basin.csv")) {
        let square = |k: i32| rate * rate + ((rate + row[1]).powi(2) - rate * rate) * kept.powi(k);
        // The coordinate of the section is the rate of the hub: what moves with it is not counted again.
        let expected = (0..40).find(|&k| (square(k).sqrt() - rate).abs() < 1e-3);
        assert_eq!(Some(row[2]), expected.map(f64::from), "{row:?}");
    }
    assert!(out.contains("strides  places"), "{out}");
}

/// Coordinates of a body that turns in space have no values to be set; its velocities do. Motions that fail are counted, with what they say.
#[test]
fn basins_tell_what_failed() {
    let folder = tempdir().unwrap();
    let rest = ["--count", "2", "--period", "0.1", "--settle", "1", "--points", "1", "--coordinate", "velocity.x"];
    let over = ["study", "basin", "free-body", "--over", "velocity.x=-1:1", "--over-rate", "velocity.x=-1:1"];
    let error = dalembert(folder.path(), &[&over[..], &rest].concat()).with(2).err;
    assert!(error.contains("4 of 4 places failed") && error.contains("angles and lengths"), "{error}");
    let over = ["study", "basin", "free-body", "--over-rate", "velocity.y=-1:1", "--over-rate", "velocity.x=-1:1"];
    dalembert(folder.path(), &[&over[..], &rest, &["--out", "free"]].concat()).with(0);
    for row in table(&folder.path().join("free/basin.csv")) {
        // After one period and another it has gone 0.2 s along its velocity.
        assert!((row[2] - 0.2 * row[1]).abs() < 1e-9, "{row:?}");
    }
    // Behind the wall a motion cannot begin.
    let rest = ["--count", "3", "--period", "3.7", "--settle", "1", "--points", "1", "--coordinate", "mass"];
    let over = ["study", "basin", "impact-oscillator", "--over", "mass=-0.4:0.8", "--over-rate", "mass=0:0.1"];
    let out = dalembert(folder.path(), &[&over[..], &rest, &["--out", "wall"]].concat()).with(0).out;
    assert!(out.contains("3 of 9 places failed") && out.contains("contact.wall"), "{out}");
    let rows = table(&folder.path().join("wall/basin.csv"));
    assert!(rows.iter().all(|row| row[2].is_nan() == (row[0] > 0.3)), "{rows:?}");
}

/// One value, or one place, that fails leaves the others as they are.
#[test]
fn maps_leave_out_what_fails() {
    let folder = tempdir().unwrap();
    let range = ["--parameter", "parameters.wall", "--from", "0.4", "--to", "0.6", "--count", "3"];
    let section = ["--coordinate", "mass", "--section", "mass=0.45", "--points", "5", "--settle", "20"];
    let all = [&["study", "bifurcation", "impact-oscillator"][..], &range, &section, &["--out", "diagram"]].concat();
    let out = dalembert(folder.path(), &all).with(0).out;
    // The wall at 0.4 m is before the section.
    assert!(out.contains("1 of 3 values failed:") && out.contains("2 values, 5 points each"), "{out}");
    let rows = table(&folder.path().join("diagram/diagram.csv"));
    assert!(rows.len() == 10 && rows.iter().all(|row| row[0] > 0.45), "{rows:?}");
    // A mass that is negative is none.
    let axes = ["--across", "body.slider.links[0].mass=-1:1", "--up", "parameters.damping=0.1:0.2", "--count", "2"];
    let all = [&["study", "chart", "duffing-a"][..], &axes, &["--out", "chart"]].concat();
    let out = dalembert(folder.path(), &all).with(0).out;
    assert!(out.contains("2 of 4 places failed") && out.contains("of 2 places stable"), "{out}");
    assert_eq!(table(&folder.path().join("chart/chart.csv")).len(), 2);
}
