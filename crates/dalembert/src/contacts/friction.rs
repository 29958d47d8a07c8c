//! Dry friction of a contact: how large, and in which directions.
//!
//! ```text
//! μ(u) = μ + (μ₀ − μ) exp(−(u/uₛ)²)        Stribeck's curve, or any formula or table of the speed u
//! |r| ≤ μ₀ N without slip,   r = −μ(u) N u/|u| with slip
//! ```
//!
//! With `backward` or `sideways` the cone is an ellipse whose first axis lies along the first tangent: the grip of bristles and
//! scales depends on the direction of slip. With `one_dimensional` only slip along the first tangent is resisted.
//!
//! Reference: C. Alscher, *Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech*, section 2.7.

use crate::joints::Axis;
use crate::signals::{Curve, Formula, Interpolation};
use dalembert_methods::nonsmooth::{excess, resist};
use dalembert_methods::{Real, Scalar};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The dry friction of a contact; none unless given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Friction {
    /// Coefficient of sliding friction μ, not negative.
    #[schemars(extend("unit" = "1"))]
    #[serde(default)]
    pub sliding: f64,
    /// Coefficient of static friction μ₀, not less than `sliding`; the same as `sliding` unless given.
    #[schemars(extend("unit" = "1"))]
    #[serde(default, rename = "static", skip_serializing_if = "Option::is_none")]
    pub sticking: Option<f64>,
    /// Speed uₛ at which Stribeck's curve has come down to about a third; without it the coefficient falls from μ₀ to μ at once.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stribeck_speed: Option<f64>,
    /// The coefficient of sliding friction as a function of the speed, instead of `sliding` and `stribeck_speed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<FrictionCurve>,
    /// The direction of the first tangent in the frame of the surface; what is normal to the surface is left out of it. The
    /// first axis of that frame unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub along: Option<Axis>,
    /// Whether only slip along the first tangent is resisted.
    #[serde(default)]
    pub one_dimensional: bool,
    /// The coefficients for slip against the first tangent, as a multiple of those along it.
    #[schemars(extend("unit" = "1"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backward: Option<f64>,
    /// The coefficients for slip across the first tangent, as a multiple of those along it.
    #[schemars(extend("unit" = "1"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sideways: Option<f64>,
}

/// The coefficient of sliding friction as a function of the speed u in m/s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrictionCurve {
    /// An expression in u, such as `"0.2 + 0.1*exp(-u/0.05)"`.
    Formula(Formula<'u'>),
    /// A curve through given points.
    Table(CoefficientTable),
}

/// The points of a table of coefficients, as a scene writes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CoefficientTable")]
pub struct CoefficientPoints {
    /// Speeds, ascending from zero, at least two. Beyond the last the coefficient stays.
    #[schemars(extend("unit" = "m/s"))]
    pub speeds: Vec<f64>,
    /// The coefficient at each speed.
    #[schemars(extend("unit" = "1"))]
    pub coefficients: Vec<f64>,
}

/// A curve through given coefficients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "CoefficientPoints", into = "CoefficientPoints")]
#[schemars(with = "CoefficientPoints")]
pub struct CoefficientTable {
    points: CoefficientPoints,
    curve: Curve,
}

impl TryFrom<CoefficientPoints> for CoefficientTable {
    type Error = String;
    fn try_from(points: CoefficientPoints) -> Result<Self, String> {
        if points.speeds.first().is_some_and(|&first| first != 0.0) {
            return Err("the speeds of a friction table begin with 0".to_owned());
        }
        if let Some(low) = points.coefficients.iter().find(|&&mu| mu < 0.0) {
            return Err(format!("a coefficient of friction must not be negative, found {low}"));
        }
        // Linear: what lies between points lies between their values, and never below zero.
        let curve = Curve::new(&points.speeds, &points.coefficients, Interpolation::Linear, [0.0; 2])?;
        Ok(Self { points, curve })
    }
}

impl From<CoefficientTable> for CoefficientPoints {
    fn from(table: CoefficientTable) -> Self {
        table.points
    }
}

impl Friction {
    /// Isotropic Coulomb friction with equal coefficients.
    pub fn coulomb(coefficient: f64) -> Self {
        Self { sliding: coefficient, ..Self::default() }
    }

    /// The tangential directions with friction.
    pub fn tangents(&self) -> usize {
        let none = self.sliding == 0.0 && self.sticking.unwrap_or(0.0) == 0.0 && self.curve.is_none();
        match (none, self.one_dimensional) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        }
    }

    /// The coefficient of sliding friction at a speed in m/s.
    pub fn coefficient<R: Real>(&self, speed: R) -> R {
        match (&self.curve, self.stribeck_speed) {
            (Some(FrictionCurve::Formula(formula)), _) => formula.at(speed),
            (Some(FrictionCurve::Table(table)), _) => table.curve.at(table.curve.within(speed)),
            (None, Some(scale)) => {
                let ratio = speed / scale;
                (-(ratio * ratio)).exp() * (self.largest() - self.sliding) + self.sliding
            }
            (None, None) => R::from(self.sliding),
        }
    }

    /// The coefficient of static friction.
    pub fn largest(&self) -> f64 {
        let sliding = if self.curve.is_some() { self.coefficient(0.0) } else { self.sliding };
        self.sticking.unwrap_or(sliding)
    }

    /// The force for unit press against slip in a unit direction with a speed in m/s.
    pub fn resistance<S: Scalar>(&self, direction: [S; 2], speed: S) -> [S; 2] {
        resist(self.ellipse(self.coefficient(speed)), direction)
    }

    /// The largest force for unit press against being pulled in a unit direction without slip.
    pub fn grip(&self, direction: [f64; 2]) -> [f64; 2] {
        resist(self.ellipse(self.largest()), direction)
    }

    /// By how much, in N, a force leaves the cone without slip; negative inside.
    pub fn excess(&self, force: [f64; 2], press: f64) -> f64 {
        excess(self.ellipse(self.largest()), force, press)
    }

    /// Coefficients along, against and across the first tangent.
    fn ellipse<S: Scalar>(&self, coefficient: S) -> [S; 3] {
        [coefficient, coefficient * self.backward.unwrap_or(1.0), coefficient * self.sideways.unwrap_or(1.0)]
    }

    /// What is wrong with it, if anything.
    pub(super) fn defect(&self) -> Option<(&'static str, String)> {
        let bad = |message: String| Some(("friction", message));
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !(self.sliding >= 0.0 && self.sliding.is_finite()) {
            return bad(format!("a coefficient of friction must not be negative, found sliding = {}", self.sliding));
        }
        if self.curve.is_some() && (self.sliding != 0.0 || self.stribeck_speed.is_some()) {
            return bad("`curve` replaces `sliding` and `stribeck_speed`; give one of the two".to_owned());
        }
        let at_rest = self.coefficient(0.0);
        let least = if self.stribeck_speed.is_some() { self.sliding } else { at_rest };
        if let Some(sticking) = self.sticking
            && !(sticking >= least && sticking.is_finite())
        {
            return bad(format!(
                "static friction must not be less than sliding friction, found static = {sticking} and sliding = {least}"
            ));
        }
        if self.tangents() > 0 && !positive(self.largest()) {
            return bad(format!("friction without slip needs a positive coefficient, found {}", self.largest()));
        }
        for (name, value) in
            [("stribeck_speed", self.stribeck_speed), ("backward", self.backward), ("sideways", self.sideways)]
        {
            if value.is_some_and(|value| !positive(value)) {
                return bad(format!("`{name}` must be positive, found {}", value.unwrap_or(0.0)));
            }
        }
        if self.one_dimensional && self.sideways.is_some() {
            return bad("one-dimensional friction has no sideways coefficient".to_owned());
        }
        let (_, message) = self.along.as_ref()?.defect("friction")?;
        bad(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stribeck_curve_falls_from_static_to_sliding() {
        let friction = Friction { sliding: 0.2, sticking: Some(0.5), stribeck_speed: Some(0.1), ..Friction::default() };
        assert!((friction.coefficient(0.0) - 0.5).abs() < 1e-15);
        assert!((friction.coefficient(0.1) - (0.2 + 0.3 * (-1.0f64).exp())).abs() < 1e-15);
        assert!((friction.coefficient(10.0) - 0.2).abs() < 1e-15);
        assert!(friction.defect().is_none());
        assert!(Friction { sticking: Some(0.1), ..friction }.defect().is_some());
    }

    #[test]
    fn directions_have_their_own_grip() {
        let friction = Friction { sliding: 0.4, backward: Some(0.5), sideways: Some(2.0), ..Friction::default() };
        for (direction, force) in [([1.0, 0.0], [-0.4, 0.0]), ([-1.0, 0.0], [0.2, 0.0]), ([0.0, 1.0], [0.0, -0.8])] {
            let [first, second] = friction.resistance(direction, 1.0);
            assert!((first - force[0]).hypot(second - force[1]) < 1e-15);
        }
        assert!(friction.excess([0.19, 0.0], 1.0) < 0.0 && friction.excess([0.21, 0.0], 1.0) > 0.0);
    }
}
