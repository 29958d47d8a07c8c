//! `dalembert equations` of a whole scene: any of its functions, recorded and written down.

use crate::args::{EquationOptions, Language};
use crate::eval_scene;
use crate::exit::Exit;
use crate::kernels;
use dalembert::model::Model;
use dalembert_control::equations::Reader;
use dalembert_control::transcribe::Division;
use dalembert_graph::derive::jacobian::jacobian;
use dalembert_graph::export::{Driver, Names, c, latex, rust, text};
use dalembert_graph::{Recorded, Trace, record};
use dalembert_methods::algebra::{Mass, MassBlock};
use dalembert_methods::dynamics::{Dynamics, Rates};
use dalembert_methods::nonsmooth::Contacts;
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
        names.extend(extra(model).iter().map(|name| format!("x.{name}")));
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

/// What can be written down.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    Mass,
    Force,
    Acceleration,
    Multiplier,
    Residual,
    Velocity,
    Rate,
    Gap,
}

/// The functions of a scene: names on the command line, and what they are.
const FUNCTIONS: [(What, &str, &str); 8] = [
    (What::Mass, "mass", "the mass matrix, its lower half where it does not vanish"),
    (What::Force, "force", "generalised forces"),
    (What::Acceleration, "acceleration", "accelerations that meet the constraints"),
    (What::Multiplier, "multiplier", "multipliers of the constraints, of the rows that count"),
    (What::Residual, "residual", "residuals of constraints on positions"),
    (What::Velocity, "velocity", "residuals of all constraints on the level of velocities"),
    (What::Rate, "rate", "rates of extra states"),
    (What::Gap, "gap", "gaps of contacts"),
];

/// The name of a function on the command line.
pub fn word(what: What) -> &'static str {
    FUNCTIONS.iter().find(|(own, _, _)| *own == what).map_or("", |(_, name, _)| name)
}

/// What is asked for, in the order of the table; mass, force and residual if nothing is.
fn wanted(words: &[String]) -> Result<Vec<What>, Exit> {
    if words.is_empty() {
        return Ok(vec![What::Mass, What::Force, What::Residual]);
    }
    let mut out = Vec::new();
    for word in words {
        let Some((what, _, _)) = FUNCTIONS.iter().find(|(_, name, _)| name == word) else {
            let known: Vec<String> = FUNCTIONS.iter().map(|(_, name, about)| format!("  {name}: {about}")).collect();
            return Err(Exit::Usage(format!("`{word}` is not known; expected some of\n{}", known.join("\n"))));
        };
        out.push(*what);
    }
    out.sort();
    out.dedup();
    Ok(out)
}

/// The rows of constraints from which the others follow, at the initial state.
fn counting(model: &Model) -> Result<Vec<usize>, Exit> {
    let shape = model.shape();
    if shape.rows() == 0 {
        return Ok(Vec::new());
    }
    let mut dynamics = Dynamics::new(model);
    let mut rates = Rates::zeros(shape);
    let start = model.initial_state();
    dynamics.evaluate(model, &start, &mut rates).map_err(|error| Exit::Usage(error.to_string()))?;
    let mut rows = Division::of(&eval_scene::dense(dynamics.parts().rows, shape.rows(), shape.v), shape.v).rows;
    rows.sort_unstable();
    Ok(rows)
}

/// The names of time, coordinates, velocities, extra states and parameters.
pub fn input_names(model: &Model) -> Vec<String> {
    Inputs::new(model).names
}

/// The names of the values of a function that is a sum over elements, in its own order.
pub fn output_names(model: &Model, what: What) -> Vec<String> {
    let velocities = eval_scene::names(model).1;
    let row = |level: &'static str| move |k: usize| format!("{level}.{}.{k}", model.row_name(k));
    match what {
        What::Mass => mass_names(model, &velocities),
        What::Force => velocities.iter().map(|name| format!("force.{name}")).collect(),
        What::Residual => (0..model.shape().g).map(row("residual")).collect(),
        What::Velocity => (0..model.shape().rows()).map(row("velocity")).collect(),
        What::Rate => extra(model).iter().map(|name| format!("rate.{name}")).collect(),
        What::Gap => (0..Contacts::contacts(model)).map(|k| format!("gap.{}", model.contact_name(k))).collect(),
        What::Acceleration | What::Multiplier => Vec::new(),
    }
}

/// The names of all values of the mass matrix, block by block. Those of a tree are no entries, but what its links carry, one after the other.
fn mass_names(model: &Model, velocities: &[String]) -> Vec<String> {
    let entry = |row: usize, column: usize| format!("mass.{}.{}", velocities[row], velocities[column]);
    let mass = Mass::<f64>::new(&model.mass_blocks());
    let of = |(block, first): (&MassBlock, usize)| -> Vec<String> {
        match block {
            MassBlock::Diagonal(n) => (first..first + n).map(|k| entry(k, k)).collect(),
            MassBlock::Dense(n) => (0..n * n).map(|k| entry(first + k / n, first + k % n)).collect(),
            carried => (1..=carried.values()).map(|k| format!("carried.{}.{k}", velocities[first])).collect(),
        }
    };
    mass.blocks().flat_map(of).collect()
}

/// The functions that are wanted, with their names.
fn functions(model: &Model, wanted: &[What]) -> Result<(Recorded, Vec<String>), Exit> {
    let shape = model.shape();
    let inputs = Inputs::new(model);
    let velocities = eval_scene::names(model).1;
    let solves = wanted.iter().any(|what| matches!(what, What::Acceleration | What::Multiplier));
    if solves && !model.loads().is_empty() {
        let message = "friction driven by reactions has no accelerations in closed form; leave out `acceleration` and `multiplier`";
        return Err(Exit::Usage(message.into()));
    }
    let rows = if solves { counting(model)? } else { Vec::new() };
    let mut names = Vec::new();
    let recorded = record(inputs.names.len(), |x| {
        let s = Inputs::state(model, x);
        let mut reader = Reader::new(model);
        let mut out = Vec::new();
        let none = vec![Trace::default(); shape.v];
        let solved = if solves { reader.accelerate_by(&s, &none, &rows) } else { (Vec::new(), Vec::new()) };
        reader.prepare(&s);
        let force = reader.force(&s);
        for what in wanted {
            match what {
                What::Mass => {
                    let mut mass = Mass::new(&model.mass_blocks());
                    model.mass(&s, &mut reader.work, &mut mass);
                    mass.entries(|row, column, value| {
                        if column <= row && value.known() != Some(0.0) {
                            names.push(format!("mass.{}.{}", velocities[row], velocities[column]));
                            out.push(value);
                        }
                    });
                }
                What::Force => {
                    names.extend(velocities.iter().map(|name| format!("force.{name}")));
                    out.extend(&force);
                }
                What::Acceleration => {
                    names.extend(velocities.iter().map(|name| format!("acceleration.{name}")));
                    out.extend(&solved.0);
                }
                What::Multiplier => {
                    names.extend(rows.iter().map(|&k| format!("multiplier.{}.{k}", model.row_name(k))));
                    out.extend(&solved.1);
                }
                What::Residual => {
                    names.extend((0..shape.g).map(|k| format!("residual.{}.{k}", model.row_name(k))));
                    out.extend(reader.holonomic(&s));
                }
                What::Velocity => {
                    names.extend((0..shape.rows()).map(|k| format!("velocity.{}.{k}", model.row_name(k))));
                    out.extend(reader.velocity(&s));
                }
                What::Rate => {
                    names.extend(extra(model).iter().map(|name| format!("rate.{name}")));
                    out.extend(reader.rate(&s));
                }
                What::Gap => {
                    names.extend((1..=shape.gaps).map(|k| format!("gap.{k}")));
                    let mut gaps = vec![Trace::default(); Contacts::contacts(model)];
                    model.contact_gap(&s, &mut reader.work, &mut gaps);
                    // Dry friction of given size is among the contacts, but has no gap.
                    out.extend((0..gaps.len()).filter(|&k| model.own_press(k).is_none()).map(|k| gaps[k]));
                }
            }
        }
        out
    });
    Ok((recorded.map_err(|error| Exit::Usage(error.to_string()))?, names))
}

/// Names of the extra states: the force they belong to, and a number where it has several.
fn extra(model: &Model) -> Vec<String> {
    let mut names = Vec::new();
    for force in model.forces() {
        match force.item.states() {
            1 => names.push(force.name.clone()),
            n => names.extend((1..=n).map(|k| format!("{}.{k}", force.name))),
        }
    }
    names
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
    if options.kernels {
        let wanted = wanted(&options.what)?;
        return match options.language() {
            Language::Text => kernels::tell(model, &wanted, options.derivatives),
            Language::C => kernels::write(model, &wanted, options.derivatives, false),
            Language::Rust => kernels::write(model, &wanted, options.derivatives, true),
            Language::Latex => Err(Exit::Usage("kernels are told as text, or written as C or Rust".into())),
        };
    }
    let (mut f, mut outputs) = functions(model, &wanted(&options.what)?)?;
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
