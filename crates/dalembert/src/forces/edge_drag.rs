//! Drag on the edge between two points: resistive-force theory of slender bodies.
//!
//! At each place of the edge the medium resists by a force per length that depends on the velocity u relative to the
//! medium, split along the edge and across it (\[1\], \[2\]):
//!
//! ```text
//! −(c_t + q_t |u_t|) u_t − (c_n + q_n |u_n|) u_n        u_t = n nᵀ u,   u_n = u − u_t,   n = (r₂ − r₁)/l
//! ```
//!
//! Velocities are linear along the edge. The integral is taken by Gauss's rule with two points, which is exact for the
//! linear part, and each point's force goes to the two ends by the same weights that give its velocity. So the power
//! of the forces at the ends is that of the forces along the edge.
//!
//! References: \[1\] Gray, Hancock: The propulsion of sea-urchin spermatozoa, J. Exp. Biol. 32 (1955) 802–814.
//! \[2\] Taylor: Analysis of the swimming of long and narrow animals, Proc. R. Soc. A 214 (1952) 158–183 (quadratic).

use super::Force;
use super::spring::stretch;
use crate::element::About;
use crate::model::{Instant, Param, Place, Point, Wrench};
use crate::signals::{Harmonic, Signal, SignalRef};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Drag along the edge between two markers, with coefficients across and along it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EdgeDrag {
    /// Linear coefficient c_n across the edge, not negative.
    #[schemars(extend("unit" = "N s/m²"))]
    #[serde(default)]
    pub normal: Param,
    /// Linear coefficient c_t along the edge, not negative.
    #[schemars(extend("unit" = "N s/m²"))]
    #[serde(default)]
    pub tangential: Param,
    /// Quadratic coefficient q_n across the edge, not negative.
    #[schemars(extend("unit" = "N s²/m³"))]
    #[serde(default)]
    pub normal_quadratic: Param,
    /// Quadratic coefficient q_t along the edge, not negative.
    #[schemars(extend("unit" = "N s²/m³"))]
    #[serde(default)]
    pub tangential_quadratic: Param,
    /// Velocity of the medium in the world frame: numbers or names of signals; at rest unless given.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default = "at_rest")]
    pub medium_velocity: [SignalRef; 3],
}

fn at_rest() -> [SignalRef; 3] {
    [0.0, 0.0, 0.0].map(SignalRef::Number)
}

impl Default for EdgeDrag {
    fn default() -> Self {
        let zero = Param::default();
        Self {
            normal: zero,
            tangential: zero,
            normal_quadratic: zero,
            tangential_quadratic: zero,
            medium_velocity: at_rest(),
        }
    }
}

impl About for EdgeDrag {
    const KIND: &'static str = "edge_drag";
    const SUMMARY: &'static str = "Drag of a medium on the edge between two points, different along and across it.";
    const REFERENCES: &'static [&'static str] = &[
        "Gray, Hancock, The propulsion of sea-urchin spermatozoa, J. Exp. Biol. 32 (1955) 802–814",
        "Taylor, Analysis of the swimming of long and narrow animals, Proc. R. Soc. A 214 (1952) 158–183",
    ];

    fn sample() -> Self {
        let current = SignalRef::new("current", Signal::Harmonic(Harmonic::sample()));
        Self {
            normal: 0.9.into(),
            tangential: 0.5.into(),
            normal_quadratic: 0.4.into(),
            tangential_quadratic: 0.1.into(),
            medium_velocity: [0.2.into(), current, (-0.3).into()],
        }
    }
}

/// The share of the first end at the two points of Gauss's rule, (1 ± 1/√3)/2; each has half the weight.
const SHARES: [f64; 2] = [0.788_675_134_594_812_9, 0.211_324_865_405_187_1];

impl EdgeDrag {
    /// Velocity of the medium, forces on both ends, heat per time.
    #[inline(always)]
    fn evaluate<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> (Vec3<R>, [Vec3<R>; 2], R) {
        let medium = Vec3([0, 1, 2].map(|i| now.value(&self.medium_velocity[i])));
        let (direction, length, _) = stretch(at);
        let mut forces = [Vec3::zero(); 2];
        let mut heat = R::zero();
        for share in SHARES {
            let u = at[0].v * R::from(share) + at[1].v * R::from(1.0 - share) - medium;
            let along = direction * direction.dot(u);
            let across = u - along;
            let resist = |part: Vec3<R>, linear: Param, quadratic: Param| {
                let squared = part.norm_squared();
                let moving = squared.gt(R::zero());
                let speed = R::select(moving, R::select(moving, squared, R::one()).sqrt(), R::zero());
                (linear.at(now) + quadratic.at(now) * speed) * length * 0.5
            };
            let c_t = resist(along, self.tangential, self.tangential_quadratic);
            let c_n = resist(across, self.normal, self.normal_quadratic);
            let force = -(along * c_t + across * c_n);
            forces[0] += force * R::from(share);
            forces[1] += force * R::from(1.0 - share);
            heat += c_t * along.norm_squared() + c_n * across.norm_squared();
        }
        (medium, forces, heat)
    }
}

impl Force for EdgeDrag {
    type Markers = [Point; 2];
    const INTERNAL: bool = false;

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (_, [first, second], _) = self.evaluate(now, at);
        out[0] = Wrench::force(first);
        out[1] = Wrench::force(second);
    }
    fn dissipation<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        self.evaluate(now, at).2
    }
    fn supply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (medium, [first, second], _) = self.evaluate(now, at);
        (first + second).dot(medium)
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.medium_velocity.iter_mut().collect()
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        let all = [
            ("normal", self.normal),
            ("tangential", self.tangential),
            ("normal_quadratic", self.normal_quadratic),
            ("tangential_quadratic", self.tangential_quadratic),
        ];
        all.into_iter().find_map(|(key, c)| {
            (c.value() < 0.0).then(|| (key, format!("a drag coefficient must not be negative, found {}", c.value())))
        })
    }
}
