//! What a user says about links and joints.

use dalembert_methods::lie::Quat;
use dalembert_methods::vector::{Mat3, Vec3};

/// A frame in a frame: x_outer = rotation · x_inner + position.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Pose {
    /// The axes of the inner frame as columns.
    pub rotation: Mat3<f64>,
    /// The origin of the inner frame, in m.
    pub position: Vec3<f64>,
}

impl Default for Pose {
    fn default() -> Self {
        Self { rotation: Mat3::identity(), position: Vec3::zero() }
    }
}

impl Pose {
    /// A displacement without rotation.
    pub fn at(x: f64, y: f64, z: f64) -> Self {
        Self { rotation: Mat3::identity(), position: Vec3([x, y, z]) }
    }

    /// The frame of a quaternion (scalar first, of any length but zero) and a position.
    pub fn of_quaternion(quaternion: [f64; 4], position: [f64; 3]) -> Self {
        Self { rotation: Quat(quaternion).normalized().matrix(), position: Vec3(position) }
    }

    /// The frame turned by roll, pitch and yaw about the fixed axes x, y, z in this order: R = Rz Ry Rx.
    pub fn of_roll_pitch_yaw(rpy: [f64; 3], position: [f64; 3]) -> Self {
        let ((sr, cr), (sp, cp), (sy, cy)) = (rpy[0].sin_cos(), rpy[1].sin_cos(), rpy[2].sin_cos());
        let rotation = Mat3([
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]);
        Self { rotation, position: Vec3(position) }
    }

    /// The frame `inner`, given in this one, in the outer frame.
    pub fn then(&self, inner: &Pose) -> Pose {
        Pose { rotation: self.rotation * inner.rotation, position: self.rotation * inner.position + self.position }
    }

    /// The outer frame in the inner one.
    pub fn inverse(&self) -> Pose {
        Pose { rotation: self.rotation.transposed(), position: -self.rotation.transpose_mul(self.position) }
    }
}

/// Mass, centre of mass and inertia of a link.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct MassProperties {
    /// Mass in kg; zero for frames that carry nothing.
    pub mass: f64,
    /// Centre of mass in the link frame, in m.
    pub centre: Vec3<f64>,
    /// Inertia about the centre of mass in the axes of the link frame, in kg m².
    pub inertia: Mat3<f64>,
}

impl MassProperties {
    /// A link of this mass, centre and principal moments along the axes of the link.
    pub fn principal(mass: f64, centre: [f64; 3], moments: [f64; 3]) -> Self {
        Self { mass, centre: Vec3(centre), inertia: Mat3::diagonal(moments) }
    }

    /// The same body seen from a frame in which the present one stands at `pose`.
    pub fn seen_from(&self, pose: &Pose) -> Self {
        let turned = pose.rotation * self.inertia * pose.rotation.transposed();
        Self { mass: self.mass, centre: pose.rotation * self.centre + pose.position, inertia: turned }
    }

    /// Two bodies given in the same frame, welded together.
    pub fn joined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return Self { mass, centre: self.centre, inertia: self.inertia + other.inertia };
        }
        let centre = (self.centre * self.mass + other.centre * other.mass) * (1.0 / mass);
        let mut inertia = self.inertia + other.inertia;
        for part in [self, other] {
            let arm = part.centre - centre;
            let square = arm.norm_squared();
            for i in 0..3 {
                for j in 0..3 {
                    let delta = if i == j { square } else { 0.0 };
                    inertia.0[i][j] += part.mass * (delta - arm[i] * arm[j]);
                }
            }
        }
        Self { mass, centre, inertia }
    }
}

/// The ways in which a joint lets its link move.
#[derive(Clone, Debug, PartialEq)]
pub enum JointKind {
    /// Not at all.
    Fixed,
    /// A rotation about an axis; one angle in rad.
    Revolute {
        /// The axis in the joint frame.
        axis: Vec3<f64>,
    },
    /// A displacement along an axis; one length in m.
    Prismatic {
        /// The axis in the joint frame.
        axis: Vec3<f64>,
    },
    /// A screw: a rotation about an axis with a proportional displacement along it; one angle in rad.
    Helical {
        /// The axis in the joint frame.
        axis: Vec3<f64>,
        /// The displacement per angle, in m/rad.
        pitch: f64,
    },
    /// A displacement along and a rotation about the same axis, independent of each other.
    Cylindrical {
        /// The axis in the joint frame.
        axis: Vec3<f64>,
    },
    /// Two displacements in a plane and a rotation about its normal. The displacements are along the axes of the joint frame
    /// that follow the normal (y, z for a normal along x), or along two perpendiculars.
    Planar {
        /// The normal in the joint frame.
        normal: Vec3<f64>,
    },
    /// Two rotations, the second about an axis carried by the first.
    Universal {
        /// The first axis in the joint frame.
        first: Vec3<f64>,
        /// The second axis in the frame turned by the first rotation.
        second: Vec3<f64>,
    },
    /// Any rotation; four numbers of a unit quaternion, scalar first.
    Spherical,
    /// Any motion: position in the joint frame, and a unit quaternion, scalar first.
    Free,
    /// Several joints one after the other, without mass between them.
    Combined(Vec<JointKind>),
}

impl JointKind {
    /// The number of coordinates.
    pub fn coordinates(&self) -> usize {
        crate::build::count(self).0
    }

    /// The number of velocities.
    pub fn velocities(&self) -> usize {
        crate::build::count(self).1
    }

    /// The joints of one freedom, spherical and free ones that it is a row of, in order.
    pub fn simple(&self) -> Vec<JointKind> {
        match self {
            Self::Fixed => Vec::new(),
            Self::Cylindrical { axis } => vec![Self::Prismatic { axis: *axis }, Self::Revolute { axis: *axis }],
            Self::Planar { normal } => {
                let (first, second) = crate::build::in_plane(normal.normalized());
                vec![
                    Self::Prismatic { axis: first },
                    Self::Prismatic { axis: second },
                    Self::Revolute { axis: *normal },
                ]
            }
            Self::Universal { first, second } => {
                vec![Self::Revolute { axis: *first }, Self::Revolute { axis: *second }]
            }
            Self::Combined(parts) => parts.iter().flat_map(Self::simple).collect(),
            other => vec![other.clone()],
        }
    }
}

/// What acts on one velocity of a joint.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Freedom {
    /// Reflected inertia of a drive, in kg m² or kg.
    pub armature: f64,
    /// Viscous friction, in N m s/rad or N s/m.
    pub damping: f64,
    /// Dry friction, in N m or N.
    pub friction: f64,
    /// Stiffness of a spring in the joint, in N m/rad or N/m.
    pub stiffness: f64,
    /// The value at which this spring is relaxed, in rad or m.
    pub rest: f64,
    /// The lower end of the range, in rad or m.
    pub lower: f64,
    /// The upper end of the range, in rad or m.
    pub upper: f64,
    /// The largest force of a drive, in N m or N.
    pub effort: f64,
    /// The largest velocity, in rad/s or m/s.
    pub speed: f64,
}

impl Default for Freedom {
    fn default() -> Self {
        Self {
            armature: 0.0,
            damping: 0.0,
            friction: 0.0,
            stiffness: 0.0,
            rest: 0.0,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            effort: f64::INFINITY,
            speed: f64::INFINITY,
        }
    }
}

/// How far a spherical joint may turn: an axis of the link may lean from the same axis of the joint frame, and the link may turn about it.
///
/// A rotation is a twist about the axis followed by a swing that carries the axis along the shortest way.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Cone {
    /// The axis, in the joint frame and in the link frame.
    pub axis: Vec3<f64>,
    /// The largest angle of the axis from where it is without rotation, in rad, between 0 and π; infinite without a limit.
    pub swing: f64,
    /// The smallest and largest twist, in rad, between −π and π; infinite without a limit.
    pub twist: [f64; 2],
}

/// A joint: where it stands and how it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSpec {
    /// Its name.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// The joint frame in the frame of the parent link, or in the world frame.
    pub placement: Pose,
    /// What acts on its velocities, in order; missing ones have nothing.
    pub freedoms: Vec<Freedom>,
    /// How far a spherical joint may turn, if not all the way.
    pub cone: Option<Cone>,
}

impl JointSpec {
    /// A joint without drives, friction or limits.
    pub fn new(name: impl Into<String>, kind: JointKind, placement: Pose) -> Self {
        Self { name: name.into(), kind, placement, freedoms: Vec::new(), cone: None }
    }

    /// The same joint with these properties of its velocities.
    pub fn with(mut self, freedoms: Vec<Freedom>) -> Self {
        self.freedoms = freedoms;
        self
    }

    /// The same joint within a cone.
    pub fn within(mut self, cone: Option<Cone>) -> Self {
        self.cone = cone;
        self
    }
}
