//! A spring with any law between two points, and a linear damper beside it.
//!
//! With stretch s = |r₂ − r₁| − l₀ the energy is U(s), the tension U′(s) + d ṡ, the dissipation d ṡ². The law is written
//! once: a polynomial or a table gives the tension, whose integral is exact; a formula gives U, whose derivative
//! comes from jets. So the account of energy closes to rounding for each of them.

use super::Force;
use super::spring::{COINCIDE, stretch};
use crate::element::About;
use crate::model::{Instant, Param, Place, Point, Wrench};
use crate::signals::{Curve, Formula, Interpolation};
use dalembert_methods::{Jet, Real};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A spring–damper along the line between two markers, with a nonlinear law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NonlinearSpring {
    /// The law of the spring.
    pub law: Law,
    /// Length l₀ at which the stretch is zero.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub rest_length: Param,
    /// Damping d, not negative.
    #[schemars(extend("unit" = "N s/m"))]
    #[serde(default)]
    pub damping: Param,
}

/// How tension or energy depend on the stretch s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Tension k₁ s + k₂ s² + k₃ s³ + …, in N/m, N/m², N/m³, …; a stiffening spring is [k₁, 0, k₃].
    Polynomial(Vec<Param>),
    /// Tension by a curve through given points.
    Table(TensionTable),
    /// Energy in J as an expression in the stretch s in m, such as `"50*s^2 + 200*s^4"`; a rope that cannot push is
    /// `"if(s > 0, 50*s^2, 0)"`.
    Energy(Formula<'s'>),
}

/// The points of a table of tensions, as a scene writes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TensionTable")]
pub struct TensionPoints {
    /// Stretches, ascending, at least two. Outside, the tension goes on along the slopes at the ends.
    #[schemars(extend("unit" = "m"))]
    pub stretches: Vec<f64>,
    /// The tension at each stretch.
    #[schemars(extend("unit" = "N"))]
    pub tensions: Vec<f64>,
    /// How tensions between the given stretches are found; `clamped` has slopes of zero at the ends.
    #[serde(default)]
    pub interpolation: Interpolation,
}

/// A curve through given tensions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "TensionPoints", into = "TensionPoints")]
#[schemars(with = "TensionPoints")]
pub struct TensionTable {
    points: TensionPoints,
    curve: Curve,
    /// The integral at zero stretch, so that the energy is zero there.
    origin: f64,
}

impl TryFrom<TensionPoints> for TensionTable {
    type Error = String;
    fn try_from(points: TensionPoints) -> Result<Self, String> {
        let curve = Curve::new(&points.stretches, &points.tensions, points.interpolation, [0.0; 2])?;
        let mut table = Self { points, curve, origin: 0.0 };
        table.origin = table.energy(0.0);
        Ok(table)
    }
}

impl From<TensionTable> for TensionPoints {
    fn from(table: TensionTable) -> Self {
        table.points
    }
}

impl TensionTable {
    fn tension<R: Real>(&self, s: R) -> R {
        let inside = self.curve.within(s);
        self.curve.at(inside) + self.curve.slope(inside) * (s - inside)
    }

    fn energy<R: Real>(&self, s: R) -> R {
        let inside = self.curve.within(s);
        let beyond = s - inside;
        let more = (self.curve.at(inside) + self.curve.slope(inside) * beyond * 0.5) * beyond;
        self.curve.integral(inside) + more - self.origin
    }
}

impl Law {
    /// The tension U′(s) of the spring alone, in N.
    #[inline(always)]
    pub fn tension<R: Real>(&self, now: &Instant<'_, R>, s: R) -> R {
        match self {
            Self::Polynomial(k) => k.iter().rev().fold(R::zero(), |sum, k| (sum + k.at(now)) * s),
            Self::Table(table) => table.tension(s),
            Self::Energy(energy) => energy.at(Jet::<R, 1>::variable(s, 0)).eps[0],
        }
    }

    /// What is wrong with it, if anything.
    pub(super) fn defect(&self) -> Option<String> {
        match self {
            Self::Polynomial(k) if k.is_empty() => Some("a polynomial law needs at least one coefficient".to_owned()),
            _ => None,
        }
    }

    /// The energy U(s), in J.
    #[inline(always)]
    pub fn energy<R: Real>(&self, now: &Instant<'_, R>, s: R) -> R {
        match self {
            Self::Polynomial(k) => {
                let mut power = k.len() as f64 + 2.0;
                k.iter().rev().fold(R::zero(), |sum, k| {
                    power -= 1.0;
                    (sum + k.at(now) / power) * s
                }) * s
            }
            Self::Table(table) => table.energy(s),
            Self::Energy(energy) => energy.at(s),
        }
    }
}

impl About for NonlinearSpring {
    const KIND: &'static str = "nonlinear_spring";
    const SUMMARY: &'static str = "A spring between two points whose tension is a polynomial, a table or a formula.";

    fn sample() -> Self {
        let law = Law::Polynomial(vec![30.0.into(), (-12.0).into(), 45.0.into()]);
        Self { law, rest_length: 0.6.into(), damping: 0.4.into() }
    }
}

impl Force for NonlinearSpring {
    type Markers = [Point; 2];

    #[inline(always)]
    fn apply<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        let (direction, length, rate) = stretch(at);
        let tension = self.law.tension(now, length - self.rest_length.at(now)) + self.damping.at(now) * rate;
        out[0] = Wrench::force(direction * tension);
        out[1] = Wrench::force(-direction * tension);
    }
    fn energy<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (_, length, _) = stretch(at);
        self.law.energy(now, length - self.rest_length.at(now))
    }
    fn dissipation<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        let (_, _, rate) = stretch(at);
        self.damping.at(now) * rate.square()
    }
    fn still(&self) -> bool {
        self.damping == Param::Fixed(0.0)
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        if self.damping.value() < 0.0 {
            return Some(("damping", format!("damping must not be negative, found {}", self.damping.value())));
        }
        if self.rest_length.value() < 0.0 {
            let found = self.rest_length.value();
            return Some(("rest_length", format!("a length must not be negative, found {found}")));
        }
        self.law.defect().map(|message| ("law", message))
    }
    fn defect_at(&self, now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        let length = stretch(at).1;
        let pulls = self.law.tension(now, -self.rest_length.value()) != 0.0;
        (pulls && length <= 0.0).then(|| ("between", COINCIDE.to_owned()))
    }
}
