//! Lyapunov exponents of a motion of any system.

use super::Motion;
use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::lyapunov::Spectrum;
use dalembert_methods::system::{State, System};

/// How exponents of a system are computed.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ExponentOptions {
    /// Time between two orthonormalisations, in seconds.
    pub interval: f64,
    /// Time to reach the attractor, in seconds.
    pub transient: f64,
    /// The time of one batch in seconds.
    pub batch: f64,
    /// The number of batches.
    pub batches: usize,
}

impl ExponentOptions {
    /// Whether error bars can be computed.
    ///
    /// # Errors
    /// [`AnalysisError::Invalid`] with fewer than two batches, or without a positive interval.
    pub fn check(&self) -> Result<(), AnalysisError> {
        if self.batches < 2 || self.interval.is_nan() || self.interval <= 0.0 {
            let reason = "exponents need a positive interval and two batches at least, for their error bars".to_owned();
            return Err(AnalysisError::Invalid { reason });
        }
        Ok(())
    }
}

/// The Lyapunov exponents of a motion. For a driven system the phase of what drives it adds an exponent zero.
///
/// # Errors
/// Those of the motion; [`AnalysisError::Invalid`] with fewer than two batches.
pub fn exponents<Y: System>(
    y: &Y,
    start: &State<f64>,
    options: &ExponentOptions,
    settings: Settings,
) -> Result<Spectrum, AnalysisError> {
    exponents_while(y, start, options, settings, &mut |_| true)
}

/// The same, as long as `keep_on` says so: it hears how many batches are done.
///
/// # Errors
/// As [`exponents`]; [`AnalysisError::Stopped`] before there are two batches.
pub fn exponents_while<Y: System>(
    y: &Y,
    start: &State<f64>,
    options: &ExponentOptions,
    settings: Settings,
    keep_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Spectrum, AnalysisError> {
    options.check()?;
    let mut motion = Motion::new(y, settings);
    let mut s = start.clone();
    let until = s.t + options.transient;
    motion.advance(&mut s, &mut Matrix::zeros(motion.variation.size(), 0), until)?;
    let driven = motion.driven(&s)?;
    let mut columns = motion.basis(&s)?;
    let mut left = vec![0.0; columns.cols()];
    columns.orthonormalise(&mut left);
    let windows = (options.batch / options.interval).ceil().max(1.0) as usize;
    let mut means = Vec::with_capacity(options.batches);
    for _ in 0..options.batches {
        let mut sums = vec![0.0; columns.cols()];
        for _ in 0..windows {
            let until = s.t + options.interval;
            motion.advance(&mut s, &mut columns, until)?;
            columns.orthonormalise(&mut left);
            sums.iter_mut().zip(&left).for_each(|(sum, l)| *sum += l.ln());
        }
        let time = windows as f64 * options.interval;
        let mut mean: Vec<f64> = sums.iter().map(|s| s / time).collect();
        if driven {
            mean.push(0.0);
        }
        means.push(mean);
        if !keep_on(means.len()) {
            break;
        }
    }
    Spectrum::of_some(means)
}
