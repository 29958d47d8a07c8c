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

/// The number of roots with positive real part of a polynomial, coefficients from the highest power down.
///
/// # Errors
/// [`AnalysisError::Invalid`] where the scheme meets a zero in its first column: roots on the imaginary axis, or pairs that mirror each
/// other. Eigenvalues decide then.
pub fn unstable_roots(polynomial: &[f64]) -> Result<usize, AnalysisError> {
    let leading = polynomial.first().copied().unwrap_or(0.0);
    if leading == 0.0 {
        return Err(AnalysisError::Invalid { reason: "the leading coefficient of a polynomial is zero".to_owned() });
    }
    let row = |first: usize| polynomial.iter().skip(first).step_by(2).map(|c| c / leading).collect::<Vec<f64>>();
    let (mut upper, mut lower) = (row(0), row(1));
    let mut column = vec![upper[0]];
    while column.len() < polynomial.len() {
        lower.resize(upper.len(), 0.0);
        let size = upper.iter().chain(&lower).fold(0.0f64, |max, c| max.max(c.abs()));
        if lower[0].abs() <= ZERO * size {
            let reason = format!(
                "the scheme of Routh has a zero in row {}: roots on the imaginary axis or mirrored pairs; eigenvalues must decide",
                column.len()
            );
            return Err(AnalysisError::Invalid { reason });
        }
        column.push(lower[0]);
        let next = (1..upper.len()).map(|k| upper[k] - upper[0] / lower[0] * lower[k]).collect();
        upper = std::mem::replace(&mut lower, next);
    }
    Ok(column.windows(2).filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0)).count())
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
    fn the_characteristic_polynomial_of_a_triangle_is_that_of_its_diagonal() {
        let a = Matrix::from_rows(3, 3, vec![1.0, 5.0, 7.0, 0.0, 2.0, -3.0, 0.0, 0.0, 3.0]);
        assert_eq!(characteristic_polynomial(&a), [1.0, -6.0, 11.0, -6.0]);
    }
}
