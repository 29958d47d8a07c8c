//! Jacobians by elimination: the linearised graph has an edge with ∂k/∂j for each operand j of each node k. Removing a node joins its
//! predecessors with its successors, c_ki += c_kj c_ji, until only inputs and outputs are left. The order is free; the node of least
//! work goes first (Markowitz).
//!
//! Reference: Griewank, Reese: On the calculation of Jacobian matrices by the Markowitz rule, 1991.

use super::forward::Tangents;
use super::partial;
use dalembert_methods::trace::{Graph, Id, Op};
use std::collections::{BTreeMap, BTreeSet};

/// Which node goes first among those of equal work.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Tie {
    /// Near the inputs.
    Early,
    /// Near the outputs.
    Late,
}

/// The linearised graph: edges of every vertex to those before and after it.
struct Linear {
    before: Vec<BTreeMap<u32, Id>>,
    after: Vec<BTreeSet<u32>>,
    /// What an edge's product costs: nothing if its value is ±1.
    unit: [Id; 2],
}

impl Linear {
    fn join(&mut self, g: &mut Graph, from: u32, to: u32, value: Id) {
        if g.constant_of(value) == Some(0.0) {
            return;
        }
        let sum = match self.before[to as usize].get(&from) {
            Some(&old) => g.add(old, value),
            None => value,
        };
        if g.constant_of(sum) == Some(0.0) {
            self.before[to as usize].remove(&from);
            self.after[from as usize].remove(&to);
        } else {
            self.before[to as usize].insert(from, sum);
            self.after[from as usize].insert(to);
        }
    }

    fn is_unit(&self, value: Id) -> bool {
        self.unit.contains(&value)
    }

    /// Twice the products that need a multiplication, and the fill.
    fn cost(&self, vertex: u32) -> usize {
        let v = vertex as usize;
        let (ins, outs) = (self.before[v].len(), self.after[v].len());
        let units_in = self.before[v].values().filter(|&&e| self.is_unit(e)).count();
        let units_out = self.after[v].iter().filter(|&&k| self.is_unit(self.before[k as usize][&vertex])).count();
        let filled: usize = self.after[v]
            .iter()
            .map(|&k| self.before[v].keys().filter(|i| self.before[k as usize].contains_key(i)).count())
            .sum();
        2 * (ins - units_in) * (outs - units_out) + filled
    }
}

/// The rows of the Jacobian. Not for graphs with choices before roots or divisions; see [`super::reverse`].
pub fn rows(g: &mut Graph, outputs: &[Id], tie: Tie) -> Vec<Tangents> {
    let needed = g.needed(outputs);
    let count = needed.len();
    let mut varies = vec![false; count];
    let unit = [g.constant(1.0), g.constant(-1.0)];
    let size = count + outputs.len();
    let mut linear = Linear { before: vec![BTreeMap::new(); size], after: vec![BTreeSet::new(); size], unit };
    for i in (0..count).filter(|&i| needed[i]) {
        let id = Id(i as u32);
        let node = g.node(id);
        varies[i] = node.op == Op::Input || !node.op.is_mask() && node.operands().iter().any(|a| varies[a.index()]);
        if !varies[i] || node.op == Op::Input {
            continue;
        }
        for (k, &operand) in node.operands().iter().enumerate().filter(|(_, a)| varies[a.index()]) {
            let slope = match (node.op, k) {
                (Op::Select, 1) | (Op::Select, 2) => {
                    let (one, zero) = (g.constant(1.0), g.constant(0.0));
                    if k == 1 { g.select(node.args[0], one, zero) } else { g.select(node.args[0], zero, one) }
                }
                _ => partial(g, id, k),
            };
            linear.join(g, operand.0, i as u32, slope);
        }
    }
    for (k, output) in outputs.iter().enumerate().filter(|(_, o)| varies[o.index()]) {
        linear.join(g, output.0, (count + k) as u32, unit[0]);
    }
    let place = |v: u32| if tie == Tie::Early { i64::from(v) } else { -i64::from(v) };
    let inner: Vec<u32> = (0..count as u32).filter(|&v| varies[v as usize] && g.node(Id(v)).op != Op::Input).collect();
    let mut costs: BTreeMap<u32, usize> = inner.iter().map(|&v| (v, linear.cost(v))).collect();
    let mut queue: BTreeSet<(usize, i64, u32)> = costs.iter().map(|(&v, &c)| (c, place(v), v)).collect();
    while let Some((_, _, v)) = queue.pop_first() {
        costs.remove(&v);
        let ins = std::mem::take(&mut linear.before[v as usize]);
        let outs = std::mem::take(&mut linear.after[v as usize]);
        for i in ins.keys() {
            linear.after[*i as usize].remove(&v);
        }
        for &k in &outs {
            let Some(out) = linear.before[k as usize].remove(&v) else { continue };
            for (&i, &value) in &ins {
                let product = g.mul(out, value);
                linear.join(g, i, k, product);
            }
        }
        for u in ins.into_keys().chain(outs) {
            if let Some(cost) = costs.get_mut(&u) {
                let new = linear.cost(u);
                if new != *cost {
                    queue.remove(&(*cost, place(u), u));
                    queue.insert((new, place(u), u));
                    *cost = new;
                }
            }
        }
    }
    let rows = (0..outputs.len()).map(|k| {
        let mut row: Tangents = linear.before[count + k].iter().map(|(&i, &e)| (g.node(Id(i)).args[0].0, e)).collect();
        row.sort_unstable();
        row
    });
    rows.collect()
}
