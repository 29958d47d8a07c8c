//! A rotational spring and damper between two frames, about an axis of the first.
//!
//! Let a₁, a₂ be two unit vectors of the first frame that make a right-handed frame with the axis n, and b₁, b₂ the same
//! vectors of the second. With s = a₂·b₁ − a₁·b₂ and c = a₁·b₁ + a₂·b₂ the angle is φ = atan2(s, c): the angle of a hinge
//! about n, and the twist about n of any other relative rotation (for the relative quaternion (w, x) it is
//! 2 atan2(x·n, w)). Turning the second frame by δθ changes it by δφ = e·δθ,
//! e = (c ∇s − s ∇c)/(s² + c²), ∇s = b₁ × a₂ − b₂ × a₁, ∇c = b₁ × a₁ + b₂ × a₂; for a hinge e = n.
//! The torque on the second frame is −(k (φ − φ₀) + d φ̇) e with φ̇ = e·(ω₂ − ω₁), on the first its opposite.
//! The energy is ½ k (φ − φ₀)², the dissipation d φ̇².
//!
//! Places have no memory of turns: φ − φ₀ is taken in (−π, π], so the spring pulls to the nearest rest position and its
//! torque jumps half a turn away from it. A damper alone works over any number of turns.

use super::Force;
use crate::element::About;
use crate::model::{Frame, Instant, Param, Place, Wrench};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linear rotational spring–damper about an axis of the first of two frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotationalSpring {
    /// The axis n in the first frame (any length but zero); the z axis unless given.
    #[schemars(extend("unit" = "1"))]
    #[serde(default = "vertical")]
    pub axis: [f64; 3],
    /// Stiffness k.
    #[schemars(extend("unit" = "N m/rad"))]
    #[serde(default)]
    pub stiffness: Param,
    /// Damping d, not negative.
    #[schemars(extend("unit" = "N m s/rad"))]
    #[serde(default)]
    pub damping: Param,
    /// Angle φ₀ without torque; whole turns make no difference.
    #[schemars(extend("unit" = "rad"))]
    #[serde(default)]
    pub rest_angle: Param,
}

fn vertical() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

impl Default for RotationalSpring {
    fn default() -> Self {
        Self { axis: vertical(), stiffness: 0.0.into(), damping: 0.0.into(), rest_angle: 0.0.into() }
    }
}

impl About for RotationalSpring {
    const KIND: &'static str = "rotational_spring";
    const SUMMARY: &'static str = "A rotational spring and damper between two frames about an axis of the first.";

    fn sample() -> Self {
        Self { axis: [1.0, -2.0, 2.0], stiffness: 6.0.into(), damping: 0.5.into(), rest_angle: 0.3.into() }
    }
}

impl RotationalSpring {
    /// The deflection φ − φ₀ in (−π, π], and the direction e along which a small turn of the second frame changes it.
    #[inline(always)]
    fn deflection<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> (R, Vec3<R>) {
        let (first, second) = Vec3(self.axis).normalized().perpendiculars();
        let [a1, a2, b1, b2] = [at[0].axis(first.0), at[0].axis(second.0), at[1].axis(first.0), at[1].axis(second.0)];
        let (s, c) = (a2.dot(b1) - a1.dot(b2), a1.dot(b1) + a2.dot(b2));
        let squared = s.square() + c.square();
        // Where the axes point in opposite directions there is no angle; no torque is given there.
        let known = squared.gt(R::from(1e-24));
        let scale = R::select(known, squared, R::one()).recip();
        let scale = R::select(known, scale, R::zero());
        let slope = ((b1.cross(a2) - b2.cross(a1)) * c - (b1.cross(a1) + b2.cross(a2)) * s) * scale;
        let (s0, c0) = self.rest_angle.at(now).sin_cos();
        let (sine, cosine) = (s * c0 - c * s0, c * c0 + s * s0);
        let angle = R::select(known, sine, R::zero()).atan2(R::select(known, cosine, R::one()));
        (angle, slope)
    }
}

impl Force for RotationalSpring {
    type Markers = [Frame; 2];

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (angle, slope) = self.deflection(now, at);
        let rate = slope.dot(at[1].omega - at[0].omega);
        let torque = slope * (self.stiffness.at(now) * angle + self.damping.at(now) * rate);
        out[0] = Wrench::torque(torque);
        out[1] = Wrench::torque(-torque);
    }
    fn energy<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.stiffness.at(now) * self.deflection(now, at).0.square() * 0.5
    }
    fn dissipation<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let rate = self.deflection(now, at).1.dot(at[1].omega - at[0].omega);
        self.damping.at(now) * rate.square()
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        if self.axis == [0.0; 3] {
            return Some(("axis", "an axis must not be zero".to_owned()));
        }
        (self.damping.value() < 0.0)
            .then(|| ("damping", format!("damping must not be negative, found {}", self.damping.value())))
    }
}
