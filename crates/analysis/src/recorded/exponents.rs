//! Lyapunov exponents of several motions of one system that start beside each other: four in the lanes of one number, bundles of four on all cores.
//!
//! What a long motion tells of an attractor many shorter ones tell as well, once each has reached it. Their batches together give the spectrum and its error bars.

use super::{FIRST, Four, LANES, Run, lanes, recipe};
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::lyapunov::Spectrum;
use crate::motion::{ExponentOptions, Motion};
use crate::sweep::parallel;
use dalembert_graph::tape::Tape;
use dalembert_methods::Real;
use dalembert_methods::system::{Shape, State, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How far apart motions start, relative to one and the size of a coordinate.
const SPREAD: f64 = 1e-3;

/// The exponents of some motions, a multiple of four, which start beside each other; `options` are those of each of them. As long as `keep_on` says so: it hears how many batches are done.
///
/// # Errors
/// [`AnalysisError::Invalid`] for systems with constraints, with rotations in space, or whose equations have branches; [`AnalysisError::NotFinite`] where a motion leaves all bounds;
/// [`AnalysisError::Stopped`] before there are two batches.
pub fn exponents_while<Y: System + Sync>(
    y: &Y,
    start: &State<f64>,
    motions: usize,
    options: &ExponentOptions,
    settings: Settings,
    keep_on: &(dyn Fn(usize) -> bool + Sync),
) -> Result<Spectrum, AnalysisError> {
    options.check()?;
    let shape = y.shape();
    let recipe = recipe(y).filter(|_| shape.rows() == 0).ok_or_else(|| AnalysisError::Invalid {
        reason: "several motions side by side need a system without constraints, rotations in space and branches; follow one motion of it".to_owned(),
    })?;
    let driven = Motion::new(y, settings).driven(start)?;
    let tape = Tape::new(&recipe.program);
    let constants: Vec<Four> = recipe.program.constants.iter().map(|&c| lanes(1, |_| c)).collect();
    let done = AtomicUsize::new(0);
    let count = |batches: usize| keep_on(LANES * (done.fetch_add(batches, Ordering::Relaxed) + batches));
    let bundles = parallel(motions.div_ceil(LANES).max(1), |bundle| {
        let run = Run {
            tape: &tape,
            shape,
            constants: &constants,
            start: lanes(1, |_| start.t),
            period: lanes(1, |_| options.interval),
            settings,
        };
        follow(run, shape, start, bundle, options, &count)
    });
    let mut means = Vec::new();
    for bundle in bundles {
        means.extend(bundle?);
    }
    if driven {
        means.iter_mut().flatten().for_each(|batch: &mut Vec<f64>| batch.push(0.0));
    }
    if means.iter().map(Vec::len).sum::<usize>() < 2 {
        return Err(AnalysisError::Stopped);
    }
    Ok(Spectrum::of_batches(&means))
}

/// The means of all batches of the four motions of a bundle.
fn follow(
    mut run: Run<'_>,
    shape: Shape,
    start: &State<f64>,
    bundle: usize,
    options: &ExponentOptions,
    keep_on: &dyn Fn(usize) -> bool,
) -> Result<Vec<Vec<Vec<f64>>>, AnalysisError> {
    let n = shape.v;
    let size = 2 * n + shape.x;
    let all: Vec<f64> = start.q.iter().chain(&start.v).chain(&start.x).copied().collect();
    let mut state: Vec<Four> = (0..size)
        .map(|i| {
            let step = SPREAD * (1.0 + all[i].abs());
            lanes(LANES, |lane| all[i] + step * ((7 * i + 1) as f64 * (bundle * LANES + lane) as f64).sin())
        })
        .collect();
    let mut frame: Vec<Vec<Four>> =
        (0..size).map(|j| (0..size).map(|i| if i == j { Four::one() } else { Four::zero() }).collect()).collect();
    let mut first = FIRST;
    let lost = |t: f64| AnalysisError::NotFinite { t, what: "the motion whose exponents are sought".to_owned() };
    let mut windows = 0u64;
    let mut advance = |state: &mut Vec<Four>, frame: &mut [Vec<Four>]| -> Result<(), AnalysisError> {
        run.start = lanes(1, |_| start.t + windows as f64 * options.interval);
        windows += 1;
        let mut end = None;
        for columns in frame.chunks_mut(4) {
            let column = |i: usize, j: usize| columns.get(j).map_or(Four::zero(), |column| column[i]);
            let carried = match columns.len() {
                1 | 2 => run.carry::<2>(state, column, &mut first),
                _ => run.carry::<4>(state, column, &mut first),
            };
            let (there, changes) = carried.ok_or_else(|| lost(run.start.0[0]))?;
            columns.iter_mut().zip(changes).for_each(|(column, change)| *column = change);
            end = Some(there);
        }
        let there = end.unwrap_or_default();
        if !there.iter().all(|z| z.0.iter().all(|z| z.is_finite())) {
            return Err(lost(run.start.0[0]));
        }
        *state = there;
        Ok(())
    };
    for _ in 0..(options.transient / options.interval).ceil() as u64 {
        // One column that is not looked at; it is made anew.
        let mut none = vec![vec![Four::zero(); size]];
        advance(&mut state, &mut none)?;
    }
    let each = (options.batch / options.interval).ceil().max(1.0) as usize;
    let mut means = vec![Vec::new(); LANES];
    for _ in 0..options.batches {
        let mut sums = vec![[0.0; LANES]; size];
        for _ in 0..each {
            advance(&mut state, &mut frame)?;
            orthonormalise(&mut frame, &mut sums);
        }
        let time = each as f64 * options.interval;
        for (lane, motion) in means.iter_mut().enumerate() {
            motion.push(sums.iter().map(|sum| sum[lane] / time).collect());
        }
        if !keep_on(1) {
            break;
        }
    }
    Ok(means)
}

/// Makes the columns of a frame orthonormal, lane by lane side by side, and adds the logarithms of what was left.
fn orthonormalise(frame: &mut [Vec<Four>], sums: &mut [[f64; LANES]]) {
    let dot = |a: &[Four], b: &[Four]| a.iter().zip(b).fold(Four::zero(), |sum, (&a, &b)| sum + a * b);
    for j in 0..frame.len() {
        let (before, rest) = frame.split_at_mut(j);
        let own = &mut rest[0];
        for other in before {
            let part = dot(&*other, &*own);
            own.iter_mut().zip(other.iter()).for_each(|(a, &b)| *a -= part * b);
        }
        let length = dot(&*own, &*own).sqrt();
        let inverse = length.recip();
        own.iter_mut().for_each(|a| *a *= inverse);
        sums[j].iter_mut().zip(length.0).for_each(|(sum, length)| *sum += length.ln());
    }
}
