//! `dalembert equations` of a whole scene: any of its functions, recorded and written down.

use crate::args::{EquationOptions, Language};
use crate::eval_scene;
use crate::exit::Exit;
use dalembert::model::Model;
use dalembert_graph::derive::jacobian::jacobian;
use dalembert_graph::export::{Driver, Names, c, latex, rust, text};
use dalembert_graph::{Recorded, Trace, record};
use dalembert_methods::algebra::Mass;
use dalembert_methods::{State, System};

/// A state of numbers that are recorded, and the names of them.
struct Inputs {
    names: Vec<String>,
}

impl Inputs {
    /// Time, coordinates, velocities, extra states and parameters.
    fn new(model: &Model) -> Self {
        let shape = model.shape();
        let (coordinates, velocities) = eval_scene::names(model);
        let mut names = vec!["t".to_owned()];
        names.extend(coordinates.iter().map(|name| format!("q.{name}")));
        names.extend(velocities.iter().map(|name| format!("v.{name}")));
        names.extend((1..=shape.x).map(|k| format!("x.{k}")));
        names.extend((1..=shape.p).map(|k| format!("p.{k}")));
        Self { names }
    }

    fn state(model: &Model, x: &[Trace]) -> State<Trace> {
        let mut s = State::zeros(model.shape());
        s.t = x[0];
        let mut rest = &x[1..];
        for part in [&mut s.q, &mut s.v, &mut s.x, &mut s.p] {
            let (own, after) = rest.split_at(part.len());
            part.copy_from_slice(own);
            rest = after;
        }
        s
    }
}

/// Mass matrix, forces, and residuals of constraints, with their names.
fn functions(model: &Model) -> Result<(Recorded, Vec<String>), Exit> {
    let shape = model.shape();
    let inputs = Inputs::new(model);
    let velocities = eval_scene::names(model).1;
    let mut names = Vec::new();
    let recorded = record(inputs.names.len(), |x| {
        let s = Inputs::state(model, x);
        let mut w = model.work::<Trace>();
        model.prepare(&s, &mut w);
        let mut mass = Mass::new(&model.mass_blocks());
        model.mass(&s, &mut w, &mut mass);
        let mut out = Vec::new();
        mass.entries(|row, column, value| {
            // The matrix is symmetric: its lower half is written, where it does not vanish.
            if column <= row && value.known() != Some(0.0) {
                names.push(format!("mass.{}.{}", velocities[row], velocities[column]));
                out.push(value);
            }
        });
        let mut force = vec![Trace::default(); shape.v];
        model.force(&s, &mut w, &mut force);
        names.extend(velocities.iter().map(|name| format!("force.{name}")));
        let mut residual = vec![Trace::default(); shape.g];
        model.constraint(&s, &mut w, &mut residual);
        names.extend((0..shape.g).map(|k| format!("residual.{}.{k}", model.row_name(k))));
        [out, force, residual].concat()
    });
    Ok((recorded.map_err(|error| Exit::Usage(error.to_string()))?, names))
}

/// A name inside a formula.
fn roman(name: &str) -> String {
    let mut out = String::from("\\mathrm{");
    for c in name.chars() {
        if matches!(c, '_' | '#' | '%' | '&' | '$' | '{' | '}') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('}');
    out
}

/// The equations of a scene in a language.
pub fn write(model: &Model, options: &EquationOptions) -> Result<String, Exit> {
    let (mut f, mut outputs) = functions(model)?;
    let mut inputs = Inputs::new(model).names;
    if options.derivatives {
        let slope = jacobian(&f);
        let entries = slope.pattern.entries.iter();
        outputs = entries.map(|&(i, j)| format!("d({})/d({})", outputs[i as usize], inputs[j as usize])).collect();
        f = slope.function;
    }
    let language = options.language();
    if language == Language::Latex {
        inputs.iter_mut().chain(&mut outputs).for_each(|name| *name = roman(name));
    }
    let names = Names { function: "equations".into(), inputs, outputs };
    Ok(match language {
        Language::Text => text(&f, &names),
        Language::Latex => latex(&f, &names),
        Language::C => c(&f, &names, Driver::Main),
        Language::Rust => rust(&f, &names, Driver::Main),
    })
}
