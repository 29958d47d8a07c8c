//! A tree of links as one body, in minimal coordinates: q are the coordinates of its joints, v their velocities.
//!
//! Equations and algorithms are those of `dalembert-trees`: M(q) v̇ + k(q, v) = τ, Schiehlen eq. (17), without any constraints
//! inside the tree. Every link can carry markers, so that forces, joints that close loops, and contacts act on it as on any
//! other body. Markers name the link by `link`; without it they are on the first.
//!
//! Joints have armature, damping, friction, springs and stops of their own (`dalembert_trees::passive`); their energy and heat
//! are part of the ledger. Dry friction sticks and slips like that of contacts, at located instants, unless `slip` makes it smooth.

use super::tree_settings::{TreeEnd, TreeJoint, TreeLink, TreeSettings, default_stop_damping, default_stop_stiffness};
use super::{Body, Inertia, OwnLatch, OwnStop};
use crate::element::About;
use crate::joints::Coordinate;
use crate::model::{Acceleration, Orientation, Place, Site, Wrench};
use dalembert_methods::algebra::MassBlock;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Real};
use dalembert_trees::{
    Freedom, JointKind, JointSpec, LinkSpec, MAX_LINKS, MassProperties, Pose, TreeBuilder, flat, passive, stops,
};
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
    /// The stops that are contacts.
    stops: Vec<stops::Stop>,
    coordinates: Vec<f64>,
    velocities: Vec<f64>,
}

impl TryFrom<TreeSettings> for Tree {
    type Error = String;
    fn try_from(settings: TreeSettings) -> Result<Self, String> {
        let mut builder = TreeBuilder::new();
        builder.gravity(Vec3::zero());
        let count: usize = settings.links.iter().map(|l| l.repeat.map_or(1, |r| r.count)).sum();
        if count > MAX_LINKS {
            return Err(format!("{count} links are more than the {MAX_LINKS} a tree may have"));
        }
        let links: Vec<TreeLink> = settings.links.iter().flat_map(TreeLink::links).collect();
        for link in &links {
            if link.latch.is_some() && (link.range.is_none() || settings.stop_restitution.is_none()) {
                return Err(format!(
                    "link `{}` has a latch, but no stop that it could hold: give it a `range`, and the tree a `stop_restitution`",
                    link.name
                ));
            }
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
                joint: JointSpec::new(link.name.clone(), kind, placement)
                    .with(freedoms)
                    .within(link.cone.as_ref().map(Into::into)),
                offset: Pose::default(),
                mass: MassProperties { mass: link.mass, centre: Vec3(link.centre), inertia: link.inertia.matrix },
            });
        }
        let tree = builder.build().map_err(|e| e.to_string())?;
        let (mut coordinates, mut velocities) = (tree.neutral(), vec![0.0; tree.velocities()]);
        for joint in tree.joints() {
            let Some(link) = links.iter().find(|l| l.name == joint.name) else { continue };
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
            stop_stiffness: if settings.stop_restitution.is_some() { 0.0 } else { settings.stop_stiffness },
            stop_damping: if settings.stop_restitution.is_some() { 0.0 } else { settings.stop_damping },
        };
        let stops = if settings.stop_restitution.is_some() { stops::stops(&tree) } else { Vec::new() };
        Ok(Self { settings, tree, smoothing, stops, coordinates, velocities })
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
            latch: None,
            cone: None,
            repeat: None,
        };
        let settings = TreeSettings {
            links: vec![
                link("bird", None, TreeJoint::Free),
                TreeLink { armature: 0.1, ..link("arm", Some("bird"), TreeJoint::Revolute { axis: [0.2, 1.0, 0.5] }) },
                link("ball", Some("arm"), TreeJoint::Spherical),
                link("screw", Some("arm"), TreeJoint::Helical { axis: [0.0, 0.3, 1.0], pitch: 0.2 }),
                link("gimbal", Some("screw"), TreeJoint::Universal { first: [1.0, 0.0, 0.0], second: [0.0, 1.0, 0.2] }),
                link("slide", Some("bird"), TreeJoint::Prismatic { axis: [0.0, 0.0, 1.0] }),
            ],
            slip: None,
            stop_stiffness: default_stop_stiffness(),
            stop_damping: default_stop_damping(),
            stop_restitution: None,
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
    fn inertia(&self, part: usize) -> Option<(f64, [f64; 3], Mat3<f64>)> {
        let own = &self.tree.links().get(part)?.mass;
        (own.mass > 0.0).then_some((own.mass, own.centre.0, own.inertia))
    }
    fn held(&self, part: usize) -> Vec<[f64; 3]> {
        let spec = |link: &dalembert_trees::Link| &self.tree.joints()[link.joint].spec;
        let own = self.tree.links().get(part).filter(|link| spec(link).kind != JointKind::Free);
        let carried = self.tree.links().iter().filter(|link| link.parent == Some(part));
        own.map(|_| [0.0; 3]).into_iter().chain(carried.map(|link| spec(link).placement.position.0)).collect()
    }
    fn part_name(&self, part: usize) -> Option<&str> {
        self.tree.links().get(part).map(|l| l.name.as_str())
    }
    fn dry_friction(&self) -> Vec<(usize, Coordinate, f64)> {
        if self.smoothing.slip.is_some() {
            return Vec::new();
        }
        let freedoms = self.tree.freedoms().iter().zip(self.tree.slides()).enumerate();
        let kind = |slides| if slides { Coordinate::Travel } else { Coordinate::Angle };
        let rough = freedoms.filter(|(_, (f, _))| f.friction > 0.0);
        rough.map(|(k, (f, slides))| (k, kind(slides), f.friction)).collect()
    }
    fn stops(&self) -> Vec<OwnStop> {
        let names = self.tree.velocity_names();
        let links: Vec<TreeLink> = self.settings.links.iter().flat_map(TreeLink::links).collect();
        let latch = |stop: &stops::Stop| {
            let joint =
                self.tree.joints().iter().find(|joint| joint.velocity == stop.velocity && joint.velocities == 1)?;
            let latch = links.iter().find(|link| link.name == joint.name)?.latch.as_ref()?;
            let end = if latch.end == TreeEnd::Upper { stops::End::Upper } else { stops::End::Lower };
            (stop.end == end).then(|| OwnLatch { release: latch.release.clone(), holds: latch.holds })
        };
        let own = |stop: &stops::Stop| OwnStop {
            latch: latch(stop),
            name: format!("{}.{}", names[stop.velocity].trim_end_matches(".wx"), stop.end.name()),
            velocities: stop.velocity..stop.velocity + stop.width,
            of: if stop.slides { Coordinate::Travel } else { Coordinate::Angle },
            restitution: self.settings.stop_restitution.unwrap_or(0.0),
        };
        self.stops.iter().map(own).collect()
    }
    fn stop<R: Real>(&self, stop: usize, q: &[R]) -> (R, [R; 3]) {
        self.stops[stop].gap(q)
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
        s.slip
            .map(|slip| ("slip", slip))
            .into_iter()
            .chain([("stop_stiffness", self.settings.stop_stiffness)])
            .find(|(_, x)| !positive(*x))
            .map(|(key, x)| (key, format!("must be positive and finite, not {x}")))
            .or_else(|| {
                let bad = !(s.stop_damping >= 0.0 && s.stop_damping.is_finite());
                bad.then(|| ("stop_damping", format!("must be finite and not negative, not {}", s.stop_damping)))
            })
            .or_else(|| {
                let restitution = self.settings.stop_restitution.filter(|e| !(0.0..=1.0).contains(e))?;
                Some(("stop_restitution", format!("lies between 0 and 1, found {restitution}")))
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
        vec![MassBlock::Carried(self.tree.velocity_parents().into())]
    }
    fn mass<R: Real>(&self, _block: usize, cache: &[R], out: &mut [R]) {
        flat::carried(&self.tree, cache, out);
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
    fn local_velocity<R: Real>(&self, delta: &[R], rate: &[R], out: &mut [R]) {
        self.tree.local_velocity(delta, rate, out);
    }
    fn local_shift<R: Real>(&self, delta: &[R], base: &[R], out: &mut [R]) {
        self.tree.local_shift(delta, base, out);
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
