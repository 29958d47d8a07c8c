//! Shapes as scenes write them.

use super::Solid;
use super::piece::Piece;
use super::surface::{check_convex, enclose, fan};
use dalembert_methods::vector::{Mat3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A shape as a scene writes it, for instance `{ disc = { radius = 0.5 } }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A box with its centre at the origin.
    Box(Brick),
    /// A circular cylinder about the z axis, with its centre at the origin.
    Cylinder(Cylinder),
    /// A sphere about the origin.
    Sphere(Ball),
    /// An ellipsoid about the origin.
    Ellipsoid(Ellipsoid),
    /// A convex polyhedron.
    Polyhedron(Polyhedron),
    /// Any closed surface of triangles.
    Surface(TriangulatedSurface),
    /// A rectangle in the x–z plane, drawn out along y.
    Rectangle(Rectangle),
    /// A disc in the x–z plane, drawn out along y.
    Disc(Disc),
    /// An ellipse in the x–z plane, drawn out along y.
    Ellipse(Ellipse),
    /// A polygon in the x–z plane, drawn out along y.
    Polygon(Polygon),
}

/// A box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Brick {
    /// Edge lengths along x, y and z.
    #[schemars(extend("unit" = "m"))]
    pub size: [f64; 3],
}

/// A circular cylinder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Radius.
    #[schemars(extend("unit" = "m"))]
    pub radius: f64,
    /// Length along z.
    #[schemars(extend("unit" = "m"))]
    pub length: f64,
    /// Whether the flat ends take part in contacts.
    #[serde(default = "yes")]
    pub ends: bool,
}

fn yes() -> bool {
    true
}

/// A sphere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Radius.
    #[schemars(extend("unit" = "m"))]
    pub radius: f64,
}

/// An ellipsoid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ellipsoid {
    /// Half axes along x, y and z.
    #[schemars(extend("unit" = "m"))]
    pub radii: [f64; 3],
}

/// A convex polyhedron.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Polyhedron {
    /// The vertices.
    #[schemars(extend("unit" = "m"))]
    pub vertices: Vec<[f64; 3]>,
    /// The faces: numbers of their vertices from 0, counterclockwise seen from outside.
    pub faces: Vec<Vec<usize>>,
}

/// A closed surface of triangles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TriangulatedSurface {
    /// The vertices.
    #[schemars(extend("unit" = "m"))]
    pub vertices: Vec<[f64; 3]>,
    /// The triangles: numbers of their vertices from 0, counterclockwise seen from outside.
    pub triangles: Vec<[usize; 3]>,
}

/// A rectangle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    /// Edge lengths along x and z.
    #[schemars(extend("unit" = "m"))]
    pub size: [f64; 2],
    /// Length along y.
    #[schemars(extend("unit" = "m"))]
    #[serde(default = "unit")]
    pub depth: f64,
}

fn unit() -> f64 {
    1.0
}

/// A disc.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disc {
    /// Radius.
    #[schemars(extend("unit" = "m"))]
    pub radius: f64,
    /// Length along y.
    #[schemars(extend("unit" = "m"))]
    #[serde(default = "unit")]
    pub depth: f64,
}

/// An ellipse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ellipse {
    /// Half axes along x and z.
    #[schemars(extend("unit" = "m"))]
    pub radii: [f64; 2],
    /// Length along y.
    #[schemars(extend("unit" = "m"))]
    #[serde(default = "unit")]
    pub depth: f64,
}

/// A polygon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Polygon {
    /// The vertices as pairs of x and z, counterclockwise with x to the right and z up.
    #[schemars(extend("unit" = "m"))]
    pub vertices: Vec<[f64; 2]>,
    /// Length along y.
    #[schemars(extend("unit" = "m"))]
    #[serde(default = "unit")]
    pub depth: f64,
}

/// Corners of a box, as signs.
const CORNERS: [[f64; 3]; 8] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [-1.0, 1.0, 1.0],
    [1.0, 1.0, 1.0],
];
/// Faces of a box, counterclockwise from outside.
const FACES: [[usize; 4]; 6] = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];

impl Form {
    /// Content and boundary, or what is wrong with the shape.
    pub(super) fn build(&self) -> Result<(Solid, Vec<Piece>), String> {
        match self {
            Self::Box(Brick { size }) => {
                positive("size", size)?;
                let vertices = CORNERS.map(|corner| std::array::from_fn(|i| 0.5 * corner[i] * size[i]));
                let triangles: Vec<_> = FACES.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
                let (_, pieces) = enclose(&vertices, &triangles)?;
                let volume = size.iter().product();
                Ok((centred(volume, size.map(|l| volume * l * l / 12.0)), pieces))
            }
            Self::Cylinder(Cylinder { radius, length, ends }) => {
                positive("radius", &[*radius])?;
                positive("length", &[*length])?;
                let (volume, half) = (PI * radius * radius * length, 0.5 * length);
                let across = volume * radius * radius / 4.0;
                let mut pieces = vec![Piece::Tube { radius: *radius, half }];
                if *ends {
                    pieces.extend([-half, half].map(|height| Piece::Disc { radius: *radius, height }));
                }
                Ok((centred(volume, [across, across, volume * length * length / 12.0]), pieces))
            }
            Self::Sphere(Ball { radius }) => {
                positive("radius", &[*radius])?;
                let volume = 4.0 / 3.0 * PI * radius.powi(3);
                Ok((centred(volume, [volume * radius * radius / 5.0; 3]), vec![Piece::Sphere { radius: *radius }]))
            }
            Self::Ellipsoid(Ellipsoid { radii }) => {
                positive("radii", radii)?;
                let volume = 4.0 / 3.0 * PI * radii.iter().product::<f64>();
                let piece = match radii {
                    [a, b, c] if a == b && b == c => Piece::Sphere { radius: *a },
                    _ => Piece::Ellipsoid { radii: *radii },
                };
                Ok((centred(volume, radii.map(|r| volume * r * r / 5.0)), vec![piece]))
            }
            Self::Polyhedron(Polyhedron { vertices, faces }) => {
                let triangles = fan(vertices, faces)?;
                let built = enclose(vertices, &triangles)?;
                check_convex(vertices, &triangles)?;
                Ok(built)
            }
            Self::Surface(TriangulatedSurface { vertices, triangles }) => enclose(vertices, triangles),
            Self::Rectangle(Rectangle { size: [x, z], depth }) => {
                positive("size", &[*x, *z])?;
                let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(|[i, k]| [i * x, k * z]);
                let (_, pieces) = polygon(&corners, *depth)?;
                let volume = x * z * depth;
                Ok((centred(volume, [x, depth, z].map(|l| volume * l * l / 12.0)), pieces))
            }
            Self::Disc(Disc { radius, depth }) => {
                positive("radius", &[*radius])?;
                positive("depth", &[*depth])?;
                let volume = PI * radius * radius * depth;
                let within = volume * radius * radius / 4.0;
                let solid = centred(volume, [within, volume * depth * depth / 12.0, within]);
                Ok((solid, vec![Piece::Ring { radius: *radius, depth: *depth }]))
            }
            Self::Ellipse(Ellipse { radii, depth }) => {
                positive("radii", radii)?;
                positive("depth", &[*depth])?;
                let volume = PI * radii[0] * radii[1] * depth;
                let [x, z] = radii.map(|r| volume * r * r / 4.0);
                let piece = match radii {
                    [a, b] if a == b => Piece::Ring { radius: *a, depth: *depth },
                    _ => Piece::Oval { radii: *radii, depth: *depth },
                };
                Ok((centred(volume, [x, volume * depth * depth / 12.0, z]), vec![piece]))
            }
            Self::Polygon(Polygon { vertices, depth }) => polygon(vertices, *depth),
        }
    }
}

fn positive(key: &str, values: &[f64]) -> Result<(), String> {
    match values.iter().find(|value| !(**value > 0.0 && value.is_finite())) {
        Some(value) => Err(format!("`{key}` must be positive and finite, found {value}")),
        None => Ok(()),
    }
}

fn centred(volume: f64, second: [f64; 3]) -> Solid {
    Solid { volume, centre: Vec3::zero(), second: Mat3::diagonal(second) }
}

/// Area and moments of a polygon are sums over the triangles that its edges make with its first vertex.
fn polygon(vertices: &[[f64; 2]], depth: f64) -> Result<(Solid, Vec<Piece>), String> {
    positive("depth", &[depth])?;
    let n = vertices.len();
    if n < 3 {
        return Err(format!("a polygon has three or more vertices, found {n}"));
    }
    if let Some(i) = vertices.iter().position(|v| v.iter().any(|x| !x.is_finite())) {
        return Err(format!("vertex {i} is not finite"));
    }
    let space = |v: [f64; 2]| Vec3([v[0], 0.0, v[1]]);
    let origin = space(vertices[0]);
    let (mut area, mut first, mut second) = (0.0, Vec3::zero(), Mat3::zero());
    let mut pieces = Vec::with_capacity(n);
    for i in 0..n {
        let (from, to) = (vertices[i], vertices[(i + 1) % n]);
        if from == to {
            return Err(format!("vertices {i} and {} coincide", (i + 1) % n));
        }
        let (a, b) = (space(from) - origin, space(to) - origin);
        let twice = a[0] * b[2] - a[2] * b[0];
        area += 0.5 * twice;
        first += (a + b) * (twice / 6.0);
        for x in [a + b, a, b] {
            second = second + super::surface::outer(x, x) * (twice / 24.0);
        }
        pieces.push(Piece::Edge { ends: [space(from).0, space(to).0], depth });
    }
    if area <= 0.0 {
        return Err(format!(
            "the area is {area:.3e} m²: the polygon is turned inside out or flat; its vertices must be counterclockwise with x to the \
             right and z up"
        ));
    }
    check_simple(vertices)?;
    let centre = first * area.recip();
    let mut second = (second + super::surface::outer(centre, centre) * -area) * depth;
    second.0[1][1] = area * depth.powi(3) / 12.0;
    Ok((Solid { volume: area * depth, centre: centre + origin, second }, pieces))
}

/// Whether no two edges cross.
fn check_simple(vertices: &[[f64; 2]]) -> Result<(), String> {
    let n = vertices.len();
    let side = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    for i in 0..n {
        for j in i + 2..n {
            if i == 0 && j == n - 1 {
                continue;
            }
            let (a, b) = (vertices[i], vertices[(i + 1) % n]);
            let (c, d) = (vertices[j], vertices[(j + 1) % n]);
            if side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0 {
                return Err(format!("the edges from vertices {i} and {j} cross"));
            }
        }
    }
    Ok(())
}
