//! What a system with contacts says of them, and the laws of dry friction most of them use.
//!
//! Contact i has a gap γ_i(t, q) ≥ 0 and up to two tangential directions with slip velocities u. It presses with N ≥ 0 along
//! the gradient of its gap and resists slip with r in the cone |r| ≤ μN. Rows of contacts are numbered contact by contact:
//! γ̇, then its slip velocities.
//!
//! **Suction.** A contact may be a sucker: while it is closed the surface pulls the point with A(t) ≥ 0, against the gradient
//! of the gap. Its press N counts what the suction presses, so that friction holds with it, and the contact opens where N
//! would become negative: where the load exceeds A. An open contact is not pulled.
//!
//! **Press of its own.** A contact may be always closed with a press that does not depend on the motion: a brake, or the dry friction
//! of a joint. Its gap and the row of γ̇ are zero throughout; only slip is resisted, with forces from a fixed set.
//!
//! **Hollows.** A surface may be hollow around the points that bear on it, as if each stood on a stone: an open contact whose point is at a depth
//! h > 0 in such a hollow may pass the surface. What counts as its gap is max(γ, h), the distance from what is left of the surface.
//! Closed contacts do not see hollows. To leave a hollow below the surface is an error.
//!
//! **Latches.** A contact with a latch that has closed stays closed, whatever pulls at it and in all impacts, until one of the contacts that release
//! it is hit; from then on it is a contact like others, until it closes anew.
//!
//! **Friction.** A law is given by its force for unit press. The forces a contact can hold are a convex set around zero, the
//! section of its cone; the force against slip in a direction is the point of the section that takes most power
//! from it (maximum dissipation \[1\]). For isotropic friction that is −μ u/|u|. For an ellipse with semi-axes a, b it
//! is −(a² u₁, b² u₂)/√(a² u₁² + b² u₂²), and a may differ for forward and backward slip: scales of a snake, bristles of a worm.
//!
//! References: \[1\] J. J. Moreau: On unilateral constraints, friction and plasticity, in: New Variational Techniques in Mathematical
//! Physics, CIME, Cremonese 1974, 173–322; F. Pfeiffer, Ch. Glocker: Multibody Dynamics with Unilateral Contacts, Wiley 1996.

use crate::algebra::{Block, Rows};
use crate::scalar::Scalar;
use crate::system::{State, System};

/// How a contact moves.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Mode {
    /// Apart, or leaving: no force.
    Open,
    /// Closed and slipping, or without friction.
    Slide {
        /// A unit vector near the direction of slip, in the tangents; (±1, 0) if there is one tangent, zero if none.
        direction: [f64; 2],
    },
    /// Closed without slip.
    Stick,
}

impl Mode {
    /// Whether the contact is closed.
    pub fn closed(self) -> bool {
        self != Self::Open
    }
}

/// A latch: what holds a contact once it has closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latch {
    /// The contacts that release it when they are hit.
    pub released_by: Vec<usize>,
    /// Whether it holds at the beginning, if the contact is closed there.
    pub holds: bool,
}

/// A system whose bodies may touch.
///
/// Functions of a state are called after [`System::prepare`] with the same scratch and write all contacts at once.
pub trait Contacts: System {
    /// The number of contacts.
    fn contacts(&self) -> usize;
    /// The tangential directions of a contact: 0 (no friction), 1 or 2.
    fn tangents(&self, contact: usize) -> usize;
    /// The user's name of a contact.
    fn contact_name(&self, contact: usize) -> String {
        format!("contact {contact}")
    }
    /// The block structure of [`Contacts::contact_jacobian`]; by default one full block.
    fn contact_blocks(&self) -> Vec<Block> {
        let rows = (0..self.contacts()).map(|i| 1 + self.tangents(i)).sum();
        if rows == 0 {
            return Vec::new();
        }
        vec![Block { row: 0, rows, col: 0, cols: self.shape().v }]
    }
    /// The gaps γ(t, q) in metres, one for each contact.
    fn contact_gap<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]);
    /// The rates (γ̇, u₁, u₂) in m/s, by the rows of contacts.
    fn contact_rate<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]);
    /// The time derivative of the rates at v̇ = 0, in m/s².
    fn contact_bias<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]);
    /// The derivative of the rates by the velocities; every block is overwritten.
    fn contact_jacobian<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut Rows<S>);
    /// [`Contacts::contact_rate`] of some contacts, ascending; what it writes for others is not read.
    fn contact_rate_of<S: Scalar>(&self, _some: &[usize], s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]) {
        self.contact_rate(s, w, out);
    }
    /// [`Contacts::contact_bias`] of some contacts, ascending; what it writes for others is not read.
    fn contact_bias_of<S: Scalar>(&self, _some: &[usize], s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]) {
        self.contact_bias(s, w, out);
    }
    /// [`Contacts::contact_jacobian`] of some contacts, ascending; the blocks of others may keep what is in them.
    fn contact_jacobian_of<S: Scalar>(&self, _some: &[usize], s: &State<S>, w: &mut Self::Work<S>, out: &mut Rows<S>) {
        self.contact_jacobian(s, w, out);
    }
    /// The coefficient of restitution ε ∈ [0, 1].
    fn restitution(&self, _contact: usize) -> f64 {
        0.0
    }
    /// The suction A(t) ≥ 0 of a contact in newtons, which pulls its point to the surface while it is closed; nothing if it is
    /// no sucker.
    fn suction<S: Scalar>(&self, _contact: usize, _t: S) -> Option<S> {
        None
    }
    /// How deep the point of each contact is in hollows of its surface, in metres, given which contacts bear: where it is positive the point may
    /// pass. Returns whether there are hollows; if not, nothing is written.
    fn contact_hollow<S: Scalar>(
        &self,
        _bearing: &[bool],
        _s: &State<S>,
        _w: &mut Self::Work<S>,
        _out: &mut [S],
    ) -> bool {
        false
    }
    /// The latch of a contact, if it has one.
    fn latch(&self, _contact: usize) -> Option<&Latch> {
        None
    }
    /// The press in newtons of a contact that is always closed and pressed by itself; nothing for contacts that open and close. It has
    /// one tangent.
    fn own_press(&self, _contact: usize) -> Option<f64> {
        None
    }
    /// The friction force for unit press against slip in a unit direction with a speed in m/s.
    ///
    /// At trial states just beyond a stop the speed is slightly negative: extend the curve of the coefficient smoothly there.
    fn sliding<S: Scalar>(&self, _contact: usize, _direction: [S; 2], _speed: S) -> [S; 2] {
        [S::zero(); 2]
    }
    /// [`Contacts::sliding`] at a prepared state.
    fn sliding_at<S: Scalar>(&self, contact: usize, direction: [S; 2], speed: S, _w: &Self::Work<S>) -> [S; 2] {
        self.sliding(contact, direction, speed)
    }
    /// [`Contacts::suction`] at a prepared state.
    fn suction_at<S: Scalar>(&self, contact: usize, t: S, _w: &Self::Work<S>) -> Option<S> {
        self.suction(contact, t)
    }
    /// The largest force for unit press that a contact without slip can hold against being pulled in a unit direction.
    fn sticking(&self, _contact: usize, _direction: [f64; 2]) -> [f64; 2] {
        [0.0; 2]
    }
    /// By how much, in newtons, a force leaves the cone of a contact without slip; negative inside.
    fn excess(&self, _contact: usize, force: [f64; 2], _press: f64) -> f64 {
        force[0].hypot(force[1])
    }
}

/// The force for unit press of an elliptic law with coefficients (forward, backward, sideways) against slip in a unit direction.
/// Forward is along the first tangent.
pub fn resist<S: Scalar>(coefficients: [S; 3], direction: [S; 2]) -> [S; 2] {
    let [forward, backward, sideways] = coefficients;
    let along = S::select(direction[0].lt(S::zero()), backward, forward);
    let (first, second) = (along * along * direction[0], sideways * sideways * direction[1]);
    let size = (first * direction[0] + second * direction[1]).sqrt();
    // Without any friction the size is zero, and so is the force.
    let none = size.le(S::zero());
    let divisor = S::select(none, S::one(), size);
    [first, second].map(|force| S::select(none, S::zero(), -force / divisor))
}

/// By how much, in newtons, a force leaves the cone of an elliptic law with positive coefficients; negative inside.
pub fn excess(coefficients: [f64; 3], force: [f64; 2], press: f64) -> f64 {
    let [forward, backward, sideways] = coefficients;
    // A force along the first tangent resists slip backward.
    let along = if force[0] > 0.0 { backward } else { forward };
    let gauge = (force[0] / along).hypot(if force[1] == 0.0 { 0.0 } else { force[1] / sideways });
    (gauge - press) * forward.max(backward)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elliptic_forces_lie_on_their_cone_and_take_most_power() {
        let coefficients = [0.8, 0.3, 0.5];
        for k in 0..36 {
            let (sine, cosine) = (f64::from(k) * 0.174 + 0.01).sin_cos();
            let force = resist(coefficients, [cosine, sine]);
            assert!(excess(coefficients, force, 1.0).abs() < 4.0 * f64::EPSILON);
            let power = |f: [f64; 2]| f[0] * cosine + f[1] * sine;
            for j in 0..36 {
                let (s, c) = (f64::from(j) * 0.174).sin_cos();
                assert!(power(force) <= power(resist(coefficients, [c, s])) + 4.0 * f64::EPSILON);
            }
        }
        assert_eq!(resist([0.0; 3], [1.0, 0.0]), [0.0, 0.0]);
    }
}
