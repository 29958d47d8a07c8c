//! `dalembert optimise` with several goals: the front of best compromises, with a record of each kind of motion.

use crate::analyse::page::{Chart, Page, Style};
use crate::args::OptimiseOptions;
use crate::exit::Exit;
use crate::{optimise, print, run, watch};
use dalembert::model::Model;
use dalembert_control::front::{Compromises, FrontError, front};
use dalembert_control::study::{FrontSearch, Study, record as record_motion};
use dalembert_control::{Options, Problem, Solution};
use dalembert_optimise::pareto::{Progress, Run};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;
use std::time::Instant;

/// Kinds of motions of which records are written.
const RECORDS: usize = 12;
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
    let mut follow = |p: &Progress| {
        bar.set_position((PARTS * p.done) as u64);
        bar.set_message(format!(
            "{:?}: {} points, {} programs solved, {} failed",
            p.stage, p.points, p.solved, p.failed
        ));
    };
    let found = front(problem, settings, &wanted.options, &wanted.within, &plan, &mut follow).map_err(refused)?;
    bar.finish_and_clear();
    let seconds = began.elapsed().as_secs_f64();
    let (page, kinds) = draw(study, problem, &found, options, name, folder, seconds)?;
    page.write(folder)?;
    if options.json {
        print(&json(&found, &kinds, folder))?;
    } else if !options.quiet {
        print(page.text())?;
    }
    if found.front.complete { Ok(()) } else { Err(Exit::Interrupted) }
}

/// The page, and the point and folder of each kind of which there is a record.
fn draw(
    study: &Study,
    problem: &Problem<'_, Model>,
    found: &Compromises,
    options: &OptimiseOptions,
    name: &str,
    folder: &Path,
    seconds: f64,
) -> Result<(Page, Vec<(usize, String)>), Exit> {
    let f = &found.front;
    let mut page = Page::new(&format!("Front of {}", study.scene().info.title));
    let best = f.points.iter().filter(|p| p.global).count();
    page.say(&format!(
        "{} points, {best} of them not dominated, {} part(s), {} kind(s) of motion; {} programs solved, {} failed, {seconds:.1} s",
        f.points.len(),
        f.parts(),
        f.kinds(),
        f.solves,
        f.failed
    ));
    if !f.complete {
        page.say("The search was stopped; the same command goes on with it.");
    }
    let of = |kind: usize, k: [usize; 2]| -> Vec<[f64; 2]> {
        let own = f.points.iter().filter(|p| p.kind == kind);
        own.map(|p| [p.solution.goals[k[0]], p.solution.goals[k[1]]]).collect()
    };
    for k in 1..f.goals.len() {
        let pair = [0, k];
        let mut curves: Vec<(String, Vec<[f64; 2]>)> =
            (0..f.kinds()).map(|kind| (format!("kind {}", kind + 1), of(kind, pair))).collect();
        let middle = curves.iter().flat_map(|c| &c.1).fold([0.0f64; 2], |m, p| [m[0].max(p[0]), m[1].max(p[1])]);
        // Samples far from the front would squeeze it into a corner.
        let near = |p: &Vec<f64>| p[0] <= 2.0 * middle[0] && p[k] <= 2.0 * middle[1];
        let samples = f.samples.iter().filter(|p| near(p)).map(|p| [p[0], p[k]]).collect();
        curves.push(("feasible samples".into(), samples));
        let chart = Chart {
            title: format!("{} over {}", f.goals[k], f.goals[0]),
            across: f.goals[0].clone(),
            log: [false; 2],
            style: Style::Dots,
            curves,
        };
        page.chart(&format!("front-{}", f.goals[k]), &chart);
    }
    let mut rows = vec![vec!["kind".to_owned(), "points".into(), "best".into()]];
    rows[0].extend(f.goals.iter().cloned());
    rows[0].push("record".into());
    let mut kinds = Vec::new();
    for (kind, point) in found.representatives().into_iter().enumerate().take(RECORDS) {
        let at = format!("kind-{}", kind + 1);
        let solution = found.solution(problem, point).map_err(|e| Exit::Usage(e.to_string()))?;
        let title = format!("{name}-{at}");
        let outcome =
            record_motion(study, problem, &solution, &title, usize::from(options.samples)).map_err(optimise::fault)?;
        run::write(&folder.join(&at), study.scene(), &outcome)?;
        page.chart(&format!("{at}-controls"), &controls(problem, &solution, kind));
        let own: Vec<_> = f.points.iter().filter(|p| p.kind == kind).collect();
        let mut row =
            vec![(kind + 1).to_string(), own.len().to_string(), own.iter().filter(|p| p.global).count().to_string()];
        row.extend(f.points[point].solution.goals.iter().map(|y| format!("{y:.6}")));
        row.push(format!("{at}/report.html"));
        rows.push(row);
        kinds.push((point, at));
    }
    page.table(&rows);
    for failure in &f.failures {
        // The first line says how it ended; what was violated on the way is of no use here.
        page.say(&format!("failed: {}", failure.lines().next().unwrap_or_default()));
    }
    page.file("front.csv", f.csv().into_bytes());
    page.file("front.json", f.json().into_bytes());
    Ok((page, kinds))
}

/// Controls over time of one motion.
fn controls(problem: &Problem<'_, Model>, solution: &Solution, kind: usize) -> Chart {
    let curve = |(k, control): (usize, &dalembert_control::Control)| {
        (control.name.clone(), solution.instants.iter().map(|i| [i.t, i.u[k]]).collect())
    };
    let goals: Vec<String> = solution.goals.iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
    Chart {
        title: format!("Controls of kind {} ({})", kind + 1, goals.join(", ")),
        across: "t / s".into(),
        log: [false; 2],
        style: Style::Line,
        curves: problem.controls.iter().enumerate().map(curve).collect(),
    }
}

fn json(found: &Compromises, kinds: &[(usize, String)], folder: &Path) -> String {
    let f = &found.front;
    let kinds: Vec<serde_json::Value> = kinds
        .iter()
        .map(|(point, at)| serde_json::json!({ "goals": f.points[*point].solution.goals, "record": at }))
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
