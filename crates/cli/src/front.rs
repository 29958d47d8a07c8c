//! `dalembert optimise` with several goals: the front of best compromises, with a record of each kind of motion.

use crate::args::OptimiseOptions;
use crate::exit::Exit;
use crate::{print, watch};
use dalembert::model::Model;
use dalembert_control::front::{Compromises, FrontError, front};
use dalembert_control::study::{FrontSearch, Study};
use dalembert_control::{Options, Problem};
use dalembert_optimise::pareto::{Progress, Run};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

mod page;
mod scatter;

/// Parts of the bar.
const PARTS: f64 = 1e4;

/// Finds the front of a study and writes its page, its table and a record for each kind of motion.
pub fn search(
    study: &Study,
    problem: &Problem<'_, Model>,
    wanted: &FrontSearch,
    settings: &Options,
    options: &OptimiseOptions,
    name: &str,
    folder: &Path,
) -> Result<(), Exit> {
    std::fs::create_dir_all(folder).map_err(|e| Exit::io(&format!("make the folder {}", folder.display()), &e))?;
    let show = !options.json && !options.quiet;
    let bar = if show { ProgressBar::new(PARTS as u64) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("  {bar:32} {percent:>3} %  {msg}  about {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let stop = watch::listen();
    let journal = folder.join("journal");
    let plan = Run { threads: options.threads(), journal: Some(&journal), stop: &stop };
    let began = Instant::now();
    // A file gets a line for each stage.
    let plain = show && !std::io::stderr().is_terminal();
    let mut stage = None;
    let mut follow = |p: &Progress| {
        if plain && stage != Some(p.stage) {
            stage = Some(p.stage);
            eprintln!("  {:?}: {} points, {} programs solved, {} failed", p.stage, p.points, p.solved, p.failed);
        }
        bar.set_position((PARTS * p.done) as u64);
        bar.set_message(format!(
            "{:?}: {} points, {} programs solved, {} failed",
            p.stage, p.points, p.solved, p.failed
        ));
    };
    let found = front(problem, settings, &wanted.options, &wanted.within, &plan, &mut follow).map_err(refused)?;
    bar.finish_and_clear();
    let seconds = began.elapsed().as_secs_f64();
    let (page, kinds) = page::draw(study, problem, &found, options, name, folder, seconds)?;
    page.write(folder)?;
    if options.json {
        print(&json(&found, &kinds, folder))?;
    } else if !options.quiet {
        print(page.text())?;
    }
    if found.front.complete { Ok(()) } else { Err(Exit::Interrupted) }
}

fn json(found: &Compromises, kinds: &[page::Shown], folder: &Path) -> String {
    let f = &found.front;
    let kinds: Vec<serde_json::Value> = kinds
        .iter()
        .map(|kind| serde_json::json!({ "goals": f.points[kind.point].solution.goals, "record": kind.folder }))
        .collect();
    let value = serde_json::json!({
        "complete": f.complete,
        "goals": f.goals,
        "points": f.points.len(),
        "best": f.best().len(),
        "parts": f.parts(),
        "kinds": kinds,
        "ideal": f.ideal,
        "nadir": f.nadir,
        "hypervolume": f.hypervolume(None),
        "solves": f.solves,
        "failed": f.failed,
        "table": folder.join("front.csv").display().to_string(),
    });
    format!("{value:#}\n")
}

fn refused(error: FrontError) -> Exit {
    match error {
        FrontError::Search(dalembert_optimise::pareto::ParetoError::Journal { .. }) => Exit::Io(error.to_string()),
        other => Exit::Failed(other.to_string()),
    }
}
