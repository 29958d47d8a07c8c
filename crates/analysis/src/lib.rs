//! What a motion is like: small vibrations, random answers, periodic orbits and what becomes of their neighbours, chaos.
//!
//! The crate knows no mechanics. It takes linear systems as matrices, fields and maps as code generic over the number, and any
//! [`dalembert_methods::system::System`], and finds modes, exponents, cycles and bifurcations with exact derivatives.

pub mod beside;
pub mod boundary;
pub mod continuation;
pub mod covariance;
pub mod crossing;
pub mod dense;
pub mod eigen;
pub mod error;
pub mod evolution;
pub mod export;
pub mod family;
pub mod field;
pub mod floquet;
pub mod hybrid;
pub mod linear;
pub mod linearise;
pub mod lyapunov;
pub mod map;
pub mod motion;
pub mod place;
pub mod problems;
pub mod reading;
pub mod recorded;
pub mod refine;
pub mod response;
pub mod routh;
pub mod shooting;
pub mod spectrum;
pub mod steady;
pub mod stride;
pub mod sweep;
pub mod touching;
pub mod variation;

pub use dense::{Dense, Matrix};
pub use error::AnalysisError;
