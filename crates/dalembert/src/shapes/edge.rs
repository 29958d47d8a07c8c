//! Integrals of d^−ν along a segment on which the distance d is linear, from d₀ to d₁.
//!
//! With n = ν − 2 − p − q ≥ 0
//!
//! ```text
//! ∫₀¹ (1−s)^p s^q d^−ν ds = Σ_j C(n,j) B(p+1+n−j, q+1+j) d₀^−(ν−1−q−j) d₁^−(q+1+j)
//! ```
//!
//! which follows from inserting 1 = (1 − s + s)^n and ∫ (1−s)^p s^q d^−(p+q+2) ds = B(p+1, q+1) d₀^−(p+1) d₁^−(q+1). All terms are positive: nothing
//! cancels. Three integrals suffice, those with p + q = 2; the others are sums of them. They are evaluated as polynomials in
//! d₀/d₁. For ν < p + q + 2 logarithms appear. There the powers of s come from J_{k+1}(ν) = (J_k(ν−1) − J_k(ν))/y,
//! J_k(ν) = ∫ s^k (1 + y s)^−ν ds, y = d₁/d₀ − 1, which loses digits only where y is small; where d varies by less than a factor of two,
//! Gauss's rule with twelve points is exact to rounding (its error falls as (3 + √8)^−24).

use super::moments::Moments;
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;

/// The largest power of the distance.
pub const MOST_POWER: usize = 24;

/// Nodes and weights of Gauss's rule on [0, 1].
pub(crate) const GAUSS: [[f64; 2]; 12] = [
    [0.009219682876640375, 0.023587668193255914],
    [0.04794137181476257, 0.05346966299765921],
    [0.11504866290284765, 0.08003916427167311],
    [0.2063410228566913, 0.10158371336153296],
    [0.3160842505009099, 0.1167462682691774],
    [0.43738329574426554, 0.12457352290670139],
    [0.5626167042557345, 0.12457352290670139],
    [0.6839157494990901, 0.1167462682691774],
    [0.7936589771433087, 0.10158371336153296],
    [0.8849513370971523, 0.08003916427167311],
    [0.9520586281852375, 0.05346966299765921],
    [0.9907803171233597, 0.023587668193255914],
];

/// For each power the coefficients of the polynomials for (1−s)², s(1−s) and s².
static COEFFICIENTS: [[[f64; MOST_POWER]; 3]; MOST_POWER + 1] = coefficients();

const fn coefficients() -> [[[f64; MOST_POWER]; 3]; MOST_POWER + 1] {
    let mut factorial = [1.0; MOST_POWER + 1];
    let mut i = 1;
    while i <= MOST_POWER {
        factorial[i] = factorial[i - 1] * i as f64;
        i += 1;
    }
    let mut out = [[[0.0; MOST_POWER]; 3]; MOST_POWER + 1];
    let mut power = 4;
    while power <= MOST_POWER {
        let n = power - 4;
        let mut j = 0;
        while j <= n {
            let binomial = factorial[n] / (factorial[j] * factorial[n - j]);
            let mut q = 0;
            while q <= 2 {
                let p = 2 - q;
                out[power][q][j] = binomial * factorial[p + n - j] * factorial[q + j] / factorial[n + 3];
                q += 1;
            }
            j += 1;
        }
        power += 1;
    }
    out
}

/// The integrals of s², s(1−s) and (1−s)² times d^−ν over 0 ≤ s ≤ 1. Not a number unless both distances are positive.
#[inline]
pub(crate) fn quadratic<R: Real>(power: usize, from: R, to: R) -> [R; 3] {
    if power < 4 {
        let [j0, j1, j2, _] = low(power, from, to);
        return [j2, j1 - j2, j0 - j1 * 2.0 + j2];
    }
    let (u, w) = (outside(from).recip(), outside(to).recip());
    let ratio = from * w;
    let n = power - 4;
    let table = &COEFFICIENTS[power];
    let mut sums = [0, 1, 2].map(|q| R::from(table[q][n]));
    for j in (0..n).rev() {
        for q in 0..3 {
            sums[q] = sums[q] * ratio + table[q][j];
        }
    }
    let first = u.powi(power as i32 - 3) * w;
    [sums[2] * first * w * w, sums[1] * first * u * w, sums[0] * first * u * u]
}

/// The distance where it is positive, not a number elsewhere.
#[inline(always)]
pub(crate) fn outside<R: Real>(distance: R) -> R {
    R::select(R::zero().lt(distance), distance, R::from(f64::NAN))
}

/// ∫ s^k d^−ν ds for k = 0 … 3 and small ν, where logarithms appear.
pub(crate) fn low<R: Real>(power: usize, from: R, to: R) -> [R; 4] {
    let (from, to) = (outside(from), outside(to));
    let x = to / from;
    let near = R::and(R::from(0.5).le(x), x.le(R::from(2.0)));
    let y = R::select(near, R::one(), x - 1.0);
    let log = R::select(near, R::one(), x).ln();
    // J_k(0) = 1/(k+1), J_0(1) = ln x / y, J_0(ν) = (1 − x^(1−ν))/((ν−1) y).
    let mut far: [R; 4] = [1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0].map(R::from);
    for order in 1..=power {
        let below = far;
        far[0] = if order == 1 { log / y } else { (R::one() - x.powi(1 - order as i32)) / y / (order as f64 - 1.0) };
        for k in 0..3 {
            far[k + 1] = (below[k] - far[k]) / y;
        }
    }
    let mut close = [R::zero(); 4];
    for [s, weight] in GAUSS {
        let mut term = ((x - 1.0) * s + 1.0).powi(-(power as i32)) * weight;
        for sum in &mut close {
            *sum += term;
            term = term * s;
        }
    }
    let scale = from.powi(-(power as i32));
    std::array::from_fn(|k| R::select(near, close[k], far[k]) * scale)
}

/// The moments of a straight edge between two points with given distances; `size` is its length times the depth.
pub(crate) fn moments<R: Real>(power: usize, ends: [[f64; 3]; 2], distances: [R; 2], size: f64) -> Moments<R> {
    let [to_to, mixed, from_from] = quadratic(power, distances[0], distances[1]).map(|k| k * size);
    let [from, to] = ends.map(Vec3::<R>::constant);
    let (toward, away) = (to_to + mixed, from_from + mixed);
    let mut out = Moments { zeroth: toward + away, first: to * toward + from * away, second: [R::zero(); 6] };
    out.add_pair(to, to, to_to * 0.5);
    out.add_pair(from, from, from_from * 0.5);
    out.add_pair(from, to, mixed);
    out
}
