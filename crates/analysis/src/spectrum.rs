//! Power spectral densities of sampled signals by Welch's method.
//!
//! The signal is cut into segments that overlap by half; each loses its mean, is weighted by a window and transformed; the mean of the
//! squared amplitudes, divided by the power of the window, is the density. One-sided, in the squared unit of the signal per hertz, so
//! that its sum times the spacing of frequencies is the variance.
//!
//! References: Welch: The use of fast Fourier transform for the estimation of power spectra, IEEE Trans. Audio Electroacoust. 15 (1967)
//! 70–73; Harris: On the use of windows for harmonic analysis, Proc. IEEE 66 (1978) 51–83.

use crate::error::AnalysisError;
use dalembert_methods::algebra::Complex;
use std::f64::consts::TAU;

/// A weight over a segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Window {
    /// No weight: sharp lines, much leakage.
    Rectangular,
    /// A raised cosine: the usual choice.
    #[default]
    Hann,
    /// A raised cosine on a step.
    Hamming,
    /// Three cosines: little leakage.
    Blackman,
    /// Five cosines: right amplitudes of lines.
    FlatTop,
}

impl Window {
    /// The weight at a part of the segment in [0, 1).
    pub fn weight(self, part: f64) -> f64 {
        let terms: &[f64] = match self {
            Self::Rectangular => &[1.0],
            Self::Hann => &[0.5, -0.5],
            Self::Hamming => &[0.54, -0.46],
            Self::Blackman => &[0.42, -0.5, 0.08],
            Self::FlatTop => &[0.215_578_95, -0.416_631_58, 0.277_263_158, -0.083_578_947, 0.006_947_368],
        };
        terms.iter().enumerate().map(|(k, a)| a * (TAU * k as f64 * part).cos()).sum()
    }
}

/// A spectral density.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Frequencies in Hz.
    pub frequencies: Vec<f64>,
    /// Densities, in the squared unit of the signal per Hz.
    pub density: Vec<f64>,
    /// The number of segments that were averaged; the relative standard error of a density is about 1/√(segments).
    pub segments: usize,
}

/// The spectral density of samples taken every `interval` seconds, with segments of a power of two.
///
/// # Errors
/// [`AnalysisError::Invalid`] if the segment is no power of two or longer than the signal.
pub fn welch(samples: &[f64], interval: f64, segment: usize, window: Window) -> Result<Spectrum, AnalysisError> {
    if !segment.is_power_of_two() || segment < 2 || segment > samples.len() {
        let reason = format!(
            "a segment of {segment} samples does not fit: it must be a power of two and not exceed the {} samples there are",
            samples.len()
        );
        return Err(AnalysisError::Invalid { reason });
    }
    let weights: Vec<f64> = (0..segment).map(|k| window.weight(k as f64 / segment as f64)).collect();
    let power: f64 = weights.iter().map(|w| w * w).sum();
    let mut density = vec![0.0; segment / 2 + 1];
    let mut segments = 0;
    for part in (0..=samples.len() - segment).step_by(segment / 2) {
        let piece = &samples[part..part + segment];
        let mean = piece.iter().sum::<f64>() / segment as f64;
        let mut z: Vec<Complex> = piece.iter().zip(&weights).map(|(x, w)| Complex::from((x - mean) * w)).collect();
        fourier(&mut z);
        for (k, d) in density.iter_mut().enumerate() {
            let both = if k == 0 || 2 * k == segment { 1.0 } else { 2.0 };
            *d += both * (z[k].re * z[k].re + z[k].im * z[k].im) * interval / power;
        }
        segments += 1;
    }
    density.iter_mut().for_each(|d| *d /= segments as f64);
    let spacing = 1.0 / (interval * segment as f64);
    Ok(Spectrum { frequencies: (0..=segment / 2).map(|k| k as f64 * spacing).collect(), density, segments })
}

/// The discrete Fourier transform Σ z_j e^{−2πijk/n} in place; the length is a power of two (Cooley, Tukey).
fn fourier(z: &mut [Complex]) {
    let n = z.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits.max(1));
        if bits > 0 && i < j {
            z.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        for k in 0..half {
            let (s, c) = (-TAU * k as f64 / (2 * half) as f64).sin_cos();
            let turn = Complex::new(c, s);
            for start in (k..n).step_by(2 * half) {
                let (a, b) = (z[start], z[start + half] * turn);
                (z[start], z[start + half]) = (a + b, a - b);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A sine of amplitude a has the variance a²/2, whatever the window, and its peak at its frequency.
    #[test]
    fn a_sine_keeps_its_variance_and_its_frequency() {
        let (interval, frequency) = (1e-3, 62.5);
        let samples: Vec<f64> = (0..4096).map(|k| 3.0 * (TAU * frequency * interval * f64::from(k)).sin()).collect();
        for window in [Window::Rectangular, Window::Hann, Window::Hamming, Window::Blackman, Window::FlatTop] {
            let found = welch(&samples, interval, 1024, window).unwrap();
            assert_eq!(found.segments, 7);
            let variance = found.density.iter().sum::<f64>() * found.frequencies[1];
            assert!((variance - 4.5).abs() < 1e-9, "{window:?} {variance}");
            let peak = (0..found.density.len()).max_by(|&i, &j| found.density[i].total_cmp(&found.density[j])).unwrap();
            assert!((found.frequencies[peak] - frequency).abs() < 1e-9);
        }
    }

    #[test]
    fn odd_segments_are_refused() {
        let error = welch(&[0.0; 10], 1.0, 6, Window::Hann).unwrap_err();
        assert!(error.to_string().contains("power of two"));
    }
}
