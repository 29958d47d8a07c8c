//! Reading and writing scenes, and what is known of everything that a scene can say.

use crate::callback::{self, Raised};
use crate::model::Model;
use crate::watch::detached;
use crate::{convert, error};
use dalembert::callback::Callbacks;
use dalembert::scene::{
    DiskLoader, Document, Limits, LoadError, Loader, Overrides, Scene, SceneError, edited, every_kind, every_section,
    fields, nearest, to_toml,
};
use dalembert::scenes;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Files as they were read, by their paths.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Reads files that are known already, all others from disk, and remembers what it has read: what happens on the disk later changes nothing.
struct Noting<'a> {
    known: &'a Files,
    read: RefCell<Files>,
}

impl<'a> Noting<'a> {
    fn new(known: &'a Files) -> Self {
        Self { known, read: RefCell::default() }
    }
}

impl Loader for Noting<'_> {
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, LoadError> {
        let bytes = match self.known.get(path) {
            None => DiskLoader.read(path, limit)?,
            Some(bytes) if bytes.len() > limit => return Err(LoadError::TooLarge(limit)),
            Some(bytes) => bytes.clone(),
        };
        self.read.borrow_mut().insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

/// One text in the place of a file.
pub fn overlay(path: &str, text: &str) -> Files {
    Files::from([(DiskLoader.resolve("", path), text.to_owned().into_bytes())])
}

/// What a model is made of: files, the first of which is found by its path, with settings `path=value` that win over what is written.
pub struct Source {
    pub files: Files,
    pub path: String,
    pub settings: Vec<String>,
    /// Whether mesh files are read from disk.
    pub meshes: bool,
    /// Whether nothing is left to compute in it: then its parameters have done their work, and setting them would change nothing.
    pub computed: bool,
}

impl Source {
    /// Reads the scene, with further settings.
    pub fn load(&self, more: impl Iterator<Item = String>, callbacks: Callbacks) -> Result<Scene, SceneError> {
        self.noted(more, callbacks).map(|(scene, _)| scene)
    }

    /// The same with all files that were read.
    fn noted(&self, more: impl Iterator<Item = String>, callbacks: Callbacks) -> Result<(Scene, Files), SceneError> {
        let overrides: Overrides = self.settings.iter().cloned().chain(more).collect();
        let loader = Noting::new(&self.files);
        let document = Document::load(&loader, &self.path, &overrides, &Limits::default())?;
        let mut scene = Scene::with_callbacks(document, callbacks)?;
        if self.meshes {
            scene.read_meshes(&loader)?;
        }
        Ok((scene, loader.read.into_inner()))
    }
}

/// Where the scene of a word is: a built-in one, or a file. Gives its path, its text if it is built in, and its short name.
fn find(py: Python<'_>, source: &str) -> PyResult<(String, Option<&'static str>, String)> {
    if let Some(scene) = scenes::find(source) {
        return Ok((format!("{}.toml", scene.name), Some(scene.text), scene.name.to_owned()));
    }
    let path = Path::new(source);
    if !path.exists() {
        let hint = nearest(source, scenes::ALL.iter().map(|s| s.name)).map_or_else(
            || "dalembert.scenes() shows the built-in ones".to_owned(),
            |n| format!("did you mean `{n}`?"),
        );
        let message = format!("there is no built-in scene and no file `{source}`; {hint}");
        return Err(error::plain(py, "SceneNotFound", message));
    }
    let name = path.file_stem().map_or_else(|| "scene".to_owned(), |stem| stem.to_string_lossy().into_owned());
    Ok((source.to_owned(), None, name))
}

/// A tree, and the files that it was read from.
type Read<'py> = (Bound<'py, PyDict>, Files);

/// The tree of some files.
fn tree<'py>(py: Python<'py>, path: &str, known: &Files) -> PyResult<Read<'py>> {
    let loader = Noting::new(known);
    let tree = Document::tree(&loader, path, &Limits::default()).map_err(|error| error::scene(py, &error))?;
    Ok((convert::to_python(py, &tree)?, loader.read.into_inner()))
}

/// Reads a scene as it is written: its tree, all files that it was read from, the path of the first, its short name, and whether it is on disk.
#[pyfunction]
pub fn read<'py>(py: Python<'py>, source: &str) -> PyResult<(Bound<'py, PyDict>, Files, String, String, bool)> {
    let (path, text, name) = find(py, source)?;
    let known = text.map_or_else(Files::new, |text| overlay(&path, text));
    let (tree, files) = tree(py, &path, &known)?;
    Ok((tree, files, path, name, text.is_none()))
}

/// The tree of a text, and all files that it was read from; those that it includes are relative to `path`.
#[pyfunction]
pub fn parse<'py>(py: Python<'py>, text: &str, path: &str) -> PyResult<Read<'py>> {
    tree(py, path, &overlay(path, text))
}

/// All files of a scene, those of meshes too.
#[pyfunction]
pub fn files_of(py: Python<'_>, files: Files, path: String, settings: Vec<String>) -> PyResult<Files> {
    let source = Source { files, path, settings, meshes: true, computed: false };
    let read = detached(py, || source.noted(std::iter::empty(), Callbacks::none()));
    read.map(|(_, files)| files).map_err(|error| error::scene(py, &error))
}

/// A tree as TOML: the text that it was read from, if there is one and it can be edited, with what has changed; else a text of its own.
#[pyfunction]
#[pyo3(signature = (tree, files=None, path=None))]
pub fn write(tree: &Bound<'_, PyAny>, files: Option<Files>, path: Option<&str>) -> PyResult<String> {
    let tree = convert::from_python(tree)?;
    let (files, path) = (files.unwrap_or_default(), path.map(|path| DiskLoader.resolve("", path)));
    let text = path.and_then(|path| std::str::from_utf8(files.get(&path)?).ok());
    let edited = text.and_then(|text| edited(text, &tree, &Limits::default()));
    Ok(edited.unwrap_or_else(|| to_toml(&tree)))
}

/// Builds a model from a text, or from files as they were read, the first of which is found by its path. Settings `path=value` win over what is written.
#[pyfunction]
#[pyo3(signature = (text, path, name, settings, signals, forces, meshes, computed=false, files=None))]
pub fn build(
    py: Python<'_>,
    text: Option<String>,
    path: String,
    name: String,
    settings: Vec<String>,
    signals: &Bound<'_, PyDict>,
    forces: &Bound<'_, PyDict>,
    meshes: bool,
    computed: bool,
    files: Option<Files>,
) -> PyResult<Model> {
    let raised = Arc::new(Raised::default());
    let callbacks = callback::collect(signals, forces, &raised)?;
    let mut files = files.unwrap_or_default();
    files.extend(text.map(|text| overlay(&path, &text)).unwrap_or_default());
    let source = Source { files, path, settings, meshes, computed };
    let built = detached(py, || source.load(std::iter::empty(), callbacks));
    let scene = built.map_err(|error| error::scene(py, &error))?;
    let functions = (signals.clone().unbind(), forces.clone().unbind());
    Ok(Model::new(scene, name, source, functions, raised))
}

/// The built-in scenes with what they show.
#[pyfunction]
pub fn scenes_built_in() -> Vec<(&'static str, &'static str)> {
    scenes::ALL.iter().map(|scene| (scene.name, scene.summary)).collect()
}

/// Everything that elements and sections say of themselves, as JSON: sections, kinds, keys with units, defaults and meanings, and the schema of scene
/// files.
#[pyfunction]
pub fn registry() -> String {
    let field = |f: dalembert::scene::FieldInfo| serde_json::json!({ "name": f.name, "unit": f.unit, "default": f.default, "meaning": f.meaning });
    let kinds: Vec<_> = every_kind()
        .into_iter()
        .map(|k| {
            serde_json::json!({
                "section": k.section, "kind": k.kind, "summary": k.summary, "references": k.references,
                "markers": k.need.map(|need| need.key),
                "count": k.need.and_then(|need| need.count),
                "fields": fields(&k.schema).into_iter().map(field).collect::<Vec<_>>(),
            })
        })
        .collect();
    let sections: Vec<_> = every_section()
        .iter()
        .map(|schema| {
            let about = schema.get("description").cloned().unwrap_or_default();
            serde_json::json!({ "about": about, "fields": fields(schema).into_iter().map(field).collect::<Vec<_>>() })
        })
        .collect();
    serde_json::json!({ "kinds": kinds, "sections": sections, "schema": dalembert::scene::schema() }).to_string()
}

/// The integrators: name, title, order, and their settings with units, defaults and meanings.
#[pyfunction]
pub fn integrators(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let out = PyList::empty(py);
    for about in dalembert::methods::nonsmooth::choices() {
        let entry = PyDict::new(py);
        entry.set_item("name", about.name)?;
        entry.set_item("title", about.title)?;
        entry.set_item("order", about.order)?;
        let settings: Vec<_> = about.parameters.iter().map(|p| (p.name, p.unit, p.default, p.meaning)).collect();
        entry.set_item("settings", settings)?;
        out.append(entry)?;
    }
    Ok(out)
}
