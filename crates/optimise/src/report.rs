//! What a solver tells: progress while it works, and a report by name at the end.

use crate::nlp::{Bound, Nlp, Point};
use std::fmt;

/// What a report calls the objective.
pub const OBJECTIVE: &str = "objective";
/// What it calls a slope of it, before the name of the variable.
pub const OBJECTIVE_SLOPE: &str = "gradient of the objective by ";

/// How a solve ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A point that meets the first-order conditions to the tolerance.
    Solved,
    /// A point that meets them to the wider tolerance, where no further progress was made.
    Acceptable,
    /// A point at which the violation cannot be made smaller nearby; the constraints contradict each other there.
    Infeasible,
    /// The objective falls without end along feasible points.
    Unbounded {
        /// The variable that runs away farthest.
        variable: String,
        /// Its value.
        value: f64,
    },
    /// More equalities than free variables.
    TooFewVariables {
        /// Variables that are not fixed.
        variables: usize,
        /// Equality constraints.
        equalities: usize,
        /// Names of some of them that depend on fewer variables than they are many; the first few, if these are many.
        contending: Vec<String>,
        /// How many contend.
        count: usize,
    },
    /// The lower bound is above the upper one, or one is not a number.
    ContradictoryBounds {
        /// The variable or constraint.
        name: String,
        /// Its bounds.
        lower: f64,
        /// Its bounds.
        upper: f64,
    },
    /// A function has no value at the start, or derivatives have none where the function has.
    NotANumber {
        /// Which function, of which name: `constraint height at 0.1 s`, `gradient by mass`, …
        what: String,
    },
    /// The watcher asked to stop.
    Stopped,
    /// The greatest number of iterations was made.
    IterationLimit,
    /// No step made progress, though the conditions are not met: derivatives may be wrong or the problem very badly scaled.
    NoProgress,
}

impl Outcome {
    /// Whether the point is an answer.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Solved | Self::Acceptable)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solved => write!(f, "solved"),
            Self::Acceptable => {
                write!(f, "solved to the acceptable tolerance; rounding or degenerate constraints prevent more")
            }
            Self::Infeasible => {
                write!(f, "infeasible: the violation of constraints has a local minimum here; relax one of those below")
            }
            Self::Unbounded { variable, value } => {
                write!(f, "unbounded: the objective falls without end, {variable} = {value:.3e}; bound it")
            }
            Self::TooFewVariables { variables, equalities, contending, count } => {
                write!(f, "too few degrees of freedom: {equalities} equalities for {variables} free variables")?;
                if !contending.is_empty() {
                    let more = if *count > contending.len() { ", …" } else { "" };
                    let (own, less) = (contending.join(", "), count - 1);
                    write!(f, "; these {count} have {less} free variables among them: {own}{more}")?;
                }
                write!(f, "; remove constraints or free variables")
            }
            Self::ContradictoryBounds { name, lower, upper } => {
                write!(f, "contradictory bounds of {name}: at least {lower} and at most {upper}")
            }
            Self::NotANumber { what } => write!(f, "not a number: {what}; start elsewhere or bound the variables"),
            Self::Stopped => write!(f, "stopped; the best point so far is returned"),
            Self::IterationLimit => {
                write!(f, "not solved within the limit of iterations; the best point so far is returned")
            }
            Self::NoProgress => write!(f, "no progress: check derivatives and scaling"),
        }
    }
}

/// How often functions were evaluated.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// f.
    pub objective: usize,
    /// ∇f.
    pub gradient: usize,
    /// c.
    pub constraints: usize,
    /// ∂c/∂x.
    pub jacobian: usize,
    /// The Hessian of the Lagrangian.
    pub hessian: usize,
    /// Factorisations of linear systems.
    pub factorisations: usize,
}

/// One iteration, as shown to the watcher.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Progress {
    /// The number of the iteration, from zero.
    pub iteration: usize,
    /// Whether feasibility is being restored.
    pub restoring: bool,
    /// f, as the user scales it.
    pub objective: f64,
    /// The largest violation of a constraint.
    pub violation: f64,
    /// The largest entry of the gradient of the Lagrangian, scaled as the tolerance is.
    pub stationarity: f64,
    /// The barrier parameter μ (zero for methods without).
    pub barrier: f64,
    /// The multiple of the identity added to the Hessian (zero where it is convex enough).
    pub regularisation: f64,
    /// The length of the last step, as a part of the full one.
    pub step: f64,
}

/// Whether a solver goes on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop and return the best point so far.
    Stop,
}

/// A constraint or variable that is worth a line in the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// What it may be between.
    pub bound: Bound,
    /// By how much it lies outside.
    pub violation: f64,
    /// Its multiplier.
    pub multiplier: f64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bound { lower, upper } = self.bound;
        write!(f, "{} = {:.6e}", self.name, self.value)?;
        match (lower.is_finite(), upper.is_finite()) {
            _ if lower == upper => write!(f, ", must be {lower}")?,
            (true, true) => write!(f, ", must be between {lower} and {upper}")?,
            (true, false) => write!(f, ", must be at least {lower}")?,
            (false, true) => write!(f, ", must be at most {upper}")?,
            (false, false) => {}
        }
        write!(f, " (outside by {:.2e}, multiplier {:.2e})", self.violation, self.multiplier)
    }
}

/// The end of a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// The point, with multipliers; the best one found if it is no solution.
    pub point: Point,
    /// f there.
    pub objective: f64,
    /// The largest violation of constraints and bounds there.
    pub violation: f64,
    /// The largest entry of the gradient of the Lagrangian, scaled as the tolerance is.
    pub stationarity: f64,
    /// The largest product of a multiplier and its gap, scaled as the tolerance is.
    pub complementarity: f64,
    /// Iterations.
    pub iterations: usize,
    /// Evaluations.
    pub counts: Counts,
    /// The worst violated constraints, by name, worst first (at most ten).
    pub violated: Vec<Finding>,
    /// Where the gradient of the Lagrangian is largest: the name of the variable and the entry.
    pub steepest: Option<(String, f64)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.outcome)?;
        // What was refused before its first iteration has no numbers.
        if self.violation.is_nan() {
            return Ok(());
        }
        writeln!(
            f,
            "objective {:.10e}, violation {:.2e}, stationarity {:.2e}",
            self.objective, self.violation, self.stationarity
        )?;
        let Counts { objective, constraints, jacobian, hessian, factorisations, .. } = self.counts;
        writeln!(
            f,
            "{} iterations, {objective} objectives, {constraints} constraints, {jacobian} Jacobians, {hessian} Hessians, {factorisations} factorisations",
            self.iterations
        )?;
        for finding in &self.violated {
            writeln!(f, "  {finding}")?;
        }
        if let (false, Some((name, entry))) = (self.outcome.is_success(), &self.steepest) {
            writeln!(f, "  steepest along {name}: {entry:.2e}")?;
        }
        Ok(())
    }
}

/// The names and values of what is violated by more than `tolerance`, worst first.
pub(crate) fn violated(
    problem: &mut dyn Nlp,
    bounds: &[Bound],
    values: &[f64],
    multipliers: &[f64],
    tolerance: f64,
) -> Vec<Finding> {
    let mut worst: Vec<(f64, usize)> = bounds
        .iter()
        .zip(values)
        .enumerate()
        .map(|(i, (bound, &value))| (if value.is_nan() { f64::INFINITY } else { bound.violation(value) }, i))
        .filter(|&(violation, _)| violation > tolerance)
        .collect();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    worst.truncate(10);
    worst
        .into_iter()
        .map(|(violation, i)| Finding {
            name: problem.constraint_name(i),
            value: values[i],
            bound: bounds[i],
            violation,
            multiplier: multipliers.get(i).copied().unwrap_or(0.0),
        })
        .collect()
}
