//! Where the unknowns of each phase stand.

use super::{Build, Division};
use crate::error::ControlError;
use crate::method::{Form, Method};
use crate::problem::{Condition, Phase};
use crate::program::{Duration, When};
use dalembert_methods::System;
use dalembert_optimise::Bound;
use std::ops::Range;

/// The unknowns of a node; empty ranges for what a method does not have there.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Configuration.
    pub q: Range<usize>,
    /// Velocity; `Dmocc` has it only at the ends of a phase.
    pub v: Range<usize>,
    /// Extra states.
    pub x: Range<usize>,
    /// Controls.
    pub u: Range<usize>,
    /// Acceleration.
    pub a: Range<usize>,
    /// Multipliers of constraints.
    pub l: Range<usize>,
}

/// An inner stage of collocation: the same as a node.
pub type Stage = Node;

/// The unknowns of an interval.
#[derive(Clone, Debug, Default)]
pub struct Interval {
    /// Controls that are constant on it.
    pub u: Range<usize>,
    /// Multipliers of constraints.
    pub l: Range<usize>,
    /// What pushes positions back to constraints.
    pub push: Range<usize>,
    /// What pushes velocities back.
    pub nudge: Range<usize>,
    /// The increment of the configuration, where it is not a difference.
    pub step: Range<usize>,
    /// Inner stages; their configurations are increments from the start of the interval where they are not differences.
    pub stages: Vec<Stage>,
}

/// The unknowns of a phase.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The method.
    pub method: Method,
    /// Whether configurations are added to.
    pub flat: bool,
    /// Ends of intervals as parts of the duration.
    pub parts: Vec<f64>,
    /// Nodes, one more than intervals.
    pub nodes: Vec<Node>,
    /// Intervals.
    pub intervals: Vec<Interval>,
    /// The increment from the typical configuration to the start, where that is free and no difference.
    pub shift: Range<usize>,
    /// Impulses of constraints at the border before the phase.
    pub impulse: Range<usize>,
    /// Whether conditions fix the whole configuration and velocity at start and end.
    pub fixed: [[bool; 2]; 2],
    /// Divisions of velocities where multipliers are no unknowns, and which of them each node has.
    pub divisions: Vec<Division>,
    /// The division of each node.
    pub division_of: Vec<usize>,
}

/// Whether conditions fix the whole configuration, and the whole velocity.
fn fixed<Y: System>(conditions: &[Condition<'_, Y>]) -> [bool; 2] {
    let whole = |c: &Condition<'_, Y>| matches!(c, Condition::Configuration(_));
    let moving = |c: &Condition<'_, Y>| matches!(c, Condition::Velocity(_) | Condition::Momentum(_));
    [conditions.iter().any(whole), conditions.iter().any(moving)]
}

impl<Y: System> Build<'_, '_, Y> {
    /// Numbers all unknowns but goals.
    pub fn lay_out(&mut self) -> Result<(), ControlError> {
        for phase in 0..self.problem.phases.len() {
            let plan = self.lay_out_phase(phase)?;
            self.plans.push(plan);
        }
        for (number, phase) in self.problem.phases.iter().enumerate() {
            let duration = if phase.duration.is_equality() {
                Duration::Fixed(phase.duration.lower)
            } else {
                let label = self.program.label(&format!("duration of `{}`", phase.name));
                let start = phase.duration_guess.clamp(phase.duration.lower, phase.duration.upper);
                Duration::Unknown(self.program.add_variable(label, None, phase.duration, start))
            };
            debug_assert_eq!(self.program.durations.len(), number);
            self.program.durations.push(duration);
        }
        let first = self.program.variables.len();
        for parameter in &self.problem.statics {
            let label = self.program.label(&parameter.name);
            self.program.add_variable(label, None, parameter.bound, parameter.guess);
        }
        self.statics = first..self.program.variables.len();
        self.program.statics = self.statics.clone();
        Ok(())
    }

    fn block(&mut self, names: &[String], bounds: &dyn Fn(usize) -> Bound, when: When) -> Range<usize> {
        let first = self.program.variables.len();
        for (i, name) in names.iter().enumerate() {
            let label = self.program.label(name);
            self.program.add_variable(label, Some(when), bounds(i), 0.0);
        }
        first..self.program.variables.len()
    }

    fn lay_out_phase(&mut self, number: usize) -> Result<Plan, ControlError> {
        let phase = self.phase(number);
        let shape = phase.system.shape();
        let (flat, parts) = (self.flat(number), phase.parts());
        let names = Names::new(phase, flat, self.problem.controls.iter().map(|c| c.name.clone()).collect());
        let find =
            |list: &[(usize, Bound)], i: usize| list.iter().find(|(k, _)| *k == i).map_or(Bound::FREE, |(_, b)| *b);
        let coordinates = |i: usize| find(&phase.coordinates, i);
        let velocities = |i: usize| find(&phase.velocities, i);
        let extra = |i: usize| find(&phase.extra, i);
        let control_bounds: Vec<Bound> = self.problem.controls.iter().map(|c| c.bound).collect();
        let controls = |i: usize| control_bounds[i];
        let free = |_: usize| Bound::FREE;
        let method = phase.method;
        let (on_nodes, accelerations) = match method {
            Method::Dmocc | Method::Midpoint => (false, false),
            Method::Lobatto { .. } => (true, true),
            Method::LobattoExplicit { .. } | Method::Shooting { .. } => (true, false),
        };
        let rows = shape.rows();
        let fixed = [fixed(&phase.start), fixed(&phase.end)];
        let mut plan = Plan {
            method,
            flat,
            parts: parts.clone(),
            nodes: Vec::new(),
            intervals: Vec::new(),
            shift: 0..0,
            impulse: 0..0,
            fixed,
            divisions: Vec::new(),
            division_of: Vec::new(),
        };
        let start = When { phase: number, part: 0.0 };
        if number > 0 {
            plan.impulse = self.block(&names.impulses[..rows], &free, start);
        }
        if number == 0 && !flat && !fixed[0][0] {
            plan.shift = self.block(&names.shifts, &free, start);
        }
        for k in 0..=phase.intervals {
            let when = When { phase: number, part: parts[k] };
            let end = k == 0 || k == phase.intervals;
            let mut node = Node { q: self.block(&names.q, &coordinates, when), ..Node::default() };
            if method != Method::Dmocc || end {
                node.v = self.block(&names.v, &velocities, when);
            }
            node.x = self.block(&names.x, &extra, when);
            if on_nodes {
                node.u = self.block(&names.u, &controls, when);
            }
            if accelerations {
                node.a = self.block(&names.a, &free, when);
            }
            if accelerations || method == Method::Dmocc && phase.form == Form::Multipliers {
                node.l = self.block(&names.l, &free, when);
            }
            plan.nodes.push(node);
            if k == phase.intervals {
                break;
            }
            let width = parts[k + 1] - parts[k];
            let middle = When { phase: number, part: parts[k] + 0.5 * width };
            let mut interval = Interval::default();
            if !on_nodes {
                interval.u = self.block(&names.u, &controls, middle);
            }
            if method == Method::Midpoint {
                interval.l = self.block(&names.l, &free, middle);
            }
            if method != Method::Dmocc {
                interval.push = self.block(&names.pushes[..shape.g], &free, middle);
            }
            if on_nodes {
                interval.nudge = self.block(&names.nudges[..rows], &free, middle);
            }
            let collocated = matches!(method, Method::Lobatto { .. } | Method::LobattoExplicit { .. });
            if !flat && (collocated || method == Method::Dmocc) {
                interval.step = self.block(&names.steps, &free, middle);
            }
            if let Method::Lobatto { stages } | Method::LobattoExplicit { stages } = method {
                let points = crate::lobatto::Lobatto::new(stages).c;
                for c in &points[1..stages - 1] {
                    let when = When { phase: number, part: parts[k] + c * width };
                    let q = if flat {
                        self.block(&names.q, &coordinates, when)
                    } else {
                        self.block(&names.steps, &free, when)
                    };
                    let v = self.block(&names.v, &velocities, when);
                    let x = self.block(&names.x, &extra, when);
                    let u = self.block(&names.u, &controls, when);
                    let (mut a, mut l) = (0..0, 0..0);
                    if accelerations {
                        a = self.block(&names.a, &free, when);
                        l = self.block(&names.l, &free, when);
                    }
                    interval.stages.push(Stage { q, v, x, u, a, l });
                }
            }
            plan.intervals.push(interval);
        }
        self.fix_ends(number, &plan)?;
        Ok(plan)
    }
}

/// Names of unknowns.
struct Names {
    q: Vec<String>,
    v: Vec<String>,
    x: Vec<String>,
    u: Vec<String>,
    a: Vec<String>,
    l: Vec<String>,
    steps: Vec<String>,
    shifts: Vec<String>,
    pushes: Vec<String>,
    nudges: Vec<String>,
    impulses: Vec<String>,
}

impl Names {
    fn new<Y: System>(phase: &Phase<'_, Y>, flat: bool, controls: Vec<String>) -> Self {
        let system = phase.system;
        let shape = system.shape();
        let velocity = |what: &'static str| (0..shape.v).map(move |i| format!("{what}{}", system.velocity_name(i)));
        let row = |what: &'static str| (0..shape.rows()).map(move |i| format!("{what}{}", system.row_name(i)));
        Self {
            q: if flat { velocity("").collect() } else { (0..shape.q).map(|i| format!("coordinate {i}")).collect() },
            v: velocity("rate of ").collect(),
            x: (0..shape.x).map(|i| format!("extra state {i}")).collect(),
            u: controls,
            a: velocity("acceleration of ").collect(),
            l: row("multiplier of ").collect(),
            steps: velocity("increment of ").collect(),
            shifts: velocity("shift of ").collect(),
            pushes: row("correction of positions by ").collect(),
            nudges: row("correction of velocities by ").collect(),
            impulses: row("impulse of ").collect(),
        }
    }
}
