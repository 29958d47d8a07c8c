//! In which order instructions are carried out: as they were recorded, or as the outputs need them.
//!
//! What is recorded first is often needed last, and waits in memory until then. From the outputs back, each result is made just before
//! it is used for the first time; it matters whether the first output comes first or the last. Which order moves fewest numbers depends on the
//! function, so all are tried.

use crate::program::{Code, Program};

/// All orders that are tried.
pub(super) fn all(program: &Program) -> [Vec<u32>; 3] {
    let outputs = || program.outputs.iter().copied();
    [(0..program.instructions.len() as u32).collect(), from(program, outputs()), from(program, outputs().rev())]
}

/// The numbers of the instructions as the outputs need them, one after the other; all up to the last sine and cosine come first, as they take long.
fn from(program: &Program, outputs: impl Iterator<Item = u32>) -> Vec<u32> {
    let count = program.instructions.len();
    let first = program.instructions.iter().rposition(|i| i.code == Code::SinCos).map_or(0, |at| at + 1);
    let mut maker = vec![u32::MAX; program.values];
    for (t, instruction) in program.instructions.iter().enumerate() {
        maker[instruction.to as usize] = t as u32;
        if instruction.code == Code::SinCos {
            maker[instruction.to as usize + 1] = t as u32;
        }
    }
    let mut order: Vec<u32> = (0..first as u32).collect();
    let mut done = vec![false; count];
    done[..first].fill(true);
    let mut stack = Vec::new();
    for output in outputs {
        stack.push((output, false));
        while let Some((value, ready)) = stack.pop() {
            let t = maker[value as usize];
            // Constants and inputs have no maker.
            if t == u32::MAX || done[t as usize] {
                continue;
            }
            if ready {
                done[t as usize] = true;
                order.push(t);
                continue;
            }
            stack.push((value, true));
            stack.extend(program.instructions[t as usize].operands().iter().rev().map(|&a| (a, false)));
        }
    }
    order
}
