//! The rates of a system as instructions. Systems that do the same with other numbers have the same instructions with other constants.
//!
//! ```text
//! M a + Gᵀ λ = f + C λ,   G a = −bias              G: all rows; C λ: sliding friction of the loads
//! (G M⁻¹ Gᵀ − G M⁻¹ C) λ = G M⁻¹ f + bias
//! ```
//!
//! by factors without pivoting, so that there are no branches. Whether they can be trusted is told by their pivots: each is given in units
//! of its diagonal entry of G M⁻¹ Gᵀ, which is 1 for rows at right angles and 0 for a row that depends on those before it.

use crate::program::Program;
use crate::{Trace, record};
use dalembert_methods::Real;
use dalembert_methods::algebra::{Mass, Rows};
use dalembert_methods::system::{Shape, State, System};

/// The rates of a system as instructions; what they depend on besides the state is in their constants.
///
/// Inputs are (t, q, v, x), outputs (v̇, ẋ), and of [`Recipe::whole`] also ż and the pivots of all rows.
pub struct Recipe {
    /// The instructions and constants.
    pub program: Program,
    /// The sizes of the system.
    pub shape: Shape,
}

impl Recipe {
    /// Accelerations and rates of extra states, if they can be recorded.
    pub fn of<Y: System>(y: &Y) -> Option<Self> {
        Self::recorded(y, false)
    }

    /// The same with the rates of the integrals and the pivots.
    pub fn whole<Y: System>(y: &Y) -> Option<Self> {
        Self::recorded(y, true)
    }

    fn recorded<Y: System>(y: &Y, whole: bool) -> Option<Self> {
        let shape = y.shape();
        let recorded = record(1 + shape.q + shape.v + shape.x, |input| rates(y, input, whole)).ok()?;
        Some(Self { program: Program::new(&recorded), shape })
    }

    /// Whether another system does the same with other constants.
    pub fn alike(&self, other: &Self) -> bool {
        self.shape == other.shape && self.program.alike(&other.program)
    }
}

fn zeros(count: usize) -> Vec<Trace> {
    vec![Trace::zero(); count]
}

fn dot(a: &[Trace], b: &[Trace]) -> Trace {
    a.iter().zip(b).fold(Trace::zero(), |sum, (&a, &b)| sum + a * b)
}

/// The outputs of a recipe at (t, q, v, x).
fn rates<Y: System>(y: &Y, input: &[Trace], whole: bool) -> Vec<Trace> {
    let shape = y.shape();
    let mut s = State::zeros(shape);
    s.t = input[0];
    let (q, rest) = input[1..].split_at(shape.q);
    let (v, x) = rest.split_at(shape.v);
    s.q.copy_from_slice(q);
    s.v.copy_from_slice(v);
    s.x.copy_from_slice(x);
    let mut work = y.work();
    y.prepare(&s, &mut work);
    let mut held = Held::new(y, &s, &mut work);
    moved(y, &s, &mut work, &mut held, whole).out
}

/// Mass and rows at a prepared state, with the responses of the rows.
pub(crate) struct Held {
    mass: Mass<Trace>,
    /// All rows, one after the other.
    dense: Vec<Trace>,
    /// Columns of M⁻¹ Gᵀ.
    columns: Vec<Vec<Trace>>,
    /// G M⁻¹ Gᵀ.
    schur: Vec<Vec<Trace>>,
}

impl Held {
    pub fn new<Y: System>(y: &Y, s: &State<Trace>, work: &mut Y::Work<Trace>) -> Self {
        let (n, m) = (y.shape().v, y.shape().rows());
        let mut mass = Mass::new(&y.mass_blocks());
        y.mass(s, work, &mut mass);
        mass.factor();
        let mut dense = zeros(m * n);
        if m > 0 {
            let mut rows = Rows::new(m, n, &y.row_blocks());
            y.jacobian(s, work, &mut rows);
            rows.to_dense(&mut dense);
        }
        let response = |row: &[Trace]| {
            let mut column = row.to_vec();
            mass.solve(&mut column);
            column
        };
        let columns: Vec<Vec<Trace>> = dense.chunks_exact(n.max(1)).map(response).collect();
        let line = |row: &[Trace]| columns.iter().map(|column| dot(row, column)).collect();
        let schur = dense.chunks_exact(n.max(1)).map(line).collect();
        Self { mass, dense, columns, schur }
    }

    fn rows(&self) -> impl Iterator<Item = &[Trace]> {
        self.dense.chunks_exact(self.mass.size().max(1))
    }

    /// The least change δ, in the metric of M, with G δ = −r in the first rows, as many as there are residuals; and their pivots.
    pub fn least_change(&self, residual: &[Trace]) -> (Vec<Trace>, Vec<Trace>) {
        let m = residual.len();
        let mut schur: Vec<Vec<Trace>> = self.schur[..m].iter().map(|row| row[..m].to_vec()).collect();
        let mut multipliers = residual.to_vec();
        eliminate(&mut schur, &mut multipliers);
        let mut change = zeros(self.mass.size());
        for (column, &multiplier) in self.columns.iter().zip(&multipliers) {
            change.iter_mut().zip(column).for_each(|(a, &c)| *a -= c * multiplier);
        }
        (change, (0..m).map(|k| schur[k][k] / self.schur[k][k]).collect())
    }
}

/// Accelerations and what comes with them.
pub(crate) struct Moved {
    /// (v̇, ẋ), and if all was asked for ż and the pivots.
    pub out: Vec<Trace>,
    pub multipliers: Vec<Trace>,
    pub pivots: Vec<Trace>,
}

/// The motion from a prepared state.
pub(crate) fn moved<Y: System>(
    y: &Y,
    s: &State<Trace>,
    work: &mut Y::Work<Trace>,
    held: &mut Held,
    whole: bool,
) -> Moved {
    let shape = y.shape();
    let (n, m) = (shape.v, shape.rows());
    let (mut a, mut rate) = (zeros(n), zeros(shape.x));
    y.force(s, work, &mut a);
    y.rate(s, work, &mut rate);
    held.mass.solve(&mut a);
    let (mut multipliers, mut pivots) = (zeros(m), zeros(m));
    if m > 0 {
        y.constraint_bias(s, work, &mut multipliers);
        let (mut columns, mut schur) = (held.columns.clone(), held.schur.clone());
        // Friction adds −G M⁻¹ C in the columns of the loads.
        for load in y.loads() {
            let (mut unit, mut column) = (zeros(m), zeros(n));
            unit[load] = Trace::one();
            y.friction(s, &unit, work, &mut column);
            held.mass.solve(&mut column);
            for (row, entries) in held.rows().zip(&mut schur) {
                entries[load] -= dot(row, &column);
            }
            columns[load].iter_mut().zip(&column).for_each(|(c, &friction)| *c -= friction);
        }
        // S λ = G a + bias.
        multipliers.iter_mut().zip(held.rows()).for_each(|(r, row)| *r += dot(row, &a));
        eliminate(&mut schur, &mut multipliers);
        for (k, pivot) in pivots.iter_mut().enumerate() {
            *pivot = schur[k][k] / held.schur[k][k];
        }
        for (column, &multiplier) in columns.iter().zip(&multipliers) {
            a.iter_mut().zip(column).for_each(|(a, &c)| *a -= c * multiplier);
        }
    }
    a.extend(rate);
    if whole {
        let mut integrals = zeros(shape.z);
        y.integrand(s, &multipliers, work, &mut integrals);
        a.extend(integrals);
        a.extend(pivots.iter().copied());
    }
    Moved { out: a, multipliers, pivots }
}

/// Solves a system by elimination without pivoting; the pivots are left on the diagonal.
fn eliminate(matrix: &mut [Vec<Trace>], right: &mut [Trace]) {
    let m = right.len();
    for k in 0..m {
        let (upper, lower) = matrix.split_at_mut(k + 1);
        for (i, row) in lower.iter_mut().enumerate() {
            let factor = row[k] / upper[k][k];
            for j in k + 1..m {
                row[j] -= factor * upper[k][j];
            }
            let product = factor * right[k];
            right[k + 1 + i] -= product;
        }
    }
    for k in (0..m).rev() {
        let sum = (k + 1..m).fold(right[k], |sum, j| sum - matrix[k][j] * right[j]);
        right[k] = sum / matrix[k][k];
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::tape::Tape;
    use dalembert_methods::dynamics::{Dynamics, Rates};
    use dalembert_methods::problems::{Pendulum, Problem, RotatingWire, Sleigh};

    /// Recorded rates are those of the equations, at states that are not where the recording was made; rounding is amplified by the solve of one row at most
    /// a hundredfold.
    fn agrees<P: Problem>(problem: &P) {
        let recipe = Recipe::whole(problem).unwrap();
        let tape = Tape::new(&recipe.program);
        let (mut slots, mut found) = (tape.work(), vec![0.0; recipe.program.outputs.len()]);
        let (mut dynamics, mut rates) = (Dynamics::new(problem), Rates::zeros(problem.shape()));
        for k in 0..5 {
            let s = problem.exact(0.2 * f64::from(k)).unwrap();
            dynamics.evaluate(problem, &s, &mut rates).unwrap();
            let input: Vec<f64> = [&[s.t][..], &s.q, &s.v, &s.x].concat();
            tape.run(&mut slots, &input, &mut found);
            let known: Vec<f64> = [&rates.v[..], &rates.x, &rates.z].concat();
            for (found, known) in found.iter().zip(&known) {
                assert!((found - known).abs() <= 100.0 * f64::EPSILON * known.abs().max(10.0), "{found} {known}");
            }
            let pivots = &found[known.len()..];
            assert_eq!(pivots.len(), problem.shape().rows());
            // A row by itself is its own pivot.
            assert!(pivots.first().is_none_or(|&pivot| pivot == 1.0));
        }
    }

    #[test]
    fn recipes_are_the_equations() {
        agrees(&Pendulum::default());
        agrees(&RotatingWire::default());
        agrees(&Sleigh::default());
    }

    /// Other numbers are the same recipe; another equation is not.
    #[test]
    fn recipes_are_compared_without_their_constants() {
        let one = Recipe::whole(&Pendulum::default()).unwrap();
        let other = Recipe::whole(&Pendulum { length: 1.3, mass: 0.7, ..Pendulum::default() }).unwrap();
        assert!(one.alike(&other) && one.program.constants != other.program.constants);
        assert!(!one.alike(&Recipe::whole(&Sleigh::default()).unwrap()));
    }
}
