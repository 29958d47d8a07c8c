//! No slip along given directions: the velocity of the second marker against the body of the first.
//!
//! Rows: e·(v_B − v_A − ω_A × (r_B − r_A)) − s(t) for each direction e, which is fixed in the frame of either marker; s is zero unless
//! a speed is given. With one direction of the second frame it is a [`KnifeEdge`]: the blade of a skate or sleigh, a
//! wheel seen from above.

use super::{Quantity, Rolling};
use crate::element::About;
use crate::joints::Axis;
use crate::joints::primitives::{relative_velocity, to_world};
use crate::model::{Frame, Instant, Place};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of two markers a direction is fixed to.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixedIn {
    /// The frame of the first marker.
    First,
    /// The frame of the second marker.
    #[default]
    Second,
}

/// A point that does not slip along some directions, or slips with given speeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoSlip {
    /// The directions, one to three.
    pub directions: Vec<Axis>,
    /// The frame the directions are fixed in.
    #[serde(default)]
    pub fixed_in: FixedIn,
    /// The speeds along them, as many as directions; all zero unless given.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub speeds: Vec<SignalRef>,
}

impl About for NoSlip {
    const KIND: &'static str = "no_slip";
    const SUMMARY: &'static str =
        "The second marker does not slip on the body of the first along given directions (or slips with given speeds).";

    fn sample() -> Self {
        let slide = SignalRef::new("slide", Signal::Harmonic(Harmonic::sample()));
        Self {
            directions: vec![[1.0, 2.0, -2.0].into(), [0.6, 0.0, 0.8].into()],
            fixed_in: FixedIn::First,
            speeds: vec![slide, 0.3.into()],
        }
    }
}

impl Rolling for NoSlip {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Velocity; self.directions.len()]
    }
    fn residual<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let slip = relative_velocity(&at[0], at[1].r, at[1].v);
        let frame = match self.fixed_in {
            FixedIn::First => &at[0],
            FixedIn::Second => &at[1],
        };
        for (i, (out, direction)) in out.iter_mut().zip(&self.directions).enumerate() {
            let speed = self.speeds.get(i).map_or(R::zero(), |speed| speed.at(now.t));
            *out = to_world(frame, direction.unit()).dot(slip) - speed;
        }
    }
    fn rheonomic(&self) -> bool {
        !self.speeds.is_empty()
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.speeds.iter_mut().collect()
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        let count = self.directions.len();
        if !(1..=3).contains(&count) {
            return Some(("directions", format!("one to three directions are needed, found {count}")));
        }
        if !self.speeds.is_empty() && self.speeds.len() != count {
            let found = self.speeds.len();
            return Some(("speeds", format!("as many speeds as directions ({count}) are needed, found {found}")));
        }
        self.directions.iter().find_map(|direction| direction.defect("directions"))
    }
}

/// A blade: no velocity along one direction of its own frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnifeEdge {
    /// The direction across the blade, in the frame of the second marker.
    #[serde(default = "sideways")]
    pub across: Axis,
}

fn sideways() -> Axis {
    Axis::Y.into()
}

impl Default for KnifeEdge {
    fn default() -> Self {
        Self { across: sideways() }
    }
}

impl About for KnifeEdge {
    const KIND: &'static str = "knife_edge";
    const SUMMARY: &'static str = "A blade at the second marker: it does not move sideways on the body of the first.";
    const REFERENCES: &'static [&'static str] =
        &["Neimark, Fufaev: Dynamics of nonholonomic systems (1972), chapter II (Chaplygin's sleigh)"];

    fn sample() -> Self {
        Self { across: [0.6, -0.8, 0.0].into() }
    }
}

impl Rolling for KnifeEdge {
    type Markers = [Frame; 2];

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Velocity]
    }
    fn residual<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = to_world(&at[1], self.across.unit()).dot(relative_velocity(&at[0], at[1].r, at[1].v));
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        self.across.defect("across")
    }
}
