//! Sine and cosine without branches, so that several are computed at once.
//!
//! The angle is reduced by multiples of π/2 in two parts (Cody and Waite) and the kernels of fdlibm are evaluated for
//! both functions. Within 10⁵ radians the results differ from the library's by at most one unit in the last place;
//! beyond, the library is used.
//!
//! References: \[1\] Cody, Waite: Software manual for the elementary functions, 1980; \[2\] fdlibm 5.3, `k_sin.c`, `k_cos.c`.

/// Angles up to here are reduced in two parts.
pub const FAR: f64 = 1e5;
/// The upper part of π/2, with zeros in its last bits.
pub const HALF_PI_HIGH: f64 = 1.570_796_326_734_125_6;
/// π/2 less its upper part.
pub const HALF_PI_LOW: f64 = 6.077_100_506_506_192e-11;
/// 1.5 · 2⁵²: adding it rounds to an integer, which then stands in the low bits.
pub const ROUND: f64 = 6_755_399_441_055_744.0;

/// (sin r / r − 1) / r² in powers of r².
pub const SINE: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_4e-8,
    1.589_690_995_211_55e-10,
];
/// (cos r − 1 + r²/2) / r⁴ in powers of r².
pub const COSINE: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

/// `a · b + c`, rounded once if `FUSED`.
#[inline(always)]
pub fn multiply_add<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Whether the reduction in two parts is good enough for this angle.
#[inline(always)]
pub fn near(angle: f64) -> bool {
    angle.abs() < FAR
}

/// Sine and cosine of an angle that is [`near`].
#[inline(always)]
pub fn sin_cos_near<const FUSED: bool>(angle: f64) -> (f64, f64) {
    let shifted = multiply_add::<FUSED>(angle, std::f64::consts::FRAC_2_PI, ROUND);
    let quadrant = shifted.to_bits();
    let turns = shifted - ROUND;
    let r = multiply_add::<FUSED>(-turns, HALF_PI_HIGH, angle);
    let r = multiply_add::<FUSED>(-turns, HALF_PI_LOW, r);
    let z = r * r;
    let sine = multiply_add::<FUSED>(z * r, horner::<FUSED>(z, &SINE), r);
    let half = 0.5 * z;
    let w = 1.0 - half;
    let cosine = w + ((1.0 - w) - half + z * z * horner::<FUSED>(z, &COSINE));
    // In odd quadrants the two change places; the signs follow the quadrant.
    let odd = 0u64.wrapping_sub(quadrant & 1);
    let (s, c) = (sine.to_bits(), cosine.to_bits());
    let difference = (s ^ c) & odd;
    let s = (s ^ difference) ^ ((quadrant & 2) << 62);
    let c = (c ^ difference) ^ ((quadrant.wrapping_add(1) & 2) << 62);
    (f64::from_bits(s), f64::from_bits(c))
}

/// Sine and cosine of any angle.
#[inline(always)]
pub fn sin_cos<const FUSED: bool>(angle: f64) -> (f64, f64) {
    if near(angle) { sin_cos_near::<FUSED>(angle) } else { far(angle) }
}

/// Sine and cosine of several angles at once.
#[inline(always)]
pub fn sin_cos_lanes<const N: usize, const FUSED: bool>(angles: [f64; N]) -> ([f64; N], [f64; N]) {
    let (mut s, mut c) = ([0.0; N], [0.0; N]);
    let mut all_near = true;
    for i in 0..N {
        all_near &= near(angles[i]);
    }
    if all_near {
        for i in 0..N {
            (s[i], c[i]) = sin_cos_near::<FUSED>(angles[i]);
        }
    } else {
        for i in 0..N {
            (s[i], c[i]) = sin_cos::<FUSED>(angles[i]);
        }
    }
    (s, c)
}

#[cold]
#[inline(never)]
fn far(angle: f64) -> (f64, f64) {
    angle.sin_cos()
}

#[inline(always)]
fn horner<const FUSED: bool>(z: f64, c: &[f64; 6]) -> f64 {
    let p = multiply_add::<FUSED>(z, c[5], c[4]);
    let p = multiply_add::<FUSED>(z, p, c[3]);
    let p = multiply_add::<FUSED>(z, p, c[2]);
    let p = multiply_add::<FUSED>(z, p, c[1]);
    multiply_add::<FUSED>(z, p, c[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At most one unit in the last place of 1 from the library near the origin, where the reduction is exact; the
    /// reduction in two parts adds turns · 2⁻⁸⁶ or so beyond.
    #[test]
    fn sine_and_cosine_meet_the_library() {
        for i in -40_000..40_000 {
            let x = f64::from(i) * 1.234_567e-2;
            let (s, c) = sin_cos::<false>(x);
            assert!((s - x.sin()).abs() <= 1.2e-16 && (c - x.cos()).abs() <= 1.2e-16, "{x}");
            let (s, c) = sin_cos::<true>(x);
            assert!((s - x.sin()).abs() <= 1.2e-16 && (c - x.cos()).abs() <= 1.2e-16, "{x}");
        }
        for x in [1e6, -3e9, 1e300] {
            assert_eq!(sin_cos::<false>(x), x.sin_cos());
        }
        assert!(sin_cos::<false>(f64::NAN).0.is_nan() && sin_cos::<false>(f64::INFINITY).1.is_nan());
        assert_eq!(sin_cos_lanes::<2, false>([0.3, 1e7]).0, [0.3f64.sin(), 1e7f64.sin()]);
    }
}
