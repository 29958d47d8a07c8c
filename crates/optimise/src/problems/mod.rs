//! Programs with published answers, on which solvers are measured.
//!
//! The collection of Hock and Schittkowski: 115 small programs, typed from their published definitions, inequalities c ≥ 0 first, then equalities
//! c = 0. Functions are written once for any number; no derivative is typed.
//!
//! References: W. Hock, K. Schittkowski, *Test examples for nonlinear programming codes*, Lecture Notes in Economics and Mathematical Systems
//! 187, Springer 1981; optima to more digits from K. Schittkowski, *An updated set of 306 test problems for nonlinear programming with validated
//! optimal solutions*, University of Bayreuth 2009. Numbers 58, 82, 94 and 115 do not exist in the collection.

pub mod control;
mod hs_first;
mod hs_fourth;
mod hs_second;
mod hs_third;

use crate::nlp::Bound;
use crate::written::{Second, Written};
use dalembert_methods::real::Real;

/// A program of the collection.
pub struct Problem {
    /// Its number in the collection.
    pub number: usize,
    /// The program.
    pub program: Written,
    /// The published optimum.
    pub best: f64,
    /// How exactly it is published, relative to max(1, |optimum|).
    pub digits: f64,
}

/// Infinity, for bounds that are not there.
const NO: f64 = f64::INFINITY;

/// Published digits where nothing else is said.
const USUAL: f64 = 1e-6;

/// A constant.
fn k<R: Real>(value: f64) -> R {
    R::from(value)
}

/// 100 (x₂ − x₁²)² + (1 − x₁)²
fn rosenbrock<R: Real>(x: &[R]) -> R {
    (x[1] - x[0].square()).square() * 100.0 + (x[0] - 1.0).square()
}

/// The sum of a few terms.
fn sum<R: Real>(terms: impl IntoIterator<Item = R>) -> R {
    terms.into_iter().fold(R::zero(), |a, b| a + b)
}

/// A function of the collection, for the number it is read with.
type Read = fn(&[Second], &mut [Second]) -> Second;

/// A list that grows by one program a line.
struct List(Vec<Problem>);

impl List {
    /// Number, function, start, bounds (lower, upper) of variables, inequalities, equalities, optimum.
    fn add(
        &mut self,
        number: usize,
        function: Read,
        start: &[f64],
        bounds: Vec<(f64, f64)>,
        inequalities: usize,
        equalities: usize,
        best: f64,
    ) -> &mut Problem {
        let variables = if bounds.is_empty() { vec![(-NO, NO); start.len()] } else { bounds };
        let variables = variables.into_iter().map(|(lower, upper)| Bound { lower, upper }).collect();
        let mut constraints = vec![Bound::at_least(0.0); inequalities];
        constraints.extend(vec![Bound::equal(0.0); equalities]);
        let program = Written::new(function, start.to_vec(), variables, constraints);
        self.0.push(Problem { number, program, best, digits: USUAL });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}

/// The collection of Hock and Schittkowski, in order.
pub fn hock_schittkowski() -> Vec<Problem> {
    let mut list = List(Vec::new());
    hs_first::add(&mut list);
    hs_second::add(&mut list);
    hs_third::add(&mut list);
    hs_fourth::add(&mut list);
    list.0
}
