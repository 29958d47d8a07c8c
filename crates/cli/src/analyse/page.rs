//! The page of a study: text, tables and plots of one quantity over another, in one HTML file.

use crate::exit::Exit;
use crate::robot::write_text;
use dalembert::report::scale::Axis;
use dalembert::report::svg::{Anchor, Form, Svg, escape, polyline};
use dalembert::report::theme::{CURVES, page_style};
use std::path::Path;

const WIDTH: f64 = 560.0;
const FIELD: f64 = 220.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;

/// How points are drawn.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Style {
    /// Joined by lines.
    Line,
    /// As dots.
    Dots,
}

/// A plot of values over values.
pub struct Chart {
    /// The title, with units.
    pub title: String,
    /// What is along the horizontal axis.
    pub across: String,
    /// Whether the axes are logarithmic: horizontal, vertical.
    pub log: [bool; 2],
    /// How points are drawn.
    pub style: Style,
    /// The curves: name and points.
    pub curves: Vec<(String, Vec<[f64; 2]>)>,
}

impl Chart {
    fn axis(&self, k: usize) -> Axis {
        let usable = |x: &f64| x.is_finite() && (!self.log[k] || *x > 0.0);
        let values = self.curves.iter().flat_map(|(_, points)| points.iter().map(|p| p[k])).filter(usable);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (x.min(low), x.max(high)));
        match (low <= high, self.log[k]) {
            (false, _) => Axis::linear(0.0, 1.0, 5),
            (true, true) => Axis::logarithmic(low, high),
            (true, false) => Axis::linear(low, high, 5),
        }
    }

    /// The picture.
    pub fn draw(&self, form: Form) -> String {
        let (across, up) = (self.axis(0), self.axis(1));
        let key = if self.curves.len() > 1 { 16.0 * self.curves.len().min(CURVES) as f64 } else { 0.0 };
        let note = if up.note.is_empty() { 0.0 } else { 14.0 };
        let (top, width) = (30.0 + key + note, WIDTH - LEFT - RIGHT);
        let bottom = top + FIELD;
        let mut svg = Svg::new(form, WIDTH, bottom + 42.0, &self.title);
        svg.text("title", [LEFT, 18.0], Anchor::Start, &self.title);
        if key > 0.0 {
            for (k, (name, _)) in self.curves.iter().take(CURVES).enumerate() {
                let y = 34.0 + 16.0 * k as f64;
                svg.line(&format!("curve c{k}"), [LEFT, y - 3.5], [LEFT + 24.0, y - 3.5]);
                svg.text("key", [LEFT + 29.0, y], Anchor::Start, name);
            }
        }
        svg.text("mark", [LEFT, top - 4.0], Anchor::Start, &up.note);
        for tick in &across.ticks {
            let x = LEFT + tick.place * width;
            svg.line("grid", [x, top], [x, bottom]);
            svg.text("", [x, bottom + 14.0], Anchor::Middle, &tick.label);
        }
        for tick in &up.ticks {
            let y = bottom - tick.place * FIELD;
            svg.line("grid", [LEFT, y], [WIDTH - RIGHT, y]);
            svg.text("", [LEFT - 6.0, y + 4.0], Anchor::End, &tick.label);
        }
        svg.line("axis", [LEFT, bottom], [WIDTH - RIGHT, bottom]);
        svg.line("axis", [LEFT, top], [LEFT, bottom]);
        let label =
            if across.note.is_empty() { self.across.clone() } else { format!("{} ({})", self.across, across.note) };
        svg.text("", [LEFT + 0.5 * width, bottom + 32.0], Anchor::Middle, &label);
        for (k, (_, points)) in self.curves.iter().take(CURVES).enumerate() {
            let place = |p: &[f64; 2]| Some([LEFT + across.place(p[0])? * width, bottom - up.place(p[1])? * FIELD]);
            let places: Vec<[f64; 2]> = points.iter().filter_map(place).collect();
            match self.style {
                Style::Line => svg.path(&format!("curve c{k}"), &polyline(&places)),
                Style::Dots => {
                    let class = format!("f{k}");
                    for [x, y] in places {
                        let at = [("class", (&class).into()), ("cx", x.into()), ("cy", y.into()), ("r", 1.0.into())];
                        svg.leaf("circle", &at);
                    }
                }
            }
        }
        svg.finish()
    }
}

/// A study as text and as a page.
pub struct Page {
    title: String,
    text: String,
    body: String,
    files: Vec<(String, Vec<u8>)>,
}

impl Page {
    /// An empty page.
    pub fn new(title: &str) -> Self {
        let body = format!("<h1>{}</h1>\n", escape(title));
        Self { title: title.to_owned(), text: String::new(), body, files: Vec::new() }
    }

    /// A line of text.
    pub fn say(&mut self, line: &str) {
        self.text += &format!("{line}\n");
        self.body += &format!("<p>{}</p>\n", escape(line));
    }

    /// A table; its first row is the header.
    pub fn table(&mut self, rows: &[Vec<String>]) {
        let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len))
            .map(|j| rows.iter().filter_map(|row| row.get(j)).map(|cell| cell.chars().count()).max().unwrap_or(0))
            .collect();
        self.body += "<table>\n";
        for (i, row) in rows.iter().enumerate() {
            let padded: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, &width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())))
                .collect();
            self.text += &format!("{}\n", padded.join("  ").trim_end());
            let tag = if i == 0 { "th" } else { "td" };
            let cells: String = row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
            self.body += &format!("<tr>{cells}</tr>\n");
        }
        self.body += "</table>\n";
    }

    /// A plot, also as a file of its own.
    pub fn chart(&mut self, name: &str, chart: &Chart) {
        self.body += &format!("<figure>{}</figure>\n", chart.draw(Form::Inline));
        self.files.push((format!("{name}.svg"), chart.draw(Form::File).into_bytes()));
    }

    /// A file that belongs to the study.
    pub fn file(&mut self, name: &str, bytes: Vec<u8>) {
        self.files.push((name.to_owned(), bytes));
    }

    /// Prints the text; with a folder writes the page and its files there.
    pub fn finish(self, folder: Option<&Path>) -> Result<(), Exit> {
        crate::print(&self.text)?;
        let Some(folder) = folder else { return Ok(()) };
        std::fs::create_dir_all(folder).map_err(|e| Exit::io(&format!("make `{}`", folder.display()), &e))?;
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            std::fs::write(&path, bytes).map_err(|e| Exit::io(&format!("write `{}`", path.display()), &e))?;
        }
        let page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title><style>{}\
             body{{max-width:46rem;margin:2rem auto;padding:0 1rem;font:15px system-ui,sans-serif;background:var(--page);\
             color:var(--ink)}}figure{{margin:1rem 0;background:var(--surface)}}table{{border-collapse:collapse;margin:1rem 0}}\
             th,td{{padding:.15rem .8rem .15rem 0;text-align:left;font-variant-numeric:tabular-nums}}</style></head><body>\n{}\
             </body></html>\n",
            escape(&self.title),
            page_style(),
            self.body
        );
        write_text(&folder.join("report.html"), &page)
    }
}
