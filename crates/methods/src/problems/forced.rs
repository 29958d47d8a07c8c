//! A mass on a spring with a damper, driven by a harmonic force, in closed form.

use super::Problem;
use crate::algebra::{Mass, MassBlock};
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// m q̈ + c q̇ + k q = F cos Ωt: forced, or with c = F = 0 the harmonic oscillator.
#[derive(Clone, Debug)]
pub struct ForcedOscillator {
    /// Mass m in kg.
    pub mass: f64,
    /// Stiffness k in N/m.
    pub stiffness: f64,
    /// Damping c in N s/m.
    pub damping: f64,
    /// Amplitude F of the force in N.
    pub force: f64,
    /// Its circular frequency Ω in rad/s.
    pub rate: f64,
}

impl ForcedOscillator {
    /// ω = 1 rad/s without loss or force.
    pub fn harmonic() -> Self {
        Self { mass: 1.0, stiffness: 1.0, damping: 0.0, force: 0.0, rate: 0.0 }
    }
}

impl Default for ForcedOscillator {
    fn default() -> Self {
        Self { mass: 2.0, stiffness: 8.0, damping: 0.6, force: 3.0, rate: 1.3 }
    }
}

impl System for ForcedOscillator {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, z: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(1)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0)[0] = S::from(self.mass);
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = (s.t * self.rate).cos() * self.force - s.q[0] * self.stiffness - s.v[0] * self.damping;
    }
    /// The power lost less the power supplied: with the energy it adds up to a constant.
    fn integrand<S: Scalar>(&self, s: &State<S>, _multipliers: &[S], (): &mut (), out: &mut [S]) {
        out[0] = s.v[0].square() * self.damping - (s.t * self.rate).cos() * s.v[0] * self.force;
    }
}

impl Problem for ForcedOscillator {
    fn name(&self) -> &'static str {
        "forced oscillator"
    }
    fn initial(&self) -> State<f64> {
        State { q: vec![2.0], v: vec![2.0], z: vec![0.0], ..State::default() }
    }
    fn until(&self) -> f64 {
        3.0
    }
    fn exact(&self, t: f64) -> Option<State<f64>> {
        let Self { mass, stiffness, damping, force, rate } = *self;
        let (stiff, loss) = (stiffness - mass * rate * rate, damping * rate);
        let size = stiff * stiff + loss * loss;
        let (cosine, sine) = (force * stiff / size, force * loss / size);
        let (decay, omega) = (0.5 * damping / mass, (stiffness / mass - (0.5 * damping / mass).powi(2)).sqrt());
        let a = 2.0 - cosine;
        let b = (2.0 - rate * sine + decay * a) / omega;
        let (s, c) = (omega * t).sin_cos();
        let (rs, rc) = (rate * t).sin_cos();
        let fade = (-decay * t).exp();
        let q = cosine * rc + sine * rs + fade * (a * c + b * s);
        let v = rate * (sine * rc - cosine * rs) + fade * (omega * (b * c - a * s) - decay * (a * c + b * s));
        let energy = |q: f64, v: f64| 0.5 * (mass * v * v + stiffness * q * q);
        Some(State { t, q: vec![q], v: vec![v], z: vec![energy(2.0, 2.0) - energy(q, v)], ..State::default() })
    }
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        vec![0.5 * (self.mass * s.v[0].powi(2) + self.stiffness * s.q[0].powi(2)) + s.z[0]]
    }
}
