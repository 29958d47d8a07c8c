//! Which signals the elements of a model use.

use crate::signals::Signal;

/// What one element listens to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ear {
    /// Its signals among those of the model.
    pub slots: Vec<usize>,
    /// Whether one of its signals is a function from outside, of which no formula is known.
    pub outside: bool,
}

impl Ear {
    /// Notes a signal, with its number if it is one of the model's.
    pub fn hear(&mut self, signal: &Signal, slot: Option<usize>) {
        self.outside |= matches!(signal, Signal::Callback(_));
        self.slots.extend(slot);
    }
}

/// What all elements listen to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    pub forces: Vec<Ear>,
    pub constraints: Vec<Ear>,
    pub contacts: Vec<Ear>,
}
