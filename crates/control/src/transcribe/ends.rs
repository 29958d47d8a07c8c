//! What holds at nodes: constraints of the system, conditions at starts and ends, borders between phases, periodicity.

use super::{Build, Node, Plan, ids};
use crate::difference::tangents;
use crate::error::ControlError;
use crate::kernel::{Kernel, Signature};
use crate::method::Method;
use crate::moment::Moment;
use crate::problem::Condition;
use crate::program::When;
use dalembert_graph::Trace;
use dalembert_methods::System;
use dalembert_optimise::Bound;

impl<'a, Y: System> Build<'_, 'a, Y> {
    /// Fixes unknowns by conditions that name them.
    pub fn fix_ends(&mut self, number: usize, plan: &Plan) -> Result<(), ControlError> {
        let phase = self.phase(number);
        let ends = [(&phase.start, 0, "start"), (&phase.end, plan.nodes.len() - 1, "end")];
        for (conditions, node, side) in ends {
            let node = &plan.nodes[node];
            let place = format!("{side} of phase `{}`", phase.name);
            for condition in conditions {
                let wrong = |found: usize, wanted: usize| {
                    let message = format!("a condition has {found} numbers, {wanted} are expected");
                    Err(ControlError::statement(place.clone(), message))
                };
                let bounds: Vec<(usize, Bound)> = match condition {
                    Condition::Configuration(q) if q.len() != node.q.len() => return wrong(q.len(), node.q.len()),
                    Condition::Velocity(v) | Condition::Momentum(v) if v.len() != node.v.len() => {
                        return wrong(v.len(), node.v.len());
                    }
                    Condition::Configuration(q) if plan.flat || side == "start" => {
                        node.q.clone().zip(q.iter().map(|&q| Bound::equal(q))).collect()
                    }
                    Condition::Velocity(v) => node.v.clone().zip(v.iter().map(|&v| Bound::equal(v))).collect(),
                    Condition::Coordinate(i, bound) if *i < node.q.len() => vec![(node.q.start + i, *bound)],
                    Condition::Speed(i, bound) if *i < node.v.len() => vec![(node.v.start + i, *bound)],
                    Condition::Extra(i, bound) if *i < node.x.len() => vec![(node.x.start + i, *bound)],
                    Condition::Coordinate(i, _) => return wrong(i + 1, node.q.len()),
                    Condition::Speed(i, _) => return wrong(i + 1, node.v.len()),
                    Condition::Extra(i, _) => return wrong(i + 1, node.x.len()),
                    Condition::Configuration(_) | Condition::Momentum(_) | Condition::Of { .. } => Vec::new(),
                };
                for (at, bound) in bounds {
                    let variable = &mut self.program.variables[at];
                    let both =
                        Bound::between(variable.bound.lower.max(bound.lower), variable.bound.upper.min(bound.upper));
                    if both.lower > both.upper {
                        let name = self.program.labels[variable.label as usize].clone();
                        let message = format!(
                            "`{name}` must be between {} and {}, and here between {} and {}: these contradict each other",
                            variable.bound.lower, variable.bound.upper, bound.lower, bound.upper
                        );
                        return Err(ControlError::statement(place, message));
                    }
                    variable.bound = both;
                }
            }
        }
        Ok(())
    }

    /// Constraints of the system at nodes.
    pub fn holds(&mut self, phase: usize) -> Result<(), ControlError> {
        let system = self.phase(phase).system;
        let shape = system.shape();
        let last = self.plans[phase].nodes.len() - 1;
        let [at_start, at_end] = [self.left(phase, 0)?, self.left(phase, 1)?];
        // Positions at the start of a later phase: what the phase before has kept already is left out.
        let kept: Vec<String> = match phase.checked_sub(1) {
            Some(before) => {
                let before = self.phase(before).system;
                (0..before.shape().g).map(|row| before.row_name(row)).collect()
            }
            None => Vec::new(),
        };
        let new: Vec<usize> = (0..shape.g).filter(|&row| !kept.contains(&system.row_name(row))).collect();
        let all: Vec<usize> = (0..shape.g).collect();
        let first: Vec<usize> = at_start.positions.iter().copied().filter(|row| new.contains(row)).collect();
        let mut groups = vec![(self.counting(phase, 0, &first), 0..1)];
        for node in 1..=last {
            let own = self.counting(phase, node, if node == last { &at_end.positions } else { &all });
            match groups.last_mut() {
                Some((rows, nodes)) if nodes.start > 0 && *rows == own => nodes.end = node + 1,
                _ => groups.push((own, node..node + 1)),
            }
        }
        for (rows, nodes) in groups {
            self.hold_positions(phase, &rows, nodes)?;
        }
        if shape.rows() == 0 {
            return Ok(());
        }
        let inner = self.plans[phase].method != Method::Dmocc;
        let everything: Vec<usize> = (0..shape.rows()).collect();
        let mut groups: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for node in (0..=last).filter(|&k| inner || k == 0 || k == last) {
            let rows = match node {
                0 => &at_start.rates,
                k if k == last => &at_end.rates,
                _ => &everything,
            };
            let own = self.counting(phase, node, rows);
            match groups.iter_mut().find(|(rows, _)| *rows == own) {
                Some((_, nodes)) => nodes.push(node),
                None => groups.push((own, vec![node])),
            }
        }
        for (rows, nodes) in groups {
            self.hold_rates(phase, &rows, &nodes)?;
        }
        Ok(())
    }

    /// Those of some rows that count at a node: where a division says so, the others follow from them.
    fn counting(&self, phase: usize, node: usize, which: &[usize]) -> Vec<usize> {
        let division = self.division(phase, node);
        which.iter().copied().filter(|row| division.is_none_or(|d| d.rows.contains(row))).collect()
    }

    fn hold_rates(&mut self, phase: usize, which: &[usize], nodes: &[usize]) -> Result<(), ControlError> {
        if which.is_empty() {
            return Ok(());
        }
        let system = self.phase(phase).system;
        let shape = system.shape();
        let mut signature = Signature::default();
        signature.push(shape.q, true);
        signature.push(shape.v, true);
        self.clock_signature(phase, &mut signature);
        signature.push(1, false);
        let name = format!("rates of constraints of `{}`", self.phase(phase).name);
        let mut kernel = Kernel::record(name, &signature, |x| {
            let mut reader = self.reader(phase);
            let s = self.bare(phase, x[0], x[1], &x[2..6], x[6][0]);
            reader.prepare(&s);
            let rates = reader.velocity(&s);
            (Trace::from(0.0), which.iter().map(|&row| rates[row]).collect())
        })?;
        let names: Vec<String> = which.iter().map(|&row| format!("rate of {}", system.row_name(row))).collect();
        for &k in nodes {
            let plan = &self.plans[phase];
            let part = plan.parts[k];
            let mut groups = vec![ids(&plan.nodes[k].q), ids(&plan.nodes[k].v)];
            groups.extend(self.clock_places(phase));
            groups.push(self.constants(&[part]));
            let rows = self.new_rows(&names, phase, part);
            kernel.place(&signature, &groups, rows);
        }
        self.program.kernels.push(kernel);
        Ok(())
    }

    /// A state without extra states and controls.
    fn bare(
        &self,
        phase: usize,
        q: &[Trace],
        v: &[Trace],
        clock: &[&[Trace]],
        part: Trace,
    ) -> dalembert_methods::State<Trace> {
        let shape = self.phase(phase).system.shape();
        let clock = Self::clock(clock);
        let zeros = |n: usize| vec![Trace::from(0.0); n];
        let t = clock.begins + clock.duration * part;
        self.state(shape, t, q, v, &zeros(shape.x), &zeros(self.problem.controls.len()), clock.statics)
    }

    fn hold_positions(
        &mut self,
        phase: usize,
        which: &[usize],
        nodes: std::ops::Range<usize>,
    ) -> Result<(), ControlError> {
        if which.is_empty() || nodes.is_empty() {
            return Ok(());
        }
        let shape = self.phase(phase).system.shape();
        let mut signature = Signature::default();
        signature.push(shape.q, true);
        self.clock_signature(phase, &mut signature);
        signature.push(1, false);
        let name = format!("constraints of `{}`", self.phase(phase).name);
        let mut kernel = Kernel::record(name, &signature, |x| {
            let mut reader = self.reader(phase);
            let v = vec![Trace::from(0.0); shape.v];
            let s = self.bare(phase, x[0], &v, &x[1..5], x[5][0]);
            reader.prepare(&s);
            let residual = reader.holonomic(&s);
            (Trace::from(0.0), which.iter().map(|&row| residual[row]).collect())
        })?;
        let names: Vec<String> = which.iter().map(|&row| self.phase(phase).system.row_name(row)).collect();
        for k in nodes {
            let plan = &self.plans[phase];
            let part = plan.parts[k];
            let mut groups = vec![ids(&plan.nodes[k].q)];
            groups.extend(self.clock_places(phase));
            groups.push(self.constants(&[part]));
            let rows = self.new_rows(&names, phase, part);
            kernel.place(&signature, &groups, rows);
        }
        self.program.kernels.push(kernel);
        Ok(())
    }

    /// The unknowns at the start (0) or the end (1) of a phase, controls of the interval beside it among them.
    pub fn end_node(&self, phase: usize, end: usize) -> Node {
        let plan = &self.plans[phase];
        let (node, interval) = if end == 0 {
            (&plan.nodes[0], &plan.intervals[0])
        } else {
            (&plan.nodes[plan.nodes.len() - 1], &plan.intervals[plan.intervals.len() - 1])
        };
        let pick = |own: &std::ops::Range<usize>, other: &std::ops::Range<usize>| {
            if own.is_empty() { other.clone() } else { own.clone() }
        };
        Node { u: pick(&node.u, &interval.u), l: pick(&node.l, &interval.l), ..node.clone() }
    }

    /// Adds the groups of an end to a signature.
    fn end_signature(&self, phase: usize, end: usize, signature: &mut Signature) {
        let node = self.end_node(phase, end);
        for range in [&node.q, &node.v, &node.x, &node.u, &node.a, &node.l] {
            signature.push(range.len(), true);
        }
        self.clock_signature(phase, signature);
    }

    fn end_places(&mut self, phase: usize, end: usize) -> Vec<Vec<u32>> {
        let node = self.end_node(phase, end);
        let mut groups: Vec<Vec<u32>> = [&node.q, &node.v, &node.x, &node.u, &node.a, &node.l].map(ids).into();
        groups.extend(self.clock_places(phase));
        groups
    }

    /// Runs a function with the moment at an end, from ten groups.
    fn with_end<T>(&self, phase: usize, end: usize, x: &[&[Trace]], f: impl FnOnce(&mut Moment<'_, 'a, Y>) -> T) -> T {
        let shape = self.phase(phase).system.shape();
        let clock = Self::clock(&x[6..10]);
        let t = clock.begins + clock.duration * end as f64;
        let s = self.state(shape, t, x[0], x[1], x[2], x[3], clock.statics);
        let mut reader = self.reader(phase);
        let known = |values| -> Option<&[Trace]> { Some(values).filter(|v: &&[Trace]| !v.is_empty()) };
        f(&mut Moment {
            reader: &mut reader,
            state: &s,
            controls: x[3],
            statics: clock.statics,
            duration: clock.duration,
            acceleration: known(x[4]),
            multipliers: known(x[5]),
            missing: &self.missing,
        })
    }

    /// Records and places a kernel of one end of a phase.
    pub fn at_end(
        &mut self,
        phase: usize,
        end: usize,
        name: String,
        hint: &'static str,
        function: impl Fn(&Self, &mut Moment<'_, 'a, Y>) -> (Trace, Vec<Trace>),
        rows: Vec<u32>,
    ) -> Result<(), ControlError> {
        let mut signature = Signature::default();
        self.end_signature(phase, end, &mut signature);
        let mut kernel =
            self.record(name, &signature, hint, |x| self.with_end(phase, end, x, |moment| function(self, moment)))?;
        let groups = self.end_places(phase, end);
        kernel.place(&signature, &groups, rows);
        self.program.kernels.push(kernel);
        Ok(())
    }

    /// Conditions at the ends of a phase that are rows.
    pub fn conditions(&mut self, phase: usize) -> Result<(), ControlError> {
        let statement = self.phase(phase);
        let system = statement.system;
        let flat = self.plans[phase].flat;
        for (end, conditions) in [&statement.start, &statement.end].into_iter().enumerate() {
            for condition in conditions {
                let when = Some(When { phase, part: end as f64 });
                match condition {
                    Condition::Configuration(target) if !flat && end == 1 => {
                        // The part of q − q* along the space of configurations.
                        let (_, columns) = tangents(system, target, &vec![0.0; system.shape().v]);
                        let rows = (0..columns.len())
                            .map(|i| {
                                let label =
                                    self.program.label(&format!("configuration of {}", system.velocity_name(i)));
                                self.program.add_row(label, when, Bound::equal(0.0))
                            })
                            .collect();
                        let function = |_: &Self, moment: &mut Moment<'_, '_, Y>| {
                            let miss = |column: &Vec<f64>| {
                                let terms = column.iter().zip(moment.q()).zip(target);
                                terms.fold(Trace::from(0.0), |sum, ((&p, &q), &target)| sum + (q - target) * p)
                            };
                            (Trace::from(0.0), columns.iter().map(miss).collect())
                        };
                        self.at_end(phase, end, "configuration at the end".into(), "", function, rows)?;
                    }
                    Condition::Momentum(target) => {
                        let rows = (0..target.len())
                            .map(|i| {
                                let label = self.program.label(&format!("momentum of {}", system.velocity_name(i)));
                                self.program.add_row(label, when, Bound::equal(target[i]))
                            })
                            .collect();
                        let function = |_: &Self, moment: &mut Moment<'_, '_, Y>| (Trace::from(0.0), moment.momentum());
                        self.at_end(phase, end, "momentum at an end".into(), "", function, rows)?;
                    }
                    Condition::Of { name, function, bound } => {
                        let label = self.program.label(name);
                        let row = self.program.add_row(label, when, *bound);
                        let hint = "a condition at an end knows what the method knows at nodes";
                        let function =
                            |_: &Self, moment: &mut Moment<'_, '_, Y>| (Trace::from(0.0), vec![function(moment)]);
                        self.at_end(phase, end, name.clone(), hint, function, vec![row])?;
                    }
                    _ => {}
                }
            }
        }
        let shift = self.plans[phase].shift.clone();
        if !shift.is_empty() {
            let shape = system.shape();
            let mut signature = Signature::default();
            signature.push(shape.q, true);
            signature.push(shape.v, true);
            signature.push(shape.q, false);
            let mut kernel = Kernel::record("configuration at the start", &signature, |x| {
                let mut moved = x[2].to_vec();
                system.retract(x[2], x[1], &mut moved);
                (Trace::from(0.0), x[0].iter().zip(moved).map(|(&q, m)| q - m).collect())
            })?;
            let typical = self.constants(&statement.typical);
            let groups = [ids(&self.plans[phase].nodes[0].q), ids(&shift), typical];
            let names: Vec<String> = (0..shape.q).map(|i| format!("start of coordinate {i}")).collect();
            let rows = self.new_rows(&names, phase, 0.0);
            kernel.place(&signature, &groups, rows);
            self.program.kernels.push(kernel);
        }
        Ok(())
    }

    /// Borders: configurations go on, velocities as far as the next constraints allow.
    pub fn borders(&mut self) -> Result<(), ControlError> {
        for phase in 1..self.problem.phases.len() {
            let system = self.phase(phase).system;
            let shape = system.shape();
            let mut signature = Signature::default();
            for size in [shape.q, shape.v, shape.x, shape.q, shape.v, shape.x, shape.rows()] {
                signature.push(size, true);
            }
            self.clock_signature(phase, &mut signature);
            let name = format!("border before `{}`", self.phase(phase).name);
            let mut kernel = Kernel::record(name, &signature, |x| {
                let mut reader = self.reader(phase);
                let s = self.bare(phase, x[3], x[4], &x[7..11], Trace::from(0.0));
                reader.prepare(&s);
                let jump: Vec<Trace> = x[4].iter().zip(x[1]).map(|(&after, &before)| after - before).collect();
                let mut rows: Vec<Trace> = x[3].iter().zip(x[0]).map(|(&a, &b)| a - b).collect();
                if shape.rows() == 0 {
                    rows.extend(&jump);
                } else {
                    let (momentum, impulse) = (reader.mass_times(&s, &jump), reader.directions(&s, x[6]));
                    rows.extend(momentum.iter().zip(impulse).map(|(&p, i)| p + i));
                }
                rows.extend(x[5].iter().zip(x[2]).map(|(&a, &b)| a - b));
                (Trace::from(0.0), rows)
            })?;
            let flat = self.plans[phase].flat;
            let names = [
                self.step_names(phase, flat).iter().map(|n| n.replacen("step", "border", 1)).collect::<Vec<_>>(),
                self.speed_names(phase).iter().map(|n| n.replacen("step", "border", 1)).collect(),
                self.extra_names(phase).iter().map(|n| n.replacen("step", "border", 1)).collect(),
            ]
            .concat();
            let (a, b) = (self.end_node(phase - 1, 1), self.end_node(phase, 0));
            let impulse = self.plans[phase].impulse.clone();
            let mut groups: Vec<Vec<u32>> = [&a.q, &a.v, &a.x, &b.q, &b.v, &b.x, &impulse].map(ids).into();
            groups.extend(self.clock_places(phase));
            let rows = self.new_rows(&names, phase, 0.0);
            kernel.place(&signature, &groups, rows);
            self.program.kernels.push(kernel);
        }
        Ok(())
    }

    /// Conditions between the start and the end of the whole motion.
    pub fn across(&mut self) -> Result<(), ControlError> {
        let last = self.problem.phases.len() - 1;
        for condition in &self.problem.across {
            let mut signature = Signature::default();
            self.end_signature(0, 0, &mut signature);
            self.end_signature(last, 1, &mut signature);
            let hint = "a condition between the ends knows what the method knows at nodes";
            let mut kernel = self.record(condition.name.clone(), &signature, hint, |x| {
                let value = self.with_end(0, 0, &x[..10], |first| {
                    self.with_end(last, 1, &x[10..], |end| (condition.function)(first, end))
                });
                (Trace::from(0.0), vec![value])
            })?;
            let mut groups = self.end_places(0, 0);
            groups.extend(self.end_places(last, 1));
            let label = self.program.label(&condition.name);
            let row = self.program.add_row(label, Some(When { phase: last, part: 1.0 }), condition.bound);
            kernel.place(&signature, &groups, vec![row]);
            self.program.kernels.push(kernel);
        }
        Ok(())
    }
}
