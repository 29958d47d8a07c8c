//! Closed surfaces of triangles: are they closed, turned outwards, convex, and what do they enclose?
//!
//! Volume and moments are sums over the tetrahedra that the triangles (a, b, c) make with a point of reference:
//!
//! ```text
//! V = Σ D/6,   ∫ X dV = Σ D (a+b+c)/24,   ∫ X⊗X dV = Σ D (s⊗s + a⊗a + b⊗b + c⊗c)/120,   D = a·(b×c),  s = a+b+c
//! ```

use super::Solid;
use super::piece::Piece;
use dalembert_methods::vector::{Mat3, Vec3};
use std::collections::HashMap;

/// The rounding of geometry, relative to the size of a shape.
const ROUNDING: f64 = 1e-12;

/// What a closed surface encloses, and its triangles as pieces.
pub(super) fn enclose(vertices: &[[f64; 3]], triangles: &[[usize; 3]]) -> Result<(Solid, Vec<Piece>), String> {
    check_indices(vertices, triangles.iter().flatten())?;
    check_closed(triangles)?;
    let count = vertices.len() as f64;
    let origin = vertices.iter().fold(Vec3::zero(), |sum, &v| sum + Vec3(v)) * count.recip();
    let size = vertices.iter().fold(0.0, |size: f64, &v| size.max((Vec3(v) - origin).norm()));
    let (mut volume, mut first, mut second) = (0.0, Vec3::zero(), Mat3::zero());
    let mut pieces = Vec::with_capacity(triangles.len());
    for (number, triangle) in triangles.iter().enumerate() {
        let corners = triangle.map(|i| vertices[i]);
        let [a, b, c] = corners.map(|x| Vec3(x) - origin);
        let area = 0.5 * (b - a).cross(c - a).norm();
        if area <= ROUNDING * size * size {
            return Err(format!("triangle {number} has no area"));
        }
        let (six, s) = (a.dot(b.cross(c)), a + b + c);
        volume += six / 6.0;
        first += s * (six / 24.0);
        for x in [s, a, b, c] {
            second = second + outer(x, x) * (six / 120.0);
        }
        pieces.push(Piece::Triangle { corners, area });
    }
    if volume <= ROUNDING * size.powi(3) {
        return Err(format!(
            "the surface encloses a volume of {volume:.3e} m³: it is turned inside out or flat; its triangles must be \
             counterclockwise seen from outside"
        ));
    }
    let centre = first * volume.recip();
    let second = second + outer(centre, centre) * -volume;
    Ok((Solid { volume, centre: centre + origin, second }, pieces))
}

/// x ⊗ y.
pub(super) fn outer(x: Vec3<f64>, y: Vec3<f64>) -> Mat3<f64> {
    Mat3(x.0.map(|a| y.0.map(|b| a * b)))
}

/// Faces as triangles that share their first corner.
pub(super) fn fan(vertices: &[[f64; 3]], faces: &[Vec<usize>]) -> Result<Vec<[usize; 3]>, String> {
    check_indices(vertices, faces.iter().flatten())?;
    let mut triangles = Vec::new();
    for (number, face) in faces.iter().enumerate() {
        if face.len() < 3 {
            return Err(format!("face {number} has {} corners, but needs three or more", face.len()));
        }
        triangles.extend((1..face.len() - 1).map(|i| [face[0], face[i], face[i + 1]]));
    }
    Ok(triangles)
}

/// Whether no vertex is outside of the plane of any triangle.
pub(super) fn check_convex(vertices: &[[f64; 3]], triangles: &[[usize; 3]]) -> Result<(), String> {
    let size = vertices.iter().fold(0.0, |size: f64, &v| size.max((Vec3(v) - Vec3(vertices[0])).norm()));
    for triangle in triangles {
        let [a, b, c] = triangle.map(|i| Vec3(vertices[i]));
        let normal = (b - a).cross(c - a).normalized();
        for (i, &v) in vertices.iter().enumerate() {
            let height = normal.dot(Vec3(v) - a);
            if height > 1e-9 * size {
                return Err(format!(
                    "it is not convex: vertex {i} is {height:.3e} m outside of the face of the vertices {triangle:?}; a `surface` need \
                     not be convex"
                ));
            }
        }
    }
    Ok(())
}

fn check_indices<'a>(vertices: &[[f64; 3]], indices: impl Iterator<Item = &'a usize>) -> Result<(), String> {
    if let Some(i) = vertices.iter().position(|v| v.iter().any(|x| !x.is_finite())) {
        return Err(format!("vertex {i} is not finite"));
    }
    let last = vertices.len();
    match indices.into_iter().find(|&&i| i >= last) {
        Some(i) => Err(format!("there is no vertex {i}; they are numbered from 0 to {}", last.saturating_sub(1))),
        None => Ok(()),
    }
}

/// Whether every edge belongs to two triangles that run along it in opposite directions.
fn check_closed(triangles: &[[usize; 3]]) -> Result<(), String> {
    let mut edges: HashMap<[usize; 2], i32> = HashMap::new();
    for &[a, b, c] in triangles {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            *edges.entry([from, to]).or_default() += 1;
        }
    }
    let mut faults: Vec<String> = Vec::new();
    for (&[from, to], &count) in &edges {
        if count > 1 {
            faults.push(format!(
                "the edge from vertex {from} to vertex {to} is run along twice in this direction: neighbours must be turned alike"
            ));
        } else if !edges.contains_key(&[to, from]) {
            faults.push(format!(
                "it is open: the edge between vertices {} and {} has one face only",
                from.min(to),
                from.max(to)
            ));
        }
    }
    faults.sort();
    faults.into_iter().next().map_or(Ok(()), Err)
}
