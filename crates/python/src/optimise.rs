//! Optimal control: the best motion of a study, or the front of best compromises between several goals. What is found is that of `dalembert optimise`.

use crate::callback::Raised;
use crate::error;
use crate::model::Model;
use crate::run::Run;
use crate::scene::{Source as Origin, overlay};
use crate::watch::{attend, detached, goes_on};
use dalembert::record::Status;
use dalembert::run::Outcome as Record;
use dalembert_control::front::{FrontError, front};
use dalembert_control::refine::{errors, solve_refined};
use dalembert_control::study::{FrontSearch, Source, Study, StudyError, built_in, record};
use dalembert_control::{Options, Problem, Solution, solve};
use dalembert_graph::store::Store;
use dalembert_optimise::pareto::{Front, ParetoError, Progress as FrontProgress, Run as Plan};
use dalembert_optimise::{Control, Progress};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

type Mechanics = dalembert::model::Model;

/// Kinds of motions of which runs are made.
const RUNS: usize = 12;

/// A motion as it was found, with the record of it.
struct Best {
    record: Record,
    outcome: String,
    success: bool,
    stopped: bool,
    iterations: usize,
    goals: Vec<(String, f64)>,
    durations: Vec<(String, f64)>,
    statics: Vec<(String, f64)>,
    violation: f64,
    violated: Vec<String>,
    /// The largest local error of an interval.
    error: f64,
    controls: Vec<String>,
    /// Time, coordinates, velocities, extra states, controls and multipliers at the nodes.
    nodes: [Vec<Vec<f64>>; 6],
    phases: Vec<usize>,
}

/// The best compromises, with a motion of each kind.
struct Compromises {
    front: Front,
    /// The point of each kind of which there is a motion.
    shown: Vec<(usize, Best)>,
}

/// What a study has found.
enum Found {
    Motion(Box<Best>),
    Front(Box<Compromises>),
}

/// How far the work is.
#[derive(Clone)]
enum News {
    Iteration(usize, f64, f64, f64),
    Front(f64, usize, usize, usize),
}

/// What is asked for beside the study.
struct Wish {
    name: String,
    samples: usize,
    jobs: usize,
    cache: Option<PathBuf>,
    journal: Option<PathBuf>,
}

/// The built-in studies of optimal control and what they show.
#[pyfunction]
pub fn optimal_studies() -> Vec<(&'static str, &'static str)> {
    built_in::ALL.iter().map(|study| (study.name, study.summary)).collect()
}

/// Solves a study: a built-in one, a file, or a text whose files are found beside a folder. `progress` is called a few times a second: with "solve",
/// iteration, objective, violation and stationarity, or with "front", the part that is done, points, programs solved and failed.
///
/// Gives a dictionary with `runs`, and whether the work was interrupted.
#[pyfunction]
#[pyo3(signature = (study, text, folder, name, samples, jobs, cache, journal, progress))]
pub fn optimise<'py>(
    py: Python<'py>,
    study: &str,
    text: Option<&str>,
    folder: PathBuf,
    name: String,
    samples: usize,
    jobs: usize,
    cache: Option<PathBuf>,
    journal: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, bool)> {
    let wrong = |error: StudyError| error::plain(py, "StudyError", error);
    let read = match text {
        Some(text) => Study::from_text(study, text, &Source::Disk(&folder)),
        None => Study::load(study),
    };
    let mut study = read.map_err(wrong)?;
    let wish = Wish { name, samples, jobs, cache, journal };
    let (stop, news) = (AtomicBool::new(false), Mutex::new(None));
    let ask = |py: Python<'_>| {
        let now = news.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match (&progress, now) {
            (None, _) | (_, None) => Ok(true),
            (Some(f), Some(News::Iteration(k, y, violation, slope))) => {
                goes_on(py, f, ("solve", k, y, violation, slope))
            }
            (Some(f), Some(News::Front(done, points, solved, failed))) => {
                goes_on(py, f, ("front", done, points, solved, failed))
            }
        }
    };
    let (found, raised) =
        detached(py, || attend(|| search(&study, &wish, &stop, &news), ask, || stop.store(true, Ordering::Relaxed)));
    if let Some(raised) = raised {
        return Err(raised);
    }
    let found = found.map_err(|fault| match fault {
        Fault::Study(message) => error::plain(py, "StudyError", message),
        Fault::File(message) => error::plain(py, "FileError", message),
    })?;
    let interrupted = match &found {
        Found::Motion(best) => best.stopped,
        Found::Front(found) => !found.front.complete,
    };
    // The scene of the record becomes the model of the runs.
    let scene = study.scenes.swap_remove(0);
    let (none, raised) = (|| PyDict::new(py).unbind(), Arc::new(Raised::default()));
    let path = format!("{}.toml", wish.name);
    let origin =
        Origin { files: overlay(&path, &scene.to_toml()), path, settings: Vec::new(), meshes: false, computed: true };
    let model = Py::new(py, Model::new(scene, wish.name, origin, (none(), none()), raised))?;
    let out = match found {
        Found::Motion(best) => motion(py, &model, *best)?,
        Found::Front(found) => compromises(py, &model, *found)?,
    };
    Ok((out, interrupted))
}

/// Why there is no result: the study, or a file.
enum Fault {
    Study(String),
    File(String),
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::Study(message)
    }
}

impl From<FrontError> for Fault {
    fn from(error: FrontError) -> Self {
        match error {
            FrontError::Search(ParetoError::Journal { .. }) => Self::File(error.to_string()),
            other => Self::Study(other.to_string()),
        }
    }
}

/// The work, without the interpreter.
fn search(study: &Study, wish: &Wish, stop: &AtomicBool, news: &Mutex<Option<News>>) -> Result<Found, Fault> {
    let tell = |now: News| *news.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    let mut problem = study.problem().map_err(|e| e.to_string())?;
    let settings = Options { store: wish.cache.as_ref().map(Store::new), ..Options::default() };
    if let Some(FrontSearch { options, within }) = study.front().map_err(|e| e.to_string())? {
        if let Some(folder) = wish.journal.as_deref().and_then(std::path::Path::parent) {
            std::fs::create_dir_all(folder)
                .map_err(|e| Fault::File(format!("cannot make the folder `{}`: {e}", folder.display())))?;
        }
        let plan = Plan { threads: wish.jobs, journal: wish.journal.as_deref(), stop };
        let mut follow = |p: &FrontProgress| tell(News::Front(p.done, p.points, p.solved, p.failed));
        let found = front(&problem, &settings, &options, &within, &plan, &mut follow)?;
        let mut shown = Vec::new();
        for (kind, point) in found.representatives().into_iter().enumerate().take(RUNS) {
            let solution = found.solution(&problem, point).map_err(|e| e.to_string())?;
            let name = format!("{}-kind-{}", wish.name, kind + 1);
            shown.push((point, best(study, &problem, &solution, &name, wish.samples, f64::NAN)?));
        }
        return Ok(Found::Front(Box::new(Compromises { front: found.front, shown })));
    }
    let began = Instant::now();
    let mut follow = |p: &Progress| {
        tell(News::Iteration(p.iteration, p.objective, p.violation, p.stationarity));
        if stop.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    };
    let (solution, found) = match study.refinement() {
        Some((tolerance, rounds)) => {
            solve_refined(&mut problem, &settings, study.solver(), tolerance, rounds, &mut follow)
                .map_err(|e| e.to_string())?
        }
        None => {
            let solution = solve(&problem, &settings, study.solver(), &mut follow).map_err(|e| e.to_string())?;
            let found = errors(&problem, &solution).map_err(|e| e.to_string())?;
            (solution, found)
        }
    };
    let largest = found.iter().flatten().fold(0.0f64, |m, e| m.max(*e));
    let mut best = best(study, &problem, &solution, &wish.name, wish.samples, largest)?;
    best.record.summary.wall_time = began.elapsed().as_secs_f64();
    best.record.summary.status = match (best.success, best.stopped) {
        (true, _) => Status::Completed,
        (false, true) => Status::Interrupted,
        (false, false) => Status::Failed,
    };
    best.record.summary.counts = [
        ("iterations".to_owned(), solution.report.iterations as u64),
        ("factorisations".to_owned(), solution.report.counts.factorisations as u64),
    ]
    .into();
    Ok(Found::Motion(Box::new(best)))
}

/// A solution in plain values.
fn best(
    study: &Study,
    problem: &Problem<'_, Mechanics>,
    solution: &Solution,
    name: &str,
    samples: usize,
    error: f64,
) -> Result<Best, String> {
    let record = record(study, problem, solution, name, samples).map_err(|e| e.to_string())?;
    let report = &solution.report;
    let all = &solution.instants;
    Ok(Best {
        record,
        outcome: report.outcome.to_string(),
        success: solution.is_success(),
        stopped: matches!(report.outcome, dalembert_optimise::Outcome::Stopped),
        iterations: report.iterations,
        goals: solution.goals.clone(),
        durations: study.phase_names().into_iter().zip(solution.durations.iter().copied()).collect(),
        statics: problem.statics.iter().map(|s| s.name.clone()).zip(solution.statics.iter().copied()).collect(),
        violation: report.violation,
        violated: report.violated.iter().map(ToString::to_string).collect(),
        error,
        controls: problem.controls.iter().map(|c| c.name.clone()).collect(),
        nodes: [
            all.iter().map(|i| vec![i.t]).collect(),
            all.iter().map(|i| i.q.clone()).collect(),
            all.iter().map(|i| i.v.clone()).collect(),
            all.iter().map(|i| i.x.clone()).collect(),
            all.iter().map(|i| i.u.clone()).collect(),
            all.iter().map(|i| i.multipliers.clone()).collect(),
        ],
        phases: all.iter().map(|i| i.phase).collect(),
    })
}

/// An array with one row for each point; rows that are shorter than the longest end with what is not a number.
fn rows<'py>(py: Python<'py>, rows: &[Vec<f64>]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let fill =
        |row: &Vec<f64>| row.iter().copied().chain(std::iter::repeat(f64::NAN)).take(columns).collect::<Vec<_>>();
    let values: Vec<f64> = rows.iter().flat_map(fill).collect();
    PyArray1::from_vec(py, values).reshape([rows.len(), columns])
}

fn named<'py>(py: Python<'py>, pairs: Vec<(String, f64)>) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (name, value) in pairs {
        out.set_item(name, value)?;
    }
    Ok(out)
}

fn motion<'py>(py: Python<'py>, model: &Py<Model>, best: Best) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("outcome", best.outcome)?;
    out.set_item("success", best.success)?;
    out.set_item("iterations", best.iterations)?;
    out.set_item("goals", named(py, best.goals)?)?;
    out.set_item("durations", named(py, best.durations)?)?;
    out.set_item("statics", named(py, best.statics)?)?;
    out.set_item("violation", best.violation)?;
    out.set_item("violated", best.violated)?;
    out.set_item("error", best.error)?;
    out.set_item("controls", best.controls)?;
    out.set_item("phase", PyArray1::from_iter(py, best.phases.iter().map(|&k| k as i64)))?;
    for (name, values) in ["t", "q", "v", "x", "u", "multipliers"].into_iter().zip(&best.nodes) {
        let array = rows(py, values)?;
        if name == "t" { out.set_item(name, array.reshape([values.len()])?)? } else { out.set_item(name, array)? }
    }
    out.set_item("run", Py::new(py, Run::new(model.clone_ref(py), best.record))?)?;
    Ok(out)
}

fn compromises<'py>(py: Python<'py>, model: &Py<Model>, found: Compromises) -> PyResult<Bound<'py, PyDict>> {
    let Compromises { front, shown } = found;
    let out = PyDict::new(py);
    let of = |part: fn(&dalembert_optimise::pareto::FrontPoint) -> &Vec<f64>| -> Vec<Vec<f64>> {
        front.points.iter().map(|p| part(p).clone()).collect()
    };
    out.set_item("goals", front.goals.clone())?;
    out.set_item("points", rows(py, &of(|p| &p.solution.goals))?)?;
    out.set_item("weights", rows(py, &of(|p| &p.solution.weights))?)?;
    out.set_item("kind", PyArray1::from_iter(py, front.points.iter().map(|p| p.kind as i64)))?;
    out.set_item("best", PyArray1::from_iter(py, front.points.iter().map(|p| p.global)))?;
    let part = |p: &dalembert_optimise::pareto::FrontPoint| p.part.map_or(-1, |part| part as i64);
    out.set_item("part", PyArray1::from_iter(py, front.points.iter().map(part)))?;
    out.set_item("samples", rows(py, &front.samples)?)?;
    out.set_item("ideal", PyArray1::from_slice(py, &front.ideal))?;
    out.set_item("nadir", PyArray1::from_slice(py, &front.nadir))?;
    out.set_item("hypervolume", front.hypervolume(None))?;
    out.set_item("complete", front.complete)?;
    out.set_item("solves", front.solves)?;
    out.set_item("failed", front.failed)?;
    out.set_item("failures", front.failures.clone())?;
    out.set_item("csv", front.csv())?;
    out.set_item("json", front.json())?;
    let motions = PyList::empty(py);
    for (point, best) in shown {
        let one = motion(py, model, best)?;
        one.set_item("point", point)?;
        motions.append(one)?;
    }
    out.set_item("motions", motions)?;
    Ok(out)
}
