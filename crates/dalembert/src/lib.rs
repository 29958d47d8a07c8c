//! dalembert: computational dynamics of rigid, articulated, flexible, soft and living bodies.
//!
//! This crate says *what* to solve: [`model`]s of [`bodies`] with markers, and [`forces`], [`joints`] and [`constraints`]
//! attached to them. *How* to solve is in [`methods`]. The two meet in [`methods::system::System`], implemented in [`equations`].

pub mod assemblies;
pub mod bodies;
pub mod callback;
pub mod check;
pub mod constraints;
pub mod contacts;
pub mod element;
pub mod equations;
pub mod expression;
pub mod forces;
pub mod joints;
pub mod materials;
pub mod model;
pub mod picture;
pub mod record;
pub mod report;
pub mod run;
pub mod scene;
pub mod scenes;
pub mod shapes;
pub mod signals;

pub use dalembert_methods as methods;

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
