//! Lyapunov exponents: how fast neighbours of a motion part, with their error bars.
//!
//! A frame of tangent vectors moves with the linearised flow and is made orthonormal again and again (QR); the mean logarithms of the
//! diagonal of R are the exponents \[1\], \[2\]. Several motions run side by side. Each is cut into batches; the spread of the means of
//! all batches tells the standard error, as batches are much longer than the memory of the motion.
//!
//! The dimension of Kaplan and Yorke is D = k + (σ₁ + … + σ_k)/|σ_{k+1}| with the largest k for which the sum is not negative.
//!
//! References: \[1\] Benettin, Galgani, Giorgilli, Strelcyn: Lyapunov characteristic exponents for smooth dynamical systems, Meccanica 15 (1980)
//! 9–30; \[2\] Shimada, Nagashima, Prog. Theor. Phys. 61 (1979) 1605–1616; \[3\] Kaplan, Yorke: Chaotic behavior of multidimensional difference
//! equations, Lecture Notes in Mathematics 730 (1979) 204–227.

use crate::error::AnalysisError;
use crate::field::{Field, classical};
use dalembert_methods::{Jet, Lanes, Real};

/// Motions side by side in one thread.
const LANES: usize = 4;

/// How a spectrum is computed.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Options {
    /// The step in seconds.
    pub step: f64,
    /// Steps between two orthonormalisations.
    pub every: usize,
    /// Time to reach the attractor, in seconds.
    pub transient: f64,
    /// The time of one batch in seconds.
    pub batch: f64,
    /// The number of batches of each motion.
    pub batches: usize,
    /// Bundles of four motions; each runs on a thread of its own.
    pub bundles: usize,
    /// Motions start this far apart.
    pub spread: f64,
}

/// A spectrum of exponents.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// The exponents in 1/s, descending.
    pub exponents: Vec<f64>,
    /// Their standard errors in 1/s.
    pub errors: Vec<f64>,
    /// The dimension of Kaplan and Yorke.
    pub dimension: f64,
    /// Its standard error.
    pub dimension_error: f64,
    /// The exponents after each batch, to see them converge.
    pub history: Vec<Vec<f64>>,
}

/// The dimension of Kaplan and Yorke of exponents in falling order. Sums within `zero` of zero count as zero.
pub fn kaplan_yorke(exponents: &[f64], zero: f64) -> f64 {
    let mut sum = 0.0;
    for (k, &e) in exponents.iter().enumerate() {
        if sum + e < -zero {
            return k as f64 + if e == 0.0 { 0.0 } else { sum.max(0.0) / e.abs() };
        }
        sum += e;
    }
    exponents.len() as f64
}

impl Spectrum {
    /// A spectrum of one motion from the batches there are.
    pub(crate) fn of_some(means: Vec<Vec<f64>>) -> Result<Self, AnalysisError> {
        if means.len() < 2 { Err(AnalysisError::Stopped) } else { Ok(Self::of_batches(&[means])) }
    }

    /// A spectrum from the means of batches of several motions: `given[motion][batch]`.
    pub fn of_batches(given: &[Vec<Vec<f64>>]) -> Self {
        let n = given.first().and_then(|m| m.first()).map_or(0, Vec::len);
        let count = given.iter().map(Vec::len).sum::<usize>() as f64;
        let mean = |i: usize| given.iter().flatten().map(|b| b[i]).sum::<f64>() / count;
        // Directions that others do not feel keep their place in the frame: the order is made here.
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| mean(j).total_cmp(&mean(i)));
        let sorted = |batch: &Vec<f64>| -> Vec<f64> { order.iter().map(|&i| batch[i]).collect() };
        let means: Vec<Vec<Vec<f64>>> = given.iter().map(|motion| motion.iter().map(sorted).collect()).collect();
        let exponents: Vec<f64> = order.iter().map(|&i| mean(i)).collect();
        let all: Vec<&Vec<f64>> = means.iter().flatten().collect();
        // An exponent −∞, where a direction is forgotten, has no spread.
        let variance = |i: usize| {
            let squares = all.iter().map(|b| (b[i] - exponents[i]).powi(2)).sum::<f64>();
            if exponents[i].is_finite() { squares / (count - 1.0).max(1.0) } else { 0.0 }
        };
        let errors: Vec<f64> = (0..n).map(|i| (variance(i) / count).sqrt()).collect();
        let zero = 3.0 * errors.iter().fold(1e-9f64, |max, &e| max.max(e));
        let dimension = kaplan_yorke(&exponents, zero);
        // The sum of all exponents is known much better than each: the error of σ₁ enters twice, in the sum and in what divides it.
        let k = (dimension.floor() as usize).min(n.saturating_sub(1));
        let divisor = exponents.get(k).map_or(1.0, |e| e.abs()).max(f64::MIN_POSITIVE);
        let part = dimension - dimension.floor();
        let dimension_error = errors.first().map_or(0.0, |e| e * (1.0 + part) / divisor);
        let batches = means.iter().map(Vec::len).min().unwrap_or(0);
        let mut sums = vec![0.0; n];
        let history = (0..batches)
            .map(|b| {
                for motion in &means {
                    (0..n).for_each(|i| sums[i] += motion[b][i]);
                }
                sums.iter().map(|s| s / ((b + 1) * means.len()) as f64).collect()
            })
            .collect();
        Self { exponents, errors, dimension, dimension_error, history }
    }
}

type Number<const N: usize> = Jet<Lanes<LANES>, N>;

/// The spectrum of a field that does not depend on time (make the phase of an excitation a coordinate).
///
/// # Errors
/// [`AnalysisError::NotFinite`] if a motion leaves all bounds, and [`AnalysisError::Invalid`] without batches.
pub fn spectrum<F: Field<N>, const N: usize>(
    field: &F,
    start: &[f64; N],
    p: &[f64],
    options: &Options,
) -> Result<Spectrum, AnalysisError> {
    if options.batches * options.bundles < 2 || options.step <= 0.0 || options.every == 0 {
        let reason = "exponents need a positive step and two batches at least, for their error bars".to_owned();
        return Err(AnalysisError::Invalid { reason });
    }
    let run = |bundle: usize| bundle_means(field, start, p, options, bundle);
    let bundles: Vec<Result<Vec<Vec<Vec<f64>>>, AnalysisError>> = std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..options.bundles).map(|b| scope.spawn(move || run(b))).collect();
        threads.into_iter().map(|t| t.join().expect("a bundle of motions does not panic")).collect()
    });
    let mut means = Vec::new();
    for bundle in bundles {
        means.extend(bundle?);
    }
    Ok(Spectrum::of_batches(&means))
}

/// The means of all batches of the motions of one bundle.
fn bundle_means<F: Field<N>, const N: usize>(
    field: &F,
    start: &[f64; N],
    p: &[f64],
    options: &Options,
    bundle: usize,
) -> Result<Vec<Vec<Vec<f64>>>, AnalysisError> {
    let plain: Vec<Lanes<LANES>> = p.iter().map(|&p| p.into()).collect();
    let lifted: Vec<Number<N>> = p.iter().map(|&p| p.into()).collect();
    let offset = |i: usize, lane: usize| options.spread * ((7 * i + 1) as f64 * (bundle * LANES + lane) as f64).sin();
    let mut z: [Lanes<LANES>; N] =
        std::array::from_fn(|i| Lanes(std::array::from_fn(|lane| start[i] + offset(i, lane))));
    let mut steps = 0u64;
    for _ in 0..(options.transient / options.step).ceil() as u64 {
        z = classical(|t, z| field.rate(t, z, &plain), options.step * steps as f64, &z, options.step);
        steps += 1;
    }
    let mut jets: [Number<N>; N] = std::array::from_fn(|i| Jet::variable(z[i], i));
    let windows = (options.batch / (options.step * options.every as f64)).ceil().max(1.0) as usize;
    let mut means = vec![Vec::new(); LANES];
    for _ in 0..options.batches {
        let mut sums = [[0.0; N]; LANES];
        for _ in 0..windows {
            for _ in 0..options.every {
                jets = classical(|t, z| field.rate(t, z, &lifted), options.step * steps as f64, &jets, options.step);
                steps += 1;
            }
            orthonormalise(&mut jets, &mut sums);
        }
        let time = windows as f64 * options.every as f64 * options.step;
        for (motion, sum) in means.iter_mut().zip(&sums) {
            motion.push(sum.iter().map(|s| s / time).collect());
        }
        if !jets.iter().all(|z| z.re.size().is_finite()) {
            let what = "the motion whose exponents are sought".to_owned();
            return Err(AnalysisError::NotFinite { t: options.step * steps as f64, what });
        }
    }
    Ok(means)
}

/// Makes the columns of derivatives orthonormal, lane by lane side by side, and adds the logarithms of what was left.
fn orthonormalise<const N: usize>(jets: &mut [Number<N>; N], sums: &mut [[f64; N]; LANES]) {
    for j in 0..N {
        for k in 0..j {
            let part = jets.iter().fold(Lanes::zero(), |sum: Lanes<LANES>, z| sum + z.eps[k] * z.eps[j]);
            for z in jets.iter_mut() {
                z.eps[j] -= part * z.eps[k];
            }
        }
        let square = jets.iter().fold(Lanes::zero(), |sum: Lanes<LANES>, z| sum + z.eps[j] * z.eps[j]);
        let length = square.sqrt();
        let inverse = length.recip();
        for z in jets.iter_mut() {
            z.eps[j] *= inverse;
        }
        for (sum, length) in sums.iter_mut().zip(length.0) {
            sum[j] += length.ln();
        }
    }
}
