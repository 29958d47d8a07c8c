//! Parts of the rows that meet only over hubs, and the blocks of S₀ as seen from a group of rows: the bookkeeping of `hubs.rs`.

use super::cholesky::BlockCholesky;
use super::layout::{Groups, Layout};
use std::ops::Range;

/// Rows that meet each other, but no others, where hubs are left out.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The columns of the block factors, ascending.
    pub columns: Vec<usize>,
    /// The ranges of rows; together they are the places 0, 1, … of the part.
    pub rows: Vec<Range<usize>>,
    pub size: usize,
    /// The hub velocities, as places in the list of all.
    pub hubs: Vec<usize>,
    /// Where the columns of G_H and Z_H begin, one of `size` entries for each of `hubs`.
    pub start: usize,
}

impl Part {
    pub fn new(part: Groups, layout: &Layout, cholesky: &BlockCholesky, start: &mut usize) -> Self {
        let mut columns: Vec<usize> = part.groups.iter().map(|&group| cholesky.column(group)).collect();
        columns.sort_unstable();
        let rows = part.groups.iter().map(|&group| layout.cuts[group]..layout.cuts[group + 1]).collect();
        *start += part.rows * part.hubs.len();
        let start = *start - part.rows * part.hubs.len();
        Self { columns, rows, size: part.rows, hubs: part.hubs, start }
    }

    /// Copies values of the part out of those of all rows.
    pub fn gather(&self, x: &[f64], own: &mut [f64]) {
        let mut at = 0;
        for range in &self.rows {
            own[at..at + range.len()].copy_from_slice(&x[range.clone()]);
            at += range.len();
        }
    }

    /// Copies values of the part into those of all rows.
    pub fn scatter(&self, own: &[f64], x: &mut [f64]) {
        let mut at = 0;
        for range in &self.rows {
            x[range.clone()].copy_from_slice(&own[at..at + range.len()]);
            at += range.len();
        }
    }

    /// x ← x − factor · own.
    pub fn subtract(&self, factor: f64, own: &[f64], x: &mut [f64]) {
        for (own, row) in own.iter().zip(self.rows.iter().cloned().flatten()) {
            x[row] -= factor * own;
        }
    }
}

/// A block of a symmetric matrix seen from one of its groups of rows.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Line {
    /// First row and number of rows of the other group.
    first: usize,
    rows: usize,
    /// The first value, and the distances between values along the other group and along this one.
    start: usize,
    along: usize,
    across: usize,
    /// Whether it is the same group; then only the lower triangle is stored.
    own: bool,
}

impl Line {
    pub fn covers(&self, row: usize) -> bool {
        (self.first..self.first + self.rows).contains(&row)
    }

    /// The entry of this group's local row `line` and the row `row` of all.
    pub fn entry(&self, line: usize, row: usize, values: &[f64]) -> f64 {
        let other = row - self.first;
        let (line, other) = if self.own { (line.max(other), line.min(other)) } else { (line, other) };
        values[self.start + line * self.across + other * self.along]
    }

    /// Copies the entries of this group's local row `line` to the rows of the other group.
    pub fn copy(&self, line: usize, values: &[f64], x: &mut [f64]) {
        for row in self.first..self.first + self.rows {
            x[row] = self.entry(line, row, values);
        }
    }
}

/// The blocks of the matrix as seen from each group of rows.
pub(crate) fn lines(layout: &Layout, cholesky: &BlockCholesky) -> Vec<Vec<Line>> {
    let mut lines = vec![Vec::new(); layout.sizes.len()];
    for (a, b, start) in cholesky.blocks() {
        let stride = layout.sizes[b];
        let seen = |group: usize, along, across| {
            let (first, rows) = (layout.cuts[group], layout.sizes[group]);
            Line { first, rows, start, along, across, own: a == b }
        };
        lines[a].push(seen(b, 1, stride));
        if a != b {
            lines[b].push(seen(a, stride, 1));
        }
    }
    lines
}
