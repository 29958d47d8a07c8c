//! A scene file with everything computed: sections of named tables that know where they come from.

use super::de;
use super::error::{Problem, Problems, SceneError};
use super::limits::Limits;
use super::node::{Key, Node, Table, Value};
use super::overrides::{self, Overrides};
use super::parameters::{self, Parameter};
use super::scope::{Formula, Scope};
use super::source::{Loader, MemoryLoader, Sources, Span};
use super::{FORMAT, PARAMETERS, REPEAT, SCENE, SET, SINGLE_TABLES, include, nearest, repeat, write};
use crate::assemblies::Found;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// A scene read from files, with includes merged, parameters computed, repeats expanded and settings applied.
///
/// Equality compares contents, not places.
#[derive(Clone, Debug)]
pub struct Document {
    sources: Arc<Sources>,
    root: Table,
    parameters: Vec<Parameter>,
    found: Found,
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

/// A scene as it is written, with includes merged and nothing computed: what many documents that differ in their settings have in common.
#[derive(Clone, Debug)]
pub struct Draft {
    sources: Sources,
    root: Table,
    found: Found,
}

impl Draft {
    /// Reads a scene and everything it includes.
    pub fn load(loader: &dyn Loader, path: &str, limits: &Limits) -> Result<Self, SceneError> {
        let mut sources = Sources::default();
        let root = include::load(loader, path, &mut sources, limits)?;
        Ok(Self { sources, root, found: Found::default() })
    }

    /// The document with these settings.
    pub fn document(self, overrides: &Overrides, limits: &Limits) -> Result<Document, SceneError> {
        let Self { mut sources, root, found } = self;
        let (mut root, set) = take(root, SET);
        // Those of the scene itself first: those from outside win.
        let own = set.map_or(Ok(Vec::new()), |set| overrides::written(set, &sources, limits))?;
        let outside = overrides::parse(overrides, &mut sources, limits)?;
        let (first, later): (Vec<_>, Vec<_>) =
            own.into_iter().chain(outside).partition(|setting| setting.is_parameter());

        // 1. parameters, as set from outside
        apply(&mut root, first, &sources)?;
        let (parameters, mut scope) = match root.get_mut(PARAMETERS) {
            None => Default::default(),
            Some(node) => match &mut node.value {
                Value::Table(table) => parameters::resolve(table, &sources, limits)?,
                _ => return Err(not_a_table(&sources, PARAMETERS, node)),
            },
        };
        // 2. repeats, which may depend on parameters
        let mut root = expand(root, &mut scope, &sources, limits)?;
        // 3. settings, which may name what a repeat has made
        apply(&mut root, later, &sources)?;
        // 4. arithmetic
        let mut problems = Problems::default();
        for (key, section) in root.iter_mut() {
            if section.as_table().is_none() {
                problems.extend(not_a_table(&sources, &key.name, section));
            } else if key.name.as_ref() != PARAMETERS {
                compute(section, &scope, &sources, limits, &mut problems);
            }
        }
        problems.or(())?;
        check_size(&root, limits)?;
        let document = Document { sources: Arc::new(sources), root, parameters, found };
        document.check_format()?;
        Ok(document)
    }
}

impl Document {
    /// What was found when other documents of the same draft were built.
    pub(crate) fn found(&self) -> &Found {
        &self.found
    }

    /// Reads a scene and everything it includes.
    pub fn load(loader: &dyn Loader, path: &str, overrides: &Overrides, limits: &Limits) -> Result<Self, SceneError> {
        Draft::load(loader, path, limits)?.document(overrides, limits)
    }

    /// The tree of a scene as it is written: everything it includes is merged, nothing is computed.
    pub fn tree(loader: &dyn Loader, path: &str, limits: &Limits) -> Result<Table, SceneError> {
        Ok(Draft::load(loader, path, limits)?.root)
    }

    /// Reads a scene from one text that includes nothing.
    pub fn from_text(name: &str, text: &str, overrides: &Overrides, limits: &Limits) -> Result<Self, SceneError> {
        let loader = MemoryLoader::new().with(name, text);
        let path = loader.resolve("", name);
        Self::load(&MemoryLoader::new().with(path, text), name, overrides, limits)
    }

    /// The files it was read from.
    pub fn sources(&self) -> &Arc<Sources> {
        &self.sources
    }

    /// The whole tree.
    pub fn root(&self) -> &Table {
        &self.root
    }

    /// The parameters with their values, in the order of the source.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The entries of a section in the order of the source; none if there is no such section.
    pub fn section<'d>(&'d self, name: &str) -> impl Iterator<Item = Entry<'d>> {
        let found = self.root.entry(name).and_then(|(key, node)| Some((key, node.as_table()?)));
        let entries = found.into_iter().flat_map(|(section, table)| table.iter().map(move |entry| (section, entry)));
        entries.map(|(section, (key, node))| Entry { document: self, section: Some(&section.name), key, node })
    }

    /// A table that stands by itself, such as `run`.
    pub fn table<'d>(&'d self, name: &str) -> Option<Entry<'d>> {
        self.root.entry(name).map(|(key, node)| Entry { document: self, section: None, key, node })
    }

    /// Reports sections that are not among the known ones, and entries of element sections that are not tables.
    /// `elements` are the sections of named tables; `parameters`, `scene`, `run` and `output` are always known.
    pub fn check_sections(&self, elements: &[&str]) -> Result<(), SceneError> {
        let mut problems = Problems::default();
        for (key, node) in self.root.iter() {
            let name = key.name.as_ref();
            if elements.contains(&name) {
                for (inner, entry) in node.as_table().into_iter().flat_map(Table::iter) {
                    if entry.as_table().is_none() {
                        problems.extend(not_a_table(&self.sources, &format!("{name}.{}", inner.name), entry));
                    }
                }
            } else if name != PARAMETERS && !SINGLE_TABLES.contains(&name) {
                let known = elements.iter().copied().chain([PARAMETERS, REPEAT, SET]).chain(SINGLE_TABLES);
                let help = match nearest(name, known.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("expected one of {}", known.collect::<Vec<_>>().join(", ")),
                };
                let problem = Problem::new(format!("unknown section `{name}`")).at(&self.sources, key.span);
                problems.push(problem.help(help));
            }
        }
        problems.or(())
    }

    /// A problem at a place of this scene, for those who find out later what is wrong.
    pub fn problem_at(&self, span: Span, message: impl Into<String>) -> Problem {
        Problem::new(message).at(&self.sources, span)
    }

    /// An error at a place of this scene, with what to try.
    pub fn error_at(&self, span: Span, message: impl Into<String>, help: Option<&str>) -> SceneError {
        self.problem_at(span, message).maybe_help(help).into()
    }

    /// The computed scene as TOML; reading it gives an equal document.
    pub fn to_toml(&self) -> String {
        write::to_toml(&self.root)
    }

    fn check_format(&self) -> Result<(), SceneError> {
        let Some(format) = self.root.get(SCENE).and_then(|scene| scene.get("format")) else { return Ok(()) };
        if format.value == Value::Integer(FORMAT) {
            return Ok(());
        }
        let message =
            format!("the format of this scene is {}, this program reads format {FORMAT}", format.value.describe());
        Err(self.error_at(format.span, message, None))
    }
}

/// A named table of a document, or one that stands by itself.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'d> {
    document: &'d Document,
    section: Option<&'d str>,
    key: &'d Key,
    node: &'d Node,
}

impl<'d> Entry<'d> {
    /// Its name.
    pub fn name(&self) -> &'d str {
        &self.key.name
    }

    /// Its section and name, as in `body.upper`.
    pub fn path(&self) -> String {
        match self.section {
            Some(section) => format!("{section}.{}", self.key.name),
            None => self.key.name.as_ref().into(),
        }
    }

    /// Where its table starts: the header, or the braces.
    pub fn span(&self) -> Span {
        self.node.span
    }

    /// Where its name is written.
    pub fn name_span(&self) -> Span {
        self.key.span
    }

    /// Its contents.
    pub fn node(&self) -> &'d Node {
        self.node
    }

    /// The kind of element.
    pub fn kind(&self) -> Result<&'d str, SceneError> {
        match self.node.get(de::KIND) {
            Some(node) => node.as_str().ok_or_else(|| {
                self.document.error_at(
                    node.span,
                    format!("expected the name of a kind, found {}", node.value.describe()),
                    None,
                )
            }),
            None => Err(self.document.error_at(self.span(), format!("`{}` has no `kind`", self.path()), None)),
        }
    }

    /// Where a key inside the table is written: the value under a path such as `shape.points[1]`, or the table if it is not
    /// written.
    pub fn span_of(&self, path: &str) -> Span {
        let mut node = self.node;
        for step in path.split(['.', '[']) {
            let step = step.trim_end_matches(']');
            let inner = match &node.value {
                Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                _ => node.get(step),
            };
            match inner {
                Some(inner) => node = inner,
                None => return node.span,
            }
        }
        node.span
    }

    /// An error at a key inside the table, see [`Entry::span_of`].
    pub fn error(&self, path: &str, message: impl Into<String>, help: Option<&str>) -> SceneError {
        self.document.error_at(self.span_of(path), message, help)
    }

    /// Reads the whole table into a type.
    pub fn deserialize<T: Deserialize<'d>>(&self) -> Result<T, SceneError> {
        de::from_node(self.node, &[]).map_err(|error| error.into_scene(&self.document.sources, self.span()))
    }

    /// Reads the table without its `kind` and other keys that belong to whoever holds the element.
    pub fn deserialize_besides<T: DeserializeOwned>(&self, keys: &[&str]) -> Result<T, SceneError> {
        let skip: Vec<&str> = [de::KIND].into_iter().chain(keys.iter().copied()).collect();
        de::from_node(self.node, &skip)
            .map_err(|error: de::Error| error.into_scene(&self.document.sources, self.span()))
    }

    /// Reads the value of one key.
    pub fn deserialize_key<T: Deserialize<'d>>(&self, key: &str) -> Result<T, SceneError> {
        let node = self.node.get(key).unwrap_or(self.node);
        de::from_node(node, &[]).map_err(|error: de::Error| error.into_scene(&self.document.sources, node.span))
    }

    /// The named tables inside one of its keys; none if the key is not a table.
    pub fn inner(&self, key: &str) -> impl Iterator<Item = Entry<'d>> + use<'d> {
        let (document, found) = (self.document, self.node.get(key).and_then(Node::as_table));
        let entries = found.into_iter().flat_map(Table::iter);
        entries.map(move |(key, node)| Entry { document, section: None, key, node })
    }

    /// Reads the table without its `kind` into a type, which may then refuse unknown keys.
    pub fn deserialize_element<T: Deserialize<'d>>(&self) -> Result<T, SceneError> {
        de::from_node(self.node, &[de::KIND]).map_err(|error| error.into_scene(&self.document.sources, self.span()))
    }
}

fn not_a_table(sources: &Sources, name: &str, node: &Node) -> SceneError {
    Problem::new(format!("`{name}` must be a table, found {}", node.value.describe())).at(sources, node.span).into()
}

fn apply(root: &mut Table, settings: Vec<overrides::Setting>, sources: &Sources) -> Result<(), SceneError> {
    let mut problems = Problems::default();
    for setting in settings {
        if let Err(problem) = overrides::apply(root, setting, sources) {
            problems.push(problem);
        }
    }
    problems.or(())
}

/// Takes the repeats out of the tree and adds what they make.
fn expand(root: Table, scope: &mut Scope, sources: &Sources, limits: &Limits) -> Result<Table, SceneError> {
    let (mut plain, repeats) = take(root, REPEAT);
    let repeats = match repeats.map(|node| (node.value, node.span)) {
        None => Vec::new(),
        Some((Value::Array(items), _)) => items,
        Some((_, span)) => {
            let problem = Problem::new("repeats are an array of tables").at(sources, span);
            return Err(problem.help("write [[repeat]]").into());
        }
    };
    repeat::expand(&repeats, &mut plain, scope, sources, limits)?;
    Ok(plain)
}

/// A table without one of its keys, and what was there.
fn take(table: Table, name: &str) -> (Table, Option<Node>) {
    let (mut plain, mut taken) = (Table::default(), None);
    for (key, node) in table {
        if key.name.as_ref() == name {
            taken = Some(node);
        } else {
            plain.insert(key, node);
        }
    }
    (plain, taken)
}

/// Replaces every string that starts with `=` by its value.
fn compute(node: &mut Node, scope: &Scope, sources: &Sources, limits: &Limits, problems: &mut Problems) {
    if problems.is_full() {
        return;
    }
    match &mut node.value {
        Value::String(text) => {
            if let Some(formula) = Formula::of(text, node.span) {
                match formula.value(sources, limits, scope) {
                    Ok(value) => node.value = Value::from_number(value),
                    Err(error) => problems.extend(error),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| compute(item, scope, sources, limits, problems)),
        Value::Table(table) => table.iter_mut().for_each(|(_, item)| compute(item, scope, sources, limits, problems)),
        _ => {}
    }
}

fn check_size(root: &Table, limits: &Limits) -> Result<(), SceneError> {
    let entries: usize = root.iter().filter_map(|(_, node)| node.as_table()).map(Table::len).sum();
    if entries > limits.entries {
        return Err(Problem::new(format!("the scene has {entries} entries, the limit is {}", limits.entries)).into());
    }
    Ok(())
}
