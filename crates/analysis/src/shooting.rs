//! Two-point problems: a motion whose start and end meet conditions, and how far around a cycle starts come back to it.
//!
//! Conditions on the start leave a few unknowns u, z₀ = z₀(u); conditions on the end are then met by shooting (\[1\] eqs. (64)–(66)):
//!
//! ```text
//! z₀ = o + S u,     z₁ = P(z₀),     B(z₁, z₀) = L z₁ + F z₀ − d = 0,     ∂B/∂u = (L ∂P/∂z + F) S
//! ```
//!
//! in the sense of least squares if there are more conditions than unknowns. For a gait S says that legs are straight and feet on the ground,
//! and B that the end is like the start.
//!
//! Reference: \[1\] Schiehlen: Computational dynamics: theory and applications of multibody systems, Eur. J. Mech. A/Solids 25 (2006) 566–594,
//! section 6.3.

use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::map::{Image, Map};
use crate::sweep::parallel;

/// Most steps of Gauss and Newton.
const ITERATIONS: usize = 50;
/// Most halvings of one.
const HALVINGS: usize = 12;

/// Conditions on start and end.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundary {
    /// o, the start for u = 0.
    pub offset: Vec<f64>,
    /// S, how the unknowns make the start.
    pub start: Matrix,
    /// L, how the end enters the conditions.
    pub last: Matrix,
    /// F, how the start enters them.
    pub first: Matrix,
    /// d.
    pub level: Vec<f64>,
}

impl Boundary {
    /// The conditions of a cycle: chosen coordinates of the end are those of the start, which has the given form.
    pub fn cycle(offset: Vec<f64>, start: Matrix, same: &[usize]) -> Self {
        let pick = Matrix::from_fn(same.len(), offset.len(), |i, j| f64::from(u8::from(same[i] == j)));
        Self { offset, start, first: pick.scaled(-1.0), last: pick, level: vec![0.0; same.len()] }
    }

    /// The start z₀(u).
    pub fn state(&self, unknowns: &[f64]) -> Vec<f64> {
        self.offset.iter().zip(self.start.apply(unknowns)).map(|(o, s)| o + s).collect()
    }

    /// B(z₁, z₀).
    pub fn residual(&self, end: &[f64], start: &[f64]) -> Vec<f64> {
        let parts = self.last.apply(end).into_iter().zip(self.first.apply(start));
        parts.zip(&self.level).map(|((l, f), d)| l + f - d).collect()
    }
}

/// A solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Shot {
    /// The unknowns u.
    pub unknowns: Vec<f64>,
    /// The start z₀(u).
    pub state: Vec<f64>,
    /// The largest condition left.
    pub residual: f64,
    /// Steps.
    pub iterations: usize,
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |max: f64, v| max.max(v.abs()))
}

/// Solves a two-point problem from a guess of the unknowns.
///
/// # Errors
/// [`AnalysisError::NotIsolated`] where unknowns do not matter, [`AnalysisError::NotConverged`] where no step helps.
pub fn shoot(
    map: &dyn Map,
    boundary: &Boundary,
    guess: &[f64],
    parameter: f64,
    tolerance: f64,
) -> Result<Shot, AnalysisError> {
    let fire = |u: &[f64]| -> Result<(Vec<f64>, Image, Vec<f64>), AnalysisError> {
        let start = boundary.state(u);
        let image = map.image(&start, parameter)?;
        let residual = boundary.residual(&image.value, &start);
        Ok((start, image, residual))
    };
    let mut u = guess.to_vec();
    let (mut start, mut image, mut residual) = fire(&u)?;
    for iterations in 0..ITERATIONS {
        if largest(&residual) <= tolerance {
            return Ok(Shot { unknowns: u, state: start, residual: largest(&residual), iterations });
        }
        let slope = boundary.last.mul(&image.by_state).plus(1.0, &boundary.first).mul(&boundary.start);
        let transposed = slope.transpose();
        let step = transposed
            .mul(&slope)
            .solve_vector(&transposed.apply(&residual), "the conditions of a shot")
            .map_err(|_| AnalysisError::NotIsolated { what: "the motion sought", ratio: f64::EPSILON })?;
        let mut part = 1.0;
        let better = (0..HALVINGS).find_map(|_| {
            let trial: Vec<f64> = u.iter().zip(&step).map(|(u, s)| u - part * s).collect();
            part *= 0.5;
            let (start, image, there) = fire(&trial).ok()?;
            (largest(&there) < largest(&residual)).then_some((trial, start, image, there))
        });
        let Some(next) = better else { break };
        (u, start, image, residual) = next;
    }
    let advice = "start nearer, for instance from an evolution strategy, or ask for fewer conditions";
    let residual = largest(&residual);
    Err(AnalysisError::NotConverged { what: "shooting", iterations: ITERATIONS, residual, advice })
}

/// For each start the number of times the map must be done until it is within `near` of a cycle; nothing for starts that are not there after
/// `most` times, or fall on the way. Starts run on all cores.
pub fn basin(
    map: &dyn Map,
    cycle: &[f64],
    parameter: f64,
    starts: &[Vec<f64>],
    most: usize,
    near: f64,
) -> Vec<Option<usize>> {
    parallel(starts.len(), |k| {
        let mut z = starts[k].clone();
        for count in 0..=most {
            if z.iter().zip(cycle).all(|(z, c)| (z - c).abs() <= near) {
                return Some(count);
            }
            z = map.value(&z, parameter).ok()?;
        }
        None
    })
}
