//! What to solve.
