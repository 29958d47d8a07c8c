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
//! - There is no error control. The error told of a step, for the energy ledger, is its difference to the trapezoidal rule.
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

mod composition;
mod discrete;
mod fitted;
mod geometry;
mod links;
mod matrix;
mod nodes;
mod null_space;
mod predict;
mod rates;
mod run;
mod solve;
mod whole;

use super::control::{Tolerance, land};
use super::options::{ABSOLUTE, FIXED_STEP, NEWTON_ITERATIONS, TOLERANCE};
use super::{About, Counts, IntegrateError, Integrator, Parameter, Settings, SettingsError, Step};
use crate::system::{State, System};
use discrete::Scheme;
use fitted::Curve;
use run::{Frequency, Run};

/// The relative residual at which an initial state counts as consistent.
const CONSISTENT: f64 = 1e-6;

const STEP: Parameter =
    Parameter { default: 0.01, range: [1e-12, 1e12], meaning: "the length of all steps", ..FIXED_STEP };
const UNIT: Parameter = Parameter {
    meaning: "the unit in which errors of steps are told to the energy ledger; steps do not depend on it",
    ..TOLERANCE
};
const UNIT_ABSOLUTE: Parameter =
    Parameter { meaning: "the same where a coordinate is zero; 0 takes the number of `tolerance`", ..ABSOLUTE };
const ITERATIONS: Parameter = Parameter {
    default: 50.0,
    range: [2.0, 500.0],
    meaning: "most iterations of Newton's method before the run fails",
    ..NEWTON_ITERATIONS
};
const COMPOSITION: Parameter = Parameter {
    name: "composition",
    unit: "1",
    default: 2.0,
    range: [2.0, 8.0],
    meaning: "order 2, 4, 6 or 8 by 1, 5, 7 or 15 steps forth and back in place of one",
};
const DEGREE: Parameter = Parameter {
    name: "degree",
    unit: "1",
    default: 2.0,
    range: [1.0, 12.0],
    meaning: "the degree s of the polynomial in one step; the order is 2s",
};

const DEGREE_CHEBYSHEV: Parameter = Parameter {
    meaning: "the degree s of the polynomial in one step; the order is s + 2 if it is even, s + 1 if it is odd",
    ..DEGREE
};

/// What `variational` is.
pub const ABOUT_VARIATIONAL: About = About {
    name: "variational",
    title: "Variational midpoint, trapezoidal and affine rules",
    summary: "Symplectic and of order 2 with one force for each step and iteration: energy without drift over any time, momenta to rounding, \
              constraints met in positions and velocities. For long runs without or with little loss; for accuracy compose it, or \
              take `galerkin_gauss`.",
    order: 2,
    stiff: false,
    parameters: &[
        STEP,
        Parameter {
            name: "alpha",
            unit: "1",
            default: 0.5,
            range: [0.0, 0.5],
            meaning: "where in the step forces are taken, at α and 1 − α: 0.5 is the midpoint rule, 0 the trapezoidal rule",
        },
        COMPOSITION,
        Parameter {
            name: "null_space",
            unit: "1",
            default: 0.0,
            range: [0.0, 1.0],
            meaning: "how constraints are met: by multipliers (0), or by the discrete null space without them, in as many unknowns as there are \
                      freedoms (1); the motion is the same",
        },
        ITERATIONS,
        UNIT,
        UNIT_ABSOLUTE,
    ],
    references: &[
        "Marsden, West: Discrete mechanics and variational integrators, Acta Numerica 10 (2001) 357–514",
        "Leyendecker, Marsden, Ortiz: Variational integrators for constrained dynamical systems, ZAMM 88 (2008) 677–708",
    ],
};

/// What `galerkin_gauss` is.
pub const ABOUT_GALERKIN_GAUSS: About = About {
    name: "galerkin_gauss",
    title: "Variational Galerkin method with Gauss points, of any even order",
    summary: "A polynomial of degree s in each step and s Gauss points: symplectic and of order 2s. For smooth motion over long times at high \
              accuracy; with constraints `galerkin_lobatto` keeps the full order.",
    order: 4,
    stiff: false,
    parameters: &[STEP, DEGREE, ITERATIONS, UNIT, UNIT_ABSOLUTE],
    references: &["Marsden, West: Discrete mechanics and variational integrators, Acta Numerica 10 (2001) 357–514"],
};

/// What `galerkin_lobatto` is.
pub const ABOUT_GALERKIN_LOBATTO: About = About {
    name: "galerkin_lobatto",
    title: "Variational Galerkin method with Lobatto points, of any even order",
    summary: "A polynomial of degree s in each step and s + 1 Lobatto points, at which constraints hold too: the Lobatto IIIA–IIIB pair, symplectic \
              and of order 2s with and without constraints.",
    order: 4,
    stiff: false,
    parameters: &[STEP, DEGREE, ITERATIONS, UNIT, UNIT_ABSOLUTE],
    references: &[
        "Jay: Symplectic partitioned Runge–Kutta methods for constrained Hamiltonian systems, SIAM J. Numer. Anal. 33 (1996) 368–387",
        "Marsden, West: Discrete mechanics and variational integrators, Acta Numerica 10 (2001) 357–514",
    ],
};

/// What `galerkin_chebyshev` is.
pub const ABOUT_GALERKIN_CHEBYSHEV: About = About {
    name: "galerkin_chebyshev",
    title: "Variational Galerkin method with Chebyshev points, for comparison",
    summary: "A polynomial of degree s in each step and s + 1 Chebyshev points, with the weights of highest order for them (Fejér): symplectic, and of order s + 2 for \
              even s, s + 1 for odd s. For comparison with `galerkin_gauss`, which has order 2s with fewer points.",
    order: 4,
    stiff: false,
    parameters: &[STEP, DEGREE_CHEBYSHEV, ITERATIONS, UNIT, UNIT_ABSOLUTE],
    references: &["Leok, Zhang: Discrete Hamiltonian variational integrators, IMA J. Numer. Anal. 31 (2011) 1497–1532"],
};

/// What `lie_group` is.
pub const ABOUT_LIE_GROUP: About = About {
    name: "lie_group",
    title: "Lie group variational integrator with a choice of the discrete angular velocity",
    summary: "Forces at both ends of a step, rotations by unit quaternions without constraints, three unknowns for each. For bodies that turn; \
              `chord` chooses how the turn of a step becomes an angular velocity, for comparison of the forms in the literature.",
    order: 2,
    stiff: false,
    parameters: &[
        STEP,
        Parameter {
            name: "chord",
            unit: "1",
            default: 0.0,
            range: [-0.5, 1.0],
            meaning: "angular velocity of a turn by φ in a step h: sin(κφ)/(κh); 0 is the exponential map, 0.5 the difference of unit \
                      quaternions, 1 that of rotation matrices; −0.5 takes the tangent and is Cayley's map",
        },
        COMPOSITION,
        ITERATIONS,
        UNIT,
        UNIT_ABSOLUTE,
    ],
    references: &[
        "Leitz, Leyendecker: Lie group variational integrators with quaternion parametrization of rotations, Erlangen 2013",
        "Lee, McClamroch, Leok: A Lie group variational integrator for the attitude dynamics of a rigid body, IEEE CCA 2005, 962–967",
        "Bou-Rabee, Marsden: Hamilton–Pontryagin integrators on Lie groups, Found. Comput. Math. 9 (2009) 197–219",
    ],
};

/// What `phase_fitted` is.
pub const ABOUT_PHASE_FITTED: About = About {
    name: "phase_fitted",
    title: "Variational integrator with sines for interpolation, fitted to frequencies",
    summary: "Between the ends of a step each coordinate moves as a sine of its frequency about zero, given or found for every body. Exact on an \
              oscillator of that frequency, of order 4 on orbits about zero; of order 2 elsewhere. For particles: coordinates whose rates \
              are velocities.",
    order: 2,
    stiff: false,
    parameters: &[
        STEP,
        Parameter {
            name: "points",
            unit: "1",
            default: 3.0,
            range: [2.0, 12.0],
            meaning: "the number S of points in a step at which forces are taken, the ends among them",
        },
        Parameter {
            name: "spacing",
            unit: "1",
            default: 0.0,
            range: [0.0, 2.0],
            meaning: "where they are: 0 equidistant, 1 at Lobatto points, 2 at Chebyshev points",
        },
        Parameter {
            name: "frequency",
            unit: "rad/s",
            default: 0.0,
            range: [0.0, 1e300],
            meaning: "the frequency of all coordinates; 0 estimates one for each body or coordinate in every step",
        },
        Parameter {
            name: "estimate",
            unit: "1",
            default: 0.0,
            range: [0.0, 1.0],
            meaning: "where estimates come from: 0 from the action, which is stationary in them as in all else, so that steps stay symplectic; 1 from the \
                      curvature of the last two velocities, ω = |v × v̇|/|v|², with which the energy drifts",
        },
        Parameter {
            name: "fitted",
            unit: "1",
            default: 1.0,
            range: [0.0, 2.0],
            meaning: "1 interpolates by sines; for comparison 0 by straight lines, 2 by cubic splines whose second derivatives at the ends are −ω²q",
        },
        ITERATIONS,
        UNIT,
        UNIT_ABSOLUTE,
    ],
    references: &[
        "Kosmas, Leyendecker: On frequency estimations in phase fitted variational integrators, Erlangen 2013",
        "Kosmas, Vlachos: Phase-fitted discrete Lagrangian integrators, Comput. Phys. Commun. 181 (2010) 562–568",
    ],
};

/// What `multirate` is.
pub const ABOUT_MULTIRATE: About = About {
    name: "multirate",
    title: "Variational multirate integrator: slow forces in macro steps, fast ones in micro steps",
    summary: "Slow forces act on a grid of macro steps, fast ones (`run.fast`) and constraints on a grid of micro steps, forces of still higher rates \
              (`run.faster`, `run.fastest`) on finer grids. Symplectic and of order 2. `slow_alpha` and `fast_alpha` choose the quadratures: both 0.5 are \
              fully implicit, 0 and 0.5 (the default) explicit in slow and implicit in fast forces, both 0 fully explicit. For stiff springs among \
              costly soft forces. Macro steps near multiples of half a period of the fast motion resonate: change `micro_steps` if \
              energies grow.",
    order: 2,
    stiff: false,
    parameters: &[
        Parameter { meaning: "the length of macro steps", ..STEP },
        Parameter {
            name: "micro_steps",
            unit: "1",
            default: 10.0,
            range: [1.0, 100_000.0],
            meaning: "the number of micro steps in one macro step",
        },
        Parameter {
            name: "faster_steps",
            unit: "1",
            default: 10.0,
            range: [1.0, 100_000.0],
            meaning: "the number of steps of `run.faster` in one micro step",
        },
        Parameter {
            name: "fastest_steps",
            unit: "1",
            default: 10.0,
            range: [1.0, 100_000.0],
            meaning: "the number of steps of `run.fastest` in one step of `run.faster`",
        },
        Parameter {
            name: "slow_alpha",
            unit: "1",
            default: 0.0,
            range: [0.0, 0.5],
            meaning: "where in a macro step slow forces are taken, at α and 1 − α: 0 at its ends, explicit; 0.5 in its middle, implicit",
        },
        Parameter {
            name: "fast_alpha",
            unit: "1",
            default: 0.5,
            range: [0.0, 0.5],
            meaning: "the same for the fastest forces in a micro step; 0 is explicit where there are no constraints",
        },
        ITERATIONS,
        UNIT,
        UNIT_ABSOLUTE,
    ],
    references: &[
        "Leyendecker, Ober-Blöbaum: A variational approach to multirate integration for constrained systems, Springer 2013, 97–121",
        "Gail, Leyendecker, Ober-Blöbaum: Computing time investigations of variational multirate systems, Erlangen 2013",
        "Stern, Grinspun: Implicit–explicit variational integration of highly oscillatory problems, Multiscale Model. Simul. 7 (2009) 1779–1794",
    ],
};

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
    tolerance: Tolerance,
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
                tolerance: Tolerance::new(get("tolerance"), get("absolute")),
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
        let error = run.step(y, &self.recipe, s, end)?;
        Ok(Step { t, h: end - t, error, rejected: 0 })
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
