//! Shapes for looking at: reading them with their places, and the mesh files they name.

use super::{DiskLoader, Entry, LoadError, Loader, Scene, SceneError, Span, Value, nearest};
use super::{Problem, Problems};
use crate::bodies::{AnyBody, takes_looks};
use crate::picture::{Look, Looks, MOST_BYTES, Triangles};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The path of one of the shapes of a body.
fn path(entry: &Entry<'_>, number: usize) -> String {
    match entry.node().get(Look::KEY).map(|node| &node.value) {
        Some(Value::Array(_)) => format!("{}[{number}]", Look::KEY),
        _ => Look::KEY.to_owned(),
    }
}

/// The shapes in the table of a body; none if it has none, or a shape of its own that is part of the mechanics.
pub(super) fn read(entry: &Entry<'_>, body: &dyn AnyBody) -> Result<Vec<Look>, SceneError> {
    if entry.node().get(Look::KEY).is_none() || !takes_looks(body.kind()) {
        return Ok(Vec::new());
    }
    let Looks(looks) = entry.deserialize_key(Look::KEY)?;
    let mut problems = Problems::default();
    for (number, look) in looks.iter().enumerate() {
        let own = path(entry, number);
        if let Some((key, message)) = look.defect() {
            let at = if key.is_empty() { own } else { format!("{own}.{key}") };
            problems.extend(entry.error(&at, message, None));
        } else if let Some(link) = look.link.as_ref().filter(|link| !body.has_part(link)) {
            let names: Vec<&str> = (0..body.parts()).filter_map(|part| body.part_name(part)).collect();
            let help = match nearest(link, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "only trees have links; leave the key `link` out".to_owned(),
                None => format!("expected one of {}", names.join(", ")),
            };
            problems.extend(entry.error(&format!("{own}.link"), format!("there is no link `{link}`"), Some(&help)));
        }
    }
    problems.or(looks)
}

impl Scene {
    /// Reads the mesh files of shapes from disk; see [`Scene::read_meshes`].
    pub fn read_meshes_from_disk(&mut self) -> Result<(), SceneError> {
        self.read_meshes(&DiskLoader)
    }

    /// Reads the mesh files that shapes name, each relative to the scene file that names it. Without this
    /// such shapes are not drawn. Nothing else depends on it.
    pub fn read_meshes(&mut self, loader: &dyn Loader) -> Result<(), SceneError> {
        let mut problems = Problems::default();
        let mut known: BTreeMap<String, Option<Arc<Triangles>>> = BTreeMap::new();
        let mut number = 0;
        let mut before = usize::MAX;
        for (body, look) in &mut self.model.looks {
            number = if *body == before { number + 1 } else { 0 };
            before = *body;
            let Some(mesh) = &mut look.mesh else { continue };
            let name = &self.model.bodies[*body].name;
            let entry = self.document.as_ref().and_then(|document| document.section("body").find(|e| e.name() == name));
            let span = entry.map(|entry| entry.span_of(&format!("{}.mesh.file", path(&entry, number))));
            let sources = self.document.as_ref().map(|document| document.sources());
            let base = sources.zip(span).and_then(|(sources, span): (_, Span)| sources.file(span.file));
            let file = loader.resolve(base.map_or("", |base| base.name()), &mesh.file);
            if !known.contains_key(&file) {
                let read = open(loader, &file);
                if let Err(message) = &read {
                    let problem = Problem::new(format!("mesh `{file}`: {message}"));
                    problems.push(match sources.zip(span) {
                        Some((sources, span)) => problem.at(sources, span),
                        None => problem,
                    });
                }
                known.insert(file.clone(), read.ok().map(Arc::new));
            }
            mesh.triangles = known.get(&file).cloned().flatten();
        }
        self.meshes = known.into_keys().collect();
        problems.or(())
    }
}

/// Reads one mesh file.
fn open(loader: &dyn Loader, file: &str) -> Result<Triangles, String> {
    let bytes = loader.read(file, MOST_BYTES).map_err(|error| match error {
        LoadError::Missing => "there is no such file".to_owned(),
        LoadError::TooLarge(limit) => format!("the file is larger than {limit} bytes"),
        LoadError::Refused(reason) => reason,
    })?;
    Triangles::parse(file, &bytes).map_err(|error| error.to_string())
}
