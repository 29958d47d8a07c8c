//! Discrete null space and nodal reparametrisation: motions of constrained systems without multipliers.
//!
//! The constraints of a node allow the directions P(q) u with [G; A](q) P(q) = 0. Velocities are divided into dependent ones D and independent ones I, and rows into those
//! that count, R, and others that follow from them, as closed chains have them; then
//!
//! ```text
//! P = [−G_RD⁻¹ G_RI; 1],      Pᵀ r = r_I − G_RIᵀ λ,      G_RDᵀ λ = r_D,
//! ```
//!
//! and the balance of momenta at a node, r = p⁺ − p⁻ = h̄ Gᵀλ, becomes Pᵀ r = 0 (\[1\] eq. 3, \[2\] section 3.3). The increments of the independent velocities are the
//! variables u of the nodal reparametrisation q_{k+1} = F(u, q_k); the dependent ones follow from g(q_{k+1}) = 0, which in general has no explicit solution and stays a
//! row of the program. In a tree there is nothing to divide: P is one and F(u, q) = q ⊕ u.
//!
//! The division is found by complete pivoting at the configurations of the guess, brought to the constraints, and kept from node to node as long as it serves. Where a
//! solution has moved so far that another division serves much better, the problem is transcribed about it and solved again.
//!
//! References: \[1\] M. Ringkamp, S. Ober-Blöbaum, S. Leyendecker, ECCOMAS Multibody Dynamics 2013; \[2\] S. Leyendecker, S. Ober-Blöbaum, J. E. Marsden, M. Ortiz, Optim. Control
//! Appl. Methods 31 (2010) 505–528.

use super::{Build, Plan};
use crate::error::ControlError;
use crate::kernel::Signature;
use crate::problem::{Acts, Problem};
use crate::program::{Program, When};
use dalembert_graph::{Id, Op, Recorded, Trace, record};
use dalembert_methods::algebra::{Mass, Rows};
use dalembert_methods::dynamics::Dynamics;
use dalembert_methods::{Real, State, System};
use std::ops::Range;

/// Rows of which less than this is left, relative to what they were, follow from others.
const FOLLOWS: f64 = 1e-9;
/// A division is kept if its dependent velocities grow at most this much more than those of the best one.
const SERVES: f64 = 5.0;
/// A solution with a division that is worse than this is solved again with another.
const WORN: f64 = 100.0;

/// A division of velocities into dependent and independent ones, and of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// The rows that count, in the order of pivots.
    pub rows: Vec<usize>,
    /// The velocities that follow from the others, in the order of pivots.
    pub dependent: Vec<usize>,
    /// The independent velocities, ascending.
    pub independent: Vec<usize>,
}

impl Division {
    /// The division that complete pivoting finds in a matrix of n columns, stored by rows.
    pub fn of(jacobian: &[f64], n: usize) -> Self {
        let size = |row: &[f64]| row.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let scaled = |row: &[f64]| row.iter().map(|x| x / size(row).max(f64::MIN_POSITIVE)).collect();
        let mut left: Vec<Vec<f64>> = jacobian.chunks_exact(n.max(1)).map(scaled).collect();
        let (mut rows, mut dependent) = (Vec::new(), Vec::new());
        loop {
            let (mut best, mut at) = (FOLLOWS, None);
            for (i, row) in left.iter().enumerate().filter(|(i, _)| !rows.contains(i)) {
                for (j, x) in row.iter().enumerate().filter(|(j, _)| !dependent.contains(j)) {
                    if x.abs() > best {
                        (best, at) = (x.abs(), Some((i, j)));
                    }
                }
            }
            let Some((i, j)) = at else { break };
            rows.push(i);
            dependent.push(j);
            let pivot = left[i].clone();
            for (k, row) in left.iter_mut().enumerate() {
                if !rows.contains(&k) {
                    let factor = row[j] / pivot[j];
                    row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
                }
            }
        }
        let independent = (0..n).filter(|j| !dependent.contains(j)).collect();
        Self { rows, dependent, independent }
    }

    /// G_RD = L U, without further pivoting; L has ones on its diagonal.
    fn factor<R: Real>(&self, jacobian: &[R], n: usize) -> Vec<Vec<R>> {
        let pick = |&row: &usize| self.dependent.iter().map(|&j| jacobian[row * n + j]).collect();
        let mut a: Vec<Vec<R>> = self.rows.iter().map(pick).collect();
        for k in 0..a.len() {
            let pivot = a[k].clone();
            for row in &mut a[k + 1..] {
                row[k] = row[k] / pivot[k];
                for j in k + 1..pivot.len() {
                    row[j] = row[j] - row[k] * pivot[j];
                }
            }
        }
        a
    }

    /// λ of the rows that count, G_RDᵀ λ = r_D.
    fn multipliers<R: Real>(&self, factors: &[Vec<R>], r: &[R]) -> Vec<R> {
        let mut out: Vec<R> = self.dependent.iter().map(|&j| r[j]).collect();
        for k in 0..out.len() {
            let sum = (0..k).fold(out[k], |sum, j| sum - factors[j][k] * out[j]);
            out[k] = sum / factors[k][k];
        }
        for k in (0..out.len()).rev() {
            out[k] = (k + 1..out.len()).fold(out[k], |sum, i| sum - factors[i][k] * out[i]);
        }
        out
    }

    /// Pᵀ r.
    pub fn reduce<R: Real>(&self, jacobian: &[R], r: &[R]) -> Vec<R> {
        let n = r.len();
        let multipliers = self.multipliers(&self.factor(jacobian, n), r);
        let less = |j: usize| {
            let terms = self.rows.iter().zip(&multipliers);
            terms.fold(r[j], |sum, (&row, &multiplier)| sum - jacobian[row * n + j] * multiplier)
        };
        self.independent.iter().map(|&j| less(j)).collect()
    }

    /// Multipliers of all rows that balance r = Gᵀλ; zero for rows that follow from others.
    pub fn balance(&self, jacobian: &[f64], r: &[f64]) -> Vec<f64> {
        let n = r.len();
        let mut out = vec![0.0; jacobian.len() / n];
        let found = self.multipliers(&self.factor(jacobian, n), r);
        self.rows.iter().zip(found).for_each(|(&row, value)| out[row] = value);
        out
    }

    /// How much faster dependent velocities are than independent ones: the largest entry of G_RD⁻¹ G_RI; not finite where G_RD is singular.
    fn growth(&self, jacobian: &[f64], n: usize) -> f64 {
        let factors = self.factor(jacobian, n);
        let mut most = 1.0f64;
        for &j in &self.independent {
            let mut x: Vec<f64> = self.rows.iter().map(|&row| jacobian[row * n + j]).collect();
            for k in 0..x.len() {
                x[k] -= (0..k).map(|i| factors[k][i] * x[i]).sum::<f64>();
            }
            for k in (0..x.len()).rev() {
                let sum: f64 = (k + 1..x.len()).map(|i| factors[k][i] * x[i]).sum();
                x[k] = (x[k] - sum) / factors[k][k];
            }
            most = x.iter().fold(most, |m, x| if x.is_finite() { m.max(x.abs()) } else { f64::INFINITY });
        }
        most
    }
}

/// [G; A] of a state, by rows.
pub(crate) fn gradients<Y: System>(system: &Y, s: &State<f64>) -> Vec<f64> {
    let shape = system.shape();
    let mut rows = Rows::new(shape.rows(), shape.v, &system.row_blocks());
    let mut w = system.work();
    system.prepare(s, &mut w);
    system.jacobian(s, &mut w, &mut rows);
    let mut dense = vec![0.0; shape.rows() * shape.v];
    rows.to_dense(&mut dense);
    dense
}

/// The state of a node at a point of the program; velocities only where they are unknowns.
pub(crate) fn node_state<Y: System>(
    problem: &Problem<'_, Y>,
    program: &Program,
    plans: &[Plan],
    phase: usize,
    k: usize,
    x: &[f64],
) -> State<f64> {
    let plan = &plans[phase];
    let (node, interval) = (&plan.nodes[k], &plan.intervals[k.min(plan.intervals.len() - 1)]);
    let mut s: State<f64> = State::zeros(problem.phases[phase].system.shape());
    s.t = program.time(x, When { phase, part: plan.parts[k] });
    s.q.copy_from_slice(&x[node.q.clone()]);
    if !node.v.is_empty() {
        s.v.copy_from_slice(&x[node.v.clone()]);
    }
    s.x.copy_from_slice(&x[node.x.clone()]);
    for (control, at) in problem.controls.iter().zip(interval.u.clone()) {
        if let Acts::Parameter(i) = control.acts {
            s.p[i] = x[at];
        }
    }
    for (parameter, at) in problem.statics.iter().zip(program.statics.clone()) {
        if let Some(i) = parameter.parameter {
            s.p[i] = x[at];
        }
    }
    s
}

/// Whether another division serves much better at some node of a solution than the one that was used.
pub(crate) fn worn<Y: System>(
    problem: &Problem<'_, Y>,
    program: &Program,
    plans: &[Plan],
    x: &[f64],
    success: bool,
) -> bool {
    let limit = if success { WORN } else { SERVES };
    (0..plans.len()).filter(|&phase| !plans[phase].divisions.is_empty()).any(|phase| {
        let (plan, system) = (&plans[phase], problem.phases[phase].system);
        let n = system.shape().v;
        (0..plan.nodes.len()).any(|k| {
            let jacobian = gradients(system, &node_state(problem, program, plans, phase, k, x));
            let best = Division::of(&jacobian, n).growth(&jacobian, n);
            let own = plan.divisions[plan.division_of[k]].growth(&jacobian, n);
            own > limit * best && jacobian.iter().all(|x| x.is_finite())
        })
    })
}

/// Multipliers at all nodes of a phase in which they are no unknowns, from the momenta at a point.
pub(crate) fn multipliers<Y: System>(
    problem: &Problem<'_, Y>,
    program: &mut Program,
    plans: &[Plan],
    phase: usize,
    x: &[f64],
) -> Vec<Vec<f64>> {
    let (plan, system) = (&plans[phase], problem.phases[phase].system);
    let (n, last) = (system.shape().v, plan.nodes.len() - 1);
    let mut sums = vec![0.0; n * (last + 1)];
    let Program { momenta, constants, .. } = program;
    momenta.iter_mut().filter(|(own, _)| *own == phase).for_each(|(_, kernel)| {
        kernel.values(x, constants, &mut sums);
    });
    let times: Vec<f64> = plan.parts.iter().map(|&part| program.time(x, When { phase, part })).collect();
    (0..=last)
        .map(|k| {
            let s = node_state(problem, program, plans, phase, k, x);
            let mut r = sums[n * k..n * (k + 1)].to_vec();
            if k == 0 || k == last {
                let mut mass = Mass::new(&system.mass_blocks());
                let mut w = system.work();
                system.prepare(&s, &mut w);
                system.mass(&s, &mut w, &mut mass);
                let mut momentum = vec![0.0; n];
                mass.apply(&s.v, &mut momentum);
                let sign = if k == 0 { 1.0 } else { -1.0 };
                r.iter_mut().zip(&momentum).for_each(|(r, p)| *r += sign * p);
            }
            let width = 0.5 * (times[(k + 1).min(last)] - times[k.max(1) - 1]);
            r.iter_mut().for_each(|r| *r /= width);
            plan.divisions[plan.division_of[k]].balance(&gradients(system, &s), &r)
        })
        .collect()
}

/// Replaces outputs of a recording by a function of them and of the inputs.
pub(crate) fn compose(recorded: Recorded, outputs: Range<usize>, function: &Recorded) -> Recorded {
    let Recorded { mut graph, inputs, outputs: all } = recorded;
    let count = outputs.len();
    let mut place: Vec<Id> = Vec::with_capacity(function.graph.len());
    for node in function.graph.nodes() {
        let made = if node.op == Op::Input {
            match node.args[0].index() {
                k if k < count => all[outputs.start + k],
                k => graph.input(k - count),
            }
        } else {
            let mut args = node.args;
            args[..node.op.arity()].iter_mut().for_each(|id| *id = place[id.index()]);
            graph.make(node.op, args)
        };
        place.push(made);
    }
    let new = function.outputs.iter().map(|id| place[id.index()]);
    let outputs: Vec<Id> =
        all[..outputs.start].iter().copied().chain(new).chain(all[outputs.end..].iter().copied()).collect();
    let (graph, outputs) = graph.only(&outputs);
    Recorded { graph, inputs, outputs }
}

impl<Y: System> Build<'_, '_, Y> {
    /// Divides the velocities at all nodes of a phase, at the configurations that unknowns begin with.
    pub fn divide(&mut self, phase: usize) {
        let system = self.phase(phase).system;
        let n = system.shape().v;
        let start: Vec<f64> = self.program.variables.iter().map(|v| v.start).collect();
        let mut dynamics = Dynamics::new(system);
        let jacobians: Vec<Vec<f64>> = (0..self.plans[phase].nodes.len())
            .map(|k| {
                let s = node_state(self.problem, &self.program, &self.plans, phase, k, &start);
                let mut held = s.clone();
                // Rows that follow from others do so on the constraints only; a guess that cannot be brought there serves as it is.
                let found = dynamics.project_position(system, &mut held, 1e-10).is_ok();
                gradients(system, if found { &held } else { &s })
            })
            .collect();
        let own: Vec<Division> = jacobians.iter().map(|jacobian| Division::of(jacobian, n)).collect();
        // Where fewer rows count than elsewhere the configuration is singular: the division of a neighbour holds there.
        let rank = own.iter().map(|division| division.rows.len()).max().unwrap_or(0);
        let mut divisions: Vec<Division> = Vec::new();
        let mut division_of: Vec<usize> = Vec::new();
        for (division, jacobian) in own.iter().zip(&jacobians) {
            let best = division.growth(jacobian, n);
            let serves = |kept: &Division| kept.growth(jacobian, n) <= SERVES * best;
            let kept = division_of.last().copied();
            let kept = kept.filter(|&at: &usize| division.rows.len() < rank || serves(&divisions[at]));
            division_of.push(kept.unwrap_or_else(|| {
                let next = if division.rows.len() == rank {
                    Some(division)
                } else {
                    own.iter().find(|division| division.rows.len() == rank)
                };
                let next = next.unwrap_or(division);
                divisions.iter().position(|own| own == next).unwrap_or_else(|| {
                    divisions.push(next.clone());
                    divisions.len() - 1
                })
            }));
        }
        (self.plans[phase].divisions, self.plans[phase].division_of) = (divisions, division_of);
    }

    /// The division at a node, if multipliers are no unknowns.
    pub fn division(&self, phase: usize, node: usize) -> Option<&Division> {
        let plan = &self.plans[phase];
        plan.division_of.get(node).map(|&at| &plan.divisions[at])
    }

    /// Pᵀ r at the configuration of one end of an interval, as a function of r and of the inputs of the interval's kernel.
    pub fn record_reduction(
        &self,
        phase: usize,
        signature: &Signature,
        side: usize,
        division: &Division,
    ) -> Result<Recorded, ControlError> {
        let shape = self.phase(phase).system.shape();
        let place = format!("null space of `{}`", self.phase(phase).name);
        record(shape.v + signature.total_inputs(), |all| {
            let (r, inputs) = all.split_at(shape.v);
            let x = signature.cut(inputs);
            let clock = Self::clock(&x[6..10]);
            let (q, part) = (x[2 * side], x[10][0] + x[10][1] * (side as f64 - 0.5));
            let zeros = |n: usize| vec![Trace::from(0.0); n];
            let t = clock.begins + clock.duration * part;
            let s = self.state(shape, t, q, &zeros(shape.v), &zeros(shape.x), x[4], clock.statics);
            let mut reader = self.reader(phase);
            reader.prepare(&s);
            division.reduce(&reader.gradients(&s), r)
        })
        .map_err(|error| ControlError::Record { place, error })
    }
}
