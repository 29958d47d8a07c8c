//! Joints and constraints against closed forms and independent routes.
#![allow(clippy::unwrap_used)]

mod derivatives;
mod joints;
mod registry;
mod rolling;
mod support;
mod tendons;
mod turns;
