//! Explicit Runge–Kutta methods on manifolds, for systems that are not stiff.
//!
//! Each step is a Runge–Kutta–Munthe-Kaas step [1]: with q = q_n ⊕ δ the unknowns (δ, v, x, z) live in a vector space,
//!
//! ```text
//! δ̇ = local_rate(δ, v),   v̇ = M⁻¹(f − Gᵀλ),   ẋ = r,   ż = s,
//! ```
//!
//! and any classical method [2] applies; the order carries over to the manifold. Multipliers are eliminated on acceleration
//! level (index 1), so the constraints drift with the truncation error; after each accepted step the state is projected
//! to the position and velocity constraints, unless it is already on them. The projection is as small as the local
//! error and keeps the order ([3] section VII.2).
//!
//! Departures: the error is the largest weighted component, not the mean square (see [`super::control`]); the rates at
//! the end of a step are used again for the next one only if the projection left the state alone.
//!
//! The continuous output is the method's own and is *not* projected: its constraint residuals are those of its order.
//! `simulate` projects it where a caller asks for states that satisfy the constraints.
//!
//! References: [1] Munthe-Kaas: High order Runge–Kutta methods on manifolds, Appl. Numer. Math. 29 (1999) 115–127;
//! [2] Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993; [3] Hairer, Wanner:
//! Solving Ordinary Differential Equations II, 2nd ed., Springer 1996.

use super::control::{Controller, Largest, Tolerance, land, shortest_step};
use super::tableau::{DOP853, DOPRI5, MOST_STAGES, Tableau};
use super::{About, Counts, IntegrateError, Integrator, Parameter, Settings, SettingsError, Step};
use crate::dynamics::{Dynamics, Rates};
use crate::system::{Shape, State, System};

/// Constraint residuals below this part of the tolerance are left alone.
const NEGLIGIBLE: f64 = 0.01;
/// Initial states are never asked to meet the constraints better than this, relative to the size of the system.
const CONSISTENT: f64 = 1e-12;

/// The options of both methods.
const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "tolerance",
        unit: "1",
        default: 1e-8,
        range: [1e-15, 0.1],
        meaning: "error allowed in one step, relative to the size of each coordinate, velocity and state",
    },
    Parameter {
        name: "absolute",
        unit: "SI",
        default: 0.0,
        range: [0.0, 1e9],
        meaning: "error allowed in one step where a coordinate, velocity or state is zero; 0 takes the number of `tolerance`",
    },
    Parameter {
        name: "first_step",
        unit: "s",
        default: 0.0,
        range: [0.0, 1e300],
        meaning: "length of the first step; 0 lets the method choose",
    },
    Parameter {
        name: "largest_step",
        unit: "s",
        default: 0.0,
        range: [0.0, 1e300],
        meaning: "no step is longer than this; 0 sets no limit",
    },
    Parameter {
        name: "smallest_step",
        unit: "s",
        default: 0.0,
        range: [0.0, 1e300],
        meaning: "the run fails when error control asks for shorter steps; 0 stands for what time can resolve",
    },
    Parameter {
        name: "fixed_step",
        unit: "s",
        default: 0.0,
        range: [0.0, 1e300],
        meaning: "steps of this length without error control, for studies of convergence; 0 controls the error",
    },
    Parameter {
        name: "safety",
        unit: "1",
        default: 0.9,
        range: [0.1, 0.99],
        meaning: "the part of the step size thought possible that is taken",
    },
];

/// What `dopri5` is.
pub const ABOUT_DOPRI5: About = About {
    name: "dopri5",
    title: "Explicit Runge–Kutta method of order 5 (Dormand–Prince)",
    summary: "A good first choice for smooth systems without stiff springs at moderate accuracy. Six force evaluations for each \
              step, error control by the embedded method of order 4, continuous output of order 4 at no cost. Constraints \
              are met by projection after each step.",
    order: 5,
    stiff: false,
    parameters: PARAMETERS,
    references: &[
        "Dormand, Prince: A family of embedded Runge–Kutta formulae, J. Comput. Appl. Math. 6 (1980) 19–26",
        "Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, section II.5",
        "Munthe-Kaas: High order Runge–Kutta methods on manifolds, Appl. Numer. Math. 29 (1999) 115–127",
    ],
};

/// What `dop853` is.
pub const ABOUT_DOP853: About = About {
    name: "dop853",
    title: "Explicit Runge–Kutta method of order 8 (Dormand–Prince, Hairer)",
    summary: "For smooth systems at high accuracy (tolerances of 1e-8 to 1e-13) and for long runs. Twelve force evaluations for \
              each step, error control by embedded methods of orders 5 and 3, continuous output of order 7 for three more \
              evaluations in steps where it is asked for. Constraints are met by projection after each step.",
    order: 8,
    stiff: false,
    parameters: PARAMETERS,
    references: &[
        "Prince, Dormand: High order embedded Runge–Kutta formulae, J. Comput. Appl. Math. 7 (1981) 67–75",
        "Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, section II.10",
        "Munthe-Kaas: High order Runge–Kutta methods on manifolds, Appl. Numer. Math. 29 (1999) 115–127",
    ],
};

/// An explicit Runge–Kutta method.
pub struct RungeKutta<Y: System> {
    about: &'static About,
    tableau: &'static Tableau,
    tolerance: Tolerance,
    first_step: f64,
    largest_step: f64,
    smallest_step: f64,
    fixed_step: f64,
    controller: Controller,
    proposal: f64,
    counts: Counts,
    scratch: Option<Scratch<Y>>,
}

/// Everything allocated at the start. Vectors of increments are packed as (δ, Δv, Δx, Δz).
struct Scratch<Y: System> {
    tableau: &'static Tableau,
    dynamics: Dynamics<Y>,
    rates: Rates,
    shape: Shape,
    size: usize,
    /// Where the last step began; the base point of its increments.
    base: State<f64>,
    /// The state of the stage at hand, in the end that of the next state.
    stage: State<f64>,
    /// The rates of all stages, one row each.
    slopes: Vec<f64>,
    /// The increment of the stage at hand.
    increment: Vec<f64>,
    /// The sizes of all components at the beginning of the step.
    sizes: Vec<f64>,
    /// The length of the last step.
    h: f64,
    /// Which part of `slopes` belongs to the state given out last.
    reuse: Reuse,
    /// Whether the stages for continuous output are there.
    dense: Dense,
}

/// out = base moved by the packed increment, at time `t`.
fn place<Y: System>(y: &Y, shape: Shape, base: &State<f64>, increment: &[f64], t: f64, out: &mut State<f64>) {
    let (delta, rest) = increment.split_at(shape.v);
    out.t = t;
    y.retract(&base.q, delta, &mut out.q);
    let mut rest = rest.iter();
    for (out, base) in [(&mut out.v, &base.v), (&mut out.x, &base.x), (&mut out.z, &base.z)] {
        for ((out, base), increment) in out.iter_mut().zip(base).zip(&mut rest) {
            *out = base + increment;
        }
    }
    out.p.copy_from_slice(&base.p);
}

/// What the next step can take over from the last.
#[derive(Copy, Clone, PartialEq)]
enum Reuse {
    /// Nothing: rates must be evaluated.
    Nothing,
    /// The first row holds the rates at the state.
    First,
    /// The row at the end of the step holds the rates at the state.
    Last,
}

/// The further stages for continuous output.
#[derive(Copy, Clone, PartialEq)]
enum Dense {
    Missing,
    Ready,
    Failed,
}

impl<Y: System> RungeKutta<Y> {
    /// The method of order 5.
    pub fn dopri5(settings: &Settings) -> Result<Self, SettingsError> {
        Self::new(&ABOUT_DOPRI5, &DOPRI5, settings)
    }

    /// The method of order 8.
    pub fn dop853(settings: &Settings) -> Result<Self, SettingsError> {
        Self::new(&ABOUT_DOP853, &DOP853, settings)
    }

    fn new(about: &'static About, tableau: &'static Tableau, settings: &Settings) -> Result<Self, SettingsError> {
        settings.check(about)?;
        let get = |name| settings.get(about, name);
        let largest_step = get("largest_step");
        Ok(Self {
            about,
            tableau,
            tolerance: Tolerance::new(get("tolerance"), get("absolute")),
            first_step: get("first_step"),
            largest_step: if largest_step > 0.0 { largest_step } else { f64::INFINITY },
            smallest_step: get("smallest_step"),
            fixed_step: get("fixed_step"),
            controller: Controller::new(tableau.error_power, tableau.beta, get("safety"), tableau.change),
            proposal: 0.0,
            counts: Counts::default(),
            scratch: None,
        })
    }
}

impl<Y: System> Scratch<Y> {
    fn new(y: &Y, tableau: &'static Tableau) -> Self {
        let shape = y.shape();
        let size = 2 * shape.v + shape.x + shape.z;
        Self {
            tableau,
            dynamics: Dynamics::new(y),
            rates: Rates::zeros(shape),
            shape,
            size,
            base: State::zeros(shape),
            stage: State::zeros(shape),
            slopes: vec![0.0; tableau.all_stages() * size],
            increment: vec![0.0; size],
            sizes: vec![0.0; size],
            h: 0.0,
            reuse: Reuse::Nothing,
            dense: Dense::Failed,
        }
    }

    /// increment = h Σ w_j k_j over the rows of slopes.
    fn combine(&mut self, h: f64, weights: &[f64]) {
        self.increment.fill(0.0);
        for (row, &weight) in self.slopes.chunks_exact(self.size.max(1)).zip(weights) {
            if weight != 0.0 {
                for (sum, &slope) in self.increment.iter_mut().zip(row) {
                    *sum += weight * slope;
                }
            }
        }
        for sum in &mut self.increment {
            *sum *= h;
        }
    }

    /// stage = base moved by `increment`, at time `t`.
    fn place(&mut self, y: &Y, t: f64) {
        place(y, self.shape, &self.base, &self.increment, t, &mut self.stage);
    }

    /// Row `i` of slopes: the rates at the stage state, in the chart at the base.
    fn evaluate(&mut self, y: &Y, i: usize) -> Result<(), IntegrateError> {
        self.dynamics.evaluate(y, &self.stage, &mut self.rates)?;
        let Shape { v, x, .. } = self.shape;
        let slope = &mut self.slopes[i * self.size..(i + 1) * self.size];
        y.local_rate(&self.increment[..v], &self.stage.v, &mut slope[..v]);
        slope[v..2 * v].copy_from_slice(&self.rates.v);
        slope[2 * v..2 * v + x].copy_from_slice(&self.rates.x);
        slope[2 * v + x..].copy_from_slice(&self.rates.z);
        match slope.iter().position(|k| !k.is_finite()) {
            None => Ok(()),
            Some(j) => {
                Err(IntegrateError::NotFinite { t: self.stage.t, what: format!("the rate of {}", self.name(y, j)) })
            }
        }
    }

    /// Moves the base to the state and makes row 0 of slopes its rates.
    fn rebase(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        self.base.copy_from(s);
        self.dense = Dense::Failed;
        match std::mem::replace(&mut self.reuse, Reuse::Nothing) {
            Reuse::Nothing => {
                self.increment.fill(0.0);
                self.stage.copy_from(s);
                self.evaluate(y, 0)?;
            }
            Reuse::First => {}
            Reuse::Last => {
                let last = self.tableau.stages * self.size;
                self.slopes.copy_within(last..last + self.size, 0);
                // The chart moved with the base: there δ = 0.
                self.increment.fill(0.0);
                let v = self.shape.v;
                y.local_rate(&self.increment[..v], &s.v, &mut self.slopes[..v]);
            }
        }
        self.reuse = Reuse::First;
        Ok(())
    }

    /// The sizes of all components, for the weights of the error.
    fn measure(&mut self, y: &Y) {
        let v = self.shape.v;
        y.magnitude(&self.base.q, &mut self.sizes[..v]);
        let base = self.base.v.iter().chain(&self.base.x).chain(&self.base.z);
        for (size, value) in self.sizes[v..].iter_mut().zip(base) {
            *size = value.abs();
        }
    }

    /// The error allowed in each component: the larger of the sizes at both ends of the step counts.
    fn weight(&self, tolerance: Tolerance, i: usize) -> f64 {
        let Shape { v, x, .. } = self.shape;
        let end = match i {
            _ if i < v => 0.0,
            _ if i < 2 * v => self.stage.v[i - v],
            _ if i < 2 * v + x => self.stage.x[i - 2 * v],
            _ => self.stage.z[i - 2 * v - x],
        };
        tolerance.weight(self.sizes[i].max(end.abs()))
    }

    /// The largest of h Σ e_j k_j in units of the weights.
    fn error(&mut self, tolerance: Tolerance, h: f64, weights: &[f64]) -> Largest {
        self.combine(h, weights);
        let mut largest = Largest::default();
        for i in 0..self.size {
            largest.see(i, self.increment[i] / self.weight(tolerance, i));
        }
        largest
    }

    /// One attempt at a step to `end`: all stages, the state at the end in `stage`, and the error.
    fn attempt(&mut self, y: &Y, tolerance: Tolerance, end: f64) -> Result<Largest, IntegrateError> {
        let (tableau, t) = (self.tableau, self.base.t);
        let h = end - t;
        for i in 1..=tableau.stages {
            self.combine(h, tableau.rows[i]);
            self.place(y, if tableau.nodes[i] == 1.0 { end } else { t + tableau.nodes[i] * h });
            // The rates at the end wait for the verdict where the estimate does not need them.
            if i < tableau.stages || tableau.error.len() > tableau.stages {
                self.evaluate(y, i)?;
            }
        }
        let mut error = self.error(tolerance, h, tableau.error);
        if !tableau.error_low.is_empty() {
            let low = self.error(tolerance, h, tableau.error_low);
            error.value = Tableau::combine(error.value, low.value);
        }
        Ok(error)
    }

    /// Completes an accepted attempt: rates at the end, projection to the constraints.
    fn finish(&mut self, y: &Y, tolerance: Tolerance, end: f64) -> Result<(), IntegrateError> {
        let tableau = self.tableau;
        if tableau.error.len() <= tableau.stages {
            self.combine(end - self.base.t, tableau.rows[tableau.stages]);
            self.evaluate(y, tableau.stages)?;
        }
        self.reuse = if self.project(y, tolerance)? { Reuse::Nothing } else { Reuse::Last };
        self.h = end - self.base.t;
        self.dense = if tableau.all_stages() > tableau.stages + 1 { Dense::Missing } else { Dense::Ready };
        Ok(())
    }

    /// Moves the state at the end of the step to the constraints; says whether that was necessary.
    fn project(&mut self, y: &Y, tolerance: Tolerance) -> Result<bool, IntegrateError> {
        if self.shape.rows() == 0 {
            return Ok(false);
        }
        let (position, velocity) = self.dynamics.residuals(y, &self.stage)?;
        let negligible = NEGLIGIBLE * tolerance.relative;
        if position.relative <= negligible && velocity.relative <= negligible {
            return Ok(false);
        }
        self.dynamics.project_position(y, &mut self.stage, tolerance.relative)?;
        self.dynamics.project_velocity(y, &mut self.stage)?;
        Ok(true)
    }

    /// A first step after [2] p. 169: an explicit Euler step of 1 % of the state's size tells the second derivative.
    fn first_step(&mut self, y: &Y, tolerance: Tolerance) -> f64 {
        self.measure(y);
        let weigh = |of: &Self, values: &[f64]| {
            let mut largest = Largest::default();
            for i in 0..of.size {
                largest.see(i, values[i] / tolerance.weight(of.sizes[i]));
            }
            largest.value
        };
        let (size, slope) = (weigh(self, &self.sizes), weigh(self, &self.slopes[..self.size]));
        let trial = if size < 1e-5 || slope < 1e-5 { 1e-6 } else { 0.01 * size / slope };
        self.combine(trial, &[1.0]);
        self.place(y, self.base.t + trial);
        if self.evaluate(y, 1).is_err() {
            return trial;
        }
        for i in 0..self.size {
            self.increment[i] = self.slopes[self.size + i] - self.slopes[i];
        }
        let curvature = weigh(self, &self.increment) / trial;
        let largest = slope.max(curvature);
        let power = f64::from(self.tableau.order + 1);
        let step = if largest <= 1e-15 { (trial * 1e-3).max(1e-6) } else { (0.01 / largest).powf(1.0 / power) };
        step.min(100.0 * trial)
    }

    /// The user's name of a packed component.
    fn name(&self, y: &Y, index: usize) -> String {
        let Shape { v, x, .. } = self.shape;
        if index < v {
            y.velocity_name(index)
        } else if index < 2 * v {
            y.velocity_name(index - v)
        } else if index < 2 * v + x {
            format!("extra state {}", index - 2 * v)
        } else {
            format!("integral {}", index - 2 * v - x)
        }
    }
}

impl<Y: System> Integrator<Y> for RungeKutta<Y> {
    fn about(&self) -> &'static About {
        self.about
    }

    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        let mut scratch = Scratch::new(y, self.tableau);
        scratch.dynamics.check(y, s, self.tolerance.relative.max(CONSISTENT))?;
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
            return Err(IntegrateError::Refused { reason: format!("`{}` was not started", self.about.name) });
        };
        let t = s.t;
        if !(until > t) {
            return Err(IntegrateError::Refused { reason: format!("a step from t = {t} s cannot end at {until} s") });
        }
        scratch.rebase(y, s)?;
        scratch.measure(y);
        let fixed = self.fixed_step > 0.0;
        let smallest = self.smallest_step.max(shortest_step(t));
        let mut rejected = 0;
        loop {
            let wanted = self.proposal.min(self.largest_step);
            let end = land(t, wanted, until);
            let attempt = scratch.attempt(y, self.tolerance, end).and_then(|error| {
                if fixed || error.value <= 1.0 {
                    scratch.finish(y, self.tolerance, end)?;
                }
                Ok(error)
            });
            let h = end - t;
            let shrink = match &attempt {
                Ok(error) if fixed || error.value <= 1.0 => {
                    s.copy_from(&scratch.stage);
                    if !fixed {
                        let next = h * self.controller.accept(error.value);
                        // A step cut short by `until` says little about the next one.
                        self.proposal = if h < wanted { next.max(wanted) } else { next };
                    }
                    self.counts.steps += 1;
                    return Ok(Step { t, h, error: error.value, rejected });
                }
                Ok(error) => self.controller.reject(error.value),
                Err(_) => self.controller.reject(f64::INFINITY),
            };
            self.counts.rejected += 1;
            rejected += 1;
            if fixed || h * shrink < smallest {
                return Err(match attempt {
                    Err(failure) => failure,
                    Ok(error) => IntegrateError::StepTooSmall { t, h, worst: scratch.name(y, error.index) },
                });
            }
            self.proposal = h * shrink;
        }
    }

    fn dense(&mut self, y: &Y, out: &mut State<f64>) {
        let Some(scratch) = &mut self.scratch else { return };
        let tableau = self.tableau;
        let (t, h) = (scratch.base.t, scratch.h);
        let theta = if h > 0.0 { (out.t - t) / h } else { 0.0 };
        if scratch.dense == Dense::Missing {
            scratch.dense = Dense::Ready;
            for i in tableau.stages + 1..tableau.all_stages() {
                scratch.combine(h, tableau.rows[i]);
                scratch.place(y, t + tableau.nodes[i] * h);
                if scratch.evaluate(y, i).is_err() {
                    scratch.dense = Dense::Failed;
                    break;
                }
            }
        }
        let mut weights = [0.0; MOST_STAGES];
        match scratch.dense {
            Dense::Ready => tableau.weights(theta, &mut weights),
            _ => tableau.hermite_weights(theta, &mut weights),
        }
        scratch.combine(h, &weights);
        place(y, scratch.shape, &scratch.base, &scratch.increment, out.t, out);
    }

    fn counts(&self) -> Counts {
        let work = self.scratch.as_ref().map(|scratch| scratch.dynamics.counts()).unwrap_or_default();
        Counts { steps: self.counts.steps, rejected: self.counts.rejected, ..work }
    }

    fn memory(&self) -> Vec<f64> {
        let [before, rejected] = self.controller.memory();
        let mut memory = vec![self.proposal, before, rejected];
        if let Some(scratch) = &self.scratch {
            scratch.dynamics.memory(&mut memory);
        }
        memory
    }

    fn recall(&mut self, memory: &[f64]) {
        let (Some(scratch), &[proposal, before, rejected, ref rest @ ..]) = (&mut self.scratch, memory) else { return };
        self.proposal = proposal;
        self.controller.recall([before, rejected]);
        scratch.dynamics.recall(rest);
        // The rates of the start were found without this memory.
        scratch.reuse = Reuse::Nothing;
    }
}
