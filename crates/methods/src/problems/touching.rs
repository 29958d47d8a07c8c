//! Small systems with contacts, each written as a few functions: masses, forces, gaps and slip velocities.
//!
//! They have q̇ = v and constant masses. Derivatives of gaps and slips come by jets. Each problem names what is known of its motion; the
//! tests derive it.

use super::residual::{self, Holonomic};
use crate::algebra::{Mass, MassBlock, Rows};
use crate::jet::Jet;
use crate::nonsmooth::{self, Contacts, Latch};
use crate::real::Real;
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// A system of N coordinates with H holonomic constraints and C contacts.
pub trait Toy<const N: usize, const H: usize, const C: usize>: Sync {
    /// Tangents of every contact.
    const TANGENTS: usize;
    /// The masses.
    fn mass(&self) -> [f64; N];
    /// The forces.
    fn force<R: Real>(&self, t: R, q: [R; N], v: [R; N]) -> [R; N];
    /// The holonomic residuals.
    fn holonomic<R: Real>(&self, _t: R, _q: [R; N]) -> [R; H] {
        [R::zero(); H]
    }
    /// The gaps in m.
    fn gap<R: Real>(&self, t: R, q: [R; N]) -> [R; C];
    /// The slip velocities in m/s; unused tangents are ignored.
    fn slip<R: Real>(&self, _t: R, _q: [R; N], _v: [R; N]) -> [[R; 2]; C] {
        [[R::zero(); 2]; C]
    }
    /// The coefficient of restitution.
    fn restitution(&self, _contact: usize) -> f64 {
        0.0
    }
    /// The coefficients (forward, backward, sideways) of static friction.
    fn sticking(&self) -> [f64; 3] {
        [0.0; 3]
    }
    /// How deep points are in hollows of their surfaces, given which contacts bear, in m.
    fn hollow<R: Real>(&self, _bearing: &[bool], _q: [R; N]) -> Option<[R; C]> {
        None
    }
    /// The latch of a contact.
    fn latch(&self, _contact: usize) -> Option<&Latch> {
        None
    }
    /// Those of sliding friction at a speed in m/s; by default those of static friction.
    fn sliding<R: Real>(&self, _speed: R) -> [R; 3] {
        self.sticking().map(R::from)
    }
}

/// A [`Toy`] as a system with contacts.
#[derive(Clone, Debug)]
pub struct Touching<T, const N: usize, const H: usize, const C: usize>(pub T);

impl<T: Toy<N, H, C>, const N: usize, const H: usize, const C: usize> Holonomic<N, H> for Touching<T, N, H, C> {
    fn residual<R: Real>(&self, t: R, q: [R; N]) -> [R; H] {
        self.0.holonomic(t, q)
    }
}

fn array<S: Scalar, const N: usize>(values: &[S]) -> [S; N] {
    std::array::from_fn(|i| values[i])
}

impl<T: Toy<N, H, C>, const N: usize, const H: usize, const C: usize> System for Touching<T, N, H, C> {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        Shape { q: N, v: N, g: H, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(N)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
        out.block_mut(0).copy_from_slice(&self.0.mass().map(S::from));
    }
    fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        out.copy_from_slice(&self.0.force(s.t, array(&s.q), array(&s.v)));
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
        if H > 0 {
            residual::jacobian(self, s, out);
        }
    }
    /// Lengths of a metre, so that coordinates near zero are not measured against themselves.
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        for i in 0..N {
            out[i] = q[i].abs().max(1.0);
        }
    }
}

impl<T: Toy<N, H, C>, const N: usize, const H: usize, const C: usize> Touching<T, N, H, C> {
    /// Writes gap values and slips by rows of contacts.
    fn write<S: Copy>(gap: [S; C], slip: [[S; 2]; C], out: &mut [S]) {
        let rows = 1 + T::TANGENTS;
        for i in 0..C {
            out[i * rows] = gap[i];
            out[i * rows + 1..(i + 1) * rows].copy_from_slice(&slip[i][..T::TANGENTS]);
        }
    }
}

impl<T: Toy<N, H, C>, const N: usize, const H: usize, const C: usize> Contacts for Touching<T, N, H, C> {
    fn contacts(&self) -> usize {
        C
    }
    fn tangents(&self, _contact: usize) -> usize {
        T::TANGENTS
    }
    fn contact_gap<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        out.copy_from_slice(&self.0.gap(s.t, array(&s.q)));
    }
    fn contact_rate<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        let q = std::array::from_fn(|i| Jet::<S, 1>::new(s.q[i], s.v[i]));
        let gap = self.0.gap(Jet::new(s.t, S::one()), q).map(|gap| gap.eps[0]);
        Self::write(gap, self.0.slip(s.t, array(&s.q), array(&s.v)), out);
    }
    fn contact_bias<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        let twice = |value, rate| Jet::<Jet<S, 1>, 1>::new(Jet::new(value, rate), Jet::new(rate, S::zero()));
        let q = std::array::from_fn(|i| twice(s.q[i], s.v[i]));
        let gap = self.0.gap(twice(s.t, S::one()), q).map(|gap| gap.eps[0].eps[0]);
        let q = std::array::from_fn(|i| Jet::<S, 1>::new(s.q[i], s.v[i]));
        let v = std::array::from_fn(|i| Jet::constant(s.v[i]));
        let slip = self.0.slip(Jet::new(s.t, S::one()), q, v).map(|slip| slip.map(|u| u.eps[0]));
        Self::write(gap, slip, out);
    }
    fn contact_jacobian<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut Rows<S>) {
        let rows = 1 + T::TANGENTS;
        let block = out.block_mut(0);
        for j in 0..N {
            let one = |i| S::from(if i == j { 1.0 } else { 0.0 });
            let q = std::array::from_fn(|i| Jet::<S, 1>::new(s.q[i], one(i)));
            let gap = self.0.gap(Jet::constant(s.t), q).map(|gap| gap.eps[0]);
            let q = std::array::from_fn(|i| Jet::<S, 1>::constant(s.q[i]));
            let v = std::array::from_fn(|i| Jet::new(s.v[i], one(i)));
            let slip = self.0.slip(Jet::constant(s.t), q, v).map(|slip| slip.map(|u| u.eps[0]));
            for i in 0..C {
                block[i * rows * N + j] = gap[i];
                for k in 0..T::TANGENTS {
                    block[(i * rows + 1 + k) * N + j] = slip[i][k];
                }
            }
        }
    }
    fn restitution(&self, contact: usize) -> f64 {
        self.0.restitution(contact)
    }
    fn contact_hollow<S: Scalar>(&self, bearing: &[bool], s: &State<S>, _w: &mut (), out: &mut [S]) -> bool {
        let depths = self.0.hollow(bearing, array(&s.q));
        depths.map(|depths| out.copy_from_slice(&depths)).is_some()
    }
    fn latch(&self, contact: usize) -> Option<&Latch> {
        self.0.latch(contact)
    }
    fn sliding<S: Scalar>(&self, _contact: usize, direction: [S; 2], speed: S) -> [S; 2] {
        nonsmooth::resist(self.0.sliding(speed), direction)
    }
    fn sticking(&self, _contact: usize, direction: [f64; 2]) -> [f64; 2] {
        nonsmooth::resist(self.0.sticking(), direction)
    }
    fn excess(&self, _contact: usize, force: [f64; 2], press: f64) -> f64 {
        nonsmooth::excess(self.0.sticking(), force, press)
    }
}

/// A ball above the floor.
#[derive(Clone, Debug)]
pub struct Ball {
    /// Gravity in m/s².
    pub gravity: f64,
    /// The coefficient of restitution.
    pub restitution: f64,
}

impl Toy<1, 0, 1> for Ball {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 1] {
        [1.0]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 1], _v: [R; 1]) -> [R; 1] {
        [R::from(-self.gravity)]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 1]) -> [R; 1] {
        q
    }
    fn restitution(&self, _contact: usize) -> f64 {
        self.restitution
    }
}

/// A block (x along, y across) on a plane that tilts by `angle` + `rate` t.
#[derive(Clone, Debug)]
pub struct Incline {
    /// Gravity in m/s².
    pub gravity: f64,
    /// The first angle in rad.
    pub angle: f64,
    /// Its rate in rad/s.
    pub rate: f64,
    /// Static and sliding friction.
    pub friction: [f64; 2],
}

impl Toy<2, 0, 1> for Incline {
    const TANGENTS: usize = 1;
    fn mass(&self) -> [f64; 2] {
        [2.0; 2]
    }
    fn force<R: Real>(&self, t: R, _q: [R; 2], _v: [R; 2]) -> [R; 2] {
        let (sine, cosine) = (t * self.rate + self.angle).sin_cos();
        [sine * (2.0 * self.gravity), cosine * (-2.0 * self.gravity)]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 2]) -> [R; 1] {
        [q[1]]
    }
    fn slip<R: Real>(&self, _t: R, _q: [R; 2], v: [R; 2]) -> [[R; 2]; 1] {
        [[v[0], R::zero()]]
    }
    fn sticking(&self) -> [f64; 3] {
        [self.friction[0]; 3]
    }
    fn sliding<R: Real>(&self, _speed: R) -> [R; 3] {
        [R::from(self.friction[1]); 3]
    }
}

/// A sphere (x, y, angle) of unit mass and radius on the ground: slip is ẋ + ω.
#[derive(Clone, Debug)]
pub struct Roller {
    /// Gravity in m/s².
    pub gravity: f64,
    /// Friction.
    pub friction: f64,
}

impl Toy<3, 0, 1> for Roller {
    const TANGENTS: usize = 1;
    fn mass(&self) -> [f64; 3] {
        [1.0, 1.0, 0.4]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 3], _v: [R; 3]) -> [R; 3] {
        [R::zero(), R::from(-self.gravity), R::zero()]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 1] {
        [q[1] - 1.0]
    }
    fn slip<R: Real>(&self, _t: R, _q: [R; 3], v: [R; 3]) -> [[R; 2]; 1] {
        [[v[0] + v[2], R::zero()]]
    }
    fn sticking(&self) -> [f64; 3] {
        [self.friction; 3]
    }
}

/// Balls of unit mass and diameter in a row; N balls have C = N − 1 contacts.
#[derive(Clone, Debug)]
pub struct Row {
    /// The coefficient of restitution.
    pub restitution: f64,
}

impl<const N: usize, const C: usize> Toy<N, 0, C> for Row {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; N] {
        [1.0; N]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; N], _v: [R; N]) -> [R; N] {
        [R::zero(); N]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; N]) -> [R; C] {
        std::array::from_fn(|i| q[i + 1] - q[i] - 1.0)
    }
    fn restitution(&self, _contact: usize) -> f64 {
        self.restitution
    }
}

/// A thin rod (x, y, angle) of unit mass and half length 1 above the ground, pulled up by a growing force; both ends may touch.
#[derive(Clone, Debug)]
pub struct Rod {
    /// Gravity in m/s².
    pub gravity: f64,
    /// The growth of the force in N/s.
    pub lift: f64,
    /// Friction.
    pub friction: f64,
    /// The coefficient of restitution.
    pub restitution: f64,
}

impl Toy<3, 0, 2> for Rod {
    const TANGENTS: usize = 1;
    fn mass(&self) -> [f64; 3] {
        [1.0, 1.0, 1.0 / 3.0]
    }
    fn force<R: Real>(&self, t: R, _q: [R; 3], _v: [R; 3]) -> [R; 3] {
        [R::zero(), t * self.lift - self.gravity, R::zero()]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 2] {
        let sine = q[2].sin();
        [q[1] + sine, q[1] - sine]
    }
    fn slip<R: Real>(&self, _t: R, q: [R; 3], v: [R; 3]) -> [[R; 2]; 2] {
        let turn = v[2] * q[2].sin();
        [[v[0] - turn, R::zero()], [v[0] + turn, R::zero()]]
    }
    fn restitution(&self, _contact: usize) -> f64 {
        self.restitution
    }
    fn sticking(&self) -> [f64; 3] {
        [self.friction; 3]
    }
}

/// A mass (x, y) on a spring to the wall, carried along by a belt.
#[derive(Clone, Debug)]
pub struct Belt {
    /// Gravity in m/s².
    pub gravity: f64,
    /// Stiffness in N/m; the mass is 1 kg.
    pub stiffness: f64,
    /// The speed of the belt in m/s.
    pub speed: f64,
    /// Static and sliding friction.
    pub friction: [f64; 2],
    /// The slip speed over which friction falls from the static to the sliding coefficient (Stribeck), in m/s; 0 for a jump.
    pub fall: f64,
}

impl Toy<2, 0, 1> for Belt {
    const TANGENTS: usize = 1;
    fn mass(&self) -> [f64; 2] {
        [1.0; 2]
    }
    fn force<R: Real>(&self, _t: R, q: [R; 2], _v: [R; 2]) -> [R; 2] {
        [q[0] * -self.stiffness, R::from(-self.gravity)]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 2]) -> [R; 1] {
        [q[1]]
    }
    fn slip<R: Real>(&self, _t: R, _q: [R; 2], v: [R; 2]) -> [[R; 2]; 1] {
        [[v[0] - self.speed, R::zero()]]
    }
    fn sticking(&self) -> [f64; 3] {
        [self.friction[0]; 3]
    }
    fn sliding<R: Real>(&self, speed: R) -> [R; 3] {
        let [first, last] = self.friction;
        let now =
            if self.fall > 0.0 { (speed * (-1.0 / self.fall)).exp() * (first - last) + last } else { R::from(last) };
        [now; 3]
    }
}

/// A particle (x, y, z) of unit mass on the floor z = 0 with friction in both directions, pulled by a constant force.
#[derive(Clone, Debug)]
pub struct Puck {
    /// Gravity in m/s².
    pub gravity: f64,
    /// The force in N.
    pub pull: [f64; 2],
    /// Coefficients forward and backward along x, and along y.
    pub friction: [f64; 3],
}

impl Toy<3, 0, 1> for Puck {
    const TANGENTS: usize = 2;
    fn mass(&self) -> [f64; 3] {
        [1.0; 3]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 3], _v: [R; 3]) -> [R; 3] {
        [R::from(self.pull[0]), R::from(self.pull[1]), R::from(-self.gravity)]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 1] {
        [q[2]]
    }
    fn slip<R: Real>(&self, _t: R, _q: [R; 3], v: [R; 3]) -> [[R; 2]; 1] {
        [[v[0], v[1]]]
    }
    fn sticking(&self) -> [f64; 3] {
        self.friction
    }
}
