//! An actuator: a force between two points along their line, given by a signal.
//!
//! The force f pushes the points apart. With the length l = |r₂ − r₁| the power supplied is f l̇.

use super::Force;
use super::spring::stretch;
use crate::element::About;
use crate::model::{Instant, Place, Point, Wrench};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A force between two markers along their line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Actuator {
    /// The force, a number or the name of a signal; positive pushes the points apart. It is zero while they coincide.
    #[schemars(extend("unit" = "N"))]
    pub force: SignalRef,
}

impl About for Actuator {
    const KIND: &'static str = "actuator";
    const SUMMARY: &'static str = "A force along the line between two points, given by a signal.";

    fn sample() -> Self {
        Self { force: SignalRef::new("stroke", Signal::Harmonic(Harmonic::sample())) }
    }
}

impl Force for Actuator {
    type Markers = [Point; 2];

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (direction, _, _) = stretch(at);
        let push = direction * now.value(&self.force);
        out[0] = Wrench::force(-push);
        out[1] = Wrench::force(push);
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (_, _, rate) = stretch(at);
        now.value(&self.force) * rate
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        vec![&mut self.force]
    }
}
