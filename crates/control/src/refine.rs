//! How accurate a solution is between its nodes, and finer grids where it is not.
//!
//! From every node the motion is integrated with the controls of the solution by small steps of the classical Runge–Kutta method; where it arrives differs from the next
//! node by the local error of the transcription. Intervals whose error exceeds a tolerance are halved, and the problem is solved again from the solution at hand.

use crate::difference::difference;
use crate::equations::Reader;
use crate::error::ControlError;
use crate::lobatto::{Lobatto, cardinal};
use crate::method::Method;
use crate::problem::{Acts, Guess, GuessAt, Problem};
use crate::program::Options;
use crate::sample::sample;
use crate::solution::{Instant, Solution, solve, solve_near};
use crate::transcribe::{Division, gradients, node_state};
use dalembert_graph::{Function, Work, record};
use dalembert_methods::{State, System};
use dalembert_optimise::{Control, Outcome, Progress, Solver};

/// Instants in each interval from which the guess on a finer grid is interpolated.
const SAMPLES: usize = 4;
/// Steps of the integration of each interval.
pub const STEPS: usize = 16;

/// Accelerations, rates of extra states, integrands and the power of controls that act on velocities, from a state and its controls.
struct Field<'y, Y: System> {
    system: &'y Y,
    function: Function,
    work: Work,
    input: Vec<f64>,
    output: Vec<f64>,
}

impl<'y, Y: System> Field<'y, Y> {
    /// By the rows of constraints that count.
    fn new(problem: &Problem<'_, Y>, system: &'y Y, rows: &[usize]) -> Result<Self, ControlError> {
        let shape = system.shape();
        let sizes = [1, shape.q, shape.v, shape.x, problem.controls.len(), problem.statics.len()];
        let recorded = record(sizes.iter().sum(), |all| {
            let mut rest = all;
            let mut take = |n: usize| {
                let (own, after) = rest.split_at(n);
                rest = after;
                own
            };
            let [t, q, v, x, u, statics] = sizes.map(&mut take);
            let mut s = State::zeros(shape);
            s.t = t[0];
            s.q.copy_from_slice(q);
            s.v.copy_from_slice(v);
            s.x.copy_from_slice(x);
            let mut drives = vec![0.0.into(); shape.v];
            for (control, &u) in problem.controls.iter().zip(u) {
                match control.acts {
                    Acts::Parameter(i) => s.p[i] = u,
                    Acts::Velocity(i) => drives[i] += u,
                }
            }
            for (parameter, &value) in problem.statics.iter().zip(statics) {
                if let Some(i) = parameter.parameter {
                    s.p[i] = value;
                }
            }
            let mut reader = Reader::new(system);
            let (mut a, multipliers) = reader.accelerate_by(&s, &drives, rows);
            a.extend(reader.rate(&s));
            let mut all = vec![0.0.into(); shape.rows()];
            rows.iter().zip(multipliers).for_each(|(&row, multiplier)| all[row] = multiplier);
            a.extend(reader.integrand(&s, &all));
            a.push(drives.iter().zip(v).fold(0.0.into(), |sum, (&u, &v)| sum + u * v));
            a
        });
        let recorded = recorded.map_err(|error| ControlError::Record { place: "estimate of errors".into(), error })?;
        let function = Function::interpreted(&recorded);
        let (work, input, output) = (function.work(), vec![0.0; function.inputs()], vec![0.0; function.outputs()]);
        Ok(Self { system, function, work, input, output })
    }

    /// Rates of (δ, v, x, z) at an increment from a configuration.
    fn rates(&mut self, t: f64, base: &[f64], now: &[Vec<f64>; 4], u: &[f64], statics: &[f64]) -> [Vec<f64>; 4] {
        let mut q = base.to_vec();
        self.system.retract(base, &now[0], &mut q);
        let parts = [&[t][..], &q, &now[1], &now[2], u, statics];
        self.input.clear();
        parts.iter().for_each(|part| self.input.extend_from_slice(part));
        self.function.call(&mut self.work, &self.input, &mut self.output);
        let mut local = now[1].clone();
        self.system.local_rate(&now[0], &now[1], &mut local);
        let (a, rest) = self.output.split_at(now[1].len());
        let (x, z) = rest.split_at(now[2].len());
        [local, a.to_vec(), x.to_vec(), z.to_vec()]
    }
}

/// The controls of a solution within interval k of a phase, at a share of it.
pub fn controls(solution: &Solution, phase: usize, k: usize, share: f64) -> Vec<f64> {
    let plan = &solution.plans[phase];
    let x = &solution.report.point.x;
    let interval = &plan.intervals[k];
    match plan.method {
        Method::Dmocc | Method::Midpoint => x[interval.u.clone()].to_vec(),
        Method::Shooting { .. } => {
            let (a, b) = (&x[plan.nodes[k].u.clone()], &x[plan.nodes[k + 1].u.clone()]);
            a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect()
        }
        Method::Lobatto { stages } | Method::LobattoExplicit { stages } => {
            let c = Lobatto::new(stages).c;
            let inner = interval.stages.iter().map(|s| s.u.clone());
            let all: Vec<_> =
                std::iter::once(plan.nodes[k].u.clone()).chain(inner).chain([plan.nodes[k + 1].u.clone()]).collect();
            (0..all[0].len())
                .map(|i| all.iter().enumerate().map(|(j, u)| cardinal(&c, j, share) * x[u.start + i]).sum())
                .collect()
        }
    }
}

/// The greater of two numbers; not a number if one is none.
pub(crate) fn greater(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// The largest of all local errors; not a number if one is none.
pub fn largest(errors: &[Vec<f64>]) -> Option<f64> {
    errors.iter().flatten().copied().reduce(greater)
}

/// What the controls of a solution make of an interval, from its first node on.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The local error: the largest entry of the difference from the next node in configuration, velocity (times the interval) and extra states.
    pub error: f64,
    /// Where it is at even shares of the interval, from its start to its end.
    pub passed: Vec<Passed>,
}

/// Where the controls have led.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Configuration.
    pub q: Vec<f64>,
    /// Velocity.
    pub v: Vec<f64>,
    /// Extra states.
    pub x: Vec<f64>,
    /// Integrals since the start of the interval.
    pub z: Vec<f64>,
    /// The work of controls that act on velocities since then, in J.
    pub work: f64,
}

/// The local error of every interval, phase by phase.
pub fn errors<Y: System>(problem: &Problem<'_, Y>, solution: &Solution) -> Result<Vec<Vec<f64>>, ControlError> {
    let all = flights(problem, solution, 1, STEPS)?;
    Ok(all.iter().map(|phase| phase.iter().map(|flight| flight.error).collect()).collect())
}

/// All intervals, phase by phase, integrated with the controls of the solution by at least so many steps and looked at so many times.
pub fn flights<Y: System>(
    problem: &Problem<'_, Y>,
    solution: &Solution,
    each: usize,
    steps: usize,
) -> Result<Vec<Vec<Flight>>, ControlError> {
    let mut out = Vec::new();
    for (number, phase) in problem.phases.iter().enumerate() {
        // Rows that follow from others, as closed chains have them, would make the equations singular.
        let start = node_state(problem, &solution.program, &solution.plans, number, 0, &solution.report.point.x);
        let rows = Division::of(&gradients(phase.system, &start), start.v.len()).rows;
        let mut field = Field::new(problem, phase.system, &rows)?;
        let nodes = solution.phase(number);
        let mut own = Vec::new();
        for (k, pair) in nodes.windows(2).enumerate() {
            let [a, b]: &[Instant; 2] = pair.try_into().unwrap_or_else(|_| unreachable!("windows of two"));
            let passed = flight(&mut field, solution, number, k, [a, b], [each, steps].map(|n| n.max(1)));
            let end = &passed[passed.len() - 1];
            let miss = difference(phase.system, &end.q, &b.q);
            let far = |a: &[f64], b: &[f64], scale: f64| {
                a.iter().zip(b).map(|(a, b)| scale * (a - b).abs()).fold(0.0, greater)
            };
            let zero = vec![0.0; miss.len()];
            let parts = [far(&miss, &zero, 1.0), far(&end.v, &b.v, b.t - a.t), far(&end.x, &b.x, 1.0)];
            own.push(Flight { error: parts.into_iter().fold(0.0, greater), passed });
        }
        out.push(own);
    }
    Ok(out)
}

/// From one node to the time of the next.
fn flight<Y: System>(
    field: &mut Field<'_, Y>,
    solution: &Solution,
    phase: usize,
    k: usize,
    [a, b]: [&Instant; 2],
    [each, least]: [usize; 2],
) -> Vec<Passed> {
    let length = b.t - a.t;
    let between = least.div_ceil(each);
    let steps = each * between;
    let h = length / steps as f64;
    let system = field.system;
    let mut now = [vec![0.0; a.v.len()], a.v.clone(), a.x.clone(), vec![0.0; system.shape().z + 1]];
    let look = |now: &[Vec<f64>; 4]| {
        let mut q = a.q.clone();
        system.retract(&a.q, &now[0], &mut q);
        let (work, z) = now[3].split_last().map_or((0.0, &[][..]), |(work, z)| (*work, z));
        Passed { q, v: now[1].clone(), x: now[2].clone(), z: z.to_vec(), work }
    };
    let mut passed = vec![look(&now)];
    for step in 0..steps {
        let mut slope = |c: f64, now: &[Vec<f64>; 4]| {
            let share = (step as f64 + c) / steps as f64;
            let u = controls(solution, phase, k, share);
            field.rates(a.t + share * length, &a.q, now, &u, &solution.statics)
        };
        let moved = |now: &[Vec<f64>; 4], rate: &[Vec<f64>; 4], h: f64| -> [Vec<f64>; 4] {
            std::array::from_fn(|i| now[i].iter().zip(&rate[i]).map(|(x, r)| x + h * r).collect())
        };
        let one = slope(0.0, &now);
        let two = slope(0.5, &moved(&now, &one, 0.5 * h));
        let three = slope(0.5, &moved(&now, &two, 0.5 * h));
        let four = slope(1.0, &moved(&now, &three, h));
        for (rate, weight) in [(one, 1.0), (two, 2.0), (three, 2.0), (four, 1.0)] {
            now = moved(&now, &rate, h * weight / 6.0);
        }
        if (step + 1).is_multiple_of(between) {
            passed.push(look(&now));
        }
    }
    passed
}

/// Solves, estimates errors, halves intervals whose error is too large, and solves again, at most `rounds` times. Gives the last solution and its errors.
pub fn solve_refined<Y: System>(
    problem: &mut Problem<'_, Y>,
    options: &Options,
    solver: impl Into<Solver>,
    tolerance: f64,
    rounds: usize,
    watch: &mut dyn FnMut(&Progress) -> Control,
) -> Result<(Solution, Vec<Vec<f64>>), ControlError> {
    let solver = solver.into();
    let mut solution = solve(problem, options, &solver, watch)?;
    let mut found = errors_of_end(problem, &solution)?;
    for _ in 0..rounds {
        if !solution.is_success() || found.iter().flatten().all(|e| *e <= tolerance) {
            break;
        }
        let motion = sample(problem, &solution, SAMPLES);
        for (number, own) in found.iter().enumerate() {
            let mut guess: Vec<GuessAt> = motion.iter().filter(|i| i.phase == number).map(Instant::as_guess).collect();
            guess.extend(solution.phase(number).last().filter(|_| number + 1 < found.len()).map(Instant::as_guess));
            let phase = &mut problem.phases[number];
            let parts = phase.parts();
            let mut grid = vec![0.0];
            for (k, &error) in own.iter().enumerate() {
                if error > tolerance {
                    grid.push(0.5 * (parts[k] + parts[k + 1]));
                }
                grid.push(parts[k + 1]);
            }
            phase.intervals = grid.len() - 1;
            phase.grid = grid;
            phase.guess = Guess::Instants(guess);
            phase.duration_guess = solution.durations[number];
        }
        for (parameter, &value) in problem.statics.iter_mut().zip(&solution.statics) {
            parameter.guess = value;
        }
        solution = solve_near(problem, options, &solver, watch)?;
        found = errors_of_end(problem, &solution)?;
    }
    Ok((solution, found))
}

/// The errors of a solution; none of one that was stopped, since nobody waits for them then.
pub fn errors_of_end<Y: System>(problem: &Problem<'_, Y>, solution: &Solution) -> Result<Vec<Vec<f64>>, ControlError> {
    if solution.report.outcome == Outcome::Stopped { Ok(Vec::new()) } else { errors(problem, solution) }
}
