//! The viewer: its build with Node.js, and its tests in a browser.

use crate::peers::environment;
use crate::shell::{Outcome, cargo, command, provide, root, run, target};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program run in the folder of the viewer.
fn here(program: &str, arguments: &[&str]) -> Command {
    let mut command = command(program, arguments);
    command.current_dir(root().join("viewer"));
    command
}

/// Whether the packages are those of package-lock.json.
fn is_fresh() -> bool {
    let changed = |path: PathBuf| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    let folder = root().join("viewer");
    let wanted = changed(folder.join("package-lock.json"));
    let present = changed(folder.join("node_modules/.package-lock.json"));
    wanted.is_some() && present > wanted
}

/// Builds `viewer/dist/viewer.js`.
pub fn build(_: &[String]) -> Outcome {
    provide("node", "nodejs")?;
    provide("npm", "npm")?;
    if !is_fresh() {
        run(&mut here("npm", &["ci", "--no-audit", "--no-fund", "--ignore-scripts"]))?;
    }
    run(&mut here("npm", &["run", "--silent", "check"]))?;
    run(&mut here("npm", &["run", "--silent", "build"]))
}

fn browser() -> Outcome {
    if std::env::var_os("DALEMBERT_BROWSER").is_some() { Ok(()) } else { provide("chromium", "chromium") }
}

/// A script of the viewer's tests, with the command line to test.
pub fn script(arguments: &[&str], tool: &Path) -> Outcome {
    browser()?;
    run(here("node", arguments).env("DALEMBERT", tool))
}

/// The command line as the tests build it, which is optimised.
fn binary() -> PathBuf {
    target().join("debug").join(format!("dalembert{}", std::env::consts::EXE_SUFFIX))
}

/// The viewer, and the command line with it.
pub fn build_all() -> Outcome<PathBuf> {
    build(&[])?;
    run(&mut cargo(&["build", "--workspace"]))?;
    Ok(binary())
}

/// The stage of `cargo xtask test`, after everything was built.
pub fn check() -> Outcome {
    script(&["--test", "--test-concurrency=1", "tests/"], &binary())
}

/// The tests by themselves.
pub fn test(_: &[String]) -> Outcome {
    build_all()?;
    check()
}

/// Frames per second.
pub fn speed(_: &[String]) -> Outcome {
    script(&["tests/speed.mjs"], &build_all()?)
}

/// A long run of the studio.
pub fn soak(arguments: &[String]) -> Outcome {
    let seconds = arguments.first().map_or("180", String::as_str);
    script(&["tests/soak.mjs", seconds], &build_all()?)
}

/// The version of Rerun whose crates write recordings; that one certainly reads them.
const RERUN: &str = "rerun-sdk==0.27.3";

/// Recordings for Rerun: written by the command line with that feature, read back by Rerun.
pub fn rerun(_: &[String]) -> Outcome {
    let (folder, python) = environment(&["numpy", RERUN])?;
    run(&mut cargo(&["build", "--package", "dalembert-cli", "--features", "rerun"]))?;
    let runs = folder.join("runs");
    for scene in ["double-pendulum", "leech", "soft-ball"] {
        let (record, recording) = (runs.join(scene), runs.join(format!("{scene}.rrd")));
        run(command(binary(), &["run", scene, "--quiet", "--until", "0.5", "--out"]).arg(&record))?;
        run(command(binary(), &["export"]).arg(&record).arg("--rerun").arg(&recording))?;
        run(command(&python, &["viewer/tests/recording.py"]).arg(&recording).arg(&record))?;
    }
    Ok(())
}
