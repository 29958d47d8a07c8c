//! The run record: one folder that holds everything a run used and produced.
//!
//! The file names and their contents are an interface that scripts rely on; `docs/src/run-record.md`
//! describes them and a test keeps that page complete. A folder appears under its final name whole or
//! not at all (see [`write()`]).
//!
//! | file | content |
//! |---|---|
//! | `scene.toml` | the scene as run |
//! | `summary.json` | [`Summary`]: version, settings, counts, ledger, final state |
//! | `events.csv` | what happened when |
//! | `steps.csv` | the steps the integrator took |
//! | `trajectory.parquet`, `trajectory.csv` | the recorded channels, twice |
//! | `animation.json` | the motion, for the viewer |
//! | `report.html` | the report |
//! | `checkpoint.bin` | where to continue, only in unfinished runs |

mod checkpoint;
mod csv;
mod error;
mod folder;
mod numpy;
mod parquet;
mod summary;

pub use checkpoint::{Checkpoint, CheckpointError, Section};
pub(crate) use csv::parse_events;
pub use csv::{read_events, read_steps, read_trajectory_csv, write_events, write_steps, write_trajectory_csv};
pub use error::{RecordError, remedy};
pub use folder::{
    Contents, Record, check_destination, find_checkpoint, is_record, read, replace_report, running_checkpoint, write,
};
pub use numpy::export_numpy;
pub use parquet::{read_parquet, write_parquet};
pub use summary::{Balance, ChannelSummary, FinalState, Ledger, Setting, Status, Summary};

/// Names of the files in a run folder.
pub mod files {
    /// The scene as run.
    pub const SCENE: &str = "scene.toml";
    /// The summary.
    pub const SUMMARY: &str = "summary.json";
    /// The events.
    pub const EVENTS: &str = "events.csv";
    /// The steps.
    pub const STEPS: &str = "steps.csv";
    /// The trajectory in Parquet.
    pub const TRAJECTORY_PARQUET: &str = "trajectory.parquet";
    /// The trajectory as text.
    pub const TRAJECTORY_CSV: &str = "trajectory.csv";
    /// The motion, for the viewer and for exports.
    pub const ANIMATION: &str = "animation.json";
    /// The report.
    pub const REPORT: &str = "report.html";
    /// The checkpoint of an unfinished run.
    pub const CHECKPOINT: &str = "checkpoint.bin";
    /// The trajectory as a NumPy array, only by export.
    pub const TRAJECTORY_NPY: &str = "trajectory.npy";
    /// The channels of the NumPy array, only by export.
    pub const CHANNELS: &str = "channels.json";

    /// All of them: a folder with anything else in it is never replaced.
    pub const ALL: [&str; 11] = [
        SCENE,
        SUMMARY,
        EVENTS,
        STEPS,
        TRAJECTORY_PARQUET,
        TRAJECTORY_CSV,
        ANIMATION,
        REPORT,
        CHECKPOINT,
        TRAJECTORY_NPY,
        CHANNELS,
    ];
}

#[cfg(test)]
mod tests;
