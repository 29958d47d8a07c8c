//! `dalembert optimise`: a study from the command line to its record.

use super::*;
use tempfile::tempdir;

/// A mass lifted in a given time with least effort: the closed form 12 m² d²/T³ + m² g² T of collocation of order 4, which is exact here.
const SCENE: &str = "
[world]
gravity = [0, 0, -9.81]
[body.lift]
kind = \"tree\"
[[body.lift.links]]
name = \"cabin\"
joint = { kind = \"prismatic\", axis = [0, 0, 1] }
mass = 2.0
[run]
until = 1
";

const STUDY: &str = "
[optimise]
scene = \"lift.toml\"
method = \"hermite_simpson\"
intervals = 6
[[control]]
name = \"pull\"
on = \"body.lift.cabin\"
[[phase]]
duration = 1.5
start = { configuration = [0.0], velocity = \"rest\" }
end = { configuration = [0.7], velocity = \"rest\" }
[[goal]]
name = \"effort\"
integral = \"pull^2\"
";

#[test]
fn a_study_is_solved_and_recorded() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("lift.toml"), SCENE).unwrap();
    std::fs::write(path("study.toml"), STUDY).unwrap();
    let ended = dalembert(folder.path(), &["optimise", "study.toml", "--json", "--out", "best"]).with(0);
    let told: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let exact = 12.0 * 1.4f64.powi(2) / 1.5f64.powi(3) + (2.0 * 9.81f64).powi(2) * 1.5;
    let effort = told["goals"]["effort"].as_f64().unwrap();
    // The solver's tolerance, 1e-8, enters by its square; rounding and scaling remain.
    assert!((effort / exact - 1.0).abs() < 1e-9, "{effort} {exact}");
    for file in ["summary.json", "report.html", "scene.toml"] {
        assert!(path("best").join(file).exists(), "{file}");
    }
    // An unreachable target: which equation, and when.
    let tight = STUDY.replace("on = \"body.lift.cabin\"", "on = \"body.lift.cabin\"\nbetween = [-20, 20]");
    std::fs::write(path("tight.toml"), tight).unwrap();
    let ended = dalembert(folder.path(), &["optimise", "tight.toml", "--quiet", "--out", "none"]).with(1);
    assert!(ended.err.contains("infeasible") && ended.err.contains("cabin at "), "{}", ended.err);
    let ended = dalembert(folder.path(), &["optimise", "nowhere"]).with(2);
    assert!(ended.err.contains("swing-up"), "{}", ended.err);
}
