//! Optimal control of any model: what to reach, what to save, within which bounds.
//!
//! ```text
//! problem → transcription → kernels → nonlinear program → solution → record
//! ```
//!
//! A [`Problem`] is stated on any [`System`](dalembert_methods::System), such as a [`Model`](dalembert::model::Model): controls, phases with bounds and
//! conditions, goals. A [`Method`] makes it finite. The equations of one interval are recorded once, differentiated exactly, compiled, and
//! mapped over all intervals ([`kernel`]); what comes out is a sparse [`Program`] that any solver of `dalembert-optimise` takes.

pub mod difference;
pub mod elements;
pub mod equations;
pub mod error;
pub mod front;
pub mod kernel;
pub mod lobatto;
pub mod method;
pub mod moment;
pub mod problem;
pub mod program;
pub mod refine;
pub mod sample;
pub mod solution;
pub mod study;
pub mod transcribe;

pub use error::ControlError;
pub use method::{Form, Method};
pub use moment::{Function, Moment};
pub use problem::{Across, Acts, Condition, Control, Goal, Guess, GuessAt, Path, Phase, Problem, Rates, Static, Term};
pub use program::{Options, Program};
pub use solution::{Instant, Solution, solve};
pub use transcribe::transcribe;
