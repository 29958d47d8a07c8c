//! Running a scene: from initial values to a record, with an account of energy.

mod alone;
mod audit;
mod channels;
mod checkpoint;
mod driver;
mod figures;
mod given;
mod motion;
mod recorder;
mod start;
mod swing;
mod triggers;

pub use alone::integrate_alone;
pub use audit::Audit;
pub use channels::{Channels, Reading, ReadingError, matches};
pub use driver::{Failure, Outcome, RunError, Watcher, run, run_figures, run_from, run_one_of_many};
pub use figures::{Figures, figures, snapshots};
pub use given::{Column, Given, given};
pub use motion::motion;
pub use start::check;
