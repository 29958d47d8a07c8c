//! Small systems for tests, written as formulas; Jacobians and biases follow by nested jets.
#![allow(dead_code)]

use dalembert_methods::algebra::{Mass, MassBlock, Rows};
use dalembert_methods::integrate::Integrator;
use dalembert_methods::lie::{Quat, tangent_inverse};
use dalembert_methods::system::Coupling;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Jet, Real, Scalar, Shape, State, System};

/// A system given by formulas only.
pub trait Formula: Sync {
    fn shape(&self) -> Shape;
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(self.shape().v)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn coupling(&self) -> Coupling {
        Coupling { groups: std::iter::once(0..self.shape().v).collect(), neighbours: vec![vec![0]] }
    }
    fn row_blocks(&self) -> Vec<dalembert_methods::algebra::Block> {
        let shape = self.shape();
        if shape.rows() == 0 {
            return Vec::new();
        }
        vec![dalembert_methods::algebra::Block { row: 0, rows: shape.rows(), col: 0, cols: shape.v }]
    }
    fn mass<R: Real>(&self, q: &[R], out: &mut Mass<R>);
    fn force<R: Real>(&self, t: R, q: &[R], v: &[R], x: &[R], out: &mut [R]);
    fn rate<R: Real>(&self, _t: R, _q: &[R], _v: &[R], _x: &[R], _out: &mut [R]) {}
    fn integrand<R: Real>(&self, _t: R, _q: &[R], _v: &[R], _multipliers: &[R], _out: &mut [R]) {}
    fn constraint<R: Real>(&self, _t: R, _q: &[R], _out: &mut [R]) {}
    fn velocity_rows<R: Real>(&self, _t: R, _q: &[R], _v: &[R], _out: &mut [R]) {}
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        for i in 0..q.len() {
            out[i] = q[i] + delta[i];
        }
    }
    fn local_rate<R: Real>(&self, _delta: &[R], v: &[R], out: &mut [R]) {
        out.copy_from_slice(v);
    }
    fn local_velocity<R: Real>(&self, _delta: &[R], rate: &[R], out: &mut [R]) {
        out.copy_from_slice(rate);
    }
    fn local_shift<R: Real>(&self, _delta: &[R], base: &[R], out: &mut [R]) {
        out.copy_from_slice(base);
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        for i in 0..out.len() {
            out[i] = q[i].abs();
        }
    }
}

/// The system of a formula.
pub struct Auto<P>(pub P);

fn lift<R: Real>(a: &[R]) -> Vec<Jet<R, 1>> {
    a.iter().map(|&a| Jet::constant(a)).collect()
}

impl<P: Formula> Auto<P> {
    /// q ⊕ (direction · ε).
    fn moved<R: Real>(&self, q: &[R], direction: &[R]) -> Vec<Jet<R, 1>> {
        let delta: Vec<_> = direction.iter().map(|&d| Jet::new(R::zero(), d)).collect();
        let mut out = lift(q);
        self.0.retract(&lift(q), &delta, &mut out);
        out
    }
}

impl<P: Formula> System for Auto<P> {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        self.0.shape()
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        self.0.mass_blocks()
    }
    fn row_blocks(&self) -> Vec<dalembert_methods::algebra::Block> {
        self.0.row_blocks()
    }
    fn coupling(&self) -> Coupling {
        self.0.coupling()
    }
    fn mass_is_constant(&self) -> bool {
        self.0.mass_is_constant()
    }
    fn work<S: Scalar>(&self) -> Self::Work<S> {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        self.0.mass(&s.q, out);
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        self.0.force(s.t, &s.q, &s.v, &s.x, out);
    }
    fn rate<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        self.0.rate(s.t, &s.q, &s.v, &s.x, out);
    }
    fn integrand<S: Scalar>(&self, s: &State<S>, multipliers: &[S], (): &mut (), out: &mut [S]) {
        self.0.integrand(s.t, &s.q, &s.v, multipliers, out);
    }
    fn constraint<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        self.0.constraint(s.t, &s.q, out);
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let g = self.shape().g;
        let mut jets = vec![Jet::constant(S::zero()); g];
        self.0.constraint(Jet::new(s.t, S::one()), &self.moved(&s.q, &s.v), &mut jets);
        for (out, jet) in out.iter_mut().zip(&jets) {
            *out = jet.eps[0];
        }
        self.0.velocity_rows(s.t, &s.q, &s.v, &mut out[g..]);
    }
    fn constraint_bias<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        // Along q ⊕ τ v with v fixed, which is the motion with constant v.
        let Shape { g, a, .. } = self.shape();
        let time = Jet::new(Jet::new(s.t, S::one()), Jet::constant(S::one()));
        let tau = Jet::new(Jet::new(S::zero(), S::one()), Jet::constant(S::one()));
        let delta: Vec<_> = s.v.iter().map(|&v| tau * Jet::constant(Jet::constant(v))).collect();
        let q: Vec<_> = s.q.iter().map(|&q| Jet::constant(Jet::constant(q))).collect();
        let mut moved = q.clone();
        self.0.retract(&q, &delta, &mut moved);
        let mut twice = vec![Jet::constant(Jet::constant(S::zero())); g];
        self.0.constraint(time, &moved, &mut twice);
        for i in 0..g {
            out[i] = twice[i].eps[0].eps[0];
        }
        let mut once = vec![Jet::constant(S::zero()); a];
        self.0.velocity_rows(Jet::new(s.t, S::one()), &self.moved(&s.q, &s.v), &lift(&s.v), &mut once);
        for i in 0..a {
            out[g + i] = once[i].eps[0];
        }
    }
    fn jacobian<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut Rows<S>) {
        let Shape { g, a, v, .. } = self.shape();
        for j in 0..v {
            let mut unit = vec![S::zero(); v];
            unit[j] = S::one();
            let mut column = vec![Jet::constant(S::zero()); g + a];
            self.0.constraint(Jet::constant(s.t), &self.moved(&s.q, &unit), &mut column[..g]);
            let mut v = lift(&s.v);
            v[j].eps[0] = S::one();
            self.0.velocity_rows(Jet::constant(s.t), &lift(&s.q), &v, &mut column[g..]);
            for i in 0..out.blocks().len() {
                let b = out.blocks()[i];
                if b.col <= j && j < b.col + b.cols {
                    for r in 0..b.rows {
                        out.block_mut(i)[r * b.cols + j - b.col] = column[b.row + r].eps[0];
                    }
                }
            }
        }
    }
    fn retract<S: Scalar>(&self, q: &[S], delta: &[S], out: &mut [S]) {
        self.0.retract(q, delta, out);
    }
    fn local_rate<S: Scalar>(&self, delta: &[S], v: &[S], out: &mut [S]) {
        self.0.local_rate(delta, v, out);
    }
    fn local_velocity<S: Scalar>(&self, delta: &[S], rate: &[S], out: &mut [S]) {
        self.0.local_velocity(delta, rate, out);
    }
    fn local_shift<S: Scalar>(&self, delta: &[S], base: &[S], out: &mut [S]) {
        self.0.local_shift(delta, base, out);
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        self.0.magnitude(q, out);
    }
}

/// A free rigid body turning about its centre: body angular velocity, principal inertias.
pub struct Spin(pub [f64; 3]);

impl Formula for Spin {
    fn shape(&self) -> Shape {
        Shape { q: 4, v: 3, ..Shape::default() }
    }
    fn mass<R: Real>(&self, _q: &[R], out: &mut Mass<R>) {
        for i in 0..3 {
            out.block_mut(0)[i] = self.0[i].into();
        }
    }
    fn force<R: Real>(&self, _t: R, _q: &[R], v: &[R], _x: &[R], out: &mut [R]) {
        let l: Vec3<R> = Vec3(std::array::from_fn(|i| v[i] * self.0[i]));
        l.cross(Vec3::from_slice(v)).write(out);
    }
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        out.copy_from_slice(&(Quat::from_slice(q) * Quat::exp(Vec3::from_slice(delta))).normalized().0);
    }
    fn local_rate<R: Real>(&self, delta: &[R], v: &[R], out: &mut [R]) {
        tangent_inverse(Vec3::from_slice(delta), Vec3::from_slice(v)).write(out);
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

/// Rigid bodies in a row: positions and unit quaternions, nonlinear springs between neighbours' corners, a distance
/// constraint between every other pair, an extra state that follows the first spring, a mass that depends on position.
pub struct Chain {
    pub bodies: usize,
}

const ARM: [f64; 3] = [0.3, -0.2, 0.1];

impl Chain {
    fn corner<R: Real>(&self, q: &[R], body: usize, side: f64) -> Vec3<R> {
        let q = &q[7 * body..7 * body + 7];
        Vec3::from_slice(q) + Quat::from_slice(&q[3..]).rotate(Vec3::constant(ARM.map(|a| a * side)))
    }

    /// A state in general position.
    pub fn state(&self) -> State<f64> {
        let mut s = State::zeros(self.shape());
        s.t = 0.3;
        for i in 0..self.bodies {
            let f = i as f64;
            s.q[7 * i..7 * i + 3].copy_from_slice(&[f, 0.1 * f.sin(), 0.2 * f.cos()]);
            let turn = Vec3([0.3 * f, 0.2 - 0.1 * f, 0.4]);
            s.q[7 * i + 3..7 * i + 7].copy_from_slice(&Quat::exp(turn).0);
            for k in 0..6 {
                s.v[6 * i + k] = (1.3 * f + k as f64).sin();
            }
        }
        s.x[0] = 0.7;
        s
    }
}

impl Formula for Chain {
    fn shape(&self) -> Shape {
        Shape { q: 7 * self.bodies, v: 6 * self.bodies, x: 1, g: self.bodies / 2, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Dense(6); self.bodies]
    }
    fn mass_is_constant(&self) -> bool {
        false
    }
    fn coupling(&self) -> Coupling {
        let n = self.bodies;
        Coupling {
            groups: (0..n).map(|i| 6 * i..6 * i + 6).collect(),
            neighbours: (0..n).map(|i: usize| (i.saturating_sub(1)..n.min(i + 2)).collect()).collect(),
        }
    }
    fn row_blocks(&self) -> Vec<dalembert_methods::algebra::Block> {
        (0..self.bodies / 2)
            .map(|i| dalembert_methods::algebra::Block { row: i, rows: 1, col: 12 * i, cols: 12 })
            .collect()
    }
    fn mass<R: Real>(&self, q: &[R], out: &mut Mass<R>) {
        for i in 0..self.bodies {
            let r = Quat::from_slice(&q[7 * i + 3..]).rotate(Vec3::constant(ARM));
            let block = out.block_mut(i);
            block.fill(R::zero());
            for k in 0..6 {
                block[7 * k] = R::from(2.0 + k as f64) + r[k % 3];
            }
            block[3] = r[0] * 0.5;
            block[18] = r[0] * 0.5;
        }
    }
    fn force<R: Real>(&self, t: R, q: &[R], v: &[R], x: &[R], out: &mut [R]) {
        for i in 0..self.bodies {
            let omega = Vec3::from_slice(&v[6 * i + 3..]);
            let momentum = Vec3([omega[0] * 0.1, omega[1] * 0.2, omega[2] * 0.3]);
            Vec3::from_slice(&[x[0], t.sin(), -x[0] * x[0]]).write(&mut out[6 * i..]);
            momentum.cross(omega).write(&mut out[6 * i + 3..]);
        }
        for i in 1..self.bodies {
            let (a, b) = (self.corner(q, i - 1, 1.0), self.corner(q, i, -1.0));
            let slip = Vec3::from_slice(&v[6 * i..]) - Vec3::from_slice(&v[6 * i - 6..]);
            let pull = (b - a) * ((b - a).norm_squared() + 1.0) + slip * slip.norm();
            for (body, side, force) in [(i - 1, 1.0, pull), (i, -1.0, -pull)] {
                force.add_to(&mut out[6 * body..]);
                let local = Quat::from_slice(&q[7 * body + 3..]).conjugate().rotate(force);
                Vec3::constant(ARM.map(|a| a * side)).cross(local).add_to(&mut out[6 * body + 3..]);
            }
        }
    }
    fn rate<R: Real>(&self, _t: R, q: &[R], v: &[R], x: &[R], out: &mut [R]) {
        let last = 7 * (self.bodies - 1);
        out[0] = q[0] * q[last + 4] + v[6 * self.bodies - 1] * v[0] - x[0] * x[0];
    }
    fn constraint<R: Real>(&self, t: R, q: &[R], out: &mut [R]) {
        for i in 0..self.bodies / 2 {
            let apart = self.corner(q, 2 * i + 1, -1.0) - self.corner(q, 2 * i, 1.0);
            out[i] = apart.norm_squared() - 0.5 + t * 0.1;
        }
    }
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        for i in 0..self.bodies {
            for k in 0..3 {
                out[7 * i + k] = q[7 * i + k] + delta[6 * i + k];
            }
            let turned = Quat::from_slice(&q[7 * i + 3..]) * Quat::exp(Vec3::from_slice(&delta[6 * i + 3..]));
            out[7 * i + 3..7 * i + 7].copy_from_slice(&turned.0);
        }
    }
    fn local_rate<R: Real>(&self, delta: &[R], v: &[R], out: &mut [R]) {
        for i in 0..self.bodies {
            out[6 * i..6 * i + 3].copy_from_slice(&v[6 * i..6 * i + 3]);
            let r = 6 * i + 3..6 * i + 6;
            tangent_inverse(Vec3::from_slice(&delta[r.clone()]), Vec3::from_slice(&v[r.clone()])).write(&mut out[r]);
        }
    }
}

/// A particle on a rod of moving length |q| = 1 + amplitude·sin t under gravity, the row repeated `copies` times, with the
/// work done by the rod as integral.
pub struct Pendulum {
    pub amplitude: f64,
    pub copies: usize,
}

impl Pendulum {
    /// A start in general position.
    pub fn state(&self) -> State<f64> {
        let mut s = State::zeros(self.shape());
        s.q.copy_from_slice(&[0.6, 0.0, -0.8]);
        s.v.copy_from_slice(&[0.8 * 0.5 + 0.6 * self.amplitude, 0.7, 0.6 * 0.5 - 0.8 * self.amplitude]);
        s
    }

    /// Kinetic and potential energy minus the work done by the rod.
    pub fn balance(&self, s: &State<f64>) -> f64 {
        0.5 * s.v.iter().map(|v| v * v).sum::<f64>() + 9.81 * s.q[2] - s.z[0]
    }
}

impl Formula for Pendulum {
    fn shape(&self) -> Shape {
        Shape { q: 3, v: 3, z: 1, g: self.copies, ..Shape::default() }
    }
    fn mass<R: Real>(&self, _q: &[R], out: &mut Mass<R>) {
        out.block_mut(0).fill(R::one());
    }
    fn force<R: Real>(&self, _t: R, _q: &[R], _v: &[R], _x: &[R], out: &mut [R]) {
        Vec3::constant([0.0, 0.0, -9.81]).write(out);
    }
    fn constraint<R: Real>(&self, t: R, q: &[R], out: &mut [R]) {
        let length = t.sin() * self.amplitude + 1.0;
        out.fill((Vec3::from_slice(q).norm_squared() - length.square()) * 0.5);
    }
    fn integrand<R: Real>(&self, t: R, _q: &[R], _v: &[R], multipliers: &[R], out: &mut [R]) {
        // The force −Gᵀλ works with −λ G v = λ g_t, g_t = −length · length′.
        let length = t.sin() * self.amplitude + 1.0;
        let rate = -length * (t.cos() * self.amplitude);
        out[0] = multipliers.iter().fold(R::zero(), |sum, &m| sum + m * rate);
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

/// Chaplygin's sleigh: the centre of mass rides a distance `arm` before the blade. Mass 1, inertia 0.5.
pub struct Sleigh {
    pub arm: f64,
}

impl Formula for Sleigh {
    fn shape(&self) -> Shape {
        Shape { q: 3, v: 3, a: 1, ..Shape::default() }
    }
    fn mass<R: Real>(&self, _q: &[R], out: &mut Mass<R>) {
        out.block_mut(0).copy_from_slice(&[R::one(), R::one(), R::from(0.5)]);
    }
    fn force<R: Real>(&self, _t: R, _q: &[R], _v: &[R], _x: &[R], out: &mut [R]) {
        out.fill(R::zero());
    }
    fn velocity_rows<R: Real>(&self, _t: R, q: &[R], v: &[R], out: &mut [R]) {
        let (s, c) = q[2].sin_cos();
        out[0] = c * v[1] - s * v[0] - v[2] * self.arm;
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

/// Damped oscillator m q̈ + c q̇ + k (q − x) = 0, ẋ = −rate · x, mass 1; the energy lost in c as integral.
pub struct Oscillator {
    pub damping: f64,
    pub stiffness: f64,
    pub decay: f64,
}

impl Formula for Oscillator {
    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, x: 1, z: 1, ..Shape::default() }
    }
    fn mass<R: Real>(&self, _q: &[R], out: &mut Mass<R>) {
        out.block_mut(0)[0] = R::one();
    }
    fn force<R: Real>(&self, _t: R, q: &[R], v: &[R], x: &[R], out: &mut [R]) {
        out[0] = -v[0] * self.damping - (q[0] - x[0]) * self.stiffness;
    }
    fn rate<R: Real>(&self, _t: R, _q: &[R], _v: &[R], x: &[R], out: &mut [R]) {
        out[0] = -x[0] * self.decay;
    }
    fn integrand<R: Real>(&self, _t: R, _q: &[R], v: &[R], _multipliers: &[R], out: &mut [R]) {
        out[0] = v[0] * v[0] * self.damping;
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

/// The largest difference of two states.
pub fn distance(a: &State<f64>, b: &State<f64>) -> f64 {
    let pairs = [(&a.q, &b.q), (&a.v, &b.v), (&a.x, &b.x), (&a.z, &b.z)];
    pairs.iter().flat_map(|(a, b)| a.iter().zip(b.iter())).fold(0.0, |max: f64, (a, b)| max.max((a - b).abs()))
}

/// Steps until a time.
#[allow(clippy::unwrap_used)]
pub fn advance<Y: System>(y: &Y, s: &mut State<f64>, method: &mut dyn Integrator<Y>, until: f64) {
    while s.t < until {
        method.step(y, s, until).unwrap();
    }
}

/// A free asymmetric body in general motion.
pub fn spin() -> (Auto<Spin>, State<f64>) {
    let y = Auto(Spin([1.0, 2.0, 3.5]));
    let mut s = State::zeros(y.shape());
    s.q.copy_from_slice(&Quat::exp(Vec3([0.3, 0.2, -0.1])).0);
    s.v.copy_from_slice(&[0.4, 1.5, 0.7]);
    (y, s)
}

/// A sleigh with forward speed 0.3 and turning rate 1.2.
pub fn sleigh() -> (Auto<Sleigh>, State<f64>) {
    let y = Auto(Sleigh { arm: 0.4 });
    let mut s = State::zeros(y.shape());
    s.v.copy_from_slice(&[0.3, 0.4 * 1.2, 1.2]);
    (y, s)
}

/// An oscillator pulled by a decaying state.
pub fn oscillator() -> (Auto<Oscillator>, State<f64>) {
    let y = Auto(Oscillator { damping: 0.1, stiffness: 4.0, decay: 0.5 });
    let mut s = State::zeros(y.shape());
    (s.q[0], s.x[0]) = (1.0, 0.5);
    (y, s)
}
