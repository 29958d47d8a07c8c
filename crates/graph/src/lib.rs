//! The fourth reading of an equation: recorded, differentiated, compiled.
//!
//! Equations are written once over a number ([`dalembert_methods::Real`]). Read with [`Trace`] they become a graph of expressions
//! ([`record`]). From there on this crate goes
//!
//! ```text
//! graph → derivatives → program → interpreter · machine code
//!                     → text · LaTeX · C · Rust
//! ```
//!
//! It knows no mechanics.
//!
//! ```
//! use dalembert_graph::{Function, derive::jacobian::jacobian, record};
//! use dalembert_methods::Real;
//!
//! let polar = record(2, |x| {
//!     let (s, c) = x[1].sin_cos();
//!     vec![x[0] * c, x[0] * s]
//! })?;
//! let slope = Function::interpreted(&jacobian(&polar).function);
//! let (mut work, mut entries) = (slope.work(), [0.0; 4]);
//! slope.call(&mut work, &[2.0, 0.0], &mut entries);
//! assert_eq!(entries, [1.0, 0.0, 0.0, 2.0]);
//! # Ok::<(), dalembert_graph::TraceError>(())
//! ```

pub mod derive;
pub mod export;
pub mod function;
pub mod kernels;
#[cfg(feature = "compile")]
pub mod machine;
pub mod map;
pub mod program;
pub mod recipe;
#[cfg(feature = "compile")]
pub mod store;
pub mod tape;
pub mod touching;

pub use dalembert_methods::trace::{
    Graph, Id, Near, Node, Op, Recorded, Trace, TraceError, record, record_again, record_near,
};
pub use derive::jacobian::Sparse;
pub use function::{Function, Way, Work};
pub use kernels::Kernels;
pub use program::Program;
pub use tape::Tape;
