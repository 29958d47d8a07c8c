//! Sliding friction with the multipliers that drive it.
//!
//! Sliding friction C λ (forces linear in k multipliers, the loads P λ) is solved with them, without lag. With the solution λ₀
//! for the forces f and the responses X to the columns of C, both by the symmetric factors,
//!
//! ```text
//! (1 − P X) P λ = P λ₀                              k × k, Woodbury
//! ```
//!
//! The matrix is the unit without friction. As coefficients grow, its leading minors first reach zero where rigid bodies with
//! Coulomb's law stop having one solution (Painlevé); a pivot that is not positive is therefore an error.

use super::{Dynamics, finite, named};
use crate::integrate::IntegrateError;
use crate::system::{Shape, State, System};

/// Pivots of 1 − P X at or below this count as jammed.
const JAMMED: f64 = 1e-8;

/// Scratch for friction driven by multipliers.
pub(super) struct Friction {
    /// The rows that drive it.
    loads: Vec<usize>,
    /// Multipliers of all rows, zero but at loads.
    unit: Vec<f64>,
    /// The forces without friction.
    force: Vec<f64>,
    /// A column of C, then its response.
    column: Vec<f64>,
    response: Vec<f64>,
    /// 1 − P X by rows, and P λ.
    matrix: Vec<f64>,
    values: Vec<f64>,
}

impl Friction {
    /// Scratch for the rows that drive friction.
    pub(super) fn new(shape: Shape, loads: Vec<usize>) -> Self {
        let k = loads.len();
        let zeros = |n| vec![0.0; n];
        let sized = |n| if k == 0 { Vec::new() } else { zeros(n) };
        Self {
            unit: sized(shape.rows()),
            force: sized(shape.v),
            column: sized(shape.v),
            response: sized(shape.rows()),
            matrix: zeros(k * k),
            values: zeros(k),
            loads,
        }
    }

    /// Solves of one evaluation.
    pub(super) fn solves(&self) -> u64 {
        if self.loads.is_empty() { 0 } else { 1 + self.loads.len() as u64 }
    }
}

impl<Y: System> Dynamics<Y> {
    /// Adds sliding friction to the forces, or impulses, of a prepared state whose rows are factored and are to move by `c`.
    pub(crate) fn add_friction(
        &mut self,
        y: &Y,
        s: &State<f64>,
        force: &mut [f64],
        c: &[f64],
    ) -> Result<(), IntegrateError> {
        if self.friction.loads.is_empty() {
            return Ok(());
        }
        let (mass, rows, saddle) = (&self.mass, &self.rows, &mut self.saddle);
        let Friction { loads, unit, force: free, column, response, matrix, values } = &mut self.friction;
        let k = loads.len();
        free.copy_from_slice(force);
        response.copy_from_slice(c);
        saddle.solve_trial(mass, rows, free, response).map_err(|error| named(y, s.t, error))?;
        for (value, &load) in values.iter_mut().zip(&*loads) {
            *value = response[load];
        }
        unit.fill(0.0);
        for j in 0..k {
            unit[loads[j]] = 1.0;
            column.fill(0.0);
            y.friction(s, unit, &mut self.work, column);
            unit[loads[j]] = 0.0;
            response.fill(0.0);
            saddle.solve_trial(mass, rows, column, response).map_err(|error| named(y, s.t, error))?;
            for i in 0..k {
                matrix[i * k + j] = f64::from(u8::from(i == j)) - response[loads[i]];
            }
        }
        self.counts.solves += 1 + k as u64;
        // Elimination without exchanges, so that the pivots are ratios of leading minors.
        for j in 0..k {
            let pivot = matrix[j * k + j];
            if pivot.is_nan() || pivot <= JAMMED {
                return Err(IntegrateError::Jammed { t: s.t, load: y.load_name(s, loads[j]), pivot });
            }
            for i in j + 1..k {
                let factor = matrix[i * k + j] / pivot;
                for l in j..k {
                    matrix[i * k + l] -= factor * matrix[j * k + l];
                }
                values[i] -= factor * values[j];
            }
        }
        for j in (0..k).rev() {
            let sum = (j + 1..k).fold(values[j], |sum, l| sum - matrix[j * k + l] * values[l]);
            values[j] = sum / matrix[j * k + j];
            unit[loads[j]] = values[j];
        }
        y.friction(s, unit, &mut self.work, force);
        finite(y, s, force, "the friction on")
    }
}
