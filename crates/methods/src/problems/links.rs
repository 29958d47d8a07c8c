//! A double pendulum in relative angles.

use super::Problem;
use crate::algebra::{Mass, MassBlock};
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// Two point masses on massless links, angles of the first from the vertical and of the second from the first: a mass matrix that depends on
/// the place.
#[derive(Clone, Debug)]
pub struct Links {
    /// Masses in kg.
    pub masses: [f64; 2],
    /// Lengths in m.
    pub lengths: [f64; 2],
    /// Acceleration of gravity in m/s².
    pub gravity: f64,
}

impl Default for Links {
    fn default() -> Self {
        Self { masses: [1.0, 0.7], lengths: [0.8, 0.6], gravity: 9.81 }
    }
}

impl Links {
    fn entries<S: Scalar>(&self, q: &[S]) -> [S; 3] {
        let ([m1, m2], [a, b]) = (self.masses, self.lengths);
        let product = q[1].cos() * (m2 * a * b);
        [product * 2.0 + ((m1 + m2) * a * a + m2 * b * b), product + m2 * b * b, S::from(m2 * b * b)]
    }

    /// The momenta M v, in kg m²/s; without gravity the first is conserved.
    pub fn momentum(&self, s: &State<f64>) -> [f64; 2] {
        let [a, b, c] = self.entries(&s.q);
        [a * s.v[0] + b * s.v[1], b * s.v[0] + c * s.v[1]]
    }
}

impl System for Links {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 2, v: 2, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Dense(2)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        let [a, b, c] = self.entries(&s.q);
        out.block_mut(0).copy_from_slice(&[a, b, b, c]);
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let ([m1, m2], [a, b]) = (self.masses, self.lengths);
        let turn = s.q[1].sin() * (m2 * a * b);
        let low = (s.q[0] + s.q[1]).sin() * (m2 * self.gravity * b);
        let (v, w) = (s.v[0], s.v[1]);
        out[0] = turn * (v * w * 2.0 + w * w) - low - s.q[0].sin() * ((m1 + m2) * self.gravity * a);
        out[1] = -turn * v * v - low;
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

impl Problem for Links {
    fn name(&self) -> &'static str {
        "two links"
    }
    fn initial(&self) -> State<f64> {
        State { q: vec![0.4, 1.1], v: vec![1.2, -0.7], ..State::default() }
    }
    fn until(&self) -> f64 {
        2.0
    }
    fn exact(&self, _t: f64) -> Option<State<f64>> {
        None
    }
}
