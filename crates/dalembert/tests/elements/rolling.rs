//! Accelerations of small models against closed forms: pendulum, rolling disc and sphere, sleigh, crank.

use crate::support::*;
use dalembert::bodies::{Inertia, Particle, Rigid};
use dalembert::constraints::{
    Coordinate, CoordinateSpeed, DiscOnPlane, FixedIn, GearRatio, KnifeEdge, NoSlip, PointOnLine, PrescribedPosition,
    RollingDisc, RollingSphere, SphereOnPlane,
};
use dalembert::joints::{Axis, Planar, Revolute};
use dalembert::methods::System;
use dalembert::methods::vector::Vec3;
use dalembert::model::{Model, Orientation};
use dalembert::signals::{Polynomial, Signal};

const GRAVITY: f64 = 9.81;

fn body(mass: f64, inertia: [f64; 3]) -> Rigid {
    Rigid {
        mass,
        inertia: Inertia::principal(inertia),
        centre: [0.0; 3],
        position: [0.0; 3],
        orientation: Orientation::default(),
        velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
    }
}

/// The initial state must satisfy positions and velocities, or the test tests something else.
#[track_caller]
fn consistent(model: &Model) {
    let s = model.initial_state();
    let mut w = model.work::<f64>();
    model.prepare(&s, &mut w);
    let mut g = vec![0.0; model.shape().g];
    model.constraint(&s, &mut w, &mut g);
    close(&g, &vec![0.0; g.len()], 1e-14);
    let mut rates = vec![0.0; model.shape().rows()];
    model.constraint_rate(&s, &mut w, &mut rates);
    close(&rates, &vec![0.0; rates.len()], 1e-14);
}

/// φ̈ = −m g l sin φ/(J + m l²), with the pin reaction on top of the weight.
#[test]
fn pendulum_on_a_hinge() {
    let (mass, length, inertia, angle, speed) = (2.0, 0.7, 0.3, 0.6_f64, 1.9);
    let mut b = Model::builder();
    b.gravity([0.0, -GRAVITY, 0.0]);
    let hanging = Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle };
    let bar = Rigid {
        centre: [0.0, -length, 0.0],
        orientation: hanging,
        angular_velocity: [0.0, 0.0, speed],
        ..body(mass, [0.2, 0.25, inertia])
    };
    let bar = b.body("bar", bar);
    let ground = b.ground();
    let (pin, end) = (
        b.frame("pin", ground, [0.0; 3], Orientation::default()),
        b.frame("end", bar, [0.0; 3], Orientation::default()),
    );
    b.joint("hinge", Revolute::default(), [pin, end]);
    let model = b.build().unwrap();
    consistent(&model);
    let s = model.initial_state();

    let mut w = model.work::<f64>();
    model.prepare(&s, &mut w);
    let mut bias = [0.0; 5];
    model.constraint_bias(&s, &mut w, &mut bias);
    // Without accelerations the pin flies towards the centre of mass with l ω².
    let toward = Vec3([angle.sin(), -angle.cos(), 0.0]);
    close(&bias, &[toward[0] * length * speed * speed, toward[1] * length * speed * speed, 0.0, 0.0, 0.0], 1e-14);

    let (a, multipliers) = accelerations(&model, &s);
    let expected = -mass * GRAVITY * length * angle.sin() / (inertia + mass * length * length);
    close(&a[3..], &[0.0, 0.0, expected], 1e-13);
    // −λ is the force on the bar: m (a − g).
    let across = Vec3([angle.cos(), angle.sin(), 0.0]);
    let centre = across * (length * expected) - toward * (length * speed * speed);
    close(&a[..3], &centre.0, 1e-13);
    let force = [-mass * centre[0], -mass * (centre[1] + GRAVITY), 0.0];
    close(&multipliers[..3], &force, 1e-12);
}

/// A plane inclined by α about y: x runs downhill.
const SLOPE: f64 = 0.4;

fn slope() -> Orientation {
    Orientation::AxisAngle { axis: [0.0, 1.0, 0.0], angle: SLOPE }
}

fn downhill(speed: f64) -> [f64; 3] {
    [speed * SLOPE.cos(), 0.0, -speed * SLOPE.sin()]
}

fn normal() -> Vec3<f64> {
    Vec3([SLOPE.sin(), 0.0, SLOPE.cos()])
}

/// Solid disc, J = ½ m ρ²: a = ⅔ g sin α, traction ⅓ m g sin α, normal force m g cos α.
#[test]
fn disc_down_an_incline() {
    let (mass, radius, speed) = (3.0, 0.4, 1.1);
    let moment = mass * radius * radius;
    let mut b = Model::builder();
    b.gravity([0.0, 0.0, -GRAVITY]);
    // The axle is y of the body, which has been rolled a while already.
    let disc = Rigid {
        position: (normal() * radius).0,
        orientation: Orientation::AxisAngle { axis: [0.0, 1.0, 0.0], angle: 1.3 },
        velocity: downhill(speed),
        angular_velocity: [0.0, speed / radius, 0.0],
        ..body(mass, [moment / 4.0, moment / 2.0, moment / 4.0])
    };
    let disc = b.body("disc", disc);
    let ground = b.ground();
    let (plane, hub) =
        (b.frame("plane", ground, [0.0; 3], slope()), b.frame("", disc, [0.0; 3], Orientation::default()));
    let (axle, normal_axis) = (Axis::from(Axis::Y), Axis::default());
    b.constraint("touch", DiscOnPlane { radius, axle, normal: normal_axis }, [plane, hub]);
    b.rolling("roll", RollingDisc { radius, axle, normal: normal_axis }, [plane, hub]);
    let model = b.build().unwrap();
    consistent(&model);
    let (a, multipliers) = accelerations(&model, &model.initial_state());
    let expected = 2.0 / 3.0 * GRAVITY * SLOPE.sin();
    close(&a[..3], &downhill(expected), 1e-13);
    close(&a[3..], &[0.0, expected / radius, 0.0], 1e-12);
    let weight = mass * GRAVITY;
    // Reaction on the disc is −λ: normal force up, traction uphill (heading is downhill), nothing sideways.
    close(&multipliers, &[-weight * SLOPE.cos(), weight * SLOPE.sin() / 3.0, 0.0], 1e-12);
}

/// Solid sphere, J = ⅖ m ρ²: a = 5/7 g sin α, also while it spins about the normal.
#[test]
fn sphere_down_an_incline() {
    let (mass, radius, speed) = (2.5, 0.3, -0.8);
    let mut b = Model::builder();
    b.gravity([0.0, 0.0, -GRAVITY]);
    let ball = Rigid {
        position: (normal() * radius).0,
        orientation: Orientation::AxisAngle { axis: [1.0, 2.0, -0.5], angle: 0.8 },
        velocity: downhill(speed),
        angular_velocity: (Vec3([0.0, speed / radius, 0.0]) + normal() * 3.0).0,
        ..body(mass, [0.4 * mass * radius * radius; 3])
    };
    let ball = b.body("ball", ball);
    let ground = b.ground();
    let (plane, centre) =
        (b.frame("plane", ground, [0.0; 3], slope()), b.frame("", ball, [0.0; 3], Orientation::default()));
    b.constraint("touch", SphereOnPlane { radius, normal: Axis::default() }, (plane, centre.into()));
    b.rolling("roll", RollingSphere { radius, normal: Axis::default() }, [plane, centre]);
    let model = b.build().unwrap();
    consistent(&model);
    let (a, multipliers) = accelerations(&model, &model.initial_state());
    close(&a[..3], &downhill(5.0 / 7.0 * GRAVITY * SLOPE.sin()), 1e-13);
    close(&multipliers[..1], &[-mass * GRAVITY * SLOPE.cos()], 1e-12);
}

/// A sphere on a turntable: without any other force the centre is accelerated by 2/7 W × v (it runs in circles).
#[test]
fn sphere_on_a_turntable() {
    let (mass, radius, spin) = (2.5, 0.3, 1.7);
    let (position, velocity) = (Vec3([0.6, -0.2, radius]), Vec3([0.5, 0.9, 0.0]));
    let mut b = Model::builder();
    b.gravity([0.0, 0.0, -GRAVITY]);
    let table = b.body("table", Rigid { angular_velocity: [0.0, 0.0, spin], ..body(10.0, [1.0, 1.0, 2.0]) });
    // No slip at the contact: v + ω × (−ρ n) = W × r gives ω = n × (v − W × r)/ρ.
    let up = Vec3([0.0, 0.0, 1.0]);
    let omega = up.cross(velocity - up.cross(position) * spin) * (1.0 / radius);
    let ball = Rigid {
        position: position.0,
        velocity: velocity.0,
        angular_velocity: omega.0,
        ..body(mass, [0.4 * mass * radius * radius; 3])
    };
    let ball = b.body("ball", ball);
    let ground = b.ground();
    let (base, top, centre) = (
        b.frame("base", ground, [0.0; 3], Orientation::default()),
        b.frame("top", table, [0.0; 3], Orientation::default()),
        b.frame("", ball, [0.0; 3], Orientation::default()),
    );
    b.joint("bearing", Revolute::default(), [base, top]);
    let motor = CoordinateSpeed { of: Coordinate::Angle, axis: Axis::default(), speed: spin.into() };
    b.rolling("motor", motor, [base, top]);
    b.constraint("touch", SphereOnPlane { radius, normal: Axis::default() }, (top, centre.into()));
    b.rolling("roll", RollingSphere { radius, normal: Axis::default() }, [top, centre]);
    let model = b.build().unwrap();
    consistent(&model);
    let (a, _) = accelerations(&model, &model.initial_state());
    close(&a[..6], &[0.0; 6], 1e-13);
    close(&a[6..9], &(up.cross(velocity) * (2.0 / 7.0 * spin)).0, 1e-13);
}

/// Chaplygin's sleigh, blade at distance l behind the centre of mass: u̇ = l ω², ω̇ = −m l u ω/(J + m l²).
#[test]
fn sleigh() {
    let (mass, inertia, arm, speed, spin, heading) = (1.8, 0.25, 0.35, 1.4, 0.9, 0.5_f64);
    let (along, across) = (Vec3([heading.cos(), heading.sin(), 0.0]), Vec3([-heading.sin(), heading.cos(), 0.0]));
    // The blade is the origin of the body frame.
    let sleigh = Rigid {
        centre: [arm, 0.0, 0.0],
        orientation: Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle: heading },
        velocity: (along * speed).0,
        angular_velocity: [0.0, 0.0, spin],
        ..body(mass, [0.2, 0.2, inertia])
    };
    let no_slip = NoSlip { directions: vec![Axis::Y.into()], fixed_in: FixedIn::Second, speeds: vec![] };
    for general in [false, true] {
        let mut b = Model::builder();
        let sleigh = b.body("sleigh", sleigh.clone());
        let ground = b.ground();
        let (ice, blade) = (
            b.frame("ice", ground, [0.0; 3], Orientation::default()),
            b.frame("", sleigh, [0.0; 3], Orientation::default()),
        );
        b.joint("flat", Planar::default(), [ice, blade]);
        if general {
            b.rolling("blade", no_slip.clone(), [ice, blade]);
        } else {
            b.rolling("blade", KnifeEdge::default(), [ice, blade]);
        }
        let model = b.build().unwrap();
        consistent(&model);
        let (a, _) = accelerations(&model, &model.initial_state());
        let turning = -mass * arm * speed * spin / (inertia + mass * arm * arm);
        close(&a[3..], &[0.0, 0.0, turning], 1e-13);
        // Centre of mass: blade a = u̇ along + u ω across, plus ω̇ × arm and −ω² arm.
        let centre =
            along * (arm * spin * spin) + across * (speed * spin + turning * arm) - along * (arm * spin * spin);
        close(&a[..3], &centre.0, 1e-13);
    }
}

/// A bead on a wire through which a slider drives it: the acceleration is that of the signal, the force m (s̈ + g).
#[test]
fn driven_bead() {
    let (mass, law) = (0.7, [0.3, 0.5, -1.2]);
    let mut b = Model::builder();
    b.gravity([0.0, 0.0, -GRAVITY]);
    let bead = b.body("bead", Particle { mass, position: [0.0, 0.0, law[0]], velocity: [0.0, 0.0, law[1]] });
    let signal = b.signal("law", Signal::Polynomial(Polynomial { coefficients: law.to_vec(), start: 0.0 }));
    let ground = b.ground();
    let (wire, at) = (b.frame("wire", ground, [0.0; 3], Orientation::default()), b.point("", bead, [0.0; 3]));
    b.constraint("wire", PointOnLine::default(), (wire, at));
    b.constraint("drive", PrescribedPosition { directions: vec![Axis::default()], values: vec![signal] }, (wire, at));
    let model = b.build().unwrap();
    consistent(&model);
    let (a, multipliers) = accelerations(&model, &model.initial_state());
    close(&a, &[0.0, 0.0, 2.0 * law[2]], 1e-14);
    close(&multipliers, &[0.0, 0.0, -mass * (2.0 * law[2] + GRAVITY)], 1e-14);
}

/// Two wheels on fixed bearings, torque by gravity on an eccentric mass: α_A = T/(J_A + i² J_B), α_B = i α_A.
#[test]
fn wheels_with_a_real_ratio() {
    let (ratio, mass, arm) = (-1.618, 2.0, 0.1);
    let inertias = [0.4, 0.7];
    let mut b = Model::builder();
    b.gravity([0.0, -GRAVITY, 0.0]);
    let first = b.body("first", Rigid { centre: [arm, 0.0, 0.0], ..body(mass, [0.3, 0.3, inertias[0]]) });
    let second = b.body("second", Rigid { position: [1.0, 0.0, 0.0], ..body(mass, [0.4, 0.4, inertias[1]]) });
    let ground = b.ground();
    let upright = Orientation::default();
    let (pin_a, pin_b) = (b.frame("a", ground, [0.0; 3], upright), b.frame("b", ground, [1.0, 0.0, 0.0], upright));
    let (hub_a, hub_b) = (b.frame("", first, [0.0; 3], upright), b.frame("", second, [0.0; 3], upright));
    b.joint("bearing a", Revolute::default(), [pin_a, hub_a]);
    b.joint("bearing b", Revolute::default(), [pin_b, hub_b]);
    b.rolling("belt", GearRatio { ratio, axes: [Axis::default(); 2] }, [pin_a, hub_a, hub_b]);
    let model = b.build().unwrap();
    consistent(&model);
    let (a, _) = accelerations(&model, &model.initial_state());
    let expected = -mass * GRAVITY * arm / (inertias[0] + mass * arm * arm + ratio * ratio * inertias[1]);
    close(&[a[5], a[11]], &[expected, ratio * expected], 1e-13);
}
