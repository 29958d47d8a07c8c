//! How a command ends: exit codes and messages.

use dalembert::record::RecordError;
use dalembert::run::{Failure, RunError};
use dalembert::scene::{Scene, SceneError};
use std::io::IsTerminal;
use std::process::ExitCode;

/// Why a command did not succeed.
pub enum Exit {
    /// The run failed; its results were kept.
    Failed(String),
    /// The scene is wrong.
    Bad(SceneError),
    /// The command is wrong.
    Usage(String),
    /// The energy ledger does not close; results were kept.
    Ledger(String),
    /// A file could not be read or written.
    Io(String),
    /// Interrupted; results up to there were kept.
    Interrupted,
    /// A program that was started has told why, and ended with this code.
    Told(u8),
}

impl Exit {
    /// A file operation that failed.
    pub fn io(what: &str, error: &std::io::Error) -> Self {
        Self::Io(format!("cannot {what}: {error}"))
    }

    /// A run that did not start, with the place in the scene that is to blame if there is one.
    pub fn start(error: &RunError, scene: &Scene) -> Self {
        error.place(scene).map_or_else(|| Self::Usage(error.to_string()), Self::Bad)
    }

    /// Prints the message to standard error and gives the exit code.
    pub fn report(self) -> ExitCode {
        let code = match self {
            Self::Failed(_) => 1,
            Self::Bad(error) if std::io::stderr().is_terminal() => {
                eprintln!("{:?}", miette::Report::new(error));
                return ExitCode::from(2);
            }
            Self::Bad(_) | Self::Usage(_) => 2,
            Self::Ledger(_) => 3,
            Self::Io(_) => 4,
            Self::Interrupted => return ExitCode::from(130),
            Self::Told(code) => return ExitCode::from(code),
        };
        eprintln!("error: {self}");
        ExitCode::from(code)
    }
}

/// The message alone.
impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(message) | Self::Usage(message) | Self::Ledger(message) | Self::Io(message) => {
                f.write_str(message)
            }
            Self::Bad(error) => f.write_str(&lines(error)),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Told(code) => write!(f, "ended with code {code}"),
        }
    }
}

/// For a log: one line `file:line:column: message (help)` for each problem.
fn lines(error: &SceneError) -> String {
    if error.problems().len() == 1 { error.plain() } else { format!("{error}\n{}", error.plain()) }
}

impl From<SceneError> for Exit {
    fn from(error: SceneError) -> Self {
        Self::Bad(error)
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
            Failure::Integrate(_) | Failure::Callback(_) => Self::Failed(message),
            Failure::Ledger { .. } | Failure::Gain { .. } => Self::Ledger(message),
        }
    }
}
