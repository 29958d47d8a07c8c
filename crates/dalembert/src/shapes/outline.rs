//! Outlines of reference shapes, for pictures: lines along edges and around curved parts, in the frame of the body.

use super::Shape;
use super::form::{Brick, Cylinder, Form, Polygon, Polyhedron, Rectangle, TriangulatedSurface};
use std::collections::BTreeSet;
use std::f64::consts::TAU;

/// Straight parts of a whole turn.
const PARTS: usize = 72;

/// A line through points, in m.
type Line = Vec<[f64; 3]>;

impl Shape {
    /// Lines that show the shape, in the frame of the body, in m. Those of discs and ellipses begin with a radius, which shows how the
    /// body has turned.
    pub fn outline(&self) -> Vec<Vec<[f64; 3]>> {
        match self.form() {
            Form::Box(Brick { size: [x, y, z] }) => {
                let corner = |i: f64, j: f64, k: f64| [0.5 * i * x, 0.5 * j * y, 0.5 * k * z];
                let ring = |k: f64| [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[i, j]| corner(i, j, k));
                prism(&ring(-1.0), &ring(1.0))
            }
            Form::Cylinder(Cylinder { radius, length, .. }) => {
                let ring = |z: f64| around(PARTS, |c, s| [radius * c, radius * s, z]);
                let (low, high) = (ring(-0.5 * length), ring(0.5 * length));
                let rods = (0..4).map(|i| i * PARTS / 4).map(|i| vec![low[i], high[i]]);
                [closed(&low), closed(&high)].into_iter().chain(rods).collect()
            }
            Form::Sphere(ball) => great_circles([ball.radius; 3]),
            Form::Ellipsoid(body) => great_circles(body.radii),
            Form::Polyhedron(Polyhedron { vertices, faces }) => edges(vertices, faces.iter().map(Vec::as_slice)),
            Form::Surface(TriangulatedSurface { vertices, triangles }) => {
                edges(vertices, triangles.iter().map(<[usize; 3]>::as_slice))
            }
            Form::Rectangle(Rectangle { size: [x, z], .. }) => {
                let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]];
                vec![closed(&corners.map(|[i, k]| [i * x, 0.0, k * z]))]
            }
            Form::Disc(disc) => vec![wheel([disc.radius; 2])],
            Form::Ellipse(ellipse) => vec![wheel(ellipse.radii)],
            Form::Polygon(Polygon { vertices, .. }) => {
                let corners: Line = vertices.iter().map(|&[x, z]| [x, 0.0, z]).collect();
                vec![closed(&corners)]
            }
        }
    }
}

/// A line that returns to its first point.
fn closed(points: &[[f64; 3]]) -> Line {
    points.iter().chain(points.first()).copied().collect()
}

/// Points around, from their cosine and sine.
fn around(count: usize, point: impl Fn(f64, f64) -> [f64; 3]) -> Line {
    let turn = |i: usize| (TAU * i as f64 / count as f64).sin_cos();
    (0..count).map(turn).map(|(s, c)| point(c, s)).collect()
}

/// An ellipse in the x–z plane with the radius to its lowest point.
fn wheel([x, z]: [f64; 2]) -> Line {
    let rim = around(PARTS, |c, s| [x * s, 0.0, -z * c]);
    std::iter::once([0.0; 3]).chain(closed(&rim)).collect()
}

/// Two polygons and the edges between them.
fn prism(low: &[[f64; 3]], high: &[[f64; 3]]) -> Vec<Line> {
    let rods = low.iter().zip(high).map(|(a, b)| vec![*a, *b]);
    [closed(low), closed(high)].into_iter().chain(rods).collect()
}

/// The curves in which the coordinate planes cut an ellipsoid.
fn great_circles(radii: [f64; 3]) -> Vec<Line> {
    let circle = |i: usize, j: usize| {
        closed(&around(PARTS, |c, s| {
            let mut point = [0.0; 3];
            (point[i], point[j]) = (radii[i] * c, radii[j] * s);
            point
        }))
    };
    vec![circle(0, 1), circle(1, 2), circle(2, 0)]
}

/// The edges of faces, each once.
fn edges<'a>(vertices: &[[f64; 3]], faces: impl Iterator<Item = &'a [usize]>) -> Vec<Line> {
    let mut ends: BTreeSet<[usize; 2]> = BTreeSet::new();
    for face in faces {
        for (i, &from) in face.iter().enumerate() {
            let to = face[(i + 1) % face.len()];
            ends.insert([from.min(to), from.max(to)]);
        }
    }
    ends.into_iter().map(|[a, b]| vec![vertices[a], vertices[b]]).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::form::{Ball, Disc};
    use super::*;

    #[test]
    fn outlines_lie_on_the_boundary() {
        let shape = |form: Form| Shape::try_from(form).unwrap();
        let brick = shape(Form::Box(Brick { size: [1.0, 2.0, 3.0] })).outline();
        assert_eq!(brick.len(), 6);
        assert!(brick.iter().flatten().all(|[x, y, z]| (x.abs(), y.abs(), z.abs()) == (0.5, 1.0, 1.5)));
        let disc = shape(Form::Disc(Disc { radius: 0.5, depth: 1.0 })).outline().remove(0);
        assert_eq!((disc[0], disc[1], disc.last().unwrap()), ([0.0; 3], [0.0, 0.0, -0.5], &[0.0, 0.0, -0.5]));
        let off = |[x, y, z]: &[f64; 3]| ((x * x + y * y + z * z).sqrt() - 0.5).abs();
        assert!(disc[1..].iter().all(|p| off(p) < 1e-15));
        let ball = shape(Form::Sphere(Ball { radius: 0.5 })).outline();
        assert!(ball.iter().flatten().all(|p| off(p) < 1e-15));
        let corner = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let surface = TriangulatedSurface { vertices: corner, triangles };
        assert_eq!(shape(Form::Surface(surface)).outline().len(), 6);
    }
}
