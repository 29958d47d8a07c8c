//! A free asymmetric rigid body: angular velocity by elliptic functions, attitude by one quadrature.
//!
//! References: \[1\] Landau, Lifshitz: Mechanics, 3rd ed., section 37, eqs. 37.8 to 37.12 and 37.15; \[2\] Whittaker: Analytical Dynamics,
//! 4th ed., section 69.

use super::Problem;
use super::elliptic::jacobi;
use crate::algebra::{Mass, MassBlock};
use crate::lie::{Quat, tangent, tangent_inverse};
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};
use crate::vector::Vec3;

/// J Ω̇ = −Ω × JΩ in the body frame, attitude as a unit quaternion; J₁ < J₂ < J₃.
///
/// Started with Ω₂ = 0 and turning about the third axis on the whole: L² > 2 E J₂.
#[derive(Clone, Debug)]
pub struct FreeBody {
    /// Principal moments of inertia in kg m², ascending.
    pub inertia: [f64; 3],
    /// The first and third component of the initial angular velocity in rad/s, both positive.
    pub spin: [f64; 2],
}

impl Default for FreeBody {
    fn default() -> Self {
        Self { inertia: [1.0, 2.0, 3.0], spin: [1.0, 0.9] }
    }
}

impl FreeBody {
    /// The exact angular velocity in the body frame (\[1\] eq. 37.10).
    pub fn angular_velocity(&self, t: f64) -> [f64; 3] {
        let ([a, b, c], [first, third]) = (self.inertia, self.spin);
        let twice_energy = a * first * first + c * third * third;
        let squared = (a * first).powi(2) + (c * third).powi(2);
        let (low, high) = (twice_energy * c - squared, squared - twice_energy * a);
        let rate = ((c - b) * high / (a * b * c)).sqrt();
        let (sn, cn, dn) = jacobi(rate * t, (b - a) * low / ((c - b) * high));
        [(low / (a * (c - a))).sqrt() * cn, (low / (b * (c - b))).sqrt() * sn, (high / (c * (c - a))).sqrt() * dn]
    }

    /// The angular momentum in the world frame.
    pub fn angular_momentum(&self, s: &State<f64>) -> Vec3<f64> {
        Quat::from_slice(&s.q).rotate(self.body_momentum([s.v[0], s.v[1], s.v[2]]))
    }

    fn body_momentum(&self, omega: [f64; 3]) -> Vec3<f64> {
        Vec3(std::array::from_fn(|i| self.inertia[i] * omega[i]))
    }

    /// The exact attitude. Euler's angles about the fixed L: sin θ (sin ψ, cos ψ) = (J₁Ω₁, J₂Ω₂)/L, cos θ = J₃Ω₃/L and
    /// φ̇ = L (J₁Ω₁² + J₂Ω₂²)/(J₁²Ω₁² + J₂²Ω₂²) (\[1\] eq. 37.15).
    fn attitude(&self, t: f64) -> Quat<f64> {
        let nutation_and_spin = |t: f64| {
            let momentum = self.body_momentum(self.angular_velocity(t));
            let tilt = momentum[0].hypot(momentum[1]).atan2(momentum[2]);
            let spin = momentum[0].atan2(momentum[1]);
            Quat::exp(Vec3([tilt, 0.0, 0.0])) * Quat::exp(Vec3([0.0, 0.0, spin]))
        };
        let size = self.body_momentum(self.angular_velocity(0.0)).norm();
        let rate = |t: f64| {
            let omega = self.angular_velocity(t);
            let momentum = self.body_momentum(omega);
            size * (momentum[0] * omega[0] + momentum[1] * omega[1]) / (momentum[0].powi(2) + momentum[1].powi(2))
        };
        let precession = Quat::exp(Vec3([0.0, 0.0, quadrature(rate, t)]));
        nutation_and_spin(0.0).conjugate() * precession * nutation_and_spin(t)
    }
}

/// ∫₀ᵗ f by Gauss' rule of order 8 on panels of at most 0.05 s.
fn quadrature(f: impl Fn(f64) -> f64, t: f64) -> f64 {
    const NODES: [(f64, f64); 2] =
        [(0.339_981_043_584_856_26, 0.652_145_154_862_546_1), (0.861_136_311_594_052_6, 0.347_854_845_137_453_85)];
    let panels = (t.abs() / 0.05).ceil().max(1.0);
    let half = 0.5 * t / panels;
    let mut sum = 0.0;
    for panel in 0..panels as u64 {
        let middle = (2.0 * panel as f64 + 1.0) * half;
        for (node, weight) in NODES {
            sum += weight * (f(middle - half * node) + f(middle + half * node));
        }
    }
    sum * half
}

impl System for FreeBody {
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
    fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
        out.block_mut(0).copy_from_slice(&self.inertia.map(S::from));
    }
    fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        let omega = Vec3::from_slice(&s.v);
        let momentum = Vec3(std::array::from_fn(|i| omega[i] * self.inertia[i]));
        momentum.cross(omega).write(out);
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
}

impl Problem for FreeBody {
    fn name(&self) -> &'static str {
        "free_body"
    }
    fn initial(&self) -> State<f64> {
        let [first, third] = self.spin;
        State { q: vec![1.0, 0.0, 0.0, 0.0], v: vec![first, 0.0, third], ..State::default() }
    }
    fn until(&self) -> f64 {
        10.0
    }
    fn exact(&self, t: f64) -> Option<State<f64>> {
        let q = self.attitude(t).0.to_vec();
        Some(State { t, q, v: self.angular_velocity(t).to_vec(), ..State::default() })
    }
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        let momentum = self.angular_momentum(s);
        let energy = (0..3).map(|i| 0.5 * self.inertia[i] * s.v[i].powi(2)).sum();
        vec![energy, momentum[0], momentum[1], momentum[2]]
    }
    /// A quaternion and its negative are the same attitude: the angle between the attitudes counts.
    fn distance(&self, a: &State<f64>, b: &State<f64>) -> f64 {
        let angle = (Quat::from_slice(&a.q).conjugate() * Quat::from_slice(&b.q)).log().norm();
        a.v.iter().zip(&b.v).fold(angle, |largest, (a, b)| largest.max((a - b).abs()))
    }
}
