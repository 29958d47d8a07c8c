//! Why there is no front.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a front cannot be computed.
#[derive(Clone, Debug, PartialEq)]
pub enum ParetoError {
    /// A goal is no variable that could change, or is given twice, or none is given.
    Goal {
        /// Its name, or its place in the list.
        goal: String,
        /// What is wrong.
        reason: String,
    },
    /// An option has no meaning.
    Setting {
        /// What is wrong with which.
        reason: String,
    },
    /// No start leads to a feasible point.
    Infeasible {
        /// How many starts were tried.
        starts: usize,
        /// What the solver said of the one that came nearest.
        nearest: String,
    },
    /// A goal falls without end.
    Unbounded {
        /// Its name.
        goal: String,
        /// What the solver said.
        said: String,
    },
    /// A goal has no least value that could be found.
    Extreme {
        /// Its name.
        goal: String,
        /// What the solver said.
        said: String,
    },
    /// A file of finished solves cannot be used.
    Journal {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl ParetoError {
    pub(super) fn unwritten(path: &Path, error: &std::io::Error) -> Self {
        let kept = "finished solves are kept, and the same search goes on with the rest";
        Self::journal(path, format!("cannot be written: {error}; make room, or choose another place; {kept}"))
    }
    pub(super) fn journal(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Journal { path: path.to_path_buf(), reason: reason.to_string() }
    }
}

impl fmt::Display for ParetoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Goal { goal, reason } => write!(f, "goal `{goal}` {reason}"),
            Self::Setting { reason } => write!(f, "{reason}"),
            Self::Infeasible { starts, nearest } => write!(
                f,
                "no feasible point from {starts} starts; relax the constraints named below, or sample nearer to a known motion. The nearest: {nearest}"
            ),
            Self::Unbounded { goal, said } => {
                write!(f, "goal `{goal}` falls without end; limit it, or bound the variables it depends on. {said}")
            }
            Self::Extreme { goal, said } => write!(
                f,
                "goal `{goal}` has no least value that could be found; limit the goals to the part of the front that matters. {said}"
            ),
            Self::Journal { path, reason } => write!(f, "the journal `{}` {reason}", path.display()),
        }
    }
}

impl std::error::Error for ParetoError {}
