//! A planet in the plane: the exact motion by Kepler's equation.

use super::Problem;
use crate::algebra::{Mass, MassBlock};
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// q̈ = −μ q/|q|³, started at the pericentre.
///
/// With semi-major axis 1 and mean motion √μ: q = (cos E − e, √(1−e²) sin E), √μ t = E − e sin E
/// (Danby: Fundamentals of Celestial Mechanics, 2nd ed., 1988, chapter 6).
#[derive(Clone, Debug)]
pub struct Kepler {
    /// Gravitational parameter μ in m³/s².
    pub gravitation: f64,
    /// Eccentricity e of the ellipse.
    pub eccentricity: f64,
}

impl Default for Kepler {
    fn default() -> Self {
        Self { gravitation: 1.0, eccentricity: 0.3 }
    }
}

impl System for Kepler {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        Shape { q: 2, v: 2, ..Shape::default() }
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
        out.block_mut(0).fill(S::one());
    }
    fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        let squared = s.q[0].square() + s.q[1].square();
        let factor = (squared * squared.sqrt()).recip() * -self.gravitation;
        for i in 0..2 {
            out[i] = s.q[i] * factor;
        }
    }
}

impl Problem for Kepler {
    fn name(&self) -> &'static str {
        "kepler"
    }
    fn initial(&self) -> State<f64> {
        self.exact(0.0).expect("the motion is known at all times")
    }
    fn until(&self) -> f64 {
        std::f64::consts::TAU / self.gravitation.sqrt()
    }
    fn exact(&self, t: f64) -> Option<State<f64>> {
        let (e, motion) = (self.eccentricity, self.gravitation.sqrt());
        let mean = motion * t;
        // Newton's iteration from a start that converges for every e < 1 (Danby, eq. 6.6.8).
        let mut anomaly = mean + 0.85 * e * mean.sin().signum();
        for _ in 0..50 {
            let change = (anomaly - e * anomaly.sin() - mean) / (1.0 - e * anomaly.cos());
            anomaly -= change;
            if change.abs() <= f64::EPSILON * (1.0 + anomaly.abs()) {
                break;
            }
        }
        let (sine, cosine) = anomaly.sin_cos();
        let (minor, speed) = ((1.0 - e * e).sqrt(), motion / (1.0 - e * cosine));
        Some(State {
            t,
            q: vec![cosine - e, minor * sine],
            v: vec![-speed * sine, speed * minor * cosine],
            ..State::default()
        })
    }
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        let (q, v) = (&s.q, &s.v);
        let energy = 0.5 * (v[0] * v[0] + v[1] * v[1]) - self.gravitation / q[0].hypot(q[1]);
        vec![energy, q[0] * v[1] - q[1] * v[0]]
    }
}
