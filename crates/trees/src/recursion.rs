//! Forward dynamics by the recursion of Schiehlen, with full 6 × 6 matrices as written: a forward recursion for the absolute
//! motion, a backward recursion by Gauss transformation to a lower triangular system M̂ ÿ + k̂ = q̂, and a forward recursion for the
//! accelerations.
//!
//! ```text
//! bᵢ = Cᵢ bᵢ₋₁ + Jᵢ ÿᵢ + βᵢ                                             (26)
//! Mᵢ bᵢ + kᵢ = qᵢ,  bᵢ = (a_O, α), in the axes of the body             (31)
//! M̃ᵢ₋₁ = Mᵢ₋₁ + Cᵢᵀ (M̃ᵢ − M̃ᵢ Jᵢ (Jᵢᵀ M̃ᵢ Jᵢ)⁻¹ Jᵢᵀ M̃ᵢ) Cᵢ               (39)
//! M̂ᵢⱼ = Jᵢᵀ M̃ᵢ Cᵢ ⋯ Cⱼ₊₁ Jⱼ                                            (39)
//! ```
//!
//! It serves comparison and teaching; [`crate::aba`] is the same elimination without the zeros.
//!
//! Departures: trees instead of chains (sums over all bodies after one), drive inertias on the diagonal of Jᵀ M̃ J, and the part of
//! the load that the document leaves to the reader: k̃ᵢ₋₁ = kᵢ₋₁ + Cᵢᵀ (k̃ᵢ + M̃ᵢ βᵢ + M̃ᵢ Jᵢ (Jᵢᵀ M̃ᵢ Jᵢ)⁻¹ (τᵢ − Jᵢᵀ (k̃ᵢ + M̃ᵢ βᵢ))),
//! with the applied forces counted in k.
//!
//! Reference: Schiehlen, Computational dynamics: theory and applications of multibody systems, Eur. J. Mech. A/Solids 25 (2006),
//! sec. 3.

use crate::placement::{Placement, Placements};
use crate::space::{M3, V3};
use crate::tree::{Body, Motion, Tree};
use dalembert_methods::Real;

type Six<T> = [T; 6];
type Matrix<T> = [[T; 6]; 6];

#[derive(Copy, Clone, Debug)]
struct Step<T> {
    omega: V3<T>,
    c: Matrix<T>,
    beta: Six<T>,
    mass: Matrix<T>,
    load: Six<T>,
    /// (Jᵀ M̃ J)⁻¹
    inverse: Matrix<T>,
    b: Six<T>,
}

/// Scratch of [`recursion`], and the transformed system it leaves.
#[derive(Clone, Debug)]
pub struct Work<T> {
    placements: Placements<T>,
    steps: Vec<Step<T>>,
}

impl<T: Real> Work<T> {
    /// Scratch for this tree.
    pub fn new(tree: &Tree) -> Self {
        let (m, s) = ([[T::zero(); 6]; 6], [T::zero(); 6]);
        let step = Step { omega: V3::zero(), c: m, beta: s, mass: m, load: s, inverse: m, b: s };
        Self { placements: Placements::new(tree), steps: vec![step; tree.bodies.len() + 1] }
    }

    /// The lower triangular matrix M̂ of eq. (38), n × n by rows; after [`recursion`].
    pub fn triangular(&self, tree: &Tree) -> Vec<T> {
        let n = tree.nv;
        let mut out = vec![T::zero(); n * n];
        for (i, b) in tree.bodies.iter().enumerate() {
            for k in 0..b.motion.velocities() {
                let mut row = multiply(&self.steps[i + 1].mass, &directions(b)[k]);
                let (mut j, mut body) = (i, b);
                loop {
                    for (l, direction) in directions::<T>(body).iter().enumerate().take(body.motion.velocities()) {
                        if j != i || l <= k {
                            out[(b.iv + k) * n + body.iv + l] = dot(&row, direction);
                        }
                    }
                    if body.parent == 0 {
                        break;
                    }
                    row = transpose_multiply(&self.steps[j + 1].c, &row);
                    j = body.parent - 1;
                    body = &tree.bodies[j];
                }
            }
        }
        out
    }
}

/// The accelerations `out` under the generalised forces `tau`.
pub fn recursion<T: Real>(tree: &Tree, q: &[T], v: &[T], tau: &[T], work: &mut Work<T>, out: &mut [T]) {
    assert!(q.len() == tree.nq && v.len() == tree.nv && tau.len() == tree.nv && out.len() == tree.nv);
    work.placements.compute(tree, q);
    // 1. Forward: absolute motion, in the axes of each body.
    let mut rotations = vec![M3::identity(); tree.bodies.len() + 1];
    for (i, b) in tree.bodies.iter().enumerate() {
        let place = work.placements.at[i];
        rotations[i + 1] = rotations[b.parent].product(&place.r);
        let (before, rest) = work.steps.split_at_mut(i + 1);
        let gravity = rotations[i + 1].transpose_times(V3::constant(&tree.gravity));
        start(b, &place, &before[b.parent], v, gravity, &mut rest[0]);
    }
    // 2. Backward: Gauss transformation.
    for (i, b) in tree.bodies.iter().enumerate().rev() {
        let (before, rest) = work.steps.split_at_mut(i + 1);
        let (parent, me) = (&mut before[b.parent], &mut rest[0]);
        let (d, j) = (b.motion.velocities(), directions::<T>(b));
        let mut mj = [[T::zero(); 6]; 6];
        for k in 0..d {
            mj[k] = multiply(&me.mass, &j[k]);
        }
        let mut pivot = [[T::zero(); 6]; 6];
        for k in 0..d {
            for l in 0..d {
                pivot[k][l] = dot(&j[k], &mj[l]);
            }
            pivot[k][k] = pivot[k][k] + b.armature;
        }
        me.inverse = inverse(&pivot, d);
        if b.parent == 0 {
            continue;
        }
        let load = add(&me.load, &multiply(&me.mass, &me.beta));
        let mut reduced = me.mass;
        let mut carried = load;
        for k in 0..d {
            for l in 0..d {
                let u = tau[b.iv + l] - dot(&j[l], &load);
                for r in 0..6 {
                    carried[r] += mj[k][r] * me.inverse[k][l] * u;
                    for s in 0..6 {
                        reduced[r][s] -= mj[k][r] * me.inverse[k][l] * mj[l][s];
                    }
                }
            }
        }
        parent.load = add(&parent.load, &transpose_multiply(&me.c, &carried));
        let product = congruence(&me.c, &reduced);
        for r in 0..6 {
            for s in 0..6 {
                parent.mass[r][s] += product[r][s];
            }
        }
    }
    // 3. Forward: accelerations.
    for (i, b) in tree.bodies.iter().enumerate() {
        let (before, rest) = work.steps.split_at_mut(i + 1);
        let (parent, me) = (&before[b.parent], &mut rest[0]);
        let (d, j) = (b.motion.velocities(), directions::<T>(b));
        let mut acceleration = add(&multiply(&me.c, &parent.b), &me.beta);
        let load = add(&me.load, &multiply(&me.mass, &acceleration));
        for k in 0..d {
            let mut x = T::zero();
            for l in 0..d {
                x += me.inverse[k][l] * (tau[b.iv + l] - dot(&j[l], &load));
            }
            out[b.iv + k] = x;
        }
        for k in 0..d {
            for r in 0..6 {
                acceleration[r] += j[k][r] * out[b.iv + k];
            }
        }
        me.b = acceleration;
    }
}

/// Cᵢ, βᵢ, Mᵢ and kᵢ of eq. (25), (26) and (31).
fn start<T: Real>(b: &Body, place: &Placement<T>, parent: &Step<T>, v: &[T], gravity: V3<T>, me: &mut Step<T>) {
    let (r, p) = (&place.r, place.p);
    let o = V3::zero();
    let i = b.iv;
    let axis = V3::constant(&b.axis);
    let (spin, slide) = match b.motion {
        Motion::RevoluteX | Motion::RevoluteY | Motion::RevoluteZ | Motion::Revolute => (axis.times(v[i]), o),
        Motion::PrismaticX | Motion::PrismaticY | Motion::PrismaticZ | Motion::Prismatic => (o, axis.times(v[i])),
        Motion::Helical => (axis.times(v[i]), axis.times(v[i] * b.pitch)),
        Motion::Spherical => (V3::read(&v[i..i + 3]), o),
        Motion::Free => (V3::read(&v[i + 3..i + 6]), V3::read(&v[i..i + 3])),
    };
    let before = r.transpose_times(parent.omega);
    let centripetal = r.transpose_times(parent.omega.cross(parent.omega.cross(p)));
    let twice = if b.motion == Motion::Free { before.plus(before).plus(spin) } else { before.plus(before) };
    me.omega = before.plus(spin);
    me.beta = join(twice.cross_plus(slide, centripetal), before.cross(spin));
    // C = S (E, −r̃; 0, E): columns of the rotation, and of −S r̃.
    let rows = [v3_of(r.a), v3_of(r.b), v3_of(r.c)];
    let crossed = [v3_of(p.cross(r.a)), v3_of(p.cross(r.b)), v3_of(p.cross(r.c))];
    for k in 0..3 {
        for l in 0..3 {
            me.c[k][l] = rows[k][l];
            me.c[k + 3][l + 3] = rows[k][l];
            me.c[k + 3][l] = T::zero();
            // −rₖ · (p × α) = (p × rₖ) · α, with the sign of v + ω × p.
            me.c[k][l + 3] = crossed[k][l];
        }
    }
    let h: V3<T> = V3::constant(&b.moment);
    let y = &b.inertia;
    let inertia = [[y.xx, y.xy, y.xz], [y.xy, y.yy, y.yz], [y.xz, y.yz, y.zz]];
    let zero = T::zero();
    let skew = [[zero, -h.z, h.y], [h.z, zero, -h.x], [-h.y, h.x, zero]];
    for k in 0..3 {
        for l in 0..3 {
            me.mass[k][l] = if k == l { T::from(b.mass) } else { zero };
            me.mass[k + 3][l] = skew[k][l];
            me.mass[k][l + 3] = skew[l][k];
            me.mass[k + 3][l + 3] = T::from(inertia[k][l]);
        }
    }
    let w = me.omega;
    let turned = V3 {
        x: w.x * y.xx + w.y * y.xy + w.z * y.xz,
        y: w.x * y.xy + w.y * y.yy + w.z * y.yz,
        z: w.x * y.xz + w.y * y.yz + w.z * y.zz,
    };
    let force = w.cross(w.cross(h)).minus(gravity.scale(b.mass));
    me.load = join(force, w.cross(turned).minus(h.cross(gravity)));
}

/// The columns of Jᵢ.
fn directions<T: Real>(b: &Body) -> Matrix<T> {
    let axis = v3_of(b.axis).map(T::from);
    let mut out = [[T::zero(); 6]; 6];
    match b.motion {
        Motion::RevoluteX | Motion::RevoluteY | Motion::RevoluteZ | Motion::Revolute => {
            out[0][3..].copy_from_slice(&axis)
        }
        Motion::PrismaticX | Motion::PrismaticY | Motion::PrismaticZ | Motion::Prismatic => {
            out[0][..3].copy_from_slice(&axis);
        }
        Motion::Helical => {
            out[0][3..].copy_from_slice(&axis);
            out[0][..3].copy_from_slice(&axis.map(|x| x * b.pitch));
        }
        Motion::Spherical => {
            for k in 0..3 {
                out[k][k + 3] = T::one();
            }
        }
        Motion::Free => {
            for k in 0..6 {
                out[k][k] = T::one();
            }
        }
    }
    out
}

fn v3_of<T>(a: V3<T>) -> [T; 3] {
    [a.x, a.y, a.z]
}

fn join<T>(a: V3<T>, b: V3<T>) -> Six<T> {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}

fn add<T: Real>(a: &Six<T>, b: &Six<T>) -> Six<T> {
    std::array::from_fn(|i| a[i] + b[i])
}

fn dot<T: Real>(a: &Six<T>, b: &Six<T>) -> T {
    (0..6).fold(T::zero(), |sum, i| a[i].mul_plus(b[i], sum))
}

fn multiply<T: Real>(m: &Matrix<T>, x: &Six<T>) -> Six<T> {
    std::array::from_fn(|i| dot(&m[i], x))
}

fn transpose_multiply<T: Real>(m: &Matrix<T>, x: &Six<T>) -> Six<T> {
    std::array::from_fn(|j| (0..6).fold(T::zero(), |sum, i| m[i][j].mul_plus(x[i], sum)))
}

/// Cᵀ M C
fn congruence<T: Real>(c: &Matrix<T>, m: &Matrix<T>) -> Matrix<T> {
    let mut mc = [[T::zero(); 6]; 6];
    for i in 0..6 {
        for j in 0..6 {
            mc[i][j] = (0..6).fold(T::zero(), |sum, k| m[i][k].mul_plus(c[k][j], sum));
        }
    }
    let mut out = [[T::zero(); 6]; 6];
    for i in 0..6 {
        for j in 0..6 {
            out[i][j] = (0..6).fold(T::zero(), |sum, k| c[k][i].mul_plus(mc[k][j], sum));
        }
    }
    out
}

/// The inverse of the leading d × d block of a symmetric positive definite matrix, by Gauss–Jordan elimination.
fn inverse<T: Real>(m: &Matrix<T>, d: usize) -> Matrix<T> {
    let mut a = *m;
    let mut out = [[T::zero(); 6]; 6];
    for i in 0..d {
        out[i][i] = T::one();
    }
    for k in 0..d {
        let p = a[k][k].recip();
        for j in 0..d {
            a[k][j] *= p;
            out[k][j] *= p;
        }
        for i in 0..d {
            if i != k {
                let x = a[i][k];
                for j in 0..d {
                    a[i][j] = x.mul_from(a[k][j], a[i][j]);
                    out[i][j] = x.mul_from(out[k][j], out[i][j]);
                }
            }
        }
    }
    out
}
