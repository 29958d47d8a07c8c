//! Prescribed (rheonomic) motion: an angle, a distance, a position or a speed follows a signal of time.
//!
//! ```text
//! angle      0 = θ − s(t), brought to [−π, π], so that the signal may run through any number of turns
//! distance   0 = |r_B − r_A| − s(t)
//! position   0 = e·d − s(t) for each direction e of the first frame
//! speed      0 = a·(ω_B − ω_A) − s(t)   or   0 = a·(v_B − v_A − ω_A × (r_B − r_A)) − s(t)
//! ```
//!
//! The first three hold positions, velocities and accelerations; the signal must be twice differentiable. The last
//! holds velocities only: the coordinate is what the speed adds up to. The multipliers are the driving torques and forces,
//! with the opposite sign, and their power is booked as supplied energy.

use super::{Constraint, Quantity, Rolling};
use crate::element::About;
use crate::joints::primitives::{along, angle, axes_defect, offset, relative_velocity, to_world, wrapped_angle};
use crate::joints::{Axis, Coordinate};
use crate::model::{Frame, Instant, Place, Point};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An angle about an axis that follows a signal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrescribedAngle {
    /// The axis in the frame of the first marker.
    #[serde(default)]
    pub axis: Axis,
    /// The axis in the frame of the second marker; the same numbers as `axis` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis_b: Option<Axis>,
    /// The angle of the second frame about the axis.
    #[schemars(extend("unit" = "rad"))]
    pub angle: SignalRef,
}

impl About for PrescribedAngle {
    const KIND: &'static str = "prescribed_angle";
    const SUMMARY: &'static str =
        "The angle between two frames about an axis follows a signal, through any number of turns.";

    fn sample() -> Self {
        let angle = SignalRef::new("swing", Signal::Harmonic(Harmonic::sample()));
        Self { axis: [1.0, 2.0, 2.0].into(), axis_b: Some([0.6, 0.0, 0.8].into()), angle }
    }
}

impl Constraint for PrescribedAngle {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Angle]
    }
    fn residual<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let own = self.axis_b.as_ref().unwrap_or(&self.axis);
        out[0] = wrapped_angle(angle(&at[0], &at[1], &self.axis, own) - self.angle.at(now.t));
    }
    fn rheonomic(&self) -> bool {
        true
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.angle]
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        axes_defect(&self.axis, self.axis_b.as_ref())
    }
}

/// A distance between two points that follows a signal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrescribedDistance {
    /// The distance, always positive.
    #[schemars(extend("unit" = "m"))]
    pub length: SignalRef,
}

impl About for PrescribedDistance {
    const KIND: &'static str = "prescribed_distance";
    const SUMMARY: &'static str = "A massless rod or winch whose length follows a signal.";

    fn sample() -> Self {
        let reel = Harmonic { amplitude: 0.4, frequency: Some(0.5), phase: 0.2, offset: 1.2, ..Harmonic::default() };
        Self { length: SignalRef::new("reel", Signal::Harmonic(reel)) }
    }
}

impl Constraint for PrescribedDistance {
    type Markers = [Point; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length]
    }
    fn residual<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = (at[1].r - at[0].r).norm() - self.length.at(now.t);
    }
    fn rheonomic(&self) -> bool {
        true
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.length]
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        match self.length {
            SignalRef::Number(length) if length <= 0.0 => {
                Some(("length", format!("a distance must be positive, not {length}")))
            }
            _ => None,
        }
    }
}

/// A position whose components follow signals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrescribedPosition {
    /// The directions, one to three, in the frame of the first marker.
    pub directions: Vec<Axis>,
    /// The components of the offset of the second marker along them, as many as directions.
    #[schemars(extend("unit" = "m"))]
    pub values: Vec<SignalRef>,
}

impl About for PrescribedPosition {
    const KIND: &'static str = "prescribed_position";
    const SUMMARY: &'static str = "Components of the position of the second marker in the first frame follow signals.";

    fn sample() -> Self {
        let shake = SignalRef::new("shake", Signal::Harmonic(Harmonic::sample()));
        Self { directions: vec![[1.0, 2.0, 2.0].into(), [0.6, 0.0, -0.8].into()], values: vec![shake, 0.7.into()] }
    }
}

impl Constraint for PrescribedPosition {
    type Markers = (Frame, Point);

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Length; self.directions.len()]
    }
    fn residual<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let d = offset(at);
        for ((out, direction), value) in out.iter_mut().zip(&self.directions).zip(&self.values) {
            *out = along(d, direction.unit()) - value.at(now.t);
        }
    }
    fn rheonomic(&self) -> bool {
        true
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.values.iter_mut().collect()
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        let (count, found) = (self.directions.len(), self.values.len());
        if !(1..=3).contains(&count) {
            return Some(("directions", format!("one to three directions are needed, found {count}")));
        }
        if found != count {
            return Some(("values", format!("as many values as directions ({count}) are needed, found {found}")));
        }
        self.directions.iter().find_map(|direction| direction.defect("directions"))
    }
}

/// The speed of an angle or a travel that follows a signal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoordinateSpeed {
    /// What moves: `angle` or `travel`.
    pub of: Coordinate,
    /// The axis in the frame of the first marker.
    #[serde(default)]
    pub axis: Axis,
    /// The speed of the second marker against the first, about or along the axis.
    #[schemars(extend("unit" = "rad/s or m/s"))]
    pub speed: SignalRef,
}

impl About for CoordinateSpeed {
    const KIND: &'static str = "coordinate_speed";
    const SUMMARY: &'static str = "A motor: the speed of an angle or a travel between two frames follows a signal.";

    fn sample() -> Self {
        let speed = SignalRef::new("motor", Signal::Harmonic(Harmonic::sample()));
        Self { of: Coordinate::Travel, axis: [2.0, -1.0, 2.0].into(), speed }
    }
}

impl Rolling for CoordinateSpeed {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![match self.of {
            Coordinate::Angle => Quantity::AngularVelocity,
            Coordinate::Travel => Quantity::Velocity,
        }]
    }
    fn residual<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let motion = match self.of {
            Coordinate::Angle => at[1].omega - at[0].omega,
            Coordinate::Travel => relative_velocity(&at[0], at[1].r, at[1].v),
        };
        out[0] = to_world(&at[0], self.axis.unit()).dot(motion) - self.speed.at(now.t);
    }
    fn rheonomic(&self) -> bool {
        true
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.speed]
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        self.axis.defect("axis")
    }
}
