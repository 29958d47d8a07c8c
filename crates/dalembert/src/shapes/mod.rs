//! Reference shapes: what a body fills before it is deformed, with volume, centre, Euler tensor and boundary.
//!
//! Volume V, centre and second moments ∫ X⊗X dV are exact. The boundary is a list of pieces over which moments of inverse powers of
//! the distance from a plane are integrated: in closed form for edges, triangles, circles, discs and spheres under any affine map, by
//! adaptive quadrature for ellipses, ellipsoids and tubes.
//!
//! Plane shapes lie in the x–z plane of the body's frame and are drawn out along y over a depth; only their sides, not their two ends, are
//! part of the boundary, so that plane motions stay plane.

mod circle;
mod edge;
mod form;
mod moments;
mod outline;
mod piece;
mod quadrature;
mod surface;
mod triangle;

pub use edge::MOST_POWER;
pub use form::{
    Ball, Brick, Cylinder, Disc, Ellipse, Ellipsoid, Form, Polygon, Polyhedron, Rectangle, TriangulatedSurface,
};
pub use moments::Moments;

use dalembert_methods::Real;
use dalembert_methods::vector::{Mat3, Vec3};
use piece::Piece;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// A reference shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub struct Shape {
    form: Form,
    solid: Solid,
    boundary: Vec<Piece>,
}

/// The content of a shape.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Solid {
    /// Volume, in m³.
    pub volume: f64,
    /// Centre of volume in the frame of the body, in m.
    pub centre: Vec3<f64>,
    /// Second moments ∫ (X − centre)⊗(X − centre) dV, in m⁵.
    pub second: Mat3<f64>,
}

impl TryFrom<Form> for Shape {
    type Error = String;
    fn try_from(form: Form) -> Result<Self, String> {
        let (solid, boundary) = form.build()?;
        Ok(Self { form, solid, boundary })
    }
}

impl From<Shape> for Form {
    fn from(shape: Shape) -> Self {
        shape.form
    }
}

impl JsonSchema for Shape {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Shape".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Form::json_schema(generator)
    }
}

impl Shape {
    /// The shape as it was written.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Volume, centre and second moments.
    pub fn solid(&self) -> &Solid {
        &self.solid
    }

    /// Whether it lies in the x–z plane and is drawn out along y.
    pub fn is_plane(&self) -> bool {
        matches!(self.form, Form::Rectangle(_) | Form::Disc(_) | Form::Ellipse(_) | Form::Polygon(_))
    }

    /// The moments of d^−ν over the boundary, with d = h + a·X: from power 2 to [`MOST_POWER`]. Not numbers unless all of
    /// the boundary is on the outer side, d > 0.
    pub fn moments<R: Real>(&self, power: usize, h: R, a: Vec3<R>) -> Moments<R> {
        let mut sum = Moments::zero();
        for piece in &self.boundary {
            sum.add(&piece.moments(power, h, a));
        }
        sum
    }

    /// The same by adaptive quadrature, whatever the shape: slow, an independent route.
    pub fn moments_by_quadrature<R: Real>(&self, power: usize, h: R, a: Vec3<R>) -> Moments<R> {
        let mut sum = Moments::zero();
        for piece in &self.boundary {
            let mut part = piece.by_quadrature(power, h, a);
            if let Piece::Edge { depth, .. } | Piece::Ring { depth, .. } | Piece::Oval { depth, .. } = piece {
                part.second[1] = part.zeroth * (depth * depth / 12.0);
            }
            sum.add(&part);
        }
        sum
    }

    /// ∫ d^−ν dA over the boundary, from power 1.
    pub fn integral<R: Real>(&self, power: usize, h: R, a: Vec3<R>) -> R {
        self.boundary.iter().fold(R::zero(), |sum, piece| sum + piece.integral(power, h, a))
    }

    /// ∫ f(X, d) dA over the boundary by adaptive quadrature; no component of f may be larger than about the first one.
    pub fn integrate<R: Real, const N: usize>(&self, h: R, a: Vec3<R>, f: &dyn Fn(Vec3<R>, R) -> [R; N]) -> [R; N] {
        let mut sum = [R::zero(); N];
        for piece in &self.boundary {
            for (sum, value) in sum.iter_mut().zip(piece.integrate(h, a, f)) {
                *sum += value;
            }
        }
        sum
    }

    /// The smallest distance h + a·X on the boundary.
    pub fn nearest<R: Real>(&self, h: R, a: Vec3<R>) -> R {
        let lowest = self.boundary.iter().map(|piece| piece.lowest(a)).reduce(R::min);
        h + lowest.unwrap_or(R::zero())
    }

    /// A length that no point of the boundary is farther from the origin of the frame than, in m.
    pub fn size(&self) -> f64 {
        self.boundary.iter().map(Piece::size).fold(0.0, f64::max)
    }
}
