//! The page of a study: text, tables and plots of one quantity over another, in one HTML file.

use crate::exit::Exit;
use crate::robot::write_text;
use crate::viewer;
use dalembert::report::scale::Axis;
use dalembert::report::svg::{Anchor, Form, Svg, escape, polyline, short};
use dalembert::report::theme::{CURVES, page_style};
use std::collections::BTreeSet;
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
    /// Joined by lines, with a dot at each.
    Marked,
    /// As dots, small ones where there are many.
    Dots,
    /// As cells of a grid with this many columns and rows.
    Cells([usize; 2]),
    /// In a plane with the same scale along both axes: the first curve as a line, others as dots.
    Plane,
}

/// Dots of curves with fewer points than this are drawn large.
const FEW: usize = 50;

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
    /// The least and the largest value along an axis.
    fn extent(&self, k: usize) -> [f64; 2] {
        let usable = |x: &f64| x.is_finite() && (!self.log[k] || *x > 0.0);
        let values = self.curves.iter().flat_map(|(_, points)| points.iter().map(|p| p[k])).filter(usable);
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [x.min(low), x.max(high)])
    }

    fn axis(&self, k: usize) -> Axis {
        let [mut low, mut high] = self.extent(k);
        // Few dots keep away from the frame.
        let few = self.style == Style::Dots && self.curves.iter().all(|(_, points)| points.len() < FEW);
        if few && !self.log[k] && low <= high {
            (low, high) = rim(low, high);
        }
        match (low <= high, self.log[k]) {
            (false, _) => Axis::linear(0.0, 1.0, 5),
            (true, true) => Axis::logarithmic(low, high),
            (true, false) => Axis::linear(low, high, 5),
        }
    }

    /// How many curves are drawn: lines can be told apart twice over.
    fn drawn(&self) -> usize {
        let lines = matches!(self.style, Style::Line | Style::Marked);
        self.curves.len().min(if lines { 2 * CURVES } else { CURVES })
    }

    /// Both axes with the same scale.
    fn plane(&self) -> (Axis, Axis) {
        let ranges = [0, 1].map(|k| match self.extent(k) {
            [low, high] if low <= high => rim(low, high),
            _ => (-1.0, 1.0),
        });
        let room = [WIDTH - LEFT - RIGHT, FIELD];
        let unit = [0, 1].map(|k| (ranges[k].1 - ranges[k].0) / room[k]).iter().fold(0.0f64, |max, &u| max.max(u));
        let [across, up] = [0, 1].map(|k| {
            let middle = 0.5 * (ranges[k].0 + ranges[k].1);
            Axis::linear(middle - 0.5 * unit * room[k], middle + 0.5 * unit * room[k], 5)
        });
        (across, up)
    }

    /// The picture.
    pub fn draw(&self, form: Form) -> String {
        let (across, up) = if self.style == Style::Plane { self.plane() } else { (self.axis(0), self.axis(1)) };
        let drawn = self.drawn();
        let key = if self.curves.len() > 1 { 16.0 * drawn as f64 } else { 0.0 };
        let note = if up.note.is_empty() { 0.0 } else { 14.0 };
        let field = Field { across, up, top: 30.0 + key + note };
        let mut svg = Svg::new(form, WIDTH, field.height(), &self.title);
        svg.text("title", [LEFT, 18.0], Anchor::Start, &self.title);
        if key > 0.0 {
            for (k, (name, _)) in self.curves.iter().take(drawn).enumerate() {
                let y = 34.0 + 16.0 * k as f64;
                match self.style {
                    Style::Cells(_) => svg.path(&format!("f{k}"), &cells(&[[LEFT + 12.0, y - 3.5]], [24.0, 8.0])),
                    _ => stroke(&mut svg, k, &[[LEFT, y - 3.5], [LEFT + 24.0, y - 3.5]]),
                }
                svg.text("key", [LEFT + 29.0, y], Anchor::Start, name);
            }
        }
        field.draw(&mut svg, &self.across);
        for (k, (_, points)) in self.curves.iter().take(drawn).enumerate() {
            let places: Vec<[f64; 2]> = points.iter().filter_map(|p| field.place(p)).collect();
            match self.style {
                Style::Plane if k == 0 => stroke(&mut svg, k, &places),
                Style::Line => stroke(&mut svg, k, &places),
                Style::Marked => {
                    stroke(&mut svg, k, &places);
                    mark(&mut svg, k % CURVES, &places, 6.0);
                }
                Style::Dots | Style::Plane => mark(&mut svg, k, &places, if points.len() < FEW { 6.0 } else { 1.8 }),
                Style::Cells(counts) => {
                    let pitch = [0, 1].map(|j| {
                        let [low, high] = self.extent(j);
                        let axis = if j == 0 { &field.across } else { &field.up };
                        let span = axis.place(high).unwrap_or(1.0) - axis.place(low).unwrap_or(0.0);
                        span * [WIDTH - LEFT - RIGHT, FIELD][j] / counts[j].saturating_sub(1).max(1) as f64
                    });
                    svg.path(&format!("f{k}"), &cells(&places, pitch));
                }
            }
        }
        svg.finish()
    }
}

/// Draws curve `k`. Each colour has a dash pattern; further curves have the same colours, broad, pale and whole.
fn stroke(svg: &mut Svg, k: usize, places: &[[f64; 2]]) {
    let (class, commands) = (format!("curve c{}", k % CURVES), polyline(places));
    if k < CURVES {
        svg.path(&class, &commands);
        return;
    }
    let style = "stroke-width:4;stroke-opacity:0.4;stroke-dasharray:none";
    svg.leaf("path", &[("class", (&class).into()), ("style", style.into()), ("d", (&commands).into())]);
}

/// Draws dots of a width in px.
fn mark(svg: &mut Svg, colour: usize, places: &[[f64; 2]], width: f64) {
    let (class, style) = (format!("shape c{colour}"), format!("stroke-width:{width}"));
    svg.leaf("path", &[("class", (&class).into()), ("style", (&style).into()), ("d", (&dots(places)).into())]);
}

/// Where values are drawn: two axes with their grid.
pub struct Field {
    across: Axis,
    up: Axis,
    top: f64,
}

impl Field {
    /// The width of a picture, px.
    pub const WIDTH: f64 = WIDTH;
    /// Where the field begins, px.
    pub const LEFT: f64 = LEFT;

    /// Linear axes around points, with a rim, below so many px of title and key.
    pub fn around<'a>(points: impl Iterator<Item = &'a [f64; 2]>, top: f64) -> Self {
        let mut range = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
        for (k, x) in points.flat_map(|p| p.iter().copied().enumerate()).filter(|(_, x)| x.is_finite()) {
            range[k] = [range[k][0].min(x), range[k][1].max(x)];
        }
        let axis = |[low, high]: [f64; 2]| match rim(low, high) {
            (low, high) if low <= high => Axis::linear(low, high, 5),
            _ => Axis::linear(0.0, 1.0, 5),
        };
        Self { across: axis(range[0]), up: axis(range[1]), top }
    }

    /// The height of the picture, px.
    pub fn height(&self) -> f64 {
        self.top + FIELD + 42.0
    }

    /// The axes, with a name for the horizontal one.
    pub fn draw(&self, svg: &mut Svg, name: &str) {
        let (top, bottom, width) = (self.top, self.top + FIELD, WIDTH - LEFT - RIGHT);
        svg.text("mark", [LEFT, top - 4.0], Anchor::Start, &self.up.note);
        for tick in &self.across.ticks {
            let x = LEFT + tick.place * width;
            svg.line("grid", [x, top], [x, bottom]);
            svg.text("", [x, bottom + 14.0], Anchor::Middle, &tick.label);
        }
        for tick in &self.up.ticks {
            let y = bottom - tick.place * FIELD;
            svg.line("grid", [LEFT, y], [WIDTH - RIGHT, y]);
            svg.text("", [LEFT - 6.0, y + 4.0], Anchor::End, &tick.label);
        }
        svg.line("axis", [LEFT, bottom], [WIDTH - RIGHT, bottom]);
        svg.line("axis", [LEFT, top], [LEFT, bottom]);
        let note = &self.across.note;
        let label = if note.is_empty() { name.to_owned() } else { format!("{name} ({note})") };
        svg.text("", [LEFT + 0.5 * width, bottom + 32.0], Anchor::Middle, &label);
    }

    /// Where a point is drawn; none outside of the axes.
    pub fn place(&self, point: &[f64; 2]) -> Option<[f64; 2]> {
        let width = WIDTH - LEFT - RIGHT;
        Some([LEFT + self.across.place(point[0])? * width, self.top + FIELD - self.up.place(point[1])? * FIELD])
    }
}

/// A range with room on both sides, so that dots keep away from the frame.
fn rim(low: f64, high: f64) -> (f64, f64) {
    let rim = if high > low { 0.06 * (high - low) } else { 0.5 * high.abs().max(1.0) };
    (low - rim, high + rim)
}

/// Dots as strokes of no length, each place of a tenth of a px once.
fn dots(places: &[[f64; 2]]) -> String {
    let tenths: BTreeSet<[i64; 2]> = places.iter().map(|p| p.map(|c| (10.0 * c).round() as i64)).collect();
    let number = |c: i64| short(c as f64 / 10.0);
    tenths.iter().map(|[x, y]| format!("M{} {}h0", number(*x), number(*y))).collect()
}

/// Cells around places, those side by side in a row as one rectangle.
fn cells(places: &[[f64; 2]], pitch: [f64; 2]) -> String {
    let mut sorted = places.to_vec();
    sorted.sort_by(|a, b| a[1].total_cmp(&b[1]).then(a[0].total_cmp(&b[0])));
    let mut out = String::new();
    for run in sorted.chunk_by(|a, b| a[1] == b[1] && b[0] - a[0] < 1.5 * pitch[0]) {
        let (first, last) = (run[0], run[run.len() - 1]);
        let (x, y) = (first[0] - 0.5 * pitch[0], first[1] - 0.5 * pitch[1]);
        // A hair wider than the pitch, so that no gaps shine through.
        let (w, h) = (short(last[0] - first[0] + pitch[0] + 0.05), short(pitch[1] + 0.05));
        out += &format!("M{} {}h{w}v{h}h-{w}z", short(x), short(y));
    }
    out
}

/// A study as text and as a page.
pub struct Page {
    title: String,
    text: String,
    body: String,
    files: Vec<(String, Vec<u8>)>,
    /// Whether the page has a view in space.
    view: bool,
    /// What is missing if the study was interrupted.
    missing: Option<String>,
}

impl Page {
    /// An empty page.
    pub fn new(title: &str) -> Self {
        let body = format!("<h1>{}</h1>\n", escape(title));
        Self { title: title.to_owned(), text: String::new(), body, files: Vec::new(), view: false, missing: None }
    }

    /// A line of text.
    pub fn say(&mut self, line: &str) {
        self.text += &format!("{line}\n");
        self.body += &format!("<p>{}</p>\n", escape(line));
    }

    /// A heading.
    pub fn heading(&mut self, title: &str) {
        self.text += &format!("\n{title}\n");
        self.body += &format!("<h2>{}</h2>\n", escape(title));
    }

    /// A line for the terminal alone.
    pub fn note(&mut self, line: &str) {
        self.text += &format!("{line}\n");
    }

    /// Tells that the study was interrupted, and what there is.
    pub fn interrupted(&mut self, what: &str) {
        self.say(&format!("interrupted: {what}"));
        self.missing = Some(what.to_owned());
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

    /// A line that leads to another page.
    pub fn link(&mut self, text: &str, to: &str) {
        self.text += &format!("{text}: {to}\n");
        self.body += &format!("<p><a href=\"{}\">{}</a></p>\n", escape(to), escape(text));
    }

    /// A plot, also as a file of its own.
    pub fn chart(&mut self, name: &str, chart: &Chart) {
        self.body += &format!("<figure>{}</figure>\n", chart.draw(Form::Inline));
        self.files.push((format!("{name}.svg"), chart.draw(Form::File).into_bytes()));
    }

    /// A picture that was drawn elsewhere, in both forms.
    pub fn picture(&mut self, name: &str, draw: impl Fn(Form) -> Option<String>) {
        if let (Some(inline), Some(own)) = (draw(Form::Inline), draw(Form::File)) {
            self.body += &format!("<figure>{inline}</figure>\n");
            self.files.push((format!("{name}.svg"), own.into_bytes()));
        }
    }

    /// Motions in space to choose among, each an animation as JSON; without the viewer a sentence on how to get it.
    pub fn motions(&mut self, animations: &[String]) {
        if animations.is_empty() {
            return;
        }
        if viewer::script().is_none() {
            self.body += &format!("<p>This page has no view in space; to get it, {}.</p>\n", escape(viewer::HOW));
            return;
        }
        self.view = true;
        self.body += "<section id=\"view\" aria-label=\"Motion in space\"></section>\n";
        for (k, animation) in animations.iter().enumerate() {
            // Inside a script only `<` could end the data; JSON has another way to write it.
            let data = animation.replace('<', "\\u003c");
            let mark = if k == 0 { "id=\"animation\"" } else { "class=\"further-animation\"" };
            self.body += &format!("<script type=\"application/json\" {mark}>{data}</script>\n");
        }
    }

    /// A file that belongs to the study.
    pub fn file(&mut self, name: &str, bytes: Vec<u8>) {
        self.files.push((name.to_owned(), bytes));
    }

    /// Prints the text; with a folder writes the page and its files there. A study that was interrupted ends as interrupted after that.
    pub fn finish(self, folder: Option<&Path>) -> Result<(), Exit> {
        crate::print(&self.text)?;
        folder.map_or(Ok(()), |folder| self.write(folder))?;
        match self.missing {
            None => Ok(()),
            Some(what) => {
                eprintln!("interrupted: {what}");
                Err(Exit::Interrupted)
            }
        }
    }

    /// What it says, without plots.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Writes the page and its files into a folder.
    pub fn write(&self, folder: &Path) -> Result<(), Exit> {
        std::fs::create_dir_all(folder).map_err(|e| Exit::io(&format!("make `{}`", folder.display()), &e))?;
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            std::fs::write(&path, bytes).map_err(|e| Exit::io(&format!("write `{}`", path.display()), &e))?;
        }
        let page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title><style>{}\
             body{{max-width:46rem;margin:2rem auto;padding:0 1rem;font:15px system-ui,sans-serif;background:var(--page);\
             color:var(--ink)}}figure{{margin:1rem 0;background:var(--surface)}}table{{display:block;overflow-x:auto;border-collapse:collapse;margin:1rem 0}}\
             th,td{{padding:.15rem .8rem .15rem 0;text-align:left;white-space:nowrap;font-variant-numeric:tabular-nums}}</style></head><body>\n{}\
             {}</body></html>\n",
            escape(&self.title),
            page_style(),
            self.body,
            viewer::script().filter(|_| self.view).map(|s| format!("<script>{s}</script>\n")).unwrap_or_default()
        );
        write_text(&folder.join("report.html"), &page)
    }
}
