//! Assemblies: a few numbers that stand for many bodies, forces and constraints.
//!
//! An assembly is no element of its own. It puts ordinary elements into a [`Builder`], under names that begin with its own, and
//! then it is gone: everything attaches to what it has made, by name.

mod family;
mod shape;
mod skeleton;
mod soft;

pub use family::{Activation, Family};
pub use shape::{Taper, TaperTable};
pub use skeleton::{Compartment, Compartments, Corners, Grouping, Rest, Skeleton};
pub use soft::{Mode, Soft, Support};

use crate::element::{About, Describe, Kind};
use crate::model::{Builder, ModelError};
use dalembert_methods::vector::Vec3;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The most shapes that are kept.
const KEPT: usize = 64;

/// Shapes that were searched for, by all that they depend on: those of one scene read many times with other settings are searched for once if no setting touches them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found(Arc<Mutex<HashMap<String, Vec<Vec3<f64>>>>>);

impl Found {
    /// The shape of a key: as it was found before, or as it is found now.
    pub fn get<E>(&self, key: &str, search: impl FnOnce() -> Result<Vec<Vec3<f64>>, E>) -> Result<Vec<Vec3<f64>>, E> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shape) = known().get(key) {
            return Ok(shape.clone());
        }
        let shape = search()?;
        let mut known = known();
        if known.len() < KEPT {
            known.insert(key.to_owned(), shape.clone());
        }
        Ok(shape)
    }
}

/// A kind of assembly.
pub trait Assembly: About {
    /// What an author in Rust gets to attach things to.
    type Made;
    /// Puts everything into a builder; `start` is the time at which a run will begin, in s.
    fn assemble(&self, name: &str, start: f64, builder: &mut Builder) -> Result<Self::Made, Vec<ModelError>>;
}

/// An assembly of any kind.
pub trait AnyAssembly: Describe + Send + Sync {
    /// Puts everything into a builder, see [`Assembly::assemble`].
    fn assemble(&self, name: &str, start: f64, builder: &mut Builder) -> Result<(), Vec<ModelError>>;
}

impl<A: Assembly> AnyAssembly for A {
    fn assemble(&self, name: &str, start: f64, builder: &mut Builder) -> Result<(), Vec<ModelError>> {
        Assembly::assemble(self, name, start, builder).map(|_| ())
    }
}

fn kind_of<A: Assembly>() -> Kind<dyn AnyAssembly> {
    Kind::new::<A>(None, |entry| Ok(Box::new(entry.deserialize_element::<A>()?)), || Box::new(A::sample()))
}

/// The kinds of assemblies, by name.
pub fn kinds() -> Vec<Kind<dyn AnyAssembly>> {
    vec![kind_of::<Skeleton>(), kind_of::<Soft>()]
}
