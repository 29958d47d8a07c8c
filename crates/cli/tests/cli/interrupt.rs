//! Ctrl-C and sudden death: what was computed is kept, and `--resume` gives the bits of an uninterrupted run.
#![cfg(unix)]

use super::*;
use dalembert::record::{self, Status, files};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::tempdir;

/// How often a run that was faster than the signal is tried again.
const TRIES: usize = 5;

/// Starts a run, waits for its first checkpoint and sends it a signal; gives how it ended.
fn strike(folder: &Path, arguments: &[&str], signal: &str) -> Ended {
    let checkpoint = record::running_checkpoint(&folder.join("broken"));
    let mut command = command(folder, arguments);
    command.args(["--out", "broken", "--checkpoint-every", "0.02"]);
    let mut child: Child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
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
    let every = format!("output.every={}", until.parse::<f64>().unwrap() / 200.0);
    let arguments = ["run", scene, "--integrator", integrator, "--until", until, "--set", &every];
    dalembert(folder, &[&arguments[..], &["--out", "whole"]].concat()).with(0);

    let broken = folder.join("broken");
    let ended = (0..TRIES).map(|_| strike(folder, &arguments, "-INT")).find(|ended| ended.code != Some(0));
    let ended = ended.expect("the run is longer than the way of a signal").with(130);
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
    let arguments = ["run", "chain", "--until", "40", "--set", "output.every=0.5"];
    dalembert(folder, &[&arguments[..], &["--out", "whole"]].concat()).with(0);
    let ended = (0..TRIES).map(|_| strike(folder, &arguments, "-KILL")).find(|ended| ended.code != Some(0));
    assert_eq!(ended.unwrap().code, None, "it ended by the signal");
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
