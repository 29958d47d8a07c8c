//! Tangents of the equations of motion, exactly, by dual numbers, at a cost that grows with neighbours and not with size.
//!
//! At a state (t, q, v, x) with multipliers λ and accelerations a, along q ⊕ δ at δ = 0:
//!
//! ```text
//! K  = ∂(f + Cλ − [G;A]ᵀλ − M a)/∂δ  stiffness, geometric stiffness of the constraints and change of mass included
//! D  = ∂(f + Cλ)/∂v                 damping, gyroscopic terms and sliding friction
//! C  = ∂(G v + g_t; A v + b)/∂δ     change of the velocity-level residuals
//! ∂f/∂x,  ∂r/∂δ,  ∂r/∂v,  ∂r/∂x     the extra states
//! ```
//!
//! Columns are compressed by colouring (\[1\]): two groups of velocities share a direction if no force and no constraint row
//! depends on both. Six directions are carried at once ([`Duals`]). A [`System`] says nothing about the structure of r, so
//! that its columns (and those of x) are taken one by one; systems without extra states pay nothing for this.
//!
//! Reference: \[1\] Gebremedhin, Manne, Pothen: What color is your Jacobian? SIAM Review 47 (2005) 629–705, section 3.

use crate::algebra::{Block, Mass, Rows};
use crate::scalar::Duals;
use crate::system::{Coupling, State, System};

/// The number of directions of one pass.
const WIDTH: usize = 6;

/// The tangent matrices of a system and the scratch to compute them.
pub struct Tangent<Y: System> {
    stiffness: Rows<f64>,
    damping: Rows<f64>,
    rows_by_position: Rows<f64>,
    force_by_state: Vec<f64>,
    rate_by_position: Vec<f64>,
    rate_by_velocity: Vec<f64>,
    rate_by_state: Vec<f64>,
    compression: Compression,
    constant_mass: bool,
    dual: Lifted<Y>,
}

/// What is computed with dual numbers.
struct Lifted<Y: System> {
    state: State<Duals>,
    work: Y::Work<Duals>,
    mass: Mass<Duals>,
    rows: Rows<Duals>,
    base: Vec<Duals>,
    increment: Vec<Duals>,
    force: Vec<Duals>,
    product: Vec<Duals>,
    residual: Vec<Duals>,
    rate: Vec<Duals>,
    multipliers: Vec<Duals>,
    acceleration: Vec<Duals>,
}

/// Which columns are moved together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The velocities of each direction.
    pub directions: Vec<Vec<usize>>,
    /// The direction of each velocity.
    pub direction_of: Vec<usize>,
}

impl Compression {
    /// Every velocity by itself.
    pub fn none(velocities: usize) -> Self {
        Self { directions: (0..velocities).map(|i| vec![i]).collect(), direction_of: (0..velocities).collect() }
    }

    /// A greedy colouring: groups on which one force group or one constraint row depends get different colours.
    pub fn of(coupling: &Coupling, rows: &[Block]) -> Self {
        let groups = &coupling.groups;
        let size = groups.iter().map(|g| g.end).max().unwrap_or(0);
        let mut sets = coupling.neighbours.clone();
        // A row depends on the groups of all its blocks.
        let mut touched = vec![Vec::new(); rows.iter().map(|b| b.row + b.rows).max().unwrap_or(0)];
        for b in rows {
            let met = |g: &usize| groups[*g].start < b.col + b.cols && b.col < groups[*g].end;
            let met: Vec<usize> = (0..groups.len()).filter(met).collect();
            touched[b.row..b.row + b.rows].iter_mut().for_each(|row| row.extend(&met));
        }
        sets.extend(touched);
        sets.iter_mut().for_each(|set| set.sort_unstable());
        sets.sort_unstable();
        sets.dedup();
        let mut member_of = vec![Vec::new(); groups.len()];
        for (k, set) in sets.iter().enumerate() {
            for &g in set {
                member_of[g].push(k);
            }
        }
        let mut colours = vec![usize::MAX; groups.len()];
        let mut taken: Vec<usize> = Vec::new();
        for g in 0..groups.len() {
            taken.clear();
            taken.extend(member_of[g].iter().flat_map(|&k| &sets[k]).map(|&o| colours[o]).filter(|&c| c != usize::MAX));
            taken.sort_unstable();
            taken.dedup();
            colours[g] = taken.iter().enumerate().find(|&(i, &c)| i != c).map_or(taken.len(), |(i, _)| i);
        }
        let mut directions = Vec::new();
        let mut direction_of = vec![0; size];
        for colour in 0..colours.iter().map(|c| c + 1).max().unwrap_or(0) {
            let first = directions.len();
            for g in (0..groups.len()).filter(|&g| colours[g] == colour) {
                for (k, velocity) in groups[g].clone().enumerate() {
                    if directions.len() == first + k {
                        directions.push(Vec::new());
                    }
                    directions[first + k].push(velocity);
                    direction_of[velocity] = first + k;
                }
            }
        }
        Self { directions, direction_of }
    }
}

impl<Y: System> Tangent<Y> {
    /// Zero matrices of the system's structure, compressed by its coupling.
    pub fn new(y: &Y) -> Self {
        Self::with_compression(y, Compression::of(&y.coupling(), &y.row_blocks()))
    }

    /// The same with a given compression (for instance none, to check the coupling).
    pub fn with_compression(y: &Y, compression: Compression) -> Self {
        let shape = y.shape();
        let coupling = y.coupling();
        let mut blocks = Vec::new();
        for (rows, neighbours) in coupling.groups.iter().zip(&coupling.neighbours) {
            for cols in neighbours.iter().map(|&n| &coupling.groups[n]) {
                blocks.push(Block { row: rows.start, rows: rows.len(), col: cols.start, cols: cols.len() });
            }
        }
        let zero = Duals::default();
        Self {
            stiffness: Rows::new(shape.v, shape.v, &blocks),
            damping: Rows::new(shape.v, shape.v, &blocks),
            rows_by_position: Rows::new(shape.rows(), shape.v, &y.row_blocks()),
            force_by_state: vec![0.0; shape.v * shape.x],
            rate_by_position: vec![0.0; shape.x * shape.v],
            rate_by_velocity: vec![0.0; shape.x * shape.v],
            rate_by_state: vec![0.0; shape.x * shape.x],
            compression,
            constant_mass: y.mass_is_constant(),
            dual: Lifted {
                state: State::zeros(shape),
                work: y.work(),
                mass: Mass::new(&y.mass_blocks()),
                rows: Rows::new(shape.rows(), shape.v, &y.row_blocks()),
                base: vec![zero; shape.q],
                increment: vec![zero; shape.v],
                force: vec![zero; shape.v],
                product: vec![zero; shape.v],
                residual: vec![zero; shape.rows()],
                rate: vec![zero; shape.x],
                multipliers: vec![zero; shape.rows()],
                acceleration: vec![zero; shape.v],
            },
        }
    }

    /// K, by blocks of groups.
    pub fn stiffness(&self) -> &Rows<f64> {
        &self.stiffness
    }
    /// D, by blocks of groups.
    pub fn damping(&self) -> &Rows<f64> {
        &self.damping
    }
    /// C, by the blocks of the constraint Jacobian.
    pub fn rows_by_position(&self) -> &Rows<f64> {
        &self.rows_by_position
    }
    /// ∂f/∂x by rows, velocities × extra states.
    pub fn force_by_state(&self) -> &[f64] {
        &self.force_by_state
    }
    /// ∂r/∂δ by rows, extra states × velocities.
    pub fn rate_by_position(&self) -> &[f64] {
        &self.rate_by_position
    }
    /// ∂r/∂v by rows, extra states × velocities.
    pub fn rate_by_velocity(&self) -> &[f64] {
        &self.rate_by_velocity
    }
    /// ∂r/∂x by rows.
    pub fn rate_by_state(&self) -> &[f64] {
        &self.rate_by_state
    }
    /// Which columns are moved together.
    pub fn compression(&self) -> &Compression {
        &self.compression
    }

    /// Computes all matrices at a state with given multipliers (of all rows) and accelerations.
    pub fn evaluate(&mut self, y: &Y, s: &State<f64>, multipliers: &[f64], acceleration: &[f64]) {
        let d = &mut self.dual;
        d.state.lift(s);
        d.base.copy_from_slice(&d.state.q);
        for (to, &from) in d.multipliers.iter_mut().zip(multipliers) {
            *to = from.into();
        }
        for (to, &from) in d.acceleration.iter_mut().zip(acceleration) {
            *to = from.into();
        }
        self.by_position(y);
        self.by_velocity(y);
        if !s.x.is_empty() {
            self.rates(y);
            self.by_state(y);
        }
    }

    /// K and C.
    fn by_position(&mut self, y: &Y) {
        let d = &mut self.dual;
        for (pass, moved) in self.compression.directions.chunks(WIDTH).enumerate() {
            for (lane, velocities) in moved.iter().enumerate() {
                velocities.iter().for_each(|&v| d.increment[v].eps[lane] = 1.0);
            }
            y.retract(&d.base, &d.increment, &mut d.state.q);
            y.prepare(&d.state, &mut d.work);
            y.force(&d.state, &mut d.work, &mut d.force);
            if !d.residual.is_empty() {
                y.jacobian(&d.state, &mut d.work, &mut d.rows);
                y.friction(&d.state, &d.multipliers, &mut d.work, &mut d.force);
                d.rows.add_transpose(-1.0, &d.multipliers, &mut d.force);
                y.constraint_rate(&d.state, &mut d.work, &mut d.residual);
            }
            if !self.constant_mass {
                y.mass(&d.state, &mut d.work, &mut d.mass);
                d.mass.apply(&d.acceleration, &mut d.product);
                for (f, &p) in d.force.iter_mut().zip(&d.product) {
                    *f -= p;
                }
            }
            scatter(&mut self.stiffness, &d.force, &self.compression.direction_of, pass);
            scatter(&mut self.rows_by_position, &d.residual, &self.compression.direction_of, pass);
            moved.iter().flatten().for_each(|&v| d.increment[v] = Duals::default());
        }
        d.state.q.copy_from_slice(&d.base);
    }

    /// D.
    fn by_velocity(&mut self, y: &Y) {
        let d = &mut self.dual;
        for (pass, moved) in self.compression.directions.chunks(WIDTH).enumerate() {
            for (lane, velocities) in moved.iter().enumerate() {
                velocities.iter().for_each(|&v| d.state.v[v].eps[lane] = 1.0);
            }
            y.prepare(&d.state, &mut d.work);
            y.force(&d.state, &mut d.work, &mut d.force);
            y.friction(&d.state, &d.multipliers, &mut d.work, &mut d.force);
            scatter(&mut self.damping, &d.force, &self.compression.direction_of, pass);
            moved.iter().flatten().for_each(|&v| d.state.v[v].eps = [0.0; WIDTH]);
        }
    }

    /// ∂r/∂δ and ∂r/∂v, velocity by velocity.
    fn rates(&mut self, y: &Y) {
        let d = &mut self.dual;
        let n = d.increment.len();
        for first in (0..n).step_by(WIDTH) {
            let lanes = first..n.min(first + WIDTH);
            lanes.clone().for_each(|v| d.increment[v].eps[v - first] = 1.0);
            y.retract(&d.base, &d.increment, &mut d.state.q);
            y.prepare(&d.state, &mut d.work);
            y.rate(&d.state, &mut d.work, &mut d.rate);
            spread(&mut self.rate_by_position, &d.rate, n, first);
            lanes.for_each(|v| d.increment[v] = Duals::default());
        }
        d.state.q.copy_from_slice(&d.base);
        for first in (0..n).step_by(WIDTH) {
            let lanes = first..n.min(first + WIDTH);
            lanes.clone().for_each(|v| d.state.v[v].eps[v - first] = 1.0);
            y.prepare(&d.state, &mut d.work);
            y.rate(&d.state, &mut d.work, &mut d.rate);
            spread(&mut self.rate_by_velocity, &d.rate, n, first);
            lanes.for_each(|v| d.state.v[v].eps = [0.0; WIDTH]);
        }
    }

    /// ∂f/∂x and ∂r/∂x, state by state.
    fn by_state(&mut self, y: &Y) {
        let d = &mut self.dual;
        let n = d.rate.len();
        for first in (0..n).step_by(WIDTH) {
            let lanes = first..n.min(first + WIDTH);
            lanes.clone().for_each(|x| d.state.x[x].eps[x - first] = 1.0);
            y.prepare(&d.state, &mut d.work);
            y.force(&d.state, &mut d.work, &mut d.force);
            y.rate(&d.state, &mut d.work, &mut d.rate);
            spread(&mut self.force_by_state, &d.force, n, first);
            spread(&mut self.rate_by_state, &d.rate, n, first);
            lanes.for_each(|x| d.state.x[x].eps = [0.0; WIDTH]);
        }
    }
}

/// Hands the derivatives of one pass to the entries whose columns were moved in it.
fn scatter(out: &mut Rows<f64>, values: &[Duals], direction_of: &[usize], pass: usize) {
    for i in 0..out.blocks().len() {
        let b = out.blocks()[i];
        let block = out.block_mut(i);
        for k in 0..b.cols {
            let direction = direction_of[b.col + k];
            if direction / WIDTH == pass {
                for r in 0..b.rows {
                    block[r * b.cols + k] = values[b.row + r].eps[direction % WIDTH];
                }
            }
        }
    }
}

/// The same for uncompressed columns `first..first + WIDTH` of a dense matrix with `cols` columns.
fn spread(out: &mut [f64], values: &[Duals], cols: usize, first: usize) {
    for (row, value) in out.chunks_exact_mut(cols).zip(values) {
        let lanes = cols.min(first + WIDTH) - first;
        row[first..first + lanes].copy_from_slice(&value.eps[..lanes]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain in which each group depends on its two neighbours needs three colours at any length.
    #[test]
    fn a_chain_needs_three_colours() {
        for n in [3, 10, 100] {
            let coupling = Coupling {
                groups: (0..n).map(|i| 6 * i..6 * i + 6).collect(),
                neighbours: (0..n).map(|i: usize| (i.saturating_sub(1)..n.min(i + 2)).collect()).collect(),
            };
            let compression = Compression::of(&coupling, &[]);
            assert_eq!(compression.directions.len(), 18);
            for (direction, velocities) in compression.directions.iter().enumerate() {
                assert!(velocities.iter().all(|&v| compression.direction_of[v] == direction));
            }
        }
    }

    /// A row over two groups that do not act on each other keeps their columns apart.
    #[test]
    fn constraint_rows_separate_colours() {
        let coupling = Coupling { groups: vec![0..2, 2..5], neighbours: vec![vec![0], vec![1]] };
        assert_eq!(Compression::of(&coupling, &[]).directions, [vec![0, 2], vec![1, 3], vec![4]]);
        let row = [Block { row: 0, rows: 1, col: 0, cols: 2 }, Block { row: 0, rows: 1, col: 2, cols: 3 }];
        assert_eq!(Compression::of(&coupling, &row), Compression::none(5));
    }
}
