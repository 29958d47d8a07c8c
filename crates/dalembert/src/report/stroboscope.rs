//! A still picture of a motion: the shapes at several instants on top of each other, as a stroboscope shows them.
//!
//! Shapes are drawn in the coordinate plane in which the motion extends most, with equal axes and a bar for scale.
//! Early shapes are pale, the last one is strong, and a thin line follows the end of each shape. If there are more shapes than colours,
//! those whose names differ only by numbers at the end share one.

use super::decimate::simplify;
use super::format::number;
use super::plot::text_width;
use super::scale::nice_step;
use super::svg::{Anchor, Form, Svg, polyline};
use super::theme::CURVES;

/// One body's outline at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// Name of the body.
    pub name: String,
    /// The corners in the world frame, m.
    pub points: Vec<[f64; 3]>,
}

/// All shapes at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// When, s.
    pub time: f64,
    /// The shapes, in the same order in each frame.
    pub shapes: Vec<Shape>,
}

/// Shapes over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// Many instants in rising order: a few are drawn as shapes, all shape the trails.
    pub frames: Vec<Frame>,
}

/// Number of instants whose shapes are drawn.
const FLASHES: usize = 24;
const WIDTH: f64 = 760.0;
const MARGIN: f64 = 28.0;
const HEIGHTS: (f64, f64) = (200.0, 460.0);
const AXES: [&str; 3] = ["x", "y", "z"];

/// The plane drawn and how it lies on the paper.
struct View {
    across: usize,
    up: usize,
    origin: [f64; 2],
    scale: f64,
    left: f64,
    bottom: f64,
}

impl View {
    fn place(&self, point: &[f64; 3]) -> [f64; 2] {
        [
            self.left + (point[self.across] - self.origin[0]) * self.scale,
            self.bottom - (point[self.up] - self.origin[1]) * self.scale,
        ]
    }
}

impl Motion {
    /// Draws the picture; none if there is no finite point.
    pub fn draw(&self, form: Form) -> Option<String> {
        let finite = |p: &&[f64; 3]| p.iter().all(|c| c.is_finite());
        let points = || self.frames.iter().flat_map(|f| &f.shapes).flat_map(|s| &s.points).filter(finite);
        points().next()?;
        let fold = |axis: usize| {
            points().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p[axis]), h.max(p[axis])))
        };
        let ranges = [fold(0), fold(1), fold(2)];
        let extent = |axis: usize| ranges[axis].1 - ranges[axis].0;
        // Leave out the axis of least extent; of equals the first, so that z stays up.
        let dropped = (1..3).fold(0, |least, axis| if extent(axis) < extent(least) { axis } else { least });
        let (across, up) = [(1, 2), (0, 2), (0, 1)][dropped];
        let size = [extent(across), extent(up)].map(|e| if e > 0.0 { e } else { 1e-300 });
        let (wide, high) = (WIDTH - 2.0 * MARGIN, HEIGHTS.1);
        let scale = (wide / size[0]).min(high / size[1]).min(1e300);
        let height = (size[1] * scale).clamp(HEIGHTS.0, HEIGHTS.1);
        let drawn = [extent(across) * scale, extent(up) * scale];
        let view = View {
            across,
            up,
            origin: [ranges[across].0, ranges[up].0],
            scale,
            left: 0.5 * (WIDTH - drawn[0]),
            bottom: MARGIN + 0.5 * (height + drawn[1]),
        };
        let mut svg = Svg::new(form, WIDTH, height + 2.0 * MARGIN + 34.0, "the motion as seen by a stroboscope");
        let (names, colours) = self.colours();
        self.draw_trails(&mut svg, &view, &colours);
        self.draw_flashes(&mut svg, &view, &colours);
        self.draw_foot(&mut svg, &view, &names, height + 2.0 * MARGIN + 16.0);
        Some(svg.finish())
    }

    /// The names in the key, and which of them each shape belongs to.
    fn colours(&self) -> (Vec<&str>, Vec<usize>) {
        let Some(frame) = self.frames.last() else { return Default::default() };
        let few = frame.shapes.len() <= CURVES;
        let stem = |c: char| c.is_ascii_digit() || c == '_' || c == '-';
        let mut names: Vec<&str> = Vec::new();
        let mut colours = Vec::with_capacity(frame.shapes.len());
        for shape in &frame.shapes {
            let name = if few { shape.name.as_str() } else { shape.name.trim_end_matches(stem) };
            let known = names.iter().position(|known| *known == name);
            colours.push(known.unwrap_or(names.len()));
            if known.is_none() {
                names.push(name);
            }
        }
        (names, colours)
    }

    /// The way of the last corner of each shape.
    fn draw_trails(&self, svg: &mut Svg, view: &View, colours: &[usize]) {
        for (index, colour) in colours.iter().enumerate() {
            let corner = |frame: &Frame| frame.shapes.get(index)?.points.last().map(|p| view.place(p));
            let ends: Vec<[f64; 2]> =
                self.frames.iter().filter_map(corner).filter(|p| p.iter().all(|c| c.is_finite())).collect();
            if ends.len() > 1 {
                svg.path(&format!("trail c{}", colour % CURVES), &polyline(&simplify(&ends, 0.1)));
            }
        }
    }

    fn draw_flashes(&self, svg: &mut Svg, view: &View, colours: &[usize]) {
        let last = self.frames.len() - 1;
        let flashes = FLASHES.min(self.frames.len());
        for flash in 0..flashes {
            // Counted back from the last frame, which is always drawn.
            let frame = &self.frames[last - (flashes - 1 - flash) * last / flashes.max(2).saturating_sub(1)];
            let age = (flash + 1) as f64 / flashes as f64;
            svg.open("g", &[("opacity", (0.10 + 0.90 * age * age * age).into())]);
            for (index, shape) in frame.shapes.iter().enumerate() {
                let places: Vec<[f64; 2]> = shape.points.iter().map(|p| view.place(p)).collect();
                if places.iter().flatten().any(|c| !c.is_finite()) {
                    continue;
                }
                let colour = colours.get(index).map_or(index, |colour| *colour) % CURVES;
                if places.len() > 1 {
                    svg.path(&format!("shape c{colour}"), &polyline(&places));
                }
                if let Some([x, y]) = places.last() {
                    let radius = match (colours.len() > CURVES, places.len()) {
                        (true, _) => 1.6,
                        (false, 1) => 4.5,
                        (false, _) => 3.2,
                    };
                    let class = format!("f{colour}");
                    svg.leaf(
                        "circle",
                        &[("class", (&class).into()), ("cx", (*x).into()), ("cy", (*y).into()), ("r", radius.into())],
                    );
                }
            }
            svg.close();
        }
    }

    /// Bar for scale, axes, time span and names along the lower edge.
    fn draw_foot(&self, svg: &mut Svg, view: &View, names: &[&str], y: f64) {
        let length = 0.4 * nice_step(0.25 * (WIDTH - 2.0 * MARGIN) / view.scale);
        let length = nice_step(length);
        let bar = length * view.scale;
        svg.path(
            "bar",
            &format!(
                "{}{}{}",
                polyline(&[[MARGIN, y], [MARGIN + bar, y]]),
                polyline(&[[MARGIN, y - 4.0], [MARGIN, y + 4.0]]),
                polyline(&[[MARGIN + bar, y - 4.0], [MARGIN + bar, y + 4.0]])
            ),
        );
        let label = format!("{} m", number(length, 3));
        svg.text("key", [MARGIN + bar + 8.0, y + 4.0], Anchor::Start, &label);
        let first = self.frames.first().map_or(0.0, |f| f.time);
        let last = self.frames.last().map_or(0.0, |f| f.time);
        let span =
            format!("{}{} plane, {} s to {} s", AXES[view.across], AXES[view.up], number(first, 4), number(last, 4));
        svg.text("label", [WIDTH - MARGIN, y + 4.0], Anchor::End, &span);
        if names.len() > CURVES {
            return;
        }
        let mut x = MARGIN + bar + 8.0 + text_width(&label, 11.0) + 28.0;
        let end = WIDTH - MARGIN - text_width(&span, 11.0) - 16.0;
        for (index, name) in names.iter().enumerate() {
            let width = 20.0 + text_width(name, 11.0) + 18.0;
            if x + width > end {
                break;
            }
            svg.line(&format!("shape c{index}"), [x, y], [x + 14.0, y]);
            svg.text("key", [x + 20.0, y + 4.0], Anchor::Start, name);
            x += width;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn arm(end: [f64; 3]) -> Motion {
        let frame = |k: i32| {
            let s = f64::from(k) / 10.0;
            let points = vec![[0.0; 3], end.map(|c| c * s)];
            Frame { time: s, shapes: vec![Shape { name: "arm <1>".into(), points }] }
        };
        Motion { frames: (0..=10).map(frame).collect() }
    }

    #[test]
    fn the_plane_of_largest_extent_is_drawn() {
        assert!(arm([1.0, 0.1, 2.0]).draw(Form::Inline).unwrap().contains("xz plane"));
        assert!(arm([0.1, 1.0, 2.0]).draw(Form::Inline).unwrap().contains("yz plane"));
        assert!(arm([2.0, 1.0, 0.0]).draw(Form::Inline).unwrap().contains("xy plane"));
    }

    #[test]
    fn names_are_escaped_and_odd_input_is_harmless() {
        assert!(arm([1.0; 3]).draw(Form::File).unwrap().contains("arm &lt;1&gt;"));
        assert_eq!(Motion::default().draw(Form::File), None);
        assert_eq!(arm([f64::NAN; 3]).draw(Form::File).map(|svg| svg.contains("NaN")), Some(false));
        let point = Shape { name: "dot".into(), points: vec![[1.0, 2.0, 3.0]] };
        let still = Motion { frames: vec![Frame { time: 0.0, shapes: vec![point] }] };
        let svg = still.draw(Form::Inline).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
