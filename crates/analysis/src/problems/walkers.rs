//! Walkers on a slope: from one foot strike to the next.
//!
//! References: \[1\] McGeer: Passive dynamic walking, Int. J. Robotics Research 9 (1990) 62–82; \[2\] Garcia, Chatterjee, Ruina, Coleman: The
//! simplest walking model: stability, complexity, and scaling, J. Biomech. Eng. 120 (1998) 281–288; \[3\] Goswami, Thuilot, Espiau: A study of the
//! passive gait of a compass-like biped robot, Int. J. Robotics Research 17 (1998) 1282–1301.

use crate::hybrid::Hybrid;
use dalembert_methods::Real;

/// A wheel of massless spokes without rim: (θ, θ̇) of the spoke on the ground from the vertical; parameters slope γ, half angle between
/// spokes α, g/l.
#[derive(Copy, Clone, Debug, Default)]
pub struct RimlessWheel;

impl RimlessWheel {
    /// The angular velocity just after an impact on the cycle: ω² = 4 (g/l) sin α sin γ c²/(1 − c²) with c = cos 2α, from the balance of
    /// energy over one step.
    pub fn fixed_point(slope: f64, half_angle: f64, gravity_by_length: f64) -> f64 {
        let c = (2.0 * half_angle).cos();
        (4.0 * gravity_by_length * half_angle.sin() * slope.sin() * c * c / (1.0 - c * c)).sqrt()
    }

    /// The multiplier of the cycle: cos² 2α.
    pub fn multiplier(half_angle: f64) -> f64 {
        (2.0 * half_angle).cos().powi(2)
    }
}

impl Hybrid<2> for RimlessWheel {
    fn rate<R: Real>(&self, _mode: usize, _t: R, z: &[R; 2], p: &[R]) -> [R; 2] {
        [z[1], p[2] * z[0].sin()]
    }
    fn guards(&self, _mode: usize) -> usize {
        1
    }
    fn guard<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; 2], p: &[R]) -> R {
        p[0] + p[1] - z[0]
    }
    fn reset<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; 2], p: &[R]) -> [R; 2] {
        [p[0] - p[1], z[1] * (p[1] * 2.0).cos()]
    }
    fn name(&self, _mode: usize, _guard: usize) -> String {
        "the next spoke".to_owned()
    }
}

/// The simplest walker \[2\]: a mass at the hip, vanishing ones at the feet; (θ, φ, θ̇, φ̇), parameter γ. Time is in √(l/g).
#[derive(Copy, Clone, Debug, Default)]
pub struct SimplestWalker;

impl SimplestWalker {
    /// The state after a foot strike with stance angle θ and rate θ̇: two numbers tell it.
    pub fn after_strike<R: Real>(angle: R, rate: R) -> [R; 4] {
        [angle, angle * 2.0, rate, rate * (R::one() - (angle * 2.0).cos())]
    }
}

impl Hybrid<4> for SimplestWalker {
    fn rate<R: Real>(&self, _mode: usize, _t: R, z: &[R; 4], p: &[R]) -> [R; 4] {
        let [stance, swing, rate, swing_rate] = *z;
        let acceleration = (stance - p[0]).sin();
        let pull = (rate * rate - (stance - p[0]).cos()) * swing.sin();
        [rate, swing_rate, acceleration, acceleration + pull]
    }
    fn guards(&self, _mode: usize) -> usize {
        1
    }
    fn guard<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; 4], _p: &[R]) -> R {
        z[0] * 2.0 - z[1]
    }
    fn reset<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; 4], _p: &[R]) -> [R; 4] {
        Self::after_strike(-z[0], z[2] * (z[0] * 2.0).cos())
    }
    fn name(&self, _mode: usize, _guard: usize) -> String {
        "the foot strike".to_owned()
    }
}

/// The compass walker \[3\]: legs of length a + b with a mass each and a mass at the hip; (θ_n, θ_s, θ̇_n, θ̇_s) of the swing and the stance leg against
/// the vertical, positive where the hip is before the foot; parameters slope φ, m_H/m, b/a, g/a, with the masses of legs at a above the feet.
#[derive(Copy, Clone, Debug, Default)]
pub struct Compass;

impl Hybrid<4> for Compass {
    fn rate<R: Real>(&self, _mode: usize, _t: R, z: &[R; 4], p: &[R]) -> [R; 4] {
        let [swing, stance, swing_rate, rate] = *z;
        let (hip, beta, gravity) = (p[1], p[2], p[3]);
        let leg = beta + 1.0;
        let (s, c) = (stance - swing).sin_cos();
        // Lagrange's equations divided by m a², with c and s of θ_s − θ_n.
        let (m11, m12) = (beta * beta, -leg * beta * c);
        let m22 = leg * leg * (hip + 1.0) + 1.0;
        let f1 = -leg * beta * s * rate * rate - gravity * beta * swing.sin();
        let f2 = leg * beta * s * swing_rate * swing_rate + gravity * (leg * (hip + 1.0) + 1.0) * stance.sin();
        let d = m11 * m22 - m12 * m12;
        [swing_rate, rate, (f1 * m22 - f2 * m12) / d, (f2 * m11 - f1 * m12) / d]
    }
    fn guards(&self, _mode: usize) -> usize {
        1
    }
    fn guard<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; 4], p: &[R]) -> R {
        // The swing foot, once before the hip and above the slope, comes down to it where θ_s + θ_n = 2φ.
        p[0] * 2.0 - z[0] - z[1]
    }
    fn reset<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; 4], p: &[R]) -> [R; 4] {
        let [swing, stance, swing_rate, rate] = *z;
        let (hip, beta) = (p[1], p[2]);
        let leg = beta + 1.0;
        let c = (stance - swing).cos();
        // Angular momenta of both legs about the new contact and of the old stance leg about the hip stay: Q⁺ θ̇⁺ = Q⁻ θ̇⁻.
        let about_contact = (leg * leg * hip * c + leg * c * 2.0 - beta) * rate - beta * swing_rate;
        let about_hip = -beta * rate;
        let (q11, q12) = (beta * beta - leg * beta * c, leg * leg * (hip + 1.0) - leg * beta * c + 1.0);
        let (q21, q22) = (beta * beta, -leg * beta * c);
        let d = q11 * q22 - q12 * q21;
        [stance, swing, (about_contact * q22 - q12 * about_hip) / d, (q11 * about_hip - about_contact * q21) / d]
    }
    fn name(&self, _mode: usize, _guard: usize) -> String {
        "the foot strike".to_owned()
    }
}
