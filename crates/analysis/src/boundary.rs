//! Two-point problems of any system: a motion whose start and end meet conditions.
//!
//! The stride function s carries the start z₀ to the end z₁ = s(z₀), after a time or at the last of some events, through all events between. Conditions
//! B₁(z₀) = 0 and B₂(z₁, z₀) = 0 (\[1\] eqs. (64)–(66)) are met by the method of Gauss and Newton in the directions B in which the start may change,
//!
//! ```text
//! (∂B/∂z₀ B + ∂B/∂z₁ B₁) w = −B,      z₀ ← z₀ ⊕ B w
//! ```
//!
//! with the changes B₁ at the end, exactly. If there are more conditions than directions they are met as well as can be, and what is left tells whether that is
//! well enough. Without a guess Ψ = |B|², (66), is made small by an evolution strategy first.
//!
//! Reference: \[1\] Schiehlen: Computational dynamics: theory and applications of multibody systems, Eur. J. Mech. A/Solids 25 (2006) 566–594,
//! section 6.3. For maps of plain numbers there is [`crate::shooting`].

use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::evolution::{self, minimise_on_all_cores};
use crate::field::Settings;
use crate::motion::{LEAP, Motion};
use crate::stride::Stride;
use crate::touching;
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Mode, Options};
use dalembert_methods::system::State;

/// Most steps, and most halvings of one.
const ITERATIONS: usize = 50;
const HALVINGS: usize = 12;

/// The values of conditions and their derivatives by start and end, both as (q, v).
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// What is to be zero.
    pub value: Vec<f64>,
    /// Derivatives by the start.
    pub by_first: Matrix,
    /// Derivatives by the end.
    pub by_last: Matrix,
}

/// Conditions on start and end of a motion, each given as (q, v).
pub type Conditions<'a> = dyn Fn(&[f64], &[f64]) -> Values + Sync + 'a;

/// Motions that begin where they may.
pub trait Flight: Sync {
    /// The directions in which a start may change, as columns.
    ///
    /// # Errors
    /// Those of the accelerations.
    fn basis(&self, s: &State<f64>) -> Result<Matrix, AnalysisError>;
    /// A start moved by a change, to where it may be.
    ///
    /// # Errors
    /// Those of the projections.
    fn moved(&self, s: &State<f64>, change: &[f64]) -> Result<State<f64>, AnalysisError>;
    /// The end of the motion, how long it took, and changes of the end.
    ///
    /// # Errors
    /// Those of the motion.
    fn run(&self, s: &State<f64>, columns: &mut Matrix) -> Result<(State<f64>, f64), AnalysisError>;
}

/// Motions of a given time.
pub struct Timed<'a, Y> {
    model: &'a Y,
    time: f64,
    options: &'a Options,
    settings: Settings,
    /// The modes of contacts in which motions begin.
    modes: Vec<Mode>,
}

impl<'a, Y: Contacts> Timed<'a, Y> {
    /// Motions near one that begins at a state, which has been made by [`Hybrid::state`].
    ///
    /// # Errors
    /// [`AnalysisError::Invalid`] for coordinates that are not angles and lengths, and those of the beginning of a run.
    pub fn new(
        model: &'a Y,
        start: &State<f64>,
        time: f64,
        options: &'a Options,
        settings: Settings,
    ) -> Result<Self, AnalysisError> {
        if start.q.len() != start.v.len() {
            let reason = "conditions on start and end need coordinates that are angles and lengths (trees of hinges and sliders, particles)";
            return Err(AnalysisError::Invalid { reason: reason.to_owned() });
        }
        let touching = Contacts::contacts(model) > 0;
        let modes = if touching { touching::beginning(model, start, options)?.0 } else { Vec::new() };
        Ok(Self { model, time, options, settings, modes })
    }

    fn opened(&self) -> Hybrid<'a, Y> {
        let mut hybrid = Hybrid::new(self.model);
        hybrid.set_modes(&self.modes);
        hybrid
    }
}

impl<Y: Contacts + Sync> Flight for Timed<'_, Y> {
    fn basis(&self, s: &State<f64>) -> Result<Matrix, AnalysisError> {
        Motion::new(&self.opened(), self.settings).basis(s)
    }

    fn moved(&self, s: &State<f64>, change: &[f64]) -> Result<State<f64>, AnalysisError> {
        let mut at = s.clone();
        Motion::new(&self.opened(), self.settings).shift(&mut at, change)?;
        Ok(at)
    }

    fn run(&self, s: &State<f64>, columns: &mut Matrix) -> Result<(State<f64>, f64), AnalysisError> {
        let mut end = s.clone();
        let until = s.t + self.time;
        if self.modes.is_empty() {
            Motion::new(&self.opened(), self.settings).advance(&mut end, columns, until)?;
        } else {
            touching::flow(self.model, &mut end, columns, until, self.options, self.settings)?;
        }
        Ok((end, self.time))
    }
}

/// Motions from event to event, with the symmetry of a stride at the end.
pub struct Struck<'a, Y> {
    /// The model.
    pub model: &'a Y,
    /// The stride.
    pub stride: Stride<'a>,
}

impl<Y: Contacts + Sync> Flight for Struck<'_, Y> {
    fn basis(&self, s: &State<f64>) -> Result<Matrix, AnalysisError> {
        self.stride.section.tangents(self.model, s)
    }

    fn moved(&self, s: &State<f64>, change: &[f64]) -> Result<State<f64>, AnalysisError> {
        let (mut at, n) = (s.clone(), s.v.len());
        at.q.iter_mut().zip(&change[..n]).for_each(|(q, c)| *q += c);
        at.v.iter_mut().zip(&change[n..]).for_each(|(v, c)| *v += c);
        self.stride.section.project(self.model, &mut at)?;
        Ok(at)
    }

    fn run(&self, s: &State<f64>, columns: &mut Matrix) -> Result<(State<f64>, f64), AnalysisError> {
        let end = self.stride.run(self.model, s, columns)?;
        Ok((end.state, end.time))
    }
}

/// A motion that meets its conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Met {
    /// Its start.
    pub first: State<f64>,
    /// Its end.
    pub last: State<f64>,
    /// How long it took, in seconds.
    pub time: f64,
    /// The largest condition left.
    pub residual: f64,
    /// Directions in which the start could change.
    pub unknowns: usize,
    /// Conditions.
    pub conditions: usize,
    /// Steps.
    pub iterations: usize,
}

fn numbers(s: &State<f64>) -> Vec<f64> {
    [&s.q[..], &s.v].concat()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |max: f64, v| max.max(v.abs()))
}

/// A motion near a start that meets conditions.
///
/// # Errors
/// [`AnalysisError::Invalid`] for fewer conditions than directions, [`AnalysisError::NotIsolated`] where a direction does not matter,
/// [`AnalysisError::NotConverged`] where no step helps, and those of the motion.
pub fn meet(
    flight: &dyn Flight,
    conditions: &Conditions<'_>,
    start: &State<f64>,
    tolerance: f64,
) -> Result<Met, AnalysisError> {
    let mut first = start.clone();
    let mut residual = f64::INFINITY;
    for iterations in 0..ITERATIONS {
        let basis = flight.basis(&first)?;
        let mut columns = basis.clone();
        let (last, time) = flight.run(&first, &mut columns)?;
        let n = first.v.len();
        let Values { value, by_first, by_last } = conditions(&numbers(&first), &numbers(&last));
        residual = largest(&value);
        let (unknowns, count) = (basis.cols(), value.len());
        if count < unknowns {
            let reason = format!(
                "there are {count} conditions for {unknowns} directions in which the start may change: give {} more, on the start or the end",
                unknowns - count
            );
            return Err(AnalysisError::Invalid { reason });
        }
        if residual <= tolerance {
            return Ok(Met { first, last, time, residual, unknowns, conditions: count, iterations });
        }
        let states = |changes: &Matrix| changes.block(0, 0, 2 * n, changes.cols());
        let slope = by_first.mul(&states(&basis)).plus(1.0, &by_last.mul(&states(&columns)));
        let transposed = slope.transpose();
        let step = transposed
            .mul(&slope)
            .solve_vector(&transposed.apply(&value), "the conditions on start and end")
            .map_err(|_| AnalysisError::NotIsolated { what: "the motion sought", ratio: f64::EPSILON })?;
        let change = basis.apply(&step);
        // No leap far beyond where the search is: from there a motion may take long to compute, or lead elsewhere.
        let here = largest(&first.v).max(1.0 + residual);
        let mut part = (LEAP * here / largest(&change).max(f64::MIN_POSITIVE)).min(1.0);
        let better = (0..HALVINGS).find_map(|_| {
            let scaled: Vec<f64> = change.iter().map(|c| -part * c).collect();
            part *= 0.5;
            let trial = flight.moved(&first, &scaled).ok()?;
            let (end, _) = flight.run(&trial, &mut Matrix::zeros(basis.rows(), 0)).ok()?;
            let there = largest(&conditions(&numbers(&trial), &numbers(&end)).value);
            (there < residual || there <= tolerance).then_some(trial)
        });
        let Some(trial) = better else { break };
        first = trial;
    }
    let advice = "start nearer, search by the evolution strategy, or ask for fewer conditions: more of them than directions may contradict each other";
    Err(AnalysisError::NotConverged {
        what: "the search for a motion that meets its conditions",
        iterations: ITERATIONS,
        residual,
        advice,
    })
}

/// A start from which [`meet`] may go on, found without a guess by the evolution strategy, among starts that differ by about `spread` in each direction and lead to
/// motions of at least the shortest time in seconds; with what is left of the conditions there.
///
/// # Errors
/// Those of the directions at the start; [`AnalysisError::NotConverged`] if no start leads to an end.
pub fn seek(
    flight: &dyn Flight,
    conditions: &Conditions<'_>,
    start: &State<f64>,
    spread: f64,
    shortest: f64,
    options: &evolution::Options,
) -> Result<(State<f64>, evolution::Found), AnalysisError> {
    let basis = flight.basis(start)?;
    let goal = |w: &[f64]| {
        let first = flight.moved(start, &basis.apply(w)).ok()?;
        let (last, _) = flight.run(&first, &mut Matrix::zeros(basis.rows(), 0)).ok().filter(|(_, t)| *t >= shortest)?;
        Some(conditions(&numbers(&first), &numbers(&last)).value.iter().map(|b| b * b).sum())
    };
    let d = basis.cols();
    let found = minimise_on_all_cores(&goal, &vec![0.0; d], &vec![spread; d], options);
    if found.value == f64::INFINITY || found.value == f64::MAX {
        let advice = "no start led to an end: take another spread or another start";
        let residual = f64::INFINITY;
        let iterations = found.generations;
        return Err(AnalysisError::NotConverged { what: "the evolution strategy", iterations, residual, advice });
    }
    let first = flight.moved(start, &basis.apply(&found.point))?;
    Ok((first, found))
}
