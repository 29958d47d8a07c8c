//! The basic method: half-explicit Euler on velocity level, in the chart at the beginning of a step.
//!
//! One substep of length h from n to n + 1, \[1\] (36)–(41); δ, v, x, z are increments from the base of the step:
//!
//! ```text
//! δ_{n+1} = δ_n + h local_rate(δ_n, v_n),   q_{n+1} = q_base ⊕ δ_{n+1},   x_{n+1} = x_n + h r(t_n, q_n, v_n, x_n)
//!
//! [M  Gᵀ] [v_{n+1} − v_n]   [ h f(t_n, q_n, v_n, x_n)         ]      M, G and g_t at (t_{n+1}, q_{n+1})
//! [G  0 ] [h λ_{n+1}    ] = [ −(G v_n + g_t)                  ]
//!
//! z_{n+1} = z_n + h s(t_{n+1}, q_{n+1}, v_n, x_n, λ_{n+1})
//! ```
//!
//! Sliding friction C λ is solved with the multipliers at n + 1, not lagged as in \[1\] (46); C is that of q_{n+1} and v_n.
//!
//! G stands for the rows of both kinds, [G; A]. With M v_n on both sides of (40) the unknown is the change of velocity, which
//! loses no digits in short substeps. Everything on the right is known before the solve, so a substep is a smooth map of
//! the state on the velocity constraints to another one there: this is why errors have an expansion in h.

use crate::algebra::MassError;
use crate::dynamics::{Dynamics, Rates, finite, named};
use crate::integrate::packed::{self, place};
use crate::integrate::{Counts, IntegrateError};
use crate::system::{Shape, State, System};

/// Increments of the projection at which it may stop; the last one is applied and leaves about its square.
const PROJECTED: f64 = 1e-8;

/// The system, the base of the step at hand and the scratch of a substep.
pub(super) struct Euler<Y: System> {
    pub shape: Shape,
    /// Where the step begins.
    pub base: State<f64>,
    /// The state of the substep at hand, in the end the one the step ends with.
    pub stage: State<f64>,
    dynamics: Dynamics<Y>,
    mass_is_constant: bool,
    scleronomic: bool,
    /// The rows that were dependent on others at the base: columns start alike, whatever earlier ones met.
    held: Vec<bool>,
    /// f and r at the base, shared by all columns.
    base_force: Vec<f64>,
    base_rate: Vec<f64>,
    /// f of the old state, then the change of velocity.
    momentum: Vec<f64>,
    rate: Vec<f64>,
    local: Vec<f64>,
    integrand: Vec<f64>,
    /// The rows' right-hand side, then λ.
    multipliers: Vec<f64>,
    counts: Counts,
}

impl<Y: System> Euler<Y> {
    pub fn new(y: &Y) -> Self {
        let shape = y.shape();
        let zeros = |n| vec![0.0; n];
        Self {
            shape,
            base: State::zeros(shape),
            stage: State::zeros(shape),
            dynamics: Dynamics::new(y),
            mass_is_constant: y.mass_is_constant(),
            scleronomic: y.scleronomic(),
            held: vec![false; shape.rows()],
            base_force: zeros(shape.v),
            base_rate: zeros(shape.x),
            momentum: zeros(shape.v),
            rate: zeros(shape.x),
            local: zeros(shape.v),
            integrand: zeros(shape.z),
            multipliers: zeros(shape.rows()),
            counts: Counts::default(),
        }
    }

    /// The length of a packed increment (δ, Δv, Δx, Δz).
    pub fn size(&self) -> usize {
        2 * self.shape.v + self.shape.x + self.shape.z
    }

    /// The work done so far; steps are the caller's to count.
    pub fn counts(&self) -> Counts {
        let mut counts = self.dynamics.counts();
        counts += self.counts;
        counts
    }

    /// Whether the state meets the constraints, and the mass is regular. Leaves a constant mass factored.
    pub fn check(&mut self, y: &Y, s: &State<f64>, tolerance: f64) -> Result<(), IntegrateError> {
        self.dynamics.check(y, s, tolerance)
    }

    /// The packed rates of a state by accelerations, for the choice of a first step.
    pub fn slope(&mut self, y: &Y, s: &State<f64>, out: &mut [f64]) -> Result<(), IntegrateError> {
        let mut rates = Rates::zeros(self.shape);
        self.dynamics.evaluate(y, s, &mut rates)?;
        let v = self.shape.v;
        y.local_rate(&vec![0.0; v], &s.v, &mut out[..v]);
        for (out, rate) in out[v..].iter_mut().zip(rates.v.iter().chain(&rates.x).chain(&rates.z)) {
            *out = *rate;
        }
        Ok(())
    }

    /// Takes a state as the base of a step.
    pub fn begin(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        self.base.copy_from(s);
        self.held.copy_from_slice(self.dynamics.parts().saddle.held());
        self.stage.copy_from(s);
        self.explicit(y)?;
        self.base_force.copy_from_slice(&self.momentum);
        self.base_rate.copy_from_slice(&self.rate);
        Ok(())
    }

    /// Returns to what was known of the rows at the base: before each column, and before the projection.
    pub fn rewind(&mut self) {
        self.dynamics.parts().saddle.hold(&self.held);
    }

    /// The `n` substeps of one column to the time `end`. Their packed increments are the last `n` of `path`, which begins with one of zeros.
    pub fn column(&mut self, y: &Y, n: usize, end: f64, path: &mut [f64]) -> Result<(), IntegrateError> {
        let (size, t) = (self.size(), self.base.t);
        // Differences of these times add up to the step exactly. A length rounded once would make each column a little too long
        // or too short by the same amount in every step, which extrapolation magnifies and a run adds up.
        let time = |i: usize| (end - t) * i as f64 / n as f64;
        let (before, own) = path.split_at_mut(path.len() - n * size);
        self.rewind();
        for i in 0..n {
            let (old, new) = own.split_at_mut(i * size);
            let old = if i == 0 { &before[..size] } else { &old[(i - 1) * size..] };
            if i == 0 {
                self.stage.copy_from(&self.base);
                self.momentum.copy_from_slice(&self.base_force);
                self.rate.copy_from_slice(&self.base_rate);
            } else {
                place(y, self.shape, &self.base, old, t + time(i), &mut self.stage);
                self.explicit(y)?;
            }
            let next = if i + 1 == n { end } else { t + time(i + 1) };
            self.substep(y, time(i + 1) - time(i), next, old, &mut new[..size])?;
        }
        Ok(())
    }

    /// What (40) takes from the old state, `stage`: the momentum per second that flows in, and the rates of the extra states.
    fn explicit(&mut self, y: &Y) -> Result<(), IntegrateError> {
        let work = self.dynamics.parts().work;
        y.prepare(&self.stage, work);
        y.force(&self.stage, work, &mut self.momentum);
        self.counts.forces += 1;
        y.rate(&self.stage, work, &mut self.rate);
        finite(y, &self.stage, &self.momentum, "the force on")
    }

    /// One substep of length `h` to the time `t`, from the state and the rates at hand.
    fn substep(&mut self, y: &Y, h: f64, t: f64, old: &[f64], new: &mut [f64]) -> Result<(), IntegrateError> {
        let Shape { v, x, .. } = self.shape;
        y.local_rate(&old[..v], &self.stage.v, &mut self.local);
        for i in 0..v {
            new[i] = old[i] + h * self.local[i];
        }
        for i in 0..x {
            new[2 * v + i] = old[2 * v + i] + h * self.rate[i];
        }
        // The new time and position, with the old velocity and states.
        self.stage.t = t;
        y.retract(&self.base.q, &new[..v], &mut self.stage.q);
        self.solve(y, h)?;
        for i in 0..v {
            new[v + i] = old[v + i] + self.momentum[i];
        }
        if self.shape.z > 0 {
            let work = self.dynamics.parts().work;
            y.integrand(&self.stage, &self.multipliers, work, &mut self.integrand);
            for (i, rate) in self.integrand.iter().enumerate() {
                new[2 * v + x + i] = old[2 * v + x + i] + h * rate;
            }
        }
        match new.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(i) => {
                let what = format!("the change of {}", packed::name(y, self.shape, i));
                Err(IntegrateError::NotFinite { t, what })
            }
        }
    }

    /// The linear system (40) at the new position: `momentum` becomes the change of velocity, `multipliers` λ.
    fn solve(&mut self, y: &Y, h: f64) -> Result<(), IntegrateError> {
        let (s, rows) = (&self.stage, self.shape.rows());
        let parts = self.dynamics.parts();
        if rows > 0 || self.shape.z > 0 || !self.mass_is_constant {
            y.prepare(s, parts.work);
        }
        if !self.mass_is_constant {
            y.mass(s, parts.work, parts.mass);
            parts.mass.factor_checked().map_err(|MassError { velocity }| IntegrateError::SingularMass {
                t: s.t,
                velocity: y.velocity_name(velocity),
            })?;
        }
        self.momentum.iter_mut().for_each(|p| *p *= h);
        if rows == 0 {
            parts.mass.solve(&mut self.momentum);
            return Ok(());
        }
        y.jacobian(s, parts.work, parts.rows);
        parts.saddle.factor(parts.mass, parts.rows);
        if self.scleronomic {
            self.multipliers.fill(0.0);
            parts.rows.add_apply(&s.v, &mut self.multipliers);
        } else {
            y.constraint_rate(s, parts.work, &mut self.multipliers);
        }
        self.multipliers.iter_mut().for_each(|c| *c = -*c);
        self.counts.factorisations += 1;
        self.counts.solves += 1;
        self.dynamics.add_friction(y, s, &mut self.momentum, &self.multipliers)?;
        let parts = self.dynamics.parts();
        parts
            .saddle
            .solve_trial(parts.mass, parts.rows, &mut self.momentum, &mut self.multipliers)
            .map_err(|error| named(y, s.t, error))?;
        self.multipliers.iter_mut().for_each(|impulse| *impulse /= h);
        Ok(())
    }

    /// Completes a step: the state moved by the packed increment, projected to positions, then velocities, \[1\] (42).
    pub fn finish(&mut self, y: &Y, end: f64, increment: &[f64], tolerance: f64) -> Result<(), IntegrateError> {
        place(y, self.shape, &self.base, increment, end, &mut self.stage);
        self.rewind();
        self.dynamics.project_position(y, &mut self.stage, tolerance.min(PROJECTED))?;
        self.dynamics.project_velocity(y, &mut self.stage)
    }

    /// What the next step depends on here besides the state.
    pub fn memory(&self, out: &mut Vec<f64>) {
        self.dynamics.memory(out);
    }

    /// Takes over a memory.
    pub fn recall(&mut self, memory: &[f64]) {
        self.dynamics.recall(memory);
    }
}
