//! Forces and torques given by signals. What they do is supplied from outside: f·v and τ·ω.

use super::Force;
use crate::element::About;
use crate::model::{Frame, Instant, Place, Point, Wrench};
use crate::signals::{Harmonic, Signal, SignalRef, SmoothStep};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which axes a vector is given.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axes {
    /// The axes of the world: the direction stays.
    #[default]
    World,
    /// The axes of the marker: the direction turns with the body. A point without orientation has the axes of the world.
    Marker,
}

/// A vector of signals in the world frame.
#[inline(always)]
fn vector<R: Real>(signals: &[SignalRef; 3], axes: Axes, now: &Instant<'_, R>, at: &Place<R>) -> Vec3<R> {
    let given = Vec3([0, 1, 2].map(|i| now.value(&signals[i])));
    match axes {
        Axes::World => given,
        Axes::Marker => at.rotation * given,
    }
}

/// A force on a marker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppliedForce {
    /// The three components: numbers or names of signals.
    #[schemars(extend("unit" = "N"))]
    pub force: [SignalRef; 3],
    /// The axes in which the components are given.
    #[serde(default)]
    pub axes: Axes,
}

impl About for AppliedForce {
    const KIND: &'static str = "applied_force";
    const SUMMARY: &'static str = "A force on a point, given by signals, in world or marker axes.";

    fn sample() -> Self {
        let wave = SignalRef::new("wave", Signal::Harmonic(Harmonic::sample()));
        Self { force: [wave, (-2.0).into(), 0.6.into()], axes: Axes::Marker }
    }
}

impl Force for AppliedForce {
    type Markers = Point;

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        out[0] = Wrench::force(vector(&self.force, self.axes, now, &at[0]));
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        vector(&self.force, self.axes, now, &at[0]).dot(at[0].v)
    }
    fn objective(&self) -> bool {
        self.axes == Axes::Marker
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.force.iter_mut().collect()
    }
}

/// A torque on a marker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppliedTorque {
    /// The three components: numbers or names of signals.
    #[schemars(extend("unit" = "N m"))]
    pub torque: [SignalRef; 3],
    /// The axes in which the components are given.
    #[serde(default)]
    pub axes: Axes,
}

impl About for AppliedTorque {
    const KIND: &'static str = "applied_torque";
    const SUMMARY: &'static str = "A torque on a frame, given by signals, in world or marker axes.";

    fn sample() -> Self {
        let ramp = SignalRef::new("ramp", Signal::SmoothStep(SmoothStep::sample()));
        Self { torque: [0.7.into(), ramp, (-1.1).into()], axes: Axes::Marker }
    }
}

impl Force for AppliedTorque {
    type Markers = Frame;

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        out[0] = Wrench::torque(vector(&self.torque, self.axes, now, &at[0]));
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        vector(&self.torque, self.axes, now, &at[0]).dot(at[0].omega)
    }
    fn objective(&self) -> bool {
        self.axes == Axes::Marker
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.torque.iter_mut().collect()
    }
}
