//! Small vibrations: M ÿ + (D + G) ẏ + (K + N) y = h(t), its modes, its stability and its transition matrices.
//!
//! The matrix of velocities P splits into damping D (symmetric) and gyroscopic forces G (skew); the matrix of positions Q into
//! conservative forces K (symmetric) and circulatory ones N (skew), \[1\] eq. (41).
//!
//! ```text
//! K x = ω² M x,  Xᵀ M X = 1                               real modes of M ÿ + K y = 0, eq. (42)
//! y = Ψ₁ y₀ + Ψ₂ ẏ₀,  Ψ₁ = X cos(ωt) Xᵀ M,  Ψ₂ = X sin(ωt)/ω Xᵀ M      eq. (43)
//! ẋ = A x,  A = [0 1; −M⁻¹(K+N)  −M⁻¹(D+G)],  x = Φ(t) x₀,  Φ = e^{At}   eqs. (44), (45)
//! ```
//!
//! References: \[1\] Schiehlen: Computational dynamics: theory and applications of multibody systems, Eur. J. Mech. A/Solids 25 (2006)
//! 566–594, section 4; \[2\] Müller, Schiehlen: Linear Vibrations, Martinus Nijhoff 1985.

use crate::dense::{Dense, Matrix};
use crate::eigen::{schur, symmetric, symmetric_pair};
use crate::error::AnalysisError;
use dalembert_methods::algebra::Complex;

/// Real parts, relative to the largest eigenvalue, up to which motions count as neither growing nor decaying.
const NEUTRAL: f64 = 1e-10;

/// A linear system of second order in independent coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// The mass matrix M, symmetric and positive.
    pub mass: Matrix,
    /// The damping matrix D, symmetric.
    pub damping: Matrix,
    /// The gyroscopic matrix G, skew.
    pub gyroscopic: Matrix,
    /// The stiffness matrix K, symmetric.
    pub stiffness: Matrix,
    /// The circulatory matrix N, skew.
    pub circulatory: Matrix,
}

/// What becomes of small motions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All die out.
    AsymptoticallyStable,
    /// None grows exponentially, some stay.
    Marginal,
    /// This many independent ones grow.
    Unstable(usize),
}

/// The modes of M ÿ + K y = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct RealModes {
    /// The squared angular frequencies ω², ascending, in 1/s²; negative ones belong to motions that leave.
    pub squared: Vec<f64>,
    /// The shapes as columns, with Xᵀ M X = 1.
    pub shapes: Matrix,
}

/// The modes of ẋ = A x.
#[derive(Clone, Debug, PartialEq)]
pub struct ComplexModes {
    /// The eigenvalues λ in 1/s, by rising frequency; of a pair the one with positive imaginary part comes first.
    pub values: Vec<Complex>,
    /// Right eigenvectors as columns; the largest position of each is 1.
    pub right: Dense<Complex>,
    /// Left eigenvectors as rows, so that left · right = 1.
    pub left: Dense<Complex>,
}

impl Linear {
    /// Splits M ÿ + P ẏ + Q y = h into symmetric and skew parts.
    pub fn split(mass: &Matrix, velocities: &Matrix, positions: &Matrix) -> Self {
        Self {
            mass: mass.symmetric_part(),
            damping: velocities.symmetric_part(),
            gyroscopic: velocities.skew_part(),
            stiffness: positions.symmetric_part(),
            circulatory: positions.skew_part(),
        }
    }

    /// The number of degrees of freedom.
    pub fn size(&self) -> usize {
        self.mass.rows()
    }

    /// P = D + G.
    pub fn velocities(&self) -> Matrix {
        self.damping.plus(1.0, &self.gyroscopic)
    }

    /// Q = K + N.
    pub fn positions(&self) -> Matrix {
        self.stiffness.plus(1.0, &self.circulatory)
    }

    /// The matrix A of the state equation.
    ///
    /// # Errors
    /// [`AnalysisError::Singular`] for a mass matrix without inverse.
    pub fn state_matrix(&self) -> Result<Matrix, AnalysisError> {
        let n = self.size();
        let mut a = Matrix::zeros(2 * n, 2 * n);
        a.set_block(0, n, &Matrix::unit(n));
        a.set_block(n, 0, &self.mass.solve(&self.positions(), "the mass matrix")?.scaled(-1.0));
        a.set_block(n, n, &self.mass.solve(&self.velocities(), "the mass matrix")?.scaled(-1.0));
        Ok(a)
    }

    /// The matrix B of ẋ = A x + B h: [0; M⁻¹].
    ///
    /// # Errors
    /// As [`Linear::state_matrix`].
    pub fn input_matrix(&self) -> Result<Matrix, AnalysisError> {
        let n = self.size();
        let mut b = Matrix::zeros(2 * n, n);
        b.set_block(n, 0, &self.mass.solve(&Matrix::unit(n), "the mass matrix")?);
        Ok(b)
    }

    /// Whether K is positive: the static condition. With G = N = 0 it decides stability; with D alone beside it too, if D is pervasive.
    pub fn statically_stable(&self) -> bool {
        let (values, _) = symmetric(&self.stiffness);
        let size = values.iter().fold(0.0f64, |max, v| max.max(v.abs()));
        values.iter().all(|&v| v > NEUTRAL * size)
    }

    /// The verdict of the eigenvalues.
    ///
    /// # Errors
    /// Those of the eigenvalue problem.
    pub fn verdict(&self) -> Result<Verdict, AnalysisError> {
        Ok(verdict(&schur(&self.state_matrix()?.to_complex())?.values()))
    }

    /// The modes without damping, gyroscopic and circulatory forces.
    ///
    /// # Errors
    /// [`AnalysisError::SingularMass`] if M is not positive.
    pub fn real_modes(&self) -> Result<RealModes, AnalysisError> {
        let (squared, shapes) = symmetric_pair(&self.stiffness, &self.mass)?;
        Ok(RealModes { squared, shapes })
    }

    /// The modes of the whole system.
    ///
    /// # Errors
    /// Those of the eigenvalue problem; [`AnalysisError::Singular`] if there are not enough eigenvectors (a defective matrix).
    pub fn complex_modes(&self) -> Result<ComplexModes, AnalysisError> {
        let n = self.size();
        let form = schur(&self.state_matrix()?.to_complex())?;
        let (values, vectors) = (form.values(), form.vectors());
        let size = values.iter().fold(0.0f64, |max, z| max.max(z.modulus()));
        let mut order: Vec<usize> = (0..2 * n).collect();
        order.sort_by(|&i, &j| {
            let (a, b) = (values[i], values[j]);
            if (a.modulus() - b.modulus()).abs() > 1e-9 * size {
                a.modulus().total_cmp(&b.modulus())
            } else {
                b.im.total_cmp(&a.im)
            }
        });
        let mut right = Dense::zeros(2 * n, 2 * n);
        for (k, &i) in order.iter().enumerate() {
            let column = vectors.column(i);
            let largest = (0..n).max_by(|&a, &b| column[a].modulus().total_cmp(&column[b].modulus())).unwrap_or(0);
            let scale = Complex::from(1.0) / column[largest];
            right.set_column(k, &column.iter().map(|&z| z * scale).collect::<Vec<_>>());
        }
        let left = right.solve(&Dense::unit(2 * n), "the matrix of eigenvectors")?;
        Ok(ComplexModes { values: order.iter().map(|&i| values[i]).collect(), right, left })
    }

    /// Φ(t) of the state equation.
    ///
    /// # Errors
    /// As [`Linear::state_matrix`].
    pub fn transition(&self, t: f64) -> Result<Matrix, AnalysisError> {
        self.state_matrix()?.scaled(t).exponential()
    }
}

/// The verdict of eigenvalues.
pub fn verdict(values: &[Complex]) -> Verdict {
    let size = values.iter().fold(0.0f64, |max, z| max.max(z.modulus()));
    let growing = values.iter().filter(|z| z.re > NEUTRAL * size).count();
    if growing > 0 {
        Verdict::Unstable(growing)
    } else if values.iter().all(|z| z.re < -NEUTRAL * size) {
        Verdict::AsymptoticallyStable
    } else {
        Verdict::Marginal
    }
}

impl RealModes {
    /// The angular frequencies in rad/s; zero for motions that leave.
    pub fn frequencies(&self) -> Vec<f64> {
        self.squared.iter().map(|w| w.max(0.0).sqrt()).collect()
    }

    /// How much each mode takes part in a motion of the base along `direction`: xᵀ M r. Their squares are effective masses; they add
    /// up to rᵀ M r.
    pub fn participation(&self, mass: &Matrix, direction: &[f64]) -> Vec<f64> {
        self.shapes.transpose().apply(&mass.apply(direction))
    }

    /// Ψ₁(t) and Ψ₂(t).
    pub fn transition(&self, mass: &Matrix, t: f64) -> (Matrix, Matrix) {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for &w in &self.squared {
            let (rate, x) = (w.abs().sqrt(), w * t * t);
            let (c, s) =
                if w > 0.0 { ((rate * t).cos(), (rate * t).sin()) } else { ((rate * t).cosh(), (rate * t).sinh()) };
            first.push(c);
            // sin(ωt)/ω, by its series where ω²t² is so small that the next term is rounding.
            second.push(if x.abs() < 1e-8 { t * (1.0 - x / 6.0) } else { s / rate });
        }
        let back = self.shapes.transpose().mul(mass);
        let of = |d: &[f64]| self.shapes.mul(&Matrix::diagonal(d)).mul(&back);
        (of(&first), of(&second))
    }
}

impl ComplexModes {
    /// The damping ratio of each mode: −Re λ / |λ|.
    pub fn damping_ratios(&self) -> Vec<f64> {
        self.values.iter().map(|z| if z.modulus() > 0.0 { -z.re / z.modulus() } else { 0.0 }).collect()
    }

    /// How much each state (row) takes part in each mode (column): left · right, entry by entry. Each row and each column adds up to 1.
    pub fn participation(&self) -> Dense<Complex> {
        Dense::from_fn(self.values.len(), self.values.len(), |i, k| self.left[(k, i)] * self.right[(i, k)])
    }

    /// Φ(t) by modes: Σ right e^{λt} left.
    pub fn transition(&self, t: f64) -> Matrix {
        let n = self.values.len();
        let growth: Vec<Complex> = self
            .values
            .iter()
            .map(|z| Complex::new((z.im * t).cos(), (z.im * t).sin()) * Complex::from((z.re * t).exp()))
            .collect();
        let phi = self.right.mul(&Dense::diagonal(&growth)).mul(&self.left);
        Matrix::from_fn(n, n, |i, j| phi[(i, j)].re)
    }
}
