//! `dalembert sweep`: many runs of one scene, one table of results.

use crate::args::{Engine, SweepOptions};
use crate::exit::Exit;
use crate::{dask, print, watch};
use dalembert_sweeps::{Journal, Progress, Shard, Study, SweepError, read_all, sweep as compute, table};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

/// The table of results in the folder of a sweep.
const RESULTS: &str = "results.parquet";

/// Computes the rows that are missing, and writes the table when all are there.
pub fn sweep(options: &SweepOptions) -> Result<(), Exit> {
    let mut study = Study::load(&options.study).map_err(fault)?;
    if options.lanes || options.no_lanes {
        if options.engine == Engine::Dask {
            let told = "--lanes and --no-lanes do not travel to a cluster: write `lanes` into the study";
            return Err(Exit::Usage(told.into()));
        }
        study.lanes = options.lanes;
    }
    let name = options.study.file_stem().map_or_else(|| "sweep".into(), |stem| stem.to_string_lossy().into_owned());
    let folder = options.out.clone().unwrap_or_else(|| Path::new("sweeps").join(name));
    std::fs::create_dir_all(&folder).map_err(|e| Exit::io(&format!("make the folder `{}`", folder.display()), &e))?;
    if options.engine == Engine::Local && (options.scheduler.is_some() || options.chunk.is_some()) {
        return Err(Exit::Usage("--scheduler and --chunk belong to --engine dask".into()));
    }
    if !options.merge.is_empty() {
        return merge(&study, &options.merge, &folder, options);
    }
    study.check().map_err(fault)?;
    let shard = match &options.shard {
        None => Shard::WHOLE,
        Some(text) => Shard::parse(text)
            .ok_or_else(|| Exit::Usage(format!("--shard needs i/n with i from 1 to n, not `{text}`")))?,
    };
    if options.engine == Engine::Dask {
        return dask::sweep(options, &folder);
    }
    let jobs = options.jobs.map_or_else(|| available_parallelism().map_or(1, usize::from), usize::from);
    let path = folder.join(journal_name(shard));
    let mut journal = Journal::open(&path, study.mark(), study.outputs.len()).map_err(fault)?;
    if let Some(remark) = journal.remark() {
        eprintln!("warning: {remark}");
    }
    let stop = watch::listen();
    let show = !options.json && !options.quiet && std::io::stderr().is_terminal();
    let bar = if show { ProgressBar::new(study.plan.rows()) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("  {bar:32} {percent:>3} %  {pos}/{len} rows  {msg}  {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let mut follow = |progress: Progress| {
        bar.set_length(progress.rows);
        bar.set_position(progress.finished);
        if progress.failed > 0 {
            bar.set_message(format!("{} failed", progress.failed));
        }
    };
    let tally = compute(&study, shard, &mut journal, jobs, &stop, &mut follow);
    bar.finish_and_clear();
    let tally = tally.map_err(fault)?;
    let whole = tally.finished == tally.rows;
    let results = folder.join(RESULTS);
    if whole && shard == Shard::WHOLE {
        table::write(&results, &study, journal.rows()).map_err(fault)?;
    }
    tell(&tally, if whole && shard == Shard::WHOLE { &results } else { &path }, options)?;
    if whole { Ok(()) } else { Err(Exit::Interrupted) }
}

fn journal_name(shard: Shard) -> String {
    match shard {
        Shard::WHOLE => "journal".to_owned(),
        Shard { index, count } => format!("journal-{}-of-{count}", index + 1),
    }
}

/// One table from the journals of parts that were computed elsewhere.
fn merge(study: &Study, parts: &[PathBuf], folder: &Path, options: &SweepOptions) -> Result<(), Exit> {
    let mut paths = Vec::new();
    for part in parts {
        if part.is_file() {
            paths.push(part.clone());
            continue;
        }
        let entries = std::fs::read_dir(part).map_err(|e| Exit::io(&format!("read `{}`", part.display()), &e))?;
        let journal = |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("journal"));
        paths.extend(entries.filter_map(|entry| entry.ok().map(|e| e.path())).filter(journal));
    }
    paths.sort();
    let rows = read_all(&paths, study.mark(), study.outputs.len()).map_err(fault)?;
    let all = study.plan.rows();
    if (rows.len() as u64) < all {
        let missing = (0..all).find(|row| !rows.contains_key(row)).unwrap_or_default();
        let count = all - rows.len() as u64;
        return Err(Exit::Failed(format!(
            "{count} of {all} rows are missing, row {missing} is the first; compute them first"
        )));
    }
    let results = folder.join(RESULTS);
    table::write(&results, study, &rows).map_err(fault)?;
    let failed = rows.values().filter(|outcome| matches!(outcome, dalembert_sweeps::Outcome::Failed(_))).count() as u64;
    tell(&Progress { rows: all, finished: all, failed, before: all, beside: 0, alone: None }, &results, options)
}

fn tell(tally: &Progress, place: &Path, options: &SweepOptions) -> Result<(), Exit> {
    let Progress { rows, finished, failed, before, beside, alone } = *tally;
    if options.json {
        let place = place.display().to_string();
        let alone = alone.map_or_else(|| "null".to_owned(), |alone| format!("{:?}", alone.to_string()));
        return print(&format!(
            "{{\"rows\": {rows}, \"finished\": {finished}, \"failed\": {failed}, \"before\": {before}, \"beside\": {beside}, \"alone\": {alone}, \"results\": {place:?}}}\n"
        ));
    }
    if options.quiet {
        return Ok(());
    }
    let more = if finished < rows { "; the same command goes on with the rest" } else { "" };
    let why = alone.map_or_else(String::new, |alone| format!("\n  one by one, in whole or in part: {alone}"));
    print(&format!(
        "  {finished} of {rows} rows finished, {failed} failed, {before} before, {beside} side by side{more}{why}\n  {}\n",
        place.display()
    ))
}

fn fault(error: SweepError) -> Exit {
    match error {
        SweepError::Study { .. } | SweepError::Scene(_) | SweepError::Journal { .. } | SweepError::Parcel { .. } => {
            Exit::Usage(error.to_string())
        }
        SweepError::File { .. } => Exit::Io(error.to_string()),
    }
}
