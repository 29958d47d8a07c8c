//! The matrix of a constraint solve, S = G M⁻¹ Gᵀ: its assembly block by block, and its factors.
//!
//! Each piece of rows over a mass brings W = M⁻¹ Gᵀ; each pair of pieces that shares a velocity of a mass adds one product G_p W_q
//! to S. Without hubs S is factored as a whole: groups of rows in a fill-reducing order, or one full pivoted
//! matrix if that is hardly more work. With hubs the products over them are left out, and `hubs.rs` brings them in.

use super::cholesky::{BlockCholesky, Slot, count};
use super::hubs::Hubs;
use super::layout::{Layout, Piece, Structure, full_work, rows_met};
use super::{Mass, Rows, dot};

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
    /// The matrix, then its factors; without hubs it is all of S.
    cholesky: BlockCholesky,
    hubs: Option<Hubs>,
    work: u64,
}

impl Schur {
    /// The matrix of the given structure; values are not read.
    pub fn new(mass: &Mass<f64>, rows: &Rows<f64>, structure: &Structure) -> Self {
        let mut layout = match structure {
            Structure::Schur => Layout::new(mass, rows, &[]),
            Structure::Hubs(hubs) => Layout::new(mass, rows, hubs),
        };
        let m = rows.rows();
        let merged = matches!(structure, Structure::Schur) && m > 0 && fits_in_one(mass, rows, &layout);
        if merged {
            layout.merge(m);
        }
        let cholesky = BlockCholesky::new(&layout.sizes, &layout.neighbours);
        let products = products(&layout, &cholesky, merged);
        let total = layout.pieces.last().map_or(0, |piece| piece.start + piece.rows * piece.wide);
        let (work, hubs) = match structure {
            Structure::Schur => (cholesky.work(), None),
            Structure::Hubs(_) => {
                let (work, delayed) = layout.hub_work();
                (work, Some(Hubs::new(&layout, &cholesky, delayed)))
            }
        };
        Self { pieces: layout.pieces, products, w: vec![0.0; total], cholesky, hubs, work }
    }

    /// Multiplications of one factorisation, assembly left out; with hubs, if no more rows are delayed than must be.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// The velocities that stay unknowns.
    pub fn structure(&self) -> Structure {
        self.hubs.as_ref().map_or(Structure::Schur, |hubs| Structure::Hubs(hubs.velocities().to_vec()))
    }

    /// Computes S, not yet factored; the mass matrix comes factored.
    pub fn assemble(&mut self, mass: &Mass<f64>, rows: &Rows<f64>) {
        for piece in &self.pieces {
            for k in 0..piece.rows {
                let g = piece.line(rows, k);
                let w = &mut self.w[piece.start + k * piece.wide..piece.start + (k + 1) * piece.wide];
                if piece.dense {
                    w.fill(0.0);
                    w[piece.col - piece.wide_col..][..piece.cols].copy_from_slice(g);
                    mass.solve_block(piece.mass, w);
                } else {
                    let masses = mass.diagonal(piece.mass, piece.col - piece.mass_col, piece.cols);
                    for ((w, g), mass) in w.iter_mut().zip(g).zip(masses) {
                        *w = g / mass;
                    }
                }
            }
        }
        let values = self.cholesky.clear();
        for product in &self.products {
            let (p, q) = (&self.pieces[product.p], &self.pieces[product.q]);
            let lower = p.row == q.row;
            let (low, high) = p.meets(q);
            for i in 0..p.rows {
                let g = &p.line(rows, i)[low - p.col..high - p.col];
                let out = &mut values[product.slot.start + i * product.slot.stride..][..q.rows];
                for (k, out) in out.iter_mut().enumerate().take(if lower { i + 1 } else { q.rows }) {
                    *out += dot(g, &self.w[q.start + k * q.wide + low - q.wide_col..][..high - low]);
                }
            }
        }
        if let Some(hubs) = &mut self.hubs {
            hubs.assemble(mass, rows, &self.pieces, &self.w);
        }
    }

    /// The diagonal entries of the matrix just assembled.
    pub fn diagonal(&self, out: &mut [f64]) {
        self.cholesky.diagonal(out);
        if let Some(hubs) = &self.hubs {
            hubs.add_diagonal(out);
        }
    }

    /// Replaces S by D S D.
    pub fn scale(&mut self, scale: &[f64]) {
        self.cholesky.scale(scale);
        if let Some(hubs) = &mut self.hubs {
            hubs.scale(scale);
        }
    }

    /// Factors in place; see [`BlockCholesky::factor`].
    pub fn factor(&mut self, kept: &mut [bool], threshold: &[f64], returning: f64, pivot: &mut [f64]) {
        match &mut self.hubs {
            None => self.cholesky.factor(kept, threshold, returning, pivot),
            Some(hubs) => hubs.factor(&mut self.cholesky, kept, threshold, returning, pivot),
        }
    }

    /// Replaces `x` by the solution with zeros in the dependent rows; their right-hand sides are not read.
    pub fn solve(&mut self, x: &mut [f64]) {
        match &mut self.hubs {
            None => self.cholesky.solve(x),
            Some(hubs) => hubs.solve(&mut self.cholesky, x),
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

impl Piece {
    /// Its row `k`.
    pub fn line<'a>(&self, rows: &'a Rows<f64>, k: usize) -> &'a [f64] {
        &rows.run_line(self.run, self.run_row + k)[self.run_col..][..self.cols]
    }

    /// The velocities, first and behind the last, over which its rows meet M⁻¹ Gᵀ of another piece.
    pub fn meets(&self, q: &Self) -> (usize, usize) {
        (self.col.max(q.wide_col), (self.col + self.cols).min(q.wide_col + q.wide))
    }
}

/// Whether one full pivoted matrix is hardly more work: it is simpler and its pivots are the best ones.
fn fits_in_one(mass: &Mass<f64>, rows: &Rows<f64>, layout: &Layout) -> bool {
    let full = full_work(rows.rows());
    // The rows that meet one mass are a full block of S, whatever the order.
    let least = rows_met(mass, rows).into_iter().max().map_or(0, full_work);
    full <= 2 * least + 100 || full <= 2 * count(&layout.sizes, &layout.neighbours).work + 100
}

/// Where the products of pieces go.
fn products(layout: &Layout, cholesky: &BlockCholesky, merged: bool) -> Vec<Product> {
    let mut products = Vec::new();
    let pieces = &layout.pieces;
    for &(p, q) in &layout.pairs {
        let (rp, rq) = (pieces[p].row, pieces[q].row);
        for (p, q, wanted) in [(p, q, rp >= rq || !merged), (q, p, p != q && (rq >= rp || !merged))] {
            if !wanted {
                continue;
            }
            let (group_p, group_q) = (pieces[p].group, pieces[q].group);
            if let Some(slot) = cholesky.slot(group_p, group_q) {
                let (row, col) = (pieces[p].row - layout.cuts[group_p], pieces[q].row - layout.cuts[group_q]);
                let start = slot.start + row * slot.stride + col;
                products.push(Product { p, q, slot: Slot { start, stride: slot.stride } });
            }
        }
    }
    products
}
