//! Reading and writing scenes, and what is known of everything that a scene can say.

use crate::callback::{self, Raised};
use crate::model::Model;
use crate::{convert, error};
use dalembert::scene::{
    DiskLoader, Document, Limits, LoadError, Loader, Overrides, Scene, every_kind, every_section, fields, nearest,
    to_toml,
};
use dalembert::scenes;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::Path;
use std::sync::Arc;

/// Reads one text in the place of a file, and all others from disk.
struct Overlay {
    path: String,
    text: String,
}

impl Loader for Overlay {
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, LoadError> {
        if path != self.path {
            return DiskLoader.read(path, limit);
        }
        if self.text.len() > limit { Err(LoadError::TooLarge(limit)) } else { Ok(self.text.clone().into_bytes()) }
    }
}

fn overlay(path: &str, text: &str) -> Overlay {
    Overlay { path: DiskLoader.resolve("", path), text: text.to_owned() }
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

/// Reads a scene as it is written: its tree, the path of its file and its short name.
#[pyfunction]
pub fn read<'py>(py: Python<'py>, source: &str) -> PyResult<(Bound<'py, PyDict>, String, Option<String>, String)> {
    let (path, text, name) = find(py, source)?;
    let tree = match text {
        Some(text) => Document::tree(&overlay(&path, text), &path, &Limits::default()),
        None => Document::tree(&DiskLoader, &path, &Limits::default()),
    };
    let tree = tree.map_err(|error| error::scene(py, &error))?;
    Ok((convert::to_python(py, &tree)?, path, text.map(str::to_owned), name))
}

/// The tree of a text; files that it includes are relative to `path`.
#[pyfunction]
pub fn parse<'py>(py: Python<'py>, text: &str, path: &str) -> PyResult<Bound<'py, PyDict>> {
    let tree = Document::tree(&overlay(path, text), path, &Limits::default());
    convert::to_python(py, &tree.map_err(|error| error::scene(py, &error))?)
}

/// A tree as TOML.
#[pyfunction]
pub fn write(tree: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(to_toml(&convert::from_python(tree)?))
}

/// Builds a model: from a text in the place of a file, or from the file itself. Settings `path=value` win over what is written.
#[pyfunction]
#[pyo3(signature = (text, path, name, settings, signals, forces, meshes))]
pub fn build(
    py: Python<'_>,
    text: Option<String>,
    path: String,
    name: String,
    settings: Vec<String>,
    signals: &Bound<'_, PyDict>,
    forces: &Bound<'_, PyDict>,
    meshes: bool,
) -> PyResult<Model> {
    let raised = Arc::new(Raised::default());
    let callbacks = callback::collect(signals, forces, &raised)?;
    let overrides: Overrides = settings.into_iter().collect();
    let built = py.detach(|| {
        let limits = Limits::default();
        let document = match &text {
            Some(text) => Document::load(&overlay(&path, text), &path, &overrides, &limits),
            None => Document::load(&DiskLoader, &path, &overrides, &limits),
        }?;
        let mut scene = Scene::with_callbacks(document, callbacks)?;
        if meshes {
            scene.read_meshes_from_disk()?;
        }
        Ok(scene)
    });
    let scene = built.map_err(|error| error::scene(py, &error))?;
    let functions = (signals.clone().unbind(), forces.clone().unbind());
    Ok(Model::new(scene, name, path, functions, raised))
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
