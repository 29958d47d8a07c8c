//! A sphere on a plane: touching ([`SphereOnPlane`]) and rolling without slip ([`RollingSphere`]); a ball that rolls has both.
//!
//! The plane passes through the first marker with the unit normal n of its frame and may move. The sphere has its centre c at the
//! second marker and touches the plane at k = c − ρ n, with the radius ρ.
//!
//! ```text
//! touching   0 = n·(c − r_A) − ρ
//! rolling    0 = t·(v_c + ω × (k − c) − v_A − ω_A × (k − r_A))      for two directions t in the plane
//! ```
//!
//! The multipliers are the normal force and the two components of friction on the sphere, with the opposite sign.

use super::{Constraint, Quantity, Rolling};
use crate::element::About;
use crate::joints::Axis;
use crate::joints::primitives::{positive, relative_velocity, to_world, travel};
use crate::model::{Frame, Instant, Place, Point};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sphere touching a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphereOnPlane {
    /// The radius, positive.
    #[schemars(extend("unit" = "m"))]
    pub radius: f64,
    /// The normal of the plane towards the sphere, in the frame of the first marker.
    #[serde(default)]
    pub normal: Axis,
}

impl About for SphereOnPlane {
    const KIND: &'static str = "sphere_on_plane";
    const SUMMARY: &'static str = "A sphere around the second marker touches a plane through the first; it may slip.";

    fn sample() -> Self {
        Self { radius: 0.4, normal: [1.0, -2.0, 2.0].into() }
    }
}

impl Constraint for SphereOnPlane {
    type Markers = (Frame, Point);

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = travel(at, &self.normal) - self.radius;
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        positive("radius", "a radius", self.radius).or_else(|| self.normal.defect("normal"))
    }
}

/// A sphere rolling on a plane without slip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RollingSphere {
    /// The radius, positive.
    #[schemars(extend("unit" = "m"))]
    pub radius: f64,
    /// The normal of the plane towards the sphere, in the frame of the first marker.
    #[serde(default)]
    pub normal: Axis,
}

impl About for RollingSphere {
    const KIND: &'static str = "rolling_sphere";
    const SUMMARY: &'static str = "A sphere around the second marker rolls on a plane through the first without slip (together with `sphere_on_plane`).";
    const REFERENCES: &'static [&'static str] =
        &["Neimark, Fufaev: Dynamics of nonholonomic systems (1972), chapter I"];

    fn sample() -> Self {
        Self { radius: 0.4, normal: [1.0, -2.0, 2.0].into() }
    }
}

impl Rolling for RollingSphere {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Velocity, Quantity::Velocity]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let arm = to_world(&at[0], self.normal.unit() * -self.radius);
        let slip = relative_velocity(&at[0], at[1].r + arm, at[1].v + at[1].omega.cross(arm));
        out.copy_from_slice(&self.normal.across().map(|direction| to_world(&at[0], direction).dot(slip)));
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        positive("radius", "a radius", self.radius).or_else(|| self.normal.defect("normal"))
    }
}
