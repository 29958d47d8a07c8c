//! Linear algebra: factors, saddle points, and bodies that many others are joined to.

#[path = "../counting/mod.rs"]
mod counting;

mod hubs;
mod lu;
mod saddle;
