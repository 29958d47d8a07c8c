//! A body that deforms homogeneously in a plane and keeps its area, by the parametrisation of \[1\], eq. (39).
//!
//! ∇p = R(θ) U with the rotation R from the first axis of the plane to the second and the stretch
//!
//! ```text
//!     ⎡ (1 + κ²)/χ   κ ⎤
//! U = ⎣      κ       χ ⎦,   det U = 1.
//! ```
//!
//! q = (p₀, θ, κ, ln χ), v = q̇: with the logarithm every value of the coordinates is a stretch. With J = ∂∇p/∂(θ, κ, ln χ) the mass
//! matrix is (m, m, Jᵀ(E⊗1)J) and the gyroscopic forces are −Jᵀ(E⊗1) J̇v.
//!
//! Departures: \[1\] parametrises F = ∇p G⁻¹. Here it is ∇p, which is the same for isochoric contractions (det G = 1) up to the meaning of the
//! coordinates, and leaves the contraction to the material.
//!
//! Reference: \[1\] Tatone, Di Egidio, Contento: Dynamics of a soft contractile body on a hard support.

use super::affine_plane::identity;
use super::plane::{MOTION, Mat2, constant, determinant, plus, product, quarter, rotation};
use super::{AffinePlane, Body, Plane};
use crate::element::About;
use crate::model::{Acceleration, Place, Site, Wrench};
use crate::shapes::Shape;
use dalembert_methods::algebra::MassBlock;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Jet, Real};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body with homogeneous isochoric deformations in a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Given", into = "Given")]
#[schemars(with = "Given")]
pub struct IsochoricPlane {
    affine: AffinePlane,
}

/// A body with homogeneous isochoric deformations in a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Given {
    /// Reference shape: a rectangle, disc, ellipse or polygon.
    shape: Shape,
    /// Density in the reference shape.
    #[schemars(extend("unit" = "kg/m³"))]
    density: f64,
    /// The plane of motion.
    #[serde(default)]
    plane: Plane,
    /// Initial position of the origin of the body frame, in the world frame.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    position: [f64; 3],
    /// Initial angle, from the first axis of the plane to the second, after the initial deformation.
    #[schemars(extend("unit" = "rad"))]
    #[serde(default)]
    angle: f64,
    /// Initial deformation gradient before it is turned, with determinant 1.
    #[schemars(extend("unit" = "1"))]
    #[serde(default = "identity")]
    gradient: [[f64; 2]; 2],
    /// Initial velocity of the origin of the body frame, in the world frame.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default)]
    velocity: [f64; 3],
    /// Initial angular velocity, from the first axis of the plane to the second.
    #[schemars(extend("unit" = "rad/s"))]
    #[serde(default)]
    angular_velocity: f64,
    /// Initial rate of the deformation gradient before it is turned; what changes the area is left out.
    #[schemars(extend("unit" = "1/s"))]
    #[serde(default)]
    gradient_rate: [[f64; 2]; 2],
}

impl From<Given> for IsochoricPlane {
    fn from(given: Given) -> Self {
        let Given { shape, density, plane, position, angle, gradient, velocity, angular_velocity, gradient_rate } =
            given;
        let affine =
            AffinePlane { shape, density, plane, position, angle, gradient, velocity, angular_velocity, gradient_rate };
        Self { affine }
    }
}

impl From<IsochoricPlane> for Given {
    fn from(body: IsochoricPlane) -> Self {
        let AffinePlane { shape, density, plane, position, angle, gradient, velocity, angular_velocity, gradient_rate } =
            body.affine;
        Self { shape, density, plane, position, angle, gradient, velocity, angular_velocity, gradient_rate }
    }
}

impl From<AffinePlane> for IsochoricPlane {
    fn from(affine: AffinePlane) -> Self {
        Self { affine }
    }
}

impl About for IsochoricPlane {
    const KIND: &'static str = "isochoric_plane";
    const SUMMARY: &'static str =
        "A prism that deforms homogeneously in a plane and keeps its volume, without a constraint.";
    const REFERENCES: &'static [&'static str] =
        &["Tatone, Di Egidio, Contento, Dynamics of a soft contractile body on a hard support, eq. (39)"];

    fn sample() -> Self {
        let stretch = [[1.25, 0.5], [0.5, 1.0]];
        Self { affine: AffinePlane { gradient: stretch, ..AffinePlane::sample() } }
    }
}

/// Cache: the motion (12), J by columns of 2 × 2 matrices (12), ∇p̈ at constant velocities (4).
const CACHE: usize = MOTION + 16;

#[inline(always)]
fn square<R: Real>(a: &[R]) -> Mat2<R> {
    [[a[0], a[1]], [a[2], a[3]]]
}

/// a · (b E).
#[inline(always)]
fn weigh<R: Real>(a: Mat2<R>, b: Mat2<R>, euler: Mat2<f64>) -> R {
    let [x, y] = product(b, constant(euler));
    a[0][0] * x[0] + a[0][1] * x[1] + a[1][0] * y[0] + a[1][1] * y[1]
}

impl Body for IsochoricPlane {
    fn coordinates(&self) -> usize {
        5
    }
    fn velocities(&self) -> usize {
        5
    }
    fn cache(&self) -> usize {
        CACHE
    }
    fn oriented(&self) -> bool {
        false
    }
    fn extended(&self) -> bool {
        true
    }
    fn initial(&self, q: &mut [f64], v: &mut [f64]) {
        let start = self.affine.start();
        // Polar decomposition in the plane: ∇p = R U with tan θ = (F₂₁ − F₁₂)/(F₁₁ + F₂₂).
        let f = start.gradient;
        let angle = (f[1][0] - f[0][1]).atan2(f[0][0] + f[1][1]);
        let back = rotation(-angle);
        let (stretch, rate) = (product(back, f), product(back, start.rate));
        // Rᵀ∇ṗ = θ̇ I U + U̇ with I the quarter turn and U̇ symmetric.
        let spin = (rate[1][0] - rate[0][1]) / (stretch[0][0] + stretch[1][1]);
        let stretching = plus(rate, quarter(stretch), -spin);
        q[..2].copy_from_slice(&start.position);
        q[2..].copy_from_slice(&[angle, stretch[0][1], stretch[1][1].ln()]);
        v[..2].copy_from_slice(&start.velocity);
        v[2..].copy_from_slice(&[spin, stretching[0][1], stretching[1][1] / stretch[1][1]]);
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        self.affine.defect_of_data().or_else(|| {
            let volume = determinant(self.affine.gradient);
            ((volume - 1.0).abs() > 1e-9)
                .then(|| ("gradient", format!("the body keeps its volume: the determinant must be 1, not {volume}")))
        })
    }
    #[inline(always)]
    fn kinematics<R: Real>(&self, q: &[R], v: &[R], cache: &mut [R]) {
        let (k, up, zero, one) = (q[3], q[4].exp(), R::zero(), R::one());
        let down = up.recip();
        let turn = rotation(q[2]);
        let wide = (k * k + 1.0) * down;
        let stretch = [[wide, k], [k, up]];
        let by_k = [[k * down * 2.0, one], [one, zero]];
        let by_x = [[-wide, zero], [zero, up]];
        let (spin, dk, dx) = (v[2], v[3], v[4]);
        let rate = plus(plus([[zero; 2]; 2], by_k, dk), by_x, dx);
        // Ü at constant κ̇ and (ln χ)˙
        let bend = [[down * dk * dk * 2.0 - k * down * dk * dx * 4.0 + wide * dx * dx, zero], [zero, up * dx * dx]];
        let columns = [product(turn, quarter(stretch)), product(turn, by_k), product(turn, by_x)];
        let gradient = product(turn, stretch);
        let moving = product(turn, plus(rate, quarter(stretch), spin));
        let inner = plus(plus(bend, quarter(rate), spin * 2.0), stretch, -(spin * spin));
        let acceleration = product(turn, inner);
        cache[..2].copy_from_slice(&q[..2]);
        cache[2..6].copy_from_slice(gradient.as_flattened());
        cache[6..8].copy_from_slice(&v[..2]);
        cache[8..12].copy_from_slice(moving.as_flattened());
        for (out, column) in cache[MOTION..].chunks_exact_mut(4).zip(&columns) {
            out.copy_from_slice(column.as_flattened());
        }
        cache[MOTION + 12..].copy_from_slice(acceleration.as_flattened());
    }
    #[inline(always)]
    fn place<R: Real>(&self, site: &Site, cache: &[R]) -> Place<R> {
        self.affine.place(site, &cache[..MOTION])
    }
    #[inline(always)]
    fn pull_back<R: Real>(&self, site: &Site, cache: &[R], wrench: &Wrench<R>, out: &mut [R]) {
        let mut full = [R::zero(); 6];
        self.affine.pull_back(site, &cache[..MOTION], wrench, &mut full);
        out[0] += full[0];
        out[1] += full[1];
        for (out, column) in out[2..].iter_mut().zip(cache[MOTION..].chunks_exact(4)) {
            for i in 0..4 {
                *out += column[i] * full[2 + i];
            }
        }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(2), MassBlock::Dense(3)]
    }
    fn mass<R: Real>(&self, block: usize, cache: &[R], out: &mut [R]) {
        if block == 0 {
            out.fill(R::from(self.affine.mass_of_all()));
            return;
        }
        let euler = self.affine.euler();
        let column = |i: usize| square(&cache[MOTION + 4 * i..]);
        for i in 0..3 {
            for j in 0..=i {
                let value = weigh(column(i), column(j), euler);
                out[3 * i + j] = value;
                out[3 * j + i] = value;
            }
        }
    }
    fn mass_is_constant(&self) -> bool {
        false
    }
    #[inline(always)]
    fn force<R: Real>(&self, cache: &[R], out: &mut [R]) {
        let euler = self.affine.euler();
        let acceleration = square(&cache[MOTION + 12..]);
        for (i, out) in out[2..].iter_mut().enumerate() {
            *out -= weigh(square(&cache[MOTION + 4 * i..]), acceleration, euler);
        }
    }
    #[inline(always)]
    fn weight<R: Real>(&self, cache: &[R], gravity: Vec3<R>, out: &mut [R]) {
        self.affine.weight(cache, gravity, &mut out[..2]);
    }
    fn total_mass(&self) -> f64 {
        self.affine.mass_of_all()
    }
    fn centre<R: Real>(&self, cache: &[R]) -> Vec3<R> {
        self.affine.centre(cache)
    }
    fn kinetic<R: Real>(&self, cache: &[R]) -> R {
        self.affine.kinetic(cache)
    }
    fn momentum<R: Real>(&self, cache: &[R]) -> (Vec3<R>, Vec3<R>) {
        self.affine.momentum(cache)
    }
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        for i in 0..5 {
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
        match i {
            0..2 => self.affine.velocity_name(i),
            _ => ["angular velocity", "rate of kappa", "rate of ln chi"][i - 2].to_owned(),
        }
    }
    #[inline(always)]
    fn bias<R: Real>(&self, site: &Site, _q: &[R], _v: &[R], cache: &[R], _: &mut Vec<Jet<R, 1>>) -> Acceleration<R> {
        let centre = self.affine.centre_of_shape();
        let arm = [site.at[0] - centre[0], site.at[2] - centre[2]];
        let a = square(&cache[MOTION + 12..]);
        Acceleration {
            a: self.affine.plane.vector(a.map(|row| row[0] * arm[0] + row[1] * arm[1]), 0.0),
            alpha: Vec3::zero(),
        }
    }
}
