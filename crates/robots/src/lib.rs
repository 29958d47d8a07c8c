//! Robot files: readers of URDF, MJCF and SDF, a writer of URDF, numbers for tables of states, and equations to be read.
//!
//! A reader takes text and gives an [`Imported`] tree. Everything in a file that has no counterpart is listed in
//! [`Imported::left_out`] with its line and column; nothing is dropped in silence. What is wrong is a [`ReadError`] with its place.
//! Visual shapes are read, mesh files are only named ([`Visual`]); entities and document types of XML are refused.

mod couplings;
pub mod equations;
pub mod evaluate;
mod mjcf;
mod mjcf_actuator;
mod mjcf_defaults;
mod mjcf_equality;
mod mjcf_shapes;
mod mjcf_tendon;
mod sdf;
pub mod studies;
mod units;
mod urdf;
mod urdf_write;
mod visuals;
mod xml;

pub use couplings::{JointCoupling, Tendon, TendonPath};
pub use mjcf::read_mjcf;
pub use sdf::read_sdf;
pub use urdf::read_urdf;
pub use urdf_write::{WriteError, write_urdf};
pub use visuals::{Visual, VisualForm};
pub use xml::{Place, ReadError};

use dalembert_methods::vector::Vec3;
use dalembert_trees::{Pose, Tree, TreeBuilder};

/// How the first link of a robot stands in the world, where the file leaves it open.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// It is fixed, as for an arm on a bench.
    #[default]
    Fixed,
    /// It is free, as for a walking robot.
    Free,
}

/// The formats that can be read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// Unified robot description format.
    Urdf,
    /// The format of MuJoCo.
    Mjcf,
    /// Simulation description format.
    Sdf,
}

/// Something of a file that was not taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub what: String,
}

/// What a joint that closes a loop holds.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum ClosureKind {
    /// Two points coincide.
    Ball,
    /// Two frames coincide.
    Weld,
    /// Two frames share a point and this axis.
    Hinge {
        /// The axis, in both frames.
        axis: Vec3<f64>,
    },
}

/// A joint beside the tree, which closes a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Closure {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ClosureKind,
    /// The link (the world if none) of each end, and the frame of the joint in the frame of that link.
    pub ends: [(Option<String>, Pose); 2],
}

/// What a drive acts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriveOn {
    /// The angle of a hinge, with a torque in N m, or the travel of a slide, with a force in N.
    Joint(String),
    /// The length of a tendon, with a force in N that lengthens it.
    Tendon(String),
}

/// A drive: a force within limits, and perhaps a servo that holds its coordinate at zero. Units are those of what it acts on.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// Its name.
    pub name: String,
    /// What it acts on.
    pub on: DriveOn,
    /// Force of the servo per angle, travel or length.
    pub stiffness: f64,
    /// Force of the servo against the speed.
    pub damping: f64,
    /// The smallest and the largest force; none if the file has none.
    pub limits: Option<[f64; 2]>,
}

/// A robot as read from a file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The name of the robot.
    pub name: String,
    /// The tree.
    pub tree: Tree,
    /// The links and joints it was built from.
    pub builder: TreeBuilder,
    /// The configuration that the file starts from.
    pub initial: Vec<f64>,
    /// Joints beside the tree: equalities of MJCF, joints of SDF that close loops.
    pub closures: Vec<Closure>,
    /// What links look like.
    pub visuals: Vec<Visual>,
    /// Drives: actuators of MJCF.
    pub drives: Vec<Drive>,
    /// Couplings of joints; the initial configuration obeys those that are linear in their first joint.
    pub couplings: Vec<JointCoupling>,
    /// Tendons of MJCF.
    pub tendons: Vec<Tendon>,
    /// What was not taken over.
    pub left_out: Vec<LeftOut>,
}

/// The format of a text, from its first element.
pub fn format_of(text: &str) -> Result<Format, ReadError> {
    let document = xml::parse(text)?;
    let root = document.root_element();
    match root.tag_name().name() {
        "robot" => Ok(Format::Urdf),
        "mujoco" => Ok(Format::Mjcf),
        "sdf" => Ok(Format::Sdf),
        other => Err(ReadError::at(
            &root,
            format!("`<{other}>` begins no robot file; expected `<robot>` (URDF), `<mujoco>` (MJCF) or `<sdf>`"),
        )),
    }
}

/// Reads a robot in any of the formats.
pub fn read(text: &str, base: Base) -> Result<Imported, ReadError> {
    match format_of(text)? {
        Format::Urdf => read_urdf(text, base),
        Format::Mjcf => read_mjcf(text),
        Format::Sdf => read_sdf(text, base),
    }
}

/// Whatever bytes a file holds, reading it ends with a robot or an error, and the robot can be written again or says why not: for
/// fuzzing.
///
/// # Panics
///
/// If a robot was read that does not fit its own coordinates.
pub fn fuzz_one(bytes: &[u8], read: impl Fn(&str, Base) -> Result<Imported, ReadError>) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for base in [Base::Fixed, Base::Free] {
        if let Ok(robot) = read(text, base) {
            assert_eq!(robot.initial.len(), robot.tree.coordinates());
            let _ = write_urdf(&robot.tree, &robot.name);
        }
    }
}
