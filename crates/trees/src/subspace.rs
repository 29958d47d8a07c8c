//! Directions of all velocities in one common frame, six numbers for each: what mass matrix and derivatives are made of.
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
const SHORT: usize = 4;

/// Frames of all bodies (the ground first) and the directions.
#[derive(Clone, Debug)]
pub(crate) struct Subspace<T, L> {
    placements: Placements<T>,
    pub frames: Vec<Frame<T>>,
    pub s: L,
}

/// How six numbers for each velocity, three angular and three linear, lie in memory.
pub(crate) trait Layout<T: Real>: Clone + std::fmt::Debug {
    /// Zeros for `n` velocities.
    fn new(n: usize) -> Self;
    fn put(&mut self, k: usize, w: V3<T>, v: V3<T>);
    fn get(&self, k: usize) -> (V3<T>, V3<T>);
    /// out = directions from `a` on times the load (n, f).
    fn dot(&self, a: usize, n: V3<T>, f: V3<T>, out: &mut [T]);
    /// out = angular parts from `a` on times `bt`, and directions of `second` times the load (n, f).
    fn dot_both(&self, second: &Self, a: usize, bt: V3<T>, n: V3<T>, f: V3<T>, out: &mut [T]);
    /// Two columns: directions from `a` on times two loads; entries are `stride` apart.
    fn columns(&self, a: usize, l: usize, loads: [(V3<T>, V3<T>); 2], out: [&mut [T]; 2], stride: usize);
}

/// One velocity after the other: for few of them.
#[derive(Clone, Debug)]
pub(crate) struct Each<T>(Vec<[T; 6]>);

impl<T: Real> Layout<T> for Each<T> {
    fn new(n: usize) -> Self {
        Self(vec![[T::zero(); 6]; n])
    }
    #[inline(always)]
    fn put(&mut self, k: usize, w: V3<T>, v: V3<T>) {
        self.0[k] = [w.x, w.y, w.z, v.x, v.y, v.z];
    }
    #[inline(always)]
    fn get(&self, k: usize) -> (V3<T>, V3<T>) {
        let s = &self.0[k];
        (V3 { x: s[0], y: s[1], z: s[2] }, V3 { x: s[3], y: s[4], z: s[5] })
    }
    #[inline(always)]
    fn dot(&self, a: usize, n: V3<T>, f: V3<T>, out: &mut [T]) {
        for (out, s) in out.iter_mut().zip(&self.0[a..]) {
            *out = product(s, n, f);
        }
    }
    #[inline(always)]
    fn dot_both(&self, second: &Self, a: usize, bt: V3<T>, n: V3<T>, f: V3<T>, out: &mut [T]) {
        for ((out, one), two) in out.iter_mut().zip(&self.0[a..]).zip(&second.0[a..]) {
            *out = product(two, n, f) + one[0].mul_plus(bt.x, one[1].mul_plus(bt.y, one[2] * bt.z));
        }
    }
    #[inline(always)]
    fn columns(&self, a: usize, l: usize, loads: [(V3<T>, V3<T>); 2], out: [&mut [T]; 2], stride: usize) {
        let [one, two] = out;
        for (i, s) in self.0[a..a + l].iter().enumerate() {
            one[i * stride] = product(s, loads[0].0, loads[0].1);
            two[i * stride] = product(s, loads[1].0, loads[1].1);
        }
    }
}

/// Six rows: for many, so that loops over velocities are vectorised.
#[derive(Clone, Debug)]
pub(crate) struct Rows<T> {
    values: Vec<T>,
    n: usize,
}

impl<T: Real> Rows<T> {
    /// Row `c` from `a` on, of length `l`.
    #[inline(always)]
    fn row(&self, c: usize, a: usize, l: usize) -> &[T] {
        &self.values[c * self.n + a..c * self.n + a + l]
    }
    /// All rows from `a` on, of length `l`.
    #[inline(always)]
    fn six(&self, a: usize, l: usize) -> [&[T]; 6] {
        [
            self.row(0, a, l),
            self.row(1, a, l),
            self.row(2, a, l),
            self.row(3, a, l),
            self.row(4, a, l),
            self.row(5, a, l),
        ]
    }
}

impl<T: Real> Layout<T> for Rows<T> {
    fn new(n: usize) -> Self {
        Self { values: vec![T::zero(); 6 * n], n }
    }
    #[inline(always)]
    fn put(&mut self, k: usize, w: V3<T>, v: V3<T>) {
        let (s, n) = (&mut self.values[..], self.n);
        s[k] = w.x;
        s[n + k] = w.y;
        s[2 * n + k] = w.z;
        s[3 * n + k] = v.x;
        s[4 * n + k] = v.y;
        s[5 * n + k] = v.z;
    }
    #[inline(always)]
    fn get(&self, k: usize) -> (V3<T>, V3<T>) {
        let (s, n) = (&self.values[..], self.n);
        (V3 { x: s[k], y: s[n + k], z: s[2 * n + k] }, V3 { x: s[3 * n + k], y: s[4 * n + k], z: s[5 * n + k] })
    }
    #[inline(always)]
    fn dot(&self, a: usize, n: V3<T>, f: V3<T>, out: &mut [T]) {
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
    #[inline(always)]
    fn dot_both(&self, second: &Self, a: usize, bt: V3<T>, n: V3<T>, f: V3<T>, out: &mut [T]) {
        let l = out.len();
        let (b0, b1, b2) = (self.row(0, a, l), self.row(1, a, l), self.row(2, a, l));
        let s = second.six(a, l);
        // Written twice: a closure would not be compiled for the processor at hand.
        if l < SHORT {
            for i in 0..l.min(SHORT) {
                out[i] = entry(&s, i, n, f) + b0[i].mul_plus(bt.x, b1[i].mul_plus(bt.y, b2[i] * bt.z));
            }
            return;
        }
        for i in 0..l {
            out[i] = entry(&s, i, n, f) + b0[i].mul_plus(bt.x, b1[i].mul_plus(bt.y, b2[i] * bt.z));
        }
    }
    #[inline(always)]
    fn columns(&self, a: usize, l: usize, loads: [(V3<T>, V3<T>); 2], out: [&mut [T]; 2], stride: usize) {
        let s = self.six(a, l);
        let [one, two] = out;
        for i in 0..l {
            one[i * stride] = entry(&s, i, loads[0].0, loads[0].1);
            two[i * stride] = entry(&s, i, loads[1].0, loads[1].1);
        }
    }
}

/// One direction times a load.
#[inline(always)]
fn product<T: Real>(s: &[T; 6], n: V3<T>, f: V3<T>) -> T {
    s[0].mul_plus(n.x, s[1].mul_plus(n.y, s[2] * n.z)) + s[3].mul_plus(f.x, s[4].mul_plus(f.y, s[5] * f.z))
}

/// One direction of six rows times a load.
#[inline(always)]
fn entry<T: Real>(s: &[&[T]; 6], i: usize, n: V3<T>, f: V3<T>) -> T {
    s[0][i].mul_plus(n.x, s[1][i].mul_plus(n.y, s[2][i] * n.z))
        + s[3][i].mul_plus(f.x, s[4][i].mul_plus(f.y, s[5][i] * f.z))
}

impl<T: Real, L: Layout<T>> Subspace<T, L> {
    pub fn new(tree: &Tree) -> Self {
        Self {
            placements: Placements::new(tree),
            frames: vec![Frame { r: M3::identity(), p: V3::zero() }; tree.bodies.len() + 1],
            s: L::new(tree.nv),
        }
    }

    #[inline(always)]
    pub fn compute(&mut self, tree: &Tree, q: &[T]) {
        let n = tree.bodies.len();
        assert!(self.placements.at.len() == n && self.frames.len() == n + 1);
        self.placements.compute(tree, q);
        let Self { placements, frames, s } = self;
        place(tree, placements, frames, s);
    }

    /// The same from placements that are known.
    #[inline(always)]
    pub fn compute_at(&mut self, tree: &Tree, placements: &Placements<T>) {
        let n = tree.bodies.len();
        assert!(placements.at.len() == n && self.frames.len() == n + 1);
        place(tree, placements, &mut self.frames, &mut self.s);
    }
}

#[inline(always)]
fn place<T: Real, L: Layout<T>>(tree: &Tree, placements: &Placements<T>, frames: &mut [Frame<T>], s: &mut L) {
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
fn directions<T: Real, L: Layout<T>>(b: &Body, frame: &Frame<T>, s: &mut L) {
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
