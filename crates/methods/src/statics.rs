//! Static equilibrium of a system, exactly, with all constraints.
//!
//! At a given time and at rest it asks for a configuration q and multipliers λ with
//!
//! ```text
//! 0 = r = f(t, q, 0) + Cλ − [G; A]ᵀλ,      0 = g(t, q)
//! ```
//!
//! with Cλ the friction of contacts that slide though the system rests: on a belt, or about to slip. Each step solves the linearised equations with the exact tangent K = ∂r/∂δ and a term that keeps the step short in the
//! metric of M (Levenberg, Marquardt):
//!
//! ```text
//! [σM − K  Gᵀ − C][δ ]   [f]
//! [G       0     ][λ⁺] = [0],        q ← project(q ⊕ δ)
//! ```
//!
//! σ shrinks as the steps succeed. Rigid motions and other changes that cost nothing lie in the null space of K; forces have no
//! part there, so that for every σ > 0 the step has none either: of all equilibria it finds one near the start.
//!
//! A step is taken if the forces do positive work along it. With s₀ = r(q)·δ at its beginning and s₁ = r(q⁺)·δ at its end, the work
//! is (s₀ + s₁)/2 to third order; it must be a quarter of s₀ at least. So energy falls where there is one, and what is
//! found is stable. Extra states x are held.
//!
//! References: Nocedal, Wright: Numerical Optimization, 2nd ed., Springer 2006, sections 3.1 and 16.1; Marquardt, J. SIAM 11
//! (1963) 431–441.

use crate::algebra::{Sparse, SparseLu};
use crate::dynamics::{Dynamics, Rates};
use crate::integrate::IntegrateError;
use crate::system::{State, System};
use crate::tangent::{Compression, Tangent};

/// Most linear solves.
const ITERATIONS: u32 = 500;
/// The first σ, and the smallest one, in units of the largest stiffness per mass.
const SIGMA: [f64; 2] = [1e-3, 1e-8];
/// σ at which the search is given up, in the same unit.
const LARGEST: f64 = 1e8;
/// Constraints are met until a correction is below this, relative to the magnitudes; its square is left over.
const PROJECTED: f64 = 1e-11;
/// The longest step, in units of the size of the system.
const LONGEST: f64 = 0.3;

/// An equilibrium that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The multipliers of all rows.
    pub multipliers: Vec<f64>,
    /// The largest force left over, in the unit of the velocity it belongs to.
    pub residual: f64,
    /// The number of linear solves.
    pub iterations: u32,
}

/// Moves the configuration of a state to a static equilibrium at its time, at rest.
///
/// `tolerance` is relative: no force is left over that would move the stiffest direction by more than this part of the size
/// of the system. Velocities are set to zero.
///
/// # Errors
/// [`IntegrateError::NotConverged`] names the velocity with the largest force left over; others come from constraints that cannot
/// be met.
pub fn equilibrium<Y: System>(y: &Y, s: &mut State<f64>, tolerance: f64) -> Result<Equilibrium, IntegrateError> {
    let mut solver = Statics::new(y);
    s.v.fill(0.0);
    solver.project(y, s)?;
    let mut here = solver.measure(y, s)?;
    solver.keep();
    solver.assemble(y, s);
    let mut sigma = SIGMA[0] * solver.stiffness_per_mass;
    let mut next = s.clone();
    for iteration in 0..ITERATIONS {
        let allowed = tolerance * solver.largest_stiffness * solver.size();
        if here <= allowed {
            return Ok(Equilibrium { multipliers: solver.multipliers, residual: here, iterations: iteration });
        }
        if sigma > LARGEST * solver.stiffness_per_mass {
            break;
        }
        if !solver.step(y, s, sigma)
            || solver.work_at_start() <= 0.0
            || largest(&solver.delta) > LONGEST * solver.size()
        {
            sigma *= 10.0;
            continue;
        }
        y.retract(&s.q, &solver.delta, &mut next.q);
        let tried = solver.project(y, &mut next).and_then(|()| solver.measure(y, &next));
        let there = match tried {
            Ok(there) if solver.falls() => there,
            _ => {
                // Jacobian and factors are those of the state that was tried.
                solver.measure(y, s)?;
                sigma *= 10.0;
                continue;
            }
        };
        s.q.copy_from_slice(&next.q);
        sigma = if there <= 0.5 * here || solver.may_grow() { sigma * 0.1 } else { sigma };
        here = there;
        solver.keep();
        solver.assemble(y, s);
        sigma = sigma.max(SIGMA[1] * solver.stiffness_per_mass);
    }
    let allowed = tolerance * solver.largest_stiffness * solver.size();
    let worst = (0..solver.kept.len()).max_by(|&i, &j| solver.kept[i].abs().total_cmp(&solver.kept[j].abs()));
    let worst = worst.map_or_else(String::new, |i| y.velocity_name(i));
    Err(IntegrateError::NotConverged {
        t: s.t,
        h: 0.0,
        what: "the search for a static equilibrium",
        residual: here / allowed,
        worst,
    })
}

/// Scratch of the search.
struct Statics<Y: System> {
    dynamics: Dynamics<Y>,
    rates: Rates,
    tangent: Tangent<Y>,
    matrix: Sparse<f64>,
    factors: SparseLu<f64>,
    force: Vec<f64>,
    /// r of the last state measured, and of the state from which the next step goes.
    rest: Vec<f64>,
    kept: Vec<f64>,
    kept_force: Vec<f64>,
    trial: Vec<f64>,
    multipliers: Vec<f64>,
    /// The rows whose multipliers drive friction, a unit multiplier, and the friction by it.
    loads: Vec<usize>,
    unit: Vec<f64>,
    column: Vec<f64>,
    delta: Vec<f64>,
    solution: Vec<f64>,
    still: Vec<f64>,
    largest_stiffness: f64,
    stiffness_per_mass: f64,
    /// The largest coordinate met in the search: one that ends at zero must not measure its last steps by what is left of them.
    largest_size: f64,
}

impl<Y: System> Statics<Y> {
    fn new(y: &Y) -> Self {
        let shape = y.shape();
        let (n, m) = (shape.v, shape.rows());
        // Rows are not differentiated, so that only forces decide which columns may share a direction.
        let tangent = Tangent::with_compression(y, Compression::of(&y.coupling(), &[]));
        let mut places: Vec<(usize, usize)> = (0..n + m).map(|i| (i, i)).collect();
        for b in tangent.stiffness().blocks() {
            places.extend((0..b.rows * b.cols).map(|k| (b.row + k / b.cols, b.col + k % b.cols)));
        }
        let mut first = 0;
        for block in y.mass_blocks() {
            let size = block.size();
            places.extend((0..size * size).map(|k| (first + k / size, first + k % size)));
            first += size;
        }
        for b in y.row_blocks() {
            let entries = (0..b.rows * b.cols).map(|k| (n + b.row + k / b.cols, b.col + k % b.cols));
            places.extend(entries.flat_map(|(row, col)| [(row, col), (col, row)]));
        }
        let loads = y.loads();
        places.extend(loads.iter().flat_map(|&row| (0..n).map(move |i| (i, n + row))));
        let matrix = Sparse::new(n + m, places);
        Self {
            dynamics: Dynamics::new(y),
            rates: Rates::zeros(shape),
            tangent,
            factors: SparseLu::new(&matrix),
            matrix,
            force: vec![0.0; n],
            rest: vec![0.0; n],
            kept: vec![0.0; n],
            kept_force: vec![0.0; n],
            trial: vec![0.0; m],
            multipliers: vec![0.0; m],
            unit: vec![0.0; m],
            column: vec![0.0; n],
            loads,
            delta: vec![0.0; n],
            solution: vec![0.0; n + m],
            still: vec![0.0; n],
            largest_stiffness: 0.0,
            stiffness_per_mass: 1.0,
            largest_size: 0.0,
        }
    }

    fn project(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        self.dynamics.project_position(y, s, PROJECTED).map(|_| ())
    }

    /// The force left over at a state, by the multipliers that leave least of it; gives its largest entry.
    fn measure(&mut self, y: &Y, s: &State<f64>) -> Result<f64, IntegrateError> {
        // Mass, Jacobian and factors come with the accelerations, which themselves count the motion of constraints.
        self.dynamics.evaluate(y, s, &mut self.rates)?;
        y.force(s, self.dynamics.parts().work, &mut self.force);
        self.trial.fill(0.0);
        self.rest.copy_from_slice(&self.force);
        if !self.trial.is_empty() {
            self.dynamics.respond(y, s, &mut self.rest, &mut self.trial)?;
            self.rest.copy_from_slice(&self.force);
            let parts = self.dynamics.parts();
            y.friction(s, &self.trial, parts.work, &mut self.rest);
            parts.rows.add_transpose(-1.0, &self.trial, &mut self.rest);
        }
        Ok(largest(&self.rest))
    }

    /// Takes the state last measured as the one to go on from.
    fn keep(&mut self) {
        self.kept.copy_from_slice(&self.rest);
        self.kept_force.copy_from_slice(&self.force);
        self.multipliers.copy_from_slice(&self.trial);
    }

    /// The tangent at the state to go on from, and the sizes that follow from it.
    fn assemble(&mut self, y: &Y, s: &State<f64>) {
        self.tangent.evaluate(y, s, &self.multipliers, &self.still);
        let mass = &*self.dynamics.parts().mass;
        let mut diagonal = vec![0.0; self.still.len()];
        mass.entries(|row, col, value| {
            if row == col {
                diagonal[row] = value;
            }
        });
        let stiffness = self.tangent.stiffness();
        let (mut most, mut ratio) = (0.0f64, 0.0f64);
        for (i, b) in stiffness.blocks().iter().enumerate() {
            for (k, value) in stiffness.block(i).iter().enumerate() {
                let (row, col) = (b.row + k / b.cols, b.col + k % b.cols);
                most = most.max(value.abs());
                if row == col {
                    ratio = ratio.max(value.abs() / diagonal[row]);
                }
            }
        }
        self.largest_stiffness = if most > 0.0 { most } else { 1.0 };
        self.stiffness_per_mass = if ratio > 0.0 { ratio } else { 1.0 };
        y.magnitude(&s.q, &mut diagonal);
        self.largest_size = self.largest_size.max(largest(&diagonal));
    }

    /// The size of the system: 1 as long as all coordinates are zero.
    fn size(&self) -> f64 {
        if self.largest_size > 0.0 { self.largest_size } else { 1.0 }
    }

    /// Computes δ for this σ; false if the matrix is singular.
    fn step(&mut self, y: &Y, s: &State<f64>, sigma: f64) -> bool {
        let n = self.still.len();
        let parts = self.dynamics.parts();
        let matrix = &mut self.matrix;
        matrix.clear();
        let mut add = |row: usize, col: usize, value: f64| {
            let slot = matrix.slot(row, col).expect("the pattern was made from the same blocks");
            matrix.add(slot, value);
        };
        let stiffness = self.tangent.stiffness();
        for (i, b) in stiffness.blocks().iter().enumerate() {
            for (k, value) in stiffness.block(i).iter().enumerate() {
                add(b.row + k / b.cols, b.col + k % b.cols, -value);
            }
        }
        parts.mass.entries(|row, col, value| add(row, col, sigma * value));
        // Rows that depend on others are left out: their multipliers stay zero.
        let dependent = parts.saddle.dependent();
        for &row in self.loads.iter().filter(|row| dependent.binary_search(row).is_err()) {
            self.unit[row] = 1.0;
            self.column.fill(0.0);
            y.friction(s, &self.unit, parts.work, &mut self.column);
            self.unit[row] = 0.0;
            for (i, &value) in self.column.iter().enumerate() {
                add(i, n + row, -value);
            }
        }
        for (i, b) in parts.rows.blocks().iter().enumerate() {
            for (k, &value) in parts.rows.block(i).iter().enumerate() {
                let (row, col) = (b.row + k / b.cols, b.col + k % b.cols);
                if dependent.binary_search(&row).is_err() {
                    add(n + row, col, value);
                    add(col, n + row, value);
                }
            }
        }
        for &row in dependent {
            add(n + row, n + row, 1.0);
        }
        if self.factors.factor(&self.matrix).is_err() {
            return false;
        }
        self.solution[..n].copy_from_slice(&self.kept_force);
        self.solution[n..].fill(0.0);
        self.factors.solve(&mut self.solution);
        self.delta.copy_from_slice(&self.solution[..n]);
        self.delta.iter().all(|d| d.is_finite())
    }

    fn work_at_start(&self) -> f64 {
        dot(&self.kept, &self.delta)
    }

    fn work_at_end(&self) -> f64 {
        dot(&self.rest, &self.delta)
    }

    /// Whether the forces have done enough work along the step to the state last measured.
    fn falls(&self) -> bool {
        self.work_at_end() >= -0.5 * self.work_at_start()
    }

    /// Whether the step has not gone much too far, so that the next one may be longer.
    fn may_grow(&self) -> bool {
        self.work_at_end() >= -0.25 * self.work_at_start()
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |max, value| max.max(value.abs()))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::problems::Pendulum;

    /// From any side the pendulum comes to hang, with its weight in the rod.
    #[test]
    fn a_pendulum_hangs() {
        let pendulum = Pendulum::default();
        for angle in [0.1, 1.5, 3.0, -2.0f64] {
            let mut s = State::zeros(pendulum.shape());
            s.q.copy_from_slice(&[pendulum.length * angle.sin(), -pendulum.length * angle.cos()]);
            s.v.copy_from_slice(&[1.0, 2.0]);
            let found = equilibrium(&pendulum, &mut s, 1e-13).unwrap();
            // The force left over is the weight times the angle.
            assert!(s.q[0].abs() < 1e-11 && (s.q[1] + pendulum.length).abs() < 1e-14, "{:?}", s.q);
            assert!((found.multipliers[0] - pendulum.mass * pendulum.gravity).abs() < 1e-11);
            assert_eq!(s.v, [0.0, 0.0]);
        }
    }
}
