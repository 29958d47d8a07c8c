//! The laws of contact fields as scenes write them, and their coefficients.
//!
//! A coefficient is given directly, or by what it means: a traction at a distance, β = traction · d^ν; a multiple of the
//! coefficient of repulsion; for the repulsion itself the distance at which a weight rests; for the attraction the distance at which it balances
//! all repulsion.

use crate::shapes::{MOST_POWER, Shape};
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A coefficient, directly or by its meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number, or one of { traction, at }, { relative }, { weight, at }, { balance }"
)]
pub enum Strength {
    /// The coefficient itself, in SI units.
    Direct(f64),
    /// The traction (per unit of speed for resistances) at a distance.
    Traction {
        /// Traction in Pa, or in Pa s/m.
        traction: f64,
        /// The distance, in m.
        at: f64,
    },
    /// A multiple of the coefficient of repulsion.
    Relative {
        /// The factor.
        relative: f64,
    },
    /// For repulsion: the undeformed body of this weight rests at this distance, its z axis along the normal.
    Rest {
        /// Weight, in N.
        weight: f64,
        /// Distance of the nearest point, in m.
        at: f64,
    },
    /// For attraction: the distance at which it balances all repulsion.
    Balance {
        /// The sticking distance, in m.
        balance: f64,
    },
}

/// Repulsion: traction α d^−ν along the normal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repulsion {
    /// Coefficient α.
    #[schemars(extend("unit" = "Pa m^ν"))]
    pub coefficient: Strength,
    /// Power ν, from 2.
    #[serde(default = "eight")]
    pub power: usize,
}

/// A resistance proportional to velocity: traction −β d^−ν times the normal or the tangential velocity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resistance {
    /// Coefficient β.
    #[schemars(extend("unit" = "Pa s/m m^ν"))]
    pub coefficient: Strength,
    /// Power ν, from 2.
    #[serde(default = "six")]
    pub power: usize,
}

/// Regularised Coulomb friction: traction −α d^−ν μ(v) v/√(v² + v₀²), μ(v) = μ + (μ_s − μ) exp(−(v/v_s)²).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coulomb {
    /// Coefficient of friction μ.
    #[schemars(extend("unit" = "1"))]
    pub friction: f64,
    /// Coefficient of friction μ_s at small speeds; that of `friction` unless given.
    #[schemars(extend("unit" = "1"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_friction: Option<f64>,
    /// Speed v_s over which the one goes over to the other.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default = "slow")]
    pub static_speed: f64,
    /// Speed v₀ below which friction fades.
    #[schemars(extend("unit" = "m/s"))]
    pub regular_speed: f64,
    /// Coefficient α; that of the repulsion unless given.
    #[schemars(extend("unit" = "Pa m^ν"))]
    #[serde(default = "same")]
    pub coefficient: Strength,
    /// Power ν, from 2; that of the repulsion unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<usize>,
}

/// Adhesion: traction β_r d^−ν_r − β_a d^−ν_a along the normal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adhesion {
    /// Coefficient β_a of the attraction.
    #[schemars(extend("unit" = "Pa m^ν"))]
    pub attraction: Strength,
    /// Power ν_a of the attraction, from 2.
    #[serde(default = "six")]
    pub power: usize,
    /// Coefficient β_r of the repulsion that comes with it.
    #[schemars(extend("unit" = "Pa m^ν"))]
    #[serde(default = "none")]
    pub repulsion: Strength,
    /// Power ν_r of that repulsion; that of the repulsion unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repulsion_power: Option<usize>,
}

fn eight() -> usize {
    8
}
fn six() -> usize {
    6
}
fn slow() -> f64 {
    0.1
}
fn same() -> Strength {
    Strength::Relative { relative: 1.0 }
}
fn none() -> Strength {
    Strength::Direct(0.0)
}

/// A coefficient and its power.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct Term {
    pub coefficient: f64,
    pub power: usize,
}

/// What a field has computed of its laws; coefficients that make no sense are not numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Terms {
    /// Forces with a potential, attraction negative.
    pub potential: Vec<Term>,
    pub damping: Option<Term>,
    pub friction: Option<Term>,
    pub coulomb: Option<(Term, Coulomb)>,
}

impl Strength {
    /// The coefficient; `repulsion` is that of the repulsion.
    fn resolve(&self, power: usize, repulsion: f64) -> f64 {
        match *self {
            Self::Direct(value) => value,
            Self::Traction { traction, at } => traction * at.powi(power as i32),
            Self::Relative { relative } => relative * repulsion,
            Self::Rest { .. } | Self::Balance { .. } => f64::NAN,
        }
    }

    /// The coefficient of repulsion of a shape.
    fn resolve_repulsion(&self, power: usize, shape: &Shape) -> f64 {
        match *self {
            Self::Rest { weight, at } if (2..=MOST_POWER).contains(&power) => {
                let up = Vec3([0.0, 0.0, 1.0]);
                weight / shape.integral(power, at - shape.nearest(0.0, up), up)
            }
            _ => self.resolve(power, f64::NAN),
        }
    }
}

impl Terms {
    pub fn new(
        shape: &Shape,
        repulsion: Option<&Repulsion>,
        damping: Option<&Resistance>,
        friction: Option<&Resistance>,
        coulomb: Option<&Coulomb>,
        adhesion: Option<&Adhesion>,
    ) -> Self {
        let main = repulsion
            .map(|law| Term { coefficient: law.coefficient.resolve_repulsion(law.power, shape), power: law.power });
        let (alpha, nu) = main.map_or((f64::NAN, eight()), |term| (term.coefficient, term.power));
        let resist =
            |law: &Resistance| Term { coefficient: law.coefficient.resolve(law.power, alpha), power: law.power };
        let mut potential: Vec<Term> = main.into_iter().collect();
        if let Some(law) = adhesion {
            let power = law.repulsion_power.unwrap_or(nu);
            let extra = law.repulsion.resolve(power, alpha);
            if extra != 0.0 {
                potential.push(Term { coefficient: extra, power });
            }
            let pull = match law.attraction {
                Strength::Balance { balance } => potential
                    .iter()
                    .map(|term| term.coefficient * balance.powi(law.power as i32 - term.power as i32))
                    .sum(),
                ref other => other.resolve(law.power, alpha),
            };
            potential.push(Term { coefficient: -pull, power: law.power });
        }
        Self {
            potential,
            damping: damping.map(resist),
            friction: friction.map(resist),
            coulomb: coulomb.map(|law| {
                let power = law.power.unwrap_or(nu);
                (Term { coefficient: law.coefficient.resolve(power, alpha), power }, law.clone())
            }),
        }
    }
}

/// What is wrong with a coefficient or a power, if anything.
pub(super) fn defect_of(key: &'static str, term: Term) -> Option<(&'static str, String)> {
    if !(2..=MOST_POWER).contains(&term.power) {
        return Some((key, format!("powers of the distance go from 2 to {MOST_POWER}, found {}", term.power)));
    }
    let value = term.coefficient;
    if value.is_nan() {
        let message = "this coefficient has no meaning here: `weight` is for repulsion, `balance` for attraction, `relative` needs a repulsion";
        return Some((key, message.to_owned()));
    }
    (!(value >= 0.0 && value.is_finite()))
        .then(|| (key, format!("a coefficient must not be negative nor infinite, found {value}")))
}

impl Coulomb {
    pub(super) fn defect(&self) -> Option<String> {
        let least = self.static_friction.unwrap_or(0.0).min(self.friction);
        if !(least >= 0.0 && self.friction.is_finite()) {
            return Some(format!("coefficients of friction must not be negative, found {least}"));
        }
        [self.regular_speed, self.static_speed]
            .into_iter()
            .find(|speed| !(*speed > 0.0 && speed.is_finite()))
            .map(|speed| format!("speeds must be positive, found {speed} m/s"))
    }
}
