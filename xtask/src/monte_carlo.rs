//! `cargo xtask monte-carlo`: ten thousand heads of leeches against a wall, and ten thousand bobs on springs: one by one, in lanes with one worker and with two; and the heads killed three
//! times.

use crate::chores::release_binary;
use crate::shell::{Outcome, command, root, target};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Studies with their scenes: one with contacts and one without.
const HEAD: &str = "crates/sweeps/studies/leech-head";
const SWING: &str = "crates/sweeps/studies/swing";
/// Kills before the sweep is left to its end.
const KILLS: u32 = 3;
/// What lanes must save of the processor's time of a row, at least: less where most of the time goes to events, which each row has by itself. And what workers must save of the time on the clock.
const FROM_LANES: [f64; 2] = [1.9, 3.0];
const FROM_WORKERS: f64 = 1.7;

/// Runs the sweeps in several ways, compares the tables, prints the figures and demands the speed-ups.
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
    let mut gains = Vec::new();
    for (study, name, who) in
        [(HEAD, "monte-carlo", "heads of leeches"), (SWING, "monte-carlo-lanes", "bobs on springs")]
    {
        let place = Place::new(study, name, rows)?;
        let alone = timed(place.sweep(&program, "alone", 1).arg("--no-lanes"))?;
        println!("{who}, {rows} rows, one by one:              {}", told(rows, alone));
        let one = timed(&mut place.sweep(&program, "one", 1))?;
        println!("{who}, {rows} rows, in lanes:                {}", told(rows, one));
        let two = timed(&mut place.sweep(&program, "two", 2))?;
        println!("{who}, {rows} rows, in lanes with 2 workers: {}", told(rows, two));
        let mut same = vec!["one", "two"];
        if study == HEAD {
            killed(&place, &program, two.wall)?;
            same.push("killed");
        }
        place.same(&same)?;
        let lanes = match (alone.processor, one.processor) {
            (Some(alone), Some(one)) => alone / one,
            _ => alone.wall.as_secs_f64() / one.wall.as_secs_f64(),
        };
        let workers = one.wall.as_secs_f64() / two.wall.as_secs_f64();
        println!("{who}: speed-up from lanes {lanes:.2}, from 1 to 2 workers {workers:.2}");
        if let (Some(one), Some(two)) = (one.processor, two.processor) {
            println!(
                "processor time of 1 worker over that of 2: {:.3} (1 if they share nothing, whatever else runs)",
                one / two
            );
        }
        gains.push((lanes, workers));
    }
    if gains.iter().zip(FROM_LANES).any(|(&(lanes, workers), least)| lanes < least || workers < FROM_WORKERS) {
        let [heads, bobs] = FROM_LANES;
        return Err(format!(
            "at least {heads} (heads) and {bobs} (bobs) from lanes and {FROM_WORKERS} from workers are demanded, on a quiet machine with two processors"
        ));
    }
    Ok(())
}

/// A folder with a study and what was computed of it.
struct Place(PathBuf);

impl Place {
    /// A fresh copy of a study with so many rows.
    fn new(study: &str, name: &str, rows: u64) -> Outcome<Self> {
        let place = Self(target().join(name));
        if place.0.exists() {
            std::fs::remove_dir_all(&place.0).map_err(|error| place.trouble(&error))?;
        }
        std::fs::create_dir_all(&place.0).map_err(|error| place.trouble(&error))?;
        let from = root().join(study);
        std::fs::copy(from.join("scene.toml"), place.0.join("scene.toml")).map_err(|error| place.trouble(&error))?;
        let text = std::fs::read_to_string(from.join("study.toml")).map_err(|error| place.trouble(&error))?;
        let text = text.replace("samples = 10000", &format!("samples = {rows}"));
        std::fs::write(place.0.join("study.toml"), text).map_err(|error| place.trouble(&error))?;
        Ok(place)
    }

    fn trouble(&self, error: &std::io::Error) -> String {
        format!("{}: {error}", self.0.display())
    }

    fn sweep(&self, program: &Path, out: &str, jobs: u32) -> Command {
        let mut sweep = command(program, &["sweep", "study.toml", "--quiet", "--out", out]);
        sweep.args(["--jobs", &jobs.to_string()]).current_dir(&self.0);
        sweep
    }

    fn length(&self, name: &str) -> Outcome<u64> {
        let journal = std::fs::metadata(self.0.join(name).join("journal"));
        journal.map(|journal| journal.len()).map_err(|error| self.trouble(&error))
    }

    /// Whether tables are the same.
    fn same(&self, names: &[&str]) -> Outcome {
        let path = |name: &str| self.0.join(name).join("results.parquet");
        let table = |name: &str| std::fs::read(path(name)).map_err(|error| self.trouble(&error));
        let whole = table(names[0])?;
        for name in &names[1..] {
            if table(name)? != whole {
                return Err(format!("the tables `{}` and `{name}` in {} differ", names[0], self.0.display()));
            }
        }
        println!("the {} tables of {} bytes are the same: {}", names.len(), whole.len(), shown(&path(names[0])));
        Ok(())
    }
}

/// Kills a sweep that takes so long with two workers, and lets it go on to its end.
fn killed(place: &Place, program: &Path, wall: Duration) -> Outcome {
    let mut finished = Vec::new();
    for _ in 0..KILLS {
        let sweep = place.sweep(program, "killed", 2).spawn();
        let mut child = sweep.map_err(|error| format!("cannot start the sweep: {error}"))?;
        // Somewhere between a twentieth and a quarter of the whole: three of them never reach the end.
        std::thread::sleep(wall.mul_f64(0.05 + 0.2 * chance()));
        let ended = child.kill().and_then(|()| child.wait());
        if ended.map_err(|error| format!("cannot kill the sweep: {error}"))?.success() {
            return Err("the sweep was over before it was killed; try more rows".into());
        }
        finished.push(place.length("killed").unwrap_or(0));
    }
    timed(&mut place.sweep(program, "killed", 2))?;
    println!("killed {KILLS} times, with {finished:?} bytes of journal, and gone on with to the end");
    // Records of these rows are of one length: no row stands in the journal twice.
    if place.length("killed")? != place.length("one")? {
        return Err("the journal of the killed sweep has other rows than that of the whole one".into());
    }
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
