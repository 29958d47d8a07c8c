//! Integrators: from a state to the next one, with error control and continuous output.

pub mod control;
pub mod generalized_alpha;
mod implicit;
pub mod mexx;
pub mod minimal;
mod newton;
mod options;
mod pace;
mod packed;
pub mod radau;
pub mod runge_kutta;
mod simulate;
pub mod tableau;
pub mod variational;

pub use generalized_alpha::GeneralizedAlpha;
pub use mexx::Mexx;
pub use minimal::Minimal;
pub use pace::{Alone, Beside, Company, Glance, Pace, Stages, Ways, now};
pub use radau::Radau;
pub use runge_kutta::RungeKutta;
pub use simulate::{Ending, Flow, Moment, Observer, Progress, Reaction, Run, Span, resume, simulate};
pub(crate) use simulate::{Onward, proceed, resume_at};
pub use variational::Variational;

use crate::dynamics::Shelf;
use crate::nonsmooth::ContactError;
use crate::system::{State, System};
use std::fmt;

/// What an integrator is, in the words of its documentation; help, book and schema read this table.
#[derive(Clone, Debug)]
pub struct About {
    /// The name by which a scene chooses it.
    pub name: &'static str,
    /// One line: what it is.
    pub title: &'static str,
    /// A paragraph: what it is good for, what it asks.
    pub summary: &'static str,
    /// The order of convergence of positions and velocities.
    pub order: u32,
    /// Whether it is meant for stiff systems.
    pub stiff: bool,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Where it comes from.
    pub references: &'static [&'static str],
}

/// The tables of all methods, in the order of the documentation.
pub fn methods() -> &'static [&'static About] {
    &[
        &runge_kutta::ABOUT_RK4,
        &runge_kutta::ABOUT_DOPRI5,
        &runge_kutta::ABOUT_DOP853,
        &mexx::ABOUT_MEXX,
        &minimal::ABOUT_MINIMAL,
        &radau::ABOUT_RADAU,
        &generalized_alpha::ABOUT_GENERALIZED_ALPHA,
        &variational::ABOUT_VARIATIONAL,
        &variational::ABOUT_GALERKIN_GAUSS,
        &variational::ABOUT_GALERKIN_LOBATTO,
        &variational::ABOUT_GALERKIN_CHEBYSHEV,
        &variational::ABOUT_LIE_GROUP,
        &variational::ABOUT_PHASE_FITTED,
        &variational::ABOUT_MULTIRATE,
    ]
}

/// The method of a name, with its settings checked.
pub fn create<'a, Y: System + 'a>(
    name: &str,
    settings: &Settings,
) -> Result<Box<dyn Integrator<Y> + 'a>, SettingsError> {
    Ok(match name {
        "rk4" => Box::new(RungeKutta::<Y>::rk4(settings)?),
        "dopri5" => Box::new(RungeKutta::<Y>::dopri5(settings)?),
        "dop853" => Box::new(RungeKutta::<Y>::dop853(settings)?),
        "mexx" => Box::new(Mexx::<Y>::new(settings)?),
        "minimal" => Box::new(Minimal::<Y>::new(settings)?),
        "radau" => Box::new(Radau::<Y>::new(settings)?),
        "generalized_alpha" => Box::new(GeneralizedAlpha::<Y>::new(settings)?),
        "variational" => Box::new(Variational::<Y>::affine(settings)?),
        "galerkin_gauss" => Box::new(Variational::<Y>::gauss(settings)?),
        "galerkin_lobatto" => Box::new(Variational::<Y>::lobatto(settings)?),
        "galerkin_chebyshev" => Box::new(Variational::<Y>::chebyshev(settings)?),
        "lie_group" => Box::new(Variational::<Y>::lie_group(settings)?),
        "phase_fitted" => Box::new(Variational::<Y>::phase_fitted(settings)?),
        "multirate" => Box::new(Variational::<Y>::multirate(settings)?),
        _ => return Err(SettingsError::Method { name: name.to_owned() }),
    })
}

/// One numeric option of a method.
#[derive(Copy, Clone, Debug)]
pub struct Parameter {
    /// The key in a scene.
    pub name: &'static str,
    /// Its unit; "1" for a pure number.
    pub unit: &'static str,
    /// What it is when not given.
    pub default: f64,
    /// The smallest and largest value allowed.
    pub range: [f64; 2],
    /// What it means.
    pub meaning: &'static str,
}

/// Values of the parameters of one method, checked against its [`About`] table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(Vec<(String, f64)>);

impl Settings {
    /// Sets a value; the last one given counts.
    pub fn set(&mut self, name: &str, value: f64) {
        self.0.retain(|(n, _)| n != name);
        self.0.push((name.to_owned(), value));
    }

    /// The same, in a chain of calls.
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.set(name, value);
        self
    }

    /// The values that were given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// The value of a parameter: the one given, or the default of the table.
    ///
    /// # Panics
    /// If the table has no such parameter (a slip of the method's author).
    pub fn get(&self, about: &About, name: &str) -> f64 {
        let parameter = about.parameters.iter().find(|p| p.name == name).expect("a parameter of the About table");
        self.0.iter().find(|(n, _)| n == name).map_or(parameter.default, |(_, value)| *value)
    }

    /// Whether every value given is known to the table and within its range.
    pub fn check(&self, about: &About) -> Result<(), SettingsError> {
        for (name, value) in self.iter() {
            let Some(p) = about.parameters.iter().find(|p| p.name == name) else {
                return Err(SettingsError::Unknown { name: name.to_owned(), method: about.name });
            };
            if !(p.range[0] <= value && value <= p.range[1]) {
                return Err(SettingsError::Range { name: p.name, value, range: p.range });
            }
        }
        Ok(())
    }
}

/// A setting that a method cannot take.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsError {
    /// There is no such method.
    Method {
        /// The name given.
        name: String,
    },
    /// The method has no such parameter.
    Unknown {
        /// The name given.
        name: String,
        /// The method.
        method: &'static str,
    },
    /// The value is out of range.
    Range {
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: f64,
        /// What is allowed.
        range: [f64; 2],
    },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method { name } => {
                let known: Vec<_> = methods().iter().map(|about| about.name).collect();
                write!(f, "there is no integrator `{name}`; there are {}", known.join(", "))
            }
            Self::Unknown { name, method } => write!(f, "the integrator `{method}` has no setting `{name}`"),
            Self::Range { name, value, range: [low, high] } => {
                write!(f, "`{name}` = {value} is out of range: it must lie in [{low}, {high}]")
            }
        }
    }
}

impl std::error::Error for SettingsError {}

/// An integrator, chosen by name and driven from outside.
pub trait Integrator<Y: System>: Send {
    /// What it is.
    fn about(&self) -> &'static About;
    /// Allocates, checks that the state satisfies the constraints, and chooses a first step.
    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError>;
    /// The same for one of many starts on one system, whose shape may change between them: what is allocated can be taken from, and put back on, a shelf.
    fn start_again(&mut self, y: &Y, s: &mut State<f64>, _shelf: &mut Shelf<Y>) -> Result<(), IntegrateError> {
        self.start(y, s)
    }
    /// One accepted step, not beyond `until`. On an error the state is the last accepted one.
    fn step(&mut self, y: &Y, s: &mut State<f64>, until: f64) -> Result<Step, IntegrateError>;
    /// The state at a time within the last step (its `t` says which), by the method's continuous output.
    fn dense(&mut self, y: &Y, out: &mut State<f64>);
    /// The work done since the start.
    fn counts(&self) -> Counts;
    /// The frequencies of the step at hand in rad/s, one for each velocity; empty where none are used.
    fn frequencies(&self) -> &[f64] {
        &[]
    }
    /// All that the next step depends on besides the state, so that a run can be continued with the same bits.
    fn memory(&self) -> Vec<f64>;
    /// Takes over a memory after [`Integrator::start`] on the state it was saved with.
    fn recall(&mut self, memory: &[f64]);
}

/// An accepted step.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Step {
    /// Where it began, in seconds.
    pub t: f64,
    /// How long it was, in seconds.
    pub h: f64,
    /// The estimated error in units of the tolerance (at most 1); none of methods that have no estimate.
    pub error: Option<f64>,
    /// How many attempts were thrown away before it.
    pub rejected: u32,
}

/// Work done: part of the contract of a method, asserted in tests.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accepted steps.
    pub steps: u64,
    /// Rejected attempts.
    pub rejected: u64,
    /// Evaluations of forces.
    pub forces: u64,
    /// Evaluations of tangents (whole matrices).
    pub tangents: u64,
    /// Factorisations of matrices of the size of the system.
    pub factorisations: u64,
    /// Solves with them.
    pub solves: u64,
    /// Iterations of projections to the constraints.
    pub projections: u64,
    /// Accepted steps of an explicit method that were as long as stability allows: a method for stiff systems would take longer ones.
    pub stiff: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        *self = self.zip(other, |a, b| a + b);
    }
}

impl std::ops::Sub for Counts {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Counts {
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            steps: f(self.steps, other.steps),
            rejected: f(self.rejected, other.rejected),
            forces: f(self.forces, other.forces),
            tangents: f(self.tangents, other.tangents),
            factorisations: f(self.factorisations, other.factorisations),
            solves: f(self.solves, other.solves),
            projections: f(self.projections, other.projections),
            stiff: f(self.stiff, other.stiff),
        }
    }

    /// The counts with their names, for records and tables.
    pub fn named(&self) -> [(&'static str, u64); 8] {
        [
            ("steps", self.steps),
            ("rejected", self.rejected),
            ("forces", self.forces),
            ("tangents", self.tangents),
            ("factorisations", self.factorisations),
            ("solves", self.solves),
            ("projections", self.projections),
            ("stiff", self.stiff),
        ]
    }
}

/// Why an integration cannot go on: when, which thing (by the user's name), how much, what to try.
#[derive(Clone, Debug, PartialEq)]
pub enum IntegrateError {
    /// The step size fell below what time can resolve.
    StepTooSmall {
        /// Time in seconds.
        t: f64,
        /// Step size in seconds.
        h: f64,
        /// The velocity or state with the largest error.
        worst: String,
    },
    /// An iteration did not converge even with the smallest step.
    NotConverged {
        /// Time in seconds.
        t: f64,
        /// Step size in seconds.
        h: f64,
        /// What was iterated.
        what: &'static str,
        /// The last residual in units of the tolerance.
        residual: f64,
        /// The velocity or row with the largest residual.
        worst: String,
    },
    /// The state does not satisfy a constraint.
    Inconsistent {
        /// Time in seconds.
        t: f64,
        /// The constraint.
        constraint: String,
        /// Its residual.
        residual: f64,
        /// "position" or "velocity".
        level: &'static str,
    },
    /// Two constraints ask for different things at once.
    Contradictory {
        /// Time in seconds.
        t: f64,
        /// The constraint that cannot be met.
        constraint: String,
        /// The rows it depends on.
        with: Vec<String>,
        /// What is left unmet.
        residual: f64,
    },
    /// A row of a constraint has nearly vanished, is left out for that, and is no longer met.
    Vanished {
        /// Time in seconds.
        t: f64,
        /// The constraint.
        constraint: String,
        /// Its residual.
        residual: f64,
        /// "position" or "velocity".
        level: &'static str,
        /// The size of the row, relative to the largest it has had.
        size: f64,
    },
    /// A mass or inertia is not positive.
    SingularMass {
        /// Time in seconds.
        t: f64,
        /// The velocity without inertia.
        velocity: String,
    },
    /// Sliding friction has no force that fits, or more than one (a Painlevé configuration).
    Jammed {
        /// Time in seconds.
        t: f64,
        /// The contact and its coefficient.
        load: String,
        /// What is left of the unit by which the contact's own push would open it; zero or negative when jammed.
        pivot: f64,
    },
    /// A value is no longer a finite number.
    NotFinite {
        /// Time in seconds.
        t: f64,
        /// Where it was met.
        what: String,
    },
    /// Something at a contact.
    Contact(ContactError),
    /// Steps of several rates failed, and some of them are so long that they may resonate with faster motion.
    Resonance {
        /// What failed.
        cause: Box<IntegrateError>,
        /// The length of the steps that may resonate, in seconds.
        step: f64,
        /// The period of the faster motion where the failed step began, in seconds, if it has one.
        period: Option<f64>,
    },
    /// The method cannot run on this system or with these settings.
    Refused {
        /// Why, and what to use instead.
        reason: String,
    },
}

impl fmt::Display for IntegrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepTooSmall { t, h, worst } => write!(
                f,
                "at t = {t} s the step size fell to {h:.3e} s; the largest error is in {worst}; try a looser tolerance, \
                 a method for stiff systems (`radau`), or look for a jump in a force or signal there"
            ),
            Self::NotConverged { t, h, what, residual, worst } => write!(
                f,
                "at t = {t} s {what} did not converge (step {h:.3e} s, residual {residual:.3e} times the tolerance, \
                 largest in {worst}); try smaller steps or check the forces there"
            ),
            Self::Inconsistent { t, constraint, residual, level } => write!(
                f,
                "at t = {t} s the state violates `{constraint}` on {level} level by {residual:.3e}; correct the initial \
                 values or let them be projected with `initial = \"project\"`"
            ),
            Self::Contradictory { t, constraint, with, residual } => {
                write!(f, "at t = {t} s `{constraint}` contradicts other constraints (unmet by {residual:.3e})")?;
                if !with.is_empty() {
                    write!(f, ": it depends on {}", with.join(", "))?;
                }
                write!(f, "; remove one of them or make their motions agree")
            }
            Self::Vanished { t, constraint, residual, level, size } => write!(
                f,
                "at t = {t} s `{constraint}` is violated on {level} level by {residual:.3e}: its row has shrunk to {size:.1e} of the \
                 largest it has had, which is too small to hold anything; keep the motion away from that position or pass it \
                 faster, replace the constraint by one that keeps its size there, or loosen the tolerance"
            ),
            Self::SingularMass { t, velocity } => {
                write!(f, "at t = {t} s there is no positive inertia for {velocity}; give the body a mass and inertia")
            }
            Self::Jammed { t, load, pivot } => write!(
                f,
                "at t = {t} s sliding friction at {load} presses the contact as fast as it loads it (factor {pivot:.3e}, \
                 must be positive): rigid bodies have no unique force there (Painlevé); try a smaller coefficient, a \
                 compliant contact or `moreau`"
            ),
            Self::NotFinite { t, what } => write!(f, "at t = {t} s {what} is not a finite number"),
            Self::Contact(error) => error.fmt(f),
            Self::Resonance { cause, step, period } => {
                write!(f, "{cause}; steps of {step:.3e} s may resonate with the faster motion")?;
                let Some(half) = period.map(|period| 0.5 * period) else {
                    return write!(f, ", whose numbers are too large to tell its period; try another `fixed_step`");
                };
                let below = ((step / half).round().max(1.0) - 0.5) * half;
                write!(
                    f,
                    ": they are {:.2} times its half period of {half:.3e} s, and near whole numbers energy grows, whatever the smaller \
                     steps; try steps of {below:.3e} s, midway between two such lengths",
                    step / half
                )?;
                if step > &(1.5 * half) { write!(f, ", or {:.3e} s, below all of them", 0.5 * half) } else { Ok(()) }
            }
            Self::Refused { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for IntegrateError {}

impl From<ContactError> for IntegrateError {
    fn from(error: ContactError) -> Self {
        Self::Contact(error)
    }
}
