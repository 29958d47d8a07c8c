//! The keys of a tree in a scene: links, joints, chains of equal links.

use super::Inertia;
use crate::model::Orientation;
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::Vec3;
use dalembert_trees::{Cone, JointKind, LinkSpec, passive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The keys of a tree in a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeSettings {
    /// The links, in any order.
    pub links: Vec<TreeLink>,
    /// Velocity below which dry friction of joints fades, in rad/s or m/s. Without it friction is as it is: joints stick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slip: Option<f64>,
    /// Stiffness of the stops at the ends of ranges, in N m/rad or N/m.
    #[serde(default = "default_stop_stiffness")]
    pub stop_stiffness: f64,
    /// Damping of the stops, in N m s/rad or N s/m.
    #[serde(default = "default_stop_damping")]
    pub stop_damping: f64,
    /// Coefficient of restitution of the stops between 0 and 1. With it they are contacts, which close, open and collide at located instants, and
    /// `stop_stiffness` and `stop_damping` do not count.
    #[schemars(extend("unit" = "1"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_restitution: Option<f64>,
}

pub(super) fn default_stop_stiffness() -> f64 {
    passive::Smoothing::default().stop_stiffness
}
pub(super) fn default_stop_damping() -> f64 {
    passive::Smoothing::default().stop_damping
}

/// A link of a tree with the joint before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeLink {
    /// Its name.
    pub name: String,
    /// The link before; none if it hangs on the ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// How the joint before it moves.
    pub joint: TreeJoint,
    /// Position of the joint frame in the frame of the parent (or the world).
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub position: [f64; 3],
    /// Orientation of the joint frame in the frame of the parent (or the world).
    #[serde(default)]
    pub orientation: Orientation,
    /// Mass; zero for links that only carry others.
    #[schemars(extend("unit" = "kg"))]
    #[serde(default)]
    pub mass: f64,
    /// Centre of mass in the link frame, which is the joint frame moved by the joint.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub centre: [f64; 3],
    /// Inertia about the centre of mass: [Jxx, Jyy, Jzz] or [Jxx, Jyy, Jzz, Jxy, Jxz, Jyz].
    #[schemars(extend("unit" = "kg m²"))]
    #[serde(default = "no_inertia")]
    pub inertia: Inertia,
    /// Initial coordinates of the joint; zero displacement and no rotation if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coordinates: Vec<f64>,
    /// Initial velocities of the joint; zero if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub velocities: Vec<f64>,
    /// Reflected inertia of a drive on every freedom, in kg m² or kg.
    #[serde(default)]
    pub armature: f64,
    /// Viscous friction of every freedom, in N m s/rad or N s/m.
    #[serde(default)]
    pub damping: f64,
    /// Dry friction of every freedom, in N m or N.
    #[serde(default)]
    pub friction: f64,
    /// Stiffness of a spring on every freedom, in N m/rad or N/m.
    #[serde(default)]
    pub stiffness: f64,
    /// Coordinate at which this spring is relaxed, in rad or m.
    #[serde(default)]
    pub rest: f64,
    /// Range of the coordinate between stops, in rad or m; without it there are no stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// A latch on one end of the range, which holds the joint there once it has come to it; needs `stop_restitution`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latch: Option<TreeLatch>,
    /// How far a spherical joint may turn; all the way without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cone: Option<TreeCone>,
    /// Makes a chain of such links, named with a number from 1 on at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<TreeRepeat>,
}

/// A latch of a joint: at its end of the range the joint is held, whatever pulls at it, until one of some contacts is hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeLatch {
    /// The end that is held.
    pub end: TreeEnd,
    /// The contacts whose impacts release it, by name, such as `floor.left_foot`.
    pub release: Vec<String>,
    /// Whether it holds at the beginning, if the joint is at this end.
    #[serde(default)]
    pub holds: bool,
}

/// An end of the range of a joint.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TreeEnd {
    /// The lower end.
    Lower,
    /// The upper end.
    Upper,
}

/// Stops of a spherical joint: how far an axis may lean from where it is without rotation, and how far the link may turn about it.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeCone {
    /// The axis, in the joint frame and in the link frame.
    pub axis: [f64; 3],
    /// The largest angle of the axis, half the opening of the cone; no limit without it.
    #[schemars(extend("unit" = "rad"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swing: Option<f64>,
    /// The range of the angle about the axis; no limit without it.
    #[schemars(extend("unit" = "rad"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twist: Option<[f64; 2]>,
}

impl From<&TreeCone> for Cone {
    fn from(cone: &TreeCone) -> Self {
        Self {
            axis: Vec3(cone.axis),
            swing: cone.swing.unwrap_or(f64::INFINITY),
            twist: cone.twist.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
        }
    }
}

/// A chain of equal links, each hanging on the one before.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeRepeat {
    /// How many links.
    pub count: usize,
    /// Position of the joint of each further link in the frame of the one before.
    #[schemars(extend("unit" = "m"))]
    pub position: [f64; 3],
}

impl TreeLink {
    /// The link, or the links of a chain; only the first has initial values and an orientation of its own.
    pub(super) fn links(&self) -> Vec<Self> {
        let Some(repeat) = self.repeat else { return vec![self.clone()] };
        let name = |i: usize| format!("{}{i}", self.name);
        (1..=repeat.count)
            .map(|i| {
                let mut link = Self { name: name(i), repeat: None, ..self.clone() };
                if i > 1 {
                    link.parent = Some(name(i - 1));
                    link.position = repeat.position;
                    link.orientation = Orientation::default();
                    link.coordinates = Vec::new();
                    link.velocities = Vec::new();
                }
                link
            })
            .collect()
    }
}

fn no_inertia() -> Inertia {
    Inertia::principal([0.0; 3])
}

/// The ways in which a joint of a tree moves; axes are in the joint frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TreeJoint {
    /// Not at all.
    Fixed,
    /// Turns about an axis.
    Revolute {
        /// The axis.
        axis: [f64; 3],
    },
    /// Slides along an axis.
    Prismatic {
        /// The axis.
        axis: [f64; 3],
    },
    /// Turns about an axis and slides along it in proportion.
    Helical {
        /// The axis.
        axis: [f64; 3],
        /// Displacement per angle, in m/rad.
        pitch: f64,
    },
    /// Slides along and turns about an axis.
    Cylindrical {
        /// The axis.
        axis: [f64; 3],
    },
    /// Slides in a plane and turns about its normal.
    Planar {
        /// The normal.
        normal: [f64; 3],
    },
    /// Turns about two axes, the second carried by the first.
    Universal {
        /// The first axis.
        first: [f64; 3],
        /// The second axis.
        second: [f64; 3],
    },
    /// Turns in any way; coordinates are a unit quaternion, scalar first.
    Spherical,
    /// Moves in any way; coordinates are a position and a unit quaternion, scalar first, velocities are in the axes of the link.
    Free,
    /// Several joints one after the other.
    Combined {
        /// The joints.
        joints: Vec<TreeJoint>,
    },
}

impl From<&JointKind> for TreeJoint {
    fn from(kind: &JointKind) -> Self {
        match kind {
            JointKind::Fixed => Self::Fixed,
            JointKind::Revolute { axis } => Self::Revolute { axis: axis.0 },
            JointKind::Prismatic { axis } => Self::Prismatic { axis: axis.0 },
            JointKind::Helical { axis, pitch } => Self::Helical { axis: axis.0, pitch: *pitch },
            JointKind::Cylindrical { axis } => Self::Cylindrical { axis: axis.0 },
            JointKind::Planar { normal } => Self::Planar { normal: normal.0 },
            JointKind::Universal { first, second } => Self::Universal { first: first.0, second: second.0 },
            JointKind::Spherical => Self::Spherical,
            JointKind::Free => Self::Free,
            JointKind::Combined(parts) => Self::Combined { joints: parts.iter().map(Into::into).collect() },
        }
    }
}

impl TreeSettings {
    /// The keys of a tree that was built by other means, started at the coordinates `q`.
    ///
    /// Link frames of scenes are joint frames: a link whose own frame is shifted against its joint is written in the frame of the
    /// joint. Joints take the names of their links; of several freedoms of a joint the first says armature, friction and springs.
    pub fn of_links(links: &[LinkSpec], tree: &dalembert_trees::Tree, q: &[f64]) -> Self {
        let offset_of = |name: &str| links.iter().find(|l| l.name == name).map(|l| l.offset).unwrap_or_default();
        let link = |spec: &LinkSpec| {
            let before = spec.parent.as_deref().map(offset_of).unwrap_or_default();
            let placement = before.then(&spec.joint.placement);
            let mass = spec.mass.seen_from(&spec.offset);
            let freedom = spec.joint.freedoms.first().copied().unwrap_or_default();
            let joint = tree.joints().iter().find(|j| j.name == spec.joint.name);
            let moving = spec.joint.kind.velocities() > 0;
            TreeLink {
                name: spec.name.clone(),
                parent: spec.parent.clone(),
                joint: (&spec.joint.kind).into(),
                position: placement.position.0,
                orientation: Orientation::Quaternion(Quat::from_matrix(placement.rotation).0),
                mass: mass.mass,
                centre: mass.centre.0,
                inertia: Inertia { matrix: mass.inertia },
                coordinates: joint
                    .filter(|_| moving)
                    .map(|j| q[j.coordinate..j.coordinate + j.coordinates].to_vec())
                    .unwrap_or_default(),
                velocities: Vec::new(),
                armature: freedom.armature,
                damping: freedom.damping,
                friction: freedom.friction,
                stiffness: freedom.stiffness,
                rest: freedom.rest,
                cone: spec.joint.cone.map(|cone| TreeCone {
                    axis: cone.axis.0,
                    swing: cone.swing.is_finite().then_some(cone.swing),
                    twist: cone.twist.iter().all(|x| x.is_finite()).then_some(cone.twist),
                }),
                repeat: None,
                latch: None,
                range: (freedom.lower.is_finite() && freedom.upper.is_finite())
                    .then_some([freedom.lower, freedom.upper]),
            }
        };
        Self {
            links: links.iter().map(link).collect(),
            slip: None,
            stop_stiffness: default_stop_stiffness(),
            stop_damping: default_stop_damping(),
            stop_restitution: None,
        }
    }
}

impl From<&TreeJoint> for JointKind {
    fn from(joint: &TreeJoint) -> Self {
        match joint {
            TreeJoint::Fixed => Self::Fixed,
            TreeJoint::Revolute { axis } => Self::Revolute { axis: Vec3(*axis) },
            TreeJoint::Prismatic { axis } => Self::Prismatic { axis: Vec3(*axis) },
            TreeJoint::Helical { axis, pitch } => Self::Helical { axis: Vec3(*axis), pitch: *pitch },
            TreeJoint::Cylindrical { axis } => Self::Cylindrical { axis: Vec3(*axis) },
            TreeJoint::Planar { normal } => Self::Planar { normal: Vec3(*normal) },
            TreeJoint::Universal { first, second } => Self::Universal { first: Vec3(*first), second: Vec3(*second) },
            TreeJoint::Spherical => Self::Spherical,
            TreeJoint::Free => Self::Free,
            TreeJoint::Combined { joints } => Self::Combined(joints.iter().map(Into::into).collect()),
        }
    }
}
