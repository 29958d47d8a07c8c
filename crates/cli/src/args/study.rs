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
    /// Random vibration: spectral densities and standard deviations under white noise.
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
        /// The lowest frequency of the spectral densities in Hz; from the eigenvalues if left out.
        #[arg(long, value_name = "HZ", value_parser = finite)]
        from: Option<f64>,
        /// The highest frequency in Hz.
        #[arg(long, value_name = "HZ", value_parser = finite)]
        to: Option<f64>,
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
    /// Follow an equilibrium, a periodic motion or a gait over a value of the scene, with folds, Hopf points, period doublings and Neimark–Sacker points.
    ///
    /// With `--period` the motion that what drives the scene repeats, with `--strike` a gait, without both an equilibrium.
    Continuation {
        #[command(flatten)]
        model: ModelOptions,
        #[command(flatten)]
        range: RangeOptions,
        /// The period in seconds, given by what drives the scene.
        #[arg(long, value_name = "SECONDS", value_parser = finite)]
        period: Option<f64>,
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
pub struct StrideOptions {
    /// An event that a stride goes through, NAME[:KIND]: a contact by its name or a part of it, and what happens there (impact unless given); may be
    /// repeated, in order. The last one ends the stride. The scene starts just after such an event.
    #[arg(long, value_name = "NAME")]
    pub strike: Vec<String>,
    /// Coordinates that change places after a stride: all whose names contain ONE with those that have OTHER instead; may be repeated.
    #[arg(long, value_name = "ONE=OTHER")]
    pub exchange: Vec<String>,
    /// What is added to a coordinate after a stride; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub turn: Vec<String>,
    /// A coordinate on which nothing depends, such as the way along a slope; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub drift: Vec<String>,
    /// The longest time of a stride in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = finite)]
    pub longest: f64,
    /// The shortest time of a stride that counts, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = finite)]
    pub shortest: f64,
    /// Strides that are walked from the start before the gait is sought, so that a stable one is near.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, conflicts_with = "search")]
    pub walk: usize,
    /// Search without a guess by an evolution strategy, which varies the start by this.
    #[arg(long, value_name = "SPREAD", value_parser = finite)]
    pub search: Option<f64>,
    /// The first seed of the search.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// The most generations of the search.
    #[arg(long, value_name = "NUMBER", default_value_t = 80)]
    pub generations: usize,
    /// How many seeds are tried.
    #[arg(long, value_name = "NUMBER", default_value_t = 5)]
    pub tries: usize,
}

#[derive(Debug, Args)]
pub struct ChartOptions {
    /// The value of the scene across, such as `parameters.a=0:4`.
    #[arg(long, value_name = "PATH=FROM:TO", allow_hyphen_values = true)]
    pub across: String,
    /// The value of the scene upwards.
    #[arg(long, value_name = "PATH=FROM:TO", allow_hyphen_values = true)]
    pub up: String,
    /// How many values of each.
    #[arg(long, value_name = "NUMBER", default_value_t = 40)]
    pub count: usize,
    /// Compute every so many places first, and those between only where neighbours differ in stability; regions that are narrower may be missed.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub coarse: usize,
    /// The period in seconds, a formula of the last parts of both names, such as `pi*sqrt(a)`. Without it eigenvalues about the start are taken.
    #[arg(long, value_name = "FORMULA")]
    pub period: Option<String>,
    /// The tolerance of the motion.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-9, value_parser = finite)]
    pub tolerance: f64,
}

#[derive(Debug, Args)]
pub struct BasinOptions {
    /// An initial coordinate, by a part of the name of its velocity; for gaits what is added to it. May be repeated.
    #[arg(long, value_name = "NAME=FROM:TO", allow_hyphen_values = true)]
    pub over: Vec<String>,
    /// An initial velocity. May be repeated; together there are two axes.
    #[arg(long, value_name = "NAME=FROM:TO", allow_hyphen_values = true)]
    pub over_rate: Vec<String>,
    /// How many values of each.
    #[arg(long, value_name = "NUMBER", default_value_t = 40)]
    pub count: usize,
    /// The period in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = finite)]
    pub period: Option<f64>,
    /// The coordinate whose mean tells attractors apart, by a part of the name of its velocity.
    #[arg(long, value_name = "NAME")]
    pub coordinate: Option<String>,
    /// Periods, or strides, in which motions settle.
    #[arg(long, value_name = "NUMBER", default_value_t = 60)]
    pub settle: usize,
    /// Periods over which the mean is taken.
    #[arg(long, value_name = "NUMBER", default_value_t = 12)]
    pub points: usize,
    /// The tolerance of the motion.
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-9, value_parser = finite)]
    pub tolerance: f64,
    #[command(flatten)]
    pub stride: StrideOptions,
}

#[derive(Debug, Args)]
pub struct PlaceOptions {
    /// Take the start as it is instead of the equilibrium near it.
    #[arg(long)]
    pub here: bool,
    /// Find the steady motion near the start in which this coordinate runs on and all else rests, by the name of its velocity or a part of it; may be
    /// repeated.
    #[arg(long, value_name = "NAME", conflicts_with = "here")]
    pub steady: Vec<String>,
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
pub struct SectionOptions {
    /// The velocity whose coordinate is shown, by its name or a part of it.
    #[arg(long, value_name = "NAME")]
    pub coordinate: String,
    /// The period in seconds: a point each period.
    #[arg(long, value_name = "SECONDS", value_parser = finite)]
    pub period: Option<f64>,
    /// A point each time this coordinate passes a value from below, by a part of the name of its velocity.
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true, conflicts_with_all = ["period", "section_rate"])]
    pub section: Option<String>,
    /// A point each time this velocity passes a value from below.
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true, conflicts_with = "period")]
    pub section_rate: Option<String>,
    /// The time between two looks at the section in seconds: passages that are nearer to each other are missed.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.02, value_parser = finite)]
    pub look: f64,
    /// Periods or passages before the first point.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub settle: usize,
    /// The number of points.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub points: usize,
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
