//! Constraint solves: accelerations and multipliers from masses, constraint rows and forces.
//!
//! ```text
//! [M Gᵀ] [a]   [f]          S λ = G M⁻¹ f − c,   S = G M⁻¹ Gᵀ
//! [G 0 ] [λ] = [c]          a = M⁻¹ (f − Gᵀ λ)
//! ```
//!
//! S is assembled block by block from the pairs of rows that share a mass, scaled to a unit diagonal (rows may have
//! different units), and factored by a block Cholesky that finds the rank. Its structure is chosen once: groups of
//! rows in a fill-reducing order, or one pivoted full matrix if that is hardly more work. Chains and trees of bodies cost
//! O(rows). Where one body meets all others S is full and costs rows³/6.
//!
//! **Rank.** The pivot of a row is sin² of the angle, in the metric of M, between it and the span of the rows kept before it.
//! Rounding in S puts a pivot that should be zero at about ε (1 + ‖w‖²), where w are the coefficients of the combination:
//! 1e-15 as a rule, 1e-11 for coefficients of some hundred. A row is therefore *dependent* if its pivot is at most
//! [`DEPENDENT`] = 1e-10 (an angle of 1e-5). Kept rows are solved to rounding nevertheless: refinement on the
//! residual G a − c contracts by ε / 1e-10. A row that was dependent before stays so until its pivot exceeds [`RETURN`] = 1e-6:
//! constraints that are redundant where they hold (a Bricard mechanism) seem independent, by an angle equal to
//! the error, at trial states slightly off the constraints, and to obey them there would stop the mechanism.
//!
//! **Multipliers.** With dependent rows λ is not unique, a is. Of all multipliers those with the smallest Σλ² are
//! returned: they do not depend on which rows were called dependent. (The correction is a conjugate gradient iteration in the space
//! of the dependent rows, at most [`SPREAD`] steps; every iterate is a valid set of multipliers.)

use super::cholesky::{BlockCholesky, Slot, estimate};
use super::{Block, Mass, MassBlock, Rows};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// Pivot (squared sine) at or below which a row counts as dependent on others.
pub const DEPENDENT: f64 = 1e-10;
/// Pivot above which a row that was dependent counts as independent again.
pub const RETURN: f64 = 1e-6;
/// Unmet part of a dependent row, relative to the size of the accelerations, above which the rows contradict each other.
pub const CONSISTENT: f64 = 1e-6;
/// Most steps of the iteration for the smallest multipliers.
pub const SPREAD: usize = 40;
/// Most refinements of a solution.
const REFINEMENTS: usize = 4;
/// Residual of kept rows in units of rounding below which nothing is refined.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// Why a constraint solve failed.
#[derive(Clone, Debug, PartialEq)]
pub enum SaddleError {
    /// A row depends on others but asks for something else.
    Contradictory {
        /// The row that cannot be met.
        row: usize,
        /// What is left unmet, in the unit of the right-hand side.
        residual: f64,
        /// The independent rows that combine to it.
        depends_on: Vec<usize>,
    },
    /// A row has a residual that is not a finite number.
    NotFinite {
        /// The row.
        row: usize,
    },
}

impl fmt::Display for SaddleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contradictory { row, residual, depends_on } => {
                write!(f, "row {row} contradicts the rows {depends_on:?} it depends on (unmet by {residual:.3e})")
            }
            Self::NotFinite { row } => write!(f, "row {row} has a value that is not a finite number"),
        }
    }
}

impl std::error::Error for SaddleError {}

/// The part of a block of rows that lies over one mass block and in one group of rows.
#[derive(Copy, Clone, Debug)]
struct Piece {
    /// The block of `Rows`, and its first row and column used here.
    block: usize,
    block_row: usize,
    block_col: usize,
    /// First row, number of rows.
    row: usize,
    rows: usize,
    /// First velocity, number of velocities.
    col: usize,
    cols: usize,
    /// The mass block, its first velocity.
    mass: usize,
    mass_col: usize,
    dense: bool,
    /// Where W = M⁻¹ Gᵀ is stored (by rows of G), the first velocity of it, and how many there are.
    start: usize,
    wide_col: usize,
    wide: usize,
}

/// A product G_p M⁻¹ G_qᵀ that goes into S.
#[derive(Copy, Clone, Debug)]
struct Product {
    p: usize,
    q: usize,
    slot: Slot,
}

/// The factors of the constraint solve, its structure and scratch. Nothing is allocated after construction unless a solve fails.
#[derive(Clone, Debug)]
pub struct Saddle {
    pieces: Vec<Piece>,
    products: Vec<Product>,
    /// M⁻¹ Gᵀ by pieces.
    w: Vec<f64>,
    cholesky: BlockCholesky,
    active: usize,
    diagonal: Vec<f64>,
    scale: Vec<f64>,
    pivot: Vec<f64>,
    threshold: Vec<f64>,
    free: Vec<bool>,
    held: Vec<bool>,
    dependent: Vec<usize>,
    momentum: Vec<f64>,
    a: Vec<f64>,
    lambda: Vec<f64>,
    residual: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
}

impl Saddle {
    /// Chooses the structure for a mass matrix and constraint rows; their values are not read.
    pub fn new(mass: &Mass<f64>, rows: &Rows<f64>) -> Self {
        let m = rows.rows();
        let cuts = row_cuts(rows);
        let (mut pieces, group_of) = cut_pieces(mass, rows, &cuts);
        let touches = meeting_pieces(mass.size(), &pieces);
        let mut sizes: Vec<usize> = cuts.windows(2).map(|c| c[1] - c[0]).collect();
        let mut neighbours = vec![BTreeSet::new(); sizes.len()];
        for &(p, q) in &touches {
            neighbours[group_of[p]].insert(group_of[q]);
            neighbours[group_of[q]].insert(group_of[p]);
        }
        // One full pivoted matrix where it is hardly more work: it is simpler and its pivots are the best ones.
        let full = (m as u64).pow(3) / 6 + m as u64;
        let merged = full <= 2 * estimate(&sizes, &neighbours) + 100;
        if merged && m > 0 {
            sizes = vec![m];
            neighbours = vec![BTreeSet::new()];
        }
        let cholesky = BlockCholesky::new(&sizes, &neighbours);
        let mut products = Vec::new();
        for &(p, q) in &touches {
            let (rp, rq) = (pieces[p].row, pieces[q].row);
            for (p, q, wanted) in [(p, q, rp >= rq || !merged), (q, p, p != q && (rq >= rp || !merged))] {
                let (group_p, group_q) = if merged { (0, 0) } else { (group_of[p], group_of[q]) };
                let (base_p, base_q) = if merged { (0, 0) } else { (cuts[group_p], cuts[group_q]) };
                if !wanted {
                    continue;
                }
                if let Some(slot) = cholesky.slot(group_p, group_q) {
                    let start = slot.start + (pieces[p].row - base_p) * slot.stride + pieces[q].row - base_q;
                    products.push(Product { p, q, slot: Slot { start, stride: slot.stride } });
                }
            }
        }
        let mut total = 0;
        for piece in &mut pieces {
            piece.start = total;
            total += piece.rows * piece.wide;
        }
        let zeros = |n| vec![0.0; n];
        Self {
            pieces,
            products,
            w: zeros(total),
            cholesky,
            active: m,
            diagonal: zeros(m),
            scale: zeros(m),
            pivot: zeros(m),
            threshold: zeros(m),
            free: vec![true; m],
            held: vec![false; m],
            dependent: Vec::with_capacity(m),
            momentum: zeros(mass.size()),
            a: zeros(mass.size()),
            lambda: zeros(m),
            residual: zeros(m),
            gradient: zeros(m),
            direction: zeros(m),
            image: zeros(m),
        }
    }

    /// Factors S = G M⁻¹ Gᵀ; the mass matrix comes factored.
    pub fn factor(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) {
        self.factor_first(mass, rows, rows.rows());
    }

    /// The same with the first `active` rows only; the others are left out as if they were not there.
    pub fn factor_first(&mut self, mass: &Mass<f64>, rows: &Rows<f64>, active: usize) {
        self.active = active;
        self.assemble(mass, rows);
        self.cholesky.diagonal(&mut self.diagonal);
        for i in 0..self.scale.len() {
            let usable = i < active && self.diagonal[i] > f64::MIN_POSITIVE;
            self.scale[i] = if usable { self.diagonal[i].sqrt().recip() } else { 0.0 };
            self.threshold[i] = if self.held[i] { RETURN } else { DEPENDENT };
            self.free[i] = !self.held[i];
        }
        self.cholesky.scale(&self.scale);
        self.cholesky.factor(&self.free, &self.threshold, &mut self.pivot);
        self.dependent.clear();
        for i in 0..active {
            // Not a number counts as dependent; the residual tells.
            self.held[i] = !matches!(self.pivot[i].partial_cmp(&self.threshold[i]), Some(std::cmp::Ordering::Greater));
            if self.held[i] {
                self.dependent.push(i);
            }
        }
    }

    /// The rows found to depend on others by the last factorisation, ascending.
    pub fn dependent(&self) -> &[usize] {
        &self.dependent
    }

    /// Which rows are remembered as dependent. With [`Saddle::hold`] it restores the memory of a run.
    pub fn held(&self) -> &[bool] {
        &self.held
    }

    /// Sets which rows are remembered as dependent.
    pub fn hold(&mut self, held: &[bool]) {
        self.held.copy_from_slice(held);
    }

    /// Forgets which rows were dependent: the next factorisation decides anew.
    pub fn release(&mut self) {
        self.held.fill(false);
    }

    /// The smallest pivot of the kept rows: the squared sine of the angle at which the rows are closest to dependent.
    pub fn smallest_pivot(&self) -> f64 {
        (0..self.active).filter(|&i| !self.held[i]).fold(1.0, |min, i| f64::min(min, self.pivot[i]))
    }

    /// Multiplications of one factorisation, assembly left out.
    pub fn work(&self) -> u64 {
        self.cholesky.work()
    }

    /// Solves for accelerations and multipliers: takes f and c, leaves a and λ.
    ///
    /// Dependent rows must agree with the rows they depend on to [`CONSISTENT`], or to ten times the sine of the angle at which they
    /// were found dependent if that is more.
    pub fn solve(
        &mut self,
        mass: &Mass<f64>,
        rows: &Rows<f64>,
        f: &mut [f64],
        c: &mut [f64],
    ) -> Result<(), SaddleError> {
        let size = self.solve_kept(mass, rows, f, c)?;
        let worst = self.dependent.iter().copied().filter(|&i| {
            let allowed = (10.0 * self.pivot[i].max(0.0).sqrt()).max(CONSISTENT);
            // A row of zeros cannot be met at all.
            self.residual[i] * self.scale[i] > allowed * size
                || self.residual[i] * self.scale[i] < -allowed * size
                || (self.scale[i] == 0.0 && self.residual[i] != 0.0)
        });
        let size_of = |i: usize| self.residual[i].abs() * self.scale[i];
        if let Some(row) = worst.max_by(|&i, &j| size_of(i).total_cmp(&size_of(j))) {
            let residual = self.residual[row];
            return Err(SaddleError::Contradictory { row, residual, depends_on: self.depends_on(mass, rows, row) });
        }
        self.spread(mass, rows);
        c.copy_from_slice(&self.lambda);
        Ok(())
    }

    /// The same at trial states off the constraints, where dependent rows need not agree.
    pub fn solve_trial(
        &mut self,
        mass: &Mass<f64>,
        rows: &Rows<f64>,
        f: &mut [f64],
        c: &mut [f64],
    ) -> Result<(), SaddleError> {
        self.solve_kept(mass, rows, f, c)?;
        self.spread(mass, rows);
        c.copy_from_slice(&self.lambda);
        Ok(())
    }

    /// Solves for the smallest change a (in the metric of M) with G a = c in the kept rows; multipliers are not wanted.
    pub fn correct(
        &mut self,
        mass: &Mass<f64>,
        rows: &Rows<f64>,
        a: &mut [f64],
        c: &mut [f64],
    ) -> Result<(), SaddleError> {
        a.fill(0.0);
        self.solve_kept(mass, rows, a, c).map(|_| ())
    }

    /// Solves with the kept rows, refines, leaves a in `f`, λ in `self.lambda` and G a − c in `self.residual`.
    /// Returns the size of the accelerations in the metric of M.
    fn solve_kept(&mut self, mass: &Mass<f64>, rows: &Rows<f64>, f: &mut [f64], c: &[f64]) -> Result<f64, SaddleError> {
        // By Cauchy and Schwarz |G_i a| scale_i ≤ ‖a‖_M, so ‖a‖_M is the unit in which scaled residuals are measured.
        self.a.copy_from_slice(f);
        mass.solve(&mut self.a);
        let mut square = dot(f, &self.a).max(0.0);
        let asked = (0..self.active).fold(0.0f64, |max, i| max.max((c[i] * self.scale[i]).abs()));
        self.lambda.fill(0.0);
        let mut last = f64::INFINITY;
        for round in 0..=REFINEMENTS {
            self.measure(rows, c);
            if let Some(row) = (0..self.active).find(|&i| !self.residual[i].is_finite()) {
                return Err(SaddleError::NotFinite { row });
            }
            let error = self.kept_error();
            let size = square.sqrt() + asked;
            if error <= ROUNDING * size || error > 0.5 * last || round == REFINEMENTS {
                break;
            }
            last = if round == 0 { f64::INFINITY } else { error };
            // λ ← λ + S⁻¹ r,  a ← M⁻¹ (f − Gᵀ λ)
            for i in 0..self.lambda.len() {
                self.direction[i] = self.residual[i] * self.scale[i];
            }
            self.cholesky.solve(&mut self.direction);
            for i in 0..self.lambda.len() {
                self.lambda[i] += self.direction[i] * self.scale[i];
            }
            self.momentum.copy_from_slice(f);
            rows.add_transpose(-1.0, &self.lambda, &mut self.momentum);
            self.a.copy_from_slice(&self.momentum);
            mass.solve(&mut self.a);
            square = square.max(dot(&self.momentum, &self.a));
        }
        f.copy_from_slice(&self.a);
        Ok(square.sqrt() + asked)
    }

    /// residual = G a − c; rows left out count as met.
    fn measure(&mut self, rows: &Rows<f64>, c: &[f64]) {
        for i in 0..self.residual.len() {
            self.residual[i] = -c[i];
        }
        rows.add_apply(&self.a, &mut self.residual);
        self.residual[self.active..].fill(0.0);
    }

    /// The largest scaled residual of the kept rows.
    fn kept_error(&self) -> f64 {
        (0..self.active)
            .filter(|&i| !self.held[i])
            .fold(0.0, |max, i| f64::max(max, (self.residual[i] * self.scale[i]).abs()))
    }

    /// The independent rows that combine to a dependent one.
    pub fn depends_on(&mut self, mass: &Mass<f64>, rows: &Rows<f64>, row: usize) -> Vec<usize> {
        let mut x = vec![0.0; self.scale.len()];
        x[row] = self.scale[row];
        self.image.copy_from_slice(&x);
        self.combine(mass, rows);
        // Scaled coefficients of a combination of unit rows.
        (0..self.active)
            .filter(|&i| i != row && self.scale[i] > 0.0 && (self.image[i] / self.scale[i]).abs() > 1e-6)
            .collect()
    }

    /// image ← S₁₁⁻¹ S₁ · image: the kept rows that combine to Gᵀ image.
    fn combine(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) {
        self.apply(mass, rows);
        for i in 0..self.image.len() {
            self.image[i] *= self.scale[i];
        }
        self.cholesky.solve(&mut self.image);
        for i in 0..self.image.len() {
            self.image[i] *= self.scale[i];
        }
    }

    /// image ← S · image, through G M⁻¹ Gᵀ.
    fn apply(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) {
        self.a.fill(0.0);
        rows.add_transpose(1.0, &self.image, &mut self.a);
        mass.solve(&mut self.a);
        self.image.fill(0.0);
        rows.add_apply(&self.a, &mut self.image);
    }

    /// Moves λ along the combinations of rows that do nothing, N y with N = (1, −W), to the smallest Σλ².
    ///
    /// Conjugate gradients on (1 + WᵀW) y = −Nᵀ λ, where W = S₁₁⁻¹ S₁d gives the dependent rows by the kept ones.
    fn spread(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) {
        if !self.dependent.iter().any(|&d| self.scale[d] > 0.0) {
            return;
        }
        self.gradient.copy_from_slice(&self.lambda);
        self.null_transpose(mass, rows);
        let mut square = dot(&self.gradient, &self.gradient);
        let goal = 1e-28 * dot(&self.lambda, &self.lambda);
        self.direction.copy_from_slice(&self.gradient);
        for _ in 0..SPREAD.min(self.dependent.len()) {
            if square.is_nan() || square <= goal {
                break;
            }
            // The step N p and its square pᵀNᵀN p.
            self.image.copy_from_slice(&self.direction);
            self.combine(mass, rows);
            for i in 0..self.image.len() {
                self.image[i] = self.direction[i] - self.image[i];
            }
            let length = square / dot(&self.image, &self.image);
            for i in 0..self.image.len() {
                self.lambda[i] -= length * self.image[i];
            }
            self.gradient.copy_from_slice(&self.lambda);
            self.null_transpose(mass, rows);
            let next = dot(&self.gradient, &self.gradient);
            for i in 0..self.direction.len() {
                self.direction[i] = self.gradient[i] + next / square * self.direction[i];
            }
            square = next;
        }
    }

    /// gradient ← Nᵀ gradient, on the dependent rows; zero elsewhere.
    fn null_transpose(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) {
        for i in 0..self.image.len() {
            self.image[i] = self.gradient[i] * self.scale[i];
        }
        self.cholesky.solve(&mut self.image);
        for i in 0..self.image.len() {
            self.image[i] *= self.scale[i];
        }
        self.apply(mass, rows);
        for i in 0..self.gradient.len() {
            let kept = !self.held[i] || i >= self.active || self.scale[i] == 0.0;
            self.gradient[i] = if kept { 0.0 } else { self.gradient[i] - self.image[i] };
        }
    }

    /// For each row the largest |change| / `size` of a velocity needed to remove its residual if it were alone:
    /// a measure of residuals without units. Rows of zeros that are not met give infinity.
    pub fn lone_change(&self, residual: &[f64], size: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for piece in &self.pieces {
            for k in 0..piece.rows {
                let w = &self.w[piece.start + k * piece.wide..piece.start + (k + 1) * piece.wide];
                let out = &mut out[piece.row + k];
                for (w, size) in w.iter().zip(&size[piece.wide_col..]) {
                    *out = out.max(w.abs() / size);
                }
            }
        }
        for i in 0..out.len() {
            out[i] = match residual[i].abs() {
                0.0 => 0.0,
                r if self.diagonal[i] > f64::MIN_POSITIVE => r * out[i] / self.diagonal[i],
                _ => f64::INFINITY,
            };
        }
    }

    fn assemble(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) {
        for piece in &self.pieces {
            let block = rows.block(piece.block);
            let cols = rows.blocks()[piece.block].cols;
            for k in 0..piece.rows {
                let g = &block[(piece.block_row + k) * cols + piece.block_col..][..piece.cols];
                let w = &mut self.w[piece.start + k * piece.wide..piece.start + (k + 1) * piece.wide];
                if piece.dense {
                    w.fill(0.0);
                    w[piece.col - piece.wide_col..][..piece.cols].copy_from_slice(g);
                    mass.solve_block(piece.mass, w);
                } else {
                    let masses = &mass.block(piece.mass)[piece.col - piece.mass_col..][..piece.cols];
                    for ((w, g), mass) in w.iter_mut().zip(g).zip(masses) {
                        *w = g / mass;
                    }
                }
            }
        }
        let values = self.cholesky.clear();
        for product in &self.products {
            let (p, q) = (&self.pieces[product.p], &self.pieces[product.q]);
            let cols = rows.blocks()[p.block].cols;
            let block = rows.block(p.block);
            let (low, high) = (p.col.max(q.wide_col), (p.col + p.cols).min(q.wide_col + q.wide));
            let lower = p.row == q.row;
            for i in 0..p.rows {
                let g = &block[(p.block_row + i) * cols + p.block_col + low - p.col..][..high - low];
                let out = &mut values[product.slot.start + i * product.slot.stride..][..q.rows];
                for (k, out) in out.iter_mut().enumerate().take(if lower { i + 1 } else { q.rows }) {
                    let w = &self.w[q.start + k * q.wide + low - q.wide_col..][..high - low];
                    *out += dot(g, w);
                }
            }
        }
    }
}

/// The rows at which some block begins or ends.
fn row_cuts(rows: &Rows<f64>) -> Vec<usize> {
    let mut cuts: BTreeSet<usize> = [0, rows.rows()].into();
    for block in rows.blocks() {
        cuts.extend([block.row, block.row + block.rows]);
    }
    cuts.into_iter().collect()
}

/// Cuts blocks of rows by groups of rows and by mass blocks; with the group of each piece.
fn cut_pieces(mass: &Mass<f64>, rows: &Rows<f64>, cuts: &[usize]) -> (Vec<Piece>, Vec<usize>) {
    let masses: Vec<(MassBlock, usize)> = mass.blocks().collect();
    let (mut pieces, mut group_of) = (Vec::new(), Vec::new());
    for (index, &Block { row, rows: count, col, cols }) in rows.blocks().iter().enumerate() {
        let first_group = cuts.partition_point(|&cut| cut < row);
        let first_mass = masses.partition_point(|&(shape, start)| start + shape.size() <= col);
        for (group, cut) in cuts.windows(2).enumerate().skip(first_group).take_while(|(_, c)| c[0] < row + count) {
            for (b, &(shape, start)) in masses.iter().enumerate().skip(first_mass) {
                if start >= col + cols {
                    break;
                }
                let (low, high) = (col.max(start), (col + cols).min(start + shape.size()));
                let dense = matches!(shape, MassBlock::Dense(_));
                let (wide_col, wide) = if dense { (start, shape.size()) } else { (low, high - low) };
                pieces.push(Piece {
                    block: index,
                    block_row: cut[0] - row,
                    block_col: low - col,
                    row: cut[0],
                    rows: cut[1] - cut[0],
                    col: low,
                    cols: high - low,
                    mass: b,
                    mass_col: start,
                    dense,
                    start: 0,
                    wide_col,
                    wide,
                });
                group_of.push(group);
            }
        }
    }
    (pieces, group_of)
}

/// The unordered pairs of pieces whose product is not zero by structure.
fn meeting_pieces(size: usize, pieces: &[Piece]) -> Vec<(usize, usize)> {
    let mut over: HashMap<usize, Vec<usize>> = HashMap::with_capacity(size);
    let mut pairs = BTreeSet::new();
    for (p, piece) in pieces.iter().enumerate() {
        for col in piece.wide_col..piece.wide_col + piece.wide {
            let others = over.entry(col).or_default();
            others.push(p);
            pairs.extend(others.iter().map(|&q| (q, p)));
        }
    }
    pairs.into_iter().collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}
