//! `cargo xtask control`: whole problems of optimal control against CasADi with Ipopt, in the Python environment of the race.

use crate::peers::environment;
use crate::shell::{self, Outcome, cargo, command, output, root, write};

/// Runs the bench and CasADi, prints the table and writes it into the page of the book; with `--quick` it is only printed.
pub fn run(arguments: &[String]) -> Outcome {
    let quick = match arguments {
        [] => false,
        [one] if one == "--quick" => true,
        _ => return Err("expected nothing or `--quick`".into()),
    };
    let (folder, python) = environment(&["numpy", "casadi"])?;
    let own = folder.join("runs/control.txt");
    let bench = ["bench", "--package", "dalembert-control", "--bench", "control", "--", "--long"];
    write(&own, &output(&mut cargo(&bench))?)?;
    let mut race = command(&python, &["benches/peers/control.py", "--own"]);
    race.arg(&own);
    if !quick {
        race.arg("--table").arg(root().join("docs/src/control.md"));
    }
    shell::run(&mut race)
}
