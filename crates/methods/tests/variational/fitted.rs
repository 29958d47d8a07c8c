//! The phase-fitted method on the oscillator of the document, in closed form, and on orbits.

use crate::centres::fitted_operations;
use crate::none;
use crate::systems::{end_error, make, run};
use dalembert_methods::State;
use dalembert_methods::integrate::{Integrator, Settings};
use dalembert_methods::problems::{ForcedOscillator, Kepler, Pendulum, Problem};

/// The steps of the document.
const STEPS: [f64; 5] = [0.01, 0.05, 0.1, 0.5, 1.0];

/// The rules of the document and others: points, spacing, order of the starting error.
const RULES: [(f64, f64, u32); 3] = [(3.0, 0.0, 4), (5.0, 0.0, 6), (5.0, 1.0, 8)];

fn fitted(points: f64, spacing: f64, omega: f64) -> Settings {
    none().with("points", points).with("spacing", spacing).with("frequency", omega)
}

fn positions(settings: &Settings, h: f64, v: f64, count: usize) -> Vec<f64> {
    let problem = ForcedOscillator::harmonic();
    let mut integrator = make("phase_fitted", &settings.clone().with("fixed_step", h)).unwrap();
    let mut s = problem.initial();
    s.v[0] = v;
    integrator.start(&problem, &mut s).unwrap();
    let mut out = vec![s.q[0]];
    for _ in 0..count {
        integrator.step(&problem, &mut s, f64::INFINITY).unwrap();
        out.push(s.q[0]);
    }
    out
}

/// With u = ωh the recursion is q_{k+1} − 2 cos u q_k + q_{k−1} = 0 for any points; with the velocity that leads to the exact q₁ all
/// positions are exact. The sum of rounding errors of a recursion with roots on the unit circle grows like k/sin u.
#[test]
fn started_with_the_exact_second_position_only_rounding_is_left() {
    let more = [(2.0, 0.0, 2), (7.0, 0.0, 8), (7.0, 1.0, 12), (9.0, 0.0, 10), (12.0, 1.0, 22), (12.0, 0.0, 12)];
    for (points, spacing, _) in RULES.into_iter().chain(more) {
        let settings = fitted(points, spacing, 1.0);
        for h in STEPS {
            let q = positions(&settings, h, 2.0, 100);
            for w in q.windows(3) {
                assert!((w[2] - 2.0 * h.cos() * w[1] + w[0]).abs() < 32.0 * f64::EPSILON * 3.0, "h = {h}");
            }
            // q₁ is linear in the velocity of the start.
            let exact = |k: usize| 2.0 * (k as f64 * h).cos() + 2.0 * (k as f64 * h).sin();
            let [rest, unit] = [0.0, 1.0].map(|v| positions(&settings, h, v, 1)[1]);
            let start = (exact(1) - rest) / (unit - rest);
            let q = positions(&settings, h, start, 1000);
            for (k, &q) in q.iter().enumerate() {
                let bound = 32.0 * f64::EPSILON * 3.0 * (1.0 + k as f64) / h.sin();
                assert!((q - exact(k)).abs() < bound, "h = {h}, k = {k}: {:e}", q - exact(k));
            }
        }
    }
}

/// From (q₀, p₀) the discrete Legendre transform scales the momentum: q_k = q₀ cos ku + p₀/(ωσ) sin ku, p_k = p₀ cos ku − ωσ q₀ sin ku with
/// σ = u/(sin u cos u) Σ w_j cos 2u(1 − c_j), the quadrature of ∫cos 2us ds against its integral. Orders 4, 6 and 8 at t = 3.
#[test]
fn the_starting_error_has_its_closed_form_and_order() {
    let quadrature = |points: f64, spacing: f64| -> (Vec<f64>, Vec<f64>) {
        if points == 3.0 {
            (vec![0.0, 0.5, 1.0], vec![1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0])
        } else if spacing == 0.0 {
            (vec![0.0, 0.25, 0.5, 0.75, 1.0], [7.0, 32.0, 12.0, 32.0, 7.0].map(|w| w / 90.0).to_vec())
        } else {
            let a = 0.5 * (3.0_f64 / 7.0).sqrt();
            (vec![0.0, 0.5 - a, 0.5, 0.5 + a, 1.0], [9.0, 49.0, 64.0, 49.0, 9.0].map(|w| w / 180.0).to_vec())
        }
    };
    let problem = ForcedOscillator::harmonic();
    for (points, spacing, order) in RULES {
        let (c, w) = quadrature(points, spacing);
        let mut errors = Vec::new();
        for h in STEPS {
            let sum: f64 = c.iter().zip(&w).map(|(c, w)| w * (2.0 * h * (1.0 - c)).cos()).sum();
            let sigma = h / (h.sin() * h.cos()) * sum;
            let s =
                run(&problem, &problem.initial(), "phase_fitted", &fitted(points, spacing, 1.0), 3.0, (3.0 / h) as u32);
            let (sine, cosine) = 3.0_f64.sin_cos();
            let exact = [2.0 * cosine + 2.0 / sigma * sine, 2.0 * cosine - 2.0 * sigma * sine];
            // Rounding of 3/h steps.
            let bound = 200.0 * f64::EPSILON / h;
            assert!((s.q[0] - exact[0]).abs() < bound, "{points} {spacing} {h}: {} {}", s.q[0], exact[0]);
            assert!((s.v[0] - exact[1]).abs() < bound, "{points} {spacing} {h}: {} {}", s.v[0], exact[1]);
            errors.push(exact[0] - problem.exact(3.0).unwrap().q[0]);
        }
        let found = (errors[3] / errors[2]).abs().log(5.0);
        assert!((found - f64::from(order)).abs() < 0.3, "{points} {spacing}: {found}");
        // From runs alone, in steps of 1, ½ and ¼ as long as rounding is far; σ is cos u times the quadrature over sinc 2u, whose next terms are u²/3 of the leading one at most.
        let measured = |n: u32| end_error(&problem, "phase_fitted", &fitted(points, spacing, 1.0), n);
        let rungs: Vec<f64> = [3, 6, 12].map(measured).into_iter().filter(|error| *error > 1e-11).collect();
        assert!(rungs.len() > 1, "{points} {spacing}: {rungs:?}");
        for w in rungs.windows(2) {
            let found = (w[0] / w[1]).log2();
            assert!((found - f64::from(order)).abs() < 0.35, "{points} {spacing}, runs: {found}");
        }
    }
}

/// The action is stationary at the true curve, so that the error of a curve counts by its square, relative to the u² of the action's own curvature: a straight
/// line, off by u², gives order 2; a cubic spline of the oscillator's own frequency, off by u⁴, order 6.
#[test]
fn splines_are_between_straight_lines_and_sines() {
    let error = |fitted: f64, n: u32| {
        let settings = super::fitted::fitted(5.0, 1.0, 1.0).with("fitted", fitted);
        end_error(&ForcedOscillator::harmonic(), "phase_fitted", &settings, n)
    };
    crate::order("spline", 6, |n| error(2.0, n));
    crate::order("straight line", 2, |n| error(0.0, n));
    assert!(error(1.0, 15) < error(2.0, 15) && error(2.0, 15) < 1e-3 * error(0.0, 15));
}

/// With a frequency that is not the oscillator's the method is of order 2, as with straight lines.
#[test]
fn a_wrong_frequency_leaves_order_two() {
    for settings in [fitted(3.0, 0.0, 1.3), fitted(5.0, 1.0, 0.6), fitted(5.0, 1.0, 1.0).with("fitted", 0.0)] {
        crate::order("wrong frequency", 2, |n| end_error(&ForcedOscillator::harmonic(), "phase_fitted", &settings, n));
    }
}

/// Driven and damped, and on a rod: order 2 with a frequency that is given.
#[test]
fn forced_and_constrained_motions_are_of_order_two() {
    let settings = fitted(3.0, 0.0, 2.0);
    crate::order("forced", 2, |n| end_error(&ForcedOscillator::default(), "phase_fitted", &settings, n));
    crate::order("on a rod", 2, |n| end_error(&Pendulum::default(), "phase_fitted", &settings, n));
    crate::order("on a rod, from the action", 2, |n| end_error(&Pendulum::default(), "phase_fitted", &none(), n));
}

/// Estimates of the report: a circular orbit has one frequency, |v × a|/|v|² = 1; then the motion is one of the oscillator. On an ellipse the method
/// is of order 2.
#[test]
fn frequencies_are_estimated_from_velocities() {
    let circle = Kepler { eccentricity: 0.0, ..Kepler::default() };
    let (h, estimated) = (0.1, none().with("estimate", 1.0));
    let mut method = make("phase_fitted", &estimated.clone().with("fixed_step", h)).unwrap();
    let mut s = circle.initial();
    method.start(&circle, &mut s).unwrap();
    for step in 0..100 {
        method.step(&circle, &mut s, f64::INFINITY).unwrap();
        // By (7) exact at the start, then by (6) from a difference backwards over h: sin(h)/h.
        let expected = if step == 0 { 1.0 } else { h.sin() / h };
        for omega in method.frequencies() {
            assert!((omega - expected).abs() < 1e-4, "{step}: {omega}");
        }
    }
    let plain = |fitted: f64| end_error(&circle, "phase_fitted", &estimated.clone().with("fitted", fitted), 63);
    assert!(plain(1.0) < 0.02 * plain(0.0), "{} {}", plain(1.0), plain(0.0));
    crate::order("ellipse", 2, |n| end_error(&Kepler::default(), "phase_fitted", &estimated, n));
}

/// Frequencies from the action: ω² = 1/r³ on any orbit, up to h² of it, and order 4 on ellipses, with sines and with splines.
#[test]
fn frequencies_from_the_action_make_orbits_of_order_four() {
    let ellipse = Kepler::default();
    for h in [0.02, 0.01] {
        let mut method = make("phase_fitted", &none().with("fixed_step", h)).unwrap();
        let mut s = ellipse.initial();
        method.start(&ellipse, &mut s).unwrap();
        let (mut worst, mut radius) = (0.0_f64, s.q[0].hypot(s.q[1]));
        assert!((method.frequencies()[0].powi(2) * radius.powi(3) - 1.0).abs() < 1e-14);
        while s.t < 7.0 {
            method.step(&ellipse, &mut s, f64::INFINITY).unwrap();
            let next = s.q[0].hypot(s.q[1]);
            let middle = (0.5 * (radius + next)).powi(-3);
            assert_eq!(method.frequencies()[0], method.frequencies()[1]);
            worst = worst.max((method.frequencies()[0].powi(2) / middle - 1.0).abs());
            radius = next;
        }
        println!("h = {h}: u² is within {:.2} h² of its limit", worst / (h * h));
        assert!(worst < 4.0 * h * h, "{h}: {worst:e}");
    }
    for settings in [none(), none().with("fitted", 2.0), none().with("points", 5.0).with("spacing", 1.0)] {
        crate::order("ellipse", 4, |n| end_error(&ellipse, "phase_fitted", &settings, n));
    }
}

/// On an oscillator by itself the frequency from the action is the oscillator's up to the error h^(2S−2) of the quadrature, over the curvature of the action in u². That is of the size of
/// (q/h)² h², and h⁴ where the mass passes through zero, so that the worst ω is off by an error of order 2S − 6.
#[test]
fn one_coordinate_finds_its_own_frequency() {
    let problem = ForcedOscillator::harmonic();
    let found = |points: f64, h: f64| {
        let settings = none().with("points", points).with("spacing", 1.0).with("fixed_step", h);
        let mut method = make("phase_fitted", &settings).unwrap();
        let mut s = problem.initial();
        method.start(&problem, &mut s).unwrap();
        let mut worst = 0.0_f64;
        for _ in 0..100 {
            method.step(&problem, &mut s, f64::INFINITY).unwrap();
            worst = worst.max((method.frequencies()[0] - 1.0).abs());
        }
        worst
    };
    for (points, h, order) in [(4.0, 0.4, 2.0), (4.0, 0.2, 2.0), (5.0, 0.8, 4.0), (5.0, 0.4, 4.0)] {
        let (coarse, fine) = (found(points, h), found(points, 0.5 * h));
        let measured = (coarse / fine).log2();
        println!("{points} points, h = {h}: ω off by {coarse:.1e}, order {measured:.2}");
        // Steps fall beside the passages through zero, nearer or farther.
        assert!((measured - order).abs() < 0.35, "{points} {h}: {measured}");
    }
}

/// One step from (q, p): dq ∧ dp is kept with frequencies from the action, at any length of the step, and not with frequencies from velocities, which
/// depend on where the step began.
#[test]
fn frequencies_from_the_action_are_symplectic() {
    let orbit = Kepler::default();
    let nudged = |s: &State<f64>, k: usize, e: f64| {
        let mut s = s.clone();
        if k < 2 {
            s.q[k] += e
        } else {
            s.v[k - 2] += e
        }
        s
    };
    let apart =
        |a: &State<f64>, b: &State<f64>| vec![b.q[0] - a.q[0], b.q[1] - a.q[1], b.v[0] - a.v[0], b.v[1] - a.v[1]];
    let form = |_: &State<f64>, a: &[f64], b: &[f64]| (0..2).map(|i| a[i] * b[2 + i] - a[2 + i] * b[i]).sum();
    let defect = |settings: &Settings, h: f64| {
        let step = |s: &State<f64>| run(&orbit, s, "phase_fitted", &settings.clone().with("fixed_step", h), h, 1);
        crate::symplectic_defect(4, step, &orbit.initial(), nudged, apart, form)
    };
    for settings in [none(), none().with("fitted", 2.0), none().with("frequency", 1.0), none().with("points", 4.0)] {
        for h in [0.1, 0.3] {
            let found = defect(&settings, h);
            assert!(found < 1e-8, "{settings:?} {h}: {found:e}");
        }
    }
    let found = defect(&none().with("estimate", 1.0), 0.3);
    assert!(found > 1e-6, "{found:e}");
}

/// Energy over many turns: no drift with frequencies from the action, a steady one with those from velocities.
#[test]
fn frequencies_from_the_action_keep_energy() {
    let orbit = Kepler::default();
    let bands = |settings: &Settings| {
        let mut method = make("phase_fitted", &settings.clone().with("fixed_step", 0.1)).unwrap();
        let mut s = orbit.initial();
        method.start(&orbit, &mut s).unwrap();
        let (start, steps, mut out) = (orbit.invariants(&s)[0], 100_000, [0.0_f64; 2]);
        for k in 0..steps {
            method.step(&orbit, &mut s, f64::INFINITY).unwrap();
            let off = (orbit.invariants(&s)[0] - start).abs();
            if k < steps / 100 {
                out[0] = out[0].max(off);
            } else if k >= steps - steps / 100 {
                out[1] = out[1].max(off);
            }
        }
        out
    };
    let [early, late] = bands(&none());
    let [first, last] = bands(&none().with("estimate", 1.0));
    println!("energy off by {early:.2e}, then {late:.2e}; with velocities {first:.2e}, then {last:.2e}");
    assert!(late < 1.02 * early && early < 0.1 * first, "{early:e} {late:e} {first:e}");
    assert!(last > 2.0 * first, "{first:e} {last:e}");
}

/// Back with reversed velocities is where it began.
#[test]
fn fitted_time_runs_backwards_too() {
    let orbit = Kepler::default();
    let turned = |mut s: State<f64>| {
        s.v.iter_mut().for_each(|v| *v = -*v);
        s.t = 0.0;
        s
    };
    for settings in [none(), none().with("frequency", 1.0), none().with("fitted", 2.0)] {
        let there = run(&orbit, &orbit.initial(), "phase_fitted", &settings, 20.0, 400);
        let back = turned(run(&orbit, &turned(there), "phase_fitted", &settings, 20.0, 400));
        // Rounding of 800 steps, as phases: n²/2 of an ulp, times h.
        let found = orbit.distance(&back, &orbit.initial());
        assert!(found < 0.5 * 800.0 * 800.0 * 0.05 * f64::EPSILON, "{settings:?}: {found:e}");
    }
}

/// One frequency for both coordinates keeps the angular momentum to rounding.
#[test]
fn angular_momentum_is_kept() {
    let orbit = Kepler::default();
    let turning = |s: &State<f64>| s.q[0] * s.v[1] - s.q[1] * s.v[0];
    for settings in [none(), none().with("estimate", 1.0)] {
        let s = run(&orbit, &orbit.initial(), "phase_fitted", &settings, 500.0, 5000);
        let found = (turning(&s) - turning(&orbit.initial())).abs();
        assert!(found < crate::rounding(5000, 2.0 * fitted_operations(1), 1.6), "{settings:?}: {found:e}");
    }
}
