//! A particle: a mass at a point.

use super::Body;
use crate::element::About;
use crate::model::{Acceleration, Place, Site, Wrench};
use dalembert_methods::algebra::MassBlock;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point mass; q is its position and v its velocity in the world frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Particle {
    /// Mass, positive.
    #[schemars(extend("unit" = "kg"))]
    pub mass: f64,
    /// Initial position in the world frame.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub position: [f64; 3],
    /// Initial velocity in the world frame.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default)]
    pub velocity: [f64; 3],
}

impl About for Particle {
    const KIND: &'static str = "particle";
    const SUMMARY: &'static str = "A mass at a point, without orientation.";

    fn sample() -> Self {
        Self { mass: 1.5, position: [0.4, 0.1, -0.9], velocity: [0.3, -0.4, 0.2] }
    }
}

/// Cache: r (3), v (3).
impl Body for Particle {
    fn coordinates(&self) -> usize {
        3
    }
    fn velocities(&self) -> usize {
        3
    }
    fn cache(&self) -> usize {
        6
    }
    fn oriented(&self) -> bool {
        false
    }
    fn point(&self) -> bool {
        true
    }
    fn initial(&self, q: &mut [f64], v: &mut [f64]) {
        q.copy_from_slice(&self.position);
        v.copy_from_slice(&self.velocity);
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        super::mass_defect(self.mass)
    }
    #[inline(always)]
    fn kinematics<R: Real>(&self, q: &[R], v: &[R], cache: &mut [R]) {
        cache[..3].copy_from_slice(q);
        cache[3..].copy_from_slice(v);
    }
    #[inline(always)]
    fn place<R: Real>(&self, _site: &Site, cache: &[R]) -> Place<R> {
        Place {
            r: Vec3::from_slice(cache),
            v: Vec3::from_slice(&cache[3..]),
            rotation: Mat3::identity(),
            omega: Vec3::zero(),
        }
    }
    #[inline(always)]
    fn pull_back<R: Real>(&self, _site: &Site, _cache: &[R], wrench: &Wrench<R>, out: &mut [R]) {
        wrench.force.add_to(out);
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(3)]
    }
    fn mass<R: Real>(&self, _block: usize, _cache: &[R], out: &mut [R]) {
        out.fill(R::from(self.mass));
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn force<R: Real>(&self, _cache: &[R], _out: &mut [R]) {}
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
        Vec3::from_slice(&cache[3..]).norm_squared() * (0.5 * self.mass)
    }
    fn momentum<R: Real>(&self, cache: &[R]) -> (Vec3<R>, Vec3<R>) {
        let p = Vec3::from_slice(&cache[3..]) * R::from(self.mass);
        (p, Vec3::from_slice(cache).cross(p))
    }
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        for i in 0..3 {
            out[i] = q[i] + delta[i];
        }
    }
    fn local_rate<R: Real>(&self, _delta: &[R], v: &[R], out: &mut [R]) {
        out.copy_from_slice(v);
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        out.fill(Vec3::from_slice(q).norm());
    }
    fn bias<R: Real>(&self, _: &Site, _: &[R], _: &[R], _: &[R], _: &mut Vec<Jet<R, 1>>) -> Acceleration<R> {
        Acceleration::default()
    }
    fn velocity_name(&self, i: usize) -> String {
        format!("velocity.{}", ["x", "y", "z"][i])
    }
}
