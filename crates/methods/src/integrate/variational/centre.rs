//! Centres of mass about which curves with a frequency bend.
//!
//! A curve q = g₁ q_k + g₂ q_{k+1} with g₁ + g₂ ≠ 1 depends on where coordinates are zero, and an action of such curves is not the same after a shift: it has no linear
//! momentum to keep. Bodies on which no forces act but those between them (and forces that are the same everywhere) have a zero of their own, their centre of mass
//! c = Σ s_b q_b, s_b = m_b/M. Their curves are
//!
//! ```text
//! q_b(τ) = c_k + τ (c_{k+1} − c_k) + g₁ r_k + g₂ r_{k+1},      r = q_b − c
//! ```
//!
//! and the kinetic energy of the step is ½M|ċ|² + ½Σ m_b|ṙ_b|²: motion about the centre is fitted, the centre moves in a straight line. Shifts and turns leave the action as
//! it is, so that linear and angular momentum are kept. (Exact motions have Σ m_b ṙ_b = 0. Those of the curves have it up to the error of curves, which would enter the
//! kinetic energy squared, as every error of curves does: it is left out. In places it is taken out, q_b − Σ s r, which forces do not see.) With F(τ) the sum of forces on the
//! bodies, and A and B what [`super::discrete`] sums up at the end and at both ends for curves about zero under the forces F_b − s_b F, the chain rule gives
//!
//! ```text
//! A_b ← A_b + s_b (M (c_{k+1} − c_k) + Σ w h² τ F − Σ A),      B_b ← B_b + s_b (Σ w h² F − Σ B)
//! ```
//!
//! The equations of a step need A − B, the momentum at its end A.
//!
//! Which bodies these are is found out at the start: those that are connected by forces and whose forces do not change when all of them are shifted.

use crate::algebra::{Mass, Rows};
use crate::real::Real;
use crate::system::{Coupling, State, System};
use std::ops::Range;

/// Numbers of a centre: one for each direction.
pub(super) const WIDE: usize = 3;
/// Relative changes of forces by a shift of the size of a cluster that are taken for none: far above rounding, far below what a force that is not the same everywhere shows.
/// A wrong answer costs accuracy, not consistency.
const SAME: f64 = 1e-7;

/// Bodies with a common centre.
#[derive(Clone, Debug, PartialEq)]
struct Cluster {
    /// How many coordinates a body has, and the first one of each.
    width: usize,
    starts: Vec<usize>,
    /// s_b of each, and M.
    shares: Vec<f64>,
    total: f64,
}

/// All clusters of a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Centres(Vec<Cluster>);

/// The coordinates of one body.
#[inline(always)]
fn body<R, const W: usize>(x: &[R], start: usize) -> &[R; W] {
    x[start..].first_chunk().expect("the coordinates of a body")
}

#[inline(always)]
fn body_mut<R, const W: usize>(x: &mut [R], start: usize) -> &mut [R; W] {
    x[start..].first_chunk_mut().expect("the coordinates of a body")
}

/// Does the same for bodies of one, two or three coordinates, with loops of known length.
macro_rules! wide {
    ($cluster:expr, $method:ident($($argument:expr),*)) => {
        match $cluster.width {
            1 => $cluster.$method::<_, 1>($($argument),*),
            2 => $cluster.$method::<_, 2>($($argument),*),
            _ => $cluster.$method::<_, 3>($($argument),*),
        }
    };
}

impl Cluster {
    /// Each body and its share.
    #[inline(always)]
    fn bodies(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.starts.iter().copied().zip(self.shares.iter().copied())
    }

    /// The mean Σ s x.
    fn mean<R: Real, const W: usize>(&self, x: &[R], out: &mut [R]) {
        let mut own = [R::zero(); W];
        for (start, share) in self.bodies() {
            let x: &[R; W] = body(x, start);
            (0..W).for_each(|j| own[j] += x[j] * share);
        }
        out[..W].copy_from_slice(&own);
    }

    /// Makes numbers of bodies relative to their mean, which is written to `mean`.
    fn relate<R: Real, const W: usize>(&self, x: &mut [R], mean: &mut [R]) {
        self.mean::<R, W>(x, mean);
        let back: [R; WIDE] = std::array::from_fn(|j| if j < W { -mean[j] } else { R::zero() });
        self.shift::<R, W>(&back, x);
    }

    /// Adds the same to all bodies.
    #[inline(always)]
    fn shift<R: Real, const W: usize>(&self, by: &[R; WIDE], x: &mut [R]) {
        for &start in &self.starts {
            let x: &mut [R; W] = body_mut(x, start);
            (0..W).for_each(|j| x[j] += by[j]);
        }
    }

    /// Σ x.
    fn total<R: Real, const W: usize>(&self, x: &[R], out: &mut [R]) {
        let mut sum = [R::zero(); W];
        for &start in &self.starts {
            let x: &[R; W] = body(x, start);
            (0..W).for_each(|j| sum[j] += x[j]);
        }
        out[..W].copy_from_slice(&sum);
    }

    /// See [`Centres::offsets`].
    fn offsets<R: Real, const W: usize>(&self, inverse: &[f64], width: usize, z: &[R], mean: &mut [R], out: &mut [R]) {
        let ([mut mid, mut rest], mut weight) = ([[R::zero(); W]; 2], 0.0);
        for (start, share) in self.bodies() {
            let own = if width == 1 { start } else { start / W };
            let (z, part): (&[R; W], f64) = (body(z, start), share * inverse[own]);
            weight += part;
            for j in 0..W {
                mid[j] += z[j] * share;
                rest[j] += z[j] * part;
            }
        }
        // Σ part (z − z̄) = Σ part z − z̄ Σ part, and (z − z̄ + λ)/I with λ = −that over Σ part.
        let over = 1.0 / weight;
        for j in 0..W {
            (mean[j], out[j]) = (mid[j], -rest[j] * over);
        }
    }
}

/// Which centre each body has: where in what is written for all centres its own is, and the share s_b. Bodies without one have a place of zeros at the end, and no share.
#[derive(Clone, Debug, Default)]
pub(super) struct Homes {
    pub starts: Vec<usize>,
    pub shares: Vec<f64>,
}

/// What is written for a centre.
#[inline(always)]
pub(super) fn home<R, const W: usize>(all: &[R], start: usize) -> &[R; W] {
    body(all, start)
}

impl Centres {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Lets each body of a cluster depend on each, which they do through their centre.
    pub fn couple(&self, coupling: &mut Coupling) {
        for cluster in &self.0 {
            let inside = |group: &Range<usize>| cluster.starts.contains(&group.start);
            let members: Vec<usize> = (0..coupling.groups.len()).filter(|&g| inside(&coupling.groups[g])).collect();
            for &group in &members {
                let own = &mut coupling.neighbours[group];
                own.extend(&members);
                own.sort_unstable();
                own.dedup();
            }
        }
    }

    /// Makes coordinates, or their rates, relative to their centres, whose own are written to `means`, [`WIDE`] for each.
    pub fn relate<R: Real>(&self, x: &mut [R], means: &mut [R]) {
        for (cluster, mean) in self.0.iter().zip(means.chunks_exact_mut(WIDE)) {
            wide!(cluster, relate(x, mean));
        }
    }

    /// Where centres are.
    pub fn means<R: Real>(&self, x: &[R], out: &mut [R]) {
        for (cluster, out) in self.0.iter().zip(out.chunks_exact_mut(WIDE)) {
            wide!(cluster, mean(x, out));
        }
    }

    /// The sums over the bodies of each centre.
    pub fn total<R: Real>(&self, x: &[R], out: &mut [R]) {
        for (cluster, out) in self.0.iter().zip(out.chunks_exact_mut(WIDE)) {
            wide!(cluster, total(x, out));
        }
    }

    /// What each centre has to share out: M (c_{k+1} − c_k) and what forces on all of its bodies do, less what is counted for each by itself.
    pub fn lead<R: Real>(&self, means: &[R], pushes: &[R], counted: &mut [R]) {
        let each = means.chunks_exact(WIDE).zip(pushes.chunks_exact(WIDE)).zip(counted.chunks_exact_mut(WIDE));
        for (cluster, ((mean, push), counted)) in self.0.iter().zip(each) {
            for j in 0..cluster.width {
                counted[j] = mean[j] * cluster.total + push[j] - counted[j];
            }
        }
    }

    /// Solves with what multiplies the masses in the equations: `inverse` is that of curves about zero, for every `width` coordinates. With z what the masses leave, z̄ its mean, the centre moves by z̄
    /// and each body relative to it by (z − z̄ + λ)/I, λ such that their mean rests: λ = z̄ − Σ (s/I) z/Σ (s/I). These are z̄ and λ − z̄.
    pub fn offsets(&self, inverse: &[f64], width: usize, z: &[f64], means: &mut [f64], out: &mut [f64]) {
        let each = means.chunks_exact_mut(WIDE).zip(out.chunks_exact_mut(WIDE));
        for (cluster, (mean, out)) in self.0.iter().zip(each) {
            wide!(cluster, offsets(inverse, width, z, mean, out));
        }
    }

    /// The centre of each of the bodies of `width` coordinates that `n` are made of.
    pub fn homes(&self, n: usize, width: usize) -> Homes {
        let mut out = Homes { starts: vec![WIDE * self.0.len(); n / width], shares: vec![0.0; n / width] };
        for (i, cluster) in self.0.iter().enumerate() {
            for (start, share) in cluster.bodies() {
                for k in (start..start + cluster.width).step_by(width) {
                    (out.starts[k / width], out.shares[k / width]) = (WIDE * i + k - start, share);
                }
            }
        }
        out
    }

    /// Finds the clusters of a system at a state: bodies of one width that are connected by forces or constraints, each of one mass, whose forces and constraints do not
    /// change when all of them are shifted.
    pub fn find<Y: System>(y: &Y, s: &State<f64>) -> Self {
        let shape = y.shape();
        let mut masses = vec![0.0; shape.v];
        let mut mass = Mass::new(&y.mass_blocks());
        let mut work = y.work();
        y.prepare(s, &mut work);
        y.mass(s, &mut work, &mut mass);
        let mut diagonal = y.mass_is_constant() && shape.q == shape.v;
        mass.entries(|row, col, value| match row == col {
            true => masses[row] = value,
            false => diagonal &= value == 0.0,
        });
        if !diagonal {
            return Self::default();
        }
        let coupling = y.coupling();
        let mut out = Vec::new();
        for part in connected(y, &coupling) {
            let own = part.iter().map(|&g| coupling.groups[g].clone());
            let width = coupling.groups[part[0]].len();
            let alike = |group: Range<usize>| {
                group.len() == width && masses[group.clone()].iter().all(|m| *m == masses[group.start] && *m > 0.0)
            };
            if part.len() < 2 || !(1..=WIDE).contains(&width) || !own.clone().all(alike) {
                continue;
            }
            let starts: Vec<usize> = own.map(|group| group.start).collect();
            let total: f64 = starts.iter().map(|&start| masses[start]).sum();
            let cluster =
                Cluster { width, shares: starts.iter().map(|&at| masses[at] / total).collect(), starts, total };
            if is_free(y, s, &cluster, &mut work) {
                out.push(cluster);
            }
        }
        Self(out)
    }
}

/// The groups of velocities that are connected by forces or constraints.
fn connected<Y: System>(y: &Y, coupling: &Coupling) -> Vec<Vec<usize>> {
    let count = coupling.groups.len();
    let mut root: Vec<usize> = (0..count).collect();
    let find = |root: &[usize], mut at: usize| {
        while root[at] != at {
            at = root[at];
        }
        at
    };
    let mut join = |a: usize, b: usize| {
        let (a, b) = (find(&root, a), find(&root, b));
        root[a.max(b)] = a.min(b);
    };
    for (group, neighbours) in coupling.neighbours.iter().enumerate() {
        neighbours.iter().for_each(|&other| join(group, other));
    }
    let of = |velocity: usize| coupling.groups.iter().position(|group| group.contains(&velocity));
    let mut first: Vec<Option<usize>> = vec![None; y.shape().rows()];
    for block in y.row_blocks() {
        let Some(group) = of(block.col) else { continue };
        for row in &mut first[block.row..block.row + block.rows] {
            join(group, row.unwrap_or(group));
            *row = Some(group);
        }
    }
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    (0..count).for_each(|group| out[find(&root, group)].push(group));
    out.retain(|part| !part.is_empty());
    out
}

/// Whether forces on a cluster and the rows of constraints are the same after shifts.
fn is_free<Y: System>(y: &Y, s: &State<f64>, cluster: &Cluster, work: &mut Y::Work<f64>) -> bool {
    let shape = y.shape();
    let mut rows = Rows::new(shape.rows(), shape.v, &y.row_blocks());
    let mut read = |s: &State<f64>| {
        let (mut force, mut residual) = (vec![0.0; shape.v], vec![0.0; shape.g]);
        y.prepare(s, work);
        y.force(s, work, &mut force);
        y.constraint(s, work, &mut residual);
        y.jacobian(s, work, &mut rows);
        let entries: Vec<f64> = (0..rows.blocks().len()).flat_map(|i| rows.block(i).to_vec()).collect();
        (force, residual, entries)
    };
    let (mut about, mut centre) = (s.q.clone(), [0.0; WIDE]);
    wide!(cluster, relate(&mut about, &mut centre));
    let own = |x: &[f64]| -> Vec<f64> {
        cluster.starts.iter().flat_map(|&start| x[start..start + cluster.width].to_vec()).collect()
    };
    let extent = own(&about).iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let extent = if extent > 0.0 { extent } else { 1.0 };
    let (force, residual, entries) = read(s);
    let far = |a: &[f64], b: &[f64]| {
        let size = a.iter().chain(b).fold(0.0, |most: f64, x| most.max(x.abs()));
        // A force that is not a number is not the same anywhere.
        !a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME * size)
    };
    // Two directions that nothing is aligned with.
    [[0.31, -0.47, 0.23], [-0.83, 0.11, 0.59]].iter().all(|direction| {
        let mut moved = s.clone();
        wide!(cluster, shift(&direction.map(|d| d * extent), &mut moved.q));
        let (pushed, shifted, others) = read(&moved);
        let held = residual.iter().zip(&shifted).all(|(a, b)| (a - b).abs() <= SAME * extent);
        held && !far(&own(&force), &own(&pushed)) && (entries.is_empty() || !far(&entries, &others))
    })
}
