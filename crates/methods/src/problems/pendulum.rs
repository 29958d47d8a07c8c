//! A pendulum as a particle on a rod: the smallest constrained system, exact by elliptic functions.

use super::Problem;
use super::elliptic::jacobi;
use super::residual::{self, Holonomic};
use crate::algebra::{Mass, MassBlock, Rows};
use crate::real::Real;
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// m q̈ = (0, −m g) − Gᵀλ, ½(|q|² − l²)/l = 0; started at the bottom.
///
/// With k = sin(θ_max/2), ω² = g/l: sin(θ/2) = k sn(ωt), θ̇ = 2kω cn(ωt)
/// (Whittaker: Analytical Dynamics, 4th ed., section 44).
#[derive(Clone, Debug)]
pub struct Pendulum {
    /// Mass in kg.
    pub mass: f64,
    /// Length of the rod in m.
    pub length: f64,
    /// Gravity in m/s².
    pub gravity: f64,
    /// The largest angle from the vertical in rad, below π.
    pub amplitude: f64,
}

impl Default for Pendulum {
    fn default() -> Self {
        Self { mass: 1.5, length: 0.8, gravity: 9.81, amplitude: 2.0 }
    }
}

impl Holonomic<2, 1> for Pendulum {
    fn residual<R: Real>(&self, _t: R, q: [R; 2]) -> [R; 1] {
        [(q[0].square() + q[1].square() - self.length * self.length) * (0.5 / self.length)]
    }
}

impl System for Pendulum {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        Shape { q: 2, v: 2, g: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(2)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
        out.block_mut(0).fill(S::from(self.mass));
    }
    fn force<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut [S]) {
        out.copy_from_slice(&[S::zero(), S::from(-self.mass * self.gravity)]);
    }
    fn constraint<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        residual::constraint(self, s, out);
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        residual::constraint_rate(self, s, out);
    }
    fn constraint_bias<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        residual::constraint_bias(self, s, out);
    }
    fn jacobian<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut Rows<S>) {
        residual::jacobian(self, s, out);
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(self.length);
    }
    fn row_name(&self, _row: usize) -> String {
        "rod".to_owned()
    }
}

impl Problem for Pendulum {
    fn name(&self) -> &'static str {
        "pendulum"
    }
    fn initial(&self) -> State<f64> {
        self.exact(0.0).expect("the motion is known at all times")
    }
    fn until(&self) -> f64 {
        3.0
    }
    fn exact(&self, t: f64) -> Option<State<f64>> {
        let Self { length, gravity, amplitude, .. } = *self;
        let (modulus, omega) = ((0.5 * amplitude).sin(), (gravity / length).sqrt());
        let (sn, cn, dn) = jacobi(omega * t, modulus * modulus);
        let half = modulus * sn;
        let (sine, cosine) = (2.0 * half * dn, 1.0 - 2.0 * half * half);
        let rate = 2.0 * modulus * omega * cn;
        Some(State {
            t,
            q: vec![length * sine, -length * cosine],
            v: vec![length * rate * cosine, length * rate * sine],
            ..State::default()
        })
    }
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        let kinetic = 0.5 * self.mass * (s.v[0].powi(2) + s.v[1].powi(2));
        vec![kinetic + self.mass * self.gravity * s.q[1], s.q[0].hypot(s.q[1])]
    }
}
