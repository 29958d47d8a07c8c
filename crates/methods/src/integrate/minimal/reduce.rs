//! From independent coordinates and velocities to all of them: the explicit form of the constraints.
//!
//! With the rows split into dependent velocities d and independent ones i, G = [G_d G_i],
//!
//! ```text
//! v = N z + n,       N = [1; −G_d⁻¹ G_i],   n = [0; −G_d⁻¹ g_t]
//! v̇ = N ż + γ,       γ = [0; −G_d⁻¹ bias]
//! NᵀM N ż = Nᵀ(f − M γ)                          Schiehlen (17), (18)
//! G_dᵀ λ = (f − M v̇)_d                           the forces of the constraints
//! ```
//!
//! The dependent ones are the columns of the largest pivots, rows scaled by the largest length they have had and columns by the roots of the
//! masses, so that pivots are pure numbers of at most about one; those of holonomic rows come first, because they fix coordinates as well.

use crate::algebra::{Lu, Mass, Rows};
use crate::dynamics::{Rates, finite};
use crate::integrate::{Counts, IntegrateError};
use crate::system::{Shape, State, System};

/// Rows whose pivot is at or below this at the start, relative to the largest, are redundant.
const REDUNDANT: f64 = 1e-8;
/// Pivot at or below which the constraints have lost their rank for a moment.
const SINGULAR: f64 = 1e-10;
/// Increments of dependent coordinates below this, relative to the magnitudes, end Newton's method.
const CLOSED: f64 = 1e-13;
/// Increments that no longer shrink are rounding below this.
const STALLED: f64 = 1e-11;
/// Most iterations for dependent coordinates.
const ITERATIONS: u32 = 40;

/// The explicit form of the constraints, with its scratch.
pub(super) struct Reduction<Y: System> {
    work: Y::Work<f64>,
    shape: Shape,
    mass: Mass<f64>,
    rows: Rows<f64>,
    /// The Jacobian by rows, and a copy that elimination works on.
    jacobian: Vec<f64>,
    matrix: Vec<f64>,
    /// The independent rows and the dependent velocity of each; those of holonomic rows come first.
    kept: Vec<usize>,
    dependent: Vec<usize>,
    /// The numbers of independent rows, holonomic and in all; found at the start.
    rank: Option<[usize; 2]>,
    /// The free coordinates and the free velocities.
    pub coordinates: Vec<usize>,
    pub velocities: Vec<usize>,
    position: Lu<f64>,
    velocity: Lu<f64>,
    transposed: Lu<f64>,
    right: Vec<f64>,
    residual: Vec<f64>,
    size: Vec<f64>,
    /// The largest length each row has had at the beginning of a step, and the roots of the masses.
    lengths: Vec<f64>,
    weights: Vec<f64>,
    /// The smallest pivot of the dependent velocities, as last found.
    pivot: f64,
    taken: Vec<bool>,
    used: Vec<bool>,
    /// N by columns, M N by columns, γ and the force without M γ.
    basis: Vec<f64>,
    image: Vec<f64>,
    particular: Vec<f64>,
    force: Vec<f64>,
    reduced: Vec<f64>,
    factor: Vec<f64>,
    counts: Counts,
}

impl<Y: System> Reduction<Y> {
    /// Scratch for a system; nothing is chosen yet.
    pub fn new(y: &Y) -> Self {
        let shape = y.shape();
        let (n, m) = (shape.v, shape.rows());
        let zeros = |n| vec![0.0; n];
        Self {
            work: y.work(),
            shape,
            mass: Mass::new(&y.mass_blocks()),
            rows: Rows::new(m, n, &y.row_blocks()),
            jacobian: zeros(m * n),
            matrix: zeros(m * n),
            kept: Vec::with_capacity(m),
            dependent: Vec::with_capacity(m),
            rank: None,
            coordinates: Vec::with_capacity(n),
            velocities: Vec::with_capacity(n),
            position: Lu::new(0),
            velocity: Lu::new(0),
            transposed: Lu::new(0),
            right: zeros(m.max(n)),
            residual: zeros(m),
            size: zeros(n),
            lengths: zeros(m),
            weights: zeros(n),
            pivot: f64::INFINITY,
            taken: vec![false; n],
            used: vec![false; m],
            basis: zeros(n * n),
            image: zeros(n * n),
            particular: zeros(n),
            force: zeros(n),
            reduced: zeros(n * n),
            factor: zeros(n * n),
            counts: Counts::default(),
        }
    }

    /// The work done.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The smallest pivot of the last [`Reduction::quicken`]; near zero where the constraints lose their rank.
    pub fn pivot(&self) -> f64 {
        self.pivot
    }

    /// What was found so far: the numbers of independent rows, holonomic and in all, then the lengths of rows.
    pub fn memory(&self, out: &mut Vec<f64>) {
        out.extend(self.rank.unwrap_or_default().map(|rows| rows as f64));
        out.extend(&self.lengths);
    }

    /// Takes it over.
    pub fn recall(&mut self, memory: &[f64]) {
        if let &[holonomic, all, ref lengths @ ..] = memory {
            self.set_rank([holonomic, all].map(|rows| rows as usize));
            self.lengths.copy_from_slice(lengths);
        }
    }

    fn set_rank(&mut self, [holonomic, all]: [usize; 2]) {
        self.rank = Some([holonomic, all]);
        (self.position, self.velocity, self.transposed) = (Lu::new(holonomic), Lu::new(all), Lu::new(all));
    }

    fn update_jacobian(&mut self, y: &Y, s: &State<f64>) {
        if self.shape.rows() > 0 {
            y.jacobian(s, &mut self.work, &mut self.rows);
            self.rows.to_dense(&mut self.jacobian);
        }
    }

    /// Chooses the dependent velocities at a state.
    pub fn choose(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        let (n, m, g) = (self.shape.v, self.shape.rows(), self.shape.g);
        y.prepare(s, &mut self.work);
        y.mass(s, &mut self.work, &mut self.mass);
        self.update_jacobian(y, s);
        let weights = &mut self.weights;
        self.mass.entries(|row, col, value| {
            if row == col {
                weights[row] = value.abs().sqrt().max(f64::MIN_POSITIVE);
            }
        });
        for row in 0..m {
            let (from, to) = (&self.jacobian[row * n..(row + 1) * n], &mut self.matrix[row * n..(row + 1) * n]);
            let mut length = 0.0;
            for ((to, from), weight) in to.iter_mut().zip(from).zip(&self.weights) {
                *to = from / weight;
                length += *to * *to;
            }
            self.lengths[row] = self.lengths[row].max(f64::sqrt(length));
            let scale = if self.lengths[row] > 0.0 { self.lengths[row].recip() } else { 0.0 };
            to.iter_mut().for_each(|x| *x *= scale);
        }
        self.taken.fill(false);
        self.used.fill(false);
        self.kept.clear();
        self.dependent.clear();
        let holonomic = self.eliminate(y, s, 0..g, self.rank.map(|r| r[0]))?;
        let all = self.eliminate(y, s, g..m, self.rank.map(|r| r[1]))?;
        self.coordinates.clear();
        self.velocities.clear();
        let fixed = &self.dependent[..holonomic];
        self.coordinates.extend((0..n).filter(|k| !fixed.contains(k)));
        self.velocities.extend((0..n).filter(|&k| !self.taken[k]));
        if self.rank.is_none() {
            self.set_rank([holonomic, all]);
        }
        Ok(())
    }

    /// Eliminates with the largest pivots of the rows given, until there are `wanted` or, if that is not known, none are left. Returns how many
    /// there are in all.
    fn eliminate(
        &mut self,
        y: &Y,
        s: &State<f64>,
        rows: std::ops::Range<usize>,
        wanted: Option<usize>,
    ) -> Result<usize, IntegrateError> {
        let (n, m) = (self.shape.v, self.shape.rows());
        while self.kept.len() < wanted.unwrap_or(usize::MAX) {
            let (mut best, mut row, mut col) = (0.0, usize::MAX, 0);
            for r in rows.clone().filter(|&r| !self.used[r]) {
                for c in (0..n).filter(|&c| !self.taken[c]) {
                    let size = self.matrix[r * n + c].abs();
                    if size > best || size.is_nan() {
                        (best, row, col) = (size, r, c);
                    }
                }
            }
            let least = if wanted.is_some() { SINGULAR } else { REDUNDANT };
            if row == usize::MAX || best <= least {
                let Some(wanted) = wanted else { break };
                let missing = rows.clone().find(|&r| !self.used[r]).unwrap_or(0);
                return Err(IntegrateError::NotConverged {
                    t: s.t,
                    h: 0.0,
                    what: "the choice of independent coordinates, where constraints become dependent,",
                    residual: (wanted - self.kept.len()) as f64,
                    worst: y.row_name(missing),
                });
            }
            if best.is_nan() {
                return Err(IntegrateError::NotFinite { t: s.t, what: format!("`{}`", y.row_name(row)) });
            }
            (self.used[row], self.taken[col]) = (true, true);
            self.kept.push(row);
            self.dependent.push(col);
            for r in (0..m).filter(|&r| !self.used[r]) {
                let factor = self.matrix[r * n + col] / self.matrix[row * n + col];
                if factor != 0.0 {
                    for c in 0..n {
                        self.matrix[r * n + c] -= factor * self.matrix[row * n + c];
                    }
                }
            }
        }
        Ok(self.kept.len())
    }

    /// The first `k` kept rows over their dependent velocities.
    fn square(jacobian: &[f64], n: usize, kept: &[usize], dependent: &[usize], turned: bool, lu: &mut Lu<f64>) {
        let (k, values) = (kept.len(), lu.values_mut());
        for (i, &row) in kept.iter().enumerate() {
            for (j, &col) in dependent.iter().enumerate() {
                values[if turned { j * k + i } else { i * k + j }] = jacobian[row * n + col];
            }
        }
    }

    fn singular(&self, y: &Y, s: &State<f64>, column: usize) -> IntegrateError {
        let worst = y.row_name(self.kept.get(column).copied().unwrap_or(0));
        let what = "the explicit form of the constraints";
        IntegrateError::NotConverged { t: s.t, h: 0.0, what, residual: f64::INFINITY, worst }
    }

    /// Moves the dependent part of the increment `delta` until base ⊕ δ meets the holonomic constraints; `s` is the result.
    pub fn close(&mut self, y: &Y, base: &[f64], delta: &mut [f64], s: &mut State<f64>) -> Result<(), IntegrateError> {
        let holonomic = self.position.size();
        y.retract(base, delta, &mut s.q);
        if holonomic == 0 {
            return Ok(());
        }
        y.magnitude(&s.q, &mut self.size);
        let floor = 1e-3 * self.size.iter().fold(0.0f64, |max, x| max.max(*x));
        let floor = if floor > 0.0 { floor } else { 1.0 };
        let mut last = f64::INFINITY;
        for _ in 0..ITERATIONS {
            y.prepare(s, &mut self.work);
            y.constraint(s, &mut self.work, &mut self.residual);
            self.update_jacobian(y, s);
            let (kept, dependent) = (&self.kept[..holonomic], &self.dependent[..holonomic]);
            Self::square(&self.jacobian, self.shape.v, kept, dependent, false, &mut self.position);
            self.counts.factorisations += 1;
            self.counts.projections += 1;
            self.position.factor().map_err(|e| self.singular(y, s, e.column))?;
            for (right, &row) in self.right.iter_mut().zip(&self.kept[..holonomic]) {
                *right = self.residual[row];
            }
            self.position.solve(&mut self.right[..holonomic]);
            let mut norm = 0.0f64;
            for (&x, &k) in self.right.iter().zip(&self.dependent[..holonomic]) {
                delta[k] -= x;
                norm = if x.is_nan() { f64::NAN } else { norm.max(x.abs() / (self.size[k] + floor)) };
            }
            if !norm.is_finite() {
                break;
            }
            y.retract(base, delta, &mut s.q);
            if norm <= CLOSED || (norm > 0.5 * last && norm <= STALLED) {
                return Ok(());
            }
            last = norm;
        }
        let worst = self.kept[..holonomic].iter().copied();
        let worst = worst.max_by(|&i, &j| self.residual[i].abs().total_cmp(&self.residual[j].abs()));
        let what = "the iteration for dependent coordinates";
        let worst = worst.map_or_else(String::new, |row| y.row_name(row));
        Err(IntegrateError::NotConverged { t: s.t, h: 0.0, what, residual: last / CLOSED, worst })
    }

    /// Finds the dependent velocities of a state on the constraints whose free velocities are set.
    pub fn quicken(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        let all = self.velocity.size();
        if all == 0 {
            return Ok(());
        }
        self.dependent.iter().for_each(|&k| s.v[k] = 0.0);
        y.prepare(s, &mut self.work);
        self.update_jacobian(y, s);
        y.constraint_rate(s, &mut self.work, &mut self.residual);
        Self::square(&self.jacobian, self.shape.v, &self.kept, &self.dependent, false, &mut self.velocity);
        let values = self.velocity.values_mut().iter_mut();
        let scales = self.kept.iter().flat_map(|&row| self.dependent.iter().map(move |&k| (row, k)));
        for (value, (row, k)) in values.zip(scales) {
            *value /= self.lengths[row] * self.weights[k];
        }
        self.counts.factorisations += 1;
        self.pivot = 0.0;
        self.velocity.factor().map_err(|e| self.singular(y, s, e.column))?;
        self.pivot = self.velocity.smallest_pivot();
        for (right, &row) in self.right.iter_mut().zip(&self.kept) {
            *right = -self.residual[row];
        }
        self.solve_velocity();
        for (&x, &k) in self.right.iter().zip(&self.dependent) {
            s.v[k] = x;
        }
        Ok(())
    }

    /// Accelerations, rates and multipliers of a state that meets the constraints, after [`Reduction::quicken`].
    pub fn evaluate(&mut self, y: &Y, s: &State<f64>, out: &mut Rates) -> Result<(), IntegrateError> {
        let (n, all, free) = (self.shape.v, self.velocity.size(), self.velocities.len());
        y.prepare(s, &mut self.work);
        y.mass(s, &mut self.work, &mut self.mass);
        y.force(s, &mut self.work, &mut self.force);
        self.counts.forces += 1;
        finite(y, s, &self.force, "the force on")?;
        if all == 0 {
            self.mass
                .factor_checked()
                .map_err(|e| IntegrateError::SingularMass { t: s.t, velocity: y.velocity_name(e.velocity) })?;
            out.v.copy_from_slice(&self.force);
            self.mass.solve(&mut out.v);
        } else {
            y.constraint_bias(s, &mut self.work, &mut self.residual);
            self.particular.fill(0.0);
            self.respond(None);
            for j in 0..free {
                self.basis[j * n..(j + 1) * n].fill(0.0);
                self.basis[j * n + self.velocities[j]] = 1.0;
                self.respond(Some(j));
            }
            self.reduce(y, s, &mut out.v)?;
            self.reactions(y, s, out)?;
        }
        finite(y, s, &out.v, "the acceleration of")?;
        y.rate(s, &mut self.work, &mut out.x);
        y.integrand(s, &out.multipliers, &mut self.work, &mut out.z);
        Ok(())
    }

    /// right ← G_d⁻¹ right, by the factors of the scaled matrix.
    fn solve_velocity(&mut self) {
        let all = self.velocity.size();
        for (right, &row) in self.right.iter_mut().zip(&self.kept) {
            *right /= self.lengths[row];
        }
        self.velocity.solve(&mut self.right[..all]);
        for (right, &k) in self.right.iter_mut().zip(&self.dependent) {
            *right /= self.weights[k];
        }
    }

    /// The dependent part of γ, or of column `j` of N.
    fn respond(&mut self, j: Option<usize>) {
        let n = self.shape.v;
        for (right, &row) in self.right.iter_mut().zip(&self.kept) {
            *right = j.map_or_else(|| -self.residual[row], |j| -self.jacobian[row * n + self.velocities[j]]);
        }
        self.solve_velocity();
        self.counts.solves += 1;
        let out = j.map_or(&mut self.particular[..], |j| &mut self.basis[j * n..(j + 1) * n]);
        for (&x, &k) in self.right.iter().zip(&self.dependent) {
            out[k] = x;
        }
    }

    /// NᵀM N ż = Nᵀ(f − M γ), and v̇ = N ż + γ.
    fn reduce(&mut self, y: &Y, s: &State<f64>, out: &mut [f64]) -> Result<(), IntegrateError> {
        let (n, free) = (self.shape.v, self.velocities.len());
        self.mass.apply(&self.particular, &mut self.right[..n]);
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
        for (right, force) in self.right.iter_mut().zip(&self.force) {
            *right = force - *right;
        }
        for j in 0..free {
            let column = j * n..(j + 1) * n;
            self.mass.apply(&self.basis[column.clone()], &mut self.image[column.clone()]);
            for i in 0..=j {
                let value = product(&self.basis[i * n..(i + 1) * n], &self.image[column.clone()]);
                (self.reduced[j * free + i], self.reduced[i * free + j]) = (value, value);
            }
            out[j] = product(&self.basis[column], &self.right[..n]);
        }
        crate::algebra::cholesky(free, &self.reduced[..free * free], &mut self.factor[..free * free]);
        for i in 0..free {
            if !(self.factor[i * free + i] > 0.0 && self.factor[i * free + i].is_finite()) {
                return Err(IntegrateError::SingularMass { t: s.t, velocity: y.velocity_name(self.velocities[i]) });
            }
            let sum = (0..i).fold(out[i], |sum, k| sum - self.factor[i * free + k] * out[k]);
            out[i] = sum * self.factor[i * free + i];
        }
        for i in (0..free).rev() {
            let sum = (i + 1..free).fold(out[i], |sum, k| sum - self.factor[k * free + i] * out[k]);
            out[i] = sum * self.factor[i * free + i];
        }
        self.right[..free].copy_from_slice(&out[..free]);
        out.copy_from_slice(&self.particular);
        for j in 0..free {
            let rate = self.right[j];
            for (out, basis) in out.iter_mut().zip(&self.basis[j * n..(j + 1) * n]) {
                *out += rate * basis;
            }
        }
        Ok(())
    }

    /// G_dᵀ λ = (f − M v̇)_d; redundant rows carry nothing.
    fn reactions(&mut self, y: &Y, s: &State<f64>, out: &mut Rates) -> Result<(), IntegrateError> {
        let (n, all) = (self.shape.v, self.velocity.size());
        Self::square(&self.jacobian, n, &self.kept, &self.dependent, true, &mut self.transposed);
        self.transposed.factor().map_err(|e| self.singular(y, s, e.column))?;
        self.mass.apply(&out.v, &mut self.particular);
        for (right, &k) in self.right.iter_mut().zip(&self.dependent) {
            *right = self.force[k] - self.particular[k];
        }
        self.transposed.solve(&mut self.right[..all]);
        out.multipliers.fill(0.0);
        for (&x, &row) in self.right.iter().zip(&self.kept) {
            out.multipliers[row] = x;
        }
        Ok(())
    }
}
