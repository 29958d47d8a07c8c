//! The nonlinear program of a transcribed problem: unknowns with names and times, kernels, goals.

use crate::error::ControlError;
use crate::kernel::{Counts, Kernel};
use dalembert_graph::store::Store;
use dalembert_optimise::{Bound, Nlp, Size};
use std::ops::Range;

/// What can be chosen of a transcription.
#[derive(Clone, Debug)]
pub struct Options {
    /// How often each kernel is expected to be evaluated; decides whether machine code pays.
    pub evaluations: u64,
    /// Where machine code is kept between runs.
    pub store: Option<Store>,
    /// Makes every goal an unknown y with a row y − J(x) = 0, and the objective zero, for fronts of several goals.
    pub goal_variables: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { evaluations: 100, store: None, goal_variables: false }
    }
}

/// When something is: in which phase, and at which part of its duration.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct When {
    pub phase: usize,
    pub part: f64,
}

/// An unknown.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// A name of [`Program::labels`].
    pub label: u32,
    pub when: Option<When>,
    pub bound: Bound,
    pub start: f64,
}

/// A constraint.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub label: u32,
    pub when: Option<When>,
    pub bound: Bound,
}

/// The duration of a phase: a number, or an unknown.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Duration {
    Fixed(f64),
    Unknown(usize),
}

/// A transcribed problem. Copies share what was compiled.
#[derive(Clone)]
pub struct Program {
    pub(crate) variables: Vec<Variable>,
    pub(crate) rows: Vec<Row>,
    pub(crate) labels: Vec<String>,
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) constants: Vec<f64>,
    pub(crate) durations: Vec<Duration>,
    /// The unknowns that are static parameters.
    pub(crate) statics: Range<usize>,
    /// Phases without multipliers, and the momenta at both ends of their intervals: rows are numbered by node and velocity.
    pub(crate) momenta: Vec<(usize, Kernel)>,
    pub(crate) start_time: f64,
    /// The unknowns that are goals, and their names.
    pub(crate) goals: Vec<(String, Option<usize>)>,
    /// The last point, for times in names.
    last: Vec<f64>,
    values: Cache,
    slopes: Cache,
    gradient: Vec<f64>,
}

/// What was computed last, and where.
#[derive(Clone, Default)]
struct Cache {
    x: Vec<f64>,
    known: bool,
    objective: f64,
    out: Vec<f64>,
}

impl Cache {
    /// Whether the point is the one known; otherwise it becomes that.
    fn hit(&mut self, x: &[f64]) -> bool {
        if self.known && self.x == x {
            return true;
        }
        self.x.clear();
        self.x.extend_from_slice(x);
        self.known = true;
        false
    }
}

impl Program {
    pub(crate) fn empty(start_time: f64) -> Self {
        Self {
            variables: Vec::new(),
            rows: Vec::new(),
            labels: Vec::new(),
            kernels: Vec::new(),
            constants: Vec::new(),
            durations: Vec::new(),
            statics: 0..0,
            momenta: Vec::new(),
            start_time,
            goals: Vec::new(),
            last: Vec::new(),
            values: Cache::default(),
            slopes: Cache::default(),
            gradient: Vec::new(),
        }
    }

    /// The number of a name; names are stored once.
    pub(crate) fn label(&mut self, name: &str) -> u32 {
        match self.labels.iter().rposition(|own| own == name) {
            Some(at) => at as u32,
            None => {
                self.labels.push(name.to_owned());
                self.labels.len() as u32 - 1
            }
        }
    }

    pub(crate) fn add_variable(&mut self, label: u32, when: Option<When>, bound: Bound, start: f64) -> usize {
        self.variables.push(Variable { label, when, bound, start });
        self.variables.len() - 1
    }

    pub(crate) fn add_row(&mut self, label: u32, when: Option<When>, bound: Bound) -> u32 {
        self.rows.push(Row { label, when, bound });
        self.rows.len() as u32 - 1
    }

    /// Differentiates and compiles all kernels.
    pub(crate) fn finish(&mut self, options: &Options) -> Result<(), ControlError> {
        for kernel in &mut self.kernels {
            kernel.make(options.evaluations, options.store.as_ref())?;
        }
        for (_, kernel) in &mut self.momenta {
            kernel.make(0, None)?;
        }
        self.kernels.retain(|kernel| kernel.instances() > 0);
        self.last = self.variables.iter().map(|v| v.start).collect();
        let mut pattern = Vec::new();
        self.kernels.iter().for_each(|kernel| kernel.slope_pattern(&mut pattern));
        self.values.out = vec![0.0; self.rows.len()];
        self.slopes.out = vec![0.0; pattern.len()];
        self.gradient = vec![0.0; self.variables.len()];
        Ok(())
    }

    /// Lets goal variables begin at the values of the goals.
    pub(crate) fn begin_goals(&mut self) {
        let x: Vec<f64> = self.variables.iter().map(|v| v.start).collect();
        if self.goals.iter().all(|(_, at)| at.is_none()) {
            return;
        }
        self.evaluate(&x);
        // The rows of goals come first: y − J.
        for (row, (_, at)) in self.goals.iter().enumerate() {
            if let Some(at) = at {
                self.variables[*at].start -= self.values.out[row];
            }
        }
        self.values.known = false;
    }

    /// The kernels: name and sizes.
    pub fn counts(&self) -> Vec<(String, Counts)> {
        self.kernels.iter().map(|kernel| (kernel.name.clone(), kernel.counts())).collect()
    }

    /// The names of the goals and, with [`Options::goal_variables`], the unknowns that hold them.
    pub fn goals(&self) -> &[(String, Option<usize>)] {
        &self.goals
    }

    /// The durations of the phases at a point.
    pub fn durations(&self, x: &[f64]) -> Vec<f64> {
        let value = |d: &Duration| match d {
            Duration::Fixed(value) => *value,
            Duration::Unknown(at) => x.get(*at).copied().unwrap_or(f64::NAN),
        };
        self.durations.iter().map(value).collect()
    }

    /// The time of an instant at a point.
    pub(crate) fn time(&self, x: &[f64], when: When) -> f64 {
        let durations = self.durations(x);
        self.start_time + durations[..when.phase].iter().sum::<f64>() + when.part * durations[when.phase]
    }

    /// Changes the bound of an unknown.
    pub fn set_bound(&mut self, variable: usize, bound: Bound) {
        self.variables[variable].bound = bound;
    }

    /// Changes where a solve begins.
    pub fn set_start(&mut self, x: &[f64]) {
        self.variables.iter_mut().zip(x).for_each(|(variable, &x)| variable.start = x);
    }

    fn named(&self, label: u32, when: Option<When>) -> String {
        let name = &self.labels[label as usize];
        match when {
            None => name.clone(),
            Some(when) => format!("{name} at {:.4} s", self.time(&self.last, when)),
        }
    }

    /// The goal that has no finite value at a point, or no finite slope, with its time; goals are unknowns.
    pub(crate) fn goal_without_value(&mut self, x: &[f64], slope: bool) -> Option<String> {
        self.last.copy_from_slice(x);
        let goals = self.goals.len() as u32;
        let found = self.kernels.iter_mut().find_map(|kernel| {
            let (instance, row) = kernel.fault(x, &self.constants, goals, slope)?;
            Some((kernel.inputs_of(instance).to_vec(), row))
        });
        let (inputs, row) = found?;
        let times: Vec<f64> = inputs
            .iter()
            .filter_map(|&i| self.variables.get(i as usize)?.when)
            .map(|when| self.time(x, when))
            .collect();
        let (low, high) = times.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &t| (a.min(t), b.max(t)));
        let name = &self.goals[row as usize].0;
        Some(match () {
            () if times.is_empty() => format!("goal `{name}`"),
            () if low == high => format!("goal `{name}` at {low:.4} s"),
            () => format!("goal `{name}` between {low:.4} s and {high:.4} s"),
        })
    }

    fn evaluate(&mut self, x: &[f64]) {
        if self.values.hit(x) {
            return;
        }
        self.last.copy_from_slice(x);
        self.values.out.fill(0.0);
        let rows = &mut self.values.out;
        self.values.objective = self.kernels.iter_mut().map(|kernel| kernel.values(x, &self.constants, rows)).sum();
    }

    fn differentiate(&mut self, x: &[f64]) {
        if self.slopes.hit(x) {
            return;
        }
        self.gradient.fill(0.0);
        let mut out = self.slopes.out.as_mut_slice();
        for kernel in &mut self.kernels {
            let count = kernel.slopes(x, &self.constants, &mut self.gradient, out);
            out = &mut out[count..];
        }
    }
}

impl Nlp for Program {
    fn size(&self) -> Size {
        Size { variables: self.variables.len(), constraints: self.rows.len() }
    }
    fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
        variables.iter_mut().zip(&self.variables).for_each(|(to, from)| *to = from.bound);
        constraints.iter_mut().zip(&self.rows).for_each(|(to, from)| *to = from.bound);
    }
    fn start(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.variables).for_each(|(to, from)| *to = from.start);
    }
    fn variable_name(&self, index: usize) -> String {
        let variable = &self.variables[index];
        self.named(variable.label, variable.when)
    }
    fn constraint_name(&self, index: usize) -> String {
        let row = &self.rows[index];
        self.named(row.label, row.when)
    }
    fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        self.kernels.iter().for_each(|kernel| kernel.slope_pattern(&mut out));
        out
    }
    fn hessian_pattern(&self) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        self.kernels.iter().for_each(|kernel| kernel.bend_pattern(&mut out));
        out
    }
    fn objective(&mut self, x: &[f64]) -> f64 {
        self.evaluate(x);
        self.values.objective
    }
    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        self.differentiate(x);
        out.copy_from_slice(&self.gradient);
    }
    fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
        self.evaluate(x);
        out.copy_from_slice(&self.values.out);
    }
    fn jacobian(&mut self, x: &[f64], out: &mut [f64]) {
        self.differentiate(x);
        out.copy_from_slice(&self.slopes.out);
    }
    fn hessian(&mut self, x: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]) {
        let mut rest = out;
        for kernel in &mut self.kernels {
            let count = kernel.bends(x, &self.constants, weight, multipliers, rest);
            rest = &mut rest[count..];
        }
    }
}
