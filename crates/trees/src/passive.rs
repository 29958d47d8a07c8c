//! Forces of the joints themselves: damping, dry friction, springs, stops; and the limits of their drives.
//!
//! For each velocity v with coordinate q
//!
//! ```text
//! τ = −d v − μ tanh(v/v_s) − k (q − q₀) − stop,   stop = K [q − upper]₊ + D v inside a stop, and likewise below
//! ```
//!
//! Dry friction is regularised here: below the velocity v_s a joint creeps instead of sticking. Without v_s it is left out, for those who
//! treat it as it is, with sticking. Stops are stiff springs; their damping is never allowed to pull the joint back in.
//!
//! A spherical joint with a [`crate::Cone`] about a has stops for the angle θ of its axis and for its twist φ. With its quaternion (w, u) and
//! b = Rᵀ a, in the axes of the link,
//!
//! ```text
//! θ = ∠(b, a),       θ̇ = ω·(b × a)/|b × a|
//! φ = 2 atan(u·a/w), φ̇ = ω·(w² a + w a × u + (u·a) u)/(w² + (u·a)²)
//! ```

use crate::stops::{swing, twist};
use crate::tree::{Motion, Tree};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;

/// How dry friction and stops are made smooth.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Smoothing {
    /// The velocity below which friction fades, in rad/s or m/s; without it there is no friction here.
    pub slip: Option<f64>,
    /// The stiffness of stops, in N m/rad or N/m.
    pub stop_stiffness: f64,
    /// The damping of stops, in N m s/rad or N s/m.
    pub stop_damping: f64,
}

impl Default for Smoothing {
    fn default() -> Self {
        Self { slip: Some(1e-3), stop_stiffness: 1e4, stop_damping: 1e2 }
    }
}

/// Adds the forces of the joints to `out`.
pub fn forces<T: Real>(tree: &Tree, q: &[T], v: &[T], smoothing: &Smoothing, out: &mut [T]) {
    each(tree, |iq, k| {
        let f = &tree.freedoms[k];
        let mut tau = -(v[k] * f.damping);
        if let (true, Some(slip)) = (f.friction > 0.0, smoothing.slip) {
            tau -= (v[k] / slip).tanh() * f.friction;
        }
        if let Some(i) = iq {
            tau -= (q[i] - f.rest) * f.stiffness;
            if f.upper.is_finite() {
                let depth = q[i] - f.upper;
                tau -= push(depth, v[k], smoothing);
            }
            if f.lower.is_finite() {
                let depth = -(q[i] - f.lower);
                tau += push(depth, -v[k], smoothing);
            }
        }
        out[k] += tau;
    });
    each_stop(tree, q, Some(v), |depth, speed, direction, iv| {
        let push = push(depth, speed, smoothing);
        for c in 0..3 {
            out[iv + c] -= direction[c] * push;
        }
    });
}

/// The force of a stop that is `depth` deep and goes deeper with `speed`.
fn push<T: Real>(depth: T, speed: T, smoothing: &Smoothing) -> T {
    let zero = T::zero();
    let push = (depth * smoothing.stop_stiffness + speed * smoothing.stop_damping).max(zero);
    T::select(zero.lt(depth), push, zero)
}

/// Every stop of a spherical joint: its depth, the rate of that, its direction in the axes of the link, and its first velocity.
fn each_stop<T: Real>(tree: &Tree, q: &[T], v: Option<&[T]>, mut f: impl FnMut(T, T, Vec3<T>, usize)) {
    for (iq, iv, cone) in &tree.cones {
        let omega = v.map_or_else(Vec3::zero, |v| Vec3::from_slice(&v[*iv..]));
        if cone.swing.is_finite() {
            let (angle, direction) = swing(cone, &q[*iq..]);
            f(angle - cone.swing, omega.dot(direction), direction, *iv);
        }
        let (angle, gradient) = twist(cone, &q[*iq..]);
        let [lower, upper] = cone.twist;
        if upper.is_finite() {
            f(angle - upper, omega.dot(gradient), gradient, *iv);
        }
        if lower.is_finite() {
            f(-(angle - lower), -omega.dot(gradient), -gradient, *iv);
        }
    }
}

/// The energy stored in springs and stops, in J.
pub fn energy<T: Real>(tree: &Tree, q: &[T], smoothing: &Smoothing) -> T {
    let mut sum = T::zero();
    each(tree, |iq, k| {
        let f = &tree.freedoms[k];
        if let Some(i) = iq {
            let zero = T::zero();
            sum += (q[i] - f.rest).square() * (0.5 * f.stiffness);
            for (limit, sign) in [(f.upper, 1.0), (f.lower, -1.0)] {
                if limit.is_finite() {
                    sum += ((q[i] - limit) * sign).max(zero).square() * (0.5 * smoothing.stop_stiffness);
                }
            }
        }
    });
    each_stop(tree, q, None, |depth, _, _, _| {
        sum += depth.max(T::zero()).square() * (0.5 * smoothing.stop_stiffness);
    });
    sum
}

/// The power turned to heat by damping, friction and stops, in W; never negative.
pub fn dissipation<T: Real>(tree: &Tree, q: &[T], v: &[T], smoothing: &Smoothing) -> T {
    let mut sum = T::zero();
    each(tree, |iq, k| {
        let f = &tree.freedoms[k];
        sum += v[k].square() * f.damping;
        if let (true, Some(slip)) = (f.friction > 0.0, smoothing.slip) {
            sum += v[k] * (v[k] / slip).tanh() * f.friction;
        }
        if let Some(i) = iq {
            let zero = T::zero();
            for (limit, sign) in [(f.upper, 1.0), (f.lower, -1.0)] {
                if limit.is_finite() {
                    let (depth, speed) = ((q[i] - limit) * sign, v[k] * sign);
                    let heat = (push(depth, speed, smoothing) - depth * smoothing.stop_stiffness) * speed;
                    sum += T::select(zero.lt(depth), heat, zero);
                }
            }
        }
    });
    each_stop(tree, q, Some(v), |depth, speed, _, _| {
        let heat = (push(depth, speed, smoothing) - depth * smoothing.stop_stiffness) * speed;
        sum += T::select(T::zero().lt(depth), heat, T::zero());
    });
    sum
}

/// Holds drive forces within their limits.
pub fn saturate<T: Real>(tree: &Tree, tau: &mut [T]) {
    for (tau, f) in tau.iter_mut().zip(&tree.freedoms) {
        if f.effort.is_finite() {
            *tau = tau.min(T::from(f.effort)).max(T::from(-f.effort));
        }
    }
}

/// The velocities whose coordinate or speed is outside its range, with the excess.
pub fn violations(tree: &Tree, q: &[f64], v: &[f64]) -> Vec<(usize, f64)> {
    let mut out = Vec::new();
    each(tree, |iq, k| {
        let f = &tree.freedoms[k];
        let speed = v[k].abs() - f.speed;
        let range = iq.map_or(f64::NEG_INFINITY, |i| (q[i] - f.upper).max(f.lower - q[i]));
        if speed.max(range) > 0.0 {
            out.push((k, speed.max(range)));
        }
    });
    out
}

/// Every velocity with its coordinate, where one number is the coordinate.
fn each(tree: &Tree, mut f: impl FnMut(Option<usize>, usize)) {
    for b in &tree.bodies {
        match b.motion {
            Motion::Spherical | Motion::Free => (b.iv..b.iv + b.motion.velocities()).for_each(|k| f(None, k)),
            _ => f(Some(b.iq), b.iv),
        }
    }
}
