//! A signal through given points, by a cubic spline or straight lines.

use super::curve::{Curve, Interpolation};
use crate::element::About;
use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a table gives outside its range.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// The first value before, the last value after.
    #[default]
    Hold,
    /// Nothing: the value is not a number there, and a run that asks for it fails.
    Error,
}

/// The points of a table, as a scene writes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Table")]
pub struct Points {
    /// Times, ascending, at least two.
    #[schemars(extend("unit" = "s"))]
    pub times: Vec<f64>,
    /// The value at each time.
    #[schemars(extend("unit" = "of the quantity"))]
    pub values: Vec<f64>,
    /// How values between the given times are found. Splines are twice continuously differentiable inside the range.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// The slopes at the first and the last time, for a clamped spline.
    #[schemars(extend("unit" = "of the quantity, per s"))]
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slopes: [f64; 2],
    /// What holds before the first and after the last time.
    #[serde(default)]
    pub outside: Outside,
}

fn is_zero(slopes: &[f64; 2]) -> bool {
    *slopes == [0.0; 2]
}

/// A curve through given points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Points", into = "Points")]
#[schemars(with = "Points")]
pub struct Table {
    points: Points,
    curve: Curve,
}

impl TryFrom<Points> for Table {
    type Error = String;
    fn try_from(points: Points) -> Result<Self, String> {
        if points.interpolation != Interpolation::Clamped && !is_zero(&points.slopes) {
            return Err("slopes at the ends belong to interpolation = \"clamped\" only".to_owned());
        }
        let curve = Curve::new(&points.times, &points.values, points.interpolation, points.slopes)?;
        Ok(Self { points, curve })
    }
}

impl From<Table> for Points {
    fn from(table: Table) -> Self {
        table.points
    }
}

impl About for Table {
    const KIND: &'static str = "table";
    const SUMMARY: &'static str = "A curve through given times and values: a cubic spline or straight lines.";
    const REFERENCES: &'static [&'static str] = &["de Boor, A Practical Guide to Splines, Springer 1978, ch. IV"];

    fn sample() -> Self {
        let points = Points {
            times: vec![-2.0, -1.1, 0.2, 0.9, 2.3],
            values: vec![0.3, -0.8, 0.6, 1.4, 0.5],
            interpolation: Interpolation::Clamped,
            slopes: [0.4, -0.7],
            outside: Outside::Hold,
        };
        Self::try_from(points).expect("ascending times with a value each")
    }
}

impl Table {
    /// The points it was made from.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The value at time t, in s.
    #[inline]
    pub fn at<R: Real>(&self, t: R) -> R {
        let value = self.curve.at(self.curve.within(t));
        match self.points.outside {
            Outside::Hold => value,
            Outside::Error => {
                let (first, last) = self.curve.range();
                let out = R::or(t.lt(R::from(first)), t.gt(R::from(last)));
                R::select(out, R::from(f64::NAN), value)
            }
        }
    }
}
