//! Why an analysis has no answer: what was asked, where it failed, how much is missing, what to try.

use dalembert_methods::integrate::IntegrateError;
use std::collections::BTreeMap;
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
    /// An iteration ended beside a motion that grazes a contact.
    NearGrazing {
        /// What was iterated.
        what: &'static str,
        /// How often.
        iterations: usize,
        /// What is left, in the unit of the unknowns.
        residual: f64,
        /// Where it grazes, in words.
        graze: String,
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
    /// Who asked wanted no more, before there was an answer.
    Stopped,
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
            Self::NearGrazing { what, iterations, residual, graze } => write!(
                f,
                "{what} did not converge in {iterations} iterations (left: {residual:.3e}): {graze}, and Newton's method has no derivative \
                 across that; move the parameter or the start away from there"
            ),
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
                "at t = {t} s `{guard}` is met with speed {speed:.3e}: a grazing event has no derivative; move the parameter \
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
            Self::Stopped => f.write_str("it was stopped before there was an answer"),
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

/// Counts failures of many places of a map, by what they say; numbers in it, as times, do not tell them apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// By the text without its numbers: how often, and the first one.
    kinds: BTreeMap<String, (usize, String)>,
}

impl Tally {
    /// One more failure.
    pub fn add(&mut self, error: impl fmt::Display) {
        let text = error.to_string();
        let number = |word: &str| word.trim_matches(|c| ",;:()".contains(c)).parse::<f64>().is_ok();
        let kind: Vec<&str> = text.split_whitespace().filter(|word| !number(word)).collect();
        let kind = kind.join(" ");
        self.kinds.entry(kind).or_insert((0, text)).0 += 1;
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.kinds.values().map(|(count, _)| count).sum()
    }

    /// How often the most frequent one was met, and the first that says it.
    pub fn most(&self) -> Option<(usize, &str)> {
        // Of equals the first in order, whatever the threads did.
        let found = self.kinds.values().rev().max_by_key(|(count, _)| *count);
        found.map(|(count, text)| (*count, text.as_str()))
    }

    /// A sentence on them, of places by this name; nothing if there are none.
    pub fn told(&self, places: &str, all: usize) -> Option<String> {
        let (most, text) = self.most()?;
        let often = if most == self.count() { String::new() } else { format!(", {most} of them as") };
        Some(format!("{} of {all} {places} failed{often}: {text}", self.count()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_what_they_say() {
        let mut tally = Tally::default();
        assert_eq!(tally.told("places", 4), None);
        for t in [1.5, 2.5e-3] {
            tally.add(AnalysisError::NoEvent { t });
        }
        tally.add(AnalysisError::Stopped);
        assert_eq!((tally.count(), tally.most().map(|(count, _)| count)), (3, Some(2)));
        let told = tally.told("places", 4).unwrap_or_default();
        assert!(told.starts_with("3 of 4 places failed, 2 of them as: no event came until t = 1.5 s"), "{told}");
    }
}
