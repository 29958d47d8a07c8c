//! Linear algebra by structure: block mass matrices, block-sparse constraint rows, and the solves built on them.

mod mass;
mod rows;

pub use mass::{Mass, MassBlock, MassError};
pub use rows::{Block, Rows};
