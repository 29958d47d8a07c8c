//! A search without guess and without derivatives: the evolution strategy with adapted covariance (CMA-ES).
//!
//! Each generation draws λ points from a normal distribution, takes the better half, moves the mean to their weighted mean, and adapts step
//! size and covariance by the paths the mean takes \[1\]. Points for which the goal cannot be computed count as worst. The same seed gives
//! the same points.
//!
//! Reference: \[1\] Hansen: The CMA evolution strategy: a tutorial, arXiv:1604.00772 (2016), table 1 and figure 6.

use crate::dense::Matrix;
use crate::eigen::symmetric;
use crate::sweep::parallel;

/// How to search.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Options {
    /// The seed of the random numbers.
    pub seed: u64,
    /// Points in a generation; 0 for 4 + 3 ln n.
    pub population: usize,
    /// Most generations.
    pub generations: usize,
    /// The search ends when the goal is below this.
    pub goal: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best point.
    pub point: Vec<f64>,
    /// Its goal.
    pub value: f64,
    /// Generations used.
    pub generations: usize,
}

/// Random numbers: splitmix64 (Steele, Lea, Flood 2014), normal ones by Box and Muller.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers that depend on the seed alone.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// Searches a minimum of a goal, starting with normal points around `mean` with deviations `spread`.
pub fn minimise(goal: &mut dyn FnMut(&[f64]) -> Option<f64>, mean: &[f64], spread: &[f64], options: &Options) -> Found {
    evolve(&mut |points| points.iter().map(|x| goal(x)).collect(), mean, spread, options)
}

/// The same, with the points of a generation on all cores; the result does not depend on how many those are.
pub fn minimise_on_all_cores(
    goal: &(dyn Fn(&[f64]) -> Option<f64> + Sync),
    mean: &[f64],
    spread: &[f64],
    options: &Options,
) -> Found {
    evolve(&mut |points| parallel(points.len(), |k| goal(&points[k])), mean, spread, options)
}

/// A goal that takes a generation at once.
type Goals<'a> = dyn FnMut(&[Vec<f64>]) -> Vec<Option<f64>> + 'a;

/// Searches with a goal that takes a generation at once.
fn evolve(goals: &mut Goals<'_>, mean: &[f64], spread: &[f64], options: &Options) -> Found {
    let n = mean.len();
    let dimension = n as f64;
    let lambda = if options.population > 1 { options.population } else { 4 + (3.0 * dimension.ln()) as usize };
    let parents = lambda / 2;
    let raw: Vec<f64> = (0..parents).map(|i| ((lambda as f64 + 1.0) / 2.0).ln() - (i as f64 + 1.0).ln()).collect();
    let total: f64 = raw.iter().sum();
    let weights: Vec<f64> = raw.iter().map(|w| w / total).collect();
    let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let step_rate = (effective + 2.0) / (dimension + effective + 5.0);
    let damping = 1.0 + 2.0 * (((effective - 1.0) / (dimension + 1.0)).sqrt() - 1.0).max(0.0) + step_rate;
    let path_rate = (4.0 + effective / dimension) / (dimension + 4.0 + 2.0 * effective / dimension);
    let rank_one = 2.0 / ((dimension + 1.3).powi(2) + effective);
    let rank_many =
        (1.0 - rank_one).min(2.0 * (effective - 2.0 + 1.0 / effective) / ((dimension + 2.0).powi(2) + effective));
    let expected = dimension.sqrt() * (1.0 - 1.0 / (4.0 * dimension) + 1.0 / (21.0 * dimension * dimension));
    let mut random = Random::new(options.seed);
    // Coordinates are measured in their spreads.
    let place = |x: &[f64]| -> Vec<f64> { x.iter().zip(mean).zip(spread).map(|((x, m), s)| m + s * x).collect() };
    let (mut centre, mut sigma) = (vec![0.0; n], 1.0);
    let mut covariance = Matrix::unit(n);
    let (mut path, mut step_path) = (vec![0.0; n], vec![0.0; n]);
    let mut best = Found { point: mean.to_vec(), value: f64::INFINITY, generations: 0 };
    for generation in 0..options.generations {
        best.generations = generation + 1;
        let (squares, axes) = symmetric(&covariance);
        let lengths: Vec<f64> = squares.iter().map(|s| s.max(1e-30).sqrt()).collect();
        let drawn: Vec<Vec<f64>> = (0..lambda)
            .map(|_| axes.apply(&lengths.iter().map(|l| l * random.normal()).collect::<Vec<f64>>()))
            .collect();
        let places: Vec<Vec<f64>> = drawn
            .iter()
            .map(|y| place(&centre.iter().zip(y).map(|(c, y)| c + sigma * y).collect::<Vec<f64>>()))
            .collect();
        let mut points: Vec<(f64, Vec<f64>)> = Vec::with_capacity(lambda);
        for ((value, x), y) in goals(&places).into_iter().zip(&places).zip(drawn) {
            let value = value.filter(|v| v.is_finite()).unwrap_or(f64::MAX);
            if value < best.value {
                (best.value, best.point) = (value, x.clone());
            }
            points.push((value, y));
        }
        if best.value <= options.goal || sigma * lengths[n - 1] < 1e-14 {
            break;
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let chosen = &points[..parents];
        let y: Vec<f64> = (0..n).map(|i| weights.iter().zip(chosen).map(|(w, (_, y))| w * y[i]).sum()).collect();
        centre.iter_mut().zip(&y).for_each(|(c, y)| *c += sigma * y);
        let whitened: Vec<f64> = axes.transpose().apply(&y).iter().zip(&lengths).map(|(y, l)| y / l).collect();
        let whitened = axes.apply(&whitened);
        let keep = (step_rate * (2.0 - step_rate) * effective).sqrt();
        step_path.iter_mut().zip(&whitened).for_each(|(p, y)| *p = (1.0 - step_rate) * *p + keep * y);
        let length = step_path.iter().map(|p| p * p).sum::<f64>().sqrt();
        let settled = 1.0 - (1.0 - step_rate).powi(2 * (generation as i32 + 1));
        let stalled = length / settled.sqrt() >= (1.4 + 2.0 / (dimension + 1.0)) * expected;
        let advance = if stalled { 0.0 } else { (path_rate * (2.0 - path_rate) * effective).sqrt() };
        path.iter_mut().zip(&y).for_each(|(p, y)| *p = (1.0 - path_rate) * *p + advance * y);
        let lost = if stalled { rank_one * path_rate * (2.0 - path_rate) } else { 0.0 };
        for i in 0..n {
            for j in 0..n {
                let many: f64 = weights.iter().zip(chosen).map(|(w, (_, y))| w * y[i] * y[j]).sum();
                covariance[(i, j)] = (1.0 - rank_one - rank_many + lost) * covariance[(i, j)]
                    + rank_one * path[i] * path[j]
                    + rank_many * many;
            }
        }
        sigma *= ((step_rate / damping) * (length / expected - 1.0)).exp();
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley, five coordinates: from far away to its end at (1, …, 1).
    #[test]
    fn the_end_of_a_curved_valley_is_found() {
        let mut goal = |x: &[f64]| {
            let term = |w: &[f64]| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2);
            Some(x.windows(2).map(term).sum())
        };
        let options = Options { seed: 1, population: 0, generations: 2000, goal: 1e-14 };
        let found = minimise(&mut goal, &[-1.0; 5], &[1.0; 5], &options);
        // The goal is at least ½ |x − 1|²: its smallest curvature is above one half.
        assert!(found.value <= 1e-14 && found.point.iter().all(|x| (x - 1.0).abs() < 1e-6), "{found:?}");
        // On all cores the same points are found.
        let alike = |x: &[f64]| {
            let term = |w: &[f64]| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2);
            Some(x.windows(2).map(term).sum())
        };
        assert_eq!(minimise_on_all_cores(&alike, &[-1.0; 5], &[1.0; 5], &options), found);
    }
}
