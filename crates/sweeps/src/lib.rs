//! Many runs of one scene: what changes from run to run, what is kept of each, and one table of results.
//!
//! A [`Study`] is a file that names a scene, the entries to vary and the figures to take from every run. Its [`Plan`] says what row
//! number i is, without the rows before it, so that rows can be computed in any order, by any number of workers, on any number of
//! machines. [`sweep`] computes them and appends each to a [`Journal`] when it is finished; killed at any moment it goes on where it
//! was. [`rows`] computes some of them on a machine that has nothing but the [`Study::parcel`]. [`table`] writes the finished rows, in their order, as one Parquet file: the same bytes however they were computed.
//!
//! A row that fails is a row with an error. It stops nothing. [`compare`] runs a scene with several integrators and their options, for errors, orders and time.

mod company;
pub mod compare;
mod error;
mod execute;
mod files;
mod journal;
mod output;
mod parcel;
mod plan;
mod sample;
mod study;
pub mod table;

pub use company::Alone;
pub use error::SweepError;
pub use execute::{Progress, Tally, sweep};
pub use journal::{Journal, Outcome, read_all};
pub use output::{Output, Reduction, Source, Taken};
pub use parcel::{VERSION, collect, rows};
pub use plan::{Plan, Value};
pub use study::{Shard, Study};
