//! The shapes of a model over time, for pictures: bodies as outlines or as lines through their markers, links of trees as sticks, two-point elements as lines.

use super::channels::deforms;
use crate::model::{Marker, Model, Orientation, Place, Site};
use crate::picture::stick;
use crate::report::stroboscope::{Frame, Motion, Shape};
use crate::shapes;
use dalembert_methods::lie::Quat;
use dalembert_methods::trajectory::Trajectory;
use dalembert_methods::vector::{Mat3, Vec3};

/// At most this many instants are taken of models with many shapes, and so many shapes of all others: ways between instants are straight, so that many turns need many of them.
const FRAMES: usize = 200;
const SHAPES: usize = 20_000;

/// The motion recorded in a trajectory; none if positions were not recorded.
pub fn motion(model: &Model, trajectory: &Trajectory) -> Option<Motion> {
    let poses = Poses::new(model, trajectory)?;
    let (outlines, sticks) = (outlines(model), sticks(model));
    let frame = |row: usize| {
        let place = poses.between(row, 0.0);
        let point = |marker: &Marker| place(marker).r.0;
        let mut shapes = shapes(model, &poses, &outlines, row, &point);
        shapes.extend(sticks.iter().map(|stick| Shape { name: stick.name.clone(), points: stick.placed(&point) }));
        Frame { time: trajectory.time()[row], shapes }
    };
    let most = FRAMES.max(SHAPES / frame(0).shapes.len().max(1));
    let stride = trajectory.len().div_ceil(most);
    Some(Motion { frames: (0..trajectory.len()).step_by(stride).map(frame).collect() })
}

/// The outline of each body in its own frame, in m; empty for bodies without a reference shape. Rigid bodies have the shape that a contact
/// field gives them.
pub(super) fn outlines(model: &Model) -> Vec<Vec<Vec<[f64; 3]>>> {
    let read = |parameters: &serde_json::Map<String, serde_json::Value>| {
        let shape = serde_json::from_value::<shapes::Shape>(parameters.get("shape")?.clone()).ok()?;
        Some(shape.outline())
    };
    let mut outlines: Vec<_> =
        model.bodies().iter().map(|body| read(&body.item.parameters()).unwrap_or_default()).collect();
    for field in model.forces().iter().filter(|f| f.item.kind() == "contact_field") {
        let body = model.markers()[field.markers[1]].body;
        let alone = field.markers[1..].iter().all(|&marker| model.markers()[marker].body == body);
        if alone && outlines[body].is_empty() {
            outlines[body] = read(&field.item.parameters()).unwrap_or_default();
        }
    }
    outlines
}

/// A link of a tree as a line.
pub(super) struct Stick {
    /// The body.
    pub body: usize,
    /// The name of the link.
    pub name: String,
    /// Points of the line, fixed to the link; the first is a joint if there is one.
    points: Vec<Marker>,
}

impl Stick {
    /// The line where the link is.
    pub fn placed(&self, place: &dyn Fn(&Marker) -> [f64; 3]) -> Vec<[f64; 3]> {
        self.points.iter().map(place).collect()
    }
}

/// The links of all trees as lines. Links without length are left out of trees that have some.
pub(super) fn sticks(model: &Model) -> Vec<Stick> {
    let mut sticks = Vec::new();
    for (body, entry) in model.bodies().iter().enumerate() {
        let parts = (0..entry.item.parts()).filter(|&part| entry.item.part_name(part).is_some());
        let mut own: Vec<Stick> = Vec::new();
        for part in parts {
            let on = |at: [f64; 3]| Marker {
                name: String::new(),
                body,
                site: Site { part, ..Site::point(at) },
                orientation: Orientation::default(),
            };
            let points = stick(model, (body, part)).into_iter().map(on).collect();
            own.push(Stick { body, name: model.part_path(body, part), points });
        }
        let long = |stick: &Stick| stick.points.len() > 1;
        if own.iter().any(long) {
            own.retain(long);
        }
        sticks.extend(own);
    }
    sticks
}

fn shapes(
    model: &Model,
    poses: &Poses<'_>,
    outlines: &[Vec<Vec<[f64; 3]>>],
    row: usize,
    place: &dyn Fn(&Marker) -> [f64; 3],
) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (i, body) in model.bodies().iter().enumerate() {
        // Links of trees are drawn as sticks.
        let [columns] = poses.bodies[i].as_slice() else { continue };
        if body.item.part_name(0).is_some() {
            continue;
        }
        if !outlines[i].is_empty() {
            let (origin, gradient) = columns.pose(row, 0.0);
            let moved = |line: &Vec<[f64; 3]>| line.iter().map(|&at| (origin + gradient * Vec3(at)).0).collect();
            let name = format!("body.{}", body.name);
            shapes.extend(outlines[i].iter().map(|line| Shape { name: name.clone(), points: moved(line) }));
            continue;
        }
        let mut own: Vec<[f64; 3]> = Vec::new();
        for marker in model.markers().iter().filter(|m| m.body == i) {
            let at = place(marker);
            if !own.contains(&at) {
                own.push(at);
            }
        }
        let origin = columns.pose(row, 0.0).0.0;
        let points = match own.len() {
            0 => vec![origin],
            1 if own[0] != origin => vec![origin, own[0]],
            _ => own,
        };
        shapes.push(Shape { name: format!("body.{}", body.name), points });
    }
    let lines = model
        .constraints()
        .iter()
        .filter(|c| c.item.kind() == "distance")
        .map(|c| (c.section, &c.name, &c.markers))
        .chain(model.forces().iter().filter(|f| f.markers.len() == 2).map(|f| (f.section, &f.name, &f.markers)));
    for (section, name, markers) in lines {
        let points = markers.iter().map(|&m| place(&model.markers()[m])).collect();
        shapes.push(Shape { name: format!("{section}.{name}"), points });
    }
    shapes
}

/// Where all bodies are over time.
pub(super) struct Poses<'a> {
    /// The columns of each part of each body; none for bodies that cannot move.
    bodies: Vec<Vec<Columns<'a>>>,
    time: &'a [f64],
}

impl<'a> Poses<'a> {
    /// The poses recorded in a trajectory; none if some were not recorded, or nothing moves.
    pub fn new(model: &Model, trajectory: &'a Trajectory) -> Option<Self> {
        let parts = |i: usize| 0..model.bodies()[i].item.parts();
        let columns = |i: usize| parts(i).map(|part| Columns::of(model, (i, part), trajectory)).collect::<Option<_>>();
        let bodies: Vec<Vec<Columns<'_>>> = (0..model.bodies().len()).map(|i| columns(i).unwrap_or_default()).collect();
        let moving = (0..bodies.len()).filter(|&i| !model.layout.v[i].is_empty());
        if trajectory.is_empty() || moving.clone().any(|i| bodies[i].is_empty()) || moving.count() == 0 {
            return None;
        }
        Some(Self { bodies, time: trajectory.time() })
    }

    /// The first channel of a pose that is not recorded.
    pub fn missing(model: &Model, recorded: impl Fn(&str) -> bool) -> Option<String> {
        let moving = (0..model.bodies().len()).filter(|&i| !model.layout.v[i].is_empty());
        let parts = moving.flat_map(|i| (0..model.bodies()[i].item.parts()).map(move |part| (i, part)));
        parts.flat_map(|part| names(model, part)).find(|name| !recorded(name))
    }

    /// The places of markers at a time, straight between rows; none outside of what was recorded.
    pub fn at(&self, time: f64) -> Option<impl Fn(&Marker) -> Place<f64> + '_> {
        let (first, last) = (*self.time.first()?, *self.time.last()?);
        let slack = 1e-9 * (last - first);
        if !(time >= first - slack && time <= last + slack) {
            return None;
        }
        let after = self.time.partition_point(|t| *t <= time).clamp(1, self.time.len().max(2) - 1);
        let row = after - 1;
        let step = self.time.get(after).map_or(0.0, |t| t - self.time[row]);
        let share = if step > 0.0 { ((time - self.time[row]) / step).clamp(0.0, 1.0) } else { 0.0 };
        Some(self.between(row, share))
    }

    fn between(&self, row: usize, share: f64) -> impl Fn(&Marker) -> Place<f64> + '_ {
        move |marker: &Marker| {
            let (origin, rotation) = match self.bodies[marker.body].get(marker.site.part) {
                Some(columns) => columns.pose(row, share),
                None => (Vec3([0.0; 3]), Mat3::identity()),
            };
            let r = origin + rotation * Vec3(marker.site.at);
            Place { r, v: Vec3([0.0; 3]), rotation: rotation * marker.site.rotation, omega: Vec3([0.0; 3]) }
        }
    }
}

/// The channels of the pose of a part of a body.
fn names(model: &Model, (body, part): (usize, usize)) -> Vec<String> {
    let path = model.part_path(body, part);
    let mut names: Vec<String> = ["x", "y", "z"].map(|axis| format!("{path}.position.{axis}")).into();
    if model.bodies()[body].item.oriented() {
        names.extend(["w", "x", "y", "z"].map(|part| format!("{path}.orientation.{part}")));
    } else if deforms(model, body) {
        let axes = ["x", "y", "z"];
        names.extend((0..9).map(|k| format!("{path}.gradient.{}{}", axes[k / 3], axes[k % 3])));
    }
    names
}

/// Position and orientation of a part of a body over time.
struct Columns<'a> {
    position: [&'a [f64]; 3],
    turn: Turn<'a>,
}

/// How a body is turned and stretched over time.
enum Turn<'a> {
    /// Not at all.
    None,
    /// By a quaternion.
    Rotation([&'a [f64]; 4]),
    /// By a deformation gradient, by rows.
    Gradient([&'a [f64]; 9]),
}

impl<'a> Columns<'a> {
    fn of(model: &Model, part: (usize, usize), trajectory: &'a Trajectory) -> Option<Self> {
        let columns: Option<Vec<&[f64]>> = names(model, part).iter().map(|name| trajectory.column(name)).collect();
        match columns?.as_slice() {
            [x, y, z] => Some(Self { position: [x, y, z], turn: Turn::None }),
            [x, y, z, a, b, c, d] => Some(Self { position: [x, y, z], turn: Turn::Rotation([a, b, c, d]) }),
            [x, y, z, rest @ ..] => Some(Self { position: [x, y, z], turn: Turn::Gradient(rest.try_into().ok()?) }),
            _ => None,
        }
    }

    /// Position and rotation (or deformation gradient) at this share of the way from a row to the next.
    fn pose(&self, row: usize, share: f64) -> (Vec3<f64>, Mat3<f64>) {
        let mix = |column: &[f64], sign: f64| match column.get(row + 1) {
            Some(next) if share > 0.0 => column[row] + share * (sign * next - column[row]),
            _ => column[row],
        };
        let origin = Vec3(self.position.map(|column| mix(column, 1.0)));
        let columns = match self.turn {
            Turn::None => return (origin, Mat3::identity()),
            Turn::Rotation(columns) => columns,
            Turn::Gradient(rows) => {
                let entry = |i: usize, j: usize| mix(rows[3 * i + j], 1.0);
                return (origin, Mat3([0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))));
            }
        };
        // Both signs of a quaternion are the same rotation; mix the nearer ones.
        let next = |column: &[f64]| column.get(row + 1).copied().unwrap_or(column[row]);
        let sign = if columns.iter().map(|column| column[row] * next(column)).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
        let mixed = columns.map(|column| mix(column, sign));
        let length = mixed.iter().map(|c| c * c).sum::<f64>().sqrt();
        (origin, Quat(mixed.map(|c| c / length)).matrix())
    }
}
