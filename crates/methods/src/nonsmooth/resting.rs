//! Static equilibrium of a system with contacts: which of them bear, stick and slide, and with what forces.
//!
//! With modes held a system with contacts is a plain one ([`Hybrid`]), whose equilibrium is searched for ([`crate::statics`]). There the law of
//! contacts is asked as at the start of a run ([`super::decide`]): does every closed contact press, does every sticking one stay within its cone?
//! And are all gaps of open ones left? If not, the search begins again from the start, with the modes that those contacts ask for.
//!
//! A contact that cannot stick where the search begins slides to where friction holds it. It rests there, and so its mode is to stick: on the edge of its cone.
//! Sticking contacts hold within a range of forces, so that such an equilibrium is one of a family.
//!
//! At rest a contact slips only if its surface moves, as a belt does; then it slides with the speed of the belt.

use super::contacts::{Contacts, Mode};
use super::decide::{Clue, Decision, decide, unit};
use super::desk::Desk;
use super::error::ContactError;
use super::hybrid::Hybrid;
use super::run::Options;
use crate::dynamics::{Dynamics, Rates};
use crate::integrate::IntegrateError;
use crate::statics::{Equilibrium, equilibrium};
use crate::system::{State, System};

/// Searches beside one for each contact.
const SEARCHES: usize = 8;

/// An equilibrium with contacts. Its modes are those of the [`Hybrid`].
#[derive(Clone, Debug, PartialEq)]
pub struct Resting {
    /// What the last search found.
    pub equilibrium: Equilibrium,
    /// The forces of all contacts by their rows: press, then tangents, in newtons.
    pub forces: Vec<f64>,
    /// The number of searches.
    pub searches: usize,
}

/// Moves a state (made by [`Hybrid::state`]) to a static equilibrium near it, and sets the modes that contacts have there.
///
/// # Errors
/// Those of [`equilibrium`], and [`ContactError::Restless`] if no modes fit.
pub fn rest<Y: Contacts>(
    y: &mut Hybrid<'_, Y>,
    s: &mut State<f64>,
    tolerance: f64,
    options: &Options,
) -> Result<Resting, IntegrateError> {
    s.v.fill(0.0);
    let count = y.modes().len();
    if count == 0 {
        let equilibrium = equilibrium(&*y, s, tolerance)?;
        return Ok(Resting { equilibrium, forces: Vec::new(), searches: 1 });
    }
    let start = s.clone();
    let none = vec![Clue::default(); count];
    let (gap, _) = kinematics(y, s);
    let latched: Vec<bool> = (0..count).map(|i| y.latched()[i] && gap[i].abs() <= options.touch).collect();
    y.set_latched(&latched);
    let mut modes = decide(&mut Desk::new(y), y, s, options, &none)?.modes;
    let mut seen: Vec<Vec<Mode>> = Vec::new();
    let mut searches = 0;
    loop {
        searches += 1;
        y.set_modes(&modes);
        s.copy_from(&start);
        let found = equilibrium(&*y, s, tolerance);
        seen.push(modes.clone());
        let misfit = match (below(y, s, options), found) {
            (Some(misfit), _) => misfit,
            (None, Err(error)) => return Err(error),
            (None, Ok(equilibrium)) => {
                let (decision, misfit) = fits(y, s, options)?;
                let Some(misfit) = misfit else {
                    // What has slid here and rests sticks from now on.
                    let (_, rate) = kinematics(y, s);
                    let rests = |i: usize| modes[i].closed() && !matches!(modes[i], Mode::Stick);
                    let last = |i: usize| if rests(i) { resting_mode(y, i, &rate, options.rest) } else { modes[i] };
                    let last: Vec<Mode> = (0..count).map(last).collect();
                    y.set_modes(&last);
                    return Ok(Resting { equilibrium, forces: decision.force, searches });
                };
                misfit
            }
        };
        // All that ask for it change at once, unless this has been tried; then the worst one alone.
        let Misfit { contact, what, asked } = misfit;
        let alone: Vec<Mode> = (0..count).map(|i| if i == contact { asked[i] } else { modes[i] }).collect();
        let next = [asked, alone].into_iter().find(|next| !seen.contains(next));
        match next {
            Some(next) if searches < SEARCHES + count => modes = next,
            _ => {
                let contact = y.model().contact_name(contact);
                return Err(ContactError::Restless { t: s.t, contact, what, searches }.into());
            }
        }
    }
}

/// A contact whose mode does not fit to a state of rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// Which.
    pub contact: usize,
    /// What is wrong with it.
    pub what: String,
    /// The modes of all contacts that would do better there.
    pub asked: Vec<Mode>,
}

/// What does not fit to the modes at an equilibrium: a surface that is passed, a press below zero, friction beyond its cone. The worst, if anything.
///
/// # Errors
/// Those of the decision about contacts.
pub fn misfit<Y: Contacts>(
    y: &Hybrid<'_, Y>,
    s: &State<f64>,
    options: &Options,
) -> Result<Option<Misfit>, IntegrateError> {
    if y.modes().is_empty() {
        return Ok(None);
    }
    let mut at = s.clone();
    at.v.fill(0.0);
    match below(y, &at, options) {
        Some(misfit) => Ok(Some(misfit)),
        None => Ok(fits(y, &at, options)?.1),
    }
}

/// The open contact that is deepest below its surface.
fn below<Y: Contacts>(y: &Hybrid<'_, Y>, s: &State<f64>, options: &Options) -> Option<Misfit> {
    let (gap, rate) = kinematics(y, s);
    let modes = y.modes();
    let below = |i: &usize| !modes[*i].closed() && gap[*i] < -options.touch;
    let contact = (0..modes.len()).filter(below).min_by(|&i, &j| gap[i].total_cmp(&gap[j]))?;
    let mode = |i: usize| if below(&i) { resting_mode(y, i, &rate, options.rest) } else { modes[i] };
    let what = format!("is {:.3e} m below the surface", -gap[contact]);
    Some(Misfit { contact, what, asked: (0..modes.len()).map(mode).collect() })
}

/// What a run that begins at rest here decides, and the closed contact that fits least to it.
fn fits<Y: Contacts>(
    y: &Hybrid<'_, Y>,
    s: &State<f64>,
    options: &Options,
) -> Result<(Decision, Option<Misfit>), IntegrateError> {
    let modes = y.modes();
    let decision = decide(&mut Desk::new(y), y, s, options, &vec![Clue::default(); modes.len()])?;
    let wrong = |i: &usize| match (modes[*i], decision.modes[*i]) {
        (Mode::Open, _) => false,
        (_, Mode::Open) | (Mode::Stick, Mode::Slide { .. }) => true,
        _ => false,
    };
    let (mut dynamics, mut rates) = (Dynamics::new(y), Rates::zeros(y.shape()));
    dynamics.evaluate(y, s, &mut rates)?;
    let mut forces = vec![0.0; y.start(modes.len())];
    y.forces(&rates.multipliers, dynamics.parts().work, &mut forces);
    let press = |i: usize| forces[y.start(i)];
    let Some(contact) = (0..modes.len()).filter(wrong).min_by(|&i, &j| press(i).total_cmp(&press(j))) else {
        return Ok((decision, None));
    };
    let across = unit(&forces[y.start(contact) + 1..y.start(contact + 1)]).0;
    let what = match decision.modes[contact] {
        Mode::Open => format!("would have to pull with {:.6e} N", -press(contact)),
        _ => format!("would have to hold {across:.6e} N at a press of {:.6e} N", press(contact)),
    };
    let asked = (0..modes.len()).map(|i| if wrong(&i) { decision.modes[i] } else { modes[i] }).collect();
    Ok((decision, Some(Misfit { contact, what, asked })))
}

/// The gaps of all contacts and the rates of their rows.
fn kinematics<Y: Contacts>(y: &Hybrid<'_, Y>, s: &State<f64>) -> (Vec<f64>, Vec<f64>) {
    let count = y.modes().len();
    let (mut gap, mut rate) = (vec![0.0; count], vec![0.0; y.start(count)]);
    let mut work = y.work();
    y.prepare(s, &mut work);
    y.kinematics(s, &mut work, &mut gap, &mut rate);
    (gap, rate)
}

fn tangents<Y: Contacts>(y: &Hybrid<'_, Y>, contact: usize) -> usize {
    y.start(contact + 1) - y.start(contact) - 1
}

/// The speed and the direction of the slip of a contact.
fn slip<Y: Contacts>(y: &Hybrid<'_, Y>, contact: usize, rate: &[f64]) -> (f64, [f64; 2]) {
    unit(&rate[y.start(contact) + 1..y.start(contact + 1)])
}

/// The mode of a contact that closes while the system rests.
fn resting_mode<Y: Contacts>(y: &Hybrid<'_, Y>, contact: usize, rate: &[f64], rest: f64) -> Mode {
    match slip(y, contact, rate) {
        _ if tangents(y, contact) == 0 => Mode::Slide { direction: [0.0; 2] },
        (speed, direction) if speed > rest => Mode::Slide { direction },
        _ => Mode::Stick,
    }
}
