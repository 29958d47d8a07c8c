//! Small systems whose optimal motions are known.

use dalembert_methods::algebra::{Mass, MassBlock, Rows};
use dalembert_methods::{Scalar, Shape, State, System};

/// A row of masses without coupling, each on a spring to the origin, in a field g; parameter 0, if there is one, replaces the stiffness.
pub struct Masses {
    pub mass: Vec<f64>,
    pub stiffness: f64,
    pub gravity: f64,
    pub free_stiffness: bool,
    /// The coordinate that is held at zero, if one is.
    pub held: Option<usize>,
}

impl Masses {
    pub fn one(mass: f64, stiffness: f64, gravity: f64) -> Self {
        Self { mass: vec![mass], stiffness, gravity, free_stiffness: false, held: None }
    }
}

impl System for Masses {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        let n = self.mass.len();
        Shape {
            q: n,
            v: n,
            p: usize::from(self.free_stiffness),
            g: usize::from(self.held.is_some()),
            ..Shape::default()
        }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(self.mass.len())]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut Mass<S>) {
        for (out, &m) in out.block_mut(0).iter_mut().zip(&self.mass) {
            *out = S::from(m);
        }
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        for (i, out) in out.iter_mut().enumerate() {
            let k = if self.free_stiffness { s.p[0] } else { S::from(self.stiffness) };
            *out = -(s.q[i] * k) - S::from(self.mass[i] * self.gravity);
        }
    }
    fn constraint<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        if let Some(i) = self.held {
            out[0] = s.q[i];
        }
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        if let Some(i) = self.held {
            out[0] = s.v[i];
        }
    }
    fn constraint_bias<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut [S]) {
        out.fill(S::zero());
    }
    fn jacobian<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut Rows<S>) {
        out.clear();
        if let Some(i) = self.held {
            out.block_mut(0)[i] = S::one();
        }
    }
    fn row_name(&self, _: usize) -> String {
        "joint.foot".into()
    }
    fn velocity_name(&self, i: usize) -> String {
        format!("body {i}")
    }
}

/// A pendulum of unit mass and length under gravity: by its angle from hanging, or by a point in a plane on a circle.
pub struct Pendulum {
    pub redundant: bool,
}

const G: f64 = 9.81;

impl System for Pendulum {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        let n = if self.redundant { 2 } else { 1 };
        Shape { q: n, v: n, p: 1, g: n - 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(self.shape().v)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0).fill(S::one());
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let torque = s.p[0];
        if self.redundant {
            // The torque as a tangential force: (x, y) = (sin φ, −cos φ).
            (out[0], out[1]) = (-(s.q[1] * torque), s.q[0] * torque - S::from(G));
        } else {
            out[0] = torque - s.q[0].sin() * G;
        }
    }
    fn constraint<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = (s.q[0].square() + s.q[1].square() - S::one()) * 0.5;
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = s.q[0] * s.v[0] + s.q[1] * s.v[1];
    }
    fn constraint_bias<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = s.v[0].square() + s.v[1].square();
    }
    fn jacobian<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut Rows<S>) {
        out.block_mut(0).copy_from_slice(&s.q);
    }
    fn row_name(&self, _: usize) -> String {
        "constraint.rod".into()
    }
    fn velocity_name(&self, i: usize) -> String {
        if self.redundant { ["x", "y"][i].into() } else { "angle".into() }
    }
}

/// A knife edge in a plane: (x, y, φ) of unit mass and inertia that does not slip sideways; parameters push along it and turn it.
pub struct Sleigh;

impl System for Sleigh {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 3, v: 3, p: 2, a: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(3)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0).fill(S::one());
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let (sine, cosine) = s.q[2].sin_cos();
        out.copy_from_slice(&[cosine * s.p[0], sine * s.p[0], s.p[1]]);
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let (sine, cosine) = s.q[2].sin_cos();
        out[0] = cosine * s.v[1] - sine * s.v[0];
    }
    fn constraint_bias<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let (sine, cosine) = s.q[2].sin_cos();
        out[0] = -(sine * s.v[1] + cosine * s.v[0]) * s.v[2];
    }
    fn jacobian<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut Rows<S>) {
        let (sine, cosine) = s.q[2].sin_cos();
        out.block_mut(0).copy_from_slice(&[-sine, cosine, S::zero()]);
    }
    fn row_name(&self, _: usize) -> String {
        "constraint.edge".into()
    }
    fn velocity_name(&self, i: usize) -> String {
        ["x", "y", "heading"][i].into()
    }
}

/// Two unit masses on lines; the first is carried along at a speed.
pub struct Carried {
    pub speed: f64,
}

impl System for Carried {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 2, v: 2, g: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(2)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0).fill(S::one());
    }
    fn force<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut [S]) {
        out.fill(S::zero());
    }
    fn constraint<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = s.q[0] - s.t * self.speed;
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = s.v[0] - self.speed;
    }
    fn constraint_bias<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut [S]) {
        out.fill(S::zero());
    }
    fn jacobian<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut Rows<S>) {
        out.block_mut(0).copy_from_slice(&[S::one(), S::zero()]);
    }
    fn row_name(&self, _: usize) -> String {
        "constraint.belt".into()
    }
    fn velocity_name(&self, i: usize) -> String {
        ["carried", "free"][i].into()
    }
}
