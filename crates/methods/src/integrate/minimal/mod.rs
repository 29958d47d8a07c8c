//! The motion in minimal coordinates: constraints in explicit form, and an ordinary differential equation for what is free.
//!
//! Instead of (16), multipliers and projections, only f independent increments y and as many (or, with velocity constraints, fewer)
//! independent velocities z are integrated,
//!
//! ```text
//! ẏ = y'(y, z, t),      M(y, t) ż + k(y, z, t) = q(y, z, t)                \[1\] eq. (17), (18)
//! ```
//!
//! by the explicit method of order 8 (see [`super::tableau`]). Dependent coordinates come from Newton's method in every stage, dependent
//! velocities from a linear solve, so that every state, between steps too, is on the constraints to rounding. The set of
//! independent coordinates is chosen anew at the beginning of each step by complete pivoting; it changes wherever another one is better,
//! near singular positions above all \[2\]. In a singular position itself the explicit form does not exist, and close to it rounding is
//! carried on: steps that end or have a stage there are made again with a length that passes it between two stages (`singular.rs`).
//!
//! Departures: coordinates are increments from the state at the beginning of the step, so that configurations may live on manifolds.
//!
//! References: \[1\] Schiehlen, Computational dynamics: theory and applications of multibody systems, Eur. J. Mech. A/Solids 25 (2006)
//! 566–594; \[2\] Wehage, Haug: Generalized coordinate partitioning for dimension reduction in analysis of constrained dynamic systems,
//! J. Mech. Des. 104 (1982) 247–255.

mod reduce;
mod singular;

use super::control::{Controller, Largest, Tolerance, land, shortest_step};
use super::options::{ABSOLUTE, FIRST_STEP, FIXED_STEP, LARGEST_STEP, TOLERANCE};
use super::packed;
use super::tableau::{DOP853, MOST_STAGES, Tableau};
use super::{About, Counts, IntegrateError, Integrator, Settings, SettingsError, Step};
use crate::dynamics::{Dynamics, Rates};
use crate::system::{Shape, State, System};
use reduce::Reduction;

/// Initial states are never asked to meet the constraints better than this, relative to the size of the system.
const CONSISTENT: f64 = 1e-12;
const TABLEAU: &Tableau = &DOP853;
/// Most attempts at a step that look for a way past a singular position.
const DETOURS: u32 = 8;

/// What `minimal` is.
pub const ABOUT_MINIMAL: About = About {
    name: "minimal",
    title: "Minimal coordinates: an explicit method of order 8 on independent coordinates",
    summary: "For mechanisms with loops whose constraints must hold to rounding at all times. Independent coordinates are chosen by \
              pivoting and change near singular positions; the others follow from the constraints. Not for stiff systems, nor for \
              sliding friction.",
    order: 8,
    stiff: false,
    parameters: &[TOLERANCE, ABSOLUTE, FIRST_STEP, LARGEST_STEP, FIXED_STEP],
    references: &[
        "Schiehlen: Computational dynamics: theory and applications of multibody systems, Eur. J. Mech. A/Solids 25 (2006) 566–594",
        "Wehage, Haug: Generalized coordinate partitioning for dimension reduction in analysis of constrained dynamic systems, J. \
         Mech. Des. 104 (1982) 247–255",
        "Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, section II.10",
    ],
};

/// The integrator in minimal coordinates.
pub struct Minimal<Y: System> {
    tolerance: Tolerance,
    first_step: f64,
    largest_step: f64,
    fixed_step: f64,
    controller: Controller,
    proposal: f64,
    counts: Counts,
    scratch: Option<Scratch<Y>>,
}

impl<Y: System> Minimal<Y> {
    /// The method with its settings.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        settings.check(&ABOUT_MINIMAL)?;
        let get = |name| settings.get(&ABOUT_MINIMAL, name);
        let largest_step = get("largest_step");
        Ok(Self {
            tolerance: Tolerance::new(get("tolerance"), get("absolute")),
            first_step: get("first_step"),
            largest_step: if largest_step > 0.0 { largest_step } else { f64::INFINITY },
            fixed_step: get("fixed_step"),
            controller: Controller::new(TABLEAU.error_power, TABLEAU.beta, 0.9, TABLEAU.change),
            proposal: 0.0,
            counts: Counts::default(),
            scratch: None,
        })
    }
}

/// Everything allocated at the start. Increments are packed as (y, Δz, Δx, Δintegrals).
struct Scratch<Y: System> {
    reduction: Reduction<Y>,
    rates: Rates,
    shape: Shape,
    base: State<f64>,
    stage: State<f64>,
    /// The increment of all coordinates in the chart at the base.
    delta: Vec<f64>,
    /// The rates of all coordinates in all stages; what they say of dependent ones is where Newton's method starts.
    guides: Vec<f64>,
    slopes: Vec<f64>,
    increment: Vec<f64>,
    sizes: Vec<f64>,
    full: Vec<f64>,
    size: usize,
    h: f64,
    /// The smallest pivots of the constraints in the stages and at the end of the last attempt, as far as it came.
    pivots: Vec<f64>,
    /// Whether the stages for continuous output are there.
    complete: bool,
}

impl<Y: System> Scratch<Y> {
    fn new(y: &Y) -> Self {
        let shape = y.shape();
        let full = 2 * shape.v + shape.x + shape.z;
        Self {
            reduction: Reduction::new(y),
            rates: Rates::zeros(shape),
            shape,
            base: State::zeros(shape),
            stage: State::zeros(shape),
            delta: vec![0.0; shape.v],
            guides: vec![0.0; TABLEAU.all_stages() * shape.v],
            slopes: vec![0.0; TABLEAU.all_stages() * full],
            increment: vec![0.0; full],
            sizes: vec![0.0; full],
            full: vec![0.0; full],
            size: 0,
            h: 0.0,
            pivots: Vec::with_capacity(TABLEAU.stages + 1),
            complete: true,
        }
    }

    /// The free coordinates and the free velocities.
    fn free(&self) -> (usize, usize) {
        (self.reduction.coordinates.len(), self.reduction.velocities.len())
    }

    /// Moves the base to a state, chooses what is independent there, and evaluates the first rates.
    fn rebase(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        self.base.copy_from(s);
        self.stage.copy_from(s);
        self.reduction.choose(y, s)?;
        let (a, b) = self.free();
        self.size = a + b + self.shape.x + self.shape.z;
        self.delta.fill(0.0);
        packed::measure(y, self.shape, s, &mut self.full);
        for i in 0..self.size {
            self.sizes[i] = self.full[self.place_of(i)];
        }
        self.reduction.quicken(y, &mut self.stage)?;
        self.pivots.clear();
        self.pivots.push(self.reduction.pivot());
        self.evaluate(y, 0)
    }

    /// Where a component stands in (δ, Δv, Δx, Δintegrals) of all coordinates.
    fn place_of(&self, i: usize) -> usize {
        let ((a, b), v) = (self.free(), self.shape.v);
        match i {
            _ if i < a => self.reduction.coordinates[i],
            _ if i < a + b => v + self.reduction.velocities[i - a],
            _ => 2 * v + i - a - b,
        }
    }

    /// increment = h Σ w_j k_j over the rows of slopes, and the same of all coordinates in `delta`.
    fn combine(&mut self, h: f64, weights: &[f64]) {
        let add = |out: &mut [f64], rows: &[f64]| {
            out.fill(0.0);
            for (row, &weight) in rows.chunks_exact(out.len().max(1)).zip(weights) {
                if weight != 0.0 {
                    out.iter_mut().zip(row).for_each(|(sum, slope)| *sum += weight * slope);
                }
            }
            out.iter_mut().for_each(|sum| *sum *= h);
        };
        add(&mut self.increment[..self.size], &self.slopes);
        add(&mut self.delta, &self.guides);
    }

    /// stage = the state on the constraints with the free part of `increment`.
    fn place(&mut self, y: &Y, t: f64) -> Result<(), IntegrateError> {
        let (a, b) = self.free();
        let Scratch { reduction, base, stage, delta, increment, shape, .. } = self;
        stage.t = t;
        for (&k, &y) in reduction.coordinates.iter().zip(&*increment) {
            delta[k] = y;
        }
        reduction.close(y, &base.q, delta, stage)?;
        for (&k, &z) in reduction.velocities.iter().zip(&increment[a..]) {
            stage.v[k] = base.v[k] + z;
        }
        for (i, x) in stage.x.iter_mut().enumerate() {
            *x = base.x[i] + increment[a + b + i];
        }
        for (i, z) in stage.z.iter_mut().enumerate() {
            *z = base.z[i] + increment[a + b + shape.x + i];
        }
        stage.p.copy_from_slice(&base.p);
        reduction.quicken(y, stage)
    }

    /// Row `i` of slopes: the rates at the stage.
    fn evaluate(&mut self, y: &Y, i: usize) -> Result<(), IntegrateError> {
        self.reduction.evaluate(y, &self.stage, &mut self.rates)?;
        let ((a, b), v) = (self.free(), self.shape.v);
        let guide = &mut self.guides[i * v..(i + 1) * v];
        y.local_rate(&self.delta, &self.stage.v, guide);
        let slope = &mut self.slopes[i * self.size..(i + 1) * self.size];
        for (slope, &k) in slope.iter_mut().zip(&self.reduction.coordinates) {
            *slope = guide[k];
        }
        for (slope, &k) in slope[a..].iter_mut().zip(&self.reduction.velocities) {
            *slope = self.rates.v[k];
        }
        slope[a + b..a + b + self.shape.x].copy_from_slice(&self.rates.x);
        slope[a + b + self.shape.x..].copy_from_slice(&self.rates.z);
        match slope.iter().position(|k| !k.is_finite()) {
            None => Ok(()),
            Some(j) => {
                let what = format!("the rate of {}", packed::name(y, self.shape, self.place_of(j)));
                Err(IntegrateError::NotFinite { t: self.stage.t, what })
            }
        }
    }

    fn largest(&self, tolerance: Tolerance, values: &[f64]) -> Largest {
        let mut largest = Largest::default();
        for (i, value) in values.iter().enumerate().take(self.size) {
            largest.see(i, value / tolerance.weight(self.sizes[i]));
        }
        largest
    }

    /// All stages of a step to `end`, and its error; the state at the end is in `stage`.
    fn attempt(&mut self, y: &Y, tolerance: Tolerance, end: f64) -> Result<Largest, IntegrateError> {
        let (t, h) = (self.base.t, end - self.base.t);
        self.pivots.truncate(1);
        for i in 1..TABLEAU.stages {
            self.combine(h, TABLEAU.rows[i]);
            self.place(y, if TABLEAU.nodes[i] == 1.0 { end } else { t + TABLEAU.nodes[i] * h })?;
            self.pivots.push(self.reduction.pivot());
            self.evaluate(y, i)?;
        }
        self.combine(h, TABLEAU.error);
        let mut error = self.largest(tolerance, &self.increment);
        self.combine(h, TABLEAU.error_low);
        error.value = Tableau::combine(error.value, self.largest(tolerance, &self.increment).value);
        self.combine(h, TABLEAU.rows[TABLEAU.stages]);
        self.place(y, end)?;
        self.pivots.push(self.reduction.pivot());
        Ok(error)
    }

    /// A first step as in [`super::RungeKutta`].
    fn first_step(&mut self, y: &Y, tolerance: Tolerance) -> f64 {
        let size = self.largest(tolerance, &self.sizes).value;
        let slope = self.largest(tolerance, &self.slopes[..self.size]).value;
        let trial = if size < 1e-5 || slope < 1e-5 { 1e-6 } else { 0.01 * size / slope };
        self.combine(trial, &[1.0]);
        if self.place(y, self.base.t + trial).and_then(|()| self.evaluate(y, 1)).is_err() {
            return trial;
        }
        for i in 0..self.size {
            self.increment[i] = self.slopes[self.size + i] - self.slopes[i];
        }
        let largest = slope.max(self.largest(tolerance, &self.increment).value / trial);
        let power = f64::from(TABLEAU.order + 1);
        let step = if largest <= 1e-15 { (trial * 1e-3).max(1e-6) } else { (0.01 / largest).powf(1.0 / power) };
        step.min(100.0 * trial)
    }

    /// The further stages for continuous output.
    fn complete(&mut self, y: &Y) -> Result<(), IntegrateError> {
        for i in TABLEAU.stages..TABLEAU.all_stages() {
            self.combine(self.h, TABLEAU.rows[i]);
            self.place(y, self.base.t + TABLEAU.nodes[i] * self.h)?;
            self.evaluate(y, i)?;
        }
        Ok(())
    }
}

impl<Y: System> Integrator<Y> for Minimal<Y> {
    fn about(&self) -> &'static About {
        &ABOUT_MINIMAL
    }

    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        if !y.loads().is_empty() {
            let reason =
                "`minimal` eliminates the forces of constraints and knows no sliding friction: use dop853 or radau";
            return Err(IntegrateError::Refused { reason: reason.to_owned() });
        }
        Dynamics::new(y).check(y, s, self.tolerance.relative.max(CONSISTENT))?;
        let mut scratch = Scratch::new(y);
        scratch.rebase(y, s)?;
        self.proposal = match (self.fixed_step, self.first_step) {
            (fixed, _) if fixed > 0.0 => fixed,
            (_, first) if first > 0.0 => first,
            _ => scratch.first_step(y, self.tolerance),
        };
        self.controller.reset();
        self.counts = Counts::default();
        self.scratch = Some(scratch);
        Ok(())
    }

    fn step(&mut self, y: &Y, s: &mut State<f64>, until: f64) -> Result<Step, IntegrateError> {
        let Some(scratch) = &mut self.scratch else {
            return Err(IntegrateError::Refused { reason: "`minimal` was not started".to_owned() });
        };
        let t = s.t;
        if until.is_nan() || until <= t {
            return Err(IntegrateError::Refused { reason: format!("a step from t = {t} s cannot end at {until} s") });
        }
        scratch.rebase(y, s)?;
        let fixed = self.fixed_step > 0.0;
        let least = singular::least(self.tolerance.relative);
        // What accuracy alone asks for, and how long after the beginning of the step the constraints lose their rank.
        let (mut natural, mut vanishing) = (self.proposal.min(self.largest_step), None);
        let (mut rejected, mut detours) = (0, 0);
        loop {
            let wanted = self.proposal.min(self.largest_step);
            let end = land(t, wanted, until);
            let h = end - t;
            let attempt = scratch.attempt(y, self.tolerance, end);
            let clear = fixed || detours == DETOURS || scratch.pivots[1..].iter().all(|&pivot| pivot >= least);
            let shrink = match &attempt {
                Ok(error) if fixed || (error.value <= 1.0 && clear) => {
                    s.copy_from(&scratch.stage);
                    (scratch.h, scratch.complete) = (h, false);
                    if !fixed {
                        let next = h * self.controller.accept(h, error.value);
                        let cut = h < wanted || vanishing.is_some();
                        self.proposal = if cut { next.max(natural) } else { next };
                    }
                    self.counts.steps += 1;
                    return Ok(Step { t, h, error: Some(error.value), rejected });
                }
                Ok(error) if error.value <= 1.0 => 1.0,
                Ok(error) => self.controller.reject(error.value),
                Err(_) => self.controller.reject(f64::INFINITY),
            };
            self.counts.rejected += 1;
            rejected += 1;
            if fixed || h * shrink < shortest_step(t) {
                return Err(match attempt {
                    Err(failure) => failure,
                    Ok(error) => {
                        let worst = packed::name(y, scratch.shape, scratch.place_of(error.index));
                        IntegrateError::StepTooSmall { t, h, worst }
                    }
                });
            }
            self.proposal = h * shrink;
            if clear {
                natural = h * shrink;
            } else {
                detours += 1;
                vanishing = singular::locate(TABLEAU.nodes, &scratch.pivots).map(|part| part * h).or(vanishing);
            }
            if let Some(after) = vanishing
                && detours < DETOURS
            {
                self.proposal = singular::length(after, natural);
            }
        }
    }

    fn dense(&mut self, y: &Y, out: &mut State<f64>) {
        let Some(scratch) = &mut self.scratch else { return };
        let (t, h) = (out.t, scratch.h);
        let theta = if h > 0.0 { (t - scratch.base.t) / h } else { 0.0 };
        let mut weights = [0.0; MOST_STAGES];
        TABLEAU.weights(theta, &mut weights);
        let mut found = Ok(());
        if !std::mem::replace(&mut scratch.complete, true) {
            found = scratch.complete(y);
        }
        scratch.combine(h, &weights);
        found = found.and_then(|()| scratch.place(y, t));
        out.copy_from(&scratch.stage);
        out.t = t;
        if found.is_err() {
            // There is no state here, and whoever asked for one is to notice.
            out.q.fill(f64::NAN);
        }
    }

    fn counts(&self) -> Counts {
        let work = self.scratch.as_ref().map(|scratch| scratch.reduction.counts()).unwrap_or_default();
        Counts { steps: self.counts.steps, rejected: self.counts.rejected, ..work }
    }

    fn memory(&self) -> Vec<f64> {
        let [before, step, rejected] = self.controller.memory();
        let mut memory = vec![self.proposal, before, step, rejected];
        if let Some(scratch) = &self.scratch {
            scratch.reduction.memory(&mut memory);
        }
        memory
    }

    fn recall(&mut self, memory: &[f64]) {
        if let (Some(scratch), &[proposal, before, step, rejected, ref rest @ ..]) = (&mut self.scratch, memory) {
            self.proposal = proposal;
            self.controller.recall([before, step, rejected]);
            scratch.reduction.recall(rest);
        }
    }
}
