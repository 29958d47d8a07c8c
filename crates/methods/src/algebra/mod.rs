//! Linear algebra by structure: block mass matrices, block-sparse constraint rows, and the solves built on them.

mod cholesky;
mod mass;
mod ordering;
mod rows;
mod saddle;

pub use mass::{Mass, MassBlock, MassError};
pub use rows::{Block, Rows};
pub use saddle::{CONSISTENT, DEPENDENT, RETURN, SPREAD, Saddle, SaddleError};
