//! Options of studies of vibrations, cycles and chaos.

use super::finite;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dalembert::scene::{MethodSettings, Take};
use std::path::PathBuf;

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
    /// The shortest time of a stride that counts, in seconds; unless given a search takes half the time that falls take over its spread.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = finite)]
    pub shortest: f64,
    /// Strides that are walked from the start before the gait is sought, so that a stable one is near.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, conflicts_with = "search")]
    pub walk: usize,
    /// Search without a guess, by an evolution strategy from the best of many places: coordinates differ from those of the start by up to this (0.3 rad or m unless given),
    /// velocities by what falls gain on such a way; each further try looks twice as far.
    #[arg(long, value_name = "SPREAD", value_parser = finite, num_args = 0..=1, default_missing_value = "0.3")]
    pub search: Option<f64>,
    /// A range of a coordinate in which the search looks instead, by a part of the name of its velocity; may be repeated.
    #[arg(long, value_name = "NAME=FROM:TO", allow_hyphen_values = true, requires = "search")]
    pub range: Vec<String>,
    /// A range of a velocity; may be repeated.
    #[arg(long, value_name = "NAME=FROM:TO", allow_hyphen_values = true, requires = "search")]
    pub range_rate: Vec<String>,
    /// The first seed of the search.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// The most generations of a try of the search.
    #[arg(long, value_name = "NUMBER", default_value_t = 80)]
    pub generations: usize,
    /// How often a search tries, for each gait; each try looks at other places.
    #[arg(long, value_name = "NUMBER", default_value_t = 5)]
    pub tries: usize,
    /// How many different gaits are searched for: each search keeps away from those known. It ends earlier where no seed leads to another one.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "search")]
    pub gaits: usize,
}

#[derive(Debug, Args)]
pub struct ShotOptions {
    /// The time of the motion in seconds; without it, it ends with the last of the strikes.
    #[arg(long, value_name = "SECONDS", value_parser = finite, required_unless_present = "strike", conflicts_with = "strike")]
    pub time: Option<f64>,
    /// A condition on the start: a formula that is to be zero, or FORMULA=VALUE; may be repeated.
    #[arg(long = "start", value_name = "FORMULA", allow_hyphen_values = true)]
    pub first: Vec<String>,
    /// A condition on the end, as on the start, which it may refer to; may be repeated.
    #[arg(long = "end", value_name = "FORMULA", allow_hyphen_values = true, required = true)]
    pub last: Vec<String>,
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
    /// The period in seconds: a point each period. In a bifurcation diagram it may be a formula of the last part of the value's name, such as `2*pi/frequency`.
    #[arg(long, value_name = "FORMULA")]
    pub period: Option<String>,
    /// A point each time this coordinate passes a value from below, by a part of the name of its velocity.
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true, conflicts_with_all = ["period", "section_rate"])]
    pub section: Option<String>,
    /// A point each time this velocity passes a value from below.
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true, conflicts_with = "period")]
    pub section_rate: Option<String>,
    /// The time between two looks at the section in seconds: passages that are nearer to each other are missed. In scenes with contacts all steps are looked at.
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

#[derive(Debug, Args)]
pub struct WorkOptions {
    /// A comparison of the scene by its name, if it has several; may be repeated. All if not given.
    #[arg(long, value_name = "NAME")]
    pub comparison: Vec<String>,
    /// A method, as in "galerkin_gauss degree=2": an integrator and its settings; paths of the scene are set too. Without an integrator it is the scene's own. May be repeated; in
    /// place of those of the scene's comparison.
    #[arg(long, value_name = "METHOD")]
    pub method: Vec<MethodSettings>,
    /// What is varied: an option of the integrator such as fixed_step, tolerance or micro_steps, or the path of any value of the scene.
    #[arg(long, value_name = "OPTION|PATH")]
    pub vary: Option<String>,
    /// Its values, between commas.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_negative_numbers = true, value_parser = finite)]
    pub values: Vec<f64>,
    /// Channels of which errors are taken, or a pattern with `*` for their largest error; may be repeated.
    #[arg(long, value_name = "CHANNEL")]
    pub channel: Vec<String>,
    /// When: the error at the end, or the largest of all recorded rows.
    #[arg(long, value_name = "WHEN", value_parser = PossibleValuesParser::new(Take::NAMES).try_map(|take| take.parse::<Take>()))]
    pub take: Option<Take>,
    /// When runs end, in seconds.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = finite)]
    pub until: Option<f64>,
    /// The method to compare with [default: "dop853 tolerance=1e-13"].
    #[arg(long, value_name = "METHOD")]
    pub reference: Option<MethodSettings>,
    /// The closed form of a channel, a formula of the time t and of parameters of the scene, in place of the reference; may be repeated.
    #[arg(long, value_name = "CHANNEL=FORMULA")]
    pub exact: Vec<String>,
    /// Every run is timed again and again for so many seconds; the least time counts.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.1, value_parser = finite)]
    pub timing: f64,
}
