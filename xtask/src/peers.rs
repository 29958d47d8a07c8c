//! `cargo xtask peers`: the race against other tools, in a Python environment of its own.

use crate::chores::release_binary;
use crate::shell::{self, Outcome, command, root, target};
use std::path::PathBuf;

/// Packages from PyPI. The first line is needed by the script itself, the others are the peers.
const NEEDED: &[&str] = &["numpy", "scipy"];
const PEERS: &[&str] = &["exudyn", "mujoco"];

/// The Python of the environment, made if it is missing.
fn environment() -> Result<PathBuf, String> {
    let folder = target().join("peers");
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        println!("making a Python environment in target/peers");
        shell::run(command(if cfg!(windows) { "python" } else { "python3" }, &["-m", "venv"]).arg(&folder))?;
    }
    Ok(python)
}

/// Makes the environment, runs the race and writes the page.
fn race_all(quick: bool) -> Outcome {
    let folder = target().join("peers");
    let python = environment()?;
    let install = |package: &str| shell::run(&mut command(&python, &["-m", "pip", "install", "--quiet", package]));
    for package in NEEDED {
        install(package)?;
    }
    for package in PEERS {
        if let Err(message) = install(package) {
            println!("{package} cannot be installed and is left out: {message}");
        }
    }
    let tool = release_binary()?;
    let page = if quick { folder.join("benchmarks.md") } else { root().join("docs/src/benchmarks.md") };
    let mut race = command(&python, &["benches/peers/chain.py", "--dalembert"]);
    race.arg(tool).arg("--scratch").arg(folder.join("runs")).arg("--page").arg(&page);
    if quick {
        race.arg("--quick");
    }
    shell::run(&mut race)
}

/// The chore.
pub fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => race_all(false),
        [one] if one == "--quick" => race_all(true),
        _ => Err("expected nothing or `--quick`".into()),
    }
}

/// The chore `peers-trees`.
pub fn trees(arguments: &[String]) -> Outcome {
    if !arguments.iter().all(|a| a == "--count") {
        return Err("expected nothing or `--count`".into());
    }
    let python = environment()?;
    for package in ["numpy", "pin", "example-robot-data"] {
        shell::run(&mut command(&python, &["-m", "pip", "install", "--quiet", package]))?;
    }
    shell::run(&mut shell::cargo(&["build", "--release", "-p", "dalembert-trees", "--example", "race"]))?;
    let mut race = command(&python, &["benches/peers/trees.py", "--ours"]);
    race.arg(target().join("release/examples/race")).arg("--scratch").arg(target().join("peers/trees"));
    shell::run(race.args(arguments))
}
