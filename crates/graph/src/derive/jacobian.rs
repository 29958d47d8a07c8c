//! Jacobians, and Hessians of Lagrangians, with only the entries that are not zero.

use super::colour::{Colours, Pattern};
use super::eliminate::{self, Order, Sweep};
use super::forward::{self, Tangents};
use super::{hazardous, reverse};
use crate::program::Program;
use dalembert_methods::trace::{Graph, Id, Op, Recorded};

/// Functions of more nodes are differentiated by the first route that fits, not by all of them.
const MOST_NODES: usize = 30_000;

/// The route by which a Jacobian is made.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// Column by column.
    Forward,
    /// Row by row.
    Reverse,
    /// By elimination.
    Eliminate(Order),
}

/// The orders of elimination that are tried. Of the functions of all built-in scenes and studies each gives the shortest derivatives of some;
/// others that were tried give none that are shorter by more than a hundredth.
pub const ORDERS: [Order; 6] = [
    Order::Least,
    Order::Sweep(-1, Sweep::On),
    Order::Sweep(-1, Sweep::Back),
    Order::Sweep(-1, Sweep::Out),
    Order::Sweep(0, Sweep::Back),
    Order::Sweep(0, Sweep::Out),
];

/// A function for the entries of a sparse matrix.
#[derive(Clone, Debug)]
pub struct Sparse {
    /// Where the entries stand.
    pub pattern: Pattern,
    /// The entries as outputs, in the order of the pattern.
    pub function: Recorded,
    /// The route that made it.
    pub route: Route,
}

/// J · v once, and the colours of v with which all entries are found.
#[derive(Clone, Debug)]
pub struct Coloured {
    /// Where the entries stand.
    pub pattern: Pattern,
    /// The columns that are found together.
    pub colours: Colours,
    /// J · v as outputs; the inputs are those of the function, then v.
    pub function: Recorded,
}

/// Where the Jacobian may have entries, without making it.
pub fn pattern(f: &Recorded) -> Pattern {
    let needed = f.graph.needed(&f.outputs);
    let mut all: Vec<Vec<u32>> = vec![Vec::new(); needed.len()];
    for (i, node) in f.graph.nodes().iter().enumerate().filter(|(i, _)| needed[*i]) {
        if node.op == Op::Input {
            all[i] = vec![node.args[0].0];
        } else if !node.op.is_mask() && !matches!(node.op, Op::Round | Op::Floor) {
            let mut own: Vec<u32> = node.operands().iter().flat_map(|a| all[a.index()].iter().copied()).collect();
            own.sort_unstable();
            own.dedup();
            all[i] = own;
        }
    }
    let rows = f.outputs.iter().enumerate();
    let entries = rows.flat_map(|(row, id)| all[id.index()].iter().map(move |&column| (row as u32, column))).collect();
    Pattern { rows: f.outputs.len(), columns: f.inputs, entries }
}

/// The Jacobian by a given route.
pub fn jacobian_by(f: &Recorded, route: Route) -> Sparse {
    let mut g = f.graph.clone();
    let rows = match route {
        Route::Forward => {
            let mut seeds = |g: &mut Graph, i: usize| vec![(i as u32, g.constant(1.0))];
            forward::tangents(&mut g, &f.outputs, &mut seeds)
        }
        Route::Reverse => {
            let rows = f.outputs.iter().map(|&output| {
                let row = reverse::gradient(&mut g, output, f.inputs);
                let entries = row.into_iter().enumerate().filter(|(_, e)| g.constant_of(*e) != Some(0.0));
                entries.map(|(i, e)| (i as u32, e)).collect()
            });
            rows.collect::<Vec<Tangents>>()
        }
        Route::Eliminate(order) => eliminate::rows(&mut g, &f.outputs, order),
    };
    let list = rows.iter().enumerate().flat_map(|(row, t)| t.iter().map(move |&(c, e)| ((row as u32, c), e)));
    let (entries, outputs): (Vec<(u32, u32)>, Vec<Id>) = list.unzip();
    let (graph, outputs) = g.only(&outputs);
    let pattern = Pattern { rows: f.outputs.len(), columns: f.inputs, entries };
    Sparse { pattern, function: Recorded { graph, inputs: f.inputs, outputs }, route }
}

/// Whether a choice has a root, a division or the like before it, so that elimination might multiply zero by infinity.
fn guarded(f: &Recorded) -> bool {
    let needed = f.graph.needed(&f.outputs);
    let mut hazard = vec![false; needed.len()];
    for (i, node) in f.graph.nodes().iter().enumerate().filter(|(i, _)| needed[*i]) {
        hazard[i] = hazardous(node.op) || node.operands().iter().any(|a| hazard[a.index()]);
        if node.op == Op::Select && hazard[i] {
            return true;
        }
    }
    false
}

/// For functions of more operations the order of least work takes long to plan, and is seldom the best.
const FEW_OPERATIONS: usize = 500;

/// The routes that are tried for a function.
fn routes(f: &Recorded) -> Vec<Route> {
    let operations = f.graph.operations(&f.outputs);
    if operations > MOST_NODES {
        return vec![if f.outputs.len() * 4 < f.inputs { Route::Reverse } else { Route::Forward }];
    }
    let mut routes = vec![Route::Forward, Route::Reverse];
    if !guarded(f) {
        let fits = |order: &Order| operations <= FEW_OPERATIONS || *order != Order::Least;
        routes.extend(ORDERS.into_iter().filter(fits).map(Route::Eliminate));
    }
    routes
}

/// The Jacobian by the route of fewest instructions.
pub fn jacobian(f: &Recorded) -> Sparse {
    jacobian_where(f, |_, _| true)
}

/// The entries of the Jacobian that are wanted, by row and column, by the route that needs fewest instructions for them.
pub fn jacobian_where(f: &Recorded, wanted: impl Fn(u32, u32) -> bool) -> Sparse {
    let made = routes(f).into_iter().map(|route| jacobian_by(f, route).kept(&wanted));
    let work = |s: &Sparse| Program::new(&s.function).instructions.len();
    made.min_by_key(work).unwrap_or_else(|| jacobian_by(f, Route::Forward).kept(&wanted))
}

impl Sparse {
    /// The entries that are wanted, by row and column.
    pub fn kept(&self, wanted: impl Fn(u32, u32) -> bool) -> Self {
        let pairs = self.pattern.entries.iter().zip(&self.function.outputs);
        let (entries, outputs): (Vec<_>, Vec<_>) =
            pairs.filter(|((row, column), _)| wanted(*row, *column)).map(|(e, o)| (*e, *o)).unzip();
        let (graph, outputs) = self.function.graph.only(&outputs);
        let function = Recorded { graph, inputs: self.function.inputs, outputs };
        Self { pattern: Pattern { entries, ..self.pattern.clone() }, function, route: self.route }
    }
}

/// J · v and the colours of the columns: for functions so large that separate entries would be too many.
pub fn coloured(f: &Recorded) -> Coloured {
    let pattern = pattern(f);
    let mut g = f.graph.clone();
    let direction: Vec<Id> = (0..f.inputs).map(|i| g.input(f.inputs + i)).collect();
    let outputs = forward::directional(&mut g, &f.outputs, &direction);
    let (graph, outputs) = g.only(&outputs);
    Coloured { colours: pattern.colours(), pattern, function: Recorded { graph, inputs: 2 * f.inputs, outputs } }
}

/// The Lagrangian σ f + λᵀ g of a function whose first output is f and the others g; inputs are those of the function, then σ, then λ.
pub fn lagrangian(f: &Recorded) -> Recorded {
    let mut g = f.graph.clone();
    let mut sum = g.constant(0.0);
    for (k, &output) in f.outputs.iter().enumerate() {
        let multiplier = g.input(f.inputs + k);
        let term = g.mul(multiplier, output);
        sum = g.add(sum, term);
    }
    let (graph, outputs) = g.only(&[sum]);
    Recorded { graph, inputs: f.inputs + f.outputs.len(), outputs }
}

/// The gradient of the first output, with all entries.
pub fn gradient(f: &Recorded) -> Recorded {
    let mut g = f.graph.clone();
    let outputs = f.outputs.first().map_or(Vec::new(), |&output| reverse::gradient(&mut g, output, f.inputs));
    let (graph, outputs) = g.only(&outputs);
    Recorded { graph, inputs: f.inputs, outputs }
}

/// The lower half of the Hessian of the Lagrangian σ f + λᵀ g in the inputs of the function; its own inputs are those of the
/// function, then σ, then λ.
pub fn lagrangian_hessian(f: &Recorded) -> Sparse {
    hessian(&lagrangian(f), f.inputs)
}

/// The lower half of the Hessian of the first output in the first `variables` inputs.
pub fn hessian(f: &Recorded, variables: usize) -> Sparse {
    let mut slope = gradient(f);
    slope.outputs.truncate(variables);
    let lower = jacobian_where(&slope, |row, column| column <= row);
    Sparse { pattern: Pattern { columns: variables, ..lower.pattern }, ..lower }
}
