//! Sparse symmetric indefinite systems: order, plan, LDLᵀ with inertia, solve.

mod eliminate;
mod ldl;
mod matrix;
mod order;
mod symbolic;

pub use ldl::{Inertia, Ldl, NotFinite};
