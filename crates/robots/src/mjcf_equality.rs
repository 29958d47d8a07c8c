//! Equalities of MJCF that close loops: `connect` (a point of two bodies) and `weld` (two bodies as one).
//!
//! Both hold what is true in the configuration that the file starts from. Equalities of joints and tendons are read with tendons
//! (`mjcf_tendon.rs`). Those of sites, welds with a pose of their own, and inactive ones are listed.

use crate::xml::{Notes, leave_out, numbers, required};
use crate::{Closure, ClosureKind, ReadError};
use dalembert_methods::vector::Vec3;
use dalembert_trees::{Pose, Tree, kinematics};
use roxmltree::Node;

/// The closures of equalities, for a tree at the coordinates `initial`.
pub(crate) fn closures(
    nodes: &[Node<'_, '_>],
    tree: &Tree,
    initial: &[f64],
    left_out: &mut Notes,
) -> Result<Vec<Closure>, ReadError> {
    let mut work = kinematics::Work::<f64>::new(tree);
    kinematics::kinematics(tree, initial, &vec![0.0; tree.velocities()], &mut work);
    let mut out = Vec::new();
    for node in nodes {
        let kind = match node.tag_name().name() {
            "connect" => ClosureKind::Ball,
            "weld" => ClosureKind::Weld,
            "joint" | "tendon" => continue,
            _ => {
                leave_out(node, "equality elements of this kind are not taken over", left_out);
                continue;
            }
        };
        if node.attribute("active") == Some("false") {
            leave_out(node, "is not active", left_out);
            continue;
        }
        if ["site1", "site2", "relpose"].iter().any(|a| node.has_attribute(*a)) {
            leave_out(node, "sites and poses of equalities are not taken over", left_out);
            continue;
        }
        let place = |name: Option<&str>, key: &str| match name {
            None | Some("world") => Ok((None, Pose::default())),
            Some(name) => {
                let link = tree
                    .link(name)
                    .ok_or_else(|| ReadError::at_attribute(node, key, format!("there is no body named `{name}`")))?;
                let motion = work.link(link, Vec3::zero());
                let pose = Pose { rotation: motion.rotation, position: motion.position };
                Ok((Some(name.to_string()), pose))
            }
        };
        let (first, at) = place(Some(required(node, "body1")?), "body1")?;
        let (second, other) = place(node.attribute("body2"), "body2")?;
        // The anchor of `connect` is in the first body, that of `weld` in the second; the origin if not given.
        let anchor = Pose { position: Vec3(numbers::<3>(node, "anchor")?.unwrap_or_default()), ..Pose::default() };
        let joint = if kind == ClosureKind::Weld { other.then(&anchor) } else { at.then(&anchor) };
        let name = node.attribute("name").map_or_else(|| format!("equality{}", out.len() + 1), str::to_string);
        let ends = [(first, at.inverse().then(&joint)), (second, other.inverse().then(&joint))];
        out.push(Closure { name, kind, ends });
    }
    Ok(out)
}
