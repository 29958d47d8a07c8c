//! Moments of inverse powers of the distance over a boundary: what contact fields need of a shape.
//!
//! Under an affine map p(X) = p₀ + F X the distance of a material point from a plane is affine in X as well,
//! d = h + a·X with h = n·(p₀ − o) and a = Fᵀn. Forces, moment tensors, potentials and dissipation of contact fields \[1\] are
//! linear in the ten numbers
//!
//! ```text
//! m₀ = ∫ d^−ν dA,   m₁ = ∫ X d^−ν dA,   m₂ = ∫ X⊗X d^−ν dA
//! ```
//!
//! over the boundary of the reference shape.
//!
//! Reference: \[1\] Tatone, Di Egidio, Contento: Dynamics of a soft contractile body on a hard support, eq. (14), (15), (33)–(38).

use dalembert_methods::Real;
use dalembert_methods::vector::{Mat3, Vec3};

/// The moments m₀, m₁, m₂ of d^−ν.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Moments<R> {
    /// ∫ d^−ν dA.
    pub zeroth: R,
    /// ∫ X d^−ν dA.
    pub first: Vec3<R>,
    /// ∫ X⊗X d^−ν dA: entries xx, yy, zz, xy, xz, yz.
    pub second: [R; 6],
}

/// Rows and columns of the six entries of a symmetric matrix.
pub(crate) const ENTRIES: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

impl<R: Real> Moments<R> {
    /// No moments.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { zeroth: R::zero(), first: Vec3::zero(), second: [R::zero(); 6] }
    }

    /// The second moments as a matrix.
    #[inline(always)]
    pub fn matrix(&self) -> Mat3<R> {
        let [xx, yy, zz, xy, xz, yz] = self.second;
        Mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    }

    /// Adds a weight at a point.
    #[inline(always)]
    pub(crate) fn add_point(&mut self, x: Vec3<R>, weight: R) {
        let weighted = x * weight;
        self.zeroth += weight;
        self.first += weighted;
        for (sum, [i, j]) in self.second.iter_mut().zip(ENTRIES) {
            *sum += weighted[i] * x[j];
        }
    }

    /// Adds `weight` times the symmetric product of two points to the second moments.
    #[inline(always)]
    pub(crate) fn add_pair(&mut self, x: Vec3<R>, y: Vec3<R>, weight: R) {
        for (sum, [i, j]) in self.second.iter_mut().zip(ENTRIES) {
            *sum += (x[i] * y[j] + x[j] * y[i]) * weight;
        }
    }

    /// Adds other moments.
    #[inline(always)]
    pub(crate) fn add(&mut self, other: &Self) {
        self.zeroth += other.zeroth;
        self.first += other.first;
        for (sum, &more) in self.second.iter_mut().zip(&other.second) {
            *sum += more;
        }
    }

    /// All ten as an array, in the order of the fields.
    #[inline(always)]
    pub(crate) fn to_array(self) -> [R; 10] {
        let ([x, y, z], [a, b, c, d, e, f]) = (self.first.0, self.second);
        [self.zeroth, x, y, z, a, b, c, d, e, f]
    }

    /// The moments in an array.
    #[inline(always)]
    pub(crate) fn from_array([m, x, y, z, a, b, c, d, e, f]: [R; 10]) -> Self {
        Self { zeroth: m, first: Vec3([x, y, z]), second: [a, b, c, d, e, f] }
    }
}
