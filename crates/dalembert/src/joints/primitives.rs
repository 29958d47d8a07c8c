//! What joints are made of: offsets, alignments and angles of a second marker seen from a first.
//!
//! Everything is expressed in the frame of the first marker, so residuals do not change under a superposed rigid motion.
//! With R_A, R_B the rotations of the markers and r_A, r_B their positions,
//!
//! ```text
//! d = R_Aᵀ (r_B − r_A)                 offset
//! C = R_Aᵀ R_B                         relative rotation
//! ```
//!
//! An [`Axis`] a of the first frame has perpendiculars p, q; an axis b of the second has s, t.
//! Orientation rows use the tangent of the half angle: 2 tan(φ/2) is φ to first order and grows without bound towards
//! half a turn, so they vanish *only* where the orientation is right (sines and products of axes vanish at half a turn too).
//!
//! Functions of more than a few products are not forced inline: each is compiled once for each number, not once for each joint.

use super::Axis;
use crate::model::Place;
use dalembert_methods::Real;
use dalembert_methods::vector::{Mat3, Vec3};
use std::f64::consts::TAU;

/// 4 cos²(φ/2) below which an angle φ counts as half a turn: φ within 1e-6 of π.
const HALF_TURN: f64 = 1e-12;
/// The residual there, the value of 2 tan(φ/2) at this distance from half a turn.
const OPPOSITE: f64 = 4e6;

/// The component of `v` along a constant direction.
#[inline(always)]
pub(crate) fn along<R: Real>(v: Vec3<R>, direction: Vec3<f64>) -> R {
    v[0] * direction[0] + v[1] * direction[1] + v[2] * direction[2]
}

/// A constant vector of a marker's frame, in the world frame.
#[inline(always)]
pub(crate) fn to_world<R: Real>(place: &Place<R>, local: Vec3<f64>) -> Vec3<R> {
    let [x, y, z] = place.rotation.0;
    Vec3([along(Vec3(x), local), along(Vec3(y), local), along(Vec3(z), local)])
}

/// A constant vector of the frame of `of`, in the frame of `seen_from`.
pub(crate) fn turned<R: Real>(seen_from: &Place<R>, of: &Place<R>, local: Vec3<f64>) -> Vec3<R> {
    seen_from.rotation.transpose_mul(to_world(of, local))
}

/// d: from the first marker to the second, in the first frame.
pub(crate) fn offset<R: Real>(at: &[Place<R>]) -> Vec3<R> {
    at[0].rotation.transpose_mul(at[1].r - at[0].r)
}

/// The components of the offset across an axis of the first frame: p·d, q·d.
pub(crate) fn off_axis<R: Real>(at: &[Place<R>], axis: &Axis) -> [R; 2] {
    let d = offset(at);
    let [p, q] = axis.across();
    [along(d, p), along(d, q)]
}

/// The component of the offset along an axis of the first frame: a·d.
pub(crate) fn travel<R: Real>(at: &[Place<R>], axis: &Axis) -> R {
    along(offset(at), axis.unit())
}

/// Rows that make the axes a and b parallel: 2 (p·b)/(1 + a·b), 2 (q·b)/(1 + a·b), of length 2 tan(φ/2).
pub(crate) fn aligned<R: Real>(at: &[Place<R>], a: &Axis, b: &Axis) -> [R; 2] {
    let b = turned(&at[0], &at[1], b.unit());
    let cosine = along(b, a.unit());
    let ([p, q], scale) = (a.across(), (cosine + 1.0) * 2.0);
    [half_angle(along(b, p) * 4.0, scale), half_angle(along(b, q) * 4.0, scale)]
}

/// Rows that make the frames (p, q, a) and (s, t, b) equal: the rotation between them as a vector 2 tan(φ/2) n, by
/// components along p, q, a.
pub(crate) fn same_orientation<R: Real>(at: &[Place<R>], a: &Axis, b: &Axis) -> [R; 3] {
    let ([p, q], [s, t]) = (a.across(), b.across());
    let columns = [s, t, b.unit()].map(|direction| turned(&at[0], &at[1], direction));
    rodrigues(Mat3([p, q, a.unit()].map(|direction| columns.map(|column| along(column, direction)))))
}

/// 2 tan(φ/2) n of a rotation by φ about n: with sin φ n from the antisymmetric part and 4 cos²(φ/2) = 1 + trace.
pub(crate) fn rodrigues<R: Real>(c: Mat3<R>) -> [R; 3] {
    let c = c.0;
    let scale = c[0][0] + c[1][1] + c[2][2] + 1.0;
    let row = |twice_sine: R| half_angle(twice_sine * 2.0, scale);
    [row(c[2][1] - c[1][2]), row(c[0][2] - c[2][0]), row(c[1][0] - c[0][1])]
}

/// The quotient of a row that is 4 sin φ by 4 cos²(φ/2), which is zero at half a turn.
fn half_angle<R: Real>(row: R, scale: R) -> R {
    let opposite = scale.lt(R::from(HALF_TURN));
    R::select(opposite, R::from(OPPOSITE), row / R::select(opposite, R::one(), scale))
}

/// The angle in (−π, π] by which the frame (s, t, b) is turned about a against (p, q, a).
///
/// Where the axes are not parallel it is the twist of the swing–twist decomposition: 2 atan(n·a tan(φ/2)) for a rotation
/// by φ about n.
pub(crate) fn angle<R: Real>(first: &Place<R>, second: &Place<R>, a: &Axis, b: &Axis) -> R {
    let ([p, q], [s, t]) = (a.across(), b.across());
    let (s, t) = (turned(first, second, s), turned(first, second, t));
    (along(s, q) - along(t, p)).atan2(along(s, p) + along(t, q))
}

/// The representative of `x` modulo `period` nearest to zero.
#[inline(always)]
pub(crate) fn wrapped<R: Real>(x: R, period: f64) -> R {
    x - (x / period).round() * period
}

/// An angle brought to [−π, π].
#[inline(always)]
pub(crate) fn wrapped_angle<R: Real>(x: R) -> R {
    wrapped(x, TAU)
}

/// The velocity of the point `at` moving with `v`, relative to the point of the body of `frame` that is there now.
pub(crate) fn relative_velocity<R: Real>(frame: &Place<R>, at: Vec3<R>, v: Vec3<R>) -> Vec3<R> {
    v - frame.v - frame.omega.cross(at - frame.r)
}

/// What is wrong with the axes of a joint, if anything.
pub(crate) fn axes_defect(axis: &Axis, axis_b: Option<&Axis>) -> Option<(&'static str, String)> {
    axis.defect("axis").or_else(|| axis_b?.defect("axis_b"))
}

/// What is wrong with a number that must be positive and finite, if anything.
pub(crate) fn positive(key: &'static str, what: &str, value: f64) -> Option<(&'static str, String)> {
    (!(value > 0.0 && value.is_finite())).then(|| (key, format!("{what} must be positive and finite, not {value}")))
}
