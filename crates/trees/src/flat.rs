//! The motion of a tree as one flat array of numbers, for hosts that keep scratch of bodies in such arrays.
//!
//! After [`fill`] everything that equations of motion ask of a tree is read from the array without further recursions: places,
//! generalised forces of wrenches, inertia, gyroscopic forces, weight, momentum. All vectors have the axes of the world and the
//! origin of their body; loads are those of a body with all after it. The mass matrix is given as carriers that ride on one another
//! (`MassBlock::Carried`), so that a host solves with it at a cost proportional to the number of links.
//!
//! The algorithms are those of [`crate::kinematics`], [`crate::rnea`] and [`crate::aba`]; nothing is allocated.

use crate::kinematics::{FrameMotion, direction, relative};
use crate::placement::place_alone;
use crate::space::{M3, V3, Y3, arm_acceleration};
use crate::tree::{Motion, Tree};
use dalembert_methods::Real;
use dalembert_methods::algebra::MassBlock;
use dalembert_methods::vector::Vec3;

/// Numbers for each moving body.
const STRIDE: usize = 42;
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
/// The moment of a body with all after it.
const SUBTREE: usize = 39;

/// The length of the array.
pub fn length(tree: &Tree) -> usize {
    STRIDE * tree.bodies.len()
}

#[inline(always)]
fn vector<T: Real>(cache: &[T], body: usize, at: usize) -> V3<T> {
    V3::read(&cache[body * STRIDE + at..])
}

#[inline(always)]
fn rotation<T: Real>(cache: &[T], body: usize) -> M3<T> {
    let r = &cache[body * STRIDE + ROTATION..];
    M3 { a: V3::read(r), b: V3::read(&r[3..]), c: V3::read(&r[6..]) }
}

#[inline(always)]
fn inertia<T: Real>(cache: &[T], body: usize) -> Y3<T> {
    let y = &cache[body * STRIDE + INERTIA..];
    Y3 { xx: y[0], xy: y[1], xz: y[2], yy: y[3], yz: y[4], zz: y[5] }
}

#[inline(always)]
fn put<T: Real>(cache: &mut [T], body: usize, at: usize, value: V3<T>) {
    value.write(&mut cache[body * STRIDE + at..]);
}

#[inline(always)]
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
        for (k, column) in [r.a, r.b, r.c].into_iter().enumerate() {
            put(cache, i, ROTATION + 3 * k, column);
        }
        put(cache, i, POSITION, parent.p.plus(arm));
        put(cache, i, OMEGA, w);
        put(cache, i, VELOCITY, parent.w.cross_plus(arm, parent.v.plus(slide)));
        put(cache, i, ALPHA, al);
        put(cache, i, ACCELERATION, a);
    }
    // What each body needs by itself is a pass of its own: bodies do not wait for one another here.
    for (i, b) in tree.bodies.iter().enumerate() {
        let (r, w, al, a) =
            (rotation(cache, i), vector(cache, i, OMEGA), vector(cache, i, ALPHA), vector(cache, i, ACCELERATION));
        let (h, y) = (r.scale(&b.moment), r.congruence(&b.inertia));
        let f = arm_acceleration(w, al).times_plus(h, a.scale(b.mass));
        let n = h.cross_plus(a, w.cross_plus(y.times(w), y.times(al)));
        put(cache, i, MOMENT, h);
        put(cache, i, SUBTREE, h);
        put_inertia(cache, i, &y);
        put(cache, i, FORCE, f);
        put(cache, i, TORQUE, n);
    }
    for (i, b) in tree.bodies.iter().enumerate().rev() {
        let Some(j) = b.parent.checked_sub(1) else { continue };
        let p = vector(cache, i, POSITION).minus(vector(cache, j, POSITION));
        let h = p.scale_plus(b.subtree_mass, vector(cache, i, SUBTREE));
        put(cache, j, SUBTREE, vector(cache, j, SUBTREE).plus(h));
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

/// Writes the inertia as the values of `MassBlock::Carried`, whose parents are [`Tree::velocity_parents`].
pub fn carried<T: Real>(tree: &Tree, cache: &[T], out: &mut [T]) {
    let mut rest = out;
    for (i, b) in tree.bodies.iter().enumerate() {
        let (r, n) = (rotation(cache, i), b.motion.velocities());
        let at = vector(cache, i, POSITION);
        for k in 0..n {
            let (values, after) = rest.split_at_mut(MassBlock::CARRIED);
            let (w, v) = direction(b, &r, b.iv + k);
            let arm = match b.parent.checked_sub(1) {
                Some(j) if k == 0 => at.minus(vector(cache, j, POSITION)),
                _ => V3::zero(),
            };
            arm.write(&mut values[..3]);
            w.write(&mut values[3..6]);
            v.write(&mut values[6..9]);
            values[9] = T::from(b.armature);
            // The last freedom carries the body itself.
            if k + 1 == n {
                values[10] = T::from(b.mass);
                let own = &cache[i * STRIDE + MOMENT..i * STRIDE + MOMENT + 9];
                values[11..20].copy_from_slice(own);
            } else {
                values[10..20].fill(T::zero());
            }
            rest = after;
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
    along(tree, cache, out, |i| (g.scale(tree.bodies[i].subtree_mass), vector(cache, i, SUBTREE).cross(g)));
}

#[inline(always)]
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
        moment = moment.plus(vector(cache, i, POSITION).scale_plus(b.subtree_mass, vector(cache, i, SUBTREE)));
    }
    moment.scale(1.0 / tree.total_mass()).vec()
}

/// Linear momentum, angular momentum about the world origin, and kinetic energy without that of the drives.
pub fn momentum<T: Real>(tree: &Tree, cache: &[T]) -> (Vec3<T>, Vec3<T>, T) {
    let (mut sum, mut angular, mut kinetic) = (V3::zero(), V3::zero(), T::zero());
    for (i, b) in tree.bodies.iter().enumerate() {
        let (h, y) = (vector(cache, i, MOMENT), inertia(cache, i));
        let (w, v) = (vector(cache, i, OMEGA), vector(cache, i, VELOCITY));
        let p = w.cross_plus(h, v.scale(b.mass));
        let l = h.cross_plus(v, y.times(w));
        sum = sum.plus(p);
        angular = vector(cache, i, POSITION).cross_plus(p, angular.plus(l));
        kinetic = v.dot_plus(p, w.dot_plus(l, kinetic));
    }
    (sum.vec(), angular.vec(), kinetic * 0.5)
}
