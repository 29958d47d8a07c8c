//! `dalembert import` and `dalembert eval`: robot files.

use crate::args::{EvalOptions, ImportOptions};
use crate::exit::Exit;
use dalembert::bodies::{Tree, TreeSettings};
use dalembert::model::Builder;
use dalembert::scene::Scene;
use dalembert_methods::vector::Vec3;
use dalembert_robots::evaluate::{Quantity, evaluate, read_states};
use dalembert_robots::{Base, Imported, read, write_urdf};
use std::path::Path;

fn read_text(path: &Path) -> Result<String, Exit> {
    std::fs::read_to_string(path).map_err(|error| Exit::io(&format!("read `{}`", path.display()), &error))
}

fn write_text(path: &Path, text: &str) -> Result<(), Exit> {
    std::fs::write(path, text).map_err(|error| Exit::io(&format!("write `{}`", path.display()), &error))
}

fn load(path: &Path, free: bool) -> Result<Imported, Exit> {
    let text = read_text(path)?;
    let base = if free { Base::Free } else { Base::Fixed };
    read(&text, base).map_err(|error| Exit::Usage(format!("{}: {error}", path.display())))
}

/// Reads a robot, says what was found and what was left out, and writes it in another format.
pub fn import(options: &ImportOptions) -> Result<(), Exit> {
    let robot = load(&options.file, options.free)?;
    let tree = &robot.tree;
    let mass: f64 = tree.links().iter().map(|l| l.mass.mass).sum();
    let mut text = format!("{}: {} links, {} freedoms, {mass} kg\n", robot.name, tree.links().len(), tree.velocities());
    for left in &robot.left_out {
        text.push_str(&format!(
            "{}:{}:{}: not taken over: {}\n",
            options.file.display(),
            left.place.line,
            left.place.column,
            left.what
        ));
    }
    crate::print(&text)?;
    let Some(out) = &options.out else { return Ok(()) };
    let written = match out.extension().and_then(|e| e.to_str()) {
        Some("urdf") => write_urdf(tree, &robot.name).map_err(|error| Exit::Usage(error.to_string()))?,
        Some("toml") => scene(&robot)?,
        _ => return Err(Exit::Usage(format!("`{}` must end in .toml or .urdf", out.display()))),
    };
    write_text(out, &written)
}

/// The robot as a scene of one body.
fn scene(robot: &Imported) -> Result<String, Exit> {
    let settings = TreeSettings::of_links(robot.builder.links(), &robot.tree, &robot.initial);
    let body = Tree::try_from(settings).map_err(Exit::Usage)?;
    let mut builder = Builder::new();
    builder.gravity(robot.tree.gravity().0);
    builder.body("robot", body);
    let model = builder
        .build()
        .map_err(|errors| Exit::Usage(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    let mut scene = Scene::new(model);
    scene.info.title = robot.name.clone();
    Ok(scene.to_toml())
}

/// Computes a quantity of a robot for a table of states.
pub fn eval(options: &EvalOptions) -> Result<(), Exit> {
    let robot = load(&options.file, options.free)?;
    let quantity = Quantity::ALL.iter().find(|(_, name, _)| *name == options.what).map(|q| q.0);
    let Some(quantity) = quantity else {
        let known: Vec<String> = Quantity::ALL.iter().map(|(_, name, about)| format!("  {name}: {about}")).collect();
        return Err(Exit::Usage(format!("`{}` is not known; expected one of\n{}", options.what, known.join("\n"))));
    };
    let table = match &options.states {
        Some(path) => read_text(path)?,
        None => format!("q.{}\n", robot.tree.coordinate_names().join(",q.")) + &numbers(&robot.initial) + "\n",
    };
    let place = options.states.as_ref().map_or_else(String::new, |path| format!("{}: ", path.display()));
    let states = read_states(&robot.tree, &robot.initial, &table).map_err(|e| Exit::Usage(format!("{place}{e}")))?;
    let point = match options.point.as_slice() {
        [] => Vec3::zero(),
        [x, y, z] => Vec3([*x, *y, *z]),
        _ => return Err(Exit::Usage("--point needs three numbers, as 0.1,0,0".into())),
    };
    let link = options.link.as_deref().map(|name| (name, point));
    let result = evaluate(&robot.tree, quantity, link, &states).map_err(|e| Exit::Usage(e.to_string()))?;
    match &options.out {
        Some(path) => write_text(path, &result.to_csv()),
        None => crate::print(&result.to_csv()),
    }
}

fn numbers(list: &[f64]) -> String {
    list.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(",")
}
