//! Line plots over time.
//!
//! From top to bottom: title with unit, key, labels of events, the field with its grid and curves, the time axis.
//! Values that are not finite leave a gap. On a logarithmic axis magnitudes are drawn and zeros leave a gap. Some curves may have
//! an axis of their own at the right.

use super::decimate::{by_column, simplify};
use super::scale::Axis;
use super::svg::{Anchor, Form, Svg, polyline};
use super::theme::CURVES;

const WIDTH: f64 = 560.0;
const FIELD: f64 = 168.0;
const RIGHT: f64 = 16.0;
const ROW: f64 = 16.0;
/// Deviation from the true curve that nobody sees, px.
const TOLERANCE: f64 = 0.15;
/// Bytes that one point of a curve takes, about.
const POINT: usize = 10;
/// Rows of event labels.
const MARK_ROWS: usize = 3;
/// Most events that are marked by lines across the field.
const LINES: usize = 40;

/// One curve.
#[derive(Clone, Debug)]
pub struct Series<'a> {
    /// Name in the key.
    pub name: String,
    /// Times, s.
    pub time: &'a [f64],
    /// Values at these times.
    pub values: &'a [f64],
    /// Whether they belong to the axis at the right.
    pub right: bool,
}

/// An instant to mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// When, s.
    pub time: f64,
    /// What to write there, if there is room.
    pub label: String,
}

/// A line plot over time.
#[derive(Clone, Debug)]
pub struct Plot<'a> {
    /// Title.
    pub title: String,
    /// Unit of the values.
    pub unit: String,
    /// Unit of the values at the right.
    pub right_unit: String,
    /// Whether the values have a logarithmic axis.
    pub log: bool,
    /// The curves, at most [`CURVES`].
    pub series: Vec<Series<'a>>,
    /// Instants to mark.
    pub marks: &'a [Mark],
    /// First and last time to show, s; by default all that the curves have.
    pub span: Option<(f64, f64)>,
    /// Bytes that each curve may take, about.
    pub curve_bytes: usize,
}

/// The field of a plot in px, with its axes.
struct Field {
    left: f64,
    top: f64,
    /// Room at the right of it.
    margin: f64,
    time: Axis,
    values: Axis,
    right: Option<Axis>,
}

/// A mark that lies in the field.
struct PlacedMark {
    /// Place of the line, px.
    x: f64,
    /// Row and centre of the label, if there is room for it.
    label: Option<(usize, f64)>,
    /// Which mark.
    index: usize,
}

impl Field {
    fn width(&self) -> f64 {
        WIDTH - self.margin - self.left
    }

    fn bottom(&self) -> f64 {
        self.top + FIELD
    }

    fn x(&self, time: f64) -> Option<f64> {
        self.time.place(time).map(|place| self.left + place * self.width())
    }

    fn y(&self, value: f64, right: bool) -> Option<f64> {
        let axis = self.right.as_ref().filter(|_| right).unwrap_or(&self.values);
        axis.place(value).map(|place| self.bottom() - place * FIELD)
    }
}

impl Plot<'_> {
    /// Draws the plot.
    pub fn draw(&self, form: Form) -> String {
        let own = || bounds(self.series.iter().flat_map(|s| s.time.iter().copied()), false);
        let time = match self.span.or_else(own) {
            Some((low, high)) => Axis::linear(low, high, 6),
            None => Axis::linear(0.0, 1.0, 6),
        };
        let values = self.value_axis(false);
        let right = self.series.iter().any(|series| series.right).then(|| self.value_axis(true));
        let widest = |axis: &Axis| axis.ticks.iter().map(|tick| text_width(&tick.label, 11.0)).fold(24.0, f64::max);
        let left = (widest(&values) + 16.0).ceil();
        let margin = right.as_ref().map_or(RIGHT, |axis| (widest(axis) + 16.0).ceil());
        let mut field = Field { left, top: 0.0, margin, time, values, right };
        let names = self.key_names(&field);
        let key = key_rows(&names, field.left, WIDTH - RIGHT);
        let (marks, mark_rows) = self.place_marks(&field);
        let right_note = field.right.as_ref().map_or("", |axis| &axis.note).to_owned();
        let note_row = if field.values.note.is_empty() && right_note.is_empty() { 0.0 } else { ROW - 2.0 };
        field.top = 34.0 + ROW * key.len() as f64 + note_row + 13.0 * mark_rows as f64;
        if key.is_empty() && mark_rows == 0 && note_row == 0.0 {
            field.top -= 4.0;
        }
        let height = field.bottom() + 38.0;

        let plain = self.unit == "1" || field.right.is_some();
        let heading = if plain { self.title.clone() } else { format!("{} [{}]", self.title, self.unit) };
        let mut svg = Svg::new(form, WIDTH, height, &format!("{heading} over time"));
        svg.text("title", [field.left, 18.0], Anchor::Start, &heading);
        for (row, entries) in key.iter().enumerate() {
            let y = 36.0 + ROW * row as f64;
            for (index, x) in entries {
                svg.line(&format!("curve c{index}"), [*x, y - 3.5], [*x + 24.0, y - 3.5]);
                svg.text("key", [*x + 29.0, y], Anchor::Start, &names[*index]);
            }
        }
        if note_row > 0.0 {
            let y = 33.0 + ROW * key.len() as f64;
            svg.text("mark", [field.left, y], Anchor::Start, &field.values.note);
            svg.text("mark", [field.left + field.width(), y], Anchor::End, &right_note);
        }
        if form == Form::Inline {
            draw_axis_data(&mut svg, &field);
        }
        self.draw_grid(&mut svg, &field);
        self.draw_marks(&mut svg, &field, &marks, mark_rows);
        let mut drawn = false;
        for (index, series) in self.series.iter().take(CURVES).enumerate() {
            let path = self.curve(series, &field);
            if !path.is_empty() {
                svg.path(&format!("curve c{index}"), &path);
                drawn = true;
            }
        }
        if !drawn {
            let middle = [field.left + 0.5 * field.width(), field.top + 0.5 * FIELD];
            svg.text("key", middle, Anchor::Middle, if self.log { "no values other than zero" } else { "no values" });
        }
        svg.finish()
    }

    /// The axis of the values at the left or at the right, over the times that are shown.
    fn value_axis(&self, right: bool) -> Axis {
        let (from, until) = self.span.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let curves = self.series.iter().take(CURVES).filter(|s| s.right == right);
        let samples = curves.flat_map(|s| s.time.iter().zip(s.values));
        let shown = samples.filter(|(t, _)| (from..=until).contains(*t)).map(|(_, value)| *value);
        match bounds(shown, self.log) {
            Some((low, high)) if self.log => Axis::logarithmic(low, high),
            Some((low, high)) => {
                let pad = 0.04 * (high - low);
                // A padded range must not cross zero if the data do not: it would suggest a sign change.
                let low_padded = if low >= 0.0 { (low - pad).max(0.0) } else { low - pad };
                let high_padded = if high <= 0.0 { (high + pad).min(0.0) } else { high + pad };
                Axis::linear(low_padded, high_padded, 5)
            }
            None => Axis::linear(0.0, 1.0, 5),
        }
    }

    /// What the key says of each curve; nothing of one curve that the title names. With two axes it says which is whose.
    fn key_names(&self, field: &Field) -> Vec<String> {
        let count = self.series.len().min(CURVES);
        if count == 0 || (count == 1 && self.title.ends_with(&self.series[0].name)) {
            return Vec::new();
        }
        let with_unit = |name: &str, unit: &str| if unit == "1" { name.to_owned() } else { format!("{name} [{unit}]") };
        let name = |series: &Series<'_>| match (&field.right, series.right) {
            (None, _) => series.name.clone(),
            (Some(_), false) => format!("← {}", with_unit(&series.name, &self.unit)),
            (Some(_), true) => format!("{} →", with_unit(&series.name, &self.right_unit)),
        };
        self.series.iter().take(CURVES).map(name).collect()
    }

    /// The marks that lie in the field and the number of rows their labels take; labels without room are left out.
    fn place_marks(&self, field: &Field) -> (Vec<PlacedMark>, usize) {
        let all = self.marks.iter().enumerate().filter_map(|(index, mark)| Some((index, field.x(mark.time)?)));
        let mut places: Vec<(usize, f64)> = all.collect();
        places.dedup_by(|b, a| (a.1 - b.1).abs() < 1.5);
        if places.len() > LINES {
            places.dedup_by(|b, a| (a.1 - b.1).abs() < 4.0);
            return (places.into_iter().map(|(index, x)| PlacedMark { x, label: None, index }).collect(), 0);
        }
        let mut ends = [f64::NEG_INFINITY; MARK_ROWS];
        let mut rows = 0;
        let placed = places.into_iter().map(|(index, x)| {
            let half = 0.5 * text_width(&self.marks[index].label, 10.0);
            let centre = x.min(WIDTH - 2.0 - half).max(field.left + half);
            let row = ends.iter().position(|end| centre - half > end + 4.0);
            if let Some(row) = row {
                ends[row] = centre + half;
                rows = rows.max(row + 1);
            }
            PlacedMark { x, label: row.map(|row| (row, centre)), index }
        });
        (placed.collect(), rows)
    }

    fn draw_grid(&self, svg: &mut Svg, field: &Field) {
        let (left, right) = (field.left, field.left + field.width());
        let mut grid = String::new();
        for tick in &field.values.ticks {
            let y = field.bottom() - tick.place * FIELD;
            grid += &polyline(&[[left, y], [right, y]]);
            svg.text("tick", [left - 7.0, y + 3.8], Anchor::End, &tick.label);
        }
        for tick in field.right.iter().flat_map(|axis| &axis.ticks) {
            let y = field.bottom() - tick.place * FIELD;
            svg.text("tick", [right + 7.0, y + 3.8], Anchor::Start, &tick.label);
        }
        for tick in &field.time.ticks {
            let x = left + tick.place * field.width();
            grid += &polyline(&[[x, field.top], [x, field.bottom()]]);
            svg.text("tick", [x, field.bottom() + 15.0], Anchor::Middle, &tick.label);
        }
        svg.path("grid", &grid);
        let mut axes = vec![[left, field.top], [left, field.bottom()], [right, field.bottom()]];
        axes.extend(field.right.as_ref().map(|_| [right, field.top]));
        svg.path("axis", &polyline(&axes));
        let note = if field.time.note.is_empty() { String::new() } else { format!(" {}", field.time.note) };
        svg.text("label", [right, field.bottom() + 30.0], Anchor::End, &format!("time [s]{note}"));
    }

    fn draw_marks(&self, svg: &mut Svg, field: &Field, marks: &[PlacedMark], rows: usize) {
        // Too many for lines across the field: short strokes along its upper edge.
        let rug = marks.len() > LINES;
        let mut lines = String::new();
        for PlacedMark { x, label, index } in marks {
            let mut top = field.top;
            if let Some((row, centre)) = label {
                let y = field.top - 4.0 - 13.0 * (rows - 1 - row) as f64;
                svg.text("mark", [*centre, y], Anchor::Middle, &self.marks[*index].label);
                top = y + 2.0;
            }
            let bottom = if rug { field.top + 7.0 } else { field.bottom() };
            lines += &polyline(&[[*x, top], [*x, bottom]]);
        }
        if !lines.is_empty() {
            svg.path(if rug { "axis" } else { "event" }, &lines);
        }
    }

    /// Path commands of a curve, with a new start after each gap.
    fn curve(&self, series: &Series<'_>, field: &Field) -> String {
        let budget = (self.curve_bytes / POINT).max(16);
        let columns = (budget / 4).clamp(4, field.width() as usize);
        let samples = series.time.iter().zip(series.values);
        let places: Vec<Option<[f64; 2]>> =
            samples.map(|(t, v)| Some([field.x(*t)?, field.y(*v, series.right)?])).collect();
        let mut path = String::new();
        for run in places.chunk_by(|a, b| a.is_some() && b.is_some()) {
            let points: Vec<[f64; 2]> = run.iter().copied().flatten().collect();
            let few = simplify(&by_column(&points, field.left, field.left + field.width(), columns), TOLERANCE);
            match few.as_slice() {
                [] => {}
                // A lone sample between gaps would be invisible as a line of no length.
                [[x, y]] => path += &polyline(&[[x - 1.0, *y], [x + 1.0, *y]]),
                _ => path += &polyline(&few),
            }
        }
        path
    }
}

/// Where the field is and what time its sides stand for, for a script that moves a cursor over it.
fn draw_axis_data(svg: &mut Svg, field: &Field) {
    let [from, to] = field.time.range().map(|t| format!("{t:e}"));
    svg.leaf(
        "g",
        &[
            ("class", "time-axis".into()),
            ("data-left", field.left.into()),
            ("data-width", field.width().into()),
            ("data-top", field.top.into()),
            ("data-height", FIELD.into()),
            ("data-from", (&from).into()),
            ("data-to", (&to).into()),
        ],
    );
}

/// Index and place of the entries of a key between two edges, row by row.
pub(super) fn key_rows(names: &[String], left: f64, right: f64) -> Vec<Vec<(usize, f64)>> {
    let mut rows: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut x = f64::INFINITY;
    for (index, name) in names.iter().enumerate() {
        let width = 29.0 + text_width(name, 11.0) + 16.0;
        if x + width > right + 16.0 {
            rows.push(Vec::new());
            x = left;
        }
        if let Some(row) = rows.last_mut() {
            row.push((index, x));
        }
        x += width;
    }
    rows
}

/// Smallest and largest finite value; of the magnitudes other than zero for a logarithmic axis.
fn bounds(values: impl Iterator<Item = f64>, log: bool) -> Option<(f64, f64)> {
    let usable = values.filter(|x| x.is_finite() && !(log && *x == 0.0)).map(|x| if log { x.abs() } else { x });
    usable.fold(None, |range, x| match range {
        None => Some((x, x)),
        Some((low, high)) => Some((f64::min(low, x), f64::max(high, x))),
    })
}

/// Width of a text in px, about, without knowing the font.
pub fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'l' | 'j' | '.' | ',' | '\'' | ':' | ' ' | '|' => 0.3,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' | 'f' | 't' | 'r' | '[' | ']' | '(' | ')' => 0.4,
        'm' | 'w' | 'M' | 'W' => 0.88,
        c if c.is_ascii() => 0.58,
        c if (c as u32) < 0x2e80 => 0.62,
        _ => 1.0,
    };
    size * text.chars().map(em).sum::<f64>()
}
