//! Steady motions: some coordinates run on at constant speed, all else rests.
//!
//! With the coordinates that run on (wheels, spins, ways) named, a steady motion is a state with
//!
//! ```text
//! v_i = 0   for all other coordinates,     v̇ = 0,     ẋ = 0
//! ```
//!
//! These are solved by Newton's method among the changes that constraints allow, with exact derivatives. The equations leave directions free: where the
//! running coordinates are does not matter, and their speeds may be any number if nothing drives and brakes them. The step is the shortest one, so
//! that what is free stays as it was at the start. An equilibrium is the case in which nothing runs.
//!
//! Reference: Müller, Schiehlen: Linear Vibrations, Martinus Nijhoff 1985, section 2.3.

use crate::dense::Matrix;
use crate::eigen::symmetric;
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::linearise::null_space;
use crate::motion::Motion;
use dalembert_methods::system::{State, System};

/// Most Newton steps.
const ITERATIONS: usize = 60;
/// Most halvings of one.
const HALVINGS: usize = 12;
/// Squared singular values below this part of the largest are zero: their directions are free.
const FREE: f64 = 1e-13;

/// A steady motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Steady {
    /// Its state.
    pub state: State<f64>,
    /// The largest velocity or acceleration that should not be there.
    pub residual: f64,
    /// Newton steps.
    pub iterations: usize,
    /// The directions along which it is one of a family.
    pub free: usize,
}

/// A steady motion near a state, in which only the velocities with the given numbers run on.
///
/// # Errors
/// [`AnalysisError::Invalid`] for a number that does not exist, [`AnalysisError::NotConverged`] where no step helps, and those of the accelerations.
pub fn steady<Y: System>(
    y: &Y,
    start: &State<f64>,
    running: &[usize],
    tolerance: f64,
) -> Result<Steady, AnalysisError> {
    let shape = y.shape();
    let n = shape.v;
    if let Some(i) = running.iter().find(|&&i| i >= n) {
        return Err(AnalysisError::Invalid { reason: format!("there is no velocity {i} of {n}") });
    }
    let resting: Vec<usize> = (0..n).filter(|i| !running.contains(i)).collect();
    let mut motion = Motion::new(y, Settings::default());
    let mut s = start.clone();
    // Velocities of what rests are made zero first, as far as constraints let them be.
    resting.iter().for_each(|&i| s.v[i] = 0.0);
    motion.shift(&mut s, &vec![0.0; 2 * n + shape.x])?;
    let (mut residual, mut left) = (Vec::new(), f64::INFINITY);
    let evaluate = |motion: &mut Motion<'_, Y>, s: &State<f64>, out: &mut Vec<f64>| -> Result<f64, AnalysisError> {
        motion.variation().motion(y, s)?;
        let rates = &motion.variation().rates;
        out.clear();
        out.extend(resting.iter().map(|&i| s.v[i]).chain(rates.v.iter().copied()).chain(rates.x.iter().copied()));
        Ok(out.iter().fold(0.0, |max: f64, r| max.max(r.abs())))
    };
    for iterations in 0..ITERATIONS {
        left = evaluate(&mut motion, &s, &mut residual)?;
        let basis = motion.basis(&s)?;
        let mut rates = Matrix::zeros(basis.rows(), basis.cols());
        motion.variation().changes(y, &s, &basis, &mut rates)?;
        // The derivative of the conditions on independent coordinates, each made of size one; the others follow by the constraints.
        let m = shape.rows();
        let mut dense = vec![0.0; m * n];
        if m > 0 {
            motion.variation().dynamics.parts().rows.to_dense(&mut dense);
        }
        let (_, independent) = null_space(&Matrix::from_rows(m, n, dense));
        let kept: Vec<usize> = (0..residual.len())
            .filter(|&i| match resting.get(i) {
                Some(k) => independent.contains(k),
                None => i >= resting.len() + n || independent.contains(&(i - resting.len())),
            })
            .collect();
        let mut residual: Vec<f64> = kept.iter().map(|&i| residual[i]).collect();
        let rows = residual.len();
        let entry = |i: usize, j: usize| match resting.get(kept[i]) {
            Some(&k) => basis[(n + k, j)],
            None => rates[(n + kept[i] - resting.len(), j)],
        };
        let mut slope = Matrix::from_fn(rows, basis.cols(), entry);
        for i in 0..rows {
            let size = slope.row(i).iter().fold(0.0f64, |max, d| max.max(d.abs()));
            if size > 0.0 {
                residual[i] /= size;
                (0..slope.cols()).for_each(|j| slope[(i, j)] /= size);
            }
        }
        let transposed = slope.transpose();
        let (squares, directions) = symmetric(&transposed.mul(&slope));
        let largest = squares.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..squares.len()).filter(|&k| squares[k] > FREE * largest).collect();
        if left <= tolerance {
            return Ok(Steady { state: s, residual: left, iterations, free: squares.len() - kept.len() });
        }
        let pull = transposed.apply(&residual);
        let mut step = vec![0.0; basis.cols()];
        for &k in &kept {
            let direction = directions.column(k);
            let part = direction.iter().zip(&pull).map(|(d, p)| d * p).sum::<f64>() / squares[k];
            step.iter_mut().zip(&direction).for_each(|(s, d)| *s -= part * d);
        }
        let change = basis.apply(&step);
        let mut part = 1.0;
        let better = (0..HALVINGS).find_map(|_| {
            let mut trial = s.clone();
            let scaled: Vec<f64> = change.iter().map(|c| part * c).collect();
            part *= 0.5;
            motion.shift(&mut trial, &scaled).ok()?;
            let there = evaluate(&mut motion, &trial, &mut Vec::new()).ok()?;
            (there < left).then_some(trial)
        });
        let Some(trial) = better else { break };
        s = trial;
    }
    let advice = "start nearer to the steady motion, or name all coordinates that run on";
    Err(AnalysisError::NotConverged {
        what: "the search for a steady motion",
        iterations: ITERATIONS,
        residual: left,
        advice,
    })
}
