//! What can go wrong at contacts: when, which contact by the user's name, how much, what to try.

use std::fmt;

/// Why a motion with contacts cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub enum ContactError {
    /// A contact starts with its bodies inside each other.
    Penetration {
        /// Time in seconds.
        t: f64,
        /// The contact.
        contact: String,
        /// Its gap in metres.
        gap: f64,
    },
    /// A point left a hollow below the surface.
    Stubbed {
        /// Time in seconds.
        t: f64,
        /// The contact.
        contact: String,
        /// Its gap in metres.
        gap: f64,
    },
    /// No set of open, sliding and sticking contacts fits.
    Undecided {
        /// Time in seconds.
        t: f64,
        /// What was to be decided.
        what: &'static str,
        /// The contacts that take part.
        contacts: Vec<String>,
    },
    /// An impact law would create energy.
    EnergyGain {
        /// Time in seconds.
        t: f64,
        /// The contacts that take part.
        contacts: Vec<String>,
        /// The energy in joules.
        gained: f64,
    },
    /// Events follow each other without time passing.
    Chatter {
        /// Time in seconds.
        t: f64,
        /// The contacts that take part.
        contacts: Vec<String>,
    },
    /// No modes of contacts fit to an equilibrium.
    Restless {
        /// Time in seconds.
        t: f64,
        /// The contact that fits least.
        contact: String,
        /// What is wrong with it.
        what: String,
        /// The number of searches.
        searches: usize,
    },
    /// A law cannot be used as asked.
    Law {
        /// The contact.
        contact: String,
        /// What is wrong and what to use instead.
        reason: String,
    },
}

impl fmt::Display for ContactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |contacts: &[String]| contacts.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ");
        match self {
            Self::Penetration { t, contact, gap } => {
                write!(f, "at t = {t} s `{contact}` starts with a gap of {gap:.3e} m; move its bodies apart")
            }
            Self::Stubbed { t, contact, gap } => write!(
                f,
                "at t = {t} s `{contact}` leaves its hollow {:.3e} m below the surface; make the hollow wider, or start where the point \
                 stays above",
                -gap
            ),
            Self::Undecided { t, what, contacts } => write!(
                f,
                "at t = {t} s {what} has no solution for the contacts {}; try smaller friction coefficients or `moreau`",
                names(contacts)
            ),
            Self::EnergyGain { t, contacts, gained } => write!(
                f,
                "at t = {t} s the impact law would create {gained:.3e} J at {}; use the law `energetic`, or `poisson`",
                names(contacts)
            ),
            Self::Chatter { t, contacts } => write!(
                f,
                "at t = {t} s events at {} follow each other without time passing; try a larger `rest` speed, \
                 `radau` (slow slips with two tangents are stiff) or `moreau`",
                names(contacts)
            ),
            Self::Restless { t, contact, what, searches } => write!(
                f,
                "at t = {t} s no equilibrium was found in {searches} searches with contacts closed and open: in the last one `{contact}` {what}; start \
                 nearer to the equilibrium, or let the motion come to rest by damping and take its end"
            ),
            Self::Law { contact, reason } => write!(f, "`{contact}`: {reason}"),
        }
    }
}

impl std::error::Error for ContactError {}
