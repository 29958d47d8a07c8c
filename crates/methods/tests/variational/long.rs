//! A million steps: the largest error of the energy in the last hundredth is that of the first.

use crate::none;
use crate::systems::make;
use dalembert_methods::integrate::{Integrator, Settings};
use dalembert_methods::problems::{Chain, Kepler, Pendulum, Problem, Top};
use dalembert_methods::{State, System};

/// The largest errors of the energy in the first and in the last hundredth of a million steps.
fn extremes<Y: System>(
    y: &Y,
    s: &State<f64>,
    (name, settings): (&str, Settings),
    energy: impl Fn(&State<f64>) -> f64,
) -> [f64; 2] {
    let mut integrator = make(name, &settings).unwrap();
    let (mut s, steps) = (s.clone(), 1_000_000);
    integrator.start(y, &mut s).unwrap();
    let first = energy(&s);
    let mut out = [0.0_f64; 2];
    for k in 0..steps {
        integrator.step(y, &mut s, f64::INFINITY).unwrap();
        if let Some(window) = if k < steps / 100 { Some(0) } else { (k >= steps - steps / 100).then_some(1) } {
            out[window] = out[window].max((energy(&s) - first).abs());
        }
    }
    println!("{name} {settings:?}: {:.4e}, then {:.4e}", out[0], out[1]);
    out
}

/// No drift: in a motion that repeats itself within a hundredth of the time both are the same up to where in it steps fall.
fn steady([early, late]: [f64; 2], least: f64) {
    assert!(early > least && late < 1.01 * early, "{early:e} {late:e}");
}

#[test]
fn orbits_keep_their_energy_over_a_million_steps() {
    let orbit = Kepler::default();
    let energy = |s: &State<f64>| orbit.invariants(s)[0];
    for (name, settings, least) in [
        ("variational", none().with("alpha", 0.0).with("fixed_step", 0.05), 1e-5),
        ("variational", none().with("fixed_step", 0.05), 1e-5),
        ("galerkin_gauss", none().with("fixed_step", 0.1), 1e-8),
        ("galerkin_lobatto", none().with("fixed_step", 0.1), 1e-8),
        ("galerkin_chebyshev", none().with("fixed_step", 0.1), 1e-8),
        ("phase_fitted", none().with("fixed_step", 0.1), 1e-8),
    ] {
        steady(extremes(&orbit, &orbit.initial(), (name, settings), energy), least);
    }
}

#[test]
fn a_pendulum_on_a_rod_keeps_its_energy_over_a_million_steps() {
    let swing = Pendulum::default();
    let settings = none().with("alpha", 0.0).with("fixed_step", 0.02);
    steady(extremes(&swing, &swing.initial(), ("variational", settings), |s| swing.invariants(s)[0]), 1e-5);
}

#[test]
fn a_turning_body_keeps_its_energy_over_a_million_steps() {
    // Symmetric about its axis: it nods as it precesses, always in the same way.
    let top = Top { inertia: [1.0, 1.0, 0.6], weight: 4.0 };
    let settings = none().with("chord", 0.5).with("fixed_step", 0.02);
    steady(extremes(&top, &top.state(0.5, [0.3, 0.4, 3.0]), ("lie_group", settings), |s| top.energy(s)), 1e-5);
}

/// Two masses between walls move without repeating themselves; a drift would be a hundred times as large at the end.
#[test]
fn two_rates_keep_their_energy_over_a_million_steps() {
    let chain = Chain { pairs: 1, ..Chain::default() };
    let settings = none().with("fixed_step", 0.03).with("micro_steps", 3.0);
    let explicit = settings.with("slow_alpha", 0.0).with("fast_alpha", 0.0);
    let [early, late] = extremes(&chain, &chain.initial(), ("multirate", explicit), |s| chain.invariants(s)[0]);
    assert!(early > 1e-5 && late < 2.0 * early, "{early:e} {late:e}");
}
