//! The Python package: its tests in an environment of its own, and its speed.
//!
//! The package is built by maturin, as `pip install .` does it for everybody, but with the profile of the tests, and with the feature `shared`: packages
//! that it has in common with the rest of the workspace have the same features then and are not compiled again.

use crate::shell::{Outcome, cargo, command, install, output, root, run, target, works};
use std::path::{Path, PathBuf};

/// Packages from PyPI that the tests need.
const NEEDED: &[&str] = &[
    "maturin",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "pytest",
    "mypy",
    "distributed",
    "nbclient",
    "ipykernel",
    "matplotlib",
];
/// Those that the race needs.
const RACE: &[&str] = &["numpy", "maturin", "pin", "mujoco"];
/// What maturin is told beside pyproject.toml.
const BUILD: &str = "--profile dev --features shared --locked";
/// Packages that belong to one build only: whatever features they have, no other package is compiled twice for them.
const OWN: &[&str] = &["dalembert-python", "tempfile", "getrandom"];

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

/// Runs pip quietly.
fn pip(python: &Path, arguments: &[&str]) -> std::process::Command {
    let mut pip = command(python, &["-m", "pip", "--quiet", "--disable-pip-version-check"]);
    pip.args(arguments).env("CARGO_TARGET_DIR", target());
    pip
}

/// `pip install .`, through the build backend that pyproject.toml names.
fn install_package(python: &Path) -> Outcome {
    let plain = ["install", "--no-deps", "--force-reinstall", "--no-build-isolation", "."];
    // The backend is the maturin of this environment.
    let bin = python.parent().map(Path::to_owned).unwrap_or_default();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&paths)));
    run(pip(python, &plain).env("MATURIN_PEP517_ARGS", BUILD).env("PATH", all.map_err(|e| e.to_string())?))
}

/// Builds the wheel, and installs it where there is nothing else: it must run a scene there.
fn check_wheel(python: &Path) -> Outcome {
    let wheels = emptied("wheels")?;
    // With the interpreter that pip has named: with another one everything that knows Python would be compiled again.
    let mut build = command(python, &["-m", "maturin", "build", "--quiet", "--interpreter"]);
    run(build.arg(python).arg("--out").arg(&wheels).args(BUILD.split(' ')).env("CARGO_TARGET_DIR", target()))?;
    let wheel = only_wheel(&wheels)?;
    let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !name.contains("-cp39-abi3-") {
        return Err(format!("{name} is not for all Pythons from 3.9 on"));
    }
    let fresh = environment("python-fresh", &[])?;
    run(pip(&fresh, &["install", "--force-reinstall"]).arg(wheel))?;
    run(command(&fresh, &["-c", PROGRAM]).current_dir(target()))
}

/// What a wheel must be able to do.
const PROGRAM: &str = "import dalembert; print('the wheel runs:', dalembert.load('double-pendulum').run(until=1))";
/// What an import may take at most, in s of the processor.
const IMPORT: f64 = 0.3;

/// The only wheel of a folder.
fn only_wheel(folder: &Path) -> Outcome<PathBuf> {
    let mut found = crate::shell::files(folder, ".whl");
    match (found.pop(), found.len()) {
        (Some(wheel), 0) => Ok(wheel),
        (_, others) => Err(format!("{} has {others} wheels beside the one that was to come", folder.display())),
    }
}

/// An empty folder below that of build products.
fn emptied(name: &str) -> Outcome<PathBuf> {
    let folder = target().join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|error| format!("cannot empty {}: {error}", folder.display()))?;
    }
    Ok(folder)
}

/// The wheel as people get it, built for release with the maturin of an environment: what `pip install .` builds too.
fn release_wheel(python: &Path) -> Outcome<PathBuf> {
    let wheels = emptied("wheels-release")?;
    let mut build = command(python, &["-m", "maturin", "build", "--release", "--quiet", "--locked", "--interpreter"]);
    run(build.arg(python).arg("--out").arg(&wheels).env("CARGO_TARGET_DIR", target()))?;
    only_wheel(&wheels)
}

/// The wheel as people get it, installed where there is nothing else, and imported. Its time is asked five times, and the least counts, as other work on the
/// machine can only add to it.
pub fn wheel(arguments: &[String]) -> Outcome {
    let [] = arguments else { return Err("expected nothing".into()) };
    let wheel = release_wheel(&environment("python-speed", &["maturin"])?)?;
    emptied("python-wheel")?;
    let fresh = environment("python-wheel", &[])?;
    run(pip(&fresh, &["install"]).arg(&wheel))?;
    let timed = "import time; start = time.process_time(); import dalembert; print(time.process_time() - start)";
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let told = output(command(&fresh, &["-c", timed]).current_dir(target()))?;
        least = least.min(told.trim().parse().map_err(|_| format!("no time: {told}"))?);
    }
    println!("import dalembert: {least:.3} s; {}", wheel.display());
    if least > IMPORT {
        return Err(format!("the import takes {least:.3} s of the processor, {IMPORT} s are allowed"));
    }
    run(command(&fresh, &["-c", PROGRAM]).current_dir(target()))
}

/// Says which packages maturin compiles with other features than the workspace has: they, and all that depend on them, cost time.
fn compare_features() -> Outcome {
    let listed = |arguments: &[&str]| -> Outcome<Vec<String>> {
        let text = output(cargo(&["tree", "--format", "{p} {f}", "--prefix", "none"]).args(arguments))?;
        Ok(text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect())
    };
    let whole = listed(&["--workspace", "--edges", "normal,build,dev"])?;
    let ours = listed(&["--package", "dalembert-python", "--features", "shared", "--edges", "normal,build"])?;
    let other = |line: &&String| !whole.contains(line) && !OWN.iter().any(|name| line.starts_with(&format!("{name} ")));
    let mut apart: Vec<&String> = ours.iter().filter(other).collect();
    apart.dedup();
    if !apart.is_empty() {
        println!("compiled twice, as their features differ (see `shared` in crates/python/Cargo.toml): {apart:?}");
    }
    Ok(())
}

/// The stage of `cargo xtask test`, after everything was built: package, wheel, types, tests.
pub fn check() -> Outcome {
    compare_features()?;
    let python = environment("python", NEEDED)?;
    install_package(&python)?;
    check_wheel(&python)?;
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
    run(&mut cargo(&["build", "--workspace", "--bins", "--tests"]))?;
    check()
}

/// Writes the types of all elements anew.
pub fn stubs(_: &[String]) -> Outcome {
    let python = environment("python", NEEDED)?;
    install_package(&python)?;
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
    let wheel = release_wheel(&python)?;
    run(pip(&python, &["install", "--no-deps", "--force-reinstall"]).arg(wheel))?;
    let tool = crate::chores::release_binary()?;
    let mut race = command(&python, &["benches/peers/python.py", "--dalembert"]);
    race.arg(tool);
    if !quick {
        race.arg("--page").arg(root().join("docs/src/python.md"));
    }
    run(&mut race)
}
