//! Instructions for four rows at once, each with its own constants.
//!
//! They begin with the interpreter. When they have been run often enough for machine code to pay, the same instructions are compiled; both give the same bits, so it does not matter
//! when that happens.

use dalembert_graph::Program;
use dalembert_graph::machine::{Constants, Four, Slot};
use dalembert_graph::tape::{Slots, Tape};
use dalembert_methods::{Lanes, Real};
use std::rc::Rc;

/// Rows side by side.
pub(super) const LANES: usize = 4;
/// After so many runs there is machine code: that takes about as long as a few hundred of them.
const OFTEN: u32 = 400;

/// Instructions by machine code.
struct Fast {
    machine: Four,
    constants: Constants,
    work: Vec<Slot>,
}

/// Instructions, their inputs and outputs.
pub(super) struct Loom {
    /// What depends on constants alone, and how many constants a row and the instructions have.
    early: Tape,
    early_slots: Slots<f64>,
    sizes: [usize; 2],
    /// The rest, and the constants of a row that it uses.
    program: Program,
    tape: Tape,
    used: Vec<usize>,
    slots: Slots<Lanes<LANES>>,
    /// Inputs by lanes.
    pub input: Vec<Lanes<LANES>>,
    /// Outputs by lanes.
    pub output: Vec<Lanes<LANES>>,
    /// The constants in the lanes, and which of them the interpreter does not have yet.
    own: [Option<Rc<[f64]>>; LANES],
    late: [bool; LANES],
    /// The same instructions for one row.
    alone: Slots<Lanes<1>>,
    /// How often they were run, and machine code if it is worth it and can be had.
    runs: u32,
    fast: Option<Fast>,
}

impl Loom {
    /// For instructions whose first constants are those of a row, of which there are `own`.
    pub fn new(own: usize, whole: &Program) -> Self {
        let (early, program) = whole.hoisted();
        let sizes = [own, whole.constants.len()];
        let mut used: Vec<usize> =
            program.instructions.iter().flat_map(|i| i.operands()).map(|&a| a as usize).collect();
        used.extend(program.outputs.iter().map(|&o| o as usize));
        used.retain(|&value| value < sizes[0] || (sizes[1]..program.constants.len()).contains(&value));
        used.sort_unstable();
        used.dedup();
        let (early, tape) = (Tape::new(&early), Tape::new(&program));
        Self {
            early_slots: early.work(),
            early,
            sizes,
            used,
            slots: tape.work(),
            alone: tape.work(),
            input: vec![Lanes::zero(); program.inputs],
            output: vec![Lanes::zero(); program.outputs.len()],
            own: Default::default(),
            late: [false; LANES],
            tape,
            program,
            runs: 0,
            fast: None,
        }
    }

    /// What is used here of a row with these constants.
    pub fn constants(&mut self, own: &[f64]) -> Rc<[f64]> {
        let [first, all] = self.sizes;
        self.early.constants_mut(&mut self.early_slots)[..first].copy_from_slice(own);
        let mut more = vec![0.0; self.early.outputs()];
        self.early.run(&mut self.early_slots, &vec![0.0; self.input.len()], &mut more);
        self.used.iter().map(|&at| if at < first { own[at] } else { more[at - all] }).collect()
    }

    /// Gives a lane to a row.
    pub fn seat(&mut self, lane: usize, constants: &Rc<[f64]>) {
        if let Some(fast) = &mut self.fast {
            self.used.iter().zip(&**constants).for_each(|(&at, &constant)| fast.constants.set(at, lane, constant));
        }
        self.own[lane] = Some(constants.clone());
        self.late[lane] = true;
    }

    /// The outputs for the inputs of the lanes that are taken.
    pub fn run(&mut self, taken: [bool; LANES]) {
        self.runs += 1;
        if self.runs == OFTEN {
            self.compile();
        }
        let Some(fast) = &mut self.fast else { return self.interpret() };
        let near = fast.machine.run(&fast.constants, &mut fast.work, &self.input, &mut self.output);
        if (0..LANES).any(|lane| taken[lane] && !near[lane]) {
            let known = self.output.clone();
            self.interpret();
            for (output, known) in self.output.iter_mut().zip(known) {
                (0..LANES).filter(|&lane| near[lane]).for_each(|lane| output.0[lane] = known.0[lane]);
            }
        }
    }

    fn interpret(&mut self) {
        let slots = self.tape.constants_mut(&mut self.slots);
        for lane in (0..LANES).filter(|&lane| self.late[lane]) {
            let own = self.own[lane].iter().flat_map(|own| own.iter());
            self.used.iter().zip(own).for_each(|(&at, &constant)| slots[at].0[lane] = constant);
        }
        self.late = [false; LANES];
        self.tape.run_lanes(&mut self.slots, &self.input, &mut self.output);
    }

    /// Makes machine code. Where it cannot be had the interpreter goes on.
    fn compile(&mut self) {
        let Ok(machine) = Four::new(&self.program) else { return };
        let mut constants = machine.constants();
        for (lane, own) in self.own.iter().enumerate() {
            let own = own.iter().flat_map(|own| own.iter());
            self.used.iter().zip(own).for_each(|(&at, &constant)| constants.set(at, lane, constant));
        }
        self.fast = Some(Fast { work: machine.work(), constants, machine });
    }

    /// The answer for one row, at once.
    pub fn run_alone(&mut self, constants: &[f64], question: &[f64]) -> Vec<f64> {
        let own = self.tape.constants_mut(&mut self.alone);
        self.used.iter().zip(constants).for_each(|(&at, &constant)| own[at] = Lanes([constant]));
        let question: Vec<Lanes<1>> = question.iter().map(|&value| Lanes([value])).collect();
        let mut answer = vec![Lanes([0.0]); self.output.len()];
        self.tape.run_lanes(&mut self.alone, &question, &mut answer);
        answer.into_iter().map(|lanes| lanes.0[0]).collect()
    }
}
