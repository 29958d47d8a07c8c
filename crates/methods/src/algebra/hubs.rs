//! Sparse LDLᵀ of a constraint solve in which the velocities of a few *hubs* stay unknowns.
//!
//! A body met by very many rows (a platform on hundreds of legs) makes S = G M⁻¹ Gᵀ full although masses and rows are sparse. With
//! H for the hubs and S₀ for the Schur complement over all other masses
//!
//! ```text
//! S = S₀ + G_H M_H⁻¹ G_Hᵀ          S λ = r    ⇔    [S₀    G_H ] [λ]   [r]
//!                                                  [G_Hᵀ  −M_H] [w] = [0]          w = M_H⁻¹ G_Hᵀ λ
//! ```
//!
//! Without its hubs S₀ falls into many small parts. It is eliminated first, by the block Cholesky of `cholesky.rs`. Rows whose
//! pivot is at most [`DELAY`] while the hubs are held fixed may be independent as soon as the hubs move; they are
//! *delayed* (d), all others (k) are eliminated:
//!
//! ```text
//! S₀kk = L Lᵀ      Z_d = L⁻¹ S₀kd      Z_H = L⁻¹ G_kH
//! W = M_H + Z_Hᵀ Z_H = R Rᵀ            B = G_dH − Z_dᵀ Z_H      V = R⁻¹ Bᵀ
//! T = S₀dd − Z_dᵀ Z_d + Vᵀ V
//! ```
//!
//! The signature of the whole is (k, −h, d): W is positive definite as M_H is, and T, what is left of S for the delayed
//! rows once all rows k are met, is positive semidefinite. Its pivoted Cholesky finds the rank. A row that is independent while the hubs are
//! fixed is so when they move, hence the rank means the same as without hubs. Pivots are those of S scaled to a unit
//! diagonal; those of the rows k are with the hubs held fixed, which is at most the true value, and above [`DELAY`] both.
//!
//! Rounding: Z_H and W grow like 1/√p and 1/p with the smallest pivot p of a row k, so T is right to about ε/p = 2e-12,
//! far below the pivot 1e-10 at which rows count as dependent.
//!
//! References: I. S. Duff, J. K. Reid, *The multifrontal solution of indefinite sparse symmetric linear systems*, ACM Trans. Math.
//! Softw. 9 (1983) 302–325 (delayed pivots); M. Benzi, G. H. Golub, J. Liesen, *Numerical solution of saddle point problems*,
//! Acta Numerica 14 (2005) 1–137, sections 3.3 and 7.

use super::cholesky::{BlockCholesky, pivoted};
use super::layout::{Layout, Piece};
use super::mass::cholesky as dense_cholesky;
use super::parts::{Line, Part, lines};
use super::saddle::DEPENDENT;
use super::{Mass, MassBlock, Rows, dot};

/// Pivot with the hubs held fixed, at or below which a row waits for the hubs.
pub(crate) const DELAY: f64 = 1e-4;
/// Room for delayed rows beyond those that must be.
const ROOM: usize = 32;

/// A piece of rows over hubs: the piece, where its first entry of G_H lies, and how far apart columns are.
#[derive(Copy, Clone, Debug)]
struct Over {
    piece: usize,
    start: usize,
    stride: usize,
}

/// A row that waits for the hubs.
#[derive(Copy, Clone, Debug)]
struct Delayed {
    row: usize,
    part: usize,
    /// Where Z_d begins.
    start: usize,
}

/// The extended system: parts, hubs, delayed rows, and their factors.
#[derive(Clone, Debug)]
pub(crate) struct Hubs {
    velocities: Vec<usize>,
    parts: Vec<Part>,
    /// For each row its part, its place there, its group and its place there.
    place: Vec<[usize; 4]>,
    over: Vec<Over>,
    /// Pairs of pieces over hubs that add to the diagonal of S, and what they add.
    own: Vec<(usize, usize)>,
    diagonal: Vec<f64>,
    usable: Vec<bool>,
    /// S₀ before it is factored, and its blocks as seen from each group.
    matrix: Vec<f64>,
    lines: Vec<Vec<Line>>,
    /// G_H and Z_H by parts and columns; M_H, W and R by rows.
    g: Vec<f64>,
    z: Vec<f64>,
    mass: Vec<f64>,
    w: Vec<f64>,
    root: Vec<f64>,
    /// Delayed rows that may be independent: Z_d one after the other, V by rows of d, T and its factor, rank and order; what the
    /// pivoting of T needs (`t_pivot` is scratch of solves later), and right-hand sides.
    delayed: Vec<Delayed>,
    z_delayed: Vec<f64>,
    v: Vec<f64>,
    t: Vec<f64>,
    t_factor: Vec<f64>,
    rank: usize,
    order: Vec<usize>,
    t_kept: Vec<bool>,
    t_threshold: Vec<f64>,
    t_pivot: Vec<f64>,
    s: Vec<f64>,
    /// Scratch: over all rows, over a part, over hubs; rows kept before, and thresholds while the hubs are fixed.
    x: Vec<f64>,
    y: Vec<f64>,
    u: Vec<f64>,
    before: Vec<bool>,
    thresholds: Vec<f64>,
}

impl Hubs {
    /// The structure; `must` rows have to be delayed, more may be.
    pub fn new(layout: &Layout, cholesky: &BlockCholesky, must: usize) -> Self {
        let m = *layout.cuts.last().expect("cuts begin with zero");
        let (groups, part_of) = layout.parts();
        let mut start = 0;
        let parts: Vec<Part> = groups.into_iter().map(|part| Part::new(part, layout, cholesky, &mut start)).collect();
        let mut place = vec![[0; 4]; m];
        for (index, part) in parts.iter().enumerate() {
            for (at, row) in part.rows.iter().cloned().flatten().enumerate() {
                place[row][..2].copy_from_slice(&[index, at]);
            }
        }
        for (group, cut) in layout.cuts.windows(2).enumerate() {
            for row in cut[0]..cut[1] {
                place[row][2..].copy_from_slice(&[group, row - cut[0]]);
            }
        }
        let over = (0..layout.pieces.len()).filter(|&piece| layout.pieces[piece].hub).map(|index| {
            let piece = &layout.pieces[index];
            let part = &parts[part_of[piece.group]];
            let column = part.hubs.partition_point(|&hub| hub < layout.place(piece.col));
            Over { piece: index, start: part.start + column * part.size + place[piece.row][1], stride: part.size }
        });
        let h = layout.hubs.len();
        let largest = parts.iter().map(|part| part.size).max().unwrap_or(0);
        let room = m.min(must + ROOM);
        let zeros = |n: usize| vec![0.0; n];
        Self {
            velocities: layout.hubs.clone(),
            over: over.collect(),
            own: layout.own.clone(),
            diagonal: zeros(m),
            usable: vec![false; m],
            matrix: zeros(cholesky.values().len()),
            lines: lines(layout, cholesky),
            g: zeros(start),
            z: zeros(start),
            mass: zeros(h * h),
            w: zeros(h * h),
            root: zeros(h * h),
            delayed: Vec::with_capacity(room),
            z_delayed: Vec::with_capacity(room * largest),
            v: Vec::with_capacity(room * h),
            t: Vec::with_capacity(room * room),
            t_factor: Vec::with_capacity(room * room),
            rank: 0,
            order: Vec::with_capacity(room),
            t_kept: Vec::with_capacity(room),
            t_threshold: Vec::with_capacity(room),
            t_pivot: Vec::with_capacity(room),
            s: Vec::with_capacity(room),
            x: zeros(m),
            y: zeros(largest),
            u: zeros(h),
            before: vec![false; m],
            thresholds: zeros(m),
            parts,
            place,
        }
    }

    /// The velocities that stay unknowns, ascending.
    pub fn velocities(&self) -> &[usize] {
        &self.velocities
    }

    /// Takes G_H and M_H, and what they add to the diagonal of S; `w` is M⁻¹ Gᵀ by pieces.
    pub fn assemble(&mut self, mass: &Mass<f64>, rows: &Rows<f64>, pieces: &[Piece], w: &[f64]) {
        for over in &self.over {
            let piece = &pieces[over.piece];
            for k in 0..piece.rows {
                for (column, &g) in piece.line(rows, k).iter().enumerate() {
                    self.g[over.start + column * over.stride + k] = g;
                }
            }
        }
        self.diagonal.fill(0.0);
        for &(p, q) in &self.own {
            for (p, q) in [(p, q), (q, p)].into_iter().take(if p == q { 1 } else { 2 }) {
                let (p, q) = (&pieces[p], &pieces[q]);
                let (low, high) = p.meets(q);
                for k in 0..p.rows {
                    let g = &p.line(rows, k)[low - p.col..high - p.col];
                    self.diagonal[p.row + k] += dot(g, &w[q.start + k * q.wide + low - q.wide_col..][..high - low]);
                }
            }
        }
        self.take_mass(mass);
    }

    /// Takes M_H, its lower triangle.
    fn take_mass(&mut self, mass: &Mass<f64>) {
        let h = self.velocities.len();
        let mut hub = 0;
        for (block, (shape, first)) in mass.blocks().enumerate() {
            let values = mass.block(block);
            while hub < h && self.velocities[hub] < first + shape.size() {
                let at = self.velocities[hub] - first;
                match shape {
                    MassBlock::Diagonal(_) => self.mass[hub * h + hub] = values[at],
                    // The layout makes no hubs of carriers.
                    MassBlock::Carried(_) => {}
                    MassBlock::Dense(n) => {
                        let line = &mut self.mass[hub * h + hub - at..=hub * h + hub];
                        line.copy_from_slice(&values[at * n..=at * n + at]);
                    }
                }
                hub += 1;
            }
        }
    }

    /// Adds what hubs bring to the diagonal of S.
    pub fn add_diagonal(&self, out: &mut [f64]) {
        for (out, own) in out.iter_mut().zip(&self.diagonal) {
            *out += own;
        }
    }

    /// Scales the rows of G_H; rows scaled by zero are left out.
    pub fn scale(&mut self, scale: &[f64]) {
        for part in &self.parts {
            for column in self.g[part.start..part.start + part.hubs.len() * part.size].chunks_exact_mut(part.size) {
                for (g, row) in column.iter_mut().zip(part.rows.iter().cloned().flatten()) {
                    *g *= scale[row];
                }
            }
        }
        for (usable, scale) in self.usable.iter_mut().zip(scale) {
            *usable = *scale > 0.0;
        }
    }

    /// Factors the extended system; arguments as for [`BlockCholesky::factor`].
    pub fn factor(
        &mut self,
        cholesky: &mut BlockCholesky,
        kept: &mut [bool],
        threshold: &[f64],
        returning: f64,
        pivot: &mut [f64],
    ) {
        self.before.copy_from_slice(kept);
        self.matrix.copy_from_slice(cholesky.values());
        for (late, threshold) in self.thresholds.iter_mut().zip(threshold) {
            *late = threshold.max(DELAY);
        }
        cholesky.factor(kept, &self.thresholds, returning, pivot);
        self.factor_hubs(cholesky);
        let dropped = self.delay(cholesky, kept, threshold, returning, pivot);
        self.factor_delayed();
        // As many rows as were left before must do better to return, whichever they are now; some are left already.
        let left_before = (0..kept.len()).filter(|&i| self.usable[i] && !self.before[i]).count();
        let rows = self.delayed.iter().map(|late| late.row);
        self.t_kept.clear();
        self.t_kept.extend(rows.clone().map(|row| self.before[row]));
        self.t_threshold.clear();
        self.t_threshold.extend(rows.map(|row| threshold[row]));
        self.rank = pivoted(
            &self.t,
            &mut self.t_factor,
            &mut self.order,
            &mut self.t_kept,
            left_before.saturating_sub(dropped),
            &self.t_threshold,
            returning,
            &mut self.t_pivot,
        );
        for (i, late) in self.delayed.iter().enumerate() {
            kept[late.row] = self.t_kept[i];
            pivot[late.row] = self.t_pivot[i];
        }
    }

    /// Z_H = L⁻¹ G_kH and W = M_H + Z_Hᵀ Z_H = R Rᵀ.
    fn factor_hubs(&mut self, cholesky: &mut BlockCholesky) {
        let h = self.velocities.len();
        self.w.copy_from_slice(&self.mass);
        for part in &self.parts {
            let range = part.start..part.start + part.hubs.len() * part.size;
            let columns = self.g[range.clone()].chunks_exact(part.size);
            for (g, z) in columns.zip(self.z[range.clone()].chunks_exact_mut(part.size)) {
                part.scatter(g, &mut self.x);
                cholesky.forward(part.columns.iter().copied(), &mut self.x);
                part.gather(&self.x, z);
            }
            let z = &self.z[range];
            for (i, &row) in part.hubs.iter().enumerate() {
                for (j, &col) in part.hubs[..=i].iter().enumerate() {
                    self.w[row * h + col] += dot(&z[i * part.size..(i + 1) * part.size], &z[j * part.size..]);
                }
            }
        }
        dense_cholesky(h, &self.w, &mut self.root);
    }

    /// Finds the delayed rows with Z_d and V. Those that are dependent already on the rows eliminated are left at once and counted.
    fn delay(
        &mut self,
        cholesky: &mut BlockCholesky,
        kept: &[bool],
        threshold: &[f64],
        returning: f64,
        pivot: &mut [f64],
    ) -> usize {
        let h = self.velocities.len();
        self.delayed.clear();
        self.z_delayed.clear();
        self.v.clear();
        let mut dropped = 0;
        for row in (0..kept.len()).filter(|&i| !kept[i] && self.usable[i]) {
            let [index, at, group, line] = self.place[row];
            let part = &self.parts[index];
            // The column S₀kd, then Z_d.
            for range in &part.rows {
                self.x[range.clone()].fill(0.0);
            }
            for block in &self.lines[group] {
                block.copy(line, &self.matrix, &mut self.x);
            }
            let own = self.x[row];
            cholesky.forward(part.columns.iter().copied(), &mut self.x);
            let y = &mut self.y[..part.size];
            part.gather(&self.x, y);
            // V = R⁻¹ (G_dH − Z_dᵀ Z_H)ᵀ
            self.u.fill(0.0);
            for (j, &hub) in part.hubs.iter().enumerate() {
                let column = part.start + j * part.size;
                self.u[hub] = self.g[column + at] - dot(y, &self.z[column..column + part.size]);
            }
            forward(h, &self.root, &mut self.u);
            pivot[row] = own - dot(y, y) + dot(&self.u, &self.u);
            // Rows left before must exceed `returning`; those to be left in any case wait for their last pivot.
            let stays = !self.before[row] && threshold[row] < returning;
            if pivot[row] > if stays { returning } else { threshold[row].min(DEPENDENT) } {
                self.delayed.push(Delayed { row, part: index, start: self.z_delayed.len() });
                self.z_delayed.extend_from_slice(y);
                self.v.extend_from_slice(&self.u);
            } else {
                dropped += 1;
            }
        }
        dropped
    }

    /// T = S₀dd − Z_dᵀ Z_d + Vᵀ V, its lower triangle.
    fn factor_delayed(&mut self) {
        let (d, h) = (self.delayed.len(), self.velocities.len());
        self.order.resize(d, 0);
        self.t_pivot.resize(d, 0.0);
        self.t.resize(d * d, 0.0);
        self.t_factor.resize(d * d, 0.0);
        for (i, late) in self.delayed.iter().enumerate() {
            let size = self.parts[late.part].size;
            let z = &self.z_delayed[late.start..late.start + size];
            let [_, _, group, line] = self.place[late.row];
            for (j, other) in self.delayed[..=i].iter().enumerate() {
                let mut entry = dot(&self.v[i * h..(i + 1) * h], &self.v[j * h..(j + 1) * h]);
                if other.part == late.part {
                    let block = self.lines[group].iter().find(|block| block.covers(other.row));
                    entry += block.map_or(0.0, |block| block.entry(line, other.row, &self.matrix));
                    entry -= dot(z, &self.z_delayed[other.start..other.start + size]);
                }
                self.t[i * d + j] = entry;
            }
        }
    }

    /// Replaces `x` by the solution with zeros in the dependent rows; their right-hand sides are not read.
    pub fn solve(&mut self, cholesky: &mut BlockCholesky, x: &mut [f64]) {
        let (d, h) = (self.delayed.len(), self.velocities.len());
        self.s.clear();
        self.s.extend(self.delayed.iter().map(|late| x[late.row]));
        // y = L⁻¹ r_k,   u = R⁻¹ Z_Hᵀ y,   s = r_d − Z_dᵀ y − Vᵀ u
        cholesky.forward(cholesky.columns(), x);
        self.u.fill(0.0);
        for part in &self.parts {
            let y = &mut self.y[..part.size];
            part.gather(x, y);
            for (j, &hub) in part.hubs.iter().enumerate() {
                self.u[hub] += dot(y, &self.z[part.start + j * part.size..][..part.size]);
            }
        }
        forward(h, &self.root, &mut self.u);
        for (i, late) in self.delayed.iter().enumerate() {
            let part = &self.parts[late.part];
            let y = &mut self.y[..part.size];
            part.gather(x, y);
            self.s[i] -= dot(y, &self.z_delayed[late.start..]) + dot(&self.u, &self.v[i * h..(i + 1) * h]);
        }
        // T λ_d = s,   w = R⁻ᵀ (u + V λ_d)
        self.solve_delayed();
        for (i, v) in self.v.chunks_exact(h.max(1)).enumerate().take(d) {
            for (u, v) in self.u.iter_mut().zip(v) {
                *u += v * self.s[i];
            }
        }
        backward(h, &self.root, &mut self.u);
        // λ_k = L⁻ᵀ (y − Z_d λ_d − Z_H w)
        for part in &self.parts {
            for (j, &hub) in part.hubs.iter().enumerate() {
                part.subtract(self.u[hub], &self.z[part.start + j * part.size..], x);
            }
        }
        for (i, late) in self.delayed.iter().enumerate() {
            self.parts[late.part].subtract(self.s[i], &self.z_delayed[late.start..], x);
        }
        cholesky.backward(x);
        for (i, late) in self.delayed.iter().enumerate() {
            x[late.row] = self.s[i];
        }
    }

    /// s ← T⁻¹ s, zero in the dependent rows.
    fn solve_delayed(&mut self) {
        let (d, rank, l) = (self.delayed.len(), self.rank, &self.t_factor);
        let z = &mut self.t_pivot[..d];
        for step in 0..rank {
            let p = self.order[step];
            z[step] = (self.s[p] - dot(&l[p * d..p * d + step], &z[..step])) / l[p * d + step];
        }
        self.s.fill(0.0);
        for step in (0..rank).rev() {
            let p = self.order[step];
            let value = z[step] / l[p * d + step];
            self.s[p] = value;
            for (z, l) in z[..step].iter_mut().zip(&l[p * d..]) {
                *z -= l * value;
            }
        }
    }
}

/// x ← R⁻¹ x, reciprocals on the diagonal.
fn forward(n: usize, root: &[f64], x: &mut [f64]) {
    for i in 0..n {
        x[i] = (x[i] - dot(&root[i * n..i * n + i], &x[..i])) * root[i * n + i];
    }
}

/// x ← R⁻ᵀ x, reciprocals on the diagonal.
fn backward(n: usize, root: &[f64], x: &mut [f64]) {
    for i in (0..n).rev() {
        x[i] *= root[i * n + i];
        for j in 0..i {
            x[j] -= root[i * n + j] * x[i];
        }
    }
}
