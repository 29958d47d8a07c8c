//! The unknowns and equations of a macro step whose micro steps are solved for at once: where they are, and which depend on which (see [`super::whole`]).

use super::{Micro, nodes};
use crate::algebra::Block;
use crate::system::{Shape, System};

/// Where things are in the vector of unknowns: fast variables node by node, then slow ones, then multipliers node by node.
pub(super) struct Plan {
    pub shape: Shape,
    /// Steps of each rate in a macro step, and p, those of the highest.
    pub steps: Vec<usize>,
    pub nodes: usize,
    pub fast: Vec<usize>,
    pub slow: Vec<usize>,
    /// For each velocity its place among the fast ones, or among the slow ones.
    pub own: Vec<(bool, usize)>,
    /// Points and weights in steps of all rates but the highest, and in those of the highest.
    pub outer: (Vec<f64>, Vec<f64>),
    pub inner: (Vec<f64>, Vec<f64>),
}

impl Plan {
    pub fn new<Y: System>(y: &Y, micro: Micro) -> Self {
        let (shape, last) = (y.shape(), y.rates() - 1);
        let mut is_fast = vec![false; shape.v];
        (1..=last).flat_map(|rate| y.fast(rate)).for_each(|k| is_fast[k] = true);
        for b in y.row_blocks() {
            is_fast[b.col..b.col + b.cols].fill(true);
        }
        let pick = |want: bool| (0..shape.v).filter(|&k| is_fast[k] == want).collect::<Vec<_>>();
        let (fast, slow) = (pick(true), pick(false));
        let mut own = vec![(false, 0); shape.v];
        fast.iter().enumerate().for_each(|(i, &k)| own[k] = (true, i));
        slow.iter().enumerate().for_each(|(i, &k)| own[k] = (false, i));
        let mut steps = vec![1];
        (0..last).for_each(|rate| steps.push(steps[rate] * micro.steps[rate] as usize));
        let nodes = steps[last];
        Self {
            shape,
            steps,
            nodes,
            fast,
            slow,
            own,
            outer: nodes::affine(micro.slow),
            inner: nodes::affine(micro.fast),
        }
    }

    pub fn size(&self) -> usize {
        self.multipliers() + self.nodes * self.shape.g
    }

    /// Where the slow unknowns begin, and the multipliers.
    pub fn slow_start(&self) -> usize {
        self.nodes * self.fast.len()
    }
    pub fn multipliers(&self) -> usize {
        self.slow_start() + self.slow.len()
    }

    /// The unknown of a velocity at a node 1 … p.
    pub fn unknown(&self, node: usize, velocity: usize) -> usize {
        match self.own[velocity] {
            (true, i) => (node - 1) * self.fast.len() + i,
            (false, i) => self.slow_start() + i,
        }
    }

    /// The equation of a velocity at a node 0 … p − 1: equations of node j stand where the unknowns of node j + 1 do.
    pub fn equation(&self, node: usize, velocity: usize) -> usize {
        self.unknown(node + 1, velocity)
    }

    /// The smallest step in which the part c of a step of one rate lies, and the part of it; zero at nodes, whatever rounding makes of them.
    pub fn locate(&self, rate: usize, step: usize, c: f64) -> (usize, f64) {
        let along = (step as f64 + c) * (self.nodes / self.steps[rate]) as f64;
        let node = along.round();
        let along = if (along - node).abs() < 1e-9 { node } else { along };
        let step = (along.floor() as usize).min(self.nodes - 1);
        (step, along - step as f64)
    }

    /// The nodes on whose fast variables slow forces act, or with `wide` those on which they depend: at a node velocities are means of both sides.
    pub fn seen(&self, wide: bool) -> Vec<usize> {
        let mut out: Vec<usize> = Vec::new();
        for &c in &self.outer.0 {
            let (step, part) = self.locate(0, 0, c);
            let first = if wide && part == 0.0 { step - 1 } else { step };
            let last = if !wide && part == 0.0 { step } else { step + 1 };
            out.extend(first..=last);
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Nodes 1 … p in sets that no equation sees two of: every third one, and each that slow forces see by itself.
    pub fn colours(&self) -> Vec<Vec<usize>> {
        let seen = self.seen(true);
        let third = |colour: usize| {
            (1..=self.nodes).filter(|node| node % 3 == colour && !seen.contains(node)).collect::<Vec<_>>()
        };
        let mut out: Vec<_> = (0..3).map(third).collect();
        out.extend(seen.iter().filter(|&&node| node > 0).map(|&node| vec![node]));
        out
    }
}

/// All places of the matrix that depend on something.
pub(super) fn each_place(plan: &Plan, forces: &[Block], rows: &[Block], mut put: impl FnMut(usize, usize)) {
    let inside = |b: &Block| {
        let b = *b;
        (b.row..b.row + b.rows).flat_map(move |r| (b.col..b.col + b.cols).map(move |c| (r, c)))
    };
    let (p, m) = (plan.nodes, plan.shape.g);
    let (acts, depends) = (plan.seen(false), plan.seen(true));
    for (r, c) in forces.iter().flat_map(inside) {
        match (plan.own[r].0, plan.own[c].0) {
            (true, true) => {
                for node in 1..=p {
                    for equation in node - 1..=(node + 1).min(p - 1) {
                        put(plan.equation(equation, r), plan.unknown(node, c));
                    }
                }
            }
            (true, false) => {
                acts.iter().filter(|&&node| node < p).for_each(|&node| put(plan.equation(node, r), plan.unknown(1, c)));
            }
            (false, true) => {
                depends
                    .iter()
                    .filter(|&&node| node > 0)
                    .for_each(|&node| put(plan.equation(0, r), plan.unknown(node, c)));
            }
            (false, false) => put(plan.equation(0, r), plan.unknown(1, c)),
        }
    }
    for (r, c) in rows.iter().flat_map(inside) {
        for node in 0..p {
            let multiplier = plan.multipliers() + node * m + r;
            put(multiplier, plan.unknown(node + 1, c));
            put(plan.equation(node, c), multiplier);
        }
    }
    for at in plan.multipliers()..plan.size() {
        put(at, at);
    }
}
