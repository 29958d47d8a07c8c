//! Where rows that ask the same in the same modes wait for each other, and are answered four at a time.
//!
//! A table begins with the interpreter. When it has answered often enough for machine code to pay, the same instructions are compiled; both give the same bits, so it does not matter
//! when that happens.

use dalembert_graph::Program;
use dalembert_graph::machine::{Constants, Four, Slot};
use dalembert_graph::tape::{Slots, Tape};
use dalembert_graph::touching::{Ask, Functions, Unrecorded};
use dalembert_methods::nonsmooth::Mode;
use dalembert_methods::{Lanes, Real};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Rows side by side.
const LANES: usize = 4;
/// After so many answers a table gets machine code: that takes about as long as a few hundred of them.
const OFTEN: u32 = 400;

/// A row, and what it asks and gets.
#[derive(Default)]
pub(super) struct Ticket {
    pub row: u64,
    /// Whether it waits for an answer.
    pub waits: Rc<Cell<bool>>,
    pub paper: RefCell<Paper>,
}

#[derive(Default)]
pub(super) struct Paper {
    pub question: Vec<f64>,
    pub answer: Vec<f64>,
}

/// Who waits at a table.
#[derive(Clone)]
pub(super) struct Guest {
    pub ticket: Rc<Ticket>,
    /// The constants of the row that are used here.
    pub constants: Rc<[f64]>,
}

/// Who sits in a lane.
#[derive(Clone, Default)]
struct Owner {
    row: u64,
    constants: Option<Rc<[f64]>>,
}

/// Instructions by machine code.
struct Fast {
    machine: Four,
    constants: Constants,
    work: Vec<Slot>,
}

/// Where rows of one kind in one set of modes ask one thing.
pub(super) struct Table {
    kind: Rc<Functions>,
    modes: Vec<u8>,
    ask: Ask,
    /// What depends on constants alone, and how many constants a row and the instructions have.
    early: Tape,
    early_slots: Slots<f64>,
    sizes: [usize; 2],
    /// The rest, and the constants of a row that it uses.
    program: Program,
    tape: Tape,
    used: Vec<usize>,
    slots: Slots<Lanes<LANES>>,
    input: Vec<Lanes<LANES>>,
    output: Vec<Lanes<LANES>>,
    owners: [Owner; LANES],
    queue: Vec<Guest>,
    /// The same instructions for one row.
    alone: Slots<Lanes<1>>,
    /// Answers given so far, and machine code if it is worth it and can be had.
    served: u32,
    fast: Option<Fast>,
}

/// The modes of contacts without directions.
fn key(modes: &[Mode]) -> Vec<u8> {
    let number = |mode: &Mode| match mode {
        Mode::Open => 0,
        Mode::Slide { .. } => 1,
        Mode::Stick => 2,
    };
    modes.iter().map(number).collect()
}

impl Table {
    pub fn new(kind: &Rc<Functions>, modes: &[Mode], ask: Ask) -> Result<Self, Unrecorded> {
        let whole = kind.answer(modes, ask)?;
        let (early, program) = whole.hoisted();
        let sizes = [kind.program.constants.len(), whole.constants.len()];
        let mut used: Vec<usize> =
            program.instructions.iter().flat_map(|i| i.operands()).map(|&a| a as usize).collect();
        used.extend(program.outputs.iter().map(|&o| o as usize));
        used.retain(|&value| value < sizes[0] || (sizes[1]..program.constants.len()).contains(&value));
        used.sort_unstable();
        used.dedup();
        let (early, tape) = (Tape::new(&early), Tape::new(&program));
        Ok(Self {
            kind: kind.clone(),
            modes: key(modes),
            ask,
            early_slots: early.work(),
            early,
            sizes,
            used,
            slots: tape.work(),
            alone: tape.work(),
            input: vec![Lanes::zero(); program.inputs],
            output: vec![Lanes::zero(); program.outputs.len()],
            owners: Default::default(),
            queue: Vec::new(),
            tape,
            program,
            served: 0,
            fast: None,
        })
    }

    /// Whether it is the one for a question.
    pub fn is_for(&self, kind: &Rc<Functions>, modes: &[Mode], ask: Ask) -> bool {
        self.ask == ask && Rc::ptr_eq(&self.kind, kind) && self.modes == key(modes)
    }

    /// What is used here of a row with these constants.
    pub fn constants(&mut self, own: &[f64]) -> Rc<[f64]> {
        let [first, all] = self.sizes;
        self.early.constants_mut(&mut self.early_slots)[..first].copy_from_slice(own);
        let mut more = vec![0.0; self.early.outputs()];
        self.early.run(&mut self.early_slots, &vec![0.0; self.input.len()], &mut more);
        self.used.iter().map(|&at| if at < first { own[at] } else { more[at - all] }).collect()
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub fn queue(&mut self, guest: Guest) {
        self.queue.push(guest);
    }

    /// Serves as long as lanes are full, and says whether they were.
    pub fn serve_full(&mut self) -> bool {
        let full = self.waiting() >= LANES;
        while self.waiting() >= LANES {
            self.serve();
        }
        full
    }

    /// Serves up to four that wait.
    pub fn serve(&mut self) {
        let lanes = self.seat();
        for (lane, ticket) in lanes.iter().enumerate() {
            let Some(ticket) = ticket else { continue };
            let paper = ticket.paper.borrow();
            self.input.iter_mut().zip(&paper.question).for_each(|(four, &value)| four.0[lane] = value);
        }
        self.compute(lanes.each_ref().map(Option::is_some));
        for (lane, ticket) in lanes.iter().enumerate() {
            let Some(ticket) = ticket else { continue };
            let mut paper = ticket.paper.borrow_mut();
            paper.answer.clear();
            paper.answer.extend(self.output.iter().map(|four| four.0[lane]));
            ticket.waits.set(false);
        }
    }

    /// Gives lanes to those who wait. Whoever sat here before keeps his lane, and his constants in it.
    fn seat(&mut self) -> [Option<Rc<Ticket>>; LANES] {
        let count = self.queue.len().min(LANES);
        let mut lanes = [const { None }; LANES];
        let mut others = Vec::with_capacity(count);
        for guest in self.queue.drain(..count) {
            match self.owners.iter().position(|owner| owner.row == guest.ticket.row) {
                Some(lane) => lanes[lane] = Some(guest.ticket),
                None => others.push(guest),
            }
        }
        for Guest { ticket, constants } in others {
            let free = (0..LANES).filter(|&lane| lanes[lane].is_none());
            // Where nobody has sat, before a place is taken from somebody who may come back.
            let Some(lane) = free.min_by_key(|&lane| self.owners[lane].row) else { continue };
            let slots = self.tape.constants_mut(&mut self.slots);
            self.used.iter().zip(&*constants).for_each(|(&at, &constant)| slots[at].0[lane] = constant);
            if let Some(fast) = &mut self.fast {
                self.used.iter().zip(&*constants).for_each(|(&at, &constant)| fast.constants.set(at, lane, constant));
            }
            self.owners[lane] = Owner { row: ticket.row, constants: Some(constants) };
            lanes[lane] = Some(ticket);
        }
        lanes
    }

    /// The outputs for the inputs of the lanes that are taken.
    fn compute(&mut self, taken: [bool; LANES]) {
        self.served += 1;
        if self.served == OFTEN {
            self.compile();
        }
        let Some(fast) = &mut self.fast else {
            return self.tape.run_lanes(&mut self.slots, &self.input, &mut self.output);
        };
        let near = fast.machine.run(&fast.constants, &mut fast.work, &self.input, &mut self.output);
        if (0..LANES).any(|lane| taken[lane] && !near[lane]) {
            let known = self.output.clone();
            self.tape.run_lanes(&mut self.slots, &self.input, &mut self.output);
            for (output, known) in self.output.iter_mut().zip(known) {
                (0..LANES).filter(|&lane| near[lane]).for_each(|lane| output.0[lane] = known.0[lane]);
            }
        }
    }

    /// Makes machine code. Where it cannot be had the interpreter goes on.
    fn compile(&mut self) {
        let Ok(machine) = Four::new(&self.program) else { return };
        let mut constants = machine.constants();
        for (lane, owner) in self.owners.iter().enumerate() {
            let own = owner.constants.iter().flat_map(|own| own.iter());
            self.used.iter().zip(own).for_each(|(&at, &constant)| constants.set(at, lane, constant));
        }
        self.fast = Some(Fast { work: machine.work(), constants, machine });
    }

    /// The answer for one row, at once.
    pub fn ask_alone(&mut self, constants: &[f64], question: impl Iterator<Item = f64>) -> Vec<f64> {
        let own = self.tape.constants_mut(&mut self.alone);
        self.used.iter().zip(constants).for_each(|(&at, &constant)| own[at] = Lanes([constant]));
        let question: Vec<Lanes<1>> = question.map(|value| Lanes([value])).collect();
        let mut answer = vec![Lanes([0.0]); self.output.len()];
        self.tape.run_lanes(&mut self.alone, &question, &mut answer);
        answer.into_iter().map(|lanes| lanes.0[0]).collect()
    }
}
