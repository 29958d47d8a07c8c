//! Sparse matrices of fixed pattern and their LU factors, for real and complex numbers.
//!
//! The pattern is given once; values come and go. Columns are ordered by minimum degree on the pattern of A + Aᵀ. The first
//! factorisation is left-looking with row pivoting on equilibrated rows (Gilbert and Peierls): it finds the patterns of
//! L and U. Later ones reuse patterns and pivots, without searching or allocating, as long as every pivot is within a
//! thousandth of the largest entry it could be; otherwise pivots are chosen anew (the only case that may allocate).
//!
//! ```text
//! R P A Q = L U      R: powers of two that bring each row's largest entry near one
//! ```
//!
//! References: J. R. Gilbert, T. Peierls, *Sparse partial pivoting in time proportional to arithmetic operations*, SIAM J.
//! Sci. Stat. Comput. 9 (1988) 862–874; T. A. Davis, E. Palamadai Natarajan, *Algorithm 907: KLU*, ACM TOMS 37 (2010) 36.

use super::ordering::minimum_degree;
use super::{Field, SingularColumn};
use std::collections::BTreeSet;

/// The diagonal entry is taken as pivot if it is at least this part of the largest one.
const PREFER_DIAGONAL: f64 = 0.1;
/// An old pivot is kept if it is at least this part of the largest entry.
const KEEP_PIVOT: f64 = 1e-3;
const NONE: usize = usize::MAX;

/// A square sparse matrix of fixed pattern, stored by columns.
#[derive(Clone, Debug)]
pub struct Sparse<T> {
    starts: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<T>,
}

impl<T: Field> Sparse<T> {
    /// A zero n × n matrix with the given entries (row, column), in any order; repeated ones count once.
    pub fn new(n: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let places: BTreeSet<(usize, usize)> = entries.into_iter().map(|(row, col)| (col, row)).collect();
        let mut starts = vec![0; n + 1];
        for &(col, _) in &places {
            starts[col + 1] += 1;
        }
        for col in 0..n {
            starts[col + 1] += starts[col];
        }
        let rows: Vec<usize> = places.into_iter().map(|(_, row)| row).collect();
        Self { starts, values: vec![T::default(); rows.len()], rows }
    }

    /// The number of rows.
    pub fn size(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where the entry (row, column) is stored, if the pattern has it. Ask once, then use [`Sparse::add`].
    pub fn slot(&self, row: usize, col: usize) -> Option<usize> {
        let range = self.starts[col]..self.starts[col + 1];
        self.rows[range.clone()].binary_search(&row).ok().map(|i| range.start + i)
    }

    /// Adds to the value in a slot.
    #[inline]
    pub fn add(&mut self, slot: usize, value: T) {
        self.values[slot] += value;
    }

    /// Sets all values to zero.
    pub fn clear(&mut self) {
        self.values.fill(T::default());
    }

    /// The values, by columns.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The values, by columns, to be written.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The places (row, column) of the slots, in their order.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.size())
            .flat_map(|col| self.rows[self.starts[col]..self.starts[col + 1]].iter().map(move |&r| (r, col)))
    }

    /// out = A x.
    pub fn apply(&self, x: &[T], out: &mut [T]) {
        out.fill(T::default());
        for col in 0..self.size() {
            for i in self.starts[col]..self.starts[col + 1] {
                out[self.rows[i]] += self.values[i] * x[col];
            }
        }
    }
}

/// A triangular factor by columns; rows are numbered by pivots once the factorisation is complete.
#[derive(Clone, Debug, Default)]
struct Factor<T> {
    starts: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<T>,
}

impl<T: Field> Factor<T> {
    fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.rows.clear();
        self.values.clear();
    }

    fn column(&self, k: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        let range = self.starts[k]..self.starts[k + 1];
        self.rows[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
}

/// The LU factors of a [`Sparse`] matrix.
#[derive(Clone, Debug)]
pub struct SparseLu<T> {
    /// Columns in the order of elimination.
    order: Vec<usize>,
    /// For each row, the step at which it became the pivot.
    place: Vec<usize>,
    scale: Vec<f64>,
    lower: Factor<T>,
    upper: Factor<T>,
    pivots: Vec<T>,
    analysed: bool,
    searches: u64,
    x: Vec<T>,
    mark: Vec<usize>,
    stack: Vec<(usize, usize)>,
    reach: Vec<usize>,
}

impl<T: Field> SparseLu<T> {
    /// Orders the columns of a matrix; its values are not read.
    pub fn new(a: &Sparse<T>) -> Self {
        let n = a.size();
        let mut neighbours = vec![BTreeSet::new(); n];
        for (row, col) in a.places() {
            neighbours[row].insert(col);
            neighbours[col].insert(row);
        }
        Self {
            order: minimum_degree(&neighbours).order,
            place: vec![NONE; n],
            scale: vec![1.0; n],
            lower: Factor::default(),
            upper: Factor::default(),
            pivots: vec![T::default(); n],
            analysed: false,
            searches: 0,
            x: vec![T::default(); n],
            mark: vec![NONE; n],
            stack: Vec::with_capacity(n),
            reach: Vec::with_capacity(n),
        }
    }

    /// The number of entries of both factors.
    pub fn entries(&self) -> usize {
        self.lower.rows.len() + self.upper.rows.len() + self.pivots.len()
    }

    /// How often pivots were chosen.
    pub fn searches(&self) -> u64 {
        self.searches
    }

    /// Chooses pivots anew in the next factorisation, so that it depends on nothing before it.
    pub fn forget(&mut self) {
        self.analysed = false;
    }

    /// Factors a matrix of the pattern given at construction.
    pub fn factor(&mut self, a: &Sparse<T>) -> Result<(), SingularColumn> {
        self.equilibrate(a);
        if self.analysed && self.refactor(a) {
            return Ok(());
        }
        self.analysed = false;
        self.search(a)?;
        self.analysed = true;
        Ok(())
    }

    fn equilibrate(&mut self, a: &Sparse<T>) {
        self.scale.fill(0.0);
        for (&row, value) in a.rows.iter().zip(&a.values) {
            self.scale[row] = self.scale[row].max(value.size());
        }
        for scale in &mut self.scale {
            let exponent = scale.log2();
            *scale = if exponent.abs() < 1000.0 { (-exponent.round()).exp2() } else { 1.0 };
        }
    }

    /// Factors with the patterns and pivots of before; false if a pivot has become too small.
    fn refactor(&mut self, a: &Sparse<T>) -> bool {
        let Self { order, place, scale, lower, upper, pivots, x, .. } = self;
        for (k, &col) in order.iter().enumerate() {
            // Rows numbered by pivots; x is zero outside the pattern.
            for i in a.starts[col]..a.starts[col + 1] {
                x[place[a.rows[i]]] = a.values[i] * T::from(scale[a.rows[i]]);
            }
            for i in upper.starts[k]..upper.starts[k + 1] {
                let j = upper.rows[i];
                let factor = std::mem::take(&mut x[j]);
                upper.values[i] = factor;
                for (row, value) in lower.column(j) {
                    x[row] -= value * factor;
                }
            }
            let pivot = std::mem::take(&mut x[k]);
            let mut largest = pivot.size();
            for i in lower.starts[k]..lower.starts[k + 1] {
                let value = std::mem::take(&mut x[lower.rows[i]]);
                largest = largest.max(value.size());
                lower.values[i] = value / pivot;
            }
            pivots[k] = pivot;
            let kept = pivot.size() >= KEEP_PIVOT * largest && pivot.size() > 0.0 && largest.is_finite();
            if !kept || small(pivot, &upper.values[upper.starts[k]..upper.starts[k + 1]], order.len()) {
                x.fill(T::default());
                return false;
            }
        }
        true
    }

    /// Factors with a search for pivots and patterns.
    fn search(&mut self, a: &Sparse<T>) -> Result<(), SingularColumn> {
        self.searches += 1;
        self.lower.clear();
        self.upper.clear();
        self.place.fill(NONE);
        self.mark.fill(NONE);
        self.x.fill(T::default());
        for k in 0..self.order.len() {
            let col = self.order[k];
            self.reach.clear();
            for i in a.starts[col]..a.starts[col + 1] {
                self.visit(a.rows[i], k);
            }
            for i in a.starts[col]..a.starts[col + 1] {
                self.x[a.rows[i]] = a.values[i] * T::from(self.scale[a.rows[i]]);
            }
            // Rows already chosen, in the order in which they were: a topological one.
            self.reach.sort_unstable_by_key(|&row| self.place[row]);
            let chosen = self.reach.partition_point(|&row| self.place[row] != NONE);
            for &row in &self.reach[..chosen] {
                let j = self.place[row];
                let factor = std::mem::take(&mut self.x[row]);
                self.upper.rows.push(j);
                self.upper.values.push(factor);
                for (row, value) in self.lower.column(j) {
                    self.x[row] -= value * factor;
                }
            }
            let above = self.upper.starts[k];
            self.upper.starts.push(self.upper.rows.len());
            let (mut best, mut largest) = (NONE, 0.0);
            for &row in &self.reach[chosen..] {
                let size = self.x[row].size();
                if size > largest || size.is_nan() || (size == largest && size > 0.0 && row < best) {
                    (best, largest) = (row, size);
                }
            }
            if self.place[col] == NONE && self.x[col].size() >= PREFER_DIAGONAL * largest && best != NONE {
                best = col;
            }
            if best == NONE
                || !largest.is_finite()
                || small(self.x[best], &self.upper.values[above..], self.order.len())
            {
                self.x.fill(T::default());
                return Err(SingularColumn { column: col });
            }
            let pivot = self.x[best];
            self.place[best] = k;
            self.pivots[k] = pivot;
            for &row in &self.reach[chosen..] {
                let value = std::mem::take(&mut self.x[row]);
                if row != best {
                    self.lower.rows.push(row);
                    self.lower.values.push(value / pivot);
                }
            }
            self.lower.starts.push(self.lower.rows.len());
        }
        for row in &mut self.lower.rows {
            *row = self.place[*row];
        }
        Ok(())
    }

    /// Adds to `reach` the rows that an entry in `row` fills through the columns of L found so far.
    fn visit(&mut self, row: usize, k: usize) {
        if self.mark[row] == k {
            return;
        }
        self.mark[row] = k;
        self.reach.push(row);
        self.stack.push((row, 0));
        while let Some((row, next)) = self.stack.pop() {
            let j = self.place[row];
            if j == NONE {
                continue;
            }
            let (start, end) = (self.lower.starts[j] + next, self.lower.starts[j + 1]);
            if start < end {
                self.stack.push((row, next + 1));
                let child = self.lower.rows[start];
                if self.mark[child] != k {
                    self.mark[child] = k;
                    self.reach.push(child);
                    self.stack.push((child, 0));
                }
            }
        }
    }

    /// Replaces `b` by A⁻¹ b.
    pub fn solve(&mut self, b: &mut [T]) {
        let n = self.order.len();
        for row in 0..n {
            self.x[self.place[row]] = b[row] * T::from(self.scale[row]);
        }
        for k in 0..n {
            let value = self.x[k];
            for (row, l) in self.lower.column(k) {
                self.x[row] -= l * value;
            }
        }
        for k in (0..n).rev() {
            let value = self.x[k] / self.pivots[k];
            self.x[k] = value;
            for (row, u) in self.upper.column(k) {
                self.x[row] -= u * value;
            }
        }
        for k in 0..n {
            b[self.order[k]] = std::mem::take(&mut self.x[k]);
        }
    }
}

/// Whether a pivot is rounding beside the entries above it.
fn small<T: Field>(pivot: T, above: &[T], n: usize) -> bool {
    let largest = above.iter().fold(0.0, |max: f64, value| max.max(value.size()));
    pivot.size() <= n as f64 * f64::EPSILON * largest || pivot.size() == 0.0
}
