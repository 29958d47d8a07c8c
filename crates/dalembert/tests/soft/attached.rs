//! Everything attaches to soft bodies: springs, joints, muscles, rods, rigid contacts, several supports; and the same body by hand.

use super::{accelerations, built_in, channel, completed, imbalance, largest_size, scene, smallest};
use dalembert::bodies::{Affine, AffinePlane};
use dalembert::forces::contact_field::{Given, Repulsion, Resistance, Strength};
use dalembert::forces::{ContactField, Elastic};
use dalembert::materials::{Material, NeoHookean};
use dalembert::model::{Model, Orientation};
use dalembert::shapes::{Cylinder, Disc, Form, Shape};

/// A soft cube hangs by a spring and a muscle, carries a particle on a rod and another cube by a ball joint, and a corner of it hits a rigid
/// floor. The ledger closes, and the joints hold.
#[test]
fn springs_joints_muscles_and_rigid_contacts() {
    let text = r#"
[world]
gravity = [0, 0, -9.81]

[assembly.cube]
kind = "soft"
shape = { box = { size = [1, 1, 1] } }
density = 100
material = { mooney_rivlin = { first = 3e3, second = 1e3 } }
viscosity = 5
position = [0, 0, 2]
supports = []

[marker]
top = { body = "cube", at = [0.2, 0.1, 0.5] }
side = { body = "cube", at = [0.5, 0, 0.5] }
low = { body = "cube", at = [-0.5, -0.5, -0.5] }
corner = { body = "cube", at = [0.5, 0.5, -0.5] }
hook = { body = "ground", at = [0, 0, 4] }
peg = { body = "ground", at = [2, 0, 3] }
ear = { body = "friend", at = [0, 0, 0.25] }

[body.bob]
kind = "particle"
mass = 2
position = [-0.5, -0.5, 0.2]

[body.friend]
kind = "affine"
shape = { sphere = { radius = 0.25 } }
density = 50
position = [0.5, 0.5, 1.25]

[force.stuff]
kind = "elastic"
on = "friend"
volume = 0.06544984694978735
material = { neo_hookean = { modulus = 2e3 } }

[constraint.stuff]
kind = "incompressible"
on = "friend"
volume = 0.06544984694978735

[force.spring]
kind = "spring"
between = ["hook", "top"]
stiffness = 3000
rest_length = 1.3
damping = 5

[force.muscle]
kind = "muscle"
between = ["peg", "side"]
stiffness = 100
rest_length = 0.5
activation = 0.7

[constraint.rod]
kind = "distance"
between = ["low", "bob"]
length = 1.3

[joint.ball]
kind = "spherical"
between = ["corner", "ear"]

[contact.floor]
kind = "plane"
between = ["ground", "bob"]
restitution = 0.4

[run]
until = 1.5
tolerance = 1e-10
"#;
    let scene = scene(text, &[]).unwrap();
    let outcome = completed(&scene);
    assert!(imbalance(&outcome) < 1e-9, "{:e}", imbalance(&outcome));
    assert!(outcome.summary.events > 0, "the particle should hit the floor");
    // Residuals are kept below the tolerance, relative to lengths of a few metres.
    assert!(largest_size(channel(&outcome, "residual.position")) < 1e-9);
    for force in ["spring", "muscle"] {
        assert!(largest_size(channel(&outcome, &format!("force.{force}.force.z"))) > 1.0, "{force}");
    }
    assert!(largest_size(channel(&outcome, "joint.ball.force.z")) > 1.0);
}

/// A soft disc thrown into a corner feels floor and wall, and a plate above it: three supports at once.
#[test]
fn several_supports_at_once() {
    let supports = "assembly.blob.supports=[{}, { at = [-1.2, 0, 0], normal = [1, 0, 0] }, { at = [0, 0, 1.4], normal = [0.1, 0, -1] }]";
    let set = [supports, "assembly.blob.velocity=[-3, 0, 2]", "run.until=1.2"];
    let outcome = completed(&built_in("soft-bounce", &set));
    assert!(imbalance(&outcome) < 1e-9, "{:e}", imbalance(&outcome));
    for name in ["blob_contact", "blob_contact2", "blob_contact3"] {
        let distance = smallest(channel(&outcome, &format!("force.{name}.distance")));
        assert!(distance > 0.0 && distance < 0.02, "{name}: {distance}");
    }
}

/// The rigid mode is the rigid body of the library with a contact field: the same bits.
#[test]
fn rigid_mode_is_the_rigid_body() {
    let set = ["run.until=0.4", "output.every=0.01"];
    let soft = completed(&built_in("cube-slide", &set));
    let text = dalembert::scenes::find("cube-slide").unwrap().text;
    let (head, rest) = text.split_once("[assembly.cube]").unwrap();
    let (_, tail) = rest.split_once("[marker.A]").unwrap();
    let by_hand = format!(
        "{head}[body.cube]\nkind = \"rigid\"\nmass = 1000\n\
         inertia = [\"= 1000/6\", \"= 1000/6\", \"= 1000/6\"]\n\
         position = [\"= (cos(tilt) - sin(tilt))/2\", 0, \"= distance + (cos(tilt) + sin(tilt))/2\"]\n\
         orientation = {{ axis = [0, -1, 0], angle = \"= tilt\" }}\n\
         [force.cube_contact]\nkind = \"contact_field\"\nbetween = [\"ground\", \"cube\"]\n\
         shape = {{ rectangle = {{ size = [1, 1] }} }}\n\
         repulsion = {{ coefficient = {{ weight = 9810, at = \"= rest\" }} }}\n\
         damping = {{ coefficient = {{ traction = \"= damping\", at = \"= rest\" }}, power = 2 }}\n\
         [marker.A]{tail}"
    );
    let rigid = completed(&scene(&by_hand, &set).unwrap());
    for name in ["position.x", "position.z", "orientation.y", "angular_velocity.y"] {
        let name = format!("body.cube.{name}");
        let (a, b) = (channel(&soft, &name), channel(&rigid, &name));
        let worst = a.iter().zip(b).fold(0.0, |max: f64, (a, b)| max.max((a - b).abs()));
        assert!(worst <= 1e-12, "{name}: {worst:e}");
    }
}

/// One deformed and moving cylinder by two codes: as a disc in a plane and as a cylinder of unit length in space whose axis z points along −y.
/// Accelerations within the plane agree; the cylinder alone can change its length.
#[test]
fn plane_and_space_agree_under_deformation() {
    let laws = |shape: &Shape| {
        let resist = |traction: f64, power: usize| {
            Some(Resistance { coefficient: Strength::Traction { traction, at: 0.01 }, power })
        };
        let coefficient = Strength::Traction { traction: 1e4, at: 0.01 };
        Given {
            repulsion: Some(Repulsion { coefficient, power: 8 }),
            damping: resist(3e3, 4),
            friction: resist(5e3, 6),
            ..Given::new(shape.clone())
        }
    };
    let build = |space: bool| {
        let form = match space {
            false => Form::Disc(Disc { radius: 0.5, depth: 1.0 }),
            true => Form::Cylinder(Cylinder { radius: 0.5, length: 1.0, ends: false }),
        };
        let shape = Shape::try_from(form).unwrap();
        let mut b = Model::builder();
        let (position, velocity) = ([0.0, 0.0, 0.56], [0.3, 0.0, -0.7]);
        let frame = if space {
            // Columns: images of the axes x, y, z of the cylinder; its y is z of the disc, its z is −y.
            let turned =
                |f: [[f64; 2]; 2], axial: f64| [[f[0][0], f[0][1], 0.0], [0.0, 0.0, -axial], [f[1][0], f[1][1], 0.0]];
            let gradient = turned([[1.1, 0.2], [-0.1, 0.95]], 1.0);
            let gradient_rate = turned([[0.4, -0.3], [0.2, 0.5]], 0.0);
            let body = Affine { position, velocity, gradient, gradient_rate, ..Affine::new(shape.clone(), 3.0) };
            let body = b.body("blob", body);
            b.affine_frame(body)
        } else {
            let (gradient, gradient_rate) = ([[1.1, 0.2], [-0.1, 0.95]], [[0.4, -0.3], [0.2, 0.5]]);
            let body =
                AffinePlane { position, velocity, gradient, gradient_rate, ..AffinePlane::new(shape.clone(), 3.0) };
            let body = b.body("blob", body);
            b.affine_frame(body)
        };
        let ground = b.ground();
        let floor = b.frame("floor", ground, [0.0; 3], Orientation::default());
        let material = Material::NeoHookean(NeoHookean { modulus: 2.0 });
        let elastic = Elastic { viscosity: 0.3, ..Elastic::new(shape.solid().volume, material) };
        b.force("material", elastic, frame);
        b.force("field", ContactField::from(laws(&shape)), (floor, frame));
        let model = b.build().unwrap();
        accelerations(&model, &model.initial_state())
    };
    let (plane, space) = (build(false), build(true));
    // Plane: ẍ, z̈, then the gradient by rows. Space: ẍ, ÿ, z̈, then the gradient by rows.
    let entry = |i: usize, j: usize| space[3 + 3 * i + j];
    let pairs = [
        (plane[0], space[0]),
        (plane[1], space[2]),
        (plane[2], entry(0, 0)),
        (plane[3], entry(0, 1)),
        (plane[4], entry(2, 0)),
        (plane[5], entry(2, 1)),
    ];
    let size = largest_size(&plane);
    for (a, b) in pairs {
        // The tube is integrated adaptively to 1e-14 of its largest moment; distances of 5e-2 are differences of order one, to a power of 8.
        assert!((a - b).abs() <= 1e-11 * size, "{plane:?} {space:?}");
    }
}

/// The pictures of a report show the body as it is deformed, its support and the way of its centre.
#[test]
fn shapes_are_drawn() {
    use dalembert::run::{figures, motion};
    let mut scene = built_in("soft-bounce", &["run.until=0.5"]);
    let settings = "times = [0, 0.4]\ntraces = [\"body.blob\", \"marker.bottom\"]";
    scene.shapes = vec![("frames".to_owned(), toml::from_str(settings).unwrap())];
    let outcome = completed(&scene);
    let drawn = figures(&scene, &outcome.trajectory, &outcome.events);
    let picture = drawn.shapes.iter().find(|shapes| shapes.name == "frames").unwrap();
    assert_eq!(picture.traces.len(), 2);
    let (time, gradient) = (outcome.trajectory.time(), channel(&outcome, "body.blob.gradient.xx"));
    let row = time.iter().position(|t| *t >= 0.4 - 1e-9).unwrap();
    let line = &picture.snapshots[1].lines[0];
    let width = line.iter().fold(0.0, |max: f64, p| max.max(p[0].abs()));
    assert!((width - 0.5 * gradient[row]).abs() < 1e-12, "{width} {}", gradient[row]);
    let floor = &picture.snapshots[1].surfaces;
    assert_eq!(floor.len(), 1);
    assert!(floor[0].iter().all(|p| p[1].abs() < 1e-12), "{floor:?}");
    let flashes = motion(&scene.model, &outcome.trajectory).unwrap();
    assert_eq!(flashes.frames[0].shapes[0].points.len(), line.len());
}
