//! Points and weights of quadrature on [0, 1], and polynomials through points.
//!
//! Gauss points are the zeros of the Legendre polynomial P_n, Lobatto points the ends and the zeros of P'_{n−1}, both by Newton's
//! method (\[1\] section 25.4); Chebyshev points with the ends are ½(1 − cos(kπ/(n−1))), as in \[2\]. The weights of n points are those that
//! integrate all polynomials of degree n − 1 (maximal order for these points): integrals of Lagrange's polynomials, by a Gauss rule
//! that is exact for them.
//!
//! References: \[1\] Abramowitz, Stegun: Handbook of Mathematical Functions, 1964; \[2\] Clenshaw, Curtis: A method for numerical integration
//! on an automatic computer, Numer. Math. 2 (1960) 197–205.

use std::f64::consts::PI;

/// P_n(x), P'_n(x) and P''_n(x).
fn legendre(n: usize, x: f64) -> [f64; 3] {
    let (mut before, mut now) = (1.0, x);
    for k in 2..=n {
        let k = k as f64;
        (before, now) = (now, ((2.0 * k - 1.0) * x * now - (k - 1.0) * before) / k);
    }
    let n = n as f64;
    let apart = 1.0 - x * x;
    let slope = n * (before - x * now) / apart;
    [now, slope, (2.0 * x * slope - n * (n + 1.0) * now) / apart]
}

/// A zero by Newton's method from a guess that is known to lie nearest to it.
fn zero(guess: f64, f: impl Fn(f64) -> [f64; 2]) -> f64 {
    (0..60).fold(guess, |x, _| {
        let [value, slope] = f(x);
        x - value / slope
    })
}

/// The n Gauss points, with weights.
pub(super) fn gauss(n: usize) -> (Vec<f64>, Vec<f64>) {
    if n == 1 {
        return (vec![0.5], vec![1.0]);
    }
    let root = |k: usize| {
        let guess = -(PI * (k as f64 + 0.75) / (n as f64 + 0.5)).cos();
        zero(guess, |x| {
            let [value, slope, _] = legendre(n, x);
            [value, slope]
        })
    };
    (0..n)
        .map(|k| {
            let x = if 2 * k + 1 == n { 0.0 } else { root(k) };
            let slope = legendre(n, x)[1];
            (0.5 * (1.0 + x), 1.0 / ((1.0 - x * x) * slope * slope))
        })
        .unzip()
}

/// The n ≥ 2 Lobatto points, with weights.
pub(super) fn lobatto(n: usize) -> (Vec<f64>, Vec<f64>) {
    let size = n as f64 * (n as f64 - 1.0);
    (0..n)
        .map(|k| match k {
            0 => (0.0, 1.0 / size),
            _ if k + 1 == n => (1.0, 1.0 / size),
            _ => {
                // The extrema of P_{n−1} lie near those of a Chebyshev polynomial.
                let guess = -(PI * k as f64 / (n as f64 - 1.0)).cos();
                let x = match 2 * k + 1 == n {
                    true => 0.0,
                    false => zero(guess, |x| {
                        let [_, slope, curve] = legendre(n - 1, x);
                        [slope, curve]
                    }),
                };
                (0.5 * (1.0 + x), 1.0 / (size * legendre(n - 1, x)[0].powi(2)))
            }
        })
        .unzip()
}

/// The points α and 1 − α with equal weights, or the middle.
pub(super) fn affine(alpha: f64) -> (Vec<f64>, Vec<f64>) {
    if alpha == 0.5 { (vec![0.5], vec![1.0]) } else { (vec![alpha, 1.0 - alpha], vec![0.5; 2]) }
}

/// n ≥ 2 equidistant points with the ends.
pub(super) fn equidistant(n: usize) -> Vec<f64> {
    (0..n).map(|k| k as f64 / (n as f64 - 1.0)).collect()
}

/// n ≥ 2 Chebyshev points with the ends.
pub(super) fn chebyshev(n: usize) -> Vec<f64> {
    (0..n).map(|k| 0.5 * (1.0 - (PI * k as f64 / (n as f64 - 1.0)).cos())).collect()
}

/// n Chebyshev points without the ends.
pub(super) fn fejer(n: usize) -> Vec<f64> {
    (0..n).map(|k| 0.5 * (1.0 - (PI * (k as f64 + 0.5) / n as f64).cos())).collect()
}

/// The weights of maximal order for given points.
pub(super) fn weights(points: &[f64]) -> Vec<f64> {
    let (nodes, factors) = gauss(points.len());
    (0..points.len()).map(|j| nodes.iter().zip(&factors).map(|(&x, f)| f * lagrange(points, j, x)[0]).sum()).collect()
}

/// Lagrange's polynomial of a node: its value and slope.
pub(super) fn lagrange(nodes: &[f64], j: usize, x: f64) -> [f64; 2] {
    let others = || (0..nodes.len()).filter(move |&k| k != j);
    let value = others().map(|k| (x - nodes[k]) / (nodes[j] - nodes[k])).product();
    let slope = others()
        .map(|m| {
            let rest: f64 = others().filter(|&k| k != m).map(|k| (x - nodes[k]) / (nodes[j] - nodes[k])).product();
            rest / (nodes[j] - nodes[m])
        })
        .sum();
    [value, slope]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of a rule on x^m, whose integral is 1/(m + 1).
    fn defect(points: &[f64], weights: &[f64], m: i32) -> f64 {
        let sum: f64 = points.iter().zip(weights).map(|(x, w)| w * x.powi(m)).sum();
        (sum - 1.0 / f64::from(m + 1)).abs()
    }

    #[test]
    fn rules_are_exact_to_their_degree_and_no_further() {
        for n in 2..=12_usize {
            let degree = n as i32;
            let (g, l) = (gauss(n), lobatto(n));
            let (e, c, f) = (equidistant(n), chebyshev(n), fejer(n));
            for (points, weights, exact) in [
                (g.0, g.1, 2 * degree - 1),
                (l.0, l.1, 2 * degree - 3),
                (e.clone(), weights(&e), degree - 1),
                (c.clone(), weights(&c), degree - 1),
                (f.clone(), weights(&f), degree - 1),
            ] {
                // Weights of equidistant points change sign from nine points on and add up to more than one in magnitude.
                let size: f64 = weights.iter().map(|w| w.abs()).sum();
                for m in 0..=exact {
                    assert!(defect(&points, &weights, m) < 1e-14 * size, "{n} points, degree {m}");
                }
                if n < 7 && exact % 2 == 1 {
                    assert!(defect(&points, &weights, exact + 1) > 1e-8, "{n} points, degree {exact}");
                }
            }
        }
        assert_eq!(equidistant(3), [0.0, 0.5, 1.0]);
        for (weight, simpson) in weights(&equidistant(3)).iter().zip([1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0]) {
            assert!((weight - simpson).abs() < 1e-15);
        }
    }

    #[test]
    fn polynomials_pass_through_their_nodes() {
        let nodes = lobatto(6).0;
        for j in 0..6 {
            for (k, &x) in nodes.iter().enumerate() {
                assert!((lagrange(&nodes, j, x)[0] - f64::from(u8::from(j == k))).abs() < 1e-14);
            }
        }
        // Σ x_j³ ℓ_j = x³ and its slope.
        let at = 0.37_f64;
        let sum = |which: usize| (0..6).map(|j| nodes[j].powi(3) * lagrange(&nodes, j, at)[which]).sum::<f64>();
        assert!((sum(0) - at.powi(3)).abs() < 1e-14 && (sum(1) - 3.0 * at * at).abs() < 1e-13);
    }
}
