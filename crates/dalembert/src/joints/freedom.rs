//! A freedom between two frames: the angle about an axis of the first, or the travel along it.
//!
//! The angle is that of a hinge, in (−π, π]; between frames that no hinge joins it is the twist of their relative rotation
//! ([`super::primitives::angle`]). The travel is the component of the offset along the axis. What a unit force on a freedom does to the two frames
//! is its gradient: e on the second frame with δx = e·δθ for an angle, and the axis at the second point for a travel. Both frames turn and shift
//! together without changing x, so the first frame takes what balances it.

use super::Axis;
use super::primitives::{along, angle, offset, to_world};
use crate::model::{Place, Wrench};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which coordinate of a joint is meant.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coordinate {
    /// The angle about the axis, in rad.
    Angle,
    /// The travel along the axis, in m.
    Travel,
}

impl Coordinate {
    /// The unit of the force on it.
    pub fn force_unit(self) -> &'static str {
        match self {
            Self::Angle => "N m",
            Self::Travel => "N",
        }
    }

    /// Its unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Angle => "rad",
            Self::Travel => "m",
        }
    }

    /// The coordinate of the second of two frames against the first.
    pub(crate) fn of<R: Real>(self, axis: &Axis, at: &[Place<R>]) -> R {
        match self {
            Self::Angle => angle(&at[0], &at[1], axis, axis),
            Self::Travel => along(offset(at), axis.unit()),
        }
    }

    /// Its gradient: the wrenches of a unit force on the two frames.
    pub(crate) fn gradient<R: Real>(self, axis: &Axis, at: &[Place<R>]) -> [Wrench<R>; 2] {
        match self {
            Self::Angle => {
                // δφ of a small turn of the second frame; see `RotationalSpring`.
                let [a, b] = axis.across();
                let [a1, a2] = [a, b].map(|v| to_world(&at[0], v));
                let [b1, b2] = [a, b].map(|v| to_world(&at[1], v));
                let (s, c) = (a2.dot(b1) - a1.dot(b2), a1.dot(b1) + a2.dot(b2));
                let squared = s.square() + c.square();
                // Where the axes point in opposite directions there is no angle, and nothing turns it.
                let known = squared.gt(R::from(1e-24));
                let scale = R::select(known, R::select(known, squared, R::one()).recip(), R::zero());
                let slope = ((b1.cross(a2) - b2.cross(a1)) * c - (b1.cross(a1) + b2.cross(a2)) * s) * scale;
                [Wrench::torque(-slope), Wrench::torque(slope)]
            }
            Self::Travel => {
                let axis = to_world(&at[0], axis.unit());
                let arm = at[1].r - at[0].r;
                [Wrench { force: -axis, torque: -arm.cross(axis) }, Wrench::force(axis)]
            }
        }
    }

    /// Its speed.
    pub(crate) fn speed<R: Real>(self, axis: &Axis, at: &[Place<R>]) -> R {
        let [first, second] = self.gradient(axis, at);
        first.power(&at[0]) + second.power(&at[1])
    }
}
