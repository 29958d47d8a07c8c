//! Shapes of bodies at chosen instants, on top of each other: each instant in a colour of its own, with equal axes and a bar for
//! scale. Surfaces that bodies touch are hatched on the side where bodies cannot be.

use super::decimate::simplify;
use super::format::number;
use super::plot::key_rows;
use super::scale::nice_step;
use super::svg::{Anchor, Form, Svg, polyline};
use super::theme::CURVES;
use dalembert_methods::vector::Vec3;

const WIDTH: f64 = 560.0;
const MARGIN: f64 = 16.0;
const HEIGHTS: (f64, f64) = (110.0, 400.0);
const ROW: f64 = 16.0;
/// Part of the extent of the shapes that is left free around them.
const RIM: f64 = 0.05;
/// Distance between hatches, and their length, px.
const HATCH: (f64, f64) = (8.0, 9.0);

/// How the world is laid on paper: parallel projection.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// What to call it.
    pub name: String,
    /// The direction to the right on paper, a unit vector in the world frame.
    pub right: [f64; 3],
    /// The direction up on paper, a unit vector in the world frame.
    pub up: [f64; 3],
    /// The direction to the eye, a unit vector in the world frame.
    pub eye: [f64; 3],
    /// Whether the eye looks along an axis of the world.
    pub flat: bool,
}

impl View {
    /// A coordinate plane: one axis to the right, another up.
    pub fn plane(name: &str, right: usize, up: usize) -> Self {
        let unit = |axis: usize| std::array::from_fn(|k| if k == axis { 1.0 } else { 0.0 });
        let (right, up): ([f64; 3], [f64; 3]) = (unit(right), unit(up));
        Self { name: format!("{name} plane"), right, up, eye: Vec3(right).cross(Vec3(up)).0, flat: true }
    }

    /// From above, a little from the right, z up.
    pub fn oblique() -> Self {
        let mut view = Self::from([0.4, -1.0, 0.45]).expect("the direction has a length");
        "oblique view".clone_into(&mut view.name);
        view
    }

    /// From a direction, with z up (y if one looks along z); none without a direction.
    pub fn from(direction: [f64; 3]) -> Option<Self> {
        let length = Vec3(direction).norm();
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        let eye = Vec3(direction) * (1.0 / length);
        let level = Vec3([0.0, 0.0, 1.0]).cross(eye);
        let right = if level.norm() > 1e-6 { level.normalized() } else { Vec3([1.0, 0.0, 0.0]) };
        let name = format!("seen from ({})", direction.map(|c| number(c, 3)).join(", "));
        Some(Self { name, right: right.0, up: eye.cross(right).0, eye: eye.0, flat: false })
    }

    /// The place on paper, in m.
    pub fn project(&self, point: [f64; 3]) -> [f64; 2] {
        [Vec3(self.right).dot(Vec3(point)), Vec3(self.up).dot(Vec3(point))]
    }

    /// The point of the world at a place on paper, at this height towards the eye.
    pub fn lift(&self, [x, y]: [f64; 2], height: f64) -> [f64; 3] {
        (Vec3(self.right) * x + Vec3(self.up) * y + Vec3(self.eye) * height).0
    }
}

/// What is seen at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// When, s.
    pub time: f64,
    /// What happens then; empty if nothing special.
    pub label: String,
    /// Lines through points of the world frame, m.
    pub lines: Vec<Vec<[f64; 3]>>,
    /// Balls: centre and radius, m; radius 0 for a point.
    pub balls: Vec<([f64; 3], f64)>,
    /// Surfaces as lines on paper, m; bodies stay to the left of them.
    pub surfaces: Vec<Vec<[f64; 2]>>,
}

/// A picture of several instants.
#[derive(Clone, Debug, PartialEq)]
pub struct Shapes {
    /// Name of the picture, for its file.
    pub name: String,
    /// Title.
    pub title: String,
    /// From where it is seen.
    pub view: View,
    /// The instants in the order they were asked for.
    pub snapshots: Vec<Snapshot>,
    /// Ways of points through the world frame, m.
    pub traces: Vec<Vec<[f64; 3]>>,
    /// Remarks under the picture, such as instants that did not occur.
    pub remarks: Vec<String>,
}

/// From m on paper to px.
pub(super) struct Paper {
    /// The lower left corner on paper, m.
    pub origin: [f64; 2],
    /// px for each m.
    pub scale: f64,
    /// Where the corner is, px.
    pub left: f64,
    /// Where the corner is, px, counted downwards.
    pub bottom: f64,
}

impl Paper {
    fn place(&self, point: [f64; 2]) -> [f64; 2] {
        [self.left + (point[0] - self.origin[0]) * self.scale, self.bottom - (point[1] - self.origin[1]) * self.scale]
    }
}

/// The rectangle on paper that holds all that is seen, and ways of points, with a rim around them, in m; none if there is nothing to see.
pub(super) fn frame<'a>(
    view: &View,
    snapshots: impl Iterator<Item = &'a Snapshot> + Clone,
    traces: &[Vec<[f64; 3]>],
) -> Option<[[f64; 2]; 2]> {
    let lines = snapshots.clone().flat_map(|s| s.lines.iter().flatten()).chain(traces.iter().flatten());
    let lines = lines.map(|p| (view.project(*p), 0.0));
    let balls = snapshots.flat_map(|s| &s.balls).map(|(p, radius)| (view.project(*p), *radius));
    let mut low = [f64::INFINITY; 2];
    let mut high = [f64::NEG_INFINITY; 2];
    for (p, radius) in lines.chain(balls).filter(|(p, r)| p.iter().all(|c| c.is_finite()) && r.is_finite()) {
        for axis in 0..2 {
            low[axis] = low[axis].min(p[axis] - radius);
            high[axis] = high[axis].max(p[axis] + radius);
        }
    }
    let extent = (high[0] - low[0]).max(high[1] - low[1]);
    let rim = if extent > 0.0 { RIM * extent } else { 0.5 };
    extent.is_finite().then(|| [low.map(|c| c - rim), high.map(|c| c + rim)])
}

/// Draws what is seen at an instant, in one colour.
pub(super) fn draw_snapshot(svg: &mut Svg, paper: &Paper, view: &View, snapshot: &Snapshot, colour: usize) {
    let mut path = String::new();
    for line in &snapshot.lines {
        let places: Vec<[f64; 2]> = line.iter().map(|p| paper.place(view.project(*p))).collect();
        if places.len() > 1 && places.iter().flatten().all(|c| c.is_finite()) {
            path += &polyline(&places);
        }
    }
    if !path.is_empty() {
        svg.path(&format!("wire c{colour}"), &path);
    }
    for (centre, radius) in &snapshot.balls {
        let [x, y] = paper.place(view.project(*centre));
        if !(x.is_finite() && y.is_finite()) {
            continue;
        }
        let (class, radius) = match radius * paper.scale {
            r if r > 1.5 => (format!("wire c{colour}"), r),
            _ => (format!("f{colour}"), 2.5),
        };
        let place = [("cx", x.into()), ("cy", y.into()), ("r", radius.into())];
        svg.leaf("circle", &[&[("class", (&class).into())], &place[..]].concat());
    }
}

/// A bar for scale at the lower left corner of a picture of a width.
pub(super) fn draw_bar(svg: &mut Svg, paper: &Paper, width: f64, y: f64) {
    let length = nice_step(0.1 * (width - 2.0 * MARGIN) / paper.scale);
    let bar = length * paper.scale;
    let tick = |x: f64| polyline(&[[x, y - 4.0], [x, y + 4.0]]);
    let path = polyline(&[[MARGIN, y], [MARGIN + bar, y]]) + &tick(MARGIN) + &tick(MARGIN + bar);
    svg.path("bar", &path);
    svg.text("key", [MARGIN + bar + 8.0, y + 4.0], Anchor::Start, &format!("{} m", number(length, 3)));
}

impl Shapes {
    /// The rectangle on paper that holds all shapes with a rim around them, in m; none if there is nothing to see.
    pub fn frame(&self) -> Option<[[f64; 2]; 2]> {
        frame(&self.view, self.snapshots.iter(), &self.traces)
    }

    /// Draws the picture; none if there is nothing to see.
    pub fn draw(&self, form: Form) -> Option<String> {
        let [low, high] = self.frame()?;
        let size = [high[0] - low[0], high[1] - low[1]];
        let field = WIDTH - 2.0 * MARGIN;
        let scale = (field / size[0]).min(HEIGHTS.1 / size[1]);
        let height = (size[1] * scale).max(HEIGHTS.0);
        let names: Vec<String> = self.snapshots.iter().map(name).collect();
        let key = key_rows(&names, MARGIN, WIDTH - MARGIN);
        let top = 30.0 + ROW * key.len() as f64;
        let left = 0.5 * (WIDTH - size[0] * scale);
        let paper = Paper { origin: low, scale, left, bottom: top + 0.5 * (height + size[1] * scale) };
        let foot = top + height + 18.0;
        let total = foot + 14.0 + ROW * self.remarks.len() as f64;

        let mut svg = Svg::new(form, WIDTH, total, &format!("{}: shapes at {}", self.title, names.join(", ")));
        svg.text("title", [MARGIN, 18.0], Anchor::Start, &self.title);
        for (row, entries) in key.iter().enumerate() {
            let y = 36.0 + ROW * row as f64;
            for (index, x) in entries {
                svg.line(&format!("wire c{}", index % CURVES), [*x, y - 3.5], [*x + 24.0, y - 3.5]);
                svg.text("key", [*x + 29.0, y], Anchor::Start, &names[*index]);
            }
        }
        self.draw_surfaces(&mut svg, &paper);
        for trace in &self.traces {
            let places: Vec<[f64; 2]> = trace.iter().map(|p| paper.place(self.view.project(*p))).collect();
            if places.iter().flatten().all(|c| c.is_finite()) {
                svg.path("trail c5", &polyline(&simplify(&places, 0.1)));
            }
        }
        for (index, snapshot) in self.snapshots.iter().enumerate() {
            draw_snapshot(&mut svg, &paper, &self.view, snapshot, index % CURVES);
        }
        draw_bar(&mut svg, &paper, WIDTH, foot);
        svg.text("label", [WIDTH - MARGIN, foot + 4.0], Anchor::End, &self.view.name);
        for (row, remark) in self.remarks.iter().enumerate() {
            svg.text("label", [MARGIN, foot + 4.0 + ROW * (row + 1) as f64], Anchor::Start, remark);
        }
        Some(svg.finish())
    }

    /// Surfaces with hatches on the side that bodies cannot enter. One that does not move is drawn once.
    fn draw_surfaces(&self, svg: &mut Svg, paper: &Paper) {
        let mut drawn: Vec<String> = Vec::new();
        for line in self.snapshots.iter().flat_map(|snapshot| &snapshot.surfaces) {
            let places: Vec<[f64; 2]> = line.iter().map(|p| paper.place(*p)).collect();
            let path = polyline(&simplify(&places, 0.2));
            if drawn.contains(&path) {
                continue;
            }
            svg.path("bar", &path);
            svg.path("hatch", &hatches(&places));
            drawn.push(path);
        }
    }
}

/// What the key calls an instant.
fn name(snapshot: &Snapshot) -> String {
    let time = format!("{} s", number(snapshot.time, 4));
    if snapshot.label.is_empty() { time } else { format!("{time}, {}", snapshot.label) }
}

/// Short strokes to the right of a line of the world (on paper, where y points down, too), evenly spaced.
fn hatches(line: &[[f64; 2]]) -> String {
    let mut path = String::new();
    let mut ahead = 0.5 * HATCH.0;
    for ends in line.windows(2) {
        let step = [ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]];
        let length = step[0].hypot(step[1]);
        if !(length > 0.0 && length.is_finite()) {
            continue;
        }
        let along = step.map(|c| c / length);
        // Turned clockwise as seen on paper; slanted backwards.
        let right = [-along[1], along[0]];
        while ahead < length {
            let from = [ends[0][0] + ahead * along[0], ends[0][1] + ahead * along[1]];
            let to = std::array::from_fn(|k| from[k] + HATCH.1 * 0.7 * (right[k] - along[k]));
            path += &polyline(&[from, to]);
            ahead += HATCH.0;
        }
        ahead -= length;
    }
    path
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn picture(view: View, snapshots: Vec<Snapshot>) -> Shapes {
        let (name, title, remarks) = ("a".into(), "b < c".into(), vec!["d & e".into()]);
        Shapes { name, title, view, snapshots, traces: Vec::new(), remarks }
    }

    #[test]
    fn views_are_right_handed_and_orthonormal() {
        let views = [View::plane("xy", 0, 1), View::plane("xz", 0, 2), View::plane("yz", 1, 2), View::oblique()];
        for view in views.into_iter().chain([View::from([0.0, 0.0, -2.0]).unwrap()]) {
            let [right, up, eye] = [view.right, view.up, view.eye].map(Vec3);
            assert!((right.cross(up) - eye).norm() < 1e-15, "{view:?}");
            assert!((right.norm() - 1.0).abs() < 1e-15 && right.dot(up).abs() < 1e-15, "{view:?}");
            let point = [0.3, -2.0, 5.0];
            let back = view.lift(view.project(point), eye.dot(Vec3(point)));
            assert!((Vec3(back) - Vec3(point)).norm() < 1e-14, "{view:?}");
        }
        // From the front: x to the right, z up.
        let front = View::from([0.0, -3.0, 0.0]).unwrap();
        assert_eq!((front.right, front.up), ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]));
        assert_eq!(View::from([0.0; 3]), None);
    }

    #[test]
    fn shapes_lie_where_they_are() {
        // A line from 0 to 10 m with a rim of 0.5 m at both ends fills 528 px.
        let lines = vec![vec![[0.0, 0.0, 0.0], [10.0, 0.0, 0.0]]];
        let surfaces = vec![vec![[0.0, -0.4], [0.0, 0.4]]];
        let balls = vec![([5.0, 0.0, 0.0], 0.25)];
        let shot = Snapshot { time: 0.24, label: "impact".into(), lines, balls, surfaces };
        let svg = picture(View::plane("xz", 0, 2), vec![shot.clone(), shot]).draw(Form::File).unwrap();
        assert!(svg.contains("class=\"wire c0\" d=\"M40 ") && svg.contains(" 520 "), "{svg}");
        assert!(svg.contains("0.24 s, impact") && svg.contains("b &lt; c") && svg.contains("d &amp; e"), "{svg}");
        assert!(svg.contains("r=\"12\"") && svg.contains("xz plane"), "{svg}");
        // The same surface at two instants is one line; the line goes up, so hatches lie to the right of it.
        assert_eq!(svg.matches("class=\"bar\" d=\"M40 ").count(), 1, "{svg}");
        let hatch = svg.split("class=\"hatch\" d=\"M40 ").nth(1).unwrap().split(['M', '"']).next().unwrap();
        let end: f64 = hatch.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(end > 40.0, "{hatch}");
    }

    #[test]
    fn odd_input_is_harmless() {
        assert_eq!(picture(View::oblique(), Vec::new()).draw(Form::Inline), None);
        let nan = Snapshot { lines: vec![vec![[f64::NAN; 3]; 2]], ..Snapshot::default() };
        assert_eq!(picture(View::oblique(), vec![nan.clone()]).draw(Form::Inline), None);
        let dot = Snapshot { balls: vec![([1.0; 3], 0.0)], ..nan };
        let svg = picture(View::oblique(), vec![dot]).draw(Form::Inline).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
