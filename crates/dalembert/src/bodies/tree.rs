//! A tree of links as one body, in minimal coordinates: q are the coordinates of its joints, v their velocities.
//!
//! Equations and algorithms are those of `dalembert-trees`: M(q) v̇ + k(q, v) = τ, Schiehlen eq. (17), without any constraints
//! inside the tree. Every link can carry markers, so that forces, joints that close loops, and contacts act on it as on any
//! other body. Markers name the link by `link`; without it they are on the first.
//!
//! Joints have armature, damping, friction, springs and stops of their own (`dalembert_trees::passive`); their energy and heat
//! are part of the ledger.

use super::{Body, Inertia};
use crate::element::About;
use crate::model::{Acceleration, Orientation, Place, Site, Wrench};
use dalembert_methods::algebra::MassBlock;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real};
use dalembert_trees::{Freedom, JointKind, JointSpec, LinkSpec, MassProperties, Pose, TreeBuilder, flat, passive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tree of links with joints between them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "TreeSettings", into = "TreeSettings")]
#[schemars(with = "TreeSettings")]
pub struct Tree {
    settings: TreeSettings,
    tree: dalembert_trees::Tree,
    smoothing: passive::Smoothing,
    coordinates: Vec<f64>,
    velocities: Vec<f64>,
}

/// The keys of a tree in a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeSettings {
    /// The links, in any order.
    pub links: Vec<TreeLink>,
    /// Velocity below which dry friction of joints fades, in rad/s or m/s.
    #[serde(default = "default_slip")]
    pub slip: f64,
    /// Stiffness of the stops at the ends of ranges, in N m/rad or N/m.
    #[serde(default = "default_stop_stiffness")]
    pub stop_stiffness: f64,
    /// Damping of the stops, in N m s/rad or N s/m.
    #[serde(default = "default_stop_damping")]
    pub stop_damping: f64,
}

fn default_slip() -> f64 {
    passive::Smoothing::default().slip
}
fn default_stop_stiffness() -> f64 {
    passive::Smoothing::default().stop_stiffness
}
fn default_stop_damping() -> f64 {
    passive::Smoothing::default().stop_damping
}

/// A link of a tree with the joint before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeLink {
    /// Its name.
    pub name: String,
    /// The link before; none if it hangs on the ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// How the joint before it moves.
    pub joint: TreeJoint,
    /// Position of the joint frame in the frame of the parent (or the world).
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub position: [f64; 3],
    /// Orientation of the joint frame in the frame of the parent (or the world).
    #[serde(default)]
    pub orientation: Orientation,
    /// Mass; zero for links that only carry others.
    #[schemars(extend("unit" = "kg"))]
    #[serde(default)]
    pub mass: f64,
    /// Centre of mass in the link frame, which is the joint frame moved by the joint.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub centre: [f64; 3],
    /// Inertia about the centre of mass: [Jxx, Jyy, Jzz] or [Jxx, Jyy, Jzz, Jxy, Jxz, Jyz].
    #[schemars(extend("unit" = "kg m²"))]
    #[serde(default = "no_inertia")]
    pub inertia: Inertia,
    /// Initial coordinates of the joint; zero displacement and no rotation if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coordinates: Vec<f64>,
    /// Initial velocities of the joint; zero if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub velocities: Vec<f64>,
    /// Reflected inertia of a drive on every freedom, in kg m² or kg.
    #[serde(default)]
    pub armature: f64,
    /// Viscous friction of every freedom, in N m s/rad or N s/m.
    #[serde(default)]
    pub damping: f64,
    /// Dry friction of every freedom, in N m or N.
    #[serde(default)]
    pub friction: f64,
    /// Stiffness of a spring on every freedom, in N m/rad or N/m.
    #[serde(default)]
    pub stiffness: f64,
    /// Coordinate at which this spring is relaxed, in rad or m.
    #[serde(default)]
    pub rest: f64,
    /// Range of the coordinate between stops, in rad or m; without it there are no stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
}

fn no_inertia() -> Inertia {
    Inertia::principal([0.0; 3])
}

/// The ways in which a joint of a tree moves; axes are in the joint frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TreeJoint {
    /// Not at all.
    Fixed,
    /// Turns about an axis.
    Revolute {
        /// The axis.
        axis: [f64; 3],
    },
    /// Slides along an axis.
    Prismatic {
        /// The axis.
        axis: [f64; 3],
    },
    /// Turns about an axis and slides along it in proportion.
    Helical {
        /// The axis.
        axis: [f64; 3],
        /// Displacement per angle, in m/rad.
        pitch: f64,
    },
    /// Slides along and turns about an axis.
    Cylindrical {
        /// The axis.
        axis: [f64; 3],
    },
    /// Slides in a plane and turns about its normal.
    Planar {
        /// The normal.
        normal: [f64; 3],
    },
    /// Turns about two axes, the second carried by the first.
    Universal {
        /// The first axis.
        first: [f64; 3],
        /// The second axis.
        second: [f64; 3],
    },
    /// Turns in any way; coordinates are a unit quaternion, scalar first.
    Spherical,
    /// Moves in any way; coordinates are a position and a unit quaternion, scalar first, velocities are in the axes of the link.
    Free,
    /// Several joints one after the other.
    Combined {
        /// The joints.
        joints: Vec<TreeJoint>,
    },
}

impl From<&TreeJoint> for JointKind {
    fn from(joint: &TreeJoint) -> Self {
        match joint {
            TreeJoint::Fixed => Self::Fixed,
            TreeJoint::Revolute { axis } => Self::Revolute { axis: Vec3(*axis) },
            TreeJoint::Prismatic { axis } => Self::Prismatic { axis: Vec3(*axis) },
            TreeJoint::Helical { axis, pitch } => Self::Helical { axis: Vec3(*axis), pitch: *pitch },
            TreeJoint::Cylindrical { axis } => Self::Cylindrical { axis: Vec3(*axis) },
            TreeJoint::Planar { normal } => Self::Planar { normal: Vec3(*normal) },
            TreeJoint::Universal { first, second } => Self::Universal { first: Vec3(*first), second: Vec3(*second) },
            TreeJoint::Spherical => Self::Spherical,
            TreeJoint::Free => Self::Free,
            TreeJoint::Combined { joints } => Self::Combined(joints.iter().map(Into::into).collect()),
        }
    }
}

impl TryFrom<TreeSettings> for Tree {
    type Error = String;
    fn try_from(settings: TreeSettings) -> Result<Self, String> {
        let mut builder = TreeBuilder::new();
        builder.gravity(Vec3::zero());
        for link in &settings.links {
            let (lower, upper) = link.range.map_or((f64::NEG_INFINITY, f64::INFINITY), |[a, b]| (a, b));
            let freedom = Freedom {
                armature: link.armature,
                damping: link.damping,
                friction: link.friction,
                stiffness: link.stiffness,
                rest: link.rest,
                lower,
                upper,
                ..Freedom::default()
            };
            let kind = JointKind::from(&link.joint);
            let placement = Pose { rotation: link.orientation.quaternion().matrix(), position: Vec3(link.position) };
            let freedoms = vec![freedom; kind.velocities()];
            builder.link(LinkSpec {
                name: link.name.clone(),
                parent: link.parent.clone(),
                joint: JointSpec::new(link.name.clone(), kind, placement).with(freedoms),
                offset: Pose::default(),
                mass: MassProperties { mass: link.mass, centre: Vec3(link.centre), inertia: link.inertia.matrix },
            });
        }
        let tree = builder.build().map_err(|e| e.to_string())?;
        let (mut coordinates, mut velocities) = (tree.neutral(), vec![0.0; tree.velocities()]);
        for joint in tree.joints() {
            let Some(link) = settings.links.iter().find(|l| l.name == joint.name) else { continue };
            let q = joint.coordinate..joint.coordinate + joint.coordinates;
            let v = joint.velocity..joint.velocity + joint.velocities;
            for (what, given, out) in [
                ("coordinates", &link.coordinates, &mut coordinates[q]),
                ("velocities", &link.velocities, &mut velocities[v]),
            ] {
                if given.len() == out.len() {
                    out.copy_from_slice(given);
                } else if !given.is_empty() {
                    return Err(format!(
                        "link `{}` has {} {what}, but {} are given",
                        link.name,
                        out.len(),
                        given.len()
                    ));
                }
            }
        }
        if !coordinates.iter().chain(&velocities).all(|x| x.is_finite()) {
            return Err("initial coordinates and velocities must be finite".into());
        }
        if let Some((joint, length)) = tree.quaternion_defect(&coordinates, 1e-6) {
            return Err(format!("the quaternion of link `{joint}` has length {length}, not 1"));
        }
        let smoothing = passive::Smoothing {
            slip: settings.slip,
            stop_stiffness: settings.stop_stiffness,
            stop_damping: settings.stop_damping,
        };
        Ok(Self { settings, tree, smoothing, coordinates, velocities })
    }
}

impl From<Tree> for TreeSettings {
    fn from(tree: Tree) -> Self {
        tree.settings
    }
}

impl Tree {
    /// The tree itself, for its algorithms.
    pub fn tree(&self) -> &dalembert_trees::Tree {
        &self.tree
    }

    /// Position and rotation of a site relative to the moving body that carries it.
    fn local(&self, site: &Site) -> (Option<usize>, Vec3<f64>, Mat3<f64>) {
        let link = &self.tree.links()[site.part];
        (link.body, link.pose.rotation * Vec3(site.at) + link.pose.position, link.pose.rotation * site.rotation)
    }

    /// The parts of the cache: motion, coordinates, velocities.
    fn split<'a, R>(&self, cache: &'a [R]) -> (&'a [R], &'a [R], &'a [R]) {
        let (motion, rest) = cache.split_at(flat::length(&self.tree));
        let (q, v) = rest.split_at(self.tree.coordinates());
        (motion, q, v)
    }
}

impl About for Tree {
    const KIND: &'static str = "tree";
    const SUMMARY: &'static str =
        "Links connected by joints to a tree, in minimal coordinates; one body with markers on every link.";
    const REFERENCES: &'static [&'static str] = &[
        "Schiehlen, Computational dynamics, eq. (17), (25)–(39)",
        "Featherstone, Rigid body dynamics algorithms (2008)",
    ];

    fn sample() -> Self {
        let link = |name: &str, parent: Option<&str>, joint: TreeJoint| TreeLink {
            name: name.into(),
            parent: parent.map(Into::into),
            joint,
            position: [0.2, -0.1, 0.4],
            orientation: Orientation::AxisAngle { axis: [0.3, 1.0, -0.4], angle: 0.7 },
            mass: 1.3,
            centre: [0.1, 0.05, -0.2],
            inertia: Inertia { matrix: Mat3([[0.3, 0.02, -0.03], [0.02, 0.4, 0.01], [-0.03, 0.01, 0.5]]) },
            coordinates: Vec::new(),
            velocities: Vec::new(),
            armature: 0.0,
            damping: 0.0,
            friction: 0.0,
            stiffness: 0.0,
            rest: 0.0,
            range: None,
        };
        let settings = TreeSettings {
            links: vec![
                TreeLink { armature: 0.1, ..link("arm", None, TreeJoint::Revolute { axis: [0.2, 1.0, 0.5] }) },
                link("ball", Some("arm"), TreeJoint::Spherical),
                link("screw", Some("arm"), TreeJoint::Helical { axis: [0.0, 0.3, 1.0], pitch: 0.2 }),
                link("gimbal", Some("screw"), TreeJoint::Universal { first: [1.0, 0.0, 0.0], second: [0.0, 1.0, 0.2] }),
                link("bird", None, TreeJoint::Free),
                link("slide", Some("bird"), TreeJoint::Prismatic { axis: [0.0, 0.0, 1.0] }),
            ],
            slip: default_slip(),
            stop_stiffness: default_stop_stiffness(),
            stop_damping: default_stop_damping(),
        };
        Self::try_from(settings).expect("the sample is a tree")
    }
}

impl Body for Tree {
    fn coordinates(&self) -> usize {
        self.tree.coordinates()
    }
    fn velocities(&self) -> usize {
        self.tree.velocities()
    }
    fn cache(&self) -> usize {
        flat::length(&self.tree) + self.tree.coordinates() + self.tree.velocities()
    }
    fn oriented(&self) -> bool {
        true
    }
    fn parts(&self) -> usize {
        self.tree.links().len()
    }
    fn part(&self, name: &str) -> Option<usize> {
        self.tree.links().iter().position(|l| l.name == name)
    }
    fn part_name(&self, part: usize) -> Option<&str> {
        self.tree.links().get(part).map(|l| l.name.as_str())
    }
    fn initial(&self, q: &mut [f64], v: &mut [f64]) {
        q.copy_from_slice(&self.coordinates);
        v.copy_from_slice(&self.velocities);
    }
    fn defect(&self) -> Option<(&'static str, String)> {
        if self.tree.links().is_empty() {
            return Some(("links", "a tree needs at least one link".into()));
        }
        let s = &self.smoothing;
        let positive = |x: f64| x > 0.0 && x.is_finite();
        [("slip", s.slip), ("stop_stiffness", s.stop_stiffness)]
            .into_iter()
            .find(|(_, x)| !positive(*x))
            .map(|(key, x)| (key, format!("must be positive and finite, not {x}")))
            .or_else(|| {
                let bad = !(s.stop_damping >= 0.0 && s.stop_damping.is_finite());
                bad.then(|| ("stop_damping", format!("must be finite and not negative, not {}", s.stop_damping)))
            })
    }
    fn kinematics<R: Real>(&self, q: &[R], v: &[R], cache: &mut [R]) {
        let (motion, rest) = cache.split_at_mut(flat::length(&self.tree));
        flat::fill(&self.tree, q, v, motion);
        rest[..q.len()].copy_from_slice(q);
        rest[q.len()..].copy_from_slice(v);
    }
    fn place<R: Real>(&self, site: &Site, cache: &[R]) -> Place<R> {
        let (body, at, turn) = self.local(site);
        let (at, turn) = (Vec3::constant(at.0), Mat3::constant(turn.0));
        let Some(body) = body else {
            return Place { r: at, v: Vec3::zero(), rotation: turn, omega: Vec3::zero() };
        };
        let m = flat::body(cache, body);
        let arm = m.rotation * at;
        Place { r: m.position + arm, v: m.velocity + m.omega.cross(arm), rotation: m.rotation * turn, omega: m.omega }
    }
    fn pull_back<R: Real>(&self, site: &Site, cache: &[R], wrench: &Wrench<R>, out: &mut [R]) {
        if let (Some(body), at, _) = self.local(site) {
            let m = flat::body(cache, body);
            let point = m.position + m.rotation * Vec3::constant(at.0);
            flat::pull_back(&self.tree, cache, body, point, wrench.force, wrench.torque, out);
        }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Dense(self.tree.velocities())]
    }
    fn mass<R: Real>(&self, _block: usize, cache: &[R], out: &mut [R]) {
        flat::mass(&self.tree, cache, out);
    }
    fn mass_is_constant(&self) -> bool {
        false
    }
    fn force<R: Real>(&self, cache: &[R], out: &mut [R]) {
        let (motion, q, v) = self.split(cache);
        flat::gyroscopic(&self.tree, motion, out);
        passive::forces(&self.tree, q, v, &self.smoothing, out);
    }
    fn weight<R: Real>(&self, cache: &[R], gravity: Vec3<R>, out: &mut [R]) {
        flat::weight(&self.tree, cache, gravity, out);
    }
    fn total_mass(&self) -> f64 {
        self.tree.total_mass()
    }
    fn centre<R: Real>(&self, cache: &[R]) -> Vec3<R> {
        flat::centre(&self.tree, cache)
    }
    fn kinetic<R: Real>(&self, cache: &[R]) -> R {
        let (motion, _, v) = self.split(cache);
        let drives = self.tree.freedoms().iter().zip(v);
        drives.fold(flat::momentum(&self.tree, motion).2, |sum, (f, v)| sum + *v * *v * (0.5 * f.armature))
    }
    fn stored<R: Real>(&self, cache: &[R]) -> R {
        passive::energy(&self.tree, self.split(cache).1, &self.smoothing)
    }
    fn dissipation<R: Real>(&self, cache: &[R]) -> R {
        let (_, q, v) = self.split(cache);
        passive::dissipation(&self.tree, q, v, &self.smoothing)
    }
    fn momentum<R: Real>(&self, cache: &[R]) -> (Vec3<R>, Vec3<R>) {
        let (linear, angular, _) = flat::momentum(&self.tree, cache);
        (linear, angular)
    }
    fn retract<R: Real>(&self, q: &[R], delta: &[R], out: &mut [R]) {
        self.tree.retract(q, delta, out);
    }
    fn local_rate<R: Real>(&self, delta: &[R], v: &[R], out: &mut [R]) {
        self.tree.local_rate(delta, v, out);
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        self.tree.magnitude(q, out);
    }
    fn velocity_name(&self, i: usize) -> String {
        self.tree.velocity_names().swap_remove(i)
    }
    fn bias<R: Real>(&self, site: &Site, _q: &[R], _v: &[R], cache: &[R], _: &mut Vec<Jet<R, 1>>) -> Acceleration<R> {
        let (Some(body), at, _) = self.local(site) else {
            return Acceleration { a: Vec3::zero(), alpha: Vec3::zero() };
        };
        let m = flat::body(cache, body);
        let arm = m.rotation * Vec3::constant(at.0);
        Acceleration { a: m.acceleration + m.alpha.cross(arm) + m.omega.cross(m.omega.cross(arm)), alpha: m.alpha }
    }
}
