//! A knife edge on an inclined plane: a velocity-level constraint that no configuration constraint replaces.

use super::Problem;
use super::residual::{self, VelocityLevel};
use crate::algebra::{Mass, MassBlock, Rows};
use crate::real::Real;
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// A sleigh (x, y, φ) that may slide only along its blade: ẋ sin φ − ẏ cos φ = 0; x points down the slope.
///
/// Started at rest at the origin with spin ω it does not slide down: x = a sin² ωt, y = a (ωt − sin ωt cos ωt), φ = ωt,
/// a = g sin α/(2ω²) (Neimark, Fufaev: Dynamics of Nonholonomic Systems, AMS 1972, chapter II).
#[derive(Clone, Debug)]
pub struct Sleigh {
    /// Mass in kg.
    pub mass: f64,
    /// Moment of inertia in kg m².
    pub inertia: f64,
    /// Gravity along the slope, g sin α, in m/s².
    pub pull: f64,
    /// Spin ω in rad/s.
    pub spin: f64,
}

impl Default for Sleigh {
    fn default() -> Self {
        Self { mass: 2.0, inertia: 0.3, pull: 1.5, spin: 1.1 }
    }
}

impl VelocityLevel<3, 1> for Sleigh {
    fn residual<R: Real>(&self, _t: R, q: [R; 3], v: [R; 3]) -> [R; 1] {
        let (sine, cosine) = q[2].sin_cos();
        [v[0] * sine - v[1] * cosine]
    }
}

impl System for Sleigh {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        Shape { q: 3, v: 3, a: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(3)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
        out.block_mut(0).copy_from_slice(&[self.mass, self.mass, self.inertia].map(S::from));
    }
    fn force<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut [S]) {
        out.copy_from_slice(&[self.mass * self.pull, 0.0, 0.0].map(S::from));
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        residual::velocity_rate(self, s, out);
    }
    fn constraint_bias<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        residual::velocity_bias(self, s, out);
    }
    fn jacobian<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut Rows<S>) {
        residual::velocity_jacobian(self, s, out);
    }
    fn row_name(&self, _row: usize) -> String {
        "blade".to_owned()
    }
}

impl Problem for Sleigh {
    fn name(&self) -> &'static str {
        "sleigh"
    }
    fn initial(&self) -> State<f64> {
        self.exact(0.0).expect("the motion is known at all times")
    }
    fn until(&self) -> f64 {
        4.0
    }
    fn exact(&self, t: f64) -> Option<State<f64>> {
        let (omega, a) = (self.spin, self.pull / (2.0 * self.spin * self.spin));
        let (sine, cosine) = (omega * t).sin_cos();
        let speed = self.pull / omega * sine;
        Some(State {
            t,
            q: vec![a * sine * sine, a * (omega * t - sine * cosine), omega * t],
            v: vec![speed * cosine, speed * sine, omega],
            ..State::default()
        })
    }
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        let kinetic = 0.5 * self.mass * (s.v[0].powi(2) + s.v[1].powi(2)) + 0.5 * self.inertia * s.v[2].powi(2);
        vec![kinetic - self.mass * self.pull * s.q[0], s.v[2]]
    }
}
