//! Sweeps from the command line: killed at any moment they go on, and the table is the same to the byte.
#![cfg(unix)]

use super::*;
use std::thread::sleep;
use std::time::Duration;
use tempfile::tempdir;

pub const STUDY: &str = r#"
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
    // A row more each time: then it is killed, wherever it is.
    let killed = || {
        let before = length();
        let mut child =
            command(folder, &["sweep", "study.toml", "--out", "broken", "--jobs", "2", "--quiet"]).spawn().unwrap();
        while length() <= before.max(32) && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_micros(200));
        }
        child.kill().unwrap();
        !child.wait().unwrap().success()
    };
    // One that was faster than the signal is begun anew.
    let thrice = |_| {
        let _ = std::fs::remove_dir_all(folder.join("broken"));
        (0..3).all(|_| killed())
    };
    assert!((0..20).any(thrice), "the sweep is longer than the way of a signal");
    let ended = dalembert(folder, &["sweep", "study.toml", "--out", "broken", "--json"]).with(0);
    assert!(ended.out.contains("\"finished\": 40") && !ended.out.contains("\"before\": 0"), "{}", ended.out);
    let table = |name: &str| std::fs::read(folder.join(name).join("results.parquet")).unwrap();
    assert!(table("whole") == table("broken"));
    // Records are of one length here: no row stands there twice.
    assert_eq!(length(), std::fs::metadata(folder.join("whole/journal")).unwrap().len());

    slurm(folder, 3, &[1, 2, 3]);
    dalembert(folder, &["sweep", "study.toml", "--merge", "parts", "--out", "merged"]).with(0);
    assert!(table("whole") == table("merged"));
    std::fs::remove_file(folder.join("parts/journal-2-of-3")).unwrap();
    let ended = dalembert(folder, &["sweep", "study.toml", "--merge", "parts", "--out", "merged"]).with(1);
    assert!(ended.err.contains("rows are missing, row 1 is the first"), "{}", ended.err);
    // A member that was lost is submitted again by itself, `sbatch --array=2 rows.sh`: it is still one of three.
    slurm(folder, 3, &[2]);
    dalembert(folder, &["sweep", "study.toml", "--merge", "parts", "--out", "again"]).with(0);
    assert!(table("whole") == table("again"));
}

/// Runs the batch script of the book as Slurm would, for some members of an array of `count` parts.
fn slurm(folder: &Path, count: usize, members: &[usize]) {
    let chapter = read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/sweeps.md"));
    let script = chapter.split("```").find(|block| block.contains("#SBATCH --array")).unwrap();
    let script = script.strip_prefix("bash\n").expect("the script of the book is marked as bash");
    let script = script.replace("PARTS=50", &format!("PARTS={count}"));
    assert!(script.contains(&format!("PARTS={count}")), "the script of the book has 50 parts");
    std::fs::write(folder.join("rows.sh"), script).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_dalembert")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(program.to_path_buf()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    for member in members {
        let mut bash = Command::new("bash");
        bash.arg("rows.sh").current_dir(folder).env("PATH", &path).stdin(Stdio::null());
        bash.env("SLURM_ARRAY_TASK_ID", member.to_string()).env("SLURM_ARRAY_TASK_COUNT", members.len().to_string());
        let ended: Ended = bash.env("SLURM_CPUS_PER_TASK", "2").output().unwrap().into();
        ended.with(0);
    }
}

/// The head of the leech of `cargo xtask monte-carlo`, a few rows of it: all have one impact with all four corners and come off again, with less energy.
#[test]
fn a_head_bounces() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sweeps/studies/leech-head");
    std::fs::copy(studies.join("scene.toml"), folder.join("scene.toml")).unwrap();
    std::fs::write(folder.join("study.toml"), read(studies.join("study.toml")).replace("10000", "12")).unwrap();
    let ended = dalembert(folder, &["sweep", "study.toml", "--out", "out", "--json"]).with(0);
    assert!(ended.out.contains("\"finished\": 12, \"failed\": 0"), "{}", ended.out);
    let path = folder.join("study.toml");
    let study = dalembert_sweeps::Study::load(&path).unwrap();
    // The program was started in its folder, and named the study by a relative path: the mark does not depend on it.
    let rows = dalembert_sweeps::read_all(&[folder.join("out/journal")], study.mark(), study.outputs.len()).unwrap();
    let names: Vec<&str> = study.outputs.iter().map(|output| output.name.as_str()).collect();
    let place = |name: &str| names.iter().position(|n| *n == name).unwrap();
    for (row, outcome) in rows {
        let dalembert_sweeps::Outcome::Done(values) = outcome else { panic!("row {row}: {outcome:?}") };
        let value = |name: &str| values[place(name)].number().unwrap();
        let dalembert_sweeps::Value::Number(speed) = study.plan.values(row)[1] else { panic!() };
        // Twelve corners of 0.01 kg; by Newton's law the four in front stop at once, and friction never adds to a motion.
        let before = 0.5 * 0.12 * speed * speed;
        let (normal, along) = (speed * 0.7f64.cos(), 0.12 * speed * 0.7f64.sin());
        assert_eq!(value("impacts"), 4.0, "row {row}");
        assert!(value("leaves") < 0.25 && value("rebound") > 0.0, "row {row}: {values:?}");
        assert!(value("glide") <= 0.0 && value("glide") >= -along, "row {row}: {values:?}");
        assert!(value("lost") > 0.0 && value("lost") < 0.5 * 0.12 * normal * normal, "row {row}: {values:?}");
        assert!(value("heat") >= value("lost") && value("heat") < before, "row {row}: {values:?}");
    }
}

/// What is wrong in the first row only is told by that row; what is wrong in all of them refuses the sweep.
#[test]
fn a_bad_value_first_stops_nothing() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let bad = STUDY.replace("samples = 40\n", "").replace("uniform = [0.1, 0.8]", "values = [-1, 0.3]");
    std::fs::write(folder.join("study.toml"), &bad).unwrap();
    let ended = dalembert(folder, &["sweep", "study.toml", "--out", "out", "--json"]).with(0);
    assert!(ended.out.contains("\"finished\": 2, \"failed\": 1"), "{}", ended.out);
    std::fs::write(folder.join("study.toml"), bad.replace("parameters.mu", "parameters.my")).unwrap();
    let ended = dalembert(folder, &["sweep", "study.toml", "--out", "other", "--json"]).with(2);
    assert!(ended.err.contains("parameters.my"), "{}", ended.err);
}

/// A file system without locks, as some clusters have: a warning, and the sweep goes on.
#[cfg(target_os = "linux")]
#[test]
fn journals_without_locks_are_used_with_a_warning() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("study.toml"), STUDY.replace("samples = 40", "samples = 2")).unwrap();
    // What the file system answers, given by a library that is loaded before the system's: 37 is ENOLCK, 5 is EIO.
    let told = |number: i32| -> Ended {
        let source = format!("#include <errno.h>\nint flock(int f, int o) {{ errno = {number}; return -1; }}\n");
        std::fs::write(folder.join("locks.c"), source).unwrap();
        let built =
            Command::new("cc").args(["-shared", "-fPIC", "-o", "locks.so", "locks.c"]).current_dir(folder).status();
        assert!(built.unwrap().success());
        let mut program = command(folder, &["sweep", "study.toml", "--out", &format!("out{number}"), "--json"]);
        program.env("LD_PRELOAD", folder.join("locks.so")).output().unwrap().into()
    };
    let ended = told(37).with(0);
    assert!(ended.err.contains("warning: ") && ended.err.contains("cannot be locked"), "{}", ended.err);
    assert!(ended.out.contains("\"finished\": 2"), "{}", ended.out);
    told(5).with(4);
}

/// A Python without the package, none at all, and options that do not fit are told.
#[test]
fn a_cluster_needs_python_with_the_package() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("study.toml"), STUDY).unwrap();
    let with = |python: &str, arguments: &[&str]| -> Ended {
        let all: Vec<&str> = ["sweep", "study.toml", "--out", "out"].iter().chain(arguments).copied().collect();
        command(folder, &all).env("DALEMBERT_PYTHON", python).output().unwrap().into()
    };
    let ended = with("/nowhere/python", &["--engine", "dask"]).with(2);
    assert!(ended.err.contains("/nowhere/python") && ended.err.contains("DALEMBERT_PYTHON"), "{}", ended.err);
    // Whatever is asked, these answer as a Python without the package, and as one with another version, would.
    for (answer, part) in [
        ("echo 'it has no package `dalembert`; install it there' >&2; exit 1", "no package `dalembert`"),
        ("echo 0.0.9", "its `dalembert` is version 0.0.9, this program is version"),
    ] {
        let python = folder.join("python");
        std::fs::write(&python, format!("#!/bin/sh\n{answer}\n")).unwrap();
        std::fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let ended = with(python.to_str().unwrap(), &["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1"]).with(2);
        assert!(ended.err.contains(part), "{}", ended.err);
    }
    let ended = with("python3", &["--scheduler", "tcp://127.0.0.1:1"]).with(2);
    assert!(ended.err.contains("belong to --engine dask"), "{}", ended.err);
    let ended = with("python3", &["--engine", "spark"]).with(2);
    assert!(ended.err.contains("dask"), "{}", ended.err);
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

/// Rows side by side or one by one, by the study or from outside: within the tolerance of each other, and a journal belongs to one way.
#[test]
fn rows_sit_side_by_side_unless_told() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let text = "[sweep]\nscene = \"double-pendulum\"\nset = [\"run.until=1\", \"run.tolerance=1e-8\"]\n[[vary]]\npath = \"parameters.mass\"\ngrid = [1, 2]\ncount = 5\n\
                [[output]]\nname = \"kinetic\"\nenergy = \"kinetic\"\n";
    std::fs::write(folder.join("study.toml"), text).unwrap();
    std::fs::write(folder.join("alone.toml"), text.replace("[sweep]", "[sweep]\nlanes = false")).unwrap();
    let sweep = |arguments: &[&str]| dalembert(folder, &[&["sweep", "--jobs", "2"], arguments].concat());
    let ended = sweep(&["study.toml", "--out", "beside"]).with(0);
    assert!(ended.out.contains("5 of 5 rows finished, 0 failed, 0 before, 5 side by side"), "{}", ended.out);
    for (study, option) in [("study.toml", "--no-lanes"), ("alone.toml", "--quiet")] {
        let out = format!("one-{study}");
        let ended = sweep(&[study, "--out", &out, "--json", option]).with(0);
        assert!(ended.out.contains("\"finished\": 5") && ended.out.contains("\"beside\": 0"), "{}", ended.out);
    }
    let table = |name: &str| std::fs::read(folder.join(name).join("results.parquet")).unwrap();
    assert!(table("one-study.toml") == table("one-alone.toml"));
    let ended = sweep(&["alone.toml", "--out", "forced", "--lanes", "--json"]).with(0);
    assert!(ended.out.contains("\"beside\": 5") && table("forced") == table("beside"), "{}", ended.out);
    let ended = sweep(&["study.toml", "--out", "beside", "--no-lanes"]).with(2);
    assert!(ended.err.contains("belongs to another study"), "{}", ended.err);
    let ended = sweep(&["study.toml", "--engine", "dask", "--no-lanes"]).with(2);
    assert!(ended.err.contains("write `lanes` into the study"), "{}", ended.err);
}
