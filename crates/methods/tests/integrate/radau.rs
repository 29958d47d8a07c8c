//! The Radau IIA method against closed forms, measured orders, conservation laws and its own continuation.
#![allow(clippy::unwrap_used)]

use crate::support::{Auto, Formula, Oscillator, Pendulum, advance, distance, oscillator, sleigh, spin};
use dalembert_methods::algebra::Mass;
use dalembert_methods::integrate::radau::Radau;
use dalembert_methods::integrate::{IntegrateError, Integrator, Settings};
use dalembert_methods::{Real, Shape, State, System};

fn run<P: Formula>(y: &Auto<P>, s: &State<f64>, settings: &Settings, until: f64) -> (State<f64>, Radau<Auto<P>>) {
    let mut s = s.clone();
    let mut method = Radau::new(settings).unwrap();
    method.start(y, &mut s).unwrap();
    advance(y, &mut s, &mut method, until);
    (s, method)
}

fn tight(tolerance: f64) -> Settings {
    Settings::default().with("tolerance", tolerance)
}

/// The order between `steps` and twice as many fixed steps, against eight times as many.
fn order<P: Formula>(y: &Auto<P>, s: &State<f64>, steps: u32, until: f64) -> f64 {
    let fixed = |steps: u32| {
        let settings = tight(1e-13).with("fixed_step", until / f64::from(steps)).with("newton_iterations", 40.0);
        run(y, s, &settings, until).0
    };
    let reference = fixed(8 * steps);
    (distance(&fixed(steps), &reference) / distance(&fixed(2 * steps), &reference)).log2()
}

/// Positions, velocities, extra states and integrals, with and without constraints, on vector spaces and rotations.
#[test]
fn order_five_on_every_kind_of_system() {
    let pendulum = Auto(Pendulum { amplitude: 0.0, copies: 1 });
    let rheonomic = Auto(Pendulum { amplitude: 0.2, copies: 1 });
    let ((oscillator, o), (spin, s), (sleigh, k)) = (oscillator(), spin(), sleigh());
    for (name, order) in [
        ("oscillator", order(&oscillator, &o, 10, 3.0)),
        ("pendulum", order(&pendulum, &pendulum.0.state(), 60, 2.0)),
        ("rheonomic pendulum", order(&rheonomic, &rheonomic.0.state(), 60, 2.0)),
        ("free rigid body", order(&spin, &s, 15, 3.0)),
        ("sleigh", order(&sleigh, &k, 20, 3.0)),
    ] {
        assert!((order - 5.0).abs() < 0.1, "{name}: order {order}");
    }
}

/// At tolerance 1e-12 the pendulum keeps its energy and constraints; the error shrinks with the tolerance.
#[test]
fn tight_tolerances_work() {
    let y = Auto(Pendulum { amplitude: 0.2, copies: 1 });
    let s = y.0.state();
    let (reference, _) = run(&y, &s, &tight(1e-13), 3.0);
    for tolerance in [1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
        let (end, method) = run(&y, &s, &tight(tolerance), 3.0);
        let error = distance(&end, &reference);
        println!("{tolerance:e}: error {error:e} {:?}", method.counts());
        // A run of some 50 correlated steps, with velocities up to 4 and a Lipschitz constant near 3.
        assert!(error < 100.0 * tolerance, "{tolerance}: {error}");
        let balance = y.0.balance(&end) - y.0.balance(&s);
        assert!(balance.abs() < 100.0 * tolerance, "{tolerance}: energy {balance}");
        let mut residual = [0.0];
        y.0.constraint(end.t, &end.q, &mut residual);
        assert!(residual[0].abs() < 1e-14, "{residual:?}");
        y.constraint_rate(&end, &mut (), &mut residual);
        assert!(residual[0].abs() < 1e-13, "{residual:?}");
    }
}

/// ω̇ = −a u ω/(I + a²), u̇ = a ω² for mass 1: energy is kept and ω = ω₀ … decays as the motion straightens.
#[test]
fn the_sleigh_keeps_its_energy_and_straightens() {
    let (y, s) = sleigh();
    let (end, _) = run(&y, &s, &tight(1e-10), 40.0);
    let energy = |s: &State<f64>| 0.5 * (s.v[0].powi(2) + s.v[1].powi(2) + 0.5 * s.v[2].powi(2));
    assert!((energy(&end) - energy(&s)).abs() < 1e-8);
    // All energy ends up in forward motion, u² = 2 E.
    let forward = end.v[0] * end.q[2].cos() + end.v[1] * end.q[2].sin();
    assert!((forward - (2.0 * energy(&s)).sqrt()).abs() < 1e-8, "{forward}");
}

/// A fast decaying or oscillating part that is at rest does not cost steps: the count is the same over eight decades.
#[test]
fn steps_do_not_depend_on_stiffness() {
    let mut counts = Vec::new();
    for stiffness in [1e4, 1e6, 1e8, 1e10, 1e12] {
        let y = Auto(Oscillator { damping: stiffness.sqrt(), stiffness, decay: 1.0 });
        let mut s = State::zeros(y.shape());
        // On the slow solution q = x k/(k − c + 1), so that q'' + c q' + k q = k x with x = exp(−t).
        s.x[0] = 1.0;
        s.q[0] = stiffness / (stiffness - stiffness.sqrt() + 1.0);
        s.v[0] = -s.q[0];
        let (end, method) = run(&y, &s, &tight(1e-7), 5.0);
        assert!((end.q[0] - s.q[0] * (-5.0_f64).exp()).abs() < 1e-7);
        counts.push(method.counts().steps);
    }
    println!("{counts:?}");
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(*most <= 40 && most - least <= 6, "{counts:?}");
}

/// The same row twice changes nothing but the split of its force.
#[test]
fn repeated_constraints_give_the_same_motion() {
    let single = Auto(Pendulum { amplitude: 0.2, copies: 1 });
    let double = Auto(Pendulum { amplitude: 0.2, copies: 3 });
    let (a, one) = run(&single, &single.0.state(), &tight(1e-9), 2.0);
    let (b, three) = run(&double, &double.0.state(), &tight(1e-9), 2.0);
    assert!(distance(&a, &b) < 1e-9, "{}", distance(&a, &b));
    let (one, three) = (one.counts().steps, three.counts().steps);
    assert!(one.abs_diff(three) * 20 <= one, "{one} {three}");
}

/// A run continued from a memory has the bits of the run that was not interrupted.
#[test]
fn continued_runs_have_the_same_bits() {
    let y = Auto(Pendulum { amplitude: 0.2, copies: 2 });
    for stop in [1, 2, 5, 9] {
        let mut s = y.0.state();
        let mut method = Radau::new(&tight(1e-7)).unwrap();
        method.start(&y, &mut s).unwrap();
        for _ in 0..stop {
            method.step(&y, &mut s, 3.0).unwrap();
        }
        let (mut copy, memory) = (s.clone(), method.memory());
        let mut second = Radau::new(&tight(1e-7)).unwrap();
        second.start(&y, &mut copy).unwrap();
        second.recall(&memory);
        for _ in 0..6 {
            assert_eq!(method.step(&y, &mut s, 3.0), second.step(&y, &mut copy, 3.0));
            assert_eq!(s, copy);
        }
        assert_eq!(method.memory(), second.memory());
    }
}

/// The continuous output is of order 4: its error shrinks by 2⁵ per step halved, and it meets both ends.
#[test]
fn dense_output_is_of_order_four() {
    let (y, s) = spin();
    let mut errors = Vec::new();
    for h in [0.2, 0.1] {
        let mut now = s.clone();
        let mut method = Radau::new(&tight(1e-13).with("fixed_step", h).with("newton_iterations", 40.0)).unwrap();
        method.start(&y, &mut now).unwrap();
        method.step(&y, &mut now, 10.0).unwrap();
        let mut out = s.clone();
        method.dense(&y, &mut out);
        assert!(distance(&out, &s) < 1e-15);
        out.t = h;
        method.dense(&y, &mut out);
        assert_eq!(out, now);
        out.t = 0.37 * h;
        method.dense(&y, &mut out);
        errors.push(distance(&out, &run(&y, &s, &tight(1e-13), 0.37 * h).0));
    }
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 5.0).abs() < 0.2, "{order} {errors:?}");
}

/// Work is part of the contract.
#[test]
fn counts_are_as_promised() {
    let y = Auto(Pendulum { amplitude: 0.0, copies: 1 });
    let (_, method) = run(&y, &y.0.state(), &tight(1e-8), 2.0);
    let counts = method.counts();
    println!("{counts:?}");
    assert!(counts.tangents <= counts.steps + counts.rejected + 2);
    assert!(counts.forces <= 30 * counts.steps, "{counts:?}");
}

/// A force that turns infinite stops the run with a reason, not with a hang.
struct Wall;

impl Formula for Wall {
    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, ..Shape::default() }
    }
    fn mass<R: Real>(&self, _q: &[R], out: &mut Mass<R>) {
        out.block_mut(0)[0] = R::one();
    }
    fn force<R: Real>(&self, _t: R, q: &[R], _v: &[R], _x: &[R], out: &mut [R]) {
        // Falls into the centre at q = 0 in finite time.
        out[0] = -q[0].square().square().recip();
    }
}

#[test]
fn a_singular_force_ends_the_run_with_a_reason() {
    let y = Auto(Wall);
    let mut s = State::zeros(y.shape());
    s.q[0] = 1.0;
    let mut method = Radau::new(&tight(1e-6).with("smallest_step", 1e-9)).unwrap();
    method.start(&y, &mut s).unwrap();
    let error = loop {
        if let Err(error) = method.step(&y, &mut s, 10.0) {
            break error;
        }
    };
    assert!(s.t > 0.1 && s.t < 2.0);
    match error {
        IntegrateError::NotConverged { worst, .. } | IntegrateError::StepTooSmall { worst, .. } => {
            assert_eq!(worst, "velocity 0");
        }
        IntegrateError::NotFinite { what, .. } => assert!(what.contains("velocity 0"), "{what}"),
        other => panic!("{other}"),
    }
}
