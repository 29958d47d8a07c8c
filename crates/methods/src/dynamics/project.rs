//! Projections to the constraints, and what is left of residuals.
//!
//! ```text
//! q ← q ⊕ δ,   min ½ δᵀ M δ   with   G δ = −g       projection of positions (Newton)
//! v ← v + δ,   min ½ δᵀ M δ   with   G δ = −(G v + g_t),  A δ = −(A v + b)
//! ```
//!
//! Projections are shortest in the metric of M, so they do not favour a unit. Redundant rows are found by the solve and
//! need not be removed; they are checked once the others are met.
//!
//! A row that has nearly vanished is left out by the solve as well. Nothing holds it back then, so each projection looks whether it is
//! still met, measured as if it had its largest size, and fails if it is not.

use super::{Dynamics, finite, named};
use crate::algebra::{CONSISTENT, SaddleError};
use crate::dynamics::Rates;
use crate::integrate::IntegrateError;
use crate::system::{State, System};

/// Most iterations of a projection of positions.
const ITERATIONS: u32 = 40;
/// Most halvings of an increment of a projection.
const HALVINGS: u32 = 20;
/// Relative increments below this that no longer shrink are rounding.
const STALL: f64 = 1e3 * f64::EPSILON;
/// Pivot below which a projection that fails is blamed on rows that exclude each other.
const NEARLY_DEPENDENT: f64 = 1e-4;
/// The slowest motion, in magnitudes per second, against which residuals of velocities are measured.
pub(super) const SLOWEST: f64 = 1e-6;

/// The worst residual of a level.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Residual {
    /// The row.
    pub row: usize,
    /// Its residual, in the unit of the row (per second on velocity level).
    pub value: f64,
    /// The largest relative change of a coordinate or velocity that would remove it if the row were alone.
    pub relative: f64,
}

/// Makes sizes of magnitudes: a thousandth of the largest one is added.
pub(crate) fn floor(size: &mut [f64]) {
    let floor = 1e-3 * size.iter().fold(0.0, |max: f64, &size| max.max(size));
    let floor = if floor > 0.0 { floor } else { 1.0 };
    size.iter_mut().for_each(|size| *size += floor);
}

impl<Y: System> Dynamics<Y> {
    /// The sizes against which changes of coordinates are measured: their magnitudes, and a thousandth of the largest one.
    pub(super) fn update_size(&mut self, y: &Y, s: &State<f64>) {
        y.magnitude(&s.q, &mut self.size);
        floor(&mut self.size);
    }

    /// The same for velocities: sizes times the fastest relative rate.
    fn update_speed(&mut self, y: &Y, s: &State<f64>) {
        self.update_size(y, s);
        let rate = s.v.iter().zip(&self.size).fold(SLOWEST, |max, (v, size)| max.max(v.abs() / size));
        for size in &mut self.size {
            *size *= rate;
        }
    }

    /// Moves q to g(t, q) = 0 by the shortest way; returns the number of iterations.
    ///
    /// Stops when an increment, which is still applied, is below `tolerance` relative to the magnitudes. Newton's method
    /// then leaves about the square of it.
    pub fn project_position(&mut self, y: &Y, s: &mut State<f64>, tolerance: f64) -> Result<u32, IntegrateError> {
        if self.shape.g == 0 {
            return Ok(0);
        }
        self.update_size(y, s);
        let (mut fresh, mut last, mut released) = (true, f64::INFINITY, false);
        let mut norm = f64::INFINITY;
        y.prepare(s, &mut self.work);
        self.position_residual(y, s);
        for iteration in 1..=ITERATIONS {
            if fresh {
                self.update_mass(y, s)?;
                self.update_rows(y, s, self.shape.g);
            }
            for i in 0..self.bias.len() {
                self.bias[i] = -self.residual[i];
            }
            self.counts.solves += 1;
            self.counts.projections += 1;
            self.saddle
                .correct(&self.mass, &self.rows, &mut self.delta, &mut self.bias)
                .map_err(|error| named(y, s.t, error))?;
            finite(y, s, &self.delta, "the correction of")?;
            norm = self.delta.iter().zip(&self.size).fold(0.0, |max: f64, (d, size)| max.max(d.abs() / size));
            let improved = self.advance(y, s, norm <= tolerance);
            let stalled = norm > 0.5 * last && norm <= STALL;
            if norm <= tolerance || stalled {
                // At a singular place rows that are dependent for a moment are met to the square of the angle only.
                // Rows that have vanished may stay so, and are met as the others are.
                let (left, allowed) = (self.left(), 10.0 * tolerance.max(STALL));
                let lost = self.lost(allowed);
                if left <= allowed || (released && left <= CONSISTENT && lost.is_none()) {
                    return Ok(iteration);
                }
                if let (true, Some(row)) = (released, lost) {
                    return Err(self.vanished(y, s.t, row, "position"));
                }
                if released {
                    break;
                }
                // A row remembered as dependent is not met: decide about the rank anew.
                self.saddle.release();
                (released, fresh, last) = (true, true, f64::INFINITY);
                continue;
            }
            if !improved && fresh {
                break;
            }
            // Old factors contract by about the relative change since they were made: keep them if that is enough.
            let contraction = if fresh { norm } else { norm / last };
            fresh = !improved || contraction * norm > tolerance;
            last = norm;
        }
        Err(self.unmet(y, s, norm / tolerance))
    }

    /// Moves q by δ, or by a part of it for which the residuals become smaller. Returns whether such a part was found.
    /// Leaves the state prepared and its residuals known.
    fn advance(&mut self, y: &Y, s: &mut State<f64>, small: bool) -> bool {
        let before = self.saddle.merit(&self.residual);
        self.base.copy_from_slice(&s.q);
        for _ in 0..HALVINGS {
            y.retract(&self.base, &self.delta, &mut s.q);
            y.prepare(s, &mut self.work);
            self.position_residual(y, s);
            if small || self.saddle.merit(&self.residual) < before {
                return true;
            }
            self.delta.iter_mut().for_each(|d| *d *= 0.5);
        }
        false
    }

    /// residual = g(t, q) of a prepared state; velocity-level rows count as met.
    fn position_residual(&mut self, y: &Y, s: &State<f64>) {
        self.residual.fill(0.0);
        y.constraint(s, &mut self.work, &mut self.residual[..self.shape.g]);
    }

    /// residual = G v + g_t and A v + b of a prepared state whose Jacobian is known.
    fn velocity_residual(&mut self, y: &Y, s: &State<f64>) {
        if self.structure.scleronomic {
            self.residual.fill(0.0);
            self.rows.add_apply(&s.v, &mut self.residual);
        } else {
            y.constraint_rate(s, &mut self.work, &mut self.residual);
        }
    }

    /// The largest relative residual of the dependent rows.
    fn left(&mut self) -> f64 {
        if self.saddle.dependent().is_empty() {
            return 0.0;
        }
        self.saddle.lone_change(&self.residual, &self.size, &mut self.relative);
        self.saddle.dependent().iter().fold(0.0, |max, &row| max.max(self.relative[row]))
    }

    /// The row left out as vanished whose relative residual is the largest, if that is more than allowed; after [`Dynamics::left`].
    fn lost(&self, allowed: f64) -> Option<usize> {
        let dependent = self.saddle.dependent().iter().copied();
        let lost = dependent.filter(|&row| self.saddle.shrunk(row).is_some() && self.relative[row] > allowed);
        lost.max_by(|&i, &j| self.relative[i].total_cmp(&self.relative[j]))
    }

    /// The error of a row that is left out as vanished and no longer met.
    fn vanished(&self, y: &Y, t: f64, row: usize, level: &'static str) -> IntegrateError {
        let size = self.saddle.shrunk(row).unwrap_or(0.0);
        IntegrateError::Vanished { t, constraint: y.row_name(row), residual: self.residual[row], level, size }
    }

    /// The error of a projection that did not reach the constraints.
    ///
    /// Residuals stop shrinking only where rows become dependent: they cannot be met together.
    fn unmet(&mut self, y: &Y, s: &State<f64>, residual: f64) -> IntegrateError {
        self.saddle.lone_change(&self.residual, &self.size, &mut self.relative);
        let by_size = |i: &usize, j: &usize| self.relative[*i].total_cmp(&self.relative[*j]);
        let dependent = self.saddle.dependent().iter().copied().max_by(by_size);
        let (closest, pivot) = self.saddle.smallest_pivot();
        let row = match dependent {
            Some(row) if self.relative[row] > STALL => Some(row),
            _ if pivot < NEARLY_DEPENDENT => Some(closest),
            _ => None,
        };
        if let Some(row) = row {
            let depends_on = self.saddle.depends_on(&self.mass, &self.rows, row);
            return named(y, s.t, SaddleError::Contradictory { row, residual: self.residual[row], depends_on });
        }
        let what = "the projection to the constraints";
        let worst = y.row_name(self.worst(self.shape.g).row);
        IntegrateError::NotConverged { t: s.t, h: 0.0, what, residual, worst }
    }

    fn worst(&self, rows: usize) -> Residual {
        let row = (0..rows).max_by(|&i, &j| self.relative[i].total_cmp(&self.relative[j])).unwrap_or(0);
        if rows == 0 {
            return Residual::default();
        }
        Residual { row, value: self.residual[row], relative: self.relative[row] }
    }

    /// Moves v to G v + g_t = 0 and A v + b = 0 by the shortest way.
    pub fn project_velocity(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        if self.shape.rows() == 0 {
            return Ok(());
        }
        y.prepare(s, &mut self.work);
        self.update_mass(y, s)?;
        self.update_rows(y, s, self.shape.rows());
        self.saddle.remember();
        let mut released = false;
        loop {
            self.velocity_residual(y, s);
            for i in 0..self.bias.len() {
                self.bias[i] = -self.residual[i];
            }
            self.counts.solves += 1;
            self.counts.projections += 1;
            self.saddle
                .correct(&self.mass, &self.rows, &mut self.delta, &mut self.bias)
                .map_err(|error| named(y, s.t, error))?;
            for (v, delta) in s.v.iter_mut().zip(&self.delta) {
                *v += delta;
            }
            finite(y, s, &s.v, "the velocity of")?;
            if self.saddle.dependent().is_empty() {
                return Ok(());
            }
            y.prepare(s, &mut self.work);
            self.velocity_residual(y, s);
            self.update_speed(y, s);
            self.saddle.lone_change(&self.residual, &self.size, &mut self.relative);
            let unmet = self.saddle.dependent().iter().copied().filter(|&row| self.relative[row] > CONSISTENT);
            let Some(row) = unmet.max_by(|&i, &j| self.relative[i].total_cmp(&self.relative[j])) else {
                return Ok(());
            };
            if released && self.saddle.shrunk(row).is_some() {
                return Err(self.vanished(y, s.t, row, "velocity"));
            }
            if released {
                let with = self.saddle.depends_on(&self.mass, &self.rows, row);
                let residual = self.residual[row];
                return Err(named(y, s.t, SaddleError::Contradictory { row, residual, depends_on: with }));
            }
            released = true;
            self.saddle.release();
            self.update_rows(y, s, self.shape.rows());
        }
    }

    /// The worst residuals of positions and velocities.
    pub fn residuals(&mut self, y: &Y, s: &State<f64>) -> Result<(Residual, Residual), IntegrateError> {
        if self.shape.rows() == 0 {
            return Ok(Default::default());
        }
        y.prepare(s, &mut self.work);
        self.update_mass(y, s)?;
        self.update_rows(y, s, self.shape.rows());
        self.saddle.remember();
        self.position_residual(y, s);
        self.update_size(y, s);
        self.saddle.lone_change(&self.residual, &self.size, &mut self.relative);
        let position = self.worst(self.shape.g);
        self.velocity_residual(y, s);
        self.update_speed(y, s);
        self.saddle.lone_change(&self.residual, &self.size, &mut self.relative);
        Ok((position, self.worst(self.shape.rows())))
    }

    /// Whether a state satisfies its constraints to a relative tolerance, and whether accelerations can keep it so.
    pub fn check(&mut self, y: &Y, s: &State<f64>, tolerance: f64) -> Result<(), IntegrateError> {
        self.saddle.release();
        let (position, velocity) = self.residuals(y, s)?;
        for (level, worst) in [("position", position), ("velocity", velocity)] {
            if worst.value.is_nan() {
                return Err(IntegrateError::NotFinite { t: s.t, what: format!("`{}`", y.row_name(worst.row)) });
            }
            if worst.relative > tolerance {
                return Err(IntegrateError::Inconsistent {
                    t: s.t,
                    constraint: y.row_name(worst.row),
                    residual: worst.value,
                    level,
                });
            }
        }
        self.accelerate(y, s, &mut Rates::zeros(self.shape), true)
    }
}
