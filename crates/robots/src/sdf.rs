//! Reader of SDF, the simulation description format.
//!
//! One model: links with their inertias, joints with their axes, limits, dynamics and `<mimic>` couplings, poses relative to any named frame.
//! Ball, fixed and revolute joints that close a loop become closures. Everything else is listed.
//!
//! Departures: a model whose first link has no joint to the world stands as the caller says (`<static>` means fixed).
//!
//! Reference: <http://sdformat.org/spec>

use crate::couplings::{mimic, settle};
use crate::visuals::{self, Visuals};
use crate::xml::{
    Notes, child, child_number, elements, leave_out, parse, placed, position, required, start, text_numbers,
};
use crate::{Base, Closure, ClosureKind, Imported, ReadError, units};
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_trees::{Freedom, JointKind, JointSpec, LinkSpec, MassProperties, Pose, TreeBuilder};
use roxmltree::Node;
use std::collections::HashMap;

/// Reads a robot from SDF text.
pub fn read_sdf(text: &str, base: Base) -> Result<Imported, ReadError> {
    let document = parse(text)?;
    let root = document.root_element();
    if !root.has_tag_name("sdf") {
        return Err(ReadError::at(&root, "an SDF file begins with <sdf>"));
    }
    let mut left_out = Vec::new();
    let mut gravity = [0.0, 0.0, -9.81];
    let mut model = None;
    let mut open: Vec<Node<'_, '_>> = vec![root];
    while let Some(node) = open.pop() {
        for inner in elements(&node) {
            match inner.tag_name().name() {
                "world" => open.push(inner),
                "gravity" => gravity = text_numbers::<3>(&inner)?,
                "model" if model.is_none() => model = Some(inner),
                "model" => leave_out(&inner, "one model is read; this one is not", &mut left_out),
                _ => leave_out(&inner, "is not read", &mut left_out),
            }
        }
    }
    let model = model.ok_or_else(|| ReadError::at(&root, "there is no <model>"))?;
    let mut reader = Reader {
        model,
        frames: HashMap::new(),
        resolved: HashMap::new(),
        closures: Vec::new(),
        mimics: Vec::new(),
        looks: Visuals::default(),
        left_out,
    };
    let mut builder = reader.model(base)?;
    builder.0.gravity(Vec3(gravity));
    let tree = units::check(&builder.0)
        .and_then(|()| builder.0.build())
        .map_err(|e| ReadError::of_tree(e, &builder.1, &document))?;
    let mut initial = tree.neutral();
    let mut couplings = Vec::new();
    for (name, node) in &reader.mimics {
        // x = multiplier · (y − reference) + offset.
        let read = |key: &str, default: f64| child_number(node, key).map(|x| x.unwrap_or(default));
        let multiplier = read("multiplier", 1.0)?;
        let law = [multiplier, read("offset", 0.0)? - multiplier * read("reference", 0.0)?];
        couplings.extend(mimic(name, node, law, &tree, &mut reader.left_out)?);
    }
    settle(&couplings, &tree, &mut initial);
    let name = model.attribute("name").unwrap_or("robot").to_string();
    Ok(Imported {
        name,
        tree,
        builder: builder.0,
        initial,
        closures: reader.closures,
        visuals: reader.looks.placed(text),
        drives: Vec::new(),
        couplings,
        tendons: Vec::new(),
        left_out: placed(text, reader.left_out),
    })
}

struct Reader<'a, 'i> {
    model: Node<'a, 'i>,
    /// Links, joints and frames by name.
    frames: HashMap<&'a str, Node<'a, 'i>>,
    /// Their poses in the model.
    resolved: HashMap<&'a str, Pose>,
    closures: Vec<Closure>,
    /// Joints with what they mimic.
    mimics: Vec<(String, Node<'a, 'i>)>,
    looks: Visuals,
    left_out: Notes,
}

impl<'a, 'i> Reader<'a, 'i> {
    fn model(&mut self, base: Base) -> Result<(TreeBuilder, Vec<(String, usize)>), ReadError> {
        let model = self.model;
        let (mut links, mut joints) = (Vec::new(), Vec::new());
        let mut fixed = base == Base::Fixed;
        let mut own = Pose::default();
        for node in elements(&model) {
            match node.tag_name().name() {
                "link" | "joint" | "frame" => {
                    let name = required(&node, "name")?;
                    if self.frames.insert(name, node).is_some() {
                        return Err(ReadError::at(&node, format!("there are two frames named `{name}`")));
                    }
                    match node.tag_name().name() {
                        "link" => links.push((name, node)),
                        "joint" => joints.push((name, node)),
                        _ => {}
                    }
                }
                "static" => fixed = matches!(node.text().map(str::trim), Some("true" | "1")),
                "pose" => own = pose_of(&node)?,
                "self_collide" | "allow_auto_disable" | "enable_wind" => {
                    leave_out(&node, "has no counterpart in a tree", &mut self.left_out);
                }
                _ => leave_out(&node, "is not read", &mut self.left_out),
            }
        }
        let mut places = Vec::new();
        let mut before: HashMap<&str, (Option<String>, JointSpec, Pose)> = HashMap::new();
        for (name, node) in &joints {
            places.push(((*name).to_string(), start(node)));
            let (parent, below) = (self.end(node, "parent")?, self.end(node, "child")?);
            let (mut spec, at) = (self.joint(name, node)?, self.resolve(name, node)?);
            let up = match parent {
                "world" => own.inverse(),
                link => self.named(link, node)?,
            };
            let down = self.named(below, node)?;
            if before.contains_key(below) {
                let kind = match spec.kind {
                    JointKind::Spherical => ClosureKind::Ball,
                    JointKind::Fixed => ClosureKind::Weld,
                    JointKind::Revolute { axis } => ClosureKind::Hinge { axis },
                    _ => {
                        leave_out(node, "closes a loop: add it as a constraint", &mut self.left_out);
                        continue;
                    }
                };
                let end =
                    |link: &str, pose: Pose| ((link != "world").then(|| link.to_string()), pose.inverse().then(&at));
                self.closures.push(Closure { name: spec.name, kind, ends: [end(parent, up), end(below, down)] });
                continue;
            }
            spec.placement = up.inverse().then(&at);
            let offset = at.inverse().then(&down);
            before.insert(below, ((parent != "world").then(|| parent.to_string()), spec, offset));
        }
        let mut builder = TreeBuilder::new();
        for (name, node) in &links {
            places.push(((*name).to_string(), start(node)));
            let mass = self.link(node)?;
            let (parent, joint, offset) = match before.remove(*name) {
                Some(found) => found,
                None => {
                    let at = own.then(&self.resolve(name, node)?);
                    let kind = if fixed { JointKind::Fixed } else { JointKind::Free };
                    (None, JointSpec::new(format!("{name}_base"), kind, at), Pose::default())
                }
            };
            builder.link(LinkSpec { name: (*name).into(), parent, joint, offset, mass });
        }
        if let Some((below, (_, spec, _))) = before.into_iter().next() {
            let message = format!("joint `{}` names the link `{below}`, and there is no such link", spec.name);
            let found = places.iter().find(|(n, _)| *n == spec.name);
            let place = found.map(|&(_, at)| position(self.model.document(), at));
            return Err(ReadError { place, message });
        }
        Ok((builder, places))
    }

    fn end(&self, node: &Node<'a, 'i>, which: &str) -> Result<&'a str, ReadError> {
        child(node, which)
            .and_then(|c| c.text())
            .map(str::trim)
            .filter(|t| !t.is_empty())
            .ok_or_else(|| ReadError::at(node, format!("a joint needs a <{which}>")))
    }

    /// The pose of a link by name, in the model.
    fn named(&mut self, name: &str, from: &Node<'a, 'i>) -> Result<Pose, ReadError> {
        match self.frames.get_key_value(name).map(|(k, n)| (*k, *n)) {
            Some((key, node)) => self.resolve(key, &node),
            None => Err(ReadError::at(from, format!("there is no link or frame named `{name}`"))),
        }
    }

    /// The pose of a link, joint or frame in the model, through the frames it is relative to.
    fn resolve(&mut self, name: &'a str, node: &Node<'a, 'i>) -> Result<Pose, ReadError> {
        let (mut at, mut chain) = (*node, vec![(name, Pose::default())]);
        let mut sum = loop {
            let current = chain[chain.len() - 1].0;
            if let Some(done) = self.resolved.get(current) {
                chain.pop();
                break *done;
            }
            if chain.len() > self.frames.len() + 1 {
                return Err(ReadError::at(node, format!("the poses that `{name}` depends on go in a circle")));
            }
            let (pose, given) = match child(&at, "pose") {
                Some(p) => (pose_of(&p)?, p.attribute("relative_to").filter(|r| !r.is_empty())),
                None => (Pose::default(), None),
            };
            if let Some(last) = chain.last_mut() {
                last.1 = pose;
            }
            let reference = match at.tag_name().name() {
                "joint" => Some(match given {
                    Some(r) => r,
                    None => self.end(&at, "child")?,
                }),
                "frame" => given.or_else(|| at.attribute("attached_to")),
                _ => given,
            };
            match reference {
                None | Some("__model__") => break Pose::default(),
                Some(r) => match self.frames.get_key_value(r) {
                    Some((key, next)) => {
                        at = *next;
                        chain.push((key, Pose::default()));
                    }
                    None => return Err(ReadError::at(&at, format!("there is no frame named `{r}`"))),
                },
            }
        };
        while let Some((name, pose)) = chain.pop() {
            sum = sum.then(&pose);
            self.resolved.insert(name, sum);
        }
        Ok(sum)
    }

    fn link(&mut self, node: &Node<'a, 'i>) -> Result<MassProperties, ReadError> {
        let mut out = MassProperties::default();
        for part in elements(node) {
            match part.tag_name().name() {
                "pose" => {}
                "inertial" => {
                    let mass = child_number(&part, "mass")?.unwrap_or(1.0);
                    let inertia = match child(&part, "inertia") {
                        Some(i) => {
                            let read = |n: &str, d: f64| child_number(&i, n).map(|x| x.unwrap_or(d));
                            let (xx, yy, zz) = (read("ixx", 1.0)?, read("iyy", 1.0)?, read("izz", 1.0)?);
                            let (xy, xz, yz) = (read("ixy", 0.0)?, read("ixz", 0.0)?, read("iyz", 0.0)?);
                            Mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
                        }
                        None => Mat3::identity(),
                    };
                    let at = child(&part, "pose").map_or(Ok(Pose::default()), |p| pose_of(&p))?;
                    out = MassProperties { mass, centre: Vec3::zero(), inertia }.seen_from(&at);
                }
                "visual" => {
                    let place = child(&part, "pose");
                    if place.is_some_and(|p| p.attribute("relative_to").is_some_and(|r| !r.is_empty())) {
                        leave_out(&part, "shapes placed in other frames are not read", &mut self.left_out);
                        continue;
                    }
                    let pose = place.map_or(Ok(Pose::default()), |p| pose_of(&p))?;
                    if let Some(visual) = visuals::sdf(&part, pose, &mut self.left_out)? {
                        self.looks.add(&part, node.attribute("name"), visual, &mut self.left_out);
                    }
                }
                "collision" => leave_out(&part, "shapes for contacts are not read", &mut self.left_out),
                _ => leave_out(&part, "is not read", &mut self.left_out),
            }
        }
        Ok(out)
    }

    fn joint(&mut self, name: &str, node: &Node<'a, 'i>) -> Result<JointSpec, ReadError> {
        let mut freedoms = Vec::new();
        let mut axes = Vec::new();
        for part in elements(node) {
            match part.tag_name().name() {
                "parent" | "child" | "pose" | "thread_pitch" | "screw_thread_pitch" => {}
                "axis" | "axis2" => {
                    let (axis, freedom) = self.axis(name, node, &part)?;
                    axes.push(axis);
                    freedoms.push(freedom);
                }
                _ => leave_out(&part, "is not read", &mut self.left_out),
            }
        }
        let axis = |i: usize| {
            axes.get(i)
                .copied()
                .ok_or_else(|| ReadError::at(node, format!("a joint of this type needs {} axes", i + 1)))
        };
        let kind = match required(node, "type")? {
            "revolute" | "continuous" => JointKind::Revolute { axis: axis(0)? },
            "prismatic" => JointKind::Prismatic { axis: axis(0)? },
            "fixed" => JointKind::Fixed,
            "ball" => JointKind::Spherical,
            "universal" | "revolute2" => JointKind::Universal { first: axis(0)?, second: axis(1)? },
            "screw" => {
                // `thread_pitch` is minus the angle per length; `screw_thread_pitch` the length per turn.
                let pitch = match (child_number(node, "screw_thread_pitch")?, child_number(node, "thread_pitch")?) {
                    (Some(p), _) => p / std::f64::consts::TAU,
                    (None, Some(p)) if p != 0.0 => -1.0 / p,
                    _ => return Err(ReadError::at(node, "a screw needs a <screw_thread_pitch> in m per turn")),
                };
                JointKind::Helical { axis: axis(0)?, pitch }
            }
            other => {
                let message = format!(
                    "`{other}` is not supported; expected revolute, continuous, prismatic, fixed, ball, universal or screw"
                );
                return Err(ReadError::at_attribute(node, "type", message));
            }
        };
        let used = match kind {
            JointKind::Fixed | JointKind::Spherical => 0,
            JointKind::Universal { .. } => 2,
            _ => 1,
        };
        freedoms.truncate(used);
        Ok(JointSpec::new(name, kind, Pose::default()).with(freedoms))
    }

    fn axis(
        &mut self,
        name: &str,
        joint: &Node<'a, 'i>,
        node: &Node<'a, 'i>,
    ) -> Result<(Vec3<f64>, Freedom), ReadError> {
        let mut direction = Vec3([0.0, 0.0, 1.0]);
        let mut freedom = Freedom::default();
        for part in elements(node) {
            match part.tag_name().name() {
                "xyz" => {
                    direction = Vec3(text_numbers::<3>(&part)?);
                    if let Some(frame) = part.attribute("expressed_in").filter(|f| !f.is_empty() && *f != name) {
                        let other = if frame == "__model__" { Pose::default() } else { self.named(frame, &part)? };
                        let own = self.named(name, joint)?;
                        direction = own.rotation.transpose_mul(other.rotation * direction);
                    }
                }
                "limit" => {
                    let read = |n: &str| child_number(&part, n);
                    freedom.lower = read("lower")?.filter(|x| *x > -1e16).unwrap_or(f64::NEG_INFINITY);
                    freedom.upper = read("upper")?.filter(|x| *x < 1e16).unwrap_or(f64::INFINITY);
                    freedom.effort = read("effort")?.filter(|x| *x >= 0.0).unwrap_or(f64::INFINITY);
                    freedom.speed = read("velocity")?.filter(|x| *x >= 0.0).unwrap_or(f64::INFINITY);
                }
                "dynamics" => {
                    let read = |n: &str| child_number(&part, n).map(|x| x.unwrap_or(0.0));
                    freedom.damping = read("damping")?;
                    freedom.friction = read("friction")?;
                    freedom.rest = read("spring_reference")?;
                    freedom.stiffness = read("spring_stiffness")?;
                }
                "mimic" => self.mimics.push((name.to_string(), part)),
                _ => leave_out(&part, "is not read", &mut self.left_out),
            }
        }
        Ok((direction, freedom))
    }
}

/// x y z roll pitch yaw.
fn pose_of(node: &Node<'_, '_>) -> Result<Pose, ReadError> {
    if node.attribute("rotation_format") == Some("quat_xyzw") {
        let [x, y, z, a, b, c, w] = text_numbers::<7>(node)?;
        if a == 0.0 && b == 0.0 && c == 0.0 && w == 0.0 {
            return Err(ReadError::at(node, "<pose>: the quaternion has no length"));
        }
        return Ok(Pose::of_quaternion([w, a, b, c], [x, y, z]));
    }
    if node.text().is_none_or(|t| t.trim().is_empty()) {
        return Ok(Pose::default());
    }
    let [x, y, z, roll, pitch, yaw] = text_numbers::<6>(node)?;
    let unit = if node.attribute("degrees") == Some("true") { std::f64::consts::PI / 180.0 } else { 1.0 };
    Ok(Pose::of_roll_pitch_yaw([roll * unit, pitch * unit, yaw * unit], [x, y, z]))
}
