//! From links and joints to a tree: checks, merges what is welded, takes joints apart, numbers depth first.

use crate::aba;
use crate::joint::{Cone, JointKind, JointSpec, MassProperties, Pose};
use crate::space::{V3, v3};
use crate::tree::{Body, JointInfo, Link, Motion, Tree, about_origin, is_identity};
use crate::validate::{check_joint, check_link};
use dalembert_methods::vector::Vec3;
use std::collections::HashMap;
use std::fmt;

/// The largest number of links; beyond it a file is more likely broken than large.
pub const MAX_LINKS: usize = 20_000;

/// A link with the joint before it.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Its name.
    pub name: String,
    /// The link before; none if the joint stands in the world.
    pub parent: Option<String>,
    /// The joint before it.
    pub joint: JointSpec,
    /// The link frame in the frame that the joint moves; the identity for most formats.
    pub offset: Pose,
    /// Mass, centre and inertia in the link frame.
    pub mass: MassProperties,
}

/// Why links and joints do not make a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeError {
    /// Two links or two joints have the same name.
    Duplicate {
        /// `link` or `joint`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A link hangs on a link that does not exist.
    MissingParent {
        /// The link.
        link: String,
        /// The parent it names.
        parent: String,
    },
    /// Links hang on each other in a circle.
    Cycle {
        /// A link of the circle.
        link: String,
    },
    /// There are more links than [`MAX_LINKS`].
    TooMany {
        /// How many there are.
        links: usize,
    },
    /// A number is not finite, or has a value that no such thing has.
    Value {
        /// The link or joint.
        name: String,
        /// What is wrong, with the value.
        what: String,
    },
    /// A joint moves nothing that has inertia along one of its freedoms.
    Massless {
        /// The joint.
        joint: String,
    },
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { what, name } => write!(f, "there are two {what}s named `{name}`"),
            Self::MissingParent { link, parent } => {
                write!(f, "link `{link}` hangs on `{parent}`, and there is no such link")
            }
            Self::Cycle { link } => write!(
                f,
                "link `{link}` hangs on itself through other links; a tree has no circles: cut the loop at one joint and close \
                 it by a constraint"
            ),
            Self::TooMany { links } => write!(f, "{links} links are more than the {MAX_LINKS} a tree may have"),
            Self::Value { name, what } => write!(f, "`{name}`: {what}"),
            Self::Massless { joint } => write!(
                f,
                "joint `{joint}` moves nothing with inertia along one of its freedoms; give the links after it mass and \
                 inertia, or the joint an armature"
            ),
        }
    }
}

impl std::error::Error for TreeError {}

/// Collects links and makes a [`Tree`] of them.
#[derive(Clone, Debug)]
pub struct TreeBuilder {
    gravity: Vec3<f64>,
    links: Vec<LinkSpec>,
}

impl Default for TreeBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl TreeBuilder {
    /// No links yet, and gravity of 9.81 m/s² against z.
    pub fn new() -> Self {
        Self { gravity: Vec3([0.0, 0.0, -9.81]), links: Vec::new() }
    }

    /// Sets the acceleration of free fall, in m/s².
    pub fn gravity(&mut self, gravity: Vec3<f64>) -> &mut Self {
        self.gravity = gravity;
        self
    }

    /// Adds a link; the order of links does not matter.
    pub fn link(&mut self, spec: LinkSpec) -> &mut Self {
        self.links.push(spec);
        self
    }

    /// The links so far.
    pub fn links(&self) -> &[LinkSpec] {
        &self.links
    }

    /// Checks everything and builds the tree.
    pub fn build(&self) -> Result<Tree, TreeError> {
        let parents = self.parents()?;
        for link in &self.links {
            check_link(link)?;
            check_joint(&link.joint)?;
        }
        let order = depth_first(&parents, &self.links)?;
        let mut tree = Tree {
            bodies: Vec::new(),
            nq: 0,
            nv: 0,
            gravity: self.gravity.into(),
            links: Vec::with_capacity(order.len()),
            joints: Vec::with_capacity(order.len()),
            freedoms: Vec::new(),
            cones: Vec::new(),
            before: Vec::new(),
            runs: Vec::new(),
            run_of: Vec::new(),
        };
        if !self.gravity.0.iter().all(|x| x.is_finite()) {
            return Err(TreeError::Value { name: "gravity".into(), what: "must be finite".into() });
        }
        let mut masses: Vec<MassProperties> = Vec::new();
        let mut numbered = vec![usize::MAX; self.links.len()];
        for &i in &order {
            numbered[i] = tree.links.len();
            let parent = parents[i].map(|p| numbered[p]);
            add_link(&mut tree, &mut masses, &self.links[i], parent);
        }
        for (body, mass) in tree.bodies.iter_mut().zip(&masses) {
            (body.moment, body.inertia, body.pseudo) = about_origin(mass);
            body.mass = mass.mass;
        }
        finish(&mut tree);
        if let Some(body) = aba::massless(&tree) {
            let iq = tree.bodies[body].iq;
            let joint = tree.joints.iter().find(|j| (j.coordinate..j.coordinate + j.coordinates).contains(&iq));
            return Err(TreeError::Massless { joint: joint.map_or_else(String::new, |j| j.name.clone()) });
        }
        Ok(tree)
    }

    fn parents(&self) -> Result<Vec<Option<usize>>, TreeError> {
        if self.links.len() > MAX_LINKS {
            return Err(TreeError::TooMany { links: self.links.len() });
        }
        let mut by_name = HashMap::new();
        let mut joints = HashMap::new();
        for (i, link) in self.links.iter().enumerate() {
            if by_name.insert(link.name.as_str(), i).is_some() {
                return Err(TreeError::Duplicate { what: "link", name: link.name.clone() });
            }
            if joints.insert(link.joint.name.as_str(), i).is_some() {
                return Err(TreeError::Duplicate { what: "joint", name: link.joint.name.clone() });
            }
        }
        let find = |link: &LinkSpec| match &link.parent {
            None => Ok(None),
            Some(parent) => by_name
                .get(parent.as_str())
                .map(|&i| Some(i))
                .ok_or_else(|| TreeError::MissingParent { link: link.name.clone(), parent: parent.clone() }),
        };
        self.links.iter().map(find).collect()
    }
}

/// The links in an order in which every subtree is contiguous.
fn depth_first(parents: &[Option<usize>], links: &[LinkSpec]) -> Result<Vec<usize>, TreeError> {
    let mut children = vec![Vec::new(); parents.len()];
    let mut stack = Vec::new();
    for (i, parent) in parents.iter().enumerate().rev() {
        match parent {
            Some(p) => children[*p].push(i),
            None => stack.push(i),
        }
    }
    let mut order = Vec::with_capacity(parents.len());
    let mut seen = vec![false; parents.len()];
    while let Some(i) = stack.pop() {
        seen[i] = true;
        order.push(i);
        stack.extend(&children[i]);
    }
    match seen.iter().position(|s| !s) {
        Some(i) => Err(TreeError::Cycle { link: links[i].name.clone() }),
        None => Ok(order),
    }
}

/// The numbers of coordinates and velocities.
pub(crate) fn count(kind: &JointKind) -> (usize, usize) {
    match kind {
        JointKind::Fixed => (0, 0),
        JointKind::Revolute { .. } | JointKind::Prismatic { .. } | JointKind::Helical { .. } => (1, 1),
        JointKind::Cylindrical { .. } | JointKind::Universal { .. } => (2, 2),
        JointKind::Planar { .. } => (3, 3),
        JointKind::Spherical => (4, 3),
        JointKind::Free => (7, 6),
        JointKind::Combined(parts) => parts.iter().map(count).fold((0, 0), |(a, b), (c, d)| (a + c, b + d)),
    }
}

/// The simple motions of a joint, in order.
fn motions(kind: &JointKind) -> Vec<(Motion, V3<f64>, f64)> {
    let z = v3(0.0, 0.0, 0.0);
    let motion = |kind: JointKind| match kind {
        JointKind::Revolute { axis } => simple(axis, REVOLUTE),
        JointKind::Prismatic { axis } => simple(axis, PRISMATIC),
        JointKind::Helical { axis, pitch } => (Motion::Helical, axis.normalized().into(), pitch),
        JointKind::Free => (Motion::Free, z, 0.0),
        _ => (Motion::Spherical, z, 0.0),
    };
    kind.simple().into_iter().map(motion).collect()
}

const REVOLUTE: [Motion; 4] = [Motion::RevoluteX, Motion::RevoluteY, Motion::RevoluteZ, Motion::Revolute];
const PRISMATIC: [Motion; 4] = [Motion::PrismaticX, Motion::PrismaticY, Motion::PrismaticZ, Motion::Prismatic];

fn simple(axis: Vec3<f64>, kinds: [Motion; 4]) -> (Motion, V3<f64>, f64) {
    let unit = axis.normalized();
    let along = (0..3).find(|&i| (0..3).all(|j| unit[j] == if i == j { 1.0 } else { 0.0 }));
    (kinds[along.unwrap_or(3)], unit.into(), 0.0)
}

pub(crate) fn in_plane(normal: Vec3<f64>) -> (Vec3<f64>, Vec3<f64>) {
    match (0..3).find(|&i| normal[i] == 1.0) {
        Some(i) => {
            let unit = |k: usize| Vec3(std::array::from_fn(|j| if j == k % 3 { 1.0 } else { 0.0 }));
            (unit(i + 1), unit(i + 2))
        }
        None => normal.perpendiculars(),
    }
}

fn add_link(tree: &mut Tree, masses: &mut Vec<MassProperties>, spec: &LinkSpec, parent: Option<usize>) {
    let (mut carrier, base) = match parent {
        Some(p) => (tree.links[p].body, tree.links[p].pose),
        None => (None, Pose::default()),
    };
    let placement = base.then(&spec.joint.placement);
    let motions = motions(&spec.joint.kind);
    let (first_q, first_v) = (tree.nq, tree.nv);
    for (k, &(motion, axis, pitch)) in motions.iter().enumerate() {
        let place = if k == 0 { placement } else { Pose::default() };
        let rot = place.rotation.into();
        let slide = crate::space::M3::<f64>::times(&rot, axis);
        let (iq, iv) = (tree.nq, tree.nv);
        for i in iv..iv + motion.velocities() {
            tree.freedoms.push(spec.joint.freedoms.get(i - first_v).copied().unwrap_or_default());
        }
        tree.bodies.push(Body {
            motion,
            parent: carrier.map_or(0, |c| c + 1),
            iq,
            iv,
            aligned: is_identity(&place.rotation),
            axis,
            pitch,
            rot,
            pos: place.position.into(),
            slide,
            mass: 0.0,
            moment: V3::zero(),
            inertia: Default::default(),
            pseudo: Default::default(),
            subtree_mass: 0.0,
            end: 0,
            root: 0,
            armature: tree.freedoms[iv].armature,
        });
        masses.push(MassProperties::default());
        tree.nq += motion.coordinates();
        tree.nv += motion.velocities();
        carrier = Some(tree.bodies.len() - 1);
    }
    let pose = if motions.is_empty() { placement.then(&spec.offset) } else { spec.offset };
    if let Some(c) = carrier {
        masses[c] = masses[c].joined(&spec.mass.seen_from(&pose));
    }
    tree.links.push(Link {
        name: spec.name.clone(),
        body: carrier,
        pose,
        mass: spec.mass,
        parent,
        joint: tree.joints.len(),
    });
    if let (Some(cone), JointKind::Spherical) = (spec.joint.cone, &spec.joint.kind) {
        tree.cones.push((first_q, first_v, Cone { axis: cone.axis.normalized(), ..cone }));
    }
    tree.joints.push(JointInfo {
        name: spec.joint.name.clone(),
        spec: spec.joint.clone(),
        coordinate: first_q,
        coordinates: tree.nq - first_q,
        velocity: first_v,
        velocities: tree.nv - first_v,
    });
}

/// Masses and ends of subtrees, roots, and the runs of velocities that move each velocity.
fn finish(tree: &mut Tree) {
    for i in (0..tree.bodies.len()).rev() {
        let b = &mut tree.bodies[i];
        b.subtree_mass += b.mass;
        b.end = b.end.max(b.iv + b.motion.velocities());
        let (mass, end, parent) = (b.subtree_mass, b.end, b.parent);
        if parent > 0 {
            tree.bodies[parent - 1].subtree_mass += mass;
            let p = &mut tree.bodies[parent - 1];
            p.end = p.end.max(end);
        }
    }
    let mut inherited: Vec<Vec<(usize, usize)>> = Vec::with_capacity(tree.bodies.len());
    for i in 0..tree.bodies.len() {
        let b = &tree.bodies[i];
        let (parent, iv, n) = (b.parent, b.iv, b.motion.velocities());
        let root = if parent == 0 { i } else { tree.bodies[parent - 1].root };
        let mut runs = if parent == 0 { Vec::new() } else { inherited[parent - 1].clone() };
        let before = runs.last().map_or(usize::MAX, |r: &(usize, usize)| r.1 - 1);
        match runs.last_mut() {
            Some(last) if last.1 == iv => {}
            _ => runs.push((iv, iv)),
        }
        for k in iv..iv + n {
            tree.before.push(if k == iv { before } else { k - 1 });
            if let Some(last) = runs.last_mut() {
                last.1 = k + 1;
            }
            let start = tree.runs.len();
            tree.runs.extend(&runs);
            tree.run_of.push((start, tree.runs.len()));
        }
        inherited.push(runs);
        tree.bodies[i].root = root;
    }
}
