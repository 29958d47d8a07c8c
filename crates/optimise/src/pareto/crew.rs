//! Solves by several threads. Which thread takes which, and when, changes nothing: answers come back in the order of the tasks.
//!
//! Each thread makes the program once and keeps it, so that programs need not be sent from one thread to another.

use super::error::ParetoError;
use super::form::Form;
use super::journal::{Journal, Sum};
use super::scalarised::Base;
use super::{Options, Problem};
use crate::nlp::{Nlp, Point};
use crate::report::{Control, Outcome, Progress, Report};
use crate::{interior, sqp};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

/// A feasible point, optimal for the form by which it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// x of the program.
    pub x: Vec<f64>,
    /// The goals.
    pub goals: Vec<f64>,
    /// Their weights, of any common factor; empty where nothing was minimised.
    pub weights: Vec<f64>,
    /// Multipliers of the program's own constraints, with the same factor.
    pub constraints: Vec<f64>,
    /// Multipliers of lower bounds of variables.
    pub lower: Vec<f64>,
    /// Multipliers of upper bounds of variables.
    pub upper: Vec<f64>,
    /// Iterations of the solver.
    pub iterations: usize,
}

impl Solution {
    /// Gives weights and multipliers the factor at which weights times scales sum to one.
    pub(super) fn normalise(&mut self, scale: &[f64]) {
        let sum: f64 = self.weights.iter().zip(scale).map(|(w, s)| w * s).sum();
        if sum > 0.0 && sum.is_finite() {
            let Self { weights, constraints, lower, upper, .. } = self;
            [weights, constraints, lower, upper].into_iter().flatten().for_each(|value| *value /= sum);
        }
    }
}

/// What kind of failure.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Infeasible,
    Unbounded,
    Other,
}

/// A solve without an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    pub kind: Kind,
    pub violation: f64,
    /// What the solver said.
    pub said: String,
}

pub(super) type Answer = Result<Solution, Failure>;

/// A solve to be done: a form, where to begin, and multipliers if they are known.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub form: Form,
    pub x: Vec<f64>,
    pub warm: Option<Box<Solution>>,
    /// The first barrier parameter, if not that of a warm start: small, as a large one would pull all starts to the middle of their bounds.
    pub barrier: f64,
}

/// The first barrier parameters of searches for feasible points, and for optima from feasible points.
const FEASIBLE: f64 = 1e-4;
const COLD: f64 = 1e-3;

impl Task {
    pub fn cold(form: Form, x: &[f64]) -> Self {
        Self { form, x: x.to_vec(), warm: None, barrier: COLD }
    }

    /// A feasible point near x.
    pub fn feasible(goals: usize, x: &[f64]) -> Self {
        Self { barrier: FEASIBLE, ..Self::cold(Form::feasible(goals), x) }
    }

    pub fn warm(form: Form, from: &Solution) -> Self {
        let warm = (!from.weights.is_empty()).then(|| Box::new(from.clone()));
        Self { form, x: from.x.clone(), warm, barrier: COLD }
    }

    /// A checksum of all that the answer depends on.
    fn key(&self) -> u64 {
        let sum = Sum::EMPTY.bytes(format!("{:?}", self.form).as_bytes()).numbers(&self.x);
        let sum = match &self.warm {
            None => sum.bytes(&[0]),
            Some(s) => {
                let parts = [&s.x, &s.weights, &s.constraints, &s.lower, &s.upper];
                parts.into_iter().fold(sum.bytes(&[1]), |sum, values| sum.numbers(values))
            }
        };
        sum.0
    }
}

/// Why there are no answers.
pub(super) enum Halt {
    /// It was asked to stop.
    Stopped,
    /// An error ended it.
    Error(ParetoError),
}

impl From<ParetoError> for Halt {
    fn from(error: ParetoError) -> Self {
        Self::Error(error)
    }
}

/// Threads at work, and what they have done.
pub(super) struct Crew<'c> {
    tasks: mpsc::Sender<(usize, Task)>,
    answers: mpsc::Receiver<(usize, Option<Answer>)>,
    journal: Option<Journal>,
    stop: &'c AtomicBool,
    pub solved: usize,
    pub failed: usize,
    pub recalled: usize,
    pub iterations: usize,
    /// What the first few failed solves said.
    pub failures: Vec<String>,
}

/// How many failures are kept.
const KEPT: usize = 20;

impl<'c> Crew<'c> {
    /// Answers to tasks, in their order. `heard` is told after each.
    pub fn solve(&mut self, tasks: Vec<Task>, heard: &mut dyn FnMut(&Self)) -> Result<Vec<Answer>, Halt> {
        let count = tasks.len();
        let mut answers: Vec<Option<Answer>> = vec![None; count];
        let mut keys = vec![0; count];
        let mut waiting = 0;
        for (number, task) in tasks.into_iter().enumerate() {
            if let Some(journal) = &self.journal {
                keys[number] = task.key();
                if let Some(known) = journal.find(keys[number]) {
                    answers[number] = Some(known.clone());
                    self.recalled += 1;
                    continue;
                }
            }
            waiting += usize::from(self.tasks.send((number, task)).is_ok());
        }
        for _ in 0..waiting {
            let Ok((number, answer)) = self.answers.recv() else { break };
            if let (Some(journal), Some(answer)) = (&mut self.journal, &answer) {
                journal.add(keys[number], answer).inspect_err(|_| self.stop.store(true, Ordering::Relaxed))?;
            }
            self.solved += usize::from(answer.is_some());
            answers[number] = answer;
            heard(self);
        }
        if let Some(journal) = &self.journal {
            journal.settle()?;
        }
        let answers: Option<Vec<Answer>> = answers.into_iter().collect();
        let Some(answers) = answers.filter(|_| !self.stop.load(Ordering::Relaxed)) else { return Err(Halt::Stopped) };
        for answer in &answers {
            match answer {
                Ok(solution) => self.iterations += solution.iterations,
                Err(failure) => {
                    self.failed += 1;
                    if self.failures.len() < KEPT {
                        self.failures.push(failure.said.clone());
                    }
                }
            }
        }
        Ok(answers)
    }
}

/// Sets threads to work while `lead` tells them what to do.
pub(super) fn with_crew<T>(
    problem: &Problem<'_, '_>,
    options: &Options,
    threads: usize,
    journal: Option<Journal>,
    stop: &AtomicBool,
    lead: impl FnOnce(&mut Crew<'_>) -> T,
) -> T {
    let (send_task, receive_task) = mpsc::channel::<(usize, Task)>();
    let (send_answer, answers) = mpsc::channel();
    let queue = Mutex::new(receive_task);
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (queue, send) = (&queue, send_answer.clone());
            scope.spawn(move || {
                let mut base = None;
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, task)) = next else { break };
                    let answer =
                        (!stop.load(Ordering::Relaxed)).then(|| attempt(problem, options, &mut base, &task, stop));
                    if send.send((number, answer.flatten())).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send_answer);
        let mut crew = Crew {
            tasks: send_task,
            answers,
            journal,
            stop,
            solved: 0,
            failed: 0,
            recalled: 0,
            iterations: 0,
            failures: Vec::new(),
        };
        lead(&mut crew)
    })
}

/// One solve; none if it was given up.
fn attempt<'n>(
    problem: &Problem<'_, 'n>,
    options: &Options,
    base: &mut Option<Base<'n>>,
    task: &Task,
    stop: &AtomicBool,
) -> Option<Answer> {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let base = base.get_or_insert_with(|| problem.base());
        solve(base, &problem.variables(), options, task, stop)
    }));
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    Some(done.unwrap_or_else(|_| {
        *base = None;
        let said = "a function of the program panicked".to_string();
        Err(Failure { kind: Kind::Other, violation: f64::INFINITY, said })
    }))
}

fn solve(base: &mut Base<'_>, goals: &[usize], options: &Options, task: &Task, stop: &AtomicBool) -> Answer {
    let size = base.size();
    let mut program = base.with(&task.form, &task.x);
    let mut watch = |_: &Progress| match stop.load(Ordering::Relaxed) {
        true => Control::Stop,
        false => Control::Continue,
    };
    let warm = task.warm.as_ref().map(|own| {
        let point = Point {
            x: task.x.clone(),
            constraints: own.constraints.clone(),
            lower: own.lower.clone(),
            upper: own.upper.clone(),
        };
        program.warm(&point, &own.weights)
    });
    let mut report: Option<Report> = None;
    let mut iterations = 0;
    if let (Some(sequences), Some(warm)) = (&options.sequences, &warm) {
        let found = sqp::solve_from(&mut program, sequences, warm, &mut watch);
        iterations += found.iterations;
        report = Some(found).filter(|report| report.outcome.is_success());
    }
    let report = report.unwrap_or_else(|| {
        let found = match &warm {
            Some(warm) => interior::solve_from(&mut program, &options.interior, warm, &mut watch),
            None => {
                let barrier_start = task.barrier.min(options.interior.barrier_start);
                let push = options.interior.push.min(COLD);
                // Samples need be feasible, not nearest.
                let tolerance = options.interior.tolerance.max(if task.form.near { 1e-6 } else { 0.0 });
                let near = interior::Options { barrier_start, push, tolerance, ..options.interior.clone() };
                interior::solve(&mut program, &near, &mut watch)
            }
        };
        iterations += found.iterations;
        found
    });
    if !report.outcome.is_success() {
        let kind = match report.outcome {
            Outcome::Infeasible | Outcome::TooFewVariables { .. } | Outcome::ContradictoryBounds { .. } => {
                Kind::Infeasible
            }
            Outcome::Unbounded { .. } => Kind::Unbounded,
            _ => Kind::Other,
        };
        return Err(Failure { kind, violation: report.violation, said: report.to_string().trim_end().to_string() });
    }
    let Point { x, constraints, lower, upper } = report.point;
    let goals: Vec<f64> = goals.iter().map(|&i| x[i]).collect();
    let weights = task.form.weights(&goals, &constraints[size.constraints..]);
    let something = weights.iter().any(|w| *w != 0.0);
    let cut = |mut values: Vec<f64>, count: usize| {
        values.truncate(count);
        values
    };
    Ok(Solution {
        x: cut(x, size.variables),
        goals,
        weights: if something { weights } else { Vec::new() },
        constraints: cut(constraints, size.constraints),
        lower: cut(lower, size.variables),
        upper: cut(upper, size.variables),
        iterations,
    })
}

/// The program's own start and bounds, with the limits of the goals.
pub(super) fn outline(problem: &Problem<'_, '_>) -> (Vec<f64>, Vec<crate::Bound>, u64) {
    let mut nlp: Box<dyn Nlp + '_> = (problem.make)();
    let size = nlp.size();
    let mut x = vec![0.0; size.variables];
    nlp.start(&mut x);
    let (mut variables, mut constraints) =
        (vec![crate::Bound::FREE; size.variables], vec![crate::Bound::FREE; size.constraints]);
    nlp.bounds(&mut variables, &mut constraints);
    let mut sum = Sum::EMPTY.bytes(env!("CARGO_PKG_VERSION").as_bytes()).numbers(&x);
    for bound in variables.iter().chain(&constraints) {
        sum = sum.numbers(&[bound.lower, bound.upper]);
    }
    // Functions have no name: their values and slopes at the start tell one problem from another.
    let (mut values, mut slopes) = (vec![0.0; size.constraints], vec![0.0; nlp.jacobian_pattern().len()]);
    nlp.constraints(&x, &mut values);
    nlp.jacobian(&x, &mut slopes);
    sum = sum.numbers(&values).numbers(&slopes);
    for goal in &problem.goals {
        sum = sum.bytes(goal.name.as_bytes()).numbers(&[goal.variable as f64, goal.limit.lower, goal.limit.upper]);
    }
    (x, variables, sum.0)
}
