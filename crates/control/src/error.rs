//! Why a problem cannot be transcribed.

use dalembert_graph::TraceError;
use dalembert_graph::machine::CompileError;
use std::fmt;

/// What is wrong with a statement of a problem.
#[derive(Debug)]
pub enum ControlError {
    /// A part of the statement contradicts another, or has the wrong size: where, and what was expected.
    Statement {
        /// The phase, control, goal or condition.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// A function asks for what the method does not know.
    Missing {
        /// The function.
        function: String,
        /// What it asks for.
        what: &'static str,
        /// What to try.
        hint: &'static str,
    },
    /// An equation of the system or a function cannot be recorded.
    Record {
        /// Which kernel.
        place: String,
        /// Why.
        error: TraceError,
    },
    /// A kernel cannot be compiled.
    Compile(CompileError),
}

impl ControlError {
    pub(crate) fn statement(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Statement { place: place.into(), message: message.into() }
    }
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Statement { place, message } => write!(f, "{place}: {message}"),
            Self::Missing { function, what, hint } => {
                write!(f, "`{function}` asks for {what}, which is not known there: {hint}")
            }
            Self::Record { place, error } => write!(f, "{place}: {error}"),
            Self::Compile(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ControlError {}

impl From<CompileError> for ControlError {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
    }
}
