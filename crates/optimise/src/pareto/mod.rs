//! Several goals at once: the set of best compromises, its parts, and the kinds of solutions on it.
//!
//! The goals are variables y_i of a program, each tied by a constraint to what it stands for, y_i = J_i(x); all are minimised. A point is optimal if no
//! feasible point is better in one goal and not worse in another; the goals of optimal points are the *front*. How it is found, by [`front`]:
//!
//! 1. Random starts lead to feasible points; the best of them give a first scale.
//! 2. Each goal is minimised alone, but for a small weight on the others, from several starts. The ranges between these extremes scale the goals.
//! 3. From the extremes, and from samples that differ most, points of the front are found, and the front is followed from each in all directions by the
//!    reference-point method ([`Method::Reference`]); or a lattice of programs is solved ([`Method::Constraint`], [`Method::Intersection`], [`Method::Rays`]).
//! 4. Gaps are searched from samples, until nothing new is found; ends beside gaps are computed.
//! 5. Points are compared: which are dominated by others, hence optimal only nearby; which parts the front has; which kinds of solutions there are.
//!
//! All of it is the same to the bit for any number of threads.
//!
//! References: M. Ringkamp, S. Ober-Blöbaum, S. Leyendecker, *Identifying various types of Pareto sets in multiobjective optimal control of multibody
//! dynamics*, ECCOMAS 2013 (samples, scaling, reference points, types); C. Hillermeier, *Nonlinear multiobjective optimization*, Birkhäuser 2001 (continuation).

mod advance;
mod bridge;
mod crew;
mod error;
pub mod form;
mod front;
pub mod geometry;
mod journal;
mod kinds;
mod lattice;
mod sample;
pub mod scalarised;

pub use crew::Solution;
pub use error::ParetoError;
pub use front::{Front, FrontPoint, Place};

use self::crew::{Crew, Halt, outline, with_crew};
use self::journal::{Journal, Sum};
use self::scalarised::Base;
use crate::nlp::{Bound, Nlp};
use crate::{interior, sqp};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A goal: a variable to be made small.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Its variable.
    pub variable: usize,
    /// Its name.
    pub name: String,
    /// The range that matters; the front is sought within.
    pub limit: Bound,
}

impl Goal {
    /// A goal without limits.
    pub fn new(variable: usize, name: impl Into<String>) -> Self {
        Self { variable, name: name.into(), limit: Bound::FREE }
    }

    /// The same goal, of which only this range matters.
    pub fn within(self, limit: Bound) -> Self {
        Self { limit, ..self }
    }
}

/// A program made anew for each thread.
pub type Make<'p, 'n> = dyn Fn() -> Box<dyn Nlp + 'n> + Sync + 'p;
/// What of x tells kinds of solutions apart, for example the path of a hand.
pub type Projection<'p> = dyn Fn(&[f64]) -> Vec<f64> + Sync + 'p;
/// Writes the start of a given number, from random numbers in [0, 1) asked for one after the other.
pub type Draw<'p> = dyn Fn(&mut dyn FnMut() -> f64, &mut [f64]) + Sync + 'p;

/// A program with goals.
pub struct Problem<'p, 'n> {
    /// Makes the program.
    pub make: &'p Make<'p, 'n>,
    /// Its goals.
    pub goals: Vec<Goal>,
    /// What tells kinds of solutions apart; all variables but goals, if nothing is given.
    pub projection: Option<&'p Projection<'p>>,
    /// Writes random starts; every variable within its bounds, if nothing is given. It finds the program's own start in place.
    pub draw: Option<&'p Draw<'p>>,
}

impl<'p, 'n> Problem<'p, 'n> {
    /// A program and its goals.
    pub fn new(make: &'p Make<'p, 'n>, goals: Vec<Goal>) -> Self {
        Self { make, goals, projection: None, draw: None }
    }

    fn variables(&self) -> Vec<usize> {
        self.goals.iter().map(|goal| goal.variable).collect()
    }

    fn base(&self) -> Base<'n> {
        let limits = self.goals.iter().map(|goal| goal.limit).collect();
        let names = self.goals.iter().map(|goal| goal.name.clone()).collect();
        Base::new((self.make)(), self.variables(), limits, names)
    }

    fn project(&self, x: &[f64]) -> Vec<f64> {
        match self.projection {
            Some(projection) => projection(x),
            None => {
                let goals = self.variables();
                (0..x.len()).filter(|i| !goals.contains(i)).map(|i| x[i]).collect()
            }
        }
    }
}

/// How points of the front are found, once extremes are known.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Reference points that move along the front. Follows every kind of solution that was found, costs least, and needs no lattice.
    Reference,
    /// One goal is minimised, the others are kept below the limits of a lattice.
    Constraint {
        /// The goal that is minimised.
        primary: usize,
    },
    /// From a lattice on the simplex between points that are best in all goals but one, along its normal (normal-boundary intersection), goals being at most, not
    /// exactly, on the ray: points of the boundary that are no optima are not found, but beside the simplex (three goals and more) neither are optima. For two goals these
    /// points are the extremes; for more extremes can coincide.
    Intersection,
    /// Along rays of a lattice from the point that is best in all goals (weighted Chebyshev norm).
    Rays,
}

/// Options of the search for a front.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How points are found.
    pub method: Method,
    /// How far apart points are, goals being scaled by their ranges.
    pub spacing: f64,
    /// Random starts.
    pub samples: usize,
    /// The part of the range of each variable, about the program's own start, in which random starts lie. Variables with infinite bounds are
    /// drawn within this times max(1, |start|).
    pub range: f64,
    /// Another seed gives other starts.
    pub seed: u64,
    /// From how many samples the front is looked for, those that differ most.
    pub starts: usize,
    /// From how many samples each goal is minimised, each gap searched and each point of a lattice looked for.
    pub attempts: usize,
    /// How often gaps are searched.
    pub rounds: usize,
    /// Solutions that are only optimal nearby are followed until they are worse than others by this, in parts of the ranges.
    pub behind: f64,
    /// The distance (root mean square over the projection) beyond which solutions are of different kinds, unless others between them make a chain of shorter
    /// distances; if nothing is given it is found from a gap between the distances of neighbours.
    pub apart: Option<f64>,
    /// The greatest number of points.
    pub most: usize,
    /// The solver.
    pub interior: interior::Options,
    /// The solver of warm starts, if another: where it fails, the one above goes on.
    pub sequences: Option<sqp::Options>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: Method::Reference,
            spacing: 0.05,
            samples: 24,
            range: 1.0,
            seed: 0,
            starts: 6,
            attempts: 3,
            rounds: 4,
            behind: 0.25,
            apart: None,
            most: 2000,
            // Goals of small weight are as exact as the tolerance over the weight.
            interior: interior::Options {
                tolerance: 1e-9,
                acceptable: 1e-7,
                iterations: 300,
                ..interior::Options::default()
            },
            sequences: None,
        }
    }
}

/// What is being done.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Random starts are made feasible.
    Samples,
    /// Each goal is minimised.
    Extremes,
    /// First points of the front.
    Starts,
    /// The front is followed, or its lattice solved.
    Following,
    /// Gaps are searched.
    Gaps,
}

/// How far the search is.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// Solves of this process.
    pub solved: usize,
    /// Answers taken from the journal.
    pub recalled: usize,
    /// Solves that failed, of both.
    pub failed: usize,
    /// Points so far.
    pub points: usize,
    /// An estimate of the part of all work that is done, from 0 to 1.
    pub done: f64,
}

/// How a search is run; nothing of this changes its result.
pub struct Run<'r> {
    /// Threads.
    pub threads: usize,
    /// Where answers are kept, to go on after a stop.
    pub journal: Option<&'r Path>,
    /// Ends the search soon; what was found is returned.
    pub stop: &'r AtomicBool,
}

/// Finds the front of a problem. `watch` hears of every solve.
pub fn front(
    problem: &Problem<'_, '_>,
    options: &Options,
    run: &Run<'_>,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Front, ParetoError> {
    let (start, variables, mark) = check(problem, options)?;
    let mark = Sum(mark).bytes(format!("{options:?}").as_bytes()).0;
    let journal = run.journal.map(|path| Journal::open(path, mark)).transpose()?;
    with_crew(problem, options, run.threads, journal, run.stop, |crew| {
        let mut search = Search::new(problem, options, crew, watch);
        let complete = match search.all(&start, &variables) {
            Ok(()) => true,
            Err(Halt::Stopped) => false,
            Err(Halt::Error(error)) => return Err(error),
        };
        Ok(search.finish(complete))
    })
}

/// What can be told to be wrong without solving; the start, the bounds, and a checksum of the problem.
fn check(problem: &Problem<'_, '_>, options: &Options) -> Result<(Vec<f64>, Vec<Bound>, u64), ParetoError> {
    let setting = |reason: &str| Err(ParetoError::Setting { reason: reason.into() });
    if problem.goals.is_empty() {
        return setting("there is no goal");
    }
    if !(options.spacing > 1e-4 && options.spacing <= 0.5) {
        return setting("the spacing must be between 0.0001 and 0.5 of the ranges of the goals");
    }
    if !(options.range > 0.0 && options.range.is_finite()) || options.behind.is_nan() {
        return setting("the range of random starts must be positive, and how far solutions may be behind a number");
    }
    if let Method::Constraint { primary } = options.method
        && primary >= problem.goals.len()
    {
        return setting("the goal to be minimised is not among the goals");
    }
    let (start, variables, mark) = outline(problem);
    for (place, goal) in problem.goals.iter().enumerate() {
        let wrong = |reason: String| Err(ParetoError::Goal { goal: goal.name.clone(), reason });
        let Some(bound) = variables.get(goal.variable) else {
            return wrong(format!("is variable {} of a program that has {}", goal.variable, variables.len()));
        };
        if problem.goals[..place].iter().any(|other| other.variable == goal.variable) {
            return wrong("is given twice".into());
        }
        if bound.is_equality() {
            return wrong(format!("is fixed at {}; free it", bound.lower));
        }
        let (lower, upper) = (bound.lower.max(goal.limit.lower), bound.upper.min(goal.limit.upper));
        if lower.is_nan() || upper.is_nan() || lower >= upper {
            return wrong(format!("has limits that leave nothing: at least {lower} and at most {upper}"));
        }
    }
    Ok((start, variables, mark))
}

/// A point under consideration.
#[derive(Clone, Debug)]
struct Vertex {
    solution: Solution,
    /// The normal of the front, from the weights: of length one in scaled goals.
    normal: Vec<f64>,
    projection: Vec<f64>,
    /// The point from which it was found, if it is one of a curve.
    parent: Option<usize>,
    branch: usize,
    place: Place,
    /// Directions changed in a row without a change of the goals.
    turns: usize,
}

/// The search at work.
struct Search<'s, 'c, 'n> {
    problem: &'s Problem<'s, 'n>,
    options: &'s Options,
    crew: &'s mut Crew<'c>,
    watch: &'s mut dyn FnMut(&Progress),
    /// Feasible points of random starts.
    samples: Vec<Solution>,
    /// The best of each goal, and the worst at the extremes.
    ideal: Vec<f64>,
    nadir: Vec<f64>,
    scale: Vec<f64>,
    vertices: Vec<Vertex>,
    /// Which branch a branch was found to be part of.
    joined: Vec<usize>,
}

/// The weight on other goals where one is minimised, and the component of a normal below which the front has ended.
const LEAN: f64 = 1e-4;

impl<'s, 'c, 'n> Search<'s, 'c, 'n> {
    fn new(
        problem: &'s Problem<'s, 'n>,
        options: &'s Options,
        crew: &'s mut Crew<'c>,
        watch: &'s mut dyn FnMut(&Progress),
    ) -> Self {
        let k = problem.goals.len();
        Self {
            problem,
            options,
            crew,
            watch,
            samples: Vec::new(),
            ideal: vec![0.0; k],
            nadir: vec![1.0; k],
            scale: vec![1.0; k],
            vertices: Vec::new(),
            joined: Vec::new(),
        }
    }

    fn all(&mut self, start: &[f64], variables: &[Bound]) -> Result<(), Halt> {
        self.sample(start, variables)?;
        let seeds = self.extremes()?;
        if self.problem.goals.len() == 1 || self.is_single_point(&seeds) {
            self.single(seeds);
            return Ok(());
        }
        match self.options.method {
            Method::Reference => {
                let seeds = self.descend(seeds)?;
                self.follow(seeds)?;
                self.bridge()
            }
            _ => self.solve_lattice(seeds),
        }
    }

    /// Solves tasks and tells of them.
    fn solve(&mut self, stage: Stage, tasks: Vec<crew::Task>) -> Result<Vec<crew::Answer>, Halt> {
        let (points, all) = (self.vertices.len(), tasks.len().max(1) as f64);
        let k = self.problem.goals.len();
        let before = self.crew.solved;
        let range = match stage {
            Stage::Samples => (0.0, 0.15),
            Stage::Extremes => (0.15, 0.25),
            Stage::Starts => (0.25, 0.3),
            Stage::Following => {
                // A monotone curve in a box of size one is at most two long; surfaces alike.
                let expected = 1.6 * self.options.spacing.recip().powi(k as i32 - 1) + 1.0;
                let part = |points: f64| 0.3 + 0.6 * (points / expected).min(1.0);
                (part(points as f64), part((points + tasks.len()) as f64))
            }
            Stage::Gaps => (0.9, 1.0),
        };
        let Self { crew, watch, .. } = self;
        crew.solve(tasks, &mut |crew| {
            let part = (crew.solved - before) as f64 / all;
            watch(&Progress {
                stage,
                solved: crew.solved,
                recalled: crew.recalled,
                failed: crew.failed,
                points,
                done: range.0 + part * (range.1 - range.0),
            });
        })
    }

    /// Adds a point.
    fn push(&mut self, mut solution: Solution, parent: Option<usize>, branch: Option<usize>, place: Place) -> usize {
        let branch = branch.unwrap_or_else(|| {
            self.joined.push(self.joined.len());
            self.joined.len() - 1
        });
        solution.normalise(&self.scale);
        self.vertices.push(Vertex {
            normal: geometry::normal(&solution.weights, &self.scale),
            projection: self.problem.project(&solution.x),
            solution,
            parent,
            branch,
            place,
            turns: 0,
        });
        self.vertices.len() - 1
    }

    /// The branch that a branch is part of.
    fn root(&self, mut branch: usize) -> usize {
        while self.joined[branch] != branch {
            branch = self.joined[branch];
        }
        branch
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        geometry::distance(a, b, &self.scale)
    }

    /// Whether a point is already there: the same goals, and much the same x.
    fn known(&self, goals: &[f64], projection: &[f64], within: f64) -> bool {
        self.vertices.iter().any(|v| {
            let near =
                1e-2 * (geometry::root_mean_square(projection) + geometry::root_mean_square(&v.projection)) + 1e-6;
            self.distance(&v.solution.goals, goals) <= within && geometry::apart(&v.projection, projection) <= near
        })
    }
}
