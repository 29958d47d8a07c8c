//! Derivatives carried along: each node gets the derivatives that are not zero, for the columns it depends on.

use super::partial;
use dalembert_methods::trace::{Graph, Id, Op};

/// Derivatives of one node: columns, ascending, with the nodes that compute them.
pub type Tangents = Vec<(u32, Id)>;

/// The derivatives of the outputs, where those of input i are `seeds(i)`. Entries that vanish identically are left out.
pub fn tangents(g: &mut Graph, outputs: &[Id], seeds: &mut dyn FnMut(&mut Graph, usize) -> Tangents) -> Vec<Tangents> {
    let needed = g.needed(outputs);
    let mut all: Vec<Tangents> = vec![Vec::new(); needed.len()];
    for i in (0..needed.len()).filter(|&i| needed[i]) {
        let id = Id(i as u32);
        let node = g.node(id);
        if node.op == Op::Input {
            all[i] = seeds(g, node.args[0].index());
            continue;
        }
        if node.op.is_mask() || node.op.arity() == 0 {
            continue;
        }
        let mut columns: Vec<u32> = node.operands().iter().flat_map(|a| &all[a.index()]).map(|(c, _)| *c).collect();
        columns.sort_unstable();
        columns.dedup();
        let mut own = Vec::with_capacity(columns.len());
        for column in columns {
            let of = |k: usize| {
                let list = &all[node.args[k].index()];
                list.binary_search_by_key(&column, |(c, _)| *c).ok().map(|at| list[at].1)
            };
            let d: Vec<Option<Id>> = (0..node.op.arity()).map(of).collect();
            let value = one(g, id, &d);
            if g.constant_of(value) != Some(0.0) {
                own.push((column, value));
            }
        }
        all[i] = own;
    }
    outputs.iter().map(|id| all[id.index()].clone()).collect()
}

/// The derivative of a node from those of its operands; missing ones are zero.
fn one(g: &mut Graph, id: Id, d: &[Option<Id>]) -> Id {
    let node = g.node(id);
    let zero = g.constant(0.0);
    match node.op {
        Op::Select => g.select(node.args[0], d[1].unwrap_or(zero), d[2].unwrap_or(zero)),
        // (ȧ − c ḃ) / b with c = a / b.
        Op::Div => {
            let loss = d[1].map_or(zero, |b| g.mul(b, id));
            let rate = g.sub(d[0].unwrap_or(zero), loss);
            g.div(rate, node.args[1])
        }
        _ => {
            let mut sum = zero;
            for (k, d) in d.iter().enumerate() {
                if let Some(d) = d {
                    let slope = partial(g, id, k);
                    let term = g.mul(slope, *d);
                    sum = g.add(sum, term);
                }
            }
            sum
        }
    }
}

/// J · v for the inputs' direction `v`: one derivative for each output.
pub fn directional(g: &mut Graph, outputs: &[Id], direction: &[Id]) -> Vec<Id> {
    let zero = g.constant(0.0);
    let found = tangents(g, outputs, &mut |g, i| match direction.get(i) {
        Some(&v) if g.constant_of(v) != Some(0.0) => vec![(0, v)],
        _ => Vec::new(),
    });
    found.iter().map(|t| t.first().map_or(zero, |(_, id)| *id)).collect()
}
