//! The shapes of a model over time, for pictures: bodies as lines through their markers, two-point elements as lines.

use crate::model::{Marker, Model, Place};
use crate::report::stroboscope::{Frame, Motion, Shape};
use dalembert_methods::lie::Quat;
use dalembert_methods::trajectory::Trajectory;
use dalembert_methods::vector::{Mat3, Vec3};

/// At most this many instants are drawn.
const FRAMES: usize = 200;

/// The motion recorded in a trajectory; none if positions were not recorded.
pub fn motion(model: &Model, trajectory: &Trajectory) -> Option<Motion> {
    let poses = Poses::new(model, trajectory)?;
    let stride = trajectory.len().div_ceil(FRAMES);
    let frames = (0..trajectory.len()).step_by(stride).map(|row| {
        let place = poses.between(row, 0.0);
        let point = |marker: &Marker| place(marker).r.0;
        Frame { time: trajectory.time()[row], shapes: shapes(model, &poses, row, &point) }
    });
    Some(Motion { frames: frames.collect() })
}

fn shapes(model: &Model, poses: &Poses<'_>, row: usize, place: &dyn Fn(&Marker) -> [f64; 3]) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (i, body) in model.bodies().iter().enumerate() {
        let Some(columns) = &poses.bodies[i] else { continue };
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
    /// The columns of each body that can move.
    bodies: Vec<Option<Columns<'a>>>,
    time: &'a [f64],
}

impl<'a> Poses<'a> {
    /// The poses recorded in a trajectory; none if some were not recorded, or nothing moves.
    pub fn new(model: &Model, trajectory: &'a Trajectory) -> Option<Self> {
        let bodies: Vec<Option<Columns<'_>>> =
            (0..model.bodies().len()).map(|i| Columns::of(model, i, trajectory)).collect();
        let moving = (0..bodies.len()).filter(|&i| !model.layout.v[i].is_empty());
        if trajectory.is_empty() || moving.clone().any(|i| bodies[i].is_none()) || moving.count() == 0 {
            return None;
        }
        Some(Self { bodies, time: trajectory.time() })
    }

    /// The first channel of a pose that is not recorded.
    pub fn missing(model: &Model, recorded: impl Fn(&str) -> bool) -> Option<String> {
        let moving = (0..model.bodies().len()).filter(|&i| !model.layout.v[i].is_empty());
        moving.flat_map(|i| names(model, i)).find(|name| !recorded(name))
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
            let (origin, rotation) = match &self.bodies[marker.body] {
                Some(columns) => columns.pose(row, share),
                None => (Vec3([0.0; 3]), Mat3::identity()),
            };
            let r = origin + rotation * Vec3(marker.site.at);
            Place { r, v: Vec3([0.0; 3]), rotation: rotation * marker.site.rotation, omega: Vec3([0.0; 3]) }
        }
    }
}

/// The channels of a body's pose.
fn names(model: &Model, body: usize) -> Vec<String> {
    let path = format!("body.{}", model.bodies()[body].name);
    let mut names: Vec<String> = ["x", "y", "z"].map(|axis| format!("{path}.position.{axis}")).into();
    if model.bodies()[body].item.oriented() {
        names.extend(["w", "x", "y", "z"].map(|part| format!("{path}.orientation.{part}")));
    }
    names
}

/// Position and orientation of a body over time.
struct Columns<'a> {
    position: [&'a [f64]; 3],
    orientation: Option<[&'a [f64]; 4]>,
}

impl<'a> Columns<'a> {
    fn of(model: &Model, body: usize, trajectory: &'a Trajectory) -> Option<Self> {
        let columns: Option<Vec<&[f64]>> = names(model, body).iter().map(|name| trajectory.column(name)).collect();
        match columns?.as_slice() {
            [x, y, z] => Some(Self { position: [x, y, z], orientation: None }),
            [x, y, z, a, b, c, d] => Some(Self { position: [x, y, z], orientation: Some([a, b, c, d]) }),
            _ => None,
        }
    }

    /// Position and rotation at this share of the way from a row to the next.
    fn pose(&self, row: usize, share: f64) -> (Vec3<f64>, Mat3<f64>) {
        let mix = |column: &[f64], sign: f64| match column.get(row + 1) {
            Some(next) if share > 0.0 => column[row] + share * (sign * next - column[row]),
            _ => column[row],
        };
        let origin = Vec3(self.position.map(|column| mix(column, 1.0)));
        let Some(columns) = self.orientation else { return (origin, Mat3::identity()) };
        // Both signs of a quaternion are the same rotation; mix the nearer ones.
        let next = |column: &[f64]| column.get(row + 1).copied().unwrap_or(column[row]);
        let sign = if columns.iter().map(|column| column[row] * next(column)).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
        let mixed = columns.map(|column| mix(column, sign));
        let length = mixed.iter().map(|c| c * c).sum::<f64>().sqrt();
        (origin, Quat(mixed.map(|c| c / length)).matrix())
    }
}
