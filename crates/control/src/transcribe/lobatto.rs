//! Collocation at Lobatto points of any number (Lobatto IIIA): the trapezoidal rule, Hermite–Simpson, and higher orders.
//!
//! Within an interval the configuration is q_k ⊕ δ(τ), so that δ, velocities and extra states live in vector spaces. At the stages i
//!
//! ```text
//! v_i = v_k + h Σ_j a_ij a_j,   δ_i = h Σ_j a_ij δ̇(δ_j, v_j),   M(q_i) a_i = f(q_i, v_i, u_i) − [G; A]ᵀ λ_i,   [G; A] a_i = −bias
//! ```
//!
//! with accelerations a_i and multipliers λ_i as unknowns, or computed inside the kernel. Equations at nodes are shared by the intervals on both sides. At the end of an
//! interval positions and velocities are pushed back to the constraints along Gᵀ γ and [G; A]ᵀ ν, which are as small as the error of the
//! method (projected collocation).
//!
//! References: M. Kelly, An introduction to trajectory optimization, SIAM Review 59 (2017) 849–904; R. Bordalba, T. Schoels, L. Ros, J. M. Porta, M. Diehl, Direct
//! collocation methods for trajectory optimization in constrained robotic systems, IEEE Trans. Robotics 39 (2023) 183–202.

use super::{Build, Node, add_scaled, ids};
use crate::error::ControlError;
use crate::kernel::Signature;
use crate::lobatto::Lobatto;
use crate::method::Method;
use crate::moment::Moment;
use dalembert_graph::Trace;
use dalembert_methods::{State, System};

/// One stage inside a kernel.
struct Held<'t> {
    /// The increment of the configuration from the start of the interval.
    delta: Vec<Trace>,
    q: Vec<Trace>,
    v: &'t [Trace],
    x: &'t [Trace],
    u: &'t [Trace],
    a: Vec<Trace>,
    l: Vec<Trace>,
    rate: Vec<Trace>,
    state: State<Trace>,
}

impl<Y: System> Build<'_, '_, Y> {
    pub fn lobatto(&mut self, phase: usize) -> Result<(), ControlError> {
        let (stages, explicit) = match self.phase(phase).method {
            Method::LobattoExplicit { stages } => (stages, true),
            Method::Lobatto { stages } => (stages, false),
            _ => (2, false),
        };
        let rule = Lobatto::new(stages);
        self.lobatto_nodes(phase, &rule)?;
        self.lobatto_intervals(phase, &rule, explicit)
    }

    /// Equations of motion, path functions and integrands at nodes.
    fn lobatto_nodes(&mut self, phase: usize, rule: &Lobatto) -> Result<(), ControlError> {
        let shape = self.phase(phase).system.shape();
        let node = &self.plans[phase].nodes[0];
        let mut signature = Signature::default();
        for range in [&node.q, &node.v, &node.x, &node.u, &node.a, &node.l] {
            signature.push(range.len(), true);
        }
        self.clock_signature(phase, &mut signature);
        signature.push(2, false);
        let implicit = !node.a.is_empty();
        let name = format!("node of `{}`", self.phase(phase).name);
        let hint = "take lobatto with accelerations as unknowns";
        let mut kernel = self.record(name, &signature, hint, |x| {
            let clock = Self::clock(&x[6..10]);
            let (t, weight) = (clock.begins + clock.duration * x[10][0], clock.duration * x[10][1]);
            let s = self.state(shape, t, x[0], x[1], x[2], x[3], clock.statics);
            let mut reader = self.reader(phase);
            let mut rows = Vec::new();
            if implicit {
                rows.extend(reader.balance(&s, x[4], &self.drives(shape, x[3]), x[5]));
                rows.extend(reader.second(&s, x[4]));
            }
            let mut moment = Moment {
                reader: &mut reader,
                state: &s,
                controls: x[3],
                statics: clock.statics,
                duration: clock.duration,
                acceleration: implicit.then_some(x[4]),
                multipliers: implicit.then_some(x[5]),
                missing: &self.missing,
            };
            rows.extend(self.path_rows(phase, &mut moment));
            let (objective, parts) = self.integrals(phase, &mut moment, weight);
            rows.extend(parts);
            (objective, rows)
        })?;
        let names = if implicit {
            [self.balance_names(phase), self.constraint_names(phase, 0..shape.rows(), "acceleration of ")].concat()
        } else {
            Vec::new()
        };
        let count = self.plans[phase].nodes.len();
        for k in 0..count {
            let plan = &self.plans[phase];
            let part = plan.parts[k];
            let before = if k > 0 { plan.parts[k] - plan.parts[k - 1] } else { 0.0 };
            let after = if k + 1 < count { plan.parts[k + 1] - plan.parts[k] } else { 0.0 };
            let weight = rule.b[rule.stages() - 1] * before + rule.b[0] * after;
            let node = &plan.nodes[k];
            let mut groups: Vec<Vec<u32>> = [&node.q, &node.v, &node.x, &node.u, &node.a, &node.l].map(ids).into();
            groups.extend(self.clock_places(phase));
            groups.push(self.constants(&[part, weight]));
            let mut rows = self.new_rows(&names, phase, part);
            rows.extend(self.new_path_rows(phase, part));
            rows.extend(self.integral_rows(phase));
            kernel.place(&signature, &groups, rows);
        }
        self.program.kernels.push(kernel);
        Ok(())
    }

    fn lobatto_intervals(&mut self, phase: usize, rule: &Lobatto, explicit: bool) -> Result<(), ControlError> {
        let shape = self.phase(phase).system.shape();
        let (flat, stages) = (self.plans[phase].flat, rule.stages());
        let mut signature = Signature::default();
        let groups_of = |node: &Node| -> [usize; 6] {
            [&node.q, &node.v, &node.x, &node.u, &node.a, &node.l].map(|range| range.len())
        };
        let plan = &self.plans[phase];
        let interval = &plan.intervals[0];
        let all = [&plan.nodes[0], &plan.nodes[1]].into_iter().chain(&interval.stages);
        all.flat_map(groups_of).for_each(|size| signature.push(size, true));
        for range in [&interval.step, &interval.push, &interval.nudge] {
            signature.push(range.len(), true);
        }
        self.clock_signature(phase, &mut signature);
        signature.push(2, false);
        let name = format!("interval of `{}`", self.phase(phase).name);
        let hint = "take lobatto with accelerations as unknowns";
        let mut kernel = self.record(name, &signature, hint, |x| {
            let ends = 6 * stages;
            let (step, push, nudge) = (x[ends], x[ends + 1], x[ends + 2]);
            let clock = Self::clock(&x[ends + 3..ends + 7]);
            let (part, width) = (x[ends + 7][0], x[ends + 7][1]);
            let h = clock.duration * width;
            let mut reader = self.reader(phase);
            let q0 = x[0];
            // Groups in the order of time: start, inner stages, end.
            let order: Vec<usize> = std::iter::once(0).chain(2..stages).chain([1]).collect();
            let mut held: Vec<Held<'_>> = Vec::with_capacity(stages);
            for (i, &group) in order.iter().enumerate() {
                let [own, v, xs, u, a, l] = std::array::from_fn(|k| x[6 * group + k]);
                let (inner, last) = (i > 0 && i + 1 < stages, i + 1 == stages);
                let delta: Vec<Trace> = match (flat, inner) {
                    (true, _) => own.iter().zip(q0).map(|(&q, &q0)| q - q0).collect(),
                    (false, true) => own.to_vec(),
                    (false, false) if last => step.to_vec(),
                    (false, false) => vec![Trace::from(0.0); shape.v],
                };
                let mut q = own.to_vec();
                if !flat && inner {
                    q = q0.to_vec();
                    reader.system.retract(q0, &delta, &mut q);
                }
                let t = clock.begins + clock.duration * (part + width * rule.c[i]);
                let state = self.state(shape, t, &q, v, xs, u, clock.statics);
                let (a, l) =
                    if explicit { reader.accelerate(&state, &self.drives(shape, u)) } else { (a.to_vec(), l.to_vec()) };
                let mut rate = Vec::new();
                if shape.x > 0 {
                    reader.prepare(&state);
                    reader.force(&state);
                    rate = reader.rate(&state);
                }
                held.push(Held { delta, q, v, x: xs, u, a, l, rate, state });
            }
            // Rates of increments; on a vector space they are the velocities.
            let rates: Vec<Vec<Trace>> = held
                .iter()
                .map(|stage| {
                    let mut out = stage.v.to_vec();
                    if !flat {
                        reader.system.local_rate(&stage.delta, stage.v, &mut out);
                    }
                    out
                })
                .collect();
            let mut rows = Vec::new();
            let mut parts = Vec::new();
            for i in 1..stages {
                let stage = &held[i];
                let last = i + 1 == stages;
                let coefficients: Vec<Trace> = rule.a[i].iter().map(|&a| h * a).collect();
                let sum = |of: &dyn Fn(usize) -> Trace| {
                    coefficients.iter().enumerate().fold(Trace::from(0.0), |sum, (j, &c)| sum + c * of(j))
                };
                let (mut push_row, mut nudge_row) = (vec![Trace::from(0.0); shape.v], vec![Trace::from(0.0); shape.v]);
                if last && shape.rows() > 0 {
                    reader.prepare(&stage.state);
                    let mut wide = vec![Trace::from(0.0); shape.rows()];
                    wide[..shape.g].copy_from_slice(push);
                    push_row = reader.directions(&stage.state, &wide);
                    nudge_row = reader.directions(&stage.state, nudge);
                }
                rows.extend((0..shape.v).map(|r| stage.delta[r] - sum(&|j| rates[j][r]) - push_row[r]));
                rows.extend((0..shape.v).map(|r| stage.v[r] - held[0].v[r] - sum(&|j| held[j].a[r]) - nudge_row[r]));
                rows.extend((0..shape.x).map(|r| stage.x[r] - held[0].x[r] - sum(&|j| held[j].rate[r])));
                if last {
                    if !flat {
                        let mut moved = q0.to_vec();
                        reader.system.retract(q0, &stage.delta, &mut moved);
                        rows.extend(stage.q.iter().zip(moved).map(|(&q, m)| q - m));
                    }
                    continue;
                }
                if !explicit {
                    rows.extend(reader.balance(&stage.state, &stage.a, &self.drives(shape, stage.u), &stage.l));
                    rows.extend(reader.second(&stage.state, &stage.a));
                }
                let mut moment = Moment {
                    reader: &mut reader,
                    state: &stage.state,
                    controls: stage.u,
                    statics: clock.statics,
                    duration: clock.duration,
                    acceleration: Some(&stage.a),
                    multipliers: Some(&stage.l),
                    missing: &self.missing,
                };
                rows.extend(self.path_rows(phase, &mut moment));
                parts.push(self.integrals(phase, &mut moment, h * rule.b[i]));
            }
            let inner = !parts.is_empty();
            let (objective, parts) = Self::sum(parts);
            if inner {
                rows.extend(parts);
            }
            (objective, rows)
        })?;
        let steps = [self.step_names(phase, true), self.speed_names(phase), self.extra_names(phase)];
        let steps = [steps[0][..shape.v.min(steps[0].len())].to_vec(), steps[1].clone(), steps[2].clone()].concat();
        let balance =
            [self.balance_names(phase), self.constraint_names(phase, 0..shape.rows(), "acceleration of ")].concat();
        let joined = self.step_names(phase, false);
        for k in 0..self.plans[phase].intervals.len() {
            let plan = &self.plans[phase];
            let (part, width) = (plan.parts[k], plan.parts[k + 1] - plan.parts[k]);
            let interval = &plan.intervals[k];
            let nodes = [&plan.nodes[k], &plan.nodes[k + 1]].into_iter().chain(&interval.stages);
            let mut groups: Vec<Vec<u32>> =
                nodes.flat_map(|node| [&node.q, &node.v, &node.x, &node.u, &node.a, &node.l].map(ids)).collect();
            groups.extend([&interval.step, &interval.push, &interval.nudge].map(ids));
            groups.extend(self.clock_places(phase));
            groups.push(self.constants(&[part, width]));
            let mut rows = Vec::new();
            for i in 1..stages {
                let at = part + rule.c[i] * width;
                rows.extend(self.new_rows(&steps, phase, at));
                if i + 1 == stages {
                    if !flat {
                        rows.extend(self.new_rows(&joined, phase, at));
                    }
                    continue;
                }
                if !explicit {
                    rows.extend(self.new_rows(&balance, phase, at));
                }
                rows.extend(self.new_path_rows(phase, at));
            }
            if stages > 2 {
                rows.extend(self.integral_rows(phase));
            }
            kernel.place(&signature, &groups, rows);
        }
        self.program.kernels.push(kernel);
        Ok(())
    }
}

/// The state of one stage moved along rates: (δ, v, x) + h (rates).
pub(super) fn moved(parts: [&[Trace]; 3], rates: [&[Trace]; 3], h: Trace) -> [Vec<Trace>; 3] {
    std::array::from_fn(|i| add_scaled(parts[i], rates[i], h))
}
