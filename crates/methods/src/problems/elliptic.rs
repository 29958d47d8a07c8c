//! Jacobi's elliptic functions by the arithmetic–geometric mean.
//!
//! References: \[1\] Abramowitz, Stegun: Handbook of Mathematical Functions, 1964, sections 16.4 and 17.6.

/// sn, cn and dn of the argument `u` with parameter `m` = k², 0 ≤ m < 1.
pub fn jacobi(u: f64, m: f64) -> (f64, f64, f64) {
    // [1] 16.4.1 to 16.4.3: descend to an angle, halve it back up.
    let (mut a, mut b, mut c) = (1.0_f64, (1.0 - m).sqrt(), m.sqrt());
    let mut ratios = [0.0; 12];
    let mut levels = 0;
    while c > f64::EPSILON * a && levels < ratios.len() {
        (a, b, c) = (0.5 * (a + b), (a * b).sqrt(), 0.5 * (a - b));
        ratios[levels] = c / a;
        levels += 1;
    }
    let mut angle = a * u * f64::from(1_u32 << levels);
    for ratio in ratios[..levels].iter().rev() {
        angle = 0.5 * (angle + (ratio * angle.sin()).asin());
    }
    let (sn, cn) = angle.sin_cos();
    (sn, cn, (1.0 - m * sn * sn).sqrt())
}

/// The quarter period K(m).
pub fn quarter_period(m: f64) -> f64 {
    // [1] 17.6.3.
    let (mut a, mut b) = (1.0_f64, (1.0 - m).sqrt());
    while (a - b).abs() > 2.0 * f64::EPSILON * a {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // [1] table 17.1 (m = 0.5) and 16.5: sn(K/2) = 1/√(1 + k').
        let m = 0.5;
        let quarter = quarter_period(m);
        // Four means of two roundings each.
        assert!((quarter - 1.854_074_677_301_372).abs() < 4.0 * f64::EPSILON);
        let (sn, cn, dn) = jacobi(0.5 * quarter, m);
        let complement = (1.0_f64 - m).sqrt();
        assert!((sn - 1.0 / (1.0 + complement).sqrt()).abs() < 4e-16);
        assert!((dn - complement.sqrt()).abs() < 4e-16);
        assert!((sn * sn + cn * cn - 1.0).abs() < 4e-16);
        assert_eq!(jacobi(0.7, 0.0).0, 0.7_f64.sin());
    }

    #[test]
    fn derivative_of_sn_is_cn_dn() {
        for m in [0.1, 0.6, 0.99] {
            for u in [0.3, 1.7, 5.0] {
                let h = 1e-5;
                let slope = (jacobi(u + h, m).0 - jacobi(u - h, m).0) / (2.0 * h);
                let (_, cn, dn) = jacobi(u, m);
                // Truncation h²/6·sn''' ≤ h², rounding ε/h.
                assert!((slope - cn * dn).abs() < 1e-10 + f64::EPSILON / h * 4.0);
            }
        }
    }
}
