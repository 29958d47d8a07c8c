//! Robots from wherever they are written: robot files, scene files, built-in scenes.

use crate::args::{ModelOptions, SceneOptions};
use crate::exit::Exit;
use crate::source;
use dalembert::bodies::{Tree, TreeSettings};
use dalembert::scene::Scene;
use dalembert::scenes;
use dalembert_methods::vector::Vec3;
use dalembert_robots::{Base, Imported, read};
use std::path::Path;

/// A tree with the configuration it starts from.
pub struct Robot {
    /// The tree, in the gravity of its file.
    pub tree: dalembert_trees::Tree,
    /// The initial coordinates.
    pub initial: Vec<f64>,
}

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String, Exit> {
    std::fs::read_to_string(path).map_err(|error| Exit::io(&format!("read `{}`", path.display()), &error))
}

/// Writes a file.
pub fn write_text(path: &Path, text: &str) -> Result<(), Exit> {
    std::fs::write(path, text).map_err(|error| Exit::io(&format!("write `{}`", path.display()), &error))
}

/// Writes to a file, or to standard output.
pub fn write_or_print(path: Option<&Path>, text: &str) -> Result<(), Exit> {
    path.map_or_else(|| crate::print(text), |path| write_text(path, text))
}

/// A robot file.
pub fn read_robot(path: &Path, free: bool) -> Result<Imported, Exit> {
    let text = read_text(path)?;
    let base = if free { Base::Free } else { Base::Fixed };
    read(&text, base).map_err(|error| Exit::Usage(format!("{}: {error}", path.display())))
}

/// Whether a model is a scene; other files are robots.
fn is_scene(model: &str) -> bool {
    scenes::find(model).is_some() || Path::new(model).extension().is_some_and(|e| e == "toml")
}

/// The scene of a model; a robot file becomes a scene of one tree.
pub fn scene(options: &ModelOptions) -> Result<Scene, Exit> {
    if is_scene(&options.model) {
        let scene = SceneOptions { scene: options.model.clone(), set: options.set.clone() };
        return source::load(&scene, &[]).map(|(scene, _)| scene);
    }
    crate::import::scene(&read_robot(Path::new(&options.model), options.free)?, Vec::new())
}

/// The scene of a model that is meant as a whole: one without a single tree, and no tree was chosen.
pub fn whole_scene(options: &ModelOptions) -> Result<Option<Scene>, Exit> {
    if !is_scene(&options.model) || options.body.is_some() {
        return Ok(None);
    }
    let scene = scene(options)?;
    let moving =
        |name: &str| scene.model.bodies().iter().filter(|b| b.item.velocities() > 0 && b.item.kind() == name).count();
    let others = scene.model.bodies().iter().filter(|b| b.item.velocities() > 0).count() - moving("tree");
    Ok((moving("tree") != 1 || others > 0).then_some(scene))
}

/// The tree of a model.
pub fn load(options: &ModelOptions) -> Result<Robot, Exit> {
    if !is_scene(&options.model) {
        let robot = read_robot(Path::new(&options.model), options.free)?;
        return Ok(Robot { tree: robot.tree, initial: robot.initial });
    }
    let model = scene(options)?.model;
    let wanted = |name: &str| options.body.as_deref().is_none_or(|body| body == name);
    let trees: Vec<_> = model.bodies().iter().filter(|b| b.item.kind() == "tree" && wanted(&b.name)).collect();
    let [body] = trees.as_slice() else {
        let names: Vec<&str> = trees.iter().map(|b| b.name.as_str()).collect();
        return Err(Exit::Usage(match (names.as_slice(), &options.body) {
            ([], Some(body)) => format!("`{}` has no tree named `{body}`", options.model),
            ([], None) => format!("`{}` has no body of kind `tree`", options.model),
            _ => format!("`{}` has several trees: choose one by --body {}", options.model, names.join("|")),
        }));
    };
    let settings = serde_json::from_value::<TreeSettings>(serde_json::Value::Object(body.item.parameters()));
    let settings = settings.map_err(|error| Exit::Usage(format!("body `{}`: {error}", body.name)))?;
    let tree = Tree::try_from(settings).map_err(|error| Exit::Usage(format!("body `{}`: {error}", body.name)))?;
    let (mut initial, mut v) = (vec![0.0; body.item.coordinates()], vec![0.0; body.item.velocities()]);
    body.item.initial(&mut initial, &mut v);
    Ok(Robot { tree: tree.tree().clone().with_gravity(Vec3(model.gravity())), initial })
}
