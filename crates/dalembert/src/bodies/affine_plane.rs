//! A body that deforms homogeneously in a plane: p = p₀ + ∇p (X − X₀) with two and four components. The prism over a plane shape keeps its
//! depth.
//!
//! q = (p₀, ∇p by rows), v = q̇, with the constant mass of [`super::Affine`]. Motions are exactly plane.

use super::affine::{density_defect, gradient_defect};
use super::plane::{MOTION, Mat2, constant, determinant, in_plane, plus, product, quarter, rotation};
use super::{Body, Plane};
use crate::element::About;
use crate::model::{Acceleration, Place, Site, Wrench};
use crate::shapes::{Form, Rectangle, Shape};
use dalembert_methods::algebra::MassBlock;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Jet, Real};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body with homogeneous deformations in a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AffinePlane {
    /// Reference shape: a rectangle, disc, ellipse or polygon.
    pub shape: Shape,
    /// Density in the reference shape.
    #[schemars(extend("unit" = "kg/m³"))]
    pub density: f64,
    /// The plane of motion.
    #[serde(default)]
    pub plane: Plane,
    /// Initial position of the origin of the body frame, in the world frame.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub position: [f64; 3],
    /// Initial angle, from the first axis of the plane to the second, after the initial deformation.
    #[schemars(extend("unit" = "rad"))]
    #[serde(default)]
    pub angle: f64,
    /// Initial deformation gradient before it is turned, with a positive determinant.
    #[schemars(extend("unit" = "1"))]
    #[serde(default = "identity")]
    pub gradient: [[f64; 2]; 2],
    /// Initial velocity of the origin of the body frame, in the world frame.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Initial angular velocity, from the first axis of the plane to the second.
    #[schemars(extend("unit" = "rad/s"))]
    #[serde(default)]
    pub angular_velocity: f64,
    /// Initial rate of the deformation gradient before it is turned.
    #[schemars(extend("unit" = "1/s"))]
    #[serde(default)]
    pub gradient_rate: [[f64; 2]; 2],
}

pub(super) fn identity() -> [[f64; 2]; 2] {
    [[1.0, 0.0], [0.0, 1.0]]
}

impl About for AffinePlane {
    const KIND: &'static str = "affine_plane";
    const SUMMARY: &'static str = "A prism that deforms homogeneously in a plane.";
    const REFERENCES: &'static [&'static str] =
        &["Tatone, Di Egidio, Contento, Dynamics of a soft contractile body on a hard support, eq. (2)–(13)"];

    fn sample() -> Self {
        let form = Form::Rectangle(Rectangle { size: [1.2, 0.7], depth: 1.0 });
        Self {
            position: [-0.5, 0.2, 0.3],
            angle: 0.8,
            gradient: [[1.2, 0.1], [-0.2, 0.9]],
            velocity: [0.1, 0.0, -0.3],
            angular_velocity: 1.1,
            gradient_rate: [[0.2, 0.1], [0.0, -0.3]],
            ..Self::new(Shape::try_from(form).expect("a rectangle of positive size"), 2.5)
        }
    }
}

/// Initial values of the motion of an affine body in a plane.
pub(super) struct Start {
    pub position: [f64; 2],
    pub gradient: Mat2<f64>,
    pub velocity: [f64; 2],
    pub rate: Mat2<f64>,
}

impl AffinePlane {
    /// A body at rest in its reference shape.
    pub fn new(shape: Shape, density: f64) -> Self {
        Self {
            shape,
            density,
            plane: Plane::default(),
            position: [0.0; 3],
            angle: 0.0,
            gradient: identity(),
            velocity: [0.0; 3],
            angular_velocity: 0.0,
            gradient_rate: [[0.0; 2]; 2],
        }
    }

    pub(super) fn euler(&self) -> Mat2<f64> {
        in_plane(&self.shape.solid().second).map(|row| row.map(|x| x * self.density))
    }

    pub(super) fn mass_of_all(&self) -> f64 {
        self.density * self.shape.solid().volume
    }

    pub(super) fn centre_of_shape(&self) -> Vec3<f64> {
        self.shape.solid().centre
    }

    pub(super) fn offset(&self) -> f64 {
        self.plane.across(self.position)
    }

    pub(super) fn start(&self) -> Start {
        let turn = rotation(self.angle);
        let gradient = product(turn, self.gradient);
        let rate = plus(product(turn, self.gradient_rate), quarter(gradient), self.angular_velocity);
        let centre = self.shape.solid().centre;
        let arm = |m: Mat2<f64>| m.map(|row| row[0] * centre[0] + row[1] * centre[2]);
        let (position, velocity) = (self.plane.within(self.position), self.plane.within(self.velocity));
        Start {
            position: std::array::from_fn(|i| position[i] + arm(gradient)[i]),
            gradient,
            velocity: std::array::from_fn(|i| velocity[i] + arm(rate)[i]),
            rate,
        }
    }

    pub(super) fn defect_of_data(&self) -> Option<(&'static str, String)> {
        if !self.shape.is_plane() {
            let message = "a body in a plane needs a rectangle, a disc, an ellipse or a polygon".to_owned();
            return Some(("shape", message));
        }
        if self.plane.across(self.velocity) != 0.0 {
            return Some(("velocity", "the velocity must be in the plane of motion".to_owned()));
        }
        density_defect(self.density).or_else(|| gradient_defect(determinant(self.gradient)))
    }
}

/// Cache: the motion, see `MOTION`.
impl Body for AffinePlane {
    fn coordinates(&self) -> usize {
        6
    }
    fn velocities(&self) -> usize {
        6
    }
    fn cache(&self) -> usize {
        MOTION
    }
    fn oriented(&self) -> bool {
        false
    }
    fn extended(&self) -> bool {
        true
    }
    fn initial(&self, q: &mut [f64], v: &mut [f64]) {
        let start = self.start();
        q[..2].copy_from_slice(&start.position);
        q[2..].copy_from_slice(start.gradient.as_flattened());
        v[..2].copy_from_slice(&start.velocity);
        v[2..].copy_from_slice(start.rate.as_flattened());
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        self.defect_of_data()
    }
    #[inline(always)]
    fn kinematics<R: Real>(&self, q: &[R], v: &[R], cache: &mut [R]) {
        cache[..6].copy_from_slice(q);
        cache[6..].copy_from_slice(v);
    }
    #[inline(always)]
    fn place<R: Real>(&self, site: &Site, cache: &[R]) -> Place<R> {
        self.plane.place(site, self.centre_of_shape(), self.offset(), cache)
    }
    #[inline(always)]
    fn pull_back<R: Real>(&self, site: &Site, _cache: &[R], wrench: &Wrench<R>, out: &mut [R]) {
        self.plane.pull_back(site, self.centre_of_shape(), wrench, out);
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(2), MassBlock::Dense(2), MassBlock::Dense(2)]
    }
    fn mass<R: Real>(&self, block: usize, _cache: &[R], out: &mut [R]) {
        if block == 0 {
            out.fill(R::from(self.mass_of_all()));
        } else {
            out.copy_from_slice(constant(self.euler()).as_flattened());
        }
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn force<R: Real>(&self, _cache: &[R], _out: &mut [R]) {}
    #[inline(always)]
    fn weight<R: Real>(&self, _cache: &[R], gravity: Vec3<R>, out: &mut [R]) {
        for (out, g) in out.iter_mut().zip(self.plane.within(gravity.0)) {
            *out += g * self.mass_of_all();
        }
    }
    fn total_mass(&self) -> f64 {
        self.mass_of_all()
    }
    fn centre<R: Real>(&self, cache: &[R]) -> Vec3<R> {
        self.plane.vector([cache[0], cache[1]], self.offset() + self.centre_of_shape()[1])
    }
    fn kinetic<R: Real>(&self, cache: &[R]) -> R {
        self.plane.kinetic(self.mass_of_all(), self.euler(), cache)
    }
    fn momentum<R: Real>(&self, cache: &[R]) -> (Vec3<R>, Vec3<R>) {
        let offset = self.offset() + self.centre_of_shape()[1];
        self.plane.momentum(self.mass_of_all(), self.euler(), offset, cache)
    }
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        for i in 0..6 {
            out[i] = q[i] + delta[i];
        }
    }
    fn local_rate<R: Real>(&self, _delta: &[R], v: &[R], out: &mut [R]) {
        out.copy_from_slice(v);
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        out[..2].fill(q[0].hypot(q[1]));
        out[2..].fill(1.0);
    }
    fn velocity_name(&self, i: usize) -> String {
        let axes = self.plane.indices().map(|i| ["x", "y", "z"][i]);
        match i {
            0..2 => format!("velocity.{}", axes[i]),
            _ => format!("rate of the gradient, {}{}", axes[i / 2 - 1], ["x", "z"][i % 2]),
        }
    }
    /// All velocities constant: every point moves uniformly.
    #[inline(always)]
    fn bias<R: Real>(&self, _: &Site, _q: &[R], _v: &[R], _: &[R], _: &mut Vec<Jet<R, 1>>) -> Acceleration<R> {
        Acceleration { a: Vec3::zero(), alpha: Vec3::zero() }
    }
}
