//! A run of a variational integrator: what it allocates, one step, continuous output, memory.

use super::centre::Centres;
use super::geometry::Structure;
use super::mover::Mover;
use super::predict::Course;
use super::waves::Curve;
use super::{Recipe, rates, resonance};
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
pub(super) fn groups<Y: System>(y: &Y, recipe: &Recipe) -> Vec<Range<usize>> {
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

/// The least |sin u| of a step: below it curves reach a thousand times as far as their ends.
const LEAST_SINE: f64 = 1e-3;

/// Parts of a step up to this are taken by a series: a step of the method would divide what iterations leave, a hundredth of an ulp of places, by its length. What the series
/// leaves out, ½(h BRIEF)² of the third derivative, is as small.
const BRIEF: f64 = 1e-6;

/// Refuses a step h in which sines of a frequency do not pass through both ends, sin ωh = 0.
pub(super) fn refuse_node(recipe: &Recipe, omega: f64, h: f64) -> Result<(), IntegrateError> {
    let u = omega * h;
    if recipe.curve == Curve::Spline || u.abs() < 1.0 || u.sin().abs() >= LEAST_SINE {
        return Ok(());
    }
    let reason = format!(
        "`{}`: a frequency of {omega} rad/s turns by {u:.4} rad, {:.4} times π, in a step of {h} s, and no sine of it passes through both ends of one; choose \
         another `fixed_step` or `frequency`",
        recipe.about.name,
        u / std::f64::consts::PI
    );
    Err(IntegrateError::Refused { reason })
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
    /// Coordinates and accelerations relative to centres, for frequencies at a start.
    about: Vec<f64>,
    turned: Vec<f64>,
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
pub(super) struct Past {
    groups: Vec<Range<usize>>,
    v: Vec<f64>,
    h: f64,
    pub frequencies: Vec<f64>,
    /// v̇ over the last step, for the first guess; zero at a start.
    pub acceleration: Vec<f64>,
}

/// The systems a recipe cannot take.
fn refuse<Y: System>(y: &Y, recipe: &Recipe, structure: &Structure) -> Result<(), IntegrateError> {
    let (name, shape) = (recipe.about.name, y.shape());
    let reason = if shape.x > 0 {
        let element = y.extra_name(0);
        format!(
            "`{name}` has no equation for extra states such as activations, and `{element}` has one; use `radau` or `dopri5`"
        )
    } else if shape.a > 0 {
        let row = y.row_name(shape.g);
        format!("`{name}` takes holonomic constraints only, and `{row}` is one on velocities; use `radau` or `dopri5`")
    } else if !y.loads().is_empty() {
        format!("`{name}` takes no sliding friction driven by constraint forces; use `radau`")
    } else if recipe.micro.is_some() && !structure.is_flat() {
        format!("`{name}` is for constant masses and coordinates whose rates are velocities; use `variational`")
    } else if let Some(reason) = recipe.micro.and_then(|_| rates::refuse(y)) {
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
        let bends = recipe.frequency.is_some_and(|frequency| frequency != Frequency::Given(0.0));
        let centres =
            if bends && recipe.centre && structure.is_flat() { Centres::find(y, s) } else { Centres::default() };
        let main = Mover::new(y, recipe, &structure, &centres);
        Ok(Self {
            between: Mover::new(y, recipe, &structure, &centres),
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
            about: zeros(shape.q),
            turned: zeros(shape.v),
            course: (recipe.stages.len() == 1 && recipe.micro.is_none()).then(|| Course::new(main.ahead.len())),
            main,
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
                self.about.copy_from_slice(&s.q);
                if kind == Frequency::Stationary {
                    self.main.relate(&mut self.about);
                    self.turned.copy_from_slice(&self.main.rates.v);
                    self.main.relate(&mut self.turned);
                } else {
                    self.turned.copy_from_slice(if same { acceleration } else { &self.main.rates.v });
                }
                let rates = &self.turned;
                for g in groups {
                    let pick = |values: &[f64]| -> [f64; 3] {
                        std::array::from_fn(|k| if k < g.len() { values[g.start + k] } else { 0.0 })
                    };
                    let omega = match kind {
                        Frequency::Stationary => root(pulling(pick(&self.about), pick(rates))),
                        _ => turning(pick(&s.v), pick(rates)),
                    };
                    frequencies[g.clone()].fill(omega);
                }
            }
        }
        Ok(same)
    }

    /// One step to the time `end`.
    pub fn step(&mut self, y: &Y, recipe: &Recipe, s: &mut State<f64>, end: f64) -> Result<(), IntegrateError> {
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
        if let Err(error) = self.main.travel(y, recipe, &mut self.now, h) {
            return Err(resonance::explain(y, recipe, &mut self.main, s, h, error));
        }
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
        Ok(())
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
        if h.abs() <= BRIEF * (self.end.t - self.base.t).abs() {
            if let Err(error) = self.brief(y, out, h) {
                self.lost = Some(error);
            }
            out.t = t;
            return;
        }
        // From the same beginning whatever was asked before.
        self.between.solver.forget();
        if let Some(nested) = &mut self.between.rates_within {
            nested.forget();
        }
        self.between.dynamics.adopt(&self.main.dynamics);
        self.between.held.copy_from_slice(&self.main.held);
        self.between.set(recipe, &self.past, &self.multipliers);
        if let Err(error) = self.between.travel(y, recipe, out, h) {
            self.lost = Some(error);
        }
        out.t = t;
    }

    /// Moves a state from the beginning of the last step by a small part of it, ξ = h v + ½h² v̇ and v + h v̇.
    fn brief(&mut self, y: &Y, out: &mut State<f64>, h: f64) -> Result<(), IntegrateError> {
        let Mover { dynamics, rates, .. } = &mut self.between;
        dynamics.adopt(&self.main.dynamics);
        dynamics.evaluate(y, out, rates)?;
        for (increment, (v, rate)) in self.turned.iter_mut().zip(out.v.iter_mut().zip(&rates.v)) {
            *increment = h * (*v + 0.5 * h * rate);
            *v += h * rate;
        }
        y.retract(&self.base.q, &self.turned, &mut out.q);
        out.z.iter_mut().zip(&rates.z).for_each(|(z, rate)| *z += h * rate);
        Ok(())
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
        if let Some(nested) = &self.main.rates_within {
            nested.memory(out);
        }
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
        let rest = self.main.solver.recall(rest);
        if let Some(nested) = &mut self.main.rates_within {
            nested.recall(rest);
        }
    }
}
