//! Sine and cosine of two angles at once, inline: the formulas of [`dalembert_methods::sine`].

use super::emit::Emit;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use dalembert_methods::sine::{COSINE, FAR, HALF_PI_HIGH, HALF_PI_LOW, ROUND, SINE};
use std::f64::consts::FRAC_2_PI;

/// The square of the angle from which on the formulas are not good enough.
pub(super) const FAR_SQUARED: f64 = FAR * FAR;

/// The constants of the formulas, in the order in which [`sin_cos`] asks for them; integers by their bits.
pub(super) fn constants() -> Vec<f64> {
    let mut out = vec![FRAC_2_PI, ROUND, -HALF_PI_HIGH, -HALF_PI_LOW, 0.5, 1.0, f64::from_bits(1), f64::from_bits(2)];
    out.extend(SINE);
    out.extend(COSINE);
    out
}

/// Sines and cosines of the two angles in `x`.
pub(super) fn sin_cos(e: &mut Emit<'_>, x: Value) -> (Value, Value) {
    let wide = types::F64X2;
    let whole = types::I64X2;
    let constant = |e: &mut Emit<'_>, k: usize| e.fixed(k);
    let (factor, round) = (constant(e, 0), constant(e, 1));
    let shifted = e.mul_add(x, factor, round);
    let quadrant = e.cast(whole, shifted);
    let round = constant(e, 1);
    let turns = e.b.ins().fsub(shifted, round);
    let high = constant(e, 2);
    let r = e.mul_add(turns, high, x);
    let low = constant(e, 3);
    let r = e.mul_add(turns, low, r);
    let z = e.b.ins().fmul(r, r);
    let horner = |e: &mut Emit<'_>, first: usize| {
        let mut p = constant(e, first + 5);
        for k in (0..5).rev() {
            let c = constant(e, first + k);
            p = e.mul_add(z, p, c);
        }
        p
    };
    let (p, q) = (horner(e, 8), horner(e, 14));
    let cube = e.b.ins().fmul(z, r);
    let sine = e.mul_add(cube, p, r);
    // w + ((1 − w) − z/2 + z² q) with w = 1 − z/2.
    let half = e.fixed(4);
    let half = e.b.ins().fmul(z, half);
    let one = e.fixed(5);
    let w = e.b.ins().fsub(one, half);
    let lost = e.b.ins().fsub(one, w);
    let lost = e.b.ins().fsub(lost, half);
    let square = e.b.ins().fmul(z, z);
    let rest = e.mul_add(square, q, lost);
    let cosine = e.b.ins().fadd(w, rest);
    // In odd quadrants the two change places; the signs follow the quadrant.
    let (one, two) = (e.fixed(6), e.fixed(7));
    let (one, two) = (e.cast(whole, one), e.cast(whole, two));
    let (s, c) = (e.cast(whole, sine), e.cast(whole, cosine));
    let odd = e.b.ins().band(quadrant, one);
    let zero = e.b.ins().bxor(one, one);
    let odd = e.b.ins().isub(zero, odd);
    let difference = e.b.ins().bxor(s, c);
    let difference = e.b.ins().band(difference, odd);
    let sign = e.b.ins().band(quadrant, two);
    let sign = e.shifted(sign);
    let after = e.b.ins().iadd(quadrant, one);
    let after = e.b.ins().band(after, two);
    let after = e.shifted(after);
    let s = e.b.ins().bxor(s, difference);
    let s = e.b.ins().bxor(s, sign);
    let c = e.b.ins().bxor(c, difference);
    let c = e.b.ins().bxor(c, after);
    (e.cast(wide, s), e.cast(wide, c))
}
