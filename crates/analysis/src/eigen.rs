//! Eigenvalues of dense matrices: the complex Schur form A = Q T Qᴴ, eigenvectors from it, and symmetric pairs.
//!
//! A is reduced to Hessenberg form by reflections, then to triangular form by shifted QR steps with rotations
//! (Wilkinson's shift). Real matrices take the same way; the conjugate of each eigenvalue is found to rounding. Symmetric problems
//! M x ω² = K x with positive M go through Cholesky factors and Jacobi rotations, which find small eigenvalues to high relative accuracy.
//!
//! Reference: Golub, Van Loan: Matrix Computations, 4th ed., Johns Hopkins 2013, sections 7.4–7.6 and 8.5, 8.7.

use crate::dense::{Dense, Matrix};
use crate::error::AnalysisError;
use dalembert_methods::algebra::{Complex, Field};

/// QR steps for each eigenvalue after which the iteration is given up.
const STEPS: usize = 60;
/// Most sweeps of Jacobi rotations.
const SWEEPS: usize = 60;

/// A = Q T Qᴴ with unitary Q and upper triangular T.
#[derive(Clone, Debug)]
pub struct Schur {
    /// The unitary matrix.
    pub q: Dense<Complex>,
    /// The triangular one; eigenvalues are on its diagonal.
    pub t: Dense<Complex>,
}

/// The square root with positive real part.
pub fn root(z: Complex) -> Complex {
    let r = z.modulus();
    let re = (0.5 * (r + z.re)).max(0.0).sqrt();
    let im = (0.5 * (r - z.re)).max(0.0).sqrt();
    Complex::new(re, if z.im < 0.0 { -im } else { im })
}

/// The Schur form of a square matrix.
///
/// # Errors
/// [`AnalysisError::NotFinite`] for entries that are not finite, and [`AnalysisError::NotConverged`] should the iteration fail.
pub fn schur(a: &Dense<Complex>) -> Result<Schur, AnalysisError> {
    let n = a.rows();
    if !a.values().iter().all(|z| z.size().is_finite()) {
        return Err(AnalysisError::NotFinite { t: 0.0, what: "an entry of a matrix".to_owned() });
    }
    let (mut h, mut q) = (a.clone(), Dense::unit(n));
    hessenberg(&mut h, &mut q);
    let (mut high, mut steps) = (n, 0);
    while high > 1 {
        let last = high - 1;
        let mut low = last;
        while low > 0 {
            let size = h[(low - 1, low - 1)].size() + h[(low, low)].size();
            let size = if size == 0.0 { h.largest() } else { size };
            if h[(low, low - 1)].size() <= f64::EPSILON * size {
                h[(low, low - 1)] = Complex::default();
                break;
            }
            low -= 1;
        }
        if low == last {
            (high, steps) = (last, 0);
            continue;
        }
        steps += 1;
        if steps > STEPS {
            let residual = h[(last, last - 1)].size();
            let advice = "scale the coordinates so that entries are of similar size";
            return Err(AnalysisError::NotConverged { what: "the Schur form", iterations: steps, residual, advice });
        }
        let shift = if steps % 12 == 0 {
            h[(last, last)] + Complex::from(h[(last, last - 1)].modulus())
        } else {
            wilkinson(&h, last)
        };
        sweep(&mut h, &mut q, low, high, shift);
    }
    for i in 0..n {
        for j in 0..i {
            h[(i, j)] = Complex::default();
        }
    }
    Ok(Schur { q, t: h })
}

/// The eigenvalue of the last 2 × 2 block nearer to its last entry.
fn wilkinson(h: &Dense<Complex>, last: usize) -> Complex {
    let (a, b) = (h[(last - 1, last - 1)], h[(last - 1, last)]);
    let (c, d) = (h[(last, last - 1)], h[(last, last)]);
    let half = (a - d) * Complex::from(0.5);
    let s = root(half * half + b * c);
    let s = if half.re * s.re + half.im * s.im < 0.0 { -s } else { s };
    let denominator = half + s;
    if denominator.size() == 0.0 { d } else { d - b * c / denominator }
}

/// Reduces to Hessenberg form by reflections.
fn hessenberg(h: &mut Dense<Complex>, q: &mut Dense<Complex>) {
    let n = h.rows();
    for k in 0..n.saturating_sub(2) {
        let mut v: Vec<Complex> = (k + 1..n).map(|i| h[(i, k)]).collect();
        let length = v.iter().map(|z| z.re * z.re + z.im * z.im).sum::<f64>().sqrt();
        if length == 0.0 {
            continue;
        }
        let modulus = v[0].modulus();
        let phase = if modulus == 0.0 { Complex::from(1.0) } else { v[0] * Complex::from(1.0 / modulus) };
        v[0] += phase * Complex::from(length);
        let square: f64 = v.iter().map(|z| z.re * z.re + z.im * z.im).sum();
        let factor = Complex::from(2.0 / square);
        // (1 − 2 v vᴴ / vᴴv) from the left, then from the right.
        for j in 0..n {
            let sum = v.iter().enumerate().fold(Complex::default(), |s, (i, z)| s + z.conj() * h[(k + 1 + i, j)]);
            for (i, &z) in v.iter().enumerate() {
                h[(k + 1 + i, j)] -= z * sum * factor;
            }
        }
        for m in [&mut *h, &mut *q] {
            for i in 0..n {
                let sum = v.iter().enumerate().fold(Complex::default(), |s, (j, &z)| s + m[(i, k + 1 + j)] * z);
                for (j, z) in v.iter().enumerate() {
                    m[(i, k + 1 + j)] -= sum * z.conj() * factor;
                }
            }
        }
    }
}

/// One QR step on rows `low..high`.
fn sweep(h: &mut Dense<Complex>, q: &mut Dense<Complex>, low: usize, high: usize, shift: Complex) {
    let n = h.rows();
    for i in low..high {
        h[(i, i)] -= shift;
    }
    let mut turns = Vec::with_capacity(high - low);
    for k in low..high - 1 {
        let (a, b) = (h[(k, k)], h[(k + 1, k)]);
        let length = a.modulus().hypot(b.modulus());
        let (c, s) = if length == 0.0 {
            (Complex::from(1.0), Complex::default())
        } else {
            let scale = Complex::from(1.0 / length);
            (a * scale, b * scale)
        };
        for j in k..n {
            let (x, y) = (h[(k, j)], h[(k + 1, j)]);
            h[(k, j)] = c.conj() * x + s.conj() * y;
            h[(k + 1, j)] = c * y - s * x;
        }
        turns.push((c, s));
    }
    for (k, &(c, s)) in turns.iter().enumerate() {
        let k = low + k;
        for m in [&mut *h, &mut *q] {
            for i in 0..n {
                let (x, y) = (m[(i, k)], m[(i, k + 1)]);
                m[(i, k)] = x * c + y * s;
                m[(i, k + 1)] = y * c.conj() - x * s.conj();
            }
        }
    }
    for i in low..high {
        h[(i, i)] += shift;
    }
}

impl Schur {
    /// The eigenvalues, in the order of the triangular matrix.
    pub fn values(&self) -> Vec<Complex> {
        (0..self.t.rows()).map(|i| self.t[(i, i)]).collect()
    }

    /// The right eigenvectors as columns, of unit length, in the same order.
    pub fn vectors(&self) -> Dense<Complex> {
        let n = self.t.rows();
        let small = f64::EPSILON * self.t.largest().max(f64::MIN_POSITIVE);
        let mut out = Dense::zeros(n, n);
        for k in 0..n {
            let mut y = vec![Complex::default(); n];
            y[k] = Complex::from(1.0);
            for i in (0..k).rev() {
                let sum = (i + 1..=k).fold(Complex::default(), |s, j| s + self.t[(i, j)] * y[j]);
                let mut d = self.t[(i, i)] - self.t[(k, k)];
                if d.size() < small {
                    d = Complex::from(small);
                }
                y[i] = -sum / d;
            }
            let x = self.q.apply(&y);
            let length = x.iter().map(|z| z.re * z.re + z.im * z.im).sum::<f64>().sqrt();
            let x: Vec<Complex> = x.iter().map(|&z| z * Complex::from(1.0 / length)).collect();
            out.set_column(k, &x);
        }
        out
    }
}

/// The eigenvalues of a real matrix, by falling modulus, then rising argument's magnitude; those of a pair follow each other.
///
/// # Errors
/// As [`schur`].
pub fn eigenvalues(a: &Matrix) -> Result<Vec<Complex>, AnalysisError> {
    let mut values = schur(&a.to_complex())?.values();
    let size = values.iter().fold(0.0f64, |max, z| max.max(z.modulus()));
    // What is real to rounding is made so, and pairs are made exact conjugates by their order.
    for z in &mut values {
        if z.im.abs() <= 1e2 * f64::EPSILON * size {
            z.im = 0.0;
        }
    }
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * size;
    values.sort_by(|a, b| {
        if close(a.modulus(), b.modulus()) {
            if close(a.re, b.re) { b.im.total_cmp(&a.im) } else { b.re.total_cmp(&a.re) }
        } else {
            b.modulus().total_cmp(&a.modulus())
        }
    });
    Ok(values)
}

/// Parts of eigenvalues below this, relative to the largest one, are rounding.
const ROUNDING: f64 = 1e-12;

/// Eigenvalues without what is rounding in them.
pub fn without_rounding(values: &[Complex]) -> Vec<Complex> {
    let size = values.iter().fold(0.0f64, |max, z| max.max(z.modulus()));
    let part = |x: f64| if x.abs() <= ROUNDING * size { 0.0 } else { x };
    values.iter().map(|z| Complex::new(part(z.re), part(z.im))).collect()
}

/// The eigenvalues of a symmetric matrix, ascending, with orthonormal eigenvectors as columns (Jacobi rotations).
pub fn symmetric(a: &Matrix) -> (Vec<f64>, Matrix) {
    let n = a.rows();
    let (mut a, mut v) = (a.clone(), Matrix::unit(n));
    for _ in 0..SWEEPS {
        let mut off = 0.0f64;
        for p in 0..n {
            for q in p + 1..n {
                let entry = a[(p, q)];
                off = off.max(entry.abs());
                if entry.abs() <= f64::MIN_POSITIVE {
                    continue;
                }
                let theta = (a[(q, q)] - a[(p, p)]) / (2.0 * entry);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[(k, p)], a[(k, q)]);
                    (a[(k, p)], a[(k, q)]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[(k, p)], v[(k, q)]);
                    (v[(k, p)], v[(k, q)]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[(p, k)], a[(q, k)]);
                    (a[(p, k)], a[(q, k)]) = (c * x - s * y, s * x + c * y);
                }
                (a[(p, q)], a[(q, p)]) = (0.0, 0.0);
            }
        }
        if off <= f64::EPSILON * f64::EPSILON * a.largest() {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[(i, i)].total_cmp(&a[(j, j)]));
    let values = order.iter().map(|&i| a[(i, i)]).collect();
    (values, Matrix::from_fn(n, n, |i, j| v[(i, order[j])]))
}

/// The lower Cholesky factor of a symmetric positive matrix.
///
/// # Errors
/// [`AnalysisError::SingularMass`] with the number of the first coordinate without a positive pivot.
pub fn cholesky(m: &Matrix) -> Result<Matrix, AnalysisError> {
    let n = m.rows();
    let mut l = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let sum = (0..j).fold(m[(i, j)], |sum, k| sum - l[(i, k)] * l[(j, k)]);
            if i != j {
                l[(i, j)] = sum / l[(j, j)];
            } else if sum > n as f64 * f64::EPSILON * m[(i, i)].abs() {
                l[(i, i)] = sum.sqrt();
            } else {
                return Err(AnalysisError::SingularMass { coordinate: format!("coordinate {i}") });
            }
        }
    }
    Ok(l)
}

/// The pairs of K x = ω² M x with symmetric K and symmetric positive M: ω² ascending, and Xᵀ M X = 1.
///
/// # Errors
/// As [`cholesky`].
pub fn symmetric_pair(k: &Matrix, m: &Matrix) -> Result<(Vec<f64>, Matrix), AnalysisError> {
    let l = cholesky(m)?;
    let half = l.solve(k, "a Cholesky factor")?;
    let whole = l.solve(&half.transpose(), "a Cholesky factor")?.symmetric_part();
    let (values, u) = symmetric(&whole);
    let x = l.transpose().solve(&u, "a Cholesky factor")?;
    Ok((values, x))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sample(n: usize) -> Matrix {
        Matrix::from_fn(n, n, |i, j| ((1 + 7 * i + 3 * j * j + i * j) as f64).sin())
    }

    /// Q T Qᴴ is the matrix, and Q is unitary.
    #[test]
    fn schur_forms_give_the_matrix_back() {
        for n in [1, 2, 3, 5, 12] {
            let a = sample(n).to_complex();
            let Schur { q, t } = schur(&a).unwrap();
            let adjoint = Dense::from_fn(n, n, |i, j| q[(j, i)].conj());
            let bound = 50.0 * n as f64 * f64::EPSILON * a.largest();
            assert!(q.mul(&t).mul(&adjoint).plus(Complex::from(-1.0), &a).largest() < bound);
            assert!(q.mul(&adjoint).plus(Complex::from(-1.0), &Dense::unit(n)).largest() < bound);
        }
    }

    #[test]
    fn eigenvectors_meet_their_equation() {
        let a = sample(6).to_complex();
        let form = schur(&a).unwrap();
        let (values, vectors) = (form.values(), form.vectors());
        for (k, &value) in values.iter().enumerate() {
            let x = vectors.column(k);
            for (ax, &x) in a.apply(&x).iter().zip(&x) {
                assert!((*ax - value * x).size() < 1e3 * f64::EPSILON * a.largest());
            }
        }
    }

    /// The companion matrix of (z − 1)(z − 2)(z² + 1).
    #[test]
    fn a_companion_matrix_has_the_roots_of_its_polynomial() {
        let c = [-2.0, 3.0, -3.0, 3.0];
        let a = Matrix::from_fn(4, 4, |i, j| if i == 0 { c[3 - j] } else { f64::from(u8::from(i == j + 1)) });
        let found = eigenvalues(&a).unwrap();
        let expected = [(2.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.0, -1.0)];
        for (z, (re, im)) in found.iter().zip(expected) {
            assert!((z.re - re).abs() + (z.im - im).abs() < 1e-13, "{found:?}");
        }
    }

    #[test]
    fn a_singular_mass_is_named() {
        let m = Matrix::from_rows(2, 2, vec![1.0, 1.0, 1.0, 1.0]);
        let error = symmetric_pair(&Matrix::unit(2), &m).unwrap_err();
        assert_eq!(error, AnalysisError::SingularMass { coordinate: "coordinate 1".to_owned() });
    }
}
