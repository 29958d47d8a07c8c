//! Ctrl-C and sudden death: what was computed is kept, and `--resume` gives the bits of an uninterrupted run.
#![cfg(unix)]

use super::*;
use dalembert::record::{self, Status, files};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::tempdir;

/// How often a run that was faster than the signal is tried again, each time twice as long.
const TRIES: i32 = 8;
/// What has not happened after this time will not happen on any machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Starts a run, waits for its first checkpoint and sends it a signal; gives how it ended.
fn strike(folder: &Path, arguments: &[&str], signal: &str) -> Ended {
    let checkpoint = record::running_checkpoint(&folder.join("broken"));
    let mut command = command(folder, arguments);
    command.args(["--out", "broken", "--checkpoint-every", "0.02"]);
    let mut child: Child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !checkpoint.is_file() && child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "no checkpoint was written");
        sleep(Duration::from_millis(1));
    }
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).output().unwrap();
    drop(killed);
    child.wait_with_output().unwrap().into()
}

/// Interrupts a run, resumes it, and compares it with an uninterrupted one. Events and steps belong to the comparison.
fn interrupt_and_resume(scene: &str, integrator: &str, until: &str) {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let broken = folder.join("broken");
    let struck = (0..TRIES).find_map(|doubled| {
        let until: f64 = until.parse::<f64>().unwrap() * 2f64.powi(doubled);
        let (every, until) = (format!("output.every={}", until / 200.0), until.to_string());
        let arguments =
            ["run", scene, "--integrator", integrator, "--until", &until, "--set", &every].map(str::to_owned);
        let all: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Some(strike(folder, &all, "-INT")).filter(|ended| ended.code != Some(0)).map(|ended| (ended, until, arguments))
    });
    let (ended, until, arguments) = struck.expect("the run is longer than the way of a signal");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = ended.with(130);
    dalembert(folder, &[&arguments[..], &["--out", "whole"]].concat()).with(0);
    assert!(ended.err.contains("continue with --resume"), "{}", ended.err);
    assert!(ended.out.contains("interrupted"), "{}", ended.out);
    let part = record::read(&broken).unwrap();
    assert_eq!(part.summary.status, Status::Interrupted);
    assert!(part.summary.end_time < until.parse().unwrap());
    assert!(broken.join(files::CHECKPOINT).is_file());
    assert!(broken.join(files::REPORT).is_file());
    assert_eq!(names(folder), ["broken", "whole"], "nothing hidden stays behind");

    // A report made again does not take the checkpoint away.
    dalembert(folder, &["report", "broken"]).with(0);

    dalembert(folder, &[&arguments[..], &["--out", "broken", "--resume"]].concat()).with(0);
    same(&folder.join("whole"), &broken, integrator);
    assert!(!broken.join(files::CHECKPOINT).exists());
}

/// Compares two records, bit by bit, but for the wall time and the name.
fn same(whole: &Path, resumed: &Path, what: &str) {
    for file in [files::TRAJECTORY_CSV, files::TRAJECTORY_PARQUET, files::STEPS, files::EVENTS, files::SCENE] {
        let bytes = |run: &Path| std::fs::read(run.join(file)).unwrap();
        assert!(bytes(whole) == bytes(resumed), "{what}: {file} differs");
    }
    let summary = |run: &Path| {
        let mut json: serde_json::Value = serde_json::from_str(&read(run.join(files::SUMMARY))).unwrap();
        json.as_object_mut().unwrap().remove("wall_time");
        json
    };
    assert_eq!(summary(whole), summary(resumed), "{what}");
}

#[test]
fn dop853() {
    interrupt_and_resume("double-pendulum", "dop853", "60");
}

#[test]
fn dopri5() {
    interrupt_and_resume("double-pendulum", "dopri5", "25");
}

#[test]
fn radau() {
    interrupt_and_resume("double-pendulum", "radau", "15");
}

#[test]
fn generalized_alpha() {
    interrupt_and_resume("double-pendulum", "generalized_alpha", "1");
}

#[test]
fn a_killed_run_is_resumed_from_beside_the_folder() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let struck = (0..TRIES).find_map(|doubled| {
        let _ = std::fs::remove_dir_all(folder.join("broken"));
        let until = (40.0 * 2f64.powi(doubled)).to_string();
        let arguments = ["run", "chain", "--until", &until, "--set", "output.every=0.5"].map(str::to_owned);
        let all: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Some(strike(folder, &all, "-KILL")).filter(|ended| ended.code != Some(0)).map(|ended| (ended, arguments))
    });
    let (ended, arguments) = struck.expect("the run is longer than the way of a signal");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    assert_eq!(ended.code, None, "it ended by the signal");
    dalembert(folder, &[&arguments[..], &["--out", "whole"]].concat()).with(0);
    assert_eq!(names(folder), [".broken.checkpoint.bin", "whole"], "no half a record");
    // A checkpoint of another scene is refused and stays.
    let other = ["run", "chain", "--until", "41", "--set", "output.every=0.5", "--out", "broken", "--resume"];
    let ended = dalembert(folder, &other).with(2);
    assert!(ended.err.contains("the checkpoint does not fit this scene"), "{}", ended.err);
    dalembert(folder, &[&arguments[..], &["--out", "broken", "--resume"]].concat()).with(0);
    same(&folder.join("whole"), &folder.join("broken"), "killed");
    assert_eq!(names(folder), ["broken", "whole"]);
}

#[test]
fn there_must_be_something_to_resume() {
    let folder = tempdir().unwrap();
    let arguments = ["run", "sleigh", "--until", "0.1", "--out", "a"];
    dalembert(folder.path(), &arguments).with(0);
    let before = read(folder.path().join("a/summary.json"));
    let ended = dalembert(folder.path(), &[&arguments[..], &["--resume"]].concat()).with(2);
    assert!(ended.err.contains("there is no checkpoint in or beside `a`"), "{}", ended.err);
    assert_eq!(before, read(folder.path().join("a/summary.json")));
    std::fs::write(folder.path().join(".a.checkpoint.bin"), b"not a checkpoint").unwrap();
    let ended = dalembert(folder.path(), &[&arguments[..], &["--resume"]].concat()).with(4);
    assert!(ended.err.contains("checkpoint"), "{}", ended.err);
}

/// Starts a study that would take long, waits until it listens for Ctrl-C and for a while more, and presses it.
#[cfg(target_os = "linux")]
fn press(folder: &Path, arguments: &[&str], after: Duration) -> Ended {
    let all = [&["study"][..], arguments, &["--out", "part"]].concat();
    let mut child: Child = command(folder, &all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let listens = |id: u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim().to_owned();
        u64::from_str_radix(&caught, 16).unwrap_or(0) & 2 != 0
    };
    let deadline = Instant::now() + PATIENCE;
    while !listens(child.id()) && child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "the study does not listen");
        sleep(Duration::from_millis(5));
    }
    sleep(after);
    drop(Command::new("kill").args(["-INT", &child.id().to_string()]).output().unwrap());
    child.wait_with_output().unwrap().into()
}

/// Charts, diagrams, basins, sections and exponents keep what was computed and say how much that is.
#[cfg(target_os = "linux")]
#[test]
fn studies_keep_what_was_computed() {
    let period = "6.283185307179586";
    let chart = ["chart", "mathieu", "--across", "parameters.a=0.5:4", "--up", "parameters.q=0.1:1", "--count", "2000"];
    let chart = [&chart[..], &["--period", "pi*sqrt(a/9.81)", "--set", "parameters.angle=0"]].concat();
    let duffing = ["duffing-b", "--coordinate", "mass", "--period", period];
    let diagram =
        ["--parameter", "parameters.force", "--from", "0.2", "--to", "0.4", "--count", "5000", "--settle", "3"];
    let diagram = [&["bifurcation"][..], &duffing, &diagram, &["--points", "2"]].concat();
    let basin = ["--over", "mass=-2:2", "--over-rate", "mass=-2:2", "--count", "300", "--settle", "2", "--points", "1"];
    let basin = [&["basin"][..], &duffing, &basin].concat();
    let exponents = vec!["lyapunov", "duffing-b", "--transient", "0", "--batch", "2", "--batches", "1000000"];
    let section = [&["poincare"][..], &duffing, &["--settle", "0", "--points", "200000"]].concat();
    for (arguments, file, words) in [
        (chart, "chart.csv", "places were computed"),
        (diagram, "diagram.csv", "of 5000 values"),
        (basin, "basin.csv", "of 90000 places"),
        (exponents, "report.html", "of 1000000 batches"),
        (section, "section.csv", "of 200000 points"),
    ] {
        // The whole takes a thousand times as long as its beginning: with pauses that double, one finds something computed and something left, on any machine.
        let kept = (0..12).any(|doubled| {
            let folder = tempdir().unwrap();
            let ended = press(folder.path(), &arguments, Duration::from_millis(100 << doubled)).with(130);
            assert!(ended.err.contains("interrupted: ") && ended.err.contains(words), "{}", ended.err);
            assert!(ended.out.contains("interrupted: "), "{}", ended.out);
            let part = folder.path().join("part");
            assert!(part.join("report.html").is_file() && read(part.join("report.html")).contains("interrupted: "));
            read(part.join(file)).lines().count() > 2
        });
        assert!(kept, "{file}: nothing is kept of what was computed");
    }
}
