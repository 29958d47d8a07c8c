//! Running error analysis: a number with a bound of what rounding has done to it.
//!
//! Each operation carries the radii of its operands on by its slopes, to first order, and adds its own rounding: half a unit of the last place for
//! arithmetic, and four units for functions of the library and polynomials in their place.

use dalembert_methods::Real;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number and how far it may be from the exact one.
#[derive(Copy, Clone, Debug, Default)]
pub struct Ball {
    pub value: f64,
    pub radius: f64,
}

const HALF: f64 = 0.5 * f64::EPSILON;
const FUNCTION: f64 = 4.0 * f64::EPSILON;

impl Ball {
    fn rounded(value: f64, radius: f64) -> Self {
        Self { value, radius: radius + HALF * value.abs() }
    }

    /// A function with this value and this slope.
    fn function(self, value: f64, slope: f64) -> Self {
        let carried = if self.radius == 0.0 { 0.0 } else { slope.abs() * self.radius };
        Self { value, radius: carried + FUNCTION * value.abs() }
    }
}

impl From<f64> for Ball {
    fn from(value: f64) -> Self {
        Self { value, radius: 0.0 }
    }
}

impl Neg for Ball {
    type Output = Self;
    fn neg(self) -> Self {
        Self { value: -self.value, ..self }
    }
}

impl Add for Ball {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::rounded(self.value + o.value, self.radius + o.radius)
    }
}

impl Sub for Ball {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::rounded(self.value - o.value, self.radius + o.radius)
    }
}

impl Mul for Ball {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let radius = self.value.abs() * o.radius + o.value.abs() * self.radius + self.radius * o.radius;
        Self::rounded(self.value * o.value, radius)
    }
}

impl Div for Ball {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let value = self.value / o.value;
        Self::rounded(value, (self.radius + value.abs() * o.radius) / (o.value.abs() - o.radius).max(0.0))
    }
}

macro_rules! with_plain {
    ($($name:ident $function:ident $symbol:tt),*) => {$(
        impl $name<f64> for Ball {
            type Output = Self;
            fn $function(self, o: f64) -> Self {
                self $symbol Self::from(o)
            }
        }
    )*};
}
with_plain!(Add add +, Sub sub -, Mul mul *, Div div /);

macro_rules! assign {
    ($($name:ident $function:ident $symbol:tt),*) => {$(
        impl $name for Ball {
            fn $function(&mut self, o: Self) {
                *self = *self $symbol o;
            }
        }
    )*};
}
assign!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *);

impl Real for Ball {
    type Mask = bool;

    fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        // From a radius that reaches zero the root is no farther than that of the radius.
        let slope = 0.5 / value;
        if slope * self.radius > self.radius.sqrt() {
            return Self { value, radius: self.radius.sqrt() + HALF * value };
        }
        self.function(value, slope)
    }
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.value.sin_cos();
        (self.function(s, 1.0), self.function(c, 1.0))
    }
    fn tan(self) -> Self {
        let t = self.value.tan();
        self.function(t, 1.0 + t * t)
    }
    fn asin(self) -> Self {
        self.function(self.value.asin(), (1.0 - self.value * self.value).sqrt().recip())
    }
    fn acos(self) -> Self {
        self.function(self.value.acos(), (1.0 - self.value * self.value).sqrt().recip())
    }
    fn atan2(self, x: Self) -> Self {
        let (value, size) = (self.value.atan2(x.value), self.value.hypot(x.value));
        Self { value, radius: (self.radius + x.radius) / size + FUNCTION * value.abs() }
    }
    fn exp(self) -> Self {
        self.function(self.value.exp(), self.value.exp())
    }
    fn ln(self) -> Self {
        self.function(self.value.ln(), self.value.recip())
    }
    fn tanh(self) -> Self {
        self.function(self.value.tanh(), 1.0)
    }
    fn powi(self, n: i32) -> Self {
        self.powf(Self::from(f64::from(n)))
    }
    fn powf(self, n: Self) -> Self {
        let value = self.value.powf(n.value);
        let by_exponent = if n.radius == 0.0 { 0.0 } else { value * self.value.ln() * n.radius };
        let out = self.function(value, n.value * self.value.powf(n.value - 1.0));
        Self { radius: out.radius + by_exponent.abs(), ..out }
    }
    fn round(self) -> Self {
        Self::from(self.value.round())
    }
    fn floor(self) -> Self {
        Self::from(self.value.floor())
    }
    fn lt(self, other: Self) -> bool {
        self.value < other.value
    }
    fn le(self, other: Self) -> bool {
        self.value <= other.value
    }
    fn equals(self, other: Self) -> bool {
        self.value == other.value
    }
    fn and(a: bool, b: bool) -> bool {
        a && b
    }
    fn or(a: bool, b: bool) -> bool {
        a || b
    }
    fn not(a: bool) -> bool {
        !a
    }
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    fn size(self) -> f64 {
        self.value.abs()
    }
}
