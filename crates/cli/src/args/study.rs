//! What `dalembert study` takes.

use super::{ModelOptions, finite};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Study {
    /// Find configurations in which links are where they are wanted.
    InverseKinematics {
        #[command(flatten)]
        model: ModelOptions,
        /// A CSV table with columns LINK.x, LINK.y, LINK.z and, for orientations, LINK.qw, LINK.qx, LINK.qy, LINK.qz; `time` is kept.
        #[arg(long, value_name = "FILE")]
        targets: PathBuf,
        /// The largest error, in m and rad.
        #[arg(long, value_name = "NUMBER", default_value_t = 1e-9, value_parser = finite)]
        tolerance: f64,
        /// Write the table to this file instead of standard output.
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Find the forces that a motion needs.
    InverseDynamics {
        #[command(flatten)]
        model: ModelOptions,
        /// A CSV table with the columns time and q.NAME.
        #[arg(long, value_name = "FILE")]
        motion: PathBuf,
        /// Write the table to this file instead of standard output.
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Find the static equilibrium near the start, and whether it is stable.
    Equilibrium {
        #[command(flatten)]
        model: ModelOptions,
        /// Take the start as it is and tell its stability only.
        #[arg(long)]
        here: bool,
    },
    /// Linearise about the equilibrium: M, D, G, K, N, the state matrix, eigenvalues and stability.
    Linearise {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// Modes about the equilibrium: frequencies, damping, shapes.
    Modes {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        place: PlaceOptions,
    },
    /// The response of a coordinate to a harmonic force: Bode and Nyquist plots.
    FrequencyResponse {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        place: PlaceOptions,
        /// The velocity on which the force acts, by its name or a part of it.
        #[arg(long, value_name = "NAME")]
        force: String,
        /// The velocity whose coordinate is measured.
        #[arg(long, value_name = "NAME")]
        measure: String,
        /// The lowest frequency in Hz.
        #[arg(long, value_name = "HZ", default_value_t = 0.1, value_parser = finite)]
        from: f64,
        /// The highest frequency in Hz.
        #[arg(long, value_name = "HZ", default_value_t = 100.0, value_parser = finite)]
        to: f64,
        /// The number of frequencies.
        #[arg(long, value_name = "NUMBER", default_value_t = 400)]
        count: usize,
    },
    /// Standard deviations under white noise.
    Covariance {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        place: PlaceOptions,
        /// A force that is white noise: the velocity on which it acts and its intensity in N² s; may be repeated.
        #[arg(long, value_name = "NAME=INTENSITY", required = true)]
        noise: Vec<String>,
        /// The time after rest in seconds, instead of the stationary state.
        #[arg(long, value_name = "SECONDS", value_parser = finite)]
        at: Option<f64>,
    },
    /// Multipliers of the motion over one period.
    Floquet {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        period: PeriodOptions,
    },
    /// Find a periodic motion, and its multipliers.
    LimitCycle {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        period: PeriodOptions,
    },
    /// Lyapunov exponents with their errors, and the dimension of Kaplan and Yorke.
    Lyapunov {
        #[command(flatten)]
        model: ModelOptions,
        /// Time between two orthonormalisations in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = finite)]
        interval: f64,
        /// Time to reach the attractor in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 100.0, value_parser = finite)]
        transient: f64,
        /// The time of one batch in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 100.0, value_parser = finite)]
        batch: f64,
        /// The number of batches.
        #[arg(long, value_name = "NUMBER", default_value_t = 20)]
        batches: usize,
        #[command(flatten)]
        result: ResultOptions,
    },
    /// Points of the motion, one each period.
    Poincare {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        strobe: StrobeOptions,
        #[command(flatten)]
        result: ResultOptions,
    },
    /// The phase portrait: velocity over position, one point each `--period` seconds.
    Portrait {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        strobe: StrobeOptions,
        #[command(flatten)]
        result: ResultOptions,
    },
    /// Follow a periodic motion over a value of the scene, with folds, period doublings and Neimark–Sacker points.
    Continuation {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        range: RangeOptions,
        /// The period in seconds, given by what drives the scene.
        #[arg(long, value_name = "SECONDS", value_parser = finite)]
        period: f64,
        /// Periods in which the motion settles first.
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        settle: usize,
        /// Most points of the curve.
        #[arg(long, value_name = "NUMBER", default_value_t = 200)]
        points: usize,
        #[command(flatten)]
        result: ResultOptions,
    },
    /// The power spectral density of a velocity.
    Spectrum {
        #[command(flatten)]
        model: ModelOptions,
        /// The velocity, by its name or a part of it.
        #[arg(long, value_name = "NAME")]
        coordinate: String,
        /// The time between samples in seconds.
        #[arg(long, value_name = "SECONDS", value_parser = finite)]
        interval: f64,
        /// The number of samples.
        #[arg(long, value_name = "NUMBER", default_value_t = 16384)]
        samples: usize,
        /// The samples of a segment, a power of two.
        #[arg(long, value_name = "NUMBER", default_value_t = 2048)]
        segment: usize,
        /// Time before the first sample in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = finite)]
        settle: f64,
        #[command(flatten)]
        result: ResultOptions,
    },
    /// Points of the motion, one each period, over a value of the scene.
    Bifurcation {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        range: RangeOptions,
        /// How many values.
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        count: usize,
        #[command(flatten)]
        strobe: StrobeOptions,
        #[command(flatten)]
        result: ResultOptions,
    },
}

#[derive(Debug, Args)]
pub struct RangeOptions {
    /// The value, for instance `parameters.force`.
    #[arg(long, value_name = "PATH")]
    pub parameter: String,
    /// Its first value.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = finite)]
    pub from: f64,
    /// Its last value.
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = finite)]
    pub to: f64,
}

#[derive(Debug, Args)]
pub struct PlaceOptions {
    /// Take the start as it is instead of the equilibrium near it.
    #[arg(long)]
    pub here: bool,
    /// Write a report with plots and tables into this folder.
    #[arg(long, short, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ResultOptions {
    /// The tolerance of the motion.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-9, value_parser = finite)]
    pub tolerance: f64,
    /// Write a report with plots and tables into this folder.
    #[arg(long, short, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct PeriodOptions {
    /// The period in seconds; a guess if nothing drives the motion and it is sought.
    #[arg(long, value_name = "SECONDS", value_parser = finite)]
    pub period: f64,
    /// Periods in which the motion settles first.
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, value_parser = finite)]
    pub settle: f64,
    /// The tolerance of the motion.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-12, value_parser = finite)]
    pub tolerance: f64,
    /// Write a report with plots and tables into this folder.
    #[arg(long, short, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct StrobeOptions {
    /// The velocity whose coordinate is shown, by its name or a part of it.
    #[arg(long, value_name = "NAME")]
    pub coordinate: String,
    /// The period in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = finite)]
    pub period: f64,
    /// Periods before the first point.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub settle: usize,
    /// The number of points.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub points: usize,
}
