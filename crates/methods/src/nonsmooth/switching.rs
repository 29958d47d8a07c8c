//! The switching functions of contacts: positive as long as the modes hold, each with a zero that ends its mode.
//!
//! ```text
//! open     γ                       zero: impact
//! slide    N                       zero: lift-off
//!          α = e·u                 zero: stop
//!          √3 α − |β| + creep      zero: the direction e is renewed (two tangents)
//! stick    N                       zero: lift-off
//!          −excess(r, N)           zero: slip
//! ```
//!
//! After C. Alscher: Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech, section 3.5, with
//! a direction of slip and any cone instead of its one tangent.
//! A contact that a latch holds has none. Multipliers between steps are those of the accelerations at the interpolated state. The functions of the user follow.

use super::contacts::{Contacts, Mode};
use super::decide::{Clue, decide_from_modes};
use super::desk::Desk;
use super::hybrid::Hybrid;
use crate::dynamics::{Dynamics, Rates};
use crate::events::{Direction, Sight, Trigger, Triggers};
use crate::integrate::IntegrateError;
use crate::system::{State, System};
use std::cell::RefCell;

/// What a function watches.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Watched {
    /// The gap, perhaps a little below zero.
    Gap(f64),
    Press,
    /// The slip along its direction, perhaps a little below zero.
    Advance(f64),
    /// How far it is from turning.
    Swerve,
    Cone,
    /// Whether a statically indeterminate set can still stick.
    Shared,
}

/// The switching functions of one set of modes, and those of the user.
pub(super) struct Switching<'a, 'm, Y: Contacts> {
    list: Vec<Trigger>,
    functions: Vec<(usize, Watched)>,
    user: &'a mut dyn Triggers<Hybrid<'m, Y>>,
    pub(super) dynamics: &'a RefCell<Dynamics<Hybrid<'m, Y>>>,
    rates: Rates,
    desk: &'a mut Desk<'m, Y>,
    gap: Vec<f64>,
    rate: Vec<f64>,
    force: Vec<f64>,
    clues: Vec<Clue>,
    /// Why forces could not be evaluated.
    pub(super) failure: Option<IntegrateError>,
}

impl<'a, 'm, Y: Contacts> Switching<'a, 'm, Y> {
    pub fn new(
        y: &Hybrid<'m, Y>,
        shared: &[bool],
        below: &[f64],
        user: &'a mut dyn Triggers<Hybrid<'m, Y>>,
        dynamics: &'a RefCell<Dynamics<Hybrid<'m, Y>>>,
        desk: &'a mut Desk<'m, Y>,
    ) -> Self {
        let mut functions = Vec::new();
        for (i, mode) in y.modes().iter().enumerate() {
            let tangents = y.start(i + 1) - y.start(i) - 1;
            let lifts = y.model().own_press(i).is_none();
            match mode {
                _ if y.latched()[i] => {}
                Mode::Open => functions.push((i, Watched::Gap(below[i]))),
                Mode::Slide { .. } => {
                    if lifts {
                        functions.push((i, Watched::Press));
                    }
                    if tangents > 0 {
                        functions.push((i, Watched::Advance(below[i])));
                    }
                    if tangents > 1 {
                        functions.push((i, Watched::Swerve));
                    }
                }
                Mode::Stick => {
                    if lifts {
                        functions.push((i, Watched::Press));
                    }
                    if tangents > 0 {
                        functions.push((i, if shared[i] { Watched::Shared } else { Watched::Cone }));
                    }
                }
            }
        }
        let falling =
            |i: usize| Trigger { name: y.model().contact_name(i), direction: Direction::Falling, terminal: true };
        let list = functions.iter().map(|&(i, _)| falling(i)).chain(user.list().iter().cloned()).collect();
        let count = y.modes().len();
        Self {
            list,
            functions,
            user,
            dynamics,
            rates: Rates::zeros(y.shape()),
            desk,
            gap: vec![0.0; count],
            rate: vec![0.0; y.start(count)],
            force: vec![0.0; y.start(count)],
            clues: vec![Clue::default(); count],
            failure: None,
        }
    }

    /// The functions of contacts, which come before those of the user.
    pub fn functions(&self) -> &[(usize, Watched)] {
        &self.functions
    }

    /// Whether the gap of a contact was hardly closing at the last [`Switching::evaluate`], at a speed that counts as rest.
    pub fn grazes(&self, y: &Hybrid<'m, Y>, contact: usize, rest: f64) -> bool {
        self.rate[y.start(contact)] >= -rest
    }

    /// Forces by rows of contacts as last evaluated.
    pub fn forces(&self) -> &[f64] {
        &self.force
    }

    /// Evaluates kinematics of all contacts and forces at a state.
    pub fn evaluate(&mut self, y: &Hybrid<'m, Y>, s: &State<f64>) -> Result<(), IntegrateError> {
        y.kinematics(s, self.desk.prepared(y, s), &mut self.gap, &mut self.rate);
        if y.modes().iter().any(|mode| mode.closed()) {
            self.dynamics.borrow_mut().evaluate(y, s, &mut self.rates)?;
            y.forces(&self.rates.multipliers, self.desk.work(), &mut self.force);
        }
        Ok(())
    }

    /// Evaluates what the functions need: gaps, rates of closed contacts and, where some function watches them, forces.
    fn watch(&mut self, y: &Hybrid<'m, Y>, s: &State<f64>) -> Result<(), IntegrateError> {
        if self.functions.is_empty() {
            return Ok(());
        }
        let presses =
            |&(_, watched): &(usize, Watched)| matches!(watched, Watched::Press | Watched::Cone | Watched::Shared);
        if self.functions.iter().any(presses) {
            let mut dynamics = self.dynamics.borrow_mut();
            dynamics.evaluate_motion(y, s, &mut self.rates)?;
            let work = dynamics.parts().work;
            y.gaps(s, work, &mut self.gap);
            self.rate.copy_from_slice(y.closed_rates(work));
            y.forces(&self.rates.multipliers, work, &mut self.force);
        } else {
            let work = self.desk.prepared(y, s);
            y.gaps(s, work, &mut self.gap);
            self.rate.copy_from_slice(y.closed_rates(work));
        }
        Ok(())
    }

    /// The values of all functions where gaps, rates and forces are known.
    fn fill(&mut self, y: &Hybrid<'m, Y>, s: &State<f64>, out: &mut [f64]) {
        let (own, user) = out.split_at_mut(self.functions.len());
        for (k, out) in own.iter_mut().enumerate() {
            let (contact, watched) = self.functions[k];
            *out = self.value(y, s, contact, watched);
        }
        self.user.values(y, s, user);
    }

    fn value(&mut self, y: &Hybrid<'m, Y>, s: &State<f64>, contact: usize, watched: Watched) -> f64 {
        let row = y.start(contact);
        let tangents = y.start(contact + 1) - row - 1;
        let pair = |values: &[f64]| [values[row + 1], if tangents > 1 { values[row + 2] } else { 0.0 }];
        let e = match y.modes()[contact] {
            Mode::Slide { direction } => direction,
            _ => [0.0; 2],
        };
        match watched {
            Watched::Gap(below) => self.gap[contact] + below,
            Watched::Press => self.force[row],
            Watched::Advance(below) => {
                let u = pair(&self.rate);
                u[0] * e[0] + u[1] * e[1] + below
            }
            Watched::Swerve => {
                let u = pair(&self.rate);
                3.0_f64.sqrt() * (u[0] * e[0] + u[1] * e[1]) - (u[1] * e[0] - u[0] * e[1]).abs() + y.creep()[contact]
            }
            Watched::Cone => -y.model().excess(contact, pair(&self.force), self.force[row]),
            Watched::Shared => match decide_from_modes(self.desk, y, s, &self.clues) {
                Ok(decision) if decision.modes[contact] == Mode::Stick => 1.0,
                _ => -1.0,
            },
        }
    }
}

impl<'m, Y: Contacts> Triggers<Hybrid<'m, Y>> for Switching<'_, 'm, Y> {
    fn list(&self) -> &[Trigger] {
        &self.list
    }
    fn values(&mut self, y: &Hybrid<'m, Y>, s: &State<f64>, out: &mut [f64]) {
        if let Err(error) = self.watch(y, s) {
            self.failure = Some(error);
        }
        self.fill(y, s, out);
    }
    fn sees(&self) -> bool {
        !self.functions.is_empty()
    }
    fn values_seen(&mut self, y: &Hybrid<'m, Y>, s: &State<f64>, sight: &Sight, out: &mut [f64]) {
        self.gap.copy_from_slice(&sight.gap);
        self.rate.copy_from_slice(&sight.rate);
        self.force.copy_from_slice(&sight.force);
        self.fill(y, s, out);
    }
}
