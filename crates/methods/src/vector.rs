//! Vectors and matrices of three-dimensional space, generic over the number.

use crate::real::Real;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Neg, Sub, SubAssign};

/// A vector of three components.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Vec3<R>(pub [R; 3]);

/// A 3 × 3 matrix, stored by rows.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Mat3<R>(pub [[R; 3]; 3]);

impl<R: Real> Vec3<R> {
    /// The vector of three components.
    #[inline(always)]
    pub fn new(x: R, y: R, z: R) -> Self {
        Self([x, y, z])
    }
    /// The zero vector.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([R::zero(); 3])
    }
    /// A constant vector, given in plain numbers.
    #[inline(always)]
    pub fn constant(a: [f64; 3]) -> Self {
        Self([R::from(a[0]), R::from(a[1]), R::from(a[2])])
    }
    /// The first three entries of a slice.
    #[inline(always)]
    pub fn from_slice(a: &[R]) -> Self {
        Self([a[0], a[1], a[2]])
    }
    /// Writes the components to the first three entries of a slice.
    #[inline(always)]
    pub fn write(self, out: &mut [R]) {
        out[..3].copy_from_slice(&self.0);
    }
    /// Adds the components to the first three entries of a slice.
    #[inline(always)]
    pub fn add_to(self, out: &mut [R]) {
        for i in 0..3 {
            out[i] += self.0[i];
        }
    }
    /// The scalar product.
    #[inline(always)]
    pub fn dot(self, o: Self) -> R {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2]
    }
    /// The vector product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, o.0);
        Self([b * z - c * y, c * x - a * z, a * y - b * x])
    }
    /// The square of the length.
    #[inline(always)]
    pub fn norm_squared(self) -> R {
        self.dot(self)
    }
    /// The length; its derivative at the zero vector is not finite.
    #[inline(always)]
    pub fn norm(self) -> R {
        self.norm_squared().sqrt()
    }
    /// The vector divided by its length.
    #[inline(always)]
    pub fn normalized(self) -> Self {
        self * self.norm().recip()
    }
    /// Each component mapped by `f`.
    #[inline(always)]
    pub fn map<Q>(self, mut f: impl FnMut(R) -> Q) -> Vec3<Q> {
        let [x, y, z] = self.0;
        Vec3([f(x), f(y), f(z)])
    }
}

impl Vec3<f64> {
    /// Two unit vectors that make a right-handed orthonormal frame (first, second, `self`) with this unit vector.
    pub fn perpendiculars(self) -> (Self, Self) {
        let smallest = (0..3).fold(0, |k, i| if self.0[i].abs() < self.0[k].abs() { i } else { k });
        let mut helper = Self::zero();
        helper.0[smallest] = 1.0;
        let first = (helper - self * self.dot(helper)).normalized();
        (first, self.cross(first))
    }
}

impl<R> Index<usize> for Vec3<R> {
    type Output = R;
    #[inline(always)]
    fn index(&self, i: usize) -> &R {
        &self.0[i]
    }
}
impl<R> IndexMut<usize> for Vec3<R> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut R {
        &mut self.0[i]
    }
}
impl<R: Real> Add for Vec3<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self([self.0[0] + o.0[0], self.0[1] + o.0[1], self.0[2] + o.0[2]])
    }
}
impl<R: Real> Sub for Vec3<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self([self.0[0] - o.0[0], self.0[1] - o.0[1], self.0[2] - o.0[2]])
    }
}
impl<R: Real> Neg for Vec3<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let [x, y, z] = self.0;
        Self([-x, -y, -z])
    }
}
impl<R: Real> AddAssign for Vec3<R> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<R: Real> SubAssign for Vec3<R> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}
impl<R: Real> Mul<R> for Vec3<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: R) -> Self {
        let [x, y, z] = self.0;
        Self([x * s, y * s, z * s])
    }
}

impl<R: Real> Mat3<R> {
    /// The zero matrix.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([[R::zero(); 3]; 3])
    }
    /// The identity.
    #[inline(always)]
    pub fn identity() -> Self {
        Self::diagonal([R::one(); 3])
    }
    /// A diagonal matrix.
    #[inline(always)]
    pub fn diagonal(d: [R; 3]) -> Self {
        let mut m = Self::zero();
        for i in 0..3 {
            m.0[i][i] = d[i];
        }
        m
    }
    /// A constant matrix, given in plain numbers.
    #[inline(always)]
    pub fn constant(a: [[f64; 3]; 3]) -> Self {
        let row = |a: [f64; 3]| [R::from(a[0]), R::from(a[1]), R::from(a[2])];
        Self([row(a[0]), row(a[1]), row(a[2])])
    }
    /// The matrix of the vector product: `skew(a) b = a × b`.
    #[inline(always)]
    pub fn skew(a: Vec3<R>) -> Self {
        let (o, [x, y, z]) = (R::zero(), a.0);
        Self([[o, -z, y], [z, o, -x], [-y, x, o]])
    }
    /// The transpose.
    #[inline(always)]
    pub fn transposed(self) -> Self {
        let [x, y, z] = self.0;
        Self([[x[0], y[0], z[0]], [x[1], y[1], z[1]], [x[2], y[2], z[2]]])
    }
    /// Column `j`.
    #[inline(always)]
    pub fn column(self, j: usize) -> Vec3<R> {
        Vec3([self.0[0][j], self.0[1][j], self.0[2][j]])
    }
    /// The product of the transpose with a vector.
    #[inline(always)]
    pub fn transpose_mul(self, v: Vec3<R>) -> Vec3<R> {
        let [x, y, z] = self.0;
        Vec3(x) * v.0[0] + Vec3(y) * v.0[1] + Vec3(z) * v.0[2]
    }
    /// The determinant.
    #[inline(always)]
    pub fn determinant(self) -> R {
        self.column(0).dot(self.column(1).cross(self.column(2)))
    }
    /// Each entry mapped by `f`.
    #[inline(always)]
    pub fn map<Q>(self, mut f: impl FnMut(R) -> Q) -> Mat3<Q> {
        let mut row = |[a, b, c]: [R; 3]| [f(a), f(b), f(c)];
        let [x, y, z] = self.0;
        Mat3([row(x), row(y), row(z)])
    }
}

impl<R: Real> Mul<Vec3<R>> for Mat3<R> {
    type Output = Vec3<R>;
    #[inline(always)]
    fn mul(self, v: Vec3<R>) -> Vec3<R> {
        let [x, y, z] = self.0;
        Vec3([Vec3(x).dot(v), Vec3(y).dot(v), Vec3(z).dot(v)])
    }
}
impl<R: Real> Mul for Mat3<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        let mut m = Self::zero();
        for i in 0..3 {
            for j in 0..3 {
                m.0[i][j] = self.0[i][0] * o.0[0][j] + self.0[i][1] * o.0[1][j] + self.0[i][2] * o.0[2][j];
            }
        }
        m
    }
}
impl<R: Real> Add for Mat3<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        let ([x, y, z], [u, v, w]) = (self.0, o.0);
        Self([(Vec3(x) + Vec3(u)).0, (Vec3(y) + Vec3(v)).0, (Vec3(z) + Vec3(w)).0])
    }
}
impl<R: Real> Mul<R> for Mat3<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: R) -> Self {
        let [x, y, z] = self.0;
        Self([(Vec3(x) * s).0, (Vec3(y) * s).0, (Vec3(z) * s).0])
    }
}
