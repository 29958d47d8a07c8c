//! `cargo xtask test`: everything that must pass, in stages.

use crate::shell::{self, Outcome, cargo, command, files, root, target};
use crate::{book, tidy};
use std::time::Instant;

/// A stage and what it runs.
type Stage = (&'static str, fn() -> Outcome);

const STAGES: &[Stage] = &[
    ("format", format),
    ("viewer", viewer),
    ("clippy", clippy),
    ("build", build),
    ("tests", tests),
    ("examples", examples),
    ("rustdoc", rustdoc),
    ("browser", crate::viewer::check),
    ("python", crate::python::check),
    ("book", book::check),
    ("tidiness", tidy::check),
];

/// Runs all stages and prints how long each took.
fn run_stages(stages: &[Stage]) -> Outcome {
    let start = Instant::now();
    let mut times = Vec::new();
    for (number, (name, stage)) in stages.iter().enumerate() {
        println!("\n━━ {}/{} {name} ━━", number + 1, stages.len());
        let begin = Instant::now();
        stage().map_err(|message| format!("stage `{name}` failed: {message}"))?;
        times.push(format!("{name} {:.0} s", begin.elapsed().as_secs_f64()));
    }
    println!("\nall stages passed in {:.0} s ({})", start.elapsed().as_secs_f64(), times.join(", "));
    println!("stages: {} passed, 0 failed", stages.len());
    Ok(())
}

/// The chore.
pub fn run(_: &[String]) -> Outcome {
    run_stages(STAGES)
}

fn format() -> Outcome {
    shell::run(&mut cargo(&["fmt", "--all", "--check"]))
}

/// Before the command line, which takes it in.
fn viewer() -> Outcome {
    crate::viewer::build(&[])
}

fn clippy() -> Outcome {
    shell::run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// All that runs here at once, so that nothing is built twice with different features. Benches have been checked by clippy. Libraries come with what
/// needs them; that of the Python package is built by its own stage.
fn build() -> Outcome {
    shell::run(&mut cargo(&["build", "--workspace", "--bins", "--tests", "--examples"]))
}

/// Property tests draw the same samples in every run.
fn tests() -> Outcome {
    shell::run(cargo(&["test", "--workspace", "--quiet"]).env("PROPTEST_RNG_SEED", "1"))
}

/// Runs every example of the libraries in a folder of its own. Examples end by asserting what they show.
fn examples() -> Outcome {
    let mut count = 0;
    for package in ["methods", "optimise", "dalembert", "control", "cli"] {
        for source in files(&root().join("crates").join(package).join("examples"), ".rs") {
            let Some(name) = source.file_stem().and_then(|stem| stem.to_str()) else { continue };
            println!("example {name}");
            let folder = target().join("examples-run").join(name);
            std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
            let program = target().join("debug/examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
            shell::run(command(program, &[]).current_dir(&folder))?;
            count += 1;
        }
    }
    println!("{count} examples ran");
    Ok(())
}

/// The libraries only: the binary has the name of the library, and its pages would overwrite those of the library.
fn rustdoc() -> Outcome {
    let mut doc = cargo(&["doc", "--no-deps", "--lib"]);
    for package in [
        "dalembert-methods",
        "dalembert-graph",
        "dalembert-analysis",
        "dalembert-optimise",
        "dalembert-trees",
        "dalembert-robots",
        "dalembert",
        "dalembert-control",
        "dalembert-sweeps",
    ] {
        doc.args(["--package", package]);
    }
    shell::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
}
