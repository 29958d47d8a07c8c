//! Solutions: motions, controls, goals, costates; what a solver found in the words of the problem.

use crate::difference::difference;
use crate::error::ControlError;
use crate::method::Method;
use crate::problem::{Guess, GuessAt, Problem};
use crate::program::{Options, Program, When};
use crate::transcribe::{Plan, transcribe};
use dalembert_methods::algebra::Mass;
use dalembert_methods::{State, System};
use dalembert_optimise::interior;
use dalembert_optimise::{Control, Nlp, Progress, Report};
use std::ops::Range;

/// The motion at a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instant {
    /// The phase.
    pub phase: usize,
    /// When, as a part of the phase.
    pub part: f64,
    /// Time, in s.
    pub t: f64,
    /// Configuration.
    pub q: Vec<f64>,
    /// Velocity.
    pub v: Vec<f64>,
    /// Extra states.
    pub x: Vec<f64>,
    /// Controls.
    pub u: Vec<f64>,
    /// Multipliers of the constraints of the phase.
    pub multipliers: Vec<f64>,
}

/// The end of a solve.
pub struct Solution {
    /// What the solver says.
    pub report: Report,
    /// The program, for further solves.
    pub program: Program,
    /// Where its unknowns stand.
    pub plans: Vec<Plan>,
    /// The motion at the nodes, phase by phase.
    pub instants: Vec<Instant>,
    /// The durations of the phases, in s.
    pub durations: Vec<f64>,
    /// The static parameters.
    pub statics: Vec<f64>,
    /// The goals: name and value.
    pub goals: Vec<(String, f64)>,
}

/// Transcribes and solves a problem by interior points. `watch` sees every iteration and may stop the solve.
pub fn solve<Y: System>(
    problem: &Problem<'_, Y>,
    options: &Options,
    solver: &interior::Options,
    watch: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Solution, ControlError> {
    let (mut program, plans) = transcribe(problem, options)?;
    let report = interior::solve(&mut program, solver, watch);
    Solution::new(problem, program, plans, report)
}

impl Solution {
    /// Reads a solver's answer.
    pub fn new<Y: System>(
        problem: &Problem<'_, Y>,
        program: Program,
        plans: Vec<Plan>,
        report: Report,
    ) -> Result<Self, ControlError> {
        let x = &report.point.x;
        let durations = program.durations(x);
        let mut instants = Vec::new();
        for (phase, plan) in plans.iter().enumerate() {
            instants.extend(read_phase(problem, &program, phase, plan, x));
        }
        let count = problem.statics.len();
        let first = program.variables.len() - count - program.goals.iter().filter(|g| g.1.is_some()).count();
        let statics = x[first..first + count].to_vec();
        let goals = goal_values(problem, &program, x)?;
        Ok(Self { instants, durations, statics, goals, plans, program, report })
    }

    /// Whether the solver was successful.
    pub fn is_success(&self) -> bool {
        self.report.outcome.is_success()
    }

    /// The instants of a phase.
    pub fn phase(&self, phase: usize) -> &[Instant] {
        let first = self.instants.partition_point(|i| i.phase < phase);
        let last = self.instants.partition_point(|i| i.phase <= phase);
        &self.instants[first..last]
    }

    /// A guess for another transcription of the same phase.
    pub fn guess(&self, phase: usize) -> Guess {
        let at = |i: &Instant| GuessAt { part: i.part, q: i.q.clone(), v: i.v.clone(), x: i.x.clone(), u: i.u.clone() };
        Guess::Instants(self.phase(phase).iter().map(at).collect())
    }

    /// How well the discrete adjoint equations hold: the largest entry of ∇f + Jᵀ y − z_L + z_U over the unknowns of one kind, computed anew from the kernels, and the
    /// largest multiplier, to compare with.
    pub fn adjoint_residual(&mut self) -> AdjointResidual {
        let point = self.report.point.clone();
        let mut slope = vec![0.0; point.x.len()];
        self.program.gradient(&point.x, &mut slope);
        let pattern = self.program.jacobian_pattern();
        let mut values = vec![0.0; pattern.len()];
        self.program.jacobian(&point.x, &mut values);
        for (&(row, column), value) in pattern.iter().zip(&values) {
            slope[column] += value * point.constraints[row];
        }
        let mut out = AdjointResidual::default();
        for (i, slope) in slope.iter().enumerate() {
            // Fixed unknowns have no equation.
            if self.program.variables[i].bound.is_equality() {
                continue;
            }
            out.largest = out.largest.max((slope + point.upper[i] - point.lower[i]).abs());
        }
        let all = point.constraints.iter().chain(&point.lower).chain(&point.upper);
        out.multiplier = all.fold(0.0, |m: f64, y| m.max(y.abs()));
        out
    }
}

/// How well adjoint equations hold.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct AdjointResidual {
    /// The largest residual.
    pub largest: f64,
    /// The largest multiplier.
    pub multiplier: f64,
}

fn read_phase<Y: System>(
    problem: &Problem<'_, Y>,
    program: &Program,
    phase: usize,
    plan: &Plan,
    x: &[f64],
) -> Vec<Instant> {
    let of = |range: &Range<usize>| x[range.clone()].to_vec();
    let system = problem.phases[phase].system;
    let last = plan.nodes.len() - 1;
    let mut out: Vec<Instant> = Vec::with_capacity(last + 1);
    for (k, node) in plan.nodes.iter().enumerate() {
        // Controls and multipliers of intervals are told at their start, those of the last one at the end, too.
        let interval = &plan.intervals[k.min(last - 1)];
        let pick = |own: &Range<usize>, other: &Range<usize>| of(if own.is_empty() { other } else { own });
        let part = plan.parts[k];
        let mut instant = Instant {
            phase,
            part,
            t: program.time(x, When { phase, part }),
            q: of(&node.q),
            v: of(&node.v),
            x: of(&node.x),
            u: pick(&node.u, &interval.u),
            multipliers: pick(&node.l, &interval.l),
        };
        if instant.v.is_empty() {
            instant.v = vec![0.0; system.shape().v];
        }
        out.push(instant);
    }
    if plan.method == Method::Dmocc {
        // Velocities between the ends: the mean of the increments on both sides, of order 2 like the method.
        for k in 1..last {
            let h = [out[k].t - out[k - 1].t, out[k + 1].t - out[k].t];
            let increments =
                [difference(system, &out[k - 1].q, &out[k].q), difference(system, &out[k].q, &out[k + 1].q)];
            out[k].v =
                (0..system.shape().v).map(|i| 0.5 * (increments[0][i] / h[0] + increments[1][i] / h[1])).collect();
        }
    }
    out
}

/// The values of goals at a point: those of goal variables, or of a program in which only one goal counts.
fn goal_values<Y: System>(
    problem: &Problem<'_, Y>,
    program: &Program,
    x: &[f64],
) -> Result<Vec<(String, f64)>, ControlError> {
    if program.goals.iter().all(|(_, at)| at.is_some()) {
        return Ok(program.goals.iter().map(|(name, at)| (name.clone(), at.map_or(f64::NAN, |at| x[at]))).collect());
    }
    let options = Options { goal_variables: true, evaluations: 0, ..Options::default() };
    let (mut other, _) = transcribe(problem, &options)?;
    // Goal variables come last, so that all else stands where it stood; their rows hold y − J.
    let mut point = x.to_vec();
    point.resize(other.variables.len(), 0.0);
    let mut rows = vec![0.0; other.rows.len()];
    other.constraints(&point, &mut rows);
    let mut goals = Vec::new();
    for (k, (name, _)) in other.goals.iter().enumerate() {
        goals.push((name.clone(), -rows[k]));
    }
    Ok(goals)
}

/// The kinetic energy of an instant.
pub fn kinetic<Y: System>(system: &Y, instant: &Instant) -> f64 {
    let mut s: State<f64> = State::zeros(system.shape());
    s.t = instant.t;
    s.q.copy_from_slice(&instant.q);
    s.v.copy_from_slice(&instant.v);
    let mut w = system.work();
    system.prepare(&s, &mut w);
    let mut mass = Mass::new(&system.mass_blocks());
    system.mass(&s, &mut w, &mut mass);
    let mut momentum = vec![0.0; instant.v.len()];
    mass.apply(&instant.v, &mut momentum);
    0.5 * momentum.iter().zip(&instant.v).map(|(p, v)| p * v).sum::<f64>()
}
