//! `dalembert optimise`: the best motion of a scene, with its record.

use crate::args::OptimiseOptions;
use crate::exit::Exit;
use crate::{front, print, run, watch};
use dalembert::record::{self, Status, Summary};
use dalembert_control::refine::{errors_of_end, largest, solve_refined};
use dalembert_control::study::{Study, StudyError, built_in, record as record_motion};
use dalembert_control::{ControlError, Options, Solution, solve};
use dalembert_graph::store::Store;
use dalembert_optimise::{Control, Outcome, Progress};
use std::fmt::Write;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write as _};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Every so many iterations there is a line, where nobody watches.
const SELDOM: usize = 10;

/// Solves a study and writes its record.
pub fn optimise(options: &OptimiseOptions) -> Result<(), Exit> {
    if built_in::find(&options.study).is_none() && !Path::new(&options.study).exists() {
        let names: Vec<&str> = built_in::ALL.iter().map(|study| study.name).collect();
        return Err(Exit::Usage(format!(
            "there is no built-in study and no file `{}`; built-in ones are {}",
            options.study,
            names.join(", ")
        )));
    }
    if let Some(folder) = &options.copy {
        return copy(&options.study, folder);
    }
    let study = Study::load(&options.study).map_err(fault)?;
    let stem = Path::new(&options.study).file_stem();
    let name = stem.map_or_else(|| "study".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let folder = options.out.clone().unwrap_or_else(|| Path::new("runs").join(&name));
    let mut problem = study.problem().map_err(fault)?;
    let settings = Options { store: options.cache.as_ref().map(Store::new), ..Options::default() };
    if let Some(wanted) = study.front().map_err(fault)? {
        return front::search(&study, &problem, &wanted, &settings, options, &name, &folder);
    }
    record::check_destination(&folder)?;
    let show = !options.json && !options.quiet;
    // A file gets a line now and then.
    let often = if std::io::stderr().is_terminal() { 1 } else { SELDOM };
    let stop = watch::listen();
    let began = Instant::now();
    if show {
        eprintln!("  recording and compiling the equations");
    }
    let mut follow = |p: &Progress| {
        if show && p.iteration.is_multiple_of(often) {
            if p.iteration.is_multiple_of(20 * often) {
                eprintln!("  {:>5} {:>14} {:>10} {:>10} {:>8}", "step", "objective", "violation", "slope", "length");
            }
            let mark = if p.restoring { "r" } else { " " };
            eprintln!(
                "  {:>5}{mark}{:>14.6e} {:>10.2e} {:>10.2e} {:>8.1e}",
                p.iteration, p.objective, p.violation, p.stationarity, p.step
            );
        }
        if stop.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    };
    let (solution, found) = match study.refinement() {
        Some((tolerance, rounds)) => {
            solve_refined(&mut problem, &settings, study.solver(), tolerance, rounds, &mut follow).map_err(refused)?
        }
        None => {
            let solution = solve(&problem, &settings, study.solver(), &mut follow).map_err(refused)?;
            let found = errors_of_end(&problem, &solution).map_err(refused)?;
            (solution, found)
        }
    };
    let mut outcome = record_motion(&study, &problem, &solution, &name, usize::from(options.samples)).map_err(fault)?;
    outcome.summary.wall_time = began.elapsed().as_secs_f64();
    outcome.summary.counts = [
        ("iterations".to_owned(), solution.report.iterations as u64),
        ("factorisations".to_owned(), solution.report.counts.factorisations as u64),
    ]
    .into();
    outcome.summary.status = match solution.report.outcome {
        Outcome::Solved | Outcome::Acceptable => Status::Completed,
        Outcome::Stopped => Status::Interrupted,
        _ => Status::Failed,
    };
    let remarks = study.remarks(&solution);
    run::write(&folder, study.scene(), &outcome)?;
    let largest = largest(&found);
    if options.json {
        print(&json(&solution, largest, &remarks, &folder))?;
    } else if !options.quiet {
        print(&table(&study, &solution, largest, &remarks, &outcome.summary, &folder))?;
    }
    match solution.report.outcome {
        Outcome::Solved | Outcome::Acceptable => Ok(()),
        Outcome::Stopped => Err(Exit::Interrupted),
        _ => Err(Exit::Failed(solution.report.to_string())),
    }
}

/// Writes a built-in study and its scene as files.
fn copy(name: &str, folder: &Path) -> Result<(), Exit> {
    let Some(found) = built_in::find(name) else {
        return Err(Exit::Usage(format!("`{name}` is a file already: only built-in studies are copied")));
    };
    std::fs::create_dir_all(folder).map_err(|e| Exit::io(&format!("make `{}`", folder.display()), &e))?;
    let path = |file: &str| folder.join(file);
    let study = format!("{name}.toml");
    for (file, text) in std::iter::once((study.as_str(), found.text)).chain(found.scene()) {
        let path = path(file);
        let mut to = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(|e| Exit::io(&format!("make `{}`", path.display()), &e))?;
        to.write_all(text.as_bytes()).map_err(|e| Exit::io(&format!("write `{}`", path.display()), &e))?;
    }
    print(&format!("{0}: try `dalembert optimise {0}`\n", path(&study).display()))
}

fn table(
    study: &Study,
    solution: &Solution,
    error: Option<f64>,
    remarks: &[String],
    summary: &Summary,
    folder: &Path,
) -> String {
    let (seconds, ledger) = (summary.wall_time, &summary.ledger);
    let mut out = String::new();
    let mut line = |label: &str, text: String| {
        let _ = writeln!(out, "  {label:<12} {text}");
    };
    line("scene", study.scene().info.title.clone());
    line(
        "outcome",
        format!("{} in {} iterations, {seconds:.3} s", solution.report.outcome, solution.report.iterations),
    );
    // What was refused before its first iteration has no goals and no motion.
    let tried = !solution.report.violation.is_nan();
    for (name, value) in solution.goals.iter().filter(|_| tried) {
        line("goal", format!("{name} = {value:.8e}"));
    }
    for (name, duration) in study.phase_names().iter().zip(&solution.durations).filter(|_| tried) {
        line("phase", format!("{name}: {duration:.6} s"));
    }
    if tried {
        line("violation", format!("{:.2e}", solution.report.violation));
    }
    if let Some(error) = error.filter(|_| tried) {
        line("error", format!("{error:.2e}, the largest of an interval; more intervals or `refine` make it smaller"));
    }
    if tried && ledger.closes {
        line(
            "energy",
            format!(
                "off by {:.2e} J at most; the errors of the intervals allow {:.2e} J",
                ledger.worst_imbalance, ledger.allowance
            ),
        );
    } else if tried {
        line(
            "warning",
            format!(
                "the account of energy does not close: it is off by {:.2e} J at {:.6} s, of which the errors of the intervals explain {:.2e} J",
                ledger.worst_imbalance, ledger.worst_imbalance_time, ledger.allowance
            ),
        );
    }
    for remark in remarks {
        line("warning", remark.clone());
    }
    for finding in &solution.report.violated {
        line("violated", finding.to_string());
    }
    line("record", folder.display().to_string());
    line("report", folder.join("report.html").display().to_string());
    out
}

fn json(solution: &Solution, error: Option<f64>, remarks: &[String], folder: &Path) -> String {
    let goals: serde_json::Map<String, serde_json::Value> =
        solution.goals.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
    let violated: Vec<String> = solution.report.violated.iter().map(ToString::to_string).collect();
    let value = serde_json::json!({
        "outcome": solution.report.outcome.to_string(),
        "solved": solution.is_success(),
        "iterations": solution.report.iterations,
        "goals": goals,
        "durations": solution.durations,
        "statics": solution.statics,
        "violation": solution.report.violation,
        "violated": violated,
        "error": error,
        "warnings": remarks,
        "record": folder.display().to_string(),
    });
    format!("{value:#}\n")
}

pub fn fault(error: StudyError) -> Exit {
    match error {
        StudyError::Study { .. } | StudyError::Scene(_) => Exit::Usage(error.to_string()),
        StudyError::File { .. } => Exit::Io(error.to_string()),
    }
}

fn refused(error: ControlError) -> Exit {
    Exit::Usage(error.to_string())
}
