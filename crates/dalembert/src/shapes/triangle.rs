//! Integrals of d^−ν over a triangle on which the distance d is linear.
//!
//! With barycentric coordinates λ, area A and ν = a + b + c + 3
//!
//! ```text
//! ∫ λ₁^a λ₂^b λ₃^c d^−ν dA = 2A a! b! c!/(ν−1)! · d₁^−(a+1) d₂^−(b+1) d₃^−(c+1)
//! ```
//!
//! and higher ν follow by inserting 1 = (λ₁ + λ₂ + λ₃)^n. All terms are positive. Six integrals suffice, those of λᵢλⱼ, so that
//! ν ≥ 5 is closed in this way. For ν < 5 logarithms appear: the triangle is cut at the level of its middle corner into
//! two, each with a base of constant distance, over which the integral is one along a segment (see [`super::edge`]). Where d varies by less than a
//! factor of two, a product of Gauss's rules is exact to rounding.

use super::edge::{GAUSS, low, outside};
use super::moments::Moments;
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;

/// The moments of a triangle with given corners and distances there.
pub(crate) fn moments<R: Real>(power: usize, corners: [[f64; 3]; 3], distances: [R; 3], area: f64) -> Moments<R> {
    if power < 5 {
        return with_logarithms(power, corners, distances, area);
    }
    let n = power - 5;
    let u = distances.map(|d| outside(d).recip());
    // n!/(ν−1)!
    let mut factor = 2.0 * area;
    for k in n + 1..power {
        factor /= k as f64;
    }
    // Sums of u₁^(i+1) u₂^(j+1) u₃^(k+1) over i + j + k = n with the weights (i+1)(i+2), … and (i+1)(j+1), ….
    let (mut squares, mut products) = ([R::zero(); 3], [R::zero(); 3]);
    let mut first = u[0] * factor;
    for i in 0..=n {
        let mut both = first * u[1] * u[2].powi((n - i + 1) as i32);
        let quotient = u[1] / u[2];
        for j in 0..=n - i {
            let [i1, j1, k1] = [i + 1, j + 1, n - i - j + 1].map(|k| k as f64);
            squares[0] += both * (i1 * (i1 + 1.0));
            squares[1] += both * (j1 * (j1 + 1.0));
            squares[2] += both * (k1 * (k1 + 1.0));
            products[0] += both * (j1 * k1);
            products[1] += both * (k1 * i1);
            products[2] += both * (i1 * j1);
            both *= quotient;
        }
        first *= u[0];
    }
    let squares: [R; 3] = std::array::from_fn(|i| squares[i] * u[i] * u[i]);
    let products: [R; 3] = std::array::from_fn(|i| products[i] * u[(i + 1) % 3] * u[(i + 2) % 3]);
    let x = corners.map(Vec3::<R>::constant);
    let mut out = Moments::zero();
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        // 1 = λ₁ + λ₂ + λ₃ makes lower moments sums of these.
        let share = squares[i] + products[j] + products[k];
        out.zeroth += share;
        out.first += x[i] * share;
        out.add_pair(x[i], x[i], squares[i] * 0.5);
        out.add_pair(x[j], x[k], products[i]);
    }
    out
}

fn with_logarithms<R: Real>(power: usize, corners: [[f64; 3]; 3], distances: [R; 3], area: f64) -> Moments<R> {
    let d = distances.map(outside);
    let mut at: [(R, Vec3<R>); 3] = std::array::from_fn(|i| (d[i], Vec3::constant(corners[i])));
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        let swap = at[j].0.lt(at[i].0);
        let pick = |a: R, b: R| R::select(swap, a, b);
        let both =
            |a: (R, Vec3<R>), b: (R, Vec3<R>)| (pick(a.0, b.0), Vec3(std::array::from_fn(|k| pick(a.1[k], b.1[k]))));
        (at[i], at[j]) = (both(at[j], at[i]), both(at[i], at[j]));
    }
    let [(d0, x0), (d1, x1), (d2, x2)] = at;
    let near = d2.le(d0 * 2.0);
    let smooth = by_gauss(power, &at, area);
    let part = R::select(near, R::from(0.5), (d1 - d0) / R::select(near, R::one(), d2 - d0));
    let cut = x0 + (x2 - x0) * part;
    let mut split = Moments::zero();
    for (apex, distance, share) in [(x0, d0, part), (x2, d2, R::one() - part)] {
        let [_, t1, t2, t3] = low(power, distance, d1).map(|t| t * share * (2.0 * area));
        let middle = (x1 + cut) * R::from(0.5);
        split.zeroth += t1;
        split.first += apex * (t1 - t2) + middle * t2;
        split.add_pair(apex, apex, (t1 - t2 * 2.0 + t3) * 0.5);
        split.add_pair(apex, middle, t2 - t3);
        split.add_pair(x1, x1, t3 / 6.0);
        split.add_pair(cut, cut, t3 / 6.0);
        split.add_pair(x1, cut, t3 / 6.0);
    }
    let (smooth, split) = (smooth.to_array(), split.to_array());
    Moments::from_array(std::array::from_fn(|i| R::select(near, smooth[i], split[i])))
}

fn by_gauss<R: Real>(power: usize, at: &[(R, Vec3<R>); 3], area: f64) -> Moments<R> {
    let mut out = Moments::zero();
    for [s, outer] in GAUSS {
        for [t, inner] in GAUSS {
            let barycentric = [1.0 - s, s * (1.0 - t), s * t];
            let (mut d, mut x) = (R::zero(), Vec3::zero());
            for ((distance, corner), share) in at.iter().zip(barycentric) {
                d += *distance * share;
                x += *corner * R::from(share);
            }
            out.add_point(x, d.powi(-(power as i32)) * (2.0 * area * s * outer * inner));
        }
    }
    out
}
