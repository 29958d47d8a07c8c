//! A body that deforms homogeneously: p(X, t) = p₀(t) + ∇p(t)(X − X₀), with X₀ the centre of mass (\[1\], sec. 2).
//!
//! q = (p₀, ∇p by rows), v = q̇. The kinetic energy is ½ m |ṗ₀|² + ½ ∇ṗE·∇ṗ with the Euler tensor E = ∫ρ (X − X₀)⊗(X − X₀) dV, so that
//! the mass matrix is constant: m for each component of p₀ and E for each row of ∇p (\[1\], eq. (10), (11), (13); one dot is
//! missing on ∇p in the printed (11)). The body has no forces of its own: material, contraction, incompressibility and contact
//! fields are elements that see four of its points.
//!
//! Reference: \[1\] Tatone, Di Egidio, Contento: Dynamics of a soft contractile body on a hard support.

use super::Body;
use crate::element::About;
use crate::model::{Acceleration, Orientation, Place, Site, Wrench};
use crate::shapes::{Brick, Form, Shape};
use dalembert_methods::algebra::MassBlock;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body with homogeneous deformations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Affine {
    /// Reference shape, in the frame of the body.
    pub shape: Shape,
    /// Density in the reference shape.
    #[schemars(extend("unit" = "kg/m³"))]
    pub density: f64,
    /// Initial position of the origin of the body frame, in the world frame.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub position: [f64; 3],
    /// Initial orientation: body frame to world frame, after the initial deformation.
    #[serde(default)]
    pub orientation: Orientation,
    /// Initial deformation gradient before it is turned, with a positive determinant.
    #[schemars(extend("unit" = "1"))]
    #[serde(default = "identity")]
    pub gradient: [[f64; 3]; 3],
    /// Initial velocity of the origin of the body frame, in the world frame.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Initial angular velocity, in the world frame.
    #[schemars(extend("unit" = "rad/s"))]
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// Initial rate of the deformation gradient before it is turned.
    #[schemars(extend("unit" = "1/s"))]
    #[serde(default)]
    pub gradient_rate: [[f64; 3]; 3],
}

fn identity() -> [[f64; 3]; 3] {
    Mat3::identity().0
}

impl About for Affine {
    const KIND: &'static str = "affine";
    const SUMMARY: &'static str = "A body that deforms homogeneously, with markers at any material point.";
    const REFERENCES: &'static [&'static str] =
        &["Tatone, Di Egidio, Contento, Dynamics of a soft contractile body on a hard support, eq. (2)–(13)"];

    fn sample() -> Self {
        let brick = Form::Box(Brick { size: [1.2, 0.7, 0.9] });
        Self {
            shape: Shape::try_from(brick).expect("a box of positive size"),
            density: 2.5,
            position: [-0.5, 0.2, 0.3],
            orientation: Orientation::AxisAngle { axis: [1.0, 2.0, -0.5], angle: 0.8 },
            gradient: [[1.2, 0.1, 0.0], [0.0, 0.9, 0.2], [0.1, 0.0, 1.1]],
            velocity: [0.1, 0.7, -0.3],
            angular_velocity: [1.1, -0.6, 0.9],
            gradient_rate: [[0.2, 0.0, 0.1], [0.0, -0.3, 0.0], [0.0, 0.1, 0.2]],
        }
    }
}

/// Cache: p₀ (3), ∇p by rows (9), ṗ₀ (3), ∇ṗ by rows (9).
#[inline(always)]
fn matrix<R: Real>(cache: &[R]) -> Mat3<R> {
    Mat3(std::array::from_fn(|i| std::array::from_fn(|j| cache[3 * i + j])))
}

impl Affine {
    /// A body at rest in its reference shape.
    pub fn new(shape: Shape, density: f64) -> Self {
        Self {
            shape,
            density,
            position: [0.0; 3],
            orientation: Orientation::default(),
            gradient: identity(),
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            gradient_rate: [[0.0; 3]; 3],
        }
    }

    /// The Euler tensor E, in kg m².
    pub fn euler(&self) -> Mat3<f64> {
        self.shape.solid().second * self.density
    }

    fn mass_of_all(&self) -> f64 {
        self.density * self.shape.solid().volume
    }

    #[inline(always)]
    fn arm(&self, site: &Site) -> Vec3<f64> {
        Vec3(site.at) - self.shape.solid().centre
    }

    fn is_diagonal(&self) -> bool {
        let e = self.shape.solid().second.0;
        e[0][1] == 0.0 && e[0][2] == 0.0 && e[1][2] == 0.0
    }
}

impl Body for Affine {
    fn coordinates(&self) -> usize {
        12
    }
    fn velocities(&self) -> usize {
        12
    }
    fn cache(&self) -> usize {
        24
    }
    fn oriented(&self) -> bool {
        false
    }
    fn extended(&self) -> bool {
        true
    }
    fn initial(&self, q: &mut [f64], v: &mut [f64]) {
        let turn = self.orientation.quaternion().matrix();
        let gradient = turn * Mat3(self.gradient);
        let rate = Mat3::skew(Vec3(self.angular_velocity)) * gradient + turn * Mat3(self.gradient_rate);
        let centre = self.shape.solid().centre;
        (Vec3(self.position) + gradient * centre).write(q);
        (Vec3(self.velocity) + rate * centre).write(v);
        q[3..].copy_from_slice(gradient.0.as_flattened());
        v[3..].copy_from_slice(rate.0.as_flattened());
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        density_defect(self.density).or_else(|| gradient_defect(Mat3(self.gradient).determinant()))
    }
    #[inline(always)]
    fn kinematics<R: Real>(&self, q: &[R], v: &[R], cache: &mut [R]) {
        cache[..12].copy_from_slice(q);
        cache[12..].copy_from_slice(v);
    }
    #[inline(always)]
    fn place<R: Real>(&self, site: &Site, cache: &[R]) -> Place<R> {
        let arm = Vec3::constant(self.arm(site).0);
        Place {
            r: Vec3::from_slice(cache) + matrix(&cache[3..]) * arm,
            v: Vec3::from_slice(&cache[12..]) + matrix(&cache[15..]) * arm,
            rotation: Mat3::identity(),
            omega: Vec3::zero(),
        }
    }
    #[inline(always)]
    fn pull_back<R: Real>(&self, site: &Site, _cache: &[R], wrench: &Wrench<R>, out: &mut [R]) {
        wrench.force.add_to(out);
        let arm = self.arm(site);
        for i in 0..3 {
            for j in 0..3 {
                out[3 + 3 * i + j] += wrench.force[i] * arm[j];
            }
        }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        if self.is_diagonal() {
            return vec![MassBlock::Diagonal(12)];
        }
        vec![MassBlock::Diagonal(3), MassBlock::Dense(3), MassBlock::Dense(3), MassBlock::Dense(3)]
    }
    fn mass<R: Real>(&self, block: usize, _cache: &[R], out: &mut [R]) {
        let euler = self.euler().0;
        if block > 0 {
            for (out, &value) in out.iter_mut().zip(euler.as_flattened()) {
                *out = R::from(value);
            }
            return;
        }
        out[..3].fill(R::from(self.mass_of_all()));
        for (i, out) in out[3..].iter_mut().enumerate() {
            *out = R::from(euler[i % 3][i % 3]);
        }
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn force<R: Real>(&self, _cache: &[R], _out: &mut [R]) {}
    #[inline(always)]
    fn weight<R: Real>(&self, _cache: &[R], gravity: Vec3<R>, out: &mut [R]) {
        (gravity * R::from(self.mass_of_all())).add_to(out);
    }
    fn total_mass(&self) -> f64 {
        self.mass_of_all()
    }
    fn centre<R: Real>(&self, cache: &[R]) -> Vec3<R> {
        Vec3::from_slice(cache)
    }
    fn kinetic<R: Real>(&self, cache: &[R]) -> R {
        let (euler, rate) = (Mat3::constant(self.euler().0), matrix(&cache[15..]));
        let mut sum = Vec3::from_slice(&cache[12..]).norm_squared() * self.mass_of_all();
        for row in rate.0 {
            sum += Vec3(row).dot(euler * Vec3(row));
        }
        sum * 0.5
    }
    fn momentum<R: Real>(&self, cache: &[R]) -> (Vec3<R>, Vec3<R>) {
        let p = Vec3::from_slice(&cache[12..]) * R::from(self.mass_of_all());
        let moved = matrix(&cache[15..]) * Mat3::constant(self.euler().0);
        let gradient = matrix(&cache[3..]);
        let spin = (0..3).fold(Vec3::zero(), |sum, j| sum + gradient.column(j).cross(moved.column(j)));
        (p, Vec3::from_slice(cache).cross(p) + spin)
    }
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        for i in 0..12 {
            out[i] = q[i] + delta[i];
        }
    }
    fn local_rate<R: Real>(&self, _delta: &[R], v: &[R], out: &mut [R]) {
        out.copy_from_slice(v);
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        out[..3].fill(Vec3::from_slice(q).norm());
        out[3..].fill(1.0);
    }
    fn velocity_name(&self, i: usize) -> String {
        let axes = ["x", "y", "z"];
        match i {
            0..3 => format!("velocity.{}", axes[i]),
            _ => format!("rate of the gradient, {}{}", axes[i / 3 - 1], axes[i % 3]),
        }
    }
    /// All velocities constant: every point moves uniformly.
    #[inline(always)]
    fn bias<R: Real>(&self, _: &Site, _q: &[R], _v: &[R], _: &[R], _: &mut Vec<Jet<R, 1>>) -> Acceleration<R> {
        Acceleration { a: Vec3::zero(), alpha: Vec3::zero() }
    }
}

/// What is wrong with a density, if anything.
pub(super) fn density_defect(density: f64) -> Option<(&'static str, String)> {
    (!(density > 0.0 && density.is_finite()))
        .then(|| ("density", format!("a density must be positive and finite, not {density}")))
}

/// What is wrong with the determinant of an initial gradient, if anything.
pub(super) fn gradient_defect(determinant: f64) -> Option<(&'static str, String)> {
    (!(determinant > 0.0 && determinant.is_finite())).then(|| {
        let message =
            format!("the body would be turned inside out: the determinant must be positive, not {determinant}");
        ("gradient", message)
    })
}
