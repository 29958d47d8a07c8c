//! Accelerations for many forces at once: X ← −M⁻¹ X for matrices of many columns, at a cost proportional to the links.
//!
//! The elimination of joints by the articulated-body algorithm is done once; here are its two sweeps for further right-hand sides.
//! With all directions S and their loads U = I S in a common frame nothing is shifted from body to body: for velocity k, its
//! articulated load p and the acceleration a of what it hangs on,
//!
//! ```text
//! up:    w = (x − Sᵀ p)/D,     p_before += p + U w
//! down:  x = w − Uᵀ a / D,     a_k = a + S x
//! ```
//!
//! Each velocity is done for all columns before the next one, several columns side by side. Loads p and accelerations a of all
//! columns stay in a buffer along a chain; where the tree branches there is one for each branch. A dense product with M⁻¹ costs n
//! operations for each entry, this 24.
//!
//! Joints of several freedoms are eliminated one velocity after the other, which needs no inverse of a block.
//!
//! References: \[1\] Featherstone: Rigid body dynamics algorithms, 2008, ch. 7; \[2\] Carpentier: Analytical inverse of the joint space
//! inertia matrix, 2018 (the same sweeps with unit forces).

use crate::aba;
use crate::fast::{Fast, FastLanes};
use crate::space::{M3, V3, Y3};
use crate::subspace::{Layout, Subspace};
use crate::tree::{Motion, Tree};
use dalembert_methods::Real;

/// What the sweeps need of one velocity.
#[derive(Copy, Clone, Debug)]
struct Factor<T> {
    s: [T; 6],
    /// U, and −U/D.
    u: [T; 6],
    g: [T; 6],
    /// −S/D and −1/D.
    s_over: [T; 6],
    over: T,
}

/// Where a velocity hangs.
#[derive(Copy, Clone, Debug)]
struct Step {
    /// The velocity before it is the previous one, or another (the buffer that keeps its a), or none.
    before: Before,
    /// The buffer of its p; that which collects p for the velocity before it, if it is not the previous one; and that which collects for
    /// it what others than the next bring, if they do.
    chain: usize,
    onto: Option<usize>,
    from: Option<usize>,
    /// One past the last velocity after it.
    end: usize,
    /// The buffer that keeps its a for others than the next, or 0.
    kept: usize,
}

#[derive(Copy, Clone, Debug, PartialEq)]
enum Before {
    Previous,
    Other(usize),
    None,
}

/// Factors of all velocities, and scratch of the sweeps.
#[derive(Clone, Debug)]
pub(crate) struct Columns<T> {
    factors: Vec<Factor<T>>,
    steps: Vec<Step>,
    /// Six numbers for each column of three matrices, for each chain of the tree.
    buffers: Vec<T>,
}

/// The three matrices: derivatives by coordinates and velocities, and the inverse of the mass matrix.
const MATRICES: usize = 3;

/// The widest pack of columns.
const WIDEST: usize = 8;

impl<T: Real> Columns<T> {
    pub fn new(tree: &Tree) -> Self {
        let (n, z) = (tree.nv, T::zero());
        let mut kept = vec![0; n];
        let mut chain = vec![0; n];
        let (mut branches, mut chains) = (0, 0);
        for k in (0..n).rev() {
            let continued = k + 1 < n && tree.before[k + 1] == k;
            chain[k] = if continued { chain[k + 1] } else { chains };
            chains += usize::from(!continued);
            let before = tree.before[k];
            if before != usize::MAX && before + 1 != k && kept[before] == 0 {
                branches += 1;
                kept[before] = branches;
            }
        }
        let ends = tree.bodies.iter().flat_map(|b| std::iter::repeat_n(b.end, b.motion.velocities()));
        let step = |(k, end): (usize, usize)| {
            let before = tree.before[k];
            Step {
                before: match before {
                    usize::MAX => Before::None,
                    _ if before + 1 == k => Before::Previous,
                    _ => Before::Other(kept[before]),
                },
                chain: chain[k],
                onto: (before != usize::MAX && before + 1 != k).then(|| chains + kept[before] - 1),
                from: (kept[k] > 0).then(|| chains + kept[k] - 1),
                end,
                kept: kept[k],
            }
        };
        Self {
            factors: vec![Factor { s: [z; 6], u: [z; 6], g: [z; 6], s_over: [z; 6], over: z }; n],
            steps: ends.enumerate().map(step).collect(),
            // On the way down the first is that of the accelerations at hand, and there is one for each branch.
            buffers: vec![z; (chains + branches) * MATRICES * 6 * (n + WIDEST)],
        }
    }

    /// Takes the factors from an elimination by [`aba::aba`] and directions of the same configuration.
    #[inline(always)]
    pub fn prepare<L: Layout<T>>(&mut self, tree: &Tree, work: &aba::Work<T>, subspace: &Subspace<T, L>) {
        for (i, b) in tree.bodies.iter().enumerate() {
            let (origin, me) = (subspace.frames[i + 1].p, &work.bodies[i + 1]);
            match b.motion {
                Motion::Spherical | Motion::Free => {
                    let (mut a, mut h, mut m) = (me.ia, me.ih, me.im);
                    for k in (b.iv..b.iv + b.motion.velocities()).rev() {
                        let turns = b.motion == Motion::Spherical || k >= b.iv + 3;
                        let axis = [me.r.a, me.r.b, me.r.c][(k - b.iv) % 3];
                        let (ua, ul, pivot) = if turns {
                            let ua = a.times(axis);
                            (ua, h.transpose_times(axis), axis.dot(ua))
                        } else {
                            let ul = m.times(axis);
                            (h.times(axis), ul, axis.dot(ul))
                        };
                        let inverse = (pivot + b.armature).recip();
                        self.put(k, subspace, origin, ua, ul, inverse);
                        (a, h, m) = eliminated(&a, &h, &m, ua, ul, inverse);
                    }
                }
                _ => self.put(b.iv, subspace, origin, me.ua, me.ul, me.pivot),
            }
        }
    }

    #[inline(always)]
    fn put<L: Layout<T>>(
        &mut self,
        k: usize,
        subspace: &Subspace<T, L>,
        origin: V3<T>,
        ua: V3<T>,
        ul: V3<T>,
        inverse: T,
    ) {
        let (w, v) = subspace.s.get(k);
        let n = origin.cross_plus(ul, ua);
        let (s, u) = ([w.x, w.y, w.z, v.x, v.y, v.z], [n.x, n.y, n.z, ul.x, ul.y, ul.z]);
        let over = -inverse;
        self.factors[k] = Factor { s, u, g: scaled(&u, over), s_over: scaled(&s, over), over };
    }

    /// `out` = (−M⁻¹ X, −M⁻¹ Y, M⁻¹), all n × n by rows, in packs of columns that are no wider than the matrices.
    ///
    /// The last pack ends with the last column and may overlap the one before. It has numbers of its own for what they share.
    #[inline(always)]
    pub fn solve<P: Pack<T>>(&mut self, tree: &Tree, x: &[T], y: &[T], out: [&mut [T]; MATRICES]) {
        let n = self.steps.len();
        let [by_x, by_y, inverse] = out;
        assert!(x.len() == n * n && y.len() == n * n && inverse.len() == n * n);
        assert!(by_x.len() == n * n && by_y.len() == n * n && tree.nv == n && P::WIDTH <= n);
        for value in self.buffers.iter_mut() {
            *value = T::zero();
        }
        for k in (0..n).rev() {
            let row = k * n..(k + 1) * n;
            self.up::<P, false>(tree, k, 0, &x[row.clone()], &mut by_x[row.clone()]);
            self.up::<P, false>(tree, k, 1, &y[row.clone()], &mut by_y[row.clone()]);
            self.up::<P, true>(tree, k, 2, &[], &mut inverse[row]);
        }
        for k in 0..n {
            self.enter(k);
            let row = k * n..(k + 1) * n;
            self.down::<P>(k, 0, &mut by_x[row.clone()]);
            self.down::<P>(k, 1, &mut by_y[row.clone()]);
            self.down::<P>(k, 2, &mut inverse[row]);
            self.keep(k);
        }
    }

    /// The numbers of one matrix in a buffer, of which each pack has six times its width.
    #[inline(always)]
    fn size(&self) -> usize {
        6 * (self.steps.len() + WIDEST)
    }

    /// The first sweep at velocity k: only what moves it and what it moves has loads there. With `UNIT` X = −1.
    #[inline(always)]
    fn up<P: Pack<T>, const UNIT: bool>(&mut self, tree: &Tree, k: usize, matrix: usize, x: &[T], out: &mut [T]) {
        let size = self.size();
        let Self { factors, steps, buffers } = self;
        let (n, step, f) = (steps.len(), &steps[k], &factors[k]);
        let (shift, all) = (matrix * size, MATRICES * size);
        let own = step.chain * all + shift;
        let runs = tree.runs(k);
        let (mut at, mut run) = (0, if UNIT { runs.len() - 1 } else { 0 });
        let mut place = 0;
        while at < n {
            let first = at.min(n - P::WIDTH);
            let last = first + P::WIDTH;
            // The last run goes on to all that hangs on this velocity; that is where the columns of −1 begin.
            while run + 1 < runs.len() && runs[run].1 <= first {
                run += 1;
            }
            let (start, end) = (runs[run].0, if run + 1 == runs.len() { step.end } else { runs[run].1 });
            let start = if UNIT { k } else { start };
            if start < last && first < end {
                if let Some(from) = step.from {
                    add(buffers, from * all + shift + place, own + place, 6 * P::WIDTH);
                }
                let p = &mut buffers[own + place..own + place + 6 * P::WIDTH];
                let right = if UNIT { P::unit(k.wrapping_sub(first), -T::one()) } else { P::take(&x[first..last]) };
                load(f, right, &mut out[first..last], p);
                if let Some(onto) = step.onto {
                    add(buffers, own + place, onto * all + shift + place, 6 * P::WIDTH);
                }
            } else {
                P::zero().put(&mut out[first..last]);
            }
            at += P::WIDTH;
            place += 6 * P::WIDTH;
        }
    }

    /// The second sweep at velocity k.
    #[inline(always)]
    fn down<P: Pack<T>>(&mut self, k: usize, matrix: usize, out: &mut [T]) {
        let (n, size) = (self.steps.len(), self.size());
        let f = &self.factors[k];
        let a = &mut self.buffers[matrix * size..(matrix + 1) * size];
        // The last pack is read before the one that it may overlap is written.
        let last = P::take(&out[n - P::WIDTH..]);
        let (mut at, mut place) = (0, 0);
        while at + P::WIDTH < n {
            let row = &mut out[at..at + P::WIDTH];
            accelerate(f, P::take(row), row, &mut a[place..place + 6 * P::WIDTH]);
            at += P::WIDTH;
            place += 6 * P::WIDTH;
        }
        accelerate(f, last, &mut out[n - P::WIDTH..], &mut a[place..place + 6 * P::WIDTH]);
    }

    /// Brings the accelerations of what velocity k hangs on into the first buffer.
    #[inline(always)]
    fn enter(&mut self, k: usize) {
        let size = MATRICES * self.size();
        match self.steps[k].before {
            Before::Previous => {}
            Before::Other(kept) => {
                for i in 0..size {
                    self.buffers[i] = self.buffers[kept * size + i];
                }
            }
            Before::None => {
                for i in 0..size {
                    self.buffers[i] = T::zero();
                }
            }
        }
    }

    /// Keeps the accelerations of velocity k if others than the next hang on it.
    #[inline(always)]
    fn keep(&mut self, k: usize) {
        let (size, kept) = (MATRICES * self.size(), self.steps[k].kept);
        if kept > 0 {
            for i in 0..size {
                self.buffers[kept * size + i] = self.buffers[i];
            }
        }
    }
}

#[inline(always)]
fn scaled<T: Real>(x: &[T; 6], k: T) -> [T; 6] {
    [x[0] * k, x[1] * k, x[2] * k, x[3] * k, x[4] * k, x[5] * k]
}

/// The six packs of a part of a buffer.
#[inline(always)]
fn six<T: Real, P: Pack<T>>(x: &[T]) -> [P; 6] {
    let w = P::WIDTH;
    [
        P::take(x),
        P::take(&x[w..]),
        P::take(&x[2 * w..]),
        P::take(&x[3 * w..]),
        P::take(&x[4 * w..]),
        P::take(&x[5 * w..]),
    ]
}

/// Adds a part of a buffer to that of another.
#[inline(always)]
fn add<T: Real>(buffers: &mut [T], from: usize, to: usize, count: usize) {
    for i in 0..count {
        let other = buffers[from + i];
        buffers[to + i] += other;
    }
}

/// w = (x − Sᵀ p)/D with the sign of x turned, and p + U w, for a pack of columns.
#[inline(always)]
fn load<T: Real, P: Pack<T>>(f: &Factor<T>, x: P, out: &mut [T], p: &mut [T]) {
    let old = six::<T, P>(p);
    let w = combine(x.times(f.over), &f.s_over, &old);
    w.put(out);
    for c in 0..6 {
        w.times_plus(f.u[c], old[c]).put(&mut p[c * P::WIDTH..(c + 1) * P::WIDTH]);
    }
}

/// x = w − Uᵀ a/D and a + S x, for a pack of columns.
#[inline(always)]
fn accelerate<T: Real, P: Pack<T>>(f: &Factor<T>, w: P, out: &mut [T], a: &mut [T]) {
    let old = six::<T, P>(a);
    let x = combine(w, &f.g, &old);
    x.put(out);
    for c in 0..6 {
        x.times_plus(f.s[c], old[c]).put(&mut a[c * P::WIDTH..(c + 1) * P::WIDTH]);
    }
}

/// The inertia that is left when a direction with load (ua, ul) and pivot 1/`inverse` is eliminated.
#[inline(always)]
fn eliminated<T: Real>(a: &Y3<T>, h: &M3<T>, m: &Y3<T>, ua: V3<T>, ul: V3<T>, inverse: T) -> (Y3<T>, M3<T>, Y3<T>) {
    let (ka, kl) = (ua.times(inverse), ul.times(inverse));
    let h = M3 { a: ka.times_from(ul.x, h.a), b: ka.times_from(ul.y, h.b), c: ka.times_from(ul.z, h.c) };
    (a.minus_outer(ka, ua), h, m.minus_outer(kl, ul))
}

/// r + Σ k_c p_c, in three short chains.
#[inline(always)]
fn combine<T: Real, P: Pack<T>>(r: P, k: &[T; 6], p: &[P; 6]) -> P {
    let x = p[0].times_plus(k[0], p[1].times_plus(k[1], r));
    let y = p[2].times_plus(k[2], p[3].times(k[3]));
    let z = p[4].times_plus(k[4], p[5].times(k[5]));
    x.plus(y.plus(z))
}

/// Columns that go side by side through the sweeps: a fixed number of numbers `T`.
pub(crate) trait Pack<T: Real>: Copy {
    /// How many.
    const WIDTH: usize;
    fn zero() -> Self;
    /// Zeros but for `value` at place k, if it has such a place.
    fn unit(k: usize, value: T) -> Self;
    /// From the first numbers of a row.
    fn take(row: &[T]) -> Self;
    fn put(self, row: &mut [T]);
    fn plus(self, o: Self) -> Self;
    fn times(self, k: T) -> Self;
    /// self · k + o
    fn times_plus(self, k: T, o: Self) -> Self;
}

/// One column: numbers that are several themselves, or trees of few velocities.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Alone<T>(T);

impl<T: Real> Pack<T> for Alone<T> {
    const WIDTH: usize = 1;
    #[inline(always)]
    fn zero() -> Self {
        Self(T::zero())
    }
    #[inline(always)]
    fn unit(k: usize, value: T) -> Self {
        Self(if k == 0 { value } else { T::zero() })
    }
    #[inline(always)]
    fn take(row: &[T]) -> Self {
        Self(row[0])
    }
    #[inline(always)]
    fn put(self, row: &mut [T]) {
        row[0] = self.0;
    }
    #[inline(always)]
    fn plus(self, o: Self) -> Self {
        Self(self.0 + o.0)
    }
    #[inline(always)]
    fn times(self, k: T) -> Self {
        Self(self.0 * k)
    }
    #[inline(always)]
    fn times_plus(self, k: T, o: Self) -> Self {
        Self(k.mul_plus(self.0, o.0))
    }
}

/// Four columns for each of `C` vectors. The entry points use it, which unit tests leave out.
#[cfg_attr(test, allow(dead_code))]
#[derive(Copy, Clone, Debug)]
pub(crate) struct Fours<const C: usize, const F: bool>([FastLanes<4, F>; C]);

impl<const C: usize, const F: bool> Pack<Fast<F>> for Fours<C, F> {
    const WIDTH: usize = 4 * C;
    #[inline(always)]
    fn zero() -> Self {
        Self([FastLanes([0.0; 4]); C])
    }
    #[inline(always)]
    fn unit(k: usize, value: Fast<F>) -> Self {
        let mut out = Self::zero();
        if k < 4 * C {
            out.0[k / 4].0[k % 4] = value.0;
        }
        out
    }
    #[inline(always)]
    fn take(row: &[Fast<F>]) -> Self {
        let row = &row[..4 * C];
        let mut out = Self::zero();
        for c in 0..C {
            let four = &row[4 * c..4 * c + 4];
            out.0[c] = FastLanes([four[0].0, four[1].0, four[2].0, four[3].0]);
        }
        out
    }
    #[inline(always)]
    fn put(self, row: &mut [Fast<F>]) {
        let row = &mut row[..4 * C];
        for c in 0..C {
            let (x, four) = (self.0[c].0, &mut row[4 * c..4 * c + 4]);
            four[0] = Fast(x[0]);
            four[1] = Fast(x[1]);
            four[2] = Fast(x[2]);
            four[3] = Fast(x[3]);
        }
    }
    #[inline(always)]
    fn plus(mut self, o: Self) -> Self {
        for c in 0..C {
            self.0[c] += o.0[c];
        }
        self
    }
    #[inline(always)]
    fn times(mut self, k: Fast<F>) -> Self {
        for c in 0..C {
            self.0[c] = self.0[c] * k.0;
        }
        self
    }
    #[inline(always)]
    fn times_plus(mut self, k: Fast<F>, o: Self) -> Self {
        for c in 0..C {
            self.0[c] = self.0[c].scale_plus(k.0, o.0[c]);
        }
        self
    }
}
