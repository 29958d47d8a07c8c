//! How to choose best: sparse nonlinear programs, solved by interior points or by a sequence of quadratic programs.
//!
//! The crate knows no mechanics. A program is anything that implements [`Nlp`]; solvers return a [`Report`] that names constraints and
//! variables as the user does.

pub mod interior;
pub mod linear;
pub mod nlp;
pub mod pareto;
pub mod problems;
mod reduced;
pub mod report;
pub mod second;
pub mod solver;
pub mod sqp;
mod structure;
pub mod written;

pub use nlp::{Bound, Nlp, Point, Size};
pub use report::{Control, Outcome, Progress, Report};
pub use solver::Solver;
