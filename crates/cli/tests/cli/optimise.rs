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
    // Without a terminal there is a line for the first iteration.
    let ended = dalembert(folder.path(), &["optimise", "study.toml", "--out", "told"]).with(0);
    assert!(ended.err.contains("objective") && ended.err.contains("\n      0"), "{}", ended.err);
    // What is refused before its first iteration has no goals, and says why.
    let wrong = STUDY.replace("pull^2", "pull^2 + ln(body.lift.cabin - 5)");
    std::fs::write(path("wrong.toml"), wrong).unwrap();
    let ended = dalembert(folder.path(), &["optimise", "wrong.toml", "--out", "wrong"]).with(1);
    assert!(
        ended.err.contains("goal `effort` at 0.0000 s") && !ended.out.contains("NaN"),
        "{} {}",
        ended.err,
        ended.out
    );
    assert!(!ended.out.contains("effort ="), "{}", ended.out);
    // More path conditions than freedom.
    let many = STUDY.replace("[[goal]]", "[[phase.always]]\nof = \"marker_free\"\nis = 0.1\n[[goal]]");
    let many = many.replace("marker_free", "body.lift.cabin + 0*time");
    std::fs::write(
        path("many.toml"),
        many.replace("is = 0.1\n", "is = 0.1\n[[phase.always]]\nof = \"body.lift.cabin^2\"\nis = 0.5\n"),
    )
    .unwrap();
    let ended = dalembert(folder.path(), &["optimise", "many.toml", "--quiet", "--out", "many"]).with(1);
    assert!(ended.err.contains("body.lift.cabin^2 at ") && ended.err.contains(" s"), "{}", ended.err);
    // An unreachable target: which equation, and when.
    let tight = STUDY.replace("on = \"body.lift.cabin\"", "on = \"body.lift.cabin\"\nbetween = [-20, 20]");
    std::fs::write(path("tight.toml"), tight).unwrap();
    let ended = dalembert(folder.path(), &["optimise", "tight.toml", "--quiet", "--out", "none"]).with(1);
    assert!(ended.err.contains("infeasible") && ended.err.contains("cabin at "), "{}", ended.err);
    let ended = dalembert(folder.path(), &["optimise", "nowhere"]).with(2);
    assert!(ended.err.contains("swing-up"), "{}", ended.err);
}

/// A built-in study as files, which are solved as it is and are not written twice.
#[test]
fn a_study_is_copied() {
    let folder = tempdir().unwrap();
    let ended = dalembert(folder.path(), &["optimise", "jump", "--copy", "mine"]).with(0);
    assert!(ended.out.contains("jump.toml"), "{}", ended.out);
    let study = read(folder.path().join("mine/jump.toml"));
    assert!(study.contains("jumper.scene.toml") && folder.path().join("mine/jumper.scene.toml").is_file());
    let told = |study: &str, out: &str| -> serde_json::Value {
        let ended = dalembert(folder.path(), &["optimise", study, "--json", "--out", out]).with(0);
        serde_json::from_str(&ended.out).unwrap()
    };
    let (own, built_in) = (told("mine/jump.toml", "a"), told("jump", "b"));
    assert_eq!(own["goals"], built_in["goals"]);
    let ended = dalembert(folder.path(), &["optimise", "jump", "--copy", "mine"]).with(4);
    assert!(ended.err.contains("jump.toml"), "{}", ended.err);
    let ended = dalembert(folder.path(), &["list", "studies"]).with(0);
    assert!(ended.out.contains("jump ") && ended.out.contains("five-bar"), "{}", ended.out);
}

/// Ctrl-C: the best iterate is kept as a record that says so.
#[cfg(unix)]
#[test]
fn an_interrupted_search_keeps_the_best_motion() {
    use dalembert::record::{self, Status};
    use std::time::Duration;
    let folder = tempdir().unwrap();
    dalembert(folder.path(), &["optimise", "swing-up", "--copy", "."]).with(0);
    let path = folder.path().join("swing-up.toml");
    let long = read(&path).replace("intervals = 40", "intervals = 30000");
    assert!(long.contains("30000"));
    std::fs::write(&path, long).unwrap();
    // The signal may come before the program listens, or after it has ended.
    let ended = (0..9)
        .map(|k| {
            let mut command = command(folder.path(), &["optimise", "swing-up.toml", "--out", "best", "--samples", "1"]);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(300 << k));
            Command::new("kill").args(["-INT", &child.id().to_string()]).output().unwrap();
            Ended::from(child.wait_with_output().unwrap())
        })
        .find(|ended| ended.code == Some(130))
        .expect("a search is longer than the way of a signal");
    assert!(ended.out.contains("stopped; the best point so far is returned"), "{}", ended.out);
    let kept = record::read(&folder.path().join("best")).unwrap();
    assert_eq!(kept.summary.status, Status::Interrupted);
    assert_eq!(kept.summary.rows, 30001);
}
