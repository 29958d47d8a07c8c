//! Resonance, told where steps of several rates fail.
//!
//! Forces of one rate kick the motion by forces of the higher ones where their own steps, of length H, meet. Near H = nT/2, with T the period of that motion, kicks fall in with it:
//! energy grows whatever the smaller steps are (\[1\] section XIII.1.2, \[2\]), until iterations no longer converge or numbers are no longer finite. The period of the motion at
//! hand comes from the accelerations a = M⁻¹F by the forces of the higher rates where the step began, and from their rates ȧ = M⁻¹F′(q) v, both as constraints allow:
//!
//! ```text
//! ω² = −(a·F′a + H² ȧ·F′ȧ)/(a·Ma + H² ȧ·Mȧ),   T = 2π/ω
//! ```
//!
//! the quotient of Rayleigh, in which amplitudes count with ω⁴: what resonance has made large is left, whatever its phase. Steps shorter than T/4 do not resonate, and failures
//! with them have other reasons.
//!
//! References: \[1\] Hairer, Lubich, Wanner: Geometric Numerical Integration, 2nd ed., Springer 2006; \[2\] Biesiadecki, Skeel: Dangers of multiple time step methods,
//! J. Comput. Phys. 109 (1993) 318–328.

use super::mover::Mover;
use super::{MOST_RATES, Micro, Recipe};
use crate::integrate::IntegrateError;
use crate::scalar::Duals;
use crate::system::{State, System};

/// Steps shorter than this part of half a period do not resonate.
const SHORT: f64 = 0.5;

/// The error of a step of length `h` from `s`, with what is known of resonance if steps of several rates failed.
pub(super) fn explain<Y: System>(
    y: &Y,
    recipe: &Recipe,
    mover: &mut Mover<Y>,
    s: &State<f64>,
    h: f64,
    error: IntegrateError,
) -> IntegrateError {
    let failed = match &error {
        IntegrateError::NotConverged { what, .. } => *what == recipe.about.name,
        IntegrateError::NotFinite { .. } => true,
        _ => false,
    };
    let Some(micro) = recipe.micro.filter(|_| failed) else { return error };
    let cause = Box::new(error);
    match nearest(y, micro, mover, s, h) {
        // A motion without a period, far beyond what numbers hold: its steps are all that is known.
        None => IntegrateError::Resonance { cause, step: h, period: None },
        Some((step, period)) if step >= SHORT * 0.5 * period => {
            IntegrateError::Resonance { cause, step, period: Some(period) }
        }
        Some(_) => *cause,
    }
}

/// Of all rates but the highest the length of steps, and the period of the faster motion, that are nearest to a resonance.
fn nearest<Y: System>(y: &Y, micro: Micro, mover: &mut Mover<Y>, s: &State<f64>, h: f64) -> Option<(f64, f64)> {
    let mut step = h;
    let mut found: Option<(f64, f64)> = None;
    // How far from a whole number of half periods; short steps are as far as can be.
    let off = |(step, period): (f64, f64)| {
        let halves = 2.0 * step / period;
        if halves < SHORT { 1.0 } else { (halves - halves.round().max(1.0)).abs() }
    };
    for rate in 0..y.rates().min(MOST_RATES) - 1 {
        if rate > 0 {
            step /= f64::from(micro.steps[rate - 1]);
        }
        let own = (step, period(y, mover, s, rate, step)?);
        if found.is_none_or(|known| off(own) < off(known)) {
            found = Some(own);
        }
    }
    found
}

/// The period of the motion by forces of higher rates than one whose steps are `step` long; none if it has none.
fn period<Y: System>(y: &Y, mover: &mut Mover<Y>, s: &State<f64>, rate: usize, step: f64) -> Option<f64> {
    let n = s.v.len();
    let mut forces = Forces::new(y, s, rate + 1);
    let (plain, along) = forces.at(y, &s.v);
    let mut quotient = [0.0; 2];
    let mut directions = [plain, along];
    for (direction, scale) in directions.iter_mut().zip([1.0, step]) {
        mover.mass.solve(direction);
        direction.iter_mut().for_each(|x| *x *= scale);
        if !mover.held.is_empty() {
            let mut moved = s.clone();
            moved.v.copy_from_slice(direction);
            mover.dynamics.project_velocity(y, &mut moved).ok()?;
            direction.copy_from_slice(&moved.v);
        }
    }
    let size = directions.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
    let mut momentum = vec![0.0; n];
    for direction in &mut directions {
        direction.iter_mut().for_each(|x| *x /= size);
        let (_, change) = forces.at(y, direction);
        mover.mass.apply(direction, &mut momentum);
        for k in 0..n {
            quotient[0] -= direction[k] * change[k];
            quotient[1] += direction[k] * momentum[k];
        }
    }
    let period = std::f64::consts::TAU * (quotient[1] / quotient[0]).sqrt();
    (period.is_finite() && period > 0.0).then_some(period)
}

/// The forces from one rate on at a place, with their derivative in a direction.
struct Forces<Y: System> {
    base: Vec<f64>,
    state: State<Duals>,
    work: Y::Work<Duals>,
    first: usize,
    out: Vec<Duals>,
}

impl<Y: System> Forces<Y> {
    fn new(y: &Y, s: &State<f64>, first: usize) -> Self {
        let shape = y.shape();
        let mut state = State::zeros(shape);
        state.lift(s);
        Self { base: s.q.clone(), state, work: y.work(), first, out: vec![Duals::default(); shape.v] }
    }

    /// Coordinates change as velocities say: masses are constant here.
    fn at(&mut self, y: &Y, direction: &[f64]) -> (Vec<f64>, Vec<f64>) {
        for ((q, &base), &along) in self.state.q.iter_mut().zip(&self.base).zip(direction) {
            *q = Duals::from(base);
            q.eps[0] = along;
        }
        y.prepare(&self.state, &mut self.work);
        let mut sums = (vec![0.0; direction.len()], vec![0.0; direction.len()]);
        for rate in self.first..y.rates() {
            y.force_of_rate(&self.state, &mut self.work, rate, &mut self.out);
            for (k, force) in self.out.iter().enumerate() {
                sums.0[k] += force.re;
                sums.1[k] += force.eps[0];
            }
        }
        sums
    }
}
