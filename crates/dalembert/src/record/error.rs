//! What can go wrong between a run and its folder.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use dalembert_methods::trajectory::TrajectoryError;

use super::CheckpointError;

/// What helps against a refusal of the system to write a file, if anything is known to.
pub fn remedy(error: &io::Error) -> Option<&'static str> {
    use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded => Some("free some space or choose another disk with --out"),
        FileTooLarge => Some("raise the limit of the size of files (ulimit -f) or choose another disk with --out"),
        PermissionDenied | ReadOnlyFilesystem => Some("choose a folder you may write to with --out"),
        _ => None,
    }
}

/// Why a run record could not be written or read.
#[derive(Debug)]
pub enum RecordError {
    /// The system refused: a full disk, a missing permission, a missing file.
    Io {
        /// What was being done, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder has something in it that is not ours, so it is not replaced.
    NotARecord {
        /// The folder.
        path: PathBuf,
        /// Why it is not taken for a run record.
        reason: String,
    },
    /// A file of the record does not hold what it should.
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line in the file, counted from 1; 0 if lines mean nothing there.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The checkpoint is damaged or of another version.
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
}

impl RecordError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }

    pub(super) fn malformed(path: &Path, line: usize, reason: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_owned(), line, reason: reason.into() }
    }

    pub(super) fn table(path: &Path, error: &TrajectoryError) -> Self {
        Self::malformed(path, 0, error.to_string())
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, path, source } => {
                write!(f, "cannot {action} `{}`: {source}", path.display())?;
                remedy(source).map_or(Ok(()), |remedy| write!(f, "; {remedy}"))
            }
            Self::NotARecord { path, reason } => write!(
                f,
                "`{}` is not a run record ({reason}) and is left as it is; choose another folder or empty this one",
                path.display()
            ),
            Self::Malformed { path, line: 0, reason } => write!(f, "`{}` cannot be read: {reason}", path.display()),
            Self::Malformed { path, line, reason } => {
                write!(f, "`{}`, line {line}, cannot be read: {reason}", path.display())
            }
            Self::Checkpoint { path, source } => write!(f, "checkpoint `{}`: {source}", path.display()),
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Checkpoint { source, .. } => Some(source),
            _ => None,
        }
    }
}
