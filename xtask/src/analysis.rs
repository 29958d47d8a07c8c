//! `cargo xtask analysis`: exponents and charts against SciPy with numba, in the Python environment of the race.

use crate::peers::environment;
use crate::shell::{self, Outcome, cargo, command, output, write};

/// Runs the bench and the outside solvers, and prints the table.
pub fn run(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("expected no arguments".into());
    }
    let (folder, python) = environment(&["numpy", "scipy", "numba"])?;
    let runs = folder.join("runs");
    std::fs::create_dir_all(&runs).map_err(|error| format!("cannot make {}: {error}", runs.display()))?;
    let own = runs.join("analysis.txt");
    write(&own, &output(&mut cargo(&["bench", "--package", "dalembert-analysis", "--bench", "analysis"]))?)?;
    shell::run(command(&python, &["benches/peers/analysis.py", "--own"]).arg(&own))
}
