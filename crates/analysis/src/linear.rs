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

/// Positions below this part of the largest entry of a shape are rounding.
const MOVES: f64 = 1e-12;
/// Squared frequencies that differ by less than this part of the largest are the same.
const ALIKE: f64 = 1e-9;

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

/// What a theorem says of stability.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Stability {
    /// All small motions die out.
    Asymptotic,
    /// None grows.
    Stable,
    /// Some grow.
    Unstable,
    /// It does not decide.
    Open,
}

/// What the static condition says of stability, and why.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// What.
    pub stability: Stability,
    /// Why.
    pub reason: &'static str,
}

/// The numbers of positive and of negative eigenvalues of a symmetric matrix.
fn definite(matrix: &Matrix) -> (usize, usize) {
    let (values, _) = symmetric(matrix);
    let size = values.iter().fold(0.0f64, |max, v| max.max(v.abs()));
    let count = |sign: f64| values.iter().filter(|&&v| sign * v > NEUTRAL * size).count();
    (count(1.0), count(-1.0))
}

/// The modes of M ÿ + K y = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct RealModes {
    /// The squared angular frequencies ω², ascending, in 1/s²; negative ones belong to motions that leave.
    pub squared: Vec<f64>,
    /// The shapes as columns, with Xᵀ M X = 1.
    pub shapes: Matrix,
}

/// What is one in each shape X of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// XᵀMX.
    Mass,
    /// Its largest entry.
    Largest,
    /// Its length.
    Length,
}

impl Norm {
    /// By what a shape with XᵀMX = 1 is multiplied.
    fn scale(self, shape: &[f64]) -> f64 {
        let largest = shape.iter().copied().fold(0.0f64, |max, x| if x.abs() > max.abs() { x } else { max });
        let length = shape.iter().map(|x| x * x).sum::<f64>().sqrt();
        match self {
            Self::Largest if largest != 0.0 => 1.0 / largest,
            Self::Length if length > 0.0 => 1.0 / length,
            _ => 1.0,
        }
    }
}

/// The modes of ẋ = A x.
#[derive(Clone, Debug, PartialEq)]
pub struct ComplexModes {
    /// The eigenvalues λ in 1/s, by rising frequency; of a pair the one with positive imaginary part comes first.
    pub values: Vec<Complex>,
    /// Right eigenvectors as columns; the largest position of each is 1, or the largest state if no position moves.
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
    /// As [`ComplexModes::of`].
    pub fn complex_modes(&self) -> Result<ComplexModes, AnalysisError> {
        ComplexModes::of(&self.state_matrix()?, self.size())
    }

    /// What the static condition says of stability (Thomson, Tait, Chetaev; \[2\] section 4.3), and why.
    ///
    /// Damping is pervasive if it reaches every mode of M and K: D is positive on the shapes of each frequency.
    pub fn conclusion(&self) -> Conclusion {
        let none = |part: &Matrix, beside: f64| part.largest() <= NEUTRAL * beside;
        let still = self.mass.largest().max(f64::MIN_POSITIVE);
        let rate = (self.stiffness.largest() / still).sqrt().max(self.velocities().largest() / still);
        let no_damping = none(&self.damping, rate * still);
        let no_gyroscopic = none(&self.gyroscopic, rate * still);
        let no_circulatory = none(&self.circulatory, self.positions().largest());
        let (positive, negative) = definite(&self.stiffness);
        let dissipates = definite(&self.damping).1 == 0;
        let definite_damping = !no_damping && definite(&self.damping) == (self.size(), 0);
        let pervasive = definite_damping || (no_gyroscopic && !no_damping && self.pervasive());
        let say = |stability, reason| Conclusion { stability, reason };
        let whole = positive == self.size();
        match () {
            () if !no_circulatory => {
                say(Stability::Open, "circulatory forces may help or harm, so that K does not decide")
            }
            () if !dissipates => say(Stability::Open, "D feeds energy in, so that K does not decide"),
            () if whole && pervasive => say(
                Stability::Asymptotic,
                "K is positive and damping pervasive: asymptotically stable, with or without G",
            ),
            () if whole => {
                say(Stability::Stable, "K is positive and nothing feeds energy in: stable, with or without G")
            }
            () if negative > 0 && pervasive => {
                say(Stability::Unstable, "K has negative directions and damping is pervasive: unstable, also with G")
            }
            () if negative > 0 && no_gyroscopic => {
                say(Stability::Unstable, "K has negative directions and G = 0: unstable")
            }
            () if negative % 2 == 1 => say(
                Stability::Unstable,
                "K has an odd number of negative directions, which no gyroscopic forces can make up for: unstable",
            ),
            () if negative > 0 => {
                say(Stability::Open, "gyroscopic forces may hold what K drives away, so that K does not decide")
            }
            () => say(Stability::Open, "K is zero in some directions, so that terms of higher order decide"),
        }
    }

    /// Whether damping reaches all modes of M and K.
    fn pervasive(&self) -> bool {
        let Ok(modes) = self.real_modes() else { return false };
        let reached = modes.shapes.transpose().mul(&self.damping).mul(&modes.shapes);
        let (n, size) = (self.size(), modes.squared.iter().fold(0.0f64, |max, w| max.max(w.abs())));
        let mut first = 0;
        while first < n {
            let end = (first + 1..n).find(|&k| modes.squared[k] - modes.squared[k - 1] > ALIKE * size).unwrap_or(n);
            // Of modes with the same frequency any mixture is one.
            if definite(&reached.block(first, first, end - first, end - first)) != (end - first, 0) {
                return false;
            }
            first = end;
        }
        true
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
    /// The shapes with another rule for their size.
    pub fn scaled(&self, norm: Norm) -> Matrix {
        let scales: Vec<f64> = (0..self.shapes.cols()).map(|k| norm.scale(&self.shapes.column(k))).collect();
        Matrix::from_fn(self.shapes.rows(), self.shapes.cols(), |i, k| self.shapes[(i, k)] * scales[k])
    }

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

/// The damping ratio that an eigenvalue tells: −Re λ / |λ|.
pub fn damping_ratio(value: Complex) -> f64 {
    if value.modulus() > 0.0 { -value.re / value.modulus() } else { 0.0 }
}

/// The eigenvalues of a state matrix in the order of its modes, also where it has not enough eigenvectors for modes.
///
/// # Errors
/// Those of the eigenvalue problem.
pub fn ordered_eigenvalues(state: &Matrix) -> Result<Vec<Complex>, AnalysisError> {
    let values = schur(&state.to_complex())?.values();
    Ok(by_size(&values).into_iter().map(|i| values[i]).collect())
}

/// The order of eigenvalues: by their size, and of equal ones those first that turn forwards.
fn by_size(values: &[Complex]) -> Vec<usize> {
    let size = values.iter().fold(0.0f64, |max, z| max.max(z.modulus()));
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| {
        let (a, b) = (values[i], values[j]);
        if (a.modulus() - b.modulus()).abs() > 1e-9 * size {
            a.modulus().total_cmp(&b.modulus())
        } else {
            b.im.total_cmp(&a.im)
        }
    });
    order
}

impl ComplexModes {
    /// The modes of a state matrix, whose first states are positions and which may hold further states x after positions and velocities.
    ///
    /// # Errors
    /// Those of the eigenvalue problem; [`AnalysisError::Singular`] if there are not enough eigenvectors (a defective matrix).
    pub fn of(state: &Matrix, positions: usize) -> Result<Self, AnalysisError> {
        let n = state.rows();
        let form = schur(&state.to_complex())?;
        let (values, vectors) = (form.values(), form.vectors());
        let order = by_size(&values);
        let mut right = Dense::zeros(n, n);
        for (k, &i) in order.iter().enumerate() {
            let column = vectors.column(i);
            let most = |range: std::ops::Range<usize>| {
                range.max_by(|&a, &b| column[a].modulus().total_cmp(&column[b].modulus())).unwrap_or(0)
            };
            // A mode of further states alone moves no position.
            let (place, any) = (most(0..positions), most(0..n));
            let moves = column[place].modulus() > MOVES * column[any].modulus();
            let scale = Complex::from(1.0) / column[if moves { place } else { any }];
            right.set_column(k, &column.iter().map(|&z| z * scale).collect::<Vec<_>>());
        }
        let left = right.solve(&Dense::unit(n), "the matrix of eigenvectors")?;
        Ok(Self { values: order.iter().map(|&i| values[i]).collect(), right, left })
    }

    /// The damping ratio of each mode: −Re λ / |λ|.
    pub fn damping_ratios(&self) -> Vec<f64> {
        self.values.iter().copied().map(damping_ratio).collect()
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
