//! Scene files as documents: text in, tables with places out.
//!
//! This layer knows no mechanics. It reads TOML, merges included files, computes parameters and arithmetic, expands
//! repeats and applies settings from outside. What results is a [`Document`]: sections of named tables in which every value
//! knows its file, line and column, ready to be read into types by serde.
//!
//! ```
//! use dalembert::scene::{Document, Limits, Overrides};
//! let text = r#"
//! [parameters]
//! length = 0.5
//! [body.bob]
//! kind = "particle"
//! position = ["= 2*length", 0, 0]
//! "#;
//! let document = Document::from_text("pendulum.toml", text, &Overrides::none(), &Limits::default())?;
//! let bob = document.section("body").next().unwrap();
//!
//! #[derive(serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Particle { position: [f64; 3] }
//! assert_eq!(bob.kind()?, "particle");
//! assert_eq!(bob.deserialize_element::<Particle>()?.position, [1.0, 0.0, 0.0]);
//! # Ok::<(), dalembert::scene::SceneError>(())
//! ```
//!
//! Text from outside is not trusted: whatever it holds, reading ends within the bounds of [`Limits`] with a document or a [`SceneError`].

mod assemble;
mod attach;
mod check_run;
mod comparison;
mod de;
mod describe;
mod document;
mod edit;
mod error;
mod figures;
mod fuzz;
mod include;
mod limits;
mod looks;
mod node;
mod overrides;
mod parameters;
mod read;
mod repeat;
mod schema;
mod scope;
mod settings;
mod source;
mod write;

pub use crate::expression::nearest;
pub use assemble::{MarkerSettings, SECTIONS, Scene};
pub(crate) use assemble::{maker, place};
pub use comparison::{ComparisonSettings, MethodSettings, Take};
pub use document::{Document, Draft, Entry};
pub use edit::edited;
pub use error::{MOST_PROBLEMS, Problem, Problems, SceneError};
pub use figures::{Eye, EyePlane, Moment, PanelSettings, ShapesSettings};
pub use fuzz::fuzz_one;
pub use limits::Limits;
pub use node::{Key, Node, Table, Value};
pub use overrides::Overrides;
pub use parameters::Parameter;
pub use schema::{FieldInfo, KindInfo, every_kind, every_section, fields, schema};
pub use schemars::Schema;
pub use settings::{
    ContactSettings, Crossing, EventSettings, Initial, OutputSettings, RestitutionLaw, RunSettings, SceneInfo, World,
};
pub use source::{DiskLoader, LoadError, Loader, MemoryLoader, Position, SourceFile, Sources, Span};
pub use write::to_toml;

/// The format of scene files that this version reads and writes.
pub const FORMAT: i64 = 1;

const INCLUDE: &str = "include";
const REPEAT: &str = "repeat";
const PARAMETERS: &str = "parameters";
const SET: &str = "set";
const SCENE: &str = "scene";

/// Tables that stand by themselves; all other sections hold named tables.
pub const SINGLE_TABLES: [&str; 4] = [SCENE, "world", "run", "output"];

#[cfg(test)]
mod tests;
