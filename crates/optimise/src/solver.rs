//! The choice of a solver: interior points, or a sequence of quadratic programs.

use crate::nlp::{Nlp, Point};
use crate::report::{Control, Progress, Report};
use crate::{interior, sqp};

/// A solver with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum Solver {
    /// Interior points: from far away, with many bounds.
    Interior(interior::Options),
    /// A sequence of quadratic programs: from nearby, with few bounds that matter.
    Sequence(sqp::Options),
}

impl Default for Solver {
    fn default() -> Self {
        Self::Interior(interior::Options::default())
    }
}

impl From<&interior::Options> for Solver {
    fn from(options: &interior::Options) -> Self {
        Self::Interior(options.clone())
    }
}

impl From<&sqp::Options> for Solver {
    fn from(options: &sqp::Options) -> Self {
        Self::Sequence(options.clone())
    }
}

impl From<&Solver> for Solver {
    fn from(solver: &Solver) -> Self {
        solver.clone()
    }
}

impl Solver {
    /// Its name in studies.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Interior(_) => "interior",
            Self::Sequence(_) => "sqp",
        }
    }

    /// Solves from the program's own start. `watch` is called once for each iteration and may stop the solve.
    pub fn solve(&self, problem: &mut dyn Nlp, watch: &mut dyn FnMut(&Progress) -> Control) -> Report {
        match self {
            Self::Interior(options) => interior::solve(problem, options, watch),
            Self::Sequence(options) => sqp::solve(problem, options, watch),
        }
    }

    /// Solves from a point, with multipliers or without (empty lists).
    pub fn solve_from(
        &self,
        problem: &mut dyn Nlp,
        start: &Point,
        watch: &mut dyn FnMut(&Progress) -> Control,
    ) -> Report {
        match self {
            Self::Interior(options) => interior::solve_from(problem, options, start, watch),
            Self::Sequence(options) => sqp::solve_from(problem, options, start, watch),
        }
    }
}
