//! Reader of MJCF, the format of MuJoCo.
//!
//! Bodies with their inertias (given, or from shapes) and their shapes to look at, hinge, slide, ball and free joints with armature,
//! damping, friction, springs and ranges, default classes, gravity, equalities that close loops or couple joints, tendons, and actuators of hinges,
//! slides and tendons. Other equalities and actuators, sensors, contacts and everything else without a counterpart in a tree is listed.
//!
//! Departures: ranges become stops (see `dalembert_trees::passive`). Several joints of a body become
//! links without mass named `body/joint`. The linear velocity of a free joint is in the axes of the body, where MuJoCo uses those
//! of the world.
//!
//! Reference: <https://mujoco.readthedocs.io/en/stable/XMLreference.html>

use crate::couplings::settle;
use crate::mjcf_actuator::drives;
use crate::mjcf_defaults::Defaults;
use crate::mjcf_equality::closures;
use crate::mjcf_shapes::{along, shape};
use crate::mjcf_tendon::{Found, Site, tendons};
use crate::visuals::{Assets, Visuals};
use crate::xml::{Notes, child, elements, leave_out, number, numbers, parse, parse_array, placed, required, start};
use crate::{Imported, ReadError, units};
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_trees::{Freedom, JointKind, JointSpec, LinkSpec, MassProperties, Pose, TreeBuilder};
use roxmltree::Node;
use std::collections::HashMap;

/// How angles and inertias are written in a file.
struct Compiler {
    degrees: bool,
    sequence: String,
    auto_limits: bool,
    /// `inertiafromgeom`: always, never, or where there is no `<inertial>`.
    from_shapes: Option<bool>,
    /// Where mesh files are.
    meshes: String,
}

struct Reader<'a> {
    compiler: Compiler,
    defaults: Defaults<'a>,
    builder: TreeBuilder,
    places: Vec<(String, usize)>,
    left_out: Notes,
    unnamed: usize,
    /// Initial coordinates of free joints.
    free: Vec<(String, Pose)>,
    sites: HashMap<String, Site>,
    assets: Assets<'a>,
    looks: Visuals,
}

/// Reads a robot from MJCF text.
pub fn read_mjcf(text: &str) -> Result<Imported, ReadError> {
    let document = parse(text)?;
    let root = document.root_element();
    if !root.has_tag_name("mujoco") {
        return Err(ReadError::at(&root, "an MJCF file begins with <mujoco>"));
    }
    let mut reader = Reader {
        compiler: compiler(&root)?,
        defaults: Defaults::default(),
        builder: TreeBuilder::new(),
        places: Vec::new(),
        left_out: Vec::new(),
        unnamed: 0,
        free: Vec::new(),
        sites: HashMap::new(),
        assets: Assets::default(),
        looks: Visuals::default(),
    };
    for node in elements(&root).filter(|n| n.has_tag_name("default")) {
        reader.defaults.read(&node);
    }
    for node in elements(&root).filter(|n| n.has_tag_name("asset")) {
        reader.assets.read(&node, &reader.compiler.meshes, &reader.defaults, &mut reader.left_out)?;
    }
    let (mut equalities, mut actuators, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut gravity = [0.0, 0.0, -9.81];
    for node in elements(&root) {
        match node.tag_name().name() {
            "compiler" | "default" | "asset" => {}
            "option" => {
                gravity = numbers::<3>(&node, "gravity")?.unwrap_or(gravity);
                for attribute in node.attributes().filter(|a| a.name() != "gravity") {
                    let what = format!("<option {}=…>: settings of the solver are not taken over", attribute.name());
                    reader.left_out.push((start(&node), what));
                }
            }
            "worldbody" => reader.world(node)?,
            "include" => return Err(ReadError::at(&node, "<include> is not supported: put the files together first")),
            "visual" | "statistic" | "size" => {
                leave_out(&node, "settings of pictures and sizes are not read", &mut reader.left_out);
            }
            "equality" => equalities.extend(elements(&node)),
            "actuator" => actuators.extend(elements(&node)),
            "tendon" => lines.extend(elements(&node)),
            "sensor" | "contact" | "keyframe" | "deformable" | "custom" | "extension" => {
                for inner in elements(&node) {
                    let why = format!("{} elements are not taken over", node.tag_name().name());
                    leave_out(&inner, &why, &mut reader.left_out);
                }
            }
            _ => leave_out(&node, "is not known", &mut reader.left_out),
        }
    }
    reader.builder.gravity(Vec3(gravity));
    let tree = units::check(&reader.builder)
        .and_then(|()| reader.builder.build())
        .map_err(|e| ReadError::of_tree(e, &reader.places, &document))?;
    let mut initial = tree.neutral();
    for joint in tree.joints() {
        if let Some((_, pose)) = reader.free.iter().find(|(name, _)| *name == joint.name) {
            let at = joint.coordinate;
            initial[at..at + 3].copy_from_slice(&pose.position.0);
            initial[at + 3..at + 7].copy_from_slice(&Quat::from_matrix(pose.rotation).0);
        }
    }
    let Found { tendons, couplings } =
        tendons(&lines, &equalities, &reader.defaults, &reader.sites, &tree, &initial, &mut reader.left_out)?;
    let closures = closures(&equalities, &tree, &initial, &mut reader.left_out)?;
    settle(&couplings, &tree, &mut initial);
    let drives = drives(&actuators, &reader.defaults, &tree, &tendons, &mut reader.left_out)?;
    let name = root.attribute("model").unwrap_or("robot").to_string();
    Ok(Imported {
        name,
        tree,
        builder: reader.builder,
        initial,
        closures,
        visuals: reader.looks.placed(text),
        drives,
        couplings,
        tendons,
        left_out: placed(text, reader.left_out),
    })
}

fn compiler(root: &Node<'_, '_>) -> Result<Compiler, ReadError> {
    let mut out =
        Compiler { degrees: true, sequence: "xyz".into(), auto_limits: true, from_shapes: None, meshes: String::new() };
    for node in elements(root).filter(|n| n.has_tag_name("compiler")) {
        match node.attribute("angle") {
            None => {}
            Some("degree") => out.degrees = true,
            Some("radian") => out.degrees = false,
            Some(other) => {
                let message = format!("`{other}` is no unit of angles; expected degree or radian");
                return Err(ReadError::at_attribute(&node, "angle", message));
            }
        }
        if let Some(sequence) = node.attribute("eulerseq") {
            if sequence.len() != 3 || !sequence.chars().all(|c| "xyzXYZ".contains(c)) {
                return Err(ReadError::at_attribute(&node, "eulerseq", "expected three of x, y, z, X, Y, Z"));
            }
            out.sequence = sequence.into();
        }
        if node.attribute("coordinate") == Some("global") {
            return Err(ReadError::at_attribute(&node, "coordinate", "global coordinates are not supported"));
        }
        for limit in ["boundmass", "boundinertia", "settotalmass"] {
            if number(&node, limit)?.is_some_and(|x| x > 0.0) {
                return Err(ReadError::at_attribute(
                    &node,
                    limit,
                    format!("`{limit}` changes masses and is not supported"),
                ));
            }
        }
        if node.attribute("balanceinertia") == Some("true") {
            let message = "`balanceinertia` changes inertias and is not supported";
            return Err(ReadError::at_attribute(&node, "balanceinertia", message));
        }
        if let Some(folder) = node.attribute("meshdir").or(node.attribute("assetdir")) {
            out.meshes = folder.trim_end_matches('/').into();
        }
        out.auto_limits = node.attribute("autolimits") != Some("false");
        out.from_shapes = match node.attribute("inertiafromgeom") {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        };
    }
    Ok(out)
}

impl<'a> Reader<'a> {
    fn world(&mut self, node: Node<'a, '_>) -> Result<(), ReadError> {
        // (element, link before, frame in it, class in force)
        let mut open = vec![(node, None::<String>, Pose::default(), "main")];
        while let Some((node, parent, frame, class)) = open.pop() {
            let class = node.attribute("childclass").unwrap_or(class);
            let start = open.len();
            for inner in elements(&node) {
                match inner.tag_name().name() {
                    "body" => {
                        let class = inner.attribute("childclass").unwrap_or(class);
                        let name = self.body(&inner, parent.as_deref(), &frame, class)?;
                        open.push((inner, Some(name), Pose::default(), class));
                    }
                    "frame" => {
                        let pose = frame.then(&self.pose(&inner, class)?);
                        open.push((inner, parent.clone(), pose, class));
                    }
                    // Read with the body.
                    "joint" | "freejoint" | "inertial" if parent.is_some() => {}
                    "geom" => {
                        let pose = self.pose(&inner, class)?;
                        let (defaults, notes) = (&self.defaults, &mut self.left_out);
                        if let Some(visual) = self.assets.geom(&inner, class, defaults, (&frame, pose), notes)? {
                            self.looks.add(&inner, parent.as_deref(), visual, notes);
                        }
                    }
                    "site" if inner.has_attribute("name") => {
                        let pose = frame.then(&self.pose(&inner, class)?);
                        let name = required(&inner, "name")?;
                        let site = Site { link: parent.clone(), at: pose.position, start: crate::xml::start(&inner) };
                        if self.sites.insert(name.to_string(), site).is_some() {
                            return Err(ReadError::at(&inner, format!("there are two sites named `{name}`")));
                        }
                    }
                    "site" | "camera" | "light" => {
                        leave_out(&inner, "has no counterpart in a tree", &mut self.left_out)
                    }
                    _ => leave_out(&inner, "is not supported", &mut self.left_out),
                }
            }
            // Keep the order of the file: the stack gives the last first.
            open[start..].reverse();
        }
        Ok(())
    }

    fn name(&mut self, node: &Node<'_, '_>, what: &str) -> String {
        node.attribute("name").map(Into::into).unwrap_or_else(|| {
            self.unnamed += 1;
            format!("{what}{}", self.unnamed)
        })
    }

    /// Adds a body with its joints; gives the name of its link.
    fn body(
        &mut self,
        node: &Node<'a, '_>,
        parent: Option<&str>,
        frame: &Pose,
        class: &str,
    ) -> Result<String, ReadError> {
        let name = self.name(node, "body");
        self.places.push((name.clone(), start(node)));
        let mass = self.mass(node, class)?;
        let pose = frame.then(&self.pose(node, class)?);
        let mut joints = Vec::new();
        for inner in elements(node).filter(|n| n.has_tag_name("joint") || n.has_tag_name("freejoint")) {
            joints.push(self.joint(&inner, class)?);
            let (spec, _) = &joints[joints.len() - 1];
            self.places.push((spec.name.clone(), start(&inner)));
        }
        if joints.is_empty() {
            let joint = JointSpec::new(format!("{name}_fixed"), JointKind::Fixed, pose);
            self.add(name.clone(), parent, joint, Pose::default(), mass);
            return Ok(name);
        }
        if joints.iter().any(|(j, _)| j.kind == JointKind::Free) {
            if joints.len() > 1 || parent.is_some() {
                return Err(ReadError::at(node, "a free joint must be the only joint of a body of the world"));
            }
            self.free.push((joints[0].0.name.clone(), pose));
        }
        let count = joints.len();
        let mut before = parent.map(str::to_string);
        for (k, (mut joint, anchor)) in joints.into_iter().enumerate() {
            let at = Pose { rotation: Mat3::identity(), position: anchor };
            joint.placement = match (joint.kind == JointKind::Free, k) {
                // The coordinates of a free joint are those of the body in the world.
                (true, _) => Pose::default(),
                (false, 0) => pose.then(&at),
                _ => at,
            };
            let last = k + 1 == count;
            let link = if last { name.clone() } else { format!("{name}/{}", joint.name) };
            let own = if last { mass } else { MassProperties::default() };
            self.add(link.clone(), before.as_deref(), joint, at.inverse(), own);
            before = Some(link);
        }
        Ok(name)
    }

    fn add(&mut self, name: String, parent: Option<&str>, joint: JointSpec, offset: Pose, mass: MassProperties) {
        self.builder.link(LinkSpec { name, parent: parent.map(Into::into), joint, offset, mass });
    }

    fn mass(&mut self, node: &Node<'a, '_>, class: &str) -> Result<MassProperties, ReadError> {
        let given = child(node, "inertial");
        let shapes = match (self.compiler.from_shapes, given) {
            (Some(true), _) => true,
            (Some(false), _) => false,
            (None, given) => given.is_none(),
        };
        if shapes {
            let mut sum = MassProperties::default();
            for geom in elements(node).filter(|n| n.has_tag_name("geom")) {
                let pose = self.pose(&geom, class)?;
                let part = shape(&geom, class, &self.defaults, pose, &mut self.left_out)?;
                sum = sum.joined(&part);
            }
            return Ok(sum);
        }
        let Some(inertial) = given else { return Ok(MassProperties::default()) };
        required(&inertial, "mass")?;
        let mass = number(&inertial, "mass")?.unwrap_or_default();
        let inertia = match (numbers::<3>(&inertial, "diaginertia")?, numbers::<6>(&inertial, "fullinertia")?) {
            (Some(d), None) => Mat3::diagonal(d),
            (None, Some([xx, yy, zz, xy, xz, yz])) => Mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
            (None, None) => Mat3::zero(),
            _ => return Err(ReadError::at(&inertial, "give either `diaginertia` or `fullinertia`")),
        };
        Ok(MassProperties { mass, centre: Vec3::zero(), inertia }.seen_from(&self.pose(&inertial, class)?))
    }

    /// A joint, and the point of the body it is at.
    fn joint(&mut self, node: &Node<'a, '_>, class: &str) -> Result<(JointSpec, Vec3<f64>), ReadError> {
        let name = self.name(node, "joint");
        if node.has_tag_name("freejoint") {
            return Ok((JointSpec::new(name, JointKind::Free, Pose::default()), Vec3::zero()));
        }
        let d = &self.defaults;
        let axis = Vec3(d.numbers::<3>(node, class, "axis")?.unwrap_or([0.0, 0.0, 1.0]));
        let anchor = Vec3(d.numbers::<3>(node, class, "pos")?.unwrap_or_default());
        let (kind, count, angular) = match d.get(node, class, "type").unwrap_or("hinge") {
            "hinge" => (JointKind::Revolute { axis }, 1, true),
            "slide" => (JointKind::Prismatic { axis }, 1, false),
            "ball" => (JointKind::Spherical, 3, true),
            "free" => (JointKind::Free, 6, false),
            other => {
                let message = format!("`{other}` is no kind of joint; expected hinge, slide, ball or free");
                return Err(ReadError::at_attribute(node, "type", message));
            }
        };
        let unit = if angular && self.compiler.degrees { std::f64::consts::PI / 180.0 } else { 1.0 };
        let read = |name: &str| d.number(node, class, name).map(|x| x.unwrap_or(0.0));
        let mut freedom = Freedom {
            armature: read("armature")?,
            damping: read("damping")?,
            friction: read("frictionloss")?,
            stiffness: read("stiffness")?,
            rest: read("springref")? * unit,
            ..Freedom::default()
        };
        let range = d.numbers::<2>(node, class, "range")?;
        let limited = match d.get(node, class, "limited") {
            Some("true") => true,
            Some("false") => false,
            _ => self.compiler.auto_limits && range.is_some(),
        };
        let force = d.numbers::<2>(node, class, "actuatorfrcrange")?;
        if read("ref")? != 0.0 {
            return Err(ReadError::at_attribute(node, "ref", "reference values other than 0 are not supported"));
        }
        if count == 1 {
            if let (true, Some([lower, upper])) = (limited, range) {
                (freedom.lower, freedom.upper) = (lower * unit, upper * unit);
            }
            if let Some([lower, upper]) = force {
                freedom.effort = lower.abs().max(upper.abs());
            }
        } else {
            if kind == JointKind::Free {
                freedom.armature = 0.0;
            }
            if limited || freedom.stiffness != 0.0 || (kind == JointKind::Free && read("armature")? != 0.0) {
                leave_out(node, "ranges, springs and armatures of such joints are not taken over", &mut self.left_out);
                freedom = Freedom { stiffness: 0.0, rest: 0.0, ..freedom };
            }
        }
        let anchor = if kind == JointKind::Free { Vec3::zero() } else { anchor };
        Ok((JointSpec::new(name, kind, Pose::default()).with(vec![freedom; count]), anchor))
    }

    /// The place given by `pos` and one of `quat`, `axisangle`, `euler`, `xyaxes`, `zaxis`.
    fn pose(&self, node: &Node<'a, '_>, class: &str) -> Result<Pose, ReadError> {
        let position = self.defaults.numbers::<3>(node, class, "pos")?.unwrap_or_default();
        let unit = if self.compiler.degrees { std::f64::consts::PI / 180.0 } else { 1.0 };
        let zero = |name: &str| ReadError::at_attribute(node, name, format!("`{name}` has no direction"));
        let mut rotation = Mat3::identity();
        if let Some(q) = self.defaults.numbers::<4>(node, class, "quat")? {
            if q.iter().all(|x| *x == 0.0) {
                return Err(zero("quat"));
            }
            rotation = Quat(q).normalized().matrix();
        } else if let Some([x, y, z, angle]) = self.defaults.numbers::<4>(node, class, "axisangle")? {
            let axis = Vec3([x, y, z]);
            if axis.norm() == 0.0 {
                return Err(zero("axisangle"));
            }
            rotation = Quat::exp(axis.normalized() * (angle * unit)).matrix();
        } else if let Some(angles) = self.defaults.numbers::<3>(node, class, "euler")? {
            for (c, angle) in self.compiler.sequence.chars().zip(angles) {
                let axis = match c.to_ascii_lowercase() {
                    'x' => Vec3([1.0, 0.0, 0.0]),
                    'y' => Vec3([0.0, 1.0, 0.0]),
                    _ => Vec3([0.0, 0.0, 1.0]),
                };
                let turn = Quat::exp(axis * (angle * unit)).matrix();
                // Small letters turn with the body, capitals about fixed axes.
                rotation = if c.is_lowercase() { rotation * turn } else { turn * rotation };
            }
        } else if let Some([a, b, c, d, e, f]) = self.defaults.numbers::<6>(node, class, "xyaxes")? {
            let x = Vec3([a, b, c]);
            let y = Vec3([d, e, f]);
            if x.cross(y).norm() == 0.0 {
                return Err(zero("xyaxes"));
            }
            let x = x.normalized();
            let y = (y - x * x.dot(y)).normalized();
            let z = x.cross(y);
            rotation = Mat3([[x[0], y[0], z[0]], [x[1], y[1], z[1]], [x[2], y[2], z[2]]]);
        } else if let Some(z) = self.defaults.get(node, class, "zaxis") {
            let z = parse_array::<3>(z).map_err(|e| ReadError::at_attribute(node, "zaxis", e))?;
            rotation = along(Vec3(z));
        }
        Ok(Pose { rotation, position: Vec3(position) })
    }
}
