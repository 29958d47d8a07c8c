//! Derivatives carried back from the outputs: all derivatives of one number at the price of a few evaluations.
//!
//! A choice sends its weight only to the side that is taken. Multiplying a weight of zero by the infinite slope of the side not taken
//! would give no number, so weights are kept together with the mask under which they count, as long as a division, a root or the like
//! stands before; the mask is applied at the end.

use super::{hazardous, partial};
use dalembert_methods::trace::{Graph, Id, Op};

/// Weights by the mask under which they count; nothing for always.
type Weights = Vec<(Option<Id>, Id)>;

/// wᵀ J for the weights `w` of the outputs: one derivative for each of `inputs` inputs.
pub fn adjoints(g: &mut Graph, outputs: &[Id], weights: &[Id], inputs: usize) -> Vec<Id> {
    let needed = g.needed(outputs);
    let count = needed.len();
    let mut hazard = vec![false; count];
    let mut varies = vec![false; count];
    for i in (0..count).filter(|&i| needed[i]) {
        let node = g.nodes()[i];
        hazard[i] = hazardous(node.op) || node.operands().iter().any(|a| hazard[a.index()]);
        varies[i] = node.op == Op::Input || !node.op.is_mask() && node.operands().iter().any(|a| varies[a.index()]);
    }
    let zero = g.constant(0.0);
    let mut all: Vec<Weights> = vec![Vec::new(); count];
    for (&output, &weight) in outputs.iter().zip(weights) {
        gather(g, &mut all[output.index()], None, weight);
    }
    let mut out = vec![zero; inputs];
    for i in (0..count).rev().filter(|&i| needed[i] && varies[i]) {
        let mut own = std::mem::take(&mut all[i]);
        if own.is_empty() {
            continue;
        }
        let id = Id(i as u32);
        let node = g.node(id);
        if node.op == Op::Input {
            out[node.args[0].index()] = applied(g, &own);
            continue;
        }
        if !hazard[i] {
            own = vec![(None, applied(g, &own))];
        }
        for (mask, weight) in own {
            if node.op == Op::Select {
                let not = g.not(node.args[0]);
                for (side, target) in [(node.args[0], node.args[1]), (not, node.args[2])] {
                    if varies[target.index()] {
                        let both = mask.map_or(side, |mask| g.and(mask, side));
                        gather(g, &mut all[target.index()], Some(both), weight);
                    }
                }
                continue;
            }
            // One division for both operands: w / b, and −(w / b) c with c = a / b.
            let quotient = (node.op == Op::Div).then(|| g.div(weight, node.args[1]));
            for (k, &target) in node.operands().iter().enumerate() {
                if !varies[target.index()] {
                    continue;
                }
                let part = match (quotient, k) {
                    (Some(q), 0) => q,
                    (Some(q), _) => {
                        let product = g.mul(q, id);
                        g.neg(product)
                    }
                    _ => {
                        let slope = partial(g, id, k);
                        g.mul(weight, slope)
                    }
                };
                gather(g, &mut all[target.index()], mask, part);
            }
        }
    }
    out
}

/// The gradient of one output.
pub fn gradient(g: &mut Graph, output: Id, inputs: usize) -> Vec<Id> {
    let one = g.constant(1.0);
    adjoints(g, &[output], &[one], inputs)
}

/// Adds a weight under a mask.
fn gather(g: &mut Graph, weights: &mut Weights, mask: Option<Id>, weight: Id) {
    if g.constant_of(weight) == Some(0.0) || mask.is_some_and(|mask| g.known_mask(mask) == Some(false)) {
        return;
    }
    match weights.iter_mut().find(|(own, _)| *own == mask) {
        Some((_, sum)) => *sum = g.add(*sum, weight),
        None => weights.push((mask, weight)),
    }
}

/// The sum of all weights, each where its mask holds.
fn applied(g: &mut Graph, weights: &Weights) -> Id {
    let zero = g.constant(0.0);
    let mut sum = zero;
    for &(mask, weight) in weights {
        let part = mask.map_or(weight, |mask| g.select(mask, weight, zero));
        sum = g.add(sum, part);
    }
    sum
}
