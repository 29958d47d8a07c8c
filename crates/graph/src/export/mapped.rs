//! Kernels and the tables of their instances as source code: a large function stays as short as its kernels, and compilers are done with it soon.
//!
//! Each kernel is a function of its own. Its table has a row for each instance: the places of the inputs, those beyond all inputs being constants, then the places
//! that the outputs are added to.

use super::Names;
use super::expression::Style;
use super::source::{Driver, c_function, c_head, c_legend, c_main, identifier, rust_function, rust_legend, rust_main};
use crate::kernels::{Kernel, Kernels};
use std::fmt::Write;

/// Numbers between commas, so many on a line.
fn listed<T>(list: impl Iterator<Item = T>, each: usize, write: impl Fn(T) -> String) -> String {
    let words: Vec<String> = list.map(write).collect();
    let lines: Vec<String> = words.chunks(each.max(1)).map(|line| format!("    {},\n", line.join(", "))).collect();
    lines.concat()
}

fn row(kernel: &Kernel) -> usize {
    kernel.function.inputs + kernel.function.outputs.len()
}

/// The tables of a kernel, instance by instance.
fn places(kernel: &Kernel) -> impl Iterator<Item = u32> + '_ {
    kernel.instances.iter().flat_map(|i| i.inputs.iter().chain(&i.outputs)).copied()
}

/// C99 with `math.h`, as [`super::c`] writes it: `void NAME(const double *x, double *y)`.
pub fn mapped_c(kernels: &Kernels, names: &Names, driver: Driver) -> String {
    let name = identifier(&names.function);
    let (n, m) = (kernels.sizes.inputs, kernels.sizes.outputs);
    let mut out = c_head(driver);
    let numbers = listed(kernels.constants.iter().chain(kernels.constants.is_empty().then_some(&0.0)), 4, |&c| {
        Style::C.number(c)
    });
    writeln!(out, "\nstatic const double {name}_constants[] = {{\n{numbers}}};").ok();
    let (mut inputs, mut outputs, mut loops) = (1, 1, String::new());
    for (k, kernel) in kernels.kernels.iter().enumerate() {
        let (a, b, count) = (kernel.function.inputs, kernel.function.outputs.len(), kernel.instances.len());
        (inputs, outputs) = (inputs.max(a), outputs.max(b));
        out.push('\n');
        c_function(&mut out, &kernel.function, &format!("static void {name}_kernel{}", k + 1));
        let table = listed(places(kernel), row(kernel), |p| p.to_string());
        writeln!(out, "static const unsigned {name}_places{}[] = {{\n{table}}};", k + 1).ok();
        writeln!(
            loops,
            "    for (int i = 0; i < {count}; i++) {{\n        const unsigned *p = {name}_places{0} + {1}L * i;\n        \
             for (int k = 0; k < {a}; k++)\n            a[k] = p[k] < {n}u ? x[p[k]] : {name}_constants[p[k] - {n}u];\n        \
             {name}_kernel{0}(a, b);\n        for (int k = 0; k < {b}; k++)\n            y[p[{a} + k]] += b[k];\n    }}",
            k + 1,
            row(kernel),
        )
        .ok();
    }
    out.push_str(&c_legend(&name, n, m, names));
    writeln!(
        out,
        "void {name}(const double *restrict x, double *restrict y)\n{{\n    double a[{inputs}], b[{outputs}];\n    \
         for (int i = 0; i < {m}; i++)\n        y[i] = 0.0;\n{loops}}}"
    )
    .ok();
    if driver == Driver::Main {
        c_main(&mut out, &name, n, m);
    }
    out
}

/// Rust without dependencies, as [`super::rust`] writes it: `pub fn NAME(x: &[f64; N], y: &mut [f64; M])`.
pub fn mapped_rust(kernels: &Kernels, names: &Names, driver: Driver) -> String {
    let name = identifier(&names.function).to_lowercase();
    let (n, m, large) = (kernels.sizes.inputs, kernels.sizes.outputs, name.to_uppercase());
    let mut out = String::new();
    let numbers = listed(kernels.constants.iter(), 4, |&c| Style::Rust.number(c));
    writeln!(out, "static {large}_CONSTANTS: [f64; {}] = [\n{numbers}];", kernels.constants.len()).ok();
    let mut loops = String::new();
    for (k, kernel) in kernels.kernels.iter().enumerate() {
        let (a, b, count) = (kernel.function.inputs, kernel.function.outputs.len(), kernel.instances.len());
        out.push('\n');
        rust_function(&mut out, &kernel.function, &format!("fn {name}_kernel{}", k + 1));
        let table = kernel.instances.iter().map(|i| {
            let words: Vec<String> = i.inputs.iter().chain(&i.outputs).map(u32::to_string).collect();
            format!("    [{}],\n", words.join(", "))
        });
        let table: String = table.collect();
        writeln!(out, "static {large}_PLACES{}: [[usize; {}]; {count}] = [\n{table}];", k + 1, row(kernel)).ok();
        writeln!(
            loops,
            "    for places in &{large}_PLACES{0} {{\n        let (mut own, mut sum) = ([0.0; {a}], [0.0; {b}]);\n        \
             for (own, &place) in own.iter_mut().zip(places) {{\n            \
             *own = if place < {n} {{ x[place] }} else {{ {large}_CONSTANTS[place - {n}] }};\n        }}\n        \
             {name}_kernel{0}(&own, &mut sum);\n        \
             sum.iter().zip(&places[{a}..]).for_each(|(sum, &place)| y[place] += sum);\n    }}",
            k + 1,
        )
        .ok();
    }
    out.push('\n');
    out.push_str(&rust_legend(n, m, names));
    writeln!(out, "pub fn {name}(x: &[f64; {n}], y: &mut [f64; {m}]) {{\n    y.fill(0.0);\n{loops}}}").ok();
    if driver == Driver::Main {
        rust_main(&mut out, &name, n, m);
    }
    out
}
