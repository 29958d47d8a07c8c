//! Forces against closed forms.
#![allow(clippy::unwrap_used)]

use dalembert::bodies::{Inertia, Particle, Rigid};
use dalembert::element::About;
use dalembert::forces::{
    Actuator, AnyForce, AppliedForce, AppliedTorque, Axes, Drag, Force, GRAVITATIONAL_CONSTANT, Gravitation, Law,
    NonlinearSpring, RotationalSpring, Spring, TensionPoints, TensionTable,
};
use dalembert::methods::algebra::Mass;
use dalembert::methods::lie::Quat;
use dalembert::methods::scalar::Dual;
use dalembert::methods::vector::Vec3;
use dalembert::methods::{Jet, State, System};
use dalembert::model::{Instant, Model, Orientation, Place, Wrench};
use dalembert::signals::{Formula, Interpolation, SignalRef};
use std::f64::consts::PI;

const EPSILON: f64 = f64::EPSILON;
const NOW: Instant<'static, f64> = Instant { t: 0.7, x: &[], p: &[], signals: &[] };

fn at(r: [f64; 3], v: [f64; 3]) -> Place<f64> {
    turned(r, v, [0.0; 3], [0.0; 3])
}

fn turned(r: [f64; 3], v: [f64; 3], turn: [f64; 3], omega: [f64; 3]) -> Place<f64> {
    Place { r: Vec3(r), v: Vec3(v), rotation: Quat::exp(Vec3(turn)).matrix(), omega: Vec3(omega) }
}

fn wrenches<F: Force>(force: &F, at: &[Place<f64>]) -> Vec<Wrench<f64>> {
    let mut out = vec![Wrench::default(); at.len()];
    Force::apply(force, &NOW, at, &mut out);
    out
}

fn close(a: Vec3<f64>, b: [f64; 3], size: f64) {
    assert!((a - Vec3(b)).norm() <= 16.0 * EPSILON * size, "{a:?} {b:?}");
}

/// The accelerations M⁻¹f of a model without constraints in its initial state.
fn accelerations(model: &Model) -> Vec<f64> {
    let s = model.initial_state();
    let mut w = model.work::<f64>();
    model.prepare(&s, &mut w);
    let mut f = vec![0.0; model.shape().v];
    model.force(&s, &mut w, &mut f);
    let mut mass = Mass::new(&model.mass_blocks());
    model.mass(&s, &mut w, &mut mass);
    mass.factor_checked().unwrap();
    mass.solve(&mut f);
    f
}

/// Displaced by x from rest, a mass on a spring is accelerated by −ω² x with ω² = k/m.
#[test]
fn a_mass_on_a_spring_has_the_frequency_of_the_textbook() {
    let (mass, stiffness, x) = (2.5, 90.0, 0.03);
    let mut b = Model::builder();
    let bob = b.body("bob", Particle { mass, position: [1.2 + x, 0.0, 0.0], velocity: [0.0; 3] });
    let ground = b.ground();
    let (anchor, p) = (b.point("anchor", ground, [0.0; 3]), b.point("", bob, [0.0; 3]));
    let spring = Spring { stiffness: stiffness.into(), damping: 0.0.into(), rest_length: 1.2.into() };
    b.force("spring", spring, [anchor, p]);
    let a = accelerations(&b.build().unwrap());
    // Cancellation in l − l₀ costs 1.2/0.03 of the digits.
    assert!((a[0] + stiffness / mass * x).abs() < 8.0 * EPSILON * 1.2 * stiffness / mass, "{a:?}");
    assert_eq!((a[1], a[2]), (0.0, 0.0));
}

/// A rotational spring on a hinge-like body: φ̈ = −(k/J)(φ − φ₀).
#[test]
fn a_torsional_pendulum_has_the_frequency_of_the_textbook() {
    let (moment, stiffness, angle, rest) = (0.4, 7.0, 0.9, 0.2);
    let mut b = Model::builder();
    let disc = b.body(
        "disc",
        Rigid {
            mass: 1.0,
            inertia: Inertia::principal([0.3, 0.3, moment]),
            centre: [0.0; 3],
            position: [0.0; 3],
            orientation: Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle },
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
        },
    );
    let ground = b.ground();
    let still = b.frame("still", ground, [0.0; 3], Orientation::default());
    let moving = b.frame("moving", disc, [0.0; 3], Orientation::default());
    let spring =
        RotationalSpring { stiffness: stiffness.into(), rest_angle: rest.into(), ..RotationalSpring::default() };
    b.force("spring", spring, [still, moving]);
    let a = accelerations(&b.build().unwrap());
    assert!((a[5] + stiffness / moment * (angle - rest)).abs() < 64.0 * EPSILON * stiffness / moment, "{a:?}");
    assert!(a[..5].iter().all(|a| a.abs() < 64.0 * EPSILON), "{a:?}");
}

/// Beyond half a turn from rest the spring pulls the short way; a damper turns on for ever.
#[test]
fn a_rotational_spring_pulls_to_the_nearest_rest_position() {
    let spring = RotationalSpring { stiffness: 2.0.into(), rest_angle: 3.0.into(), ..RotationalSpring::default() };
    let torque = |angle: f64| {
        let places = [at([0.0; 3], [0.0; 3]), turned([0.0; 3], [0.0; 3], [0.0, 0.0, angle], [0.0; 3])];
        wrenches(&spring, &places)[1].torque[2]
    };
    for deflection in [-3.1, -1.0, 0.0, 0.5, 3.1] {
        for turns in [-1.0, 0.0, 1.0] {
            let found = torque(3.0 + deflection + turns * 2.0 * PI);
            assert!((found + 2.0 * deflection).abs() < 200.0 * EPSILON, "{deflection} {found}");
        }
    }
    let damper = RotationalSpring { damping: 0.5.into(), ..RotationalSpring::default() };
    for angle in [0.0, 2.0, PI, 4.0, 7.0] {
        let places = [at([0.0; 3], [0.0; 3]), turned([0.0; 3], [0.0; 3], [0.0, 0.0, angle], [0.3, 0.0, 4.0])];
        close(wrenches(&damper, &places)[1].torque, [0.0, 0.0, -2.0], 2.0);
    }
}

/// Earth and Moon: the force of the textbook, and the acceleration of a circular orbit, ω² a = μ/a².
#[test]
fn two_bodies_attract_as_newton_says() {
    let (earth, moon, distance) = (5.972e24, 7.342e22, 3.844e8);
    let gravitation = Gravitation { masses: vec![earth.into(), moon.into()], ..Gravitation::default() };
    let places = [at([0.0; 3], [0.0; 3]), at([0.0, distance, 0.0], [0.0; 3])];
    let expected = GRAVITATIONAL_CONSTANT * earth * moon / (distance * distance);
    let found = wrenches(&gravitation, &places);
    close(found[0].force, [0.0, expected, 0.0], expected);
    close(found[1].force, [0.0, -expected, 0.0], expected);
    let energy = Force::energy(&gravitation, &NOW, &places);
    assert!((energy + expected * distance).abs() < 8.0 * EPSILON * expected * distance);

    let parameters = [earth, moon].map(|m| (m * GRAVITATIONAL_CONSTANT).into()).to_vec();
    let same = Gravitation { parameters, ..Gravitation::default() };
    close(wrenches(&same, &places)[0].force, [0.0, expected, 0.0], expected);

    let soft = Gravitation { softening: distance.into(), ..gravitation };
    let weaker = expected / 8f64.sqrt();
    close(wrenches(&soft, &places)[0].force, [0.0, weaker, 0.0], weaker);
}

/// Where k₁ v + k₂ v² = m g drag balances weight: terminal velocity.
#[test]
fn drag_balances_weight_at_terminal_velocity() {
    let (mass, gravity, linear, quadratic) = (0.8, 9.81, 0.3, 0.2);
    let root: f64 = linear * linear + 4.0 * quadratic * mass * gravity;
    let terminal = (root.sqrt() - linear) / (2.0 * quadratic);
    let mut b = Model::builder();
    b.gravity([0.0, 0.0, -gravity]);
    let stone = b.body("stone", Particle { mass, position: [0.0; 3], velocity: [0.0, 0.0, -terminal] });
    let p = b.point("", stone, [0.0; 3]);
    b.force("air", Drag { linear: linear.into(), quadratic: quadratic.into(), ..Drag::default() }, p);
    let a = accelerations(&b.build().unwrap());
    assert!(a.iter().all(|a| a.abs() < 16.0 * EPSILON * gravity), "{a:?}");
}

/// Carried by the wind a point feels nothing; a point at rest in the wind takes power from it, part of which is heat.
#[test]
fn a_moving_medium_supplies_power() {
    let wind = [2.0, 0.0, 0.0].map(SignalRef::Number);
    let drag = Drag { linear: 0.5.into(), quadratic: 0.25.into(), medium_velocity: wind };
    let carried = [at([0.0; 3], [2.0, 0.0, 0.0])];
    assert_eq!(wrenches(&drag, &carried)[0].force, Vec3([0.0; 3]));
    assert_eq!(Force::dissipation(&drag, &NOW, &carried), 0.0);
    let slow = [at([0.0; 3], [1.0, 0.0, 0.0])];
    // u = −1: force 0.5 + 0.25 = 0.75 forward, heat 0.75, supply 0.75 · 2, power on the point 0.75 · 1.
    close(wrenches(&drag, &slow)[0].force, [0.75, 0.0, 0.0], 1.0);
    assert!((Force::dissipation(&drag, &NOW, &slow) - 0.75).abs() < 4.0 * EPSILON);
    assert!((Force::supply(&drag, &NOW, &slow) - 1.5).abs() < 4.0 * EPSILON);
}

/// A polynomial, a table through it and a formula are the same stiffening spring.
#[test]
fn three_laws_of_one_spring_agree() {
    let tension = |s: f64| 30.0 * s + 45.0 * s.powi(3);
    let energy = |s: f64| 15.0 * s.powi(2) + 11.25 * s.powi(4);
    let stretches = vec![-0.8, -0.3, 0.2, 0.7, 1.5];
    let tensions = stretches.iter().map(|&s| tension(s)).collect();
    let points = TensionPoints { stretches, tensions, interpolation: Interpolation::NotAKnot };
    let laws = [
        Law::Polynomial(vec![30.0.into(), 0.0.into(), 45.0.into()]),
        Law::Table(TensionTable::try_from(points).unwrap()),
        Law::Energy(Formula::new("15*s^2 + 11.25*s^4").unwrap()),
    ];
    for law in laws {
        for s in [-0.75, -0.1, 0.0, 0.4, 1.2] {
            assert!((law.tension(&NOW, s) - tension(s)).abs() < 64.0 * EPSILON * 200.0, "{law:?} {s}");
            assert!((law.energy(&NOW, s) - energy(s)).abs() < 64.0 * EPSILON * 100.0, "{law:?} {s}");
        }
        let spring = NonlinearSpring { law, rest_length: 0.5.into(), damping: 0.0.into() };
        let pulled = wrenches(&spring, &[at([0.0; 3], [0.0; 3]), at([0.0, 0.0, 0.9], [0.0; 3])]);
        close(pulled[0].force, [0.0, 0.0, tension(0.4)], 200.0);
    }
}

/// Beyond its range a table goes on along its slope, and so does its energy.
#[test]
fn a_table_of_tensions_goes_on_straight() {
    let points =
        TensionPoints { stretches: vec![0.0, 1.0], tensions: vec![0.0, 10.0], interpolation: Interpolation::Linear };
    let law = Law::Table(TensionTable::try_from(points).unwrap());
    for s in [-2.0, -0.5, 0.5, 3.0] {
        assert!((law.tension(&NOW, s) - 10.0 * s).abs() < 100.0 * EPSILON, "{s}");
        assert!((law.energy(&NOW, s) - 5.0 * s * s).abs() < 200.0 * EPSILON, "{s}");
    }
}

#[test]
fn applied_forces_act_in_their_axes() {
    let quarter = turned([0.0; 3], [0.0; 3], [0.0, 0.0, PI / 2.0], [0.0; 3]);
    let vector = || [1.0, 2.0, 3.0].map(SignalRef::Number);
    for (axes, expected) in [(Axes::World, [1.0, 2.0, 3.0]), (Axes::Marker, [-2.0, 1.0, 3.0])] {
        close(wrenches(&AppliedForce { force: vector(), axes }, &[quarter])[0].force, expected, 3.0);
        close(wrenches(&AppliedTorque { torque: vector(), axes }, &[quarter])[0].torque, expected, 3.0);
    }
    let pushed = wrenches(&Actuator { force: 5.0.into() }, &[at([0.0; 3], [0.0; 3]), at([0.0, 3.0, 4.0], [0.0; 3])]);
    close(pushed[1].force, [0.0, 3.0, 4.0], 5.0);
    close(pushed[0].force, [0.0, -3.0, -4.0], 5.0);
}

/// In a model of every force the ledger closes: d/dt (kinetic + potential) = supply − dissipation along the motion.
#[test]
fn the_ledger_of_all_forces_closes() {
    let mut b = Model::builder();
    b.gravity([0.3, -0.2, -9.81]);
    let (stone, top) = (b.body("stone", Particle::sample()), b.body("top", Rigid::sample()));
    let ground = b.ground();
    let turn = Orientation::AxisAngle { axis: [1.0, 1.0, 0.0], angle: 0.4 };
    let still = b.frame("still", ground, [0.2, 0.1, 1.0], turn);
    let tip = b.frame("tip", top, [0.3, -0.1, 0.5], turn);
    let p = b.point("", stone, [0.0; 3]);
    b.force("actuator", Actuator::sample(), [tip.into(), p])
        .force("push", AppliedForce::sample(), tip.into())
        .force("twist", AppliedTorque::sample(), tip)
        .force("air", Drag::sample(), p)
        .force("sky", Gravitation::sample(), vec![still.into(), tip.into(), p])
        .force("rubber", NonlinearSpring::sample(), [still.into(), p])
        .force("coil", RotationalSpring::sample(), [still, tip])
        .force("spring", Spring::sample(), [still.into(), tip.into()]);
    let model = b.build().unwrap();
    let a = accelerations(&model);

    // q ⊕ ε v, v + ε a, t + ε
    let plain = model.initial_state();
    let mut s = State::<Dual>::zeros(model.shape());
    s.lift(&plain);
    let base = s.q.clone();
    let delta: Vec<Dual> = plain.v.iter().map(|&v| Jet::new(0.0, v)).collect();
    model.retract(&base, &delta, &mut s.q);
    s.v.iter_mut().zip(&a).for_each(|(v, &a)| v.eps[0] = a);
    s.t.eps[0] = 1.0;
    let mut w = model.work::<Dual>();
    model.prepare(&s, &mut w);
    let ledger = model.ledger(&s, &mut w);
    let mut flows = [Dual::default(); 2];
    model.integrand(&s, &[], &mut w, &mut flows);
    let [heat, supply] = flows.map(|f| f.re);
    let rate = (ledger.kinetic + ledger.potential).eps[0];
    assert!(heat > 0.1 && supply.abs() > 0.1);
    // Some hundred operations on powers below 1e3 W.
    assert!((rate - supply + heat).abs() < 1000.0 * EPSILON * 1e3, "{rate} {supply} {heat}");
}

#[test]
fn points_that_meet_do_no_harm() {
    let together = [at([1.0; 3], [0.0; 3]), at([1.0; 3], [0.0, 1.0, 0.0])];
    let finite = |w: Vec<Wrench<f64>>| w.iter().all(|w| w.force.norm().is_finite());
    assert!(finite(wrenches(&Actuator { force: 5.0.into() }, &together)));
    let spring = Spring { stiffness: 1.0.into(), damping: 1.0.into(), rest_length: 0.0.into() };
    assert!(finite(wrenches(&spring, &together)));
    // The gradient of the drag at rest exists: no division by |u| = 0.
    let still = [at([0.0; 3], [0.0; 3]).in_time(&Default::default())];
    let mut out = [Wrench::default()];
    let now = Instant { t: 0.0.into(), x: &[], p: &[], signals: &[] };
    Force::apply(&Drag { quadratic: 1.0.into(), ..Drag::default() }, &now, &still, &mut out);
    assert!(out[0].force.0.iter().all(|f| f.eps[0] == 0.0));
}

#[test]
fn bad_data_are_named() {
    let defect = |force: &dyn AnyForce, markers| force.defect(markers).unwrap().0;
    let gravitation =
        |masses: &[f64]| Gravitation { masses: masses.iter().map(|&m| m.into()).collect(), ..Gravitation::default() };
    assert_eq!(defect(&gravitation(&[]), 2), "masses");
    assert_eq!(defect(&gravitation(&[1.0]), 2), "masses");
    assert_eq!(defect(&gravitation(&[1.0, -1.0]), 2), "masses");
    let both = Gravitation { parameters: vec![1.0.into()], ..gravitation(&[1.0]) };
    assert_eq!(defect(&both, 1), "parameters");
    assert_eq!(defect(&Gravitation { constant: 0.0.into(), ..gravitation(&[1.0, 1.0]) }, 2), "constant");
    assert_eq!(defect(&Gravitation { softening: (-1.0).into(), ..gravitation(&[1.0, 1.0]) }, 2), "softening");
    assert_eq!(defect(&Drag { linear: (-1.0).into(), ..Drag::default() }, 1), "linear");
    assert_eq!(defect(&Drag { quadratic: (-1.0).into(), ..Drag::default() }, 1), "quadratic");
    assert_eq!(defect(&RotationalSpring { axis: [0.0; 3], ..RotationalSpring::default() }, 2), "axis");
    assert_eq!(defect(&RotationalSpring { damping: (-1.0).into(), ..RotationalSpring::default() }, 2), "damping");
    let spring = |law| NonlinearSpring { law, rest_length: 0.0.into(), damping: 0.0.into() };
    assert_eq!(defect(&spring(Law::Polynomial(Vec::new())), 2), "law");
    let empty = TensionPoints { stretches: vec![], tensions: vec![], interpolation: Interpolation::Linear };
    assert!(TensionTable::try_from(empty).unwrap_err().contains("at least two points"));
}
