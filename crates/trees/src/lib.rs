//! Trees of links: recursive rigid-body dynamics in minimal coordinates.
//!
//! A [`Tree`] is built from links and joints ([`TreeBuilder`]) and never changes. Each algorithm has a file under the name the
//! field uses for it, a `Work` that the caller owns, and a function generic over the number: plain numbers, dual numbers,
//! lanes. The types in [`entry`] call them with plain numbers, at the speed of the processor they run on.
//!
//! | File | What it computes |
//! |---|---|
//! | [`rnea`] | inverse dynamics: the forces τ for given accelerations |
//! | [`crba`] | the mass matrix M(q) |
//! | [`ltl`] | its sparse factor M = LᵀDL, and solves with it |
//! | [`aba`] | forward dynamics: the accelerations for given forces |
//! | [`recursion`] | the same by Gauss transformation, as Schiehlen writes it |
//! | [`kinematics`] | places, velocities and accelerations of all links |
//! | [`jacobian`] | Jacobians of points and frames, and their rates |
//! | [`momentum`] | momentum, energy, centroidal quantities |
//! | [`constraint_inertia`] | G M⁻¹ Gᵀ for loops and contacts |
//! | [`impulse`] | velocities after an impact |
//! | [`derivatives`] | analytical derivatives of inverse and forward dynamics |
//! | [`flat`] | all that equations of motion need, in one flat array |
//! | [`passive`] | damping, friction, springs and stops of the joints, limits of the drives |
//! | [`stops`] | the same stops as gaps, for contacts |
//!
//! Conventions: SI units; quaternions scalar first; the velocity of a spherical joint is the angular velocity in the axes of
//! its link, that of a free joint (linear, angular) in the axes of its link. Links are numbered depth first.

pub mod aba;
mod build;
mod columns;
pub mod constraint_inertia;
pub mod crba;
pub mod derivatives;
// Most of the time of a build goes here, and unit tests do not need it.
#[cfg(not(test))]
pub mod entry;
mod fast;
pub mod flat;
pub mod impulse;
pub mod jacobian;
mod joint;
pub mod kinematics;
pub mod ltl;
pub mod momentum;
pub mod passive;
mod placement;
pub mod recursion;
pub mod rnea;
pub mod samples;
mod space;
pub mod stops;
mod subspace;
mod tree;
mod validate;

pub use build::{LinkSpec, MAX_LINKS, TreeBuilder, TreeError};
pub use fast::{Fast, FastLanes};
pub use joint::{Cone, Freedom, JointKind, JointSpec, MassProperties, Pose};
pub use tree::{JointInfo, Link, Tree, Wrench};
