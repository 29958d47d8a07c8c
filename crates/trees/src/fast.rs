//! Plain numbers for the fast entry points: one ([`Fast`]) or several side by side ([`FastLanes`]).
//!
//! They differ from `f64` and `Lanes` in two things: products and sums are contracted to one rounding where the type says so
//! (`FUSED`, for processors that have the instruction), and sine and cosine are computed without branches. The type says it
//! rather than a compile-time switch, because one binary holds both readings and picks one at run time.

use dalembert_methods::{Real, sine};
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A plain number; `FUSED` says whether a·b + c rounds once.
#[derive(Copy, Clone, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Fast<const FUSED: bool>(pub f64);

/// `N` plain numbers side by side; `FUSED` says whether a·b + c rounds once.
#[derive(Copy, Clone, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct FastLanes<const N: usize, const FUSED: bool>(pub [f64; N]);

macro_rules! each {
    (|$i:ident| $e:expr) => {{
        let mut out = [0.0; N];
        for $i in 0..N {
            out[$i] = $e;
        }
        FastLanes(out)
    }};
}

macro_rules! operators {
    ($($name:ident $function:ident $symbol:tt),*) => {$(
        impl<const F: bool> $name for Fast<F> {
            type Output = Self;
            #[inline(always)]
            fn $function(self, o: Self) -> Self {
                Fast(self.0 $symbol o.0)
            }
        }
        impl<const F: bool> $name<f64> for Fast<F> {
            type Output = Self;
            #[inline(always)]
            fn $function(self, o: f64) -> Self {
                Fast(self.0 $symbol o)
            }
        }
        impl<const N: usize, const F: bool> $name for FastLanes<N, F> {
            type Output = Self;
            #[inline(always)]
            fn $function(self, o: Self) -> Self {
                each!(|i| self.0[i] $symbol o.0[i])
            }
        }
        impl<const N: usize, const F: bool> $name<f64> for FastLanes<N, F> {
            type Output = Self;
            #[inline(always)]
            fn $function(self, o: f64) -> Self {
                each!(|i| self.0[i] $symbol o)
            }
        }
    )*};
}
operators!(Add add +, Sub sub -, Mul mul *, Div div /);

macro_rules! assigns {
    ($($name:ident $function:ident $symbol:tt),*) => {$(
        impl<const F: bool> $name for Fast<F> {
            #[inline(always)]
            fn $function(&mut self, o: Self) {
                *self = *self $symbol o;
            }
        }
        impl<const N: usize, const F: bool> $name for FastLanes<N, F> {
            #[inline(always)]
            fn $function(&mut self, o: Self) {
                *self = *self $symbol o;
            }
        }
    )*};
}
assigns!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *);

impl<const F: bool> Neg for Fast<F> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Fast(-self.0)
    }
}
impl<const F: bool> From<f64> for Fast<F> {
    #[inline(always)]
    fn from(x: f64) -> Self {
        Fast(x)
    }
}
impl<const N: usize, const F: bool> Neg for FastLanes<N, F> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        each!(|i| -self.0[i])
    }
}
impl<const N: usize, const F: bool> From<f64> for FastLanes<N, F> {
    #[inline(always)]
    fn from(x: f64) -> Self {
        FastLanes([x; N])
    }
}
impl<const N: usize, const F: bool> Default for FastLanes<N, F> {
    #[inline(always)]
    fn default() -> Self {
        FastLanes([0.0; N])
    }
}

/// The functions that are the library's in every lane.
macro_rules! library {
    (one: $($one:ident),*; two: $($two:ident),*) => {
        $(#[inline(always)]
        fn $one(self) -> Self {
            self.each(f64::$one)
        })*
        $(#[inline(always)]
        fn $two(self, o: Self) -> Self {
            self.both(o, f64::$two)
        })*
        #[inline(always)]
        fn powi(self, n: i32) -> Self {
            self.each(|a| a.powi(n))
        }
    };
}

impl<const F: bool> Fast<F> {
    #[inline(always)]
    fn each(self, f: impl Fn(f64) -> f64) -> Self {
        Fast(f(self.0))
    }
    #[inline(always)]
    fn both(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Fast(f(self.0, o.0))
    }
}

impl<const N: usize, const F: bool> FastLanes<N, F> {
    #[inline(always)]
    fn each(self, f: impl Fn(f64) -> f64) -> Self {
        each!(|i| f(self.0[i]))
    }
    #[inline(always)]
    fn both(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        each!(|i| f(self.0[i], o.0[i]))
    }
    #[inline(always)]
    fn compare(self, o: Self, f: impl Fn(f64, f64) -> bool) -> [bool; N] {
        let mut out = [false; N];
        for i in 0..N {
            out[i] = f(self.0[i], o.0[i]);
        }
        out
    }
}

impl<const F: bool> Real for Fast<F> {
    type Mask = bool;
    library!(one: sqrt, tan, asin, acos, exp, ln, tanh, round, floor; two: atan2, powf);

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = sine::sin_cos::<F>(self.0);
        (Fast(s), Fast(c))
    }
    #[inline(always)]
    fn sin_cos_all(angles: &[Self], out: &mut [(Self, Self)]) {
        let (fours, rest) = angles.as_chunks::<4>();
        let (out_fours, out_rest) = out.split_at_mut(4 * fours.len());
        for (x, o) in fours.iter().zip(out_fours.as_chunks_mut::<4>().0) {
            let (s, c) = sine::sin_cos_lanes::<4, F>([x[0].0, x[1].0, x[2].0, x[3].0]);
            for k in 0..4 {
                o[k] = (Fast(s[k]), Fast(c[k]));
            }
        }
        if !rest.is_empty() {
            let mut x = [0.0; 4];
            for (x, r) in x.iter_mut().zip(rest) {
                *x = r.0;
            }
            let (s, c) = sine::sin_cos_lanes::<4, F>(x);
            for (k, o) in out_rest.iter_mut().enumerate() {
                *o = (Fast(s[k]), Fast(c[k]));
            }
        }
    }
    #[inline(always)]
    fn mul_plus(self, b: Self, c: Self) -> Self {
        Fast(sine::multiply_add::<F>(self.0, b.0, c.0))
    }
    #[inline(always)]
    fn mul_from(self, b: Self, c: Self) -> Self {
        Fast(sine::multiply_add::<F>(-self.0, b.0, c.0))
    }
    #[inline(always)]
    fn scale_plus(self, k: f64, c: Self) -> Self {
        Fast(sine::multiply_add::<F>(self.0, k, c.0))
    }
    #[inline(always)]
    fn lt(self, o: Self) -> bool {
        self.0 < o.0
    }
    #[inline(always)]
    fn le(self, o: Self) -> bool {
        self.0 <= o.0
    }
    #[inline(always)]
    fn equals(self, o: Self) -> bool {
        self.0 == o.0
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
        self.0.abs()
    }
}

impl<const N: usize, const F: bool> Real for FastLanes<N, F> {
    type Mask = [bool; N];
    library!(one: sqrt, tan, asin, acos, exp, ln, tanh, round, floor; two: atan2, powf);

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = sine::sin_cos_lanes::<N, F>(self.0);
        (FastLanes(s), FastLanes(c))
    }
    #[inline(always)]
    fn mul_plus(self, b: Self, c: Self) -> Self {
        each!(|i| sine::multiply_add::<F>(self.0[i], b.0[i], c.0[i]))
    }
    #[inline(always)]
    fn mul_from(self, b: Self, c: Self) -> Self {
        each!(|i| sine::multiply_add::<F>(-self.0[i], b.0[i], c.0[i]))
    }
    #[inline(always)]
    fn scale_plus(self, k: f64, c: Self) -> Self {
        each!(|i| sine::multiply_add::<F>(self.0[i], k, c.0[i]))
    }
    #[inline(always)]
    fn recip(self) -> Self {
        each!(|i| 1.0 / self.0[i])
    }
    #[inline(always)]
    fn lt(self, o: Self) -> [bool; N] {
        self.compare(o, |a, b| a < b)
    }
    #[inline(always)]
    fn le(self, o: Self) -> [bool; N] {
        self.compare(o, |a, b| a <= b)
    }
    #[inline(always)]
    fn equals(self, o: Self) -> [bool; N] {
        self.compare(o, |a, b| a == b)
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
        each!(|i| if mask[i] { yes.0[i] } else { no.0[i] })
    }
    #[inline(always)]
    fn size(self) -> f64 {
        self.0.iter().fold(0.0, |size: f64, a| if size.is_nan() || a.abs() <= size { size } else { a.abs() })
    }
}
