//! One kernel for many instances: a large model stays as small as its kinds of elements.
//!
//! A [`Mapped`] function gathers the inputs of each instance from a long vector, evaluates the kernel, two instances at a time, and
//! adds its outputs to another long vector. Its Jacobian is the kernel's Jacobian mapped over the same instances; entries that several
//! instances share are summed.

use crate::derive::colour::Pattern;
use crate::derive::jacobian::{Sparse, jacobian_where};
use crate::function::{Function, Work};
use dalembert_methods::trace::Recorded;
use std::collections::BTreeMap;

/// Where an instance of a kernel takes its inputs from, and where its outputs go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// For each input of the kernel its place in the long vector.
    pub inputs: Vec<u32>,
    /// For each output of the kernel the place it is added to.
    pub outputs: Vec<u32>,
}

impl Instance {
    /// Whether it has so many inputs and outputs, all within the sizes; `number` is its own, for the error.
    pub(crate) fn check(&self, number: usize, inputs: usize, outputs: usize, sizes: Sizes) -> Result<(), MapError> {
        if self.inputs.len() != inputs || self.outputs.len() != outputs {
            return Err(MapError::Count { instance: number });
        }
        let outside = |list: &[u32], size: usize| list.iter().copied().find(|&p| p as usize >= size);
        match outside(&self.inputs, sizes.inputs).or(outside(&self.outputs, sizes.outputs)) {
            Some(place) => Err(MapError::Range { instance: number, place }),
            None => Ok(()),
        }
    }
}

/// Why a map is not one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MapError {
    /// An instance has not as many inputs or outputs as the kernel.
    Count {
        /// The instance.
        instance: usize,
    },
    /// An instance refers to a place outside the long vectors.
    Range {
        /// The instance.
        instance: usize,
        /// The place.
        place: u32,
    },
}

impl std::fmt::Display for MapError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count { instance } => {
                write!(f, "instance {instance} has not as many inputs or outputs as the kernel")
            }
            Self::Range { instance, place } => {
                write!(f, "instance {instance} refers to place {place}, which does not exist")
            }
        }
    }
}

impl std::error::Error for MapError {}

/// A kernel mapped over instances.
#[derive(Debug)]
pub struct Mapped {
    kernel: Function,
    /// The places of the inputs of all instances, and of the outputs, one instance after the other.
    gather: Vec<u32>,
    scatter: Vec<u32>,
    count: usize,
    inputs: usize,
    outputs: usize,
}

/// Scratch of a [`Mapped`].
#[derive(Clone, Debug)]
pub struct MapWork {
    kernel: Work,
    x: Vec<f64>,
    y: Vec<f64>,
}

/// The sizes of the long vectors.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Of inputs.
    pub inputs: usize,
    /// Of outputs.
    pub outputs: usize,
}

impl Mapped {
    /// A kernel and its instances.
    pub fn new(kernel: Function, instances: Vec<Instance>, sizes: Sizes) -> Result<Self, MapError> {
        for (i, instance) in instances.iter().enumerate() {
            instance.check(i, kernel.inputs(), kernel.outputs(), sizes)?;
        }
        Ok(Self::within(kernel, &instances, sizes))
    }

    /// The same of instances that are known to be within the sizes.
    pub(crate) fn within(kernel: Function, instances: &[Instance], sizes: Sizes) -> Self {
        let gather = instances.iter().flat_map(|i| i.inputs.iter().copied()).collect();
        let scatter = instances.iter().flat_map(|i| i.outputs.iter().copied()).collect();
        Self { kernel, gather, scatter, count: instances.len(), inputs: sizes.inputs, outputs: sizes.outputs }
    }

    /// The number of instances.
    pub fn instances(&self) -> usize {
        self.count
    }

    /// The kernel.
    pub fn kernel(&self) -> &Function {
        &self.kernel
    }

    /// Scratch for evaluations.
    pub fn work(&self) -> MapWork {
        MapWork {
            kernel: self.kernel.work(),
            x: vec![0.0; 2 * self.kernel.inputs()],
            y: vec![0.0; 2 * self.kernel.outputs()],
        }
    }

    /// The sums `y` over all instances for the inputs `x`.
    pub fn call(&self, work: &mut MapWork, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        self.add(work, x, y);
    }

    /// Adds the outputs of all instances to `y`.
    pub fn add(&self, work: &mut MapWork, x: &[f64], y: &mut [f64]) {
        assert!(x.len() == self.inputs && y.len() == self.outputs);
        let (inputs, outputs) = (self.kernel.inputs(), self.kernel.outputs());
        let inputs_of = |instance: usize| &self.gather[instance * inputs..(instance + 1) * inputs];
        for first in (0..self.count).step_by(2) {
            // An odd one at the end is computed twice and counted once.
            let end = (first + 2).min(self.count);
            for (pair, (&a, &b)) in work.x.chunks_exact_mut(2).zip(inputs_of(first).iter().zip(inputs_of(end - 1))) {
                (pair[0], pair[1]) = (x[a as usize], x[b as usize]);
            }
            self.kernel.call_two(&mut work.kernel, &work.x, &mut work.y);
            for (j, instance) in (first..end).enumerate() {
                let places = &self.scatter[instance * outputs..(instance + 1) * outputs];
                for (pair, &place) in work.y.chunks_exact(2).zip(places) {
                    y[place as usize] += pair[j];
                }
            }
        }
    }
}

/// The Jacobian of a kernel's map: its own kernel, where the entries stand in the long matrix, and its instances.
#[derive(Clone, Debug)]
pub struct MappedJacobian {
    /// The kernel's Jacobian.
    pub kernel: Sparse,
    /// The entries of the long matrix.
    pub pattern: Pattern,
    /// The instances, whose outputs are entries of the pattern.
    pub instances: Vec<Instance>,
}

impl MappedJacobian {
    /// The Jacobian of this kernel mapped over these instances.
    pub fn new(kernel: &Recorded, instances: &[Instance], sizes: Sizes) -> Self {
        Self::by_first(kernel, kernel.inputs, instances, sizes)
    }

    /// The same by the first inputs of the kernel alone; the others are constants of the instances.
    pub fn by_first(kernel: &Recorded, variables: usize, instances: &[Instance], sizes: Sizes) -> Self {
        let kernel = jacobian_where(kernel, |_, column| (column as usize) < variables);
        let place = |i: &Instance, e: &(u32, u32)| (i.outputs[e.0 as usize], i.inputs[e.1 as usize]);
        let all = instances.iter().flat_map(|i| kernel.pattern.entries.iter().map(move |e| place(i, e)));
        let mut number: BTreeMap<(u32, u32), u32> = all.map(|entry| (entry, 0)).collect();
        number.values_mut().zip(0..).for_each(|(value, k)| *value = k);
        let instances = instances.iter().map(|i| Instance {
            inputs: i.inputs.clone(),
            outputs: kernel.pattern.entries.iter().map(|e| number[&place(i, e)]).collect(),
        });
        let instances = instances.collect();
        let pattern = Pattern { rows: sizes.outputs, columns: sizes.inputs, entries: number.into_keys().collect() };
        Self { kernel, pattern, instances }
    }
}
