//! Conditions of second order: whether a point that meets those of first order is a minimum.
//!
//! At a minimum the Hessian W of the Lagrangian is not negative along any direction that keeps the active constraints with a multiplier (strongly active ones);
//! if it is positive along all of them, the point is a strict local minimum. With Z an orthonormal basis of these directions the least eigenvalue of ZᵀWZ decides.
//! (\[1\] theorems 12.5 and 12.6; directions that leave constraints which are active without a multiplier are counted among them, so that a negative value there
//! does not exclude a minimum.) Dense: for small programs.
//!
//! Reference: \[1\] J. Nocedal, S. J. Wright, *Numerical optimization*, 2nd ed., Springer 2006.

use crate::nlp::{Bound, Nlp, Point};

/// What was found at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondOrder {
    /// The largest entry of the gradient of the Lagrangian, over one plus the largest multiplier.
    pub stationarity: f64,
    /// Constraints and bounds that are active with a multiplier, those that depend on others left out.
    pub strong: usize,
    /// Those that are active without one.
    pub weak: usize,
    /// Directions that keep the strongly active ones.
    pub directions: usize,
    /// The least eigenvalue of the Hessian of the Lagrangian along these directions; infinite if there are none.
    pub least: f64,
}

impl SecondOrder {
    /// Whether the point is a strict local minimum for sure.
    pub fn is_minimum(&self, tolerance: f64) -> bool {
        self.stationarity <= tolerance && self.least > tolerance
    }
}

/// Examines a point. Gaps and multipliers below `tolerance` (relative to one plus their size) count as zero.
pub fn second_order(problem: &mut dyn Nlp, point: &Point, tolerance: f64) -> SecondOrder {
    let (n, m) = (problem.size().variables, problem.size().constraints);
    let (mut variables, mut constraints) = (vec![Bound::FREE; n], vec![Bound::FREE; m]);
    problem.bounds(&mut variables, &mut constraints);
    let x = &point.x;
    let mut c = vec![0.0; m];
    problem.constraints(x, &mut c);
    let places = problem.jacobian_pattern();
    let mut entries = vec![0.0; places.len()];
    problem.jacobian(x, &mut entries);
    let mut jacobian = vec![vec![0.0; n]; m];
    places.iter().zip(&entries).for_each(|(&(i, j), value)| jacobian[i][j] += value);
    let mut slope = vec![0.0; n];
    problem.gradient(x, &mut slope);
    for j in 0..n {
        slope[j] +=
            (0..m).map(|i| jacobian[i][j] * point.constraints[i]).sum::<f64>() + point.upper[j] - point.lower[j];
    }
    let all = point.constraints.iter().chain(&point.lower).chain(&point.upper);
    let largest = all.fold(0.0f64, |a, y| a.max(y.abs()));
    let (mut rows, mut weak): (Vec<Vec<f64>>, usize) = (Vec::new(), 0);
    let mut judge = |bound: &Bound, value: f64, multiplier: f64, row: Vec<f64>| {
        let gap = (value - bound.lower).min(bound.upper - value);
        match () {
            () if bound.is_equality() => rows.push(row),
            () if gap > tolerance * (1.0 + value.abs()) && multiplier.abs() <= tolerance * (1.0 + largest) => {}
            () if multiplier.abs() > tolerance * (1.0 + largest) => rows.push(row),
            () => weak += 1,
        }
    };
    for i in 0..m {
        judge(&constraints[i], c[i], point.constraints[i], jacobian[i].clone());
    }
    for j in 0..n {
        let unit = (0..n).map(|k| f64::from(u8::from(k == j))).collect();
        judge(&variables[j], x[j], point.upper[j] - point.lower[j], unit);
    }
    let places = problem.hessian_pattern();
    let mut entries = vec![0.0; places.len()];
    problem.hessian(x, 1.0, &point.constraints, &mut entries);
    let mut hessian = vec![vec![0.0; n]; n];
    for (&(i, j), value) in places.iter().zip(&entries) {
        hessian[i][j] += value;
        if i != j {
            hessian[j][i] += value;
        }
    }
    let (strong, basis) = null_space(rows, n);
    let along = |a: &[f64], b: &[f64]| -> f64 {
        (0..n).map(|i| a[i] * (0..n).map(|j| hessian[i][j] * b[j]).sum::<f64>()).sum()
    };
    let projected = basis.iter().map(|a| basis.iter().map(|b| along(a, b)).collect()).collect();
    let steepest = slope.iter().fold(0.0f64, |a, s| a.max(s.abs()));
    SecondOrder {
        stationarity: steepest / (1.0 + largest),
        strong,
        weak,
        directions: basis.len(),
        least: eigenvalues(projected).into_iter().fold(f64::INFINITY, f64::min),
    }
}

/// The rank of rows, and an orthonormal basis of what is orthogonal to them, by Gram–Schmidt, twice.
fn null_space(rows: Vec<Vec<f64>>, n: usize) -> (usize, Vec<Vec<f64>>) {
    let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let add = |mut v: Vec<f64>, basis: &mut Vec<Vec<f64>>| {
        let before = length(&v);
        for _ in 0..2 {
            for b in basis.iter() {
                let part: f64 = v.iter().zip(b).map(|(v, b)| v * b).sum();
                v.iter_mut().zip(b).for_each(|(v, b)| *v -= part * b);
            }
        }
        let after = length(&v);
        // What is left of a dependent row is rounding.
        if after > 1e-8 * before.max(f64::MIN_POSITIVE) {
            basis.push(v.into_iter().map(|v| v / after).collect());
        }
    };
    rows.into_iter().for_each(|row| add(row, &mut basis));
    let rank = basis.len();
    for j in 0..n {
        let unit = (0..n).map(|k| f64::from(u8::from(k == j))).collect();
        // Only clearly independent axes, so that exactly n directions come out.
        let mut trial = basis.clone();
        add(unit, &mut trial);
        if trial.len() <= n {
            basis = trial;
        }
    }
    (rank, basis.split_off(rank))
}

/// Eigenvalues of a symmetric matrix by Jacobi's rotations.
fn eigenvalues(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for _ in 0..50 {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j].powi(2)).sum();
        let size: f64 = (0..n).map(|i| a[i][i].powi(2)).sum();
        if off <= 1e-30 * size || off == 0.0 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = if theta >= 0.0 { 1.0 } else { -1.0 } / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    (a[k][p], a[k][q]) = (c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]);
                }
                for k in 0..n {
                    (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                }
            }
        }
    }
    (0..n).map(|i| a[i][i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::{Second, Written};
    use dalembert_methods::Real;

    #[test]
    fn eigenvalues_are_those_of_the_matrix() {
        // A chain of springs: 2 − 2 cos(k π / 5).
        let chain = |i: usize, j: usize| {
            if i == j {
                2.0
            } else if i.abs_diff(j) == 1 {
                -1.0
            } else {
                0.0
            }
        };
        let mut found = eigenvalues((0..4).map(|i| (0..4).map(|j| chain(i, j)).collect()).collect());
        found.sort_by(f64::total_cmp);
        for (k, value) in found.into_iter().enumerate() {
            let exact = 2.0 - 2.0 * ((k + 1) as f64 * std::f64::consts::PI / 5.0).cos();
            assert!((value - exact).abs() < 1e-14, "{value} {exact}");
        }
    }

    /// x y on the unit circle is least at (1, −1)/√2 and greatest at (1, 1)/√2, where the Lagrangian x y ∓ (x² + y²)/2 has curvature ±2 along the circle.
    #[test]
    fn maxima_are_no_minima() {
        let function = |x: &[Second], c: &mut [Second]| {
            c[0] = x[0].square() + x[1].square();
            x[0] * x[1]
        };
        let half = 0.5f64.sqrt();
        let mut program = Written::new(function, vec![half; 2], vec![Bound::FREE; 2], vec![Bound::equal(1.0)]);
        for (y, multiplier, curvature) in [(-half, 0.5, 2.0), (half, -0.5, -2.0)] {
            let zero = vec![0.0; 2];
            let point = Point { x: vec![half, y], constraints: vec![multiplier], lower: zero.clone(), upper: zero };
            let found = second_order(&mut program, &point, 1e-8);
            assert_eq!((found.strong, found.weak, found.directions), (1, 0, 1));
            assert!((found.least - curvature).abs() < 1e-14 && found.stationarity < 1e-15, "{found:?}");
            assert_eq!(found.is_minimum(1e-8), curvature > 0.0);
        }
    }
}
