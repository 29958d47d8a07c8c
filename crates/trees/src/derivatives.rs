//! Analytical derivatives of inverse and forward dynamics.
//!
//! With directions S_k in a common frame, ψ̇_k = v_λ × S_k, ψ̈_k = a_λ × S_k + v_λ × ψ̇_k (λ the body before joint k), inertia I,
//! Coriolis matrix B and load f of all bodies after the joint:
//!
//! ```text
//! ∂τᵢ/∂qⱼ = Sᵢᵀ (2B ψ̇ⱼ + I ψ̈ⱼ)              ∂τⱼ/∂qᵢ = Sⱼᵀ (2B ψ̇ᵢ + I ψ̈ᵢ + Sᵢ ×* f)      for j before i, B, I, f of joint i
//! ∂τᵢ/∂vⱼ = Sᵢᵀ (2B Sⱼ + I (ψ̇ⱼ + Ṡⱼ))        ∂τⱼ/∂vᵢ = Sⱼᵀ (2B Sᵢ + I (ψ̇ᵢ + Ṡᵢ))
//! ```
//!
//! B of a body needs twelve numbers, K = v hᵀ + ω̂ J and the momentum p: 2B u = 2 (tr(K) u_ω − K u_ω; u_ω × p), and adds up over
//! bodies. Derivatives along q are along the increments of [`Tree::retract`]. Forward dynamics follows from
//! M ∂a = −∂τ at the accelerations found. Forces of springs, damping and friction are not part of τ here.
//!
//! References: \[1\] Singh, Russo, Wensing: Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra,
//! IEEE Robot. Autom. Lett. 7 (2022); \[2\] Carpentier, Mansard: Analytical derivatives of rigid body dynamics algorithms, RSS 2018.

use crate::aba;
use crate::columns::{Alone, Columns, Pack};
use crate::placement::Placements;
use crate::space::{M3, V3, Y3, v3};
use crate::subspace::{Each, Layout, Rows, Subspace, inertia_at};
use crate::tree::{Body, Tree, Wrench};
use dalembert_methods::Real;

#[derive(Copy, Clone, Debug)]
struct Moving<T> {
    w: V3<T>,
    v: V3<T>,
    al: V3<T>,
    a: V3<T>,
}

#[derive(Copy, Clone, Debug)]
struct Composite<T> {
    h: V3<T>,
    i: Y3<T>,
    k: M3<T>,
    p: V3<T>,
    n: V3<T>,
    f: V3<T>,
}

/// Up to this number of velocities the entries above the diagonal are written by columns.
const SMALL: usize = 12;

/// Scratch of [`rnea_derivatives`].
#[derive(Clone, Debug)]
pub struct Work<T>(pub(crate) Arranged<T>);

/// Scratch for few velocities or for many.
#[derive(Clone, Debug)]
pub(crate) enum Arranged<T> {
    Few(Scratch<T, Each<T>>),
    Many(Scratch<T, Rows<T>>),
}

/// Scratch with directions in a layout.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<T, L> {
    subspace: Subspace<T, L>,
    moving: Vec<Moving<T>>,
    composites: Vec<Composite<T>>,
    rate: L,
    second: L,
    both: L,
    along_q: L,
    along_v: L,
}

/// The derivatives of inverse dynamics, all n × n by rows.
#[derive(Clone, Debug)]
pub struct RneaDerivatives<T> {
    /// τ itself.
    pub tau: Vec<T>,
    /// ∂τ/∂q along the increments of the coordinates.
    pub by_q: Vec<T>,
    /// ∂τ/∂v.
    pub by_v: Vec<T>,
    /// The lower triangle of ∂τ/∂a, the mass matrix.
    pub mass: Vec<T>,
}

impl<T: Real> RneaDerivatives<T> {
    /// Zeros for this tree; entries between velocities that do not move each other stay so.
    pub fn new(tree: &Tree) -> Self {
        let (n, z) = (tree.nv, T::zero());
        Self { tau: vec![z; n], by_q: vec![z; n * n], by_v: vec![z; n * n], mass: vec![z; n * n] }
    }
}

impl<T: Real> Work<T> {
    /// Scratch for this tree.
    pub fn new(tree: &Tree) -> Self {
        Self(match tree.nv <= SMALL && Self::SINGLE {
            true => Arranged::Few(Scratch::new(tree)),
            false => Arranged::Many(Scratch::new(tree)),
        })
    }

    /// Whether a number is one: several side by side gain nothing from another layout for few velocities, and only rows are compiled.
    pub(crate) const SINGLE: bool = size_of::<T>() == size_of::<f64>();
}

impl<T: Real, L: Layout<T>> Scratch<T, L> {
    fn new(tree: &Tree) -> Self {
        let (o, n, nv) = (V3::zero(), tree.bodies.len(), tree.nv);
        Self {
            subspace: Subspace::new(tree),
            moving: vec![Moving { w: o, v: o, al: o, a: o }; n + 1],
            composites: vec![Composite { h: o, i: Y3::zero(), k: M3::zero(), p: o, n: o, f: o }; n + 1],
            rate: L::new(nv),
            second: L::new(nv),
            both: L::new(nv),
            along_q: L::new(nv),
            along_v: L::new(nv),
        }
    }
}

/// (w, v) × (a, b) of two motions.
#[inline(always)]
fn cross<T: Real>(w: V3<T>, v: V3<T>, a: V3<T>, b: V3<T>) -> (V3<T>, V3<T>) {
    (w.cross(a), w.cross_plus(b, v.cross(a)))
}

/// The derivatives of inverse dynamics at accelerations `a`; `external` holds a wrench for every moving body, in its axes, or
/// nothing.
#[inline(always)]
pub fn rnea_derivatives<T: Real>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    a: &[T],
    external: &[Wrench<T>],
    work: &mut Work<T>,
    out: &mut RneaDerivatives<T>,
) {
    passes(tree, q, v, a, external, None, work, out);
}

/// The same, with placements if they are known.
#[inline(always)]
pub(crate) fn passes<T: Real>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    a: &[T],
    external: &[Wrench<T>],
    placements: Option<&Placements<T>>,
    work: &mut Work<T>,
    out: &mut RneaDerivatives<T>,
) {
    match &mut work.0 {
        Arranged::Few(work) if Work::<T>::SINGLE => arranged(tree, q, v, a, external, placements, work, out),
        Arranged::Few(_) => unreachable!("numbers side by side are arranged in rows"),
        Arranged::Many(work) => arranged(tree, q, v, a, external, placements, work, out),
    }
}

/// The same for one layout.
#[inline(always)]
pub(crate) fn arranged<T: Real, L: Layout<T>>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    a: &[T],
    external: &[Wrench<T>],
    placements: Option<&Placements<T>>,
    work: &mut Scratch<T, L>,
    out: &mut RneaDerivatives<T>,
) {
    let (n, nv) = (tree.bodies.len(), tree.nv);
    assert!(q.len() == tree.nq && v.len() == nv && a.len() == nv && out.tau.len() == nv);
    assert!(out.by_q.len() == nv * nv && out.by_v.len() == nv * nv && out.mass.len() == nv * nv);
    assert!(external.is_empty() || external.len() == n);
    assert!(work.moving.len() == n + 1 && work.composites.len() == n + 1);
    match placements {
        Some(placements) => work.subspace.compute_at(tree, placements),
        None => work.subspace.compute(tree, q),
    }
    motions(tree, v, a, work);
    loads(tree, work);
    for ((me, frame), wrench) in work.composites[1..].iter_mut().zip(&work.subspace.frames[1..]).zip(external) {
        let f = frame.r.times(wrench.force.into());
        me.f = me.f.minus(f);
        me.n = me.n.minus(frame.p.cross_plus(f, frame.r.times(wrench.torque.into())));
    }
    let Scratch { subspace, composites, rate, second, both, along_q, along_v, .. } = work;
    let RneaDerivatives { tau, by_q, by_v, mass } = out;
    let directions = Directions { s: &subspace.s, rate, second, both };
    entries(tree, a, &directions, composites, along_q, along_v, tau, by_q, by_v, mass);
}

/// The rows of numbers that entries are products of.
struct Directions<'a, L> {
    s: &'a L,
    rate: &'a L,
    second: &'a L,
    both: &'a L,
}

/// All entries, from the last body to the first.
#[inline(always)]
fn entries<T: Real, L: Layout<T>>(
    tree: &Tree,
    a: &[T],
    d: &Directions<'_, L>,
    composites: &mut [Composite<T>],
    along_q: &mut L,
    along_v: &mut L,
    tau: &mut [T],
    by_q: &mut [T],
    by_v: &mut [T],
    mass: &mut [T],
) {
    let nv = tree.nv;
    // Above the diagonal, short columns are written at once and long ones by rows at the end.
    let small = nv <= SMALL;
    for (i, b) in tree.bodies.iter().enumerate().rev() {
        let (before, rest) = composites.split_at_mut(i + 1);
        let (parent, me) = (&mut before[b.parent], &rest[0]);
        if b.parent == 0 {
            entries_of::<T, L, true>(tree, b, a, d, me, small, along_q, along_v, tau, by_q, by_v, mass);
        } else {
            parent.add(me);
            entries_of::<T, L, false>(tree, b, a, d, me, small, along_q, along_v, tau, by_q, by_v, mass);
        }
    }
    if small {
        return;
    }
    for b in &tree.bodies {
        let start = b.iv + b.motion.velocities();
        for k in b.iv..start {
            let (sw, sv) = d.s.get(k);
            along_q.dot(start, sw, sv, &mut by_q[k * nv + start..k * nv + b.end]);
            along_v.dot(start, sw, sv, &mut by_v[k * nv + start..k * nv + b.end]);
        }
    }
}

/// The entries of the velocities of one body with themselves and those before them; the first of a branch has none before.
#[inline(always)]
fn entries_of<T: Real, L: Layout<T>, const FIRST: bool>(
    tree: &Tree,
    b: &Body,
    a: &[T],
    d: &Directions<'_, L>,
    me: &Composite<T>,
    small: bool,
    along_q: &mut L,
    along_v: &mut L,
    tau: &mut [T],
    by_q: &mut [T],
    by_v: &mut [T],
    mass: &mut [T],
) {
    let nv = tree.nv;
    let trace = me.k.a.x + me.k.b.y + me.k.c.z;
    let end = b.iv + b.motion.velocities();
    for k in b.iv..end {
        let (sw, sv) = d.s.get(k);
        tau[k] = a[k].scale_plus(b.armature, sw.dot_plus(me.n, sv.dot(me.f)));
        let (gn, gf) = inertia_times(me, b.subtree_mass, sw, sv);
        // 2Bᵀ S has an angular part only.
        let bt = twice(sw.times(trace).minus(me.k.transpose_times(sw)).plus(me.p.cross(sv)));
        // The loads whose products with the directions before it fill the column above the diagonal.
        let mut q = (V3::zero(), V3::zero());
        let mut v = q;
        if !FIRST {
            let (rw, _) = d.rate.get(k);
            let (xw, xv) = d.second.get(k);
            let (dw, dv) = d.both.get(k);
            let (cn, cf) = coriolis(me, trace, rw);
            let (en, ef) = inertia_times(me, b.subtree_mass, xw, xv);
            let (ln, lf) = (sw.cross_plus(me.n, sv.cross(me.f)), sw.cross(me.f));
            q = (cn.plus(en).plus(ln), cf.plus(ef).plus(lf));
            let (cn, cf) = coriolis(me, trace, sw);
            let (en, ef) = inertia_times(me, b.subtree_mass, dw, dv);
            v = (cn.plus(en), cf.plus(ef));
        }
        for &(first, last) in tree.runs(k) {
            // The mass matrix up to the diagonal, the others over the whole joint.
            d.s.dot(first, gn, gf, &mut mass[k * nv + first..k * nv + last]);
            if small && !FIRST {
                let length = last.min(b.iv).saturating_sub(first);
                let (by_q, by_v) = (&mut by_q[first * nv + k..], &mut by_v[first * nv + k..]);
                d.s.columns(first, length, [q, v], [by_q, by_v], nv);
            }
            let last = if last == k + 1 { end } else { last };
            let range = k * nv + first..k * nv + last;
            d.rate.dot_both(d.second, first, bt, gn, gf, &mut by_q[range.clone()]);
            d.s.dot_both(d.both, first, bt, gn, gf, &mut by_v[range]);
        }
        if !small && !FIRST {
            along_q.put(k, q.0, q.1);
            along_v.put(k, v.0, v.1);
        }
        mass[k * nv + k] = mass[k * nv + k] + b.armature;
    }
}

/// Velocities and accelerations of all bodies, and the rates of all directions.
#[inline(always)]
fn motions<T: Real, L: Layout<T>>(tree: &Tree, v: &[T], a: &[T], work: &mut Scratch<T, L>) {
    work.moving[0].a = V3::constant(&tree.gravity).negative();
    for (i, b) in tree.bodies.iter().enumerate() {
        let (before, rest) = work.moving.split_at_mut(i + 1);
        let (parent, me) = (before[b.parent], &mut rest[0]);
        let end = b.iv + b.motion.velocities();
        let (mut wj, mut vj, mut alj, mut aj) = (V3::zero(), V3::zero(), V3::zero(), V3::zero());
        for k in b.iv..end {
            let (sw, sv) = work.subspace.s.get(k);
            wj = sw.times_plus(v[k], wj);
            vj = sv.times_plus(v[k], vj);
            alj = sw.times_plus(a[k], alj);
            aj = sv.times_plus(a[k], aj);
            if b.parent == 0 {
                // The ground only accelerates: ψ̇ = 0 from the start, ψ̈ is linear.
                work.second.put(k, V3::zero(), parent.a.cross(sw));
                continue;
            }
            let (rw, rv) = cross(parent.w, parent.v, sw, sv);
            work.rate.put(k, rw, rv);
            let (x, xl) = cross(parent.al, parent.a, sw, sv);
            let (y, yl) = cross(parent.w, parent.v, rw, rv);
            work.second.put(k, x.plus(y), xl.plus(yl));
        }
        if b.parent == 0 {
            *me = Moving { w: wj, v: vj, al: alj, a: parent.a.plus(aj) };
            // One direction alone does not turn by its own motion: Ṡ = 0 from the start.
            if end == b.iv + 1 {
                continue;
            }
            for k in b.iv..end {
                let (sw, sv) = work.subspace.s.get(k);
                let (x, xl) = cross(wj, vj, sw, sv);
                work.both.put(k, x, xl);
            }
            continue;
        }
        let (w, speed) = (parent.w.plus(wj), parent.v.plus(vj));
        let (cw, cv) = cross(w, speed, wj, vj);
        *me = Moving { w, v: speed, al: parent.al.plus(alj).plus(cw), a: parent.a.plus(aj).plus(cv) };
        for k in b.iv..end {
            let (sw, sv) = work.subspace.s.get(k);
            let (x, xl) = cross(w, speed, sw, sv);
            let (rw, rv) = work.rate.get(k);
            work.both.put(k, x.plus(rw), xl.plus(rv));
        }
    }
}

/// Inertia, Coriolis numbers and load of every body by itself.
#[inline(always)]
fn loads<T: Real, L: Layout<T>>(tree: &Tree, work: &mut Scratch<T, L>) {
    let bodies = tree.bodies.iter().zip(&work.subspace.frames[1..]).zip(&work.moving[1..]);
    for (((b, frame), m), out) in bodies.zip(&mut work.composites[1..]) {
        let (h, i) = inertia_at(b, &frame.r, frame.p);
        let p = m.w.cross_plus(h, m.v.scale(b.mass));
        let spin = h.cross_plus(m.v, i.times(m.w));
        let f = m.w.cross_plus(p, m.al.cross_plus(h, m.a.scale(b.mass)));
        let n = m.w.cross_plus(spin, m.v.cross_plus(p, h.cross_plus(m.a, i.times(m.al))));
        let t = (i.xx + i.yy + i.zz) * 0.5;
        let k = M3 {
            a: m.w.cross_plus(v3(t - i.xx, -i.xy, -i.xz), m.v.times(h.x)),
            b: m.w.cross_plus(v3(-i.xy, t - i.yy, -i.yz), m.v.times(h.y)),
            c: m.w.cross_plus(v3(-i.xz, -i.yz, t - i.zz), m.v.times(h.z)),
        };
        *out = Composite { h, i, k, p, n, f };
    }
}

impl<T: Real> Composite<T> {
    #[inline(always)]
    fn add(&mut self, b: &Self) {
        self.h = self.h.plus(b.h);
        self.i = self.i.plus(&b.i);
        self.k = self.k.plus(&b.k);
        self.p = self.p.plus(b.p);
        self.n = self.n.plus(b.n);
        self.f = self.f.plus(b.f);
    }
}

#[inline(always)]
fn twice<T: Real>(a: V3<T>) -> V3<T> {
    a.plus(a)
}

#[inline(always)]
fn inertia_times<T: Real>(c: &Composite<T>, mass: f64, w: V3<T>, v: V3<T>) -> (V3<T>, V3<T>) {
    (c.h.cross_plus(v, c.i.times(w)), w.cross_plus(c.h, v.scale(mass)))
}

/// 2B u for a motion with angular part u.
#[inline(always)]
fn coriolis<T: Real>(c: &Composite<T>, trace: T, u: V3<T>) -> (V3<T>, V3<T>) {
    (twice(u.times(trace).minus(c.k.times(u))), twice(u.cross(c.p)))
}

/// Scratch of [`aba_derivatives`].
#[derive(Clone, Debug)]
pub struct ForwardWork<T> {
    pub(crate) aba: aba::Work<T>,
    pub(crate) rnea: Work<T>,
    pub(crate) inverse: RneaDerivatives<T>,
    pub(crate) columns: Columns<T>,
}

/// The derivatives of forward dynamics, all n × n by rows.
#[derive(Clone, Debug)]
pub struct AbaDerivatives<T> {
    /// The accelerations themselves.
    pub acceleration: Vec<T>,
    /// ∂a/∂q along the increments of the coordinates.
    pub by_q: Vec<T>,
    /// ∂a/∂v.
    pub by_v: Vec<T>,
    /// ∂a/∂τ = M⁻¹.
    pub by_tau: Vec<T>,
}

impl<T: Real> AbaDerivatives<T> {
    /// Zeros for this tree.
    pub fn new(tree: &Tree) -> Self {
        let (n, z) = (tree.nv, T::zero());
        Self { acceleration: vec![z; n], by_q: vec![z; n * n], by_v: vec![z; n * n], by_tau: vec![z; n * n] }
    }
}

impl<T: Real> ForwardWork<T> {
    /// Scratch for this tree.
    pub fn new(tree: &Tree) -> Self {
        Self {
            aba: aba::Work::new(tree),
            rnea: Work::new(tree),
            inverse: RneaDerivatives::new(tree),
            columns: Columns::new(tree),
        }
    }
}

/// The derivatives of forward dynamics under the generalised forces `tau`.
#[inline(always)]
pub fn aba_derivatives<T: Real>(
    tree: &Tree,
    q: &[T],
    v: &[T],
    tau: &[T],
    external: &[Wrench<T>],
    work: &mut ForwardWork<T>,
    out: &mut AbaDerivatives<T>,
) {
    aba::aba(tree, q, v, tau, external, &mut work.aba, &mut out.acceleration);
    let ForwardWork { aba, rnea, inverse, .. } = work;
    passes(tree, q, v, &out.acceleration, external, Some(&aba.placements), rnea, inverse);
    solve::<T, Alone<T>>(tree, work, out);
}

/// ∂a = −M⁻¹ ∂τ, and M⁻¹, from the elimination of joints; columns go side by side in packs `P`.
#[inline(always)]
pub(crate) fn solve<T: Real, P: Pack<T>>(tree: &Tree, work: &mut ForwardWork<T>, out: &mut AbaDerivatives<T>) {
    if tree.nv == 0 {
        return;
    }
    let ForwardWork { aba, rnea, inverse, columns } = work;
    match &rnea.0 {
        Arranged::Few(rnea) => columns.prepare(tree, aba, &rnea.subspace),
        Arranged::Many(rnea) => columns.prepare(tree, aba, &rnea.subspace),
    }
    let out = [&mut out.by_q[..], &mut out.by_v[..], &mut out.by_tau[..]];
    columns.solve::<P>(tree, &inverse.by_q, &inverse.by_v, out);
}
