//! Fronts: the best compromises between several goals of a problem, and the motions behind them.
//!
//! The problem is transcribed once, with every goal an unknown; what [`dalembert_optimise::pareto`] does with it knows nothing of motions. Two things are
//! added here. Random starts are the guess of the problem, bent:
//!
//! ```text
//! q_k ⊕ Σ_m (a_m / m) sin(m π s_k),   m = 1 … 3,   a_m uniform in ±bend for each direction
//! ```
//!
//! with s_k the part of the phase, so that ends stay where they are and starts are smooth motions; durations are drawn within their bounds. And motions
//! are told apart by their configurations at the nodes, whatever their duration, as Ringkamp, Ober-Blöbaum and Leyendecker do.

use crate::difference::difference;
use crate::error::ControlError;
use crate::problem::Problem;
use crate::program::{Duration, Options, Program};
use crate::solution::Solution;
use crate::transcribe::{Plan, transcribe};
use dalembert_methods::System;
use dalembert_optimise::pareto::{self, Front, Goal, ParetoError, Progress, Run};
use dalembert_optimise::report::Counts;
use dalembert_optimise::{Bound, Nlp, Outcome, Point, Report};
use std::f64::consts::PI;
use std::fmt;

/// Sines in a bend.
const WAVES: usize = 3;

/// Why there is no front.
#[derive(Debug)]
pub enum FrontError {
    /// The problem cannot be transcribed.
    Problem(ControlError),
    /// The search has no answer.
    Search(ParetoError),
}

impl fmt::Display for FrontError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(error) => error.fmt(f),
            Self::Search(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FrontError {}

impl From<ControlError> for FrontError {
    fn from(error: ControlError) -> Self {
        Self::Problem(error)
    }
}

/// A front, and what its points are read with.
pub struct Compromises {
    /// The front.
    pub front: Front,
    program: Program,
    plans: Vec<Plan>,
}

/// Finds the front of all goals of a problem. `within` gives the range of each goal that matters.
pub fn front<Y: System>(
    problem: &Problem<'_, Y>,
    transcription: &Options,
    search: &pareto::Options,
    within: &[Bound],
    run: &Run<'_>,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Compromises, FrontError> {
    let options = Options { goal_variables: true, ..transcription.clone() };
    let (program, plans) = transcribe(problem, &options)?;
    let named = program.goals().iter().zip(within);
    let goals = named
        .filter_map(|((name, at), within)| at.map(|at| Goal::new(at, name.clone()).within(*within)))
        .collect::<Vec<_>>();
    let systems: Vec<&Y> = problem.phases.iter().map(|phase| phase.system).collect();
    let make = || -> Box<dyn Nlp> { Box::new(program.clone()) };
    let projection = |x: &[f64]| configurations(&plans, x);
    let draw = |next: &mut dyn FnMut() -> f64, x: &mut [f64]| {
        for (plan, system) in plans.iter().zip(&systems) {
            bend(*system, plan, search.range, next, x);
        }
        for duration in &program.durations {
            if let Duration::Unknown(at) = duration {
                let Bound { lower, upper } = program.variables[*at].bound;
                x[*at] = lower + (upper - lower) * next();
            }
        }
    };
    let stated =
        pareto::Problem { projection: Some(&projection), draw: Some(&draw), ..pareto::Problem::new(&make, goals) };
    let front = pareto::front(&stated, search, run, watch).map_err(FrontError::Search)?;
    Ok(Compromises { front, program, plans })
}

impl Compromises {
    /// The motion behind a point of the front.
    pub fn solution<Y: System>(&self, problem: &Problem<'_, Y>, point: usize) -> Result<Solution, ControlError> {
        let found = &self.front.points[point].solution;
        let report = Report {
            outcome: Outcome::Solved,
            point: Point {
                x: found.x.clone(),
                constraints: found.constraints.clone(),
                lower: found.lower.clone(),
                upper: found.upper.clone(),
            },
            objective: found.goals.iter().zip(&found.weights).map(|(y, w)| y * w).sum(),
            violation: self.violation(&found.x),
            // Of the program with other goals and constraints that was solved; not known here.
            stationarity: f64::NAN,
            complementarity: f64::NAN,
            iterations: found.iterations,
            counts: Counts::default(),
            violated: Vec::new(),
            steepest: None,
        };
        Solution::new(problem, self.program.clone(), self.plans.clone(), report)
    }

    /// For each kind of solution the point in the middle of those that are best, or of all if none is.
    pub fn representatives(&self) -> Vec<usize> {
        (0..self.front.kinds())
            .filter_map(|kind| {
                let of = |global: bool| -> Vec<usize> {
                    let points = self.front.points.iter().enumerate();
                    points.filter(|(_, p)| p.kind == kind && (p.global || !global)).map(|(k, _)| k).collect()
                };
                let best = of(true);
                let all = if best.is_empty() { of(false) } else { best };
                all.get(all.len() / 2).copied()
            })
            .collect()
    }

    /// The largest violation of a constraint at a point, computed anew.
    fn violation(&self, x: &[f64]) -> f64 {
        let mut program = self.program.clone();
        let size = program.size();
        let (mut variables, mut bounds) = (vec![Bound::FREE; size.variables], vec![Bound::FREE; size.constraints]);
        program.bounds(&mut variables, &mut bounds);
        let mut rows = vec![0.0; size.constraints];
        program.constraints(x, &mut rows);
        rows.iter().zip(&bounds).fold(0.0, |worst, (value, bound)| worst.max(bound.violation(*value)))
    }
}

/// The configurations at all nodes.
fn configurations(plans: &[Plan], x: &[f64]) -> Vec<f64> {
    plans.iter().flat_map(|plan| &plan.nodes).flat_map(|node| x[node.q.clone()].iter().copied()).collect()
}

/// Bends the motion of a phase.
fn bend<Y: System>(system: &Y, plan: &Plan, size: f64, next: &mut dyn FnMut() -> f64, x: &mut [f64]) {
    let directions = system.shape().v;
    let waves: Vec<[f64; WAVES]> =
        (0..directions).map(|_| std::array::from_fn(|m| size * (2.0 * next() - 1.0) / (m + 1) as f64)).collect();
    let bent = |part: f64| -> Vec<f64> {
        let sum = |wave: &[f64; WAVES]| (0..WAVES).map(|m| wave[m] * ((m + 1) as f64 * PI * part).sin()).sum();
        waves.iter().map(sum).collect()
    };
    for (node, &part) in plan.nodes.iter().zip(&plan.parts) {
        // The sine of a multiple of π is not quite zero: what is fixed at the ends stays.
        if node.q.is_empty() || part <= 0.0 || part >= 1.0 {
            continue;
        }
        let from = x[node.q.clone()].to_vec();
        system.retract(&from, &bent(part), &mut x[node.q.clone()]);
    }
    for (k, interval) in plan.intervals.iter().enumerate() {
        let (a, b) = (&plan.nodes[k].q, &plan.nodes[k + 1].q);
        if a.is_empty() || b.is_empty() {
            continue;
        }
        let (start, end) = (x[a.clone()].to_vec(), x[b.clone()].to_vec());
        let step = difference(system, &start, &end);
        if !interval.step.is_empty() {
            x[interval.step.clone()].copy_from_slice(&step);
        }
        // Inner stages on the way from node to node.
        let stages = interval.stages.len() as f64 + 1.0;
        for (j, stage) in interval.stages.iter().enumerate() {
            let share = (j + 1) as f64 / stages;
            let to = &mut x[stage.q.clone()];
            if plan.flat {
                to.iter_mut().zip(start.iter().zip(&end)).for_each(|(to, (a, b))| *to = a + share * (b - a));
            } else {
                to.iter_mut().zip(&step).for_each(|(to, step)| *to = share * step);
            }
        }
    }
}
