//! Forced vibrations: frequency responses, and answers to periodic and random excitation.
//!
//! ```text
//! h = ĥ e^{iΩt}:       ŷ = F(Ω) ĥ,   F = (−Ω² M + iΩ (D + G) + K + N)⁻¹
//! h = Σ ĥ_k e^{ikΩt}:   ŷ_k = F(kΩ) ĥ_k
//! h random with S_h:    S_y(Ω) = F S_h Fᴴ
//! ẋ = A x + B h, y = C x:  F = C (iΩ − A)⁻¹ B
//! ```
//!
//! The last line is a [`StateSpace`], which holds further states of forces and any choice of inputs and outputs.
//!
//! Reference: Müller, Schiehlen: Linear Vibrations, Martinus Nijhoff 1985, chapters 6–8.

use crate::dense::{Dense, Matrix};
use crate::eigen::{schur, without_rounding};
use crate::error::AnalysisError;
use crate::linear::Linear;
use dalembert_methods::algebra::Complex;
use std::f64::consts::{PI, TAU};

/// The frequency response matrix F(Ω), by which amplitudes of forces give amplitudes of positions; Ω in rad/s.
///
/// # Errors
/// [`AnalysisError::Singular`] at an undamped resonance.
pub fn frequency_response(system: &Linear, frequency: f64) -> Result<Dense<Complex>, AnalysisError> {
    let n = system.size();
    let (p, q) = (system.velocities(), system.positions());
    let dynamic = Dense::from_fn(n, n, |i, j| {
        Complex::new(q[(i, j)] - frequency * frequency * system.mass[(i, j)], frequency * p[(i, j)])
    });
    dynamic.solve(&Dense::unit(n), "the dynamic stiffness (an undamped resonance)")
}

/// One point of a Bode or Nyquist plot.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Point {
    /// The angular frequency in rad/s.
    pub frequency: f64,
    /// The complex response; its parts are the Nyquist plot.
    pub value: Complex,
}

impl Point {
    /// The amplitude.
    pub fn amplitude(&self) -> f64 {
        self.value.modulus()
    }
    /// The amplitude in decibels.
    pub fn decibels(&self) -> f64 {
        20.0 * self.amplitude().log10()
    }
    /// The phase in radians, in (−π, π].
    pub fn phase(&self) -> f64 {
        self.value.im.atan2(self.value.re)
    }
}

/// The response of a measurement c·y to a force with pattern b, over frequencies in rad/s.
///
/// # Errors
/// As [`frequency_response`].
pub fn curve(system: &Linear, b: &[f64], c: &[f64], frequencies: &[f64]) -> Result<Vec<Point>, AnalysisError> {
    let point = |&frequency: &f64| {
        let f = frequency_response(system, frequency)?;
        let b: Vec<Complex> = b.iter().map(|&b| b.into()).collect();
        let value = f.apply(&b).iter().zip(c).fold(Complex::default(), |sum, (&y, &c)| sum + y * Complex::from(c));
        Ok(Point { frequency, value })
    };
    frequencies.iter().map(point).collect()
}

/// Frequencies from `low` to `high` in equal ratios, both included.
pub fn logarithmic(low: f64, high: f64, count: usize) -> Vec<f64> {
    let ratio = (high / low).ln() / (count.max(2) - 1) as f64;
    (0..count).map(|k| low * (ratio * k as f64).exp()).collect()
}

/// The spectral density of positions from that of forces (two-sided, per rad/s): F S Fᴴ.
///
/// # Errors
/// As [`frequency_response`].
pub fn spectral_density(
    system: &Linear,
    force: &Dense<Complex>,
    frequency: f64,
) -> Result<Dense<Complex>, AnalysisError> {
    let f = frequency_response(system, frequency)?;
    let adjoint = Dense::from_fn(f.cols(), f.rows(), |i, j| f[(j, i)].conj());
    Ok(f.mul(force).mul(&adjoint))
}

/// The periodic answer to a periodic force: samples of h over one period (rows: instants) give samples of y at the same instants.
///
/// The force is taken as its Fourier sum through all samples.
///
/// # Errors
/// As [`frequency_response`].
pub fn periodic(system: &Linear, period: f64, force: &Matrix) -> Result<Matrix, AnalysisError> {
    fourier(period, force, |frequency| frequency_response(system, frequency))
}

/// Goes through all harmonics of sampled inputs.
fn fourier(
    period: f64,
    force: &Matrix,
    response: impl Fn(f64) -> Result<Dense<Complex>, AnalysisError>,
) -> Result<Matrix, AnalysisError> {
    let (count, n) = (force.rows(), force.cols());
    let mut out = Matrix::zeros(count, 0);
    let base = TAU / count as f64;
    let turn = |j: usize, k: usize| {
        let (s, c) = (base * ((j * k) % count) as f64).sin_cos();
        Complex::new(c, s)
    };
    for k in 0..=count / 2 {
        let f = response(TAU * k as f64 / period)?;
        if k == 0 {
            out = Matrix::zeros(count, f.rows());
        }
        let amplitude: Vec<Complex> = (0..n)
            .map(|i| {
                let sum =
                    (0..count).fold(Complex::default(), |s, j| s + turn(j, k).conj() * Complex::from(force[(j, i)]));
                sum * Complex::from(1.0 / count as f64)
            })
            .collect();
        let answer = f.apply(&amplitude);
        let both = if k == 0 || 2 * k == count { 1.0 } else { 2.0 };
        for j in 0..count {
            for (i, &answer) in answer.iter().enumerate() {
                out[(j, i)] += both * (turn(j, k) * answer).re;
            }
        }
    }
    Ok(out)
}

/// A shaping filter, which makes coloured noise of white: h = N(s)/D(s) w. Its spectral density is |N(iΩ)/D(iΩ)|² times that of w.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The coefficients of N by rising powers of s.
    pub numerator: Vec<f64>,
    /// Those of D.
    pub denominator: Vec<f64>,
}

impl Filter {
    /// The number of its states.
    pub fn order(&self) -> usize {
        self.denominator.len().saturating_sub(1)
    }

    /// The controllable form: coefficients of D made monic, gains of the states, and what passes directly.
    fn controllable(&self) -> Result<(Vec<f64>, Vec<f64>, f64), AnalysisError> {
        let order = self.order();
        let leading = self.denominator.last().copied().unwrap_or(0.0);
        if leading == 0.0 || self.numerator.len() > order + 1 {
            let reason = format!(
                "a filter of degree {} over degree {order} has no states: the numerator must not have the higher degree, and the last coefficient of the \
                 denominator must not be zero",
                self.numerator.len().saturating_sub(1)
            );
            return Err(AnalysisError::Invalid { reason });
        }
        let above = |k: usize| self.numerator.get(k).copied().unwrap_or(0.0) / leading;
        let tail: Vec<f64> = self.denominator[..order].iter().map(|d| d / leading).collect();
        let direct = above(order);
        let gains = (0..order).map(|k| above(k) - direct * tail[k]).collect();
        Ok((tail, gains, direct))
    }
}

/// A linear system with chosen inputs and outputs: ẋ = A x + B h, y = C x.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSpace {
    /// A.
    pub state: Matrix,
    /// B, a column for each input.
    pub input: Matrix,
    /// C, a row for each output.
    pub output: Matrix,
}

impl StateSpace {
    /// The frequency response matrix, outputs × inputs; Ω in rad/s.
    ///
    /// # Errors
    /// [`AnalysisError::Singular`] at an undamped resonance.
    pub fn response(&self, frequency: f64) -> Result<Dense<Complex>, AnalysisError> {
        let n = self.state.rows();
        let shifted =
            Dense::from_fn(n, n, |i, j| Complex::new(-self.state[(i, j)], if i == j { frequency } else { 0.0 }));
        let states = shifted.solve(&self.input.to_complex(), "the dynamic stiffness (an undamped resonance)")?;
        Ok(self.output.to_complex().mul(&states))
    }

    /// The spectral densities of the outputs, one-sided and per hertz, at a frequency in Hz, under inputs that are independent white noise of given
    /// intensities W: 2 Σ |F|² W. Their integrals over all frequencies are the variances.
    ///
    /// # Errors
    /// As [`StateSpace::response`].
    pub fn density(&self, intensities: &[f64], hertz: f64) -> Result<Vec<f64>, AnalysisError> {
        let f = self.response(TAU * hertz)?;
        let of = |i: usize| intensities.iter().enumerate().map(|(j, w)| 2.0 * w * f[(i, j)].modulus().powi(2)).sum();
        Ok((0..f.rows()).map(of).collect())
    }

    /// The band of frequencies in Hz that shows all of a spectral density: from a hundredth of the slowest rate of the system to a hundred times the fastest.
    ///
    /// # Errors
    /// Those of the eigenvalues.
    pub fn band(&self) -> Result<[f64; 2], AnalysisError> {
        let values = without_rounding(&schur(&self.state.to_complex())?.values());
        let sizes: Vec<f64> = values.iter().map(|z| z.modulus()).filter(|size| *size > 0.0).collect();
        let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let most = sizes.iter().copied().fold(0.0, f64::max);
        let low = if least.is_finite() { least / (200.0 * PI) } else { 0.01 };
        Ok([low, if most > 0.0 { 100.0 * most / TAU } else { 100.0 }])
    }

    /// The matrix of spectral densities of the outputs, one-sided and per hertz: 2 F W Fᴴ. Its diagonal is that of [`StateSpace::density`].
    ///
    /// # Errors
    /// As [`StateSpace::response`].
    pub fn cross_density(&self, intensities: &[f64], hertz: f64) -> Result<Dense<Complex>, AnalysisError> {
        let f = self.response(TAU * hertz)?;
        let of = |i: usize, j: usize| {
            let terms = intensities.iter().enumerate();
            terms.fold(Complex::default(), |sum, (k, &w)| sum + f[(i, k)] * f[(j, k)].conj() * Complex::from(2.0 * w))
        };
        Ok(Dense::from_fn(f.rows(), f.rows(), of))
    }

    /// The system with a shaping filter before each input that has one. The states of the filters follow those of the system.
    ///
    /// # Errors
    /// [`AnalysisError::Invalid`] for a filter whose numerator has a higher degree than its denominator.
    pub fn shaped(&self, filters: &[Option<Filter>]) -> Result<Self, AnalysisError> {
        let n = self.state.rows();
        let orders: Vec<usize> = filters.iter().map(|f| f.as_ref().map_or(0, Filter::order)).collect();
        let size = n + orders.iter().sum::<usize>();
        let mut state = Matrix::zeros(size, size);
        state.set_block(0, 0, &self.state);
        let mut input = Matrix::zeros(size, filters.len());
        let mut first = n;
        for (k, (filter, &order)) in filters.iter().zip(&orders).enumerate() {
            let Some(filter) = filter else {
                (0..n).for_each(|i| input[(i, k)] = self.input[(i, k)]);
                continue;
            };
            let (tail, gains, direct) = filter.controllable()?;
            for i in 0..n {
                input[(i, k)] = self.input[(i, k)] * direct;
                (0..order).for_each(|j| state[(i, first + j)] = self.input[(i, k)] * gains[j]);
            }
            for j in 0..order {
                if j + 1 < order {
                    state[(first + j, first + j + 1)] = 1.0;
                } else {
                    (0..order).for_each(|l| state[(first + j, first + l)] = -tail[l]);
                    input[(first + j, k)] = 1.0;
                }
            }
            first += order;
        }
        let output = Matrix::from_fn(self.output.rows(), size, |i, j| if j < n { self.output[(i, j)] } else { 0.0 });
        Ok(Self { state, input, output })
    }

    /// The periodic outputs of periodic inputs: samples over one period (rows: instants) give samples at the same instants.
    ///
    /// # Errors
    /// As [`StateSpace::response`].
    pub fn periodic(&self, period: f64, inputs: &Matrix) -> Result<Matrix, AnalysisError> {
        fourier(period, inputs, |frequency| self.response(frequency))
    }
}
