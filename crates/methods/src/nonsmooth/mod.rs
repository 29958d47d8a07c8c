//! Motion with contacts: gaps that close and open, friction that sticks and slides.
//!
//! A model says what touches and how ([`Contacts`]). [`Hybrid`] makes a plain [`crate::system::System`] of it for given modes (open, slide,
//! stick), which every integrator can run. [`simulate`] runs it, finds where modes end, and decides what comes next: impacts by a law
//! of restitution, everything else by complementarity ([`lcp`]). For many contacts there is time stepping without events
//! ([`moreau`]). [`rest`] finds an equilibrium and the modes that contacts have there.
//!
//! **Stiffness.** With two tangents the direction of a slow slip turns at a rate of μN/(m|u|), without bound as the slip stops or starts. A
//! slip that starts is led in its first direction for a moment ([`Options::creep`]). An implicit method (`radau`) passes stops in
//! some ten steps; explicit ones crawl there.

mod clues;
mod cone;
mod contacts;
mod decide;
mod delassus;
mod desk;
mod error;
mod hybrid;
mod impact;
pub mod lcp;
pub mod moreau;
mod observe;
mod resting;
mod run;
mod simulate;
mod switching;
mod zeno;

use crate::integrate::{About, methods};

pub use contacts::{Contacts, Latch, Mode, excess, resist};
pub use decide::contact_forces;
pub use error::ContactError;
pub use hybrid::{ACCOUNTS, FAINT, Hybrid, resistance};
pub use impact::{Phase, Restitution, Stage, impact_phases};
pub use resting::{Misfit, Resting, misfit, rest};
pub use run::{Event, Kind, Moment, Observer, Options, Progress, Run};
pub use simulate::{resume, simulate, simulate_at};
pub use zeno::KEPT;

/// The tables of all that a run with contacts can be made with: integrators between located events, and time stepping.
pub fn choices() -> Vec<&'static About> {
    methods().iter().copied().chain([&moreau::ABOUT_MOREAU]).collect()
}
