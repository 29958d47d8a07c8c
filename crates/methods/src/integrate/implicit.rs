//! What implicit methods have in common: the state a step begins with, tangents and when they were taken, exact residuals.

use super::control::{Largest, Tolerance};
use super::newton::Parts;
use super::packed;
use super::{Counts, IntegrateError};
use crate::algebra::{Mass, Rows};
use crate::dynamics::{Dynamics, Rates};
use crate::system::{Shape, State, System};
use crate::tangent::Tangent;

/// Increments of a projection at which it may stop; the last one is applied and leaves about its square.
const PROJECTED: f64 = 1e-8;

/// Iterations of Newton's method allowed where a fixed step cannot be shortened.
const PATIENCE: u32 = 60;

/// The most iterations of Newton's method: those asked for, or more where slow convergence has no other remedy.
pub(super) fn patience(asked: u32, fixed_step: f64) -> u32 {
    if fixed_step > 0.0 { asked.max(PATIENCE) } else { asked }
}

/// The ground an implicit step stands on. Residuals and solutions are packed as (v, x, rows), sizes as (δ, v, x).
pub(super) struct Frame<Y: System> {
    pub shape: Shape,
    pub dynamics: Dynamics<Y>,
    /// Where the step begins.
    pub base: State<f64>,
    /// The rates there.
    pub rates: Rates,
    /// The state of the stage at hand.
    pub stage: State<f64>,
    /// What the last step ended with.
    pub end: State<f64>,
    pub tangent: Tangent<Y>,
    /// Mass and rows where the tangent was taken.
    mass: Mass<f64>,
    rows: Rows<f64>,
    /// The rows that drive friction, and for each its column of forces where the tangent was taken.
    loads: Vec<usize>,
    friction: Vec<f64>,
    unit: Vec<f64>,
    /// Rows left out of the matrices because they depend on others.
    pub held: Vec<bool>,
    /// Whether the tangent was taken at the base.
    pub fresh: bool,
    pub counts: Counts,
    point: Point,
    /// A memory was taken over: the tangent must be computed again where it was.
    restore: bool,
    work: Y::Work<f64>,
    stage_mass: Mass<f64>,
    stage_rows: Rows<f64>,
    mass_is_constant: bool,
    mass_ready: bool,
    product: Vec<f64>,
    sizes: Vec<f64>,
}

/// Why an attempt at a step was thrown away.
pub(super) enum Failure {
    /// The estimated error was too large.
    Error(Largest),
    /// Newton's method did not converge: its last change.
    Newton(Largest),
    /// Something else went wrong.
    Other(IntegrateError),
}

/// Where the tangent was taken.
struct Point {
    state: State<f64>,
    multipliers: Vec<f64>,
    acceleration: Vec<f64>,
}

impl<Y: System> Frame<Y> {
    pub fn new(y: &Y) -> Self {
        let shape = y.shape();
        let mass = Mass::new(&y.mass_blocks());
        let rows = Rows::new(shape.rows(), shape.v, &y.row_blocks());
        let zeros = |n| vec![0.0; n];
        let loads = y.loads();
        Self {
            shape,
            friction: zeros(loads.len() * shape.v),
            unit: zeros(shape.rows()),
            loads,
            dynamics: Dynamics::new(y),
            base: State::zeros(shape),
            rates: Rates::zeros(shape),
            stage: State::zeros(shape),
            end: State::zeros(shape),
            tangent: Tangent::new(y),
            mass: mass.clone(),
            rows: rows.clone(),
            held: vec![false; shape.rows()],
            fresh: false,
            counts: Counts::default(),
            point: Point { state: State::zeros(shape), multipliers: zeros(shape.rows()), acceleration: zeros(shape.v) },
            restore: false,
            work: y.work(),
            stage_mass: mass,
            stage_rows: rows,
            mass_is_constant: y.mass_is_constant(),
            mass_ready: false,
            product: zeros(shape.v),
            sizes: zeros(2 * shape.v + shape.x),
        }
    }

    /// The number of unknowns of one stage.
    pub fn size(&self) -> usize {
        self.shape.v + self.shape.x + self.shape.rows()
    }

    /// Takes a state as the base of a step. True if it is the one the last step ended with.
    pub fn begin(&mut self, y: &Y, s: &State<f64>) -> bool {
        let same = s.t == self.end.t && s.q == self.end.q && s.v == self.end.v && s.x == self.end.x;
        self.base.copy_from(s);
        self.fresh = false;
        let Shape { v, x, .. } = self.shape;
        y.magnitude(&s.q, &mut self.sizes[..v]);
        for i in 0..v {
            self.sizes[v + i] = s.v[i].abs();
        }
        for i in 0..x {
            self.sizes[2 * v + i] = s.x[i].abs();
        }
        same
    }

    /// The rates at the base, by accelerations.
    pub fn evaluate(&mut self, y: &Y) -> Result<(), IntegrateError> {
        self.dynamics.evaluate(y, &self.base, &mut self.rates)
    }

    /// Takes over the rows that depend on others; true if they changed.
    pub fn update_held(&mut self) -> bool {
        let mut changed = false;
        for (row, held) in self.held.iter_mut().enumerate() {
            let now = self.dynamics.dependent().contains(&row);
            changed |= now != *held;
            *held = now;
        }
        changed
    }

    /// Takes the tangent at the base.
    pub fn refresh(&mut self, y: &Y) {
        self.point.state.copy_from(&self.base);
        self.point.multipliers.copy_from_slice(&self.rates.multipliers);
        self.point.acceleration.copy_from_slice(&self.rates.v);
        self.compute(y);
        self.fresh = true;
        self.restore = false;
    }

    /// Takes the tangent again where it was taken, if a memory was taken over; true if so.
    pub fn restore(&mut self, y: &Y) -> bool {
        let restore = std::mem::take(&mut self.restore);
        if restore {
            self.point.state.p.copy_from_slice(&self.base.p);
            // It was counted when it was taken first.
            let counts = self.counts;
            self.compute(y);
            self.counts = counts;
        }
        restore
    }

    /// What Newton's matrix is made of.
    pub fn parts(&self) -> Parts<'_, Y> {
        Parts {
            mass: &self.mass,
            rows: &self.rows,
            tangent: &self.tangent,
            held: &self.held,
            loads: &self.loads,
            friction: &self.friction,
        }
    }

    fn compute(&mut self, y: &Y) {
        let Point { state, multipliers, acceleration } = &self.point;
        self.tangent.evaluate(y, state, multipliers, acceleration);
        y.prepare(state, &mut self.work);
        y.mass(state, &mut self.work, &mut self.mass);
        y.jacobian(state, &mut self.work, &mut self.rows);
        self.friction.fill(0.0);
        for (&load, column) in self.loads.iter().zip(self.friction.chunks_exact_mut(self.shape.v.max(1))) {
            self.unit[load] = 1.0;
            y.friction(state, &self.unit, &mut self.work, column);
            self.unit[load] = 0.0;
        }
        self.counts.tangents += 1;
    }

    /// The exact residuals (M a − f + [G;A]ᵀλ, ẋ − r, G v + g_t, A v + b) at the stage state.
    pub fn residual(&mut self, y: &Y, acceleration: &[f64], rate: &[f64], multipliers: &[f64], out: &mut [f64]) {
        let Shape { v, x, .. } = self.shape;
        let (s, work) = (&self.stage, &mut self.work);
        y.prepare(s, work);
        let (momentum, rest) = out.split_at_mut(v);
        let (states, residuals) = rest.split_at_mut(x);
        y.force(s, work, momentum);
        self.counts.forces += 1;
        if !residuals.is_empty() {
            y.jacobian(s, work, &mut self.stage_rows);
            self.stage_rows.add_transpose(-1.0, multipliers, momentum);
            y.friction(s, multipliers, work, momentum);
            y.constraint_rate(s, work, residuals);
        }
        if !(self.mass_ready && self.mass_is_constant) {
            y.mass(s, work, &mut self.stage_mass);
            self.mass_ready = true;
        }
        self.stage_mass.apply(acceleration, &mut self.product);
        for (force, product) in momentum.iter_mut().zip(&self.product) {
            *force = product - *force;
        }
        y.rate(s, work, states);
        for (r, rate) in states.iter_mut().zip(rate) {
            *r = rate - *r;
        }
    }

    /// The position residuals g at the stage state, after [`Frame::residual`].
    pub fn position_residual(&mut self, y: &Y, out: &mut [f64]) {
        y.constraint(&self.stage, &mut self.work, out);
    }

    /// The integrands at the stage state for given multipliers.
    pub fn integrand(&mut self, y: &Y, multipliers: &[f64], out: &mut [f64]) {
        y.prepare(&self.stage, &mut self.work);
        y.integrand(&self.stage, multipliers, &mut self.work, out);
    }

    /// out = M v at the base.
    pub fn apply_mass(&mut self, y: &Y, v: &[f64], out: &mut [f64]) {
        if !(self.mass_ready && self.mass_is_constant) {
            y.prepare(&self.base, &mut self.work);
            y.mass(&self.base, &mut self.work, &mut self.stage_mass);
        }
        self.stage_mass.apply(v, out);
    }

    /// Projects the stage state to the constraints, positions first.
    pub fn project(&mut self, y: &Y, tolerance: f64) -> Result<(), IntegrateError> {
        self.dynamics.project_position(y, &mut self.stage, tolerance.min(PROJECTED))?;
        self.dynamics.project_velocity(y, &mut self.stage)
    }

    /// The largest of packed changes (δ, v, x) in units of the error allowed.
    pub fn largest<'a>(&self, tolerance: Tolerance, changes: impl IntoIterator<Item = &'a f64>) -> Largest {
        let mut largest = Largest::default();
        for (i, (change, &size)) in changes.into_iter().zip(&self.sizes).enumerate() {
            largest.see(i, change / tolerance.weight(size));
        }
        largest
    }

    /// The error of a run that ends with a failed attempt.
    pub fn report(&self, y: &Y, failure: Failure, h: f64, what: &'static str) -> IntegrateError {
        let t = self.base.t;
        match failure {
            Failure::Error(worst) => {
                IntegrateError::StepTooSmall { t, h, worst: packed::name(y, self.shape, worst.index) }
            }
            Failure::Newton(worst) => {
                let (residual, worst) = (worst.value, packed::name(y, self.shape, worst.index));
                IntegrateError::NotConverged { t, h, what, residual, worst }
            }
            Failure::Other(error) => error,
        }
    }

    /// A first step: one in which nothing changes by more than 1 % of its size, measured in units of the tolerance.
    pub fn first_step(&self, y: &Y, tolerance: Tolerance) -> f64 {
        let v = self.shape.v;
        let mut local = vec![0.0; v];
        y.local_rate(&vec![0.0; v], &self.base.v, &mut local);
        let slope = self.largest(tolerance, local.iter().chain(&self.rates.v).chain(&self.rates.x)).value;
        let size = self.largest(tolerance, &self.sizes).value;
        if slope < 1e-5 || size < 1e-5 { 1e-6 } else { 0.01 * size / slope }
    }

    /// Everything the next step depends on here besides the state.
    pub fn memory(&self, out: &mut Vec<f64>) {
        for s in [&self.end, &self.point.state] {
            out.push(s.t);
            [&s.q, &s.v, &s.x].into_iter().for_each(|values| out.extend(values));
        }
        [&self.point.multipliers, &self.point.acceleration, &self.rates.v, &self.rates.x]
            .into_iter()
            .chain([&self.rates.z, &self.rates.multipliers])
            .for_each(|values| out.extend(values));
        out.extend(self.held.iter().map(|&held| f64::from(u8::from(held))));
        self.dynamics.memory(out);
    }

    /// Takes it over; returns the rest.
    pub fn recall<'a>(&mut self, mut memory: &'a [f64]) -> &'a [f64] {
        let mut take = |to: &mut [f64]| {
            let (own, rest) = memory.split_at(to.len());
            to.copy_from_slice(own);
            memory = rest;
        };
        for s in [&mut self.end, &mut self.point.state] {
            take(std::slice::from_mut(&mut s.t));
            [&mut s.q, &mut s.v, &mut s.x].into_iter().for_each(|values| take(values));
        }
        let (point, rates) = (&mut self.point, &mut self.rates);
        [&mut point.multipliers, &mut point.acceleration, &mut rates.v, &mut rates.x]
            .into_iter()
            .chain([&mut rates.z, &mut rates.multipliers])
            .for_each(|values| take(values));
        for held in &mut self.held {
            let mut value = 0.0;
            take(std::slice::from_mut(&mut value));
            *held = value != 0.0;
        }
        self.restore = true;
        self.dynamics.recall(memory)
    }

    /// The work done so far by all parts.
    pub fn work(&self) -> Counts {
        let (own, other) = (self.counts, self.dynamics.counts());
        Counts {
            steps: own.steps,
            rejected: own.rejected,
            forces: own.forces + other.forces,
            tangents: own.tangents,
            factorisations: own.factorisations + other.factorisations,
            solves: own.solves + other.solves,
            projections: other.projections,
            stiff: 0,
        }
    }
}
