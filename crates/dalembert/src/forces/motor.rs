//! A motor in a hinge: a torque about an axis of the first of two frames, given by a signal, by a servo, or by both, within a limit.
//!
//! With the axis n of the first frame, the angle φ of the second frame about it and φ̇ = n·(ω₂ − ω₁) the torque on the second frame is
//!
//! ```text
//! τ n,   τ = clamp(u + k [φ* − φ] − d φ̇, τ_min, τ_max)
//! ```
//!
//! with the torque u and the wanted angle φ* of signals; [·] is taken in [−π, π], so that the servo goes the short way. The first frame
//! feels the opposite. All of the power τ φ̇ is supplied: a servo has no energy of its own.

use super::Force;
use super::line::{not_negative, out_of_order};
use crate::element::About;
use crate::joints::Axis;
use crate::joints::primitives::{angle, to_world, wrapped_angle};
use crate::model::{Frame, Instant, Place, Wrench};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A torque between two frames about an axis of the first, within a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// The axis in the first frame; the same numbers are taken in the second.
    #[serde(default)]
    pub axis: Axis,
    /// The torque on the second frame, a number or the name of a signal.
    #[schemars(extend("unit" = "N m"))]
    #[serde(default = "nothing")]
    pub torque: SignalRef,
    /// The angle that the servo wants, a number or the name of a signal.
    #[schemars(extend("unit" = "rad"))]
    #[serde(default = "nothing")]
    pub angle: SignalRef,
    /// Torque of the servo per angle that is missing.
    #[schemars(extend("unit" = "N m/rad"))]
    #[serde(default)]
    pub stiffness: f64,
    /// Torque of the servo against the angular velocity.
    #[schemars(extend("unit" = "N m s/rad"))]
    #[serde(default)]
    pub damping: f64,
    /// The largest torque; none if left out.
    #[schemars(extend("unit" = "N m"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// The smallest and the largest torque, where they are not opposite; besides `limit`.
    #[schemars(extend("unit" = "N m"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<[f64; 2]>,
}

fn nothing() -> SignalRef {
    0.0.into()
}

impl About for Motor {
    const KIND: &'static str = "motor";
    const SUMMARY: &'static str =
        "A torque between two frames about an axis: a signal, a servo that holds an angle, or both, within a limit.";

    fn sample() -> Self {
        Self {
            axis: [1.0, -2.0, 2.0].into(),
            torque: SignalRef::new("push", Signal::Harmonic(Harmonic::sample())),
            angle: 0.4.into(),
            stiffness: 3.0,
            damping: 0.2,
            limit: Some(2.0),
            limits: Some([-1.5, 3.0]),
        }
    }
}

impl Motor {
    /// The axis in the world, the torque, and the angular velocity about the axis.
    #[inline(always)]
    fn state<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> (Vec3<R>, R, R) {
        let axis = to_world(&at[0], self.axis.unit());
        let rate = axis.dot(at[1].omega - at[0].omega);
        let mut torque = now.value(&self.torque) - rate * self.damping;
        if self.stiffness != 0.0 {
            let missing = now.value(&self.angle) - angle(&at[0], &at[1], &self.axis, &self.axis);
            torque += wrapped_angle(missing) * self.stiffness;
        }
        if let Some(limit) = self.limit {
            torque = torque.min(R::from(limit)).max(R::from(-limit));
        }
        if let Some([low, high]) = self.limits {
            torque = torque.min(R::from(high)).max(R::from(low));
        }
        (axis, torque, rate)
    }
}

impl Force for Motor {
    type Markers = [Frame; 2];

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (axis, torque, _) = self.state(now, at);
        out[0] = Wrench::torque(-(axis * torque));
        out[1] = Wrench::torque(axis * torque);
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (_, torque, rate) = self.state(now, at);
        torque * rate
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.torque, &mut self.angle]
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        self.axis
            .defect("axis")
            .or_else(|| not_negative("stiffness", self.stiffness))
            .or_else(|| not_negative("damping", self.damping))
            .or_else(|| not_negative("limit", self.limit.unwrap_or(0.0)))
            .or_else(|| out_of_order("limits", self.limits?))
    }
}
