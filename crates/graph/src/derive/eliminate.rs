//! Jacobians by elimination: the linearised graph has an edge with ∂k/∂j for each operand j of each node k. Removing a node joins its
//! predecessors with its successors, c_ki += c_kj c_ji, until only inputs and outputs are left. The order is free, and decides how many
//! products there are.
//!
//! To take the node of least work again and again (Markowitz) is good for small functions. In larger ones it soon has only nodes with many
//! neighbours left. There, nodes go first whose removal leaves no more edges than it takes away: what is inside a link of a chain, say. What
//! is left are the few numbers that link hands to link, and these go in one sweep: from the outputs back, from the inputs on, or from the
//! inside out, the ones that are farthest from inputs and outputs first. The last is for equations that run along a chain and back
//! again, as inverse dynamics does: every entry then costs the width of one link, however long the chain.
//!
//! References: Griewank, Reese: On the calculation of Jacobian matrices by the Markowitz rule, 1991; Griewank, Walther: Evaluating
//! derivatives, 2nd ed., SIAM 2008, ch. 9 and 10.

use super::forward::Tangents;
use super::partial;
use dalembert_methods::trace::{Graph, Id, Op};
use std::collections::{BTreeMap, BTreeSet};

/// In which order nodes are removed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// By least work; near the inputs first among those of equal work.
    Least,
    /// First those that leave at most so many edges more than there were, then the others in a sweep.
    Sweep(i8, Sweep),
}

/// In which order nodes between inputs and outputs are passed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// From the inputs on.
    On,
    /// From the outputs back.
    Back,
    /// From the inside out.
    Out,
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

    /// How many edges more there are when the vertex is gone.
    fn growth(&self, vertex: u32) -> i64 {
        let (ins, outs) = (&self.before[vertex as usize], &self.after[vertex as usize]);
        let new: usize =
            outs.iter().map(|&k| ins.keys().filter(|i| !self.before[k as usize].contains_key(i)).count()).sum();
        new as i64 - (ins.len() + outs.len()) as i64
    }

    /// Removes a vertex, and gives those it was joined to.
    fn remove(&mut self, g: &mut Graph, vertex: u32) -> Vec<u32> {
        let ins = std::mem::take(&mut self.before[vertex as usize]);
        let outs = std::mem::take(&mut self.after[vertex as usize]);
        for i in ins.keys() {
            self.after[*i as usize].remove(&vertex);
        }
        for &k in &outs {
            let Some(out) = self.before[k as usize].remove(&vertex) else { continue };
            for (&i, &value) in &ins {
                let product = g.mul(out, value);
                self.join(g, i, k, product);
            }
        }
        ins.into_keys().chain(outs).collect()
    }

    /// Removes those of the vertices for which there is a price, the cheapest first, and among equals the one whose number comes first.
    /// A price is asked for again when the edges of the vertex change.
    fn cheapest(
        &mut self,
        g: &mut Graph,
        inner: &[u32],
        number: impl Fn(i64) -> i64,
        price: impl Fn(&Self, u32) -> Option<i64>,
    ) {
        let place = |v: u32| number(i64::from(v));
        let mut prices: BTreeMap<u32, Option<i64>> = inner.iter().map(|&v| (v, price(self, v))).collect();
        let mut queue: BTreeSet<(i64, i64, u32)> =
            prices.iter().filter_map(|(&v, &p)| p.map(|p| (p, place(v), v))).collect();
        while let Some((_, _, v)) = queue.pop_first() {
            prices.remove(&v);
            for u in self.remove(g, v) {
                let Some(old) = prices.get_mut(&u) else { continue };
                let new = price(self, u);
                if new != *old {
                    old.map(|p| queue.remove(&(p, place(u), u)));
                    new.map(|p| queue.insert((p, place(u), u)));
                    *old = new;
                }
            }
        }
    }

    /// Removes all vertices that are left, in a sweep.
    fn sweep(&mut self, g: &mut Graph, inner: &[u32], sweep: Sweep) {
        let mut order: Vec<u32> = inner.iter().copied().filter(|&v| !self.before[v as usize].is_empty()).collect();
        match sweep {
            Sweep::On => {}
            Sweep::Back => order.reverse(),
            Sweep::Out => {
                // The longest ways from inputs and to outputs. Vertices before another have smaller numbers.
                let (mut from, mut to) = (vec![0u32; self.before.len()], vec![0u32; self.before.len()]);
                for v in 0..from.len() {
                    from[v] = self.before[v].keys().map(|&u| from[u as usize] + 1).max().unwrap_or(0);
                }
                for v in (0..to.len()).rev() {
                    to[v] = self.after[v].iter().map(|&u| to[u as usize] + 1).max().unwrap_or(0);
                }
                let depth = |v: u32| from[v as usize].min(to[v as usize]);
                order.sort_by_key(|&v| std::cmp::Reverse((depth(v), v)));
            }
        }
        for v in order {
            self.remove(g, v);
        }
    }
}

/// The rows of the Jacobian. Not for graphs with choices before roots or divisions; see [`super::reverse`].
pub fn rows(g: &mut Graph, outputs: &[Id], order: Order) -> Vec<Tangents> {
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
    let inner: Vec<u32> = (0..count as u32).filter(|&v| varies[v as usize] && g.node(Id(v)).op != Op::Input).collect();
    match order {
        Order::Least => linear.cheapest(g, &inner, |v| v, |l, v| Some(l.cost(v) as i64)),
        Order::Sweep(most, sweep) => {
            linear.cheapest(g, &inner, |v| -v, |l, v| Some(l.growth(v)).filter(|&growth| growth <= i64::from(most)));
            linear.sweep(g, &inner, sweep);
        }
    }
    let rows = (0..outputs.len()).map(|k| {
        let mut row: Tangents = linear.before[count + k].iter().map(|(&i, &e)| (g.node(Id(i)).args[0].0, e)).collect();
        row.sort_unstable();
        row
    });
    rows.collect()
}
