//! What functions of a problem see: the motion at one instant.
//!
//! Functions are written over the number [`Trace`] and recorded once; derivatives and machine code come from the recording.

use crate::equations::Reader;
use dalembert_graph::Trace;
use dalembert_methods::{State, System};
use std::cell::Cell;

/// A function of the motion at one instant: `Box::new(|m| m.v()[0].square())`.
pub type Function<'a, Y> = Box<dyn Fn(&mut Moment<'_, '_, Y>) -> Trace + 'a>;

/// What is known of the motion at one instant.
pub struct Moment<'r, 'y, Y: System> {
    pub(crate) reader: &'r mut Reader<'y, Y>,
    pub(crate) state: &'r State<Trace>,
    pub(crate) controls: &'r [Trace],
    pub(crate) statics: &'r [Trace],
    pub(crate) duration: Trace,
    pub(crate) acceleration: Option<&'r [Trace]>,
    pub(crate) multipliers: Option<&'r [Trace]>,
    /// What was asked for in vain.
    pub(crate) missing: &'r Cell<Option<&'static str>>,
}

impl<Y: System> Moment<'_, '_, Y> {
    /// The system.
    pub fn system(&self) -> &Y {
        self.reader.system
    }
    /// The state, whose parameters hold controls and static parameters of the model.
    pub fn state(&self) -> &State<Trace> {
        self.state
    }
    /// The system, its state and its scratch, prepared for the state.
    pub fn prepared(&mut self) -> (&Y, &State<Trace>, &mut Y::Work<Trace>) {
        self.reader.prepare(self.state);
        (self.reader.system, self.state, &mut self.reader.work)
    }
    /// Time, in s.
    pub fn time(&self) -> Trace {
        self.state.t
    }
    /// The configuration.
    pub fn q(&self) -> &[Trace] {
        &self.state.q
    }
    /// The velocity.
    pub fn v(&self) -> &[Trace] {
        &self.state.v
    }
    /// The extra states.
    pub fn x(&self) -> &[Trace] {
        &self.state.x
    }
    /// The controls, in the order of the problem.
    pub fn controls(&self) -> &[Trace] {
        self.controls
    }
    /// The static parameters, in the order of the problem.
    pub fn statics(&self) -> &[Trace] {
        self.statics
    }
    /// The duration of the phase, in s.
    pub fn duration(&self) -> Trace {
        self.duration
    }
    /// The acceleration v̇; not known where a method has none.
    pub fn acceleration(&self) -> Vec<Trace> {
        self.known("the acceleration", self.acceleration, self.state.v.len())
    }
    /// The multipliers of all rows of constraints; not known where a method has none.
    pub fn multipliers(&self) -> Vec<Trace> {
        self.known("multipliers of constraints", self.multipliers, self.reader.shape.rows())
    }
    /// The momentum M(q) v.
    pub fn momentum(&mut self) -> Vec<Trace> {
        self.reader.prepare(self.state);
        self.reader.mass_times(self.state, &self.state.v)
    }
    /// The gaps of contacts of the model, in m.
    pub fn gaps(&mut self) -> Vec<Trace> {
        let mut out = vec![Trace::from(0.0); self.reader.shape.gaps];
        self.reader.prepare(self.state);
        self.reader.system.gap(self.state, &mut self.reader.work, &mut out);
        out
    }

    fn known(&self, what: &'static str, values: Option<&[Trace]>, count: usize) -> Vec<Trace> {
        match values {
            Some(values) => values.to_vec(),
            None if count == 0 => Vec::new(),
            None => {
                self.missing.set(Some(what));
                vec![Trace::from(0.0); count]
            }
        }
    }
}
