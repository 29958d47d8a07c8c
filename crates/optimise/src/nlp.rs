//! Nonlinear programs: what is to be minimised, and under which conditions.
//!
//! ```text
//! minimise f(x)   subject to   c_L ≤ c(x) ≤ c_U,   x_L ≤ x ≤ x_U
//! ```
//!
//! Equal bounds make an equality or a fixed variable, infinite ones none. Derivatives are sparse with fixed patterns: the patterns are asked for once, values
//! in the same order at every point. A function that has no value somewhere (a logarithm of a negative number, an integration that
//! failed) writes NaN there: solvers step back, and say where if they cannot.

/// What a number may be between; infinite where there is no limit.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Bound {
    /// The least value.
    pub lower: f64,
    /// The greatest value.
    pub upper: f64,
}

impl Bound {
    /// No limit at all.
    pub const FREE: Self = Self { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// Between two values.
    pub fn between(lower: f64, upper: f64) -> Self {
        Self { lower, upper }
    }

    /// Exactly this value.
    pub fn equal(value: f64) -> Self {
        Self { lower: value, upper: value }
    }

    /// At least this value.
    pub fn at_least(lower: f64) -> Self {
        Self { lower, upper: f64::INFINITY }
    }

    /// At most this value.
    pub fn at_most(upper: f64) -> Self {
        Self { lower: f64::NEG_INFINITY, upper }
    }

    /// Whether both limits are the same.
    pub fn is_equality(&self) -> bool {
        self.lower == self.upper
    }

    /// By how much a value lies outside.
    pub fn violation(&self, value: f64) -> f64 {
        (self.lower - value).max(value - self.upper).max(0.0)
    }
}

/// The numbers of unknowns and conditions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// Variables x.
    pub variables: usize,
    /// Constraints c.
    pub constraints: usize,
}

/// A nonlinear program. Evaluations may use scratch of their own, but the same point must give the same bits.
pub trait Nlp {
    /// The numbers of variables and constraints.
    fn size(&self) -> Size;
    /// What variables and constraints may be between.
    fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]);
    /// Where to begin; need not meet anything.
    fn start(&self, x: &mut [f64]);
    /// The name of a variable as the user knows it, with the time node if there is one: `torque knee at 0.35 s`.
    fn variable_name(&self, index: usize) -> String {
        format!("x[{index}]")
    }
    /// The name of a constraint as the user knows it.
    fn constraint_name(&self, index: usize) -> String {
        format!("c[{index}]")
    }
    /// The places (constraint, variable) of entries of the Jacobian that may differ from zero; repeated ones add up.
    fn jacobian_pattern(&self) -> Vec<(usize, usize)>;
    /// The places (row, column) of entries of the Hessian of the Lagrangian, of one triangle; repeated ones add up.
    fn hessian_pattern(&self) -> Vec<(usize, usize)>;
    /// f.
    fn objective(&mut self, x: &[f64]) -> f64;
    /// ∇f, all entries.
    fn gradient(&mut self, x: &[f64], out: &mut [f64]);
    /// c.
    fn constraints(&mut self, x: &[f64], out: &mut [f64]);
    /// The entries of ∂c/∂x, in the order of the pattern.
    fn jacobian(&mut self, x: &[f64], out: &mut [f64]);
    /// The entries of `weight` ∇²f + Σ `multipliers`ᵢ ∇²cᵢ, in the order of the pattern.
    fn hessian(&mut self, x: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]);
}

/// A point with its multipliers: where a solver ended, and where another can begin.
///
/// Signs: ∇f + Jᵀ `constraints` − `lower` + `upper` = 0 with `lower`, `upper` ≥ 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Point {
    /// x.
    pub x: Vec<f64>,
    /// Multipliers of the constraints: positive where the upper bound holds, negative where the lower one does.
    pub constraints: Vec<f64>,
    /// Multipliers of lower bounds of variables.
    pub lower: Vec<f64>,
    /// Multipliers of upper bounds of variables.
    pub upper: Vec<f64>,
}
