//! The equations of motion as residuals, in any number: what is left of forces and of constraints at a state with given accelerations and multipliers.
//!
//! ```text
//! f + Cλ − [G;A]ᵀλ − M a,      [G;A] a + bias,      r        at (t, q ⊕ η, v, x)
//! ```
//!
//! The term M a is left out where M does not change: derivatives are what these are for, with λ and a held.

use dalembert_methods::algebra::{Mass, Rows};
use dalembert_methods::scalar::Scalar;
use dalembert_methods::system::{State, System};

/// Residuals, and all that they are computed from.
pub struct Reading<Y: System, S: Scalar> {
    constant_mass: bool,
    /// Time, velocities and extra states; its configuration is computed.
    pub state: State<S>,
    /// The configuration q.
    pub base: Vec<S>,
    /// The increment η.
    pub increment: Vec<S>,
    /// The multipliers λ.
    pub multipliers: Vec<S>,
    /// The accelerations a.
    pub acceleration: Vec<S>,
    /// What is left of forces.
    pub force: Vec<S>,
    /// What is left of constraints.
    pub residual: Vec<S>,
    /// The rates r of extra states.
    pub rate: Vec<S>,
    /// The scratch of the system.
    pub work: Y::Work<S>,
    mass: Mass<S>,
    rows: Rows<S>,
    product: Vec<S>,
}

impl<Y: System, S: Scalar> Reading<Y, S> {
    /// Room for a system.
    pub fn new(y: &Y) -> Self {
        let shape = y.shape();
        let zeros = |n: usize| vec![S::zero(); n];
        Self {
            constant_mass: y.mass_is_constant(),
            state: State::zeros(shape),
            base: zeros(shape.q),
            increment: zeros(shape.v),
            multipliers: zeros(shape.rows()),
            acceleration: zeros(shape.v),
            force: zeros(shape.v),
            residual: zeros(shape.rows()),
            rate: zeros(shape.x),
            work: y.work(),
            mass: Mass::new(&y.mass_blocks()),
            rows: Rows::new(shape.rows(), shape.v, &y.row_blocks()),
            product: zeros(shape.v),
        }
    }

    /// Computes residuals and rates.
    pub fn evaluate(&mut self, y: &Y) {
        y.retract(&self.base, &self.increment, &mut self.state.q);
        y.prepare(&self.state, &mut self.work);
        y.force(&self.state, &mut self.work, &mut self.force);
        if !self.residual.is_empty() {
            y.jacobian(&self.state, &mut self.work, &mut self.rows);
            y.friction(&self.state, &self.multipliers, &mut self.work, &mut self.force);
            self.rows.add_transpose(-1.0, &self.multipliers, &mut self.force);
            y.constraint_bias(&self.state, &mut self.work, &mut self.residual);
            self.rows.add_apply(&self.acceleration, &mut self.residual);
        }
        if !self.constant_mass {
            y.mass(&self.state, &mut self.work, &mut self.mass);
            self.mass.apply(&self.acceleration, &mut self.product);
            for (f, &p) in self.force.iter_mut().zip(&self.product) {
                *f -= p;
            }
        }
        y.rate(&self.state, &mut self.work, &mut self.rate);
    }
}
