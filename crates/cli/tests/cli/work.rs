//! Integrators compared on scenes: closed forms, measured orders, runs that fail, scenes with comparisons of their own, bad input.

use super::*;
use tempfile::tempdir;

/// A table with quoted names: its header, and rows of cells.
fn table(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let cells = |line: &str| -> Vec<String> {
        let (mut out, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => out.push(String::new()),
                c => out.last_mut().unwrap().push(c),
            }
        }
        out
    };
    let text = read(path);
    let mut lines = text.lines().map(cells);
    (lines.next().unwrap(), lines.collect())
}

/// The rows of a method: values and a column of numbers.
fn column(path: &Path, method: &str, column: &str) -> Vec<[f64; 2]> {
    let (head, rows) = table(path);
    let at = head.iter().position(|name| name == column).unwrap_or_else(|| panic!("{column}: {head:?}"));
    let own = rows.iter().filter(|row| row[0] == method);
    own.map(|row| [row[2].parse().unwrap(), row[at].parse().unwrap_or(f64::NAN)]).collect()
}

/// The measured order of a method, as it is printed.
fn order(text: &str, method: &str) -> f64 {
    let (_, orders) = text.split_once("measured order").unwrap();
    let line = orders.lines().find(|line| line.starts_with(method)).unwrap_or_else(|| panic!("{method}: {orders}"));
    line[method.len()..].split_whitespace().next().unwrap().parse().unwrap()
}

/// What is left of the oscillator's error is that of the first momentum, which the quadrature (c, w) of a cosine scales by σ: (1/σ − 1)(p₀/ω) sin ωt.
fn starting_error(u: f64, quadrature: &[[f64; 2]]) -> f64 {
    let sum: f64 = quadrature.iter().map(|[c, w]| w * (2.0 * u * (1.0 - c)).cos()).sum();
    let sigma = u / (u.sin() * u.cos()) * sum;
    ((1.0 / sigma - 1.0) * 2.0 * 3.0_f64.sin()).abs()
}

#[test]
fn the_oscillator_draws_errors_over_steps_and_measures_orders() {
    let folder = tempdir().unwrap();
    let at = folder.path().join("page");
    let arguments = ["study", "work-precision", "oscillator", "--timing", "0", "--out", at.to_str().unwrap()];
    let told = dalembert(folder.path(), &arguments).with(0);
    let bent = 0.5 * (3.0_f64 / 7.0).sqrt();
    let methods: [(&str, f64, Vec<[f64; 2]>); 3] = [
        ("sines, 3 points (Simpson)", 4.0, vec![[0.0, 1.0 / 6.0], [0.5, 2.0 / 3.0], [1.0, 1.0 / 6.0]]),
        (
            "sines, 5 equidistant points",
            6.0,
            [7.0, 32.0, 12.0, 32.0, 7.0].iter().enumerate().map(|(k, w)| [0.25 * k as f64, w / 90.0]).collect(),
        ),
        (
            "sines, 5 Lobatto points",
            8.0,
            vec![
                [0.0, 1.0 / 20.0],
                [0.5 - bent, 49.0 / 180.0],
                [0.5, 16.0 / 45.0],
                [0.5 + bent, 49.0 / 180.0],
                [1.0, 1.0 / 20.0],
            ],
        ),
    ];
    for (name, nominal, quadrature) in &methods {
        let errors = column(&at.join("steps.csv"), name, "error body.mass.position.x [m]");
        assert_eq!(errors.len(), 5, "{name}");
        for [h, error] in errors {
            // 300 steps that round numbers below three.
            let expected = starting_error(h, quadrature);
            assert!((error - expected).abs() < 300.0 * 3.0 * f64::EPSILON, "{name}, {h}: {error} {expected}");
        }
        assert!((order(&told.out, name) - nominal).abs() < 0.2, "{name}: {}", told.out);
    }
    for (name, nominal) in [
        ("splines, 5 Lobatto points", 6.0),
        ("Gauss-Legendre, degree 2", 4.0),
        ("Chebyshev, degree 2", 4.0),
        ("sines, frequency 10 % too high", 2.0),
    ] {
        assert!((order(&told.out, name) - nominal).abs() < 0.2, "{name}: {}", told.out);
    }
    let page = read(at.join("report.html"));
    assert!(
        page.contains("(order 8.") && page.contains("over processor time") && page.contains("evaluations of forces")
    );
    let pictures = ["steps-errors.svg", "steps-errors-2.svg", "steps-times.svg", "steps-seconds.svg", "steps-work.svg"];
    pictures.iter().for_each(|name| assert!(read(at.join(name)).contains("curve c5"), "{name}"));
}

/// A constrained pendulum against a tighter run, by the methods of the command line.
#[test]
fn any_scene_is_compared_with_a_reference() {
    let folder = tempdir().unwrap();
    let arguments = [
        "study",
        "work-precision",
        "simple-pendulum",
        "--timing",
        "0",
        "--until",
        "0.8",
        "--vary",
        "fixed_step",
        "--values",
        "0.02,0.01,0.005",
        "--method",
        "variational alpha=0",
        "--method",
        "galerkin_lobatto degree=2",
        "--out",
        "page",
    ];
    let told = dalembert(folder.path(), &arguments).with(0);
    for (name, nominal) in [("variational alpha=0", 2.0), ("galerkin_lobatto degree=2", 4.0)] {
        assert!((order(&told.out, name) - nominal).abs() < 0.2, "{name}: {}", told.out);
    }
    // The reference knows its own error: that of a tolerance ten times as large.
    let floors =
        column(&folder.path().join("page/comparison.csv"), "variational alpha=0", "floor body.*.position.* [m]");
    assert!(floors.iter().all(|[_, floor]| (1e-13..1e-9).contains(floor)), "{floors:?}");
    // A scene without a comparison is compared with itself in longer and shorter steps, or with other tolerances.
    let arguments = ["study", "work-precision", "double-pendulum", "--timing", "0", "--until", "0.5", "--out", "own"];
    dalembert(folder.path(), &arguments).with(0);
    let errors = column(&folder.path().join("own/comparison.csv"), "dop853", "error body.*.position.* [m]");
    let tolerances: Vec<f64> = errors.iter().map(|[value, _]| *value).collect();
    assert_eq!(errors.len(), 5);
    assert!((tolerances[0] / tolerances[4] / 1e4 - 1.0).abs() < 1e-12, "{tolerances:?}");
    assert!(errors[0][1] > errors[4][1], "{errors:?}");
}

/// The printed period of rotation matrices has no solution at h = 0.1 s: its row says so, the others are there.
#[test]
fn what_fails_is_a_row_with_its_reason() {
    let folder = tempdir().unwrap();
    let at = folder.path().join("page");
    let arguments = [
        "study",
        "work-precision",
        "pendulum-lie",
        "--timing",
        "0",
        "--until",
        "2",
        "--values",
        "0.1,0.05",
        "--method",
        "chord=1",
        "--method",
        "variational degree=7",
        "--channel",
        "marker.bob.position.*",
        "--out",
        at.to_str().unwrap(),
    ];
    let told = dalembert(folder.path(), &arguments).with(0);
    let (head, rows) = table(&at.join("comparison.csv"));
    let fault = head.iter().position(|name| name == "fault").unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows[0][fault].contains("t = ") && rows[0][3].is_empty(), "{rows:?}");
    assert!(rows[1][fault].is_empty() && rows[1][3].parse::<f64>().unwrap() > 0.0, "{rows:?}");
    assert!(rows[2][fault].contains("degree") && rows[3][fault].contains("degree"), "{rows:?}");
    assert!(told.out.contains("* lie_group chord=1, 0.1: "), "{}", told.out);
    assert!(read(at.join("report.html")).contains("degree"));
    // Where nothing is left the study fails, with its table.
    let arguments = [
        "study",
        "work-precision",
        "pendulum-lie",
        "--until",
        "1",
        "--values",
        "0.1",
        "--method",
        "variational degree=7",
        "--channel",
        "marker.bob.position.*",
        "--out",
        "none",
    ];
    let ended = dalembert(folder.path(), &arguments).with(1);
    assert!(ended.err.contains("every run failed"), "{}", ended.err);
    assert!(folder.path().join("none/comparison.csv").exists());
}

/// Settings of a scene's comparison are formulas of what is varied: micro steps of 0.01 s, whatever their number.
#[test]
fn comparisons_of_a_scene_vary_its_parameters() {
    let folder = tempdir().unwrap();
    let arguments = [
        "study",
        "work-precision",
        "fpu",
        "--comparison",
        "micro",
        "--values",
        "1,2,5",
        "--until",
        "0.5",
        "--timing",
        "0",
        "--out",
        "page",
    ];
    let told = dalembert(folder.path(), &arguments).with(0);
    let path = folder.path().join("page/micro.csv");
    for method in ["fully implicit", "explicit slow, implicit fast", "fully explicit"] {
        let steps: Vec<f64> = column(&path, method, "steps").iter().map(|[_, steps]| *steps).collect();
        assert_eq!(steps, [50.0, 25.0, 10.0], "{method}");
        let seconds = column(&path, method, "seconds");
        assert!(seconds.iter().all(|[_, s]| *s > 0.0), "{method}: {seconds:?}");
    }
    assert!(told.out.contains("least time of"), "{}", told.out);
    // Other masses have another reference.
    let masses = [
        "study",
        "work-precision",
        "fpu",
        "--comparison",
        "masses-explicit",
        "--values",
        "1,2",
        "--until",
        "0.2",
        "--timing",
        "0",
        "--out",
        "masses",
    ];
    dalembert(folder.path(), &masses).with(0);
    let path = folder.path().join("masses/masses-explicit.csv");
    for method in ["6 masses", "30 masses", "90 masses", "200 masses"] {
        let errors = column(&path, method, "error body.*.position.x [m]");
        assert!(errors.iter().all(|[_, error]| *error < 1e-2), "{method}: {errors:?}");
    }
}

#[test]
fn bad_comparisons_are_told() {
    let folder = tempdir().unwrap();
    let refused = |more: &[&str], words: &str| {
        let arguments = [&["study", "work-precision", "oscillator", "--timing", "0"], more].concat();
        let ended = dalembert(folder.path(), &arguments).with(2);
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    };
    refused(&["--comparison", "stepz"], "did you mean `steps`?");
    refused(&["--method", "variatonal"], "there is no integrator `variatonal`; did you mean `variational`?");
    refused(&["--method", "variational alpha"], "`alpha` is not KEY=VALUE");
    refused(&["--channel", "body.mass.place.x"], "no channel matches `body.mass.place.x`");
    refused(&["--channel", "body.mass.*"], "give them apart");
    refused(&["--exact", "body.mass.position.q=t"], "there is no channel `body.mass.position.q`");
    refused(&["--until", "0"], "runs must end after they start");
    refused(&["--method", "dop853", "--vary", "parameters.interval"], "no values are given");
    refused(&["--values", "0.1,nan"], "nan");
    let scene = folder.path().join("scene.toml");
    let text =
        "[body.a]\nkind = \"particle\"\nmass = 1\n[comparison.c]\n[[comparison.c.methods]]\nintegrator = \"rk5\"\n";
    std::fs::write(&scene, text).unwrap();
    let ended = dalembert(folder.path(), &["check", "scene.toml"]).with(2);
    assert!(ended.err.contains("unknown integrator `rk5`") && ended.err.contains("scene.toml:6"), "{}", ended.err);
    std::fs::write(&scene, text.replace("integrator = \"rk5\"", "method = 1")).unwrap();
    let ended = dalembert(folder.path(), &["check", "scene.toml"]).with(2);
    assert!(ended.err.contains("unknown key `method`"), "{}", ended.err);
    // A formula that is none is the reason of every row.
    let exact = ["study", "work-precision", "oscillator", "--exact", "body.mass.position.x=2*cos(", "--out", "none"];
    let ended = dalembert(folder.path(), &exact).with(1);
    assert!(ended.out.contains("the closed form `2*cos(` of `body.mass.position.x`"), "{}", ended.out);
}
