//! `cargo xtask graph`: Jacobians by expression graphs against CasADi, in the Python environment of the race.

use crate::peers::environment;
use crate::shell::{self, Outcome, cargo, command, output, provide, root, write};

/// Runs the bench and CasADi, prints the table and writes it into the page of the book; with `--quick` it is only printed.
pub fn run(arguments: &[String]) -> Outcome {
    let quick = match arguments {
        [] => false,
        [one] if one == "--quick" => true,
        _ => return Err("expected nothing or `--quick`".into()),
    };
    provide("gcc", "gcc")?;
    let (folder, python) = environment(&["numpy", "casadi"])?;
    let own = folder.join("runs/graph.txt");
    write(&own, &output(&mut cargo(&["bench", "--package", "dalembert-graph", "--bench", "graph"]))?)?;
    let mut race = command(&python, &["benches/peers/graph.py", "--own"]);
    race.arg(&own).arg("--scratch").arg(folder.join("runs/graph"));
    if !quick {
        race.arg("--table").arg(root().join("docs/src/graph.md"));
    }
    shell::run(&mut race)
}
