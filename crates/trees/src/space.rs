//! Vectors and matrices of space, written out so that every product is contracted and nothing is left out of line.
//!
//! They serve the inner loops only; at the borders of this crate stand the vectors of `dalembert-methods`.

use dalembert_methods::Real;
use dalembert_methods::vector::{Mat3, Vec3};

/// A vector.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct V3<T> {
    pub x: T,
    pub y: T,
    pub z: T,
}

/// A matrix of three columns.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct M3<T> {
    pub a: V3<T>,
    pub b: V3<T>,
    pub c: V3<T>,
}

/// A symmetric matrix.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct Y3<T> {
    pub xx: T,
    pub xy: T,
    pub xz: T,
    pub yy: T,
    pub yz: T,
    pub zz: T,
}

#[inline(always)]
pub(crate) fn v3<T>(x: T, y: T, z: T) -> V3<T> {
    V3 { x, y, z }
}

impl<T: Real> V3<T> {
    #[inline(always)]
    pub fn zero() -> Self {
        v3(T::zero(), T::zero(), T::zero())
    }
    #[inline(always)]
    pub fn constant(k: &V3<f64>) -> Self {
        v3(T::from(k.x), T::from(k.y), T::from(k.z))
    }
    #[inline(always)]
    pub fn read(a: &[T]) -> Self {
        v3(a[0], a[1], a[2])
    }
    #[inline(always)]
    pub fn write(self, out: &mut [T]) {
        let out = &mut out[..3];
        out[0] = self.x;
        out[1] = self.y;
        out[2] = self.z;
    }
    #[inline(always)]
    pub fn plus(self, o: Self) -> Self {
        v3(self.x + o.x, self.y + o.y, self.z + o.z)
    }
    #[inline(always)]
    pub fn minus(self, o: Self) -> Self {
        v3(self.x - o.x, self.y - o.y, self.z - o.z)
    }
    #[inline(always)]
    pub fn negative(self) -> Self {
        v3(-self.x, -self.y, -self.z)
    }
    #[inline(always)]
    pub fn times(self, s: T) -> Self {
        v3(self.x * s, self.y * s, self.z * s)
    }
    #[inline(always)]
    pub fn scale(self, k: f64) -> Self {
        v3(self.x * k, self.y * k, self.z * k)
    }
    /// self · s + o
    #[inline(always)]
    pub fn times_plus(self, s: T, o: Self) -> Self {
        v3(self.x.mul_plus(s, o.x), self.y.mul_plus(s, o.y), self.z.mul_plus(s, o.z))
    }
    /// o − self · s
    #[inline(always)]
    pub fn times_from(self, s: T, o: Self) -> Self {
        v3(self.x.mul_from(s, o.x), self.y.mul_from(s, o.y), self.z.mul_from(s, o.z))
    }
    /// self · k + o
    #[inline(always)]
    pub fn scale_plus(self, k: f64, o: Self) -> Self {
        v3(self.x.scale_plus(k, o.x), self.y.scale_plus(k, o.y), self.z.scale_plus(k, o.z))
    }
    #[inline(always)]
    pub fn dot(self, o: Self) -> T {
        self.z.mul_plus(o.z, self.y.mul_plus(o.y, self.x * o.x))
    }
    /// self · o + c
    #[inline(always)]
    pub fn dot_plus(self, o: Self, c: T) -> T {
        self.z.mul_plus(o.z, self.y.mul_plus(o.y, self.x.mul_plus(o.x, c)))
    }
    /// The product with a constant vector.
    #[inline(always)]
    pub fn dot_constant(self, k: &V3<f64>) -> T {
        self.z.scale_plus(k.z, self.y.scale_plus(k.y, self.x * k.x))
    }
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        v3(self.z.mul_from(o.y, self.y * o.z), self.x.mul_from(o.z, self.z * o.x), self.y.mul_from(o.x, self.x * o.y))
    }
    /// self × o + c
    #[inline(always)]
    pub fn cross_plus(self, o: Self, c: Self) -> Self {
        v3(
            self.z.mul_from(o.y, self.y.mul_plus(o.z, c.x)),
            self.x.mul_from(o.z, self.z.mul_plus(o.x, c.y)),
            self.y.mul_from(o.x, self.x.mul_plus(o.y, c.z)),
        )
    }
    #[inline(always)]
    pub fn vec(self) -> Vec3<T> {
        Vec3([self.x, self.y, self.z])
    }
}

impl<T: Copy> From<Vec3<T>> for V3<T> {
    #[inline(always)]
    fn from(a: Vec3<T>) -> Self {
        v3(a.0[0], a.0[1], a.0[2])
    }
}

impl<T: Real> M3<T> {
    #[inline(always)]
    pub fn zero() -> Self {
        M3 { a: V3::zero(), b: V3::zero(), c: V3::zero() }
    }
    #[inline(always)]
    pub fn identity() -> Self {
        let (o, i) = (T::zero(), T::one());
        M3 { a: v3(i, o, o), b: v3(o, i, o), c: v3(o, o, i) }
    }
    #[inline(always)]
    pub fn constant(k: &M3<f64>) -> Self {
        M3 { a: V3::constant(&k.a), b: V3::constant(&k.b), c: V3::constant(&k.c) }
    }
    #[inline(always)]
    pub fn plus(&self, o: &Self) -> Self {
        M3 { a: self.a.plus(o.a), b: self.b.plus(o.b), c: self.c.plus(o.c) }
    }
    #[inline(always)]
    pub fn times(&self, v: V3<T>) -> V3<T> {
        self.c.times_plus(v.z, self.b.times_plus(v.y, self.a.times(v.x)))
    }
    /// self · v + o
    #[inline(always)]
    pub fn times_plus(&self, v: V3<T>, o: V3<T>) -> V3<T> {
        self.c.times_plus(v.z, self.b.times_plus(v.y, self.a.times_plus(v.x, o)))
    }
    /// The product with a constant vector.
    #[inline(always)]
    pub fn scale(&self, v: &V3<f64>) -> V3<T> {
        self.c.scale_plus(v.z, self.b.scale_plus(v.y, self.a.scale(v.x)))
    }
    /// self · v + o with a constant vector v.
    #[inline(always)]
    pub fn scale_plus(&self, v: &V3<f64>, o: V3<T>) -> V3<T> {
        self.c.scale_plus(v.z, self.b.scale_plus(v.y, self.a.scale_plus(v.x, o)))
    }
    /// The product of the transpose with a vector.
    #[inline(always)]
    pub fn transpose_times(&self, v: V3<T>) -> V3<T> {
        v3(self.a.dot(v), self.b.dot(v), self.c.dot(v))
    }
    #[inline(always)]
    pub fn product(&self, o: &M3<T>) -> M3<T> {
        M3 { a: self.times(o.a), b: self.times(o.b), c: self.times(o.c) }
    }
    #[inline(always)]
    pub fn row_x(&self) -> V3<T> {
        v3(self.a.x, self.b.x, self.c.x)
    }
    #[inline(always)]
    pub fn row_y(&self) -> V3<T> {
        v3(self.a.y, self.b.y, self.c.y)
    }
    #[inline(always)]
    pub fn row_z(&self) -> V3<T> {
        v3(self.a.z, self.b.z, self.c.z)
    }
    /// R Y Rᵀ of a constant symmetric matrix Y.
    #[inline(always)]
    pub fn congruence(&self, y: &Y3<f64>) -> Y3<T> {
        let p = self.c.scale_plus(y.xz, self.b.scale_plus(y.xy, self.a.scale(y.xx)));
        let q = self.c.scale_plus(y.yz, self.b.scale_plus(y.yy, self.a.scale(y.xy)));
        let r = self.c.scale_plus(y.zz, self.b.scale_plus(y.yz, self.a.scale(y.xz)));
        let (a, b, c) = (self.a, self.b, self.c);
        Y3 {
            xx: r.x.mul_plus(c.x, q.x.mul_plus(b.x, p.x * a.x)),
            xy: r.x.mul_plus(c.y, q.x.mul_plus(b.y, p.x * a.y)),
            xz: r.x.mul_plus(c.z, q.x.mul_plus(b.z, p.x * a.z)),
            yy: r.y.mul_plus(c.y, q.y.mul_plus(b.y, p.y * a.y)),
            yz: r.y.mul_plus(c.z, q.y.mul_plus(b.z, p.y * a.z)),
            zz: r.z.mul_plus(c.z, q.z.mul_plus(b.z, p.z * a.z)),
        }
    }
    #[inline(always)]
    pub fn mat(&self) -> Mat3<T> {
        let (a, b, c) = (self.a, self.b, self.c);
        Mat3([[a.x, b.x, c.x], [a.y, b.y, c.y], [a.z, b.z, c.z]])
    }
}

impl<T: Copy> From<Mat3<T>> for M3<T> {
    #[inline(always)]
    fn from(m: Mat3<T>) -> Self {
        let m = m.0;
        M3 { a: v3(m[0][0], m[1][0], m[2][0]), b: v3(m[0][1], m[1][1], m[2][1]), c: v3(m[0][2], m[1][2], m[2][2]) }
    }
}

impl<T: Real> Y3<T> {
    #[inline(always)]
    pub fn zero() -> Self {
        let o = T::zero();
        Y3 { xx: o, xy: o, xz: o, yy: o, yz: o, zz: o }
    }
    #[inline(always)]
    pub fn diagonal(d: T) -> Self {
        let o = T::zero();
        Y3 { xx: d, xy: o, xz: o, yy: d, yz: o, zz: d }
    }
    #[inline(always)]
    pub fn times(&self, v: V3<T>) -> V3<T> {
        v3(
            self.xz.mul_plus(v.z, self.xy.mul_plus(v.y, self.xx * v.x)),
            self.yz.mul_plus(v.z, self.yy.mul_plus(v.y, self.xy * v.x)),
            self.zz.mul_plus(v.z, self.yz.mul_plus(v.y, self.xz * v.x)),
        )
    }
    #[inline(always)]
    pub fn plus(&self, o: &Self) -> Self {
        Y3 {
            xx: self.xx + o.xx,
            xy: self.xy + o.xy,
            xz: self.xz + o.xz,
            yy: self.yy + o.yy,
            yz: self.yz + o.yz,
            zz: self.zz + o.zz,
        }
    }
    /// self − a bᵀ, which must be symmetric.
    #[inline(always)]
    pub fn minus_outer(&self, a: V3<T>, b: V3<T>) -> Self {
        Y3 {
            xx: a.x.mul_from(b.x, self.xx),
            xy: a.x.mul_from(b.y, self.xy),
            xz: a.x.mul_from(b.z, self.xz),
            yy: a.y.mul_from(b.y, self.yy),
            yz: a.y.mul_from(b.z, self.yz),
            zz: a.z.mul_from(b.z, self.zz),
        }
    }
    /// self − Aᵀ B, which must be symmetric.
    #[inline(always)]
    pub fn minus_product(&self, a: &M3<T>, b: &M3<T>) -> Self {
        Y3 {
            xx: self.xx - a.a.dot(b.a),
            xy: self.xy - a.a.dot(b.b),
            xz: self.xz - a.a.dot(b.c),
            yy: self.yy - a.b.dot(b.b),
            yz: self.yz - a.b.dot(b.c),
            zz: self.zz - a.c.dot(b.c),
        }
    }
    /// The inverse of a positive definite matrix, by cofactors.
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        let xx = self.yz.mul_from(self.yz, self.yy * self.zz);
        let xy = self.xy.mul_from(self.zz, self.xz * self.yz);
        let xz = self.xz.mul_from(self.yy, self.xy * self.yz);
        let yy = self.xz.mul_from(self.xz, self.xx * self.zz);
        let yz = self.xx.mul_from(self.yz, self.xy * self.xz);
        let zz = self.xy.mul_from(self.xy, self.xx * self.yy);
        let d = self.xz.mul_plus(xz, self.xy.mul_plus(xy, self.xx * xx)).recip();
        Y3 { xx: xx * d, xy: xy * d, xz: xz * d, yy: yy * d, yz: yz * d, zz: zz * d }
    }
    /// The matrix with columns.
    #[inline(always)]
    pub fn full(&self) -> M3<T> {
        M3 { a: v3(self.xx, self.xy, self.xz), b: v3(self.xy, self.yy, self.yz), c: v3(self.xz, self.yz, self.zz) }
    }
}

/// The rotation matrix of a unit quaternion, scalar first.
#[inline(always)]
pub(crate) fn quaternion_matrix<T: Real>(q: &[T]) -> M3<T> {
    let (w, x, y, z) = (q[0], q[1], q[2], q[3]);
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (xy, xz, yz) = (x * y2, x * z2, y * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    let o = T::one();
    M3 {
        a: v3(o - yy - zz, xy + wz, xz - wy),
        b: v3(xy - wz, o - xx - zz, yz + wx),
        c: v3(xz + wy, yz - wx, o - xx - yy),
    }
}

/// The rotation about a constant unit axis, of given sine and cosine.
#[inline(always)]
pub(crate) fn axis_rotation<T: Real>(u: &V3<f64>, s: T, c: T) -> M3<T> {
    let k = T::one() - c;
    let (kx, ky) = (k * u.x, k * u.y);
    let (sx, sy, sz) = (s * u.x, s * u.y, s * u.z);
    let (xy, xz, yz) = (kx * u.y, kx * u.z, ky * u.z);
    M3 {
        a: v3(kx.scale_plus(u.x, c), xy + sz, xz - sy),
        b: v3(xy - sz, ky.scale_plus(u.y, c), yz + sx),
        c: v3(xz + sy, yz - sx, (k * u.z).scale_plus(u.z, c)),
    }
}

/// A constant rotation followed by one about coordinate axis `A`, of given sine and cosine.
#[inline(always)]
pub(crate) fn coordinate_rotation<const A: usize, T: Real>(m: &M3<f64>, s: T, c: T) -> M3<T> {
    match A {
        0 => {
            let (b, c) = turned(s, c, &m.b, &m.c);
            M3 { a: V3::constant(&m.a), b, c }
        }
        1 => {
            let (c, a) = turned(s, c, &m.c, &m.a);
            M3 { a, b: V3::constant(&m.b), c }
        }
        _ => {
            let (a, b) = turned(s, c, &m.a, &m.b);
            M3 { a, b, c: V3::constant(&m.c) }
        }
    }
}

#[inline(always)]
fn turned<T: Real>(s: T, c: T, p: &V3<f64>, q: &V3<f64>) -> (V3<T>, V3<T>) {
    let n = -s;
    (
        v3(s.scale_plus(q.x, c * p.x), s.scale_plus(q.y, c * p.y), s.scale_plus(q.z, c * p.z)),
        v3(n.scale_plus(p.x, c * q.x), n.scale_plus(p.y, c * q.y), n.scale_plus(p.z, c * q.z)),
    )
}

/// The rotation about coordinate axis `A`, of given sine and cosine.
#[inline(always)]
pub(crate) fn coordinate_rotation_only<const A: usize, T: Real>(s: T, c: T) -> M3<T> {
    let (o, i) = (T::zero(), T::one());
    match A {
        0 => M3 { a: v3(i, o, o), b: v3(o, c, s), c: v3(o, -s, c) },
        1 => M3 { a: v3(c, o, -s), b: v3(o, i, o), c: v3(s, o, c) },
        _ => M3 { a: v3(c, s, o), b: v3(-s, c, o), c: v3(o, o, i) },
    }
}

/// w × e_A · s
#[inline(always)]
pub(crate) fn cross_axis<const A: usize, T: Real>(w: V3<T>, s: T) -> V3<T> {
    let o = T::zero();
    match A {
        0 => v3(o, w.z * s, -(w.y * s)),
        1 => v3(-(w.z * s), o, w.x * s),
        _ => v3(w.y * s, -(w.x * s), o),
    }
}

/// w + e_A · s
#[inline(always)]
pub(crate) fn plus_axis<const A: usize, T: Real>(mut w: V3<T>, s: T) -> V3<T> {
    match A {
        0 => w.x += s,
        1 => w.y += s,
        _ => w.z += s,
    }
    w
}

/// W = α̂ + ω̂ω̂, which gives the acceleration of a point of a body from its arm.
#[inline(always)]
pub(crate) fn arm_acceleration<T: Real>(w: V3<T>, al: V3<T>) -> M3<T> {
    let (xx, yy, zz) = (w.x * w.x, w.y * w.y, w.z * w.z);
    M3 {
        a: v3(-(yy + zz), w.x.mul_plus(w.y, al.z), w.x.mul_plus(w.z, -al.y)),
        b: v3(w.x.mul_plus(w.y, -al.z), -(xx + zz), w.y.mul_plus(w.z, al.x)),
        c: v3(w.x.mul_plus(w.z, al.y), w.y.mul_plus(w.z, -al.x), -(xx + yy)),
    }
}
