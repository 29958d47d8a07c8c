//! A muscle as a Voigt element: an active spring and a dashpot side by side, between two points (\[1\], eq. (1)–(2)).
//!
//! With length l = |r₂ − r₁|, stretch s = l − l₀ and activation a(t) the tension is
//!
//! ```text
//! T = a(t) F(s) h(l̇) + P(s) + d l̇        F(s) = k s, or any active law;  P: passive law;  h: force–velocity factor, h(0) = 1
//! ```
//!
//! The linear muscle of \[1\] has F = k s, P = 0, h = 1. Energy is kept as U = a ∫F ds + ∫P ds, what the element would give
//! back at constant activation. The rest of the account follows from T l̇ = dU/dt + dissipation − supply:
//!
//! ```text
//! dissipation = d l̇² + max(0, a F (h − 1) l̇)
//! supply      = ȧ ∫F ds − min(0, a F (h − 1) l̇)
//! ```
//!
//! A muscle that pulls (a F ≥ 0) loses a F (h − 1) l̇ ≥ 0 both ways: it pulls less while it shortens, more while it is
//! lengthened. The force–velocity factor is Hill's hyperbola \[2\] in w = l̇/v_max, and for lengthening a hyperbola that
//! joins it with the same slope:
//!
//! ```text
//! h = (1 + w)/(1 − w/κ)             −1 ≤ w < 0, and 0 below
//! h = 1 + (e − 1) w/(w + β)          w ≥ 0, β = (e − 1) κ/(κ + 1)
//! ```
//!
//! Departures: \[1\] names the stiffness itself the activation; here it is a ∈ \[0, 1\] times a stiffness k. Activation
//! must lie in \[0, 1\] when a run starts; afterwards it is used as the signal gives it.
//!
//! References: \[1\] Alscher: Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech,
//! Bielefeld. \[2\] Hill: The heat of shortening and the dynamic constants of muscle, Proc. R. Soc. B 126 (1938) 136–195.

use super::spring::stretch;
use super::{Force, Law};
use crate::element::About;
use crate::model::{Instant, Param, Place, Point, Wrench};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A muscle along the line between two markers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Muscle {
    /// Activation a(t) from 0 to 1, a number or the name of a signal. Outside this range at the start is an error; later it
    /// is used as it comes.
    #[schemars(extend("unit" = "1"))]
    pub activation: SignalRef,
    /// Stiffness k of the linear active law at full activation.
    #[schemars(extend("unit" = "N/m"))]
    #[serde(default)]
    pub stiffness: Param,
    /// Length l₀ at which the stretch is zero.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub rest_length: Param,
    /// Damping d, not negative.
    #[schemars(extend("unit" = "N s/m"))]
    #[serde(default)]
    pub damping: Param,
    /// Active tension at full activation as a law of the stretch, in place of a stiffness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<Law>,
    /// Passive tension as a law of the stretch, whatever the activation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passive: Option<Law>,
    /// How the active tension depends on the rate of the length; it does not unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_velocity: Option<ForceVelocity>,
}

/// The factor of the active tension in motion: Hill's hyperbola for shortening, a second one for lengthening.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForceVelocity {
    /// Speed v_max of shortening at which no active tension is left, positive.
    #[schemars(extend("unit" = "m/s"))]
    pub maximum_velocity: f64,
    /// Shape κ of the hyperbola, positive; small values bend it more.
    #[schemars(extend("unit" = "1"))]
    #[serde(default = "usual_curvature")]
    pub curvature: f64,
    /// The factor e that fast lengthening tends to, above 1.
    #[schemars(extend("unit" = "1"))]
    #[serde(default = "usual_lengthening")]
    pub lengthening: f64,
}

fn usual_curvature() -> f64 {
    0.25
}

fn usual_lengthening() -> f64 {
    1.5
}

impl ForceVelocity {
    /// The factor h at a rate of length in m/s.
    #[inline(always)]
    pub fn factor<R: Real>(&self, rate: R) -> R {
        let w = rate / self.maximum_velocity;
        let shortening = w.lt(R::zero());
        // Each branch is computed from a rate of its own side, where its denominator is at least 1 or β.
        let down = R::select(shortening, w, R::zero()).max(R::from(-1.0));
        let up = R::select(shortening, R::zero(), w);
        let beta = (self.lengthening - 1.0) * self.curvature / (self.curvature + 1.0);
        let concentric = (down + 1.0) / (-down / self.curvature + 1.0);
        let eccentric = up * (self.lengthening - 1.0) / (up + beta) + 1.0;
        R::select(shortening, concentric, eccentric)
    }

    fn defect(&self) -> Option<String> {
        let checks = [
            ("maximum_velocity", self.maximum_velocity, 0.0),
            ("curvature", self.curvature, 0.0),
            ("lengthening", self.lengthening, 1.0),
        ];
        checks.into_iter().find_map(|(key, value, low)| {
            (!(value > low && value.is_finite()))
                .then(|| format!("`{key}` must be above {low} and finite, found {value}"))
        })
    }
}

impl About for Muscle {
    const KIND: &'static str = "muscle";
    const SUMMARY: &'static str =
        "A muscle between two points: an active spring with activation, a passive law and a damper.";
    const REFERENCES: &'static [&'static str] = &[
        "Alscher, Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech, eq. (1)–(2)",
        "Hill, The heat of shortening and the dynamic constants of muscle, Proc. R. Soc. B 126 (1938) 136–195",
    ];

    fn sample() -> Self {
        let twitch = Harmonic { amplitude: 0.3, frequency: Some(0.7), phase: 0.4, offset: 0.5, ..Harmonic::default() };
        Self {
            activation: SignalRef::new("twitch", Signal::Harmonic(twitch)),
            stiffness: 16.0.into(),
            rest_length: 0.2.into(),
            damping: 0.1.into(),
            active: None,
            passive: Some(Law::Polynomial(vec![3.0.into(), 0.0.into(), 5.0.into()])),
            force_velocity: Some(ForceVelocity { maximum_velocity: 3.0, curvature: 0.25, lengthening: 1.5 }),
        }
    }
}

/// The state of a muscle, from which tension and energies are put together.
struct Pull<R> {
    /// Activation and active tension at full activation without motion.
    active: [R; 2],
    passive: R,
    /// What the force–velocity factor adds to the active tension.
    motion: R,
    damping: R,
    rate: R,
}

impl<R: Real> Pull<R> {
    fn tension(&self) -> R {
        self.active[0] * self.active[1] + self.motion + self.passive + self.damping * self.rate
    }
}

impl Muscle {
    /// A linear muscle: the law of the document, \[1\] eq. (2).
    pub fn linear(stiffness: f64, rest_length: f64, damping: f64, activation: SignalRef) -> Self {
        Self {
            activation,
            stiffness: stiffness.into(),
            rest_length: rest_length.into(),
            damping: damping.into(),
            active: None,
            passive: None,
            force_velocity: None,
        }
    }

    #[inline(always)]
    fn pull<R: Real>(&self, now: &Instant<'_, R>, length: R, rate: R) -> Pull<R> {
        let s = length - self.rest_length.at(now);
        let full = match &self.active {
            Some(law) => law.tension(now, s),
            None => self.stiffness.at(now) * s,
        };
        let a = now.value(&self.activation);
        Pull {
            active: [a, full],
            passive: self.passive.as_ref().map_or(R::zero(), |law| law.tension(now, s)),
            motion: self.force_velocity.map_or(R::zero(), |h| a * full * (h.factor(rate) - 1.0)),
            damping: self.damping.at(now),
            rate,
        }
    }

    /// Dissipation and supply.
    #[inline(always)]
    fn powers<R: Real>(&self, now: &Instant<'_, R>, length: R, pull: &Pull<R>) -> (R, R) {
        let quickening = now.moving(&self.activation).eps[0];
        let motion = pull.motion * pull.rate;
        let store = self.store(now, length - self.rest_length.at(now));
        (pull.damping * pull.rate.square() + motion.max(R::zero()), quickening * store - motion.min(R::zero()))
    }

    /// ∫F ds from zero stretch: what full activation would store.
    #[inline(always)]
    fn store<R: Real>(&self, now: &Instant<'_, R>, s: R) -> R {
        match &self.active {
            Some(law) => law.energy(now, s),
            None => self.stiffness.at(now) * s.square() * 0.5,
        }
    }
}

impl Force for Muscle {
    type Markers = [Point; 2];

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (direction, length, rate) = stretch(at);
        let force = direction * self.pull(now, length, rate).tension();
        out[0] = Wrench::force(force);
        out[1] = Wrench::force(-force);
    }
    fn energy<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (_, length, _) = stretch(at);
        let s = length - self.rest_length.at(now);
        let passive = self.passive.as_ref().map_or(R::zero(), |law| law.energy(now, s));
        now.value(&self.activation) * self.store(now, s) + passive
    }
    fn dissipation<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.account(now, at).0
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.account(now, at).1
    }
    fn account<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> (R, R) {
        let (_, length, rate) = stretch(at);
        self.powers(now, length, &self.pull(now, length, rate))
    }
    #[inline(always)]
    fn apply_and_account<R: Real>(
        &self,
        now: &Instant<'_, R>,
        at: &[Place<R>],
        out: &mut [Wrench<R>],
        _rates: &mut [R],
    ) -> Option<(R, R)> {
        let (direction, length, rate) = stretch(at);
        let pull = self.pull(now, length, rate);
        let force = direction * pull.tension();
        out[0] = Wrench::force(force);
        out[1] = Wrench::force(-force);
        Some(self.powers(now, length, &pull))
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.activation]
    }
    fn outputs(&self) -> Vec<(&'static str, &'static str)> {
        vec![("length", "m"), ("activation", "1"), ("tension", "N")]
    }
    fn output<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (_, length, rate) = stretch(at);
        let pull = self.pull(now, length, rate);
        out.copy_from_slice(&[length, pull.active[0], pull.tension()]);
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        for (key, value) in
            [("stiffness", self.stiffness), ("damping", self.damping), ("rest_length", self.rest_length)]
        {
            if value.value() < 0.0 {
                return Some((key, format!("`{key}` must not be negative, found {}", value.value())));
            }
        }
        if self.active.is_some() && self.stiffness.value() != 0.0 {
            return Some(("stiffness", "give either a stiffness or an active law, not both".to_owned()));
        }
        let laws = [("active", &self.active), ("passive", &self.passive)];
        let defect = laws.into_iter().find_map(|(key, law)| Some((key, law.as_ref()?.defect()?)));
        defect.or_else(|| Some(("force_velocity", self.force_velocity?.defect()?)))
    }
    fn defect_at(&self, now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        let (_, length, _) = stretch(at);
        if length <= 0.0 {
            return Some(("between", "the points coincide: a muscle of length zero has no direction".to_owned()));
        }
        let a = now.value(&self.activation);
        (!(0.0..=1.0).contains(&a))
            .then(|| ("activation", format!("activation must lie between 0 and 1, but is {a} at t = {} s", now.t)))
    }
}
