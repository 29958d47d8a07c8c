//! Directions of all velocities in one common frame, as six rows of numbers: what mass matrix and derivatives are made of.
//!
//! The frame has the axes of the world and its origin in the first moving body of each branch, not in the world's origin, so
//! that no digits are lost by a tree far away. Entries between different branches are zero anyway.

use crate::placement::Placements;
use crate::space::{M3, V3, Y3};
use crate::tree::{Body, Motion, Tree};
use dalembert_methods::Real;

/// Axes of a body, and its origin seen from that of the first body of its branch.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Frame<T> {
    pub r: M3<T>,
    pub p: V3<T>,
}

/// Loops shorter than this are written apart: to vectorise them costs more than it gains.
pub(crate) const SHORT: usize = 4;

/// Frames of all bodies (the ground first) and the six rows of directions.
#[derive(Clone, Debug)]
pub(crate) struct Subspace<T> {
    placements: Placements<T>,
    pub frames: Vec<Frame<T>>,
    pub s: Rows<T>,
}

/// Six rows of one number for each velocity: three angular, three linear.
#[derive(Clone, Debug)]
pub(crate) struct Rows<T> {
    pub values: Vec<T>,
    pub n: usize,
}

impl<T: Real> Rows<T> {
    pub fn new(n: usize) -> Self {
        Self { values: vec![T::zero(); 6 * n], n }
    }
    #[inline(always)]
    pub fn put(&mut self, k: usize, w: V3<T>, v: V3<T>) {
        let (s, n) = (&mut self.values[..], self.n);
        s[k] = w.x;
        s[n + k] = w.y;
        s[2 * n + k] = w.z;
        s[3 * n + k] = v.x;
        s[4 * n + k] = v.y;
        s[5 * n + k] = v.z;
    }
    /// The linear part of direction `k`.
    #[inline(always)]
    pub fn put_linear(&mut self, k: usize, v: V3<T>) {
        let (s, n) = (&mut self.values[..], self.n);
        s[3 * n + k] = v.x;
        s[4 * n + k] = v.y;
        s[5 * n + k] = v.z;
    }
    #[inline(always)]
    pub fn get(&self, k: usize) -> (V3<T>, V3<T>) {
        let (s, n) = (&self.values[..], self.n);
        (V3 { x: s[k], y: s[n + k], z: s[2 * n + k] }, V3 { x: s[3 * n + k], y: s[4 * n + k], z: s[5 * n + k] })
    }
    /// Row `c` from `a` on, of length `l`.
    #[inline(always)]
    pub fn row(&self, c: usize, a: usize, l: usize) -> &[T] {
        &self.values[c * self.n + a..c * self.n + a + l]
    }
    /// All rows from `a` on, of length `l`.
    #[inline(always)]
    pub fn six(&self, a: usize, l: usize) -> [&[T]; 6] {
        [
            self.row(0, a, l),
            self.row(1, a, l),
            self.row(2, a, l),
            self.row(3, a, l),
            self.row(4, a, l),
            self.row(5, a, l),
        ]
    }
    /// out = directions a..b times the load (n, f).
    #[inline(always)]
    pub fn dot(&self, a: usize, n: V3<T>, f: V3<T>, out: &mut [T]) {
        let l = out.len();
        let s = self.six(a, l);
        if l < SHORT {
            for i in 0..l.min(SHORT) {
                out[i] = entry(&s, i, n, f);
            }
            return;
        }
        for i in 0..l {
            out[i] = entry(&s, i, n, f);
        }
    }
}

/// One direction of six rows times a load.
#[inline(always)]
pub(crate) fn entry<T: Real>(s: &[&[T]; 6], i: usize, n: V3<T>, f: V3<T>) -> T {
    s[0][i].mul_plus(n.x, s[1][i].mul_plus(n.y, s[2][i] * n.z))
        + s[3][i].mul_plus(f.x, s[4][i].mul_plus(f.y, s[5][i] * f.z))
}

impl<T: Real> Subspace<T> {
    pub fn new(tree: &Tree) -> Self {
        Self {
            placements: Placements::new(tree),
            frames: vec![Frame { r: M3::identity(), p: V3::zero() }; tree.bodies.len() + 1],
            s: Rows::new(tree.nv),
        }
    }

    #[inline(always)]
    pub fn compute(&mut self, tree: &Tree, q: &[T]) {
        let n = tree.bodies.len();
        assert!(self.placements.at.len() == n && self.frames.len() == n + 1 && self.s.n == tree.nv);
        self.placements.compute(tree, q);
        let Self { placements, frames, s } = self;
        place(tree, placements, frames, s);
    }

    /// The same from placements that are known.
    #[inline(always)]
    pub fn compute_at(&mut self, tree: &Tree, placements: &Placements<T>) {
        let n = tree.bodies.len();
        assert!(placements.at.len() == n && self.frames.len() == n + 1 && self.s.n == tree.nv);
        place(tree, placements, &mut self.frames, &mut self.s);
    }
}

#[inline(always)]
fn place<T: Real>(tree: &Tree, placements: &Placements<T>, frames: &mut [Frame<T>], s: &mut Rows<T>) {
    for (i, (b, place)) in tree.bodies.iter().zip(&placements.at).enumerate() {
        let (before, rest) = frames.split_at_mut(i + 1);
        let (parent, me) = (&before[b.parent], &mut rest[0]);
        me.r = parent.r.product(&place.r);
        me.p = if b.parent == 0 { V3::zero() } else { parent.r.times_plus(place.p, parent.p) };
    }
    for (b, frame) in tree.bodies.iter().zip(&frames[1..]) {
        directions(b, frame, s);
    }
}

#[inline(always)]
fn directions<T: Real>(b: &Body, frame: &Frame<T>, s: &mut Rows<T>) {
    let (r, p, i) = (&frame.r, frame.p, b.iv);
    let o = V3::zero();
    match b.motion {
        Motion::RevoluteX => s.put(i, r.a, p.cross(r.a)),
        Motion::RevoluteY => s.put(i, r.b, p.cross(r.b)),
        Motion::RevoluteZ => s.put(i, r.c, p.cross(r.c)),
        Motion::Revolute => {
            let u = r.scale(&b.axis);
            s.put(i, u, p.cross(u));
        }
        Motion::PrismaticX => s.put(i, o, r.a),
        Motion::PrismaticY => s.put(i, o, r.b),
        Motion::PrismaticZ => s.put(i, o, r.c),
        Motion::Prismatic => s.put(i, o, r.scale(&b.axis)),
        Motion::Helical => {
            let u = r.scale(&b.axis);
            s.put(i, u, p.cross_plus(u, u.scale(b.pitch)));
        }
        Motion::Spherical => {
            s.put(i, r.a, p.cross(r.a));
            s.put(i + 1, r.b, p.cross(r.b));
            s.put(i + 2, r.c, p.cross(r.c));
        }
        Motion::Free => {
            s.put(i, o, r.a);
            s.put(i + 1, o, r.b);
            s.put(i + 2, o, r.c);
            s.put(i + 3, r.a, p.cross(r.a));
            s.put(i + 4, r.b, p.cross(r.b));
            s.put(i + 5, r.c, p.cross(r.c));
        }
    }
}

/// Moment and inertia of a body about the common origin: h = R h₀ + m p, I = R I₀ Rᵀ + (h·p + h₀·p) 1 − h₀ pᵀ − p hᵀ.
#[inline(always)]
pub(crate) fn inertia_at<T: Real>(b: &Body, r: &M3<T>, p: V3<T>) -> (V3<T>, Y3<T>) {
    let (own, y) = (r.scale(&b.moment), r.congruence(&b.inertia));
    let h = p.scale_plus(b.mass, own);
    let t = h.dot_plus(p, own.dot(p));
    (
        h,
        Y3 {
            xx: own.x.mul_from(p.x, p.x.mul_from(h.x, y.xx + t)),
            yy: own.y.mul_from(p.y, p.y.mul_from(h.y, y.yy + t)),
            zz: own.z.mul_from(p.z, p.z.mul_from(h.z, y.zz + t)),
            xy: own.x.mul_from(p.y, p.x.mul_from(h.y, y.xy)),
            xz: own.x.mul_from(p.z, p.x.mul_from(h.z, y.xz)),
            yz: own.y.mul_from(p.z, p.y.mul_from(h.z, y.yz)),
        },
    )
}
