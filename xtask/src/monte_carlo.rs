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
    println!("speed-up from 1 to 2 workers: {:.2}", one.wall.as_secs_f64() / two.wall.as_secs_f64());
    if let (Some(one), Some(two)) = (one.processor, two.processor) {
        println!(
            "processor time of 1 worker over that of 2: {:.3} (1 if they share nothing, whatever else runs)",
            one / two
        );
    }

    let mut finished = Vec::new();
    for _ in 0..KILLS {
        let mut child = sweep("killed", 2).spawn().map_err(|error| format!("cannot start the sweep: {error}"))?;
        // Somewhere between a twentieth and a quarter of the whole: three of them never reach the end.
        std::thread::sleep(two.wall.mul_f64(0.05 + 0.2 * chance()));
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

/// What a sweep has taken.
#[derive(Copy, Clone)]
struct Taken {
    wall: Duration,
    /// Time of processors in s, where it can be known.
    processor: Option<f64>,
}

fn timed(command: &mut Command) -> Outcome<Taken> {
    let (start, before) = (Instant::now(), children());
    crate::shell::run(command)?;
    let processor = before.zip(children()).map(|(before, after)| after - before);
    Ok(Taken { wall: start.elapsed(), processor })
}

/// The time of processors that ended children have taken, in s: Linux tells it in hundredths.
fn children() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

fn told(rows: u64, taken: Taken) -> String {
    let seconds = taken.wall.as_secs_f64();
    let processor =
        taken.processor.map_or(String::new(), |s| format!(", {:.2} ms of processor a row", 1e3 * s / rows as f64));
    format!("{seconds:.1} s, {:.1} rows/s{processor}", rows as f64 / seconds)
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
