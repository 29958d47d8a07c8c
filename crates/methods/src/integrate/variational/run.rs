//! A run of a variational integrator: what it allocates, one step, continuous output, memory.

use super::discrete::{Scheme, Start};
use super::geometry::Structure;
use super::predict::Course;
use super::rates::Nested;
use super::solve::{Solver, unsolved};
use super::{Recipe, rates};
use crate::algebra::{Mass, MassError};
use crate::dynamics::{Dynamics, Rates, finite};
use crate::integrate::control::Tolerance;
use crate::integrate::{Counts, IntegrateError};
use crate::system::{State, System};
use std::ops::Range;

/// Where frequencies come from.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Frequency {
    /// The same for all coordinates, in rad/s; zero for straight lines.
    Given(f64),
    /// Those that make the action stationary, of every group of up to three coordinates.
    Stationary,
    /// |v × v̇|/|v|² of every group of two or three coordinates, from the last two velocities.
    Curvature,
}

/// The coordinates that have one frequency each, if frequencies are estimated.
fn groups<Y: System>(y: &Y, recipe: &Recipe) -> Vec<Range<usize>> {
    let least = match recipe.frequency {
        Some(Frequency::Stationary) => 1,
        Some(Frequency::Curvature) => 2,
        _ => return Vec::new(),
    };
    y.coupling().groups.into_iter().filter(|g| (least..=3).contains(&g.len())).collect()
}

/// A frequency from its square, negative for the hyperbolic functions of a negative one.
fn root(square: f64) -> f64 {
    square.abs().sqrt().copysign(square)
}

/// Everything allocated at the start.
pub(super) struct Run<Y: System> {
    main: Mover<Y>,
    /// Repeats the last step with a shorter one.
    between: Mover<Y>,
    /// Where the last step began and what it ended with.
    base: State<f64>,
    end: State<f64>,
    now: State<f64>,
    /// The multipliers of the last step, with which Newton's method begins.
    multipliers: Vec<f64>,
    past: Past,
    /// The increments of the last steps, where steps are all alike.
    course: Option<Course>,
    steps: u64,
    /// What went wrong in continuous output, to be told at the next step.
    lost: Option<IntegrateError>,
}

/// |v × v̇|/|v|², in rad/s.
fn turning(v: [f64; 3], rate: [f64; 3]) -> f64 {
    let cross = |i: usize, j: usize| v[i] * rate[j] - v[j] * rate[i];
    let area = (cross(1, 2).powi(2) + cross(2, 0).powi(2) + cross(0, 1).powi(2)).sqrt();
    let squared: f64 = v.iter().map(|v| v * v).sum();
    if squared > 0.0 { area / squared } else { 0.0 }
}

/// −v̇·q/|q|², in rad²/s²: the frequency about zero, negative where the acceleration points away from it.
fn pulling(q: [f64; 3], rate: [f64; 3]) -> f64 {
    let product = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let squared = product(q, q);
    if squared > 0.0 { -product(q, rate) / squared } else { 0.0 }
}

/// The velocity at the beginning of the last step and its length, for estimates of frequencies.
struct Past {
    groups: Vec<Range<usize>>,
    v: Vec<f64>,
    h: f64,
    frequencies: Vec<f64>,
    /// v̇ over the last step, for the first guess; zero at a start.
    acceleration: Vec<f64>,
}

/// One map (q, v) → (q, v).
pub(super) struct Mover<Y: System> {
    scheme: Scheme,
    solver: Solver<Y>,
    pub dynamics: Dynamics<Y>,
    start: Start,
    unknown: Vec<f64>,
    acceleration: Vec<f64>,
    /// A first guess of the unknowns from the steps before, if there is one.
    ahead: Vec<f64>,
    guessed: bool,
    /// Rows that depend on others.
    pub held: Vec<bool>,
    pub mass: Mass<f64>,
    mass_is_constant: bool,
    mass_ready: bool,
    pub work: Y::Work<f64>,
    rates: Rates,
    pub sizes: Vec<f64>,
    /// Steps of several rates, if wanted.
    rates_within: Option<Box<Nested<Y>>>,
}

/// The systems a recipe cannot take.
fn refuse<Y: System>(y: &Y, recipe: &Recipe, structure: &Structure) -> Result<(), IntegrateError> {
    let (name, shape) = (recipe.about.name, y.shape());
    let reason = if shape.x > 0 {
        format!("`{name}` has no equation for extra states such as activations; use `radau` or `dopri5`")
    } else if shape.a > 0 {
        let row = y.row_name(shape.g);
        format!("`{name}` takes holonomic constraints only, and `{row}` is one on velocities; use `radau` or `dopri5`")
    } else if !y.loads().is_empty() {
        format!("`{name}` takes no sliding friction driven by constraint forces; use `radau`")
    } else if recipe.micro.is_some() && !structure.is_flat() {
        format!("`{name}` is for constant masses and coordinates whose rates are velocities; use `variational`")
    } else if let Some(reason) = recipe.micro.and_then(|micro| rates::refuse(y, micro)) {
        format!("`{name}` {reason}")
    } else if recipe.micro.is_some() && shape.g > 0 && !y.scleronomic() {
        format!("`{name}` takes no constraints that move by themselves; use `variational`")
    } else if recipe.frequency.is_some() && structure.is_bent() {
        format!(
            "`{name}` is for coordinates whose rates are velocities, not for rotations; use `lie_group` or `galerkin_gauss`"
        )
    } else if let (true, Some(velocity)) = (recipe.chord != 0.0, structure.unturned()) {
        let velocity = y.velocity_name(velocity);
        format!("`{name}` with `chord` needs rotations by themselves, which {velocity} is not part of; use `chord = 0`")
    } else {
        return Ok(());
    };
    Err(IntegrateError::Refused { reason })
}

impl<Y: System> Run<Y> {
    pub fn new(y: &Y, recipe: &Recipe, s: &State<f64>) -> Result<Self, IntegrateError> {
        let shape = y.shape();
        let structure = Structure::new(y, &s.q, recipe.chord)
            .map_err(|what| IntegrateError::Refused { reason: format!("`{}`: {what}", recipe.about.name) })?;
        refuse(y, recipe, &structure)?;
        let zeros = |n| vec![0.0; n];
        Ok(Self {
            main: Mover::new(y, recipe, &structure),
            between: Mover::new(y, recipe, &structure),
            base: State::zeros(shape),
            end: State::zeros(shape),
            now: State::zeros(shape),
            multipliers: zeros(recipe.scheme.degree * shape.g),
            past: Past {
                groups: groups(y, recipe),
                v: zeros(shape.v),
                h: 0.0,
                frequencies: zeros(shape.v),
                acceleration: zeros(shape.v),
            },
            course: (recipe.stages.len() == 1 && recipe.micro.is_none())
                .then(|| Course::new(recipe.scheme.degree * (shape.v + shape.g) + shape.v)),
            steps: 0,
            lost: None,
        })
    }

    /// Takes a state to begin with, if it meets its constraints.
    pub fn begin(&mut self, y: &Y, recipe: &Recipe, s: &State<f64>, tolerance: f64) -> Result<(), IntegrateError> {
        self.main.dynamics.check(y, s, tolerance)?;
        for (row, held) in self.main.held.iter_mut().enumerate() {
            *held = self.main.dynamics.dependent().contains(&row);
        }
        self.base.copy_from(s);
        self.end.copy_from(s);
        self.past.h = 0.0;
        self.estimate(y, recipe, s)?;
        Ok(())
    }

    /// The frequencies of the last step.
    pub fn frequencies(&self) -> &[f64] {
        &self.past.frequencies
    }

    /// The frequencies, and accelerations for a first guess, of a step from `s`; tells whether it goes on from the last one.
    fn estimate(&mut self, y: &Y, recipe: &Recipe, s: &State<f64>) -> Result<bool, IntegrateError> {
        let Past { groups, v, h, frequencies, acceleration } = &mut self.past;
        let same = *h > 0.0 && s.t == self.end.t && s.v == self.end.v;
        for (k, rate) in acceleration.iter_mut().enumerate() {
            *rate = if same { (s.v[k] - v[k]) / *h } else { 0.0 };
        }
        match recipe.frequency {
            None => {}
            Some(Frequency::Given(omega)) => frequencies.fill(omega),
            // Those of the last step; at a start what they tend to in short steps.
            Some(Frequency::Stationary) if same => {}
            Some(kind) => {
                if !same {
                    self.main.dynamics.evaluate(y, s, &mut self.main.rates)?;
                }
                let rates = if same { &*acceleration } else { &self.main.rates.v };
                for g in groups {
                    let pick = |values: &[f64]| -> [f64; 3] {
                        std::array::from_fn(|k| if k < g.len() { values[g.start + k] } else { 0.0 })
                    };
                    let omega = match kind {
                        Frequency::Stationary => root(pulling(pick(&s.q), pick(rates))),
                        _ => turning(pick(&s.v), pick(rates)),
                    };
                    frequencies[g.clone()].fill(omega);
                }
            }
        }
        Ok(same)
    }

    /// One step to the time `end`.
    ///
    /// Returns an error in units of the tolerance: the largest difference of a stage to the trapezoidal rule, ξ − ½h(v_k + v_{k+1}), which is of third
    /// order whatever the order of the method. Nothing is controlled by it.
    pub fn step(&mut self, y: &Y, recipe: &Recipe, s: &mut State<f64>, end: f64) -> Result<f64, IntegrateError> {
        if let Some(error) = self.lost.take() {
            return Err(error);
        }
        let same = self.estimate(y, recipe, s)?;
        self.now.copy_from(s);
        let h = end - s.t;
        self.main.set(recipe, &self.past, &self.multipliers);
        if let Some(course) = &mut self.course {
            if !same || (h - self.past.h).abs() > 1e-6 * h {
                course.clear();
            }
            self.main.guessed = course.guess(&mut self.main.ahead);
        }
        let error = self.main.travel(y, recipe, &mut self.now, h)?;
        if let Some(course) = &mut self.course {
            course.push(self.main.course(h));
        }
        if recipe.frequency == Some(Frequency::Stationary) {
            let squares = &self.main.start.squares;
            self.past.frequencies.iter_mut().zip(squares).for_each(|(omega, &square)| *omega = root(square));
        }
        self.multipliers.copy_from_slice(self.main.multipliers());
        self.now.t = end;
        self.past.v.copy_from_slice(&s.v);
        self.past.h = h;
        self.base.copy_from(s);
        self.end.copy_from(&self.now);
        s.copy_from(&self.now);
        self.steps += 1;
        Ok(error)
    }

    /// The state at a time of the last step.
    pub fn dense(&mut self, y: &Y, recipe: &Recipe, out: &mut State<f64>) {
        let t = out.t;
        if t == self.end.t {
            out.copy_from(&self.end);
            return;
        }
        out.copy_from(&self.base);
        let h = t - self.base.t;
        if h == 0.0 {
            return;
        }
        // From the same beginning whatever was asked before.
        self.between.solver.forget();
        self.between.dynamics.adopt(&self.main.dynamics);
        self.between.held.copy_from_slice(&self.main.held);
        self.between.set(recipe, &self.past, &self.multipliers);
        if let Err(error) = self.between.travel(y, recipe, out, h) {
            self.lost = Some(error);
        }
        out.t = t;
    }

    /// The work done so far.
    pub fn counts(&self) -> Counts {
        let mut out = Counts { steps: self.steps, ..Counts::default() };
        for Mover { solver, dynamics, rates_within, .. } in [&self.main, &self.between] {
            let (other, own) = (dynamics.counts(), solver.counts);
            let nested = rates_within.as_ref().map(|nested| nested.counts).unwrap_or_default();
            out += nested;
            out.forces += other.forces + solver.forces();
            out.tangents += own.tangents;
            out.factorisations += other.factorisations + own.factorisations;
            out.solves += other.solves + own.solves;
            out.projections += other.projections;
        }
        out
    }

    /// All that the next step depends on besides the state.
    pub fn memory(&self, out: &mut Vec<f64>) {
        out.extend([self.end.t, self.past.h]);
        for values in [&self.end.v, &self.past.v, &self.past.frequencies, &self.multipliers] {
            out.extend(values);
        }
        out.extend(self.main.held.iter().map(|&held| f64::from(u8::from(held))));
        if let Some(course) = &self.course {
            course.memory(out);
        }
        self.main.dynamics.memory(out);
        self.main.solver.memory(out);
    }

    /// Takes it over.
    pub fn recall(&mut self, memory: &[f64]) {
        let (&[t, h], mut rest) = memory.split_first_chunk().expect("a memory of this method");
        (self.end.t, self.past.h) = (t, h);
        for values in [&mut self.end.v, &mut self.past.v, &mut self.past.frequencies, &mut self.multipliers] {
            let (own, others) = rest.split_at(values.len());
            values.copy_from_slice(own);
            rest = others;
        }
        let (held, others) = rest.split_at(self.main.held.len());
        for (to, from) in self.main.held.iter_mut().zip(held) {
            *to = *from != 0.0;
        }
        let others = match &mut self.course {
            Some(course) => course.recall(others),
            None => others,
        };
        let rest = self.main.dynamics.recall(others);
        self.main.solver.recall(rest);
    }
}

impl<Y: System> Mover<Y> {
    fn new(y: &Y, recipe: &Recipe, structure: &Structure) -> Self {
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
    fn set(&mut self, recipe: &Recipe, past: &Past, multipliers: &[f64]) {
        let stationary = recipe.frequency == Some(Frequency::Stationary);
        for (square, omega) in self.start.squares.iter_mut().zip(&past.frequencies) {
            *square = if stationary { 0.0 } else { omega * omega };
        }
        self.acceleration.copy_from_slice(&past.acceleration);
        let own = self.unknown.len() - multipliers.len();
        self.unknown[own..].copy_from_slice(multipliers);
    }

    /// What the next guess is made of: the unknowns of the last step, and u².
    fn course(&mut self, h: f64) -> &[f64] {
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
    fn multipliers(&self) -> &[f64] {
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
    fn travel(&mut self, y: &Y, recipe: &Recipe, s: &mut State<f64>, h: f64) -> Result<f64, IntegrateError> {
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
