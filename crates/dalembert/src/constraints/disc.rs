//! A thin disc on a plane: touching ([`DiscOnPlane`]) and rolling without slip ([`RollingDisc`]); a wheel that rolls has both.
//!
//! The plane passes through the first marker with the unit normal n of its frame and may move. The disc has its centre c and its axle
//! a at the second marker. The lowest point of the rim is k = c − ρ u with u = (n − (n·a) a)/s, s = |n − (n·a) a| (the sine of the
//! angle between axle and normal); the disc must not lie flat.
//!
//! ```text
//! touching   0 = n·(c − r_A) − ρ s
//! rolling    0 = e·(v_c + ω × (k − c) − v_A − ω_A × (k − r_A))      for e = a × n/s and for n × e
//! ```
//!
//! The direction e is the heading of the disc, n × e points sideways. The multipliers are the normal force, the traction and the
//! lateral friction on the disc, with the opposite sign.

use super::{Constraint, Quantity, Rolling};
use crate::element::About;
use crate::joints::Axis;
use crate::joints::primitives::{positive, relative_velocity, to_world, travel};
use crate::model::{Frame, Instant, Place};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The square of s below which a disc counts as flat: s is kept from getting smaller, so that nothing is divided by zero.
const FLAT: f64 = 1e-24;

/// A thin disc touching a plane with its rim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscOnPlane {
    /// The radius, positive.
    #[schemars(extend("unit" = "m"))]
    pub radius: f64,
    /// The axle, in the frame of the second marker.
    #[serde(default)]
    pub axle: Axis,
    /// The normal of the plane towards the disc, in the frame of the first marker.
    #[serde(default)]
    pub normal: Axis,
}

/// A thin disc rolling on a plane without slip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RollingDisc {
    /// The radius, positive.
    #[schemars(extend("unit" = "m"))]
    pub radius: f64,
    /// The axle, in the frame of the second marker.
    #[serde(default)]
    pub axle: Axis,
    /// The normal of the plane towards the disc, in the frame of the first marker.
    #[serde(default)]
    pub normal: Axis,
}

/// n and a in the world frame, n − (n·a) a, and its length s.
fn lean<R: Real>(at: &[Place<R>], axle: &Axis, normal: &Axis) -> (Vec3<R>, Vec3<R>, Vec3<R>, R) {
    let (n, a) = (to_world(&at[0], normal.unit()), to_world(&at[1], axle.unit()));
    let up = n - a * n.dot(a);
    (n, a, up, up.norm_squared().max(R::from(FLAT)).sqrt())
}

fn defect(radius: f64, axle: &Axis, normal: &Axis) -> Option<(&'static str, String)> {
    positive("radius", "a radius", radius).or_else(|| axle.defect("axle")).or_else(|| normal.defect("normal"))
}

impl About for DiscOnPlane {
    const KIND: &'static str = "disc_on_plane";
    const SUMMARY: &'static str =
        "The rim of a thin disc around the second marker touches a plane through the first; it may slip.";

    fn sample() -> Self {
        Self { radius: 0.4, axle: [0.6, 0.8, 0.0].into(), normal: [1.0, -2.0, 2.0].into() }
    }
}

impl Constraint for DiscOnPlane {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (_, _, _, s) = lean(at, &self.axle, &self.normal);
        out[0] = travel(at, &self.normal) - s * self.radius;
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        defect(self.radius, &self.axle, &self.normal)
    }
}

impl About for RollingDisc {
    const KIND: &'static str = "rolling_disc";
    const SUMMARY: &'static str = "A thin disc around the second marker rolls on a plane through the first without slip (together with `disc_on_plane`).";
    const REFERENCES: &'static [&'static str] =
        &["Neimark, Fufaev: Dynamics of nonholonomic systems (1972), chapter I"];

    fn sample() -> Self {
        Self { radius: 0.4, axle: [0.6, 0.8, 0.0].into(), normal: [1.0, -2.0, 2.0].into() }
    }
}

impl Rolling for RollingDisc {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Velocity, Quantity::Velocity]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (n, a, up, s) = lean(at, &self.axle, &self.normal);
        let per = s.recip();
        let arm = up * (per * -self.radius);
        let slip = relative_velocity(&at[0], at[1].r + arm, at[1].v + at[1].omega.cross(arm));
        let heading = a.cross(n) * per;
        out[0] = heading.dot(slip);
        out[1] = n.cross(heading).dot(slip);
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        defect(self.radius, &self.axle, &self.normal)
    }
}
