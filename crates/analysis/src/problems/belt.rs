//! A block on a spring and a moving belt: stick and slip.

use crate::hybrid::Hybrid;
use dalembert_methods::Real;

/// ẍ + k x = μ while the block slips back (mode 0), x = belt speed · t while it sticks (mode 1), for unit mass and weight; (x, ẋ), parameters
/// stiffness k, belt speed V, sliding friction μ, static friction μ₀.
#[derive(Copy, Clone, Debug, Default)]
pub struct BlockOnBelt;

impl BlockOnBelt {
    /// The period of the motion: with x₀ = μ₀/k, x̄ = μ/k and ω = √k the block slips for (2/ω)(π − atan(ω(x₀ − x̄)/V)) and sticks for
    /// 2(x₀ − x̄)/V.
    pub fn period([k, speed, sliding, fixed]: [f64; 4]) -> f64 {
        let (stretch, omega) = ((fixed - sliding) / k, k.sqrt());
        2.0 / omega * (std::f64::consts::PI - (omega * stretch / speed).atan()) + 2.0 * stretch / speed
    }
}

impl Hybrid<2> for BlockOnBelt {
    fn rate<R: Real>(&self, mode: usize, _t: R, z: &[R; 2], p: &[R]) -> [R; 2] {
        if mode == 0 { [z[1], p[2] - p[0] * z[0]] } else { [p[1], R::zero()] }
    }
    fn guards(&self, _mode: usize) -> usize {
        1
    }
    fn guard<R: Real>(&self, mode: usize, _guard: usize, _t: R, z: &[R; 2], p: &[R]) -> R {
        if mode == 0 { p[1] - z[1] } else { p[3] - p[0] * z[0] }
    }
    fn reset<R: Real>(&self, mode: usize, _guard: usize, _t: R, z: &[R; 2], p: &[R]) -> [R; 2] {
        if mode == 0 { [z[0], p[1]] } else { *z }
    }
    fn next(&self, mode: usize, _guard: usize, _z: &[f64; 2]) -> usize {
        1 - mode
    }
    fn name(&self, mode: usize, _guard: usize) -> String {
        if mode == 0 { "the stop".to_owned() } else { "the slip".to_owned() }
    }
}
