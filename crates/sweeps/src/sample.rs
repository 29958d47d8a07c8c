//! Numbers that look random but belong to a row: nothing depends on the rows before it.
//!
//! Random numbers are hashes of (seed, row, position), by the mixing function of SplitMix64 \[1\]. Low-discrepancy points are Halton's
//! \[2\], shifted by a random vector of the seed modulo 1 \[3\], so that no point is favoured.
//!
//! References: \[1\] Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014; \[2\] Halton: On the efficiency
//! of certain quasi-random sequences of points, Numer. Math. 2 (1960) 84–90; \[3\] Cranley, Patterson: Randomization of number
//! theoretic methods for multiple integration, SIAM J. Numer. Anal. 13 (1976) 904–914.

/// The first primes: bases of Halton's points, and so the most parameters that can be sampled by them.
pub(crate) const BASES: [u64; 24] =
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89];

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number of 64 bits that belongs to (seed, row, position).
pub(crate) fn hash(seed: u64, row: u64, position: u64) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut z = mix(seed.wrapping_add(STEP));
    z = mix(z ^ row.wrapping_add(STEP));
    mix(z ^ position.wrapping_add(STEP))
}

/// A random number in (0, 1), never 0 or 1.
pub(crate) fn uniform(seed: u64, row: u64, position: u64) -> f64 {
    ((hash(seed, row, position) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// Coordinate `position` of Halton's point number `row`, in (0, 1).
pub(crate) fn halton(seed: u64, row: u64, position: usize) -> f64 {
    let base = BASES[position];
    let (mut rest, mut digit, mut x) = (row + 1, 1.0 / base as f64, 0.0);
    while rest > 0 {
        x += (rest % base) as f64 * digit;
        rest /= base;
        digit /= base as f64;
    }
    let shifted = (x + uniform(seed, u64::MAX, position as u64)).fract();
    shifted.clamp(f64::EPSILON / 2.0, 1.0 - f64::EPSILON / 2.0)
}

/// The quantile of the normal distribution, by Wichura's rational functions (AS 241, relative error 1e-16).
///
/// Wichura: Algorithm AS 241, The percentage points of the normal distribution, Appl. Statist. 37 (1988) 477–484.
pub(crate) fn normal(p: f64) -> f64 {
    let polynomial = |c: &[f64], x: f64| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * polynomial(&A, r) / polynomial(&B, r);
    }
    let r = (-(if q < 0.0 { p } else { 1.0 - p }).ln()).sqrt();
    let x = if r <= 5.0 {
        polynomial(&C, r - 1.6) / polynomial(&D, r - 1.6)
    } else {
        polynomial(&E, r - 5.0) / polynomial(&F, r - 5.0)
    };
    if q < 0.0 { -x } else { x }
}

const A: [f64; 8] = [
    3.387_132_872_796_366_5,
    133.141_667_891_784_38,
    1_971.590_950_306_551_3,
    13_731.693_765_509_46,
    45_921.953_931_549_87,
    67_265.770_927_008_7,
    33_430.575_583_588_13,
    2_509.080_928_730_122_7,
];
const B: [f64; 8] = [
    1.0,
    42.313_330_701_600_91,
    687.187_007_492_057_9,
    5_394.196_021_424_751,
    21_213.794_301_586_597,
    39_307.895_800_092_71,
    28_729.085_735_721_943,
    5_226.495_278_852_545,
];
const C: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    0.241_780_725_177_450_6,
    0.022_723_844_989_269_184,
    7.745_450_142_783_414e-4,
];
const D: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    0.689_767_334_985_1,
    0.148_103_976_427_480_08,
    0.015_198_666_563_616_457,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const E: [f64; 8] = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    0.296_560_571_828_504_87,
    0.026_532_189_526_576_124,
    0.001_242_660_947_388_078_4,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const F: [f64; 8] = [
    1.0,
    0.599_832_206_555_888,
    0.136_929_880_922_735_8,
    0.014_875_361_290_850_615,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_7e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles against published digits, and symmetry.
    #[test]
    fn normal_quantiles_are_those_of_tables() {
        for (p, x) in [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_081_7),
            (0.975, 1.959_963_984_540_054),
            (0.999, 3.090_232_306_167_813),
            (1e-10, -6.361_340_902_404_056),
        ] {
            assert!((normal(p) - x).abs() <= 4e-15 * (1.0 + x.abs()), "{p}: {} against {x}", normal(p));
        }
    }

    /// The star discrepancy of n random points is about 0.6/√n, that of Halton's points in one dimension below (1 + ln n)/n.
    #[test]
    fn points_fill_their_interval() {
        let n = 4096;
        let discrepancy = |mut x: Vec<f64>| {
            x.sort_by(f64::total_cmp);
            let gap =
                |(i, x): (usize, &f64)| (x - i as f64 / n as f64).abs().max((x - (i + 1) as f64 / n as f64).abs());
            x.iter().enumerate().map(gap).fold(0.0, f64::max)
        };
        let random = discrepancy((0..n).map(|row| uniform(5, row, 1)).collect());
        assert!((0.1..2.0).contains(&(random * (n as f64).sqrt())), "{random}");
        let even = discrepancy((0..n).map(|row| halton(5, row, 0)).collect());
        // The shift cuts the interval once, which doubles the bound.
        assert!(even < 2.0 * (1.0 + (n as f64).ln()) / n as f64, "{even}");
    }

    /// Mean and variance of normal samples within four standard errors.
    #[test]
    fn normal_samples_have_their_moments() {
        let n = 20_000;
        let x: Vec<f64> = (0..n).map(|row| normal(uniform(1, row, 0))).collect();
        let mean = x.iter().sum::<f64>() / n as f64;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        assert!(mean.abs() < 4.0 / (n as f64).sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 4.0 * (2.0 / n as f64).sqrt(), "{variance}");
    }

    #[test]
    fn rows_do_not_depend_on_one_another() {
        assert_eq!(hash(1, 7, 0), hash(1, 7, 0));
        assert!(hash(1, 7, 0) != hash(1, 8, 0) && hash(1, 7, 0) != hash(1, 7, 1) && hash(1, 7, 0) != hash(2, 7, 0));
    }
}
