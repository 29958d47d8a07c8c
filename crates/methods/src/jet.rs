//! Forward derivatives: a number together with its derivatives along `N` directions.
//!
//! A jet is a + Σ bᵢ εᵢ with εᵢ εⱼ = 0. Computing with jets propagates derivatives exactly (to rounding).
//! Jets nest: `Jet<Jet<f64, 1>, 1>` carries a mixed second derivative, because (ε₁)² = (ε₂)² = 0 but ε₁ε₂ ≠ 0.

use crate::real::{MOST_ORDERS, Real};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A value `re` and its derivatives `eps` along `N` directions.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Jet<R, const N: usize> {
    /// The value.
    pub re: R,
    /// The derivatives, one for each direction.
    pub eps: [R; N],
}

impl<R: Real, const N: usize> Jet<R, N> {
    /// A constant: all derivatives are zero.
    #[inline(always)]
    pub fn constant(re: R) -> Self {
        Self { re, eps: [R::zero(); N] }
    }

    /// A variable whose derivative along direction `i` is one.
    #[inline(always)]
    pub fn variable(re: R, i: usize) -> Self {
        let mut jet = Self::constant(re);
        jet.eps[i] = R::one();
        jet
    }

    /// The chain rule: value `re`, and every derivative multiplied by `slope`.
    #[inline(always)]
    fn chain(self, re: R, slope: R) -> Self {
        self.each(re, |e| e * slope)
    }

    /// Value `re`, and every derivative mapped. A loop: arrays of derivatives are too long for `array::map`, which copies them about.
    #[inline(always)]
    fn each(self, re: R, f: impl Fn(R) -> R) -> Self {
        let mut eps = self.eps;
        for e in &mut eps {
            *e = f(*e);
        }
        Self { re, eps }
    }

    #[inline(always)]
    fn zip(self, other: Self, re: R, f: impl Fn(R, R) -> R) -> Self {
        let mut eps = self.eps;
        for i in 0..N {
            eps[i] = f(self.eps[i], other.eps[i]);
        }
        Self { re, eps }
    }
}

impl<R: Real> Jet<R, 1> {
    /// A value and its derivative along the only direction.
    #[inline(always)]
    pub fn new(re: R, eps: R) -> Self {
        Self { re, eps: [eps] }
    }
}

impl<R: Real, const N: usize> Default for Jet<R, N> {
    #[inline(always)]
    fn default() -> Self {
        Self::constant(R::zero())
    }
}

impl<R: Real, const N: usize> From<f64> for Jet<R, N> {
    #[inline(always)]
    fn from(x: f64) -> Self {
        Self::constant(R::from(x))
    }
}

impl<R: Real, const N: usize> Neg for Jet<R, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.each(-self.re, |e| -e)
    }
}

impl<R: Real, const N: usize> Add for Jet<R, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        self.zip(o, self.re + o.re, |a, b| a + b)
    }
}

impl<R: Real, const N: usize> Sub for Jet<R, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self.zip(o, self.re - o.re, |a, b| a - b)
    }
}

impl<R: Real, const N: usize> Mul for Jet<R, N> {
    type Output = Self;
    #[inline(always)]
    #[allow(clippy::suspicious_arithmetic_impl)] // the product rule
    fn mul(self, o: Self) -> Self {
        self.zip(o, self.re * o.re, |a, b| a * o.re + self.re * b)
    }
}

impl<R: Real, const N: usize> Div for Jet<R, N> {
    type Output = Self;
    #[inline(always)]
    #[allow(clippy::suspicious_arithmetic_impl)] // the quotient rule
    fn div(self, o: Self) -> Self {
        let inverse = o.re.recip();
        let re = self.re * inverse;
        self.zip(o, re, |a, b| (a - re * b) * inverse)
    }
}

impl<R: Real, const N: usize> Add<f64> for Jet<R, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: f64) -> Self {
        Self { re: self.re + o, eps: self.eps }
    }
}

impl<R: Real, const N: usize> Sub<f64> for Jet<R, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: f64) -> Self {
        Self { re: self.re - o, eps: self.eps }
    }
}

impl<R: Real, const N: usize> Mul<f64> for Jet<R, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: f64) -> Self {
        self.each(self.re * o, |e| e * o)
    }
}

impl<R: Real, const N: usize> Div<f64> for Jet<R, N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: f64) -> Self {
        self.each(self.re / o, |e| e / o)
    }
}

impl<R: Real, const N: usize> AddAssign for Jet<R, N> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl<R: Real, const N: usize> SubAssign for Jet<R, N> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

impl<R: Real, const N: usize> MulAssign for Jet<R, N> {
    #[inline(always)]
    fn mul_assign(&mut self, o: Self) {
        *self = *self * o;
    }
}

impl<R: Real, const N: usize> Real for Jet<R, N> {
    type Mask = R::Mask;

    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.re.sqrt();
        self.chain(root, (root + root).recip())
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.re.sin_cos();
        (self.chain(s, c), self.chain(c, -s))
    }
    #[inline(always)]
    fn tan(self) -> Self {
        let t = self.re.tan();
        self.chain(t, t * t + 1.0)
    }
    #[inline(always)]
    fn asin(self) -> Self {
        self.chain(self.re.asin(), (R::one() - self.re * self.re).sqrt().recip())
    }
    #[inline(always)]
    fn acos(self) -> Self {
        self.chain(self.re.acos(), -(R::one() - self.re * self.re).sqrt().recip())
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let (s, c) = (self.re, x.re);
        let scale = (s * s + c * c).recip();
        self.zip(x, s.atan2(c), |ds, dc| (c * ds - s * dc) * scale)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        let e = self.re.exp();
        self.chain(e, e)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.chain(self.re.ln(), self.re.recip())
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        let t = self.re.tanh();
        self.chain(t, R::one() - t * t)
    }
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        if n == 0 {
            return Self::one();
        }
        self.chain(self.re.powi(n), self.re.powi(n - 1) * f64::from(n))
    }
    #[inline(always)]
    fn powf(self, n: Self) -> Self {
        // d(aⁿ) = n aⁿ⁻¹ da + aⁿ ln(a) dn; the second part is dropped where the exponent is constant, so that
        // powers of zero stay finite.
        let value = self.re.powf(n.re);
        let slope = n.re * self.re.powf(n.re - 1.0);
        let log = value * self.re.ln();
        self.zip(n, value, |da, dn| {
            let zero = R::zero();
            slope * da + R::select(dn.equals(zero), zero, log * dn)
        })
    }
    #[inline(always)]
    fn round(self) -> Self {
        Self::constant(self.re.round())
    }
    #[inline(always)]
    fn floor(self) -> Self {
        Self::constant(self.re.floor())
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        self.re.lt(other.re)
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        self.re.le(other.re)
    }
    #[inline(always)]
    fn equals(self, other: Self) -> Self::Mask {
        self.re.equals(other.re)
    }
    #[inline(always)]
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        R::and(a, b)
    }
    #[inline(always)]
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        R::or(a, b)
    }
    #[inline(always)]
    fn not(a: Self::Mask) -> Self::Mask {
        R::not(a)
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        yes.zip(no, R::select(mask, yes.re, no.re), |a, b| R::select(mask, a, b))
    }
    #[inline(always)]
    fn size(self) -> f64 {
        self.eps.iter().fold(self.re.size(), |size, e| crate::real::larger(size, e.size()))
    }
    fn outside(self, order: usize, known: &mut dyn FnMut(f64, &mut [f64])) -> Option<[Self; MOST_ORDERS + 1]> {
        let inner = self.re.outside(order + 1, known)?;
        let mut out = [Self::default(); MOST_ORDERS + 1];
        for (k, out) in out.iter_mut().enumerate().take(order + 1) {
            *out = self.chain(inner[k], inner[k + 1]);
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function given from outside by its derivatives is the function itself, for nested jets and for lanes in them.
    #[test]
    fn functions_from_outside_obey_the_chain_rule() {
        use crate::lanes::Lanes;
        type J = Jet<Jet<Lanes<2>, 1>, 1>;
        let x =
            J::new(Jet::new(Lanes([0.3, -1.1]), Lanes([0.7, 2.0])), Jet::new(Lanes([-0.4, 0.5]), Lanes([0.2, 0.9])));
        let mut sine = |x: f64, out: &mut [f64]| {
            let cycle = [x.sin(), x.cos(), -x.sin(), -x.cos()];
            out.iter_mut().enumerate().for_each(|(k, out)| *out = cycle[k % 4]);
        };
        let given = x.outside(1, &mut sine).expect("two jets and one order are not too deep");
        for (given, wanted) in given.into_iter().zip([x.sin(), x.cos()]) {
            // Both sides are sums of at most four products of numbers below 4.
            assert!((given - wanted).size() < 32.0 * f64::EPSILON);
        }
        assert!(x.outside(MOST_ORDERS - 1, &mut sine).is_none());
    }

    /// Value, first and second derivative of every elementary function against central differences of f64.
    #[test]
    fn derivatives_meet_differences() {
        type J = Jet<Jet<f64, 1>, 1>;
        type Function<R> = fn(R) -> R;
        fn functions<R: Real>() -> Vec<(&'static str, Function<R>)> {
            vec![
                ("sqrt", |x| x.sqrt()),
                ("sin", |x| x.sin()),
                ("cos", |x| x.cos()),
                ("tan", |x| x.tan()),
                ("asin", |x| x.asin()),
                ("acos", |x| x.acos()),
                ("atan2", |x| (x * x).atan2(x + 0.3)),
                ("exp", |x| x.exp()),
                ("ln", |x| x.ln()),
                ("tanh", |x| x.tanh()),
                ("sinh", |x| x.sinh()),
                ("cosh", |x| x.cosh()),
                ("powi", |x| x.powi(-3)),
                ("powf", |x| x.powf(x + 1.5)),
                ("abs", |x| (x - 1.0).abs()),
                ("max", |x| x.max(x * x)),
                ("div", |x| (x + 1.0) / (x * x + 2.0)),
            ]
        }
        let (x, h) = (0.61, 1e-4);
        for ((name, on_jets), (_, on_numbers)) in functions::<J>().into_iter().zip(functions::<f64>()) {
            let jet = on_jets(Jet::new(Jet::new(x, 1.0), Jet::new(1.0, 0.0)));
            let [left, mid, right] = [x - h, x, x + h].map(on_numbers);
            let first = (right - left) / (2.0 * h);
            let second = (right - 2.0 * mid + left) / (h * h);
            // Truncation h²/6·f''' and h²/12·f'''' with derivatives below 1e3; rounding ε/h² ≈ 2e-8.
            assert!((jet.re.re - mid).abs() <= 4.0 * f64::EPSILON * mid.abs(), "{name}");
            assert!((jet.re.eps[0] - first).abs() < 2e-6, "{name}: {} {first}", jet.re.eps[0]);
            assert!((jet.eps[0].eps[0] - second).abs() < 2e-5, "{name}: {} {second}", jet.eps[0].eps[0]);
        }
    }

    #[test]
    fn the_branch_not_taken_does_no_harm() {
        let zero = Jet::<f64, 1>::variable(0.0, 0);
        let guarded = Jet::select(zero.lt(Jet::from(1e-8)), zero * 2.0, zero.sqrt());
        assert_eq!(guarded, Jet::new(0.0, 2.0));
    }
}
