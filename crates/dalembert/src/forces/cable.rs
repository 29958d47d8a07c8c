//! A cable through any number of points: the spatial tendon of robots.
//!
//! Its length is the sum of the straight pieces between neighbouring points, and its tension, the same in all of them, pulls every point
//! towards its neighbours. With a play that begins at zero it never pushes, however short it becomes, but by its damper and its pull.

use super::Force;
use super::line::{Line, nothing};
use super::spring::stretch;
use crate::element::About;
use crate::model::{Instant, Place, Point, Wrench};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A spring, a damper and a pull along a line through points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cable {
    /// Stiffness.
    #[schemars(extend("unit" = "N/m"))]
    #[serde(default)]
    pub stiffness: f64,
    /// Damping, not negative.
    #[schemars(extend("unit" = "N s/m"))]
    #[serde(default)]
    pub damping: f64,
    /// The lengths between which the spring is slack: the shortest and the longest.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub rest: [f64; 2],
    /// A further tension, a number or the name of a signal.
    #[schemars(extend("unit" = "N"))]
    #[serde(default = "nothing")]
    pub pull: SignalRef,
    /// The smallest and the largest tension; with them the cable is a servo, whose power is supplied.
    #[schemars(extend("unit" = "N"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<[f64; 2]>,
}

impl About for Cable {
    const KIND: &'static str = "cable";
    const SUMMARY: &'static str =
        "A cable through points: straight between neighbours, with stiffness, damping and a given pull.";

    fn sample() -> Self {
        Self {
            stiffness: 7.0,
            damping: 0.4,
            rest: [0.2, 0.9],
            pull: SignalRef::new("winch", Signal::Harmonic(Harmonic::sample())),
            limits: None,
        }
    }
}

impl Cable {
    fn line(&self) -> Line<'_> {
        let Self { stiffness, damping, rest, ref pull, limits } = *self;
        Line { stiffness, damping, rest, pull, limits }
    }

    /// The length of the cable and its rate.
    fn length<R: Real>(at: &[Place<R>]) -> (R, R) {
        at.windows(2).fold((R::zero(), R::zero()), |(length, rate), piece| {
            let (_, own, speed) = stretch(piece);
            (length + own, rate + speed)
        })
    }
}

impl Force for Cable {
    type Markers = Vec<Point>;

    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (length, rate) = Self::length(at);
        let tension = self.line().tension(now, length, rate);
        out.fill(Wrench::default());
        for (k, piece) in at.windows(2).enumerate() {
            let pull = stretch(piece).0 * tension;
            out[k].force += pull;
            out[k + 1].force -= pull;
        }
    }
    fn energy<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.line().energy(Self::length(at).0)
    }
    fn dissipation<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.line().dissipation(Self::length(at).1)
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (length, rate) = Self::length(at);
        self.line().supply(now, length, rate)
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.pull]
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        self.line().defect()
    }
    fn outputs(&self) -> Vec<(&'static str, &'static str)> {
        vec![("length", "m"), ("tension", "N")]
    }
    fn output<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (length, rate) = Self::length(at);
        (out[0], out[1]) = (length, self.line().tension(now, length, rate));
    }
}
