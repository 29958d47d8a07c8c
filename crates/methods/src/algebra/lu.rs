//! Dense LU factors with row pivoting, for real and complex matrices, on storage that the caller keeps.
//!
//! P A = L U, computed by rows in place; L has a unit diagonal. References: G. H. Golub, C. F. Van Loan, *Matrix Computations*,
//! 4th ed., Johns Hopkins 2013, section 3.4.

use super::Field;
use std::fmt;

/// A matrix has no usable pivot in a column.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SingularColumn {
    /// The column, numbered as in the matrix given.
    pub column: usize,
}

impl fmt::Display for SingularColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the matrix is singular: column {} depends on the others or is not finite", self.column)
    }
}

impl std::error::Error for SingularColumn {}

/// A square matrix by rows, and later its factors in the same place.
#[derive(Clone, Debug)]
pub struct Lu<T> {
    n: usize,
    values: Vec<T>,
    swaps: Vec<usize>,
}

impl<T: Field> Lu<T> {
    /// A zero matrix of size n × n.
    pub fn new(n: usize) -> Self {
        Self { n, values: vec![T::default(); n * n], swaps: vec![0; n] }
    }

    /// The number of rows.
    pub fn size(&self) -> usize {
        self.n
    }

    /// The matrix by rows, to be written before [`Lu::factor`], which overwrites it.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Factors in place. A pivot below n ε times the largest entry its column had counts as zero.
    pub fn factor(&mut self) -> Result<(), SingularColumn> {
        let n = self.n;
        for k in 0..n {
            // Column k so far holds the factors above the diagonal and what is left of the matrix below it.
            let (mut pivot, mut best, mut above) = (k, 0.0, 0.0f64);
            for i in 0..n {
                let size = self.values[i * n + k].size();
                above = above.max(size);
                if i >= k && (size > best || size.is_nan()) {
                    (pivot, best) = (i, size);
                }
            }
            if best.is_nan() || best.is_infinite() || best <= n as f64 * f64::EPSILON * above || best == 0.0 {
                return Err(SingularColumn { column: k });
            }
            self.swaps[k] = pivot;
            let (top, bottom) = self.values.split_at_mut((k + 1) * n);
            let pivot_row = &mut top[k * n..];
            if pivot != k {
                pivot_row.swap_with_slice(&mut bottom[(pivot - k - 1) * n..(pivot - k) * n]);
            }
            let inverse = T::from(1.0) / pivot_row[k];
            for row in bottom.chunks_exact_mut(n) {
                let factor = row[k] * inverse;
                row[k] = factor;
                if factor != T::default() {
                    for (entry, &upper) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                        *entry -= factor * upper;
                    }
                }
            }
        }
        Ok(())
    }

    /// The smallest pivot of the factors; infinity without any.
    pub fn smallest_pivot(&self) -> f64 {
        (0..self.n).fold(f64::INFINITY, |min, k| min.min(self.values[k * (self.n + 1)].size()))
    }

    /// Replaces `x` by A⁻¹ x.
    pub fn solve(&self, x: &mut [T]) {
        let n = self.n;
        for k in 0..n {
            x.swap(k, self.swaps[k]);
        }
        for i in 0..n {
            let row = &self.values[i * n..(i + 1) * n];
            let sum = row[..i].iter().zip(&*x).fold(T::default(), |sum, (&l, &x)| sum + l * x);
            x[i] -= sum;
        }
        for i in (0..n).rev() {
            let row = &self.values[i * n..(i + 1) * n];
            let sum = row[i + 1..].iter().zip(&x[i + 1..]).fold(T::default(), |sum, (&u, &x)| sum + u * x);
            x[i] = (x[i] - sum) / row[i];
        }
    }
}
