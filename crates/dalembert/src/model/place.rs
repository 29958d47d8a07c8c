//! What elements see of bodies: places, and what they give back: wrenches.
//!
//! A place is the motion of a marker; a wrench is a force and a torque at it. A body maps velocities to places and wrenches to
//! generalised forces, and the two maps are transposes of each other: that is d'Alembert's principle.

use crate::signals::SignalRef;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real};

/// Position, rotation and velocities of a marker, all in the world frame.
#[derive(Copy, Clone, Debug, Default)]
pub struct Place<R> {
    /// Position r, in m.
    pub r: Vec3<R>,
    /// Velocity v = ṙ, in m/s.
    pub v: Vec3<R>,
    /// Rotation matrix: marker frame to world frame (the identity for a point without orientation).
    pub rotation: Mat3<R>,
    /// Angular velocity ω, in rad/s (zero for a point without orientation).
    pub omega: Vec3<R>,
}

impl<R: Real> Place<R> {
    /// A vector given in the marker frame, turned to the world frame.
    #[inline(always)]
    pub fn axis(&self, local: [f64; 3]) -> Vec3<R> {
        self.rotation * Vec3::constant(local)
    }

    /// The same place as a constant of a jet.
    #[inline(always)]
    pub fn lift<const N: usize>(&self) -> Place<Jet<R, N>> {
        let up = Jet::constant;
        Place { r: self.r.map(up), v: self.v.map(up), rotation: self.rotation.map(up), omega: self.omega.map(up) }
    }

    /// The place as a function of time: ṙ = v, v̇ = a, Ṙ = ω̂ R, ω̇ = α become the derivatives of a jet.
    ///
    /// Applied twice it carries second derivatives, because the second pass meets the velocities of the first.
    #[inline(always)]
    pub fn in_time(&self, acceleration: &Acceleration<R>) -> Place<Jet<R, 1>> {
        let turn = Mat3::skew(self.omega) * self.rotation;
        let row = |a: [R; 3], b: [R; 3]| [Jet::new(a[0], b[0]), Jet::new(a[1], b[1]), Jet::new(a[2], b[2])];
        let pair = |a: Vec3<R>, b: Vec3<R>| Vec3(row(a.0, b.0));
        let ([x, y, z], [u, v, w]) = (self.rotation.0, turn.0);
        Place {
            r: pair(self.r, self.v),
            v: pair(self.v, acceleration.a),
            rotation: Mat3([row(x, u), row(y, v), row(z, w)]),
            omega: pair(self.omega, acceleration.alpha),
        }
    }

    /// The place displaced along six directions at once: three shifts, then three small world rotations.
    #[inline(always)]
    pub fn displaced(&self) -> Place<Jet<R, 6>> {
        let mut place = self.lift::<6>();
        for i in 0..3 {
            place.r[i].eps[i] = R::one();
            for j in 0..3 {
                // δR = δθ × column
                let turned =
                    Vec3(std::array::from_fn(|k| R::from(f64::from(u8::from(k == i))))).cross(self.rotation.column(j));
                for k in 0..3 {
                    place.rotation.0[k][j].eps[3 + i] = turned[k];
                }
            }
        }
        place
    }

    /// The place with its velocities varied along six directions at once: three velocities, then three angular velocities.
    #[inline(always)]
    pub fn quickened(&self) -> Place<Jet<R, 6>> {
        let mut place = self.lift::<6>();
        for i in 0..3 {
            place.v[i].eps[i] = R::one();
            place.omega[i].eps[3 + i] = R::one();
        }
        place
    }

    /// Sets the values of a place of jets and leaves their derivatives.
    #[inline(always)]
    pub(crate) fn set_values<const N: usize>(&self, out: &mut Place<Jet<R, N>>) {
        for i in 0..3 {
            (out.r[i].re, out.v[i].re, out.omega[i].re) = (self.r[i], self.v[i], self.omega[i]);
            for j in 0..3 {
                out.rotation.0[i][j].re = self.rotation.0[i][j];
            }
        }
    }

    /// The same place at rest.
    #[inline(always)]
    pub fn at_rest(&self) -> Self {
        Self { v: Vec3::zero(), omega: Vec3::zero(), ..*self }
    }
}

/// The acceleration of a marker while the generalised velocities stay constant (v̇ = 0), in the world frame.
#[derive(Copy, Clone, Debug, Default)]
pub struct Acceleration<R> {
    /// Acceleration a, in m/s².
    pub a: Vec3<R>,
    /// Angular acceleration α, in rad/s².
    pub alpha: Vec3<R>,
}

impl<R: Real> Acceleration<R> {
    /// The acceleration as a constant of a time jet; its own derivative is not needed by second derivatives of places.
    #[inline(always)]
    pub fn lift(&self) -> Acceleration<Jet<R, 1>> {
        Acceleration { a: self.a.map(Jet::constant), alpha: self.alpha.map(Jet::constant) }
    }
}

/// A force in N and a torque in N m acting at a marker, in the world frame.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Wrench<R> {
    /// Force.
    pub force: Vec3<R>,
    /// Torque about the marker.
    pub torque: Vec3<R>,
}

impl<R: Real> Wrench<R> {
    /// A pure force.
    #[inline(always)]
    pub fn force(force: Vec3<R>) -> Self {
        Self { force, torque: Vec3::zero() }
    }

    /// A pure torque.
    #[inline(always)]
    pub fn torque(torque: Vec3<R>) -> Self {
        Self { force: Vec3::zero(), torque }
    }

    /// Adds another wrench at the same marker.
    #[inline(always)]
    pub fn add(&mut self, other: &Self) {
        self.force += other.force;
        self.torque += other.torque;
    }

    /// The power at a place.
    #[inline(always)]
    pub fn power(&self, at: &Place<R>) -> R {
        self.force.dot(at.v) + self.torque.dot(at.omega)
    }
}

/// What elements see besides places: time, their own extra states, free parameters.
#[derive(Copy, Clone, Debug)]
pub struct Instant<'a, R> {
    /// Time, in s.
    pub t: R,
    /// The extra states of the element.
    pub x: &'a [R],
    /// The free parameters of the study.
    pub p: &'a [R],
    /// Values and rates of the signals of the model at this time, if they are known already.
    pub signals: &'a [Jet<R, 1>],
}

impl<R: Real> Instant<'_, R> {
    /// The value of a signal now. Elements of one model share signals, so a model computes each of them once.
    #[inline]
    pub fn value(&self, signal: &SignalRef) -> R {
        match self.known(signal) {
            Some(known) => known.re,
            None => signal.at(self.t),
        }
    }

    /// The value of a signal now with its rate per second.
    #[inline]
    pub fn moving(&self, signal: &SignalRef) -> Jet<R, 1> {
        match self.known(signal) {
            Some(known) => *known,
            None => signal.at(Jet::variable(self.t, 0)),
        }
    }

    #[inline]
    fn known(&self, signal: &SignalRef) -> Option<&Jet<R, 1>> {
        match signal {
            SignalRef::Named { slot: Some(slot), .. } => self.signals.get(*slot),
            _ => None,
        }
    }
}
