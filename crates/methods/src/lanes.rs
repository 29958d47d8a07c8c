//! Several numbers side by side, computed with together: the compiler turns the loops into SIMD instructions.
//!
//! A [`Lanes<N>`] stands for the same quantity in `N` different states, so that one pass over an equation evaluates a
//! batch. No lane can see another; every lane gives the bits the plain number would give.

use crate::real::{MOST_ORDERS, Real};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// `N` numbers side by side.
#[derive(Copy, Clone, Debug, PartialEq)]
#[repr(align(32))]
pub struct Lanes<const N: usize>(pub [f64; N]);

impl<const N: usize> Lanes<N> {
    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut out = self.0;
        for i in 0..N {
            out[i] = f(self.0[i]);
        }
        Self(out)
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self.0;
        for i in 0..N {
            out[i] = f(self.0[i], other.0[i]);
        }
        Self(out)
    }

    #[inline(always)]
    fn compare(self, other: Self, f: impl Fn(f64, f64) -> bool) -> [bool; N] {
        std::array::from_fn(|i| f(self.0[i], other.0[i]))
    }
}

impl<const N: usize> Default for Lanes<N> {
    #[inline(always)]
    fn default() -> Self {
        Self([0.0; N])
    }
}

impl<const N: usize> From<f64> for Lanes<N> {
    #[inline(always)]
    fn from(x: f64) -> Self {
        Self([x; N])
    }
}

impl<const N: usize> Neg for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}

macro_rules! operator {
    ($($name:ident $function:ident $symbol:tt),*) => {$(
        impl<const N: usize> $name for Lanes<N> {
            type Output = Self;
            #[inline(always)]
            fn $function(self, o: Self) -> Self {
                self.zip(o, |a, b| a $symbol b)
            }
        }
        impl<const N: usize> $name<f64> for Lanes<N> {
            type Output = Self;
            #[inline(always)]
            fn $function(self, o: f64) -> Self {
                self.map(|a| a $symbol o)
            }
        }
    )*};
}
operator!(Add add +, Sub sub -, Mul mul *, Div div /);

macro_rules! assign {
    ($($name:ident $function:ident $symbol:tt),*) => {$(
        impl<const N: usize> $name for Lanes<N> {
            #[inline(always)]
            fn $function(&mut self, o: Self) {
                *self = *self $symbol o;
            }
        }
    )*};
}
assign!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *);

impl<const N: usize> Real for Lanes<N> {
    type Mask = [bool; N];

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f64::sqrt)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        (self.map(f64::sin), self.map(f64::cos))
    }
    #[inline(always)]
    fn tan(self) -> Self {
        self.map(f64::tan)
    }
    #[inline(always)]
    fn asin(self) -> Self {
        self.map(f64::asin)
    }
    #[inline(always)]
    fn acos(self) -> Self {
        self.map(f64::acos)
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        self.zip(x, f64::atan2)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        self.map(f64::exp)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.map(f64::ln)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        self.map(f64::tanh)
    }
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        self.map(|a| a.powi(n))
    }
    #[inline(always)]
    fn powf(self, n: Self) -> Self {
        self.zip(n, f64::powf)
    }
    #[inline(always)]
    fn round(self) -> Self {
        self.map(f64::round)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        self.map(f64::floor)
    }
    #[inline(always)]
    fn lt(self, other: Self) -> [bool; N] {
        self.compare(other, |a, b| a < b)
    }
    #[inline(always)]
    fn le(self, other: Self) -> [bool; N] {
        self.compare(other, |a, b| a <= b)
    }
    #[inline(always)]
    fn equals(self, other: Self) -> [bool; N] {
        self.compare(other, |a, b| a == b)
    }
    #[inline(always)]
    fn and(a: [bool; N], b: [bool; N]) -> [bool; N] {
        std::array::from_fn(|i| a[i] && b[i])
    }
    #[inline(always)]
    fn or(a: [bool; N], b: [bool; N]) -> [bool; N] {
        std::array::from_fn(|i| a[i] || b[i])
    }
    #[inline(always)]
    fn not(a: [bool; N]) -> [bool; N] {
        a.map(|x| !x)
    }
    #[inline(always)]
    fn select(mask: [bool; N], yes: Self, no: Self) -> Self {
        let mut out = no.0;
        for i in 0..N {
            out[i] = if mask[i] { yes.0[i] } else { no.0[i] };
        }
        Self(out)
    }
    #[inline(always)]
    fn size(self) -> f64 {
        self.0.iter().fold(0.0, |size, a| crate::real::larger(size, a.abs()))
    }
    fn outside(self, order: usize, known: &mut dyn FnMut(f64, &mut [f64])) -> Option<[Self; MOST_ORDERS + 1]> {
        let mut out = [Self::default(); MOST_ORDERS + 1];
        for i in 0..N {
            let one = self.0[i].outside(order, known)?;
            for (out, one) in out.iter_mut().zip(one) {
                out.0[i] = one;
            }
        }
        Some(out)
    }
}
