//! Multiple shooting: each interval is integrated by steps of the classical Runge–Kutta method of order 4, with controls that are linear on it.
//!
//! The motion from node k is q_k ⊕ δ(τ), so that δ, velocities and extra states are integrated in vector spaces; integrands of goals are integrated with them. Accelerations come from
//! factors of the mass matrix inside the kernel. At the end positions and velocities are pushed back to the constraints.

use super::lobatto::moved;
use super::{Build, add_scaled, ids};
use crate::equations::Reader;
use crate::error::ControlError;
use crate::kernel::Signature;
use crate::method::Method;
use crate::moment::Moment;
use dalembert_graph::Trace;
use dalembert_methods::{Real, Shape, System};

/// Rates of (δ, v, x) and of the integrals.
struct Slope {
    rates: [Vec<Trace>; 3],
    integrals: (Trace, Vec<Trace>),
}

/// What does not change along an interval.
struct Along<'t> {
    phase: usize,
    shape: Shape,
    q0: &'t [Trace],
    controls: [&'t [Trace]; 2],
    clock: super::Clock<'t>,
    part: Trace,
    width: Trace,
}

impl<'a, Y: System> Build<'_, 'a, Y> {
    fn slope(&self, along: &Along<'_>, reader: &mut Reader<'a, Y>, share: f64, parts: [&[Trace]; 3]) -> Slope {
        let mut q = along.q0.to_vec();
        reader.system.retract(along.q0, parts[0], &mut q);
        let [from, to] = along.controls;
        let u: Vec<Trace> = from.iter().zip(to).map(|(&a, &b)| a * (1.0 - share) + b * share).collect();
        let t = along.clock.begins + along.clock.duration * (along.part + along.width * share);
        let s = self.state(along.shape, t, &q, parts[1], parts[2], &u, along.clock.statics);
        let (a, l) = reader.accelerate(&s, &self.drives(along.shape, &u));
        let rate = reader.rate(&s);
        let mut local = parts[1].to_vec();
        reader.system.local_rate(parts[0], parts[1], &mut local);
        let mut moment = Moment {
            reader,
            state: &s,
            controls: &u,
            statics: along.clock.statics,
            duration: along.clock.duration,
            acceleration: Some(&a),
            multipliers: Some(&l),
            missing: &self.missing,
        };
        let integrals = self.integrals(along.phase, &mut moment, Trace::one());
        Slope { rates: [local, a, rate], integrals }
    }

    pub fn shooting(&mut self, phase: usize) -> Result<(), ControlError> {
        let Method::Shooting { steps } = self.phase(phase).method else { return Ok(()) };
        let shape = self.phase(phase).system.shape();
        let controls = self.problem.controls.len();
        let flat = self.plans[phase].flat;
        let mut signature = Signature::default();
        for _ in 0..2 {
            [shape.q, shape.v, shape.x, controls].into_iter().for_each(|size| signature.push(size, true));
        }
        signature.push(shape.g, true);
        signature.push(shape.rows(), true);
        self.clock_signature(phase, &mut signature);
        signature.push(2, false);
        let name = format!("interval of `{}`", self.phase(phase).name);
        let mut kernel = self.record(name, &signature, "", |x| {
            let (push, nudge) = (x[8], x[9]);
            let clock = Self::clock(&x[10..14]);
            let (part, width) = (x[14][0], x[14][1]);
            let h = clock.duration * width / steps as f64;
            let duration = clock.duration;
            let statics = clock.statics;
            let along = Along { phase, shape, q0: x[0], controls: [x[3], x[7]], clock, part, width };
            let mut reader = self.reader(phase);
            let mut now = [vec![Trace::from(0.0); shape.v], x[1].to_vec(), x[2].to_vec()];
            let mut goals = Vec::new();
            for step in 0..steps {
                let at = |c: f64| (step as f64 + c) / steps as f64;
                let one = self.slope(&along, &mut reader, at(0.0), [&now[0], &now[1], &now[2]]);
                let second = advance(&now, &one, h * 0.5);
                let two = self.slope(&along, &mut reader, at(0.5), [&second[0], &second[1], &second[2]]);
                let third = advance(&now, &two, h * 0.5);
                let three = self.slope(&along, &mut reader, at(0.5), [&third[0], &third[1], &third[2]]);
                let fourth = advance(&now, &three, h);
                let four = self.slope(&along, &mut reader, at(1.0), [&fourth[0], &fourth[1], &fourth[2]]);
                let mut next = now.clone();
                for (slope, weight) in [(one, 1.0 / 6.0), (two, 1.0 / 3.0), (three, 1.0 / 3.0), (four, 1.0 / 6.0)] {
                    next = advance(&next, &slope, h * weight);
                    let (objective, rows) = slope.integrals;
                    goals.push((objective * h * weight, rows.iter().map(|&row| row * h * weight).collect()));
                }
                now = next;
            }
            let [mut delta, mut v, extra] = now;
            if shape.rows() > 0 {
                let zeros = vec![Trace::from(0.0); shape.x];
                let t = along.clock.begins + duration * (part + width);
                let s = self.state(shape, t, x[4], x[5], &zeros, x[7], statics);
                reader.prepare(&s);
                let mut wide = vec![Trace::from(0.0); shape.rows()];
                wide[..shape.g].copy_from_slice(push);
                delta = add_scaled(&delta, &reader.directions(&s, &wide), Trace::one());
                v = add_scaled(&v, &reader.directions(&s, nudge), Trace::one());
            }
            let mut end = x[0].to_vec();
            reader.system.retract(x[0], &delta, &mut end);
            let mut rows: Vec<Trace> = x[4].iter().zip(end).map(|(&q, e)| q - e).collect();
            rows.extend(x[5].iter().zip(v).map(|(&v, e)| v - e));
            rows.extend(x[6].iter().zip(extra).map(|(&x, e)| x - e));
            let (objective, parts) = Self::sum(goals);
            rows.extend(parts);
            (objective, rows)
        })?;
        let names = [self.step_names(phase, flat), self.speed_names(phase), self.extra_names(phase)].concat();
        for k in 0..self.plans[phase].intervals.len() {
            let plan = &self.plans[phase];
            let (a, b, i) = (&plan.nodes[k], &plan.nodes[k + 1], &plan.intervals[k]);
            let (part, width) = (plan.parts[k], plan.parts[k + 1] - plan.parts[k]);
            let mut groups: Vec<Vec<u32>> =
                [&a.q, &a.v, &a.x, &a.u, &b.q, &b.v, &b.x, &b.u, &i.push, &i.nudge].map(ids).into();
            groups.extend(self.clock_places(phase));
            groups.push(self.constants(&[part, width]));
            let mut rows = self.new_rows(&names, phase, part + width);
            rows.extend(self.integral_rows(phase));
            kernel.place(&signature, &groups, rows);
        }
        self.program.kernels.push(kernel);
        self.path_at_shots(phase)
    }

    /// Path functions at nodes.
    fn path_at_shots(&mut self, phase: usize) -> Result<(), ControlError> {
        if self.phase(phase).path.is_empty() {
            return Ok(());
        }
        let shape = self.phase(phase).system.shape();
        let mut signature = Signature::default();
        for size in [shape.q, shape.v, shape.x, self.problem.controls.len()] {
            signature.push(size, true);
        }
        self.clock_signature(phase, &mut signature);
        signature.push(1, false);
        let name = format!("path of `{}`", self.phase(phase).name);
        let mut kernel = self.record(name, &signature, "", |x| {
            let clock = Self::clock(&x[4..8]);
            let t = clock.begins + clock.duration * x[8][0];
            let s = self.state(shape, t, x[0], x[1], x[2], x[3], clock.statics);
            let mut reader = self.reader(phase);
            let (a, l) = reader.accelerate(&s, &self.drives(shape, x[3]));
            let mut moment = Moment {
                reader: &mut reader,
                state: &s,
                controls: x[3],
                statics: clock.statics,
                duration: clock.duration,
                acceleration: Some(&a),
                multipliers: Some(&l),
                missing: &self.missing,
            };
            (Trace::from(0.0), self.path_rows(phase, &mut moment))
        })?;
        for k in 0..self.plans[phase].nodes.len() {
            let plan = &self.plans[phase];
            let (node, part) = (&plan.nodes[k], plan.parts[k]);
            let mut groups: Vec<Vec<u32>> = [&node.q, &node.v, &node.x, &node.u].map(ids).into();
            groups.extend(self.clock_places(phase));
            groups.push(self.constants(&[part]));
            let rows = self.new_path_rows(phase, part);
            kernel.place(&signature, &groups, rows);
        }
        self.program.kernels.push(kernel);
        Ok(())
    }
}

/// (δ, v, x) moved along a slope.
fn advance(now: &[Vec<Trace>; 3], slope: &Slope, h: Trace) -> [Vec<Trace>; 3] {
    moved([&now[0], &now[1], &now[2]], [&slope.rates[0], &slope.rates[1], &slope.rates[2]], h)
}
