//! Integrals of d^−ν around a circle and over the disc inside, with d = h + a·X.
//!
//! With ρ = R|a|, s² = h² − ρ² and x = h/s Laplace's integral for Legendre polynomials \[1\] gives, n = ν − 1,
//!
//! ```text
//! ∮ d^−ν dψ       = 2π s^−ν P_n(x)
//! ∮ d^−ν cos ψ dψ  = −2π s^−ν (ρ/s) P_n′(x)/n
//! ∮ d^−ν cos 2ψ dψ = 2π s^−ν (ρ/s)² P_n″(x)/(n(n−1))
//! ```
//!
//! and P_n is a polynomial with positive coefficients in (x − 1)/2 = ρ²/(2s(h+s)): nothing cancels. Only ρ² enters, so that the
//! formulas are smooth where a = 0. For ν = 1, 2 the second harmonics follow from 1/d = (1/s) Σ (−z)^|k| e^{ikψ}, z = ρ/(h+s).
//!
//! Over the disc the divergence of X φ d^−k, φ homogeneous of degree p, gives
//!
//! ```text
//! k h ∫ φ d^−(k+1) dA = (k − 2 − p) ∫ φ d^−k dA + R² ∮ φ d^−k dψ
//! ```
//!
//! again with positive terms from k = 2 + p on, where it starts from closed forms.
//!
//! Reference: \[1\] NIST Digital Library of Mathematical Functions, 14.12.

use super::edge::MOST_POWER;
use super::moments::Moments;
use dalembert_methods::Real;
use std::f64::consts::TAU;

/// P_n as a polynomial in (x − 1)/2: C(n,k) C(n+k,k).
static LEGENDRE: [[f64; MOST_POWER]; MOST_POWER] = legendre();

const fn legendre() -> [[f64; MOST_POWER]; MOST_POWER] {
    let mut out = [[0.0; MOST_POWER]; MOST_POWER];
    let mut n = 0;
    while n < MOST_POWER {
        let (mut k, mut value) = (0, 1.0);
        while k <= n {
            out[n][k] = value;
            value = value * ((n - k) * (n + k + 1)) as f64 / ((k + 1) * (k + 1)) as f64;
            k += 1;
        }
        n += 1;
    }
    out
}

/// ∮ d^−ν dψ, ∮ d^−ν cos ψ dψ/ρ and ∮ d^−ν cos 2ψ dψ/ρ².
pub(crate) struct Harmonics<R> {
    pub mean: R,
    pub first: R,
    pub second: R,
}

/// What all powers share: h, s = √(h² − ρ²), and ρ².
#[derive(Copy, Clone)]
pub(crate) struct Round<R> {
    h: R,
    s: R,
    rho2: R,
}

impl<R: Real> Round<R> {
    /// Not a number unless the whole circle is on the outer side.
    #[inline(always)]
    pub fn new(h: R, rho2: R) -> Self {
        let s2 = h * h - rho2;
        let fine = R::and(R::zero().lt(h), R::zero().lt(s2));
        let s = R::select(fine, s2, R::from(f64::NAN)).sqrt();
        Self { h, s, rho2 }
    }

    #[inline]
    pub fn harmonics(self, power: usize) -> Harmonics<R> {
        let Self { h, s, rho2 } = self;
        let inverse = s.recip();
        let sum = (h + s).recip();
        if power == 1 {
            let mean = inverse * TAU;
            return Harmonics { mean, first: -mean * sum, second: mean * sum * sum };
        }
        let cube = inverse * inverse * inverse * TAU;
        if power == 2 {
            return Harmonics { mean: cube * h, first: -cube, second: cube * (s + s + h) * sum * sum };
        }
        let n = power - 1;
        let y = rho2 * inverse * sum * 0.5;
        let table = &LEGENDRE[n];
        let (mut p, mut dp, mut ddp) = (R::from(table[n]), R::zero(), R::zero());
        for k in (0..n).rev() {
            ddp = ddp * y + dp;
            dp = dp * y + p;
            p = p * y + table[k];
        }
        // d/dx = ½ d/dy; `ddp` is half of the second derivative.
        let scale = inverse.powi(power as i32) * TAU;
        let n = n as f64;
        Harmonics {
            mean: scale * p,
            first: -(scale * inverse) * dp * (0.5 / n),
            second: scale * inverse * inverse * ddp * (0.5 / (n * (n - 1.0))),
        }
    }
}

/// The moments about the centre, in the plane of the circle, of a ring or a disc: m₀, m₁ = first·a, m₂ = isotropic·1 + along·a⊗a.
pub(crate) struct Flat<R> {
    pub zeroth: R,
    pub first: R,
    pub isotropic: R,
    pub along: R,
}

/// Around a circle of radius R, per unit of depth.
#[inline]
pub(crate) fn ring<R: Real>(power: usize, round: Round<R>, radius: f64) -> Flat<R> {
    let Harmonics { mean, first, second } = round.harmonics(power);
    let r3 = radius * radius * radius;
    Flat {
        zeroth: mean * radius,
        first: first * r3,
        isotropic: (mean - second * round.rho2) * (0.5 * r3),
        along: second * (r3 * radius * radius),
    }
}

/// Over the disc inside a circle of radius R; for power 1 only the zeroth moment.
pub(crate) fn disc<R: Real>(power: usize, round: Round<R>, radius: f64) -> Flat<R> {
    let Round { h, s, rho2: _ } = round;
    let (r2, sum) = (radius * radius, (h + s).recip());
    let (inverse, r4) = (s.recip(), r2 * r2);
    if power == 1 {
        let nan = R::from(f64::NAN);
        return Flat { zeroth: sum * (TAU * r2), first: nan, isotropic: nan, along: nan };
    }
    let sum2 = sum * sum;
    let (inverse2, sum3) = (inverse * inverse, sum2 * sum);
    let inverse3 = inverse2 * inverse;
    // The closed forms at which the recursions start: D_2, M1_3, M2_4, and those below.
    let mut zeroth = inverse * sum * (TAU * r2);
    let mut first = inverse3 * sum2 * (h + s + s) * (-0.5 * TAU * r4);
    let mut isotropic = inverse3 * sum2 * (h + s + s) * (TAU * r4 / 6.0);
    let mut along = inverse3 * inverse2 * sum3 * (h * h * 3.0 + h * s * 9.0 + s * s * 8.0) * (TAU * r4 * r2 / 6.0);
    if power < 4 {
        let low = Flat {
            zeroth: R::zero(),
            first: inverse * sum2 * (-TAU * r4),
            isotropic: inverse * sum2 * (0.5 * TAU * r4),
            along: inverse3 * sum3 * (h + s * 3.0) * (0.5 * TAU * r4 * r2),
        };
        (isotropic, along) = (low.isotropic, low.along);
        if power == 2 {
            // 2 M2_2 = R² ∮ XX d^−2 dψ − 2h M2_3
            let edge = ring(2, round, radius);
            first = low.first;
            isotropic = edge.isotropic * (0.5 * radius) - h * isotropic;
            along = edge.along * (0.5 * radius) - h * along;
        }
    }
    let over = h.recip();
    for k in 2..power {
        let edge = ring(k, round, radius);
        let grow = |old: R, degree: usize, rim: R| {
            let part = over / k as f64;
            (old * (k as f64 - 2.0 - degree as f64) + rim * radius) * part
        };
        zeroth = grow(zeroth, 0, edge.zeroth);
        if k >= 3 {
            first = grow(first, 1, edge.first);
        }
        if k >= 4 {
            isotropic = grow(isotropic, 2, edge.isotropic);
            along = grow(along, 2, edge.along);
        }
    }
    Flat { zeroth, first, isotropic, along }
}

impl<R: Real> Flat<R> {
    /// As moments in space, for a circle in the plane of the axes `one` and `two`; `a` are the slopes along these axes.
    #[inline(always)]
    pub fn place(&self, one: usize, two: usize, a: [R; 2]) -> Moments<R> {
        let mut out = Moments::zero();
        out.zeroth = self.zeroth;
        out.first[one] = self.first * a[0];
        out.first[two] = self.first * a[1];
        out.second[one] = self.isotropic + self.along * a[0] * a[0];
        out.second[two] = self.isotropic + self.along * a[1] * a[1];
        // The entries xy, xz, yz follow the diagonal ones.
        out.second[one + two + 2] = self.along * a[0] * a[1];
        out
    }
}
