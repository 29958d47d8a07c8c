//! The Schur complement S = G M⁻¹ Gᵀ of a constraint solve: its structure, and its assembly block by block.
//!
//! Blocks of rows are cut into pieces that lie over one mass block and in one group of rows. Each piece brings
//! W = M⁻¹ Gᵀ; each pair of pieces that shares a velocity of a mass block adds one product G_p W_q to S. The structure is chosen
//! once: groups of rows in a fill-reducing order, or one full pivoted matrix if that is hardly more work.

use super::cholesky::{BlockCholesky, Slot, estimate};
use super::{Block, Mass, MassBlock, Rows, dot};
use std::collections::{BTreeSet, HashMap};

/// The part of a block of rows that lies over one mass block and in one group of rows.
#[derive(Copy, Clone, Debug)]
struct Piece {
    /// The block of `Rows`, and its first row and column used here.
    block: usize,
    block_row: usize,
    block_col: usize,
    /// First row, number of rows.
    row: usize,
    rows: usize,
    /// First velocity, number of velocities.
    col: usize,
    cols: usize,
    /// The mass block, its first velocity.
    mass: usize,
    mass_col: usize,
    dense: bool,
    /// Where W = M⁻¹ Gᵀ is stored (by rows of G), the first velocity of it, and how many there are.
    start: usize,
    wide_col: usize,
    wide: usize,
}

/// A product G_p M⁻¹ G_qᵀ that goes into S.
#[derive(Copy, Clone, Debug)]
struct Product {
    p: usize,
    q: usize,
    slot: Slot,
}

/// The structure of S and its factors.
#[derive(Clone, Debug)]
pub(crate) struct Schur {
    pieces: Vec<Piece>,
    products: Vec<Product>,
    /// M⁻¹ Gᵀ by pieces.
    w: Vec<f64>,
    /// The matrix, then its factors.
    pub cholesky: BlockCholesky,
}

impl Schur {
    /// Chooses the structure; values are not read.
    pub fn new(mass: &Mass<f64>, rows: &Rows<f64>) -> Self {
        let m = rows.rows();
        let cuts = row_cuts(rows);
        let (mut pieces, group_of) = cut_pieces(mass, rows, &cuts);
        let touches = meeting_pieces(mass.size(), &pieces);
        let mut sizes: Vec<usize> = cuts.windows(2).map(|c| c[1] - c[0]).collect();
        let mut neighbours = vec![BTreeSet::new(); sizes.len()];
        for &(p, q) in &touches {
            neighbours[group_of[p]].insert(group_of[q]);
            neighbours[group_of[q]].insert(group_of[p]);
        }
        // One full pivoted matrix where it is hardly more work: it is simpler and its pivots are the best ones.
        let full = (m as u64).pow(3) / 6 + m as u64;
        let merged = full <= 2 * estimate(&sizes, &neighbours) + 100;
        if merged && m > 0 {
            sizes = vec![m];
            neighbours = vec![BTreeSet::new()];
        }
        let cholesky = BlockCholesky::new(&sizes, &neighbours);
        let mut products = Vec::new();
        for &(p, q) in &touches {
            let (rp, rq) = (pieces[p].row, pieces[q].row);
            for (p, q, wanted) in [(p, q, rp >= rq || !merged), (q, p, p != q && (rq >= rp || !merged))] {
                let (group_p, group_q) = if merged { (0, 0) } else { (group_of[p], group_of[q]) };
                let (base_p, base_q) = if merged { (0, 0) } else { (cuts[group_p], cuts[group_q]) };
                if !wanted {
                    continue;
                }
                if let Some(slot) = cholesky.slot(group_p, group_q) {
                    let start = slot.start + (pieces[p].row - base_p) * slot.stride + pieces[q].row - base_q;
                    products.push(Product { p, q, slot: Slot { start, stride: slot.stride } });
                }
            }
        }
        let mut total = 0;
        for piece in &mut pieces {
            piece.start = total;
            total += piece.rows * piece.wide;
        }
        Self { pieces, products, w: vec![0.0; total], cholesky }
    }

    /// Computes S and leaves it in `cholesky`, not yet factored; the mass matrix comes factored.
    pub fn assemble(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) {
        for piece in &self.pieces {
            let block = rows.block(piece.block);
            let cols = rows.blocks()[piece.block].cols;
            for k in 0..piece.rows {
                let g = &block[(piece.block_row + k) * cols + piece.block_col..][..piece.cols];
                let w = &mut self.w[piece.start + k * piece.wide..piece.start + (k + 1) * piece.wide];
                if piece.dense {
                    w.fill(0.0);
                    w[piece.col - piece.wide_col..][..piece.cols].copy_from_slice(g);
                    mass.solve_block(piece.mass, w);
                } else {
                    let masses = &mass.block(piece.mass)[piece.col - piece.mass_col..][..piece.cols];
                    for ((w, g), mass) in w.iter_mut().zip(g).zip(masses) {
                        *w = g / mass;
                    }
                }
            }
        }
        let values = self.cholesky.clear();
        for product in &self.products {
            let (p, q) = (&self.pieces[product.p], &self.pieces[product.q]);
            let cols = rows.blocks()[p.block].cols;
            let block = rows.block(p.block);
            let (low, high) = (p.col.max(q.wide_col), (p.col + p.cols).min(q.wide_col + q.wide));
            let lower = p.row == q.row;
            for i in 0..p.rows {
                let g = &block[(p.block_row + i) * cols + p.block_col + low - p.col..][..high - low];
                let out = &mut values[product.slot.start + i * product.slot.stride..][..q.rows];
                for (k, out) in out.iter_mut().enumerate().take(if lower { i + 1 } else { q.rows }) {
                    let w = &self.w[q.start + k * q.wide + low - q.wide_col..][..high - low];
                    *out += dot(g, w);
                }
            }
        }
    }

    /// For each row the largest entry of M⁻¹ Gᵀ in units of `size`.
    pub fn largest(&self, size: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for piece in &self.pieces {
            for k in 0..piece.rows {
                let w = &self.w[piece.start + k * piece.wide..piece.start + (k + 1) * piece.wide];
                let out = &mut out[piece.row + k];
                for (w, size) in w.iter().zip(&size[piece.wide_col..]) {
                    *out = out.max(w.abs() / size);
                }
            }
        }
    }
}

/// The rows at which some block begins or ends.
fn row_cuts(rows: &Rows<f64>) -> Vec<usize> {
    let mut cuts: BTreeSet<usize> = [0, rows.rows()].into();
    for block in rows.blocks() {
        cuts.extend([block.row, block.row + block.rows]);
    }
    cuts.into_iter().collect()
}

/// Cuts blocks of rows by groups of rows and by mass blocks; with the group of each piece.
fn cut_pieces(mass: &Mass<f64>, rows: &Rows<f64>, cuts: &[usize]) -> (Vec<Piece>, Vec<usize>) {
    let masses: Vec<(MassBlock, usize)> = mass.blocks().collect();
    let (mut pieces, mut group_of) = (Vec::new(), Vec::new());
    for (index, &Block { row, rows: count, col, cols }) in rows.blocks().iter().enumerate() {
        let first_group = cuts.partition_point(|&cut| cut < row);
        let first_mass = masses.partition_point(|&(shape, start)| start + shape.size() <= col);
        for (group, cut) in cuts.windows(2).enumerate().skip(first_group).take_while(|(_, c)| c[0] < row + count) {
            for (b, &(shape, start)) in masses.iter().enumerate().skip(first_mass) {
                if start >= col + cols {
                    break;
                }
                let (low, high) = (col.max(start), (col + cols).min(start + shape.size()));
                let dense = matches!(shape, MassBlock::Dense(_));
                let (wide_col, wide) = if dense { (start, shape.size()) } else { (low, high - low) };
                pieces.push(Piece {
                    block: index,
                    block_row: cut[0] - row,
                    block_col: low - col,
                    row: cut[0],
                    rows: cut[1] - cut[0],
                    col: low,
                    cols: high - low,
                    mass: b,
                    mass_col: start,
                    dense,
                    start: 0,
                    wide_col,
                    wide,
                });
                group_of.push(group);
            }
        }
    }
    (pieces, group_of)
}

/// The unordered pairs of pieces whose product is not zero by structure.
fn meeting_pieces(size: usize, pieces: &[Piece]) -> Vec<(usize, usize)> {
    let mut over: HashMap<usize, Vec<usize>> = HashMap::with_capacity(size);
    let mut pairs = BTreeSet::new();
    for (p, piece) in pieces.iter().enumerate() {
        for col in piece.wide_col..piece.wide_col + piece.wide {
            let others = over.entry(col).or_default();
            others.push(p);
            pairs.extend(others.iter().map(|&q| (q, p)));
        }
    }
    pairs.into_iter().collect()
}
