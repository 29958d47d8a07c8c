//! Numbers that mechanics can be computed with.
//!
//! Equations are written once, generic over [`Real`], and read in several ways: as plain numbers (`f64`), as derivatives
//! ([`crate::jet::Jet`], which nests), as several states side by side ([`crate::lanes::Lanes`]).
//! A reading in which one number stands for many has no single truth value for `a < b`. Comparisons therefore give a
//! [`Real::Mask`], and branches go through [`Real::select`], which evaluates both sides and keeps one.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// The highest derivative that [`Real::outside`] can give.
pub const MOST_ORDERS: usize = 6;

/// A number of an equation: `f64`, a jet of derivatives, or a bundle of lanes.
pub trait Real:
    Copy
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + From<f64>
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// The answer of a comparison, one truth value for each number carried.
    type Mask: Copy;

    /// The square root; its derivative at zero is infinite, guard it with [`Real::select`].
    fn sqrt(self) -> Self;
    /// Sine and cosine of an angle in radians, computed together.
    fn sin_cos(self) -> (Self, Self);
    /// The tangent of an angle in radians.
    fn tan(self) -> Self;
    /// The angle in [−π/2, π/2] with this sine.
    fn asin(self) -> Self;
    /// The angle in [0, π] with this cosine.
    fn acos(self) -> Self;
    /// The angle in (−π, π] of the point (`x`, `self`).
    fn atan2(self, x: Self) -> Self;
    /// The exponential function.
    fn exp(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// An integer power.
    fn powi(self, n: i32) -> Self;
    /// A real power of a positive number.
    fn powf(self, n: Self) -> Self;
    /// The nearest integer, ties away from zero; its derivative is zero.
    fn round(self) -> Self;
    /// The largest integer not above; its derivative is zero.
    fn floor(self) -> Self;

    /// Where `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// Where `self <= other`.
    fn le(self, other: Self) -> Self::Mask;
    /// Where `self == other`.
    fn equals(self, other: Self) -> Self::Mask;
    /// Where both hold.
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Where at least one holds.
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Where it does not hold.
    fn not(a: Self::Mask) -> Self::Mask;
    /// `yes` where the mask holds, `no` elsewhere. Both are evaluated; a NaN in the one not taken does no harm.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The largest magnitude carried, derivatives included: what adaptive rules compare. Not a number if any is not.
    fn size(self) -> f64;

    /// A function that is known for plain numbers only, and its derivatives up to an order of at most [`MOST_ORDERS`], by the chain rule: `known(x, out)`
    /// writes f(x), f′(x), f″(x), … for one plain number, as many as `out` holds. `None` if this number has no value, as a recorded one, or if derivatives
    /// nest too deep.
    fn outside(self, _order: usize, _known: &mut dyn FnMut(f64, &mut [f64])) -> Option<[Self; MOST_ORDERS + 1]> {
        None
    }

    /// The number 0.
    fn zero() -> Self {
        Self::from(0.0)
    }
    /// The number 1.
    fn one() -> Self {
        Self::from(1.0)
    }
    /// The sine of an angle in radians.
    fn sin(self) -> Self {
        self.sin_cos().0
    }
    /// The cosine of an angle in radians.
    fn cos(self) -> Self {
        self.sin_cos().1
    }
    /// The angle in (−π/2, π/2) with this tangent.
    fn atan(self) -> Self {
        self.atan2(Self::one())
    }
    /// The hyperbolic sine.
    fn sinh(self) -> Self {
        (self.exp() - (-self).exp()) * 0.5
    }
    /// The hyperbolic cosine.
    fn cosh(self) -> Self {
        (self.exp() + (-self).exp()) * 0.5
    }
    /// `self · b + c`; numbers that say so round only once.
    #[inline(always)]
    fn mul_plus(self, b: Self, c: Self) -> Self {
        self * b + c
    }
    /// `c − self · b`; numbers that say so round only once.
    #[inline(always)]
    fn mul_from(self, b: Self, c: Self) -> Self {
        c - self * b
    }
    /// `self · k + c` with a constant factor; numbers that say so round only once.
    #[inline(always)]
    fn scale_plus(self, k: f64, c: Self) -> Self {
        self * k + c
    }
    /// Sines and cosines of many angles in radians; some numbers compute several at once.
    #[inline(always)]
    fn sin_cos_all(angles: &[Self], out: &mut [(Self, Self)]) {
        for (angle, out) in angles.iter().zip(out) {
            *out = angle.sin_cos();
        }
    }
    /// The square.
    fn square(self) -> Self {
        self * self
    }
    /// The reciprocal.
    fn recip(self) -> Self {
        Self::one() / self
    }
    /// Where `self > other`.
    fn gt(self, other: Self) -> Self::Mask {
        other.lt(self)
    }
    /// Where `self >= other`.
    fn ge(self, other: Self) -> Self::Mask {
        other.le(self)
    }
    /// The magnitude; at zero the derivative of the positive side is taken.
    fn abs(self) -> Self {
        Self::select(self.lt(Self::zero()), -self, self)
    }
    /// The larger of the two (the first on a tie).
    fn max(self, other: Self) -> Self {
        Self::select(self.lt(other), other, self)
    }
    /// The smaller of the two (the first on a tie).
    fn min(self, other: Self) -> Self {
        Self::select(other.lt(self), other, self)
    }
    /// −1, 0 or 1 after the sign; its derivative is zero.
    fn sign(self) -> Self {
        let zero = Self::zero();
        Self::select(self.lt(zero), -Self::one(), Self::select(zero.lt(self), Self::one(), zero))
    }
}

/// The larger of two magnitudes; not a number if one is not.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

impl Real for f64 {
    type Mask = bool;

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        self.sin_cos()
    }
    #[inline(always)]
    fn tan(self) -> Self {
        self.tan()
    }
    #[inline(always)]
    fn asin(self) -> Self {
        self.asin()
    }
    #[inline(always)]
    fn acos(self) -> Self {
        self.acos()
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        self.atan2(x)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        self.exp()
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.ln()
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        self.tanh()
    }
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        self.powi(n)
    }
    #[inline(always)]
    fn powf(self, n: Self) -> Self {
        self.powf(n)
    }
    #[inline(always)]
    fn round(self) -> Self {
        self.round()
    }
    #[inline(always)]
    fn floor(self) -> Self {
        self.floor()
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }
    #[inline(always)]
    fn equals(self, other: Self) -> bool {
        self == other
    }
    #[inline(always)]
    fn and(a: bool, b: bool) -> bool {
        a && b
    }
    #[inline(always)]
    fn or(a: bool, b: bool) -> bool {
        a || b
    }
    #[inline(always)]
    fn not(a: bool) -> bool {
        !a
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn size(self) -> f64 {
        self.abs()
    }
    fn outside(self, order: usize, known: &mut dyn FnMut(f64, &mut [f64])) -> Option<[Self; MOST_ORDERS + 1]> {
        let mut out = [0.0; MOST_ORDERS + 1];
        known(self, out.get_mut(..=order)?);
        Some(out)
    }
}
