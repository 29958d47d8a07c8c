//! A linear spring and damper between two points.
//!
//! With length l = |r₂ − r₁| the tension is k (l − l₀) + d l̇; its energy is ½ k (l − l₀)², its dissipation d l̇².

use super::Force;
use crate::element::About;
use crate::model::{Instant, Param, Place, Point, Wrench};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A linear spring–damper along the line between two markers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spring {
    /// Stiffness k.
    #[schemars(extend("unit" = "N/m"))]
    #[serde(default)]
    pub stiffness: Param,
    /// Damping d, not negative.
    #[schemars(extend("unit" = "N s/m"))]
    #[serde(default)]
    pub damping: Param,
    /// Length l₀ without tension.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub rest_length: Param,
}

impl About for Spring {
    const KIND: &'static str = "spring";
    const SUMMARY: &'static str = "A linear spring and damper between two points.";

    fn sample() -> Self {
        Self { stiffness: 40.0.into(), damping: 0.7.into(), rest_length: 0.5.into() }
    }
}

/// Unit vector from the first to the second point, length, and rate of length.
///
/// Where the points coincide the direction is undefined; it is taken as zero there, so a spring of zero rest length
/// passes through without a jump.
#[inline(always)]
pub(crate) fn stretch<R: Real>(at: &[Place<R>]) -> (Vec3<R>, R, R) {
    let gap = at[1].r - at[0].r;
    let squared = gap.norm_squared();
    let apart = squared.gt(R::zero());
    let length = R::select(apart, squared, R::one()).sqrt();
    let scale = R::select(apart, length.recip(), R::zero());
    let direction = gap * scale;
    (direction, R::select(apart, length, R::zero()), direction.dot(at[1].v - at[0].v))
}

/// What is wrong with a spring of length zero that is not relaxed there.
pub(super) const COINCIDE: &str = "the points coincide: a spring of length zero that is not relaxed has no direction";

impl Force for Spring {
    type Markers = [Point; 2];

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (direction, length, rate) = stretch(at);
        let tension = self.stiffness.at(now) * (length - self.rest_length.at(now)) + self.damping.at(now) * rate;
        out[0] = Wrench::force(direction * tension);
        out[1] = Wrench::force(-direction * tension);
    }
    fn energy<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (_, length, _) = stretch(at);
        self.stiffness.at(now) * (length - self.rest_length.at(now)).square() * 0.5
    }
    fn dissipation<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (_, _, rate) = stretch(at);
        self.damping.at(now) * rate.square()
    }
    fn still(&self) -> bool {
        self.damping == Param::Fixed(0.0)
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        if self.damping.value() < 0.0 {
            return Some(("damping", format!("damping must not be negative, found {}", self.damping.value())));
        }
        (self.rest_length.value() < 0.0)
            .then(|| ("rest_length", format!("a length must not be negative, found {}", self.rest_length.value())))
    }
    fn defect_at(&self, _now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        let pulls = self.stiffness.value() * self.rest_length.value() != 0.0;
        (pulls && stretch(at).1 <= 0.0).then(|| ("between", COINCIDE.to_owned()))
    }
}
