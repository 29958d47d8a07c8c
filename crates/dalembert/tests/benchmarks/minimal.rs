//! Hand-written models in minimal coordinates: the independent route.

use dalembert::methods::algebra::{Mass, MassBlock};
use dalembert::methods::integrate::{Settings, Span, create, simulate};
use dalembert::methods::{Scalar, Shape, State, System};

/// The plane compound double pendulum. Angles are from the downward vertical.
pub struct DoublePendulum {
    pub mass: [f64; 2],
    /// Distance from the upper pivot to the lower one.
    pub length: f64,
    /// Distances from pivots to centres of mass.
    pub centre: [f64; 2],
    /// Moments of inertia about the centres of mass.
    pub inertia: [f64; 2],
    pub gravity: f64,
}

impl System for DoublePendulum {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 2, v: 2, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Dense(2)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        let [m1, m2] = self.mass;
        let [c1, c2] = self.centre;
        let coupling = (s.q[0] - s.q[1]).cos() * (m2 * self.length * c2);
        let first = S::from(self.inertia[0] + m1 * c1 * c1 + m2 * self.length * self.length);
        let second = S::from(self.inertia[1] + m2 * c2 * c2);
        out.block_mut(0).copy_from_slice(&[first, coupling, coupling, second]);
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let ([m1, m2], [c1, c2], l, g) = (self.mass, self.centre, self.length, self.gravity);
        let swing = (s.q[0] - s.q[1]).sin() * (m2 * l * c2);
        out[0] = -swing * s.v[1] * s.v[1] - s.q[0].sin() * ((m1 * c1 + m2 * l) * g);
        out[1] = swing * s.v[0] * s.v[0] - s.q[1].sin() * (m2 * c2 * g);
    }
}

/// One angle with constant inertia in a potential −c cos q: J q̈ = −c sin q.
pub struct Swing {
    pub inertia: f64,
    pub couple: f64,
}

impl System for Swing {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(1)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0)[0] = S::from(self.inertia);
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = -s.q[0].sin() * self.couple;
    }
}

/// The state of a minimal model at a time, at the tightest tolerance.
pub fn solve<Y: System>(y: &Y, q: &[f64], v: &[f64], until: f64) -> State<f64> {
    let mut s = State::zeros(y.shape());
    s.q.copy_from_slice(q);
    s.v.copy_from_slice(v);
    let mut integrator = create::<Y>("dop853", &Settings::default().with("tolerance", 1e-13)).unwrap();
    let run = simulate(y, &mut s, &mut *integrator, &Span::new(0.0, until, 0.0), &mut (), &mut ());
    run.ending.unwrap();
    s
}
