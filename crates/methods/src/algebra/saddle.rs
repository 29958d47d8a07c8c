//! Constraint solves: accelerations and multipliers from masses, constraint rows and forces.
//!
//! ```text
//! [M Gᵀ] [a]   [f]          S λ = G M⁻¹ f − c,   S = G M⁻¹ Gᵀ
//! [G 0 ] [λ] = [c]          a = M⁻¹ (f − Gᵀ λ)
//! ```
//!
//! S is assembled block by block from the pairs of rows that share a mass, scaled to a unit diagonal (rows may have
//! different units), and factored by a block Cholesky that finds the rank.
//!
//! **Structure.** It is chosen once, by counted multiplications ([`Structure`]): groups of rows in a fill-reducing order, or one pivoted
//! full matrix if that is hardly more work. Chains and trees of bodies cost O(rows). Where one body is met by very many rows S is full and
//! would cost rows³/6; then the velocities of such *hubs* stay unknowns in a sparse LDLᵀ, which costs O(rows · hub velocities²).
//! Rank and solution mean the same in either structure.
//!
//! **Rank.** The pivot of a row is sin² of the angle, in the metric of M, between it and the span of the rows kept before it.
//! Rounding in S puts a pivot that should be zero at about ε (1 + ‖w‖²), where w are the coefficients of the combination:
//! 1e-15 as a rule, 1e-11 for coefficients of some hundred. A row is therefore *dependent* if its pivot is at most
//! [`DEPENDENT`] = 1e-10 (an angle of 1e-5). Kept rows are solved to rounding nevertheless: refinement on the
//! residual G a − c contracts by ε / 1e-10. As many rows as were dependent before stay so until their pivots exceed [`RETURN`] = 1e-6:
//! constraints that are redundant where they hold (a Bricard mechanism) seem independent, by an angle equal to
//! the error, at trial states slightly off the constraints, and to obey them there would stop the mechanism.
//!
//! **Size.** A row may vanish as a whole where it does not depend on others: the loop of a tree in coordinates of joints has such a row
//! where it is stretched out. Rounding ε of its entries and of the configuration turns what is left, of size δ relative to the largest it has
//! had, by ε/δ². A row with δ² at most [`VANISHED`] = 1e-7 is therefore dependent, and its residual is measured as if it had its
//! largest size. What it would have held back until it returns is of the order δ, too. Sizes count where the system came to stay
//! ([`Saddle::remember`]); trial states may be anywhere.
//!
//! **Multipliers.** With dependent rows λ is not unique, a is. Of all multipliers those with the smallest Σλ² are
//! returned: they do not depend on which rows were called dependent. (The correction is a conjugate gradient iteration in the space
//! of the dependent rows, at most [`SPREAD`] steps; every iterate is a valid set of multipliers.)

use super::layout::{Structure, choose};
use super::schur::Schur;
use super::{Mass, Rows, dot};
use std::fmt;

/// Pivot (squared sine) at or below which a row counts as dependent on others.
pub const DEPENDENT: f64 = 1e-10;
/// Pivot above which a row that was dependent counts as independent again.
pub const RETURN: f64 = 1e-6;
/// Square of the size of a row, relative to the largest it has had, at or below which it counts as vanished and hence as dependent.
pub const VANISHED: f64 = 1e-7;
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

/// The factors of the constraint solve, its structure and scratch.
///
/// Nothing is allocated after construction unless a solve fails. There is one exception: with hubs, rows that have to wait for them
/// need room in a full matrix. There is room for those that must wait by structure and 32 more; if ever more have to, because they
/// are redundant or the hub weighs almost nothing, memory grows and stays, to the order of S as a full matrix at most.
#[derive(Clone, Debug)]
pub struct Saddle {
    schur: Schur,
    active: usize,
    diagonal: Vec<f64>,
    /// The largest diagonal entry of each row that was remembered.
    largest: Vec<f64>,
    scale: Vec<f64>,
    pivot: Vec<f64>,
    threshold: Vec<f64>,
    kept: Vec<bool>,
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
        Self::with_structure(mass, rows, &choose(mass, rows))
    }

    /// The same with a structure of one's own choice. Of a dense mass block all velocities stay unknowns, if one does.
    ///
    /// # Panics
    ///
    /// If a hub is not a velocity of the mass matrix.
    pub fn with_structure(mass: &Mass<f64>, rows: &Rows<f64>, structure: &Structure) -> Self {
        let m = rows.rows();
        let schur = Schur::new(mass, rows, structure);
        let zeros = |n| vec![0.0; n];
        Self {
            schur,
            active: m,
            diagonal: zeros(m),
            largest: zeros(m),
            scale: zeros(m),
            pivot: zeros(m),
            threshold: zeros(m),
            kept: vec![true; m],
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
        self.schur.assemble(mass, rows);
        self.schur.diagonal(&mut self.diagonal);
        for i in 0..self.scale.len() {
            let usable = i < active && self.diagonal[i] > f64::MIN_POSITIVE;
            self.scale[i] = if usable { self.measure_of(i).sqrt().recip() } else { 0.0 };
            self.threshold[i] = if self.vanished(i) { f64::INFINITY } else { DEPENDENT };
            self.kept[i] = !self.held[i];
        }
        self.schur.scale(&self.scale);
        self.schur.factor(&mut self.kept, &self.threshold, RETURN, &mut self.pivot);
        self.dependent.clear();
        for i in 0..active {
            // Not a number counts as dependent; the residual tells.
            self.held[i] = !self.kept[i];
            if self.held[i] {
                self.dependent.push(i);
            }
        }
    }

    /// Forgets all that it remembers of rows, as if it were new.
    pub fn forget(&mut self) {
        self.held.fill(false);
        self.largest.fill(0.0);
        self.dependent.clear();
    }

    /// Remembers the sizes of the rows factored last: the system has come to stay where they were taken.
    pub fn remember(&mut self) {
        for (largest, &size) in self.largest.iter_mut().zip(&self.diagonal).take(self.active) {
            *largest = largest.max(size);
        }
    }

    /// Whether a row has nearly vanished as a whole.
    fn vanished(&self, row: usize) -> bool {
        self.diagonal[row] <= VANISHED * self.largest[row]
    }

    /// The size of a row relative to the largest it has had, if it counts as vanished.
    pub fn shrunk(&self, row: usize) -> Option<f64> {
        (self.largest[row] > 0.0 && self.vanished(row)).then(|| (self.diagonal[row] / self.largest[row]).sqrt())
    }

    /// The square of the size by which a row is measured.
    fn measure_of(&self, row: usize) -> f64 {
        if self.vanished(row) { self.largest[row] } else { self.diagonal[row] }
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

    /// The largest size that each row has had, in the metric of M⁻¹, squared. With [`Saddle::resize`] it restores the memory of a run.
    pub fn sizes(&self) -> &[f64] {
        &self.largest
    }

    /// Sets the largest sizes.
    pub fn resize(&mut self, sizes: &[f64]) {
        self.largest.copy_from_slice(sizes);
    }

    /// Forgets which rows were dependent: the next factorisation decides anew.
    pub fn release(&mut self) {
        self.held.fill(false);
    }

    /// The kept row with the smallest pivot, and that pivot: the squared sine of the angle to the rows before it. With hubs, pivots
    /// above 1e-4 are lower bounds (hubs held fixed).
    pub fn smallest_pivot(&self) -> (usize, f64) {
        let kept = (0..self.active).filter(|&i| !self.held[i]);
        kept.fold((0, 1.0), |(row, min), i| if self.pivot[i] < min { (i, self.pivot[i]) } else { (row, min) })
    }

    /// The structure in use.
    pub fn structure(&self) -> Structure {
        self.schur.structure()
    }

    /// Multiplications of one factorisation, assembly left out; with hubs, if no more rows wait for them than must.
    pub fn work(&self) -> u64 {
        self.schur.work()
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

    /// a = M⁻¹ Gᵀ S⁻¹ c in the kept rows, as the factors give it: one step of an iteration that mends what rounding leaves. Takes `c` as scratch.
    pub fn push(&mut self, mass: &Mass<f64>, rows: &Rows<f64>, a: &mut [f64], c: &mut [f64]) {
        for (c, scale) in c.iter_mut().zip(&self.scale) {
            *c *= scale;
        }
        self.schur.solve(c);
        for (c, scale) in c.iter_mut().zip(&self.scale) {
            *c *= scale;
        }
        a.fill(0.0);
        rows.add_transpose(1.0, c, a);
        mass.solve(a);
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
            self.schur.solve(&mut self.direction);
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

    /// The independent rows that combine to a row, or nearly do. For error messages: the factors are made anew without
    /// that row, so [`Saddle::factor`] comes before the next solve.
    pub fn depends_on(&mut self, mass: &Mass<f64>, rows: &Rows<f64>, row: usize) -> Vec<usize> {
        self.schur.assemble(mass, rows);
        self.schur.scale(&self.scale);
        self.kept[row] = false;
        self.threshold[row] = f64::INFINITY;
        self.schur.factor(&mut self.kept, &self.threshold, RETURN, &mut self.pivot);
        self.image.fill(0.0);
        self.image[row] = self.scale[row];
        self.combine(mass, rows);
        // Coefficients of the combination of rows scaled to length one, above what the angle leaves open.
        let least = (10.0 * self.pivot[row].max(0.0).sqrt()).clamp(1e-6, 0.1);
        (0..self.active).filter(|&i| self.scale[i] > 0.0 && (self.image[i] / self.scale[i]).abs() > least).collect()
    }

    /// image ← S₁₁⁻¹ S₁ · image: the kept rows that combine to Gᵀ image.
    fn combine(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) {
        self.apply(mass, rows);
        for i in 0..self.image.len() {
            self.image[i] *= self.scale[i];
        }
        self.schur.solve(&mut self.image);
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
    /// Conjugate gradients on (1 + WᵀW) y = −Nᵀ λ, where W = S₁₁⁻¹ S₁d gives the dependent rows by the kept ones; y is scaled
    /// like the rows, so that their units do not slow the iteration down.
    fn spread(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) {
        if !self.dependent.iter().any(|&d| self.scale[d] > 0.0) {
            return;
        }
        self.gradient.copy_from_slice(&self.lambda);
        let mut square = self.null_transpose(mass, rows);
        for i in 0..self.direction.len() {
            self.direction[i] = self.gradient[i] * self.scale[i].powi(2);
        }
        let mut last = f64::INFINITY;
        for round in 0..SPREAD {
            // The step N p and its square pᵀNᵀN p.
            self.image.copy_from_slice(&self.direction);
            self.combine(mass, rows);
            for i in 0..self.image.len() {
                self.image[i] = self.direction[i] - self.image[i];
            }
            let length = square / dot(&self.image, &self.image);
            // The step takes length · square from Σλ². More than there is would be rounding: a direction that cancelled. Without
            // rounding there is one step for each dependent row; further ones only mend.
            let taken = length * square;
            let mends = round < self.dependent.len() || taken <= 100.0 * last;
            if taken.is_nan() || taken > dot(&self.lambda, &self.lambda) || !mends {
                break;
            }
            last = taken;
            for i in 0..self.image.len() {
                self.lambda[i] -= length * self.image[i];
            }
            if taken <= (1e3 * f64::EPSILON).powi(2) * dot(&self.lambda, &self.lambda) {
                break;
            }
            self.gradient.copy_from_slice(&self.lambda);
            let next = self.null_transpose(mass, rows);
            // Rounding is all that is left: further directions would only carry it on.
            if next <= (1e3 * f64::EPSILON).powi(2) * square {
                break;
            }
            for i in 0..self.direction.len() {
                self.direction[i] = self.gradient[i] * self.scale[i].powi(2) + next / square * self.direction[i];
            }
            square = next;
        }
    }

    /// gradient ← Nᵀ gradient, on the dependent rows; zero elsewhere. Returns the sum of its scaled squares.
    fn null_transpose(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) -> f64 {
        for i in 0..self.image.len() {
            self.image[i] = self.gradient[i] * self.scale[i];
        }
        self.schur.solve(&mut self.image);
        for i in 0..self.image.len() {
            self.image[i] *= self.scale[i];
        }
        self.apply(mass, rows);
        for i in 0..self.gradient.len() {
            let kept = !self.held[i] || i >= self.active || self.scale[i] == 0.0;
            self.gradient[i] = if kept { 0.0 } else { self.gradient[i] - self.image[i] };
        }
        self.gradient.iter().zip(&self.scale).fold(0.0, |sum, (g, scale)| sum + (g * scale).powi(2))
    }

    /// The sum of squares of scaled residuals of the kept rows; corrections point downhill on it.
    pub fn merit(&self, residual: &[f64]) -> f64 {
        (0..self.active).filter(|&i| !self.held[i]).fold(0.0, |sum, i| sum + (residual[i] * self.scale[i]).powi(2))
    }

    /// For each row the largest |change| / `size` of a velocity needed to remove its residual if it were alone:
    /// a measure of residuals without units. Rows of zeros that are not met give infinity.
    pub fn lone_change(&self, residual: &[f64], size: &[f64], out: &mut [f64]) {
        self.schur.largest(size, out);
        for i in 0..out.len() {
            out[i] = match residual[i].abs() {
                0.0 => 0.0,
                r if self.diagonal[i] > f64::MIN_POSITIVE && self.vanished(i) => {
                    r * out[i] / (self.diagonal[i] * self.largest[i]).sqrt()
                }
                r if self.diagonal[i] > f64::MIN_POSITIVE => r * out[i] / self.diagonal[i],
                _ => f64::INFINITY,
            };
        }
    }
}
