//! Building a model: typed handles for Rust, checked entries for scenes.

use super::{
    AXIS_MARKERS, AffineFrame, Attached, Ear, Entry, Frame, Heard, Layout, Marker, Markers, Model, Orientation, Point,
    Site,
};
use crate::assemblies::{Assembly, Found};
use crate::bodies::{AnyBody, Body, Ground, OwnLatch, Rigid, Tree};
use crate::constraints::{AnyConstraint, Constraint, Holonomic, Nonholonomic, Rolling};
use crate::contacts::{AnyContact, Surface};
use crate::forces::{AnyForce, Force};
use crate::picture::Look;
use crate::signals::{Signal, SignalRef};
use dalembert_methods::nonsmooth::{Contacts, Latch};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Finds the contacts that release latches.
fn find_latches(model: &mut Model) -> Result<(), Vec<ModelError>> {
    let names: Vec<String> = (0..Contacts::contacts(model)).map(|i| model.contact_name(i)).collect();
    let mut errors = Vec::new();
    for gap in &mut model.layout.stops {
        let Some(OwnLatch { release, holds }) = &gap.stop.latch else { continue };
        let mut released_by = Vec::with_capacity(release.len());
        for wanted in release {
            match names.iter().position(|name| name == wanted || name.strip_prefix("contact.") == Some(wanted)) {
                Some(contact) => released_by.push(contact),
                None => errors.push(ModelError {
                    section: "body",
                    name: model.bodies[gap.body].name.clone(),
                    key: Some("links"),
                    message: format!(
                        "the latch of `{}` is released by `{wanted}`, which is no contact; there are {}",
                        gap.stop.name,
                        names.join(", ")
                    ),
                }),
            }
        }
        gap.latch = Some(Latch { released_by, holds: *holds });
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// A body whose markers have an orientation.
pub trait Oriented: Body {}
impl Oriented for Ground {}
impl Oriented for Rigid {}
impl Oriented for Tree {}

/// A handle to a body of known kind.
#[derive(Debug)]
pub struct BodyId<B> {
    pub(crate) index: usize,
    kind: PhantomData<B>,
}

impl<B> Copy for BodyId<B> {}
impl<B> Clone for BodyId<B> {
    fn clone(&self) -> Self {
        *self
    }
}

/// What is wrong with a model, told in the scene's words.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// The section of the thing (`body`, `joint`, …).
    pub section: &'static str,
    /// Its name.
    pub name: String,
    /// The key within it, if one is to blame.
    pub key: Option<&'static str>,
    /// What is wrong and what was expected.
    pub message: String,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`: {}", self.section, self.name, self.message)
    }
}

impl std::error::Error for ModelError {}

/// Collects the parts of a model.
pub struct Builder {
    gravity: [f64; 3],
    pub(super) bodies: Vec<Entry<Box<dyn AnyBody>>>,
    pub(super) markers: Vec<Marker>,
    pub(super) forces: Vec<Attached<Box<dyn AnyForce>>>,
    constraints: Vec<Attached<Box<dyn AnyConstraint>>>,
    contacts: Vec<Attached<Box<dyn AnyContact>>>,
    signals: Vec<Entry<Arc<Signal>>>,
    looks: Vec<(usize, Look)>,
    pub(super) rates: Vec<usize>,
    /// Shapes that assemblies have found before.
    pub(crate) found: Found,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// A model with nothing but the ground.
    pub fn new() -> Self {
        let mut builder = Self {
            gravity: [0.0; 3],
            bodies: Vec::new(),
            markers: Vec::new(),
            forces: Vec::new(),
            constraints: Vec::new(),
            contacts: Vec::new(),
            signals: Vec::new(),
            looks: Vec::new(),
            rates: Vec::new(),
            found: Found::default(),
        };
        builder.insert_body("ground", Box::new(Ground {}));
        builder
    }

    /// Sets the uniform gravitational acceleration in the world frame, in m/s².
    pub fn gravity(&mut self, gravity: [f64; 3]) -> &mut Self {
        self.gravity = gravity;
        self
    }

    /// The gravitational acceleration so far, in m/s².
    pub(crate) fn given_gravity(&self) -> [f64; 3] {
        self.gravity
    }

    /// The ground.
    pub fn ground(&self) -> BodyId<Ground> {
        BodyId { index: 0, kind: PhantomData }
    }

    /// Adds a body.
    pub fn body<B: Body>(&mut self, name: &str, body: B) -> BodyId<B> {
        BodyId { index: self.insert_body(name, Box::new(body)), kind: PhantomData }
    }

    /// Adds a signal and gives the reference by which elements use it.
    pub fn signal(&mut self, name: &str, signal: Signal) -> SignalRef {
        let signal = Arc::new(signal);
        self.signals.push(Entry { name: name.to_owned(), item: Arc::clone(&signal) });
        SignalRef::Named { name: name.to_owned(), signal: Some(signal), slot: None }
    }

    /// Adds a point of a body, given in the body's frame; an empty name stands for the body's own origin.
    pub fn point<B: Body>(&mut self, name: &str, body: BodyId<B>, at: [f64; 3]) -> Point {
        Point(self.insert_marker(name, body.index, at, Orientation::default()))
    }

    /// Adds a frame on a body: a point and an orientation, given in the body's frame.
    pub fn frame<B: Oriented>(&mut self, name: &str, body: BodyId<B>, at: [f64; 3], turn: Orientation) -> Frame {
        Frame(self.insert_marker(name, body.index, at, turn))
    }

    /// The four markers of a body that show its deformation.
    pub fn affine_frame<B: Body>(&mut self, body: BodyId<B>) -> AffineFrame {
        AffineFrame(self.insert_affine_frame(body.index))
    }
    /// Adds a frame on a link of a tree, given in the frame of the link; none if there is no such link.
    pub fn link_frame(
        &mut self,
        name: &str,
        body: BodyId<Tree>,
        link: &str,
        at: [f64; 3],
        turn: Orientation,
    ) -> Option<Frame> {
        let part = self.bodies[body.index].item.part(link)?;
        let number = self.insert_marker(name, body.index, at, turn);
        self.set_part(number, part);
        Some(Frame(number))
    }

    /// Gives a body a shape for looking at; it changes no motion.
    pub fn look<B: Body>(&mut self, body: BodyId<B>, look: Look) -> &mut Self {
        self.insert_look(body.index, look);
        self
    }

    /// Attaches a force.
    pub fn force<F: Force>(&mut self, name: &str, force: F, markers: F::Markers) -> &mut Self {
        self.insert_force(name, Box::new(force), markers.indices());
        self
    }

    /// Attaches a joint.
    pub fn joint<C: Constraint>(&mut self, name: &str, joint: C, markers: C::Markers) -> &mut Self {
        self.insert_constraint("joint", name, Box::new(Holonomic(joint)), markers.indices());
        self
    }

    /// Attaches a holonomic constraint.
    pub fn constraint<C: Constraint>(&mut self, name: &str, constraint: C, markers: C::Markers) -> &mut Self {
        self.insert_constraint("constraint", name, Box::new(Holonomic(constraint)), markers.indices());
        self
    }

    /// Attaches a velocity-level constraint.
    pub fn rolling<C: Rolling>(&mut self, name: &str, constraint: C, markers: C::Markers) -> &mut Self {
        self.insert_constraint("constraint", name, Box::new(Nonholonomic(constraint)), markers.indices());
        self
    }

    /// Makes a surface that points cannot pass.
    pub fn contact<C: Surface>(&mut self, name: &str, surface: C, markers: C::Markers) -> &mut Self {
        self.insert_contact(name, Box::new(surface), markers.indices());
        self
    }

    /// Adds all that an assembly makes: `start` is the time at which a run will begin, in s.
    pub fn assembly<A: Assembly>(&mut self, name: &str, assembly: &A, start: f64) -> Result<A::Made, Vec<ModelError>> {
        assembly.assemble(name, start, self)
    }

    /// The signal of a name.
    pub(crate) fn find_signal(&self, name: &str) -> Option<&Arc<Signal>> {
        self.signals.iter().find(|s| s.name == name).map(|s| &s.item)
    }

    /// The bodies so far.
    pub(crate) fn bodies(&self) -> &[Entry<Box<dyn AnyBody>>] {
        &self.bodies
    }

    /// The markers so far.
    pub(crate) fn markers(&self) -> &[Marker] {
        &self.markers
    }

    pub(crate) fn insert_body(&mut self, name: &str, item: Box<dyn AnyBody>) -> usize {
        self.bodies.push(Entry { name: name.to_owned(), item });
        self.bodies.len() - 1
    }

    pub(crate) fn insert_marker(&mut self, name: &str, body: usize, at: [f64; 3], turn: Orientation) -> usize {
        let owner = &self.bodies[body].name;
        let name = if name.is_empty() { owner.clone() } else { format!("{owner}.{name}") };
        self.markers.push(Marker { name, body, site: Site::frame(at, turn.quaternion()), orientation: turn });
        self.markers.len() - 1
    }

    /// The markers of a body's affine frame; those that exist already are used again.
    pub(crate) fn insert_affine_frame(&mut self, body: usize) -> [usize; 4] {
        let owner = self.bodies[body].name.clone();
        let mut find = |label: &str, at: [f64; 3]| {
            let name = if label.is_empty() { owner.clone() } else { format!("{owner}.{label}") };
            let known = self.markers.iter().position(|m| m.body == body && m.name == name && m.site.at == at);
            known.unwrap_or_else(|| self.insert_marker(label, body, at, Orientation::default()))
        };
        let origin = find("", [0.0; 3]);
        let [x, y, z] = AXIS_MARKERS.map(|(label, at)| find(label, at));
        [origin, x, y, z]
    }
    /// Moves a marker to another part of its body.
    pub(crate) fn set_part(&mut self, marker: usize, part: usize) {
        self.markers[marker].site.part = part;
    }

    /// A marker whose name does not begin with that of its body.
    pub(crate) fn insert_free_marker(&mut self, name: &str, body: usize, at: [f64; 3], turn: Orientation) -> usize {
        let number = self.insert_marker(name, body, at, turn);
        name.clone_into(&mut self.markers[number].name);
        number
    }

    pub(crate) fn insert_look(&mut self, body: usize, look: Look) {
        self.looks.push((body, look));
    }

    pub(crate) fn insert_force(&mut self, name: &str, item: Box<dyn AnyForce>, markers: Vec<usize>) {
        self.forces.push(Attached { section: "force", name: name.to_owned(), item, markers });
    }

    pub(crate) fn insert_constraint(
        &mut self,
        section: &'static str,
        name: &str,
        item: Box<dyn AnyConstraint>,
        markers: Vec<usize>,
    ) {
        self.constraints.push(Attached { section, name: name.to_owned(), item, markers });
    }

    pub(crate) fn insert_contact(&mut self, name: &str, item: Box<dyn AnyContact>, markers: Vec<usize>) {
        self.contacts.push(Attached { section: "contact", name: name.to_owned(), item, markers });
    }

    /// Checks everything and lays the model out; all faults are reported at once.
    pub fn build(mut self) -> Result<Model, Vec<ModelError>> {
        let mut errors = Vec::new();
        let heard = self.resolve_signals(&mut errors);
        self.check_names(&mut errors);
        self.check_signals(&mut errors);
        self.check_bodies(&mut errors);
        self.check_looks(&mut errors);
        self.check_elements(&mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let layout = Layout::new(&self.bodies, &self.markers, &self.forces, &self.constraints, &self.contacts);
        let mut rates = self.rates;
        rates.resize(self.forces.len(), 0);
        let mut model = Model {
            driven: vec![None; self.signals.len()],
            gravity: self.gravity,
            bodies: self.bodies,
            markers: self.markers,
            forces: self.forces,
            constraints: self.constraints,
            contacts: self.contacts,
            signals: self.signals,
            looks: self.looks,
            layout,
            rates,
            heard,
            fitted: false,
        };
        model.settle();
        find_latches(&mut model)?;
        Ok(model)
    }

    /// Resolves references to signals; gives what each element listens to.
    fn resolve_signals(&mut self, errors: &mut Vec<ModelError>) -> Heard {
        let signals = &self.signals;
        let numbers: HashMap<&str, usize> = signals.iter().enumerate().map(|(i, s)| (s.name.as_str(), i)).collect();
        let mut resolve = |section, owner: &str, references: Vec<&mut SignalRef>| {
            let mut ear = Ear::default();
            for reference in references {
                let SignalRef::Named { name, signal, slot } = reference else { continue };
                let found = numbers.get(name.as_str()).copied();
                if let Some(own) = signal {
                    *slot = found.filter(|&number| signals[number].item == *own);
                    ear.hear(own, *slot);
                    continue;
                }
                match found {
                    Some(number) => {
                        ear.hear(&signals[number].item, Some(number));
                        (*signal, *slot) = (Some(Arc::clone(&signals[number].item)), Some(number));
                    }
                    None => {
                        let nearest = crate::scene::nearest(name, signals.iter().map(|s| s.name.as_str()));
                        let hint = nearest.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                        let message = format!("there is no signal `{name}`{hint}");
                        errors.push(ModelError { section, name: owner.to_owned(), key: None, message });
                    }
                }
            }
            ear
        };
        Heard {
            forces: self.forces.iter_mut().map(|f| resolve(f.section, &f.name, f.item.signals())).collect(),
            constraints: self.constraints.iter_mut().map(|c| resolve(c.section, &c.name, c.item.signals())).collect(),
            contacts: self.contacts.iter_mut().map(|c| resolve(c.section, &c.name, c.item.signals())).collect(),
        }
    }

    fn check_names(&self, errors: &mut Vec<ModelError>) {
        let mut seen = std::collections::HashSet::new();
        let bodies = self.bodies.iter().map(|b| ("body", &b.name));
        let forces = self.forces.iter().map(|f| (f.section, &f.name));
        let constraints = self.constraints.iter().map(|c| (c.section, &c.name));
        let contacts = self.contacts.iter().map(|c| (c.section, &c.name));
        let signals = self.signals.iter().map(|s| ("signal", &s.name));
        for (section, name) in bodies.chain(forces).chain(constraints).chain(contacts).chain(signals) {
            if !seen.insert((section, name)) {
                let message = "the name is used twice".to_owned();
                errors.push(ModelError { section, name: name.clone(), key: None, message });
            }
        }
    }

    fn check_looks(&self, errors: &mut Vec<ModelError>) {
        for (body, look) in &self.looks {
            let body = &self.bodies[*body];
            let strange = look.link.as_ref().filter(|pattern| !body.item.has_part(pattern));
            let strange = strange.map(|link| format!("its shape is on a link `{link}`, which is not there"));
            if let Some(message) = look.defect().map(|(_, message)| message).or(strange) {
                let (name, key) = (body.name.clone(), Some(Look::KEY));
                errors.push(ModelError { section: "body", name, key, message });
            }
        }
    }

    fn check_signals(&self, errors: &mut Vec<ModelError>) {
        for signal in &self.signals {
            if let Some((key, message)) = signal.item.defect() {
                errors.push(ModelError { section: "signal", name: signal.name.clone(), key: Some(key), message });
            }
        }
    }

    fn check_bodies(&self, errors: &mut Vec<ModelError>) {
        for body in &self.bodies {
            if let Some((key, message)) = body.item.defect() {
                errors.push(ModelError { section: "body", name: body.name.clone(), key: Some(key), message });
            }
        }
        for marker in &self.markers {
            let body = &self.bodies[marker.body];
            let turned = marker.orientation != Orientation::default();
            let (oriented, extended) = (body.item.oriented(), body.item.extended());
            if (!extended && marker.site.at != [0.0; 3]) || (!oriented && turned) {
                let lack = if extended {
                    "body has points, but no orientation"
                } else {
                    "is a single point; it has no place for an offset or an orientation"
                };
                let message = format!("marker `{}`: a {} {lack}", marker.name, body.item.kind());
                errors.push(ModelError { section: "body", name: body.name.clone(), key: None, message });
            }
        }
    }

    /// What is wrong with a contact, if anything.
    fn contact_defect(&self, contact: &Attached<Box<dyn AnyContact>>) -> Option<(&'static str, String)> {
        contact.item.defect().or_else(|| {
            let body = |m: usize| self.markers[m].body;
            let surface = body(*contact.markers.first()?);
            let points = contact.markers.get(1..)?;
            let fault =
                |m: usize, what: &str| Some((contact.item.need().key, format!("`{}` is {what}", self.markers[m].name)));
            if let Some(&same) = points.iter().find(|&&m| body(m) == surface) {
                return fault(same, "on the same body as the surface");
            }
            let twice = (1..points.len()).find(|&i| points[..i].contains(&points[i]))?;
            fault(points[twice], "named twice")
        })
    }

    fn check_elements(&self, errors: &mut Vec<ModelError>) {
        let forces =
            self.forces.iter().map(|f| (f.section, &f.name, f.item.need(), &f.markers, f.item.defect(f.markers.len())));
        let constraints = self
            .constraints
            .iter()
            .map(|c| (c.section, &c.name, c.item.need(), &c.markers, c.item.defect(c.markers.len())));
        let contacts =
            self.contacts.iter().map(|c| (c.section, &c.name, c.item.need(), &c.markers, self.contact_defect(c)));
        for (section, name, need, markers, defect) in forces.chain(constraints).chain(contacts) {
            let mut blame = |key, message| errors.push(ModelError { section, name: name.clone(), key, message });
            match need.markers() {
                Some(count) if count != markers.len() => blame(
                    Some(need.key),
                    format!("needs {count} marker{}, found {}", if count == 1 { "" } else { "s" }, markers.len()),
                ),
                None if markers.len() < 2 => blame(Some(need.key), "needs at least two markers".to_owned()),
                _ => {}
            }
            for &m in markers.iter().take(need.oriented) {
                let marker = &self.markers[m];
                let body = &self.bodies[marker.body];
                if !body.item.oriented() {
                    blame(
                        Some(need.key),
                        format!(
                            "needs an orientation, but `{}` is on the {} `{}`, which has none",
                            marker.name,
                            body.item.kind(),
                            body.name
                        ),
                    );
                }
            }
            if let Some((key, message)) = defect {
                blame(Some(key), message);
            }
        }
    }
}
