//! What to solve.

pub mod expression;
pub mod scene;
