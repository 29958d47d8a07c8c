//! A graph as a list of instructions, in the order in which they are needed.
//!
//! Products that are used once, by a sum, become one instruction with it; sine and cosine of one angle another; divisions by one
//! divisor share its reciprocal. Sines come first, as they depend on little and take long. All else keeps the order in which it was
//! recorded: equations and the sweeps of derivatives use soon what they make. On the functions of the race that order is up to a quarter
//! faster than one that starts from the outputs.

use dalembert_methods::trace::{Graph, Id, Op, Recorded};

/// What an instruction does.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// An operation of the graph.
    Plain(Op),
    /// a · b + c.
    MulAdd,
    /// a · b − c.
    MulSub,
    /// c − a · b.
    SubMul,
    /// Sine of a, and in the next value cosine of a.
    SinCos,
}

impl Code {
    /// How many operands it has.
    pub fn arity(self) -> usize {
        match self {
            Code::Plain(op) => op.arity(),
            Code::SinCos => 1,
            _ => 3,
        }
    }

    /// Whether the result is a mask.
    pub fn is_mask(self) -> bool {
        matches!(self, Code::Plain(op) if op.is_mask())
    }
}

/// One instruction on numbered values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it does.
    pub code: Code,
    /// The value it makes.
    pub to: u32,
    /// The values it uses; unused ones are 0.
    pub args: [u32; 3],
}

impl Instruction {
    /// The operands in use.
    pub fn operands(&self) -> &[u32] {
        &self.args[..self.code.arity()]
    }
}

/// Instructions in order. Values are numbered: constants, then inputs, then results; each result is made once.
#[derive(Clone, Debug)]
pub struct Program {
    /// The constants.
    pub constants: Vec<f64>,
    /// The number of inputs.
    pub inputs: usize,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The number of values.
    pub values: usize,
    /// The values that are given back.
    pub outputs: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Program {
    /// The instructions of a recorded function.
    pub fn new(f: &Recorded) -> Self {
        Self::of(&Prepared::new(f))
    }

    /// The instructions of a recorded function that is prepared.
    pub(crate) fn of(f: &Prepared) -> Self {
        let (graph, outputs) = (&f.graph, &f.outputs);
        let needed = graph.needed(outputs);
        let mut uses = vec![0u32; graph.len()];
        for (node, _) in graph.nodes().iter().zip(&needed).filter(|(_, needed)| **needed) {
            node.operands().iter().for_each(|a| uses[a.index()] += 1);
        }
        outputs.iter().for_each(|o| uses[o.index()] += 1);
        let mut lowering = Lowering {
            graph,
            uses,
            place: vec![NONE; graph.len()],
            program: Program {
                constants: Vec::new(),
                inputs: f.inputs,
                instructions: Vec::new(),
                values: 0,
                outputs: Vec::new(),
            },
            twin: vec![NONE; graph.len()],
        };
        lowering.leaves(&needed);
        for pair in angles(graph, &needed).chunks(2) {
            pair.iter().for_each(|&id| lowering.pull(graph.node(id).args[0]));
            pair.iter().for_each(|&id| lowering.pull(id));
        }
        let fused = lowering.fused(&needed);
        (0..graph.len()).filter(|&i| needed[i] && !fused[i]).for_each(|i| lowering.pull(Id(i as u32)));
        let mut program = lowering.program;
        program.outputs = outputs.iter().map(|o| lowering.place[o.index()]).collect();
        program
    }

    /// The first value that is a result.
    pub fn first_result(&self) -> usize {
        self.constants.len() + self.inputs
    }

    /// Whether another program does the same with other constants.
    pub fn alike(&self, other: &Self) -> bool {
        self.constants.len() == other.constants.len()
            && self.inputs == other.inputs
            && self.instructions == other.instructions
            && self.outputs == other.outputs
    }

    /// The same without instructions whose results nobody needs; values keep their numbers.
    pub(crate) fn needed(mut self) -> Self {
        let mut needed = vec![false; self.values];
        self.outputs.iter().for_each(|&o| needed[o as usize] = true);
        for instruction in self.instructions.iter().rev() {
            let second = instruction.code == Code::SinCos && needed[instruction.to as usize + 1];
            if needed[instruction.to as usize] || second {
                instruction.operands().iter().for_each(|&a| needed[a as usize] = true);
                needed[instruction.to as usize] = true;
            }
        }
        self.instructions.retain(|instruction| needed[instruction.to as usize]);
        self
    }

    /// Splits off what depends on constants alone: a program without inputs whose outputs are further constants, and the program that goes on with them, which come after the
    /// constants of both. Whoever has other constants computes the first program once.
    pub fn hoisted(&self) -> (Self, Self) {
        let (constants, first) = (self.constants.len(), self.first_result());
        // Masks are no constants, so they stay, and with them what they choose.
        let mut moves = vec![true; self.values];
        moves[constants..first].fill(false);
        for instruction in &self.instructions {
            let still = !instruction.code.is_mask() && instruction.operands().iter().all(|&a| moves[a as usize]);
            moves[instruction.to as usize] = still;
            if instruction.code == Code::SinCos {
                moves[instruction.to as usize + 1] = still;
            }
        }
        let (early, late): (Vec<Instruction>, Vec<Instruction>) =
            self.instructions.iter().partition(|instruction| moves[instruction.to as usize]);
        // Of the early results those that are used later become constants.
        let mut place = vec![NONE; self.values];
        let mut kept = Vec::new();
        let operands = late.iter().flat_map(|i| i.operands().to_vec()).chain(self.outputs.iter().copied());
        for value in operands.filter(|&v| v as usize >= first && moves[v as usize]) {
            if place[value as usize] == NONE {
                place[value as usize] = (constants + kept.len()) as u32;
                kept.push(value);
            }
        }
        let more = kept.len() as u32;
        let name = |value: u32| match place[value as usize] {
            NONE if (value as usize) < constants => value,
            NONE => value + more,
            constant => constant,
        };
        let renamed = |i: &Instruction| {
            let mut args = i.args;
            args[..i.code.arity()].iter_mut().for_each(|a| *a = name(*a));
            Instruction { code: i.code, to: name(i.to), args }
        };
        let after = Self {
            constants: self.constants.iter().copied().chain(kept.iter().map(|_| f64::NAN)).collect(),
            inputs: self.inputs,
            instructions: late.iter().map(renamed).collect(),
            values: self.values + kept.len(),
            outputs: self.outputs.iter().map(|&o| name(o)).collect(),
        };
        (Self { instructions: early, outputs: kept, ..self.clone() }, after)
    }

    /// For each value the last instruction that uses it: `usize::MAX` for outputs, 0 if none does.
    pub(crate) fn last_uses(&self) -> Vec<usize> {
        let mut last = vec![0; self.values];
        for (t, instruction) in self.instructions.iter().enumerate() {
            instruction.operands().iter().for_each(|&a| last[a as usize] = t);
        }
        self.outputs.iter().for_each(|&o| last[o as usize] = usize::MAX);
        last
    }

    /// All that determines the result, as bytes: the same function gives the same bytes in every run.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 * self.instructions.len());
        let mut put = |x: u64| out.extend_from_slice(&x.to_le_bytes());
        [self.constants.len(), self.inputs, self.instructions.len(), self.outputs.len()]
            .iter()
            .for_each(|&n| put(n as u64));
        self.constants.iter().for_each(|c| put(c.to_bits()));
        for i in &self.instructions {
            let code = match i.code {
                Code::Plain(op) => op as u64,
                Code::MulAdd => 100,
                Code::MulSub => 101,
                Code::SubMul => 102,
                Code::SinCos => 103,
            };
            put(code << 32 | u64::from(i.to));
            put(u64::from(i.args[0]) << 32 | u64::from(i.args[1]));
            put(u64::from(i.args[2]));
        }
        self.outputs.iter().for_each(|&o| put(u64::from(o)));
        out
    }
}

/// A function on its way to instructions.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    graph: Graph,
    inputs: usize,
    outputs: Vec<Id>,
}

impl Prepared {
    pub fn new(f: &Recorded) -> Self {
        let (graph, outputs) = prepared(&f.graph, &f.outputs, Graph::default());
        Self { graph, inputs: f.inputs, outputs }
    }

    /// The constants of the instructions of a function that was recorded again with other numbers, see [`record_again`](crate::record_again). Nothing if its instructions are others.
    pub fn constants_again(&self, f: &Recorded) -> Option<Vec<f64>> {
        let (graph, outputs) = prepared(&f.graph, &f.outputs, self.graph.again());
        let needed = self.graph.needed(&self.outputs);
        let constants = (0..).zip(needed).filter(|(_, needed)| *needed).filter_map(|(i, _)| graph.constant_of(Id(i)));
        (graph.kept() && outputs == self.outputs).then(|| constants.collect())
    }
}

/// The graph with divisions by constants, and by divisors that occur twice, as products with reciprocals.
fn prepared(graph: &Graph, outputs: &[Id], mut out: Graph) -> (Graph, Vec<Id>) {
    let needed = graph.needed(outputs);
    let mut divisions = vec![0; graph.len()];
    for (node, _) in graph.nodes().iter().zip(&needed).filter(|(node, needed)| **needed && node.op == Op::Div) {
        divisions[node.args[1].index()] += 1;
    }
    let mut place = vec![Id(0); graph.len()];
    for (i, node) in graph.nodes().iter().enumerate().filter(|(i, _)| needed[*i]) {
        let mut args = node.args;
        args[..node.op.arity()].iter_mut().for_each(|id| *id = place[id.index()]);
        place[i] = match node.op {
            Op::Div => {
                let one = out.constant(1.0);
                match out.constant_of(args[1]) {
                    Some(divisor) if divisor.recip().is_normal() => {
                        let factor = out.constant(divisor.recip());
                        out.mul(factor, args[0])
                    }
                    None if divisions[node.args[1].index()] > 1 => {
                        let reciprocal = out.div(one, args[1]);
                        out.mul(args[0], reciprocal)
                    }
                    _ => out.div(args[0], args[1]),
                }
            }
            op => out.make(op, args),
        };
    }
    let outputs = outputs.iter().map(|o| place[o.index()]).collect();
    (out, outputs)
}

/// One sine or cosine for each angle; those that need no others first.
fn angles(graph: &Graph, needed: &[bool]) -> Vec<Id> {
    let mut depth = vec![0u32; graph.len()];
    let mut found = std::collections::BTreeMap::new();
    for (i, node) in graph.nodes().iter().enumerate().filter(|(i, _)| needed[*i]) {
        depth[i] = node.operands().iter().map(|a| depth[a.index()]).max().unwrap_or(0);
        if matches!(node.op, Op::Sin | Op::Cos) {
            depth[i] += 1;
            found.entry((depth[i], node.args[0])).or_insert(Id(i as u32));
        }
    }
    found.into_values().collect()
}

struct Lowering<'a> {
    graph: &'a Graph,
    uses: Vec<u32>,
    /// The value of each node.
    place: Vec<u32>,
    /// For a sine the cosine of the same angle, and the other way round.
    twin: Vec<u32>,
    program: Program,
}

impl Lowering<'_> {
    /// Numbers constants and inputs, and finds pairs of sine and cosine.
    fn leaves(&mut self, needed: &[bool]) {
        let nodes = self.graph.nodes();
        for i in (0..nodes.len()).filter(|&i| needed[i]) {
            if let Some(value) = self.graph.constant_of(Id(i as u32)) {
                self.place[i] = self.program.constants.len() as u32;
                self.program.constants.push(value);
            }
        }
        let first = self.program.constants.len() as u32;
        let mut angles = std::collections::BTreeMap::new();
        for i in (0..nodes.len()).filter(|&i| needed[i]) {
            match nodes[i].op {
                Op::Input => self.place[i] = first + nodes[i].args[0].0,
                Op::Sin | Op::Cos => {
                    if let Some(other) = angles.insert(nodes[i].args[0], i) {
                        (self.twin[i], self.twin[other]) = (other as u32, i as u32);
                    }
                }
                _ => {}
            }
        }
        self.program.values = self.program.constants.len() + self.program.inputs;
    }

    /// Which products have no value of their own, because the sum that uses them computes them.
    fn fused(&self, needed: &[bool]) -> Vec<bool> {
        let mut fused = vec![false; needed.len()];
        for i in (0..needed.len()).filter(|&i| needed[i]) {
            if matches!(self.form(Id(i as u32)).0, Code::MulAdd | Code::MulSub | Code::SubMul) {
                let [a, b, _] = self.graph.nodes()[i].args;
                let product = if self.product(b).is_some() { b } else { a };
                fused[product.index()] = true;
            }
        }
        fused
    }

    /// The factors of a product that nothing else uses.
    fn product(&self, id: Id) -> Option<(Id, Id)> {
        let node = self.graph.node(id);
        (node.op == Op::Mul && self.uses[id.index()] == 1).then_some((node.args[0], node.args[1]))
    }

    /// Code and operands of a node.
    fn form(&self, id: Id) -> (Code, [Id; 3]) {
        let node = self.graph.node(id);
        let [a, b, _] = node.args;
        match node.op {
            Op::Sin | Op::Cos => (Code::SinCos, node.args),
            Op::Add => match (self.product(b), self.product(a)) {
                (Some((x, y)), _) => (Code::MulAdd, [x, y, a]),
                (_, Some((x, y))) => (Code::MulAdd, [x, y, b]),
                _ => (Code::Plain(Op::Add), node.args),
            },
            Op::Sub => match (self.product(b), self.product(a)) {
                (Some((x, y)), _) => (Code::SubMul, [x, y, a]),
                (_, Some((x, y))) => (Code::MulSub, [x, y, b]),
                _ => (Code::Plain(Op::Sub), node.args),
            },
            op => (Code::Plain(op), node.args),
        }
    }

    /// Emits what a node needs, and the node.
    fn pull(&mut self, root: Id) {
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.place[id.index()] != NONE {
                continue;
            }
            let (code, args) = self.form(id);
            let operands = &args[..code.arity()];
            if !ready {
                stack.push((id, true));
                stack.extend(operands.iter().rev().map(|&a| (a, false)));
                continue;
            }
            let mut values = [0; 3];
            values.iter_mut().zip(operands).for_each(|(v, a)| *v = self.place[a.index()]);
            if let Code::Plain(Op::Known) = code {
                values[0] = self.graph.node(id).args[0].0;
            }
            let to = self.program.values as u32;
            self.program.instructions.push(Instruction { code, to, args: values });
            if code == Code::SinCos {
                let is_sine = self.graph.node(id).op == Op::Sin;
                let twin = self.twin[id.index()];
                self.place[id.index()] = if is_sine { to } else { to + 1 };
                if twin != NONE {
                    self.place[twin as usize] = if is_sine { to + 1 } else { to };
                }
                self.program.values += 2;
            } else {
                self.place[id.index()] = to;
                self.program.values += 1;
            }
        }
    }
}
