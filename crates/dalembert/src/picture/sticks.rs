//! Links of trees as lines, for flat pictures: sized from the tree alone, as nothing else may be known of them.
//!
//! A link goes from its joint to the joints it carries and to its markers. One that has a single such place goes on through its centre of mass
//! to the far side of the uniform solid with its inertia (see [`solids`](super::solids)): a uniform rod ends where it ends, a point mass where it is.
//! A free link with nothing on it is the longest line through that solid.

use super::solids::{Form, uniform};
use crate::model::Model;
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::Vec3;

/// The line of a part of a body in the frame of the part, in m; one point if the part has no length.
pub(crate) fn stick(model: &Model, (body, part): (usize, usize)) -> Vec<[f64; 3]> {
    let item = &model.bodies[body].item;
    let own = model.markers.iter().filter(|m| (m.body, m.site.part) == (body, part)).map(|m| m.site.at);
    let mut places: Vec<[f64; 3]> = Vec::new();
    for place in item.held(part).into_iter().chain(own) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let bulk = item.inertia(part).map(|(mass, centre, inertia)| (Vec3(centre), uniform(mass, inertia)));
    match (places.as_slice(), bulk) {
        ([], None) => vec![[0.0; 3]],
        ([], Some((centre, (form, turn)))) => {
            let axes = [0, 1, 2].map(|k| turn.rotate(Vec3(std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 }))));
            let ends = axes.map(|axis| axis * reach(form, turn, axis));
            let long = ends.into_iter().fold(Vec3::zero(), |a, b| if b.norm() > a.norm() { b } else { a });
            if long.norm() > 0.0 { vec![(centre - long).0, (centre + long).0] } else { vec![centre.0] }
        }
        ([one], Some((centre, (form, turn)))) if centre.0 != *one => {
            let way = (centre - Vec3(*one)).normalized();
            vec![*one, (centre + way * reach(form, turn, way)).0]
        }
        // Back to the first place between the others.
        ([first, rest @ ..], _) => {
            let mut line = vec![*first];
            for (k, place) in rest.iter().enumerate() {
                line.extend((k > 0).then_some(*first));
                line.push(*place);
            }
            line
        }
    }
}

/// How far a solid reaches from its centre along a direction (its support function), in m.
fn reach(form: Form, turn: Quat<f64>, direction: Vec3<f64>) -> f64 {
    let d = turn.matrix().transposed() * direction;
    match form {
        Form::Ball(r) => r,
        Form::Ellipsoid(radii) => Vec3(std::array::from_fn(|k| radii[k] * d[k])).norm(),
        Form::Block(edges) => (0..3).map(|k| 0.5 * edges[k] * d[k].abs()).sum(),
        Form::Cylinder(r, h) => 0.5 * h * d[2].abs() + r * d[0].hypot(d[1]),
        Form::Mesh(_) => 0.0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::scene::{Document, Limits, Overrides, Scene};

    fn lines(text: &str) -> Vec<Vec<[f64; 3]>> {
        let document = Document::from_text("scene.toml", text, &Overrides::none(), &Limits::default());
        let model = document.and_then(Scene::from_document).unwrap().model;
        (0..model.bodies[1].item.parts()).map(|part| stick(&model, (1, part))).collect()
    }

    /// Thin rods of 0.4 m, J = m l²/12: the free one begins and the last one ends where the rod does; a point mass ends at itself, and what carries two
    /// links or a marker is a star.
    #[test]
    fn links_go_from_joint_to_joint_and_to_their_ends() {
        let found = lines(
            r#"
            [body.a]
            kind = "tree"
            [[body.a.links]]
            name = "first"
            joint = { kind = "free" }
            mass = 1
            centre = [0.2, 0, 0]
            inertia = [0.0, "= 0.16/12", "= 0.16/12"]
            [[body.a.links]]
            name = "second"
            parent = "first"
            joint = { kind = "revolute", axis = [0, 0, 1] }
            position = [0.4, 0, 0]
            mass = 1
            centre = [0.2, 0, 0]
            inertia = [0.0, "= 0.16/12", "= 0.16/12"]
            [[body.a.links]]
            name = "fork"
            parent = "first"
            joint = { kind = "revolute", axis = [0, 0, 1] }
            position = [0.4, 0, 0]
            mass = 1
            [[body.a.links]]
            name = "bob"
            parent = "fork"
            joint = { kind = "revolute", axis = [0, 0, 1] }
            position = [0, 0.3, 0]
            mass = 1
            centre = [0, 0.1, 0]
            [marker.tip]
            body = "a"
            link = "fork"
            at = [0.1, 0, 0]
            [run]
            until = 1
            "#,
        );
        // A rod without thickness is drawn as a cylinder of 2 % of its length, which changes nothing along it; roots lose half of the digits of zero.
        let near = |line: &[[f64; 3]], expected: &[[f64; 3]]| {
            assert_eq!(line.len(), expected.len(), "{line:?}");
            for (a, b) in line.iter().zip(expected) {
                assert!((Vec3(*a) - Vec3(*b)).norm() < 1e-7, "{line:?}, not {expected:?}");
            }
        };
        near(&found[0], &[[0.4, 0.0, 0.0], [0.0; 3]]);
        near(&found[1], &[[0.0; 3], [0.4, 0.0, 0.0]]);
        near(&found[2], &[[0.0; 3], [0.0, 0.3, 0.0], [0.0; 3], [0.1, 0.0, 0.0]]);
        near(&found[3], &[[0.0; 3], [0.0, 0.1, 0.0]]);
    }

    /// Support functions: a cube along its diagonal, a cylinder across and along, an ellipsoid along its axes.
    #[test]
    fn solids_reach_as_far_as_they_do() {
        let (x, z, still) = (Vec3([1.0, 0.0, 0.0]), Vec3([0.0, 0.0, 1.0]), Quat::identity());
        let diagonal = Vec3([1.0, 1.0, 1.0]).normalized();
        // A few operations on numbers of order one.
        let same = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
        same(reach(Form::Block([2.0; 3]), still, diagonal), 3f64.sqrt());
        same(reach(Form::Cylinder(0.3, 2.0), still, z), 1.0);
        same(reach(Form::Cylinder(0.3, 2.0), still, x), 0.3);
        same(reach(Form::Ellipsoid([1.0, 2.0, 3.0]), still, z), 3.0);
        same(reach(Form::Ball(0.7), still, diagonal), 0.7);
    }
}
