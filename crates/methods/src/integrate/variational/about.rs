//! What variational integrators say of themselves: names, options, references.

use super::super::options::{FIXED_STEP, NEWTON_ITERATIONS, TOLERANCE};
use super::super::{About, Parameter};

const STEP: Parameter =
    Parameter { default: 0.01, range: [1e-12, 1e12], meaning: "the length of all steps", ..FIXED_STEP };
const UNIT: Parameter = Parameter {
    meaning: "the tolerance of initial values and of located events; steps do not depend on it",
    ..TOLERANCE
};
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
    parameters: &[STEP, DEGREE, ITERATIONS, UNIT],
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
    parameters: &[STEP, DEGREE, ITERATIONS, UNIT],
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
    parameters: &[STEP, DEGREE_CHEBYSHEV, ITERATIONS, UNIT],
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
    summary: "Between the ends of a step each coordinate moves as a sine of its frequency about zero, or about the centre of mass of bodies that act on \
              each other alone; the frequency is given or found for every body. Exact on an oscillator of that frequency, of order 4 on orbits; of order 2 elsewhere. For particles: coordinates whose rates \
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
                      turning of the last two velocities, equations 5 to 7 of the first reference, with which the energy drifts",
        },
        Parameter {
            name: "fitted",
            unit: "1",
            default: 1.0,
            range: [0.0, 2.0],
            meaning: "1 interpolates by sines; for comparison 0 by straight lines, 2 by cubic splines whose second derivatives at the ends are −ω²q",
        },
        Parameter {
            name: "centre",
            unit: "1",
            default: 1.0,
            range: [0.0, 1.0],
            meaning: "1 lets bodies on which no forces act but those between them swing about their centre of mass, which moves in a straight line, so that linear \
                      momentum is kept; 0 lets all swing about zero, as in the first reference",
        },
        ITERATIONS,
        UNIT,
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
              costly soft forces. Macro steps near multiples of half a period of the fast motion resonate: change `fixed_step` if \
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
            meaning: "where in a macro step slow forces are taken, at α and 1 − α, and those of rates between in their own steps: 0 at the ends, explicit; 0.5 in the middle, \
                      implicit",
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
    ],
    references: &[
        "Leyendecker, Ober-Blöbaum: A variational approach to multirate integration for constrained systems, Springer 2013, 97–121",
        "Gail, Leyendecker, Ober-Blöbaum: Computing time investigations of variational multirate systems, Erlangen 2013",
        "Stern, Grinspun: Implicit–explicit variational integration of highly oscillatory problems, Multiscale Model. Simul. 7 (2009) 1779–1794",
    ],
};
