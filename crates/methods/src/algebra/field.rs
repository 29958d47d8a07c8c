//! The numbers that linear solves are made of: real and complex ones.

use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number with the four operations, for matrices of implicit methods.
pub trait Field:
    Copy
    + Default
    + PartialEq
    + std::fmt::Debug
    + Send
    + Sync
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + From<f64>
    + 'static
{
    /// |re| + |im|: a size for choosing pivots, without a square root.
    fn size(self) -> f64;
}

impl Field for f64 {
    #[inline]
    fn size(self) -> f64 {
        self.abs()
    }
}

/// A complex number re + i im.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Complex {
    /// re + i im.
    #[inline]
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// The conjugate number.
    #[inline]
    pub fn conj(self) -> Self {
        Self::new(self.re, -self.im)
    }

    /// The modulus, without overflow.
    pub fn modulus(self) -> f64 {
        self.re.hypot(self.im)
    }
}

impl Field for Complex {
    #[inline]
    fn size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
}

impl From<f64> for Complex {
    #[inline]
    fn from(re: f64) -> Self {
        Self::new(re, 0.0)
    }
}

impl Neg for Complex {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self::new(-self.re, -self.im)
    }
}

impl Add for Complex {
    type Output = Self;
    #[inline]
    fn add(self, o: Self) -> Self {
        Self::new(self.re + o.re, self.im + o.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    #[inline]
    fn sub(self, o: Self) -> Self {
        Self::new(self.re - o.re, self.im - o.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    #[inline]
    fn mul(self, o: Self) -> Self {
        Self::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}

impl Div for Complex {
    type Output = Self;
    /// Smith's division: no overflow for numbers whose quotient is representable.
    #[inline]
    fn div(self, o: Self) -> Self {
        if o.re.abs() >= o.im.abs() {
            let ratio = o.im / o.re;
            let scale = o.re + o.im * ratio;
            Self::new((self.re + self.im * ratio) / scale, (self.im - self.re * ratio) / scale)
        } else {
            let ratio = o.re / o.im;
            let scale = o.re * ratio + o.im;
            Self::new((self.re * ratio + self.im) / scale, (self.im * ratio - self.re) / scale)
        }
    }
}

macro_rules! assign {
    ($($name:ident, $method:ident, $operator:tt;)*) => {$(
        impl $name for Complex {
            #[inline]
            fn $method(&mut self, o: Self) {
                *self = *self $operator o;
            }
        }
    )*};
}

assign! {
    AddAssign, add_assign, +;
    SubAssign, sub_assign, -;
    MulAssign, mul_assign, *;
    DivAssign, div_assign, /;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_undoes_multiplication() {
        let near = |a: Complex, b: Complex| (a - b).modulus() <= 4.0 * f64::EPSILON * b.modulus();
        for (a, b) in
            [(Complex::new(1.0, 2.0), Complex::new(-3.0, 0.5)), (Complex::new(0.1, -7.0), Complex::new(1e-3, 9.0))]
        {
            assert!(near(a * b / b, a));
            assert!(near(a / b * b, a));
        }
        let large = Complex::new(1e300, 1e300);
        assert!(near(large / large, Complex::from(1.0)));
        assert_eq!(Complex::new(3.0, 4.0) * Complex::new(3.0, 4.0).conj(), Complex::from(25.0));
    }
}
