//! Scratch that serves again: at events systems come back to shapes that they have had before.

use super::Dynamics;
use crate::algebra::{Block, MassBlock};
use crate::integrate::Counts;
use crate::system::{Shape, System};
use std::sync::Arc;

/// How many are kept.
const KEPT: usize = 16;

/// All that scratch depends on besides the numbers of a system.
#[derive(PartialEq)]
pub(super) struct Structure {
    pub shape: Shape,
    pub masses: Vec<MassBlock>,
    pub rows: Vec<Block>,
    pub loads: Vec<usize>,
    pub mass_is_constant: bool,
    pub scleronomic: bool,
}

impl Structure {
    pub fn of<Y: System>(y: &Y) -> Self {
        Self {
            shape: y.shape(),
            masses: y.mass_blocks(),
            rows: y.row_blocks(),
            loads: y.loads(),
            mass_is_constant: y.mass_is_constant(),
            scleronomic: y.scleronomic(),
        }
    }
}

/// Where [`Dynamics`] of one system, in all the shapes it takes, wait until they are needed again. What is taken from here is as if it were new: structures and room are kept, numbers
/// are not.
pub struct Shelf<Y: System> {
    /// What was made here, and nothing else, has it: other systems may need other room.
    mark: Arc<()>,
    list: Vec<Dynamics<Y>>,
}

impl<Y: System> Default for Shelf<Y> {
    fn default() -> Self {
        Self { mark: Arc::default(), list: Vec::new() }
    }
}

impl<Y: System> Shelf<Y> {
    /// Scratch for the system in its present shape.
    pub fn take(&mut self, y: &Y) -> Dynamics<Y> {
        let structure = Structure::of(y);
        let Some(at) = self.list.iter().position(|own| own.structure == structure) else {
            let mut made = Dynamics::with(y, structure);
            made.mark = Some(self.mark.clone());
            return made;
        };
        let mut found = self.list.swap_remove(at);
        found.mass_ready = false;
        found.saddle.forget();
        found.counts = Counts::default();
        found
    }

    /// Keeps scratch that was taken from here, in the place of the oldest if there is much; drops other.
    pub fn put(&mut self, dynamics: Dynamics<Y>) {
        if dynamics.mark.as_ref().is_some_and(|mark| Arc::ptr_eq(mark, &self.mark)) {
            if self.list.len() == KEPT {
                self.list.remove(0);
            }
            self.list.push(dynamics);
        }
    }
}
