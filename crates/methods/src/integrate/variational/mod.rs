//! Variational integrators: discrete Lagrangians, phase fitting and Lie groups.
//!
//! The action of one step is approximated first, then made stationary (`discrete`). What results is symplectic, keeps the momenta that
//! belong to symmetries to rounding, and its energy oscillates without drift (\[1\]); forces without potential enter as virtual work.
//! All members here are one-step maps of (q, v) with p = M v at both ends, at a fixed step:
//!
//! | Name | Curve | Quadrature | Order |
//! |---|---|---|---|
//! | `variational` | straight | α and 1 − α: ½ midpoint, 0 trapezoidal (Störmer–Verlet, RATTLE) | 2; 4, 6, 8 by composition |
//! | `galerkin_gauss` | degree s | s Gauss points | 2s |
//! | `galerkin_lobatto` | degree s | s + 1 Lobatto points (Lobatto IIIA–IIIB with constraints at all of them) | 2s |
//! | `galerkin_chebyshev` | degree s | s + 1 Chebyshev points, for comparison | s + 2 or s + 1, even |
//! | `lie_group` | one turn | trapezoidal, velocity of rotations by chord (`geometry`) | 2; 4, 6, 8 by composition |
//! | `multirate` | straight, in micro steps | slow forces at α and 1 − α of macro steps, fast ones of micro steps (`rates`, `whole`) | 2 |
//! | `phase_fitted` | sines of u = ωh (`fitted`) | S points | 2; 4 on orbits about zero; exact recursion on an oscillator of frequency ω |
//!
//! - Holonomic constraints hold at nodes with multipliers there, and their rates at the ends of steps; straight steps also without multipliers
//!   (`null_space`).
//! - Nothing is carried from step to step but the state, so impacts and continued runs need no care; `phase_fitted` can estimate
//!   frequencies from the last two velocities, ω = |v × v̇|/|v|² for groups of two or three coordinates (\[2\] eqs. 5 to 7), and keeps them for that.
//! - Continuous output repeats the step with a shorter one, so that it has the order of the method and meets constraints.
//! - There is no error control, and steps have no estimate of their error.
//! - Integrals by the quadrature of the method. Extra states, velocity-level rows and friction driven by multipliers are refused.
//!
//! Departures: frequencies come from the action by default (`fitted`), where \[2\] has (6) with the last two momenta, which is `estimate = 1` here; a coordinate
//! by itself then gets a straight line. The unknown of a rotation is its vector in R³; Cayley's map of \[3\] is another chart of the same
//! equations and has the same solution.
//!
//! References: \[1\] Marsden, West: Discrete mechanics and variational integrators, Acta Numerica 10 (2001) 357–514; \[2\] Kosmas, Leyendecker:
//! On frequency estimations in phase fitted variational integrators, and \[3\] Leitz, Leyendecker: Lie group variational integrators with
//! quaternion parametrization of rotations, and \[5\] Gail, Leyendecker, Ober-Blöbaum: Computing time investigations of variational multirate
//! systems, report of the Chair of Applied Dynamics, Erlangen 2013; \[4\] Leyendecker, Marsden, Ortiz:
//! Variational integrators for constrained dynamical systems, ZAMM 88 (2008) 677–708.

mod about;
mod bend;
mod centre;
mod columns;
mod composition;
mod discrete;
mod fitted;
mod geometry;
mod kicks;
mod lane;
mod links;
mod matrix;
mod mover;
mod nodes;
mod null_space;
mod plan;
mod predict;
mod rates;
mod resonance;
mod run;
mod scheme;
mod sizes;
mod solve;
mod waves;
mod whole;

use super::control::land;
use super::{About, Counts, IntegrateError, Integrator, Settings, SettingsError, Step};
use crate::system::{State, System};
pub use about::{
    ABOUT_GALERKIN_CHEBYSHEV, ABOUT_GALERKIN_GAUSS, ABOUT_GALERKIN_LOBATTO, ABOUT_LIE_GROUP, ABOUT_MULTIRATE,
    ABOUT_PHASE_FITTED, ABOUT_VARIATIONAL,
};
use run::{Frequency, Run};
use scheme::Scheme;
use waves::Curve;

/// The relative residual at which an initial state counts as consistent.
const CONSISTENT: f64 = 1e-6;

/// Steps within steps.
#[derive(Copy, Clone, Debug)]
struct Micro {
    /// Micro steps in a macro step, and so on for higher rates.
    steps: [u32; MOST_RATES - 1],
    /// Where in macro steps slow forces are taken, and in the smallest steps the fastest ones.
    slow: f64,
    fast: f64,
}

/// The rates that settings can tell.
const MOST_RATES: usize = 4;

/// How steps are made.
#[derive(Clone, Debug)]
struct Recipe {
    about: &'static About,
    scheme: Scheme,
    stages: Vec<(f64, usize)>,
    chord: f64,
    frequency: Option<Frequency>,
    curve: Curve,
    /// Whether curves bend about centres of mass where they can.
    centre: bool,
    micro: Option<Micro>,
    null_space: bool,
    iterations: u32,
}

/// A variational integrator.
pub struct Variational<Y: System> {
    recipe: Recipe,
    fixed_step: f64,
    run: Option<Run<Y>>,
}

/// A setting as a whole number.
fn whole(value: f64) -> usize {
    value.round() as usize
}

impl<Y: System> Variational<Y> {
    fn make(
        about: &'static About,
        settings: &Settings,
        scheme: impl Fn(&dyn Fn(&str) -> f64) -> Scheme,
    ) -> Result<Self, SettingsError> {
        settings.check(about)?;
        let get = |name: &str| settings.get(about, name);
        let has = |name: &str| about.parameters.iter().any(|p| p.name == name);
        let order = if has("composition") { whole(get("composition")) as u32 } else { 2 };
        if !composition::ORDERS.contains(&order) {
            return Err(SettingsError::Range { name: "composition", value: f64::from(order), range: [2.0, 8.0] });
        }
        let frequency = has("frequency").then(|| match (get("fitted") < 0.5, get("frequency")) {
            (true, _) => Frequency::Given(0.0),
            (_, omega) if omega > 0.0 => Frequency::Given(omega),
            _ if get("estimate") > 0.5 => Frequency::Curvature,
            _ => Frequency::Stationary,
        });
        Ok(Self {
            recipe: Recipe {
                about,
                scheme: scheme(&get),
                stages: composition::stages(order),
                chord: if has("chord") { get("chord") } else { 0.0 },
                frequency,
                curve: if has("fitted") && get("fitted") > 1.5 { Curve::Spline } else { Curve::Sine },
                centre: has("centre") && get("centre") > 0.5,
                micro: has("micro_steps").then(|| Micro {
                    steps: ["micro_steps", "faster_steps", "fastest_steps"].map(|name| whole(get(name)) as u32),
                    slow: get("slow_alpha"),
                    fast: get("fast_alpha"),
                }),
                null_space: has("null_space") && get("null_space") > 0.5,
                iterations: get("newton_iterations") as u32,
            },
            fixed_step: get("fixed_step"),
            run: None,
        })
    }

    /// `variational`.
    pub fn affine(settings: &Settings) -> Result<Self, SettingsError> {
        Self::make(&ABOUT_VARIATIONAL, settings, |get| Scheme::new(nodes::lobatto(2), nodes::affine(get("alpha"))))
    }

    /// `galerkin_gauss`.
    pub fn gauss(settings: &Settings) -> Result<Self, SettingsError> {
        Self::make(&ABOUT_GALERKIN_GAUSS, settings, |get| {
            let degree = whole(get("degree"));
            Scheme::new(nodes::lobatto(degree + 1), nodes::gauss(degree))
        })
    }

    /// `galerkin_lobatto`.
    pub fn lobatto(settings: &Settings) -> Result<Self, SettingsError> {
        Self::make(&ABOUT_GALERKIN_LOBATTO, settings, |get| {
            let nodes = nodes::lobatto(whole(get("degree")) + 1);
            Scheme::new(nodes.clone(), nodes)
        })
    }

    /// `galerkin_chebyshev`.
    pub fn chebyshev(settings: &Settings) -> Result<Self, SettingsError> {
        Self::make(&ABOUT_GALERKIN_CHEBYSHEV, settings, |get| {
            let degree = whole(get("degree"));
            let points = nodes::fejer(degree + 1);
            let weights = nodes::weights(&points);
            Scheme::new(nodes::lobatto(degree + 1), (points, weights))
        })
    }

    /// `lie_group`.
    pub fn lie_group(settings: &Settings) -> Result<Self, SettingsError> {
        Self::make(&ABOUT_LIE_GROUP, settings, |_| Scheme::new(nodes::lobatto(2), nodes::lobatto(2)))
    }

    /// `phase_fitted`.
    pub fn phase_fitted(settings: &Settings) -> Result<Self, SettingsError> {
        Self::make(&ABOUT_PHASE_FITTED, settings, |get| {
            let count = whole(get("points"));
            let quadrature = match whole(get("spacing")) {
                1 => nodes::lobatto(count),
                spacing => {
                    let points = if spacing == 0 { nodes::equidistant(count) } else { nodes::chebyshev(count) };
                    let weights = nodes::weights(&points);
                    (points, weights)
                }
            };
            Scheme::new(nodes::lobatto(2), quadrature)
        })
    }

    /// `multirate`.
    pub fn multirate(settings: &Settings) -> Result<Self, SettingsError> {
        Self::make(&ABOUT_MULTIRATE, settings, |get| Scheme::new(nodes::lobatto(2), nodes::affine(get("fast_alpha"))))
    }
}

impl<Y: System> Integrator<Y> for Variational<Y> {
    fn about(&self) -> &'static About {
        self.recipe.about
    }

    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        if let Some(Frequency::Given(omega)) = self.recipe.frequency {
            run::refuse_node(&self.recipe, omega, self.fixed_step)?;
        }
        let mut run = Run::new(y, &self.recipe, s)?;
        run.begin(y, &self.recipe, s, CONSISTENT)?;
        self.run = Some(run);
        Ok(())
    }

    fn step(&mut self, y: &Y, s: &mut State<f64>, until: f64) -> Result<Step, IntegrateError> {
        let Some(run) = &mut self.run else {
            let reason = format!("`{}` was not started", self.recipe.about.name);
            return Err(IntegrateError::Refused { reason });
        };
        let t = s.t;
        if until <= t || until.is_nan() {
            return Err(IntegrateError::Refused { reason: format!("a step from t = {t} s cannot end at {until} s") });
        }
        let end = land(t, self.fixed_step, until);
        run.step(y, &self.recipe, s, end)?;
        Ok(Step { t, h: end - t, error: None, rejected: 0 })
    }

    fn dense(&mut self, y: &Y, out: &mut State<f64>) {
        if let Some(run) = &mut self.run {
            run.dense(y, &self.recipe, out);
        }
    }

    fn counts(&self) -> Counts {
        self.run.as_ref().map(Run::counts).unwrap_or_default()
    }

    fn frequencies(&self) -> &[f64] {
        match (&self.run, &self.recipe.frequency) {
            (Some(run), Some(_)) => run.frequencies(),
            _ => &[],
        }
    }

    fn memory(&self) -> Vec<f64> {
        let mut out = Vec::new();
        if let Some(run) = &self.run {
            run.memory(&mut out);
        }
        out
    }

    fn recall(&mut self, memory: &[f64]) {
        if let Some(run) = &mut self.run {
            run.recall(memory);
        }
    }
}
