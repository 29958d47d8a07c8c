//! The page of a front: the front with its kinds, the motions of the kinds side by side, and for each kind its controls, its channels and its record.

use super::scatter::{KINDS, Scatter};
use crate::analyse::page::{Chart, Page, Style};
use crate::args::OptimiseOptions;
use crate::exit::Exit;
use crate::{optimise, run};
use dalembert::model::Model;
use dalembert::picture::Animation;
use dalembert::report::shapes::View;
use dalembert::report::strip::{Cell, Row, Strip};
use dalembert::report::theme::CURVES;
use dalembert::run::{Outcome, snapshots};
use dalembert_control::front::Compromises;
use dalembert_control::study::{Study, record as record_motion};
use dalembert_control::{Problem, Solution};
use std::path::Path;

/// Kinds of motions of which records are written.
const RECORDS: usize = 12;
/// Instants of a motion that are shown side by side.
const INSTANTS: usize = 5;
/// Configurations on top of each other, at most.
const FLASHES: usize = 30;
/// Motions side by side in a row.
const ACROSS: usize = 4;

/// A kind of motion with a record.
pub struct Shown {
    /// The point that stands for it.
    pub point: usize,
    /// The folder of its record.
    pub folder: String,
    kind: usize,
    solution: Solution,
    outcome: Outcome,
}

/// The page, and the kinds of which there is a record.
pub fn draw(
    study: &Study,
    problem: &Problem<'_, Model>,
    found: &Compromises,
    options: &OptimiseOptions,
    name: &str,
    folder: &Path,
    seconds: f64,
) -> Result<(Page, Vec<Shown>), Exit> {
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
    let kinds = record(study, problem, found, options, name, folder)?;
    let shown: Vec<usize> = kinds.iter().map(|kind| kind.point).collect();
    for k in 1..f.goals.len() {
        let scatter = Scatter { front: f, goals: [0, k], shown: &shown };
        page.picture(&format!("front-{}", f.goals[k]), |form| Some(scatter.draw(form)));
    }
    let model = &study.scene().model;
    page.picture("configurations", |form| configurations(model, &kinds).draw(form));
    page.picture("motions", |form| side_by_side(model, &kinds).draw(form));
    page.table(&table(found, &kinds));
    for Shown { kind, folder, .. } in &kinds {
        page.link(&format!("report of kind {}", kind + 1), &format!("{folder}/report.html"));
    }
    // The viewer offers motions by their titles.
    let animation = |kind: &Shown| {
        let text = std::fs::read_to_string(folder.join(&kind.folder).join("animation.json")).ok()?;
        let own = Animation::from_json(&text).ok()?;
        Some(Animation { title: kind.name(), ..own }.to_json())
    };
    page.motions(&kinds.iter().filter_map(animation).collect::<Vec<_>>());
    for shown in &kinds {
        let at = &shown.folder;
        for (k, chart) in controls(shown).iter().enumerate() {
            let file = if k == 0 { format!("{at}-controls") } else { format!("{at}-controls-{}", k + 1) };
            page.chart(&file, chart);
        }
        let path = motion(shown);
        if !path.curves.is_empty() {
            page.chart(&format!("{at}-motion"), &path);
        }
    }
    for failure in &f.failures {
        // The first line says how it ended; what was violated on the way is of no use here.
        page.say(&format!("failed: {}", failure.lines().next().unwrap_or_default()));
    }
    page.file("front.csv", f.csv().into_bytes());
    page.file("front.json", f.json().into_bytes());
    Ok((page, kinds))
}

/// Writes the record of a motion of each kind.
fn record(
    study: &Study,
    problem: &Problem<'_, Model>,
    found: &Compromises,
    options: &OptimiseOptions,
    name: &str,
    folder: &Path,
) -> Result<Vec<Shown>, Exit> {
    let mut kinds = Vec::new();
    for (kind, point) in found.representatives().into_iter().enumerate().take(RECORDS) {
        let at = format!("kind-{}", kind + 1);
        let solution = found.solution(problem, point).map_err(|e| Exit::Usage(e.to_string()))?;
        let title = format!("{name}-{at}");
        let outcome =
            record_motion(study, problem, &solution, &title, usize::from(options.samples)).map_err(optimise::fault)?;
        run::write(&folder.join(&at), study.scene(), &outcome)?;
        kinds.push(Shown { point, folder: at, kind, solution, outcome });
    }
    Ok(kinds)
}

/// Goals of the points shown, and how many others there are of their kinds.
fn table(found: &Compromises, kinds: &[Shown]) -> Vec<Vec<String>> {
    let f = &found.front;
    let mut rows = vec![vec!["kind".to_owned(), "points".into(), "best".into()]];
    rows[0].extend(f.goals.iter().cloned());
    rows[0].push("record".into());
    for Shown { point, folder, kind, .. } in kinds {
        let own = || f.points.iter().filter(|p| p.kind == *kind);
        let mut row =
            vec![(kind + 1).to_string(), own().count().to_string(), own().filter(|p| p.global).count().to_string()];
        row.extend(f.points[*point].solution.goals.iter().map(|y| format!("{y:.6}")));
        row.push(format!("{folder}/report.html"));
        rows.push(row);
    }
    rows
}

impl Shown {
    /// The kind with its goals, as a title.
    fn name(&self) -> String {
        let goals: Vec<String> = self.solution.goals.iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
        format!("kind {} ({})", self.kind + 1, goals.join(", "))
    }

    /// The times of the nodes, each once.
    fn times(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self.solution.instants.iter().map(|instant| instant.t).collect();
        times.dedup();
        times
    }
}

/// This many of a count, evenly, with the first and the last; of fifteen nodes five are the 1st, 5th, 8th, 11th and 15th.
fn spread(count: usize, wanted: usize) -> Vec<usize> {
    let wanted = wanted.min(count);
    let place = |k: usize| (k as f64 * (count - 1) as f64 / (wanted.max(2) - 1) as f64).round_ties_even() as usize;
    (0..wanted).map(place).collect()
}

/// Each kind in a row, at some of its nodes.
fn configurations(model: &Model, kinds: &[Shown]) -> Strip {
    let row = |shown: &Shown| {
        let times = shown.times();
        let cell = |k: usize| Cell {
            label: format!("node {}, {:.3} s", k + 1, times[k]),
            colour: shown.kind % KINDS,
            snapshots: snapshots(model, &shown.outcome.trajectory, &times[k..=k]).unwrap_or_default(),
        };
        Row { name: shown.name(), cells: spread(times.len(), INSTANTS).into_iter().map(cell).collect() }
    };
    Strip {
        title: "Configurations along the motion of each kind".into(),
        view: View::oblique(),
        rows: kinds.iter().map(row).collect(),
    }
}

/// The motions of all kinds, each with its configurations on top of each other.
fn side_by_side(model: &Model, kinds: &[Shown]) -> Strip {
    let cell = |shown: &Shown| {
        let times = shown.times();
        let some: Vec<f64> = spread(times.len(), FLASHES).into_iter().map(|k| times[k]).collect();
        Cell {
            label: format!("kind {}", shown.kind + 1),
            colour: shown.kind % KINDS,
            snapshots: snapshots(model, &shown.outcome.trajectory, &some).unwrap_or_default(),
        }
    };
    let row = |some: &[Shown]| Row { name: String::new(), cells: some.iter().map(cell).collect() };
    Strip {
        title: "Motions of all kinds, from pale to strong".into(),
        view: View::oblique(),
        rows: kinds.chunks(ACROSS).map(row).collect(),
    }
}

type Curve = (String, Vec<[f64; 2]>);

/// Recorded channels over time.
fn curves(outcome: &Outcome, wanted: &dyn Fn(&str) -> bool) -> Vec<(String, Curve)> {
    let rows = &outcome.trajectory;
    let all = rows.channels().iter().zip(rows.columns()).filter(|(channel, _)| wanted(&channel.name));
    all.map(|(channel, values)| {
        let points = rows.time().iter().zip(values).map(|(&t, &value)| [t, value]).collect();
        (channel.unit.clone(), (channel.name.clone(), points))
    })
    .collect()
}

/// Controls over time of one motion: those of a unit in a chart, as many as can be told apart.
fn controls(shown: &Shown) -> Vec<Chart> {
    let all = curves(&shown.outcome, &|name| name.starts_with("control."));
    let mut units: Vec<&str> = Vec::new();
    for (unit, _) in &all {
        if !units.contains(&unit.as_str()) {
            units.push(unit);
        }
    }
    let mut charts = Vec::new();
    for unit in units {
        let own: Vec<Curve> = all.iter().filter(|(u, _)| u == unit).map(|(_, curve)| curve.clone()).collect();
        for some in own.chunks(CURVES) {
            let plain = |(name, points): &Curve| (name.replacen("control.", "", 1), points.clone());
            charts.push(Chart {
                title: format!("Controls of {} / {unit}", shown.name()),
                across: "t / s".into(),
                log: [false; 2],
                style: Style::Line,
                curves: some.iter().map(plain).collect(),
            });
        }
    }
    charts
}

/// Paths of markers over time of one motion; without markers in the record, velocities.
fn motion(shown: &Shown) -> Chart {
    let pick = |wanted: &dyn Fn(&str) -> bool| -> Vec<Curve> {
        curves(&shown.outcome, wanted).into_iter().map(|(_, curve)| curve).collect()
    };
    let mut curves = pick(&|name| name.starts_with("marker.") && name.contains(".position."));
    if curves.is_empty() {
        curves = pick(&|name| name.starts_with("body.") && name.contains("velocity."));
    }
    Chart {
        title: format!("Motion of kind {}", shown.kind + 1),
        across: "t / s".into(),
        log: [false; 2],
        style: Style::Line,
        curves,
    }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn instants_are_spread_over_nodes() {
        // Figure 2 of Ringkamp, Ober-Blöbaum and Leyendecker shows the nodes 1, 5, 8, 11 and 15 of fifteen.
        assert_eq!(spread(15, 5), [0, 4, 7, 10, 14]);
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(1, 5), [0]);
        assert!(spread(0, 5).is_empty());
    }
}
