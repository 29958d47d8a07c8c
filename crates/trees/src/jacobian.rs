//! Jacobians of points and frames, and their rates.
//!
//! The Jacobian of a frame maps velocities to the velocity of its origin and its angular velocity, in the axes of the world:
//! six rows (linear first), one column for each velocity.

use crate::kinematics::{Work, direction};
use crate::space::V3;
use crate::tree::Tree;
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;

/// Writes the 6 × n Jacobian, by rows, of the point of moving body `body` that is now at `point` of the world; after
/// [`crate::kinematics::kinematics`].
#[inline(always)]
pub fn jacobian<T: Real>(tree: &Tree, work: &Work<T>, body: Option<usize>, point: Vec3<T>, out: &mut [T]) {
    clear(tree, out);
    let at = V3::from(point);
    each(tree, body, |i, k| {
        let s = &work.states[i + 1];
        let (w, v) = direction(&tree.bodies[i], &s.r, k);
        put(tree, k, w.cross_plus(at.minus(s.p), v), w, out);
    });
}

/// Writes the rate of that Jacobian as the point moves with its body.
#[inline(always)]
pub fn jacobian_rate<T: Real>(tree: &Tree, work: &Work<T>, body: Option<usize>, point: Vec3<T>, out: &mut [T]) {
    clear(tree, out);
    let at = V3::from(point);
    let own = &work.states[body.map_or(0, |b| b + 1)];
    let velocity = own.w.cross_plus(at.minus(own.p), own.v);
    each(tree, body, |i, k| {
        let s = &work.states[i + 1];
        let (w, v) = direction(&tree.bodies[i], &s.r, k);
        // Every direction is fixed in its body, so its rate is ω × direction.
        let (dw, dv) = (s.w.cross(w), s.w.cross(v));
        let linear = dw.cross_plus(at.minus(s.p), w.cross_plus(velocity.minus(s.v), dv));
        put(tree, k, linear, dw, out);
    });
}

/// Adds Jᵀ (force; torque) to `out`, for a wrench at a point of the world on moving body `body`.
#[inline(always)]
pub fn pull_back<T: Real>(
    tree: &Tree,
    work: &Work<T>,
    body: Option<usize>,
    point: Vec3<T>,
    force: Vec3<T>,
    torque: Vec3<T>,
    out: &mut [T],
) {
    let (at, f, n) = (V3::from(point), V3::from(force), V3::from(torque));
    each(tree, body, |i, k| {
        let s = &work.states[i + 1];
        let (w, v) = direction(&tree.bodies[i], &s.r, k);
        out[k] += v.dot(f) + w.dot(at.minus(s.p).cross_plus(f, n));
    });
}

#[inline(always)]
fn each(tree: &Tree, body: Option<usize>, mut f: impl FnMut(usize, usize)) {
    let mut at = body;
    while let Some(i) = at {
        let b = &tree.bodies[i];
        for k in b.iv..b.iv + b.motion.velocities() {
            f(i, k);
        }
        at = b.parent.checked_sub(1);
    }
}

#[inline(always)]
fn clear<T: Real>(tree: &Tree, out: &mut [T]) {
    assert!(out.len() == 6 * tree.nv);
    for x in out.iter_mut() {
        *x = T::zero();
    }
}

#[inline(always)]
fn put<T: Real>(tree: &Tree, k: usize, linear: V3<T>, angular: V3<T>, out: &mut [T]) {
    for (row, x) in [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z].into_iter().enumerate() {
        out[row * tree.nv + k] = x;
    }
}
