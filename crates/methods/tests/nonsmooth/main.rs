//! Contacts: events, laws, time stepping, and random ones.

mod contacts;

mod events;
mod laws;
mod moreau;
mod random;
mod rocking;
