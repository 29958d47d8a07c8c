//! A system with contacts in given modes, as a plain [`System`] that every integrator can run.
//!
//! ```text
//! M v̇ = f − Gᵀλ − Aᵀμ + Σ (∂γ̇/∂v)ᵀ N + (∂u/∂v)ᵀ r
//! 0 = γ                 for every closed contact: rows after the holonomic rows of the model, multipliers −N
//! 0 = u                 for every sticking one: rows after the velocity-level rows of the model, multipliers −r
//! r = N φ(u)            for every sliding one: sliding friction, linear in the multipliers (loads)
//! ```
//!
//! Closed suckers add −(∂γ̇/∂v)ᵀ A(t) to the forces f. Sliding contacts with a press of their own add (∂u/∂v)ᵀ N φ(u); they have no row γ.
//!
//! **Direction of sliding.** A mode keeps a reference direction e. With slip u = α e + β n the law is read in the direction
//! (e + ϱ n)/√(1 + ϱ²), ϱ = β/α, with speed α √(1 + ϱ²). This goes on smoothly through α = 0, so that a step may
//! pass the instant of stopping and the event be found on its continuous output. |ϱ| is kept below tan 75°; the driver renews e
//! long before.
//!
//! **Creep.** With two tangents a slip that starts grows like τ², with a direction that is noise at first and so stiff that no step is
//! short enough. Below a speed c it is therefore led back to e: ϱ = β/(α ± c (1 − |u|²/c²)²) there, and the law as it is above. Slips
//! that do not start have [`FAINT`] for c: what is left of a stop is rounding.
//!
//! **Accounts.** Three integrals follow those of the model, in joules: the work of moving contacts on the system, the heat
//! of sliding, and the energy lost in impacts (which the driver adds at the impacts).

use super::contacts::{Contacts, Mode};
use crate::algebra::{Block, Mass, MassBlock, Rows};
use crate::scalar::Scalar;
use crate::system::{Coupling, Shape, State, System};

/// The integrals that a [`Hybrid`] adds: work of moving contacts, heat of sliding, energy lost in impacts.
pub const ACCOUNTS: usize = 3;
/// The largest |β/α| at which the law of friction is read: tan 75°.
const SWERVE: f64 = 3.732_050_807_568_877;

/// Gaps below zero by more than this many times what counts as touching are below the surface.
const STUB: f64 = 1e3;

/// The speed below which any slip has the direction of its mode, in m/s.
pub const FAINT: f64 = 1e-12;

/// A model with contacts, and their modes.
pub struct Hybrid<'a, Y> {
    model: &'a Y,
    modes: Vec<Mode>,
    /// The shape of the model.
    inner: Shape,
    /// The first row of each contact among the rows of contacts, and their number.
    starts: Vec<usize>,
    /// The closed contacts whose press is a multiplier.
    closed: Vec<usize>,
    /// The contacts with a press of their own, and that press in N.
    pressed: Vec<(usize, f64)>,
    /// All closed contacts.
    touching: Vec<usize>,
    /// The closed contacts with suction.
    sucking: Vec<usize>,
    /// The rows of contacts that are held without slip.
    stuck: Vec<usize>,
    /// For each contact the speed below which it is led in the direction of its mode, if it has two tangents, in m/s.
    creep: Vec<f64>,
    /// The contacts that make hollows: the closed ones, or what is taken for them at the beginning.
    bearing: Vec<bool>,
    /// The contacts that latches hold.
    latched: Vec<bool>,
    /// Where each block of the Jacobian comes from, and whether all are those of the model.
    pieces: Vec<Piece>,
    plain: bool,
}

/// A block of the Jacobian: rows of a block of the model or of the contacts.
#[derive(Copy, Clone)]
struct Piece {
    block: Block,
    contact: bool,
    source: usize,
    first: usize,
}

/// Scratch of a [`Hybrid`].
pub struct Work<W, S> {
    model: W,
    rows: Rows<S>,
    contact: Rows<S>,
    /// Values by contact.
    gap: Vec<S>,
    /// Values by rows of contacts.
    rate: Vec<S>,
    values: Vec<S>,
    /// Values by rows of the model.
    own: Vec<S>,
    /// Velocities of rows of contacts without their drive.
    moved: Vec<S>,
}

impl<'a, Y: Contacts> Hybrid<'a, Y> {
    /// The model with all contacts open.
    pub fn new(model: &'a Y) -> Self {
        let count = model.contacts();
        let mut starts = vec![0];
        for i in 0..count {
            starts.push(starts[i] + 1 + model.tangents(i));
        }
        let mut hybrid = Self {
            model,
            modes: Vec::new(),
            inner: model.shape(),
            starts,
            closed: Vec::new(),
            pressed: Vec::new(),
            touching: Vec::new(),
            sucking: Vec::new(),
            stuck: Vec::new(),
            creep: vec![FAINT; count],
            bearing: vec![false; count],
            latched: (0..count).map(|i| model.latch(i).is_some_and(|latch| latch.holds)).collect(),
            pieces: Vec::new(),
            plain: false,
        };
        hybrid.set_modes(&vec![Mode::Open; count]);
        hybrid
    }

    /// The model.
    pub fn model(&self) -> &'a Y {
        self.model
    }

    /// The modes of all contacts.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// For each contact the speed below which it is led in the direction of its mode, if it has two tangents, in m/s.
    pub fn creep(&self) -> &[f64] {
        &self.creep
    }

    /// Sets those speeds.
    pub fn set_creep(&mut self, speeds: &[f64]) {
        self.creep.copy_from_slice(speeds);
    }

    /// Which contacts latches hold; before a run those that hold at its beginning.
    pub fn latched(&self) -> &[bool] {
        &self.latched
    }

    /// Sets them.
    pub fn set_latched(&mut self, latched: &[bool]) {
        self.latched.copy_from_slice(latched);
    }

    /// Says which contacts make hollows, until modes are set.
    pub(super) fn set_bearing(&mut self, bearing: &[bool]) {
        self.bearing.copy_from_slice(bearing);
    }

    /// The mode of a contact that a latch holds.
    pub(super) fn held(&self, contact: usize) -> Mode {
        if self.tangents(contact) == 0 { Mode::Slide { direction: [0.0; 2] } } else { Mode::Stick }
    }

    /// The model with nothing closed but what latches hold.
    pub(super) fn free(&self) -> Self {
        let mut free = Self::new(self.model);
        let modes: Vec<Mode> =
            (0..self.modes.len()).map(|i| if self.latched[i] { self.held(i) } else { Mode::Open }).collect();
        free.set_modes(&modes);
        free
    }

    /// The first row of a contact among the rows of contacts; for the number of contacts, the number of rows.
    pub fn start(&self, contact: usize) -> usize {
        self.starts[contact]
    }

    /// A state of the model with the accounts of the contacts at zero.
    pub fn state(&self, mut s: State<f64>) -> State<f64> {
        s.z.resize(self.inner.z + ACCOUNTS, 0.0);
        s
    }

    /// Sets the modes. This changes the shape: whatever was made for the old one (integrators, scratch) must be started anew.
    pub fn set_modes(&mut self, modes: &[Mode]) {
        self.modes = modes.to_vec();
        self.bearing = modes.iter().map(|mode| mode.closed()).collect();
        self.touching = (0..modes.len()).filter(|&i| modes[i].closed()).collect();
        self.pressed = self.touching.iter().filter_map(|&i| Some((i, self.model.own_press(i)?))).collect();
        self.closed = self.touching.iter().copied().filter(|&i| self.model.own_press(i).is_none()).collect();
        self.sucking = self.closed.iter().copied().filter(|&i| self.model.suction(i, 0.0).is_some()).collect();
        let stuck = (0..modes.len()).filter(|&i| modes[i] == Mode::Stick);
        self.stuck = stuck.flat_map(|i| self.starts[i] + 1..self.starts[i + 1]).collect();
        self.pieces.clear();
        let (g, shift, blocks) = (self.inner.g, self.closed.len(), self.model.row_blocks());
        for (source, b) in blocks.iter().enumerate() {
            let cut = g.clamp(b.row, b.row + b.rows);
            let upper = Block { rows: cut - b.row, ..*b };
            let lower = Block { row: cut + shift, rows: b.row + b.rows - cut, ..*b };
            for (block, first) in [(upper, 0), (lower, cut - b.row)] {
                if block.rows > 0 {
                    self.pieces.push(Piece { block, contact: false, source, first });
                }
            }
        }
        self.plain = shift == 0 && self.stuck.is_empty() && self.pieces.len() == blocks.len();
        let rows = self.places();
        for (source, b) in self.model.contact_blocks().iter().enumerate() {
            for first in 0..b.rows {
                if let Some(row) = rows[b.row + first] {
                    self.pieces.push(Piece { block: Block { row, rows: 1, ..*b }, contact: true, source, first });
                }
            }
        }
    }

    /// For each row of contacts its row of constraints, if it is one.
    fn places(&self) -> Vec<Option<usize>> {
        let mut rows = vec![None; self.starts[self.modes.len()]];
        for (k, &i) in self.closed.iter().enumerate() {
            rows[self.starts[i]] = Some(self.inner.g + k);
        }
        for (k, &row) in self.stuck.iter().enumerate() {
            rows[row] = Some(self.inner.rows() + self.closed.len() + k);
        }
        rows
    }

    /// The contacts that slide with friction, each with its row of constraints and its direction.
    fn sliding(&self) -> impl Iterator<Item = (usize, usize, [f64; 2])> + '_ {
        self.closed.iter().enumerate().filter_map(|(k, &i)| match self.modes[i] {
            Mode::Slide { direction } if self.tangents(i) > 0 => Some((i, self.inner.g + k, direction)),
            _ => None,
        })
    }

    /// The contacts that slide under a press of their own, with that press and their direction.
    fn braking(&self) -> impl Iterator<Item = (usize, f64, [f64; 2])> + '_ {
        self.pressed.iter().filter_map(|&(i, press)| match self.modes[i] {
            Mode::Slide { direction } => Some((i, press, direction)),
            _ => None,
        })
    }

    fn tangents(&self, contact: usize) -> usize {
        self.starts[contact + 1] - self.starts[contact] - 1
    }

    /// The friction force for unit press of a sliding contact, at a prepared state.
    fn resistance<S: Scalar>(&self, contact: usize, e: [f64; 2], rate: &[S], w: &Y::Work<S>) -> [S; 2] {
        let u = &rate[self.starts[contact] + 1..self.starts[contact + 1]];
        resistance(self.model, contact, e.map(S::from), S::from(self.creep[contact]), u, w)
    }

    /// The suction of a closed contact.
    fn suction<S: Scalar>(&self, contact: usize, t: S, w: &Y::Work<S>) -> S {
        self.model.suction_at(contact, t, w).unwrap_or(S::zero())
    }

    /// Presses N and tangential forces r of all contacts, by rows of contacts, from multipliers.
    ///
    /// `w` is prepared for the state.
    pub fn forces<S: Scalar>(&self, multipliers: &[S], w: &Work<Y::Work<S>, S>, out: &mut [S]) {
        out.fill(S::zero());
        for (k, &i) in self.closed.iter().enumerate() {
            out[self.starts[i]] = -multipliers[self.inner.g + k];
        }
        for (k, &row) in self.stuck.iter().enumerate() {
            out[row] = -multipliers[self.inner.rows() + self.closed.len() + k];
        }
        for (i, row, direction) in self.sliding() {
            let force = self.resistance(i, direction, &w.rate, &w.model);
            for k in 0..self.tangents(i) {
                out[self.starts[i] + 1 + k] = -(force[k] * multipliers[row]);
            }
        }
        for &(i, press) in &self.pressed {
            out[self.starts[i]] = S::from(press);
        }
        self.brake(&w.rate, &w.model, out);
    }

    /// Writes the forces of contacts that slide under a press of their own, by rows of contacts.
    fn brake<S: Scalar>(&self, rate: &[S], w: &Y::Work<S>, out: &mut [S]) {
        for (i, press, direction) in self.braking() {
            let force = self.resistance(i, direction, rate, w);
            for k in 0..self.tangents(i) {
                out[self.starts[i] + 1 + k] = force[k] * press;
            }
        }
    }

    /// The multipliers of the rows of the model among those of all rows.
    pub fn own_multipliers<S: Scalar>(&self, multipliers: &[S], out: &mut [S]) {
        let (g, after) = (self.inner.g, self.inner.g + self.closed.len());
        out[..g].copy_from_slice(&multipliers[..g]);
        out[g..].copy_from_slice(&multipliers[after..after + self.inner.a]);
    }

    /// The gaps of all contacts and the rates by rows of contacts, at a prepared state.
    pub fn kinematics<S: Scalar>(&self, s: &State<S>, w: &mut Work<Y::Work<S>, S>, gap: &mut [S], rate: &mut [S]) {
        self.gaps(s, w, gap);
        self.model.contact_rate(s, &mut w.model, rate);
    }

    /// The gaps of all contacts, at a prepared state. Open contacts in hollows have max(γ, h) for a gap.
    pub(super) fn gaps<S: Scalar>(&self, s: &State<S>, w: &mut Work<Y::Work<S>, S>, gap: &mut [S]) {
        self.model.contact_gap(s, &mut w.model, gap);
        if self.model.contact_hollow(&self.bearing, s, &mut w.model, &mut w.gap) {
            for (i, (gap, &depth)) in gap.iter_mut().zip(&w.gap).enumerate() {
                if !self.bearing[i] {
                    *gap = S::select(gap.lt(depth), depth, *gap);
                }
            }
        }
    }

    /// The rates of closed contacts, by rows of contacts, at a prepared state; those of others are not written.
    pub(super) fn closed_rates<'w, S>(&self, w: &'w Work<Y::Work<S>, S>) -> &'w [S]
    where
        S: Scalar,
    {
        &w.rate
    }

    /// The open contact that has left its hollow below the surface by more than `touch`, and its gap, at a prepared state.
    pub(super) fn stubbed(&self, s: &State<f64>, w: &mut Work<Y::Work<f64>, f64>, touch: f64) -> Option<(usize, f64)> {
        let count = self.modes.len();
        let mut depth = vec![0.0; count];
        if !self.model.contact_hollow(&self.bearing, s, &mut w.model, &mut depth) {
            return None;
        }
        self.model.contact_gap(s, &mut w.model, &mut w.gap);
        let below = |&i: &usize| !self.bearing[i] && w.gap[i] < -STUB * touch && depth[i] <= touch;
        (0..count).find(below).map(|i| (i, w.gap[i]))
    }

    /// The Jacobian of all rows of contacts, at a prepared state.
    pub fn contact_rows<S: Scalar>(&self, s: &State<S>, w: &mut Work<Y::Work<S>, S>, out: &mut Rows<S>) {
        self.model.contact_jacobian(s, &mut w.model, out);
    }

    /// Biases and Jacobian of the rows of some contacts, at a prepared state; those of others may be anything that is finite.
    pub(super) fn accelerations(
        &self,
        some: &[usize],
        s: &State<f64>,
        w: &mut Work<Y::Work<f64>, f64>,
        bias: &mut [f64],
        jacobian: &mut Rows<f64>,
    ) {
        self.model.contact_bias_of(some, s, &mut w.model, bias);
        self.model.contact_jacobian_of(some, s, &mut w.model, jacobian);
    }
}

impl<Y: Contacts> System for Hybrid<'_, Y> {
    type Work<S: Scalar> = Work<Y::Work<S>, S>;

    fn shape(&self) -> Shape {
        Shape {
            z: self.inner.z + ACCOUNTS,
            g: self.inner.g + self.closed.len(),
            a: self.inner.a + self.stuck.len(),
            ..self.inner
        }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        self.model.mass_blocks()
    }
    fn row_blocks(&self) -> Vec<Block> {
        self.pieces.iter().map(|piece| piece.block).collect()
    }
    fn coupling(&self) -> Coupling {
        let mut coupling = self.model.coupling();
        let blocks = self.model.contact_blocks();
        let braking = self.braking().map(|(i, ..)| i);
        for i in self.sliding().map(|(i, ..)| i).chain(self.sucking.iter().copied()).chain(braking) {
            let rows = self.starts[i]..self.starts[i + 1];
            let own: Vec<_> = blocks.iter().filter(|b| b.row < rows.end && rows.start < b.row + b.rows).collect();
            let groups = coupling.groups.iter().enumerate();
            let met = groups.filter(|(_, g)| own.iter().any(|b| g.start < b.col + b.cols && b.col < g.end));
            let met: Vec<usize> = met.map(|(k, _)| k).collect();
            for &k in &met {
                let list = &mut coupling.neighbours[k];
                list.extend(&met);
                list.sort_unstable();
                list.dedup();
            }
        }
        coupling
    }
    fn mass_is_constant(&self) -> bool {
        self.model.mass_is_constant()
    }

    fn work<S: Scalar>(&self) -> Self::Work<S> {
        let (rows, v) = (self.starts[self.modes.len()], self.inner.v);
        let zeros = |n| vec![S::zero(); n];
        Work {
            model: self.model.work(),
            rows: Rows::new(self.inner.rows(), v, &self.model.row_blocks()),
            contact: Rows::new(rows, v, &self.model.contact_blocks()),
            gap: zeros(self.modes.len()),
            rate: zeros(rows),
            values: zeros(rows),
            own: zeros(self.inner.rows()),
            moved: zeros(rows),
        }
    }
    fn prepare<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>) {
        self.model.prepare(s, &mut w.model);
        if !self.touching.is_empty() {
            self.model.contact_rate_of(&self.touching, s, &mut w.model, &mut w.rate);
            self.model.contact_jacobian_of(&self.touching, s, &mut w.model, &mut w.contact);
        }
    }
    fn mass<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut Mass<S>) {
        self.model.mass(s, &mut w.model, out);
    }
    fn force<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]) {
        self.model.force(s, &mut w.model, out);
        if self.sucking.is_empty() && self.pressed.is_empty() {
            return;
        }
        w.values.fill(S::zero());
        for &i in &self.sucking {
            w.values[self.starts[i]] = -self.suction(i, s.t, &w.model);
        }
        self.brake(&w.rate, &w.model, &mut w.values);
        w.contact.add_transpose(1.0, &w.values, out);
    }
    fn rate<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]) {
        self.model.rate(s, &mut w.model, out);
    }
    fn integrand<S: Scalar>(&self, s: &State<S>, multipliers: &[S], w: &mut Self::Work<S>, out: &mut [S]) {
        let (own, accounts) = out.split_at_mut(self.inner.z);
        self.own_multipliers(multipliers, &mut w.own);
        self.model.integrand(s, &w.own, &mut w.model, own);
        accounts.fill(S::zero());
        if self.touching.is_empty() {
            return;
        }
        // Power of the contact forces on the system is (N − A) ∂γ̇/∂v v + r ∂u/∂v v; what is not heat −r u is the drive's.
        let mut forces = std::mem::take(&mut w.values);
        self.forces(multipliers, w, &mut forces);
        for &i in &self.sucking {
            forces[self.starts[i]] -= self.suction(i, s.t, &w.model);
        }
        w.moved.fill(S::zero());
        w.contact.add_apply(&s.v, &mut w.moved);
        let power = forces.iter().zip(&w.moved).fold(S::zero(), |sum, (&f, &v)| sum + f * v);
        let mut heat = S::zero();
        for i in self.sliding().map(|(i, ..)| i).chain(self.braking().map(|(i, ..)| i)) {
            for row in self.starts[i] + 1..self.starts[i + 1] {
                heat -= forces[row] * w.rate[row];
            }
        }
        w.values = forces;
        accounts[0] = power + heat;
        accounts[1] = heat;
    }
    fn constraint<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]) {
        let g = self.inner.g;
        self.model.constraint(s, &mut w.model, &mut out[..g]);
        if !self.closed.is_empty() {
            self.model.contact_gap(s, &mut w.model, &mut w.gap);
            for (out, &i) in out[g..].iter_mut().zip(&self.closed) {
                *out = w.gap[i];
            }
        }
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]) {
        self.model.constraint_rate(s, &mut w.model, &mut w.own);
        self.model.contact_rate_of(&self.touching, s, &mut w.model, &mut w.values);
        self.merge(&w.own, &w.values, out);
    }
    fn scleronomic(&self) -> bool {
        self.touching.is_empty() && self.model.scleronomic()
    }
    fn constraint_bias<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]) {
        self.model.constraint_bias(s, &mut w.model, &mut w.own);
        self.model.contact_bias_of(&self.touching, s, &mut w.model, &mut w.values);
        self.merge(&w.own, &w.values, out);
    }
    fn jacobian<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut Rows<S>) {
        if self.plain {
            return self.model.jacobian(s, &mut w.model, out);
        }
        self.model.jacobian(s, &mut w.model, &mut w.rows);
        for (k, piece) in self.pieces.iter().enumerate() {
            let from = if piece.contact { w.contact.block(piece.source) } else { w.rows.block(piece.source) };
            let cols = piece.block.cols;
            let first = piece.first * cols;
            out.block_mut(k).copy_from_slice(&from[first..first + piece.block.rows * cols]);
        }
    }
    fn loads(&self) -> Vec<usize> {
        self.sliding().map(|(_, row, _)| row).collect()
    }
    fn friction<S: Scalar>(&self, _s: &State<S>, multipliers: &[S], w: &mut Self::Work<S>, out: &mut [S]) {
        w.values.fill(S::zero());
        for (i, row, direction) in self.sliding() {
            let force = self.resistance(i, direction, &w.rate, &w.model);
            for k in 0..self.tangents(i) {
                w.values[self.starts[i] + 1 + k] = -(force[k] * multipliers[row]);
            }
        }
        w.contact.add_transpose(1.0, &w.values, out);
    }
    fn gap<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, out: &mut [S]) {
        self.model.gap(s, &mut w.model, out);
    }

    fn retract<S: Scalar>(&self, q: &[S], delta: &[S], out: &mut [S]) {
        self.model.retract(q, delta, out);
    }
    fn local_rate<S: Scalar>(&self, delta: &[S], v: &[S], out: &mut [S]) {
        self.model.local_rate(delta, v, out);
    }
    fn still(&self) -> bool {
        self.model.still()
    }
    fn rates(&self) -> usize {
        self.model.rates()
    }
    fn fast(&self, rate: usize) -> Vec<usize> {
        self.model.fast(rate)
    }
    fn coupling_of_rate(&self, rate: usize) -> Coupling {
        self.model.coupling_of_rate(rate)
    }
    fn force_of_rate<S: Scalar>(&self, s: &State<S>, w: &mut Self::Work<S>, rate: usize, out: &mut [S]) {
        self.model.force_of_rate(s, &mut w.model, rate, out);
    }
    fn local_velocity<S: Scalar>(&self, delta: &[S], rate: &[S], out: &mut [S]) {
        self.model.local_velocity(delta, rate, out);
    }
    fn local_shift<S: Scalar>(&self, delta: &[S], base: &[S], out: &mut [S]) {
        self.model.local_shift(delta, base, out);
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        self.model.magnitude(q, out);
    }

    fn row_name(&self, row: usize) -> String {
        let (g, rows, closed) = (self.inner.g, self.inner.rows(), self.closed.len());
        match row {
            _ if row < g => self.model.row_name(row),
            _ if row < g + closed => self.model.contact_name(self.closed[row - g]),
            _ if row < rows + closed => self.model.row_name(row - closed),
            _ => {
                let row = self.stuck[row - rows - closed];
                let contact = self.starts.partition_point(|&start| start <= row) - 1;
                format!("{} (stick)", self.model.contact_name(contact))
            }
        }
    }
    fn load_name(&self, s: &State<f64>, row: usize) -> String {
        let contact = self.closed[row - self.inner.g];
        let mut w = self.work();
        self.prepare(s, &mut w);
        let direction = match self.modes[contact] {
            Mode::Slide { direction } => direction,
            _ => [0.0; 2],
        };
        let [first, second] = self.resistance(contact, direction, &w.rate, &w.model);
        format!("`{}` (μ = {:.4})", self.model.contact_name(contact), first.hypot(second))
    }
    fn velocity_name(&self, velocity: usize) -> String {
        self.model.velocity_name(velocity)
    }
    fn extra_name(&self, extra: usize) -> String {
        self.model.extra_name(extra)
    }
}

/// The friction force for unit press against a slip u of a contact that slides in a direction e, extended through the stop; below the speed `creep` it is led back to e.
/// The state is prepared.
pub fn resistance<Y: Contacts, S: Scalar>(
    model: &Y,
    contact: usize,
    e: [S; 2],
    creep: S,
    u: &[S],
    w: &Y::Work<S>,
) -> [S; 2] {
    if u.len() == 1 {
        return model.sliding_at(contact, e, u[0] * e[0], w);
    }
    let (along, across) = (u[0] * e[0] + u[1] * e[1], u[1] * e[0] - u[0] * e[1]);
    let limit = along.abs() * SWERVE;
    let sign = S::select(along.lt(S::zero()), -across, across).sign();
    let beyond = limit.lt(across.abs());
    let swerve = S::select(beyond, sign * SWERVE, across / S::select(along.equals(S::zero()), S::one(), along));
    let speed = (along * along + across * across) / (creep * creep);
    let creeps = speed.lt(S::one());
    let led = (S::one() - speed) * (S::one() - speed) * creep;
    let divisor = along + S::select(along.lt(S::zero()), -led, led);
    let swerve = S::select(creeps, across / S::select(creeps, divisor, S::one()), swerve);
    let length = (swerve * swerve + 1.0).sqrt();
    let direction = [(-swerve * e[1] + e[0]) / length, (swerve * e[0] + e[1]) / length];
    model.sliding_at(contact, direction, along * length, w)
}

impl<Y: Contacts> Hybrid<'_, Y> {
    /// Values of all rows of constraints from those of the model and those of the contacts.
    fn merge<S: Scalar>(&self, own: &[S], contact: &[S], out: &mut [S]) {
        let g = self.inner.g;
        out[..g].copy_from_slice(&own[..g]);
        let after = g + self.closed.len();
        for (out, &i) in out[g..after].iter_mut().zip(&self.closed) {
            *out = contact[self.starts[i]];
        }
        let last = after + self.inner.a;
        out[after..last].copy_from_slice(&own[g..]);
        for (out, &row) in out[last..].iter_mut().zip(&self.stuck) {
            *out = contact[row];
        }
    }
}
