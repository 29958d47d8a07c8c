//! What bodies look like: as a scene says, or else by what is known of them.
//!
//! In this order: balls that contacts put around points, and the discs and balls of rolling constraints, are drawn as they are; a
//! body with three or more contact points is the box around them; a body held at two or more points, also by the joints of a tree, is rods between them; any
//! other is the uniform solid with its inertia. A uniform box of mass m with edges a, b, c has J_x = m(b² + c²)/12, so
//! a² = 6(J_y + J_z − J_x)/m; a cylinder of radius r and length h about z has J_z = mr²/2, J_x = m(3r² + h²)/12.
//! Particles are balls whose volume goes with their mass.

use super::animation::Anchors;
use super::drawn::{MeshData, Meshes, looks};
use super::{Bounds, short, short3};
use crate::model::Model;
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::{Mat3, Vec3};
use serde::{Deserialize, Serialize};

/// The form of a solid, about the origin of its own frame. Lengths in m.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A ball of this radius.
    Ball(f64),
    /// An ellipsoid with these half axes.
    Ellipsoid([f64; 3]),
    /// A box with these edges.
    Block([f64; 3]),
    /// A cylinder of this radius and length along z.
    Cylinder(f64, f64),
    /// The mesh of this number of the animation.
    Mesh(usize),
}

/// A solid fixed to a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solid {
    /// The node.
    pub node: i64,
    /// Its form.
    pub form: Form,
    /// Its centre in the frame of the node, m.
    pub at: [f64; 3],
    /// Its rotation against the node, a quaternion with the scalar first.
    pub turn: [f64; 4],
    /// Its own colour as `#rrggbb`, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
}

/// Radius of a ball compared with the size of all, and with the shortest line that ends in it.
const POINT: [f64; 2] = [0.018, 0.13];
/// Thickness of rods compared with their length.
const ROD: [f64; 2] = [0.02, 0.06];

/// The radius of points that have no size of their own.
pub(super) fn thickness(model: &Model, bounds: &Bounds) -> f64 {
    let mut work = dalembert_methods::System::work::<f64>(model);
    dalembert_methods::System::prepare(model, &model.initial_state(), &mut work);
    let forces = model.forces.iter().filter(|f| f.markers.len() == 2).map(|f| &f.markers);
    let constraints = model.constraints.iter().filter(|c| c.item.kind() == "distance").map(|c| &c.markers);
    let mut lengths: Vec<f64> = forces
        .chain(constraints)
        .map(|ends| (work.places[ends[1]].r - work.places[ends[0]].r).norm())
        .filter(|length| *length > 0.0)
        .collect();
    lengths.sort_by(f64::total_cmp);
    let middle = lengths.get(lengths.len() / 2).copied().unwrap_or(f64::INFINITY);
    (POINT[0] * bounds.diagonal()).min(POINT[1] * middle)
}

/// The solids of all bodies, and the meshes they show.
pub(super) fn solids(model: &Model, anchors: &Anchors, thickness: f64) -> (Vec<Solid>, Vec<MeshData>) {
    let heaviest = model.bodies.iter().map(|b| b.item.total_mass()).filter(|m| m.is_finite()).fold(0.0, f64::max);
    let mut solids = Vec::new();
    let mut meshes = Meshes::default();
    let parts = (0..model.bodies.len()).flat_map(|i| (0..model.bodies[i].item.parts()).map(move |part| (i, part)));
    for (body, part) in parts {
        let node = anchors.node(body, part);
        let looks = looks(model, (body, part), node, &mut meshes);
        if node < 0 || !looks.is_empty() {
            solids.extend(looks);
            continue;
        }
        let mut own = told(model, (body, part));
        own.extend(reference(&model.bodies[body].item.parameters()));
        if own.is_empty() {
            let item = &model.bodies[body].item;
            own = match item.inertia(part) {
                Some(bulk) => by_inertia(model, (body, part), bulk, thickness),
                // A link without mass is a frame only.
                None if item.parts() > 1 => Vec::new(),
                None => {
                    let share = (model.bodies[body].item.total_mass() / heaviest).cbrt().clamp(0.35, 1.0);
                    vec![(Form::Ball(thickness * share), Vec3::zero(), Quat::identity())]
                }
            };
        }
        solids.extend(own.into_iter().map(|(form, at, turn)| Solid {
            node,
            form: rounded(form),
            at: short3(at.0),
            turn: turn.0.map(short),
            colour: None,
        }));
    }
    (solids, meshes.data)
}

type Piece = (Form, Vec3<f64>, Quat<f64>);

fn rounded(form: Form) -> Form {
    match form {
        Form::Ball(r) => Form::Ball(short(r)),
        Form::Ellipsoid(radii) => Form::Ellipsoid(short3(radii)),
        Form::Block(edges) => Form::Block(short3(edges)),
        Form::Cylinder(r, h) => Form::Cylinder(short(r), short(h)),
        Form::Mesh(number) => Form::Mesh(number),
    }
}

/// The reference shape of a body that has one among its parameters; shapes of many corners are the box around them.
fn reference(parameters: &serde_json::Map<String, serde_json::Value>) -> Option<Piece> {
    let (kind, shape) = parameters.get("shape")?.as_object()?.iter().next()?;
    let shape = shape.as_object()?;
    let list = |key: &str| serde_json::from_value::<Vec<f64>>(shape.get(key)?.clone()).ok();
    let length = |key: &str| shape.get(key)?.as_f64();
    // Plane shapes are drawn out along y; a slice of them shows all there is to see.
    let depth = |extent: f64| length("depth").unwrap_or(1.0).min(0.4 * extent);
    let upright = || along(Vec3([0.0, 1.0, 0.0]));
    let centred = |form: Form, turn: Quat<f64>| (form, Vec3::zero(), turn);
    let plain = |form: Form| centred(form, Quat::identity());
    Some(match kind.as_str() {
        "box" => plain(Form::Block(list("size")?.try_into().ok()?)),
        "cylinder" => plain(Form::Cylinder(length("radius")?, length("length")?)),
        "sphere" => plain(Form::Ball(length("radius")?)),
        "ellipsoid" => plain(Form::Ellipsoid(list("radii")?.try_into().ok()?)),
        "rectangle" => {
            let [x, z] = list("size")?.try_into().ok()?;
            plain(Form::Block([x, depth(x.max(z)), z]))
        }
        "disc" => {
            let radius = length("radius")?;
            centred(Form::Cylinder(radius, depth(2.0 * radius)), upright())
        }
        "ellipse" => {
            let [x, z] = list("radii")?.try_into().ok()?;
            plain(Form::Ellipsoid([x, 0.5 * depth(2.0 * x.max(z)), z]))
        }
        _ => {
            let corners = serde_json::from_value::<Vec<Vec<f64>>>(shape.get("vertices")?.clone()).ok()?;
            let mut bounds = Bounds::empty();
            for corner in &corners {
                match *corner.as_slice() {
                    [x, z] => bounds.add(Vec3([x, 0.0, z])),
                    [x, y, z] => bounds.add(Vec3([x, y, z])),
                    _ => return None,
                }
            }
            let thin = depth(bounds.diagonal());
            let edges = std::array::from_fn(|k| (bounds.high[k] - bounds.low[k]).max(if k == 1 { thin } else { 0.0 }));
            (Form::Block(edges), (Vec3(bounds.low) + Vec3(bounds.high)) * 0.5, Quat::identity())
        }
    })
}

/// What contacts and constraints tell of the form of a part of a body.
fn told(model: &Model, of: (usize, usize)) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let site = |marker: usize| &model.markers[marker].site;
    let on_body = |marker: usize| (model.markers[marker].body, model.markers[marker].site.part) == of;
    let mut ball = |radius: f64, marker: usize| {
        let piece = (Form::Ball(radius), Vec3(site(marker).at), Quat::identity());
        if radius > 0.0 && !pieces.contains(&piece) {
            pieces.push(piece);
        }
    };
    for contact in &model.contacts {
        let parameters = contact.item.parameters();
        let outside = !parameters.get("inside").and_then(serde_json::Value::as_bool).unwrap_or(false);
        if contact.item.kind() == "sphere" && outside && on_body(contact.markers[0]) {
            ball(number(&parameters, "size"), contact.markers[0]);
        }
        for &point in contact.markers.iter().skip(1).filter(|&&m| on_body(m)) {
            ball(contact.item.touch().radius, point);
        }
    }
    for constraint in model.constraints.iter().filter(|c| c.markers.len() == 2 && on_body(c.markers[1])) {
        let parameters = constraint.item.parameters();
        let (radius, marker) = (number(&parameters, "radius"), constraint.markers[1]);
        match constraint.item.kind() {
            "sphere_on_plane" | "rolling_sphere" => ball(radius, marker),
            _ => {}
        }
    }
    for constraint in model.constraints.iter().filter(|c| c.markers.len() == 2 && on_body(c.markers[1])) {
        if matches!(constraint.item.kind(), "disc_on_plane" | "rolling_disc") {
            let parameters = constraint.item.parameters();
            let (radius, site) = (number(&parameters, "radius"), site(constraint.markers[1]));
            let axle = site.rotation * vector(&parameters, "axle");
            let piece = (Form::Cylinder(radius, 0.06 * radius), Vec3(site.at), along(axle));
            if radius > 0.0 && !pieces.contains(&piece) {
                pieces.push(piece);
            }
        }
    }
    pieces
}

/// A number among the parameters of an element; 0 if there is none.
pub(crate) fn number(parameters: &serde_json::Map<String, serde_json::Value>, key: &str) -> f64 {
    parameters.get(key).and_then(serde_json::Value::as_f64).unwrap_or(0.0)
}

/// A vector among the parameters of an element; z if there is none.
pub(crate) fn vector(parameters: &serde_json::Map<String, serde_json::Value>, key: &str) -> Vec3<f64> {
    let list = parameters.get(key).and_then(|value| serde_json::from_value::<[f64; 3]>(value.clone()).ok());
    Vec3(list.unwrap_or([0.0, 0.0, 1.0]))
}

/// The solid of a part of a body by what holds it, and by its mass, centre and inertia.
fn by_inertia(
    model: &Model,
    of: (usize, usize),
    (mass, centre, inertia): (f64, [f64; 3], Mat3<f64>),
    thickness: f64,
) -> Vec<Piece> {
    let own = |marker: &usize| (model.markers[*marker].body, model.markers[*marker].site.part) == of;
    let at_markers = |markers: &mut dyn Iterator<Item = usize>| -> Vec<Vec3<f64>> {
        let mut points: Vec<Vec3<f64>> = Vec::new();
        for marker in markers.filter(own) {
            let at = Vec3(model.markers[marker].site.at);
            if !points.contains(&at) {
                points.push(at);
            }
        }
        points
    };
    let touching = at_markers(&mut model.contacts.iter().flat_map(|c| c.markers.iter().skip(1).copied()));
    if touching.len() > 2 {
        let mut bounds = Bounds::empty();
        touching.iter().for_each(|&point| bounds.add(point));
        let least = 0.03 * bounds.diagonal();
        let edges = std::array::from_fn(|k| (bounds.high[k] - bounds.low[k]).max(least));
        return vec![(Form::Block(edges), (Vec3(bounds.low) + Vec3(bounds.high)) * 0.5, Quat::identity())];
    }
    let solid = uniform(mass, inertia);
    let centre = Vec3(centre);
    let held = model.constraints.iter().filter(|c| c.markers.len() <= 4).flat_map(|c| c.markers.iter());
    let pulled = model.forces.iter().filter(|f| f.markers.len() == 2).flat_map(|f| f.markers.iter());
    let mut points = at_markers(&mut held.chain(pulled).copied());
    for joint in model.bodies[of.0].item.held(of.1).into_iter().map(Vec3) {
        if !points.contains(&joint) {
            points.push(joint);
        }
    }
    match points.len() {
        0 => vec![(solid.0, centre, solid.1)],
        1 => {
            let arm = (centre - points[0]).norm();
            let mut pieces = vec![(solid.0, centre, solid.1)];
            if arm > 0.5 * extent(solid.0) {
                pieces.extend(rod(points[0], centre, (ROD[0] * arm).min(thickness)));
            }
            pieces
        }
        _ => {
            // Also free ends that have a marker show how far the body goes.
            for point in at_markers(&mut (0..model.markers.len())) {
                if !points.contains(&point) {
                    points.push(point);
                }
            }
            let from = points[0];
            let longest = points.iter().map(|&p| (p - from).norm()).fold(0.0, f64::max);
            let radius = (0.5 * thinnest(solid.0)).clamp(ROD[0] * longest, ROD[1] * longest);
            let rods = points[1..].iter().filter_map(|&to| rod(from, to, radius));
            let ends = points.iter().map(|&point| (Form::Ball(radius), point, Quat::identity()));
            rods.chain(ends).collect()
        }
    }
}

/// A rod between two points; none if they coincide.
fn rod(from: Vec3<f64>, to: Vec3<f64>, radius: f64) -> Option<Piece> {
    let length = (to - from).norm();
    (length > 0.0).then(|| (Form::Cylinder(radius, length), (from + to) * 0.5, along(to - from)))
}

fn extent(form: Form) -> f64 {
    match form {
        Form::Ball(r) => 2.0 * r,
        Form::Ellipsoid([a, b, c]) => 2.0 * a.max(b).max(c),
        Form::Block([a, b, c]) => a.max(b).max(c),
        Form::Cylinder(r, h) => h.max(2.0 * r),
        Form::Mesh(_) => 0.0,
    }
}

fn thinnest(form: Form) -> f64 {
    match form {
        Form::Ball(r) => 2.0 * r,
        Form::Ellipsoid([a, b, c]) => 2.0 * a.min(b).min(c),
        Form::Block([a, b, c]) => a.min(b).min(c),
        Form::Cylinder(r, h) => h.min(2.0 * r),
        Form::Mesh(_) => 0.0,
    }
}

/// The rotation that takes z to a direction.
fn along(direction: Vec3<f64>) -> Quat<f64> {
    let d = direction.normalized();
    // Half of the turn about z × d: (1 + z·d, z × d), normalised; half a turn about x for the opposite direction.
    let quaternion = Quat([1.0 + d[2], -d[1], d[0], 0.0]);
    if 1.0 + d[2] < 1e-12 { Quat([0.0, 1.0, 0.0, 0.0]) } else { quaternion.normalized() }
}

/// The uniform box, or cylinder for two equal moments, with the given inertia, and the rotation to the body frame.
pub(super) fn uniform(mass: f64, inertia: Mat3<f64>) -> (Form, Quat<f64>) {
    let (moments, axes) = principal(inertia);
    let equal = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
    let odd = (0..3).find(|&k| {
        let [i, j] = [(k + 1) % 3, (k + 2) % 3];
        equal(moments[i], moments[j]) && !equal(moments[i], moments[k])
    });
    if let Some(k) = odd {
        let radius = (2.0 * moments[k] / mass).sqrt();
        // A thin disc has h² ≤ 0 by rounding: keep some thickness to see it by.
        let length = (12.0 * moments[(k + 1) % 3] / mass - 3.0 * radius * radius).max(0.0).sqrt();
        return (Form::Cylinder(radius.max(0.02 * length), length.max(0.08 * radius)), along(axes.column(k)));
    }
    let [x, y, z] = moments;
    let edges = [y + z - x, z + x - y, x + y - z].map(|sum| (6.0 * sum / mass).max(0.0).sqrt());
    let least = 0.05 * edges.iter().copied().fold(0.0, f64::max);
    (Form::Block(edges.map(|edge| edge.max(least))), Quat::from_matrix(axes))
}

/// Principal moments and axes (as columns, right-handed) by Jacobi's rotations.
fn principal(inertia: Mat3<f64>) -> ([f64; 3], Mat3<f64>) {
    let mut a = inertia;
    let mut axes = Mat3::identity();
    // Convergence is quadratic: six sweeps leave nothing but rounding.
    for _ in 0..6 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.0[p][q];
            if off.abs() <= f64::EPSILON * (a.0[p][p].abs() + a.0[q][q].abs()) {
                continue;
            }
            let angle = 0.5 * (2.0 * off).atan2(a.0[q][q] - a.0[p][p]);
            let (s, c) = angle.sin_cos();
            let mut turn = Mat3::identity();
            (turn.0[p][p], turn.0[q][q], turn.0[p][q], turn.0[q][p]) = (c, c, s, -s);
            a = turn.transposed() * a * turn;
            axes = axes * turn;
        }
    }
    ([a.0[0][0], a.0[1][1], a.0[2][2]], axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_and_cylinders_have_the_inertia_they_were_made_from() {
        let (m, a, b, c) = (3.0, 0.2, 0.5, 1.1);
        let moments = [m * (b * b + c * c) / 12.0, m * (c * c + a * a) / 12.0, m * (a * a + b * b) / 12.0];
        let turn = Quat::exp(Vec3([0.3, -0.8, 0.5])).matrix();
        let (form, found) = uniform(m, turn * Mat3::diagonal(moments) * turn.transposed());
        let Form::Block(edges) = form else { panic!("three different moments make a box, not {form:?}") };
        let axes = found.matrix();
        // A few dozen operations on numbers of order one; roots of differences lose little here.
        for (edge, k) in [a, b, c].into_iter().zip(0..3) {
            let j = (0..3).find(|&j| (edges[j] - edge).abs() < 1e-12).expect("every edge is found");
            assert!((axes.column(j).dot(turn.column(k)).abs() - 1.0).abs() < 1e-12);
        }
        assert!((axes.determinant() - 1.0).abs() < 1e-12);
        let (r, h) = (0.3, 0.9);
        let across = m * (3.0 * r * r + h * h) / 12.0;
        let (form, _) = uniform(m, Mat3::diagonal([across, m * r * r / 2.0, across]));
        let Form::Cylinder(radius, length) = form else { panic!("two equal moments make a cylinder, not {form:?}") };
        assert!((radius - r).abs() < 1e-12 && (length - h).abs() < 1e-12);
    }

    #[test]
    fn rods_point_along() {
        for d in [[1.0, 2.0, -0.5], [0.0, 0.0, -1.0], [0.0, 0.0, 1.0], [0.0, -3.0, 0.0]] {
            let turned = along(Vec3(d)).rotate(Vec3([0.0, 0.0, 1.0]));
            assert!((turned - Vec3(d).normalized()).norm() < 1e-12, "{d:?}");
        }
    }
}
