//! Scratch of the decisions at events. It is made once for a run and remembers nothing: what is decided is as if it were new.

use super::contacts::Contacts;
use super::hybrid::{Hybrid, Work};
use crate::dynamics::{Dynamics, Shelf};
use crate::system::{State, System};

/// Where a decision is made.
pub(super) struct Desk<'m, Y: Contacts> {
    work: Work<Y::Work<f64>, f64>,
    /// Gaps of all contacts, and rates of their rows, as last evaluated.
    pub gap: Vec<f64>,
    pub rate: Vec<f64>,
    /// The system with nothing closed but what latches hold, and which do.
    free: Hybrid<'m, Y>,
    latched: Vec<bool>,
    /// Scratch of that system and of those with something closed.
    shelf: Shelf<Hybrid<'m, Y>>,
}

impl<'m, Y: Contacts> Desk<'m, Y> {
    pub fn new(y: &Hybrid<'m, Y>) -> Self {
        let count = y.modes().len();
        Self {
            work: y.work(),
            gap: vec![0.0; count],
            rate: vec![0.0; y.start(count)],
            free: y.free(),
            latched: y.latched().to_vec(),
            shelf: Shelf::default(),
        }
    }

    /// Scratch for the system in any modes.
    pub fn work(&mut self) -> &mut Work<Y::Work<f64>, f64> {
        &mut self.work
    }

    /// Scratch prepared for a state.
    pub fn prepared(&mut self, y: &Hybrid<'m, Y>, s: &State<f64>) -> &mut Work<Y::Work<f64>, f64> {
        y.prepare(s, &mut self.work);
        &mut self.work
    }

    /// Evaluates gaps and rates of all contacts at a state.
    pub fn see(&mut self, y: &Hybrid<'m, Y>, s: &State<f64>) {
        y.prepare(s, &mut self.work);
        y.kinematics(s, &mut self.work, &mut self.gap, &mut self.rate);
    }

    /// Scratch for a system in its modes; to be [`Desk::put`] back.
    pub fn take(&mut self, y: &Hybrid<'m, Y>) -> Dynamics<Hybrid<'m, Y>> {
        self.shelf.take(y)
    }

    pub fn put(&mut self, dynamics: Dynamics<Hybrid<'m, Y>>) {
        self.shelf.put(dynamics);
    }

    /// The system with nothing closed but what latches hold in another, and scratch for it; to be put back.
    pub fn free(&mut self, y: &Hybrid<'m, Y>) -> (&Hybrid<'m, Y>, Dynamics<Hybrid<'m, Y>>) {
        if self.latched != y.latched() {
            (self.free, self.latched) = (y.free(), y.latched().to_vec());
        }
        let dynamics = self.shelf.take(&self.free);
        (&self.free, dynamics)
    }
}
