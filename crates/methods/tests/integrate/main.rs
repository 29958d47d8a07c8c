//! Integrators and what they stand on, measured on problems with known solutions. One program, so that each integrator is
//! compiled once for each problem.

#[path = "../counting/mod.rs"]
mod counting;
mod support;

mod allocation;
mod dynamics;
mod generalized_alpha;
mod implicit;
mod laws;
mod mexx;
mod minimal;
mod order_conditions;
mod radau;
mod simulation;
mod statics;
mod tangent;
