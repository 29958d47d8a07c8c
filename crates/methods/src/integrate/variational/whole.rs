//! A macro step whose slow forces lie within it: all micro steps are solved for at once.
//!
//! Fast variables, those on which fast forces or constraints act, have values ξ¹ … ξᵖ at the micro nodes, slow ones ξˢ at the end of the macro step only; both
//! move on straight lines in between. With micro steps h, macro steps H = p h, W at α_f and 1 − α_f of each micro step, V at α_s and 1 − α_s
//! of the macro step (weights b) and multipliers at the micro nodes the discrete action is (\[1\] eqs. 9 to 12)
//!
//! ```text
//! Σ_i h [½ v_iᵀ M v_i − Σ b W(q_i^α)] − H Σ b V(q^c) − Σ_j ŵ_j h λ_jᵀ g(q^j),   v_i = ((ξⁱ − ξⁱ⁻¹)/h, ξˢ/H),   ŵ = ½, 1, …, 1, ½
//! ```
//!
//! Its derivatives R_j at the nodes (times h, or H for slow variables) and Λ = h² λ give −R_0 = h p_k, R_j = 0 and g(q^j) = 0, by Newton's
//! method with exact derivatives: node j is met by the equations of its neighbours and, through V, by slow variables, so that
//! every third node is moved at once. Velocities are constant in each micro step, so that every quadrature of T is the same.
//!
//! With more than two rates the micro nodes are those of the finest grid, and forces of a rate between are taken as V is, at α_s and 1 − α_s of each of their own steps.
//!
//! Departure: \[1\] leaves open at which fast values V is taken; here it is at the time c of the macro step on the straight lines.
//!
//! Reference: \[1\] Leyendecker, Ober-Blöbaum: A variational approach to multirate integration for constrained systems, in: Multibody Dynamics,
//! Springer 2013, 97–121.

use super::lane::{Lane, Start};
use super::matrix::Matrix;
use super::mover::Mover;
use super::plan::{Plan, each_place};
use super::sizes::measure;
use super::solve::ULPS;
use super::{Micro, Recipe};
use crate::algebra::Block;
use crate::integrate::{Counts, IntegrateError};
use crate::scalar::Duals;
use crate::system::{State, System};
use crate::tangent::Compression;

/// Contraction above which the matrix is taken anew.
const SLOW: f64 = 0.05;
/// Relative changes below this that no longer shrink are rounding.
const STALL: f64 = 1e-11;
/// Directions in one pass.
const WIDTH: usize = 6;

/// Where the matrix at hand was taken.
struct Taken {
    start: Start,
    unknown: Vec<f64>,
    held: Vec<bool>,
    ready: bool,
    /// A memory was taken over: the matrix must be computed again where it was.
    restore: bool,
}

/// The solver of macro steps.
pub(super) struct Whole<Y: System> {
    plan: Plan,
    /// Unknowns that are moved together, each in its lane; and the equations that see an unknown.
    passes: Vec<Vec<(usize, usize)>>,
    reached: Vec<Vec<usize>>,
    integrands: Vec<f64>,
    none: Vec<f64>,
    plain: Lane<Y, f64>,
    moved: Lane<Y, Duals>,
    matrix: Matrix,
    taken: Taken,
    start: Start,
    sizes: Vec<f64>,
    iterations: u32,
    pub counts: Counts,
}

impl<Y: System> Whole<Y> {
    pub fn new(y: &Y, micro: Micro, iterations: u32) -> Self {
        let plan = Plan::new(y, micro);
        let (coupling, row_blocks) = (y.coupling(), y.row_blocks());
        let mut forces = Vec::new();
        for (own, neighbours) in coupling.groups.iter().zip(&coupling.neighbours) {
            for cols in neighbours.iter().map(|&other| &coupling.groups[other]) {
                forces.push(Block { row: own.start, rows: own.len(), col: cols.start, cols: cols.len() });
            }
        }
        let (mut places, mut reached) = (Vec::new(), vec![Vec::new(); plan.size()]);
        each_place(&plan, &forces, &row_blocks, |row, col| {
            places.push((row, col));
            reached[col].push(row);
        });
        let mut passes = Vec::new();
        for directions in Compression::of(&coupling, &row_blocks).directions.chunks(WIDTH) {
            let lanes = || directions.iter().enumerate().flat_map(|(lane, own)| own.iter().map(move |&k| (lane, k)));
            for nodes in plan.colours() {
                let own = lanes().filter(|&(_, k)| plan.own[k].0);
                passes.push(
                    own.flat_map(|(lane, k)| nodes.iter().map(move |&node| (lane, node, k)))
                        .map(|(lane, node, k)| (lane, plan.unknown(node, k)))
                        .collect::<Vec<_>>(),
                );
            }
            let slow = lanes().filter(|&(_, k)| !plan.own[k].0);
            passes.push(slow.map(|(lane, k)| (lane, plan.unknown(1, k))).collect());
        }
        passes.retain(|columns| !columns.is_empty());
        let start = Start { state: State::zeros(plan.shape), momentum: vec![0.0; plan.shape.v], span: 0.0 };
        Self {
            passes,
            reached,
            integrands: vec![0.0; plan.shape.z],
            none: vec![0.0; plan.shape.rows()],
            plain: Lane::new(y, &plan),
            moved: Lane::new(y, &plan),
            matrix: Matrix::new(plan.size(), &places),
            taken: Taken {
                start: start.clone(),
                unknown: vec![0.0; plan.size()],
                held: vec![false; plan.shape.g],
                ready: false,
                restore: false,
            },
            start,
            sizes: vec![0.0; plan.shape.v],
            plan,
            iterations,
            counts: Counts::default(),
        }
    }

    /// The matrix at the unknowns at hand; false if it is singular.
    fn renew(&mut self, y: &Y, held: &[bool]) -> bool {
        let Taken { start, unknown, held: own, .. } = &mut self.taken;
        start.state.copy_from(&self.start.state);
        start.momentum.copy_from_slice(&self.start.momentum);
        start.span = self.start.span;
        unknown.copy_from_slice(&self.plain.unknown);
        own.copy_from_slice(held);
        self.counts.tangents += 1;
        self.counts.factorisations += 1;
        self.taken.ready = self.linearise(y, held);
        self.taken.ready
    }

    /// The matrix where it was taken before a memory was told.
    fn restore(&mut self, y: &Y) {
        let held = std::mem::take(&mut self.taken.held);
        std::mem::swap(&mut self.taken.start, &mut self.start);
        std::mem::swap(&mut self.taken.unknown, &mut self.plain.unknown);
        self.taken.ready = self.linearise(y, &held);
        std::mem::swap(&mut self.taken.unknown, &mut self.plain.unknown);
        std::mem::swap(&mut self.taken.start, &mut self.start);
        (self.taken.held, self.taken.restore) = (held, false);
    }

    /// What the bits of the next solution depend on: where the matrix was taken.
    pub fn memory(&self, out: &mut Vec<f64>) {
        let Taken { start, unknown, held, ready, .. } = &self.taken;
        out.extend([f64::from(u8::from(*ready)), start.span, start.state.t]);
        for values in [&start.state.q, &start.state.v, &start.state.p, &start.momentum, unknown] {
            out.extend(values);
        }
        out.extend(held.iter().map(|&held| f64::from(u8::from(held))));
    }

    /// Gives up the matrix.
    pub fn forget(&mut self) {
        self.taken.ready = false;
    }

    /// Takes it over; returns the rest.
    pub fn recall<'a>(&mut self, memory: &'a [f64]) -> &'a [f64] {
        let (&[ready, span, t], mut rest) = memory.split_first_chunk().expect("a memory of this method");
        let Taken { start, unknown, held, ready: known, restore } = &mut self.taken;
        (*known, *restore) = (ready != 0.0, ready != 0.0);
        (start.span, start.state.t) = (span, t);
        let State { q, v, p, .. } = &mut start.state;
        for values in [q, v, p, &mut start.momentum, unknown] {
            let (own, others) = rest.split_at(values.len());
            values.copy_from_slice(own);
            rest = others;
        }
        let (own, rest) = rest.split_at(held.len());
        held.iter_mut().zip(own).for_each(|(held, value)| *held = *value != 0.0);
        rest
    }

    /// Fills and factors the matrix; false if it is singular.
    fn linearise(&mut self, y: &Y, held: &[bool]) -> bool {
        let Self { plan, moved, matrix, .. } = self;
        let m = plan.shape.g;
        matrix.clear();
        for (to, &from) in moved.unknown.iter_mut().zip(&self.plain.unknown) {
            *to = Duals::from(from);
        }
        for columns in &self.passes {
            columns.iter().for_each(|&(lane, col)| moved.unknown[col].eps[lane] = 1.0);
            moved.evaluate(y, plan, &self.start);
            for &(lane, col) in columns {
                moved.unknown[col].eps[lane] = 0.0;
                for &row in &self.reached[col] {
                    if row < plan.multipliers() || !held[(row - plan.multipliers()) % m] {
                        matrix.put(row, col, moved.out[row].eps[lane]);
                    }
                }
            }
        }
        // The forces of multipliers are rows of the constraints.
        for node in 0..if m == 0 { 0 } else { plan.nodes } {
            let lane = &mut self.plain;
            match node {
                0 => lane.state.lift(&self.start.state),
                _ => lane.place(plan, &self.start, node - 1, 1.0),
            }
            y.prepare(&lane.state, &mut lane.work);
            y.jacobian(&lane.state, &mut lane.work, &mut lane.rows);
            let weight = if node == 0 { 0.5 } else { -1.0 };
            for (i, b) in lane.rows.blocks().iter().enumerate() {
                for (at, &value) in lane.rows.block(i).iter().enumerate() {
                    let (row, velocity) = (b.row + at / b.cols, b.col + at % b.cols);
                    if !held[row] {
                        let col = plan.multipliers() + node * m + row;
                        matrix.put(plan.equation(node, velocity), col, weight * value);
                    }
                }
            }
            for row in (0..m).filter(|&row| held[row]) {
                let at = plan.multipliers() + node * m + row;
                matrix.put(at, at, 1.0);
            }
        }
        matrix.factor()
    }

    /// A macro step; velocities are not yet projected to constraints.
    pub fn step(
        &mut self,
        y: &Y,
        recipe: &Recipe,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        span: f64,
    ) -> Result<(), IntegrateError> {
        let (p, n) = (self.plan.nodes, self.plan.fast.len());
        self.start.state.copy_from(s);
        self.start.span = span;
        mover.mass.apply(&s.v, &mut self.start.momentum);
        measure(y, s, span, &mut self.sizes);
        for node in 1..=p {
            for (i, &k) in self.plan.fast.iter().enumerate() {
                self.plain.unknown[(node - 1) * n + i] = s.v[k] * (span * node as f64 / p as f64);
            }
        }
        for (i, &k) in self.plan.slow.iter().enumerate() {
            self.plain.unknown[self.plan.slow_start() + i] = s.v[k] * span;
        }
        self.plain.unknown[self.plan.multipliers()..].fill(0.0);
        self.solve(y, recipe, &mover.held, s.t)?;
        // What comes out: places and momenta at the end.
        self.plain.evaluate(y, &self.plan, &self.start);
        let (plan, lane, edge) = (&self.plan, &self.plain, (p + 1) * n + self.plan.slow.len());
        for (i, &k) in plan.fast.iter().enumerate() {
            s.q[k] += lane.unknown[(p - 1) * n + i];
            s.v[k] = lane.sums[p * n + i] * (p as f64 / span);
        }
        for (i, &k) in plan.slow.iter().enumerate() {
            s.q[k] += lane.unknown[plan.slow_start() + i];
            s.v[k] = lane.sums[edge + i] / span;
        }
        mover.mass.solve(&mut s.v);
        s.t += span;
        self.counts.forces = lane.forces;
        if !s.z.is_empty() && !y.still() {
            self.account(y, s);
        }
        Ok(())
    }

    /// Adds to the integrals by the rule of the fastest forces.
    fn account(&mut self, y: &Y, s: &mut State<f64>) {
        let (lane, plan) = (&mut self.plain, &self.plan);
        let h = self.start.span / plan.nodes as f64;
        for step in 0..plan.nodes {
            for (&part, &weight) in plan.inner.0.iter().zip(&plan.inner.1) {
                lane.place(plan, &self.start, step, part);
                y.prepare(&lane.state, &mut lane.work);
                y.integrand(&lane.state, &self.none, &mut lane.work, &mut self.integrands);
                s.z.iter_mut().zip(&self.integrands).for_each(|(z, rate)| *z += weight * h * rate);
            }
        }
    }

    /// Newton's method.
    fn solve(&mut self, y: &Y, recipe: &Recipe, held: &[bool], t: f64) -> Result<(), IntegrateError> {
        let (mut last, mut worst) = (f64::INFINITY, 0);
        let failed = |worst: usize, change: f64, span: f64| IntegrateError::NotConverged {
            t,
            h: span,
            what: recipe.about.name,
            residual: change / f64::EPSILON,
            worst: y.velocity_name(worst),
        };
        let span = self.start.span;
        if self.taken.restore {
            self.restore(y);
        }
        // Steps of one length differ by the rounding of time.
        let near = (self.taken.start.span - span).abs() <= 1e-6 * span.abs();
        let mut fresh = !(self.taken.ready && near && self.taken.held == held);
        let mut regular = !fresh || self.renew(y, held);
        for _ in 0..self.iterations {
            if !regular {
                return Err(failed(worst, f64::INFINITY, span));
            }
            self.plain.evaluate(y, &self.plan, &self.start);
            let (plan, lane) = (&self.plan, &mut self.plain);
            for (i, r) in lane.out.iter_mut().enumerate() {
                let left_out = i >= plan.multipliers() && held[(i - plan.multipliers()) % plan.shape.g];
                *r = if left_out { 0.0 } else { -*r };
            }
            self.matrix.solve(&mut lane.out);
            self.counts.solves += 1;
            let mut change = 0.0;
            let velocity = |i: usize| {
                if i < plan.slow_start() { plan.fast[i % plan.fast.len()] } else { plan.slow[i - plan.slow_start()] }
            };
            for (i, d) in lane.out[..plan.multipliers()].iter().enumerate() {
                let relative = d.abs() / self.sizes[velocity(i)];
                if relative > change || !relative.is_finite() {
                    (change, worst) = (relative, velocity(i));
                }
            }
            for (x, d) in lane.unknown.iter_mut().zip(&lane.out) {
                *x += d;
            }
            if !change.is_finite() {
                return Err(failed(worst, f64::INFINITY, span));
            }
            let contraction = change / last;
            let left = if last.is_finite() { contraction / (1.0 - contraction).max(0.0) * change } else { change };
            let noise = if fresh { STALL } else { ULPS };
            if left <= 0.01 * f64::EPSILON || (contraction > 0.5 && change <= noise) {
                return Ok(());
            }
            let stuck = !fresh && contraction > 0.5;
            if last.is_finite() && contraction > SLOW && (change > STALL || stuck) {
                if fresh && contraction > 2.0 {
                    return Err(failed(worst, change, span));
                }
                fresh = true;
                regular = self.renew(y, held);
            }
            last = change;
        }
        Err(failed(worst, last, span))
    }
}
