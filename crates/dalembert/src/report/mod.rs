//! The report of a run: one HTML page that needs nothing else, and its pictures as files.
//!
//! All pictures are SVG written by [`svg`], so a report needs no plotting library, no font and no network. [`page`] makes the page, [`svg_files`] the same pictures as stand-alone files. The flow is
//! channels → [`panels`] (which channels share a plot) → [`plot`] (axes, [`scale`]; curves, [`decimate`]) →
//! [`svg`] → [`html`]. [`stroboscope`] draws the motion itself, [`shapes`] the bodies at instants that a scene asks for, [`strip`] several motions side by side. Other runs may
//! be shown beside: their curves in the same plots, their shapes next to each other. A [`View`] adds the motion in space, the only part
//! of a page that has a script; without it nothing else is lost.

pub mod contour;
pub mod decimate;
pub mod html;
pub mod panels;
pub mod plot;
pub mod scale;
pub mod shapes;
pub mod strip;
pub mod stroboscope;
pub mod svg;
pub mod theme;

mod format;
mod tables;

pub use html::page;
pub use panels::{Panel, automatic_panels};
pub use shapes::Shapes;
pub use stroboscope::{Frame, Motion, Shape};
pub use svg::Form;

use dalembert_methods::trajectory::{Event, Trajectory};

use crate::record::Summary;
use plot::{Mark, Plot, Series};

/// Most panels that are drawn; further channels are only listed.
const DRAWN: usize = 120;
/// Bytes that all curves together may take in a page.
const CURVE_BYTES: usize = 800_000;
/// Bytes that a curve of a figure may take.
const FIGURE_BYTES: usize = 20_000;

/// What a report is made from.
#[derive(Clone, Debug)]
pub struct ReportInput<'a> {
    /// The summary of the run.
    pub summary: &'a Summary,
    /// The recorded channels.
    pub trajectory: &'a Trajectory,
    /// The time at the start of each accepted step and its size, both in s.
    pub steps: &'a [(f64, f64)],
    /// The events in the order of time.
    pub events: &'a [Event],
    /// The scene as run.
    pub scene_text: &'a str,
    /// The plots; [`automatic_panels`] makes a good choice.
    pub panels: Vec<Panel>,
    /// The shapes of the bodies over time, for the picture at the top.
    pub motion: Option<&'a Motion>,
    /// The plots that the scene asks for.
    pub figures: Vec<Panel>,
    /// The shapes that the scene asks for.
    pub shapes: Vec<Shapes>,
    /// Other runs to show beside it.
    pub others: Vec<Other<'a>>,
    /// The picture that moves.
    pub view: Option<View<'a>>,
}

/// Another run to compare with.
#[derive(Clone, Debug)]
pub struct Other<'a> {
    /// What to call it.
    pub name: String,
    /// Its channels.
    pub trajectory: &'a Trajectory,
    /// The shapes that its scene asks for.
    pub shapes: Vec<Shapes>,
}

/// What a page needs to show the motion in space.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The animation as JSON.
    pub animation: &'a str,
    /// The program of the viewer; without it the page says how to get it.
    pub script: Option<&'a str>,
}

/// One plot, ready for the page or a file.
struct Picture {
    /// The panel it shows.
    panel: Panel,
    /// The heading it stands under: its section, or only the kind of thing if it is alone in its section.
    group: String,
    /// The SVG text.
    svg: String,
}

impl<'a> ReportInput<'a> {
    /// A report on a summary and a trajectory, with automatic panels and nothing else yet.
    pub fn new(summary: &'a Summary, trajectory: &'a Trajectory) -> Self {
        let panels = automatic_panels(trajectory.channels());
        Self {
            summary,
            trajectory,
            steps: &[],
            events: &[],
            scene_text: "",
            panels,
            motion: None,
            figures: Vec::new(),
            shapes: Vec::new(),
            others: Vec::new(),
            view: None,
        }
    }

    /// One mark for each instant; its number is that of its first event in the table.
    fn marks(&self) -> Vec<Mark> {
        let together = |a: &(usize, &Event), b: &(usize, &Event)| a.1.time == b.1.time && a.1.kind == b.1.kind;
        let all: Vec<(usize, &Event)> = self.events.iter().enumerate().collect();
        let number_only = all.chunk_by(together).count() > 8;
        let label = |group: &[(usize, &Event)]| {
            let (first, event) = group[0];
            let kind = if number_only { String::new() } else { format!(" {}", event.kind) };
            Mark { time: event.time, label: format!("{}{kind}", first + 1) }
        };
        all.chunk_by(together).map(label).collect()
    }

    /// The pictures of the panels, at most [`DRAWN`] of them.
    fn pictures(&self, form: Form) -> Vec<Picture> {
        let drawn = &self.panels[..self.panels.len().min(DRAWN)];
        let curves: usize = drawn.iter().map(|panel| panel.channels.len()).sum();
        let budget = CURVE_BYTES / curves.max(1);
        let draw = |panel: &Panel| {
            let group = if self.is_alone(panel) { panel.kind() } else { &panel.section };
            let svg = self.draw_panel(panel, self.heading(panel, form), budget, form);
            Picture { panel: panel.clone(), group: group.replace('.', " "), svg }
        };
        drawn.iter().map(draw).collect()
    }

    fn draw_panel(&self, panel: &Panel, title: String, curve_bytes: usize, form: Form) -> String {
        let marks = self.marks();
        let mut series = Vec::new();
        for (channel, name, right) in panel.curves() {
            // With other runs beside it, each curve says which run it belongs to.
            let named = |run: &str| match (self.others.is_empty(), panel.channels.len() + panel.right.len()) {
                (true, _) => name.clone(),
                (false, 1) => run.to_owned(),
                (false, _) => format!("{name}, {run}"),
            };
            let own = std::iter::once((self.summary.name.as_str(), self.trajectory));
            for (run, trajectory) in own.chain(self.others.iter().map(|other| (other.name.as_str(), other.trajectory)))
            {
                if let Some(values) = trajectory.column(channel) {
                    series.push(Series { name: named(run), time: trajectory.time(), values, right });
                }
            }
        }
        let whole = || self.span().unwrap_or((0.0, 1.0));
        let window = (panel.from.is_some() || panel.until.is_some())
            .then(|| (panel.from.unwrap_or_else(|| whole().0), panel.until.unwrap_or_else(|| whole().1)));
        let plot = Plot {
            title,
            unit: panel.unit.clone(),
            right_unit: panel.right_unit.clone(),
            log: panel.log,
            series,
            marks: &marks,
            span: window,
            curve_bytes,
        };
        plot.draw(form)
    }

    /// The figures that the scene asks for, with names for files: shapes, then plots.
    fn figure_pictures(&self, form: Form) -> Vec<(String, String)> {
        let mut pictures = Vec::new();
        let mut draw = |shapes: &Shapes, run: &str| {
            let mut shapes = shapes.clone();
            let mut name = format!("shapes-{}", shapes.name);
            if !run.is_empty() {
                shapes.title = format!("{} ({run})", shapes.title);
                name = format!("{name}-{run}");
            }
            pictures.extend(shapes.draw(form).map(|svg| (name, svg)));
        };
        let own = if self.others.is_empty() { "" } else { self.summary.name.as_str() };
        self.shapes.iter().for_each(|shapes| draw(shapes, own));
        for other in &self.others {
            other.shapes.iter().for_each(|shapes| draw(shapes, &other.name));
        }
        for panel in &self.figures {
            let svg = self.draw_panel(panel, panel.title.clone(), FIGURE_BYTES, form);
            pictures.push((panel.section.replace('.', "-"), svg));
        }
        pictures
    }

    /// The title of a plot. It names the thing it belongs to unless a heading on the page does.
    fn heading(&self, panel: &Panel, form: Form) -> String {
        if panel.section == panel.kind() && matches!(panel.kind(), "momentum" | "residual") {
            return format!("{} {}", panel.title, panel.section);
        }
        let thing = match form {
            Form::File => panel.section.as_str(),
            Form::Inline if self.is_alone(panel) => panel.section.strip_prefix(panel.kind()).unwrap_or_default(),
            Form::Inline => "",
        };
        let thing = thing.trim_start_matches('.').replace('.', " ");
        if thing.is_empty() || thing == panel.title {
            panel.title.clone()
        } else {
            format!("{thing} · {}", panel.title)
        }
    }

    /// Whether a panel is the only one of its section.
    fn is_alone(&self, panel: &Panel) -> bool {
        self.panels.iter().filter(|other| other.section == panel.section).nth(1).is_none()
    }

    /// First and last recorded time, s.
    fn span(&self) -> Option<(f64, f64)> {
        let time = self.trajectory.time();
        Some((*time.first()?, *time.last()?)).filter(|(first, last)| first.is_finite() && last > first)
    }

    /// The picture of the step sizes, if steps were recorded.
    fn step_picture(&self, form: Form) -> Option<String> {
        if self.steps.is_empty() {
            return None;
        }
        let (time, sizes): (Vec<f64>, Vec<f64>) = self.steps.iter().copied().unzip();
        let series = vec![Series { name: "step size".to_owned(), time: &time, values: &sizes, right: false }];
        let marks = self.marks();
        let (title, unit) = ("step size".to_owned(), "s".to_owned());
        let span = self.span();
        let right_unit = String::new();
        Some(Plot { title, unit, right_unit, log: true, series, marks: &marks, span, curve_bytes: 40_000 }.draw(form))
    }
}

/// The pictures of a report as stand-alone SVG files: pairs of a file name and the text.
///
/// They carry their own colours and, like the page, follow the reader's choice of light or dark.
pub fn svg_files(input: &ReportInput<'_>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    if let Some(svg) = input.motion.and_then(|motion| motion.draw(Form::File)) {
        files.push(("motion.svg".to_owned(), svg));
    }
    if let Some(svg) = input.step_picture(Form::File) {
        files.push(("step-size.svg".to_owned(), svg));
    }
    let automatic = input.pictures(Form::File).into_iter();
    let automatic = automatic.map(|Picture { panel, svg, .. }| (format!("{}-{}", panel.section, panel.title), svg));
    for (name, svg) in input.figure_pictures(Form::File).into_iter().chain(automatic) {
        let stem = file_stem(&name);
        let taken = |name: &str, files: &[(String, String)]| files.iter().any(|(known, _)| known == name);
        let mut name = format!("{stem}.svg");
        let mut number = 2;
        while taken(&name, &files) {
            name = format!("{stem}-{number}.svg");
            number += 1;
        }
        files.push((name, svg));
    }
    files
}

/// A file name that is safe everywhere: lower-case letters, digits and hyphens.
fn file_stem(text: &str) -> String {
    let mut stem = String::new();
    for c in text.chars().take(100) {
        if c.is_ascii_alphanumeric() {
            stem.push(c.to_ascii_lowercase());
        } else if !stem.is_empty() && !stem.ends_with('-') {
            stem.push('-');
        }
    }
    let stem = stem.trim_end_matches('-');
    if stem.is_empty() { "panel".to_owned() } else { stem.to_owned() }
}

#[cfg(test)]
mod tests;
