//! Reader of URDF, the unified robot description format.
//!
//! Links and joints with their inertias, visual shapes, limits, damping, friction and `<mimic>` couplings are taken over. Collision shapes,
//! drives and extensions have no counterpart in a tree and are listed.
//!
//! Departures: the friction of `<dynamics>` is regularised (see `dalembert_trees::passive`); the first link hangs on the world by a
//! joint named after it with `_base`, fixed or free as the caller says.
//!
//! Reference: <https://wiki.ros.org/urdf/XML>

use crate::couplings::{mimic, settle};
use crate::visuals::{self, Visuals};
use crate::xml::{
    Notes, child, elements, leave_out, number, numbers, origin, parse, placed, position, required, required_number,
    start,
};
use crate::{Base, Imported, ReadError, units};
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_trees::{Freedom, JointKind, JointSpec, LinkSpec, MassProperties, Pose, TreeBuilder};
use roxmltree::Node;
use std::collections::{HashMap, HashSet};

/// Reads a robot from URDF text.
pub fn read_urdf(text: &str, base: Base) -> Result<Imported, ReadError> {
    let document = parse(text)?;
    let root = document.root_element();
    if !root.has_tag_name("robot") {
        return Err(ReadError::at(&root, "a URDF file begins with <robot>"));
    }
    let mut left_out = Vec::new();
    let mut looks = (visuals::urdf_materials(&root)?, Visuals::default());
    let mut places: Vec<(String, usize)> = Vec::new();
    let mut links: Vec<(&str, MassProperties)> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    let mut joints: HashMap<&str, (String, JointSpec, usize)> = HashMap::new();
    let mut mimics = Vec::new();
    for node in elements(&root) {
        match node.tag_name().name() {
            "link" => {
                let name = required(&node, "name")?;
                if !known.insert(name) {
                    return Err(ReadError::at(&node, format!("there are two links named `{name}`")));
                }
                places.push((name.into(), start(&node)));
                links.push((name, link(&node, name, &mut looks, &mut left_out)?));
            }
            "joint" => {
                let spec = joint(&node, &mut left_out)?;
                mimics.extend(elements(&node).filter(|n| n.has_tag_name("mimic")).map(|n| (spec.name.clone(), n)));
                let end = |which: &str| {
                    child(&node, which)
                        .ok_or_else(|| ReadError::at(&node, format!("a joint needs a <{which} link=…>")))
                        .and_then(|c| required(&c, "link"))
                };
                let (parent, below) = (end("parent")?, end("child")?);
                places.push((spec.name.clone(), start(&node)));
                if let Some((_, other, _)) = joints.insert(below, (parent.into(), spec, start(&node))) {
                    let message = format!(
                        "link `{below}` already hangs on joint `{}`; a tree has one joint before each link: leave this one out \
                         and close the loop by a constraint",
                        other.name
                    );
                    return Err(ReadError::at(&node, message));
                }
            }
            "material" if child(&node, "color").is_some() && child(&node, "texture").is_none() => {}
            "material" | "transmission" | "gazebo" => leave_out(&node, "has no counterpart in a tree", &mut left_out),
            _ => leave_out(&node, "is not known", &mut left_out),
        }
    }
    for (below, (parent, spec, at)) in &joints {
        for name in [*below, parent.as_str()] {
            if !known.contains(name) {
                let message = format!("joint `{}` names the link `{name}`, and there is no such link", spec.name);
                return Err(ReadError { place: Some(position(&document, *at)), message });
            }
        }
    }
    let mut builder = TreeBuilder::new();
    for (name, mass) in links {
        let (parent, joint) = match joints.remove(name) {
            Some((parent, spec, _)) => (Some(parent), spec),
            None => {
                let kind = if base == Base::Free { JointKind::Free } else { JointKind::Fixed };
                (None, JointSpec::new(format!("{name}_base"), kind, Pose::default()))
            }
        };
        builder.link(LinkSpec { name: name.into(), parent, joint, offset: Pose::default(), mass });
    }
    let tree =
        units::check(&builder).and_then(|()| builder.build()).map_err(|e| ReadError::of_tree(e, &places, &document))?;
    let mut initial = tree.neutral();
    let mut couplings = Vec::new();
    for (name, node) in &mimics {
        let law = [number(node, "multiplier")?.unwrap_or(1.0), number(node, "offset")?.unwrap_or(0.0)];
        couplings.extend(mimic(name, node, law, &tree, &mut left_out)?);
    }
    settle(&couplings, &tree, &mut initial);
    let name = root.attribute("name").unwrap_or("robot").to_string();
    Ok(Imported {
        name,
        tree,
        builder,
        initial,
        closures: Vec::new(),
        visuals: looks.1.placed(text),
        drives: Vec::new(),
        couplings,
        tendons: Vec::new(),
        left_out: placed(text, left_out),
    })
}

fn link(
    node: &Node<'_, '_>,
    name: &str,
    (materials, looks): &mut (HashMap<&str, [f64; 3]>, Visuals),
    left_out: &mut Notes,
) -> Result<MassProperties, ReadError> {
    let mut out = MassProperties::default();
    for part in elements(node) {
        match part.tag_name().name() {
            "inertial" => out = inertial(&part)?,
            "visual" => {
                if let Some(visual) = visuals::urdf(&part, origin(&part)?, materials, left_out)? {
                    looks.add(&part, Some(name), visual, left_out);
                }
            }
            "collision" => leave_out(&part, "shapes for contacts are not read", left_out),
            _ => leave_out(&part, "is not known", left_out),
        }
    }
    Ok(out)
}

fn inertial(node: &Node<'_, '_>) -> Result<MassProperties, ReadError> {
    let mass = match child(node, "mass") {
        Some(m) => required_number(&m, "value")?,
        None => return Err(ReadError::at(node, "<inertial> needs a <mass>")),
    };
    let inertia = match child(node, "inertia") {
        Some(i) => {
            let read = |name: &str| required_number(&i, name);
            let (xx, xy, xz) = (read("ixx")?, read("ixy")?, read("ixz")?);
            let (yy, yz, zz) = (read("iyy")?, read("iyz")?, read("izz")?);
            Mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        }
        None => return Err(ReadError::at(node, "<inertial> needs an <inertia>")),
    };
    Ok(MassProperties { mass, centre: Vec3::zero(), inertia }.seen_from(&origin(node)?))
}

fn joint(node: &Node<'_, '_>, left_out: &mut Notes) -> Result<JointSpec, ReadError> {
    let name = required(node, "name")?;
    let axis = match child(node, "axis") {
        Some(a) => Vec3(numbers::<3>(&a, "xyz")?.unwrap_or([1.0, 0.0, 0.0])),
        None => Vec3([1.0, 0.0, 0.0]),
    };
    let kind = match required(node, "type")? {
        "revolute" | "continuous" => JointKind::Revolute { axis },
        "prismatic" => JointKind::Prismatic { axis },
        "fixed" => JointKind::Fixed,
        "floating" => JointKind::Free,
        "planar" => JointKind::Planar { normal: axis },
        other => {
            let message = format!(
                "`{other}` is no kind of joint; expected revolute, continuous, prismatic, fixed, floating or planar"
            );
            return Err(ReadError::at_attribute(node, "type", message));
        }
    };
    let single = matches!(kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
    let mut freedom = Freedom::default();
    for part in elements(node) {
        match part.tag_name().name() {
            "parent" | "child" | "origin" | "axis" => {}
            "limit" if single => {
                if node.attribute("type") != Some("continuous") {
                    freedom.lower = number(&part, "lower")?.unwrap_or(0.0);
                    freedom.upper = number(&part, "upper")?.unwrap_or(0.0);
                }
                freedom.effort = number(&part, "effort")?.unwrap_or(f64::INFINITY);
                freedom.speed = number(&part, "velocity")?.unwrap_or(f64::INFINITY);
            }
            "dynamics" if single => {
                freedom.damping = number(&part, "damping")?.unwrap_or(0.0);
                freedom.friction = number(&part, "friction")?.unwrap_or(0.0);
            }
            // Read when all joints are known.
            "mimic" => {}
            "limit" | "dynamics" => leave_out(&part, "is read for joints of one freedom only", left_out),
            "safety_controller" | "calibration" => leave_out(&part, "has no counterpart in a tree", left_out),
            _ => leave_out(&part, "is not known", left_out),
        }
    }
    let freedoms = if single { vec![freedom] } else { Vec::new() };
    Ok(JointSpec::new(name, kind, origin(node)?).with(freedoms))
}
