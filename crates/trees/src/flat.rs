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
use crate::tree::{Body, Motion, Tree};
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

/// The numbers of one body.
type Numbers<T> = [T; STRIDE];

/// The array, cut into the numbers of bodies, whose constant indices need no checks.
#[inline(always)]
fn cut<T>(cache: &[T]) -> &[Numbers<T>] {
    cache.as_chunks().0
}

#[inline(always)]
fn vector<T: Real>(n: &Numbers<T>, at: usize) -> V3<T> {
    V3 { x: n[at], y: n[at + 1], z: n[at + 2] }
}

#[inline(always)]
fn rotation<T: Real>(n: &Numbers<T>) -> M3<T> {
    M3 { a: vector(n, ROTATION), b: vector(n, ROTATION + 3), c: vector(n, ROTATION + 6) }
}

#[inline(always)]
fn inertia<T: Real>(n: &Numbers<T>) -> Y3<T> {
    const Y: usize = INERTIA;
    Y3 { xx: n[Y], xy: n[Y + 1], xz: n[Y + 2], yy: n[Y + 3], yz: n[Y + 4], zz: n[Y + 5] }
}

#[inline(always)]
fn put<T: Real>(n: &mut Numbers<T>, at: usize, value: V3<T>) {
    (n[at], n[at + 1], n[at + 2]) = (value.x, value.y, value.z);
}

#[inline(always)]
fn put_inertia<T: Real>(n: &mut Numbers<T>, y: &Y3<T>) {
    n[INERTIA..INERTIA + 6].copy_from_slice(&[y.xx, y.xy, y.xz, y.yy, y.yz, y.zz]);
}

/// Fills the array; accelerations and loads are those at zero accelerations of the joints, without weight.
pub fn fill<T: Real>(tree: &Tree, q: &[T], v: &[T], cache: &mut [T]) {
    let all = cache.as_chunks_mut().0;
    let ground =
        FrameZero { r: M3::identity(), p: V3::zero(), w: V3::zero(), v: V3::zero(), al: V3::zero(), a: V3::zero() };
    for (i, b) in tree.bodies.iter().enumerate() {
        let (before, me) = all.split_at_mut(i);
        let parent = match b.parent.checked_sub(1) {
            None => ground,
            Some(j) => FrameZero {
                r: rotation(&before[j]),
                p: vector(&before[j], POSITION),
                w: vector(&before[j], OMEGA),
                v: vector(&before[j], VELOCITY),
                al: vector(&before[j], ALPHA),
                a: vector(&before[j], ACCELERATION),
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
        let me = &mut me[0];
        for (k, column) in [r.a, r.b, r.c].into_iter().enumerate() {
            put(me, ROTATION + 3 * k, column);
        }
        put(me, POSITION, parent.p.plus(arm));
        put(me, OMEGA, w);
        put(me, VELOCITY, parent.w.cross_plus(arm, parent.v.plus(slide)));
        put(me, ALPHA, al);
        put(me, ACCELERATION, a);
    }
    // What each body needs by itself is a pass of its own: bodies do not wait for one another here.
    for (b, me) in tree.bodies.iter().zip(&mut *all) {
        let (r, w, al, a) = (rotation(me), vector(me, OMEGA), vector(me, ALPHA), vector(me, ACCELERATION));
        let (h, y) = (r.scale(&b.moment), r.congruence(&b.inertia));
        let f = arm_acceleration(w, al).times_plus(h, a.scale(b.mass));
        let n = h.cross_plus(a, w.cross_plus(y.times(w), y.times(al)));
        put(me, MOMENT, h);
        put(me, SUBTREE, h);
        put_inertia(me, &y);
        put(me, FORCE, f);
        put(me, TORQUE, n);
    }
    for (i, b) in tree.bodies.iter().enumerate().rev() {
        let Some(j) = b.parent.checked_sub(1) else { continue };
        let (before, me) = all.split_at_mut(i);
        let (me, parent) = (&me[0], &mut before[j]);
        let p = vector(me, POSITION).minus(vector(parent, POSITION));
        let h = p.scale_plus(b.subtree_mass, vector(me, SUBTREE));
        put(parent, SUBTREE, vector(parent, SUBTREE).plus(h));
        let f = vector(me, FORCE);
        put(parent, FORCE, vector(parent, FORCE).plus(f));
        let n = p.cross_plus(f, vector(me, TORQUE).plus(vector(parent, TORQUE)));
        put(parent, TORQUE, n);
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
    let n = &cut(cache)[body];
    FrameMotion {
        rotation: rotation(n).mat(),
        position: vector(n, POSITION).vec(),
        omega: vector(n, OMEGA).vec(),
        velocity: vector(n, VELOCITY).vec(),
        alpha: vector(n, ALPHA).vec(),
        acceleration: vector(n, ACCELERATION).vec(),
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
    let all = cut(cache);
    let mut next = Some(body);
    while let Some(i) = next {
        let b = &tree.bodies[i];
        let (r, p) = (rotation(&all[i]), vector(&all[i], POSITION));
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
    let all = cut(cache);
    let mut rest = out.as_chunks_mut::<{ MassBlock::CARRIED }>().0.iter_mut();
    for (b, me) in tree.bodies.iter().zip(all) {
        let (r, n) = (rotation(me), b.motion.velocities());
        let at = vector(me, POSITION);
        for (k, values) in rest.by_ref().take(n).enumerate() {
            let (w, v) = direction(b, &r, b.iv + k);
            let arm = match b.parent.checked_sub(1) {
                Some(j) if k == 0 => at.minus(vector(&all[j], POSITION)),
                _ => V3::zero(),
            };
            arm.write(&mut values[..3]);
            w.write(&mut values[3..6]);
            v.write(&mut values[6..9]);
            values[9] = T::from(b.armature);
            // The last freedom carries the body itself.
            if k + 1 == n {
                values[10] = T::from(b.mass);
                values[11..20].copy_from_slice(&me[MOMENT..MOMENT + 9]);
            } else {
                values[10..20].fill(T::zero());
            }
        }
    }
}

/// Adds minus the load at zero accelerations: centrifugal and gyroscopic forces.
pub fn gyroscopic<T: Real>(tree: &Tree, cache: &[T], out: &mut [T]) {
    along(tree, cache, out, |_, me| (vector(me, FORCE).negative(), vector(me, TORQUE).negative()));
}

/// Adds the weight in a uniform field.
pub fn weight<T: Real>(tree: &Tree, cache: &[T], gravity: Vec3<T>, out: &mut [T]) {
    let g = V3::from(gravity);
    along(tree, cache, out, |b, me| (g.scale(b.subtree_mass), vector(me, SUBTREE).cross(g)));
}

#[inline(always)]
fn along<T: Real>(tree: &Tree, cache: &[T], out: &mut [T], load: impl Fn(&Body, &Numbers<T>) -> (V3<T>, V3<T>)) {
    for (b, me) in tree.bodies.iter().zip(cut(cache)) {
        let (f, n) = load(b, me);
        let r = rotation(me);
        for k in b.iv..b.iv + b.motion.velocities() {
            let (w, v) = direction(b, &r, k);
            out[k] += v.dot(f) + w.dot(n);
        }
    }
}

/// The centre of mass of all moving bodies.
pub fn centre<T: Real>(tree: &Tree, cache: &[T]) -> Vec3<T> {
    let mut moment = V3::zero();
    for (b, me) in tree.bodies.iter().zip(cut(cache)).filter(|(b, _)| b.parent == 0) {
        moment = moment.plus(vector(me, POSITION).scale_plus(b.subtree_mass, vector(me, SUBTREE)));
    }
    moment.scale(1.0 / tree.total_mass()).vec()
}

/// Linear momentum, angular momentum about the world origin, and kinetic energy without that of the drives.
pub fn momentum<T: Real>(tree: &Tree, cache: &[T]) -> (Vec3<T>, Vec3<T>, T) {
    let (mut sum, mut angular, mut kinetic) = (V3::zero(), V3::zero(), T::zero());
    for (b, me) in tree.bodies.iter().zip(cut(cache)) {
        let (h, y) = (vector(me, MOMENT), inertia(me));
        let (w, v) = (vector(me, OMEGA), vector(me, VELOCITY));
        let p = w.cross_plus(h, v.scale(b.mass));
        let l = h.cross_plus(v, y.times(w));
        sum = sum.plus(p);
        angular = vector(me, POSITION).cross_plus(p, angular.plus(l));
        kinetic = v.dot_plus(p, w.dot_plus(l, kinetic));
    }
    (sum.vec(), angular.vec(), kinetic * 0.5)
}
