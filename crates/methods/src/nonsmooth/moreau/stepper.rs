//! One step of Moreau–Jean: the free motion, the lines of active contacts, the sweeps, the accounts.

use super::super::contacts::{Contacts, Mode};
use super::super::error::ContactError;
use super::super::hybrid::ACCOUNTS;
use super::local::{Active, local};
use super::{Moreau, Touches};
use crate::algebra::Rows;
use crate::dynamics::{Dynamics, Rates};
use crate::integrate::{Counts, IntegrateError};
use crate::system::{State, System};

/// Projections of positions stop at relative corrections below this and leave its square.
const PROJECTION: f64 = 1e-8;

/// A row of J and its response K Jᵀ, as ranges of entries.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    jacobian: (usize, usize),
    response: (usize, usize),
    /// The rate that the row has at v = 0.
    drive: f64,
}

pub(super) struct Stepper<'a, Y: System> {
    options: &'a Moreau,
    pub dynamics: Dynamics<Y>,
    rates: Rates,
    middle: State<f64>,
    starts: Vec<usize>,
    gap: Vec<f64>,
    before: Vec<f64>,
    impulse: Vec<f64>,
    /// The same over the length of the step, the modes, and the multipliers of the model's rows.
    force: Vec<f64>,
    modes: Vec<Mode>,
    multipliers: Vec<f64>,
    /// Multipliers of each line for a unit of its impulse, by lines.
    reactions: Vec<f64>,
    /// M a of the free motion and the rates of integrals, in this step and in the one before; not a number before the first.
    push: Vec<f64>,
    last_push: Vec<f64>,
    last_rate: Vec<f64>,
    /// Contacts that touch, or are held.
    near: Vec<usize>,
    /// Suckers that were closed in the step before.
    held: Vec<bool>,
    /// Contacts that stick.
    sticks: Vec<bool>,
    rows: Rows<f64>,
    unit: Vec<f64>,
    dense: Vec<f64>,
    zero: Vec<f64>,
    correction: Vec<f64>,
    free: Vec<f64>,
    active: Vec<Active>,
    lines: Vec<Line>,
    entries: Vec<(usize, f64)>,
}

impl<'a, Y: Contacts> Stepper<'a, Y> {
    pub fn new(model: &Y, options: &'a Moreau) -> Self {
        let shape = model.shape();
        let mut starts = vec![0];
        for i in 0..model.contacts() {
            starts.push(starts[i] + 1 + model.tangents(i));
        }
        let (contacts, total) = (model.contacts(), starts[model.contacts()]);
        let zeros = |n| vec![0.0; n];
        Self {
            options,
            dynamics: Dynamics::new(model),
            rates: Rates::zeros(shape),
            middle: State::zeros(shape),
            starts,
            gap: zeros(contacts),
            before: zeros(total),
            impulse: zeros(total),
            force: zeros(total),
            modes: vec![Mode::Open; contacts],
            multipliers: zeros(shape.rows()),
            reactions: Vec::new(),
            push: zeros(shape.v),
            last_push: vec![f64::NAN; shape.v],
            last_rate: vec![f64::NAN; shape.z],
            near: Vec::with_capacity(contacts),
            held: vec![false; contacts],
            sticks: vec![false; contacts],
            rows: Rows::new(total, shape.v, &model.contact_blocks()),
            unit: zeros(total),
            dense: zeros(shape.v),
            zero: zeros(shape.rows()),
            correction: zeros(shape.v),
            free: zeros(shape.v),
            active: Vec::with_capacity(contacts),
            lines: Vec::with_capacity(total),
            entries: Vec::new(),
        }
    }

    /// What contacts did in the last step.
    pub fn touches(&self) -> Touches<'_> {
        Touches { force: &self.force, modes: &self.modes, multipliers: &self.multipliers }
    }

    /// The work of the dynamics.
    pub fn counts(&self) -> Counts {
        self.dynamics.counts()
    }

    /// All that the next step depends on besides the state and the factors.
    pub fn memory(&self, out: &mut Vec<f64>) {
        for part in [&self.impulse, &self.last_push, &self.last_rate] {
            out.extend(part);
        }
        out.extend(self.held.iter().map(|&held| f64::from(u8::from(held))));
    }

    /// Takes a memory back; `None` if it has another length.
    pub fn recall(&mut self, mut memory: &[f64]) -> Option<()> {
        for part in [&mut self.impulse, &mut self.last_push, &mut self.last_rate] {
            let (own, rest) = memory.split_at_checked(part.len())?;
            part.copy_from_slice(own);
            memory = rest;
        }
        if memory.len() != self.held.len() {
            return None;
        }
        self.held.iter_mut().zip(memory).for_each(|(held, &flag)| *held = flag != 0.0);
        Some(())
    }

    /// One step; returns the number of sweeps, and what the energy ledger may miss.
    pub fn step(&mut self, model: &Y, s: &mut State<f64>, until: f64) -> Result<(u64, f64), IntegrateError> {
        let h = until - s.t;
        // The midpoint, and velocities without contacts.
        let middle = &mut self.middle;
        middle.t = s.t + 0.5 * h;
        for (delta, v) in self.correction.iter_mut().zip(&s.v) {
            *delta = 0.5 * h * v;
        }
        model.retract(&s.q, &self.correction, &mut middle.q);
        middle.v.copy_from_slice(&s.v);
        middle.x.copy_from_slice(&s.x);
        middle.p.copy_from_slice(&s.p);
        self.dynamics.evaluate(model, middle, &mut self.rates)?;
        for (v, a) in middle.v.iter_mut().zip(&self.rates.v) {
            *v += h * a;
        }
        self.multipliers.copy_from_slice(&self.rates.multipliers);
        let parts = self.dynamics.parts();
        parts.mass.apply(&self.rates.v, &mut self.push);
        model.prepare(middle, parts.work);
        if !self.zero.is_empty() {
            model.constraint_rate(middle, parts.work, &mut self.zero);
            self.zero.iter_mut().for_each(|rate| *rate = -*rate);
            let corrected = parts.saddle.correct(parts.mass, parts.rows, &mut self.correction, &mut self.zero);
            corrected.map_err(|_| not_finite(middle.t))?;
            for (v, delta) in middle.v.iter_mut().zip(&self.correction) {
                *v += delta;
            }
        }
        model.contact_gap(middle, parts.work, &mut self.gap);
        let (gap, held) = (&self.gap, &self.held);
        self.near.clear();
        self.near.extend((0..gap.len()).filter(|&contact| gap[contact] <= 0.0 || held[contact]));
        model.contact_jacobian_of(&self.near, middle, parts.work, &mut self.rows);
        self.collect(model, s, h)?;
        let sweeps = self.solve(model)?;
        self.held.fill(false);
        for a in &self.active {
            // What rebounds more slowly than it is pulled in one step stays.
            let stays = a.pull > 0.0 && -a.rebound <= a.own[0][0] * a.pull;
            self.held[a.contact] = stays && self.impulse[a.row] > 0.0;
        }
        self.book(s);
        self.note(h);
        let missed = self.missed(s, h);
        let middle = &self.middle;
        s.v.copy_from_slice(&middle.v);
        for (delta, v) in self.correction.iter_mut().zip(&s.v) {
            *delta = 0.5 * h * v;
        }
        model.retract(&middle.q, &self.correction, &mut s.q);
        for (x, rate) in s.x.iter_mut().zip(&self.rates.x) {
            *x += h * rate;
        }
        for (z, rate) in s.z.iter_mut().zip(&self.rates.z) {
            *z += h * rate;
        }
        s.t = until;
        if s.v.iter().any(|v| !v.is_finite()) {
            return Err(not_finite(s.t));
        }
        self.dynamics.project_position(model, s, PROJECTION)?;
        Ok((sweeps, missed))
    }

    /// Writes down forces, modes and multipliers.
    fn note(&mut self, h: f64) {
        let rows = self.multipliers.len();
        self.force.fill(0.0);
        self.modes.fill(Mode::Open);
        for a in &self.active {
            if self.impulse[a.row] > 0.0 {
                let slide = Mode::Slide { direction: [0.0; 2] };
                self.modes[a.contact] = if self.sticks[a.contact] { Mode::Stick } else { slide };
            }
            for k in 0..=a.tangents {
                let impulse = self.impulse[a.row + k];
                self.force[a.row + k] = impulse / h;
                let net = impulse - if k == 0 { a.pull } else { 0.0 };
                let reaction = &self.reactions[(a.line + k) * rows..(a.line + k + 1) * rows];
                for (multiplier, r) in self.multipliers.iter_mut().zip(reaction) {
                    *multiplier += net * r / h;
                }
            }
        }
    }

    /// What the ledger may miss in the step from the old velocities of `s` to those of the middle state.
    fn missed(&mut self, s: &State<f64>, h: f64) -> f64 {
        let mut sum = 0.0;
        for (i, (push, last)) in self.push.iter().zip(&self.last_push).enumerate() {
            if last.is_finite() {
                sum += 0.5 * (s.v[i].abs() + self.middle.v[i].abs()) * (push - last).abs();
            }
        }
        for (rate, last) in self.rates.z.iter().zip(&self.last_rate) {
            if last.is_finite() {
                sum += (rate - last).abs();
            }
        }
        self.last_push.copy_from_slice(&self.push);
        self.last_rate.copy_from_slice(&self.rates.z);
        h * sum
    }

    /// The active contacts, with their lines; leaves `before` as the rates with the old velocities.
    fn collect(&mut self, model: &Y, s: &State<f64>, h: f64) -> Result<(), IntegrateError> {
        self.free.copy_from_slice(&self.middle.v);
        self.middle.v.copy_from_slice(&s.v);
        let parts = self.dynamics.parts();
        model.prepare(&self.middle, parts.work);
        model.contact_rate_of(&self.near, &self.middle, parts.work, &mut self.before);
        self.middle.v.copy_from_slice(&self.free);
        self.active.clear();
        self.lines.clear();
        self.entries.clear();
        self.reactions.clear();
        self.sticks.fill(false);
        // Contacts that are apart forget their impulses.
        let mut apart = 0;
        for &contact in &self.near {
            let (row, end) = (self.starts[contact], self.starts[contact + 1]);
            self.impulse[apart..row].fill(0.0);
            apart = end;
            let line = self.lines.len();
            for row in row..end {
                self.unit[row] = 1.0;
                self.dense.fill(0.0);
                self.rows.add_transpose(1.0, &self.unit, &mut self.dense);
                self.unit[row] = 0.0;
                let moved = self.dense.iter().zip(&s.v).fold(0.0, |sum, (j, v)| sum + j * v);
                let jacobian = push(&mut self.entries, &self.dense);
                if self.zero.is_empty() {
                    parts.mass.solve(&mut self.dense);
                } else {
                    self.zero.fill(0.0);
                    let solved = parts.saddle.solve_trial(parts.mass, parts.rows, &mut self.dense, &mut self.zero);
                    solved.map_err(|_| not_finite(s.t))?;
                }
                self.reactions.extend(&self.zero);
                let response = push(&mut self.entries, &self.dense);
                self.lines.push(Line { jacobian, response, drive: self.before[row] - moved });
            }
            let mut own = [[0.0; 3]; 3];
            for (i, k) in (line..self.lines.len()).enumerate() {
                for (j, l) in (line..self.lines.len()).enumerate() {
                    own[i][j] = product(&self.entries, self.lines[k].jacobian, self.lines[l].response);
                }
            }
            let approach = self.before[row];
            let rebound = if approach < 0.0 { model.restitution(contact) * approach } else { 0.0 };
            let pull = model.suction(contact, self.middle.t).map_or(0.0, |suction| h * suction);
            let press = model.own_press(contact).map(|press| h * press);
            let tangents = end - row - 1;
            let speed = self.before[row + 1..end].iter().fold(0.0, |speed: f64, u| speed.hypot(*u));
            self.active.push(Active { contact, row, tangents, line, own, rebound, pull, press, speed });
        }
        self.impulse[apart..].fill(0.0);
        Ok(())
    }

    /// Sweeps until the impulses stand; leaves the new velocities in the middle state.
    fn solve(&mut self, model: &Y) -> Result<u64, IntegrateError> {
        // The impulses of the step before are the first guess.
        for a in &self.active {
            add(&mut self.middle.v, &self.entries, self.lines[a.line].response, -a.pull);
            for k in 0..=a.tangents {
                add(&mut self.middle.v, &self.entries, self.lines[a.line + k].response, self.impulse[a.row + k]);
            }
        }
        let mut worst = (0.0, 0);
        for sweep in 1..=self.options.sweeps {
            let mut size = f64::MIN_POSITIVE;
            worst = (0.0, 0);
            for a in &self.active {
                let mut c = [0.0; 3];
                let old: [f64; 3] =
                    std::array::from_fn(|k| if k <= a.tangents { self.impulse[a.row + k] } else { 0.0 });
                for k in 0..=a.tangents {
                    let line = self.lines[a.line + k];
                    let (from, to) = line.jacobian;
                    let rate =
                        self.entries[from..to].iter().fold(line.drive, |sum, &(i, j)| sum + j * self.middle.v[i]);
                    c[k] = rate - (0..=a.tangents).fold(0.0, |sum, l| sum + a.own[k][l] * old[l]);
                    size = size.max(rate.abs()).max(self.before[a.row + k].abs());
                }
                c[0] += a.rebound;
                let (new, sticks) = local(model, a, c);
                self.sticks[a.contact] = sticks;
                for k in 0..=a.tangents {
                    // At rest the velocities that impulses make and undo are the scale.
                    size = size.max(a.own[k][k] * new[k].abs());
                    let change = new[k] - old[k];
                    if change != 0.0 {
                        self.impulse[a.row + k] = new[k];
                        add(&mut self.middle.v, &self.entries, self.lines[a.line + k].response, change);
                        let moved = change.abs() * a.own[k][k];
                        if moved > worst.0 || moved.is_nan() {
                            worst = (moved, a.contact);
                        }
                    }
                }
            }
            if worst.0 <= self.options.tolerance * size {
                return Ok(sweep);
            }
        }
        if self.active.is_empty() {
            return Ok(0);
        }
        let contacts = vec![model.contact_name(worst.1)];
        Err(ContactError::Undecided { t: self.middle.t, what: "the sweep over the impulses", contacts }.into())
    }

    /// Books work of drives, heat of slip and losses in the normal direction.
    fn book(&mut self, s: &mut State<f64>) {
        let Some(first) = s.z.len().checked_sub(ACCOUNTS) else { return };
        for a in &self.active {
            for k in 0..=a.tangents {
                let line = self.lines[a.line + k];
                let (from, to) = line.jacobian;
                let after = self.entries[from..to].iter().fold(line.drive, |sum, &(i, j)| sum + j * self.middle.v[i]);
                let impulse = self.impulse[a.row + k] - if k == 0 { a.pull } else { 0.0 };
                let lost = -0.5 * impulse * (self.before[a.row + k] + after);
                s.z[first] -= impulse * line.drive;
                s.z[first + if k == 0 { 2 } else { 1 }] += lost;
            }
        }
    }
}

fn not_finite(t: f64) -> IntegrateError {
    IntegrateError::NotFinite { t, what: "a velocity".to_owned() }
}

/// Stores the entries of a vector that are not zero; returns their range.
fn push(entries: &mut Vec<(usize, f64)>, dense: &[f64]) -> (usize, usize) {
    let from = entries.len();
    entries.extend(dense.iter().copied().enumerate().filter(|&(_, value)| value != 0.0));
    (from, entries.len())
}

fn add(v: &mut [f64], entries: &[(usize, f64)], (from, to): (usize, usize), factor: f64) {
    for &(i, value) in &entries[from..to] {
        v[i] += factor * value;
    }
}

/// The product of two sparse vectors with ascending indices.
fn product(entries: &[(usize, f64)], a: (usize, usize), b: (usize, usize)) -> f64 {
    let (mut i, mut j, mut sum) = (a.0, b.0, 0.0);
    while i < a.1 && j < b.1 {
        let ((ka, x), (kb, y)) = (entries[i], entries[j]);
        if ka == kb {
            sum += x * y;
        }
        i += usize::from(ka <= kb);
        j += usize::from(kb <= ka);
    }
    sum
}
