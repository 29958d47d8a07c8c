//! Motion with contacts: gaps that close and open, friction that sticks and slides.

pub mod lcp;
