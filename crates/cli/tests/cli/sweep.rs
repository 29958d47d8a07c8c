//! Sweeps from the command line: killed at any moment they go on, and the table is the same to the byte.
#![cfg(unix)]

use super::*;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::tempdir;

const STUDY: &str = r#"
[sweep]
scene = "leech"
set = ["run.until=0.05"]
samples = 40
seed = 3

[[vary]]
path = "parameters.mu"
uniform = [0.1, 0.8]

[[output]]
name = "kinetic"
energy = "kinetic"

[[output]]
name = "events"
events = "*"
take = "count"
"#;

#[test]
fn a_sweep_killed_three_times_has_the_same_table() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("study.toml"), STUDY).unwrap();
    let ended = dalembert(folder, &["sweep", "study.toml", "--out", "whole", "--jobs", "1"]).with(0);
    assert!(ended.out.contains("40 of 40 rows finished, 0 failed"), "{}", ended.out);
    let journal = folder.join("broken/journal");
    let length = || std::fs::metadata(&journal).map_or(0, |m| m.len());
    let mut kills = 0;
    for _ in 0..3 {
        let before = length();
        let mut child =
            command(folder, &["sweep", "study.toml", "--out", "broken", "--jobs", "2", "--quiet"]).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        // A few rows each time: then it is killed, wherever it is.
        while length() < before + 300 && child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "no row was finished");
            sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        kills += usize::from(!child.wait().unwrap().success());
    }
    assert!(kills > 0, "the sweep is longer than the way of a signal");
    let ended = dalembert(folder, &["sweep", "study.toml", "--out", "broken", "--json"]).with(0);
    assert!(ended.out.contains("\"finished\": 40") && !ended.out.contains("\"before\": 0"), "{}", ended.out);
    let table = |name: &str| std::fs::read(folder.join(name).join("results.parquet")).unwrap();
    assert!(table("whole") == table("broken"));

    for shard in ["1/3", "2/3", "3/3"] {
        dalembert(folder, &["sweep", "study.toml", "--out", "parts", "--shard", shard, "--quiet"]).with(0);
    }
    dalembert(folder, &["sweep", "study.toml", "--merge", "parts", "--out", "merged"]).with(0);
    assert!(table("whole") == table("merged"));
    std::fs::remove_file(folder.join("parts/journal-2-of-3")).unwrap();
    let ended = dalembert(folder, &["sweep", "study.toml", "--merge", "parts", "--out", "merged"]).with(1);
    assert!(ended.err.contains("rows are missing, row 1 is the first"), "{}", ended.err);
}

#[test]
fn faults_of_sweeps_are_told() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("study.toml"), STUDY.replace("uniform = [0.1, 0.8]", "uniform = [0.8, 0.1]")).unwrap();
    let ended = dalembert(folder, &["sweep", "study.toml"]).with(2);
    assert!(ended.err.contains("study.toml:8:1") && ended.err.contains("smaller first"), "{}", ended.err);
    std::fs::write(folder.join("study.toml"), STUDY).unwrap();
    let ended = dalembert(folder, &["sweep", "study.toml", "--shard", "4/3"]).with(2);
    assert!(ended.err.contains("i from 1 to n"), "{}", ended.err);
    let ended = dalembert(folder, &["sweep", "nothing.toml"]).with(4);
    assert!(ended.err.contains("nothing.toml"), "{}", ended.err);
    let ended = dalembert(folder, &["sweep", "study.toml", "--out", "a", "--set", "x=1"]);
    assert_ne!(ended.code, Some(0));
    std::fs::create_dir(folder.join("other")).unwrap();
    std::fs::write(folder.join("other/journal"), "something else, long enough to be a journal").unwrap();
    let ended = dalembert(folder, &["sweep", "study.toml", "--out", "other"]).with(2);
    assert!(ended.err.contains("is not a journal"), "{}", ended.err);
}
