//! One map (q, v) → (q, v): a step of a scheme, the stages of a composition, or steps of several rates.

use super::Recipe;
use super::centre::{Centres, WIDE};
use super::discrete::Start;
use super::fitted::Fitted;
use super::geometry::Structure;
use super::rates::Nested;
use super::run::{Frequency, Past, groups, refuse_node};
use super::scheme::Scheme;
use super::solve::{Solver, unsolved};
use crate::algebra::{Mass, MassError};
use crate::dynamics::{Dynamics, Rates, finite};
use crate::integrate::IntegrateError;
use crate::system::{State, System};

/// One map (q, v) → (q, v).
pub(super) struct Mover<Y: System> {
    pub scheme: Scheme,
    pub solver: Solver<Y>,
    /// The places of centres.
    means: Vec<f64>,
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
    /// Steps of several rates, if wanted.
    pub rates_within: Option<Box<Nested<Y>>>,
}

impl<Y: System> Mover<Y> {
    pub fn new(y: &Y, recipe: &Recipe, structure: &Structure, centres: &Centres) -> Self {
        let (shape, degree) = (y.shape(), recipe.scheme.degree);
        let zeros = |n| vec![0.0; n];
        let scheme = recipe.scheme.clone();
        let tuned = if recipe.frequency == Some(Frequency::Stationary) { groups(y, recipe) } else { Vec::new() };
        let still = y.still() && shape.g == 0;
        let scheme = match recipe.frequency {
            Some(_) => scheme.with_frequencies(shape.v, recipe.curve, tuned, still, centres.clone()),
            None => scheme,
        };
        Self {
            ahead: zeros(degree * (shape.v + shape.g) + scheme.tuned()),
            solver: Solver::new(y, structure, recipe, &scheme),
            means: zeros(WIDE * scheme.centres()),
            scheme,
            dynamics: Dynamics::new(y),
            start: Start::new(shape),
            unknown: zeros(degree * (shape.v + shape.g)),
            acceleration: zeros(shape.v),
            guessed: false,
            held: vec![false; shape.g],
            mass: Mass::new(&y.mass_blocks()),
            mass_is_constant: y.mass_is_constant(),
            mass_ready: false,
            work: y.work(),
            rates: Rates::zeros(shape),
            rates_within: recipe.micro.map(|micro| Box::new(Nested::new(y, micro, recipe))),
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

    /// Makes numbers of coordinates relative to those of the centres about which curves bend, if there are some.
    pub fn relate(&mut self, x: &mut [f64]) {
        if let Some(centres) = self.scheme.fitted.as_ref().map(Fitted::centres) {
            centres.relate(x, &mut self.means);
        }
    }

    /// What the next guess is made of: the unknowns of the last step, and u² of each body.
    pub fn course(&mut self, h: f64) -> &[f64] {
        let (unknown, squares) = self.ahead.split_at_mut(self.unknown.len());
        unknown.copy_from_slice(&self.unknown);
        let width = self.scheme.fitted.as_ref().map_or(1, Fitted::width);
        let bodies = self.start.squares.iter().step_by(width);
        squares.iter_mut().zip(bodies).for_each(|(x, square)| *x = h * h * square);
        &self.ahead
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

    /// A whole step: all stages of a composition, or steps of several rates.
    pub fn travel(&mut self, y: &Y, recipe: &Recipe, s: &mut State<f64>, h: f64) -> Result<(), IntegrateError> {
        if let Some(mut nested) = self.rates_within.take() {
            let result = nested.travel(y, recipe, self, s, h);
            self.rates_within = Some(nested);
            return result;
        }
        recipe.stages.iter().try_for_each(|&(part, slot)| self.advance(y, recipe, s, part * h, slot))
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
        if let Some(fitted) = &self.scheme.fitted {
            start.about.copy_from_slice(&s.q);
            fitted.centres().relate(&mut start.about, &mut self.means);
        }
        if recipe.frequency.is_some() {
            if self.guessed && recipe.frequency == Some(Frequency::Stationary) {
                let guess = &self.ahead[self.unknown.len()..];
                let width = self.scheme.fitted.as_ref().map_or(1, Fitted::width);
                start.squares.chunks_mut(width).zip(guess).for_each(|(own, x)| own.fill(x / (h * h)));
            }
            // Stationary ones are kept away from there.
            match recipe.frequency {
                Some(Frequency::Given(omega)) => refuse_node(recipe, omega, h)?,
                Some(Frequency::Curvature) => {
                    start.squares.iter().try_for_each(|square| refuse_node(recipe, square.sqrt(), h))?;
                }
                _ => {}
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
            fitted.squares(&mut start.squares);
        }
        y.retract(&start.state.q, &self.unknown[(degree - 1) * n..degree * n], &mut s.q);
        self.solver.arrive(&s.q);
        s.t += h;
        self.solver.momentum(y, &self.unknown, h, &mut s.v);
        self.integrate(y, recipe, s)?;
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

    /// Adds to the integrals. Constraints of steps of several rates do not move by themselves, and do no work.
    fn integrate(&mut self, y: &Y, recipe: &Recipe, s: &mut State<f64>) -> Result<(), IntegrateError> {
        if self.held.is_empty() || s.z.is_empty() || recipe.micro.is_some() {
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
