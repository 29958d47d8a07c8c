//! Small dense matrices by rows, real or complex, with the few operations that analyses are written in.
//!
//! References: \[1\] Golub, Van Loan: Matrix Computations, 4th ed., Johns Hopkins 2013; \[2\] Higham: The scaling and squaring
//! method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26 (2005) 1179–1193.

use crate::error::AnalysisError;
use dalembert_methods::algebra::{Complex, Field, Lu};
use std::ops::{Index, IndexMut};

/// A matrix by rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dense<T> {
    rows: usize,
    cols: usize,
    values: Vec<T>,
}

/// A real matrix.
pub type Matrix = Dense<f64>;

impl<T: Field> Dense<T> {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, values: vec![T::default(); rows * cols] }
    }

    /// The unit matrix.
    pub fn unit(n: usize) -> Self {
        Self::diagonal(&vec![T::from(1.0); n])
    }

    /// A matrix with these entries on its diagonal.
    pub fn diagonal(entries: &[T]) -> Self {
        let mut m = Self::zeros(entries.len(), entries.len());
        for (i, &entry) in entries.iter().enumerate() {
            m[(i, i)] = entry;
        }
        m
    }

    /// A matrix from its entries by rows.
    ///
    /// # Panics
    /// If the number of entries is not rows × cols.
    pub fn from_rows(rows: usize, cols: usize, values: Vec<T>) -> Self {
        assert_eq!(values.len(), rows * cols, "entries of a {rows} × {cols} matrix");
        Self { rows, cols, values }
    }

    /// A matrix whose entries a function tells.
    pub fn from_fn(rows: usize, cols: usize, entry: impl Fn(usize, usize) -> T) -> Self {
        let mut m = Self::zeros(rows, cols);
        for i in 0..rows {
            for j in 0..cols {
                m[(i, j)] = entry(i, j);
            }
        }
        m
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// The entries by rows.
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// The entries by rows, to be written.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
    /// One row.
    pub fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.cols..(i + 1) * self.cols]
    }
    /// A copy of one column.
    pub fn column(&self, j: usize) -> Vec<T> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }
    /// Writes one column.
    pub fn set_column(&mut self, j: usize, column: &[T]) {
        for (i, &value) in column.iter().enumerate() {
            self[(i, j)] = value;
        }
    }

    /// The transpose, without conjugation.
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// self · other.
    pub fn mul(&self, other: &Self) -> Self {
        let mut out = Self::zeros(self.rows, other.cols);
        for i in 0..self.rows {
            for k in 0..self.cols {
                let a = self[(i, k)];
                if a != T::default() {
                    let (from, to) = (other.row(k), &mut out.values[i * other.cols..(i + 1) * other.cols]);
                    for (to, &b) in to.iter_mut().zip(from) {
                        *to += a * b;
                    }
                }
            }
        }
        out
    }

    /// self · x.
    pub fn apply(&self, x: &[T]) -> Vec<T> {
        (0..self.rows).map(|i| self.row(i).iter().zip(x).fold(T::default(), |sum, (&a, &x)| sum + a * x)).collect()
    }

    /// self + factor · other.
    pub fn plus(&self, factor: T, other: &Self) -> Self {
        let values = self.values.iter().zip(&other.values).map(|(&a, &b)| a + factor * b).collect();
        Self { rows: self.rows, cols: self.cols, values }
    }

    /// factor · self.
    pub fn scaled(&self, factor: T) -> Self {
        Self { values: self.values.iter().map(|&a| factor * a).collect(), ..*self }
    }

    /// A part of the matrix: `rows` × `cols` entries from (`row`, `col`) on.
    pub fn block(&self, row: usize, col: usize, rows: usize, cols: usize) -> Self {
        Self::from_fn(rows, cols, |i, j| self[(row + i, col + j)])
    }

    /// Writes a part of the matrix from (`row`, `col`) on.
    pub fn set_block(&mut self, row: usize, col: usize, part: &Self) {
        for i in 0..part.rows {
            for j in 0..part.cols {
                self[(row + i, col + j)] = part[(i, j)];
            }
        }
    }

    /// The largest entry in size.
    pub fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |max, a| if a.size() > max || a.size().is_nan() { a.size() } else { max })
    }

    /// The solution X of self · X = other.
    ///
    /// # Errors
    /// [`AnalysisError::Singular`] with the column that has no pivot; `what` says whose matrix it is.
    pub fn solve(&self, other: &Self, what: &'static str) -> Result<Self, AnalysisError> {
        let mut lu = Lu::new(self.rows);
        lu.values_mut().copy_from_slice(&self.values);
        lu.factor().map_err(|e| AnalysisError::Singular { what, coordinate: format!("column {}", e.column) })?;
        let mut out = Self::zeros(self.rows, other.cols);
        for j in 0..other.cols {
            let mut x = other.column(j);
            lu.solve(&mut x);
            out.set_column(j, &x);
        }
        Ok(out)
    }

    /// The same for one right-hand side.
    ///
    /// # Errors
    /// As [`Dense::solve`].
    pub fn solve_vector(&self, x: &[T], what: &'static str) -> Result<Vec<T>, AnalysisError> {
        let column = Self { rows: x.len(), cols: 1, values: x.to_vec() };
        Ok(self.solve(&column, what)?.values)
    }
}

impl<T> Index<(usize, usize)> for Dense<T> {
    type Output = T;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.values[i * self.cols + j]
    }
}

impl<T> IndexMut<(usize, usize)> for Dense<T> {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.values[i * self.cols + j]
    }
}

impl Matrix {
    /// ½ (self + selfᵀ).
    pub fn symmetric_part(&self) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| 0.5 * (self[(i, j)] + self[(j, i)]))
    }

    /// ½ (self − selfᵀ).
    pub fn skew_part(&self) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| 0.5 * (self[(i, j)] - self[(j, i)]))
    }

    /// The sum of the diagonal.
    pub fn trace(&self) -> f64 {
        (0..self.rows).map(|i| self[(i, i)]).sum()
    }

    /// The largest sum of magnitudes of a column.
    pub fn norm(&self) -> f64 {
        (0..self.cols).map(|j| (0..self.rows).map(|i| self[(i, j)].abs()).sum()).fold(0.0, f64::max)
    }

    /// The same matrix in complex numbers.
    pub fn to_complex(&self) -> Dense<Complex> {
        Dense { rows: self.rows, cols: self.cols, values: self.values.iter().map(|&a| a.into()).collect() }
    }

    /// The determinant, by elimination with row exchanges.
    pub fn determinant(&self) -> f64 {
        let (n, mut a) = (self.rows, self.clone());
        let mut product = 1.0;
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[(i, k)].abs().total_cmp(&a[(j, k)].abs())).unwrap_or(k);
            if a[(pivot, k)] == 0.0 {
                return 0.0;
            }
            if pivot != k {
                product = -product;
                for j in 0..n {
                    let swapped = a[(k, j)];
                    a[(k, j)] = a[(pivot, j)];
                    a[(pivot, j)] = swapped;
                }
            }
            product *= a[(k, k)];
            for i in k + 1..n {
                let factor = a[(i, k)] / a[(k, k)];
                for j in k..n {
                    a[(i, j)] -= factor * a[(k, j)];
                }
            }
        }
        product
    }

    /// Replaces the columns by orthonormal ones that span the same spaces in the same order (Gram, Schmidt, twice: \[1\]
    /// section 5.2), and writes what was left of each column, the diagonal of R.
    pub fn orthonormalise(&mut self, left: &mut [f64]) {
        for j in 0..self.cols {
            let mut before = self.length(j);
            for _ in 0..2 {
                for k in 0..j {
                    let part: f64 = (0..self.rows).map(|i| self[(i, k)] * self[(i, j)]).sum();
                    for i in 0..self.rows {
                        let q = self[(i, k)];
                        self[(i, j)] -= part * q;
                    }
                }
            }
            left[j] = self.length(j);
            before = before.max(f64::MIN_POSITIVE);
            let scale = if left[j] > f64::EPSILON * before { 1.0 / left[j] } else { 0.0 };
            (0..self.rows).for_each(|i| self[(i, j)] *= scale);
        }
    }

    /// The Euclidean length of a column.
    fn length(&self, j: usize) -> f64 {
        (0..self.rows).map(|i| self[(i, j)] * self[(i, j)]).sum::<f64>().sqrt()
    }

    /// The matrix exponential, by a Padé approximant of order 13 with scaling and squaring (\[2\]).
    ///
    /// # Errors
    /// [`AnalysisError::Singular`] if entries are not finite.
    pub fn exponential(&self) -> Result<Self, AnalysisError> {
        const B: [f64; 14] = [
            64_764_752_532_480_000.0,
            32_382_376_266_240_000.0,
            7_771_770_303_897_600.0,
            1_187_353_796_428_800.0,
            129_060_195_264_000.0,
            10_559_470_521_600.0,
            670_442_572_800.0,
            33_522_128_640.0,
            1_323_241_920.0,
            40_840_800.0,
            960_960.0,
            16_380.0,
            182.0,
            1.0,
        ];
        // The largest norm at which the approximant is exact to rounding.
        const THETA: f64 = 5.371_920_351_148_152;
        let n = self.rows;
        let halvings = (self.norm() / THETA).log2().ceil().max(0.0);
        let a = self.scaled(0.5f64.powf(halvings));
        let (unit, a2) = (Self::unit(n), a.mul(&a));
        let (a4, a6) = (a2.mul(&a2), a2.mul(&a2).mul(&a2));
        let sum = |c: [f64; 4]| unit.scaled(c[0]).plus(c[1], &a2).plus(c[2], &a4).plus(c[3], &a6);
        let odd = a6.mul(&sum([0.0, B[9], B[11], B[13]])).plus(1.0, &sum([B[1], B[3], B[5], B[7]]));
        let even = a6.mul(&sum([0.0, B[8], B[10], B[12]])).plus(1.0, &sum([B[0], B[2], B[4], B[6]]));
        let odd = a.mul(&odd);
        let mut e = even.plus(-1.0, &odd).solve(&even.plus(1.0, &odd), "the denominator of a matrix exponential")?;
        for _ in 0..halvings as u32 {
            e = e.mul(&e);
        }
        Ok(e)
    }

    /// The text of the matrix with a comma between entries and a line for each row.
    pub fn to_csv(&self) -> String {
        let line = |i: usize| self.row(i).iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(",") + "\n";
        (0..self.rows).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// exp(t J) of the rotation generator is a rotation, also where scaling and squaring is at work.
    #[test]
    fn the_exponential_of_a_rotation_rate_is_a_rotation() {
        for angle in [0.1, 3.0, 40.0f64] {
            let e = Matrix::from_rows(2, 2, vec![0.0, -angle, angle, 0.0]).exponential().unwrap();
            let expected = [angle.cos(), -angle.sin(), angle.sin(), angle.cos()];
            // Each squaring may double the rounding: 2^halvings ε, times a few for the solve.
            for (x, y) in e.values().iter().zip(expected) {
                assert!((x - y).abs() < 8.0 * angle.max(1.0) * f64::EPSILON * 4.0, "{x} {y}");
            }
        }
    }

    #[test]
    fn determinants_change_sign_with_exchanged_rows() {
        let m = Matrix::from_rows(3, 3, vec![0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 3.0]);
        assert_eq!(m.determinant(), -6.0);
    }

    #[test]
    fn orthonormal_columns_keep_their_span() {
        let mut m = Matrix::from_fn(4, 3, |i, j| ((i * i * 3 + i * j + j * j) as f64).sin());
        let (before, mut left) = (m.clone(), [0.0; 3]);
        m.orthonormalise(&mut left);
        let gram = m.transpose().mul(&m).plus(-1.0, &Matrix::unit(3));
        assert!(gram.largest() < 8.0 * f64::EPSILON);
        // Column j of the old matrix has no part outside the first j + 1 new ones.
        let rest = before.plus(-1.0, &m.mul(&m.transpose()).mul(&before));
        assert!(rest.largest() < 16.0 * f64::EPSILON);
    }
}
