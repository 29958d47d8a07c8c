//! Stability of a static equilibrium: the small motions about it, with all constraints.
//!
//! At rest with multipliers λ, small displacements δ on the constraints obey
//!
//! ```text
//! M δ̈ = K δ − Gᵀ δλ,   G δ = 0,        K = ∂(f − [G; A]ᵀλ)/∂δ
//! ```
//!
//! With M = L Lᵀ and P the projection along the rows of G L⁻ᵀ, the eigenvalues of P L⁻¹(−K)L⁻ᵀ P are squared angular frequencies where they
//! are positive; a negative one is a direction in which the equilibrium is left exponentially. Damping changes neither where stability ends nor
//! which directions are left, as long as forces are conservative: [`Stability::skew`] tells how far they are from it.
//!
//! Reference: Schiehlen, Eberhard: Applied Dynamics, Springer 2014, chapter 6; Jacobi rotations as in Golub, Van Loan: Matrix
//! Computations, 4th ed., section 8.5.

use crate::algebra::cholesky;
use crate::dynamics::{Dynamics, Rates};
use crate::integrate::IntegrateError;
use crate::system::{State, System};
use crate::tangent::Tangent;

/// Rows shorter than this after the others are taken out, relative to what they were, are redundant.
const REDUNDANT: f64 = 1e-8;
/// Eigenvalues below this part of the largest entry are rounding: the equilibrium is neutral there.
const NEUTRAL: f64 = 1e-9;
/// Most sweeps of Jacobi rotations.
const SWEEPS: usize = 60;

/// The small motions about a state of rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// Eigenvalues ω² of δ̈ = −ω² δ, ascending, in 1/s²; one for each degree of freedom.
    pub squared: Vec<f64>,
    /// The part of the stiffness that has no potential, relative to all of it.
    pub skew: f64,
    /// What counts as zero, in 1/s².
    pub rounding: f64,
}

impl Stability {
    /// Whether every small displacement is driven back.
    pub fn stable(&self) -> bool {
        self.squared.iter().all(|&w| w > self.rounding)
    }

    /// The number of directions in which the equilibrium is left.
    pub fn unstable(&self) -> usize {
        self.squared.iter().filter(|&&w| w < -self.rounding).count()
    }

    /// The number of directions in which nothing is driven back, to first order.
    pub fn neutral(&self) -> usize {
        self.squared.len() - self.unstable() - self.squared.iter().filter(|&&w| w > self.rounding).count()
    }
}

/// The small motions about a state, which is taken at rest.
///
/// # Errors
/// Those of the constraint solve, and a mass matrix that is not positive.
pub fn stability<Y: System>(y: &Y, s: &State<f64>) -> Result<Stability, IntegrateError> {
    let shape = y.shape();
    let (n, m) = (shape.v, shape.rows());
    let mut s = s.clone();
    s.v.fill(0.0);
    let (mut dynamics, mut rates) = (Dynamics::new(y), Rates::zeros(shape));
    dynamics.evaluate(y, &s, &mut rates)?;
    let (mut mass, mut factor) = (vec![0.0; n * n], vec![0.0; n * n]);
    let mut rows = vec![0.0; m * n];
    let parts = dynamics.parts();
    parts.mass.entries(|row, col, value| mass[row * n + col] = value);
    if m > 0 {
        parts.rows.to_dense(&mut rows);
    }
    cholesky(n, &mass, &mut factor);
    let mut tangent = Tangent::new(y);
    tangent.evaluate(y, &s, &rates.multipliers, &vec![0.0; n]);
    let mut a = vec![0.0; n * n];
    tangent.stiffness().to_dense(&mut a);
    // L⁻¹ (−K) L⁻ᵀ: both sides by the same solve on columns and rows.
    a.iter_mut().for_each(|x| *x = -*x);
    for _ in 0..2 {
        a.chunks_exact_mut(n.max(1)).for_each(|row| forward(n, &factor, row));
        transpose(n, &mut a);
    }
    let size = a.iter().fold(0.0f64, |max, x| max.max(x.abs()));
    let mut skew = 0.0f64;
    for i in 0..n {
        for j in 0..i {
            let (x, y) = (a[i * n + j], a[j * n + i]);
            skew = skew.max(0.5 * (x - y).abs());
            (a[i * n + j], a[j * n + i]) = (0.5 * (x + y), 0.5 * (x + y));
        }
    }
    rows.chunks_exact_mut(n.max(1)).for_each(|row| forward(n, &factor, row));
    let basis = orthonormal(n, &rows);
    // P A P, and the constrained directions far above all others.
    let far = 10.0 * (n as f64) * size.max(f64::MIN_POSITIVE);
    for q in &basis {
        for _ in 0..2 {
            for row in a.chunks_exact_mut(n) {
                let part = dot(row, q);
                row.iter_mut().zip(q).for_each(|(x, q)| *x -= part * q);
            }
            transpose(n, &mut a);
        }
    }
    for q in &basis {
        for i in 0..n {
            for j in 0..n {
                a[i * n + j] += far * q[i] * q[j];
            }
        }
    }
    let mut squared = eigenvalues(n, a);
    squared.truncate(n - basis.len());
    let relative = if size > 0.0 { skew / size } else { 0.0 };
    Ok(Stability { squared, skew: relative, rounding: NEUTRAL * size })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}

/// x ← L⁻¹ x with reciprocals on the diagonal of L.
fn forward(n: usize, l: &[f64], x: &mut [f64]) {
    for i in 0..n {
        x[i] = (x[i] - dot(&l[i * n..i * n + i], &x[..i])) * l[i * n + i];
    }
}

fn transpose(n: usize, a: &mut [f64]) {
    for i in 0..n {
        for j in 0..i {
            a.swap(i * n + j, j * n + i);
        }
    }
}

/// An orthonormal basis of the span of rows, by Gram and Schmidt, twice for each row.
fn orthonormal(n: usize, rows: &[f64]) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in rows.chunks_exact(n.max(1)) {
        let mut x = row.to_vec();
        let length = dot(&x, &x).sqrt();
        for _ in 0..2 {
            for q in &basis {
                let part = dot(&x, q);
                x.iter_mut().zip(q).for_each(|(x, q)| *x -= part * q);
            }
        }
        let left = dot(&x, &x).sqrt();
        if left > REDUNDANT * length {
            x.iter_mut().for_each(|x| *x /= left);
            basis.push(x);
        }
    }
    basis
}

/// The eigenvalues of a symmetric matrix, ascending, by Jacobi rotations.
fn eigenvalues(n: usize, mut a: Vec<f64>) -> Vec<f64> {
    for _ in 0..SWEEPS {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i * n + j].abs()).sum();
        if off == 0.0 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                let entry = a[p * n + q];
                if entry == 0.0 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * entry);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                }
                (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::problems::Pendulum;

    /// A particle on a rod, two coordinates and one row: ω² = g/l where it hangs, −g/l where it stands.
    #[test]
    fn a_pendulum_hangs_stably_and_stands_unstably() {
        let pendulum = Pendulum::default();
        for (sign, stable) in [(-1.0, true), (1.0, false)] {
            let mut s = State::zeros(pendulum.shape());
            s.q.copy_from_slice(&[0.0, sign * pendulum.length]);
            let found = stability(&pendulum, &s).unwrap();
            let expected = -sign * pendulum.gravity / pendulum.length;
            assert_eq!(found.squared.len(), 1);
            assert!((found.squared[0] - expected).abs() < 1e-12 * expected.abs(), "{found:?}");
            assert_eq!((found.stable(), found.unstable(), found.neutral()), (stable, usize::from(!stable), 0));
        }
    }

    /// The matrix (2, 1; 1, 2) has the eigenvalues 1 and 3; a third one stands alone.
    #[test]
    fn jacobi_rotations_find_known_eigenvalues() {
        let found = eigenvalues(3, vec![2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, -4.0]);
        for (x, y) in found.iter().zip([-4.0, 1.0, 3.0]) {
            assert!((x - y).abs() < 1e-14, "{found:?}");
        }
    }
}
