//! Inverse dynamics by the recursive Newton–Euler algorithm: τ = M(q) a + k(q, v) − Jᵀ f_ext.
//!
//! Classical form in the axes of each body: with W = α̂ + ω̂ω̂ the acceleration of the point x of a body is a + W x, so that with
//! mass m, moment h = m c and J = ∫ x xᵀ dm the body needs the force f = m a + W h and the torque
//! n = vee(W J − (W J)ᵀ) + h × a about its origin. No linear velocities are needed. Gravity enters as an acceleration of the
//! ground, −g.
//!
//! References: \[1\] Luh, Walker, Paul: On-line computational scheme for mechanical manipulators, J. Dyn. Sys. Meas. Control 102
//! (1980); \[2\] Featherstone: Rigid body dynamics algorithms, 2008, ch. 5; \[3\] Schiehlen, Computational dynamics, eq. (25)–(31).

use crate::placement::{Placement, Placements};
use crate::space::{M3, V3, arm_acceleration, cross_axis, plus_axis, v3};
use crate::tree::{Body, Motion, Tree, Wrench};
use dalembert_methods::Real;

/// Angular velocity, angular acceleration and acceleration of the origin, in the axes of the body.
#[derive(Copy, Clone, Debug)]
struct Moving<T> {
    w: V3<T>,
    al: V3<T>,
    a: V3<T>,
    arm: M3<T>,
}

#[derive(Copy, Clone, Debug)]
struct Load<T> {
    f: V3<T>,
    n: V3<T>,
}

/// Scratch of [`rnea`].
#[derive(Clone, Debug)]
pub struct Work<T> {
    placements: Placements<T>,
    moving: Vec<Moving<T>>,
    loads: Vec<Load<T>>,
}

impl<T: Real> Work<T> {
    /// Scratch for this tree.
    pub fn new(tree: &Tree) -> Self {
        let (o, n) = (V3::zero(), tree.bodies.len());
        Self {
            placements: Placements::new(tree),
            moving: vec![Moving { w: o, al: o, a: o, arm: M3::zero() }; n + 1],
            loads: vec![Load { f: o, n: o }; n + 1],
        }
    }

    /// The force and the torque about its origin that the joint before moving body `body` transmits, in the axes of the body:
    /// the constraint forces together with τ. Valid after [`rnea`].
    pub fn transmitted(&self, body: usize) -> Wrench<T> {
        let load = &self.loads[body + 1];
        Wrench { force: load.f.vec(), torque: load.n.vec() }
    }
}

/// The generalised forces `tau` for the accelerations `a`; `external` holds a wrench for every moving body, or nothing.
#[inline(always)]
pub fn rnea<T: Real>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    a: &[T],
    external: &[Wrench<T>],
    work: &mut Work<T>,
    tau: &mut [T],
) {
    passes::<T, false>(tree, q, v, a, external, work, tau);
}

/// The passes of [`rnea`]. `LATE` puts the loads of the bodies into the backward pass, which is faster for one state at a time;
/// lanes prefer them at the end of the forward pass.
#[inline(always)]
pub(crate) fn passes<T: Real, const LATE: bool>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    a: &[T],
    external: &[Wrench<T>],
    work: &mut Work<T>,
    tau: &mut [T],
) {
    let n = tree.bodies.len();
    assert!(q.len() == tree.nq && v.len() == tree.nv && a.len() == tree.nv && tau.len() == tree.nv);
    assert!(external.is_empty() || external.len() == n);
    assert!(work.moving.len() == n + 1 && work.loads.len() == n + 1 && work.placements.at.len() == n);
    work.placements.compute(tree, q);
    let zero = Load { f: V3::zero(), n: V3::zero() };
    work.loads[0] = zero;
    work.moving[0].a = V3::constant(&tree.gravity).negative();
    for (i, (b, place)) in tree.bodies.iter().zip(&work.placements.at).enumerate() {
        let (before, rest) = work.moving.split_at_mut(i + 1);
        let me = moved(b, place, &before[b.parent], v, a);
        work.loads[i + 1] = if LATE { zero } else { load(b, &me) };
        rest[0] = me;
    }
    for (load, wrench) in work.loads[1..].iter_mut().zip(external) {
        load.f = load.f.minus(wrench.force.into());
        load.n = load.n.minus(wrench.torque.into());
    }
    for (i, (b, place)) in tree.bodies.iter().zip(&work.placements.at).enumerate().rev() {
        let (before, rest) = work.loads.split_at_mut(i + 1);
        let (parent, mut me) = (&mut before[b.parent], rest[0]);
        if LATE {
            let own = load(b, &work.moving[i + 1]);
            me = Load { f: me.f.plus(own.f), n: me.n.plus(own.n) };
            rest[0] = me;
        }
        project(b, &me, a, tau);
        let f = place.r.times(me.f);
        parent.f = parent.f.plus(f);
        parent.n = place.p.cross_plus(f, place.r.times_plus(me.n, parent.n));
    }
}

/// The motion of a body from that of the one before.
#[inline(always)]
fn moved<T: Real>(b: &Body, place: &Placement<T>, parent: &Moving<T>, v: &[T], a: &[T]) -> Moving<T> {
    let i = b.iv;
    let r = &place.r;
    let w = r.transpose_times(parent.w);
    let al = r.transpose_times(parent.al);
    let acc = r.transpose_times(parent.arm.times_plus(place.p, parent.a));
    let (w, al, a) = match b.motion {
        Motion::RevoluteX => turning::<0, T>(w, al, acc, v[i], a[i]),
        Motion::RevoluteY => turning::<1, T>(w, al, acc, v[i], a[i]),
        Motion::RevoluteZ => turning::<2, T>(w, al, acc, v[i], a[i]),
        Motion::Revolute => {
            let u = V3::constant(&b.axis);
            let spin = u.times(v[i]);
            (w.plus(spin), w.cross_plus(spin, u.times_plus(a[i], al)), acc)
        }
        Motion::PrismaticX => (w, al, plus_axis::<0, T>(acc.plus(cross_axis::<0, T>(w, v[i] + v[i])), a[i])),
        Motion::PrismaticY => (w, al, plus_axis::<1, T>(acc.plus(cross_axis::<1, T>(w, v[i] + v[i])), a[i])),
        Motion::PrismaticZ => (w, al, plus_axis::<2, T>(acc.plus(cross_axis::<2, T>(w, v[i] + v[i])), a[i])),
        Motion::Prismatic => {
            let u = V3::constant(&b.axis);
            (w, al, w.cross_plus(u.times(v[i] + v[i]), u.times_plus(a[i], acc)))
        }
        Motion::Helical => {
            let u = V3::constant(&b.axis);
            let (spin, slide) = (u.times(v[i]), u.times((v[i] + v[i]) * b.pitch));
            let acc = w.cross_plus(slide, u.times_plus(a[i] * b.pitch, acc));
            (w.plus(spin), w.cross_plus(spin, u.times_plus(a[i], al)), acc)
        }
        Motion::Spherical => {
            let spin = V3::read(&v[i..i + 3]);
            (w.plus(spin), w.cross_plus(spin, al.plus(V3::read(&a[i..i + 3]))), acc)
        }
        Motion::Free => {
            let (speed, spin) = (V3::read(&v[i..i + 3]), V3::read(&v[i + 3..i + 6]));
            let (pull, turn) = (V3::read(&a[i..i + 3]), V3::read(&a[i + 3..i + 6]));
            // The derivative of R v in the axes of the body: v̇ + ω_rel × v, and the Coriolis part 2 ω × v.
            let acc = w.plus(w).plus(spin).cross_plus(speed, acc.plus(pull));
            (w.plus(spin), w.cross_plus(spin, al.plus(turn)), acc)
        }
    };
    Moving { w, al, a, arm: arm_acceleration(w, al) }
}

#[inline(always)]
fn turning<const A: usize, T: Real>(w: V3<T>, al: V3<T>, acc: V3<T>, v: T, a: T) -> (V3<T>, V3<T>, V3<T>) {
    (plus_axis::<A, T>(w, v), al.plus(plus_axis::<A, T>(cross_axis::<A, T>(w, v), a)), acc)
}

/// The force and torque that the motion of the body needs.
#[inline(always)]
fn load<T: Real>(b: &Body, k: &Moving<T>) -> Load<T> {
    let (w, y) = (&k.arm, &b.pseudo);
    let f = w.scale_plus(&b.moment, k.a.scale(b.mass));
    // Rows of W J by columns of J: only the skew part is needed.
    let (jx, jy, jz) = (v3(y.xx, y.xy, y.xz), v3(y.xy, y.yy, y.yz), v3(y.xz, y.yz, y.zz));
    let (rx, ry, rz) = (w.row_x(), w.row_y(), w.row_z());
    let n = v3(
        rz.dot_constant(&jy) - ry.dot_constant(&jz),
        rx.dot_constant(&jz) - rz.dot_constant(&jx),
        ry.dot_constant(&jx) - rx.dot_constant(&jy),
    );
    Load { f, n: V3::constant(&b.moment).cross_plus(k.a, n) }
}

/// The part of the transmitted load along the freedoms of the joint, and what the drive itself needs.
#[inline(always)]
fn project<T: Real>(b: &Body, me: &Load<T>, a: &[T], tau: &mut [T]) {
    let i = b.iv;
    match b.motion {
        Motion::RevoluteX => tau[i] = a[i].scale_plus(b.armature, me.n.x),
        Motion::RevoluteY => tau[i] = a[i].scale_plus(b.armature, me.n.y),
        Motion::RevoluteZ => tau[i] = a[i].scale_plus(b.armature, me.n.z),
        Motion::Revolute => tau[i] = a[i].scale_plus(b.armature, me.n.dot_constant(&b.axis)),
        Motion::PrismaticX => tau[i] = a[i].scale_plus(b.armature, me.f.x),
        Motion::PrismaticY => tau[i] = a[i].scale_plus(b.armature, me.f.y),
        Motion::PrismaticZ => tau[i] = a[i].scale_plus(b.armature, me.f.z),
        Motion::Prismatic => tau[i] = a[i].scale_plus(b.armature, me.f.dot_constant(&b.axis)),
        Motion::Helical => {
            let along = me.f.dot_constant(&b.axis).scale_plus(b.pitch, me.n.dot_constant(&b.axis));
            tau[i] = a[i].scale_plus(b.armature, along);
        }
        Motion::Spherical => V3::read(&a[i..i + 3]).scale_plus(b.armature, me.n).write(&mut tau[i..i + 3]),
        Motion::Free => {
            me.f.write(&mut tau[i..i + 3]);
            me.n.write(&mut tau[i + 3..i + 6]);
        }
    }
}
