//! Solids as triangles, for programs that know no balls and cylinders.

use super::animation::{Animation, AnimationError};
use super::solids::Form;
use dalembert_methods::vector::Vec3;
use std::f64::consts::PI;

/// Corners around a cylinder or a ball.
const AROUND: usize = 20;
/// Rows of corners from pole to pole of a ball, poles not counted.
const ROWS: usize = 9;

/// Points with outward unit normals, and triangles that are counterclockwise from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Mesh {
    pub points: Vec<[f64; 3]>,
    pub normals: Vec<[f64; 3]>,
    pub triangles: Vec<[usize; 3]>,
}

/// The three unit forms: a ball of radius 1, a cube of edge 1, a cylinder of radius 1 and length 1 along z.
pub(super) const FORMS: usize = 3;

/// Which unit form a solid has, and its scale along x, y, z.
pub(super) fn unit_of(form: Form) -> (usize, [f64; 3]) {
    match form {
        Form::Ball(r) => (0, [r; 3]),
        Form::Ellipsoid(radii) => (0, radii),
        Form::Block(edges) => (1, edges),
        Form::Cylinder(r, h) => (2, [r, r, h]),
        Form::Mesh(number) => (FORMS + number, [1.0; 3]),
    }
}

/// The unit forms, and after them the meshes of an animation with a normal for each face.
pub(super) fn forms(animation: &Animation) -> Result<Vec<Mesh>, AnimationError> {
    let mut forms: Vec<Mesh> = (0..FORMS).map(unit).collect();
    for data in &animation.meshes {
        let bad = || AnimationError { reason: "a mesh is damaged".to_owned() };
        let found = data.decode().ok_or_else(bad)?;
        let mut mesh = Mesh::default();
        for triangle in found.triangles {
            let corners = triangle.map(|i| Vec3(found.points[i as usize]));
            let across = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            // A triangle without area has no direction; any will do.
            let normal = if across.norm() > 0.0 { across.normalized().0 } else { [0.0, 0.0, 1.0] };
            let own = corners.map(|corner| mesh.corner(corner.0, normal));
            mesh.triangles.push(own);
        }
        forms.push(mesh);
    }
    let known = |solid: &super::solids::Solid| unit_of(solid.form).0 < forms.len();
    if !animation.solids.iter().all(known) {
        return Err(AnimationError { reason: "a solid shows a mesh that is not there".to_owned() });
    }
    Ok(forms)
}

/// The triangles of a unit form.
fn unit(form: usize) -> Mesh {
    match form {
        0 => ball(),
        1 => cube(),
        _ => cylinder(),
    }
}

impl Mesh {
    fn corner(&mut self, point: [f64; 3], normal: [f64; 3]) -> usize {
        self.points.push(point);
        self.normals.push(normal);
        self.points.len() - 1
    }

    fn quad(&mut self, [a, b, c, d]: [usize; 4]) {
        self.triangles.extend([[a, b, c], [a, c, d]]);
    }
}

fn around(k: usize) -> [f64; 2] {
    let (sin, cos) = (2.0 * PI * k as f64 / AROUND as f64).sin_cos();
    [cos, sin]
}

fn ball() -> Mesh {
    let mut mesh = Mesh::default();
    for row in 0..=ROWS + 1 {
        let (ring, z) = (PI * row as f64 / (ROWS + 1) as f64).sin_cos();
        for k in 0..=AROUND {
            let [x, y] = around(k);
            let point = [ring * x, ring * y, z];
            mesh.corner(point, point);
        }
    }
    let at = |row: usize, k: usize| row * (AROUND + 1) + k;
    for row in 0..=ROWS {
        for k in 0..AROUND {
            let [a, b, c, d] = [at(row, k), at(row + 1, k), at(row + 1, k + 1), at(row, k + 1)];
            // At a pole one of the two triangles has no area.
            if row < ROWS {
                mesh.triangles.push([a, b, c]);
            }
            if row > 0 {
                mesh.triangles.push([a, c, d]);
            }
        }
    }
    mesh
}

fn cube() -> Mesh {
    let mut mesh = Mesh::default();
    for axis in 0..3 {
        for side in [-0.5, 0.5] {
            let mut normal = [0.0; 3];
            normal[axis] = 2.0 * side;
            let corner = |u: f64, v: f64| {
                let mut point = [0.0; 3];
                point[axis] = side;
                // The other two axes in their cyclic order are counterclockwise seen from the positive side.
                point[(axis + 1) % 3] = if side > 0.0 { u } else { v };
                point[(axis + 2) % 3] = if side > 0.0 { v } else { u };
                point
            };
            let corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];
            let quad = corners.map(|(u, v)| mesh.corner(corner(u, v), normal));
            mesh.quad(quad);
        }
    }
    mesh
}

fn cylinder() -> Mesh {
    let mut mesh = Mesh::default();
    for k in 0..AROUND {
        let ([a, b], [c, d]) = (around(k), around(k + 1));
        let quad = [
            ([a, b, -0.5], [a, b, 0.0]),
            ([c, d, -0.5], [c, d, 0.0]),
            ([c, d, 0.5], [c, d, 0.0]),
            ([a, b, 0.5], [a, b, 0.0]),
        ]
        .map(|(point, normal)| mesh.corner(point, normal));
        mesh.quad(quad);
        for side in [-0.5, 0.5] {
            let normal = [0.0, 0.0, 2.0 * side];
            let middle = mesh.corner([0.0, 0.0, side], normal);
            let (from, to) = (mesh.corner([a, b, side], normal), mesh.corner([c, d, side], normal));
            mesh.triangles.push(if side > 0.0 { [middle, from, to] } else { [middle, to, from] });
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The volume inside, by the theorem of Gauss: ⅙ Σ a·(b × c).
    fn volume(mesh: &Mesh) -> f64 {
        let p = |i: usize| Vec3(mesh.points[i]);
        mesh.triangles.iter().map(|&[a, b, c]| p(a).dot(p(b).cross(p(c))) / 6.0).sum()
    }

    #[test]
    fn the_insides_are_inside() {
        assert!((volume(&cube()) - 1.0).abs() < 1e-14);
        // A prism over a regular polygon of n corners has the base ½ n sin(2π/n).
        let n = AROUND as f64;
        let base = 0.5 * n * (2.0 * PI / n).sin();
        assert!((volume(&cylinder()) - base).abs() < 1e-13);
        // A polyhedron with corners on the sphere is smaller than the ball, by second order in the angles between them.
        let ball = volume(&ball());
        let angle: f64 = 2.0 * PI / n;
        assert!(ball < 4.0 / 3.0 * PI && ball > 4.0 / 3.0 * PI * (1.0 - angle * angle), "{ball}");
    }

    #[test]
    fn normals_point_outwards() {
        for form in 0..FORMS {
            let mesh = unit(form);
            for triangle in &mesh.triangles {
                let [a, b, c] = triangle.map(|i| Vec3(mesh.points[i]));
                let outwards = (b - a).cross(c - a);
                assert!(outwards.norm() > 0.0);
                for &corner in triangle {
                    assert!(outwards.dot(Vec3(mesh.normals[corner])) > 0.0);
                }
            }
        }
    }
}
