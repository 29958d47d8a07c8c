//! What can be said on the command line.

mod analysis;
mod study;

pub use analysis::{BasinOptions, ChartOptions, PlaceOptions, SectionOptions, ShotOptions, StrideOptions, WorkOptions};
pub use study::Study;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;
use std::thread::available_parallelism;

/// Simulate mechanical systems written down as scenes.
///
/// A scene is a TOML file: bodies, markers on them, joints, forces, and how to run it. `dalembert list scenes` shows
/// the built-in ones, `dalembert new my.toml` writes a commented one to start from.
#[derive(Debug, Parser)]
#[command(name = "dalembert", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 the run failed, 2 bad scene or usage, 3 the energy ledger does not close,\n\
                        4 a file could not be read or written, 130 interrupted (results up to there are kept)."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene and write a run record.
    Run(RunOptions),
    /// Read a scene and check it without running it.
    Check(CheckOptions),
    /// List built-in scenes, elements and integrators.
    List(ListOptions),
    /// Write a commented starter scene.
    New(NewOptions),
    /// Read a robot file (URDF, MJCF, SDF), list what is in it, and write it as a scene or as URDF.
    Import(ImportOptions),
    /// Compute mass matrix, dynamics, Jacobians and more of a robot for a table of states.
    Eval(EvalOptions),
    /// Write the equations of motion of a robot or a scene, as text, LaTeX, C or Rust.
    Equations(EquationOptions),
    /// Studies of a robot or scene: inverse kinematics, inverse dynamics of a motion, static equilibrium.
    #[command(subcommand)]
    Study(Box<Study>),
    /// Run a scene many times with other values, into one table.
    Sweep(SweepOptions),
    /// Find the best motion of a scene: optimal control by a study.
    Optimise(OptimiseOptions),
    /// Print the JSON Schema of scene files.
    Schema,
    /// Make the report of a run record again, or its pictures as files.
    Report(ReportOptions),
    /// Run a scene in the browser: change it, adjust it, look at it.
    View(ViewOptions),
    /// Write the motion of a run record for other programs.
    Export(ExportOptions),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page (troff).
    Man,
}

#[derive(Debug, Args)]
pub struct SceneOptions {
    /// A built-in scene by name, or a scene file.
    pub scene: String,
    /// Set a value of the scene, for instance `body.upper.mass=2` or `parameters.length=0.5`; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub scene: SceneOptions,
    /// The folder of the run record [default: runs/NAME].
    #[arg(long, short, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// End time in seconds, instead of the scene's.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = finite)]
    pub until: Option<f64>,
    /// Relative tolerance, instead of the scene's.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = finite)]
    pub tolerance: Option<f64>,
    /// Integrator, instead of the scene's.
    #[arg(long, value_name = "NAME")]
    pub integrator: Option<String>,
    /// Continue an interrupted run from the checkpoint in its folder, with the same bits as an uninterrupted one.
    #[arg(long)]
    pub resume: bool,
    /// Seconds between checkpoints while the run goes on; 0 for none.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, allow_negative_numbers = true)]
    pub checkpoint_every: f64,
    /// Print the summary as JSON to standard output and nothing else.
    #[arg(long)]
    pub json: bool,
    /// No progress, no table; errors only.
    #[arg(long, short)]
    pub quiet: bool,
}

/// A study says which scene, what to vary and what to keep: see the chapter on sweeps. Finished rows are kept in a journal, so that
/// the same command goes on after Ctrl-C or a kill.
#[derive(Debug, Args)]
pub struct SweepOptions {
    /// The study, a TOML file.
    pub study: PathBuf,
    /// The folder of journal and results [default: sweeps/NAME].
    #[arg(long, short, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// The number of threads [default: all processors].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Compute rows side by side where they can be, whatever the study says.
    #[arg(long, conflicts_with = "no_lanes")]
    pub lanes: bool,
    /// Compute rows one by one, with the bits of `run`, whatever the study says.
    #[arg(long)]
    pub no_lanes: bool,
    /// Compute every N-th row only, from the I-th on, for several machines.
    #[arg(long, value_name = "I/N", conflicts_with = "merge")]
    pub shard: Option<String>,
    /// Who computes the rows.
    #[arg(long, value_enum, default_value = "local")]
    pub engine: Engine,
    /// The scheduler of the Dask cluster, as in tcp://host:8786; without it a cluster of --jobs processes is started on this machine.
    #[arg(long, value_name = "ADDRESS")]
    pub scheduler: Option<String>,
    /// Rows in one task of the Dask cluster [default: chosen by their number].
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    pub chunk: Option<u32>,
    /// Compute nothing: make one table of the journals in these folders.
    #[arg(long, value_name = "FOLDER", num_args = 1..)]
    pub merge: Vec<PathBuf>,
    /// Print the result as JSON to standard output and nothing else.
    #[arg(long)]
    pub json: bool,
    /// No progress, no summary; errors only.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Who computes the rows of a sweep.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Threads of this process.
    Local,
    /// Workers of a Dask cluster that have the Python package; DALEMBERT_PYTHON names the Python to use.
    Dask,
}

/// A study says which scene, what can be chosen (controls, static parameters), the phases with their conditions, and the goals: see the chapter on optimal
/// control. Built-in studies are swing-up, double-pendulum-swing-up,
/// four-body-chain, pareto-chain, parallel-parking, five-bar, jump and reach. With a table `[front]` the result is the front of best compromises between all goals, and the
/// same command goes on with a search that was stopped. Ctrl-C ends the search and keeps the best
/// motion so far. Exit code 1 means that no motion meets all conditions; the report names those that are violated, with their times.
#[derive(Debug, Args)]
pub struct OptimiseOptions {
    /// A built-in study by name, or a study file (TOML).
    pub study: String,
    /// The folder of the record [default: runs/NAME].
    #[arg(long, short, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// The number of instants that are recorded in each interval.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub samples: u16,
    /// A folder in which machine code is kept for the next run; it should belong to you alone.
    #[arg(long, value_name = "FOLDER")]
    pub cache: Option<PathBuf>,
    /// Write the study and its scene as files into this folder, to be changed, and solve nothing.
    #[arg(long, value_name = "FOLDER")]
    pub copy: Option<PathBuf>,
    /// The number of threads for fronts of several goals [default: all processors].
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Print the result as JSON to standard output and nothing else.
    #[arg(long)]
    pub json: bool,
    /// No progress, no summary; errors only.
    #[arg(long, short)]
    pub quiet: bool,
}

impl OptimiseOptions {
    /// How many threads to use.
    pub fn threads(&self) -> usize {
        self.jobs.map_or_else(|| available_parallelism().map_or(1, usize::from), usize::from)
    }
}

#[derive(Debug, Args)]
pub struct CheckOptions {
    #[command(flatten)]
    pub scene: SceneOptions,
    /// Print the scene with everything computed: includes, parameters, repeats.
    #[arg(long)]
    pub expand: bool,
}

#[derive(Debug, Args)]
pub struct ListOptions {
    /// What to list; everything if not given.
    pub what: Option<What>,
    /// As Markdown with every parameter, for documentation.
    #[arg(long)]
    pub markdown: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Built-in scenes.
    Scenes,
    /// Built-in studies of optimal control.
    Studies,
    /// Kinds of bodies.
    Bodies,
    /// Kinds of joints.
    Joints,
    /// Kinds of constraints.
    Constraints,
    /// Kinds of contacts.
    Contacts,
    /// Kinds of forces.
    Forces,
    /// Kinds of signals.
    Signals,
    /// Assemblies.
    Assemblies,
    /// Other sections of a scene: world, run, output, events, figures.
    Sections,
    /// Integrators with their settings.
    Integrators,
}

#[derive(Debug, Args)]
pub struct NewOptions {
    /// The file to write; it must not exist.
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct ImportOptions {
    /// The robot file: URDF, MJCF or SDF.
    pub file: PathBuf,
    /// Write the robot to this file: a scene if it ends in .toml, URDF if it ends in .urdf.
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The first link is free, where the file leaves it open.
    #[arg(long)]
    pub free: bool,
}

/// A robot: from a file of robots, or a tree of a scene.
#[derive(Debug, Args)]
pub struct ModelOptions {
    /// A robot file (URDF, MJCF, SDF), a scene file (.toml) or a built-in scene.
    pub model: String,
    /// The body of a scene, where it has several trees.
    #[arg(long, value_name = "NAME")]
    pub body: Option<String>,
    /// Set a value of the scene, for instance `parameters.n=3`; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// The first link of a robot file is free, where the file leaves it open.
    #[arg(long)]
    pub free: bool,
}

#[derive(Debug, Args)]
pub struct EvalOptions {
    #[command(flatten)]
    pub model: ModelOptions,
    /// What to compute, for instance `mass-matrix`, `inverse-dynamics`, `forward-dynamics`, `jacobian`, `energy`.
    #[arg(long, value_name = "QUANTITY")]
    pub what: String,
    /// A CSV table with columns q.NAME, v.NAME, a.NAME, tau.NAME; the initial configuration if not given.
    #[arg(long, value_name = "FILE")]
    pub states: Option<PathBuf>,
    /// The link, for Jacobians and places.
    #[arg(long, value_name = "NAME")]
    pub link: Option<String>,
    /// A point of that link in its frame, in m, as 0.1,0,0.
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', allow_negative_numbers = true, value_parser = finite)]
    pub point: Vec<f64>,
    /// Write the table to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct EquationOptions {
    #[command(flatten)]
    pub model: ModelOptions,
    /// The language: text or LaTeX to be read, C or Rust to be compiled (with a driver that reads inputs and prints outputs).
    #[arg(long = "as", value_enum, value_name = "LANGUAGE")]
    pub language: Option<Language>,
    /// The same as `--as latex`.
    #[arg(long, conflicts_with = "language")]
    pub latex: bool,
    /// What of a scene to write, between commas: mass, force, acceleration, multiplier, residual, velocity (constraints on that level), rate (of extra states),
    /// gap; mass, force and residual if not given.
    #[arg(long, value_name = "FUNCTIONS", value_delimiter = ',')]
    pub what: Vec<String>,
    /// Mass matrix, forces and residuals of any scene, also of one that is a single tree, as they are computed.
    #[arg(long)]
    pub whole: bool,
    /// Their derivatives instead, entry by entry.
    #[arg(long)]
    pub derivatives: bool,
    /// By kernels of elements: those that read the same share one. As text it tells which there are and how long, as C or Rust kernels and tables are written.
    #[arg(long)]
    pub kernels: bool,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl EquationOptions {
    /// The language asked for.
    pub fn language(&self) -> Language {
        self.language.unwrap_or(if self.latex { Language::Latex } else { Language::Text })
    }
}

/// A language of equations.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Lines to be read.
    Text,
    /// An `align*` environment.
    Latex,
    /// C99.
    C,
    /// Rust.
    Rust,
}

#[derive(Debug, Args)]
pub struct ReportOptions {
    /// The folder of a run record.
    pub folder: PathBuf,
    /// Show another run record beside it; may be repeated.
    #[arg(long, value_name = "FOLDER")]
    pub compare: Vec<PathBuf>,
    /// Write the pictures as SVG files into this folder instead.
    #[arg(long, value_name = "FOLDER")]
    pub svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ViewOptions {
    #[command(flatten)]
    pub scene: SceneOptions,
    /// The port to listen on; 0 takes any that is free. Only this machine can reach it.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Print the address only, and leave opening it to the reader.
    #[arg(long)]
    pub no_open: bool,
}

#[derive(Debug, Args)]
pub struct ExportOptions {
    /// The folder of a run record.
    pub folder: PathBuf,
    /// Write a binary glTF file (.glb) with animation.
    #[arg(long, value_name = "FILE")]
    pub gltf: Option<PathBuf>,
    /// Write a time series for ParaView (motion.pvd and .vtp files) into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub vtk: Option<PathBuf>,
    /// Write a recording for Rerun (.rrd); needs a program built with the feature `rerun`.
    #[arg(long, value_name = "FILE")]
    pub rerun: Option<PathBuf>,
}

/// A number that is not infinite.
fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("expected a finite number".to_owned()),
    }
}
