//! The linearised equations of motion of any system, exactly, with all constraints.
//!
//! A small change of a motion is (η, v′, x′): the configuration q ⊕ η, the velocity v + v′, the extra states x + x′. With multipliers λ and
//! accelerations a of the motion itself,
//!
//! ```text
//! η̇  = v′ + B(η, v) − B(v, η),                   B(δ, v) = ∂ local_rate(εδ, v)/∂ε
//! M v̇′ = (f + Cλ − [G;A]ᵀλ − M a)′ − [G;A]ᵀ λ′ + C λ′
//! [G;A] v̇′ = −([G;A] a + bias)′
//! ẋ′ = r′
//! ```
//!
//! where ( )′ is the derivative along the change with λ and a held, by dual numbers, six changes at once. The term in B is zero for coordinates
//! with q̇ = v; for rotations it is the commutator. The solve uses the factors of the motion.

use crate::dense::Matrix;
use crate::reading::Reading;
use dalembert_methods::dynamics::{Dynamics, Rates};
use dalembert_methods::integrate::IntegrateError;
use dalembert_methods::scalar::{Dual, Duals};
use dalembert_methods::system::{Shape, State, System};

/// The number of changes of one pass.
const WIDTH: usize = 6;

/// Evaluates a motion and changes of it.
pub struct Variation<Y: System> {
    shape: Shape,
    /// Accelerations, multipliers, projections.
    pub dynamics: Dynamics<Y>,
    /// The rates of the motion as last evaluated.
    pub rates: Rates,
    /// The equations with changes of the state, six at once.
    along: Reading<Y, Duals>,
    local: Vec<Duals>,
    velocity: Vec<Duals>,
    own: [Vec<Dual>; 3],
    column: Vec<f64>,
    right: Vec<f64>,
}

impl<Y: System> Variation<Y> {
    /// Scratch for a system.
    pub fn new(y: &Y) -> Self {
        let shape = y.shape();
        let zeros = |n: usize| vec![Duals::default(); n];
        let single = || vec![Dual::default(); shape.v];
        Self {
            shape,
            dynamics: Dynamics::new(y),
            rates: Rates::zeros(shape),
            along: Reading::new(y),
            local: zeros(shape.v),
            velocity: zeros(shape.v),
            own: [single(), single(), single()],
            column: vec![0.0; shape.v],
            right: vec![0.0; shape.rows()],
        }
    }

    /// The length of a change: (η, v′, x′).
    pub fn size(&self) -> usize {
        2 * self.shape.v + self.shape.x
    }

    /// The rates of the motion at a state.
    ///
    /// # Errors
    /// Those of the accelerations.
    pub fn motion(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        self.dynamics.evaluate(y, s, &mut self.rates)
    }

    /// The rates of changes (columns) at the state of the last [`Variation::motion`].
    ///
    /// # Errors
    /// Those of the constraint solve.
    pub fn changes(&mut self, y: &Y, s: &State<f64>, columns: &Matrix, out: &mut Matrix) -> Result<(), IntegrateError> {
        let Shape { v: n, x, .. } = self.shape;
        self.along.state.lift(s);
        self.along.base.copy_from_slice(&self.along.state.q);
        lift(&mut self.along.multipliers, &self.rates.multipliers);
        lift(&mut self.along.acceleration, &self.rates.v);
        for first in (0..columns.cols()).step_by(WIDTH) {
            let lanes = WIDTH.min(columns.cols() - first);
            for i in 0..n {
                self.along.increment[i] = Duals::default();
                self.along.state.v[i].eps = [0.0; WIDTH];
                for lane in 0..lanes {
                    self.along.increment[i].eps[lane] = columns[(i, first + lane)];
                    self.along.state.v[i].eps[lane] = columns[(n + i, first + lane)];
                }
            }
            for i in 0..x {
                self.along.state.x[i].eps = [0.0; WIDTH];
                for lane in 0..lanes {
                    self.along.state.x[i].eps[lane] = columns[(2 * n + i, first + lane)];
                }
            }
            self.along.evaluate(y);
            // B(η, v), all lanes at once: velocities are held.
            lift(&mut self.velocity, &s.v);
            y.local_rate(&self.along.increment, &self.velocity, &mut self.local);
            for lane in 0..lanes {
                let j = first + lane;
                self.commute(y, s, columns, j);
                for i in 0..n {
                    let [.., swapped] = &self.own;
                    out[(i, j)] = columns[(n + i, j)] + self.local[i].eps[lane] - swapped[i].eps[0];
                    self.column[i] = self.along.force[i].eps[lane];
                }
                for (right, residual) in self.right.iter_mut().zip(&self.along.residual) {
                    *right = -residual.eps[lane];
                }
                self.dynamics.respond(y, s, &mut self.column, &mut self.right)?;
                for i in 0..n {
                    out[(n + i, j)] = self.column[i];
                }
                for i in 0..x {
                    out[(2 * n + i, j)] = self.along.rate[i].eps[lane];
                }
            }
        }
        Ok(())
    }

    /// B(v, η) of one change, into the last of `own`.
    fn commute(&mut self, y: &Y, s: &State<f64>, columns: &Matrix, j: usize) {
        let [delta, eta, out] = &mut self.own;
        for i in 0..s.v.len() {
            delta[i] = Dual::new(0.0, s.v[i]);
            eta[i] = columns[(i, j)].into();
        }
        y.local_rate(delta, eta, out);
    }

    /// The rates of the whole state with time itself as the change: what the equations say of time explicitly. Zero for systems that
    /// nothing drives.
    ///
    /// # Errors
    /// Those of the constraint solve.
    pub fn by_time(&mut self, y: &Y, s: &State<f64>, out: &mut [f64]) -> Result<(), IntegrateError> {
        let Shape { v: n, x, .. } = self.shape;
        self.along.state.lift(s);
        self.along.state.t.eps[0] = 1.0;
        self.along.base.copy_from_slice(&self.along.state.q);
        self.along.increment.fill(Duals::default());
        self.solve_first(y, s)?;
        out[..n].fill(0.0);
        out[n..2 * n].copy_from_slice(&self.column);
        for i in 0..x {
            out[2 * n + i] = self.along.rate[i].eps[0];
        }
        Ok(())
    }

    /// How multipliers change with a change of the state and of time, at the state of the last [`Variation::motion`].
    ///
    /// # Errors
    /// Those of the constraint solve.
    pub fn multiplier_change(
        &mut self,
        y: &Y,
        s: &State<f64>,
        change: &[f64],
        time: f64,
    ) -> Result<Vec<f64>, IntegrateError> {
        let Shape { v: n, x, .. } = self.shape;
        self.along.state.lift(s);
        self.along.state.t.eps[0] = time;
        self.along.base.copy_from_slice(&self.along.state.q);
        for i in 0..n {
            self.along.increment[i] = Duals::default();
            self.along.increment[i].eps[0] = change[i];
            self.along.state.v[i].eps[0] = change[n + i];
        }
        (0..x).for_each(|i| self.along.state.x[i].eps[0] = change[2 * n + i]);
        self.solve_first(y, s)?;
        Ok(self.right.clone())
    }

    /// Solves for the change along the first lane of what state and increment carry: accelerations in `column`, multipliers in `right`.
    fn solve_first(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        lift(&mut self.along.multipliers, &self.rates.multipliers);
        lift(&mut self.along.acceleration, &self.rates.v);
        self.along.evaluate(y);
        for (column, force) in self.column.iter_mut().zip(&self.along.force) {
            *column = force.eps[0];
        }
        for (right, residual) in self.right.iter_mut().zip(&self.along.residual) {
            *right = -residual.eps[0];
        }
        self.dynamics.respond(y, s, &mut self.column, &mut self.right)
    }

    /// A basis of all changes that constraints allow, as columns: G η = 0 and [G; A] v′ = −(change of the rows' velocities by η).
    ///
    /// # Errors
    /// Those of the accelerations.
    pub fn basis(&mut self, y: &Y, s: &State<f64>) -> Result<Matrix, IntegrateError> {
        let Shape { v: n, x, g, .. } = self.shape;
        let m = self.shape.rows();
        self.motion(y, s)?;
        let mut dense = vec![0.0; m * n];
        if m > 0 {
            self.dynamics.parts().rows.to_dense(&mut dense);
        }
        let all = Matrix::from_rows(m, n, dense);
        let free = crate::linearise::null_space(&all).0;
        let positions = if g == m { free.clone() } else { crate::linearise::null_space(&all.block(0, 0, g, n)).0 };
        let mut out = Matrix::zeros(self.size(), positions.cols() + free.cols() + x);
        out.set_block(0, 0, &positions);
        out.set_block(n, positions.cols(), &free);
        for i in 0..x {
            out[(2 * n + i, positions.cols() + free.cols() + i)] = 1.0;
        }
        if m > 0 {
            self.settle(y, s, &mut out)?;
        }
        Ok(out)
    }

    /// Moves changes back to the constraints, where rounding has led them off, at the state of the last [`Variation::motion`].
    ///
    /// # Errors
    /// Those of the constraint solve.
    pub fn settle(&mut self, y: &Y, s: &State<f64>, columns: &mut Matrix) -> Result<(), IntegrateError> {
        let Shape { v: n, g, .. } = self.shape;
        let m = self.shape.rows();
        if m == 0 {
            return Ok(());
        }
        for j in 0..columns.cols() {
            // Holonomic rows: G η = 0. Velocity-level rows do not bind positions, so their change is kept.
            let eta: Vec<f64> = (0..n).map(|i| columns[(i, j)]).collect();
            self.right.fill(0.0);
            let mut along = vec![0.0; m];
            self.dynamics.parts().rows.add_apply(&eta, &mut along);
            (0..g).for_each(|row| self.right[row] = -along[row]);
            self.column.fill(0.0);
            self.dynamics.respond(y, s, &mut self.column, &mut self.right)?;
            for i in 0..n {
                columns[(i, j)] += self.column[i];
            }
            // Velocity level: the residual of [G; A] v + … along the change.
            self.along.state.lift(s);
            self.along.base.copy_from_slice(&self.along.state.q);
            for i in 0..n {
                self.along.increment[i] = Duals::default();
                self.along.increment[i].eps[0] = columns[(i, j)];
                self.along.state.v[i].eps[0] = columns[(n + i, j)];
            }
            y.retract(&self.along.base, &self.along.increment, &mut self.along.state.q);
            y.prepare(&self.along.state, &mut self.along.work);
            y.constraint_rate(&self.along.state, &mut self.along.work, &mut self.along.residual);
            for (right, residual) in self.right.iter_mut().zip(&self.along.residual) {
                *right = -residual.eps[0];
            }
            self.column.fill(0.0);
            self.dynamics.respond(y, s, &mut self.column, &mut self.right)?;
            for i in 0..n {
                columns[(n + i, j)] += self.column[i];
            }
        }
        Ok(())
    }
}

fn lift(to: &mut [Duals], from: &[f64]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = from.into();
    }
}
