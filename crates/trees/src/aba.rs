//! Forward dynamics by the articulated-body algorithm: the accelerations for given forces, at a cost proportional to the number
//! of links.
//!
//! All vectors have the axes of the world, and the origin of their own body, so that articulated inertias are shifted but never
//! turned. The forces are first found for zero accelerations of the joints (as in [`crate::rnea`]); only the difference is
//! solved for, which saves the bias accelerations.
//!
//! With articulated inertia (A, H; Hᵀ, M) about the origin of a body (torque; force) = (A α + H a; Hᵀ α + M a), joint directions
//! S and drive inertia: D = Sᵀ I S + armature, u = τ − Sᵀ f, and the body before receives I − I S D⁻¹ Sᵀ I and f + I S D⁻¹ u.
//!
//! References: \[1\] Featherstone: Rigid body dynamics algorithms, 2008, ch. 7; \[2\] Schiehlen, Computational dynamics, eq. (39).

use crate::placement::Placements;
use crate::space::{M3, V3, Y3, arm_acceleration, v3};
use crate::tree::{Body, Motion, Tree, Wrench};
use dalembert_methods::Real;

#[derive(Copy, Clone, Debug)]
pub(crate) struct Articulated<T> {
    pub r: M3<T>,
    /// The origin seen from that of the body before.
    p: V3<T>,
    axis: V3<T>,
    w: V3<T>,
    al: V3<T>,
    arm: M3<T>,
    a: V3<T>,
    pub ia: Y3<T>,
    pub ih: M3<T>,
    pub im: Y3<T>,
    n: V3<T>,
    f: V3<T>,
    /// I S for simple joints; D⁻¹ u (angular, linear) for others.
    pub ua: V3<T>,
    pub ul: V3<T>,
    pub pivot: T,
    u: T,
    da: V3<T>,
    dl: V3<T>,
}

/// Scratch of [`aba`].
#[derive(Clone, Debug)]
pub struct Work<T> {
    pub(crate) placements: Placements<T>,
    pub(crate) bodies: Vec<Articulated<T>>,
}

impl<T: Real> Work<T> {
    /// Scratch for this tree.
    pub fn new(tree: &Tree) -> Self {
        let (o, m, y, k) = (V3::zero(), M3::zero(), Y3::zero(), T::zero());
        let ground = Articulated {
            r: M3::identity(),
            p: o,
            axis: o,
            w: o,
            al: o,
            arm: m,
            a: o,
            ia: y,
            ih: m,
            im: y,
            n: o,
            f: o,
            ua: o,
            ul: o,
            pivot: k,
            u: k,
            da: o,
            dl: o,
        };
        Self { placements: Placements::new(tree), bodies: vec![ground; tree.bodies.len() + 1] }
    }
}

/// The accelerations `out` under the generalised forces `tau`; `external` holds a wrench for every moving body, or nothing.
#[inline(always)]
pub fn aba<T: Real>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    tau: &[T],
    external: &[Wrench<T>],
    work: &mut Work<T>,
    out: &mut [T],
) {
    let n = tree.bodies.len();
    assert!(q.len() == tree.nq && v.len() == tree.nv && tau.len() == tree.nv && out.len() == tree.nv);
    assert!(external.is_empty() || external.len() == n);
    assert!(work.bodies.len() == n + 1 && work.placements.at.len() == n);
    work.placements.compute(tree, q);
    work.bodies[0].a = V3::constant(&tree.gravity).negative();
    for (i, (b, place)) in tree.bodies.iter().zip(&work.placements.at).enumerate() {
        let (before, rest) = work.bodies.split_at_mut(i + 1);
        let (parent, me) = (&before[b.parent], &mut rest[0]);
        me.r = parent.r.product(&place.r);
        me.p = parent.r.times(place.p);
        forward(b, parent, me, v);
    }
    for (b, me) in tree.bodies.iter().zip(&mut work.bodies[1..]) {
        own(b, me);
    }
    for (me, wrench) in work.bodies[1..].iter_mut().zip(external) {
        me.f = me.f.minus(me.r.times(wrench.force.into()));
        me.n = me.n.minus(me.r.times(wrench.torque.into()));
    }
    for (i, b) in tree.bodies.iter().enumerate().rev() {
        let (before, rest) = work.bodies.split_at_mut(i + 1);
        backward(b, &mut before[b.parent], &mut rest[0], tau);
    }
    for (i, b) in tree.bodies.iter().enumerate() {
        let (before, rest) = work.bodies.split_at_mut(i + 1);
        solve(b, &before[b.parent], &mut rest[0], out);
    }
}

/// Velocities, and accelerations at zero accelerations of the joints.
#[inline(always)]
fn forward<T: Real>(b: &Body, parent: &Articulated<T>, me: &mut Articulated<T>, v: &[T]) {
    let i = b.iv;
    let r = &me.r;
    let acc = parent.arm.times_plus(me.p, parent.a);
    let (w, al) = (parent.w, parent.al);
    match b.motion {
        Motion::RevoluteX => turn(me, r.a, v[i], w, al, acc),
        Motion::RevoluteY => turn(me, r.b, v[i], w, al, acc),
        Motion::RevoluteZ => turn(me, r.c, v[i], w, al, acc),
        Motion::Revolute => turn(me, r.scale(&b.axis), v[i], w, al, acc),
        Motion::PrismaticX => slide(me, r.a, v[i], w, al, acc),
        Motion::PrismaticY => slide(me, r.b, v[i], w, al, acc),
        Motion::PrismaticZ => slide(me, r.c, v[i], w, al, acc),
        Motion::Prismatic => slide(me, r.scale(&b.axis), v[i], w, al, acc),
        Motion::Helical => {
            let axis = r.scale(&b.axis);
            let acc = w.plus(w).cross_plus(axis.times(v[i] * b.pitch), acc);
            turn(me, axis, v[i], w, al, acc);
        }
        Motion::Spherical => {
            let spin = r.times(V3::read(&v[i..i + 3]));
            (me.w, me.al, me.a) = (w.plus(spin), w.cross_plus(spin, al), acc);
        }
        Motion::Free => {
            let speed = r.times(V3::read(&v[i..i + 3]));
            let spin = r.times(V3::read(&v[i + 3..i + 6]));
            (me.w, me.al) = (w.plus(spin), w.cross_plus(spin, al));
            me.a = w.plus(w).plus(spin).cross_plus(speed, acc);
        }
    }
    me.arm = arm_acceleration(me.w, me.al);
}

#[inline(always)]
fn turn<T: Real>(me: &mut Articulated<T>, axis: V3<T>, v: T, w: V3<T>, al: V3<T>, acc: V3<T>) {
    let spin = axis.times(v);
    me.axis = axis;
    (me.w, me.al, me.a) = (w.plus(spin), w.cross_plus(spin, al), acc);
}

#[inline(always)]
fn slide<T: Real>(me: &mut Articulated<T>, axis: V3<T>, v: T, w: V3<T>, al: V3<T>, acc: V3<T>) {
    me.axis = axis;
    (me.w, me.al, me.a) = (w, al, w.plus(w).cross_plus(axis.times(v), acc));
}

/// The body's own inertia and the load of its motion.
#[inline(always)]
fn own<T: Real>(b: &Body, me: &mut Articulated<T>) {
    let (h, ia) = (me.r.scale(&b.moment), me.r.congruence(&b.inertia));
    me.f = me.arm.times_plus(h, me.a.scale(b.mass));
    me.n = h.cross_plus(me.a, me.w.cross_plus(ia.times(me.w), ia.times(me.al)));
    let o = T::zero();
    me.ia = ia;
    me.ih = M3 { a: v3(o, h.z, -h.y), b: v3(-h.z, o, h.x), c: v3(h.y, -h.x, o) };
    me.im = Y3::diagonal(T::from(b.mass));
}

/// Eliminates the joint of a body and hands what is left to the body before.
#[inline(always)]
fn backward<T: Real>(b: &Body, parent: &mut Articulated<T>, me: &mut Articulated<T>, tau: &[T]) {
    match b.motion {
        Motion::Spherical => {
            let left = spherical(b, me, tau);
            if b.parent > 0 {
                hand_on(parent, me.p, &left);
            }
        }
        Motion::Free => free(b, parent, me, tau),
        _ => {
            let (ua, ul, u, inverse) = pivot(b, me, tau);
            if b.parent > 0 {
                hand_on(parent, me.p, &simple(me, ua, ul, u, inverse));
            }
        }
    }
}

/// What is left of inertia and load after the elimination of a joint.
struct Left<T> {
    a: Y3<T>,
    h: M3<T>,
    m: Y3<T>,
    n: V3<T>,
    f: V3<T>,
}

/// I S, u and D⁻¹ of a joint of one freedom.
#[inline(always)]
fn pivot<T: Real>(b: &Body, me: &mut Articulated<T>, tau: &[T]) -> (V3<T>, V3<T>, T, T) {
    let (ua, ul, pivot, load) = match b.motion {
        Motion::RevoluteX | Motion::RevoluteY | Motion::RevoluteZ | Motion::Revolute => {
            let ua = me.ia.times(me.axis);
            (ua, me.ih.transpose_times(me.axis), me.axis.dot(ua), me.axis.dot(me.n))
        }
        Motion::Helical => {
            let ua = me.ih.times(me.axis).scale_plus(b.pitch, me.ia.times(me.axis));
            let ul = me.im.times(me.axis).scale_plus(b.pitch, me.ih.transpose_times(me.axis));
            let pivot = me.axis.dot(ul).scale_plus(b.pitch, me.axis.dot(ua));
            (ua, ul, pivot, me.axis.dot(me.f).scale_plus(b.pitch, me.axis.dot(me.n)))
        }
        _ => {
            let ul = me.im.times(me.axis);
            (me.ih.times(me.axis), ul, me.axis.dot(ul), me.axis.dot(me.f))
        }
    };
    let inverse = (pivot + b.armature).recip();
    let u = tau[b.iv] - load;
    me.ua = ua;
    me.ul = ul;
    me.pivot = inverse;
    me.u = u;
    (ua, ul, u, inverse)
}

/// The elimination of a joint of one freedom.
#[inline(always)]
fn simple<T: Real>(me: &Articulated<T>, ua: V3<T>, ul: V3<T>, u: T, inverse: T) -> Left<T> {
    let (ka, kl) = (ua.times(inverse), ul.times(inverse));
    Left {
        a: me.ia.minus_outer(ka, ua),
        m: me.im.minus_outer(kl, ul),
        h: M3 { a: ka.times_from(ul.x, me.ih.a), b: ka.times_from(ul.y, me.ih.b), c: ka.times_from(ul.z, me.ih.c) },
        n: ka.times_plus(u, me.n),
        f: kl.times_plus(u, me.f),
    }
}

/// The elimination of a spherical joint.
#[inline(always)]
fn spherical<T: Real>(b: &Body, me: &mut Articulated<T>, tau: &[T]) -> Left<T> {
    let given = me.r.times(V3::read(&tau[b.iv..b.iv + 3]));
    let inverse = me.ia.plus(&Y3::diagonal(T::from(b.armature))).inverse();
    let u = inverse.times(given.minus(me.n));
    let full = me.ia.full();
    me.ua = u;
    let (ih, ga) = (me.ih, M3 { a: inverse.times(full.a), b: inverse.times(full.b), c: inverse.times(full.c) });
    let gh = M3 { a: inverse.times(ih.a), b: inverse.times(ih.b), c: inverse.times(ih.c) };
    // The last pass needs D⁻¹, which takes the place of what no pass needs any more.
    me.arm = inverse.full();
    Left {
        a: me.ia.minus_product(&full, &ga),
        m: me.im.minus_product(&ih, &gh),
        h: M3 { a: ih.a.minus(full.times(gh.a)), b: ih.b.minus(full.times(gh.b)), c: ih.c.minus(full.times(gh.c)) },
        n: me.n.plus(full.times(u)),
        f: me.f.plus(ih.transpose_times(u)),
    }
}

/// A free joint holds nothing: (A, H; Hᵀ, M)(x; y) = τ − f, and only τ is handed on.
#[inline(always)]
fn free<T: Real>(b: &Body, parent: &mut Articulated<T>, me: &mut Articulated<T>, tau: &[T]) {
    let i = b.iv;
    let (tf, tn) = (me.r.times(V3::read(&tau[i..i + 3])), me.r.times(V3::read(&tau[i + 3..i + 6])));
    let inverse = me.ia.inverse();
    let g = M3 { a: inverse.times(me.ih.a), b: inverse.times(me.ih.b), c: inverse.times(me.ih.c) };
    let schur = me.im.minus_product(&me.ih, &g);
    let x = inverse.times(tn.minus(me.n));
    let y = schur.inverse().times(tf.minus(me.f).minus(me.ih.transpose_times(x)));
    me.ua = x.minus(g.times(y));
    me.ul = y;
    if b.parent > 0 {
        parent.f = parent.f.plus(tf);
        parent.n = me.p.cross_plus(tf, parent.n.plus(tn));
    }
}

/// Adds inertia and load, shifted by r, to the body before: H' = H + r̂ M, A' = A − (H r̂)ᵀ − H' r̂, n' = n + r × f.
#[inline(always)]
fn hand_on<T: Real>(parent: &mut Articulated<T>, r: V3<T>, left: &Left<T>) {
    let Left { a, h, m, n, f } = left;
    let (n, f) = (*n, *f);
    let shifted = M3 {
        a: r.cross_plus(v3(m.xx, m.xy, m.xz), h.a),
        b: r.cross_plus(v3(m.xy, m.yy, m.yz), h.b),
        c: r.cross_plus(v3(m.xz, m.yz, m.zz), h.c),
    };
    let (hx, hy, hz) = (h.row_x(), h.row_y(), h.row_z());
    let (sx, sy, sz) = (shifted.row_x(), shifted.row_y(), shifted.row_z());
    let ia = &mut parent.ia;
    ia.xx += minus_cross_x(sx, r, minus_cross_x(hx, r, a.xx));
    ia.xy += minus_cross_y(sx, r, minus_cross_x(hy, r, a.xy));
    ia.xz += minus_cross_z(sx, r, minus_cross_x(hz, r, a.xz));
    ia.yy += minus_cross_y(sy, r, minus_cross_y(hy, r, a.yy));
    ia.yz += minus_cross_z(sy, r, minus_cross_y(hz, r, a.yz));
    ia.zz += minus_cross_z(sz, r, minus_cross_z(hz, r, a.zz));
    parent.ih = parent.ih.plus(&shifted);
    parent.im = parent.im.plus(m);
    parent.f = parent.f.plus(f);
    parent.n = r.cross_plus(f, parent.n.plus(n));
}

/// o − (a × r)_x, and likewise for y and z.
#[inline(always)]
fn minus_cross_x<T: Real>(a: V3<T>, r: V3<T>, o: T) -> T {
    a.z.mul_plus(r.y, a.y.mul_from(r.z, o))
}
#[inline(always)]
fn minus_cross_y<T: Real>(a: V3<T>, r: V3<T>, o: T) -> T {
    a.x.mul_plus(r.z, a.z.mul_from(r.x, o))
}
#[inline(always)]
fn minus_cross_z<T: Real>(a: V3<T>, r: V3<T>, o: T) -> T {
    a.y.mul_plus(r.x, a.x.mul_from(r.y, o))
}

/// The accelerations of a joint from the difference of acceleration of the body before.
#[inline(always)]
fn solve<T: Real>(b: &Body, parent: &Articulated<T>, me: &mut Articulated<T>, out: &mut [T]) {
    let i = b.iv;
    let da = parent.da;
    let dl = da.cross_plus(me.p, parent.dl);
    match b.motion {
        Motion::Spherical => {
            let x = me.ua.minus(me.arm.times(me.ih.times_plus(dl, me.ia.times(da))));
            me.r.transpose_times(x).write(&mut out[i..i + 3]);
            (me.da, me.dl) = (da.plus(x), dl);
        }
        Motion::Free => {
            me.r.transpose_times(me.ul.minus(dl)).write(&mut out[i..i + 3]);
            me.r.transpose_times(me.ua.minus(da)).write(&mut out[i + 3..i + 6]);
            (me.da, me.dl) = (me.ua, me.ul);
        }
        _ => {
            let x = (me.u - me.ua.dot_plus(da, me.ul.dot(dl))) * me.pivot;
            out[i] = x;
            match b.motion {
                Motion::PrismaticX | Motion::PrismaticY | Motion::PrismaticZ | Motion::Prismatic => {
                    (me.da, me.dl) = (da, me.axis.times_plus(x, dl));
                }
                Motion::Helical => {
                    (me.da, me.dl) = (me.axis.times_plus(x, da), me.axis.times_plus(x * b.pitch, dl));
                }
                _ => (me.da, me.dl) = (me.axis.times_plus(x, da), dl),
            }
        }
    }
}

/// The last moving body whose joint has no inertia to move, if there is one.
///
/// The pivots Sᵀ I S of the elimination are those of M = LᵀDL; each is compared with the inertia it came from, in a
/// configuration without special alignments.
pub(crate) fn massless(tree: &Tree) -> Option<usize> {
    let mut work = Work::<f64>::new(tree);
    let mut q = tree.neutral();
    let mut shift: Vec<f64> = (0..tree.nv).map(|i| 0.3 + 0.1 * ((i * 7) % 11) as f64).collect();
    let at = q.clone();
    tree.retract(&at, &shift, &mut q);
    let mut out = vec![0.0; tree.nv];
    shift.fill(0.0);
    aba(tree, &q, &shift, &shift, &[], &mut work, &mut out);
    (0..tree.bodies.len()).rev().find(|&i| {
        let (b, me) = (&tree.bodies[i], &work.bodies[i + 1]);
        let scale = me.ia.xx + me.ia.yy + me.ia.zz;
        let (angular, linear) = (scale + b.armature, me.im.xx + me.im.yy + me.im.zz + b.armature);
        let bad = |pivot: f64, scale: f64| !(pivot > 1e-14 * scale && pivot.is_finite());
        let regular = |y: &Y3<f64>, scale: f64| {
            let smallest = crate::validate::principal_moments(y.full().mat())[0];
            smallest > 1e-12 * scale && smallest.is_finite()
        };
        match b.motion {
            Motion::RevoluteX | Motion::RevoluteY | Motion::RevoluteZ | Motion::Revolute => {
                bad(1.0 / me.pivot, angular)
            }
            Motion::Helical => bad(1.0 / me.pivot, angular + linear),
            Motion::Spherical => !regular(&me.ia.plus(&Y3::diagonal(b.armature)), angular),
            Motion::Free => {
                // Both the angular block and what is left of the linear one.
                let inverse = me.ia.inverse();
                let h = &me.ih;
                let g = M3 { a: inverse.times(h.a), b: inverse.times(h.b), c: inverse.times(h.c) };
                !regular(&me.ia, angular) || !regular(&me.im.minus_product(h, &g), linear)
            }
            _ => bad(1.0 / me.pivot, linear),
        }
    })
}
