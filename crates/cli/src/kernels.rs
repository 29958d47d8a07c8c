//! `dalembert equations --kernels`: which kernels the elements of a scene make and how large they are, and the functions as C or Rust of kernels and tables.

use crate::equations::{What, input_names, output_names, word};
use crate::exit::Exit;
use dalembert::equations::Sum;
use dalembert::model::Model;
use dalembert_control::elements::ModelKernels;
use dalembert_graph::export::{Driver, Names, mapped_c, mapped_rust};
use std::fmt::Write as _;

/// The sum over elements that a function is.
fn sum(what: What) -> Result<Sum, Exit> {
    Ok(match what {
        What::Mass => Sum::Mass,
        What::Force => Sum::Force,
        What::Residual => Sum::Residual,
        What::Velocity => Sum::Velocity,
        What::Rate => Sum::Rate,
        What::Gap => Sum::Gap,
        What::Acceleration | What::Multiplier => {
            let name = word(what);
            let message =
                format!("`{name}` is solved for from all elements together and is no sum over them; leave it out");
            return Err(Exit::Usage(message));
        }
    })
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The kernels of the functions that are wanted: what they compute, for whom, and how long they are.
pub fn tell(model: &Model, wanted: &[What], derivatives: bool) -> Result<String, Exit> {
    let mut out = String::new();
    let operations = |count: usize| plural(count, "operation", "operations");
    for &what in wanted {
        let parts = ModelKernels::of(model, &[sum(what)?]);
        let derived = derivatives.then(|| parts.derivatives());
        let kernels = derived.as_ref().map_or(parts.kernels(), |(kernels, _)| kernels);
        let (extent, count) = (kernels.extent(), kernels.sizes.outputs);
        let values = if derivatives { plural(count, "entry", "entries") } else { plural(count, "value", "values") };
        let _ = writeln!(
            out,
            "{}{}: {values} by {} of {}; {} in all, tables of {}",
            if derivatives { "derivatives of " } else { "" },
            word(what),
            plural(extent.kernels, "kernel", "kernels"),
            operations(extent.operations),
            operations(extent.computed),
            plural(extent.entries, "number", "numbers"),
        );
        for kernel in &kernels.kernels {
            let (element, _) = parts.part(kernel.members[0]);
            let more = match kernel.instances.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} like it"),
            };
            let _ = writeln!(
                out,
                "  {} {}{more}: {}, {}, {}, {}",
                model.element_kind(element),
                model.element_name(element),
                plural(kernel.variables, "input", "inputs"),
                plural(kernel.function.inputs - kernel.variables, "constant", "constants"),
                operations(kernel.operations()),
                plural(kernel.function.outputs.len(), "output", "outputs"),
            );
        }
        for plain in parts.plain() {
            let _ = writeln!(out, "  {} is computed as it is: {}", plain.name, plain.reason);
        }
    }
    Ok(out)
}

/// The functions, or their derivatives, as source code of kernels and tables.
pub fn write(model: &Model, wanted: &[What], derivatives: bool, rust: bool) -> Result<String, Exit> {
    let sums: Vec<Sum> = wanted.iter().map(|&what| sum(what)).collect::<Result<_, _>>()?;
    let parts = ModelKernels::of(model, &sums);
    if let Some(plain) = parts.plain().first() {
        return Err(Exit::Usage(format!("{} cannot be written down: {}", plain.name, plain.reason)));
    }
    let inputs = input_names(model);
    let mut outputs: Vec<String> = wanted.iter().flat_map(|&what| output_names(model, what)).collect();
    let derived = derivatives.then(|| parts.derivatives());
    let kernels = derived.as_ref().map_or(parts.kernels(), |(kernels, _)| kernels);
    if let Some((_, pattern)) = &derived {
        let entry = |&(i, j): &(u32, u32)| format!("d({})/d({})", outputs[i as usize], inputs[j as usize]);
        outputs = pattern.entries.iter().map(entry).collect();
    }
    let names = Names { function: "equations".into(), inputs, outputs };
    Ok(if rust { mapped_rust(kernels, &names, Driver::Main) } else { mapped_c(kernels, &names, Driver::Main) })
}
