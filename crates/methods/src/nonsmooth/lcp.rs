//! Linear complementarity problems: w = M z + q, w ≥ 0, z ≥ 0, wᵀz = 0.
//!
//! Lemke's method \[1\] with covering vector 1 and lexicographic choice of the leaving variable \[2, section 4.9\]: no basis is
//! visited twice, so that it terminates for every M and q. It ends with a solution or on a ray. On a ray there is no
//! solution if M is copositive-plus (symmetric semidefinite matrices, the impact laws without friction); for other matrices the
//! method does not know. Complementary variables found are then polished: M_αα z_α = −q_α is solved anew on the set α of
//! positive z, which removes the rounding gathered by the pivots.
//!
//! References: \[1\] C. E. Lemke: Bimatrix equilibrium points and mathematical programming, Management Sci. 11 (1965) 681–689;
//! \[2\] R. W. Cottle, J.-S. Pang, R. E. Stone: The Linear Complementarity Problem, Academic Press 1992.

use crate::algebra::Lu;
use std::cmp::Ordering;
use std::fmt;

/// Entries of a pivot column below this, relative to the largest entry of the column's row history, count as zero.
const PIVOT: f64 = 1e-11;
/// Values this close, relative to the size of the right-hand side, tie in the ratio test.
const TIE: f64 = 1e-13;

/// How well a solution must hold, relative to the size of q.
const HOLDS: f64 = 1e-9;
/// What is added to the diagonal, relative to its largest entry, when a solution does not hold.
const SHIFTS: [f64; 3] = [1e-13, 1e-11, 1e-9];

/// Why a complementarity problem was not solved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LcpError {
    /// The method ended on a ray.
    Ray {
        /// The variable that could grow without bound.
        variable: usize,
    },
    /// Rounding made the pivots go in circles, or a value was not a finite number.
    Rounding {
        /// Pivots made.
        pivots: usize,
    },
}

impl fmt::Display for LcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ray { variable } => write!(f, "the complementarity problem ends on a ray of variable {variable}"),
            Self::Rounding { pivots } => {
                write!(
                    f,
                    "the complementarity problem was given up after {pivots} pivots; its numbers are too ill scaled"
                )
            }
        }
    }
}

impl std::error::Error for LcpError {}

/// A solution of a complementarity problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// z ≥ 0.
    pub z: Vec<f64>,
    /// w = M z + q ≥ 0, to 1e-9 of the size of q.
    pub w: Vec<f64>,
    /// Pivots made.
    pub pivots: usize,
}

/// Solves w = M z + q, 0 ≤ w ⟂ z ≥ 0; `m` is n × n by rows.
///
/// # Panics
/// If `m` does not have the square of the length of `q` entries.
pub fn lemke(m: &[f64], q: &[f64]) -> Result<Solution, LcpError> {
    let n = q.len();
    assert_eq!(m.len(), n * n, "the matrix is square and as large as the vector");
    if !m.iter().chain(q).all(|value| value.is_finite()) {
        return Err(LcpError::Rounding { pivots: 0 });
    }
    if q.iter().all(|&q| q >= 0.0) {
        return Ok(Solution { z: vec![0.0; n], w: q.to_vec(), pivots: 0 });
    }
    let scale = q.iter().fold(0.0, |max: f64, q| max.max(q.abs()));
    let largest = (0..n).fold(0.0, |max: f64, i| max.max(m[i * n + i].abs()));
    let first = pivot_through(m, m, q);
    if let Ok(solution) = &first
        && solution.holds(scale)
    {
        return first;
    }
    // Rounding may lose the way on matrices that are singular on it: a little more on the diagonal finds it again.
    let mut shifted = m.to_vec();
    for shift in SHIFTS {
        (0..n).for_each(|i| shifted[i * n + i] = m[i * n + i] + shift * largest);
        if let Ok(solution) = pivot_through(&shifted, m, q)
            && solution.holds(scale)
        {
            return Ok(solution);
        }
    }
    Err(first.map_or_else(|error| error, |solution| LcpError::Rounding { pivots: solution.pivots }))
}

impl Solution {
    /// Whether it is one, to [`HOLDS`] of the size of q.
    fn holds(&self, scale: f64) -> bool {
        let most = self.z.iter().fold(0.0, |max: f64, z| max.max(*z));
        let complementary =
            |(w, z): (&f64, &f64)| w.abs().min(*z / most.max(f64::MIN_POSITIVE) * scale) <= HOLDS * scale;
        self.w.iter().all(|&w| w >= -HOLDS * scale) && self.w.iter().zip(&self.z).all(complementary)
    }
}

/// Pivots on one matrix, and completes the solution with the set found on the matrix asked for.
fn pivot_through(path: &[f64], m: &[f64], q: &[f64]) -> Result<Solution, LcpError> {
    let n = q.len();
    let mut tableau = Tableau::new(path, q);
    let set = tableau.run()?;
    let mut z = vec![0.0; n];
    for (row, &variable) in tableau.basis.iter().enumerate() {
        if (n..2 * n).contains(&variable) {
            z[variable - n] = tableau.value(row).max(0.0);
        }
    }
    polish(m, q, &set, &mut z);
    let w = residual(m, q, &z);
    Ok(Solution { z, w, pivots: tableau.pivots })
}

/// M z + q.
fn residual(m: &[f64], q: &[f64], z: &[f64]) -> Vec<f64> {
    let n = q.len();
    (0..n).map(|i| q[i] + m[i * n..(i + 1) * n].iter().zip(z).fold(0.0, |sum, (m, z)| sum + m * z)).collect()
}

/// Solves on the set of positive variables once more, and keeps the result if it is as good a solution.
fn polish(m: &[f64], q: &[f64], set: &[usize], z: &mut [f64]) {
    let (n, k) = (q.len(), set.len());
    let mut lu = Lu::new(k);
    let mut x: Vec<f64> = set.iter().map(|&i| -q[i]).collect();
    for (row, &i) in set.iter().enumerate() {
        for (col, &j) in set.iter().enumerate() {
            lu.values_mut()[row * k + col] = m[i * n + j];
        }
    }
    if lu.factor().is_err() {
        return;
    }
    lu.solve(&mut x);
    let mut better = vec![0.0; n];
    for (&i, &x) in set.iter().zip(&x) {
        better[i] = x.max(0.0);
    }
    let violation = |z: &[f64]| {
        let w = residual(m, q, z);
        let equal = set.iter().fold(0.0, |max: f64, &i| max.max(w[i].abs()));
        w.iter().fold(equal, |max, w| max.max(-w))
    };
    if violation(&better) <= violation(z) {
        z.copy_from_slice(&better);
    }
}

/// w − M z − z₀ = q in the current basis. Columns: w (which is the inverse of the basis), z, z₀, right-hand side.
struct Tableau {
    n: usize,
    cols: usize,
    values: Vec<f64>,
    basis: Vec<usize>,
    scale: f64,
    pivots: usize,
}

impl Tableau {
    fn new(m: &[f64], q: &[f64]) -> Self {
        let n = q.len();
        let cols = 2 * n + 2;
        let mut values = vec![0.0; n * cols];
        for i in 0..n {
            let row = &mut values[i * cols..(i + 1) * cols];
            row[i] = 1.0;
            for j in 0..n {
                row[n + j] = -m[i * n + j];
            }
            row[2 * n] = -1.0;
            row[2 * n + 1] = q[i];
        }
        let scale = q.iter().fold(0.0, |max: f64, q| max.max(q.abs()));
        Self { n, cols, values, basis: (0..n).collect(), scale, pivots: 0 }
    }

    fn value(&self, row: usize) -> f64 {
        self.values[row * self.cols + 2 * self.n + 1]
    }

    fn entry(&self, row: usize, col: usize) -> f64 {
        self.values[row * self.cols + col]
    }

    /// Pivots to a complementary basis; returns the indices of its z, ascending.
    fn run(&mut self) -> Result<Vec<usize>, LcpError> {
        let n = self.n;
        let artificial = 2 * n;
        // The first pivot makes all values non-negative: the row with the smallest value leaves, the last of equal ones,
        // which is the lexicographic choice for a basis that is the identity.
        let mut row = (0..n).fold(0, |best, i| if self.value(i) <= self.value(best) { i } else { best });
        let mut entering = artificial;
        let most = 50 * n + 1000;
        loop {
            let leaving = self.basis[row];
            self.pivot(row, entering);
            if leaving == artificial {
                let mut set: Vec<usize> =
                    self.basis.iter().filter(|&&b| (n..2 * n).contains(&b)).map(|b| b - n).collect();
                set.sort_unstable();
                return Ok(set);
            }
            if self.pivots > most {
                return Err(LcpError::Rounding { pivots: self.pivots });
            }
            entering = if leaving < n { leaving + n } else { leaving - n };
            row = self.leaving_row(entering).ok_or(LcpError::Ray { variable: entering % n })?;
        }
    }

    /// The row that keeps all values lexicographically positive when `col` enters; none on a ray.
    fn leaving_row(&self, col: usize) -> Option<usize> {
        let largest = (0..self.n).fold(0.0, |max: f64, i| max.max(self.entry(i, col).abs()));
        let mut best: Option<usize> = None;
        for i in 0..self.n {
            if self.entry(i, col) <= PIVOT * largest.max(1e-300) {
                continue;
            }
            best = match best {
                Some(b) if self.compare(b, i, col) != Ordering::Greater => Some(b),
                _ => Some(i),
            };
        }
        best
    }

    /// The lexicographic order of two rows divided by their entries of the column that enters; z₀ leaves on a tie.
    fn compare(&self, a: usize, b: usize, col: usize) -> Ordering {
        let (pa, pb) = (self.entry(a, col), self.entry(b, col));
        let difference = self.value(a) / pa - self.value(b) / pb;
        if difference.abs() > TIE * self.scale / pa.min(pb) {
            return difference.total_cmp(&0.0);
        }
        let artificial = 2 * self.n;
        if self.basis[a] == artificial {
            return Ordering::Less;
        }
        if self.basis[b] == artificial {
            return Ordering::Greater;
        }
        for k in 0..self.n {
            let (xa, xb) = (self.entry(a, k) / pa, self.entry(b, k) / pb);
            if (xa - xb).abs() > TIE * (xa.abs() + xb.abs() + 1.0) {
                return xa.total_cmp(&xb);
            }
        }
        a.cmp(&b)
    }

    fn pivot(&mut self, row: usize, col: usize) {
        self.pivots += 1;
        let cols = self.cols;
        let inverse = 1.0 / self.entry(row, col);
        for value in &mut self.values[row * cols..(row + 1) * cols] {
            *value *= inverse;
        }
        let (above, rest) = self.values.split_at_mut(row * cols);
        let (pivot, below) = rest.split_at_mut(cols);
        for other in above.chunks_exact_mut(cols).chain(below.chunks_exact_mut(cols)) {
            let factor = other[col];
            if factor != 0.0 {
                for (value, pivot) in other.iter_mut().zip(&*pivot) {
                    *value -= factor * pivot;
                }
                other[col] = 0.0;
            }
        }
        self.basis[row] = col;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn check(m: &[f64], q: &[f64], solution: &Solution, tolerance: f64) {
        for i in 0..q.len() {
            assert!(solution.z[i] >= 0.0 && solution.w[i] >= -tolerance, "{solution:?} {m:?} {q:?}");
            assert!((solution.z[i] * solution.w[i]).abs() <= tolerance * (1.0 + solution.z[i]), "{solution:?}");
        }
    }

    #[test]
    fn a_small_problem_by_hand() {
        // Cottle, Pang, Stone, example 1.3: z = (4/3, 7/3).
        let (m, q) = ([2.0, 1.0, 1.0, 2.0], [-5.0, -6.0]);
        let solution = lemke(&m, &q).unwrap();
        assert!((solution.z[0] - 4.0 / 3.0).abs() < 1e-15 && (solution.z[1] - 7.0 / 3.0).abs() < 1e-15);
        check(&m, &q, &solution, 1e-14);
        assert_eq!(lemke(&m, &[0.0, 3.0]).unwrap().z, [0.0, 0.0]);
    }

    #[test]
    fn no_solution_is_a_ray() {
        // w = −z − 1 is never positive; for a copositive-plus matrix: w₁ = z₁ − z₂ − 1, w₂ = z₂ − z₁ − 1 add to −2.
        assert_eq!(lemke(&[-1.0], &[-1.0]), Err(LcpError::Ray { variable: 0 }));
        assert!(matches!(lemke(&[1.0, -1.0, -1.0, 1.0], &[-1.0, -1.0]), Err(LcpError::Ray { .. })));
        assert!(matches!(lemke(&[f64::NAN], &[-1.0]), Err(LcpError::Rounding { pivots: 0 })));
    }

    #[test]
    fn ties_do_not_go_in_circles() {
        // Equal rows, equal values: four supports of a rigid table, of which any three carry it.
        let columns = [[1.0, 1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, 1.0], [1.0, -1.0, -1.0]];
        let m: Vec<f64> =
            (0..16).map(|k| columns[k / 4].iter().zip(&columns[k % 4]).fold(0.0, |sum, (a, b)| sum + a * b)).collect();
        let q = [-1.0; 4];
        let solution = lemke(&m, &q).unwrap();
        check(&m, &q, &solution, 1e-14);
        // Beale's kind of degeneracy: zeros in q with a matrix of a cone of friction.
        let m = [1.0, 0.5, -0.5, 0.0, 0.5, 1.0, -1.0, 1.0, -0.5, -1.0, 1.0, 1.0, 0.3, -1.0, -1.0, 0.0];
        let q = [-1.0, 0.0, 0.0, 0.0];
        check(&m, &q, &lemke(&m, &q).unwrap(), 1e-14);
    }

    #[test]
    fn exponential_paths_end() {
        // Murty's matrix: lower triangular with 2 below a unit diagonal; Lemke's method may need 2ⁿ − 1 pivots on it.
        let n = 8;
        let m: Vec<f64> = (0..n * n)
            .map(|k| match (k / n).cmp(&(k % n)) {
                Ordering::Greater => 2.0,
                Ordering::Equal => 1.0,
                Ordering::Less => 0.0,
            })
            .collect();
        let q: Vec<f64> = (0..n).map(|i| -f64::from(1u32 << (n - i))).collect();
        check(&m, &q, &lemke(&m, &q).unwrap(), 1e-9);
    }
}
