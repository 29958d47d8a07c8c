//! The matrix of Newton's method for the discrete equations: which entries it has, and its factors.

use super::centre::Centres;
use crate::algebra::{Block, Lu, Sparse, SparseLu};
use crate::system::{Shape, System};
use crate::tangent::Compression;

/// Matrices from this size on may be sparse, if less than a quarter of the entries are there.
const LARGE: usize = 48;

/// Which entries the matrix has.
pub(super) struct Pattern {
    pub compression: Compression,
    /// Blocks of velocities that act on each other.
    pub forces: Vec<Block>,
    /// Blocks of the constraint rows.
    pub rows: Vec<Block>,
}

impl Pattern {
    /// For all forces, or for those of one rate; bodies with a common centre depend on each other.
    pub fn new<Y: System>(y: &Y, rate: Option<usize>, centres: Option<&Centres>) -> Self {
        let (mut coupling, rows) = (rate.map_or_else(|| y.coupling(), |rate| y.coupling_of_rate(rate)), y.row_blocks());
        if let Some(centres) = centres {
            centres.couple(&mut coupling);
        }
        let compression = Compression::of(&coupling, &rows);
        let mut forces = Vec::new();
        for (own, neighbours) in coupling.groups.iter().zip(&coupling.neighbours) {
            for cols in neighbours.iter().map(|&n| &coupling.groups[n]) {
                forces.push(Block { row: own.start, rows: own.len(), col: cols.start, cols: cols.len() });
            }
        }
        Self { compression, forces, rows }
    }

    /// All places of the matrix.
    pub fn places(&self, shape: Shape, s: usize) -> Vec<(usize, usize)> {
        let (n, m) = (shape.v, shape.g);
        let mut out: Vec<_> = (s * n..s * (n + m)).map(|i| (i, i)).collect();
        let inside = |b: &Block| {
            let b = *b;
            (b.row..b.row + b.rows).flat_map(move |r| (b.col..b.col + b.cols).map(move |c| (r, c)))
        };
        for (e, nu) in (0..s).flat_map(|e| (0..s).map(move |nu| (e, nu))) {
            out.extend(self.forces.iter().flat_map(inside).map(|(r, c)| (e * n + r, nu * n + c)));
        }
        for nu in 0..s {
            for (r, c) in self.rows.iter().flat_map(inside) {
                out.push((s * n + nu * m + r, nu * n + c));
                out.push((nu * n + c, s * n + nu * m + r));
            }
        }
        out
    }
}

/// A matrix and its factors, dense where it is small or full.
pub(super) enum Matrix {
    Dense(Lu<f64>),
    Sparse(Box<(Sparse<f64>, SparseLu<f64>)>),
}

impl Matrix {
    pub fn new(size: usize, places: &[(usize, usize)]) -> Self {
        let matrix = Sparse::new(size, places.iter().copied());
        if size < LARGE || 4 * matrix.values().len() > size * size {
            return Self::Dense(Lu::new(size));
        }
        let factors = SparseLu::new(&matrix);
        Self::Sparse(Box::new((matrix, factors)))
    }

    pub fn clear(&mut self) {
        match self {
            Self::Dense(lu) => lu.values_mut().fill(0.0),
            Self::Sparse(both) => both.0.clear(),
        }
    }

    pub fn put(&mut self, row: usize, col: usize, value: f64) {
        match self {
            Self::Dense(lu) => {
                let at = row * lu.size() + col;
                lu.values_mut()[at] = value;
            }
            Self::Sparse(both) => {
                let slot = both.0.slot(row, col).expect("a place of the pattern");
                both.0.values_mut()[slot] = value;
            }
        }
    }

    /// Factors, with pivots chosen without regard to the past, so that a continued run has the same bits.
    pub fn factor(&mut self) -> bool {
        match self {
            Self::Dense(lu) => lu.factor().is_ok(),
            Self::Sparse(both) => {
                let (matrix, lu) = &mut **both;
                lu.forget();
                lu.factor(matrix).is_ok()
            }
        }
    }

    pub fn solve(&mut self, x: &mut [f64]) {
        match self {
            Self::Dense(lu) => lu.solve(x),
            Self::Sparse(both) => both.1.solve(x),
        }
    }
}
