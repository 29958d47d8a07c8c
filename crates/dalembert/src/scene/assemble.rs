//! From a document to a model: reads every element by its kind and attaches it to the markers it names.

use super::comparison::ComparisonSettings;
use super::figures::{PanelSettings, ShapesSettings};
use super::settings::{EventSettings, OutputSettings, RunSettings, SceneInfo, World};
use super::{Document, Entry, Problem, Problems, SceneError, nearest};
use crate::callback::{self, Callbacks};
use crate::element::Kind;
use crate::model::{Builder, Model, ModelError, Orientation};
use crate::picture::Look;
use crate::{assemblies, bodies, constraints, contacts, forces, joints, signals};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The sections of named elements.
pub const SECTIONS: [&str; 12] = [
    "body",
    "marker",
    "signal",
    "assembly",
    "force",
    "joint",
    "constraint",
    "contact",
    "event",
    "panel",
    "shapes",
    "comparison",
];

/// The key of a body's own markers.
pub(super) const MARKERS: &str = "markers";

/// A scene, ready to run: what the system is and how to simulate it.
pub struct Scene {
    /// `[scene]`.
    pub info: SceneInfo,
    /// The system.
    pub model: Model,
    /// `[run]`.
    pub run: RunSettings,
    /// `[output]`.
    pub output: OutputSettings,
    /// `[event]`, by name.
    pub events: Vec<(String, EventSettings)>,
    /// `[panel]`, by name.
    pub panels: Vec<(String, PanelSettings)>,
    /// `[shapes]`, by name.
    pub shapes: Vec<(String, ShapesSettings)>,
    /// `[comparison]`, by name.
    pub comparisons: Vec<(String, ComparisonSettings)>,
    /// The mesh files that were read for looking at bodies.
    pub meshes: Vec<String>,
    /// The document it was read from, if it was.
    pub document: Option<Document>,
    /// The functions from outside that its signals and forces ask.
    pub callbacks: Callbacks,
}

/// A marker as a scene writes it, inside a body or in `[marker.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MarkerSettings {
    /// The body it sits on; not given inside a body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The link of a tree it sits on; the first if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Position in the body's frame.
    #[schemars(extend("unit" = "m"))]
    pub at: [f64; 3],
    /// Orientation: marker frame to body frame.
    pub orientation: Orientation,
}

impl Scene {
    /// A scene around a model built in Rust, with default settings.
    pub fn new(model: Model) -> Self {
        Self {
            info: SceneInfo::default(),
            model,
            run: RunSettings::default(),
            output: OutputSettings::default(),
            events: Vec::new(),
            panels: Vec::new(),
            shapes: Vec::new(),
            comparisons: Vec::new(),
            meshes: Vec::new(),
            document: None,
            callbacks: Callbacks::none(),
        }
    }

    /// Builds the model a document describes. All problems that can be found are reported together.
    pub fn from_document(document: Document) -> Result<Self, SceneError> {
        Self::with_callbacks(document, Callbacks::none())
    }

    /// The same with functions from outside, for entries of `kind = "callback"`.
    pub fn with_callbacks(document: Document, callbacks: Callbacks) -> Result<Self, SceneError> {
        document.check_sections(&SECTIONS)?;
        let mut reader = Reader {
            document: &document,
            builder: Builder::new(),
            problems: Problems::default(),
            bodies: HashMap::from([("ground".to_owned(), 0)]),
            markers: HashMap::new(),
            broken: HashSet::new(),
            unmade: Vec::new(),
            callbacks: &callbacks,
        };
        let info = reader.table::<SceneInfo>("scene");
        let world = reader.table::<World>("world");
        let run = reader.table::<RunSettings>("run");
        let output = reader.table::<OutputSettings>("output");
        reader.builder.gravity(world.gravity);
        if callbacks.is_empty() {
            reader.builder.found = document.found().clone();
        }
        reader.read_signals();
        reader.read_bodies();
        reader.read_assemblies(run.start);
        reader.read_markers();
        reader.read_forces();
        reader.read_constraints("joint", &joints::kinds());
        reader.read_constraints("constraint", &constraints::kinds());
        reader.read_contacts();
        reader.read_rates(&run);
        reader.check_run(&run);
        reader.check_output(&output, &run);
        let events = reader.read_named("event");
        let panels = reader.read_named("panel");
        let shapes = reader.read_named("shapes");
        let comparisons = reader.read_named("comparison");
        reader.check_comparisons(&comparisons);
        let Reader { builder, mut problems, .. } = reader;
        if !problems.is_empty() {
            return problems.or(()).map(|()| unreachable!("there are problems"));
        }
        let model = match builder.build() {
            Ok(mut model) => {
                model.fitted = run.integrator == "phase_fitted";
                if run.integrator == "multirate" && run.fast.is_empty() && run.fast_bodies.is_empty() {
                    model.find_rates();
                }
                model
            }
            Err(errors) => {
                for error in errors {
                    problems.push(place(&document, &error));
                }
                return Err(problems.or(()).expect_err("there are problems"));
            }
        };
        let meshes = Vec::new();
        let document = Some(document);
        Ok(Self { info, model, run, output, events, panels, shapes, comparisons, meshes, document, callbacks })
    }
}

/// Whether the function of an entry comes from outside.
fn is_callback(entry: &Entry<'_>) -> bool {
    entry.kind().is_ok_and(|kind| kind == callback::KIND)
}

/// A fault found by the builder, at the place in the document that caused it.
pub(crate) fn place(document: &Document, error: &ModelError) -> Problem {
    match maker(document, error.section, &error.name) {
        // Elements of an assembly have most keys from it under the same name.
        Some(entry) => document.problem_at(entry.span_of(error.key.unwrap_or("")), error.to_string()),
        None => Problem::new(error.to_string()),
    }
}

/// The entry that has made an element: its own, or that of the assembly whose name its name begins with.
pub(crate) fn maker<'d>(document: &'d Document, section: &str, name: &str) -> Option<Entry<'d>> {
    if let Some(entry) = document.section(section).find(|entry| entry.name() == name) {
        return Some(entry);
    }
    let begins = |entry: &Entry<'_>| {
        name.strip_prefix(entry.name()).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    document.section("assembly").filter(begins).max_by_key(|entry| entry.name().len())
}

/// What is read so far.
pub(super) struct Reader<'d> {
    pub document: &'d Document,
    pub builder: Builder,
    pub problems: Problems,
    pub bodies: HashMap<String, usize>,
    pub markers: HashMap<String, usize>,
    /// Bodies and markers that could not be read; what refers to them is not blamed.
    pub broken: HashSet<String>,
    /// How the names begin that a broken assembly would have made.
    pub unmade: Vec<String>,
    /// The functions from outside.
    pub callbacks: &'d Callbacks,
}

impl<'d> Reader<'d> {
    fn note<T>(&mut self, result: Result<T, SceneError>) -> Option<T> {
        result.map_err(|error| self.problems.extend(error)).ok()
    }

    fn table<T: Default + Deserialize<'d>>(&mut self, name: &str) -> T {
        let document = self.document;
        let read = document.table(name).map(|entry| entry.deserialize());
        read.and_then(|result| self.note(result)).unwrap_or_default()
    }

    /// The kind of an entry among those registered.
    fn kind<'k, T: ?Sized>(&mut self, entry: &Entry<'_>, kinds: &'k [Kind<T>]) -> Option<&'k Kind<T>> {
        let name = self.note(entry.kind())?;
        let found = kinds.iter().find(|kind| kind.kind == name);
        if found.is_none() {
            let names = kinds.iter().map(|kind| kind.kind);
            let help = match nearest(name, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("expected one of {}", names.collect::<Vec<_>>().join(", ")),
            };
            self.problems.extend(entry.error("kind", format!("unknown kind `{name}`"), Some(&help)));
        }
        found
    }

    fn read_signals(&mut self) {
        let document = self.document;
        let kinds = signals::kinds();
        for entry in document.section("signal") {
            self.check_name(&entry);
            if is_callback(&entry) {
                let callbacks = self.callbacks;
                if let Some(function) = self.given_function(&entry, &callbacks.signals, &[]) {
                    let signal = signals::Callback::new(entry.name(), function, callbacks);
                    self.builder.signal(entry.name(), signals::Signal::Callback(signal));
                }
                continue;
            }
            let Some(kind) = self.kind(&entry, &kinds) else { continue };
            let Some(signal) = self.note((kind.read)(&entry)) else { continue };
            if let Some((key, message)) = signal.defect() {
                self.problems.extend(entry.error(key, message, None));
            }
            self.builder.signal(entry.name(), *signal);
        }
    }

    fn read_bodies(&mut self) {
        let document = self.document;
        let kinds = bodies::kinds();
        for entry in document.section("body") {
            self.check_name(&entry);
            let index = if entry.name() == "ground" {
                self.check_ground(&entry);
                0
            } else {
                let kind = self.kind(&entry, &kinds);
                let Some(body) = kind.and_then(|kind| self.note((kind.read)(&entry))) else {
                    self.broken.insert(entry.name().to_owned());
                    continue;
                };
                self.builder.insert_body(entry.name(), body)
            };
            self.bodies.insert(entry.name().to_owned(), index);
            if let Some(node) = entry.node().get(MARKERS).filter(|node| node.as_table().is_none()) {
                let message = format!("`{MARKERS}` must be a table, found {}", node.value.describe());
                let help = format!("write {MARKERS}.tip = {{ at = [0, 0, 1] }}");
                self.problems.extend(entry.error(MARKERS, message, Some(&help)));
                self.broken.insert(entry.name().to_owned());
            }
            for marker in entry.inner(MARKERS) {
                self.check_name(&marker);
                let Some(settings) = self.note(marker.deserialize::<MarkerSettings>()) else {
                    self.broken.insert(entry.name().to_owned());
                    continue;
                };
                if settings.body.is_some() {
                    let message = "a marker inside a body does not name a body";
                    self.problems.extend(marker.error("body", message, Some("leave the key `body` out")));
                }
                let number = self.builder.insert_marker(marker.name(), index, settings.at, settings.orientation);
                self.put_on_link(&marker, index, number, settings.link.as_deref());
                self.markers.insert(format!("{}.{}", entry.name(), marker.name()), number);
            }
            let looks = super::looks::read(&entry, &*self.builder.bodies()[index].item);
            for look in self.note(looks).unwrap_or_default() {
                self.builder.insert_look(index, look);
            }
        }
    }

    /// The ground exists already; an entry of that name may only add markers to it.
    fn check_ground(&mut self, entry: &Entry<'_>) {
        let allowed = ["kind", MARKERS, Look::KEY];
        for key in entry.node().as_table().into_iter().flat_map(super::Table::names) {
            if !allowed.contains(&key) {
                self.problems.extend(entry.error(key, "the ground takes only markers and shapes", None));
            }
        }
        if entry.node().get("kind").and_then(super::Node::as_str).is_some_and(|kind| kind != "ground") {
            self.problems.extend(entry.error(
                "kind",
                "`ground` is the inertial frame; give this body another name",
                None,
            ));
        }
    }

    /// Adds what assemblies make; their bodies and markers can be named like all others.
    fn read_assemblies(&mut self, start: f64) {
        let document = self.document;
        let kinds = assemblies::kinds();
        for entry in document.section("assembly") {
            self.check_name(&entry);
            let Some(kind) = self.kind(&entry, &kinds) else { continue };
            let Some(assembly) = self.note((kind.read)(&entry)) else {
                self.unmade.push(format!("{}_", entry.name()));
                continue;
            };
            let (bodies, markers) = (self.builder.bodies().len(), self.builder.markers().len());
            if let Err(errors) = assembly.assemble(entry.name(), start, &mut self.builder) {
                self.unmade.push(format!("{}_", entry.name()));
                for error in errors {
                    self.problems.push(place(document, &error));
                }
            }
            let made = self.builder.bodies().iter().enumerate().skip(bodies);
            self.bodies.extend(made.map(|(i, body)| (body.name.clone(), i)));
            let made = self.builder.markers().iter().enumerate().skip(markers);
            self.markers.extend(made.map(|(i, marker)| (marker.name.clone(), i)));
        }
    }

    fn read_markers(&mut self) {
        let document = self.document;
        for entry in document.section("marker") {
            self.check_name(&entry);
            let Some(settings) = self.note(entry.deserialize::<MarkerSettings>()) else {
                self.broken.insert(entry.name().to_owned());
                continue;
            };
            let body = settings.body.as_deref().unwrap_or("ground");
            let Some(&index) = self.bodies.get(body) else {
                self.broken.insert(entry.name().to_owned());
                if self.broken.contains(body) || self.unmade.iter().any(|start| body.starts_with(start.as_str())) {
                    continue;
                }
                let mut known: Vec<&str> = self.bodies.keys().map(String::as_str).collect();
                known.sort_unstable();
                let help = nearest(body, known).map(|near| format!("did you mean `{near}`?"));
                self.problems.extend(entry.error("body", format!("there is no body `{body}`"), help.as_deref()));
                continue;
            };
            if self.bodies.contains_key(entry.name()) {
                let message = format!("`{}` is the name of a body already", entry.name());
                self.problems.extend(entry.error("", message, Some("give the marker another name")));
                continue;
            }
            let number = self.builder.insert_free_marker(entry.name(), index, settings.at, settings.orientation);
            self.put_on_link(&entry, index, number, settings.link.as_deref());
            self.markers.insert(entry.name().to_owned(), number);
        }
    }

    /// Moves a marker to the link that it names.
    fn put_on_link(&mut self, entry: &Entry<'_>, body: usize, marker: usize, link: Option<&str>) {
        let Some(link) = link else { return };
        let item = &self.builder.bodies()[body].item;
        match item.part(link) {
            Some(part) => self.builder.set_part(marker, part),
            None => {
                let names: Vec<&str> = (0..item.parts()).filter_map(|part| item.part_name(part)).collect();
                let help = match nearest(link, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if names.is_empty() => "only trees have links; leave the key `link` out".to_owned(),
                    None => format!("expected one of {}", names.join(", ")),
                };
                let message = format!("there is no link `{link}`");
                self.problems.extend(entry.error("link", message, Some(&help)));
            }
        }
    }

    fn read_forces(&mut self) {
        let document = self.document;
        let kinds = forces::kinds();
        for entry in document.section("force") {
            self.check_name(&entry);
            if is_callback(&entry) {
                let need = if entry.node().get(forces::ONE.key).is_some() { forces::ONE } else { forces::MANY };
                let (markers, callbacks) = (self.attached(&entry, need), self.callbacks);
                let law = self.given_function(&entry, &callbacks.forces, &[need.key]);
                if let (Some(law), Some(markers)) = (law, markers) {
                    let item = forces::Callback::new(entry.name(), law, markers.len(), callbacks);
                    self.builder.insert_force(entry.name(), Box::new(item), markers);
                }
                continue;
            }
            let Some(kind) = self.kind(&entry, &kinds) else { continue };
            let need = kind.need.expect("forces are attached to markers");
            let markers = self.attached(&entry, need);
            let item = self.note((kind.read)(&entry));
            if let (Some(item), Some(markers)) = (item, markers) {
                self.builder.insert_force(entry.name(), item, markers);
            }
        }
    }

    /// The function of an entry of `kind = "callback"`, which has no keys besides `allowed` ones.
    fn given_function<'f, T: ?Sized>(
        &mut self,
        entry: &Entry<'_>,
        given: &'f BTreeMap<String, Arc<T>>,
        allowed: &[&str],
    ) -> Option<&'f Arc<T>> {
        for key in entry.node().as_table().into_iter().flat_map(super::Table::names) {
            if key != "kind" && !allowed.contains(&key) {
                self.problems.extend(entry.error(key, format!("a callback takes no key `{key}`"), None));
            }
        }
        let found = given.get(entry.name());
        if found.is_none() {
            let message = format!("`{}` is a callback, whose function a program gives", entry.path());
            let help = "run the scene from the program that wrote it, or choose another kind";
            self.problems.extend(entry.error("kind", message, Some(help)));
        }
        found
    }

    fn read_constraints(&mut self, section: &'static str, kinds: &[Kind<dyn constraints::AnyConstraint>]) {
        let document = self.document;
        for entry in document.section(section) {
            self.check_name(&entry);
            let Some(kind) = self.kind(&entry, kinds) else { continue };
            let need = kind.need.expect("constraints are attached to markers");
            let markers = self.attached(&entry, need);
            let item = self.note((kind.read)(&entry));
            if let (Some(item), Some(markers)) = (item, markers) {
                self.builder.insert_constraint(section, entry.name(), item, markers);
            }
        }
    }

    fn read_contacts(&mut self) {
        let document = self.document;
        let kinds = contacts::kinds();
        for entry in document.section("contact") {
            self.check_name(&entry);
            let Some(kind) = self.kind(&entry, &kinds) else { continue };
            let need = kind.need.expect("contacts are attached to markers");
            let markers = self.attached(&entry, need);
            let item = self.note((kind.read)(&entry));
            if let (Some(item), Some(markers)) = (item, markers) {
                self.builder.insert_contact(entry.name(), item, markers);
            }
        }
    }

    /// The entries of a section that are plain settings.
    fn read_named<T: Deserialize<'d>>(&mut self, section: &str) -> Vec<(String, T)> {
        let document = self.document;
        let entries: Vec<_> = document.section(section).collect();
        let read = entries.into_iter().filter_map(|entry| {
            self.check_name(&entry);
            let settings = self.note(entry.deserialize::<T>())?;
            Some((entry.name().to_owned(), settings))
        });
        read.collect()
    }

    /// Names become parts of paths, so they hold no dots, quotes or blanks.
    fn check_name(&mut self, entry: &Entry<'_>) {
        let name = entry.name();
        let fine = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if !fine {
            let problem = self.document.problem_at(entry.name_span(), format!("`{name}` cannot be a name"));
            self.problems.push(problem.help("use letters, digits, `_` and `-`"));
        }
    }
}
