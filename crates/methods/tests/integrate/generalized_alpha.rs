//! The generalised-α method against its theory: order, damping, constraints, variable steps.
#![allow(clippy::unwrap_used)]

use crate::support::{Auto, Formula, Oscillator, Pendulum, advance, distance, oscillator, sleigh, spin};
use dalembert_methods::integrate::generalized_alpha::GeneralizedAlpha;
use dalembert_methods::integrate::{Integrator, Settings};
use dalembert_methods::{State, System};

type Method<P> = GeneralizedAlpha<Auto<P>>;

fn run<P: Formula>(y: &Auto<P>, s: &State<f64>, settings: &Settings, until: f64) -> (State<f64>, Method<P>) {
    let mut s = s.clone();
    let mut method = GeneralizedAlpha::new(settings).unwrap();
    method.start(y, &mut s).unwrap();
    advance(y, &mut s, &mut method, until);
    (s, method)
}

fn fixed(h: f64) -> Settings {
    Settings::default().with("tolerance", 1e-11).with("fixed_step", h).with("newton_iterations", 40.0)
}

/// The order between two step sizes against a reference 16 times finer: 4 (1 − 32⁻²)/(1 − 4·32⁻²) ≈ 2.004 for order 2.
fn order<P: Formula>(y: &Auto<P>, s: &State<f64>, steps: u32, until: f64, index: f64) -> f64 {
    let end = |steps: u32| run(y, s, &fixed(until / f64::from(steps)).with("index", index), until).0;
    let reference = end(32 * steps);
    (distance(&end(steps), &reference) / distance(&end(2 * steps), &reference)).log2()
}

#[test]
fn order_two_on_every_kind_of_system() {
    let pendulum = Auto(Pendulum { amplitude: 0.0, copies: 1 });
    let rheonomic = Auto(Pendulum { amplitude: 0.2, copies: 1 });
    let ((oscillator, o), (spin, s), (sleigh, k)) = (oscillator(), spin(), sleigh());
    for index in [2.0, 3.0] {
        for (name, order) in [
            ("oscillator", order(&oscillator, &o, 100, 3.0, index)),
            ("pendulum", order(&pendulum, &pendulum.0.state(), 400, 2.0, index)),
            ("rheonomic pendulum", order(&rheonomic, &rheonomic.0.state(), 400, 2.0, index)),
            ("free rigid body", order(&spin, &s, 200, 3.0, index)),
            ("sleigh", order(&sleigh, &k, 200, 3.0, index)),
        ] {
            println!("{name} {index}: {order}");
            assert!((order - 2.0).abs() < 0.1, "{name}, index {index}: order {order}");
        }
    }
}

/// At infinite frequency all three roots of the amplification matrix are −ρ: q_{n+3} + 3ρ q_{n+2} + 3ρ² q_{n+1} + ρ³ q_n = 0.
#[test]
fn high_frequencies_are_damped_as_chosen() {
    for radius in [0.0, 0.5, 0.8, 1.0] {
        let y = Auto(Oscillator { damping: 0.0, stiffness: 1e8, decay: 1.0 });
        let mut s = State::zeros(y.shape());
        s.q[0] = 1.0;
        // hω = 1e3: corrections are of relative size (hω)⁻² = 1e-6, rounding in h² a of (hω)² ε = 2e-10.
        let mut method: Method<Oscillator> =
            GeneralizedAlpha::new(&fixed(0.1).with("spectral_radius", radius)).unwrap();
        method.start(&y, &mut s).unwrap();
        let mut q = vec![s.q[0]];
        for _ in 0..12 {
            method.step(&y, &mut s, 100.0).unwrap();
            q.push(s.q[0]);
        }
        let size = q.iter().fold(0.0, |max: f64, q| max.max(q.abs()));
        for w in q[1..].windows(4) {
            let left = w[3] + 3.0 * radius * w[2] + 3.0 * radius * radius * w[1] + radius.powi(3) * w[0];
            assert!(left.abs() < 2e-5 * size, "ρ = {radius}: {left} of {size}");
        }
    }
}

/// Error control: the error follows the tolerance, steps change, hidden constraints hold throughout.
#[test]
fn variable_steps_follow_the_tolerance() {
    let y = Auto(Pendulum { amplitude: 0.2, copies: 1 });
    let s = y.0.state();
    let (reference, _) = run(&y, &s, &Settings::default().with("tolerance", 1e-12), 2.0);
    let mut errors = Vec::new();
    for tolerance in [1e-5, 1e-6, 1e-7, 1e-8] {
        let mut now = s.clone();
        let mut method: Method<Pendulum> =
            GeneralizedAlpha::new(&Settings::default().with("tolerance", tolerance)).unwrap();
        method.start(&y, &mut now).unwrap();
        while now.t < 2.0 {
            let step = method.step(&y, &mut now, 2.0).unwrap();
            assert!(step.error.unwrap() <= 1.0);
            let mut residual = [0.0];
            y.0.constraint(now.t, &now.q, &mut residual);
            assert!(residual[0].abs() < 1e-14);
            y.constraint_rate(&now, &mut (), &mut residual);
            assert!(residual[0].abs() < 1e-13);
        }
        println!("{tolerance:e} {:e} {:?}", distance(&now, &reference), method.counts());
        errors.push(distance(&now, &reference));
    }
    // Global errors behave like h² where tolerances behave like h³.
    for pair in errors.windows(2) {
        let ratio = (pair[0] / pair[1]).log10();
        assert!((ratio - 2.0 / 3.0).abs() < 0.15, "{ratio} {errors:?}");
    }
}

/// The same row twice changes nothing but the split of its force.
#[test]
fn repeated_constraints_give_the_same_motion() {
    let single = Auto(Pendulum { amplitude: 0.2, copies: 1 });
    let double = Auto(Pendulum { amplitude: 0.2, copies: 3 });
    for index in [2.0, 3.0] {
        let (a, _) = run(&single, &single.0.state(), &fixed(0.01).with("index", index), 2.0);
        let (b, _) = run(&double, &double.0.state(), &fixed(0.01).with("index", index), 2.0);
        assert!(distance(&a, &b) < 1e-11, "{}", distance(&a, &b));
    }
}

/// Steps that shrink to 1e-7 s lose no digits: the motion of the first millisecond is met to rounding.
#[test]
fn small_steps_lose_no_digits() {
    let y = Auto(Pendulum { amplitude: 0.2, copies: 1 });
    let s = y.0.state();
    let coarse = run(&y, &s, &fixed(1e-5), 1e-4).0;
    let fine = run(&y, &s, &fixed(1e-7), 1e-4).0;
    // Truncation of the coarse run: h² t v⃛ ≈ 1e-10 · 1e-4 · 30; rounding of 1000 steps: 1000 ε.
    assert!(distance(&coarse, &fine) < 1e-12, "{}", distance(&coarse, &fine));
}

#[test]
fn continued_runs_have_the_same_bits() {
    let y = Auto(Pendulum { amplitude: 0.2, copies: 2 });
    for (stop, settings) in [(1, fixed(0.01)), (7, fixed(0.01)), (3, Settings::default()), (20, Settings::default())] {
        let mut s = y.0.state();
        let mut method: Method<Pendulum> = GeneralizedAlpha::new(&settings).unwrap();
        method.start(&y, &mut s).unwrap();
        for _ in 0..stop {
            method.step(&y, &mut s, 3.0).unwrap();
        }
        let (mut copy, memory) = (s.clone(), method.memory());
        let mut second: Method<Pendulum> = GeneralizedAlpha::new(&settings).unwrap();
        second.start(&y, &mut copy).unwrap();
        second.recall(&memory);
        for _ in 0..6 {
            assert_eq!(method.step(&y, &mut s, 3.0), second.step(&y, &mut copy, 3.0));
            assert_eq!(s, copy);
        }
        assert_eq!(method.memory(), second.memory());
    }
}

/// Hermite polynomials: errors of positions in the middle of one step shrink like the error of the step itself, h³.
#[test]
fn dense_output_is_as_good_as_the_steps() {
    let (y, s) = spin();
    let mut errors = Vec::new();
    for h in [0.02, 0.01] {
        let mut now = s.clone();
        let mut method = GeneralizedAlpha::new(&fixed(h)).unwrap();
        method.start(&y, &mut now).unwrap();
        method.step(&y, &mut now, 10.0).unwrap();
        let mut out = s.clone();
        out.t = h;
        method.dense(&y, &mut out);
        assert_eq!(out, now);
        out.t = 0.4 * h;
        method.dense(&y, &mut out);
        errors.push(distance(&out, &run(&y, &s, &fixed(h / 1000.0), 0.4 * h).0));
    }
    let order = (errors[0] / errors[1]).log2();
    assert!(order > 2.9, "{order} {errors:?}");
}

/// Each step of a smooth problem takes few iterations, and the tangent is taken rarely.
#[test]
fn counts_are_as_promised() {
    let (y, s) = oscillator();
    let (_, method) = run(&y, &s, &fixed(0.01), 1.0);
    let counts = method.counts();
    println!("{counts:?}");
    assert_eq!((counts.steps, counts.rejected), (100, 0));
    assert!(counts.tangents <= 3 && counts.forces <= 310, "{counts:?}");
}
