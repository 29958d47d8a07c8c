//! Motion with contacts: gaps that close and open, friction that sticks and slides.

mod contacts;
mod hybrid;
pub mod lcp;

pub use contacts::{Contacts, Mode, excess, resist};
pub use hybrid::{ACCOUNTS, Hybrid};
