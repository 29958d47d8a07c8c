//! Discrete mechanics and optimal control with constraints (DMOCC): the discrete Lagrange–d'Alembert principle with the midpoint rule.
//!
//! The action of an interval is h L(q̄, v) with q_{k+1} = q_k ⊕ δ, q̄ = q_k ⊕ δ/2 and v(δ) the velocity of q_k ⊕ τ δ there. With p = M(q̄) v and F all that depends on the place at fixed velocity
//! (the derivative of the Lagrangian and forces without potential, controls among them, \[2\]) its discrete Legendre transforms are
//!
//! ```text
//! p⁺_{k+1} = h ⟨p, ∂v/∂δ δ̇(δ, ·)⟩ + h ⟨F, ζ⁺⟩,      −p⁻_k = −h ⟨p, ∂v/∂δ X(δ) ·⟩ + h ⟨F, ζ⁻⟩
//! ```
//!
//! where ζ are the variations of q̄; on a vector space p^± = p ± h F/2. The motion is stationary where momenta agree at the nodes,
//!
//! ```text
//! p⁺_k − p⁻_k − h̄ Gᵀ(q_k) λ_k = 0,   g(q_k) = 0,      M(q_0) v_0 = p⁻_0 + h̄ Gᵀ λ_0,   M(q_N) v_N = p⁺_N − h̄ Gᵀ λ_N
//! ```
//!
//! so that conditions on velocities and momenta at the ends go through the discrete Legendre transforms. Constraints on velocities hold in the middle of intervals, A(q̄) v + b = 0, and
//! their multipliers join those of the others at the nodes (discrete Lagrange–d'Alembert principle, \[3\]). Unknowns are configurations (increments where these are not
//! differences: nodal reparametrisation, \[1\] eq. 3), controls, and multipliers, which leave with the factorisation of the band; or the multipliers are taken out by discrete null space
//! matrices, see [`super::null_space`].
//!
//! Departure from \[1\]: coordinates are those of the model, in which trees are minimal already, and rotations are increments in the group; \[1\] has twelve redundant
//! coordinates for each body and reparametrises them.
//!
//! References: \[1\] S. Leyendecker, S. Ober-Blöbaum, J. E. Marsden, M. Ortiz, Discrete mechanics and optimal control for constrained systems, Optim. Control Appl. Methods 31 (2010)
//! 505–528; \[2\] G. Hamel, Theoretische Mechanik, Springer 1949, section 235: F = f + Ṁ v − ad*_v p; \[3\] J. Cortés, S. Martínez, Nonlinearity 14 (2001)
//! 1365–1392.

use super::null_space::compose;
use super::{Build, ids, middle};
use crate::error::ControlError;
use crate::kernel::{Kernel, Signature};
use crate::moment::Moment;
use crate::program::When;
use dalembert_graph::derive::forward::directional;
use dalembert_graph::{Graph, Id, Op, Recorded, Trace, record};
use dalembert_methods::scalar::Dual;
use dalembert_methods::{Real, System};

/// The divisions at both ends of an interval.
type Sides = [Option<usize>; 2];

/// Structure constants (i, j, k, c): [e_i, e_j] has c along e_k.
fn brackets<Y: System>(y: &Y) -> Vec<(usize, usize, usize, f64)> {
    let n = y.shape().v;
    let change = |i: usize, j: usize| -> Vec<f64> {
        let (mut along, mut velocity) = (vec![Dual::default(); n], vec![Dual::default(); n]);
        along[i].eps[0] = 1.0;
        velocity[j].re = 1.0;
        let mut out = velocity.clone();
        y.local_rate(&along, &velocity, &mut out);
        out.iter().map(|x| x.eps[0]).collect()
    };
    let all: Vec<Vec<Vec<f64>>> = (0..n).map(|i| (0..n).map(|j| change(i, j)).collect()).collect();
    let mut out = Vec::new();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        for k in 0..n {
            let c = all[i][j][k] - all[j][i][k];
            if c != 0.0 {
                out.push((i, j, k, c));
            }
        }
    }
    out
}

/// Differentiates the last `count` outputs by the last input, at zero of that, and adds them to outputs from `first` on.
fn fold(recorded: Recorded, first: usize, count: usize) -> Recorded {
    let Recorded { mut graph, inputs, outputs } = recorded;
    let (plain, moving) = outputs.split_at(outputs.len() - count);
    let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
    let direction: Vec<Id> = (0..inputs).map(|i| if i + 1 == inputs { one } else { zero }).collect();
    let rates = directional(&mut graph, moving, &direction);
    let mut outputs = plain.to_vec();
    for (k, rate) in rates.into_iter().enumerate() {
        outputs[first + k] = graph.add(outputs[first + k], rate);
    }
    let mut out = Graph::default();
    let mut place: Vec<Id> = Vec::with_capacity(graph.len());
    for node in graph.nodes() {
        let made = if node.op == Op::Input && node.args[0].index() + 1 == inputs {
            out.constant(0.0)
        } else {
            let mut args = node.args;
            args[..node.op.arity()].iter_mut().for_each(|id| *id = place[id.index()]);
            out.make(node.op, args)
        };
        place.push(made);
    }
    let outputs: Vec<Id> = outputs.iter().map(|id| place[id.index()]).collect();
    let (graph, outputs) = out.only(&outputs);
    Recorded { graph, inputs: inputs - 1, outputs }
}

impl<Y: System> Build<'_, '_, Y> {
    pub fn dmocc(&mut self, phase: usize) -> Result<(), ControlError> {
        let system = self.phase(phase).system;
        let shape = system.shape();
        let plan = &self.plans[phase];
        let (flat, count) = (plan.flat, plan.intervals.len());
        let mut signature = Signature::default();
        for size in [shape.q, shape.x, shape.q, shape.x, self.problem.controls.len(), plan.intervals[0].step.len()] {
            signature.push(size, true);
        }
        self.clock_signature(phase, &mut signature);
        signature.push(2, false);
        let name = format!("interval of `{}`", self.phase(phase).name);
        let recorded = self.record_interval(phase, &signature, flat, &name)?;
        // Momenta agree at nodes; both intervals beside a node add to its rows.
        let all = self.balance_names(phase);
        let momentum: Vec<Vec<u32>> = (0..=count)
            .map(|k| {
                let kept = |d: &super::Division| d.independent.iter().map(|&i| all[i].clone()).collect();
                let names = self.division(phase, k).map_or_else(|| all.clone(), kept);
                let part = self.plans[phase].parts[k];
                self.new_rows(&names, phase, part)
            })
            .collect();
        let mut kernels = self.interval_kernels(phase, &signature, recorded, &name)?;
        let slides = self.sliding(phase);
        let names = [
            if flat { Vec::new() } else { self.step_names(phase, false) },
            slides.iter().map(|&row| format!("rate of {}", system.row_name(row))).collect(),
            self.extra_names(phase),
        ]
        .concat();
        for k in 0..count {
            let plan = &self.plans[phase];
            let (a, b, i) = (&plan.nodes[k], &plan.nodes[k + 1], &plan.intervals[k]);
            let width = plan.parts[k + 1] - plan.parts[k];
            let part = plan.parts[k] + 0.5 * width;
            let sides = [plan.division_of.get(k).copied(), plan.division_of.get(k + 1).copied()];
            let mut groups: Vec<Vec<u32>> = [&a.q, &a.x, &b.q, &b.x, &i.u, &i.step].map(ids).into();
            groups.extend(self.clock_places(phase));
            groups.push(self.constants(&[part, width]));
            let mut rows = [momentum[k].clone(), momentum[k + 1].clone()].concat();
            rows.extend(self.new_rows(&names, phase, part));
            rows.extend(self.new_path_rows(phase, part));
            for (i, bound) in self.phase(phase).velocities.clone() {
                let label = self.program.label(&format!("rate of {}", system.velocity_name(i)));
                rows.push(self.program.add_row(label, Some(When { phase, part }), bound));
            }
            rows.extend(self.integral_rows(phase));
            if let Some((_, kernel)) = self.program.momenta.iter_mut().find(|(own, _)| *own == phase) {
                let node = |k: usize| (k * shape.v..(k + 1) * shape.v).map(|row| row as u32);
                kernel.place(&signature, &groups, node(k).chain(node(k + 1)).collect());
            }
            if let Some((_, kernel)) = kernels.iter_mut().find(|(own, _)| *own == sides) {
                kernel.place(&signature, &groups, rows);
            }
        }
        self.program.kernels.extend(kernels.into_iter().map(|(_, kernel)| kernel));
        self.dmocc_nodes(phase, &momentum)
    }

    /// The kernel of the intervals for each pair of divisions at their ends; without divisions one.
    fn interval_kernels(
        &mut self,
        phase: usize,
        signature: &Signature,
        recorded: Recorded,
        name: &str,
    ) -> Result<Vec<(Sides, Kernel)>, ControlError> {
        let n = self.phase(phase).system.shape().v;
        let plan = &self.plans[phase];
        if plan.divisions.is_empty() {
            return Ok(vec![([None, None], Kernel::from_recorded(name, signature, recorded))]);
        }
        let mut kernels: Vec<(Sides, Kernel)> = Vec::new();
        for pair in plan.division_of.windows(2) {
            let sides = [Some(pair[0]), Some(pair[1])];
            if kernels.iter().any(|(own, _)| *own == sides) {
                continue;
            }
            // The end first, so that outputs of the start keep their places.
            let mut reduced = recorded.clone();
            for side in [1, 0] {
                let function = self.record_reduction(phase, signature, side, &plan.divisions[pair[side]])?;
                reduced = compose(reduced, 1 + side * n..1 + (side + 1) * n, &function);
            }
            kernels.push((sides, Kernel::from_recorded(name, signature, reduced)));
        }
        let (graph, outputs) = recorded.graph.only(&recorded.outputs[..1 + 2 * n]);
        let whole = Recorded { graph, inputs: recorded.inputs, outputs };
        self.program.momenta.push((phase, Kernel::from_recorded(name, signature, whole)));
        Ok(kernels)
    }

    /// The rows on the level of velocities that count.
    fn sliding(&self, phase: usize) -> Vec<usize> {
        let shape = self.phase(phase).system.shape();
        (shape.g..shape.rows()).filter(|row| self.division(phase, 0).is_none_or(|d| d.rows.contains(row))).collect()
    }

    /// Rows: −p⁻ at the start, p⁺ at the end, steps of curved coordinates, constraints on velocities, extra states, path, bounds on velocities, parts of goals.
    fn record_interval(
        &self,
        phase: usize,
        signature: &Signature,
        flat: bool,
        name: &str,
    ) -> Result<Recorded, ControlError> {
        let system = self.phase(phase).system;
        let shape = system.shape();
        let constants = brackets(system);
        let slides = self.sliding(phase);
        let inputs: usize = signature.total_inputs();
        self.missing.set(None);
        let zeros = |n: usize| vec![Trace::from(0.0); n];
        let recorded = record(inputs + 1, |all| {
            let x = signature.cut(&all[..inputs]);
            let epsilon = all[inputs];
            let [q0, x0, q1, x1, u, step] = std::array::from_fn(|i| x[i]);
            let clock = Self::clock(&x[6..10]);
            let (part, h) = (x[10][0], clock.duration * x[10][1]);
            let mut reader = self.reader(phase);
            let delta: Vec<Trace> =
                if flat { q1.iter().zip(q0).map(|(&b, &a)| b - a).collect() } else { step.to_vec() };
            let half: Vec<Trace> = delta.iter().map(|&d| d * 0.5).collect();
            let qm = if flat {
                middle(q0, q1)
            } else {
                let mut qm = q0.to_vec();
                system.retract(q0, &half, &mut qm);
                qm
            };
            // The velocity of q_k ⊕ τ δ in the middle of the interval.
            let velocity = |delta: &[Trace]| {
                let (half, rate): (Vec<Trace>, Vec<Trace>) = delta.iter().map(|&d| (d * 0.5, d / h)).unzip();
                let mut out = rate.clone();
                system.local_velocity(&half, &rate, &mut out);
                out
            };
            let v = velocity(&delta);
            let t = clock.begins + clock.duration * part;
            let xm = middle(x0, x1);
            let s = self.state(shape, t, &qm, &v, &xm, u, clock.statics);
            reader.prepare(&s);
            let p = reader.mass_times(&s, &v);
            let mut f: Vec<Trace> = reader.force(&s).iter().zip(self.drives(shape, u)).map(|(&f, d)| f + d).collect();
            let rate = reader.rate(&s);
            for &(i, j, k, c) in &constants {
                f[j] -= v[i] * p[k] * c;
            }
            // M(q̄ ⊕ ε v) v, whose rate at ε = 0 is the missing part of F; velocities vary with ε below.
            let moving = if system.mass_is_constant() {
                zeros(shape.v)
            } else {
                let small: Vec<Trace> = v.iter().map(|&v| v * epsilon).collect();
                let mut q = qm.clone();
                system.retract(&qm, &small, &mut q);
                let s = self.state(shape, t, &q, &v, &xm, u, clock.statics);
                reader.prepare(&s);
                reader.mass_times(&s, &v)
            };
            let dot = |a: &[Trace], b: &[Trace]| a.iter().zip(b).fold(Trace::from(0.0), |sum, (&a, &b)| sum + a * b);
            let mut momenta = [Vec::new(), Vec::new()];
            let mut forces = [Vec::new(), Vec::new()];
            for j in 0..shape.v {
                let mut unit = zeros(shape.v);
                unit[j] = Trace::one();
                // The end moves along e_j, or the beginning does.
                let (mut at_end, mut at_start, mut base) = (unit.clone(), unit.clone(), unit.clone());
                system.local_rate(&delta, &unit, &mut at_end);
                system.local_shift(&delta, &unit, &mut at_start);
                system.local_shift(&half, &unit, &mut base);
                at_start.iter_mut().for_each(|d| *d = -*d);
                let later: Vec<Trace> = at_end.iter().map(|&d| d * 0.5).collect();
                let earlier: Vec<Trace> = base.iter().zip(&at_start).map(|(&b, &d)| b + d * 0.5).collect();
                let (mut zeta_end, mut zeta_start) = (zeros(shape.v), zeros(shape.v));
                system.local_velocity(&half, &later, &mut zeta_end);
                system.local_velocity(&half, &earlier, &mut zeta_start);
                for (side, (change, zeta)) in [(&at_start, &zeta_start), (&at_end, &zeta_end)].into_iter().enumerate() {
                    let varied: Vec<Trace> = delta.iter().zip(change).map(|(&d, &c)| d + epsilon * c).collect();
                    momenta[side].push(h * dot(&f, zeta));
                    forces[side].push(h * (dot(&p, &velocity(&varied)) + dot(&moving, zeta)));
                }
            }
            let mut rows = vec![];
            rows.extend(momenta.concat());
            if !flat {
                let mut moved = q0.to_vec();
                system.retract(q0, &delta, &mut moved);
                rows.extend(q1.iter().zip(moved).map(|(&a, b)| a - b));
            }
            if !slides.is_empty() {
                reader.prepare(&s);
                let rates = reader.velocity(&s);
                rows.extend(slides.iter().map(|&row| rates[row]));
            }
            rows.extend((0..shape.x).map(|i| x1[i] - x0[i] - h * rate[i]));
            let mut moment = Moment {
                reader: &mut reader,
                state: &s,
                controls: u,
                statics: clock.statics,
                duration: clock.duration,
                acceleration: None,
                multipliers: None,
                missing: &self.missing,
            };
            rows.extend(self.path_rows(phase, &mut moment));
            rows.extend(self.phase(phase).velocities.iter().map(|(i, _)| v[*i]));
            let (objective, parts) = self.integrals(phase, &mut moment, h);
            rows.extend(parts);
            rows.extend(forces.concat());
            std::iter::once(objective).chain(rows).collect()
        });
        let recorded = recorded.map_err(|error| ControlError::Record { place: name.to_owned(), error })?;
        if let Some(what) = self.missing.take() {
            let hint = "dmocc knows configurations, velocities between them and controls; take lobatto";
            return Err(ControlError::Missing { function: name.to_owned(), what, hint });
        }
        Ok(fold(recorded, 1, 2 * shape.v))
    }

    /// Multipliers at nodes, and momenta at the ends.
    fn dmocc_nodes(&mut self, phase: usize, momentum: &[Vec<u32>]) -> Result<(), ControlError> {
        let system = self.phase(phase).system;
        let shape = system.shape();
        let count = self.plans[phase].intervals.len();
        if shape.rows() > 0 && self.plans[phase].divisions.is_empty() {
            let mut signature = Signature::default();
            signature.push(shape.q, true);
            signature.push(shape.rows(), true);
            self.clock_signature(phase, &mut signature);
            signature.push(2, false);
            let mut kernel = Kernel::record("reactions", &signature, |x| {
                let clock = Self::clock(&x[2..6]);
                let zeros = |n: usize| vec![Trace::from(0.0); n];
                let t = clock.begins + clock.duration * x[6][0];
                let controls = zeros(self.problem.controls.len());
                let s = self.state(shape, t, x[0], &zeros(shape.v), &zeros(shape.x), &controls, clock.statics);
                let mut reader = self.reader(phase);
                reader.prepare(&s);
                let weight = -(clock.duration * x[6][1]);
                (Trace::from(0.0), reader.directions(&s, x[1]).iter().map(|&r| r * weight).collect())
            })?;
            for k in 0..=count {
                let plan = &self.plans[phase];
                let before = if k > 0 { plan.parts[k] - plan.parts[k - 1] } else { 0.0 };
                let after = if k < count { plan.parts[k + 1] - plan.parts[k] } else { 0.0 };
                let (part, weight) = (plan.parts[k], 0.5 * (before + after));
                let mut groups = vec![ids(&plan.nodes[k].q), ids(&plan.nodes[k].l)];
                groups.extend(self.clock_places(phase));
                groups.push(self.constants(&[part, weight]));
                kernel.place(&signature, &groups, momentum[k].clone());
            }
            self.program.kernels.push(kernel);
        }
        for (end, node, sign) in [(0, 0, 1.0), (1, count, -1.0)] {
            let function = |build: &Self, moment: &mut Moment<'_, '_, Y>| {
                let momentum: Vec<Trace> = moment.momentum().iter().map(|&p| p * sign).collect();
                let Some(division) = build.division(phase, node) else { return (Trace::from(0.0), momentum) };
                let gradients = moment.reader.gradients(moment.state);
                (Trace::from(0.0), division.reduce(&gradients, &momentum))
            };
            self.at_end(phase, end, "momentum at an end".into(), "", function, momentum[node].clone())?;
        }
        Ok(())
    }
}
