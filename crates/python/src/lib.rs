//! The part of the Python package `dalembert` that is written in Rust: scenes, models, runs, studies, and functions of tables of states.
//!
//! What people see is written in Python around it, in `python/dalembert`; names and units are those of scenes. Nothing here panics: wrong input is an
//! exception. The interpreter is let go wherever numbers are computed.

mod batch;
mod callback;
mod convert;
mod error;
mod model;
mod optimise;
mod run;
mod scene;
mod share;
mod study;
mod sweeps;
mod tree;
mod watch;

use pyo3::prelude::*;

/// The module `dalembert._dalembert`.
#[pymodule]
mod _dalembert {
    #[pymodule_export]
    use crate::batch::evaluate;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::optimise::{optimal_studies, optimise};
    #[pymodule_export]
    use crate::run::{Run, read_run, restore_run, scene_of_run};
    #[pymodule_export]
    use crate::scene::{build, files_of, integrators, parse, read, registry, scenes_built_in, write};
    #[pymodule_export]
    use crate::study::{studies, study};
    #[pymodule_export]
    use crate::sweeps::{SweepJournal, SweepStudy};
    #[pymodule_export]
    use crate::tree::{Tree, tree_of, tree_of_robot};
    #[pymodule_export]
    use crate::watch::{close, forked};

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
