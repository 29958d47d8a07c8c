//! `dalembert sweep --engine dask`: the rows are computed by workers of a Dask cluster.
//!
//! The cluster is spoken to by the Python package, `python -m dalembert.dask`, which keeps the same journal and writes the same table. The
//! Python is the one that `DALEMBERT_PYTHON` names, else `python3` of the PATH.

use crate::args::SweepOptions;
use crate::exit::Exit;
use crate::watch;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// The variable that names another Python.
const VARIABLE: &str = "DALEMBERT_PYTHON";

/// Prints the version of the package, or says what is missing.
const PROBE: &str = "
import importlib.metadata as metadata
import importlib.util as util
import sys
try:
    version = metadata.version('dalembert')
except metadata.PackageNotFoundError:
    sys.exit('it has no package `dalembert`; install it there with `pip install`')
if util.find_spec('distributed') is None:
    sys.exit('it has no package `distributed`; install it there with `pip install \"dask[distributed]\"`')
print(version)
";

/// Leaves a sweep to the Python package and waits for its end.
pub fn sweep(options: &SweepOptions, folder: &Path) -> Result<(), Exit> {
    let python = std::env::var_os(VARIABLE).unwrap_or_else(|| if cfg!(windows) { "python" } else { "python3" }.into());
    probe(&python)?;
    // Ctrl-C reaches both; the child keeps what was computed, and this process waits for it.
    let _stop = watch::listen();
    let mut child = start(&python);
    child.args(["-m", "dalembert.dask"]).arg(&options.study).arg("--out").arg(folder);
    if let Some(address) = &options.scheduler {
        child.args(["--scheduler", address]);
    }
    if let Some(jobs) = options.jobs {
        child.args(["--jobs", &jobs.to_string()]);
    }
    if let Some(chunk) = options.chunk {
        child.args(["--chunk", &chunk.to_string()]);
    }
    if let Some(shard) = &options.shard {
        child.args(["--shard", shard]);
    }
    child.args(options.json.then_some("--json")).args(options.quiet.then_some("--quiet"));
    let status = child.status().map_err(|error| missing(&python, &error.to_string()))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(130) => Err(Exit::Interrupted),
        Some(code) => Err(Exit::Told(u8::try_from(code).unwrap_or(1))),
        None => Err(Exit::Failed(format!("Python ended with {status}; the same command goes on with the rest"))),
    }
}

/// A Python that does not look for packages in the folder it is started in.
fn start(python: &OsString) -> Command {
    let mut command = Command::new(python);
    command.env("PYTHONSAFEPATH", "1").stdin(Stdio::null());
    command
}

fn missing(python: &OsString, reason: &str) -> Exit {
    let python = python.to_string_lossy();
    Exit::Usage(format!(
        "--engine dask needs a Python with the packages `dalembert` and `distributed`; `{python}` cannot be used: {reason} (the variable \
         {VARIABLE} names another Python)"
    ))
}

/// Whether the packages are there, in the version of this program.
fn probe(python: &OsString) -> Result<(), Exit> {
    let output = start(python).args(["-c", PROBE]).output().map_err(|error| missing(python, &error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if !output.status.success() {
        let told = text(&output.stderr);
        return Err(missing(python, told.lines().last().unwrap_or("it ended without a word")));
    }
    let (found, own) = (text(&output.stdout), env!("CARGO_PKG_VERSION"));
    if found == own {
        return Ok(());
    }
    Err(missing(python, &format!("its `dalembert` is version {found}, this program is version {own}")))
}
