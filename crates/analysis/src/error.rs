//! Why an analysis has no answer: what was asked, where it failed, how much is missing, what to try.

use dalembert_methods::integrate::IntegrateError;
use std::fmt;

/// An analysis that could not be made.
#[derive(Clone, Debug, PartialEq)]
pub enum AnalysisError {
    /// A matrix that must have an inverse has none.
    Singular {
        /// The matrix.
        what: &'static str,
        /// The first coordinate that depends on the others, by number or name.
        coordinate: String,
    },
    /// A mass matrix is not positive.
    SingularMass {
        /// The coordinate without inertia.
        coordinate: String,
    },
    /// An iteration did not come to its end.
    NotConverged {
        /// What was iterated.
        what: &'static str,
        /// How often.
        iterations: usize,
        /// What is left, in the unit of the unknowns.
        residual: f64,
        /// What to try.
        advice: &'static str,
    },
    /// Solutions are not isolated: a whole family passes through the one found.
    NotIsolated {
        /// What was sought.
        what: &'static str,
        /// The smallest singular value met, relative to the largest.
        ratio: f64,
    },
    /// Two eigenvalues add up to zero, so that a covariance is not bounded.
    Undamped {
        /// Their sum, in 1/s.
        sum: f64,
    },
    /// An event was met with (almost) no speed: its time does not depend smoothly on the state.
    Grazing {
        /// Time in seconds.
        t: f64,
        /// The guard, by number or name.
        guard: String,
        /// The rate of its function there.
        speed: f64,
    },
    /// No event came within the time allowed.
    NoEvent {
        /// The end of the search in seconds.
        t: f64,
    },
    /// More events than allowed: impacts accumulate.
    TooManyEvents {
        /// Time in seconds.
        t: f64,
        /// How many.
        events: usize,
    },
    /// A value is no longer a finite number.
    NotFinite {
        /// Time in seconds.
        t: f64,
        /// Where it was met.
        what: String,
    },
    /// The step size fell below what time can resolve.
    StepTooSmall {
        /// Time in seconds.
        t: f64,
        /// The step in seconds.
        h: f64,
    },
    /// The question makes no sense as it was put.
    Invalid {
        /// Why.
        reason: String,
    },
    /// The motion itself failed.
    Motion(IntegrateError),
}

impl fmt::Display for AnalysisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Singular { what, coordinate } => {
                write!(f, "{what} is singular: {coordinate} depends on the others")
            }
            Self::SingularMass { coordinate } => {
                write!(f, "the mass matrix is not positive at {coordinate}; give it an inertia or constrain it")
            }
            Self::NotConverged { what, iterations, residual, advice } => {
                write!(f, "{what} did not converge in {iterations} iterations (left: {residual:.3e}); {advice}")
            }
            Self::NotIsolated { what, ratio } => write!(
                f,
                "{what} is not isolated (relative singular value {ratio:.1e}): a family of solutions passes through it; fix a \
                 coordinate or remove the freedom that costs nothing"
            ),
            Self::Undamped { sum } => write!(
                f,
                "there is no stationary covariance: two eigenvalues add up to {sum:.3e} 1/s; add damping or ask for a \
                 transient covariance"
            ),
            Self::Grazing { t, guard, speed } => write!(
                f,
                "at t = {t} s {guard} is met with speed {speed:.3e}: a grazing event has no derivative; move the parameter \
                 a little"
            ),
            Self::NoEvent { t } => write!(f, "no event came until t = {t} s; allow more time or change the start"),
            Self::TooManyEvents { t, events } => {
                write!(f, "{events} events until t = {t} s: impacts accumulate; start with more energy or allow more")
            }
            Self::NotFinite { t, what } => write!(f, "at t = {t} s {what} is not a finite number"),
            Self::StepTooSmall { t, h } => {
                write!(f, "at t = {t} s the step size fell to {h:.3e} s; try a looser tolerance")
            }
            Self::Invalid { reason } => f.write_str(reason),
            Self::Motion(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AnalysisError {}

impl From<IntegrateError> for AnalysisError {
    fn from(error: IntegrateError) -> Self {
        Self::Motion(error)
    }
}
