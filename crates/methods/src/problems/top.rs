//! A heavy top on the rotation group.

use super::Problem;
use crate::algebra::{Mass, MassBlock};
use crate::lie::{Quat, tangent, tangent_inverse};
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};
use crate::vector::Vec3;

/// A body on a fixed point under gravity: inertia about that point in body axes, weight times distance of the centre on its third axis.
#[derive(Clone, Debug)]
pub struct Top {
    /// Principal moments in kg m².
    pub inertia: [f64; 3],
    /// Weight times distance of the centre in N m.
    pub weight: f64,
}

impl Default for Top {
    fn default() -> Self {
        Self { inertia: [1.0, 1.3, 0.6], weight: 4.0 }
    }
}

impl Top {
    /// Leaning by an angle in rad about the first axis, and turning with an angular velocity in body axes in rad/s.
    pub fn state(&self, lean: f64, omega: [f64; 3]) -> State<f64> {
        State { q: Quat::exp(Vec3([lean, 0.0, 0.0])).0.to_vec(), v: omega.to_vec(), ..State::default() }
    }

    /// The angular momentum in the world frame, in kg m²/s; its third component is conserved.
    pub fn momentum(&self, s: &State<f64>) -> Vec3<f64> {
        Quat::from_slice(&s.q).rotate(Vec3(std::array::from_fn(|i| self.inertia[i] * s.v[i])))
    }

    /// The energy in J.
    pub fn energy(&self, s: &State<f64>) -> f64 {
        let kinetic: f64 = (0..3).map(|i| 0.5 * self.inertia[i] * s.v[i].powi(2)).sum();
        kinetic + self.weight * Quat::from_slice(&s.q).rotate(Vec3([0.0, 0.0, 1.0]))[2]
    }
}

impl System for Top {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 4, v: 3, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(3)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0).copy_from_slice(&self.inertia.map(S::from));
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let omega = Vec3::from_slice(&s.v);
        let momentum = Vec3(std::array::from_fn(|i| omega[i] * self.inertia[i]));
        let down = Quat::from_slice(&s.q).conjugate().rotate(Vec3::constant([0.0, 0.0, -self.weight]));
        (momentum.cross(omega) + Vec3::constant([0.0, 0.0, 1.0]).cross(down)).write(out);
    }
    fn retract<S: Scalar>(&self, q: &[S], delta: &[S], out: &mut [S]) {
        let moved = Quat::from_slice(q) * Quat::exp(Vec3::from_slice(delta));
        out.copy_from_slice(&moved.normalized().0);
    }
    fn local_rate<S: Scalar>(&self, delta: &[S], v: &[S], out: &mut [S]) {
        tangent_inverse(Vec3::from_slice(delta), Vec3::from_slice(v)).write(out);
    }
    fn local_velocity<S: Scalar>(&self, delta: &[S], rate: &[S], out: &mut [S]) {
        tangent(Vec3::from_slice(delta), Vec3::from_slice(rate)).write(out);
    }
    fn local_shift<S: Scalar>(&self, delta: &[S], base: &[S], out: &mut [S]) {
        tangent_inverse(-Vec3::from_slice(delta), Vec3::from_slice(base)).write(out);
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
    fn velocity_name(&self, i: usize) -> String {
        format!("turn {i}")
    }
}

impl Problem for Top {
    fn name(&self) -> &'static str {
        "top"
    }
    fn initial(&self) -> State<f64> {
        self.state(0.5, [0.3, 0.4, 5.0])
    }
    fn until(&self) -> f64 {
        2.0
    }
    fn exact(&self, _t: f64) -> Option<State<f64>> {
        None
    }
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        vec![self.energy(s), self.momentum(s)[2]]
    }
}
