//! Studies of scenes with contacts through their events: what grazes is named, and multipliers, exponents, curves and maps are those of closed forms.

use super::*;
use std::f64::consts::TAU;
use tempfile::tempdir;

/// The impact oscillator at its period, on the cycle that it has without the wall: x = A cos(Wt − φ).
const FREQUENCY: f64 = 1.7;
const AMPLITUDE: f64 = 0.520_741_522_310_777_5;
const START: [&str; 4] = [
    "--set",
    "body.slider.links[0].coordinates=[-0.5125145754806519]",
    "--set",
    "body.slider.links[0].velocities=[0.15673726170783978]",
];

fn oscillator(study: &str, wall: f64, more: &[&str]) -> Ended {
    let folder = tempdir().unwrap();
    let (period, wall) = (format!("{:?}", TAU / FREQUENCY), format!("parameters.wall={wall:?}"));
    let all = [&["study", study, "impact-oscillator", "--period", &period, "--set", &wall][..], &START, more];
    dalembert(folder.path(), &all.concat())
}

/// A wall at the amplitude, or a hair before it, is grazed: the cycle has no multipliers, and search and multipliers say where, whatever the hair. A wall behind it changes
/// nothing: both multipliers have the modulus exp(−ζT).
#[test]
fn grazing_is_named() {
    for hair in [0.0, 1e-12, 1e-10] {
        let error = oscillator("limit-cycle", AMPLITUDE * (1.0 - hair), &[]).with(2).err;
        assert!(error.contains("`contact.wall` is met with speed") && error.contains("grazing"), "{hair}: {error}");
    }
    for hair in [1e-8, 1e-6, 1e-4] {
        let error = oscillator("limit-cycle", AMPLITUDE * (1.0 - hair), &[]).with(2).err;
        assert!(error.contains("did not converge") && error.contains("`contact.wall` is almost grazed"), "{error}");
    }
    for hair in [0.0, 1e-12] {
        let error = oscillator("floquet", AMPLITUDE * (1.0 - hair), &[]).with(2).err;
        assert!(error.contains("`contact.wall` is met with speed") && error.contains("grazing"), "{hair}: {error}");
    }
    for hair in [1e-10, 1e-6] {
        let out = oscillator("floquet", AMPLITUDE * (1.0 - hair), &[]).with(0).out;
        assert!(out.contains("take care: `contact.wall` is almost grazed"), "{hair}: {out}");
    }
    let out = oscillator("limit-cycle", AMPLITUDE * 1.01, &[]).with(0).out;
    let modulus = (-0.1 * TAU / FREQUENCY).exp();
    assert!(out.contains(&format!("{modulus:.6}")) && !out.contains("graze"), "{out}");
    // The steps of differences reach the wall, and the multipliers do not.
    let out = oscillator("limit-cycle", AMPLITUDE * (1.0 + 1e-5), &[]).with(0).out;
    assert!(out.contains("take care: multipliers by differences") && out.contains("almost grazed"), "{out}");
}

/// Numbers of a table without its header.
fn table(path: &Path) -> Vec<Vec<f64>> {
    let numbers = |line: &str| line.split(',').filter_map(|x| x.parse().ok()).collect();
    read(path).lines().skip(1).map(numbers).collect()
}

/// A cycle with an impact in each period: by Liouville the product of its multipliers is ε² exp(−2ζT), and its exponents are ln|μ|/T.
#[test]
fn exponents_of_a_cycle_with_impacts_are_its_multipliers() {
    let folder = tempdir().unwrap();
    let period = TAU / FREQUENCY;
    let (text, long) = (format!("{period:?}"), format!("{:?}", 40.0 * period));
    let cycle = ["study", "limit-cycle", "impact-oscillator", "--settle", "60", "--period", &text, "--out", "cycle"];
    dalembert(folder.path(), &cycle).with(0);
    let multipliers = table(&folder.path().join("cycle/multipliers.csv"));
    let all = ["study", "lyapunov", "impact-oscillator", "--transient", &long, "--batch", &long, "--batches", "5"];
    dalembert(folder.path(), &[&all[..], &["--out", "chaos"]].concat()).with(0);
    let found = table(&folder.path().join("chaos/exponents.csv"));
    // The phase of what drives it adds a zero.
    let own: Vec<&Vec<f64>> = found.iter().filter(|row| row[0] != 0.0).collect();
    assert_eq!((found.len(), own.len()), (3, 2), "{found:?}");
    let sum = (0.49f64.ln() - 0.2 * period) / period;
    assert!((own[0][0] + own[1][0] - sum).abs() < 1e-7, "{found:?} {sum}");
    for (row, multiplier) in own.iter().zip(&multipliers) {
        // A pair turns, so that each of the two comes and goes by less than ln κ over the time of a batch.
        assert!((row[0] - multiplier[3]).abs() < 2.0 / (40.0 * period), "{found:?} {multipliers:?}");
    }
}

/// The same product all along a curve of cycles over the restitution.
#[test]
fn a_curve_of_cycles_passes_impacts() {
    let folder = tempdir().unwrap();
    let period = TAU / FREQUENCY;
    let text = format!("{period:?}");
    let range = ["--parameter", "parameters.restitution", "--from", "0.7", "--to", "0.6", "--points", "8"];
    let all = ["study", "continuation", "impact-oscillator", "--period", &text, "--settle", "60", "--out", "curve"];
    dalembert(folder.path(), &[&all[..], &range].concat()).with(0);
    let rows = table(&folder.path().join("curve/curve.csv"));
    assert!(rows.len() > 3, "{rows:?}");
    for row in rows {
        // The value, position, velocity, time and two multipliers; whether it is stable is no number.
        let [value, _, _, time, a, b, c, d] = row[..] else { panic!("{row:?}") };
        let expected = value * value * (-0.2 * period).exp();
        assert!((time - period).abs() < 1e-12 && (a * c - b * d - expected).abs() < 1e-7, "{row:?} {expected}");
    }
}

/// Places of a chart are the multipliers of the motion there; motions of a basin come to the cycle.
#[test]
fn charts_and_basins_pass_impacts() {
    let folder = tempdir().unwrap();
    let text = format!("{:?}", TAU / FREQUENCY);
    let axes = ["--across", "parameters.restitution=0.5:0.8", "--up", "parameters.wall=0.2:0.4", "--count", "2"];
    let all = ["study", "chart", "impact-oscillator", "--period", &text, "--tolerance", "1e-12", "--out", "chart"];
    dalembert(folder.path(), &[&all[..], &axes].concat()).with(0);
    let rows = table(&folder.path().join("chart/chart.csv"));
    assert_eq!(rows.len(), 4);
    for row in rows {
        let (first, second) = (format!("parameters.restitution={:?}", row[0]), format!("parameters.wall={:?}", row[1]));
        let set = ["--set", &first, "--set", &second, "--period", &text, "--out", "place"];
        dalembert(folder.path(), &[&["study", "floquet", "impact-oscillator"][..], &set].concat()).with(0);
        let expected = table(&folder.path().join("place/multipliers.csv"))[0][3];
        assert!((row[2] - expected).abs() < 1e-9, "{row:?} {expected}");
    }
    let axes = ["--over", "mass=-0.2:0.2", "--over-rate", "mass=-0.2:0.2", "--count", "2", "--coordinate", "mass"];
    let all = ["study", "basin", "impact-oscillator", "--period", &text, "--points", "2", "--out", "basin"];
    dalembert(folder.path(), &[&all[..], &axes].concat()).with(0);
    let cycle = ["study", "limit-cycle", "impact-oscillator", "--settle", "60", "--period", &text, "--out", "cycle"];
    dalembert(folder.path(), &cycle).with(0);
    let expected = table(&folder.path().join("cycle/cycle.csv"))[0][1];
    for row in table(&folder.path().join("basin/basin.csv")) {
        // |μ|⁶⁰ = 1e-19 is left of the start, 1e-9 of the tolerance.
        assert!((row[2] - expected).abs() < 1e-6, "{row:?} {expected}");
    }
}

/// Without force and damping the mass keeps x² + v² between impacts, each of which leaves ε² of v². With ε = 1 it swings with the period 2 (π − acos(d/a)).
#[test]
fn portraits_and_spectra_pass_impacts() {
    let folder = tempdir().unwrap();
    let set = ["--set", "parameters.damping=0", "--set", "signal.drive.amplitude=0"];
    let set = [&set[..], &["--set", "body.slider.links[0].coordinates=[-2]", "--coordinate", "mass"]].concat();
    let few = ["--period", "0.05", "--points", "400", "--settle", "0", "--out", "portrait"];
    dalembert(folder.path(), &[&["study", "portrait", "impact-oscillator"][..], &set, &few].concat()).with(0);
    let mut levels = vec![4.0];
    (0..12).for_each(|k| levels.push(0.49 * (levels[k] - 0.09) + 0.09));
    let points = table(&folder.path().join("portrait/section.csv"));
    assert_eq!(points.len(), 400);
    let mut last = 0;
    for point in points {
        let energy = (point[0] - 2.0).powi(2) + point[1].powi(2);
        let level = levels.iter().position(|level| (level - energy).abs() < 1e-7);
        assert!(level.is_some_and(|level| level >= last), "{point:?} {energy}");
        last = level.unwrap_or(last);
    }
    assert!(last > 3, "{last}");
    let elastic = ["--set", "parameters.restitution=1", "--interval", "0.1", "--samples", "8192", "--out", "spectrum"];
    let all = [&["study", "spectrum", "impact-oscillator"][..], &set, &elastic, &["--segment", "4096"]].concat();
    let out = dalembert(folder.path(), &all).with(0).out;
    let rows = table(&folder.path().join("spectrum/spectrum.csv"));
    let peak = rows.iter().fold([0.0; 2], |best, row| if row[1] > best[1] { [row[0], row[1]] } else { best });
    let expected = 1.0 / (2.0 * (std::f64::consts::PI - 0.15f64.acos()));
    assert!((peak[0] - expected).abs() <= 1.0 / 409.6, "{out} {expected}");
}

/// A swing of amplitude 2: the areas of its spectra, of velocities and of positions, are its variances 2, and its peak is at 1/2π.
#[test]
fn spectra_have_the_variance_for_their_area() {
    let folder = tempdir().unwrap();
    let set = ["--set", "parameters.damping=0", "--set", "signal.drive.amplitude=0", "--set", "parameters.wall=9"];
    let set = [&set[..], &["--set", "body.slider.links[0].coordinates=[-2]", "--coordinate", "mass"]].concat();
    // A segment of 1024 samples has 16 turns: with no window nothing leaks.
    let interval = format!("{:?}", TAU / 64.0);
    let few = ["--interval", &interval, "--samples", "4096", "--segment", "1024", "--window", "rectangular"];
    let all = [&["study", "spectrum", "impact-oscillator"][..], &set, &few, &["--out", "out"]].concat();
    for positions in [&[][..], &["--positions"]] {
        let out = dalembert(folder.path(), &[&all[..], positions].concat()).with(0).out;
        let rows = table(&folder.path().join("out/spectrum.csv"));
        let area: f64 = rows.iter().map(|row| row[1]).sum::<f64>() * rows[0][0];
        assert!((area - 2.0).abs() < 1e-6, "{area} {out}");
        assert!(out.contains("largest at 0.159155 Hz") && out.contains("the variance, is 2.000000"), "{out}");
    }
}

/// Nothing drives the block on a belt: the period of its stick and slip is found with it, and along a curve over the speed of the belt it is that of the closed form.
#[test]
fn cycles_with_contacts_may_have_a_period_of_their_own() {
    let folder = tempdir().unwrap();
    let period = |speed: f64| {
        let (fall, rate) = (0.2 * 9.81 / 10.0, 10.0);
        2.0 * fall / (rate * speed) + (TAU - 2.0 * (fall / speed).atan()) / rate
    };
    let from = |place: &'static str| ["--set", "body.block.velocity=[0,0,0]", "--set", place];
    let first = from("body.block.position=[0.06,0,0]");
    let all = [&["study", "limit-cycle", "block-on-belt", "--period", "0.75", "--settle", "1.5"][..], &first].concat();
    let out = dalembert(folder.path(), &all).with(0).out;
    let found = out.split("period ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    // End and start agree to 1e-9, at a speed of 0.04 m/s and more.
    assert!(found.is_some_and(|found| (found - period(0.1)).abs() < 2.5e-8), "{out}");
    let range = ["--parameter", "parameters.speed", "--from", "0.1", "--to", "0.12", "--points", "6", "--out", "curve"];
    let all = ["study", "continuation", "block-on-belt", "--period", "0.8", "--settle", "1"];
    let start = from("body.block.position=[0.0392,0,0]");
    dalembert(folder.path(), &[&all[..], &start, &range].concat()).with(0);
    let rows = table(&folder.path().join("curve/curve.csv"));
    assert_eq!(rows.len(), 6);
    for row in rows {
        // The value, three positions and three velocities, the time.
        assert!((row[7] - period(row[0])).abs() < 1e-6, "{row:?} {}", period(row[0]));
    }
}

/// Late events are located less closely than early ones, in proportion to time; impacts are impacts all the same.
#[test]
fn impacts_late_in_a_run_are_no_chatter() {
    let folder = tempdir().unwrap();
    let long = ["run", "impact-oscillator", "--set", "run.until=4000", "--set", "output.every=100", "--out", "late"];
    dalembert(folder.path(), &long).with(0);
}
