//! How a command ends: exit codes and messages.

use dalembert::record::RecordError;
use dalembert::run::{Failure, RunError};
use dalembert::scene::SceneError;
use std::process::ExitCode;

/// Why a command did not succeed.
pub enum Exit {
    /// The run failed; its results were kept.
    Failed(String),
    /// The scene or the command is wrong.
    Bad(Box<dyn miette::Diagnostic + Send + Sync>),
    /// The command is wrong.
    Usage(String),
    /// The energy ledger does not close; results were kept.
    Ledger(String),
    /// A file could not be read or written.
    Io(String),
    /// Interrupted; results up to there were kept.
    Interrupted,
}

impl Exit {
    /// A file operation that failed.
    pub fn io(what: &str, error: &std::io::Error) -> Self {
        Self::Io(format!("cannot {what}: {error}"))
    }

    /// Prints the message to standard error and gives the exit code.
    pub fn report(self) -> ExitCode {
        let (code, message) = match self {
            Self::Failed(message) => (1, message),
            Self::Bad(diagnostic) => {
                eprintln!("{:?}", miette::Report::new_boxed(diagnostic));
                return ExitCode::from(2);
            }
            Self::Usage(message) => (2, message),
            Self::Ledger(message) => (3, message),
            Self::Io(message) => (4, message),
            Self::Interrupted => return ExitCode::from(130),
        };
        eprintln!("error: {message}");
        ExitCode::from(code)
    }
}

impl From<SceneError> for Exit {
    fn from(error: SceneError) -> Self {
        Self::Bad(Box::new(error))
    }
}

impl From<RunError> for Exit {
    fn from(error: RunError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<RecordError> for Exit {
    fn from(error: RecordError) -> Self {
        Self::Io(error.to_string())
    }
}

impl From<Failure> for Exit {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        match failure {
            Failure::Integrate(_) => Self::Failed(message),
            Failure::Ledger { .. } => Self::Ledger(message),
        }
    }
}
