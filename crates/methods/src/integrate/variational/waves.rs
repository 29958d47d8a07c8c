//! The two factors of curves with a frequency, q = g₁ q_k + g₂ q_{k+1}, and their derivatives by x = u² (see [`super::fitted`] for the formulas).
//!
//! Written for any number, so that several bodies are computed side by side.

use crate::lanes::Lanes;
use crate::real::Real;

/// Bodies computed side by side.
pub(super) const SIDE: usize = 4;
/// As many numbers.
pub(super) type Several = Lanes<SIDE>;

/// Below these u² so many terms of series are used; what is left out is below 3e-17.
const TERMS: [(f64, usize); 4] = [(1e-5, 3), (1e-3, 4), (1e-2, 5), (0.3, 10)];

/// 1/(2n)!, 1/(2n + 1)! and (n + 1)/(2n + 3)!.
const COSINE: [f64; 10] = series(0, false);
const SINE: [f64; 10] = series(1, false);
const SLOPE: [f64; 10] = series(3, true);

const fn series(first: u64, weighted: bool) -> [f64; 10] {
    let mut out = [0.0; 10];
    let (mut n, mut factorial) = (0, 1.0);
    let mut k = 2;
    while k <= first {
        factorial *= k as f64;
        k += 1;
    }
    while n < 10 {
        out[n] = if weighted { (n + 1) as f64 } else { 1.0 } / factorial;
        let next = (2 * n as u64 + first) as f64;
        factorial *= (next + 1.0) * (next + 2.0);
        n += 1;
    }
    out
}

/// The curve between the ends of a step that has a frequency.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Curve {
    /// sin cu/sin u.
    Sine,
    /// c + u²(c − c³)/6.
    Spline,
}

/// Three series of x at once: S(t)/t, C(t) and −dS/dx/t³.
#[inline(always)]
fn sums<R: Real, const N: usize>(y: R) -> [R; 3] {
    let last = N - 1;
    let mut out = [R::from(SINE[last]), R::from(COSINE[last]), R::from(SLOPE[last])];
    for n in (0..last).rev() {
        out = [out[0] * y + SINE[n], out[1] * y + COSINE[n], out[2] * y + SLOPE[n]];
    }
    out
}

/// S(t), C(t) and their derivatives by x, by series.
#[inline(always)]
fn near<R: Real>(t: f64, x: R, terms: usize) -> [R; 4] {
    let y = x * (-t * t);
    // Loops of known length.
    let [sine, cosine, slope] = match terms {
        3 => sums::<_, 3>(y),
        4 => sums::<_, 4>(y),
        5 => sums::<_, 5>(y),
        _ => sums::<_, 10>(y),
    };
    let s = sine * t;
    [s, cosine, slope * (-t * t * t), s * (-0.5 * t)]
}

/// The same by sines and cosines, or hyperbolic ones.
fn far(t: f64, x: f64) -> [f64; 4] {
    let u = x.abs().sqrt();
    let (s, c) = if x > 0.0 { (t * u).sin_cos() } else { ((t * u).sinh(), (t * u).cosh()) };
    let s = s / u;
    [s, c, (t * c - s) / (2.0 * x), -0.5 * t * s]
}

/// S(t), C(t) and their derivatives by x of several x: by series if all are small, so that none has to wait for a branch.
#[inline]
pub(super) fn wave(t: f64, x: Several) -> [Several; 4] {
    let largest = x.0.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if let Some(&(_, terms)) = TERMS.iter().find(|(below, _)| largest < *below) {
        return near(t, x, terms);
    }
    let each = x.0.map(|x| match TERMS.iter().find(|(below, _)| x.abs() < *below) {
        Some(&(_, terms)) => near(t, x, terms),
        None => far(t, x),
    });
    std::array::from_fn(|which| Lanes(each.map(|own| own[which])))
}

/// What does not depend on the point: the waves at 1 and ½, and 1/S(1) and 1/C(½).
pub(super) struct Whole {
    one: [Several; 4],
    half: [Several; 4],
    inverse: [Several; 2],
}

impl Whole {
    #[inline]
    pub fn new(x: Several) -> Self {
        let (one, half) = (wave(1.0, x), wave(0.5, x));
        Self { inverse: [one[0].recip(), half[1].recip()], one, half }
    }
}

/// g₂, ġ₂, g₁ + g₂ and ġ₁ + ġ₂ at one point, and their derivatives by x.
#[inline]
pub(super) fn factors(curve: Curve, c: f64, x: Several, whole: &Whole) -> [[Several; 4]; 2] {
    if curve == Curve::Spline {
        let by = [c - c * c * c, 1.0 - 3.0 * c * c, 3.0 * c * (1.0 - c), 3.0 * (1.0 - 2.0 * c)].map(|b| b / 6.0);
        return [[x * by[0] + c, x * by[1] + 1.0, x * by[2] + 1.0, x * by[3]], by.map(Several::from)];
    }
    let [zero, unit] = [Several::zero(), Several::one()];
    let Whole { one, half, inverse: [first, middle] } = whole;
    let still = [zero, unit, zero, zero];
    let (own, off) = if c == 0.0 {
        (still, [-half[0], half[1], -half[2], half[3]])
    } else if c == 1.0 {
        (*one, *half)
    } else if c == 0.5 {
        (*half, still)
    } else {
        (wave(c, x), wave(c - 0.5, x))
    };
    let (begin, end) = (c == 0.0, c == 1.0);
    // The ends are met exactly.
    let [value, slope] = [if end { unit } else { own[0] * *first }, own[1] * *first];
    let [sum, turn] = [if begin || end { unit } else { off[1] * *middle }, -x * off[0] * *middle];
    [
        [value, slope, sum, turn],
        [
            if end { zero } else { (own[2] - value * one[2]) * *first },
            (own[3] - slope * one[2]) * *first,
            if begin || end { zero } else { (off[3] - sum * half[3]) * *middle },
            -(off[0] + x * off[2] + turn * half[3]) * *middle,
        ],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Series, trigonometric and hyperbolic functions meet, derivatives meet differences, and products of sines their closed forms. A number beside others has the value
    /// it has by itself, but for terms of series that are below rounding.
    #[test]
    fn waves_are_smooth_in_the_square_of_the_frequency() {
        for x in [-2.0, -0.29, -0.31, -1e-3, 0.0, 9e-3, 0.011, 0.29, 0.31, 3.0] {
            for c in [0.0, 0.2, 0.5, 1.0] {
                let at = |x: f64, beside: f64| {
                    let x = Lanes([x, beside, x, beside]);
                    factors(Curve::Sine, c, x, &Whole::new(x)).map(|four| four.map(|lanes| lanes.0[0]))
                };
                let [own, by] = at(x, x);
                // Differences of a central quotient: truncation e²/6 and rounding ε/e of numbers of size one.
                let e = 1e-5;
                let [more, less] = [x + e, x - e].map(|x| at(x, x)[0]);
                for i in 0..4 {
                    assert!((by[i] - (more[i] - less[i]) / (2.0 * e)).abs() < 1e-9, "{x} {c} {i}");
                    let [other, _] = at(x, 0.2);
                    assert!((own[i] - other[i]).abs() <= 4.0 * f64::EPSILON, "{x} {c} {i}");
                }
                if x > 0.0 {
                    let u = x.sqrt();
                    let (first, second) = ((u - c * u).sin() / u.sin(), (c * u).sin() / u.sin());
                    assert!((own[0] - second).abs() < 1e-15 && (own[2] - first - second).abs() < 1e-15, "{x} {c}");
                }
            }
        }
        for x in TERMS.iter().flat_map(|&(x, _)| [x, -x]) {
            let [below, above] =
                [x * (1.0 - 1e-15), x * (1.0 + 1e-15)].map(|x| wave(0.9, Several::from(x)).map(|lanes| lanes.0[0]));
            // The slope of a sine is a difference of numbers of size one over 2x.
            for (k, (a, b)) in below.iter().zip(above).enumerate() {
                let bound = if k == 2 && x.abs() > 0.1 { 4.0 / x.abs() } else { 4.0 };
                assert!((a - b).abs() < bound * f64::EPSILON, "{x} {k}: {a} {b}");
            }
        }
    }
}
