//! Test problems: each a [`System`] with its exact or published solution and where it comes from.
//!
//! Methods are tested on these by [`crate::check`]; they are also the smallest examples of how a system is written.

mod atoms;
mod chain;
pub mod elliptic;
mod forced;
mod free_body;
mod kepler;
mod links;
mod oscillator;
mod pendulum;
pub mod residual;
mod sleigh;
mod stiff;
mod top;
pub mod touching;
mod wire;

pub use atoms::Atoms;
pub use chain::Chain;
pub use forced::ForcedOscillator;
pub use free_body::FreeBody;
pub use kepler::Kepler;
pub use links::Links;
pub use oscillator::Oscillator;
pub use pendulum::Pendulum;
pub use sleigh::Sleigh;
pub use stiff::{ProtheroRobinson, VanDerPol};
pub use top::Top;
pub use wire::RotatingWire;

use crate::system::{State, System};

/// A system whose motion is known.
pub trait Problem: System {
    /// A short name.
    fn name(&self) -> &'static str;
    /// Where the motion starts.
    fn initial(&self) -> State<f64>;
    /// The customary end of the motion, in seconds.
    fn until(&self) -> f64;
    /// The exact or published state at a time; `None` where it is not known.
    fn exact(&self, t: f64) -> Option<State<f64>>;
    /// Quantities that the motion conserves.
    fn invariants(&self, _s: &State<f64>) -> Vec<f64> {
        Vec::new()
    }
    /// Whether an explicit method needs many more steps than the motion has features.
    fn stiff(&self) -> bool {
        false
    }
    /// How far apart two states are: the largest difference of any component.
    fn distance(&self, a: &State<f64>, b: &State<f64>) -> f64 {
        [(&a.q, &b.q), (&a.v, &b.v), (&a.x, &b.x), (&a.z, &b.z)]
            .into_iter()
            .flat_map(|(a, b)| a.iter().zip(b))
            .fold(0.0, |largest, (a, b)| largest.max((a - b).abs()))
    }
}

/// Something to be done with every problem, whatever its type.
pub trait Visitor {
    /// Called once for each problem.
    fn visit<P: Problem>(&mut self, problem: &P);
}

/// Shows every problem, with its default parameters, to a visitor.
pub fn each(visitor: &mut impl Visitor) {
    visitor.visit(&Oscillator::default());
    visitor.visit(&Kepler::default());
    visitor.visit(&FreeBody::default());
    visitor.visit(&Pendulum::default());
    visitor.visit(&RotatingWire::default());
    visitor.visit(&Sleigh::default());
    visitor.visit(&ProtheroRobinson::default());
    visitor.visit(&VanDerPol);
}
