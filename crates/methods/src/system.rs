//! The one trait in the middle: what a method may ask of a mechanical system.
//!
//! ```text
//! q̇ = T(q) v                         configuration, through `retract` and `local_rate`
//! M(q) v̇ = f(t,q,v,x) − Gᵀλ − Aᵀμ     balance of momentum
//!          + C(t,q,v) λ                sliding friction, if there are `loads`
//! ẋ = r(t,q,v,x)                     extra states (activation, fibre length, …)
//! ż = s(t,q,v,x,λ)                   integrals that feed nothing back (work done, heat)
//! 0 = g(t,q)                         holonomic constraints, G = ∂g/∂q · T
//! 0 = A(t,q) v + b(t,q)              velocity-level (nonholonomic) constraints
//! 0 ≤ γ(t,q)                         gaps
//! ```
//!
//! The *model* (`self`) says what the system is, the [`State`] says where it is, the `Work` is scratch owned by the caller.
//! Rows of constraints are numbered with the holonomic ones first, then the velocity-level ones.
//!
//! Configurations may live on a manifold. Methods never add to `q`: they move from a base point q₀ by an increment
//! δ ∈ R^v, q = q₀ ⊕ δ ([`System::retract`]), and integrate δ̇ = `local_rate`(δ, v). So every method is a Lie-group method.

use crate::algebra::{Block, Mass, MassBlock, Rows};
use crate::scalar::Scalar;
use std::ops::Range;

/// Where a system is: time, configuration, velocity, extra states, integrals and free parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State<S> {
    /// Time in seconds.
    pub t: S,
    /// Configuration.
    pub q: Vec<S>,
    /// Velocity.
    pub v: Vec<S>,
    /// Extra states.
    pub x: Vec<S>,
    /// Integrals.
    pub z: Vec<S>,
    /// Free parameters.
    pub p: Vec<S>,
}

impl<S: Scalar> State<S> {
    /// A state of zeros.
    pub fn zeros(shape: Shape) -> Self {
        let zeros = |n| vec![S::zero(); n];
        Self {
            t: S::zero(),
            q: zeros(shape.q),
            v: zeros(shape.v),
            x: zeros(shape.x),
            z: zeros(shape.z),
            p: zeros(shape.p),
        }
    }

    /// Takes over the values of a plain state as constants, without allocating.
    pub fn lift(&mut self, from: &State<f64>) {
        self.t = S::from(from.t);
        for (to, from) in [
            (&mut self.q, &from.q),
            (&mut self.v, &from.v),
            (&mut self.x, &from.x),
            (&mut self.z, &from.z),
            (&mut self.p, &from.p),
        ] {
            for (to, &from) in to.iter_mut().zip(from) {
                *to = S::from(from);
            }
        }
    }
}

impl State<f64> {
    /// Copies another state of the same shape without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.t = other.t;
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
        self.x.copy_from_slice(&other.x);
        self.z.copy_from_slice(&other.z);
        self.p.copy_from_slice(&other.p);
    }
}

/// The sizes of a system.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Configuration coordinates.
    pub q: usize,
    /// Velocities.
    pub v: usize,
    /// Extra states.
    pub x: usize,
    /// Integrals.
    pub z: usize,
    /// Free parameters.
    pub p: usize,
    /// Holonomic constraint rows.
    pub g: usize,
    /// Velocity-level constraint rows.
    pub a: usize,
    /// Gaps.
    pub gaps: usize,
}

impl Shape {
    /// All constraint rows that act on velocities.
    pub fn rows(&self) -> usize {
        self.g + self.a
    }
}

/// Which velocities belong together, and which groups act on each other through forces.
///
/// The force on group i depends only on the coordinates of `neighbours[i]` (which contains i). Tangents are computed by
/// colouring this graph, so that their cost grows with the number of neighbours, not with the size of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coupling {
    /// The velocities of each group.
    pub groups: Vec<Range<usize>>,
    /// For each group, the groups its force depends on, in ascending order.
    pub neighbours: Vec<Vec<usize>>,
}

/// A mechanical system, written once for every number it is read with.
pub trait System: Sync {
    /// Scratch: kinematics computed by [`System::prepare`] and whatever else a pass needs.
    type Work<S: Scalar>: Send;

    /// The sizes.
    fn shape(&self) -> Shape;
    /// The block structure of the mass matrix.
    fn mass_blocks(&self) -> Vec<MassBlock>;
    /// The block structure of the constraint Jacobian.
    fn row_blocks(&self) -> Vec<Block> {
        let shape = self.shape();
        if shape.rows() == 0 {
            return Vec::new();
        }
        vec![Block { row: 0, rows: shape.rows(), col: 0, cols: shape.v }]
    }
    /// Which velocities act on each other through forces; by default all on all.
    fn coupling(&self) -> Coupling {
        Coupling { groups: std::iter::once(0..self.shape().v).collect(), neighbours: vec![vec![0]] }
    }
    /// Whether the mass matrix is the same in every configuration.
    fn mass_is_constant(&self) -> bool {
        false
    }

    /// New scratch.
    fn work<S: Scalar>(&self) -> Self::Work<S>;
    /// Kinematics of a state: computed once, read by all the functions below.
    fn prepare<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>);
    /// The mass matrix M(q).
    fn mass<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut Mass<S>);
    /// The generalised forces f, gyroscopic terms included; `out` is overwritten.
    fn force<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]);
    /// Whether forces depend on the place alone, neither on time nor on velocities, and all integrands are zero: methods may then use a force again.
    fn still(&self) -> bool {
        false
    }
    /// How many rates forces have, the slow ones among them; multirate methods take those of higher rates in smaller steps. By default one.
    fn rates(&self) -> usize {
        1
    }
    /// The velocities on which the forces of one rate act, ascending; of rates above zero.
    fn fast(&self, _rate: usize) -> Vec<usize> {
        Vec::new()
    }
    /// Which velocities act on each other through the forces of one rate, in the groups of [`System::coupling`]; by default as through all.
    fn coupling_of_rate(&self, _rate: usize) -> Coupling {
        self.coupling()
    }
    /// The part of [`System::force`] that is of one rate: zero is slow, the highest are the stiffest springs. All of them add up to the force;
    /// `out` is overwritten.
    fn force_of_rate<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, _rate: usize, out: &mut [S]) {
        self.force(s, w, out);
    }
    /// The rates r of the extra states; `out` is overwritten.
    fn rate<S: Scalar>(&self, _s: &State<S>, _w: &mut Self::Work<S>, _out: &mut [S]) {}
    /// The integrands s of the integrals, given the multipliers of all rows; `out` is overwritten.
    fn integrand<S: Scalar>(&self, _s: &State<S>, _multipliers: &[S], _w: &mut Self::Work<S>, _out: &mut [S]) {}
    /// The holonomic residuals g(t, q).
    fn constraint<S: Scalar>(&self, _s: &State<S>, _w: &mut Self::Work<S>, _out: &mut [S]) {}
    /// The velocity-level residuals of all rows: G v + ∂g/∂t, then A v + b.
    fn constraint_rate<S: Scalar>(&self, _s: &State<S>, _w: &mut Self::Work<S>, _out: &mut [S]) {}
    /// Whether no row depends on time by itself: then [`System::constraint_rate`] is [G; A] v, and methods that know the Jacobian
    /// need not ask for it.
    fn scleronomic(&self) -> bool {
        false
    }
    /// The time derivative of [`System::constraint_rate`] at v̇ = 0: what G v̇ must cancel.
    fn constraint_bias<S: Scalar>(&self, _s: &State<S>, _w: &mut Self::Work<S>, _out: &mut [S]) {}
    /// The Jacobian [G; A] of all rows; every block is overwritten.
    fn jacobian<S: Scalar>(&self, _s: &State<S>, _w: &mut Self::Work<S>, _out: &mut Rows<S>) {}
    /// The rows whose multipliers drive sliding friction, ascending. With any, [`System::friction`] counts.
    fn loads(&self) -> Vec<usize> {
        Vec::new()
    }
    /// Adds C(t, q, v) λ to `out`: forces linear in the multipliers of the [`System::loads`] (of all rows given, others are ignored).
    fn friction<S: Scalar>(&self, _s: &State<S>, _multipliers: &[S], _w: &mut Self::Work<S>, _out: &mut [S]) {}
    /// The gaps γ(t, q).
    fn gap<S: Scalar>(&self, _s: &State<S>, _w: &mut Self::Work<S>, _out: &mut [S]) {}

    /// out = q ⊕ δ. The default adds, for systems with q̇ = v.
    fn retract<S: Scalar>(&self, q: &[S], delta: &[S], out: &mut [S]) {
        for i in 0..q.len() {
            out[i] = q[i] + delta[i];
        }
    }
    /// The rate of δ for which q₀ ⊕ δ moves with velocity v. The default is δ̇ = v.
    fn local_rate<S: Scalar>(&self, _delta: &[S], v: &[S], out: &mut [S]) {
        out.copy_from_slice(v);
    }
    /// The velocity of q₀ ⊕ δ when δ moves at a rate: the inverse of [`System::local_rate`]. Variational methods need it; a system
    /// with a retraction of its own gives it too.
    fn local_velocity<S: Scalar>(&self, _delta: &[S], rate: &[S], out: &mut [S]) {
        out.copy_from_slice(rate);
    }
    /// The rate of δ that moves q₀ ⊕ δ as a moving base would: (q₀ ⊕ εη) ⊕ δ = q₀ ⊕ (δ + ε · rate), to first order. With
    /// [`System::local_velocity`] it says how a whole curve follows its beginning. On a group whose retraction has τ(−δ) = τ(δ)⁻¹ it is
    /// `local_rate`(−δ, η).
    fn local_shift<S: Scalar>(&self, _delta: &[S], base: &[S], out: &mut [S]) {
        out.copy_from_slice(base);
    }
    /// A typical size of each coordinate increment (for relative tolerances): |q| for lengths, 1 for angles.
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        for i in 0..out.len() {
            out[i] = q[i].abs();
        }
    }

    /// The user's name of a constraint row.
    fn row_name(&self, row: usize) -> String {
        format!("constraint {row}")
    }
    /// The user's name of a load and how strong its friction is there, for messages.
    fn load_name(&self, _s: &State<f64>, row: usize) -> String {
        self.row_name(row)
    }
    /// The user's name of an extra state.
    fn extra_name(&self, extra: usize) -> String {
        format!("extra state {extra}")
    }
    /// The user's name of a velocity.
    fn velocity_name(&self, velocity: usize) -> String {
        format!("velocity {velocity}")
    }
}
