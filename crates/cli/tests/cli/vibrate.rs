//! Small and forced vibrations of scenes: closed forms of one degree of freedom, reciprocity, transition matrices, steady motions.

use super::*;
use tempfile::tempdir;

/// One mass on a spring and a damper along x: m = 2, k = 18, d = 0.6, so ω = 3 and ζ = 0.05.
const SINGLE: &str = r#"
[parameters]
damping = 0.6

[body.slider]
kind = "tree"

[[body.slider.links]]
name = "mass"
joint = { kind = "prismatic", axis = [1, 0, 0] }
coordinates = [0.5]
mass = 2
inertia = [1, 1, 1]

[marker.mass]
body = "slider"
link = "mass"

[marker.anchor]
at = [-10, 0, 0]

[force.spring]
kind = "spring"
between = ["anchor", "mass"]
stiffness = 18
damping = "= damping"
rest_length = 10
"#;

/// A point on a rod of one metre that turns about a vertical axle: link `spin` runs on, `swing` is the angle from below.
const CONICAL: &str = r#"
[world]
gravity = [0, 0, -9.81]

[body.toy]
kind = "tree"

[[body.toy.links]]
name = "spin"
joint = { kind = "revolute", axis = [0, 0, 1] }
velocities = [5]

[[body.toy.links]]
name = "swing"
parent = "spin"
joint = { kind = "revolute", axis = [0, 1, 0] }
coordinates = [0.9]
mass = 1
centre = [0, 0, -1]
"#;

/// A table of numbers without its header.
fn table(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    let number = |cell: &str| cell.parse::<f64>();
    text.lines().filter_map(|line| line.split(',').map(number).collect::<Result<_, _>>().ok()).collect()
}

/// The words of the line of a table that begins with a name.
fn line<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    text.lines().find(|line| line.starts_with(name)).unwrap_or_default().split_whitespace().collect()
}

fn scene(folder: &Path, text: &str) {
    std::fs::write(folder.join("own.toml"), text).unwrap();
}

/// Modes: the rigid motion upwards is one of all shapes of the quarter car, so that effective masses add up to its whole mass; shapes are drawn, and
/// complex ones are told with their phases.
#[test]
fn modes_take_part_and_are_drawn() {
    let folder = tempdir().unwrap();
    let out = dalembert(folder.path(), &["study", "modes", "quarter-car-random", "--out", "modes"]).with(0).out;
    assert!(out.contains("effective masses add up to 0.000000, 0.000000, 290.000000 kg"), "{out}");
    assert!(out.contains("phase [°]") && out.contains("participation of states in modes"), "{out}");
    for file in ["mode-1.svg", "mode-2.svg", "eigenvalues.svg", "participation.csv", "report.html"] {
        assert!(folder.path().join("modes").join(file).exists(), "{file}");
    }
    // Both rods hang: each mode is drawn in the plane of its motion, at three phases.
    let arguments = ["study", "modes", "double-pendulum", "--normalise", "largest", "--out", "rods"];
    let out = dalembert(folder.path(), &arguments).with(0).out;
    assert!(out.contains("the largest entry 1"), "{out}");
    for row in table(&folder.path().join("rods/shapes.csv")) {
        assert!(row.iter().all(|x| x.abs() <= 1.0), "{row:?}");
    }
    let still = std::fs::read_to_string(folder.path().join("rods/mode-2.svg")).unwrap();
    assert!(still.contains("phase 0°") && still.contains("phase 180°"), "{still}");
    // Without the viewer the page says how to get it, with it there is a motion for each mode.
    let page = std::fs::read_to_string(folder.path().join("rods/report.html")).unwrap();
    assert!(page.contains("further-animation") || page.contains("no view in space"));
}

/// Without damping Φ is made of Ψ₁ and Ψ₂.
#[test]
fn transition_matrices_are_parts_of_the_whole() {
    let folder = tempdir().unwrap();
    let arguments = ["study", "transition", "quarter-car-random", "--at", "0.3", "--out", "after", "--set"];
    let none = ["parameters.damper=0", "--set", "parameters.tyre_damping=0"];
    dalembert(folder.path(), &[&arguments[..], &none].concat()).with(0);
    let read = |name: &str| table(&folder.path().join("after").join(name));
    let (first, second, whole) = (read("Psi1.csv"), read("Psi2.csv"), read("Phi.csv"));
    for i in 0..2 {
        for j in 0..2 {
            // Frequencies of 64 rad/s: a few thousand operations of size one.
            assert!((first[i][j] - whole[i][j]).abs() < 1e-10, "{first:?} {whole:?}");
            assert!((second[i][j] - whole[i][2 + j]).abs() < 1e-12, "{second:?} {whole:?}");
        }
    }
}

/// Response matrices are symmetric; the periodic answer to a harmonic force is the response at its frequency.
#[test]
fn responses_are_reciprocal_and_periodic_ones_agree() {
    let folder = tempdir().unwrap();
    let ends = ["--force", "wheel", "--force", "chassis", "--measure", "wheel", "--measure", "chassis"];
    let band = ["--from", "3", "--to", "30", "--count", "2", "--out", "bode"];
    let arguments = [&["study", "frequency-response", "quarter-car-random"][..], &ends, &band].concat();
    dalembert(folder.path(), &arguments).with(0);
    let row = &table(&folder.path().join("bode/response.csv"))[0];
    // Four numbers for each of: wheel by wheel, wheel by chassis, chassis by wheel, chassis by chassis.
    for k in 0..2 {
        assert!((row[5 + k] - row[9 + k]).abs() < 1e-12 * row[7], "{row:?}");
    }
    let period = format!("{:?}", 1.0 / 3.0);
    let force = ["--force", "wheel=100*cos(6*pi*t)+50*sin(12*pi*t)", "--measure", "chassis"];
    let arguments = [&["study", "periodic-response", "quarter-car-random", "--period", &period][..], &force].concat();
    let out = dalembert(folder.path(), &arguments).with(0).out;
    // Columns: mean, largest, then amplitude and phase of harmonics.
    let found = line(&out, "chassis ");
    let number = |k: usize| found[k].trim_end_matches(',').parse::<f64>().unwrap();
    assert!((number(3) / (100.0 * row[11]) - 1.0).abs() < 1e-4, "{out} {row:?}");
    assert!((number(4) - row[12].to_degrees()).abs() < 0.01, "{out} {row:?}");
}

/// White noise of intensity W on one mass: σ_x² = W/(2dk), σ_v² = W/(2dm), and the area under the spectral density is σ_x².
#[test]
fn noise_on_one_mass_has_its_closed_form() {
    let folder = tempdir().unwrap();
    scene(folder.path(), SINGLE);
    let arguments = ["study", "covariance", "own.toml", "--noise", "mass=3", "--out", "noise"];
    let out = dalembert(folder.path(), &arguments).with(0).out;
    let found = table(&folder.path().join("noise/covariance.csv"));
    let expected = [3.0 / (2.0 * 0.6 * 18.0), 3.0 / (2.0 * 0.6 * 2.0)];
    for i in 0..2 {
        assert!((found[i][i] / expected[i] - 1.0).abs() < 1e-12, "{found:?} {expected:?}");
    }
    // The trapezoidal rule with 600 points over four decades; beyond it some 1e-7 are left.
    let share = out.split("variances: ").nth(1).and_then(|rest| rest.trim().parse::<f64>().ok()).unwrap_or_default();
    assert!((share - 1.0).abs() < 5e-3, "{out}");
    // From rest: σ²(t) = σ∞² (1 − e^{−2ζωt} (1 + (ζω/ω_d) sin 2ω_d t + 2 (ζω/ω_d)² sin² ω_d t)).
    let arguments = ["study", "covariance", "own.toml", "--noise", "mass=3", "--at", "2", "--out", "early"];
    dalembert(folder.path(), &arguments).with(0);
    let (decay, damped, t) = (0.15f64, 3.0 * (1.0 - 0.0025f64).sqrt(), 2.0);
    let (part, s) = (decay / damped, (damped * t).sin());
    let grown = 1.0 - (-2.0 * decay * t).exp() * (1.0 + part * (2.0 * damped * t).sin() + 2.0 * part * part * s * s);
    let found = table(&folder.path().join("early/covariance.csv"))[0][0];
    assert!((found / (expected[0] * grown) - 1.0).abs() < 1e-10, "{found}");
    // Undamped there is no stationary state, and this is said.
    let arguments = ["study", "covariance", "own.toml", "--noise", "mass=3", "--set", "parameters.damping=0"];
    let error = dalembert(folder.path(), &arguments).with(2).err;
    assert!(error.contains("no stationary covariance") && error.contains("add damping"), "{error}");
}

/// A conical pendulum: cos θ = g/(lΩ²), small motions about it with ω² = Ω² (1 + 3 cos² θ); along its motion the matrices are those of each instant.
#[test]
fn a_steady_motion_is_found_with_its_stability() {
    let folder = tempdir().unwrap();
    scene(folder.path(), CONICAL);
    let out = dalembert(folder.path(), &["study", "linearise", "own.toml", "--steady", "spin"]).with(0).out;
    let number = |name: &str, k: usize| line(&out, name).get(k).and_then(|x| x.parse::<f64>().ok()).unwrap_or_default();
    let (speed, angle) = (number("body.toy, spin", 3), number("body.toy, swing", 2));
    assert!((angle.cos() - 9.81 / (speed * speed)).abs() < 1e-9, "{out}");
    let expected = (speed * speed * (1.0 + 3.0 * angle.cos().powi(2))).sqrt();
    let below = out.lines().skip_while(|line| !line.starts_with("real part")).skip(1);
    let largest = below
        .map_while(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok())
        .fold(0.0, |max: f64, w| max.max(w.abs()));
    assert!((largest / expected - 1.0).abs() < 1e-6, "{out} {expected}");
    let arguments = ["study", "linearise", "double-pendulum", "--along", "0.5", "--count", "3", "--out", "along"];
    let out = dalembert(folder.path(), &arguments).with(0).out;
    assert!(out.contains("the motion going on"), "{out}");
    assert_eq!(table(&folder.path().join("along/along.csv")).len(), 3);
}

/// A mass in two wells pushed by a constant force: x³ − x = f folds at f = ±2/√27. A freely moving body has no isolated equilibrium.
#[test]
fn equilibria_are_followed_over_their_folds() {
    let folder = tempdir().unwrap();
    let wells = SINGLE
        .replace("damping = 0.6", "damping = 0.6\nforce = 0")
        .replace("kind = \"spring\"", "kind = \"nonlinear_spring\"")
        .replace("stiffness = 18", "law = { polynomial = [-1, 0, 1] }")
        + "\n[force.push]\nkind = \"applied_force\"\nat = \"mass\"\nforce = [\"= force\", 0, 0]\n";
    scene(folder.path(), &wells.replace("coordinates = [0.5]", "coordinates = [1.2]"));
    let arguments = ["study", "continuation", "own.toml", "--parameter", "parameters.force", "--from", "0"];
    let out = dalembert(folder.path(), &[&arguments[..], &["--to", "-1", "--out", "curve"]].concat()).with(0).out;
    let fold: f64 = line(&out, "Fold").get(1).and_then(|x| x.parse().ok()).unwrap_or_default();
    assert!((fold + 2.0 / 27.0f64.sqrt()).abs() < 1e-7, "{out}");
    assert!(folder.path().join("curve/curve.svg").exists());
    // Without a spring every place is an equilibrium: no curve has a direction there.
    scene(folder.path(), &SINGLE.replace("stiffness = 18", "stiffness = 0"));
    let arguments =
        ["study", "continuation", "own.toml", "--parameter", "parameters.damping", "--from", "1", "--to", "2"];
    let error = dalembert(folder.path(), &arguments).with(2).err;
    assert!(error.contains("not isolated") && error.contains("a family of solutions"), "{error}");
    let out = dalembert(folder.path(), &["study", "linearise", "own.toml"]).with(0).out;
    assert!(out.contains("the equilibrium is not isolated: 1 directions"), "{out}");
}

/// What has no answer is told with its reason: a mass that is missing, a resonance, a period that is not that of the drive.
#[test]
fn degenerate_questions_are_explained() {
    let folder = tempdir().unwrap();
    scene(folder.path(), &SINGLE.replace("mass = 2", "mass = 0"));
    let error = dalembert(folder.path(), &["study", "modes", "own.toml"]).with(2).err;
    assert!(error.contains("moves nothing with inertia"), "{error}");
    scene(folder.path(), &SINGLE.replace("damping = 0.6", "damping = 0"));
    let hertz = format!("{:?}", 3.0 / std::f64::consts::TAU);
    let at = ["--force", "mass", "--measure", "mass", "--count", "1", "--to", "9", "--from", &hertz];
    let error = dalembert(folder.path(), &[&["study", "frequency-response", "own.toml"][..], &at].concat()).with(2).err;
    assert!(error.contains("an undamped resonance"), "{error}");
    let arguments = ["study", "limit-cycle", "duffing-b", "--period", "2.1", "--tolerance", "1e-9"];
    let error = dalembert(folder.path(), &arguments).with(2).err;
    assert!(error.contains("does not repeat after 2.1 s"), "{error}");
}
