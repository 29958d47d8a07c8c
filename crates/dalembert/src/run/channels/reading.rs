//! Single channels as functions, for any number: what a goal or a bound of a study refers to by name.

use super::fill::{fill, quaternion};
use super::sources::{Source, describe, every, width};
use crate::constraints::Scratch;
use crate::equations::Work;
use crate::model::Model;
use crate::scene::nearest;
use dalembert_methods::{Scalar, State};
use std::fmt;

/// A channel that can be computed from a state, its parameters and the multipliers of constraints.
#[derive(Clone, Debug)]
pub struct Reading {
    source: Source,
    place: usize,
    width: usize,
    /// Its unit.
    pub unit: String,
}

/// Why a channel is no function of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadingError {
    /// There is no such channel.
    Unknown {
        /// The name.
        name: String,
        /// The channel perhaps meant.
        near: Option<String>,
    },
    /// It belongs to a contact or to the integrator, whose modes a state does not tell.
    Modes {
        /// The name.
        name: String,
    },
}

impl fmt::Display for ReadingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, near } => {
                write!(f, "there is no channel `{name}`")?;
                near.as_ref().map_or(Ok(()), |near| write!(f, "; did you mean `{near}`?"))
            }
            Self::Modes { name } => {
                write!(
                    f,
                    "the channel `{name}` depends on modes of contacts or on the integrator, not on the state alone"
                )
            }
        }
    }
}

impl std::error::Error for ReadingError {}

impl Reading {
    /// The channel of a name.
    pub fn new(model: &Model, name: &str) -> Result<Self, ReadingError> {
        let mut names = Vec::new();
        for source in every(model) {
            let channels = describe(model, source);
            if let Some(place) = channels.iter().position(|channel| channel.name == name) {
                if matches!(source, Source::Frequency(_) | Source::Contact(_) | Source::Brake(_) | Source::Stop(_)) {
                    return Err(ReadingError::Modes { name: name.into() });
                }
                let unit = channels[place].unit.clone();
                return Ok(Self { source, place, width: width(model, source), unit });
            }
            names.extend(channels.into_iter().map(|channel| channel.name));
        }
        let near = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        Err(ReadingError::Unknown { name: name.into(), near })
    }

    /// Whether its value follows from the multipliers of constraints.
    pub fn needs_multipliers(&self) -> bool {
        self.source.needs_multipliers()
    }

    /// The value in a prepared state, given the multipliers of all rows.
    pub fn value<S: Scalar>(&self, model: &Model, s: &State<S>, w: &mut Work<S>, multipliers: &[S]) -> S {
        let mut out = vec![S::zero(); self.width];
        fill(model, s, self.source, w, &mut Scratch::default(), multipliers, quaternion, &mut out);
        out[self.place]
    }
}
