//! The Python package: its tests in an environment of its own, and its speed.
//!
//! The tests use the library that `cargo build --workspace` has made with all others. A build of its own, as `pip install .` and maturin make it, would
//! choose other features of common packages and compile everything once more.

use crate::shell::{Outcome, cargo, command, install, output, root, run, target, works};
use std::path::{Path, PathBuf};

/// Packages from PyPI that the tests need.
const NEEDED: &[&str] =
    &["numpy", "pandas", "polars", "pyarrow", "pytest", "mypy", "distributed", "nbclient", "ipykernel", "matplotlib"];
/// Those that the race needs.
const RACE: &[&str] = &["numpy", "maturin", "pin", "mujoco"];

fn python() -> &'static str {
    if cfg!(windows) { "python" } else { "python3" }
}

/// Makes a Python environment below the folder of build products, with packages from PyPI; gives its Python.
pub fn environment(name: &str, packages: &[&str]) -> Outcome<PathBuf> {
    let folder = target().join(name);
    let own = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !works(&mut command(&own, &["-m", "pip", "--version"])) {
        if !works(&mut command(python(), &["-c", "import venv, ensurepip"])) {
            install("python3 with venv", "python3-venv")?;
        }
        println!("making a Python environment in target/{name}");
        run(command(python(), &["-m", "venv", "--clear"]).arg(&folder))?;
    }
    let known = output(&mut command(&own, &["-m", "pip", "list", "--format", "freeze"]))?;
    let has = |package: &str| known.lines().any(|line| line.split("==").next() == Some(package));
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !has(package)).collect();
    if !missing.is_empty() {
        let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(command(&own, &quiet).args(&missing))?;
    }
    Ok(own)
}

/// Packs the library of the workspace and the Python sources into a wheel and installs it.
fn install_wheel(python: &Path) -> Outcome {
    let library = format!("{}_dalembert{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let wheels = target().join("wheels");
    let mut pack = command(python, &["python/wheel.py"]);
    let wheel = output(pack.arg(target().join("debug").join(library)).arg(&wheels))?;
    let plain = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall"];
    run(command(python, &plain).arg(wheel.trim()))
}

/// The stage of `cargo xtask test`, after everything was built: wheel, types, tests.
pub fn check() -> Outcome {
    let python = environment("python", NEEDED)?;
    install_wheel(&python)?;
    // Away from the sources, so that what is installed is what is imported.
    let away = target().join("python");
    let (sources, tests) = (root().join("python"), root().join("python/tests"));
    let config = root().join("pyproject.toml");
    run(command(&python, &["-m", "mypy", "--config-file"])
        .arg(&config)
        .arg("--cache-dir")
        .arg(away.join("mypy"))
        .arg(sources.join("dalembert"))
        .arg(sources.join("stubs.py"))
        .arg(sources.join("wheel.py"))
        .arg(&tests))?;
    let stubs = ["-m", "mypy.stubtest", "dalembert._dalembert", "dalembert._elements", "--ignore-missing-stub"];
    run(command(&python, &stubs).current_dir(&away))?;
    let program = target().join("debug").join(format!("dalembert{}", std::env::consts::EXE_SUFFIX));
    let quiet = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-c"];
    run(command(&python, &quiet)
        .arg(&config)
        .arg("--rootdir")
        .arg(&away)
        .arg(&tests)
        .current_dir(&away)
        .env("DALEMBERT", program))
}

/// The chore: builds what the stage needs, and runs it.
pub fn test(_: &[String]) -> Outcome {
    run(&mut cargo(&["build", "--workspace", "--lib", "--bins"]))?;
    check()
}

/// Writes the types of all elements anew.
pub fn stubs(_: &[String]) -> Outcome {
    run(&mut cargo(&["build", "--workspace", "--lib", "--bins"]))?;
    let python = environment("python", &["numpy"])?;
    install_wheel(&python)?;
    run(&mut command(&python, &["python/stubs.py"]))
}

/// The speed of the package, built as people get it, against the command line, Pinocchio and MuJoCo; writes the table of the book.
pub fn speed(arguments: &[String]) -> Outcome {
    let quick = match arguments {
        [] => false,
        [one] if one == "--quick" => true,
        _ => return Err("expected nothing or `--quick`".into()),
    };
    let python = environment("python-speed", RACE)?;
    run(command(&python, &["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", "."])
        .env("CARGO_TARGET_DIR", target()))?;
    let tool = crate::chores::release_binary()?;
    let mut race = command(&python, &["benches/peers/python.py", "--dalembert"]);
    race.arg(tool);
    if !quick {
        race.arg("--page").arg(root().join("docs/src/python.md"));
    }
    run(&mut race)
}
