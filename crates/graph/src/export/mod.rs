//! Functions written down: as text, as LaTeX, and as C or Rust that needs nothing else.
//!
//! Expressions that are used more than once get names, p1, p2, … in the order in which the outputs need them. The names depend on
//! nothing but the function, so the same function is written the same in every run.

mod expression;
mod mapped;
mod source;

pub use mapped::{mapped_c, mapped_rust};
pub use source::{Driver, c, rust};

use dalembert_methods::trace::{Id, Recorded};
use expression::{Style, Writer};
use std::fmt::Write;

/// What things are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The function.
    pub function: String,
    /// Its inputs, in LaTeX if it is to be written so.
    pub inputs: Vec<String>,
    /// Its outputs.
    pub outputs: Vec<String>,
}

impl Names {
    /// x1, x2, … for inputs and y1, y2, … for outputs.
    pub fn plain(function: &str, f: &Recorded) -> Self {
        let list = |letter: &str, n: usize| (1..=n).map(|k| format!("{letter}{k}")).collect();
        Self { function: function.into(), inputs: list("x", f.inputs), outputs: list("y", f.outputs.len()) }
    }

    /// The same with indices below: x_{1}, y_{1}.
    pub fn latex(function: &str, f: &Recorded) -> Self {
        let list = |letter: &str, n: usize| (1..=n).map(|k| format!("{letter}_{{{k}}}")).collect();
        Self { function: function.into(), inputs: list("x", f.inputs), outputs: list("y", f.outputs.len()) }
    }

    fn input(&self, index: usize) -> String {
        self.inputs.get(index).cloned().unwrap_or_else(|| format!("x{}", index + 1))
    }

    fn output(&self, index: usize) -> String {
        self.outputs.get(index).cloned().unwrap_or_else(|| format!("y{}", index + 1))
    }
}

/// The function as lines to be read: parts, then outputs.
pub fn text(f: &Recorded, names: &Names) -> String {
    let mut out = String::new();
    written(f, names, Style::Text, |name, value| {
        writeln!(out, "{name} = {value}").ok();
    });
    out
}

/// The function as an `align*` environment, one line for each part and each output.
pub fn latex(f: &Recorded, names: &Names) -> String {
    let mut lines = Vec::new();
    written(f, names, Style::Latex, |name, value| lines.push(format!("  {name} &= {value}")));
    format!("\\begin{{align*}}\n{}\n\\end{{align*}}\n", lines.join(" \\\\\n"))
}

/// Hands over all lines of a function: names and expressions.
fn written(f: &Recorded, names: &Names, style: Style, mut line: impl FnMut(&str, &str)) {
    let mut writer = Writer::new(f, style, |k| names.input(k));
    let parts: Vec<Id> = writer.parts().to_vec();
    for id in parts {
        let (name, value) = writer.part(id);
        line(&name, &value);
    }
    for (k, &id) in f.outputs.iter().enumerate() {
        line(&names.output(k), &writer.expression(id).0);
    }
}
