//! A mass block given by a recursion over a tree: factored and solved at a cost proportional to its size.
//!
//! Velocity i belongs to a carrier of six numbers (ω, u), which rides on the carrier of another velocity,
//!
//! ```text
//! ω_i = ω_j + w_i v_i,   u_i = u_j + ω_j × p_i + s_i v_i              j = parent of i, p_i an arm
//! M v = Σ_i J_iᵀ I_i J_i v + a v,   I (ω, u) = (Y ω + h × u, m u + ω × h)
//! ```
//!
//! with directions (w, s), symmetric Y, moments h, masses m and a diagonal a. This is the inertia of bodies that ride on one another, but
//! nothing here knows them. Elimination goes from the last velocity to the first, U = Î S, D = Sᵀ U + a, and the parent receives
//! Î − U D⁻¹ Uᵀ, shifted by p: the factors are those of M = LᵀDL, which are never written out. In a chain every velocity waits for the
//! one after it. What does not need D is therefore done beside its division: Î and U are shifted each by themselves, and the factors
//! kept are U', as the parent sees it, and 1/D.
//!
//! A block has [`VALUES`] numbers for each velocity: p, w, s, a, m, h, and Y as xx, xy, xz, yy, yz, zz. Parents come before their children.
//!
//! References: R. Featherstone, *Rigid Body Dynamics Algorithms*, Springer 2008, chapters 6 and 7; G. Rodriguez, A. Jain, K. Kreutz-Delgado,
//! *A spatial operator algebra for manipulator modeling and control*, Int. J. Robot. Res. 10 (1991) 371–381.

use crate::real::Real;
use crate::vector::Vec3;

/// Numbers for each velocity.
pub(super) const VALUES: usize = 20;
/// Numbers of the factors for each velocity: U and 1/D.
pub(super) const FACTORS: usize = 7;
/// Scratch for each velocity.
pub(super) const SCRATCH: usize = 21;
/// The parent of a velocity that rides on nothing.
const NONE: usize = usize::MAX;

/// The data of one velocity.
struct Node<R> {
    arm: Vec3<R>,
    turn: Vec3<R>,
    slide: Vec3<R>,
    own: R,
    mass: R,
    moment: Vec3<R>,
    /// xx, xy, xz, yy, yz, zz
    inertia: [R; 6],
}

/// The numbers of all velocities, cut into arrays, whose constant indices need no checks.
#[inline(always)]
fn cut<const N: usize, R>(values: &[R]) -> &[[R; N]] {
    values.as_chunks::<N>().0
}

#[inline(always)]
fn cut_mut<const N: usize, R>(values: &mut [R]) -> &mut [[R; N]] {
    values.as_chunks_mut::<N>().0
}

#[inline(always)]
fn node<R: Real>(n: &[R; VALUES]) -> Node<R> {
    Node {
        arm: Vec3([n[0], n[1], n[2]]),
        turn: Vec3([n[3], n[4], n[5]]),
        slide: Vec3([n[6], n[7], n[8]]),
        own: n[9],
        mass: n[10],
        moment: Vec3([n[11], n[12], n[13]]),
        inertia: [n[14], n[15], n[16], n[17], n[18], n[19]],
    }
}

#[inline(always)]
fn times<R: Real>(y: &[R; 6], v: Vec3<R>) -> Vec3<R> {
    Vec3([
        y[0] * v[0] + y[1] * v[1] + y[2] * v[2],
        y[1] * v[0] + y[3] * v[1] + y[4] * v[2],
        y[2] * v[0] + y[4] * v[1] + y[5] * v[2],
    ])
}

/// A full symmetric inertia (A, H; Hᵀ, M): A, the columns of H, M.
struct Articulated<R> {
    a: [R; 6],
    h: [Vec3<R>; 3],
    m: [R; 6],
}

impl<R: Real> Articulated<R> {
    #[inline(always)]
    fn read(s: &[R; SCRATCH]) -> Self {
        Self {
            a: [s[0], s[1], s[2], s[3], s[4], s[5]],
            h: [Vec3([s[6], s[7], s[8]]), Vec3([s[9], s[10], s[11]]), Vec3([s[12], s[13], s[14]])],
            m: [s[15], s[16], s[17], s[18], s[19], s[20]],
        }
    }

    /// The same about a point at −p: H' = H + p̂ M, A' = A − (H p̂)ᵀ − H' p̂.
    #[inline(always)]
    fn shifted(&self, p: Vec3<R>) -> Self {
        let (h, m) = (&self.h, &self.m);
        let s = [
            h[0] + p.cross(Vec3([m[0], m[1], m[2]])),
            h[1] + p.cross(Vec3([m[1], m[3], m[4]])),
            h[2] + p.cross(Vec3([m[2], m[4], m[5]])),
        ];
        let row = |c: &[Vec3<R>; 3], i: usize| Vec3([c[0][i], c[1][i], c[2][i]]).cross(p);
        let (hp, sp) = ([row(h, 0), row(h, 1), row(h, 2)], [row(&s, 0), row(&s, 1), row(&s, 2)]);
        let a = |k: usize, i: usize, j: usize| self.a[k] - (hp[j][i] + sp[i][j]);
        Self { a: [a(0, 0, 0), a(1, 0, 1), a(2, 0, 2), a(3, 1, 1), a(4, 1, 2), a(5, 2, 2)], h: s, m: *m }
    }

    /// Adds it, less u uᵀ k, to the inertia of a carrier.
    #[inline(always)]
    fn hand_on(&self, ua: Vec3<R>, ul: Vec3<R>, k: R, out: &mut [R; SCRATCH]) {
        for (n, (i, j)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].into_iter().enumerate() {
            out[n] += self.a[n] - ua[i] * ua[j] * k;
            out[15 + n] += self.m[n] - ul[i] * ul[j] * k;
        }
        for j in 0..3 {
            for i in 0..3 {
                out[6 + 3 * j + i] += self.h[j][i] - ua[i] * ul[j] * k;
            }
        }
    }
}

/// Factors the block.
pub(super) fn factor<R: Real>(parents: &[usize], values: &[R], factors: &mut [R], scratch: &mut [R]) {
    let (values, factors, scratch) = (cut(values), cut_mut::<FACTORS, R>(factors), cut_mut::<SCRATCH, R>(scratch));
    for (n, out) in values.iter().map(node).zip(&mut *scratch) {
        let (zero, h) = (R::zero(), n.moment);
        out[..6].copy_from_slice(&n.inertia);
        out[6..15].copy_from_slice(&[zero, h[2], -h[1], -h[2], zero, h[0], h[1], -h[0], zero]);
        out[15..].copy_from_slice(&[n.mass, zero, zero, n.mass, zero, n.mass]);
    }
    for (i, ((values, out), &parent)) in values.iter().zip(factors).zip(parents).enumerate().rev() {
        let n = node(values);
        let (before, own) = scratch.split_at_mut(i);
        let full = Articulated::read(&own[0]);
        let [hx, hy, hz] = full.h;
        let ua = times(&full.a, n.turn) + (hx * n.slide[0] + hy * n.slide[1] + hz * n.slide[2]);
        let ul = Vec3([hx.dot(n.turn), hy.dot(n.turn), hz.dot(n.turn)]) + times(&full.m, n.slide);
        let inverse = (n.turn.dot(ua) + n.slide.dot(ul) + n.own).recip();
        let ua = ua + n.arm.cross(ul);
        *out = [ua[0], ua[1], ua[2], ul[0], ul[1], ul[2], inverse];
        if parent != NONE {
            full.shifted(n.arm).hand_on(ua, ul, inverse, &mut before[parent]);
        }
    }
}

#[inline(always)]
fn six<R: Real>(s: &[R; 6]) -> (Vec3<R>, Vec3<R>) {
    (Vec3([s[0], s[1], s[2]]), Vec3([s[3], s[4], s[5]]))
}

#[inline(always)]
fn both<R: Real>(a: Vec3<R>, b: Vec3<R>) -> [R; 6] {
    [a[0], a[1], a[2], b[0], b[1], b[2]]
}

/// Adds a force f and a torque n, shifted by p, to those of a carrier.
#[inline(always)]
fn hand_on<R: Real>(carrier: &mut [R; 6], p: Vec3<R>, n: Vec3<R>, f: Vec3<R>) {
    let (torque, force) = six(carrier);
    *carrier = both(torque + (n + p.cross(f)), force + f);
}

/// Replaces `x` by M⁻¹ x.
pub(super) fn solve<R: Real>(parents: &[usize], values: &[R], factors: &[R], scratch: &mut [R], x: &mut [R]) {
    let (values, factors) = (cut(values), cut::<FACTORS, R>(factors));
    let scratch = &mut cut_mut::<6, R>(scratch)[..parents.len()];
    scratch.fill([R::zero(); 6]);
    for (i, (((values, u), &parent), x)) in values.iter().zip(factors).zip(parents).zip(&mut *x).enumerate().rev() {
        let node = node(values);
        let (torque, force) = six(&scratch[i]);
        let rest = *x - (node.turn.dot(torque) + node.slide.dot(force));
        *x = rest;
        if parent != NONE {
            let k = rest * u[6];
            let (ua, ul) = (Vec3([u[0], u[1], u[2]]), Vec3([u[3], u[4], u[5]]));
            let (n, f) = six(&scratch[parent]);
            scratch[parent] = both(n + (torque + node.arm.cross(force)) + ua * k, f + force + ul * k);
        }
    }
    for (i, (((values, u), &parent), x)) in values.iter().zip(factors).zip(parents).zip(x).enumerate() {
        let n = node(values);
        if parent == NONE {
            *x *= u[6];
            scratch[i] = both(n.turn * *x, n.slide * *x);
            continue;
        }
        let (turn, slide) = six(&scratch[parent]);
        let (ua, ul) = (Vec3([u[0], u[1], u[2]]), Vec3([u[3], u[4], u[5]]));
        *x = (*x - (ua.dot(turn) + ul.dot(slide))) * u[6];
        scratch[i] = both(turn + n.turn * *x, slide + turn.cross(n.arm) + n.slide * *x);
    }
}

/// out = M v.
pub(super) fn apply<R: Real>(parents: &[usize], values: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
    let values = cut(values);
    let (motion, load) = cut_mut::<6, R>(scratch)[..2 * parents.len()].split_at_mut(parents.len());
    for (i, ((values, &parent), &v)) in values.iter().zip(parents).zip(v).enumerate() {
        let n = node(values);
        let (mut turn, mut slide) = (Vec3::zero(), Vec3::zero());
        if parent != NONE {
            (turn, slide) = six(&motion[parent]);
            slide += turn.cross(n.arm);
        }
        (turn, slide) = (turn + n.turn * v, slide + n.slide * v);
        motion[i] = both(turn, slide);
        let torque = times(&n.inertia, turn) + n.moment.cross(slide);
        load[i] = both(torque, slide * n.mass + turn.cross(n.moment));
    }
    for (i, (values, &parent)) in values.iter().zip(parents).enumerate().rev() {
        let n = node(values);
        let (torque, force) = six(&load[i]);
        out[i] = n.turn.dot(torque) + n.slide.dot(force) + n.own * v[i];
        if parent != NONE {
            hand_on(&mut load[parent], n.arm, torque, force);
        }
    }
}

/// Visits the entries (row, column, value) that can differ from zero, both triangles, in a fixed order.
pub(super) fn entries<R: Real>(
    parents: &[usize],
    values: &[R],
    scratch: &mut [R],
    mut put: impl FnMut(usize, usize, R),
) {
    let values = cut::<VALUES, R>(values);
    // Mass, moment and inertia of all that rides on a carrier.
    for i in 0..parents.len() {
        scratch[10 * i..10 * i + 10].copy_from_slice(&values[i][10..]);
    }
    for i in (0..parents.len()).rev() {
        let n = node(&values[i]);
        let (before, own) = scratch.split_at_mut(10 * i);
        let (mass, h) = (own[0], Vec3([own[1], own[2], own[3]]));
        let y = [own[4], own[5], own[6], own[7], own[8], own[9]];
        let mut torque = times(&y, n.turn) + h.cross(n.slide);
        let force = n.slide * mass + n.turn.cross(h);
        let diagonal = n.turn.dot(torque) + n.slide.dot(force) + n.own;
        put(i, i, diagonal);
        let mut j = i;
        while parents[j] != NONE {
            torque += node(&values[j]).arm.cross(force);
            j = parents[j];
            let at = node(&values[j]);
            let value = at.turn.dot(torque) + at.slide.dot(force);
            put(i, j, value);
            put(j, i, value);
        }
        if parents[i] != NONE {
            let (p, out) = (n.arm, &mut before[10 * parents[i]..10 * parents[i] + 10]);
            let moved = h + p * mass;
            // I' = I + (h'·p + h·p) 1 − h pᵀ − p h'ᵀ
            let t = moved.dot(p) + h.dot(p);
            out[0] += mass;
            moved.add_to(&mut out[1..4]);
            for (k, (r, c)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].into_iter().enumerate() {
                let unit = if r == c { t } else { R::zero() };
                out[4 + k] += y[k] + unit - h[r] * p[c] - p[r] * moved[c];
            }
        }
    }
}
