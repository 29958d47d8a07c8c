//! A bead on a straight wire that turns at a given rate: a constraint that depends on time.

use super::Problem;
use super::residual::{self, Holonomic};
use crate::algebra::{Mass, MassBlock, Rows};
use crate::real::Real;
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// m q̈ = −Gᵀλ, −q₁ sin ωt + q₂ cos ωt = 0; started at rest relative to the wire.
///
/// The distance from the axis is r = r₀ cosh ωt (Goldstein: Classical Mechanics, 2nd ed., section 1-6). The integral is the
/// work of the drive, ż = λ ∂g/∂t; it equals the growth of kinetic energy.
#[derive(Clone, Debug)]
pub struct RotatingWire {
    /// Mass of the bead in kg.
    pub mass: f64,
    /// Angular velocity of the wire in rad/s.
    pub rate: f64,
    /// Initial distance from the axis in m.
    pub distance: f64,
}

impl Default for RotatingWire {
    fn default() -> Self {
        Self { mass: 0.4, rate: 1.3, distance: 0.2 }
    }
}

impl Holonomic<2, 1> for RotatingWire {
    fn residual<R: Real>(&self, t: R, q: [R; 2]) -> [R; 1] {
        let (sine, cosine) = (t * self.rate).sin_cos();
        [q[1] * cosine - q[0] * sine]
    }
}

impl System for RotatingWire {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        Shape { q: 2, v: 2, z: 1, g: 1, ..Shape::default() }
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
        out.fill(S::zero());
    }
    fn integrand<S: Scalar>(&self, s: &State<S>, multipliers: &[S], _w: &mut (), out: &mut [S]) {
        // Power of −Gᵀλ on the bead is −λ G v = λ ∂g/∂t, since G v + ∂g/∂t = 0.
        let (sine, cosine) = (s.t * self.rate).sin_cos();
        out[0] = multipliers[0] * (s.q[0] * cosine + s.q[1] * sine) * -self.rate;
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
    fn row_name(&self, _row: usize) -> String {
        "wire".to_owned()
    }
}

impl Problem for RotatingWire {
    fn name(&self) -> &'static str {
        "rotating_wire"
    }
    fn initial(&self) -> State<f64> {
        self.exact(0.0).expect("the motion is known at all times")
    }
    fn until(&self) -> f64 {
        2.0
    }
    fn exact(&self, t: f64) -> Option<State<f64>> {
        let omega = self.rate;
        let (sine, cosine) = (omega * t).sin_cos();
        let r = self.distance * (omega * t).cosh();
        let speed = self.distance * omega * (omega * t).sinh();
        let start = (self.distance * omega).powi(2);
        let work = 0.5 * self.mass * (speed * speed + (r * omega).powi(2) - start);
        Some(State {
            t,
            q: vec![r * cosine, r * sine],
            v: vec![speed * cosine - r * omega * sine, speed * sine + r * omega * cosine],
            z: vec![work],
            ..State::default()
        })
    }
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        vec![0.5 * self.mass * (s.v[0].powi(2) + s.v[1].powi(2)) - s.z[0]]
    }
}
