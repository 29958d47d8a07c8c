//! A rigid body: q = (centre of mass c in the world frame, unit quaternion, scalar first), v = (ċ in the world frame,
//! angular velocity Ω in the body frame).
//!
//! With these velocities the mass matrix diag(m, m, m, J) is constant, and the Newton–Euler equations read
//! m c̈ = f, J Ω̇ = Rᵀτ − Ω × J Ω, with the torque τ taken about the centre of mass.

use super::Body;
use crate::element::About;
use crate::model::{Acceleration, Orientation, Place, Site, Wrench};
use dalembert_methods::algebra::MassBlock;
use dalembert_methods::lie::{Quat, tangent, tangent_inverse};
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rigid body with any inertia.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rigid {
    /// Mass, positive.
    #[schemars(extend("unit" = "kg"))]
    pub mass: f64,
    /// Inertia about the centre of mass in the axes of the body frame: [Jxx, Jyy, Jzz] or [Jxx, Jyy, Jzz, Jxy, Jxz, Jyz].
    #[schemars(extend("unit" = "kg m²"))]
    pub inertia: Inertia,
    /// Centre of mass in the body frame.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub centre: [f64; 3],
    /// Initial position of the origin of the body frame, in the world frame.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub position: [f64; 3],
    /// Initial orientation: body frame to world frame.
    #[serde(default)]
    pub orientation: Orientation,
    /// Initial velocity of the origin of the body frame, in the world frame.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Initial angular velocity, in the world frame.
    #[schemars(extend("unit" = "rad/s"))]
    #[serde(default)]
    pub angular_velocity: [f64; 3],
}

/// The moments and products of inertia about the centre of mass.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<f64>", into = "Vec<f64>")]
#[schemars(with = "Vec<f64>")]
pub struct Inertia {
    /// The matrix J, with products entering as J_xy = −∫ x y dm.
    pub matrix: Mat3<f64>,
}

impl Inertia {
    /// Principal moments along the body axes.
    pub fn principal(moments: [f64; 3]) -> Self {
        Self { matrix: Mat3::diagonal(moments) }
    }

    /// The principal moments, ascending (closed form for symmetric 3 × 3 matrices).
    pub fn moments(&self) -> [f64; 3] {
        let a = self.matrix.0;
        if a[0][1] == 0.0 && a[0][2] == 0.0 && a[1][2] == 0.0 {
            let mut moments = [a[0][0], a[1][1], a[2][2]];
            moments.sort_by(f64::total_cmp);
            return moments;
        }
        let mean = (a[0][0] + a[1][1] + a[2][2]) / 3.0;
        let mut spread = 0.0;
        let mut b = a;
        for i in 0..3 {
            b[i][i] -= mean;
        }
        for row in b {
            for x in row {
                spread += x * x;
            }
        }
        let p = (spread / 6.0).sqrt();
        if p <= 1e-15 * mean.abs() {
            return [mean; 3];
        }
        let r = (Mat3(b) * (1.0 / p)).determinant() / 2.0;
        let angle = r.clamp(-1.0, 1.0).acos() / 3.0;
        let third = std::f64::consts::TAU / 3.0;
        let mut moments = [0.0, third, 2.0 * third].map(|shift| mean + 2.0 * p * (angle + shift).cos());
        moments.sort_by(f64::total_cmp);
        moments
    }
}

impl TryFrom<Vec<f64>> for Inertia {
    type Error = String;
    fn try_from(a: Vec<f64>) -> Result<Self, String> {
        match *a.as_slice() {
            [xx, yy, zz] => Ok(Self::principal([xx, yy, zz])),
            [xx, yy, zz, xy, xz, yz] => Ok(Self { matrix: Mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) }),
            _ => Err(format!("expected 3 principal moments or 6 entries xx, yy, zz, xy, xz, yz; found {}", a.len())),
        }
    }
}

impl From<Inertia> for Vec<f64> {
    fn from(inertia: Inertia) -> Self {
        let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = inertia.matrix.0;
        if xy == 0.0 && xz == 0.0 && yz == 0.0 { vec![xx, yy, zz] } else { vec![xx, yy, zz, xy, xz, yz] }
    }
}

impl About for Rigid {
    const KIND: &'static str = "rigid";
    const SUMMARY: &'static str = "A rigid body with mass, inertia and orientation.";
    const REFERENCES: &'static [&'static str] = &["Schiehlen, Computational dynamics, eq. (1)–(5)"];

    fn sample() -> Self {
        Self {
            mass: 2.0,
            inertia: Inertia { matrix: Mat3([[0.3, 0.02, -0.03], [0.02, 0.4, 0.01], [-0.03, 0.01, 0.5]]) },
            centre: [0.1, 0.0, -0.05],
            position: [-0.5, 0.2, 0.3],
            orientation: Orientation::AxisAngle { axis: [1.0, 2.0, -0.5], angle: 0.8 },
            velocity: [0.1, 0.7, -0.3],
            angular_velocity: [1.1, -0.6, 0.9],
        }
    }
}

impl Rigid {
    fn inertia_times<R: Real>(&self, omega: Vec3<R>) -> Vec3<R> {
        Mat3::constant(self.inertia.matrix.0) * omega
    }

    /// The site relative to the centre of mass, turned to the world frame.
    #[inline(always)]
    fn arm<R: Real>(&self, site: &Site, cache: &[R]) -> Vec3<R> {
        let local = Vec3(std::array::from_fn(|i| site.at[i] - self.centre[i]));
        rotation(cache) * Vec3::constant(local.0)
    }
}

/// Cache: c (3), R by rows (9), ċ (3), ω in the world frame (3), Ω in the body frame (3).
#[inline(always)]
fn rotation<R: Real>(cache: &[R]) -> Mat3<R> {
    Mat3(std::array::from_fn(|i| std::array::from_fn(|j| cache[3 + 3 * i + j])))
}

impl Body for Rigid {
    fn coordinates(&self) -> usize {
        7
    }
    fn velocities(&self) -> usize {
        6
    }
    fn cache(&self) -> usize {
        21
    }
    fn oriented(&self) -> bool {
        true
    }
    fn initial(&self, q: &mut [f64], v: &mut [f64]) {
        let turn = self.orientation.quaternion();
        let arm = turn.rotate(Vec3(self.centre));
        let omega = Vec3(self.angular_velocity);
        (Vec3(self.position) + arm).write(q);
        q[3..].copy_from_slice(&turn.0);
        (Vec3(self.velocity) + omega.cross(arm)).write(v);
        turn.conjugate().rotate(omega).write(&mut v[3..]);
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        if let Some(defect) = super::mass_defect(self.mass) {
            return Some(defect);
        }
        let [a, b, c] = self.inertia.moments();
        if a <= 0.0 {
            return Some(("inertia", format!("the inertia must be positive definite; its smallest moment is {a}")));
        }
        // No distribution of mass can have a moment above the sum of the other two (a thin plate reaches it).
        (a + b < c * (1.0 - 1e-9)).then(|| {
            (
                "inertia",
                format!("no body has principal moments {a}, {b}, {c}: each is at most the sum of the other two"),
            )
        })
    }
    #[inline(always)]
    fn kinematics<R: Real>(&self, q: &[R], v: &[R], cache: &mut [R]) {
        let matrix = Quat::from_slice(&q[3..]).matrix();
        let omega = Vec3::from_slice(&v[3..]);
        cache[..3].copy_from_slice(&q[..3]);
        for i in 0..3 {
            cache[3 + 3 * i..6 + 3 * i].copy_from_slice(&matrix.0[i]);
        }
        cache[12..15].copy_from_slice(&v[..3]);
        (matrix * omega).write(&mut cache[15..]);
        omega.write(&mut cache[18..]);
    }
    #[inline(always)]
    fn place<R: Real>(&self, site: &Site, cache: &[R]) -> Place<R> {
        let arm = self.arm(site, cache);
        let omega = Vec3::from_slice(&cache[15..]);
        Place {
            r: Vec3::from_slice(cache) + arm,
            v: Vec3::from_slice(&cache[12..]) + omega.cross(arm),
            rotation: rotation(cache) * Mat3::constant(site.rotation.0),
            omega,
        }
    }
    #[inline(always)]
    fn pull_back<R: Real>(&self, site: &Site, cache: &[R], wrench: &Wrench<R>, out: &mut [R]) {
        wrench.force.add_to(out);
        let about_centre = wrench.torque + self.arm(site, cache).cross(wrench.force);
        rotation(cache).transpose_mul(about_centre).add_to(&mut out[3..]);
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(3), MassBlock::Dense(3)]
    }
    fn mass<R: Real>(&self, block: usize, _cache: &[R], out: &mut [R]) {
        if block == 0 {
            out.fill(R::from(self.mass));
        } else {
            for (out, &value) in out.iter_mut().zip(self.inertia.matrix.0.as_flattened()) {
                *out = R::from(value);
            }
        }
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    #[inline(always)]
    fn force<R: Real>(&self, cache: &[R], out: &mut [R]) {
        let omega = Vec3::from_slice(&cache[18..]);
        self.inertia_times(omega).cross(omega).add_to(&mut out[3..]); // −Ω × JΩ
    }
    #[inline(always)]
    fn weight<R: Real>(&self, _cache: &[R], gravity: Vec3<R>, out: &mut [R]) {
        (gravity * R::from(self.mass)).add_to(out);
    }
    fn total_mass(&self) -> f64 {
        self.mass
    }
    fn centre<R: Real>(&self, cache: &[R]) -> Vec3<R> {
        Vec3::from_slice(cache)
    }
    fn kinetic<R: Real>(&self, cache: &[R]) -> R {
        let (velocity, omega) = (Vec3::from_slice(&cache[12..]), Vec3::from_slice(&cache[18..]));
        (velocity.norm_squared() * self.mass + omega.dot(self.inertia_times(omega))) * 0.5
    }
    fn momentum<R: Real>(&self, cache: &[R]) -> (Vec3<R>, Vec3<R>) {
        let p = Vec3::from_slice(&cache[12..]) * R::from(self.mass);
        let spin = rotation(cache) * self.inertia_times(Vec3::from_slice(&cache[18..]));
        (p, Vec3::from_slice(cache).cross(p) + spin)
    }
    #[inline(always)]
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        for i in 0..3 {
            out[i] = q[i] + delta[i];
        }
        let turned = Quat::from_slice(&q[3..]) * Quat::exp(Vec3::from_slice(&delta[3..]));
        out[3..].copy_from_slice(&turned.normalized().0);
    }
    #[inline(always)]
    fn local_rate<R: Real>(&self, delta: &[R], v: &[R], out: &mut [R]) {
        out[..3].copy_from_slice(&v[..3]);
        tangent_inverse(Vec3::from_slice(&delta[3..]), Vec3::from_slice(&v[3..])).write(&mut out[3..]);
    }
    #[inline(always)]
    fn local_velocity<R: Real>(&self, delta: &[R], rate: &[R], out: &mut [R]) {
        out[..3].copy_from_slice(&rate[..3]);
        tangent(Vec3::from_slice(&delta[3..]), Vec3::from_slice(&rate[3..])).write(&mut out[3..]);
    }
    #[inline(always)]
    fn local_shift<R: Real>(&self, delta: &[R], base: &[R], out: &mut [R]) {
        out[..3].copy_from_slice(&base[..3]);
        tangent_inverse(-Vec3::from_slice(&delta[3..]), Vec3::from_slice(&base[3..])).write(&mut out[3..]);
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        out[..3].fill(Vec3::from_slice(q).norm());
        out[3..].fill(1.0);
    }
    fn velocity_name(&self, i: usize) -> String {
        let axis = ["x", "y", "z"][i % 3];
        if i < 3 { format!("velocity.{axis}") } else { format!("angular velocity {axis} (body frame)") }
    }
    fn inertia(&self, _part: usize) -> Option<(f64, [f64; 3], Mat3<f64>)> {
        Some((self.mass, self.centre, self.inertia.matrix))
    }
    /// With ċ and Ω constant the centre moves uniformly and ω = RΩ is constant too: only ω × (ω × arm) is left.
    #[inline(always)]
    fn bias<R: Real>(&self, site: &Site, _q: &[R], _v: &[R], cache: &[R], _: &mut Vec<Jet<R, 1>>) -> Acceleration<R> {
        let omega = Vec3::from_slice(&cache[15..]);
        Acceleration { a: omega.cross(omega.cross(self.arm(site, cache))), alpha: Vec3::zero() }
    }
}
