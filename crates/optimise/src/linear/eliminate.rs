//! Elimination within one front: pivots of one or two rows, chosen by a threshold.
//!
//! A front is a full symmetric matrix of m rows, stored by columns (lower part). The first `summed` rows are complete and may be pivots. A pivot
//! is taken if the multipliers it makes are at most 1/u:
//!
//! ```text
//! one row c:     |a_cc| ≥ u max_i |a_ic|
//! two rows c, r: |P⁻¹| (max_i |a_ic|, max_i |a_ir|)ᵀ ≤ (1/u, 1/u)ᵀ,   P = [a_cc a_rc; a_rc a_rr]      \[1\] eq. 2.3
//! ```
//!
//! Rows for which neither holds wait: they go up to the parent front, where more rows are complete. At a root every row is complete and the
//! largest entry decides (Bunch and Parlett); what is then still below [`VANISHED`] (of a matrix scaled to one) is a zero pivot.
//!
//! References: \[1\] I. S. Duff, J. K. Reid, *MA27*, AERE R10533 (1982), and *The multifrontal solution of indefinite sparse symmetric
//! linear equations*, ACM TOMS 9 (1983) 302–325; J. R. Bunch, B. N. Parlett, SIAM J. Numer. Anal. 8 (1971) 639–655.

/// What is below this size in a matrix scaled to one counts as nothing.
pub(super) const VANISHED: f64 = 1e-15;

/// A pivot: its inverse is kept with the factor.
#[derive(Copy, Clone, Debug)]
pub(super) enum Pivot {
    /// One row, with the value of the pivot.
    One(f64),
    /// The first of two rows: the two diagonal entries and the one between them.
    Two(f64, f64, f64),
    /// The second of two rows.
    Second,
    /// A row of zeros.
    Zero,
}

/// The full matrix of a front and its rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Full {
    /// The number of rows.
    pub size: usize,
    /// How many rows are complete.
    pub summed: usize,
    /// Row numbers of the matrix.
    pub rows: Vec<usize>,
    /// Entries, by columns.
    pub values: Vec<f64>,
    /// The pivots found, one for each eliminated row.
    pub pivots: Vec<Pivot>,
    /// Scratch: a column of the factor times its pivot, twice.
    scratch: Vec<f64>,
}

impl Full {
    /// An empty matrix of a size; what was in it is forgotten, memory is kept.
    pub fn reset(&mut self, size: usize, summed: usize) {
        self.size = size;
        self.summed = summed;
        self.values.clear();
        self.values.resize(size * size, 0.0);
        self.rows.clear();
        self.pivots.clear();
        self.scratch.clear();
        self.scratch.resize(2 * size, 0.0);
    }

    #[inline]
    fn at(&self, i: usize, j: usize) -> f64 {
        let (i, j) = if i >= j { (i, j) } else { (j, i) };
        self.values[j * self.size + i]
    }

    /// Eliminates what can be; the first rows are then eliminated, in this order, columns of L below them.
    pub fn eliminate(&mut self, threshold: f64, root: bool) {
        let mut k = 0;
        while k < self.summed {
            match self.search(k, threshold).or_else(|| if root { self.largest(k) } else { None }) {
                Some((c, None)) => {
                    self.swap(k, c);
                    self.one(k);
                    k += 1;
                }
                Some((c, Some(r))) => {
                    self.swap(k, c);
                    // The partner may have been the row that just moved.
                    self.swap(k + 1, if r == k { c } else { r });
                    self.two(k);
                    k += 2;
                }
                None if root => {
                    // Nothing is left but rounding: rows of zeros.
                    for c in k..self.summed {
                        self.values[c * self.size + c..(c + 1) * self.size].fill(0.0);
                        self.pivots.push(Pivot::Zero);
                    }
                    break;
                }
                None => break,
            }
        }
        self.complement();
    }

    /// Largest entry of a remaining column beside `c` and `without`, and the largest in complete rows with its row.
    fn column(&self, k: usize, c: usize, without: usize) -> (f64, f64, usize) {
        let (m, mut all, mut best, mut row) = (self.size, 0.0f64, 0.0f64, usize::MAX);
        for j in k..c {
            let size = self.values[j * m + c].abs();
            if j != without && size > best {
                (best, row) = (size, j);
            }
        }
        for (i, value) in self.values[c * m + c + 1..c * m + self.summed].iter().enumerate() {
            let i = i + c + 1;
            if i != without && value.abs() > best {
                (best, row) = (value.abs(), i);
            }
        }
        for value in &self.values[c * m + self.summed..(c + 1) * m] {
            all = all.max(value.abs());
        }
        (all.max(best), best, row)
    }

    /// The first pivot that meets the threshold: a row, and perhaps a second one.
    fn search(&self, k: usize, u: f64) -> Option<(usize, Option<usize>)> {
        for c in k..self.summed {
            let own = self.at(c, c);
            let (most, best, r) = self.column(k, c, usize::MAX);
            if own.abs() > VANISHED && own.abs() >= u * most {
                return Some((c, None));
            }
            if best <= VANISHED {
                continue;
            }
            let (other, between) = (self.at(r, r), self.at(r, c));
            let det = own * other - between * between;
            let (first, second) = (self.column(k, c, r).0, self.column(k, r, c).0);
            let bound = det.abs() / u;
            let safe = det.abs() > f64::EPSILON * (own * other).abs().max(between * between);
            if safe
                && other.abs() * first + between.abs() * second <= bound
                && between.abs() * first + own.abs() * second <= bound
            {
                return Some((c, Some(r)));
            }
        }
        None
    }

    /// The largest pivot among rows that are all complete; nothing if all that is left has vanished.
    fn largest(&self, k: usize) -> Option<(usize, Option<usize>)> {
        let (mut diagonal, mut on) = (0.0, k);
        let (mut between, mut at) = (0.0, (k, k));
        for c in k..self.summed {
            if self.at(c, c).abs() > diagonal {
                (diagonal, on) = (self.at(c, c).abs(), c);
            }
            for r in c + 1..self.summed {
                if self.at(r, c).abs() > between {
                    (between, at) = (self.at(r, c).abs(), (c, r));
                }
            }
        }
        // (1 + √17) / 8 of Bunch and Parlett.
        match diagonal.max(between) <= VANISHED {
            true => None,
            _ if diagonal >= 0.64 * between => Some((on, None)),
            _ => Some((at.0, Some(at.1))),
        }
    }

    /// Exchanges rows and columns a ≤ b of the remaining matrix, and rows of the factor.
    fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let m = self.size;
        self.rows.swap(a, b);
        for j in 0..a {
            self.values.swap(j * m + a, j * m + b);
        }
        for j in a + 1..b {
            self.values.swap(a * m + j, j * m + b);
        }
        for i in b + 1..m {
            self.values.swap(a * m + i, b * m + i);
        }
        self.values.swap(a * m + a, b * m + b);
    }

    /// Eliminates row k; complete columns are updated at once, others at the end.
    fn one(&mut self, k: usize) {
        let (m, pivot) = (self.size, self.at(k, k));
        let (done, rest) = self.values.split_at_mut((k + 1) * m);
        let column = &mut done[k * m..];
        let old = &mut self.scratch[..m];
        old[k + 1..].copy_from_slice(&column[k + 1..]);
        let inverse = 1.0 / pivot;
        for value in &mut column[k + 1..] {
            *value *= inverse;
        }
        for j in k + 1..self.summed {
            let factor = old[j];
            if factor != 0.0 {
                let target = &mut rest[(j - k - 1) * m + j..(j - k) * m];
                for (t, &l) in target.iter_mut().zip(&column[j..]) {
                    *t -= l * factor;
                }
            }
        }
        self.pivots.push(Pivot::One(pivot));
    }

    /// Eliminates rows k and k + 1 together.
    fn two(&mut self, k: usize) {
        let m = self.size;
        let (a, b, c) = (self.at(k, k), self.at(k + 1, k + 1), self.at(k + 1, k));
        let det = a * b - c * c;
        let (done, rest) = self.values.split_at_mut((k + 2) * m);
        let (first, second) = done[k * m..].split_at_mut(m);
        let (old, other) = self.scratch.split_at_mut(m);
        first[k + 1] = 0.0;
        for i in k + 2..m {
            (old[i], other[i]) = (first[i], second[i]);
            first[i] = (b * old[i] - c * other[i]) / det;
            second[i] = (a * other[i] - c * old[i]) / det;
        }
        for j in k + 2..self.summed {
            let (x, y) = (old[j], other[j]);
            if x != 0.0 || y != 0.0 {
                let target = &mut rest[(j - k - 2) * m + j..(j - k - 1) * m];
                for ((t, &l), &h) in target.iter_mut().zip(&first[j..m]).zip(&second[j..m]) {
                    *t -= l * x + h * y;
                }
            }
        }
        self.pivots.push(Pivot::Two(a, b, c));
        self.pivots.push(Pivot::Second);
    }

    /// Updates the columns that are not complete: C ← C − L D Lᵀ, four columns of L at a time.
    fn complement(&mut self) {
        let (m, done) = (self.size, self.pivots.len());
        if self.summed == m || done == 0 {
            return;
        }
        let (left, right) = self.values.split_at_mut(self.summed * m);
        let weights = &mut self.scratch[..done];
        for (j, target) in (self.summed..m).zip(right.chunks_exact_mut(m)) {
            for k in 0..done {
                let l = left[k * m + j];
                weights[k] = match self.pivots[k] {
                    Pivot::One(pivot) => pivot * l,
                    Pivot::Two(a, _, c) => a * l + c * left[(k + 1) * m + j],
                    Pivot::Second => match self.pivots[k - 1] {
                        Pivot::Two(_, b, c) => c * left[(k - 1) * m + j] + b * l,
                        _ => 0.0,
                    },
                    Pivot::Zero => 0.0,
                };
            }
            let target = &mut target[j..];
            let mut k = 0;
            while k + 4 <= done {
                let [p, q, r, s] = [weights[k], weights[k + 1], weights[k + 2], weights[k + 3]];
                let a = &left[k * m + j..(k + 1) * m];
                let b = &left[(k + 1) * m + j..(k + 2) * m];
                let c = &left[(k + 2) * m + j..(k + 3) * m];
                let d = &left[(k + 3) * m + j..(k + 4) * m];
                for ((((t, &a), &b), &c), &d) in target.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                    *t -= (a * p + b * q) + (c * r + d * s);
                }
                k += 4;
            }
            while k < done {
                let weight = weights[k];
                for (t, &a) in target.iter_mut().zip(&left[k * m + j..(k + 1) * m]) {
                    *t -= a * weight;
                }
                k += 1;
            }
        }
    }
}
