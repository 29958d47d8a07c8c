//! One map (q, v) → (q, v): a step of a scheme, the stages of a composition, or steps of several rates.

use super::Recipe;
use super::discrete::{Scheme, Start};
use super::geometry::Structure;
use super::rates::Nested;
use super::run::{Frequency, Past, groups};
use super::solve::{Solver, unsolved};
use crate::algebra::{Mass, MassError};
use crate::dynamics::{Dynamics, Rates, finite};
use crate::integrate::IntegrateError;
use crate::integrate::control::Tolerance;
use crate::system::{State, System};

/// One map (q, v) → (q, v).
pub(super) struct Mover<Y: System> {
    pub scheme: Scheme,
    pub solver: Solver<Y>,
    pub dynamics: Dynamics<Y>,
    pub start: Start,
    pub unknown: Vec<f64>,
    pub acceleration: Vec<f64>,
    /// A first guess of the unknowns from the steps before, if there is one.
    pub ahead: Vec<f64>,
    pub guessed: bool,
    /// Rows that depend on others.
    pub held: Vec<bool>,
    pub mass: Mass<f64>,
    mass_is_constant: bool,
    mass_ready: bool,
    pub work: Y::Work<f64>,
    pub rates: Rates,
    pub sizes: Vec<f64>,
    /// Steps of several rates, if wanted.
    pub rates_within: Option<Box<Nested<Y>>>,
}

impl<Y: System> Mover<Y> {
    pub fn new(y: &Y, recipe: &Recipe, structure: &Structure) -> Self {
        let (shape, degree) = (y.shape(), recipe.scheme.degree);
        let zeros = |n| vec![0.0; n];
        let scheme = recipe.scheme.clone();
        let tuned = if recipe.frequency == Some(Frequency::Stationary) { groups(y, recipe) } else { Vec::new() };
        Self {
            scheme: match recipe.frequency {
                Some(_) => scheme.with_frequencies(shape.v, recipe.curve, tuned),
                None => scheme,
            },
            solver: Solver::new(y, structure, recipe),
            dynamics: Dynamics::new(y),
            start: Start { state: State::zeros(shape), momentum: zeros(shape.v), h: 0.0, squares: zeros(shape.v) },
            unknown: zeros(degree * (shape.v + shape.g)),
            acceleration: zeros(shape.v),
            ahead: zeros(degree * (shape.v + shape.g) + shape.v),
            guessed: false,
            held: vec![false; shape.g],
            mass: Mass::new(&y.mass_blocks()),
            mass_is_constant: y.mass_is_constant(),
            mass_ready: false,
            work: y.work(),
            rates: Rates::zeros(shape),
            sizes: zeros(shape.v),
            rates_within: recipe.micro.map(|micro| Box::new(Nested::new(y, micro, recipe.iterations))),
        }
    }

    /// Takes frequencies, and accelerations and multipliers for a first guess.
    pub fn set(&mut self, recipe: &Recipe, past: &Past, multipliers: &[f64]) {
        let stationary = recipe.frequency == Some(Frequency::Stationary);
        for (square, omega) in self.start.squares.iter_mut().zip(&past.frequencies) {
            *square = if stationary { 0.0 } else { omega * omega };
        }
        self.acceleration.copy_from_slice(&past.acceleration);
        let own = self.unknown.len() - multipliers.len();
        self.unknown[own..].copy_from_slice(multipliers);
    }

    /// What the next guess is made of: the unknowns of the last step, and u².
    pub fn course(&mut self, h: f64) -> &[f64] {
        let (unknown, squares) = self.ahead.split_at_mut(self.unknown.len());
        unknown.copy_from_slice(&self.unknown);
        squares.iter_mut().zip(&self.start.squares).for_each(|(x, square)| *x = h * h * square);
        &self.ahead
    }

    /// How far the last map, which ended at `s`, is from the trapezoidal rule, in units of the tolerance.
    fn defect(&mut self, y: &Y, s: &State<f64>, tolerance: Tolerance) -> f64 {
        let n = s.v.len();
        let end = &self.unknown[(self.scheme.degree - 1) * n..self.scheme.degree * n];
        y.local_rate(end, &s.v, &mut self.rates.v);
        y.magnitude(&s.q, &mut self.sizes);
        let mut largest: f64 = 0.0;
        for k in 0..n {
            let mean = 0.5 * self.start.h * (self.start.state.v[k] + self.rates.v[k]);
            largest = largest.max((end[k] - mean).abs() / tolerance.weight(self.sizes[k]));
        }
        largest
    }

    /// The multipliers of the last map.
    pub fn multipliers(&self) -> &[f64] {
        &self.unknown[self.scheme.degree * self.start.momentum.len()..]
    }

    /// The mass matrix at a state, factored.
    pub fn load(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        if self.mass_ready && self.mass_is_constant {
            return Ok(());
        }
        y.prepare(s, &mut self.work);
        y.mass(s, &mut self.work, &mut self.mass);
        self.mass_ready = true;
        if let Some(fitted) = &mut self.scheme.fitted {
            fitted.weigh(&self.mass);
        }
        self.mass.factor_checked().map_err(|MassError { velocity }| IntegrateError::SingularMass {
            t: s.t,
            velocity: y.velocity_name(velocity),
        })
    }

    /// A whole step: all stages of a composition, or steps of several rates. Returns the error in units of the tolerance.
    pub fn travel(&mut self, y: &Y, recipe: &Recipe, s: &mut State<f64>, h: f64) -> Result<f64, IntegrateError> {
        if let Some(mut nested) = self.rates_within.take() {
            let result = nested.travel(y, recipe, self, s, h);
            self.rates_within = Some(nested);
            return result;
        }
        let mut error: f64 = 0.0;
        for &(part, slot) in &recipe.stages {
            self.advance(y, recipe, s, part * h, slot)?;
            error = error.max(self.defect(y, s, recipe.tolerance));
        }
        Ok(error)
    }

    /// Moves a state on by `h`, with the matrix of one slot.
    pub fn advance(
        &mut self,
        y: &Y,
        recipe: &Recipe,
        s: &mut State<f64>,
        h: f64,
        slot: usize,
    ) -> Result<(), IntegrateError> {
        let (n, degree) = (s.v.len(), self.scheme.degree);
        self.load(y, s)?;
        let start = &mut self.start;
        start.state.copy_from(s);
        start.h = h;
        self.mass.apply(&s.v, &mut start.momentum);
        if recipe.frequency.is_some() {
            if self.guessed && recipe.frequency == Some(Frequency::Stationary) {
                let guess = &self.ahead[self.unknown.len()..];
                start.squares.iter_mut().zip(guess).for_each(|(square, x)| *square = x / (h * h));
            }
            self.scheme.fit(&start.squares, h);
        }
        if self.guessed {
            let size = self.unknown.len();
            self.unknown.copy_from_slice(&self.ahead[..size]);
        } else {
            for nu in 1..=degree {
                let part = self.scheme.nodes[nu] * h;
                for k in 0..n {
                    self.unknown[(nu - 1) * n + k] = part * (s.v[k] + 0.5 * part * self.acceleration[k]);
                }
            }
        }
        for (k, multiplier) in self.unknown[degree * n..].iter_mut().enumerate() {
            if self.held[k % self.held.len()] {
                *multiplier = 0.0;
            }
        }
        self.solver
            .solve(y, &mut self.scheme, start, &mut self.unknown, &self.held, slot, &self.mass)
            .map_err(|failure| unsolved(y, start, &failure, recipe.about.name))?;
        if let Some(fitted) = &self.scheme.fitted {
            start.squares.copy_from_slice(fitted.squares());
        }
        y.retract(&start.state.q, &self.unknown[(degree - 1) * n..degree * n], &mut s.q);
        self.solver.arrive(&s.q);
        s.t += h;
        self.solver.momentum(y, &self.unknown, h, &mut s.v);
        if recipe.micro.is_none() {
            self.integrate(y, s)?;
        }
        self.load(y, s)?;
        self.mass.solve(&mut s.v);
        finite(y, s, &s.v, "the velocity of")?;
        if !self.held.is_empty() {
            self.dynamics.project_velocity(y, s)?;
            for (row, held) in self.held.iter_mut().enumerate() {
                *held = self.dynamics.dependent().contains(&row);
            }
        }
        Ok(())
    }

    /// Adds to the integrals.
    fn integrate(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        if self.held.is_empty() || s.z.is_empty() {
            for (z, change) in s.z.iter_mut().zip(self.solver.integrals()) {
                *z += change;
            }
            return Ok(());
        }
        for (i, weight) in self.scheme.weights.iter().enumerate() {
            let at = self.solver.place(y, &self.scheme, &self.start, &self.unknown, i);
            self.dynamics.evaluate(y, at, &mut self.rates)?;
            for (z, rate) in s.z.iter_mut().zip(&self.rates.z) {
                *z += self.start.h * weight * rate;
            }
        }
        Ok(())
    }
}
