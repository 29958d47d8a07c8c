//! The interpreter: the instructions of a program on a few slots that are used again and again, for any number.
//!
//! It is generic over [`Real`], so plain numbers, lanes and jets are all evaluated by the same few lines.
//!
//! A processor that does not know which instruction comes next loses more time than any of them takes. So instructions that do the same are put into runs, as
//! far as what they need allows: within windows of the program's order, so that values are still used soon after they are made. What to do is then
//! asked once a run, and the instructions of a run, which do not depend on each other, overlap.

use crate::program::{Code, Instruction, Program};
use dalembert_methods::Real;
use dalembert_methods::lanes::Lanes;
use dalembert_methods::sine::sin_cos_lanes;
use dalembert_methods::trace::Op;
use std::collections::VecDeque;

/// A program with slots instead of values.
#[derive(Clone, Debug)]
pub struct Tape {
    constants: Vec<f64>,
    inputs: usize,
    /// What is done, and up to which step.
    runs: Vec<(Code, usize)>,
    /// The slot of the result, and those of the operands.
    steps: Vec<[u32; 4]>,
    slots: usize,
    masks: usize,
    outputs: Vec<u32>,
}

/// Scratch of a [`Tape`] for one kind of number.
#[derive(Clone, Debug)]
pub struct Slots<R: Real> {
    numbers: Vec<R>,
    masks: Vec<R::Mask>,
}

/// Slots that are free again, and the number of all.
#[derive(Default)]
struct Pool {
    free: Vec<u32>,
    count: u32,
}

impl Pool {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }
}

/// Instructions among which those that do the same are looked for.
const WINDOW: usize = 2048;

/// The instructions in an order in which those that do the same follow each other: in each window the ready ones of the present sort, and then those of the
/// sort of which most are ready.
fn gathered(program: &Program) -> Vec<Instruction> {
    let mut out = Vec::with_capacity(program.instructions.len());
    let mut maker = vec![usize::MAX; program.values];
    for window in program.instructions.chunks(WINDOW) {
        for (k, instruction) in window.iter().enumerate() {
            maker[instruction.to as usize] = k;
            if instruction.code == Code::SinCos {
                maker[instruction.to as usize + 1] = k;
            }
        }
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); window.len()];
        let mut missing = vec![0; window.len()];
        for (k, instruction) in window.iter().enumerate() {
            for &a in instruction.operands().iter().filter(|&&a| maker[a as usize] != usize::MAX) {
                users[maker[a as usize]].push(k);
                missing[k] += 1;
            }
        }
        // Sorts in the order of their first instruction, each with its ready ones.
        let mut sorts: Vec<(Code, VecDeque<usize>)> = Vec::new();
        let mut sort = vec![0; window.len()];
        for (k, instruction) in window.iter().enumerate() {
            sort[k] = sorts.iter().position(|(code, _)| *code == instruction.code).unwrap_or_else(|| {
                sorts.push((instruction.code, VecDeque::new()));
                sorts.len() - 1
            });
            if missing[k] == 0 {
                sorts[sort[k]].1.push_back(k);
            }
        }
        while let Some(now) =
            (0..sorts.len()).rev().max_by_key(|&i| sorts[i].1.len()).filter(|&i| !sorts[i].1.is_empty())
        {
            while let Some(k) = sorts[now].1.pop_front() {
                out.push(window[k]);
                for &user in &users[k] {
                    missing[user] -= 1;
                    if missing[user] == 0 {
                        sorts[sort[user]].1.push_back(user);
                    }
                }
            }
        }
        for instruction in window {
            maker[instruction.to as usize] = usize::MAX;
            if instruction.code == Code::SinCos {
                maker[instruction.to as usize + 1] = usize::MAX;
            }
        }
    }
    out
}

impl Tape {
    /// Gives every value a slot, which is free again after its last use.
    pub fn new(program: &Program) -> Self {
        let program = &Program { instructions: gathered(program), ..program.clone() };
        let last = program.last_uses();
        let first = program.first_result();
        let mut slot: Vec<u32> = (0..program.values as u32).collect();
        let mut is_mask = vec![false; program.values];
        let mut numbers = Pool { free: Vec::new(), count: first as u32 };
        let mut masks = Pool::default();
        let mut runs: Vec<(Code, usize)> = Vec::new();
        let mut steps = Vec::with_capacity(program.instructions.len());
        for (t, instruction) in program.instructions.iter().enumerate() {
            let mut args = instruction.args;
            let arity = instruction.code.arity();
            args[..arity].iter_mut().for_each(|a| *a = slot[*a as usize]);
            // Two results must not share the slot of the operand; one may.
            let mut done: Vec<u32> = instruction.operands().to_vec();
            done.sort_unstable();
            done.dedup();
            let free = |numbers: &mut Pool, masks: &mut Pool, slot: &[u32]| {
                for &a in done.iter().filter(|&&a| a as usize >= first && last[a as usize] == t) {
                    let pool = if is_mask[a as usize] { &mut *masks } else { &mut *numbers };
                    pool.free.push(slot[a as usize]);
                }
            };
            let to;
            if instruction.code == Code::SinCos {
                (to, args[1]) = (numbers.take(), numbers.take());
                slot[instruction.to as usize + 1] = args[1];
                free(&mut numbers, &mut masks, &slot);
            } else {
                free(&mut numbers, &mut masks, &slot);
                let mask = instruction.code.is_mask();
                to = if mask { masks.take() } else { numbers.take() };
                is_mask[instruction.to as usize] = mask;
            }
            slot[instruction.to as usize] = to;
            steps.push([to, args[0], args[1], args[2]]);
            match runs.last_mut() {
                Some((code, end)) if *code == instruction.code => *end = steps.len(),
                _ => runs.push((instruction.code, steps.len())),
            }
            // Results that nobody uses.
            let results = if instruction.code == Code::SinCos { 2 } else { 1 };
            for k in 0..results {
                let value = instruction.to as usize + k;
                if last[value] == 0 {
                    let pool = if is_mask[value] { &mut masks } else { &mut numbers };
                    pool.free.push(slot[value]);
                }
            }
        }
        Self {
            constants: program.constants.clone(),
            inputs: program.inputs,
            runs,
            steps,
            slots: numbers.count as usize,
            masks: masks.count as usize,
            outputs: program.outputs.iter().map(|&o| slot[o as usize]).collect(),
        }
    }

    /// The number of slots for numbers.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Scratch for numbers of this kind.
    pub fn work<R: Real>(&self) -> Slots<R> {
        self.work_with(&self.constants.iter().map(|&c| R::from(c)).collect::<Vec<R>>())
    }

    /// Scratch with other constants than those of the program, as many as it has: those of another program with the same instructions, or of several in lanes.
    pub fn work_with<R: Real>(&self, constants: &[R]) -> Slots<R> {
        assert!(constants.len() == self.constants.len(), "a program with the same instructions has as many constants");
        let mut numbers = vec![R::zero(); self.slots];
        numbers.iter_mut().zip(constants).for_each(|(slot, &c)| *slot = c);
        Slots { numbers, masks: vec![R::zero().lt(R::zero()); self.masks] }
    }

    /// The constants in some scratch, to be changed.
    pub fn constants_mut<'w, R: Real>(&self, work: &'w mut Slots<R>) -> &'w mut [R] {
        &mut work.numbers[..self.constants.len()]
    }

    /// The outputs `y` for the inputs `x`.
    pub fn run<R: Real>(&self, work: &mut Slots<R>, x: &[R], y: &mut [R]) {
        self.run_by(work, x, y, R::sin_cos);
    }

    /// The same for states side by side with sine and cosine of our own: a state has the same bits in any lane, in any number of them, on any processor, and by
    /// machine code for four ([`crate::machine::Four`]).
    pub fn run_lanes<const N: usize>(&self, work: &mut Slots<Lanes<N>>, x: &[Lanes<N>], y: &mut [Lanes<N>]) {
        self.run_by(work, x, y, |angle| {
            let (s, c) = sin_cos_lanes::<N, false>(angle.0);
            (Lanes(s), Lanes(c))
        });
    }

    fn run_by<R: Real>(&self, work: &mut Slots<R>, x: &[R], y: &mut [R], sin_cos: impl Fn(R) -> (R, R)) {
        assert!(x.len() == self.inputs && y.len() == self.outputs.len());
        let (w, m) = (&mut work.numbers[..], &mut work.masks[..]);
        let first = self.constants.len();
        w[first..first + x.len()].copy_from_slice(x);
        let mut from = 0;
        for &(code, end) in &self.runs {
            let steps = &self.steps[from..end];
            from = end;
            match code {
                Code::MulAdd => three(w, steps, |a, b, c| a * b + c),
                Code::MulSub => three(w, steps, |a, b, c| a * b - c),
                Code::SubMul => three(w, steps, |a, b, c| c - a * b),
                Code::SinCos => {
                    for step in steps {
                        let [to, a, b, _] = step.map(|k| k as usize);
                        (w[to], w[b]) = sin_cos(w[a]);
                    }
                }
                Code::Plain(op) => plain(op, w, m, steps),
            }
        }
        y.iter_mut().zip(&self.outputs).for_each(|(y, &o)| *y = w[o as usize]);
    }
}

/// Functions of one operand.
#[inline(always)]
fn one<R: Real>(w: &mut [R], steps: &[[u32; 4]], f: impl Fn(R) -> R) {
    for &[to, a, _, _] in steps {
        w[to as usize] = f(w[a as usize]);
    }
}

/// Functions of two operands.
#[inline(always)]
fn two<R: Real>(w: &mut [R], steps: &[[u32; 4]], f: impl Fn(R, R) -> R) {
    for &[to, a, b, _] in steps {
        w[to as usize] = f(w[a as usize], w[b as usize]);
    }
}

/// Functions of three operands.
#[inline(always)]
fn three<R: Real>(w: &mut [R], steps: &[[u32; 4]], f: impl Fn(R, R, R) -> R) {
    for &[to, a, b, c] in steps {
        w[to as usize] = f(w[a as usize], w[b as usize], w[c as usize]);
    }
}

/// Operations of the graph.
fn plain<R: Real>(op: Op, w: &mut [R], m: &mut [R::Mask], steps: &[[u32; 4]]) {
    match op {
        Op::Add => return two(w, steps, |a, b| a + b),
        Op::Sub => return two(w, steps, |a, b| a - b),
        Op::Mul => return two(w, steps, |a, b| a * b),
        Op::Div => return two(w, steps, |a, b| a / b),
        Op::Neg => return one(w, steps, |a| -a),
        Op::Sqrt => return one(w, steps, R::sqrt),
        _ => {}
    }
    for step in steps {
        let [to, a, b, c] = step.map(|k| k as usize);
        match op {
            Op::Sin => w[to] = w[a].sin(),
            Op::Cos => w[to] = w[a].cos(),
            Op::Tan => w[to] = w[a].tan(),
            Op::Asin => w[to] = w[a].asin(),
            Op::Acos => w[to] = w[a].acos(),
            Op::Atan2 => w[to] = w[a].atan2(w[b]),
            Op::Exp => w[to] = w[a].exp(),
            Op::Ln => w[to] = w[a].ln(),
            Op::Tanh => w[to] = w[a].tanh(),
            Op::Power => w[to] = w[a].powf(w[b]),
            Op::Round => w[to] = w[a].round(),
            Op::Floor => w[to] = w[a].floor(),
            Op::Select => w[to] = R::select(m[a], w[b], w[c]),
            Op::Less => m[to] = w[a].lt(w[b]),
            Op::LessEqual => m[to] = w[a].le(w[b]),
            Op::Equal => m[to] = w[a].equals(w[b]),
            Op::And => m[to] = R::and(m[a], m[b]),
            Op::Or => m[to] = R::or(m[a], m[b]),
            Op::Not => m[to] = R::not(m[a]),
            Op::Known => m[to] = if a == 1 { R::zero().le(R::zero()) } else { R::zero().lt(R::zero()) },
            // Done above, or with slots of their own.
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Neg | Op::Sqrt | Op::Constant | Op::Input => {}
        }
    }
}
