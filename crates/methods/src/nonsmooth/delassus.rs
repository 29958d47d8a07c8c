//! How contacts move each other: the Delassus matrix of the free system with its bilateral constraints.
//!
//! ```text
//! W = J K Jᵀ,   K = M⁻¹ − M⁻¹ Gᵀ (G M⁻¹ Gᵀ)⁻¹ G M⁻¹,   c = J a + bias
//! ```
//!
//! J are the chosen rows of contacts, G the rows of the model's own constraints and of contacts that latches hold, a the accelerations without
//! contact forces.

use super::contacts::Contacts;
use super::desk::Desk;
use super::hybrid::{Hybrid, Work};
use crate::algebra::{Mass, Rows};
use crate::dynamics::{Parts, Rates};
use crate::integrate::IntegrateError;
use crate::system::{State, System};

/// What a decision about contacts starts from; all values are at one state. Allocated at events, never in steps.
pub(super) struct Delassus {
    /// Gaps of all contacts.
    pub gap: Vec<f64>,
    /// Rates of all rows of contacts.
    pub rate: Vec<f64>,
    /// Accelerations J a + bias of the chosen rows among those of all contacts, without contact forces.
    pub free: Vec<f64>,
    /// The size ‖a‖ of the free accelerations in the metric of M: no row with W_ii has more than ‖a‖ √W_ii of it.
    pub size: f64,
    /// The rows chosen.
    pub rows: Vec<usize>,
    /// W by rows.
    pub w: Vec<f64>,
    /// For each chosen row K Jᵀ: the change of velocities by a unit impulse.
    pub response: Vec<Vec<f64>>,
    /// The mass matrix.
    pub mass: Mass<f64>,
}

impl Delassus {
    /// Evaluates the free system at a state for the contacts that `choose` picks by gaps and rates.
    pub fn new<'m, Y: Contacts>(
        desk: &mut Desk<'m, Y>,
        y: &Hybrid<'m, Y>,
        s: &State<f64>,
        choose: impl Fn(usize, f64, &[f64]) -> bool,
    ) -> Result<(Self, Vec<usize>), IntegrateError> {
        let (base, mut dynamics) = desk.free(y);
        let mut rates = Rates::zeros(base.shape());
        dynamics.evaluate(base, s, &mut rates)?;
        let found = Self::of(y, s, &rates, dynamics.parts(), choose);
        desk.put(dynamics);
        found
    }

    /// The same where the free system is evaluated.
    fn of<Y: Contacts>(
        y: &Hybrid<'_, Y>,
        s: &State<f64>,
        rates: &Rates,
        parts: Parts<'_, Work<Y::Work<f64>, f64>>,
        choose: impl Fn(usize, f64, &[f64]) -> bool,
    ) -> Result<(Self, Vec<usize>), IntegrateError> {
        let model = y.model();
        let count = model.contacts();
        let (total, velocities, held) = (y.start(count), rates.v.len(), rates.multipliers.len());
        let mut jacobian = Rows::new(total, velocities, &model.contact_blocks());
        let (mut gap, mut rate, mut free) = (vec![0.0; count], vec![0.0; total], vec![0.0; total]);
        y.kinematics(s, parts.work, &mut gap, &mut rate);
        let chosen: Vec<usize> =
            (0..count).filter(|&i| !y.latched()[i] && choose(i, gap[i], &rate[y.start(i)..y.start(i + 1)])).collect();
        y.accelerations(&chosen, s, parts.work, &mut free, &mut jacobian);
        jacobian.add_apply(&rates.v, &mut free);
        for (values, what) in [(&rate, "the rate"), (&free, "the acceleration")] {
            if let Some(row) = values.iter().position(|value| !value.is_finite()) {
                let contact = (0..count).rfind(|&i| y.start(i) <= row).unwrap_or(0);
                let what = format!("{what} of `{}`", model.contact_name(contact));
                return Err(IntegrateError::NotFinite { t: s.t, what });
            }
        }
        let rows: Vec<usize> = chosen.iter().flat_map(|&i| y.start(i)..y.start(i + 1)).collect();
        let (mut unit, mut zero) = (vec![0.0; total], vec![0.0; held]);
        let mut lines = Vec::with_capacity(rows.len());
        let mut response = Vec::with_capacity(rows.len());
        for &row in &rows {
            unit[row] = 1.0;
            let mut line = vec![0.0; velocities];
            jacobian.add_transpose(1.0, &unit, &mut line);
            unit[row] = 0.0;
            let mut answer = line.clone();
            if held == 0 {
                parts.mass.solve(&mut answer);
            } else {
                zero.fill(0.0);
                parts.saddle.solve_trial(parts.mass, parts.rows, &mut answer, &mut zero).map_err(|_| {
                    IntegrateError::NotFinite { t: s.t, what: "the response of the constraints to contacts".to_owned() }
                })?;
            }
            lines.push(line);
            response.push(answer);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
        let n = rows.len();
        // The mean of both triangles: symmetric to the last bit.
        let w = (0..n * n)
            .map(|k| 0.5 * (dot(&lines[k / n], &response[k % n]) + dot(&lines[k % n], &response[k / n])))
            .collect();
        let mut momentum = vec![0.0; velocities];
        parts.mass.apply(&rates.v, &mut momentum);
        let size = dot(&rates.v, &momentum).max(0.0).sqrt();
        Ok((Self { gap, rate, free, size, rows, w, response, mass: parts.mass.clone() }, chosen))
    }
}
