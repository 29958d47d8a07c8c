//! Plain numbers from a system: accelerations with multipliers, residuals, and projections to the constraints.
//!
//! ```text
//! M v̇ = f − [G; A]ᵀ λ,   [G; A] v̇ = −bias          index 1: accelerations and multipliers
//! q ← q ⊕ δ,   min ½ δᵀ M δ   with   G δ = −g       projection of positions (Newton)
//! v ← v + δ,   min ½ δᵀ M δ   with   G δ = −(G v + g_t),  A δ = −(A v + b)
//! ```
//!
//! Sliding friction C λ (forces linear in k multipliers, the loads P λ) is solved with them, without lag. With the solution λ₀
//! for the forces f and the responses X to the columns of C, both by the symmetric factors,
//!
//! ```text
//! (1 − P X) P λ = P λ₀                              k × k, Woodbury
//! ```
//!
//! The matrix is the unit without friction. As coefficients grow, its leading minors first reach zero where rigid bodies with
//! Coulomb's law stop having one solution (Painlevé); a pivot that is not positive is therefore an error.
//!
//! Projections are shortest in the metric of M, so they do not favour a unit. Redundant rows are found by the solve and
//! need not be removed; they are checked once the others are met.
//!
//! References: E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, 2nd ed., Springer 1996, sections VII.1–2;
//! C. Lubich, *Extrapolation integrators for constrained multibody systems*, Impact Comput. Sci. Eng. 3 (1991) 213–234.

use crate::algebra::{CONSISTENT, Mass, MassError, Rows, Saddle, SaddleError};
use crate::integrate::{Counts, IntegrateError};
use crate::system::{Shape, State, System};

/// Most iterations of a projection of positions.
const ITERATIONS: u32 = 40;
/// Most halvings of an increment of a projection.
const HALVINGS: u32 = 20;
/// Relative increments below this that no longer shrink are rounding.
const STALL: f64 = 1e3 * f64::EPSILON;
/// Pivot below which a projection that fails is blamed on rows that exclude each other.
const NEARLY_DEPENDENT: f64 = 1e-4;
/// Pivots of 1 − P X at or below this count as jammed.
const JAMMED: f64 = 1e-8;
/// The slowest motion, in magnitudes per second, against which residuals of velocities are measured.
const SLOWEST: f64 = 1e-6;

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

/// The worst residual of a level.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Residual {
    /// The row.
    pub row: usize,
    /// Its residual, in the unit of the row (per second on velocity level).
    pub value: f64,
    /// The largest relative change of a coordinate or velocity that would remove it if the row were alone.
    pub relative: f64,
}

/// Scratch and service for evaluating a system in plain numbers; nothing is allocated after [`Dynamics::new`].
pub struct Dynamics<Y: System> {
    work: Y::Work<f64>,
    shape: Shape,
    mass: Mass<f64>,
    mass_is_constant: bool,
    scleronomic: bool,
    mass_ready: bool,
    rows: Rows<f64>,
    saddle: Saddle,
    bias: Vec<f64>,
    delta: Vec<f64>,
    base: Vec<f64>,
    size: Vec<f64>,
    residual: Vec<f64>,
    relative: Vec<f64>,
    friction: Friction,
    counts: Counts,
}

/// Scratch for friction driven by multipliers.
#[derive(Default)]
struct Friction {
    /// The rows that drive it.
    loads: Vec<usize>,
    /// Multipliers of all rows, zero but at loads.
    unit: Vec<f64>,
    /// The forces without friction.
    force: Vec<f64>,
    /// A column of C, then its response.
    column: Vec<f64>,
    response: Vec<f64>,
    /// 1 − P X by rows, and P λ.
    matrix: Vec<f64>,
    values: Vec<f64>,
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
        let shape = y.shape();
        let mass = Mass::new(&y.mass_blocks());
        let rows = Rows::new(shape.rows(), shape.v, &y.row_blocks());
        let saddle = Saddle::new(&mass, &rows);
        let zeros = |n| vec![0.0; n];
        let loads = y.loads();
        let k = loads.len();
        let sized = |n| if k == 0 { Vec::new() } else { zeros(n) };
        let friction = Friction {
            unit: sized(shape.rows()),
            force: sized(shape.v),
            column: sized(shape.v),
            response: sized(shape.rows()),
            matrix: zeros(k * k),
            values: zeros(k),
            loads,
        };
        Self {
            work: y.work(),
            shape,
            mass,
            mass_is_constant: y.mass_is_constant(),
            scleronomic: y.scleronomic(),
            mass_ready: false,
            rows,
            saddle,
            bias: zeros(shape.rows()),
            delta: zeros(shape.v),
            base: zeros(shape.q),
            size: zeros(shape.v),
            residual: zeros(shape.rows()),
            relative: zeros(shape.rows()),
            friction,
            counts: Counts::default(),
        }
    }

    /// The work done so far; steps are the caller's to count.
    pub fn counts(&self) -> Counts {
        self.counts
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

    /// Adds sliding friction to the forces, or impulses, of a prepared state whose rows are factored and are to move by `c`.
    pub(crate) fn add_friction(
        &mut self,
        y: &Y,
        s: &State<f64>,
        force: &mut [f64],
        c: &[f64],
    ) -> Result<(), IntegrateError> {
        if self.friction.loads.is_empty() {
            return Ok(());
        }
        let (mass, rows, saddle) = (&self.mass, &self.rows, &mut self.saddle);
        let Friction { loads, unit, force: free, column, response, matrix, values } = &mut self.friction;
        let k = loads.len();
        free.copy_from_slice(force);
        response.copy_from_slice(c);
        saddle.solve_trial(mass, rows, free, response).map_err(|error| named(y, s.t, error))?;
        for (value, &load) in values.iter_mut().zip(&*loads) {
            *value = response[load];
        }
        unit.fill(0.0);
        for j in 0..k {
            unit[loads[j]] = 1.0;
            column.fill(0.0);
            y.friction(s, unit, &mut self.work, column);
            unit[loads[j]] = 0.0;
            response.fill(0.0);
            saddle.solve_trial(mass, rows, column, response).map_err(|error| named(y, s.t, error))?;
            for i in 0..k {
                matrix[i * k + j] = f64::from(u8::from(i == j)) - response[loads[i]];
            }
        }
        self.counts.solves += 1 + k as u64;
        // Elimination without exchanges, so that the pivots are ratios of leading minors.
        for j in 0..k {
            let pivot = matrix[j * k + j];
            if pivot.is_nan() || pivot <= JAMMED {
                return Err(IntegrateError::Jammed { t: s.t, load: y.load_name(s, loads[j]), pivot });
            }
            for i in j + 1..k {
                let factor = matrix[i * k + j] / pivot;
                for l in j..k {
                    matrix[i * k + l] -= factor * matrix[j * k + l];
                }
                values[i] -= factor * values[j];
            }
        }
        for j in (0..k).rev() {
            let sum = (j + 1..k).fold(values[j], |sum, l| sum - matrix[j * k + l] * values[l]);
            values[j] = sum / matrix[j * k + j];
            unit[loads[j]] = values[j];
        }
        y.friction(s, unit, &mut self.work, force);
        finite(y, s, force, "the friction on")
    }

    fn update_mass(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        if self.mass_ready && self.mass_is_constant {
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

    /// The sizes against which changes of coordinates are measured: their magnitudes, and a thousandth of the largest one.
    fn update_size(&mut self, y: &Y, s: &State<f64>) {
        y.magnitude(&s.q, &mut self.size);
        let floor = 1e-3 * self.size.iter().fold(0.0, |max: f64, &size| max.max(size));
        let floor = if floor > 0.0 { floor } else { 1.0 };
        for size in &mut self.size {
            *size += floor;
        }
    }

    /// The same for velocities: sizes times the fastest relative rate.
    fn update_speed(&mut self, y: &Y, s: &State<f64>) {
        self.update_size(y, s);
        let rate = s.v.iter().zip(&self.size).fold(SLOWEST, |max, (v, size)| max.max(v.abs() / size));
        for size in &mut self.size {
            *size *= rate;
        }
    }

    /// Moves q to g(t, q) = 0 by the shortest way; returns the number of iterations.
    ///
    /// Stops when an increment, which is still applied, is below `tolerance` relative to the magnitudes. Newton's method
    /// then leaves about the square of it.
    pub fn project_position(&mut self, y: &Y, s: &mut State<f64>, tolerance: f64) -> Result<u32, IntegrateError> {
        if self.shape.g == 0 {
            return Ok(0);
        }
        self.update_size(y, s);
        let (mut fresh, mut last, mut released) = (true, f64::INFINITY, false);
        let mut norm = f64::INFINITY;
        y.prepare(s, &mut self.work);
        self.position_residual(y, s);
        for iteration in 1..=ITERATIONS {
            if fresh {
                self.update_mass(y, s)?;
                self.update_rows(y, s, self.shape.g);
            }
            for i in 0..self.bias.len() {
                self.bias[i] = -self.residual[i];
            }
            self.counts.solves += 1;
            self.counts.projections += 1;
            self.saddle
                .correct(&self.mass, &self.rows, &mut self.delta, &mut self.bias)
                .map_err(|error| named(y, s.t, error))?;
            finite(y, s, &self.delta, "the correction of")?;
            norm = self.delta.iter().zip(&self.size).fold(0.0, |max: f64, (d, size)| max.max(d.abs() / size));
            let improved = self.advance(y, s, norm <= tolerance);
            let stalled = norm > 0.5 * last && norm <= STALL;
            if norm <= tolerance || stalled {
                // At a singular place rows that are dependent for a moment are met to the square of the angle only.
                let left = self.left();
                if left <= 10.0 * tolerance.max(STALL) || (released && left <= CONSISTENT) {
                    return Ok(iteration);
                }
                if released {
                    break;
                }
                // A row remembered as dependent is not met: decide about the rank anew.
                self.saddle.release();
                (released, fresh, last) = (true, true, f64::INFINITY);
                continue;
            }
            if !improved && fresh {
                break;
            }
            // Old factors contract by about the relative change since they were made: keep them if that is enough.
            let contraction = if fresh { norm } else { norm / last };
            fresh = !improved || contraction * norm > tolerance;
            last = norm;
        }
        Err(self.unmet(y, s, norm / tolerance))
    }

    /// Moves q by δ, or by a part of it for which the residuals become smaller. Returns whether such a part was found.
    /// Leaves the state prepared and its residuals known.
    fn advance(&mut self, y: &Y, s: &mut State<f64>, small: bool) -> bool {
        let before = self.saddle.merit(&self.residual);
        self.base.copy_from_slice(&s.q);
        for _ in 0..HALVINGS {
            y.retract(&self.base, &self.delta, &mut s.q);
            y.prepare(s, &mut self.work);
            self.position_residual(y, s);
            if small || self.saddle.merit(&self.residual) < before {
                return true;
            }
            self.delta.iter_mut().for_each(|d| *d *= 0.5);
        }
        false
    }

    /// residual = g(t, q) of a prepared state; velocity-level rows count as met.
    fn position_residual(&mut self, y: &Y, s: &State<f64>) {
        self.residual.fill(0.0);
        y.constraint(s, &mut self.work, &mut self.residual[..self.shape.g]);
    }

    /// residual = G v + g_t and A v + b of a prepared state whose Jacobian is known.
    fn velocity_residual(&mut self, y: &Y, s: &State<f64>) {
        if self.scleronomic {
            self.residual.fill(0.0);
            self.rows.add_apply(&s.v, &mut self.residual);
        } else {
            y.constraint_rate(s, &mut self.work, &mut self.residual);
        }
    }

    /// The largest relative residual of the dependent rows.
    fn left(&mut self) -> f64 {
        if self.saddle.dependent().is_empty() {
            return 0.0;
        }
        self.saddle.lone_change(&self.residual, &self.size, &mut self.relative);
        self.saddle.dependent().iter().fold(0.0, |max, &row| max.max(self.relative[row]))
    }

    /// The error of a projection that did not reach the constraints.
    ///
    /// Residuals stop shrinking only where rows become dependent: they cannot be met together.
    fn unmet(&mut self, y: &Y, s: &State<f64>, residual: f64) -> IntegrateError {
        self.saddle.lone_change(&self.residual, &self.size, &mut self.relative);
        let by_size = |i: &usize, j: &usize| self.relative[*i].total_cmp(&self.relative[*j]);
        let dependent = self.saddle.dependent().iter().copied().max_by(by_size);
        let (closest, pivot) = self.saddle.smallest_pivot();
        let row = match dependent {
            Some(row) if self.relative[row] > STALL => Some(row),
            _ if pivot < NEARLY_DEPENDENT => Some(closest),
            _ => None,
        };
        if let Some(row) = row {
            let depends_on = self.saddle.depends_on(&self.mass, &self.rows, row);
            return named(y, s.t, SaddleError::Contradictory { row, residual: self.residual[row], depends_on });
        }
        let what = "the projection to the constraints";
        let worst = y.row_name(self.worst(self.shape.g).row);
        IntegrateError::NotConverged { t: s.t, h: 0.0, what, residual, worst }
    }

    fn worst(&self, rows: usize) -> Residual {
        let row = (0..rows).max_by(|&i, &j| self.relative[i].total_cmp(&self.relative[j])).unwrap_or(0);
        if rows == 0 {
            return Residual::default();
        }
        Residual { row, value: self.residual[row], relative: self.relative[row] }
    }

    /// Moves v to G v + g_t = 0 and A v + b = 0 by the shortest way.
    pub fn project_velocity(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        if self.shape.rows() == 0 {
            return Ok(());
        }
        y.prepare(s, &mut self.work);
        self.update_mass(y, s)?;
        self.update_rows(y, s, self.shape.rows());
        self.saddle.remember();
        let mut released = false;
        loop {
            self.velocity_residual(y, s);
            for i in 0..self.bias.len() {
                self.bias[i] = -self.residual[i];
            }
            self.counts.solves += 1;
            self.counts.projections += 1;
            self.saddle
                .correct(&self.mass, &self.rows, &mut self.delta, &mut self.bias)
                .map_err(|error| named(y, s.t, error))?;
            for (v, delta) in s.v.iter_mut().zip(&self.delta) {
                *v += delta;
            }
            finite(y, s, &s.v, "the velocity of")?;
            if self.saddle.dependent().is_empty() {
                return Ok(());
            }
            y.prepare(s, &mut self.work);
            self.velocity_residual(y, s);
            self.update_speed(y, s);
            self.saddle.lone_change(&self.residual, &self.size, &mut self.relative);
            let unmet = self.saddle.dependent().iter().copied().filter(|&row| self.relative[row] > CONSISTENT);
            let Some(row) = unmet.max_by(|&i, &j| self.relative[i].total_cmp(&self.relative[j])) else {
                return Ok(());
            };
            if released {
                let with = self.saddle.depends_on(&self.mass, &self.rows, row);
                let residual = self.residual[row];
                return Err(named(y, s.t, SaddleError::Contradictory { row, residual, depends_on: with }));
            }
            released = true;
            self.saddle.release();
            self.update_rows(y, s, self.shape.rows());
        }
    }

    /// The worst residuals of positions and velocities.
    pub fn residuals(&mut self, y: &Y, s: &State<f64>) -> Result<(Residual, Residual), IntegrateError> {
        if self.shape.rows() == 0 {
            return Ok(Default::default());
        }
        y.prepare(s, &mut self.work);
        self.update_mass(y, s)?;
        self.update_rows(y, s, self.shape.rows());
        self.saddle.remember();
        self.position_residual(y, s);
        self.update_size(y, s);
        self.saddle.lone_change(&self.residual, &self.size, &mut self.relative);
        let position = self.worst(self.shape.g);
        self.velocity_residual(y, s);
        self.update_speed(y, s);
        self.saddle.lone_change(&self.residual, &self.size, &mut self.relative);
        Ok((position, self.worst(self.shape.rows())))
    }

    /// Whether a state satisfies its constraints to a relative tolerance, and whether accelerations can keep it so.
    pub fn check(&mut self, y: &Y, s: &State<f64>, tolerance: f64) -> Result<(), IntegrateError> {
        self.saddle.release();
        let (position, velocity) = self.residuals(y, s)?;
        for (level, worst) in [("position", position), ("velocity", velocity)] {
            if worst.value.is_nan() {
                return Err(IntegrateError::NotFinite { t: s.t, what: format!("`{}`", y.row_name(worst.row)) });
            }
            if worst.relative > tolerance {
                return Err(IntegrateError::Inconsistent {
                    t: s.t,
                    constraint: y.row_name(worst.row),
                    residual: worst.value,
                    level,
                });
            }
        }
        self.accelerate(y, s, &mut Rates::zeros(self.shape), true)
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
