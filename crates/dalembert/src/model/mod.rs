//! The model: bodies, markers on them, and the elements attached to the markers.
//!
//! A [`Builder`] collects; [`Builder::build`] checks and lays out; a [`Model`] never changes afterwards.

mod build;
mod free;
mod heard;
mod layout;
mod marker;
mod orientation;
mod param;
mod place;
mod rates;

pub use build::{BodyId, Builder, ModelError, Oriented};
pub(crate) use marker::AXIS_MARKERS;
pub use marker::{AffineFrame, Frame, Markers, Need, Point, Site};
pub use orientation::Orientation;
pub use param::Param;
pub use place::{Acceleration, Instant, Place, Wrench};

pub(crate) use heard::{Ear, Heard};
pub(crate) use layout::{Brake, Braked, Layout, OwnGap, Pair, Taker};

use crate::bodies::AnyBody;
use crate::constraints::AnyConstraint;
use crate::contacts::AnyContact;
use crate::forces::AnyForce;
use crate::picture::Look;
use crate::signals::Signal;
use std::sync::Arc;

/// A mechanical system: what moves, what acts, what is constrained.
pub struct Model {
    pub(crate) gravity: [f64; 3],
    pub(crate) bodies: Vec<Entry<Box<dyn AnyBody>>>,
    pub(crate) markers: Vec<Marker>,
    pub(crate) forces: Vec<Attached<Box<dyn AnyForce>>>,
    pub(crate) constraints: Vec<Attached<Box<dyn AnyConstraint>>>,
    pub(crate) contacts: Vec<Attached<Box<dyn AnyContact>>>,
    pub(crate) signals: Vec<Entry<Arc<Signal>>>,
    /// How bodies look, by their numbers; no part of the mechanics.
    pub(crate) looks: Vec<(usize, Look)>,
    pub(crate) layout: Layout,
    /// For each signal the free parameter that stands in its place, if a study has set it free.
    pub(crate) driven: Vec<Option<usize>>,
    /// The rate of each force, for multirate integrators: zero is slow.
    pub(crate) rates: Vec<usize>,
    /// The signals that elements use.
    pub(crate) heard: Heard,
    /// Whether the integrator of a scene fits frequencies, which are then recorded.
    pub(crate) fitted: bool,
}

/// A thing with the name its user gave it.
#[derive(Clone, Debug)]
pub struct Entry<T> {
    /// The name.
    pub name: String,
    /// The thing.
    pub item: T,
}

/// An element with its name and the markers it is attached to.
#[derive(Clone, Debug)]
pub struct Attached<T> {
    /// The section of the scene it belongs to (`force`, `joint`, `constraint`, `contact`).
    pub section: &'static str,
    /// The name.
    pub name: String,
    /// The element.
    pub item: T,
    /// Numbers of its markers.
    pub markers: Vec<usize>,
}

/// A named site on a body.
#[derive(Clone, Debug)]
pub struct Marker {
    /// The full name: `body.marker`, or just the body for its own frame.
    pub name: String,
    /// The number of the body.
    pub body: usize,
    /// Where on it.
    pub site: Site,
    /// The orientation as it was written.
    pub orientation: Orientation,
}

impl Model {
    /// A new, empty builder.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// The uniform gravitational acceleration in the world frame, in m/s².
    pub fn gravity(&self) -> [f64; 3] {
        self.gravity
    }

    /// The bodies; the first is the ground.
    pub fn bodies(&self) -> &[Entry<Box<dyn AnyBody>>] {
        &self.bodies
    }

    /// The markers.
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }

    /// The forces.
    pub fn forces(&self) -> &[Attached<Box<dyn AnyForce>>] {
        &self.forces
    }

    /// The joints and constraints.
    pub fn constraints(&self) -> &[Attached<Box<dyn AnyConstraint>>] {
        &self.constraints
    }

    /// The contacts: surfaces, each with the points that may touch it.
    pub fn contacts(&self) -> &[Attached<Box<dyn AnyContact>>] {
        &self.contacts
    }

    /// The shapes given to bodies for looking at, with the numbers of the bodies.
    pub fn looks(&self) -> &[(usize, Look)] {
        &self.looks
    }

    /// The name under which a part of a body is recorded: `body.NAME`, or `body.NAME.LINK` for a link of a tree.
    pub(crate) fn part_path(&self, body: usize, part: usize) -> String {
        let Entry { name, item } = &self.bodies[body];
        item.part_name(part).map_or_else(|| format!("body.{name}"), |link| format!("body.{name}.{link}"))
    }

    /// The signals.
    pub fn signals(&self) -> &[Entry<Arc<Signal>>] {
        &self.signals
    }
}
