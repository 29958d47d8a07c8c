//! Constraint Jacobians: rows made of a few dense blocks, one for each body a constraint touches.

use crate::real::Real;

/// The place of a dense block: rows `row..row + rows`, columns `col..col + cols`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first row.
    pub row: usize,
    /// The number of rows.
    pub rows: usize,
    /// The first column (a velocity).
    pub col: usize,
    /// The number of columns.
    pub cols: usize,
}

/// A block-sparse matrix of fixed structure; blocks are stored by rows, one after the other.
///
/// No two blocks may cover the same entry. Blocks of one row that continue each other, as those of a row over neighbouring points do,
/// are worked through as one *run*.
#[derive(Clone, Debug)]
pub struct Rows<R> {
    blocks: Vec<Block>,
    starts: Vec<usize>,
    /// Blocks joined where they continue each other, with their first values.
    runs: Vec<(Block, usize)>,
    values: Vec<R>,
    rows: usize,
    cols: usize,
}

impl<R: Real> Rows<R> {
    /// A zero matrix of `rows × cols` with the given blocks.
    pub fn new(rows: usize, cols: usize, blocks: &[Block]) -> Self {
        let (mut total, mut starts) = (0, Vec::with_capacity(blocks.len()));
        let mut runs: Vec<(Block, usize)> = Vec::with_capacity(blocks.len());
        for b in blocks {
            starts.push(total);
            match runs.last_mut() {
                Some((run, _)) if run.rows == 1 && b.rows == 1 && run.row == b.row && run.col + run.cols == b.col => {
                    run.cols += b.cols;
                }
                _ => runs.push((*b, total)),
            }
            total += b.rows * b.cols;
        }
        Self { blocks: blocks.to_vec(), starts, runs, values: vec![R::zero(); total], rows, cols }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The places of the blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The values of block `i`, by rows.
    pub fn block(&self, i: usize) -> &[R] {
        let b = self.blocks[i];
        &self.values[self.starts[i]..self.starts[i] + b.rows * b.cols]
    }

    /// The values of block `i`, to be written.
    pub fn block_mut(&mut self, i: usize) -> &mut [R] {
        let b = self.blocks[i];
        &mut self.values[self.starts[i]..self.starts[i] + b.rows * b.cols]
    }

    /// The places of the runs.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Block> + '_ {
        self.runs.iter().map(|&(run, _)| run)
    }

    /// The row `k` of run `i`.
    pub(crate) fn run_line(&self, i: usize, k: usize) -> &[R] {
        let (run, start) = &self.runs[i];
        &self.values[start + k * run.cols..start + (k + 1) * run.cols]
    }

    /// Sets all values to zero.
    pub fn clear(&mut self) {
        self.values.fill(R::zero());
    }

    /// out += G v.
    pub fn add_apply(&self, v: &[R], out: &mut [R]) {
        for (b, start) in &self.runs {
            for (k, row) in self.values[*start..start + b.rows * b.cols].chunks_exact(b.cols).enumerate() {
                let product = row.iter().zip(&v[b.col..b.col + b.cols]).fold(R::zero(), |sum, (&g, &v)| sum + g * v);
                out[b.row + k] += product;
            }
        }
    }

    /// out += Gᵀ (factor · λ).
    pub fn add_transpose(&self, factor: f64, multipliers: &[R], out: &mut [R]) {
        for (b, start) in &self.runs {
            for (k, row) in self.values[*start..start + b.rows * b.cols].chunks_exact(b.cols).enumerate() {
                let scaled = multipliers[b.row + k] * factor;
                for (out, &g) in out[b.col..b.col + b.cols].iter_mut().zip(row) {
                    *out += g * scaled;
                }
            }
        }
    }

    /// Writes the matrix as a dense one, by rows.
    pub fn to_dense(&self, out: &mut [R]) {
        out.fill(R::zero());
        for (i, b) in self.blocks.iter().enumerate() {
            for (k, row) in self.block(i).chunks_exact(b.cols).enumerate() {
                let start = (b.row + k) * self.cols + b.col;
                out[start..start + b.cols].copy_from_slice(row);
            }
        }
    }
}
