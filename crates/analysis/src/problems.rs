//! Fields and hybrid motions whose answers are known: what analyses are measured on, and how such systems are written.

mod belt;
mod kneed;
mod oscillators;
mod walkers;

pub use belt::BlockOnBelt;
pub use kneed::KneedWalker;
pub use oscillators::{Duffing, HenonHeiles, ImpactOscillator, Lorenz, Mathieu, Roessler};
pub use walkers::{Compass, RimlessWheel, SimplestWalker};
