//! Writer of URDF.
//!
//! Link frames of URDF are joint frames: a link whose own frame is shifted against its joint is written in the frame of the joint,
//! which changes names of frames but no motion.

use dalembert_methods::vector::Mat3;
use dalembert_trees::{JointKind, MassProperties, Pose, Tree};
use std::fmt::{self, Write};

/// URDF has no word for a joint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteError {
    /// The joint.
    pub joint: String,
    /// What it is.
    pub kind: &'static str,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "joint `{}`: URDF has no {} joints", self.joint, self.kind)
    }
}

impl std::error::Error for WriteError {}

/// The tree as URDF text.
pub fn write_urdf(tree: &Tree, name: &str) -> Result<String, WriteError> {
    let mut out = format!("<?xml version=\"1.0\"?>\n<robot name=\"{}\">\n", escape(name));
    let mut offsets = Vec::with_capacity(tree.links().len());
    let world = tree.links().iter().any(|l| l.parent.is_none() && tree.joints()[l.joint].spec.kind != JointKind::Fixed)
        || tree.links().iter().filter(|l| l.parent.is_none()).count() > 1;
    if world {
        let _ = writeln!(out, "  <link name=\"world\"/>");
    }
    for link in tree.links() {
        let joint = &tree.joints()[link.joint];
        let fixed = joint.velocities == 0;
        // The link frame in the frame written for the link: that of its joint.
        let placement = joint.spec.placement;
        let before: Pose = link.parent.map_or_else(Pose::default, |p| offsets[p]);
        let offset = if fixed { own_offset(tree, link.parent, &placement, &link.pose) } else { link.pose };
        offsets.push(offset);
        let _ = writeln!(out, "  <link name=\"{}\">", escape(&link.name));
        inertial(&mut out, &link.mass.seen_from(&offset));
        let _ = writeln!(out, "  </link>");
        let parent = link.parent.map(|p| tree.links()[p].name.as_str());
        let Some(parent) = parent.or(world.then_some("world")) else { continue };
        let (word, axis) = match &joint.spec.kind {
            JointKind::Fixed => ("fixed", None),
            JointKind::Revolute { axis } => {
                let f = &tree.freedoms()[joint.velocity];
                (if f.lower.is_finite() && f.upper.is_finite() { "revolute" } else { "continuous" }, Some(*axis))
            }
            JointKind::Prismatic { axis } => ("prismatic", Some(*axis)),
            JointKind::Planar { normal } => ("planar", Some(*normal)),
            JointKind::Free => ("floating", None),
            other => return Err(WriteError { joint: joint.name.clone(), kind: word(other) }),
        };
        let _ = writeln!(out, "  <joint name=\"{}\" type=\"{word}\">", escape(&joint.name));
        let _ =
            writeln!(out, "    <parent link=\"{}\"/>\n    <child link=\"{}\"/>", escape(parent), escape(&link.name));
        let _ = writeln!(out, "    {}", origin(&before.then(&placement)));
        if let Some(axis) = axis {
            let _ = writeln!(out, "    <axis xyz=\"{:?} {:?} {:?}\"/>", axis[0], axis[1], axis[2]);
        }
        if joint.velocities == 1 {
            let f = &tree.freedoms()[joint.velocity];
            let big = |x: f64| x.clamp(-1e9, 1e9);
            let _ = writeln!(
                out,
                "    <limit lower=\"{:?}\" upper=\"{:?}\" effort=\"{:?}\" velocity=\"{:?}\"/>",
                big(f.lower),
                big(f.upper),
                big(f.effort),
                big(f.speed)
            );
            if f.damping != 0.0 || f.friction != 0.0 {
                let _ = writeln!(out, "    <dynamics damping=\"{:?}\" friction=\"{:?}\"/>", f.damping, f.friction);
            }
        }
        let _ = writeln!(out, "  </joint>");
    }
    out.push_str("</robot>\n");
    Ok(out)
}

/// The link frame of a fixed link in the frame of its joint.
fn own_offset(tree: &Tree, parent: Option<usize>, placement: &Pose, pose: &Pose) -> Pose {
    let carrier = parent.map_or_else(Pose::default, |p| tree.links()[p].pose);
    carrier.then(placement).inverse().then(pose)
}

fn word(kind: &JointKind) -> &'static str {
    match kind {
        JointKind::Helical { .. } => "helical",
        JointKind::Cylindrical { .. } => "cylindrical",
        JointKind::Universal { .. } => "universal",
        JointKind::Spherical => "spherical",
        JointKind::Combined(_) => "combined",
        _ => "such",
    }
}

fn inertial(out: &mut String, mass: &MassProperties) {
    if mass.mass == 0.0 && mass.inertia == Mat3::zero() {
        return;
    }
    let (c, i) = (mass.centre, mass.inertia.0);
    let _ = writeln!(out, "    <inertial>");
    let _ = writeln!(out, "      <origin xyz=\"{:?} {:?} {:?}\" rpy=\"0 0 0\"/>", c[0], c[1], c[2]);
    let _ = writeln!(out, "      <mass value=\"{:?}\"/>", mass.mass);
    let _ = writeln!(
        out,
        "      <inertia ixx=\"{:?}\" ixy=\"{:?}\" ixz=\"{:?}\" iyy=\"{:?}\" iyz=\"{:?}\" izz=\"{:?}\"/>",
        i[0][0], i[0][1], i[0][2], i[1][1], i[1][2], i[2][2]
    );
    let _ = writeln!(out, "    </inertial>");
}

fn origin(pose: &Pose) -> String {
    let (r, p) = (pose.rotation.0, pose.position);
    // Roll, pitch, yaw of R = Rz Ry Rx; at the poles the yaw is chosen zero.
    let cosine = r[0][0].hypot(r[1][0]);
    let pitch = (-r[2][0]).atan2(cosine);
    let (roll, yaw) = if cosine > 1e-12 {
        (r[2][1].atan2(r[2][2]), r[1][0].atan2(r[0][0]))
    } else {
        ((-r[1][2]).atan2(r[1][1]), 0.0)
    };
    format!("<origin xyz=\"{:?} {:?} {:?}\" rpy=\"{roll:?} {pitch:?} {yaw:?}\"/>", p[0], p[1], p[2])
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
