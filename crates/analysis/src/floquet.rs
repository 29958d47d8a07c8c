//! Parametric excitation: multipliers of ẋ = A(t) x with periodic A, and charts of stability over two parameters.
//!
//! With the fundamental matrix over one period, Φ(T), multipliers are its eigenvalues ρ, exponents (ln ρ)/T \[1\]. Charts compute Φ(T) for
//! many pairs of parameters side by side, in lanes and threads.
//!
//! Reference: \[1\] Müller, Schiehlen: Linear Vibrations, Martinus Nijhoff 1985, chapter 9.

use crate::dense::Matrix;
use crate::eigen::eigenvalues;
use crate::error::AnalysisError;
use crate::field::{Field, Settings, classical, flow, seeded};
use crate::sweep::parallel;
use dalembert_methods::algebra::Complex;
use dalembert_methods::{Jet, Lanes};

/// Parameter pairs side by side.
const LANES: usize = 4;

/// The matrix of one period about a periodic solution through `z` at time 0, and where that solution is then.
///
/// # Errors
/// Those of the flow.
pub fn monodromy<F: Field<N>, const N: usize>(
    field: &F,
    z: &[f64; N],
    p: &[f64],
    period: f64,
    settings: Settings,
) -> Result<(Matrix, [f64; N]), AnalysisError> {
    let lifted: Vec<Jet<f64, N>> = p.iter().map(|&p| p.into()).collect();
    let mut at = seeded(z);
    flow(field, &mut at, &lifted, 0.0, period, settings)?;
    Ok((Matrix::from_fn(N, N, |i, j| at[i].eps[j]), at.map(|z| z.re)))
}

/// Exponents (ln ρ)/T of multipliers, in 1/s; imaginary parts are known up to multiples of 2π/T.
pub fn exponents(multipliers: &[Complex], period: f64) -> Vec<Complex> {
    multipliers.iter().map(|z| Complex::new(z.modulus().ln() / period, z.im.atan2(z.re) / period)).collect()
}

/// The grid of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Which parameter is along the first axis, and its values.
    pub first: (usize, Vec<f64>),
    /// Which is along the second one, and its values.
    pub second: (usize, Vec<f64>),
}

impl Grid {
    /// A grid of equal spacing: (parameter, lowest, highest, count) for both axes.
    pub fn even(first: (usize, f64, f64, usize), second: (usize, f64, f64, usize)) -> Self {
        let axis = |(index, low, high, count): (usize, f64, f64, usize)| {
            let spacing = (high - low) / (count.max(2) - 1) as f64;
            (index, (0..count).map(|k| low + spacing * k as f64).collect())
        };
        Self { first: axis(first), second: axis(second) }
    }
}

/// The largest modulus of the multipliers of a solution that is at rest in z = 0, over a grid of parameters: rows of the second
/// parameter, columns of the first. `steps` steps of order four make a period.
///
/// # Errors
/// [`AnalysisError::NotFinite`] where a solution overflows.
pub fn chart<F: Field<N>, const N: usize>(
    field: &F,
    p: &[f64],
    period: f64,
    steps: usize,
    grid: &Grid,
) -> Result<Matrix, AnalysisError> {
    let (columns, rows) = (&grid.first.1, &grid.second.1);
    let h = period / steps as f64;
    let line = |row: usize| -> Result<Vec<f64>, AnalysisError> {
        let mut out = Vec::with_capacity(columns.len());
        for bundle in columns.chunks(LANES) {
            let value = |lane: usize| bundle[lane.min(bundle.len() - 1)];
            let mut lifted: Vec<Jet<Lanes<LANES>, N>> = p.iter().map(|&p| p.into()).collect();
            lifted[grid.second.0] = rows[row].into();
            lifted[grid.first.0] = Jet::constant(Lanes(std::array::from_fn(value)));
            let mut z: [Jet<Lanes<LANES>, N>; N] = std::array::from_fn(|i| Jet::variable(0.0.into(), i));
            for k in 0..steps {
                z = classical(|t, z| field.rate(t, z, &lifted), h * k as f64, &z, h);
            }
            for lane in 0..bundle.len() {
                let m = Matrix::from_fn(N, N, |i, j| z[i].eps[j].0[lane]);
                out.push(radius(&m)?);
            }
        }
        Ok(out)
    };
    let lines = parallel(rows.len(), line);
    let mut out = Matrix::zeros(rows.len(), columns.len());
    for (i, line) in lines.into_iter().enumerate() {
        for (j, value) in line?.into_iter().enumerate() {
            out[(i, j)] = value;
        }
    }
    Ok(out)
}

/// The largest modulus of the eigenvalues; of two by two matrices without iteration.
fn radius(m: &Matrix) -> Result<f64, AnalysisError> {
    if m.rows() == 2 {
        let (half, product) = (0.5 * m.trace(), m.determinant());
        let square = half * half - product;
        if square.is_nan() {
            return Err(AnalysisError::NotFinite { t: 0.0, what: "a matrix of one period".to_owned() });
        }
        return Ok(if square < 0.0 { product.sqrt() } else { half.abs() + square.sqrt() });
    }
    Ok(eigenvalues(m)?[0].modulus())
}
