//! The rotation group: unit quaternions (scalar first), the exponential map and its tangent.
//!
//! Rotations turn body vectors into world vectors, a_W = R a_B. Increments and angular velocities are written in the
//! *body* frame: R ← R exp(δ̂), Ṙ = R Ω̂. Along R(τ) = R₀ exp(δ̂(τ)) the body angular velocity is Ω = T(δ) δ̇ with
//! T(δ) = I − (1−cos φ)/φ² δ̂ + (φ−sin φ)/φ³ δ̂², φ = |δ|; its inverse is T⁻¹(δ) = I + ½ δ̂ + (1 − (φ/2) cot(φ/2))/φ² δ̂².
//!
//! References: \[1\] Iserles, Munthe-Kaas, Nørsett, Zanna: Lie-group methods, Acta Numerica 9 (2000), appendix B.

use crate::real::Real;
use crate::vector::{Mat3, Vec3};

/// A quaternion (w, x, y, z), scalar first; of unit length when it stands for a rotation.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Quat<R>(pub [R; 4]);

impl<R: Real> Default for Quat<R> {
    fn default() -> Self {
        Self::identity()
    }
}

impl<R: Real> Quat<R> {
    /// No rotation.
    #[inline(always)]
    pub fn identity() -> Self {
        Self([R::one(), R::zero(), R::zero(), R::zero()])
    }

    /// The first four entries of a slice.
    #[inline(always)]
    pub fn from_slice(a: &[R]) -> Self {
        Self([a[0], a[1], a[2], a[3]])
    }

    /// The rotation by the vector δ: about its direction, by its length in radians.
    #[inline(always)]
    pub fn exp(delta: Vec3<R>) -> Self {
        let half_squared = delta.norm_squared() * 0.25;
        let small = half_squared.lt(R::from(SMALL));
        let safe = R::select(small, R::one(), half_squared);
        let (s, c) = safe.sqrt().sin_cos();
        let z = half_squared;
        // sin(h)/h and cos(h) as series in h² where h is small.
        let sinc = R::select(
            small,
            series(z, &[1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0, -1.0 / 39916800.0]),
            s / safe.sqrt(),
        );
        let cosine =
            R::select(small, series(z, &[1.0, -0.5, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0, -1.0 / 3628800.0]), c);
        let v = delta * (sinc * 0.5);
        Self([cosine, v[0], v[1], v[2]])
    }

    /// The rotation vector of length at most π; the inverse of [`Quat::exp`].
    #[inline(always)]
    pub fn log(self) -> Vec3<R> {
        // The representative with w ≥ 0 turns by at most π.
        let flip = R::select(self.0[0].lt(R::zero()), -R::one(), R::one());
        let w = self.0[0] * flip;
        let v = Vec3([self.0[1] * flip, self.0[2] * flip, self.0[3] * flip]);
        let s2 = v.norm_squared();
        let small = s2.lt(R::from(TINY));
        let s = R::select(small, R::one(), s2).sqrt();
        // 2 atan2(s, w)/s; for small s, asin(s)/s = 1 + s²/6 + 3 s⁴/40 + 15 s⁶/336.
        let factor = R::select(
            small,
            series(s2, &[2.0, 1.0 / 3.0, 3.0 / 20.0, 15.0 / 168.0, 35.0 / 576.0]),
            s.atan2(w) * 2.0 / s,
        );
        v * factor
    }

    /// The conjugate: the inverse rotation.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Self([self.0[0], -self.0[1], -self.0[2], -self.0[3]])
    }

    /// The quaternion divided by its length.
    #[inline(always)]
    pub fn normalized(self) -> Self {
        let n = self.0.iter().fold(R::zero(), |s, &a| s + a * a).sqrt().recip();
        Self(self.0.map(|a| a * n))
    }

    /// The rotation matrix.
    #[inline(always)]
    pub fn matrix(self) -> Mat3<R> {
        let [w, x, y, z] = self.0;
        let (x2, y2, z2) = (x + x, y + y, z + z);
        let (xx, yy, zz) = (x * x2, y * y2, z * z2);
        let (xy, xz, yz) = (x * y2, x * z2, y * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        let one = R::one();
        Mat3([[one - yy - zz, xy - wz, xz + wy], [xy + wz, one - xx - zz, yz - wx], [xz - wy, yz + wx, one - xx - yy]])
    }

    /// A vector turned by this rotation.
    #[inline(always)]
    pub fn rotate(self, a: Vec3<R>) -> Vec3<R> {
        let u = Vec3([self.0[1], self.0[2], self.0[3]]);
        let t = u.cross(a) * R::from(2.0);
        a + t * self.0[0] + u.cross(t)
    }
}

impl Quat<f64> {
    /// The unit quaternion of a rotation matrix (Shepperd's method, free of cancellation).
    pub fn from_matrix(m: Mat3<f64>) -> Self {
        let m = m.0;
        let trace = m[0][0] + m[1][1] + m[2][2];
        let pick = (0..3).fold(3, |k, i| {
            let best = if k == 3 { trace } else { m[k][k] };
            if m[i][i] > best { i } else { k }
        });
        let q = if pick == 3 {
            [1.0 + trace, m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
        } else {
            let (i, j, k) = (pick, (pick + 1) % 3, (pick + 2) % 3);
            let mut q = [0.0; 4];
            q[0] = m[k][j] - m[j][k];
            q[1 + i] = 1.0 + m[i][i] - m[j][j] - m[k][k];
            q[1 + j] = m[j][i] + m[i][j];
            q[1 + k] = m[k][i] + m[i][k];
            q
        };
        Self(q).normalized()
    }
}

impl<R: Real> std::ops::Mul for Quat<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        let ([a, b, c, d], [w, x, y, z]) = (self.0, o.0);
        Self([
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ])
    }
}

/// Ω = T(δ) δ̇: the body angular velocity of R₀ exp(δ̂).
#[inline(always)]
pub fn tangent<R: Real>(delta: Vec3<R>, rate: Vec3<R>) -> Vec3<R> {
    let z = delta.norm_squared();
    let small = z.lt(R::from(SMALL));
    let safe = R::select(small, R::one(), z);
    let angle = safe.sqrt();
    let (s, c) = angle.sin_cos();
    let b = R::select(
        small,
        series(z, &[0.5, -1.0 / 24.0, 1.0 / 720.0, -1.0 / 40320.0, 1.0 / 3628800.0]),
        (R::one() - c) / safe,
    );
    let d = R::select(
        small,
        series(z, &[1.0 / 6.0, -1.0 / 120.0, 1.0 / 5040.0, -1.0 / 362880.0, 1.0 / 39916800.0]),
        (angle - s) / (safe * angle),
    );
    let once = delta.cross(rate);
    rate - once * b + delta.cross(once) * d
}

/// δ̇ = T⁻¹(δ) Ω: the rate of the rotation vector for a given body angular velocity; |δ| below 2π.
#[inline(always)]
pub fn tangent_inverse<R: Real>(delta: Vec3<R>, omega: Vec3<R>) -> Vec3<R> {
    let z = delta.norm_squared();
    let small = z.lt(R::from(SMALL));
    let safe = R::select(small, R::one(), z);
    let half = safe.sqrt() * 0.5;
    let (s, c) = half.sin_cos();
    let d = R::select(
        small,
        series(z, &[1.0 / 12.0, 1.0 / 720.0, 1.0 / 30240.0, 1.0 / 1209600.0, 1.0 / 47900160.0]),
        (R::one() - half * c / s) / safe,
    );
    let once = delta.cross(omega);
    omega + once * R::from(0.5) + delta.cross(once) * d
}

/// Below this value of the squared argument the series are used: their first term left out is below 1e-17, while the
/// closed forms lose digits to cancellation like ε/z.
const SMALL: f64 = 1e-2;

/// The same for the logarithm, whose series converges slowly and whose closed form has no cancellation.
const TINY: f64 = 1e-4;

/// Σ cᵢ zⁱ by Horner's rule.
#[inline(always)]
fn series<R: Real>(z: R, coefficients: &[f64]) -> R {
    coefficients.iter().rev().fold(R::zero(), |sum, &c| sum * z + c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Dual;

    fn samples() -> impl Iterator<Item = Vec3<f64>> {
        [1e-9, 1e-3, 0.05, 0.0999, 0.1001, 0.2, 1.0, 2.5, 3.1]
            .into_iter()
            .map(|angle| Vec3([0.48, -0.6, 0.64]).normalized() * angle)
    }

    fn distance(a: Vec3<f64>, b: Vec3<f64>) -> f64 {
        (a - b).norm()
    }

    #[test]
    fn log_undoes_exp() {
        for d in samples() {
            assert!(distance(Quat::exp(d).log(), d) < 1e-14 * (1.0 + d.norm()), "{d:?}");
        }
    }

    #[test]
    fn exp_is_a_unit_quaternion_and_matches_rodrigues() {
        let a = Vec3([0.3, -1.2, 0.7]);
        for d in samples() {
            let q = Quat::exp(d);
            assert!((q.0.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 4e-16);
            let angle = d.norm();
            let k = d * (1.0 / angle);
            let rodrigues = a * angle.cos() + k.cross(a) * angle.sin() + k * (k.dot(a) * (1.0 - angle.cos()));
            assert!(distance(q.rotate(a), rodrigues) < 1e-15 * 8.0);
            assert!(distance(q.matrix() * a, rodrigues) < 1e-15 * 8.0);
            let back = Quat::from_matrix(q.matrix());
            assert!(distance(back.log(), d) < 1e-14, "{d:?}");
        }
    }

    /// T(δ)δ̇ against the derivative of exp by dual numbers: Ω̂ = Rᵀ Ṙ.
    #[test]
    fn tangent_is_the_derivative_of_exp() {
        let rate = Vec3([0.7, 0.2, -0.4]);
        for d in samples() {
            let moving = Vec3(std::array::from_fn(|i| Dual::new(d[i], rate[i])));
            let r = Quat::exp(moving).matrix();
            let w = r.map(|x| x.re).transposed() * r.map(|x| x.eps[0]);
            let omega = Vec3([w.0[2][1], w.0[0][2], w.0[1][0]]);
            assert!(distance(tangent(d, rate), omega) < 2e-14, "{d:?}");
            assert!(distance(tangent_inverse(d, omega), rate) < 2e-14, "{d:?}");
        }
    }
}
