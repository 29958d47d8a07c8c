//! Disks that take no more: the words name the file and the reason, nothing that was finished is lost, and with room again the same command gives the same bytes.
//!
//! A disk is made full by the limit that the system has for the size of a file.
#![cfg(target_os = "linux")]

use super::*;
use dalembert::record::{self, files};
use tempfile::tempdir;

/// Runs the program where no file may be longer than so many blocks of 512 bytes.
fn limited(folder: &Path, blocks: u64, arguments: &[&str]) -> Ended {
    let script = r#"trap "" XFSZ; ulimit -f "$0"; exec "$@""#;
    let mut shell = Command::new("sh");
    shell.args(["-c", script, &blocks.to_string(), env!("CARGO_BIN_EXE_dalembert")]).args(arguments);
    shell.current_dir(folder).stdin(Stdio::null()).output().unwrap().into()
}

fn length(path: impl AsRef<Path>) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

#[test]
fn a_run_goes_on_from_its_checkpoint() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let arguments = |out: &'static str| ["run", "double-pendulum", "--checkpoint-every", "1e-9", "--out", out];
    dalembert(folder, &arguments("whole")).with(0);
    let of_record = |name: &str| length(folder.join("whole").join(name));
    let longest = [files::TRAJECTORY_CSV, files::TRAJECTORY_PARQUET, files::REPORT, files::ANIMATION];
    let longest = longest.into_iter().max_by_key(|name| of_record(name)).unwrap();
    let blocks = (of_record(longest) - 1) / 512;

    let ended = limited(folder, blocks, &arguments("full")).with(4);
    for part in [longest, "File too large", "ulimit -f", "come to t = 10 s", ".full.checkpoint.bin", "--resume"] {
        assert!(ended.err.contains(part), "`{part}` is not told: {}", ended.err);
    }
    assert_eq!(names(folder), [".full.checkpoint.bin", "whole"], "no half a record");
    dalembert(folder, &[&arguments("full")[..], &["--resume"]].concat()).with(0);
    for file in [files::TRAJECTORY_CSV, files::TRAJECTORY_PARQUET, files::STEPS, files::EVENTS, files::SCENE] {
        let bytes = |run: &str| std::fs::read(folder.join(run).join(file)).unwrap();
        assert!(bytes("whole") == bytes("full"), "{file} differs");
    }
    assert_eq!(names(folder), ["full", "whole"]);

    // An older record under the same name stays as it was; without checkpoints there is nothing to go on from.
    let before = read(folder.join("full/summary.json"));
    let once = ["run", "double-pendulum", "--until", "9", "--checkpoint-every", "0", "--out", "full"];
    let ended = limited(folder, 8, &once).with(4);
    assert!(ended.err.contains("there is no checkpoint to go on from"), "{}", ended.err);
    assert_eq!(before, read(folder.join("full/summary.json")));
    assert!(record::is_record(&folder.join("full")) && names(folder) == ["full", "whole"]);

    // A checkpoint that finds no room is told, and ends nothing.
    let ended = limited(folder, 1, &arguments("small")).with(4);
    assert!(ended.err.contains("cannot write `small") || ended.err.contains("cannot write"), "{}", ended.err);
    assert_eq!(names(folder), ["full", "whole"]);
}

#[test]
fn a_sweep_goes_on_from_its_journal() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("study.toml"), sweep::STUDY).unwrap();
    let arguments = |out: &'static str| ["sweep", "study.toml", "--json", "--jobs", "2", "--out", out];
    dalembert(folder, &arguments("whole")).with(0);
    let journal = length(folder.join("whole/journal"));

    let ended = limited(folder, journal / 1024, &arguments("full")).with(4);
    for part in ["full/journal", "File too large", "finished rows are kept", "goes on with the rest"] {
        assert!(ended.err.contains(part), "`{part}` is not told: {}", ended.err);
    }
    assert!(!folder.join("full/results.parquet").exists());
    // Whole records only: 32 bytes of the head, and as many for each row.
    let (one, kept) = ((journal - 32) / 40, length(folder.join("full/journal")) - 32);
    assert!(kept > 0 && kept.is_multiple_of(one) && kept < journal - 32, "{kept} bytes of rows with {one}");

    let ended = dalembert(folder, &arguments("full")).with(0);
    assert!(ended.out.contains(&format!("\"before\": {}", kept / one)), "no row was computed again: {}", ended.out);
    let same = || {
        let bytes = |out: &str| std::fs::read(folder.join(out).join("results.parquet")).unwrap();
        assert_eq!(length(folder.join("whole/journal")), length(folder.join("full/journal")));
        assert!(bytes("whole") == bytes("full"));
    };
    same();

    // All rows fit, but not the table, which is the longer file where there are few rows.
    for out in ["whole", "full"] {
        std::fs::remove_dir_all(folder.join(out)).unwrap();
    }
    std::fs::write(folder.join("study.toml"), sweep::STUDY.replace("samples = 40", "samples = 8")).unwrap();
    dalembert(folder, &arguments("whole")).with(0);
    let [journal, table] = ["journal", "results.parquet"].map(|name| length(folder.join("whole").join(name)));
    let blocks = (table - 1) / 512;
    assert!(512 * blocks >= journal, "a table of {table} bytes, a journal of {journal}");
    let ended = limited(folder, blocks, &arguments("full")).with(4);
    assert!(ended.err.contains("full/results.parquet") && ended.err.contains("File too large"), "{}", ended.err);
    assert_eq!(names(&folder.join("full")), ["journal"], "no half a table");
    let ended = dalembert(folder, &arguments("full")).with(0);
    assert!(ended.out.contains("\"before\": 8"), "no row was computed again: {}", ended.out);
    same();
}

#[test]
fn a_front_goes_on_from_its_journal() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("lift.toml"), fronts::LIFT).unwrap();
    let arguments = |out: &'static str| ["optimise", "lift.toml", "--jobs", "2", "--quiet", "--out", out];
    dalembert(folder, &arguments("whole")).with(0);
    let journal = length(folder.join("whole/journal"));
    let ended = limited(folder, journal / 1024, &arguments("full")).with(4);
    for part in ["full/journal", "File too large", "finished solves are kept", "goes on with the rest"] {
        assert!(ended.err.contains(part), "`{part}` is not told: {}", ended.err);
    }
    let kept = length(folder.join("full/journal"));
    assert!(kept > 24 && kept < journal, "{kept} of {journal} bytes");
    dalembert(folder, &arguments("full")).with(0);
    assert_eq!(read(folder.join("whole/front.csv")), read(folder.join("full/front.csv")));
    assert_eq!(length(folder.join("full/journal")), journal, "nothing was solved twice");
}

/// What is printed has a place that can be full, too.
#[test]
fn a_full_standard_output_is_told() {
    let folder = tempdir().unwrap();
    for arguments in [&["list"][..], &["schema"], &["run", "sleigh", "--until", "0.1", "--out", "a"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended: Ended = command(folder.path(), arguments).stdout(full).output().unwrap().into();
        let ended = ended.with(4);
        assert!(ended.err.contains("No space left on device"), "{arguments:?}: {}", ended.err);
    }
    assert!(record::is_record(&folder.path().join("a")), "the record is there, whatever could be said of it");
}
