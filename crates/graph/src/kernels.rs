//! A large function as few kernels: parts that read the same are found and mapped.
//!
//! A large function is a sum of parts, each recorded by itself ([`Part`]). Parts whose recordings differ in constants alone are one kernel with a table of instances:
//!
//! ```text
//! parts → forms (operations, constants as blanks) → kernels: x of the part and the constants that differ as inputs → instances
//! ```
//!
//! Every use of a constant is a blank. A blank that is filled with the same number in all parts becomes a constant of the kernel again; blanks that are filled alike
//! become one input. Exponents are no blanks: derivatives of powers by their exponent are another function. A part that reads like no other is a kernel of one
//! instance, so nothing is ever grouped wrongly; where simplification has met a special number (x · 1, x + 0), parts read differently and there are more kernels.
//!
//! Kernels depend on the kinds of parts, tables grow with their number. So do the derivatives ([`Kernels::jacobian`]), which are kernels again.

use crate::derive::colour::Pattern;
use crate::function::Function;
use crate::map::{Instance, MapError, MapWork, Mapped, MappedJacobian, Sizes};
use dalembert_methods::trace::{Graph, Id, Op, Recorded};
use std::collections::{BTreeMap, HashMap};

#[cfg(feature = "compile")]
use crate::function::Way;
#[cfg(feature = "compile")]
use crate::machine::{CompileError, Width};
#[cfg(feature = "compile")]
use crate::store::Store;

/// A function recorded by itself, and where it stands in a large one.
#[derive(Clone, Debug)]
pub struct Part {
    /// The function.
    pub function: Recorded,
    /// For each of its inputs the place in the long vector, and for each output the place it is added to.
    pub place: Instance,
}

/// Parts that read the same.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What they do; its inputs are variables, then the constants of the instance.
    pub function: Recorded,
    /// How many of its inputs are variables.
    pub variables: usize,
    /// The parts, by their numbers.
    pub members: Vec<usize>,
    /// Where each takes its inputs from, constants after all variables, and where its outputs go.
    pub instances: Vec<Instance>,
}

impl Kernel {
    /// The number of operations.
    pub fn operations(&self) -> usize {
        self.function.graph.operations(&self.function.outputs)
    }
}

/// A large function: kernels with their instances.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// The kernels, in the order of their first parts.
    pub kernels: Vec<Kernel>,
    /// The constants of all instances.
    pub constants: Vec<f64>,
    /// The sizes of the function, without those constants.
    pub sizes: Sizes,
}

/// How large a function is as kernels.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Kernels.
    pub kernels: usize,
    /// Operations of all kernels together, each counted once: what is compiled.
    pub operations: usize,
    /// Instances of all kernels.
    pub instances: usize,
    /// Places and constants in the tables of the instances.
    pub entries: usize,
    /// Operations of all instances: what is computed.
    pub computed: usize,
}

/// A recording with blanks for its constants.
struct Form {
    /// All that the operations are, in a row.
    key: Vec<u64>,
    /// What fills the blanks.
    constants: Vec<f64>,
    graph: Graph,
    outputs: Vec<Id>,
}

/// The mark of a blank in a key; nodes are numbered by 32 bits.
const BLANK: u64 = u64::MAX;

impl Form {
    fn of(f: &Recorded) -> Self {
        let (graph, outputs) = multiplied(&f.graph, &f.outputs);
        let mut form = Self { key: Vec::new(), constants: Vec::new(), graph, outputs };
        let mut number = vec![BLANK; form.graph.len()];
        let mut next = 0;
        for (i, node) in form.graph.nodes().iter().enumerate().filter(|(_, node)| node.op != Op::Constant) {
            (number[i], next) = (next, next + 1);
            form.key.push(node.op as u64);
            if matches!(node.op, Op::Input | Op::Known) {
                form.key.push(u64::from(node.args[0].0));
            }
            for &operand in uses(node.op, &node.args) {
                form.key.push(number[operand.index()]);
                form.constants.extend(form.graph.constant_of(operand));
            }
            if node.op == Op::Power {
                let exponent = form.graph.constant_of(node.args[1]);
                form.key.push(u64::from(exponent.is_some()));
                form.key.push(exponent.map_or(number[node.args[1].index()], f64::to_bits));
            }
        }
        form.key.push(BLANK - 1);
        for output in &form.outputs {
            form.key.push(number[output.index()]);
            form.constants.extend(form.graph.constant_of(*output));
        }
        form
    }

    /// The same with these identities for the blanks and for the variables.
    fn filled(&self, out: &mut Graph, blanks: &[Id], variables: &[Id]) -> Vec<Id> {
        let mut next = blanks.iter().copied();
        let mut place = vec![Id(0); self.graph.len()];
        let mut take = |graph: &Graph, id: Id, place: &[Id]| match graph.constant_of(id) {
            Some(_) => next.next().unwrap_or(id),
            None => place[id.index()],
        };
        for (i, node) in self.graph.nodes().iter().enumerate().filter(|(_, node)| node.op != Op::Constant) {
            place[i] = match node.op {
                Op::Input => variables[node.args[0].index()],
                op => {
                    let mut args = node.args;
                    let blanks = uses(op, &node.args).len();
                    args[..blanks].iter_mut().for_each(|id| *id = take(&self.graph, *id, &place));
                    if op == Op::Power {
                        args[1] = match self.graph.constant_of(args[1]) {
                            Some(exponent) => out.constant(exponent),
                            None => place[args[1].index()],
                        };
                    }
                    out.make(op, args)
                }
            };
        }
        self.outputs.iter().map(|&id| take(&self.graph, id, &place)).collect()
    }
}

/// The operands in which constants are blanks.
fn uses(op: Op, args: &[Id; 3]) -> &[Id] {
    &args[..if op == Op::Power { 1 } else { op.arity() }]
}

/// The graph of the outputs alone, with divisions by constants as products: then a constant that is a power of two is like any other.
fn multiplied(graph: &Graph, outputs: &[Id]) -> (Graph, Vec<Id>) {
    let needed = graph.needed(outputs);
    let mut out = Graph::default();
    let mut place = vec![Id(0); graph.len()];
    for (i, node) in graph.nodes().iter().enumerate().filter(|(i, _)| needed[*i]) {
        let mut args = node.args;
        args[..node.op.arity()].iter_mut().for_each(|id| *id = place[id.index()]);
        let divisor = if node.op == Op::Div { out.constant_of(args[1]) } else { None };
        place[i] = match divisor.map(f64::recip).filter(|reciprocal| reciprocal.is_normal()) {
            Some(reciprocal) => {
                let factor = out.constant(reciprocal);
                out.mul(factor, args[0])
            }
            None => out.make(node.op, args),
        };
    }
    let outputs: Vec<Id> = outputs.iter().map(|o| place[o.index()]).collect();
    // What products have made superfluous is left out.
    out.only(&outputs)
}

impl Kernels {
    /// The kernels of these parts.
    pub fn group(parts: &[Part], sizes: Sizes) -> Result<Self, MapError> {
        for (number, part) in parts.iter().enumerate() {
            part.place.check(number, part.function.inputs, part.function.outputs.len(), sizes)?;
        }
        let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut groups: Vec<(Form, Vec<usize>, Vec<Vec<f64>>)> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let mut form = Form::of(&part.function);
            let constants = std::mem::take(&mut form.constants);
            let group = *known.entry(form.key.clone()).or_insert(groups.len());
            if group == groups.len() {
                groups.push((form, Vec::new(), Vec::new()));
            }
            groups[group].1.push(number);
            groups[group].2.push(constants);
        }
        let mut out = Self { kernels: Vec::new(), constants: Vec::new(), sizes };
        for (form, members, constants) in groups {
            out.add(&form, members, &constants, parts);
        }
        Ok(out)
    }

    /// Adds the kernel of some parts, unless they give nothing; `constants` fill the blanks of each.
    fn add(&mut self, form: &Form, members: Vec<usize>, constants: &[Vec<f64>], parts: &[Part]) {
        let used: Vec<u32> = {
            let inputs = form.graph.nodes().iter().filter(|node| node.op == Op::Input).map(|node| node.args[0].0);
            let mut used: Vec<u32> = inputs.collect();
            used.sort_unstable();
            used
        };
        let mut graph = Graph::default();
        let mut variables = vec![Id(0); used.last().map_or(0, |&last| last as usize + 1)];
        used.iter().enumerate().for_each(|(k, &input)| variables[input as usize] = graph.input(k));
        // The columns of numbers that differ, each once.
        let mut columns: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
        let mut differing: Vec<usize> = Vec::new();
        let blanks: Vec<Id> = (0..constants[0].len())
            .map(|k| {
                let column: Vec<u64> = constants.iter().map(|own| own[k].to_bits()).collect();
                if column.iter().all(|&bits| bits == column[0]) {
                    return graph.constant(constants[0][k]);
                }
                let number = *columns.entry(column).or_insert_with(|| {
                    differing.push(k);
                    differing.len() - 1
                });
                graph.input(used.len() + number)
            })
            .collect();
        let outputs = form.filled(&mut graph, &blanks, &variables);
        let kept: Vec<usize> = (0..outputs.len()).filter(|&k| graph.constant_of(outputs[k]) != Some(0.0)).collect();
        if kept.is_empty() {
            return;
        }
        let outputs: Vec<Id> = kept.iter().map(|&k| outputs[k]).collect();
        let (graph, outputs) = graph.only(&outputs);
        let function = Recorded { graph, inputs: used.len() + differing.len(), outputs };
        let instances = members.iter().zip(constants).map(|(&member, own)| {
            let place = &parts[member].place;
            let mut inputs: Vec<u32> = used.iter().map(|&input| place.inputs[input as usize]).collect();
            for &k in &differing {
                inputs.push((self.sizes.inputs + self.constants.len()) as u32);
                self.constants.push(own[k]);
            }
            Instance { inputs, outputs: kept.iter().map(|&k| place.outputs[k]).collect() }
        });
        let instances = instances.collect();
        self.kernels.push(Kernel { function, variables: used.len(), members, instances });
    }

    /// The entries of the Jacobian as kernels, and where they stand; `further` entries have a place too, for what others add.
    pub fn jacobian(&self, further: &[(u32, u32)]) -> (Self, Pattern) {
        let sizes = self.long();
        let of = |k: &Kernel| MappedJacobian::by_first(&k.function, k.variables, &k.instances, sizes);
        let slopes: Vec<MappedJacobian> = self.kernels.iter().map(of).collect();
        let mut entries: Vec<(u32, u32)> =
            slopes.iter().flat_map(|s| &s.pattern.entries).chain(further).copied().collect();
        entries.sort_unstable();
        entries.dedup();
        let pattern = Pattern { rows: self.sizes.outputs, columns: self.sizes.inputs, entries };
        let kernels = slopes.into_iter().zip(&self.kernels).filter(|(slope, _)| !slope.pattern.is_empty());
        let kernels = kernels.map(|(slope, kernel)| {
            let number = |e: &(u32, u32)| pattern.entries.binary_search(e).map_or(u32::MAX, |at| at as u32);
            let place: Vec<u32> = slope.pattern.entries.iter().map(number).collect();
            let moved = |i: Instance| Instance { outputs: i.outputs.iter().map(|&o| place[o as usize]).collect(), ..i };
            Kernel {
                function: slope.kernel.function,
                variables: kernel.variables,
                members: kernel.members.clone(),
                instances: slope.instances.into_iter().map(moved).collect(),
            }
        });
        let sizes = Sizes { inputs: self.sizes.inputs, outputs: pattern.len() };
        (Self { kernels: kernels.collect(), constants: self.constants.clone(), sizes }, pattern)
    }

    /// How large it is.
    pub fn extent(&self) -> Extent {
        let sum = |of: &dyn Fn(&Kernel) -> usize| self.kernels.iter().map(of).sum::<usize>();
        let places = |k: &Kernel| k.instances.iter().map(|i| i.inputs.len() + i.outputs.len()).sum::<usize>();
        Extent {
            kernels: self.kernels.len(),
            operations: sum(&Kernel::operations),
            instances: sum(&|k| k.instances.len()),
            entries: sum(&places) + self.constants.len(),
            computed: sum(&|k| k.operations() * k.instances.len()),
        }
    }

    /// The sizes with all constants among the inputs.
    fn long(&self) -> Sizes {
        Sizes { inputs: self.sizes.inputs + self.constants.len(), outputs: self.sizes.outputs }
    }

    /// Ready to be evaluated by the interpreter.
    pub fn interpreted(&self) -> Ready {
        self.ready(self.kernels.iter().map(|kernel| Function::interpreted(&kernel.function)))
    }

    /// Ready to be evaluated so many times: each kernel by machine code for two instances if it pays and can be had, by the interpreter otherwise.
    #[cfg(feature = "compile")]
    pub fn automatic(&self, evaluations: u64, store: Option<&Store>) -> Result<Ready, CompileError> {
        let functions = self.kernels.iter().map(|kernel| {
            let times = evaluations.saturating_mul(kernel.instances.len().div_ceil(2) as u64);
            Function::new_for(&kernel.function, Way::Automatic { evaluations: times }, &[Width::Two], store)
        });
        Ok(self.ready(functions.collect::<Result<Vec<Function>, CompileError>>()?))
    }

    fn ready(&self, functions: impl IntoIterator<Item = Function>) -> Ready {
        let maps = self.kernels.iter().zip(functions).map(|(k, f)| Mapped::within(f, &k.instances, self.long()));
        let maps: Vec<Mapped> = maps.collect();
        let work = maps.iter().map(Mapped::work).collect();
        let mut x = vec![0.0; self.sizes.inputs];
        x.extend(&self.constants);
        Ready { maps, work, x, sizes: self.sizes }
    }
}

/// Kernels made into functions, with scratch.
#[derive(Debug)]
pub struct Ready {
    maps: Vec<Mapped>,
    work: Vec<MapWork>,
    x: Vec<f64>,
    sizes: Sizes,
}

impl Ready {
    /// The outputs `y` for the inputs `x`.
    pub fn call(&mut self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        self.x[..self.sizes.inputs].copy_from_slice(x);
        for (map, work) in self.maps.iter().zip(&mut self.work) {
            map.add(work, &self.x, y);
        }
    }

    /// The kernels as functions.
    pub fn functions(&self) -> impl Iterator<Item = &Function> + '_ {
        self.maps.iter().map(Mapped::kernel)
    }

    /// The size of the machine code of all kernels, in bytes.
    pub fn code_size(&self) -> usize {
        self.functions().map(Function::code_size).sum()
    }
}
