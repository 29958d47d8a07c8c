//! `cargo xtask monte-carlo`: ten thousand heads of leeches against a wall, with one worker, with two, and killed three times.

use crate::chores::release_binary;
use crate::shell::{Outcome, command, root, target};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The study and its scene.
const STUDY: &str = "crates/sweeps/studies/leech-head";
/// Kills before the sweep is left to its end.
const KILLS: u32 = 3;

/// Runs the sweep in three ways, compares the tables and prints the figures.
pub fn run(arguments: &[String]) -> Outcome {
    let rows = match arguments {
        [] => 10_000,
        [rows] => rows.parse::<u64>().map_err(|_| format!("expected a number of rows, found `{rows}`"))?,
        _ => return Err("expected a number of rows at most".into()),
    };
    let program = match std::env::var_os("DALEMBERT") {
        Some(program) => PathBuf::from(program),
        None => release_binary()?,
    };
    let folder = target().join("monte-carlo");
    let io = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(io)?;
    }
    std::fs::create_dir_all(&folder).map_err(io)?;
    let from = root().join(STUDY);
    std::fs::copy(from.join("scene.toml"), folder.join("scene.toml")).map_err(io)?;
    let study = std::fs::read_to_string(from.join("study.toml")).map_err(io)?;
    let study = study.replace("samples = 10000", &format!("samples = {rows}"));
    std::fs::write(folder.join("study.toml"), study).map_err(io)?;

    let sweep = |out: &str, jobs: u32| {
        let mut sweep = command(&program, &["sweep", "study.toml", "--quiet", "--out", out]);
        sweep.args(["--jobs", &jobs.to_string()]).current_dir(&folder);
        sweep
    };
    let one = timed(&mut sweep("one", 1))?;
    println!("{rows} rows, 1 worker:  {}", told(rows, one));
    let two = timed(&mut sweep("two", 2))?;
    println!("{rows} rows, 2 workers: {}", told(rows, two));
    println!("speed-up from 1 to 2 workers: {:.2}", one.as_secs_f64() / two.as_secs_f64());

    let mut finished = Vec::new();
    for _ in 0..KILLS {
        let mut child = sweep("killed", 2).spawn().map_err(|error| format!("cannot start the sweep: {error}"))?;
        // Somewhere between a twentieth and a quarter of the whole: three of them never reach the end.
        std::thread::sleep(two.mul_f64(0.05 + 0.2 * chance()));
        child
            .kill()
            .and_then(|()| child.wait().map(drop))
            .map_err(|error| format!("cannot kill the sweep: {error}"))?;
        finished.push(std::fs::metadata(folder.join("killed/journal")).map_or(0, |journal| journal.len()));
    }
    timed(&mut sweep("killed", 2))?;
    println!("killed {KILLS} times, with {finished:?} bytes of journal, and gone on with to the end");
    let table = |name: &str| std::fs::read(folder.join(name).join("results.parquet")).map_err(io);
    let whole = table("one")?;
    for name in ["two", "killed"] {
        if table(name)? != whole {
            return Err(format!("the tables `one` and `{name}` in {} differ", folder.display()));
        }
    }
    println!("the three tables of {} bytes are the same: {}", whole.len(), shown(&folder.join("one/results.parquet")));
    Ok(())
}

/// A number between 0 and 1 that differs from run to run.
fn chance() -> f64 {
    RandomState::new().hash_one(0) as f64 / u64::MAX as f64
}

fn timed(command: &mut Command) -> Outcome<Duration> {
    let start = Instant::now();
    crate::shell::run(command)?;
    Ok(start.elapsed())
}

fn told(rows: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    format!("{seconds:.1} s, {:.1} rows/s, {:.2} ms a row", rows as f64 / seconds, 1e3 * seconds / rows as f64)
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
