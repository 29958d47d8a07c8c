//! Linear algebra by structure: block mass matrices, block-sparse constraint rows, and the solves built on them.

mod carried;
mod cholesky;
mod field;
mod hubs;
mod layout;
mod lu;
mod mass;
mod ordering;
mod parts;
mod rows;
mod saddle;
mod schur;
mod sparse;

pub use field::{Complex, Field};
pub use layout::Structure;
pub use lu::{Lu, SingularColumn};
pub(crate) use mass::cholesky;
pub use mass::{Mass, MassBlock, MassError};
pub use rows::{Block, Rows};
pub use saddle::{CONSISTENT, DEPENDENT, RETURN, SPREAD, Saddle, SaddleError, VANISHED};
pub use sparse::{Sparse, SparseLu};

/// The product of two vectors of the same length, in four interleaved sums (which compilers turn into lanes).
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let b = &b[..a.len()];
    let (fours, others) = (a.chunks_exact(4), a.len() / 4 * 4);
    let mut sums = [0.0; 4];
    for (a, b) in fours.zip(b.chunks_exact(4)) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest = a[others..].iter().zip(&b[others..]).fold(0.0, |sum, (a, b)| sum + a * b);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
