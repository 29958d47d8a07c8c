//! The program as people and scripts meet it: arguments in, exit code, text and files out.
#![allow(clippy::unwrap_used)]

mod analyse;
mod bad_commands;
mod bad_scenes;
mod bad_skeletons;
mod bad_soft;
mod beside;
mod chaos;
mod commands;
mod curves;
mod equations;
mod events;
mod figures;
mod fronts;
mod full_disk;
mod interrupt;
mod linear;
mod maps;
mod optimise;
mod resting;
mod robot_looks;
mod robots;
mod run;
mod schema;
mod sweep;
mod vibrate;
mod walk;
mod work;

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// How a command ended.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// The same, if it ended with this code.
    #[track_caller]
    fn with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "standard output:\n{}\nstandard error:\n{}", self.out, self.err);
        self
    }
}

/// The program in a folder, not yet started.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dalembert"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

/// Runs the program in a folder to its end.
fn dalembert(folder: &Path, arguments: &[&str]) -> Ended {
    command(folder, arguments).output().unwrap().into()
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
