//! Stability without eigenvalues: the characteristic polynomial and the scheme of Routh and Hurwitz.
//!
//! References: Müller, Schiehlen: Linear Vibrations, Martinus Nijhoff 1985, section 5.2; Gantmacher: The Theory of Matrices, vol. 2, chapter
//! XV.

use crate::dense::Matrix;
use crate::error::AnalysisError;

/// What is zero in the scheme, relative to the entries it was computed from.
const ZERO: f64 = 1e-12;

/// The coefficients of det(λ − A), from λⁿ down to 1 (Faddeev, Leverrier). Meant for small matrices.
pub fn characteristic_polynomial(a: &Matrix) -> Vec<f64> {
    let n = a.rows();
    let (mut coefficients, mut m) = (vec![1.0], Matrix::zeros(n, n));
    for k in 1..=n {
        let last = coefficients[k - 1];
        m = a.mul(&m).plus(last, &Matrix::unit(n));
        coefficients.push(-a.mul(&m).trace() / k as f64);
    }
    coefficients
}

/// The coefficients of det(λ/s − A/s) with s the largest modulus of the eigenvalues: its roots are within the unit circle. Coefficients that are rounding
/// of the recursion, as those of systems that move freely, are zero.
pub fn scaled_polynomial(a: &Matrix, s: f64) -> Vec<f64> {
    let mut coefficients = characteristic_polynomial(&a.scaled(1.0 / s));
    // Each coefficient is a sum of n products of numbers of size one, made n times.
    let rounding = (a.rows() * a.rows()) as f64 * f64::EPSILON;
    coefficients.iter_mut().filter(|c| c.abs() <= rounding).for_each(|c| *c = 0.0);
    coefficients
}

/// The scheme of a polynomial, coefficients from the highest power down: its rows, one for each coefficient, with the leading coefficient made one.
/// As many roots have a positive real part as there are changes of sign in the first column.
///
/// # Errors
/// [`AnalysisError::Invalid`] where the scheme meets a zero in its first column: roots on the imaginary axis, or pairs that mirror each
/// other. Eigenvalues decide then.
pub fn scheme(polynomial: &[f64]) -> Result<Vec<Vec<f64>>, AnalysisError> {
    let leading = polynomial.first().copied().unwrap_or(0.0);
    if leading == 0.0 {
        return Err(AnalysisError::Invalid { reason: "the leading coefficient of a polynomial is zero".to_owned() });
    }
    let row = |first: usize| polynomial.iter().skip(first).step_by(2).map(|c| c / leading).collect::<Vec<f64>>();
    let mut rows = vec![row(0)];
    let mut lower = row(1);
    while rows.len() < polynomial.len() {
        let upper = &rows[rows.len() - 1];
        lower.resize(upper.len(), 0.0);
        let size = upper.iter().chain(&lower).fold(0.0f64, |max, c| max.max(c.abs()));
        if lower[0].abs() <= ZERO * size {
            let reason = format!(
                "the scheme of Routh has a zero in row {}: roots on the imaginary axis or mirrored pairs; eigenvalues must decide",
                rows.len()
            );
            return Err(AnalysisError::Invalid { reason });
        }
        let next = (1..upper.len()).map(|k| upper[k] - upper[0] / lower[0] * lower[k]).collect();
        rows.push(std::mem::replace(&mut lower, next));
    }
    Ok(rows)
}

/// The number of roots with positive real part of a polynomial, coefficients from the highest power down.
///
/// # Errors
/// Those of [`scheme`].
pub fn unstable_roots(polynomial: &[f64]) -> Result<usize, AnalysisError> {
    let rows = scheme(polynomial)?;
    Ok(rows.windows(2).filter(|pair| (pair[0][0] < 0.0) != (pair[1][0] < 0.0)).count())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn signs_count_unstable_roots() {
        // (s + 1)(s + 2)(s + 3); (s − 1)(s + 2)(s + 3); (s² − 2s + 5)(s + 1).
        assert_eq!(unstable_roots(&[1.0, 6.0, 11.0, 6.0]).unwrap(), 0);
        assert_eq!(unstable_roots(&[1.0, 4.0, 1.0, -6.0]).unwrap(), 1);
        assert_eq!(unstable_roots(&[1.0, -1.0, 3.0, 5.0]).unwrap(), 2);
        assert!(unstable_roots(&[1.0, 0.0, 1.0]).unwrap_err().to_string().contains("imaginary axis"));
    }

    #[test]
    fn free_motions_leave_the_decision_to_eigenvalues() {
        // ÿ = −60² y beside a mass that nothing holds and a damper slows: one eigenvalue is zero.
        let rows = vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, -3600.0, 0.0, -4.0, 0.0, 0.1, 0.0, 0.0, -0.5];
        let a = Matrix::from_rows(4, 4, rows);
        let polynomial = scaled_polynomial(&a, 60.0);
        assert_eq!(polynomial[4], 0.0);
        assert!(scheme(&polynomial).unwrap_err().to_string().contains("eigenvalues must decide"));
    }

    #[test]
    fn the_characteristic_polynomial_of_a_triangle_is_that_of_its_diagonal() {
        let a = Matrix::from_rows(3, 3, vec![1.0, 5.0, 7.0, 0.0, 2.0, -3.0, 0.0, 0.0, 3.0]);
        assert_eq!(characteristic_polynomial(&a), [1.0, -6.0, 11.0, -6.0]);
    }
}
