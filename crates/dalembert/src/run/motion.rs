//! The shapes of a model over time, for pictures: bodies as lines through their markers, two-point elements as lines.

use crate::model::{Marker, Model};
use crate::report::stroboscope::{Frame, Motion, Shape};
use dalembert_methods::lie::Quat;
use dalembert_methods::trajectory::Trajectory;
use dalembert_methods::vector::Vec3;

/// At most this many instants are drawn.
const FRAMES: usize = 200;

/// The motion recorded in a trajectory; none if positions were not recorded.
pub fn motion(model: &Model, trajectory: &Trajectory) -> Option<Motion> {
    let bodies: Vec<Option<Columns<'_>>> =
        (0..model.bodies().len()).map(|i| Columns::of(model, i, trajectory)).collect();
    let moving = (0..bodies.len()).filter(|&i| !model.layout.v[i].is_empty());
    if trajectory.is_empty() || moving.clone().any(|i| bodies[i].is_none()) || moving.count() == 0 {
        return None;
    }
    let stride = trajectory.len().div_ceil(FRAMES);
    let frames = (0..trajectory.len()).step_by(stride).map(|row| {
        let place = |marker: &Marker| match &bodies[marker.body] {
            Some(columns) => columns.place(row, marker.site.at),
            None => marker.site.at,
        };
        Frame { time: trajectory.time()[row], shapes: shapes(model, &bodies, row, &place) }
    });
    Some(Motion { frames: frames.collect() })
}

fn shapes(
    model: &Model,
    bodies: &[Option<Columns<'_>>],
    row: usize,
    place: &dyn Fn(&Marker) -> [f64; 3],
) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (i, body) in model.bodies().iter().enumerate() {
        let Some(columns) = &bodies[i] else { continue };
        let mut own: Vec<[f64; 3]> = Vec::new();
        for marker in model.markers().iter().filter(|m| m.body == i) {
            let at = place(marker);
            if !own.contains(&at) {
                own.push(at);
            }
        }
        let origin = columns.place(row, [0.0; 3]);
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

/// Position and orientation of a body over time.
struct Columns<'a> {
    position: [&'a [f64]; 3],
    orientation: Option<[&'a [f64]; 4]>,
}

impl<'a> Columns<'a> {
    fn of(model: &Model, body: usize, trajectory: &'a Trajectory) -> Option<Self> {
        let path = format!("body.{}", model.bodies()[body].name);
        let column = |suffix: &str| trajectory.column(&format!("{path}.{suffix}"));
        let position = [column("position.x")?, column("position.y")?, column("position.z")?];
        let orientation = if model.bodies()[body].item.oriented() {
            let [w, x, y, z] = ["w", "x", "y", "z"].map(|part| column(&format!("orientation.{part}")));
            Some([w?, x?, y?, z?])
        } else {
            None
        };
        Some(Self { position, orientation })
    }

    fn place(&self, row: usize, at: [f64; 3]) -> [f64; 3] {
        let origin = Vec3(self.position.map(|column| column[row]));
        let turned = match self.orientation {
            Some(columns) => Quat(columns.map(|column| column[row])).rotate(Vec3(at)),
            None => Vec3(at),
        };
        (origin + turned).0
    }
}
