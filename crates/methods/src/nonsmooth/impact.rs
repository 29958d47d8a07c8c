//! Impact: velocities jump so that closing contacts rebound, closed ones stay closed and all constraints stay met.
//!
//! With the Delassus matrix W of all touching contacts (bilateral constraints eliminated: (25)–(27) of \[1\]) and impulses Λ,
//!
//! ```text
//! Newton      0 ≤ γ̇⁺ + ε γ̇⁻ ⟂ Λ ≥ 0
//! Poisson     compression: 0 ≤ γ̇ ⟂ Λ_c ≥ 0;   expansion: 0 ≤ γ̇⁺ ⟂ Λ_e − ε Λ_c ≥ 0              \[2\]
//! energetic   the work of the normal impulse in expansion is −ε² times that in compression         \[3\]
//! ```
//!
//! Friction impulses are left out by default, as in \[1\]: a contact that closes slips freely at that instant, and one that sticks is held.
//! With `impact_friction` they obey the section of sliding friction at zero speed: they stop a slip, or slide with it, or reverse
//! it, as maximum dissipation decides at the end of each phase (Newton, Poisson) or all along (energetic).
//!
//! Contacts with a press of their own have no part in impacts: a finite force makes no impulse.
//!
//! Contacts that touch but part do not take part; if the impact turns them back they have an impact of their own at the same instant.
//!
//! Newton's law with friction, or with different ε at contacts that act on each other, can create energy
//! (Kane's pendulum). That is an error here; the energetic law never does. It follows the slip through the impact of *one*
//! closing contact with at most one tangent (Routh's construction); for several at once it refuses.
//!
//! References: \[1\] C. Alscher: Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech,
//! University of Bielefeld; \[2\] Pfeiffer, Glocker 1996, chapter 8; \[3\] W. J. Stronge: Rigid body collisions with friction, Proc. R. Soc.
//! Lond. A 431 (1990) 169–181.

use super::cone::{Answer, Grip, Item, Problem, vertices};
use super::contacts::{Contacts, Mode};
use super::delassus::Delassus;
use super::desk::Desk;
use super::error::ContactError;
use super::hybrid::Hybrid;
use super::run::Options;
use crate::integrate::IntegrateError;
use crate::system::State;

/// Energy created, relative to the energies that impulses exchange, that is rounding.
const ROUNDING: f64 = 1e-9;
/// Impacts at one instant after which nothing rebounds any more.
const ROUNDS: usize = 50;
/// Pieces of a single impact between changes of slip.
const PIECES: usize = 8;

/// The law of restitution.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Restitution {
    /// On velocities.
    #[default]
    Newton,
    /// On impulses.
    Poisson,
    /// On energies.
    Energetic,
}

/// What ends a phase of an impact.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Newton's law knows one phase: approaches come back with their coefficients.
    Whole,
    /// Compression by Poisson's law: it ends when nothing approaches any more.
    Compression,
    /// Expansion by Poisson's law: presses are at least their shares of those of the phase before.
    Expansion,
    /// A piece of the course of an energetic impact in which slip keeps its sign, ended by the end of the slip, in compression or in expansion.
    Stopped {
        /// Whether it belongs to the expansion.
        expands: bool,
    },
    /// The last piece of compression: the approach has ended.
    Compressed,
    /// The last piece of expansion: its share of the work of compression has come back.
    Restored,
}

/// A phase of an impact: what happened between two velocities.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// What ended it.
    pub stage: Stage,
    /// The contacts that could take part.
    pub contacts: Vec<usize>,
    /// For each of them the coefficient of restitution that counts: zero for those that do not approach.
    pub restitution: Vec<f64>,
    /// Impulses by rows of contacts, in N s.
    pub impulse: Vec<f64>,
    /// The rates at its end by rows of contacts, in m/s; zero for contacts that could not take part.
    pub motion: Vec<f64>,
}

/// What an impact did.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// The contacts with an impulse.
    pub contacts: Vec<usize>,
    /// Impulses by rows of contacts, in N s.
    pub impulse: Vec<f64>,
    /// Energy lost, in J.
    pub lost: f64,
    /// Energy brought in by moving contacts and constraints, in J.
    pub driven: f64,
    /// Its phases, one after another.
    pub phases: Vec<Phase>,
}

impl Outcome {
    /// Adds another impact at the same instant.
    fn add(&mut self, other: &Self) {
        self.contacts.extend(&other.contacts);
        self.contacts.sort_unstable();
        self.contacts.dedup();
        self.impulse.iter_mut().zip(&other.impulse).for_each(|(sum, p)| *sum += p);
        self.lost += other.lost;
        self.driven += other.driven;
        self.phases.extend(other.phases.iter().cloned());
    }
}

/// The phases of the impacts at a state in which contacts are met, in the modes and with the latches that a system has there.
///
/// # Errors
/// Those of the law of restitution.
pub fn impact_phases<Y: Contacts>(
    y: &Hybrid<'_, Y>,
    s: &State<f64>,
    options: &Options,
) -> Result<Vec<Phase>, IntegrateError> {
    let outcome = impacts(&mut Desk::new(y), y, &mut s.clone(), options, &vec![false; y.modes().len()])?;
    Ok(outcome.map_or(Vec::new(), |outcome| outcome.phases))
}

/// All impacts of one instant; contacts marked `dead` do not rebound. Returns nothing if no contact closes.
///
/// After [`ROUNDS`] impacts nothing rebounds any more. The same holds if a dead contact beside live ones would create energy.
pub(super) fn impacts<'m, Y: Contacts>(
    desk: &mut Desk<'m, Y>,
    y: &Hybrid<'m, Y>,
    s: &mut State<f64>,
    options: &Options,
    dead: &[bool],
) -> Result<Option<Outcome>, IntegrateError> {
    let mut dead = dead.to_vec();
    let mut all: Option<Outcome> = None;
    for round in 0..2 * ROUNDS {
        if round == ROUNDS {
            dead.fill(true);
        }
        let mut next = impact(desk, y, s, options, &dead);
        let gains = matches!(&next, Err(IntegrateError::Contact(ContactError::EnergyGain { .. })));
        if gains && dead.contains(&true) {
            dead.fill(true);
            next = impact(desk, y, s, options, &dead);
        }
        match (next?, &mut all) {
            (None, _) => return Ok(all),
            (Some(new), Some(all)) => all.add(&new),
            (Some(new), none) => *none = Some(new),
        }
    }
    let contacts = all.iter().flat_map(|all| &all.contacts).map(|&i| y.model().contact_name(i)).collect();
    Err(ContactError::Chatter { t: s.t, contacts }.into())
}

/// Lets the velocities jump; contacts marked `dead` do not rebound. Returns nothing if no contact closes.
fn impact<'m, Y: Contacts>(
    desk: &mut Desk<'m, Y>,
    y: &Hybrid<'m, Y>,
    s: &mut State<f64>,
    options: &Options,
    dead: &[bool],
) -> Result<Option<Outcome>, IntegrateError> {
    let model = y.model();
    let t = s.t;
    let touches = |i: usize, gap: f64, rate: &[f64]| {
        options.meets(t, gap, rate[0]) && rate[0] <= options.rest && model.own_press(i).is_none()
    };
    // At most events nothing closes: gaps and rates tell.
    desk.see(y, s);
    let closes = |i: usize| {
        let rate = &desk.rate[y.start(i)..y.start(i + 1)];
        !y.latched()[i] && touches(i, desk.gap[i], rate) && rate[0] < -options.rest
    };
    if !(0..model.contacts()).any(closes) {
        return Ok(None);
    }
    let (delassus, chosen) = Delassus::new(desk, y, s, touches)?;
    let before: Vec<f64> = delassus.rows.iter().map(|&row| delassus.rate[row]).collect();
    let mut first = Vec::new();
    let mut row = 0;
    for &i in &chosen {
        first.push(row);
        row += y.start(i + 1) - y.start(i);
    }
    let closing: Vec<bool> = first.iter().map(|&row| before[row] < -options.rest).collect();
    if !closing.contains(&true) {
        return Ok(None);
    }
    let epsilon: Vec<f64> = (0..chosen.len())
        .map(|k| if closing[k] && !dead[chosen[k]] { model.restitution(chosen[k]) } else { 0.0 })
        .collect();
    let setup = Setup { y, options, chosen: &chosen, first: &first, delassus: &delassus };
    let course = setup.solve(s.t, &before, &closing, &epsilon)?;
    let impulse = &course.impulse;
    let old = s.v.clone();
    for (response, p) in delassus.response.iter().zip(impulse) {
        for (v, r) in s.v.iter_mut().zip(response) {
            *v += r * p;
        }
    }
    let n = before.len();
    let after: Vec<f64> =
        (0..n).map(|i| (0..n).fold(before[i], |sum, j| sum + delassus.w[i * n + j] * impulse[j])).collect();
    let exchanged = (0..n).fold(0.0, |sum, i| sum + (impulse[i] * (before[i].abs() + after[i].abs())).abs());
    let lost = (0..n).fold(0.0, |sum, i| sum - 0.5 * impulse[i] * (before[i] + after[i]));
    let taking_part = |k: &usize| impulse[first[*k]] > 0.0;
    let contacts: Vec<usize> = (0..chosen.len()).filter(taking_part).map(|k| chosen[k]).collect();
    // Speeds up to `rest` count as zero, and so does their work.
    let unseen = first.iter().fold(0.0, |sum, &row| sum + impulse[row].abs() * options.rest);
    if lost < -ROUNDING * exchanged - unseen {
        s.v.copy_from_slice(&old);
        let contacts = contacts.iter().map(|&i| model.contact_name(i)).collect();
        return Err(ContactError::EnergyGain { t: s.t, contacts, gained: -lost }.into());
    }
    // ½ (v⁺ + v⁻)·M (v⁺ − v⁻): what is neither lost nor kept came from drives.
    let change: Vec<f64> = s.v.iter().zip(&old).map(|(new, old)| new - old).collect();
    let mut momentum = vec![0.0; change.len()];
    delassus.mass.apply(&change, &mut momentum);
    let kinetic = (0..old.len()).fold(0.0, |sum, i| sum + 0.5 * (s.v[i] + old[i]) * momentum[i]);
    let all = |values: &[f64]| {
        let mut all = vec![0.0; y.start(model.contacts())];
        delassus.rows.iter().zip(values).for_each(|(&row, &value)| all[row] = value);
        all
    };
    let phase = |(stage, answer): &(Stage, Answer)| Phase {
        stage: *stage,
        contacts: chosen.clone(),
        restitution: epsilon.clone(),
        impulse: all(&answer.force),
        motion: all(&answer.motion),
    };
    let phases = course.phases.iter().map(phase).collect();
    Ok(Some(Outcome { contacts, impulse: all(impulse), lost: lost.max(0.0), driven: kinetic + lost, phases }))
}

/// The impulses of an impact by the rows chosen, and what happened on the way.
struct Course {
    impulse: Vec<f64>,
    phases: Vec<(Stage, Answer)>,
}

/// What the laws have in common.
struct Setup<'a, 'm, Y> {
    y: &'a Hybrid<'m, Y>,
    options: &'a Options,
    chosen: &'a [usize],
    first: &'a [usize],
    delassus: &'a Delassus,
}

impl<Y: Contacts> Setup<'_, '_, Y> {
    fn solve(&self, t: f64, before: &[f64], closing: &[bool], epsilon: &[f64]) -> Result<Course, IntegrateError> {
        let n = before.len();
        let floor = vec![0.0; epsilon.len()];
        match self.options.restitution {
            Restitution::Newton => {
                let mut c = before.to_vec();
                for (k, &row) in self.first.iter().enumerate() {
                    c[row] += epsilon[k] * before[row];
                }
                let mut answer = self.phase(t, c, &floor)?;
                // Its motion is γ̇⁺ + ε γ̇⁻.
                for (k, &row) in self.first.iter().enumerate() {
                    answer.motion[row] -= epsilon[k] * before[row];
                }
                Ok(Course { impulse: answer.force.clone(), phases: vec![(Stage::Whole, answer)] })
            }
            Restitution::Poisson => {
                let compression = self.phase(t, before.to_vec(), &floor)?;
                let floor: Vec<f64> =
                    (0..epsilon.len()).map(|k| epsilon[k] * compression.force[self.first[k]]).collect();
                let expansion = self.phase(t, compression.motion.clone(), &floor)?;
                let impulse = (0..n).map(|i| compression.force[i] + expansion.force[i]).collect();
                Ok(Course { impulse, phases: vec![(Stage::Compression, compression), (Stage::Expansion, expansion)] })
            }
            Restitution::Energetic => self.energetic(t, before, closing, epsilon),
        }
    }

    fn tangents(&self, k: usize) -> usize {
        self.y.start(self.chosen[k] + 1) - self.y.start(self.chosen[k]) - 1
    }

    /// One phase: impulses that end it with motions complementary to them.
    fn phase(&self, t: f64, c: Vec<f64>, floor: &[f64]) -> Result<Answer, IntegrateError> {
        let model = self.y.model();
        let vertex = |k: usize, direction: [f64; 2]| model.sliding(self.chosen[k], direction, 0.0);
        let mut released = vec![false; self.chosen.len()];
        loop {
            let items = (0..self.chosen.len()).map(|k| {
                let tangents = self.tangents(k);
                let grip = match self.y.modes()[self.chosen[k]] {
                    _ if tangents == 0 => Grip::Free,
                    _ if self.options.impact_friction => Grip::Cone(vertices(tangents, |d| vertex(k, d))),
                    Mode::Stick if !released[k] => Grip::Hold,
                    _ => Grip::Free,
                };
                Item { row: self.first[k], tangents, grip, floor: floor[k], given: false }
            });
            let mut problem = Problem { w: self.delassus.w.clone(), c: c.clone(), items: items.collect() };
            let answer = problem.solve(&vertex).map_err(|_| ContactError::Undecided {
                t,
                what: "the balance of velocities and impulses",
                contacts: self.chosen.iter().map(|&i| model.contact_name(i)).collect(),
            })?;
            // A contact that lifts off cannot hold.
            let mut again = false;
            for k in 0..self.chosen.len() {
                let held = problem.items[k].grip == Grip::Hold;
                if held && answer.force[self.first[k]] <= 0.0 && answer.motion[self.first[k]] > self.options.rest {
                    released[k] = true;
                    again = true;
                }
            }
            if !again {
                return Ok(answer);
            }
        }
    }

    /// Routh's construction with Stronge's coefficient for one closing contact.
    fn energetic(&self, t: f64, before: &[f64], closing: &[bool], epsilon: &[f64]) -> Result<Course, IntegrateError> {
        let (n, model) = (before.len(), self.y.model());
        let w = |i: usize, j: usize| self.delassus.w[i * n + j];
        let k = closing.iter().position(|&closing| closing).expect("a contact closes");
        let row = self.first[k];
        let refuse =
            |reason: &str| ContactError::Law { contact: model.contact_name(self.chosen[k]), reason: reason.to_owned() };
        let own = row..=row + self.tangents(k);
        let alone = (0..n).filter(|i| !own.contains(i)).all(|i| own.clone().all(|j| w(i, j).abs() <= 1e-14 * w(j, j)));
        if !alone {
            return Err(refuse("energetic restitution follows one contact at a time; use `newton` or `poisson`").into());
        }
        let friction = self.options.impact_friction && self.tangents(k) > 0;
        if friction && self.tangents(k) > 1 {
            return Err(refuse("energetic restitution with friction needs a single tangent; use `poisson`").into());
        }
        let undecided = || ContactError::Undecided {
            t,
            what: "the course of the impact",
            contacts: vec![model.contact_name(self.chosen[k])],
        };
        let (mut approach, mut slip) = (before[row], if friction { before[row + 1] } else { 0.0 });
        let (mut press, mut drag, mut work, mut target) = (0.0, 0.0, 0.0, None);
        let still = 1e-14 * (before[row].abs() + slip.abs());
        let (mut phases, mut motion) = (Vec::new(), before.to_vec());
        let own = |press: f64, drag: f64| {
            let mut impulse = vec![0.0; n];
            impulse[row] = press;
            if friction {
                impulse[row + 1] = drag;
            }
            impulse
        };
        for _ in 0..PIECES {
            // Friction for unit press while the slip keeps its sign, or holds at zero, or leaves it.
            let force = if !friction {
                0.0
            } else {
                let section = |sign: f64| model.sliding(self.chosen[k], [sign, 0.0], 0.0)[0];
                let hold = -w(row + 1, row) / w(row + 1, row + 1);
                if slip.abs() > still {
                    section(slip.signum())
                } else if (section(1.0)..=section(-1.0)).contains(&hold) {
                    hold
                } else if hold < section(1.0) {
                    section(1.0)
                } else {
                    section(-1.0)
                }
            };
            let rise = w(row, row) + if friction { w(row, row + 1) * force } else { 0.0 };
            let turn = if friction { w(row + 1, row) + w(row + 1, row + 1) * force } else { 0.0 };
            let stop = if slip.abs() > still && slip * turn < 0.0 { -slip / turn } else { f64::INFINITY };
            // Compression ends with the approach; expansion with its share of the work, a root of a p + rise p²/2 = left.
            let end = match target {
                None if rise > 0.0 => -approach / rise,
                None => f64::INFINITY,
                Some(target) => {
                    let left: f64 = target - work;
                    let root = (approach * approach + 2.0 * rise * left).max(0.0).sqrt();
                    if left <= 0.0 {
                        0.0
                    } else if approach + root > 0.0 {
                        2.0 * left / (approach + root)
                    } else {
                        f64::INFINITY
                    }
                }
            };
            let p = end.min(stop);
            if !p.is_finite() {
                return Err(undecided().into());
            }
            work += (approach + 0.5 * rise * p) * p;
            (press, drag) = (press + p, drag + force * p);
            (approach, slip) = (approach + rise * p, slip + turn * p);
            if p == stop {
                slip = 0.0;
            }
            let stage = match target {
                _ if p != end => Stage::Stopped { expands: target.is_some() },
                None => Stage::Compressed,
                Some(_) => Stage::Restored,
            };
            let pushed = own(p, force * p);
            motion = (0..n).map(|i| (0..n).fold(motion[i], |sum, j| sum + w(i, j) * pushed[j])).collect();
            motion[row] = if stage == Stage::Compressed { 0.0 } else { approach };
            if friction {
                motion[row + 1] = slip;
            }
            phases.push((stage, Answer { force: pushed, motion: motion.clone() }));
            if p == end {
                if target.is_some() {
                    return Ok(Course { impulse: own(press, drag), phases });
                }
                approach = 0.0;
                // The part ε² of the work of compression comes back.
                target = Some(work - epsilon[k].powi(2) * work);
            }
        }
        Err(undecided().into())
    }
}
