//! `cargo xtask soft`: the soft cylinder against SciPy's LSODA and Radau, in the Python environment of the race.

use crate::peers::environment;
use crate::shell::{self, Outcome, cargo, command, output, write};

/// Runs the bench and the outside solvers, and prints the table.
pub fn run(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("expected no arguments".into());
    }
    let (folder, python) = environment(&["numpy", "scipy"])?;
    let runs = folder.join("runs");
    std::fs::create_dir_all(&runs).map_err(|error| format!("cannot make {}: {error}", runs.display()))?;
    let own = runs.join("soft.txt");
    write(&own, &output(&mut cargo(&["bench", "--package", "dalembert", "--bench", "soft_precision"]))?)?;
    shell::run(command(&python, &["benches/peers/soft.py", "--own"]).arg(&own).arg("--scratch").arg(&runs))
}
