//! One interval's functions, recorded once and mapped over all of them, with exact sparse derivatives.
//!
//! A kernel is a function of *groups* of numbers: unknowns of the program (a node, an interval, static parameters) and constants (where on the grid
//! it is). Its first output is a part of the objective, the others are added to rows of constraints. From the recording come three functions: values,
//! the Jacobian, and the Hessian of the Lagrangian, each evaluated for two instances at a time.

use crate::error::ControlError;
use dalembert_graph::derive::jacobian::{gradient, jacobian_where, lagrangian};
use dalembert_graph::machine::Width;
use dalembert_graph::store::Store;
use dalembert_graph::{Function, Recorded, Trace, Way, Work, record};
use std::sync::Arc;

/// A group of inputs of a kernel.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many numbers.
    pub size: usize,
    /// Whether they are unknowns; otherwise constants, by which nothing is differentiated.
    pub unknown: bool,
}

/// The inputs of a kernel: unknowns first, then constants.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    groups: Vec<Group>,
}

impl Signature {
    /// Adds a group.
    pub fn push(&mut self, size: usize, unknown: bool) {
        self.groups.push(Group { size, unknown });
    }

    fn total(&self, unknown: bool) -> usize {
        self.groups.iter().filter(|g| g.unknown == unknown).map(|g| g.size).sum()
    }

    /// The number of inputs.
    pub fn total_inputs(&self) -> usize {
        self.total(true) + self.total(false)
    }

    /// Cuts inputs into groups, in the order in which these were added.
    pub fn cut<'t, T>(&self, x: &'t [T]) -> Vec<&'t [T]> {
        let mut next = [self.total(true), 0];
        let take = |g: &Group| {
            let at = &mut next[usize::from(g.unknown)];
            let out = &x[*at..*at + g.size];
            *at += g.size;
            out
        };
        self.groups.iter().map(take).collect()
    }

    /// Joins indices of groups, given in the order in which these were added.
    fn join(&self, groups: &[Vec<u32>]) -> Vec<u32> {
        let of = |unknown: bool| {
            self.groups
                .iter()
                .zip(groups)
                .filter(move |(g, _)| g.unknown == unknown)
                .flat_map(|(_, own)| own.iter().copied())
        };
        of(true).chain(of(false)).collect()
    }
}

/// Where an instance takes its inputs from, and the rows that it adds to.
#[derive(Clone, Debug)]
struct Place {
    /// Unknowns by number; constants by their number after all unknowns.
    inputs: Vec<u32>,
    rows: Vec<u32>,
}

/// A kernel with its instances. Copies share what was compiled.
#[derive(Clone)]
pub struct Kernel {
    /// What it is, for messages.
    pub name: String,
    recorded: Recorded,
    unknowns: usize,
    places: Vec<Place>,
    made: Option<Made>,
}

/// The three functions, ready to be evaluated.
#[derive(Clone)]
struct Made {
    values: Arc<Function>,
    slopes: Arc<Function>,
    /// Output and unknown of each entry.
    slope_entries: Vec<(u32, u32)>,
    bends: Arc<Function>,
    bend_entries: Vec<(u32, u32)>,
    work: [Work; 3],
    x: Vec<f64>,
    y: Vec<f64>,
    operations: [usize; 3],
}

/// How large the functions of a kernel are.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Instances.
    pub instances: usize,
    /// Operations of values, Jacobian and Hessian for one instance.
    pub operations: [usize; 3],
    /// Entries of Jacobian and Hessian.
    pub entries: [usize; 2],
    /// Whether machine code is used.
    pub compiled: bool,
}

impl Kernel {
    /// Records a kernel: `function` gives the part of the objective and the rows.
    pub fn record(
        name: impl Into<String>,
        signature: &Signature,
        function: impl FnOnce(&[&[Trace]]) -> (Trace, Vec<Trace>),
    ) -> Result<Self, ControlError> {
        let unknowns = signature.total(true);
        let inputs = unknowns + signature.total(false);
        let name = name.into();
        let recorded = record(inputs, |x| {
            let (objective, rows) = function(&signature.cut(x));
            std::iter::once(objective).chain(rows).collect()
        });
        let recorded = recorded.map_err(|error| ControlError::Record { place: name.clone(), error })?;
        Ok(Self { name, recorded, unknowns, places: Vec::new(), made: None })
    }

    /// A kernel from a recording whose outputs are a part of the objective and rows.
    pub fn from_recorded(name: impl Into<String>, signature: &Signature, recorded: Recorded) -> Self {
        Self { name: name.into(), recorded, unknowns: signature.total(true), places: Vec::new(), made: None }
    }

    /// The number of rows that an instance adds to.
    pub fn rows(&self) -> usize {
        self.recorded.outputs.len() - 1
    }

    /// The number of instances.
    pub fn instances(&self) -> usize {
        self.places.len()
    }

    /// The rows of an instance.
    pub fn rows_of(&self, instance: usize) -> &[u32] {
        &self.places[instance].rows
    }

    /// The inputs of an instance: unknowns by number, constants after them.
    pub fn inputs_of(&self, instance: usize) -> &[u32] {
        &self.places[instance].inputs
    }

    /// The first instance that adds something without a finite value (or slope) to one of the first `rows` rows, and that row.
    pub fn fault(&mut self, x: &[f64], constants: &[f64], rows: u32, slope: bool) -> Option<(usize, u32)> {
        let Made { values, slopes, slope_entries, work, x: own, y, .. } = self.made.as_mut()?;
        let (function, work) = if slope { (&*slopes, &mut work[1]) } else { (&*values, &mut work[0]) };
        let (inputs, outputs) = (function.inputs(), function.outputs());
        for (instance, place) in self.places.iter().enumerate() {
            gather(std::slice::from_ref(place), x, constants, own);
            function.call_two(work, &own[..2 * inputs], &mut y[..2 * outputs]);
            for k in (0..outputs).filter(|&k| !y[2 * k].is_finite()) {
                // The first output is a part of the objective.
                let output = if slope { slope_entries[k].0 as usize } else { k };
                if let Some(&row) = output.checked_sub(1).and_then(|row| place.rows.get(row)).filter(|&&row| row < rows)
                {
                    return Some((instance, row));
                }
            }
        }
        None
    }

    /// Adds an instance: numbers of unknowns (or of constants, counted after `unknowns` of the whole program) for each group.
    pub fn place(&mut self, signature: &Signature, groups: &[Vec<u32>], rows: Vec<u32>) {
        debug_assert_eq!(rows.len(), self.rows(), "{}", self.name);
        self.places.push(Place { inputs: signature.join(groups), rows });
    }

    /// Differentiates and compiles, for so many expected evaluations of each instance; with none only values are made.
    pub fn make(&mut self, evaluations: u64, store: Option<&Store>) -> Result<(), ControlError> {
        let way = Way::Automatic { evaluations: evaluations * self.places.len().div_ceil(2) as u64 };
        let none = || Recorded { outputs: Vec::new(), ..self.recorded.clone() };
        let (mut slopes, mut slope_entries, mut bends, mut bend_entries) = (none(), Vec::new(), none(), Vec::new());
        if evaluations > 0 {
            let unknown = |_: u32, column: u32| (column as usize) < self.unknowns;
            let mut slope = gradient(&lagrangian(&self.recorded));
            slope.outputs.truncate(self.unknowns);
            let lower = |row: u32, column: u32| column <= row;
            let [first, second] = [jacobian_where(&self.recorded, unknown), jacobian_where(&slope, lower)];
            (slopes, slope_entries) = (first.function, first.pattern.entries);
            (bends, bend_entries) = (second.function, second.pattern.entries);
        }
        let count = |f: &Recorded| f.graph.operations(&f.outputs);
        let operations = [count(&self.recorded), count(&slopes), count(&bends)];
        let values = Arc::new(Function::new_for(&self.recorded, way, &[Width::Two], store)?);
        let slopes = Arc::new(Function::new_for(&slopes, way, &[Width::Two], store)?);
        let bends = Arc::new(Function::new_for(&bends, way, &[Width::Two], store)?);
        let functions = [&values, &slopes, &bends];
        let (most_in, most_out) = functions.iter().fold((0, 0), |(a, b), f| (a.max(f.inputs()), b.max(f.outputs())));
        let work = [values.work(), slopes.work(), bends.work()];
        let (x, y) = (vec![0.0; 2 * most_in], vec![0.0; 2 * most_out]);
        self.made = Some(Made { values, slopes, slope_entries, bends, bend_entries, work, x, y, operations });
        Ok(())
    }

    /// How large the functions are.
    pub fn counts(&self) -> Counts {
        let (instances, Some(made)) = (self.places.len(), &self.made) else {
            return Counts { instances: self.places.len(), operations: [0; 3], entries: [0; 2], compiled: false };
        };
        Counts {
            instances,
            operations: made.operations,
            entries: [made.slope_entries.len(), made.bend_entries.len()],
            compiled: made.bends.is_compiled(),
        }
    }

    /// Adds the values of all instances to `rows`, and gives the part of the objective.
    pub fn values(&mut self, x: &[f64], constants: &[f64], rows: &mut [f64]) -> f64 {
        let Some(Made { values, work, x: own, y, .. }) = &mut self.made else { return f64::NAN };
        let (inputs, mut objective) = (values.inputs(), 0.0);
        for pair in self.places.chunks(2) {
            gather(pair, x, constants, own);
            values.call_two(&mut work[0], &own[..2 * inputs], &mut y[..2 * values.outputs()]);
            for (j, place) in pair.iter().enumerate() {
                objective += y[j];
                for (k, &row) in place.rows.iter().enumerate() {
                    rows[row as usize] += y[2 * (k + 1) + j];
                }
            }
        }
        objective
    }

    /// The places of the entries of the Jacobian, in the order in which [`Kernel::slopes`] writes them.
    pub fn slope_pattern(&self, out: &mut Vec<(usize, usize)>) {
        let Some(made) = &self.made else { return };
        for place in &self.places {
            for &(row, column) in made.slope_entries.iter().filter(|(row, _)| *row > 0) {
                out.push((place.rows[row as usize - 1] as usize, place.inputs[column as usize] as usize));
            }
        }
    }

    /// Writes the entries of the Jacobian from the start of `out`, gives how many, and adds the gradient of the objective.
    pub fn slopes(&mut self, x: &[f64], constants: &[f64], gradient: &mut [f64], out: &mut [f64]) -> usize {
        let Some(Made { slopes, slope_entries, work, x: own, y, .. }) = &mut self.made else { return 0 };
        let (inputs, outputs) = (slopes.inputs(), slopes.outputs());
        // Entries of the objective come first.
        let first = slope_entries.iter().take_while(|(row, _)| *row == 0).count();
        let each = outputs - first;
        for (number, pair) in self.places.chunks(2).enumerate() {
            gather(pair, x, constants, own);
            slopes.call_two(&mut work[1], &own[..2 * inputs], &mut y[..2 * outputs]);
            for (j, place) in pair.iter().enumerate() {
                for (k, (_, column)) in slope_entries[..first].iter().enumerate() {
                    gradient[place.inputs[*column as usize] as usize] += y[2 * k + j];
                }
                let out = &mut out[(2 * number + j) * each..][..each];
                for (k, out) in out.iter_mut().enumerate() {
                    *out = y[2 * (first + k) + j];
                }
            }
        }
        each * self.places.len()
    }

    /// The places of the entries of the Hessian, in the order in which [`Kernel::bends`] writes them.
    pub fn bend_pattern(&self, out: &mut Vec<(usize, usize)>) {
        let Some(made) = &self.made else { return };
        for place in &self.places {
            for &(a, b) in &made.bend_entries {
                let (a, b) = (place.inputs[a as usize] as usize, place.inputs[b as usize] as usize);
                out.push((a.max(b), a.min(b)));
            }
        }
    }

    /// Writes the entries of the Hessian of the Lagrangian from the start of `out`, and gives how many.
    pub fn bends(&mut self, x: &[f64], constants: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]) -> usize {
        let Some(Made { bends, work, x: own, y, .. }) = &mut self.made else { return 0 };
        let (inputs, outputs) = (bends.inputs(), bends.outputs());
        if outputs == 0 {
            return 0;
        }
        let plain = self.recorded.inputs;
        for (number, pair) in self.places.chunks(2).enumerate() {
            gather(pair, x, constants, own);
            (own[2 * plain], own[2 * plain + 1]) = (weight, weight);
            for j in 0..2 {
                let place = pair.get(j).unwrap_or(&pair[0]);
                for (k, &row) in place.rows.iter().enumerate() {
                    own[2 * (plain + 1 + k) + j] = multipliers[row as usize];
                }
            }
            bends.call_two(&mut work[2], &own[..2 * inputs], &mut y[..2 * outputs]);
            for j in 0..pair.len() {
                let out = &mut out[(2 * number + j) * outputs..][..outputs];
                for (k, out) in out.iter_mut().enumerate() {
                    *out = y[2 * k + j];
                }
            }
        }
        outputs * self.places.len()
    }
}

/// Interleaves the inputs of two instances; an odd one at the end is taken twice.
fn gather(pair: &[Place], x: &[f64], constants: &[f64], own: &mut [f64]) {
    let value = |i: u32| {
        let i = i as usize;
        if i < x.len() { x[i] } else { constants[i - x.len()] }
    };
    let (first, second) = (&pair[0], pair.last().unwrap_or(&pair[0]));
    for (k, (&a, &b)) in first.inputs.iter().zip(&second.inputs).enumerate() {
        (own[2 * k], own[2 * k + 1]) = (value(a), value(b));
    }
}
