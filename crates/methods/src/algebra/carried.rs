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
//! Î − U D⁻¹ Uᵀ, shifted by p: the factors are those of M = LᵀDL, which are never written out.
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

#[inline(always)]
fn node<R: Real>(values: &[R], i: usize) -> Node<R> {
    let n = &values[i * VALUES..(i + 1) * VALUES];
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

/// y − a bᵀ, which must be symmetric.
#[inline(always)]
fn minus_outer<R: Real>(y: &[R; 6], a: Vec3<R>, b: Vec3<R>) -> [R; 6] {
    [
        y[0] - a[0] * b[0],
        y[1] - a[0] * b[1],
        y[2] - a[0] * b[2],
        y[3] - a[1] * b[1],
        y[4] - a[1] * b[2],
        y[5] - a[2] * b[2],
    ]
}

/// A full symmetric inertia (A, H; Hᵀ, M): A, the columns of H, M.
struct Articulated<R> {
    a: [R; 6],
    h: [Vec3<R>; 3],
    m: [R; 6],
}

impl<R: Real> Articulated<R> {
    #[inline(always)]
    fn read(s: &[R]) -> Self {
        Self {
            a: [s[0], s[1], s[2], s[3], s[4], s[5]],
            h: [Vec3([s[6], s[7], s[8]]), Vec3([s[9], s[10], s[11]]), Vec3([s[12], s[13], s[14]])],
            m: [s[15], s[16], s[17], s[18], s[19], s[20]],
        }
    }

    /// Adds it to another about a point at −p: H' = H + p̂ M, A' = A − (H p̂)ᵀ − H' p̂.
    #[inline(always)]
    fn add_shifted(&self, p: Vec3<R>, out: &mut [R]) {
        let (h, m) = (&self.h, &self.m);
        let s = [
            h[0] + p.cross(Vec3([m[0], m[1], m[2]])),
            h[1] + p.cross(Vec3([m[1], m[3], m[4]])),
            h[2] + p.cross(Vec3([m[2], m[4], m[5]])),
        ];
        let row = |c: &[Vec3<R>; 3], i: usize| Vec3([c[0][i], c[1][i], c[2][i]]).cross(p);
        let (hp, sp) = ([row(h, 0), row(h, 1), row(h, 2)], [row(&s, 0), row(&s, 1), row(&s, 2)]);
        for (k, (i, j)) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].into_iter().enumerate() {
            out[k] += self.a[k] - hp[j][i] - sp[i][j];
            out[15 + k] += m[k];
        }
        for j in 0..3 {
            s[j].add_to(&mut out[6 + 3 * j..9 + 3 * j]);
        }
    }
}

/// Factors the block.
pub(super) fn factor<R: Real>(parents: &[usize], values: &[R], factors: &mut [R], scratch: &mut [R]) {
    for i in 0..parents.len() {
        let (n, out) = (node(values, i), &mut scratch[i * SCRATCH..(i + 1) * SCRATCH]);
        let (zero, h) = (R::zero(), n.moment);
        out[..6].copy_from_slice(&n.inertia);
        out[6..15].copy_from_slice(&[zero, h[2], -h[1], -h[2], zero, h[0], h[1], -h[0], zero]);
        out[15..].copy_from_slice(&[n.mass, zero, zero, n.mass, zero, n.mass]);
    }
    for i in (0..parents.len()).rev() {
        let n = node(values, i);
        let (before, own) = scratch.split_at_mut(i * SCRATCH);
        let full = Articulated::read(&own[..SCRATCH]);
        let [hx, hy, hz] = full.h;
        let ua = times(&full.a, n.turn) + hx * n.slide[0] + hy * n.slide[1] + hz * n.slide[2];
        let ul = Vec3([hx.dot(n.turn), hy.dot(n.turn), hz.dot(n.turn)]) + times(&full.m, n.slide);
        let inverse = (n.turn.dot(ua) + n.slide.dot(ul) + n.own).recip();
        let out = &mut factors[i * FACTORS..(i + 1) * FACTORS];
        ua.write(&mut out[..3]);
        ul.write(&mut out[3..6]);
        out[6] = inverse;
        if parents[i] != NONE {
            let (ka, kl) = (ua * inverse, ul * inverse);
            let left = Articulated {
                a: minus_outer(&full.a, ka, ua),
                h: [hx - ka * ul[0], hy - ka * ul[1], hz - ka * ul[2]],
                m: minus_outer(&full.m, kl, ul),
            };
            left.add_shifted(n.arm, &mut before[parents[i] * SCRATCH..(parents[i] + 1) * SCRATCH]);
        }
    }
}

#[inline(always)]
fn six<R: Real>(scratch: &[R], i: usize) -> (Vec3<R>, Vec3<R>) {
    let s = &scratch[6 * i..6 * i + 6];
    (Vec3([s[0], s[1], s[2]]), Vec3([s[3], s[4], s[5]]))
}

#[inline(always)]
fn put_six<R: Real>(scratch: &mut [R], i: usize, a: Vec3<R>, b: Vec3<R>) {
    let s = &mut scratch[6 * i..6 * i + 6];
    s.copy_from_slice(&[a[0], a[1], a[2], b[0], b[1], b[2]]);
}

/// Adds a force f and a torque n, shifted by p, to those of a carrier.
#[inline(always)]
fn hand_on<R: Real>(scratch: &mut [R], parent: usize, p: Vec3<R>, n: Vec3<R>, f: Vec3<R>) {
    let s = &mut scratch[6 * parent..6 * parent + 6];
    (n + p.cross(f)).add_to(&mut s[..3]);
    f.add_to(&mut s[3..]);
}

/// Replaces `x` by M⁻¹ x.
pub(super) fn solve<R: Real>(parents: &[usize], values: &[R], factors: &[R], scratch: &mut [R], x: &mut [R]) {
    let scratch = &mut scratch[..6 * parents.len()];
    scratch.fill(R::zero());
    for i in (0..parents.len()).rev() {
        let (n, u) = (node(values, i), &factors[i * FACTORS..(i + 1) * FACTORS]);
        let (torque, force) = six(scratch, i);
        let rest = x[i] - n.turn.dot(torque) - n.slide.dot(force);
        x[i] = rest;
        if parents[i] != NONE {
            let k = rest * u[6];
            let (ua, ul) = (Vec3([u[0], u[1], u[2]]), Vec3([u[3], u[4], u[5]]));
            hand_on(scratch, parents[i], n.arm, torque + ua * k, force + ul * k);
        }
    }
    for i in 0..parents.len() {
        let (n, u) = (node(values, i), &factors[i * FACTORS..(i + 1) * FACTORS]);
        let (mut turn, mut slide) = (Vec3::zero(), Vec3::zero());
        if parents[i] != NONE {
            (turn, slide) = six(scratch, parents[i]);
            slide += turn.cross(n.arm);
        }
        let (ua, ul) = (Vec3([u[0], u[1], u[2]]), Vec3([u[3], u[4], u[5]]));
        x[i] = (x[i] - ua.dot(turn) - ul.dot(slide)) * u[6];
        put_six(scratch, i, turn + n.turn * x[i], slide + n.slide * x[i]);
    }
}

/// out = M v.
pub(super) fn apply<R: Real>(parents: &[usize], values: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
    let (motion, load) = scratch[..12 * parents.len()].split_at_mut(6 * parents.len());
    for i in 0..parents.len() {
        let n = node(values, i);
        let (mut turn, mut slide) = (Vec3::zero(), Vec3::zero());
        if parents[i] != NONE {
            (turn, slide) = six(motion, parents[i]);
            slide += turn.cross(n.arm);
        }
        (turn, slide) = (turn + n.turn * v[i], slide + n.slide * v[i]);
        put_six(motion, i, turn, slide);
        let torque = times(&n.inertia, turn) + n.moment.cross(slide);
        put_six(load, i, torque, slide * n.mass + turn.cross(n.moment));
    }
    for i in (0..parents.len()).rev() {
        let n = node(values, i);
        let (torque, force) = six(load, i);
        out[i] = n.turn.dot(torque) + n.slide.dot(force) + n.own * v[i];
        if parents[i] != NONE {
            hand_on(load, parents[i], n.arm, torque, force);
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
    // Mass, moment and inertia of all that rides on a carrier.
    for i in 0..parents.len() {
        scratch[10 * i..10 * i + 10].copy_from_slice(&values[i * VALUES + 10..i * VALUES + 20]);
    }
    for i in (0..parents.len()).rev() {
        let n = node(values, i);
        let (before, own) = scratch.split_at_mut(10 * i);
        let (mass, h) = (own[0], Vec3([own[1], own[2], own[3]]));
        let y = [own[4], own[5], own[6], own[7], own[8], own[9]];
        let mut torque = times(&y, n.turn) + h.cross(n.slide);
        let force = n.slide * mass + n.turn.cross(h);
        let diagonal = n.turn.dot(torque) + n.slide.dot(force) + n.own;
        put(i, i, diagonal);
        let mut j = i;
        while parents[j] != NONE {
            torque += node(values, j).arm.cross(force);
            j = parents[j];
            let at = node(values, j);
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
