//! Which touching contacts open, slide and stick: complementarity on accelerations (Pfeiffer, Glocker 1996, chapter 6).
//!
//! Contacts with γ ≤ `touch` and γ̇ ≤ `rest` take part. Those that slip faster than `rest` slide in the direction of their slip.
//! The others may stick as long as the static cone allows. One that cannot starts to slide; then the problem is solved
//! again with the smaller section of sliding friction for it, until nobody else starts to slide.
//!
//! At an event the quantity that crossed zero is known to rounding only. The problem is therefore tipped to the side it goes
//! to: the acceleration of a contact whose press fell to zero is raised by 1e-8 of the largest acceleration, the static cone of one
//! whose force reached it is narrowed by 1e-6. The forces of the motion that follows are not touched by this.
//!
//! A contact in a statically indeterminate set may reach its cone with the forces of least square although others could
//! carry the rest. Then it still sticks here and is marked as *shared*: from then on the decision itself, not its own cone,
//! is the switching function. Likewise a contact whose press falls to zero while others keep it in place (a fourth leg) opens
//! without leaving; it is marked as *idle*, and its gap is watched half of `touch` below zero, out of the reach of rounding.
//!
//! **Suckers** pull as long as they are closed. All that were closed, or close now, are first taken to pull; those that open all
//! the same let go, and the others are asked again, until nobody else opens. Suction is read where it is just after the
//! instant, to the resolution of events: a sucker that is switched off opens at the jump of its signal.

use super::cone::{Grip, Item, Problem, vertices};
use super::contacts::{Contacts, Mode};
use super::delassus::Delassus;
use super::desk::Desk;
use super::error::ContactError;
use super::hybrid::Hybrid;
use super::run::Options;
use crate::algebra::DEPENDENT;
use crate::events::location;
use crate::integrate::IntegrateError;
use crate::system::State;

/// Accelerations below this part of the largest are zero.
const STILL: f64 = 1e-10;
/// The same where the end of sticking is located, not decided.
const STILLEST: f64 = 1e-13;
/// By how much of the largest acceleration a contact without press is raised.
const TIP: f64 = 1e-8;
/// By how much the cone of a contact about to slip is narrowed.
const NARROW: f64 = 1e-6;
/// Slips that start with less than this part of the largest acceleration take their direction from the force.
const SLOW: f64 = 1e-4;

/// What an event says about a contact.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Clue {
    /// Its press fell to zero.
    pub lifting: bool,
    /// Its force reached the static cone: the force.
    pub slipping: Option<[f64; 2]>,
}

/// The outcome of a decision.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub modes: Vec<Mode>,
    /// Sticking contacts whose force others share.
    pub shared: Vec<bool>,
    /// Open contacts that others keep from leaving.
    pub idle: Vec<bool>,
    /// Forces by rows of contacts.
    pub force: Vec<f64>,
}

/// How a contact takes part.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Part {
    /// Without friction.
    Smooth,
    /// Slips in this direction.
    Slips([f64; 2]),
    /// Rests.
    Rests,
    /// Starts to slip.
    Starts([f64; 2]),
}

/// Decides about all contacts at a state.
pub(super) fn decide<'m, Y: Contacts>(
    desk: &mut Desk<'m, Y>,
    y: &Hybrid<'m, Y>,
    s: &State<f64>,
    options: &Options,
    clues: &[Clue],
) -> Result<Decision, IntegrateError> {
    let touches = |_, gap: f64, rate: &[f64]| gap <= options.touch && rate[0] <= options.rest;
    let (delassus, chosen) = Delassus::new(desk, y, s, touches)?;
    let parts = chosen.iter().map(|&i| {
        let slip = &delassus.rate[y.start(i) + 1..y.start(i + 1)];
        match unit(slip) {
            _ if slip.is_empty() => Part::Smooth,
            (speed, direction) if speed > options.rest => Part::Slips(direction),
            _ => Part::Rests,
        }
    });
    let parts = parts.collect();
    solve(y, s, clues, &delassus, &chosen, parts, STILL, s.t + 2.0 * location(s.t))
}

/// The same for a state within a step: closed contacts are those of the modes, and slip if they slide.
pub(super) fn decide_from_modes<'m, Y: Contacts>(
    desk: &mut Desk<'m, Y>,
    y: &Hybrid<'m, Y>,
    s: &State<f64>,
    clues: &[Clue],
) -> Result<Decision, IntegrateError> {
    let (delassus, chosen) = Delassus::new(desk, y, s, |i, _, _| y.modes()[i].closed())?;
    let parts = chosen.iter().map(|&i| match y.modes()[i] {
        _ if y.start(i + 1) == y.start(i) + 1 => Part::Smooth,
        Mode::Slide { direction } => Part::Slips(direction),
        _ => Part::Rests,
    });
    let parts = parts.collect();
    solve(y, s, clues, &delassus, &chosen, parts, STILLEST, s.t)
}

/// Forces of all contacts in their modes at a state, by rows of contacts (press, tangents), in newtons.
///
/// Where multipliers are unique these are they. In statically indeterminate sets, where the multipliers are those of least
/// square, these neither pull nor leave their cones, if there are such forces.
pub fn contact_forces<Y: Contacts>(y: &Hybrid<'_, Y>, s: &State<f64>) -> Result<Vec<f64>, IntegrateError> {
    Ok(decide_from_modes(&mut Desk::new(y), y, s, &vec![Clue::default(); y.modes().len()])?.force)
}

/// The decision with suction as it is at an instant: those that open let go, and the others are asked again.
fn solve<Y: Contacts>(
    y: &Hybrid<'_, Y>,
    s: &State<f64>,
    clues: &[Clue],
    delassus: &Delassus,
    chosen: &[usize],
    parts: Vec<Part>,
    still: f64,
    instant: f64,
) -> Result<Decision, IntegrateError> {
    let pull = |&i: &usize| match y.model().suction(i, instant) {
        Some(suction) if y.modes()[i].closed() || !clues[i].lifting => suction,
        _ => 0.0,
    };
    let mut pulls: Vec<f64> = chosen.iter().map(pull).collect();
    loop {
        let decision = balance(y, s, clues, delassus, chosen, parts.clone(), still, &pulls)?;
        let mut lost = false;
        for (pull, &i) in pulls.iter_mut().zip(chosen) {
            if *pull > 0.0 && !decision.modes[i].closed() {
                *pull = 0.0;
                lost = true;
            }
        }
        // Each round loses at least one.
        if !lost {
            return Ok(decision);
        }
    }
}

/// The decision with given suctions, by chosen contacts.
fn balance<Y: Contacts>(
    y: &Hybrid<'_, Y>,
    s: &State<f64>,
    clues: &[Clue],
    delassus: &Delassus,
    chosen: &[usize],
    mut parts: Vec<Part>,
    still: f64,
    pulls: &[f64],
) -> Result<Decision, IntegrateError> {
    let model = y.model();
    let mut c: Vec<f64> = delassus.rows.iter().map(|&row| delassus.free[row]).collect();
    let n = c.len();
    let mut row = 0;
    for (&i, &pull) in chosen.iter().zip(pulls) {
        for (k, c) in c.iter_mut().enumerate() {
            *c -= delassus.w[k * n + row] * pull;
        }
        row += y.start(i + 1) - y.start(i);
    }
    // At a lift-off all accelerations of contacts may be rounding; what they are rounding of is the size of the motion.
    let possible = (0..n).map(|k| delassus.w[k * (n + 1)].max(0.0).sqrt() * delassus.size);
    let scale = c.iter().map(|c| c.abs()).chain(possible).fold(f64::MIN_POSITIVE, f64::max);
    let mut first = Vec::new();
    let mut row = 0;
    for &i in chosen {
        first.push(row);
        if clues[i].lifting {
            c[row] += TIP * scale;
        }
        row += y.start(i + 1) - y.start(i);
    }
    // Each round adds at least one contact that starts to slip, or takes all such directions from forces.
    for _ in 0..=chosen.len() + 1 {
        let vertex = |k: usize, direction: [f64; 2]| match parts[k] {
            Part::Starts(_) => model.sliding(chosen[k], direction, 0.0),
            _ => {
                let narrow = if clues[chosen[k]].slipping.is_some() { 1.0 - NARROW } else { 1.0 };
                model.sticking(chosen[k], direction).map(|force| force * narrow)
            }
        };
        let items = (0..chosen.len())
            .map(|k| {
                let tangents = y.start(chosen[k] + 1) - y.start(chosen[k]) - 1;
                let grip = match parts[k] {
                    Part::Smooth => Grip::Free,
                    Part::Slips(direction) => {
                        let slip = &delassus.rate[y.start(chosen[k]) + 1..y.start(chosen[k] + 1)];
                        Grip::Slide(model.sliding(chosen[k], direction, unit(slip).0))
                    }
                    Part::Starts(_) | Part::Rests => Grip::Cone(vertices(tangents, |d| vertex(k, d))),
                };
                let press = model.own_press(chosen[k]);
                Item { row: first[k], tangents, grip, floor: press.unwrap_or(0.0), given: press.is_some() }
            })
            .collect();
        let mut problem = Problem { w: delassus.w.clone(), c: c.clone(), items };
        let answer = match problem.solve(&vertex) {
            Ok(answer) => answer,
            Err(_) => {
                // So close to the end of sticking directions are lost in rounding; but a force on its cone tells where the slip goes.
                let mut told = false;
                for (k, &i) in chosen.iter().enumerate() {
                    let tangents = y.start(i + 1) - y.start(i) - 1;
                    if let (Part::Rests | Part::Starts(_), Some(force), 2) = (parts[k], clues[i].slipping, tangents) {
                        parts[k] = Part::Slips(against(model, i, tangents, force));
                        told = true;
                    }
                }
                if told {
                    continue;
                }
                return Err(ContactError::Undecided {
                    t: s.t,
                    what: "the balance of accelerations and contact forces",
                    contacts: chosen.iter().map(|&i| model.contact_name(i)).collect(),
                }
                .into());
            }
        };
        let held = |i: usize| if y.latched()[i] { y.held(i) } else { Mode::Open };
        let mut modes: Vec<Mode> = (0..y.modes().len()).map(held).collect();
        let (mut shared, mut idle) = (vec![false; modes.len()], vec![false; modes.len()]);
        let mut more = false;
        for (k, &i) in chosen.iter().enumerate() {
            if answer.motion[first[k]] > still * scale {
                continue;
            }
            let end = first[k] + 1 + (y.start(i + 1) - y.start(i) - 1);
            let (pace, direction) = unit(&answer.motion[first[k] + 1..end]);
            modes[i] = match parts[k] {
                Part::Smooth => Mode::Slide { direction: [0.0; 2] },
                Part::Slips(direction) => Mode::Slide { direction },
                Part::Rests if pace <= still * scale => {
                    shared[i] = clues[i].slipping.is_some();
                    Mode::Stick
                }
                Part::Rests => {
                    let direction = match clues[i].slipping {
                        Some(force) if pace <= SLOW * scale => against(model, i, end - first[k] - 1, force),
                        _ => direction,
                    };
                    let (held, slid) = (model.sticking(i, direction), model.sliding(i, direction, 0.0));
                    // With equal coefficients the answer stands.
                    if (held[0] - slid[0]).hypot(held[1] - slid[1]) > 1e-12 * held[0].hypot(held[1]) {
                        parts[k] = Part::Starts(direction);
                        more = true;
                    }
                    Mode::Slide { direction }
                }
                Part::Starts(_) if pace > still * scale => Mode::Slide { direction },
                Part::Starts(direction) => Mode::Slide { direction },
            };
        }
        if !more {
            let closed: Vec<usize> = (0..chosen.len()).filter(|&k| modes[chosen[k]].closed()).collect();
            for (k, &i) in chosen.iter().enumerate() {
                idle[i] = !modes[i].closed() && clues[i].lifting && dependent(delassus, &first, &closed, k);
            }
            let mut force = vec![0.0; y.start(modes.len())];
            for (&row, &f) in delassus.rows.iter().zip(&answer.force) {
                force[row] = f;
            }
            return Ok(Decision { modes, shared, idle, force });
        }
    }
    let contacts = chosen.iter().map(|&i| model.contact_name(i)).collect();
    Err(ContactError::Undecided { t: s.t, what: "the choice between sticking and sliding", contacts }.into())
}

/// Whether the normal of a chosen contact depends on those of the closed ones: its pivot after theirs vanishes.
fn dependent(delassus: &Delassus, first: &[usize], closed: &[usize], k: usize) -> bool {
    let n = delassus.rows.len();
    let rows: Vec<usize> = closed.iter().chain([&k]).map(|&k| first[k]).collect();
    let m = rows.len();
    let mut w: Vec<f64> = (0..m * m).map(|c| delassus.w[rows[c / m] * n + rows[c % m]]).collect();
    for c in 0..m - 1 {
        let pivot = w[c * m + c];
        if pivot <= DEPENDENT * delassus.w[rows[c] * n + rows[c]] {
            continue;
        }
        for i in c + 1..m {
            let factor = w[i * m + c] / pivot;
            for j in c..m {
                w[i * m + j] -= factor * w[c * m + j];
            }
        }
    }
    w[m * m - 1] <= DEPENDENT * delassus.w[first[k] * n + first[k]]
}

/// The length of a vector of at most two components, and its direction.
pub(super) fn unit(vector: &[f64]) -> (f64, [f64; 2]) {
    let full = [vector.first().copied().unwrap_or(0.0), vector.get(1).copied().unwrap_or(0.0)];
    let length = full[0].hypot(full[1]);
    (length, if length > 0.0 { full.map(|x| x / length) } else { [0.0; 2] })
}

/// The direction of slip against which a contact holds with a given force: −r/|r| where friction is isotropic.
fn against<Y: Contacts>(model: &Y, contact: usize, tangents: usize, force: [f64; 2]) -> [f64; 2] {
    if tangents == 1 {
        return [-force[0].signum(), 0.0];
    }
    let miss = |angle: f64| {
        let f = model.sticking(contact, [angle.cos(), angle.sin()]);
        (f[1] * force[0] - f[0] * force[1]) / (f[0].hypot(f[1]) * force[0].hypot(force[1]))
    };
    // The secant method: the sine of the angle between two forces is nearly linear in the direction.
    let (mut before, mut angle) = (0.0, (-force[1]).atan2(-force[0]));
    let (mut last, mut now) = (f64::NAN, miss(angle));
    for _ in 0..30 {
        if now.abs() <= f64::EPSILON {
            break;
        }
        let slope = if last.is_nan() { 1.0 } else { (now - last) / (angle - before) };
        (before, last) = (angle, now);
        angle -= (now / slope).clamp(-0.3, 0.3);
        now = miss(angle);
        if !now.is_finite() || now == last {
            angle = before;
            break;
        }
    }
    [angle.cos(), angle.sin()]
}
