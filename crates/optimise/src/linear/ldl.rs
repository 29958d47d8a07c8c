//! LDLᵀ of a sparse symmetric indefinite matrix of fixed pattern, with its inertia.
//!
//! ```text
//! S P A Pᵀ S = L D Lᵀ       S: diagonal, brings the largest entry of each row near one;  D: blocks of one or two rows
//! ```
//!
//! The multifrontal method: each front takes its entries of A, adds what its children left over, eliminates what it can and leaves the rest
//! to its parent. The order and the fronts are found once; a factorisation allocates only when it needs more memory than any before it. By
//! Sylvester's law the signs of D count the eigenvalues of A.
//!
//! References: I. S. Duff, J. K. Reid, ACM TOMS 9 (1983) 302–325; I. S. Duff, *MA57*, ACM TOMS 30 (2004) 118–144; D. Ruiz, *A scaling
//! algorithm to equilibrate both rows and columns norms in matrices*, RAL-TR-2001-034 (the scaling).

use super::eliminate::{Full, Pivot};
use super::matrix::Matrix;
use super::symbolic::Front;

/// The numbers of positive, negative and vanished eigenvalues.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Inertia {
    /// Eigenvalues above zero.
    pub positive: usize,
    /// Eigenvalues below zero.
    pub negative: usize,
    /// Eigenvalues that are zero to rounding.
    pub zero: usize,
}

/// An entry of a matrix is infinite or not a number.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NotFinite {
    /// The row of the entry.
    pub row: usize,
    /// Its column.
    pub column: usize,
}

/// Where the factor of a front is stored.
#[derive(Copy, Clone, Debug)]
struct Stored {
    size: usize,
    eliminated: usize,
    rows: usize,
    values: usize,
    pivots: usize,
}

/// What a front leaves to its parent.
#[derive(Copy, Clone, Debug)]
struct Left {
    front: usize,
    size: usize,
    delayed: usize,
    rows: usize,
    values: usize,
}

/// A factorisation that can be made again and again for new values.
#[derive(Clone, Debug)]
pub struct Ldl {
    n: usize,
    matrix: Matrix,
    fronts: Vec<Front>,
    threshold: f64,
    full: Full,
    stored: Vec<Stored>,
    rows: Vec<usize>,
    pivots: Vec<Pivot>,
    left: Vec<Left>,
    left_rows: Vec<usize>,
    left_values: Vec<f64>,
    map: Vec<usize>,
    work: Vec<f64>,
}

/// The product of two vectors, in four lanes.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 4];
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest
}

impl Ldl {
    /// Plans the factorisation of an n × n matrix with entries at `places` (row, column) of one triangle, in any order; entries at the same
    /// place add up. `pairs` are rows that are kept together: a row whose diagonal is zero and the row it is to be eliminated with. No row
    /// may be in two pairs.
    pub fn new(n: usize, places: &[(usize, usize)], pairs: &[(usize, usize)]) -> Self {
        let (matrix, fronts) = Matrix::new(n, places, pairs);
        Self {
            n,
            matrix,
            fronts,
            threshold: 1e-6,
            full: Full::default(),
            stored: Vec::new(),
            rows: Vec::new(),
            pivots: Vec::new(),
            left: Vec::new(),
            left_rows: Vec::new(),
            left_values: Vec::new(),
            map: Vec::new(),
            work: Vec::new(),
        }
    }

    /// Sets the threshold u of pivots, in (0, 0.5]: larger is more accurate and has more fill.
    pub fn set_threshold(&mut self, threshold: f64) {
        self.threshold = threshold;
    }

    /// The number of rows.
    pub fn size(&self) -> usize {
        self.n
    }

    /// The numbers stored by the last factorisation.
    pub fn stored(&self) -> usize {
        self.full.values.len()
    }

    /// Factorises the matrix with the given values, one for each place.
    pub fn factor(&mut self, values: &[f64]) -> Result<Inertia, NotFinite> {
        self.matrix.take(values)?;
        self.stored.clear();
        self.rows.clear();
        self.full.clear();
        self.pivots.clear();
        self.left.clear();
        self.left_rows.clear();
        self.left_values.clear();
        for f in 0..self.fronts.len() {
            self.assemble(f);
            let root = self.full.summed == self.full.size;
            self.full.eliminate(self.threshold, root);
            self.store(f);
        }
        self.work.resize(self.stored.iter().map(|s| s.size).max().unwrap_or(0), 0.0);
        Ok(self.inertia())
    }

    /// Gathers a front: its own entries and what its children left.
    fn assemble(&mut self, f: usize) {
        let front = &self.fronts[f];
        // Fronts are numbered after their subtrees: what lies on top of the stack from the first child on belongs here.
        let first = front.children.first().map_or(self.left.len(), |&c| self.left.partition_point(|l| l.front < c));
        let delayed: usize = self.left[first..].iter().map(|left| left.delayed).sum();
        let m = front.rows.len() + delayed;
        let full = &mut self.full;
        full.reset(m, front.pivots + delayed);
        // Own pivots, then rows that waited, then the rest.
        full.rows.extend_from_slice(&front.rows[..front.pivots]);
        for left in &self.left[first..] {
            full.rows.extend_from_slice(&self.left_rows[left.rows..left.rows + left.delayed]);
        }
        full.rows.extend_from_slice(&front.rows[front.pivots..]);
        let shift = |local: usize| if local < front.pivots { local } else { local + delayed };
        let values = full.entries();
        self.matrix.fill(f, m, shift, values);
        let mut waited = front.pivots;
        for left in &self.left[first..] {
            let up = &self.fronts[left.front].up;
            self.map.clear();
            self.map.extend(waited..waited + left.delayed);
            self.map.extend(up.iter().map(|&local| shift(local)));
            waited += left.delayed;
            let size = left.size;
            let rising = left.delayed == 0 && self.map.is_sorted();
            for j in 0..size {
                let column = &self.left_values[left.values + j * size..left.values + (j + 1) * size];
                let to = self.map[j];
                if rising {
                    let target = &mut values[to * m..(to + 1) * m];
                    for (&at, value) in self.map[j..].iter().zip(&column[j..]) {
                        target[at] += value;
                    }
                    continue;
                }
                for i in j..size {
                    let at = self.map[i];
                    let place = if at >= to { to * m + at } else { at * m + to };
                    values[place] += column[i];
                }
            }
        }
        if let Some(left) = self.left.get(first) {
            self.left_rows.truncate(left.rows);
            self.left_values.truncate(left.values);
        }
        self.left.truncate(first);
    }

    /// Keeps the eliminated columns and leaves the rest to the parent.
    fn store(&mut self, f: usize) {
        let full = &mut self.full;
        let (m, eliminated) = (full.size, full.pivots.len());
        self.stored.push(Stored {
            size: m,
            eliminated,
            rows: self.rows.len(),
            values: full.base,
            pivots: self.pivots.len(),
        });
        self.rows.extend_from_slice(&full.rows);
        self.pivots.extend_from_slice(&full.pivots);
        if eliminated < m {
            self.left.push(Left {
                front: f,
                size: m - eliminated,
                delayed: full.summed - eliminated,
                rows: self.left_rows.len(),
                values: self.left_values.len(),
            });
            self.left_rows.extend_from_slice(&full.rows[eliminated..]);
            let values = full.entries();
            for j in eliminated..m {
                self.left_values.extend_from_slice(&values[j * m + eliminated..(j + 1) * m]);
            }
        }
        full.keep();
    }

    fn inertia(&self) -> Inertia {
        let mut inertia = Inertia::default();
        for pivot in &self.pivots {
            match *pivot {
                Pivot::One(value) if value > 0.0 => inertia.positive += 1,
                Pivot::One(_) => inertia.negative += 1,
                Pivot::Two(a, b, c) if a * b < c * c => {
                    inertia.positive += 1;
                    inertia.negative += 1;
                }
                Pivot::Two(a, ..) if a > 0.0 => inertia.positive += 2,
                Pivot::Two(..) => inertia.negative += 2,
                Pivot::Second => {}
                Pivot::Zero => inertia.zero += 1,
            }
        }
        inertia
    }

    /// Solves A x = b in place with the last factorisation; along vanished pivots x is zero.
    pub fn solve(&mut self, x: &mut [f64]) {
        for (x, scale) in x.iter_mut().zip(&self.matrix.scale) {
            *x *= scale;
        }
        for stored in &self.stored {
            let Stored { size, eliminated, rows, values, pivots } = *stored;
            let rows = &self.rows[rows..rows + size];
            let work = &mut self.work[..size];
            for (w, &row) in work.iter_mut().zip(rows) {
                *w = x[row];
            }
            let columns = &self.full.values[values..values + eliminated * size];
            let mut blocks = columns.chunks_exact(4 * size);
            let mut k = 0;
            for block in &mut blocks {
                // The triangle of four columns, then the rows below it with all four at once.
                let (head, tail) = work.split_at_mut(k + 4);
                for a in 0..4 {
                    for b in a + 1..4 {
                        head[k + b] -= block[a * size + k + b] * head[k + a];
                    }
                }
                let w = [head[k], head[k + 1], head[k + 2], head[k + 3]];
                let [a, b, c, d]: [&[f64]; 4] = std::array::from_fn(|i| &block[i * size + k + 4..(i + 1) * size]);
                for ((((t, &a), &b), &c), &d) in tail.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                    *t -= (a * w[0] + b * w[1]) + (c * w[2] + d * w[3]);
                }
                k += 4;
            }
            for (column, k) in blocks.remainder().chunks_exact(size).zip(k..) {
                let pivot = work[k];
                for (w, &l) in work[k + 1..].iter_mut().zip(&column[k + 1..]) {
                    *w -= l * pivot;
                }
            }
            for k in 0..eliminated {
                match self.pivots[pivots + k] {
                    Pivot::One(value) => work[k] /= value,
                    Pivot::Two(a, b, c) => {
                        let (p, q, det) = (work[k], work[k + 1], a * b - c * c);
                        work[k] = (b * p - c * q) / det;
                        work[k + 1] = (a * q - c * p) / det;
                    }
                    Pivot::Second => {}
                    Pivot::Zero => work[k] = 0.0,
                }
            }
            for (&w, &row) in work.iter().zip(rows) {
                x[row] = w;
            }
        }
        for stored in self.stored.iter().rev() {
            let Stored { size, eliminated, rows, values, .. } = *stored;
            let rows = &self.rows[rows..rows + size];
            let work = &mut self.work[..size];
            for (w, &row) in work.iter_mut().zip(rows) {
                *w = x[row];
            }
            let columns = self.full.values[values..values + eliminated * size].chunks_exact(size);
            for (k, column) in columns.enumerate().rev() {
                work[k] -= product(&column[k + 1..], &work[k + 1..]);
            }
            for (&w, &row) in work[..eliminated].iter().zip(rows) {
                x[row] = w;
            }
        }
        for (x, scale) in x.iter_mut().zip(&self.matrix.scale) {
            *x *= scale;
        }
    }

    /// out ← out + A x, with the values of the last factorisation.
    pub fn add_product(&self, x: &[f64], out: &mut [f64]) {
        self.matrix.add_product(x, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repeatable sequence in (−1, 1).
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
    }

    fn check(ldl: &mut Ldl, places: &[(usize, usize)], values: &[f64], seed: u64) -> Inertia {
        let n = ldl.size();
        let mut number = numbers(seed);
        let exact: Vec<f64> = (0..n).map(|_| number()).collect();
        let add_product = |x: &[f64], out: &mut [f64]| {
            for (&(i, j), value) in places.iter().zip(values) {
                out[i] += value * x[j];
                if i != j {
                    out[j] += value * x[i];
                }
            }
        };
        let mut b = vec![0.0; n];
        add_product(&exact, &mut b);
        let inertia = ldl.factor(values).expect("finite");
        let mut x = b.clone();
        ldl.solve(&mut x);
        // One step of refinement.
        let mut residual: Vec<f64> = b.iter().map(|b| -b).collect();
        ldl.add_product(&x, &mut residual);
        ldl.solve(&mut residual);
        for (x, r) in x.iter_mut().zip(&residual) {
            *x -= r;
        }
        let mut residual: Vec<f64> = b.iter().map(|b| -b).collect();
        add_product(&x, &mut residual);
        let size = values.iter().fold(0.0f64, |a, v| a.max(v.abs())) * x.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        let worst = residual.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        // Backward error after refinement: a few rounding errors for each of the n terms.
        assert!(worst <= 4.0 * n as f64 * f64::EPSILON * size, "residual {worst} of {size}");
        inertia
    }

    /// [H Jᵀ; J 0] with H positive definite has as many negative eigenvalues as rows of J, whatever the order.
    #[test]
    fn saddle_points_have_their_inertia() {
        for (n, m, seed) in [(1, 1, 1), (2, 1, 2), (5, 3, 3), (40, 20, 4), (200, 120, 5)] {
            let mut number = numbers(seed);
            let (mut places, mut values) = (Vec::new(), Vec::new());
            for i in 0..n {
                places.push((i, i));
                values.push(3.0 + number());
            }
            for i in 1..n {
                places.push((i, i - 1));
                values.push(number());
            }
            for row in 0..m {
                for k in 0..3 {
                    let column = if k == 0 { row } else { ((number() + 1.0) * 0.5 * n as f64) as usize % n };
                    places.push((n + row, column));
                    values.push(number() + if k == 0 { 2.0 } else { 0.0 });
                }
            }
            for pairs in [Vec::new(), (0..m).map(|row| (row, n + row)).collect()] {
                let mut ldl = Ldl::new(n + m, &places, &pairs);
                let inertia = check(&mut ldl, &places, &values, seed + 10);
                assert_eq!(inertia, Inertia { positive: n, negative: m, zero: 0 }, "{n} {m}");
            }
        }
    }

    /// Signs of full symmetric matrices X Λ Xᵀ with chosen signs of Λ (Sylvester).
    #[test]
    fn full_matrices_keep_chosen_signs() {
        for (n, negative) in [(1, 1), (2, 1), (3, 0), (7, 3), (30, 17)] {
            let mut number = numbers(n as u64);
            let x: Vec<f64> = (0..n * n).map(|_| number()).collect();
            let (mut places, mut values) = (Vec::new(), Vec::new());
            for i in 0..n {
                for j in 0..=i {
                    let sum: f64 =
                        (0..n).map(|k| x[i * n + k] * x[j * n + k] * if k < negative { -1.0 } else { 1.0 }).sum();
                    places.push((i, j));
                    values.push(sum);
                }
            }
            let mut ldl = Ldl::new(n, &places, &[]);
            let inertia = check(&mut ldl, &places, &values, 7);
            assert_eq!(inertia, Inertia { positive: n - negative, negative, zero: 0 });
        }
    }

    /// Zeros on the diagonal and rows that are tried again and again: pivots of two rows whose partners had failed before, and rows that wait.
    #[test]
    fn awkward_diagonals_are_factorised() {
        for (n, seed) in [(3, 1u64), (4, 2), (5, 3), (9, 4), (20, 5), (60, 6)] {
            for hidden in [1, 2, 3] {
                let mut number = numbers(seed);
                let (mut places, mut values) = (Vec::new(), Vec::new());
                for i in 0..n {
                    for j in 0..=i {
                        let near = i - j <= 3 || (i * 7 + j * 3) % 11 == 0;
                        if near && !(i == j && i % (hidden + 1) != 0) {
                            places.push((i, j));
                            // Sizes over many orders, so that thresholds matter.
                            values.push(number() * 10f64.powi(-((i * j) as i32 % 7)));
                        }
                    }
                }
                for threshold in [1e-6, 0.1, 0.5] {
                    let mut ldl = Ldl::new(n, &places, &[]);
                    ldl.set_threshold(threshold);
                    let inertia = check(&mut ldl, &places, &values, seed);
                    assert_eq!(inertia.positive + inertia.negative + inertia.zero, n);
                }
            }
        }
    }

    /// A constraint written twice makes one zero eigenvalue.
    #[test]
    fn redundant_rows_are_zero_pivots() {
        let places = [(0, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)];
        let mut ldl = Ldl::new(4, &places, &[]);
        let inertia = ldl.factor(&[2.0, 3.0, 1.0, 0.7, 1.0, 0.7]).expect("finite");
        assert_eq!(inertia, Inertia { positive: 2, negative: 1, zero: 1 });
    }

    #[test]
    fn what_is_not_finite_is_named() {
        let mut ldl = Ldl::new(2, &[(0, 0), (1, 0)], &[]);
        assert_eq!(ldl.factor(&[1.0, f64::NAN]), Err(NotFinite { row: 1, column: 0 }));
    }
}
