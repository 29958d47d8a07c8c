//! Lyapunov exponents of motions with contacts.

use super::cycle::driven;
use super::{carry, latches, record};
use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::lyapunov::Spectrum;
use crate::motion::{ExponentOptions, Motion};
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Options};
use dalembert_methods::system::State;

/// The Lyapunov exponents of a motion with contacts, through its events. For a driven model the phase of what drives it adds an exponent zero.
///
/// A contact that sticks, or closes for a while, forgets a direction: its exponent is −∞.
///
/// # Errors
/// Those of [`flow`](super::flow); [`AnalysisError::Invalid`] with fewer than two batches.
pub fn exponents<Y: Contacts>(
    model: &Y,
    start: &State<f64>,
    choice: &ExponentOptions,
    options: &Options,
    settings: Settings,
) -> Result<Spectrum, AnalysisError> {
    exponents_while(model, start, choice, options, settings, &mut |_| true)
}

/// The same, as long as `keep_on` says so: it hears how many batches are done.
///
/// # Errors
/// As [`exponents`]; [`AnalysisError::Stopped`] before there are two batches.
pub fn exponents_while<Y: Contacts>(
    model: &Y,
    start: &State<f64>,
    choice: &ExponentOptions,
    options: &Options,
    settings: Settings,
    keep_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Spectrum, AnalysisError> {
    choice.check()?;
    let mut s = start.clone();
    let mut latched = latches(model);
    let until = s.t + choice.transient;
    record(model, &mut s, &mut latched, until, &[], options, settings)?;
    // The frame is taken with all contacts open; what is held at the beginning leaves it at once.
    let (hybrid, driven) = (Hybrid::new(model), driven(model, &s)?);
    let mut columns = Motion::new(&hybrid, settings).basis(&s)?;
    let mut means = Vec::with_capacity(choice.batches);
    for _ in 0..choice.batches {
        let until = s.t + choice.batch;
        let recorder = record(model, &mut s, &mut latched, until, &[], options, settings)?;
        let mut sums = vec![0.0; columns.cols()];
        let mut pause = |columns: &mut Matrix| {
            let mut left = vec![0.0; columns.cols()];
            columns.orthonormalise(&mut left);
            for (j, (sum, left)) in sums.iter_mut().zip(&left).enumerate() {
                let forgotten = columns.column(j).iter().all(|&c| c == 0.0);
                *sum += if forgotten { f64::NEG_INFINITY } else { left.ln() };
            }
        };
        carry(model, &recorder, &mut columns, options, settings, choice.interval, &mut pause)?;
        means.push(sums.iter().map(|s| s / choice.batch).chain(driven.then_some(0.0)).collect());
        if !keep_on(means.len()) {
            break;
        }
    }
    Spectrum::of_some(means)
}
