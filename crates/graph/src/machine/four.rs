//! Machine code for four states side by side, each with constants of its own, whose numbers have the bits of the interpreter.
//!
//! Every operation is rounded by itself, and sine and cosine are the formulas of [`dalembert_methods::sine`] without fused products, as in
//! [`Tape::run_lanes`](crate::tape::Tape::run_lanes). So it does not matter when, nor on which processor, the one takes over from the other.

use super::{Bytes, CompileError, Entry, Kind, Slot, assemble, emit, executable, sine};
use crate::program::Program;
use dalembert_methods::lanes::Lanes;
use memmap2::Mmap;

/// Slots of 16 bytes in a number of four.
const SLOTS: usize = 2;
const _: () = assert!(size_of::<Lanes<4>>() == SLOTS * size_of::<Slot>());

/// A function compiled for four states.
#[derive(Debug)]
pub struct Four {
    memory: Mmap,
    table: Vec<Slot>,
    /// Where the constants of the program begin in the table.
    first: usize,
    inputs: usize,
    outputs: usize,
    slots: usize,
}

/// The constants of a [`Four`], for each state its own.
#[derive(Clone, Debug)]
pub struct Constants {
    table: Vec<Slot>,
    first: usize,
}

impl Constants {
    /// Gives a state another number in the place of a constant.
    pub fn set(&mut self, constant: usize, lane: usize, value: f64) {
        assert!(lane < 2 * SLOTS);
        self.table[self.first + SLOTS * constant + lane / 2].0[lane % 2] = value;
    }
}

/// Whether this processor has instructions for four numbers.
fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl Four {
    /// Compiles a program.
    ///
    /// # Errors
    /// [`CompileError`] on processors without instructions for four numbers, for programs that call the library, and without memory.
    pub fn new(program: &Program) -> Result<Self, CompileError> {
        if !is_wide() || !assemble::is_possible(program) {
            return Err(CompileError::Processor("for four states it needs AVX2 and no calls of the library".into()));
        }
        let Bytes { code, slots } = assemble::compile(program, Kind::Four);
        Ok(Self {
            memory: executable(&code)?,
            table: emit::table(program, Kind::Four),
            first: emit::constants_at(Kind::Four) as usize / size_of::<Slot>(),
            inputs: program.inputs,
            outputs: program.outputs.len(),
            slots,
        })
    }

    /// The size of the code in bytes.
    pub fn size(&self) -> usize {
        self.memory.len()
    }

    /// The constants of the program, for all states.
    pub fn constants(&self) -> Constants {
        Constants { table: self.table.clone(), first: self.first }
    }

    /// Scratch for [`Four::run`].
    pub fn work(&self) -> Vec<Slot> {
        vec![Slot::default(); self.slots]
    }

    /// Computes the outputs `y` for the inputs `x`, and says for each state whether they can be used: where an angle is, or may be, too far from zero the interpreter must do it.
    pub fn run(&self, constants: &Constants, work: &mut [Slot], x: &[Lanes<4>], y: &mut [Lanes<4>]) -> [bool; 4] {
        assert!(x.len() == self.inputs && y.len() == self.outputs && work.len() == self.slots);
        assert!(constants.table.len() == self.table.len());
        // SAFETY: the memory holds, from its first byte on, a whole function of this signature for this processor (`new` asks for AVX2), which
        // reads `inputs` and writes `outputs` numbers of four, 32 bytes each, reads `table` and uses `slots` slots of `work`: the lengths just
        // checked. A `Lanes<4>` has 32 bytes, all of them its four numbers, and addresses need not be those of fours. The memory is neither
        // written nor unmapped while `self` lives.
        unsafe {
            let entry: Entry = std::mem::transmute(self.memory.as_ptr());
            entry(x.as_ptr().cast(), y.as_mut_ptr().cast(), constants.table.as_ptr(), work.as_mut_ptr());
        }
        // Not a number is far, too.
        std::array::from_fn(|lane| work[lane / 2].0[lane % 2] < sine::FAR_SQUARED)
    }
}
