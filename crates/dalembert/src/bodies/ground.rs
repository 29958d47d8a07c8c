//! The ground: the inertial frame, a body that does not move.

use super::Body;
use crate::element::About;
use crate::model::{Place, Site, Wrench};
use dalembert_methods::Real;
use dalembert_methods::algebra::MassBlock;
use dalembert_methods::vector::{Mat3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The inertial frame. Every model has one, named `ground`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ground {}

impl About for Ground {
    const KIND: &'static str = "ground";
    const SUMMARY: &'static str = "A fixed frame: no coordinates, takes any force.";
}

impl Body for Ground {
    fn coordinates(&self) -> usize {
        0
    }
    fn velocities(&self) -> usize {
        0
    }
    fn cache(&self) -> usize {
        0
    }
    fn oriented(&self) -> bool {
        true
    }
    fn initial(&self, _q: &mut [f64], _v: &mut [f64]) {}
    fn kinematics<R: Real>(&self, _q: &[R], _v: &[R], _cache: &mut [R]) {}
    #[inline(always)]
    fn place<R: Real>(&self, site: &Site, _cache: &[R]) -> Place<R> {
        Place {
            r: Vec3::constant(site.at),
            v: Vec3::zero(),
            rotation: Mat3::constant(site.rotation.0),
            omega: Vec3::zero(),
        }
    }
    fn pull_back<R: Real>(&self, _site: &Site, _cache: &[R], _wrench: &Wrench<R>, _out: &mut [R]) {}
    fn mass_blocks(&self) -> Vec<MassBlock> {
        Vec::new()
    }
    fn mass<R: Real>(&self, _block: usize, _cache: &[R], _out: &mut [R]) {}
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn force<R: Real>(&self, _cache: &[R], _out: &mut [R]) {}
    fn weight<R: Real>(&self, _cache: &[R], _gravity: Vec3<R>, _out: &mut [R]) {}
    fn total_mass(&self) -> f64 {
        0.0
    }
    fn centre<R: Real>(&self, _cache: &[R]) -> Vec3<R> {
        Vec3::zero()
    }
    fn kinetic<R: Real>(&self, _cache: &[R]) -> R {
        R::zero()
    }
    fn momentum<R: Real>(&self, _cache: &[R]) -> (Vec3<R>, Vec3<R>) {
        (Vec3::zero(), Vec3::zero())
    }
    fn retract<R: Real>(&self, _q: &[R], _delta: &[R], _out: &mut [R]) {}
    fn local_rate<R: Real>(&self, _delta: &[R], _v: &[R], _out: &mut [R]) {}
    fn magnitude(&self, _q: &[f64], _out: &mut [f64]) {}
    fn velocity_name(&self, i: usize) -> String {
        i.to_string()
    }
}
