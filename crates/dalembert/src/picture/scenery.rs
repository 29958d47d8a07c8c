//! What points cannot pass: planes, spheres, cylinders and height fields of contacts, and the planes of constraints.
//!
//! Planes and height fields are read off the gap itself: with the gap γ at a point r and the normal n there, the plane through
//! r − (γ + ρ) n touches the surface, and for a height field z = h(x, y) the height is h = z − (γ + ρ)/n_z, since its gap is
//! (z − h) n_z.

use super::animation::{Anchor, Anchors};
use super::codec::{Grid, encode};
use super::solids::{number, vector};
use super::{Bounds, short, short3};
use crate::contacts::Surfaces;
use crate::model::{Instant, Model, Place};
use dalembert_methods::Scalar;
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::{Mat3, Vec3};
use serde::{Deserialize, Serialize};

/// Points along each side of a height field.
const SAMPLES: usize = 49;

/// A surface about the origin of its own frame. Lengths in m.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    /// A plane with this normal, at a height that may follow a column.
    Plane([f64; 3]),
    /// A sphere of this radius.
    Sphere(f64),
    /// An endless cylinder with this axis and radius.
    Cylinder([f64; 3], f64),
    /// Heights z over a square grid in x and y, row by row in y.
    Heights {
        /// The corner of the grid with the smallest x and y.
        low: [f64; 2],
        /// The distance between points in x and y.
        step: [f64; 2],
        /// How many points there are along x.
        columns: usize,
        /// The heights.
        z: Vec<f64>,
    },
}

/// A surface fixed to a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenery {
    /// The element, as in `contact.wall`.
    pub name: String,
    /// Its place.
    pub at: Anchor,
    /// Its rotation against the node, a quaternion with the scalar first.
    pub turn: [f64; 4],
    /// Its form.
    pub surface: Surface,
    /// Low end and step of the column of heights of a plane that moves along its normal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<[f64; 2]>,
}

/// The surfaces of a model, each once. Columns of those that move are appended to `out`.
pub(super) fn surfaces(
    model: &Model,
    anchors: &Anchors,
    bounds: &Bounds,
    times: &[f64],
    out: &mut Vec<u8>,
) -> Vec<Scenery> {
    let mut found: Vec<Scenery> = Vec::new();
    let mut moving: Vec<(Grid, Vec<f64>)> = Vec::new();
    let mut keep = |scenery: Scenery| {
        let same = |s: &Scenery| {
            (&s.at, &s.turn, &s.surface, &s.moves) == (&scenery.at, &scenery.turn, &scenery.surface, &scenery.moves)
        };
        let new = !found.iter().any(same);
        if new {
            found.push(scenery);
        }
        new
    };
    for (i, contact) in model.contacts.iter().enumerate() {
        let marker = contact.markers[0];
        let parameters = contact.item.parameters();
        let name = format!("contact.{}", contact.name);
        let fixed = anchors.node(model.markers[marker].body, 0) < 0;
        let mut at = anchors.of(model, marker);
        let mut heights = None;
        let surface = match contact.item.kind() {
            "plane" => {
                let (first, normal) = probe(model, i, times[0], [0.0; 3]);
                let values: Vec<f64> = times.iter().map(|&t| -probe(model, i, t, [0.0; 3]).0).collect();
                if values.iter().any(|&value| value != values[0]) {
                    let range = |f: fn(f64, f64) -> f64| values.iter().copied().fold(-first, f);
                    heights = Some((Grid::over(range(f64::min), range(f64::max)), values));
                } else {
                    let moved = Vec3([at.1, at.2, at.3]) + model.markers[marker].site.rotation * (normal * -first);
                    let [x, y, z] = short3(moved.0);
                    at = (at.0, x, y, z);
                }
                Surface::Plane(short3(normal.0))
            }
            // A ball that moves is a solid already.
            "sphere" if fixed => Surface::Sphere(short(number(&parameters, "size"))),
            "cylinder" => Surface::Cylinder(
                short3(vector(&parameters, "axis").normalized().0),
                short(number(&parameters, "size")),
            ),
            "height_field" => height_field(model, i, bounds, times[0]),
            _ => continue,
        };
        let turn = Quat::from_matrix(model.markers[marker].site.rotation).0.map(short);
        let moves = heights.as_ref().map(|(grid, _)| [grid.low, grid.step]);
        if keep(Scenery { name, at, turn, surface, moves }) {
            moving.extend(heights);
        }
    }
    const PLANES: [&str; 5] = ["disc_on_plane", "rolling_disc", "sphere_on_plane", "rolling_sphere", "point_on_plane"];
    for constraint in model.constraints.iter().filter(|c| PLANES.contains(&c.item.kind())) {
        let marker = constraint.markers[0];
        keep(Scenery {
            name: format!("{}.{}", constraint.section, constraint.name),
            at: anchors.of(model, marker),
            turn: Quat::from_matrix(model.markers[marker].site.rotation).0.map(short),
            surface: Surface::Plane(short3(vector(&constraint.item.parameters(), "normal").normalized().0)),
            moves: None,
        });
    }
    // Supports of soft bodies are planes at a distance from a marker.
    for field in model.forces.iter().filter(|f| f.item.kind() == "contact_field") {
        let parameters = field.item.parameters();
        let (marker, normal) = (field.markers[0], vector(&parameters, "normal").normalized());
        let site = &model.markers[marker].site;
        let [x, y, z] = short3((Vec3(site.at) + site.rotation * (normal * number(&parameters, "offset"))).0);
        keep(Scenery {
            name: format!("{}.{}", field.section, field.name),
            at: (anchors.node(model.markers[marker].body, site.part), x, y, z),
            turn: Quat::from_matrix(site.rotation).0.map(short),
            surface: Surface::Plane(short3(normal.0)),
            moves: None,
        });
    }
    for (grid, values) in moving {
        encode(values.iter().map(|&value| grid.round(value)), out);
    }
    found
}

/// The distance of a point in the frame of a contact's surface from it, and the normal there.
fn probe(model: &Model, contact: usize, t: f64, at: [f64; 3]) -> (f64, Vec3<f64>) {
    let item = &model.contacts[contact].item;
    let still = |r: [f64; 3]| Place { r: Vec3(r), rotation: Mat3::identity(), ..Place::default() };
    let places = [still([0.0; 3]), still(at)];
    let now = Instant { t, x: &[], p: &[], signals: &[] };
    let view = f64::view::<Surfaces, _>(&**item);
    (view.gap(&now, &places) + item.touch().radius, view.directions(&now, &places)[0])
}

/// Heights over the box that holds the motion, as seen from the surface's marker.
fn height_field(model: &Model, contact: usize, bounds: &Bounds, t: f64) -> Surface {
    let site = &model.markers[model.contacts[contact].markers[0]].site;
    let mut local = Bounds::empty();
    for corner in 0..8 {
        let point = Vec3(std::array::from_fn(|k| if corner >> k & 1 == 0 { bounds.low[k] } else { bounds.high[k] }));
        local.add(site.rotation.transpose_mul(point - Vec3(site.at)));
    }
    let margin = 0.15 * bounds.diagonal();
    let low = [local.low[0] - margin, local.low[1] - margin];
    let step: [f64; 2] = std::array::from_fn(|k| (local.high[k] - local.low[k] + 2.0 * margin) / (SAMPLES - 1) as f64);
    let height = |index: usize| {
        let [x, y] = [low[0] + (index % SAMPLES) as f64 * step[0], low[1] + (index / SAMPLES) as f64 * step[1]];
        let (distance, normal) = probe(model, contact, t, [x, y, 0.0]);
        short(-distance / normal[2])
    };
    let z = (0..SAMPLES * SAMPLES).map(height).collect();
    Surface::Heights { low: low.map(short), step: step.map(short), columns: SAMPLES, z }
}
