//! `dalembert eval` and `dalembert equations`: numbers and formulas of a robot or a scene.

use crate::args::{EquationOptions, EvalOptions, Language};
use crate::exit::Exit;
use crate::robot::{load, read_text, scene, whole_scene, write_or_print};
use crate::{equations, eval_scene};
use dalembert_methods::vector::Vec3;
use dalembert_robots::equations::Equations;
use dalembert_robots::evaluate::{Quantity, evaluate, read_states};

/// Computes a quantity of a robot or a scene for a table of states.
pub fn eval(options: &EvalOptions) -> Result<(), Exit> {
    let quantity = Quantity::ALL.iter().find(|(_, name, _)| *name == options.what).map(|q| q.0);
    let Some(quantity) = quantity else {
        let known: Vec<String> = Quantity::ALL.iter().map(|(_, name, about)| format!("  {name}: {about}")).collect();
        return Err(Exit::Usage(format!("`{}` is not known; expected one of\n{}", options.what, known.join("\n"))));
    };
    if let Some(scene) = whole_scene(&options.model)? {
        let states = options.states.as_deref().map(read_text).transpose()?;
        let result = eval_scene::evaluate(&scene.model, quantity, states.as_deref())?;
        return write_or_print(options.out.as_deref(), &result.to_csv());
    }
    let robot = load(&options.model)?;
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
    write_or_print(options.out.as_deref(), &result.to_csv())
}

/// Numbers with all their digits, between commas.
pub fn numbers(list: &[f64]) -> String {
    list.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(",")
}

/// Writes the equations of motion.
pub fn equations(options: &EquationOptions) -> Result<(), Exit> {
    let wants_whole = options.whole
        || options.derivatives
        || options.kernels
        || !options.what.is_empty()
        || matches!(options.language(), Language::C | Language::Rust);
    let whole = if wants_whole { Some(scene(&options.model)?) } else { whole_scene(&options.model)? };
    if let Some(scene) = whole {
        return write_or_print(options.out.as_deref(), &equations::write(&scene.model, options)?);
    }
    let robot = load(&options.model)?;
    let equations = Equations::of(&robot.tree).map_err(|error| Exit::Usage(error.to_string()))?;
    let latex = options.language() == Language::Latex;
    let text = if latex { equations.to_latex() } else { equations.to_text() };
    write_or_print(options.out.as_deref(), &text)
}
