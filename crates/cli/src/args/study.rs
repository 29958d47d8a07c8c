//! What `dalembert study` takes.

use super::analysis::{
    BasinOptions, ChartOptions, PeriodOptions, PlaceOptions, RangeOptions, ResultOptions, SectionOptions, ShotOptions,
    StrideOptions, StrobeOptions, WorkOptions,
};
use super::{ModelOptions, finite};
use clap::Subcommand;
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
    /// Linearise about the equilibrium, a steady motion or a trajectory: M, D, G, K, N, the state matrix, eigenvalues and stability.
    Linearise {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        place: PlaceOptions,
        /// Linearise along the motion from the start for this long: matrices at `--count` instants.
        #[arg(long, value_name = "SECONDS", value_parser = finite, conflicts_with_all = ["here", "steady"])]
        along: Option<f64>,
        /// The number of instants along the motion.
        #[arg(long, value_name = "NUMBER", default_value_t = 11)]
        count: usize,
    },
    /// Modes about the equilibrium: frequencies, damping, shapes in motion, participation.
    Modes {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        place: PlaceOptions,
        /// What is one in each real shape X: `mass` XᵀMX, `largest` its largest entry, `length` its length.
        #[arg(long, value_name = "RULE", default_value = "mass", value_parser = ["mass", "largest", "length"])]
        normalise: String,
        /// How many modes are shown in motion.
        #[arg(long, value_name = "NUMBER", default_value_t = 12)]
        shown: usize,
    },
    /// Transition matrices after a time: Ψ₁ and Ψ₂ of positions without damping, Φ of the whole state.
    Transition {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        place: PlaceOptions,
        /// The time in seconds.
        #[arg(long, value_name = "SECONDS", value_parser = finite)]
        at: f64,
    },
    /// The response of coordinates to harmonic forces: frequency response matrix, Bode and Nyquist plots.
    FrequencyResponse {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        place: PlaceOptions,
        /// The velocity on which the force acts, by its name or a part of it; may be repeated.
        #[arg(long, value_name = "NAME", required = true)]
        force: Vec<String>,
        /// The velocity whose coordinate is measured; may be repeated.
        #[arg(long, value_name = "NAME", required = true)]
        measure: Vec<String>,
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
    /// The periodic response to periodic forces.
    PeriodicResponse {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        place: PlaceOptions,
        /// The velocity on which a force acts and the force, a formula of `t` such as `chassis=10*sin(2*pi*t)`; may be repeated.
        #[arg(long, value_name = "NAME=FORMULA", required = true)]
        force: Vec<String>,
        /// The velocity whose coordinate is measured; may be repeated; all if left out.
        #[arg(long, value_name = "NAME")]
        measure: Vec<String>,
        /// The period in seconds.
        #[arg(long, value_name = "SECONDS", value_parser = finite)]
        period: f64,
        /// Samples in a period; half as many harmonics are taken.
        #[arg(long, value_name = "NUMBER", default_value_t = 256)]
        samples: usize,
    },
    /// Random vibration: spectral densities and standard deviations under white or coloured noise.
    Covariance {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        place: PlaceOptions,
        /// A force that is white noise: the velocity on which it acts and its intensity in N² s; may be repeated.
        #[arg(long, value_name = "NAME=INTENSITY", required = true)]
        noise: Vec<String>,
        /// A filter that the noise on a velocity passes first, N(s)/D(s) by coefficients of rising powers of s; may be repeated.
        #[arg(long, value_name = "NAME=[N0,N1]/[D0,D1]", conflicts_with = "sparse")]
        filter: Vec<String>,
        /// The time after rest in seconds, instead of the stationary state.
        #[arg(long, value_name = "SECONDS", value_parser = finite)]
        at: Option<f64>,
        /// The lowest frequency of the spectral densities in Hz; from the eigenvalues if left out.
        #[arg(long, value_name = "HZ", value_parser = finite)]
        from: Option<f64>,
        /// The highest frequency in Hz.
        #[arg(long, value_name = "HZ", value_parser = finite)]
        to: Option<f64>,
        /// Solve for the stationary covariance as a large sparse system, by alternating directions, with low rank; without spectral densities.
        #[arg(long, conflicts_with_all = ["at", "from", "to"])]
        sparse: bool,
        /// With `--sparse`: the residual of the equation, relative to the noise.
        #[arg(long, value_name = "NUMBER", default_value_t = 1e-12, value_parser = finite)]
        residual: f64,
    },
    /// Multipliers of the motion over one period.
    Floquet {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        period: PeriodOptions,
    },
    /// Find a periodic motion with a period, or a gait from strike to strike, and its multipliers.
    LimitCycle {
        #[command(flatten)]
        model: ModelOptions,
        /// The period in seconds; a guess if nothing drives the motion.
        #[arg(long, value_name = "SECONDS", value_parser = finite, required_unless_present = "strike")]
        period: Option<f64>,
        /// Periods in which the motion settles first.
        #[arg(long, value_name = "NUMBER", default_value_t = 0.0, value_parser = finite)]
        settle: f64,
        /// The tolerance of the motion.
        #[arg(long, value_name = "NUMBER", default_value_t = 1e-12, value_parser = finite)]
        tolerance: f64,
        #[command(flatten)]
        stride: StrideOptions,
        /// Write a report with plots and tables into this folder.
        #[arg(long, short, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// Find a motion whose start and end meet conditions, by shooting.
    ///
    /// Start and end of a motion of a given time, or from strike to strike, obey formulas that are to be zero. What constraints, closed contacts and the
    /// conditions on the start leave free is found. Coordinates are variables by a part of the name of their velocity: `x` is the position, `x_rate` the
    /// velocity; in conditions on the end `x_first` and `x_first_rate` are those at the start.
    Shoot {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        shot: ShotOptions,
        #[command(flatten)]
        stride: StrideOptions,
        /// The tolerance of the motion.
        #[arg(long, value_name = "NUMBER", default_value_t = 1e-12, value_parser = finite)]
        tolerance: f64,
        /// Write a report with plots and tables into this folder.
        #[arg(long, short, value_name = "FOLDER")]
        out: Option<PathBuf>,
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
        /// The number of batches of each motion.
        #[arg(long, value_name = "NUMBER", default_value_t = 20)]
        batches: usize,
        /// Follow this many motions that start beside each other, in fours side by side and on all cores: for scenes without contacts and constraints.
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        motions: usize,
        #[command(flatten)]
        result: ResultOptions,
    },
    /// Points of the motion, one each period, or where it passes a section.
    Poincare {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        section: SectionOptions,
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
    /// Follow an equilibrium, a periodic motion or a gait over a value of the scene, with folds, branches, Hopf points, period doublings and Neimark–Sacker points.
    ///
    /// With `--period` the motion that what drives the scene repeats, or a cycle that nothing drives; with `--strike` a gait; without both an equilibrium. Scenes may have
    /// constraints: curves run in the directions that these leave free.
    Continuation {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        range: RangeOptions,
        /// The period in seconds, given by what drives the scene: a number, or a formula of the last part of the value's name, such as `2*pi/frequency`. If
        /// nothing drives the scene it is a guess at the first value.
        #[arg(long, value_name = "FORMULA")]
        period: Option<String>,
        #[command(flatten)]
        stride: StrideOptions,
        /// Periods in which the motion settles first.
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        settle: usize,
        /// Most points of the curve.
        #[arg(long, value_name = "NUMBER", default_value_t = 200)]
        points: usize,
        /// The first step along the curve, in coordinates and value together; a fortieth of the range if left out. Steps grow to twenty times this.
        #[arg(long, value_name = "NUMBER", value_parser = finite)]
        step: Option<f64>,
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
        /// Take positions, from that of the start, instead of velocities.
        #[arg(long)]
        positions: bool,
        /// The time between samples in seconds.
        #[arg(long, value_name = "SECONDS", value_parser = finite)]
        interval: f64,
        /// The number of samples.
        #[arg(long, value_name = "NUMBER", default_value_t = 16384)]
        samples: usize,
        /// The samples of a segment, a power of two.
        #[arg(long, value_name = "NUMBER", default_value_t = 2048)]
        segment: usize,
        /// The window of a segment.
        #[arg(long, value_name = "NAME", default_value = "hann", value_parser = ["rectangular", "hann", "hamming", "blackman", "flat-top"])]
        window: String,
        /// Time before the first sample in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = finite)]
        settle: f64,
        #[command(flatten)]
        result: ResultOptions,
    },
    /// The stability over two values of the scene.
    Chart {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        chart: ChartOptions,
        /// Write a report with plots and tables into this folder.
        #[arg(long, short, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// Where motions from a grid of two initial values come to.
    Basin {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        basin: BasinOptions,
        /// Write a report with plots and tables into this folder.
        #[arg(long, short, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// Compare integrators and their options on a scene: errors over steps, over processor time and over work, with measured orders (work-precision diagrams).
    ///
    /// Without further options it draws the comparisons of the scene, `[comparison.NAME]`, or the scene's own integrator with longer and shorter steps. Runs that fail
    /// are rows of the table with their reason.
    WorkPrecision {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        work: Box<WorkOptions>,
        /// The folder of page, tables and pictures [default: runs/NAME-work-precision].
        #[arg(long, short, value_name = "FOLDER")]
        out: Option<PathBuf>,
    },
    /// Points of the motion, one each period or where it passes a section, over a value of the scene.
    Bifurcation {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        range: RangeOptions,
        /// How many values.
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        count: usize,
        #[command(flatten)]
        section: SectionOptions,
        #[command(flatten)]
        result: ResultOptions,
    },
}
