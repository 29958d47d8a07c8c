//! The numbers of the Radau IIA method with three stages: nodes, weights, eigenvalues, and its collocation polynomial.
//!
//! A⁻¹ = T Λ T⁻¹ with Λ = diag(γ, [α −β; β α]), so that Newton's method for three stages falls into one real and one complex
//! system of the size of one stage (\[1\] section IV.8).
//!
//! Reference: \[1\] Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., Springer 1996.

use crate::algebra::Complex;

/// The square root of 6.
const ROOT: f64 = 2.449_489_742_783_178;

/// The nodes c.
pub(super) const NODES: [f64; 3] = [(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0];

/// The weights A of the stages; the last row is b.
pub(super) const WEIGHTS: [[f64; 3]; 3] = [
    [(88.0 - 7.0 * ROOT) / 360.0, (296.0 - 169.0 * ROOT) / 1800.0, (-2.0 + 3.0 * ROOT) / 225.0],
    [(296.0 + 169.0 * ROOT) / 1800.0, (88.0 + 7.0 * ROOT) / 360.0, (-2.0 - 3.0 * ROOT) / 225.0],
    [(16.0 - ROOT) / 36.0, (16.0 + ROOT) / 36.0, 1.0 / 9.0],
];

/// A⁻¹.
pub(super) const INVERSE: [[f64; 3]; 3] = [
    [2.0 + 0.5 * ROOT, -1.2 + 29.0 / 30.0 * ROOT, 0.4 - 4.0 / 15.0 * ROOT],
    [-1.2 - 29.0 / 30.0 * ROOT, 2.0 - 0.5 * ROOT, 0.4 + 4.0 / 15.0 * ROOT],
    [-1.0 + 8.0 / 3.0 * ROOT, -1.0 - 8.0 / 3.0 * ROOT, 5.0],
];

/// The weights of the stage increments in the error estimate, in units of 1/h (\[1\] eq. IV.8.19).
pub(super) const ERROR: [f64; 3] = [-(13.0 + 7.0 * ROOT) / 3.0, (-13.0 + 7.0 * ROOT) / 3.0, -1.0 / 3.0];

/// The real eigenvalue γ of A⁻¹: 30/(6 + 9^{2/3} − 9^{1/3}).
pub(super) const REAL: f64 = 3.637_834_252_744_496;

/// The complex eigenvalue α + iβ of A⁻¹.
pub(super) const COMPLEX: Complex = Complex { re: 2.681_082_873_627_752, im: 3.050_430_199_247_411 };

/// T.
pub(super) const FROM_EIGEN: [[f64; 3]; 3] = [
    [9.123_239_487_089_294e-2, -0.141_255_295_020_954_2, -3.002_919_410_514_742_4e-2],
    [0.241_717_932_707_107, 0.204_129_352_293_799_94, 0.382_942_112_757_261_9],
    [0.966_048_182_615_093, 1.0, 0.0],
];

/// T⁻¹.
pub(super) const TO_EIGEN: [[f64; 3]; 3] = [
    [4.325_579_890_063_155, 0.339_199_251_815_809_84, 0.541_770_539_935_874_9],
    [-4.178_718_591_551_905, -0.327_682_820_761_062_4, 0.476_623_554_500_550_44],
    [-0.502_872_634_945_786_9, 2.571_926_949_855_605, -0.596_039_204_828_225],
];

/// The values at θ of the cubic polynomials that are 1 at one node and 0 at the others and at 0.
pub(super) fn through_zero(theta: f64) -> [f64; 3] {
    let values = through_nodes(theta);
    std::array::from_fn(|i| values[i] * theta / NODES[i])
}

/// The integral to θ of the cubic polynomial that is 1 at 0 and 0 at the nodes: what the slope at the start of a step adds to the
/// collocation polynomial, for each unit by which it differs from the slope of that. It is zero at both ends.
pub(super) fn slope_at_zero(theta: f64) -> f64 {
    theta * (1.0 - theta * (4.5 - theta * (6.0 - theta * 2.5)))
}

/// The values at θ of the quadratic polynomials that are 1 at one node and 0 at the others.
pub(super) fn through_nodes(theta: f64) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).filter(|&j| j != i).fold(1.0, |p, j| p * (theta - NODES[j]) / (NODES[i] - NODES[j])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(a: [[f64; 3]; 3], b: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
        std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
    }

    fn assert_close(a: [[f64; 3]; 3], b: [[f64; 3]; 3]) {
        for (a, b) in a.as_flattened().iter().zip(b.as_flattened()) {
            // Three products of entries below 10, four of them in a row.
            assert!((a - b).abs() < 100.0 * f64::EPSILON, "{a} {b}");
        }
    }

    #[test]
    fn inverse_and_eigenvalues_belong_to_the_weights() {
        let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert_close(product(WEIGHTS, INVERSE), identity);
        assert_close(product(FROM_EIGEN, TO_EIGEN), identity);
        let Complex { re, im } = COMPLEX;
        let lambda = [[REAL, 0.0, 0.0], [0.0, re, -im], [0.0, im, re]];
        assert_close(product(FROM_EIGEN, product(lambda, TO_EIGEN)), INVERSE);
    }

    /// A integrates polynomials of degree 2 exactly up to each node, b those of degree 4 up to 1.
    #[test]
    fn weights_integrate_polynomials() {
        for (row, &end) in WEIGHTS.iter().zip(&NODES) {
            for degree in 0..if end == 1.0 { 5 } else { 3 } {
                let sum: f64 = (0..3).map(|j| row[j] * NODES[j].powi(degree)).sum();
                assert!((sum - end.powi(degree + 1) / f64::from(degree + 1)).abs() < 4.0 * f64::EPSILON);
            }
        }
    }

    #[test]
    fn polynomials_meet_their_nodes() {
        for i in 0..3 {
            for j in 0..3 {
                let one = if i == j { 1.0 } else { 0.0 };
                assert!((through_zero(NODES[i])[j] - one).abs() < 4.0 * f64::EPSILON);
                assert!((through_nodes(NODES[i])[j] - one).abs() < 4.0 * f64::EPSILON);
            }
        }
        assert_eq!(through_zero(0.0), [0.0; 3]);
        assert_eq!((slope_at_zero(0.0), slope_at_zero(1.0)), (0.0, 0.0));
        // Its derivative by differences, exact for polynomials of this degree up to rounding in units of the step.
        let slope = |x: f64| {
            let d = |h: f64| (slope_at_zero(x + h) - slope_at_zero(x - h)) / (2.0 * h);
            (4.0 * d(0.05) - d(0.1)) / 3.0
        };
        for (node, value) in [(0.0, 1.0), (NODES[0], 0.0), (NODES[1], 0.0), (1.0, 0.0)] {
            assert!((slope(node) - value).abs() < 1e-13, "{node} {}", slope(node));
        }
    }
}
