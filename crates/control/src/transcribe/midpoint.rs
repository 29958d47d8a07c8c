//! The implicit midpoint rule in the form of inverse dynamics.
//!
//! ```text
//! q_{k+1} = q_k ⊕ (h v̄ + Gᵀ γ),   v̄ = (v_k + v_{k+1})/2,   M(q̄) (v_{k+1} − v_k)/h = f(q̄, v̄, u_k) − [G; A]ᵀ λ_k,   q̄ = q_k ⊕ h v̄/2
//! ```
//!
//! On a vector space q̄ is the mean of q_k and q_{k+1}. With constraints the multipliers λ_k are such that rates vanish at the end of the interval, and γ_k such that positions do
//! (Gear, Gupta and Leimkuhler).

use super::{Build, add_scaled, ids, middle};
use crate::error::ControlError;
use crate::kernel::Signature;
use crate::moment::Moment;
use dalembert_graph::Trace;
use dalembert_methods::{Real, System};

impl<Y: System> Build<'_, '_, Y> {
    pub fn midpoint(&mut self, phase: usize) -> Result<(), ControlError> {
        let shape = self.phase(phase).system.shape();
        let flat = self.plans[phase].flat;
        let mut signature = Signature::default();
        for size in
            [shape.q, shape.v, shape.x, shape.q, shape.v, shape.x, self.problem.controls.len(), shape.rows(), shape.g]
        {
            signature.push(size, true);
        }
        self.clock_signature(phase, &mut signature);
        signature.push(2, false);
        let name = format!("interval of `{}`", self.phase(phase).name);
        let mut kernel = self.record(name, &signature, "it is known at intervals of other methods", |x| {
            let [q0, v0, x0, q1, v1, x1, u, l, push] = std::array::from_fn(|i| x[i]);
            let clock = Self::clock(&x[9..13]);
            let (part, h) = (x[13][0], clock.duration * x[13][1]);
            let mut reader = self.reader(phase);
            let (v, xm) = (middle(v0, v1), middle(x0, x1));
            let step: Vec<Trace> = v.iter().map(|&v| v * h).collect();
            let qm = if flat {
                middle(q0, q1)
            } else {
                let half: Vec<Trace> = step.iter().map(|&d| d * 0.5).collect();
                let mut qm = q0.to_vec();
                reader.system.retract(q0, &half, &mut qm);
                qm
            };
            let a: Vec<Trace> = v0.iter().zip(v1).map(|(&a, &b)| (b - a) / h).collect();
            let s = self.state(shape, clock.begins + clock.duration * part, &qm, &v, &xm, u, clock.statics);
            let balance = reader.balance(&s, &a, &self.drives(shape, u), l);
            let mut wide = vec![Trace::from(0.0); shape.rows()];
            wide[..shape.g].copy_from_slice(push);
            let pushed = reader.directions(&s, &wide);
            let step = add_scaled(&step, &pushed, Trace::one());
            let mut rows: Vec<Trace> = if flat {
                (0..shape.q).map(|i| q1[i] - q0[i] - step[i]).collect()
            } else {
                let mut moved = q0.to_vec();
                reader.system.retract(q0, &step, &mut moved);
                q1.iter().zip(moved).map(|(&a, b)| a - b).collect()
            };
            rows.extend(balance);
            if shape.x > 0 {
                let rate = reader.rate(&s);
                rows.extend((0..shape.x).map(|i| x1[i] - x0[i] - h * rate[i]));
            }
            let mut moment = Moment {
                reader: &mut reader,
                state: &s,
                controls: u,
                statics: clock.statics,
                duration: clock.duration,
                acceleration: Some(&a),
                multipliers: Some(l),
                missing: &self.missing,
            };
            let (objective, parts) = self.integrals(phase, &mut moment, h);
            rows.extend(parts);
            (objective, rows)
        })?;
        let names = [self.step_names(phase, flat), self.balance_names(phase), self.extra_names(phase)].concat();
        for k in 0..self.plans[phase].intervals.len() {
            let plan = &self.plans[phase];
            let (a, b, i) = (&plan.nodes[k], &plan.nodes[k + 1], &plan.intervals[k]);
            let width = plan.parts[k + 1] - plan.parts[k];
            let part = plan.parts[k] + 0.5 * width;
            let mut groups: Vec<Vec<u32>> = [&a.q, &a.v, &a.x, &b.q, &b.v, &b.x, &i.u, &i.l, &i.push].map(ids).into();
            groups.extend(self.clock_places(phase));
            groups.push(self.constants(&[part, width]));
            let mut rows = self.new_rows(&names, phase, part);
            rows.extend(self.integral_rows(phase));
            kernel.place(&signature, &groups, rows);
        }
        self.program.kernels.push(kernel);
        self.path_at_nodes(phase)
    }

    /// Path functions at nodes, with the controls of the interval that follows (of the last one at the end).
    fn path_at_nodes(&mut self, phase: usize) -> Result<(), ControlError> {
        if self.phase(phase).path.is_empty() {
            return Ok(());
        }
        let shape = self.phase(phase).system.shape();
        let mut signature = Signature::default();
        for size in [shape.q, shape.v, shape.x, self.problem.controls.len(), shape.rows()] {
            signature.push(size, true);
        }
        self.clock_signature(phase, &mut signature);
        signature.push(1, false);
        let name = format!("path of `{}`", self.phase(phase).name);
        let hint = "take trapezoidal, hermite_simpson or lobatto, which know it at nodes";
        let mut kernel = self.record(name, &signature, hint, |x| {
            let clock = Self::clock(&x[5..9]);
            let t = clock.begins + clock.duration * x[9][0];
            let s = self.state(shape, t, x[0], x[1], x[2], x[3], clock.statics);
            let mut reader = self.reader(phase);
            let mut moment = Moment {
                reader: &mut reader,
                state: &s,
                controls: x[3],
                statics: clock.statics,
                duration: clock.duration,
                acceleration: None,
                multipliers: Some(x[4]),
                missing: &self.missing,
            };
            (Trace::from(0.0), self.path_rows(phase, &mut moment))
        })?;
        for k in 0..self.plans[phase].nodes.len() {
            let plan = &self.plans[phase];
            let (node, interval, part) =
                (&plan.nodes[k], &plan.intervals[k.min(plan.intervals.len() - 1)], plan.parts[k]);
            let mut groups: Vec<Vec<u32>> = [&node.q, &node.v, &node.x, &interval.u, &interval.l].map(ids).into();
            groups.extend(self.clock_places(phase));
            groups.push(self.constants(&[part]));
            let rows = self.new_path_rows(phase, part);
            kernel.place(&signature, &groups, rows);
        }
        self.program.kernels.push(kernel);
        Ok(())
    }
}
