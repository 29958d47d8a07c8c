//! Stiff problems: a stiff spring that follows a smooth motion, and Van der Pol's relaxation oscillations.

use super::Problem;
use crate::algebra::{Mass, MassBlock};
use crate::jet::Jet;
use crate::real::Real;
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// q̈ = φ̈ − 2ζΩ(q̇ − φ̇) − Ω²(q − φ) with φ(t) = sin t + ½ cos 2t: whatever the stiffness, q = φ.
///
/// The mechanical form of Prothero and Robinson's problem (Math. Comp. 28 (1974) 145–162), which shows order reduction.
#[derive(Clone, Debug)]
pub struct ProtheroRobinson {
    /// Frequency Ω of the stiff spring in rad/s.
    pub frequency: f64,
    /// Damping ratio ζ.
    pub damping: f64,
}

impl Default for ProtheroRobinson {
    fn default() -> Self {
        Self { frequency: 1e4, damping: 1.0 }
    }
}

impl ProtheroRobinson {
    /// φ and its first two derivatives.
    fn motion<R: Real>(t: R) -> [R; 3] {
        let t = Jet::new(Jet::new(t, R::one()), Jet::new(R::one(), R::zero()));
        let phi = t.sin() + (t * 2.0).cos() * 0.5;
        [phi.re.re, phi.re.eps[0], phi.eps[0].eps[0]]
    }
}

impl System for ProtheroRobinson {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, ..Shape::default() }
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
        out.block_mut(0)[0] = S::one();
    }
    fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        let [phi, rate, curvature] = Self::motion(s.t);
        let omega = self.frequency;
        out[0] = curvature - (s.v[0] - rate) * (2.0 * self.damping * omega) - (s.q[0] - phi) * (omega * omega);
    }
}

impl Problem for ProtheroRobinson {
    fn name(&self) -> &'static str {
        "prothero_robinson"
    }
    fn initial(&self) -> State<f64> {
        self.exact(0.0).expect("the motion is known at all times")
    }
    fn until(&self) -> f64 {
        2.0
    }
    fn exact(&self, t: f64) -> Option<State<f64>> {
        let [q, v, _] = Self::motion(t);
        Some(State { t, q: vec![q], v: vec![v], ..State::default() })
    }
    fn stiff(&self) -> bool {
        self.frequency > 100.0
    }
}

/// q̈ = μ(1 − q²) q̇ − q with μ = 1000, from (2, 0) to t = 2000 s.
///
/// The end values are those of the test set for IVP solvers, problem VDPOL (Mazzia, Magherini, University of Bari, 2008),
/// in unscaled time.
#[derive(Clone, Debug, Default)]
pub struct VanDerPol;

/// μ.
const STRENGTH: f64 = 1000.0;

impl System for VanDerPol {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, ..Shape::default() }
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
        out.block_mut(0)[0] = S::one();
    }
    fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        out[0] = (S::one() - s.q[0].square()) * s.v[0] * STRENGTH - s.q[0];
    }
}

impl Problem for VanDerPol {
    fn name(&self) -> &'static str {
        "van_der_pol"
    }
    fn initial(&self) -> State<f64> {
        State { q: vec![2.0], v: vec![0.0], ..State::default() }
    }
    fn until(&self) -> f64 {
        2.0 * STRENGTH
    }
    fn exact(&self, t: f64) -> Option<State<f64>> {
        (t == self.until()).then(|| State {
            t,
            q: vec![1.706_167_732_170_469],
            v: vec![-0.892_809_701_024_812_5e-3],
            ..State::default()
        })
    }
    fn stiff(&self) -> bool {
        true
    }
}
