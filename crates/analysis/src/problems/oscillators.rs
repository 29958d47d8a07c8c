//! Oscillators, smooth and with impacts.

use crate::field::Field;
use crate::hybrid::Hybrid;
use dalembert_methods::Real;

/// ẍ + δ ẋ + α x + β x³ = f cos ωt as an autonomous field (x, ẋ, φ = ωt); parameters δ, α, β, f, ω.
#[derive(Copy, Clone, Debug, Default)]
pub struct Duffing;

impl Duffing {
    /// Parameters of a periodic motion with exponents 0, −0.10, −0.10 (set a).
    pub const SET_A: [f64; 5] = [0.2, -1.0, 1.0, 1.0, 1.0];
    /// Parameters of a chaotic motion with exponents 0.17, 0, −0.37 (set b).
    pub const SET_B: [f64; 5] = [0.2, -1.0, 1.0, 0.32, 1.0];
}

impl Field<3> for Duffing {
    #[inline(always)]
    fn rate<R: Real>(&self, _t: R, z: &[R; 3], p: &[R]) -> [R; 3] {
        let [x, v, phase] = *z;
        [v, p[3] * phase.cos() - p[0] * v - (p[1] + p[2] * x * x) * x, p[4]]
    }
}

/// ẋ = σ(y − x), ẏ = x(ρ − z) − y, ż = xy − βz; parameters σ, ρ, β (Lorenz 1963: 10, 28, 8/3).
#[derive(Copy, Clone, Debug, Default)]
pub struct Lorenz;

impl Field<3> for Lorenz {
    #[inline(always)]
    fn rate<R: Real>(&self, _t: R, z: &[R; 3], p: &[R]) -> [R; 3] {
        let [x, y, z] = *z;
        [p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z]
    }
}

/// ẋ = −y − z, ẏ = x + a y, ż = b + z(x − c); parameters a, b, c (Rössler 1976).
#[derive(Copy, Clone, Debug, Default)]
pub struct Roessler;

impl Field<3> for Roessler {
    #[inline(always)]
    fn rate<R: Real>(&self, _t: R, z: &[R; 3], p: &[R]) -> [R; 3] {
        let [x, y, z] = *z;
        [-y - z, x + p[0] * y, p[1] + z * (x - p[2])]
    }
}

/// The Hamiltonian H = ½(ẋ² + ẏ² + x² + y²) + x²y − y³/3 (Hénon, Heiles 1964) in (x, y, ẏ, ẋ): in this order the first and the last, the
/// second and the third direction of an orthonormal frame stay conjugate, so that exponents pair at all times.
#[derive(Copy, Clone, Debug, Default)]
pub struct HenonHeiles;

impl Field<4> for HenonHeiles {
    #[inline(always)]
    fn rate<R: Real>(&self, _t: R, z: &[R; 4], _p: &[R]) -> [R; 4] {
        let [x, y, v, u] = *z;
        [u, v, -y - x * x + y * y, -x - x * y * 2.0]
    }
}

/// ẍ + (a − 2q cos 2t) x = 0 in (x, ẋ); parameters a, q; the period is π.
#[derive(Copy, Clone, Debug, Default)]
pub struct Mathieu;

impl Field<2> for Mathieu {
    #[inline(always)]
    fn rate<R: Real>(&self, t: R, z: &[R; 2], p: &[R]) -> [R; 2] {
        [z[1], -(p[0] - p[1] * (t * 2.0).cos() * 2.0) * z[0]]
    }
}

/// ẍ + 2ζẋ + x = f cos ωt with a wall at x = d, met with restitution ε: (x, ẋ, φ); parameters ζ, f, ω, d, ε.
#[derive(Copy, Clone, Debug, Default)]
pub struct ImpactOscillator;

impl Hybrid<3> for ImpactOscillator {
    fn rate<R: Real>(&self, _mode: usize, _t: R, z: &[R; 3], p: &[R]) -> [R; 3] {
        [z[1], p[1] * z[2].cos() - p[0] * z[1] * 2.0 - z[0], p[2]]
    }
    fn guards(&self, _mode: usize) -> usize {
        1
    }
    fn guard<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; 3], p: &[R]) -> R {
        p[3] - z[0]
    }
    fn reset<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; 3], p: &[R]) -> [R; 3] {
        [z[0], -p[4] * z[1], z[2]]
    }
    fn name(&self, _mode: usize, _guard: usize) -> String {
        "the wall".to_owned()
    }
}
