//! The ends of ranges and the cones of joints as gaps, for those who treat them as contacts.
//!
//! Each stop is a gap γ(q) ≥ 0 with its gradient by the velocities of the joint, γ̇ = e·v. For a range γ = upper − q or q − lower. For a
//! [`Cone`] with the angle θ of its axis and the twist φ of [`crate::passive`]
//!
//! ```text
//! γ = θ_max − θ,       γ = φ_max − φ,       γ = φ − φ_min
//! ```
//!
//! Where an angle has no gradient (θ = 0, φ = π) its stop is not reached, and the gradient given is zero.

use crate::joint::Cone;
use crate::tree::{Motion, Tree};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;

/// Which end of what.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The upper end of a range.
    Upper,
    /// The lower end of a range.
    Lower,
    /// The edge of a cone.
    Swing,
    /// The upper end of the twist.
    TwistUpper,
    /// The lower end of the twist.
    TwistLower,
}

impl End {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::Swing => "swing",
            Self::TwistUpper => "twist_upper",
            Self::TwistLower => "twist_lower",
        }
    }
}

/// One stop of a joint.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Stop {
    /// Which end it is.
    pub end: End,
    /// The first velocity that it depends on.
    pub velocity: usize,
    /// How many it depends on: 1, or 3 for a cone.
    pub width: usize,
    /// Whether the gap is a length; else it is an angle.
    pub slides: bool,
    coordinate: usize,
    limit: f64,
    cone: Option<Cone>,
}

/// All stops of a tree.
pub fn stops(tree: &Tree) -> Vec<Stop> {
    let (mut out, slides) = (Vec::new(), tree.slides());
    for b in tree.bodies.iter().filter(|b| !matches!(b.motion, Motion::Spherical | Motion::Free)) {
        let freedom = &tree.freedoms[b.iv];
        for (end, limit) in [(End::Upper, freedom.upper), (End::Lower, freedom.lower)] {
            if limit.is_finite() {
                let slides = slides[b.iv];
                out.push(Stop { end, velocity: b.iv, width: 1, slides, coordinate: b.iq, limit, cone: None });
            }
        }
    }
    for &(coordinate, velocity, cone) in &tree.cones {
        let [lower, upper] = cone.twist;
        for (end, limit) in [(End::Swing, cone.swing), (End::TwistUpper, upper), (End::TwistLower, lower)] {
            if limit.is_finite() {
                out.push(Stop { end, velocity, width: 3, slides: false, coordinate, limit, cone: Some(cone) });
            }
        }
    }
    out
}

impl Stop {
    /// The gap at the coordinates `q` of the tree, and its gradient by the velocities; of a range only the first counts.
    pub fn gap<T: Real>(&self, q: &[T]) -> (T, [T; 3]) {
        let sign = if matches!(self.end, End::Lower | End::TwistLower) { -1.0 } else { 1.0 };
        let (angle, gradient) = match &self.cone {
            None => (q[self.coordinate], Vec3([T::one(), T::zero(), T::zero()])),
            Some(cone) if self.end == End::Swing => swing(cone, &q[self.coordinate..]),
            Some(cone) => twist(cone, &q[self.coordinate..]),
        };
        ((T::from(self.limit) - angle) * sign, (gradient * T::from(-sign)).0)
    }
}

/// A square below which an angle has no gradient.
const TINY: f64 = 1e-24;

/// The angle of the axis of a cone for a quaternion, and its gradient by the angular velocity in the axes of the link.
pub(crate) fn swing<T: Real>(cone: &Cone, q: &[T]) -> (T, Vec3<T>) {
    let (w, u, a) = (q[0], Vec3::from_slice(&q[1..]), Vec3::constant(cone.axis.0));
    let across = u.cross(a);
    let b = a - across * (w + w) + u.cross(across) * T::from(2.0);
    let turn = b.cross(a);
    let square = turn.norm_squared();
    let none = square.lt(T::from(TINY));
    let divisor = T::select(none, T::one(), square).sqrt();
    let sine = T::select(none, T::zero(), divisor);
    (sine.atan2(b.dot(a)), turn * divisor.recip())
}

/// The twist about the axis of a cone, and its gradient.
pub(crate) fn twist<T: Real>(cone: &Cone, q: &[T]) -> (T, Vec3<T>) {
    let (w, u, a) = (q[0], Vec3::from_slice(&q[1..]), Vec3::constant(cone.axis.0));
    let along = u.dot(a);
    let square = w * w + along * along;
    let divisor = T::select(square.lt(T::from(TINY)), T::one(), square);
    let gradient = (a * (w * w) + a.cross(u) * w + u * along) * divisor.recip();
    // The twist of q and −q is the same, between −π and π.
    let sign = T::select(w.lt(T::zero()), -T::one(), T::one());
    ((along * sign).atan2(w * sign) * 2.0, gradient)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Freedom, JointKind, JointSpec, LinkSpec, MassProperties, Pose, TreeBuilder};
    use dalembert_methods::Jet;
    use dalembert_methods::vector::Mat3;

    /// The gradient of every stop against the derivative of its gap along q ⊕ v t, by jets.
    #[test]
    fn gradients_are_rates_of_gaps() {
        let mut builder = TreeBuilder::new();
        let mass = MassProperties { mass: 1.0, centre: Vec3::zero(), inertia: Mat3::identity() };
        let range = Freedom { lower: -0.3, upper: 0.9, ..Freedom::default() };
        let cone = Cone { axis: Vec3([0.2, 1.0, -0.4]), swing: 1.1, twist: [-0.7, 0.8] };
        let slide = JointSpec::new("slide", JointKind::Prismatic { axis: Vec3([0.0, 1.0, 0.0]) }, Pose::default());
        let ball = JointSpec::new("ball", JointKind::Spherical, Pose::default());
        for (name, parent, joint) in [("a", None, slide.with(vec![range])), ("b", Some("a"), ball.within(Some(cone)))] {
            let (name, parent) = (name.into(), parent.map(Into::into));
            builder.link(LinkSpec { name, parent, joint, offset: Pose::default(), mass });
        }
        let tree = builder.build().unwrap();
        let (q, v) = ([0.2, 0.8, 0.36, -0.48, 0.0], [0.7, -0.4, 1.1, 0.5]);
        let lifted = q.map(Jet::<f64, 1>::constant);
        let delta = v.map(|v| Jet::new(0.0, v));
        let mut moved = [Jet::default(); 5];
        tree.retract(&lifted, &delta, &mut moved);
        let all = stops(&tree);
        assert_eq!(
            all.iter().map(|s| s.end.name()).collect::<Vec<_>>(),
            ["upper", "lower", "swing", "twist_upper", "twist_lower"]
        );
        for stop in all {
            let (gap, gradient) = stop.gap(&q);
            let rate: f64 = (0..stop.width).map(|k| gradient[k] * v[stop.velocity + k]).sum();
            let exact = stop.gap(&moved).0;
            assert!(
                (gap - exact.re).abs() < 1e-15 && (rate - exact.eps[0]).abs() < 1e-14,
                "{stop:?}: {rate} {exact:?}"
            );
            assert_eq!(stop.slides, stop.width == 1);
        }
    }
}
