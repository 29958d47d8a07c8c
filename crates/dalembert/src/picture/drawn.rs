//! What scenes draw of bodies: the shapes under their key `shape` as solids, and meshes as part of the animation.

use super::codec::{Grid, base64, unbase64};
use super::look::Look;
use super::solids::{Form, Solid};
use super::triangles::Triangles;
use super::{Bounds, short, short3};
use crate::model::Model;
use crate::run::matches;
use dalembert_methods::vector::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Triangles that solids of the form `mesh` show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeshData {
    /// Low end and step of the places x, y, z, m.
    pub grids: [[f64; 2]; 3],
    /// For each point three numbers of 16 bits, little-endian, as base64.
    pub points: String,
    /// For each triangle the numbers of its points, counterclockwise from outside: three of 32 bits, little-endian, as base64.
    pub triangles: String,
}

impl MeshData {
    /// Rounds the places of points to 1/65535 of their range.
    fn new(mesh: &Triangles, scale: [f64; 3]) -> Self {
        let scaled = |point: &[f64; 3]| Vec3(std::array::from_fn(|k| point[k] * scale[k]));
        let mut bounds = Bounds::empty();
        mesh.points.iter().for_each(|point| bounds.add(scaled(point)));
        let grids: [Grid; 3] = std::array::from_fn(|k| {
            let grid = Grid::over(bounds.low[k], bounds.high[k]);
            Grid { low: short(grid.low), step: short(grid.step) }
        });
        let mut points = Vec::with_capacity(6 * mesh.points.len());
        for point in &mesh.points {
            for (k, grid) in grids.iter().enumerate() {
                points.extend((grid.round(scaled(point)[k]) as u16).to_le_bytes());
            }
        }
        // A mirror turns the faces inside out.
        let mirrored = scale.iter().product::<f64>() < 0.0;
        let order = |&[a, b, c]: &[u32; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
        let triangles: Vec<u8> = mesh.triangles.iter().flat_map(order).flat_map(u32::to_le_bytes).collect();
        Self { grids: grids.map(|grid| [grid.low, grid.step]), points: base64(&points), triangles: base64(&triangles) }
    }

    /// The points and triangles; none if they do not fit each other.
    pub fn decode(&self) -> Option<Triangles> {
        let bytes = unbase64(&self.points)?;
        let value = |k: usize, pair: &[u8]| {
            let [low, step] = self.grids[k];
            Grid { low, step }.value(i64::from(u16::from_le_bytes([pair[0], pair[1]])))
        };
        let point = |six: &[u8]| std::array::from_fn(|k| value(k, &six[2 * k..2 * k + 2]));
        let points: Vec<[f64; 3]> = bytes.chunks_exact(6).map(point).collect();
        let number = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        let corners: Vec<u32> = unbase64(&self.triangles)?.chunks_exact(4).map(number).collect();
        let fits = corners.iter().all(|&corner| (corner as usize) < points.len());
        fits.then(|| Triangles { points, triangles: corners.as_chunks::<3>().0.to_vec() })
    }
}

/// The solids of the shapes that a scene gives a part of a body; meshes are added to the list, each once.
pub(super) fn looks(model: &Model, (body, part): (usize, usize), node: i64, meshes: &mut Meshes) -> Vec<Solid> {
    let item = &model.bodies[body].item;
    let here = |look: &&Look| match (&look.link, item.part_name(part)) {
        (Some(pattern), Some(name)) => matches(pattern, name),
        _ => part == 0,
    };
    let own = model.looks.iter().filter(|(owner, _)| *owner == body).map(|(_, look)| look).filter(here);
    own.flat_map(|look| solids(look, node, meshes)).collect()
}

/// Meshes of an animation, with what they were made from.
#[derive(Default)]
pub(super) struct Meshes {
    /// What an animation holds.
    pub data: Vec<MeshData>,
    keys: Vec<(Arc<Triangles>, [f64; 3])>,
}

impl Meshes {
    fn number(&mut self, mesh: &Arc<Triangles>, scale: [f64; 3]) -> usize {
        let known = self.keys.iter().position(|key| Arc::ptr_eq(&key.0, mesh) && key.1 == scale);
        known.unwrap_or_else(|| {
            self.keys.push((Arc::clone(mesh), scale));
            self.data.push(MeshData::new(mesh, scale));
            self.data.len() - 1
        })
    }
}

/// The solids of one shape; none for a mesh that was not read.
fn solids(look: &Look, node: i64, meshes: &mut Meshes) -> Vec<Solid> {
    let turn = look.orientation.quaternion();
    let solid = |form: Form, at: Vec3<f64>| Solid {
        node,
        form,
        at: short3((Vec3(look.at) + turn.rotate(at)).0),
        turn: turn.0.map(short),
        colour: look.colour.clone(),
    };
    let centred = |form: Form| vec![solid(form, Vec3::zero())];
    if let Some(shape) = &look.r#box {
        return centred(Form::Block(short3(shape.size)));
    }
    if let Some(shape) = &look.sphere {
        return centred(Form::Ball(short(shape.radius)));
    }
    if let Some(shape) = &look.cylinder {
        return centred(Form::Cylinder(short(shape.radius), short(shape.length)));
    }
    if let Some(shape) = &look.capsule {
        let end = |side: f64| solid(Form::Ball(short(shape.radius)), Vec3([0.0, 0.0, 0.5 * side * shape.length]));
        let barrel = solid(Form::Cylinder(short(shape.radius), short(shape.length)), Vec3::zero());
        return vec![barrel, end(-1.0), end(1.0)];
    }
    if let Some(shape) = &look.ellipsoid {
        return centred(Form::Ellipsoid(short3(shape.radii)));
    }
    let mesh = look.mesh.as_ref().and_then(|mesh| Some((mesh, mesh.triangles.as_ref()?)));
    mesh.map_or(Vec::new(), |(mesh, triangles)| centred(Form::Mesh(meshes.number(triangles, mesh.scale))))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn meshes_come_back_rounded_and_mirrors_keep_the_inside_inside() {
        let obj = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
        let mesh = Triangles::parse("a.obj", obj.as_bytes()).unwrap();
        for (scale, size) in [([1.0; 3], 1.0), ([-1.0, 1.0, 1.0], 1.0), ([0.1, 10.0, -2.0], 2.0)] {
            let back = MeshData::new(&mesh, scale).decode().unwrap();
            let at = |i: u32| Vec3(back.points[i as usize]);
            let volume: f64 = back.triangles.iter().map(|&[a, b, c]| at(a).dot(at(b).cross(at(c))) / 6.0).sum();
            // Each edge errs by a step of 1/65535 of itself and by seven digits.
            assert!((volume - size).abs() < size * 3.0 * (1.0 / 65535.0 + 1e-6), "{volume}");
        }
        let wrong = MeshData { triangles: base64(&[9; 12]), ..MeshData::new(&mesh, [1.0; 3]) };
        assert_eq!(wrong.decode(), None);
    }
}
