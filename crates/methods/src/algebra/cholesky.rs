//! Block-sparse Cholesky factors of positive *semi*definite matrices, with the rank found on the way.
//!
//! The matrix S is made of square groups of rows. Groups are eliminated in a fill-reducing order fixed at construction;
//! inside a group the largest remaining pivot goes first. A full matrix is the case of one group: diagonally pivoted
//! Cholesky. With S scaled to a unit diagonal, the pivot of a row is the squared sine of the angle between that row and the
//! span of the rows kept before it, whatever their order. A row whose pivot is at most its threshold is *dependent*: its
//! column of the factor is zero, and so is its entry in every solution.
//!
//! ```text
//! S_JJ = L_J L_Jᵀ (rank r_J)      L_IJ = S_IJ P_J L_J⁻ᵀ      S_IK ← S_IK − L_IJ L_KJᵀ      for I, K after J
//! ```
//!
//! References: N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., SIAM 2002, section 10.3;
//! T. A. Davis, *Direct Methods for Sparse Linear Systems*, SIAM 2006, chapter 4.

use super::dot;
use super::ordering::{Elimination, minimum_degree};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// A row that was left before takes the place of a kept one only if its pivot is larger by the reciprocal of this.
const SWAP: f64 = 1e-2;

/// Where the values of a group pair live.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Slot {
    /// The first value; blocks are stored by rows.
    pub start: usize,
    /// The number of columns.
    pub stride: usize,
}

#[derive(Clone, Debug)]
struct Column {
    /// The group on the diagonal.
    group: usize,
    /// The place of S_JJ (lower triangle used) and, in `diagonals`, of L_J.
    matrix: usize,
    factor: usize,
    /// The groups below and the places of their blocks.
    below: Vec<(usize, usize)>,
    /// The places of the blocks (a, b), a ≥ b in `below`, that this column updates, in that order.
    updates: Vec<usize>,
    rank: usize,
}

/// The factors and their structure.
#[derive(Clone, Debug)]
pub(crate) struct BlockCholesky {
    columns: Vec<Column>,
    /// First row and number of rows of each group.
    groups: Vec<(usize, usize)>,
    slots: HashMap<(usize, usize), usize>,
    place: Vec<usize>,
    values: Vec<f64>,
    diagonals: Vec<f64>,
    /// For each group, its local rows in the order of their pivots, at the group's first row.
    pivots: Vec<usize>,
    row: Vec<f64>,
    work: u64,
}

impl BlockCholesky {
    /// The structure for groups of the given sizes (consecutive rows) that meet as `neighbours` says.
    pub fn new(sizes: &[usize], neighbours: &[BTreeSet<usize>]) -> Self {
        let mut first = 0;
        let groups: Vec<(usize, usize)> = sizes
            .iter()
            .map(|&n| {
                first += n;
                (first - n, n)
            })
            .collect();
        let Elimination { order, columns: reach } = minimum_degree(neighbours);
        let mut place = vec![0; sizes.len()];
        for (k, &g) in order.iter().enumerate() {
            place[g] = k;
        }
        let (mut total, mut total_diagonal) = (0, 0);
        let mut slots = HashMap::new();
        for (k, reach) in reach.iter().enumerate() {
            let column = order[k];
            for &row in std::iter::once(&k).chain(reach) {
                slots.insert((order[row], column), total);
                total += sizes[order[row]] * sizes[column];
            }
        }
        let columns = reach
            .iter()
            .enumerate()
            .map(|(k, reach)| {
                let group = order[k];
                let factor = total_diagonal;
                total_diagonal += sizes[group] * sizes[group];
                let mut updates = Vec::new();
                for (i, &a) in reach.iter().enumerate() {
                    updates.extend(reach[..=i].iter().map(|&b| slots[&(order[a], order[b])]));
                }
                Column {
                    group,
                    matrix: slots[&(group, group)],
                    factor,
                    below: reach.iter().map(|&r| (order[r], slots[&(order[r], group)])).collect(),
                    updates,
                    rank: 0,
                }
            })
            .collect();
        let work = work_of(sizes, &order, &reach);
        Self {
            columns,
            groups,
            slots,
            place,
            values: vec![0.0; total],
            diagonals: vec![0.0; total_diagonal],
            pivots: vec![0; first],
            row: vec![0.0; sizes.iter().copied().max().unwrap_or(0)],
            work,
        }
    }

    /// Multiplications of one factorisation.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Whether the block (a, b) is stored; of each pair of different groups exactly one order is.
    pub fn slot(&self, a: usize, b: usize) -> Option<Slot> {
        if self.place[a] < self.place[b] {
            return None;
        }
        self.slots.get(&(a, b)).map(|&start| Slot { start, stride: self.groups[b].1 })
    }

    /// The values, cleared, to be filled through the slots: lower triangles on the diagonal, full blocks elsewhere.
    pub fn clear(&mut self) -> &mut [f64] {
        self.values.fill(0.0);
        &mut self.values
    }

    /// The values as they are.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The stored blocks: group of the rows, group of the columns, place of the values (by rows).
    pub fn blocks(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        self.columns.iter().flat_map(|column| {
            let below = column.below.iter().map(|&(group, start)| (group, column.group, start));
            std::iter::once((column.group, column.group, column.matrix)).chain(below)
        })
    }

    /// All columns.
    pub fn columns(&self) -> Range<usize> {
        0..self.columns.len()
    }

    /// The place of a group in the elimination: its column.
    pub fn column(&self, group: usize) -> usize {
        self.place[group]
    }

    /// The diagonal entries of the matrix just filled in.
    pub fn diagonal(&self, out: &mut [f64]) {
        for column in &self.columns {
            let (first, n) = self.groups[column.group];
            for i in 0..n {
                out[first + i] = self.values[column.matrix + i * (n + 1)];
            }
        }
    }

    /// Replaces S by D S D.
    pub fn scale(&mut self, scale: &[f64]) {
        for column in &self.columns {
            let (first_col, cols) = self.groups[column.group];
            for &(group, start) in std::iter::once(&(column.group, column.matrix)).chain(&column.below) {
                let (first, rows) = self.groups[group];
                for i in 0..rows {
                    let line = &mut self.values[start + i * cols..start + (i + 1) * cols];
                    for (value, col) in line.iter_mut().zip(&scale[first_col..first_col + cols]) {
                        *value *= scale[first + i] * col;
                    }
                }
            }
        }
    }

    /// Factors in place. `kept` says which rows were kept before, and on return which are kept now: those whose pivot exceeds their
    /// threshold. As many rows of a group as were left before must exceed `returning` to be kept. `pivot[i]` tells the pivot of every
    /// row, met or left.
    pub fn factor(&mut self, kept: &mut [bool], threshold: &[f64], returning: f64, pivot: &mut [f64]) {
        for k in 0..self.columns.len() {
            self.factor_diagonal(k, kept, threshold, returning, pivot);
            self.factor_below(k);
        }
    }

    fn factor_diagonal(&mut self, k: usize, kept: &mut [bool], threshold: &[f64], returning: f64, pivot: &mut [f64]) {
        let column = &mut self.columns[k];
        let (offset, n) = self.groups[column.group];
        let s = &self.values[column.matrix..column.matrix + n * n];
        let kept = &mut kept[offset..offset + n];
        let left_before = (0..n).filter(|&i| !kept[i] && s[i * (n + 1)] > 0.0).count();
        column.rank = pivoted(
            s,
            &mut self.diagonals[column.factor..column.factor + n * n],
            &mut self.pivots[offset..offset + n],
            kept,
            left_before,
            &threshold[offset..offset + n],
            returning,
            &mut pivot[offset..offset + n],
        );
    }

    fn factor_below(&mut self, k: usize) {
        let column = &self.columns[k];
        let (offset, n) = self.groups[column.group];
        let rank = column.rank;
        let l = &self.diagonals[column.factor..column.factor + n * n];
        let order = &self.pivots[offset..offset + n];
        for &(group, start) in &column.below {
            for i in 0..self.groups[group].1 {
                let line = &mut self.values[start + i * n..start + (i + 1) * n];
                self.row[..n].copy_from_slice(line);
                line.fill(0.0);
                for step in 0..rank {
                    let p = order[step];
                    let sum = dot(&line[..step], &l[p * n..p * n + step]);
                    line[step] = (self.row[p] - sum) / l[p * n + step];
                }
            }
        }
        let mut update = column.updates.iter();
        for (i, &(a, a_start)) in column.below.iter().enumerate() {
            for &(b, b_start) in &column.below[..=i] {
                let &target = update.next().expect("one target for each pair");
                let (rows, cols) = (self.groups[a].1, self.groups[b].1);
                for r in 0..rows {
                    // Of a diagonal block only the lower triangle is used.
                    for c in 0..if a == b { r + 1 } else { cols } {
                        let sum = dot(
                            &self.values[a_start + r * n..a_start + r * n + rank],
                            &self.values[b_start + c * n..b_start + c * n + rank],
                        );
                        self.values[target + r * cols + c] -= sum;
                    }
                }
            }
        }
    }

    /// Replaces `x` by the solution with zeros in the dependent rows; their right-hand sides are not read.
    pub fn solve(&mut self, x: &mut [f64]) {
        self.forward(self.columns(), x);
        self.backward(x);
    }

    /// Replaces `x` by L⁻¹ x, the entries of each group in the order of its pivots and then zeros; only for the given columns, ascending,
    /// which must reach no others.
    pub fn forward(&mut self, columns: impl IntoIterator<Item = usize>, x: &mut [f64]) {
        for k in columns {
            let column = &self.columns[k];
            let (offset, n) = self.groups[column.group];
            let l = &self.diagonals[column.factor..column.factor + n * n];
            let order = &self.pivots[offset..offset + n];
            let z = &mut self.row[..n];
            z.fill(0.0);
            for step in 0..column.rank {
                let p = order[step];
                z[step] = (x[offset + p] - dot(&l[p * n..p * n + step], &z[..step])) / l[p * n + step];
            }
            for &(group, start) in &column.below {
                let (first, rows) = self.groups[group];
                for i in 0..rows {
                    x[first + i] -= dot(&self.values[start + i * n..start + i * n + column.rank], &z[..column.rank]);
                }
            }
            x[offset..offset + n].copy_from_slice(z);
        }
    }

    /// Replaces `x` by L⁻ᵀ x, zero in the dependent rows.
    pub fn backward(&mut self, x: &mut [f64]) {
        for column in self.columns.iter().rev() {
            let (offset, n) = self.groups[column.group];
            let l = &self.diagonals[column.factor..column.factor + n * n];
            let order = &self.pivots[offset..offset + n];
            let z = &mut self.row[..n];
            z.copy_from_slice(&x[offset..offset + n]);
            for &(group, start) in &column.below {
                let (first, rows) = self.groups[group];
                for i in 0..rows {
                    let known = x[first + i];
                    for (z, value) in z[..column.rank].iter_mut().zip(&self.values[start + i * n..]) {
                        *z -= value * known;
                    }
                }
            }
            let out = &mut x[offset..offset + n];
            out.fill(0.0);
            for step in (0..column.rank).rev() {
                let p = order[step];
                let value = z[step] / l[p * n + step];
                out[p] = value;
                for (z, l) in z[..step].iter_mut().zip(&l[p * n..]) {
                    *z -= l * value;
                }
            }
        }
    }
}

/// Diagonally pivoted Cholesky factors of an n × n semidefinite matrix (lower triangle read), `order` and `pivot` of length n. The
/// rows of L stay where they are, its columns are those of the pivots. Returns the rank; see [`BlockCholesky::factor`].
pub(crate) fn pivoted(
    s: &[f64],
    l: &mut [f64],
    order: &mut [usize],
    kept: &mut [bool],
    left_before: usize,
    threshold: &[f64],
    returning: f64,
    pivot: &mut [f64],
) -> usize {
    let n = order.len();
    for i in 0..n {
        order[i] = i;
        pivot[i] = s[i * n + i];
    }
    let mut rank = 0;
    let usable = pivot.iter().filter(|&&diagonal| diagonal > 0.0).count();
    for step in 0..n {
        // As many rows as were left before must do better to return, whichever they are now.
        let least = if usable <= step + left_before { returning } else { 0.0 };
        let mut best: Option<(usize, f64)> = None;
        for candidate in step..n {
            let i = order[candidate];
            let merit = if kept[i] { pivot[i] } else { SWAP * pivot[i] };
            if pivot[i] > threshold[i].max(least) && best.is_none_or(|(_, most)| merit > most) {
                best = Some((candidate, merit));
            }
        }
        let Some((best, _)) = best else { break };
        order.swap(step, best);
        let p = order[step];
        let root = pivot[p].sqrt();
        l[p * n + step] = root;
        for &i in &order[step + 1..] {
            let entry = if i > p { s[i * n + p] } else { s[p * n + i] };
            let sum = dot(&l[i * n..i * n + step], &l[p * n..p * n + step]);
            let value = (entry - sum) / root;
            l[i * n + step] = value;
            pivot[i] -= value * value;
        }
        rank += 1;
    }
    for (step, &i) in order.iter().enumerate() {
        kept[i] = step < rank;
    }
    rank
}

/// Multiplications of a block factorisation with the given elimination.
fn work_of(sizes: &[usize], order: &[usize], reach: &[Vec<usize>]) -> u64 {
    let mut work = 0;
    for (k, reach) in reach.iter().enumerate() {
        let n = sizes[order[k]] as u64;
        let below: u64 = reach.iter().map(|&r| sizes[order[r]] as u64).sum();
        work += n * n * n / 6 + n + below * n * n / 2 + below * (below + 1) / 2 * n;
    }
    work
}

/// What a block factorisation of a pattern costs.
pub(crate) struct Count {
    /// Multiplications of the factorisation; see [`BlockCholesky::work`].
    pub work: u64,
    /// For each group, the entries of its columns of the factor: multiplications of half a solve.
    pub entries: Vec<u64>,
}

/// Counts the work for groups of the given sizes that meet as `neighbours` says.
pub(crate) fn count(sizes: &[usize], neighbours: &[BTreeSet<usize>]) -> Count {
    let Elimination { order, columns } = minimum_degree(neighbours);
    let mut entries = vec![0; sizes.len()];
    for (k, reach) in columns.iter().enumerate() {
        let n = sizes[order[k]];
        let below: usize = reach.iter().map(|&r| sizes[order[r]]).sum();
        entries[order[k]] = (n * (n + 1) / 2 + below * n) as u64;
    }
    Count { work: work_of(sizes, &order, &columns), entries }
}
