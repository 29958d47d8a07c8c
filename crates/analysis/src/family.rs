//! Systems that depend on a value: curves of their equilibria and cycles, with any constraints, contacts and rotations.
//!
//! A family gives a system for each value. States change only as constraints allow: B is a basis of such changes ([`crate::variation`]), and a state that is moved
//! is projected to the constraints of the system at its value. With rates F = (v, v̇, ẋ) and their changes F′ an equilibrium and its eigenvalues are
//!
//! ```text
//! B⁺ F = 0,      B⁺ F′(B)
//! ```
//!
//! and a cycle, with the difference d of end and start of a period and the changes B₁ at its end,
//!
//! ```text
//! B⁺ d = 0,      B⁺ B₁ − 1
//! ```
//!
//! If nothing drives the system, the period is one more unknown, and changes are taken across the motion. Derivatives by the state are exact; that by the value is a
//! central difference, along which the state follows the constraints.

use crate::continuation::{Local, Solutions};
use crate::dense::Matrix;
use crate::eigen::eigenvalues;
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::linearise::null_space;
use crate::motion::{Motion, coordinates};
use crate::touching;
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Mode, Options, misfit};
use dalembert_methods::system::{State, System};

/// The step of differences by the value, relative to one and its size.
const STEP: f64 = 1e-6;

/// The system that belongs to a value.
pub type Member<'a, Y> = dyn Fn(f64) -> Result<Y, AnalysisError> + 'a;

/// A number that belongs to a value, such as a period.
pub type Number<'a> = dyn Fn(f64) -> Result<f64, AnalysisError> + 'a;

/// A column as a matrix.
fn column(values: Vec<f64>) -> Matrix {
    Matrix::from_rows(values.len(), 1, values)
}

/// (up − down)/(2 step).
fn slope(up: &[f64], down: &[f64], step: f64) -> Vec<f64> {
    up.iter().zip(down).map(|(u, d)| (u - d) / (2.0 * step)).collect()
}

/// The equilibria of a family, with contacts held in given modes.
pub struct Equilibria<'a, Y> {
    member: &'a Member<'a, Y>,
    settings: Settings,
    modes: Vec<Mode>,
    options: &'a Options,
    /// Rates up to this are none: there contacts are asked whether their modes fit.
    tolerance: f64,
}

impl<'a, Y: Contacts> Equilibria<'a, Y> {
    /// Those of the systems that `member` gives, with the modes of contacts at a first one; states are made by [`Hybrid::state`]. `tolerance` is that of the
    /// residual at a solution.
    pub fn new(member: &'a Member<'a, Y>, modes: &[Mode], options: &'a Options, tolerance: f64) -> Self {
        Self { member, settings: Settings::default(), modes: modes.to_vec(), options, tolerance }
    }

    fn held<'y>(&self, y: &'y Y) -> Hybrid<'y, Y> {
        let mut hybrid = Hybrid::new(y);
        hybrid.set_modes(&self.modes);
        hybrid
    }

    /// The rates (v, v̇, ẋ) at a state.
    fn rates<'y>(
        motion: &mut Motion<'_, Hybrid<'y, Y>>,
        y: &Hybrid<'y, Y>,
        s: &State<f64>,
    ) -> Result<Vec<f64>, AnalysisError> {
        motion.variation().motion(y, s)?;
        let rates = &motion.variation().rates;
        Ok([&s.v[..], &rates.v, &rates.x].concat())
    }

    /// The changes that lead to other states of rest: rows on velocities bind positions too, as what sticks or rolls is not moved.
    fn basis<'y>(
        motion: &mut Motion<'_, Hybrid<'y, Y>>,
        y: &Hybrid<'y, Y>,
        s: &State<f64>,
    ) -> Result<Matrix, AnalysisError> {
        let shape = y.shape();
        if shape.a == 0 {
            return motion.basis(s);
        }
        motion.variation().motion(y, s)?;
        let mut dense = vec![0.0; shape.rows() * shape.v];
        motion.variation().dynamics.parts().rows.to_dense(&mut dense);
        let free = null_space(&Matrix::from_rows(shape.rows(), shape.v, dense)).0;
        let (n, f) = (shape.v, free.cols());
        let mut basis = Matrix::zeros(2 * n + shape.x, 2 * f + shape.x);
        basis.set_block(0, 0, &free);
        basis.set_block(n, f, &free);
        (0..shape.x).for_each(|i| basis[(2 * n + i, 2 * f + i)] = 1.0);
        Ok(basis)
    }
}

impl<Y: Contacts> Solutions for Equilibria<'_, Y> {
    /// A state, and the value to which it belongs.
    type State = (State<f64>, f64);

    fn local(&self, (s, _): &Self::State, parameter: f64) -> Result<Local, AnalysisError> {
        let model = (self.member)(parameter)?;
        let y = self.held(&model);
        let mut motion = Motion::new(&y, self.settings);
        let basis = Self::basis(&mut motion, &y, s)?;
        let rates = Self::rates(&mut motion, &y, s)?;
        let mut changes = Matrix::zeros(basis.rows(), basis.cols());
        motion.variation().changes(&y, s, &basis, &mut changes)?;
        let by_state = coordinates(&basis, &changes)?;
        let step = STEP * (1.0 + parameter.abs());
        let off = |value: f64| -> Result<[Vec<f64>; 2], AnalysisError> {
            let model = (self.member)(value)?;
            let y = self.held(&model);
            let (mut beside, mut at) = (Motion::new(&y, self.settings), s.clone());
            beside.shift(&mut at, &vec![0.0; basis.rows()])?;
            Ok([Self::rates(&mut beside, &y, &at)?, motion.difference(s, &at)?])
        };
        let ([up, carried_up], [down, carried_down]) = (off(parameter + step)?, off(parameter - step)?);
        let by_parameter = coordinates(&basis, &column(slope(&up, &down, step)))?.values().to_vec();
        let residual = coordinates(&basis, &column(rates))?.values().to_vec();
        if residual.iter().all(|r| r.abs() <= self.tolerance)
            && let Some(misfit) = misfit(&y, s, self.options)?
        {
            let reason = format!(
                "at {parameter:?} `{}` {}: from here on the equilibrium has other contacts closed, sticking or sliding; follow it from there",
                model.contact_name(misfit.contact),
                misfit.what
            );
            return Err(AnalysisError::Invalid { reason });
        }
        let (values, carried) = (eigenvalues(&by_state)?, slope(&carried_up, &carried_down, step));
        Ok(Local { residual, basis, by_state, by_parameter, carried, values })
    }

    fn moved(&self, (s, _): &Self::State, change: &[f64], parameter: f64) -> Result<Self::State, AnalysisError> {
        let model = (self.member)(parameter)?;
        let mut at = s.clone();
        Motion::new(&self.held(&model), self.settings).shift(&mut at, change)?;
        Ok((at, parameter))
    }

    fn difference(&self, from: &Self::State, to: &Self::State) -> Result<Vec<f64>, AnalysisError> {
        let model = (self.member)(from.1)?;
        Motion::new(&self.held(&model), self.settings).difference(&from.0, &to.0)
    }
}

/// One of the cycles of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The state at its beginning.
    pub state: State<f64>,
    /// Its period in seconds.
    pub period: f64,
    /// The value to which it belongs.
    pub value: f64,
}

/// The cycles of a family.
pub struct Cycles<'a, Y> {
    member: &'a Member<'a, Y>,
    /// The period that what drives the system gives; an unknown without it.
    period: Option<&'a Number<'a>>,
    options: &'a Options,
    settings: Settings,
    /// The modes of contacts in which periods begin.
    modes: Vec<Mode>,
}

impl<'a, Y: Contacts> Cycles<'a, Y> {
    /// Cycles near a state, which has been made by [`Hybrid::state`] if there are contacts. With a period, what drives the systems; without it nothing must.
    ///
    /// # Errors
    /// Those of the beginning of a run.
    pub fn new(
        member: &'a Member<'a, Y>,
        period: Option<&'a Number<'a>>,
        start: &Turn,
        options: &'a Options,
        settings: Settings,
    ) -> Result<Self, AnalysisError> {
        let y = member(start.value)?;
        let touching = Contacts::contacts(&y) > 0;
        let modes = if touching { touching::beginning(&y, &start.state, options)?.0 } else { Vec::new() };
        Ok(Self { member, period, options, settings, modes })
    }

    /// A system in the modes in which periods begin.
    fn opened<'y>(&self, y: &'y Y) -> Hybrid<'y, Y> {
        let mut hybrid = Hybrid::new(y);
        hybrid.set_modes(&self.modes);
        hybrid
    }

    /// Carries a state and changes of it through a period.
    fn run(&self, y: &Y, s: &State<f64>, period: f64, columns: &mut Matrix) -> Result<State<f64>, AnalysisError> {
        let mut end = s.clone();
        if self.modes.is_empty() {
            Motion::new(y, self.settings).advance(&mut end, columns, s.t + period)?;
        } else {
            touching::flow(y, &mut end, columns, s.t + period, self.options, self.settings)?;
        }
        Ok(end)
    }
}

impl<Y: Contacts> Solutions for Cycles<'_, Y> {
    type State = Turn;

    fn local(&self, turn: &Turn, parameter: f64) -> Result<Local, AnalysisError> {
        let (y, s) = ((self.member)(parameter)?, &turn.state);
        let hybrid = self.opened(&y);
        let mut motion = Motion::new(&hybrid, self.settings);
        let basis = motion.basis(s)?;
        let d = basis.cols();
        let mut columns = basis.clone();
        let end = self.run(&y, s, turn.period, &mut columns)?;
        let map = coordinates(&basis, &columns)?;
        let mut residual = coordinates(&basis, &column(motion.difference(s, &end)?))?.values().to_vec();
        let step = STEP * (1.0 + parameter.abs());
        let off = |value: f64| -> Result<[Vec<f64>; 2], AnalysisError> {
            let beside = self.moved(turn, &vec![0.0; basis.rows() + usize::from(self.period.is_none())], value)?;
            let y = (self.member)(value)?;
            let end = self.run(&y, &beside.state, beside.period, &mut Matrix::zeros(basis.rows(), 0))?;
            Ok([motion.difference(&beside.state, &end)?, motion.difference(s, &beside.state)?])
        };
        let ([up, carried_up], [down, carried_down]) = (off(parameter + step)?, off(parameter - step)?);
        let mut by_parameter = coordinates(&basis, &column(slope(&up, &down, step)))?.values().to_vec();
        let mut carried = slope(&carried_up, &carried_down, step);
        let mut values = eigenvalues(&map)?;
        let by_state = map.plus(-1.0, &Matrix::unit(d));
        if self.period.is_some() {
            return Ok(Local { residual, basis, by_state, by_parameter, carried, values });
        }
        // The period is unknown: its column is the rate at the end, and the last row asks for no change along the motion.
        let mut along = |at: &State<f64>| -> Result<Vec<f64>, AnalysisError> {
            motion.variation().motion(&hybrid, at)?;
            let rates = &motion.variation().rates;
            let rates = [&at.v[..], &rates.v, &rates.x].concat();
            Ok(coordinates(&basis, &column(rates))?.values().to_vec())
        };
        let (first, last) = (along(s)?, along(&end)?);
        let mut whole = Matrix::zeros(d + 1, d + 1);
        whole.set_block(0, 0, &by_state);
        for i in 0..d {
            whole[(i, d)] = last[i];
            whole[(d, i)] = first[i];
        }
        let mut wider = Matrix::zeros(basis.rows() + 1, d + 1);
        wider.set_block(0, 0, &basis);
        wider[(basis.rows(), d)] = 1.0;
        residual.push(0.0);
        by_parameter.push(0.0);
        carried.push(0.0);
        // One multiplier belongs to the change along the motion.
        let off_one = |k: usize| (values[k].re - 1.0).hypot(values[k].im);
        if let Some(trivial) = (0..values.len()).min_by(|&i, &j| off_one(i).total_cmp(&off_one(j))) {
            values.remove(trivial);
        }
        Ok(Local { residual, basis: wider, by_state: whole, by_parameter, carried, values })
    }

    fn moved(&self, turn: &Turn, change: &[f64], parameter: f64) -> Result<Turn, AnalysisError> {
        let y = (self.member)(parameter)?;
        let hybrid = self.opened(&y);
        let mut motion = Motion::new(&hybrid, self.settings);
        let (mut state, size) = (turn.state.clone(), motion.variation().size());
        motion.shift(&mut state, &change[..size])?;
        let period = match self.period {
            Some(period) => period(parameter)?,
            None => turn.period + change[size],
        };
        if period.is_nan() || period <= 0.0 {
            let reason = format!("the period becomes {period} s: take shorter steps");
            return Err(AnalysisError::Invalid { reason });
        }
        Ok(Turn { state, period, value: parameter })
    }

    fn difference(&self, from: &Turn, to: &Turn) -> Result<Vec<f64>, AnalysisError> {
        let y = (self.member)(from.value)?;
        let hybrid = self.opened(&y);
        let mut out = Motion::new(&hybrid, self.settings).difference(&from.state, &to.state)?;
        if self.period.is_none() {
            out.push(to.period - from.period);
        }
        Ok(out)
    }
}
