//! Random vibrations: covariances of ẋ = A x + B w with white noise w of intensity W.
//!
//! ```text
//! 0 = A P + P Aᵀ + B W Bᵀ                         stationary
//! Ṗ = A P + P Aᵀ + B W Bᵀ                         transient: P(t) = Φ P₀ Φᵀ + V(t),   V(2h) = V(h) + Φ(h) V(h) Φ(h)ᵀ
//! ```
//!
//! Small systems are solved by the Schur form (Bartels, Stewart \[1\]). Large sparse ones have a covariance of low numerical rank:
//! P ≈ Z Zᵀ, by alternating directions with complex shifts \[2\], which are taken from the residual itself \[3\].
//!
//! References: \[1\] Bartels, Stewart: Solution of the matrix equation AX + XB = C, Comm. ACM 15 (1972) 820–826; \[2\] Benner, Kürschner, Saak:
//! Efficient handling of complex shift parameters in the low-rank Cholesky factor ADI method, Numer. Algorithms 62 (2013) 225–251; \[3\]
//! Benner, Kürschner, Saak: Self-generating and efficient shift parameters in ADI methods, ETNA 43 (2014) 142–162; \[4\] Van Loan:
//! Computing integrals involving the matrix exponential, IEEE Trans. Autom. Control 23 (1978) 395–404.

use crate::dense::{Dense, Matrix};
use crate::eigen::{Schur, eigenvalues, schur};
use crate::error::AnalysisError;
use dalembert_methods::algebra::{Complex, Field, Sparse, SparseLu};

/// Directions from which shifts are taken.
const SPACE: usize = 16;

/// The solution P of A P + P Aᵀ + Q = 0 with symmetric Q.
///
/// # Errors
/// [`AnalysisError::Undamped`] if two eigenvalues add up to zero (to rounding).
pub fn stationary(a: &Matrix, q: &Matrix) -> Result<Matrix, AnalysisError> {
    let n = a.rows();
    let Schur { q: u, t } = schur(&a.to_complex())?;
    let adjoint = Dense::from_fn(n, n, |i, j| u[(j, i)].conj());
    let c = adjoint.mul(&q.to_complex()).mul(&u);
    let mut y = Dense::<Complex>::zeros(n, n);
    let small = n as f64 * f64::EPSILON * t.largest();
    // (T + t̄_kk) y_k = −c_k − Σ_{j>k} t̄_kj y_j, from the last column on.
    for k in (0..n).rev() {
        let mut x: Vec<Complex> =
            (0..n).map(|i| (k + 1..n).fold(-c[(i, k)], |sum, j| sum - t[(k, j)].conj() * y[(i, j)])).collect();
        for i in (0..n).rev() {
            let sum = (i + 1..n).fold(x[i], |sum, j| sum - t[(i, j)] * x[j]);
            let d = t[(i, i)] + t[(k, k)].conj();
            if d.size() <= small {
                return Err(AnalysisError::Undamped { sum: d.re });
            }
            x[i] = sum / d;
        }
        y.set_column(k, &x);
    }
    let p = u.mul(&y).mul(&adjoint);
    Ok(Matrix::from_fn(n, n, |i, j| 0.5 * (p[(i, j)].re + p[(j, i)].re)))
}

/// P(t) from P(0) = `start`, also for systems that are not stable.
///
/// # Errors
/// Those of the matrix exponential.
pub fn transient(a: &Matrix, q: &Matrix, start: &Matrix, t: f64) -> Result<Matrix, AnalysisError> {
    let n = a.rows();
    let doublings = (a.norm() * t.abs()).max(1.0).log2().ceil() as u32;
    let h = t / f64::from(1u32 << doublings.min(30));
    // [4]: exp(h [−A Q; 0 Aᵀ]) = [· E; 0 Fᵀ] with Φ = F and V = F E.
    let mut block = Matrix::zeros(2 * n, 2 * n);
    block.set_block(0, 0, &a.scaled(-h));
    block.set_block(0, n, &q.scaled(h));
    block.set_block(n, n, &a.transpose().scaled(h));
    let e = block.exponential()?;
    let mut phi = e.block(n, n, n, n).transpose();
    let mut v = phi.mul(&e.block(0, n, n, n));
    for _ in 0..doublings.min(30) {
        v = v.plus(1.0, &phi.mul(&v).mul(&phi.transpose()));
        phi = phi.mul(&phi);
    }
    Ok(phi.mul(start).mul(&phi.transpose()).plus(1.0, &v).symmetric_part())
}

/// A large covariance of low rank: P ≈ Z Zᵀ.
#[derive(Clone, Debug, PartialEq)]
pub struct LowRank {
    /// The factor Z, states × rank.
    pub factor: Matrix,
    /// ‖A P + P Aᵀ + B Bᵀ‖ relative to ‖B Bᵀ‖.
    pub residual: f64,
}

impl LowRank {
    /// One entry of P.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.factor.row(i).iter().zip(self.factor.row(j)).map(|(a, b)| a * b).sum()
    }
}

/// The stationary covariance of a sparse system: A P + P Aᵀ + B Bᵀ = 0, to a relative residual.
///
/// A is given by its entries (row, column, value). B has few columns.
///
/// # Errors
/// [`AnalysisError::NotConverged`] if the system is not stable or hardly damped.
pub fn stationary_sparse(
    n: usize,
    entries: &[(usize, usize, f64)],
    b: &Matrix,
    tolerance: f64,
    most: usize,
) -> Result<LowRank, AnalysisError> {
    let diagonal = (0..n).map(|i| (i, i));
    let mut shifted = Sparse::<Complex>::new(n, entries.iter().map(|&(i, j, _)| (i, j)).chain(diagonal));
    let mut factors = SparseLu::new(&shifted);
    let apply = |x: &Matrix| {
        let mut out = Matrix::zeros(n, x.cols());
        for &(i, j, value) in entries {
            for k in 0..x.cols() {
                out[(i, k)] += value * x[(j, k)];
            }
        }
        out
    };
    let (m, mut w) = (b.cols(), b.clone());
    let gram = |w: &Matrix| w.transpose().mul(w).norm();
    let first = gram(b);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut shifts: Vec<Complex> = Vec::new();
    // The first shifts come from a Krylov space of B.
    let mut recent: Vec<Vec<f64>> = Vec::new();
    let mut power = b.clone();
    while recent.len() < SPACE {
        let size = power.largest().max(f64::MIN_POSITIVE);
        recent.extend((0..m).map(|k| power.column(k).iter().map(|x| x / size).collect()));
        power = apply(&power.scaled(1.0 / size));
    }
    for step in 0..most {
        let residual = gram(&w) / first;
        if residual <= tolerance {
            let factor = Matrix::from_fn(n, columns.len(), |i, j| columns[j][i]);
            return Ok(LowRank { factor, residual });
        }
        let shift = match shifts.pop() {
            Some(shift) => shift,
            None => {
                let last = recent.len().saturating_sub(SPACE);
                recent.drain(..last);
                shifts = ritz(&mut Matrix::from_fn(n, recent.len(), |i, j| recent[j][i]), &apply)?;
                shifts.pop().ok_or(AnalysisError::NotConverged {
                    what: "the covariance of a sparse system",
                    iterations: step,
                    residual,
                    advice: "no stable direction was met: check that all eigenvalues have negative real parts",
                })?
            }
        };
        // (A + p) V = W.
        shifted.clear();
        for &(i, j, value) in entries {
            let slot = shifted.slot(i, j).expect("the pattern holds all entries");
            shifted.add(slot, value.into());
        }
        for i in 0..n {
            let slot = shifted.slot(i, i).expect("the pattern holds the diagonal");
            shifted.add(slot, shift);
        }
        let singular = |_| AnalysisError::Singular { what: "a shifted state matrix", coordinate: format!("{shift:?}") };
        factors.factor(&shifted).map_err(singular)?;
        let mut v = Dense::<Complex>::zeros(n, m);
        for k in 0..m {
            let mut x: Vec<Complex> = w.column(k).iter().map(|&x| x.into()).collect();
            factors.solve(&mut x);
            v.set_column(k, &x);
        }
        let (real, imaginary) =
            (Matrix::from_fn(n, m, |i, k| v[(i, k)].re), Matrix::from_fn(n, m, |i, k| v[(i, k)].im));
        recent.extend((0..m).map(|k| real.column(k)));
        if shift.im == 0.0 {
            let gamma = (-2.0 * shift.re).sqrt();
            columns.extend((0..m).map(|k| real.column(k).iter().map(|x| gamma * x).collect()));
            w = w.plus(-2.0 * shift.re, &real);
        } else {
            // [2] algorithm 3: both shifts of a pair at once, in real numbers.
            let (gamma, delta) = (2.0 * (-shift.re).sqrt(), shift.re / shift.im);
            let both = real.plus(delta, &imaginary);
            let stretch = gamma * (delta * delta + 1.0).sqrt();
            columns.extend((0..m).map(|k| both.column(k).iter().map(|x| gamma * x).collect()));
            columns.extend((0..m).map(|k| imaginary.column(k).iter().map(|x| stretch * x).collect()));
            w = w.plus(gamma * gamma, &both);
            recent.extend((0..m).map(|k| imaginary.column(k)));
        }
    }
    Err(AnalysisError::NotConverged {
        what: "the covariance of a sparse system",
        iterations: most,
        residual: gram(&w) / first,
        advice: "add damping, allow more steps or ask for a looser residual",
    })
}

/// Stable Ritz values of the matrix on the span of the last directions, one of each pair.
fn ritz(basis: &mut Matrix, apply: &impl Fn(&Matrix) -> Matrix) -> Result<Vec<Complex>, AnalysisError> {
    let mut left = vec![0.0; basis.cols()];
    basis.orthonormalise(&mut left);
    // Directions that depend on others were made zero; their Ritz values are left out below.
    let small = basis.transpose().mul(&apply(basis));
    let mut found: Vec<Complex> = eigenvalues(&small)?.into_iter().filter(|z| z.im >= 0.0).collect();
    // Values of a projection may be unstable though the matrix is not: mirror them.
    for z in &mut found {
        z.re = -z.re.abs().max(1e-12 * z.modulus());
    }
    found.retain(|z| z.re < 0.0);
    Ok(found)
}
