//! The interpreter: the instructions of a program on a few slots that are used again and again, for any number.
//!
//! It is generic over [`Real`], so plain numbers, lanes and jets are all evaluated by the same few lines.

use crate::program::{Code, Instruction, Program};
use dalembert_methods::Real;
use dalembert_methods::trace::Op;

/// A program with slots instead of values.
#[derive(Clone, Debug)]
pub struct Tape {
    constants: Vec<f64>,
    inputs: usize,
    instructions: Vec<Instruction>,
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

impl Tape {
    /// Gives every value a slot, which is free again after its last use.
    pub fn new(program: &Program) -> Self {
        let last = program.last_uses();
        let first = program.first_result();
        let mut slot: Vec<u32> = (0..program.values as u32).collect();
        let mut is_mask = vec![false; program.values];
        let mut numbers = Pool { free: Vec::new(), count: first as u32 };
        let mut masks = Pool::default();
        let mut instructions = Vec::with_capacity(program.instructions.len());
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
            instructions.push(Instruction { code: instruction.code, to, args });
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
            instructions,
            slots: numbers.count as usize,
            masks: masks.count as usize,
            outputs: program.outputs.iter().map(|&o| slot[o as usize]).collect(),
        }
    }

    /// The number of slots for numbers.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Scratch for numbers of this kind.
    pub fn work<R: Real>(&self) -> Slots<R> {
        let mut numbers = vec![R::zero(); self.slots];
        numbers.iter_mut().zip(&self.constants).for_each(|(slot, &c)| *slot = R::from(c));
        Slots { numbers, masks: vec![R::zero().lt(R::zero()); self.masks] }
    }

    /// The outputs `y` for the inputs `x`.
    pub fn run<R: Real>(&self, work: &mut Slots<R>, x: &[R], y: &mut [R]) {
        assert!(x.len() == self.inputs && y.len() == self.outputs.len());
        let (w, m) = (&mut work.numbers[..], &mut work.masks[..]);
        let first = self.constants.len();
        w[first..first + x.len()].copy_from_slice(x);
        for i in &self.instructions {
            let [a, b, c] = i.args.map(|k| k as usize);
            let to = i.to as usize;
            match i.code {
                Code::MulAdd => w[to] = w[a] * w[b] + w[c],
                Code::MulSub => w[to] = w[a] * w[b] - w[c],
                Code::SubMul => w[to] = w[c] - w[a] * w[b],
                Code::SinCos => (w[to], w[b]) = w[a].sin_cos(),
                Code::Plain(op) => match op {
                    Op::Add => w[to] = w[a] + w[b],
                    Op::Sub => w[to] = w[a] - w[b],
                    Op::Mul => w[to] = w[a] * w[b],
                    Op::Div => w[to] = w[a] / w[b],
                    Op::Neg => w[to] = -w[a],
                    Op::Sqrt => w[to] = w[a].sqrt(),
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
                    // They have slots of their own.
                    Op::Constant | Op::Input => {}
                },
            }
        }
        y.iter_mut().zip(&self.outputs).for_each(|(y, &o)| *y = w[o as usize]);
    }
}
