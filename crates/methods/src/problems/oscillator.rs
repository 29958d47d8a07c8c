//! A mass on a spring, with an extra state and an integral, all in closed form.

use super::Problem;
use crate::algebra::{Mass, MassBlock};
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// m q̈ = −k q with a low-pass filter ẋ = (q − x)/τ and the spring's work ż = −k q v.
///
/// q = a cos ωt, x = a (cos ωt + ωτ sin ωt)/(1 + ω²τ²) + c e^{−t/τ}, z = ½ k (a² − q²).
#[derive(Clone, Debug)]
pub struct Oscillator {
    /// Mass in kg.
    pub mass: f64,
    /// Stiffness in N/m.
    pub stiffness: f64,
    /// Amplitude in m.
    pub amplitude: f64,
    /// Time constant of the filter in s.
    pub delay: f64,
}

impl Default for Oscillator {
    fn default() -> Self {
        Self { mass: 2.0, stiffness: 8.0, amplitude: 0.5, delay: 0.7 }
    }
}

impl System for Oscillator {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, x: 1, z: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(1)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
        out.block_mut(0)[0] = S::from(self.mass);
    }
    fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        out[0] = s.q[0] * -self.stiffness;
    }
    fn rate<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        out[0] = (s.q[0] - s.x[0]) / self.delay;
    }
    fn integrand<S: Scalar>(&self, s: &State<S>, _multipliers: &[S], _w: &mut (), out: &mut [S]) {
        out[0] = s.q[0] * s.v[0] * -self.stiffness;
    }
}

impl Problem for Oscillator {
    fn name(&self) -> &'static str {
        "oscillator"
    }
    fn initial(&self) -> State<f64> {
        let (q, zero) = (vec![self.amplitude], vec![0.0]);
        State { t: 0.0, q, v: zero.clone(), x: zero.clone(), z: zero, p: Vec::new() }
    }
    fn until(&self) -> f64 {
        5.0
    }
    fn exact(&self, t: f64) -> Option<State<f64>> {
        let Self { mass, stiffness, amplitude: a, delay } = *self;
        let omega = (stiffness / mass).sqrt();
        let (sine, cosine) = (omega * t).sin_cos();
        let gain = a / (1.0 + (omega * delay).powi(2));
        let filtered = gain * (cosine + omega * delay * sine) - gain * (-t / delay).exp();
        let work = 0.5 * stiffness * a * a * sine * sine;
        Some(State {
            t,
            q: vec![a * cosine],
            v: vec![-a * omega * sine],
            x: vec![filtered],
            z: vec![work],
            p: Vec::new(),
        })
    }
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        let kinetic = 0.5 * self.mass * s.v[0].powi(2);
        vec![kinetic + 0.5 * self.stiffness * s.q[0].powi(2), kinetic - s.z[0]]
    }
}
