//! Many motions: the same work for many indices on all cores, bifurcation diagrams and maps of basins in lanes.

use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::field::{Field, classical};
use dalembert_methods::{Lanes, Real};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Motions side by side.
const LANES: usize = 4;

/// The results of `work` for 0 … count − 1, in order, on as many threads as there are cores. They do not depend on how many those are.
pub fn parallel<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    parallel_while(count, || true, work).into_iter().flatten().collect()
}

/// The same, as long as `keep_on` says so: it is asked before each piece of work. What was not done is nothing.
pub fn parallel_while<T: Send>(
    count: usize,
    keep_on: impl Fn() -> bool + Sync,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<Option<T>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
    let next = AtomicUsize::new(0);
    let parts: Vec<Vec<(usize, T)>> = std::thread::scope(|scope| {
        let run = || {
            let mut done = Vec::new();
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count || !keep_on() {
                    return done;
                }
                done.push((i, work(i)));
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|t| t.join().expect("work of a sweep does not panic")).collect()
    });
    let mut all: Vec<Option<T>> = (0..count).map(|_| None).collect();
    for (i, value) in parts.into_iter().flatten() {
        all[i] = Some(value);
    }
    all
}

/// What a bifurcation diagram or a map of basins runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Strobe {
    /// The period in seconds.
    pub period: f64,
    /// Steps of order four in a period.
    pub steps: usize,
    /// Periods before anything is kept.
    pub transient: usize,
    /// Periods that are kept.
    pub kept: usize,
}

/// A bifurcation diagram: for each value of a parameter the samples of one coordinate, once a period. All start from `start`.
///
/// # Errors
/// [`AnalysisError::Invalid`] if the parameter or coordinate does not exist.
pub fn bifurcation<F: Field<N>, const N: usize>(
    field: &F,
    start: &[f64; N],
    p: &[f64],
    parameter: (usize, &[f64]),
    coordinate: usize,
    strobe: &Strobe,
) -> Result<Matrix, AnalysisError> {
    let (free, values) = parameter;
    if free >= p.len() || coordinate >= N {
        let reason = format!("there is no parameter {free} of {} or no coordinate {coordinate} of {N}", p.len());
        return Err(AnalysisError::Invalid { reason });
    }
    let bundles: Vec<&[f64]> = values.chunks(LANES).collect();
    let results = parallel(bundles.len(), |b| {
        let mut lanes: Vec<Lanes<LANES>> = p.iter().map(|&p| p.into()).collect();
        lanes[free] = Lanes(std::array::from_fn(|k| bundles[b][k.min(bundles[b].len() - 1)]));
        let mut kept = Vec::with_capacity(strobe.kept);
        strobe.run(field, start.map(Lanes::from), &lanes, |z| kept.push(z[coordinate].0));
        kept
    });
    let sample = |i: usize, j: usize| results[i / LANES][j][i % LANES];
    Ok(Matrix::from_fn(values.len(), strobe.kept, sample))
}

/// A map of basins: where motions from a grid of two initial coordinates are after the transient, one coordinate of theirs averaged
/// over the periods kept. Rows belong to the second coordinate.
pub fn basins<F: Field<N>, const N: usize>(
    field: &F,
    start: &[f64; N],
    p: &[f64],
    first: (usize, &[f64]),
    second: (usize, &[f64]),
    coordinate: usize,
    strobe: &Strobe,
) -> Matrix {
    let lanes: Vec<Lanes<LANES>> = p.iter().map(|&p| p.into()).collect();
    let rows = parallel(second.1.len(), |row| {
        let mut out = Vec::with_capacity(first.1.len());
        for bundle in first.1.chunks(LANES) {
            let mut z = start.map(Lanes::from);
            z[second.0] = second.1[row].into();
            z[first.0] = Lanes(std::array::from_fn(|k| bundle[k.min(bundle.len() - 1)]));
            let mut sum = Lanes::zero();
            strobe.run(field, z, &lanes, |z| sum += z[coordinate]);
            out.extend_from_slice(&(sum / strobe.kept.max(1) as f64).0[..bundle.len()]);
        }
        out
    });
    Matrix::from_fn(second.1.len(), first.1.len(), |i, j| rows[i][j])
}

impl Strobe {
    fn run<F: Field<N>, R: Real, const N: usize>(
        &self,
        field: &F,
        mut z: [R; N],
        p: &[R],
        mut keep: impl FnMut(&[R; N]),
    ) {
        let h = self.period / self.steps as f64;
        for round in 0..self.transient + self.kept {
            for k in 0..self.steps {
                z = classical(|t, z| field.rate(t, z, p), h * k as f64, &z, h);
            }
            if round >= self.transient {
                keep(&z);
            }
        }
    }
}
