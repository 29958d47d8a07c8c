//! Short addresses: a place within 128 bytes of an address in a register takes one byte to name, any other four.
//!
//! The code is given four addresses. They are moved, and further registers are set, to where most is asked for: code that fits into
//! the processor's cache for instructions runs up to twice as fast.

use super::assemble::Bank;
use cranelift_assembler_x64::{Amode, AmodeOffset, AmodeOffsetPlusKnownOffset, inst};

/// What an address belongs to.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Base {
    Input,
    Output,
    Table,
    Scratch,
}

const BASES: [Base; 4] = [Base::Input, Base::Output, Base::Table, Base::Scratch];
/// The registers in which addresses are given, by the convention of System V, and those that a function may use as it likes.
const GIVEN: [u8; 4] = [7, 6, 2, 1];
const OTHERS: [u8; 5] = [0, 8, 9, 10, 11];
/// The bytes that a window shows, half of them before its address.
const WIDE: i32 = 256;
const EIGHTS: usize = WIDE as usize / 8;

/// How often each place is asked for, by base and by eights of bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked([Vec<u32>; 4]);

impl Asked {
    pub(super) fn note(&mut self, base: Base, offset: i32) {
        let (counts, at) = (&mut self.0[base as usize], offset as usize / 8);
        if counts.len() <= at {
            counts.resize(at + 1, 0);
        }
        counts[at] += 1;
    }

    /// Where the window begins through which most of a base is seen, in eights of bytes, and how much that is.
    fn best(&self, base: Base) -> (u32, usize) {
        let counts = &self.0[base as usize];
        let mut sum: u32 = counts.iter().take(EIGHTS).sum();
        let mut best = (sum, 0);
        for start in 1..(counts.len() + 1).saturating_sub(EIGHTS) {
            sum = sum + counts[start + EIGHTS - 1] - counts[start - 1];
            if sum > best.0 {
                best = (sum, start);
            }
        }
        best
    }
}

/// Registers with the middles of their windows.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows(Vec<(Base, i32, u8)>);

impl Windows {
    /// The windows through which most is seen, one after the other.
    pub(super) fn of(mut asked: Asked) -> Self {
        let mut out = Self::default();
        let (mut given, mut others) = (BASES.to_vec(), OTHERS.to_vec());
        loop {
            // An address that is given shows its own base only.
            let usable = BASES.into_iter().filter(|base| given.contains(base) || !others.is_empty());
            let best = usable.map(|base| (asked.best(base), base)).max_by_key(|((seen, _), _)| *seen);
            let Some(((_, start), base)) = best.filter(|((seen, _), _)| *seen > 1) else { return out };
            let register = match given.iter().position(|own| *own == base) {
                Some(at) => GIVEN[given.remove(at) as usize],
                None => others.remove(0),
            };
            out.0.push((base, 8 * start as i32 + WIDE / 2, register));
            let counts = &mut asked.0[base as usize];
            counts.iter_mut().skip(start).take(EIGHTS).for_each(|count| *count = 0);
        }
    }

    /// Sets all registers; the given ones last, as the others follow from them.
    pub(super) fn open(&self, code: &mut Vec<u8>) {
        let is_given = |register: u8| GIVEN.contains(&register);
        let mut all = self.0.clone();
        all.sort_by_key(|&(_, _, register)| is_given(register));
        for (base, middle, register) in all {
            inst::leaq_rm::<Bank>::new(register, amode(GIVEN[base as usize], middle)).encode(code);
        }
    }

    pub(super) fn address(&self, base: Base, offset: i32) -> Amode<u8> {
        let own = self.0.iter().filter(|window| window.0 == base);
        let near = |middle: i32| (-WIDE / 2..WIDE / 2).contains(&(offset - middle));
        if let Some(&(_, middle, register)) = own.clone().find(|window| near(window.1)) {
            return amode(register, offset - middle);
        }
        let given = own.clone().find(|window| window.2 == GIVEN[base as usize]);
        amode(GIVEN[base as usize], offset - given.map_or(0, |window| window.1))
    }
}

fn amode(base: u8, offset: i32) -> Amode<u8> {
    let simm32 = AmodeOffsetPlusKnownOffset { simm32: AmodeOffset::new(offset), offset: None };
    Amode::ImmReg { base, simm32, trap: None }
}
