//! Extrapolation to h = 0, and continuous output from the same numbers.
//!
//! Column j makes n_j = j substeps (the harmonic sequence). Their ends T_{j1} are extrapolated by Aitken and Neville, \[3\] (II.9.3)
//! with h in place of h²:
//!
//! ```text
//! T_{j,k+1} = T_{j,k} + (T_{j,k} − T_{j−1,k}) / (n_j / n_{j−k} − 1)          order k + 1
//! ```
//!
//! Continuous output, \[4\]: with y_{j,i} the i-th substep of column j, the differences Δˡy_{j,0}/hˡ and ∇ˡy_{j,j}/hˡ approximate the
//! l-th derivatives at both ends of the step. They have expansions in h, and extrapolated over the columns j = l, …, k
//! their errors are O(H^{k−l+1}). The Hermite polynomial through values and derivatives up to the order m = ⌈(k−1)/2⌉ at both ends has
//! degree 2m + 1 ≥ k, so its error is O(H^{k+1}), as that of the step. It costs no evaluation of the system.

use super::order::MOST;

/// The number of rows of all columns before column j, with the row of zeros at the base of the step.
const fn rows_before(j: usize) -> usize {
    1 + j * (j - 1) / 2
}

/// The most derivatives at each end.
const DERIVATIVES: usize = MOST / 2;

/// The substeps of all columns, their extrapolation, and the polynomial of the step.
pub(super) struct Table {
    size: usize,
    /// Packed increments: zeros, one substep, two substeps, …
    path: Vec<f64>,
    /// After column j, row l holds T_{j,j−l}.
    rows: Vec<f64>,
    /// Newton's coefficients of the polynomial, with nodes 0 first and 1 then.
    newton: Vec<f64>,
    /// The number of columns of the step completed last; 0 if there is none.
    columns: usize,
    ready: bool,
}

impl Table {
    pub fn new(size: usize, most: usize) -> Self {
        let zeros = |rows: usize| vec![0.0; rows * size];
        Self {
            size,
            path: zeros(rows_before(most + 1)),
            rows: zeros(most),
            newton: zeros(2 * (1 + derivatives(most))),
            columns: 0,
            ready: false,
        }
    }

    /// Forgets the last step.
    pub fn begin(&mut self) {
        self.columns = 0;
    }

    /// Where the substeps of column `j` go, with everything before them.
    pub fn column(&mut self, j: usize) -> &mut [f64] {
        &mut self.path[..rows_before(j + 1) * self.size]
    }

    /// Takes in column `j`, after all before it.
    pub fn extrapolate(&mut self, j: usize) {
        let (size, end) = (self.size, rows_before(j + 1) * self.size);
        self.rows[(j - 1) * size..j * size].copy_from_slice(&self.path[end - size..end]);
        for l in (1..j).rev() {
            // Row l − 1 holds T_{j−1,j−l} with n_l substeps at its beginning, row l holds T_{j,j−l}.
            let ratio = j as f64 / l as f64 - 1.0;
            let (low, high) = self.rows[(l - 1) * size..(l + 1) * size].split_at_mut(size);
            for (low, &high) in low.iter_mut().zip(&*high) {
                *low = high + (high - *low) / ratio;
            }
        }
    }

    /// The extrapolated increment T_{jj}.
    pub fn end(&self) -> &[f64] {
        &self.rows[..self.size]
    }

    /// T_{jj} − T_{j,j−1}: the error of the second.
    pub fn difference(&self) -> impl Iterator<Item = f64> + '_ {
        self.end().iter().zip(&self.rows[self.size..]).map(|(high, low)| high - low)
    }

    /// The step is complete with `j` columns.
    pub fn complete(&mut self, j: usize) {
        (self.columns, self.ready) = (j, false);
    }

    /// out = the increment at the part `theta` of the last step.
    pub fn dense(&mut self, theta: f64, out: &mut [f64]) {
        out.fill(0.0);
        if self.columns == 0 {
            return;
        }
        if !self.ready {
            self.interpolate();
            self.ready = true;
        }
        let nodes = 1 + derivatives(self.columns);
        for (i, row) in self.newton.chunks_exact(self.size.max(1)).take(2 * nodes).enumerate().rev() {
            let factor = if i < nodes { theta } else { theta - 1.0 };
            for (out, coefficient) in out.iter_mut().zip(row) {
                *out = *out * factor + coefficient;
            }
        }
    }

    /// The coefficients of the polynomial: Taylor coefficients at both ends, then divided differences.
    fn interpolate(&mut self) {
        let (k, size) = (self.columns, self.size);
        let m = derivatives(k);
        self.newton[..2 * (m + 1) * size].fill(0.0);
        self.newton[(m + 1) * size..(m + 2) * size].copy_from_slice(&self.rows[..size]);
        let mut factorial = 1.0;
        for l in 1..=m {
            factorial *= l as f64;
            for j in l..=k {
                let scale = weight(j, l, k) * (j as f64).powi(l as i32) / factorial;
                let (mut binomial, mut sign) = (1.0, 1.0);
                for i in 0..=l {
                    // ∇ˡ takes y_{j,j−i} with (−1)ⁱ, Δˡ takes y_{j,l−i}.
                    self.accumulate(l, j, l - i, sign * binomial * scale);
                    self.accumulate(m + 1 + l, j, j - i, sign * binomial * scale);
                    binomial *= (l - i) as f64 / (i + 1) as f64;
                    sign = -sign;
                }
            }
        }
        // Repeated nodes: f[0,…,0] and f[1,…,1] are Taylor coefficients, all others differences over a distance of 1.
        let mut column = [0.0; 2 * (DERIVATIVES + 1)];
        let mut taylor = column;
        for c in 0..size {
            for i in 0..2 * (m + 1) {
                taylor[i] = self.newton[i * size + c];
                column[i] = taylor[if i <= m { 0 } else { m + 1 }];
            }
            for order in 1..2 * (m + 1) {
                for i in (order..2 * (m + 1)).rev() {
                    column[i] = match i - order {
                        _ if i <= m => taylor[order],
                        first if first > m => taylor[m + 1 + order],
                        _ => column[i] - column[i - 1],
                    };
                }
            }
            for i in 0..2 * (m + 1) {
                self.newton[i * size + c] = column[i];
            }
        }
    }

    /// Row `to` of the polynomial += factor · y_{j,i}.
    fn accumulate(&mut self, to: usize, j: usize, i: usize, factor: f64) {
        if i == 0 {
            return;
        }
        let from = (rows_before(j) + i - 1) * self.size;
        let row = &mut self.newton[to * self.size..(to + 1) * self.size];
        for (sum, value) in row.iter_mut().zip(&self.path[from..]) {
            *sum += factor * value;
        }
    }
}

/// The number of derivatives at each end for k columns.
fn derivatives(k: usize) -> usize {
    k / 2
}

/// The weight of column j in the extrapolation to h = 0 over the columns `from`..=`to`: Π n_j / (n_j − n_i).
fn weight(j: usize, from: usize, to: usize) -> f64 {
    (from..=to).filter(|&i| i != j).fold(1.0, |product, i| product * j as f64 / (j as f64 - i as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// t + t² + … + t^k at the substeps, with errors h t Σ_e (t h)^e that vanish at the base, if asked.
    fn filled(k: usize, errors: bool) -> Table {
        let mut table = Table::new(1, k);
        for j in 1..=k {
            let h = 1.0 / j as f64;
            let path = table.column(j);
            for i in 1..=j {
                let t = i as f64 * h;
                let error: f64 = (0..k.saturating_sub(1)).map(|e| h * t * (t * h).powi(e as i32)).sum();
                path[rows_before(j) + i - 1] = truth(t, k) + if errors { error } else { 0.0 };
            }
            table.extrapolate(j);
        }
        table.complete(k);
        table
    }

    fn truth(t: f64, k: usize) -> f64 {
        (1..=k as i32).map(|i| t.powi(i)).sum()
    }

    /// How rounding grows: Σ|weights| of the columns.
    fn growth(k: usize) -> f64 {
        (1..=k).map(|j| weight(j, 1, k).abs()).sum()
    }

    /// Errors h, h², …, h^{k−1} are removed exactly by k columns.
    #[test]
    fn expansions_are_removed() {
        for k in 1..=MOST {
            let table = filled(k, true);
            let rounding = 4.0 * f64::EPSILON * growth(k) * truth(1.0, k);
            assert!((table.end()[0] - truth(1.0, k)).abs() <= rounding, "{k}: {}", table.end()[0]);
        }
    }

    /// Differences of polynomials of degree k have expansions that k columns remove: continuous output is exact. Derivatives have
    /// larger weights than ends, and small parts in the polynomial: together they lose one digit more at most.
    #[test]
    fn polynomials_are_met_inside() {
        for k in 1..=MOST {
            let mut table = filled(k, false);
            let rounding = 40.0 * f64::EPSILON * growth(k) * truth(1.0, k);
            for theta in [0.0, 0.1, 0.37, 0.5, 0.81, 1.0] {
                let mut out = [1.0];
                table.dense(theta, &mut out);
                assert!((out[0] - truth(theta, k)).abs() <= rounding, "{k} {theta}: {:e}", out[0] - truth(theta, k));
            }
        }
    }

    #[test]
    fn without_a_step_nothing_moves() {
        let mut table = filled(4, true);
        table.begin();
        let mut out = [1.0];
        table.dense(0.5, &mut out);
        assert_eq!(out, [0.0]);
    }
}
