//! A motor on a slide: a force along an axis of the first of two frames, given by a signal, by a servo, or by both, within limits.
//!
//! With the axis n of the first frame and the travel x of the second along it the force on the second frame is
//!
//! ```text
//! f n,   f = clamp(u + k (x* − x) − d ẋ, f_min, f_max)
//! ```
//!
//! with the force u and the wanted travel x* of signals. The first frame feels the opposite at the same place. All of the power f ẋ is supplied.

use super::Force;
use super::line::{not_negative, nothing, out_of_order};
use crate::element::About;
use crate::joints::{Axis, Coordinate};
use crate::model::{Frame, Instant, Place, Wrench};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A force between two frames along an axis of the first, within limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearMotor {
    /// The axis in the first frame.
    #[serde(default)]
    pub axis: Axis,
    /// The force on the second frame, a number or the name of a signal.
    #[schemars(extend("unit" = "N"))]
    #[serde(default = "nothing")]
    pub force: SignalRef,
    /// The travel that the servo wants, a number or the name of a signal.
    #[schemars(extend("unit" = "m"))]
    #[serde(default = "nothing")]
    pub travel: SignalRef,
    /// Force of the servo per travel that is missing.
    #[schemars(extend("unit" = "N/m"))]
    #[serde(default)]
    pub stiffness: f64,
    /// Force of the servo against the speed.
    #[schemars(extend("unit" = "N s/m"))]
    #[serde(default)]
    pub damping: f64,
    /// The smallest and the largest force; none if left out.
    #[schemars(extend("unit" = "N"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<[f64; 2]>,
}

impl About for LinearMotor {
    const KIND: &'static str = "linear_motor";
    const SUMMARY: &'static str =
        "A force between two frames along an axis: a signal, a servo that holds a travel, or both, within limits.";

    fn sample() -> Self {
        Self {
            axis: [1.0, -2.0, 2.0].into(),
            force: SignalRef::new("push", Signal::Harmonic(Harmonic::sample())),
            travel: 0.4.into(),
            stiffness: 3.0,
            damping: 0.2,
            limits: Some([-1.0, 2.0]),
        }
    }
}

impl LinearMotor {
    /// The force and the speed.
    fn state<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> (R, R) {
        let speed = Coordinate::Travel.speed(&self.axis, at);
        let missing = now.value(&self.travel) - Coordinate::Travel.of(&self.axis, at);
        let mut force = now.value(&self.force) + missing * self.stiffness - speed * self.damping;
        if let Some([low, high]) = self.limits {
            force = force.min(R::from(high)).max(R::from(low));
        }
        (force, speed)
    }
}

impl Force for LinearMotor {
    type Markers = [Frame; 2];

    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (force, _) = self.state(now, at);
        for (out, unit) in out.iter_mut().zip(Coordinate::Travel.gradient(&self.axis, at)) {
            *out = Wrench { force: unit.force * force, torque: unit.torque * force };
        }
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (force, speed) = self.state(now, at);
        force * speed
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.force, &mut self.travel]
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        self.axis
            .defect("axis")
            .or_else(|| not_negative("stiffness", self.stiffness))
            .or_else(|| not_negative("damping", self.damping))
            .or_else(|| out_of_order("limits", self.limits?))
    }
}
