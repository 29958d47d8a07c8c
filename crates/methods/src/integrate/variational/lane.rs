//! The equations of a macro step whose micro steps are solved for at once, in one kind of number (see [`super::whole`]).

use super::plan::Plan;
use crate::algebra::{Mass, Rows};
use crate::scalar::Scalar;
use crate::system::{State, System};

/// Where a macro step begins.
#[derive(Clone)]
pub(super) struct Start {
    pub state: State<f64>,
    pub momentum: Vec<f64>,
    pub span: f64,
}

/// The equations in one kind of number.
pub(super) struct Lane<Y: System, S: Scalar> {
    pub work: Y::Work<S>,
    mass: Mass<S>,
    weighed: bool,
    pub state: State<S>,
    pub rows: Rows<S>,
    force: Vec<S>,
    momentum: Vec<S>,
    /// R at the nodes 0 … p for fast variables, then at both ends for slow ones.
    pub sums: Vec<S>,
    pub unknown: Vec<S>,
    pub out: Vec<S>,
    pub forces: u64,
}

impl<Y: System, S: Scalar> Lane<Y, S> {
    pub fn new(y: &Y, plan: &Plan) -> Self {
        let shape = plan.shape;
        let zeros = |n| vec![S::zero(); n];
        Self {
            work: y.work(),
            mass: Mass::new(&y.mass_blocks()),
            weighed: false,
            state: State::zeros(shape),
            rows: Rows::new(shape.rows(), shape.v, &y.row_blocks()),
            force: zeros(shape.v),
            momentum: zeros(shape.v),
            sums: zeros((plan.nodes + 1) * plan.fast.len() + 2 * plan.slow.len()),
            unknown: zeros(plan.size()),
            out: zeros(plan.size()),
            forces: 0,
        }
    }

    /// The place in micro step `step` + 1 at its part `part`, with its velocity.
    pub fn place(&mut self, plan: &Plan, start: &Start, step: usize, part: f64) {
        let (p, n) = (plan.nodes as f64, plan.fast.len());
        let at = (step as f64 + part) / p;
        self.state.t = S::from(start.state.t + at * start.span);
        for (i, &k) in plan.fast.iter().enumerate() {
            let before = if step == 0 { S::zero() } else { self.unknown[(step - 1) * n + i] };
            let after = self.unknown[step * n + i];
            self.state.q[k] = before * (1.0 - part) + after * part + start.state.q[k];
            self.state.v[k] = (after - before) * (p / start.span);
        }
        for (i, &k) in plan.slow.iter().enumerate() {
            let whole = self.unknown[plan.slow_start() + i];
            self.state.q[k] = whole * at + start.state.q[k];
            self.state.v[k] = whole / start.span;
        }
    }

    /// Residuals of all equations, from the unknowns.
    pub fn evaluate(&mut self, y: &Y, plan: &Plan, start: &Start) {
        let (p, n, slow) = (plan.nodes, plan.fast.len(), plan.slow.len());
        let (span, h) = (start.span, start.span / p as f64);
        let (edge, last) = ((p + 1) * n, plan.steps.len() - 1);
        if !self.weighed {
            self.state.lift(&start.state);
            y.prepare(&self.state, &mut self.work);
            y.mass(&self.state, &mut self.work, &mut self.mass);
            self.weighed = true;
        }
        self.sums.fill(S::zero());
        for step in 0..p {
            for (&part, &weight) in plan.inner.0.iter().zip(&plan.inner.1) {
                self.place(plan, start, step, part);
                y.prepare(&self.state, &mut self.work);
                y.force_of_rate(&self.state, &mut self.work, last, &mut self.force);
                self.forces += 1;
                for (i, &k) in plan.fast.iter().enumerate() {
                    self.sums[step * n + i] += self.force[k] * (weight * (1.0 - part) * h * h);
                    self.sums[(step + 1) * n + i] += self.force[k] * (weight * part * h * h);
                }
            }
            self.mass.apply(&self.state.v, &mut self.momentum);
            for (i, &k) in plan.fast.iter().enumerate() {
                self.sums[step * n + i] -= self.momentum[k] * h;
                self.sums[(step + 1) * n + i] += self.momentum[k] * h;
            }
            for (i, &k) in plan.slow.iter().enumerate() {
                self.sums[edge + i] -= self.momentum[k] * h;
                self.sums[edge + slow + i] += self.momentum[k] * h;
            }
        }
        for (rate, &count) in plan.steps[..last].iter().enumerate() {
            for step in 0..count {
                self.kick(y, plan, start, rate, step);
            }
        }
        self.hold(y, plan, start);
        for (i, &k) in plan.fast.iter().enumerate() {
            self.out[i] = -self.sums[i] - h * start.momentum[k];
        }
        self.out[n..p * n].copy_from_slice(&self.sums[n..p * n]);
        for (i, &k) in plan.slow.iter().enumerate() {
            self.out[plan.slow_start() + i] = -self.sums[edge + i] - span * start.momentum[k];
        }
    }

    /// Adds the forces of one rate in one of its steps.
    fn kick(&mut self, y: &Y, plan: &Plan, start: &Start, rate: usize, own: usize) {
        let (p, n, slow) = (plan.nodes, plan.fast.len(), plan.slow.len());
        let (span, h) = (start.span / plan.steps[rate] as f64, start.span / p as f64);
        let edge = (p + 1) * n;
        for (&c, &weight) in plan.outer.0.iter().zip(&plan.outer.1) {
            let (step, part) = plan.locate(rate, own, c);
            self.place(plan, start, step, part);
            if part == 0.0 {
                for (i, &k) in plan.fast.iter().enumerate() {
                    let before = if step == 1 { S::zero() } else { self.unknown[(step - 2) * n + i] };
                    self.state.v[k] = (self.unknown[step * n + i] - before) / (2.0 * h);
                }
            }
            y.prepare(&self.state, &mut self.work);
            y.force_of_rate(&self.state, &mut self.work, rate, &mut self.force);
            self.forces += 1;
            for (i, &k) in plan.fast.iter().enumerate() {
                self.sums[step * n + i] += self.force[k] * (weight * (1.0 - part) * span * h);
                self.sums[(step + 1) * n + i] += self.force[k] * (weight * part * span * h);
            }
            // Slow variables feel slow forces alone.
            if rate == 0 {
                for (i, &k) in plan.slow.iter().enumerate() {
                    self.sums[edge + i] += self.force[k] * (weight * (1.0 - c) * span * span);
                    self.sums[edge + slow + i] += self.force[k] * (weight * c * span * span);
                }
            }
        }
    }

    /// Constraints at the nodes 1 … p, and their forces at 0 … p − 1.
    fn hold(&mut self, y: &Y, plan: &Plan, start: &Start) {
        let (p, n, m) = (plan.nodes, plan.fast.len(), plan.shape.g);
        if m == 0 {
            return;
        }
        for node in 0..=p {
            match node {
                0 => self.state.lift(&start.state),
                _ => self.place(plan, start, node - 1, 1.0),
            }
            y.prepare(&self.state, &mut self.work);
            let own = plan.multipliers() + node * m;
            if node > 0 {
                y.constraint(&self.state, &mut self.work, &mut self.out[own - m..own]);
            }
            if node < p {
                y.jacobian(&self.state, &mut self.work, &mut self.rows);
                self.force.fill(S::zero());
                let weight = if node == 0 { -0.5 } else { -1.0 };
                self.rows.add_transpose(weight, &self.unknown[own..own + m], &mut self.force);
                for (i, &k) in plan.fast.iter().enumerate() {
                    self.sums[node * n + i] += self.force[k];
                }
            }
        }
    }
}
