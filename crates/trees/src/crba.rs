//! The mass matrix by composite rigid bodies: column k is the load that the bodies after joint k need for a unit acceleration of
//! it, seen along the directions of all joints before.
//!
//! Two readings of the same algorithm. In deep trees all directions stand in a common frame as rows of numbers, so that an
//! entry is a dot product over contiguous runs ([`common`]). In shallow ones the load is carried down from body to body
//! ([`local`]), which needs fewer operations. [`crba`] chooses.
//!
//! References: \[1\] Walker, Orin: Efficient dynamic computer simulation of robotic mechanisms, J. Dyn. Sys. Meas. Control 104
//! (1982); \[2\] Featherstone: Rigid body dynamics algorithms, 2008, ch. 6; \[3\] Schiehlen, Computational dynamics, eq. (36).

use crate::placement::{Placement, Placements};
use crate::space::{M3, V3, Y3};
use crate::subspace::{Layout, Rows, Subspace, inertia_at};
use crate::tree::{Body, Motion, Tree};
use dalembert_methods::Real;

/// Mean depth of the velocities up to which loads are carried from body to body.
const SHALLOW: usize = 4;

#[derive(Copy, Clone, Debug)]
struct Composite<T> {
    h: V3<T>,
    i: Y3<T>,
}

/// Scratch of [`crba`].
#[derive(Clone, Debug)]
pub struct Work<T> {
    subspace: Subspace<T, Rows<T>>,
    placements: Placements<T>,
    composites: Vec<Composite<T>>,
    shallow: bool,
}

impl<T: Real> Work<T> {
    /// Scratch for this tree.
    pub fn new(tree: &Tree) -> Self {
        let depth: usize = (0..tree.nv).map(|k| tree.runs(k).iter().map(|(a, b)| b - a).sum::<usize>()).sum();
        Self {
            subspace: Subspace::new(tree),
            placements: Placements::new(tree),
            composites: vec![Composite { h: V3::zero(), i: Y3::zero() }; tree.bodies.len() + 1],
            shallow: depth <= SHALLOW * tree.nv,
        }
    }
}

/// The lower triangle of the mass matrix, by rows; entries above the diagonal, and between velocities that do not move each
/// other, are left as they are (set them to zero once).
#[inline(always)]
pub fn crba<T: Real>(tree: &Tree, q: &[T], work: &mut Work<T>, out: &mut [T]) {
    if work.shallow {
        local(tree, q, work, out);
    } else {
        common(tree, q, work, out);
    }
}

/// Copies the lower triangle to the upper.
pub fn symmetrise<T: Real>(n: usize, matrix: &mut [T]) {
    for i in 0..n {
        for j in 0..i {
            matrix[j * n + i] = matrix[i * n + j];
        }
    }
}

/// The mass matrix with all directions in a common frame.
#[inline(always)]
pub fn common<T: Real>(tree: &Tree, q: &[T], work: &mut Work<T>, out: &mut [T]) {
    let (n, nv) = (tree.bodies.len(), tree.nv);
    assert!(q.len() == tree.nq && out.len() == nv * nv && work.composites.len() == n + 1);
    work.subspace.compute(tree, q);
    for ((b, frame), me) in tree.bodies.iter().zip(&work.subspace.frames[1..]).zip(&mut work.composites[1..]) {
        (me.h, me.i) = inertia_at(b, &frame.r, frame.p);
    }
    for (i, b) in tree.bodies.iter().enumerate().rev() {
        let (before, rest) = work.composites.split_at_mut(i + 1);
        let (parent, me) = (&mut before[b.parent], &rest[0]);
        if b.parent > 0 {
            parent.h = parent.h.plus(me.h);
            parent.i = parent.i.plus(&me.i);
        }
        for k in b.iv..b.iv + b.motion.velocities() {
            let (w, v) = work.subspace.s.get(k);
            let n = me.h.cross_plus(v, me.i.times(w));
            let f = w.cross_plus(me.h, v.scale(b.subtree_mass));
            let row = &mut out[k * nv..(k + 1) * nv];
            for &(first, last) in tree.runs(k) {
                work.subspace.s.dot(first, n, f, &mut row[first..last]);
            }
            row[k] = row[k] + b.armature;
        }
    }
}

/// The mass matrix with loads carried from body to body.
#[inline(always)]
pub fn local<T: Real>(tree: &Tree, q: &[T], work: &mut Work<T>, out: &mut [T]) {
    let (n, nv) = (tree.bodies.len(), tree.nv);
    assert!(q.len() == tree.nq && out.len() == nv * nv && work.composites.len() == n + 1);
    work.placements.compute_within(tree, q);
    for (b, me) in tree.bodies.iter().zip(&mut work.composites[1..]) {
        (me.h, me.i) = (V3::constant(&b.moment), constant(&b.inertia));
    }
    for (i, b) in tree.bodies.iter().enumerate().rev() {
        let (before, rest) = work.composites.split_at_mut(i + 1);
        let (parent, me) = (&mut before[b.parent], &rest[0]);
        if b.parent > 0 {
            let place = &work.placements.at[i];
            let (h, y) = seen_from(&place.r, place.p, me, b.subtree_mass);
            parent.h = parent.h.plus(h);
            parent.i = parent.i.plus(&y);
        }
        for k in b.iv..b.iv + b.motion.velocities() {
            let (n, f) = needed(b, me, k - b.iv);
            column(tree, &work.placements.at, i, k, n, f, out);
        }
    }
}

/// The load that the composite needs for a unit acceleration along freedom `k` of its joint.
#[inline(always)]
fn needed<T: Real>(b: &Body, me: &Composite<T>, k: usize) -> (V3<T>, V3<T>) {
    let unit = |k: usize| match k {
        0 => V3 { x: T::one(), y: T::zero(), z: T::zero() },
        1 => V3 { x: T::zero(), y: T::one(), z: T::zero() },
        _ => V3 { x: T::zero(), y: T::zero(), z: T::one() },
    };
    let (y, h, m) = (&me.i, me.h, b.subtree_mass);
    let o = T::zero();
    match b.motion {
        Motion::RevoluteX => (V3 { x: y.xx, y: y.xy, z: y.xz }, V3 { x: o, y: -h.z, z: h.y }),
        Motion::RevoluteY => (V3 { x: y.xy, y: y.yy, z: y.yz }, V3 { x: h.z, y: o, z: -h.x }),
        Motion::RevoluteZ => (V3 { x: y.xz, y: y.yz, z: y.zz }, V3 { x: -h.y, y: h.x, z: o }),
        Motion::Revolute => {
            let u = V3::constant(&b.axis);
            (y.times(u), u.cross(h))
        }
        Motion::PrismaticX | Motion::PrismaticY | Motion::PrismaticZ | Motion::Prismatic => {
            let u = V3::constant(&b.axis);
            (h.cross(u), u.scale(m))
        }
        Motion::Helical => {
            let u = V3::constant(&b.axis);
            let v = u.scale(b.pitch);
            (h.cross_plus(v, y.times(u)), u.cross_plus(h, v.scale(m)))
        }
        Motion::Free if k < 3 => (h.cross(unit(k)), unit(k).scale(m)),
        Motion::Free => (y.times(unit(k - 3)), unit(k - 3).cross(h)),
        Motion::Spherical => (y.times(unit(k)), unit(k).cross(h)),
    }
}

/// The entries of velocity k of body i: the load (n, f) along its own directions up to k, then along those of all before.
#[inline(always)]
fn column<T: Real>(tree: &Tree, at: &[Placement<T>], i: usize, k: usize, mut n: V3<T>, mut f: V3<T>, out: &mut [T]) {
    let row = &mut out[k * tree.nv..(k + 1) * tree.nv];
    let b = &tree.bodies[i];
    along(b, n, f, k + 1, row);
    row[k] = row[k] + b.armature;
    let mut j = i;
    loop {
        let parent = tree.bodies[j].parent;
        if parent == 0 {
            return;
        }
        let place = &at[j];
        f = place.r.times(f);
        n = place.p.cross_plus(f, place.r.times(n));
        j = parent - 1;
        along(&tree.bodies[j], n, f, tree.nv, row);
    }
}

/// The load along the directions of a body, those below velocity `end`.
#[inline(always)]
fn along<T: Real>(b: &Body, n: V3<T>, f: V3<T>, end: usize, row: &mut [T]) {
    let i = b.iv;
    match b.motion {
        Motion::RevoluteX => row[i] = n.x,
        Motion::RevoluteY => row[i] = n.y,
        Motion::RevoluteZ => row[i] = n.z,
        Motion::Revolute => row[i] = n.dot_constant(&b.axis),
        Motion::PrismaticX => row[i] = f.x,
        Motion::PrismaticY => row[i] = f.y,
        Motion::PrismaticZ => row[i] = f.z,
        Motion::Prismatic => row[i] = f.dot_constant(&b.axis),
        Motion::Helical => row[i] = f.dot_constant(&b.axis).scale_plus(b.pitch, n.dot_constant(&b.axis)),
        Motion::Spherical => {
            for (k, x) in [n.x, n.y, n.z].into_iter().enumerate().take(end - i) {
                row[i + k] = x;
            }
        }
        Motion::Free => {
            for (k, x) in [f.x, f.y, f.z, n.x, n.y, n.z].into_iter().enumerate().take(end - i) {
                row[i + k] = x;
            }
        }
    }
}

#[inline(always)]
fn constant<T: Real>(y: &Y3<f64>) -> Y3<T> {
    Y3 {
        xx: T::from(y.xx),
        xy: T::from(y.xy),
        xz: T::from(y.xz),
        yy: T::from(y.yy),
        yz: T::from(y.yz),
        zz: T::from(y.zz),
    }
}

/// Moment and inertia of a composite in the frame of the body before.
#[inline(always)]
fn seen_from<T: Real>(r: &M3<T>, p: V3<T>, c: &Composite<T>, mass: f64) -> (V3<T>, Y3<T>) {
    let own = r.times(c.h);
    let y = c.i.full();
    let ry = r.product(&y);
    let (a, b, d) = (r.row_x(), r.row_y(), r.row_z());
    let (x, z, w) = (ry.row_x(), ry.row_y(), ry.row_z());
    let h = p.scale_plus(mass, own);
    let t = h.dot_plus(p, own.dot(p));
    (
        h,
        Y3 {
            xx: own.x.mul_from(p.x, p.x.mul_from(h.x, x.dot_plus(a, t))),
            yy: own.y.mul_from(p.y, p.y.mul_from(h.y, z.dot_plus(b, t))),
            zz: own.z.mul_from(p.z, p.z.mul_from(h.z, w.dot_plus(d, t))),
            xy: own.x.mul_from(p.y, p.x.mul_from(h.y, x.dot(b))),
            xz: own.x.mul_from(p.z, p.x.mul_from(h.z, x.dot(d))),
            yz: own.y.mul_from(p.z, p.y.mul_from(h.z, z.dot(d))),
        },
    )
}
