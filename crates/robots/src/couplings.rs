//! Couplings of joints, and what pulls along tendons: what robot files say besides trees, loops and drives.

use crate::ReadError;
use crate::xml::{Notes, leave_out, required};
use dalembert_methods::vector::Vec3;
use dalembert_trees::{JointKind, Tree};
use roxmltree::Node;

/// A relation between joints: the sum of polynomials of their coordinates is constant. `mimic` of URDF and SDF, equalities of joints and tendons
/// of MJCF.
#[derive(Clone, Debug, PartialEq)]
pub struct JointCoupling {
    /// Its name.
    pub name: String,
    /// Joints of one freedom, each with its coefficients of x, x², x³ and so on.
    pub terms: Vec<(String, Vec<f64>)>,
    /// The value of the sum, in rad or m.
    pub offset: f64,
}

/// Where a tendon runs.
#[derive(Clone, Debug, PartialEq)]
pub enum TendonPath {
    /// Over joints: its length is the sum of their coordinates times coefficients, in m/rad or 1.
    Joints(Vec<(String, f64)>),
    /// Straight between points, given by the link (the world if none) and the place in its frame.
    Points(Vec<(Option<String>, Vec3<f64>)>),
}

/// A tendon with its spring and damper.
#[derive(Clone, Debug, PartialEq)]
pub struct Tendon {
    /// Its name.
    pub name: String,
    /// Where it runs.
    pub path: TendonPath,
    /// Its stiffness, in N/m.
    pub stiffness: f64,
    /// Its damping, in N s/m.
    pub damping: f64,
    /// The lengths between which its spring is slack, in m.
    pub rest: [f64; 2],
    /// Its length where the file starts, in m.
    pub length: f64,
    /// Whether it keeps a length, and which, in m.
    pub kept: Option<f64>,
}

/// Whether a joint has one freedom, with one coordinate that is its angle or travel.
pub(crate) fn is_single(kind: &JointKind) -> bool {
    matches!(kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. })
}

/// The coupling x = multiplier · y + offset of the joint `name` to the one that a `<mimic>` names; nothing, with a note, if one of them has not one
/// freedom.
pub(crate) fn mimic(
    name: &str,
    node: &Node<'_, '_>,
    [multiplier, offset]: [f64; 2],
    tree: &Tree,
    left_out: &mut Notes,
) -> Result<Option<JointCoupling>, ReadError> {
    let other = required(node, "joint")?;
    let joint = |name: &str| tree.joints().iter().find(|j| j.name == name);
    if joint(other).is_none() {
        return Err(ReadError::at_attribute(node, "joint", format!("there is no joint named `{other}` in the tree")));
    }
    if other == name || ![name, other].iter().all(|n| joint(n).is_some_and(|j| is_single(&j.spec.kind))) {
        leave_out(node, "only couplings between two joints of one freedom are taken over", left_out);
        return Ok(None);
    }
    let terms = vec![(name.to_string(), vec![1.0]), (other.to_string(), vec![-multiplier])];
    Ok(Some(JointCoupling { name: format!("{name}_mimic"), terms, offset }))
}

/// Moves the first joint of each coupling, in their order and as often as there are couplings, to where the others want it. Couplings that
/// are linear in their first joint then hold, unless they contradict each other.
pub(crate) fn settle(couplings: &[JointCoupling], tree: &Tree, initial: &mut [f64]) {
    let place = |name: &str| tree.joints().iter().find(|j| j.name == name).map(|j| j.coordinate);
    for _ in 0..couplings.len() {
        for JointCoupling { terms, offset, .. } in couplings {
            let Some(((first, own), others)) = terms.split_first() else { continue };
            let (Some(at), &[slope, ref higher @ ..]) = (place(first), own.as_slice()) else { continue };
            if slope == 0.0 || higher.iter().any(|&c| c != 0.0) {
                continue;
            }
            let value = |(joint, c): &(String, Vec<f64>)| {
                let x = place(joint).map_or(0.0, |at| initial[at]);
                c.iter().rev().fold(0.0, |sum, c| (sum + c) * x)
            };
            let wanted = (offset - others.iter().map(value).sum::<f64>()) / slope;
            // Coefficients beyond all measure are for the scene to refuse.
            if wanted.is_finite() {
                initial[at] = wanted;
            }
        }
    }
}
