//! Drives, couplings of joints and tendons of a robot file as elements of a scene.

use crate::exit::Exit;
use dalembert::bodies::Tree;
use dalembert::constraints::{CableLength, Coupling, CouplingTerm};
use dalembert::forces::{Cable, JointTendon, LinearMotor, Motor, Pulley};
use dalembert::joints::{Axis, Coordinate};
use dalembert::model::{BodyId, Builder, Frame, Orientation, Point};
use dalembert_methods::lie::Quat;
use dalembert_robots::{Drive, DriveOn, Imported, Tendon, TendonPath};
use dalembert_trees::{JointKind, Pose};
use std::collections::HashSet;

/// Adds them to a scene whose body is the robot.
pub fn add(robot: &Imported, builder: &mut Builder, body: BodyId<Tree>) -> Result<(), Exit> {
    let mut maker = Maker { robot, builder, body, names: HashSet::new() };
    for drive in &robot.drives {
        maker.drive(drive)?;
    }
    for tendon in &robot.tendons {
        maker.tendon(tendon)?;
    }
    for coupling in &robot.couplings {
        let (mut terms, mut frames) = (Vec::new(), Vec::new());
        let name = maker.name(&coupling.name);
        for (k, (joint, coefficients)) in coupling.terms.iter().enumerate() {
            let (of, axis, two) = maker.joint(&format!("{name}_{k}"), joint)?;
            terms.push(CouplingTerm { of, axis, coefficients: coefficients.clone() });
            frames.extend(two);
        }
        maker.builder.constraint(&name, Coupling { terms, offset: coupling.offset }, frames);
    }
    Ok(())
}

fn missing(name: &str) -> Exit {
    Exit::Usage(format!("`{name}` names a joint or link that is not there"))
}

struct Maker<'a> {
    robot: &'a Imported,
    builder: &'a mut Builder,
    body: BodyId<Tree>,
    /// The names given so far: files have drives and tendons of the same name, scenes have not.
    names: HashSet<String>,
}

impl Maker<'_> {
    /// A name that a scene can have: other characters than letters, digits, `_` and `-` become `_`, and no two are the same.
    fn name(&mut self, name: &str) -> String {
        let plain: String = name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
        let next = (1..).map(|k| if k == 1 { plain.clone() } else { format!("{plain}_{k}") });
        let free = next.into_iter().find(|name| !self.names.contains(name)).unwrap_or(plain);
        self.names.insert(free.clone());
        free
    }

    /// A frame on a link, or on the ground, given in the frame of its joint.
    fn frame(&mut self, name: &str, link: Option<&str>, pose: &Pose) -> Result<Frame, Exit> {
        let turn = Orientation::Quaternion(Quat::from_matrix(pose.rotation).0);
        match link {
            Some(link) => {
                self.builder.link_frame(name, self.body, link, pose.position.0, turn).ok_or_else(|| missing(link))
            }
            None => Ok(self.builder.frame(name, self.builder.ground(), pose.position.0, turn)),
        }
    }

    /// The pose in the frame of the joint of a link, from one in the frame of the link; see `TreeSettings::of_links`.
    fn seen(&self, link: Option<&str>, pose: &Pose) -> Pose {
        let spec = link.and_then(|link| self.robot.builder.links().iter().find(|l| l.name == link));
        spec.map_or(*pose, |spec| spec.offset.then(pose))
    }

    /// The freedom of a joint, and the frames before and after it.
    fn joint(&mut self, name: &str, joint: &str) -> Result<(Coordinate, Axis, [Frame; 2]), Exit> {
        let links = self.robot.builder.links();
        let link = links.iter().find(|l| l.joint.name == joint).ok_or_else(|| missing(joint))?;
        let (of, axis) = match link.joint.kind {
            JointKind::Revolute { axis } => (Coordinate::Angle, axis),
            JointKind::Prismatic { axis } => (Coordinate::Travel, axis),
            _ => return Err(missing(joint)),
        };
        let before = self.seen(link.parent.as_deref(), &link.joint.placement);
        let stator = self.frame(&format!("{name}_stator"), link.parent.as_deref(), &before)?;
        let rotor = self.frame(&format!("{name}_rotor"), Some(&link.name), &Pose::default())?;
        Ok((of, axis.0.into(), [stator, rotor]))
    }

    /// The frames of joints that a tendon runs over, or the points that it runs through.
    fn path(&mut self, name: &str, path: &TendonPath) -> Result<Way, Exit> {
        match path {
            TendonPath::Joints(joints) => {
                let (mut pulleys, mut frames) = (Vec::new(), Vec::new());
                for (k, (joint, coefficient)) in joints.iter().enumerate() {
                    let (of, axis, two) = self.joint(&format!("{name}_{k}"), joint)?;
                    pulleys.push(Pulley { of, axis, coefficient: *coefficient });
                    frames.extend(two);
                }
                Ok(Way::Joints(pulleys, frames))
            }
            TendonPath::Points(points) => {
                let mut found = Vec::new();
                for (k, (link, at)) in points.iter().enumerate() {
                    let pose = self.seen(link.as_deref(), &Pose { position: *at, ..Pose::default() });
                    found.push(self.frame(&format!("{name}_{k}"), link.as_deref(), &pose)?.into());
                }
                Ok(Way::Points(found))
            }
        }
    }

    fn tendon(&mut self, tendon: &Tendon) -> Result<(), Exit> {
        let Tendon { name, stiffness, damping, rest, kept, .. } = tendon;
        if *stiffness > 0.0 || *damping > 0.0 {
            let name = self.name(name);
            let way = self.path(&name, &tendon.path)?;
            self.pull(&name, way, (*stiffness, *damping, *rest, None));
        }
        if let Some(length) = kept {
            let name = self.name(name);
            if let Way::Points(points) = self.path(&name, &tendon.path)? {
                self.builder.constraint(&name, CableLength { length: Some(*length) }, points);
            }
        }
        Ok(())
    }

    /// What pulls along a tendon: stiffness, damping, lengths of rest and limits of the tension.
    fn pull(
        &mut self,
        name: &str,
        way: Way,
        (stiffness, damping, rest, limits): (f64, f64, [f64; 2], Option<[f64; 2]>),
    ) {
        let pull = 0.0.into();
        match way {
            Way::Joints(pulleys, frames) => {
                let tendon = JointTendon { pulleys, stiffness, damping, rest, pull, limits };
                self.builder.force(name, tendon, frames);
            }
            Way::Points(points) => {
                self.builder.force(name, Cable { stiffness, damping, rest, pull, limits }, points);
            }
        }
    }

    fn drive(&mut self, drive: &Drive) -> Result<(), Exit> {
        let &Drive { ref on, stiffness, damping, limits, .. } = drive;
        let name = self.name(&drive.name);
        let joint = match on {
            DriveOn::Joint(joint) => joint,
            DriveOn::Tendon(tendon) => {
                let found = self.robot.tendons.iter().find(|t| t.name == *tendon).ok_or_else(|| missing(tendon))?;
                let way = self.path(&name, &found.path)?;
                // A drive lengthens, a tension shortens.
                let limits = limits.map(|[low, high]| [-high, -low]);
                self.pull(&name, way, (stiffness, damping, [0.0; 2], limits));
                return Ok(());
            }
        };
        let (of, axis, two) = self.joint(&name, joint)?;
        match of {
            Coordinate::Angle => {
                let even = limits.filter(|[low, high]| low + high == 0.0).map(|[_, high]| high);
                let limits = limits.filter(|_| even.is_none());
                let (torque, angle) = (0.0.into(), 0.0.into());
                self.builder.force(&name, Motor { axis, torque, angle, stiffness, damping, limit: even, limits }, two);
            }
            Coordinate::Travel => {
                let (force, travel) = (0.0.into(), 0.0.into());
                self.builder.force(&name, LinearMotor { axis, force, travel, stiffness, damping, limits }, two);
            }
        }
        Ok(())
    }
}

/// Where a tendon runs, as markers.
enum Way {
    Joints(Vec<Pulley>, Vec<Frame>),
    Points(Vec<Point>),
}
