//! Finding scenes: built-in ones by name, others by file.

use crate::args::SceneOptions;
use crate::exit::Exit;
use dalembert::scene::{DiskLoader, Document, Limits, Overrides, Scene, nearest};
use dalembert::scenes;
use std::path::Path;

/// Reads the scene an option names; gives it with its short name.
pub fn load(options: &SceneOptions, more: &[String]) -> Result<(Scene, String), Exit> {
    let mut overrides = Overrides::none();
    for setting in options.set.iter().chain(more) {
        overrides.push(setting);
    }
    let limits = Limits::default();
    if let Some(scene) = scenes::find(&options.scene) {
        let document = Document::from_text(&format!("{}.toml", scene.name), scene.text, &overrides, &limits)?;
        return Ok((Scene::from_document(document)?, scene.name.to_owned()));
    }
    let path = Path::new(&options.scene);
    if !path.exists() {
        let hint = nearest(&options.scene, scenes::ALL.iter().map(|s| s.name)).map_or_else(
            || "`dalembert list scenes` shows the built-in ones".to_owned(),
            |n| format!("did you mean `{n}`?"),
        );
        return Err(Exit::Usage(format!("there is no built-in scene and no file `{}`; {hint}", options.scene)));
    }
    let document = Document::load(&DiskLoader, &options.scene, &overrides, &limits)?;
    let name = path.file_stem().map_or_else(|| "scene".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let mut scene = Scene::from_document(document)?;
    scene.read_meshes_from_disk()?;
    Ok((scene, name))
}
