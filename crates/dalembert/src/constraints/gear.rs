//! Gears: the angles of two wheels on a carrier.
//!
//! Toothed wheels mesh as z_A θ_A + z_B θ_B = offset (mod 2π): a shift of either sum by 2π is a shift by one tooth. Angles are
//! taken in (−π, π], and because the numbers of teeth are whole a full turn of a wheel shifts the sum by whole teeth. So the
//! residual, the sum brought to [−π, π], is the same smooth function through any number of turns, and no teeth are ever lost.
//! It is divided by z_A: a small angle of wheel A, whose multiplier is the torque on that wheel.
//!
//! Where the ratio is any real number (friction wheels, belts) there is no such function of the positions; [`GearRatio`]
//! then relates the speeds, ω_B = ratio · ω_A.
//!
//! The markers are the carrier (the ground or a planet carrier), wheel A and wheel B; only their orientations count. The wheels
//! need bearings of their own, for instance `revolute` joints to the carrier.

use super::{Constraint, Quantity, Rolling};
use crate::element::About;
use crate::joints::Axis;
use crate::joints::primitives::{angle, to_world, wrapped_angle};
use crate::model::{Frame, Instant, Place};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two meshing wheels with whole numbers of teeth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gear {
    /// Numbers of teeth of wheel A and wheel B, not zero; negative for the ring of an internal gear.
    #[schemars(extend("unit" = "1"))]
    pub teeth: [i32; 2],
    /// The axes of wheel A and wheel B, in the frame of the carrier.
    #[serde(default)]
    pub axes: [Axis; 2],
    /// The axes in the wheels' own frames; the same numbers as `axes` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wheel_axes: Option<[Axis; 2]>,
    /// The value of z_A θ_A + z_B θ_B that meshes; only its part within a full turn matters.
    #[schemars(extend("unit" = "rad"))]
    #[serde(default)]
    pub offset: f64,
}

impl About for Gear {
    const KIND: &'static str = "gear";
    const SUMMARY: &'static str =
        "Two toothed wheels on a carrier: their angles go as the numbers of teeth, exactly over any number of turns.";

    fn sample() -> Self {
        Self {
            teeth: [17, -40],
            axes: [[1.0, 2.0, 2.0].into(), [0.6, 0.0, 0.8].into()],
            wheel_axes: Some([[0.0, 0.6, 0.8].into(), [2.0, -1.0, 2.0].into()]),
            offset: 0.3,
        }
    }
}

impl Constraint for Gear {
    type Markers = [Frame; 3];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Angle]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let own = self.wheel_axes.as_ref().unwrap_or(&self.axes);
        let [z_a, z_b] = self.teeth.map(f64::from);
        let mesh =
            angle(&at[0], &at[1], &self.axes[0], &own[0]) * z_a + angle(&at[0], &at[2], &self.axes[1], &own[1]) * z_b;
        out[0] = wrapped_angle(mesh - self.offset) / z_a;
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        if self.teeth.contains(&0) {
            let [a, b] = self.teeth;
            return Some(("teeth", format!("a wheel needs at least one tooth, found [{a}, {b}]")));
        }
        if !self.offset.is_finite() {
            return Some(("offset", format!("an angle must be finite, not {}", self.offset)));
        }
        axes_defect(&self.axes, "axes").or_else(|| axes_defect(self.wheel_axes.as_ref()?, "wheel_axes"))
    }
}

/// Two wheels whose speeds have a fixed ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GearRatio {
    /// Speed of wheel B over speed of wheel A, both against the carrier; negative where the wheels turn in opposite senses.
    #[schemars(extend("unit" = "1"))]
    pub ratio: f64,
    /// The axes of wheel A and wheel B, in the frame of the carrier.
    #[serde(default)]
    pub axes: [Axis; 2],
}

impl About for GearRatio {
    const KIND: &'static str = "gear_ratio";
    const SUMMARY: &'static str =
        "Two wheels on a carrier whose speeds have a fixed real ratio: friction wheels, belts.";

    fn sample() -> Self {
        Self { ratio: -1.618, axes: [[1.0, 2.0, 2.0].into(), [0.6, 0.0, 0.8].into()] }
    }
}

impl Rolling for GearRatio {
    type Markers = [Frame; 3];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::AngularVelocity]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let speed = |wheel: usize| to_world(&at[0], self.axes[wheel].unit()).dot(at[wheel + 1].omega - at[0].omega);
        out[0] = speed(1) - speed(0) * self.ratio;
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        if self.ratio == 0.0 || !self.ratio.is_finite() {
            return Some(("ratio", format!("a ratio of speeds must be finite and not zero, not {}", self.ratio)));
        }
        axes_defect(&self.axes, "axes")
    }
}

fn axes_defect(axes: &[Axis; 2], key: &'static str) -> Option<(&'static str, String)> {
    axes[0].defect(key).or_else(|| axes[1].defect(key))
}
