//! Expressions as nodes: each is stored once, and simplified when it is made.
//!
//! The rules are those of real numbers: x·1, x+0, x·0, x−x, −(−x), constants computed, factors collected, commuting operands in a fixed
//! order (constants first, then older nodes). Departures from floating point, all at exceptional values: x·0 is 0 also where x is not
//! finite, and x−x likewise.

use super::node::{Id, Node, Op};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hasher for small keys of integers: multiply and rotate.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(u64::from(b)));
    }
    fn write_u8(&mut self, x: u8) {
        self.write_u64(u64::from(x));
    }
    fn write_u32(&mut self, x: u32) {
        self.write_u64(u64::from(x));
    }
    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(26) ^ x).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    fn write_isize(&mut self, x: isize) {
        self.write_u64(x as u64);
    }
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

/// Expressions that share what they have in common.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    known: HashMap<Node, Id, BuildHasherDefault<Mix>>,
    /// The nodes asked for, in this order.
    log: Vec<Id>,
    again: Option<Again>,
}

/// A graph that is made once more, with other numbers.
#[derive(Clone, Debug)]
struct Again {
    /// How many nodes have been asked for.
    at: usize,
    /// Which numbers are known by now.
    known: Vec<bool>,
    /// Whether something else was asked for than the first time.
    strayed: bool,
}

impl Again {
    /// The node that was asked for here the first time. If it is another one all that follows is of no use.
    fn follow(&mut self, log: &[Id], nodes: &mut [Node], node: Node) -> Id {
        let expected = log.get(self.at).copied();
        self.at += 1;
        let Some(id) = expected.filter(|_| !self.strayed) else {
            self.strayed = true;
            return Id(0);
        };
        let (first, known) = (&mut nodes[id.index()], &mut self.known[id.index()]);
        if first.op == Op::Constant && node.op == Op::Constant && !*known {
            (*known, *first) = (true, node);
        }
        // A number that was the same in two places the first time must be so again.
        self.strayed |= *first != node;
        id
    }
}

impl Graph {
    /// The number of nodes, used or not.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node.
    pub fn node(&self, id: Id) -> Node {
        self.nodes[id.index()]
    }

    /// All nodes; operands stand before what uses them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The value of a constant.
    pub fn constant_of(&self, id: Id) -> Option<f64> {
        let node = self.node(id);
        let bits = u64::from(node.args[0].0) | u64::from(node.args[1].0) << 32;
        (node.op == Op::Constant).then(|| f64::from_bits(bits))
    }

    /// The value of a mask that is known.
    pub fn known_mask(&self, id: Id) -> Option<bool> {
        let node = self.node(id);
        (node.op == Op::Known).then_some(node.args[0].0 == 1)
    }

    fn intern(&mut self, op: Op, args: [Id; 3]) -> Id {
        let node = Node { op, args };
        if let Some(again) = &mut self.again {
            return again.follow(&self.log, &mut self.nodes, node);
        }
        let next =
            Id(u32::try_from(self.nodes.len()).expect("a graph of four thousand million nodes does not fit a memory"));
        let id = *self.known.entry(node).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        self.log.push(id);
        id
    }

    /// The same graph, to be made once more by the same equations with other numbers. Nodes are not looked up but expected in the order of the first time; constants
    /// take the numbers they have now.
    pub fn again(&self) -> Self {
        let again = Again { at: 0, known: vec![false; self.nodes.len()], strayed: false };
        Self { nodes: self.nodes.clone(), known: HashMap::default(), log: self.log.clone(), again: Some(again) }
    }

    /// Whether a graph that was made once more was asked for the same nodes as the first time: then it is the same but for its constants.
    pub fn kept(&self) -> bool {
        self.again.as_ref().is_some_and(|again| !again.strayed && again.at == self.log.len())
    }

    /// The input of this index.
    pub fn input(&mut self, index: usize) -> Id {
        self.intern(Op::Input, [Id(index as u32), Id(0), Id(0)])
    }

    /// A number. Both zeros are the same.
    pub fn constant(&mut self, value: f64) -> Id {
        let bits = if value == 0.0 { 0 } else { value.to_bits() };
        self.intern(Op::Constant, [Id(bits as u32), Id((bits >> 32) as u32), Id(0)])
    }

    /// The number 0, if it is there; otherwise a number that no node has.
    pub fn zero(&self) -> Id {
        let node = Node { op: Op::Constant, args: [Id(0); 3] };
        self.known.get(&node).copied().unwrap_or(Id(u32::MAX))
    }

    /// A mask that always holds, or never.
    pub fn mask(&mut self, holds: bool) -> Id {
        self.intern(Op::Known, [Id(u32::from(holds)), Id(0), Id(0)])
    }

    fn negated(&self, id: Id) -> Option<Id> {
        let node = self.node(id);
        (node.op == Op::Neg).then_some(node.args[0])
    }

    /// Factor and rest of a product with a constant.
    fn scaled(&self, id: Id) -> Option<(f64, Id)> {
        let node = self.node(id);
        if node.op != Op::Mul {
            return None;
        }
        self.constant_of(node.args[0]).map(|factor| (factor, node.args[1]))
    }

    fn commuting(&mut self, op: Op, a: Id, b: Id) -> Id {
        let first = |id: Id| (self.constant_of(id).is_none(), id);
        let (a, b) = if first(a) <= first(b) { (a, b) } else { (b, a) };
        self.intern(op, [a, b, Id(0)])
    }

    /// a + b.
    pub fn add(&mut self, a: Id, b: Id) -> Id {
        match (self.constant_of(a), self.constant_of(b)) {
            (Some(x), Some(y)) => return self.constant(x + y),
            (Some(0.0), _) => return b,
            (_, Some(0.0)) => return a,
            _ => {}
        }
        if let Some(b) = self.negated(b) {
            return self.sub(a, b);
        }
        if let Some(a) = self.negated(a) {
            return self.sub(b, a);
        }
        if let Some(sum) = self.collected(a, b, 1.0) {
            return sum;
        }
        self.commuting(Op::Add, a, b)
    }

    /// a − b.
    pub fn sub(&mut self, a: Id, b: Id) -> Id {
        if a == b {
            return self.constant(0.0);
        }
        match (self.constant_of(a), self.constant_of(b)) {
            (Some(x), Some(y)) => return self.constant(x - y),
            (Some(0.0), _) => return self.neg(b),
            (_, Some(0.0)) => return a,
            (_, Some(y)) => {
                let y = self.constant(-y);
                return self.add(a, y);
            }
            _ => {}
        }
        if let Some(b) = self.negated(b) {
            return self.add(a, b);
        }
        if let Some(a) = self.negated(a) {
            let sum = self.add(a, b);
            return self.neg(sum);
        }
        if let Some(difference) = self.collected(a, b, -1.0) {
            return difference;
        }
        self.intern(Op::Sub, [a, b, Id(0)])
    }

    /// α x ± β x as one product.
    fn collected(&mut self, a: Id, b: Id, sign: f64) -> Option<Id> {
        let (alpha, x) = self.scaled(a).unwrap_or((1.0, a));
        let (beta, y) = self.scaled(b).unwrap_or((1.0, b));
        if x != y {
            return None;
        }
        let factor = self.constant(alpha + sign * beta);
        Some(self.mul(factor, x))
    }

    /// a · b.
    pub fn mul(&mut self, a: Id, b: Id) -> Id {
        for (k, x) in [(a, b), (b, a)] {
            let Some(factor) = self.constant_of(k) else { continue };
            if let Some(other) = self.constant_of(x) {
                return self.constant(factor * other);
            }
            if factor == 0.0 {
                return self.constant(0.0);
            }
            if factor == 1.0 {
                return x;
            }
            if factor == -1.0 {
                return self.neg(x);
            }
            if let Some((inner, rest)) = self.scaled(x) {
                let factor = self.constant(factor * inner);
                return self.mul(factor, rest);
            }
            if let Some(x) = self.negated(x) {
                let factor = self.constant(-factor);
                return self.mul(factor, x);
            }
        }
        match (self.negated(a), self.negated(b)) {
            (Some(a), Some(b)) => return self.mul(a, b),
            (Some(a), None) => {
                let product = self.mul(a, b);
                return self.neg(product);
            }
            (None, Some(b)) => {
                let product = self.mul(a, b);
                return self.neg(product);
            }
            _ => {}
        }
        self.commuting(Op::Mul, a, b)
    }

    /// a / b.
    pub fn div(&mut self, a: Id, b: Id) -> Id {
        match (self.constant_of(a), self.constant_of(b)) {
            (Some(x), Some(y)) => return self.constant(x / y),
            (Some(0.0), _) => return a,
            // The reciprocal of a power of two is exact.
            (_, Some(y)) if y != 0.0 && y.to_bits() << 12 == 0 && y.recip().is_normal() => {
                let factor = self.constant(y.recip());
                return self.mul(factor, a);
            }
            (_, Some(-1.0)) => return self.neg(a),
            _ => {}
        }
        match (self.negated(a), self.negated(b)) {
            (Some(a), Some(b)) => return self.div(a, b),
            (Some(a), None) => {
                let quotient = self.div(a, b);
                return self.neg(quotient);
            }
            (None, Some(b)) => {
                let quotient = self.div(a, b);
                return self.neg(quotient);
            }
            _ => {}
        }
        self.intern(Op::Div, [a, b, Id(0)])
    }

    /// −a.
    pub fn neg(&mut self, a: Id) -> Id {
        if let Some(x) = self.constant_of(a) {
            return self.constant(-x);
        }
        let node = self.node(a);
        match node.op {
            Op::Neg => node.args[0],
            Op::Sub => self.sub(node.args[1], node.args[0]),
            Op::Mul if self.constant_of(node.args[0]).is_some() => {
                let factor = self.neg(node.args[0]);
                self.mul(factor, node.args[1])
            }
            _ => self.intern(Op::Neg, [a, Id(0), Id(0)]),
        }
    }

    /// A function of one number.
    pub fn unary(&mut self, op: Op, a: Id) -> Id {
        if op == Op::Neg {
            return self.neg(a);
        }
        if let Some(x) = self.constant_of(a) {
            return self.constant(op.of_one(x));
        }
        // Odd and even functions.
        if let Some(positive) = self.negated(a) {
            match op {
                Op::Sin | Op::Tan | Op::Asin | Op::Tanh | Op::Round => {
                    let value = self.unary(op, positive);
                    return self.neg(value);
                }
                Op::Cos => return self.unary(op, positive),
                _ => {}
            }
        }
        self.intern(op, [a, Id(0), Id(0)])
    }

    /// The angle of the point (x, y).
    pub fn atan2(&mut self, y: Id, x: Id) -> Id {
        match (self.constant_of(y), self.constant_of(x)) {
            (Some(y), Some(x)) => self.constant(y.atan2(x)),
            _ => self.intern(Op::Atan2, [y, x, Id(0)]),
        }
    }

    /// A real power.
    pub fn power(&mut self, base: Id, exponent: Id) -> Id {
        match (self.constant_of(base), self.constant_of(exponent)) {
            (Some(x), Some(n)) => return self.constant(x.powf(n)),
            (_, Some(0.0)) => return self.constant(1.0),
            (_, Some(1.0)) => return base,
            (_, Some(2.0)) => return self.mul(base, base),
            (_, Some(0.5)) => return self.unary(Op::Sqrt, base),
            _ => {}
        }
        self.intern(Op::Power, [base, exponent, Id(0)])
    }

    /// An integer power; small ones are products.
    pub fn integer_power(&mut self, base: Id, n: i32) -> Id {
        if n.unsigned_abs() > 16 {
            let exponent = self.constant(f64::from(n));
            return self.power(base, exponent);
        }
        let mut out = self.constant(1.0);
        let (mut square, mut left) = (base, n.unsigned_abs());
        while left > 0 {
            if left & 1 == 1 {
                out = self.mul(out, square);
            }
            left >>= 1;
            if left > 0 {
                square = self.mul(square, square);
            }
        }
        if n < 0 {
            let one = self.constant(1.0);
            return self.div(one, out);
        }
        out
    }

    /// A comparison.
    pub fn compare(&mut self, op: Op, a: Id, b: Id) -> Id {
        if let (Some(x), Some(y)) = (self.constant_of(a), self.constant_of(b)) {
            return self.mask(match op {
                Op::Less => x < y,
                Op::LessEqual => x <= y,
                _ => x == y,
            });
        }
        if op == Op::Equal {
            return self.commuting(op, a, b);
        }
        self.intern(op, [a, b, Id(0)])
    }

    /// Where both hold.
    pub fn and(&mut self, a: Id, b: Id) -> Id {
        match (self.known_mask(a), self.known_mask(b)) {
            (Some(true), _) => b,
            (_, Some(true)) => a,
            (Some(false), _) | (_, Some(false)) => self.mask(false),
            _ if a == b => a,
            _ => self.intern(Op::And, [a.min(b), a.max(b), Id(0)]),
        }
    }

    /// Where at least one holds.
    pub fn or(&mut self, a: Id, b: Id) -> Id {
        match (self.known_mask(a), self.known_mask(b)) {
            (Some(false), _) => b,
            (_, Some(false)) => a,
            (Some(true), _) | (_, Some(true)) => self.mask(true),
            _ if a == b => a,
            _ => self.intern(Op::Or, [a.min(b), a.max(b), Id(0)]),
        }
    }

    /// Where it does not hold.
    pub fn not(&mut self, a: Id) -> Id {
        if let Some(holds) = self.known_mask(a) {
            return self.mask(!holds);
        }
        let node = self.node(a);
        if node.op == Op::Not { node.args[0] } else { self.intern(Op::Not, [a, Id(0), Id(0)]) }
    }

    /// `yes` where the mask holds, `no` elsewhere.
    pub fn select(&mut self, mask: Id, yes: Id, no: Id) -> Id {
        if yes == no {
            return yes;
        }
        if let Some(holds) = self.known_mask(mask) {
            return if holds { yes } else { no };
        }
        let node = self.node(mask);
        if node.op == Op::Not { self.select(node.args[0], no, yes) } else { self.intern(Op::Select, [mask, yes, no]) }
    }

    /// The node of an operation on nodes of this graph, simplified.
    pub fn make(&mut self, op: Op, args: [Id; 3]) -> Id {
        let [a, b, c] = args;
        match op {
            Op::Constant | Op::Input | Op::Known => self.intern(op, args),
            Op::Add => self.add(a, b),
            Op::Sub => self.sub(a, b),
            Op::Mul => self.mul(a, b),
            Op::Div => self.div(a, b),
            Op::Atan2 => self.atan2(a, b),
            Op::Power => self.power(a, b),
            Op::Less | Op::LessEqual | Op::Equal => self.compare(op, a, b),
            Op::And => self.and(a, b),
            Op::Or => self.or(a, b),
            Op::Not => self.not(a),
            Op::Select => self.select(a, b, c),
            _ => self.unary(op, a),
        }
    }

    /// Computes the values of all nodes up to one, after those that are known already; masks are 1 or 0.
    pub fn compute(&self, inputs: &[f64], until: Id, values: &mut Vec<f64>) {
        for i in values.len()..=until.index() {
            let node = self.nodes[i];
            let [a, b, c] = node.args.map(|id| values.get(id.index()).copied().unwrap_or(f64::NAN));
            let mask = |holds: bool| f64::from(u8::from(holds));
            values.push(match node.op {
                Op::Constant => self.constant_of(Id(i as u32)).unwrap_or(f64::NAN),
                Op::Input => inputs.get(node.args[0].index()).copied().unwrap_or(f64::NAN),
                Op::Known => mask(node.args[0].0 == 1),
                Op::Add => a + b,
                Op::Sub => a - b,
                Op::Mul => a * b,
                Op::Div => a / b,
                Op::Atan2 => a.atan2(b),
                Op::Power => a.powf(b),
                Op::Less => mask(a < b),
                Op::LessEqual => mask(a <= b),
                Op::Equal => mask(a == b),
                Op::And => a * b,
                Op::Or => a.max(b),
                Op::Not => 1.0 - a,
                Op::Select if a == 1.0 => b,
                Op::Select => c,
                op => op.of_one(a),
            });
        }
    }

    /// Which nodes these outputs need.
    pub fn needed(&self, outputs: &[Id]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        outputs.iter().for_each(|id| needed[id.index()] = true);
        for i in (0..self.nodes.len()).rev() {
            if needed[i] {
                self.nodes[i].operands().iter().for_each(|id| needed[id.index()] = true);
            }
        }
        needed
    }

    /// How many operations these outputs need; constants and inputs are none.
    pub fn operations(&self, outputs: &[Id]) -> usize {
        let needed = self.needed(outputs);
        self.nodes.iter().zip(needed).filter(|(node, needed)| *needed && node.op.arity() > 0).count()
    }

    /// The same outputs in a graph without anything else.
    pub fn only(&self, outputs: &[Id]) -> (Graph, Vec<Id>) {
        let needed = self.needed(outputs);
        let mut out = Graph::default();
        let mut place = vec![Id(0); self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate().filter(|(i, _)| needed[*i]) {
            let mut args = node.args;
            args[..node.op.arity()].iter_mut().for_each(|id| *id = place[id.index()]);
            place[i] = out.make(node.op, args);
        }
        let outputs = outputs.iter().map(|id| place[id.index()]).collect();
        (out, outputs)
    }
}
