//! Periodic motions of any system, by Newton's method.
//!
//! With a basis B of changes at the start, carried to B₁ by one period, and the difference d of end and start,
//!
//! ```text
//! (B⁺B₁ − 1) w = −B⁺d,     start ← start ⊕ B w
//! ```
//!
//! If nothing drives the system the period is unknown too: the rate at the end is one more column, and one more row asks for a change across the
//! motion. Multipliers are the eigenvalues of B⁺B₁. What carries a state and its changes through a period is given, so that motions with events are
//! sought by the same equations.

use super::{LEAP, Motion, coordinates};
use crate::dense::Matrix;
use crate::eigen::{eigenvalues, symmetric};
use crate::error::AnalysisError;
use crate::field::Settings;
use dalembert_methods::algebra::Complex;
use dalembert_methods::system::{State, System};

/// A relative singular value below which a cycle is one of a family.
const FAMILY: f64 = 1e-7;
/// Most Newton steps of a search, and most halvings of one.
const ITERATIONS: usize = 40;
const HALVINGS: usize = 10;

/// A periodic motion of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Orbit {
    /// Its state at the beginning.
    pub state: State<f64>,
    /// Its period in seconds.
    pub period: f64,
    /// The multipliers, by falling modulus. If nothing drives the system one of them is 1.
    pub multipliers: Vec<Complex>,
    /// The largest difference of end and beginning.
    pub residual: f64,
    /// Newton steps.
    pub iterations: usize,
}

/// Carries a state and changes of it through a time.
pub(crate) type Carrier<'a> = dyn FnMut(&State<f64>, f64, &mut Matrix) -> Result<State<f64>, AnalysisError> + 'a;

/// The error of a period that is not one of what drives a system.
pub(crate) fn not_repeated(period: f64) -> AnalysisError {
    let reason =
        format!("what drives the system does not repeat after {period} s: give its period, or a multiple of it");
    AnalysisError::Invalid { reason }
}

/// A periodic motion near a state. The period is given if the system is driven, and a guess if not.
///
/// # Errors
/// [`AnalysisError::Invalid`] if what drives the system has another period, [`AnalysisError::NotIsolated`] where a family of cycles passes,
/// [`AnalysisError::NotConverged`] where Newton's method does not settle.
pub fn orbit<Y: System>(
    y: &Y,
    start: &State<f64>,
    period: f64,
    tolerance: f64,
    settings: Settings,
) -> Result<Orbit, AnalysisError> {
    let mut motion = Motion::new(y, settings);
    let driven = motion.driven(start)?;
    if driven && !motion.repeats(start, period)? {
        return Err(not_repeated(period));
    }
    let mut carry = |s: &State<f64>, time: f64, columns: &mut Matrix| {
        let mut end = s.clone();
        motion.advance(&mut end, columns, s.t + time)?;
        Ok(end)
    };
    newton(y, &mut carry, start, period, driven, tolerance, settings)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |max: f64, v| max.max(v.abs()))
}

/// Newton's method from a state of a system, which is that of the beginning and the end of a period.
pub(crate) fn newton<Y: System>(
    y: &Y,
    carry: &mut Carrier<'_>,
    start: &State<f64>,
    period: f64,
    driven: bool,
    tolerance: f64,
    settings: Settings,
) -> Result<Orbit, AnalysisError> {
    let mut motion = Motion::new(y, settings);
    let (mut s, mut period) = (start.clone(), period);
    let (mut residual, mut made) = (f64::INFINITY, 0);
    for iterations in 0..ITERATIONS {
        made = iterations + 1;
        let basis = motion.basis(&s)?;
        let mut columns = basis.clone();
        let end = carry(&s, period, &mut columns)?;
        let difference = motion.difference(&s, &end)?;
        residual = largest(&difference);
        let map = coordinates(&basis, &columns)?;
        let d = basis.cols();
        let gap = coordinates(&basis, &Matrix::from_rows(difference.len(), 1, difference))?;
        let size = if driven { d } else { d + 1 };
        let mut matrix = Matrix::zeros(size, size);
        matrix.set_block(0, 0, &map.plus(-1.0, &Matrix::unit(d)));
        let mut right: Vec<f64> = gap.values().iter().map(|g| -g).collect();
        if !driven {
            // The rates at both ends: the last column is the change with the period, the last row asks for no change along the motion.
            let mut along = |at: &State<f64>| -> Result<Vec<f64>, AnalysisError> {
                motion.variation().motion(y, at)?;
                let rates = &motion.variation().rates;
                let rates = [&at.v[..], &rates.v, &rates.x].concat();
                Ok(coordinates(&basis, &Matrix::from_rows(rates.len(), 1, rates))?.values().to_vec())
            };
            let (first, last) = (along(&s)?, along(&end)?);
            for i in 0..d {
                matrix[(i, d)] = last[i];
                matrix[(d, i)] = first[i];
            }
            right.push(0.0);
        }
        if residual <= tolerance {
            let (squares, _) = symmetric(&matrix.transpose().mul(&matrix));
            let ratio = (squares[0].max(0.0) / squares[size - 1]).sqrt();
            if ratio < FAMILY {
                return Err(AnalysisError::NotIsolated { what: "the cycle", ratio });
            }
            let multipliers = eigenvalues(&map)?;
            return Ok(Orbit { state: s, period, multipliers, residual, iterations });
        }
        let step = matrix
            .solve_vector(&right, "the equations of a cycle")
            .map_err(|_| AnalysisError::NotIsolated { what: "the cycle", ratio: f64::EPSILON })?;
        let change = basis.apply(&step[..d]);
        // No leap further than the motion itself goes, where it may take long to compute, and shorter ones where other events are met on the way.
        let here = s.v.iter().fold(1.0 + residual, |max, v| max.max(v.abs()));
        let mut part = (LEAP * here / largest(&change).max(f64::MIN_POSITIVE)).min(1.0);
        let mut none = Matrix::zeros(columns.rows(), 0);
        let mut better = None;
        for _ in 0..HALVINGS {
            let (mut trial, scaled) = (s.clone(), change.iter().map(|c| part * c).collect::<Vec<_>>());
            let time = if driven { period } else { period + part * step[d] };
            part *= 0.5;
            if time.is_nan() || time <= 0.0 || motion.shift(&mut trial, &scaled).is_err() {
                continue;
            }
            let left = carry(&trial, time, &mut none).and_then(|end| motion.difference(&trial, &end));
            let there = left.map_or(f64::INFINITY, |left| largest(&left));
            if there < residual || there <= tolerance {
                better = Some((trial, time));
                break;
            }
        }
        let Some(next) = better else { break };
        (s, period) = next;
    }
    let advice = "start nearer to the cycle, for instance by letting the motion settle first";
    Err(AnalysisError::NotConverged { what: "the search for a cycle", iterations: made, residual, advice })
}
