//! How to solve: numbers, linear algebra, Lie groups, integrators, events and trajectories.
//!
//! This crate knows no mechanics. It meets what is to be solved in one trait, [`system::System`]:
//! q̇ = T(q) v, M(q) v̇ = f(t, q, v, x) − Gᵀλ, ẋ = r, 0 = g(t, q), 0 = A v + b. See `ARCHITECTURE.md` for the plan of the house.

pub mod algebra;
pub mod check;
pub mod dynamics;
pub mod events;
pub mod integrate;
pub mod jet;
pub mod lanes;
pub mod lie;
pub mod nonsmooth;
pub mod problems;
pub mod real;
pub mod scalar;
pub mod sine;
pub mod stability;
pub mod statics;
pub mod system;
pub mod tangent;
pub mod trace;
pub mod trajectory;
pub mod vector;

pub use jet::Jet;
pub use lanes::Lanes;
pub use real::Real;
pub use scalar::Scalar;
pub use system::{Shape, State, System};
