//! Lobatto points of any number, and the coefficients of collocation at them (Lobatto IIIA).
//!
//! The points are −1, 1 and the roots of P′_{s−1}; on [0, 1] the collocation polynomial through derivatives at the points c gives
//! a_ij = ∫₀^{c_i} ℓ_j and b_j = ∫₀¹ ℓ_j, found by Gauss–Legendre quadrature, which is exact for these degrees.
//!
//! Reference: E. Hairer, G. Wanner, Solving ordinary differential equations II, 2nd ed., Springer 1996, section IV.5.

/// The coefficients of collocation at s Lobatto points.
#[derive(Clone, Debug, PartialEq)]
pub struct Lobatto {
    /// The points in [0, 1], both ends among them.
    pub c: Vec<f64>,
    /// The weights.
    pub b: Vec<f64>,
    /// `a[i][j]` = ∫₀^{c_i} ℓ_j.
    pub a: Vec<Vec<f64>>,
}

/// P_n and P′_n at x.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut now) = (1.0, x);
    if n == 0 {
        return (1.0, 0.0);
    }
    for k in 2..=n {
        let k = k as f64;
        (before, now) = (now, ((2.0 * k - 1.0) * x * now - (k - 1.0) * before) / k);
    }
    let slope = if (x * x - 1.0).abs() < 1e-14 {
        0.5 * (n * (n + 1)) as f64 * if n % 2 == 1 { 1.0 } else { x.signum() }
    } else {
        n as f64 * (x * now - before) / (x * x - 1.0)
    };
    (now, slope)
}

/// Gauss–Legendre points and weights on [0, 1].
pub fn gauss(n: usize) -> (Vec<f64>, Vec<f64>) {
    let root = |i: usize| {
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos();
        for _ in 0..50 {
            let (p, d) = legendre(n, x);
            x -= p / d;
        }
        x
    };
    let points: Vec<f64> = (0..n).rev().map(root).collect();
    let weights = points.iter().map(|&x| {
        let (_, d) = legendre(n, x);
        1.0 / ((1.0 - x * x) * d * d)
    });
    (points.iter().map(|x| 0.5 * (x + 1.0)).collect(), weights.collect())
}

impl Lobatto {
    /// The coefficients for s ≥ 2 points.
    pub fn new(s: usize) -> Self {
        assert!(s >= 2, "collocation at Lobatto points needs both ends");
        let n = s - 1;
        // Roots of P′_n by Newton, with P″ from Legendre's equation (1 − x²) P″ = 2x P′ − n(n+1) P.
        let root = |i: usize| {
            let mut x = -(std::f64::consts::PI * i as f64 / n as f64).cos();
            for _ in 0..100 {
                let (p, d) = legendre(n, x);
                let second = (2.0 * x * d - (n * (n + 1)) as f64 * p) / (1.0 - x * x);
                x -= d / second;
            }
            0.5 * (x + 1.0)
        };
        let c: Vec<f64> = (0..s)
            .map(|i| match i {
                0 => 0.0,
                i if i == n => 1.0,
                i => root(i),
            })
            .collect();
        let (points, weights) = gauss(s);
        let integral = |until: f64, j: usize| -> f64 {
            points.iter().zip(&weights).map(|(&x, &w)| until * w * cardinal(&c, j, until * x)).sum()
        };
        let a = c.iter().map(|&until| (0..s).map(|j| integral(until, j)).collect()).collect();
        let b = (0..s).map(|j| integral(1.0, j)).collect();
        Self { a, b, c }
    }

    /// The number of points.
    pub fn stages(&self) -> usize {
        self.c.len()
    }
}

/// The polynomial that is 1 at point j and 0 at the others.
pub fn cardinal(c: &[f64], j: usize, x: f64) -> f64 {
    c.iter().enumerate().filter(|(k, _)| *k != j).map(|(_, &ck)| (x - ck) / (c[j] - ck)).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two points are the trapezoidal rule, three Simpson's; polynomials of degree 2s − 3 are integrated exactly.
    #[test]
    fn coefficients() {
        let two = Lobatto::new(2);
        assert_eq!((two.c.as_slice(), two.stages()), (&[0.0, 1.0][..], 2));
        let three = Lobatto::new(3);
        for (found, exact) in three.b.iter().zip([1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0]) {
            assert!((found - exact).abs() < 1e-15);
        }
        for (found, exact) in three.a[1].iter().zip([5.0 / 24.0, 1.0 / 3.0, -1.0 / 24.0]) {
            assert!((found - exact).abs() < 1e-15);
        }
        for s in 2..=10 {
            let rule = Lobatto::new(s);
            for degree in 0..=2 * s - 3 {
                let sum: f64 = rule.c.iter().zip(&rule.b).map(|(c, b)| b * c.powi(degree as i32)).sum();
                // s products, each rounded a few times.
                assert!((sum - 1.0 / (degree + 1) as f64).abs() < 20.0 * f64::EPSILON, "{s} {degree} {sum}");
            }
        }
    }
}
