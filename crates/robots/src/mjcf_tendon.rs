//! Tendons of MJCF: `fixed` ones over joints, `spatial` ones straight between sites; and equalities of joints and tendons.
//!
//! A tendon has stiffness, damping and a spring that is slack between two lengths; without them given it is the length where the file starts. An
//! equality of two joints is q₁ = Σ aₖ q₂ᵏ with `polycoef` a, as the reference values of joints are zero here; without a second joint it
//! is q₁ = a₀. Equalities of tendons speak of changes of length: L₁ − L₁₀ = a₀ + a₁ (L₂ − L₂₀), for tendons over joints; a spatial
//! tendon can keep a length.
//!
//! Tendons that wrap around shapes or split over pulleys, ranges and dry friction of tendons, and other equalities of them are listed.

use crate::ReadError;
use crate::couplings::{JointCoupling, Tendon, TendonPath, is_single};
use crate::mjcf_defaults::Defaults;
use crate::xml::{Notes, elements, leave_out, number, parse_numbers, required, start};
use dalembert_methods::vector::Vec3;
use dalembert_trees::{Tree, kinematics};
use roxmltree::Node;
use std::collections::{HashMap, HashSet};

/// A site: its link (the world if none), the place in its frame, where it stands in the file.
pub(crate) struct Site {
    pub link: Option<String>,
    pub at: Vec3<f64>,
    pub start: usize,
}

/// Tendons and couplings of a file.
pub(crate) struct Found {
    pub tendons: Vec<Tendon>,
    pub couplings: Vec<JointCoupling>,
}

/// A joint of one freedom, or an error at the attribute that names it.
fn single<'a>(node: &Node<'a, '_>, key: &str, tree: &Tree) -> Result<Option<&'a str>, ReadError> {
    let Some(name) = node.attribute(key) else { return Ok(None) };
    match tree.joints().iter().find(|j| j.name == name) {
        Some(joint) if is_single(&joint.spec.kind) => Ok(Some(name)),
        Some(_) => Err(ReadError::at_attribute(node, key, format!("`{name}` is not a joint of one freedom"))),
        None => Err(ReadError::at_attribute(node, key, format!("there is no joint named `{name}`"))),
    }
}

/// The tendons of the elements given, for a tree at the coordinates `initial`; equalities of joints and tendons come with them.
pub(crate) fn tendons<'a>(
    nodes: &[Node<'a, '_>],
    equalities: &[Node<'a, '_>],
    defaults: &Defaults<'a>,
    sites: &HashMap<String, Site>,
    tree: &Tree,
    initial: &[f64],
    left_out: &mut Notes,
) -> Result<Found, ReadError> {
    let mut work = kinematics::Work::<f64>::new(tree);
    kinematics::kinematics(tree, initial, &vec![0.0; tree.velocities()], &mut work);
    let world = |(link, at): &(Option<String>, Vec3<f64>)| match link.as_ref().and_then(|name| tree.link(name)) {
        Some(link) => work.link(link, *at).position,
        None => *at,
    };
    let mut found = Found { tendons: Vec::new(), couplings: Vec::new() };
    let mut used: HashSet<&str> = HashSet::new();
    for node in nodes {
        let path = match node.tag_name().name() {
            "fixed" => over_joints(node, tree)?,
            "spatial" => match between_sites(node, sites, &mut used)? {
                Ok(path) => path,
                Err(why) => {
                    leave_out(node, why, left_out);
                    continue;
                }
            },
            _ => {
                leave_out(node, "tendons of this kind are not taken over", left_out);
                continue;
            }
        };
        let coordinate =
            |name: &str| tree.joints().iter().find(|j| j.name == name).map_or(0.0, |j| initial[j.coordinate]);
        let length = match &path {
            TendonPath::Joints(joints) => joints.iter().map(|(name, c)| c * coordinate(name)).sum(),
            TendonPath::Points(points) => points.windows(2).map(|p| (world(&p[1]) - world(&p[0])).norm()).sum(),
        };
        let name = node.attribute("name").map_or_else(|| format!("tendon{}", found.tendons.len() + 1), str::to_string);
        let word = |key: &str| defaults.get_as(node, "tendon", key);
        let list = |key: &str| {
            parse_numbers(word(key).unwrap_or(""))
                .map_err(|e| ReadError::at_attribute(node, key, format!("attribute `{key}`: {e}")))
        };
        let first = |key: &str| list(key).map(|l| l.first().copied().unwrap_or(0.0));
        // Either value may be −1: the length where the file starts.
        let rest = match list("springlength")?.as_slice() {
            [] => [length; 2],
            &[one] => [if one == -1.0 { length } else { one }; 2],
            &[low, high, ..] => [low, high].map(|x| if x == -1.0 { length } else { x }),
        };
        for key in ["range", "frictionloss", "actuatorfrcrange", "armature"] {
            if word(key).is_some_and(|text| text.split_whitespace().any(|x| x != "0")) {
                left_out.push((
                    start(node),
                    format!("<{}> `{name}`: `{key}` of tendons is not taken over", node.tag_name().name()),
                ));
            }
        }
        let (stiffness, damping) = (first("stiffness")?, first("damping")?);
        if stiffness < 0.0 || damping < 0.0 || rest[0] > rest[1] {
            let message = "stiffness and damping must not be negative, and the shorter rest length comes first";
            return Err(ReadError::at(node, message));
        }
        found.tendons.push(Tendon { name, path, stiffness, damping, rest, length, kept: None });
    }
    for node in equalities {
        equality(node, tree, &mut found, left_out)?;
    }
    for (name, site) in sites.iter().filter(|(name, _)| !used.contains(name.as_str())) {
        left_out.push((site.start, format!("<site> `{name}`: has no counterpart in a tree")));
    }
    Ok(found)
}

fn over_joints(node: &Node<'_, '_>, tree: &Tree) -> Result<TendonPath, ReadError> {
    let mut joints = Vec::new();
    for inner in elements(node) {
        required(&inner, "joint")?;
        let Some(name) = single(&inner, "joint", tree)? else { continue };
        required(&inner, "coef")?;
        joints.push((name.to_string(), number(&inner, "coef")?.unwrap_or_default()));
    }
    if joints.is_empty() {
        return Err(ReadError::at(node, "a fixed tendon needs a <joint>"));
    }
    Ok(TendonPath::Joints(joints))
}

fn between_sites<'a>(
    node: &Node<'a, '_>,
    sites: &HashMap<String, Site>,
    used: &mut HashSet<&'a str>,
) -> Result<Result<TendonPath, &'static str>, ReadError> {
    let mut points = Vec::new();
    for inner in elements(node) {
        if !inner.has_tag_name("site") {
            return Ok(Err("tendons that wrap around shapes or run over pulleys are not taken over"));
        }
        let name = required(&inner, "site")?;
        let Some(site) = sites.get(name) else {
            return Err(ReadError::at_attribute(&inner, "site", format!("there is no site named `{name}`")));
        };
        used.insert(name);
        points.push((site.link.clone(), site.at));
    }
    if points.len() < 2 {
        return Err(ReadError::at(node, "a spatial tendon needs two sites"));
    }
    Ok(Ok(TendonPath::Points(points)))
}

/// An equality of joints or tendons; others are not meant here.
fn equality(node: &Node<'_, '_>, tree: &Tree, found: &mut Found, left_out: &mut Notes) -> Result<(), ReadError> {
    let kind = node.tag_name().name();
    if !["joint", "tendon"].contains(&kind) {
        return Ok(());
    }
    if node.attribute("active") == Some("false") {
        leave_out(node, "is not active", left_out);
        return Ok(());
    }
    let mut polynomial = parse_numbers(node.attribute("polycoef").unwrap_or("0 1 0 0 0"))
        .map_err(|e| ReadError::at_attribute(node, "polycoef", format!("attribute `polycoef`: {e}")))?;
    polynomial.resize(polynomial.len().max(2), 0.0);
    let (constant, slopes) = (polynomial[0], &polynomial[1..]);
    let number = found.couplings.len() + 1;
    let name = node.attribute("name").map_or_else(|| format!("coupling{number}"), str::to_string);
    if kind == "joint" {
        required(node, "joint1")?;
        let mut terms: Vec<(String, Vec<f64>)> = Vec::new();
        terms.extend(single(node, "joint1", tree)?.map(|joint| (joint.to_string(), vec![1.0])));
        let back: Vec<f64> = slopes.iter().map(|c| -c).collect();
        let last = back.iter().rposition(|&c| c != 0.0).map_or(1, |k| k + 1);
        terms.extend(single(node, "joint2", tree)?.map(|joint| (joint.to_string(), back[..last].to_vec())));
        found.couplings.push(JointCoupling { name, terms, offset: constant });
        return Ok(());
    }
    let tendon = |key: &str| match node.attribute(key) {
        None => Ok(None),
        Some(name) => match found.tendons.iter().position(|t| t.name == name) {
            Some(index) => Ok(Some(index)),
            None => Err(ReadError::at_attribute(node, key, format!("there is no tendon named `{name}`"))),
        },
    };
    required(node, "tendon1")?;
    let Some(first) = tendon("tendon1")? else { return Ok(()) };
    let second = tendon("tendon2")?;
    if second.is_none() && matches!(found.tendons[first].path, TendonPath::Points(_)) {
        found.tendons[first].kept = Some(found.tendons[first].length + constant);
        return Ok(());
    }
    let linear = slopes[1..].iter().all(|&c| c == 0.0);
    let mut coupling = JointCoupling { name, terms: Vec::new(), offset: constant };
    for (index, factor) in std::iter::once((first, 1.0)).chain(second.map(|index| (index, -slopes[0]))) {
        let tendon = &found.tendons[index];
        let (TendonPath::Joints(joints), true) = (&tendon.path, linear || second.is_none()) else {
            leave_out(node, "equalities of spatial tendons, and others than linear ones, are not taken over", left_out);
            return Ok(());
        };
        coupling.terms.extend(joints.iter().map(|(joint, c)| (joint.clone(), vec![factor * c])));
        coupling.offset += factor * tendon.length;
    }
    found.couplings.push(coupling);
    Ok(())
}
