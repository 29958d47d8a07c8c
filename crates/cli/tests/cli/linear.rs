//! Linear vibration of scenes against closed forms: chains, beams of links, the rotor and its limits, a shaft with unequal stiffness, coloured noise, exports.

use super::*;
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::routh::unstable_roots;
use std::f64::consts::{PI, TAU};
use std::fmt::Write;
use tempfile::tempdir;

/// A table of numbers without its header.
fn table(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    let number = |cell: &str| cell.parse::<f64>();
    text.lines().filter_map(|line| line.split(',').map(number).collect::<Result<_, _>>().ok()).collect()
}

/// Equal masses between equal springs along x, each a body of its own.
fn chain(n: usize, mass: f64, stiffness: f64) -> String {
    let mut text = format!("[marker.m0]\nat = [0, 0, 0]\n[marker.m{}]\nat = [{}, 0, 0]\n", n + 1, n + 1);
    for i in 1..=n {
        let link = "name = \"mass\"\njoint = { kind = \"prismatic\", axis = [1, 0, 0] }\ninertia = [1, 1, 1]";
        let place = format!("position = [{i}, 0, 0]\nmass = {mass}");
        writeln!(text, "[body.b{i}]\nkind = \"tree\"\n[[body.b{i}.links]]\n{link}\n{place}").unwrap();
        writeln!(text, "[marker.m{i}]\nbody = \"b{i}\"\nlink = \"mass\"").unwrap();
    }
    for i in 0..=n {
        let ends = format!("between = [\"m{i}\", \"m{}\"]", i + 1);
        writeln!(text, "[force.s{i}]\nkind = \"spring\"\n{ends}\nstiffness = {stiffness}\nrest_length = 1").unwrap();
    }
    text
}

/// A cantilever of links with unit length, mass and bending stiffness: springs of EI/h between links, of 2EI/h at the clamp.
fn cantilever(n: usize) -> String {
    let h = 1.0 / n as f64;
    let mut text = "[body.beam]\nkind = \"tree\"\n".to_owned();
    for i in 0..n {
        let on = if i == 0 { String::new() } else { format!("parent = \"l{}\"\nposition = [{h}, 0, 0]\n", i - 1) };
        let inertia = h * h * h / 12.0;
        let joint = "joint = { kind = \"revolute\", axis = [0, 1, 0] }";
        writeln!(text, "[[body.beam.links]]\nname = \"l{i}\"\n{on}{joint}\nmass = {h}").unwrap();
        writeln!(text, "centre = [{}, 0, 0]\ninertia = [1e-9, {inertia}, {inertia}]", 0.5 * h).unwrap();
    }
    for i in 0..n {
        let before = if i == 0 { "ground".to_owned() } else { format!("k{}", i - 1) };
        let stiffness = if i == 0 { 2.0 / h } else { 1.0 / h };
        writeln!(text, "[marker.k{i}]\nbody = \"beam\"\nlink = \"l{i}\"\n[force.s{i}]\nkind = \"rotational_spring\"")
            .unwrap();
        writeln!(text, "between = [\"{before}\", \"k{i}\"]\naxis = [0, 1, 0]\nstiffness = {stiffness}").unwrap();
    }
    text
}

/// The angular frequencies of a scene.
fn frequencies(folder: &Path, text: &str) -> Vec<f64> {
    std::fs::write(folder.join("own.toml"), text).unwrap();
    dalembert(folder, &["study", "modes", "own.toml", "--out", "modes"]).with(0);
    table(&folder.join("modes/frequencies.csv")).into_iter().map(|row| row[0]).collect()
}

/// ω_k = 2 √(k/m) sin(kπ/(2(n+1))).
#[test]
fn a_scene_of_masses_has_the_modes_of_a_chain() {
    let folder = tempdir().unwrap();
    let (n, mass, stiffness) = (7, 2.0f64, 50.0);
    let found = frequencies(folder.path(), &chain(n, mass, stiffness));
    assert_eq!(found.len(), n);
    for (k, found) in found.iter().enumerate() {
        let expected = 2.0 * (stiffness / mass).sqrt() * (0.5 * (k + 1) as f64 * PI / (n + 1) as f64).sin();
        assert!((found / expected - 1.0).abs() < 1e-12, "{k}: {found} {expected}");
    }
}

/// The first frequency of a clamped beam is 3.516015268741 √(EI/ρAl⁴); that of links reaches it with order two.
#[test]
fn a_scene_of_links_reaches_the_limit_of_euler_and_bernoulli() {
    let folder = tempdir().unwrap();
    let error = |n: usize| (frequencies(folder.path(), &cantilever(n))[0] - 3.516_015_268_741).abs();
    let errors = [8, 16].map(error);
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 2.0).abs() < 0.05, "{errors:?} {order}");
}

/// The tilts α, β of the rotor obey J₁α̈ + dα̇ + kα + CΩβ̇ − Tβ = 0 and J₂β̈ + dβ̇ + kβ − CΩα̇ = 0: the torque T acts on one of them alone. Coefficients by
/// rising powers.
fn tilts(torque: f64, damping: f64) -> [f64; 5] {
    let (first, second, turn, k) = (0.010_002, 0.010_001, 0.018 * 30.0, 2.0);
    let d = damping;
    [
        k * k,
        2.0 * k * d - turn * torque,
        k * (first + second) + d * d + turn * turn,
        d * (first + second),
        first * second,
    ]
}

/// A rotor that turns on has no equilibrium; the error says what there is instead.
#[test]
fn what_turns_on_is_sent_to_steady_motions() {
    let folder = tempdir().unwrap();
    let error = dalembert(folder.path(), &["study", "modes", "rotor"]).with(2).err;
    assert!(
        error.contains("did not converge") && error.contains("(body.rotor, disc): `--steady COORDINATE`"),
        "{error}"
    );
    dalembert(folder.path(), &["study", "modes", "rotor", "--steady", "disc"]).with(0);
}

/// Eigenvalues of the rotor are roots of that polynomial, and it is stable where Routh's scheme of the polynomial says so.
#[test]
fn the_rotor_whirls_and_leaves_as_its_polynomial_says() {
    let folder = tempdir().unwrap();
    dalembert(folder.path(), &["study", "linearise", "rotor", "--here", "--out", "rotor"]).with(0);
    let rows = table(&folder.path().join("rotor/A.csv"));
    let matrix = Matrix::from_rows(rows.len(), rows.len(), rows.concat());
    let c = tilts(0.3, 0.02);
    let mut whirls = 0;
    for z in eigenvalues(&matrix).unwrap() {
        let (mut value, mut size) = (dalembert_methods::algebra::Complex::default(), 0.0);
        for c in c.iter().rev() {
            value = value * z + (*c).into();
            size = size * z.modulus() + c.abs();
        }
        // The spin itself has the other two: it rests, or is braked.
        whirls += usize::from(z.im.abs() > 1e-6);
        assert!(z.im.abs() <= 1e-6 || value.modulus() < 1e-11 * size, "{z:?} {value:?}");
    }
    assert_eq!(whirls, 4);
    let arguments =
        ["study", "chart", "rotor", "--across", "parameters.torque=0.1:0.9", "--count", "9", "--out", "chart"];
    let up = ["--up", "parameters.damping=0.01:0.05"];
    dalembert(folder.path(), &[&arguments[..], &up].concat()).with(0);
    let places = table(&folder.path().join("chart/chart.csv"));
    assert_eq!(places.len(), 81);
    let mut unstable = 0;
    for place in &places {
        let grows = unstable_roots(&tilts(place[0], place[1])).unwrap() > 0;
        unstable += usize::from(grows);
        assert_eq!(place[2] > 1e-9, grows, "{place:?}");
    }
    assert!((10..70).contains(&unstable), "{unstable}");
}

/// A shaft with unequal stiffness, seen from the ground, leaves exactly between its critical speeds, with the rate of
/// λ⁴ + λ²(ω₁² + ω₂² + 2Ω²) + (ω₁² − Ω²)(ω₂² − Ω²) = 0 in the frame that turns with it.
#[test]
fn a_shaft_leaves_between_its_critical_speeds() {
    let folder = tempdir().unwrap();
    let text = include_str!("../../../dalembert/scenes/shaft.toml");
    std::fs::write(folder.path().join("own.toml"), text).unwrap();
    let arguments = ["study", "chart", "own.toml", "--across", "parameters.speed=15.03:25.03", "--count", "13"];
    let rest = ["--up", "parameters.asymmetry=0.05:0.4", "--period", "2*pi/speed", "--set", "parameters.offset=0"];
    dalembert(folder.path(), &[&arguments[..], &rest, &["--out", "chart"]].concat()).with(0);
    let places = table(&folder.path().join("chart/chart.csv"));
    assert_eq!(places.len(), 169);
    let mut unstable = 0;
    for place in &places {
        let (square, asymmetry) = (place[0] * place[0], place[1]);
        let [soft, stiff] = [400.0 * (1.0 - asymmetry), 400.0 * (1.0 + asymmetry)];
        let (half, product) = (0.5 * (soft + stiff + 2.0 * square), (soft - square) * (stiff - square));
        let leaves = soft < square && square < stiff;
        let expected = if leaves { ((half * half - product).sqrt() - half).sqrt() } else { 0.0 };
        // The motion is integrated to 1e-9.
        assert!((place[2] - expected).abs() < 1e-7, "{place:?} {expected}");
        unstable += usize::from(leaves);
    }
    assert!(unstable > 30, "{unstable}");
}

/// One mass m = 2, d = 0.6, k = 18 under noise through 1/(s + a): σ² = W (a + δ)/(2 a m² δ ω² (ω² + δ a + a²)) with δ = d/m.
#[test]
fn coloured_noise_on_one_mass_has_its_closed_form() {
    let folder = tempdir().unwrap();
    let damped = chain(1, 2.0, 9.0).replace("stiffness = 9", "stiffness = 9\ndamping = 0.3");
    std::fs::write(folder.path().join("own.toml"), damped).unwrap();
    let arguments =
        ["study", "covariance", "own.toml", "--noise", "b1=3", "--filter", "b1=[1]/[0.8,1]", "--out", "noise"];
    dalembert(folder.path(), &arguments).with(0);
    let found = table(&folder.path().join("noise/covariance.csv"));
    assert_eq!(found.len(), 3);
    let (a, delta, square) = (0.8, 0.3, 9.0);
    let expected = 3.0 * (a + delta) / (2.0 * a * 4.0 * delta * square * (square + delta * a + a * a));
    assert!((found[0][0] / expected - 1.0).abs() < 1e-12, "{found:?} {expected}");
    // The density of the velocity is (2πf)² times that of the position, and the cross density is −2πi f times it.
    let densities = table(&folder.path().join("noise/densities.csv"));
    let cross = table(&folder.path().join("noise/cross-densities.csv"));
    for (row, cross) in densities.iter().zip(&cross).step_by(50) {
        let turn = TAU * row[0];
        assert!((row[2] / (turn * turn * row[1]) - 1.0).abs() < 1e-9, "{row:?}");
        assert!((cross[2] + turn * row[1]).abs() < 1e-9 * turn * row[1], "{row:?} {cross:?}");
        assert!(cross[1].abs() < 1e-9 * turn * row[1], "{cross:?}");
    }
    let arguments = ["study", "covariance", "own.toml", "--noise", "b1=3", "--filter", "b1=[1,2,3]/[1,1]"];
    let error = dalembert(folder.path(), &arguments).with(2).err;
    assert!(error.contains("must not have the higher degree"), "{error}");
    let arguments = ["study", "covariance", "own.toml", "--noise", "b1=3", "--filter", "b1=fast"];
    assert!(dalembert(folder.path(), &arguments).with(2).err.contains("expected NAME=[N0"), "form");
}

/// The road of the quarter car: white noise in its velocity, above a corner frequency, through the tyre. A stiff suspension makes one mass of the car.
///
/// It gives by k/k_s of what the tyre does, so that the variance is off by a part in proportion to 1/k_s, and by one of the order of its square. With k/k_s = 1.6e-3 and 1.6e-4 the first part
/// cancels in ten times the one result less the other, and the second is c · 2.6e-7, with c of the order of ten as the variance is of a resonance. Rounding of the state matrix A, whose largest entry is
/// k_s/m₂ = 2.5e7, moves the slow eigenvalues by some ε |A| Ω = 1.3e-7, which is 1.5e-6 of their real part 0.086.
#[test]
fn the_road_moves_the_quarter_car() {
    let folder = tempdir().unwrap();
    let variance = |suspension: &str, damper: &str| {
        let stiff = ["--set", suspension, "--set", damper];
        let road = ["--noise", "wheel=1e-4", "--filter", "wheel=[160000,50]/[0.5,1]", "--out", "road"];
        dalembert(folder.path(), &[&["study", "covariance", "quarter-car-random"][..], &road, &stiff].concat()).with(0);
        table(&folder.path().join("road/covariance.csv"))[0][0]
    };
    let soft = variance("parameters.suspension=1e8", "parameters.damper=1e3");
    let hard = variance("parameters.suspension=1e9", "parameters.damper=1e4");
    // h = (k + d s) r with r = w/(s + a): σ² = ∫ |k + iΩd|²/((Ω² + a²) |k − mΩ² + iΩd|²) dΩ W/2π, by the formula for third order.
    let (m, d, k, a) = (290.0f64, 50.0, 160_000.0, 0.5);
    let (c0, c1, c2) = (a * k / m, (k + a * d) / m, d / m + a);
    let (b1, b0) = (d / m, k / m);
    let expected = 1e-4 * (c0 * b1 * b1 + c2 * b0 * b0) / (2.0 * c0 * (c1 * c2 - c0));
    let off = |found: f64| (found / expected - 1.0).abs();
    println!("off by {:.2e} and {:.2e}, {:.2e}", off(soft), off(hard), off((10.0 * hard - soft) / 9.0));
    assert!(off((10.0 * hard - soft) / 9.0) < 5e-6, "{soft} {hard} {expected}");
    assert!(off(soft) > 1e-5 && off(hard) < 0.11 * off(soft), "{soft} {hard} {expected}");
}

/// A, B and C with their names: y = C x of a force on the wheel at rest is that of the frequency response.
#[test]
fn state_space_matrices_are_written_with_names() {
    let folder = tempdir().unwrap();
    dalembert(folder.path(), &["study", "linearise", "quarter-car-random", "--out", "car"]).with(0);
    let read = |name: &str| table(&folder.path().join("car").join(name));
    let matrix = |rows: Vec<Vec<f64>>| Matrix::from_rows(rows.len(), rows[0].len(), rows.concat());
    let (a, b, c) = (matrix(read("A.csv")), matrix(read("B.csv")), matrix(read("C.csv")));
    // At rest −C A⁻¹ B is the compliance: 1/160000 m/N of the tyre, and no more of the body above the wheel.
    let still = c.mul(&a.solve(&b, "A").unwrap()).scaled(-160_000.0);
    assert!((still[(0, 0)] - 1.0).abs() < 1e-9 && still[(1, 0)].abs() < 1e-9, "{still:?}");
    let names = std::fs::read_to_string(folder.path().join("car/states.txt")).unwrap();
    assert_eq!(names.lines().count(), 4);
    assert!(names.contains("rate of body.car, chassis"), "{names}");
    assert_eq!(std::fs::read_to_string(folder.path().join("car/inputs.txt")).unwrap().lines().count(), 2);
    let arguments = ["study", "linearise", "double-pendulum", "--along", "0.5", "--count", "3", "--out", "along"];
    dalembert(folder.path(), &arguments).with(0);
    let file = std::fs::read(folder.path().join("along/A.npy")).unwrap();
    let head = String::from_utf8_lossy(&file[..128]).into_owned();
    assert!(head.contains("'shape': (3, 4, 4)"), "{head}");
    assert_eq!(file.len(), 128 + 3 * 16 * 8);
}

/// What the static condition allows to conclude is told.
#[test]
fn the_static_condition_is_told_with_its_conclusion() {
    let folder = tempdir().unwrap();
    let say = |model: &str, more: &[&str]| {
        dalembert(folder.path(), &[&["study", "linearise", model][..], more].concat()).with(0).out
    };
    let out = say("quarter-car-random", &[]);
    assert!(out.contains("damping pervasive: asymptotically stable"), "{out}");
    let out = say("double-pendulum", &[]);
    assert!(out.contains("nothing feeds energy in: stable"), "{out}");
    let out = say("rotor", &["--here"]);
    assert!(out.contains("circulatory forces may help or harm"), "{out}");
}
