//! What to solve.

pub mod record;
pub mod report;
