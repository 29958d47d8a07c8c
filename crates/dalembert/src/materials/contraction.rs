//! Contraction: the relaxed shape G(t), prescribed or driven by a couple (\[1\], eq. (5), (6), (24)).
//!
//! A stretch law makes G isochoric: γ along an axis a, and across it 1/γ in one direction (in a plane with a given normal) or 1/√γ in two
//! directions:
//!
//! ```text
//! G = γ a⊗a + (1/γ) b⊗b + c⊗c,  c the normal, b = c × a         or         G = γ a⊗a + (1/√γ)(1 − a⊗a).
//! ```
//!
//! A driven contraction evolves by Ġ = V G with V in the span of given modes A_k; (24) holds against each of them.
//!
//! Reference: \[1\] Tatone, Di Egidio, Contento: Dynamics of a soft contractile body on a hard support.

use crate::signals::SignalRef;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the relaxed shape changes, for instance `{ stretch = { stretch = "pulse", normal = [0, 1, 0] } }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Contraction {
    /// An isochoric stretch along an axis.
    Stretch(Stretch),
    /// Any relaxed shape: nine numbers or names of signals, by rows.
    Matrix([[SignalRef; 3]; 3]),
    /// A contraction that evolves under a given couple.
    Driven(Driven),
}

/// An isochoric stretch along an axis that may turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// The stretch γ along the axis, positive: a number or the name of a signal.
    #[schemars(extend("unit" = "1"))]
    pub stretch: SignalRef,
    /// The axis in the reference shape, of any length: numbers or names of signals.
    #[serde(default = "upwards")]
    pub axis: [SignalRef; 3],
    /// The normal of the plane to which the contraction is confined; without it the body thins in both directions across the axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 3]>,
    /// Angle by which the axis is turned about the normal: a number or the name of a signal.
    #[schemars(extend("unit" = "rad"))]
    #[serde(default = "zero")]
    pub angle: SignalRef,
}

fn upwards() -> [SignalRef; 3] {
    [0.0.into(), 0.0.into(), 1.0.into()]
}

fn zero() -> SignalRef {
    0.0.into()
}

/// A contraction that evolves by μ_γ ĠG⁻¹ = FᵀSGᵀ − Jφ 1 + Q.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Driven {
    /// The couple Q: this number or signal times a⊗a − b⊗b (with a normal), or times a⊗a − ½(1 − a⊗a).
    #[schemars(extend("unit" = "Pa"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub couple: Option<SignalRef>,
    /// The couple Q as nine numbers or names of signals by rows, in place of `couple`.
    #[schemars(extend("unit" = "Pa"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub couples: Option<[[SignalRef; 3]; 3]>,
    /// Resistance to contraction μ_γ, positive.
    #[schemars(extend("unit" = "Pa s"))]
    pub resistance: f64,
    /// The axis a in the reference shape, of any length.
    #[serde(default = "up")]
    pub axis: [f64; 3],
    /// The normal of the plane to which the contraction is confined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 3]>,
    /// In which ways the relaxed shape can change.
    #[serde(default)]
    pub freedom: Freedom,
}

fn up() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

/// In which ways a driven relaxed shape can change.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Freedom {
    /// Along the axis only, keeping the volume: one stretch.
    #[default]
    Axis,
    /// In all ways that keep the volume; with a normal, in all such ways within the plane.
    Isochoric,
    /// In all nine ways.
    Free,
}

/// The most modes a contraction has.
pub(crate) const MOST_MODES: usize = 9;

impl Contraction {
    /// The prescribed relaxed shape G(t); not for driven ones.
    pub(crate) fn prescribed<R: Real>(&self, t: R) -> Option<Mat3<R>> {
        match self {
            Self::Stretch(law) => Some(law.at(t)),
            Self::Matrix(signals) => Some(Mat3(std::array::from_fn(|i| std::array::from_fn(|j| signals[i][j].at(t))))),
            Self::Driven(_) => None,
        }
    }

    /// G and Ġ of a prescribed relaxed shape.
    pub(crate) fn prescribed_rate<R: Real>(&self, t: R) -> Option<(Mat3<R>, Mat3<R>)> {
        let moving = self.prescribed(Jet::<R, 1>::variable(t, 0))?;
        Some((moving.map(|g| g.re), moving.map(|g| g.eps[0])))
    }

    /// The signals it uses.
    pub(crate) fn signals(&mut self) -> Vec<&mut SignalRef> {
        match self {
            Self::Stretch(Stretch { stretch, axis, angle, .. }) => {
                [stretch, angle].into_iter().chain(axis.iter_mut()).collect()
            }
            Self::Matrix(signals) => signals.iter_mut().flatten().collect(),
            Self::Driven(Driven { couple, couples, .. }) => {
                couple.iter_mut().chain(couples.iter_mut().flatten().flatten()).collect()
            }
        }
    }

    /// What is wrong with it, if anything.
    pub(crate) fn defect(&self) -> Option<String> {
        let flat = |normal: &Option<[f64; 3]>| normal.is_some_and(|n| n == [0.0; 3]);
        match self {
            Self::Stretch(law) if flat(&law.normal) => Some("the normal of a plane must not be zero".to_owned()),
            Self::Stretch(law) if law.normal.is_none() && law.angle != zero() => {
                Some("an `angle` turns the axis about a `normal`, which is not given".to_owned())
            }
            Self::Driven(driven) => {
                let Driven { couple, couples, resistance, axis, normal, .. } = driven;
                if !(*resistance > 0.0 && resistance.is_finite()) {
                    return Some(format!("the resistance to contraction must be positive, found {resistance} Pa s"));
                }
                if couple.is_some() == couples.is_some() {
                    return Some("give either `couple` or `couples`".to_owned());
                }
                let across = normal.is_some_and(|n| Vec3(n).cross(Vec3(*axis)).norm() == 0.0);
                (flat(normal) || *axis == [0.0; 3] || across)
                    .then(|| "axis and normal must not be zero nor parallel".to_owned())
            }
            _ => None,
        }
    }

    /// What is wrong with it at a time, if anything.
    pub(crate) fn defect_at(&self, t: f64) -> Option<String> {
        let determinant = self.prescribed(t)?.determinant();
        (!(determinant > 0.0 && determinant.is_finite())).then(|| {
            format!("the determinant of the relaxed shape must be positive, but is {determinant} at t = {t} s")
        })
    }

    /// Whether the relaxed shape keeps its volume.
    pub(crate) fn is_isochoric(&self) -> bool {
        match self {
            Self::Stretch(_) => true,
            Self::Matrix(_) => false,
            Self::Driven(driven) => driven.freedom != Freedom::Free,
        }
    }
}

impl Stretch {
    fn at<R: Real>(&self, t: R) -> Mat3<R> {
        let stretch = self.stretch.at(t);
        // Not a number unless positive: a relaxed shape cannot be turned inside out.
        let stretch = R::select(R::zero().lt(stretch), stretch, R::from(f64::NAN));
        let axis = Vec3([0, 1, 2].map(|i| self.axis[i].at(t)));
        match self.normal {
            Some(normal) => {
                let c = Vec3::constant(Vec3(normal).normalized().0);
                let axis = (axis - c * c.dot(axis)).normalized();
                let (s, k) = self.angle.at(t).sin_cos();
                let a = axis * k + c.cross(axis) * s;
                let b = c.cross(a);
                dyad(a) * stretch + dyad(b) * stretch.recip() + dyad(c)
            }
            None => {
                let thin = stretch.sqrt().recip();
                Mat3::identity() * thin + dyad(axis.normalized()) * (stretch - thin)
            }
        }
    }
}

/// a ⊗ a.
#[inline(always)]
fn dyad<R: Real>(a: Vec3<R>) -> Mat3<R> {
    Mat3(a.0.map(|x| a.0.map(|y| x * y)))
}

impl Driven {
    /// The couple Q(t).
    pub(crate) fn couple_at<R: Real>(&self, t: R) -> Mat3<R> {
        match (&self.couple, &self.couples) {
            (Some(couple), _) => Mat3::constant(self.axial().0) * couple.at(t),
            (None, Some(couples)) => Mat3(std::array::from_fn(|i| std::array::from_fn(|j| couples[i][j].at(t)))),
            (None, None) => Mat3::zero(),
        }
    }

    /// The axis, and the direction across it within the plane if there is one.
    fn axes(&self) -> (Vec3<f64>, Option<Vec3<f64>>) {
        match self.normal {
            None => (Vec3(self.axis).normalized(), None),
            Some(normal) => {
                let c = Vec3(normal).normalized();
                let a = (Vec3(self.axis) - c * c.dot(Vec3(self.axis))).normalized();
                (a, Some(c.cross(a)))
            }
        }
    }

    /// a⊗a − b⊗b, or a⊗a − ½(1 − a⊗a).
    fn axial(&self) -> Mat3<f64> {
        match self.axes() {
            (a, Some(b)) => dyad(a) + dyad(b) * -1.0,
            (a, None) => dyad(a) * 1.5 + Mat3::identity() * -0.5,
        }
    }

    /// The modes A_k, and how many there are.
    pub(crate) fn modes(&self) -> ([Mat3<f64>; MOST_MODES], usize) {
        let mut modes = [Mat3::zero(); MOST_MODES];
        let mut count = 0;
        let mut push = |mode: Mat3<f64>| {
            modes[count] = mode;
            count += 1;
        };
        let product = |a: Vec3<f64>, b: Vec3<f64>| Mat3(a.0.map(|x| b.0.map(|y| x * y)));
        match (self.freedom, self.axes()) {
            (Freedom::Axis, _) => push(self.axial()),
            (Freedom::Isochoric, (a, Some(b))) => {
                push(self.axial());
                push(product(a, b));
                push(product(b, a));
            }
            (freedom, _) => {
                let e = [0, 1, 2].map(|i| Vec3(Mat3::<f64>::identity().0[i]));
                for i in 0..3 {
                    for j in (0..3).filter(|&j| j != i) {
                        push(product(e[i], e[j]));
                    }
                }
                push(dyad(e[0]) + dyad(e[1]) * -1.0);
                push(dyad(e[1]) + dyad(e[2]) * -1.0);
                if freedom == Freedom::Free {
                    push(Mat3::identity());
                }
            }
        }
        (modes, count)
    }
}
