//! Forces of the joints themselves: damping, dry friction, springs, stops; and the limits of their drives.
//!
//! For each velocity v with coordinate q
//!
//! ```text
//! τ = −d v − μ tanh(v/v_s) − k (q − q₀) − stop,   stop = K [q − upper]₊ + D v inside a stop, and likewise below
//! ```
//!
//! Dry friction is regularised: below the velocity v_s a joint creeps instead of sticking. Joints that must stick belong to the
//! contact machinery of the library. Stops are stiff springs; their damping is never allowed to pull the joint back in.

use crate::tree::{Motion, Tree};
use dalembert_methods::Real;

/// How dry friction and stops are made smooth.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Smoothing {
    /// The velocity below which friction fades, in rad/s or m/s.
    pub slip: f64,
    /// The stiffness of stops, in N m/rad or N/m.
    pub stop_stiffness: f64,
    /// The damping of stops, in N m s/rad or N s/m.
    pub stop_damping: f64,
}

impl Default for Smoothing {
    fn default() -> Self {
        Self { slip: 1e-3, stop_stiffness: 1e4, stop_damping: 1e2 }
    }
}

/// Adds the forces of the joints to `out`.
pub fn forces<T: Real>(tree: &Tree, q: &[T], v: &[T], smoothing: &Smoothing, out: &mut [T]) {
    each(tree, |iq, k| {
        let f = &tree.freedoms[k];
        let mut tau = -(v[k] * f.damping);
        if f.friction > 0.0 {
            tau -= (v[k] / smoothing.slip).tanh() * f.friction;
        }
        if let Some(i) = iq {
            tau -= (q[i] - f.rest) * f.stiffness;
            let zero = T::zero();
            if f.upper.is_finite() {
                let depth = q[i] - f.upper;
                let push = (depth * smoothing.stop_stiffness + v[k] * smoothing.stop_damping).max(zero);
                tau -= T::select(zero.lt(depth), push, zero);
            }
            if f.lower.is_finite() {
                let depth = -(q[i] - f.lower);
                let push = (depth * smoothing.stop_stiffness - v[k] * smoothing.stop_damping).max(zero);
                tau += T::select(zero.lt(depth), push, zero);
            }
        }
        out[k] += tau;
    });
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
    sum
}

/// The power turned to heat by damping, friction and stops, in W; never negative.
pub fn dissipation<T: Real>(tree: &Tree, q: &[T], v: &[T], smoothing: &Smoothing) -> T {
    let mut sum = T::zero();
    each(tree, |iq, k| {
        let f = &tree.freedoms[k];
        sum += v[k].square() * f.damping;
        if f.friction > 0.0 {
            sum += v[k] * (v[k] / smoothing.slip).tanh() * f.friction;
        }
        if let Some(i) = iq {
            let zero = T::zero();
            for (limit, sign) in [(f.upper, 1.0), (f.lower, -1.0)] {
                if limit.is_finite() {
                    let (depth, speed) = ((q[i] - limit) * sign, v[k] * sign);
                    let elastic = depth * smoothing.stop_stiffness;
                    let push = (elastic + speed * smoothing.stop_damping).max(zero);
                    sum += T::select(zero.lt(depth), (push - elastic) * speed, zero);
                }
            }
        }
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
