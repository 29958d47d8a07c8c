//! The motion of a tree as one flat array of numbers, for hosts that keep scratch of bodies in such arrays.
//!
//! After [`fill`] everything that equations of motion ask of a tree is read from the array without further recursions: places,
//! generalised forces of wrenches, mass matrix, gyroscopic forces, weight, momentum. All vectors have the axes of the world and the
//! origin of their body; inertias and loads are those of a body with all after it.
//!
//! The algorithms are those of [`crate::kinematics`], [`crate::crba`] and [`crate::rnea`]; nothing is allocated.

use crate::kinematics::{FrameMotion, direction, relative};
use crate::placement::place_alone;
use crate::space::{M3, V3, Y3, arm_acceleration};
use crate::tree::{Motion, Tree};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;

/// Numbers for each moving body.
const STRIDE: usize = 39;
const ROTATION: usize = 0;
const POSITION: usize = 9;
const OMEGA: usize = 12;
const VELOCITY: usize = 15;
const ALPHA: usize = 18;
const ACCELERATION: usize = 21;
const MOMENT: usize = 24;
const INERTIA: usize = 27;
const FORCE: usize = 33;
const TORQUE: usize = 36;

/// The length of the array.
pub fn length(tree: &Tree) -> usize {
    STRIDE * tree.bodies.len()
}

fn vector<T: Real>(cache: &[T], body: usize, at: usize) -> V3<T> {
    V3::read(&cache[body * STRIDE + at..])
}

fn rotation<T: Real>(cache: &[T], body: usize) -> M3<T> {
    let r = &cache[body * STRIDE + ROTATION..];
    M3 { a: V3::read(r), b: V3::read(&r[3..]), c: V3::read(&r[6..]) }
}

fn inertia<T: Real>(cache: &[T], body: usize) -> Y3<T> {
    let y = &cache[body * STRIDE + INERTIA..];
    Y3 { xx: y[0], xy: y[1], xz: y[2], yy: y[3], yz: y[4], zz: y[5] }
}

fn put<T: Real>(cache: &mut [T], body: usize, at: usize, value: V3<T>) {
    value.write(&mut cache[body * STRIDE + at..]);
}

fn put_inertia<T: Real>(cache: &mut [T], body: usize, y: &Y3<T>) {
    let out = &mut cache[body * STRIDE + INERTIA..][..6];
    out.copy_from_slice(&[y.xx, y.xy, y.xz, y.yy, y.yz, y.zz]);
}

/// Fills the array; accelerations and loads are those at zero accelerations of the joints, without weight.
pub fn fill<T: Real>(tree: &Tree, q: &[T], v: &[T], cache: &mut [T]) {
    let ground =
        FrameZero { r: M3::identity(), p: V3::zero(), w: V3::zero(), v: V3::zero(), al: V3::zero(), a: V3::zero() };
    for (i, b) in tree.bodies.iter().enumerate() {
        let parent = match b.parent.checked_sub(1) {
            None => ground,
            Some(j) => FrameZero {
                r: rotation(cache, j),
                p: vector(cache, j, POSITION),
                w: vector(cache, j, OMEGA),
                v: vector(cache, j, VELOCITY),
                al: vector(cache, j, ALPHA),
                a: vector(cache, j, ACCELERATION),
            },
        };
        let place = place_alone(b, q);
        let r = parent.r.product(&place.r);
        let arm = parent.r.times(place.p);
        let (spin, slide) = relative(b, &r, v);
        let w = parent.w.plus(spin);
        let al = parent.w.cross_plus(spin, parent.al);
        let twice = if b.motion == Motion::Free { parent.w.plus(w) } else { parent.w.plus(parent.w) };
        let turned = arm_acceleration(parent.w, parent.al).times_plus(arm, parent.a);
        let a = twice.cross_plus(slide, turned);
        let (h, y) = (r.scale(&b.moment), r.congruence(&b.inertia));
        let f = arm_acceleration(w, al).times_plus(h, a.scale(b.mass));
        let n = h.cross_plus(a, w.cross_plus(y.times(w), y.times(al)));
        for (k, column) in [r.a, r.b, r.c].into_iter().enumerate() {
            put(cache, i, ROTATION + 3 * k, column);
        }
        put(cache, i, POSITION, parent.p.plus(arm));
        put(cache, i, OMEGA, w);
        put(cache, i, VELOCITY, parent.w.cross_plus(arm, parent.v.plus(slide)));
        put(cache, i, ALPHA, al);
        put(cache, i, ACCELERATION, a);
        put(cache, i, MOMENT, h);
        put_inertia(cache, i, &y);
        put(cache, i, FORCE, f);
        put(cache, i, TORQUE, n);
    }
    for (i, b) in tree.bodies.iter().enumerate().rev() {
        let Some(j) = b.parent.checked_sub(1) else { continue };
        let p = vector(cache, i, POSITION).minus(vector(cache, j, POSITION));
        let (h, y) = (vector(cache, i, MOMENT), inertia(cache, i));
        let (shifted, grown) = shift(&y, h, p, b.subtree_mass);
        put(cache, j, MOMENT, vector(cache, j, MOMENT).plus(shifted));
        let sum = inertia(cache, j).plus(&grown);
        put_inertia(cache, j, &sum);
        let f = vector(cache, i, FORCE);
        put(cache, j, FORCE, vector(cache, j, FORCE).plus(f));
        let n = p.cross_plus(f, vector(cache, i, TORQUE).plus(vector(cache, j, TORQUE)));
        put(cache, j, TORQUE, n);
    }
}

#[derive(Copy, Clone)]
struct FrameZero<T> {
    r: M3<T>,
    p: V3<T>,
    w: V3<T>,
    v: V3<T>,
    al: V3<T>,
    a: V3<T>,
}

/// Moment and inertia about an origin at −p: h' = h + m p, I' = I + (h'·p + h·p) 1 − h pᵀ − p h'ᵀ.
fn shift<T: Real>(y: &Y3<T>, own: V3<T>, p: V3<T>, mass: f64) -> (V3<T>, Y3<T>) {
    let h = p.scale_plus(mass, own);
    let t = h.dot_plus(p, own.dot(p));
    let moved = Y3 {
        xx: own.x.mul_from(p.x, p.x.mul_from(h.x, y.xx + t)),
        yy: own.y.mul_from(p.y, p.y.mul_from(h.y, y.yy + t)),
        zz: own.z.mul_from(p.z, p.z.mul_from(h.z, y.zz + t)),
        xy: own.x.mul_from(p.y, p.x.mul_from(h.y, y.xy)),
        xz: own.x.mul_from(p.z, p.x.mul_from(h.z, y.xz)),
        yz: own.y.mul_from(p.z, p.y.mul_from(h.z, y.yz)),
    };
    (h, moved)
}

/// The motion of a moving body; accelerations are those at zero accelerations of the joints.
pub fn body<T: Real>(cache: &[T], body: usize) -> FrameMotion<T> {
    FrameMotion {
        rotation: rotation(cache, body).mat(),
        position: vector(cache, body, POSITION).vec(),
        omega: vector(cache, body, OMEGA).vec(),
        velocity: vector(cache, body, VELOCITY).vec(),
        alpha: vector(cache, body, ALPHA).vec(),
        acceleration: vector(cache, body, ACCELERATION).vec(),
    }
}

/// Adds the generalised force of a force and a torque at a point of the world on a moving body.
pub fn pull_back<T: Real>(
    tree: &Tree,
    cache: &[T],
    body: usize,
    point: Vec3<T>,
    force: Vec3<T>,
    torque: Vec3<T>,
    out: &mut [T],
) {
    let (at, f, n) = (V3::from(point), V3::from(force), V3::from(torque));
    let mut next = Some(body);
    while let Some(i) = next {
        let b = &tree.bodies[i];
        let (r, p) = (rotation(cache, i), vector(cache, i, POSITION));
        let about = at.minus(p).cross_plus(f, n);
        for k in b.iv..b.iv + b.motion.velocities() {
            let (w, v) = direction(b, &r, k);
            out[k] += v.dot(f) + w.dot(about);
        }
        next = b.parent.checked_sub(1);
    }
}

/// Writes the full mass matrix by rows.
pub fn mass<T: Real>(tree: &Tree, cache: &[T], out: &mut [T]) {
    let n = tree.nv;
    out.fill(T::zero());
    for (i, b) in tree.bodies.iter().enumerate() {
        let (r, h, y) = (rotation(cache, i), vector(cache, i, MOMENT), inertia(cache, i));
        for k in b.iv..b.iv + b.motion.velocities() {
            let (w, v) = direction(b, &r, k);
            let f = w.cross_plus(h, v.scale(b.subtree_mass));
            let mut torque = h.cross_plus(v, y.times(w));
            let (mut j, mut at) = (i, vector(cache, i, POSITION));
            loop {
                let body = &tree.bodies[j];
                let axes = rotation(cache, j);
                for l in body.iv..(body.iv + body.motion.velocities()).min(k + 1) {
                    let (w, v) = direction(body, &axes, l);
                    let x = w.dot(torque) + v.dot(f);
                    out[k * n + l] = x;
                    out[l * n + k] = x;
                }
                let Some(before) = body.parent.checked_sub(1) else { break };
                let origin = vector(cache, before, POSITION);
                torque = at.minus(origin).cross_plus(f, torque);
                (j, at) = (before, origin);
            }
            out[k * n + k] = out[k * n + k] + b.armature;
        }
    }
}

/// Adds minus the load at zero accelerations: centrifugal and gyroscopic forces.
pub fn gyroscopic<T: Real>(tree: &Tree, cache: &[T], out: &mut [T]) {
    along(tree, cache, out, |i| (vector(cache, i, FORCE).negative(), vector(cache, i, TORQUE).negative()));
}

/// Adds the weight in a uniform field.
pub fn weight<T: Real>(tree: &Tree, cache: &[T], gravity: Vec3<T>, out: &mut [T]) {
    let g = V3::from(gravity);
    along(tree, cache, out, |i| (g.scale(tree.bodies[i].subtree_mass), vector(cache, i, MOMENT).cross(g)));
}

fn along<T: Real>(tree: &Tree, cache: &[T], out: &mut [T], load: impl Fn(usize) -> (V3<T>, V3<T>)) {
    for (i, b) in tree.bodies.iter().enumerate() {
        let (f, n) = load(i);
        let r = rotation(cache, i);
        for k in b.iv..b.iv + b.motion.velocities() {
            let (w, v) = direction(b, &r, k);
            out[k] += v.dot(f) + w.dot(n);
        }
    }
}

/// The centre of mass of all moving bodies.
pub fn centre<T: Real>(tree: &Tree, cache: &[T]) -> Vec3<T> {
    let mut moment = V3::zero();
    for (i, b) in tree.bodies.iter().enumerate().filter(|(_, b)| b.parent == 0) {
        moment = moment.plus(vector(cache, i, POSITION).scale_plus(b.subtree_mass, vector(cache, i, MOMENT)));
    }
    moment.scale(1.0 / tree.total_mass()).vec()
}

/// Linear momentum, angular momentum about the world origin, and kinetic energy without that of the drives.
pub fn momentum<T: Real>(tree: &Tree, cache: &[T]) -> (Vec3<T>, Vec3<T>, T) {
    let (mut sum, mut angular, mut kinetic) = (V3::zero(), V3::zero(), T::zero());
    for (i, b) in tree.bodies.iter().enumerate() {
        let r = rotation(cache, i);
        let (h, y) = (r.scale(&b.moment), r.congruence(&b.inertia));
        let (w, v) = (vector(cache, i, OMEGA), vector(cache, i, VELOCITY));
        let p = w.cross_plus(h, v.scale(b.mass));
        let l = h.cross_plus(v, y.times(w));
        sum = sum.plus(p);
        angular = vector(cache, i, POSITION).cross_plus(p, angular.plus(l));
        kinetic = v.dot_plus(p, w.dot_plus(l, kinetic));
    }
    (sum.vec(), angular.vec(), kinetic * 0.5)
}
