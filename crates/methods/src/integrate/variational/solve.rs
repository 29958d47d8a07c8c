//! Newton's method for the discrete equations: exact columns by dual numbers, factors kept as long as they serve.
//!
//! The columns of the nodes come from the equations read with dual numbers, several velocities at once where no equation depends on two of
//! them (as in [`crate::tangent`]); those of the multipliers are the rows of the constraints. Rows that depend on others are left out
//! (Λ = 0). The matrix stays until an iteration no longer shrinks the change by [`SLOW`]; then it is taken anew at the iterate at hand.
//! Steps of unconstrained flat systems begin with the mass alone in place of the matrix, which is all that is left of it as h goes to
//! zero: where forces are soft no tangent is worth its price. When an iteration shrinks the change by less than [`LIGHT`] the matrix is
//! taken instead, for that step and some that follow ([`AWHILE`]).
//! Iterations end at rounding: when what is left, by the rate of shrinking, is far below an ulp of every coordinate's size, or when changes no
//! longer shrink and are below [`STALL`] with a new matrix, or below [`ULPS`].

use super::Recipe;
use super::columns::{Equations, Linear, Pair, either};
use super::discrete::{Pass, Start};
use super::fitted::Fitted;
use super::geometry::{Curved, Flat, Structure};
use super::matrix::{Matrix, Pattern};
use super::null_space::NullSpace;
use super::scheme::Scheme;
use super::sizes::{largest, measure};
use crate::algebra::{Mass, Rows};
use crate::integrate::IntegrateError;
use crate::system::{Shape, State, System};

/// Contraction above which the matrix is taken anew.
const SLOW: f64 = 0.05;
/// Contraction above which the mass alone does not serve.
const LIGHT: f64 = 0.1;
/// Relative changes below this that no longer shrink are rounding, whatever the matrix.
pub(super) const ULPS: f64 = 16.0 * f64::EPSILON;
/// Steps by the matrix after the mass alone did not serve.
const AWHILE: u32 = 200;
/// Relative changes below this that a new matrix no longer shrinks are rounding.
pub(super) const STALL: f64 = 1e-11;
/// What iterations may leave, relative to sizes: a hundredth of an ulp, because what they leave has the same sign in every step and would add up.
pub(super) const LEFT: f64 = 0.01 * f64::EPSILON;

/// A factored matrix and where it was taken.
struct Factored {
    matrix: Matrix,
    start: Start,
    unknown: Vec<f64>,
    held: Vec<bool>,
    ready: bool,
    /// A memory was taken over: the matrix must be computed again where it was.
    restore: bool,
}

/// Why Newton's method gave up.
pub(super) struct Failure {
    /// The last relative change in ulps.
    pub residual: f64,
    /// The velocity that changed most.
    pub velocity: usize,
}

/// The work done.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Work {
    pub tangents: u64,
    pub factorisations: u64,
    pub solves: u64,
}

/// The solver of one integrator, with one matrix for each length of step it takes in turn.
pub(super) struct Solver<Y: System> {
    shape: Shape,
    degree: usize,
    equations: Equations<Y>,
    pattern: Pattern,
    factored: Vec<Factored>,
    work: Y::Work<f64>,
    rows: Rows<f64>,
    residual: Vec<f64>,
    scratch: Vec<f64>,
    sizes: Vec<f64>,
    inverse_sizes: Vec<f64>,
    iterations: u32,
    /// Whether the mass may stand for the matrix, and after how many steps it does.
    simple: bool,
    heavy: u32,
    /// The discrete null space, with room for a dense matrix, if multipliers are not wanted.
    reduction: Option<(NullSpace, Vec<f64>)>,
    pub counts: Work,
}

impl<Y: System> Solver<Y> {
    pub fn new(y: &Y, structure: &Structure, recipe: &Recipe, scheme: &Scheme) -> Self {
        let (degree, iterations) = (scheme.degree, recipe.iterations);
        let rate = recipe.micro.is_some().then(|| y.rates() - 1);
        let matrices = recipe.stages.iter().map(|stage| stage.1 + 1).max().unwrap_or(1);
        let shape = y.shape();
        let equations = if structure.is_flat() {
            Equations::Flat(Box::new(Pair::new(y, Flat, Flat, scheme, rate)))
        } else {
            let (plain, moved) = (Curved::new(y, structure.clone()), Curved::new(y, structure.clone()));
            Equations::Curved(Box::new(Pair::new(y, plain, moved, scheme, rate)))
        };
        // Forces of a high rate are stiff by choice.
        let simple = structure.is_flat() && shape.g == 0 && rate.is_none();
        let pattern = Pattern::new(y, rate, scheme.fitted.as_ref().map(Fitted::centres));
        let size = degree * (shape.v + shape.g);
        let places = pattern.places(shape, degree);
        let factored = || Factored {
            matrix: Matrix::new(size, &places),
            start: Start::new(shape),
            unknown: vec![0.0; size],
            held: vec![false; shape.g],
            ready: false,
            restore: false,
        };
        Self {
            shape,
            degree,
            equations,
            pattern,
            factored: (0..matrices).map(|_| factored()).collect(),
            work: y.work(),
            rows: Rows::new(shape.rows(), shape.v, &y.row_blocks()),
            residual: vec![0.0; size + scheme.tuned()],
            scratch: vec![0.0; scheme.scratch()],
            sizes: vec![0.0; shape.v],
            inverse_sizes: vec![0.0; shape.v],
            iterations,
            simple,
            heavy: 0,
            reduction: (recipe.null_space && shape.g > 0)
                .then(|| (NullSpace::new(shape.v, shape.g), vec![0.0; size * size])),
            counts: Work::default(),
        }
    }

    /// Gives up all matrices.
    pub fn forget(&mut self) {
        self.factored.iter_mut().for_each(|f| f.ready = false);
        self.heavy = 0;
    }

    /// Takes note of where a step has ended.
    pub fn arrive(&mut self, q: &[f64]) {
        either!(&mut self.equations, pair => pair.plain.arrive(q));
    }

    /// Evaluations of forces so far.
    pub fn forces(&self) -> u64 {
        either!(&self.equations, pair => pair.plain.forces)
    }

    /// The state at point `i` of the solved curve.
    pub fn place(&mut self, y: &Y, scheme: &Scheme, start: &Start, unknown: &[f64], i: usize) -> &State<f64> {
        either!(&mut self.equations, pair => {
            pair.plain.place(y, scheme, start, unknown, i);
            &pair.plain.state
        })
    }

    /// The integrals over the solved curve, as far as they do not depend on multipliers.
    pub fn integrals(&self) -> &[f64] {
        either!(&self.equations, pair => &pair.plain.integrals)
    }

    /// p_{k+1} without the force of the constraints at the end, after [`Solver::solve`].
    pub fn momentum(&mut self, y: &Y, unknown: &[f64], h: f64, out: &mut [f64]) {
        let (n, s) = (self.shape.v, self.degree);
        either!(&mut self.equations, pair => pair.plain.leave(y, &unknown[(s - 1) * n..s * n], out));
        out.iter_mut().for_each(|p| *p /= h);
    }

    /// Takes the matrix of one slot at a place.
    fn linearise(&mut self, y: &Y, scheme: &Scheme, slot: usize) -> bool {
        let Factored { matrix, start, unknown, held, .. } = &mut self.factored[slot];
        let (n, m, s) = (self.shape.v, self.shape.g, self.degree);
        matrix.clear();
        let at = Linear { scheme, start, unknown, held };
        either!(&mut self.equations, pair => pair.columns(y, &at, &self.pattern, |row, col, value| matrix.put(row, col, value)));
        if m > 0 {
            y.prepare(&start.state, &mut self.work);
            y.jacobian(&start.state, &mut self.work, &mut self.rows);
            for (i, b) in self.rows.blocks().iter().enumerate() {
                for (k, &value) in self.rows.block(i).iter().enumerate() {
                    let (row, col) = (b.row + k / b.cols, b.col + k % b.cols);
                    if !held[row] {
                        matrix.put(col, s * n + row, scheme.holds[0] * value);
                    }
                }
            }
            for i in (0..s * m).filter(|i| held[i % m]) {
                matrix.put(s * n + i, s * n + i, 1.0);
            }
        }
        matrix.factor()
    }

    /// Takes the matrix at an iterate.
    fn renew(&mut self, y: &Y, scheme: &Scheme, start: &Start, unknown: &[f64], held: &[bool], slot: usize) -> bool {
        let f = &mut self.factored[slot];
        f.start.state.copy_from(&start.state);
        f.start.momentum.copy_from_slice(&start.momentum);
        f.start.about.copy_from_slice(&start.about);
        match &scheme.fitted {
            Some(fitted) => fitted.squares(&mut f.start.squares),
            None => f.start.squares.copy_from_slice(&start.squares),
        }
        f.start.h = start.h;
        f.unknown.copy_from_slice(unknown);
        f.held.copy_from_slice(held);
        self.counts.tangents += 1;
        self.counts.factorisations += 1;
        let regular = self.linearise(y, scheme, slot);
        (self.factored[slot].ready, self.factored[slot].restore) = (regular, false);
        regular
    }

    /// Solves the equations from the guess in `unknown`; multipliers of `held` rows stay zero. `mass` is factored.
    pub fn solve(
        &mut self,
        y: &Y,
        scheme: &mut Scheme,
        start: &Start,
        unknown: &mut [f64],
        held: &[bool],
        slot: usize,
        mass: &Mass<f64>,
    ) -> Result<(), Failure> {
        if self.reduction.is_some() {
            return self.solve_reduced(y, scheme, start, unknown, held);
        }
        if self.factored[slot].restore {
            // The frequencies of that time, then those of this step again.
            let (squares, h) = (std::mem::take(&mut self.factored[slot].start.squares), self.factored[slot].start.h);
            scheme.fit(&squares, h);
            self.factored[slot].start.squares = squares;
            let regular = self.linearise(y, scheme, slot);
            (self.factored[slot].ready, self.factored[slot].restore) = (regular, false);
            scheme.fit(&start.squares, start.h);
        }
        self.measure(y, start);
        either!(&mut self.equations, pair => pair.plain.begin(scheme, start));
        // Steps of one length differ by the rounding of time.
        let near = (self.factored[slot].start.h - start.h).abs() <= 1e-6 * start.h.abs();
        let same = near && self.factored[slot].held == held;
        let mut fresh = false;
        let mut light = self.simple && self.heavy == 0;
        self.heavy = self.heavy.saturating_sub(1);
        if !(light || self.factored[slot].ready && same) {
            fresh = true;
            if !self.renew(y, scheme, start, unknown, held, slot) {
                return Err(Failure { residual: f64::INFINITY, velocity: 0 });
            }
        }
        let mut last = f64::INFINITY;
        for _ in 0..self.iterations {
            let change = self.improve(y, scheme, start, unknown, held, light.then_some(mass), slot);
            if !change.is_finite() {
                return Err(Failure { residual: f64::INFINITY, velocity: self.worst() });
            }
            let contraction = change / last;
            let left = if last.is_finite() { contraction / (1.0 - contraction).max(0.0) * change } else { change };
            let noise = if fresh { STALL } else { ULPS };
            if left <= LEFT || (contraction > 0.5 && change <= noise) {
                // Momenta and integrals belong to the curve as it is now; forces change by what is left.
                let pass = if left <= LEFT { Pass::Close } else { Pass::Whole };
                either!(&mut self.equations, pair => {
                    pair.plain.tally = true;
                    pair.plain.evaluate(y, scheme, start, unknown, pass, &mut self.residual);
                    pair.plain.tally = false;
                });
                return Ok(());
            }
            if light && last.is_finite() && contraction > LIGHT && change > ULPS {
                (light, self.heavy) = (false, AWHILE);
                if !self.renew(y, scheme, start, unknown, held, slot) {
                    return Err(Failure { residual: f64::INFINITY, velocity: self.worst() });
                }
                (fresh, last) = (true, f64::INFINITY);
                continue;
            }
            let stuck = !fresh && contraction > 0.5;
            if last.is_finite() && contraction > SLOW && (change > STALL || stuck) {
                if fresh && contraction > 2.0 {
                    return Err(Failure { residual: change / f64::EPSILON, velocity: self.worst() });
                }
                fresh = true;
                if !self.renew(y, scheme, start, unknown, held, slot) {
                    return Err(Failure { residual: f64::INFINITY, velocity: self.worst() });
                }
            }
            last = change;
        }
        Err(Failure { residual: last / f64::EPSILON, velocity: self.worst() })
    }

    /// One iteration, by the mass or by the matrix; returns the largest change relative to sizes.
    fn improve(
        &mut self,
        y: &Y,
        scheme: &mut Scheme,
        start: &Start,
        unknown: &mut [f64],
        held: &[bool],
        mass: Option<&Mass<f64>>,
        slot: usize,
    ) -> f64 {
        let (n, s, size) = (self.shape.v, self.degree, unknown.len());
        let (residual, shifts) = self.residual.split_at_mut(size);
        either!(&mut self.equations, pair => pair.plain.evaluate(y, scheme, start, unknown, Pass::Probe, residual));
        if self.shape.g > 0 {
            for own in residual[s * n..].chunks_exact_mut(self.shape.g) {
                own.iter_mut().zip(held).filter(|(_, held)| **held).for_each(|(r, _)| *r = 0.0);
            }
        }
        if let Some(mass) = mass {
            residual.chunks_exact_mut(n).for_each(|own| mass.solve(own));
            scheme.unscale(residual, &mut self.scratch);
        } else {
            self.factored[slot].matrix.solve(residual);
            self.counts.solves += 1;
        }
        let mut change = 0.0;
        for own in residual[..s * n].chunks_exact(n) {
            let most = largest(own, &self.inverse_sizes);
            change = if most <= change { change } else { most };
        }
        if !shifts.is_empty() {
            let bent = either!(&self.equations, pair => {
                scheme.tune([&start.about, &pair.plain.relative], &pair.plain.slopes, &self.inverse_sizes, shifts)
            });
            change = if bent <= change { change } else { bent };
        }
        unknown.iter_mut().zip(residual).for_each(|(x, d)| *x -= *d);
        scheme.bend(shifts);
        change
    }

    /// The velocity that the last change moves most.
    fn worst(&self) -> usize {
        let (mut most, mut at) = (0.0, 0);
        for own in self.residual[..self.degree * self.shape.v].chunks_exact(self.shape.v) {
            for (k, (d, inverse)) in own.iter().zip(&self.inverse_sizes).enumerate() {
                let relative = d.abs() * inverse;
                if relative > most || !relative.is_finite() {
                    (most, at) = (relative, k);
                }
            }
        }
        at
    }

    /// Solves the equations of a straight step without multipliers, with a new matrix in every iteration.
    fn solve_reduced(
        &mut self,
        y: &Y,
        scheme: &Scheme,
        start: &Start,
        unknown: &mut [f64],
        held: &[bool],
    ) -> Result<(), Failure> {
        let Some((mut reduction, mut matrix)) = self.reduction.take() else { return Ok(()) };
        let result = self.reduce(y, scheme, start, unknown, held, &mut reduction, &mut matrix);
        self.reduction = Some((reduction, matrix));
        result
    }

    fn reduce(
        &mut self,
        y: &Y,
        scheme: &Scheme,
        start: &Start,
        unknown: &mut [f64],
        held: &[bool],
        reduction: &mut NullSpace,
        matrix: &mut [f64],
    ) -> Result<(), Failure> {
        let (n, size) = (self.shape.v, unknown.len());
        let singular = |velocity: usize| Failure { residual: f64::INFINITY, velocity };
        self.measure(y, start);
        unknown[n..].fill(0.0);
        either!(&mut self.equations, pair => pair.plain.begin(scheme, start));
        y.prepare(&start.state, &mut self.work);
        y.jacobian(&start.state, &mut self.work, &mut self.rows);
        matrix.fill(0.0);
        for (i, b) in self.rows.blocks().iter().enumerate() {
            for (k, &value) in self.rows.block(i).iter().enumerate() {
                matrix[(b.row + k / b.cols) * n + b.col + k % b.cols] = value;
            }
        }
        if !reduction.base(matrix, held) {
            return Err(singular(0));
        }
        let (mut last, mut worst) = (f64::INFINITY, 0);
        for _ in 0..self.iterations {
            matrix.fill(0.0);
            let at = Linear { scheme, start, unknown, held };
            either!(&mut self.equations, pair => {
                pair.columns(y, &at, &self.pattern, |row, col, value| matrix[row * size + col] = value);
                pair.plain.evaluate(y, scheme, start, unknown, Pass::Probe, &mut self.residual);
            });
            self.counts.tangents += 1;
            self.counts.factorisations += 1;
            if !reduction.step(matrix, &self.residual) {
                return Err(singular(worst));
            }
            self.counts.solves += 1;
            let mut largest = 0.0;
            for (k, d) in reduction.change.iter().enumerate() {
                unknown[k] += d;
                let relative = d.abs() / self.sizes[k];
                if relative > largest || !relative.is_finite() {
                    (largest, worst) = (relative, k);
                }
            }
            if !largest.is_finite() {
                return Err(singular(worst));
            }
            // Newton's method squares what is left.
            if largest <= LEFT || (largest > 0.5 * last && largest <= STALL) {
                either!(&mut self.equations, pair => {
                    pair.plain.tally = true;
                    pair.plain.evaluate(y, scheme, start, unknown, Pass::Whole, &mut self.residual);
                    pair.plain.tally = false;
                });
                return Ok(());
            }
            if largest > 2.0 * last {
                return Err(Failure { residual: largest / f64::EPSILON, velocity: worst });
            }
            last = largest;
        }
        Err(Failure { residual: last / f64::EPSILON, velocity: worst })
    }

    /// The sizes against which changes are measured.
    fn measure(&mut self, y: &Y, start: &Start) {
        measure(y, &start.state, start.h, &mut self.sizes);
        self.inverse_sizes.iter_mut().zip(&self.sizes).for_each(|(inverse, size)| *inverse = 1.0 / size);
    }

    /// What the bits of the next solution depend on: where the matrices were taken.
    pub fn memory(&self, out: &mut Vec<f64>) {
        out.push(f64::from(self.heavy));
        for f in &self.factored {
            let s = &f.start.state;
            out.extend([f64::from(u8::from(f.ready)), f.start.h, s.t]);
            let start = &f.start;
            for values in [&s.q, &s.v, &s.p, &start.momentum, &start.squares, &start.about, &f.unknown] {
                out.extend(values);
            }
            out.extend(f.held.iter().map(|&held| f64::from(u8::from(held))));
        }
    }

    /// Takes it over; returns the rest.
    pub fn recall<'a>(&mut self, mut memory: &'a [f64]) -> &'a [f64] {
        let mut take = |to: &mut [f64]| {
            let (own, rest) = memory.split_at(to.len());
            to.copy_from_slice(own);
            memory = rest;
        };
        let mut heavy = [0.0];
        take(&mut heavy);
        self.heavy = heavy[0] as u32;
        for f in &mut self.factored {
            let mut head = [0.0; 3];
            take(&mut head);
            (f.ready, f.start.h, f.start.state.t) = (head[0] != 0.0, head[1], head[2]);
            f.restore = f.ready;
            let Start { state: s, momentum, squares, about, .. } = &mut f.start;
            for values in [&mut s.q, &mut s.v, &mut s.p, momentum, squares, about, &mut f.unknown] {
                take(values);
            }
            for held in &mut f.held {
                let mut value = 0.0;
                take(std::slice::from_mut(&mut value));
                *held = value != 0.0;
            }
        }
        memory
    }
}

/// The error of a step whose equations were not solved.
pub(super) fn unsolved<Y: System>(y: &Y, start: &Start, failure: &Failure, what: &'static str) -> IntegrateError {
    let (t, h, residual) = (start.state.t, start.h, failure.residual);
    IntegrateError::NotConverged { t, h, what, residual, worst: y.velocity_name(failure.velocity) }
}
