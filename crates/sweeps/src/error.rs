//! What can be wrong with a sweep as a whole; what is wrong with one row is told by its row.

use std::fmt;

/// Why a sweep cannot be read, started or gone on with.
#[derive(Debug)]
pub enum SweepError {
    /// The study is not valid: where, and why.
    Study {
        /// The file.
        file: String,
        /// Line and column, from 1.
        at: (usize, usize),
        /// What is wrong, with what is expected.
        message: String,
    },
    /// The scene cannot be read or run with the values of any row that was tried.
    Scene(String),
    /// A file cannot be read or written.
    File {
        /// Its path.
        path: String,
        /// Why.
        reason: String,
    },
    /// A journal that belongs to something else, or is in use.
    Journal {
        /// Its path.
        path: String,
        /// Why it cannot be used.
        reason: String,
    },
    /// A study from elsewhere that cannot be used here.
    Parcel {
        /// Why not.
        reason: String,
    },
}

impl SweepError {
    pub(crate) fn file(path: &std::path::Path, reason: impl fmt::Display) -> Self {
        Self::File { path: path.display().to_string(), reason: reason.to_string() }
    }
    /// A file that cannot be written, with what helps.
    pub(crate) fn unwritten(path: &std::path::Path, error: &std::io::Error) -> Self {
        let remedy = dalembert::record::remedy(error).map_or_else(String::new, |remedy| format!("; {remedy}"));
        let kept = "finished rows are kept, and the same command goes on with the rest";
        Self::file(path, format!("cannot be written: {error}{remedy}; {kept}"))
    }
    pub(crate) fn journal(path: &std::path::Path, reason: impl Into<String>) -> Self {
        Self::Journal { path: path.display().to_string(), reason: reason.into() }
    }
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Study { file, at: (line, column), message } => write!(f, "{file}:{line}:{column}: {message}"),
            Self::Scene(message) => f.write_str(message),
            Self::File { path, reason } => write!(f, "`{path}`: {reason}"),
            Self::Journal { path, reason } => write!(f, "the journal `{path}` {reason}"),
            Self::Parcel { reason } => write!(f, "the parcel of a study {reason}"),
        }
    }
}

impl std::error::Error for SweepError {}
