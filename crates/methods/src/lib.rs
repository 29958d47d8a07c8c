//! How to solve.
