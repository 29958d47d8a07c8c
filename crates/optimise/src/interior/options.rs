//! What can be chosen of the interior-point method.

/// How the barrier parameter μ falls.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Barrier {
    /// Each barrier problem is solved to a multiple of μ before the next (Fiacco and McCormick).
    Monotone,
    /// μ follows the complementarity that a step with μ = 0 would reach (Mehrotra); where the error does not fall, monotone for a while.
    Adaptive,
}

/// Options of the interior-point method; the defaults suit most problems.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// First-order conditions, scaled, are met to this.
    pub tolerance: f64,
    /// Conditions met to this are accepted after [`Options::acceptable_iterations`] iterations without better.
    pub acceptable: f64,
    /// How many such iterations in a row.
    pub acceptable_iterations: usize,
    /// Violation of constraints as the user scales them: never more than this at a solution.
    pub violation: f64,
    /// The greatest number of iterations.
    pub iterations: usize,
    /// How μ falls.
    pub barrier: Barrier,
    /// The first μ.
    pub barrier_start: f64,
    /// Whether functions are scaled by their gradients at the start.
    pub scaling: bool,
    /// Whether variables are divided by their sizes at the start (half their ranges where the start is zero).
    pub variables: bool,
    /// By how much ranges of all constraints are widened inside the method, relative to max(1, |limit|), for constraints that together leave no interior. Pairs of
    /// one function, at least and at most the same value, are found and widened by 10⁻⁸ whatever this says. Bounds of variables are never widened.
    pub widening: f64,
    /// How far from bounds the start is moved, as a part of max(1, |bound|) and of the range.
    pub push: f64,
    /// The greatest number of second-order corrections of a step.
    pub corrections: usize,
    /// An objective (scaled) below minus this is taken for unbounded.
    pub unbounded: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            acceptable: 1e-6,
            acceptable_iterations: 15,
            violation: 1e-6,
            iterations: 1000,
            barrier: Barrier::Monotone,
            barrier_start: 0.1,
            scaling: true,
            variables: false,
            widening: 0.0,
            push: 1e-2,
            corrections: 4,
            unbounded: 1e14,
        }
    }
}
