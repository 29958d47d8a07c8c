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
//! Columns are looked at from the left (\[2\]): a column is brought up to date, a − Σ_p L_p (L D)_p, when it is a candidate, with four pivots p at a time; columns that
//! are no candidates are brought up to date together at the end, in blocks of four by four. So numbers are read from the cache and rarely written to it.
//!
//! References: \[1\] I. S. Duff, J. K. Reid, *MA27*, AERE R10533 (1982), and *The multifrontal solution of indefinite sparse symmetric
//! linear equations*, ACM TOMS 9 (1983) 302–325; J. R. Bunch, B. N. Parlett, SIAM J. Numer. Anal. 8 (1971) 639–655; \[2\] the routine DLASYF of LAPACK.

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
    /// Columns of L of all fronts so far, and from `base` on the entries of this one, by columns: nothing is moved when a front is done.
    pub values: Vec<f64>,
    /// Where this front begins.
    pub base: usize,
    /// The pivots found, one for each eliminated row.
    pub pivots: Vec<Pivot>,
    /// L D, by columns: the columns of eliminated rows before they were divided by their pivots.
    before: Vec<f64>,
    /// The pivots from this one on have not been taken from the remaining columns.
    pending: usize,
    /// Candidates: two columns, up to date.
    first: Vec<f64>,
    second: Vec<f64>,
}

/// t ← t − Σ_p l_p w_p over columns of a length, four at a time.
fn subtract(
    t: &mut [f64],
    left: &[f64],
    m: usize,
    from: usize,
    weights: impl Fn(usize) -> f64,
    pivots: std::ops::Range<usize>,
) {
    let count = t.len();
    let column = |p: usize| &left[p * m + from..p * m + from + count];
    let mut p = pivots.start;
    while p + 4 <= pivots.end {
        let w: [f64; 4] = std::array::from_fn(|i| weights(p + i));
        let [a, b, c, d]: [&[f64]; 4] = std::array::from_fn(|i| column(p + i));
        for ((((t, &a), &b), &c), &d) in t.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *t -= (a * w[0] + b * w[1]) + (c * w[2] + d * w[3]);
        }
        p += 4;
    }
    while p < pivots.end {
        let w = weights(p);
        for (t, &a) in t.iter_mut().zip(column(p)) {
            *t -= a * w;
        }
        p += 1;
    }
}

/// The largest size of numbers, in four lanes.
fn largest(values: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 4];
    let chunks = values.chunks_exact(4);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            let size = value.abs();
            *lane = if size > *lane { size } else { *lane };
        }
    }
    rest.iter().chain(&lanes).fold(0.0, |most: f64, value| if value.abs() > most { value.abs() } else { most })
}

impl Full {
    /// Forgets all fronts; memory is kept.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    /// The entries of this front.
    pub fn entries(&mut self) -> &mut [f64] {
        &mut self.values[self.base..]
    }

    /// Keeps the columns of L of this front only.
    pub fn keep(&mut self) {
        self.values.truncate(self.base + self.pivots.len() * self.size);
    }

    /// An empty matrix of a size, behind the fronts before it.
    pub fn reset(&mut self, size: usize, summed: usize) {
        self.size = size;
        self.summed = summed;
        self.base = self.values.len();
        self.values.resize(self.base + size * size, 0.0);
        self.rows.clear();
        self.pivots.clear();
        self.pending = 0;
        // Written before they are read: only their length counts.
        if self.before.len() < size * summed {
            self.before.resize(size * summed, 0.0);
        }
        self.first.resize(size, 0.0);
        self.second.resize(size, 0.0);
    }

    #[inline]
    fn at(&self, i: usize, j: usize) -> f64 {
        let (i, j) = if i >= j { (i, j) } else { (j, i) };
        self.values[self.base + j * self.size + i]
    }

    /// Eliminates what can be; the first rows are then eliminated, in this order, columns of L below them.
    pub fn eliminate(&mut self, threshold: f64, root: bool) {
        let mut k = 0;
        // Candidates from here on have failed; they are tried again once others were eliminated.
        let (mut tried, mut progress) = (self.summed, false);
        while k < self.summed {
            if k >= tried {
                if !progress {
                    break;
                }
                (tried, progress) = (self.summed, false);
            }
            match self.candidate(k, threshold) {
                0 => {
                    tried -= 1;
                    self.swap(k, tried);
                }
                count => {
                    k += count;
                    progress = true;
                }
            }
        }
        self.complement(k);
        if root {
            self.finish(k);
        }
    }

    /// Column c of the remaining matrix, rows from k on, up to date.
    fn bring(&mut self, k: usize, c: usize, second: bool) {
        let m = self.size;
        let Self { values, base, before, first, second: other, pending, .. } = self;
        let values = &values[*base..];
        let t = if second { other } else { first };
        for i in k..c {
            t[i] = values[i * m + c];
        }
        t[c..].copy_from_slice(&values[c * m + c..(c + 1) * m]);
        subtract(&mut t[k..], values, m, k, |p| before[p * m + c], *pending..k);
    }

    /// Tries row k, alone or with a partner; the number of rows eliminated.
    fn candidate(&mut self, k: usize, u: f64) -> usize {
        self.bring(k, k, false);
        let own = self.first[k];
        let most = largest(&self.first[k + 1..]);
        if own.abs() > VANISHED && own.abs() >= u * most {
            self.one(k);
            return 1;
        }
        let (mut best, mut r) = (0.0f64, k);
        for (i, value) in self.first[..self.summed].iter().enumerate().skip(k + 1) {
            if value.abs() > best {
                (best, r) = (value.abs(), i);
            }
        }
        if best <= VANISHED {
            return 0;
        }
        self.bring(k, r, true);
        let (other, between) = (self.second[r], self.first[r]);
        let det = own * other - between * between;
        let beside = |t: &[f64]| largest(&t[k + 1..r]).max(largest(&t[r + 1..]));
        let (one, two) = (beside(&self.first), beside(&self.second));
        let bound = det.abs() / u;
        let safe = det.abs() > f64::EPSILON * (own * other).abs().max(between * between);
        if safe && other.abs() * one + between.abs() * two <= bound && between.abs() * one + own.abs() * two <= bound {
            self.swap(k + 1, r);
            self.first.swap(k + 1, r);
            self.second.swap(k + 1, r);
            self.two(k);
            return 2;
        }
        0
    }

    /// Exchanges rows and columns a ≤ b of the remaining matrix, and rows of the factor.
    fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let (m, done) = (self.size, self.pivots.len().min(a));
        self.rows.swap(a, b);
        let (values, before) = (&mut self.values[self.base..], &mut self.before);
        for j in 0..done {
            values.swap(j * m + a, j * m + b);
            before.swap(j * m + a, j * m + b);
        }
        for j in done..a {
            values.swap(j * m + a, j * m + b);
        }
        for j in a + 1..b {
            values.swap(a * m + j, j * m + b);
        }
        for i in b + 1..m {
            values.swap(a * m + i, b * m + i);
        }
        values.swap(a * m + a, b * m + b);
    }

    /// Eliminates row k, whose column is the first candidate.
    fn one(&mut self, k: usize) {
        let (m, pivot) = (self.size, self.first[k]);
        let inverse = 1.0 / pivot;
        let at = k * m + k + 1..(k + 1) * m;
        let old = &self.first[k + 1..m];
        self.before[at.clone()].copy_from_slice(old);
        for (l, &old) in self.values[self.base..][at].iter_mut().zip(old) {
            *l = old * inverse;
        }
        self.pivots.push(Pivot::One(pivot));
    }

    /// Eliminates rows k and k + 1, whose columns are the candidates.
    fn two(&mut self, k: usize) {
        let m = self.size;
        let (a, b, c) = (self.first[k], self.second[k + 1], self.first[k + 1]);
        let inverse = 1.0 / (a * b - c * c);
        let (p, q, r) = (a * inverse, b * inverse, c * inverse);
        let (old, other) = (&self.first[k + 2..m], &self.second[k + 2..m]);
        self.before[k * m + k + 2..(k + 1) * m].copy_from_slice(old);
        self.before[(k + 1) * m + k + 2..(k + 2) * m].copy_from_slice(other);
        let (left, right) = self.values[self.base..].split_at_mut((k + 1) * m);
        left[k * m + k + 1] = 0.0;
        let columns = left[k * m + k + 2..].iter_mut().zip(&mut right[k + 2..m]);
        for ((x, y), (&old, &other)) in columns.zip(old.iter().zip(other)) {
            *x = q * old - r * other;
            *y = p * other - r * old;
        }
        self.pivots.push(Pivot::Two(a, b, c));
        self.pivots.push(Pivot::Second);
    }

    /// Brings all remaining columns up to date, C ← C − L D Lᵀ, in blocks of four columns and four rows.
    fn complement(&mut self, k: usize) {
        let (m, pending) = (self.size, self.pending);
        self.pending = k;
        if k == m || k == pending {
            return;
        }
        let (left, right) = self.values[self.base..].split_at_mut(k * m);
        let (left, before) = (&left[pending * m..], &self.before[pending * m..k * m]);
        let mut blocks = right.chunks_exact_mut(4 * m);
        let mut j = k;
        for block in &mut blocks {
            let mut i = j;
            while i + 4 <= m {
                let mut sums = [[0.0f64; 4]; 4];
                for (l, w) in left.chunks_exact(m).zip(before.chunks_exact(m)) {
                    let (Ok(l), Ok(w)) = (<&[f64; 4]>::try_from(&l[i..i + 4]), <&[f64; 4]>::try_from(&w[j..j + 4]))
                    else {
                        continue;
                    };
                    for (sums, &w) in sums.iter_mut().zip(w) {
                        for (sum, &l) in sums.iter_mut().zip(l) {
                            *sum += l * w;
                        }
                    }
                }
                for (column, sums) in block.chunks_exact_mut(m).zip(&sums) {
                    for (t, sum) in column[i..i + 4].iter_mut().zip(sums) {
                        *t -= sum;
                    }
                }
                i += 4;
            }
            // Rows that are left over: fewer than four.
            for i in i..m {
                for (a, column) in block.chunks_exact_mut(m).enumerate() {
                    let terms = left.chunks_exact(m).zip(before.chunks_exact(m));
                    column[i] -= terms.map(|(l, w)| l[i] * w[j + a]).sum::<f64>();
                }
            }
            j += 4;
        }
        for (column, j) in blocks.into_remainder().chunks_exact_mut(m).zip(j..) {
            subtract(&mut column[j..], left, m, j, |p| before[p * m + j], 0..k - pending);
        }
    }

    /// Eliminates what is left of a root, the largest pivots first; what has vanished are rows of zeros.
    fn finish(&mut self, mut k: usize) {
        while k < self.summed {
            let count = match self.largest(k) {
                None => {
                    let (m, summed) = (self.size, self.summed);
                    for c in k..summed {
                        self.entries()[c * m + c..(c + 1) * m].fill(0.0);
                        self.pivots.push(Pivot::Zero);
                    }
                    return;
                }
                Some((c, partner)) => {
                    self.swap(k, c);
                    self.bring(k, k, false);
                    match partner {
                        None => self.one(k),
                        Some(r) => {
                            // The partner may have been the row that just moved.
                            self.swap(k + 1, if r == k { c } else { r });
                            self.bring(k, k, false);
                            self.bring(k, k + 1, true);
                            self.two(k);
                        }
                    }
                    1 + usize::from(partner.is_some())
                }
            };
            k += count;
            self.complement(k);
        }
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
}
