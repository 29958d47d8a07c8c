//! Functions of a model as kernels of its elements: large models stay small.
//!
//! A model function recorded whole is as long as the model. Here its elements are recorded one by one ([`dalembert::equations::Apart`]), and those that read the same
//! become one kernel with a table of instances ([`dalembert_graph::kernels`]): a leech of 200 segments has the same few kernels as one of 20, and machine code for
//! them is made in no time. Values and sparse derivatives are sums over the instances, two at a time.
//!
//! ```
//! use dalembert::equations::Sum;
//! use dalembert::scene::{Document, Limits, Overrides, Scene};
//! use dalembert_control::elements::ModelKernels;
//!
//! let text = dalembert::scenes::find("leech-21").expect("a built-in scene").text;
//! let document = Document::from_text("leech-21", text, &Overrides::default(), &Limits::default())?;
//! let model = Scene::from_document(document)?.model;
//! let forces = ModelKernels::of(&model, &[Sum::Force]);
//! let extent = forces.kernels().extent();
//! assert!(extent.kernels < 10 && extent.instances > 150 && forces.plain().is_empty());
//!
//! let mut slopes = forces.slopes(1000, None)?;            // ∂f/∂(t, q, v, x, p), sparse
//! let mut entries = vec![0.0; slopes.pattern().len()];
//! slopes.call(&model.initial_state(), &mut entries);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Elements that cannot be recorded — adaptive quadrature, functions from outside — are evaluated as they are, with plain and with dual numbers, and
//! [`ModelKernels::plain`] tells which and why.

use dalembert::equations::{Apart, Element, Sum};
use dalembert::model::Model;
use dalembert_graph::derive::colour::Pattern;
use dalembert_graph::kernels::{Kernels, Part, Ready};
use dalembert_graph::machine::CompileError;
use dalembert_graph::map::{Instance, Sizes};
use dalembert_graph::store::Store;
use dalembert_graph::{Trace, TraceError, record};
use dalembert_methods::scalar::Dual;
use dalembert_methods::{State, System};
use std::fmt;

/// Why an element is evaluated as it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It asks a function from outside, of which no formula is known.
    Outside,
    /// It cannot be recorded.
    Trace(TraceError),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => f.write_str("it asks a function from outside, of which no formula is known"),
            Self::Trace(error) => error.fmt(f),
        }
    }
}

/// An element that is evaluated as it is.
#[derive(Clone, Debug)]
pub struct Plain {
    /// The element.
    pub element: Element,
    /// Its name.
    pub name: String,
    /// What of it.
    pub sum: Sum,
    /// Why.
    pub reason: Reason,
    place: Instance,
}

/// Functions of a model, one after the other, as kernels of its elements.
pub struct ModelKernels<'m> {
    model: &'m Model,
    kernels: Kernels,
    parts: Vec<(Element, Sum)>,
    plain: Vec<Plain>,
}

impl<'m> ModelKernels<'m> {
    /// These functions of a model, one after the other.
    pub fn of(model: &'m Model, sums: &[Sum]) -> Self {
        let inputs = inputs(model);
        let mut apart = Apart::<Trace>::new(model);
        let (mut recorded, mut parts, mut plain, mut first) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let long = |places: Vec<usize>, first: usize| places.iter().map(|place| (first + place) as u32).collect();
        for &sum in sums {
            for element in model.elements() {
                let targets = model.targets(element, sum);
                if targets.is_empty() {
                    continue;
                }
                let (sources, count) = (model.sources(element), targets.len());
                let place = Instance { inputs: long(sources, 0), outputs: long(targets, first) };
                let function = if model.asks_outside(element) {
                    Err(Reason::Outside)
                } else {
                    let read = |x: &[Trace]| {
                        let mut out = vec![Trace::default(); count];
                        apart.read(element, sum, x, &mut out);
                        out
                    };
                    record(place.inputs.len(), read).map_err(Reason::Trace)
                };
                match function {
                    Ok(function) => {
                        recorded.push(Part { function, place });
                        parts.push((element, sum));
                    }
                    Err(reason) => {
                        let name = model.element_name(element);
                        plain.push(Plain { element, name, sum, reason, place });
                    }
                }
            }
            first += model.length(sum);
        }
        let sizes = Sizes { inputs, outputs: first };
        let kernels = Kernels::group(&recorded, sizes).expect("elements give and take within their model");
        Self { model, kernels, parts, plain }
    }

    /// The kernels and their instances.
    pub fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// The element behind a part of a kernel, and what of it.
    pub fn part(&self, number: usize) -> (Element, Sum) {
        self.parts[number]
    }

    /// The elements that are evaluated as they are.
    pub fn plain(&self) -> &[Plain] {
        &self.plain
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.kernels.sizes.outputs
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, ready for so many evaluations. With a store, machine code that has been made before is taken from there.
    pub fn values(&self, evaluations: u64, store: Option<&Store>) -> Result<Values<'m>, CompileError> {
        Ok(Values {
            ready: self.kernels.automatic(evaluations, store)?,
            plain: self.plain.clone(),
            apart: Apart::new(self.model),
            x: vec![0.0; self.kernels.sizes.inputs],
            own: [Vec::new(), Vec::new()],
        })
    }

    /// The derivatives of the values by (t, q, v, x, p), ready for so many evaluations.
    pub fn slopes(&self, evaluations: u64, store: Option<&Store>) -> Result<Slopes<'m>, CompileError> {
        let (kernels, pattern) = self.derivatives();
        let number = |row: u32, column: u32| pattern.entries.binary_search(&(row, column)).unwrap_or_default();
        let entries_of = |p: &Plain| {
            let columns = p.place.inputs.iter();
            columns.flat_map(|&c| p.place.outputs.iter().map(move |&r| (r, c))).map(|(r, c)| number(r, c)).collect()
        };
        let entries = self.plain.iter().map(entries_of).collect();
        Ok(Slopes {
            ready: kernels.automatic(evaluations, store)?,
            plain: self.plain.clone(),
            entries,
            pattern,
            apart: Apart::new(self.model),
            x: vec![0.0; self.kernels.sizes.inputs],
            own: [Vec::new(), Vec::new()],
        })
    }

    /// The kernels of the derivatives, and where their entries stand: row by value, column by (t, q, v, x, p).
    pub fn derivatives(&self) -> (Kernels, Pattern) {
        let further = self.plain.iter().flat_map(|p| {
            p.place.outputs.iter().flat_map(|&row| p.place.inputs.iter().map(move |&column| (row, column)))
        });
        self.kernels.jacobian(&further.collect::<Vec<_>>())
    }
}

/// The number of numbers of a state: (t, q, v, x, p).
fn inputs(model: &Model) -> usize {
    let shape = model.shape();
    1 + shape.q + shape.v + shape.x + shape.p
}

/// Lays the numbers of a state out in a row.
fn lay_out(s: &State<f64>, x: &mut [f64]) {
    x[0] = s.t;
    let mut rest = &mut x[1..];
    for part in [&s.q, &s.v, &s.x, &s.p] {
        let (own, after) = rest.split_at_mut(part.len());
        own.copy_from_slice(part);
        rest = after;
    }
}

/// Values of functions of a model, ready to be evaluated.
pub struct Values<'m> {
    ready: Ready,
    plain: Vec<Plain>,
    apart: Apart<'m, f64>,
    x: Vec<f64>,
    own: [Vec<f64>; 2],
}

impl Values<'_> {
    /// The values at a state.
    pub fn call(&mut self, s: &State<f64>, out: &mut [f64]) {
        lay_out(s, &mut self.x);
        self.ready.call(&self.x, out);
        let [inputs, outputs] = &mut self.own;
        for plain in &self.plain {
            inputs.clear();
            inputs.extend(plain.place.inputs.iter().map(|&i| self.x[i as usize]));
            outputs.clear();
            outputs.resize(plain.place.outputs.len(), 0.0);
            self.apart.read(plain.element, plain.sum, inputs, outputs);
            plain.place.outputs.iter().zip(&*outputs).for_each(|(&place, value)| out[place as usize] += value);
        }
    }

    /// The kernels as functions.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }
}

/// Derivatives of functions of a model, ready to be evaluated.
pub struct Slopes<'m> {
    ready: Ready,
    plain: Vec<Plain>,
    /// For each plain element the entries it adds to, by columns.
    entries: Vec<Vec<usize>>,
    pattern: Pattern,
    apart: Apart<'m, Dual>,
    x: Vec<f64>,
    own: [Vec<Dual>; 2],
}

impl Slopes<'_> {
    /// Where the entries stand: row by value, column by (t, q, v, x, p).
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The entries at a state.
    pub fn call(&mut self, s: &State<f64>, out: &mut [f64]) {
        lay_out(s, &mut self.x);
        self.ready.call(&self.x, out);
        let [inputs, outputs] = &mut self.own;
        for (plain, entries) in self.plain.iter().zip(&self.entries) {
            let count = plain.place.outputs.len();
            for k in 0..plain.place.inputs.len() {
                let seed = |(i, &place): (usize, &u32)| Dual::new(self.x[place as usize], f64::from(u8::from(i == k)));
                inputs.clear();
                inputs.extend(plain.place.inputs.iter().enumerate().map(seed));
                outputs.clear();
                outputs.resize(count, Dual::default());
                self.apart.read(plain.element, plain.sum, inputs, outputs);
                let own = &entries[k * count..(k + 1) * count];
                own.iter().zip(&*outputs).for_each(|(&entry, value)| out[entry] += value.eps[0]);
            }
        }
    }

    /// The kernels as functions.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }
}
