//! The options that methods share, for their [`super::About`] tables. A method with another default or range says only that.

use super::Parameter;

/// The relative tolerance.
pub(super) const TOLERANCE: Parameter = Parameter {
    name: "tolerance",
    unit: "1",
    default: 1e-8,
    range: [1e-15, 0.1],
    meaning: "error allowed in one step, relative to the size of each coordinate, velocity and state",
};

/// The absolute tolerance.
pub(super) const ABSOLUTE: Parameter = Parameter {
    name: "absolute",
    unit: "SI",
    default: 0.0,
    range: [0.0, 1e9],
    meaning: "error allowed in one step where a coordinate, velocity or state is zero; 0 takes the number of `tolerance`",
};

/// The first step.
pub(super) const FIRST_STEP: Parameter = Parameter {
    name: "first_step",
    unit: "s",
    default: 0.0,
    range: [0.0, 1e300],
    meaning: "length of the first step; 0 lets the method choose",
};

/// The longest step.
pub(super) const LARGEST_STEP: Parameter = Parameter {
    name: "largest_step",
    unit: "s",
    default: 0.0,
    range: [0.0, 1e300],
    meaning: "no step is longer than this; 0 sets no limit",
};

/// The shortest step.
pub(super) const SMALLEST_STEP: Parameter = Parameter {
    name: "smallest_step",
    unit: "s",
    default: 0.0,
    range: [0.0, 1e300],
    meaning: "the run fails when error control asks for shorter steps; 0 stands for what time can resolve",
};

/// Steps without error control.
pub(super) const FIXED_STEP: Parameter = Parameter {
    name: "fixed_step",
    unit: "s",
    default: 0.0,
    range: [0.0, 1e300],
    meaning: "steps of this length without error control, for studies of convergence; 0 controls the error",
};

/// The safety factor of the step size.
pub(super) const SAFETY: Parameter = Parameter {
    name: "safety",
    unit: "1",
    default: 0.9,
    range: [0.1, 0.99],
    meaning: "the part of the step size thought possible that is taken",
};

/// The patience of Newton's method.
pub(super) const NEWTON_ITERATIONS: Parameter = Parameter {
    name: "newton_iterations",
    unit: "1",
    default: 7.0,
    range: [2.0, 50.0],
    meaning: "most iterations of Newton's method before the tangent is renewed or the step is shortened",
};
