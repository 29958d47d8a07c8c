//! Drag of a medium on a point.
//!
//! With u = v − w the velocity relative to the medium, the force is −(c₁ + c₂ |u|) u. In the medium it always turns
//! energy to heat, c₁ u² + c₂ |u|³; a moving medium supplies the power f·w, so that f·v = −(c₁ u² + c₂ |u|³) + f·w.

use super::Force;
use crate::element::About;
use crate::model::{Instant, Param, Place, Point, Wrench};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Linear and quadratic drag on a marker, against the velocity relative to a medium.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drag {
    /// Linear coefficient c₁, not negative (6πηa for a slow sphere).
    #[schemars(extend("unit" = "N s/m"))]
    #[serde(default)]
    pub linear: Param,
    /// Quadratic coefficient c₂, not negative (½ρ c_d A for a fast body).
    #[schemars(extend("unit" = "N s²/m²"))]
    #[serde(default)]
    pub quadratic: Param,
    /// Velocity w of the medium in the world frame: numbers or names of signals; at rest unless given.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default = "at_rest")]
    pub medium_velocity: [SignalRef; 3],
}

fn at_rest() -> [SignalRef; 3] {
    [0.0, 0.0, 0.0].map(SignalRef::Number)
}

impl Default for Drag {
    fn default() -> Self {
        Self { linear: 0.0.into(), quadratic: 0.0.into(), medium_velocity: at_rest() }
    }
}

impl About for Drag {
    const KIND: &'static str = "drag";
    const SUMMARY: &'static str = "Linear and quadratic drag of a medium, at rest or moving, on a point.";

    fn sample() -> Self {
        let gust = SignalRef::new("gust", Signal::Harmonic(Harmonic::sample()));
        Self { linear: 0.8.into(), quadratic: 0.3.into(), medium_velocity: [gust, 0.4.into(), (-0.7).into()] }
    }
}

impl Drag {
    /// Velocity of the medium, force on the marker, heat per time.
    #[inline(always)]
    fn evaluate<R: Real>(&self, now: &Instant<'_, R>, at: &Place<R>) -> (Vec3<R>, Vec3<R>, R) {
        let medium = Vec3([0, 1, 2].map(|i| now.value(&self.medium_velocity[i])));
        let relative = at.v - medium;
        let squared = relative.norm_squared();
        let moving = squared.gt(R::zero());
        let speed = R::select(moving, R::select(moving, squared, R::one()).sqrt(), R::zero());
        let coefficient = self.linear.at(now) + self.quadratic.at(now) * speed;
        (medium, -relative * coefficient, coefficient * squared)
    }
}

impl Force for Drag {
    type Markers = Point;

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (_, force, _) = self.evaluate(now, &at[0]);
        out[0] = Wrench::force(force);
    }
    fn dissipation<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.evaluate(now, &at[0]).2
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (medium, force, _) = self.evaluate(now, &at[0]);
        force.dot(medium)
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.medium_velocity.iter_mut().collect()
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        [("linear", self.linear), ("quadratic", self.quadratic)].into_iter().find_map(|(key, c)| {
            (c.value() < 0.0).then(|| (key, format!("a drag coefficient must not be negative, found {}", c.value())))
        })
    }
}
