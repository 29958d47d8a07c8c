//! Motions side by side: a table of small pictures with one scale and one view, so that they can be compared.
//!
//! A cell shows one configuration, or several on top of each other, early ones pale and the last one strong. All cells show the same piece of the
//! world: what moves away in one cell stands elsewhere in the next.

use super::shapes::{Paper, Snapshot, View, draw_bar, draw_snapshot, frame};
use super::svg::{Anchor, Form, Svg};
use super::theme::CURVES;

const WIDTH: f64 = 760.0;
const MARGIN: f64 = 16.0;
/// Height of a cell in parts of its width, at most; and in px, at least.
const TALL: f64 = 1.1;
const LOW: f64 = 60.0;
/// Height of a line of text.
const LINE: f64 = 16.0;
/// Room below a row.
const GAP: f64 = 10.0;
/// How strong the first of several configurations is.
const PALE: f64 = 0.15;

/// One small picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What is written under it.
    pub label: String,
    /// The number of its colour.
    pub colour: usize,
    /// What it shows, in the order of time.
    pub snapshots: Vec<Snapshot>,
}

/// Small pictures in a line, with a name above them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// What is written above them; nothing if empty.
    pub name: String,
    /// The pictures.
    pub cells: Vec<Cell>,
}

/// A table of small pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// The title.
    pub title: String,
    /// From where everything is seen.
    pub view: View,
    /// The lines.
    pub rows: Vec<Row>,
}

impl Strip {
    /// Draws the table; none if there is nothing to see.
    pub fn draw(&self, form: Form) -> Option<String> {
        let cells = || self.rows.iter().flat_map(|row| &row.cells);
        let [low, high] = frame(&self.view, cells().flat_map(|cell| &cell.snapshots), &[])?;
        let columns = self.rows.iter().map(|row| row.cells.len()).max()?;
        let size = [high[0] - low[0], high[1] - low[1]];
        let wide = (WIDTH - 2.0 * MARGIN) / columns as f64;
        let scale = (wide / size[0]).min(TALL * wide / size[1]);
        let tall = (size[1] * scale).max(LOW);
        let named = |row: &Row| if row.name.is_empty() { 0.0 } else { LINE };
        let body: f64 = self.rows.iter().map(|row| named(row) + tall + LINE + GAP).sum();
        let foot = 34.0 + body + 10.0;
        let label = format!("{}: {}", self.title, self.rows.iter().map(Row::spoken).collect::<Vec<_>>().join("; "));
        let mut svg = Svg::new(form, WIDTH, foot + 14.0, &label);
        svg.text("title", [MARGIN, 18.0], Anchor::Start, &self.title);
        let mut top = 34.0;
        let mut last = None;
        for row in &self.rows {
            if !row.name.is_empty() {
                let colour = row.cells.first().map_or(0, |cell| cell.colour) % CURVES;
                svg.line(&format!("shape c{colour}"), [MARGIN, top + 4.0], [MARGIN + 14.0, top + 4.0]);
                svg.text("key", [MARGIN + 20.0, top + 8.0], Anchor::Start, &row.name);
                top += LINE;
            }
            for (column, cell) in row.cells.iter().enumerate() {
                let left = MARGIN + wide * column as f64;
                let paper = Paper {
                    origin: low,
                    scale,
                    left: left + 0.5 * (wide - size[0] * scale),
                    bottom: top + 0.5 * (tall + size[1] * scale),
                };
                cell.draw(&mut svg, &paper, &self.view);
                svg.text("", [left + 0.5 * wide, top + tall + 10.0], Anchor::Middle, &cell.label);
                last = Some(paper);
            }
            top += tall + LINE + GAP;
        }
        draw_bar(&mut svg, &last?, WIDTH, foot);
        svg.text("label", [WIDTH - MARGIN, foot + 4.0], Anchor::End, &self.view.name);
        Some(svg.finish())
    }
}

impl Row {
    /// For those who cannot see it.
    fn spoken(&self) -> String {
        let labels: Vec<&str> = self.cells.iter().map(|cell| cell.label.as_str()).collect();
        format!("{} at {}", self.name, labels.join(", "))
    }
}

impl Cell {
    fn draw(&self, svg: &mut Svg, paper: &Paper, view: &View) {
        let count = self.snapshots.len();
        for (k, snapshot) in self.snapshots.iter().enumerate() {
            let age = (k + 1) as f64 / count as f64;
            svg.open("g", &[("opacity", (PALE + (1.0 - PALE) * age * age * age).into())]);
            draw_snapshot(svg, paper, view, snapshot, self.colour % CURVES);
            svg.close();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn cell(colour: usize, ends: &[f64]) -> Cell {
        let shot = |&x: &f64| Snapshot { lines: vec![vec![[0.0; 3], [x, 0.0, 1.0]]], ..Snapshot::default() };
        Cell { label: format!("{} s", ends[0]), colour, snapshots: ends.iter().map(shot).collect() }
    }

    #[test]
    fn cells_have_one_scale_and_their_own_colour() {
        let rows = vec![
            Row { name: "kind <1>".into(), cells: vec![cell(0, &[1.0]), cell(0, &[2.0])] },
            Row { name: "kind 2".into(), cells: vec![cell(7, &[0.5, 1.0, 2.0])] },
        ];
        let strip = Strip { title: "Motions".into(), view: View::plane("xz", 0, 2), rows };
        let svg = strip.draw(Form::File).unwrap();
        assert!(svg.contains("kind &lt;1&gt;") && svg.contains("xz plane"), "{svg}");
        assert_eq!((svg.matches("wire c0").count(), svg.matches("wire c1").count()), (2, 3), "{svg}");
        // Two metres and a rim of 0.1 m on both sides fill a cell of 364 px, in the first cell and in the second; both ends are rounded to a tenth of a px.
        let ends = |part: &str| -> Vec<f64> {
            let numbers = part.split(['M', 'L', 'H', 'V', ' ', '"']).filter_map(|word| word.parse().ok());
            numbers.collect()
        };
        let widths: Vec<f64> = svg
            .split("class=\"wire c0\" d=\"")
            .skip(1)
            .map(|rest| {
                let line = ends(rest.split('"').next().unwrap());
                line[2] - line[0]
            })
            .collect();
        let metre = 364.0 / 2.2;
        assert!((widths[0] - metre).abs() < 0.1 && (widths[1] - 2.0 * metre).abs() < 0.1, "{widths:?} {svg}");
        assert!(svg.contains("opacity=\"1\"") && svg.contains("opacity=\"0.18\""), "{svg}");
    }

    #[test]
    fn nothing_to_see_is_no_picture() {
        let empty = Strip { title: String::new(), view: View::oblique(), rows: vec![Row::default()] };
        assert_eq!(empty.draw(Form::Inline), None);
    }
}
