//! Which values stay in registers: a plan that lets the code generator do with the registers there are.
//!
//! A value that is needed again late gives way to one that is needed soon (Belady 1966). It is written to a slot of scratch then, and
//! read from there as an operand of the instruction that uses it, which costs no instruction of its own on most processors; constants
//! and inputs, which are in memory anyway, give way more easily.

use crate::program::Program;

/// Values that are kept in registers at a time, of the 16 of the processor; a few more are needed in between.
const REGISTERS: usize = 13;
/// A value read from memory is kept if it is used again so soon.
const SOON: u32 = 100;
/// A value that is in memory anyway counts as if its next use were so many times as far away.
const EASY: u32 = 3;

const NEVER: u32 = u32::MAX;

/// The state of the plan while the instructions are walked through.
pub(super) struct Plan {
    /// For each value the instructions that use it, the next one last.
    uses: Vec<Vec<u32>>,
    kept: Vec<u32>,
    /// The slot of a value that was written.
    slot: Vec<Option<u32>>,
    free: Vec<u32>,
    /// The number of slots.
    pub(super) slots: u32,
    first: usize,
}

impl Plan {
    pub(super) fn new(program: &Program) -> Self {
        let mut uses = vec![Vec::new(); program.values];
        for (t, instruction) in program.instructions.iter().enumerate().rev() {
            for &a in instruction.operands() {
                let list: &mut Vec<u32> = &mut uses[a as usize];
                if list.last() != Some(&(t as u32)) {
                    list.push(t as u32);
                }
            }
        }
        let slot = vec![None; program.values];
        // The first slot is for the sums of squares.
        Self { uses, kept: Vec::new(), slot, free: Vec::new(), slots: 1, first: program.first_result() }
    }

    /// The slot of a result that is in memory.
    pub(super) fn slot(&self, value: u32) -> Option<u32> {
        self.slot[value as usize]
    }

    /// Whether a value is in a register.
    pub(super) fn is_kept(&self, value: u32) -> bool {
        self.kept.contains(&value)
    }

    fn next(&self, value: u32) -> u32 {
        self.uses[value as usize].last().copied().unwrap_or(NEVER)
    }

    /// Whether a value that must be read for instruction `t` shall stay in its register afterwards.
    pub(super) fn worth(&self, value: u32, t: u32) -> bool {
        let list = &self.uses[value as usize];
        list.len() > 1 && list[list.len() - 2] - t <= SOON
    }

    /// Keeps a value.
    pub(super) fn keep(&mut self, value: u32) {
        self.kept.push(value);
    }

    /// Whether anything uses the value from now on.
    pub(super) fn is_used(&self, value: u32) -> bool {
        !self.uses[value as usize].is_empty()
    }

    /// Ends instruction `t`: forgets what is not used again, and gives the values that must leave with the slots they are to be
    /// written to, if they are not in memory yet.
    pub(super) fn end(&mut self, t: u32, operands: &[u32]) -> (Vec<u32>, Vec<(u32, u32)>) {
        let (mut gone, mut written) = (Vec::new(), Vec::new());
        for &a in operands {
            let list = &mut self.uses[a as usize];
            if list.last() == Some(&t) {
                list.pop();
            }
            if list.is_empty() {
                if let Some(slot) = self.slot[a as usize].take() {
                    self.free.push(slot);
                }
                if let Some(at) = self.kept.iter().position(|&v| v == a) {
                    self.kept.swap_remove(at);
                    gone.push(a);
                }
            }
        }
        while self.kept.len() > REGISTERS {
            let in_memory = |v: u32| (v as usize) < self.first || self.slot[v as usize].is_some();
            let distance = |v: u32| (self.next(v) - t).saturating_mul(if in_memory(v) { EASY } else { 1 });
            let Some(at) = (0..self.kept.len()).max_by_key(|&at| distance(self.kept[at])) else { break };
            let value = self.kept.swap_remove(at);
            if (value as usize) >= self.first && self.slot[value as usize].is_none() {
                let slot = self.free.pop().unwrap_or_else(|| {
                    self.slots += 1;
                    self.slots - 1
                });
                self.slot[value as usize] = Some(slot);
                written.push((value, slot));
            }
            gone.push(value);
        }
        (gone, written)
    }
}
