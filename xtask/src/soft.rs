//! `cargo xtask soft`: the soft cylinder against SciPy's LSODA and Radau, in the Python environment of the race.

use crate::peers::environment;
use crate::shell::{self, Outcome, cargo, command, target};
use std::process::Command;

/// Runs the bench and the outside solvers, and prints the table.
pub fn run(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        return Err("expected no arguments".into());
    }
    let (folder, python) = environment(&["numpy", "scipy"])?;
    let runs = folder.join("runs");
    std::fs::create_dir_all(&runs).map_err(|error| format!("cannot make {}: {error}", runs.display()))?;
    // Both sides are compiled for this processor.
    let native = |mut command: Command| {
        command.env("CARGO_TARGET_DIR", target().join("native")).env("RUSTFLAGS", "-C target-cpu=native");
        command
    };
    shell::run(&mut native(cargo(&["bench", "--package", "dalembert", "--bench", "soft_precision", "--no-run"])))?;
    shell::run(native(command(&python, &["benches/peers/soft.py", "--scratch"])).arg(&runs))
}
