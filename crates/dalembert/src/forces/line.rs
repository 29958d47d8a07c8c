//! What pulls along a line of variable length: a spring with a play, a damper, a given pull, and perhaps limits.
//!
//! With the length L and its rate L̇ the tension is
//!
//! ```text
//! T = k (L − L₁) + d L̇ + u(t)     for L > L₁,      T = k (L − L₀) + d L̇ + u(t)     for L < L₀,      T = d L̇ + u(t) between them.
//! ```
//!
//! Without limits the spring stores ½ k (L − L₀₁)², the damper turns d L̇² to heat and the pull supplies −u L̇. Within limits the whole is a servo:
//! all of its power −T L̇ is supplied.

use crate::model::Instant;
use crate::signals::SignalRef;
use dalembert_methods::Real;

/// The law of a line.
pub(super) struct Line<'a> {
    pub stiffness: f64,
    pub damping: f64,
    pub rest: [f64; 2],
    pub pull: &'a SignalRef,
    pub limits: Option<[f64; 2]>,
}

impl Line<'_> {
    /// How far the line is from its play.
    fn stretch<R: Real>(&self, length: R) -> R {
        let [low, high] = self.rest;
        let (over, under) = (length - high, length - low);
        over.max(R::zero()) + under.min(R::zero())
    }

    /// The tension.
    pub fn tension<R: Real>(&self, now: &Instant<'_, R>, length: R, rate: R) -> R {
        let tension = self.stretch(length) * self.stiffness + rate * self.damping + now.value(self.pull);
        match self.limits {
            Some([low, high]) => tension.min(R::from(high)).max(R::from(low)),
            None => tension,
        }
    }

    /// The energy stored.
    pub fn energy<R: Real>(&self, length: R) -> R {
        if self.limits.is_some() { R::zero() } else { self.stretch(length).square() * (0.5 * self.stiffness) }
    }

    /// The power turned to heat.
    pub fn dissipation<R: Real>(&self, rate: R) -> R {
        if self.limits.is_some() { R::zero() } else { rate.square() * self.damping }
    }

    /// The power supplied.
    pub fn supply<R: Real>(&self, now: &Instant<'_, R>, length: R, rate: R) -> R {
        let pull = if self.limits.is_some() { self.tension(now, length, rate) } else { now.value(self.pull) };
        -(pull * rate)
    }

    /// What is wrong with it, if anything.
    pub fn defect(&self) -> Option<(&'static str, String)> {
        not_negative("stiffness", self.stiffness)
            .or_else(|| not_negative("damping", self.damping))
            .or_else(|| out_of_order("rest", self.rest))
            .or_else(|| out_of_order("limits", self.limits?))
    }
}

/// What is wrong with a gain, if anything.
pub(super) fn not_negative(key: &'static str, gain: f64) -> Option<(&'static str, String)> {
    (!(gain >= 0.0 && gain.is_finite())).then(|| (key, format!("must be finite and not negative, not {gain}")))
}

/// What is wrong with a range, if anything.
pub(super) fn out_of_order(key: &'static str, [low, high]: [f64; 2]) -> Option<(&'static str, String)> {
    (low.is_nan() || high.is_nan() || low > high)
        .then(|| (key, format!("the lower value comes first, found [{low}, {high}]")))
}

/// No pull.
pub(super) fn nothing() -> SignalRef {
    0.0.into()
}
