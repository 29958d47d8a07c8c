//! `cargo xtask dae`: work and precision of the integrators against SUNDIALS IDA, in the Python environment of the race, and against
//! RADAU5 of the R package deSolve.

use crate::peers::environment;
use crate::shell::{self, Outcome, cargo, command, install, output, root, works, write};

/// Runs the bench and the outside solver, and writes the page.
pub fn run(arguments: &[String]) -> Outcome {
    let quick = match arguments {
        [] => false,
        [one] if one == "--quick" => true,
        _ => return Err("expected nothing or `--quick`".into()),
    };
    let (folder, python) = environment(&["numpy", "scipy", "scikit-sundae"])?;
    let radau = radau()?;
    let runs = folder.join("runs");
    std::fs::create_dir_all(&runs).map_err(|error| format!("cannot make {}: {error}", runs.display()))?;
    println!("the integrators of dalembert, some minutes");
    let mut bench = cargo(&["bench", "--package", "dalembert", "--bench", "precision", "--", "--folder"]);
    bench.arg(&runs);
    if quick {
        bench.arg("--quick");
    }
    let own = runs.join("precision.txt");
    write(&own, &output(&mut bench)?)?;
    let page = if quick { folder.join("benchmarks-dae.md") } else { root().join("docs/src/benchmarks-dae.md") };
    let mut race = command(&python, &["benches/peers/dae.py", "--own"]);
    race.arg(&own).arg("--folder").arg(&runs).arg("--scratch").arg(&runs).arg("--page").arg(&page);
    race.arg("--radau").arg(radau);
    if quick {
        race.arg("--quick");
    }
    shell::run(&mut race)
}

/// The library with RADAU5.
fn radau() -> Outcome<String> {
    if !works(&mut command("Rscript", &["-e", "library(deSolve)"])) {
        install("the R package deSolve", "r-cran-desolve")?;
    }
    output(&mut command("Rscript", &["-e", "cat(system.file('libs', 'deSolve.so', package = 'deSolve'))"]))
}
