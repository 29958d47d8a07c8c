//! Projections to the constraints whose corrections are computed in company.

use super::Dynamics;
use crate::integrate::Company;
use crate::system::{State, System};

/// Most corrections of a configuration; where more are needed the run projects by itself.
pub const ROUNDS: u32 = 6;
/// Where a configuration moves by no more than this, relative to the magnitudes, the correction of velocities found beside it counts.
pub const ARRIVED: f64 = 1e-13;

impl<Y: System> Dynamics<Y> {
    /// Moves a state to the constraints, as [`Dynamics::project_position`] and [`Dynamics::project_velocity`] do, by Newton's method with corrections computed in company. A state
    /// whose first corrections are both at most `negligible`, relative to the magnitudes, is left alone. Gives whether the state was moved, and nothing, with the
    /// state as it was, if the company cannot help.
    pub(crate) async fn project_beside(
        &mut self,
        y: &Y,
        s: &mut State<f64>,
        tolerance: f64,
        negligible: f64,
        company: &mut impl Company<Y>,
    ) -> Option<bool> {
        if self.shape.rows() == 0 {
            return Some(false);
        }
        if !company.correct(s, &mut self.delta, &mut self.turn).await {
            return None;
        }
        self.credit_corrections(1);
        self.update_size(y, s);
        let mut norm = largest(&self.delta, &self.size);
        let speed = s.v.iter().zip(&self.size).fold(super::project::SLOWEST, |max, (v, size)| max.max(v.abs() / size));
        if norm.max(largest(&self.turn, &self.size) / speed) <= negligible {
            return Some(false);
        }
        self.origin.copy_from_slice(&s.q);
        let (mut rounds, mut arrived) = (1, norm <= tolerance);
        loop {
            self.base.copy_from_slice(&s.q);
            y.retract(&self.base, &self.delta, &mut s.q);
            // Velocities are corrected where the configuration is in the end.
            if arrived && norm <= ARRIVED {
                break;
            }
            if rounds == ROUNDS || !company.correct(s, &mut self.delta, &mut self.turn).await {
                s.q.copy_from_slice(&self.origin);
                return None;
            }
            self.credit_corrections(1);
            rounds += 1;
            norm = largest(&self.delta, &self.size);
            if arrived {
                break;
            }
            arrived = norm <= tolerance;
        }
        s.v.iter_mut().zip(&self.turn).for_each(|(v, turn)| *v += turn);
        Some(true)
    }

    /// Counts corrections that somebody else has computed.
    pub(crate) fn credit_corrections(&mut self, count: u32) {
        self.counts.factorisations += u64::from(count);
        self.counts.solves += u64::from(count);
        self.counts.projections += u64::from(count);
    }
}

/// The largest change in units of its size; not a number counts as infinite.
fn largest(change: &[f64], size: &[f64]) -> f64 {
    change.iter().zip(size).fold(0.0, |max: f64, (change, size)| {
        let relative = change.abs() / size;
        if relative <= max {
            max
        } else if relative.is_nan() {
            f64::INFINITY
        } else {
            relative
        }
    })
}
