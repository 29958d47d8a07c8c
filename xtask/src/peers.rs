//! `cargo xtask peers`: the race against other tools, in a Python environment of its own.

use crate::chores::release_binary;
use crate::shell::{self, Outcome, command, root, target};
use crate::shell::{install as install_package, provide};
use std::path::{Path, PathBuf};

/// Packages from PyPI. The first line is needed by the script itself, the others are the peers.
const NEEDED: &[&str] = &["numpy", "scipy"];
const PEERS: &[&str] = &["exudyn", "mujoco"];

/// Makes the Python environment with the packages that are needed; gives its folder and its Python.
pub fn environment(needed: &[&str]) -> Outcome<(PathBuf, PathBuf)> {
    let folder = target().join("peers");
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        println!("making a Python environment in target/peers");
        shell::run(command(if cfg!(windows) { "python" } else { "python3" }, &["-m", "venv"]).arg(&folder))?;
    }
    for package in needed {
        install(&python, package)?;
    }
    Ok((folder, python))
}

fn install(python: &Path, package: &str) -> Outcome {
    shell::run(&mut command(python, &["-m", "pip", "install", "--quiet", package]))
}

/// Makes the environment, runs the race and writes the page.
fn race_all(quick: bool) -> Outcome {
    let (folder, python) = environment(NEEDED)?;
    for package in PEERS {
        if let Err(message) = install(&python, package) {
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
    let quick = match arguments {
        [] => false,
        [one] if one == "--quick" => true,
        _ => return Err("expected nothing or `--quick`".into()),
    };
    provide("clang++", "clang")?;
    provide("valgrind", "valgrind")?;
    if std::env::var_os("EIGEN").is_none() && !Path::new("/usr/include/eigen3").is_dir() {
        install_package("Eigen 3", "libeigen3-dev")?;
    }
    let (folder, python) = environment(&["numpy", "pin", "example-robot-data"])?;
    let build = ["build", "--release", "-p", "dalembert-trees", "--example", "race"];
    shell::run(&mut shell::cargo(&build))?;
    let native = target().join("native");
    shell::run(shell::cargo(&build).env("CARGO_TARGET_DIR", &native).env("RUSTFLAGS", "-C target-cpu=native"))?;
    let mut race = command(&python, &["benches/peers/trees.py", "--ours"]);
    race.arg(target().join("release/examples/race")).arg("--native").arg(native.join("release/examples/race"));
    race.arg("--scratch").arg(folder.join("trees"));
    let page = if quick { folder.join("benchmarks-trees.md") } else { root().join("docs/src/benchmarks-trees.md") };
    race.arg("--page").arg(page);
    if quick {
        race.args(["--rounds", "1", "--no-count"]);
    }
    shell::run(&mut race)
}

/// The chore `robots`.
pub fn robots(arguments: &[String]) -> Outcome {
    let [folder] = arguments else { return Err("expected the folder of robots and samples".into()) };
    let folder = std::path::absolute(folder).map_err(|error| format!("cannot find `{folder}`: {error}"))?;
    let tests = ["test", "-p", "dalembert-robots", "--test", "reference", "--", "--ignored", "--nocapture"];
    shell::run(shell::cargo(&tests).env("DALEMBERT_ROBOTS", folder))
}

/// The chore `crossing`.
pub fn crossing(_: &[String]) -> Outcome {
    let picture = root().join("docs/src/pictures/crossing.svg");
    let run = ["run", "--quiet", "--release", "-p", "dalembert-trees", "--example", "crossing", "--"];
    shell::run(shell::cargo(&run).arg(picture))
}
