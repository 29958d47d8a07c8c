//! A tendon over joints: it lengthens in proportion to their coordinates, as one that runs over pulleys of fixed radius.
//!
//! With the coordinates x of pairs of frames and the coefficients c the length is L = Σ c x, and a tension T acts on each coordinate with −c T. For
//! angles a coefficient is the radius of the pulley. Places have no memory of turns: angles are taken in (−π, π].

use super::Force;
use super::line::{Line, nothing};
use crate::element::About;
use crate::joints::{Axis, Coordinate};
use crate::model::{Frame, Instant, Place, Wrench};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A joint that a tendon runs over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pulley {
    /// What moves: `angle` or `travel`.
    pub of: Coordinate,
    /// The axis in the first frame of the pair; the same numbers are taken in the second.
    #[serde(default)]
    pub axis: Axis,
    /// By how much the tendon lengthens for a unit of it: for angles the radius of the pulley.
    #[schemars(extend("unit" = "m/rad or 1"))]
    pub coefficient: f64,
}

/// A spring, a damper and a pull along a tendon over joints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointTendon {
    /// The joints, one for each pair of frames.
    pub pulleys: Vec<Pulley>,
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
    /// The smallest and the largest tension; with them the tendon is a servo, whose power is supplied.
    #[schemars(extend("unit" = "N"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<[f64; 2]>,
}

impl About for JointTendon {
    const KIND: &'static str = "joint_tendon";
    const SUMMARY: &'static str =
        "A tendon over joints, whose length is a sum of their coordinates, with stiffness, damping and a given pull.";

    fn sample() -> Self {
        let pulley = |of, axis: [f64; 3], coefficient| Pulley { of, axis: axis.into(), coefficient };
        Self {
            pulleys: vec![
                pulley(Coordinate::Angle, [1.0, -2.0, 2.0], 0.4),
                pulley(Coordinate::Travel, [2.0, 1.0, 2.0], -1.3),
            ],
            stiffness: 5.0,
            damping: 0.3,
            rest: [-0.2, 0.1],
            pull: SignalRef::new("winch", Signal::Harmonic(Harmonic::sample())),
            limits: None,
        }
    }
}

impl JointTendon {
    fn line(&self) -> Line<'_> {
        let Self { stiffness, damping, rest, ref pull, limits, .. } = *self;
        Line { stiffness, damping, rest, pull, limits }
    }

    /// The length of the tendon and its rate.
    fn length<R: Real>(&self, at: &[Place<R>]) -> (R, R) {
        let pairs = self.pulleys.iter().zip(at.chunks_exact(2));
        pairs.fold((R::zero(), R::zero()), |(length, rate), (pulley, at)| {
            let (x, speed) = (pulley.of.of(&pulley.axis, at), pulley.of.speed(&pulley.axis, at));
            (length + x * pulley.coefficient, rate + speed * pulley.coefficient)
        })
    }
}

impl Force for JointTendon {
    type Markers = Vec<Frame>;

    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (length, rate) = self.length(at);
        let tension = self.line().tension(now, length, rate);
        for ((pulley, at), out) in self.pulleys.iter().zip(at.chunks_exact(2)).zip(out.chunks_exact_mut(2)) {
            let force = tension * -pulley.coefficient;
            for (out, unit) in out.iter_mut().zip(pulley.of.gradient(&pulley.axis, at)) {
                *out = Wrench { force: unit.force * force, torque: unit.torque * force };
            }
        }
    }
    fn energy<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.line().energy(self.length(at).0)
    }
    fn dissipation<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.line().dissipation(self.length(at).1)
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (length, rate) = self.length(at);
        self.line().supply(now, length, rate)
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.pull]
    }
    fn defect(&self, markers: usize) -> Option<(&'static str, String)> {
        let (joints, wanted) = (self.pulleys.len(), 2 * self.pulleys.len());
        if markers != wanted {
            return Some(("pulleys", format!("{joints} joints need {wanted} frames, two for each, found {markers}")));
        }
        let wild = self.pulleys.iter().find(|p| !p.coefficient.is_finite());
        let wild = wild.map(|p| ("pulleys", format!("a coefficient must be finite, not {}", p.coefficient)));
        wild.or_else(|| self.pulleys.iter().find_map(|p| p.axis.defect("pulleys"))).or_else(|| self.line().defect())
    }
    fn outputs(&self) -> Vec<(&'static str, &'static str)> {
        vec![("length", "m"), ("tension", "N")]
    }
    fn output<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        let (length, rate) = self.length(at);
        (out[0], out[1]) = (length, self.line().tension(now, length, rate));
    }
}
