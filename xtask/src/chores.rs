//! Smaller chores: generated pages, benches, fuzzing.

use crate::shell::{Outcome, cargo, command, installed, output, root, run, target, tools, works, write};
use std::path::PathBuf;

/// The command line, built for speed.
pub fn release_binary() -> Outcome<PathBuf> {
    run(&mut cargo(&["build", "--release", "--package", "dalembert-cli"]))?;
    Ok(target().join("release").join(format!("dalembert{}", std::env::consts::EXE_SUFFIX)))
}

/// What the tool prints, refusing an empty answer.
fn printed(arguments: &[&str]) -> Outcome<String> {
    let text = output(&mut command(release_binary()?, arguments))?;
    if text.trim().is_empty() {
        return Err(format!("`dalembert {}` printed nothing", arguments.join(" ")));
    }
    Ok(text)
}

/// The beginning of the page of reference.
const REFERENCE: &str = "# Reference\n\n<!-- Written by `cargo xtask reference`; changes by hand are lost. -->\n\n\
                         Everything a scene can name, as the tool itself lists it. Keys without a default must be given.\n\n";

/// Writes the reference of elements.
pub fn reference(_: &[String]) -> Outcome {
    let list = printed(&["list", "--markdown"])?;
    write(&root().join("docs/src/reference.md"), &format!("{REFERENCE}{list}"))
}

/// Writes the schema of scenes.
pub fn schema(_: &[String]) -> Outcome {
    write(&root().join("docs/src/scene.schema.json"), &printed(&["schema"])?)
}

/// Prints how the time of a leech grows with its length.
pub fn scaling(arguments: &[String]) -> Outcome {
    run(cargo(&["bench", "--package", "dalembert", "--bench", "scaling", "--"]).args(arguments))
}

/// Runs the criterion benches.
pub fn bench(arguments: &[String]) -> Outcome {
    let mut bench = cargo(&["bench", "--package", "dalembert", "--bench", "pieces", "--bench", "leech"]);
    if !arguments.is_empty() {
        bench.arg("--").args(arguments);
    }
    run(&mut bench)
}

/// Fuzzes a reader for some seconds.
pub fn fuzz(arguments: &[String]) -> Outcome {
    let seconds = match arguments.first() {
        None => 600,
        Some(text) => text.parse::<u32>().map_err(|_| format!("expected a number of seconds, found `{text}`"))?,
    };
    let reader = arguments.get(1).map_or("scene", String::as_str);
    let dictionary = match reader {
        "scene" => "-dict=fuzz/scene.dict",
        "urdf" | "mjcf" | "sdf" => "-dict=fuzz/robot.dict",
        _ => return Err(format!("there is no reader `{reader}`; expected scene, urdf, mjcf or sdf")),
    };
    if !works(&mut command("rustup", &["run", "nightly", "cargo", "--version"])) {
        return Err("fuzzing needs a nightly toolchain, which has the coverage counters: \
                    `rustup toolchain install nightly`. The corpus is replayed on stable by `cargo xtask test`."
            .into());
    }
    installed("cargo-fuzz", "cargo-fuzz")?;
    let mut path = vec![tools().join("bin")];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path).map_err(|error| format!("cannot extend PATH: {error}"))?;
    let time = format!("-max_total_time={seconds}");
    // The reader is safe Rust, so the sanitisers of memory would only slow it down.
    let mut fuzz = command("rustup", &["run", "nightly", "cargo", "fuzz", "run", "--sanitizer", "none", reader, "--"]);
    fuzz.args([&time, "-timeout=10", "-rss_limit_mb=2048", "-max_len=4096", dictionary]);
    // Variables of the cargo that runs this program would lead back to its toolchain.
    for name in ["CARGO", "RUSTUP_TOOLCHAIN", "RUSTC", "RUSTDOC"] {
        fuzz.env_remove(name);
    }
    run(fuzz.env("PATH", path).env("CARGO_TARGET_DIR", target().join("fuzz")))?;
    println!("{seconds} s of fuzzing without a finding");
    Ok(())
}
