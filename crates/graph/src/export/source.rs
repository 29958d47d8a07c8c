//! Source code that needs nothing but its language's own library.

use super::Names;
use super::expression::{Style, Writer};
use dalembert_methods::trace::{Id, Recorded};
use std::fmt::Write;

/// Whether a program around the function is written, too: it reads the inputs as lines and prints the outputs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Driver {
    /// The function alone.
    None,
    /// With a `main` that reads and prints.
    Main,
}

/// A name that both languages accept.
pub(super) fn identifier(name: &str) -> String {
    let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert_str(0, "f_");
    }
    if out == "main" { "main_function".into() } else { out }
}

/// What the places of inputs and outputs mean, one on each line.
fn legend(n: usize, m: usize, names: &Names) -> Vec<String> {
    let inputs = (0..n).map(|k| format!("x[{k}]: {}", names.input(k)));
    inputs.chain((0..m).map(|k| format!("y[{k}]: {}", names.output(k)))).collect()
}

/// C99 with `math.h`: `void NAME(const double *x, double *y)`.
pub fn c(f: &Recorded, names: &Names, driver: Driver) -> String {
    let name = identifier(&names.function);
    let mut out = c_head(driver);
    out.push_str(&c_legend(&name, f.inputs, f.outputs.len(), names));
    c_function(&mut out, f, &format!("void {name}"));
    if driver == Driver::Main {
        c_main(&mut out, &name, f.inputs, f.outputs.len());
    }
    out
}

/// What a file of C begins with.
pub(super) fn c_head(driver: Driver) -> String {
    let further = if driver == Driver::Main { "#include <stdio.h>\n" } else { "" };
    format!("#include <math.h>\n{further}")
}

/// The comment above a function of so many inputs and outputs.
pub(super) fn c_legend(name: &str, n: usize, m: usize, names: &Names) -> String {
    let clean = |line: &str| line.replace("*/", "* /");
    let lines: Vec<String> = legend(n, m, names).iter().map(|line| format!(" * {}\n", clean(line))).collect();
    format!("\n/* {name}: {n} inputs, {m} outputs.\n{} */\n", lines.concat())
}

/// A function with this beginning.
pub(super) fn c_function(out: &mut String, f: &Recorded, begin: &str) {
    writeln!(out, "{begin}(const double *restrict x, double *restrict y)\n{{").ok();
    body(f, Style::C, |writer, id, name, value| {
        let kind = if writer.is_mask(id) { "int" } else { "double" };
        writeln!(out, "    const {kind} {name} = {value};").ok();
    });
    outputs(f, Style::C, |k, value| {
        writeln!(out, "    y[{k}] = {value};").ok();
    });
    out.push_str("}\n");
}

/// The program around a function of `n` inputs and `m` outputs.
pub(super) fn c_main(out: &mut String, name: &str, n: usize, m: usize) {
    let (a, b) = (n.max(1), m.max(1));
    writeln!(
        out,
        "\nint main(void)\n{{\n    static double x[{a}], y[{b}];\n    for (;;) {{\n        for (int i = 0; i < {n}; i++)\n            \
         if (scanf(\"%lf\", x + i) != 1)\n                return 0;\n        {name}(x, y);\n        \
         for (int i = 0; i < {m}; i++)\n            printf(\"%.17g\\n\", y[i]);\n    {}}}\n}}",
        if n == 0 { "    return 0;\n    " } else { "" }
    )
    .ok();
}

/// Rust without dependencies: `pub fn NAME(x: &[f64; N], y: &mut [f64; M])`.
pub fn rust(f: &Recorded, names: &Names, driver: Driver) -> String {
    let name = identifier(&names.function).to_lowercase();
    let mut out = rust_legend(f.inputs, f.outputs.len(), names);
    rust_function(&mut out, f, &format!("pub fn {name}"));
    if driver == Driver::Main {
        rust_main(&mut out, &name, f.inputs, f.outputs.len());
    }
    out
}

/// The comment above a function of so many inputs and outputs.
pub(super) fn rust_legend(n: usize, m: usize, names: &Names) -> String {
    let lines: Vec<String> = legend(n, m, names).iter().map(|line| format!("/// - `{line}`\n")).collect();
    format!("/// {n} inputs, {m} outputs.\n///\n{}", lines.concat())
}

/// A function with this beginning.
pub(super) fn rust_function(out: &mut String, f: &Recorded, begin: &str) {
    writeln!(out, "{begin}(x: &[f64; {}], y: &mut [f64; {}]) {{", f.inputs, f.outputs.len()).ok();
    body(f, Style::Rust, |_, _, name, value| {
        writeln!(out, "    let {name} = {value};").ok();
    });
    outputs(f, Style::Rust, |k, value| {
        writeln!(out, "    y[{k}] = {value};").ok();
    });
    out.push_str("}\n");
}

/// The program around a function of `n` inputs and `m` outputs.
pub(super) fn rust_main(out: &mut String, name: &str, n: usize, m: usize) {
    writeln!(
        out,
        "\nfn main() {{\n    let text = std::io::read_to_string(std::io::stdin()).unwrap_or_default();\n    \
         let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();\n    \
         for state in numbers.chunks_exact({}) {{\n        let mut x = [0.0; {n}];\n        \
         x.copy_from_slice(&state[..{n}]);\n        let mut y = [0.0; {m}];\n        {name}(&x, &mut y);\n        \
         y.iter().for_each(|y| println!(\"{{y:?}}\"));\n    }}\n}}",
        n.max(1)
    )
    .ok();
}

fn body(f: &Recorded, style: Style, mut line: impl FnMut(&Writer<'_>, Id, &str, &str)) {
    let mut writer = Writer::new(f, style, |k| format!("x[{k}]"));
    let parts: Vec<Id> = writer.parts().to_vec();
    for id in parts {
        let (name, value) = writer.part(id);
        line(&writer, id, &name, &value);
    }
}

fn outputs(f: &Recorded, style: Style, mut line: impl FnMut(usize, &str)) {
    let writer = Writer::new(f, style, |k| format!("x[{k}]"));
    f.outputs.iter().enumerate().for_each(|(k, &id)| line(k, &writer.expression(id).0));
}
