//! Moreau–Jean time stepping: all contacts of a step at once, on velocity level, for many contacts.
//!
//! Moreau's midpoint rule \[1\], θ = ½ with forces at the midpoint:
//!
//! ```text
//! q_M = q ⊕ ½h v,    v_f = v + h a(t + ½h, q_M, v),   G v_f + g_t = 0
//! v⁺ = v_f + K Jᵀ P                       K as in the Delassus matrix, bilateral constraints eliminated by their factors
//! 0 ≤ γ̇⁺ + ε γ̇⁻ ⟂ P_n ≥ 0                 contacts with γ(q_M) ≤ 0
//! P_t in the section of sliding friction, of maximum dissipation against u⁺
//! q⁺ = q_M ⊕ ½h v⁺, projected to g = 0
//! ```
//!
//! Nothing is located: impacts, lift-off and stick are felt in the step in which they happen. The error is of order h, gaps may be
//! violated by O(h), Zeno needs no care, and Painlevé configurations end in an impulse. The impulses are found by nonsmooth
//! Gauss–Seidel sweeps \[2\], each contact solved exactly in its turn, from the impulses of the step before. Sweeps stop
//! when no impulse changes its own contact's velocity by more than `tolerance` times the largest velocity of contacts; a step that needs
//! more than `sweeps` is an error.
//!
//! A closed sucker is pulled with the impulse h A(t + ½h), which its own impulse P counts as pressing. One that was pressed
//! without a rebound in the step before counts as closed also where rounding has moved it off the surface.
//!
//! A contact that can be stopped by an impulse within its static cone is; one that cannot slides with the sliding coefficient at
//! zero speed.
//!
//! References: \[1\] J. J. Moreau: Unilateral contact and dry friction in finite freedom dynamics, CISM 302, Springer 1988, 1–82;
//! \[2\] M. Jean: The non-smooth contact dynamics method, Comput. Methods Appl. Mech. Engrg. 177 (1999) 235–257.

use super::contacts::Contacts;
use super::error::ContactError;
use super::hybrid::ACCOUNTS;
use crate::algebra::Rows;
use crate::dynamics::{Dynamics, Rates};
use crate::integrate::{Flow, IntegrateError, Span};
use crate::system::{State, System};

/// Iterations for the direction of slip of one contact with two tangents.
const TURNS: usize = 60;
/// Projections of positions stop at relative corrections below this and leave its square.
const PROJECTION: f64 = 1e-8;

/// How steps are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Moreau {
    /// The longest step in seconds; steps divide the interval of outputs evenly.
    pub step: f64,
    /// The change of velocities, relative to the largest of contacts, at which sweeps stop.
    pub tolerance: f64,
    /// The most sweeps of one step.
    pub sweeps: usize,
}

impl Default for Moreau {
    fn default() -> Self {
        Self { step: 1e-3, tolerance: 1e-10, sweeps: 20_000 }
    }
}

/// What a run did.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Steps.
    pub steps: u64,
    /// Sweeps over the active contacts.
    pub sweeps: u64,
}

/// Who watches.
pub trait Watcher {
    /// A state at an output time, with the impulses of the step before it by rows of contacts, in N s.
    fn on_output(&mut self, s: &State<f64>, impulse: &[f64]) -> Flow;
}

/// Nobody watches.
impl Watcher for () {
    fn on_output(&mut self, _s: &State<f64>, _impulse: &[f64]) -> Flow {
        Flow::Continue
    }
}

impl Moreau {
    /// Steps from the state (made with [`super::Hybrid::state`]) to the end of the span.
    pub fn simulate<Y: Contacts>(
        &self,
        model: &Y,
        s: &mut State<f64>,
        span: &Span,
        watcher: &mut dyn Watcher,
    ) -> Result<Work, IntegrateError> {
        if !(self.step > 0.0 && self.tolerance > 0.0) {
            let reason = "`step` and `tolerance` of `moreau` must be positive".to_owned();
            return Err(IntegrateError::Refused { reason });
        }
        let mut stepper = Stepper::new(model, self);
        let mut work = Work::default();
        let mut next = 0;
        while let Some(t) = span.output(next)
            && t <= s.t
        {
            next += 1;
            if watcher.on_output(s, &stepper.impulse) == Flow::Stop {
                return Ok(work);
            }
        }
        while s.t < span.until {
            let output = span.output(next);
            let end = output.unwrap_or(span.until);
            let start = s.t;
            let count = ((end - start) / self.step * (1.0 - 1e-12)).ceil().max(1.0);
            for k in 1..=count as u64 {
                let until = if k as f64 == count { end } else { start + (end - start) * (k as f64 / count) };
                work.sweeps += stepper.step(model, s, until)?;
                work.steps += 1;
            }
            if output.is_some() {
                next += 1;
                if watcher.on_output(s, &stepper.impulse) == Flow::Stop {
                    break;
                }
            }
        }
        Ok(work)
    }
}

/// An active contact.
#[derive(Clone, Copy, Debug)]
struct Active {
    contact: usize,
    /// Its first row among the rows of contacts, and its tangents.
    row: usize,
    tangents: usize,
    /// Its first line in `lines`.
    line: usize,
    /// Its own part of the Delassus matrix.
    own: [[f64; 3]; 3],
    /// ε γ̇⁻.
    rebound: f64,
    /// The impulse of suction, in N s.
    pull: f64,
}

/// A row of J and its response K Jᵀ, as ranges of entries.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    jacobian: (usize, usize),
    response: (usize, usize),
    /// The rate that the row has at v = 0.
    drive: f64,
}

struct Stepper<'a, Y: System> {
    options: &'a Moreau,
    dynamics: Dynamics<Y>,
    rates: Rates,
    middle: State<f64>,
    starts: Vec<usize>,
    gap: Vec<f64>,
    before: Vec<f64>,
    impulse: Vec<f64>,
    /// Suckers that were closed in the step before.
    held: Vec<bool>,
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
    fn new(model: &Y, options: &'a Moreau) -> Self {
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
            held: vec![false; contacts],
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

    /// One step; returns the number of sweeps.
    fn step(&mut self, model: &Y, s: &mut State<f64>, until: f64) -> Result<u64, IntegrateError> {
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
        let parts = self.dynamics.parts();
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
        model.contact_jacobian(middle, parts.work, &mut self.rows);
        self.collect(model, s, h)?;
        let sweeps = self.solve(model)?;
        self.held.fill(false);
        for a in &self.active {
            // What rebounds more slowly than it is pulled in one step stays.
            let stays = a.pull > 0.0 && -a.rebound <= a.own[0][0] * a.pull;
            self.held[a.contact] = stays && self.impulse[a.row] > 0.0;
        }
        self.book(s);
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
        Ok(sweeps)
    }

    /// The active contacts, with their lines; leaves `before` as the rates with the old velocities.
    fn collect(&mut self, model: &Y, s: &State<f64>, h: f64) -> Result<(), IntegrateError> {
        self.free.copy_from_slice(&self.middle.v);
        self.middle.v.copy_from_slice(&s.v);
        let parts = self.dynamics.parts();
        model.prepare(&self.middle, parts.work);
        model.contact_rate(&self.middle, parts.work, &mut self.before);
        self.middle.v.copy_from_slice(&self.free);
        self.active.clear();
        self.lines.clear();
        self.entries.clear();
        for contact in 0..self.gap.len() {
            let (row, end) = (self.starts[contact], self.starts[contact + 1]);
            if self.gap[contact] > 0.0 && !self.held[contact] {
                self.impulse[row..end].fill(0.0);
                continue;
            }
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
            self.active.push(Active { contact, row, tangents: end - row - 1, line, own, rebound, pull });
        }
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
        for sweep in 1..=self.options.sweeps as u64 {
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
                let new = local(model, a, c);
                for k in 0..=a.tangents {
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

/// The impulse of one contact that leaves y = own P + c complementary to it.
fn local<Y: Contacts>(model: &Y, a: &Active, c: [f64; 3]) -> [f64; 3] {
    if c[0] >= 0.0 || a.own[0][0] <= 0.0 {
        return [0.0; 3];
    }
    if a.tangents == 0 {
        return [-c[0] / a.own[0][0], 0.0, 0.0];
    }
    let held = stick(a, c);
    if held[0] > 0.0 && model.excess(a.contact, [held[1], held[2]], held[0]) <= 0.0 {
        return held;
    }
    let slide = |direction: [f64; 2]| -> Option<([f64; 3], [f64; 2])> {
        let phi = model.sliding(a.contact, direction, 0.0);
        let rise = a.own[0][0] + a.own[0][1] * phi[0] + a.own[0][2] * phi[1];
        if rise <= 1e-12 * a.own[0][0] {
            return None;
        }
        let n = -c[0] / rise;
        let p = [n, n * phi[0], n * phi[1]];
        let motion = |k: usize| c[k] + (0..3).fold(0.0, |sum, l| sum + a.own[k][l] * p[l]);
        Some((p, [motion(1), if a.tangents > 1 { motion(2) } else { 0.0 }]))
    };
    if a.tangents == 1 {
        for sign in [1.0, -1.0] {
            if let Some((p, u)) = slide([sign, 0.0])
                && u[0] * sign >= 0.0
            {
                return p;
            }
        }
        return if held[0] > 0.0 { held } else { [0.0; 3] };
    }
    // The sine of the angle from the direction assumed to the slip it leads to, by bisection between two signs of it.
    let miss = |angle: f64| {
        let (sine, cosine) = angle.sin_cos();
        slide([cosine, sine]).map(|(p, u)| (u[1] * cosine - u[0] * sine, u[0] * cosine + u[1] * sine, p))
    };
    let guess = c[2].atan2(c[1]);
    let turn = std::f64::consts::TAU / 16.0;
    let mut best = None;
    for k in 0..16 {
        let low = guess + turn * (k as f64 - 0.5);
        if let (Some(left), Some(right)) = (miss(low), miss(low + turn))
            && left.0 > 0.0
            && right.0 <= 0.0
        {
            let (mut low, mut high) = (low, low + turn);
            let mut last = right;
            for _ in 0..TURNS {
                let middle = 0.5 * (low + high);
                let Some(now) = miss(middle) else { break };
                last = now;
                if now.0 > 0.0 { low = middle } else { high = middle }
            }
            if last.1 >= 0.0 {
                best = Some(last.2);
                break;
            }
        }
    }
    best.unwrap_or(if held[0] > 0.0 { held } else { [0.0; 3] })
}

/// The impulse that leaves no motion at all.
fn stick(a: &Active, c: [f64; 3]) -> [f64; 3] {
    let n = a.tangents + 1;
    let (mut m, mut x) = (a.own, c.map(|c| -c));
    for k in 0..n {
        if m[k][k] <= 0.0 {
            return [0.0; 3];
        }
        for i in k + 1..n {
            let factor = m[i][k] / m[k][k];
            for l in k..n {
                m[i][l] -= factor * m[k][l];
            }
            x[i] -= factor * x[k];
        }
    }
    for k in (0..n).rev() {
        x[k] = ((k + 1)..n).fold(x[k], |sum, l| sum - m[k][l] * x[l]) / m[k][k];
    }
    x[n..].fill(0.0);
    x
}
