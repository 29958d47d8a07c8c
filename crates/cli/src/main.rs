//! The command line of dalembert: runs scenes, checks them, and shows what was computed.

mod analyse;
mod args;
mod check;
mod couplings;
mod dask;
mod equations;
mod eval;
mod eval_scene;
mod exit;
mod export;
mod front;
mod import;
mod kernels;
mod list;
mod new;
mod optimise;
mod report;
mod rerun;
mod robot;
mod run;
mod source;
mod studio;
mod study;
mod sweep;
mod viewer;
mod visuals;
mod watch;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use exit::Exit;
use std::process::ExitCode;

/// Events, and rows of sweeps that begin and end, ask for much memory for a short time: a fifth of the time of a row went to the heap of the system. Not in the Python package, whose users may limit
/// addresses, of which this heap sets a GiB apart.
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Run(options) => run::run(&options),
        Command::Check(options) => check::check(&options),
        Command::List(options) => list::list(&options),
        Command::New(options) => new::new(&options),
        Command::Import(options) => import::import(&options),
        Command::Eval(options) => eval::eval(&options),
        Command::Equations(options) => eval::equations(&options),
        Command::Study(study) => study::study(&study),
        Command::Sweep(options) => sweep::sweep(&options),
        Command::Optimise(options) => optimise::optimise(&options),
        Command::Schema => print(&schema_text()),
        Command::Report(options) => report::report(&options),
        Command::View(options) => studio::view(&options),
        Command::Export(options) => export::export(&options),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "dalembert", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
        Command::Man => man(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(exit) => exit.report(),
    }
}

fn schema_text() -> String {
    format!("{:#}\n", dalembert::scene::schema())
}

fn man() -> Result<(), Exit> {
    let mut page = Vec::new();
    let wrote = clap_mangen::Man::new(Cli::command()).render(&mut page);
    wrote.map_err(|error| Exit::io("write the manual", &error))?;
    print(&String::from_utf8_lossy(&page))
}

/// Prints to standard output; a closed pipe is not an error.
fn print(text: &str) -> Result<(), Exit> {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Exit::io("write to standard output", &error))
        }
        _ => Ok(()),
    }
}
