//! One motion by two routes: multiplier and parametrisation, plane and space, rigid and affine, bodies and particles.

use super::{accelerations, channel, completed, imbalance, largest_size, scene};
use dalembert::bodies::{Affine, AffinePlane, Inertia, Particle, Rigid};
use dalembert::check::Random;
use dalembert::constraints::Incompressible;
use dalembert::forces::contact_field::{Adhesion, Coulomb, Given, Repulsion, Resistance, Strength};
use dalembert::forces::{ContactField, Elastic, Force};
use dalembert::materials::{Material, NeoHookean};
use dalembert::methods::System;
use dalembert::methods::vector::{Mat3, Vec3};
use dalembert::model::{AffineFrame, Instant, Model, Orientation, Place, Wrench};
use dalembert::scenes;
use dalembert::shapes::{Ball, Brick, Disc, Form, Rectangle, Shape};

fn shape(form: Form) -> Shape {
    Shape::try_from(form).unwrap()
}

fn resistance(traction: f64, power: usize) -> Option<Resistance> {
    Some(Resistance { coefficient: Strength::Traction { traction, at: 0.01 }, power })
}

fn laws(shape: &Shape) -> Given {
    let coefficient = Strength::Traction { traction: 1e4, at: 0.01 };
    Given {
        repulsion: Some(Repulsion { coefficient, power: 8 }),
        damping: resistance(3e3, 4),
        friction: resistance(5e3, 6),
        ..Given::new(shape.clone())
    }
}

/// Both routes at a tolerance of 1e-13; their errors grow by what a bounce amplifies, below a hundred in this time.
#[test]
fn multiplier_and_parametrisation_agree() {
    let text = scenes::find("soft-bounce").unwrap().text;
    let set = |mode: &str| {
        let mode = format!("assembly.blob.mode={mode:?}");
        let spin = "assembly.blob.angular_velocity=[0, 1, 0]";
        scene(text, &[&mode, spin, "run.tolerance=1e-13", "run.until=0.6", "output.every=0.02"]).unwrap()
    };
    let (one, two) = (completed(&set("incompressible")), completed(&set("parametrised")));
    for name in [
        "body.blob.position.x",
        "body.blob.position.z",
        "body.blob.velocity.z",
        "force.blob_material.gradient.xx",
        "force.blob_material.gradient.xz",
        "force.blob_material.gradient.zz",
        "force.blob_contact.distance",
    ] {
        let pairs = channel(&one, name).iter().zip(channel(&two, name));
        let worst = pairs.fold(0.0, |max: f64, (a, b)| max.max((a - b).abs()));
        assert!(worst < 1e-10, "{name}: {worst:e}");
    }
    assert!(largest_size(channel(&one, "constraint.blob_volume.pressure")) > 0.0);
}

/// A disc of unit depth in a plane and a cylinder of unit length in space without ends: the same rigid motion.
#[test]
fn plane_and_space_agree() {
    // A cylinder lies on its side: its z axis is not along the normal, so that the repulsion must be given, not the rest.
    let given = "repulsion = { coefficient = { traction = 3e5, at = 0.002 } }";
    let text = &scenes::find("cylinder-roll").unwrap().text.replace("rest_distance = \"= rest\"", given);
    let set = ["run.until=0.5", "run.tolerance=1e-11", "output.every=0.01"];
    let plane = scene(text, &set).unwrap();
    let text = text.replace(
        "shape = { disc = { radius = 0.5 } }",
        "shape = { cylinder = { radius = 0.5, length = 1, ends = false } }\n\
         orientation = { axis = [1, 0, 0], angle = -1.5707963267948966 }",
    );
    let space = scene(&text, &set).unwrap();
    let (plane, space) = (completed(&plane), completed(&space));
    for name in ["position.x", "position.z", "velocity.x", "velocity.z", "angular_velocity.y"] {
        let name = format!("body.wheel.{name}");
        let (a, b) = (channel(&plane, &name), channel(&space, &name));
        let worst = a.iter().zip(b).fold(0.0, |max: f64, (a, b)| max.max((a - b).abs()));
        // Distances of 1e-3 as differences of 0.5: the two codes round them differently, which the impact amplifies.
        assert!(worst < 1e-8 * largest_size(a).max(1.0), "{name}: {worst:e}");
    }
}

/// Places of an affine frame that is deformed and moves, and the places of a support.
fn places(random: &mut Random, height: f64) -> Vec<Place<f64>> {
    let mut gradient = Mat3::identity();
    for x in gradient.0.as_flattened_mut() {
        *x += 0.2 * random.number();
    }
    let (r0, v0) = (Vec3([0.3, -0.2, height]), random.vector());
    let mut at = vec![Place { rotation: Mat3::identity(), omega: random.vector() * 0.1, ..Place::default() }];
    at.push(Place { r: r0, v: v0, ..Place::default() });
    for j in 0..3 {
        at.push(Place { r: r0 + gradient.column(j), v: v0 + random.vector(), ..Place::default() });
    }
    at
}

/// Wrenches from moments in closed form against tractions summed point by point over the boundary.
#[test]
fn loads_are_integrals_of_tractions() {
    let mut random = Random::new(3);
    for form in [Form::Box(Brick { size: [0.5, 0.4, 0.3] }), Form::Sphere(Ball { radius: 0.3 })] {
        let shape = shape(form);
        let field = ContactField::from(laws(&shape));
        for _ in 0..2 {
            let at = places(&mut random, 0.6);
            let mut out = vec![Wrench::default(); 5];
            let now = Instant { t: 0.0, x: &[], p: &[], signals: &[] };
            Force::apply(&field, &now, &at, &mut out);
            let body = &at[1..];
            let gradient = Mat3(std::array::from_fn(|i| std::array::from_fn(|j| body[j + 1].r[i] - body[0].r[i])));
            let rate = Mat3(std::array::from_fn(|i| std::array::from_fn(|j| body[j + 1].v[i] - body[0].v[i])));
            let n = Vec3([0.0, 0.0, 1.0]);
            let a = gradient.transpose_mul(n);
            let size = 1e-4;
            let values = shape.integrate(body[0].r[2], a, &|x: Vec3<f64>, d: f64| {
                let p = body[0].r + gradient * x;
                let w = body[0].v + rate * x - at[0].omega.cross(p);
                let scale = |traction: f64, power: i32| traction * (0.01 / d).powi(power);
                let q = n * scale(1e4, 8) - n * (scale(3e3, 4) * w[2]) - (w - n * w[2]) * scale(5e3, 6);
                let torque = p.cross(q);
                let mut values = [d.powi(-4), q[0], q[1], q[2], torque[0], torque[1], torque[2]];
                values[1..].iter_mut().for_each(|value| *value *= size);
                values
            });
            for i in 0..3 {
                let (force, torque) = (values[1 + i] / size, values[4 + i] / size);
                let scale = out[0].force.norm();
                assert!((out[0].force[i] + force).abs() < 1e-9 * scale, "{:?} {force}", out[0].force);
                assert!((out[0].torque[i] + torque).abs() < 1e-9 * scale, "{:?} {torque}", out[0].torque);
            }
        }
    }
}

/// A field on a rigid body, and on an affine body that moves rigidly: force and moment are the same.
#[test]
fn rigid_bodies_carry_the_same_fields() {
    let form = shape(Form::Box(Brick { size: [0.5, 0.4, 0.3] }));
    let turn = Orientation::AxisAngle { axis: [1.0, 0.4, -0.2], angle: 0.6 };
    let (position, velocity, spin) = ([0.1, 0.2, 0.4], [0.3, -0.2, -0.5], [0.7, -0.4, 0.9]);
    let e = form.solid().second;
    let trace = e.0[0][0] + e.0[1][1] + e.0[2][2];
    let inertia = Inertia { matrix: (Mat3::identity() * trace + e * -1.0) * 1000.0 };
    let mass = 1000.0 * form.solid().volume;
    let [x, y, z] = [0.5, 0.4, 0.3f64];
    assert!((inertia.matrix.0[0][0] - mass * (y * y + z * z) / 12.0).abs() < 1e-12);
    assert!((inertia.matrix.0[1][1] - mass * (x * x + z * z) / 12.0).abs() < 1e-12);
    let mut b = Model::builder();
    let rigid =
        Rigid { mass, inertia, centre: [0.0; 3], position, orientation: turn, velocity, angular_velocity: spin };
    let body = b.body("rigid", rigid);
    let affine =
        Affine { position, orientation: turn, velocity, angular_velocity: spin, ..Affine::new(form.clone(), 1000.0) };
    let other = b.body("affine", affine);
    let ground = b.ground();
    let floor = b.frame("floor", ground, [0.0; 3], Orientation::default());
    let frames = [b.affine_frame(body), b.affine_frame(other)];
    for (name, frame) in ["one", "two"].into_iter().zip(frames) {
        b.force(name, ContactField::from(laws(&form)), (floor, frame));
    }
    let model = b.build().unwrap();
    let s = model.initial_state();
    let mut w = model.work::<f64>();
    model.prepare(&s, &mut w);
    let mut f = vec![0.0; model.shape().v];
    model.force(&s, &mut w, &mut f);
    let r = turn.quaternion().matrix();
    // Torque about the centre from the moment tensor M on ∇p = R: Σ R_j × M_j, in the frame of the body.
    let moment = Mat3(std::array::from_fn(|i| std::array::from_fn(|j| f[9 + 3 * i + j])));
    let torque = (0..3).fold(Vec3::zero(), |sum, j| sum + r.column(j).cross(moment.column(j)));
    let inner = r.transpose_mul(torque);
    let omega = r.transpose_mul(Vec3(spin));
    let gyroscopic = (inertia.matrix * omega).cross(omega);
    for i in 0..3 {
        assert!((f[i] - f[6 + i]).abs() <= 1e-12 * Vec3::from_slice(&f).norm(), "{f:?}");
        assert!((f[3 + i] - gyroscopic[i] - inner[i]).abs() <= 1e-11 * torque.norm().max(1.0), "{f:?}");
    }
}

/// Four particles at the corners of a tetrahedron as a homogeneous body: energy and momentum stay, the volume too.
#[test]
fn four_particles_are_a_soft_body() {
    let particle =
        |x: [f64; 3], v: [f64; 3]| format!("kind = \"particle\"\nmass = 1\nposition = {x:?}\nvelocity = {v:?}\n");
    let text = format!(
        "[body.a]\n{}[body.b]\n{}[body.c]\n{}[body.d]\n{}\
         [force.material]\nkind = \"elastic\"\non = [\"a\", \"b\", \"c\", \"d\"]\nvolume = 0.2\n\
         material = {{ mooney_rivlin = {{ first = 20, second = 5 }} }}\n\
         [constraint.volume]\nkind = \"incompressible\"\non = [\"a\", \"b\", \"c\", \"d\"]\nvolume = 0.2\n\
         [run]\nuntil = 2\ntolerance = 1e-10\n",
        particle([0.0; 3], [0.0; 3]),
        particle([1.0, 0.0, 0.0], [0.0, 1.0, 0.3]),
        particle([0.0, 1.0, 0.0], [-1.0, 0.0, 0.5]),
        particle([0.0, 0.0, 1.0], [0.4, -0.2, 0.0]),
    );
    let outcome = completed(&scene(&text, &[]).unwrap());
    assert!(imbalance(&outcome) < 1e-9, "{:e}", imbalance(&outcome));
    for name in ["linear.x", "linear.y", "linear.z", "angular.x", "angular.y", "angular.z"] {
        let p = channel(&outcome, &format!("momentum.{name}"));
        assert!(p.iter().all(|x| (x - p[0]).abs() < 1e-9), "{name}");
    }
    let volume = channel(&outcome, "constraint.volume.volume");
    assert!(volume.iter().all(|v| (v - 0.2).abs() < 1e-12), "{volume:?}");
    // A scene written out is the same scene.
    let again = scene(&scene(&text, &[]).unwrap().to_toml(), &[]).unwrap();
    assert_eq!(again.model.initial_state(), scene(&text, &[]).unwrap().model.initial_state());
}

/// A support on a free heavy plate: forces are internal, so momentum stays; without resistances energy does too.
#[test]
fn supports_may_move() {
    let form = shape(Form::Sphere(Ball { radius: 0.3 }));
    let mut b = Model::builder();
    let plate = Rigid {
        mass: 50.0,
        inertia: Inertia::principal([4.0, 5.0, 8.0]),
        centre: [0.0; 3],
        position: [0.0; 3],
        orientation: Orientation::AxisAngle { axis: [1.0, 0.0, 0.0], angle: 0.2 },
        velocity: [0.1, 0.0, 0.5],
        angular_velocity: [0.2, 0.1, 0.3],
    };
    let plate = b.body("plate", plate);
    let ball = Affine { position: [0.05, 0.1, 0.5], velocity: [0.0, 0.2, -0.8], ..Affine::new(form.clone(), 100.0) };
    let ball = b.body("ball", ball);
    let top = b.frame("top", plate, [0.0, 0.0, 0.05], Orientation::default());
    let frame = b.affine_frame(ball);
    let volume = form.solid().volume;
    b.force("material", Elastic::new(volume, Material::NeoHookean(NeoHookean { modulus: 2e3 })), frame);
    b.constraint("volume", Incompressible { volume, contraction: None }, frame);
    let field = Given { damping: None, friction: None, ..laws(&form) };
    b.force("field", ContactField::from(field), (top, frame));
    let mut scene = dalembert::scene::Scene::new(b.build().unwrap());
    scene.run.until = 0.6;
    scene.run.tolerance = 1e-11;
    let outcome = completed(&scene);
    assert!(channel(&outcome, "body.ball.velocity.z").last().unwrap() > &0.3, "it bounces off");
    assert!(imbalance(&outcome) < 1e-9, "{:e}", imbalance(&outcome));
    for name in ["linear.x", "linear.y", "linear.z", "angular.x", "angular.y", "angular.z"] {
        let p = channel(&outcome, &format!("momentum.{name}"));
        assert!(p.iter().all(|x| (x - p[0]).abs() < 1e-8), "{name}");
    }
}

/// All points slide alike: friction is −μ v/√(v² + v₀²) times the normal force, and heats by that times the speed.
#[test]
fn coulomb_friction() {
    for form in
        [Form::Disc(Disc { radius: 0.5, depth: 1.0 }), Form::Rectangle(Rectangle { size: [1.0, 1.0], depth: 1.0 })]
    {
        let shape = shape(form);
        let given = Given {
            damping: None,
            friction: None,
            coulomb: Some(Coulomb {
                friction: 0.4,
                static_friction: Some(0.6),
                static_speed: 0.2,
                regular_speed: 0.01,
                coefficient: Strength::Relative { relative: 1.0 },
                power: None,
            }),
            ..laws(&shape)
        };
        let field = ContactField::from(given);
        assert!(Force::defect(&field, 5).is_none());
        let speed = 0.3;
        let unit =
            |x: [f64; 3]| Place { r: Vec3([x[0], x[1], x[2] + 0.51]), v: Vec3([speed, 0.0, 0.0]), ..Place::default() };
        let mut at = vec![Place { rotation: Mat3::identity(), ..Place::default() }];
        at.extend([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(unit));
        let (now, mut out) = (Instant { t: 0.0, x: &[], p: &[], signals: &[] }, vec![Wrench::default(); 5]);
        Force::apply(&field, &now, &at, &mut out);
        let force = -out[0].force;
        let mu = (0.4 + 0.2 * (-(speed / 0.2f64).powi(2)).exp()) * speed / speed.hypot(0.01);
        assert!((force[0] + mu * force[2]).abs() < 1e-10 * force[2], "{force:?}");
        let heat = Force::dissipation(&field, &now, &at);
        assert!((heat - mu * force[2] * speed).abs() < 1e-10 * heat, "{heat}");
    }
}

/// Where attraction balances repulsion a flat face feels next to nothing; closer it is pushed, farther it is pulled.
#[test]
fn adhesion_balances_at_the_sticking_distance() {
    let square = shape(Form::Rectangle(Rectangle { size: [1.0, 1.0], depth: 1.0 }));
    let given = Given {
        damping: None,
        friction: None,
        adhesion: Some(Adhesion {
            attraction: Strength::Balance { balance: 1e-3 },
            power: 6,
            repulsion: Strength::Relative { relative: 3.0 },
            repulsion_power: None,
        }),
        ..laws(&square)
    };
    let field = ContactField::from(given);
    let alpha = 1e4 * 0.01f64.powi(8);
    assert_eq!(field.potential_terms()[1], (3.0 * alpha, 8));
    assert!((field.potential_terms()[2].0 / (-4.0 * alpha * 1e6) - 1.0).abs() < 1e-14);
    let push = |d: f64| {
        let unit = |x: [f64; 3]| Place { r: Vec3([x[0], x[1], x[2] + 0.5 + d]), ..Place::default() };
        let mut at = vec![Place { rotation: Mat3::identity(), ..Place::default() }];
        at.extend([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(unit));
        let mut out = vec![Wrench::default(); 5];
        Force::apply(&field, &Instant { t: 0.0, x: &[], p: &[], signals: &[] }, &at, &mut out);
        -out[0].force[2] / (alpha * 1e24)
    };
    assert!(push(0.5e-3) > 1.0 && push(1.3e-3) < -0.1);
    // The sides of the square feel attraction over their lower millimetre too: a part 1e-3 of the face.
    assert!(push(1e-3).abs() < 2e-3, "{}", push(1e-3));
}

/// A plane body in each of the three planes: gravity along its second axis, the same accelerations.
#[test]
fn planes_are_alike() {
    use dalembert::bodies::Plane;
    let fall = |plane: Plane, gravity: [f64; 3], normal: [f64; 3], position: [f64; 3], velocity: [f64; 3]| {
        let form = shape(Form::Rectangle(Rectangle { size: [1.0, 0.6], depth: 1.0 }));
        let mut b = Model::builder();
        b.gravity(gravity);
        let body = AffinePlane {
            plane,
            position,
            velocity,
            angle: 0.4,
            angular_velocity: 0.3,
            ..AffinePlane::new(form.clone(), 3.0)
        };
        let body = b.body("blob", body);
        let ground = b.ground();
        let floor = b.frame("floor", ground, [0.0; 3], Orientation::default());
        let frame = b.affine_frame(body);
        b.force("material", Elastic::new(0.6, Material::NeoHookean(NeoHookean { modulus: 2.0 })), frame);
        b.force("field", ContactField::from(Given { normal, ..laws(&form) }), (floor, frame));
        let model = b.build().unwrap();
        accelerations(&model, &model.initial_state())
    };
    let xz = fall(Plane::Xz, [0.0, 0.0, -9.81], [0.0, 0.0, 1.0], [0.0, 0.0, 0.6], [0.2, 0.0, -0.1]);
    let xy = fall(Plane::Xy, [0.0, -9.81, 0.0], [0.0, 1.0, 0.0], [0.0, 0.6, 0.0], [0.2, -0.1, 0.0]);
    let yz = fall(Plane::Yz, [0.0, 0.0, -9.81], [0.0, 0.0, 1.0], [0.0, 0.0, 0.6], [0.0, 0.2, -0.1]);
    assert_eq!(xz, xy);
    assert_eq!(xz, yz);
}

/// The frame between four points of different bodies is one like any other.
#[test]
fn frames_between_points() {
    let mut b = Model::builder();
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let points = corners.map(|position| {
        let name = format!("p{position:?}");
        let body = b.body(&name, Particle { mass: 1.0, position, velocity: [0.0; 3] });
        b.point("", body, [0.0; 3])
    });
    let frame = AffineFrame::between(points);
    b.force("material", Elastic::new(0.2, Material::NeoHookean(NeoHookean { modulus: 2.0 })), frame);
    let model = b.build().unwrap();
    let a = accelerations(&model, &model.initial_state());
    // S = 2 c₁ 1 without a pressure: the three unit points are pulled to the first.
    assert!((a[3] + 0.2 * 4.0).abs() < 1e-14 && (a[0] - 0.2 * 4.0).abs() < 1e-14, "{a:?}");
}
