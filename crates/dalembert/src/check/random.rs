//! Random states from a seed: the same on every machine.

use crate::model::{Acceleration, Place, Wrench};
use dalembert_methods::Lanes;
use dalembert_methods::lie::Quat;
use dalembert_methods::scalar::Lanes4;
use dalembert_methods::vector::{Mat3, Vec3};

/// A generator of random numbers (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator; the same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number between −1 and 1.
    #[allow(clippy::cast_precision_loss)] // 53 bits fit
    pub fn number(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Several numbers between −1 and 1.
    pub fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }

    /// A vector with components between −1 and 1.
    pub fn vector(&mut self) -> Vec3<f64> {
        Vec3([self.number(), self.number(), self.number()])
    }

    /// A rotation by any angle.
    pub fn rotation(&mut self) -> Quat<f64> {
        Quat([self.number(), self.number(), self.number(), self.number() + 1e-3]).normalized()
    }

    /// A moving place of an oriented marker.
    pub fn place(&mut self) -> Place<f64> {
        let (r, v, omega) = (self.vector(), self.vector(), self.vector());
        Place { r, v, rotation: self.rotation().matrix(), omega }
    }

    /// Several moving places.
    pub fn places(&mut self, n: usize) -> Vec<Place<f64>> {
        (0..n).map(|_| self.place()).collect()
    }

    /// An acceleration.
    pub fn acceleration(&mut self) -> Acceleration<f64> {
        Acceleration { a: self.vector(), alpha: self.vector() }
    }

    /// A wrench.
    pub fn wrench(&mut self) -> Wrench<f64> {
        Wrench { force: self.vector(), torque: self.vector() }
    }

    /// A rigid motion to superpose.
    pub fn motion(&mut self) -> Motion {
        Motion {
            rotation: self.rotation().matrix(),
            shift: self.vector() * 3.0,
            velocity: self.vector(),
            spin: self.vector(),
        }
    }
}

/// A rigid motion superposed on everything: r ↦ c + Q r, steadily moving with velocity u and spin w.
#[derive(Copy, Clone, Debug)]
pub struct Motion {
    rotation: Mat3<f64>,
    shift: Vec3<f64>,
    velocity: Vec3<f64>,
    spin: Vec3<f64>,
}

impl Motion {
    /// A vector turned with the motion.
    pub fn turn(&self, a: Vec3<f64>) -> Vec3<f64> {
        self.rotation * a
    }

    /// A place carried along.
    pub fn carry(&self, at: &Place<f64>) -> Place<f64> {
        let arm = self.turn(at.r);
        Place {
            r: self.shift + arm,
            v: self.velocity + self.turn(at.v) + self.spin.cross(arm),
            rotation: self.rotation * at.rotation,
            omega: self.turn(at.omega) + self.spin,
        }
    }
}

/// Where a place is after a short time h of motion with an acceleration, to second order.
pub fn later(at: &Place<f64>, acceleration: &Acceleration<f64>, h: f64) -> Place<f64> {
    let turn = at.omega * h + acceleration.alpha * (h * h / 2.0);
    Place {
        r: at.r + at.v * h + acceleration.a * (h * h / 2.0),
        v: at.v + acceleration.a * h,
        rotation: Quat::exp(turn).matrix() * at.rotation,
        omega: at.omega + acceleration.alpha * h,
    }
}

/// Four numbers side by side.
pub fn pack(get: impl Fn(usize) -> f64) -> Lanes4 {
    Lanes(std::array::from_fn(get))
}

/// Four places side by side.
pub fn pack_places(of: &[Vec<Place<f64>>; 4], i: usize) -> Place<Lanes4> {
    let vector = |get: &dyn Fn(&Place<f64>) -> Vec3<f64>| Vec3([0, 1, 2].map(|c| pack(|k| get(&of[k][i])[c])));
    Place {
        r: vector(&|p| p.r),
        v: vector(&|p| p.v),
        rotation: Mat3([0, 1, 2].map(|a| [0, 1, 2].map(|b| pack(|k| of[k][i].rotation.0[a][b])))),
        omega: vector(&|p| p.omega),
    }
}
