//! Solutions: motions, controls, goals, costates; what a solver found in the words of the problem.

use crate::difference::difference;
use crate::error::ControlError;
use crate::method::Method;
use crate::problem::{Guess, GuessAt, Problem};
use crate::program::{Options, Program, When};
use crate::transcribe::{Plan, multipliers, transcribe, transcribe_about, worn};
use dalembert_methods::algebra::Mass;
use dalembert_methods::{State, System};
use dalembert_optimise::report::{OBJECTIVE, OBJECTIVE_SLOPE};
use dalembert_optimise::{Control, Nlp, Outcome, Point, Progress, Report, Solver};
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

impl Instant {
    /// The same as an instant of a guess.
    pub fn as_guess(&self) -> GuessAt {
        GuessAt { part: self.part, q: self.q.clone(), v: self.v.clone(), x: self.x.clone(), u: self.u.clone() }
    }
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

/// How often a problem is transcribed about a solution that has left the division of velocities with which it was found.
const DIVISIONS: usize = 5;

/// Transcribes and solves a problem, by interior points or by a sequence of quadratic programs. `watch` sees every iteration and may stop the solve.
pub fn solve<Y: System>(
    problem: &Problem<'_, Y>,
    options: &Options,
    solver: impl Into<Solver>,
    watch: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Solution, ControlError> {
    let (program, plans) = transcribe(problem, options)?;
    finish(problem, options, &solver.into(), program, plans, false, watch)
}

/// The same from a guess that is almost a solution, such as that on a coarser grid: the barrier begins low, and bounds do not push the start away.
pub fn solve_near<Y: System>(
    problem: &Problem<'_, Y>,
    options: &Options,
    solver: impl Into<Solver>,
    watch: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Solution, ControlError> {
    let (program, plans) = transcribe(problem, options)?;
    finish(problem, options, &solver.into(), program, plans, true, watch)
}

fn finish<Y: System>(
    problem: &Problem<'_, Y>,
    options: &Options,
    solver: &Solver,
    mut program: Program,
    mut plans: Vec<Plan>,
    near: bool,
    watch: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Solution, ControlError> {
    let mut report = if near {
        let x = program.variables.iter().map(|v| v.start).collect();
        solver.solve_from(&mut program, &Point { x, ..Point::default() }, watch)
    } else {
        solver.solve(&mut program, watch)
    };
    for _ in 0..DIVISIONS {
        let x = &report.point.x;
        let ended = matches!(report.outcome, Outcome::Stopped | Outcome::NotANumber { .. });
        if ended || !worn(problem, &program, &plans, x, report.outcome.is_success()) {
            break;
        }
        (program, plans) = transcribe_about(problem, options, Some(x))?;
        report = solver.solve(&mut program, watch);
    }
    name_goal(problem, &mut report)?;
    Solution::new(problem, program, plans, report)
}

impl Solution {
    /// Reads a solver's answer.
    pub fn new<Y: System>(
        problem: &Problem<'_, Y>,
        mut program: Program,
        plans: Vec<Plan>,
        report: Report,
    ) -> Result<Self, ControlError> {
        let x = &report.point.x;
        let durations = program.durations(x);
        let mut instants = Vec::new();
        for (phase, plan) in plans.iter().enumerate() {
            let mut own = read_phase(problem, &program, phase, plan, x);
            if !plan.divisions.is_empty() {
                let found = multipliers(problem, &mut program, &plans, phase, x);
                own.iter_mut().zip(found).for_each(|(instant, found)| instant.multipliers = found);
            }
            instants.extend(own);
        }
        let statics = x[program.statics.clone()].to_vec();
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
        Guess::Instants(self.phase(phase).iter().map(Instant::as_guess).collect())
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
        goals.push((name.clone(), 0.0 - rows[k]));
    }
    Ok(goals)
}

/// Where the objective has no value, or no slope, names the goal and its time.
fn name_goal<Y: System>(problem: &Problem<'_, Y>, report: &mut Report) -> Result<(), ControlError> {
    let Outcome::NotANumber { what } = &mut report.outcome else { return Ok(()) };
    let (slope, by) = match what.strip_prefix(OBJECTIVE_SLOPE) {
        Some(variable) => (true, format!(", by {variable}")),
        None if what == OBJECTIVE => (false, String::new()),
        None => return Ok(()),
    };
    let options = Options { goal_variables: true, evaluations: u64::from(slope), ..Options::default() };
    let (mut other, _) = transcribe(problem, &options)?;
    let mut point = report.point.x.clone();
    point.resize(other.variables.len(), 0.0);
    if let Some(goal) = other.goal_without_value(&point, slope) {
        *what = format!("{}{goal}{by}", if slope { "gradient of " } else { "" });
    }
    Ok(())
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
