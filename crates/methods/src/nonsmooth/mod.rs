//! Motion with contacts: gaps that close and open, friction that sticks and slides.

mod cone;
mod contacts;
mod delassus;
mod error;
mod hybrid;
pub mod lcp;

pub use contacts::{Contacts, Mode, excess, resist};
pub use error::ContactError;
pub use hybrid::{ACCOUNTS, Hybrid};
