//! Plain numbers from a system: accelerations with multipliers, residuals, and projections to the constraints.
//!
//! ```text
//! M v̇ = f − [G; A]ᵀ λ,   [G; A] v̇ = −bias          index 1: accelerations and multipliers
//! ```
//!
//! References: E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, 2nd ed., Springer 1996, sections VII.1–2;
//! C. Lubich, *Extrapolation integrators for constrained multibody systems*, Impact Comput. Sci. Eng. 3 (1991) 213–234.

mod beside;
mod friction;
mod project;
mod shelf;

use crate::algebra::{Mass, MassError, Rows, Saddle, SaddleError};
use crate::integrate::{Counts, IntegrateError};
use crate::system::{Shape, State, System};
pub use beside::{ARRIVED, ROUNDS};
use friction::Friction;
pub use project::Residual;
pub(crate) use project::floor;
pub use shelf::Shelf;
use shelf::Structure;
use std::sync::Arc;

/// The rates of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates {
    /// Accelerations v̇.
    pub v: Vec<f64>,
    /// Rates ẋ of the extra states.
    pub x: Vec<f64>,
    /// Rates ż of the integrals.
    pub z: Vec<f64>,
    /// Multipliers λ of all rows.
    pub multipliers: Vec<f64>,
}

impl Rates {
    /// Rates of zeros.
    pub fn zeros(shape: Shape) -> Self {
        let zeros = |n| vec![0.0; n];
        Self { v: zeros(shape.v), x: zeros(shape.x), z: zeros(shape.z), multipliers: zeros(shape.rows()) }
    }
}

/// Scratch and service for evaluating a system in plain numbers; nothing is allocated after [`Dynamics::new`].
pub struct Dynamics<Y: System> {
    structure: Structure,
    /// The shelf it is from.
    mark: Option<Arc<()>>,
    work: Y::Work<f64>,
    shape: Shape,
    mass: Mass<f64>,
    mass_ready: bool,
    rows: Rows<f64>,
    saddle: Saddle,
    bias: Vec<f64>,
    delta: Vec<f64>,
    base: Vec<f64>,
    /// A change of velocities, and where a projection began: of projections in company.
    turn: Vec<f64>,
    origin: Vec<f64>,
    size: Vec<f64>,
    residual: Vec<f64>,
    relative: Vec<f64>,
    friction: Friction,
    counts: Counts,
}

/// The mass matrix, the Jacobian and the factors of the last evaluation or projection.
pub struct Parts<'a, W> {
    /// Scratch of the system.
    pub work: &'a mut W,
    /// The mass matrix, factored.
    pub mass: &'a mut Mass<f64>,
    /// The Jacobian of all rows.
    pub rows: &'a mut Rows<f64>,
    /// The factors of the constraint solve.
    pub saddle: &'a mut Saddle,
}

impl<Y: System> Dynamics<Y> {
    /// Scratch for a system.
    pub fn new(y: &Y) -> Self {
        Self::with(y, Structure::of(y))
    }

    /// Scratch for a system of a known structure.
    fn with(y: &Y, structure: Structure) -> Self {
        let shape = structure.shape;
        let mass = Mass::new(&structure.masses);
        let rows = Rows::new(shape.rows(), shape.v, &structure.rows);
        let saddle = Saddle::new(&mass, &rows);
        let zeros = |n| vec![0.0; n];
        Self {
            work: y.work(),
            shape,
            mass,
            mass_ready: false,
            rows,
            saddle,
            bias: zeros(shape.rows()),
            delta: zeros(shape.v),
            base: zeros(shape.q),
            turn: zeros(shape.v),
            origin: zeros(shape.q),
            size: zeros(shape.v),
            residual: zeros(shape.rows()),
            relative: zeros(shape.rows()),
            friction: Friction::new(shape, structure.loads.clone()),
            counts: Counts::default(),
            structure,
            mark: None,
        }
    }

    /// The work done so far; steps are the caller's to count.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Counts an evaluation that somebody else has made.
    pub(crate) fn credit(&mut self) {
        self.counts.forces += 1;
        if self.shape.rows() > 0 {
            self.counts.factorisations += 1;
            self.counts.solves += 1 + self.friction.solves();
        }
    }

    /// The matrices and factors, for methods that need more than the calls here.
    pub fn parts(&mut self) -> Parts<'_, Y::Work<f64>> {
        Parts { work: &mut self.work, mass: &mut self.mass, rows: &mut self.rows, saddle: &mut self.saddle }
    }

    /// The rows that depend on others, as last found.
    pub fn dependent(&self) -> &[usize] {
        self.saddle.dependent()
    }

    /// What the next results depend on besides the state: 1 for each row remembered as dependent, else 0; then the sizes of rows.
    pub fn memory(&self, out: &mut Vec<f64>) {
        out.extend(self.saddle.held().iter().map(|&held| f64::from(u8::from(held))));
        out.extend(self.saddle.sizes());
    }

    /// Takes over the memory of another of the same system.
    pub(crate) fn adopt(&mut self, other: &Self) {
        self.saddle.hold(other.saddle.held());
        self.saddle.resize(other.saddle.sizes());
    }

    /// Takes a memory back; returns the rest of the slice.
    pub fn recall<'a>(&mut self, memory: &'a [f64]) -> &'a [f64] {
        let (own, rest) = memory.split_at(self.shape.rows());
        self.saddle.hold(&own.iter().map(|&held| held != 0.0).collect::<Vec<_>>());
        let (sizes, rest) = rest.split_at(self.shape.rows());
        self.saddle.resize(sizes);
        rest
    }

    /// Accelerations, rates and multipliers of a state, which may lie slightly off the constraints.
    pub fn evaluate(&mut self, y: &Y, s: &State<f64>, out: &mut Rates) -> Result<(), IntegrateError> {
        self.accelerate(y, s, out, false)?;
        y.integrand(s, &out.multipliers, &mut self.work, &mut out.z);
        Ok(())
    }

    /// The same without the rates of the integrals, which are set to zero: where a method does not use them.
    pub(crate) fn evaluate_motion(&mut self, y: &Y, s: &State<f64>, out: &mut Rates) -> Result<(), IntegrateError> {
        out.z.fill(0.0);
        self.accelerate(y, s, out, false)
    }

    fn accelerate(&mut self, y: &Y, s: &State<f64>, out: &mut Rates, strict: bool) -> Result<(), IntegrateError> {
        y.prepare(s, &mut self.work);
        self.update_mass(y, s)?;
        y.force(s, &mut self.work, &mut out.v);
        self.counts.forces += 1;
        finite(y, s, &out.v, "the force on")?;
        if self.shape.rows() == 0 {
            self.mass.solve(&mut out.v);
        } else {
            self.update_rows(y, s, self.shape.rows());
            y.constraint_bias(s, &mut self.work, &mut self.bias);
            for (c, bias) in out.multipliers.iter_mut().zip(&self.bias) {
                *c = -bias;
            }
            self.add_friction(y, s, &mut out.v, &out.multipliers)?;
            self.counts.solves += 1;
            let (mass, rows, f, c) = (&self.mass, &self.rows, &mut out.v, &mut out.multipliers);
            let solved =
                if strict { self.saddle.solve(mass, rows, f, c) } else { self.saddle.solve_trial(mass, rows, f, c) };
            solved.map_err(|error| named(y, s.t, error))?;
        }
        finite(y, s, &out.v, "the acceleration of")?;
        y.rate(s, &mut self.work, &mut out.x);
        Ok(())
    }

    /// How accelerations and multipliers change with forces and biases, at the state of the last [`Dynamics::evaluate`]: replaces
    /// `force` by the solution of M a = force − [G; A]ᵀ λ + C λ, and `rows` by λ, where [G; A] a is `rows` as given.
    pub fn respond(
        &mut self,
        y: &Y,
        s: &State<f64>,
        force: &mut [f64],
        rows: &mut [f64],
    ) -> Result<(), IntegrateError> {
        if self.shape.rows() == 0 {
            self.mass.solve(force);
            return Ok(());
        }
        self.add_friction(y, s, force, rows)?;
        self.counts.solves += 1;
        self.saddle.solve_trial(&self.mass, &self.rows, force, rows).map_err(|error| named(y, s.t, error))
    }

    fn update_mass(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        if self.mass_ready && self.structure.mass_is_constant {
            return Ok(());
        }
        y.mass(s, &mut self.work, &mut self.mass);
        self.mass.factor_checked().map_err(|MassError { velocity }| IntegrateError::SingularMass {
            t: s.t,
            velocity: y.velocity_name(velocity),
        })?;
        self.mass_ready = true;
        Ok(())
    }

    fn update_rows(&mut self, y: &Y, s: &State<f64>, active: usize) {
        y.jacobian(s, &mut self.work, &mut self.rows);
        self.saddle.factor_first(&self.mass, &self.rows, active);
        self.counts.factorisations += 1;
    }
}

/// Names the first value that is not finite.
pub(crate) fn finite<Y: System>(y: &Y, s: &State<f64>, values: &[f64], what: &str) -> Result<(), IntegrateError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(i) => Err(IntegrateError::NotFinite { t: s.t, what: format!("{what} {}", y.velocity_name(i)) }),
    }
}

/// The error of a constraint solve in the user's names.
pub(crate) fn named<Y: System>(y: &Y, t: f64, error: SaddleError) -> IntegrateError {
    match error {
        SaddleError::Contradictory { row, residual, depends_on } => IntegrateError::Contradictory {
            t,
            constraint: y.row_name(row),
            with: depends_on.into_iter().map(|row| y.row_name(row)).collect(),
            residual,
        },
        SaddleError::NotFinite { row } => IntegrateError::NotFinite { t, what: format!("`{}`", y.row_name(row)) },
    }
}
