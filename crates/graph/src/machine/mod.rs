//! Machine code: a program compiled for this processor, for one state at a time, for two side by side, or for four whose numbers have the bits of the interpreter.
//!
//! The code is one straight line without branches. It is given four addresses (inputs, outputs, a table of constants and library
//! functions, scratch) and refers to nothing else, so its bytes can be kept on disk and run at any place in memory. Sine and cosine
//! are computed inline for angles that are not far from zero; the squares of all angles are summed on the way, and if the sum says that
//! one may be far, [`Machine::run`] says so and the caller computes by the interpreter.
//!
//! There are two makers. `assemble` gives out registers itself and writes one instruction after the other, with the assembler of Cranelift; it is
//! for processors with fused products and sums, and makes fours ([`Four`]). `emit` leaves that to Cranelift's code generator; it is for functions that call the library (exp, tan, …)
//! and for all other processors.
//!
//! Beside `dalembert_trees::entry` this is the only module with `unsafe` code. It is of one sort: the call of the compiled code, after
//! the lengths of all slices have been checked. That the code stays within them follows from the makers, which address inputs, outputs,
//! table and scratch by numbers below those lengths; that bytes from disk are what was compiled is checked by [`crate::store`].
#![allow(unsafe_code)]

mod angle;
mod assemble;
mod emit;
mod four;
mod order;
mod place;
mod sine;
mod window;

pub use four::{Constants, Four};

use crate::program::Program;
use memmap2::{Mmap, MmapMut};
use std::fmt;

/// Why there is no machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// There is no code generator for this processor.
    Processor(String),
    /// The code generator failed; the text is its own.
    Generator(String),
    /// The system gives no memory for code.
    Memory(String),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processor(text) => write!(f, "no machine code for this processor ({text}): use the interpreter"),
            Self::Generator(text) => write!(f, "the function could not be compiled: {text}"),
            Self::Memory(text) => {
                write!(f, "the system gives no memory for machine code ({text}): use the interpreter")
            }
        }
    }
}

impl std::error::Error for CompileError {}

/// How many states the code computes at once.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Width {
    /// One.
    One,
    /// Two side by side: number k of state j stands at 2 k + j.
    Two,
}

impl Width {
    /// The number of states.
    pub fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// How many numbers an instruction is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Kind {
    One,
    Two,
    Four,
}

impl Kind {
    /// The bytes of a value of all states.
    fn bytes(self) -> i32 {
        match self {
            Self::One => 8,
            Self::Two => 16,
            Self::Four => 32,
        }
    }

    /// The bytes of a fixed entry of the table, which is always for two at least.
    fn entry(self) -> i32 {
        self.bytes().max(16)
    }
}

impl From<Width> for Kind {
    fn from(width: Width) -> Self {
        match width {
            Width::One => Self::One,
            Width::Two => Self::Two,
        }
    }
}

/// Compiled bytes and what they need around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// The instructions.
    pub code: Vec<u8>,
    /// Slots of 16 bytes of scratch; the first holds the sums of the squares of angles.
    pub slots: usize,
}

/// Two numbers at an address that suits them.
#[derive(Copy, Clone, Debug, Default)]
#[repr(C, align(16))]
pub struct Slot([f64; 2]);

/// A compiled function.
#[derive(Debug)]
pub struct Machine {
    memory: Mmap,
    table: Vec<Slot>,
    width: Width,
    inputs: usize,
    outputs: usize,
    slots: usize,
    size: usize,
}

/// Code where it can run.
fn executable(code: &[u8]) -> Result<Mmap, CompileError> {
    let failed = |error: std::io::Error| CompileError::Memory(error.to_string());
    let mut memory = MmapMut::map_anon(code.len().max(1)).map_err(failed)?;
    memory[..code.len()].copy_from_slice(code);
    memory.make_exec().map_err(failed)
}

type Entry = unsafe extern "C" fn(*const f64, *mut f64, *const Slot, *mut Slot);

impl Machine {
    /// The bytes for a program on this processor.
    pub fn compile(program: &Program, width: Width) -> Result<Bytes, CompileError> {
        emit::compile(program, width, emit::Processor::This)
    }

    /// Bytes that use only instructions which every processor of this family has: no fused ones, among others. Slower.
    pub fn compile_plain(program: &Program, width: Width) -> Result<Bytes, CompileError> {
        emit::compile(program, width, emit::Processor::Any)
    }

    /// All that the bytes depend on beside the program: versions, processor, width.
    pub fn environment(width: Width) -> Result<String, CompileError> {
        emit::environment(width)
    }

    /// Puts bytes that [`Machine::compile`] made for this program and width where they can run.
    pub fn load(program: &Program, width: Width, bytes: &Bytes) -> Result<Self, CompileError> {
        let memory = executable(&bytes.code)?;
        let table = emit::table(program, width.into());
        let (inputs, outputs) = (program.inputs, program.outputs.len());
        Ok(Self { memory, table, width, inputs, outputs, slots: bytes.slots, size: bytes.code.len() })
    }

    /// The size of the code in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Scratch for [`Machine::run`].
    pub fn work(&self) -> Vec<Slot> {
        vec![Slot::default(); self.slots]
    }

    /// Computes the outputs `y` for the inputs `x`, both with as many numbers for each as the width says. If an angle is, or may be,
    /// too far from zero, the result is `false` and `y` is not to be used.
    #[inline]
    pub fn run(&self, work: &mut [Slot], x: &[f64], y: &mut [f64]) -> bool {
        let width = self.width.count();
        assert!(x.len() == width * self.inputs && y.len() == width * self.outputs && work.len() == self.slots);
        // SAFETY: the memory holds, from its first byte on, a whole function of this signature for this processor (see `load`), which
        // reads `inputs` and writes `outputs` numbers for each state, reads `table` and uses `slots` slots of `work`: the lengths just
        // checked. The memory is neither written nor unmapped while `self` lives.
        unsafe {
            let entry: Entry = std::mem::transmute(self.memory.as_ptr());
            entry(x.as_ptr(), y.as_mut_ptr(), self.table.as_ptr(), work.as_mut_ptr());
        }
        // Not a number is far, too.
        work[0].0.iter().all(|sum| *sum < sine::FAR_SQUARED)
    }
}
