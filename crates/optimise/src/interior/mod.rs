//! A primal–dual interior-point method with a filter line search, for large sparse programs.
//!
//! Bounds are kept by logarithms, min f − μ Σ ln(gaps) subject to the constraints, for μ → 0. Each step solves the linearised first-order conditions; a
//! filter of violation and objective decides how far it goes; where no step is acceptable, restoration looks for less violation. Variables never reach
//! or leave their bounds.
//!
//! Reference: A. Wächter, L. T. Biegler, *On the implementation of an interior-point filter line-search algorithm for large-scale nonlinear
//! programming*, Math. Program. 106 (2006) 25–57. Departures: bounds are not relaxed; slacks of ranges are eliminated before the
//! factorisation; equalities are ordered together with a variable that they depend on.

mod barrier;
mod core;
mod filter;
mod kkt;
mod options;
mod restore;
mod search;
mod shape;

pub use options::{Barrier, Options};

use self::core::{Core, End, Iterate, Peek, Verdict};
use self::shape::Shape;
use crate::nlp::{Bound, Nlp, Point};
use crate::reduced::Reduced;
use crate::report::{Control, Counts, Outcome, Progress, Report, violated};

/// How far inside its bounds a warm start is moved.
const WARM_PUSH: f64 = 1e-6;
/// μ of a warm start.
const WARM_BARRIER: f64 = 1e-6;

/// Solves from the program's own start. `watch` is called once for each iteration and may stop the solve.
pub fn solve(problem: &mut dyn Nlp, options: &Options, watch: &mut dyn FnMut(&Progress) -> Control) -> Report {
    run(problem, options, None, watch)
}

/// Solves from a point with multipliers, for example the solution of a neighbouring program. Without multipliers (empty lists) those of constraints are estimated by
/// least squares, as they are for a plain start, and those of bounds follow from the small barrier.
pub fn solve_from(
    problem: &mut dyn Nlp,
    options: &Options,
    start: &Point,
    watch: &mut dyn FnMut(&Progress) -> Control,
) -> Report {
    run(problem, options, Some(start), watch)
}

/// The best iterate so far: feasible ones by objective, others by violation.
struct Best {
    now: Iterate,
    violation: f64,
    objective: f64,
    stationarity: f64,
    complementarity: f64,
}

fn run(
    problem: &mut dyn Nlp,
    options: &Options,
    start: Option<&Point>,
    watch: &mut dyn FnMut(&Progress) -> Control,
) -> Report {
    let mut reduced = match Reduced::new(problem) {
        Ok(reduced) => reduced,
        Err(outcome) => return refused(problem, outcome, None),
    };
    if let Some(start) = start {
        reduced.set_start(&start.x);
    }
    if options.variables {
        reduced.scale_variables();
    }
    let mut x = vec![0.0; reduced.free.len()];
    reduced.start(&mut x);
    let mut options = options.clone();
    if start.is_some() {
        options.push = options.push.min(WARM_PUSH);
        options.barrier_start = options.barrier_start.min(WARM_BARRIER);
    }
    Shape::new(&reduced, &[]).push_inside_variables(&mut x, options.push);
    if let Some(what) = reduced.not_a_number(&x) {
        let x = reduced.whole(&x);
        return refused(problem, Outcome::NotANumber { what }, Some(x));
    }
    if options.scaling {
        reduced.scale(&x);
    }
    let wide = reduced.widening(&x, options.widening);
    let (objective_scale, rows) = (reduced.objective_scale, reduced.row_scale.clone());
    let warm = start.map(|start| scaled_multipliers(&reduced, start));
    let mut best: Option<Best> = None;
    let mut last =
        Best { now: Iterate::default(), violation: 0.0, objective: 0.0, stationarity: 0.0, complementarity: 0.0 };
    let (end, iterations, factorisations) = match Core::new(&mut reduced, options.clone(), &rows, &wide) {
        Err(end) => (end, 0, 0),
        Ok(mut core) => {
            match &warm {
                Some(warm) => {
                    core.warm(warm);
                    if start.is_some_and(|start| start.constraints.is_empty()) {
                        core.first_multipliers();
                    }
                }
                None => core.first_multipliers(),
            }
            let mut iteration = 0;
            let mut inside = |peek: &Peek<'_>| {
                let violation = peek.residual.iter().zip(&rows).fold(0.0f64, |a, (r, s)| a.max((r / s).abs()));
                let progress = Progress {
                    iteration,
                    restoring: peek.restoring,
                    objective: peek.objective / objective_scale,
                    violation,
                    stationarity: peek.stationarity,
                    barrier: peek.mu,
                    regularisation: peek.regularisation,
                    step: peek.step,
                };
                iteration += 1;
                let keep = |into: &mut Best| {
                    into.now.clone_from(peek.now);
                    (into.violation, into.objective) = (violation, progress.objective);
                    (into.stationarity, into.complementarity) = (peek.stationarity, peek.complementarity);
                };
                keep(&mut last);
                let rank = |violation: f64| violation.max(options.violation);
                if !peek.restoring && progress.objective.is_finite() {
                    let better = best
                        .as_ref()
                        .is_none_or(|b| (rank(violation), progress.objective) < (rank(b.violation), b.objective));
                    if better {
                        let mut new = Best { now: Iterate::default(), ..last_of(&last) };
                        keep(&mut new);
                        best = Some(new);
                    }
                }
                match watch(&progress) {
                    Control::Continue => Verdict::Continue,
                    Control::Stop => Verdict::Stop,
                }
            };
            let end = core.run(&mut inside);
            let (iterations, factorisations) = (core.iterations, core.kkt.factorisations);
            last.now.clone_from(&core.now);
            (end, iterations, factorisations)
        }
    };
    let chosen = match (end, best) {
        (End::Stopped | End::Limit, Some(best)) => best,
        _ => last,
    };
    finish(reduced, end, chosen, iterations, factorisations, &options)
}

fn last_of(last: &Best) -> Best {
    Best {
        now: Iterate::default(),
        violation: last.violation,
        objective: last.objective,
        stationarity: last.stationarity,
        complementarity: last.complementarity,
    }
}

/// Multipliers of a user's point, scaled.
fn scaled_multipliers(reduced: &Reduced<'_>, point: &Point) -> Iterate {
    let pick = |values: &[f64]| -> Vec<f64> {
        let scaled =
            |(&i, size): (&usize, &f64)| values.get(i).copied().unwrap_or(0.0) * reduced.objective_scale * size;
        reduced.free.iter().zip(&reduced.sizes).map(scaled).collect()
    };
    let y = (0..reduced.row_scale.len())
        .map(|i| point.constraints.get(i).copied().unwrap_or(0.0) * reduced.objective_scale / reduced.row_scale[i])
        .collect();
    Iterate { p: Vec::new(), y, lower: pick(&point.lower), upper: pick(&point.upper) }
}

impl Core<'_> {
    /// Takes over multipliers; those of slacks are those of their constraints.
    fn warm(&mut self, warm: &Iterate) {
        let (n, mu) = (self.shape.n, self.mu);
        self.now.y.copy_from_slice(&warm.y);
        self.now.lower[..n].copy_from_slice(&warm.lower);
        self.now.upper[..n].copy_from_slice(&warm.upper);
        for i in 0..self.shape.m {
            let s = self.shape.slack[i];
            if s != usize::MAX {
                self.now.lower[s] = (-warm.y[i]).max(0.0);
                self.now.upper[s] = warm.y[i].max(0.0);
            }
        }
        for i in 0..self.shape.unknowns {
            let gap = self.gap(i);
            self.now.lower[i] = if gap.0.is_finite() { self.now.lower[i].max(mu / gap.0.max(1.0)) } else { 0.0 };
            self.now.upper[i] = if gap.1.is_finite() { self.now.upper[i].max(mu / gap.1.max(1.0)) } else { 0.0 };
        }
    }
}

impl Shape {
    /// Moves x, without slacks, inside its bounds.
    fn push_inside_variables(&self, x: &mut [f64], push: f64) {
        let mut p = vec![0.0; self.unknowns];
        p[..self.n].copy_from_slice(x);
        self.push_inside(&mut p, push);
        x.copy_from_slice(&p[..self.n]);
    }
}

/// A report without a solve, at a point or at the program's own start.
pub(crate) fn refused(problem: &mut dyn Nlp, outcome: Outcome, at: Option<Vec<f64>>) -> Report {
    let size = problem.size();
    let x = at.unwrap_or_else(|| {
        let mut x = vec![0.0; size.variables];
        problem.start(&mut x);
        x
    });
    Report {
        outcome,
        point: Point {
            x,
            constraints: vec![0.0; size.constraints],
            lower: vec![0.0; size.variables],
            upper: vec![0.0; size.variables],
        },
        objective: f64::NAN,
        violation: f64::NAN,
        stationarity: f64::NAN,
        complementarity: f64::NAN,
        iterations: 0,
        counts: Counts::default(),
        violated: Vec::new(),
        steepest: None,
    }
}

fn finish(
    mut reduced: Reduced<'_>,
    end: End,
    chosen: Best,
    iterations: usize,
    factorisations: usize,
    options: &Options,
) -> Report {
    let n = reduced.free.len();
    let mut counts = reduced.counts;
    counts.factorisations = factorisations;
    let Iterate { p, y, lower, upper } = &chosen.now;
    let outcome = match end {
        End::Solved | End::Done => Outcome::Solved,
        End::Acceptable => Outcome::Acceptable,
        End::Infeasible => Outcome::Infeasible,
        End::Stopped => Outcome::Stopped,
        End::Limit => Outcome::IterationLimit,
        End::NoProgress => Outcome::NoProgress,
        End::Unbounded => {
            let value = |k: usize| p.get(k).copied().unwrap_or(0.0) * reduced.sizes.get(k).copied().unwrap_or(1.0);
            let far = (0..n).max_by(|&a, &b| value(a).abs().total_cmp(&value(b).abs())).unwrap_or(0);
            let value = value(far);
            let name = reduced.free.get(far).copied().map(|i| reduced.problem().variable_name(i));
            Outcome::Unbounded { variable: name.unwrap_or_default(), value }
        }
        End::NotANumber => {
            let what = if p.is_empty() { None } else { reduced.not_a_number(&p[..n]) };
            Outcome::NotANumber { what: what.unwrap_or_else(|| "Hessian of the Lagrangian".into()) }
        }
    };
    if p.is_empty() {
        return refused(reduced.problem(), outcome, None);
    }
    // Variables without bounds of one side have no multiplier there; restoration leaves those of bounds out.
    let none = vec![0.0; n];
    let side = |z: &[f64]| if z.len() >= n { z[..n].to_vec() } else { none.clone() };
    let point = reduced.point(&p[..n], y, &side(lower), &side(upper));
    let bounds: Vec<Bound> = reduced.constraints.clone();
    let problem = reduced.problem();
    let mut values = vec![0.0; bounds.len()];
    problem.constraints(&point.x, &mut values);
    let objective = problem.objective(&point.x);
    let steepest = steepest(problem, &point);
    let violation = bounds.iter().zip(&values).fold(0.0f64, |a, (b, &v)| a.max(b.violation(v)));
    Report {
        violated: violated(problem, &bounds, &values, &point.constraints, options.violation),
        outcome,
        objective,
        violation,
        stationarity: chosen.stationarity,
        complementarity: chosen.complementarity,
        iterations,
        counts,
        steepest,
        point,
    }
}

/// The variable along which the Lagrangian is steepest, and its slope.
pub(crate) fn steepest(problem: &mut dyn Nlp, point: &Point) -> Option<(String, f64)> {
    let mut slope = vec![0.0; point.x.len()];
    problem.gradient(&point.x, &mut slope);
    let pattern = problem.jacobian_pattern();
    let mut values = vec![0.0; pattern.len()];
    problem.jacobian(&point.x, &mut values);
    for (&(row, column), value) in pattern.iter().zip(&values) {
        slope[column] += value * point.constraints[row];
    }
    for (i, slope) in slope.iter_mut().enumerate() {
        *slope += point.upper[i] - point.lower[i];
    }
    let worst = (0..slope.len()).max_by(|&a, &b| slope[a].abs().total_cmp(&slope[b].abs()))?;
    Some((problem.variable_name(worst), slope[worst]))
}
