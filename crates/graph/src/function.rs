//! Functions ready to be evaluated, by the interpreter or by machine code, whichever pays.

use crate::program::Program;
use crate::tape::{Slots, Tape};
use dalembert_methods::lanes::Lanes;
use dalembert_methods::trace::Recorded;

#[cfg(feature = "compile")]
use crate::machine::{CompileError, Machine, Slot, Width};
#[cfg(feature = "compile")]
use crate::store::Store;

/// From so many evaluations on compiling pays in any case: it takes up to 5 µs for an instruction, with calls of the library, and saves 0.8 ns at
/// each evaluation. Without calls it takes a third of that.
#[cfg(feature = "compile")]
const WORTH_COMPILING: u64 = 6_000;
/// Longer programs are interpreted: their code would be slow to make and slow to fetch. Map a kernel over instances instead.
#[cfg(feature = "compile")]
const MOST_INSTRUCTIONS: usize = 100_000;

/// How a function is evaluated.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the interpreter.
    Interpret,
    /// By machine code.
    Compile,
    /// By machine code if it pays for so many evaluations and can be had, by the interpreter otherwise.
    Automatic {
        /// The number of evaluations to come.
        evaluations: u64,
    },
}

/// A function that can be evaluated, one state at a time or two.
#[derive(Debug)]
pub struct Function {
    program: Program,
    tape: Tape,
    #[cfg(feature = "compile")]
    /// For one state, and for two.
    machines: [Option<Machine>; 2],
}

/// Scratch of a [`Function`].
#[derive(Clone, Debug)]
pub struct Work {
    one: Slots<f64>,
    two: Slots<Lanes<2>>,
    pairs: [Vec<Lanes<2>>; 2],
    #[cfg(feature = "compile")]
    machine: [Vec<Slot>; 2],
}

impl Function {
    /// A function evaluated by the interpreter.
    pub fn interpreted(f: &Recorded) -> Self {
        let program = Program::new(f);
        let tape = Tape::new(&program);
        Self {
            program,
            tape,
            #[cfg(feature = "compile")]
            machines: [None, None],
        }
    }

    /// A function evaluated by machine code. With a store, code that has been made before is taken from there.
    #[cfg(feature = "compile")]
    pub fn compiled(f: &Recorded, store: Option<&Store>) -> Result<Self, CompileError> {
        Self::compiled_for(f, &[Width::One, Width::Two], store)
    }

    /// The same for one state or for two alone, where a function is never called otherwise; the interpreter does the rest.
    #[cfg(feature = "compile")]
    pub fn compiled_for(f: &Recorded, widths: &[Width], store: Option<&Store>) -> Result<Self, CompileError> {
        let mut out = Self::interpreted(f);
        let make = |width: Width| {
            let found = store.and_then(|store| store.find(&out.program, width));
            let bytes = match found {
                Some(bytes) => bytes,
                None => {
                    let bytes = Machine::compile(&out.program, width)?;
                    if let Some(store) = store {
                        store.keep(&out.program, width, &bytes);
                    }
                    bytes
                }
            };
            Machine::load(&out.program, width, &bytes)
        };
        let [mut one, mut two] = [None, None];
        for width in widths {
            match width {
                Width::One => one = Some(make(Width::One)?),
                Width::Two => two = Some(make(Width::Two)?),
            }
        }
        out.machines = [one, two];
        Ok(out)
    }

    /// A function evaluated the given way.
    #[cfg(feature = "compile")]
    pub fn new(f: &Recorded, way: Way, store: Option<&Store>) -> Result<Self, CompileError> {
        Self::new_for(f, way, &[Width::One, Width::Two], store)
    }

    /// The same for one state or for two alone.
    #[cfg(feature = "compile")]
    pub fn new_for(f: &Recorded, way: Way, widths: &[Width], store: Option<&Store>) -> Result<Self, CompileError> {
        match way {
            Way::Interpret => Ok(Self::interpreted(f)),
            Way::Compile => Self::compiled_for(f, widths, store),
            Way::Automatic { evaluations } => {
                let long = f.graph.operations(&f.outputs) > MOST_INSTRUCTIONS;
                if long || evaluations < WORTH_COMPILING {
                    return Ok(Self::interpreted(f));
                }
                match Self::compiled_for(f, widths, store) {
                    Err(CompileError::Processor(_) | CompileError::Memory(_)) => Ok(Self::interpreted(f)),
                    other => other,
                }
            }
        }
    }

    /// Whether machine code is used.
    pub fn is_compiled(&self) -> bool {
        #[cfg(feature = "compile")]
        return self.machines.iter().any(Option::is_some);
        #[cfg(not(feature = "compile"))]
        false
    }

    /// The size of the machine code for one state, in bytes.
    pub fn code_size(&self) -> usize {
        #[cfg(feature = "compile")]
        return self.machines.iter().flatten().next().map_or(0, Machine::size);
        #[cfg(not(feature = "compile"))]
        0
    }

    /// The instructions.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The interpreter, which takes any number.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.program.inputs
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.program.outputs.len()
    }

    /// Scratch for evaluations.
    pub fn work(&self) -> Work {
        let zeros = |n: usize| vec![Lanes([0.0; 2]); n];
        Work {
            one: self.tape.work(),
            two: self.tape.work(),
            pairs: [zeros(self.inputs()), zeros(self.outputs())],
            #[cfg(feature = "compile")]
            machine: [0, 1].map(|k| self.machines[k].as_ref().map_or_else(Vec::new, Machine::work)),
        }
    }

    /// The outputs `y` for the inputs `x`.
    pub fn call(&self, work: &mut Work, x: &[f64], y: &mut [f64]) {
        #[cfg(feature = "compile")]
        if let [Some(one), _] = &self.machines
            && one.run(&mut work.machine[0], x, y)
        {
            return;
        }
        self.tape.run(&mut work.one, x, y);
    }

    /// The outputs for two states side by side: number k of state j stands at 2 k + j.
    pub fn call_two(&self, work: &mut Work, x: &[f64], y: &mut [f64]) {
        #[cfg(feature = "compile")]
        if let [_, Some(two)] = &self.machines
            && two.run(&mut work.machine[1], x, y)
        {
            return;
        }
        let [inputs, outputs] = &mut work.pairs;
        inputs.iter_mut().zip(x.chunks_exact(2)).for_each(|(pair, x)| pair.0 = [x[0], x[1]]);
        self.tape.run(&mut work.two, inputs, outputs);
        y.chunks_exact_mut(2).zip(outputs).for_each(|(y, pair)| y.copy_from_slice(&pair.0));
    }
}
