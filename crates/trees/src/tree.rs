//! A tree of links, ready for the algorithms.
//!
//! Joints of several freedoms are chains of simple ones ([`Motion`]) with nothing between; only spherical and free joints stay
//! whole. Links without a moving joint are part of the one that carries them. The result is a list of *moving bodies*, each
//! with one simple joint, numbered depth first so that every subtree is contiguous.

use crate::joint::{Cone, Freedom, MassProperties, Pose};
use crate::space::{M3, V3, Y3};
use dalembert_methods::Real;
use dalembert_methods::lie::{Quat, tangent, tangent_inverse};
use dalembert_methods::vector::{Mat3, Vec3};

/// A force and a torque on a moving body, in its axes and about its origin.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Wrench<R> {
    /// Force in N.
    pub force: Vec3<R>,
    /// Torque about the origin of the body, in N m.
    pub torque: Vec3<R>,
}

/// How a moving body moves against the one before.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    RevoluteX,
    RevoluteY,
    RevoluteZ,
    Revolute,
    PrismaticX,
    PrismaticY,
    PrismaticZ,
    Prismatic,
    Helical,
    Spherical,
    Free,
}

impl Motion {
    #[inline(always)]
    pub fn coordinates(self) -> usize {
        match self {
            Motion::Spherical => 4,
            Motion::Free => 7,
            _ => 1,
        }
    }
    #[inline(always)]
    pub fn velocities(self) -> usize {
        match self {
            Motion::Spherical => 3,
            Motion::Free => 6,
            _ => 1,
        }
    }
}

/// A moving body with the joint before it.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub motion: Motion,
    /// The body before, counted from 1; 0 is the ground.
    pub parent: usize,
    /// Its first coordinate and its first velocity.
    pub iq: usize,
    pub iv: usize,
    /// Whether the joint frame has the axes of the parent.
    pub aligned: bool,
    pub axis: V3<f64>,
    pub pitch: f64,
    /// The joint frame in the parent.
    pub rot: M3<f64>,
    pub pos: V3<f64>,
    /// The direction of a displacement in the axes of the parent.
    pub slide: V3<f64>,
    pub mass: f64,
    /// Mass times centre of mass.
    pub moment: V3<f64>,
    /// Inertia about the origin of the body.
    pub inertia: Y3<f64>,
    /// ∫ x xᵀ dm = ½ tr(I) 1 − I.
    pub pseudo: Y3<f64>,
    /// The mass of the body and all after it.
    pub subtree_mass: f64,
    /// One past the last velocity of the bodies after it.
    pub end: usize,
    /// The first moving body of its branch, counted from 0.
    pub root: usize,
    /// Reflected inertia, the same for all velocities of the joint.
    pub armature: f64,
}

/// A link: a named frame on a moving body or on the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// The moving body it belongs to; none for the ground.
    pub body: Option<usize>,
    /// The link frame in the frame of the moving body (or in the world).
    pub pose: Pose,
    /// Its own mass properties, in the link frame.
    pub mass: MassProperties,
    /// The link before; none if it hangs on the world.
    pub parent: Option<usize>,
    /// The joint before it, by index.
    pub joint: usize,
}

/// A joint as the user gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct JointInfo {
    /// Its name.
    pub name: String,
    /// The description it was built from.
    pub spec: crate::JointSpec,
    /// Its first coordinate.
    pub coordinate: usize,
    /// The number of its coordinates.
    pub coordinates: usize,
    /// Its first velocity.
    pub velocity: usize,
    /// The number of its velocities.
    pub velocities: usize,
}

/// A tree of links in minimal coordinates.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) bodies: Vec<Body>,
    pub(crate) nq: usize,
    pub(crate) nv: usize,
    pub(crate) gravity: V3<f64>,
    pub(crate) links: Vec<Link>,
    pub(crate) joints: Vec<JointInfo>,
    pub(crate) freedoms: Vec<Freedom>,
    /// Limits of spherical joints: their first coordinate and velocity, and how far they may turn about a unit axis.
    pub(crate) cones: Vec<(usize, usize, Cone)>,
    /// For each velocity the velocity before it on the way to the ground, or `usize::MAX`.
    pub(crate) before: Vec<usize>,
    /// For each velocity the contiguous runs of the velocities that move it, itself included, in rising order.
    pub(crate) runs: Vec<(usize, usize)>,
    pub(crate) run_of: Vec<(usize, usize)>,
}

impl Tree {
    /// The number of coordinates.
    pub fn coordinates(&self) -> usize {
        self.nq
    }
    /// The number of velocities.
    pub fn velocities(&self) -> usize {
        self.nv
    }
    /// The number of moving bodies.
    pub fn bodies(&self) -> usize {
        self.bodies.len()
    }
    /// The links in depth-first order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|l| l.name == name)
    }
    /// The joints, in the order of the links.
    pub fn joints(&self) -> &[JointInfo] {
        &self.joints
    }
    /// What acts on each velocity.
    pub fn freedoms(&self) -> &[Freedom] {
        &self.freedoms
    }
    /// The acceleration of free fall, in m/s².
    pub fn gravity(&self) -> Vec3<f64> {
        self.gravity.vec()
    }
    /// The same tree in another field of gravity.
    pub fn with_gravity(mut self, gravity: Vec3<f64>) -> Self {
        self.gravity = gravity.into();
        self
    }
    /// The mass of all moving bodies, in kg.
    pub fn total_mass(&self) -> f64 {
        self.bodies.iter().map(|b| b.mass).sum()
    }
    /// The moving body before a moving body; none stands on the ground.
    pub fn parent(&self, body: usize) -> Option<usize> {
        self.bodies[body].parent.checked_sub(1)
    }
    /// For each velocity the one before it on the way to the ground, or `usize::MAX`.
    pub fn velocity_parents(&self) -> &[usize] {
        &self.before
    }
    /// The runs of velocities that move velocity `k`.
    #[inline(always)]
    pub(crate) fn runs(&self, k: usize) -> &[(usize, usize)] {
        let (a, b) = self.run_of[k];
        &self.runs[a..b]
    }

    /// The size of each coordinate increment at a configuration: lengths for displacements, 1 for rotations.
    pub fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
        for b in &self.bodies {
            match b.motion {
                Motion::PrismaticX | Motion::PrismaticY | Motion::PrismaticZ | Motion::Prismatic => {
                    out[b.iv] = q[b.iq].abs();
                }
                Motion::Free => out[b.iv..b.iv + 3].fill(Vec3::from_slice(&q[b.iq..]).norm()),
                _ => {}
            }
        }
    }

    /// The configuration in which all displacements and rotations are zero.
    pub fn neutral(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.nq];
        for b in &self.bodies {
            match b.motion {
                Motion::Spherical => q[b.iq] = 1.0,
                Motion::Free => q[b.iq + 3] = 1.0,
                _ => {}
            }
        }
        q
    }

    /// Names of the coordinates: the joint, and for joints of several coordinates what each is.
    pub fn coordinate_names(&self) -> Vec<String> {
        let mut out = Vec::with_capacity(self.nq);
        for joint in &self.joints {
            let mut simple = 0;
            for b in
                self.bodies.iter().filter(|b| (joint.coordinate..joint.coordinate + joint.coordinates).contains(&b.iq))
            {
                match b.motion {
                    Motion::Spherical => out.extend(["qw", "qx", "qy", "qz"].map(|n| format!("{}.{n}", joint.name))),
                    Motion::Free => {
                        out.extend(["x", "y", "z", "qw", "qx", "qy", "qz"].map(|n| format!("{}.{n}", joint.name)))
                    }
                    _ if joint.coordinates == 1 => out.push(joint.name.clone()),
                    _ => {
                        simple += 1;
                        out.push(format!("{}.{simple}", joint.name));
                    }
                }
            }
        }
        out
    }

    /// Names of the velocities, in the same manner.
    pub fn velocity_names(&self) -> Vec<String> {
        let mut out = Vec::with_capacity(self.nv);
        for joint in &self.joints {
            let mut simple = 0;
            for b in self.bodies.iter().filter(|b| (joint.velocity..joint.velocity + joint.velocities).contains(&b.iv))
            {
                match b.motion {
                    Motion::Spherical => out.extend(["wx", "wy", "wz"].map(|n| format!("{}.{n}", joint.name))),
                    Motion::Free => {
                        out.extend(["vx", "vy", "vz", "wx", "wy", "wz"].map(|n| format!("{}.{n}", joint.name)))
                    }
                    _ if joint.velocities == 1 => out.push(joint.name.clone()),
                    _ => {
                        simple += 1;
                        out.push(format!("{}.{simple}", joint.name));
                    }
                }
            }
        }
        out
    }

    /// For each velocity whether it is a length per second; others are angles per second.
    pub fn slides(&self) -> Vec<bool> {
        let mut out = vec![false; self.nv];
        for b in &self.bodies {
            match b.motion {
                Motion::PrismaticX | Motion::PrismaticY | Motion::PrismaticZ | Motion::Prismatic => out[b.iv] = true,
                Motion::Free => out[b.iv..b.iv + 3].fill(true),
                _ => {}
            }
        }
        out
    }

    /// out = q ⊕ δ: angles and lengths are added, rotations follow by the exponential map, a free body is displaced along the
    /// axes of its link. Quaternions come out with unit length.
    pub fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        for b in &self.bodies {
            match b.motion {
                Motion::Spherical => turn(&q[b.iq..], &delta[b.iv..], &mut out[b.iq..]),
                Motion::Free => {
                    let matrix = Quat::from_slice(&q[b.iq + 3..]).matrix();
                    let moved = Vec3::from_slice(&q[b.iq..]) + matrix * Vec3::from_slice(&delta[b.iv..]);
                    moved.write(&mut out[b.iq..]);
                    turn(&q[b.iq + 3..], &delta[b.iv + 3..], &mut out[b.iq + 3..]);
                }
                _ => out[b.iq] = q[b.iq] + delta[b.iv],
            }
        }
    }

    /// The rate of δ for which q₀ ⊕ δ moves with velocity v.
    pub fn local_rate<R: Real>(&self, delta: &[R], v: &[R], out: &mut [R]) {
        for b in &self.bodies {
            let i = b.iv;
            match b.motion {
                Motion::Spherical => {
                    tangent_inverse(Vec3::from_slice(&delta[i..]), Vec3::from_slice(&v[i..])).write(&mut out[i..]);
                }
                Motion::Free => {
                    let angle = Vec3::from_slice(&delta[i + 3..]);
                    // p = p₀ + R₀ δ, so δ̇ = R₀ᵀ R v = exp(δ̂) v.
                    Quat::exp(angle).rotate(Vec3::from_slice(&v[i..])).write(&mut out[i..]);
                    tangent_inverse(angle, Vec3::from_slice(&v[i + 3..])).write(&mut out[i + 3..]);
                }
                _ => out[i] = v[i],
            }
        }
    }

    /// The velocity of q₀ ⊕ δ when δ moves at a rate: the inverse of [`Tree::local_rate`].
    pub fn local_velocity<R: Real>(&self, delta: &[R], rate: &[R], out: &mut [R]) {
        for b in &self.bodies {
            let i = b.iv;
            match b.motion {
                Motion::Spherical => {
                    tangent(Vec3::from_slice(&delta[i..]), Vec3::from_slice(&rate[i..])).write(&mut out[i..]);
                }
                Motion::Free => {
                    let angle = Vec3::from_slice(&delta[i + 3..]);
                    Quat::exp(-angle).rotate(Vec3::from_slice(&rate[i..])).write(&mut out[i..]);
                    tangent(angle, Vec3::from_slice(&rate[i + 3..])).write(&mut out[i + 3..]);
                }
                _ => out[i] = rate[i],
            }
        }
    }

    /// The rate of δ that moves q₀ ⊕ δ as a base moving by η would: (q₀ ⊕ εη) ⊕ δ = q₀ ⊕ (δ + ε · rate), to first order.
    pub fn local_shift<R: Real>(&self, delta: &[R], base: &[R], out: &mut [R]) {
        for b in &self.bodies {
            let i = b.iv;
            match b.motion {
                Motion::Spherical => {
                    tangent_inverse(-Vec3::from_slice(&delta[i..]), Vec3::from_slice(&base[i..])).write(&mut out[i..]);
                }
                Motion::Free => {
                    // p₀ + R₀(εη + exp(ε ω̂) δ): the lever δ turns with the base.
                    let (moved, turned) = (Vec3::from_slice(&base[i..]), Vec3::from_slice(&base[i + 3..]));
                    (moved + turned.cross(Vec3::from_slice(&delta[i..]))).write(&mut out[i..]);
                    tangent_inverse(-Vec3::from_slice(&delta[i + 3..]), turned).write(&mut out[i + 3..]);
                }
                _ => out[i] = base[i],
            }
        }
    }

    /// Whether every quaternion has unit length within `tolerance`; otherwise the name of the joint and the length.
    pub fn quaternion_defect(&self, q: &[f64], tolerance: f64) -> Option<(&str, f64)> {
        self.bodies.iter().find_map(|b| {
            let at = match b.motion {
                Motion::Spherical => b.iq,
                Motion::Free => b.iq + 3,
                _ => return None,
            };
            let length = q[at..at + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
            let joint = self.joints.iter().find(|j| (j.coordinate..j.coordinate + j.coordinates).contains(&b.iq))?;
            (length.is_nan() || (length - 1.0).abs() > tolerance).then_some((joint.name.as_str(), length))
        })
    }

    /// Mass matrix entries (i, j) that can differ from zero: j moves i or i moves j.
    pub fn couples(&self, i: usize, j: usize) -> bool {
        let (low, high) = (i.min(j), i.max(j));
        self.runs(high).iter().any(|&(a, b)| (a..b).contains(&low))
    }
}

fn turn<R: Real>(q: &[R], delta: &[R], out: &mut [R]) {
    let turned = Quat::from_slice(q) * Quat::exp(Vec3::from_slice(delta));
    out[..4].copy_from_slice(&turned.normalized().0);
}

/// The inertia about the origin of a frame, from properties about the centre.
pub(crate) fn about_origin(p: &MassProperties) -> (V3<f64>, Y3<f64>, Y3<f64>) {
    let (m, c) = (p.mass, p.centre);
    let i = |a: usize, b: usize| {
        let delta = if a == b { c.norm_squared() } else { 0.0 };
        0.5 * (p.inertia.0[a][b] + p.inertia.0[b][a]) + m * (delta - c[a] * c[b])
    };
    let y = Y3 { xx: i(0, 0), xy: i(0, 1), xz: i(0, 2), yy: i(1, 1), yz: i(1, 2), zz: i(2, 2) };
    let t = 0.5 * (y.xx + y.yy + y.zz);
    let pseudo = Y3 { xx: t - y.xx, xy: -y.xy, xz: -y.xz, yy: t - y.yy, yz: -y.yz, zz: t - y.zz };
    ((c * m).into(), y, pseudo)
}

/// Whether a matrix is the identity to the last bit.
pub(crate) fn is_identity(m: &Mat3<f64>) -> bool {
    *m == Mat3::identity()
}
